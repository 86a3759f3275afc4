//! When rows go out, and what answers mean.

use super::*;

const PACE: Pace = Pace {
    moved_ticks: 5,
    save_ticks: 100,
    rows_max: 3,
};
const HOME: Region = Region { x: 0, z: 0 };
const NEXT: Region = Region { x: 1, z: 0 };

fn who(name: &str) -> CharacterId {
    CharacterId::from(name)
}

fn record(who: &CharacterId) -> Option<CharacterRecord> {
    Some(CharacterRecord {
        id: who.to_string(),
        ..CharacterRecord::default()
    })
}

fn batch(names: &[&str]) -> Batch {
    let mut batch = Batch::new(PACE);
    for name in names {
        batch.enter(&who(name), HOME, 7, 0);
    }
    batch
}

fn ids(sending: &Sending) -> Vec<String> {
    let records = sending.rows.iter().filter_map(|row| row.record.as_ref());
    records.map(|record| record.id.clone()).collect()
}

#[test]
fn whoever_moved_is_saved_after_five_ticks_and_not_before() {
    let mut batch = batch(&["ann"]);
    batch.moved(&who("ann"), 3);
    batch.moved(&who("ann"), 6);
    assert_eq!(batch.cut(7, record), None);
    let sent = batch.cut(8, record).unwrap();
    assert_eq!(
        (sent.sequence, sent.tick, ids(&sent)),
        (1, 8, vec!["ann".to_owned()])
    );
    let row = &sent.rows[0];
    let state = row.record.as_ref().unwrap();
    assert_eq!(state.region, Some(rpc_region(HOME)));
    assert_eq!(state.ownership_sequence, 7);
    assert!(row.transfer.is_none() && row.logout.is_none());
}

#[test]
fn everybody_is_saved_each_interval() {
    let mut batch = batch(&["ann", "bob"]);
    assert_eq!(batch.cut(99, record), None);
    let sent = batch.cut(100, record).unwrap();
    assert_eq!(ids(&sent), ["ann", "bob"]);
    batch.answered(1, Answer::Done);
    assert_eq!(batch.cut(199, record), None);
}

#[test]
fn one_batch_is_in_flight_and_the_next_has_the_next_sequence() {
    let mut batch = batch(&["ann"]);
    batch.valued(&who("ann"));
    assert_eq!(batch.cut(1, record).unwrap().sequence, 1);
    batch.valued(&who("ann"));
    assert_eq!(batch.cut(2, record), None);
    assert_eq!(batch.answered(1, Answer::Done), Settled::default());
    assert_eq!(batch.cut(2, record).unwrap().sequence, 2);
}

#[test]
fn an_answer_counts_once() {
    let mut batch = batch(&["ann"]);
    batch.going(
        &who("ann"),
        Going::Transfer {
            region: NEXT,
            epoch: 4,
        },
    );
    batch.cut(1, record).unwrap();
    assert_eq!(batch.answered(9, Answer::Done), Settled::default());
    assert_eq!(batch.answered(1, Answer::Done).transferred, [who("ann")]);
    assert_eq!(batch.answered(1, Answer::Done), Settled::default());
}

#[test]
fn a_transfer_goes_at_once_with_the_next_ownership_sequence() {
    let mut batch = batch(&["ann", "bob"]);
    assert!(batch.going(
        &who("ann"),
        Going::Transfer {
            region: NEXT,
            epoch: 4
        }
    ));
    assert!(!batch.going(
        &who("ann"),
        Going::Transfer {
            region: NEXT,
            epoch: 5
        }
    ));
    let sent = batch.cut(1, record).unwrap();
    assert_eq!(ids(&sent), ["ann"]);
    assert_eq!(sent.rows[0].transfer, Some(transfer(NEXT, 4, 8)));
    batch.valued(&who("ann"));
    batch.valued(&who("bob"));
    assert_eq!(batch.cut(2, record), None);
    batch.answered(1, Answer::Done);
    assert_eq!(ids(&batch.cut(2, record).unwrap()), ["bob"]);
}

#[test]
fn a_stale_transfer_is_dropped_and_the_batch_sent_again_under_its_sequence() {
    let mut batch = batch(&["ann", "bob"]);
    for name in ["ann", "bob"] {
        batch.going(
            &who(name),
            Going::Transfer {
                region: NEXT,
                epoch: 4,
            },
        );
    }
    batch.cut(1, record).unwrap();
    let settled = batch.answered(1, Answer::TransferStale(vec![who("ann")]));
    assert_eq!(settled.stale, [who("ann")]);
    let again = settled.again.unwrap();
    assert_eq!(
        (again.sequence, ids(&again)),
        (1, vec!["ann".to_owned(), "bob".to_owned()])
    );
    assert!(again.rows[0].transfer.is_none() && again.rows[1].transfer.is_some());
    let settled = batch.answered(1, Answer::Done);
    assert_eq!(settled.transferred, [who("bob")]);
    assert!(batch.going(
        &who("ann"),
        Going::Transfer {
            region: NEXT,
            epoch: 5
        }
    ));
    assert_eq!(batch.cut(2, record).unwrap().sequence, 2);
}

#[test]
fn a_stale_answer_about_nobody_who_goes_ends_the_run() {
    let mut batch = batch(&["ann"]);
    batch.valued(&who("ann"));
    batch.cut(1, record).unwrap();
    assert!(
        batch
            .answered(1, Answer::TransferStale(vec![who("ann")]))
            .broken
    );
}

#[test]
fn a_crossing_inside_the_run_keeps_the_sequence() {
    let mut batch = batch(&["ann"]);
    batch.region(&who("ann"), NEXT, 1);
    let sent = batch.cut(6, record).unwrap();
    assert_eq!(sent.rows[0].transfer, Some(transfer(NEXT, 0, 7)));
    batch.answered(1, Answer::Done);
    batch.valued(&who("ann"));
    let sent = batch.cut(7, record).unwrap();
    let state = sent.rows[0].record.as_ref().unwrap();
    assert_eq!(state.region, Some(rpc_region(NEXT)));
    assert_eq!(sent.rows[0].transfer, None);
}

#[test]
fn a_stale_crossing_inside_the_run_is_tried_again_from_the_old_region() {
    let mut batch = batch(&["ann"]);
    batch.region(&who("ann"), NEXT, 1);
    batch.cut(6, record).unwrap();
    batch.answered(1, Answer::TransferStale(Vec::new()));
    batch.answered(1, Answer::Done);
    let sent = batch.cut(7, record).unwrap();
    let state = sent.rows[0].record.as_ref().unwrap();
    assert_eq!(state.region, Some(rpc_region(HOME)));
    assert_eq!(sent.rows[0].transfer, Some(transfer(NEXT, 0, 7)));
}

#[test]
fn a_logout_carries_the_last_record_and_is_settled_once() {
    let mut batch = batch(&["ann"]);
    let last = CharacterRecord {
        id: "ann".to_owned(),
        x: 9,
        ..CharacterRecord::default()
    };
    let going = Going::Logout {
        reason: "left",
        record: Box::new(last),
    };
    batch.going(&who("ann"), going);
    assert!(!batch.idle());
    let sent = batch.cut(1, |_| None).unwrap();
    assert_eq!(sent.rows[0].record.as_ref().map(|r| r.x), Some(9));
    assert_eq!(
        sent.rows[0].logout.as_ref().map(|l| &*l.reason),
        Some("left")
    );
    let settled = batch.answered(1, Answer::Done);
    assert_eq!(settled.logged_out, [(who("ann"), "left")]);
    assert!(batch.idle());
}

#[test]
fn a_batch_is_bounded_but_for_what_cannot_wait() {
    let mut batch = batch(&["a", "b", "c", "d", "e"]);
    let sent = batch.cut(100, record).unwrap();
    assert_eq!(sent.rows.len(), PACE.rows_max);
    batch.answered(1, Answer::Done);
    for name in ["a", "b", "c", "d", "e"] {
        batch.valued(&who(name));
    }
    assert_eq!(batch.cut(101, record).unwrap().rows.len(), 5);
}
