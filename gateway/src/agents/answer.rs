//! The answers of agents to what their owners say, in words: by request and in chat.
//!
//! Always: a line that nobody has understood does not count as delivered; its answer names the
//! commands that there are.

use proto::{
    client::{
        ErrorCode,
        chat::{Channel, ChatMessage},
    },
    rpc::agents::v1::{Agent, SayReply, SayRequest},
};
use uuid::Uuid;

use super::{
    Agents,
    runtime::{Event, Word},
};
use crate::{clock, social::presence::Present, zone_link::Zones};

/// The outcome of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Whether the agent, or the person who plays it, has taken the line in.
    pub(crate) delivered: bool,
    /// The order that the agent follows now, in words.
    pub(crate) understood: Option<String>,
    /// A sentence for its owner.
    pub(crate) message: String,
    /// The commands that there are, where the line is none.
    pub(crate) known: Vec<String>,
}

impl Answer {
    /// Makes the answer from the reply of a zone; `None`: no zone has the agent.
    pub(crate) fn of(reply: Option<SayReply>) -> Self {
        let plain = |delivered, message: &str| Self {
            delivered,
            understood: None,
            message: message.to_owned(),
            known: Vec::new(),
        };
        let Some(reply) = reply else {
            return plain(
                false,
                "The agent is not in the world; only its runtime was told.",
            );
        };
        if reply.heard {
            return plain(true, "Whoever plays the agent has heard it.");
        }
        if !reply.refused.is_empty() {
            return plain(true, &reply.refused);
        }
        if reply.understood.is_empty() {
            let known = reply.known.join(", ");
            let message = format!("The agent did not understand that. It understands: {known}.");
            return Self {
                known: reply.known,
                ..plain(false, &message)
            };
        }
        Self {
            understood: Some(reply.understood),
            ..plain(true, "The agent does so.")
        }
    }
}

impl Agents {
    /// Says something to the agent of `speaker` whose character is called `to`. Returns the agent's
    /// answer; `None`: a person plays the character, and has heard the line.
    ///
    /// # Errors
    /// `NotDelivered`: the speaker has no agent of that name in the world.
    pub(crate) async fn chat(
        &self,
        zones: &Zones,
        speaker: &Present,
        to: &str,
        text: String,
    ) -> Result<Option<ChatMessage>, ErrorCode> {
        let own = self.list(&speaker.account_id).await.unwrap_or_default();
        let name = to.trim().to_lowercase();
        let called = |agent: &Agent| agent.character_name.to_lowercase() == name;
        let agent = own.into_iter().find(called);
        let agent = agent.ok_or(ErrorCode::NotDelivered)?;
        let line = SayRequest {
            character_id: agent.character_id.clone(),
            text: text.clone(),
            message_id: Uuid::now_v7().to_string(),
            from_account_id: speaker.account_id.clone(),
            from_name: speaker.name.clone(),
            at: clock::now_iso(),
            ..SayRequest::default()
        };
        self.runtime
            .tell(Word::new(Event::Message, &agent, Some(text)));
        let reply = self.say(zones, &agent, line).await;
        let reply = reply.ok_or(ErrorCode::NotDelivered)?;
        Ok((!reply.heard).then(|| ChatMessage {
            id: Uuid::now_v7().to_string(),
            channel: Channel::Private,
            from: agent.character_name,
            from_id: agent.character_id,
            entity_id: None,
            message: in_person(&reply),
            at: clock::now_iso(),
        }))
    }
}

/// Returns the answer in the agent's own words, for chat.
fn in_person(reply: &SayReply) -> String {
    if !reply.refused.is_empty() {
        return reply.refused.clone();
    }
    if reply.understood.is_empty() {
        let known = reply.known.join(", ");
        return format!("I did not understand that. I understand: {known}.");
    }
    format!("All right. {}.", reply.understood)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> SayReply {
        SayReply {
            here: true,
            known: vec!["stop".to_owned(), "rest".to_owned()],
            ..SayReply::default()
        }
    }

    #[test]
    fn what_nobody_understood_is_not_told_as_delivered() {
        let answer = Answer::of(Some(reply()));
        assert!(!answer.delivered && answer.understood.is_none());
        assert_eq!(answer.known, ["stop", "rest"]);
        let says = "The agent did not understand that. It understands: stop, rest.";
        assert_eq!(answer.message, says);
        let says = "I did not understand that. I understand: stop, rest.";
        assert_eq!(in_person(&reply()), says);
    }

    #[test]
    fn what_is_understood_refused_or_heard_is_delivered() {
        let understood = SayReply {
            understood: "Stand still".to_owned(),
            known: Vec::new(),
            ..reply()
        };
        assert_eq!(in_person(&understood), "All right. Stand still.");
        let answer = Answer::of(Some(understood));
        assert_eq!(answer.understood.as_deref(), Some("Stand still"));
        let refused = SayReply {
            refused: "Not now.".to_owned(),
            known: Vec::new(),
            ..reply()
        };
        assert_eq!(in_person(&refused), "Not now.");
        let heard = SayReply {
            heard: true,
            ..reply()
        };
        let all = [answer, Answer::of(Some(refused)), Answer::of(Some(heard))];
        assert!(
            all.iter().all(|a| a.delivered && a.known.is_empty()),
            "{all:?}"
        );
        assert!(!Answer::of(None).delivered);
    }
}
