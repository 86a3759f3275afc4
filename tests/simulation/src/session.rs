//! One session at a gateway: the run that plays its character, the run whose frames count, and the
//! search for it. It follows the rules of the gateway's own routes.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use proto::rpc::zone::v1::{
    Detach, Frame, Input, InputLost, Left, Moved, Recall, SessionFrame, to_zone,
};

use super::{Event, Sim};

/// Inputs that wait for an owner.
const HELD_MAX: usize = 32;
/// A run answers an attach within this.
pub(crate) const ASK_TIMEOUT_MS: u64 = 2_500;
/// Time after which a gateway asks a run for the outcome of a request without an answer.
pub(crate) const RECALLED_AFTER_MS: u64 = 3_000;
/// A player waits so long for the world.
pub(crate) const ENTER_TIMEOUT_MS: u64 = 5_000;

/// Place at which the session's character is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    At(u64),
    Sought,
    /// It has no socket.
    Paused,
}

/// Something that a player asks.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) event: &'static str,
    pub(crate) data: String,
}

/// An input that was sent and not answered.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) sent_ms: u64,
    /// The number of the link over which it went.
    link: u64,
    /// When a later input was followed first: this one was followed or refused before it.
    pub(crate) overtaken_ms: Option<u64>,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) player: usize,
    pub(crate) character: String,
    pub(crate) epoch: u64,
    pub(crate) attach: u64,
    pub(crate) last_input: u64,
    pub(crate) sequence: u64,
    pub(crate) place: Place,
    pub(crate) region: (i32, i32),
    pub(crate) hint: Option<u64>,
    pub(crate) entering: bool,
    pub(crate) since: u64,
    pub(crate) waiter: Option<(u64, u64)>,
    pub(crate) round: VecDeque<u64>,
    pub(crate) seeking: bool,
    pub(crate) held: VecDeque<Asked>,
    /// Inputs that were sent and not answered, by number.
    pub(crate) open: BTreeMap<u64, Open>,
    /// When something of it was answered last.
    pub(crate) answered_ms: u64,
}

impl Session {
    pub(crate) fn new(id: String, player: usize, character: String, since: u64) -> Session {
        Session {
            id,
            player,
            character,
            epoch: 0,
            attach: 0,
            last_input: 0,
            sequence: 0,
            place: Place::Sought,
            region: (0, 0),
            hint: None,
            entering: true,
            since,
            waiter: None,
            round: VecDeque::new(),
            seeking: false,
            held: VecDeque::new(),
            open: BTreeMap::new(),
            answered_ms: since,
        }
    }

    /// Takes the store's answer to the opening of the session.
    pub(crate) fn opened(mut self, epoch: u64, region: (i32, i32)) -> Session {
        self.epoch = epoch;
        self.region = region;
        self
    }

    /// Returns whether nobody plays it, or nobody has said so: a frame may be faster than the
    /// answer to an attach.
    pub(crate) fn sought(&self) -> bool {
        self.place == Place::Sought || (self.entering && self.place != Place::Paused)
    }

    pub(crate) fn detach(&self) -> Detach {
        Detach {
            session_id: self.id.clone(),
            character_id: self.character.clone(),
            session_epoch: self.epoch,
            attach: self.attach,
        }
    }

    /// Takes an answer; returns the number of its input.
    fn hears_answer(&mut self, re: &[u8]) -> Option<u64> {
        let number = std::str::from_utf8(re).ok()?.parse().ok()?;
        self.open.remove(&number);
        Some(number)
    }

    /// Notes that a zone acknowledged the input of a number. The zone followed or refused all
    /// earlier inputs before it, also those without an answer.
    fn hears_ack(&mut self, number: u64, now: u64) {
        for (_, open) in self.open.range_mut(..number) {
            open.overtaken_ms.get_or_insert(now);
        }
    }

    pub(crate) fn lost(&mut self, run: u64) -> bool {
        if self.place != Place::At(run) {
            return false;
        }
        self.place = Place::Sought;
        self.hint = Some(run);
        true
    }
}

impl Sim {
    /// Returns a session of a gateway.
    pub(crate) fn session(&mut self, gateway: usize, id: &str) -> Option<&mut Session> {
        self.gateways[gateway].sessions.get_mut(id)
    }

    pub(crate) fn moved(&mut self, gateway: usize, moved: &Moved) {
        let id = moved.session_id.as_str();
        let up = self
            .links
            .get(&(gateway, moved.to_run_id))
            .is_some_and(|link| link.up);
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        if moved.ownership_sequence <= session.sequence {
            return;
        }
        session.sequence = moved.ownership_sequence;
        if let Some(region) = moved.region {
            session.region = (region.x, region.z);
        }
        match session.place {
            Place::At(_) if up => session.place = Place::At(moved.to_run_id),
            Place::At(_) => {
                session.place = Place::Sought;
                session.hint = Some(moved.to_run_id);
                self.seek_after(gateway, id, 1);
            }
            Place::Sought => session.hint = Some(moved.to_run_id),
            Place::Paused => {}
        }
        self.coverage.count("session: moved");
    }

    /// Takes a run's word that nobody plays an input, and answers it `outcome_unknown`.
    pub(crate) fn input_lost(&mut self, gateway: usize, lost: &InputLost) {
        let id = std::str::from_utf8(&lost.id).unwrap_or("");
        let session = self.session(gateway, &lost.session_id);
        let session = session.filter(|session| session.epoch == lost.session_epoch);
        if let (Some(session), Ok(number)) = (session, id.parse()) {
            session.open.remove(&number);
            self.coverage.count("answer: unknown");
        }
    }

    pub(crate) fn left(&mut self, gateway: usize, left: &Left) {
        let Some(session) = self.session(gateway, &left.session_id) else {
            return;
        };
        if left.session_epoch < session.epoch {
            return;
        }
        self.coverage.count_of("left", &left.reason);
        self.end_session(gateway, &left.session_id, false);
    }

    /// Ends the session; with `release` its runs hear of it.
    pub(crate) fn end_session(&mut self, gateway: usize, id: &str, release: bool) {
        if release {
            self.release(gateway, id);
        }
        if let Some(session) = self.gateways[gateway].sessions.remove(id) {
            self.session_over(session.player, id);
        }
    }

    /// Detaches wherever the session is or may be attached.
    pub(crate) fn release(&mut self, gateway: usize, id: &str) {
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        let asked = session.waiter.take().map(|(run, _)| run);
        let at = match session.place {
            Place::At(run) => Some(run),
            Place::Sought | Place::Paused => None,
        };
        let detach = session.detach();
        for run in at.into_iter().chain(asked.filter(|run| at != Some(*run))) {
            self.link_tells(gateway, run, to_zone::Message::Detach(detach.clone()));
        }
    }

    /// Handles the loss of a link: the gateway seeks the characters that it played through it, and
    /// answers the open requests `outcome_unknown`.
    pub(crate) fn sessions_lost(&mut self, gateway: usize, run: u64, link: u64) {
        let mut sought = Vec::new();
        for session in self.gateways[gateway].sessions.values_mut() {
            session.open.retain(|_, open| open.link != link);
            let asked = session.waiter.take_if(|(asked, _)| *asked == run).is_some();
            if session.lost(run) {
                session.open.clear();
                sought.push(session.id.clone());
            } else if asked {
                sought.push(session.id.clone());
            }
        }
        for id in sought {
            self.seek_after(gateway, &id, 1);
        }
    }

    /// Passes on a player's request.
    pub(crate) fn input(&mut self, gateway: usize, id: &str, asked: Asked) {
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        let (place, region) = (session.place, session.region);
        if place == Place::Sought && self.gateways[gateway].rests(region) {
            return self.coverage.count("input: in a paused region");
        }
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        match place {
            Place::At(run) => self.send_input(gateway, id, run, &asked),
            Place::Sought if session.held.len() < HELD_MAX => {
                session.held.push_back(asked);
                self.coverage.count("input: held");
            }
            Place::Sought | Place::Paused => {}
        }
    }

    fn send_input(&mut self, gateway: usize, id: &str, run: u64, asked: &Asked) {
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        let number = session.last_input + 1;
        let input = Input {
            session_id: session.id.clone(),
            character_id: session.character.clone(),
            session_epoch: session.epoch,
            number,
            event: asked.event.to_owned(),
            data: Bytes::from(asked.data.clone()),
            id: Bytes::from(number.to_string()),
            traceparent: String::new(),
            attach: session.attach,
            ..Input::default()
        };
        let player = session.player;
        let link = self
            .links
            .get(&(gateway, run))
            .map_or(0, |link| link.number);
        if self.link_tells(gateway, run, to_zone::Message::Input(input)) {
            self.coverage.count("input: sent");
            self.tell(|| {
                format!(
                    "player {player} asks {number}: {} {}",
                    asked.event, asked.data
                )
            });
            let sent_ms = self.now;
            if let Some(session) = self.session(gateway, id) {
                session.last_input = number;
                session.open.insert(
                    number,
                    Open {
                        sent_ms,
                        link,
                        overtaken_ms: None,
                    },
                );
            }
        }
    }

    pub(crate) fn send_held(&mut self, gateway: usize, id: &str) {
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        let Place::At(run) = session.place else {
            return;
        };
        for asked in std::mem::take(&mut session.held) {
            self.send_input(gateway, id, run, &asked);
        }
    }

    /// Asks every second for the outcome of requests that nobody has answered for long.
    pub(crate) fn recall(&mut self, gateway: usize) {
        self.after(1_000, Event::Recall(gateway));
        let Some(before) = self.now.checked_sub(RECALLED_AFTER_MS) else {
            return;
        };
        let sessions = self.gateways[gateway].sessions.values();
        let recalls = sessions.filter_map(|session| {
            let Place::At(run) = session.place else {
                return None;
            };
            let old = session
                .open
                .iter()
                .filter(|(_, open)| open.sent_ms < before);
            let ids: Vec<Bytes> = old.map(|(n, _)| Bytes::from(n.to_string())).collect();
            let recall = Recall {
                session_id: session.id.clone(),
                character_id: session.character.clone(),
                session_epoch: session.epoch,
                ids,
            };
            (!recall.ids.is_empty()).then_some((run, recall))
        });
        for (run, recall) in recalls.collect::<Vec<_>>() {
            self.coverage.count("input: recalled");
            self.link_tells(gateway, run, to_zone::Message::Recall(recall));
        }
    }

    /// Takes the private part of a run's frame.
    pub(crate) fn framed(&mut self, gateway: usize, run: u64, frame: Frame) {
        self.frame_shows(&frame);
        for private in frame.sessions {
            self.private(gateway, run, private);
        }
    }

    fn private(&mut self, gateway: usize, run: u64, frame: SessionFrame) {
        let now = self.now;
        let id = frame.session_id.clone();
        let Some(session) = self
            .session(gateway, &id)
            .filter(|s| s.character == frame.character_id)
        else {
            let unknown = Detach {
                session_id: frame.session_id,
                character_id: frame.character_id,
                ..Detach::default()
            };
            self.link_tells(gateway, run, to_zone::Message::Detach(unknown));
            return;
        };
        let mut switched = false;
        let counts = if frame.ownership_sequence > session.sequence {
            session.sequence = frame.ownership_sequence;
            if !matches!(session.place, Place::Paused) && session.place != Place::At(run) {
                session.place = Place::At(run);
                session.hint = None;
                switched = true;
            }
            true
        } else {
            let present = match session.place {
                Place::At(at) => at == run,
                Place::Sought | Place::Paused => true,
            };
            frame.ownership_sequence == session.sequence && present
        };
        if !counts {
            // The gateway hides these answers: it answers their requests `outcome_unknown`.
            for message in &frame.messages {
                session.hears_answer(&message.re);
            }
            return self.coverage.count("frame: old");
        }
        let paused = session.place == Place::Paused;
        session.answered_ms = now;
        let (player, epoch) = (session.player, session.epoch);
        if paused {
            let detach = session.detach();
            self.link_tells(gateway, run, to_zone::Message::Detach(detach));
        }
        if let Some(tile) = frame.position {
            self.players[player].tile = (tile.x, tile.z);
        }
        for message in &frame.messages {
            self.told((player, &id), epoch, message);
            if let Some(session) = self.session(gateway, &id) {
                let number = session.hears_answer(&message.re);
                if let Some(number) = number.filter(|_| message.event == "ack") {
                    session.hears_ack(number, now);
                }
            }
        }
        self.reported_all(player, &id);
        if switched {
            self.coverage.count("frame: switched the route");
            self.send_held(gateway, &id);
        }
    }
}
