//! Agents in the terms of the store, and the decisions that both stores share.

use super::error::{Result, StoreError};
use super::model::Region;
use super::row::{FromRow, Read, Row};

/// Most tokens of one account's agents that are valid at the same time.
pub(crate) const CREDENTIALS_MAX: i64 = 20;

/// The columns of an agent, as `a` with its character as `c`.
pub(crate) const AGENT: &str = r#"a.agent_id, a.account_id, a.character_id, a.agent_name, c.name,
 a.created_at, a.updated_at, a.version, a.active, a.paused, a.goal_id, a.progress, a.goal_since,
 c.online, c."regionX", c."regionZ", a.resting AND NOT a.active, a.heeded_at"#;

/// The tables of an agent.
pub(crate) const FROM: &str = "agent_mappings a JOIN characters c ON c.id = a.character_id";

/// Bans of an agent's owner; the moment and two brackets follow. An account that may not come in
/// has no agents in the world either.
pub(crate) const BANNED: &str = "SELECT 1 FROM sanctions g WHERE g.id = 'ban:' || a.account_id
 AND (g.until IS NULL OR g.until >";

/// Number of agents that an account has, and of agents that live in the world when nobody plays
/// them.
pub(crate) const COUNTS: &str = "SELECT
 (SELECT count(*) FROM agent_mappings WHERE account_id = $1),
 (SELECT count(*) FROM agent_mappings WHERE active)";

/// Agents that live in the world and that nobody needed since a moment; the longest idle come
/// first.
pub(crate) const IDLE: &str = "SELECT agent_id, account_id FROM agent_mappings
 WHERE active AND heeded_at < $1 AND updated_at < $1 ORDER BY heeded_at LIMIT $2";

/// The columns of a credential.
pub(crate) const CREDENTIAL: &str =
    "token_id, agent_id, account_id, character_id, created_at, expires_at, revoked";

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) account_id: String,
    pub(crate) name: String,
    pub(crate) character_name: String,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    pub(crate) orders: Orders,
    /// Time at which its goal began.
    pub(crate) goal_since_ms: i64,
    pub(crate) online: bool,
    pub(crate) region: Region,
    /// Whether it is out of the world because nobody needed it, not because its owner said so.
    pub(crate) resting: bool,
    /// Time at which its owner last came into the world, ordered it or spoke to it.
    pub(crate) heeded_ms: i64,
}

/// Reads a row of [`AGENT`].
impl FromRow for Agent {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Agent {
            id: row.column(0)?,
            account_id: row.column(1)?,
            name: row.column(3)?,
            character_name: row.column(4)?,
            created_ms: row.column(5)?,
            updated_ms: row.column(6)?,
            orders: Orders {
                character_id: row.column(2)?,
                version: row.column(7)?,
                agent: true,
                active: row.column(8)?,
                paused: row.column(9)?,
                goal: row.column(10)?,
                progress: row.column(11)?,
            },
            goal_since_ms: row.column(12)?,
            online: row.column(13)?,
            region: row.region(14)?,
            resting: row.column(16)?,
            heeded_ms: row.column(17)?,
        })
    }
}

impl Agent {
    /// Returns the orders after `order`: active, paused, goal. `None`: they stay as they are.
    pub(crate) fn after(&self, order: &Order) -> Option<(bool, bool, Option<String>)> {
        if let Order::Rest { before_ms } = order
            && (!self.orders.active || self.heeded_ms >= *before_ms)
        {
            return None;
        }
        let mut now = self.orders.clone();
        now.active |= self.resting;
        let woken = || Some((true, now.paused, now.goal.clone()));
        match order.after(&now) {
            None if self.resting => woken(),
            changed => changed,
        }
    }
}

/// Largest numbers of agents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Most agents of one account.
    pub(crate) account: i64,
    /// Most agents that live in the world when nobody plays them.
    pub(crate) world: i64,
}

/// Numbers of agents that there are: the answer to [`COUNTS`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    /// Agents of one account.
    pub(crate) account: i64,
    /// Agents that live in the world when nobody plays them.
    pub(crate) world: i64,
}

/// Reads a row of [`COUNTS`].
impl FromRow for Counts {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Counts {
            account: row.column(0)?,
            world: row.column(1)?,
        })
    }
}

impl Bounds {
    /// Fails if the counts are above the bounds.
    pub(crate) fn hold(self, counts: Counts) -> Result<()> {
        if counts.account > self.account {
            return Err(StoreError::AccountOfAgents(self.account));
        }
        self.hold_world(counts)
    }

    /// Fails if more agents live in the world than may.
    pub(crate) fn hold_world(self, counts: Counts) -> Result<()> {
        if counts.world > self.world {
            return Err(StoreError::WorldOfAgents(self.world));
        }
        Ok(())
    }
}

/// Orders of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) character_id: String,
    pub(crate) version: i64,
    /// Whether the character is still an agent.
    pub(crate) agent: bool,
    pub(crate) active: bool,
    pub(crate) paused: bool,
    pub(crate) goal: Option<String>,
    pub(crate) progress: i32,
}

impl Orders {
    /// Returns the orders of a character that is no longer an agent.
    pub(crate) fn none(character_id: String, version: i64) -> Orders {
        Orders {
            character_id,
            version,
            agent: false,
            active: false,
            paused: false,
            goal: None,
            progress: 0,
        }
    }
}

/// Makes a character an agent.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub(crate) agent_id: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) name: String,
}

/// Change of an agent's orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// This goal; ends the pause.
    Goal(String),
    /// No goal, and the agent picks none.
    Stop,
    /// The agent picks goals again.
    Resume,
    /// Sets whether it lives in the world when nobody plays it.
    Active(bool),
    /// Somebody spoke to it: if it rests, it comes back.
    Heed,
    /// It leaves the world until somebody needs it, unless its owner was there since.
    Rest { before_ms: i64 },
}

impl Order {
    /// Returns the orders after this change: active, paused, goal. `None`: they stay as they are.
    pub(crate) fn after(&self, now: &Orders) -> Option<(bool, bool, Option<String>)> {
        match self {
            Order::Goal(goal) => Some((now.active, false, Some(goal.clone()))),
            // A stop counts even if it changes nothing, because the agent may have new orders
            // since.
            Order::Stop => Some((now.active, true, None)),
            Order::Resume => now.paused.then(|| (now.active, false, now.goal.clone())),
            Order::Active(active) => {
                (now.active != *active).then(|| (*active, now.paused, now.goal.clone()))
            }
            Order::Heed => None,
            Order::Rest { .. } => Some((false, now.paused, now.goal.clone())),
        }
    }

    /// Returns whether the goal begins anew.
    pub(crate) fn begins(&self) -> bool {
        matches!(self, Order::Goal(_) | Order::Stop)
    }

    /// Returns whether the agent rests after this change.
    pub(crate) fn rests(&self) -> bool {
        matches!(self, Order::Rest { .. })
    }
}

/// Report of a run about the goal of a version.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) character_id: String,
    pub(crate) version: i64,
    pub(crate) progress: i32,
    pub(crate) over: bool,
}

/// A token that speaks for an agent's character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Credential {
    pub(crate) token_id: String,
    pub(crate) agent_id: String,
    pub(crate) account_id: String,
    pub(crate) character_id: String,
    pub(crate) created_ms: i64,
    pub(crate) expires_ms: i64,
    pub(crate) revoked: bool,
}

/// Reads a row of [`CREDENTIAL`].
impl FromRow for Credential {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Credential {
            token_id: row.column(0)?,
            agent_id: row.column(1)?,
            account_id: row.column(2)?,
            character_id: row.column(3)?,
            created_ms: row.column(4)?,
            expires_ms: row.column(5)?,
            revoked: row.column(6)?,
        })
    }
}

/// Result of a removal: the orders of the character from now on, and the tokens that ended.
#[derive(Debug, Clone)]
pub(crate) struct Removed {
    pub(crate) orders: Orders,
    pub(crate) region: Region,
    pub(crate) ended: Vec<Credential>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(paused: bool, goal: Option<&str>) -> Orders {
        Orders {
            agent: true,
            active: true,
            paused,
            goal: goal.map(str::to_owned),
            ..Orders::none("c".to_owned(), 3)
        }
    }

    /// Tests the table of the specification, and the other orders in each state.
    #[test]
    fn goals_stop_and_go_on_as_specified() {
        let (explore, none) = (Some("explore".to_owned()), None);
        let goal = || Order::Goal("explore".to_owned());
        let table = [
            (false, Some("rest"), Order::Stop, Some((true, none.clone()))),
            (false, None, Order::Stop, Some((true, none.clone()))),
            (true, None, Order::Stop, Some((true, none.clone()))),
            (true, None, Order::Resume, Some((false, none.clone()))),
            (false, None, Order::Resume, None),
            (false, Some("rest"), Order::Resume, None),
            (true, None, goal(), Some((false, explore.clone()))),
            (false, Some("rest"), goal(), Some((false, explore.clone()))),
            (true, None, Order::Active(true), None),
        ];
        for (paused, had, order, then) in table {
            let after = order.after(&orders(paused, had));
            let after = after.map(|(_, paused, goal)| (paused, goal));
            assert_eq!(after, then, "{paused} {had:?} {order:?}");
        }
        let sleeps = Order::Active(false).after(&orders(true, None));
        assert_eq!(sleeps, Some((false, true, None)), "the pause stays");
    }
}
