//! Who somebody is: our own tokens, the keys of anonymous accounts, and how often one may try.

pub(crate) mod accounts;
pub(crate) mod attempts;
pub(crate) mod caller;
pub(crate) mod device_key;
pub(crate) mod tokens;
