//! `recipes/tanning.json`.

use std::sync::Arc;

use super::item;
use crate::content::fields::Fields;

/// Hide that players can tan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tanning {
    /// Hide.
    pub input: Arc<str>,
    /// Product.
    pub output: Arc<str>,
    /// Price of one, in coins.
    pub cost: u32,
    /// Name that players see.
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
