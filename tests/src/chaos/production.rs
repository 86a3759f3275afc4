//! The production configuration from end to end: TLS everywhere, a pooler, rate limits, and all
//! that operators do to it while players play.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::{
    exercise,
    fault::{Fault, Step},
    story::{Cast, Stage},
    timeline::Timeline,
};
use crate::{
    cluster::{Cluster, Kind, Plan},
    dump::Directory,
    load::Summary,
};

/// Time that the runbook gives processes to read files again.
const READ_AGAIN: Duration = Duration::from_secs(10);
/// Time between the deeds of operators.
const PAUSE: Duration = Duration::from_secs(15);
/// Codes with which a gateway that leaves closes sockets.
const LEAVES: [&str; 2] = ["1001", "1012"];

/// Rotates the certificates and the signing keys, lets the standby of PostgreSQL take over, and
/// restarts every process. The bots play for `lasts` at least.
///
/// # Errors
/// Something that must hold does not.
pub fn end_to_end(
    cast: Cast,
    lasts: Duration,
    timeline: Timeline,
) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        let mut plan = Plan::new("production").of(2, 3, 2);
        (plan.production, plan.alone) = (true, true);
        let mut stage = Stage::set(plan.clone(), cast, timeline).await?;
        let began = Instant::now();
        sleep(PAUSE).await;
        rotate_certificates(&mut stage).await?;
        sleep(PAUSE).await;
        stage.cluster.next_key()?;
        stage
            .timeline
            .note("gateways sign with another key from now on");
        sleep(PAUSE).await;
        let promotion = Step {
            after: Duration::ZERO,
            fault: Fault::Promote,
            lasts: Duration::ZERO,
        };
        stage.suffer(promotion).await?;
        sleep(PAUSE).await;
        exercise::restart_all(&mut stage, &plan).await?;
        sleep(lasts.saturating_sub(began.elapsed())).await;
        let timeline = stage.timeline.clone();
        let summary = stage.judge().await?;
        timeline.note("nothing was lost");
        only_gateways_left(&summary)?;
        Ok(summary)
    })
}

/// Checks that no socket ended otherwise than by a gateway that left.
pub(super) fn only_gateways_left(summary: &Summary) -> Result<()> {
    let codes = summary.disconnects_by_code.keys();
    let others: Vec<&String> = codes
        .filter(|code| !LEAVES.iter().any(|leaves| code.starts_with(leaves)))
        .collect();
    ensure!(
        others.is_empty(),
        "sockets ended otherwise than by a gateway that left: {others:?}\n{summary}"
    );
    Ok(())
}

/// Gives every process a certificate of a new authority, as the runbook says, and shows that the
/// one before counts no more.
async fn rotate_certificates(stage: &mut Stage) -> Result<()> {
    let before = stage.cluster.operator().clone();
    stage.cluster.certificates().add_authority()?;
    sleep(READ_AGAIN).await;
    stage.cluster.certificates().renew()?;
    sleep(READ_AGAIN).await;
    stage.cluster.certificates().retire_authority()?;
    sleep(READ_AGAIN).await;
    for member in stage.cluster.members() {
        if member.0 == Kind::Persistence {
            closed_to(&stage.cluster, &before, member.1).await?;
        }
    }
    stage.timeline.note(
        "every process has a certificate of another authority; the one before counts no more",
    );
    Ok(())
}

/// Checks that a persistence service takes the new operator and refuses this trust.
async fn closed_to(
    cluster: &Cluster,
    before: &service_runtime::rpc::Trust,
    at: usize,
) -> Result<()> {
    let address = cluster.persistence(at);
    Directory::fetch(cluster.operator(), &address).await?;
    let refused = Directory::fetch(before, &address).await;
    ensure!(
        refused.is_err(),
        "{address} still takes certificates of the authority before"
    );
    Ok(())
}
