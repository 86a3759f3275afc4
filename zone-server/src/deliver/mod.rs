//! From what happened in a tick to frames for gateways.

pub(crate) mod encoded;
pub(crate) mod held;
pub(crate) mod links;
pub(crate) mod published;
