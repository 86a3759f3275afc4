//! `player:action`.

use proto::{
    client::{ErrorCode, action::PlayerAction},
    rpc::zone::v1::Input,
};
use world::{
    EntityId, InPack, Intent, RecipeKind, combat, death, dialogue, examine, ground_items,
    home_teleport, item::SLOTS, movement, prayer, skilling, trade, unresolved,
};

use super::Refused;

const EVENT: &str = "player:action";
const TRADE: &str = "trade";

/// Returns the intent that the data ask, if this world knows it.
pub(crate) fn intent(asked: &PlayerAction) -> Result<Intent, Refused> {
    if let Some(trade) = RecipeKind::named(&asked.action) {
        return Ok(Intent::Skilling(skilling::Intent::Make {
            trade,
            what: asked.option.as_deref().map(Into::into),
            target: asked.target.as_deref().map(EntityId::from),
            quantity: asked.quantity,
        }));
    }
    let target = |what: &str| {
        let target = asked.target.as_deref().ok_or_else(|| Refused {
            code: ErrorCode::InvalidData,
            words: format!("target: what is to be {what}"),
        })?;
        Ok::<_, Refused>(EntityId::from(target))
    };
    match asked.action.as_str() {
        "examine" => Ok(Intent::Examine(examine::Intent::Examine {
            target: target("examined")?,
        })),
        "pickup" | "loot" => Ok(Intent::GroundItems(ground_items::Intent::Pickup {
            target: target("picked up")?,
        })),
        "gather" => Ok(Intent::Skilling(skilling::Intent::Gather {
            target: target("gathered")?,
        })),
        "talk" => Ok(Intent::Dialogue(dialogue::Intent::Talk {
            target: target("talked with")?,
        })),
        "follow" => Ok(Intent::Movement(movement::Intent::Follow {
            target: target("followed")?,
        })),
        "attack" => Ok(Intent::Combat(combat::Intent::Attack {
            target: target("attacked")?,
        })),
        "pray-altar" => Ok(Intent::Prayer(prayer::Intent::PrayAt {
            target: target("prayed at")?,
        })),
        TRADE => Ok(Intent::Trade(trade::Intent::Ask {
            target: target("traded with")?,
        })),
        "open" => Ok(Intent::Unresolved(unresolved::Intent::Open {
            target: target("opened")?,
        })),
        "use" => Ok(Intent::Unresolved(unresolved::Intent::Use {
            what: in_pack(asked)?,
            target: asked.target.as_deref().map(EntityId::from),
        })),
        "bury" => Ok(Intent::Unresolved(unresolved::Intent::Bury {
            what: in_pack(asked)?,
        })),
        "respawn" => Ok(Intent::Death(death::Intent::Respawn)),
        "home-teleport" => Ok(Intent::HomeTeleport(home_teleport::Intent::Begin)),
        _ => Err(Refused {
            code: ErrorCode::Unsupported,
            words: "this cannot be done in this world yet".to_owned(),
        }),
    }
}

/// Returns the thing that the option names: digits are a slot.
fn in_pack(asked: &PlayerAction) -> Result<InPack, Refused> {
    let refused = || Refused {
        code: ErrorCode::InvalidData,
        words: format!("option: a slot of the pack, 0 to {}, or an item", SLOTS - 1),
    };
    let option = asked.option.as_deref().filter(|option| !option.is_empty());
    let option = option.ok_or_else(refused)?;
    if !option.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(InPack::Item(option.into()));
    }
    let slot = option.parse().ok().filter(|slot| *slot < SLOTS);
    slot.map(InPack::Slot).ok_or_else(refused)
}

/// Returns whether its failure is told as `tradeError`.
pub(super) fn asks_to_trade(input: &Input) -> bool {
    input.event == EVENT
        && serde_json::from_slice::<PlayerAction>(&input.data)
            .is_ok_and(|asked| asked.action == TRADE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(action: &str, target: Option<&str>, option: Option<&str>) -> PlayerAction {
        PlayerAction {
            action: action.to_owned(),
            target: target.map(ToOwned::to_owned),
            option: option.map(ToOwned::to_owned),
            quantity: None,
        }
    }

    /// All that the protocol lists, in its order.
    #[test]
    #[allow(clippy::too_many_lines, reason = "one row a word")]
    fn each_word_of_the_protocol_has_its_meaning() {
        let at = || EntityId::from("there");
        let bones = || InPack::Item("bones".into());
        let made = |trade| {
            Intent::Skilling(skilling::Intent::Make {
                trade,
                what: Some("bones".into()),
                target: Some(at()),
                quantity: None,
            })
        };
        let table = [
            (
                "attack",
                Intent::Combat(combat::Intent::Attack { target: at() }),
            ),
            (
                "gather",
                Intent::Skilling(skilling::Intent::Gather { target: at() }),
            ),
            (
                "talk",
                Intent::Dialogue(dialogue::Intent::Talk { target: at() }),
            ),
            (
                "use",
                Intent::Unresolved(unresolved::Intent::Use {
                    what: bones(),
                    target: Some(at()),
                }),
            ),
            (
                "pickup",
                Intent::GroundItems(ground_items::Intent::Pickup { target: at() }),
            ),
            (
                "follow",
                Intent::Movement(movement::Intent::Follow { target: at() }),
            ),
            ("trade", Intent::Trade(trade::Intent::Ask { target: at() })),
            (
                "examine",
                Intent::Examine(examine::Intent::Examine { target: at() }),
            ),
            (
                "pray-altar",
                Intent::Prayer(prayer::Intent::PrayAt { target: at() }),
            ),
            (
                "open",
                Intent::Unresolved(unresolved::Intent::Open { target: at() }),
            ),
            ("cook", made(RecipeKind::Cook)),
            ("light", made(RecipeKind::Light)),
            ("smelt", made(RecipeKind::Smelt)),
            ("smith", made(RecipeKind::Smith)),
            ("craft", made(RecipeKind::Craft)),
            ("fletch", made(RecipeKind::Fletch)),
            ("tan", made(RecipeKind::Tan)),
            (
                "bury",
                Intent::Unresolved(unresolved::Intent::Bury { what: bones() }),
            ),
            (
                "home-teleport",
                Intent::HomeTeleport(home_teleport::Intent::Begin),
            ),
            ("respawn", Intent::Death(death::Intent::Respawn)),
        ];
        for (word, meaning) in table {
            let asked = asked(word, Some("there"), Some("bones"));
            assert_eq!(intent(&asked), Ok(meaning), "{word}");
        }
    }

    #[test]
    fn what_is_used_is_named_by_its_slot_or_as_an_item() {
        let what = |option| intent(&asked("bury", None, option));
        let bury = |what| Ok(Intent::Unresolved(unresolved::Intent::Bury { what }));
        assert_eq!(what(Some("0")), bury(InPack::Slot(0)));
        assert_eq!(what(Some("27")), bury(InPack::Slot(27)));
        assert_eq!(what(Some("bones")), bury(InPack::Item("bones".into())));
        for wrong in [None, Some(""), Some("28"), Some("99999999999")] {
            let refused = what(wrong).unwrap_err();
            assert_eq!(refused.code, ErrorCode::InvalidData, "{wrong:?}");
        }
        let used = intent(&asked("use", None, None)).unwrap_err();
        assert_eq!(used.code, ErrorCode::InvalidData);
    }

    #[test]
    fn a_trade_that_comes_to_nothing_is_told_as_one() {
        let told = |event: &str, data: &'static str| {
            let input = Input {
                event: event.to_owned(),
                data: data.as_bytes().into(),
                ..Input::default()
            };
            let why = super::super::refusal::refused(world::Refusal::TooFar);
            super::super::error(&input, why).event
        };
        let trade = r#"{"action":"trade","target":"bob"}"#;
        assert_eq!(told("player:action", trade), "tradeError");
        let follow = r#"{"action":"follow","target":"bob"}"#;
        assert_eq!(told("player:action", follow), "error");
    }
}
