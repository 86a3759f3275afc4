//! The search for the run that has a session's character: first the owner of its region by the
//! directory, then everybody, until some run has it.

use std::collections::VecDeque;

use proto::rpc::zone::v1::{Attach, AttachRefused, Attached, to_zone};
use rand::RngExt;

use super::{
    Event, Sim,
    session::{ASK_TIMEOUT_MS, ENTER_TIMEOUT_MS, Place},
};

impl Sim {
    /// Repeats the search for characters that no run was found to have, soon.
    pub(crate) fn seek_again(&mut self, gateway: usize) {
        let sessions = &self.gateways[gateway].sessions;
        let sought: Vec<String> = sessions
            .values()
            .filter(|s| s.sought() && s.waiter.is_none())
            .map(|s| s.id.clone())
            .collect();
        for id in sought {
            self.seek_after(gateway, &id, 1);
        }
    }

    pub(crate) fn seek_after(&mut self, gateway: usize, id: &str, wait_ms: u64) {
        if let Some(session) = self.session(gateway, id)
            && !std::mem::replace(&mut session.seeking, true)
        {
            let session = id.to_owned();
            self.after(wait_ms, Event::Seek { gateway, session });
        }
    }

    /// Asks the next run for the session's character, or begins a new round.
    pub(crate) fn seek(&mut self, gateway: usize, id: &str) {
        let now = self.now;
        let owners = self.gateways[gateway].owners.clone();
        let links = &self.links;
        let Some(session) = self.gateways[gateway].sessions.get_mut(id) else {
            return;
        };
        session.seeking = false;
        if !session.sought() || session.waiter.is_some() {
            return;
        }
        if session.entering && now.saturating_sub(session.since) > ENTER_TIMEOUT_MS {
            self.coverage.count("session: could not enter");
            return self.end_session(gateway, id, true);
        }
        let linked: Vec<u64> = links
            .iter()
            .filter(|((of, _), link)| *of == gateway && link.up)
            .map(|((_, run), _)| *run)
            .collect();
        let owner = owners.get(&session.region).copied();
        let all = owner.into_iter().chain(session.hint).chain(linked.clone());
        let mut round = VecDeque::new();
        for run in all {
            if linked.contains(&run) && !round.contains(&run) {
                round.push_back(run);
            }
        }
        session.round = round;
        self.ask_next(gateway, id);
    }

    fn ask_next(&mut self, gateway: usize, id: &str) {
        loop {
            let Some(session) = self.session(gateway, id) else {
                return;
            };
            let Some(run) = session.round.pop_front() else {
                let wait = self.dice.random_range(50..800);
                return self.seek_after(gateway, id, wait);
            };
            session.attach += 1;
            let attach = Attach {
                session_id: session.id.clone(),
                character_id: session.character.clone(),
                session_epoch: session.epoch,
                attach: session.attach,
                last_input: session.last_input,
                resume: false,
                shown: None,
            };
            let number = session.attach;
            session.waiter = Some((run, number));
            if self.link_tells(gateway, run, to_zone::Message::Attach(attach)) {
                let session = id.to_owned();
                let silence = Event::Silence {
                    gateway,
                    session,
                    attach: number,
                };
                return self.after(ASK_TIMEOUT_MS, silence);
            }
            if let Some(session) = self.session(gateway, id) {
                session.waiter = None;
            }
        }
    }

    /// Goes on with the search if the asked run says nothing.
    pub(crate) fn silence(&mut self, gateway: usize, id: &str, attach: u64) {
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        if session.waiter.is_some_and(|(_, asked)| asked == attach) {
            let detach = session.detach();
            let run = session.waiter.take().map(|(run, _)| run);
            if let Some(run) = run {
                self.link_tells(gateway, run, to_zone::Message::Detach(detach));
            }
            self.coverage.count("attach: silence");
            self.seek_after(gateway, id, 10);
        }
    }

    pub(crate) fn attached(&mut self, gateway: usize, run: u64, attached: Attached) {
        let now = self.now;
        let Some(session) = self.session(gateway, &attached.session_id) else {
            return;
        };
        if session.waiter != Some((run, attached.attach)) {
            return;
        }
        session.waiter = None;
        let expected = match session.place {
            Place::Sought => attached.ownership_sequence >= session.sequence,
            Place::At(at) => at == run && attached.ownership_sequence >= session.sequence,
            Place::Paused => false,
        };
        if !expected {
            let id = attached.session_id;
            return self.seek_after(gateway, &id, 10);
        }
        session.sequence = attached.ownership_sequence;
        session.place = Place::At(run);
        session.hint = None;
        session.entering = false;
        session.answered_ms = now;
        if let Some(region) = attached.region {
            session.region = (region.x, region.z);
        }
        let player = session.player;
        self.coverage.count("attach: attached");
        self.tell(|| format!("player {player} is attached at run {run}"));
        if let Some(tile) = attached.position {
            self.players[player].tile = (tile.x, tile.z);
        }
        self.synchronised(player, &attached.session_id, &attached.sync);
        self.send_held(gateway, &attached.session_id);
    }

    pub(crate) fn attach_refused(&mut self, gateway: usize, run: u64, refused: &AttachRefused) {
        let id = refused.session_id.as_str();
        let Some(session) = self.session(gateway, id) else {
            return;
        };
        if session.waiter == Some((run, refused.attach)) {
            session.waiter = None;
            self.coverage.count_of("attach refused", &refused.code);
            match refused.code.as_str() {
                "stale" | "not_in_world" => self.end_session(gateway, id, false),
                "busy" => {
                    let wait = self.dice.random_range(50..800);
                    self.seek_after(gateway, id, wait);
                }
                _ => self.ask_next(gateway, id),
            }
            return;
        }
        let current = refused.attach == 0 || refused.attach == session.attach;
        if current && !session.entering && session.lost(run) {
            session.open.clear();
            self.coverage.count("session: turned out");
            self.seek_after(gateway, id, 1);
        }
    }
}
