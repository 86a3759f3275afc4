//! `tilestead.v2`: `world:update` in few bytes. docs/compact.md says what every byte means.
//!
//! A thing has a number at its gateway. A `Name` section says once what the number stands for;
//! after that only the number goes over the wire. All other messages are MessagePack, whose first
//! byte is never [`UPDATE`].
//!
//! Always: each section stands for itself, so a gateway writes it once and gives the same bytes to
//! all who need it. [`write`] writes what [`read::Decoder`] reads.

mod bits;
pub mod read;
pub mod write;

pub use bits::{BitReader, BitWriter};

/// First byte of a frame that holds a `world:update`.
pub const UPDATE: u8 = 0x01;

/// Sections of an update, by their first byte.
pub mod section {
    /// Chunks that are out of sight.
    pub const GONE: u8 = 1;
    /// The thing for which a number stands.
    pub const NAME: u8 = 2;
    /// Changes of one chunk, or all of it.
    pub const CHUNK: u8 = 3;
    /// The nearest players, for a client that asked for at most so many.
    pub const NEAR: u8 = 4;
    /// Numbers whose names are no longer true.
    pub const FORGET: u8 = 5;
}

/// Lists of a chunk section, by their bits in its flags.
pub mod list {
    /// `enter` is all that is in the chunk.
    pub const FULL: u8 = 1;
    /// Numbers that are no longer in the chunk.
    pub const LEAVE: u8 = 2;
    /// Numbers that are new in the chunk, with their places.
    pub const ENTER: u8 = 4;
    /// Numbers that moved within the chunk, with their places.
    pub const MOVED: u8 = 8;
    /// Numbers with changed fields.
    pub const FIELDS: u8 = 16;
    /// Hits, shown once.
    pub const HITS: u8 = 32;
}

/// Values of fields, by their first byte.
pub mod value {
    /// The field goes.
    pub const REMOVED: u8 = 0;
    /// No.
    pub const FALSE: u8 = 1;
    /// Yes.
    pub const TRUE: u8 = 2;
    /// A signed number follows.
    pub const INT: u8 = 3;
    /// A text follows.
    pub const TEXT: u8 = 4;
    /// A UUID follows, 16 bytes, which stands for its usual text in lower case.
    pub const UUID: u8 = 5;
}

/// Moves of the players of a near section, as written in bits.
pub mod step {
    /// It stands where it stood: one bit.
    pub const STANDS: u32 = 0b0;
    /// One step; three bits of direction follow.
    pub const ONE: u32 = 0b10;
    /// It goes from the list.
    pub const GOES: u32 = 0b110;
    /// It moved further; its place follows: 6 + 6 bits, from the origin of the section.
    pub const FAR: u32 = 0b111;
    /// Directions of a step: east and north in tiles.
    pub const DIRECTIONS: [(i32, i32); 8] = [
        (0, 1),
        (1, 1),
        (1, 0),
        (1, -1),
        (0, -1),
        (-1, -1),
        (-1, 0),
        (-1, 1),
    ];
}

/// Tiles on a side of the square that a near section can speak of.
pub const NEAR_TILES: i32 = 64;

/// A place inside its own chunk is one byte below this; this byte announces two numbers.
pub const ELSEWHERE: u8 = 64;

/// Kinds of things by number; 0: a text follows. A client refuses numbers that it does not know, so
/// `tilestead.v2` gets no more of them.
pub const KINDS: [&str; 8] = [
    "", "player", "npc", "resource", "station", "item", "fire", "grave",
];

/// Names of fields by number; 0: a text follows. `tilestead.v2` gets no more of them: see [`KINDS`].
pub const FIELDS: [&str; 30] = [
    "",
    "name",
    "combatLevel",
    "health",
    "maxHealth",
    "run",
    "dead",
    "agent",
    "emote",
    "npcId",
    "level",
    "category",
    "attackable",
    "service",
    "shop",
    "itemId",
    "quantity",
    "owner",
    "resourceId",
    "resourceType",
    "depleted",
    "stationType",
    "tick",
    "attacker",
    "target",
    "damage",
    "style",
    "targetHealth",
    "targetMaxHealth",
    "killed",
];
