//! `POST /api/voice/token`: a token for the voice server, as LiveKit's are.
//!
//! Always: the room is where the caller's character stands, and no client chooses it. A muted
//! player may listen but not speak. The token is good for two minutes, the time to join.

use std::time::Duration;

use axum::Json;
use jsonwebtoken::{EncodingKey, Header};
use proto::rpc::queries::v1::{LoginsRequest, Page};
use schemars::JsonSchema;
use serde::Serialize;
use service_runtime::telemetry::sampled;
use world::{Region, Tile};

use super::{
    player,
    problem::{Code, Problem},
    route::{Answer, Call, OWNERS, Route},
    values::Time,
};
use crate::{app::App, auth::signatures, clock, config::Voice};

/// Time to join.
const LIFETIME: Duration = Duration::from_secs(120);

/// Returns the route, which is only for players who play by hand.
pub(super) fn routes() -> Vec<Route> {
    let summary = "A token to talk with those around";
    vec![
        OWNERS
            .post("/api/voice/token", summary, token)
            .about("404 where this server has no voice chat; 409 while nobody is in the world.")
            .problems(&[Code::NotFound, Code::NotInWorld]),
    ]
}

/// Claims of a token for the voice server.
#[derive(Debug, Serialize)]
struct Claims<'a> {
    /// The API key.
    iss: &'a str,
    /// The character.
    sub: &'a str,
    name: &'a str,
    jti: String,
    nbf: u64,
    exp: u64,
    video: Grants<'a>,
}

/// Rights that the token grants.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Grants<'a> {
    room_join: bool,
    room: &'a str,
    can_publish: bool,
    can_subscribe: bool,
    can_publish_data: bool,
}

/// A token for the voice server.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct VoiceToken {
    #[schemars(example = &"eyJ…")]
    token: String,
    /// The voice server's WebSocket.
    #[schemars(example = &"wss://voice.example")]
    url: String,
    #[schemars(example = &"region:0:0")]
    room: String,
    /// The caller's character.
    identity: String,
    can_publish: bool,
    expires_at: Time,
}

/// Makes a token for the surroundings of the caller's character.
async fn token(Call { app, caller }: Call) -> Answer<VoiceToken> {
    let Some(voice) = &app.config.voice else {
        let why = "This server has no voice chat.";
        return Err(Problem::of(Code::NotFound, why));
    };
    let found = match surroundings(&app, &caller.account_id) {
        Some(found) => Some(found),
        None => elsewhere(&app, &caller.account_id).await?,
    };
    let (speaker, region) = found.ok_or_else(|| {
        let why = "You play no character in the world; enter it first.";
        Problem::of(Code::NotInWorld, why)
    })?;
    let now_ms = clock::unix_ms();
    let muted = app
        .auth
        .sanctions
        .muted(&caller.account_id, now_ms)
        .is_some();
    let answer = issue(voice, &speaker, region, !muted, now_ms / 1000);
    let answer = answer.map_err(|error| {
        if let Some(left_out) = sampled("a voice token cannot be signed", "") {
            tracing::error!(%error, left_out, "a voice token cannot be signed");
        }
        Problem::of(Code::Internal, "The token cannot be signed.")
    })?;
    Ok(Json(answer))
}

/// Character that speaks.
#[derive(Debug, PartialEq, Eq)]
struct Speaker {
    character_id: String,
    name: String,
}

/// Returns the character that the account plays at this gateway, and its region.
fn surroundings(app: &App, account_id: &str) -> Option<(Speaker, Region)> {
    let played = app.sessions.hub.played_by(account_id);
    played.into_iter().find_map(|present| {
        let (tile, _) = app.zones.position(&present.session_id)?;
        let speaker = Speaker {
            character_id: present.character_id,
            name: present.name,
        };
        Some((speaker, Region::from(tile)))
    })
}

/// Returns the character that the account plays by another gateway, and its region. Asks the
/// store, and the zone that plays it.
async fn elsewhere(app: &App, account_id: &str) -> Result<Option<(Speaker, Region)>, Problem> {
    let own = app.auth.accounts.characters(account_id).await?;
    for character in own.into_iter().filter(|character| character.online) {
        if !is_played(app, &character.id).await? {
            continue;
        }
        let stored = character.region.unwrap_or_default();
        let stored = Region {
            x: stored.x,
            z: stored.z,
        };
        let now = player::whereabouts(app, stored, &character.id).await;
        if let Some(now) = now {
            let speaker = Speaker {
                character_id: character.id,
                name: character.name,
            };
            return Ok(Some((speaker, Region::from(Tile { x: now.x, z: now.z }))));
        }
    }
    Ok(None)
}

/// Returns whether a person at a gateway plays a character that is in the world; an agent alone
/// does not speak.
async fn is_played(app: &App, character_id: &str) -> Result<bool, Problem> {
    let ask = LoginsRequest {
        character_id: character_id.to_owned(),
        open: true,
        page: Some(Page {
            offset: 0,
            limit: 1,
        }),
    };
    let logins = app.queries.logins(ask).await?;
    Ok(logins.rows.iter().any(|login| !login.gateway_id.is_empty()))
}

fn issue(
    voice: &Voice,
    speaker: &Speaker,
    region: Region,
    can_publish: bool,
    now_s: u64,
) -> Result<VoiceToken, jsonwebtoken::errors::Error> {
    let room = format!("region:{}:{}", region.x, region.z);
    let exp = now_s + LIFETIME.as_secs();
    let claims = Claims {
        iss: &voice.key,
        sub: &speaker.character_id,
        name: &speaker.name,
        jti: uuid::Uuid::new_v4().to_string(),
        nbf: now_s,
        exp,
        video: Grants {
            room_join: true,
            room: &room,
            can_publish,
            can_subscribe: true,
            can_publish_data: false,
        },
    };
    let key = EncodingKey::from_secret(voice.secret.expose().as_bytes());
    let token = signatures::encode(&Header::default(), &claims, &key)?;
    Ok(VoiceToken {
        token,
        url: voice.url.clone(),
        identity: speaker.character_id.clone(),
        can_publish,
        expires_at: Time::of(exp * 1000),
        room,
    })
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, DecodingKey, Validation};
    use serde_json::{Value, json};
    use service_runtime::config::Secret;

    use super::*;

    #[test]
    fn a_token_names_who_where_and_what_and_is_good_for_two_minutes() {
        let voice = Voice {
            key: "the-key".to_owned(),
            secret: Secret::new("the-secret-of-the-voice-server-00"),
            url: "wss://voice.example".to_owned(),
        };
        let ann = Speaker {
            character_id: "c-1".to_owned(),
            name: "Ann".to_owned(),
        };
        for can_publish in [true, false] {
            let now = clock::unix_ms() / 1000;
            let region = Region { x: -1, z: 4 };
            let answer = issue(&voice, &ann, region, can_publish, now).unwrap();
            let mut check = Validation::new(Algorithm::HS256);
            check.set_issuer(&["the-key"]);
            check.validate_nbf = true;
            let key = DecodingKey::from_secret(voice.secret.expose().as_bytes());
            let read = signatures::decode::<Value>(&answer.token, &key, &check).unwrap();
            assert_eq!(read.header.alg, Algorithm::HS256);
            assert_eq!(
                (&read.claims["sub"], &read.claims["name"]),
                (&json!("c-1"), &json!("Ann"))
            );
            assert_eq!(read.claims["exp"], now + 120);
            let grants = json!({
                "roomJoin": true,
                "room": "region:-1:4",
                "canPublish": can_publish,
                "canSubscribe": true,
                "canPublishData": false,
            });
            assert_eq!(read.claims["video"], grants);
            assert_eq!(answer.room, "region:-1:4");
            let other = DecodingKey::from_secret(b"another secret");
            assert!(signatures::decode::<Value>(&answer.token, &other, &check).is_err());
        }
    }
}
