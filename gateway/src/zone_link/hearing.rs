//! Messages of runs about sessions: attached, moved, left, and each session's private messages.

use std::sync::{Arc, atomic::Ordering};

use proto::rpc::zone::v1 as wire;
use service_runtime::telemetry::sampled;
use world::{Region, Tile};

use super::{
    SessionEvent,
    route::{Place, Verdict},
    session::{Link, Reply, Session, When, request_id, to_zone},
    table::{Inside, Lost, Table},
};
use crate::directory::Owner;

/// Returns a detach for a session that is known only from a frame.
fn unknown(frame: wire::SessionFrame) -> wire::Detach {
    wire::Detach {
        session_id: frame.session_id,
        character_id: frame.character_id,
        session_epoch: 0,
        attach: 0,
    }
}

/// Sends a detach to a run. If the link has no room, the next frame causes another one.
fn end_there(link: Option<&Link>, detach: wire::Detach) {
    if let Some(link) = link {
        let detach = to_zone(wire::to_zone::Message::Detach(detach));
        let _ = link.control.try_send(detach);
    }
}

/// Notes where a session's character stands by a run's frame, and with whom it has to do.
fn stands(session: &mut Session, tick: u64, frame: &wire::SessionFrame) {
    session.route.focus(&frame.company);
    if let Some(position) = frame.position {
        let (x, z) = (position.x, position.z);
        session.route.stands(Tile { x, z }, tick);
    }
}

impl Table {
    /// Handles a message of a run's control stream. Returns the session that the gateway has to
    /// seek because of it.
    pub(super) fn hear(&self, run: u64, message: wire::FromZone) -> Option<Lost> {
        if self.is_fenced(run) {
            self.measures.fenced();
            return None;
        }
        let Some(message) = message.message else {
            if let Some(left_out) = sampled("an unknown message of a zone", "control") {
                tracing::warn!(run, left_out, "this version does not know a zone's message");
            }
            return None;
        };
        match message {
            wire::from_zone::Message::Welcome(_) => None,
            wire::from_zone::Message::Attached(attached) => {
                self.attached(run, attached);
                None
            }
            wire::from_zone::Message::AttachRefused(refused) => self.refused(run, refused),
            wire::from_zone::Message::Moved(moved) => self.moved(run, &moved),
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

    /// Records a region's new owner before the directory pushes it. So the gateway asks the new
    /// owner for the region's chunks in time for its first frame.
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
        // A session that went away meanwhile has sent its detach after its attach.
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
        self.changed.send_replace(());
    }

    /// Handles a refusal. A run also sends one, unasked, for a character that it no longer plays.
    /// Returns the session that the gateway has to seek because of it.
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
            // No sync that shows everything is on its way, so the early frames count now.
            session.take_early(u64::MAX, &self.measures);
            // If the receiver is gone, nobody waits for the answer.
            let _ = answer.send(Reply::Refused(refused.code));
            return None;
        }
        // A refusal that answers an input has the number 0.
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

    /// Answers a request with an unknown outcome: the run no longer had the character when the
    /// input came.
    fn input_lost(&self, lost: &wire::InputLost) {
        let inside = self.inside();
        let session = inside.sessions.get(&*lost.session_id);
        let session = session.filter(|s| s.route.session_epoch == lost.session_epoch);
        if let (Some(session), Some(id)) = (session, request_id(&lost.id)) {
            session.lose(&id, &self.measures);
        }
    }

    fn moved(&self, run: u64, moved: &wire::Moved) -> Option<Lost> {
        let region = moved.region?;
        let region = Region {
            x: region.x,
            z: region.z,
        };
        let mut inside = self.inside();
        let up = inside.links.contains_key(&moved.to_run_id);
        let heard = inside.links.get(&run).map(|link| link.frames_heard);
        let (key, _) = inside.sessions.get_key_value(&*moved.session_id)?;
        let session_id = Arc::clone(key);
        let session = inside.sessions.get_mut(&session_id)?;
        let was = session.route.place;
        if heard.is_some_and(|heard| heard < moved.after_frames) {
            let route = &mut session.route;
            route.awaits(run, moved.ownership_sequence, moved.after_frames);
        }
        if !session
            .route
            .moved(moved.to_run_id, moved.ownership_sequence, region, up)
        {
            return None;
        }
        self.measures.handover();
        if !session.route.awaits_anybody() {
            session.former_has_spoken(&self.measures);
        }
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
        // The word to a replaced session carries the epoch of the newer login.
        if left.session_epoch < session.route.session_epoch {
            return;
        }
        // A newer login has a higher epoch. With the same epoch, the session itself goes on at
        // another gateway.
        let own = left.session_epoch == session.route.session_epoch;
        let elsewhere = left.reason == "resumed" || (left.reason == "replaced" && own);
        if elsewhere && (session.returning || session.route.resuming) {
            // The session was elsewhere in between, and comes back under a higher attach number.
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
        self.changed.send_replace(());
    }

    /// Handles the private part of a run's frame: of a tick, or, when `extra`, between two ticks.
    /// Returns the sessions that the gateway has to attach anew. Either the run has not named them
    /// for too long, or their clients missed something that they should have seen.
    pub(super) fn framed(
        &self,
        run: u64,
        tick: u64,
        extra: bool,
        frames: Vec<wire::SessionFrame>,
    ) -> Vec<Lost> {
        if self.is_fenced(run) {
            self.measures.fenced();
            return Vec::new();
        }
        self.last_tick.fetch_max(tick, Ordering::Relaxed);
        let mut guard = self.inside();
        let inside = &mut *guard;
        let frames = frames.into_iter();
        let lost = frames.filter_map(|frame| self.private(inside, (run, tick, extra), frame));
        let mut lost: Vec<Lost> = lost.collect();
        self.heard_out(inside, run);
        lost.append(&mut self.unnamed(inside, run, tick));
        lost
    }

    /// Counts a frame of a run as heard. Shows what had to wait for it.
    fn heard_out(&self, inside: &mut Inside, run: u64) {
        let Some(link) = inside.links.get_mut(&run) else {
            return;
        };
        link.frames_heard += 1;
        for session in inside.sessions.values_mut() {
            if session.route.heard_out(run, link.frames_heard) {
                session.former_has_spoken(&self.measures);
            }
        }
    }

    /// Handles one session's part of a run's frame of a tick. Returns the session if its client
    /// missed something that it should have seen.
    fn private(
        &self,
        inside: &mut Inside,
        (run, tick, extra): (u64, u64, bool),
        frame: wire::SessionFrame,
    ) -> Option<Lost> {
        let known = inside.sessions.get_key_value(&*frame.session_id);
        let session_id = known.map(|(session_id, _)| Arc::clone(session_id));
        let session = inside.sessions.get_mut(&*frame.session_id);
        let session = session.filter(|s| s.route.character_id == frame.character_id);
        let Some((session_id, session)) = session_id.zip(session) else {
            // The session ended, and its zone has not heard of that. Without a detach the character
            // would stay for ever.
            end_there(inside.links.get(&run), unknown(frame));
            return None;
        };
        if session.route.place == Place::Paused {
            let detach = session.route.detach(&frame.session_id);
            end_there(inside.links.get(&run), detach);
        }
        let was = session.route.place;
        let asked = session.is_asking(run);
        let verdict = session
            .route
            .framed(run, tick, frame.ownership_sequence, asked);
        if verdict == Verdict::Switch
            && let Some(link) = inside.links.get(&run)
        {
            session.send_held(&frame.session_id, link);
        }
        if matches!(verdict, Verdict::Switch | Verdict::Unforeseen) {
            self.measures.handover();
        }
        let mut anew = match verdict {
            Verdict::Take | Verdict::Switch | Verdict::Early | Verdict::Former => false,
            // A search that is under way already finds the session there.
            Verdict::Unforeseen => matches!(was, Place::At(_)),
            Verdict::Drop => {
                !frame.messages.iter().all(|told| told.only_answers) && session.route.overlooked()
            }
        };
        let when = if !extra && session.is_shown() {
            When::WithUpdate
        } else {
            When::Now
        };
        match verdict {
            Verdict::Drop => session.take(frame, false, when, &self.measures),
            Verdict::Former => session.take(frame, true, when, &self.measures),
            Verdict::Early => {
                stands(session, tick, &frame);
                let kept = session.heard_early(tick, frame, &self.measures);
                anew = !kept && session.route.overlooked();
            }
            Verdict::Take | Verdict::Switch | Verdict::Unforeseen => {
                session.route.named(run, tick);
                stands(session, tick, &frame);
                session.heard(run, tick, frame, when, &self.measures);
            }
        }
        let generation = session.generation;
        (anew && !session.entering).then_some(Lost {
            session_id,
            generation,
        })
    }

    /// Marks as lost the sessions that a run should play and has not named for too long. Returns
    /// them.
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
