//! Stories about things that no manifest describes any more: they are kept as they are, and are
//! good for nothing.

use crate::stage;

use stage::{Land, Stage};
use world::{CharacterId, content::Content};

/// Nobody describes it.
const RELIC: &str = "relic_of_old";

/// Returns ann's pack, by slot.
fn pack(stage: &Stage) -> Vec<(u8, String, u32)> {
    let record = stage.world.record(&CharacterId::from("ann")).unwrap();
    let pack = record.inventory.iter();
    pack.map(|(slot, stack)| (*slot, stack.item.to_string(), stack.quantity))
        .collect()
}

/// Plays a story of ann, who came with a relic and logs, and of bob beside her.
fn story(script: &str, land: &Land) -> (String, Stage) {
    let mut stage = Stage::new(land);
    stage.play(&format!(
        "ann joins at 0 0 with {RELIC} 1 logs 1 / bob joins at 1 0 with logs 1"
    ));
    let told = stage.play(script);
    (told, stage)
}

fn kept(stage: &Stage) {
    let whole = [(0, RELIC.to_owned(), 1), (1, "logs".to_owned(), 1)];
    assert_eq!(pack(stage), whole);
}

#[test]
fn what_nobody_describes_is_neither_used_nor_worn() {
    assert!(Content::embedded().item(RELIC).is_none());
    let land = Land::default();
    for (request, refusal) in [
        ("ann uses 0", "Unsupported"),
        ("ann wears 0", "NotWearable"),
        ("ann uses 0 with 1", ""),
        ("ann uses 1 with 0", ""),
    ] {
        let (told, stage) = story(request, &land);
        assert!(told.contains("ann refused "), "{request}: {told}");
        assert!(
            told.contains(&format!("ann refused {refusal}")),
            "{request}: {told}"
        );
        kept(&stage);
    }
}

#[test]
fn what_nobody_describes_is_not_traded() {
    let (told, stage) = story(
        "ann trades bob
         bob agrees to trade
         ann offers 0
         bob offers 0",
        &Land::default(),
    );
    assert!(told.contains("InvalidItem"), "{told}");
    kept(&stage);
}

#[test]
fn what_nobody_describes_is_not_sold() {
    let land = Land::default().shop("stall", (2, 0), &[("logs", 4, 3), ("candle", 3, -1)]);
    let (told, stage) = story(
        "ann opens shop at npc:field:stall_keeper
         wait 3
         ann sells 1 of 0",
        &land,
    );
    assert!(told.contains("ann sees stall"), "{told}");
    assert!(told.contains("ann refused NotBought"), "{told}");
    kept(&stage);
}

#[test]
fn what_nobody_describes_is_still_its_owners_to_arrange() {
    let (told, stage) = story("ann puts 0 into 9", &Land::default());
    assert!(!told.contains("refused"), "{told}");
    assert_eq!(pack(&stage)[1], (9, RELIC.to_owned(), 1), "{told}");
}
