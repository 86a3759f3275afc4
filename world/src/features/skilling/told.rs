//! Messages about work.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Job;
use crate::entity::ids::EntityId;
use crate::refusal::Refusal;
use crate::server_events;
use crate::told::RefusalCode;

/// `activity:update`: the own character has begun to work, or has stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityUpdate {
    /// It is at work.
    pub active: bool,
    /// At work: gather, cook, smelt … as one asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Thing at which the player works, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<EntityId>,
    /// Recipe of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<Arc<str>>,
    /// Reason of the stop; absent: all is done, or the player does something else now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<RefusalCode>,
    /// Reason of the stop, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

server_events! {
    ActivityUpdate => "activity:update",
}

/// Returns the beginning of work.
pub(crate) fn begun(job: &Job, target: Option<EntityId>) -> ActivityUpdate {
    let (action, option) = match job {
        Job::Gather => ("gather", None),
        Job::Make(craft) => (craft.trade.name(), Some(Arc::clone(&craft.key))),
    };
    ActivityUpdate {
        active: true,
        action: Some(action.to_owned()),
        target,
        option,
        code: None,
        message: None,
    }
}

/// Returns the end of work. `why`: `None`, all is done.
pub(crate) fn stopped(why: Option<Refusal>) -> ActivityUpdate {
    ActivityUpdate {
        active: false,
        action: None,
        target: None,
        option: None,
        code: why.map(RefusalCode),
        message: why.map(|why| why.sentence().to_owned()),
    }
}
