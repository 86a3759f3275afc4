//! Stories about fighting.

use crate::stage;

use serde_json::{Value, json};
use stage::{BEGIN, Land, Stage};
use world::content::EquipSlot;
use world::{
    Cause, CharacterId, EntityId, Event, Hit, HitKind, Holder, Inbox, Outcome, Refusal, Skill,
    Style, Tile, request, training,
};

/// Strong enough never to die of a rat, and to hit it nearly always.
const STRONG: &str = "trained attack=5000000,strength=5000000,constitution=50000000 health 80";
pub(crate) const DUMMY: &str = "npc:field:dummy:5,5:0";
const RAT: &str = "npc:field:rat:5,5:0";

/// Returns a beast that does not hit back.
pub(crate) fn dummy() -> Value {
    json!({"id": "dummy", "name": "Dummy", "stats": {"level": 1, "health": 100_000},
        "combat": {"attackable": true, "retaliates": false}})
}

/// Returns a beast that hits back.
fn rat(health: u32) -> Value {
    json!({"id": "rat", "name": "Rat",
        "stats": {"level": 2, "health": health, "attack": 5, "strength": 40},
        "combat": {"attackable": true, "retaliates": true, "respawnTicks": 12, "leashRange": 6},
        "drops": {"always": [
            {"itemId": "hide", "minQuantity": 2, "maxQuantity": 2, "chance": 1},
            {"itemId": "feather", "minQuantity": 3, "maxQuantity": 9, "chance": 1}],
            "rare": [{"itemId": "logs", "minQuantity": 1, "maxQuantity": 1, "chance": 0}]}})
}

/// Plays so many ticks and keeps what came of them.
pub(crate) fn watch(stage: &mut Stage, ticks: u32) -> Vec<Outcome> {
    (0..ticks).map(|_| stage.step(Inbox::default())).collect()
}

pub(crate) fn hits(outcomes: &[Outcome]) -> Vec<Hit> {
    outcomes.iter().flat_map(|o| o.hits.clone()).collect()
}

fn by<'a>(hits: &'a [Hit], who: &str) -> Vec<&'a Hit> {
    hits.iter()
        .filter(|hit| hit.attacker.as_str() == who)
        .collect()
}

fn tile(stage: &Stage, id: &str) -> Tile {
    stage.world.look(&EntityId::from(id)).unwrap().tile
}

pub(crate) fn record(stage: &Stage, who: &str) -> world::PlayerRecord {
    stage.world.record(&CharacterId::from(who)).unwrap()
}

fn health(stage: &Stage, id: &str) -> String {
    let look = stage.world.look(&EntityId::from(id)).unwrap();
    format!("{:?}", look.field("health").unwrap())
}

#[test]
fn one_walks_up_and_strikes_every_four_ticks() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play(&format!("ann joins at 0 3 {STRONG}"));
    let told = stage.play(&format!("ann attacks {DUMMY}"));
    assert!(!told.contains("refused"), "{told}");
    let seen = watch(&mut stage, 24);
    let hits = hits(&seen);
    assert_eq!(
        tile(&stage, "ann"),
        Tile::new(4, 5),
        "beside it, not across a corner"
    );
    let ticks: Vec<u64> = hits.iter().map(|hit| hit.tick.0 - BEGIN).collect();
    assert!(ticks.len() >= 5, "{ticks:?}");
    assert!(
        ticks.windows(2).all(|pair| pair[1] - pair[0] == 4),
        "{ticks:?}"
    );
    assert!(hits.iter().any(|hit| hit.damage > 0), "{hits:?}");
}

#[test]
fn one_learns_by_what_a_blow_took() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play(&format!("ann joins at 4 5 {STRONG}\nann attacks {DUMMY}"));
    for outcome in watch(&mut stage, 40) {
        let gained = |of: Skill| {
            let events = outcome.events.iter();
            events
                .filter_map(|event| match event {
                    Event::Training(training::Event::Gained(_, told)) if told.skill == of => {
                        Some(told.gained.0)
                    }
                    _ => None,
                })
                .sum::<u64>()
        };
        let damage: u64 = outcome.hits.iter().map(|hit| u64::from(hit.damage)).sum();
        assert_eq!(gained(Skill::Attack), 40 * damage);
        assert_eq!(gained(Skill::Constitution), 40 * damage / 3);
        let learned = outcome
            .changes
            .trained
            .contains_key(&CharacterId::from("ann"));
        assert_eq!(learned, damage > 0, "what is told is saved");
    }
}

#[test]
fn a_click_elsewhere_ends_a_fight() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play(&format!(
        "ann joins at 4 5 {STRONG}\nann attacks {DUMMY}\nann stops"
    ));
    assert_eq!(hits(&watch(&mut stage, 20)), []);
    stage.play(&format!("ann attacks {DUMMY}\nann goes to 0 0"));
    assert_eq!(hits(&watch(&mut stage, 20)), []);
}

#[test]
fn what_cannot_be_attacked_is_refused() {
    let land = Land::default()
        .beast(dummy(), (5, 5))
        .beast(rat(9), (60, 5));
    let mut stage = Stage::new(
        &land
            .npc("guard", (3, 3), json!({"type": "stationary"}), 7)
            .tree((9, 9)),
    );
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 1 0
         ann attacks npc:nobody / ann attacks ann
         ann attacks npc:field:rat:60,5:0 / ann attacks bob / ann attacks res:oak:9,9",
    );
    for (why, times) in [
        ("NotFound", 1),
        ("NotAttackable", 2),
        ("TooFar", 1),
        ("PlayersSafe", 1),
    ] {
        assert_eq!(
            told.matches(&format!("refused {why}")).count(),
            times,
            "{why} in {told}"
        );
    }
}

#[test]
fn a_beast_hits_back_in_its_time() {
    let mut stage = Stage::new(&Land::default().beast(rat(10_000), (5, 5)));
    stage.play(&format!("ann joins at 4 5 {STRONG}\nann attacks {RAT}"));
    let seen = hits(&watch(&mut stage, 30));
    let (first, back) = (by(&seen, "ann")[0], by(&seen, RAT));
    // Struck one tick before the watch began or in it; half of its own pace and one later.
    assert!(
        back[0].tick.0 >= BEGIN + 2 + 3,
        "{} then {}",
        first.tick.0,
        back[0].tick.0
    );
    let pace: Vec<u64> = back
        .windows(2)
        .map(|two| two[1].tick.0 - two[0].tick.0)
        .collect();
    assert!(pace.iter().all(|ticks| *ticks == 4), "{pace:?}");
    let hurt: u32 = back.iter().map(|hit| hit.damage).sum();
    assert!(hurt > 0);
    assert_eq!(record(&stage, "ann").health, 80 - hurt);
}

#[test]
fn one_turns_to_who_attacks_it_unless_it_suffers() {
    let wolf = json!({"id": "wolf", "name": "Wolf", "stats": {"level": 60, "health": 9_000},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 4, "leashRange": 9}});
    let land = Land::default().beast(wolf, (5, 5));
    for (says, turns) in [("hits back", true), ("suffers", false)] {
        let mut stage = Stage::new(&land);
        stage.play(&format!("ann joins at 2 5 {STRONG}\nann {says}"));
        let seen = hits(&watch(&mut stage, 30));
        let wolf = by(&seen, "npc:field:wolf:5,5:0");
        assert!(!wolf.is_empty());
        let mine = by(&seen, "ann");
        assert_eq!(!mine.is_empty(), turns, "{says}");
        if turns {
            assert!(mine[0].tick.0 >= wolf[0].tick.0 + 3, "not at once");
        }
    }
}

#[test]
fn beasts_attack_the_near_and_the_weak() {
    let wolf = |level| {
        json!({"id": "wolf", "name": "Wolf", "stats": {"level": level, "health": 9_000},
            "combat": {"attackable": true, "aggressive": true, "aggroRange": 4, "leashRange": 9}})
    };
    for (level, at, attacked) in [(2, "9 5", true), (1, "9 5", false), (2, "10 5", false)] {
        let mut stage = Stage::new(&Land::default().beast(wolf(level), (5, 5)));
        stage.play(&format!("ann joins at {at}\nann suffers"));
        let seen = watch(&mut stage, 20);
        assert_eq!(!hits(&seen).is_empty(), attacked, "level {level}, at {at}");
    }
}

#[test]
fn a_beast_goes_home_when_its_prey_is_too_far_away() {
    let mut stage = Stage::new(&Land::default().beast(rat(10_000), (5, 5)));
    stage.play(&format!(
        "ann joins at 4 5 {STRONG}\nann attacks {RAT}\nwait 4"
    ));
    stage.play("ann suffers / ann runs to 40 5");
    watch(&mut stage, 3);
    assert_ne!(tile(&stage, RAT), Tile::new(5, 5), "it follows");
    let mut far = 0;
    for outcome in watch(&mut stage, 30) {
        assert_eq!(outcome.hits, []);
        far = far.max(tile(&stage, RAT).steps_to(Tile::new(5, 5)));
    }
    assert!(far <= 6, "{far} is beyond its leash");
    assert_eq!(tile(&stage, RAT), Tile::new(5, 5), "it is home");
}

#[test]
fn a_dead_beast_leaves_loot_for_its_killer_and_comes_back() {
    let mut stage = Stage::new(&Land::default().beast(rat(3), (5, 5)));
    stage.play(&format!("ann joins at 4 5 {STRONG}\nann attacks {RAT}"));
    let mut outcome = Outcome::default();
    for _ in 0..40 {
        outcome = stage.step(Inbox::default());
        if outcome.hits.iter().any(|hit| hit.killed) {
            break;
        }
    }
    assert!(outcome.hits.iter().any(|hit| hit.killed), "it dies in time");
    assert!(
        stage.world.look(&EntityId::from(RAT)).is_none(),
        "it is gone"
    );
    let ann = CharacterId::from("ann");
    assert_eq!(outcome.changes.kills[&ann]["rat"], 1);
    let left: Vec<(&str, i64)> = outcome
        .changes
        .ledger
        .iter()
        .inspect(|entry| assert_eq!((&entry.holder, entry.cause), (&Holder::Ground, Cause::Loot)))
        .map(|entry| (&*entry.item, entry.delta))
        .collect();
    let of = |item: &str| {
        left.iter()
            .filter(|(i, _)| *i == item)
            .map(|(_, n)| n)
            .sum::<i64>()
    };
    assert_eq!((of("hide"), of("logs")), (2, 0), "{left:?}");
    assert!((3..=9).contains(&of("feather")), "{left:?}");
    for region in stage.world.regions().collect::<Vec<_>>() {
        for item in stage.world.ground(region) {
            assert_eq!(
                (item.tile, item.owner.as_ref()),
                (Tile::new(5, 5), Some(&ann))
            );
            assert_eq!(
                item.quantity == 1,
                &*item.item == "hide",
                "what is loose lies alone"
            );
        }
    }
    watch(&mut stage, 11);
    assert!(stage.world.look(&EntityId::from(RAT)).is_none());
    watch(&mut stage, 1);
    assert_eq!(
        health(&stage, RAT),
        "Int(3)",
        "it is back after twelve ticks, and well"
    );
    assert_eq!(hits(&watch(&mut stage, 20)), [], "and nobody fights it yet");
}

#[test]
fn whoever_fights_somebody_is_fought_by_nobody_else() {
    let land = Land::default().beast(dummy(), (5, 5));
    let script = format!(
        "ann joins at 4 5 {STRONG} / bob joins at 6 5 {STRONG}
         ann attacks {DUMMY}
         wait 2
         bob attacks {DUMMY}"
    );
    let told = Stage::new(&land).play(&script);
    assert!(told.contains("bob refused Engaged"), "{told}");
    let told = Stage::new(&land.clone().crowded()).play(&script);
    assert!(!told.contains("refused"), "{told}");
    // Eight ticks after the last blow it is free again.
    let mut stage = Stage::new(&land);
    stage.play(&format!("{script}\nann stops\nwait 2"));
    let told = stage.play(&format!("bob attacks {DUMMY}"));
    assert!(told.contains("refused Engaged"), "{told}");
    let told = stage.play(&format!("bob attacks {DUMMY}"));
    assert!(!told.contains("refused"), "{told}");
}

#[test]
fn players_fight_each_other_only_where_there_is_no_law() {
    let script = format!(
        "ann joins at 4 5 {STRONG} / bob joins at 6 5 {STRONG}
         bob suffers / ann attacks bob"
    );
    let told = Stage::new(&Land::default()).play(&script);
    assert!(told.contains("ann refused PlayersSafe"), "{told}");
    let mut stage = Stage::new(&Land::default().lawless());
    stage.play(&script);
    let seen = hits(&watch(&mut stage, 30));
    assert!(
        seen.len() >= 5 && by(&seen, "ann").len() == seen.len(),
        "{seen:?}"
    );
    let hurt: u32 = seen.iter().map(|hit| hit.damage).sum();
    let left = record(&stage, "bob").health;
    assert!(left <= 80 - hurt + 1, "{left} after {hurt}");
}

#[test]
fn arrows_are_used_up_and_most_of_them_lie_where_they_fell() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play(
        "ann joins at 0 0 with bow 1 arrow 30
         ann wears 0 / ann wears 1",
    );
    stage.play(&format!("ann attacks {DUMMY}"));
    let seen = watch(&mut stage, 130);
    let hits = hits(&seen);
    assert_eq!(hits.len(), 30, "one for each arrow");
    assert_eq!(tile(&stage, "ann"), Tile::new(0, 0), "it is in reach");
    assert!(
        !record(&stage, "ann")
            .equipment
            .contains_key(&EquipSlot::Arrows)
    );
    let failed = seen.iter().flat_map(|o| &o.events).any(|event| {
        matches!(
            event,
            Event::Request(request::Event::Failed {
                refusal: Refusal::NoAmmunition,
                ..
            })
        )
    });
    assert!(failed, "it is told that there is none left");
    let lies: u32 = {
        let regions: Vec<_> = stage.world.regions().collect();
        let items = regions
            .iter()
            .flat_map(|region| stage.world.ground(*region));
        items
            .inspect(|item| assert_eq!(item.tile, Tile::new(5, 5)))
            .map(|item| item.quantity)
            .sum()
    };
    assert!((15..30).contains(&lies), "{lies} of 30 lie there");
    let ledger = seen.iter().flat_map(|o| &o.changes.ledger);
    let broke: i64 = ledger
        .filter(|e| e.cause == Cause::Spend)
        .map(|e| e.delta)
        .sum();
    assert_eq!(broke, i64::from(lies) - 30, "the others broke");
    // Over five tiles an arrow flies for two ticks.
    let told = stage.play(&format!("ann attacks {DUMMY}"));
    assert!(!told.contains("refused"), "it may try: {told}");
}

#[test]
fn a_style_is_one_that_the_weapon_allows() {
    let mut stage = Stage::new(&Land::default());
    let told = stage.play(
        "ann joins at 0 0 trained attack=50000 with sword 1
         ann fights controlled
         ann wears 0
         ann fights controlled
         ann fights rapid
         ann hits back / ann suffers",
    );
    assert_eq!(told.matches("refused WrongStyle").count(), 2, "{told}");
    let settings = record(&stage, "ann").combat_settings;
    assert_eq!(
        (settings.style, settings.retaliates),
        (Style::Controlled, false)
    );
    let now = |stage: &Stage| world::styles_of(stage.world.content(), &record(stage, "ann")).0;
    assert_eq!(now(&stage), Style::Controlled);
    stage.play("ann removes weapon");
    assert_eq!(
        now(&stage),
        Style::Accurate,
        "the first that bare hands allow"
    );
}

#[test]
fn nobody_fights_while_nothing_can_be_saved() {
    let mut stage = Stage::new(&Land::default().beast(rat(10_000), (5, 5)));
    stage.play(&format!("ann joins at 4 5 {STRONG}\nann attacks {RAT}"));
    assert!(!hits(&watch(&mut stage, 9)).is_empty());
    for _ in 0..20 {
        let inbox = Inbox {
            value: world::Value::Unavailable,
            ..Inbox::default()
        };
        let outcome = stage.step(inbox);
        assert_eq!((outcome.hits, outcome.changes.ledger), (vec![], vec![]));
    }
    assert!(!hits(&watch(&mut stage, 9)).is_empty(), "it goes on");
}

#[test]
fn who_is_in_combat_does_not_leave_the_world() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play(&format!(
        "ann joins at 4 5 {STRONG}\nann attacks {DUMMY}\nann stops"
    ));
    let may = |stage: &Stage| {
        let ann = stage.world.player(&CharacterId::from("ann")).unwrap();
        ann.may_leave(stage.world.now())
    };
    assert!(!may(&stage));
    watch(&mut stage, 14);
    assert!(!may(&stage), "fifteen ticks after the blow");
    watch(&mut stage, 1);
    assert!(may(&stage));
}

#[test]
fn bites_delay_the_next_stroke() {
    let mut stage = Stage::new(&Land::default().beast(dummy(), (5, 5)));
    stage.play(&format!(
        "ann joins at 4 5 {STRONG} with cake 1\nann attacks {DUMMY}"
    ));
    stage.play("ann uses 0");
    let seen = hits(&watch(&mut stage, 10));
    // The first stroke fell with the request; the next would have come four ticks later.
    assert_eq!(seen[0].tick.0 - BEGIN, 2 + 4 + 3);
}

#[test]
fn beasts_let_those_be_who_have_just_come_and_do_nothing_yet() {
    let wolf = json!({"id": "wolf", "name": "Wolf", "category": "mob",
        "stats": {"level": 9, "health": 4},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 5, "leashRange": 9}});
    let land = Land::default().beast(wolf, (5, 5));
    let begins = |asks: &str| {
        let mut stage = Stage::new(&land);
        stage.play(&format!("ann joins at 4 5 unready\nwait 9\n{asks}"));
        let hurt = |stage: &mut Stage| !hits(&watch(stage, 1)).is_empty();
        (11..80).find(|_| hurt(&mut stage))
    };
    let (idle, busy) = (begins("wait 1"), begins("ann hits back"));
    assert!(busy.is_some_and(|tick| tick < 16), "{busy:?}");
    assert!(
        idle.is_some_and(|tick| (50..56).contains(&tick)),
        "{idle:?}"
    );
}

/// Returns one that stands five tiles off and fights from there, all thumbs at close quarters.
fn marksman(attack: &str) -> Value {
    json!({"id": "elf", "name": "Elf",
        "stats": {"level": 200, "health": 9_000, "attack": 1, "strength": 1, "ranged": 900,
            "magic": 900},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 8, "leashRange": 9,
            "combatRange": 7, "attackType": attack, "spellId": "gust"}})
}

#[test]
fn beasts_shoot_and_cast_from_afar() {
    for (attack, kind) in [("ranged", HitKind::Ranged), ("magic", HitKind::Magic)] {
        let land = Land::default().magic().beast(marksman(attack), (5, 5));
        let mut stage = Stage::new(&land);
        stage.play(&format!("ann joins at 0 5 {STRONG}\nann suffers"));
        let seen = hits(&watch(&mut stage, 60));
        assert!(!seen.is_empty(), "{attack}");
        assert!(seen.iter().all(|hit| hit.kind == kind), "{seen:?}");
        assert_eq!(tile(&stage, "npc:field:elf:5,5:0"), Tile::new(5, 5));
        let most = seen.iter().map(|hit| hit.damage).max();
        // The spell hurts by 2 at most; an arrow as the archer can shoot.
        let fits = |most: u32| {
            if kind == HitKind::Magic {
                most <= 2
            } else {
                most > 2
            }
        };
        assert!(most.is_some_and(fits), "{attack}: {seen:?}");
    }
}

#[test]
fn whoever_is_attacked_stands_at_no_counter_any_more() {
    let wolf = json!({"id": "wolf", "name": "Wolf",
        "stats": {"level": 9, "health": 9_000, "strength": 1, "attack": 1},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 6, "leashRange": 9}});
    let land = Land::default()
        .beast(wolf, (6, 5))
        .station("bank", (0, 6))
        .shop("stall", (0, 4), &[("logs", 4, 9)])
        .speaker("tom", (2, 6), json!({"greeting": "Oh!"}));
    for (asks, closed) in [
        ("ann opens bank at sta:field:bank", "ann closed Bank"),
        (
            "ann opens shop at npc:field:stall_keeper",
            "ann closed Shop",
        ),
        ("ann talks to npc:field:tom", "ann closed Dialogue"),
    ] {
        let mut stage = Stage::new(&land);
        let told = stage.play(&format!("ann joins at 1 5 / ann suffers / {asks}"));
        let opened = told.contains("ann opened")
            || told.contains("ann sees stall")
            || told.contains("ann hears");
        assert!(opened && !told.contains("closed"), "{told}");
        let struck = (0..30).any(|_| {
            let told = stage.play("wait 1");
            let struck = told.contains("npc:field:wolf:6,5:0 hits ann");
            assert_eq!(told.contains(closed), struck, "{told}");
            struck
        });
        assert!(struck, "{asks}");
        let told = stage.play("ann gets 1 logs / ann buys 1 logs / ann answers 0");
        assert_eq!(told.matches("refused").count(), 3, "{told}");
    }
}

/// The bow asks for no level, which makes it one of the lowest tier.
#[test]
fn a_bow_shoots_only_arrows_of_its_tier_and_of_its_archer_s_level() {
    for (level, tier, shoots) in [(1, 1, true), (1, 2, false), (2, 1, false)] {
        let mut files = Land::default().beast(dummy(), (5, 5)).files();
        let arrow = json!({"id": "arrow", "name": "Arrow", "rangedStrength": 7,
            "requiredRangedLevel": level, "requiredBowTier": tier});
        let arrows = json!({"arrows": [arrow]});
        files.insert("ammunition.json".to_owned(), arrows.to_string());
        let mut stage = Stage::of(&files);
        stage.play("ann joins at 0 0 with bow 1 arrow 9\nann wears 0 / ann wears 1");
        let mut told = stage.play(&format!("ann attacks {DUMMY}"));
        told.push_str(&stage.play("wait 20"));
        let case = format!("level {level}, tier {tier}: {told}");
        assert_eq!(told.contains("ann hits"), shoots, "{case}");
        assert_eq!(told.contains("NoAmmunition"), !shoots, "{case}");
        let quiver = &record(&stage, "ann").equipment[&EquipSlot::Arrows];
        assert_eq!(quiver.quantity < 9, shoots, "{case}");
    }
}
