//! `activity:update`: work, as clients read it.

use proto::client::activity::ActivityUpdate;
use world::{EntityId, Job, Refusal, skilling::Event};

use super::{Told, refusal};

/// Somebody has begun to work.
pub(crate) fn begun(job: &Job, target: Option<&EntityId>) -> ActivityUpdate {
    let (action, option) = match job {
        Job::Gather => ("gather", None),
        Job::Make(craft) => (craft.trade.name(), Some(craft.key.to_string())),
    };
    ActivityUpdate {
        active: true,
        action: Some(action.to_owned()),
        target: target.map(EntityId::to_string),
        option,
        code: None,
        message: None,
    }
}

/// Somebody works no more.
pub(crate) fn stopped(why: Option<Refusal>) -> ActivityUpdate {
    let why = why.map(refusal::refused);
    let (code, message) = why.map(|why| (why.code, why.words)).unzip();
    ActivityUpdate {
        active: false,
        action: None,
        target: None,
        option: None,
        code,
        message,
    }
}

/// Returns what a player is told of its work.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Begun { job, target, .. } => Told::of_value(&begun(job, target.as_ref())),
        Event::Stopped { why, .. } => Told::of_value(&stopped(*why)),
    }
}
