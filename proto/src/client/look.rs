//! How a character looks, as its player chose it. The server only keeps and tells it; a page draws
//! it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// What is chosen, and among how many.
pub const CHOICES: [(&str, u8); 5] = [
    ("hair", 8),
    ("colour of the hair", 10),
    ("skin", 6),
    ("clothes", 10),
    ("trousers", 8),
];

/// A look: one digit for each of [`CHOICES`], in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Look(String);

/// The text is no look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a look has five digits: hair (0 to 7), colour of the hair (0 to 9), skin (0 to 5), clothes (0 \
     to 9), trousers (0 to 7)"
)]
pub struct NoLook;

impl TryFrom<String> for Look {
    type Error = NoLook;

    fn try_from(text: String) -> Result<Look, NoLook> {
        let fits = |(digit, (_, most)): (u8, (&str, u8))| (b'0'..b'0' + most).contains(&digit);
        let right = text.len() == CHOICES.len() && text.bytes().zip(CHOICES).all(fits);
        if right { Ok(Look(text)) } else { Err(NoLook) }
    }
}

impl From<Look> for String {
    fn from(look: Look) -> String {
        look.0
    }
}

impl JsonSchema for Look {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Look".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let digits = CHOICES.map(|(_, most)| format!("[0-{}]", most - 1));
        json_schema!({
            "type": "string",
            "pattern": format!("^{}$", digits.concat()),
            "description": NoLook.to_string(),
            "examples": ["21340"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_a_digit_for_each_choice() {
        let read = |text: &str| Look::try_from(text.to_owned()).map(String::from);
        for right in ["00000", "79597", "21340"] {
            assert_eq!(read(right).as_deref(), Ok(right));
        }
        for wrong in [
            "", "0", "0000", "000000", "80000", "00600", "00008", "0000a", "é000",
        ] {
            assert_eq!(read(wrong), Err(NoLook), "{wrong}");
        }
        let words = NoLook.to_string();
        for (what, most) in CHOICES {
            let choice = format!("{what} (0 to {})", most - 1);
            assert!(words.contains(&choice), "{choice}");
        }
    }
}
