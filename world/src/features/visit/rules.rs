//! Visits to people and things, to open their interfaces. An interface opens within two tiles, and
//! closes when the player goes further away. People go to meet those who come to them, and stand
//! still while something of theirs is open.
//!
//! Always: an open interface belongs to a region that is played here; a player that has gone from
//! the screen keeps nobody waiting.

use std::collections::VecDeque;

use super::{Interface, Open, REACH_TILES};
use crate::content::Content;
use crate::entity::ids::EntityId;
use crate::entity::look::Kind;
use crate::entity::npc::Npcs;
use crate::entity::player::Player;
use crate::geometry::tile::{Region, Tile};
use crate::refusal::Refusal;
use crate::time::Tick;

/// Tiles within which one sets out for something.
const VISIT_TILES: u32 = 32;
/// Ticks after opening for which an interface stays open even out of reach.
const GRACE_TICKS: u64 = 2;

/// Tiles that a host goes at a time to meet a customer.
const MEETS_TILES: usize = 2;

/// Ticks without a request after which a customer keeps nobody waiting: 5 minutes.
const IDLE_TICKS: u64 = 500;

/// An NPC or object that may offer something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host<'a> {
    pub(crate) region: Region,
    pub(crate) tile: Tile,
    covers: &'a [Tile],
    service: &'a str,
    /// Whether it has something to say.
    talks: bool,
    keeps_shop: bool,
}

/// Returns `target` as a host, if it belongs to a region that is played here.
pub(crate) fn host<'a>(
    content: &'a Content,
    npcs: &'a Npcs,
    played: impl Fn(Region) -> bool,
    target: &EntityId,
) -> Option<Host<'a>> {
    if let Some(npc) = npcs.get(target).filter(|npc| npc.lives()) {
        return Some(Host {
            region: npc.region,
            tile: npc.state.tile,
            covers: &[],
            service: &npc.placement.service,
            talks: npc.placement.kind.dialogue.is_some(),
            keeps_shop: npc.placement.store.is_some(),
        });
    }
    let fixture = content.fixture(target)?;
    let region = Region::from(fixture.tile);
    let station = fixture.kind == Kind::Station;
    played(region).then_some(Host {
        region,
        tile: fixture.tile,
        covers: &fixture.blocks,
        service: if station { &fixture.sort } else { "" },
        talks: false,
        keeps_shop: false,
    })
}

impl Host<'_> {
    /// Returns whether one can open `what` there.
    pub(crate) fn offers(&self, what: &Interface) -> bool {
        match what {
            Interface::Bank => matches!(self.service, "bank" | "banker"),
            Interface::Dialogue { .. } => self.talks,
            // An NPC offers it in a talk.
            Interface::Offer { .. } => false,
            Interface::Altar => self.service == "altar",
            Interface::Shop => self.keeps_shop,
        }
    }

    /// Returns whether one who stands at `from` can reach it.
    pub(crate) fn in_reach(&self, from: Tile) -> bool {
        let covers = self.covers.iter().chain([&self.tile]);
        covers.map(|tile| from.steps_to(*tile)).min() <= Some(REACH_TILES)
    }

    /// Checks whether one who stands at `from` may set out to open `what`.
    ///
    /// # Errors
    /// `Unsupported`: the host does not offer it. `TooFar`.
    pub(crate) fn may_visit(&self, from: Tile, what: &Interface) -> Result<(), Refusal> {
        if !self.offers(what) {
            return Err(Refusal::Unsupported);
        }
        if from.steps_to(self.tile) > VISIT_TILES {
            return Err(Refusal::TooFar);
        }
        Ok(())
    }
}

/// Returns the hosts that `player` wants, and whether it is still on its way to them.
pub(crate) fn wanted(player: &Player, now: Tick) -> impl Iterator<Item = (&EntityId, bool)> {
    let present = |open: &&Open| {
        // An agent asks for nothing through a client.
        let active_at = player.fight.heard_at.max(open.since);
        now.since(active_at) < IDLE_TICKS
    };
    let open = player.open.as_ref().filter(present);
    let visit = player.visit.as_ref();
    let visit = visit.map(|visit| (&visit.target, true));
    let work = player
        .skilling
        .work
        .as_ref()
        .and_then(|work| work.target.as_ref());
    let uses = [open.map(|open| &open.with), work].into_iter().flatten();
    visit.into_iter().chain(uses.map(|id| (id, false)))
}

/// Returns the tile to which a host at `at` goes to meet a customer that comes by `path`. It lies
/// back along the path, because the straight way may lead to the other side of a wall.
pub(crate) fn meets(path: &VecDeque<Tile>, at: Tile) -> Option<Tile> {
    let near = path.iter().enumerate();
    let (near, _) = near.min_by_key(|(n, tile)| (tile.steps_to(at), *n))?;
    path.get(near.saturating_sub(MEETS_TILES)).copied()
}

/// Returns whether the interface of one who stands at `from` stays open.
pub(crate) fn stays(open: &Open, host: Option<Host<'_>>, from: Tile, now: Tick) -> bool {
    let Some(host) = host else { return false };
    host.in_reach(from) || now.since(open.since) <= GRACE_TICKS
}
