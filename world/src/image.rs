//! A region as bytes: the very ones with which it moves from owner to owner.
//!
//! Always: a region that is restored at the tick of its image goes on exactly as it would have. The
//! same state gives the same bytes.

mod saved;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use saved::check_saved_region;
use serde::{Deserialize, Serialize};

use crate::entity::fire::Fire;
use crate::entity::ground_item::GroundItem;
use crate::entity::npc::NpcState;
use crate::entity::player::Player;
use crate::entity::resource::ResourceState;
use crate::features::duel::Duel;
use crate::features::shop::Shelves;
use crate::features::trade::Trade;
use crate::geometry::tile::Region;
use crate::time::Tick;

/// The version of the form below. A new field may come with `#[serde(default)]`. The image holds a
/// record as the map of its document. If this build cannot read a region's image, the region comes
/// from the store instead.
const VERSION: u16 = 1;

/// Everything that belongs to a region and changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Image {
    pub(crate) version: u16,
    pub(crate) region: Region,
    /// Tick after which the owner wrote it.
    pub(crate) at: Tick,
    pub(crate) counters: Counters,
    pub(crate) players: Vec<Player>,
    pub(crate) npcs: Vec<NpcState>,
    #[serde(default)]
    pub(crate) ground: Vec<GroundItem>,
    #[serde(default)]
    pub(crate) resources: Vec<ResourceState>,
    #[serde(default)]
    pub(crate) fires: Vec<Fire>,
    /// Trades with at least one side in the region; if the other side is not there, a trade ends.
    #[serde(default)]
    pub(crate) trades: Vec<Trade>,
    /// Duels with at least one side in the region; if the other side is not there, a duel ends.
    #[serde(default)]
    pub(crate) duels: Vec<Duel>,
    /// Shelves of the region's shops that are not as usual, by the id of the shop.
    #[serde(default)]
    pub(crate) shops: BTreeMap<Arc<str>, Shelves>,
}

/// Counters of a region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counters {
    /// Ticks for which it was played.
    pub(crate) ticks_played: u64,
}

impl Image {
    pub(crate) fn new(
        region: Region,
        at: Tick,
        counters: Counters,
        players: Vec<Player>,
        npcs: Vec<NpcState>,
        ground: Vec<GroundItem>,
    ) -> Image {
        Image {
            version: VERSION,
            region,
            at,
            counters,
            players,
            npcs,
            ground,
            resources: Vec::new(),
            fires: Vec::new(),
            trades: Vec::new(),
            duels: Vec::new(),
            shops: BTreeMap::new(),
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Strings, integers, lists and maps with text keys always encode into memory.
        rmp_serde::to_vec_named(self).unwrap_or_default()
    }

    /// Reads the bytes that [`Image::to_bytes`] wrote for `region`.
    pub(crate) fn from_bytes(bytes: &[u8], region: Region) -> Result<Image, Unreadable> {
        let image: Image =
            rmp_serde::from_slice(bytes).map_err(|e| Unreadable::Bytes(e.to_string()))?;
        if image.version != VERSION {
            return Err(Unreadable::Version(image.version));
        }
        if image.region != region {
            return Err(Unreadable::Region(image.region));
        }
        Ok(image)
    }

    /// Returns the same image at a later tick: everything keeps its remaining ticks. Nothing
    /// expires while nobody plays a region.
    pub(crate) fn resumed(mut self, now: Tick) -> Image {
        let away = now.since(self.at);
        for npc in &mut self.npcs {
            npc.walks_at = npc.walks_at.after(away);
            npc.combat.delay(away);
        }
        for player in &mut self.players {
            player.region_since = player.region_since.after(away);
            player.homeward.delay(away);
            player.record.home_ready_at = player.homeward.ready_at;
            player.skilling.delay(away);
            player.fight.delay(away);
            player.dealings.delay(away);
            if let Some(agent) = &mut player.agent {
                agent.delay(away);
            }
        }
        for shelf in self.shops.values_mut().flat_map(BTreeMap::values_mut) {
            shelf.next_at = shelf.next_at.after(away);
        }
        for trade in &mut self.trades {
            trade.since = trade.since.after(away);
        }
        self.duels.iter_mut().for_each(|duel| duel.delay(away));
        self.ground = self
            .ground
            .into_iter()
            .map(|item| item.delayed(away))
            .collect();
        for resource in &mut self.resources {
            resource.delay(away);
        }
        for fire in &mut self.fires {
            fire.out_at = fire.out_at.after(away);
        }
        self.at = now;
        self
    }
}

/// Reason why a region is not restored. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// Not the bytes of a region.
    Bytes(String),
    /// Written by another version of the game.
    Version(u16),
    /// The bytes of another region.
    Region(Region),
    /// The region is played here already.
    Held,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Bytes(why) => write!(f, "not a region: {why}"),
            Unreadable::Version(version) => write!(f, "a region of version {version}"),
            Unreadable::Region(r) => write!(f, "the region {},{} instead", r.x, r.z),
            Unreadable::Held => f.write_str("the region is played here already"),
        }
    }
}

impl std::error::Error for Unreadable {}
