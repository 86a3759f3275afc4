//! The field `potion` of an item: the effects of one dose, and the item that is left after it.

use std::sync::Arc;

use super::{ItemKind, Items};
use crate::content::fields::Fields;
use crate::content::reader::{Defect, Of};
use crate::features::training::skill::Skill;

/// Skills whose boosts count somewhere in the rules.
const BOOSTED: [Skill; 5] = [
    Skill::Attack,
    Skill::Strength,
    Skill::Defense,
    Skill::Ranged,
    Skill::Magic,
];

/// One dose of a potion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Potion {
    /// Effects of drinking it, in order.
    pub effects: Vec<PotionEffect>,
    /// Item that is left: the same potion with a dose less, or an empty vial.
    pub leaves: Arc<str>,
}

/// Effect of a dose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PotionEffect {
    /// Raises a level for a while.
    Boost {
        /// Skill of the level.
        skill: Skill,
        /// Levels on top, the same at any level.
        levels: u32,
        /// Hundredths of the level on top of these.
        percent: u32,
    },
    /// Gives prayer points back.
    Prayer {
        /// Points, the same at any level.
        points: u32,
        /// Hundredths of the level in prayer on top of these.
        percent: u32,
    },
    /// Gives run energy back.
    Energy {
        /// Hundredths of full energy.
        percent: u32,
    },
    /// Ends poison, and keeps new poison off.
    Cure {
        /// Ticks for which no poison takes.
        safe_ticks: u32,
    },
}

impl Items {
    /// Returns the dose that `item` is; `None`: it is no potion.
    pub(crate) fn dose(&self, item: &str) -> Option<&Potion> {
        self.get(item)?.potion.as_ref()
    }

    /// Returns the dose that `item` is, if one can drink it: the content knows what it leaves.
    pub(crate) fn drinkable(&self, item: &str) -> Option<&Potion> {
        self.dose(item)
            .filter(|potion| self.contains(&potion.leaves))
    }

    /// Returns the potion that has a dose more than `item`; `None`: `item` is no potion, or is
    /// full.
    pub(crate) fn fuller(&self, item: &str) -> Option<&Arc<str>> {
        self.dose(item)?;
        let leaves = |kind: &&Arc<ItemKind>| {
            let potion = kind.potion.as_ref();
            potion.is_some_and(|potion| *potion.leaves == *item)
        };
        self.iter().find(leaves).map(|kind| &kind.id)
    }
}

/// Reads the potion that an item is; returns `None`, with a warning, if nothing is left of it or it
/// does nothing.
pub(super) fn read(item: &Fields<'_>) -> Option<Potion> {
    let fields = item.object("potion")?;
    fields.key("leaves")?;
    let effects = fields.objects("effects");
    let effects: Vec<PotionEffect> = effects.iter().filter_map(effect).collect();
    if effects.is_empty() {
        fields.warn("effects", "there is none, nobody drinks it");
        return None;
    }
    Some(Potion {
        effects,
        leaves: fields.refer("leaves", Of::Item, "nobody can drink it"),
    })
}

fn effect(fields: &Fields<'_>) -> Option<PotionEffect> {
    let percent = fields.count_or("percent", 0).min(1_000);
    match fields.text_or("type", "").to_lowercase().as_str() {
        "boost" => {
            let skill = fields
                .skill("skill")
                .filter(|skill| BOOSTED.contains(skill));
            if skill.is_none() {
                fields.warn(
                    "skill",
                    "must be a skill of fighting, the effect is skipped",
                );
            }
            Some(PotionEffect::Boost {
                skill: skill?,
                levels: fields.count_or("levels", 0).min(99),
                percent,
            })
        }
        "prayer" => Some(PotionEffect::Prayer {
            points: fields.count_or("points", 0).min(99),
            percent,
        }),
        "energy" => Some(PotionEffect::Energy { percent }),
        "cure" => Some(PotionEffect::Cure {
            safe_ticks: fields.count_or("safeTicks", 0),
        }),
        other => {
            let what = format!("the rules know no effect {other:?} of a potion, skipped");
            fields.defect(Defect::Unknown, "type", &what);
            None
        }
    }
}
