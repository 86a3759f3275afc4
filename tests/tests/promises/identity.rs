//! The account and the place of a character outlive every process.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Kind, Plan},
    journey::Atlas,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_key_finds_its_character_where_it_stood_after_everything_was_restarted() {
    let plan = Plan::new("identity");
    let mut cluster = Cluster::start(plan.clone()).await.unwrap();
    after_a_restart(&mut cluster, &plan).await.unwrap();
}

async fn after_a_restart(cluster: &mut Cluster, plan: &Plan) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let (key, id) = (ann.device_key()?, ann.id()?);
    let (sx, sz) = ann.position()?;
    let there = (4..30)
        .map(|far| (sx + far, sz))
        .chain((4..30).map(|far| (sx, sz + far)))
        .find(|tile| {
            atlas
                .terrain
                .ways_to((sx, sz))
                .far(*tile)
                .is_some_and(|far| far < 40)
        })
        .context("nowhere to go")?;
    ann.walk(there, true, Duration::from_secs(30)).await?;
    drop(ann);

    cluster.restart().await?;

    let ann = Player::connect(&cluster.gateway(0), Format::Json).await?;
    let welcome = ann.sign_in(Some(&key)).await?;
    ensure!(
        welcome.device_key.is_none(),
        "a new key although the old one is known"
    );
    let names: Vec<_> = welcome
        .characters
        .iter()
        .map(|c| (c.id.clone(), c.name.clone()))
        .collect();
    ensure!(names == [(id.clone(), "Ann".to_owned())], "{names:?}");
    ann.enter(&id).await?;
    ensure!(
        ann.position()? == there,
        "stood at {there:?}, stands at {:?}",
        ann.position()?
    );
    ann.check()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_socket_is_resumed_and_a_left_world_is_entered_again_where_it_was_left() {
    let cluster = Cluster::start(Plan::new("resume")).await.unwrap();
    resumed(&cluster).await.unwrap();
}

async fn resumed(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let mut ann = Player::arrive(&gateway, Format::Json, "Ann").await?;
    let (id, at) = (ann.id()?, ann.position()?);
    ann.cut().await;
    let resync = ann.resume(&gateway).await?;
    ann.until("the own entity", Duration::from_secs(10), |view| {
        view.map
            .entity(&id)
            .filter(|own| (own.x, own.z) == at)
            .map(|_| ())
    })
    .await
    .with_context(|| format!("resumed with resync {resync}"))?;
    let tick = ann.look(|view| view.tick);
    ann.until("ticks to go on", Duration::from_secs(10), |view| {
        (view.tick > tick + 2).then_some(())
    })
    .await?;

    let left = ann.ask("world:leave", &serde_json::json!({})).await?;
    ensure!(matches!(left, Payload::WorldLeft(_)), "{left:?}");
    let rows = cluster.store().await?.characters().await?;
    ensure!(
        rows.iter()
            .any(|row| row.id == id && (row.x, row.z) == position(at)),
        "{rows:?}"
    );
    ann.enter(&id).await?;
    ensure!(ann.position()? == at);
    Ok(())
}

fn position((x, z): (i32, i32)) -> (f64, f64) {
    (f64::from(x), f64::from(z))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_find_each_other_in_any_order_of_starting() {
    let plan = Plan::new("any_order").of(2, 2, 2);
    let mut cluster = Cluster::prepare(plan).await.unwrap();
    let orders: [&[(Kind, usize)]; 2] = [
        &[
            (Kind::Gateway, 0),
            (Kind::Zone, 0),
            (Kind::Gateway, 1),
            (Kind::Zone, 1),
        ],
        &[(Kind::Persistence, 1), (Kind::Persistence, 0)],
    ];
    for member in orders.concat() {
        cluster.launch(member).unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    cluster.ready().await.unwrap();
    for number in 0..2 {
        let name = format!("Early {number}");
        let gateway = cluster.gateway(number);
        let player = Player::arrive(&gateway, Format::Json, &name).await.unwrap();
        player.check().unwrap();
    }
}
