//! The loader is strict about required manifests and tolerant of all else.

#![allow(clippy::unwrap_used, reason = "a test may")]

use crate::stage;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stage::Land;
use world::{Content, ContentError, Loaded, Region, Tile};

/// Returns the manifests of a small land, with one of them replaced.
fn with(file: &str, json: &Value) -> BTreeMap<String, String> {
    with_text(file, &json.to_string())
}

fn with_text(file: &str, text: &str) -> BTreeMap<String, String> {
    let mut files = Land::default().files();
    files.insert(file.to_owned(), text.to_owned());
    files
}

fn load(files: &BTreeMap<String, String>) -> Loaded {
    Content::load(files).expect("it loads")
}

fn warnings(files: &BTreeMap<String, String>) -> Vec<String> {
    load(files)
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn areas(area: &Value) -> Value {
    let bounds = json!({"minX": 0, "maxX": 64, "minZ": 0, "maxZ": 64});
    let mut whole = json!({"name": "Town", "biomeType": "plain", "bounds": bounds});
    whole
        .as_object_mut()
        .unwrap()
        .extend(area.as_object().unwrap().clone());
    json!({"starterTowns": {"town": whole}})
}

#[test]
fn what_is_required_is_required() {
    for file in [
        "npcs.json",
        "world-areas.json",
        "biomes.json",
        "stores.json",
        "items.json",
    ] {
        let mut files = Land::default().files();
        files.remove(file);
        let missing = ContentError::Missing {
            file: file.to_owned(),
        };
        assert_eq!(Content::load(&files).map(|_| ()), Err(missing));
        let broken = Content::load(&with_text(file, "<<<<<<< HEAD\n[]"));
        assert!(matches!(broken, Err(ContentError::Broken { .. })), "{file}");
    }
    let mut files = with("items/food.json", &json!([]));
    files.remove("items.json");
    let error = Content::load(&files).map(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "items/weapons.json is missing",
        "all of the folder or none"
    );
}

#[test]
fn what_cannot_be_understood_is_left_out_with_its_place_and_stops_nothing() {
    let at = json!({"x": 1, "y": 0, "z": 1});
    let key = "must be a text that is not empty, skipped";
    for (file, json, place, what) in [
        (
            "npcs.json",
            json!([{"id": "a", "name": "A"}, {"id": "b"}]),
            "[1].name",
            "must be a text that is not empty, the id stands for it",
        ),
        (
            "biomes.json",
            json!([{"name": "B"}, {"id": "plain"}]),
            "[0].id",
            key,
        ),
        (
            "items.json",
            json!({"items": [{"id": "", "name": "A"}]}),
            "items[0].id",
            key,
        ),
        (
            "world-areas.json",
            areas(&json!({"bounds": {"minX": 0}})),
            "starterTowns.town.bounds",
            "must be {minX, maxX, minZ, maxZ}, the minima below the maxima; skipped",
        ),
        (
            "world-areas.json",
            areas(&json!({"npcs": [{"id": "a", "position": {"x": 1e30, "z": 0}}]})),
            "starterTowns.town.npcs[0].position",
            "must be {x, z} from -10000 to 10000, skipped",
        ),
        (
            "world-areas.json",
            areas(&json!({"mobSpawns": [{"position": at}]})),
            "starterTowns.town.mobSpawns[0].mobId",
            key,
        ),
        (
            "world-areas.json",
            json!({"terrain": {"bounds": {"minX": 0, "maxX": 65, "minZ": 0, "maxZ": 64},
                "defaultBiome": "plain"}}),
            "terrain.bounds.minX",
            "must be multiples of 64, the minima below the maxima; the areas' bounds count",
        ),
        (
            "world-areas.json",
            json!({"terrain": {"spawn": {"x": 500, "z": 0}, "defaultBiome": "plain"}}),
            "terrain.spawn",
            "must be {x, z} inside the bounds, the first town's middle stands for it",
        ),
    ] {
        let mut found = warnings(&with(file, &json));
        // Other files may miss what this one had before.
        found.retain(|warning| warning.starts_with(file));
        assert_eq!(found, [format!("{file}: {place}: {what}")]);
    }
}

#[test]
fn without_a_biome_all_is_grass() {
    let found = warnings(&with("biomes.json", &json!([])));
    assert_eq!(
        found[0],
        "biomes.json: the file: there is no biome, all is grass"
    );
}

#[test]
fn unknown_fields_comments_and_kinds_of_numbers_are_nobodys_business() {
    let npcs = json!([{"$schema": "x", "_comment": "y", "id": "cat", "name": "Cat", "zzz": [1],
        "stats": {"level": 3.0, "health": 7, "_comment": "z"}, "combat": {"attackable": false},
        "movement": {"type": "WANDER", "speed": 1, "wanderRadius": 2.0}}]);
    let mut files = with("npcs.json", &npcs);
    let at = json!({"x": 1.7, "y": null, "z": 2.5});
    let place = areas(&json!({"npcs": [{"id": "cat", "type": "BANK", "position": at}]}));
    files.insert("world-areas.json".to_owned(), place.to_string());
    let loaded = load(&files);
    assert_eq!(loaded.warnings, []);
    let cat = &loaded.content.npcs_in(Region { x: 0, z: 0 })[0];
    assert_eq!((cat.kind.level, cat.kind.health), (3, 7));
    assert_eq!(cat.tile, Tile::new(1, 2), "rounded down");
    assert_eq!(cat.service.as_ref(), "bank");
}

#[test]
fn lists_may_be_bare_or_named() {
    let nodes = json!([{"id": "elm", "name": "Elm", "type": "tree"}]);
    for json in [nodes.clone(), json!({"_comment": "x", "trees": nodes})] {
        assert_eq!(
            warnings(&with("gathering/woodcutting.json", &json)),
            [""; 0]
        );
    }
    let npcs = json!({"metadata": {}, "npcs": [{"id": "a", "name": "A"}]});
    assert_eq!(warnings(&with("npcs.json", &npcs)), [""; 0]);
    assert!(Content::load(&with("npcs.json", &json!(3))).is_err());
    assert_eq!(
        warnings(&with("buildings.json", &json!({"version": 1, "towns": []}))),
        [""; 0]
    );
}

#[test]
fn what_is_wrong_but_not_required_is_a_warning() {
    let at = json!({"x": 5, "y": 0, "z": 5});
    let town = "world-areas.json: starterTowns.town";
    for (area, warning) in [
        (
            json!({"npcs": [{"id": "ghost", "position": at}]}),
            format!("{town}.npcs[0].id: there is no NPC \"ghost\", and it has no name of its own"),
        ),
        (
            json!({"mobSpawns": [{"mobId": "ghost", "position": at, "maxCount": 3}]}),
            format!("{town}.mobSpawns[0].mobId: there is no NPC \"ghost\", none appear"),
        ),
        (
            json!({"resources": [{"type": "tree", "resourceId": "ash", "position": at}]}),
            format!(
                "{town}.resources[0].resourceId: there is no resource \"ash\", it only stands there"
            ),
        ),
        (
            json!({"npcs": [4]}),
            format!("{town}.npcs[0]: not an object, skipped"),
        ),
        (
            json!({"safeZone": "yes"}),
            format!("{town}.safeZone: not true or false, ignored"),
        ),
        (
            json!({"biomeType": "moon"}),
            "world-areas.json: town: there is no biome \"moon\"".into(),
        ),
    ] {
        assert_eq!(
            warnings(&with("world-areas.json", &areas(&area))),
            [warning]
        );
    }
    let named = json!({"npcs": [{"id": "ghost", "name": "A Ghost", "position": at}]});
    assert_eq!(
        warnings(&with("world-areas.json", &areas(&named))),
        [""; 0],
        "it has a name"
    );
    let stores = json!([{"id": "s", "name": "S", "items": [{"id": "1", "itemId": "soap"}]}]);
    let soap = "stores.json: [0].items[0].itemId: there is no item \"soap\", it is not sold";
    assert_eq!(warnings(&with("stores.json", &stores)), [soap]);
    let broken = warnings(&with_text("stations.json", "{"));
    assert!(
        broken[0].starts_with("stations.json: the file: cannot be read and is left out: "),
        "{broken:?}"
    );
}

#[test]
fn what_names_land_plants_or_nodes_that_there_are_not_is_a_warning() {
    let mut files = Land::default().files();
    let mut put = |file: &str, json: Value| files.insert(file.to_owned(), json.to_string());
    put(
        "biomes.json",
        json!([{
            "id": "plain", "terrain": "plains", "resources": ["reeds"],
            "vegetation": {"enabled": true, "layers": [
                {"category": "bush", "assets": ["gorse", "bramble"]},
                {"category": "grass", "assets": ["sedge"]},
            ]},
        }]),
    );
    put(
        "vegetation.json",
        json!({"assets": [{"id": "gorse", "category": "bush"}]}),
    );
    let beast = |id: &str, biomes: &[&str]| json!({"id": id, "spawnBiomes": biomes});
    put(
        "npcs.json",
        json!([beast("newt", &["plain", "bog"]), beast("rat", &["plain"])]),
    );
    let dangling = |files: &BTreeMap<String, String>| -> Vec<String> {
        let loaded = load(files);
        let found = loaded.warnings.iter();
        let found = found.filter(|warning| warning.defect == world::content::Defect::Dangling);
        found.map(ToString::to_string).collect()
    };
    let found = [
        "npcs.json: [0].spawnBiomes[1]: there is no biome \"bog\", it never lives there",
        "biomes.json: [0].resources[0]: there is no resource \"reeds\", none is there",
        "biomes.json: [0].vegetation.layers[0].assets[1]: there is no plant \"bramble\", it does \
         not grow there",
        "biomes.json: [0].vegetation.layers[1].assets[0]: there is no plant \"sedge\", it does \
         not grow there",
    ];
    assert_eq!(dangling(&files), found);
    // Plants are clients' own affair where there is no file of them.
    files.remove("vegetation.json");
    assert_eq!(dangling(&files), found[..2]);
}

#[test]
fn where_an_area_is_expected_anything_else_is_skipped() {
    let mut json = areas(&json!({}));
    json["level1Areas"] = json!({"$schema": "x", "odd": [1, 2]});
    json["level2Areas"] = json!([]);
    assert_eq!(
        warnings(&with("world-areas.json", &json)),
        [
            "world-areas.json: level1Areas.odd: not an object, skipped",
            "world-areas.json: level2Areas: not an object, ignored",
        ]
    );
}

#[test]
fn content_without_a_terrain_gets_land_around_its_areas() {
    let content = load(&with("world-areas.json", &areas(&json!({})))).content;
    let bounds = content.bounds();
    assert_eq!(
        (bounds.min_x, bounds.max_x, bounds.min_z, bounds.max_z),
        (0, 64, 0, 64)
    );
    assert_eq!(content.spawn(), Tile::new(32, 32));
    assert_eq!(content.regions(), [Region { x: 0, z: 0 }]);
}

#[test]
fn the_smallest_area_around_a_tile_counts() {
    let mut json = areas(&json!({}));
    let inner = json!({"minX": 10, "maxX": 20, "minZ": 10, "maxZ": 20});
    json["level1Areas"] =
        json!({"inn": {"name": "Inn", "biomeType": "plain", "bounds": inner, "pvpEnabled": true}});
    let content = load(&with("world-areas.json", &json)).content;
    let at = |x, z| content.area_at(Tile::new(x, z)).map(|a| a.id.clone());
    assert_eq!(at(15, 15).as_deref(), Some("inn"));
    assert_eq!(
        at(20, 15).as_deref(),
        Some("town"),
        "the maximum is outside"
    );
    assert_eq!(at(64, 0), None);
}

#[test]
fn ids_are_unique_and_short_and_do_not_depend_on_the_order() {
    let at = |x| json!({"x": x, "y": 0, "z": 5});
    let long = "x".repeat(90);
    let kinds = json!([{"id": "rat", "name": "Rat"}, {"id": long, "name": "Long"}]);
    let resources = json!([
        {"type": "tree", "resourceId": "oak", "position": at(9)},
        {"type": "tree", "resourceId": "oak", "position": at(11)},
    ]);
    let spawns = json!([
        {"mobId": "rat", "position": at(20), "spawnRadius": 2, "maxCount": 2},
        {"mobId": "rat", "position": at(30), "spawnRadius": 2, "maxCount": 2},
        {"mobId": long, "position": at(40), "spawnRadius": 2, "maxCount": 2},
    ]);
    let ids = |reverse: bool| {
        let turned = |list: &Value| {
            let mut list = list.as_array().unwrap().clone();
            if reverse {
                list.reverse();
            }
            Value::from(list)
        };
        let area = json!({"resources": turned(&resources), "mobSpawns": turned(&spawns)});
        let mut files = with("world-areas.json", &areas(&area));
        files.insert("npcs.json".to_owned(), kinds.to_string());
        let loaded = load(&files);
        assert_eq!(loaded.warnings, []);
        let here = Region { x: 0, z: 0 };
        let npcs = loaded
            .content
            .npcs_in(here)
            .iter()
            .map(|n| n.id.to_string());
        let fixtures = loaded.content.fixtures_in(here).map(|f| f.id.to_string());
        npcs.chain(fixtures).collect::<Vec<_>>()
    };
    let listed = ids(false);
    assert_eq!(listed, ids(true));
    assert_eq!(listed.len(), 8);
    assert!(listed.iter().all(|id| id.len() <= 64), "{listed:?}");
    assert_eq!(
        listed
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        8
    );
    assert!(listed.contains(&"res:oak:9,5".to_owned()));
}

#[test]
fn the_hash_changes_with_every_text_and_path() {
    let files = Land::default().files();
    let hash = |files: &BTreeMap<String, String>| load(files).content.hash().to_owned();
    let first = hash(&files);
    assert_eq!(first.len(), 64);
    assert_eq!(first, hash(&files.clone()));
    let mut other = files.clone();
    other.insert("stores.json".to_owned(), "[ ]".to_owned());
    assert_ne!(first, hash(&other));
    let mut other = files;
    other.insert("music.json".to_owned(), "[]".to_owned());
    assert_ne!(
        first,
        hash(&other),
        "also what is not read here is the same for all"
    );
}

#[test]
fn an_area_gets_the_fishing_spots_that_it_wants_on_its_shores() {
    let mut json = areas(&json!({"fishing": {"enabled": true, "spotCount": 3,
        "spotTypes": ["trout", "nessie"]}}));
    let pond = json!({"kind": "water", "shape": "rect", "minX": 20, "maxX": 40, "minZ": 20,
        "maxZ": 40});
    json["terrain"] = json!({"defaultBiome": "plain", "paints": [pond]});
    let loaded = load(&with("world-areas.json", &json));
    let found: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let lost = "there is no resource \"nessie\", none of it appears";
    assert_eq!(
        found,
        [format!(
            "world-areas.json: starterTowns.town.fishing.spotTypes[1]: {lost}"
        )]
    );
    let spots = |content: &Content| -> Vec<Tile> {
        let fixtures = content.fixtures_in(Region { x: 0, z: 0 });
        fixtures
            .filter(|f| f.of.as_ref() == "trout" && f.blocks.is_empty())
            .map(|f| f.tile)
            .collect()
    };
    let tiles = spots(&loaded.content);
    assert_eq!(tiles.len(), 3);
    for tile in &tiles {
        assert!(
            (20..40).contains(&tile.x) && (20..40).contains(&tile.z),
            "{tile:?}"
        );
        let beside = [(-1, 0), (1, 0), (0, -1), (0, 1)];
        let mut beside = beside.iter().map(|(dx, dz)| tile.moved(*dx, *dz));
        assert!(
            beside.any(|t| loaded.content.terrain().walkable(t)),
            "{tile:?}"
        );
    }
    let again = load(&with("world-areas.json", &json)).content;
    assert_eq!(spots(&again), tiles, "the same land, the same spots");
}
