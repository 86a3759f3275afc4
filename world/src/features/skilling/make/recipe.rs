//! A recipe of any trade, as the rules see it.

use std::sync::Arc;

use crate::content::{Consumed, Content, Effort, Part};
use crate::features::skilling::{Craft, RecipeKind};
use crate::features::training::skill::Skill;
use crate::item::COINS;

/// Tool for firemaking.
pub(crate) const TINDERBOX: &str = "tinderbox";
/// Tool for smithing.
const HAMMER: &str = "hammer";
/// Remains of a fire.
pub(crate) const ASHES: &str = "ashes";

/// Inputs and outputs of making one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// Skill that it takes and trains, if any.
    pub(crate) skill: Option<Skill>,
    pub(crate) level: u32,
    /// Experience for one, in tenths.
    pub(crate) xp_tenths: u32,
    /// Ticks for one, at least 1.
    pub(crate) ticks: u64,
    /// Whether one piece of work makes all that the player can make, as soon as the player is
    /// there.
    pub(crate) at_once: bool,
    pub(crate) inputs: Vec<Part>,
    /// Tools that one must have and keeps.
    pub(crate) tools: Vec<Arc<str>>,
    pub(crate) consumed: Vec<Consumed>,
    pub(crate) output: Arc<str>,
    pub(crate) quantity: u32,
    /// Levels from which a piece of work makes one more.
    pub(crate) more_from: Vec<u32>,
    /// Item that comes out instead when it goes wrong.
    pub(crate) failed: Option<Arc<str>>,
    pub(crate) chance: Chance,
    pub(crate) place: Place,
}

/// Chance that it turns out well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chance {
    Certain,
    Millionths(u32),
    /// Food: from that level on always.
    SafeFrom(u32),
}

/// Place at which one makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Anywhere,
    /// A fire or a range.
    Hearth,
    /// A station of that sort.
    Station(Arc<str>),
    /// Somebody who offers that service.
    Service(&'static str),
    /// The altar of that rune.
    Altar(Arc<str>),
}

/// The thing at some place, as far as it matters for making things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot<'a> {
    Fire,
    /// A station, and the rune of an altar.
    Station(&'a str, &'a str),
    /// Somebody's service.
    Service(&'a str),
    /// A tree, a person of no service …
    Other,
}

impl Place {
    /// Returns whether one can make it there.
    pub(crate) fn is(&self, spot: Spot<'_>) -> bool {
        match (self, spot) {
            (Place::Hearth, Spot::Fire) => true,
            (Place::Hearth, Spot::Station(sort, _)) => sort == "range",
            (Place::Station(of), Spot::Station(sort, _)) => sort == &**of,
            (Place::Service(of), Spot::Service(service)) => service == *of,
            (Place::Altar(of), Spot::Station(_, rune)) => rune == &**of,
            _ => false,
        }
    }
}

impl Recipe {
    /// Returns how many more one of `level` makes at a time.
    pub(crate) fn more(&self, level: u32) -> u32 {
        let reached = self.more_from.iter().filter(|from| **from <= level);
        u32::try_from(reached.count()).unwrap_or(u32::MAX)
    }
}

/// Returns the recipe that `craft` names, as it is at `spot`. `None`: there is none, or it names
/// unknown items.
#[allow(clippy::too_many_lines, reason = "one arm a trade")]
pub(crate) fn recipe(content: &Content, craft: &Craft, spot: Option<Spot<'_>>) -> Option<Recipe> {
    let all = content.recipes();
    let key = &*craft.key;
    let found = match craft.trade {
        RecipeKind::Cook => {
            let of = all.cooking.get(key)?;
            let safe = match spot {
                Some(Spot::Station(..)) => of.safe_on_range,
                _ => of.safe_on_fire,
            };
            Recipe {
                failed: Some(Arc::clone(&of.burnt)).filter(|item| !item.is_empty()),
                chance: Chance::SafeFrom(safe),
                place: Place::Hearth,
                ..plain(craft.trade, of.effort, &of.cooked, one(&of.raw))
            }
        }
        RecipeKind::Light => {
            let of = all.firemaking.get(key)?;
            let tools = vec![TINDERBOX.into()];
            Recipe {
                tools,
                ..plain(craft.trade, of.effort, &of.log, one(&of.log))
            }
        }
        RecipeKind::Smelt => {
            let of = all.smelting.get(key)?;
            let chance = match of.success_millionths {
                1_000_000.. => Chance::Certain,
                less => Chance::Millionths(less),
            };
            Recipe {
                chance,
                place: Place::Station("furnace".into()),
                ..plain(craft.trade, of.effort, &of.output, of.inputs.clone())
            }
        }
        RecipeKind::Smith => {
            let of = all.smithing.get(key)?;
            let inputs = vec![Part {
                item: Arc::clone(&of.bar),
                amount: of.bars,
            }];
            Recipe {
                tools: vec![HAMMER.into()],
                quantity: of.quantity,
                place: Place::Station("anvil".into()),
                ..plain(craft.trade, of.effort, &of.output, inputs)
            }
        }
        RecipeKind::Craft => {
            let of = all.crafting.get(key)?;
            let place = of.station.clone().map_or(Place::Anywhere, Place::Station);
            Recipe {
                tools: of.tools.clone(),
                consumed: of.consumed.clone(),
                place,
                ..plain(craft.trade, of.effort, &of.output, of.inputs.clone())
            }
        }
        RecipeKind::Fletch => {
            let of = all.fletching.get(key)?;
            Recipe {
                tools: of.tools.clone(),
                quantity: of.quantity,
                ..plain(craft.trade, of.effort, &of.output, of.inputs.clone())
            }
        }
        RecipeKind::Tan | RecipeKind::Runecraft => return at_once(content, craft),
    };
    found.is_sound(content).then_some(found)
}

/// Returns the recipe of a trade that makes as many as there can be at once.
fn at_once(content: &Content, craft: &Craft) -> Option<Recipe> {
    let all = content.recipes();
    let found = match craft.trade {
        RecipeKind::Tan => {
            let of = all.tanning.get(&craft.key)?;
            let cost = (of.cost > 0).then(|| Part {
                item: COINS.into(),
                amount: of.cost,
            });
            let mut inputs = one(&of.input);
            inputs.extend(cost);
            Recipe {
                at_once: true,
                place: Place::Service("tanner"),
                ..plain(craft.trade, Effort::default(), &of.output, inputs)
            }
        }
        // The key says which essence, too: `air/pure_essence`.
        RecipeKind::Runecraft => {
            let (rune, essence) = craft.key.split_once('/')?;
            let of = all.runecrafting.get(rune)?;
            let essence = of.essences.iter().find(|e| ***e == *essence)?;
            let effort = Effort {
                level: of.level,
                xp_tenths: of.xp_tenths,
                ticks: 1,
            };
            Recipe {
                at_once: true,
                more_from: of.more_from.clone(),
                place: Place::Altar(rune.into()),
                ..plain(craft.trade, effort, &of.output, one(essence))
            }
        }
        _ => return None,
    };
    found.is_sound(content).then_some(found)
}

impl Recipe {
    /// Returns whether all items that it names are there. An unknown item in a recipe would be gone
    /// for ever, or nobody could ever have it.
    fn is_sound(&self, content: &Content) -> bool {
        let parts = self.inputs.iter().map(|part| &part.item);
        let items = parts.chain([&self.output]).chain(&self.failed);
        let mut items = items.chain(&self.tools);
        let known = |item: &Arc<str>| **item == *COINS || content.item(item).is_some();
        !self.inputs.is_empty() && items.all(known)
    }
}

fn one(item: &Arc<str>) -> Vec<Part> {
    vec![Part {
        item: Arc::clone(item),
        amount: 1,
    }]
}

/// Returns a recipe for one of `output`, anywhere and for certain.
fn plain(trade: RecipeKind, effort: Effort, output: &Arc<str>, inputs: Vec<Part>) -> Recipe {
    Recipe {
        skill: trade.skill(),
        level: u32::from(effort.level),
        xp_tenths: effort.xp_tenths,
        ticks: u64::from(effort.ticks.max(1)),
        at_once: false,
        inputs,
        tools: Vec::new(),
        consumed: Vec::new(),
        output: Arc::clone(output),
        quantity: 1,
        more_from: Vec::new(),
        failed: None,
        chance: Chance::Certain,
        place: Place::Anywhere,
    }
}
