//! What each client sees of the world. Pure.
//!
//! `entity` and `replica` hold what zones say, united; `encode` writes it once per format;
//! `subscriptions` says what to ask of which run; `interest` and `stage` decide what each session
//! gets, update by update.

pub mod changes;
pub mod encode;
pub mod entity;
pub mod interest;
pub mod replica;
pub mod stage;
pub mod subscriptions;
