//! Fighting: the combat settings of players, and the combat state of all fighters. The state moves
//! along in a handover. The store saves the settings.
//!
//! Always: at most [`COMING_MAX`] blows are on their way to one target.

pub(crate) mod attack_rules;
pub(crate) mod blows;
pub(crate) mod fighter;
pub(crate) mod loot;
pub(crate) mod mind;
pub(crate) mod reach;
pub(crate) mod roll;
pub(crate) mod state;
pub(crate) mod style;
pub(crate) mod supplies;
pub(crate) mod tick;
pub(crate) mod timing;
pub mod told;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::record::PlayerRecord;
use crate::features::duel::Conduct;
use crate::features::trade::Screen;
use crate::told::{Message, Recipient};
use crate::wire::{self, BadRequest};

pub use told::Hit;

pub use state::*;

/// Returns the style in which a player fights now, and the styles that its weapon allows.
pub fn styles_of(content: &Content, record: &PlayerRecord) -> (Style, &'static [Style]) {
    let sort = fighter::weapon_sort(content, record);
    (
        style::in_use(&record.combat_settings, sort),
        style::allowed(sort),
    )
}

/// Request about fighting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Intent {
    /// Attack on a target, and the way to it.
    #[schemars(skip)]
    Attack {
        /// Target.
        target: EntityId,
    },
    /// Choice of a style; [`Packet`] has its request.
    #[schemars(skip)]
    Style(Style),
    /// Choice to turn to attackers, or not.
    #[serde(rename = "combat:retaliate")]
    Retaliate {
        /// Whether the player turns to them.
        on: bool,
    },
    /// Choice of a spell to cast in fights; `None`: none.
    #[serde(rename = "combat:autocast")]
    Autocast {
        /// Spell id; null: none.
        #[serde(default)]
        spell: Option<Arc<str>>,
    },
}

impl Intent {
    /// Returns what the rules of a duel make of it.
    pub(crate) const fn conduct(&self) -> Conduct {
        match self {
            Intent::Attack { .. } => Conduct::Attack,
            Intent::Style(_) | Intent::Retaliate { .. } | Intent::Autocast { .. } => {
                Conduct::Harmless
            }
        }
    }
}

impl wire::Requests for Intent {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        match &self {
            Intent::Autocast { spell } => {
                spell.as_ref().map_or(Ok(()), |id| wire::id("spell", id))?;
            }
            Intent::Attack { .. } | Intent::Style(_) | Intent::Retaliate { .. } => {}
        }
        Ok(self)
    }
}

/// Requests whose data have other names in the rules.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) enum Packet {
    /// Fights in a style from now on.
    #[serde(rename = "combat:style")]
    Style {
        /// Style: accurate, aggressive, defensive, controlled, rapid, longrange, autocast.
        style: String,
    },
}

impl wire::Requests for Packet {
    type Intent = Intent;

    fn intent(self, _: Screen) -> Result<Intent, BadRequest> {
        let Packet::Style { style } = self;
        wire::id("style", &style)?;
        let named = Style::named(&style).ok_or_else(|| {
            let all: Vec<&str> = Style::ALL.iter().map(|style| style.name()).collect();
            format!("style: one of {}", all.join(", "))
        })?;
        Ok(Intent::Style(named))
    }
}

/// Fact about a fight for one player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Blow that landed, and that the player dealt or took.
    Hit(CharacterId, Hit),
    /// Change of the player's combat settings, or of the styles that its weapon allows.
    Settings {
        /// Player to tell.
        who: CharacterId,
    },
}

impl Event {
    /// Returns the player to tell.
    pub fn who(&self) -> &CharacterId {
        match self {
            Event::Hit(who, _) | Event::Settings { who, .. } => who,
        }
    }

    /// Returns the message for the player.
    pub(crate) fn message(&self, to: &Recipient<'_>) -> Option<Message> {
        Some(match self {
            Event::Hit(_, told) => Message::now(told),
            // The styles show the wielded weapon, which must be saved first.
            Event::Settings { .. } => Message::of_value(&told::settings(to.record?, to.content)),
        })
    }
}
