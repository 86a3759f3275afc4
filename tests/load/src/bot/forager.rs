//! Choices of a client that collects things: it drops things, picks up things near it, moves coins
//! between pouch and pack, and stacks between slots. Pure: seeded dice, no clock.
//!
//! It asks for one thing at a time. While the outcome of an earlier request is unknown, it makes
//! only requests with a different effect: a move between slots, or an item of another kind.

use std::collections::{BTreeMap, BTreeSet};

use proto::client::{sync::Stack, update::Entity};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    View,
    action::{Action, COINS},
    possessions::Standing,
};

/// Distance that it walks to pick something up, in tiles.
const REACH: i32 = 12;
/// Of so many of the nearest it takes one, so that several now and then want the same.
const NEAREST: usize = 3;
/// Ground items of which it remembers whose they were.
const REMEMBERED: usize = 2_000;
/// Fewer stacks than this and it collects rather than drops.
const FEW: usize = 3;
/// More stacks than this and it drops rather than collects.
const MANY: usize = 12;
/// Slots of a pack.
const SLOTS: usize = 28;

/// The dice and the memory of one collector.
pub struct Forager {
    dice: ChaCha8Rng,
    /// Ground items: dropped by somebody else.
    others: BTreeMap<String, bool>,
    /// Ground items that it has asked for; it may see them for a moment after it has them.
    tried: BTreeSet<String>,
}

impl Forager {
    /// Makes a forager. The same seed and the same sights give the same choices.
    pub fn new(seed: u64) -> Self {
        Self {
            dice: ChaCha8Rng::seed_from_u64(seed),
            others: BTreeMap::new(),
            tried: BTreeSet::new(),
        }
    }

    /// Returns its next request; none while a request is open or it does not know its possessions.
    pub fn choose(&mut self, view: &View) -> Option<Action> {
        let own = &view.possessions;
        self.remember(view);
        if !own.known() || !own.is_settled() {
            return None;
        }
        let stacks: Vec<(u8, &Stack)> = (0_u8..)
            .zip(own.slots())
            .filter_map(|(slot, stack)| Some((slot, stack.as_ref()?)))
            .collect();
        let unsure = own.open().iter().any(|open| !open.action.takes_its_time());
        if unsure {
            let nothing = stacks.is_empty();
            return if nothing {
                self.pickup(view)
            } else {
                self.harmless(&stacks)
            };
        }
        let collects = match stacks.len() {
            n if n < FEW => 85,
            n if n > MANY => 15,
            _ => 50,
        };
        let coins = stacks.iter().find(|(_, stack)| *stack.item_id == *COINS);
        match self.dice.random_range(0..100) {
            0..4 => self.harmless(&stacks),
            4..8 if own.pouch() > 0 && stacks.len() < SLOTS => {
                let amount = self.dice.random_range(1..=own.pouch().min(5));
                let amount = u32::try_from(amount).unwrap_or(1);
                Some(Action::Withdraw { amount })
            }
            8..12 if coins.is_some() => {
                let most = coins.map_or(1, |(_, stack)| stack.quantity);
                let amount = self.dice.random_range(1..=most);
                Some(Action::Deposit { amount })
            }
            _ if self.dice.random_range(0..100) < collects => {
                self.pickup(view).or_else(|| self.drop(&stacks))
            }
            _ => self.drop(&stacks).or_else(|| self.pickup(view)),
        }
    }

    fn harmless(&mut self, stacks: &[(u8, &Stack)]) -> Option<Action> {
        let (from, _) = *self.one_of(stacks)?;
        let to = (from + self.dice.random_range(1..28)) % 28;
        let free = stacks.iter().all(|(slot, _)| *slot != to);
        // On an occupied slot it might become a merger; only places are to change.
        free.then_some(Action::MoveSlot { from, to })
    }

    fn drop(&mut self, stacks: &[(u8, &Stack)]) -> Option<Action> {
        let (slot, stack) = *self.one_of(stacks)?;
        let quantity = match stack.quantity {
            1 => None,
            n if self.dice.random_bool(0.7) => Some(self.dice.random_range(1..=n.min(3))),
            _ => None,
        };
        Some(Action::Drop {
            slot,
            item: stack.item_id.to_string(),
            quantity,
        })
    }

    fn pickup(&mut self, view: &View) -> Option<Action> {
        let (x, z) = view.position?;
        let me = view.entered.as_ref().map(|entered| &*entered.entity_id);
        let near = |e: &&Entity| (e.x - x).abs().max((e.z - z).abs()) <= REACH;
        let free = |e: &&Entity| owner(e).is_none_or(|owner| Some(owner) == me);
        // Items that an earlier pickup may still bring cannot be told apart from those of this one.
        let distinct = |e: &&Entity| {
            let open = view.possessions.open();
            !open.iter().any(|open| {
                let unsure = open.standing != Standing::Acknowledged;
                matches!(&open.action, Action::Pickup { item, .. } if unsure && item_of(e) == Some(item))
            })
        };
        let items = view.map.entities().filter(|e| e.kind == "item");
        let untried = |e: &&Entity| !self.tried.contains(&e.id);
        let mut able: Vec<&Entity> = items
            .filter(untried)
            .filter(near)
            .filter(free)
            .filter(distinct)
            .collect();
        // The map is in no order; the dice must fall the same way each time.
        let way = |e: &Entity| (e.x - x).abs().max((e.z - z).abs());
        able.sort_unstable_by(|a, b| (way(a), &a.id).cmp(&(way(b), &b.id)));
        let others: Vec<&Entity> = able
            .iter()
            .copied()
            .filter(|e| self.others.get(&e.id) == Some(&true))
            .collect();
        let from = if others.is_empty() { &able } else { &others };
        let chosen = *self.one_of(&from[..from.len().min(NEAREST)])?;
        self.tried.insert(chosen.id.clone());
        Some(Action::Pickup {
            target: chosen.id.clone(),
            item: item_of(chosen)?.to_owned(),
            of_other: !others.is_empty(),
        })
    }

    /// Remembers the owners of ground items, because updates show them only for a while.
    fn remember(&mut self, view: &View) {
        let me = view.entered.as_ref().map(|entered| &*entered.entity_id);
        if self.others.len() > REMEMBERED {
            self.others.retain(|id, _| view.map.entity(id).is_some());
        }
        if self.tried.len() > REMEMBERED {
            self.tried.retain(|id| view.map.entity(id).is_some());
        }
        for item in view.map.entities().filter(|e| e.kind == "item") {
            if let Some(owner) = owner(item) {
                self.others.insert(item.id.clone(), Some(owner) != me);
            }
        }
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() {
            return None;
        }
        all.get(self.dice.random_range(0..all.len()))
    }
}

fn owner(item: &Entity) -> Option<&str> {
    item.fields.get("owner").and_then(|owner| owner.as_str())
}

fn item_of(item: &Entity) -> Option<&str> {
    item.fields.get("itemId").and_then(|id| id.as_str())
}

#[cfg(test)]
mod tests {
    use proto::client::ErrorCode;
    use serde_json::{Value, json};

    use super::*;
    use crate::bot::wire;

    fn heard(view: &mut View, event: &str, data: &Value) {
        let seq = view.seq + 1;
        let text = json!({ "event": event, "seq": seq, "data": data }).to_string();
        view.take(&wire::read(proto::client::Format::Json, text.as_bytes()).unwrap());
    }

    fn view(coins: u64, items: &[(&str, u32)], ground: &Value) -> View {
        let mut view = View::default();
        heard(
            &mut view,
            "world:entered",
            &json!({"characterId": "me", "entityId": "me", "tick": 1, "region": [0, 0],
                "zone": "1"}),
        );
        let mut inventory = vec![Value::Null; 28];
        for (slot, (item, quantity)) in inventory.iter_mut().zip(items) {
            *slot = json!({ "itemId": item, "quantity": quantity });
        }
        heard(
            &mut view,
            "player:sync",
            &json!({"tick": 1, "character": {"id": "me", "name": "Me", "combatLevel": 3},
                "position": {"x": 3, "y": 0.0, "z": 3}, "health": {"current": 1, "max": 1},
                "skills": {}, "inventory": inventory, "equipment": {}, "coins": coins,
                "energy": 1.0, "run": false}),
        );
        heard(
            &mut view,
            "world:update",
            &json!({"tick": 2, "chunks": [{"x": 0, "z": 0, "full": true, "enter": ground}]}),
        );
        view
    }

    fn lying(id: &str, item: &str, owner: Option<&str>) -> Value {
        let mut item = json!({"id": id, "type": "item", "x": 5, "z": 5, "name": item,
            "itemId": item, "quantity": 1});
        if let Some(owner) = owner {
            item["owner"] = json!(owner);
        }
        item
    }

    #[test]
    fn only_what_is_free_or_its_own_is_picked_up() {
        let ground = json!([
            lying("item:1-1", "logs", Some("you")),
            lying("item:1-2", "axe", Some("me")),
        ]);
        let view = view(0, &[], &ground);
        let mut forager = Forager::new(1);
        for _ in 0..50 {
            if let Some(Action::Pickup {
                target, of_other, ..
            }) = forager.choose(&view)
            {
                assert_eq!((&*target, of_other), ("item:1-2", false));
            }
        }
    }

    #[test]
    fn what_somebody_else_dropped_is_known_as_such_when_it_is_free() {
        let mut view = view(0, &[], &json!([lying("item:1-1", "logs", Some("you"))]));
        let mut forager = Forager::new(1);
        assert_eq!(forager.choose(&view), None);
        let freed = json!({"tick": 3, "chunks": [{"x": 0, "z": 0, "update": [
            {"id": "item:1-1", "owner": null}]}]});
        heard(&mut view, "world:update", &freed);
        let chosen = (0..20).find_map(|_| forager.choose(&view)).unwrap();
        assert_eq!(chosen.name(), "pickup of another's");
    }

    #[test]
    fn one_thing_at_a_time_and_something_harmless_while_unsure() {
        let mut view = view(9, &[("logs", 5), ("axe", 1)], &json!([]));
        let mut forager = Forager::new(1);
        let action = Action::Drop {
            slot: 0,
            item: "logs".to_owned(),
            quantity: Some(1),
        };
        view.possessions.asked(7, action);
        assert_eq!(forager.choose(&view), None);
        view.possessions.refused(7, ErrorCode::OutcomeUnknown);
        let chosen = (0..20).find_map(|_| {
            let action = forager.choose(&view)?;
            matches!(action, Action::MoveSlot { .. }).then_some(action)
        });
        assert!(chosen.is_some());
    }

    #[test]
    fn all_kinds_of_actions_are_done() {
        let ground = json!([lying("item:1-1", "logs", None)]);
        let view = view(9, &[("logs", 5), ("coins", 3), ("axe", 1)], &ground);
        let mut forager = Forager::new(1);
        let actions = (0..400).filter_map(|_| forager.choose(&view));
        let names: std::collections::BTreeSet<_> = actions.map(|action| action.name()).collect();
        let all = ["deposit", "drop", "move", "pickup", "withdraw"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), all);
    }
}
