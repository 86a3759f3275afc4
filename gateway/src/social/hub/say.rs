//! Chat for all nearby, and for everybody.
//!
//! Always: a message of global chat passes slow mode first and then the budget of the world. One
//! that the budget or the bus refuses does not count for slow mode.

use std::time::Duration;

use proto::{
    client::{ErrorCode, Refusal},
    topics,
};
use world::Region;

use super::{Away, Hub, Speaker, envelope, json};
use crate::limits::subject::Subject;

/// Reason why nobody hears a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsaid {
    /// Nobody knows where the speaker stands.
    Nowhere,
    /// The character spoke a short time ago; the time to wait.
    Slow(Duration),
    /// The world has as many messages as it takes; the time to wait.
    Full(Duration),
    /// The bus does not answer.
    Away,
}

impl Unsaid {
    /// Returns the code for the client.
    pub(crate) fn code(self) -> ErrorCode {
        match self {
            Self::Nowhere => ErrorCode::NotInWorld,
            Self::Slow(_) => ErrorCode::SlowMode,
            Self::Full(_) => ErrorCode::GlobalChatFull,
            Self::Away => ErrorCode::Refused(Refusal::Busy),
        }
    }

    /// Returns the time to wait, if that is known.
    pub(crate) fn wait(self) -> Option<Duration> {
        match self {
            Self::Slow(wait) | Self::Full(wait) => Some(wait),
            Self::Nowhere | Self::Away => None,
        }
    }

    fn outcome(self) -> &'static str {
        match self {
            Self::Nowhere => "nowhere",
            Self::Slow(_) => "slow_mode",
            Self::Full(_) => "over_budget",
            Self::Away => "away",
        }
    }
}

impl From<Away> for Unsaid {
    fn from(Away: Away) -> Self {
        Self::Away
    }
}

impl Hub {
    /// Says something to all nearby, or to everybody.
    pub(crate) async fn say(
        &self,
        speaker: &Speaker,
        global: bool,
        message: String,
    ) -> Result<(), Unsaid> {
        let (name, said) = if global {
            ("global", self.say_global(speaker, message).await)
        } else {
            ("local", self.say_nearby(speaker, message).await)
        };
        let outcome = said.map_or_else(Unsaid::outcome, |()| "said");
        self.metrics.chat(name, outcome);
        said
    }

    async fn say_nearby(&self, speaker: &Speaker, message: String) -> Result<(), Unsaid> {
        let region = Region::from(speaker.tile.ok_or(Unsaid::Nowhere)?);
        let channel = topics::region_chat(region.x, region.z);
        let envelope = envelope(speaker, "local", message);
        Ok(self.bus.publish(&channel, json(&envelope)).await?)
    }

    async fn say_global(&self, speaker: &Speaker, message: String) -> Result<(), Unsaid> {
        let language = speaker.present.language.as_deref();
        let channel = self.chat.shards.channel(language, speaker.tile);
        let channel = channel.ok_or(Unsaid::Nowhere)?;
        let envelope = envelope(speaker, "global", message);
        let key = topics::slow_mode(&speaker.present.character_id);
        self.pass_slow_mode(&key, &envelope.id).await?;
        let said = match self.pass_budget().await {
            Ok(()) => {
                let said = self.bus.publish(&channel, json(&envelope)).await;
                said.map_err(Unsaid::from)
            }
            Err(full) => Err(full),
        };
        if said.is_err() && !self.chat.slow.is_zero() {
            // If this fails, the character waits for its next message as if it had spoken.
            let _ = self.bus.remove(&key, &envelope.id).await;
        }
        said
    }

    /// Counts a message of a character for slow mode.
    async fn pass_slow_mode(&self, key: &str, message_id: &str) -> Result<(), Unsaid> {
        let slow = self.chat.slow;
        if slow.is_zero() {
            return Ok(());
        }
        match self.bus.claim(key, message_id, slow).await? {
            None => Ok(()),
            Some(wait) => Err(Unsaid::Slow(wait)),
        }
    }

    /// Counts a message for the world.
    async fn pass_budget(&self) -> Result<(), Unsaid> {
        match self.limits.pass(self.chat.rule(), &Subject::World).await {
            Ok(standing) => {
                if let Some(standing) = standing {
                    self.metrics.global_chat_left(standing.left);
                }
                Ok(())
            }
            Err(refusal) => {
                self.metrics.global_chat_left(0);
                Err(Unsaid::Full(refusal.wait))
            }
        }
    }
}
