//! Manifests of every generation load unmodified, with just the warnings that they earn.
//!
//! The fixtures are invented; their shapes and faults are those of real files. Since 2026 a
//! folder holds what changed against the one before it.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test may read its fixtures, the world may not"
)]

use std::collections::BTreeMap;
use std::path::Path;

use world::content::{
    AttackType, Effect, EquipSlot, Fletching, Movement, Note, ServiceKind, StageKind, ToolNeed,
};
use world::{Content, ContentError, EntityId, Loaded, Skill, Tile};

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{prefix}{name}/"), files);
        } else {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            files.insert(format!("{prefix}{name}"), text);
        }
    }
}

/// Returns the manifests of these folders, a later one's before an earlier one's.
fn files(generations: &[&str]) -> BTreeMap<String, String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut files = BTreeMap::new();
    for generation in generations {
        read(&fixtures.join(generation), "", &mut files);
    }
    files
}

/// Returns the content of these folders.
pub(crate) fn load(generations: &[&str]) -> Loaded {
    Content::load(&files(generations)).expect("it loads")
}

fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

const FEB: [&str; 2] = ["jan_2026", "feb_2026"];
const JUN: [&str; 3] = ["jan_2026", "feb_2026", "jun_2026"];

#[test]
fn october_2025_loads_with_the_reeds_that_nothing_describes() {
    let loaded = load(&["oct_2025"]);
    assert_eq!(
        warnings(&loaded),
        ["biomes.json: [0].resources[0]: there is no resource \"reeds\", none is there"]
    );
    let content = loaded.content;

    let blade = content.item("pewter_blade").unwrap();
    assert_eq!(blade.equip_slot, Some(EquipSlot::Weapon));
    let weapon = blade.weapon.as_ref().unwrap();
    assert_eq!(weapon.speed_ticks, 4, "2400 ms");
    assert_eq!(
        (blade.bonuses.attack_stab, blade.bonuses.melee_strength),
        (4, 3)
    );
    let shield = content.item("pewter_shield").unwrap();
    assert_eq!(shield.bonuses.defense_magic, 5, "from `stats`");
    assert_eq!(content.item("damp_fish").unwrap().heals, 3);
}

#[test]
fn people_and_beasts_of_october_2025_are_understood() {
    let content = load(&["oct_2025"]).content;
    let gnat = content.npc_kinds().get("gnat").unwrap();
    assert_eq!((gnat.level, gnat.health, gnat.leash_tiles), (2, 6, 9));
    assert!(gnat.fight.aggressive && gnat.attackable);
    assert_eq!((gnat.fight.aggro_tiles, gnat.fight.range_tiles), (5, 1));
    assert_eq!(
        (gnat.fight.speed_ticks, gnat.fight.respawn_ticks),
        (3, 50),
        "1.8 s, 30 s"
    );
    assert_eq!(gnat.tiles_per_tick, 2);
    let chances = |id: &str| -> Vec<u32> {
        let kind = content.npc_kinds().get(id).unwrap();
        kind.drops
            .entries
            .iter()
            .map(|d| d.chance_millionths)
            .collect()
    };
    assert_eq!(chances("gnat"), [1_000_000, 250_000]);
    assert_eq!(
        chances("mudling"),
        [1_000_000, 500_000, 10_000],
        "of its table"
    );

    let keeper = content.npc_kinds().get("vault_keeper").unwrap();
    assert!(!keeper.attackable);
    assert_eq!(keeper.services.kinds, [ServiceKind::Bank]);
    let said = keeper.dialogue.as_ref().unwrap();
    let node = &said.nodes[&said.entry];
    assert_eq!(node.text.as_ref(), "Everything is still here.\nI counted.");
    assert!(node.answers.is_empty(), "one node, at which the talk ends");
}

#[test]
fn a_place_of_october_2025_that_names_an_item_gives_it() {
    let content = load(&["oct_2025"]).content;
    let tree = content
        .fixture(&EntityId::from("res:kindling:10,10"))
        .unwrap();
    assert_eq!(
        tree.of.as_ref(),
        "dead_tree",
        "the kind that gives what the place names"
    );
    assert_eq!(tree.respawn_ticks, Some(100));
    let dead = content.resources().get("dead_tree").unwrap();
    assert_eq!(
        (dead.cycle_ticks, dead.respawn_ticks),
        (5, 100),
        "3 s, 60 s"
    );
    let spot = content
        .resources()
        .get("damp_fish")
        .expect("made of the item");
    assert_eq!((spot.level, spot.skill), (5, Some(Skill::Fishing)));
    let beasts = content.regions().into_iter();
    let gnats = beasts.flat_map(|r| content.npcs_in(r).to_vec());
    let timed = gnats.filter(|npc| npc.kind.id.as_ref() == "gnat" && npc.respawn_ticks == 50);
    assert_eq!(timed.count(), 3);
}

#[test]
fn december_2025_loads_with_what_dangles_and_what_is_no_area() {
    let loaded = load(&["dec_2025"]);
    assert_eq!(
        warnings(&loaded),
        [
            "world-areas.json: level1Areas.not_an_area: not an object, skipped",
            "biomes.json: [0].mobs[1]: there is no NPC \"bog_bandit\", none live there",
        ]
    );
    let content = loaded.content;
    let rat = content.npc_kinds().get("bog_rat").unwrap();
    assert_eq!(
        (rat.fight.speed_ticks, rat.fight.respawn_ticks),
        (4, 25),
        "from ms"
    );
    assert_eq!(rat.movement, Movement::Wander { radius: 6 });
    assert_eq!(rat.drops.entries.len(), 1, "the default drop is off");

    let recipes = content.recipes();
    let cooking = recipes.cooking.get("raw_loach").unwrap();
    assert_eq!((cooking.safe_on_fire, cooking.safe_on_range), (34, 33));
    assert_eq!(
        recipes
            .firemaking
            .get("alder_logs")
            .unwrap()
            .effort
            .xp_tenths,
        405
    );
    assert_eq!(recipes.smelting.get("bronze_bar").unwrap().inputs.len(), 2);
    let sword = recipes.smithing.get("bronze_shortsword").unwrap();
    assert_eq!((sword.bar.as_ref(), sword.effort.level), ("bronze_bar", 4));
    assert!(
        content.items().contains("bronze_sword"),
        "the old name of the shortsword"
    );
    assert!(content.items().contains("bronze_sword_noted"));
    assert_eq!(recipes.len(), 4);

    let clerk = content
        .npc_kinds()
        .get("clerk")
        .unwrap()
        .dialogue
        .clone()
        .unwrap();
    let hello = &clerk.nodes["hello"];
    assert_eq!(hello.answers[0].effect, Some(Effect::OpenBank));
    assert_eq!(hello.answers[1].next, None, "ends the talk");
}

#[test]
fn january_2026_loads_without_a_warning() {
    let loaded = load(&["jan_2026"]);
    assert_eq!(warnings(&loaded), [""; 0]);
    let content = loaded.content;
    let levels = |id: &str| content.item(id).unwrap().requires.clone();
    assert_eq!(levels("bronze_sword"), BTreeMap::from([(Skill::Attack, 1)]));
    assert_eq!(
        levels("steel_sword"),
        BTreeMap::from([(Skill::Attack, 5)]),
        "of its tier"
    );
    let pickaxe = BTreeMap::from([(Skill::Attack, 5), (Skill::Mining, 6)]);
    assert_eq!(levels("steel_pickaxe"), pickaxe);
    assert_eq!(levels("hand_net"), BTreeMap::new(), "the tier has no row");
    let actions = |id: &str| content.item(id).unwrap().actions.join(" ");
    assert_eq!(actions("perch"), "Eat Use Drop Examine");
    assert_eq!(actions("bronze_sword"), "Wield Use Drop Examine");

    let rock = content.resources().get("ore_iron").unwrap();
    assert_eq!(rock.tool, ToolNeed::Any(Skill::Mining));
    assert_eq!(rock.yields[1].chance_millionths, 4_000);
    let spot = content.resources().get("spot_bait").unwrap();
    assert_eq!(spot.yields[0].catch, Some((32, 115)));
    assert_eq!(spot.bait.as_deref(), Some("bait"));
    assert_eq!(
        content
            .recipes()
            .firemaking
            .get("logs")
            .unwrap()
            .effort
            .xp_tenths,
        3_038
    );
    assert_eq!(
        content
            .recipes()
            .smelting
            .get("iron_bar")
            .unwrap()
            .success_millionths,
        500_000
    );
    let attack = &content.unlocks()[&Skill::Attack];
    assert_eq!((attack[0].level, attack[1].level), (1, 5), "by level");
    assert!(
        content.unlocks().contains_key(&Skill::Defense),
        "written defence"
    );
    assert_eq!(content.areas()[0].fishing.as_ref().unwrap().spots, 2);
}

#[test]
fn february_2026_loads_with_what_dangles_in_it() {
    let loaded = load(&FEB);
    let mut found = warnings(&loaded);
    found.sort();
    assert_eq!(
        found,
        [
            "ammunition.json: arrows: says nothing of \"glass_arrow\", the item's own bonuses count",
            "biomes.json: [0].mobs[1]: there is no NPC \"bog_bandit\", none live there",
            "biomes.json: [0].mobs[2]: there is no NPC \"bog_barbarian\", none live there",
            "gathering/mining.json: rocks[1].harvestYield[0].itemId: there is no item \
             \"gold_ore\", it is not given",
            "prayers.json: prayers[0].conflicts[1]: there is no prayer \"iron_neck\", nothing ends",
            "recipes/cooking.json: recipes[0].burnt: there is no item \"burnt_bream\", nothing \
             is left of it when it burns",
            "tools.json: [1].itemId: there is no item \"opal_hatchet\", nobody can have it",
            "tools.json: [2].itemId: there is no item \"opal_pickaxe\", nobody can have it",
        ]
    );
    assert!(loaded.strict().is_ok(), "production plays it");
}

#[test]
fn items_of_february_2026_are_understood() {
    let content = load(&FEB).content;
    let item = |id: &str| content.item(id).unwrap();
    assert_eq!(item("steel_sword").equip_slot, Some(EquipSlot::Weapon));
    assert!(item("steel_sword").two_handed && item("oak_bow").two_handed);
    assert_eq!(
        item("oak_bow").weapon.as_ref().unwrap().attack,
        AttackType::Ranged
    );
    let studded = BTreeMap::from([(Skill::Ranged, 20), (Skill::Defense, 20)]);
    assert_eq!(item("studded_body").requires, studded);
    assert_eq!(
        item("steel_helm").requires,
        BTreeMap::from([(Skill::Defense, 5)])
    );
    let mystic = BTreeMap::from([(Skill::Magic, 40), (Skill::Defense, 20)]);
    assert_eq!(item("mystic_hat").requires, mystic);
    assert_eq!(item("mystic_hat").bonuses.prayer, 2);
    assert_eq!(item("obsidian_cape").requires, BTreeMap::new());
    assert_eq!(item("bones").bury_xp_tenths, 45);
    assert_eq!(item("study_lamp").lamp.unwrap().xp_tenths, 2_500);
    assert_eq!(item("studded_body").weight_grams, 3_000);

    assert_eq!(
        item("studded_body").note,
        Note::Has("studded_body_noted".into())
    );
    let paper = item("studded_body_noted");
    assert!(paper.stackable && paper.is_note() && paper.equip_slot.is_none());
    assert_eq!((paper.weight_grams, paper.value), (0, 500));
    assert_eq!(content.unnoted("studded_body_noted"), "studded_body");
    for without in ["coins", "feathers", "study_lamp", "essence"] {
        assert_eq!(item(without).note, Note::None, "{without}");
    }
}

#[test]
fn what_is_made_and_known_in_february_2026_is_understood() {
    let content = load(&FEB).content;
    let recipes = content.recipes();
    let shafts = |of: &str| recipes.fletching.get(&Fletching::key("shaft", of)).unwrap();
    assert_eq!(
        (shafts("logs").quantity, shafts("oak_bow").quantity),
        (15, 30)
    );
    let body = recipes.crafting.get("studded_body").unwrap();
    assert_eq!((body.consumed[0].uses, &body.station), (5, &None));
    assert_eq!(
        recipes.tanning.get("cowhide").unwrap().output.as_ref(),
        "leather"
    );
    assert_eq!(
        recipes.runecrafting.get("air").unwrap().more_from,
        [11, 22, 33]
    );
    let neck = content.prayers().get("stiff_neck").unwrap();
    assert_eq!(
        (neck.defense_thousandths, neck.attack_thousandths),
        (1_050, 1_000)
    );
    let gust = content.spells().get("gust_strike").unwrap();
    assert_eq!(
        (gust.xp_tenths, gust.group.as_ref(), gust.runes.len()),
        (55, "strike", 2)
    );
    let arrow = |id: &str| content.arrows().get(id).unwrap().ranged_strength;
    assert_eq!((arrow("bronze_arrow"), arrow("glass_arrow")), (7, 49));
    assert_eq!(content.runes().staves["air_staff"][0].as_ref(), "air_rune");
    assert_eq!(content.tools().len(), 3, "what dangles stays");
    let quest = content.quests().get("stamp_duty").unwrap();
    assert_eq!(quest.stages[3].place, Some((Tile::new(3, 3), 4)));
    assert_eq!(
        (&quest.stages[2].kind, quest.xp_tenths[&Skill::Attack]),
        (&StageKind::Interact, 375)
    );
    assert_eq!(content.duel_arenas().arenas[0].size, (16, 16));
}

#[test]
fn people_who_are_placed_say_their_own_words_and_areas_hold_zones() {
    let content = load(&FEB).content;
    let placed = content.regions().into_iter();
    let placed: Vec<_> = placed.flat_map(|r| content.npcs_in(r).to_vec()).collect();
    let nurse = placed
        .iter()
        .find(|npc| npc.service.as_ref() == "healer")
        .unwrap();
    assert_eq!(nurse.name.as_ref(), "Pit nurse");
    let said = nurse.dialogue.as_ref().unwrap();
    assert_eq!(said.nodes[&said.entry].effect, Some(Effect::Heal));
    let clerk = placed
        .iter()
        .find(|npc| npc.kind.id.as_ref() == "clerk")
        .unwrap();
    assert_eq!(clerk.store.as_deref(), Some("quay_shop"));
    assert!(
        clerk
            .dialogue
            .as_ref()
            .unwrap()
            .overrides
            .contains_key("stamp_duty")
    );
    let witch = placed
        .iter()
        .find(|npc| npc.kind.id.as_ref() == "bog_witch")
        .unwrap();
    assert_eq!(witch.kind.fight.spell.as_deref(), Some("gust_strike"));
    assert_eq!(witch.respawn_ticks, 50);

    let pit = content.area_at(Tile::new(50, 50)).unwrap();
    assert_eq!(pit.id, "pit", "the smallest around it");
    let arenas = pit.sub_zones.iter().find(|zone| zone.duel_only).unwrap();
    let grid = arenas.arenas.unwrap();
    assert_eq!(
        (grid.count, grid.columns, grid.rows, grid.length),
        (6, 2, 3, 24)
    );
    assert_eq!(
        content.area_at(Tile::new(0, 0)).unwrap().flat_zones[0].width,
        20
    );
}

#[test]
fn things_cover_what_was_measured_of_their_models() {
    let content = load(&FEB).content;
    let sides = |id: &str| {
        let covers = content.fixture(&EntityId::from(id)).expect(id).covers;
        (covers.max_x - covers.min_x, covers.max_z - covers.min_z)
    };
    assert_eq!(
        sides("sta:quay:anvil_1"),
        (2, 1),
        "3.2 x 1 at half its size, by its type"
    );
    assert_eq!(
        sides("sta:quay:furnace_1"),
        (2, 3),
        "2 x 1 and a half more, turned"
    );
    assert_eq!(sides("sta:quay:range_1"), (2, 2), "large");
    assert_eq!(sides("sta:quay:quiet"), (1, 1), "not measured");
    assert_eq!(
        sides("res:ore_iron:-8,3"),
        (2, 2),
        "1 x 0.9, twice as large"
    );
    assert_eq!(sides("res:tree_plain:-18,3"), (1, 1), "a trunk");
    let furnace = content
        .fixture(&EntityId::from("sta:quay:furnace_1"))
        .unwrap();
    assert_eq!(furnace.blocks.len(), 6);
    let free = furnace
        .blocks
        .iter()
        .find(|tile| content.terrain().walkable(**tile));
    assert_eq!(free, None, "nobody stands in it");
    let Tile { x, z } = furnace.tile;
    let far = |x, z| furnace.distance(Tile::new(x, z));
    assert_eq!(
        (far(x, z), far(x + 1, z), far(x, z - 2), far(x + 3, z)),
        (0, 1, 1, 3)
    );
}

#[test]
fn june_2026_loads_with_what_lies_outside_its_areas() {
    let loaded = load(&JUN);
    let before = warnings(&load(&FEB));
    let mut new: Vec<String> = warnings(&loaded);
    new.retain(|warning| !before.contains(warning));
    assert_eq!(
        new,
        [
            "world-areas.json: starterTowns.quay.bounds: all 9 placed things lie outside, and \
             inside when moved by its centre (294, 280): they are moved",
            "world-areas.json: specialAreas.pit.bounds: 2 of 2 placed things lie outside, and \
             stay there",
            "quests.json: plumage.stages[0].target: there is no item \"feather\", it can never \
             be done",
            "world-areas.json: starterTowns.quay.resources[1].resourceId: there is no resource \
             \"tree_crooked\", it only stands there",
        ]
    );
    assert_eq!(loaded.warnings.len(), before.len() + 4);
    let content = loaded.content;
    assert!(
        content.items().contains("bronze_sword"),
        "renamed, and sold by its old name"
    );
    assert!(content.items().contains("bronze_scimitar"));
}

/// June's town lies where it lies, but counts the places of its things from its centre.
#[test]
fn things_that_an_area_places_around_0_0_stand_around_its_centre() {
    let content = load(&JUN).content;
    let spawn = content.spawn();
    assert_eq!(spawn, Tile::new(294, 280));
    let town = content.area_at(spawn).unwrap();
    let regions = content.regions();
    let npcs = regions.iter().flat_map(|r| content.npcs_in(*r));
    let clerk = npcs.clone().find(|npc| npc.service.as_ref() == "bank");
    assert_eq!(clerk.unwrap().tile, spawn.moved(4, 4));
    let fixtures = regions.iter().flat_map(|r| content.fixtures_in(*r));
    let fixtures: Vec<_> = fixtures.collect();
    let anvil = fixtures.iter().find(|f| f.sort.as_ref() == "anvil");
    let anvil = anvil.unwrap();
    assert_eq!(anvil.tile, spawn.moved(2, 12));
    assert!(!content.terrain().walkable(anvil.tile), "it is in the way");
    assert_eq!(town.flat_zones[0].center, spawn);

    let places: Vec<Tile> = npcs.map(|npc| npc.tile).collect();
    let places = places.into_iter().chain(fixtures.iter().map(|f| f.tile));
    let seen = places.filter(|at| at.steps_to(spawn) <= 32).count();
    assert_eq!(seen, 9, "who appears there sees all of it");
    // The pit's things would not lie in the pit: they stay where they are.
    let mut pit = content.npcs_in(world::Region { x: 0, z: 0 }).iter();
    let nurse = pit.find(|npc| npc.service.as_ref() == "healer");
    assert_eq!(nurse.unwrap().tile, Tile::new(50, 50));
}

#[test]
fn what_people_do_to_files_is_said_and_stops_nothing_that_is_not_required() {
    let mut files = files(&FEB);
    let bounds = &files["model-bounds.json"];
    let marked = format!("<<<<<<< HEAD\n{bounds}\n=======\n{bounds}\n>>>>>>> other\n");
    files.insert("model-bounds.json".to_owned(), marked);
    let loaded = Content::load(&files).unwrap();
    let warning = loaded
        .warnings
        .iter()
        .find(|w| w.file == "model-bounds.json")
        .unwrap();
    assert_eq!(
        warning.what,
        "cannot be read and is left out: has conflict markers, the first in line 1"
    );

    let unbalanced = files["world-areas.json"].replacen('}', "", 1);
    files.insert("world-areas.json".to_owned(), unbalanced);
    let error = Content::load(&files).map(|_| ()).unwrap_err();
    let ContentError::Broken { file, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(file, "world-areas.json");
}

#[test]
fn an_item_that_is_there_twice_is_played_in_development_and_refused_in_production() {
    let mut files = files(&FEB);
    let misc = files["items/misc.json"].replacen("\"bones\"", "\"perch\"", 1);
    files.insert("items/misc.json".to_owned(), misc);
    let loaded = Content::load(&files).unwrap();
    assert_eq!(
        loaded.content.item("perch").unwrap().name.as_ref(),
        "Bones",
        "the last counts"
    );
    let twice = "items/misc.json: [1].id: perch is there twice, the last one counts";
    assert!(warnings(&loaded).contains(&twice.to_owned()));
    let error = loaded.strict().map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), twice);
}

#[test]
fn the_folder_of_items_goes_before_the_single_file_when_it_is_complete() {
    let mut files = files(&["jan_2026"]);
    let single = r#"[{"id": "relic", "name": "Relic"}]"#;
    files.insert("items.json".to_owned(), single.to_owned());
    assert!(
        !Content::load(&files)
            .unwrap()
            .content
            .items()
            .contains("relic")
    );
    files.remove("items/food.json");
    let content = Content::load(&files).unwrap().content;
    assert!(content.items().contains("relic"));
    let missing =
        |files: &BTreeMap<String, String>| world::content::missing(|path| files.contains_key(path));
    assert_eq!(missing(&files), [""; 0]);
    files.remove("items.json");
    assert_eq!(missing(&files), ["items/food.json"]);
    assert_eq!(missing(&BTreeMap::new()).len(), 5, "four, and the items");
}
