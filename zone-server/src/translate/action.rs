//! `player:action`.

use proto::client::{ErrorCode, action::PlayerAction};
use world::{EntityId, Intent};

use super::Refused;

/// What the data ask, if this world knows it.
pub(crate) fn intent(asked: &PlayerAction) -> Result<Intent, Refused> {
    match asked.action.as_str() {
        "examine" => {
            let target = asked.target.as_deref().ok_or_else(|| Refused {
                code: ErrorCode::InvalidData,
                words: "target: what is to be examined".to_owned(),
            })?;
            Ok(Intent::Examine {
                target: EntityId::from(target),
            })
        }
        "pickup" => {
            let target = asked.target.as_deref().ok_or_else(|| Refused {
                code: ErrorCode::InvalidData,
                words: "target: what is to be picked up".to_owned(),
            })?;
            Ok(Intent::Pickup {
                target: EntityId::from(target),
            })
        }
        "attack" => {
            let target = asked.target.as_deref().ok_or_else(|| Refused {
                code: ErrorCode::InvalidData,
                words: "target: who is to be attacked".to_owned(),
            })?;
            Ok(Intent::Attack {
                target: EntityId::from(target),
            })
        }
        "pray-altar" => {
            let target = asked.target.as_deref().ok_or_else(|| Refused {
                code: ErrorCode::InvalidData,
                words: "target: the altar at which to pray".to_owned(),
            })?;
            Ok(Intent::PrayAt {
                target: EntityId::from(target),
            })
        }
        "respawn" => Ok(Intent::Respawn),
        "home-teleport" => Ok(Intent::HomeTeleport),
        _ => Err(Refused {
            code: ErrorCode::Unsupported,
            words: "this cannot be done in this world yet".to_owned(),
        }),
    }
}
