//! What the store speaks of. Numbers are as the database keeps them; whatever came over the wire
//! has been checked before it becomes one of these.

use bytes::Bytes;

use super::value::{Chunk, GroundGone, GroundItem, Holdings, LedgerRow, RegionGive};

/// A square of 64 x 64 tiles. Rows are locked in the order of this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Region {
    pub(crate) x: i32,
    pub(crate) z: i32,
}

/// Run 0 is nobody.
pub(crate) const NOBODY: i64 = 0;

/// The skills, in the order of their columns.
pub(crate) const SKILLS: [&str; 17] = [
    "attack",
    "strength",
    "defense",
    "constitution",
    "ranged",
    "magic",
    "prayer",
    "woodcutting",
    "mining",
    "fishing",
    "firemaking",
    "cooking",
    "smithing",
    "agility",
    "crafting",
    "fletching",
    "runecrafting",
];

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
    /// It was made by this very call.
    pub(crate) created: bool,
}

/// What lists show of a character.
#[derive(Debug, Clone)]
pub(crate) struct Character {
    pub(crate) id: String,
    pub(crate) account_id: String,
    pub(crate) name: String,
    pub(crate) combat_level: i32,
    pub(crate) last_login_ms: i64,
    pub(crate) online: bool,
    pub(crate) region: Region,
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
    /// In a commit it counts only where the row says so.
    pub(crate) holdings: Holdings,
    pub(crate) placed: bool,
    /// The document with all else; the store does not look into it. In a commit, an empty one leaves
    /// the store's.
    pub(crate) state: Bytes,
    /// In the order of [`SKILLS`]; in a commit, `None` leaves the store's value.
    pub(crate) skills: [Option<SkillValue>; SKILLS.len()],
}

impl Record {
    /// Returns the document that a commit writes; `None` leaves the store's.
    pub(crate) fn written_state(&self) -> Option<&[u8]> {
        (!self.state.is_empty()).then_some(&*self.state)
    }
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
    /// That of an agent that nobody plays.
    pub(crate) fn of_agent(account_id: String, character_id: String) -> OpenSession {
        OpenSession {
            account_id,
            character_id,
            session_id: "agent".to_owned(),
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
    pub(crate) lease_ms: i64,
}

/// The answer to a registration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registered {
    pub(crate) run: i64,
    pub(crate) now_ms: i64,
    pub(crate) incarnation: i64,
}

/// What a run says of itself when it renews its lease.
#[derive(Debug, Clone)]
pub(crate) struct Renewal {
    pub(crate) run: i64,
    pub(crate) players: i32,
    pub(crate) tick_cost_us: i32,
    /// Those of its regions that cost something.
    pub(crate) loads: Vec<RegionLoad>,
    pub(crate) lease_ms: i64,
}

/// What a region costs its owner.
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
    /// Where it panicked.
    pub(crate) faults: Vec<Region>,
    /// Whose rows were refused.
    pub(crate) quarantine: Vec<String>,
}

/// What operators see of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegionReport {
    pub(crate) region: Region,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
    /// Where its owner is reached; empty: nobody's.
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

/// The state of a run. A run that the store does not know is fenced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    Live,
    Draining,
    Fenced,
}

impl RunState {
    /// As the table says it.
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
    /// The last tick that the last owner committed; 0: never played.
    pub(crate) played_tick: i64,
}

/// Who owns a character.
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

/// What one tick of one run changed. Gives are applied last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch {
    pub(crate) run: i64,
    pub(crate) sequence: i64,
    pub(crate) tick: i64,
    pub(crate) rows: Vec<Row>,
    /// New ones, and those of which something changed.
    pub(crate) ground: Vec<GroundItem>,
    pub(crate) gone: Vec<GroundGone>,
    pub(crate) ledger: Vec<LedgerRow>,
    pub(crate) gives: Vec<RegionGive>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) lease_ms: i64,
}

impl Batch {
    /// How many rows it has of all kinds together.
    pub(crate) fn len(&self) -> usize {
        let value = self.ground.len() + self.gone.len() + self.ledger.len();
        self.rows.len() + value + self.gives.len() + self.chunks.len()
    }
}

/// What became of one character. Region and sequence of the record are those before the batch.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) record: Record,
    pub(crate) then: Then,
    /// Pack and coins of the record are written; without it the store keeps its own.
    pub(crate) holdings: bool,
    /// What the record says is worn is written; without it the store keeps its own.
    pub(crate) worn: bool,
    /// What the record says is at stake is written; without it the store keeps its own.
    pub(crate) staked: bool,
    /// How many NPCs of which kind it has killed beside those that the store knows of.
    pub(crate) kills: Vec<(String, i32)>,
}

/// What else happens to the character of a row.
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

/// How a commit ended. Nothing was changed unless it is done.
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
    /// `ids`: whose transfers, `regions`: whose gives could not be done.
    TransferStale {
        ids: Vec<String>,
        regions: Vec<Region>,
        detail: String,
    },
}

/// Everything that gateways and zones must know of who is where. One consistent moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) version: i64,
    pub(crate) incarnation: i64,
    /// Runs that are not fenced, by id.
    pub(crate) runs: Vec<DirectoryRun>,
    /// All regions, in order.
    pub(crate) regions: Vec<RegionOwner>,
    /// The operator has frozen all exchanges of value.
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

/// Who owns a region, at which epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegionOwner {
    pub(crate) region: Region,
    pub(crate) run: i64,
    pub(crate) epoch: i64,
    /// The run to which its owner should give it; 0: it should keep it.
    pub(crate) wanted: i64,
    /// Nobody may play it until an operator says so.
    pub(crate) paused: bool,
}

/// A coordinate as the column keeps it, as the whole tile that it is.
pub(crate) fn whole(value: f64) -> i32 {
    // Saturates; rows that were committed are within a million.
    #[allow(clippy::cast_possible_truncation)]
    let tile = value.floor() as i32;
    tile
}
