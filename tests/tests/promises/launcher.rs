//! The local launcher: a world in one process.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use tests::{
    bot::Player,
    cluster::{
        Launcher,
        launcher::DataFolder,
        process::{finish, free_port},
    },
    http,
    terrain::Terrain,
};
use tokio::time::{Instant, sleep};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_is_started_stopped_and_continued() {
    let data = DataFolder::new("launcher").unwrap();
    story(&data).await.unwrap();
}

async fn story(data: &DataFolder) -> Result<()> {
    let mut first = Launcher::start("launcher_first", data.path(), &[]).await?;
    let said = table(&mut first).await?;
    let port = first.gateway().replace("127.0.0.1:", "");
    let folder = data.path().to_str().context("the folder's name")?;
    ensure!(
        said.contains(&format!("http://localhost:{port}")),
        "no address: {said}"
    );
    ensure!(said.contains(folder), "no data folder: {said}");
    let page = http::get(&first.gateway(), "/").await?;
    ensure!(
        page.status == 200 && page.text().contains("<canvas"),
        "{}",
        page.status
    );

    second_on_the_same_data(folder).await?;

    let ann = Player::arrive(&first.gateway(), Format::Json, "Ann").await?;
    let (key, id, from) = (ann.device_key()?, ann.id()?, ann.position()?);
    let there = stroll(&first.gateway(), from).await?;
    ann.walk(there, true, Duration::from_secs(30)).await?;
    let code = first.interrupt().await?;
    ensure!(code == Some(0), "Ctrl-C ended it with {code:?}");
    drop(ann);

    let again = Launcher::start("launcher_again", data.path(), &["--zones", "3"]).await?;
    let ann = Player::come_back(&again.gateway(), Format::Json, &key).await?;
    ensure!(ann.id()? == id);
    ensure!(
        ann.position()? == there,
        "stood at {there:?}, stands at {:?}",
        ann.position()?
    );
    ann.check()?;
    let code = again.interrupt().await?;
    ensure!(
        code == Some(0),
        "Ctrl-C with a player in the world ended it with {code:?}"
    );
    Ok(())
}

/// Returns the lines that it prints once all is up.
async fn table(launcher: &mut Launcher) -> Result<String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let said = launcher.process().all_said();
        if said.contains("Ctrl-C") {
            return Ok(said);
        }
        ensure!(Instant::now() < deadline, "no table: {said}");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn second_on_the_same_data(folder: &str) -> Result<()> {
    let port = free_port()?.to_string();
    let arguments = ["--data", folder, "--port", &port];
    let second = finish("tilestead", &arguments, &[], Duration::from_secs(20)).await?;
    ensure!(
        second.code == Some(64),
        "{:?}: {}",
        second.code,
        second.stderr
    );
    ensure!(
        second.stderr.trim().lines().count() == 1,
        "{}",
        second.stderr
    );
    ensure!(
        second.stderr.contains(folder),
        "which folder? {}",
        second.stderr
    );
    Ok(())
}

/// Returns a tile some steps away.
pub(super) async fn stroll(gateway: &str, from: (i32, i32)) -> Result<(i32, i32)> {
    let ways = Terrain::fetch(gateway).await?.ways_to(from);
    let near = (-8..=8).flat_map(|dx| (-8..=8).map(move |dz| (dx, dz)));
    near.map(|(dx, dz)| (from.0 + dx, from.1 + dz))
        .find(|tile| ways.far(*tile) == Some(8))
        .context("nowhere to go")
}
