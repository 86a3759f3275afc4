//! Ids and dice of a world.
//!
//! Always: no two things ever have the same id, for no two worlds have the same run id, and a run
//! plays a tick once.

use crate::entity::ids::EntityId;
use crate::refusal::Refusal;
use crate::rng::Dice;
use crate::time::Tick;

/// Most ids of one tick.
const MINTED_MAX: u64 = 1 << 20;

/// The source of a world's ids and dice.
#[derive(Debug)]
pub(crate) struct Mint {
    seed: u64,
    /// Makes the ids of this world unlike any others.
    run_id: u64,
    /// Number of ids that the world gave out in this tick.
    minted: u64,
}

impl Mint {
    pub(crate) fn new(seed: u64, run_id: u64) -> Mint {
        Mint {
            seed,
            run_id,
            minted: 0,
        }
    }

    /// Begins another tick.
    pub(crate) fn begin(&mut self) {
        self.minted = 0;
    }

    /// Returns the dice of the thing `key` at `now`.
    pub(crate) fn dice(&self, key: u64, now: Tick) -> Dice {
        Dice::new(self.seed, key, now.0)
    }

    /// Returns the id of the next thing made at `now`.
    ///
    /// # Errors
    /// `Busy`: this tick has made too many things.
    pub(crate) fn next(&self, prefix: &str, now: Tick) -> Result<EntityId, Refusal> {
        if self.minted >= MINTED_MAX {
            return Err(Refusal::Busy);
        }
        let number = now.0.saturating_mul(MINTED_MAX);
        let number = number.saturating_add(self.minted);
        Ok(format!("{prefix}{}-{number}", self.run_id).into())
    }

    /// Notes that the last id from [`Mint::next`] is in use.
    pub(crate) fn used(&mut self) {
        self.minted += 1;
    }
}
