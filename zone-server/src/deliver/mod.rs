//! Turns the events of a tick into frames for gateways.

pub(crate) mod encoded;
pub(crate) mod held;
mod json_fields;
pub(crate) mod links;
pub(crate) mod published;
