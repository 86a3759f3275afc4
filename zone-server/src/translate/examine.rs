//! A good look at something, as a notice.

use proto::client::session::Notice;
use world::examine::Event;

use super::Told;

/// Returns what a player is told of what it looked at.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Examined { text, .. } => Told::now(&Notice {
            code: "examined".to_owned(),
            message: text.to_string(),
            level: "info".to_owned(),
        }),
    }
}
