//! `/admin/*`: the switches of operators: the freeze of exchanges, draining runs, paused regions
//! and quarantine.
//!
//! Always: the store's record names the operator by the id of the account, before the switch has
//! any effect. A repeated switch changes nothing and says so.

use std::sync::Arc;

use axum::{Json, extract::State};
use proto::{
    client::admin::COORDINATE_MAX,
    rpc::{
        common::v1 as common,
        identity::v1::{AuditAction, ModerateRequest},
        queries::v1::{PauseRegionRequest, RegionStatus, ResumeRegionRequest},
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tonic::Code as Grpc;

use super::{
    ask::{Body, Id},
    problem::{Code, Problem},
    route::{ADMINS, Accepted, Answer, Call, Route, VIEWERS},
    values::Around,
    world::ZoneState,
};
use crate::{app::App, auth::caller::Caller};

pub(super) fn routes() -> Vec<Route> {
    let character = "0199c3a0-0000-7000-8000-000000000001";
    vec![
        VIEWERS.get(
            "/admin/freeze",
            "Whether items and coins may move",
            is_frozen,
        ),
        ADMINS.post(
            "/admin/freeze",
            "Refuses all that moves items or coins",
            freeze,
        ),
        ADMINS.delete("/admin/freeze", "Allows it again", unfreeze),
        VIEWERS.get(
            "/admin/zones",
            "Every zone, and every region with what it costs",
            zones,
        ),
        ADMINS
            .post(
                "/admin/zones/{id}/drain",
                "Has a zone give its regions to others",
                drain,
            )
            .path("The zone's run.", "7"),
        ADMINS
            .post(
                "/admin/regions/pause",
                "Has nobody play a region until it is resumed",
                pause,
            )
            .problems(&[Code::NotFound]),
        ADMINS.post(
            "/admin/regions/resume",
            "Lets a paused region be played again",
            resume,
        ),
        VIEWERS.get(
            "/admin/quarantine",
            "Characters that are kept out of the world",
            quarantine,
        ),
        ADMINS
            .delete(
                "/admin/quarantine/{id}",
                "Lets a character play again",
                lift,
            )
            .path("The character.", character),
    ]
}

/// Records a switch and the operator who is about to make it.
pub(super) async fn record(
    app: &App,
    caller: &Caller,
    action: AuditAction,
    (character_id, reason): (&str, &str),
) -> Result<(), Problem> {
    let request = ModerateRequest {
        action: action.into(),
        by: caller.by(),
        character_id: character_id.to_owned(),
        reason: reason.to_owned(),
        ..ModerateRequest::default()
    };
    Ok(app.auth.identity.moderate(request).await?)
}

async fn frozen(app: &App) -> Result<bool, Problem> {
    Ok(app.queries.totals().await?.frozen)
}

/// Whether items and coins are frozen.
#[derive(Debug, Serialize, JsonSchema)]
struct Frozen {
    frozen: bool,
}

async fn is_frozen(State(app): State<Arc<App>>) -> Answer<Frozen> {
    let frozen = frozen(&app).await?;
    Ok(Json(Frozen { frozen }))
}

/// Whether items and coins are frozen now, and were not before.
#[derive(Debug, Serialize, JsonSchema)]
struct FrozenChanged {
    frozen: bool,
    /// False: it was so already.
    changed: bool,
}

/// Freezes items and coins: nothing moves them until an operator lifts the freeze.
async fn freeze(Call { app, caller }: Call) -> Answer<FrozenChanged> {
    set_frozen(&app, &caller, true).await
}

async fn unfreeze(Call { app, caller }: Call) -> Answer<FrozenChanged> {
    set_frozen(&app, &caller, false).await
}

async fn set_frozen(app: &App, caller: &Caller, frozen: bool) -> Answer<FrozenChanged> {
    let changed = self::frozen(app).await? != frozen;
    let action = if frozen {
        AuditAction::Freeze
    } else {
        AuditAction::Unfreeze
    };
    record(app, caller, action, ("", "")).await?;
    Ok(Json(FrozenChanged { frozen, changed }))
}

/// A zone as operators see it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ZoneProcess {
    #[schemars(example = &"7")]
    id: String,
    #[schemars(example = &"zone-0:5700")]
    address: String,
    state: ZoneState,
    /// Ticks that the zone has still to play of those that another zone has played; null: it does not
    /// answer.
    ticks_behind: Option<u64>,
    /// Mean work of a tick; null: it does not answer, or does not tell.
    tick_micros: Option<u32>,
    /// Mean time in which the store answers a commit; null: it does not answer, or has committed nothing.
    commit_micros: Option<u32>,
}

/// A region, with its cost.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RegionCost {
    x: i32,
    z: i32,
    /// The zone that plays it.
    #[schemars(example = &"7")]
    zone: Option<String>,
    epoch: u64,
    players: u32,
    cost_micros: u32,
    /// The zone that is to have it.
    #[schemars(example = &"8")]
    goes_to: Option<String>,
    faults: u32,
    paused: bool,
}

impl From<&RegionStatus> for RegionCost {
    fn from(row: &RegionStatus) -> Self {
        let at = row.region.unwrap_or_default();
        let or_none = |run: u64| (run != 0).then(|| run.to_string());
        Self {
            x: at.x,
            z: at.z,
            zone: or_none(row.run_id),
            epoch: row.epoch,
            players: row.players,
            cost_micros: row.cost_us,
            goes_to: or_none(row.wanted_run_id),
            faults: row.faults,
            paused: row.paused,
        }
    }
}

/// Every zone and every region.
#[derive(Debug, Serialize, JsonSchema)]
struct Zones {
    zones: Vec<ZoneProcess>,
    regions: Vec<RegionCost>,
}

/// Lists every run, and every region with its cost.
async fn zones(State(app): State<Arc<App>>) -> Answer<Zones> {
    let reply = app.queries.regions().await?;
    let view = app.zones.directory();
    let crowds = app.live_queries.crowds(&view).await;
    let zones = view.runs().map(|run| {
        let pace = crowds.paces.get(&run.run_id);
        ZoneProcess {
            id: run.run_id.to_string(),
            address: run.address.clone(),
            state: ZoneState::of(run.draining),
            ticks_behind: pace.map(|pace| crowds.tick - pace.tick),
            tick_micros: pace.and_then(|pace| pace.tick_us),
            commit_micros: pace.and_then(|pace| pace.commit_us),
        }
    });
    Ok(Json(Zones {
        zones: zones.collect(),
        regions: reply.rows.iter().map(RegionCost::from).collect(),
    }))
}

/// A zone that gives its regions to others.
#[derive(Debug, Serialize, JsonSchema)]
struct Drained {
    #[schemars(example = &"7")]
    zone: String,
    state: Draining,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Draining {
    Draining,
}

/// Orders a run to give its regions to others.
async fn drain(Call { app, caller }: Call, Id(id): Id) -> Result<Accepted<Drained>, Problem> {
    let none = || Problem::of(Code::NotFound, "No such zone lives.");
    let run_id: u64 = id.parse().map_err(|_| none())?;
    if app.zones.directory().run(run_id).is_none() {
        return Err(none());
    }
    let zone = format!("zone {run_id}");
    record(&app, &caller, AuditAction::Drain, ("", &zone)).await?;
    match app.queries.drain(run_id).await {
        Ok(()) => {}
        Err(status) if status.code() == Grpc::PermissionDenied => return Err(none()),
        Err(status) => return Err(status.into()),
    }
    Ok(Accepted(Drained {
        zone: run_id.to_string(),
        state: Draining::Draining,
    }))
}

/// Place of a region, in regions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RegionPlace {
    x: RegionIndex,
    z: RegionIndex,
}

/// A coordinate of a region, counted in regions.
type RegionIndex = Around<{ COORDINATE_MAX / world::geometry::tile::REGION_TILES }>;

/// A region, and whether this paused it.
#[derive(Debug, Serialize, JsonSchema)]
struct Paused {
    x: i32,
    z: i32,
    /// False: it was paused already.
    changed: bool,
}

/// Has the zone that plays a region save it and let it go, and lets no other zone play it.
async fn pause(Call { app, caller }: Call, Body(place): Body<RegionPlace>) -> Answer<Paused> {
    let (x, z) = (place.x.get(), place.z.get());
    if !app.zones.directory().has(world::Region { x, z }) {
        return Err(Problem::of(Code::NotFound, "The world has no such region."));
    }
    let region = Some(common::Region { x, z });
    let place = format!("region {x},{z}");
    record(&app, &caller, AuditAction::PauseRegion, ("", &place)).await?;
    let asked = PauseRegionRequest { region };
    let changed = app.queries.pause_region(asked).await?;
    Ok(Json(Paused { x, z, changed }))
}

/// A region, and whether it was paused.
#[derive(Debug, Serialize, JsonSchema)]
struct Resumed {
    x: i32,
    z: i32,
    /// False: it was not paused.
    changed: bool,
}

/// Lets a zone play a paused region again.
async fn resume(Call { app, caller }: Call, Body(place): Body<RegionPlace>) -> Answer<Resumed> {
    let (x, z) = (place.x.get(), place.z.get());
    let region = Some(common::Region { x, z });
    let asked = ResumeRegionRequest { region };
    let place = format!("region {x},{z}");
    record(&app, &caller, AuditAction::ResumeRegion, ("", &place)).await?;
    let changed = app.queries.resume_region(asked).await?;
    Ok(Json(Resumed { x, z, changed }))
}

/// A character that is kept out of the world.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct QuarantinedCharacter {
    player_id: String,
    #[schemars(example = &"Cid")]
    name: String,
}

/// All characters that are kept out of the world.
#[derive(Debug, Serialize, JsonSchema)]
struct Quarantined {
    players: Vec<QuarantinedCharacter>,
}

async fn quarantine(State(app): State<Arc<App>>) -> Answer<Quarantined> {
    let reply = app.queries.quarantined().await?;
    let players = reply.rows.into_iter().map(|held| QuarantinedCharacter {
        player_id: held.character_id,
        name: held.name,
    });
    Ok(Json(Quarantined {
        players: players.collect(),
    }))
}

/// A character after the end of its quarantine.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Lifted {
    player_id: String,
    quarantined: bool,
}

/// Lifts the quarantine of a character.
async fn lift(Call { app, caller }: Call, Id(id): Id) -> Answer<Lifted> {
    record(&app, &caller, AuditAction::ReleaseCharacter, (&id, "")).await?;
    if !app.queries.release_character(&id).await? {
        return Err(Problem::of(
            Code::NotFound,
            "No such character is quarantined.",
        ));
    }
    Ok(Json(Lifted {
        player_id: id,
        quarantined: false,
    }))
}
