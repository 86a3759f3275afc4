//! Who somebody is: our own tokens and the identity provider's, the keys of anonymous accounts,
//! who is kept out, and how often one may try.
//!
//! In reading order: `tokens`, `device_key`, `admin_code` (what somebody shows); `key_set` and
//! `provider` (what the identity provider vouches for); `gates` and `watch` (who is kept out);
//! `caller` and `admission` (all of it together); `accounts` and `identity` (the store).

pub(crate) mod accounts;
pub(crate) mod admin_code;
pub(crate) mod admission;
pub(crate) mod attempts;
pub(crate) mod caller;
pub(crate) mod device_key;
pub(crate) mod gates;
pub(crate) mod identity;
mod key_set;
pub(crate) mod provider;
pub(crate) mod roles;
pub(crate) mod tokens;
pub(crate) mod watch;
