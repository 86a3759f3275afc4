//! The protocol reference: an AsyncAPI 3.0 document of every event in both directions, made of
//! the very types that are read and written.
//!
//! Always: the comments of its type describe an event, together with one line: in `table` for an
//! event of clients, in the `server_events!` of its file for one of the server. This file repeats
//! none of that. `proto/tests/reference.rs` finds missing events.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use world::event::TOLD;

use super::{
    chat,
    error::{self, CloseCode},
    exchange, friends,
    limits::{
        AUTH_TIMEOUT_MS, CLIENT_MESSAGE_BYTES_MAX, CLIENT_MESSAGES_PER_SECOND_MAX,
        CONNECTIONS_PER_ACCOUNT_MAX, LOGINS_PER_ACCOUNT_MAX, LOGINS_PER_ADDRESS_MAX,
        PROTOCOL_VERSION, RESUMES_PER_ACCOUNT_MAX, RESUMES_PER_ADDRESS_MAX,
    },
    session, sync,
    table::{ASKED, Described, Needs},
    update, watch,
};

/// Files of this crate with events of the server's. `world` lists its own: `world::event::TOLD`.
const FILES: &[&[Described]] = &[
    session::EVENTS,
    error::EVENTS,
    exchange::EVENTS,
    sync::EVENTS,
    update::EVENTS,
    watch::EVENTS,
    chat::EVENTS,
    friends::EVENTS,
];

/// Event that may answer every request, besides the answer of its own.
const REFUSAL: &str = "error";
/// Event that answers a request without an answer of its own.
const DONE: &str = "ack";

/// Returns the document, as of this `version` of the software.
pub fn document(version: &str) -> Value {
    let settings = || {
        SchemaSettings::draft07().with(|s| {
            s.definitions_path = "/components/schemas".into();
            s.meta_schema = None;
        })
    };
    let mut read = settings().with(|s| s.inline_subschemas = true);
    read.contract = schemars::generate::Contract::Deserialize;
    let mut read = read.into_generator();
    let mut written = settings().for_serialize().into_generator();

    let (mut messages, mut operations) = (Map::new(), Map::new());
    for asked in asked(&mut read) {
        messages.insert(client_key(&asked.name), request(&asked));
        operations.insert(format!("receive.{}", key(&asked.name)), receive(&asked));
    }
    for told in FILES.iter().chain(TOLD).copied().flatten() {
        messages.insert(server_key(told.event), message(told, &mut written));
        operations.insert(format!("send.{}", key(told.event)), send(told.event));
    }
    let id = plain(written.subschema_for::<super::RequestId>());
    let listed = messages.keys().map(|key| {
        let reference = json!({"$ref": format!("#/components/messages/{key}")});
        (key.clone(), reference)
    });
    let channel = channel(listed.collect());
    let mut schemas = written.take_definitions(true);
    schemas.entry("RequestId").or_insert(id);
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Tilestead",
            "version": version,
            "description": about(),
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": servers(),
        "channels": {"play": channel},
        "operations": operations,
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of POST /api/auth/…; `authenticate` serves as well.",
            }},
        },
    })
}

fn about() -> String {
    format!(
        "The protocol of `/ws`, version {PROTOCOL_VERSION}. One message a frame: JSON in text \
         frames (subprotocol `tilestead.json`, also without one) or MessagePack maps in binary \
         frames (`tilestead.msgpack`). With `tilestead.v2` a `world:update` is a compact binary \
         frame, which docs/compact.md describes, and all else is MessagePack; `/ws?players=N` then \
         asks for the N nearest players at most. `/ws?language=de` names the language of global \
         chat. A client's message has at most {CLIENT_MESSAGE_BYTES_MAX} \
         bytes. A request with an `id` is answered once, with that `re`: by its own event, by \
         `ack`, or by an error that has changed nothing; one without an `id` that is refused gets \
         its error too. `seq` grows by one with each message from the server, from 1. Not more \
         than {CLIENT_MESSAGES_PER_SECOND_MAX} messages pass in any second, for all of an \
         account's connections at a gateway, of which there are at most \
         {CONNECTIONS_PER_ACCOUNT_MAX}. In any minute an account logs in {LOGINS_PER_ACCOUNT_MAX} \
         times by its own tokens and resumes {RESUMES_PER_ACCOUNT_MAX} times, and all accounts of \
         an address together {LOGINS_PER_ADDRESS_MAX} and {RESUMES_PER_ADDRESS_MAX} times; one \
         more gets `rate_limited` and close code 4008. Of an account's lost sessions that play \
         nobody the newest is kept; an older one is resumed with `resync`. Whoever is not authenticated after {AUTH_TIMEOUT_MS} ms \
         is closed. Positions are tiles: +x is east, +z north."
    )
}

fn servers() -> Value {
    let server = |protocol: &str, host: &str, description: &str| {
        json!({
            "host": "{host}",
            "pathname": "/ws",
            "protocol": protocol,
            "description": description,
            "variables": {"host": {
                "default": host,
                "description": "Where this document was found; PUBLIC_WS_URL in /env.js.",
            }},
            "security": [{"$ref": "#/components/securitySchemes/bearer"}],
        })
    };
    json!({
        "public": server("wss", "example.org", "A gateway behind TLS."),
        "local": server("ws", "localhost:5555", "A gateway of one's own."),
    })
}

fn channel(messages: Map<String, Value>) -> Value {
    let codes = CloseCode::ALL.iter();
    let codes =
        codes.map(|(code, meaning)| json!({"code": *code as u16, "meaning": meaning.trim()}));
    json!({
        "address": "/ws",
        "title": "Play",
        "description": "One connection of one player, agent, spectator or operator.",
        "messages": messages,
        "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
        "x-close-codes": codes.collect::<Vec<_>>(),
    })
}

/// A request of a client, as the document describes it.
struct Asked {
    name: String,
    data: Value,
    needs: Needs,
    /// Events that answer it, besides `error`; empty: `ack`.
    answers: &'static [&'static str],
    played_by: &'static str,
}

/// Describes the requests that the gateway answers, then those that zones answer.
fn asked(generator: &mut SchemaGenerator) -> Vec<Asked> {
    let by_gateway = ASKED.iter().map(|asked| Asked {
        name: asked.name.to_owned(),
        data: plain((asked.schema)(generator)),
        needs: asked.needs,
        answers: asked.answers,
        played_by: "gateway",
    });
    let mut all: Vec<Asked> = by_gateway.collect();
    let by_zones = world::Intent::described(generator);
    all.extend(by_zones.into_iter().map(|described| Asked {
        name: described.event,
        data: described.data,
        needs: Needs::World,
        answers: &[],
        played_by: "zone",
    }));
    all
}

/// Describes the message of a request.
fn request(asked: &Asked) -> Value {
    let data = &asked.data;
    let mut required = vec!["event"];
    if data.get("required").is_some() {
        required.push("data");
    }
    let summary = summary(data);
    let id = json!({
        "description": "Wants an answer, which carries it as `re`.",
        "anyOf": [{"type": "string", "maxLength": 64}, {"type": "number"}],
    });
    json!({
        "name": asked.name,
        "title": asked.name,
        "summary": summary,
        "description": welcome_when(asked.needs),
        "tags": [{"name": "client"}],
        "correlationId": {"location": "$message.payload#/id"},
        "payload": {
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": {"event": {"const": asked.name}, "id": id, "data": data},
        },
        "x-answered-by": answers(asked),
        "x-played-by": asked.played_by,
    })
}

/// Returns the description of a message that the server sends.
fn message(told: &Described, generator: &mut SchemaGenerator) -> Value {
    let data = plain((told.schema)(generator));
    let name = data["$ref"].as_str().and_then(|at| at.rsplit('/').next());
    let about = name.and_then(|name| generator.definitions().get(name));
    let summary = summary(about.unwrap_or(&data));
    json!({
        "name": told.event,
        "title": told.event,
        "summary": summary,
        "tags": [{"name": "server"}],
        "correlationId": {"location": "$message.payload#/re"},
        "payload": {
            "type": "object",
            "additionalProperties": false,
            "required": ["event", "seq", "data"],
            "properties": {
                "event": {"const": told.event},
                "seq": {"type": "integer", "minimum": 1},
                "re": {"$ref": "#/components/schemas/RequestId"},
                "data": data,
            },
        },
    })
}

fn receive(asked: &Asked) -> Value {
    let possible = answers(asked).into_iter().chain([REFUSAL]);
    let possible = possible.map(|name| in_channel(&server_key(name)));
    json!({
        "action": "receive",
        "channel": {"$ref": "#/channels/play"},
        "messages": [in_channel(&client_key(&asked.name))],
        "reply": {
            "channel": {"$ref": "#/channels/play"},
            "messages": possible.collect::<Vec<_>>(),
        },
    })
}

fn send(name: &str) -> Value {
    json!({
        "action": "send",
        "channel": {"$ref": "#/channels/play"},
        "messages": [in_channel(&server_key(name))],
    })
}

fn answers(asked: &Asked) -> Vec<&'static str> {
    match asked.answers {
        [] => vec![DONE],
        own => own.to_vec(),
    }
}

fn welcome_when(needs: Needs) -> &'static str {
    match needs {
        Needs::Nothing => "At any time.",
        Needs::NoAccount => "Before anything else; not once authenticated.",
        Needs::Account => "Once authenticated.",
        Needs::Lobby => "Once authenticated, while no character is in the world.",
        Needs::World => "While a character is in the world.",
    }
}

/// Returns the description of the type, on one line.
fn summary(data: &Value) -> String {
    let words = data["description"].as_str().unwrap_or_default();
    words.replace('\n', " ")
}

fn in_channel(key: &str) -> Value {
    json!({"$ref": format!("#/channels/play/messages/{key}")})
}

fn client_key(name: &str) -> String {
    format!("client.{}", key(name))
}

fn server_key(name: &str) -> String {
    format!("server.{}", key(name))
}

/// Returns a name for a component, which can have no colon.
fn key(name: &str) -> String {
    name.replace(':', ".")
}

fn plain(schema: Schema) -> Value {
    let mut value = schema.to_value();
    if let Value::Object(fields) = &mut value {
        fields.remove("$schema");
    }
    value
}
