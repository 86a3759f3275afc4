//! Requests of random players.

use std::sync::Arc;

use world::content::EquipSlot;
use world::item::SLOTS;
use world::rng::Dice;
use world::{
    Arrange, CharacterId, DuelRule, DuelStage, EntityId, Event, GroundItem, Intent, Interface,
    RecipeKind, Screen, Skill, Style, Tile, World, bank, combat, death, dialogue, duel, equipment,
    examine, ground_items, home_teleport, movement, pack, prayer, quests, shop, skilling, trade,
    use_item,
};

use super::cluster::{Cluster, PLAYERS};
use super::land::BEASTS;

impl Cluster {
    /// Returns a request of a player, now and then.
    pub(super) fn ask(&mut self, who: &CharacterId, from: Tile) -> Option<Intent> {
        let napping = self.naps.get(who).is_some_and(|until| self.now < *until);
        if napping || self.dice.below(3) > 0 {
            return None;
        }
        let dice = &mut self.dice;
        let slot = |dice: &mut Dice| u8::try_from(dice.below(30)).unwrap();
        let world = self.worlds.iter().find(|world| world.player(who).is_some());
        let trades = world.is_some_and(|world| !world.trades_of(who).is_empty());
        if dice.below(8) < if trades { 7 } else { 2 } {
            return Some(Intent::Trade(self.ask_trade(who, from)));
        }
        let duels = world.is_some_and(|world| world.duel_of(who).is_some());
        if self.duels && self.dice.below(8) < if duels { 7 } else { 2 } {
            return Some(match self.opponent(who) {
                Some(target) if self.dice.below(4) > 0 => {
                    Intent::Combat(combat::Intent::Attack { target })
                }
                _ => Intent::Duel(self.ask_duel(who, from)),
            });
        }
        if self.dice.below(9) == 0 {
            self.naps.insert(who.clone(), self.now + 3);
            return Some(self.ask_people(who));
        }
        let open = world.and_then(|world| world.player(who)?.open().cloned());
        match open {
            Some(Interface::Bank) if self.dice.below(2) == 0 => {
                return Some(Intent::Bank(self.ask_bank()));
            }
            Some(Interface::Shop) if self.dice.below(2) == 0 => {
                return Some(Intent::Shop(self.ask_shop()));
            }
            _ => {}
        }
        let dice = &mut self.dice;
        Some(match dice.below(60) {
            0..4 => {
                let reach = if dice.below(5) == 0 { 40 } else { 7 };
                let to = Tile::new(dice.between(-reach, reach), dice.between(-reach, reach));
                let run = Some(dice.below(2) == 0);
                Intent::Movement(movement::Intent::Walk { to, run })
            }
            4..10 => {
                let quantity = Some(dice.below(5)).filter(|q| *q < 4);
                let slot = slot(dice) % (SLOTS / 2 + dice.below(20) as u8);
                Intent::GroundItems(ground_items::Intent::Drop { slot, quantity })
            }
            10..17 => {
                let near = self.store.ground.values();
                let near: Vec<&GroundItem> = near.filter(|i| i.tile.steps_to(from) < 20).collect();
                let target = match near.len() as u32 {
                    0 => EntityId::from("item:1-1"),
                    many => near[dice.below(many) as usize].id.clone(),
                };
                Intent::GroundItems(ground_items::Intent::Pickup { target })
            }
            17 => Intent::Pack(pack::Intent::MoveSlot {
                from: slot(dice),
                to: slot(dice),
            }),
            18 => Intent::Pack(pack::Intent::WithdrawCoins {
                amount: dice.below(60),
            }),
            19 => Intent::Pack(pack::Intent::DepositCoins {
                amount: Some(dice.below(30)).filter(|q| *q < 25),
            }),
            20 => {
                self.naps.insert(who.clone(), self.now + 20);
                Intent::HomeTeleport(home_teleport::Intent::Begin)
            }
            21 => Intent::Movement(movement::Intent::Stop),
            22 => Intent::UseItem(use_item::Intent::Use {
                slot: slot(dice),
                skill: (dice.below(2) == 0).then_some(Skill::Mining),
            }),
            23 => Intent::Equipment(equipment::Intent::Equip { slot: slot(dice) }),
            24 => Intent::Equipment(equipment::Intent::Unequip {
                place: EquipSlot::ALL[dice.below(11) as usize],
            }),
            25..28 => {
                let banks = ["npc:field:teller", "sta:field:bank", "sta:field:nothing"];
                let target = banks[dice.below(3) as usize].into();
                Intent::Bank(bank::Intent::Open { target })
            }
            28 if dice.below(4) == 0 => Intent::Bank(bank::Intent::Close),
            31..43 => {
                self.naps.insert(who.clone(), self.now + 9);
                self.ask_work()
            }
            43..47 => {
                let (x, z) = BEASTS[dice.below(4) as usize];
                let target = if dice.below(4) == 0 {
                    format!("p{:02}", dice.below(PLAYERS))
                } else {
                    format!("npc:field:rat:{x},{z}:0")
                };
                Intent::Combat(combat::Intent::Attack {
                    target: target.into(),
                })
            }
            50 => Intent::Prayer(prayer::Intent::Toggle {
                prayer: ["skin", "fist", "nothing"][dice.below(3) as usize].into(),
            }),
            51 => Intent::Prayer(prayer::Intent::PrayAt {
                target: ["sta:field:altar", "sta:field:bank"][dice.below(2) as usize].into(),
            }),
            52 => Intent::Death(death::Intent::Respawn),
            53 => Intent::Examine(examine::Intent::Examine {
                target: format!("p{:02}", dice.below(PLAYERS)).into(),
            }),
            47 => Intent::Combat(combat::Intent::Autocast {
                spell: (dice.below(2) == 0).then(|| "gust".into()),
            }),
            48 => Intent::Combat(combat::Intent::Style(Style::ALL[dice.below(7) as usize])),
            49 => Intent::Combat(combat::Intent::Retaliate {
                on: dice.below(3) > 0,
            }),
            54..60 => Intent::Shop(self.ask_shop()),
            _ => Intent::Bank(self.ask_bank()),
        })
    }

    /// Returns a request to talk, mostly on and on, or one about quests.
    pub(super) fn ask_people(&mut self, who: &CharacterId) -> Intent {
        let player = self.worlds.iter().find_map(|world| world.player(who));
        let open = player.and_then(world::Player::open).cloned();
        let dice = &mut self.dice;
        let other = dice.below(20) == 0;
        let quest = || Arc::<str>::from(if other { "nothing" } else { "errand" });
        match open {
            Some(Interface::Dialogue { .. }) => match dice.below(8) {
                0 => Intent::Dialogue(dialogue::Intent::End),
                1..3 => Intent::Dialogue(dialogue::Intent::Continue),
                _ => Intent::Dialogue(dialogue::Intent::Respond {
                    index: u8::try_from(dice.below(5)).unwrap(),
                }),
            },
            Some(Interface::Offer { .. }) if dice.below(6) > 0 => {
                Intent::Quests(quests::Intent::Accept { quest: quest() })
            }
            _ => match dice.below(12) {
                0 => Intent::Quests(quests::Intent::List),
                1 => Intent::Quests(quests::Intent::Show { quest: quest() }),
                2 => Intent::Quests(quests::Intent::Accept { quest: quest() }),
                3 => Intent::Quests(quests::Intent::Abandon { quest: quest() }),
                4 => Intent::Quests(quests::Intent::Complete { quest: quest() }),
                5 => Intent::Dialogue(dialogue::Intent::Respond { index: 0 }),
                6 => Intent::Dialogue(dialogue::Intent::Continue),
                _ => Intent::Dialogue(dialogue::Intent::Talk {
                    target: "npc:field:tom".into(),
                }),
            },
        }
    }

    pub(super) fn ask_work(&mut self) -> Intent {
        let dice = &mut self.dice;
        let slot = |dice: &mut Dice| u8::try_from(dice.below(29)).unwrap();
        let places = [
            "res:thicket:-2,2",
            "res:copper:2,-2",
            "sta:field:range",
            "sta:field:furnace",
            "npc:field:ellis",
        ];
        let target = || EntityId::from(places[0]);
        let at = |dice: &mut Dice| EntityId::from(places[dice.below(5) as usize]);
        match dice.below(12) {
            0..3 => Intent::Skilling(skilling::Intent::Gather {
                target: places[dice.below(2) as usize].into(),
            }),
            3..5 => Intent::Skilling(skilling::Intent::UseWith {
                slot: slot(dice),
                other: slot(dice),
            }),
            5 => Intent::Skilling(skilling::Intent::UseOn {
                slot: slot(dice),
                target: at(dice),
            }),
            6 => Intent::Skilling(skilling::Intent::UseOn {
                slot: slot(dice),
                target: target(),
            }),
            n => Intent::Skilling(skilling::Intent::Make {
                trade: match n {
                    7 => RecipeKind::Cook,
                    8 => RecipeKind::Smelt,
                    9 => RecipeKind::Fletch,
                    10 => RecipeKind::Tan,
                    _ => RecipeKind::Light,
                },
                what: (n == 9).then(|| "shaft".into()),
                target: match n {
                    7 => Some(places[2].into()),
                    8 => Some(places[3].into()),
                    10 => Some(places[4].into()),
                    _ => None,
                },
                quantity: Some(dice.below(5)).filter(|n| *n > 0),
            }),
        }
    }

    /// Returns a request about a trade: about one's own, if there is one, and mostly one towards
    /// its end.
    pub(super) fn ask_trade(&mut self, who: &CharacterId, from: Tile) -> trade::Intent {
        let world = self.worlds.iter().find(|world| world.player(who).is_some());
        let mine = world.map_or(Vec::new(), |world| world.trades_of(who));
        let near = self.worlds.iter().flat_map(World::players);
        let near = near.filter(|p| p.tile().steps_to(from) <= 3 && p.record().id != *who);
        let near: Vec<EntityId> = near.map(|p| p.record().id.entity()).collect();
        let dice = &mut self.dice;
        let trade = match (mine.len() as u32, near.len() as u32) {
            (0, 0) => EntityId::from("trade:1-1"),
            (0, many) => {
                let target = near[dice.below(many) as usize].clone();
                return trade::Intent::Ask { target };
            }
            (many, _) => mine[dice.below(many) as usize].clone(),
        };
        let shown = world.map_or(Vec::new(), |world| world.trade_shown(who));
        let mut shown = shown.iter();
        let confirms = shown.any(|e| matches!(e, Event::Trade(trade::Event::Confirms(..))));
        let seen = if confirms == (dice.below(9) > 0) {
            Screen::Confirm
        } else {
            Screen::Offer
        };
        match dice.below(24) {
            0..6 => trade::Intent::Answer {
                trade,
                accept: dice.below(8) > 0,
            },
            6..9 => trade::Intent::Offer {
                trade,
                slot: u8::try_from(dice.below(30)).unwrap(),
                quantity: Some(dice.below(12)).filter(|q| *q < 11),
            },
            9 => trade::Intent::Change {
                trade,
                place: u8::try_from(dice.below(6)).unwrap(),
                quantity: dice.below(12),
            },
            10 => trade::Intent::Withdraw {
                trade,
                place: u8::try_from(dice.below(6)).unwrap(),
            },
            11 if dice.below(4) == 0 => trade::Intent::Cancel { trade },
            12 => trade::Intent::RevokeAcceptance { trade },
            _ => trade::Intent::Accept { trade, seen },
        }
    }

    /// Returns the opponent of a player in a ring.
    pub(super) fn opponent(&self, who: &CharacterId) -> Option<EntityId> {
        let world = self.worlds.iter().find(|world| world.player(who).is_some());
        let shown = world.map_or(Vec::new(), |world| world.duel_shown(who));
        shown.iter().find_map(|event| match event {
            Event::Duel(duel::Event::Fight(_, told)) => Some(told.opponent_id.entity()),
            _ => None,
        })
    }

    /// Returns a request about a duel: about one's own, if there is one, and mostly one towards its
    /// end.
    pub(super) fn ask_duel(&mut self, who: &CharacterId, from: Tile) -> duel::Intent {
        let world = self.worlds.iter().find(|world| world.player(who).is_some());
        let shown = world.map_or(Vec::new(), |world| world.duel_shown(who));
        let record = world.and_then(|world| world.record(who));
        let packed: Vec<u8> = record.map_or(Vec::new(), |record| {
            record.inventory.keys().copied().collect()
        });
        let challenge = shown.iter().find_map(|told| match told {
            Event::Duel(duel::Event::Incoming(_, told)) => Some(told.challenge_id.clone()),
            _ => None,
        });
        let dice = &mut self.dice;
        if let Some(challenge) = challenge.filter(|_| dice.below(4) > 0) {
            let accept = dice.below(8) > 0;
            return duel::Intent::Answer { challenge, accept };
        }
        let own = shown.iter().find_map(|told| match told {
            Event::Duel(duel::Event::Stage(_, told)) => {
                let stage = DuelStage::ALL
                    .iter()
                    .find(|stage| stage.name() == told.state);
                Some((told.duel_id.clone(), *stage?))
            }
            _ => None,
        });
        let Some((duel, stage)) = own else {
            let near = self.worlds.iter().flat_map(World::players);
            let near = near.filter(|p| p.tile().steps_to(from) <= 16 && p.record().id != *who);
            let near: Vec<EntityId> = near.map(|p| p.record().id.entity()).collect();
            let target = match near.len() as u32 {
                0 => EntityId::from("p99"),
                many => near[dice.below(many) as usize].clone(),
            };
            return duel::Intent::Challenge { target };
        };
        match dice.below(40) {
            0 => duel::Intent::Cancel { duel },
            1 if stage == DuelStage::Fighting => duel::Intent::Forfeit { duel },
            2 => duel::Intent::Rule {
                duel,
                rule: DuelRule::ALL[dice.below(10) as usize],
            },
            3 => duel::Intent::Bare {
                duel,
                place: EquipSlot::ALL[dice.below(11) as usize],
            },
            4 => duel::Intent::Unstake {
                duel,
                place: u8::try_from(dice.below(4)).unwrap(),
            },
            5..28 if stage == DuelStage::Stakes => duel::Intent::Stake {
                duel,
                slot: match packed.len() as u32 {
                    many if many > 0 && dice.below(8) > 0 => packed[dice.below(many) as usize],
                    _ => u8::try_from(dice.below(30)).unwrap(),
                },
                quantity: if dice.below(3) > 0 { 1 } else { dice.below(12) },
            },
            _ => duel::Intent::Agree { duel, seen: stage },
        }
    }

    pub(super) fn ask_shop(&mut self) -> shop::Intent {
        let dice = &mut self.dice;
        let items = ["logs", "candle", "sword", "coins", "cake", "nothing"];
        match dice.below(12) {
            0..4 => shop::Intent::Open {
                target: "npc:field:stall_keeper".into(),
            },
            4..8 => shop::Intent::Buy {
                item: items[dice.below(6) as usize].into(),
                quantity: dice.below(4),
            },
            8 if dice.below(4) == 0 => shop::Intent::Close,
            _ => shop::Intent::Sell {
                slot: u8::try_from(dice.below(30)).unwrap(),
                quantity: dice.below(9),
            },
        }
    }

    pub(super) fn ask_bank(&mut self) -> bank::Intent {
        let dice = &mut self.dice;
        let items = [
            "logs",
            "candle",
            "coins",
            "sword",
            "arrow",
            "shield",
            "logs_noted",
        ];
        let item = |dice: &mut Dice| items[dice.below(7) as usize].into();
        let tab = u8::try_from(dice.below(10)).unwrap();
        let amount = dice.below(40);
        match dice.below(12) {
            0..4 => bank::Intent::Deposit {
                slot: u8::try_from(dice.below(30)).unwrap(),
                quantity: amount,
                tab,
            },
            4 if dice.below(4) == 0 => bank::Intent::DepositAll { tab },
            5 => bank::Intent::DepositWorn { tab },
            6 => bank::Intent::Coins {
                amount,
                out: dice.below(2) == 0,
            },
            7 => bank::Intent::Arrange(match dice.below(5) {
                0 => Arrange::Placeholders(amount.is_multiple_of(2)),
                1 => Arrange::Release(None),
                2 => Arrange::Swap {
                    item: item(dice),
                    with: item(dice),
                },
                3 => Arrange::Before {
                    item: item(dice),
                    other: item(dice),
                },
                _ => Arrange::Tab {
                    item: item(dice),
                    tab,
                },
            }),
            _ => bank::Intent::Withdraw {
                item: item(dice),
                quantity: amount,
                noted: dice.below(2) == 0,
            },
        }
    }
}
