//! Every transition of a region between two owners, with repeats, late and lost messages.

use super::*;

fn edge(now: u64, blocked: bool) -> GivingEvent {
    GivingEvent::Edge {
        now,
        blocked,
        alive: true,
    }
}

fn answer(attempt: u64, accepted: bool) -> GivingEvent {
    GivingEvent::Answer {
        attempt,
        accepted,
        now: 10,
    }
}

fn ready() -> Giving {
    let mut giving = Giving::new(1);
    assert_eq!(giving.on(answer(1, true)), GivingStep::Stay);
    giving
}

#[test]
fn a_region_goes_at_the_edge_after_it_was_accepted() {
    let mut giving = Giving::new(1);
    assert_eq!(giving.on(edge(10, false)), GivingStep::Stay);
    assert!(!giving.closing());
    giving.on(answer(1, true));
    assert!(giving.closing() && !giving.committing());
    assert_eq!(giving.on(edge(11, false)), GivingStep::Take);
    assert!(giving.committing());
    assert_eq!(giving.on(edge(12, false)), GivingStep::Stay);
    assert_eq!(giving.on(GivingEvent::Given), GivingStep::Complete);
}

#[test]
fn a_refusal_or_an_answer_to_an_earlier_attempt_takes_nothing_out() {
    let mut giving = Giving::new(2);
    assert_eq!(giving.on(answer(1, true)), GivingStep::Stay);
    assert_eq!(giving.on(edge(11, false)), GivingStep::Stay);
    assert_eq!(giving.on(answer(2, false)), GivingStep::GiveUp);
}

#[test]
fn a_region_with_something_half_done_waits_but_not_for_ever() {
    let mut giving = ready();
    for now in 10..=10 + READY_TICKS_MAX {
        assert_eq!(giving.on(edge(now, true)), GivingStep::Stay);
    }
    let late = 11 + READY_TICKS_MAX;
    assert_eq!(giving.on(edge(late, true)), GivingStep::GiveUp);
}

#[test]
fn nothing_is_given_to_a_run_that_is_gone() {
    let mut giving = ready();
    let gone = GivingEvent::Edge {
        now: 11,
        blocked: false,
        alive: false,
    };
    assert_eq!(giving.on(gone), GivingStep::GiveUp);
    // Once the give is on its way to the store, only the store decides.
    let mut giving = ready();
    giving.on(edge(11, false));
    assert_eq!(giving.on(gone), GivingStep::Stay);
    assert_eq!(giving.on(GivingEvent::Stale), GivingStep::Back);
}

/// Returns an edge of a region that goes to nobody.
fn paused_edge(now: u64, blocked: bool, paused: bool) -> GivingEvent {
    GivingEvent::Edge {
        now,
        blocked,
        alive: paused,
    }
}

#[test]
fn a_paused_region_asks_nobody_and_goes_at_the_next_edge() {
    let mut giving = Giving::to_nobody(10);
    assert!(giving.closing() && !giving.committing());
    assert_eq!(giving.on(answer(0, false)), GivingStep::Stay);
    assert_eq!(giving.on(paused_edge(10, true, true)), GivingStep::Stay);
    assert_eq!(giving.on(paused_edge(11, false, true)), GivingStep::Take);
    assert!(giving.committing());
    assert_eq!(giving.on(GivingEvent::Given), GivingStep::Complete);
}

#[test]
fn a_paused_region_with_something_half_done_waits_but_not_for_ever() {
    let mut giving = Giving::to_nobody(10);
    for now in 10..=10 + READY_TICKS_MAX {
        assert_eq!(giving.on(paused_edge(now, true, true)), GivingStep::Stay);
    }
    let late = paused_edge(11 + READY_TICKS_MAX, true, true);
    assert_eq!(giving.on(late), GivingStep::GiveUp);
}

#[test]
fn a_region_that_is_resumed_before_it_is_out_stays() {
    let resumed = paused_edge(11, false, false);
    let mut giving = Giving::to_nobody(10);
    assert_eq!(giving.on(resumed), GivingStep::GiveUp);
    // Once the give is on its way to the store, only the store decides.
    let mut giving = Giving::to_nobody(10);
    giving.on(paused_edge(11, false, true));
    assert_eq!(giving.on(resumed), GivingStep::Stay);
    assert_eq!(giving.on(GivingEvent::Stale), GivingStep::Back);
}

#[test]
fn what_is_half_done_blocks() {
    let settled = Settled {
        flying: false,
        held_since: 7,
        passing: false,
        came: 0,
    };
    assert!(!blocked(10, settled));
    assert!(blocked(9, settled), "it came two ticks ago");
    let table = [
        Settled {
            flying: true,
            ..settled
        },
        Settled {
            passing: true,
            ..settled
        },
        Settled { came: 8, ..settled },
    ];
    for of in table {
        assert!(blocked(10, of), "{of:?}");
    }
    assert!(!blocked(11, Settled { came: 8, ..settled }));
}

fn seen(now: u64, epoch: u64, mine: bool) -> Seen {
    Seen {
        now,
        epoch,
        mine,
        giver_alive: true,
    }
}

#[test]
fn the_givers_word_is_enough() {
    let mut taking = Taking::new(5, 1, 10);
    let early = taking.on(TakingEvent::Complete { epoch: 4 });
    assert_eq!(early, TakingStep::Wait);
    let word = taking.on(TakingEvent::Complete { epoch: 5 });
    assert_eq!(word, TakingStep::Join);
}

#[test]
fn a_silent_giver_is_waited_for_two_ticks_after_the_store_has_decided() {
    let mut taking = Taking::new(5, 1, 10);
    let table = [
        (seen(11, 4, false), TakingStep::Wait),
        (seen(30, 5, true), TakingStep::Wait),
        (seen(31, 5, true), TakingStep::Wait),
        (seen(32, 5, true), TakingStep::Load),
    ];
    for (seen, step) in table {
        assert_eq!(taking.on(TakingEvent::Seen(seen)), step, "{seen:?}");
    }
    // The giver's word still counts while the store's is on its way.
    let word = taking.on(TakingEvent::Complete { epoch: 5 });
    assert_eq!(word, TakingStep::Join);
}

#[test]
fn a_dead_giver_is_not_waited_for() {
    let mut taking = Taking::new(5, 1, 10);
    let dead = Seen {
        giver_alive: false,
        ..seen(11, 5, true)
    };
    assert_eq!(taking.on(TakingEvent::Seen(dead)), TakingStep::Load);
}

#[test]
fn a_promise_ends_when_it_cannot_be_kept() {
    let table = [
        seen(11, 5, false),
        seen(11, 6, true),
        seen(11, 6, false),
        seen(11 + PROMISE_TICKS, 4, false),
    ];
    for seen in table {
        let mut taking = Taking::new(5, 1, 10);
        let step = taking.on(TakingEvent::Seen(seen));
        assert_eq!(step, TakingStep::Drop, "{seen:?}");
    }
}

#[test]
fn a_region_is_taken_or_refused_for_a_reason() {
    let asked = Asked {
        epoch: 4,
        same_content: true,
        draining: false,
        room: true,
        seen: 4,
        here: false,
    };
    assert_eq!(prepare(asked), Ok(()));
    let table = [
        (
            Asked {
                same_content: false,
                ..asked
            },
            "content",
        ),
        (
            Asked {
                draining: true,
                ..asked
            },
            "draining",
        ),
        (Asked { seen: 5, ..asked }, "stale"),
        (
            Asked {
                here: true,
                ..asked
            },
            "stale",
        ),
        (
            Asked {
                room: false,
                ..asked
            },
            "full",
        ),
    ];
    for (asked, code) in table {
        assert_eq!(prepare(asked), Err(code));
    }
}
