//! Trades between players: requests, notifications, and the ends of trades.
//!
//! Always: a player that hears of the beginning of a trade hears of its end. The swap is one
//! transfer.

use super::told::{self, TradeAck, TradeCompleted};
use super::{ID_PREFIX, Intent, Screen, Side, Trade, TradeEnd, TradeNote, TradeStep, rules};
use crate::entity::ids::{CharacterId, EntityId};
use crate::event::Event;
use crate::features::{newcomer, trade};
use crate::item::ledger::Cause;
use crate::item::transfer::{self, Holdings};
use crate::item::{SLOTS, Stack};
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::{Outcome, turn_away};
use crate::told::stacks;
use crate::world::World;

impl World {
    /// Answers a request about a trade.
    pub(crate) fn answer_trade(
        &mut self,
        Asked { who, number }: Asked<'_>,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::Ask { target } => {
                return self.ask_for_trade(Asked { who, number }, target, out);
            }
            Intent::Answer {
                trade,
                accept: true,
            } => self.begin_trade(who, &trade, out)?,
            Intent::Answer { trade, .. } => {
                rules::request(&self.trades, who, &trade)?;
                self.end_trade(&trade, TradeEnd::Declined, out);
            }
            Intent::Offer {
                trade,
                slot,
                quantity,
            } => self.offer(who, &trade, slot, quantity, out)?,
            Intent::Change {
                trade,
                place,
                quantity,
            } => {
                let player = self.players.get(who).ok_or(Refusal::NotFound)?;
                let open = rules::of(&mut self.trades, player, &trade)?;
                let slot = rules::slot_at(open, who, place)?;
                self.offer(who, &trade, slot, Some(quantity), out)?;
            }
            Intent::Withdraw { trade, place } => {
                let (now, open) = (self.now, self.open_trade(who, &trade)?);
                let stack = rules::withdraw(open, who, place, now)?;
                self.note_trade(&trade, who, TradeStep::Withdrew, vec![stack], out);
                self.show_trade(&trade, out);
            }
            Intent::Accept { trade, seen } => self.agree(who, &trade, seen, out)?,
            Intent::RevokeAcceptance { trade } => {
                let open = self.open_trade(who, &trade)?;
                let offer = open.offer_mut(who).ok_or(Refusal::NotInTrade)?;
                offer.agreed = false;
                self.note_trade(&trade, who, TradeStep::RevokedAcceptance, Vec::new(), out);
                self.show_trade(&trade, out);
            }
            Intent::Cancel { trade } => {
                let known = self.trades.all.get(&trade);
                if known.is_none_or(|known| known.sides_of(who).is_none()) {
                    let open = self.open_trade(who, &trade);
                    return Err(open.err().unwrap_or(Refusal::InvalidTrade));
                }
                self.end_trade(&trade, TradeEnd::Cancelled, out);
            }
        }
        Ok(Answer::Done { value: true })
    }

    /// Returns whether `who` is in an open trade.
    pub(crate) fn trades_now(&self, who: &CharacterId) -> bool {
        let player = self.players.get(who);
        let named = player.and_then(|player| player.dealings.trade.as_ref());
        self.trades.open(named).is_some()
    }

    fn open_trade(&mut self, who: &CharacterId, id: &EntityId) -> Result<&mut Trade, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        rules::of(&mut self.trades, player, id)
    }

    fn ask_for_trade(
        &mut self,
        Asked { who, number }: Asked<'_>,
        target: EntityId,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let whom = target.character();
        let Some(there) = self.players.get(&whom) else {
            if player.open.is_some() {
                return Err(Refusal::InterfaceOpen);
            }
            if player.dealings.trade.is_some() {
                return Err(Refusal::InTrade);
            }
            let known = self.look(&target).is_some();
            if !known && self.may_be_elsewhere(player.tile()) {
                return Ok(Answer::Elsewhere { target });
            }
            return Err(Refusal::PlayerOffline);
        };
        rules::may_ask(&self.trades, player, there, self.now)?;
        let id = self.mint(ID_PREFIX)?;
        if let Some(oldest) = rules::crowded_out(&self.trades, &whom) {
            self.end_trade(&oldest, TradeEnd::Timeout, out);
        }
        let asked = Trade::asked(id.clone(), who, &whom, self.now);
        self.trades.all.insert(id.clone(), asked);
        let now = self.now;
        if let Some(player) = self.players.get_mut(who) {
            player.dealings.trade = Some(id.clone());
            player.dealings.asked_trade = Some((whom.clone(), now));
        }
        self.note_trade(&id, who, TradeStep::Asked, Vec::new(), out);
        out.emit(trade::Event::Asked {
            who: who.clone(),
            number,
            ack: TradeAck {
                trade_id: id.clone(),
            },
        });
        if let Some(asker) = self.players.get(who) {
            out.emit(trade::Event::Incoming(whom, told::incoming(&id, asker)));
        }
        Ok(Answer::Told)
    }

    /// Begins the trade, after the asked player has accepted.
    fn begin_trade(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let asked = rules::request(&self.trades, who, id)?;
        rules::may_begin(&self.trades, &self.players, asked, self.now)?;
        let both = asked.sides.clone().map(|side| side.who);
        // All other trades and requests of the two come to nothing.
        for one in &both {
            for other in self.trades.of(one) {
                if other != *id {
                    self.end_trade(&other, TradeEnd::Cancelled, out);
                }
            }
        }
        if let Some(trade) = self.trades.all.get_mut(id) {
            trade.show(Screen::Offer, self.now);
        }
        for one in &both {
            if let Some(player) = self.players.get_mut(one) {
                player.dealings.trade = Some(id.clone());
                player.gait.path.clear();
                turn_away(player, out);
            }
        }
        self.note_trade(id, who, TradeStep::Began, Vec::new(), out);
        for one in &both {
            out.events.extend(self.trade_begun(one));
        }
        Ok(())
    }

    fn offer(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        slot: u8,
        quantity: Option<u32>,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let now = self.now;
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let open = rules::of(&mut self.trades, player, id)?;
        if slot >= SLOTS {
            return Err(Refusal::EmptySlot);
        }
        newcomer::may_give(player.record(), &self.rules)?;
        let stack = rules::offer(open, player, &self.content, slot, quantity, now)?;
        self.note_trade(id, who, TradeStep::Offered, vec![stack], out);
        self.show_trade(id, out);
        Ok(())
    }

    /// Notes that `who` agrees to the screen that it has `seen`. The client names the screen. An
    /// agreement sent just before the screen changed must not count for the new one.
    fn agree(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        seen: Screen,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let open = self.open_trade(who, id)?.clone();
        if open.screen != Some(seen) {
            return Err(Refusal::ScreenChanged);
        }
        if !rules::still_there(&open, &self.players) {
            self.end_trade(id, TradeEnd::InvalidItems, out);
            return Ok(());
        }
        let both = open
            .sides
            .each_ref()
            .map(|side| self.players.get(&side.who));
        let [Some(one), Some(other)] = both else {
            return Err(Refusal::PlayerOffline);
        };
        if one.gait.held || other.gait.held {
            return Err(Refusal::PlayerBusy);
        }
        if !rules::in_reach(one.tile(), other.tile()) {
            return Err(Refusal::TooFar);
        }
        // Plan before anything changes: an impossible swap refuses the agreement.
        let legs = rules::swap(&open);
        let holdings = Holdings {
            content: &self.content,
            players: &mut self.players,
            ground: &mut self.ground,
        };
        transfer::check(&holdings, Some(Cause::Trade), &legs)?;
        let now = self.now;
        let trade = self.open_trade(who, id)?;
        let offer = trade.offer_mut(who).ok_or(Refusal::NotInTrade)?;
        offer.agreed = true;
        trade.since = now;
        let agreed = trade.agreed();
        if agreed && seen == Screen::Offer {
            trade.show(Screen::Confirm, now);
        }
        self.note_trade(id, who, TradeStep::Agreed(seen), Vec::new(), out);
        if agreed && seen == Screen::Confirm {
            self.transfer(Some(Cause::Trade), &legs, out)?;
            self.complete_trade(id, out);
        } else {
            self.show_trade(id, out);
        }
        Ok(())
    }

    /// Closes a trade whose items have changed owners, and tells both players.
    fn complete_trade(&mut self, id: &EntityId, out: &mut Outcome) {
        let Some(trade) = self.trades.all.remove(id) else {
            return;
        };
        for (mine, theirs) in pairs(&trade) {
            if let Some(player) = self.players.get_mut(&mine.who) {
                player.dealings.trade.take_if(|named| named == id);
            }
            out.trades.push(TradeNote {
                trade: id.clone(),
                who: mine.who.clone(),
                with: theirs.who.clone(),
                step: TradeStep::Gave,
                things: rules::sums(&mine.offer),
            });
            let completed = TradeCompleted {
                trade_id: id.clone(),
                received_items: stacks(&rules::sums(&theirs.offer)),
            };
            out.emit(trade::Event::Completed(mine.who.clone(), completed));
        }
    }

    /// Ends a trade or a request for one, and tells both players why.
    pub(crate) fn end_trade(&mut self, id: &EntityId, why: TradeEnd, out: &mut Outcome) {
        let Some(trade) = self.trades.all.remove(id) else {
            return;
        };
        for (mine, theirs) in pairs(&trade) {
            out.trades.push(TradeNote {
                trade: id.clone(),
                who: mine.who.clone(),
                with: theirs.who.clone(),
                step: TradeStep::Ended(why),
                things: Vec::new(),
            });
            self.tell_trade_ended(&mine.who, id, why, out);
        }
    }

    fn tell_trade_ended(
        &mut self,
        who: &CharacterId,
        id: &EntityId,
        why: TradeEnd,
        out: &mut Outcome,
    ) {
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        player.dealings.trade.take_if(|named| named == id);
        out.emit(trade::Event::Cancelled(
            who.clone(),
            told::cancelled(id, why),
        ));
    }

    /// Ends all trades and requests of `who`.
    pub(crate) fn end_trades_of(&mut self, who: &CharacterId, why: TradeEnd, out: &mut Outcome) {
        for id in self.trades.of(who) {
            self.end_trade(&id, why, out);
        }
    }

    /// Ends the trades that cannot go on, and tells players of ends that they have not heard.
    pub(crate) fn play_trades(&mut self, out: &mut Outcome) {
        for (who, id, why) in std::mem::take(&mut self.trades.ended) {
            self.tell_trade_ended(&who, &id, why, out);
        }
        let all = self.trades.all.values();
        let over = all.filter_map(|trade| {
            let why = rules::over(trade, &self.players, self.now)?;
            Some((trade.id.clone(), why))
        });
        for (id, why) in over.collect::<Vec<_>>() {
            self.end_trade(&id, why, out);
        }
        let parted = self.players.values().filter_map(|player| {
            let id = player.dealings.trade.as_ref()?;
            let known = self.trades.all.contains_key(id);
            (!known).then(|| (player.record.id.clone(), id.clone()))
        });
        for (who, id) in parted.collect::<Vec<_>>() {
            self.tell_trade_ended(&who, &id, TradeEnd::Server, out);
        }
    }

    fn note_trade(
        &self,
        id: &EntityId,
        who: &CharacterId,
        step: TradeStep,
        things: Vec<Stack>,
        out: &mut Outcome,
    ) {
        let sides = self.trades.all.get(id).and_then(|t| t.sides_of(who));
        if let Some((_, other)) = sides {
            out.trades.push(TradeNote {
                trade: id.clone(),
                who: who.clone(),
                with: other.who.clone(),
                step,
                things,
            });
        }
    }

    /// Notes a request about a trade that the server refused.
    pub(crate) fn note_refused(
        &self,
        who: &CharacterId,
        intent: &Intent,
        refusal: Refusal,
        out: &mut Outcome,
    ) {
        let (trade, asked) = match intent {
            Intent::Ask { target } => (EntityId::from(""), target.character()),
            Intent::Answer { trade, .. }
            | Intent::Offer { trade, .. }
            | Intent::Change { trade, .. }
            | Intent::Withdraw { trade, .. }
            | Intent::Accept { trade, .. }
            | Intent::RevokeAcceptance { trade }
            | Intent::Cancel { trade } => (trade.clone(), CharacterId::from("")),
        };
        let known = self.trades.all.get(&trade);
        let other = known.and_then(|known| known.sides_of(who));
        out.trades.push(TradeNote {
            trade,
            who: who.clone(),
            with: other.map_or(asked, |(_, other)| other.who.clone()),
            step: TradeStep::Refused(refusal),
            things: Vec::new(),
        });
    }

    /// Shows both players the screen as it is now.
    fn show_trade(&self, id: &EntityId, out: &mut Outcome) {
        if let Some(trade) = self.trades.all.get(id) {
            let shown = pairs(trade).map(|(mine, theirs)| self.screen(trade, mine, theirs));
            out.events.extend(shown.into_iter().flatten());
        }
    }

    fn screen(&self, trade: &Trade, mine: &Side, theirs: &Side) -> Option<Event> {
        let partner = self.players.get(&theirs.who)?;
        let who = mine.who.clone();
        let event = match trade.screen? {
            Screen::Offer => {
                trade::Event::Updated(who, told::updated(trade, mine, theirs, partner))
            }
            Screen::Confirm => {
                trade::Event::Confirms(who, told::confirm(trade, mine, theirs, &self.content))
            }
        };
        Some(event.into())
    }

    fn trade_begun(&self, who: &CharacterId) -> Option<Event> {
        let named = self.players.get(who)?.dealings.trade.as_ref();
        let (_, theirs) = self.trades.open(named)?.sides_of(who)?;
        let partner = self.players.get(&theirs.who)?;
        let started = told::started(named?, partner);
        Some(trade::Event::Started(who.clone(), started).into())
    }

    /// Returns the ids of the trades and requests of `who`, in order.
    pub fn trades_of(&self, who: &CharacterId) -> Vec<EntityId> {
        self.trades.of(who)
    }

    /// Returns the notifications for a player that looks again: those about its trade or about
    /// requests to it that still matter.
    pub fn trade_shown(&self, who: &CharacterId) -> Vec<Event> {
        let named = self
            .players
            .get(who)
            .and_then(|p| p.dealings.trade.as_ref());
        if let Some(open) = self.trades.open(named) {
            let sides = open.sides_of(who);
            let screen = sides.and_then(|(mine, theirs)| self.screen(open, mine, theirs));
            return self.trade_begun(who).into_iter().chain(screen).collect();
        }
        let asked = self.trades.all.values();
        let asked = asked.filter(|t| t.screen.is_none() && t.sides[1].who == *who);
        let told = asked.filter_map(|trade| {
            let from = self.players.get(&trade.sides[0].who)?;
            Some(trade::Event::Incoming(who.clone(), told::incoming(&trade.id, from)).into())
        });
        told.collect()
    }
}

/// Returns each side with the other one.
fn pairs(trade: &Trade) -> [(&Side, &Side); 2] {
    let [one, other] = &trade.sides;
    [(one, other), (other, one)]
}
