//! Duels under way: the two fighters, the rules, the stakes and the stage of each duel.
//!
//! Always: a player is in one duel at most. Until both players have agreed to the stakes, no item
//! has moved. From then on, each player's stakes lie in a container of that player until the duel
//! ends.

mod packet;
mod parting;
pub(crate) mod rings;
mod rules;
pub(crate) mod tick;
pub mod told;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::content::EquipSlot;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::trade::{Offered, Screen};
use crate::item::Stack;
use crate::time::Tick;
use crate::told::{Message, Recipient, endings};
use crate::wire::{self, BadRequest};

use told::{
    DuelAcceptanceUpdated, DuelCancelled, DuelChallengeDeclined, DuelChallengeIncoming,
    DuelChallengeSent, DuelCompleted, DuelCountdownStart, DuelCountdownTick, DuelEquipmentUpdated,
    DuelFightStart, DuelOpponentDisconnected, DuelOpponentReconnected, DuelRulesUpdated,
    DuelSessionStarted, DuelStakesUpdated, DuelStateChanged,
};

pub(crate) use packet::Packet;

/// Prefix of all duel ids.
pub(crate) const ID_PREFIX: &str = "duel:";
/// Prefix of all challenge ids.
pub(crate) const CHALLENGE_PREFIX: &str = "challenge:";
/// Most things in one player's stakes container: its own stakes and the stakes that it has won.
pub const STAKES_MAX: u8 = 56;

/// Kind of intent, as the rules of a duel see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// A player may do it in any duel at any time.
    Harmless,
    Walk,
    Stop,
    PickUp,
    Pray,
    /// Use of the item in that slot of the pack.
    Use(u8),
    Attack,
    /// It leads away from the duel.
    Away,
    Other,
}

/// Rule on which two players may agree before they fight.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "camelCase")]
#[expect(missing_docs, reason = "a rule is its name")]
pub enum DuelRule {
    NoRanged,
    NoMelee,
    NoMagic,
    NoSpecialAttack,
    NoPrayer,
    NoPotions,
    NoFood,
    NoForfeit,
    NoMovement,
    FunWeapons,
}

impl DuelRule {
    /// All rules, in order.
    pub const ALL: &[DuelRule] = DuelRule::VARIANTS;

    /// Returns the rule's name, as it is sent.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the rule called `name`.
    pub fn named(name: &str) -> Option<DuelRule> {
        name.parse().ok()
    }
}

/// Stage of a duel.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "UPPERCASE")]
#[expect(missing_docs, reason = "a stage is its name")]
pub enum DuelStage {
    Rules,
    Stakes,
    Confirming,
    Countdown,
    Fighting,
    Finished,
}

impl DuelStage {
    /// All stages, in order.
    pub const ALL: &[DuelStage] = DuelStage::VARIANTS;

    /// Returns the stage's name, as it is sent.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

endings! {
    /// Reason why a duel came to nothing. Both players keep their stakes.
    DuelEnd {
        /// Cancellation by a player before the fight.
        Cancelled = "cancelled", "the duel was called off";
        /// End of the time for a duel.
        Timeout = "timeout", "the duel took too long";
        /// Absence of a player: it left the world, or was away for too long.
        Disconnected = "disconnected", "the other is not there any more";
        /// Death of a player before the fight.
        PlayerDied = "player_died", "one of you has died";
        /// Too many steps between the players before the fight.
        TooFar = "too_far", "you are too far apart; within 15 tiles one agrees on a duel";
        /// Absence of a staked item.
        InvalidItems = "invalid_items", "what was staked is not there any more";
        /// Fall of both players in the same tick.
        Draw = "draw", "both of you fell at once; everybody keeps the own stakes";
        /// Separation: the same process no longer plays both players.
        Server = "server", "this part of the world has moved; ask again";
    }
}

/// Part of a duel that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DuelPart {
    /// A rule.
    Rules,
    /// The equipment slots that must stay empty.
    Equipment,
    /// The stakes.
    Stakes,
    /// The agreements. If the view shows a new stage, both players have agreed.
    Agreed,
}

/// One of the two players of a duel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fighter {
    pub(crate) who: CharacterId,
    /// Stakes of this player, in the order in which it staked them.
    pub(crate) stakes: Vec<Offered>,
    /// Whether this player agrees to the view that it sees.
    pub(crate) agreed: bool,
    /// Tick since which nobody has played this player.
    pub(crate) away_since: Option<Tick>,
}

/// Outcome of a fight. The stakes have changed owners.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) winner: CharacterId,
    pub(crate) forfeit: bool,
    pub(crate) won: Vec<Stack>,
}

/// A duel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Duel {
    pub(crate) id: EntityId,
    pub(crate) challenge: EntityId,
    /// The challenger, then the challenged player.
    pub(crate) sides: [Fighter; 2],
    pub(crate) stage: DuelStage,
    pub(crate) rules: BTreeSet<DuelRule>,
    pub(crate) bare: BTreeSet<EquipSlot>,
    pub(crate) ring: Option<u8>,
    /// Tick of the last change or agreement in the stage, or else of its beginning.
    pub(crate) since: Tick,
    /// Tick at which the duel began.
    pub(crate) began: Tick,
    /// Outcome of the fight; `None` in the last stage: nobody won.
    #[serde(default)]
    pub(crate) verdict: Option<Verdict>,
}

/// Challenge without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    pub(crate) from: CharacterId,
    pub(crate) to: CharacterId,
    pub(crate) since: Tick,
}

impl Duel {
    pub(crate) fn new(id: EntityId, challenge: EntityId, of: &Challenge, now: Tick) -> Duel {
        let side = |who: &CharacterId| Fighter {
            who: who.clone(),
            stakes: Vec::new(),
            agreed: false,
            away_since: None,
        };
        Duel {
            id,
            challenge,
            sides: [side(&of.from), side(&of.to)],
            stage: DuelStage::Rules,
            rules: BTreeSet::new(),
            bare: BTreeSet::new(),
            ring: None,
            since: now,
            began: now,
            verdict: None,
        }
    }

    /// Returns the two fighters, the challenger first.
    pub(crate) fn fighters(&self) -> [CharacterId; 2] {
        self.sides.each_ref().map(|side| side.who.clone())
    }

    /// Returns the opponent of `who`.
    pub(crate) fn other(&self, who: &CharacterId) -> &CharacterId {
        let [one, other] = &self.sides;
        if one.who == *who {
            &other.who
        } else {
            &one.who
        }
    }

    pub(crate) fn side_mut(&mut self, who: &CharacterId) -> Option<&mut Fighter> {
        self.sides.iter_mut().find(|side| side.who == *who)
    }

    /// Returns whether both players agree to the view that they see.
    pub(crate) fn agreed(&self) -> bool {
        self.sides.iter().all(|side| side.agreed)
    }

    /// Clears both agreements, because a part of the duel has changed.
    pub(crate) fn changed(&mut self) {
        self.sides.iter_mut().for_each(|side| side.agreed = false);
    }

    /// Moves the duel to `stage` and clears both agreements.
    pub(crate) fn come_to(&mut self, stage: DuelStage, now: Tick) {
        self.stage = stage;
        self.since = now;
        self.changed();
    }

    /// Returns whether `rule` holds in this duel.
    pub(crate) fn has(&self, rule: DuelRule) -> bool {
        self.rules.contains(&rule)
    }

    /// Delays everything that is due in the duel by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.since = self.since.after(ticks);
        self.began = self.began.after(ticks);
        for side in &mut self.sides {
            side.away_since = side.away_since.map(|at| at.after(ticks));
        }
    }
}

impl DuelStage {
    /// Returns whether this stage comes before the ring.
    pub(crate) const fn prepares(self) -> bool {
        matches!(
            self,
            DuelStage::Rules | DuelStage::Stakes | DuelStage::Confirming
        )
    }
}

/// All duels and challenges in this world, and the ends of duels that players must still hear.
#[derive(Debug, Default)]
pub(crate) struct Duels {
    pub(crate) all: BTreeMap<EntityId, Duel>,
    pub(crate) challenges: BTreeMap<EntityId, Challenge>,
    /// Player, duel and reason for each end. The next tick tells the player.
    pub(crate) ended: Vec<(CharacterId, EntityId, DuelEnd)>,
}

impl Duels {
    /// Returns the duel with that id, if this world has it.
    pub(crate) fn named(&self, id: Option<&EntityId>) -> Option<&Duel> {
        self.all.get(id?)
    }

    /// Returns the numbers of the rings that duels have taken.
    pub(crate) fn taken(&self) -> BTreeSet<u8> {
        self.all.values().filter_map(|duel| duel.ring).collect()
    }
}

/// Request about a duel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Challenge to a player in the lobby.
    #[serde(rename = "duel:challenge")]
    Challenge {
        /// Character's id, which is also the id of its entity.
        #[serde(rename = "targetPlayerId")]
        target: EntityId,
    },
    /// Answer to a challenge.
    #[serde(rename = "duel:challenge:respond")]
    Answer {
        /// Challenge id.
        #[serde(rename = "challengeId")]
        challenge: EntityId,
        /// Whether the player accepts.
        accept: bool,
    },
    /// Switch of a rule, on or off.
    #[schemars(skip)]
    Rule {
        /// Duel id.
        duel: EntityId,
        /// Rule to turn on or off.
        rule: DuelRule,
    },
    /// Switch of an equipment slot, forbidden or allowed.
    #[schemars(skip)]
    Bare {
        /// Duel id.
        duel: EntityId,
        /// Equipment slot.
        place: EquipSlot,
    },
    /// Stake of a quantity from one slot. It replaces any stake from that slot.
    #[schemars(skip)]
    Stake {
        /// Duel id.
        duel: EntityId,
        /// Slot of the pack.
        slot: u8,
        /// Quantity.
        quantity: u32,
    },
    /// Withdrawal of a stake.
    #[schemars(skip)]
    Unstake {
        /// Duel id.
        duel: EntityId,
        /// Place among the player's own stakes.
        place: u8,
    },
    /// Agreement to the view that the player sees.
    #[schemars(skip)]
    Agree {
        /// Duel id.
        duel: EntityId,
        /// Stage that the player saw when it agreed.
        seen: DuelStage,
    },
    /// End of a duel before the fight, or of the player's own challenge.
    #[serde(rename = "duel:cancel")]
    Cancel {
        /// Id of the duel or the challenge.
        #[serde(rename = "duelId")]
        duel: EntityId,
    },
    /// Surrender in the fight.
    #[serde(rename = "duel:forfeit")]
    Forfeit {
        /// Duel id.
        #[serde(rename = "duelId")]
        duel: EntityId,
    },
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let (field, id) = match &self {
            Intent::Challenge { target } => ("targetPlayerId", target),
            Intent::Answer { challenge, .. } => ("challengeId", challenge),
            Intent::Rule { duel, .. }
            | Intent::Bare { duel, .. }
            | Intent::Stake { duel, .. }
            | Intent::Unstake { duel, .. }
            | Intent::Agree { duel, .. }
            | Intent::Cancel { duel }
            | Intent::Forfeit { duel } => ("duelId", duel),
        };
        wire::id(field, id.as_str())?;
        Ok(self)
    }
}

impl Intent {
    /// Returns whether the request can only keep items from changing owners. Such a request is
    /// always allowed.
    pub(crate) const fn retreats(&self) -> bool {
        matches!(
            self,
            Intent::Answer { accept: false, .. } | Intent::Unstake { .. } | Intent::Cancel { .. }
        )
    }
}

/// Fact about a duel for one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Confirmation of the player's own challenge.
    Challenged(CharacterId, DuelChallengeSent),
    /// Challenge from another player.
    Incoming(CharacterId, DuelChallengeIncoming),
    /// End of a challenge without a duel.
    Declined(CharacterId, DuelChallengeDeclined),
    /// Beginning of a duel that both players want.
    Started(CharacterId, DuelSessionStarted),
    /// Rules after a change.
    Rules(CharacterId, DuelRulesUpdated),
    /// Forbidden equipment slots after a change.
    Equipment(CharacterId, DuelEquipmentUpdated),
    /// Stakes after a change.
    Stakes(CharacterId, DuelStakesUpdated),
    /// Agreements after a change.
    Agreed(CharacterId, DuelAcceptanceUpdated),
    /// View of the whole duel, at a new stage or when the server shows it again.
    Stage(CharacterId, Box<DuelStateChanged>),
    /// Arrival of both players in their ring.
    Entered(CharacterId, DuelCountdownStart),
    /// New count of the countdown to the fight.
    Counted(CharacterId, DuelCountdownTick),
    /// Beginning of the fight.
    Fight(CharacterId, DuelFightStart),
    /// Absence of the opponent. If it does not come back in time, it loses.
    OpponentAway(CharacterId, DuelOpponentDisconnected),
    /// Return of the opponent.
    OpponentBack(CharacterId, DuelOpponentReconnected),
    /// Result of the duel.
    Completed(CharacterId, DuelCompleted),
    /// End of the duel without a winner.
    Cancelled(CharacterId, DuelCancelled),
}

impl Event {
    /// Returns the player to tell.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Challenged(who, _)
            | Event::Incoming(who, _)
            | Event::Declined(who, _)
            | Event::Started(who, _)
            | Event::Rules(who, _)
            | Event::Equipment(who, _)
            | Event::Stakes(who, _)
            | Event::Agreed(who, _)
            | Event::Stage(who, _)
            | Event::Entered(who, _)
            | Event::Counted(who, _)
            | Event::Fight(who, _)
            | Event::OpponentAway(who, _)
            | Event::OpponentBack(who, _)
            | Event::Completed(who, _)
            | Event::Cancelled(who, _) => who,
        }
    }

    /// Returns the message for the player. All messages of a duel itself wait until their subject is
    /// saved, so that they come in order.
    pub(crate) fn message(&self, _: &Recipient<'_>) -> Option<Message> {
        Some(match self {
            Event::Challenged(_, told) => Message::now(told),
            Event::Incoming(_, told) => Message::now(told),
            Event::Declined(_, told) => Message::now(told),
            Event::Started(_, told) => Message::of_value(told),
            Event::Rules(_, told) => Message::of_value(told),
            Event::Equipment(_, told) => Message::of_value(told),
            Event::Stakes(_, told) => Message::of_value(told),
            Event::Agreed(_, told) => Message::of_value(told),
            Event::Stage(_, told) => Message::of_value(&**told),
            Event::Entered(_, told) => Message::of_value(told),
            Event::Counted(_, told) => Message::of_value(told),
            Event::Fight(_, told) => Message::of_value(told),
            Event::OpponentAway(_, told) => Message::of_value(told),
            Event::OpponentBack(_, told) => Message::of_value(told),
            Event::Completed(_, told) => Message::of_value(told),
            Event::Cancelled(_, told) => Message::of_value(told),
        })
    }
}
