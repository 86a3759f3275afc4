//! The budget of searches for a way in a tick. Each asker has its own share first, and the rest
//! that others leave comes on top.
//!
//! Always: all searches together visit no more tiles than the budget; no search takes anything of
//! the shares of askers whose turn comes later.

use std::collections::BTreeSet;

use super::route::{Router, SEARCH_VISITS_MAX};
use crate::entity::ids::CharacterId;
use crate::mint::Mint;
use crate::rng;
use crate::time::Tick;

/// Key of the dice for the order of a tick, apart from other dice of the same player.
const DICE: u64 = 0x5745_4152_4348;

/// Tiles that the searches of one phase of a tick may visit.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Share of each asker.
    own: u64,
    /// Askers that have a whole search on top of that in this tick.
    first: BTreeSet<CharacterId>,
    /// Number of visited tiles at which the searches of the present turn end.
    end: u64,
    /// Asker that has its turn.
    turn: Option<CharacterId>,
}

impl Budget {
    /// Shares `tiles` out among `askers`. Half of them becomes as many whole searches as it holds,
    /// for the first askers by an order that changes each tick. The askers share the rest equally.
    pub(crate) fn new<'a>(
        tiles: u64,
        askers: impl Iterator<Item = &'a CharacterId>,
        mint: &Mint,
        now: Tick,
        router: &Router,
    ) -> Budget {
        let askers: BTreeSet<&CharacterId> = askers.collect();
        let whole = usize::try_from(tiles / 2 / SEARCH_VISITS_MAX).unwrap_or(usize::MAX);
        let place = |who: &CharacterId| {
            let key = rng::key(who.as_str()) ^ DICE;
            mint.dice(key, now).below(u32::MAX)
        };
        let first: BTreeSet<CharacterId> = if askers.len() <= whole {
            askers.iter().map(|who| (*who).clone()).collect()
        } else {
            let mut order: Vec<(u32, &CharacterId)> =
                askers.iter().map(|who| (place(who), *who)).collect();
            order.sort_unstable();
            let first = order.iter().take(whole);
            first.map(|(_, who)| (*who).clone()).collect()
        };
        let rest = tiles.saturating_sub(first.len() as u64 * SEARCH_VISITS_MAX);
        Budget {
            own: rest / (askers.len() as u64).max(1),
            first,
            end: router.visited(),
            turn: None,
        }
    }

    /// Begins the turn of `who`, once for all that it asks: its share comes on top of the tiles
    /// that others have left. Returns the number of visited tiles at which its searches end.
    pub(crate) fn turn(&mut self, who: &CharacterId) -> u64 {
        if self.turn.as_ref() != Some(who) {
            let whole = if self.first.contains(who) {
                SEARCH_VISITS_MAX
            } else {
                0
            };
            self.end = self.end.saturating_add(self.own + whole);
            self.turn = Some(who.clone());
        }
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(many: u32) -> Vec<CharacterId> {
        let name = |number| CharacterId::from(format!("p{number:03}").as_str());
        (0..many).map(name).collect()
    }

    fn budget(tiles: u64, askers: &[CharacterId], tick: u64) -> Budget {
        let mint = Mint::new(7, 0);
        Budget::new(tiles, askers.iter(), &mint, Tick(tick), &Router::default())
    }

    #[test]
    fn all_shares_together_are_the_budget() {
        for many in [1, 2, 11, 12, 137, 2_000] {
            let askers = names(many);
            let mut budget = budget(1_500_000, &askers, 1);
            let ends: Vec<u64> = askers.iter().map(|who| budget.turn(who)).collect();
            assert!(ends.is_sorted(), "nobody takes of the share of a later one");
            let all = *ends.last().unwrap();
            assert!((1_498_000..=1_500_000).contains(&all), "{many}: {all}");
        }
    }

    #[test]
    fn a_turn_counts_once_however_much_somebody_asks() {
        let askers = names(3);
        let mut budget = budget(300, &askers, 1);
        assert_eq!([1, 2, 3].map(|_| budget.turn(&askers[0])), [100; 3]);
        assert_eq!(budget.turn(&askers[1]), 200);
    }

    #[test]
    fn who_has_a_whole_search_is_another_one_in_each_tick() {
        let askers = names(100);
        let first = |tick| budget(10 * SEARCH_VISITS_MAX, &askers, tick).first;
        assert_eq!(first(1).len(), 5);
        assert_ne!(first(1), first(2));
        let ever: BTreeSet<CharacterId> = (0..200).flat_map(first).collect();
        assert_eq!(ever.len(), askers.len(), "everybody's turn comes");
    }
}
