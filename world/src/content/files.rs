//! The list of manifests, the need for each, and the check that one can be read at all.

use serde_json::Value;

use super::reader::ContentError;

/// Need for a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Manifest without which nobody can play.
    Required,
    /// Required together with the others of `items/` that carry this mark, unless `items.json` is
    /// there.
    Items,
    /// Required unless `items/` is complete.
    ItemsInOne,
    /// Manifest without which the world is poorer.
    Optional,
}

/// Shape of a manifest's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// List, or object with a list under one of these names.
    List(&'static [&'static str]),
    /// Object.
    Object,
    /// List or object.
    Either,
}

/// Known manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manifest {
    /// Path below the folder of manifests.
    pub path: &'static str,
    /// Need for it.
    pub need: Need,
    /// Whether the world's rules read it; the server serves the others to clients without reading
    /// them.
    pub rules: bool,
    root: Root,
}

const fn list(path: &'static str, need: Need, names: &'static [&'static str]) -> Manifest {
    Manifest {
        path,
        need,
        rules: true,
        root: Root::List(names),
    }
}

const fn object(path: &'static str) -> Manifest {
    Manifest {
        path,
        need: Need::Optional,
        rules: true,
        root: Root::Object,
    }
}

const fn shown(path: &'static str) -> Manifest {
    Manifest {
        path,
        need: Need::Optional,
        rules: false,
        root: Root::Either,
    }
}

/// Manifests of all generations: everything worth a request to a content server.
pub const MANIFESTS: &[Manifest] = &[
    list("npcs.json", Need::Required, &["npcs"]),
    Manifest {
        need: Need::Required,
        ..object("world-areas.json")
    },
    list("biomes.json", Need::Required, &["biomes"]),
    list("stores.json", Need::Required, &["stores"]),
    list("items/weapons.json", Need::Items, &["items"]),
    list("items/tools.json", Need::Items, &["items"]),
    list("items/resources.json", Need::Items, &["items"]),
    list("items/food.json", Need::Items, &["items"]),
    list("items/misc.json", Need::Items, &["items"]),
    list("items/ammunition.json", Need::Optional, &["items"]),
    list("items/armor.json", Need::Optional, &["items"]),
    list("items/runes.json", Need::Optional, &["items"]),
    list("items.json", Need::ItemsInOne, &["items"]),
    list("mobs.json", Need::Optional, &["mobs"]),
    list("resources.json", Need::Optional, &["resources"]),
    list("gathering/woodcutting.json", Need::Optional, &["trees"]),
    list("gathering/mining.json", Need::Optional, &["rocks"]),
    list("gathering/fishing.json", Need::Optional, &["spots"]),
    list("recipes/cooking.json", Need::Optional, &["recipes"]),
    list("recipes/firemaking.json", Need::Optional, &["recipes"]),
    list("recipes/smelting.json", Need::Optional, &["recipes"]),
    list("recipes/smithing.json", Need::Optional, &["recipes"]),
    list("recipes/crafting.json", Need::Optional, &["recipes"]),
    list("recipes/fletching.json", Need::Optional, &["recipes"]),
    list("recipes/tanning.json", Need::Optional, &["recipes"]),
    list("recipes/runecrafting.json", Need::Optional, &["recipes"]),
    list("tools.json", Need::Optional, &["tools"]),
    list("stations.json", Need::Optional, &["stations"]),
    list("model-bounds.json", Need::Optional, &["models"]),
    list("prayers.json", Need::Optional, &["prayers"]),
    Manifest {
        root: Root::Either,
        ..object("quests.json")
    },
    list("ammunition.json", Need::Optional, &["arrows"]),
    list("rare-drops.json", Need::Optional, &["drops"]),
    list("runes.json", Need::Optional, &["runes"]),
    object("combat-spells.json"),
    list("duel-arenas.json", Need::Optional, &["arenas"]),
    object("tier-requirements.json"),
    object("skill-unlocks.json"),
    list("music.json", Need::Optional, &["music", "tracks"]),
    list("vegetation.json", Need::Optional, &["assets"]),
    Manifest {
        root: Root::Either,
        ..object("buildings.json")
    },
    shown("lod-settings.json"),
    shown("lod-bundles.json"),
    shown("templates.json"),
    shown("world-config.json"),
    shown("imposter-registry.json"),
    shown("duel-presentation-assets.json"),
    shown("zones.json"),
    shown("banks.json"),
    shown("avatars.json"),
    shown("asset-requirements.json"),
    shown("batch-generation.json"),
];

/// Returns the manifest at `path`, if it is known.
pub fn manifest(path: &str) -> Option<&'static Manifest> {
    MANIFESTS.iter().find(|manifest| manifest.path == path)
}

/// Returns the names under which a list file may keep its list in an object.
pub(crate) fn list_names(path: &str) -> &'static [&'static str] {
    match manifest(path).map(|manifest| manifest.root) {
        Some(Root::List(names)) => names,
        _ => &[],
    }
}

/// Returns whether the items stand in the folder `items/`, rather than in `items.json`. They do if
/// both are complete, and if neither is but some of the folder is there.
pub(crate) fn items_in_folder(has: impl Fn(&str) -> bool) -> bool {
    let mut folder = MANIFESTS.iter().filter(|m| m.need == Need::Items);
    if has("items.json") {
        folder.all(|m| has(m.path))
    } else {
        folder.any(|m| has(m.path))
    }
}

/// Returns the required manifests that `has` does not know. Without them nobody can play.
pub fn missing(has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let folder = items_in_folder(&has);
    let needed = MANIFESTS.iter().filter(|manifest| match manifest.need {
        Need::Required => true,
        Need::Items => folder,
        Need::ItemsInOne => !folder,
        Need::Optional => false,
    });
    needed.map(|m| m.path).filter(|path| !has(path)).collect()
}

/// Reads the text of the manifest at `path` as JSON of the shape that such a file has at all. A
/// cache checks a new copy with it before that replaces an old one.
///
/// # Errors
/// [`ContentError::Broken`]: it is not JSON, or its root is neither a list nor an object if the
/// path needs one. For an unknown path any JSON will do.
pub fn parse(path: &str, text: &str) -> Result<Value, ContentError> {
    let broken = |why: String| ContentError::Broken {
        file: path.to_owned(),
        why,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|e| broken(why_not(text, &e)))?;
    match manifest(path).map(|manifest| manifest.root) {
        Some(Root::List(names)) if list_of(&value, names).is_none() => Err(broken(format!(
            "neither a list nor an object with one of {names:?}"
        ))),
        Some(Root::Object) if !value.is_object() => Err(broken("not an object".to_owned())),
        Some(Root::Either) if !value.is_object() && !value.is_array() => {
            Err(broken("neither a list nor an object".to_owned()))
        }
        _ => Ok(value),
    }
}

/// Returns the reason for a person who has to mend a text that is not JSON.
fn why_not(text: &str, error: &serde_json::Error) -> String {
    let marked = ["<<<<<<< ", "=======", ">>>>>>> "];
    let mut lines = text.lines().enumerate();
    match lines.find(|(_, line)| marked.iter().any(|mark| line.starts_with(mark))) {
        Some((at, _)) => format!("has conflict markers, the first in line {}", at + 1),
        None => error.to_string(),
    }
}

/// Returns the list that `value` is, or that it has under one of `names`.
pub(crate) fn list_of<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(map) => names.iter().find_map(|name| map.get(*name))?.as_array(),
        _ => None,
    }
}
