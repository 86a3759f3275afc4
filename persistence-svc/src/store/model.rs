//! Types of the store. Numbers are as the database keeps them. The module `rpc` checks every
//! message of the wire before it builds one of these types.

use std::collections::BTreeMap;

use bytes::Bytes;
use proto::rpc::AGENT_SESSION;

use super::value::{Chunk, GroundGone, GroundItem, Holdings, LedgerRow, RegionGive, RegionState};

/// A square of 64 x 64 tiles. Transactions lock rows in the order of this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Region {
    pub(crate) x: i32,
    pub(crate) z: i32,
}

/// Run 0 is nobody.
pub(crate) const NOBODY: i64 = 0;

/// The skills, in the order of their columns.
pub(crate) const SKILLS: &[&str] = world::Skill::NAMES;

/// Level and experience of one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SkillValue {
    pub(crate) level: i32,
    pub(crate) xp_tenths: i64,
}

/// An account.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) anonymous: bool,
    pub(crate) roles: Vec<String>,
    pub(crate) created_at_ms: i64,
}

/// An account with its characters.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn {
    pub(crate) account: Account,
    pub(crate) characters: Vec<Character>,
    /// Whether this call made the account.
    pub(crate) created: bool,
}

/// Character as lists show it.
#[derive(Debug, Clone)]
pub(crate) struct Character {
    pub(crate) id: String,
    pub(crate) account_id: String,
    pub(crate) name: String,
    pub(crate) combat_level: i32,
    pub(crate) last_login_ms: i64,
    pub(crate) online: bool,
    pub(crate) region: Region,
    pub(crate) look: String,
}

/// A character at rest.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) account_id: String,
    pub(crate) name: String,
    pub(crate) region: Region,
    pub(crate) ownership_sequence: i64,
    pub(crate) session_epoch: i64,
    pub(crate) session_id: String,
    pub(crate) x: i32,
    pub(crate) y: f32,
    pub(crate) z: i32,
    pub(crate) combat_level: i32,
    pub(crate) health: i32,
    /// Holdings; a commit writes only the parts that its row names.
    pub(crate) holdings: Holdings,
    pub(crate) placed: bool,
    /// Document with everything else; the store does not read it. In a commit, an empty one leaves
    /// the store's.
    pub(crate) state: Bytes,
    /// How it looks; empty: not chosen. A commit does not write it.
    pub(crate) look: String,
    /// Skills in the order of [`SKILLS`]; in a commit, `None` leaves the store's value.
    pub(crate) skills: [Option<SkillValue>; SKILLS.len()],
}

impl Record {
    /// Returns the document that a commit writes; `None` leaves the store's.
    pub(crate) fn written_state(&self) -> Option<&[u8]> {
        (!self.state.is_empty()).then_some(&*self.state)
    }
}

/// Asks for the account of a device key.
#[derive(Debug, Clone)]
pub(crate) struct SignIn {
    /// Hash of the key.
    pub(crate) key: [u8; 32],
    /// Whether the store makes an account if there is none.
    pub(crate) create: bool,
}

/// Asks for a new character, which belongs to a region until a zone places it.
#[derive(Debug, Clone)]
pub(crate) struct NewCharacter {
    pub(crate) account_id: String,
    pub(crate) name: String,
    pub(crate) at: Region,
    /// How it looks; empty: not chosen.
    pub(crate) look: String,
}

/// Asks for an online character of a region that the run owns.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub(crate) run: i64,
    pub(crate) character_id: String,
}

/// Asks to bring a character into the world.
#[derive(Debug, Clone)]
pub(crate) struct OpenSession {
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) session_id: String,
    pub(crate) gateway_id: String,
}

impl OpenSession {
    /// Builds the request for an agent that nobody plays.
    pub(crate) fn of_agent(account_id: String, character_id: String) -> OpenSession {
        OpenSession {
            account_id,
            character_id,
            session_id: AGENT_SESSION.to_owned(),
            gateway_id: String::new(),
        }
    }
}

/// A character that came into the world.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) character: Character,
    pub(crate) session_epoch: i64,
    pub(crate) ownership_sequence: i64,
    pub(crate) was_online: bool,
}

/// A new life of a zone server. `regions` are sorted and unique.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub(crate) address: String,
    pub(crate) build: String,
    pub(crate) content_hash: String,
    pub(crate) regions: Vec<Region>,
    /// Number of the town of each region that has one; empty: those that the store knows.
    pub(crate) towns: BTreeMap<Region, i32>,
    pub(crate) lease_ms: i64,
}

/// The answer to a registration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registered {
    pub(crate) run: i64,
    pub(crate) now_ms: i64,
    pub(crate) incarnation: i64,
}

/// Report of a run when it renews its lease.
#[derive(Debug, Clone)]
pub(crate) struct Renewal {
    pub(crate) run: i64,
    pub(crate) players: i32,
    pub(crate) tick_cost_us: i32,
    /// Loads of its regions that cost something.
    pub(crate) loads: Vec<RegionLoad>,
    pub(crate) lease_ms: i64,
}

/// Cost of a region for its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegionLoad {
    pub(crate) region: Region,
    pub(crate) cost_us: i32,
    pub(crate) players: i32,
}

/// A run that ended by a fault.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended {
    pub(crate) run: i64,
    /// Regions in which it panicked.
    pub(crate) faults: Vec<Region>,
    /// Characters whose rows the store refused.
    pub(crate) quarantine: Vec<String>,
}

/// Region as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegionReport {
    pub(crate) region: Region,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
    /// Address of its owner; empty: nobody's.
    pub(crate) address: String,
    pub(crate) cost_us: i64,
    pub(crate) players: i64,
    pub(crate) wanted: i64,
    pub(crate) faults: i64,
    pub(crate) paused: bool,
}

/// The answer to a renewal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Renewed {
    pub(crate) state: RunState,
    pub(crate) now_ms: i64,
    pub(crate) incarnation: i64,
}

/// State of a run. A run that the store does not know counts as fenced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    Live,
    Draining,
    Fenced,
}

impl RunState {
    /// Reads the state from the table.
    pub(crate) fn parse(text: &str) -> RunState {
        match text {
            "live" => RunState::Live,
            "draining" => RunState::Draining,
            _ => RunState::Fenced,
        }
    }
}

/// All that a run needs to play a region.
#[derive(Debug, Clone)]
pub(crate) struct LoadedRegion {
    pub(crate) characters: Vec<Record>,
    pub(crate) state: Vec<u8>,
    pub(crate) ground: Vec<GroundItem>,
    pub(crate) chunks: Vec<Chunk>,
    /// Last tick that the last owner committed; 0: never played.
    pub(crate) played_tick: i64,
}

/// Ownership of a character.
#[derive(Debug, Clone)]
pub(crate) struct Ownership {
    pub(crate) character_id: String,
    pub(crate) region: Region,
    pub(crate) ownership_sequence: i64,
    pub(crate) session_epoch: i64,
    pub(crate) online: bool,
    pub(crate) run: i64,
    pub(crate) region_epoch: i64,
}

/// Changes of one tick of one run. The store applies gives last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch {
    pub(crate) run: i64,
    pub(crate) sequence: i64,
    pub(crate) tick: i64,
    pub(crate) rows: Vec<Row>,
    /// Characters that only walked; none of them is in `rows`.
    pub(crate) positions: Vec<Position>,
    /// New and changed ground items.
    pub(crate) ground: Vec<GroundItem>,
    pub(crate) gone: Vec<GroundGone>,
    pub(crate) ledger: Vec<LedgerRow>,
    pub(crate) gives: Vec<RegionGive>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) states: Vec<RegionState>,
    pub(crate) lease_ms: i64,
}

impl Batch {
    /// Returns the number of rows of all kinds together.
    pub(crate) fn len(&self) -> usize {
        let value = self.ground.len() + self.gone.len() + self.ledger.len();
        let regions = self.gives.len() + self.chunks.len() + self.states.len();
        self.rows.len() + self.positions.len() + value + regions
    }
}

/// Outcome for one character. Region and sequence of the record are those before the batch.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) record: Record,
    pub(crate) then: Then,
    /// Whether to write the pack and coins of the record; otherwise the store keeps its own.
    pub(crate) holdings: bool,
    /// Whether to write the worn items of the record; otherwise the store keeps its own.
    pub(crate) worn: bool,
    /// Whether to write the stakes of the record; otherwise the store keeps its own.
    pub(crate) staked: bool,
    /// Kills by kind of NPC, beside those that the store has counted.
    pub(crate) kills: Vec<(String, i32)>,
}

/// Changes of one character by walking; a batch writes nothing else of it. Region and sequence are
/// those before the batch.
#[derive(Debug, Clone)]
pub(crate) struct Position {
    pub(crate) id: String,
    pub(crate) region: Region,
    pub(crate) ownership_sequence: i64,
    pub(crate) session_epoch: i64,
    pub(crate) x: i32,
    pub(crate) y: f32,
    pub(crate) z: i32,
    pub(crate) health: i32,
    /// Region of the writing run to which it belongs afterwards; `None`: it stays.
    pub(crate) to: Option<Region>,
    /// Agility; `None` leaves the store's.
    pub(crate) agility: Option<SkillValue>,
}

/// Further event for the character of a row.
#[derive(Debug, Clone)]
pub(crate) enum Then {
    Stay,
    /// `epoch` is `None` when the target is the writing run's own.
    Transfer {
        region: Region,
        epoch: Option<i64>,
        ownership_sequence: i64,
    },
    Logout {
        reason: String,
    },
}

/// Outcome of a commit. The store changed nothing unless it is `Done`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommitOutcome {
    Done {
        repeated: bool,
    },
    Fenced,
    Refused {
        ids: Vec<String>,
        detail: String,
    },
    /// `ids`: characters whose transfers failed; `regions`: regions whose gives failed.
    TransferStale {
        ids: Vec<String>,
        regions: Vec<Region>,
        detail: String,
    },
}

/// Places and owners of everything, for gateways and zones, at one consistent moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) version: i64,
    pub(crate) incarnation: i64,
    /// Runs that are not fenced, by id.
    pub(crate) runs: Vec<DirectoryRun>,
    /// All regions, in order.
    pub(crate) regions: Vec<RegionOwner>,
    /// Whether the operator has frozen all exchanges of value.
    pub(crate) frozen: bool,
}

/// A run as the directory shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirectoryRun {
    pub(crate) id: i64,
    pub(crate) address: String,
    pub(crate) state: RunState,
    pub(crate) build: String,
    pub(crate) content_hash: String,
}

/// Owner and epoch of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegionOwner {
    pub(crate) region: Region,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
    /// Run to which its owner should give it; 0: it should keep it.
    pub(crate) wanted: i64,
    /// Whether nobody may play it until an operator resumes it.
    pub(crate) paused: bool,
}

/// Returns the whole tile of a coordinate from the column.
pub(crate) fn whole(value: f64) -> i32 {
    // Saturates; committed rows are within a million.
    #[allow(clippy::cast_possible_truncation)]
    let tile = value.floor() as i32;
    tile
}
