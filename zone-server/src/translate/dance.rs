//! Dances.

use proto::client::dance::DanceRound;
use world::emotes::Event;

use super::Told;

/// Returns what a player is told of a dance.
pub(crate) fn told(event: &Event) -> Told {
    let Event::Round {
        leader,
        emote,
        in_step,
        streak,
        dancers,
        ..
    } = event;
    Told::now(&DanceRound {
        leader: leader.to_string(),
        emote: emote.name().to_owned(),
        in_step: *in_step,
        streak: *streak,
        dancers: *dancers,
    })
}
