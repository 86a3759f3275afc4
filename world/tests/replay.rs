//! Laws: for any requests of players, the same seed and inputs give the same bytes. A region
//! restored from its bytes goes on the same, nobody ends up in a wall, and nothing panics.

mod actions;

use crate::stage;

use std::sync::{Arc, OnceLock};

use actions::{Action, story};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::json;
use sha2::{Digest, Sha256};
use stage::{BEGIN, Land};
use world::potions::{Boost, Poison, PotionState};
use world::{
    AgentInput, Arrival, CharacterId, Content, Crossing, EntityId, Event, Inbox, Intent, Kind,
    PlayerHot, PlayerInput, Region, Rules, Screen, Skill, Tick, Tile, World, arrivals,
    ground_items, movement, request, trade,
};

fn wolf() -> serde_json::Value {
    json!({"id": "wolf", "name": "Wolf", "stats": {"level": 9, "health": 4, "strength": 60},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 5, "leashRange": 9,
            "respawnTicks": 5},
        "drops": {"always": [{"itemId": "logs", "minQuantity": 1, "maxQuantity": 2, "chance": 1}]}})
}

/// Returns Tom, who offers a quest, and hears that it is done.
fn tom() -> serde_json::Value {
    json!({"entryNodeId": "hello", "nodes": [
            {"id": "hello", "text": "Help me?", "responses": [
                {"text": "Yes.", "effect": "startQuest:errand"},
                {"text": "Heal me.", "effect": "heal"},
                {"text": "My things.", "effect": "openBank"},
                {"text": "Why?", "nextNodeId": "why"}]},
            {"id": "why", "text": "Why not?"},
            {"id": "done", "text": "Thank you!", "effect": "completeQuest:errand"}],
        "questOverrides": {"errand": {"ready_to_complete": "done"}}})
}

fn errand() -> serde_json::Value {
    json!({"id": "errand", "name": "An Errand", "startNpc": "tom", "questPoints": 1,
        "onStart": {"items": [{"itemId": "tinderbox", "quantity": 1}]},
        "stages": [{"id": "back", "type": "dialogue", "description": "Tell Tom.",
            "npcId": "tom"}],
        "rewards": {"questPoints": 1, "xp": {"cooking": 100},
            "items": [{"itemId": "candle", "quantity": 3}]}})
}

/// Returns a land with much in the way.
fn content() -> Arc<Content> {
    static CONTENT: OnceLock<Arc<Content>> = OnceLock::new();
    let points = json!([{"x": -6, "z": 3}, {"x": 70, "z": 3}, {"x": 70, "z": 40}]);
    let patrol = json!({"type": "patrol", "patrolPath": points, "speed": 3.3});
    let land = || {
        Land::default()
            .rect("wall", (5, -20), (5, 20))
            .rect("water", (-30, 10), (-10, 30))
            .rect("grass", (-22, 18), (-20, 20))
            .rect("hedge", (60, -5), (66, 5))
            .rect("lava", (-70, -70), (-62, -62))
            .tree((10, 10))
            .tree((64, 20))
            .station("furnace", (2, 2))
            .station("bank", (6, 6))
            .station("range", (0, 6))
            .resource("tree", "thicket", (-4, 0))
            .resource("ore", "copper", (0, -6))
            .resource("fishing_spot", "shoal", (-12, 12))
            .station("altar", (8, 2))
            .beast(wolf(), (8, 8))
            .shop(
                "stall",
                (-2, 4),
                &[("logs", 4, 9), ("candle", 3, -1), ("sword", 60, 2)],
            )
            .lawless()
            .magic()
            .beasts("rat", (0, 8), 6, 4)
            .beasts("hen", (66, 30), 6, 6)
            .npc("guard", (3, 4), patrol, 3)
            .speaker("tom", (-3, 3), tom())
            .quests(json!({"errand": errand()}))
    };
    Arc::clone(CONTENT.get_or_init(|| land().content()))
}

fn id(who: u8) -> CharacterId {
    CharacterId::from(format!("p{who}"))
}

fn fresh(seed: u64) -> World {
    let mut world = World::new(content(), Rules::default(), seed, 1);
    for region in content().regions() {
        world.region_in(region, Tick(BEGIN), None).unwrap();
    }
    world
}

/// Returns one of the things that lie about.
fn lying(world: &World, which: u8) -> EntityId {
    let lying = world.regions().flat_map(|region| world.ground(region));
    let lying: Vec<&EntityId> = lying.map(|item| &item.id).collect();
    let which = lying.get(usize::from(which) % lying.len().max(1));
    which.map_or(EntityId::from("item:9"), |id| (*id).clone())
}

/// Returns a request about the trade of `who`, or one to open a trade with the other of the first
/// two.
fn trading(world: &World, who: u8, (what, slot, many): (u8, u8, u32)) -> trade::Intent {
    let trade = world.trades_of(&id(who)).into_iter().next();
    let (target, unasked) = (id(3 - who).entity(), trade.is_none());
    let trade = trade.unwrap_or_else(|| EntityId::from("trade:1-1"));
    match what {
        _ if unasked && what < 14 => trade::Intent::Ask { target },
        0..6 => trade::Intent::Answer {
            trade,
            accept: what > 0,
        },
        6..9 => trade::Intent::Offer {
            trade,
            slot,
            quantity: Some(many).filter(|many| *many < 8),
        },
        9 => trade::Intent::Change {
            trade,
            place: slot,
            quantity: many,
        },
        10 => trade::Intent::Withdraw { trade, place: slot },
        11 if many == 0 => trade::Intent::Cancel { trade },
        12 => trade::Intent::RevokeAcceptance { trade },
        _ => trade::Intent::Accept {
            trade,
            seen: if many.is_multiple_of(2) {
                Screen::Offer
            } else {
                Screen::Confirm
            },
        },
    }
}

/// Plays one tick of a story; crossings are followed as a zone with all regions would.
#[allow(clippy::too_many_lines, reason = "one arm for each action")]
fn play(world: &mut World, tick: u64, actions: &[Action]) -> (Vec<Event>, Vec<Crossing>) {
    let mut inbox = Inbox::default();
    for (number, action) in (tick * 100..).zip(actions) {
        match action.clone() {
            Action::Join {
                who,
                tile,
                region,
                path,
                energy,
            } => {
                let mut record = stage::record(id(who).as_str(), tile);
                record.energy = energy;
                record.coins = u64::from(energy);
                let things = [
                    ("logs", 1),
                    ("candle", 9),
                    ("unheard_of", 3),
                    ("maul", 1),
                    ("arrow", 7),
                    ("logs_noted", 5),
                    ("knife", 1),
                    ("bronze_hatchet", 1),
                    ("tinderbox", 1),
                    ("raw_trout", 1),
                    ("net", 1),
                    ("bait", 9),
                ];
                let things = things.map(|(item, many)| world::Stack::new(item, many));
                record.inventory = (0..).zip(things).collect();
                if energy % 3 == 1 {
                    record.potions = dosed();
                }
                inbox.arrivals.push(Arrival {
                    record,
                    hot: PlayerHot {
                        path,
                        ..PlayerHot::default()
                    },
                    region,
                    look: "".into(),
                });
            }
            Action::Ask { who, intent } => {
                inbox.inputs.push(PlayerInput {
                    who: id(who),
                    number,
                    intent,
                });
            }
            Action::Hold { who, held } => {
                world.hold(&id(who), held);
            }
            Action::Belong { who, region } => {
                world.set_region(&id(who), region);
            }
            Action::Leave { who } => {
                world.leave(&id(who));
            }
            Action::Take { who, which } => {
                let target = lying(world, which);
                inbox.inputs.push(PlayerInput {
                    who: id(who),
                    number,
                    intent: Intent::GroundItems(ground_items::Intent::Pickup { target }),
                });
            }
            Action::Trade {
                who,
                what,
                slot,
                many,
            } => {
                inbox.inputs.push(PlayerInput {
                    who: id(who),
                    number,
                    intent: Intent::Trade(trading(world, who, (what, slot, many))),
                });
            }
            Action::Agent { who, word } => {
                let who = id(who);
                inbox.agents.push(AgentInput { who, word });
            }
            Action::Value(value) => inbox.value = value,
        }
    }
    let outcome = world.tick(Tick(BEGIN + tick), inbox, &mut ());
    assert!(world.watches_the_dosed(), "after tick {tick}");
    for crossing in &outcome.crossings {
        world.set_region(&crossing.who, crossing.to);
    }
    (outcome.events, outcome.crossings)
}

/// A boost, poison and protection from it that all end within a story.
fn dosed() -> PotionState {
    let boost = Boost {
        levels: 2,
        ticks: 3,
    };
    PotionState {
        boosts: [(Skill::Defense, boost)].into(),
        poison: Some(Poison {
            strikes: 2,
            ticks: 4,
        }),
        safe_ticks: 6,
    }
}

/// Returns the hash over the very bytes with which all regions would move.
fn hash(world: &World) -> String {
    let mut sha = Sha256::new();
    for region in world.regions() {
        sha.update(world.region_bytes(region).unwrap());
    }
    format!("{:x}", sha.finalize())
}

fn moved_to_another(world: &World, seed: u64) -> World {
    let mut next = World::new(content(), Rules::default(), seed, 1);
    for region in world.regions() {
        let bytes = world.region_bytes(region).unwrap();
        next.region_in(region, world.now(), Some(&bytes)).unwrap();
        assert_eq!(next.regions().last(), Some(region));
    }
    assert!(next.watches_the_dosed());
    next
}

fn config() -> ProptestConfig {
    let failures = FileFailurePersistence::WithSource("regressions");
    let failure_persistence = Some(Box::new(failures) as Box<_>);
    ProptestConfig {
        cases: 96,
        failure_persistence,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_same_seed_and_inputs_give_the_same_bytes(seed: u64, story in story()) {
        let (mut one, mut other) = (fresh(seed), fresh(seed));
        for (tick, actions) in (1..).zip(&story) {
            prop_assert_eq!(play(&mut one, tick, actions), play(&mut other, tick, actions));
            prop_assert_eq!(hash(&one), hash(&other), "after tick {}", tick);
        }
    }

    #[test]
    fn regions_restored_from_their_bytes_go_on_the_same(
        seed: u64,
        story in story(),
        at in any::<prop::sample::Index>(),
    ) {
        let (mut one, mut other) = (fresh(seed), fresh(seed));
        let at = at.index(story.len());
        for (i, actions) in story.iter().enumerate() {
            let tick = i as u64 + 1;
            prop_assert_eq!(play(&mut one, tick, actions), play(&mut other, tick, actions));
            if i == at {
                other = moved_to_another(&other, seed);
            }
            prop_assert_eq!(hash(&one), hash(&other), "after tick {}, moved after {}", tick, at + 1);
        }
        for tick in story.len() as u64 + 1..story.len() as u64 + 20 {
            play(&mut one, tick, &[]);
            play(&mut other, tick, &[]);
            prop_assert_eq!(hash(&one), hash(&other), "after tick {}", tick);
        }
    }

    #[test]
    fn nobody_is_ever_in_a_wall_nor_faster_than_allowed(seed: u64, story in story()) {
        let mut world = fresh(seed);
        let content = content();
        for (tick, actions) in (1..).zip(&story) {
            let before: Vec<(CharacterId, Tile)> =
                world.players().map(|p| (p.record().id.clone(), p.tile())).collect();
            let (events, _) = play(&mut world, tick, actions);
            for id in world.entities() {
                let look = world.look(id).unwrap();
                if matches!(look.kind, Kind::Player | Kind::Npc | Kind::Item) {
                    prop_assert!(content.terrain().walkable(look.tile), "{:?}", look);
                }
                prop_assert!(world.plays(look.region));
                prop_assert!(
                    world.entities_in(look.tile.into()).any(|there| there == id),
                    "{} is not in the index of its chunk", id
                );
            }
            for (who, tile) in before {
                let came = events.iter().any(|event| match event {
                    Event::Arrivals(arrivals::Event::Joined { who: came }) | Event::Movement(movement::Event::Teleported { who: came, .. }) => {
                        *came == who
                    }
                    _ => false,
                });
                if let Some(player) = world.player(&who).filter(|_| !came) {
                    prop_assert!(player.tile().steps_to(tile) <= 4, "{} flew", who);
                }
            }
            for player in world.players() {
                prop_assert!(player.record().energy <= 10_000);
            }
        }
    }

    #[test]
    fn every_input_is_answered_once(seed: u64, story in story()) {
        let mut world = fresh(seed);
        for (tick, actions) in (1..).zip(&story) {
            let (events, _) = play(&mut world, tick, actions);
            let mut answered: Vec<u64> = events
                .iter()
                .filter_map(|e| match e {
                    Event::Request(request::Event::Done { number, .. })
                    | Event::Request(request::Event::Refused { number, .. })
                    | Event::Trade(trade::Event::Asked { number, .. })
                    | Event::Request(request::Event::Elsewhere { number, .. })
                    | Event::Request(request::Event::Deferred { number, .. }) => Some(*number),
                    _ => None,
                })
                .collect();
            answered.sort_unstable();
            let asked = (tick * 100..).zip(actions);
            let asked: Vec<u64> =
                asked.filter(|(_, d)| matches!(d, Action::Ask { .. } | Action::Take { .. } | Action::Trade { .. })).map(|(n, _)| n).collect();
            prop_assert_eq!(answered, asked);
        }
    }

    #[test]
    fn no_bytes_make_a_region_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut world = World::new(content(), Rules::default(), 1, 1);
        let region = Region { x: 0, z: 0 };
        prop_assert!(world.region_in(region, Tick(1), Some(&bytes)).is_err());
        prop_assert_eq!(world.regions().count(), 0);
        prop_assert_eq!(world.entities().count(), 0);
    }
}

/// Without this, laws about hashes would hold for worlds in which nothing happens.
#[test]
fn the_hash_sees_players_and_npcs_move() {
    let mut world = fresh(3);
    let mut hashes = std::collections::BTreeSet::new();
    for tick in 1..40 {
        play(&mut world, tick, &[]);
        hashes.insert(hash(&world));
    }
    assert_eq!(hashes.len(), 39);
    let other = fresh(4);
    assert_ne!(hash(&fresh(3)), hash(&other), "seeds differ");
}

/// The numbers themselves: a change of rules, dice or form of the bytes is to be noticed.
#[test]
fn a_known_story_ends_as_it_always_did() {
    let mut world = fresh(42);
    let join = |who, x, z| Action::Join {
        who,
        tile: Tile::new(x, z),
        region: Region::from(Tile::new(x, z)),
        path: Vec::new(),
        energy: 5_000,
    };
    let walk = |who, x, z| Action::Ask {
        who,
        intent: Intent::Movement(movement::Intent::Walk {
            to: Tile::new(x, z),
            run: Some(who == 1),
        }),
    };
    play(&mut world, 1, &[join(1, 0, 0), join(2, -40, -40)]);
    let drop = Action::Ask {
        who: 1,
        intent: Intent::GroundItems(ground_items::Intent::Drop {
            slot: 1,
            quantity: Some(4),
        }),
    };
    play(&mut world, 2, &[walk(1, 70, 8), walk(2, -10, 40), drop]);
    for tick in 3..60 {
        play(&mut world, tick, &[]);
    }
    insta::assert_snapshot!(hash(&world), @"a77fd353dbfe1539b1902fac6f1a2688d51a3d94d822e66cb1fc28629db1b012");
}

#[test]
fn a_region_that_goes_takes_all_that_is_its_own_and_nothing_else() {
    let mut world = fresh(6);
    let join = |who, x, z| Action::Join {
        who,
        tile: Tile::new(x, z),
        region: Region { x: 0, z: 0 },
        path: Vec::new(),
        energy: 0,
    };
    let here = Region { x: 0, z: 0 };
    play(&mut world, 1, &[join(1, 10, 5), join(2, 66, 40)]);
    play(
        &mut world,
        2,
        &[Action::Belong {
            who: 2,
            region: Region { x: 1, z: 0 },
        }],
    );
    let bytes = world.region_bytes(here);
    assert_eq!(world.region_out(here), bytes, "the very bytes");
    assert!(world.player(&id(1)).is_none() && world.player(&id(2)).is_some());
    assert!(
        world
            .entities()
            .all(|e| world.look(e).is_some_and(|l| l.region != here))
    );
    assert!(world.region_out(here).is_none());
    world
        .region_in(here, world.now(), bytes.as_deref())
        .unwrap();
    assert_eq!(world.region_bytes(here), bytes);
    assert!(matches!(
        world.region_in(here, world.now(), None),
        Err(world::Unreadable::Held)
    ));
    assert!(matches!(
        world.region_in(Region { x: 9, z: 9 }, world.now(), bytes.as_deref()),
        Err(world::Unreadable::Region(r)) if r == here
    ));
}
