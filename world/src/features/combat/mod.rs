//! Fighting: what players choose of it and what those who fight keep of it. It moves along in a
//! handover; the choices are saved.
//!
//! Always: as many blows are on their way to one as [`COMING_MAX`] says, and no more.

pub(crate) mod attack_rules;
pub(crate) mod blows;
pub(crate) mod fighter;
pub(crate) mod loot;
pub(crate) mod mind;
pub(crate) mod reach;
pub(crate) mod roll;
pub(crate) mod style;
pub(crate) mod supplies;
pub(crate) mod tick;
pub(crate) mod timing;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::record::PlayerRecord;
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// Blows on their way to one.
pub(crate) const COMING_MAX: usize = 64;
/// Those who are remembered for having hurt an NPC.
pub(crate) const HURT_BY_MAX: usize = 64;
/// One is in combat for so many ticks after a blow, given or taken.
pub(crate) const COMBAT_TICKS: u64 = 17;
/// One cannot leave the world for so many ticks after a blow.
const LEAVE_TICKS: u64 = 16;

macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,
            serde::Deserialize,
        )]
        #[serde(rename_all = "lowercase")]
        #[expect(missing_docs, reason = "they are what they are called")]
        pub enum $name { $($variant,)* }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its name, as it is saved and sent.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one called `name`.
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

pub(crate) use named;

named! {
    /// How one fights with what one holds.
    Style {
        Accurate = "accurate",
        Aggressive = "aggressive",
        Defensive = "defensive",
        Controlled = "controlled",
        Rapid = "rapid",
        Longrange = "longrange",
        Autocast = "autocast",
    }
}

named! {
    /// What sort of blow it is.
    HitKind {
        Melee = "melee",
        Ranged = "ranged",
        Magic = "magic",
    }
}

/// What a player has chosen of fighting; saved. What a weapon does not allow counts as the first
/// that it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CombatSettings {
    /// The style.
    pub style: Style,
    /// It turns to whoever attacks it.
    pub retaliates: bool,
    /// The spell that it casts instead of using its weapon.
    pub spell: Option<Arc<str>>,
}

impl Default for CombatSettings {
    fn default() -> CombatSettings {
        CombatSettings {
            style: Style::Accurate,
            retaliates: true,
            spell: None,
        }
    }
}

/// Whom a player attacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    /// Whom.
    pub target: EntityId,
    /// The region to which it belongs.
    pub region: Region,
    /// Where it stood when a way to it was last looked for.
    pub seen_at: Tile,
}

/// Somebody with whom one has to do in a fight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foe {
    /// Who.
    pub who: EntityId,
    /// When that was.
    pub at: Tick,
}

/// A blow on its way to somebody: what it will do was thrown when it was dealt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blow {
    /// Who dealt it.
    pub from: EntityId,
    /// What sort of blow.
    pub kind: HitKind,
    /// In which style, for what its dealer learns by it.
    pub style: Style,
    /// How much it hurts, if there is so much health left.
    pub damage: u32,
    /// Experience for the spell itself, in tenths.
    pub cast_xp_tenths: u32,
    /// When it arrives.
    pub lands_at: Tick,
}

/// What anybody who can fight keeps of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clash {
    /// When it may next attack.
    pub attacks_at: Tick,
    /// When it last gave or took a blow.
    pub fought_at: Option<Tick>,
    /// Whom it attacked last.
    pub attacked: Option<Foe>,
    /// Who attacked it last.
    pub attacked_by: Option<Foe>,
    /// What is on its way to it, in the order in which it was dealt.
    pub coming: Vec<Blow>,
    /// When it next gets better by itself.
    pub mends_at: Tick,
}

impl Clash {
    /// Whether it is in combat at `now`.
    pub(crate) fn in_combat(&self, now: Tick) -> bool {
        self.within(now, COMBAT_TICKS)
    }

    /// How many ticks ago it attacked somebody or was attacked, if that was at `begin` or later
    /// and those whom it fought still live.
    pub(crate) fn since_blow(&self, begin: Tick, now: Tick) -> Option<u64> {
        let foes = [&self.attacked, &self.attacked_by].into_iter().flatten();
        let last = foes.map(|foe| foe.at).max()?;
        (last >= begin).then(|| now.since(last))
    }

    fn within(&self, now: Tick, ticks: u64) -> bool {
        self.fought_at.is_some_and(|at| now.since(at) < ticks)
    }

    /// It has nothing more to do with anybody; what is on its way to it still comes.
    pub(crate) fn forget(&mut self) {
        *self = Clash {
            mends_at: self.mends_at,
            coming: std::mem::take(&mut self.coming),
            ..Clash::default()
        };
    }

    /// All that is due is due so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.attacks_at = self.attacks_at.after(ticks);
        self.mends_at = self.mends_at.after(ticks);
        self.fought_at = self.fought_at.map(|at| at.after(ticks));
        let foes = [&mut self.attacked, &mut self.attacked_by];
        for foe in foes.into_iter().flatten() {
            foe.at = foe.at.after(ticks);
        }
        for blow in &mut self.coming {
            blow.lands_at = blow.lands_at.after(ticks);
        }
    }
}

/// Somebody who has no health left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dying {
    /// When it stands up again.
    pub until: Tick,
}

/// Where somebody has been for long enough that beasts there get used to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AggressionTolerance {
    /// The middle of a square.
    pub middle: Tile,
    /// Since when.
    pub since: Tick,
}

/// What a player keeps of fighting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fight {
    /// As anybody.
    pub clash: Clash,
    /// Whom it attacks.
    pub aim: Option<Aim>,
    /// It has no health left.
    pub dying: Option<Dying>,
    /// Where it has been for a while.
    pub haunt: Option<AggressionTolerance>,
    /// When its client last asked for something.
    pub heard_at: Tick,
    /// It came into the world, and its client has asked for nothing since: until then beasts let
    /// it be.
    pub shy_until: Tick,
    /// How far its prayers are on the way to the next point.
    pub drained: u32,
}

impl Fight {
    /// Whether it may leave the world at `now`.
    pub(crate) fn may_leave(&self, now: Tick) -> bool {
        !self.clash.within(now, LEAVE_TICKS)
    }

    /// All that is due is due so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.clash.delay(ticks);
        self.heard_at = self.heard_at.after(ticks);
        self.shy_until = self.shy_until.after(ticks);
        if let Some(dying) = &mut self.dying {
            dying.until = dying.until.after(ticks);
        }
        if let Some(haunt) = &mut self.haunt {
            haunt.since = haunt.since.after(ticks);
        }
    }
}

/// What an NPC keeps of fighting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NpcCombat {
    /// As anybody.
    pub(crate) clash: Clash,
    /// Whom it is after.
    pub(crate) target: Option<CharacterId>,
    /// It was in reach of its target when it last looked.
    pub(crate) near: bool,
    /// Who hurt it how much, in the order of the first blows.
    pub(crate) hurt_by: Vec<(CharacterId, u32)>,
    /// It goes home and heeds nobody.
    pub(crate) returning: bool,
    /// For how many ticks it has not come nearer to its home.
    pub(crate) stuck_ticks: u32,
    /// It is dead until then.
    pub(crate) back_at: Option<Tick>,
}

impl NpcCombat {
    /// All that is due is due so many ticks later.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.clash.delay(ticks);
        self.back_at = self.back_at.map(|at| at.after(ticks));
    }
}

/// A blow that landed, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// When.
    pub tick: Tick,
    /// Who dealt it.
    pub attacker: EntityId,
    /// Whom it struck.
    pub target: EntityId,
    /// Where that stood.
    pub tile: Tile,
    /// How much it hurt; 0: not at all.
    pub damage: u32,
    /// What sort of blow.
    pub kind: HitKind,
    /// The target's health after it.
    pub health: u32,
    /// The target's health when well.
    pub max_health: u32,
    /// It was its last.
    pub killed: bool,
}

/// The style in which somebody fights now, and those that its weapon allows.
pub fn styles_of(content: &Content, record: &PlayerRecord) -> (Style, &'static [Style]) {
    let sort = fighter::weapon_sort(content, record);
    (style::in_use(&record.ways, sort), style::allowed(sort))
}

/// A request about fighting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Go up to somebody and fight it.
    Attack {
        /// Whom.
        target: EntityId,
    },
    /// Fight in that style from now on.
    Style(Style),
    /// Turn to whoever attacks one (`true`), or not.
    Retaliate(bool),
    /// Cast that spell in fights from now on; `None`: none.
    Autocast {
        /// Which.
        spell: Option<Arc<str>>,
    },
}

/// A fact about a fight that one player is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A blow landed that it dealt or took.
    Hit {
        /// Who.
        who: CharacterId,
        /// Which.
        hit: Hit,
    },
    /// What it has chosen of fighting has changed, or what its weapon allows.
    Settings {
        /// Whose.
        who: CharacterId,
    },
}

impl Event {
    /// The player who is told.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Hit { who, .. } | Event::Settings { who, .. } => who,
        }
    }
}
