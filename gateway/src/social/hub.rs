//! Chat as it happens: players' messages go to the bus, and the bus's messages go to players.
//!
//! Always: no session waits for the bus but the one that speaks, and that one briefly. The gateway
//! acknowledges a private message only when it is at the receiver's socket, and writes it there
//! once.

pub(crate) mod friends;
mod private;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use proto::{
    client::{
        ErrorCode, Refusal,
        chat::{Channel, ChatMessage},
        session::Notice,
    },
    topics::{self, ChatEnvelope, GatewayEnvelope, SocialEnvelope},
};
use serde::Serialize;
use service_runtime::tasks::TaskGroup;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use world::{Region, Tile};

use super::{
    book::Book,
    bus::{Away, Bus, Heard},
    chat::{Listener, Listeners},
    keeper::Keeper,
    presence::{self, Present},
    watch::Watch,
};
use crate::{clock, mailbox::Mailbox, mailbox::Reliable, metrics::Metrics};

/// Pause between two looks at where everybody stands.
const LOCATE: Duration = Duration::from_secs(1);
/// Pause between two checks whether friends are still played who were not announced to go.
const POLL: Duration = Duration::from_secs(5);
/// Time for which it waits for more to come when somebody has come or gone.
const SOON: Duration = Duration::from_millis(20);

/// Function that gives the tile of a session's character.
pub(crate) type Position = Box<dyn Fn(&str) -> Option<Tile> + Send + Sync>;

/// Function that hears of a character or session, by id, with a number.
pub(crate) type TellNumbered = Box<dyn Fn(&str, u64) + Send + Sync>;

/// Functions by which the hub asks and tells the sessions of this gateway.
pub(crate) struct OwnSessions {
    pub(crate) position: Position,
    /// Takes a character and the epoch of the newer session that plays it elsewhere.
    pub(crate) replaced: TellNumbered,
    /// Takes a session that goes on at another gateway, and the number that attached it there.
    pub(crate) resumed: TellNumbered,
}

/// Chat and presence of one gateway.
pub(crate) struct Hub {
    gateway_id: String,
    bus: Bus,
    book: Book,
    metrics: Metrics,
    sessions: OwnSessions,
    state: Mutex<State>,
    changed: Notify,
    tasks: TaskGroup,
    /// Removals from the bus that are under way.
    leaving: TaskGroup,
}

#[derive(Default)]
struct State {
    listeners: Listeners,
    /// Private messages from here that wait for their acknowledgement.
    waiting: HashMap<String, oneshot::Sender<bool>>,
    /// Private messages that came here, and whether they have been written.
    recent: HashMap<String, bool>,
    order: VecDeque<String>,
    /// Sessions that the bus does not know yet.
    fresh: Vec<String>,
    /// State of the friends of players here.
    watch: Watch,
    /// Friends who came or went, by somebody's word.
    announced: BTreeSet<String>,
    away: bool,
}

/// Speaker, and its tile.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) present: Present,
    pub(crate) tile: Option<Tile>,
}

impl Hub {
    pub(crate) fn new(
        gateway_id: String,
        bus: Bus,
        book: Book,
        metrics: Metrics,
        sessions: OwnSessions,
        tasks: TaskGroup,
    ) -> Arc<Self> {
        Arc::new(Self {
            gateway_id,
            bus,
            book,
            metrics,
            sessions,
            leaving: tasks.part(),
            tasks,
            state: Mutex::default(),
            changed: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a player who came into the world.
    pub(crate) fn join(self: &Arc<Self>, present: Present, mailbox: Mailbox) {
        let (keeper, orders) = Keeper::new();
        let mut state = self.state();
        if state.away {
            // The writer of a session that overflows closes it.
            let _ = mailbox.push(Reliable::of(&away_notice(true)));
        }
        state.fresh.push(present.session_id.clone());
        state
            .listeners
            .join(present.clone(), mailbox.clone(), keeper);
        drop(state);
        // This comes afterwards, because the task's news goes only to players who are here.
        self.keep(present, mailbox, orders);
        self.changed.notify_one();
    }

    /// Removes a player who left the world. `elsewhere`: a newer session plays the character.
    pub(crate) fn leave(self: &Arc<Self>, session_id: &str, elsewhere: bool) {
        let left = {
            let mut state = self.state();
            state.watch.forget(session_id);
            state.listeners.leave(session_id)
        };
        self.changed.notify_one();
        let Some(present) = left else {
            return;
        };
        let hub = Arc::clone(self);
        self.leaving.finish("leaving the bus", async move {
            let [place, name] = present.entries(&hub.gateway_id);
            // An entry that cannot be removed now ends by itself.
            let _ = hub.bus.remove(&place.0, &place.1).await;
            if !elsewhere {
                let _ = hub.bus.remove(&name.0, &name.1).await;
                let character_id = present.character_id;
                hub.point(&SocialEnvelope::Presence { character_id }).await;
            }
        });
    }

    /// Returns the characters that an account plays at this gateway.
    pub(crate) fn played_by(&self, account_id: &str) -> Vec<Present> {
        let state = self.state();
        let all = state.listeners.all().map(|listener| &listener.present);
        all.filter(|present| present.account_id == account_id)
            .cloned()
            .collect()
    }

    /// Waits until nothing of players who left is on the bus. Call it when nobody comes any more.
    pub(crate) async fn settled(&self) {
        self.leaving.ended().await;
    }

    /// Tells the gateway that played this character until now, if it is another one.
    pub(crate) async fn announce_takeover(&self, character_id: &str, session_epoch: u64) {
        let envelope = GatewayEnvelope::Replaced {
            character_id: character_id.to_owned(),
            session_epoch,
        };
        self.tell_other(character_id, envelope).await;
    }

    /// Tells something to the gateway that the bus names for a character, if it is another one.
    pub(crate) async fn tell_other(&self, character_id: &str, envelope: GatewayEnvelope) {
        let kept = self.bus.get(&topics::presence(character_id)).await;
        let Some(there) = kept.ok().flatten().and_then(|text| presence::read(&text)) else {
            return;
        };
        if there.gateway_id != self.gateway_id {
            // The zone tells that gateway as well.
            let _ = self.tell_gateway(&there.gateway_id, &envelope).await;
        }
    }

    /// Says something to all nearby, or to everybody.
    pub(crate) async fn say(
        &self,
        speaker: &Speaker,
        global: bool,
        message: String,
    ) -> Result<(), ErrorCode> {
        let channel = match (global, speaker.tile) {
            (true, _) => topics::GLOBAL_CHAT.to_owned(),
            (false, Some(tile)) => {
                let region = Region::from(tile);
                topics::region_chat(region.x, region.z)
            }
            (false, None) => return Err(ErrorCode::NotInWorld),
        };
        let name = if global { "global" } else { "local" };
        let envelope = envelope(speaker, name, message);
        let said = self.bus.publish(&channel, json(&envelope)).await;
        self.metrics
            .chat(name, if said.is_ok() { "said" } else { "away" });
        said.map_err(|Away| ErrorCode::Refused(Refusal::Busy))
    }

    /// Tells everybody in the world, at every gateway.
    pub(crate) async fn announce(&self, notice: Notice) -> Result<(), ErrorCode> {
        let said = self.bus.publish(topics::NOTICES, json(&notice)).await;
        said.map_err(|Away| ErrorCode::Refused(Refusal::Busy))
    }

    async fn tell_gateway(&self, id: &str, envelope: &GatewayEnvelope) -> Result<(), Away> {
        self.bus.publish(&topics::gateway(id), json(envelope)).await
    }

    /// Listens to the bus and keeps presence alive, until `stop`.
    pub(crate) async fn run(
        self: Arc<Self>,
        mut heard: mpsc::Receiver<Heard>,
        stop: CancellationToken,
    ) {
        let mut channels = Channels::default();
        let mut renew_at = Instant::now();
        let mut round_at = Instant::now();
        let mut poll_at = Instant::now();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(heard) = heard.recv() => {
                    self.hear(&heard);
                    continue;
                }
                () = sleep_until(round_at) => {}
                () = self.changed.notified() => {
                    // Many may come at once: they share a round.
                    round_at = round_at.min(Instant::now() + SOON);
                    continue;
                }
            }
            self.state().listeners.locate(&self.sessions.position);
            let all = renew_at <= Instant::now();
            match self.round(&mut channels, all).await {
                Ok(true) => renew_at = Instant::now() + presence::RENEW,
                Ok(false) => {}
                // The bus may have lost all that it knew of us when it is back.
                Err(Away) => {
                    channels.uncertain = true;
                    renew_at = Instant::now();
                    poll_at = Instant::now();
                }
            }
            if poll_at <= Instant::now() && !self.state().away {
                let watched = self.state().watch.watched();
                // If this fails, the next round asks again.
                if self.look_at(watched, false).await.is_ok() {
                    poll_at = Instant::now() + POLL;
                }
            }
            round_at = Instant::now() + LOCATE;
        }
    }

    /// Brings the bus up to date and tells players when that fails or works again. Returns whether
    /// presence of all is on it now.
    async fn round(&self, channels: &mut Channels, all: bool) -> Result<bool, Away> {
        let done = self.update(channels, all).await;
        self.note_away(done.is_err());
        done
    }

    /// Puts presence on the bus, of all or of those who are new, and follows the wanted channels.
    /// Returns whether it was of all.
    async fn update(&self, channels: &mut Channels, all: bool) -> Result<bool, Away> {
        self.bus.probe().await?;
        let forgot = self.bus.forgot();
        if forgot {
            channels.uncertain = true;
        }
        let all = all || forgot;
        let (fresh, announced) = {
            let mut state = self.state();
            let announced = std::mem::take(&mut state.announced);
            (std::mem::take(&mut state.fresh), announced)
        };
        let entries: Vec<(String, String)> = {
            let state = self.state();
            let listed = |session: &String| state.listeners.session(session);
            let present: Vec<&Listener> = if all {
                state.listeners.all().collect()
            } else {
                fresh.iter().filter_map(listed).collect()
            };
            let present = present.iter().map(|listener| &listener.present);
            present
                .flat_map(|present| present.entries(&self.gateway_id))
                .collect()
        };
        self.bus.set(&entries, presence::TIME_TO_LIVE).await?;
        for session_id in fresh {
            let listener = self.state().listeners.session(&session_id).cloned();
            if let Some(listener) = listener {
                let character_id = listener.present.character_id;
                self.point(&SocialEnvelope::Presence { character_id }).await;
            }
        }
        if !announced.is_empty() {
            self.look_at(announced.into_iter().collect(), true).await?;
        }
        channels.follow(&self.bus, self.wanted()).await?;
        Ok(all)
    }

    fn wanted(&self) -> BTreeSet<String> {
        let regions = self.state().listeners.regions();
        let regions = regions
            .into_iter()
            .map(|region| topics::region_chat(region.x, region.z));
        let always = [
            topics::GLOBAL_CHAT.to_owned(),
            topics::NOTICES.to_owned(),
            topics::SOCIAL.to_owned(),
            topics::gateway(&self.gateway_id),
        ];
        regions.chain(always).collect()
    }

    /// Reads the lists of friends of all players here again: the store has another incarnation, which
    /// may lack the newest changes.
    pub(crate) fn look_again(&self) {
        let state = self.state();
        state
            .listeners
            .all()
            .for_each(|listener| listener.keeper.look());
    }

    /// Tells players once when chat pauses and once when it is back.
    fn note_away(&self, away: bool) {
        let mut state = self.state();
        if away {
            // This also counts when the bus was away before: it may have answered a single question
            // meanwhile.
            let news = state.watch.blind();
            state.tell(&news);
        }
        if state.away == away {
            return;
        }
        state.away = away;
        tracing::warn!(away, "the bus");
        let notice = away_notice(away);
        for listener in state.listeners.all() {
            // The writer of a session that overflows closes it.
            let _ = listener.mailbox.push(Reliable::of(&notice));
            if !away {
                // The gateway did not hear of others' changes meanwhile.
                listener.keeper.look();
            }
        }
    }

    fn hear(self: &Arc<Self>, heard: &Heard) {
        if heard.channel == topics::gateway(&self.gateway_id) {
            match serde_json::from_slice(&heard.payload) {
                Ok(envelope) => self.hear_gateway(envelope),
                Err(error) => tracing::warn!(%error, "a gateway said what cannot be read"),
            }
            return;
        }
        if heard.channel == topics::NOTICES {
            match serde_json::from_slice::<Notice>(&heard.payload) {
                Ok(notice) => self.tell_all(&notice),
                Err(error) => tracing::warn!(%error, "an announcement cannot be read"),
            }
            return;
        }
        if heard.channel == topics::SOCIAL {
            match serde_json::from_slice(&heard.payload) {
                Ok(envelope) => self.hear_social(envelope),
                Err(error) => tracing::warn!(%error, "what is said of friends cannot be read"),
            }
            return;
        }
        let chat: ChatEnvelope = match serde_json::from_slice(&heard.payload) {
            Ok(chat) => chat,
            Err(error) => {
                tracing::warn!(%error, "a chat message cannot be read");
                return;
            }
        };
        let global = heard.channel == topics::GLOBAL_CHAT;
        let state = self.state();
        let listeners = match chat.tile {
            _ if global => state.listeners.all().collect(),
            Some([x, z]) => state
                .listeners
                .near(Tile::new(x, z), &self.sessions.position),
            None => Vec::new(),
        };
        let channel = if global {
            Channel::Global
        } else {
            Channel::Local
        };
        let listeners = listeners.into_iter();
        let hear: Vec<&Listener> = listeners.filter(|l| l.hears(&chat.from_account)).collect();
        let data: Bytes = json(&message(chat, channel));
        for Listener { mailbox, .. } in hear {
            let _ = mailbox.push(Reliable::raw("chat:message", data.clone()));
        }
    }

    fn tell_all(&self, notice: &Notice) {
        for Listener { mailbox, .. } in self.state().listeners.all() {
            // The writer of a session that overflows closes it.
            let _ = mailbox.push(Reliable::of(notice));
        }
    }

    fn hear_gateway(self: &Arc<Self>, envelope: GatewayEnvelope) {
        match envelope {
            GatewayEnvelope::Private {
                to_character,
                reply_to,
                chat,
            } => self.receive(&to_character, reply_to, chat),
            GatewayEnvelope::Delivered { id } => self.settle(&id, true),
            GatewayEnvelope::NotDelivered { id } => self.settle(&id, false),
            GatewayEnvelope::Replaced {
                character_id,
                session_epoch,
            } => (self.sessions.replaced)(&character_id, session_epoch),
            GatewayEnvelope::Resumed { session_id, attach } => {
                (self.sessions.resumed)(&session_id, attach)
            }
        }
    }
}

/// Channels that the gateway reads, or may read.
#[derive(Default)]
struct Channels {
    read: BTreeSet<String>,
    /// Whether the bus may have forgotten them.
    uncertain: bool,
}

impl Channels {
    /// Reads just these from now on. If it fails, the next check of the channels tries again.
    async fn follow(&mut self, bus: &Bus, wanted: BTreeSet<String>) -> Result<(), Away> {
        for channel in &wanted {
            // Without an answer the gateway may be reading it, and must give it up when nobody
            // wants it.
            if self.read.insert(channel.clone()) || self.uncertain {
                bus.subscribe(channel).await?;
            }
        }
        for channel in self.read.clone().difference(&wanted) {
            bus.unsubscribe(channel).await?;
            self.read.remove(channel);
        }
        self.uncertain = false;
        Ok(())
    }
}

/// Returns the notice for players when chat pauses or goes on.
fn away_notice(away: bool) -> Notice {
    let (code, message, level) = if away {
        ("chat_away", "Chat is paused; the world goes on.", "warning")
    } else {
        ("chat_back", "Chat is back.", "info")
    };
    Notice {
        code: code.to_owned(),
        message: message.to_owned(),
        level: level.to_owned(),
    }
}

fn envelope(speaker: &Speaker, channel: &str, message: String) -> ChatEnvelope {
    ChatEnvelope {
        id: uuid::Uuid::now_v7().to_string(),
        channel: channel.to_owned(),
        from: speaker.present.name.clone(),
        from_id: speaker.present.character_id.clone(),
        from_account: speaker.present.account_id.clone(),
        message,
        at: clock::now_iso(),
        tile: speaker.tile.map(|tile| [tile.x, tile.z]),
    }
}

fn message(chat: ChatEnvelope, channel: Channel) -> ChatMessage {
    ChatMessage {
        id: chat.id,
        channel,
        from: chat.from,
        entity_id: (channel == Channel::Local).then(|| chat.from_id.clone()),
        from_id: chat.from_id,
        message: chat.message,
        at: chat.at,
    }
}

fn json<T: Serialize>(value: &T) -> Bytes {
    proto::encode::json(value).into()
}
