//! What runs say of sessions: attached, moved, left, and what is private to each.

use std::sync::{Arc, atomic::Ordering};

use proto::rpc::zone::v1 as wire;
use world::{Region, Tile};

use super::{
    SessionEvent,
    route::{Place, Verdict},
    session::{Link, Reply, request_id, to_zone},
    table::{Inside, Lost, Table},
};
use crate::directory::Owner;

/// The end of a session of which only a frame is known.
fn unknown(frame: wire::SessionFrame) -> wire::Detach {
    wire::Detach {
        session_id: frame.session_id,
        character_id: frame.character_id,
        session_epoch: 0,
        attach: 0,
    }
}

/// Tells a run that nobody is there. A link without room is told again with the next frame.
fn end_there(link: Option<&Link>, detach: wire::Detach) {
    if let Some(link) = link {
        let detach = to_zone(wire::to_zone::Message::Detach(detach));
        let _ = link.control.try_send(detach);
    }
}

impl Table {
    /// What a run says at once. Returns the session that is to be sought because of it.
    pub(super) fn hear(&self, run: u64, message: wire::FromZone) -> Option<Lost> {
        if self.is_fenced(run) {
            self.measures.fenced();
            return None;
        }
        match message.message? {
            wire::from_zone::Message::Welcome(_) => None,
            wire::from_zone::Message::Attached(attached) => {
                self.attached(run, attached);
                None
            }
            wire::from_zone::Message::AttachRefused(refused) => self.refused(run, refused),
            wire::from_zone::Message::Moved(moved) => self.moved(&moved),
            wire::from_zone::Message::Left(left) => {
                self.left(left);
                None
            }
            wire::from_zone::Message::RegionMoved(moved) => {
                self.region_moved(&moved);
                None
            }
            wire::from_zone::Message::InputLost(lost) => {
                self.input_lost(&lost);
                None
            }
        }
    }

    /// Counts before the directory is pushed, so that the new owner is asked for the region's
    /// chunks in time for its first frame.
    fn region_moved(&self, moved: &wire::RegionMoved) {
        let Some(region) = moved.region else { return };
        let region = Region {
            x: region.x,
            z: region.z,
        };
        let to = Owner {
            run_id: moved.to_run_id,
            epoch: moved.epoch,
        };
        self.directory.give(region, to);
    }

    fn attached(&self, run: u64, attached: wire::Attached) {
        let mut guard = self.inside();
        let inside = &mut *guard;
        let link = inside.links.get(&run);
        let session = inside.sessions.get_mut(&*attached.session_id);
        // One that went away meanwhile has detached itself behind its attach.
        let Some(session) = session else { return };
        let Some(answer) = session.answered(run, &attached) else {
            return;
        };
        if let Some(position) = attached.position {
            session.route.stands(
                Tile {
                    x: position.x,
                    z: position.z,
                },
                attached.tick,
            );
        }
        if let Some(region) = attached.region {
            session.route.region = Region {
                x: region.x,
                z: region.z,
            };
        }
        if !std::mem::take(&mut session.entering) {
            session.take_early(attached.tick, &self.measures);
            session.sync(attached.sync.clone(), &self.measures);
            session.encounters_go_on(&attached.encounters, &self.measures);
            session.take_early(u64::MAX, &self.measures);
            if std::mem::take(&mut session.noticed) {
                let text = "This part of the world goes on.";
                session.notice("zone_recovered", text, "info", &self.measures);
            }
        }
        if let Some(link) = link {
            session.send_held(&attached.session_id, link);
        }
        let _ = answer.send(Reply::Attached(Box::new(attached)));
        drop(guard);
        self.changed.notify_one();
    }

    /// Without being asked a run says this of a character that it does not play any more.
    fn refused(&self, run: u64, refused: wire::AttachRefused) -> Option<Lost> {
        let mut inside = self.inside();
        let (key, _) = inside.sessions.get_key_value(&*refused.session_id)?;
        let session_id = Arc::clone(key);
        let session = inside.sessions.get_mut(&session_id)?;
        tracing::debug!(
            session = &*session_id,
            run,
            attach = refused.attach,
            code = refused.code,
            "a zone refuses a session"
        );
        if let Some(answer) = session.refused(run, refused.attach) {
            // Nothing that shows all is on its way.
            session.take_early(u64::MAX, &self.measures);
            // Nobody waits any more: no harm.
            let _ = answer.send(Reply::Refused(refused.code));
            return None;
        }
        // Numbered 0 when it answers an input.
        let current = refused.attach == 0 || refused.attach == session.route.attach;
        if !current || session.entering || !session.route.lost(run) {
            return None;
        }
        session.answer_unknown(&self.measures);
        Some(Lost {
            session_id,
            generation: session.generation,
        })
    }

    /// The run had not got the character any more when an input came.
    fn input_lost(&self, lost: &wire::InputLost) {
        let inside = self.inside();
        let session = inside.sessions.get(&*lost.session_id);
        let session = session.filter(|s| s.route.session_epoch == lost.session_epoch);
        if let (Some(session), Some(id)) = (session, request_id(&lost.id)) {
            session.lose(&id, &self.measures);
        }
    }

    fn moved(&self, moved: &wire::Moved) -> Option<Lost> {
        let region = moved.region?;
        let region = Region {
            x: region.x,
            z: region.z,
        };
        let mut inside = self.inside();
        let up = inside.links.contains_key(&moved.to_run_id);
        let (key, _) = inside.sessions.get_key_value(&*moved.session_id)?;
        let session_id = Arc::clone(key);
        let session = inside.sessions.get_mut(&session_id)?;
        let was = session.route.place;
        if !session
            .route
            .moved(moved.to_run_id, moved.ownership_sequence, region, up)
        {
            return None;
        }
        self.measures.handover();
        let lost = matches!(was, Place::At(_)) && session.route.place == Place::Sought;
        if !lost || session.entering {
            return None;
        }
        Some(Lost {
            session_id,
            generation: session.generation,
        })
    }

    fn left(&self, left: wire::Left) {
        let mut inside = self.inside();
        let Some(session) = inside.sessions.get_mut(&*left.session_id) else {
            return;
        };
        // Who is replaced is told the epoch of the newer login.
        if left.session_epoch < session.route.session_epoch {
            return;
        }
        // A newer login has a higher epoch; with the same one it is the session itself that goes
        // on at another gateway.
        let own = left.session_epoch == session.route.session_epoch;
        let elsewhere = left.reason == "resumed" || (left.reason == "replaced" && own);
        if elsewhere && (session.returning || session.route.resuming) {
            // It was elsewhere in between, and comes back under a higher number.
            return;
        }
        session.take_early(u64::MAX, &self.measures);
        let event = if elsewhere {
            SessionEvent::Elsewhere
        } else {
            let re = request_id(&left.re);
            if let Some(re) = &re {
                session.mailbox.answering(re);
            }
            session.answer_all_unknown(&self.measures);
            SessionEvent::Left {
                re,
                reason: left.reason,
            }
        };
        session.tell(event);
        inside.sessions.remove(&*left.session_id);
        drop(inside);
        self.changed.notify_one();
    }

    /// What is private in a run's frame of a tick. Returns the sessions that are to be attached
    /// anew: because it has not named them for too long, or because something that their clients
    /// should have seen is lost.
    pub(super) fn framed(&self, run: u64, tick: u64, frames: Vec<wire::SessionFrame>) -> Vec<Lost> {
        if self.is_fenced(run) {
            self.measures.fenced();
            return Vec::new();
        }
        self.last_tick.fetch_max(tick, Ordering::Relaxed);
        let mut guard = self.inside();
        let inside = &mut *guard;
        let frames = frames.into_iter();
        let lost = frames.filter_map(|frame| self.private(inside, (run, tick), frame));
        let mut lost: Vec<Lost> = lost.collect();
        lost.append(&mut self.unnamed(inside, run, tick));
        lost
    }

    /// What a run says of one session in its frame of a tick. Returns the session if something that
    /// its client should have seen is lost.
    fn private(
        &self,
        inside: &mut Inside,
        (run, tick): (u64, u64),
        frame: wire::SessionFrame,
    ) -> Option<Lost> {
        let known = inside.sessions.get_key_value(&*frame.session_id);
        let session_id = known.map(|(session_id, _)| Arc::clone(session_id));
        let session = inside.sessions.get_mut(&*frame.session_id);
        let session = session.filter(|s| s.route.character_id == frame.character_id);
        let Some((session_id, session)) = session_id.zip(session) else {
            // It ended, and its zone has not heard of it: the character would stay for ever.
            end_there(inside.links.get(&run), unknown(frame));
            return None;
        };
        if session.route.place == Place::Paused {
            let detach = session.route.detach(&frame.session_id);
            end_there(inside.links.get(&run), detach);
        }
        let was = session.route.place;
        let asked = session.is_asking(run);
        let verdict = session.route.framed(run, frame.ownership_sequence, asked);
        if verdict == Verdict::Switch
            && let Some(link) = inside.links.get(&run)
        {
            session.send_held(&frame.session_id, link);
        }
        if matches!(verdict, Verdict::Switch | Verdict::Unforeseen) {
            self.measures.handover();
        }
        let anew = match verdict {
            Verdict::Take | Verdict::Switch => false,
            // Whoever is sought already is found there.
            Verdict::Unforeseen => matches!(was, Place::At(_)),
            Verdict::Drop => {
                !frame.messages.iter().all(|told| told.only_answers) && session.route.overlooked()
            }
        };
        if verdict == Verdict::Drop {
            session.take(frame, false, &self.measures);
        } else {
            session.route.named(run, tick);
            if let Some(position) = frame.position {
                let (x, z) = (position.x, position.z);
                session.route.stands(Tile { x, z }, tick);
            }
            session.heard(run, tick, frame, &self.measures);
        }
        let generation = session.generation;
        (anew && !session.entering).then_some(Lost {
            session_id,
            generation,
        })
    }

    /// The sessions of which a run that should play them has not spoken for too long.
    fn unnamed(&self, inside: &mut Inside, run: u64, tick: u64) -> Vec<Lost> {
        let mut lost = Vec::new();
        for (session_id, session) in &mut inside.sessions {
            if session.entering || !session.route.unnamed(run, tick) || !session.route.lost(run) {
                continue;
            }
            tracing::warn!(
                session = &**session_id,
                run,
                tick,
                "a zone speaks no more of a session that it plays"
            );
            session.answer_unknown(&self.measures);
            lost.push(Lost {
                session_id: Arc::clone(session_id),
                generation: session.generation,
            });
        }
        lost
    }
}
