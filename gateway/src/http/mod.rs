//! What is answered over HTTP. The list of routes stands in [`router`].

pub(crate) mod address;
mod ask;
mod auth;
pub(crate) mod body;
mod codes;
pub(crate) mod cors;
mod env_js;
pub(crate) mod frontend;
mod limited;
pub(crate) mod manifests;
mod moderation;
mod page;
pub(crate) mod patient;
mod probes;
pub(crate) mod problem;
pub(crate) mod proxies;
pub(crate) mod router;
mod stored;
mod terrain;
mod upgrade;
mod voice;
