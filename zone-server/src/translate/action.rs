//! `player:action`.

use proto::client::{ErrorCode, action::PlayerAction};
use world::{EntityId, Intent, Trade};

use super::Refused;

/// What the data ask, if this world knows it.
pub(crate) fn intent(asked: &PlayerAction) -> Result<Intent, Refused> {
    if let Some(trade) = Trade::named(&asked.action) {
        return Ok(Intent::Make {
            trade,
            what: asked.option.as_deref().map(Into::into),
            target: asked.target.as_deref().map(EntityId::from),
            quantity: asked.quantity,
        });
    }
    let target = |what: &str| {
        let target = asked.target.as_deref().ok_or_else(|| Refused {
            code: ErrorCode::InvalidData,
            words: format!("target: what is to be {what}"),
        })?;
        Ok::<_, Refused>(EntityId::from(target))
    };
    match asked.action.as_str() {
        "examine" => Ok(Intent::Examine {
            target: target("examined")?,
        }),
        "pickup" | "loot" => Ok(Intent::Pickup {
            target: target("picked up")?,
        }),
        "gather" => Ok(Intent::Gather {
            target: target("gathered")?,
        }),
        "talk" => Ok(Intent::Talk {
            target: target("talked with")?,
        }),
        "follow" => Ok(Intent::Follow {
            target: target("followed")?,
        }),
        "attack" => Ok(Intent::Attack {
            target: target("attacked")?,
        }),
        "pray-altar" => Ok(Intent::PrayAt {
            target: target("prayed at")?,
        }),
        "respawn" => Ok(Intent::Respawn),
        "home-teleport" => Ok(Intent::HomeTeleport),
        _ => Err(Refused {
            code: ErrorCode::Unsupported,
            words: "this cannot be done in this world yet".to_owned(),
        }),
    }
}
