//! Routes under resumes, losses and late words.

use proto::client::Format;

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
        request: ZoneRequest {
            event: "player:move",
            data: Bytes::from_static(b"{}"),
            format: Format::Json,
        },
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
    assert_eq!(route.framed(11, 100, 4, false), Verdict::Take);
}

#[test]
fn a_frame_of_a_newer_owner_switches_and_older_ones_are_dropped() {
    let mut route = route();
    assert_eq!(route.framed(10, 100, 3, false), Verdict::Take);
    assert_eq!(route.framed(11, 100, 4, true), Verdict::Switch);
    assert_eq!(route.place, Place::At(11));
    assert_eq!(route.framed(10, 100, 3, false), Verdict::Drop);
    assert_eq!(
        route.framed(10, 100, 4, false),
        Verdict::Drop,
        "only one run has a sequence"
    );
    assert_eq!(route.framed(11, 100, 4, false), Verdict::Take);
}

#[test]
fn frames_of_a_new_owner_wait_for_the_word_of_the_former_one() {
    let mut route = route();
    assert_eq!(route.framed(11, 100, 4, false), Verdict::Early);
    assert_eq!(route.way(&asked()), Way::Send(10), "nobody says otherwise");
    assert_eq!(route.framed(11, 101, 4, false), Verdict::Early);
    assert_eq!(route.framed(10, 100, 3, false), Verdict::Take);
    assert!(route.moved(11, 4, NEXT, true));
    assert_eq!(route.framed(11, 102, 4, false), Verdict::Take);
    // The next move has as much time as this one.
    assert_eq!(route.framed(10, 200, 5, false), Verdict::Early);
    assert_eq!(route.framed(10, 202, 5, false), Verdict::Early);
    assert_eq!(route.framed(10, 203, 5, false), Verdict::Unforeseen);
}

#[test]
fn the_last_frames_of_a_former_owner_count_and_come_first() {
    let mut route = route();
    route.awaits(10, 4, 70);
    assert!(route.moved(11, 4, NEXT, true));
    assert_eq!(route.framed(10, 100, 3, false), Verdict::Former);
    assert!(!route.heard_out(10, 69));
    assert!(!route.heard_out(11, 70), "another run's");
    assert_eq!(route.framed(11, 101, 4, false), Verdict::Take);
    assert!(route.waits(101));
    assert!(route.heard_out(10, 70));
    assert!(!route.heard_out(10, 71), "said before");
    assert!(!route.waits(101));
    assert_eq!(route.framed(10, 101, 3, false), Verdict::Drop);
}

#[test]
fn nobody_waits_for_a_former_owner_for_ever() {
    let mut route = route();
    route.awaits(10, 4, 70);
    assert!(route.moved(11, 4, NEXT, true));
    assert!(route.waits(100));
    assert!(route.waits(99 + FORMER_TICKS));
    assert!(!route.waits(100 + FORMER_TICKS));
    assert_eq!(route.framed(10, 103, 3, false), Verdict::Drop);
    // Old news make nobody wait.
    route.awaits(10, 4, 90);
    assert!(!route.waits(104));
    // The answer to an attach shows everything.
    route.awaits(11, 5, 30);
    assert!(route.moved(10, 5, HOME, true));
    assert!(route.misses(11));
    assert!(!route.misses(11));
    route.awaits(10, 6, 90);
    assert!(route.overlooked());
    route.next_attach("s");
    assert!(route.attached(11, 2, 6));
    assert!(!route.waits(105));
}

#[test]
fn an_owner_that_nobody_foresaw_is_asked_to_attach_first() {
    let mut route = route();
    assert_eq!(route.framed(11, 97, 4, false), Verdict::Early);
    assert_eq!(route.framed(11, 100, 4, false), Verdict::Unforeseen);
    assert_eq!((route.place, route.hint), (Place::Sought, Some(11)));
    assert_eq!((route.take_sure(), route.take_sure()), (Some(11), None));
    assert_eq!(route.framed(10, 100, 3, false), Verdict::Drop);
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
    assert_eq!(route.framed(10, 100, 5, true), Verdict::Switch);
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
        route.framed(10, 100, 5, false),
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
        route.framed(11, 100, 4, true),
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
    let shown = route.next_attach("s").shown.unwrap();
    let at = shown.position.unwrap();
    assert_eq!((at.x, at.z, shown.tick), (1, 1, 9));
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

#[test]
fn the_own_character_is_in_focus_with_its_company_of_now() {
    let mut route = Route::new("ann".to_owned(), 3, 1, 0, HOME);
    let focus = |route: &Route| route.focus.join(" ");
    assert_eq!(focus(&route), "ann");
    route.focus(&["bob".to_owned(), "npc:1".to_owned()]);
    assert_eq!(focus(&route), "ann bob npc:1");
    route.focus(&["npc:1".to_owned()]);
    assert_eq!(focus(&route), "ann npc:1");
    route.focus(&[]);
    assert_eq!(focus(&route), "ann");
}
