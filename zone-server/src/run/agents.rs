//! Agents: their orders from the store, the words of their owners, and the reports of them.
//!
//! Always: a word waits for the next tick and changes the world only as an input of it; the run
//! fetches the store's word again and again, and so makes up for words that came late or never.

use std::sync::PoisonError;

use proto::{
    client::chat::{Channel, ChatMessage},
    rpc::agents::v1 as wire,
};
use world::{AgentInput, AgentWord, CharacterId, Goal, Player};

use super::Run;
use crate::{
    ownership::agents::POLL_EVERY,
    roster::{PlayerSlot, Stage},
    translate::{
        self,
        agent::{self, Command, NEARBY_TILES},
    },
};

/// Words for agents that may wait for a tick; a caller that finds no room tries again.
const WORDS_MAX: usize = 4_096;

impl Run {
    /// Takes in all agents that the store has in the run's regions.
    pub(super) fn agents_of_run(&mut self, reply: &wire::OfRunReply) {
        let mut listed: Vec<(CharacterId, &wire::Orders)> = reply
            .orders
            .iter()
            .map(|orders| (CharacterId::from(orders.character_id.as_str()), orders))
            .collect();
        listed.sort_by(|a, b| a.0.cmp(&b.0));
        for (who, orders) in &listed {
            let Some(player) = self.world.player(who) else {
                continue;
            };
            let known = player.agent().map_or(0, |agent| agent.orders().version);
            if known < orders.version {
                self.hear_of(who.clone(), agent::orders(orders, self.world.content()));
            }
        }
        // An agent that the list lacks was no agent at that version.
        let gone = self.world.players().filter(|player| {
            let version = player.agent().map(|agent| agent.orders().version);
            version.is_some_and(|version| version <= reply.version)
        });
        let gone = gone.map(|player| player.record().id.clone());
        let gone: Vec<CharacterId> = gone
            .filter(|who| {
                let here = self.roster.get(who).is_some_and(|slot| self.whole(slot));
                here && listed.binary_search_by(|(id, _)| id.cmp(who)).is_err()
            })
            .collect();
        for who in gone {
            let none = wire::Orders {
                character_id: who.to_string(),
                version: reply.version,
                ..wire::Orders::default()
            };
            self.hear_of(who, agent::orders(&none, self.world.content()));
        }
    }

    /// Returns whether the store already counts the character among those of this run.
    fn whole(&self, slot: &PlayerSlot) -> bool {
        let long_enough = self.now > slot.owner_since + self.config.ticks(POLL_EVERY * 2);
        slot.stage == Stage::Playing && slot.departure.source.is_none() && long_enough
    }

    /// Takes in the latest orders of an agent, as a gateway brings them from the store.
    pub(super) fn tell_agent(&mut self, request: &wire::TellRequest) -> wire::TellReply {
        let Some(orders) = &request.orders else {
            return wire::TellReply { here: false };
        };
        let who = CharacterId::from(orders.character_id.as_str());
        if !self.stands(&who) {
            if !self.handovers.departed.contains_key(&who) {
                // It may have come into the world just now.
                self.fetch(who);
            }
            return wire::TellReply { here: false };
        }
        let word = agent::orders(orders, self.world.content());
        wire::TellReply {
            here: self.hear_of(who, word),
        }
    }

    /// Returns whether a character is in the world here, and stays for the next tick.
    fn stands(&self, who: &CharacterId) -> bool {
        let playing = |slot: &PlayerSlot| slot.stage == Stage::Playing;
        self.roster.get(who).is_some_and(playing) && self.world.player(who).is_some()
    }

    /// Keeps a word for the next tick. Returns false when too many words wait already.
    fn hear_of(&mut self, who: CharacterId, word: AgentWord) -> bool {
        if self.scope.agent_words.len() >= WORDS_MAX {
            self.context.metrics.agent_word("full");
            return false;
        }
        self.context.metrics.agent_word("heard");
        self.scope.agent_words.push(AgentInput { who, word });
        true
    }

    /// Takes in a word of an agent's owner, and answers it.
    pub(super) fn say_to_agent(&mut self, request: &wire::SayRequest) -> wire::SayReply {
        let who = CharacterId::from(request.character_id.as_str());
        let is_agent = |player: &Player| player.agent().is_some();
        if !self.stands(&who) || !self.world.player(&who).is_some_and(is_agent) {
            return wire::SayReply::default();
        }
        let mut reply = wire::SayReply {
            here: true,
            ..wire::SayReply::default()
        };
        let message = ChatMessage {
            id: request.message_id.clone(),
            channel: Channel::Private,
            from: request.from_name.clone(),
            from_id: request.from_account_id.clone(),
            message: request.text.clone(),
            at: request.at.clone(),
            entity_id: None,
        };
        if let Some(slot) = self
            .roster
            .get_mut(&who)
            .filter(|slot| slot.session.is_some())
        {
            slot.tell(translate::private(&message, bytes::Bytes::new()));
            reply.heard = true;
            return reply;
        }
        let content = self.world.content();
        let Some(command) = agent::command(&request.text, content) else {
            reply.known = agent::known().map(str::to_owned).collect();
            return reply;
        };
        let goal = match command {
            Command::Stop => None,
            Command::Do(goal) => Some(goal),
            Command::Follow => match self.leader(&who, &request.from_account_id) {
                Some(leader) => Some(Goal::Follow(leader)),
                None => {
                    reply.refused = "No other character of yours is near it.".to_owned();
                    return reply;
                }
            },
        };
        let words = goal.as_ref().map(|goal| goal.description(content));
        if self.hear_of(who, AgentWord::Command(goal)) {
            reply.understood = words.unwrap_or_else(|| "Stand still".to_owned());
        } else {
            reply.refused = "Too much is waiting to be done already.".to_owned();
        }
        reply
    }

    /// Returns the nearest other character of the account that a session plays.
    fn leader(&self, who: &CharacterId, account_id: &str) -> Option<CharacterId> {
        let from = self.world.player(who)?.tile();
        let others = self.roster.iter().filter(|(other, slot)| {
            *other != who && slot.account_id == account_id && slot.session.is_some()
        });
        let standing = others.filter_map(|(other, _)| {
            let tile = self.world.player(other)?.tile();
            Some((from.steps_to(tile), other.clone()))
        });
        let near = standing.filter(|(steps, _)| *steps <= NEARBY_TILES);
        near.min().map(|(_, other)| other)
    }

    /// Returns the view, the holdings, the goals and the record of an agent.
    pub(super) fn look_at_agent(&self, request: &wire::LookRequest) -> wire::LookReply {
        let who = CharacterId::from(request.character_id.as_str());
        let (Some(player), Some(slot)) = (self.world.player(&who), self.roster.get(&who)) else {
            return wire::LookReply::default();
        };
        let (content, from) = (self.world.content(), player.tile());
        let available = self.world.goals_for(&who, self.value_now());
        let available = available.into_iter();
        let seen = self.world.entities_near(from, NEARBY_TILES);
        let seen = seen.into_iter().filter_map(|id| self.world.look(id));
        let nearby = seen.filter_map(|look| agent::nearby(&look, from));
        let known = player.agent();
        let pursuit = known.and_then(world::Agent::pursuit);
        let actions = known.into_iter().flat_map(world::Agent::recent_actions);
        wire::LookReply {
            here: true,
            tick: self.now,
            position: Some(translate::record::rpc_tile(from)),
            y: player.record().y as f32,
            played: slot.session.is_some(),
            version: known.map_or(0, |agent| agent.orders().version),
            goal: pursuit.map(|pursuit| agent::goal(pursuit, content, from)),
            available: available
                .map(|(goal, reason)| agent::available(goal, reason, content, from))
                .collect(),
            nearby: agent::nearest(nearby.collect()),
            inventory: agent::carried(&slot.messages.acknowledged, content),
            recent_actions: actions.map(agent::action).collect(),
            tally: known.map(|known| agent::tally(known.tally(), player)),
            takeable: u32::try_from(self.world.takeable_near(&who)).unwrap_or(u32::MAX),
        }
    }

    /// Takes all words for the next tick: those that came in, and one for each agent that a session
    /// has begun or stopped to play.
    pub(super) fn agent_words(&mut self) -> Vec<AgentInput> {
        let mut words = std::mem::take(&mut self.scope.agent_words);
        for player in self.world.players() {
            let Some(agent) = player.agent() else {
                continue;
            };
            let who = &player.record().id;
            let slot = self.roster.get(who);
            let played = slot.is_some_and(|slot| slot.session.is_some());
            if played != agent.played() {
                words.push(AgentInput {
                    who: who.clone(),
                    word: AgentWord::Played(played),
                });
            }
        }
        words
    }

    /// Returns whether the character is an active agent, which stays in the world although no
    /// session plays it.
    pub(super) fn lives(&self, who: &CharacterId) -> bool {
        let agent = self.world.player(who).and_then(Player::agent);
        agent.is_some_and(|agent| agent.orders().active)
    }

    /// Reports the outcomes of the agents' goals, for the next call to the store.
    pub(super) fn report_agents(&self) {
        let mut agents = 0;
        let mut reports = Vec::new();
        for player in self.world.players() {
            let Some(agent) = player.agent() else {
                continue;
            };
            agents += 1;
            if agent.orders().goal.is_some() {
                reports.push(wire::Report {
                    character_id: player.record().id.to_string(),
                    version: agent.orders().version,
                    progress: agent.progress(),
                    over: agent.over(),
                });
            }
        }
        self.context.metrics.agents(agents);
        let kept = &self.context.pulse.agents;
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = reports;
    }
}
