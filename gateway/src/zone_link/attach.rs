//! Finds the run that plays a character and attaches the session there: the owner by the
//! directory first, then everybody, until somebody has it.

use std::{sync::Arc, time::Duration};

use proto::rpc::zone::v1 as wire;
use tokio::time::{Instant, timeout};
use world::Region;

use super::{
    AttachError, AttachSession, Attached,
    session::Reply,
    table::{Lost, NotAsked, Table},
};
use crate::directory::Directory;
use chassis::rpc::Backoff;

/// How long a player waits for the world.
const ENTER_PATIENCE: Duration = Duration::from_secs(5);
/// A run that has to load the character from the store answers within this.
const ASK_PATIENCE: Duration = Duration::from_millis(2500);
/// After this the player is told that a part of the world is being recovered.
const QUIET: Duration = Duration::from_millis(300);

enum Round {
    Attached(u64, Box<wire::Attached>),
    Replaced,
    /// The character is out of the world, durably.
    LoggedOut,
    /// Nobody seeks any more.
    Over,
    /// Nobody had it; asked again after a pause.
    Nowhere,
}

/// Asks everybody once, in order.
async fn ask_all(table: &Table, lost: &Lost) -> Round {
    let Some(candidates) = table.candidates(lost) else {
        return Round::Over;
    };
    for run in candidates {
        let asked = match table.ask(lost, run) {
            Ok(asked) => asked,
            Err(NotAsked::NoLink) => continue,
            Err(NotAsked::Gone) => return Round::Over,
        };
        match timeout(ASK_PATIENCE, asked).await {
            Ok(Ok(Reply::Attached(attached))) => return Round::Attached(run, attached),
            Ok(Ok(Reply::Refused(code))) => match code.as_str() {
                "stale" => return Round::Replaced,
                "busy" => return Round::Nowhere,
                "not_in_world" => return Round::LoggedOut,
                _ => {}
            },
            // The link ended, or the run is silent: the directory will say who is next.
            Ok(Err(_)) | Err(_) => return Round::Nowhere,
        }
    }
    Round::Nowhere
}

/// Asks until there is an answer that counts.
async fn seek(table: &Table, directory: &Directory, lost: &Lost) -> Round {
    let mut backoff = Backoff::new();
    let mut links = table.links_changed();
    let mut versions = directory.changes();
    loop {
        links.mark_unchanged();
        versions.mark_unchanged();
        let round = ask_all(table, lost).await;
        if !matches!(round, Round::Nowhere) {
            return round;
        }
        // A new owner or link is news; so is time, for whoever was busy.
        tokio::select! {
            _ = links.changed() => {}
            _ = versions.changed() => {}
            () = backoff.wait() => {}
        }
    }
}

/// Brings a session into the world, for up to 5 s.
pub(super) async fn enter(
    table: &Arc<Table>,
    directory: &Arc<Directory>,
    session: AttachSession,
) -> Result<Attached, AttachError> {
    let lost = table.insert(session);
    let until = Instant::now() + ENTER_PATIENCE;
    let round = tokio::time::timeout_at(until, seek(table, directory, &lost)).await;
    let error = match round {
        Ok(Round::Attached(run_id, attached)) => {
            let region = attached.region.unwrap_or_default();
            let region = Region {
                x: region.x,
                z: region.z,
            };
            return Ok(Attached {
                tick: attached.tick,
                region,
                run_id,
                sync: attached.sync,
            });
        }
        Ok(Round::Replaced) => AttachError::Replaced,
        Ok(Round::Over) => AttachError::Gone,
        Ok(Round::Nowhere | Round::LoggedOut) | Err(_) => AttachError::Unavailable,
    };
    table.forget(&lost);
    Err(error)
}

/// Seeks a lost session's character until it is found or nobody wants it any more.
pub(super) fn recover(table: &Arc<Table>, directory: &Arc<Directory>, lost: Lost) {
    let (table, directory) = (Arc::clone(table), Arc::clone(directory));
    tokio::spawn(async move {
        let seeking = seek(&table, &directory, &lost);
        tokio::pin!(seeking);
        let round = tokio::select! {
            round = &mut seeking => round,
            () = tokio::time::sleep(QUIET) => {
                table.notice_lost(&lost);
                seeking.await
            }
        };
        match round {
            Round::Replaced => table.replaced(&lost),
            Round::LoggedOut => table.logged_out(&lost),
            Round::Attached(..) | Round::Over | Round::Nowhere => {}
        }
    });
}
