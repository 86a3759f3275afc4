//! Tells players the events that concern them, and makes messages of value wait for the store's
//! word.
//!
//! Always: a message of value waits until the store acknowledges the batch that holds it; movement,
//! vitals and all other public news never wait.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use proto::rpc::zone::v1::Encounter;
use service_runtime::telemetry::sampled;
use world::{
    Changes, CharacterId, Event, GroundChange, Refusal, TradeNote, TradeStep, bank, equipment, pack,
};

use super::{Run, edge::Requests};
use crate::{
    PLAYED,
    roster::Stage,
    translate::{self, Told},
};

/// Things of one kind that changed for a player in a tick.
struct Shown<T> {
    /// Place of the event that shows them all.
    place: usize,
    things: BTreeSet<T>,
}

/// Adds `things` to those that a player is shown, at `place` if they are the first. Returns whether
/// an earlier event shows them.
fn shows<'a, T: Ord>(
    all: &mut BTreeMap<&'a CharacterId, Shown<T>>,
    who: &'a CharacterId,
    place: usize,
    things: impl IntoIterator<Item = T>,
) -> bool {
    let none_yet = || Shown {
        place,
        things: BTreeSet::new(),
    };
    let shown = all.entry(who).or_insert_with(none_yet);
    shown.things.extend(things);
    shown.place != place
}

/// Returns the events with at most one of each kind a player for pack, equipment and bank. These
/// show the holdings as they are after the tick: several would show states that never were.
fn once_a_tick(events: &[Event]) -> Vec<Cow<'_, Event>> {
    let (mut packs, mut worn, mut banks) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    // The whole event stands in the place of a player's first one: a player reads the effects of
    // its request before the answer.
    let mut told: Vec<Cow<'_, Event>> = Vec::with_capacity(events.len());
    for event in events {
        let place = told.len();
        let again = match event {
            Event::Pack(pack::Event::Slots { who, slots }) => {
                shows(&mut packs, who, place, slots.iter().copied())
            }
            Event::Equipment(equipment::Event::Changed { who, slots }) => {
                shows(&mut worn, who, place, slots.iter().copied())
            }
            Event::Bank(bank::Event::Changed { who, items }) => {
                shows(&mut banks, who, place, items.iter().cloned())
            }
            Event::Request(_)
            | Event::Arrivals(_)
            | Event::Movement(_)
            | Event::Vitals(_)
            | Event::HomeTeleport(_)
            | Event::Examine(_)
            | Event::Pack(pack::Event::Coins { .. })
            | Event::Visit(_)
            | Event::Dialogue(_)
            | Event::Quests(_)
            | Event::Shop(_)
            | Event::Skilling(_)
            | Event::Training(_)
            | Event::Combat(_)
            | Event::Prayer(_)
            | Event::Death(_)
            | Event::Trade(_)
            | Event::Duel(_)
            | Event::Emotes(_) => false,
        };
        if !again {
            told.push(Cow::Borrowed(event));
        }
    }
    for (who, Shown { place, things }) in packs {
        let (who, slots) = (who.clone(), things.into_iter().collect());
        told[place] = Cow::Owned(pack::Event::Slots { who, slots }.into());
    }
    for (who, Shown { place, things }) in worn {
        let (who, slots) = (who.clone(), things.into_iter().collect());
        told[place] = Cow::Owned(equipment::Event::Changed { who, slots }.into());
    }
    for (who, Shown { place, things }) in banks {
        let (who, items) = (who.clone(), things);
        told[place] = Cow::Owned(bank::Event::Changed { who, items }.into());
    }
    told
}

/// Emits the trace event of an input that the world has followed or refused.
fn show_played(told: &Told, who: &CharacterId, requests: &Requests) {
    if !tracing::enabled!(target: PLAYED, tracing::Level::TRACE) {
        return;
    }
    let (Told::Done { number, .. } | Told::Refused { number, .. } | Told::Answered { number, .. }) =
        told
    else {
        return;
    };
    if let Some(request) = requests.get(&(who.clone(), *number)) {
        let session_epoch = request.session_epoch;
        tracing::trace!(target: PLAYED, character = %who, session_epoch, number);
    }
}

impl Run {
    /// Puts the changes of a tick into the next batch for the store.
    pub(super) fn note(&mut self, changes: Changes) {
        for who in &changes.walked {
            self.batch.walked(who, self.now);
        }
        for who in &changes.altered {
            self.batch.altered(who, self.now);
        }
        for who in &changes.valued {
            self.batch.valued(who);
        }
        for who in &changes.worn {
            self.batch.worn(who);
        }
        for who in &changes.staked {
            self.batch.staked(who);
        }
        for (who, items) in changes.banked {
            self.batch.banked(&who, items);
        }
        for (who, skills) in changes.trained {
            self.batch.trained(&who, skills);
        }
        for who in changes.quests.keys() {
            self.batch.quests(who);
        }
        for (who, kills) in changes.kills {
            self.batch.killed(&who, kills);
        }
        for chunk in changes.persistent_objects {
            let data = translate::value::persistent_objects(&self.world.persistent_objects(chunk));
            self.batch.value().lasts(chunk, data);
        }
        for region in changes.shops {
            self.saves.must(region);
        }
        let value = self.batch.value();
        for entry in changes.ledger {
            value.ledger(entry);
        }
        let mut ground = Vec::new();
        for (id, change) in changes.ground {
            match change {
                GroundChange::Put(item) => {
                    ground.extend(item.grave.clone());
                    value.put(item);
                }
                GroundChange::Gone { grave, .. } => {
                    ground.extend(grave);
                    value.gone(&id);
                }
            }
            ground.push(id);
        }
        if let Some(sequence) = self.held_until() {
            for id in ground {
                self.shown.held_ground.hold(&id, sequence);
            }
        }
    }

    /// Returns the batch for whose acknowledgement messages of value wait. `None`: nothing of value
    /// lacks its acknowledgement.
    pub(super) fn held_until(&self) -> Option<u64> {
        if self.config.mutants.ack_before_commit {
            return None;
        }
        self.batch.value_sequence()
    }

    /// Tells each player the events that concern it.
    pub(super) fn tell(&mut self, events: &[Event], mut requests: Requests) {
        let held = self.held_until();
        for event in &once_a_tick(events) {
            let event: &Event = event;
            let who = event.who();
            let record = self.world.player(who).map(world::Player::record);
            let Some(told) = translate::told(event, record, self.world.content()) else {
                continue;
            };
            let encounter = self.encounter(event);
            let Some(slot) = self.roster.get_mut(who) else {
                continue;
            };
            show_played(&told, who, &requests);
            match told {
                Told::Done { number, value } => {
                    let request = requests.remove(&(who.clone(), number));
                    self.context.metrics.input("played");
                    if let Some(ack) = request.and_then(|r| translate::ack(&r.id)) {
                        slot.tell_when(held.filter(|_| value), ack);
                    }
                }
                Told::Refused { number, why, value } => {
                    self.context.metrics.input("refused");
                    if let Some(request) = requests.remove(&(who.clone(), number)) {
                        let error = translate::error(&request, why);
                        slot.tell_when(held.filter(|_| value), error);
                    }
                }
                Told::Answered {
                    number,
                    mut message,
                } => {
                    self.context.metrics.input("played");
                    let request = requests.remove(&(who.clone(), number));
                    if let Some(request) = request.filter(|request| !request.id.is_empty()) {
                        message.re = request.id;
                        slot.tell(message);
                    }
                }
                Told::Message { mut message, value } => {
                    message.encounter = encounter;
                    slot.tell_when(held.filter(|_| value), message);
                }
                Told::Elsewhere { number, target } => {
                    if let Some(request) = requests.remove(&(who.clone(), number)) {
                        self.elsewhere(who, request, &target);
                    }
                }
                Told::Deferred { number } => {
                    if let Some(request) = requests.remove(&(who.clone(), number)) {
                        slot.inputs.put_back(request);
                    }
                }
                Told::Joined => self.joined(who),
                Told::TurnedAway(refusal) => self.turned_away(who, refusal),
            }
        }
        self.acknowledge(requests, held);
    }

    /// Returns the encounter that an event is about, if any.
    pub(super) fn encounter(&self, event: &Event) -> Option<Encounter> {
        translate::encounter(event, |who| {
            let slot = self.roster.get(who);
            slot.map_or_else(String::new, |slot| slot.account_id.clone())
        })
    }

    /// Acknowledges the requests that have no other answer, so that none is left without one.
    fn acknowledge(&mut self, requests: Requests, held: Option<u64>) {
        for ((who, _), request) in requests {
            let slot = self.roster.get_mut(&who);
            if let (Some(slot), Some(ack)) = (slot, translate::ack(&request.id)) {
                slot.tell_when(held, ack);
            }
        }
    }

    /// Logs every step of every trade; the ledger also has the items that changed hands. Of refused
    /// requests, which are no steps, it logs a sample.
    pub(super) fn audit(&self, notes: &[TradeNote]) {
        for TradeNote {
            trade,
            who,
            with,
            step,
            things,
        } in notes
        {
            let refused = match step {
                TradeStep::Refused(refusal) => {
                    let why = translate::refusal::refused(*refusal).code.wire();
                    let Some(left_out) = sampled("a refused trade", why) else {
                        continue;
                    };
                    Some((why, left_out))
                }
                TradeStep::Asked
                | TradeStep::Began
                | TradeStep::Offered
                | TradeStep::Withdrew
                | TradeStep::Agreed(_)
                | TradeStep::RevokedAcceptance
                | TradeStep::Gave
                | TradeStep::Ended(_) => None,
            };
            let things: Vec<String> = things
                .iter()
                .map(|stack| format!("{} {}", stack.quantity, stack.item))
                .collect();
            tracing::info!(
                target: "audit",
                run = self.id,
                tick = self.now,
                %trade,
                step = translate::trade::step(*step),
                character = %who,
                partner = %with,
                things = things.join(", "),
                why = refused.map_or("", |(why, _)| why),
                left_out = refused.map(|(_, left_out)| left_out),
                "trade"
            );
        }
    }

    pub(super) fn joined(&mut self, who: &CharacterId) {
        let Some(slot) = self.roster.get_mut(who) else {
            return;
        };
        let stage = std::mem::replace(&mut slot.stage, Stage::Playing);
        // The world may have put the player on another tile than the store had.
        self.batch.altered(who, self.now);
        self.regain(who);
        if stage == (Stage::Joining { welcome: true }) {
            self.attached(who);
        }
    }

    fn turned_away(&mut self, who: &CharacterId, refusal: Refusal) {
        let joining =
            |slot: &crate::roster::PlayerSlot| matches!(slot.stage, Stage::Joining { .. });
        if !self.roster.get(who).is_some_and(joining) {
            return;
        }
        let why = translate::refusal::refused(refusal).code.wire();
        if let Some(left_out) = sampled("a character cannot come in", why) {
            let run = self.id;
            tracing::warn!(run, character = %who, why, left_out, "a character cannot come in");
        }
        self.batch.forget(who);
        if let Some(slot) = self.roster.remove(who) {
            self.context.metrics.departed("turned_away", 1);
            self.turn_out(who, &slot, "busy");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_is_told_of_once_a_tick_with_all_that_changed() {
        let pack = |who: &str, slots: &[u8]| {
            Event::Pack(pack::Event::Slots {
                who: who.into(),
                slots: slots.to_vec(),
            })
        };
        let coins = Event::Pack(pack::Event::Coins { who: "ann".into() });
        let events = [
            pack("ann", &[2]),
            pack("bob", &[0]),
            coins.clone(),
            pack("ann", &[20, 2]),
        ];
        let told = once_a_tick(&events);
        let told: Vec<Event> = told.into_iter().map(Cow::into_owned).collect();
        assert_eq!(told, [pack("ann", &[2, 20]), pack("bob", &[0]), coins]);
    }
}
