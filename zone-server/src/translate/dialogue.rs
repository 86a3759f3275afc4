//! Talking with NPCs: the requests and notifications.

use proto::client::dialogue::{DialogueNode, DialogueResponse};
use world::{Said, dialogue::Event};

use super::Told;

/// Returns the message that shows a node of a dialogue.
pub(crate) fn node(said: &Said) -> DialogueNode {
    let responses = said.answers.iter().map(|(index, text)| DialogueResponse {
        index: *index,
        text: text.to_string(),
    });
    DialogueNode {
        open: true,
        target: said.target.to_string(),
        name: said.name.to_string(),
        node: said.node.to_string(),
        text: said.text.to_string(),
        responses: responses.collect(),
    }
}

/// Returns what a player is told of a talk.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Said { said, .. } => Told::of_value(&node(said)),
    }
}
