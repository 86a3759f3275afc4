//! The stage: a small flat land, a script in words, and one line a tick about what happened.
//!
//! A script has a line a tick, and commands with ` / ` between them; `wait 3` is three ticks.
#![allow(dead_code, reason = "each story needs a part of the stage")]

mod duels;
mod trades;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use world::content::EquipSlot;
use world::{
    Arrange, Arrival, Bank, Banking, CharacterId, Content, Devotion, EntityId, Event, Field, Hit,
    Inbox, Intent, Job, Outcome, PlayerHot, PlayerInput, PlayerRecord, Questing, Region, Rules,
    Screen, Shopping, Skill, SkillXp, Stack, Style, Tick, Tile, Trade, TradeTold, Trading, Ways,
    World,
};

/// The first tick of every story comes after this one.
pub(crate) const BEGIN: u64 = 1_000;

/// A land for a story: 4 x 4 regions of grass from -128 to 128, and what is put there.
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
    seed: u64,
    lawless: bool,
    crowded: bool,
    magic: bool,
    rings: bool,
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
            seed: 1,
            lawless: false,
            crowded: false,
            magic: false,
            rings: false,
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

    /// What `quests.json` says.
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

    /// What `npcs.json` says of whoever is placed otherwise.
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

    /// Players may attack each other.
    pub(crate) fn lawless(mut self) -> Land {
        self.lawless = true;
        self
    }

    /// Any number may fight one.
    pub(crate) fn crowded(mut self) -> Land {
        self.crowded = true;
        self
    }

    /// There are spells and prayers.
    pub(crate) fn magic(mut self) -> Land {
        self.magic = true;
        self
    }

    /// There is a lobby around 0,0, and a ring in each quarter.
    pub(crate) fn rings(mut self) -> Land {
        self.rings = true;
        self
    }

    /// With other dice.
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
                "restockTime": 10})
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

    /// The manifests of this land.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let bounds = json!({"minX": -128, "maxX": 128, "minZ": -128, "maxZ": 128});
        let areas = json!({
            "starterTowns": {"field": {"id": "field", "name": "The Field", "biomeType": "plain",
                "difficultyLevel": 0, "safeZone": !self.lawless, "pvpEnabled": self.lawless,
                "multiCombat": self.crowded, "bounds": bounds, "npcs": self.npcs,
                "mobSpawns": self.spawns, "resources": self.resources,
                "stations": self.stations}},
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
        let items: Value = items.chain(trades::items()).collect();
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

/// A few spells, and prayers.
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

/// A world with all regions of its content, and a script's progress in it.
///
/// Things on the ground are called #1, #2 … in the order in which they were first told of.
pub(crate) struct Stage {
    pub(crate) world: World,
    things: Vec<EntityId>,
    /// Called t1, t2 … in the order in which they were asked for.
    trades: Vec<EntityId>,
    /// The last challenge.
    challenge: Option<EntityId>,
    /// Those whom nobody plays.
    away: BTreeSet<CharacterId>,
    /// What is written down of trades.
    pub(crate) audit: Vec<world::TradeNote>,
    tick: u64,
    number: u64,
}

impl Stage {
    pub(crate) fn new(land: &Land) -> Stage {
        Stage::with(land, Rules::default())
    }

    pub(crate) fn with(land: &Land, rules: Rules) -> Stage {
        Stage::on(land.content(), rules, land.seed)
    }

    /// A stage on these manifests.
    pub(crate) fn of(files: &BTreeMap<String, String>) -> Stage {
        let loaded = Content::load(files).expect("the land of a story loads");
        Stage::on(Arc::new(loaded.content), Rules::default(), 1)
    }

    fn on(content: Arc<Content>, rules: Rules, seed: u64) -> Stage {
        let mut world = World::new(Arc::clone(&content), rules, seed, 1);
        for region in content.regions() {
            world
                .region_in(region, Tick(BEGIN), None)
                .expect("a fresh region");
        }
        Stage {
            world,
            things: Vec::new(),
            trades: Vec::new(),
            challenge: None,
            away: BTreeSet::new(),
            audit: Vec::new(),
            tick: BEGIN,
            number: 0,
        }
    }

    /// Plays the script and tells what happened, one line a tick.
    pub(crate) fn play(&mut self, script: &str) -> String {
        let mut told = String::new();
        for line in script.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let ticks = line
                .strip_prefix("wait ")
                .map_or(1, |n| n.parse().expect("a number"));
            let mut inbox = Inbox::default();
            if !line.starts_with("wait ") {
                for command in line.split(" / ") {
                    self.command(command.trim(), &mut inbox);
                }
            }
            for _ in 0..ticks {
                let outcome = self.step(std::mem::take(&mut inbox));
                self.tell(&outcome, &mut told);
            }
        }
        told
    }

    /// The next tick is the one after `tick`.
    pub(crate) fn skip_to(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// All NPCs, by id.
    pub(crate) fn npcs(&self) -> Vec<EntityId> {
        let npcs = self
            .world
            .entities()
            .filter(|id| id.as_str().starts_with("npc:"));
        npcs.cloned().collect()
    }

    /// Plays one tick.
    pub(crate) fn step(&mut self, mut inbox: Inbox) -> Outcome {
        inbox.away.clone_from(&self.away);
        self.tick += 1;
        self.world.tick(Tick(self.tick), inbox, &mut ())
    }

    pub(crate) fn command(&mut self, command: &str, inbox: &mut Inbox) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let n = |i: usize| -> i32 { words[i].parse().expect("a number") };
        let who = CharacterId::from(words[0]);
        let intent = match words[1..] {
            ["joins", "at", ..] => return inbox.arrivals.push(newcomer(&words)),
            ["leaves"] => {
                self.world.leave(&who).expect("a player who can leave");
                return;
            }
            ["held"] => return assert!(self.world.hold(&who, true)),
            ["free"] => return assert!(self.world.hold(&who, false)),
            ["belongs", "to", ..] => {
                let region = Region { x: n(3), z: n(4) };
                return assert!(self.world.set_region(&who, region));
            }
            ["is", "away"] => return assert!(self.away.insert(who)),
            ["is", "back"] => return assert!(self.away.remove(&who)),
            ["may", "not", "trade"] => return inbox.value = world::Value::Frozen,
            ["may", "not", "save"] => return inbox.value = world::Value::Unavailable,
            ["stays"] => return assert!(self.world.call_off(&who)),
            ["goes", "to", ..] => Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: None,
            },
            ["walks", "to", ..] => Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: Some(false),
            },
            ["runs", "to", ..] => Intent::Walk {
                to: Tile::new(n(3), n(4)),
                run: Some(true),
            },
            ["walks"] => Intent::Run(false),
            ["runs"] => Intent::Run(true),
            ["stops"] => Intent::Stop,
            ["follows", target] => Intent::Follow {
                target: self.thing(target),
            },
            ["examines", target] => Intent::Examine {
                target: self.thing(target),
            },
            _ => self.about_value(&words),
        };
        self.number += 1;
        inbox.inputs.push(PlayerInput {
            who,
            number: self.number,
            intent,
        });
    }

    /// What somebody asks that moves value.
    fn about_value(&self, words: &[&str]) -> Intent {
        let many = |i: usize| -> u32 { words[i].parse().expect("a number") };
        let small = |i: usize| -> u8 { words[i].parse().expect("a slot") };
        match words[1..] {
            ["drops", _] => Intent::Drop {
                slot: small(2),
                quantity: None,
            },
            ["drops", _, "of", _] => Intent::Drop {
                slot: small(4),
                quantity: Some(many(2)),
            },
            ["takes", target] => Intent::Pickup {
                target: self.thing(target),
            },
            ["puts", _, "into", _] => Intent::MoveSlot {
                from: small(2),
                to: small(4),
            },
            ["withdraws", _] => Intent::WithdrawCoins { amount: many(2) },
            ["deposits", "all"] => Intent::DepositCoins { amount: None },
            ["deposits", _] => Intent::DepositCoins {
                amount: Some(many(2)),
            },
            ["goes", "home"] => Intent::HomeTeleport,
            ["is", "put", "at", x, z] => Intent::Teleport {
                to: Tile::new(x.parse().expect("x"), z.parse().expect("z")),
            },
            ["uses", _] => Intent::Use {
                slot: small(2),
                skill: None,
            },
            ["uses", _, "for", skill] => Intent::Use {
                slot: small(2),
                skill: Some(Skill::named(skill).expect("a skill")),
            },
            ["uses", _, "with", _] => Intent::UseWith {
                slot: small(2),
                other: small(4),
            },
            ["uses", _, "on", target] => Intent::UseOn {
                slot: small(2),
                target: self.thing(target),
            },
            ["gathers", target] => Intent::Gather {
                target: self.thing(target),
            },
            [trade, ..] if Trade::named(trade).is_some() => self.making(words),
            ["wears", _] => Intent::Equip { slot: small(2) },
            ["removes", place] => Intent::Unequip {
                place: EquipSlot::named(place).expect("a place"),
            },
            ["opens", "bank", "at", target] => Intent::OpenBank {
                target: self.thing(target),
            },
            ["closes", "bank"] => Intent::CloseBank,
            ["talks", "to", target] => Intent::Talk {
                target: self.thing(target),
            },
            ["answers", _] => Intent::Respond { index: small(2) },
            ["goes", "on"] => Intent::Continue,
            ["ends", "talk"] => Intent::EndTalk,
            ["lists", "quests"] => Intent::Quest(Questing::List),
            ["reads", quest] => Intent::Quest(Questing::Show {
                quest: quest.into(),
            }),
            ["accepts", quest] if !["offer", "confirm"].contains(&quest) => {
                Intent::Quest(Questing::Accept {
                    quest: quest.into(),
                })
            }
            ["abandons", quest] => Intent::Quest(Questing::Abandon {
                quest: quest.into(),
            }),
            ["completes", quest] => Intent::Quest(Questing::Complete {
                quest: quest.into(),
            }),
            ["attacks", target] => Intent::Attack {
                target: self.thing(target),
            },
            ["fights", style] => Intent::FightAs(Style::named(style).expect("a style")),
            ["hits", "back"] => Intent::Retaliate(true),
            ["suffers"] => Intent::Retaliate(false),
            ["casts", "nothing"] => Intent::Autocast { spell: None },
            ["casts", spell] => Intent::Autocast {
                spell: Some(spell.into()),
            },
            ["prays", prayer] => Intent::Pray {
                prayer: prayer.into(),
            },
            ["prays", "at", target] => Intent::PrayAt {
                target: self.thing(target),
            },
            ["rises"] => Intent::Respawn,
            ["opens", "shop", "at", target] => Intent::Shop(Shopping::Open {
                target: self.thing(target),
            }),
            ["closes", "shop"] => Intent::Shop(Shopping::Close),
            ["buys", _, item] => Intent::Shop(Shopping::Buy {
                item: item.into(),
                quantity: many(2),
            }),
            ["sells", _, "of", _] => Intent::Shop(Shopping::Sell {
                slot: small(4),
                quantity: many(2),
            }),
            _ => match (self.trading(words), self.dueling(words)) {
                (Some(wish), _) => Intent::Trade(wish),
                (None, Some(wish)) => Intent::Duel(wish),
                (None, None) => Intent::Bank(banking(words)),
            },
        }
    }

    /// What somebody asks about a trade: the last one, if none is named as in `cancels in t1`.
    fn trading(&self, words: &[&str]) -> Option<Trading> {
        let many = |i: usize| -> u32 { words[i].parse().expect("a number") };
        let small = |i: usize| -> u8 { words[i].parse().expect("a slot") };
        let named = match words {
            [.., "in", name] => name.strip_prefix('t'),
            _ => None,
        };
        let trade = match named {
            Some(number) => {
                let number: usize = number.parse().expect("the number of a trade");
                self.trades.get(number - 1)
            }
            None => self.trades.last(),
        };
        let trade = trade.cloned().unwrap_or_else(|| "trade:none".into());
        let end = words.len() - 2 * usize::from(named.is_some());
        Some(match words[1..end] {
            ["trades", target] => Trading::Ask {
                target: self.thing(target),
            },
            ["agrees", "to", "trade"] => Trading::Answer {
                trade,
                accept: true,
            },
            ["declines"] => Trading::Answer {
                trade,
                accept: false,
            },
            ["offers", _] => Trading::Offer {
                trade,
                slot: small(2),
                quantity: None,
            },
            ["offers", _, "of", _] => Trading::Offer {
                trade,
                slot: small(4),
                quantity: Some(many(2)),
            },
            ["makes", _, "at", _] => Trading::Change {
                trade,
                place: small(4),
                quantity: many(2),
            },
            ["keeps", place] if place.parse::<u8>().is_ok() => Trading::Withdraw {
                trade,
                place: small(2),
            },
            ["accepts", "offer"] => Trading::Accept {
                trade,
                seen: Screen::Offer,
            },
            ["accepts", "confirm"] => Trading::Accept {
                trade,
                seen: Screen::Confirm,
            },
            ["doubts"] => Trading::Doubt { trade },
            ["cancels"] => Trading::Cancel { trade },
            _ => return None,
        })
    }

    fn trade_name(&self, trade: &EntityId) -> String {
        let place = self.trades.iter().position(|known| known == trade);
        place.map_or(trade.to_string(), |place| format!("t{}", place + 1))
    }

    fn trade_told(&self, who: &CharacterId, told: &TradeTold) -> String {
        match told {
            TradeTold::Incoming { trade, from, .. } => {
                format!("{who} hears {from} ask for {}", self.trade_name(trade))
            }
            TradeTold::Started {
                trade,
                partner,
                partner_free_slots,
                ..
            } => {
                let name = self.trade_name(trade);
                format!("{who} began {name} with {partner} free {partner_free_slots}")
            }
            TradeTold::Shown {
                screen,
                mine,
                theirs,
                partner_free_slots,
                worth: [gives, gets],
                ..
            } => {
                let (mine, theirs) = (offer(mine), offer(theirs));
                match screen {
                    Screen::Offer => {
                        format!("{who} sees {mine} for {theirs} free {partner_free_slots}")
                    }
                    Screen::Confirm => {
                        format!("{who} confirms {mine} for {theirs} worth {gives} for {gets}")
                    }
                }
            }
            TradeTold::Completed { trade, received } => {
                let got = received.iter();
                let got = got.map(|stack| format!(" {} {}", stack.item, stack.quantity));
                let name = self.trade_name(trade);
                format!("{who} got by {name}{}", got.collect::<String>())
            }
            TradeTold::Ended { trade, why } => {
                format!("{who} lost {} {why:?}", self.trade_name(trade))
            }
        }
    }

    /// `ann cook`, with `raw_trout`, `at #1`, `times 3` behind it.
    fn making(&self, words: &[&str]) -> Intent {
        let after = |word: &str| {
            let at = words.iter().position(|w| *w == word)?;
            words.get(at + 1).copied()
        };
        let what = words.get(2).filter(|w| !["at", "times"].contains(w));
        Intent::Make {
            trade: Trade::named(words[1]).expect("a trade"),
            what: what.map(|what| (*what).into()),
            target: after("at").map(|target| self.thing(target)),
            quantity: after("times").map(|n| n.parse().expect("a number")),
        }
    }

    /// What a script calls `#1` or by its id.
    pub(crate) fn thing(&self, name: &str) -> EntityId {
        let number = name.strip_prefix('#').map(|n| n.parse::<usize>());
        number.map_or(EntityId::from(name), |n| {
            self.things[n.expect("a number") - 1].clone()
        })
    }

    fn tell(&mut self, outcome: &Outcome, told: &mut String) {
        self.audit.extend(outcome.trades.iter().cloned());
        for event in &outcome.events {
            if let Event::TradeAsked { trade, .. } = event {
                self.trades.push(trade.clone());
            }
            self.hear_of_duel(event);
        }
        let events = outcome.events.iter();
        let mut parts: Vec<String> = events.filter_map(|e| self.event(e)).collect();
        for id in &outcome.touched {
            let is_thing = ["item:", "fire:"]
                .iter()
                .any(|p| id.as_str().starts_with(p));
            if is_thing && !self.things.contains(id) {
                self.things.push(id.clone());
            }
            let place = self.things.iter().position(|thing| thing == id);
            let name = place.map_or(id.to_string(), |place| format!("#{}", place + 1));
            parts.push(match self.world.look(id) {
                Some(look) => {
                    let mut part = format!("{name} {},{}", look.tile.x, look.tile.z);
                    let said = ["itemId", "quantity", "owner"].map(|field| look.field(field));
                    for field in said.into_iter().flatten() {
                        match field {
                            Field::Text(text) => write!(part, " {text}"),
                            Field::Int(number) => write!(part, " {number}"),
                            Field::Bool(flag) => write!(part, " {flag}"),
                        }
                        .expect("a string takes all");
                    }
                    if look.field("depleted").is_some() {
                        part.push_str(" empty");
                    }
                    part
                }
                None => format!("{name} gone"),
            });
        }
        for crossing in &outcome.crossings {
            let mut part = format!("{} to {},{}", crossing.who, crossing.to.x, crossing.to.z);
            if let Some(place) = crossing.place {
                write!(part, " at {},{}", place.x, place.z).expect("a string takes all");
            }
            parts.push(part);
        }
        let line = format!("{:>2} {}", self.tick - BEGIN, parts.join("; "));
        writeln!(told, "{}", line.trim_end()).expect("a string takes all");
    }

    /// What an event says; vitals are told by the stories about energy only.
    fn event(&self, event: &Event) -> Option<String> {
        let record = || self.world.player(event.who()).expect("it is here").record();
        Some(match event {
            Event::Done { .. } | Event::Vitals { .. } => return None,
            Event::Refused { who, refusal, .. } => format!("{who} refused {refusal:?}"),
            Event::Joined { who } => format!("{who} joined"),
            Event::TurnedAway { who, refusal } => format!("{who} turned away {refusal:?}"),
            Event::Examined { who, target, text } => format!("{who} sees {target}: {text}"),
            Event::Inventory { who, slots } => {
                let inside = |slot: &u8| match record().inventory.get(slot) {
                    Some(stack) => format!(" {slot}={} {}", stack.item, stack.quantity),
                    None => format!(" {slot}=nothing"),
                };
                format!("{who}{}", slots.iter().map(inside).collect::<String>())
            }
            Event::Coins { who } => format!("{who} coins {}", record().coins),
            Event::Equipment { who, slots } => {
                let worn = |slot: &EquipSlot| match record().equipment.get(slot) {
                    Some(stack) => format!(" {}={} {}", slot.name(), stack.item, stack.quantity),
                    None => format!(" {}=nothing", slot.name()),
                };
                format!("{who} wears{}", slots.iter().map(worn).collect::<String>())
            }
            Event::Bank { who, items } => {
                let lies = |item: &Arc<str>| match record().bank.items.get(item) {
                    Some(there) => {
                        format!(" {item}={} {}:{}", there.quantity, there.tab, there.place)
                    }
                    None => format!(" {item}=gone"),
                };
                format!("{who} banks{}", items.iter().map(lies).collect::<String>())
            }
            Event::Opened { who, what } => format!("{who} opened {what:?}"),
            Event::Closed { who, what } => format!("{who} closed {what:?}"),
            Event::Trained {
                who,
                skill,
                gained_tenths,
                now,
                leveled_up,
            } => {
                let points = |tenths: u64| format!("{}.{}", tenths / 10, tenths % 10);
                let (gained, has) = (points(*gained_tenths), points(now.xp_tenths));
                let up = if *leveled_up { "!" } else { "" };
                format!(
                    "{who} {} +{gained}={has} level {}{up}",
                    skill.name(),
                    now.level
                )
            }
            Event::Working { who, job, target } => {
                let at = target
                    .as_ref()
                    .map_or(String::new(), |id| format!(" at {id}"));
                match job {
                    Job::Gather => format!("{who} gathers{at}"),
                    Job::Make(craft) => {
                        format!("{who} begins to {} {}{at}", craft.trade.name(), craft.key)
                    }
                }
            }
            Event::Rested { who, why: None } => format!("{who} is done"),
            Event::Rested {
                who,
                why: Some(why),
            } => format!("{who} rests {why:?}"),
            Event::Said { who, said } => {
                let answers = said.answers.iter();
                let answers = answers.map(|(number, text)| format!(" [{number} {text}]"));
                let answers: String = answers.collect();
                format!("{who} hears {}: {}{answers}", said.name, said.text)
            }
            Event::Quests { who } => format!("{who} sees quests"),
            Event::QuestShown { who, quest } => format!("{who} sees {quest}"),
            Event::Quest { who, quest } => {
                let state = record().quests.get(quest).cloned().unwrap_or_default();
                let stage = state.stage.as_deref().unwrap_or("-");
                let counts = state.counts.iter().map(|(of, n)| format!(" {of}={n}"));
                let counts: String = counts.collect();
                format!("{who} {quest}: {:?} {stage}{counts}", state.status())
            }
            Event::QuestDone { who, quest } => format!("{who} completes {quest}"),
            Event::Hit { who, hit } => {
                let own = hit.attacker == who.entity();
                let beast = self.world.player(&hit.attacker.character()).is_none();
                if !own && !beast {
                    return None;
                }
                let Hit {
                    attacker,
                    target,
                    damage,
                    health,
                    ..
                } = hit;
                let killed = if hit.killed { " dead" } else { "" };
                format!("{attacker} hits {target} {damage} left {health}{killed}")
            }
            Event::Died { who, killer, .. } => {
                format!("{who} died by {}", killer.as_deref().unwrap_or("nothing"))
            }
            Event::Respawned { who, tile } => format!("{who} rose {},{}", tile.x, tile.z),
            Event::Prayer { who } => {
                let prayer = &self.world.player(who).expect("it is here").record().prayer;
                let on: Vec<&str> = prayer.active.iter().map(|id| &**id).collect();
                format!("{who} prays {} [{}]", prayer.points, on.join(" "))
            }
            Event::Ways { .. } => return None,
            Event::Failed { who, refusal, .. } => format!("{who} failed {refusal:?}"),
            Event::Shop { who, shop } => {
                let goods = shop.goods.iter().map(|good| {
                    let stock = good.stock.map_or("any".to_owned(), |many| many.to_string());
                    format!(" {stock} {} at {}", good.item, good.price)
                });
                format!("{who} sees {}:{}", shop.id, goods.collect::<String>())
            }
            Event::Grave { who, grave } => {
                let things = grave.items.iter();
                let things = things.map(|stack| format!(" {} {}", stack.item, stack.quantity));
                let things = things.collect::<String>();
                match grave.tile {
                    Some(at) => format!(
                        "{who} grave at {},{} for {}:{things}",
                        at.x, at.z, grave.ticks
                    ),
                    None => format!("{who} grave gone"),
                }
            }
            Event::TradeAsked { who, trade, .. } => {
                format!("{who} asked for {}", self.trade_name(trade))
            }
            Event::Trade { who, told } => self.trade_told(who, told),
            Event::Duel { who, told } => duels::told(who, told),
            Event::Elsewhere { who, target, .. } => format!("{who} wants {target} elsewhere"),
            Event::Teleported { who, tile } => format!("{who} teleported {},{}", tile.x, tile.z),
        })
    }
}

/// What one side of a trade offers; with a ! behind it if it agrees.
fn offer(offer: &world::Offer) -> String {
    let things = offer.things.iter().map(|(place, offered)| {
        let stack = &offered.stack;
        format!(
            "{place}={} {} of {}",
            stack.item, stack.quantity, offered.slot
        )
    });
    let agreed = if offer.agreed { "!" } else { "" };
    format!("[{}]{agreed}", things.collect::<Vec<_>>().join(", "))
}

/// What somebody asks at its bank.
fn banking(words: &[&str]) -> Banking {
    let many = |i: usize| -> u32 { words[i].parse().expect("a number") };
    let small = |i: usize| -> u8 { words[i].parse().expect("a slot or tab") };
    let tab = words.iter().position(|w| *w == "in");
    let tab = tab.map_or(0, |i| small(i + 1));
    let item = |i: usize| words[i].into();
    let arrange = |how| Banking::Arrange(how);
    match words[1..] {
        ["banks", "all", ..] => Banking::DepositAll { tab },
        ["banks", "clothes", ..] => Banking::DepositWorn { tab },
        ["banks", "coins", _] => Banking::Coins {
            amount: many(3),
            out: false,
        },
        ["banks", _, "of", _, ..] => Banking::Deposit {
            slot: small(4),
            quantity: many(2),
            tab,
        },
        ["pockets", _] => Banking::Coins {
            amount: many(2),
            out: true,
        },
        ["gets", _, _] | ["gets", _, _, "noted"] => Banking::Withdraw {
            item: item(3),
            quantity: many(2),
            noted: words.len() > 4,
        },
        ["swaps", _, "with", _] => arrange(Arrange::Swap {
            item: item(2),
            with: item(4),
        }),
        ["shifts", _, "before", _] => arrange(Arrange::Before {
            item: item(2),
            other: item(4),
        }),
        ["shifts", _, "to", _] => arrange(Arrange::Tab {
            item: item(2),
            tab: small(4),
        }),
        ["keeps", "places"] => arrange(Arrange::Placeholders(true)),
        ["keeps", "no", "places"] => arrange(Arrange::Placeholders(false)),
        ["frees", "places"] => arrange(Arrange::Release(None)),
        ["frees", _] => arrange(Arrange::Release(Some(item(2)))),
        _ => panic!("no such command: {words:?}"),
    }
}

/// `ann joins at 3 4`, with `energy 50`, `health 5`, `trained agility=8300` (tenths, commas between), `of 1 0` (a region), `pouch 5`, `devout 3` (points), `new`, `unready` or at last
/// `with logs 1 candle 7` behind it.
fn newcomer(words: &[&str]) -> Arrival {
    let n = |i: usize| -> i32 { words[i].parse().expect("a number") };
    let tile = Tile::new(n(3), n(4));
    let after = |word: &str| words.iter().position(|w| *w == word);
    let region = after("of").map_or(Region::from(tile), |i| Region {
        x: n(i + 1),
        z: n(i + 2),
    });
    let energy = after("energy").map_or(10_000, |i| n(i + 1).unsigned_abs());
    let health = after("health").map_or(10, |i| n(i + 1).unsigned_abs());
    let points = after("devout").map_or(0, |i| n(i + 1).unsigned_abs());
    let coins = after("pouch").map_or(0, |i| words[i + 1].parse().expect("a number"));
    let trained = after("trained").map_or("", |i| words[i + 1]);
    let trained = trained.split(',').filter_map(|pair| pair.split_once('='));
    let skills = trained.map(|(name, tenths)| {
        let skill = Skill::named(name).expect("a skill");
        (skill, SkillXp::of(tenths.parse().expect("tenths")))
    });
    let things = after("with").map_or(&[][..], |i| &words[i + 1..]);
    let stacks = things.chunks(2).map(|pair| {
        let quantity = pair[1].parse().expect("a number");
        Stack::new(pair[0], quantity)
    });
    Arrival {
        record: PlayerRecord {
            energy,
            health,
            coins,
            placed: after("new").is_none(),
            inventory: (0..).zip(stacks).collect(),
            skills: skills.collect(),
            prayer: Devotion {
                points,
                ..Devotion::default()
            },
            ..record(words[0], tile)
        },
        hot: after("unready").map_or_else(heard, |_| PlayerHot::default()),
        region,
    }
}

/// Of one whose client has asked for something already: no beast lets it be.
fn heard() -> PlayerHot {
    let mut hot = PlayerHot::default();
    hot.fight.heard_at = Tick(1);
    hot
}

/// A player at rest who walks, with full energy.
pub(crate) fn record(name: &str, tile: Tile) -> PlayerRecord {
    PlayerRecord {
        id: CharacterId::from(name),
        name: name.to_owned(),
        tile,
        y: 0,
        health: 10,
        skills: BTreeMap::new(),
        coins: 0,
        energy: 10_000,
        running: false,
        combat_level: 3,
        placed: true,
        inventory: BTreeMap::new(),
        equipment: BTreeMap::new(),
        bank: Bank::default(),
        home_ready_at: Tick::default(),
        quests: world::Quests::new(),
        ways: Ways::default(),
        prayer: Devotion::default(),
        stakes: BTreeMap::new(),
    }
}
