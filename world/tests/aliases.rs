//! Aliases: a thing with two names lies in packs, and stands in the ledger, under its id alone.
//! Manifests and saves may use either name.

use std::collections::BTreeSet;
use std::sync::Arc;

use world::content::{Dialogue, Effect, EquipSlot, Test};
use world::item::bank::Deposit;
use world::{
    Arrival, Cause, CharacterId, Content, Inbox, Outcome, PlayerHot, PlayerRecord, Region, Rules,
    Stack, Tick, Value, World,
};

use crate::loader_generations::load;
use crate::stage::{self, BEGIN};

/// Returns the content that ships and that of each generation of manifests, by name.
fn contents() -> Vec<(String, Arc<Content>)> {
    let generations: [&[&str]; 5] = [
        &["oct_2025"],
        &["dec_2025"],
        &["jan_2026"],
        &["jan_2026", "feb_2026"],
        &["jan_2026", "feb_2026", "jun_2026"],
    ];
    let old = generations.map(|of| (of.concat(), Arc::new(load(of).content)));
    let ships = ("what ships".to_owned(), Content::embedded());
    old.into_iter().chain([ships]).collect()
}

/// Returns every item that content names.
fn named(content: &Content) -> BTreeSet<Arc<str>> {
    let mut named = BTreeSet::new();
    let stores = content.stores().iter();
    named.extend(stores.flat_map(|store| store.goods.iter().map(|good| good.item.clone())));
    named.extend(content.rare_drops().iter().map(|drop| drop.item.clone()));
    named.extend(content.tools().iter().map(|tool| tool.item.clone()));
    named.extend(content.arrows().iter().map(|arrow| arrow.id.clone()));
    named.extend(content.runes().runes.iter().map(|rune| rune.id.clone()));
    for (staff, spared) in &content.runes().staves {
        named.extend(spared.iter().chain([staff]).cloned());
    }
    for item in content.items().iter() {
        named.extend(item.endless_runes.iter().cloned());
        named.insert(content.items().unnoted(&item.id));
        named.extend(
            content
                .items()
                .note_of(&item.id)
                .map(|note| note.id.clone()),
        );
    }
    for kind in content.resources().iter() {
        named.extend(kind.yields.iter().map(|given| given.item.clone()));
        named.extend(kind.bait.clone());
    }
    for spell in content.spells().iter() {
        named.extend(spell.runes.iter().map(|cost| cost.rune.clone()));
    }
    for quest in content.quests().iter() {
        let given = quest.given.iter().chain(&quest.rewards);
        named.extend(given.map(|given| given.item.clone()));
        named.extend(quest.needs.iter().cloned());
        named.extend(quest.stages.iter().map(|stage| stage.target.clone()));
    }
    named.extend(of_recipes(content));
    named.extend(of_npcs(content));
    named
}

fn of_recipes(content: &Content) -> BTreeSet<Arc<str>> {
    let recipes = content.recipes();
    let mut named = BTreeSet::new();
    for of in recipes.cooking.iter() {
        named.extend([&of.raw, &of.cooked, &of.burnt].map(Arc::clone));
    }
    named.extend(recipes.firemaking.iter().map(|of| of.log.clone()));
    for of in recipes.smelting.iter() {
        named.extend(of.inputs.iter().map(|part| part.item.clone()));
        named.insert(of.output.clone());
    }
    for of in recipes.smithing.iter() {
        named.extend([&of.output, &of.bar].map(Arc::clone));
    }
    for of in recipes.crafting.iter() {
        named.extend(of.inputs.iter().map(|part| part.item.clone()));
        named.extend(of.consumed.iter().map(|part| part.item.clone()));
        named.extend(of.tools.iter().chain([&of.output]).cloned());
    }
    for of in recipes.fletching.iter() {
        named.extend(of.inputs.iter().map(|part| part.item.clone()));
        named.extend(of.tools.iter().chain([&of.output]).cloned());
    }
    for of in recipes.tanning.iter() {
        named.extend([&of.input, &of.output].map(Arc::clone));
    }
    for of in recipes.runecrafting.iter() {
        named.extend(of.essences.iter().chain([&of.output]).cloned());
    }
    named
}

fn of_npcs(content: &Content) -> BTreeSet<Arc<str>> {
    let mut named = BTreeSet::new();
    let regions = content.regions();
    let placed = regions.iter().flat_map(|region| content.npcs_in(*region));
    let placed = placed.filter_map(|npc| npc.dialogue.as_deref());
    let kinds = content.npc_kinds().iter();
    let kinds = kinds.filter_map(|kind| kind.dialogue.as_deref());
    for said in placed.chain(kinds) {
        named.extend(of_dialogue(said));
    }
    for kind in content.npc_kinds().iter() {
        named.extend(kind.drops.entries.iter().map(|drop| drop.item.clone()));
    }
    named
}

fn of_dialogue(said: &Dialogue) -> Vec<Arc<str>> {
    let mut named = Vec::new();
    for node in said.nodes.values() {
        let effects = node
            .answers
            .iter()
            .filter_map(|answer| answer.effect.as_ref());
        for effect in effects.chain(&node.effect) {
            if let Effect::GiveItem(item, _) = effect {
                named.push(item.clone());
            }
        }
        for answer in &node.answers {
            if let Some(Test::HasItem(item, _)) = answer.condition.as_ref().map(|c| &c.test) {
                named.push(item.clone());
            }
        }
    }
    named
}

#[test]
fn content_of_every_generation_names_items_by_their_ids() {
    let mut aliases = 0;
    for (name, content) in contents() {
        for (alias, id) in content.items().aliases() {
            aliases += 1;
            assert_eq!(&content.item(alias).unwrap().id, id, "{name}");
        }
        let named = named(&content);
        let alias = |item: &&Arc<str>| content.items().id(item) != **item;
        let found: Vec<_> = named.iter().filter(alias).collect();
        assert!(found.is_empty(), "{name} names {found:?}");
    }
    assert!(aliases > 4, "else nothing is shown");
    let june = load(&["jan_2026", "feb_2026", "jun_2026"]).content;
    let sold = &june.stores().get("quay_shop").unwrap().goods[0];
    assert_eq!(
        &*sold.item, "bronze_shortsword",
        "the manifest says bronze_sword"
    );
}

/// Returns a world around the spawn of `content` into which `record` came, and what came of that.
fn arrived(content: &Arc<Content>, record: PlayerRecord, value: Value) -> (PlayerRecord, Outcome) {
    let region = Region::from(content.spawn());
    let mut world = World::new(Arc::clone(content), Rules::default(), 1, 1);
    world.region_in(region, Tick(BEGIN), None).unwrap();
    let arrival = Arrival {
        record,
        hot: PlayerHot::default(),
        region,
        look: "".into(),
    };
    let inbox = Inbox {
        arrivals: vec![arrival],
        value,
        ..Inbox::default()
    };
    let outcome = world.tick(Tick(BEGIN + 1), inbox, &mut ());
    let record = world.record(&CharacterId::from("ann")).unwrap();
    (record, outcome)
}

#[test]
fn who_begins_has_everything_under_its_id() {
    for (name, content) in contents() {
        let mut fresh = stage::record("ann", content.spawn());
        fresh.placed = false;
        let (ann, outcome) = arrived(&content, fresh, Value::Open);
        let pack = ann.inventory.values().map(|stack| &stack.item);
        let ledger = outcome.changes.ledger.iter().map(|entry| &entry.item);
        let ids: BTreeSet<&Arc<str>> = content.items().iter().map(|item| &item.id).collect();
        let strange = |item: &&Arc<str>| !ids.contains(item) && ***item != *"coins";
        let found: Vec<_> = pack.chain(ledger).filter(strange).collect();
        assert!(found.is_empty(), "{name} gives {found:?}");
    }
    let content = Content::embedded();
    let mut fresh = stage::record("ann", content.spawn());
    fresh.placed = false;
    let (ann, _) = arrived(&content, fresh, Value::Open);
    let mut pack = ann.inventory.values();
    assert!(
        pack.any(|stack| *stack.item == *"bronze_shortsword"),
        "a sword"
    );
}

/// Returns Ann as an older server saved her, with swords in the pack, worn, and in the bank.
fn saved(content: &Content) -> PlayerRecord {
    let mut ann = stage::record("ann", content.spawn());
    let sword = || Stack::new("bronze_sword", 1);
    ann.inventory.insert(3, sword());
    ann.inventory.insert(5, Stack::new("bronze_sword_noted", 4));
    ann.inventory
        .insert(9, Stack::new("bronze_shortsword_noted", 2));
    ann.equipment.insert(EquipSlot::Weapon, sword());
    let deposit = |quantity, place| Deposit {
        quantity,
        tab: 2,
        place,
    };
    ann.bank.placeholders = true;
    let items = &mut ann.bank.items;
    items.insert("bronze_sword".into(), deposit(7, 1));
    items.insert("bronze_shortsword".into(), deposit(2, 4));
    items.insert("iron_sword".into(), deposit(0, 6));
    ann
}

#[test]
fn what_was_saved_under_an_alias_becomes_as_many_of_the_same() {
    let content = Content::embedded();
    let (ann, outcome) = arrived(&content, saved(&content), Value::Open);
    let pack: Vec<_> = ann
        .inventory
        .iter()
        .map(|(at, s)| (*at, &*s.item, s.quantity))
        .collect();
    let whole = [
        (3, "bronze_shortsword", 1),
        (9, "bronze_shortsword_noted", 6),
    ];
    assert_eq!(pack, whole);
    assert_eq!(
        &*ann.equipment[&EquipSlot::Weapon].item,
        "bronze_shortsword"
    );
    let bank: Vec<_> = ann
        .bank
        .items
        .iter()
        .map(|(item, d)| (&**item, d.quantity))
        .collect();
    assert_eq!(bank, [("bronze_shortsword", 9)]);
    let ledger = &outcome.changes.ledger;
    assert!(ledger.iter().all(|entry| entry.cause == Cause::Note));
    assert_eq!(ledger.iter().map(|entry| entry.delta).sum::<i64>(), 0);
}

#[test]
fn an_alias_stays_as_it_was_saved_while_nothing_can_be_saved() {
    let content = Content::embedded();
    for value in [Value::Frozen, Value::Unavailable] {
        let before = saved(&content);
        let (ann, outcome) = arrived(&content, before.clone(), value);
        assert_eq!((ann.inventory, ann.bank), (before.inventory, before.bank));
        assert!(outcome.changes.ledger.is_empty());
    }
}
