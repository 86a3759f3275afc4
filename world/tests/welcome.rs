//! The round on which the mayor sends new characters, in the world that ships.

use std::collections::BTreeMap;

use crate::stage;

use stage::{Land, Stage};
use world::quests::QuestStatus;
use world::{CharacterId, Content, Tile, inspect};

const ROUND: &str = "first_things_first";
const MAYOR: &str = "npc:tilestead:mayor_grout";
/// Ticks after which a deed has surely come about, or never will.
const PATIENCE: u32 = 600;

fn files() -> BTreeMap<String, String> {
    let files = Content::embedded_files().iter();
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    files.map(owned).collect()
}

/// A new character on its round.
struct Round {
    stage: Stage,
    told: String,
}

impl Round {
    fn begins() -> Round {
        let mut stage = Stage::of(&files());
        stage.play("ann joins at 0 -6 new");
        let told = String::new();
        Round { stage, told }
    }

    fn record(&self) -> &world::PlayerRecord {
        self.stage.world.player(&"ann".into()).unwrap().record()
    }

    fn step(&self) -> String {
        let state = &self.record().quests[ROUND];
        state.stage.as_deref().unwrap_or("none").to_owned()
    }

    fn slot(&self, item: &str) -> u8 {
        let mut pack = self.record().inventory.iter();
        let found = pack.find(|(_, stack)| &*stack.item == item);
        *found.unwrap_or_else(|| panic!("{item} is in the pack")).0
    }

    /// Plays the script, and keeps what ann heard.
    fn play(&mut self, script: &str) {
        let told = self.stage.play(script);
        let parts = told.split(['\n', ';']);
        let own = parts.filter(|part| part.split(' ').any(|word| word == "ann"));
        self.told
            .extend(own.map(|part| format!("{}\n", part.trim())));
        // A driver would hand the player over at the border.
        let region = world::Region::from(self.record().tile);
        self.stage.world.set_region(&"ann".into(), region);
    }

    /// Walks next to a place.
    fn goes(&mut self, x: i32, z: i32) {
        let goal = Tile::new(x, z);
        self.play(&format!("ann runs to {x} {z}"));
        for _ in 0..PATIENCE {
            if self.record().tile.steps_to(goal) <= 1 {
                return;
            }
            self.play("wait 1");
        }
        panic!("({x}, {z}) is out of reach: {}", self.told);
    }

    /// Asks for something, again and again if it comes to nothing, until the next step is under
    /// way.
    fn does(&mut self, command: &str, next: &str) {
        for tick in 0..PATIENCE {
            let said = if tick % 20 == 0 { command } else { "wait 1" };
            self.play(said);
            if self.step() == next {
                return;
            }
        }
        panic!("{command}: still at {}: {}", self.step(), self.told);
    }

    /// Plays the round up to the way back.
    fn plays(&mut self) {
        self.does(&format!("ann talks to {MAYOR}"), "chop");
        self.goes(-12, 15);
        self.does("ann gathers res:tree_normal:-12,16", "light");
        self.goes(-13, 17);
        self.does("ann light logs times 1", "fish");
        self.goes(-31, 29);
        self.does("ann gathers res:spot_pond_net:-31,34", "cook");
        self.goes(-29, 29);
        self.does(
            "ann cook raw_sprat at sta:tilestead:tilestead_range_37 times 1",
            "wield",
        );
        let sword = self.slot("bronze_shortsword");
        self.does(&format!("ann wears {sword}"), "spar");
        self.goes(-20, 31);
        self.fights("sell");
        self.goes(9, -4);
        self.play("ann opens shop at npc:tilestead:nettle_stall\nwait 5");
        let candle = self.slot("candle");
        self.does(&format!("ann sells 1 of {candle}"), "bank");
        self.goes(20, 9);
        self.play("ann opens bank at npc:tilestead:ada_vault\nwait 5");
        let bread = self.slot("bread");
        self.does(&format!("ann banks 1 of {bread}"), "pray");
        self.goes(-13, 26);
        self.does("ann prays at sta:tilestead:tilestead_altar_8", "back");
    }

    /// Knocks down the nearest understudy.
    fn fights(&mut self, next: &str) {
        for _ in 0..PATIENCE {
            let at = self.record().tile;
            let near = self.stage.world.entities_near(at, 12).into_iter();
            let mut near = near.filter(|id| id.as_str().contains("straw_understudy"));
            if let Some(foe) = near.next() {
                let attack = format!("ann attacks {foe}");
                self.play(&attack);
            }
            self.play("wait 5");
            if self.step() == next {
                return;
            }
        }
        panic!("nobody falls: {}", self.told);
    }
}

#[test]
fn a_new_character_is_led_from_the_fountain_to_the_altar_and_back() {
    let mut round = Round::begins();
    assert_eq!(round.step(), "greet", "it begins by itself");
    round.plays();
    let health = round.record().health;
    assert_eq!(health, round.record().max_health(), "nothing hurt it");
    round.goes(2, -5);
    round.play(&format!("ann talks to {MAYOR}\nwait 6"));
    let coins = round.record().coins;
    round.play("ann goes on");
    let state = &round.record().quests[ROUND];
    assert_eq!(state.status(), QuestStatus::Completed, "{}", round.told);
    assert_eq!(round.record().coins, coins + 100);
    assert!(round.slot("patient_lamp") < 28);
}

#[test]
fn the_round_can_be_left_in_a_talk_and_taken_up_again_where_it_was() {
    let mut round = Round::begins();
    round.does(&format!("ann talks to {MAYOR}"), "chop");
    let told = round.stage.play("ann answers 2");
    assert!(
        told.contains("ann first_things_first: NotStarted"),
        "{told}"
    );
    assert!(
        told.contains("ann hears Mayor Grout: So did the Founder"),
        "{told}"
    );
    // Nobody stops it: what else the mayor has to say is said as to everybody.
    let told = round.stage.play(&format!(
        "ann goes on
         ann talks to {MAYOR}
         ann answers 1
         ann goes on
         ann accepts {ROUND}"
    ));
    assert!(told.contains("[1 Would you show me round?]"), "{told}");
    assert_eq!(round.step(), "chop", "the greeting is done: {told}");
}

#[test]
fn the_mayor_says_at_each_step_what_comes_next() {
    let mut round = Round::begins();
    round.does(&format!("ann talks to {MAYOR}"), "chop");
    assert!(
        round.told.contains("Mayor Grout: A new face!"),
        "{}",
        round.told
    );
    round.goes(-12, 15);
    round.does("ann gathers res:tree_normal:-12,16", "light");
    round.goes(2, -5);
    let told = round.stage.play(&format!("ann talks to {MAYOR}\nwait 4"));
    assert!(
        told.contains("Mayor Grout: Wood! Now set it alight."),
        "{told}"
    );
}

/// A saved character, a new one that brings a level, and one that was here before.
#[test]
fn only_new_characters_are_sent_on_the_round() {
    for (joins, begins) in [
        ("ann joins at 0 -6 new", true),
        ("ann joins at 0 -6", false),
        ("ann joins at 0 -6 new trained agility=8300", false),
    ] {
        let mut stage = Stage::of(&files());
        stage.play(joins);
        let record = stage.world.record(&CharacterId::from("ann")).unwrap();
        assert_eq!(record.quests.contains_key(ROUND), begins, "{joins}");
    }
}

#[test]
fn newcomers_stand_where_they_see_the_mayor() {
    let content = Content::embedded();
    let regions = content.regions();
    let mut npcs = regions.iter().flat_map(|region| content.npcs_in(*region));
    let mayor = npcs.find(|npc| &*npc.kind.id == "mayor_grout").unwrap();
    let mut stage = Stage::of(&files());
    for n in 0..60 {
        stage.play(&format!("n{n} joins at 0 -6 new"));
    }
    for player in stage.world.players() {
        let tile = player.record().tile;
        let far = tile.steps_to(mayor.tile);
        assert!(far <= 12, "{tile:?} is {far} steps from {:?}", mayor.tile);
    }
    let trivet = regions.iter().flat_map(|region| content.npcs_in(*region));
    let mut trivet = trivet.filter(|npc| &*npc.kind.id == "little_trivet");
    let far = trivet.next().unwrap().tile.steps_to(content.spawn());
    assert!(
        far >= 30,
        "the geese are asked for {far} steps from the spawn"
    );
}

/// One with a single point of health, whom it fights for half an hour.
#[test]
fn a_harmless_foe_never_takes_health() {
    for (harmless, falls) in [(true, false), (false, true)] {
        let foe = serde_json::json!({"id": "straw", "name": "straw",
            "stats": {"level": 90, "attack": 90, "strength": 90, "defense": 90, "health": 9000},
            "combat": {"attackable": true, "harmless": harmless, "aggressive": true,
                "aggroRange": 5, "poisonous": true}});
        let mut stage = Stage::new(&Land::default().beast(foe, (4, 4)));
        let told = stage.play(
            "ann joins at 4 5 health 1
             ann suffers
             ann attacks npc:field:straw:4,4:0
             wait 3000",
        );
        assert_eq!(told.contains("ann died"), falls, "{harmless}: {told}");
        let health = stage
            .world
            .record(&CharacterId::from("ann"))
            .unwrap()
            .health;
        assert!(health >= 1, "{harmless}: {health}");
    }
}

/// Returns the faults of the world that ships, with a change to its quests.
fn faults(from: &str, to: &str) -> String {
    let mut files = files();
    let quests = files.get_mut("quests.json").unwrap();
    assert!(quests.contains(from), "quests.json says {from}");
    *quests = quests.replacen(from, to, 1);
    let content = Content::load(&files).unwrap().content;
    let faults: Vec<String> = inspect(&content).iter().map(ToString::to_string).collect();
    faults.join("\n")
}

#[test]
fn nobody_is_sent_against_what_kills_them() {
    for (from, to, fault) in [
        (
            "\"target\":\"bog_toad\"",
            "\"target\":\"furious_goose\"",
            "",
        ),
        (
            "\"target\": \"straw_understudy\"",
            "\"target\": \"opinionated_hen\"",
            "quest first_things_first: stage spar: sends new characters against opinionated_hen",
        ),
        (
            "    \"recommendedLevel\": 10,\n",
            "",
            "quest wild_goose_chase: stage geese: sends players of level 3 against furious_goose",
        ),
        (
            "\"type\":\"pray\"",
            "\"type\":\"wield\",\"target\":\"logs\"",
            "quest first_things_first: stage pray: nobody can wield \"logs\"",
        ),
        (
            "\"type\": \"deposit\"",
            "\"type\": \"sell\", \"target\": \"moonbeam\"",
            "quest first_things_first: stage bank: nobody can get \"moonbeam\"",
        ),
    ] {
        let faults = faults(from, to);
        assert!(faults.contains(fault), "{fault:?} is not among\n{faults}");
        assert_eq!(faults.is_empty(), fault.is_empty(), "{faults}");
    }
}
