//! Private messages: from one player to another, at whatever gateway the other one plays.
//!
//! Always: the receiver's gateway acknowledges a message only when it is at the receiver's socket,
//! and writes it there once. The sender's gateway repeats it with the same id until an answer comes
//! or its time is over.

use std::{sync::Arc, time::Duration};

use proto::{
    client::{ErrorCode, chat::Channel},
    topics::{self, ChatEnvelope, GatewayEnvelope},
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until, timeout},
};

use super::{Away, Hub, Speaker, State, envelope, json, message, presence};
use crate::mailbox::Reliable;

/// Time for which the gateway tries to deliver a private message.
const DELIVERY: Duration = Duration::from_secs(5);
/// Pause between two tries.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of received private messages that others may repeat.
const RECENT_MAX: usize = 4096;

impl Hub {
    /// Says something to one player. Returns when it is at that player's socket.
    pub(crate) async fn tell(
        &self,
        speaker: &Speaker,
        to: &str,
        message: String,
    ) -> Result<(), ErrorCode> {
        let chat = envelope(speaker, "private", message);
        let id = chat.id.clone();
        let (sender, mut answer) = oneshot::channel();
        self.state().waiting.insert(id.clone(), sender);
        let told = timeout(DELIVERY, self.try_to_tell(to, chat, &mut answer)).await;
        self.state().waiting.remove(&id);
        let delivered = told.unwrap_or(false);
        self.metrics
            .chat("private", if delivered { "said" } else { "not_delivered" });
        if delivered {
            Ok(())
        } else {
            Err(ErrorCode::NotDelivered)
        }
    }

    async fn try_to_tell(
        &self,
        to: &str,
        chat: ChatEnvelope,
        answer: &mut oneshot::Receiver<bool>,
    ) -> bool {
        let mut absent = 0;
        loop {
            let next = Instant::now() + RETRY;
            match self.find(to).await {
                Ok(Some((character_id, gateway_id))) => {
                    let envelope = GatewayEnvelope::Private {
                        to_character: character_id,
                        reply_to: self.gateway_id.clone(),
                        chat: chat.clone(),
                    };
                    // The loop tries again, with the same id.
                    let _ = self.tell_gateway(&gateway_id, &envelope).await;
                }
                // Nobody of that name plays. The next try finds a player who has just come.
                Ok(None) if absent > 0 => return false,
                Ok(None) => absent += 1,
                Err(Away) => {}
            }
            tokio::select! {
                answered = &mut *answer => return answered.unwrap_or(false),
                () = sleep_until(next) => {}
            }
        }
    }

    /// Returns the character of this name, and the gateway where it is played.
    async fn find(&self, name: &str) -> Result<Option<(String, String)>, Away> {
        let Some(character_id) = self.bus.get(&topics::presence_name(name.trim())).await? else {
            return Ok(None);
        };
        let kept = self.bus.get(&topics::presence(&character_id)).await?;
        let there = kept.and_then(|text| presence::read(&text));
        Ok(there.map(|there| (character_id, there.gateway_id)))
    }

    pub(super) fn settle(&self, id: &str, delivered: bool) {
        if let Some(waiting) = self.state().waiting.remove(id) {
            // The asking task may have given up.
            let _ = waiting.send(delivered);
        }
    }

    /// Takes a private message for a player of this gateway, perhaps repeated.
    pub(super) fn receive(
        self: &Arc<Self>,
        to_character: &str,
        reply_to: String,
        chat: ChatEnvelope,
    ) {
        let id = chat.id.clone();
        let (sender, written) = oneshot::channel();
        let pushed = {
            let mut state = self.state();
            match state.recent.get(&id) {
                Some(true) => Some(true),
                // The message waits to be written.
                Some(false) => return,
                None => match state.listeners.character(to_character) {
                    None => Some(false),
                    // Nobody knows yet whether the player wants to hear it: the sender repeats it.
                    Some(listener) if !listener.is_ready() => return,
                    Some(listener) if !listener.hears(&chat.from_account) => Some(false),
                    Some(listener) => {
                        let data = json(&message(chat, Channel::Private));
                        let mut private = Reliable::raw("chat:message", data);
                        private.written = Some(sender);
                        let full = listener.mailbox.push(private).is_err();
                        if !full {
                            state.remember(&id);
                        }
                        full.then_some(false)
                    }
                },
            }
        };
        let hub = Arc::clone(self);
        self.tasks.spawn("private message", async move {
            let delivered = match pushed {
                Some(known) => known,
                None => written.await.is_ok(),
            };
            hub.answer(&reply_to, id, delivered).await;
        });
    }

    async fn answer(&self, reply_to: &str, id: String, delivered: bool) {
        let envelope = if delivered {
            if let Some(written) = self.state().recent.get_mut(&id) {
                *written = true;
            }
            GatewayEnvelope::Delivered { id }
        } else {
            self.state().recent.remove(&id);
            GatewayEnvelope::NotDelivered { id }
        };
        // If this is lost, the sender repeats the message and gets another answer.
        let _ = self.tell_gateway(reply_to, &envelope).await;
    }
}

impl State {
    fn remember(&mut self, id: &str) {
        self.recent.insert(id.to_owned(), false);
        self.order.push_back(id.to_owned());
        if self.order.len() > RECENT_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.recent.remove(&oldest);
        }
    }
}
