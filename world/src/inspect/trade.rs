//! Faults of NPCs, their homes and services, and of shops.

use std::collections::BTreeSet;

use super::Faults;
use super::reach::npcs;
use crate::content::{AttackType, Content, Dialogue, Effect, Node, NpcKind, ServiceKind};

pub(super) fn inspect(content: &Content, faults: &mut Faults) {
    shops(content, faults);
    let placed: BTreeSet<&str> = npcs(content).map(|npc| npc.kind.id.as_ref()).collect();
    for kind in content.npc_kinds().iter() {
        if !placed.contains(kind.id.as_ref()) {
            faults.add("NPC", &kind.id, "lives nowhere");
        }
        if kind.attackable {
            fights(kind, faults);
        }
    }
    let mut heard = BTreeSet::new();
    for npc in npcs(content) {
        let Some(dialogue) = &npc.dialogue else {
            continue;
        };
        if !heard.insert(&npc.kind.id) {
            continue;
        }
        for id in unsaid(dialogue) {
            faults.add("NPC", &npc.id, format!("never comes to say {id:?}"));
        }
        for effect in effects(dialogue) {
            let able = match effect {
                Effect::OpenBank => {
                    npc.kind.services.has(&ServiceKind::Bank) || npc.service.as_ref() == "bank"
                }
                Effect::OpenStore => npc.store.is_some(),
                _ => true,
            };
            if !able {
                faults.add("NPC", &npc.id, format!("offers {effect:?} and has none"));
            }
        }
    }
}

fn fights(kind: &NpcKind, faults: &mut Faults) {
    let lacks = match kind.fight.attack {
        AttackType::Magic => kind.fight.spell.is_none().then_some("a spell"),
        AttackType::Ranged => kind.fight.arrow.is_none().then_some("an arrow"),
        _ => None,
    };
    if let Some(lacks) = lacks {
        faults.add("NPC", &kind.id, format!("fights without {lacks}"));
    }
    if kind.fight.aggressive && kind.fight.aggro_tiles == 0 {
        faults.add("NPC", &kind.id, "is aggressive towards nobody, at 0 tiles");
    }
}

/// Adds faults for shops that nobody keeps, and for goods that some shop buys for more than they
/// cost. A shop must not sell one item twice.
fn shops(content: &Content, faults: &mut Faults) {
    let kept: BTreeSet<&str> = npcs(content)
        .filter_map(|npc| npc.store.as_deref())
        .collect();
    let buyers = content.stores().iter().filter(|store| store.buys);
    let best = buyers
        .map(|store| u64::from(store.buyback_thousandths))
        .max();
    for store in content.stores().iter() {
        if !kept.contains(store.id.as_ref()) {
            faults.add("store", &store.id, "nobody keeps it");
        }
        let mut ids = BTreeSet::new();
        for good in &store.goods {
            let value = content.item(&good.item).map_or(0, |item| item.value);
            let paid = value * best.unwrap_or(0) / 1_000;
            if paid > u64::from(good.price) {
                let what = format!("sells {} for {}, and {paid} is paid", good.item, good.price);
                faults.add("store", &store.id, what);
            }
            if !ids.insert(&good.item) {
                faults.add("store", &store.id, format!("sells {} twice", good.item));
            }
        }
    }
}

/// Returns all effects that a talk can have.
pub(super) fn effects(dialogue: &Dialogue) -> impl Iterator<Item = &Effect> {
    dialogue.nodes.values().flat_map(effects_of)
}

fn effects_of(node: &Node) -> impl Iterator<Item = &Effect> {
    let answers = node
        .answers
        .iter()
        .filter_map(|answer| answer.effect.as_ref());
    answers.chain(&node.effect)
}

/// Returns whether a talk that begins with the node `begin` can reach `wanted`.
pub(super) fn leads(dialogue: &Dialogue, begin: &str, wanted: &Effect) -> bool {
    let said = said(dialogue, vec![begin]);
    let nodes = said.iter().filter_map(|id| dialogue.nodes.get(*id));
    nodes.flat_map(effects_of).any(|effect| effect == wanted)
}

/// Returns the nodes that a talk can reach if it begins with one of `open`.
fn said<'d>(dialogue: &'d Dialogue, mut open: Vec<&'d str>) -> BTreeSet<&'d str> {
    let mut said = BTreeSet::new();
    while let Some(id) = open.pop() {
        let Some((id, node)) = dialogue.nodes.get_key_value(id) else {
            continue;
        };
        if said.insert(id.as_ref()) {
            let next = node.answers.iter();
            open.extend(next.filter_map(|answer| answer.next.as_deref()));
        }
    }
    said
}

/// Returns the nodes that no talk reaches.
fn unsaid(dialogue: &Dialogue) -> Vec<&str> {
    let overrides = dialogue.overrides.values();
    let begun = overrides.flat_map(|o| {
        let usual = [&o.in_progress, &o.ready_to_complete, &o.completed];
        usual.into_iter().flatten().chain(o.stages.values())
    });
    let mut begun: Vec<&str> = begun.map(AsRef::as_ref).collect();
    begun.push(&dialogue.entry);
    let said = said(dialogue, begun);
    let all = dialogue.nodes.keys().map(AsRef::as_ref);
    all.filter(|id| !said.contains(id)).collect()
}
