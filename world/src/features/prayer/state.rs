//! State of prayer, and what the active prayers do.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::{AttackType, Content, Prayer};
use crate::features::combat::state::HitKind;

/// Saved prayer state: points and prayers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrayerState {
    /// Points left.
    pub points: u32,
    /// The prayers that are on, by id; five at most.
    pub active: BTreeSet<Arc<str>>,
}

/// Multipliers of a player's levels from prayer, in thousandths; of several the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Multipliers {
    pub(crate) attack: u32,
    pub(crate) strength: u32,
    pub(crate) defense: u32,
    pub(crate) ranged_attack: u32,
    pub(crate) ranged_strength: u32,
    pub(crate) magic_attack: u32,
    pub(crate) magic_defense: u32,
}

/// A multiplier of 1, in thousandths.
const ONE: u32 = 1_000;

impl PrayerState {
    /// Returns the prayers that are on.
    pub(super) fn on<'a>(&self, content: &'a Content) -> impl Iterator<Item = &'a Arc<Prayer>> {
        let on = self.active.iter();
        on.filter_map(|id| content.prayers().get(id))
    }

    /// Returns the multipliers of the prayers that are on.
    pub(crate) fn multipliers(&self, content: &Content) -> Multipliers {
        let most = |of: fn(&Prayer) -> u32| {
            let all = self.on(content).map(|prayer| of(prayer));
            all.max().unwrap_or(ONE)
        };
        Multipliers {
            attack: most(|p| p.attack_thousandths),
            strength: most(|p| p.strength_thousandths),
            defense: most(|p| p.defense_thousandths),
            ranged_attack: most(|p| p.ranged_attack_thousandths),
            ranged_strength: most(|p| p.ranged_strength_thousandths),
            magic_attack: most(|p| p.magic_attack_thousandths),
            magic_defense: most(|p| p.magic_defense_thousandths),
        }
    }

    /// Returns the damage left of a blow after protection from its sort. Of a beast's blow nothing
    /// is left, of a player's three fifths; without protection, all of it.
    pub(crate) fn spared(
        &self,
        content: &Content,
        kind: HitKind,
        damage: u32,
        by_player: bool,
    ) -> u32 {
        let sort = match kind {
            HitKind::Melee => AttackType::Melee,
            HitKind::Ranged => AttackType::Ranged,
            HitKind::Magic => AttackType::Magic,
        };
        let mut on = self.on(content);
        let protected = on.any(|prayer| prayer.protects_from.as_ref() == Some(&sort));
        match (protected, by_player) {
            (false, _) => damage,
            (true, true) => damage * 3 / 5,
            (true, false) => 0,
        }
    }

    /// Restores the points of a character of that level in prayer. Returns whether the number of
    /// points changed.
    pub(crate) fn fill(&mut self, level: u32) -> bool {
        let before = std::mem::replace(&mut self.points, level);
        before != level
    }

    /// Caps saved points at the level in prayer, and turns all prayers off without points.
    pub(crate) fn settle(&mut self, level: u32) {
        self.points = self.points.min(level);
        if self.points == 0 {
            self.active.clear();
        }
    }
}
