//! A player in the world: its record and what it is doing.
//!
//! Always: it stands on a walkable tile; it belongs to a region that is played here.

pub mod record;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::record::{PlayerHot, PlayerRecord};
use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::look::{Field, Kind, Look};
use crate::features::agents::Agent;
use crate::features::combat::Fight;
use crate::features::ground_items::Pickup;
use crate::features::home_teleport::Homeward;
use crate::features::movement::border::{PINNED_TICKS, PINNED_TILES};
use crate::features::movement::follow::Follow;
use crate::features::skilling::Work;
use crate::features::visit::{Interface, Open, Visit};
use crate::geometry::tile::{Region, Tile};
use crate::item::possessions::Touched;
use crate::item::worn;
use crate::time::Tick;

/// All players here, by character.
pub(crate) type Players = BTreeMap<CharacterId, Player>;

/// One past the greatest place in a tick's order.
pub(crate) const PID_END: u32 = 2_048;

/// A player in the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    pub(crate) record: PlayerRecord,
    pub(crate) region: Region,
    /// When it came to belong to its region.
    pub(crate) region_since: Tick,
    /// Its place in the order of a tick; the character id decides between equals.
    pub(crate) pid: u32,
    /// The steps that it still has to take, the next one first.
    pub(crate) path: VecDeque<Tile>,
    /// The tile that it stepped off last.
    #[serde(default)]
    pub(crate) trail: Option<Tile>,
    /// A handover is under way: it does not move.
    pub(crate) held: bool,
    /// The run energy that its client was told last.
    pub(crate) told_energy: u32,
    /// What it is on the way to take.
    #[serde(default)]
    pub(crate) pickup: Option<Pickup>,
    /// Whom it follows.
    #[serde(default)]
    pub(crate) follow: Option<Follow>,
    /// Where it is in going home by magic.
    #[serde(default)]
    pub(crate) homeward: Homeward,
    /// Where it is going to open something.
    #[serde(default)]
    pub(crate) visit: Option<Visit>,
    /// What it has open.
    #[serde(default)]
    pub(crate) open: Option<Open>,
    /// When it may next use something.
    #[serde(default)]
    pub(crate) hands_free_at: Tick,
    /// Tiles gone on foot since it last gained experience for them.
    #[serde(default)]
    pub(crate) tiles_gone: u32,
    /// The work that it set out for, or is at.
    #[serde(default)]
    pub(crate) labour: Option<Work>,
    /// What is left of things that last for several deeds, by item.
    #[serde(default)]
    pub(crate) spools: BTreeMap<Arc<str>, u32>,
    /// What it has of fights.
    #[serde(default)]
    pub(crate) fight: Fight,
    /// The trade in which it is, or for which it has asked.
    #[serde(default)]
    pub(crate) trade: Option<EntityId>,
    /// Whom it asked last for a trade, and when.
    #[serde(default)]
    pub(crate) asked_trade: Option<(CharacterId, Tick)>,
    /// The duel in which it is.
    #[serde(default)]
    pub(crate) duel: Option<EntityId>,
    /// Whom it challenged last to a duel, and when.
    #[serde(default)]
    pub(crate) asked_duel: Option<(CharacterId, Tick)>,
    /// What makes it an agent; `None`: it is none.
    #[serde(default)]
    pub(crate) agent: Option<Agent>,
    /// The last goal that it could not come nearer to, and where it stood then: first that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unreachable: Option<(Tile, Tile)>,
    /// What it carries weighs so much; `None`: nobody has asked since that changed.
    #[serde(skip)]
    pub(crate) weight_grams: Option<u32>,
    /// What its feet did in this tick.
    #[serde(skip)]
    pub(crate) pace: Pace,
}

/// What a player's feet did in a tick.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Pace {
    #[default]
    Stood,
    Walked,
    Ran,
}

impl Player {
    /// What is saved of it.
    pub fn record(&self) -> &PlayerRecord {
        &self.record
    }

    /// The region to which it belongs, wherever it stands.
    pub fn region(&self) -> Region {
        self.region
    }

    /// Where it stands.
    pub fn tile(&self) -> Tile {
        self.record.tile
    }

    /// Whether a handover is under way.
    pub fn held(&self) -> bool {
        self.held
    }

    /// Whether it has steps left to take.
    pub fn walking(&self) -> bool {
        !self.path.is_empty()
    }

    /// Whether it has health left.
    pub fn lives(&self) -> bool {
        self.fight.dying.is_none()
    }

    /// Whether it may leave the world at `now`: not so soon after a blow, unless it is dead.
    pub fn may_leave(&self, now: Tick) -> bool {
        !self.lives() || self.fight.may_leave(now)
    }

    /// Whether something may be done to it: it lives, and is not on its way to others.
    pub(crate) fn free(&self) -> bool {
        self.lives() && !self.held && self.leaving_for().is_none()
    }

    /// Whether it is about something of its region at `now`, near enough to it, or has just been
    /// fighting in it: it is not to belong to another one then.
    pub fn pinned(&self, now: Tick) -> bool {
        let pickup = self.pickup.as_ref().map(|pickup| pickup.region);
        let visit = self.visit.as_ref().map(|visit| visit.region);
        let open = self.open.as_ref().map(|open| open.region);
        let labour = self.labour.as_ref().and_then(|labour| labour.region);
        let aim = self.fight.aim.as_ref().map(|aim| aim.region);
        let follow = self.follow.as_ref().filter(|follow| follow.lost_ticks == 0);
        let follow = follow.map(|follow| follow.region);
        let about = [pickup, visit, open, labour, aim, follow].contains(&Some(self.region));
        let fights = self.fight.clash.since_blow(self.region_since, now);
        let fights = self.lives() && fights.is_some_and(|ticks| ticks < PINNED_TICKS);
        (about || fights || self.trade.is_some() || self.duel.is_some())
            && self.region.tiles_past(self.record.tile) <= PINNED_TILES
    }

    /// Where it is to stand that others play; it does nothing until it stands there.
    pub fn leaving_for(&self) -> Option<Tile> {
        self.homeward.leaving.as_ref().map(|leaving| leaving.place)
    }

    /// What it has open; while something is, it cannot trade.
    pub fn open(&self) -> Option<&Interface> {
        self.open.as_ref().map(|open| &open.what)
    }

    pub(crate) fn has_open(&self, what: &Interface) -> bool {
        self.open() == Some(what)
    }

    /// What it carries has become different.
    pub(crate) fn carries(&mut self, touched: &Touched) {
        if !touched.slots.is_empty() || !touched.worn.is_empty() {
            self.weight_grams = None;
        }
    }

    /// What it carries weighs so much.
    pub(crate) fn weight_grams(&mut self, content: &Content) -> u32 {
        let record = &self.record;
        *self.weight_grams.get_or_insert_with(|| {
            worn::weight_grams(content, &record.inventory, &record.equipment)
        })
    }

    /// What moves along in a handover besides the record.
    pub fn hot(&self) -> PlayerHot {
        PlayerHot {
            path: self.path.iter().copied().collect(),
            trail: self.trail,
            pickup: self.pickup.clone(),
            follow: self.follow.clone(),
            homeward: self.homeward.clone(),
            visit: self.visit.clone(),
            open: self.open.clone(),
            hands_free_at: self.hands_free_at,
            agent: self.agent.clone(),
            tiles_gone: self.tiles_gone,
            labour: self.labour.clone(),
            spools: self.spools.clone(),
            fight: self.fight.clone(),
            trade: self.trade.clone(),
            asked_trade: self.asked_trade.clone(),
            duel: self.duel.clone(),
            asked_duel: self.asked_duel.clone(),
        }
    }

    /// The work that it set out for, or is at.
    pub fn labour(&self) -> Option<&Work> {
        self.labour.as_ref()
    }

    /// What makes it an agent, if it is one.
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
        if !self.lives() {
            look.fields.push(("dead", true.into()));
        }
        if self.agent.is_some() {
            look.fields.push(("agent", true.into()));
        }
        look
    }
}
