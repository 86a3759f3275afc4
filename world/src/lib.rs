//! The game: geometry, content, rules and the deterministic tick.
//!
//! A tick is a function of the state, the inputs and the seed: the same three give the same
//! state, byte for byte, on any machine. So nothing in this crate reads a clock, a file, the
//! network or a shared source of chance, and all arithmetic is on integers.
//!
//! In reading order: the vocabulary ([`tile`], [`ids`], [`tick`], [`rng`], [`intent`],
//! [`event`], [`refusal`], [`skill`], [`experience`], [`errand`], [`labour`], [`fight`],
//! [`mod@prayer`], [`record`], [`trade`], [`duel`], [`shopping`], [`vague`]); things ([`map`], [`content`], [`item`], [`player`], [`npc`],
//! [`look`]); rules; [`inspect()`]; [`border`], [`changes`], [`mod@world`] and [`cycle`].

pub mod agent;
pub mod duel;
pub mod errand;
pub mod event;
pub mod experience;
pub mod fight;
pub mod ids;
pub mod intent;
pub mod interface;
pub mod labour;
pub mod prayer;
pub mod quest;
pub mod record;
pub mod refusal;
pub mod rng;
pub mod shopping;
pub mod skill;
pub mod tick;
pub mod tile;
pub mod trade;
pub mod vague;

pub mod content;
mod fire;
pub mod item;
pub mod look;
pub mod map;
pub mod npc;
pub mod player;
mod resource;

mod rules;

mod inspect;

pub mod border;
pub mod changes;
pub mod cycle;
mod image;
mod lasting;
mod parting;
pub mod world;

pub use agent::{Agent, AgentInput, AgentWord, Goal, Orders};
pub use border::Crossing;
pub use changes::Changes;
pub use content::{Area, Content, ContentError, Loaded, Warning};
pub use cycle::{Inbox, Outcome, Phase, PhaseClock};
pub use duel::{
    DuelEnd, DuelPart, DuelResult, DuelRule, DuelShown, DuelStage, DuelTold, STAKES_MAX, Staked,
};
pub use event::Event;
pub use fight::{Hit, HitKind, Style, Ways};
pub use fire::Fire;
pub use ids::{CharacterId, EntityId};
pub use image::Unreadable;
pub use inspect::{Fault, inspect};
pub use intent::{Arrival, Banking, Dueling, Intent, PlayerInput, Questing, Shopping, Trading};
pub use interface::{Interface, Said};
pub use item::{
    Stack, Value,
    bank::{Arrange, Bank, Deposit},
    ground::{GraveShown, GroundChange, GroundItem},
    ledger::{Balance, Cause, Holder, LedgerEntry},
    worn::Worn,
};
pub use labour::{Craft, Job, Labour, Trade};
pub use lasting::Lasting;
pub use look::{Field, Kind, Look};
pub use map::route::SEARCH_VISITS_MAX;
pub use map::{Ground, Terrain};
pub use player::Player;
pub use prayer::Devotion;
pub use quest::{QuestState, QuestStatus, Quests};
pub use record::{BadDocument, CharacterState, Columns, PlayerHot, PlayerRecord, SkillXp};
pub use refusal::Refusal;
pub use rules::Rules;
pub use rules::combat::styles_of;
pub use shopping::{ForSale, ShopShown};
pub use skill::Skill;
pub use tick::Tick;
pub use tile::{Bounds, Chunk, Region, Tile};
pub use trade::{Offer, Offered, Screen, TradeEnd, TradeNote, TradeStep, TradeTold};
pub use vague::{InPack, Vague};
pub use world::World;
