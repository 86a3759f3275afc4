//! Tests when rows go out, and how the batch takes the answers.

use proto::rpc::persistence::v1::{BankItem, Skill, Slot, Worn};
use world::{Cause, EntityId, GroundItem, Holder, LedgerEntry, Tick, Tile};

use super::{super::row::transfer, *};

const PACE: Pace = Pace {
    walked_ticks: 25,
    altered_ticks: 5,
    save_ticks: 100,
    rows_max: 3,
};
const HOME: Region = Region { x: 0, z: 0 };
const NEXT: Region = Region { x: 1, z: 0 };

fn who(name: &str) -> CharacterId {
    CharacterId::from(name)
}

fn record(who: &CharacterId, _: Wanted<'_>) -> Option<CharacterRecord> {
    Some(CharacterRecord {
        id: who.to_string(),
        ..CharacterRecord::default()
    })
}

/// Returns a record with all that the character has, whether it changed or not.
fn whole_record(who: &CharacterId, _: Wanted<'_>) -> Option<CharacterRecord> {
    let skill = |name: &str| Skill {
        name: name.to_owned(),
        level: 3,
        xp_tenths: 1_800,
    };
    let item = |id: &str| BankItem {
        item_id: id.to_owned(),
        quantity: 2,
        ..BankItem::default()
    };
    Some(CharacterRecord {
        skills: vec![skill("agility"), skill("attack")],
        bank: vec![item("coal"), item("logs")],
        inventory: vec![Slot::default()],
        equipment: vec![Worn::default()],
        ..record(who, Wanted::Place)?
    })
}

/// Returns the only row of a batch.
fn only(sending: &Sending) -> (&CharacterRow, &CharacterRecord) {
    let [row] = &sending.rows.characters[..] else {
        panic!("one row");
    };
    (row, row.record.as_ref().unwrap())
}

#[test]
fn experience_goes_out_at_once_and_alone() {
    let mut batch = batch(&["ann"]);
    batch.trained(&who("ann"), [world::Skill::Attack].into());
    assert_eq!(batch.value_sequence(), Some(1));
    let sent = batch.cut(1, whole_record).unwrap();
    let (row, record) = only(&sent);
    assert_eq!(record.skills.len(), 1);
    assert_eq!(record.skills[0].name, "attack");
    assert!(!row.holdings && !row.worn);
    assert!(record.inventory.is_empty() && record.equipment.is_empty());
    assert!(record.bank.is_empty());
    assert_eq!(batch.value_sequence(), Some(1), "until it is answered");
    batch.answered(1, Answer::Done);
    assert_eq!(batch.value_sequence(), None);
    let sent = batch.cut(200, whole_record).unwrap();
    assert!(only(&sent).1.skills.is_empty(), "it was said");
}

#[test]
fn a_document_goes_out_when_it_differs_from_the_last_one() {
    let mut batch = batch(&["ann"]);
    let sent = |batch: &mut Batch, now, state: &'static [u8]| {
        batch.altered(&who("ann"), now);
        let record = |who: &CharacterId, items: Wanted<'_>| {
            Some(CharacterRecord {
                state: state.into(),
                ..record(who, items)?
            })
        };
        let sending = batch.cut(now + PACE.altered_ticks, record).unwrap();
        batch.answered(sending.sequence, Answer::Done);
        only(&sending).1.state.to_vec()
    };
    assert_eq!(sent(&mut batch, 1, b"one"), b"one", "nothing is known");
    assert_eq!(sent(&mut batch, 10, b"one"), b"");
    assert_eq!(sent(&mut batch, 20, b"two"), b"two");
    assert_eq!(sent(&mut batch, 30, b"one"), b"one");
    // Another owner may have written the row meanwhile.
    batch.forget(&who("ann"));
    batch.enter(&who("ann"), HOME, 9, 40);
    assert_eq!(sent(&mut batch, 41, b"one"), b"one");
}

#[test]
fn a_change_of_a_quest_goes_out_at_once() {
    let mut batch = batch(&["ann"]);
    batch.quests(&who("ann"));
    assert_eq!(batch.value_sequence(), Some(1));
    assert!(batch.cut(1, record).is_some());
    batch.answered(1, Answer::Done);
    assert_eq!(batch.value_sequence(), None);
}

#[test]
fn of_a_bank_goes_out_what_changed_and_what_is_gone() {
    let mut batch = batch(&["ann"]);
    batch.banked(&who("ann"), ["coal".into()].into());
    batch.banked(&who("ann"), ["tin".into()].into());
    assert_eq!(batch.value_sequence(), Some(1));
    let sent = batch.cut(1, whole_record).unwrap();
    let said = only(&sent).1.bank.iter();
    let said: Vec<_> = said.map(|i| (i.item_id.as_str(), i.gone)).collect();
    assert_eq!(said, [("coal", false), ("tin", true)]);
    batch.answered(1, Answer::Done);
    batch.worn(&who("ann"));
    let sent = batch.cut(2, whole_record).unwrap();
    let (row, record) = only(&sent);
    assert!(row.worn && !row.holdings && record.bank.is_empty());
    assert_eq!(record.equipment.len(), 1);
}

#[test]
fn the_loss_of_a_region_with_what_was_worn_or_banked_is_a_loss_of_value() {
    let change: [fn(&mut Batch); 3] = [
        |batch| batch.worn(&who("ann")),
        |batch| batch.staked(&who("ann")),
        |batch| batch.banked(&who("ann"), ["coal".into()].into()),
    ];
    for change in change {
        let mut changed = batch(&["ann"]);
        change(&mut changed);
        assert!(changed.lost(HOME).value);
    }
    let mut trained = batch(&["ann"]);
    trained.trained(&who("ann"), [world::Skill::Agility].into());
    assert!(!trained.lost(HOME).value, "nobody else has half of it");
}

fn batch(names: &[&str]) -> Batch {
    let mut batch = Batch::new(PACE, Mutants::default());
    for name in names {
        batch.enter(&who(name), HOME, 7, 0);
    }
    batch
}

fn ids(sending: &Sending) -> Vec<String> {
    let records = sending
        .rows
        .characters
        .iter()
        .filter_map(|row| row.record.as_ref());
    records.map(|record| record.id.clone()).collect()
}

#[test]
fn whoever_was_altered_is_saved_after_five_ticks_and_not_before() {
    let mut batch = batch(&["ann"]);
    batch.altered(&who("ann"), 3);
    batch.altered(&who("ann"), 6);
    assert_eq!(batch.cut(7, record), None);
    let sent = batch.cut(8, record).unwrap();
    assert_eq!(
        (sent.sequence, sent.tick, ids(&sent)),
        (1, 8, vec!["ann".to_owned()])
    );
    let row = &sent.rows.characters[0];
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
    assert!(batch.answered(1, Answer::Done).applied.is_some());
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
    assert_eq!(sent.rows.characters[0].transfer, Some(transfer(NEXT, 4, 8)));
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
    let settled = batch.answered(1, Answer::Stale(vec![who("ann")], vec![]));
    assert_eq!(settled.stale, [who("ann")]);
    let again = settled.again.unwrap();
    assert_eq!(
        (again.sequence, ids(&again)),
        (1, vec!["ann".to_owned(), "bob".to_owned()])
    );
    assert!(
        again.rows.characters[0].transfer.is_none() && again.rows.characters[1].transfer.is_some()
    );
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
            .answered(1, Answer::Stale(vec![who("ann")], vec![]))
            .broken
    );
}

#[test]
fn a_crossing_inside_the_run_keeps_the_sequence() {
    let mut batch = batch(&["ann"]);
    batch.region(&who("ann"), NEXT, 1);
    batch.altered(&who("ann"), 1);
    let sent = batch.cut(6, record).unwrap();
    assert_eq!(sent.rows.characters[0].transfer, Some(transfer(NEXT, 0, 7)));
    batch.answered(1, Answer::Done);
    batch.valued(&who("ann"));
    let sent = batch.cut(7, record).unwrap();
    let state = sent.rows.characters[0].record.as_ref().unwrap();
    assert_eq!(state.region, Some(rpc_region(NEXT)));
    assert_eq!(sent.rows.characters[0].transfer, None);
}

#[test]
fn a_stale_crossing_inside_the_run_is_tried_again_from_the_old_region() {
    let mut batch = batch(&["ann"]);
    batch.region(&who("ann"), NEXT, 1);
    batch.cut(6, record).unwrap();
    batch.answered(1, Answer::Stale(vec![], vec![]));
    batch.answered(1, Answer::Done);
    let sent = batch.cut(7, record).unwrap();
    let state = sent.rows.characters[0].record.as_ref().unwrap();
    assert_eq!(state.region, Some(rpc_region(HOME)));
    assert_eq!(sent.rows.characters[0].transfer, Some(transfer(NEXT, 0, 7)));
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
    let sent = batch.cut(1, |_, _| None).unwrap();
    assert_eq!(
        sent.rows.characters[0].record.as_ref().map(|r| r.x),
        Some(9)
    );
    assert_eq!(
        sent.rows.characters[0].logout.as_ref().map(|l| &*l.reason),
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
    assert_eq!(sent.rows.characters.len(), PACE.rows_max);
    batch.answered(1, Answer::Done);
    for name in ["a", "b", "c", "d", "e"] {
        batch.valued(&who(name));
    }
    assert_eq!(batch.cut(101, record).unwrap().rows.characters.len(), 5);
}

fn item(id: &str) -> GroundItem {
    GroundItem {
        id: EntityId::from(id),
        region: HOME,
        tile: Tile { x: 1, z: 2 },
        item: "logs".into(),
        quantity: 5,
        owner: None,
        public_at: Tick(1),
        expires_at: Tick(2),
        grave: None,
    }
}

fn entry(holder: Option<&str>, cause: Cause, delta: i64) -> LedgerEntry {
    LedgerEntry {
        holder: holder.map_or(Holder::Ground, |name| Holder::Character(who(name))),
        item: "logs".into(),
        cause,
        delta,
    }
}

fn drops(batch: &mut Batch, name: &str, id: &str) {
    batch.valued(&who(name));
    batch.value().put(item(id));
    batch.value().ledger(entry(Some(name), Cause::Drop, -5));
    batch.value().ledger(entry(None, Cause::Drop, 5));
}

fn picks_up(batch: &mut Batch, name: &str, id: &str) {
    batch.valued(&who(name));
    batch.value().gone(&EntityId::from(id));
    batch.value().ledger(entry(None, Cause::Pickup, -5));
    batch.value().ledger(entry(Some(name), Cause::Pickup, 5));
}

#[test]
fn what_came_and_went_unseen_leaves_only_its_ledger() {
    let mut batch = batch(&["ann", "bob"]);
    drops(&mut batch, "ann", "item:1-1");
    picks_up(&mut batch, "bob", "item:1-1");
    let sent = batch.cut(1, record).unwrap();
    assert!(sent.rows.ground.is_empty() && sent.rows.gone.is_empty());
    assert_eq!(sent.rows.ledger.len(), 4);
    assert_eq!(ids(&sent), ["ann", "bob"]);
    assert!(sent.rows.characters.iter().all(|row| row.holdings));
}

#[test]
fn what_the_store_knows_of_is_said_to_be_gone() {
    let mut batch = batch(&["ann", "bob"]);
    drops(&mut batch, "ann", "item:1-1");
    assert_eq!(batch.cut(1, record).unwrap().rows.ground.len(), 1);
    picks_up(&mut batch, "bob", "item:1-1");
    batch.answered(1, Answer::Done);
    let sent = batch.cut(2, record).unwrap();
    assert_eq!(sent.rows.gone[0].id, "item:1-1");
    assert_eq!(sent.rows.gone[0].region, Some(rpc_region(HOME)));
    // The store also knows an item that came with its region.
    batch.answered(2, Answer::Done);
    let id = EntityId::from("item:9-9");
    batch.value().lies(&id, NEXT);
    batch.value().gone(&id);
    assert_eq!(batch.cut(3, record).unwrap().rows.gone.len(), 1);
}

#[test]
fn sums_of_zero_vanish_and_different_causes_do_not_mix() {
    let mut batch = batch(&["ann"]);
    for delta in [3, -3] {
        batch
            .value()
            .ledger(entry(Some("ann"), Cause::Starter, delta));
    }
    for cause in [Cause::Drop, Cause::Pickup] {
        batch.value().ledger(entry(Some("ann"), cause, 2));
        batch.value().ledger(entry(Some("ann"), cause, 5));
    }
    let sent = batch.cut(1, record).unwrap();
    let deltas: Vec<i64> = sent.rows.ledger.iter().map(|row| row.delta).collect();
    assert_eq!(deltas, [7, 7]);
}

#[test]
fn value_is_released_by_the_batch_that_holds_it() {
    let mut batch = batch(&["ann", "bob"]);
    assert_eq!(batch.value_sequence(), None);
    batch.valued(&who("ann"));
    assert_eq!(batch.value_sequence(), Some(1));
    batch.cut(1, record).unwrap();
    assert_eq!(batch.value_sequence(), Some(1), "it is in flight");
    drops(&mut batch, "bob", "item:1-1");
    assert_eq!(batch.value_sequence(), Some(2), "the next one holds it");
    batch.answered(1, Answer::Done);
    assert_eq!(batch.value_sequence(), Some(2));
    batch.cut(2, record).unwrap();
    batch.answered(2, Answer::Done);
    assert_eq!(batch.value_sequence(), None);
    // A batch of positions releases nothing, because nothing waits.
    batch.altered(&who("ann"), 2);
    batch.cut(9, record).unwrap();
    assert_eq!(batch.value_sequence(), None);
}

#[test]
fn how_long_and_how_much_waits_is_known() {
    let mut batch = batch(&["ann", "bob"]);
    drops(&mut batch, "ann", "item:1-1");
    assert_eq!((batch.ledger_entries(), batch.waiting_ticks(50)), (2, 0));
    batch.cut(10, record).unwrap();
    drops(&mut batch, "bob", "item:1-2");
    assert_eq!((batch.ledger_entries(), batch.waiting_ticks(19)), (4, 9));
    batch.answered(1, Answer::Done);
    assert_eq!((batch.ledger_entries(), batch.waiting_ticks(19)), (2, 0));
}

fn players(names: &[&str]) -> Vec<(CharacterId, CharacterRecord)> {
    let of = |name: &&str| (who(name), record(&who(name), Wanted::Place).unwrap());
    names.iter().map(of).collect()
}

#[test]
fn a_region_is_given_with_whole_rows_of_everybody_and_all_that_waits() {
    let mut batch = batch(&["ann", "bob", "eve"]);
    batch.region(&who("bob"), NEXT, 1);
    batch.region(&who("eve"), NEXT, 1);
    drops(&mut batch, "ann", "item:1-1");
    assert!(
        !batch.give(NEXT, 4, 9, players(&["bob"])),
        "eve has no record"
    );
    assert!(batch.give(NEXT, 4, 9, players(&["bob", "eve"])));
    assert!(
        !batch.give(NEXT, 4, 9, players(&["bob", "eve"])),
        "it is given already"
    );
    let sent = batch
        .cut(1, |who, items| record(who, items).filter(|r| r.id == "ann"))
        .unwrap();
    assert_eq!(ids(&sent), ["ann", "bob", "eve"]);
    assert_eq!(sent.rows.characters[1].transfer, Some(transfer(NEXT, 0, 7)));
    let give = RegionGive {
        region: Some(rpc_region(NEXT)),
        epoch: 4,
        to_run_id: 9,
    };
    assert_eq!(sent.rows.gives, [give]);
    assert!(!sent.rows.ledger.is_empty());
    let settled = batch.answered(1, Answer::Done);
    assert_eq!((settled.given, settled.transferred), (vec![NEXT], vec![]));
    assert!(batch.idle());
    batch.valued(&who("bob"));
    assert_eq!(batch.cut(2, record), None, "bob is another's");
}

#[test]
fn a_stale_give_leaves_everybody_here() {
    let mut batch = batch(&["ann", "bob"]);
    assert!(batch.give(HOME, 4, 9, players(&["ann", "bob"])));
    batch.cut(1, |_, _| None).unwrap();
    assert!(
        !batch.give(HOME, 4, 9, players(&["ann", "bob"])),
        "in flight"
    );
    let settled = batch.answered(1, Answer::Stale(vec![], vec![HOME]));
    assert_eq!(settled.stale_gives, [HOME]);
    assert!(!settled.broken);
    let again = settled.again.unwrap();
    assert!(again.rows.gives.is_empty());
    assert_eq!((again.sequence, again.rows.characters.len()), (1, 2));
    assert_eq!(batch.answered(1, Answer::Done).given, []);
    batch.valued(&who("ann"));
    assert_eq!(ids(&batch.cut(2, record).unwrap()), ["ann"]);
}

#[test]
fn a_region_does_not_go_while_somebody_of_it_is_being_handed_over() {
    let mut batch = batch(&["ann"]);
    let to = Going::Transfer {
        region: NEXT,
        epoch: 4,
    };
    batch.going(&who("ann"), to);
    assert!(!batch.give(HOME, 4, 9, players(&["ann"])));
    batch.cut(1, record).unwrap();
    assert!(!batch.give(HOME, 4, 9, players(&["ann"])));
    batch.answered(1, Answer::Done);
    assert!(batch.give(HOME, 4, 9, vec![]));
}

#[test]
fn a_region_that_the_store_says_is_not_ours_is_named_and_not_asked_for_again() {
    let mut batch = batch(&["ann", "bob"]);
    batch.region(&who("ann"), NEXT, 1);
    batch.valued(&who("ann"));
    batch.cut(1, record).unwrap();
    let settled = batch.answered(1, Answer::Stale(vec![who("ann")], vec![]));
    assert_eq!(settled.not_mine, BTreeSet::from([NEXT]));
    let lost = batch.lost(NEXT);
    assert_eq!(lost.characters, [who("ann")]);
    assert!(!lost.value, "her row is in flight without the transfer");
    batch.answered(1, Answer::Done);
    assert_eq!(batch.cut(50, record), None, "nothing of her is said again");
}

#[test]
fn what_waits_for_a_lost_region_ends_the_run() {
    let mut quiet = batch(&["ann", "bob"]);
    quiet.region(&who("bob"), NEXT, 1);
    assert_eq!(quiet.lost(NEXT).characters, [who("bob")]);
    let mut valued = batch(&["ann"]);
    valued.valued(&who("ann"));
    assert!(valued.lost(HOME).value);
    let mut lying = batch(&["ann"]);
    lying.region(&who("ann"), NEXT, 1);
    lying.cut(9, record).unwrap();
    lying.answered(1, Answer::Done);
    lying.value().put(item("item:1-1"));
    let lost = lying.lost(HOME);
    assert!(lost.value && lost.characters.is_empty());
}

#[test]
fn the_broken_variant_saves_two_players_apart() {
    let mutants = Mutants {
        separate_saves: true,
        ..Mutants::default()
    };
    let mut batch = Batch::new(PACE, mutants);
    for name in ["ann", "bob"] {
        batch.enter(&who(name), HOME, 7, 0);
    }
    drops(&mut batch, "ann", "item:1-1");
    picks_up(&mut batch, "bob", "item:1-1");
    assert_eq!(ids(&batch.cut(1, record).unwrap()), ["ann"]);
    batch.answered(1, Answer::Done);
    assert_eq!(ids(&batch.cut(1, record).unwrap()), ["bob"]);
}
