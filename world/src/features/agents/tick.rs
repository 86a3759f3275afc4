//! Agents: inputs about them, and their own acts.
//!
//! Always: the agent that has waited longest thinks first. All thinking of a tick has its own share
//! of the searches, so that agents never make the world busy for players.

use std::sync::Arc;

use super::rules::{self, Act, Sees};
use super::work::{self, Around};
use super::{AgentInput, AgentWord, Goal};
use crate::content::ResourceKind;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::features::movement::{self, border};
use crate::features::skilling::gather;
use crate::features::skilling::make::tick::Request;
use crate::features::skilling::tick::put_down;
use crate::features::visit::Interface;
use crate::features::{bank, ground_items, home_teleport, shop};
use crate::geometry::tile::{Chunk, Region, Tile};
use crate::item::Value;
use crate::refusal::Refusal;
use crate::request::Asked;
use crate::rng;
use crate::tick::{Outcome, PhaseClock};
use crate::world::World;

/// Most agents that think in one tick. The others wait for the next.
const THOUGHTS_MAX: usize = 64;
/// Divisor of a tick's searches: the share for agents.
const SEARCH_SHARE: u64 = 4;
/// Furthest tiles at which agents see items to take.
const ITEMS_TILES: u32 = 24;
/// Most items that an agent looks at.
const ITEMS_MAX: usize = 8;
/// Ticks before the next thought, after an act failed.
const AGAIN_TICKS: u64 = 2;

impl World {
    /// Follows the inputs about agents.
    pub(crate) fn hear_agents(&mut self, inputs: Vec<AgentInput>, out: &mut Outcome) {
        let now = self.now;
        for AgentInput { who, word } in inputs {
            let Some(player) = self.players.get_mut(&who) else {
                continue;
            };
            if let (AgentWord::Orders(orders), None) = (&word, &player.agent)
                && orders.agent
            {
                let xp = player.record.skills.values().map(|skill| skill.xp_tenths);
                player.agent = Some(rules::fresh(orders, xp.sum()));
                out.touched.insert(who.entity());
            }
            let Some(agent) = &mut player.agent else {
                continue;
            };
            match word {
                AgentWord::Orders(orders) if !orders.agent => {
                    if orders.version >= agent.orders.version {
                        player.agent = None;
                        stop(player, out);
                        out.touched.insert(who.entity());
                    }
                }
                AgentWord::Orders(orders) => {
                    if rules::obey(agent, orders, &self.content, now) {
                        stop(player, out);
                    }
                }
                AgentWord::Played(played) => agent.played = played,
                AgentWord::Command(told) if !agent.played => {
                    rules::heed(agent, told, &self.content, now);
                    stop(player, out);
                }
                // The player that plays it hears of the order and decides.
                AgentWord::Command(_) => {}
            }
        }
    }

    /// Lets agents under attack react. Then lets each idle agent think and act.
    pub(crate) fn play_agents(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let now = self.now;
        let idle = |player: &Player| {
            let agent = player.agent.as_ref()?;
            let stands = (player.gait.path.is_empty() || is_stuck(player))
                && player.pickup.is_none()
                && player.follow.is_none()
                && player.visit.is_none()
                && player.skilling.labour.is_none()
                && player.free()
                && player.fight.aim.is_none()
                && player.homeward.done_at.is_none();
            (stands && rules::thinks(agent, now))
                .then(|| (agent.thinks_at, player.record.id.clone()))
        };
        self.alarm_agents(value, phases, out);
        let mut thinking: Vec<_> = self.players.values().filter_map(idle).collect();
        thinking.sort_unstable();
        thinking.truncate(THOUGHTS_MAX);
        let askers = thinking.iter().map(|(_, who)| who);
        let mut searches = self.share_searches(SEARCH_SHARE, askers);
        for (_, who) in thinking {
            let end = searches.turn(&who);
            if let Some(player) = self.players.get(&who) {
                phases.region(player.region);
            }
            self.play_agent(&who, value, end, out);
        }
    }

    /// Lets an agent look about and think. Returns its next act; `None`: it is no agent.
    fn think(&mut self, who: &CharacterId, value: Value) -> Option<Act> {
        let now = self.now;
        let player = self.players.get(who)?;
        let items = self.takeable(player, value);
        let follows = player.agent.as_ref().and_then(|agent| agent.pursuit());
        let leader = follows.and_then(|pursuit| match &pursuit.goal {
            Goal::Follow(leader) => self.players.get(leader).map(Player::tile),
            _ => None,
        });
        // The grave to which it is on its way, or goes when it has thought.
        let left = player.agent.as_ref().and_then(|agent| agent.grave.as_ref());
        let grave = match follows.map(|pursuit| &pursuit.goal) {
            Some(Goal::Recover(grave, _)) => Some(grave),
            _ => left.map(|grave| &grave.id),
        };
        let grave_there = grave.is_some_and(|grave| self.ground.in_grave(grave).next().is_some());
        let fights = follows.is_some_and(|pursuit| pursuit.goal == Goal::Fight);
        let beasts = if fights {
            self.beasts(player)
        } else {
            Vec::new()
        };
        let mut dice = self.mint.dice(rng::key(who.as_str()), now);
        let player = self.players.get_mut(who)?;
        let at_bank = player.has_open(&Interface::Bank);
        let at_shop = player.has_open(&Interface::Shop);
        let agent = player.agent.as_mut()?;
        let (record, content) = (&player.record, &self.content);
        let usable = |kind: &ResourceKind| gather::rules::gear(record, content, kind).is_ok();
        let sees = Sees {
            content: &self.content,
            now,
            tile: player.record.tile,
            items: &items,
            leader,
            beasts: &beasts,
            grave_there,
            around: Some(Around {
                record: &player.record,
                usable: &usable,
                resources: &self.resources,
                fires: &self.fires,
                regions: &self.regions,
                at_bank,
                at_shop,
            }),
        };
        Some(rules::think(agent, &sees, &mut dice))
    }

    fn play_agent(&mut self, who: &CharacterId, value: Value, end: u64, out: &mut Outcome) {
        let Some(act) = self.think(who, value) else {
            return;
        };
        let went = match act {
            Act::Wait(_) | Act::Done | Act::Failed(_) => return,
            Act::Walk(to) => {
                let Some(player) = self.players.get_mut(who) else {
                    return;
                };
                let (router, terrain) = (&mut self.router, self.content.terrain());
                let way = movement::rules::way(player, router, terrain, end, to);
                way.map(|path| player.gait.path = path).is_ok()
            }
            Act::Take(item) => self.pick_up(who, 0, item, end, out).is_ok(),
            Act::Gather(target) => self.gather(Asked::by_itself(who), target, end, out).is_ok(),
            Act::Make {
                trade,
                what,
                target,
                quantity,
            } => {
                let request = Request {
                    trade,
                    what: Some(what),
                    target,
                    quantity: Some(quantity),
                };
                self.make(Asked::by_itself(who), request, end, out).is_ok()
            }
            Act::Open(bank) => {
                let bank = self.visit(Asked::by_itself(who), bank, Interface::Bank, end, out);
                bank.is_ok()
            }
            Act::Store => value.open().is_ok() && self.store(who, out),
            Act::Withdraw(item, quantity) => {
                value.open().is_ok() && self.fetch(who, item, quantity, out)
            }
            Act::Use(slot) => value.open().is_ok() && self.use_item(who, slot, None, out).is_ok(),
            Act::Wear(slot) => value.open().is_ok() && self.equip(who, slot, out).is_ok(),
            Act::FightAs(style) => self.fight_as(who, style, out).is_ok(),
            Act::Attack(target) => self.attack(who, target, end, out).is_ok(),
            Act::OpenShop(keeper) => {
                let shop = self.visit(Asked::by_itself(who), keeper, Interface::Shop, end, out);
                shop.is_ok()
            }
            Act::Buy(item) => value.open().is_ok() && self.buy_one(who, item, end, out),
            Act::Sell => value.open().is_ok() && self.sell_off(who, end, out),
        };
        let agent = self.players.get_mut(who).and_then(|p| p.agent.as_mut());
        if let Some(agent) = agent {
            let pause = if went { 1 } else { AGAIN_TICKS };
            agent.thinks_at = self.now.after(pause);
        }
    }

    /// Puts an agent's spare items into its open bank. Returns whether there were any.
    fn store(&mut self, who: &CharacterId, out: &mut Outcome) -> bool {
        let mut stored = false;
        for (slot, quantity) in self.spare(who) {
            let request = bank::Intent::Deposit {
                slot,
                quantity,
                tab: 0,
            };
            stored |= self
                .answer_bank(Asked::by_itself(who), request, 0, out)
                .is_ok();
        }
        let _ = self.shut(who, &Interface::Bank, out);
        stored
    }

    /// Takes an item out of an agent's open bank. Returns whether that worked.
    fn fetch(
        &mut self,
        who: &CharacterId,
        item: Arc<str>,
        quantity: u32,
        out: &mut Outcome,
    ) -> bool {
        let request = bank::Intent::Withdraw {
            item,
            quantity,
            noted: false,
        };
        let fetched = self
            .answer_bank(Asked::by_itself(who), request, 0, out)
            .is_ok();
        let _ = self.shut(who, &Interface::Bank, out);
        fetched
    }

    /// Buys one item in the open shop for an agent. Returns whether that worked.
    fn buy_one(&mut self, who: &CharacterId, item: Arc<str>, end: u64, out: &mut Outcome) -> bool {
        let quantity = 1;
        let request = shop::Intent::Buy { item, quantity };
        let bought = self
            .answer_shop(Asked::by_itself(who), request, end, out)
            .is_ok();
        let _ = self.shut(who, &Interface::Shop, out);
        bought
    }

    /// Sells an agent's spare items in the open shop. Returns whether it sold any.
    fn sell_off(&mut self, who: &CharacterId, end: u64, out: &mut Outcome) -> bool {
        let mut sold = false;
        for (slot, quantity) in self.spare(who) {
            let request = shop::Intent::Sell { slot, quantity };
            sold |= self
                .answer_shop(Asked::by_itself(who), request, end, out)
                .is_ok();
        }
        sold
    }

    /// Returns the slots of an agent's spare items, each with its quantity.
    fn spare(&self, who: &CharacterId) -> Vec<(u8, u32)> {
        let Some(player) = self.players.get(who) else {
            return Vec::new();
        };
        let pack = &player.record.inventory;
        let spare = work::spare(&self.content, pack).into_iter();
        let many = |slot| pack.get(&slot).map(|stack| (slot, stack.quantity));
        spare.filter_map(many).collect()
    }

    /// Returns the items near a player that it may take, the nearest first.
    pub(crate) fn takeable(&self, player: &Player, value: Value) -> Vec<EntityId> {
        if value.open().is_err() {
            return Vec::new();
        }
        let (from, who) = (player.tile(), &player.record.id);
        let near = |region: &&Region| region.tiles_past(from) <= ITEMS_TILES;
        let near = self.regions.keys().filter(near);
        let items = near.flat_map(|region| self.ground.of(*region));
        let mut items: Vec<(u32, EntityId)> = items
            .filter(|item| from.steps_to(item.tile) <= ITEMS_TILES)
            .filter(|item| ground_items::rules::may_take(item, who, from, self.now).is_ok())
            .map(|item| (from.steps_to(item.tile), item.id.clone()))
            .collect();
        items.sort_unstable();
        items.truncate(ITEMS_MAX);
        items.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns the goals that an owner may set for an agent now, each with the reason for it.
    pub fn goals_for(&self, who: &CharacterId, value: Value) -> Vec<(Goal, String)> {
        let Some(player) = self.players.get(who) else {
            return Vec::new();
        };
        let items = self.takeable(player, value);
        let (record, content) = (&player.record, &self.content);
        let usable = |kind: &ResourceKind| gather::rules::gear(record, content, kind).is_ok();
        let sees = Sees {
            content: &self.content,
            now: self.now,
            tile: player.tile(),
            items: &items,
            leader: None,
            beasts: &[],
            grave_there: false,
            around: Some(Around {
                record: &player.record,
                usable: &usable,
                resources: &self.resources,
                fires: &self.fires,
                regions: &self.regions,
                at_bank: player.has_open(&Interface::Bank),
                at_shop: player.has_open(&Interface::Shop),
            }),
        };
        let goals = crate::features::agents::templates(&self.content).into_iter();
        goals
            .filter_map(|goal| {
                let reason = rules::reason(&goal, &sees)?;
                Some((goal, reason))
            })
            .collect()
    }

    /// Returns how many items near a player it may take.
    pub fn takeable_near(&self, who: &CharacterId) -> usize {
        let player = self.players.get(who);
        player.map_or(0, |player| self.takeable(player, Value::Open).len())
    }

    /// Returns the ids of everything in the chunks within `tiles` of `from`, of the regions played
    /// here.
    pub fn entities_near(&self, from: Tile, tiles: u32) -> Vec<&EntityId> {
        let reach = i32::try_from(tiles).unwrap_or(i32::MAX);
        let low = Chunk::from(from.moved(-reach, -reach));
        let high = Chunk::from(from.moved(reach, reach));
        let column = |x| Chunk { x, z: low.z }..=Chunk { x, z: high.z };
        let found = (low.x..=high.x).flat_map(|x| self.index.between(column(x)));
        found.collect()
    }
}

/// Returns whether a player can go no further from its region, and is not being handed over. Nobody
/// plays the region beyond now.
fn is_stuck(player: &Player) -> bool {
    let next = player.gait.path.front();
    let no_further = |next: &Tile| !border::may_step(player.region, player.tile(), *next);
    !player.gait.held && next.is_some_and(no_further)
}

/// Ends a player's present work and its way.
pub(crate) fn stop(player: &mut Player, out: &mut Outcome) {
    put_down(player, Some(Refusal::Interrupted), out);
    player.gait.path.clear();
    player.pickup = None;
    player.follow = None;
    player.visit = None;
    player.fight.aim = None;
    home_teleport::tick::call_off(player, out);
}
