//! The meaning of a script's words.

use std::collections::BTreeMap;

use world::content::EquipSlot;
use world::{
    Arrange, Arrival, CharacterId, CharacterState, Columns, Emote, EntityId, Intent, PlayerHot,
    PlayerRecord, PrayerState, RecipeKind, Region, Screen, Skill, SkillXp, Stack, Style, Tick,
    Tile, bank, combat, death, dialogue, emotes, equipment, ground_items, home_teleport, movement,
    pack, prayer, quests, shop, skilling, trade, use_item,
};

use super::Stage;

impl Stage {
    /// Returns a request that moves value.
    pub(super) fn about_value(&self, words: &[&str]) -> Intent {
        let many = |i: usize| -> u32 { words[i].parse().expect("a number") };
        let small = |i: usize| -> u8 { words[i].parse().expect("a slot") };
        match words[1..] {
            ["drops", _] => Intent::GroundItems(ground_items::Intent::Drop {
                slot: small(2),
                quantity: None,
            }),
            ["drops", _, "of", _] => Intent::GroundItems(ground_items::Intent::Drop {
                slot: small(4),
                quantity: Some(many(2)),
            }),
            ["takes", target] => Intent::GroundItems(ground_items::Intent::Pickup {
                target: self.thing(target),
            }),
            ["puts", _, "into", _] => Intent::Pack(pack::Intent::MoveSlot {
                from: small(2),
                to: small(4),
            }),
            ["withdraws", _] => Intent::Pack(pack::Intent::WithdrawCoins { amount: many(2) }),
            ["deposits", "all"] => Intent::Pack(pack::Intent::DepositCoins { amount: None }),
            ["deposits", _] => Intent::Pack(pack::Intent::DepositCoins {
                amount: Some(many(2)),
            }),
            ["goes", "home"] => Intent::HomeTeleport(home_teleport::Intent::Begin),
            ["is", "put", "at", x, z] => Intent::Movement(movement::Intent::Teleport {
                to: Tile::new(x.parse().expect("x"), z.parse().expect("z")),
            }),
            ["uses", _] => Intent::UseItem(use_item::Intent::Use {
                slot: small(2),
                skill: None,
            }),
            ["uses", _, "for", skill] => Intent::UseItem(use_item::Intent::Use {
                slot: small(2),
                skill: Some(Skill::named(skill).expect("a skill")),
            }),
            ["uses", _, "with", _] => Intent::Skilling(skilling::Intent::UseWith {
                slot: small(2),
                other: small(4),
            }),
            ["uses", _, "on", target] => Intent::Skilling(skilling::Intent::UseOn {
                slot: small(2),
                target: self.thing(target),
            }),
            ["gathers", target] => Intent::Skilling(skilling::Intent::Gather {
                target: self.thing(target),
            }),
            [trade, ..] if RecipeKind::named(trade).is_some() => self.making(words),
            ["wears", _] => Intent::Equipment(equipment::Intent::Equip { slot: small(2) }),
            ["removes", place] => Intent::Equipment(equipment::Intent::Unequip {
                place: EquipSlot::named(place).expect("a place"),
            }),
            ["opens", "bank", "at", target] => Intent::Bank(bank::Intent::Open {
                target: self.thing(target),
            }),
            ["closes", "bank"] => Intent::Bank(bank::Intent::Close),
            ["talks", "to", target] => Intent::Dialogue(dialogue::Intent::Talk {
                target: self.thing(target),
            }),
            ["answers", _] => Intent::Dialogue(dialogue::Intent::Respond { index: small(2) }),
            ["goes", "on"] => Intent::Dialogue(dialogue::Intent::Continue),
            ["ends", "talk"] => Intent::Dialogue(dialogue::Intent::End),
            ["lists", "quests"] => Intent::Quests(quests::Intent::List),
            ["reads", quest] => Intent::Quests(quests::Intent::Show {
                quest: quest.into(),
            }),
            ["accepts", quest] if !["offer", "confirm"].contains(&quest) => {
                Intent::Quests(quests::Intent::Accept {
                    quest: quest.into(),
                })
            }
            ["abandons", quest] => Intent::Quests(quests::Intent::Abandon {
                quest: quest.into(),
            }),
            ["completes", quest] => Intent::Quests(quests::Intent::Complete {
                quest: quest.into(),
            }),
            ["attacks", target] => Intent::Combat(combat::Intent::Attack {
                target: self.thing(target),
            }),
            ["fights", style] => {
                Intent::Combat(combat::Intent::Style(Style::named(style).expect("a style")))
            }
            ["hits", "back"] => Intent::Combat(combat::Intent::Retaliate { on: true }),
            ["suffers"] => Intent::Combat(combat::Intent::Retaliate { on: false }),
            ["casts", "nothing"] => Intent::Combat(combat::Intent::Autocast { spell: None }),
            ["casts", spell] => Intent::Combat(combat::Intent::Autocast {
                spell: Some(spell.into()),
            }),
            ["prays", prayer] => Intent::Prayer(prayer::Intent::Toggle {
                prayer: prayer.into(),
            }),
            ["prays", "at", target] => Intent::Prayer(prayer::Intent::PrayAt {
                target: self.thing(target),
            }),
            ["performs", emote] => Intent::Emotes(emotes::Intent::Perform {
                emote: *Emote::ALL
                    .iter()
                    .find(|known| known.name() == emote)
                    .expect("an emote"),
            }),
            ["rises"] => Intent::Death(death::Intent::Respawn),
            ["opens", "shop", "at", target] => Intent::Shop(shop::Intent::Open {
                target: self.thing(target),
            }),
            ["closes", "shop"] => Intent::Shop(shop::Intent::Close),
            ["buys", _, item] => Intent::Shop(shop::Intent::Buy {
                item: item.into(),
                quantity: many(2),
            }),
            ["sells", _, "of", _] => Intent::Shop(shop::Intent::Sell {
                slot: small(4),
                quantity: many(2),
            }),
            _ => match (self.trading(words), self.dueling(words)) {
                (Some(request), _) => Intent::Trade(request),
                (None, Some(request)) => Intent::Duel(request),
                (None, None) => Intent::Bank(banking(words)),
            },
        }
    }

    /// Returns a request about a trade: the last one, if the words name none as in `cancels in t1`.
    pub(super) fn trading(&self, words: &[&str]) -> Option<trade::Intent> {
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
            ["trades", target] => trade::Intent::Ask {
                target: self.thing(target),
            },
            ["agrees", "to", "trade"] => trade::Intent::Answer {
                trade,
                accept: true,
            },
            ["declines"] => trade::Intent::Answer {
                trade,
                accept: false,
            },
            ["offers", _] => trade::Intent::Offer {
                trade,
                slot: small(2),
                quantity: None,
            },
            ["offers", _, "of", _] => trade::Intent::Offer {
                trade,
                slot: small(4),
                quantity: Some(many(2)),
            },
            ["makes", _, "at", _] => trade::Intent::Change {
                trade,
                place: small(4),
                quantity: many(2),
            },
            ["keeps", place] if place.parse::<u8>().is_ok() => trade::Intent::Withdraw {
                trade,
                place: small(2),
            },
            ["accepts", "offer"] => trade::Intent::Accept {
                trade,
                seen: Screen::Offer,
            },
            ["accepts", "confirm"] => trade::Intent::Accept {
                trade,
                seen: Screen::Confirm,
            },
            ["revokes"] => trade::Intent::RevokeAcceptance { trade },
            ["cancels"] => trade::Intent::Cancel { trade },
            _ => return None,
        })
    }

    /// Reads `ann cook`, with `raw_trout`, `at #1`, `times 3` behind it.
    pub(super) fn making(&self, words: &[&str]) -> Intent {
        let after = |word: &str| {
            let at = words.iter().position(|w| *w == word)?;
            words.get(at + 1).copied()
        };
        let what = words.get(2).filter(|w| !["at", "times"].contains(w));
        Intent::Skilling(skilling::Intent::Make {
            trade: RecipeKind::named(words[1]).expect("a trade"),
            what: what.map(|what| (*what).into()),
            target: after("at").map(|target| self.thing(target)),
            quantity: after("times").map(|n| n.parse().expect("a number")),
        })
    }

    /// Returns the thing that a script calls `#1`, or names by its id.
    pub(crate) fn thing(&self, name: &str) -> EntityId {
        let number = name.strip_prefix('#').map(|n| n.parse::<usize>());
        number.map_or(EntityId::from(name), |n| {
            self.things[n.expect("a number") - 1].clone()
        })
    }
}

/// Returns a request at the bank.
pub(super) fn banking(words: &[&str]) -> bank::Intent {
    let many = |i: usize| -> u32 { words[i].parse().expect("a number") };
    let small = |i: usize| -> u8 { words[i].parse().expect("a slot or tab") };
    let tab = words.iter().position(|w| *w == "in");
    let tab = tab.map_or(0, |i| small(i + 1));
    let item = |i: usize| words[i].into();
    let arrange = |how| bank::Intent::Arrange(how);
    match words[1..] {
        ["banks", "all", ..] => bank::Intent::DepositAll { tab },
        ["banks", "clothes", ..] => bank::Intent::DepositWorn { tab },
        ["banks", "coins", _] => bank::Intent::Coins {
            amount: many(3),
            out: false,
        },
        ["banks", _, "of", _, ..] => bank::Intent::Deposit {
            slot: small(4),
            quantity: many(2),
            tab,
        },
        ["pockets", _] => bank::Intent::Coins {
            amount: many(2),
            out: true,
        },
        ["gets", _, _] | ["gets", _, _, "noted"] => bank::Intent::Withdraw {
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

/// Reads `ann joins at 3 4`. Behind it may stand `energy 50`, `health 5`, `trained agility=8300`
/// (tenths, commas between), `of 1 0` (a region), `pouch 5`, `devout 3` (points), `new` and
/// `unready`, and at last `with logs 1 candle 7`.
pub(super) fn newcomer(words: &[&str]) -> Arrival {
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
            prayer: PrayerState {
                points,
                ..PrayerState::default()
            },
            ..record(words[0], tile)
        },
        hot: after("unready").map_or_else(heard, |_| PlayerHot::default()),
        region,
        look: "".into(),
    }
}

/// Returns the state of a player whose client has asked for something already: no beast lets it be.
pub(super) fn heard() -> PlayerHot {
    let mut hot = PlayerHot::default();
    hot.fight.heard_at = Tick(1);
    hot
}

/// Returns a player at rest who walks, with full energy.
pub(crate) fn record(name: &str, tile: Tile) -> PlayerRecord {
    let columns = Columns {
        id: CharacterId::from(name),
        name: name.to_owned(),
        tile,
        y: 0,
        health: 10,
        skills: BTreeMap::new(),
        coins: 0,
        combat_level: 3,
        placed: true,
        inventory: BTreeMap::new(),
        equipment: BTreeMap::new(),
        bank: BTreeMap::new(),
        stakes: BTreeMap::new(),
    };
    PlayerRecord::new(columns, CharacterState::default())
}
