//! The tick: its phases in order, and who answers which intent.
//!
//! The order is: who arrives (by character id); duels; inputs (by place in the order, then number); who
//! goes home; NPCs; players' steps; players' attacks; blows that land, deaths, and who stands up
//! again; what lies on the ground (who has come to it takes it, by place in the order, and what is
//! due goes); visits; work (trees and shoals, who works by place in the order, fires); shops;
//! trades that cannot go on; skills;
//! health and prayers; energy; crossings. NPCs move before players, so that a
//! player never runs into one that was about to step aside.

mod agents;
mod alarms;
mod arrivals;
mod blows;
mod deaths;
mod duels;
mod fights;
mod fires;
mod gathering;
mod graves;
mod homeward;
mod labour;
mod making;
mod npcs;
mod prayers;
mod quests;
mod rings;
mod shops;
mod talks;
mod things;
mod trades;
mod training;
mod value;
mod visits;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agent::AgentInput;
use crate::border::{self, Crossing};
use crate::changes::Changes;
use crate::duel::DuelEnd;
use crate::event::Event;
use crate::fight::Hit;
use crate::ids::{CharacterId, EntityId};
use crate::intent::{Arrival, Intent, PlayerInput};
use crate::interface::Interface;
use crate::item::Value;
use crate::player::{PID_END, Player};
use crate::refusal::Refusal;
use crate::rules::combat::mind;
use crate::rules::{energy, examine, home_teleport, movement};
use crate::tick::Tick;
use crate::tile::{Chunk, Region};
use crate::trade::TradeNote;
use crate::world::World;

/// All that a tick hears: frozen at its edge, and enough to play it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbox {
    /// Who comes in.
    pub arrivals: Vec<Arrival>,
    /// What players ask.
    pub inputs: Vec<PlayerInput>,
    /// Whether value may change hands.
    #[serde(default)]
    pub value: Value,
    /// Those in duels whom nobody plays just now.
    #[serde(default)]
    pub away: BTreeSet<CharacterId>,
    /// What comes in about agents, in order.
    #[serde(default)]
    pub agents: Vec<AgentInput>,
}

/// All that a tick did, for those outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What somebody in particular must be told, in order.
    pub events: Vec<Event>,
    /// Whose public look may have changed, appeared or gone since the tick before.
    pub touched: BTreeSet<EntityId>,
    /// The blows that landed, in order.
    pub hits: Vec<Hit>,
    /// Who must be saved.
    pub changes: Changes,
    /// Each step of each trade, in order.
    pub trades: Vec<TradeNote>,
    /// Who should belong to another region, by character id.
    pub crossings: Vec<Crossing>,
}

/// A part of a tick whose time is worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Who comes in.
    Arrivals,
    /// What duels come to.
    Duels,
    /// What players ask.
    Inputs,
    /// Who goes home.
    Homeward,
    /// What agents make up their minds to.
    Agents,
    /// What NPCs do.
    Npcs,
    /// The steps of players.
    Players,
    /// Who attacks whom.
    Fights,
    /// Which blows land, who dies of them, and who stands up again.
    Deaths,
    /// What lies on the ground.
    Ground,
    /// Who comes to a bank, or leaves it.
    Visits,
    /// Who works, and what becomes of trees, shoals and fires.
    Labour,
    /// What shops have in stock.
    Shops,
    /// Who cannot go on trading.
    Trades,
    /// Who gains experience.
    Skills,
    /// Who gets better, and whose prayers use up points.
    Mending,
    /// Run energy.
    Energy,
    /// Who crosses a border.
    Borders,
}

impl Phase {
    /// All of them, in the order of a tick.
    pub const ALL: [Phase; 18] = [
        Phase::Arrivals,
        Phase::Duels,
        Phase::Inputs,
        Phase::Homeward,
        Phase::Agents,
        Phase::Npcs,
        Phase::Players,
        Phase::Fights,
        Phase::Deaths,
        Phase::Ground,
        Phase::Visits,
        Phase::Labour,
        Phase::Shops,
        Phase::Trades,
        Phase::Skills,
        Phase::Mending,
        Phase::Energy,
        Phase::Borders,
    ];

    /// The label by which it is measured.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Arrivals => "arrivals",
            Phase::Duels => "duels",
            Phase::Inputs => "inputs",
            Phase::Homeward => "homeward",
            Phase::Agents => "agents",
            Phase::Npcs => "npcs",
            Phase::Players => "players",
            Phase::Fights => "fights",
            Phase::Deaths => "deaths",
            Phase::Ground => "ground",
            Phase::Visits => "visits",
            Phase::Labour => "labour",
            Phase::Shops => "shops",
            Phase::Trades => "trades",
            Phase::Skills => "skills",
            Phase::Mending => "mending",
            Phase::Energy => "energy",
            Phase::Borders => "borders",
        }
    }
}

/// Told when each phase ends and what comes next in it; whoever drives the world has the clock.
pub trait PhaseClock {
    /// `phase` has just ended.
    fn phase(&mut self, phase: Phase);

    /// An input of `who` is handled next.
    fn input(&mut self, _who: &CharacterId) {}

    /// Something that belongs to this region is played next, for nobody in particular.
    fn region(&mut self, _region: Region) {}
}

/// Does not care about time.
impl PhaseClock for () {
    fn phase(&mut self, _: Phase) {}
}

impl World {
    /// Plays the tick `now`, which is later than any before.
    pub fn tick(&mut self, now: Tick, inbox: Inbox, phases: &mut dyn PhaseClock) -> Outcome {
        self.now = now;
        self.minted = 0;
        let touched = std::mem::take(&mut self.touched);
        let mut out = Outcome {
            touched,
            ..Outcome::default()
        };
        self.regions
            .values_mut()
            .for_each(|counters| counters.ticks_played += 1);
        self.arrivals(inbox.arrivals, inbox.value, &mut out);
        phases.phase(Phase::Arrivals);
        self.play_duels(&inbox.away, inbox.value, &mut out);
        phases.phase(Phase::Duels);
        self.inputs(inbox.inputs, inbox.value, phases, &mut out);
        phases.phase(Phase::Inputs);
        self.bring_home(&mut out);
        phases.phase(Phase::Homeward);
        self.hear_agents(inbox.agents, &mut out);
        self.play_agents(inbox.value, phases, &mut out);
        phases.phase(Phase::Agents);
        self.move_npcs(inbox.value, phases, &mut out);
        phases.phase(Phase::Npcs);
        self.stand_still();
        self.move_players(phases, &mut out);
        phases.phase(Phase::Players);
        self.play_fights(inbox.value, phases, &mut out);
        phases.phase(Phase::Fights);
        let mut dead = self.land_blows(inbox.value, &mut out);
        self.fall(&mut dead, &mut out);
        self.bury(dead, &mut out);
        self.raise_the_dead(&mut out);
        phases.phase(Phase::Deaths);
        self.play_ground(inbox.value, phases, &mut out);
        phases.phase(Phase::Ground);
        self.travel(&mut out);
        self.play_visits(&mut out);
        phases.phase(Phase::Visits);
        self.play_resources(&mut out);
        self.play_labour(inbox.value, phases, &mut out);
        self.play_fires(inbox.value, phases, &mut out);
        phases.phase(Phase::Labour);
        self.play_shops(&mut out);
        phases.phase(Phase::Shops);
        self.play_trades(&mut out);
        phases.phase(Phase::Trades);
        self.train_walkers(&mut out);
        phases.phase(Phase::Skills);
        self.mend(&mut out);
        self.drain_prayers(&mut out);
        phases.phase(Phase::Mending);
        self.restore_energy(&mut out);
        phases.phase(Phase::Energy);
        self.find_crossings(&mut out);
        phases.phase(Phase::Borders);
        out
    }

    fn inputs(
        &mut self,
        inputs: Vec<PlayerInput>,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let place = |who: &CharacterId| self.players.get(who).map_or(PID_END, |p| p.pid);
        let mut ordered: Vec<(u32, PlayerInput)> = inputs
            .into_iter()
            .map(|input| (place(&input.who), input))
            .collect();
        ordered.sort_by(|(a_pid, a), (b_pid, b)| {
            (a_pid, &a.who, a.number).cmp(&(b_pid, &b.who, b.number))
        });
        let searches_end = self
            .router
            .visited()
            .saturating_add(self.rules.search_tiles_per_tick);
        for (_, input) in ordered {
            phases.input(&input.who);
            let (who, number) = (input.who.clone(), input.number);
            let about_value = input.intent.about_value();
            let trading = match &input.intent {
                Intent::Trade(wish) => Some(wish.clone()),
                _ => None,
            };
            let answer = match self.follow(input, value, searches_end, out) {
                Ok(Answer::Told) => continue,
                Ok(Answer::Done { value }) => Event::Done { who, number, value },
                Ok(Answer::Elsewhere { target }) => Event::Elsewhere {
                    who,
                    number,
                    target,
                },
                Err(refusal) => {
                    if let Some(wish) = &trading {
                        self.note_refused(&who, wish, refusal, &mut *out);
                    }
                    Event::Refused {
                        who,
                        number,
                        refusal,
                        value: about_value && refusal.tells_of_value(),
                    }
                }
            };
            out.events.push(answer);
        }
    }

    /// Who answers which intent.
    #[allow(clippy::too_many_lines, reason = "one arm an intent")]
    fn follow(
        &mut self,
        input: PlayerInput,
        value: Value,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let who = &input.who;
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if player.held || player.leaving_for().is_some() {
            return Err(Refusal::Busy);
        }
        if !player.lives() {
            // It stands up in its time.
            let asked = matches!(input.intent, Intent::Respawn);
            return if asked {
                Ok(Answer::Done { value: false })
            } else {
                Err(Refusal::Dead)
            };
        }
        player.fight.heard_at = self.now;
        player.fight.shy_until = Tick::default();
        let trades = player.trade.is_some() && self.trades_now(who);
        if trades && input.intent.waits_for_trade() {
            return Err(Refusal::InterfaceOpen);
        }
        self.allowed_in_duel(who, &input.intent)?;
        input.intent.allowed(value)?;
        if matches!(input.intent, Intent::Teleport { .. }) {
            self.end_duels_of(who, DuelEnd::Cancelled, out);
        }
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let about_value = input.intent.about_value();
        match input.intent {
            Intent::Walk { to, run } => {
                let (router, terrain) = (&mut self.router, self.content.terrain());
                player.path = movement::way(player, router, terrain, searches_end, to)?;
                interrupt(player, out);
                if let Some(run) = run {
                    choose_pace(player, run, out);
                }
            }
            Intent::Run(run) => choose_pace(player, run, out),
            Intent::Stop => {
                player.path.clear();
                interrupt(player, out);
            }
            Intent::Examine { target } => self.examine(who, target, out)?,
            Intent::Drop { slot, quantity } => self.drop(who, slot, quantity, out)?,
            Intent::Pickup { target } => {
                return self.pick_up(who, input.number, target, searches_end, out);
            }
            Intent::MoveSlot { from, to } => self.move_slot(who, from, to, out)?,
            Intent::WithdrawCoins { amount } => self.withdraw(who, amount, out)?,
            Intent::DepositCoins { amount } => self.deposit(who, amount, out)?,
            Intent::Use { slot, skill } => self.use_item(who, slot, skill, out)?,
            Intent::UseWith { slot, other } => {
                let by = (who, input.number);
                return self.use_with(by, slot, other, searches_end, out);
            }
            Intent::UseOn { slot, target } => {
                let by = (who, input.number);
                return self.use_on(by, slot, target, searches_end, out);
            }
            Intent::Gather { target } => {
                return self.gather((who, input.number), target, searches_end, out);
            }
            Intent::Make {
                trade,
                what,
                target,
                quantity,
            } => {
                let wish = making::Wish {
                    trade,
                    what,
                    target,
                    quantity,
                };
                return self.make((who, input.number), wish, searches_end, out);
            }
            Intent::Equip { slot } => self.equip(who, slot, out)?,
            Intent::Unequip { place } => self.unequip(who, place, out)?,
            Intent::OpenBank { target } => {
                let by = (who, input.number);
                return self.visit(by, target, Interface::Bank, searches_end, out);
            }
            Intent::CloseBank => self.shut(who, &Interface::Bank, out)?,
            Intent::Bank(wish) => self.bank(who, &wish, out)?,
            Intent::Talk { target } => {
                let by = (who, input.number);
                let what = Interface::Dialogue { node: "".into() };
                return self.visit(by, target, what, searches_end, out);
            }
            Intent::Respond { index } => {
                let by = (who, input.number);
                self.respond(by, index, (value, searches_end), out)?;
                return Ok(Answer::Done { value: true });
            }
            Intent::Continue => {
                let by = (who, input.number);
                self.continue_talk(by, (value, searches_end), out)?;
                return Ok(Answer::Done { value: true });
            }
            Intent::EndTalk => self.end_talk(who, out)?,
            Intent::Quest(wish) => {
                self.quest_wish(who, &wish, out)?;
                return Ok(Answer::Done { value: true });
            }
            Intent::Attack { target } => return self.attack(who, target, searches_end, out),
            Intent::FightAs(style) => self.fight_as(who, style, out)?,
            Intent::Retaliate(on) => self.retaliate(who, on, out)?,
            Intent::Autocast { spell } => self.autocast(who, spell.as_deref(), out)?,
            Intent::Pray { prayer } => self.pray(who, &prayer, out)?,
            Intent::PrayAt { target } => {
                let by = (who, input.number);
                return self.visit(by, target, Interface::Altar, searches_end, out);
            }
            Intent::Respawn => return Err(Refusal::Unsupported),
            Intent::Shop(wish) => {
                let by = (who, input.number);
                return self.shop(by, wish, searches_end, out);
            }
            Intent::Trade(wish) => return self.trade((who, input.number), wish, out),
            Intent::Duel(wish) => return self.duel(who, wish, out),
            Intent::Teleport { to } => {
                let place = movement::settled(self.content.terrain(), to, to);
                let place = place.ok_or(Refusal::Unreachable)?;
                home_teleport::send(&mut player.homeward, place, self.now)?;
                player.path.clear();
                player.fight.aim = None;
                give_up_errand(player, out);
            }
            Intent::HomeTeleport => {
                home_teleport::begin(&mut player.homeward, &player.fight.clash, self.now)?;
                player.path.clear();
                player.fight.aim = None;
                give_up_errand(player, out);
            }
        }
        Ok(Answer::Done { value: about_value })
    }

    fn examine(
        &self,
        who: &CharacterId,
        target: EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let from = self.players.get(who).ok_or(Refusal::NotFound)?.tile();
        let played = |region| self.regions.contains_key(&region);
        let things = (&self.players, &self.npcs, &self.ground);
        let text = examine::examine(things, &self.content, played, from, &target)?;
        out.events.push(Event::Examined {
            who: who.clone(),
            target,
            text,
        });
        Ok(())
    }

    /// Nobody stands in a player's way, so that the order does not matter here.
    fn move_players(&mut self, phases: &mut dyn PhaseClock, out: &mut Outcome) {
        let terrain = self.content.terrain();
        let now = self.now;
        for (who, player) in &mut self.players {
            phases.region(player.region);
            let settled = mind::settled(player.fight.haunt.as_ref(), player.tile(), now);
            if settled.is_some() {
                player.fight.haunt = settled;
            }
            if !player.lives() {
                continue;
            }
            let before = Chunk::from(player.tile());
            if movement::advance(player, terrain, &self.rules) {
                let id = who.entity();
                self.index.shift(before, Chunk::from(player.tile()), &id);
                out.touched.insert(id);
                out.changes.moved.insert(who.clone());
            }
        }
    }

    fn restore_energy(&mut self, out: &mut Outcome) {
        for (who, player) in &mut self.players {
            let ran = player.record.running;
            if energy::tick(player, &self.content) {
                out.events.push(Event::Vitals { who: who.clone() });
            }
            if ran != player.record.running {
                out.touched.insert(who.entity());
            }
        }
    }

    fn find_crossings(&mut self, out: &mut Outcome) {
        let crossings = self.players.values();
        let crossings = crossings.filter_map(|player| border::crossing(player, self.now));
        out.crossings.extend(crossings);
    }
}

/// How an intent was followed.
enum Answer {
    Done {
        value: bool,
    },
    Elsewhere {
        target: EntityId,
    },
    /// It was answered by an event of its own.
    Told,
}

/// The player does something else: what it had set out to do comes to nothing.
fn interrupt(player: &mut Player, out: &mut Outcome) {
    give_up_errand(player, out);
    player.fight.aim = None;
    if player.homeward.done_at.take().is_some() {
        out.events.push(failed(player, Refusal::Interrupted));
    }
}

fn give_up_errand(player: &mut Player, out: &mut Outcome) {
    labour::put_down(player, Some(Refusal::Interrupted), out);
    let visit = player.visit.take().is_some();
    if player.pickup.take().is_some() || visit {
        out.events.push(failed(player, Refusal::Interrupted));
    }
}

/// What `player` was promised came to nothing.
fn failed(player: &Player, refusal: Refusal) -> Event {
    Event::Failed {
        who: player.record.id.clone(),
        refusal,
        value: refusal.tells_of_value(),
    }
}

/// The client is told in any case: it may have shown the choice already.
fn choose_pace(player: &mut Player, run: bool, out: &mut Outcome) {
    let who = player.record.id.clone();
    if energy::choose(player, run) {
        out.touched.insert(who.entity());
    }
    out.events.push(Event::Vitals { who });
}
