//! The content that ships is enough for hours, and one can do all of it.

use std::collections::{BTreeMap, BTreeSet};

use world::content::{ServiceKind, StageKind};
use world::{Content, Region, Skill, inspect};

fn files() -> BTreeMap<String, String> {
    let files = Content::embedded_files().iter();
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    files.map(owned).collect()
}

/// Reads the content that ships, with changes to its files, and returns its faults.
fn with(changes: &[(&str, &str, &str)]) -> String {
    let mut files = files();
    for (file, from, to) in changes {
        let text = files.get_mut(*file).unwrap();
        assert!(text.contains(from), "{file} says {from}");
        *text = text.replace(from, to);
    }
    let content = Content::load(&files).unwrap().content;
    let faults: Vec<String> = inspect(&content).iter().map(ToString::to_string).collect();
    faults.join("\n")
}

#[test]
fn nothing_is_wrong_with_the_world_that_ships() {
    let faults = inspect(&Content::embedded());
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Minima: a change that takes something away puts something else in its place.
#[test]
fn there_is_enough_of_everything() {
    let content = Content::embedded();
    let items = content
        .items()
        .iter()
        .filter(|item| !item.is_note())
        .count();
    let regions = content.regions();
    let placed: Vec<_> = regions.iter().flat_map(|r| content.npcs_in(*r)).collect();
    let kinds: BTreeSet<_> = placed.iter().map(|npc| &npc.kind.id).collect();
    let fought = content.npc_kinds().iter().filter(|kind| kind.attackable);
    let bosses = content.npc_kinds().iter();
    let bosses = bosses
        .filter(|kind| kind.category.as_ref() == "boss")
        .count();
    let towns = content.areas().iter().filter(|area| area.starter_town);
    let banks = placed
        .iter()
        .filter(|npc| npc.kind.services.has(&ServiceKind::Bank));
    let shops: BTreeSet<_> = placed.iter().filter_map(|npc| npc.store.as_ref()).collect();
    let goods: usize = content.stores().iter().map(|store| store.goods.len()).sum();
    for (what, there, least) in [
        ("items", items, 380),
        ("kinds of NPCs", kinds.len(), 140),
        ("kinds of beasts to fight", fought.count(), 65),
        ("bosses", bosses, 5),
        ("towns", towns.count(), 8),
        ("people with a bank", banks.count(), 8),
        ("shops", shops.len(), 25),
        ("things that shops sell", goods, 250),
        ("recipes", content.recipes().len(), 250),
        ("quests", content.quests().len(), 14),
        ("spells", content.spells().len(), 12),
        ("prayers", content.prayers().len(), 17),
        ("kinds of resources", content.resources().len(), 30),
        ("areas", content.areas().len(), 30),
    ] {
        assert!(there >= least, "{there} {what}, of at least {least}");
    }
}

#[test]
fn every_making_skill_has_recipes_from_its_first_levels_to_its_last() {
    let content = Content::embedded();
    let recipes = content.recipes();
    fn levels<'a, T: 'a>(
        all: impl Iterator<Item = &'a std::sync::Arc<T>>,
        level: fn(&T) -> u8,
    ) -> Vec<u8> {
        let mut levels: Vec<u8> = all.map(|recipe| level(recipe)).collect();
        levels.sort_unstable();
        levels
    }
    let smithing = levels(recipes.smelting.iter(), |r| r.effort.level)
        .into_iter()
        .chain(levels(recipes.smithing.iter(), |r| r.effort.level));
    for (skill, mut levels, least) in [
        (
            Skill::Cooking,
            levels(recipes.cooking.iter(), |r| r.effort.level),
            25,
        ),
        (
            Skill::Firemaking,
            levels(recipes.firemaking.iter(), |r| r.effort.level),
            10,
        ),
        (Skill::Smithing, smithing.collect(), 80),
        (
            Skill::Crafting,
            levels(recipes.crafting.iter(), |r| r.effort.level),
            55,
        ),
        (
            Skill::Fletching,
            levels(recipes.fletching.iter(), |r| r.effort.level),
            40,
        ),
        (
            Skill::Runecrafting,
            levels(recipes.runecrafting.iter(), |r| r.level),
            7,
        ),
    ] {
        levels.sort_unstable();
        assert!(levels.len() >= least, "{skill:?} has {}", levels.len());
        assert_eq!(levels.first(), Some(&1), "{skill:?} begins");
        assert!(
            levels.last() >= Some(&65),
            "{skill:?} ends at {:?}",
            levels.last()
        );
        let far = levels.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(
            far <= Some(30),
            "{skill:?} has nothing new for {far:?} levels"
        );
    }
}

#[test]
fn there_is_something_to_fight_and_a_place_for_it_at_every_level() {
    let content = Content::embedded();
    let regions = content.regions();
    for (low, high) in [
        (1, 3),
        (4, 9),
        (10, 19),
        (20, 34),
        (35, 54),
        (55, 84),
        (85, 200),
    ] {
        let npcs = regions
            .iter()
            .flat_map(|r| content.npcs_in(*r).iter().map(move |n| (r, n)));
        let of_band =
            npcs.filter(|(_, npc)| npc.kind.attackable && (low..=high).contains(&npc.kind.level));
        let (mut kinds, mut homes) = (BTreeSet::new(), BTreeSet::new());
        for (region, npc) in of_band {
            kinds.insert(&npc.kind.id);
            homes.insert(*region);
        }
        assert!(
            kinds.len() >= 4,
            "{} kinds of level {low} to {high}",
            kinds.len()
        );
        assert!(
            homes.len() >= 3,
            "{} regions for level {low} to {high}",
            homes.len()
        );
    }
}

/// A newcomer can fight, earn and buy tools without a long walk.
#[test]
fn newcomers_find_their_feet_near_the_spawn() {
    let content = Content::embedded();
    let regions = content.regions();
    let near = |tile: world::Tile| tile.steps_to(content.spawn()) <= 80;
    let npcs = || {
        regions
            .iter()
            .flat_map(|r| content.npcs_in(*r))
            .filter(|n| near(n.tile))
    };
    let prey = npcs().filter(|n| n.kind.attackable && n.kind.level <= 3);
    let prey: Vec<_> = prey.collect();
    assert!(prey.len() >= 12, "{} to fight", prey.len());
    let pays = |npc: &&&world::content::NpcPlacement| {
        let drops = npc.kind.drops.entries.iter();
        drops.into_iter().any(|drop| drop.item.as_ref() == "coins")
    };
    assert!(
        prey.iter().filter(pays).count() >= 8,
        "some of them carry coins"
    );
    let angry = npcs().filter(|n| n.kind.fight.aggressive && n.kind.level > 5);
    let angry = angry.filter(|n| n.tile.steps_to(content.spawn()) <= 55);
    let angry: Vec<_> = angry.map(|n| &n.id).collect();
    assert!(
        angry.is_empty(),
        "nobody dangerous falls upon them: {angry:?}"
    );
    let sold: BTreeSet<_> = npcs()
        .filter_map(|npc| content.stores().get(npc.store.as_ref()?))
        .flat_map(|store| store.goods.iter().map(|good| good.item.as_ref()))
        .collect();
    for tool in [
        "bronze_pickaxe",
        "bronze_hatchet",
        "fishing_net",
        "tinderbox",
        "hammer",
    ] {
        assert!(sold.contains(tool), "{tool} is sold near the spawn");
    }
    let fixtures = regions.iter().flat_map(|r| content.fixtures_in(*r));
    let there: BTreeSet<_> = fixtures
        .filter(|fixture| near(fixture.tile))
        .map(|fixture| fixture.of.as_ref())
        .collect();
    for thing in [
        "tree_normal",
        "rock_copper",
        "rock_tin",
        "bank",
        "furnace",
        "anvil",
        "range",
    ] {
        assert!(there.contains(thing), "{thing} is near the spawn");
    }
}

/// Both who fight a duel, and who waits for them, are played by one zone.
#[test]
fn duels_are_fought_in_one_region() {
    let content = Content::embedded();
    let duels = content.duel_arenas();
    assert!(duels.arenas.len() >= 6, "{} arenas", duels.arenas.len());
    let halls = [duels.lobby, duels.hospital].into_iter().flatten();
    let halls = halls.map(|hall| hall.spawn);
    let begins = duels.arenas.iter().flat_map(|arena| arena.begins.clone());
    let regions: BTreeSet<_> = halls.chain(begins).map(Region::from).collect();
    assert_eq!(regions.len(), 1, "{regions:?}");
    let area = content.areas().iter().find(|a| a.id == "squabbling_rings");
    let zones = &area.unwrap().sub_zones;
    let rings = zones.iter().find(|zone| zone.duel_only).unwrap();
    for arena in &duels.arenas {
        assert!(arena.begins.iter().all(|tile| rings.bounds.contains(*tile)));
    }
}

#[test]
fn quests_ask_for_everything_that_a_quest_can_ask_for() {
    let content = Content::embedded();
    for kind in [
        StageKind::Dialogue,
        StageKind::Kill,
        StageKind::Gather,
        StageKind::Interact,
        StageKind::Travel,
    ] {
        let quests = content.quests().iter();
        let asking = quests
            .filter(|quest| quest.stages.iter().any(|s| s.kind == kind))
            .count();
        assert!(asking >= 3, "{asking} quests ask for {}", kind.name());
    }
}

#[test]
fn what_nobody_can_come_to_get_make_or_end_is_found() {
    let areas = "world-areas.json";
    let faults = with(&[
        (areas, "\"tree_hushwood\"", "\"tree_oak\""),
        (areas, "\"type\":\"spinning_wheel\"", "\"type\":\"lamp\""),
        (areas, "\"id\":\"otto_furrow\"", "\"id\":\"shep\""),
        (areas, "\"maxX\":46,", "\"maxX\":346,"),
        ("npcs.json", "startQuest:rent_day", "startQuest:pardon"),
        (
            "npcs.json",
            "\"nextNodeId\":\"pardon_offer\"",
            "\"nextNodeId\":\"end\"",
        ),
        (
            "npcs.json",
            "\"ready_to_complete\":\"ship_shape_ready\"",
            "\"ready_to_complete\":\"ship_shape_done\"",
        ),
        (
            "quests.json",
            "\"target\":\"kiln_key\"",
            "\"target\":\"unheard\"",
        ),
        ("stores.json", "\"price\": 26,", "\"price\": 1,"),
        (
            "items/misc.json",
            "\"xp_lamp\",\"xpAmount\":250",
            "\"wish\"",
        ),
        ("items/misc.json", "\"xpAmount\":5000", "\"xpAmount\":0"),
    ]);
    for wanted in [
        "item hushwood_logs: nobody drops, sells",
        "resource tree_hushwood: is placed nowhere",
        "crafting yarn: there is no spinning_wheel",
        "crafting cloth: there is no spinning_wheel",
        "area tilestead: a part of it lies outside the land",
        "area fernhollow: overlaps the town tilestead",
        "quest pecking_order: nobody can meet otto_furrow",
        "quest rent_day: foreman_flint never offers it",
        "quest pardon: stilt_mender never offers it",
        "quest ship_shape: captain_ebb never ends it",
        "never comes to say \"pardon_offer\"",
        "quest out_is_easy: stage key: nobody can get \"unheard\"",
        "is paid",
        "item patient_lamp: offers \"Rub\", and nothing comes of it",
        "item storm_lamp: teaches nothing",
    ] {
        assert!(faults.contains(wanted), "{wanted:?} is not among\n{faults}");
    }
}

/// New players would begin on a rock in the sea.
#[test]
fn who_cannot_leave_the_spawn_can_come_to_nothing() {
    let faults = with(&[(
        "world-areas.json",
        "{\"x\":0,\"z\":-6}",
        "{\"x\":-319,\"z\":-319}",
    )]);
    for wanted in [
        "spawn (-319, -319): nobody can stand there",
        "area tilestead: nobody can walk there",
        "nobody can come near it",
    ] {
        assert!(faults.contains(wanted), "{wanted:?} is not among\n{faults}");
    }
}
