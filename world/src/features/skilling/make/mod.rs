//! Making things by recipes, alone or at something.

pub(crate) mod choose;
pub(crate) mod recipe;
pub(super) mod rules;
pub(crate) mod tick;

use std::sync::Arc;

use crate::entity::ids::EntityId;
use crate::features::skilling::RecipeKind;

/// A request to make something.
pub(crate) struct Request {
    pub(crate) trade: RecipeKind,
    pub(crate) what: Option<Arc<str>>,
    pub(crate) target: Option<EntityId>,
    pub(crate) quantity: Option<u32>,
}
