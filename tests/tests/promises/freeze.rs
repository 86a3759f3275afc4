//! An operator freezes all exchanges: no item moves anywhere, until it is lifted.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use proto::client::{ErrorCode, Format, Refusal};
use serde_json::json;
use tests::{
    bot::{Action, Payload, Player},
    cluster::{Cluster, Plan},
};
use tokio::time::{Instant, sleep};

use crate::interface::ADMIN_CODE;

/// Time within which a word of operators reaches every zone.
const SOON: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_exchanges_are_frozen_nothing_is_dropped_and_afterwards_it_is() {
    let plan = Plan::new("freeze").env("ADMIN_CODE", ADMIN_CODE);
    let cluster = Cluster::start(plan).await.unwrap();
    story(&cluster).await.unwrap();
}

async fn order(operator: &Player, command: &str) -> Result<()> {
    let told = operator
        .ask("admin:command", &json!({ "command": command }))
        .await?;
    ensure!(matches!(told, Payload::Ack(_)), "{command}: {told:?}");
    Ok(())
}

/// Drops the first thing of the pack.
pub(super) async fn drop_one(player: &Player) -> Result<Option<ErrorCode>> {
    let held = player.look(|view| {
        let mut slots = view.possessions.slots().iter().enumerate();
        slots.find_map(|(slot, stack)| Some((slot, stack.as_ref()?.item_id.to_string())))
    });
    let (slot, item) = held.context("nothing is left to drop")?;
    let action = Action::Drop {
        slot: u8::try_from(slot)?,
        item,
        quantity: None,
    };
    match player.act(action).await? {
        Payload::Ack(_) => Ok(None),
        Payload::Error(error) => Ok(Some(error.code)),
        other => bail!("inventory:drop: {other:?}"),
    }
}

/// Drops one thing after the other until the answer is this.
async fn until(player: &Player, wanted: Option<ErrorCode>) -> Result<()> {
    let begun = Instant::now();
    loop {
        let told = drop_one(player).await?;
        if told == wanted {
            return Ok(());
        }
        ensure!(begun.elapsed() < SOON, "still {told:?}, not {wanted:?}");
        sleep(Duration::from_millis(700)).await;
    }
}

async fn story(cluster: &Cluster) -> Result<()> {
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let operator = Player::connect(&cluster.gateway(0), Format::Json).await?;
    operator.sign_in(None).await?;
    let refused = operator
        .ask("admin:command", &json!({"command": "freeze"}))
        .await?;
    ensure!(
        matches!(refused, Payload::Error(_)),
        "not elevated yet: {refused:?}"
    );
    let told = operator
        .ask("admin:elevate", &json!({ "code": ADMIN_CODE }))
        .await?;
    ensure!(matches!(told, Payload::Ack(_)), "{told:?}");
    ensure!(drop_one(&ann).await?.is_none(), "nothing is frozen yet");

    order(&operator, "freeze").await?;
    until(&ann, Some(ErrorCode::Refused(Refusal::ExchangesFrozen))).await?;
    let has = |player: &Player| player.look(|view| view.possessions.slots().to_vec());
    let (before, stored) = (has(&ann), cluster.store().await?.held().await?);
    for _ in 0..3 {
        let told = drop_one(&ann).await?;
        ensure!(
            told == Some(ErrorCode::Refused(Refusal::ExchangesFrozen)),
            "{told:?}"
        );
    }
    ensure!(has(&ann) == before, "something moved");
    let now = cluster.store().await?.held().await?;
    ensure!(
        format!("{now:?}") == format!("{stored:?}"),
        "something moved in the store"
    );

    order(&operator, "unfreeze").await?;
    until(&ann, None).await?;
    ann.check()
}
