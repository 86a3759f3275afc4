//! Stories about the table of rare things.

use std::collections::BTreeMap;

use crate::stage;

use serde_json::{Value, json};
use stage::{Land, Stage};

const RAT: &str = "npc:field:rat:2,0:0";

fn files(drops: Value, table: Option<Value>) -> BTreeMap<String, String> {
    let rat = json!({"id": "rat", "name": "rat", "stats": {"level": 1, "health": 1},
        "combat": {"attackable": true, "retaliates": false}, "drops": drops});
    let mut files = Land::default().beast(rat, (2, 0)).files();
    let table = table.map(|table| ("rare-drops.json".to_owned(), table.to_string()));
    files.extend(table);
    files
}

/// Returns the things that lie where the rat died.
fn left(drops: Value, table: Option<Value>) -> Vec<String> {
    let mut stage = Stage::of(&files(drops, table));
    let told = stage.play(&format!(
        "ann joins at 0 0 trained attack=9000000,strength=9000000
         ann attacks {RAT}
         wait 20"
    ));
    let died = told.lines().find(|line| line.contains("left 0 dead"));
    let died = died.unwrap_or_else(|| panic!("the rat lives: {told}"));
    let things = died.split("; ").filter(|part| part.starts_with('#'));
    things.map(ToOwned::to_owned).collect()
}

#[test]
fn one_thing_of_the_table_is_left_besides_what_always_is() {
    let drops = json!({"rareDropTable": true, "rareDropTableChance": 1,
        "always": [{"itemId": "bones", "chance": 1}]});
    let table = json!({"drops": [{"itemId": "candle", "minQuantity": 3, "weight": 5},
        {"itemId": "cake", "weight": 0}]});
    let left = left(drops, Some(table));
    assert_eq!(left, ["#1 2,0 bones 1 ann", "#2 2,0 candle 3 ann"]);
}

#[test]
fn nothing_of_it_is_left_where_nobody_says_so() {
    let table = json!([{"itemId": "candle", "minQuantity": 3}]);
    for drops in [
        json!({"rareDropTableChance": 1}),
        json!({"rareDropTable": false, "rareDropTableChance": 1}),
        json!({"rareDropTable": true}),
        json!({"rareDropTable": true, "rareDropTableChance": 0}),
    ] {
        assert_eq!(left(drops.clone(), Some(table.clone())), [""; 0], "{drops}");
    }
    let drops = json!({"rareDropTable": true, "rareDropTableChance": 1});
    assert_eq!(left(drops, None), [""; 0], "there is no table");
}

#[test]
fn what_is_not_there_is_warned_of_and_never_left() {
    let drops = json!({"rareDropTable": true, "rareDropTableChance": 1});
    let table = json!([{"itemId": "bell"}, {"weight": 3}]);
    let loaded = world::Content::load(&files(drops.clone(), Some(table.clone()))).unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(left(drops, Some(table)), [""; 0]);
}
