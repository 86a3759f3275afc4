//! Duels under way: who fights whom, by which rules, for what, and how far it has come.
//!
//! Always: a player is in one duel at most; until both have agreed to the stakes nothing has
//! moved, and from then on they lie in a container of their owner's until the duel is decided.

mod parting;
pub(crate) mod rings;
pub(crate) mod rules;
pub(crate) mod tick;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::content::EquipSlot;
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::combat::named;
use crate::features::trade::Offered;
use crate::geometry::tile::Bounds;
use crate::item::Stack;
use crate::time::Tick;

/// What the ids of all duels begin with.
pub(crate) const ID_PREFIX: &str = "duel:";
/// What the ids of all challenges begin with.
pub(crate) const CHALLENGE_PREFIX: &str = "challenge:";
/// Things that lie in somebody's container of stakes at most: its own, and what it has won.
pub const STAKES_MAX: u8 = 56;

named! {
    /// What two may agree on before they fight.
    DuelRule {
        NoRanged = "noRanged",
        NoMelee = "noMelee",
        NoMagic = "noMagic",
        NoSpecialAttack = "noSpecialAttack",
        NoPrayer = "noPrayer",
        NoPotions = "noPotions",
        NoFood = "noFood",
        NoForfeit = "noForfeit",
        NoMovement = "noMovement",
        FunWeapons = "funWeapons",
    }
}

named! {
    /// How far a duel has come.
    DuelStage {
        Rules = "RULES",
        Stakes = "STAKES",
        Confirming = "CONFIRMING",
        Countdown = "COUNTDOWN",
        Fighting = "FIGHTING",
        Finished = "FINISHED",
    }
}

/// Why a duel came to nothing: everybody keeps what it staked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DuelEnd {
    /// One of both called it off before the fight.
    Cancelled,
    /// It took too long.
    Timeout,
    /// One of both left the world, or was not there for too long.
    Disconnected,
    /// One of both died before the fight.
    PlayerDied,
    /// They went too far apart before the fight.
    TooFar,
    /// What was staked is not there any more.
    InvalidItems,
    /// Both fell in the same tick.
    Draw,
    /// They are not played by the same process any more.
    Server,
}

/// Something at stake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staked {
    /// The slot of its owner's pack in which it lay.
    pub slot: u8,
    /// What, and how many of it.
    pub stack: Stack,
    /// What all of it is worth, in coins.
    pub worth: u64,
}

/// What both see of a duel; of pairs the challenger's comes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuelShown {
    /// Which.
    pub duel: EntityId,
    /// How far it has come.
    pub stage: DuelStage,
    /// What both have agreed on.
    pub rules: BTreeSet<DuelRule>,
    /// Where nothing may be worn.
    pub bare: BTreeSet<EquipSlot>,
    /// What is at stake.
    pub stakes: [Vec<Staked>; 2],
    /// Who agrees to what is shown.
    pub agreed: [bool; 2],
    /// Who fight.
    pub fighters: [CharacterId; 2],
    /// The number of their ring, once they have one.
    pub ring: Option<u8>,
}

/// What of a duel is different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DuelPart {
    /// A rule.
    Rules,
    /// Where nothing may be worn.
    Equipment,
    /// What is at stake.
    Stakes,
    /// Who agrees; all have if the stage is another one.
    Agreed,
    /// How far it has come.
    Stage,
}

/// How a duel ended for one who fought it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuelResult {
    /// It has won.
    pub won: bool,
    /// The other, as others see it.
    pub opponent: String,
    /// What it got of the other.
    pub received: Vec<Stack>,
    /// What it gave to the other.
    pub lost: Vec<Stack>,
    /// What both are worth in coins.
    pub worth: [u64; 2],
    /// The loser gave up, or was gone for too long.
    pub forfeit: bool,
}

/// What somebody is told of a duel. All but what is said of challenges is of value: to be held
/// back until that is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DuelNotification {
    /// One's challenge is out.
    Challenged {
        /// Which.
        challenge: EntityId,
        /// Who is challenged.
        whom: CharacterId,
        /// As others see it.
        name: String,
    },
    /// Somebody challenges one.
    Incoming {
        /// Which.
        challenge: EntityId,
        /// Who.
        from: CharacterId,
        /// As others see it.
        name: String,
        /// Combat level.
        level: u32,
    },
    /// A challenge came to nothing.
    Declined {
        /// Which.
        challenge: EntityId,
        /// Who did not want to; `None`: it took too long, or they parted.
        by: Option<CharacterId>,
    },
    /// Both want to.
    Started {
        /// Which.
        duel: EntityId,
        /// The challenge that led to it.
        challenge: EntityId,
        /// With whom.
        opponent: CharacterId,
        /// As others see it.
        name: String,
        /// It was one's own challenge.
        challenger: bool,
    },
    /// Something about it is different, or it is shown again.
    Shown {
        /// What is different.
        part: DuelPart,
        /// Who changed it; `None`: it came by itself.
        by: Option<CharacterId>,
        /// All of it.
        shown: Box<DuelShown>,
    },
    /// Both have come to their ring.
    Entered {
        /// Which.
        duel: EntityId,
        /// The number of the ring.
        ring: u8,
        /// Who fight.
        fighters: [CharacterId; 2],
    },
    /// It is counted down to the fight.
    Counted {
        /// Which.
        duel: EntityId,
        /// 3 to 0.
        count: u8,
        /// Who fight.
        fighters: [CharacterId; 2],
    },
    /// They may fight.
    Fight {
        /// Which.
        duel: EntityId,
        /// The number of the ring.
        ring: u8,
        /// Its edges.
        bounds: Bounds,
        /// With whom.
        opponent: CharacterId,
    },
    /// The other is not there; if it is not back in time, it loses.
    OpponentAway {
        /// Which.
        duel: EntityId,
        /// Within so many ticks.
        ticks: u64,
    },
    /// The other is there again.
    OpponentBack {
        /// Which.
        duel: EntityId,
    },
    /// It is decided.
    Completed {
        /// Which.
        duel: EntityId,
        /// How.
        result: Box<DuelResult>,
    },
    /// It came to nothing.
    Ended {
        /// Which.
        duel: EntityId,
        /// Why.
        why: DuelEnd,
        /// Who called it off.
        by: Option<CharacterId>,
    },
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fighter {
    pub(crate) who: CharacterId,
    /// What it stakes, in the order in which it did.
    pub(crate) stakes: Vec<Offered>,
    /// It agrees to what is shown.
    pub(crate) agreed: bool,
    /// Since when nobody plays it.
    pub(crate) away_since: Option<Tick>,
}

/// How a fight ended; what was at stake has changed hands.
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
    /// The challenger, and the one who was challenged.
    pub(crate) sides: [Fighter; 2],
    pub(crate) stage: DuelStage,
    pub(crate) rules: BTreeSet<DuelRule>,
    pub(crate) bare: BTreeSet<EquipSlot>,
    pub(crate) ring: Option<u8>,
    /// When this stage began.
    pub(crate) since: Tick,
    /// When the duel did.
    pub(crate) began: Tick,
    /// How it ended; `None` in the last stage: nobody won.
    #[serde(default)]
    pub(crate) verdict: Option<Verdict>,
}

/// A challenge that is not answered.
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

    /// Who fight, the challenger first.
    pub(crate) fn fighters(&self) -> [CharacterId; 2] {
        self.sides.each_ref().map(|side| side.who.clone())
    }

    /// The other than `who`.
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

    /// Whether both agree to what they see.
    pub(crate) fn agreed(&self) -> bool {
        self.sides.iter().all(|side| side.agreed)
    }

    /// Something is different: nobody agrees to it yet.
    pub(crate) fn changed(&mut self) {
        self.sides.iter_mut().for_each(|side| side.agreed = false);
    }

    /// It comes to `stage`, and nobody agrees to it yet.
    pub(crate) fn come_to(&mut self, stage: DuelStage, now: Tick) {
        self.stage = stage;
        self.since = now;
        self.changed();
    }

    /// Whether `rule` holds in it.
    pub(crate) fn has(&self, rule: DuelRule) -> bool {
        self.rules.contains(&rule)
    }

    /// All that is due is due so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.since = self.since.after(ticks);
        self.began = self.began.after(ticks);
        for side in &mut self.sides {
            side.away_since = side.away_since.map(|at| at.after(ticks));
        }
    }
}

impl DuelStage {
    /// Whether it is still spoken of, and nobody has come to the ring.
    pub(crate) const fn prepares(self) -> bool {
        matches!(
            self,
            DuelStage::Rules | DuelStage::Stakes | DuelStage::Confirming
        )
    }
}

/// All duels here, the challenges to more, and who must still hear of one that is no more.
#[derive(Debug, Default)]
pub(crate) struct Duels {
    pub(crate) all: BTreeMap<EntityId, Duel>,
    pub(crate) challenges: BTreeMap<EntityId, Challenge>,
    /// Who, of which duel, and why it ended: to be told in the next tick.
    pub(crate) ended: Vec<(CharacterId, EntityId, DuelEnd)>,
}

impl Duels {
    /// The duel that somebody's player names.
    pub(crate) fn named(&self, id: Option<&EntityId>) -> Option<&Duel> {
        self.all.get(id?)
    }

    /// The numbers of the rings in which somebody fights.
    pub(crate) fn taken(&self) -> BTreeSet<u8> {
        self.all.values().filter_map(|duel| duel.ring).collect()
    }
}

/// A request about a duel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
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

impl Intent {
    /// Whether it only leads away from anything changing hands: that is always allowed.
    pub(crate) const fn retreats(&self) -> bool {
        matches!(
            self,
            Intent::Answer { accept: false, .. } | Intent::Unstake { .. } | Intent::Cancel { .. }
        )
    }
}

/// A fact about a duel that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Something about a duel, or a challenge to one.
    Told {
        /// Who is told.
        who: CharacterId,
        /// What.
        told: DuelNotification,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Told { who, .. } => who,
        }
    }
}
