//! `tilestead model-bounds`: measures all models and writes `model-bounds.json`. If models are
//! newer than that file, a start of the launcher measures them first too.
//!
//! Always: it names and leaves out an unreadable model. It replaces the file as a whole. Footprints
//! are those that the world computes from the same file.

mod glb;
mod shape;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use serde_json::{Value, json};

use self::shape::Bounds;

/// A tile's side in the units of models.
const TILE: f64 = 1.0;
/// Folders in folders.
const DEPTH_MAX: usize = 16;
const MODELS_MAX: usize = 100_000;

/// Outcome of a measurement.
pub(crate) struct Outcome {
    /// Line for people.
    pub(crate) said: String,
    /// Models that the measurement could not read, each with the reason.
    pub(crate) broken: Vec<String>,
}

/// Measures the models in `assets` and prints the outcome on standard output and error. Returns
/// exit code 65 if a model is broken, 64 if there is nothing to measure.
pub(crate) fn command(assets: &Path) -> ExitCode {
    let outcome = match write(assets, SystemTime::now()) {
        Ok(outcome) => outcome,
        Err(error) => return service_runtime::run::refuse(crate::NAME, &format!("{error:#}")),
    };
    for line in &outcome.broken {
        // If stderr is closed, there is no place left for a message; the exit code tells it too.
        let _ = writeln!(std::io::stderr(), "{}: {line}", crate::NAME);
    }
    let shown = crate::banner::show(&outcome.said);
    if outcome.broken.is_empty() {
        shown
    } else {
        ExitCode::from(service_runtime::run::EXIT_DATA)
    }
}

/// Measures the models of a world before its start, if one changed since the last measurement, and
/// tells people the outcome. Without manifests it does nothing.
pub(crate) fn refresh(world: &Path) {
    let assets = world.join("assets");
    if !is_stale(&assets) {
        return;
    }
    match write(&assets, SystemTime::now()) {
        Ok(outcome) => {
            for line in &outcome.broken {
                tracing::warn!("{line}");
            }
            crate::banner::show(&outcome.said);
        }
        // The world plays with the bounds of the last measurement.
        Err(error) => tracing::warn!("the models were not measured: {error:#}"),
    }
}

/// Returns whether there are manifests, and models that changed since the last measurement.
fn is_stale(assets: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let (models, manifests) = (assets.join("models"), assets.join("manifests"));
    if !models.is_dir() || !manifests.join("npcs.json").is_file() {
        return false;
    }
    let file = manifests.join("model-bounds.json");
    let (Some(measured), Some(known)) = (changed(&file), named_in(&file)) else {
        return true;
    };
    let mut found = Vec::new();
    if list(&models, "", 0, &mut found).is_err() {
        return true;
    }
    let files = found.iter().map(|path| models.join(path));
    let mut all = files.chain([manifests.join("stations.json")]);
    all.any(|path| changed(&path).is_some_and(|at| at > measured))
        || found.into_iter().collect::<BTreeSet<_>>() != known
}

/// Returns the measured models, by their paths below `models`; `None`: the file is unreadable.
fn named_in(file: &Path) -> Option<BTreeSet<String>> {
    let json: Value = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    let paths = json["models"].as_array()?.iter();
    let paths = paths.filter_map(|model| model["assetPath"].as_str());
    let below = paths.filter_map(|path| path.strip_prefix("asset://models/"));
    Some(below.map(str::to_owned).collect())
}

/// Measures the models below `assets/models` and writes `assets/manifests/model-bounds.json`.
fn write(assets: &Path, now: SystemTime) -> anyhow::Result<Outcome> {
    let assets = folder(assets)?;
    let scales = scales(&assets.join("manifests/stations.json"))?;
    let mut found = Vec::new();
    list(&assets.join("models"), "", 0, &mut found)?;
    found.sort();
    let (mut models, mut broken) = (Vec::new(), Vec::new());
    for path in &found {
        match glb::bounds(&assets.join("models").join(path)) {
            Ok(bounds) => models.push(record(path, &bounds, &scales)),
            Err(error) => broken.push(format!("models/{path}: {error:#}")),
        }
    }
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let file = json!({
        "generatedAt": service_runtime::clock::iso(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        "tileSize": TILE,
        "models": models,
    });
    let target = assets.join("manifests/model-bounds.json");
    replace(&target, &format!("{file:#}\n"))?;
    Ok(Outcome {
        said: format!("{} models measured: {}\n", models.len(), target.display()),
        broken,
    })
}

/// Returns the folder that has `models`: the given one, or `assets` in it.
fn folder(given: &Path) -> anyhow::Result<PathBuf> {
    let inner = given.join("assets");
    let candidates = [given.to_owned(), inner];
    let found = candidates.into_iter().find(|at| at.join("models").is_dir());
    found.with_context(|| format!("{} has no folder models", given.display()))
}

/// Returns one model's record.
fn record(path: &str, bounds: &Bounds, scales: &BTreeMap<String, f64>) -> Value {
    let scale = scales.get(&format!("models/{path}")).copied();
    let size = bounds.dimensions();
    let scale = parts(scale.unwrap_or(1.0), 1e3);
    let tiles = |length: f64| world::content::tiles_covered(parts(length / TILE, 1e6), scale);
    json!({
        "id": path.strip_suffix(".glb").unwrap_or(path),
        "assetPath": format!("asset://models/{path}"),
        "bounds": {"min": point(bounds.min), "max": point(bounds.max)},
        "dimensions": point(size),
        "footprint": {"width": tiles(size[0]), "depth": tiles(size[2])},
    })
}

/// Returns a number in parts, as a whole one.
fn parts(number: f64, parts: f64) -> u32 {
    (number * parts).round().clamp(0.0, f64::from(i32::MAX)) as u32
}

/// Returns a point, rounded to a millionth.
fn point([x, y, z]: [f64; 3]) -> Value {
    let round = |n: f64| (n * 1e6).round() / 1e6 + 0.0;
    json!({"x": round(x), "y": round(y), "z": round(z)})
}

/// Returns the scales at which stations show their models, by the model's path below the root of
/// assets. If several stations show a model, the largest scale counts. Empty if there is no such
/// file.
fn scales(file: &Path) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut scales = BTreeMap::new();
    if !file.exists() {
        return Ok(scales);
    }
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let json: Value =
        serde_json::from_str(&text).with_context(|| format!("read {}", file.display()))?;
    let stations = json.get("stations").unwrap_or(&json).as_array();
    for station in stations.into_iter().flatten() {
        let Some(model) = station["model"].as_str() else {
            continue;
        };
        let model = model.strip_prefix("asset://").unwrap_or(model);
        let scale = station["modelScale"].as_f64().unwrap_or(1.0);
        if scale.is_finite() && scale > 0.0 {
            let largest = scales.entry(model.to_owned()).or_insert(scale);
            *largest = largest.max(scale);
        }
    }
    Ok(scales)
}

/// Lists the models in a folder and its subfolders, by their paths below it.
fn list(folder: &Path, prefix: &str, depth: usize, out: &mut Vec<String>) -> anyhow::Result<()> {
    let at = || format!("read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(at)? {
        let entry = entry.with_context(at)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() && depth < DEPTH_MAX {
            list(&path, &format!("{prefix}{name}/"), depth + 1, out)?;
        } else if path.is_file() && name.ends_with(".glb") {
            anyhow::ensure!(out.len() < MODELS_MAX, "more than {MODELS_MAX} models");
            out.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// Puts the text in the place of the file, all of it or nothing.
fn replace(target: &Path, text: &str) -> anyhow::Result<()> {
    let at = || format!("write {}", target.display());
    let draft = target.with_extension("json.draft");
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).with_context(at)?;
    }
    fs::write(&draft, text).with_context(at)?;
    fs::rename(&draft, target).with_context(at)
}
