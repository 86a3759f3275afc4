//! Talking with NPCs: what is asked, and what is told.

use proto::client::dialogue::{DialogueNode, DialogueRespond, DialogueResponse};
use world::{Intent, Said};

/// `dialogue:respond`.
pub(crate) fn respond(asked: DialogueRespond) -> Intent {
    Intent::Respond { index: asked.index }
}

/// What is said.
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
