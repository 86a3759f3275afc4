//! Fate of the things of the dead, played without their killers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::content::{Content, EquipSlot};
use crate::entity::player::record::{PlayerHot, PlayerRecord};
use crate::features::arrivals::Arrival;
use crate::features::{death, ground_items};
use crate::geometry::tile::{Region, Tile};
use crate::intent::{Intent, PlayerInput};
use crate::item::Stack;
use crate::item::ledger::Holder;
use crate::request;
use crate::rules::Rules;
use crate::tick::Inbox;
use crate::time::Tick;

const BEGIN: u64 = 1_000;

/// Returns a world of three places: one that is safe, one that is wild, and one where players
/// fight.
fn content() -> Arc<Content> {
    let area = |id: &str, x: i32, safe: bool, pvp: bool| {
        serde_json::json!({"id": id, "name": id, "biomeType": "plain", "difficultyLevel": 1,
            "safeZone": safe, "pvpEnabled": pvp,
            "bounds": {"minX": x, "maxX": x + 64, "minZ": 0, "maxZ": 64}})
    };
    let areas = serde_json::json!({
        "starterTowns": {"town": area("town", 0, true, false)},
        "level1Areas": {"wild": area("wild", 64, false, false)},
        "level3Areas": {"ring": area("ring", 128, false, true)},
        "terrain": {"seed": 5, "spawn": {"x": 1, "z": 1}, "defaultBiome": "plain",
            "bounds": {"minX": 0, "maxX": 192, "minZ": 0, "maxZ": 64}},
    });
    let items = serde_json::json!([
        {"id": "crown", "name": "Crown", "value": 900},
        {"id": "helm", "name": "Helm", "value": 500, "equipSlot": "helmet"},
        {"id": "arrow", "name": "Arrow", "value": 2, "stackable": true, "equipSlot": "arrows"},
        {"id": "rune_arrow", "name": "Rune arrow", "value": 400, "stackable": true,
            "equipSlot": "arrows"},
        {"id": "gem", "name": "Gem", "value": 300, "stackable": true},
        {"id": "twig", "name": "Twig", "value": 1},
        {"id": "coins", "name": "Coins", "value": 1, "stackable": true, "type": "currency"},
    ]);
    let biomes = serde_json::json!([{"id": "plain", "grounds": [["grass", 1]],
        "heightRange": [2, 2]}]);
    let files = [
        ("world-areas.json", areas),
        ("items.json", items),
        ("biomes.json", biomes),
        ("npcs.json", serde_json::json!([])),
        ("stores.json", serde_json::json!([])),
    ];
    let files = files.map(|(path, json)| (path.to_owned(), json.to_string()));
    Arc::new(Content::load(&files.into()).expect("a land").content)
}

struct Story {
    world: World,
    now: u64,
    number: u64,
}

impl Story {
    fn new() -> Story {
        let content = content();
        let mut world = World::new(Arc::clone(&content), Rules::default(), 1, 1);
        for region in content.regions() {
            world
                .region_in(region, Tick(BEGIN), None)
                .expect("a region");
        }
        Story {
            world,
            now: BEGIN,
            number: 0,
        }
    }

    fn tick(&mut self, inbox: Inbox) -> Outcome {
        self.now += 1;
        self.world.tick(Tick(self.now), inbox, &mut ())
    }

    fn wait(&mut self, ticks: u64) -> Vec<Outcome> {
        (0..ticks).map(|_| self.tick(Inbox::default())).collect()
    }

    fn joins(
        &mut self,
        who: &str,
        at: (i32, i32),
        pack: &[(&str, u32)],
        worn: &[(EquipSlot, &str, u32)],
    ) {
        let tile = Tile::new(at.0, at.1);
        let pack = pack.iter().map(|(item, many)| Stack::new(*item, *many));
        let worn = worn.iter();
        let record = serde_json::json!({"id": who, "name": who, "tile": tile, "y": 0, "health": 10,
            "skills": {}, "coins": 70, "energy": 10_000, "running": false, "combat_level": 3,
            "placed": true});
        let mut record: PlayerRecord = serde_json::from_value(record).expect("a record");
        record.inventory = (0..).zip(pack).collect();
        record.equipment = worn
            .map(|(at, item, many)| (*at, Stack::new(*item, *many)))
            .collect();
        let arrivals = vec![Arrival {
            record,
            hot: PlayerHot::default(),
            region: Region::from(tile),
            look: "".into(),
        }];
        self.tick(Inbox {
            arrivals,
            ..Inbox::default()
        });
    }

    fn asks(&mut self, who: &str, intent: Intent) -> Outcome {
        self.number += 1;
        let inputs = vec![PlayerInput {
            who: who.into(),
            number: self.number,
            intent,
        }];
        self.tick(Inbox {
            inputs,
            ..Inbox::default()
        })
    }

    fn dies(&mut self, who: &str, killer: Option<&str>) -> Outcome {
        let mut out = Outcome::default();
        let killer = killer.map(EntityId::from);
        self.world.bequeath(&who.into(), killer.as_ref(), &mut out);
        out
    }

    fn has(&self, who: &str) -> Vec<(String, u32)> {
        let record = self.world.player(&who.into()).expect("a player").record();
        let all = record.inventory.values().chain(record.equipment.values());
        all.map(|stack| (stack.item.to_string(), stack.quantity))
            .collect()
    }

    fn lies(&self) -> Vec<(String, u32)> {
        let regions = self.world.regions();
        let all = regions.flat_map(|region| self.world.ground(region));
        all.map(|item| (item.item.to_string(), item.quantity))
            .collect()
    }
}

fn pairs(all: &[(&str, u32)]) -> Vec<(String, u32)> {
    all.iter()
        .map(|(item, many)| ((*item).to_owned(), *many))
        .collect()
}

/// Returns the grave in the events.
fn grave(out: &Outcome) -> GraveUpdate {
    let mut graves = out.events.iter().filter_map(|event| match event {
        Event::Death(death::Event::Grave(_, grave)) => Some(grave.clone()),
        _ => None,
    });
    graves.next_back().expect("a grave is told of")
}

fn sums(out: &Outcome) -> BTreeMap<(bool, String), i64> {
    let mut sums = BTreeMap::new();
    for entry in &out.changes.ledger {
        let key = (entry.holder == Holder::Ground, entry.item.to_string());
        *sums.entry(key).or_default() += entry.delta;
    }
    sums
}

#[test]
fn where_it_is_safe_the_three_best_things_are_kept() {
    let mut story = Story::new();
    let worn = [
        (EquipSlot::Helmet, "helm", 1),
        (EquipSlot::Arrows, "arrow", 9),
    ];
    story.joins(
        "ann",
        (9, 9),
        &[("twig", 1), ("gem", 5), ("crown", 1)],
        &worn,
    );
    let out = story.dies("ann", None);
    let kept = pairs(&[("gem", 1), ("crown", 1), ("helm", 1)]);
    assert_eq!(story.has("ann"), kept);
    let lost = pairs(&[("twig", 1), ("gem", 4), ("arrow", 9)]);
    assert_eq!(story.lies(), lost);
    let moved: Vec<i64> = sums(&out).into_values().collect();
    assert_eq!(moved, [-9, -4, -1, 9, 4, 1]);
    assert_eq!(
        story
            .world
            .player(&"ann".into())
            .expect("ann")
            .record()
            .coins,
        70
    );
    assert!(out.changes.valued.contains(&"ann".into()) && out.changes.worn.contains(&"ann".into()));
}

/// Of a stack that is worn no more is kept than of one in the pack: each is a thing of its own.
#[test]
fn of_a_worn_stack_as_many_are_kept_as_are_among_the_best() {
    for (pack, kept, lost) in [
        (vec![("crown", 1)], 2, 9_997),
        (vec![("crown", 1), ("crown", 1)], 1, 9_998),
        (vec![], 3, 9_996),
    ] {
        let mut story = Story::new();
        let worn = [(EquipSlot::Arrows, "rune_arrow", 9_999)];
        story.joins("ann", (9, 9), &pack, &worn);
        let out = story.dies("ann", None);
        let has: Vec<(&str, u32)> = pack.into_iter().chain([("rune_arrow", kept)]).collect();
        assert_eq!(story.has("ann"), pairs(&has));
        assert_eq!(story.lies(), pairs(&[("rune_arrow", lost)]));
        let moved: Vec<i64> = sums(&out).into_values().collect();
        assert_eq!(moved, [-i64::from(lost), i64::from(lost)]);
        assert!(out.changes.worn.contains(&"ann".into()), "it is saved");
    }
}

#[test]
fn elsewhere_everything_goes_to_the_grave() {
    let mut story = Story::new();
    story.joins("ann", (70, 9), &[("crown", 1), ("coins", 30)], &[]);
    let out = story.dies("ann", None);
    assert_eq!(story.has("ann"), []);
    let grave = grave(&out);
    assert_eq!(
        (grave.position, grave.expires_in_ms / TICK_MS),
        (Some(Tile::new(70, 9)), GRAVE_TICKS)
    );
    let look = story.world.look(&grave.grave_id).expect("it stands there");
    assert_eq!(look.kind, crate::entity::look::Kind::Grave);
    let chunk = Chunk::from(Tile::new(70, 9));
    let seen: Vec<&EntityId> = story.world.entities_in(chunk).collect();
    assert_eq!(
        seen,
        [&"ann".into(), &grave.grave_id],
        "things in it are not seen"
    );
}

#[test]
fn who_has_nothing_leaves_no_grave() {
    let mut story = Story::new();
    story.joins("ann", (70, 9), &[], &[]);
    let out = story.dies("ann", None);
    assert_eq!((out.events, out.changes.ledger), (vec![], vec![]));
}

#[test]
fn only_its_owner_opens_a_grave_and_takes_what_fits() {
    let mut story = Story::new();
    let twigs = vec![("twig", 1); 28];
    story.joins(
        "ann",
        (70, 9),
        &[("crown", 1), ("coins", 30), ("gem", 2)],
        &[],
    );
    story.joins("bob", (70, 9), &[], &[]);
    let id = grave(&story.dies("ann", None)).grave_id;
    let loots = || Intent::GroundItems(ground_items::Intent::Pickup { target: id.clone() });
    let out = story.asks("bob", loots());
    let refused = |out: &Outcome| {
        out.events.iter().find_map(|event| match event {
            Event::Request(request::Event::Refused { refusal, .. }) => Some(*refusal),
            _ => None,
        })
    };
    assert_eq!(refused(&out), Some(Refusal::Protected));
    let ann = story.world.players.get_mut(&"ann".into()).expect("ann");
    ann.record.inventory = (0..)
        .zip(twigs.iter().map(|(i, n)| Stack::new(*i, *n)))
        .collect();
    let out = story.asks("ann", loots());
    assert_eq!(refused(&out), None, "coins go to the pouch");
    assert_eq!(story.lies(), pairs(&[("crown", 1), ("gem", 2)]));
    assert_eq!(grave(&out).items.len(), 2);
    let out = story.asks("ann", loots());
    assert_eq!(refused(&out), Some(Refusal::InventoryFull));
    let ann = story.world.players.get_mut(&"ann".into()).expect("ann");
    ann.record.inventory.clear();
    let out = story.asks("ann", loots());
    assert_eq!(story.has("ann"), pairs(&[("crown", 1), ("gem", 2)]));
    assert_eq!((grave(&out).position, story.world.look(&id)), (None, None));
    assert!(out.touched.contains(&id), "it is seen to go");
    let out = story.asks("ann", loots());
    assert_eq!(refused(&out), Some(Refusal::NotFound));
}

#[test]
fn after_a_quarter_of_an_hour_what_is_left_lies_about_and_then_is_gone() {
    let mut story = Story::new();
    story.joins("ann", (70, 9), &[("crown", 1), ("gem", 2)], &[]);
    story.joins("bob", (71, 9), &[], &[]);
    let id = grave(&story.dies("ann", None)).grave_id;
    story.wait(GRAVE_TICKS - 3);
    assert!(story.world.look(&id).is_some());
    story.wait(3);
    assert_eq!(story.world.look(&id), None);
    let crown = story
        .world
        .ground(Region { x: 1, z: 0 })
        .next()
        .expect("it lies there");
    assert_eq!((&*crown.item, &crown.grave), ("crown", &None));
    let target = crown.id.clone();
    story.asks(
        "bob",
        Intent::GroundItems(ground_items::Intent::Pickup { target }),
    );
    story.wait(1);
    assert_eq!(story.has("bob"), pairs(&[("crown", 1)]));
    let last = story.wait(300);
    assert_eq!(story.lies(), []);
    let expired: Vec<i64> = last
        .iter()
        .flat_map(|out| sums(out).into_values())
        .collect();
    assert_eq!(expired, [-2]);
}

#[test]
fn where_players_fight_the_killer_takes_it_first() {
    let mut story = Story::new();
    for (killer, taker) in [(Some("bob"), "bob"), (None, "ann"), (Some("npc:1"), "ann")] {
        let mut story = Story::new();
        story.joins("ann", (130, 9), &[("crown", 1)], &[]);
        story.joins("bob", (130, 9), &[], &[]);
        story.dies("ann", killer);
        let other = if taker == "bob" { "ann" } else { "bob" };
        let lying = story
            .world
            .ground(Region { x: 2, z: 0 })
            .next()
            .expect("it lies there");
        assert_eq!(lying.grave, None);
        let target = lying.id.clone();
        story.asks(
            other,
            Intent::GroundItems(ground_items::Intent::Pickup {
                target: target.clone(),
            }),
        );
        assert_eq!(story.has(other), [], "{killer:?}");
        story.asks(
            taker,
            Intent::GroundItems(ground_items::Intent::Pickup { target }),
        );
        assert_eq!(story.has(taker), pairs(&[("crown", 1)]), "{killer:?}");
    }
    story.wait(1);
}

#[test]
fn a_grave_moves_along_with_its_region_and_comes_back_from_the_store() {
    let mut story = Story::new();
    let region = Region { x: 1, z: 0 };
    story.joins("ann", (70, 9), &[("crown", 1)], &[]);
    let id = grave(&story.dies("ann", None)).grave_id;
    let rows: Vec<GroundItem> = story.world.ground(region).cloned().collect();
    let now = story.world.now();
    let bytes = story.world.region_out(region).expect("bytes");
    assert_eq!(story.world.look(&id), None);
    story
        .world
        .region_in(region, now, Some(&bytes))
        .expect("the region");
    assert!(story.world.look(&id).is_some());
    story.world.region_out(region);
    story
        .world
        .region_in(region, now, None)
        .expect("the region");
    assert!(story.world.ground_in(region, now, rows));
    assert!(story.world.look(&id).is_some());
    let shown = story.world.graves_shown(&"ann".into());
    assert_eq!(shown, [], "it is told of to nobody who is not here");
}

/// This also holds in areas where players fight each other, so that nobody makes characters for
/// their things.
#[test]
fn what_a_newcomer_leaves_is_never_anybody_elses() {
    for at in [70, 130] {
        let mut story = Story::new();
        story.world.rules.newcomer_ticks = 100_000;
        story.joins("ann", (at, 9), &[("crown", 1)], &[]);
        story.joins("bob", (at, 9), &[], &[]);
        let shown = grave(&story.dies("ann", Some("bob")));
        assert_eq!(shown.expires_in_ms / TICK_MS, GRAVE_TICKS);
        for waited in [0, GRAVE_TICKS - 3] {
            story.wait(waited);
            let target = shown.grave_id.clone();
            story.asks(
                "bob",
                Intent::GroundItems(ground_items::Intent::Pickup { target }),
            );
            assert_eq!(story.has("bob"), [], "{at}");
            assert_eq!(story.lies(), pairs(&[("crown", 1)]));
        }
        let last = story.wait(3);
        let told = last.iter().find(|out| !sums(out).is_empty());
        let told = grave(told.expect("it is gone"));
        assert_eq!(
            (told.position, story.world.look(&shown.grave_id)),
            (None, None)
        );
        assert_eq!(story.lies(), []);
    }
}
