//! Using an item for its own effect: a player eats food, drinks potions, buries bones and rubs
//! lamps.
//!
//! Always: when the effect is there, the item is gone.

mod rules;
pub(crate) mod tick;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entity::ids::EntityId;
use crate::features::duel::Conduct;
use crate::features::skilling;
use crate::features::trade::Screen;
use crate::features::training::skill::Skill;
use crate::wire::{self, BadRequest};

/// Request to use an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Intent {
    /// Uses the item in a slot of the pack for its own effect: eats, buries or rubs it.
    Use {
        /// Slot of the pack.
        slot: u8,
        /// Skill to learn from a lamp; nothing else needs it.
        skill: Option<Skill>,
    },
}

impl Intent {
    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::Use { slot, .. } => Conduct::Use(*slot),
        }
    }
}

/// Requests of a client to use an item.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) enum Packet {
    /// Uses the item in a slot for its own effect (eats it, buries it, rubs it), or on something.
    #[serde(rename = "inventory:use")]
    Use {
        /// Slot of the pack, 0 to 27.
        slot: u8,
        /// Object of the use: a number is another slot, a text is an entity.
        target: Option<Target>,
        /// Skill to learn from a lamp, by its name. Only without `target`.
        skill: Option<String>,
    },
}

/// Object on which a player uses an item.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Target {
    /// Item in another slot, 0 to 27.
    Slot(u8),
    /// Entity's id, at most 64 bytes.
    Entity(EntityId),
}

/// More bytes than the name of any skill has.
const SKILL_BYTES: usize = 32;

/// Intent of a packet: an item has its own effect, or a player works with it.
pub(crate) enum Meant {
    /// Uses the item for its own effect.
    Use(Intent),
    /// Works with the item.
    Work(skilling::Intent),
}

impl wire::Requests for Packet {
    type Intent = Meant;

    fn intent(self, _: Screen) -> Result<Meant, BadRequest> {
        let Packet::Use {
            slot,
            target,
            skill,
        } = self;
        wire::slot("slot", slot)?;
        if let Some(skill) = &skill {
            wire::within(target.is_none(), || "skill: only without target".to_owned())?;
            wire::within((1..=SKILL_BYTES).contains(&skill.len()), || {
                format!("skill: 1 to {SKILL_BYTES} bytes")
            })?;
        }
        Ok(match target {
            None => {
                let skill = skill.as_deref().map(known).transpose()?;
                Meant::Use(Intent::Use { slot, skill })
            }
            Some(Target::Slot(other)) => {
                wire::within(other != slot, || "target: another slot".to_owned())?;
                wire::slot("target", other)?;
                Meant::Work(skilling::Intent::UseWith { slot, other })
            }
            Some(Target::Entity(target)) => {
                wire::within(target.as_str().len() <= 64, || {
                    "target: at most 64 bytes".to_owned()
                })?;
                Meant::Work(skilling::Intent::UseOn { slot, target })
            }
        })
    }
}

fn known(name: &str) -> Result<Skill, BadRequest> {
    let skill = Skill::named(name);
    skill.ok_or_else(|| format!("skill: one of {}", Skill::NAMES.join(", ")).into())
}
