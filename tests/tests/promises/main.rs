//! What players and operators would notice, with real processes, PostgreSQL and Redis. One
//! program, because each further one takes minutes to link.

mod abuse;
mod chaos;
mod chat;
mod configuration;
mod crossing;
mod hundreds;
mod identity;
mod launcher;
mod tracing;
