//! Things that happen to an agent, as it notes them: they count for its goal and its tally.

use super::{Agent, AgentActionKind, Goal};
use crate::features::training::skill::Skill;
use crate::geometry::tile::Tile;
use crate::time::Tick;

impl Agent {
    /// Notes that it died at `tile`.
    pub(crate) fn died(&mut self, tile: Tile, now: Tick) {
        self.tally.deaths = self.tally.deaths.saturating_add(1);
        let words = format!("Died at {}, {}", tile.x, tile.z);
        self.did(now, AgentActionKind::Died, words);
        self.detour = None;
        // It stands elsewhere now, so the steps left so far no longer count.
        if let Some(pursuit) = self.current() {
            pursuit.nearest = u32::MAX;
            pursuit.tries = 0;
        }
    }

    /// Notes that it gained experience in `skill` by an action.
    pub(crate) fn trained(&mut self, skill: Skill) {
        // An agent that walks trains agility, but need not come nearer to its goal by that.
        if skill == Skill::Agility {
            return;
        }
        if let Some(pursuit) = self.current() {
            pursuit.tries = 0;
            if pursuit.goal == Goal::Train(skill) {
                let done = pursuit.progress.saturating_add(1);
                pursuit.progress = done.min(pursuit.goal.target());
            }
        }
    }

    /// Notes that it took an item.
    pub(crate) fn took(&mut self, name: &str, quantity: u32, coins: bool, now: Tick) {
        if coins {
            self.tally.gold = self.tally.gold.saturating_add(u64::from(quantity));
        }
        if let Some(pursuit) = self.current() {
            pursuit.progress += u32::from(pursuit.goal == Goal::Collect);
            pursuit.tries = 0;
        }
        let words = format!("Took {quantity} × {name}");
        self.did(now, AgentActionKind::Pickup, words);
    }

    /// Notes that it killed somebody.
    pub(crate) fn killed(&mut self) {
        self.tally.kills = self.tally.kills.saturating_add(1);
        if let Some(pursuit) = self.current()
            && pursuit.goal == Goal::Fight
        {
            let done = pursuit.progress.saturating_add(1);
            pursuit.progress = done.min(pursuit.goal.target());
            pursuit.tries = 0;
        }
    }
}
