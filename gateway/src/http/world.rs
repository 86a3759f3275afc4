//! `/api/v1/world`: the state of the world, part by part.
//!
//! Always: the gateway asks zones for the present state. If a region's zone does not answer, the
//! store's last state stands in, without a number of NPCs. Addresses of processes are for operators
//! alone.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State};
use schemars::JsonSchema;
use serde::Serialize;
use world::{Region, TICK_MS};

use super::{
    problem::Problem,
    route::{ANYBODY, Answer, Route},
    shapes::Rectangle,
    values::Time,
};
use crate::{app::App, clock};

pub(super) fn routes() -> Vec<Route> {
    vec![
        ANYBODY
            .get("/api/v1/world", "How the world is", get)
            .about("`npcs` is null where the zone did not answer in time."),
        ANYBODY.get("/api/v1/world/areas", "The named parts of the world", areas),
    ]
}

/// Whether a region is played.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RegionState {
    Played,
    Waiting,
    Paused,
}

/// A region now.
#[derive(Debug, Serialize, JsonSchema)]
struct RegionNow {
    x: i32,
    z: i32,
    players: u32,
    npcs: Option<u32>,
    /// The zone that plays it.
    #[schemars(example = &"7")]
    zone: Option<String>,
    state: RegionState,
}

/// Whether a zone takes players.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ZoneState {
    Live,
    Draining,
}

impl ZoneState {
    pub(super) fn of(draining: bool) -> Self {
        match draining {
            true => Self::Draining,
            false => Self::Live,
        }
    }
}

/// A zone now.
#[derive(Debug, Serialize, JsonSchema)]
struct ZoneNow {
    #[schemars(example = &"7")]
    id: String,
    state: ZoneState,
    regions: u64,
    players: u64,
}

/// The world now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "World")]
struct Now {
    #[schemars(example = 2_983_000_000_u64)]
    tick: u64,
    server_time: Time,
    players: u64,
    regions: Vec<RegionNow>,
    zones: Vec<ZoneNow>,
}

async fn get(State(app): State<Arc<App>>) -> Answer<Now> {
    let view = app.zones.directory();
    let crowds = app.live_queries.crowds(&view).await;
    let regions = app.content().regions();
    let silent = |region: &Region| !crowds.regions.contains_key(region);
    let stored = match regions.iter().any(silent) {
        true => stored(&app).await?,
        false => BTreeMap::new(),
    };
    let mut players: u64 = 0;
    let mut played: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut shown = Vec::with_capacity(regions.len());
    for region in regions {
        let crowd = crowds.regions.get(&region);
        let here = crowd.map(|crowd| crowd.players);
        let here = here.or_else(|| stored.get(&region).copied()).unwrap_or(0);
        let run = view.owner_of(region).map(|owner| owner.run_id);
        let state = match run {
            _ if view.paused(region) => RegionState::Paused,
            Some(_) => RegionState::Played,
            None => RegionState::Waiting,
        };
        players += u64::from(here);
        if let Some(run) = run {
            let of_run = played.entry(run).or_default();
            *of_run = (of_run.0 + 1, of_run.1 + u64::from(here));
        }
        shown.push(RegionNow {
            x: region.x,
            z: region.z,
            players: here,
            npcs: crowd.map(|crowd| crowd.npcs),
            zone: run.map(|run| run.to_string()),
            state,
        });
    }
    let zones = view.runs().map(|run| {
        let (regions, players) = played.get(&run.run_id).copied().unwrap_or_default();
        ZoneNow {
            id: run.run_id.to_string(),
            state: ZoneState::of(run.draining),
            regions,
            players,
        }
    });
    let tick = match crowds.tick {
        // All clocks count ticks from the same moment.
        0 => clock::unix_ms() / TICK_MS,
        tick => tick,
    };
    Ok(Json(Now {
        tick,
        server_time: Time::now(),
        players,
        regions: shown,
        zones: zones.collect(),
    }))
}

/// Returns players by region, as the store last heard from zones.
async fn stored(app: &App) -> Result<BTreeMap<Region, u32>, Problem> {
    let reply = app.queries.regions().await?;
    let rows = reply.rows.into_iter().filter_map(|row| {
        let at = row.region?;
        Some((Region { x: at.x, z: at.z }, row.players))
    });
    Ok(rows.collect())
}

/// Rules of an area.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AreaKind {
    Town,
    Safe,
    Wilderness,
    Pvp,
}

/// A named part of the world.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Area {
    #[schemars(example = &"harbour")]
    id: String,
    #[schemars(example = &"The Harbour")]
    name: String,
    #[schemars(example = &"Where most begin.")]
    description: String,
    kind: AreaKind,
    difficulty_level: u32,
    #[schemars(example = &"plains")]
    biome: String,
    safe_zone: bool,
    pvp_enabled: bool,
    bounds: Rectangle,
}

impl From<&world::Area> for Area {
    fn from(area: &world::Area) -> Self {
        Self {
            id: area.id.to_string(),
            name: area.name.to_string(),
            description: area.description.to_string(),
            kind: match area {
                _ if area.starter_town => AreaKind::Town,
                _ if area.pvp => AreaKind::Pvp,
                _ if area.safe_zone => AreaKind::Safe,
                _ => AreaKind::Wilderness,
            },
            difficulty_level: area.difficulty_level,
            biome: area.biome.to_string(),
            safe_zone: area.safe_zone,
            pvp_enabled: area.pvp,
            bounds: area.bounds.into(),
        }
    }
}

/// All areas.
#[derive(Debug, Serialize, JsonSchema)]
struct Areas {
    areas: Vec<Area>,
}

async fn areas(State(app): State<Arc<App>>) -> Json<Areas> {
    let content = app.content();
    Json(Areas {
        areas: content.areas().iter().map(Area::from).collect(),
    })
}
