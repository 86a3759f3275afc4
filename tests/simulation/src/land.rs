//! The small world of the simulation: four regions of grass that meet at a corner.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use proto::rpc::common::v1 as common;
use serde_json::{Value, json};
use service_runtime::telemetry::Telemetry;
use world::{Content, Region};
use zone_server::simulation::{Ground, config};

/// Ground on which the runs of one simulation stand.
pub(crate) struct Stage {
    pub(crate) ground: Ground,
}

impl Stage {
    pub(crate) fn new(mutants: zone_server::Mutants) -> Stage {
        let mut settings = settings();
        settings.mutants = mutants;
        Stage {
            ground: ground().with(settings),
        }
    }
}

fn ground() -> &'static Ground {
    static GROUND: OnceLock<Ground> = OnceLock::new();
    GROUND
        .get_or_init(|| Ground::new(content(), settings()).expect("instruments for the simulation"))
}

/// Returns the metrics of the zone servers and of the store.
pub(crate) fn metrics() -> [String; 2] {
    [&ground().telemetry, telemetry()].map(Telemetry::render_metrics)
}

fn settings() -> zone_server::Config {
    let mut config = config();
    config.rules.walk_tiles = 4;
    config.rules.run_tiles = 8;
    config.regions_in_max = Duration::MAX;
    config.rules.ground_own_ticks = 12;
    config.rules.ground_ticks = 70;
    config.rules.newcomer_ticks = 0;
    config.linger = Duration::from_secs(6);
    config.linger_in_combat = Duration::from_secs(18);
    config.save_interval = Duration::from_secs(12);
    config
}

/// Returns the instruments of the store, for all simulations of the process.
pub(crate) fn telemetry() -> &'static Telemetry {
    static TELEMETRY: OnceLock<Telemetry> = OnceLock::new();
    TELEMETRY.get_or_init(|| {
        persistence_svc::simulation::telemetry().expect("instruments for the store")
    })
}

/// Returns the region as the wire says it.
pub(crate) fn rpc_region(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}

/// Returns all regions of a content, as the wire says them.
pub(crate) fn regions(content: &Content) -> Vec<common::Region> {
    content.regions().into_iter().map(rpc_region).collect()
}

fn content() -> Arc<Content> {
    let bounds = json!({"minX": -64, "maxX": 64, "minZ": -64, "maxZ": 64});
    let areas = json!({
        "starterTowns": {"field": {"id": "field", "name": "The Field", "biomeType": "plain",
            "difficultyLevel": 0, "safeZone": true, "bounds": bounds}},
        "terrain": {"seed": 5, "bounds": bounds, "spawn": {"x": 1, "z": 1},
            "defaultBiome": "plain"},
    });
    let biomes = json!([{"id": "plain", "grounds": [["grass", 1]], "heightRange": [2, 2]}]);
    let files: BTreeMap<String, String> = [
        ("world-areas.json", areas),
        ("biomes.json", biomes),
        ("npcs.json", json!([])),
        ("stores.json", json!([])),
        ("items.json", items()),
    ]
    .map(|(path, json)| (path.to_owned(), json.to_string()))
    .into();
    let loaded = Content::load(&files).expect("the land loads");
    Arc::new(loaded.content)
}

fn items() -> Value {
    json!([
        {"id": "candle", "name": "Candle", "examine": "Wax.", "stackable": true},
        {"id": "tinderbox", "name": "Tinderbox", "examine": "Sparks."},
        {"id": "bronze_hatchet", "name": "Bronze hatchet", "examine": "Sharp."},
    ])
}
