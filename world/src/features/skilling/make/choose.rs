//! The recipe that a player means who names two things, or a thing and a place.
//!
//! Always: if the player could make several now, this takes none. If it can make none of several,
//! the refusal is that of the first by key.

use std::sync::Arc;

use super::recipe::{self, Place, Recipe, Spot};
use super::rules::{self, Spools};
use crate::content::{Content, Fletching};
use crate::entity::player::Player;
use crate::entity::player::record::PlayerRecord;
use crate::features::skilling::{Craft, RecipeKind};
use crate::refusal::Refusal;

/// Returns all recipes of `trade`, by key.
fn crafts(content: &Content, trade: RecipeKind) -> Vec<Craft> {
    let all = content.recipes();
    let keys: Vec<Arc<str>> = match trade {
        RecipeKind::Cook => all.cooking.ids().cloned().collect(),
        RecipeKind::Light => all.firemaking.ids().cloned().collect(),
        RecipeKind::Smelt => all.smelting.ids().cloned().collect(),
        RecipeKind::Smith => all.smithing.ids().cloned().collect(),
        RecipeKind::Craft => all.crafting.ids().cloned().collect(),
        RecipeKind::Fletch => all.fletching.ids().cloned().collect(),
        RecipeKind::Tan => all.tanning.ids().cloned().collect(),
        RecipeKind::Runecraft => {
            let of = all.runecrafting.iter();
            let of = of.flat_map(|rune| {
                let essences = rune.essences.iter();
                essences.map(|essence| format!("{}/{essence}", rune.rune_type).into())
            });
            of.collect()
        }
    };
    let keys = keys.into_iter();
    keys.map(|key| Craft { trade, key }).collect()
}

/// A player that makes something, and its open spools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crafter<'a> {
    record: &'a PlayerRecord,
    spools: &'a Spools,
}

impl<'a> From<&'a Player> for Crafter<'a> {
    fn from(player: &'a Player) -> Self {
        Crafter {
            record: &player.record,
            spools: &player.skilling.spools,
        }
    }
}

/// Returns the recipe that a player means who names a trade. `what` is the key of a recipe, or its
/// product; `None`: the only one possible at `spot`.
///
/// # Errors
/// `NotFound`: there is no such recipe. `NoStation`: none works at `spot`. `ChoiceRequired`; and
/// the reason why the player cannot make it now.
pub(crate) fn named(
    crafter: Crafter<'_>,
    content: &Content,
    trade: RecipeKind,
    what: Option<&str>,
    spot: Option<Spot<'_>>,
) -> Result<Craft, Refusal> {
    let output = what.map(|what| content.items().id(what));
    let fits = |craft: &Craft, recipe: &Recipe| match (what, &output) {
        (Some(what), Some(output)) => {
            let of_both = Fletching::key(output, &recipe.inputs[0].item);
            *craft.key == *what || recipe.output == *output || *craft.key == *of_both
        }
        (None, _) | (_, None) => true,
    };
    let known = found(content, &[trade], spot, fits);
    if known.is_empty() {
        return Err(Refusal::NotFound);
    }
    of_several(crafter, at(known, spot)?)
}

/// Returns the recipe that a player means who uses `item` on `other`, both from the pack.
///
/// # Errors
/// `Unsupported`: there is no recipe for these two. `ChoiceRequired`; and the reason why the player
/// cannot make it now.
pub(crate) fn of_two(
    crafter: Crafter<'_>,
    content: &Content,
    item: &str,
    other: &str,
) -> Result<Craft, Refusal> {
    let fits = |_: &Craft, recipe: &Recipe| {
        // If both items are the same, the recipe must take more than one of it.
        let same = item == other
            && recipe
                .inputs
                .iter()
                .any(|p| *p.item == *item && p.amount > 1);
        recipe.place == Place::Anywhere
            && takes(recipe, item)
            && takes(recipe, other)
            && (item != other || same)
    };
    let trades = [RecipeKind::Light, RecipeKind::Craft, RecipeKind::Fletch];
    let known = found(content, &trades, None, fits);
    if known.is_empty() {
        return Err(Refusal::Unsupported);
    }
    of_several(crafter, known)
}

/// Returns the recipe that a player means who uses `item` at `spot`.
///
/// # Errors
/// The errors of [`of_two`].
pub(crate) fn at_spot(
    crafter: Crafter<'_>,
    content: &Content,
    item: &str,
    spot: Spot<'_>,
) -> Result<Craft, Refusal> {
    let fits = |_: &Craft, recipe: &Recipe| recipe.place.is(spot) && takes(recipe, item);
    let known = found(content, RecipeKind::ALL, Some(spot), fits);
    if known.is_empty() {
        return Err(Refusal::Unsupported);
    }
    of_several(crafter, known)
}

/// Returns whether `item` goes into the recipe or is a tool for it.
fn takes(recipe: &Recipe, item: &str) -> bool {
    let inputs = recipe.inputs.iter().map(|part| &part.item);
    let consumed = recipe.consumed.iter().map(|part| &part.item);
    let mut all = inputs.chain(consumed).chain(&recipe.tools);
    all.any(|part| **part == *item)
}

type Known = Vec<(Craft, Recipe)>;

fn found(
    content: &Content,
    trades: &[RecipeKind],
    spot: Option<Spot<'_>>,
    fits: impl Fn(&Craft, &Recipe) -> bool,
) -> Known {
    let crafts = trades.iter().flat_map(|trade| crafts(content, *trade));
    let read = crafts.filter_map(|craft| {
        let recipe = recipe::recipe(content, &craft, spot)?;
        Some((craft, recipe))
    });
    read.filter(|(craft, recipe)| fits(craft, recipe)).collect()
}

/// Returns the recipes that work at `spot`, or anywhere.
fn at(mut known: Known, spot: Option<Spot<'_>>) -> Result<Known, Refusal> {
    known.retain(|(_, recipe)| match spot {
        Some(spot) => recipe.place == Place::Anywhere || recipe.place.is(spot),
        None => recipe.place == Place::Anywhere,
    });
    if known.is_empty() {
        return Err(Refusal::NoStation);
    }
    Ok(known)
}

/// Returns the only recipe that the player can make now.
fn of_several(crafter: Crafter<'_>, known: Known) -> Result<Craft, Refusal> {
    let Crafter { record, spools } = crafter;
    let mut refusal = Refusal::NotFound;
    let mut able = None;
    for (craft, recipe) in known.into_iter().rev() {
        match rules::able(record, &recipe, spools, 1) {
            Err(why) => refusal = why,
            Ok(_) if able.is_some() => return Err(Refusal::ChoiceRequired),
            Ok(_) => able = Some(craft),
        }
    }
    able.ok_or(refusal)
}
