//! State of fighters: their settings, their aims, and the blows on their way.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::entity::ids::{CharacterId, EntityId};
use crate::geometry::tile::{Region, Tile};
use crate::time::Tick;

/// Most blows on their way to one target.
pub(crate) const COMING_MAX: usize = 64;
/// Most players that an NPC remembers for having hurt it.
pub(crate) const HURT_BY_MAX: usize = 64;
/// Ticks for which a fighter is in combat after it gave or took a blow.
pub(crate) const COMBAT_TICKS: u64 = 17;
/// Ticks for which a player cannot leave the world after it gave or took a blow.
const LEAVE_TICKS: u64 = 16;

/// Style of fighting with the wielded weapon.
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
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "a style is its name")]
pub enum Style {
    Accurate,
    Aggressive,
    Defensive,
    Controlled,
    Rapid,
    Longrange,
    Autocast,
}

impl Style {
    /// All styles, in order.
    pub const ALL: &[Style] = Style::VARIANTS;

    /// Returns the style's name, as it is saved and sent.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the style called `name`.
    pub fn named(name: &str) -> Option<Style> {
        name.parse().ok()
    }
}

/// Sort of blow.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "a sort is its name")]
pub enum HitKind {
    Melee,
    Ranged,
    Magic,
}

impl HitKind {
    /// Returns the sort's name, as it is saved and sent.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Combat settings of a player; saved. If the weapon does not allow the style, the weapon's first
/// style counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CombatSettings {
    /// Chosen style.
    pub style: Style,
    /// Whether the player turns to its attackers.
    pub retaliates: bool,
    /// Spell that the player casts instead of using its weapon.
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

/// Target of a player's attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    /// Id of the target.
    pub target: EntityId,
    /// Region of the target.
    pub region: Region,
    /// Tile of the target when the player last looked for a way, or stood in reach.
    pub seen_at: Tile,
}

/// Other side of a fight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foe {
    /// Id of the foe.
    pub who: EntityId,
    /// Tick of the last attack.
    pub at: Tick,
}

/// Blow on its way to somebody. The dice decided its effect at the attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blow {
    /// Dealer of the blow.
    pub from: EntityId,
    /// Sort of blow.
    pub kind: HitKind,
    /// Style of the blow. It decides which skills the dealer trains.
    pub style: Style,
    /// Damage, if the target has so much health left.
    pub damage: u32,
    /// Experience for the spell itself, in tenths.
    pub cast_xp_tenths: u32,
    /// Tick at which the blow lands.
    pub lands_at: Tick,
}

/// Combat state of any fighter, player or NPC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clash {
    /// Tick from which it may attack again.
    pub attacks_at: Tick,
    /// Tick at which it last gave or took a blow.
    pub fought_at: Option<Tick>,
    /// Foe that it attacked last.
    pub attacked: Option<Foe>,
    /// Foe that attacked it last.
    pub attacked_by: Option<Foe>,
    /// Blows on their way to it, in the order of the attacks.
    pub coming: Vec<Blow>,
    /// Tick at which it next gets better by itself.
    pub mends_at: Tick,
}

impl Clash {
    /// Returns whether it is in combat at `now`.
    pub(crate) fn in_combat(&self, now: Tick) -> bool {
        self.within(now, COMBAT_TICKS)
    }

    /// Returns how many ticks ago it attacked somebody or was attacked, if that was at `begin` or
    /// later. Foes that have died do not count: their death clears them.
    pub(crate) fn since_blow(&self, begin: Tick, now: Tick) -> Option<u64> {
        let foes = [&self.attacked, &self.attacked_by].into_iter().flatten();
        let last = foes.map(|foe| foe.at).max()?;
        (last >= begin).then(|| now.since(last))
    }

    fn within(&self, now: Tick, ticks: u64) -> bool {
        self.fought_at.is_some_and(|at| now.since(at) < ticks)
    }

    /// Forgets all foes and times of attack. Blows on their way to it still come.
    pub(crate) fn forget(&mut self) {
        *self = Clash {
            mends_at: self.mends_at,
            coming: std::mem::take(&mut self.coming),
            ..Clash::default()
        };
    }

    /// Delays everything that is due by `ticks`.
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

/// State of a player without health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dying {
    /// Tick at which it stands up again.
    pub until: Tick,
}

/// Place where a player stays, and since when. After a while, beasts there leave it alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AggressionTolerance {
    /// Middle of the square.
    pub middle: Tile,
    /// Tick since which it has stayed there.
    pub since: Tick,
}

/// Combat state of a player.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fight {
    /// State that every fighter has.
    pub clash: Clash,
    /// Target that it attacks.
    pub aim: Option<Aim>,
    /// Its time without health, while it has none.
    pub dying: Option<Dying>,
    /// Place where it stays, for aggression tolerance.
    #[serde(rename = "haunt")]
    pub tolerance: Option<AggressionTolerance>,
    /// Tick of its client's last request.
    pub heard_at: Tick,
    /// Tick until which beasts leave it alone, after it came into the world. Its client's first
    /// request ends this.
    pub shy_until: Tick,
    /// Progress of its prayers towards the next point of drain.
    pub drained: u32,
}

impl Fight {
    /// Returns whether it may leave the world at `now`.
    pub(crate) fn may_leave(&self, now: Tick) -> bool {
        !self.clash.within(now, LEAVE_TICKS)
    }

    /// Delays everything that is due by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.clash.delay(ticks);
        self.heard_at = self.heard_at.after(ticks);
        self.shy_until = self.shy_until.after(ticks);
        if let Some(dying) = &mut self.dying {
            dying.until = dying.until.after(ticks);
        }
        if let Some(tolerance) = &mut self.tolerance {
            tolerance.since = tolerance.since.after(ticks);
        }
    }
}

/// Combat state of an NPC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NpcCombat {
    /// State that every fighter has.
    pub(crate) clash: Clash,
    /// Player that it is after.
    pub(crate) target: Option<CharacterId>,
    /// Whether it was in reach of its target when it last looked.
    pub(crate) near: bool,
    /// Players that hurt it, each with the damage, in the order of the first blows.
    pub(crate) hurt_by: Vec<(CharacterId, u32)>,
    /// Whether it goes home and heeds nobody.
    pub(crate) returning: bool,
    /// Ticks for which it has not come nearer to its home.
    pub(crate) stuck_ticks: u32,
    /// Tick until which it is dead.
    pub(crate) back_at: Option<Tick>,
}

impl NpcCombat {
    /// Delays everything that is due by `ticks`.
    pub(crate) fn delay(&mut self, ticks: u64) {
        self.clash.delay(ticks);
        self.back_at = self.back_at.map(|at| at.after(ticks));
    }
}
