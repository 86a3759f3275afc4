//! `player:action`: one event for many requests, which one word distinguishes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Intent;
use crate::entity::ids::EntityId;
use crate::features::skilling::{MAKE_MAX, RecipeKind};
use crate::features::trade::Screen;
use crate::features::unresolved::InPack;
use crate::features::{
    combat, death, dialogue, examine, ground_items, home_teleport, movement, prayer, skilling,
    trade, unresolved,
};
use crate::item::SLOTS;
use crate::refusal::Refusal;
use crate::wire::{self, BadRequest};

/// Request of a client to act on something.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) enum Packet {
    /// Acts on something.
    #[serde(rename = "player:action")]
    Act {
        /// Action: attack, follow, trade, gather, talk, open, pickup, loot, examine, pray-altar,
        /// use, bury, cook, light, smelt, smith, craft, fletch, tan, runecraft, home-teleport,
        /// respawn. `open` opens the target's service: a bank, a shop, else a talk.
        action: String,
        /// Entity on which the player acts.
        target: Option<EntityId>,
        /// Choice, if there are several. Cook, light and tan take the item. Smelt, smith, craft and
        /// fletch take the product. Use and bury take the item or its slot in the pack, 0 to 27.
        option: Option<String>,
        /// Number of things to make, 1 to 10000; as many as possible, if absent.
        quantity: Option<u32>,
    },
}

impl wire::Requests for Packet {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let Packet::Act {
            action,
            target,
            option,
            quantity,
        } = self;
        wire::within((1..=32).contains(&action.len()), || {
            "action: 1 to 32 bytes".to_owned()
        })?;
        let short = |text: Option<&str>| text.is_none_or(|text| text.len() <= 64);
        let short = short(target.as_ref().map(EntityId::as_str)) && short(option.as_deref());
        wire::within(short, || "target, option: at most 64 bytes".to_owned())?;
        let fits = quantity.is_none_or(|many| (1..=MAKE_MAX).contains(&many));
        wire::within(fits, || format!("quantity: 1 to {MAKE_MAX}"))?;
        if let Some(trade) = RecipeKind::named(&action) {
            let made = skilling::Intent::Make {
                trade,
                what: option.as_deref().map(Into::into),
                target,
                quantity,
            };
            return Ok(made.into());
        }
        meant(&action, target, option.as_deref())
    }
}

/// Returns the intent of an action that makes nothing.
fn meant(
    action: &str,
    target: Option<EntityId>,
    option: Option<&str>,
) -> Result<Intent, BadRequest> {
    let at = |what: &str| {
        let missing = || format!("target: what is to be {what}");
        target.clone().ok_or_else(missing)
    };
    Ok(match action {
        "examine" => examine::Intent::Examine {
            target: at("examined")?,
        }
        .into(),
        "pickup" | "loot" => ground_items::Intent::Pickup {
            target: at("picked up")?,
        }
        .into(),
        "gather" => skilling::Intent::Gather {
            target: at("gathered")?,
        }
        .into(),
        "talk" => dialogue::Intent::Talk {
            target: at("talked with")?,
        }
        .into(),
        "follow" => movement::Intent::Follow {
            target: at("followed")?,
        }
        .into(),
        "attack" => combat::Intent::Attack {
            target: at("attacked")?,
        }
        .into(),
        "pray-altar" => prayer::Intent::PrayAt {
            target: at("prayed at")?,
        }
        .into(),
        "trade" => trade::Intent::Ask {
            target: at("traded with")?,
        }
        .into(),
        "open" => unresolved::Intent::Open {
            target: at("opened")?,
        }
        .into(),
        "use" => unresolved::Intent::Use {
            what: in_pack(option)?,
            target,
        }
        .into(),
        "bury" => unresolved::Intent::Bury {
            what: in_pack(option)?,
        }
        .into(),
        "respawn" => death::Intent::Respawn.into(),
        "home-teleport" => home_teleport::Intent::Begin.into(),
        _ => return Err(Refusal::Unsupported.into()),
    })
}

/// Returns the thing that the option names: digits are a slot.
fn in_pack(option: Option<&str>) -> Result<InPack, BadRequest> {
    let refused = || {
        BadRequest::Data(format!(
            "option: a slot of the pack, 0 to {}, or an item",
            SLOTS - 1
        ))
    };
    let option = option.filter(|option| !option.is_empty());
    let option = option.ok_or_else(refused)?;
    if !option.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(InPack::Item(option.into()));
    }
    let slot = option.parse().ok().filter(|slot| *slot < SLOTS);
    slot.map(InPack::Slot).ok_or_else(refused)
}
