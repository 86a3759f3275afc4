//! `recipes/tanning.json`.

use std::sync::Arc;

use super::item;
use crate::content::fields::Fields;

/// A hide that can be tanned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tanning {
    /// The hide.
    pub input: Arc<str>,
    /// What comes of it.
    pub output: Arc<str>,
    /// In coins, for one.
    pub cost: u32,
    /// As players see it.
    pub name: Arc<str>,
}

pub(super) fn read(fields: &Fields<'_>) -> Option<(String, Tanning)> {
    let input = item(fields, "input")?;
    let output = item(fields, "output")?;
    let recipe = Tanning {
        input: Arc::clone(&input),
        output,
        cost: fields.count_or("cost", 0),
        name: fields.text("name"),
    };
    Some((input.to_string(), recipe))
}
