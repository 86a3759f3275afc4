//! Presence: the gateway of each character in play, for other gateways to read. Pure: the entries
//! and their time to live.
//!
//! Always: an entry ends by itself when nobody renews it, so a gateway that dies leaves nothing
//! behind for long.

use std::time::Duration;

use proto::topics::{self, Presence, PresenceChange};

/// Pause between two renewals.
pub(crate) const RENEW: Duration = Duration::from_secs(10);
/// Time without a sign of life after which a gateway counts as gone: it gives one at each renewal.
pub(crate) const SILENT: Duration = RENEW
    .saturating_mul(2)
    .saturating_add(Duration::from_secs(2));
/// Time that an entry lives without a renewal.
pub(crate) const TIME_TO_LIVE: Duration = Duration::from_secs(30);

/// Character that a session plays here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Present {
    pub(crate) session_id: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) name: String,
    /// Epoch of the login that plays it.
    pub(crate) session_epoch: u64,
    /// Language of its client, if global chat has one for it.
    pub(crate) language: Option<String>,
}

impl Present {
    /// Returns its place, for the bus.
    fn presence(&self, gateway_id: &str) -> Presence {
        Presence {
            gateway_id: gateway_id.to_owned(),
            session_id: self.session_id.clone(),
            account_id: self.account_id.clone(),
            session_epoch: self.session_epoch,
        }
    }

    /// Returns the news that it came or left.
    pub(crate) fn change(&self, gateway_id: &str, online: bool) -> PresenceChange {
        PresenceChange {
            online,
            gateway_id: gateway_id.to_owned(),
            session_epoch: self.session_epoch,
        }
    }

    /// Returns its entries for the bus: its place, and the owner of its name.
    pub(crate) fn entries(&self, gateway_id: &str) -> [(String, String); 2] {
        let presence = proto::encode::json_text(&self.presence(gateway_id));
        [
            (topics::presence(&self.character_id), presence),
            (topics::presence_name(&self.name), self.character_id.clone()),
        ]
    }
}

/// Reads a character's place from its entry on the bus.
pub(crate) fn read(text: &str) -> Option<Presence> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_outlives_two_lost_renewals() {
        assert!(TIME_TO_LIVE >= RENEW * 3);
    }

    #[test]
    fn names_are_found_whatever_their_case() {
        let present = Present {
            session_id: "s".to_owned(),
            account_id: "a".to_owned(),
            character_id: "c".to_owned(),
            name: "Ann Lee".to_owned(),
            session_epoch: 3,
            language: None,
        };
        let [(key, value), (name_key, id)] = present.entries("g");
        assert_eq!(key, "presence:c");
        let read = read(&value).unwrap();
        assert_eq!(
            (read.gateway_id.as_str(), read.session_id.as_str()),
            ("g", "s")
        );
        assert_eq!(name_key, topics::presence_name("ANN LEE"));
        assert_eq!(id, "c");
    }
}
