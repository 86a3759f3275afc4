//! Authentication: our own tokens and the identity provider's, the keys of anonymous accounts, the
//! sanctions that keep accounts out, and the limit of attempts.
//!
//! In reading order: `signatures`, `signing_keys`, `tokens`, `device_key`, `password`, `admin_code` (credentials); `key_set`
//! and `provider` (the identity provider's tokens); `sanctions` and `watch` (bans, mutes and
//! revocations); `caller` and `admission` (all of it together); `roles` and `operators`;
//! `accounts` and `identity` (the store).

pub(crate) mod accounts;
pub(crate) mod admin_code;
pub(crate) mod admission;
pub(crate) mod attempts;
pub(crate) mod caller;
pub(crate) mod device_key;
pub(crate) mod identity;
mod key_set;
pub(crate) mod operators;
pub(crate) mod password;
pub(crate) mod provider;
pub(crate) mod roles;
pub(crate) mod sanctions;
pub(crate) mod signatures;
pub(crate) mod signing_keys;
pub(crate) mod tokens;
pub(crate) mod watch;
