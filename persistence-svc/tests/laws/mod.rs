//! The laws, one module for each service.

pub(crate) mod accounts;
pub(crate) mod agents;
pub(crate) mod archive;
pub(crate) mod commits;
pub(crate) mod documents;
pub(crate) mod exchange;
pub(crate) mod gives;
pub(crate) mod hiscores;
pub(crate) mod identity;
pub(crate) mod items;
pub(crate) mod months;
pub(crate) mod newer;
pub(crate) mod passwords;
pub(crate) mod personal;
pub(crate) mod positions;
pub(crate) mod queries;
pub(crate) mod races;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod social;
pub(crate) mod stored;
pub(crate) mod value;
