//! Goods: all items that a player can get by drops, sale, gathering, making, drinking, gifts or
//! from the start.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::reach::{Reach, fixtures, npcs};
use super::{Faults, trade};
use crate::content::{
    Content, Effect, ItemKind, Note, NpcPlacement, Part, Quest, ResourceKind, ToolNeed,
};
use crate::features::arrivals::starter;
use crate::item::COINS;

/// Item that every fire leaves.
const ASHES: &str = "ashes";
/// Sorts of stations: where players smelt metal, work bars and make runes.
const FURNACE: &str = "furnace";
const ANVIL: &str = "anvil";
const RUNE_ALTAR: &str = "runecrafting_altar";
/// Tool for working bars.
const HAMMER: &str = "hammer";

/// Everything that somebody could come to own, and the stations that somebody can use.
#[derive(Debug, Default)]
pub(super) struct Goods {
    items: BTreeSet<Arc<str>>,
    stations: BTreeSet<Arc<str>>,
    rune_types: BTreeSet<Arc<str>>,
    tanner: bool,
}

impl Goods {
    /// Returns whether somebody could come to own `item`.
    pub(super) fn has(&self, item: &str) -> bool {
        self.items.contains(item)
    }

    /// Returns whether somebody can use a station of this sort.
    pub(super) fn station(&self, sort: &str) -> bool {
        self.stations.contains(sort)
    }

    /// Collects everything that comes of the things that players can meet and use. Begins with the
    /// things that all characters get, and repeats until nothing is added.
    pub(super) fn gather(content: &Content, reach: &Reach) -> Goods {
        let mut goods = Goods::default();
        goods.items.insert(COINS.into());
        let begun = starter::things(content);
        goods.items.extend(begun.map(|(item, _)| item));
        for fixture in fixtures(content).filter(|fixture| reach.uses(fixture)) {
            goods.stations.insert(Arc::clone(&fixture.sort));
            if !fixture.rune_type.is_empty() {
                goods.rune_types.insert(Arc::clone(&fixture.rune_type));
            }
        }
        for npc in npcs(content).filter(|npc| reach.meets(npc)) {
            goods.tanner |= tans(npc);
            if npc.kind.attackable {
                let drops = npc.kind.drops.entries.iter();
                let dropped = drops.filter(|drop| drop.chance_millionths > 0 && drop.most > 0);
                goods
                    .items
                    .extend(dropped.map(|drop| Arc::clone(&drop.item)));
            }
            if npc.kind.attackable && npc.kind.drops.rare_table_millionths > 0 {
                let rare = content.rare_drops().iter().filter(|rare| rare.weight > 0);
                goods.items.extend(rare.map(|rare| Arc::clone(&rare.item)));
            }
            let effects = npc.dialogue.iter().flat_map(|talk| trade::effects(talk));
            goods
                .items
                .extend(effects.filter_map(|effect| match effect {
                    Effect::GiveItem(item, _) => Some(Arc::clone(item)),
                    _ => None,
                }));
            let store = npc.store.as_ref().and_then(|id| content.stores().get(id));
            let sold = store.into_iter().flat_map(|store| &store.goods);
            let sold = sold.filter(|good| good.stock != Some(0));
            goods.items.extend(sold.map(|good| Arc::clone(&good.item)));
        }
        let sources = Sources::of(content, reach);
        let mut before = 0;
        while goods.items.len() > before {
            before = goods.items.len();
            goods.grow(content, &sources);
        }
        goods
    }

    /// Adds the items that one can get with the goods so far.
    fn grow(&mut self, content: &Content, sources: &Sources<'_>) {
        for kind in &sources.resources {
            if self.gathers(&sources.tools, kind) {
                let given = kind.yields.iter().filter(|y| y.chance_millionths > 0);
                self.items.extend(given.map(|y| Arc::clone(&y.item)));
            }
        }
        let mut made = Vec::new();
        each(content, |recipe| {
            if recipe.missing(self).is_none() {
                made.extend(recipe.outputs.iter().map(|item| Arc::clone(item)));
            }
        });
        // Each dose that somebody drinks leaves one less, or a vial; doses are poured together.
        for item in &self.items {
            let drunk = content.item(item).and_then(|kind| kind.potion.as_ref());
            made.extend(drunk.map(|dose| Arc::clone(&dose.leaves)));
            made.extend(content.items().fuller(item).cloned());
        }
        self.items.extend(made);
        for quest in &sources.quests {
            if quest.needs.iter().all(|item| self.has(item)) {
                let given = quest.given.iter().chain(&quest.rewards);
                self.items
                    .extend(given.map(|reward| Arc::clone(&reward.item)));
            }
        }
    }

    /// Returns whether somebody could gather there.
    fn gathers(&self, tools: &[&ItemKind], kind: &ResourceKind) -> bool {
        let tool = match &kind.tool {
            ToolNeed::Nothing => true,
            ToolNeed::Item(item) => self.has(item),
            ToolNeed::Any(skill) => tools.iter().any(|item| {
                item.tool.as_ref().is_some_and(|tool| tool.skill == *skill) && self.has(&item.id)
            }),
        };
        tool && kind.bait.as_ref().is_none_or(|bait| self.has(bait))
    }
}

/// Resources and quests that somebody can reach, and all tools.
struct Sources<'c> {
    resources: Vec<&'c ResourceKind>,
    quests: Vec<&'c Quest>,
    tools: Vec<&'c ItemKind>,
}

impl<'c> Sources<'c> {
    fn of(content: &'c Content, reach: &Reach) -> Sources<'c> {
        let used: BTreeSet<&str> = fixtures(content)
            .filter(|fixture| reach.uses(fixture))
            .map(|fixture| fixture.of.as_ref())
            .collect();
        let met: BTreeSet<&str> = npcs(content)
            .filter(|npc| reach.meets(npc))
            .map(|npc| npc.kind.id.as_ref())
            .collect();
        let resources = content.resources().iter().map(AsRef::as_ref);
        let quests = content.quests().iter().map(AsRef::as_ref);
        Sources {
            resources: resources
                .filter(|kind| used.contains(kind.id.as_ref()))
                .collect(),
            quests: quests
                .filter(|quest| met.contains(quest.giver.as_ref()))
                .collect(),
            tools: tools(content),
        }
    }
}

fn tools(content: &Content) -> Vec<&ItemKind> {
    let items = content.items().iter().map(AsRef::as_ref);
    items.filter(|item| item.tool.is_some()).collect()
}

fn tans(npc: &NpcPlacement) -> bool {
    let nodes = npc
        .dialogue
        .iter()
        .flat_map(|dialogue| dialogue.nodes.values());
    let mut effects = nodes.flat_map(|node| {
        let answers = node
            .answers
            .iter()
            .filter_map(|answer| answer.effect.as_ref());
        answers.chain(&node.effect)
    });
    npc.service.as_ref() == "tanner" || effects.any(|effect| *effect == Effect::OpenTanner)
}

/// Recipe of any skill.
struct Recipe<'a> {
    sort: &'static str,
    inputs: Vec<&'a str>,
    outputs: Vec<&'a Arc<str>>,
    /// Items of which any one will do; if there are none, the recipe needs none.
    any_of: &'a [Arc<str>],
    /// Sort of station; none for anywhere.
    station: Option<&'a str>,
    rune_type: Option<&'a str>,
    tanned: bool,
}

impl Recipe<'_> {
    /// Returns the reason why nobody can make it, if there is one.
    fn missing(&self, goods: &Goods) -> Option<String> {
        if let Some(item) = self.inputs.iter().find(|item| !goods.has(item)) {
            return Some(format!("nobody can get {item}"));
        }
        if !self.any_of.is_empty() && !self.any_of.iter().any(|item| goods.has(item)) {
            return Some("nobody can get what it is made of".to_owned());
        }
        if let Some(station) = self.station.filter(|station| !goods.station(station)) {
            return Some(format!("there is no {station} that can be used"));
        }
        if let Some(rune) = self
            .rune_type
            .filter(|rune| !goods.rune_types.contains(*rune))
        {
            return Some(format!("there is no altar of {rune}"));
        }
        (self.tanned && !goods.tanner).then(|| "there is no tanner".to_owned())
    }
}

/// Passes every recipe to `to`.
fn each<'a>(content: &'a Content, mut to: impl FnMut(&Recipe<'a>)) {
    heated(content, &mut to);
    by_hand(content, &mut to);
    brought(content, &mut to);
}

impl Recipe<'_> {
    /// Returns a recipe of that skill without inputs or outputs.
    fn blank(sort: &'static str) -> Recipe<'static> {
        Recipe {
            sort,
            inputs: Vec::new(),
            outputs: Vec::new(),
            any_of: &[],
            station: None,
            rune_type: None,
            tanned: false,
        }
    }
}

fn of(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().map(|part| part.item.as_ref())
}

/// Passes the recipes of cooking, smelting and smithing to `to`.
fn heated<'a>(content: &'a Content, to: &mut impl FnMut(&Recipe<'a>)) {
    let recipes = content.recipes();
    for r in recipes.cooking.iter() {
        let outputs = [&r.cooked, &r.burnt].into_iter();
        to(&Recipe {
            inputs: vec![&r.raw],
            outputs: outputs.filter(|item| !item.is_empty()).collect(),
            ..Recipe::blank("cooking")
        });
    }
    for r in recipes.smelting.iter() {
        to(&Recipe {
            inputs: of(&r.inputs).collect(),
            outputs: vec![&r.output],
            station: Some(FURNACE),
            ..Recipe::blank("smelting")
        });
    }
    for r in recipes.smithing.iter() {
        to(&Recipe {
            inputs: vec![&r.bar, HAMMER],
            outputs: vec![&r.output],
            station: Some(ANVIL),
            ..Recipe::blank("smithing")
        });
    }
}

/// Passes the recipes of crafting and fletching to `to`.
fn by_hand<'a>(content: &'a Content, to: &mut impl FnMut(&Recipe<'a>)) {
    let recipes = content.recipes();
    for r in recipes.crafting.iter() {
        let tools = r.tools.iter().map(AsRef::as_ref);
        let used = r.consumed.iter().map(|consumed| consumed.item.as_ref());
        to(&Recipe {
            inputs: of(&r.inputs).chain(tools).chain(used).collect(),
            outputs: vec![&r.output],
            station: r.station.as_deref(),
            ..Recipe::blank("crafting")
        });
    }
    for r in recipes.fletching.iter() {
        let tools = r.tools.iter().map(AsRef::as_ref);
        to(&Recipe {
            inputs: of(&r.inputs).chain(tools).collect(),
            outputs: vec![&r.output],
            ..Recipe::blank("fletching")
        });
    }
}

/// Passes the recipes of rune altars and tanners to `to`.
fn brought<'a>(content: &'a Content, to: &mut impl FnMut(&Recipe<'a>)) {
    let recipes = content.recipes();
    for r in recipes.runecrafting.iter() {
        to(&Recipe {
            outputs: vec![&r.output],
            any_of: &r.essences,
            station: Some(RUNE_ALTAR),
            rune_type: Some(&r.rune_type),
            ..Recipe::blank("runecrafting")
        });
    }
    for r in recipes.tanning.iter() {
        to(&Recipe {
            inputs: vec![&r.input],
            outputs: vec![&r.output],
            tanned: true,
            ..Recipe::blank("tanning")
        });
    }
}

/// Adds a fault for each item that nobody can get and each recipe that nobody can make.
pub(super) fn inspect(content: &Content, goods: &Goods, faults: &mut Faults) {
    for item in content.items().iter() {
        let burns = !content.recipes().firemaking.is_empty();
        let ashes = burns && item.id.as_ref() == ASHES;
        if !matches!(item.note, Note::Of(_)) && !ashes && !goods.has(&item.id) {
            let what = "nobody drops, sells, gives or grows it, and nobody can make it";
            faults.add("item", &item.id, what);
        }
    }
    each(content, |recipe| {
        let what = recipe.outputs.first().map_or("", |item| item);
        if let Some(missing) = recipe.missing(goods) {
            faults.add(recipe.sort, what, missing);
        }
    });
    for r in content.recipes().firemaking.iter() {
        if !goods.has(&r.log) {
            faults.add("firemaking", &r.log, format!("nobody can get {}", r.log));
        }
    }
    let placed: BTreeSet<&str> = fixtures(content)
        .map(|fixture| fixture.of.as_ref())
        .collect();
    let tools = tools(content);
    for kind in content.resources().iter() {
        if !placed.contains(kind.id.as_ref()) {
            faults.add("resource", &kind.id, "is placed nowhere");
        } else if !goods.gathers(&tools, kind) {
            faults.add(
                "resource",
                &kind.id,
                "nobody can get the tool or the bait for it",
            );
        }
    }
    for spell in content.spells().iter() {
        if let Some(cost) = spell.runes.iter().find(|cost| !goods.has(&cost.rune)) {
            faults.add("spell", &spell.id, format!("nobody can get {}", cost.rune));
        }
    }
}

/// Returns whether there is a recipe for `item`.
pub(super) fn made(content: &Content, item: &str) -> bool {
    let mut found = false;
    each(content, |recipe| {
        found |= recipe.outputs.iter().any(|output| output.as_ref() == item);
    });
    found
}
