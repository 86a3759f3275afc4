//! Loot: the items that dead NPCs leave behind.
//!
//! Always: the dice decide each entry of a table by itself. The NPC leaves at most one rare drop.

use std::sync::Arc;

use crate::content::{Content, Drops, RareDrop};
use crate::entity::ids::CharacterId;
use crate::item::{COINS, QUANTITY_MAX, Stack};
use crate::rng::Dice;

/// A chance of 1, in millionths.
const CERTAIN: u32 = 1_000_000;

/// Throws for the items that an NPC leaves behind. Skips items that the content does not know.
pub(crate) fn left(content: &Content, drops: &Drops, dice: &mut Dice) -> Vec<Stack> {
    let mut stacks = Vec::new();
    for entry in &drops.entries {
        let falls = dice.below(CERTAIN) < entry.chance_millionths;
        let quantity = quantity(entry.least, entry.most, dice);
        let stack = stack(content, &entry.item, quantity, entry.noted);
        stacks.extend(stack.filter(|_| falls));
    }
    if let Some(rare) = rare(content.rare_drops(), drops.rare_table_millionths, dice) {
        let quantity = quantity(rare.least, rare.most, dice);
        stacks.extend(stack(content, &rare.item, quantity, rare.noted));
    }
    stacks
}

/// Picks, with that chance, one rare drop, each by its share.
fn rare<'t>(
    table: &'t [RareDrop],
    chance_millionths: u32,
    dice: &mut Dice,
) -> Option<&'t RareDrop> {
    if dice.below(CERTAIN) >= chance_millionths {
        return None;
    }
    let weights = table.iter().map(|rare| rare.weight);
    let sum = weights.fold(0, u32::saturating_add);
    let mut thrown = dice.below(sum);
    table.iter().find(|rare| {
        let hit = thrown < rare.weight;
        thrown = thrown.saturating_sub(rare.weight);
        hit
    })
}

fn quantity(least: u32, most: u32, dice: &mut Dice) -> u32 {
    let more = most.saturating_sub(least);
    let quantity = least.saturating_add(dice.below(more.saturating_add(1)));
    quantity.min(QUANTITY_MAX)
}

/// Returns so many of an item, or of its note. `None` for zero, or an item unknown to the content.
fn stack(content: &Content, item: &Arc<str>, quantity: u32, noted: bool) -> Option<Stack> {
    let known = **item == *COINS || content.item(item).is_some();
    if quantity == 0 || !known {
        return None;
    }
    let note = content.items().note_of(item).filter(|_| noted);
    let item = note.map_or_else(|| Arc::clone(item), |note| note.id.clone());
    Some(Stack::new(item, quantity))
}

/// Returns the player that gets the kill: the one that dealt most damage, and of equals the first.
pub(crate) fn killer(hurt_by: &[(CharacterId, u32)]) -> Option<&CharacterId> {
    let most = hurt_by.iter().map(|(_, damage)| *damage).max()?;
    let first = hurt_by.iter().find(|(_, damage)| *damage == most);
    first.map(|(who, _)| who)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kill_is_of_who_hurt_most_and_then_of_the_first() {
        let ids: Vec<CharacterId> = ["ann", "bob", "cat"].map(CharacterId::from).into();
        let of = |damage: [u32; 3]| {
            let hurt: Vec<_> = ids.iter().cloned().zip(damage).collect();
            killer(&hurt).map(ToString::to_string)
        };
        assert_eq!(of([3, 5, 4]).as_deref(), Some("bob"));
        assert_eq!(of([4, 5, 5]).as_deref(), Some("bob"));
        assert_eq!(of([0, 0, 0]).as_deref(), Some("ann"));
        assert_eq!(killer(&[]), None);
    }

    /// Throws `many` times, with one seed each. Returns how often each share of a table fell.
    fn fell(weights: &[u32], chance_millionths: u32, many: u32) -> Vec<u32> {
        let drop = |(n, weight): (usize, &u32)| RareDrop {
            item: n.to_string().into(),
            least: 1,
            most: 1,
            weight: *weight,
            noted: false,
        };
        let table: Vec<RareDrop> = weights.iter().enumerate().map(drop).collect();
        let mut fell = vec![0; table.len()];
        for seed in 0..u64::from(many) {
            let one = rare(&table, chance_millionths, &mut Dice::new(seed, 7, 9));
            if let Some(at) = table.iter().position(|rare| Some(rare) == one) {
                fell[at] += 1;
            }
        }
        fell
    }

    #[test]
    fn rare_things_fall_by_their_chance_and_their_shares() {
        let many = 20_000;
        let shares: [&[u32]; 5] = [
            &[1],
            &[1, 1],
            &[60, 30, 9, 1],
            &[0, 5, 0, 15],
            &[1, 999_999],
        ];
        for (weights, chance) in shares
            .into_iter()
            .zip([CERTAIN, 500_000, CERTAIN, 250_000, 0])
        {
            let sum: u64 = weights.iter().copied().map(u64::from).sum();
            let falls = u64::from(many) * u64::from(chance) / u64::from(CERTAIN);
            let fell = fell(weights, chance, many);
            for (weight, fell) in weights.iter().zip(&fell) {
                let due = falls * u64::from(*weight) / sum;
                let off = u64::from(*fell).abs_diff(due);
                assert!(off <= 250, "{weights:?}: {weight} fell {fell} times");
                assert!(
                    due > 0 || *fell == 0,
                    "{weights:?}: {weight} fell {fell} times"
                );
            }
            let all: u32 = fell.iter().sum();
            assert!(
                chance < CERTAIN || all == many,
                "{weights:?}: one each time"
            );
        }
        assert!(fell(&[], CERTAIN, 9).is_empty());
        assert_eq!(
            fell(&[0, 0], CERTAIN, 9),
            [0, 0],
            "without any share nothing falls"
        );
    }
}
