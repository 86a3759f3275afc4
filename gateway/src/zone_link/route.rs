//! Where one session's inputs go, and whose private frames count. Pure: no stream, no clock.
//!
//! Always: inputs are numbered without gaps within a session epoch; the ownership sequence never
//! falls; a session whose run is lost has no run until it is attached again.

use std::collections::VecDeque;

use bytes::Bytes;
use proto::rpc::zone::v1 as wire;
use world::{Region, Tile};

/// Inputs that wait for an owner, at most.
pub(crate) const HELD_MAX: usize = 32;
/// After so many of its run's ticks without a word of it a session is not played there any more:
/// the run names each that it has in every tick. About 5 s.
pub(crate) const UNNAMED_TICKS: u64 = 8;
/// Trace contexts that wait for the next update, at most.
const TRACEPARENTS_MAX: usize = 16;

/// An input that has no number yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// The wire name of the client's event.
    pub(crate) event: &'static str,
    /// Its data as JSON text.
    pub(crate) data: Bytes,
    /// The request's id as JSON text; empty: none.
    pub(crate) id: Bytes,
    /// May be empty.
    pub(crate) traceparent: String,
}

/// Who plays the session's character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// This run.
    At(u64),
    /// Nobody that is known: it is being looked for.
    Sought,
    /// The session has no socket: nobody is asked.
    Paused,
}

/// What to do with an input.
#[derive(Debug, PartialEq)]
pub(crate) enum Way {
    /// Send it to this run.
    Send(u64),
    /// It waits.
    Held,
    /// No more are held.
    Full,
    /// Nothing is taken.
    Closed,
}

/// What a private frame means for the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its messages count.
    Take,
    /// They count, and the run that sent them plays the character from now on.
    Switch,
    /// They count, but nobody said that the character would go there: what its former owner said
    /// last may be lost. The session is to be attached there, which shows everything.
    Unforeseen,
    /// An older owner speaks.
    Drop,
}

/// The route of one session.
#[derive(Debug)]
pub(crate) struct Route {
    /// Whom it plays.
    pub(crate) character_id: String,
    /// From the store.
    pub(crate) session_epoch: u64,
    /// The number of the last attach that was sent.
    pub(crate) attach: u64,
    /// The number of the last input that was sent.
    pub(crate) last_input: u64,
    /// The highest ownership sequence that was seen.
    pub(crate) sequence: u64,
    /// Who plays it.
    pub(crate) place: Place,
    /// The region that it belonged to last.
    pub(crate) region: Region,
    /// The run that is said to have it, while it is sought.
    pub(crate) hint: Option<u64>,
    /// Where it stands, and the tick of which that is known.
    pub(crate) position: Option<(Tile, u64)>,
    /// For the next update.
    pub(crate) traceparents: Vec<String>,
    /// Another gateway numbered its inputs and attaches last: nothing is sent before the owner
    /// has said where they stand.
    pub(crate) resuming: bool,
    held: VecDeque<Asked>,
    /// The run that named it last, or should have, and the tick since which it has not.
    named: Option<(u64, u64)>,
    /// The run that is to be asked before all others: it has the character for certain.
    sure: Option<u64>,
}

impl Route {
    /// The route of a session that is about to attach.
    pub(crate) fn new(
        character_id: String,
        session_epoch: u64,
        attach: u64,
        last_input: u64,
        region: Region,
    ) -> Self {
        Self {
            character_id,
            session_epoch,
            attach: attach.saturating_sub(1),
            last_input,
            sequence: 0,
            place: Place::Sought,
            region,
            hint: None,
            position: None,
            traceparents: Vec::new(),
            resuming: false,
            held: VecDeque::new(),
            named: None,
            sure: None,
        }
    }

    /// The run to ask first, once.
    pub(crate) fn take_sure(&mut self) -> Option<u64> {
        self.sure.take()
    }

    /// Something that the client should have seen is lost: the session is to be attached anew where
    /// it is played, if it is anywhere.
    pub(crate) fn overlooked(&mut self) -> bool {
        let Place::At(run) = self.place else {
            return false;
        };
        self.sure = Some(run);
        self.lost(run)
    }

    /// A run has named the session in its frame of a tick.
    pub(crate) fn named(&mut self, run: u64, tick: u64) {
        self.named = Some((run, tick));
    }

    /// A run's frame of a tick has come: whether the session, which should be played there, has
    /// not been named by it for too long.
    pub(crate) fn unnamed(&mut self, run: u64, tick: u64) -> bool {
        if self.place != Place::At(run) {
            return false;
        }
        match self.named {
            Some((by, since)) if by == run => tick.saturating_sub(since) > UNNAMED_TICKS,
            _ => {
                self.named = Some((run, tick));
                false
            }
        }
    }

    /// Which way an input goes. What is to be held is taken here.
    pub(crate) fn way(&mut self, asked: &Asked) -> Way {
        match self.place {
            Place::At(run) => Way::Send(run),
            Place::Sought if self.held.len() < HELD_MAX => {
                self.held.push_back(asked.clone());
                Way::Held
            }
            Place::Sought => Way::Full,
            Place::Paused => Way::Closed,
        }
    }

    /// The input waits in spite of a known run; false when no more are held.
    pub(crate) fn hold(&mut self, asked: Asked) -> bool {
        if self.held.len() >= HELD_MAX {
            return false;
        }
        self.held.push_back(asked);
        true
    }

    /// The input as it would be sent next; [`Route::sent`] says that it was.
    pub(crate) fn numbered(&self, session_id: &str, asked: Asked) -> wire::Input {
        wire::Input {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            number: self.last_input + 1,
            event: asked.event.to_owned(),
            data: asked.data,
            id: asked.id,
            traceparent: asked.traceparent,
            attach: self.attach,
        }
    }

    /// The numbered input went out.
    pub(crate) fn sent(&mut self) {
        self.last_input += 1;
    }

    /// The inputs that waited, once.
    pub(crate) fn take_held(&mut self) -> VecDeque<Asked> {
        std::mem::take(&mut self.held)
    }

    /// The next attach; all before it are fenced by it.
    pub(crate) fn next_attach(&mut self, session_id: &str) -> wire::Attach {
        self.attach += 1;
        wire::Attach {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            attach: self.attach,
            last_input: self.last_input,
            resume: false,
        }
    }

    /// Asks whether a run has the character, whichever gateway held the session before.
    pub(crate) fn resume(&self, session_id: &str) -> wire::Attach {
        wire::Attach {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            attach: 0,
            last_input: 0,
            resume: true,
        }
    }

    /// A run has the character and says how far inputs and attaches are numbered. Whether that is
    /// news of the present owner.
    pub(crate) fn resumed(&mut self, run: u64, said: &wire::Attached) -> bool {
        let old = said.ownership_sequence < self.sequence || said.attach < self.attach;
        if !self.resuming || self.place == Place::Paused || old {
            return false;
        }
        self.resuming = false;
        self.attach = said.attach;
        self.last_input = said.last_input;
        self.sequence = said.ownership_sequence;
        self.place = Place::At(run);
        self.hint = None;
        true
    }

    /// Ends the last attach.
    pub(crate) fn detach(&self, session_id: &str) -> wire::Detach {
        wire::Detach {
            session_id: session_id.to_owned(),
            character_id: self.character_id.clone(),
            session_epoch: self.session_epoch,
            attach: self.attach,
        }
    }

    /// A run says that it has the character: whether that is news of the present owner.
    pub(crate) fn attached(&mut self, run: u64, attach: u64, sequence: u64) -> bool {
        let expected = match self.place {
            Place::Sought => sequence >= self.sequence,
            // Its first frame was faster than its answer.
            Place::At(now) => now == run && sequence >= self.sequence,
            Place::Paused => false,
        };
        if attach != self.attach || !expected {
            return false;
        }
        self.sequence = sequence;
        self.place = Place::At(run);
        self.hint = None;
        true
    }

    /// The owner says that another run has the character from now on. Whether that was news.
    pub(crate) fn moved(&mut self, to_run: u64, sequence: u64, region: Region, up: bool) -> bool {
        if sequence <= self.sequence {
            return false;
        }
        self.sequence = sequence;
        self.region = region;
        match self.place {
            Place::At(_) if up => self.place = Place::At(to_run),
            Place::At(_) => {
                self.place = Place::Sought;
                self.hint = Some(to_run);
            }
            Place::Sought => self.hint = Some(to_run),
            Place::Paused => {}
        }
        true
    }

    /// Judges a private frame. `asked`: the run was asked to attach the session, so that its answer
    /// is on its way.
    pub(crate) fn framed(&mut self, run: u64, sequence: u64, asked: bool) -> Verdict {
        if sequence > self.sequence {
            self.sequence = sequence;
            return match self.place {
                Place::At(now) if now == run => Verdict::Take,
                Place::Paused => Verdict::Take,
                // Which number the next input has is not known yet.
                Place::At(_) | Place::Sought if self.resuming => Verdict::Take,
                Place::At(_) | Place::Sought if asked => {
                    self.place = Place::At(run);
                    self.hint = None;
                    Verdict::Switch
                }
                Place::At(_) | Place::Sought => {
                    self.place = Place::Sought;
                    self.hint = Some(run);
                    self.sure = Some(run);
                    Verdict::Unforeseen
                }
            };
        }
        let present = match self.place {
            Place::At(now) => now == run,
            Place::Sought | Place::Paused => true,
        };
        if sequence == self.sequence && present {
            Verdict::Take
        } else {
            Verdict::Drop
        }
    }

    /// Where the character stands at a tick; older news changes nothing.
    pub(crate) fn stands(&mut self, tile: Tile, tick: u64) {
        if self.position.is_none_or(|(_, known)| known <= tick) {
            self.position = Some((tile, tick));
        }
    }

    /// Traces whose effect the next update shows.
    pub(crate) fn traced(&mut self, traceparents: Vec<String>) {
        let room = TRACEPARENTS_MAX.saturating_sub(self.traceparents.len());
        self.traceparents
            .extend(traceparents.into_iter().take(room));
    }

    /// The run is lost: whether it was the one that plays the character.
    pub(crate) fn lost(&mut self, run: u64) -> bool {
        if self.place != Place::At(run) {
            return false;
        }
        self.place = Place::Sought;
        self.hint = Some(run);
        true
    }
}

/// The linked runs that may be asked for a character.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Candidates {
    /// The owner of its region.
    pub(crate) owner: Option<u64>,
    /// The run that is said to have it, if that is another one.
    pub(crate) hint: Option<u64>,
    /// All others. Each of them has to ask the store.
    pub(crate) others: Vec<u64>,
}

/// Of the linked runs, whom to ask first, next and last.
pub(crate) fn candidates(owner: Option<u64>, hint: Option<u64>, linked: &[u64]) -> Candidates {
    let owner = owner.filter(|run| linked.contains(run));
    let hint = hint.filter(|run| linked.contains(run) && owner != Some(*run));
    let others = linked.iter().copied();
    let others = others.filter(|run| owner != Some(*run) && hint != Some(*run));
    Candidates {
        owner,
        hint,
        others: others.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_named_for_too_long_by_its_run_is_not_played_there() {
        let mut route = Route::new("ann".to_owned(), 3, 1, 0, Region { x: 0, z: 0 });
        assert!(!route.unnamed(10, 90), "nobody should");
        route.place = Place::At(10);
        // Its first frame of the session may be on its way still.
        assert!(!route.unnamed(10, 100));
        assert!(!route.unnamed(11, 500), "not its run");
        assert!(!route.unnamed(10, 100 + UNNAMED_TICKS));
        route.named(10, 105);
        assert!(!route.unnamed(10, 105 + UNNAMED_TICKS));
        assert!(route.unnamed(10, 106 + UNNAMED_TICKS));
        route.place = Place::At(11);
        assert!(!route.unnamed(11, 200), "counted anew");
        assert!(route.unnamed(11, 201 + UNNAMED_TICKS));
    }

    const HOME: Region = Region { x: 0, z: 0 };
    const NEXT: Region = Region { x: 1, z: 0 };

    fn asked() -> Asked {
        Asked {
            event: "player:move",
            data: Bytes::from_static(b"{}"),
            id: Bytes::new(),
            traceparent: String::new(),
        }
    }

    fn route() -> Route {
        let mut route = Route::new("c".to_owned(), 7, 1, 40, HOME);
        assert_eq!(route.next_attach("s").attach, 1);
        assert!(route.attached(10, 1, 3));
        route
    }

    #[test]
    fn inputs_are_numbered_from_the_last_one() {
        let mut route = route();
        assert_eq!(route.way(&asked()), Way::Send(10));
        assert_eq!(route.numbered("s", asked()).number, 41);
        assert_eq!(
            route.numbered("s", asked()).number,
            41,
            "not sent, not counted"
        );
        route.sent();
        assert_eq!(route.numbered("s", asked()).number, 42);
        assert_eq!(route.next_attach("s").last_input, 41);
    }

    #[test]
    fn thirty_two_inputs_wait_for_an_owner_and_no_more() {
        let mut route = route();
        assert!(route.lost(10));
        for _ in 0..HELD_MAX {
            assert_eq!(route.way(&asked()), Way::Held);
        }
        assert_eq!(route.way(&asked()), Way::Full);
        assert_eq!(route.take_held().len(), HELD_MAX);
        assert!(route.take_held().is_empty());
    }

    #[test]
    fn a_move_switches_the_route_once() {
        let mut route = route();
        assert!(route.moved(11, 4, NEXT, true));
        assert_eq!((route.place, route.region), (Place::At(11), NEXT));
        assert!(!route.moved(10, 4, HOME, true), "old news");
        assert_eq!(route.place, Place::At(11));
    }

    #[test]
    fn a_move_to_a_run_without_a_link_seeks_it() {
        let mut route = route();
        assert!(route.moved(11, 4, NEXT, false));
        assert_eq!((route.place, route.hint), (Place::Sought, Some(11)));
        assert_eq!(route.framed(11, 4, false), Verdict::Take);
    }

    #[test]
    fn a_frame_of_a_newer_owner_switches_and_older_ones_are_dropped() {
        let mut route = route();
        assert_eq!(route.framed(10, 3, false), Verdict::Take);
        assert_eq!(route.framed(11, 4, true), Verdict::Switch);
        assert_eq!(route.place, Place::At(11));
        assert_eq!(route.framed(10, 3, false), Verdict::Drop);
        assert_eq!(
            route.framed(10, 4, false),
            Verdict::Drop,
            "only one run has a sequence"
        );
        assert_eq!(route.framed(11, 4, false), Verdict::Take);
    }

    #[test]
    fn an_owner_that_nobody_foresaw_is_asked_to_attach_first() {
        let mut route = route();
        assert_eq!(route.framed(11, 4, false), Verdict::Unforeseen);
        assert_eq!((route.place, route.hint), (Place::Sought, Some(11)));
        assert_eq!((route.take_sure(), route.take_sure()), (Some(11), None));
        assert_eq!(route.framed(10, 3, false), Verdict::Drop);
        assert!(!route.overlooked(), "it is attached anew already");
        assert_eq!(route.next_attach("s").attach, 2);
        assert!(route.attached(11, 2, 4));
        assert!(route.overlooked());
        assert_eq!((route.place, route.take_sure()), (Place::Sought, Some(11)));
    }

    #[test]
    fn only_the_last_attach_is_believed() {
        let mut route = route();
        route.lost(10);
        assert_eq!(route.next_attach("s").attach, 2);
        assert_eq!(route.next_attach("s").attach, 3);
        assert!(!route.attached(10, 2, 3), "an older attach");
        assert!(!route.attached(11, 3, 2), "an older owner");
        assert!(route.attached(11, 3, 3));
        assert!(!route.attached(10, 3, 3), "another run has it");
    }

    #[test]
    fn a_frame_may_be_faster_than_the_answer_to_the_attach() {
        let mut route = Route::new("c".to_owned(), 7, 1, 0, HOME);
        route.next_attach("s");
        assert_eq!(route.framed(10, 5, true), Verdict::Switch);
        assert!(route.attached(10, 1, 5));
        assert_eq!(route.place, Place::At(10));
    }

    fn said(attach: u64, last_input: u64, sequence: u64) -> wire::Attached {
        wire::Attached {
            attach,
            last_input,
            ownership_sequence: sequence,
            ..Default::default()
        }
    }

    #[test]
    fn who_resumes_from_elsewhere_goes_on_where_the_owner_says() {
        let mut route = Route::new("c".to_owned(), 7, 0, 0, HOME);
        route.resuming = true;
        let asked_run = route.resume("s");
        assert_eq!((asked_run.resume, asked_run.attach), (true, 0));
        assert_eq!(
            route.framed(10, 5, false),
            Verdict::Take,
            "faster than the answer"
        );
        assert_eq!(route.way(&asked()), Way::Held, "its number is not known");
        assert!(!route.resumed(9, &said(4, 30, 4)), "an older owner");
        assert!(route.resumed(10, &said(4, 40, 5)));
        assert!(!route.resumed(9, &said(5, 30, 6)), "only once");
        assert_eq!(route.numbered("s", asked()).number, 41);
        assert_eq!(route.numbered("s", asked()).attach, 4);
        assert_eq!(route.next_attach("s").attach, 5);
    }

    #[test]
    fn a_lost_run_concerns_only_those_whom_it_played() {
        let mut route = route();
        assert!(!route.lost(11));
        assert!(route.lost(10));
        assert!(!route.lost(10));
    }

    #[test]
    fn a_paused_session_takes_no_input() {
        let mut route = route();
        route.place = Place::Paused;
        assert_eq!(route.way(&asked()), Way::Closed);
        assert!(!route.lost(10));
        assert_eq!(
            route.framed(11, 4, true),
            Verdict::Take,
            "gathered for the resume"
        );
        assert_eq!(route.place, Place::Paused);
    }

    #[test]
    fn older_positions_change_nothing() {
        let mut route = route();
        route.stands(Tile { x: 1, z: 1 }, 9);
        route.stands(Tile { x: 0, z: 0 }, 8);
        assert_eq!(route.position, Some((Tile { x: 1, z: 1 }, 9)));
    }

    #[test]
    fn the_owner_is_asked_first_and_only_linked_runs_are() {
        let asked = |owner, hint, linked: &[u64]| {
            let Candidates {
                owner,
                hint,
                others,
            } = candidates(owner, hint, linked);
            (owner, hint, others)
        };
        let both = asked(Some(3), Some(2), &[1, 2, 3]);
        assert_eq!(both, (Some(3), Some(2), vec![1]));
        assert_eq!(asked(Some(9), None, &[1, 2]), (None, None, vec![1, 2]));
        assert_eq!(asked(None, Some(2), &[1, 2]), (None, Some(2), vec![1]));
        assert_eq!(asked(Some(1), Some(1), &[1]), (Some(1), None, vec![]));
        assert_eq!(asked(Some(1), Some(1), &[]), (None, None, vec![]));
    }
}
