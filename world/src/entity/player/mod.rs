//! A player in the world: its record and its activity.
//!
//! Always: it stands on a walkable tile; it belongs to a region that is played here.

pub mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::record::{PlayerHot, PlayerRecord};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::look::{Field, Kind, Look};
use crate::features::agents::Agent;
use crate::features::combat::state::Fight;
use crate::features::ground_items::state::Pickup;
use crate::features::home_teleport::state::Homeward;
use crate::features::movement::follow::Follow;
use crate::features::movement::state::Gait;
use crate::features::skilling::state::{Skilling, Work};
use crate::features::visit::state::{Interface, Open, Visit};
use crate::geometry::Terrain;
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// Tiles past its region within which the world does not report a pinned player.
pub const PINNED_TILES: u32 = 32;
/// Ticks after a blow, dealt or taken in its region, within which the world does not report a
/// player. So nobody gets out of a fight over a border.
pub const PINNED_TICKS: u64 = 8;

/// All players here, by character.
pub(crate) type Players = BTreeMap<CharacterId, Player>;

/// One past the greatest player slot.
pub(crate) const PID_END: u32 = 2_048;

/// A player in the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    pub(crate) record: PlayerRecord,
    pub(crate) region: Region,
    /// Tick at which it came to belong to its region.
    pub(crate) region_since: Tick,
    /// Player slot: its place in the order of a tick; the character id decides between equals.
    pub(crate) pid: u32,
    #[serde(flatten)]
    pub(crate) gait: Gait,
    /// Item that it is on the way to take.
    #[serde(default)]
    pub(crate) pickup: Option<Pickup>,
    /// Player that it follows.
    #[serde(default)]
    pub(crate) follow: Option<Follow>,
    /// State of its home teleport.
    #[serde(default)]
    pub(crate) homeward: Homeward,
    /// Visit for which it has set out.
    #[serde(default)]
    pub(crate) visit: Option<Visit>,
    /// Interface that it has open.
    #[serde(default)]
    pub(crate) open: Option<Open>,
    #[serde(flatten)]
    pub(crate) skilling: Skilling,
    /// Its part in fights.
    #[serde(default)]
    pub(crate) fight: Fight,
    #[serde(flatten)]
    pub(crate) dealings: Dealings,
    /// State of an agent; `None`: it is none.
    #[serde(default)]
    pub(crate) agent: Option<Agent>,
    /// The last goal to which it found no way nearer: the tile on which it stood then, and the
    /// goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unreachable: Option<(Tile, Tile)>,
    /// How it looks, as its player chose: digits for whoever draws it; empty: not chosen. It never
    /// changes in the world, so the saved record does not have it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub(crate) look: Arc<str>,
}

/// Trades and duels of a player.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dealings {
    /// The trade in which it is, or for which it has asked.
    pub trade: Option<EntityId>,
    /// Player that it asked last for a trade, and when.
    pub asked_trade: Option<(CharacterId, Tick)>,
    /// The duel in which it is.
    pub duel: Option<EntityId>,
    /// Player that it challenged last to a duel, and when.
    pub asked_duel: Option<(CharacterId, Tick)>,
}

impl Dealings {
    /// Returns whether the player is in a trade or a duel, or has asked for a trade.
    pub(crate) fn any(&self) -> bool {
        self.trade.is_some() || self.duel.is_some()
    }

    /// Moves all its times later by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        for (_, at) in self.asked_trade.iter_mut().chain(&mut self.asked_duel) {
            *at = at.after(ticks);
        }
    }
}

impl Player {
    /// Returns the saved part of the player.
    pub fn record(&self) -> &PlayerRecord {
        &self.record
    }

    /// Returns how its player chose it to look; empty: not chosen.
    pub fn chosen_look(&self) -> &Arc<str> {
        &self.look
    }

    /// Returns the region to which it belongs, wherever it stands.
    pub fn region(&self) -> Region {
        self.region
    }

    /// Returns the tile on which it stands.
    pub fn tile(&self) -> Tile {
        self.record.tile
    }

    /// Returns whether a handover is under way.
    pub fn held(&self) -> bool {
        self.gait.held
    }

    /// Returns whether it has steps left to take.
    pub fn walking(&self) -> bool {
        !self.gait.path.is_empty()
    }

    /// Puts it on `tile`.
    pub(crate) fn stand(&mut self, terrain: &Terrain, tile: Tile) {
        self.record.tile = tile;
        self.record.y = i32::from(terrain.height(tile) / 4);
    }

    /// Returns whether it has health left.
    pub fn lives(&self) -> bool {
        self.fight.dying.is_none()
    }

    /// Returns whether it may leave the world at `now`: not so soon after a blow, unless it is
    /// dead.
    pub fn may_leave(&self, now: Tick) -> bool {
        !self.lives() || self.fight.may_leave(now)
    }

    /// Returns whether others may do something to it: it lives, and is not on its way to another
    /// owner.
    pub(crate) fn free(&self) -> bool {
        self.lives() && !self.gait.held && self.leaving_for().is_none()
    }

    /// Returns whether something holds it to its region at `now`: an activity, a trade or a duel
    /// there, or a recent blow. It must not belong to another region then, unless it is too far
    /// past the border.
    pub fn pinned(&self, now: Tick) -> bool {
        let pickup = self.pickup.as_ref().map(|pickup| pickup.region);
        let visit = self.visit.as_ref().map(|visit| visit.region);
        let open = self.open.as_ref().map(|open| open.region);
        let work = self.skilling.work.as_ref().and_then(|work| work.region);
        let aim = self.fight.aim.as_ref().map(|aim| aim.region);
        let follow = self.follow.as_ref().filter(|follow| follow.lost_ticks == 0);
        let follow = follow.map(|follow| follow.region);
        let about = [pickup, visit, open, work, aim, follow].contains(&Some(self.region));
        let fights = self.fight.clash.since_blow(self.region_since, now);
        let fights = self.lives() && fights.is_some_and(|ticks| ticks < PINNED_TICKS);
        (about || fights || self.dealings.any())
            && self.region.tiles_past(self.record.tile) <= PINNED_TILES
    }

    /// Returns the tile, played by others, on which it is to stand; it does nothing until it stands
    /// there.
    pub fn leaving_for(&self) -> Option<Tile> {
        self.homeward.leaving.as_ref().map(|leaving| leaving.place)
    }

    /// Returns the interface that it has open; while there is one, it cannot trade.
    pub fn open(&self) -> Option<&Interface> {
        self.open.as_ref().map(|open| &open.what)
    }

    pub(crate) fn has_open(&self, what: &Interface) -> bool {
        self.open() == Some(what)
    }

    /// Returns the state that moves along in a handover besides the record.
    pub fn hot(&self) -> PlayerHot {
        PlayerHot {
            path: self.gait.path.iter().copied().collect(),
            trail: self.gait.trail,
            pickup: self.pickup.clone(),
            follow: self.follow.clone(),
            homeward: self.homeward.clone(),
            visit: self.visit.clone(),
            open: self.open.clone(),
            agent: self.agent.clone(),
            skilling: self.skilling.clone(),
            fight: self.fight.clone(),
            dealings: self.dealings.clone(),
        }
    }

    /// Returns the work for which it has set out, or which it does.
    pub fn work(&self) -> Option<&Work> {
        self.skilling.work.as_ref()
    }

    /// Returns the state of an agent, if it is one.
    pub fn agent(&self) -> Option<&Agent> {
        self.agent.as_ref()
    }

    pub(crate) fn look(&self) -> Look {
        let record = &self.record;
        let mut look = Look {
            id: record.id.entity(),
            kind: Kind::Player,
            tile: record.tile,
            region: self.region,
            fields: vec![
                ("name", Field::from(record.name.as_str())),
                ("combatLevel", record.combat_level.into()),
                ("health", record.health.into()),
                ("maxHealth", record.max_health().into()),
                ("run", record.running.into()),
            ],
        };
        if !self.look.is_empty() {
            look.fields.push(("look", Field::from(&self.look)));
        }
        if !self.lives() {
            look.fields.push(("dead", true.into()));
        }
        if self.agent.is_some() {
            look.fields.push(("agent", true.into()));
        }
        look
    }
}

#[cfg(test)]
mod tests;
