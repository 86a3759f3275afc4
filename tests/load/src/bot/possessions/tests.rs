//! Conclusions from messages about value.

use proto::client::{
    Refusal,
    session::Character,
    sync::{Health, Position},
};
use world::pack::told::SlotUpdate;
use world::told::Parts;

use super::*;

fn stack(item: &str, quantity: u32) -> Stack {
    Stack {
        item_id: item.into(),
        quantity,
    }
}

fn sync(coins: u64, items: &[(&str, u32)]) -> PlayerSync {
    let mut inventory = vec![None; 28];
    for (slot, (item, quantity)) in inventory.iter_mut().zip(items) {
        *slot = Some(stack(item, *quantity));
    }
    PlayerSync {
        tick: 1,
        character: Character {
            id: "c".to_owned(),
            name: "C".to_owned(),
            combat_level: 3,
            look: String::new(),
            last_login_at: None,
        },
        position: Position { x: 0, y: 0.0, z: 0 },
        health: Health {
            current: 10,
            max: 10,
        },
        skills: [].into(),
        inventory,
        equipment: [].into(),
        coins,
        energy: Parts(10_000),
        run: false,
        quests: Vec::new(),
        prayer: world::prayer::told::Prayer::default(),
        combat: world::combat::told::Combat::default(),
        settings: proto::client::sync::Settings::default(),
        dead: false,
        effects: None,
    }
}

fn with(coins: u64, items: &[(&str, u32)]) -> Possessions {
    let mut own = Possessions::default();
    own.synchronised(&sync(coins, items));
    own
}

fn slot(slot: u8, item: Option<Stack>) -> InventoryUpdate {
    InventoryUpdate {
        slots: vec![SlotUpdate { slot, item }],
    }
}

fn drop_of(item: &str, quantity: Option<u32>) -> Action {
    Action::Drop {
        slot: 0,
        item: item.to_owned(),
        quantity,
    }
}

fn pickup(item: &str) -> Action {
    Action::Pickup {
        target: "item:1-1".to_owned(),
        item: item.to_owned(),
        of_other: false,
    }
}

fn faults(own: &Possessions) -> (u64, u64) {
    (
        own.count(FaultKind::TakenBack),
        own.count(FaultKind::Unasked),
    )
}

#[test]
fn the_first_things_are_a_gift_and_nothing_after_the_first_request_is() {
    let mut own = with(0, &[]);
    own.pack_changed(&slot(0, Some(stack("tinderbox", 1))));
    own.pouch_changed(&CoinsUpdate { coins: 25 });
    assert_eq!((faults(&own), own.pouch()), ((0, 0), 25));
    own.asked(1, Action::MoveSlot { from: 0, to: 4 });
    own.refused(1, ErrorCode::Refused(Refusal::Busy));
    own.pouch_changed(&CoinsUpdate { coins: 26 });
    assert_eq!(faults(&own), (0, 1));
}

#[test]
fn a_drop_that_was_asked_for_is_no_loss_and_one_that_was_not_is() {
    let mut own = with(3, &[("logs", 2)]);
    own.asked(1, drop_of("logs", Some(1)));
    own.acknowledged(1);
    own.pack_changed(&slot(0, Some(stack("logs", 1))));
    assert_eq!(faults(&own), (0, 0));
    assert_eq!(own.done().get("drop"), Some(&1));
    assert!(own.open().is_empty());
    own.pack_changed(&slot(0, None));
    assert_eq!(faults(&own), (1, 0));
}

#[test]
fn what_a_death_takes_is_no_fault_whether_it_is_told_before_or_after() {
    let mut own = with(3, &[("logs", 2)]);
    own.asked(1, Action::MoveSlot { from: 0, to: 4 });
    own.refused(1, ErrorCode::Refused(Refusal::Busy));
    own.pack_changed(&slot(0, Some(stack("logs", 1))));
    own.heard();
    own.died();
    own.pack_changed(&slot(0, None));
    assert_eq!(faults(&own), (0, 0));
    own.respawned();
    own.pouch_changed(&CoinsUpdate { coins: 2 });
    assert_eq!(faults(&own), (1, 0), "nobody has died since");
    (0..=DEATH_WITHIN).for_each(|_| own.heard());
    own.died();
    assert_eq!(faults(&own), (1, 0), "that was not of this death");
    own.pouch_changed(&CoinsUpdate { coins: 9 });
    assert_eq!(faults(&own), (1, 1), "nobody gains by it");
}

#[test]
fn the_rest_of_what_was_told_in_part_may_come_after_a_later_request_is_over() {
    let mut own = with(9, &[("logs", 2)]);
    own.asked(1, Action::Withdraw { amount: 5 });
    own.asked(2, drop_of("logs", Some(1)));
    own.pack_changed(&InventoryUpdate {
        slots: vec![
            SlotUpdate {
                slot: 0,
                item: Some(stack("logs", 1)),
            },
            SlotUpdate {
                slot: 1,
                item: Some(stack("coins", 5)),
            },
        ],
    });
    own.pouch_changed(&CoinsUpdate { coins: 4 });
    assert_eq!(
        faults(&own),
        (0, 0),
        "{:?}",
        own.faults().collect::<Vec<_>>()
    );
}

#[test]
fn the_answer_may_come_before_or_after_the_change() {
    for answer_first in [true, false] {
        let mut own = with(3, &[("logs", 2)]);
        own.asked(1, drop_of("logs", None));
        if answer_first {
            own.acknowledged(1);
        }
        own.pack_changed(&slot(0, None));
        if !answer_first {
            own.acknowledged(1);
        }
        assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));
        assert_eq!(own.done().get("drop"), Some(&1));
    }
}

#[test]
fn what_was_acknowledged_must_be_in_the_next_synchronisation() {
    let mut own = with(3, &[("logs", 2)]);
    own.asked(1, drop_of("logs", Some(2)));
    own.acknowledged(1);
    own.unanswered();
    own.synchronised(&sync(3, &[("logs", 2)]));
    assert_eq!(faults(&own), (1, 0));
}

#[test]
fn an_unknown_outcome_allows_both_and_nothing_else() {
    for (items, expected) in [
        (&[("logs", 2)][..], (0, 0)),
        (&[("logs", 1)], (0, 0)),
        (&[], (1, 0)),
        (&[("logs", 3)], (0, 1)),
    ] {
        let mut own = with(3, &[("logs", 2)]);
        own.asked(1, drop_of("logs", Some(1)));
        own.unanswered();
        own.synchronised(&sync(3, items));
        assert_eq!(faults(&own), expected, "{items:?}");
    }
}

#[test]
fn nothing_may_change_while_nothing_was_asked() {
    for (coins, items, expected) in [
        (3, &[("logs", 2)][..], (0, 0)),
        (2, &[("logs", 2)], (1, 0)),
        (4, &[("logs", 2)], (0, 1)),
        (4, &[("logs", 1)], (1, 0)),
        (3, &[("axe", 1), ("logs", 2)], (0, 1)),
    ] {
        let mut own = with(3, &[("logs", 2)]);
        own.asked(1, Action::MoveSlot { from: 0, to: 4 });
        own.refused(1, ErrorCode::Refused(Refusal::Busy));
        own.synchronised(&sync(coins, items));
        assert_eq!(faults(&own), expected, "{coins} {items:?}");
    }
}

#[test]
fn other_places_are_a_fault_unless_a_move_was_asked_for() {
    for asked in [false, true] {
        let mut own = with(3, &[("logs", 2), ("axe", 1)]);
        if asked {
            own.asked(1, Action::MoveSlot { from: 0, to: 1 });
            own.unanswered();
        }
        own.synchronised(&sync(3, &[("axe", 1), ("logs", 2)]));
        assert_eq!(faults(&own), (0, u64::from(!asked)));
    }
}

#[test]
fn coins_go_from_the_pouch_to_the_pack_in_two_messages_and_in_one_synchronisation() {
    let mut own = with(25, &[]);
    own.asked(1, Action::Withdraw { amount: 5 });
    own.pouch_changed(&CoinsUpdate { coins: 20 });
    assert_eq!(own.open().len(), 1, "the pack is still to be told");
    own.pack_changed(&slot(0, Some(stack("coins", 5))));
    own.acknowledged(1);
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));

    own.asked(2, Action::Deposit { amount: 2 });
    own.unanswered();
    own.synchronised(&sync(22, &[("coins", 3)]));
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));
}

#[test]
fn half_of_a_change_is_a_fault_in_a_synchronisation() {
    let mut own = with(25, &[]);
    own.asked(1, Action::Withdraw { amount: 5 });
    own.pouch_changed(&CoinsUpdate { coins: 20 });
    own.unanswered();
    own.synchronised(&sync(20, &[]));
    assert_eq!(faults(&own), (1, 0));
    let mut own = with(25, &[]);
    own.asked(1, Action::Withdraw { amount: 5 });
    own.unanswered();
    own.synchronised(&sync(20, &[("coins", 4)]));
    assert_eq!(faults(&own), (1, 0));
}

#[test]
fn a_pickup_on_its_way_ends_by_its_effect_its_failure_or_another_pickup() {
    let mut own = with(0, &[]);
    own.asked(1, pickup("logs"));
    own.acknowledged(1);
    own.synchronised(&sync(0, &[]));
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 1));
    own.failed(Some("player:action"));
    assert!(own.open().is_empty());

    own.asked(2, pickup("logs"));
    own.acknowledged(2);
    own.unanswered();
    own.asked(3, Action::MoveSlot { from: 0, to: 1 });
    own.acknowledged(3);
    assert_eq!(own.open().len(), 1, "it may still arrive");
    own.asked(4, pickup("axe"));
    own.acknowledged(4);
    own.pack_changed(&slot(0, Some(stack("axe", 1))));
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));
    assert_eq!(own.done().get("pickup"), Some(&1));
}

#[test]
fn a_drop_and_a_lost_pickup_of_the_same_are_both_over_when_nothing_is_told() {
    let mut own = with(0, &[("bread", 1)]);
    own.asked(1, pickup("bread"));
    own.unanswered();
    own.asked(2, drop_of("bread", None));
    own.acknowledged(2);
    assert!(!own.is_settled());
    own.overdue();
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));
    // From now on these are its possessions, and no others.
    own.synchronised(&sync(0, &[]));
    assert_eq!(faults(&own), (1, 0));
}

#[test]
fn coins_that_are_withdrawn_as_others_are_picked_up_are_told_with_these() {
    let mut own = with(25, &[]);
    own.asked(1, pickup("coins"));
    own.unanswered();
    own.asked(2, Action::Withdraw { amount: 4 });
    own.pack_changed(&slot(0, Some(stack("coins", 7))));
    own.pouch_changed(&CoinsUpdate { coins: 21 });
    own.acknowledged(2);
    assert!(!own.is_settled(), "the pack did not say so");
    own.overdue();
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));
    let stored = |coins: u64| Held {
        coins: 21,
        items: [("coins".to_owned(), coins)].into(),
    };
    assert!(own.agree_with(&stored(7)).is_ok());
    assert!(own.agree_with(&stored(11)).is_err(), "those of the pouch");
}

#[test]
fn what_was_acknowledged_and_never_told_differs_from_the_store() {
    let mut own = with(0, &[("bread", 1)]);
    own.asked(1, drop_of("bread", None));
    own.acknowledged(1);
    own.overdue();
    assert!(own.is_settled());
    assert!(own.agree_with(&Held::default()).is_err());
}

#[test]
fn an_unknown_outcome_is_over_when_a_later_request_is_acknowledged() {
    let mut own = with(3, &[("logs", 2)]);
    own.asked(1, drop_of("logs", Some(1)));
    own.refused(1, ErrorCode::OutcomeUnknown);
    assert!(own.is_settled());
    own.asked(2, Action::MoveSlot { from: 0, to: 1 });
    own.acknowledged(2);
    assert!(own.open().is_empty());
    own.synchronised(&sync(3, &[("logs", 1)]));
    assert_eq!(
        faults(&own),
        (1, 0),
        "it was not done, and cannot be any more"
    );
}

#[test]
fn a_lost_drop_that_lands_late_is_told_like_any_other() {
    let mut own = with(3, &[("logs", 2)]);
    own.asked(1, drop_of("logs", Some(1)));
    own.unanswered();
    own.synchronised(&sync(3, &[("logs", 2)]));
    own.pack_changed(&slot(0, Some(stack("logs", 1))));
    assert_eq!((faults(&own), own.open().len()), ((0, 0), 0));
}

#[test]
fn the_store_must_hold_what_was_told_but_for_what_is_open() {
    let mut own = with(3, &[("logs", 2)]);
    let held = |coins, logs| Held {
        coins,
        items: [("logs".to_owned(), logs)].into(),
    };
    assert!(own.agree_with(&held(3, 2)).is_ok());
    assert!(own.agree_with(&held(3, 1)).is_err());
    assert!(own.agree_with(&held(4, 2)).is_err());
    own.asked(1, drop_of("logs", Some(1)));
    own.unanswered();
    assert!(own.agree_with(&held(3, 1)).is_ok());
    assert!(own.agree_with(&held(3, 2)).is_ok());
    assert!(own.agree_with(&held(3, 0)).is_err());
}
