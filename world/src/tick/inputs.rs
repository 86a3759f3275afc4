//! Inputs of players: the order in which the world plays them, and the feature that answers.
//!
//! Always: the world answers each input once, or gives it back for later. A refusal has changed
//! nothing. No input overtakes an earlier one of the same player.

use super::{Outcome, PhaseClock};
use crate::entity::ids::CharacterId;
use crate::entity::player::{PID_END, Player, Players};
use crate::event::Event;
use crate::features::duel::DuelEnd;
use crate::features::{death, home_teleport, movement, skilling};
use crate::geometry::budget::Budget;
use crate::geometry::tile::Tile;
use crate::intent::{Intent, PlayerInput};
use crate::item::Value;
use crate::refusal::Refusal;
use crate::request::{self, Answer, Asked, Limits};
use crate::time::Tick;
use crate::world::World;

impl World {
    /// Puts a player somewhere else at once, for an operator. Ends all that the player does.
    pub(crate) fn teleport(
        &mut self,
        who: &CharacterId,
        to: Tile,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let place = self.content.terrain().settled(to);
        let place = place.ok_or(Refusal::Unreachable)?;
        player.homeward.send(place, self.now)?;
        player.gait.path.clear();
        interrupt(player, out);
        self.end_duels_of(who, DuelEnd::Cancelled, out);
        Ok(())
    }

    /// Plays the inputs of players: by player slot, then by character id, then by number.
    pub(crate) fn inputs(
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
                out.emit(request::Event::Deferred { who, number });
                continue;
            }
            let about_value = input.intent.about_value();
            // The world notes every refused request for a trade.
            let trading = if let Intent::Trade(intent) = &input.intent {
                Some(intent.clone())
            } else {
                None
            };
            let limits = Limits {
                value,
                searches_end: searches.turn(&who),
            };
            let answer = match self.follow(input, limits, out) {
                Ok(Answer::Told) => continue,
                Ok(Answer::Done { value }) => {
                    Event::Request(request::Event::Done { who, number, value })
                }
                Ok(Answer::Elsewhere { target }) => {
                    goes_elsewhere = Some(who.clone());
                    Event::Request(request::Event::Elsewhere {
                        who,
                        number,
                        target,
                    })
                }
                Err(refusal) => {
                    if let Some(intent) = &trading {
                        self.note_refused(&who, intent, refusal, &mut *out);
                    }
                    Event::Request(request::Event::Refused {
                        who,
                        number,
                        refusal,
                        value: about_value && refusal.tells_of_value(),
                    })
                }
            };
            out.events.push(answer);
        }
    }

    /// Shares a part of the tick's searches out among the players that may ask for one.
    pub(crate) fn share_searches<'a>(
        &self,
        part: u64,
        askers: impl Iterator<Item = &'a CharacterId>,
    ) -> Budget {
        let tiles = self.rules.search_tiles_per_tick / part;
        Budget::new(tiles, askers, &self.mint, self.now, &self.router)
    }

    /// Follows an intent, if the player may do anything of the sort now.
    fn follow(
        &mut self,
        input: PlayerInput,
        limits: Limits,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let who = &input.who;
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if player.gait.held || player.leaving_for().is_some() {
            return Err(Refusal::Busy);
        }
        if !player.lives() {
            // A dead player stands up in its time.
            let asked = matches!(input.intent, Intent::Death(death::Intent::Respawn));
            return if asked {
                Ok(Answer::Done { value: false })
            } else {
                Err(Refusal::Dead)
            };
        }
        player.fight.heard_at = self.now;
        player.fight.shy_until = Tick::default();
        let trades = player.dealings.trade.is_some() && self.trades_now(who);
        if trades && input.intent.waits_for_trade() {
            return Err(Refusal::InterfaceOpen);
        }
        let intent = self.meant(who, input.intent)?;
        self.allowed_in_duel(who, &intent)?;
        intent.allowed(limits.value)?;
        let asked = Asked {
            who,
            number: input.number,
        };
        self.answer(asked, intent, limits, out)
    }

    /// Passes each intent to its feature: those of players, and of agents that act by themselves.
    pub(crate) fn answer(
        &mut self,
        asked: Asked<'_>,
        intent: Intent,
        limits: Limits,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let (who, end) = (asked.who, limits.searches_end);
        match intent {
            Intent::Movement(intent) => self.answer_movement(who, intent, end, out),
            Intent::Examine(intent) => self.answer_examine(who, intent, out),
            Intent::HomeTeleport(intent) => self.answer_home_teleport(who, intent, out),
            Intent::GroundItems(intent) => self.answer_ground_items(asked, intent, end, out),
            Intent::Pack(intent) => self.answer_pack(who, intent, out),
            Intent::UseItem(intent) => self.answer_use_item(who, intent, out),
            Intent::Skilling(intent) => self.answer_skilling(asked, intent, end, out),
            Intent::Equipment(intent) => self.answer_equipment(who, intent, out),
            Intent::Bank(intent) => self.answer_bank(asked, intent, end, out),
            Intent::Dialogue(intent) => self.answer_dialogue(asked, intent, limits, out),
            Intent::Quests(intent) => self.answer_quests(who, intent, out),
            Intent::Combat(intent) => self.answer_combat(who, intent, end, out),
            Intent::Prayer(intent) => self.answer_prayer(asked, intent, end, out),
            // The player lives already.
            Intent::Death(death::Intent::Respawn) => Ok(Answer::Done { value: false }),
            Intent::Shop(intent) => self.answer_shop(asked, intent, end, out),
            Intent::Trade(intent) => self.answer_trade(asked, intent, out),
            Intent::Duel(intent) => self.answer_duel(who, intent, out),
            Intent::Emotes(intent) => self.answer_emotes(who, intent, out),
            // An unresolved intent has become another one by now.
            Intent::Unresolved(_) => Err(Refusal::Unsupported),
        }
    }
}

/// Lets only the last of several moves of a player in one tick search for a route. It replaces the
/// others, which end at the player's tile.
fn only_the_last_walks(players: &Players, ordered: &mut [(u32, PlayerInput)]) {
    let mut walked: Option<CharacterId> = None;
    for (_, input) in ordered.iter_mut().rev() {
        let Intent::Movement(movement::Intent::Walk { to, .. }) = &mut input.intent else {
            continue;
        };
        if walked.as_ref() != Some(&input.who) {
            walked = Some(input.who.clone());
        } else if let Some(player) = players.get(&input.who) {
            *to = player.tile();
        }
    }
}

/// Ends the player's plan because something else comes in between, and tells the player so.
pub(crate) fn interrupt(player: &mut Player, out: &mut Outcome) {
    skilling::tick::put_down(player, Some(Refusal::Interrupted), out);
    if player.pickup.is_some() || player.visit.is_some() {
        out.events.push(failed(player, Refusal::Interrupted));
    }
    lay_down(player, out);
    if home_teleport::tick::call_off(player, out) {
        out.events.push(failed(player, Refusal::Interrupted));
    }
}

/// Ends the player's plan because it turns to something else. Nothing has failed: the player knows
/// that it leaves its plan.
pub(crate) fn turn_away(player: &mut Player, out: &mut Outcome) {
    lay_down(player, out);
    home_teleport::tick::call_off(player, out);
}

/// Clears all pending actions of the player: its work, leader, visit, pickup and target.
pub(crate) fn lay_down(player: &mut Player, out: &mut Outcome) {
    skilling::tick::put_down(player, None, out);
    player.follow = None;
    player.visit = None;
    player.pickup = None;
    player.fight.aim = None;
}

/// Returns the event that an earlier promise to `player` came to nothing.
pub(crate) fn failed(player: &Player, refusal: Refusal) -> Event {
    Event::Request(request::Event::Failed {
        who: player.record.id.clone(),
        refusal,
        value: refusal.tells_of_value(),
    })
}
