//! Friends in the world: each player's lists, and whether a run plays the characters on them. One
//! task keeps the lists for as long as the player is there.
//!
//! Always: a client hears of its lists in the order of the store's words. Requests for them wait in
//! a bounded queue. A player hears nobody else until the store has named the accounts that it
//! ignores, or cannot.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use proto::{
    client::{
        ErrorCode, Refusal, RequestId,
        error::Error,
        friends::{FriendsPresence, Status as Played},
    },
    rpc::social::v1::{Lists, Outcome, change_request::Change},
    topics::{self, Presence, SocialEnvelope},
};
use tokio::time::{Instant, sleep_until};
use tonic::{Code, Status};

use super::{Away, Hub, State, UNSAID_MAX, json};
use crate::{
    clock,
    mailbox::{Mailbox, Reliable},
    metrics::Metrics,
    social::{
        friends::Circle,
        keeper::{Asked, FriendsRequest, Orders},
        poll,
        presence::{self, Present},
        watch::News,
    },
};

/// Pause before the gateway asks a store again that did not answer.
const RETRY: Duration = Duration::from_secs(3);

/// The task of one player.
struct Task {
    hub: Arc<Hub>,
    present: Present,
    mailbox: Mailbox,
    /// Lists that the client knows.
    told: Option<Circle>,
    /// Time at which to ask a store again that did not answer.
    retry: Option<Instant>,
}

impl Hub {
    /// Starts the task that keeps the lists of a player of this gateway.
    pub(super) fn keep(self: &Arc<Self>, present: Present, mailbox: Mailbox, orders: Orders) {
        let task = Task {
            hub: Arc::clone(self),
            present,
            mailbox,
            told: None,
            retry: None,
        };
        self.tasks.spawn("lists of a player", task.run(orders));
    }

    /// Passes on a player's request about its lists.
    pub(crate) fn ask(&self, session_id: &str, asked: Asked) -> Result<(), ErrorCode> {
        let state = self.state();
        let listener = state.listeners.session(session_id);
        listener.map_or(Err(ErrorCode::NotInWorld), |l| l.keeper.ask(asked))
    }

    /// Tells other gateways news of friends. What the bus does not take now, it gets when it is
    /// back.
    pub(super) async fn tell_friends(&self, envelope: SocialEnvelope) {
        if self.publish_news(&envelope).await.is_err() {
            self.state().keep_unsaid([envelope], &self.metrics);
        }
    }

    /// Tells the news of which the bus did not take some before, and these.
    pub(super) async fn catch_up(&self, news: Vec<SocialEnvelope>) -> Result<(), Away> {
        let mut all = std::mem::take(&mut self.state().unsaid);
        all.extend(news);
        let mut told = Ok(());
        let mut left = Vec::new();
        for envelope in all {
            // Where the bus is one, it is not asked again in vain for each.
            if told.is_err() && !self.bus.has_parts() {
                left.push(envelope);
            } else if self.publish_news(&envelope).await.is_err() {
                told = Err(Away);
                left.push(envelope);
            }
        }
        self.state().keep_unsaid(left, &self.metrics);
        told
    }

    async fn publish_news(&self, envelope: &SocialEnvelope) -> Result<(), Away> {
        let shards = self.bus.social_shards();
        let about = match envelope {
            SocialEnvelope::Presence { character_id, .. }
            | SocialEnvelope::Friends { character_id } => character_id,
            SocialEnvelope::Ignored { account_id } => account_id,
        };
        let channel = topics::social(poll::part(about, shards), shards);
        self.bus.publish(&channel, json(envelope)).await
    }

    /// Handles another gateway's word on where to look again.
    pub(super) fn hear_social(&self, envelope: SocialEnvelope) {
        let mut state = self.state();
        match envelope {
            SocialEnvelope::Presence {
                character_id,
                change: Some(change),
            } => {
                let news = state.watch.heard(&character_id, change);
                state.tell(&news);
            }
            // A gateway of before.
            SocialEnvelope::Presence {
                character_id,
                change: None,
            } => {
                if state.watch.watches(&character_id) {
                    state.announced.insert(character_id);
                    drop(state);
                    self.changed.notify_one();
                }
            }
            SocialEnvelope::Friends { character_id } => {
                if let Some(listener) = state.listeners.character(&character_id) {
                    listener.keeper.look();
                }
            }
            SocialEnvelope::Ignored { account_id } => {
                let all = state.listeners.all();
                let of = all.filter(|listener| listener.present.account_id == account_id);
                of.for_each(|listener| listener.keeper.look());
            }
        }
    }

    /// Asks the bus for the friends who are due: those of whom somebody said that it knows more, a
    /// part of all, and those whose gateway gives no sign of life.
    pub(super) async fn look(&self) {
        let now = clock::instant();
        let (announced, due) = {
            let mut state = self.state();
            let mut announced = std::mem::take(&mut state.announced);
            announced.extend(state.watch.abandoned(now));
            (announced, state.watch.due(now))
        };
        self.look_at(announced.into_iter().collect(), true).await;
        self.look_at(due, false).await;
    }

    /// Asks the bus where these are played. `announced`: somebody said that they came or went.
    async fn look_at(&self, ids: Vec<String>, announced: bool) {
        if ids.is_empty() {
            return;
        }
        let (found, unanswered) = self.played(ids).await;
        let mut state = self.state();
        state.watch.unanswered(unanswered);
        let news = state.watch.looked(&found, announced, clock::instant());
        state.tell(&news);
    }

    /// Returns where these are played, and those of whom the bus gave no answer.
    async fn played(&self, ids: Vec<String>) -> (Vec<(String, Option<Presence>)>, Vec<String>) {
        let keys: Vec<String> = ids.iter().map(|id| topics::presence(id)).collect();
        let values = self.bus.get_many(&keys).await;
        let (mut found, mut unanswered) = (Vec::with_capacity(ids.len()), Vec::new());
        for (id, value) in ids.into_iter().zip(values) {
            match value {
                Ok(entry) => found.push((id, entry.and_then(|text| presence::read(&text)))),
                Err(Away) => unanswered.push(id),
            }
        }
        (found, unanswered)
    }
}

impl State {
    /// Keeps news until the bus takes them. The slow look makes good what does not fit.
    fn keep_unsaid(&mut self, news: impl IntoIterator<Item = SocialEnvelope>, metrics: &Metrics) {
        for envelope in news {
            if self.unsaid.len() < UNSAID_MAX {
                self.unsaid.push_back(envelope);
            } else {
                metrics.bus_dropped();
            }
        }
    }

    /// Tells sessions which of their friends came and went.
    pub(super) fn tell(&self, news: &News) {
        for (session_id, friends) in news {
            if let Some(listener) = self.listeners.session(session_id) {
                let friends = friends.clone();
                // The writer of a session that overflows closes it.
                let _ = listener
                    .mailbox
                    .push(Reliable::of(&FriendsPresence { friends }));
            }
        }
    }
}

impl Task {
    async fn run(mut self, orders: Orders) {
        let Orders { mut asked, look } = orders;
        // Boxed here and below, so that a task that waits holds no memory for its questions.
        Box::pin(self.look()).await;
        loop {
            let retry = self.retry;
            let again = async {
                match retry {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                asked = asked.recv() => match asked {
                    Some(asked) => Box::pin(self.answer(*asked)).await,
                    // The player has left the world.
                    None => return,
                },
                () = look.notified() => Box::pin(self.look()).await,
                () = again => Box::pin(self.look()).await,
            }
        }
    }

    /// Asks the store, and tells the client the news.
    async fn look(&mut self) {
        match self.hub.book.lists(&self.present).await {
            Ok(lists) => self.learn(lists, None).await,
            Err(status) => self.not_known(&status),
        }
    }

    fn not_known(&mut self, status: &Status) {
        if self.retry.is_none() {
            tracing::debug!(code = ?status.code(), "the store says no lists of friends");
        }
        self.retry = Some(Instant::now() + RETRY);
        // Better to hear somebody unwanted than nobody.
        let id = &self.present.session_id;
        self.hub.state().listeners.hear_all(id);
    }

    async fn answer(&mut self, asked: Asked) {
        let Asked { re, event, request } = asked;
        let change = match request {
            FriendsRequest::List => {
                // The lists that the client knows count no more: it gets everything.
                let told = self.told.take();
                return match self.hub.book.lists(&self.present).await {
                    Ok(lists) => self.learn(lists, Some(re)).await,
                    Err(status) => {
                        self.told = told;
                        self.not_known(&status);
                        self.refuse(re, event, refusal(&status));
                    }
                };
            }
            FriendsRequest::Change(change) => change,
        };
        let reply = match self.hub.book.change(&self.present, &change).await {
            Ok(reply) => reply,
            Err(status) => return self.refuse(re, event, refusal(&status)),
        };
        let outcome = reply.outcome();
        if let Some(code) = code(outcome) {
            self.refuse(re, event, code);
            // The lists that the client knows may be wrong.
            return self.learn(reply.lists.unwrap_or_default(), None).await;
        }
        if !reply.other.is_empty() {
            let character_id = reply.other;
            self.hub
                .tell_friends(SocialEnvelope::Friends { character_id })
                .await;
        }
        if matches!(change, Change::Ignore(_) | Change::Unignore(_)) {
            let account_id = self.present.account_id.clone();
            self.hub
                .tell_friends(SocialEnvelope::Ignored { account_id })
                .await;
        }
        self.learn(reply.lists.unwrap_or_default(), Some(re)).await;
    }

    /// Takes the store's lists and tells the client the news. `answers`: a request, which gets an
    /// answer even without news.
    async fn learn(&mut self, lists: Lists, answers: Option<Option<RequestId>>) {
        self.retry = None;
        let now = Circle::of(lists);
        let friends = now.friends();
        let session_id = &self.present.session_id;
        {
            // This comes first, so that nobody who comes or goes while the bus answers is missed.
            let mut state = self.hub.state();
            if state.listeners.session(session_id).is_none() {
                return;
            }
            state.watch.follow(session_id, friends.clone());
        }
        let mut found = self.played_unknown(&friends).await;
        let mut state = self.hub.state();
        if state.listeners.session(session_id).is_none() {
            // The player left meanwhile, perhaps before it followed anybody.
            state.watch.forget(session_id);
            return;
        }
        // News of a friend since then is newer.
        found.retain(|(id, _)| state.watch.status(id) == Played::Unknown);
        let mut news = state.watch.looked(&found, true, clock::instant());
        // The client hears of a new friend's state with the lists.
        let mut own = news.remove(session_id).unwrap_or_default();
        let known = self.told.as_ref().map(Circle::friends).unwrap_or_default();
        own.retain(|friend| known.contains(&friend.id));
        state.tell(&news);
        let ignored = now.ignored_accounts().clone();
        state.listeners.ignore(session_id, ignored);
        let status = |id: &str| state.watch.status(id);
        let said = match &self.told {
            None => Some(Reliable::of(&now.list(status))),
            Some(before) if *before == now && answers.is_none() => None,
            Some(before) => Some(Reliable::of(&now.since(before, status))),
        };
        drop(state);
        if let Some(said) = said {
            // The writer of a session that overflows closes it.
            let _ = self.mailbox.push(said.answering(answers.flatten()));
        }
        if !own.is_empty() {
            let _ = self
                .mailbox
                .push(Reliable::of(&FriendsPresence { friends: own }));
        }
        self.told = Some(now);
    }

    /// Returns whether those friends are played of whom this gateway knows nothing.
    async fn played_unknown(&self, friends: &BTreeSet<String>) -> Vec<(String, Option<Presence>)> {
        let unknown: Vec<String> = {
            let state = self.hub.state();
            let unknown = |id: &&String| state.watch.status(id) == Played::Unknown;
            friends.iter().filter(unknown).cloned().collect()
        };
        // Without the bus nothing is known; the gateway looks for them again when it is back.
        let (found, unanswered) = self.hub.played(unknown).await;
        self.hub.state().watch.unanswered(unanswered);
        found
    }

    fn refuse(&self, re: Option<RequestId>, event: &'static str, code: ErrorCode) {
        let error = Error {
            code,
            message: code.sentence().to_owned(),
            event: Some(event.to_owned()),
            retry_after_ms: None,
        };
        // The writer of a session that overflows closes it.
        let _ = self.mailbox.push(Reliable::of(&error).answering(re));
    }
}

/// Returns the error code for an outcome; `None` when it is done.
fn code(outcome: Outcome) -> Option<ErrorCode> {
    Some(match outcome {
        Outcome::Done => return None,
        Outcome::NoSuchPlayer => ErrorCode::PlayerNotFound,
        Outcome::NotThere => ErrorCode::Refused(Refusal::NotFound),
        Outcome::Yourself => ErrorCode::Yourself,
        Outcome::AlreadyFriends => ErrorCode::AlreadyFriends,
        Outcome::AlreadyRequested => ErrorCode::AlreadyRequested,
        Outcome::AlreadyIgnored => ErrorCode::AlreadyIgnored,
        Outcome::FriendLimit => ErrorCode::FriendLimit,
        Outcome::IgnoreLimit => ErrorCode::IgnoreLimit,
        Outcome::Unspecified => ErrorCode::Internal,
    })
}

fn refusal(status: &Status) -> ErrorCode {
    match status.code() {
        Code::NotFound => ErrorCode::NotYourCharacter,
        Code::InvalidArgument => ErrorCode::InvalidData,
        _ => ErrorCode::Refused(Refusal::StorageUnavailable),
    }
}
