//! Going to people and things, to open what they offer. It opens within two tiles, and closes
//! when one goes further away. People go to meet those who come to them, and stand still for as long
//! as something of theirs is open.
//!
//! Always: what is open belongs to a region that is played here; one who has gone from the screen
//! keeps nobody waiting.

use std::collections::VecDeque;

use super::{Interface, Open};
use crate::content::Content;
use crate::entity::ids::EntityId;
use crate::entity::look::Kind;
use crate::entity::npc::Npcs;
use crate::entity::player::Player;
use crate::geometry::tile::{Region, Tile};
use crate::refusal::Refusal;
use crate::time::Tick;

/// Within so many tiles of any tile that it covers something opens, and stays open.
pub(crate) const REACH_TILES: u32 = 2;
/// As far as one sets out for something.
const VISIT_TILES: u32 = 32;
/// What has just been opened is not closed for so long.
const GRACE_TICKS: u64 = 2;

/// So far at a time one goes to meet whoever comes.
const MEETS_TILES: usize = 2;

/// A customer who has asked for nothing for so long keeps nobody waiting: 5 minutes.
const IDLE_TICKS: u64 = 500;

/// Somebody or something that may offer something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host<'a> {
    pub(crate) region: Region,
    pub(crate) tile: Tile,
    covers: &'a [Tile],
    service: &'a str,
    /// It has something to say.
    talks: bool,
    keeps_shop: bool,
}

/// Who or what `target` is, if it belongs to a region that is played here.
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
    /// Whether `what` can be opened there.
    pub(crate) fn offers(&self, what: &Interface) -> bool {
        match what {
            Interface::Bank => matches!(self.service, "bank" | "banker"),
            Interface::Dialogue { .. } => self.talks,
            // It is offered in a talk.
            Interface::Offer { .. } => false,
            Interface::Altar => self.service == "altar",
            Interface::Shop => self.keeps_shop,
        }
    }

    /// Whether one who stands at `from` can reach it.
    pub(crate) fn in_reach(&self, from: Tile) -> bool {
        let covers = self.covers.iter().chain([&self.tile]);
        covers.map(|tile| from.steps_to(*tile)).min() <= Some(REACH_TILES)
    }

    /// Whether one who stands at `from` may set out to open `what`.
    ///
    /// # Errors
    /// `Unsupported`: it is not offered there. `TooFar`.
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

/// Returns those whom `player` wants, and whether it is still on its way to them.
pub(crate) fn wanted(player: &Player, now: Tick) -> impl Iterator<Item = (&EntityId, bool)> {
    let present = |open: &&Open| {
        // An agent asks for nothing through a client.
        let active_at = player.fight.heard_at.max(open.since);
        now.since(active_at) < IDLE_TICKS
    };
    let open = player.open.as_ref().filter(present);
    let visit = player.visit.as_ref();
    let visit = visit.map(|visit| (&visit.target, true));
    let work = player.labour.as_ref().and_then(|work| work.target.as_ref());
    let uses = [open.map(|open| &open.with), work].into_iter().flatten();
    visit.into_iter().chain(uses.map(|id| (id, false)))
}

/// Where one who stands at `at` goes to meet whoever comes to it by `path`: back along it, because
/// the straight way may lead to the other side of a wall.
pub(crate) fn meets(path: &VecDeque<Tile>, at: Tile) -> Option<Tile> {
    let near = path.iter().enumerate();
    let (near, _) = near.min_by_key(|(n, tile)| (tile.steps_to(at), *n))?;
    path.get(near.saturating_sub(MEETS_TILES)).copied()
}

/// Whether what one who stands at `from` has open stays open.
pub(crate) fn stays(open: &Open, host: Option<Host<'_>>, from: Tile, now: Tick) -> bool {
    let Some(host) = host else { return false };
    host.in_reach(from) || now.since(open.since) <= GRACE_TICKS
}
