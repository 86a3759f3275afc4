//! All that a client knows, learned from the server's messages. Pure: no socket, no clock.

use std::collections::BTreeMap;

use proto::client::error::Error;
use proto::client::session::{Character, Hello, Resumed, Welcome, WorldEntered};
use proto::client::sync::PlayerSync;
use proto::client::{ErrorCode, Refusal, RequestId};

use super::{
    map::Map,
    possessions::Possessions,
    wire::{Message, Payload},
};

/// Progress of a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// No hello yet.
    #[default]
    Silent,
    /// `session:hello` came.
    Greeted,
    /// Authenticated.
    Lobby,
    /// In the world.
    World,
}

/// A client's knowledge. It outlives a connection when the session is resumed.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Progress of the client.
    pub phase: Phase,
    /// The last `session:hello`.
    pub hello: Option<Hello>,
    /// The last `session:welcome`.
    pub welcome: Option<Welcome>,
    /// The account's characters.
    pub characters: Vec<Character>,
    /// The last `world:entered`.
    pub entered: Option<WorldEntered>,
    /// Token that resumes the session now.
    pub resume_token: Option<String>,
    /// The last `player:sync`.
    pub sync: Option<PlayerSync>,
    /// Possessions of the character. The sender of a request that moves value notes it here.
    pub possessions: Possessions,
    /// Tile of the own character.
    pub position: Option<(i32, i32)>,
    /// The last tick that an update showed.
    pub tick: u64,
    /// The surroundings.
    pub map: Map,
    /// The last `seq`.
    pub seq: u64,
    /// The last `seq` of the connection before this one.
    pub resume_from: u64,
    /// Messages whose `seq` was not the last one plus one.
    pub gaps: u64,
    /// `error` messages, by code.
    pub errors: BTreeMap<&'static str, u64>,
    /// The code of the last `error`, and the event that it refused.
    pub last_error: Option<(&'static str, Option<String>)>,
    /// `world:update` messages.
    pub updates: u64,
    /// Updates whose tick was below one seen before.
    pub ticks_backwards: u64,
    /// Own positions that were further away than a runner gets in the ticks between and one more.
    pub leaps: u64,
    /// The first leap: tick and tile before, tick and tile after.
    pub first_leap: Option<[(u64, i32, i32); 2]>,
    /// It has no health left and has not stood up again.
    pub dead: bool,
    /// Number of its deaths.
    pub deaths: u64,
    /// The own entity was missing from the map after an update.
    pub self_unseen: u64,
    /// It has asked to leave the world, and may be out before it hears so.
    pub leaving: bool,
    /// Sessions that were resumed, and how many of these with everything sent anew.
    pub resumed: u64,
    /// Everything was sent anew so often.
    pub resyncs: u64,
    last_seen: Option<(u64, i32, i32)>,
}

/// Tiles that a character may move in a tick at most.
const RUN_TILES: i64 = 4;

impl View {
    /// Begins a new connection: `seq` counts anew, unless the session is resumed.
    pub fn connected(&mut self) {
        self.phase = Phase::Silent;
        self.resume_from = self.seq;
        self.possessions.unanswered();
    }

    /// Learns from one message.
    pub fn take(&mut self, message: &Message) {
        self.count(message);
        self.keep_token(&message.payload);
        self.keep_possessions(message);
        match &message.payload {
            Payload::Hello(hello) => {
                self.hello = Some(hello.clone());
                self.phase = Phase::Greeted;
            }
            Payload::Welcome(welcome) => {
                self.characters.clone_from(&welcome.characters);
                self.welcome = Some(welcome.clone());
                self.phase = Phase::Lobby;
            }
            Payload::Resumed(resumed) => self.goes_on(resumed),
            Payload::CharacterList(list) => self.characters.clone_from(&list.characters),
            Payload::CharacterCreated(created) => self.characters.push(created.character.clone()),
            Payload::WorldEntered(entered) => {
                self.leaving = false;
                self.entered = Some(entered.clone());
                self.phase = Phase::World;
                self.map.clear();
                self.last_seen = None;
            }
            Payload::WorldLeft(_) => {
                self.leaving = false;
                self.entered = None;
                self.position = None;
                self.map.clear();
                self.phase = Phase::Lobby;
            }
            Payload::Sync(sync) => {
                self.position = Some((sync.position.x, sync.position.z));
                self.dead = sync.dead;
                self.sync = Some((**sync).clone());
            }
            Payload::Teleport(to) => {
                self.position = Some((to.position.x, to.position.z));
                self.last_seen = None;
            }
            Payload::Died(_) => {
                self.dead = true;
                self.deaths += 1;
            }
            Payload::Respawned(_) => self.dead = false,
            Payload::Glance(glance) => {
                self.ticked(glance.tick);
                if let (Some((x, z)), Some(old)) = (glance.own, self.position) {
                    self.stands(x.unwrap_or(old.0), z.unwrap_or(old.1));
                }
            }
            // The zone refuses requests of a dead character, which need not have heard of its death
            // yet.
            Payload::Error(e) if self.dead && e.code == ErrorCode::Refused(Refusal::Dead) => {}
            Payload::Error(error) => self.refused(error),
            // A character out of the world ignores updates that were still on their way.
            Payload::Update(_) if self.entered.is_none() => {}
            Payload::Update(update) => {
                self.ticked(update.tick);
                self.map.apply(update.clone());
                self.find_self();
            }
            _ => {}
        }
    }

    fn refused(&mut self, error: &Error) {
        *self.errors.entry(error.code.wire()).or_default() += 1;
        self.last_error = Some((error.code.wire(), error.event.clone()));
    }

    fn goes_on(&mut self, resumed: &Resumed) {
        self.phase = if self.entered.is_some() {
            Phase::World
        } else {
            Phase::Lobby
        };
        self.resumed += 1;
        self.resyncs += u64::from(resumed.resync);
        if resumed.resync {
            self.map.clear();
            self.last_seen = None;
        }
    }

    /// Keeps the last token of a message, which resumes the session.
    fn keep_token(&mut self, payload: &Payload) {
        let token = match payload {
            Payload::Welcome(welcome) => Some(&welcome.resume_token),
            Payload::Resumed(resumed) => resumed.resume_token.as_ref(),
            Payload::WorldEntered(entered) => entered.resume_token.as_ref(),
            Payload::WorldLeft(left) => left.resume_token.as_ref(),
            _ => None,
        };
        if token.is_some() {
            self.resume_token = token.cloned();
        }
    }

    fn keep_possessions(&mut self, message: &Message) {
        let own = &mut self.possessions;
        own.heard();
        let id = match &message.re {
            Some(RequestId::Number(id)) => id.as_u64(),
            _ => None,
        };
        match (&message.payload, id) {
            (Payload::Ack(_), Some(id)) => own.acknowledged(id),
            (Payload::Error(error), Some(id)) => own.refused(id, error.code),
            (Payload::Error(error), None) => own.failed(error.event.as_deref()),
            (Payload::Sync(sync), _) => own.synchronised(sync),
            (Payload::Inventory(update), _) => own.pack_changed(update),
            (Payload::Coins(update), _) => own.pouch_changed(update),
            (Payload::WorldLeft(_), _) => own.unanswered(),
            (Payload::Died(_), _) => own.died(),
            (Payload::Respawned(_), _) => own.respawned(),
            _ => {}
        }
    }

    fn ticked(&mut self, tick: u64) {
        self.updates += 1;
        self.ticks_backwards += u64::from(tick < self.tick);
        self.tick = tick.max(self.tick);
    }

    fn count(&mut self, message: &Message) {
        let expected = match &message.payload {
            Payload::Hello(_) => 1,
            // A resumed session goes on counting where the last connection ended.
            Payload::Resumed(resumed) if !resumed.resync => self.resume_from + 1,
            _ => self.seq + 1,
        };
        if message.seq != expected {
            self.gaps += 1;
        }
        self.seq = message.seq;
    }

    fn find_self(&mut self) {
        let Some(entered) = &self.entered else {
            return;
        };
        let Some(own) = self.map.entity(&entered.entity_id) else {
            // The first update after entering may be without it; later ones may not.
            self.self_unseen += u64::from(self.last_seen.is_some() && !self.leaving);
            return;
        };
        let (x, z) = (own.x, own.z);
        self.stands(x, z);
    }

    /// Notes the place at which the own entity was shown.
    fn stands(&mut self, x: i32, z: i32) {
        if let Some((tick, old_x, old_z)) = self.last_seen {
            let way = i64::from((x - old_x).abs().max((z - old_z).abs()));
            let ticks = i64::try_from(self.tick.saturating_sub(tick)).unwrap_or(i64::MAX);
            // One tick more, because this message may also show a step of the tick before.
            if way > ticks.saturating_add(1).saturating_mul(RUN_TILES) {
                self.leaps += 1;
                self.first_leap
                    .get_or_insert([(tick, old_x, old_z), (self.tick, x, z)]);
            }
        }
        self.last_seen = Some((self.tick, x, z));
        self.position = Some((x, z));
    }
}

#[cfg(test)]
mod tests {
    use proto::client::{Format, session::Ack};

    use super::*;
    use crate::bot::wire;

    fn ack(seq: u64) -> Message {
        Message {
            seq,
            re: None,
            payload: Payload::Ack(Ack {}),
        }
    }

    fn json(text: &str) -> Message {
        wire::read(Format::Json, text.as_bytes()).unwrap()
    }

    #[test]
    fn a_missing_seq_is_one_gap() {
        let mut view = View::default();
        for seq in [1, 2, 4, 5] {
            view.take(&ack(seq));
        }
        assert_eq!(view.gaps, 1);
    }

    #[test]
    fn a_resumed_session_goes_on_counting() {
        let hello = r#"{"event":"session:hello","seq":1,"data":{"protocol":1,"heartbeatMs":1,
            "authTimeoutMs":1,"anonymous":true}}"#;
        for (resync, seq) in [(false, 6), (true, 2)] {
            let mut view = View::default();
            view.take(&json(hello));
            (2..=5).for_each(|seq| view.take(&ack(seq)));
            view.connected();
            view.take(&json(hello));
            let resumed = format!(
                r#"{{"event":"session:resumed","seq":{seq},"data":{{"sessionId":"s",
                    "replayed":0,"resync":{resync}}}}}"#
            );
            view.take(&json(&resumed));
            view.take(&ack(seq + 1));
            assert_eq!(view.gaps, 0, "resync {resync}");
        }
    }

    #[test]
    fn the_own_position_follows_the_own_entity() {
        let mut view = View::default();
        view.take(&json(
            r#"{"event":"world:entered","seq":1,"data":{"characterId":"c","entityId":"c",
                "tick":5,"region":[0,0],"zone":"1"}}"#,
        ));
        view.take(&json(
            r#"{"event":"world:update","seq":2,"data":{"tick":6,"chunks":[{"x":0,"z":0,
                "full":true,"enter":[{"id":"c","type":"player","x":3,"z":4}]}]}}"#,
        ));
        assert_eq!((view.position, view.self_unseen), (Some((3, 4)), 0));
        view.take(&json(
            r#"{"event":"world:update","seq":3,"data":{"tick":7,"chunks":[{"x":0,"z":0,
                "update":[{"id":"c","x":7,"z":7}]}]}}"#,
        ));
        assert_eq!((view.position, view.leaps), (Some((7, 7)), 0));
        view.take(&json(
            r#"{"event":"world:update","seq":4,"data":{"tick":7,"chunks":[{"x":0,"z":0,
                "update":[{"id":"c","x":1}]}]}}"#,
        ));
        assert_eq!(view.leaps, 1);
    }

    #[test]
    fn errors_are_counted_by_code() {
        let mut view = View::default();
        view.take(&json(
            r#"{"event":"error","seq":1,"data":{"code":"unreachable","message":"no way"}}"#,
        ));
        assert_eq!(view.errors.get("unreachable"), Some(&1));
    }
}
