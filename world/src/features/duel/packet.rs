//! Requests of an open duel, as clients send them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{DuelRule, DuelStage, Intent};
use crate::content::EquipSlot;
use crate::entity::ids::EntityId;
use crate::features::trade::Screen;
use crate::refusal::Refusal;
use crate::wire::{self, BadRequest};

/// Requests of an open duel. Their words and numbers may be any: one that no duel has gets the code
/// of a duel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub(crate) enum Packet {
    /// Switches a rule on or off. Any change clears both agreements.
    #[serde(rename = "duel:toggle:rule")]
    Rule {
        /// Duel id.
        duel_id: EntityId,
        /// Rule: noRanged, noMelee, noMagic, noSpecialAttack, noPrayer, noPotions, noFood,
        /// noForfeit, noMovement, funWeapons.
        rule: String,
    },
    /// Forbids an equipment slot, or allows it again.
    #[serde(rename = "duel:toggle:equipment")]
    Bare {
        /// Duel id.
        duel_id: EntityId,
        /// Equipment slot: head, cape, amulet, weapon, body, shield, legs, gloves, boots, ring,
        /// ammo; helmet and arrows are understood as well.
        slot: String,
    },
    /// Agrees to the rules that the client shows.
    #[serde(rename = "duel:accept:rules")]
    AcceptRules {
        /// Duel id.
        duel_id: EntityId,
    },
    /// Stakes a quantity from one slot. It replaces any stake from that slot.
    #[serde(rename = "duel:add:stake")]
    Stake {
        /// Duel id.
        duel_id: EntityId,
        /// Slot of the pack, 0 to 27.
        inventory_slot: i64,
        /// Quantity, 1 up to the quantity in the slot.
        quantity: i64,
    },
    /// Withdraws a stake.
    #[serde(rename = "duel:remove:stake")]
    Unstake {
        /// Duel id.
        duel_id: EntityId,
        /// Place among the own stakes, from 0.
        stake_index: i64,
    },
    /// Agrees to the stakes that the client shows.
    #[serde(rename = "duel:accept:stakes")]
    AcceptStakes {
        /// Duel id.
        duel_id: EntityId,
    },
    /// Agrees to the fight, as the client shows it.
    #[serde(rename = "duel:accept:final")]
    AcceptFinal {
        /// Duel id.
        duel_id: EntityId,
    },
}

impl wire::Requests for Packet {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let agree = |duel, seen| Ok(Intent::Agree { duel, seen });
        let intent: Result<Intent, BadRequest> = match self {
            Packet::Rule { duel_id, rule } => {
                wire::id("rule", &rule)?;
                let rule = DuelRule::named(&rule).ok_or(Refusal::InvalidRule)?;
                Ok(Intent::Rule {
                    duel: duel_id,
                    rule,
                })
            }
            Packet::Bare { duel_id, slot } => {
                wire::id("slot", &slot)?;
                let place = EquipSlot::named(&slot).ok_or(Refusal::InvalidSlot)?;
                Ok(Intent::Bare {
                    duel: duel_id,
                    place,
                })
            }
            Packet::Stake {
                duel_id,
                inventory_slot,
                quantity,
            } => Ok(Intent::Stake {
                duel: duel_id,
                slot: wire::exchanged_slot(inventory_slot)?,
                quantity: wire::exchanged_quantity(quantity)?,
            }),
            Packet::Unstake {
                duel_id,
                stake_index,
            } => Ok(Intent::Unstake {
                duel: duel_id,
                place: wire::exchanged_slot(stake_index)?,
            }),
            Packet::AcceptRules { duel_id } => agree(duel_id, DuelStage::Rules),
            Packet::AcceptStakes { duel_id } => agree(duel_id, DuelStage::Stakes),
            Packet::AcceptFinal { duel_id } => agree(duel_id, DuelStage::Confirming),
        };
        wire::Requests::intent(intent?, Screen::Offer)
    }
}
