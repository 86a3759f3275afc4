//! Frames for gateways: those of each tick, and those that an acknowledgement releases in between.
//!
//! Always: players see a ground item come, change and go only when the store has acknowledged it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proto::rpc::{
    persistence::v1::CommitRows,
    zone::v1::{Private, SessionFrame},
};
use world::{CharacterId, Chunk, EntityId, Hit, Kind, Player, Tile};

use super::Run;
use crate::{
    commit::batch::Settled,
    deliver::{
        held::HeldGround,
        published::{News, Published},
    },
    roster::{PlayerSlot, Session, Stage},
    translate::{self, look, record},
};

/// Frames of sessions, by gateway.
type Sessions = BTreeMap<String, Vec<SessionFrame>>;

/// The entities that the run shows to gateways, and those that it does not show yet.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) published: Published,
    /// Entities that are out with their region; the run shows them as they were.
    pub(super) out: BTreeSet<EntityId>,
    /// Entities that went with their region; the next frame shows them no more.
    pub(super) unshown: BTreeSet<EntityId>,
    /// Entities that another run owns since the last frame.
    pub(super) transferred: BTreeSet<EntityId>,
    /// Ground items that the store has not acknowledged.
    pub(super) held_ground: HeldGround,
    /// Chunks as they were published, by tick.
    pub(super) dumps: VecDeque<(u64, BTreeMap<Chunk, News>)>,
}

impl Run {
    /// Publishes the entities that may look different now.
    pub(super) fn show(&mut self, touched: &BTreeSet<EntityId>) {
        // An entity that is out with its region keeps its look until the store has answered.
        let unshown = std::mem::take(&mut self.shown.unshown);
        for id in touched.union(&unshown) {
            if !self.shown.held_ground.holds(id) && !self.shown.out.contains(id) {
                self.show_one(id);
            }
        }
        self.shown.transferred.clear();
    }

    /// Shows each blow that landed, once, to all who see its tile.
    pub(super) fn show_hits(&mut self, hits: &[Hit]) {
        for hit in hits {
            let fields = serde_json::to_value(hit).and_then(serde_json::from_value);
            match fields {
                Ok(fields) => self.shown.published.moment(Chunk::from(hit.tile), &fields),
                Err(why) => tracing::error!(%why, "a hit has fields that are not plain values"),
            }
        }
    }

    fn show_one(&mut self, id: &EntityId) {
        let appearance = self.world.look(id).map(|seen| {
            let player = self.roster.get(&id.character());
            let sequence = match player.filter(|_| seen.kind == Kind::Player) {
                Some(slot) => slot.sequence,
                None => self.regions.held.get(&seen.region).copied().unwrap_or(0),
            };
            look::appearance(seen, sequence)
        });
        let transferred = self.shown.transferred.contains(id);
        self.shown.published.show(id, appearance, transferred);
    }

    /// Sends each gateway its frame.
    pub(super) fn deliver(&mut self) {
        let changes = self.shown.published.flush();
        let mut sessions = Sessions::new();
        for (who, slot) in &mut self.roster {
            let messages = slot.take_outbox();
            let traceparents = std::mem::take(&mut slot.messages.traceparents);
            let tile = self.world.player(who).map(Player::tile);
            // The frame names every session, so that its gateway hears when there is none any more.
            // The run tells a session whose character comes in just now separately.
            let comes = matches!(slot.stage, Stage::Joining { .. });
            if comes && tile.is_none() && messages.is_empty() {
                continue;
            }
            if let Some(session) = &slot.session {
                let mut frame = frame(who, slot, session, tile, messages);
                frame.traceparents = traceparents;
                let company = self.world.company(who);
                frame.company = company.iter().map(ToString::to_string).collect();
                let gateway = sessions.entry(session.gateway_id.clone()).or_default();
                gateway.push(frame);
            }
        }
        let published = &mut self.shown.published;
        let sent = self
            .links
            .publish(self.id, self.now, &changes, published, sessions);
        self.context.metrics.frames(sent.frames, sent.bytes);
        if self.config.dump_ticks > 0 {
            self.shown
                .dumps
                .push_back((self.now, self.shown.published.snapshot()));
            while self.shown.dumps.len() > self.config.dump_ticks {
                self.shown.dumps.pop_front();
            }
        }
    }

    /// Tells and shows at once all that the run held for a batch that the store has acknowledged. A
    /// player who goes to another run with that batch takes its own messages along. One whose region
    /// goes to nobody hears them here, because no run could say them later.
    pub(super) fn release(&mut self, sequence: u64, rows: &CommitRows, settled: &Settled) {
        for row in &rows.characters {
            let who = row.record.as_ref().map(|r| CharacterId::from(&*r.id));
            if let Some(slot) = who.and_then(|who| self.roster.get_mut(&who)) {
                record::acknowledge(&mut slot.messages.acknowledged, row);
            }
        }
        for row in &rows.positions {
            if let Some(slot) = self.roster.get_mut(&CharacterId::from(&*row.id)) {
                record::acknowledge_walk(&mut slot.messages.acknowledged, row);
            }
        }
        let mut sessions = Sessions::new();
        for (who, slot) in &mut self.roster {
            let Some(released) = slot.release(sequence) else {
                continue;
            };
            let player = self.world.player(who);
            let mut messages = released.messages;
            if released.sync {
                let has = &slot.messages.acknowledged;
                let content = self.world.content();
                messages.extend(translate::resync(player, has, self.now, content));
                messages.extend(translate::visit::open(&self.world, who, has));
            }
            let given = settled.given.contains(&slot.region);
            let goes = settled.transferred.contains(who)
                || (given && !self.moves.goes_to_nobody(slot.region));
            // The message `Attached` goes by another way, which may be slower.
            let just_attached = slot.messages.attached_in == self.now;
            if goes || just_attached {
                messages.into_iter().for_each(|message| slot.tell(message));
            } else if let Some(session) = &slot.session {
                let frame = frame(who, slot, session, player.map(Player::tile), messages);
                let gateway = sessions.entry(session.gateway_id.clone()).or_default();
                gateway.push(frame);
            }
        }
        for id in self.shown.held_ground.release(sequence) {
            // The run shows an entity that is out when the store has answered for its region.
            if !self.shown.out.contains(&id) {
                self.show_one(&id);
            }
        }
        let changes = self.shown.published.flush();
        let sent = self.links.extra(self.id, self.now, &changes, sessions);
        self.context.metrics.frames(sent.frames, sent.bytes);
    }
}

fn frame(
    who: &CharacterId,
    slot: &PlayerSlot,
    session: &Session,
    tile: Option<Tile>,
    messages: Vec<Private>,
) -> SessionFrame {
    SessionFrame {
        session_id: session.session_id.clone(),
        character_id: who.to_string(),
        ownership_sequence: slot.sequence,
        position: tile.map(record::rpc_tile),
        messages,
        traceparents: Vec::new(),
        company: Vec::new(),
    }
}
