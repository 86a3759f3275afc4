//! `/admin/chaos`: zone servers that operators break for trial, and how the world recovers.
//!
//! Always: without the supervisor of `tilestead up --chaos` there is nothing to break. The store's
//! record names the operator before a process is broken.

use std::sync::Arc;

use axum::{Json, extract::State};
use proto::rpc::identity::v1::AuditAction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ask::Body,
    problem::{Code, Problem},
    route::{ADMINS, Accepted, Answer, Call, Route, VIEWERS},
    switches::record,
    values::{Short, Within},
};
use crate::{
    app::App,
    chaos::{Fault, FaultKind, FaultOrder, NoFault, SECONDS, Sight},
};

/// Reason for which there is nothing to break.
const NONE: &str =
    "Processes can be broken for trial only in a world that `tilestead up --chaos` began.";

pub(super) fn routes() -> Vec<Route> {
    vec![
        VIEWERS.get(
            "/admin/chaos",
            "Zone servers that may be broken for trial, and the last faults",
            look,
        ),
        ADMINS
            .post("/admin/chaos", "Breaks a zone server for trial", order)
            .about(
                "`kill` ends the process, and after the seconds another one takes its place; \
                 `freeze` stops it for so long; `cut_off` holds what comes to it, and what passes \
                 between it and the store.",
            )
            .problems(&[Code::NotFound, Code::Conflict, Code::NotReady]),
    ]
}

/// What may be broken, and what was.
#[derive(Debug, Serialize, JsonSchema)]
struct Chaos {
    /// Whether anything may be broken here.
    on: bool,
    /// Reason why nothing may be; null: something may.
    reason: Option<String>,
    #[serde(flatten)]
    sight: Sight,
}

async fn look(State(app): State<Arc<App>>) -> Answer<Chaos> {
    let seen = match &app.supervisor {
        Some(supervisor) => supervisor.look().await.map_err(|why| words(&why)),
        None => Err(NONE.to_owned()),
    };
    Ok(Json(match seen {
        Ok(sight) => Chaos {
            on: true,
            reason: None,
            sight,
        },
        Err(why) => Chaos {
            on: false,
            reason: Some(why),
            sight: Sight::default(),
        },
    }))
}

/// Returns what kept a fault from being made, for people.
fn words(why: &NoFault) -> String {
    match why {
        NoFault::Unknown => "There is no such process.".to_owned(),
        NoFault::Refused(words) => words.clone(),
        NoFault::Away(error) => {
            tracing::warn!(error, "the supervisor of this world does not answer");
            "The supervisor of this world does not answer.".to_owned()
        }
    }
}

/// What is to be broken, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"process": "zone-server 2", "fault": "kill", "seconds": 3}))]
struct Break {
    process: Short<64>,
    fault: FaultKind,
    /// Time for which the process is broken.
    seconds: Within<{ SECONDS.0 }, { SECONDS.1 }>,
}

async fn order(
    Call { app, caller }: Call,
    Body(asked): Body<Break>,
) -> Result<Accepted<Fault>, Problem> {
    let Some(supervisor) = &app.supervisor else {
        return Err(Problem::of(Code::NotFound, NONE));
    };
    let order = FaultOrder {
        process: asked.process.0,
        fault: asked.fault,
        seconds: asked.seconds.get(),
    };
    let (act, process, seconds) = (order.fault.words(), &order.process, order.seconds);
    let what = format!("{act} {process}, {seconds} s");
    record(&app, &caller, AuditAction::Chaos, ("", &what)).await?;
    let done = supervisor.order(&order).await;
    done.map(Accepted).map_err(|why| {
        let code = match why {
            NoFault::Unknown => Code::NotFound,
            NoFault::Refused(_) => Code::Conflict,
            NoFault::Away(_) => Code::NotReady,
        };
        Problem::of(code, words(&why))
    })
}
