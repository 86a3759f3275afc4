//! Fighting: what is asked of it, and what is told.

use proto::client::{
    ErrorCode,
    combat::{Combat, CombatAutocast, CombatHit, CombatStyle, PlayerDied, PlayerRespawned},
    sync::Position,
};
use world::{Content, Hit, Intent, PlayerRecord, Style, Tick, Tile};

use super::Refused;

/// `combat:style`.
pub(crate) fn style(asked: &CombatStyle) -> Result<Intent, Refused> {
    let style = Style::named(&asked.style).ok_or_else(|| {
        let all: Vec<&str> = Style::ALL.iter().map(|style| style.name()).collect();
        Refused {
            code: ErrorCode::InvalidData,
            words: format!("style: one of {}", all.join(", ")),
        }
    })?;
    Ok(Intent::FightAs(style))
}

/// `combat:autocast`.
pub(crate) fn autocast(asked: &CombatAutocast) -> Intent {
    let spell = asked.spell.as_deref().map(Into::into);
    Intent::Autocast { spell }
}

/// What is chosen of fighting, `combat:update` and a part of `player:sync`.
pub(crate) fn ways(record: &PlayerRecord, content: &Content) -> Combat {
    let (style, styles) = world::styles_of(content, record);
    Combat {
        style: style.name().to_owned(),
        styles: styles.iter().map(|style| style.name().to_owned()).collect(),
        retaliate: record.ways.retaliates,
        spell: record.ways.spell.as_ref().map(ToString::to_string),
    }
}

/// A blow, as those hear of it who dealt or took it, and as all see it.
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

/// `player:died`.
pub(crate) fn died(
    killer: Option<&str>,
    record: &PlayerRecord,
    tile: Tile,
    until: Tick,
) -> PlayerDied {
    PlayerDied {
        killed_by: killer.map(ToOwned::to_owned),
        position: position(record, tile),
        respawn_tick: until.0,
    }
}

/// `player:respawned`.
pub(crate) fn respawned(record: &PlayerRecord, tile: Tile) -> PlayerRespawned {
    PlayerRespawned {
        position: position(record, tile),
    }
}

fn position(record: &PlayerRecord, tile: Tile) -> Position {
    Position {
        x: tile.x,
        y: record.y as f32,
        z: tile.z,
    }
}
