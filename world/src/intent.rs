//! All that a player may ask of the world, and who comes into it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::duel::{DuelRule, DuelStage};
use crate::fight::Style;
use crate::ids::{CharacterId, EntityId};
use crate::item::Value;
use crate::item::bank::Arrange;
use crate::labour::Trade;
use crate::record::{PlayerHot, PlayerRecord};
use crate::refusal::Refusal;
use crate::skill::Skill;
use crate::tile::{Region, Tile};
use crate::trade::Screen;
use crate::vague::Vague;

/// What a player asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go to a tile, or as near as there is a way.
    Walk {
        /// Where to.
        to: Tile,
        /// Run or walk from now on; `None`: as before.
        run: Option<bool>,
    },
    /// Run (`true`) or walk (`false`) from now on.
    Run(bool),
    /// Stand still.
    Stop,
    /// Go where another player goes.
    Follow {
        /// Who.
        target: EntityId,
    },
    /// Take a good look at something.
    Examine {
        /// At what.
        target: EntityId,
    },
    /// Lay a stack, or some of it, on the ground.
    Drop {
        /// Which slot of the pack.
        slot: u8,
        /// How many; `None`: all of it.
        quantity: Option<u32>,
    },
    /// Go to something on the ground and take all of it.
    Pickup {
        /// What.
        target: EntityId,
    },
    /// Put what lies in one slot of the pack into another; what lay there comes back.
    MoveSlot {
        /// Which slot.
        from: u8,
        /// Which other.
        to: u8,
    },
    /// Coins from the pouch, as a stack in the pack.
    WithdrawCoins {
        /// How many.
        amount: u32,
    },
    /// Coins from the pack into the pouch.
    DepositCoins {
        /// How many; `None`: all.
        amount: Option<u32>,
    },
    /// Use what lies in a slot of the pack for what it is: eat it, bury it, rub it.
    Use {
        /// Which slot.
        slot: u8,
        /// What one wants to learn of a lamp; nothing else asks for it.
        skill: Option<Skill>,
    },
    /// Use what lies in a slot of the pack with what lies in another.
    UseWith {
        /// Which slot.
        slot: u8,
        /// Which other.
        other: u8,
    },
    /// Use what lies in a slot of the pack on something.
    UseOn {
        /// Which slot.
        slot: u8,
        /// On what.
        target: EntityId,
    },
    /// Go to a tree, a rock or a fishing spot and gather what it gives.
    Gather {
        /// Which.
        target: EntityId,
    },
    /// Make things by a recipe.
    Make {
        /// The trade.
        trade: Trade,
        /// What is cooked, lit or tanned, else what is made; `None`: whatever it can only be.
        what: Option<Arc<str>>,
        /// The furnace, anvil, fire … at which it is made; `None`: wherever one is.
        target: Option<EntityId>,
        /// How many; `None`: as many as can be.
        quantity: Option<u32>,
    },
    /// Wear what lies in a slot of the pack.
    Equip {
        /// Which slot.
        slot: u8,
    },
    /// Take off what is worn.
    Unequip {
        /// Where.
        place: EquipSlot,
    },
    /// Go to a bank and open the own one there.
    OpenBank {
        /// Which, or whose.
        target: EntityId,
    },
    /// Close the bank.
    CloseBank,
    /// Do something at the open bank.
    Bank(Banking),
    /// Go to somebody and talk with it.
    Talk {
        /// With whom.
        target: EntityId,
    },
    /// Give one of the answers to what is said.
    Respond {
        /// Its number.
        index: u8,
    },
    /// Hear what is said to its end.
    Continue,
    /// Break a talk off, or turn an offer down.
    EndTalk,
    /// Something about quests.
    Quest(Questing),
    /// Go up to somebody and fight it.
    Attack {
        /// Whom.
        target: EntityId,
    },
    /// Fight in that style from now on.
    FightAs(Style),
    /// Turn to whoever attacks one (`true`), or not.
    Retaliate(bool),
    /// Cast that spell in fights from now on; `None`: none.
    Autocast {
        /// Which.
        spell: Option<Arc<str>>,
    },
    /// Turn a prayer on, or off if it is.
    Pray {
        /// Which.
        prayer: Arc<str>,
    },
    /// Go to an altar and pray there, for new points.
    PrayAt {
        /// Which.
        target: EntityId,
    },
    /// Stand up again; one who is dead does so in its time, asked or not.
    Respawn,
    /// Something about a shop.
    Shop(Shopping),
    /// Something about a trade with another player.
    Trade(Trading),
    /// Something about a duel with another player.
    Duel(Dueling),
    /// Something whose meaning shows when it is played.
    Vague(Vague),
    /// Go home by magic, after standing still for a while.
    HomeTeleport,
    /// An operator puts one somewhere else, at once and however far.
    Teleport {
        /// Where to, or as near as one can stand.
        to: Tile,
    },
}

/// What can be asked about quests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Questing {
    /// To see all of them.
    List,
    /// To see all about one.
    Show {
        /// Which.
        quest: Arc<str>,
    },
    /// Begin one that is offered.
    Accept {
        /// Which.
        quest: Arc<str>,
    },
    /// Give one up.
    Abandon {
        /// Which.
        quest: Arc<str>,
    },
    /// Tell whoever gave it that it is done.
    Complete {
        /// Which.
        quest: Arc<str>,
    },
}

/// What can be done at an open bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Banking {
    /// What lies in a slot of the pack, and more of the same, into the bank.
    Deposit {
        /// Which slot.
        slot: u8,
        /// How many, as far as there are so many.
        quantity: u32,
        /// Where it lies if none of it does yet, 0 to 8.
        tab: u8,
    },
    /// All of the pack into the bank, as far as there is room.
    DepositAll {
        /// As before.
        tab: u8,
    },
    /// All that is worn into the bank, as far as there is room.
    DepositWorn {
        /// As before.
        tab: u8,
    },
    /// Out of the bank into the pack, as far as there is room.
    Withdraw {
        /// What.
        item: Arc<str>,
        /// How many, as far as there are so many.
        quantity: u32,
        /// As notes.
        noted: bool,
    },
    /// Coins from the pouch into the bank, or back.
    Coins {
        /// How many.
        amount: u32,
        /// Out of the bank.
        out: bool,
    },
    /// Put the bank in order.
    Arrange(Arrange),
}

/// What can be asked of a shop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shopping {
    /// Go to somebody who keeps one, and open it.
    Open {
        /// Who.
        target: EntityId,
    },
    /// Close it.
    Close,
    /// Buy something.
    Buy {
        /// What.
        item: Arc<str>,
        /// How many.
        quantity: u32,
    },
    /// Sell what lies in a slot of the pack, and more of the same.
    Sell {
        /// Which slot.
        slot: u8,
        /// How many, as far as there are so many.
        quantity: u32,
    },
}

/// What can be asked about a trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trading {
    /// Somebody near is asked for one.
    Ask {
        /// Who.
        target: EntityId,
    },
    /// Somebody's request is answered.
    Answer {
        /// Which.
        trade: EntityId,
        /// Yes.
        accept: bool,
    },
    /// So much of what lies in a slot is offered, and no more of it.
    Offer {
        /// In which.
        trade: EntityId,
        /// Which slot of the pack.
        slot: u8,
        /// How many; `None`: all.
        quantity: Option<u32>,
    },
    /// So many of something in the own offer are offered.
    Change {
        /// In which.
        trade: EntityId,
        /// Its place in the offer.
        place: u8,
        /// How many.
        quantity: u32,
    },
    /// Something is taken out of the own offer.
    Withdraw {
        /// Of which.
        trade: EntityId,
        /// Its place in the offer.
        place: u8,
    },
    /// A screen is agreed to.
    Accept {
        /// In which.
        trade: EntityId,
        /// The screen that was seen.
        seen: Screen,
    },
    /// What was agreed to is not any more.
    Doubt {
        /// In which.
        trade: EntityId,
    },
    /// It is given up, or the request for it.
    Cancel {
        /// Which.
        trade: EntityId,
    },
}

impl Trading {
    /// Whether it only leads away from anything changing hands: that is always allowed.
    const fn retreats(&self) -> bool {
        matches!(
            self,
            Trading::Answer { accept: false, .. }
                | Trading::Withdraw { .. }
                | Trading::Doubt { .. }
                | Trading::Cancel { .. }
        )
    }
}

/// What can be asked about a duel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dueling {
    /// Somebody in the lobby is challenged.
    Challenge {
        /// Who.
        target: EntityId,
    },
    /// Somebody's challenge is answered.
    Answer {
        /// Which.
        challenge: EntityId,
        /// Yes.
        accept: bool,
    },
    /// A rule is to hold, or not any more.
    Rule {
        /// In which.
        duel: EntityId,
        /// Which rule.
        rule: DuelRule,
    },
    /// Nothing is to be worn somewhere, or something may be again.
    Bare {
        /// In which.
        duel: EntityId,
        /// Where.
        place: EquipSlot,
    },
    /// So much of what lies in a slot is staked, and no more of it.
    Stake {
        /// In which.
        duel: EntityId,
        /// Which slot of the pack.
        slot: u8,
        /// How many.
        quantity: u32,
    },
    /// Something is staked no more.
    Unstake {
        /// In which.
        duel: EntityId,
        /// Its place among the own stakes.
        place: u8,
    },
    /// What is shown is agreed to.
    Agree {
        /// In which.
        duel: EntityId,
        /// How far it had come when that was asked.
        seen: DuelStage,
    },
    /// It is called off before the fight, or a challenge of one's own is.
    Cancel {
        /// Which.
        duel: EntityId,
    },
    /// The fight is given up.
    Forfeit {
        /// Which.
        duel: EntityId,
    },
}

impl Dueling {
    /// Whether it only leads away from anything changing hands: that is always allowed.
    const fn retreats(&self) -> bool {
        matches!(
            self,
            Dueling::Answer { accept: false, .. }
                | Dueling::Unstake { .. }
                | Dueling::Cancel { .. }
        )
    }
}

impl Intent {
    /// Whether following it may move something of value: what one says in a talk may do so, too.
    #[must_use]
    pub const fn may_move_value(&self) -> bool {
        self.about_value() || matches!(self, Intent::Respond { .. } | Intent::Continue)
    }

    /// Whether its answer tells what somebody holds or what lies on the ground.
    pub(crate) const fn about_value(&self) -> bool {
        match self {
            Intent::Drop { .. }
            | Intent::Pickup { .. }
            | Intent::MoveSlot { .. }
            | Intent::WithdrawCoins { .. }
            | Intent::DepositCoins { .. }
            | Intent::Use { .. }
            | Intent::UseWith { .. }
            | Intent::UseOn { .. }
            | Intent::Gather { .. }
            | Intent::Make { .. }
            | Intent::Equip { .. }
            | Intent::Unequip { .. }
            | Intent::Bank(_)
            | Intent::Quest(
                Questing::Accept { .. } | Questing::Abandon { .. } | Questing::Complete { .. },
            )
            | Intent::Shop(Shopping::Buy { .. } | Shopping::Sell { .. })
            | Intent::Trade(_)
            | Intent::Duel(_) => true,
            Intent::Vague(vague) => vague.about_value(),
            Intent::Shop(Shopping::Open { .. } | Shopping::Close)
            | Intent::OpenBank { .. }
            | Intent::Talk { .. }
            | Intent::Respond { .. }
            | Intent::Continue
            | Intent::EndTalk
            | Intent::Quest(Questing::List | Questing::Show { .. })
            | Intent::Attack { .. }
            | Intent::FightAs(_)
            | Intent::Retaliate(_)
            | Intent::Autocast { .. }
            | Intent::Pray { .. }
            | Intent::PrayAt { .. }
            | Intent::Respawn
            | Intent::CloseBank
            | Intent::Walk { .. }
            | Intent::Run(_)
            | Intent::Stop
            | Intent::Follow { .. }
            | Intent::Examine { .. }
            | Intent::HomeTeleport
            | Intent::Teleport { .. } => false,
        }
    }

    /// Whether it must wait until a trade of the one who asks has ended: it could change what is
    /// in the pack, or opens something else.
    pub(crate) const fn waits_for_trade(&self) -> bool {
        match self {
            Intent::Drop { .. }
            | Intent::Pickup { .. }
            | Intent::MoveSlot { .. }
            | Intent::WithdrawCoins { .. }
            | Intent::DepositCoins { .. }
            | Intent::Use { .. }
            | Intent::UseWith { .. }
            | Intent::UseOn { .. }
            | Intent::Gather { .. }
            | Intent::Make { .. }
            | Intent::Equip { .. }
            | Intent::Unequip { .. }
            | Intent::OpenBank { .. }
            | Intent::CloseBank
            | Intent::Shop(_)
            | Intent::Attack { .. }
            | Intent::PrayAt { .. }
            | Intent::Talk { .. }
            | Intent::Respond { .. }
            | Intent::Continue
            | Intent::Quest(
                Questing::Accept { .. } | Questing::Abandon { .. } | Questing::Complete { .. },
            )
            | Intent::Duel(
                Dueling::Challenge { .. }
                | Dueling::Answer { accept: true, .. }
                | Dueling::Stake { .. }
                | Dueling::Agree { .. },
            )
            | Intent::Vague(_)
            | Intent::Bank(_) => true,
            Intent::Duel(_)
            | Intent::Trade(_)
            | Intent::FightAs(_)
            | Intent::Retaliate(_)
            | Intent::Autocast { .. }
            | Intent::Pray { .. }
            | Intent::Respawn
            | Intent::EndTalk
            | Intent::Quest(Questing::List | Questing::Show { .. })
            | Intent::Walk { .. }
            | Intent::Run(_)
            | Intent::Stop
            | Intent::Follow { .. }
            | Intent::Examine { .. }
            | Intent::HomeTeleport
            | Intent::Teleport { .. } => false,
        }
    }

    /// Whether it may be followed now. While exchanges are stopped, one may still put one's things
    /// in order; while nothing can be saved, not even that.
    ///
    /// # Errors
    /// `ExchangesFrozen`, `StorageUnavailable`.
    pub(crate) fn allowed(&self, value: Value) -> Result<(), Refusal> {
        let orders = matches!(
            self,
            Intent::MoveSlot { .. }
                | Intent::Equip { .. }
                | Intent::Unequip { .. }
                | Intent::Bank(Banking::Arrange(_))
        );
        // What is won in a fight could not be saved.
        if matches!(self, Intent::Attack { .. }) && value == Value::Unavailable {
            return value.open();
        }
        if matches!(self, Intent::Trade(wish) if wish.retreats()) {
            return Ok(());
        }
        if matches!(self, Intent::Duel(wish) if wish.retreats()) {
            return Ok(());
        }
        if !self.about_value() || (orders && value == Value::Frozen) {
            return Ok(());
        }
        value.open()
    }
}

/// One intent of one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInput {
    /// Whose.
    pub who: CharacterId,
    /// Grows from one input of a player to the next; echoed in the answer.
    pub number: u64,
    /// What is asked.
    pub intent: Intent,
}

/// Somebody who comes into the world at a tick's edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Who, as saved.
    pub record: PlayerRecord,
    /// What it was doing; the default for one who comes from rest.
    pub hot: PlayerHot,
    /// The region that it belongs to.
    pub region: Region,
}
