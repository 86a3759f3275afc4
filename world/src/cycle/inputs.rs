//! What players ask: in which order it is heard, and who answers it.
//!
//! Always: each input is answered once, or given back to be played later; a refusal has changed
//! nothing; no input overtakes an earlier one of the same player.

use super::{Outcome, PhaseClock, homeward, labour, making};
use crate::duel::DuelEnd;
use crate::event::Event;
use crate::ids::{CharacterId, EntityId};
use crate::intent::{Intent, PlayerInput};
use crate::interface::Interface;
use crate::item::Value;
use crate::map::budget::Budget;
use crate::player::{PID_END, Player, Players};
use crate::refusal::Refusal;
use crate::rules::{energy, examine, home_teleport, movement};
use crate::tick::Tick;
use crate::world::World;

impl World {
    /// What players ask, by their places in the order, then as they asked it.
    pub(super) fn inputs(
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
        let mut searches = self.share_searches(1, ordered.iter().map(|(_, input)| &input.who));
        only_the_last_walks(&self.players, &mut ordered);
        let mut goes_elsewhere: Option<CharacterId> = None;
        for (_, input) in ordered {
            phases.input(&input.who);
            let (who, number) = (input.who.clone(), input.number);
            if goes_elsewhere.as_ref() == Some(&who) {
                out.events.push(Event::Deferred { who, number });
                continue;
            }
            let about_value = input.intent.about_value();
            let trading = match &input.intent {
                Intent::Trade(wish) => Some(wish.clone()),
                _ => None,
            };
            let searches_end = searches.turn(&who);
            let answer = match self.follow(input, value, searches_end, out) {
                Ok(Answer::Told) => continue,
                Ok(Answer::Done { value }) => Event::Done { who, number, value },
                Ok(Answer::Elsewhere { target }) => {
                    goes_elsewhere = Some(who.clone());
                    Event::Elsewhere {
                        who,
                        number,
                        target,
                    }
                }
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

    /// Shares a part of the tick's searches out among those who may ask for one.
    pub(super) fn share_searches<'a>(
        &self,
        part: u64,
        askers: impl Iterator<Item = &'a CharacterId>,
    ) -> Budget {
        let tiles = self.rules.search_tiles_per_tick / part;
        Budget::new(tiles, askers, (self.seed, self.now), &self.router)
    }

    /// Follows an intent, if the one who asks may do anything of the sort now.
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
        let intent = self.meant(who, input.intent)?;
        self.allowed_in_duel(who, &intent)?;
        intent.allowed(value)?;
        let by = (who, input.number);
        self.answer(by, intent, (value, searches_end), out)
    }

    /// Who answers which intent: one family after the other.
    fn answer(
        &mut self,
        by: (&CharacterId, u64),
        intent: Intent,
        (value, searches_end): (Value, u64),
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Walk { .. }
            | Intent::Run(_)
            | Intent::Stop
            | Intent::Follow { .. }
            | Intent::Examine { .. }
            | Intent::Teleport { .. }
            | Intent::HomeTeleport => self.move_about(by.0, intent, searches_end, out),
            Intent::Drop { .. }
            | Intent::Pickup { .. }
            | Intent::MoveSlot { .. }
            | Intent::WithdrawCoins { .. }
            | Intent::DepositCoins { .. }
            | Intent::Use { .. }
            | Intent::Equip { .. }
            | Intent::Unequip { .. }
            | Intent::OpenBank { .. }
            | Intent::CloseBank
            | Intent::Bank(_) => self.handle_things(by, intent, searches_end, out),
            Intent::UseWith { .. }
            | Intent::UseOn { .. }
            | Intent::Gather { .. }
            | Intent::Make { .. } => self.apply_skill(by, intent, searches_end, out),
            Intent::Talk { .. }
            | Intent::Respond { .. }
            | Intent::Continue
            | Intent::EndTalk
            | Intent::Quest(_) => self.converse(by, intent, (value, searches_end), out),
            Intent::Attack { .. }
            | Intent::FightAs(_)
            | Intent::Retaliate(_)
            | Intent::Autocast { .. }
            | Intent::Pray { .. }
            | Intent::PrayAt { .. }
            | Intent::Respawn => self.struggle(by, intent, searches_end, out),
            Intent::Shop(wish) => self.shop(by, wish, searches_end, out),
            Intent::Trade(wish) => self.trade(by, wish, out),
            Intent::Duel(wish) => self.duel(by.0, wish, out),
            // It has become another one.
            Intent::Vague(_) => Err(Refusal::Unsupported),
        }
    }

    fn move_about(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        match intent {
            Intent::Walk { to, run } => {
                let (router, terrain) = (&mut self.router, self.content.terrain());
                player.path = movement::way_anew(player, router, terrain, searches_end, to)?;
                turn_away(player, out);
                if let Some(run) = run {
                    choose_pace(player, run, out);
                }
            }
            Intent::Run(run) => choose_pace(player, run, out),
            Intent::Stop => {
                player.path.clear();
                turn_away(player, out);
            }
            Intent::Follow { target } => return self.go_after(who, target, out),
            Intent::Examine { target } => self.examine(who, target, out)?,
            Intent::Teleport { to } => {
                let place = movement::settled(self.content.terrain(), to, to);
                let place = place.ok_or(Refusal::Unreachable)?;
                home_teleport::send(&mut player.homeward, place, self.now)?;
                player.path.clear();
                interrupt(player, out);
                self.end_duels_of(who, DuelEnd::Cancelled, out);
            }
            Intent::HomeTeleport => {
                home_teleport::begin(&mut player.homeward, &player.fight.clash, self.now)?;
                player.path.clear();
                lay_down(player, out);
                out.events.push(homeward::told(player));
            }
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Answer::Done { value: false })
    }

    fn handle_things(
        &mut self,
        by: (&CharacterId, u64),
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let (who, number) = by;
        let value = intent.about_value();
        match intent {
            Intent::Drop { slot, quantity } => self.drop(who, slot, quantity, out)?,
            Intent::Pickup { target } => {
                return self.pick_up(who, number, target, searches_end, out);
            }
            Intent::MoveSlot { from, to } => self.move_slot(who, from, to, out)?,
            Intent::WithdrawCoins { amount } => self.withdraw(who, amount, out)?,
            Intent::DepositCoins { amount } => self.deposit(who, amount, out)?,
            Intent::Use { slot, skill } => self.use_item(who, slot, skill, out)?,
            Intent::Equip { slot } => self.equip(who, slot, out)?,
            Intent::Unequip { place } => self.unequip(who, place, out)?,
            Intent::OpenBank { target } => {
                return self.visit(by, target, Interface::Bank, searches_end, out);
            }
            Intent::CloseBank => self.shut(who, &Interface::Bank, out)?,
            Intent::Bank(wish) => self.bank(who, &wish, out)?,
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Answer::Done { value })
    }

    fn apply_skill(
        &mut self,
        by: (&CharacterId, u64),
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::UseWith { slot, other } => self.use_with(by, slot, other, searches_end, out),
            Intent::UseOn { slot, target } => self.use_on(by, slot, target, searches_end, out),
            Intent::Gather { target } => self.gather(by, target, searches_end, out),
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
                self.make(by, wish, searches_end, out)
            }
            _ => Err(Refusal::Unsupported),
        }
    }

    fn converse(
        &mut self,
        by: (&CharacterId, u64),
        intent: Intent,
        bounds: (Value, u64),
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Talk { target } => {
                let what = Interface::Dialogue { node: "".into() };
                return self.visit(by, target, what, bounds.1, out);
            }
            Intent::Respond { index } => self.respond(by, index, bounds, out)?,
            Intent::Continue => self.continue_talk(by, bounds, out)?,
            Intent::EndTalk => {
                self.end_talk(by.0, out)?;
                return Ok(Answer::Done { value: false });
            }
            Intent::Quest(wish) => self.quest_wish(by.0, &wish, out)?,
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Answer::Done { value: true })
    }

    fn struggle(
        &mut self,
        by: (&CharacterId, u64),
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let who = by.0;
        match intent {
            Intent::Attack { target } => return self.attack(who, target, searches_end, out),
            Intent::FightAs(style) => self.fight_as(who, style, out)?,
            Intent::Retaliate(on) => self.retaliate(who, on, out)?,
            Intent::Autocast { spell } => self.autocast(who, spell.as_deref(), out)?,
            Intent::Pray { prayer } => self.pray(who, &prayer, out)?,
            Intent::PrayAt { target } => {
                return self.visit(by, target, Interface::Altar, searches_end, out);
            }
            _ => return Err(Refusal::Unsupported),
        }
        Ok(Answer::Done { value: false })
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
}

/// Of several moves of a player in one tick only the last is searched for: it replaces the others,
/// which end where the player stands.
fn only_the_last_walks(players: &Players, ordered: &mut [(u32, PlayerInput)]) {
    let mut walked: Option<CharacterId> = None;
    for (_, input) in ordered.iter_mut().rev() {
        let Intent::Walk { to, .. } = &mut input.intent else {
            continue;
        };
        if walked.as_ref() != Some(&input.who) {
            walked = Some(input.who.clone());
        } else if let Some(player) = players.get(&input.who) {
            *to = player.tile();
        }
    }
}

/// How an intent was followed.
pub(super) enum Answer {
    Done {
        value: bool,
    },
    Elsewhere {
        target: EntityId,
    },
    /// It was answered by an event of its own.
    Told,
}

/// Something else comes in between: what the player had set out to do comes to nothing, and it is
/// told so.
pub(super) fn interrupt(player: &mut Player, out: &mut Outcome) {
    labour::put_down(player, Some(Refusal::Interrupted), out);
    if player.pickup.is_some() || player.visit.is_some() {
        out.events.push(failed(player, Refusal::Interrupted));
    }
    lay_down(player, out);
    if homeward::call_off(player, out) {
        out.events.push(failed(player, Refusal::Interrupted));
    }
}

/// The player turns to something else. Nothing has failed: it knows that it leaves what it had set
/// out to do.
pub(super) fn turn_away(player: &mut Player, out: &mut Outcome) {
    lay_down(player, out);
    homeward::call_off(player, out);
}

/// The player leaves all that it had set out to do by hand and on foot.
fn lay_down(player: &mut Player, out: &mut Outcome) {
    labour::put_down(player, None, out);
    player.follow = None;
    player.visit = None;
    player.pickup = None;
    player.fight.aim = None;
}

/// What `player` was promised came to nothing.
pub(super) fn failed(player: &Player, refusal: Refusal) -> Event {
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
