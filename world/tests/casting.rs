//! Stories about spells that are cast by themselves.

use crate::combat::{DUMMY, dummy, hits, record, watch};
use crate::stage::{Land, Stage};
use world::{Event, HitKind, Refusal, Skill, request};

#[test]
fn spells_take_runes_but_for_those_that_a_staff_stands_for() {
    let mut stage = Stage::new(&Land::default().magic().beast(dummy(), (5, 5)));
    let told = stage.play(
        "ann joins at 0 0 with air_rune 9 mind_rune 3 staff 1
         ann casts quake / ann casts nonsense / ann fights autocast
         ann casts gust / ann wears 2",
    );
    for why in ["LevelTooLow", "NotFound", "WrongStyle"] {
        assert!(told.contains(&format!("refused {why}")), "{why} in {told}");
    }
    stage.play(&format!("ann attacks {DUMMY}"));
    let seen = watch(&mut stage, 40);
    let hits = hits(&seen);
    assert_eq!(hits.len(), 3, "one for each mind rune");
    assert!(
        hits.iter()
            .all(|hit| hit.kind == HitKind::Magic && hit.damage <= 2)
    );
    let left = record(&stage, "ann").inventory;
    let left: Vec<(&str, u32)> = left.values().map(|s| (&*s.item, s.quantity)).collect();
    assert_eq!(left, [("air_rune", 9)]);
    let xp = record(&stage, "ann").skill(Skill::Magic).xp_tenths;
    let damage: u64 = hits.iter().map(|hit| u64::from(hit.damage)).sum();
    assert_eq!(
        xp,
        3 * 55 + 20 * damage,
        "for each cast, and for what it took"
    );
    let failed = seen.iter().flat_map(|o| &o.events).any(|event| {
        matches!(
            event,
            Event::Request(request::Event::Failed {
                refusal: Refusal::NoRunes,
                ..
            })
        )
    });
    assert!(failed);
}

#[test]
fn another_weapon_in_the_hand_ends_casting() {
    let mut stage = Stage::new(&Land::default().magic().beast(dummy(), (5, 5)));
    stage.play(
        "ann joins at 0 0 with air_rune 9 mind_rune 1 bow 1 arrow 3 staff 1
         ann casts gust / ann wears 4",
    );
    assert!(
        record(&stage, "ann").combat_settings.spell.is_some(),
        "a staff casts"
    );
    stage.play(&format!("ann attacks {DUMMY}"));
    let cast = hits(&watch(&mut stage, 20)).len();
    assert_eq!(cast, 1, "there was one mind rune");
    // The runes are out: the bow is to shoot.
    stage.play("ann wears 2 / ann wears 3");
    assert_eq!(record(&stage, "ann").combat_settings.spell, None);
    stage.play(&format!("ann attacks {DUMMY}"));
    let shot = hits(&watch(&mut stage, 40));
    assert_eq!(shot.len(), 3, "one for each arrow");
    assert!(shot.iter().all(|hit| hit.kind == HitKind::Ranged));
    // A spell chosen while she wields the bow is cast all the same.
    stage.play("ann casts gust");
    assert!(record(&stage, "ann").combat_settings.spell.is_some());
}
