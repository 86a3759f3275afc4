//! Agents that fetch: they go to a bank, to an area, and for the tool that their work needs.

use world::agents::AgentActionKind;
use world::{Goal, Skill, Tile, World};

use crate::agents::{Scene, ann};
use crate::stage::Land;

fn over(world: &World) -> bool {
    world.player(&ann()).unwrap().agent().unwrap().over()
}

fn has(world: &World, item: &str) -> bool {
    let record = world.player(&ann()).unwrap().record();
    record.inventory.values().any(|stack| &*stack.item == item)
}

fn cuts(scene: &mut Scene) {
    scene.until("it cuts wood", |world| {
        let record = world.player(&ann()).unwrap().record();
        record.skill(Skill::Woodcutting).xp_tenths > 0
    });
}

#[test]
fn one_goes_to_the_nearest_bank() {
    let land = Land::default()
        .station("bank", (60, 0))
        .banker("teller", (10, 0));
    let mut scene = Scene::new(&land, "ann joins at 32 0");
    scene.ordered(false, Some(Goal::Bank));
    scene.until("it is there", over);
    assert!(
        scene.at().steps_to(Tile::new(10, 0)) <= 3,
        "{:?}",
        scene.at()
    );
    assert!(
        scene
            .recent_actions()
            .contains(&AgentActionKind::GoalCompleted)
    );
}

#[test]
fn one_goes_into_the_area_to_which_it_is_sent_and_to_none_that_there_is_not() {
    let land = Land::default().area("grove", (70, 40), (90, 60));
    let mut scene = Scene::new(&land, "ann joins at 0 0");
    let goal = Goal::parse("go_to:grove", scene.stage.world.content());
    assert_eq!(goal, Some(Goal::Area("grove".into())));
    scene.ordered(false, goal);
    scene.until("it is there", over);
    let at = scene.at();
    assert!(
        (70..=90).contains(&at.x) && (40..=60).contains(&at.z),
        "{at:?}"
    );
    scene.ordered(false, Some(Goal::Area("nowhere".into())));
    scene.until("it gives up", over);
    assert_eq!(scene.at(), at);
    assert!(
        scene
            .recent_actions()
            .contains(&AgentActionKind::GoalFailed)
    );
}

#[test]
fn one_without_a_tool_takes_it_out_of_the_bank() {
    let land = Land::default()
        .station("bank", (20, 0))
        .resource("tree", "thicket", (-8, 0));
    let before = "ann joins at 19 0 with bronze_hatchet 1
         ann opens bank at sta:field:bank
         ann banks 1 of 0
         ann closes bank";
    let mut scene = Scene::new(&land, before);
    assert!(!has(&scene.stage.world, "bronze_hatchet"));
    scene.stage.play("ann goes to 5 0\nwait 12");
    scene.ordered(false, Some(Goal::Train(Skill::Woodcutting)));
    scene.until("it has it", |world| has(world, "bronze_hatchet"));
    assert!(
        scene.at().steps_to(Tile::new(20, 0)) <= 3,
        "{:?}",
        scene.at()
    );
    cuts(&mut scene);
}

#[test]
fn one_that_cannot_pay_for_a_tool_sells_what_it_does_not_need() {
    let land = Land::default()
        .shop("stall", (20, 0), &[("bronze_hatchet", 10, 3)])
        .resource("tree", "thicket", (-8, 0));
    let mut scene = Scene::new(&land, "ann joins at 0 0 with sword 1 knife 1");
    scene.ordered(false, Some(Goal::Train(Skill::Woodcutting)));
    scene.until("it has it", |world| has(world, "bronze_hatchet"));
    let world = &scene.stage.world;
    assert!(
        !has(world, "sword") && has(world, "knife"),
        "tools are kept"
    );
    let coins = world.player(&ann()).unwrap().record().coins;
    assert_eq!(coins, 13 - 10);
    cuts(&mut scene);
}

#[test]
fn one_that_has_nothing_to_pay_with_gives_up() {
    let land = Land::default()
        .shop("stall", (20, 0), &[("bronze_hatchet", 10, 3)])
        .resource("tree", "thicket", (-8, 0));
    let mut scene = Scene::new(&land, "ann joins at 0 0 with knife 1 logs 1");
    scene.ordered(false, Some(Goal::Train(Skill::Woodcutting)));
    scene.until("it gives up", over);
    assert!(
        scene
            .recent_actions()
            .contains(&AgentActionKind::GoalFailed)
    );
    assert!(!has(&scene.stage.world, "bronze_hatchet"));
}
