//! Chat as it happens: players' messages go to the bus, and the bus's messages go to players.
//!
//! Always: no session waits for the bus but the one that speaks, and that one briefly. The gateway
//! acknowledges a private message only when it is at the receiver's socket, and writes it there
//! once.

mod beats;
mod channels;
pub(crate) mod friends;
mod private;
mod say;
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
use world::Tile;

use self::channels::Channels;
use super::{
    book::Book,
    bus::{Away, Bus, Heard, Reach},
    chat::{Listener, Listeners},
    gateways::Gateways,
    global::{self, GlobalChat},
    keeper::Keeper,
    presence::{self, Present},
    steering::Steering,
    watch::Watch,
};
use crate::{clock, limits::Limits, mailbox::Mailbox, mailbox::Reliable, metrics::Metrics};

/// Pause between two looks at where everybody stands.
const LOCATE: Duration = Duration::from_secs(1);
/// Maximum number of news of friends that wait for the bus.
const UNSAID_MAX: usize = 4096;
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
    /// Gives the mean work of showing a tick to all of them, in microseconds.
    pub(crate) flush_us: Box<dyn Fn() -> u32 + Send + Sync>,
}

/// Chat and presence of one gateway.
pub(crate) struct Hub {
    gateway_id: String,
    address: Option<String>,
    bus: Bus,
    book: Book,
    chat: GlobalChat,
    limits: Arc<Limits>,
    metrics: Metrics,
    sessions: OwnSessions,
    draining: CancellationToken,
    began: Instant,
    state: Mutex<State>,
    changed: Notify,
    tasks: TaskGroup,
    /// Removals from the bus that are under way.
    leaving: TaskGroup,
}

/// Parts of a hub.
pub(crate) struct HubParts {
    pub(crate) gateway_id: String,
    /// Address at which clients reach this gateway and no other.
    pub(crate) address: Option<String>,
    pub(crate) bus: Bus,
    pub(crate) book: Book,
    pub(crate) chat: GlobalChat,
    /// Longest time between two looks at whether a friend is played.
    pub(crate) presence_poll: Duration,
    pub(crate) limits: Arc<Limits>,
    pub(crate) metrics: Metrics,
    pub(crate) sessions: OwnSessions,
    /// Cancelled when the gateway begins to send its players elsewhere.
    pub(crate) draining: CancellationToken,
}

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
    /// Friends who came or went by the word of a gateway that does not say which.
    announced: BTreeSet<String>,
    /// News of friends that the bus did not take.
    unsaid: VecDeque<SocialEnvelope>,
    reach: Reach,
    steering: Steering,
    gateways: Gateways,
}

/// Speaker, and its tile.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) present: Present,
    pub(crate) tile: Option<Tile>,
}

impl Hub {
    pub(crate) fn new(parts: HubParts, tasks: TaskGroup) -> Arc<Self> {
        let state = State {
            listeners: Listeners::default(),
            waiting: HashMap::new(),
            recent: HashMap::new(),
            order: VecDeque::new(),
            fresh: Vec::new(),
            watch: Watch::new(parts.presence_poll, clock::instant()),
            announced: BTreeSet::new(),
            unsaid: VecDeque::new(),
            reach: Reach::All,
            steering: Steering::default(),
            gateways: Gateways::default(),
        };
        Arc::new(Self {
            gateway_id: parts.gateway_id,
            address: parts.address,
            bus: parts.bus,
            book: parts.book,
            chat: parts.chat,
            limits: parts.limits,
            metrics: parts.metrics,
            sessions: parts.sessions,
            draining: parts.draining,
            began: Instant::now(),
            leaving: tasks.part(),
            tasks,
            state: Mutex::new(state),
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
        if let Some(notice) = away_notice(state.reach) {
            // The writer of a session that overflows closes it.
            let _ = mailbox.push(Reliable::of(&notice));
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
                hub.tell_friends(hub.change(&present, false)).await;
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
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(heard) = heard.recv() => {
                    self.metrics.bus_wait(clock::instant().saturating_duration_since(heard.at));
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
                }
            }
            round_at = Instant::now() + LOCATE;
        }
    }

    /// Brings the bus up to date and tells players when that fails or works again. Returns whether
    /// presence of all is on it now.
    async fn round(&self, channels: &mut Channels, all: bool) -> Result<bool, Away> {
        let done = match self.bus.probe().await {
            Ok(reach) => self
                .update(channels, all, reach)
                .await
                .map(|all| (all, reach)),
            Err(Away) => Err(Away),
        };
        self.note_reach(done.map_or(Reach::Nothing, |(_, reach)| reach));
        let all = done?.0;
        self.look().await;
        Ok(all)
    }

    /// Puts presence on the bus, of all or of those who are new, and follows the wanted channels.
    /// Returns whether it was of all. Where only a part of the bus answers, it does what is possible.
    async fn update(&self, channels: &mut Channels, all: bool, reach: Reach) -> Result<bool, Away> {
        let forgot = self.bus.forgot();
        if forgot {
            channels.uncertain = true;
        }
        let all = all || forgot;
        if forgot {
            self.state().watch.look_at_all();
        }
        let fresh: BTreeSet<String> = self.state().fresh.iter().cloned().collect();
        let (entries, news) = self.entries(&fresh, all);
        excused(reach, self.bus.set(&entries, presence::TIME_TO_LIVE).await)?;
        self.state()
            .fresh
            .retain(|session| !fresh.contains(session));
        excused(reach, self.catch_up(news).await)?;
        if all {
            let said = self.bus.publish(topics::BEATS, json(&self.beat())).await;
            excused(reach, said)?;
        }
        excused(reach, channels.follow(&self.bus, self.wanted()).await)?;
        Ok(all)
    }

    /// Returns the entries of all players here or of the fresh ones, and the news of these.
    fn entries(
        &self,
        fresh: &BTreeSet<String>,
        all: bool,
    ) -> (Vec<(String, String)>, Vec<SocialEnvelope>) {
        let state = self.state();
        let new = fresh.iter().filter_map(|id| state.listeners.session(id));
        let news = new
            .clone()
            .map(|listener| self.change(&listener.present, true));
        let present: Vec<&Listener> = if all {
            state.listeners.all().collect()
        } else {
            new.clone().collect()
        };
        let entries = present
            .iter()
            .flat_map(|l| l.present.entries(&self.gateway_id));
        (entries.collect(), news.collect())
    }

    /// Returns the news that a player came or left.
    fn change(&self, present: &Present, online: bool) -> SocialEnvelope {
        SocialEnvelope::Presence {
            character_id: present.character_id.clone(),
            change: Some(present.change(&self.gateway_id, online)),
        }
    }

    fn wanted(&self) -> BTreeSet<String> {
        let state = self.state();
        let regions = state.listeners.regions();
        let regions = regions
            .into_iter()
            .map(|region| topics::region_chat(region.x, region.z));
        let chat = &self.chat.shards;
        let global = state
            .listeners
            .all()
            .filter_map(|l| chat.channel(l.present.language.as_deref(), l.tile()));
        let shards = self.bus.social_shards();
        let social = (0..shards).map(|shard| topics::social(shard, shards));
        let always = [
            topics::NOTICES.to_owned(),
            topics::BEATS.to_owned(),
            topics::gateway(&self.gateway_id),
        ];
        regions.chain(global).chain(social).chain(always).collect()
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

    /// Tells players once when chat pauses, wholly or in part, and once when it is back.
    fn note_reach(&self, reach: Reach) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.reach, reach);
        if reach != Reach::All {
            // This also counts when the bus was away before: it may have answered a single question
            // meanwhile.
            let reaches =
                |id: &str| reach == Reach::Part && self.bus.reaches(&topics::presence(id));
            let news = state.watch.blind(reaches);
            state.tell(&news);
        }
        if before == reach {
            return;
        }
        tracing::warn!(?reach, "the bus");
        state.watch.look_at_all();
        let notice = away_notice(reach).unwrap_or_else(back_notice);
        for listener in state.listeners.all() {
            // The writer of a session that overflows closes it.
            let _ = listener.mailbox.push(Reliable::of(&notice));
            if reach == Reach::All {
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
        if heard.channel == topics::BEATS {
            match serde_json::from_slice(&heard.payload) {
                Ok(beat) => self.hear_beat(beat),
                Err(error) => tracing::warn!(%error, "a sign of life cannot be read"),
            }
            return;
        }
        if heard.channel.starts_with(topics::SOCIAL) {
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
        let global = global::is_global(&heard.channel);
        let state = self.state();
        let shards = &self.chat.shards;
        let in_shard = |l: &&Listener| {
            let channel = shards.channel(l.present.language.as_deref(), l.tile());
            channel.as_ref() == Some(&heard.channel)
        };
        let listeners = match chat.tile {
            _ if global => state.listeners.all().filter(in_shard).collect(),
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

/// Returns a failure of the bus, if it is not one of a part that is known to be away.
fn excused(reach: Reach, done: Result<(), Away>) -> Result<(), Away> {
    match reach {
        Reach::Part => Ok(()),
        Reach::All | Reach::Nothing => done,
    }
}

/// Returns the notice for players when chat pauses; `None`: it does not.
fn away_notice(reach: Reach) -> Option<Notice> {
    let message = match reach {
        Reach::All => return None,
        Reach::Part => "A part of chat is paused; the world goes on.",
        Reach::Nothing => "Chat is paused; the world goes on.",
    };
    Some(Notice {
        code: "chat_away".to_owned(),
        message: message.to_owned(),
        level: "warning".to_owned(),
    })
}

/// Returns the notice for players when chat goes on.
fn back_notice() -> Notice {
    Notice {
        code: "chat_back".to_owned(),
        message: "Chat is back.".to_owned(),
        level: "info".to_owned(),
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
