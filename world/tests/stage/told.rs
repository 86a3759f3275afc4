//! What is told of a tick, in words.

use std::fmt::Write as _;
use std::sync::Arc;

use world::content::EquipSlot;
use world::{
    CharacterId, EntityId, Event, Field, Hit, Job, Outcome, Screen, TradeNotification, arrivals,
    bank, combat, death, dialogue, duel, emotes, equipment, examine, home_teleport, movement, pack,
    prayer, quests, request, shop, skilling, trade, training, visit, vitals,
};

use super::{BEGIN, Stage, duels};

impl Stage {
    pub(super) fn trade_name(&self, trade: &EntityId) -> String {
        let place = self.trades.iter().position(|known| known == trade);
        place.map_or(trade.to_string(), |place| format!("t{}", place + 1))
    }

    pub(super) fn trade_told(&self, who: &CharacterId, told: &TradeNotification) -> String {
        match told {
            TradeNotification::Incoming { trade, from, .. } => {
                format!("{who} hears {from} ask for {}", self.trade_name(trade))
            }
            TradeNotification::Started {
                trade,
                partner,
                partner_free_slots,
                ..
            } => {
                let name = self.trade_name(trade);
                format!("{who} began {name} with {partner} free {partner_free_slots}")
            }
            TradeNotification::Shown {
                screen,
                mine,
                theirs,
                partner_free_slots,
                worth: [gives, gets],
                ..
            } => {
                let (mine, theirs) = (offer(mine), offer(theirs));
                match screen {
                    Screen::Offer => {
                        format!("{who} sees {mine} for {theirs} free {partner_free_slots}")
                    }
                    Screen::Confirm => {
                        format!("{who} confirms {mine} for {theirs} worth {gives} for {gets}")
                    }
                }
            }
            TradeNotification::Completed { trade, received } => {
                let got = received.iter();
                let got = got.map(|stack| format!(" {} {}", stack.item, stack.quantity));
                let name = self.trade_name(trade);
                format!("{who} got by {name}{}", got.collect::<String>())
            }
            TradeNotification::Ended { trade, why } => {
                format!("{who} lost {} {why:?}", self.trade_name(trade))
            }
        }
    }

    pub(super) fn tell(&mut self, outcome: &Outcome, told: &mut String) {
        self.audit.extend(outcome.trades.iter().cloned());
        for event in &outcome.events {
            if let Event::Trade(trade::Event::Asked { trade, .. }) = event {
                self.trades.push(trade.clone());
            }
            self.hear_of_duel(event);
        }
        let events = outcome.events.iter();
        let mut parts: Vec<String> = events.filter_map(|e| self.event(e)).collect();
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

    /// What an event says; vitals are told by the stories about energy only.
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
            Event::Training(training::Event::Gained {
                who,
                skill,
                gained_tenths,
                now,
                leveled_up,
            }) => {
                let points = |tenths: u64| format!("{}.{}", tenths / 10, tenths % 10);
                let (gained, has) = (points(*gained_tenths), points(now.xp_tenths));
                let up = if *leveled_up { "!" } else { "" };
                format!(
                    "{who} {} +{gained}={has} level {}{up}",
                    skill.name(),
                    now.level
                )
            }
            Event::Skilling(skilling::Event::Begun { who, job, target }) => {
                let at = target
                    .as_ref()
                    .map_or(String::new(), |id| format!(" at {id}"));
                match job {
                    Job::Gather => format!("{who} gathers{at}"),
                    Job::Make(craft) => {
                        format!("{who} begins to {} {}{at}", craft.trade.name(), craft.key)
                    }
                }
            }
            Event::Skilling(skilling::Event::Stopped { who, why: None }) => {
                format!("{who} is done")
            }
            Event::Skilling(skilling::Event::Stopped {
                who,
                why: Some(why),
            }) => format!("{who} rests {why:?}"),
            Event::Dialogue(dialogue::Event::Said { who, said }) => {
                let answers = said.answers.iter();
                let answers = answers.map(|(number, text)| format!(" [{number} {text}]"));
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
            Event::Combat(combat::Event::Hit { who, hit }) => {
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
            Event::Shop(shop::Event::Shown { who, shop }) => {
                let goods = shop.goods.iter().map(|good| {
                    let stock = good.stock.map_or("any".to_owned(), |many| many.to_string());
                    format!(" {stock} {} at {}", good.item, good.price)
                });
                format!("{who} sees {}:{}", shop.id, goods.collect::<String>())
            }
            Event::Death(death::Event::Grave { who, grave }) => {
                let things = grave.items.iter();
                let things = things.map(|stack| format!(" {} {}", stack.item, stack.quantity));
                let things = things.collect::<String>();
                match grave.tile {
                    Some(at) => format!(
                        "{who} grave at {},{} for {}:{things}",
                        at.x, at.z, grave.ticks
                    ),
                    None => format!("{who} grave gone"),
                }
            }
            Event::Trade(trade::Event::Asked { who, trade, .. }) => {
                format!("{who} asked for {}", self.trade_name(trade))
            }
            Event::Trade(trade::Event::Told { who, told }) => self.trade_told(who, told),
            Event::Emotes(emotes::Event::Round {
                who,
                emote,
                in_step,
                streak,
                dancers,
                ..
            }) => {
                let step = if *in_step { "in step" } else { "out of step" };
                let emote = emote.name();
                format!("{who} {step} with {emote} streak {streak} of {dancers}")
            }
            Event::Duel(duel::Event::Told { who, told }) => duels::told(who, told),
            Event::Request(request::Event::Elsewhere { who, target, .. }) => {
                format!("{who} wants {target} elsewhere")
            }
            Event::HomeTeleport(home_teleport::Event::Progress {
                who,
                done_at: Some(at),
                ..
            }) => format!("{who} is home at {}", at.0 - BEGIN),
            Event::HomeTeleport(home_teleport::Event::Progress { who, ready_at, .. }) => {
                match ready_at.0.checked_sub(BEGIN) {
                    Some(again) => format!("{who} may go home at {again}"),
                    None => format!("{who} may go home"),
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

/// What one side of a trade offers; with a ! behind it if it agrees.
fn offer(offer: &world::Offer) -> String {
    let things = offer.things.iter().map(|(place, offered)| {
        let stack = &offered.stack;
        format!(
            "{place}={} {} of {}",
            stack.item, stack.quantity, offered.slot
        )
    });
    let agreed = if offer.agreed { "!" } else { "" };
    format!("[{}]{agreed}", things.collect::<Vec<_>>().join(", "))
}
