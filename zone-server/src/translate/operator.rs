//! The acts of operators in the world, as gateways tell them. Each comes from a session that has
//! named the operators' code, or from an order by way of the store. No client can send one by
//! itself.

use proto::client::{ErrorCode, admin::OperatorTeleport};
use world::{Intent, Tile, movement};

use super::Refused;

/// Returns the intent that puts a character somewhere else.
pub(crate) fn teleport(data: &[u8]) -> Result<Intent, Refused> {
    let asked: OperatorTeleport = serde_json::from_slice(data).map_err(|error| Refused {
        code: ErrorCode::InvalidData,
        words: error.to_string(),
    })?;
    Ok(Intent::Movement(movement::Intent::Teleport {
        to: Tile::new(asked.x, asked.z),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_and_rubbish_is_refused() {
        let to = Tile::new(3, -4);
        assert_eq!(
            teleport(br#"{"x":3,"z":-4}"#),
            Ok(Intent::Movement(movement::Intent::Teleport { to }))
        );
        for rubbish in [
            &b""[..],
            b"{}",
            br#"{"x":1e9,"z":0}"#,
            br#"{"x":1,"z":2,"y":3}"#,
        ] {
            assert!(teleport(rubbish).is_err());
        }
    }
}
