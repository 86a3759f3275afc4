//! Every transition between two owners, with repeats, late and lost messages.

use super::*;

const THERE: Region = Region { x: 1, z: 0 };

fn target(run_id: u64) -> Target {
    Target {
        run_id,
        region: THERE,
        epoch: 3,
        address: format!("zone{run_id}"),
    }
}

fn answer(attempt: u32, accepted: bool) -> SourceEvent {
    SourceEvent::Answer { attempt, accepted }
}

fn edge(run_id: u64) -> SourceEvent {
    SourceEvent::Edge(Way::Remote(target(run_id)))
}

fn preparing() -> Source {
    let mut source = Source::new(THERE, 0);
    let step = source.on(edge(2));
    assert_eq!(
        step,
        SourceStep::Prepare {
            attempt: 1,
            to: target(2)
        }
    );
    source
}

#[test]
fn an_accepted_player_is_transferred_once() {
    let mut source = preparing();
    assert_eq!(source.committing(), None);
    assert_eq!(source.on(answer(1, true)), SourceStep::Transfer(target(2)));
    assert_eq!(source.on(answer(1, true)), SourceStep::Stay);
    assert_eq!(source.on(answer(1, false)), SourceStep::Stay);
    assert_eq!(source.on(edge(3)), SourceStep::Stay);
    assert_eq!(source.committing(), Some(&target(2)));
}

#[test]
fn a_refused_player_is_tried_again_at_the_next_edge() {
    let mut source = preparing();
    assert_eq!(source.on(edge(2)), SourceStep::Stay);
    assert_eq!(source.on(answer(1, false)), SourceStep::Stay);
    let step = source.on(edge(3));
    assert_eq!(
        step,
        SourceStep::Prepare {
            attempt: 2,
            to: target(3)
        }
    );
}

#[test]
fn the_answer_to_an_earlier_attempt_counts_for_nothing() {
    let mut source = preparing();
    source.on(answer(1, false));
    source.on(edge(3));
    assert_eq!(source.on(answer(1, true)), SourceStep::Stay);
    assert_eq!(source.on(answer(2, true)), SourceStep::Transfer(target(3)));
}

#[test]
fn a_stale_transfer_keeps_the_player_and_tries_again() {
    let mut source = preparing();
    source.on(answer(1, true));
    assert_eq!(source.on(SourceEvent::Stale), SourceStep::Stay);
    assert_eq!(source.committing(), None);
    assert!(matches!(
        source.on(edge(4)),
        SourceStep::Prepare { attempt: 2, .. }
    ));
}

#[test]
fn stale_counts_only_for_who_is_committing() {
    let mut source = preparing();
    assert_eq!(source.on(SourceEvent::Stale), SourceStep::Stay);
    assert_eq!(source.on(answer(1, true)), SourceStep::Transfer(target(2)));
}

#[test]
fn a_region_that_is_nobodys_is_waited_for_and_ones_own_needs_no_handover() {
    let mut source = Source::new(THERE, 0);
    assert_eq!(source.on(SourceEvent::Edge(Way::Nowhere)), SourceStep::Stay);
    let step = source.on(SourceEvent::Edge(Way::Local));
    assert_eq!(step, SourceStep::Settle(THERE));
}

#[test]
fn the_target_is_told_until_it_knows() {
    let alive = |now| DepartedEvent::Edge { now, alive: true };
    let mut departed = Departed::new(10);
    assert_eq!(departed.on(alive(11)), DepartedStep::Wait);
    assert_eq!(departed.on(DepartedEvent::Answer(None)), DepartedStep::Wait);
    assert_eq!(departed.on(DepartedEvent::Answer(None)), DepartedStep::Wait);
    assert_eq!(departed.on(alive(12)), DepartedStep::Complete);
    assert_eq!(
        departed.on(DepartedEvent::Answer(Some(false))),
        DepartedStep::Wait
    );
    assert_eq!(departed.on(alive(13)), DepartedStep::Complete);
    assert!(!departed.open());
    assert_eq!(
        departed.on(DepartedEvent::Answer(Some(true))),
        DepartedStep::Forward
    );
    assert!(departed.open());
    assert_eq!(departed.on(DepartedEvent::Answer(None)), DepartedStep::Wait);
    assert_eq!(departed.on(alive(10 + FORWARD_TICKS)), DepartedStep::Wait);
    assert_eq!(departed.on(alive(11 + FORWARD_TICKS)), DepartedStep::Forget);
}

#[test]
fn a_dead_target_is_told_nothing_and_remembered_for_a_while() {
    let mut departed = Departed::new(10);
    departed.on(DepartedEvent::Answer(None));
    let dead = |now: u64| DepartedEvent::Edge { now, alive: false };
    assert_eq!(departed.on(dead(11)), DepartedStep::Wait);
    assert_eq!(departed.on(dead(10 + MEMORY_TICKS)), DepartedStep::Wait);
    assert_eq!(departed.on(dead(11 + MEMORY_TICKS)), DepartedStep::Forget);
}

fn owned(sequence: u64, mine: bool) -> Owned {
    Owned {
        sequence,
        region: Some(THERE),
        mine,
        online: true,
        source_dead: false,
    }
}

#[test]
fn a_completed_player_joins_and_another_handovers_word_does_not_count() {
    let mut pending = Pending::new(5, THERE, 1, 1, 10);
    assert_eq!(
        pending.on(10, PendingEvent::Complete { h: 4 }),
        PendingStep::Wait
    );
    assert_eq!(
        pending.on(10, PendingEvent::Complete { h: 5 }),
        PendingStep::Join
    );
}

#[test]
fn a_silent_source_makes_the_target_ask_the_store() {
    let mut pending = Pending::new(5, THERE, 1, 1, 10);
    let edge = |now| PendingEvent::Edge { now };
    assert_eq!(pending.on(11, edge(11)), PendingStep::Wait);
    assert_eq!(pending.on(12, edge(12)), PendingStep::Ask);
    assert_eq!(pending.on(15, edge(15)), PendingStep::Wait);
    assert_eq!(pending.on(15, PendingEvent::Owner(None)), PendingStep::Wait);
    assert_eq!(pending.on(16, edge(16)), PendingStep::Wait);
    assert_eq!(pending.on(17, edge(17)), PendingStep::Ask);
}

#[test]
fn what_the_store_says_settles_a_pending_player() {
    let offline = Owned {
        online: false,
        ..owned(4, false)
    };
    let fenced = Owned {
        source_dead: true,
        ..owned(4, false)
    };
    let landed_and_fenced = Owned {
        source_dead: true,
        ..owned(5, true)
    };
    let table = [
        (owned(5, true), PendingStep::Join),
        (landed_and_fenced, PendingStep::Join),
        (owned(5, false), PendingStep::Drop),
        (owned(6, true), PendingStep::Drop),
        (owned(4, false), PendingStep::Wait),
        (offline, PendingStep::Drop),
        (fenced, PendingStep::Drop),
    ];
    for (said, step) in table {
        let mut pending = Pending::new(5, THERE, 1, 1, 10);
        assert_eq!(
            pending.on(20, PendingEvent::Owner(Some(said))),
            step,
            "{said:?}"
        );
    }
}

/// The reason is not that it takes long: the transfer may still land.
#[test]
fn a_promise_is_dropped_when_its_source_has_taken_it_back_and_the_store_was_asked_since() {
    let unchanged = PendingEvent::Owner(Some(owned(4, false)));
    let taken_back = PendingEvent::GivenUp { number: 1 };
    let edge = |now| PendingEvent::Edge { now };
    let old = |pending: &mut Pending| {
        let now = 10 + ASK_SOURCE_TICKS;
        assert_eq!(pending.on(now, edge(now)), PendingStep::AskBoth);
        now
    };
    // Case 1: the source is silent.
    let mut pending = Pending::new(5, THERE, 1, 1, 10);
    let now = old(&mut pending);
    assert_eq!(pending.on(now, unchanged), PendingStep::Wait);
    // Case 2: this run asked the store before the source took the promise back, and then once more.
    let now = now + ASK_TICKS;
    assert_eq!(pending.on(now, edge(now)), PendingStep::AskBoth);
    assert_eq!(pending.on(now, taken_back), PendingStep::Wait);
    assert_eq!(pending.on(now, unchanged), PendingStep::Wait);
    assert_eq!(pending.on(now, unchanged), PendingStep::Drop);
    // Case 3: the handover happened all the same.
    let mut pending = Pending::new(5, THERE, 1, 1, 10);
    pending.on(20, taken_back);
    let happened = PendingEvent::Owner(Some(owned(5, true)));
    assert_eq!(pending.on(20, happened), PendingStep::Join);
    // Case 4: another promise of the same handover came since.
    let mut pending = Pending::new(5, THERE, 1, 2, 10);
    pending.on(20, taken_back);
    assert_eq!(pending.on(20, unchanged), PendingStep::Wait);
}

#[test]
fn no_attempt_has_the_number_of_one_that_was_called_off() {
    let mut source = Source::new(THERE, 7);
    assert!(source.may_go_to(2) && source.may_go_to(3));
    let step = source.on(edge(2));
    let asks = matches!(step, SourceStep::Prepare { attempt: 8, .. });
    assert!(asks, "{step:?}");
    assert_eq!(source.on(answer(7, true)), SourceStep::Stay);
    assert!(source.may_go_to(2) && !source.may_go_to(3));
    assert_eq!(source.attempts(), 8);
}

#[test]
fn each_reason_to_refuse_a_player_has_its_code() {
    let good = Asked {
        h: 5,
        same_content: true,
        owns: true,
        room: true,
        linked: true,
        draining: false,
        closing: false,
        playing: None,
        pending: None,
        overtaken: false,
        gone: None,
    };
    type Change = fn(&mut Asked);
    let promised: [Change; 2] = [|a| a.closing = true, |a| a.draining = true];
    for change in promised {
        let mut asked = Asked {
            pending: Some(5),
            ..good
        };
        change(&mut asked);
        assert_eq!(prepare(asked), Ok(()), "{asked:?}");
    }
    let table: [(Change, Result<(), &str>); 14] = [
        (|a| a.overtaken = true, Err("stale")),
        (|a| a.gone = Some(5), Err("stale")),
        (|a| a.gone = Some(4), Ok(())),
        (|a| a.closing = true, Err("busy")),
        (|_| {}, Ok(())),
        (|a| a.pending = Some(5), Ok(())),
        (|a| a.pending = Some(4), Ok(())),
        (|a| a.pending = Some(6), Err("stale")),
        (|a| a.playing = Some(4), Err("stale")),
        (|a| a.same_content = false, Err("content")),
        (|a| a.owns = false, Err("not_owner")),
        (|a| a.linked = false, Err("no_link")),
        (|a| a.room = false, Err("full")),
        (|a| a.draining = true, Err("draining")),
    ];
    for (change, expected) in table {
        let mut asked = good;
        change(&mut asked);
        assert_eq!(prepare(asked), expected, "{asked:?}");
    }
}

#[test]
fn a_sequence_that_grew_with_another_region_is_not_this_handover() {
    let mut pending = Pending::new(5, THERE, 1, 1, 10);
    let elsewhere = Owned {
        region: Some(Region { x: 7, z: 0 }),
        ..owned(5, true)
    };
    let step = pending.on(12, PendingEvent::Owner(Some(elsewhere)));
    assert_eq!(step, PendingStep::Drop);
}

#[test]
fn of_two_who_want_to_come_to_each_other_the_lower_id_goes() {
    let pulled = Pulled {
        actor: "ann",
        target: "bob",
        here: true,
        leaving: false,
        pulls_back: false,
    };
    assert_eq!(pull(pulled), Ok(false));
    let meet = Pulled {
        pulls_back: true,
        ..pulled
    };
    assert_eq!(pull(meet), Ok(true));
    let other = Pulled {
        actor: "bob",
        target: "ann",
        ..meet
    };
    assert_eq!(pull(other), Err("busy"));
    let gone = Pulled {
        here: false,
        ..pulled
    };
    assert_eq!(pull(gone), Err("busy"));
    let leaving = Pulled {
        leaving: true,
        ..pulled
    };
    assert_eq!(pull(leaving), Err("busy"));
}
