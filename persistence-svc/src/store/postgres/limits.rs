//! The times after which the server gives up.

use std::sync::LazyLock;

/// Times (ms) for which the server works on one statement, waits for a lock, and lets a transaction
/// idle.
const LIMITS: [(&str, u32); 3] = [
    ("statement_timeout", 3_000),
    ("lock_timeout", 1_500),
    ("idle_in_transaction_session_timeout", 5_000),
];

/// Startup options of a connection of our own: its limits. It plans a statement once, because for
/// most of them planning takes longer than the work. So a plan must not trust the size that a table
/// has at that time: a plan that reads a whole table while that is small goes on to do so when
/// thousands have come. The costs of plans that have no other way must not begin to compile them.
pub(super) static OPTIONS: LazyLock<String> = LazyLock::new(|| {
    let limits = LIMITS.map(|(name, ms)| format!("-c {name}={ms}"));
    let plans = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off";
    format!("{} {plans}", limits.join(" "))
});

/// Statements that give the limits to one transaction.
pub(super) static LOCAL: LazyLock<String> = LazyLock::new(|| {
    let limits = LIMITS.map(|(name, ms)| format!("SET LOCAL {name} = {ms}"));
    limits.join("; ")
});
