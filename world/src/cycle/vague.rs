//! What is meant by an intent that leaves a part open.

use crate::ids::CharacterId;
use crate::intent::{Intent, Shopping};
use crate::interface::Interface;
use crate::player::Player;
use crate::refusal::Refusal;
use crate::vague::{InPack, Vague};
use crate::world::World;

impl World {
    /// `intent`, with all that it left open.
    ///
    /// # Errors
    /// `EmptySlot`, `NotEnough`: there is no such thing in the pack; `Unsupported`: it is not
    /// buried, or the target offers nothing that could be opened.
    pub(super) fn meant(&self, who: &CharacterId, intent: Intent) -> Result<Intent, Refusal> {
        let Intent::Vague(vague) = intent else {
            return Ok(intent);
        };
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        Ok(match vague {
            Vague::Open { target } => {
                // Who is not here is asked for as if to talk.
                let Some(host) = self.host(&target) else {
                    return Ok(Intent::Talk { target });
                };
                let talk = Interface::Dialogue { node: "".into() };
                if host.offers(&Interface::Bank) {
                    Intent::OpenBank { target }
                } else if host.offers(&Interface::Shop) {
                    Intent::Shop(Shopping::Open { target })
                } else if host.offers(&talk) {
                    Intent::Talk { target }
                } else {
                    return Err(Refusal::Unsupported);
                }
            }
            Vague::Use { what, target } => {
                let slot = slot(player, &what)?;
                match target {
                    Some(target) => Intent::UseOn { slot, target },
                    None => Intent::Use { slot, skill: None },
                }
            }
            Vague::Bury { what } => {
                let slot = slot(player, &what)?;
                let there = player.record.inventory.get(&slot);
                let there = there.ok_or(Refusal::EmptySlot)?;
                let kind = self.content.item(&there.item);
                let buried = kind.is_some_and(|kind| kind.bury_xp_tenths > 0);
                if !buried {
                    return Err(Refusal::Unsupported);
                }
                Intent::Use { slot, skill: None }
            }
        })
    }
}

/// Where in the pack it lies.
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
