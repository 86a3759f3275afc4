//! What dead NPCs leave behind.
//!
//! Always: every entry of a table is thrown for by itself.

use crate::content::{Content, Drops};
use crate::ids::CharacterId;
use crate::item::{COINS, QUANTITY_MAX, Stack};
use crate::rng::Dice;

/// A chance of 1, in millionths.
const CERTAIN: u32 = 1_000_000;

/// What is left behind this time. What the content does not know is not.
pub(crate) fn left(content: &Content, drops: &Drops, dice: &mut Dice) -> Vec<Stack> {
    let mut stacks = Vec::new();
    for entry in &drops.entries {
        let falls = dice.below(CERTAIN) < entry.chance_millionths;
        let more = entry.most.saturating_sub(entry.least);
        let quantity = entry
            .least
            .saturating_add(dice.below(more.saturating_add(1)));
        let quantity = quantity.min(QUANTITY_MAX);
        let known = *entry.item == *COINS || content.item(&entry.item).is_some();
        if !falls || quantity == 0 || !known {
            continue;
        }
        let note = content.items().note_of(&entry.item);
        let item = match note.filter(|_| entry.noted) {
            Some(note) => note.id.clone(),
            None => entry.item.clone(),
        };
        stacks.push(Stack::new(item, quantity));
    }
    stacks
}

/// Whose the kill is: of whoever hurt it most, and of those of the first.
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
}
