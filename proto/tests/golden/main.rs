//! The wire as clients know it: every event in both encodings, byte for byte. A difference here is
//! a change that clients see.
#![allow(clippy::unwrap_used)]

mod compact;
mod exchanges;
#[path = "../samples/mod.rs"]
mod samples;

use std::{collections::BTreeSet, fmt::Write as _};

use proto::client::{
    ClientMessage, ErrorCode, Format, Message, RequestId, ServerEvent, ZoneRequest, chat,
    data_json, decode, encode, encode_raw, error, friends, session, sync, update, watch,
};
use samples::{CLIENT_MESSAGES, Sample};
use serde_json::{json, value::RawValue};
use world::bank::told as bank;
use world::combat::told as combat;
use world::death::told as death;
use world::dialogue::told as dialogue;
use world::equipment::told as equipment;
use world::pack::told as pack;
use world::prayer::told as prayer;
use world::quests::{QuestStatus, told as quest};
use world::skilling::told::ActivityUpdate;
use world::told::{Parts, RefusalCode};
use world::training::told::SkillGain;
use world::{HitKind, Refusal, Skill, Tick, Tile, emotes, home_teleport, movement, vitals};

/// Writes two lines: the JSON text, and the MessagePack bytes as hex.
fn line(out: &mut String, json: &[u8], msgpack: &[u8]) {
    out.push_str(std::str::from_utf8(json).unwrap());
    out.push_str("\n  ");
    for byte in msgpack {
        write!(out, "{byte:02x}").unwrap();
    }
    out.push('\n');
}

/// Returns JSON text as MessagePack, with its fields in the same order.
fn packed(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let mut writer = rmp_serde::Serializer::new(&mut out).with_struct_map();
    serde_transcode::transcode(&mut reader, &mut writer).unwrap();
    out
}

/// Returns the meaning of a message, for the gateway or for a zone.
fn understood(format: Format, message: Vec<u8>) -> String {
    let request = decode(format, &message.into()).unwrap();
    assert_eq!(request.id, Some(RequestId::Number(7.into())));
    match request.message {
        Message::Gateway(message) => format!("{message:?}"),
        Message::Zone(ZoneRequest {
            event,
            data,
            format,
        }) => {
            let data = data_json(format, data).unwrap();
            let intent = world::Intent::read(event, &data, world::Screen::Offer);
            // A number of an exchange may be out of bounds: then it has the exchange's code.
            assert!(
                matches!(intent, Ok(_) | Err(world::BadRequest::Refused(_))),
                "{event}: {intent:?}"
            );
            format!("{intent:?}")
        }
    }
}

#[test]
fn client_events_are_read_from_the_same_bytes_as_before() {
    let named: BTreeSet<&str> = CLIENT_MESSAGES.iter().map(|sample| sample.event).collect();
    let zones = world::Intent::events().into_iter();
    let known: BTreeSet<&str> = ClientMessage::NAMES.iter().copied().chain(zones).collect();
    assert_eq!(named, known);
    let mut out = String::new();
    for Sample { event, data } in CLIENT_MESSAGES {
        let json = format!(r#"{{"event":"{event}","id":7,"data":{data}}}"#).into_bytes();
        let msgpack = packed(&json);
        line(&mut out, &json, &msgpack);
        let meaning = understood(Format::Json, json);
        assert_eq!(meaning, understood(Format::MessagePack, msgpack), "{data}");
    }
    insta::assert_snapshot!("client_events", out);
}

/// Writes every server event that it is shown.
struct Server {
    out: String,
    seq: u64,
}

impl Server {
    fn event<T: ServerEvent>(&mut self, data: T) {
        self.seq += 1;
        let re = RequestId::Text("r".to_owned());
        let re = (self.seq % 2 == 1).then_some(&re);
        let json = encode(Format::Json, self.seq, re, &data);
        let msgpack = encode(Format::MessagePack, self.seq, re, &data);
        let read: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(read["event"], T::NAME);
        assert_eq!(
            rmp_serde::from_slice::<serde_json::Value>(&msgpack).unwrap(),
            read
        );
        line(&mut self.out, &json, &msgpack);
    }
}

fn session_events(server: &mut Server) {
    let character = session::Character {
        id: "c1".to_owned(),
        name: "Ann".to_owned(),
        combat_level: 3,
        look: "21340".to_owned(),
        last_login_at: Some("2026-11-21T09:00:00Z".to_owned()),
    };
    server.event(session::Hello {
        protocol: 1,
        heartbeat_ms: 15_000,
        auth_timeout_ms: 10_000,
        anonymous: true,
    });
    server.event(session::Welcome {
        session_id: "s1".to_owned(),
        resume_token: "r1".to_owned(),
        auth_token: "a.b.c".to_owned(),
        expires_at: "2026-11-21T21:00:00Z".to_owned(),
        account: session::Account {
            id: "a1".to_owned(),
            name: "Guest".to_owned(),
            anonymous: true,
        },
        device_key: Some("k3y".to_owned()),
        characters: vec![character.clone()],
    });
    server.event(session::Resumed {
        session_id: "s1".to_owned(),
        replayed: 3,
        resync: false,
        resume_token: Some("r2".to_owned()),
        character_id: Some("c1".to_owned()),
        gateway: None,
    });
    server.event(session::Invalid {
        reason: "unknown token".to_owned(),
    });
    server.event(session::Draining { after_ms: 5_000 });
    server.event(session::Pong {
        t: 12.5,
        server_time: "2026-11-21T09:00:00Z".to_owned(),
        tick: 3_000_000_000,
    });
    server.event(session::CharacterList {
        characters: vec![character.clone()],
    });
    server.event(session::CharacterCreated { character });
    world_session_events(server);
}

fn world_session_events(server: &mut Server) {
    server.event(session::WorldEntered {
        character_id: "c1".to_owned(),
        entity_id: "c1".to_owned(),
        tick: 9,
        region: [-1, 2],
        zone: "4".to_owned(),
        resume_token: Some("r3".to_owned()),
        gateway: None,
    });
    server.event(session::WorldLeft {
        character_id: "c1".to_owned(),
        resume_token: None,
    });
    server.event(session::Ack {});
    server.event(session::Notice {
        code: "maintenance".to_owned(),
        message: "Back soon.".to_owned(),
        level: "info".to_owned(),
    });
}

fn prayer() -> prayer::Prayer {
    prayer::Prayer {
        points: 3,
        max_points: 9,
        active: vec!["thick_socks".to_owned()],
    }
}

fn combat() -> combat::Combat {
    combat::Combat {
        style: "rapid".to_owned(),
        styles: vec!["accurate".to_owned(), "rapid".to_owned()],
        retaliate: true,
        spell: None,
    }
}

fn fight_events(server: &mut Server) {
    let position = sync::Position { x: 1, y: 0.0, z: 2 };
    server.event(prayer());
    server.event(combat());
    server.event(combat::Hit {
        tick: Tick(9),
        attacker: "c1".into(),
        target: "npc:1".into(),
        damage: 3,
        tile: Tile::default(),
        kind: HitKind::Melee,
        health: 0,
        max_health: 8,
        killed: true,
    });
    server.event(death::PlayerDied {
        killed_by: Some("Goblin".into()),
        position,
        respawn_tick: 16,
    });
    server.event(death::PlayerRespawned { position });
}

#[allow(clippy::too_many_lines, reason = "a list")]
fn own_events(server: &mut Server) {
    let health = sync::Health {
        current: 9,
        max: 10,
    };
    server.event(sync::PlayerSync {
        tick: 9,
        character: session::Character {
            id: "c1".to_owned(),
            name: "Ann".to_owned(),
            combat_level: 3,
            look: String::new(),
            last_login_at: None,
        },
        position: sync::Position {
            x: -1,
            y: 2.5,
            z: 7,
        },
        health,
        skills: [(
            "attack".to_owned(),
            sync::SkillShown {
                level: 1,
                xp: Parts(5),
            },
        )]
        .into(),
        inventory: vec![
            None,
            Some(sync::Stack {
                item_id: "logs".into(),
                quantity: 2,
            }),
        ],
        equipment: [].into(),
        coins: 5_000_000_000,
        energy: Parts(9950),
        run: false,
        quests: vec![quest::QuestProgress {
            id: "lost_ring".into(),
            status: QuestStatus::InProgress,
            stage: Some("kill".into()),
            progress: [("kill".into(), 2)].into(),
        }],
        prayer: prayer(),
        combat: combat(),
        settings: sync::Settings {
            run: false,
            retaliate: true,
            bank_placeholders: true,
        },
        dead: false,
        effects: None,
    });
    fight_events(server);
    server.event(vitals::told::VitalsUpdate {
        health: Some(health),
        energy: None,
        run: Some(true),
        effects: None,
    });
    server.event(movement::told::Teleport {
        position: sync::Position { x: 1, y: 0.0, z: 2 },
    });
    let logs = sync::Stack {
        item_id: "logs".into(),
        quantity: 2,
    };
    let slots = [(0, Some(logs)), (27, None)];
    server.event(pack::InventoryUpdate {
        slots: slots
            .map(|(slot, item)| pack::SlotUpdate { slot, item })
            .into(),
    });
    server.event(pack::CoinsUpdate { coins: 25 });
    server.event(equipment::EquipmentUpdate {
        slots: vec![
            equipment::PlaceUpdate {
                slot: "weapon".to_owned(),
                item: Some(sync::Stack {
                    item_id: "bronze_sword".into(),
                    quantity: 1,
                }),
            },
            equipment::PlaceUpdate {
                slot: "shield".to_owned(),
                item: None,
            },
        ],
    });
    server.event(bank::BankState {
        open: true,
        full: true,
        items: vec![bank::BankItem {
            item_id: "coal".into(),
            quantity: 0,
            tab: 8,
            place: 3,
        }],
        gone: vec!["logs".into()],
        placeholders: true,
    });
    server.event(bank::BankState::default());
    server.event(ActivityUpdate {
        active: true,
        action: Some("cook".to_owned()),
        target: Some("fire:1-1".into()),
        option: Some("raw_trout".into()),
        code: None,
        message: None,
    });
    server.event(ActivityUpdate {
        active: false,
        action: None,
        target: None,
        option: None,
        code: Some(RefusalCode(Refusal::InventoryFull)),
        message: Some("there is no room for it".to_owned()),
    });
    for leveled_up in [true, false] {
        server.event(SkillGain {
            skill: Skill::Agility,
            gained: Parts(500),
            xp: Parts(2239),
            level: 3,
            leveled_up,
        });
    }
}

fn friends_events(server: &mut Server) {
    let friend = friends::Friend {
        id: "c2".to_owned(),
        name: "Bob".to_owned(),
        status: friends::Status::Online,
        level: 3,
        last_seen_at: Some("2026-11-21T09:00:00Z".to_owned()),
    };
    let request = friends::FriendRequest {
        id: "r1".to_owned(),
        from_id: "c3".to_owned(),
        from_name: "Cat".to_owned(),
        to_id: "c1".to_owned(),
        to_name: "Ann".to_owned(),
        at: "2026-11-21T09:00:00Z".to_owned(),
    };
    let ignored = friends::Ignored {
        id: "c4".to_owned(),
        name: "Dan".to_owned(),
        added_at: "2026-11-21T09:00:00Z".to_owned(),
    };
    server.event(friends::FriendsList {
        friends: vec![friend.clone()],
        requests: vec![request.clone()],
        ignored: vec![ignored.clone()],
    });
    server.event(friends::FriendsUpdate::default());
    server.event(friends::FriendsUpdate {
        friends: vec![friends::Friend {
            status: friends::Status::Unknown,
            last_seen_at: None,
            ..friend
        }],
        friends_gone: vec!["c5".to_owned()],
        requests: vec![request],
        requests_gone: vec!["r2".to_owned()],
        ignored: vec![ignored],
        ignored_gone: vec!["c6".to_owned()],
    });
    server.event(friends::FriendsPresence {
        friends: vec![friends::FriendStatus {
            id: "c2".to_owned(),
            status: friends::Status::Offline,
        }],
    });
}

#[allow(clippy::too_many_lines, reason = "one event after the other")]
fn story_events(server: &mut Server) {
    server.event(dialogue::DialogueNode {
        open: true,
        target: "npc:1".into(),
        name: "Old Tom".into(),
        node: "greeting".into(),
        text: "Have you seen my ring?".into(),
        responses: vec![dialogue::DialogueResponse {
            index: 1,
            text: "What ring?".into(),
        }],
    });
    server.event(dialogue::DialogueNode::default());
    server.event(quest::QuestList {
        quests: vec![quest::QuestEntry {
            id: "lost_ring".into(),
            name: "The Lost Ring".into(),
            status: QuestStatus::ReadyToComplete,
            difficulty: "novice".to_owned(),
            quest_points: 1,
            recommended_level: Some(10),
        }],
        quest_points: 7,
    });
    let rewards = quest::QuestRewards {
        quest_points: 1,
        items: vec![sync::Stack {
            item_id: "coins".into(),
            quantity: 50,
        }],
        xp: [("cooking".to_owned(), Parts(125))].into(),
    };
    server.event(quest::QuestDetail {
        id: "lost_ring".into(),
        name: "The Lost Ring".into(),
        description: "It is gone.".to_owned(),
        status: QuestStatus::NotStarted,
        difficulty: "novice".to_owned(),
        recommended_level: Some(10),
        start_npc: "old_tom".into(),
        start_npc_name: "Old Tom".into(),
        current_stage: None,
        stage_progress: [].into(),
        stages: vec![quest::QuestStage {
            id: "kill".into(),
            description: "Scare five rats.".to_owned(),
            kind: "kill".to_owned(),
            target: "rat".into(),
            count: Some(5),
        }],
        requirements: quest::QuestRequirements {
            quests: vec!["first_steps".into()],
            skills: [("cooking".into(), 5)].into(),
            items: vec!["pot".into()],
        },
        rewards: rewards.clone(),
        offered: true,
    });
    server.event(quest::QuestUpdate {
        quest_id: "lost_ring".into(),
        name: "The Lost Ring".into(),
        status: QuestStatus::InProgress,
        stage: Some("kill".into()),
        progress: [("kill".into(), 2)].into(),
        description: "Scare five rats.".to_owned(),
        quest_points: 7,
    });
    server.event(quest::QuestCompleted {
        quest_id: "lost_ring".into(),
        name: "The Lost Ring".into(),
        rewards,
    });
}

fn world_events(server: &mut Server) {
    let fields = |value: serde_json::Value| value.as_object().unwrap().clone();
    server.event(update::WorldUpdate {
        tick: 9,
        chunks: vec![update::ChunkUpdate {
            x: -1,
            z: 0,
            full: true,
            enter: vec![update::Entity {
                id: "npc:1".to_owned(),
                kind: "npc".to_owned(),
                x: -3,
                z: 4,
                fields: fields(json!({"name": "Goblin", "level": 2})),
            }],
            update: vec![update::EntityDelta {
                id: "c1".to_owned(),
                x: Some(-2),
                z: None,
                fields: fields(json!({"run": true, "title": null})),
            }],
            leave: vec!["c2".to_owned()],
            hits: vec![json!({"damage": 3})],
        }],
        gone: vec![[5, -6]],
    });
    server.event(chat::ChatMessage {
        id: "m1".to_owned(),
        channel: chat::Channel::Local,
        from: "Bob".to_owned(),
        from_id: "c2".to_owned(),
        message: "hi <b>".to_owned(),
        at: "2026-11-21T09:00:00Z".to_owned(),
        entity_id: Some("c2".to_owned()),
    });
    server.event(error::Error {
        code: ErrorCode::RateLimited,
        message: "Slow down.".to_owned(),
        event: Some("player:move".to_owned()),
        retry_after_ms: Some(400),
    });
    server.event(watch::WorldWatching {
        character_id: Some("c1".to_owned()),
        online: Some(true),
        area: None,
        x: -70,
        z: 300,
    });
}

#[test]
fn server_events_are_written_as_the_same_bytes_as_before() {
    let mut server = Server {
        out: String::new(),
        seq: 0,
    };
    session_events(&mut server);
    own_events(&mut server);
    world_events(&mut server);
    friends_events(&mut server);
    story_events(&mut server);
    exchanges::trade_events(&mut server);
    exchanges::duel_events(&mut server);
    server.event(home_teleport::told::HomeUpdate {
        arrives_tick: Some(1030),
        ready_tick: 2500,
    });
    server.event(vitals::told::VitalsUpdate {
        health: Some(sync::Health {
            current: 9,
            max: 10,
        }),
        energy: Some(Parts(9_950)),
        run: Some(false),
        effects: Some(sync::Effects {
            boosts: [("attack".to_owned(), 5)].into(),
            poison: Some(2),
        }),
    });
    server.event(emotes::told::DanceRound {
        leader: "npc:town:jig".into(),
        emote: world::Emote::Wave,
        in_step: true,
        streak: 5,
        dancers: 3,
    });
    insta::assert_snapshot!("server_events", server.out);
}

#[test]
fn codes_are_written_as_before() {
    let codes: Vec<&str> = ErrorCode::all().map(|code| code.wire()).collect();
    insta::assert_snapshot!("error_codes", codes.join("\n"));
}

/// A zone sends its data as JSON text; a client cannot tell.
#[test]
fn data_that_are_text_already_are_written_as_typed_ones() {
    let data = movement::told::Teleport {
        position: sync::Position { x: 1, y: 0.5, z: 2 },
    };
    let raw = RawValue::from_string(serde_json::to_string(&data).unwrap()).unwrap();
    let name = <movement::told::Teleport as ServerEvent>::NAME;
    let typed = encode(Format::Json, 3, None, &data);
    assert_eq!(encode_raw(Format::Json, 3, None, name, &raw), typed);
    let [typed, raw] = [
        encode(Format::MessagePack, 3, None, &data),
        encode_raw(Format::MessagePack, 3, None, name, &raw),
    ]
    .map(|bytes| rmp_serde::from_slice::<serde_json::Value>(&bytes).unwrap());
    assert_eq!(raw, typed);
}
