//! Operators in the game: the code that makes an operator, and the commands of operators.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest reason or announcement, in characters.
const WORDS_MAX: usize = 200;
/// The longest ban or mute that has an end, in minutes: ten years.
const MINUTES_MAX: u32 = 5_256_000;
/// Farthest that a coordinate is from the origin, in tiles.
pub const COORDINATE_MAX: i32 = 1_000_000;

/// `admin:elevate`: makes the account the first operator, by the code.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdminElevate {
    /// The operators' code.
    pub code: String,
}

/// The code is not printed.
impl fmt::Debug for AdminElevate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminElevate")
    }
}

/// `admin:command`: a command of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdminCommand {
    /// Name of the command.
    pub command: AdminVerb,
    /// About whom, and how.
    #[serde(default)]
    pub args: AdminArgs,
}

/// Names of the operators' commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdminVerb {
    /// All sockets of an account close.
    Kick,
    /// Keeps an account out.
    Ban,
    /// Ends a ban.
    Unban,
    /// An account may not chat.
    Mute,
    /// Ends a mute.
    Unmute,
    /// Puts a character, or the operator's own, somewhere else.
    Teleport,
    /// Tells everybody in the world.
    Announce,
    /// Stops every exchange of items and coins.
    Freeze,
    /// Ends that.
    Unfreeze,
}

/// Arguments of a command. The fields that it takes depend on the command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdminArgs {
    /// A character's name: it, or whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An account, instead of a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Reason for the record and for the player whom it concerns, or the text of an announcement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Duration of a ban or mute in minutes; absent: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// Destination, in tiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<i32>,
    /// Destination, in tiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<i32>,
}

impl AdminCommand {
    /// Checks the arguments. The error names the fault in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let args = &self.args;
        let words = args.message.as_deref().unwrap_or_default();
        if words.chars().count() > WORDS_MAX || words.chars().any(char::is_control) {
            return Err(format!(
                "args.message: at most {WORDS_MAX} characters of one line"
            ));
        }
        let whom = usize::from(args.name.is_some()) + usize::from(args.account_id.is_some());
        let place = (args.x, args.z);
        match self.command {
            AdminVerb::Kick
            | AdminVerb::Ban
            | AdminVerb::Unban
            | AdminVerb::Mute
            | AdminVerb::Unmute
                if whom != 1 =>
            {
                return Err("args: one of name and accountId".to_owned());
            }
            AdminVerb::Announce if words.trim().is_empty() => {
                return Err("args.message: what is announced".to_owned());
            }
            AdminVerb::Teleport if args.account_id.is_some() => {
                return Err("args: the name of a character, or none for your own".to_owned());
            }
            AdminVerb::Teleport => match place {
                (Some(x), Some(z)) if x.abs().max(z.abs()) <= COORDINATE_MAX => {}
                _ => return Err(format!("args: x and z, at most {COORDINATE_MAX} each")),
            },
            _ => {}
        }
        if self.command != AdminVerb::Teleport && place != (None, None) {
            return Err("args: x and z are for teleport".to_owned());
        }
        let timed = matches!(self.command, AdminVerb::Ban | AdminVerb::Mute);
        match args.minutes {
            Some(_) if !timed => Err("args: minutes are for ban and mute".to_owned()),
            Some(minutes) if !(1..=MINUTES_MAX).contains(&minutes) => {
                Err(format!("args.minutes: 1 to {MINUTES_MAX}"))
            }
            _ => Ok(()),
        }
    }
}

/// Destination to which an operator moves a character, as the gateway tells the zone. No client can
/// send it, because the table has no such name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorTeleport {
    /// Destination, in tiles.
    pub x: i32,
    /// Destination, in tiles.
    pub z: i32,
}

/// The name of [`OperatorTeleport`] between gateway and zone.
pub const OPERATOR_TELEPORT: &str = "operator:teleport";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ClientMessage;

    fn read(data: &str) -> Result<ClientMessage, String> {
        let mut data = serde_json::Deserializer::from_str(data);
        ClientMessage::from_data("admin:command", &mut data).expect("a known event")
    }

    #[test]
    fn each_command_takes_just_what_it_needs() {
        for good in [
            r#"{"command":"kick","args":{"name":"Ann","message":"enough"}}"#,
            r#"{"command":"ban","args":{"accountId":"a","minutes":60}}"#,
            r#"{"command":"unban","args":{"accountId":"a"}}"#,
            r#"{"command":"teleport","args":{"x":-3,"z":4}}"#,
            r#"{"command":"teleport","args":{"name":"Ann","x":3,"z":4}}"#,
            r#"{"command":"announce","args":{"message":"Supper"}}"#,
            r#"{"command":"freeze"}"#,
        ] {
            assert!(read(good).is_ok(), "{good}");
        }
        for bad in [
            r#"{"command":"kick"}"#,
            r#"{"command":"kick","args":{"name":"Ann","accountId":"a"}}"#,
            r#"{"command":"kick","args":{"name":"Ann","minutes":1}}"#,
            r#"{"command":"ban","args":{"name":"Ann","minutes":0}}"#,
            r#"{"command":"teleport","args":{"x":1}}"#,
            r#"{"command":"teleport","args":{"x":1000001,"z":0}}"#,
            r#"{"command":"announce","args":{"message":" "}}"#,
            r#"{"command":"announce","args":{"message":"a\nb"}}"#,
            r#"{"command":"freeze","args":{"x":1}}"#,
            r#"{"command":"smite","args":{"name":"Ann"}}"#,
            r#"{"command":"kick","args":{"nmae":"Ann"}}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_client_can_send_what_gateways_tell_zones() {
        assert!(!ClientMessage::NAMES.contains(&OPERATOR_TELEPORT));
        assert!(!world::Intent::events().contains(&OPERATOR_TELEPORT));
    }

    #[test]
    fn the_code_is_not_printed() {
        let elevate = AdminElevate {
            code: "sesame".to_owned(),
        };
        assert!(!format!("{elevate:?}").contains("sesame"));
    }
}
