//! Stories about skills, and about agility, which is trained by going on foot.

use crate::stage;

use insta::assert_snapshot;
use stage::{Land, Stage};
use world::{CharacterId, PlayerHot, Region, Skill};

/// Returns the lines of a story that are about experience.
fn trained(stage: &mut Stage, script: &str) -> String {
    let told = stage.play(script);
    let lines = told.lines().filter(|line| line.contains(" level "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_hundred_tiles_on_foot_train_agility() {
    let mut stage = Stage::new(&Land::default());
    let told = trained(
        &mut stage,
        "ann joins at 50 0 trained agility=1739 / bob joins at 50 0
         ann walks to 0 0 / bob runs to 1 0
         wait 25
         ann walks to 50 0 / bob runs to 50 0
         wait 25
         bob walks to 48 0
         wait 3",
    );
    assert_snapshot!(told, @r"
    52 ann agility +50.0=223.9 level 3!; ann 50,0
    54 bob agility +50.0=50.0 level 1; bob 48,0
    ");
}

#[test]
fn going_home_by_magic_is_no_way_on_foot() {
    let mut stage = Stage::new(&Land::default());
    let told = trained(
        &mut stage,
        "ann joins at 50 1
         ann walks to 2 1
         wait 25
         ann walks to 50 1
         wait 25
         ann goes home
         wait 20
         ann walks to 3 1
         wait 3
         ann walks to 5 1
         wait 3",
    );
    assert_snapshot!(told, @"79 ann agility +50.0=50.0 level 1; ann 5,1");
}

#[test]
fn the_tiles_that_were_gone_are_not_lost_in_a_handover() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 50 0\n ann walks to 0 0\n wait 25\n ann walks to 40 0\n wait 25");
    let who = CharacterId::from("ann");
    let (record, hot) = stage.world.leave(&who).unwrap();
    assert_eq!(hot.skilling.tiles_gone, 90);
    let hot = PlayerHot::from_bytes(&hot.to_bytes()).unwrap();
    stage.step(world::Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot,
            region: Region { x: 0, z: 0 },
            look: "".into(),
        }],
        ..world::Inbox::default()
    });
    let told = trained(&mut stage, "ann walks to 30 0\n wait 9");
    assert_snapshot!(told, @"59 ann agility +50.0=50.0 level 1; ann 30,0");
}

#[test]
fn experience_has_an_end_and_nothing_is_told_beyond() {
    let mut stage = Stage::new(&Land::default());
    let told = trained(
        &mut stage,
        "ann joins at 50 0 trained agility=1999999800
         ann walks to 0 0
         wait 25
         ann walks to 50 0
         wait 25
         ann walks to 0 0
         wait 25
         ann walks to 50 0
         wait 25",
    );
    assert_snapshot!(told, @"52 ann agility +20.0=200000000.0 level 99; ann 50,0");
}

#[test]
fn a_gain_is_to_be_saved() {
    let mut stage = Stage::new(&Land::default());
    stage.play("ann joins at 50 0\n ann walks to 0 0\n wait 25\n ann walks to 50 0");
    let mut steps = (0..30).map(|_| stage.step(world::Inbox::default()));
    let outcome = steps.find(|outcome| !outcome.changes.trained.is_empty());
    let outcome = outcome.expect("a hundred tiles");
    let (who, skills) = outcome.changes.trained.first_key_value().unwrap();
    assert_eq!(who.as_str(), "ann");
    assert_eq!(skills.iter().collect::<Vec<_>>(), [&Skill::Agility]);
    assert!(outcome.changes.valued.is_empty() && outcome.changes.ledger.is_empty());
}

#[test]
fn levels_are_those_that_the_experience_makes_whatever_was_saved() {
    let mut record = stage::record("ann", world::Tile::new(0, 0));
    let wrong = world::SkillXp {
        level: 99,
        xp_tenths: 1_740,
    };
    record.skills.insert(Skill::Attack, wrong);
    record.combat_level = 126;
    record.health = 100;
    let mut stage = Stage::new(&Land::default());
    stage.step(world::Inbox {
        arrivals: vec![world::Arrival {
            record,
            hot: PlayerHot::default(),
            region: Region { x: 0, z: 0 },
            look: "".into(),
        }],
        ..world::Inbox::default()
    });
    let record = stage.world.record(&CharacterId::from("ann")).unwrap();
    assert_eq!(record.level(Skill::Attack), 3);
    assert_eq!((record.combat_level, record.health), (4, 10));
}
