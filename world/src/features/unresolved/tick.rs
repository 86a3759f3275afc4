//! Resolves the open part of an unresolved intent.

use super::InPack;
use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::features::visit::Interface;
use crate::features::{bank, dialogue, shop, skilling, unresolved, use_item};
use crate::intent::Intent;
use crate::refusal::Refusal;
use crate::world::World;

impl World {
    /// Returns `intent` with its open parts resolved.
    ///
    /// # Errors
    /// `EmptySlot`, `NotEnough`: the pack has no such item; `Unsupported`: nobody can bury it, or
    /// the target offers nothing to open.
    pub(crate) fn meant(&self, who: &CharacterId, intent: Intent) -> Result<Intent, Refusal> {
        let Intent::Unresolved(unresolved) = intent else {
            return Ok(intent);
        };
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        Ok(match unresolved {
            unresolved::Intent::Open { target } => {
                // If the target is not here, the request is to talk.
                let Some(host) = self.host(&target) else {
                    return Ok(Intent::Dialogue(dialogue::Intent::Talk { target }));
                };
                let talk = Interface::Dialogue { node: "".into() };
                if host.offers(&Interface::Bank) {
                    Intent::Bank(bank::Intent::Open { target })
                } else if host.offers(&Interface::Shop) {
                    Intent::Shop(shop::Intent::Open { target })
                } else if host.offers(&talk) {
                    Intent::Dialogue(dialogue::Intent::Talk { target })
                } else {
                    return Err(Refusal::Unsupported);
                }
            }
            unresolved::Intent::Use { what, target } => {
                let slot = slot(player, &what)?;
                match target {
                    Some(target) => Intent::Skilling(skilling::Intent::UseOn { slot, target }),
                    None => Intent::UseItem(use_item::Intent::Use { slot, skill: None }),
                }
            }
            unresolved::Intent::Bury { what } => {
                let slot = slot(player, &what)?;
                let there = player.record.inventory.get(&slot);
                let there = there.ok_or(Refusal::EmptySlot)?;
                let kind = self.content.item(&there.item);
                let buried = kind.is_some_and(|kind| kind.bury_xp_tenths > 0);
                if !buried {
                    return Err(Refusal::Unsupported);
                }
                Intent::UseItem(use_item::Intent::Use { slot, skill: None })
            }
        })
    }
}

/// Returns the slot of the pack that holds the item.
fn slot(player: &Player, what: &InPack) -> Result<u8, Refusal> {
    match what {
        InPack::Slot(slot) => Ok(*slot),
        InPack::Item(item) => {
            let mut pack = player.record.inventory.iter();
            let there = pack.find(|(_, stack)| stack.item == *item);
            there.map(|(slot, _)| *slot).ok_or(Refusal::NotEnough)
        }
    }
}
