//! Finds the run that plays a character and attaches the session there: the owner by the
//! directory first, then everybody, until somebody has it.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use proto::rpc::zone::v1 as wire;
use tokio::time::{Instant, sleep, timeout};
use world::Region;

use super::{
    AttachError, AttachSession, Attached,
    session::Reply,
    table::{Lost, NotAsked, Table},
};
use crate::directory::Directory;

/// Time that a player waits for the world.
const ENTER_TIMEOUT: Duration = Duration::from_secs(5);
/// A run that has to load the character from the store answers within this.
const ASK_TIMEOUT: Duration = Duration::from_millis(2500);
/// Time after which the player hears that the gateway seeks a run for this part of the world.
const QUIET: Duration = Duration::from_millis(300);
/// Time for which the gateway asks only the runs that should have the character.
const NARROW: Duration = Duration::from_secs(1);
/// Time for which the gateway seeks a session that comes from another gateway.
const TAKE_OVER_TIMEOUT: Duration = Duration::from_secs(10);
/// A run that must ask no store answers within this.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of runs that the gateway asks at the same time.
const ASKED_AT_ONCE: usize = 32;
/// Pause between two rounds of asking everybody.
const ROUND: Duration = Duration::from_millis(100);
/// Time after which a character that no run has is not in the world, if runs played everything and
/// nothing changed owners meanwhile. No handover takes longer.
const NOWHERE: Duration = Duration::from_millis(1500);

enum Round {
    Attached(u64, Box<wire::Attached>),
    /// A newer login plays the character.
    Replaced,
    /// The session itself plays it, from another gateway.
    Elsewhere,
    /// The character is out of the world, durably.
    LoggedOut,
    /// Nobody seeks any more.
    Over,
    /// Nobody had it; the gateway asks again after a pause.
    Nowhere,
}

/// Result of asking one run.
enum Answer {
    Settled(Round),
    /// The run does not have the character.
    NotThere,
    /// Nothing is known; the gateway may ask another run later.
    Unknown,
}

async fn ask_one(table: &Table, lost: &Lost, run: u64) -> Answer {
    let asked = match table.ask(lost, run) {
        Ok(asked) => asked,
        Err(NotAsked::NoLink) => return Answer::Unknown,
        Err(NotAsked::Gone) => return Answer::Settled(Round::Over),
    };
    match timeout(ASK_TIMEOUT, asked).await {
        Ok(Ok(Reply::Attached(attached))) => Answer::Settled(Round::Attached(run, attached)),
        Ok(Ok(Reply::Refused(code))) => match code.as_str() {
            "stale" => Answer::Settled(Round::Replaced),
            "elsewhere" => Answer::Settled(Round::Elsewhere),
            "busy" => Answer::Settled(Round::Nowhere),
            "not_in_world" => Answer::Settled(Round::LoggedOut),
            _ => Answer::NotThere,
        },
        // The link ended, or the run is silent: the directory will say which run is next.
        Ok(Err(_)) | Err(_) => Answer::Settled(Round::Nowhere),
    }
}

/// Asks the owner and the run that may have the character. Asks all others if the owner does not
/// have it, or if `widely`. While a region changes owners no other run has its characters, and each
/// run asks the store when a gateway asks for one.
async fn ask_all(table: &Table, lost: &Lost, widely: bool) -> Round {
    let Some(runs) = table.candidates(lost) else {
        return Round::Over;
    };
    let mut widely = widely;
    if let Some(owner) = runs.owner {
        match ask_one(table, lost, owner).await {
            Answer::Settled(round) => return round,
            Answer::NotThere => widely = true,
            Answer::Unknown => {}
        }
    }
    let others = if widely { runs.others } else { Vec::new() };
    for run in runs.hint.into_iter().chain(others) {
        if let Answer::Settled(round) = ask_one(table, lost, run).await {
            return round;
        }
    }
    Round::Nowhere
}

/// Pauses between rounds without news. They are short, because a player waits here for the owner's
/// look into the store.
struct Pace(Duration);

impl Pace {
    const FIRST: Duration = Duration::from_millis(30);
    const LAST: Duration = Duration::from_millis(240);
    /// For a session in a paused region. The directory wakes it when an operator resumes the region.
    const RESTING: Duration = Duration::from_secs(5);

    async fn wait(&mut self, rests: bool) {
        let pause = if rests { Self::RESTING } else { self.0 };
        self.0 = (self.0 * 2).min(Self::LAST);
        // Sessions that were lost together do not come back all at the same moment.
        sleep(pause.mul_f64(rand::random_range(0.75..=1.25))).await;
    }
}

/// Asks until there is an answer that counts. `until_resumed`: also while the region is paused and
/// nobody's, however long the operator leaves it so.
async fn seek(table: &Table, directory: &Directory, lost: &Lost, until_resumed: bool) -> Round {
    let began = Instant::now();
    let mut pace = Pace(Pace::FIRST);
    let mut links = table.links_changed();
    let mut versions = directory.changes();
    loop {
        links.mark_unchanged();
        versions.mark_unchanged();
        let round = ask_all(table, lost, began.elapsed() >= NARROW).await;
        if !matches!(round, Round::Nowhere) {
            return round;
        }
        let rests = table.rests(lost);
        if rests && !until_resumed {
            return Round::Nowhere;
        }
        // A new owner or link is a reason to ask again. So is time, because a run may have been
        // busy.
        tokio::select! {
            _ = links.changed() => {}
            _ = versions.changed() => {}
            () = pace.wait(rests) => {}
        }
    }
}

/// Brings a session into the world, for up to 5 s; into a paused region never.
pub(super) async fn enter(
    table: &Arc<Table>,
    directory: &Arc<Directory>,
    session: AttachSession,
) -> Result<Attached, AttachError> {
    let lost = table.insert(session);
    let until = Instant::now() + ENTER_TIMEOUT;
    let round = tokio::time::timeout_at(until, seek(table, directory, &lost, false)).await;
    let error = match round {
        Ok(Round::Attached(run_id, said)) => return Ok(attached(run_id, *said)),
        Ok(Round::Replaced) => AttachError::Replaced,
        Ok(Round::Elsewhere | Round::Over) => AttachError::Gone,
        Ok(Round::Nowhere | Round::LoggedOut) | Err(_) => AttachError::Unavailable,
    };
    table.forget(&lost);
    Err(error)
}

fn attached(run_id: u64, said: wire::Attached) -> Attached {
    let region = said.region.unwrap_or_default();
    Attached {
        tick: said.tick,
        region: Region {
            x: region.x,
            z: region.z,
        },
        run_id,
        attach: said.attach,
        sync: said.sync,
    }
}

/// Brings a session back that another gateway held, for up to 10 s.
pub(super) async fn take_over(
    table: &Arc<Table>,
    directory: &Arc<Directory>,
    session: AttachSession,
) -> Result<Attached, AttachError> {
    let lost = table.insert_resuming(session);
    let sought = timeout(TAKE_OVER_TIMEOUT, seek_everywhere(table, directory, &lost)).await;
    let error = match sought {
        Ok(Round::Attached(run_id, said)) => return Ok(attached(run_id, *said)),
        Ok(Round::Replaced) => AttachError::Replaced,
        Ok(Round::LoggedOut) => AttachError::NotInWorld,
        Ok(Round::Elsewhere | Round::Over) => AttachError::Gone,
        Ok(Round::Nowhere) | Err(_) => AttachError::Unavailable,
    };
    table.forget(&lost);
    Err(error)
}

/// Asks everybody at once, again and again, until a run has the character or certainly none has.
async fn seek_everywhere(table: &Table, directory: &Directory, lost: &Lost) -> Round {
    let mut links = table.links_changed();
    let mut versions = directory.changes();
    let mut nowhere_since = None;
    loop {
        links.mark_unchanged();
        versions.mark_unchanged();
        let began = Instant::now();
        let Some((runs, all_played)) = table.everybody(lost) else {
            return Round::Over;
        };
        let (round, all_answered) = ask_everybody(table, lost, runs).await;
        if !matches!(round, Round::Nowhere) {
            return round;
        }
        if !(all_played && all_answered) {
            nowhere_since = None;
        } else if nowhere_since.get_or_insert(began).elapsed() >= NOWHERE {
            return Round::LoggedOut;
        }
        tokio::select! {
            _ = links.changed() => {}
            _ = versions.changed() => {}
            () = sleep(ROUND) => {}
        }
    }
}

/// Asks these runs at once. Returns also whether each of them said that it does not have the
/// character.
async fn ask_everybody(table: &Table, lost: &Lost, runs: Vec<u64>) -> (Round, bool) {
    let ask = async |run| {
        let asked = table.ask_resume(lost, run).ok()?;
        let said = timeout(ANSWER_TIMEOUT, asked).await.ok()?.ok()?;
        Some((run, said))
    };
    let mut answers = futures::stream::iter(runs)
        .map(ask)
        .buffer_unordered(ASKED_AT_ONCE);
    let (mut stale, mut all_answered) = (false, true);
    while let Some(answer) = answers.next().await {
        match answer {
            Some((run, Reply::Attached(said))) => return (Round::Attached(run, said), true),
            Some((_, Reply::Refused(code))) => match code.as_str() {
                "stale" => stale = true,
                "not_here" | "not_in_world" => {}
                _ => all_answered = false,
            },
            None => all_answered = false,
        }
    }
    let round = if stale {
        Round::Replaced
    } else {
        Round::Nowhere
    };
    (round, all_answered)
}

/// Seeks a lost session's character until a run has it or nobody wants it any more.
pub(super) fn recover(table: &Arc<Table>, directory: &Arc<Directory>, lost: Lost) {
    let (table, directory) = (Arc::clone(table), Arc::clone(directory));
    let tasks = table.tasks.clone();
    tasks.spawn("search for a character", async move {
        let began = Instant::now();
        let seeking = seek(&table, &directory, &lost, true);
        tokio::pin!(seeking);
        let round = tokio::select! {
            round = &mut seeking => round,
            () = tokio::time::sleep(QUIET) => {
                table.notice_lost(&lost);
                seeking.await
            }
        };
        let round = match round {
            Round::Elsewhere if table.was_elsewhere(&lost) => {
                seek_everywhere(&table, &directory, &lost).await
            }
            round => round,
        };
        match round {
            Round::Attached(..) => table.measures.recovered(began.elapsed()),
            Round::Replaced => table.replaced(&lost),
            Round::Elsewhere => table.gone_elsewhere(&lost),
            Round::LoggedOut => table.logged_out(&lost),
            Round::Over | Round::Nowhere => {}
        }
    });
}
