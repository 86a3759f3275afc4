//! The game: geometry, content, rules and the deterministic tick.
//!
//! A tick is a function of the state, the inputs and the seed: the same three give the same state,
//! byte for byte, on any machine. So nothing in this crate reads a clock, a file, the network or a
//! shared source of chance. All arithmetic is on integers.
//!
//! In reading order: [`geometry`]; [`content`]; [`item`] and [`entity`], the things that exist;
//! [`features`], the actions of players, one folder each; [`intent`], [`event`], [`request`] and
//! [`refusal`], the requests and the answers; [`world`](mod@world), the state; [`tick`], the phases
//! in order; [`inspect()`].

pub mod entity;
pub mod features;
pub mod geometry;

pub mod content;
pub mod item;

pub mod event;
pub mod intent;
pub mod refusal;
pub mod request;
pub mod rng;
mod rules;
pub mod time;

mod inspect;
pub mod told;
mod wire;

pub mod changes;
mod company;
mod image;
mod mint;
pub mod tick;
pub mod world;

pub use features::{
    agents, arrivals, bank, combat, death, dialogue, duel, emotes, equipment, examine,
    ground_items, home_teleport, movement, newcomer, npc_mind, pack, potions, prayer, quests, shop,
    skilling, trade, training, unresolved, use_item, visit, vitals,
};

pub use agents::{Agent, AgentInput, AgentWord, Goal, Orders};
pub use arrivals::Arrival;
pub use changes::Changes;
pub use combat::{CombatSettings, Hit, HitKind, Style, styles_of};
pub use content::{Area, Content, ContentError, Loaded, Warning};
pub use duel::{DuelEnd, DuelRule, DuelStage, STAKES_MAX};
pub use emotes::Emote;
pub use entity::fire::Fire;
pub use entity::ground_item::{GroundChange, GroundItem};
pub use entity::ids::{CharacterId, EntityId};
pub use entity::look::{Field, Kind, Look};
pub use entity::persistent::PersistentObjects;
pub use entity::player::Player;
pub use entity::player::record::{
    self, BadDocument, CharacterState, Columns, PlayerHot, PlayerRecord,
};
pub use event::Event;
pub use geometry::route::SEARCH_VISITS_MAX;
pub use geometry::tile::{Bounds, Chunk, Region, Tile};
pub use geometry::{Ground, Terrain};
pub use image::{Unreadable, check_saved_region};
pub use inspect::{Fault, inspect};
pub use intent::{Intent, PlayerInput};
pub use item::{
    Stack, Value,
    bank::{Arrange, Bank, Deposit},
    ledger::{Balance, Cause, Holder, LedgerEntry},
    worn::Worn,
};
pub use movement::border::{self, Crossing};
pub use prayer::PrayerState;
pub use quests::{QuestState, QuestStatus, Quests};
pub use refusal::Refusal;
pub use rules::Rules;
pub use skilling::{Craft, Job, RecipeKind, Work};
pub use tick::{Inbox, Outcome, Phase, PhaseClock};
pub use time::{TICK_MS, Tick};
pub use trade::{Offer, Offered, Screen, TradeEnd, TradeNote, TradeStep};
pub use training::experience::SkillXp;
pub use training::skill::Skill;
pub use unresolved::InPack;
pub use visit::Interface;
pub use wire::{BadRequest, Described};
pub use world::World;
