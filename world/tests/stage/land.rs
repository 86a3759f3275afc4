//! Lands for stories.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use world::Content;

use super::{duels, trades};

/// A land for a story: 4 x 4 regions of grass from -128 to 128, and the things that a test puts
/// there.
#[derive(Clone)]
pub(crate) struct Land {
    paints: Vec<Value>,
    kinds: Vec<Value>,
    npcs: Vec<Value>,
    spawns: Vec<Value>,
    resources: Vec<Value>,
    stations: Vec<Value>,
    quests: Value,
    stores: Vec<Value>,
    areas: Vec<Value>,
    pub(super) seed: u64,
    lawless: bool,
    crowded: bool,
    magic: bool,
    rings: bool,
    potions: bool,
}

impl Default for Land {
    fn default() -> Land {
        let none = Vec::new;
        Land {
            paints: none(),
            kinds: none(),
            npcs: none(),
            spawns: none(),
            resources: none(),
            stations: none(),
            quests: json!({}),
            stores: none(),
            areas: none(),
            seed: 1,
            lawless: false,
            crowded: false,
            magic: false,
            rings: false,
            potions: false,
        }
    }
}

impl Land {
    /// Fills a rectangle, both corners included.
    pub(crate) fn rect(mut self, ground: &str, low: (i32, i32), high: (i32, i32)) -> Land {
        self.paints.push(
            json!({"kind": ground, "shape": "rect", "minX": low.0, "minZ": low.1,
            "maxX": high.0 + 1, "maxZ": high.1 + 1}),
        );
        self
    }

    /// Places an NPC; `movement` as in `npcs.json`.
    pub(crate) fn npc(mut self, id: &str, at: (i32, i32), movement: Value, leash: i32) -> Land {
        self.kinds.push(
            json!({"id": id, "name": id, "description": format!("It is {id}."),
            "movement": movement, "combat": {"leashRange": leash}}),
        );
        self.npcs
            .push(json!({"id": id, "type": "villager", "position": position(at)}));
        self
    }

    /// Places an NPC that stands about and has something to say; `says` as `dialogue` in
    /// `npcs.json`.
    pub(crate) fn speaker(mut self, id: &str, at: (i32, i32), says: Value) -> Land {
        self.kinds
            .push(json!({"id": id, "name": id, "dialogue": says,
            "movement": {"type": "stationary"}}));
        self.npcs
            .push(json!({"id": id, "type": "villager", "position": position(at)}));
        self
    }

    /// Places somebody who leads a dance.
    pub(crate) fn dance_leader(mut self, id: &str, at: (i32, i32)) -> Land {
        self.npcs
            .push(json!({"id": id, "name": id, "leadsDance": true, "position": position(at)}));
        self
    }

    /// Sets the text of `quests.json`.
    pub(crate) fn quests(mut self, quests: Value) -> Land {
        self.quests = quests;
        self
    }

    /// Places several wandering beasts around a point.
    pub(crate) fn beasts(mut self, id: &str, at: (i32, i32), count: u32, radius: i32) -> Land {
        self.kinds.push(json!({"id": id, "name": id,
            "movement": {"type": "wander", "wanderRadius": radius, "speed": 3.3}}));
        self.spawns.push(
            json!({"mobId": id, "position": position(at), "maxCount": count,
            "spawnRadius": radius}),
        );
        self
    }

    /// Lets the person placed as `id` stroll about within so many tiles.
    pub(crate) fn stroller(self, id: &str, radius: i32) -> Land {
        self.kind(
            json!({"id": id, "name": id, "combat": {"leashRange": radius},
            "dialogue": {"greeting": "Well?"},
            "movement": {"type": "wander", "wanderRadius": radius, "speed": 3.3}}),
        )
    }

    /// Adds a row to `npcs.json`, for an NPC that another file places.
    pub(crate) fn kind(mut self, kind: Value) -> Land {
        self.kinds.push(kind);
        self
    }

    /// Places a beast that stands at a point; `kind` as in `npcs.json`. It is called
    /// `npc:field:<id>:<x>,<z>:0`.
    pub(crate) fn beast(mut self, kind: Value, at: (i32, i32)) -> Land {
        let id = kind["id"].clone();
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        self.spawns
            .push(json!({"mobId": id, "position": position(at), "maxCount": 1, "spawnRadius": 0}));
        self
    }

    /// Lets players attack each other.
    pub(crate) fn lawless(mut self) -> Land {
        self.lawless = true;
        self
    }

    /// Adds an area within the field: both corners included.
    pub(crate) fn area(mut self, id: &str, low: (i32, i32), high: (i32, i32)) -> Land {
        self.areas.push(
            json!({"id": id, "name": id, "biomeType": "plain", "difficultyLevel": 1,
            "safeZone": true, "bounds": {"minX": low.0, "minZ": low.1,
                "maxX": high.0 + 1, "maxZ": high.1 + 1}}),
        );
        self
    }

    /// Lets any number fight one.
    pub(crate) fn crowded(mut self) -> Land {
        self.crowded = true;
        self
    }

    /// Adds spells and prayers.
    pub(crate) fn magic(mut self) -> Land {
        self.magic = true;
        self
    }

    /// Adds potions.
    pub(crate) fn potions(mut self) -> Land {
        self.potions = true;
        self
    }

    /// Adds a lobby around 0,0, and a ring in each quarter.
    pub(crate) fn rings(mut self) -> Land {
        self.rings = true;
        self
    }

    /// Sets other dice.
    pub(crate) fn seed(mut self, seed: u64) -> Land {
        self.seed = seed;
        self
    }

    /// Places somebody who keeps a bank.
    pub(crate) fn banker(mut self, id: &str, at: (i32, i32)) -> Land {
        self.npcs
            .push(json!({"id": id, "name": id, "type": "bank", "position": position(at)}));
        self
    }

    /// Places somebody who keeps a shop: goods as (item, price, stock or -1).
    pub(crate) fn shop(mut self, id: &str, at: (i32, i32), goods: &[(&str, u32, i32)]) -> Land {
        let goods = goods.iter().map(|(item, price, stock)| {
            json!({"id": item, "itemId": item, "price": price, "stockQuantity": stock,
                "restockTime": 6_000})
        });
        self.stores.push(
            json!({"id": id, "name": id, "buyback": true, "buybackRate": 0.5,
            "items": goods.collect::<Vec<_>>()}),
        );
        self.npcs.push(
            json!({"id": format!("{id}_keeper"), "name": id, "storeId": id,
            "type": "general_store", "position": position(at)}),
        );
        self
    }

    pub(crate) fn tree(mut self, at: (i32, i32)) -> Land {
        self.resources
            .push(json!({"type": "tree", "resourceId": "oak", "position": position(at)}));
        self
    }

    pub(crate) fn fishing_spot(mut self, at: (i32, i32)) -> Land {
        self.resources
            .push(json!({"type": "fishing_spot", "resourceId": "trout", "position": position(at)}));
        self
    }

    /// Places a tree, a rock or a shoal of that kind.
    pub(crate) fn resource(mut self, sort: &str, of: &str, at: (i32, i32)) -> Land {
        self.resources
            .push(json!({"type": sort, "resourceId": of, "position": position(at)}));
        self
    }

    /// Places an altar at which runes are made.
    pub(crate) fn rune_altar(mut self, rune: &str, at: (i32, i32)) -> Land {
        self.stations
            .push(json!({"id": rune, "type": "runecrafting_altar",
            "runeType": rune, "position": position(at)}));
        self
    }

    /// Places somebody who tans.
    pub(crate) fn tanner(mut self, id: &str, at: (i32, i32)) -> Land {
        self.npcs
            .push(json!({"id": id, "name": id, "type": "tanner", "position": position(at)}));
        self
    }

    pub(crate) fn station(mut self, sort: &str, at: (i32, i32)) -> Land {
        self.stations
            .push(json!({"id": sort, "type": sort, "position": position(at)}));
        self
    }

    /// Returns the manifests of this land.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let bounds = json!({"minX": -128, "maxX": 128, "minZ": -128, "maxZ": 128});
        let areas = self.areas.iter();
        let areas = areas.map(|area| (area["id"].as_str().unwrap_or_default().to_owned(), area));
        let areas: BTreeMap<String, &Value> = areas.collect();
        let areas = json!({
            "starterTowns": {"field": {"id": "field", "name": "The Field", "biomeType": "plain",
                "difficultyLevel": 0, "safeZone": !self.lawless, "pvpEnabled": self.lawless,
                "multiCombat": self.crowded, "bounds": bounds, "npcs": self.npcs,
                "mobSpawns": self.spawns, "resources": self.resources,
                "stations": self.stations}},
            "level1Areas": areas,
            "terrain": {"seed": 5, "bounds": bounds, "spawn": {"x": 1, "z": 1},
                "defaultBiome": "plain", "paints": self.paints},
        });
        let stations = json!({"stations": [
            {"type": "furnace", "name": "Furnace", "examine": "Hot.",
                "footprint": {"width": 3, "depth": 2}},
            {"type": "bank", "name": "Bank chest", "examine": "Heavy."},
            {"type": "range", "name": "Range", "examine": "Warm."},
            {"type": "anvil", "name": "Anvil", "examine": "Loud."},
            {"type": "runecrafting_altar", "name": "Altar", "examine": "Airy."},
            {"type": "altar", "name": "Altar", "examine": "Holy."},
        ]});
        let items = json!([
            {"id": "logs", "name": "Logs", "examine": "Wood."},
            {"id": "candle", "name": "Candle", "examine": "Wax.", "stackable": true, "value": 3},
            {"id": "tinderbox", "name": "Tinderbox", "examine": "Sparks."},
            {"id": "sword", "name": "Sword", "equipSlot": "weapon", "weaponType": "SWORD",
                "weight": 2, "value": 26, "bonuses": {"attackSlash": 4},
                "requirements": {"skills": {"attack": 5}}},
            {"id": "maul", "name": "Maul", "equipSlot": "2h", "weaponType": "MACE",
                "weight": 30, "bonuses": {"attackCrush": 9}},
            {"id": "shield", "name": "Shield", "equipSlot": "shield",
                "bonuses": {"defenseSlash": 3}},
            {"id": "hood", "name": "Hood", "equipSlot": "helmet", "tradeable": false},
            {"id": "arrow", "name": "Arrow", "equipSlot": "arrows", "stackable": true},
            {"id": "cake", "name": "Cake", "healAmount": 4},
            {"id": "lamp", "name": "Lamp", "useEffect": {"type": "xp_lamp", "xpAmount": 250}},
            {"id": "book", "name": "Book",
             "useEffect": {"type": "xp_lamp", "xpAmount": 1.5, "consumeOnUse": false}},
            {"id": "bones", "name": "Bones", "prayerXp": 4.5},
            {"id": "old_bones", "name": "Old bones", "prayerXp": 72, "buryLevelRequired": 2},
            {"id": "iron_arrow", "name": "Iron arrow", "equipSlot": "arrows", "stackable": true},
            {"id": "bow", "name": "Bow", "equipSlot": "weapon", "weaponType": "BOW",
                "attackType": "RANGED", "attackSpeed": 4, "attackRange": 7,
                "bonuses": {"attackRanged": 40}},
            {"id": "halberd", "name": "Halberd", "equipSlot": "2h", "weaponType": "HALBERD",
                "attackType": "MELEE", "attackSpeed": 7, "attackRange": 2},
            {"id": "staff", "name": "Staff", "equipSlot": "weapon", "weaponType": "STAFF",
                "attackType": "MAGIC", "attackSpeed": 5, "providesInfiniteRunes": ["air_rune"]},
            {"id": "air_rune", "name": "Air rune", "stackable": true},
            {"id": "mind_rune", "name": "Mind rune", "stackable": true},
        ]);
        let items = items.as_array().cloned().unwrap_or_default().into_iter();
        let brewed = potions().into_iter().filter(|_| self.potions);
        let items: Value = items.chain(trades::items()).chain(brewed).collect();
        let biomes = json!([{"id": "plain", "grounds": [["grass", 1]], "heightRange": [2, 2]}]);
        let own = [
            ("world-areas.json", areas),
            ("biomes.json", biomes),
            ("npcs.json", Value::from(self.kinds.clone())),
            ("stores.json", Value::from(self.stores.clone())),
            ("items.json", items),
            ("stations.json", stations),
            ("quests.json", self.quests.clone()),
        ];
        let magic = magic().into_iter().filter(|_| self.magic);
        let rings = duels::manifests().into_iter().filter(|_| self.rings);
        let all = own.into_iter().chain(trades::manifests()).chain(magic);
        let all = all.chain(rings);
        all.map(|(path, json)| (path.to_owned(), json.to_string()))
            .collect()
    }

    pub(crate) fn content(&self) -> Arc<Content> {
        let loaded = Content::load(&self.files()).expect("the land of a story loads");
        assert_eq!(loaded.warnings, [], "the land of a story is without fault");
        Arc::new(loaded.content)
    }
}

/// Returns four doses of a tonic for fights, and one of each other sort.
fn potions() -> Vec<Value> {
    let boost = |skill: &str, levels: u32, percent: u32| json!({"type": "boost", "skill": skill, "levels": levels, "percent": percent});
    let potion = |id: &str, leaves: &str, effects: Vec<Value>| json!({"id": id, "name": id, "potion": {"effects": effects, "leaves": leaves}});
    let tonic = |dose: u32| {
        let leaves = match dose {
            1 => "vial".to_owned(),
            more => format!("tonic_{}", more - 1),
        };
        let effects = vec![boost("attack", 3, 10), boost("strength", 3, 10)];
        potion(&format!("tonic_{dose}"), &leaves, effects)
    };
    let blessing = json!({"type": "prayer", "points": 7, "percent": 25});
    let cure = json!({"type": "cure", "safeTicks": 150});
    let fizz = json!({"type": "energy", "percent": 10});
    let others = [
        json!({"id": "vial", "name": "Vial"}),
        potion("wits_1", "vial", vec![boost("magic", 4, 0)]),
        potion("stone_1", "vial", vec![boost("defense", 3, 10)]),
        potion("blessing_1", "vial", vec![blessing]),
        potion("cure_1", "vial", vec![cure]),
        potion("fizz_1", "vial", vec![fizz]),
    ];
    (1..=4).map(tonic).chain(others).collect()
}

/// Returns a few spells, and prayers.
fn magic() -> [(&'static str, Value); 2] {
    let spells = json!({"standard": {"strike": [
        {"id": "gust", "name": "Gust", "level": 1, "baseMaxHit": 2, "baseXp": 5.5,
            "element": "air", "attackSpeed": 5, "runes": [
                {"runeId": "air_rune", "quantity": 1}, {"runeId": "mind_rune", "quantity": 1}]},
        {"id": "quake", "name": "Quake", "level": 9, "baseMaxHit": 6, "baseXp": 9.5,
            "element": "earth", "attackSpeed": 5, "runes": []}]}});
    let prayer = |id: &str, level: u32, drain: u32, bonuses: Value, conflicts: &[&str]| {
        json!({"id": id, "name": id, "description": "", "icon": "", "level": level,
            "category": "defensive", "drainEffect": drain, "bonuses": bonuses,
            "conflicts": conflicts})
    };
    let mut prayers = vec![
        prayer("skin", 1, 1, json!({"defenseMultiplier": 1.05}), &["rock"]),
        prayer("rock", 10, 6, json!({"defenseMultiplier": 1.1}), &["skin"]),
        prayer("fist", 4, 1, json!({"strengthMultiplier": 1.05}), &[]),
        prayer("wall", 20, 60, json!({}), &[]),
    ];
    prayers[3]["protectsFrom"] = json!("melee");
    let more = (0..4).map(|n| prayer(&format!("hum{n}"), 1, 0, json!({}), &[]));
    prayers.extend(more);
    [
        ("combat-spells.json", spells),
        ("prayers.json", json!({"prayers": prayers})),
    ]
}

fn position(at: (i32, i32)) -> Value {
    json!({"x": at.0, "y": 0, "z": at.1})
}
