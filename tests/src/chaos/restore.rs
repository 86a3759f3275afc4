//! PostgreSQL is lost with all its data while bots play, and restored from a base backup and the
//! archive of its log, step by step as `docs/runbooks/restore.md` says.
//!
//! Always: no service reaches the restored server before an operator has said `promoted`. The world
//! is that of the moment to which it was restored, and no number is given twice.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use futures::future::BoxFuture;
use proto::client::{ErrorCode, Format};
use serde_json::json;
use test_servers::{BaseBackup, Postgres, Receiver};
use tokio::{
    task::block_in_place,
    time::{Instant, sleep},
};

use super::{
    oracle::{self, AllHeld},
    story::{Cast, Stage},
    timeline::Timeline,
};
use crate::{
    bot::{Payload, Phase, Player},
    cluster::{Numbers, Plan},
    load::Summary,
};

/// Acts between two walks: things change owners quickly.
const ACTIONS_PER_REST: (u32, u32) = (20, 40);
/// Longest time until a part of the log is in the archive.
const ARCHIVED_WITHIN: Duration = Duration::from_secs(60);
/// Play after the moment to which the database is restored, at least.
const LATER: Duration = Duration::from_secs(5);
/// Time after the loss in which the last answers of before still come.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// A command of an operator takes no longer.
const COMMAND_WITHIN: Duration = Duration::from_secs(120);
/// Longest time until everybody moves again, once services reach the database.
const MOVES_WITHIN: Duration = Duration::from_secs(30);
/// Longest time until a player whose character is no more hears of it.
const TOLD_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(100);

/// How the database is lost and restored.
#[derive(Debug, Clone, Copy)]
pub struct Recovery {
    /// Time for which bots play in all.
    pub lasts: Duration,
    /// Whether it is restored with every acknowledged commit, which a receiver of the log keeps.
    /// Else it is restored to a moment some time before the loss.
    pub complete: bool,
}

/// The moment to which the database is restored.
struct Moment {
    /// By PostgreSQL's clock.
    time: String,
    /// Possessions of each character in the store then.
    held: AllHeld,
    /// A player who made a character after it.
    latecomer: Player,
}

/// Plays, loses the database, restores it, and plays on.
///
/// # Errors
/// Something that must hold does not.
pub fn restore(
    mut cast: Cast,
    wanted: Recovery,
    timeline: Timeline,
) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        cast.acting.actions_per_rest = ACTIONS_PER_REST;
        let name = match wanted.complete {
            true => "restore_whole",
            false => "restore",
        };
        let mut plan = Plan::new(name).of(2, 3, 2).env("GROUND_OWN_TICKS", "2");
        (plan.breakable, plan.archive) = (true, true);
        let mut stage = Stage::set(plan, cast, timeline).await?;
        let receiver = match wanted.complete {
            true => Some(blocking(&mut stage, |server| server.receive_log())?),
            false => None,
        };
        sleep(wanted.lasts / 4).await;
        let base = base_backup(&mut stage)?;
        sleep(wanted.lasts / 4).await;
        let moment = match wanted.complete {
            true => None,
            false => Some(moment(&mut stage).await?),
        };
        sleep(wanted.lasts / 4).await;
        if moment.is_some() {
            archived(&stage).await?;
        }
        let before = stage.cluster.store().await?.numbers().await?;
        let exchanges = stage.swarm.summary().exchanges;
        stage.timeline.note(format!(
            "PostgreSQL is lost with all its data; {} exchanges so far",
            exchanges.1
        ));

        let lost = Instant::now();
        let until = moment.as_ref();
        lose_and_restore(&mut stage, lost, base, until, receiver).await?;
        given_once(&stage, &before, false).await?;
        if let Some(moment) = moment {
            goes_on_from(&mut stage, moment).await?;
            given_once(&stage, &before, true).await?;
        }
        moves(&stage, lost).await?;
        oracle::conserved(&stage.cluster).await?;
        sleep(wanted.lasts / 4).await;
        let later = stage.swarm.summary().exchanges;
        ensure!(
            later.1 > exchanges.1,
            "nobody exchanged anything after the restore"
        );
        stage.timeline.note(format!(
            "{} exchanges since the loss",
            later.1 - exchanges.1
        ));
        stage.judge().await
    })
}

fn base_backup(stage: &mut Stage) -> Result<BaseBackup> {
    let began = Instant::now();
    let base = blocking(stage, |server| server.base_backup())?;
    stage.timeline.note(format!(
        "a base backup during play took {:.1} s",
        began.elapsed().as_secs_f64()
    ));
    Ok(base)
}

/// Loses the database and does all that the runbook says, until every region has an owner.
async fn lose_and_restore(
    stage: &mut Stage,
    lost: Instant,
    base: BaseBackup,
    moment: Option<&Moment>,
    receiver: Option<Receiver>,
) -> Result<()> {
    stage.swarm.mark();
    blocking(stage, Postgres::lose)?;
    if moment.is_some() {
        sleep(LAST_ANSWERS).await;
        stage.swarm.hush(true);
        stage.swarm.begin_anew();
    }
    let until = moment.map(|moment| moment.time.as_str());
    let restored = blocking(stage, |server| server.restored(base, until, receiver))?;
    stage.cluster.put_database(restored)?;
    noted(stage, lost, "PostgreSQL is restored");
    if let Some(moment) = moment {
        same(&moment.held, &stage.cluster.store().await?.held().await?)?;
    }
    operate(stage, lost).await?;
    stage.cluster.open_database()?;
    stage.cluster.ready().await?;
    oracle::whole(&stage.cluster).await?;
    noted(stage, lost, "every region has an owner");
    Ok(())
}

/// Notes the moment to which the database will be restored. Everybody stands still in it, so that all
/// that bots and store have is of this moment.
async fn moment(stage: &mut Stage) -> Result<Moment> {
    stage.rest().await?;
    let store = stage.cluster.store().await?;
    let (held, time) = (store.held().await?, store.time().await?);
    stage.swarm.hush(false);
    stage.timeline.note(format!(
        "the moment to come back to: {time}, {} characters",
        held.len()
    ));
    let gateway = stage.cluster.gateway(0);
    let name = format!("Latecomer {}", std::process::id() % 1_000);
    let latecomer = Player::arrive(&gateway, Format::Json, &name).await?;
    Ok(Moment {
        time,
        held,
        latecomer,
    })
}

/// Waits until the archive has commits of after the moment: without one, PostgreSQL does not know that
/// it has reached it.
async fn archived(stage: &Stage) -> Result<()> {
    sleep(LATER).await;
    let store = stage.cluster.store().await?;
    let (needed, _) = store.log_parts().await?;
    let deadline = Instant::now() + ARCHIVED_WITHIN;
    loop {
        let (_, last) = store.log_parts().await?;
        if last >= needed {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "{needed} is not in the archive, only {last:?}"
        );
        sleep(POLL).await;
    }
}

/// Does what the runbook asks of an operator before services may reach the database.
async fn operate(stage: &Stage, lost: Instant) -> Result<()> {
    for words in [&["promoted"][..], &["backup", "verify"]] {
        let finished = stage.cluster.command(words, COMMAND_WITHIN).await?;
        let said = finished.stdout.trim();
        ensure!(
            finished.code == Some(0),
            "{words:?}: {said}\n{}",
            finished.stderr
        );
        for line in said.lines() {
            stage.timeline.note(format!("{}: {line}", words.join(" ")));
        }
    }
    noted(stage, lost, "an operator lets services reach it");
    Ok(())
}

/// Checks that everybody has just what the moment had, and lets all play on. Whoever came after it is
/// out of the world, and may come again.
async fn goes_on_from(stage: &mut Stage, moment: Moment) -> Result<()> {
    stage.rest().await?;
    let own = stage.swarm.possessions();
    for (id, own) in &own {
        let then = moment.held.get(id).cloned().unwrap_or_default();
        ensure!(
            own.known() && own.held() == then,
            "{id} has {:?}, and had {then:?}",
            own.held()
        );
    }
    stage.timeline.note(format!(
        "{} players have just what they had at that moment",
        own.len()
    ));
    let late = moment.latecomer;
    let out = |view: &crate::bot::View| (view.phase != Phase::World).then_some(());
    late.until("out of the world", TOLD_WITHIN, out).await?;
    let gateway = stage.cluster.gateway(0);
    let again = Player::connect(&gateway, Format::Json).await?;
    let key = json!({ "deviceKey": late.device_key()? });
    match again.ask("authenticate", &key).await? {
        Payload::Error(error) if error.code == ErrorCode::InvalidCredentials => {}
        other => bail!("the account of after the moment: {other:?}"),
    }
    again.sign_in(None).await?;
    let character = again.create("Latecomer again").await?;
    again.enter(&character.id).await?;
    stage
        .timeline
        .note("a player of after that moment was sent out, and came again with a new account");
    stage.swarm.hush(false);
    Ok(())
}

/// Waits until everybody has moved again.
async fn moves(stage: &Stage, lost: Instant) -> Result<()> {
    let deadline = Instant::now() + MOVES_WITHIN;
    loop {
        let still = stage.swarm.recovered();
        let waiting = still.iter().filter(|bot| bot.took.is_none()).count();
        if waiting == 0 {
            noted(stage, lost, "everybody moves again");
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "{waiting} players do not move:\n{}",
            stage.swarm.summary()
        );
        sleep(POLL).await;
    }
}

/// Checks that the restored store has just what it had at the moment.
fn same(then: &AllHeld, now: &AllHeld) -> Result<()> {
    let differs = |id: &&String| then.get(*id) != now.get(*id);
    let wrong: Vec<&String> = then.keys().chain(now.keys()).filter(differs).collect();
    ensure!(
        wrong.is_empty(),
        "{} characters are not as they were, such as {}: {:?}, then {:?}",
        wrong.len(),
        wrong[0],
        then.get(wrong[0]),
        now.get(wrong[0])
    );
    Ok(())
}

/// Checks that every number is greater than before; `logins`: somebody has logged in since.
async fn given_once(stage: &Stage, before: &Numbers, logins: bool) -> Result<()> {
    let now = stage.cluster.store().await?.numbers().await?;
    let greater = now.incarnation > before.incarnation
        && now.run > before.run
        && now.region_epoch > before.region_epoch
        && now.ownership_sequence > before.ownership_sequence
        && now.directory > before.directory
        && now.sanctions > before.sanctions
        && (!logins || now.session_epoch > before.session_epoch);
    ensure!(
        greater,
        "numbers were given again: {before:?}, then {now:?}"
    );
    Ok(())
}

fn noted(stage: &Stage, lost: Instant, what: &str) {
    let after = lost.elapsed().as_secs_f64();
    stage
        .timeline
        .note(format!("{what}: {after:.1} s after the loss"));
}

/// Lets a program of PostgreSQL do its work.
fn blocking<T>(
    stage: &mut Stage,
    work: impl FnOnce(&mut Postgres) -> Result<T, String>,
) -> Result<T> {
    let server = stage.cluster.postgres()?;
    block_in_place(|| work(server)).map_err(anyhow::Error::msg)
}
