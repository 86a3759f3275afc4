//! `/api/v1/world`: how the world is, part by part.
//!
//! Always: zones are asked what is so now; of a part whose zone does not answer, what the store
//! has last is shown, and no number of NPCs. Addresses of processes are for operators alone.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use world::{Area, Region};

use super::{problem::Problem, shapes::refused};
use crate::{app::App, clock};

/// The length of a tick, in milliseconds.
const TICK_MS: u64 = 600;

/// `GET /api/v1/world`
pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let view = app.zones.directory();
    let crowds = app.facts.crowds(&view).await;
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
            _ if view.paused(region) => "paused",
            Some(_) => "played",
            None => "waiting",
        };
        players += u64::from(here);
        if let Some(run) = run {
            let of_run = played.entry(run).or_default();
            *of_run = (of_run.0 + 1, of_run.1 + u64::from(here));
        }
        shown.push(json!({
            "x": region.x,
            "z": region.z,
            "players": here,
            "npcs": crowd.map(|crowd| crowd.npcs),
            "zone": run.map(|run| run.to_string()),
            "state": state,
        }));
    }
    let zones = view.runs().map(|run| {
        let (regions, players) = played.get(&run.run_id).copied().unwrap_or_default();
        json!({
            "id": run.run_id.to_string(),
            "state": if run.draining { "draining" } else { "live" },
            "regions": regions,
            "players": players,
        })
    });
    let tick = match crowds.tick {
        // All clocks count from the same moment.
        0 => clock::unix_ms() / TICK_MS,
        tick => tick,
    };
    let answer = json!({
        "tick": tick,
        "serverTime": clock::now_iso(),
        "players": players,
        "regions": shown,
        "zones": zones.collect::<Vec<_>>(),
    });
    Ok(Json(answer).into_response())
}

/// Players by region, as zones last told the store.
async fn stored(app: &App) -> Result<BTreeMap<Region, u32>, Problem> {
    let reply = app.queries.regions().await;
    let reply = reply.map_err(|status| refused(&status))?;
    let rows = reply.rows.into_iter().filter_map(|row| {
        let at = row.region?;
        Some((Region { x: at.x, z: at.z }, row.players))
    });
    Ok(rows.collect())
}

/// `GET /api/v1/world/areas`
pub(super) async fn areas(State(app): State<Arc<App>>) -> Response {
    let content = app.content();
    let areas: Vec<Value> = content.areas().iter().map(area).collect();
    Json(json!({"areas": areas})).into_response()
}

fn area(area: &Area) -> Value {
    let kind = match area {
        _ if area.starter_town => "town",
        _ if area.pvp => "pvp",
        _ if area.safe_zone => "safe",
        _ => "wilderness",
    };
    json!({
        "id": area.id,
        "name": area.name,
        "description": area.description,
        "kind": kind,
        "difficultyLevel": area.difficulty_level,
        "biome": area.biome,
        "safeZone": area.safe_zone,
        "pvpEnabled": area.pvp,
        "bounds": {
            "minX": area.bounds.min_x,
            "maxX": area.bounds.max_x,
            "minZ": area.bounds.min_z,
            "maxZ": area.bounds.max_z,
        },
    })
}
