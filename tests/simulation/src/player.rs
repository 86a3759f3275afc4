//! Players: they come into the world, walk to and fro over the corner of four regions, and move
//! their possessions. They lose their sockets and come back, and leave.

use persistence_svc::simulation::{Answer, Ask as StoreAsk, Lying};
use proto::rpc::{
    common::v1::Tile,
    persistence::v1::{CreateCharacterRequest, OpenSessionRequest, SignInRequest},
};
use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    Event, Sim,
    bus::{Call, Callee, Reply, Result_, Why},
    session::{Asked, Place, Session},
};

/// Distance from the corner up to which players walk, in tiles.
const REACH: i32 = 16;

/// State of a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    Out,
    /// It asks the store for a session.
    Opening,
    /// In the world, or about to be.
    In {
        gateway: usize,
        session: String,
    },
}

/// Player of a character.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) account: String,
    pub(crate) character: String,
    pub(crate) stage: Stage,
    /// Tile on which it believes to stand.
    pub(crate) tile: (i32, i32),
}

/// Session that the store is to open.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    player: usize,
    gateway: usize,
    session: String,
}

impl Sim {
    /// Returns an account with a character, from before the faults.
    pub(crate) fn new_player(&mut self, number: usize) -> Player {
        let mut key = vec![0_u8; 32];
        key[0] = u8::try_from(number).unwrap_or(u8::MAX);
        let ask = StoreAsk::SignIn(SignInRequest {
            device_key_hash: key.into(),
            create: true,
        });
        let account = match self.store.call(self.now, ask) {
            Ok(Answer::SignIn(reply)) => reply.account.map(|account| account.id),
            _ => None,
        };
        let account = account.expect("the store makes accounts");
        let ask = StoreAsk::CreateCharacter(CreateCharacterRequest {
            account_id: account.clone(),
            name: format!("Player {}", (b'a' + number as u8) as char),
            spawn: Some(Tile { x: 1, z: 1 }),
            look: String::new(),
        });
        let made = match self.store.call(self.now, ask) {
            Ok(Answer::CreateCharacter(made)) => made,
            other => panic!("the store makes characters: {other:?}"),
        };
        Player {
            account,
            character: made.id,
            stage: Stage::Out,
            tile: (1, 1),
        }
    }

    /// Lets a player do something, and again after a while.
    pub(crate) fn acts(&mut self, number: usize) {
        let wait = self.dice.random_range(250..2_000);
        self.after(wait, Event::Acts(number));
        match self.players[number].stage.clone() {
            Stage::Out if self.quiet() => {}
            Stage::Out => self.come_in(number),
            Stage::Opening => {}
            Stage::In { gateway, session } => self.plays(number, gateway, &session),
        }
    }

    /// Returns whether the very end has begun, at which nobody comes, goes or walks any more.
    fn quiet(&self) -> bool {
        let end = self.settings.ticks + self.settings.calm_ticks;
        let calm = self.settings.calm_ticks > 0;
        calm && self.now > self.begun + (end - super::laws::QUIET_TICKS) * super::TICK_MS
    }

    fn come_in(&mut self, player: usize) {
        let gateway = self.dice.random_range(0..self.gateways.len());
        self.sessions += 1;
        let opening = Opening {
            player,
            gateway,
            session: format!("s{}", self.sessions),
        };
        let request = OpenSessionRequest {
            account_id: self.players[player].account.clone(),
            character_id: self.players[player].character.clone(),
            session_id: opening.session.clone(),
            gateway_id: self.gateways[gateway].id(),
        };
        self.players[player].stage = Stage::Opening;
        let ask = Callee::store(StoreAsk::OpenSession(request));
        let (by, why) = (None, Why::Open(opening));
        self.call(Call { by, why }, ask, 2_000);
    }

    pub(crate) fn opened(&mut self, opening: Opening, result: Result_) {
        let Opening {
            player,
            gateway,
            session,
        } = opening;
        if self.players[player].stage != Stage::Opening {
            return;
        }
        let Ok(Reply::Store(Answer::OpenSession(reply))) = result.map(|reply| *reply) else {
            self.coverage.count("open session: failed");
            self.players[player].stage = Stage::Out;
            return;
        };
        self.coverage.count(if reply.was_online {
            "open session: was online"
        } else {
            "open session: was out"
        });
        let region = reply.region.map(|at| (at.x, at.z)).unwrap_or_default();
        let character = self.players[player].character.clone();
        let opened = Session::new(session.clone(), player, character, self.now);
        let opened = opened.opened(reply.session_epoch, region);
        self.gateways[gateway]
            .sessions
            .insert(session.clone(), opened);
        self.tell(|| format!("player {player} enters by gateway {gateway} as {session}"));
        self.players[player].stage = Stage::In {
            gateway,
            session: session.clone(),
        };
        self.begins(player, &session);
        self.seek_after(gateway, &session, 1);
    }

    /// Takes the end of a session, as its gateway knows it.
    pub(crate) fn session_over(&mut self, player: usize, id: &str) {
        let here = match &self.players[player].stage {
            Stage::In { session, .. } => session == id,
            Stage::Out | Stage::Opening => false,
        };
        self.tell(|| format!("session {id} of player {player} is over"));
        if here {
            self.players[player].stage = Stage::Out;
        }
    }

    fn plays(&mut self, number: usize, gateway: usize, session: &str) {
        let Some(here) = self.gateways[gateway].sessions.get(session) else {
            self.players[number].stage = Stage::Out;
            return;
        };
        if here.place == Place::Paused {
            return;
        }
        if self.quiet() {
            // A request that shows whether the zone listens.
            return self.ask(
                gateway,
                session,
                "player:move",
                r#"{"stop":true}"#.to_owned(),
            );
        }
        self.law_of_answers(gateway, session);
        match self.dice.random_range(0..100) {
            0..2 => self.loses_socket(number, gateway, session),
            2..4 if self.settings.faults.second_logins => {
                // The same player by another connection; the older session is replaced.
                self.coverage.count("player: second login");
                self.come_in(number);
            }
            4..7 => self.ask(gateway, session, "world:leave", "{}".to_owned()),
            7..12 => self.ask(
                gateway,
                session,
                "player:move",
                r#"{"stop":true}"#.to_owned(),
            ),
            12..16 if self.faulty() => self.asks_much(number, gateway, session),
            12..60 => self.walks(gateway, session),
            _ => self.trades(number, gateway, session),
        }
    }

    pub(crate) fn ask(&mut self, gateway: usize, id: &str, event: &'static str, data: String) {
        self.input(gateway, id, Asked { event, data });
    }

    /// Sends several requests in one tick, some about things over a border; now and then more than
    /// a zone lets wait.
    fn asks_much(&mut self, number: usize, gateway: usize, session: &str) {
        self.coverage.count("player: asks much at once");
        let many = match self.chance(500) {
            true => 50,
            false => self.dice.random_range(3..8),
        };
        for _ in 0..many {
            match self.chance(if many < 50 { 7_000 } else { 0 }) {
                true => self.picks_up(number, gateway, session),
                false => self.ask(
                    gateway,
                    session,
                    "player:move",
                    r#"{"stop":true}"#.to_owned(),
                ),
            }
        }
    }

    fn walks(&mut self, gateway: usize, session: &str) {
        let x = self.dice.random_range(-REACH..REACH);
        let z = self.dice.random_range(-REACH..REACH);
        let data = format!(r#"{{"target":{{"x":{x},"z":{z}}},"run":true}}"#);
        self.ask(gateway, session, "player:move", data);
    }

    /// Moves something of value.
    fn trades(&mut self, number: usize, gateway: usize, session: &str) {
        let slots: Vec<u8> = self.laws.seen(session).pack.keys().copied().collect();
        let any = |dice: &mut ChaCha8Rng, slots: &[u8]| {
            slots
                .choose(dice)
                .copied()
                .unwrap_or_else(|| dice.random_range(0..28))
        };
        match self.dice.random_range(0..100) {
            0..35 => {
                let slot = any(&mut self.dice, &slots);
                let part = self.chance(3_000);
                let data = match part {
                    true => format!(r#"{{"slot":{slot},"quantity":1}}"#),
                    false => format!(r#"{{"slot":{slot}}}"#),
                };
                self.ask(gateway, session, "inventory:drop", data);
            }
            35..75 => self.picks_up(number, gateway, session),
            75..82 => {
                let amount = self.dice.random_range(1..6);
                let data = format!(r#"{{"amount":{amount}}}"#);
                self.ask(gateway, session, "coins:withdraw", data);
            }
            82..86 => self.ask(gateway, session, "coins:deposit", "{}".to_owned()),
            86..96 => {
                let from = any(&mut self.dice, &slots);
                let to = self.dice.random_range(0..28);
                if from != to {
                    let data = format!(r#"{{"from":{from},"to":{to}}}"#);
                    self.ask(gateway, session, "inventory:move", data);
                }
            }
            _ => {
                let data = r#"{"action":"home-teleport"}"#.to_owned();
                self.ask(gateway, session, "player:action", data);
            }
        }
    }

    /// Picks up an item that lies there and is its own, or anybody's by now.
    fn picks_up(&mut self, number: usize, gateway: usize, session: &str) {
        let who = self.players[number].character.as_str();
        let tick = self.now / super::TICK_MS;
        let mine = |lying: &Lying| lying.owner == who || lying.public_tick <= tick;
        let lying = self.contents.ground.iter().filter(|(_, lying)| mine(lying));
        let ids: Vec<String> = lying.map(|(id, _)| id.clone()).collect();
        let Some(id) = ids.choose(&mut self.dice) else {
            return self.walks(gateway, session);
        };
        let data = format!(r#"{{"action":"pickup","target":"{id}"}}"#);
        self.ask(gateway, session, "player:action", data);
    }

    fn loses_socket(&mut self, number: usize, gateway: usize, session: &str) {
        self.coverage.count("player: loses its socket");
        self.tell(|| format!("player {number} loses its socket"));
        self.release(gateway, session);
        if let Some(session) = self.gateways[gateway].sessions.get_mut(session) {
            session.place = Place::Paused;
        }
        let wait = self.dice.random_range(300..12_000);
        self.after(wait, Event::Returns(number));
    }

    /// Comes back with a new socket, or gives the session up.
    pub(crate) fn returns(&mut self, number: usize) {
        let Stage::In { gateway, session } = self.players[number].stage.clone() else {
            return;
        };
        let comes = self.chance(7_000);
        let Some(here) = self.gateways[gateway].sessions.get_mut(&session) else {
            return;
        };
        if here.place != Place::Paused {
            return;
        }
        if comes {
            here.place = Place::Sought;
            here.open.clear();
            self.coverage.count("player: resumes");
            self.seek_after(gateway, &session, 1);
        } else {
            self.coverage.count("player: stays away");
            self.end_session(gateway, &session, true);
        }
    }
}
