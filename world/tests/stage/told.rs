//! The messages of a tick, in words.

use std::fmt::Write as _;
use std::sync::Arc;

use world::content::EquipSlot;
use world::told::{Parts, RefusalCode, Tenths};
use world::trade::told::TradeOffer;
use world::{
    EntityId, Event, Field, Hit, Outcome, arrivals, bank, combat, death, dialogue, emotes,
    equipment, examine, home_teleport, movement, pack, prayer, quests, request, shop, skilling,
    time::TICK_MS, trade, training, visit, vitals,
};

use super::{BEGIN, Stage, duels};

impl Stage {
    pub(super) fn trade_name(&self, trade: &EntityId) -> String {
        let place = self.trades.iter().position(|known| known == trade);
        place.map_or(trade.to_string(), |place| format!("t{}", place + 1))
    }

    fn trade_told(&self, event: &trade::Event) -> String {
        match event {
            trade::Event::Asked { who, ack, .. } => {
                format!("{who} asked for {}", self.trade_name(&ack.trade_id))
            }
            trade::Event::Incoming(who, told) => {
                let name = self.trade_name(&told.trade_id);
                format!("{who} hears {} ask for {name}", told.from_player_id)
            }
            trade::Event::Started(who, told) => {
                let (name, free) = (self.trade_name(&told.trade_id), told.partner_free_slots);
                format!("{who} began {name} with {} free {free}", told.partner_id)
            }
            trade::Event::Updated(who, told) => {
                let (mine, theirs) = (offer(&told.my_offer), offer(&told.their_offer));
                format!(
                    "{who} sees {mine} for {theirs} free {}",
                    told.partner_free_slots
                )
            }
            trade::Event::Confirms(who, told) => {
                let (mine, theirs) = (offer(&told.my_offer), offer(&told.their_offer));
                let (gives, gets) = (told.values.mine, told.values.theirs);
                format!("{who} confirms {mine} for {theirs} worth {gives} for {gets}")
            }
            trade::Event::Completed(who, told) => {
                let got = told.received_items.iter();
                let got = got.map(|stack| format!(" {} {}", stack.item_id, stack.quantity));
                let name = self.trade_name(&told.trade_id);
                format!("{who} got by {name}{}", got.collect::<String>())
            }
            trade::Event::Cancelled(who, told) => {
                format!(
                    "{who} lost {} {:?}",
                    self.trade_name(&told.trade_id),
                    told.reason
                )
            }
        }
    }

    pub(super) fn tell(&mut self, outcome: &Outcome, told: &mut String) {
        self.audit.extend(outcome.trades.iter().cloned());
        for event in &outcome.events {
            if let Event::Trade(trade::Event::Asked { ack, .. }) = event {
                self.trades.push(ack.trade_id.clone());
            }
            self.hear_of_duel(event);
        }
        let before = std::iter::once(None).chain(outcome.events.iter().map(Some));
        let events = before.zip(&outcome.events);
        let parts = events.filter_map(|(before, event)| match duels::echo(before, event) {
            Some(who) => Some(format!("{who} too")),
            None => self.event(event),
        });
        let mut parts: Vec<String> = parts.collect();
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

    /// Returns the words for an event; only the stories about energy show vitals.
    pub(super) fn event(&self, event: &Event) -> Option<String> {
        let record = || self.world.player(event.who()).expect("it is here").record();
        Some(match event {
            Event::Request(request::Event::Done { .. })
            | Event::Vitals(vitals::Event::Changed { .. }) => return None,
            Event::Request(request::Event::Refused { who, refusal, .. }) => {
                format!("{who} refused {refusal:?}")
            }
            Event::Arrivals(arrivals::Event::Joined { who }) => format!("{who} joined"),
            Event::Arrivals(arrivals::Event::TurnedAway { who, refusal }) => {
                format!("{who} turned away {refusal:?}")
            }
            Event::Examine(examine::Event::Examined { who, target, text }) => {
                format!("{who} sees {target}: {text}")
            }
            Event::Pack(pack::Event::Slots { who, slots }) => {
                let inside = |slot: &u8| match record().inventory.get(slot) {
                    Some(stack) => format!(" {slot}={} {}", stack.item, stack.quantity),
                    None => format!(" {slot}=nothing"),
                };
                format!("{who}{}", slots.iter().map(inside).collect::<String>())
            }
            Event::Pack(pack::Event::Coins { who }) => format!("{who} coins {}", record().coins),
            Event::Equipment(equipment::Event::Changed { who, slots }) => {
                let worn = |slot: &EquipSlot| match record().equipment.get(slot) {
                    Some(stack) => format!(" {}={} {}", slot.name(), stack.item, stack.quantity),
                    None => format!(" {}=nothing", slot.name()),
                };
                format!("{who} wears{}", slots.iter().map(worn).collect::<String>())
            }
            Event::Bank(bank::Event::Changed { who, items }) => {
                let lies = |item: &Arc<str>| match record().bank.items.get(item) {
                    Some(there) => {
                        format!(" {item}={} {}:{}", there.quantity, there.tab, there.place)
                    }
                    None => format!(" {item}=gone"),
                };
                format!("{who} banks{}", items.iter().map(lies).collect::<String>())
            }
            Event::Visit(visit::Event::Opened { who, what }) => format!("{who} opened {what:?}"),
            Event::Visit(visit::Event::Closed { who, what }) => format!("{who} closed {what:?}"),
            Event::Training(training::Event::Gained(who, told)) => {
                let points = |Parts(tenths): Tenths| format!("{}.{}", tenths / 10, tenths % 10);
                let (gained, has) = (points(told.gained), points(told.xp));
                let up = if told.leveled_up { "!" } else { "" };
                let (skill, level) = (told.skill.name(), told.level);
                format!("{who} {skill} +{gained}={has} level {level}{up}")
            }
            Event::Skilling(skilling::Event::Begun(who, told)) => {
                let at = told.target.as_ref();
                let at = at.map_or(String::new(), |id| format!(" at {id}"));
                match (told.action.as_deref(), &told.option) {
                    (Some(action), Some(key)) => format!("{who} begins to {action} {key}{at}"),
                    _ => format!("{who} gathers{at}"),
                }
            }
            Event::Skilling(skilling::Event::Stopped(who, told)) => match told.code {
                Some(RefusalCode(why)) => format!("{who} rests {why:?}"),
                None => format!("{who} is done"),
            },
            Event::Dialogue(dialogue::Event::Said(who, said)) => {
                let answers = said.responses.iter();
                let answers = answers.map(|answer| format!(" [{} {}]", answer.index, answer.text));
                let answers: String = answers.collect();
                format!("{who} hears {}: {}{answers}", said.name, said.text)
            }
            Event::Quests(quests::Event::Listed { who }) => format!("{who} sees quests"),
            Event::Quests(quests::Event::Shown { who, quest }) => format!("{who} sees {quest}"),
            Event::Quests(quests::Event::Progressed { who, quest }) => {
                let state = record().quests.get(quest).cloned().unwrap_or_default();
                let stage = state.stage.as_deref().unwrap_or("-");
                let counts = state.counts.iter().map(|(of, n)| format!(" {of}={n}"));
                let counts: String = counts.collect();
                format!("{who} {quest}: {:?} {stage}{counts}", state.status())
            }
            Event::Quests(quests::Event::Completed { who, quest }) => {
                format!("{who} completes {quest}")
            }
            Event::Combat(combat::Event::Hit(who, hit)) => {
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
            Event::Death(death::Event::Died { who, killer, .. }) => {
                format!("{who} died by {}", killer.as_deref().unwrap_or("nothing"))
            }
            Event::Death(death::Event::Respawned { who, tile }) => {
                format!("{who} rose {},{}", tile.x, tile.z)
            }
            Event::Prayer(prayer::Event::Changed { who }) => {
                let prayer = &self.world.player(who).expect("it is here").record().prayer;
                let on: Vec<&str> = prayer.active.iter().map(|id| &**id).collect();
                format!("{who} prays {} [{}]", prayer.points, on.join(" "))
            }
            Event::Combat(combat::Event::Settings { .. }) => return None,
            Event::Request(request::Event::Failed { who, refusal, .. }) => {
                format!("{who} failed {refusal:?}")
            }
            Event::Shop(shop::Event::Shown(who, shop)) => {
                let goods = shop.items.iter().map(|good| {
                    let stock = good.stock.map_or("any".to_owned(), |many| many.to_string());
                    format!(" {stock} {} at {}", good.item_id, good.price)
                });
                format!("{who} sees {}:{}", shop.store_id, goods.collect::<String>())
            }
            Event::Death(death::Event::Grave(who, grave)) => {
                let things = grave.items.iter();
                let things = things.map(|stack| format!(" {} {}", stack.item_id, stack.quantity));
                let things = things.collect::<String>();
                let ticks = grave.expires_in_ms / TICK_MS;
                match grave.position {
                    Some(at) => format!("{who} grave at {},{} for {ticks}:{things}", at.x, at.z),
                    None => format!("{who} grave gone"),
                }
            }
            Event::Emotes(emotes::Event::Round(who, round)) => {
                let step = if round.in_step {
                    "in step"
                } else {
                    "out of step"
                };
                let (emote, streak, dancers) = (round.emote.name(), round.streak, round.dancers);
                format!("{who} {step} with {emote} streak {streak} of {dancers}")
            }
            Event::Trade(event) => self.trade_told(event),
            Event::Duel(event) => duels::told(event),
            Event::Request(request::Event::Elsewhere { who, target, .. }) => {
                format!("{who} wants {target} elsewhere")
            }
            Event::HomeTeleport(home_teleport::Event::Progress(who, told)) => {
                match (told.arrives_tick, told.ready_tick.checked_sub(BEGIN)) {
                    (Some(at), _) => format!("{who} is home at {}", at - BEGIN),
                    (None, Some(again)) => format!("{who} may go home at {again}"),
                    (None, None) => format!("{who} may go home"),
                }
            }
            Event::Request(request::Event::Deferred { who, number }) => {
                format!("{who} waits with {number}")
            }
            Event::Movement(movement::Event::Teleported { who, tile }) => {
                format!("{who} teleported {},{}", tile.x, tile.z)
            }
        })
    }
}

/// Returns one side of a trade; a ! at its end says that the side agrees.
fn offer(offer: &TradeOffer) -> String {
    let things = offer.items.iter().map(|item| {
        let (place, slot) = (item.trade_slot, item.inventory_slot);
        format!("{place}={} {} of {slot}", item.item_id, item.quantity)
    });
    let agreed = if offer.accepted { "!" } else { "" };
    format!("[{}]{agreed}", things.collect::<Vec<_>>().join(", "))
}
