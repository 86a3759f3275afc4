//! Fighting: its requests and notifications.

use proto::client::combat::{Combat, CombatHit};
use world::{Content, Hit, PlayerRecord, combat::Event};

use super::Told;

/// Returns the combat settings, `combat:update` and a part of `player:sync`.
pub(crate) fn ways(record: &PlayerRecord, content: &Content) -> Combat {
    let (style, styles) = world::styles_of(content, record);
    Combat {
        style: style.name().to_owned(),
        styles: styles.iter().map(|style| style.name().to_owned()).collect(),
        retaliate: record.ways.retaliates,
        spell: record.ways.spell.as_ref().map(ToString::to_string),
    }
}

/// Returns a blow, as those hear of it who dealt or took it, and as all see it.
pub(crate) fn hit(hit: &Hit) -> CombatHit {
    CombatHit {
        tick: hit.tick.0,
        attacker: hit.attacker.to_string(),
        target: hit.target.to_string(),
        damage: hit.damage,
        style: hit.kind.name().to_owned(),
        target_health: hit.health,
        target_max_health: hit.max_health,
        killed: hit.killed,
    }
}

/// Returns what a player is told of its fights.
pub(crate) fn told(
    event: &Event,
    record: Option<&PlayerRecord>,
    content: &Content,
) -> Option<Told> {
    Some(match event {
        Event::Hit { hit: blow, .. } => Told::now(&hit(blow)),
        // The styles that its weapon allows tell what it holds.
        Event::Settings { .. } => Told::of_value(&ways(record?, content)),
    })
}
