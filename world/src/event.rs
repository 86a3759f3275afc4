//! All that can happen in a tick that somebody in particular must be told.
//!
//! What everybody may see is not here: it is in [`crate::Outcome::touched`].

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::duel::DuelTold;
use crate::fight::Hit;
use crate::ids::{CharacterId, EntityId};
use crate::interface::{Interface, Said};
use crate::item::ground::GraveShown;
use crate::labour::Job;
use crate::record::SkillXp;
use crate::refusal::Refusal;
use crate::shopping::ShopShown;
use crate::skill::Skill;
use crate::tick::Tick;
use crate::tile::Tile;
use crate::trade::TradeTold;

/// Something that happened. Private to `who`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The input was accepted.
    Done {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
        /// It tells of value, and must be held back until that is saved.
        value: bool,
    },
    /// The input was refused and has changed nothing.
    Refused {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
        /// Why.
        refusal: Refusal,
        /// It tells of value, and must be held back until that is saved.
        value: bool,
    },
    /// A player came into the world.
    Joined {
        /// Who.
        who: CharacterId,
    },
    /// A player could not come in.
    TurnedAway {
        /// Who.
        who: CharacterId,
        /// `NotFound`: the region is not played here. `Busy`: the player is here already.
        refusal: Refusal,
    },
    /// Health, energy or the choice to run changed enough to be told.
    Vitals {
        /// Whose.
        who: CharacterId,
    },
    /// What a player saw on taking a good look.
    Examined {
        /// Who looked.
        who: CharacterId,
        /// At what.
        target: EntityId,
        /// What there is to say about it.
        text: Arc<str>,
    },
    /// Something in the pack changed. Of value: to be held back until that is saved.
    Inventory {
        /// Whose.
        who: CharacterId,
        /// Which slots, in order.
        slots: Vec<u8>,
    },
    /// The coins in the pouch changed. Of value: to be held back until that is saved.
    Coins {
        /// Whose.
        who: CharacterId,
    },
    /// Something else is worn. Of value: to be held back until that is saved.
    Equipment {
        /// Whose.
        who: CharacterId,
        /// Where, in order.
        slots: Vec<EquipSlot>,
    },
    /// Something changed in the bank. Of value: to be held back until that is saved.
    Bank {
        /// Whose.
        who: CharacterId,
        /// Of which items; of none: how it is kept.
        items: BTreeSet<Arc<str>>,
    },
    /// Something is open now, to be shown whole; it tells of value.
    Opened {
        /// To whom.
        who: CharacterId,
        /// What.
        what: Interface,
    },
    /// Something is open no more.
    Closed {
        /// To whom.
        who: CharacterId,
        /// What.
        what: Interface,
    },
    /// Somebody says something to it; it tells of value.
    Said {
        /// To whom.
        who: CharacterId,
        /// What.
        said: Said,
    },
    /// All quests are to be shown, with how far it is. Of value: to be held back until that is
    /// saved.
    Quests {
        /// To whom.
        who: CharacterId,
    },
    /// All about a quest is to be shown. Of value, as before.
    QuestShown {
        /// To whom.
        who: CharacterId,
        /// Which.
        quest: Arc<str>,
    },
    /// It is elsewhere in a quest than before. Of value, as before.
    Quest {
        /// Who.
        who: CharacterId,
        /// In which.
        quest: Arc<str>,
    },
    /// It has completed a quest, and has what that gives. Of value, as before.
    QuestDone {
        /// Who.
        who: CharacterId,
        /// Which.
        quest: Arc<str>,
    },
    /// The shop that is open, as it is now. Of value: to be held back until that is saved.
    Shop {
        /// To whom.
        who: CharacterId,
        /// What is seen.
        shop: ShopShown,
    },
    /// What is in one's grave now. Of value: to be held back until that is saved.
    Grave {
        /// Whose it is.
        who: CharacterId,
        /// What is seen.
        grave: GraveShown,
    },
    /// The input is answered: a trade was asked for.
    TradeAsked {
        /// Who asked.
        who: CharacterId,
        /// By which input.
        number: u64,
        /// The trade.
        trade: EntityId,
    },
    /// Something about a trade.
    Trade {
        /// Who is told.
        who: CharacterId,
        /// What.
        told: TradeTold,
    },
    /// Something about a duel, or a challenge to one.
    Duel {
        /// Who is told.
        who: CharacterId,
        /// What.
        told: DuelTold,
    },
    /// Experience was gained. Of value: to be held back until that is saved.
    Trained {
        /// Whose.
        who: CharacterId,
        /// In what.
        skill: Skill,
        /// How much, in tenths.
        gained_tenths: u64,
        /// What there is of it now.
        now: SkillXp,
        /// It made a new level.
        leveled_up: bool,
    },
    /// A player has begun to work. To be held back like what comes of it.
    Working {
        /// Who.
        who: CharacterId,
        /// At what work.
        job: Job,
        /// At what.
        target: Option<EntityId>,
    },
    /// A player works no more. Of value: to be held back until that is saved.
    Rested {
        /// Who.
        who: CharacterId,
        /// Why; `None`: all is done.
        why: Option<Refusal>,
    },
    /// A blow landed that it dealt or took.
    Hit {
        /// Who.
        who: CharacterId,
        /// Which.
        hit: Hit,
    },
    /// It has no health left.
    Died {
        /// Who.
        who: CharacterId,
        /// The name of its killer; none for what has no name.
        killer: Option<Arc<str>>,
        /// Where.
        tile: Tile,
        /// When it stands up again.
        until: Tick,
    },
    /// It has stood up again and is well.
    Respawned {
        /// Who.
        who: CharacterId,
        /// Where.
        tile: Tile,
    },
    /// Its prayer points, or the prayers that are on, have changed.
    Prayer {
        /// Whose.
        who: CharacterId,
    },
    /// What it has chosen of fighting has changed, or what its weapon allows.
    Ways {
        /// Whose.
        who: CharacterId,
    },
    /// What was accepted earlier has come to nothing.
    Failed {
        /// Whose.
        who: CharacterId,
        /// Why.
        refusal: Refusal,
        /// It tells of value, and must be held back until that is saved.
        value: bool,
    },
    /// The input wants something that may be where others play: it was neither done nor refused,
    /// and has changed nothing. To be played again there, once.
    Elsewhere {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
        /// What it wants.
        target: EntityId,
    },
    /// It has begun to go home by magic, does so no more, or may not do so again for a while.
    Homeward {
        /// Who.
        who: CharacterId,
        /// When it is to be at home; none: it does not go there now.
        done_at: Option<Tick>,
        /// From when it may begin again.
        ready_at: Tick,
    },
    /// An earlier input of the same player goes elsewhere: this one was neither done nor refused,
    /// and has changed nothing. To be played after that one, once.
    Deferred {
        /// Whose.
        who: CharacterId,
        /// Which.
        number: u64,
    },
    /// A player stands somewhere else all at once.
    Teleported {
        /// Who.
        who: CharacterId,
        /// Where.
        tile: Tile,
    },
}

impl Event {
    /// Whom it concerns.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Done { who, .. }
            | Event::Refused { who, .. }
            | Event::Joined { who }
            | Event::TurnedAway { who, .. }
            | Event::Vitals { who }
            | Event::Examined { who, .. }
            | Event::Inventory { who, .. }
            | Event::Coins { who }
            | Event::Equipment { who, .. }
            | Event::Bank { who, .. }
            | Event::Opened { who, .. }
            | Event::Closed { who, .. }
            | Event::Said { who, .. }
            | Event::Quests { who }
            | Event::QuestShown { who, .. }
            | Event::Quest { who, .. }
            | Event::QuestDone { who, .. }
            | Event::Shop { who, .. }
            | Event::Grave { who, .. }
            | Event::TradeAsked { who, .. }
            | Event::Trade { who, .. }
            | Event::Duel { who, .. }
            | Event::Trained { who, .. }
            | Event::Working { who, .. }
            | Event::Rested { who, .. }
            | Event::Hit { who, .. }
            | Event::Died { who, .. }
            | Event::Respawned { who, .. }
            | Event::Prayer { who }
            | Event::Ways { who }
            | Event::Failed { who, .. }
            | Event::Elsewhere { who, .. }
            | Event::Homeward { who, .. }
            | Event::Deferred { who, .. }
            | Event::Teleported { who, .. } => who,
        }
    }
}
