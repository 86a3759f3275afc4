//! Agents among beasts: their targets and weapons, when they eat, when they run, and how they fetch
//! the things that they left where they died.

use serde_json::{Value, json};
use world::agents::AgentActionKind;
use world::content::EquipSlot;
use world::{Goal, Hit, Inbox, PlayerRecord, Skill, Tile, World};

use crate::agents::{Scene, ann};
use crate::stage::Land;

const WOLF: &str = "npc:field:wolf:30,10:0";

/// Returns a beast that is easily killed, leaves bones, and is soon back.
fn hen() -> Value {
    json!({"id": "hen", "name": "Hen", "stats": {"level": 1, "health": 5},
        "combat": {"attackable": true, "retaliates": false, "respawnTicks": 5},
        "drops": {"always": [
            {"itemId": "bones", "minQuantity": 1, "maxQuantity": 1, "chance": 1}]}})
}

/// Returns a beast that always strikes, and takes a point of health at most.
fn wolf(level: u32) -> Value {
    json!({"id": "wolf", "name": "Wolf",
        "stats": {"level": level, "health": 9_000, "attack": 100_000, "strength": 1},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 7, "leashRange": 12}})
}

fn record(world: &World) -> &PlayerRecord {
    world.player(&ann()).unwrap().record()
}

fn carries(world: &World, item: &str) -> usize {
    let pack = record(world).inventory.values();
    pack.filter(|stack| &*stack.item == item).count()
}

/// Returns the blows of so many ticks.
fn blows(scene: &mut Scene, ticks: u32) -> Vec<Hit> {
    let outcomes = (0..ticks).map(|_| scene.stage.step(Inbox::default()));
    outcomes.flat_map(|outcome| outcome.hits).collect()
}

#[test]
fn an_agent_that_is_to_fight_arms_itself_kills_ten_and_buries_what_they_leave() {
    let land = Land::default().beast(hen(), (12, 0)).beast(hen(), (14, 3));
    let mut scene = Scene::new(&land, "ann joins at 0 0 with shield 1 hood 1");
    scene.ordered(false, Some(Goal::Fight));
    scene.until("it wears its shield", |world| {
        record(world).equipment.contains_key(&EquipSlot::Shield)
    });
    assert_eq!(
        carries(&scene.stage.world, "hood"),
        1,
        "it is good for nothing"
    );
    let tally = |world: &World| {
        world
            .player(&ann())
            .unwrap()
            .agent()
            .unwrap()
            .tally()
            .clone()
    };
    for kills in [1, 4, 7, 10] {
        scene.until("it kills and kills", |world| tally(world).kills >= kills);
    }
    scene.until("that was its goal", |world| {
        world.player(&ann()).unwrap().agent().unwrap().over()
    });
    assert!(
        scene
            .recent_actions()
            .contains(&AgentActionKind::GoalCompleted)
    );
    let prayer = record(&scene.stage.world).skill(Skill::Prayer).xp_tenths;
    assert!(prayer >= 5 * 45, "most of the bones are buried: {prayer}");
    let learned = [Skill::Attack, Skill::Strength, Skill::Defense];
    let learned = learned.map(|skill| record(&scene.stage.world).skill(skill).xp_tenths);
    assert!(
        learned.iter().filter(|xp| **xp > 0).count() > 1,
        "{learned:?}"
    );
}

#[test]
fn one_that_is_hurt_eats_before_it_looks_for_a_fight() {
    let land = Land::default().beast(hen(), (12, 0));
    let mut scene = Scene::new(&land, "ann joins at 0 0 health 5 with cake 1 logs 1");
    scene.ordered(false, Some(Goal::Fight));
    scene.until("it has eaten", |world| carries(world, "cake") == 0);
    assert_eq!(record(&scene.stage.world).health, 9);
    assert_eq!(scene.at(), Tile::new(0, 0), "and only then it goes");
}

/// The goal does not matter: the agent is hurt while it rests.
#[test]
fn one_that_is_attacked_eats_and_one_that_is_stopped_or_played_does_not() {
    let land = Land::default().beast(wolf(3), (6, 0));
    for (paused, played, eats) in [
        (false, false, true),
        (true, false, false),
        (false, true, false),
    ] {
        let before = "ann joins at 4 0 with cake 1 cake 1 cake 1";
        let mut scene = Scene::new(&land, before);
        scene.ordered(paused, (!paused).then_some(Goal::Rest));
        scene.hears(world::AgentWord::Played(played));
        for _ in 0..300 {
            scene.wait(1);
            if record(&scene.stage.world).health < 4 {
                break;
            }
        }
        let health = record(&scene.stage.world).health;
        assert!(eats || health < 4, "it is hurt: {health}");
        let left = carries(&scene.stage.world, "cake");
        assert_eq!(left < 3, eats, "paused {paused}, played {played}: {left}");
    }
}

#[test]
fn one_runs_to_a_bank_from_what_is_much_stronger_and_does_not_hit_back() {
    let land = Land::default()
        .beast(wolf(60), (30, 10))
        .station("bank", (75, 10));
    let mut scene = Scene::new(&land, "ann joins at 34 10");
    scene.ordered(false, Some(Goal::Rest));
    let seen = blows(&mut scene, 40);
    assert!(
        seen.iter().any(|hit| hit.attacker.as_str() == WOLF),
        "{seen:?}"
    );
    assert!(
        seen.iter().all(|hit| hit.attacker.as_str() == WOLF),
        "{seen:?}"
    );
    assert!(scene.at().x > 70, "{:?}", scene.at());
    assert!(record(&scene.stage.world).health > 0);
    // One that is stopped stays, and fights back as anybody does.
    let mut scene = Scene::new(&land, "ann joins at 34 10");
    scene.ordered(true, None);
    let seen = blows(&mut scene, 30);
    assert!(
        seen.iter().any(|hit| hit.attacker.as_str() == "ann"),
        "{seen:?}"
    );
    assert!(scene.at().x < 40, "{:?}", scene.at());
}

#[test]
fn one_that_died_fetches_what_it_left_and_then_goes_on() {
    let ogre = json!({"id": "ogre", "name": "Ogre",
        "stats": {"level": 90, "health": 9_000, "attack": 100_000, "strength": 100_000},
        "combat": {"attackable": true, "retaliates": true}});
    let land = Land::default().beast(ogre, (30, 30));
    let before = "ann joins at 29 30 with logs 1 logs 1 logs 1 logs 1 logs 1 logs 1";
    let mut scene = Scene::new(&land, before);
    scene.ordered(false, Some(Goal::Place(Tile::new(60, 60))));
    scene.stage.play("ann attacks npc:field:ogre:30,30:0");
    scene.until("it dies", |world| !world.player(&ann()).unwrap().lives());
    let left = carries(&scene.stage.world, "logs");
    assert_eq!(left, 3, "of its things three are kept");
    scene.until("it has all six again", |world| carries(world, "logs") == 6);
    assert!(
        scene.at().steps_to(Tile::new(30, 30)) < 12,
        "{:?}",
        scene.at()
    );
    scene.until("it goes on", |world| {
        record(world).tile.steps_to(Tile::new(60, 60)) <= 3
    });
}
