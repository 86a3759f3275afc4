//! Agents: inputs about them, and their own acts.
//!
//! Always: the agent that has waited longest thinks first. All thinking of a tick has its own share
//! of the searches, so that agents never make the world busy for players.

use super::rules::{self, Act, Sees};
use super::work::{self, Around};
use super::{AgentInput, AgentWord, Goal};
use crate::content::ResourceKind;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::features::movement::{self, border};
use crate::features::skilling::gather;
use crate::features::skilling::tick::put_down;
use crate::features::visit::Interface;
use crate::features::{
    bank, combat, equipment, ground_items, home_teleport, shop, skilling, use_item,
};
use crate::geometry::tile::{Region, Tile};
use crate::intent::Intent;
use crate::item::Value;
use crate::refusal::Refusal;
use crate::request::{Asked, Limits};
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
                && player.skilling.work.is_none()
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
            let limits = Limits {
                value,
                searches_end: searches.turn(&who),
            };
            if let Some(player) = self.players.get(&who) {
                phases.region(player.region);
            }
            self.play_agent(&who, limits, out);
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
        let usable = |kind: &ResourceKind| gather::gear(record, content, kind).is_ok();
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

    fn play_agent(&mut self, who: &CharacterId, limits: Limits, out: &mut Outcome) {
        let Some(act) = self.think(who, limits.value) else {
            return;
        };
        let open = limits.value.open().is_ok();
        let went = match act {
            Act::Wait(_) | Act::Done | Act::Failed(_) => return,
            Act::Walk(to) => self.set_out_for(who, to, limits.searches_end),
            Act::Store => open && self.store(who, limits, out),
            Act::Sell => open && self.sell_off(who, limits, out),
            Act::Withdraw(..) | Act::Buy(_) | Act::Use(_) | Act::Wear(_) if !open => false,
            Act::Take(target) => {
                self.asks(who, ground_items::Intent::Pickup { target }, limits, out)
            }
            Act::Gather(target) => self.asks(who, skilling::Intent::Gather { target }, limits, out),
            Act::Make {
                trade,
                what,
                target,
                quantity,
            } => {
                let (what, quantity) = (Some(what), Some(quantity));
                let request = skilling::Intent::Make {
                    trade,
                    what,
                    target,
                    quantity,
                };
                self.asks(who, request, limits, out)
            }
            Act::Open(target) => self.asks(who, bank::Intent::Open { target }, limits, out),
            Act::Withdraw(item, quantity) => {
                let request = bank::Intent::Withdraw {
                    item,
                    quantity,
                    noted: false,
                };
                let fetched = self.asks(who, request, limits, out);
                self.asks(who, bank::Intent::Close, limits, out);
                fetched
            }
            Act::Use(slot) => self.asks(
                who,
                use_item::Intent::Use { slot, skill: None },
                limits,
                out,
            ),
            Act::Wear(slot) => self.asks(who, equipment::Intent::Equip { slot }, limits, out),
            Act::FightAs(style) => self.asks(who, combat::Intent::Style(style), limits, out),
            Act::Attack(target) => self.asks(who, combat::Intent::Attack { target }, limits, out),
            Act::OpenShop(target) => self.asks(who, shop::Intent::Open { target }, limits, out),
            Act::Buy(item) => {
                let bought = self.asks(who, shop::Intent::Buy { item, quantity: 1 }, limits, out);
                self.asks(who, shop::Intent::Close, limits, out);
                bought
            }
        };
        let thinks_at = self.now.after(if went { 1 } else { AGAIN_TICKS });
        if let Some(agent) = self.agent_mut(who) {
            agent.thinks_at = thinks_at;
        }
    }

    /// Asks for something as the agent's player would. Returns whether the world accepts it.
    pub(crate) fn asks(
        &mut self,
        who: &CharacterId,
        intent: impl Into<Intent>,
        limits: Limits,
        out: &mut Outcome,
    ) -> bool {
        let asked = Asked::by_itself(who);
        self.answer(asked, intent.into(), limits, out).is_ok()
    }

    /// Sends an agent on its way to `to`, or as near as there is one. Returns whether it goes.
    fn set_out_for(&mut self, who: &CharacterId, to: Tile, end: u64) -> bool {
        let Some(player) = self.players.get_mut(who) else {
            return false;
        };
        let (router, terrain) = (&mut self.router, self.content.terrain());
        let way = movement::way(player, router, terrain, end, to);
        way.map(|path| player.gait.path = path).is_ok()
    }

    /// Puts an agent's spare items into its open bank. Returns whether there were any.
    fn store(&mut self, who: &CharacterId, limits: Limits, out: &mut Outcome) -> bool {
        let mut stored = false;
        for (slot, quantity) in self.spare(who) {
            let tab = 0;
            let request = bank::Intent::Deposit {
                slot,
                quantity,
                tab,
            };
            stored |= self.asks(who, request, limits, out);
        }
        self.asks(who, bank::Intent::Close, limits, out);
        stored
    }

    /// Sells an agent's spare items in the open shop. Returns whether it sold any.
    fn sell_off(&mut self, who: &CharacterId, limits: Limits, out: &mut Outcome) -> bool {
        let mut sold = false;
        for (slot, quantity) in self.spare(who) {
            let request = shop::Intent::Sell { slot, quantity };
            sold |= self.asks(who, request, limits, out);
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
            .filter(|item| item.may_take(who, from, self.now).is_ok())
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
        let usable = |kind: &ResourceKind| gather::gear(record, content, kind).is_ok();
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
