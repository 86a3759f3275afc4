//! An operator pauses a region and resumes it. Its players read why, keep their sockets, and find all
//! as they left it.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, ensure};
use hyper::Method;
use proto::client::{ErrorCode, Format};
use serde_json::{Value, json};
use tests::{
    bot::{Payload, Player},
    chaos::oracle::AllHeld,
    cluster::{Cluster, Plan},
    terrain::{Terrain, Tile},
};

use super::{
    freeze::drop_one,
    interface::{ADMIN_CODE, Caller, operator},
};

/// Tiles along a region's side.
const SIDE: i32 = 64;
/// Tiles that the players stand away from a border.
const INSIDE: i32 = 12;
/// Time within which a pause, a teleport or a resume reaches everybody.
const SOON: Duration = Duration::from_secs(20);
/// Time within which a player walks to the middle of the next region.
const FAR: Duration = Duration::from_secs(60);
const CHECK: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_region_is_played_by_nobody_and_goes_on_as_it_was_left() {
    let plan = Plan::new("paused").of(1, 2, 1);
    let cluster = Cluster::start(plan.env("ADMIN_CODE", ADMIN_CODE))
        .await
        .unwrap();
    story(&cluster).await.unwrap();
}

/// Everybody of the story.
struct Scene<'a> {
    cluster: &'a Cluster,
    op: Caller<'a>,
    ann: Player,
    bob: Player,
    /// Plays in another region.
    cid: Player,
    /// Has left the world in the region.
    dan: String,
    region: Tile,
    /// Tile in the middle of the region.
    home: Tile,
}

async fn story(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let op = Caller {
        gateway: &gateway,
        token: Some(operator(&gateway).await?),
    };
    let scene = begin(cluster, op, &gateway).await.context("the scene")?;
    for one in [&scene.ann, &scene.bob] {
        ensure!(drop_one(one).await?.is_none(), "nothing is paused yet");
    }
    let before = scene.state().await?;
    scene.pauses().await.context("the pause")?;
    scene.stands_still(&gateway).await.context("while paused")?;
    let stored = scene.stored().await?;
    ensure!(stored == before.stored, "the store: {stored:?}");
    scene.resumes().await.context("the resume")?;
    let after = scene.state().await?;
    ensure!(after == before, "before {before:?}, after {after:?}");
    for one in [&scene.ann, &scene.bob] {
        ensure!(drop_one(one).await?.is_none(), "it does not go on");
    }
    let checked = cluster.command(&["check"], CHECK).await?;
    ensure!(checked.code == Some(0), "{}", checked.stderr);
    scene.cid.check()
}

async fn begin<'a>(cluster: &'a Cluster, op: Caller<'a>, gateway: &str) -> Result<Scene<'a>> {
    let terrain = Terrain::fetch(gateway).await?;
    let region = region_of(terrain.spawn());
    let home = spot(&terrain, |of| of == region)?;
    let away = spot(&terrain, |of| of != region)?;
    let mut players = Vec::new();
    for (name, to) in [("Ann", home), ("Bob", home), ("Cid", away), ("Dan", home)] {
        let player = Player::arrive(gateway, Format::Json, name).await?;
        sent_to(&op, &player, to).await.context(name)?;
        players.push(player);
    }
    let [ann, bob, cid, dan] = players.try_into().ok().context("four players")?;
    let key = dan.device_key()?;
    match dan.ask("world:leave", &json!({})).await? {
        Payload::WorldLeft(_) => {}
        other => anyhow::bail!("world:leave: {other:?}"),
    }
    Ok(Scene {
        cluster,
        op,
        ann,
        bob,
        cid,
        dan: key,
        region,
        home,
    })
}

fn region_of((x, z): Tile) -> Tile {
    (x.div_euclid(SIDE), z.div_euclid(SIDE))
}

/// Returns the tile nearest to the spawn in the middle of a region that fits.
fn spot(terrain: &Terrain, fits: impl Fn(Tile) -> bool) -> Result<Tile> {
    let (spawn, bounds) = (terrain.spawn(), terrain.bounds());
    let ways = terrain.ways_to(spawn);
    let inside = |at: i32| (INSIDE..SIDE - INSIDE).contains(&at.rem_euclid(SIDE));
    let rows = bounds.min_z..bounds.max_z;
    let tiles = rows.flat_map(|z| (bounds.min_x..bounds.max_x).map(move |x| (x, z)));
    let tiles = tiles.filter(|at| inside(at.0) && inside(at.1) && fits(region_of(*at)));
    let near = tiles.filter_map(|at| Some((ways.far(at)?, at)));
    let (_, at) = near.min().context("no tile fits")?;
    Ok(at)
}

/// Sends a player to a tile or one near it.
async fn sent_to(op: &Caller<'_>, player: &Player, (x, z): Tile) -> Result<()> {
    let path = format!("/admin/players/{}/teleport", player.id()?);
    let there = Some(json!({"x": x, "z": z, "reason": "a test"}));
    let sent = op.ask(Method::POST, &path, there).await?;
    ensure!(sent.status == 200, "{}", sent.text());
    let near = |(px, pz): Tile| (px - x).abs().max((pz - z).abs()) <= 4;
    let arrived = player.until("the other place", SOON, |view| {
        view.position.filter(|at| near(*at)).map(drop)
    });
    arrived.await
}

/// Everything that a pause must leave as it is.
#[derive(Debug, PartialEq)]
struct State {
    packs: Vec<Value>,
    /// Ground items of the region that Ann sees.
    ground: BTreeSet<String>,
    places: Vec<Option<Tile>>,
    stored: AllHeld,
}

impl Scene<'_> {
    fn stays(&self) -> [&Player; 2] {
        [&self.ann, &self.bob]
    }

    async fn state(&self) -> Result<State> {
        let pack = |one: &Player| one.look(|view| json!(view.possessions.slots()));
        // What has just been dropped is shown a moment later.
        let dropped = self.ann.until("both things on the ground", SOON, |view| {
            let items = view.map.entities().filter(|one| {
                one.id.starts_with("item:") && region_of((one.x, one.z)) == self.region
            });
            let items: BTreeSet<String> = items.map(|item| item.id.clone()).collect();
            (items.len() == 2).then_some(items)
        });
        let ground = dropped.await?;
        let places = self.stays().map(|one| one.look(|view| view.position));
        Ok(State {
            packs: self.stays().map(pack).to_vec(),
            ground,
            places: places.to_vec(),
            stored: self.stored().await?,
        })
    }

    /// Returns the possessions of both players of the region, by the store.
    async fn stored(&self) -> Result<AllHeld> {
        let (ann, bob) = (self.ann.id()?, self.bob.id()?);
        let mut held = self.cluster.store().await?.held().await?;
        held.retain(|id, _| *id == ann || *id == bob);
        Ok(held)
    }

    /// Pauses or resumes the region.
    async fn orders(&self, act: &str) -> Result<Value> {
        let (x, z) = self.region;
        let path = format!("/admin/regions/{act}");
        let body = Some(json!({"x": x, "z": z}));
        let done = self.op.ask(Method::POST, &path, body).await?;
        ensure!(done.status == 200, "{}", done.text());
        done.json()
    }

    /// Waits until both players of the region have read a notice with this code.
    async fn are_told(&self, marks: [usize; 2], code: &str) -> Result<()> {
        for (one, mark) in self.stays().into_iter().zip(marks) {
            let told = one.heard(code, mark, SOON, |message| match &message.payload {
                Payload::Notice(notice) if notice.code == code => Some(()),
                _ => None,
            });
            told.await?;
        }
        Ok(())
    }

    async fn pauses(&self) -> Result<()> {
        let marks = self.stays().map(Player::mark);
        let done = self.orders("pause").await?;
        ensure!(done["changed"] == true, "{done}");
        self.are_told(marks, "zone_unavailable").await?;
        let again = self.orders("pause").await?;
        ensure!(again["changed"] == false, "{again}");
        let zones = self.op.get("/admin/zones").await?;
        let (x, z) = self.region;
        let mut regions = zones["regions"].as_array().into_iter().flatten();
        let found = regions.find(|one| one["x"] == x && one["z"] == z);
        let found = found.context("the region")?;
        ensure!(
            found["paused"] == true && found["zone"].is_null(),
            "{found}"
        );
        Ok(())
    }

    /// Nobody acts in the region or comes into it; chat and the rest of the world go on.
    async fn stands_still(&self, gateway: &str) -> Result<()> {
        for one in self.stays() {
            let refused = drop_one(one).await?;
            ensure!(refused == Some(ErrorCode::ZoneUnavailable), "{refused:?}");
            let said = json!({"channel": "global", "message": "nothing moves here"});
            let said = one.say(said).await?;
            ensure!(matches!(said, Payload::Ack(_)), "{said:?}");
        }
        ensure!(drop_one(&self.cid).await?.is_none(), "Cid stands still");
        self.walks_in_and_out(&self.cid).await.context("Cid")?;
        let dan = Player::connect(gateway, Format::Json).await?;
        let welcome = dan.sign_in(Some(&self.dan)).await?;
        let first = welcome.characters.first().context("no character")?;
        let enter = json!({"characterId": first.id});
        match dan.ask("world:enter", &enter).await? {
            Payload::Error(error) => {
                let clear = error.message.contains("until an operator");
                let code = error.code == ErrorCode::ZoneUnavailable;
                ensure!(clear && code, "{error:?}");
                Ok(())
            }
            other => anyhow::bail!("world:enter: {other:?}"),
        }
    }

    /// A player walks past the border of the region and back: its own region still plays it.
    async fn walks_in_and_out(&self, one: &Player) -> Result<()> {
        let from = one.look(|view| view.position).context("a place")?;
        for (x, z) in [self.home, from] {
            let there = json!({"target": {"x": x, "z": z}, "run": true});
            let asked = one.ask("player:move", &there).await?;
            ensure!(matches!(asked, Payload::Ack(_)), "{asked:?}");
            let arrived = one.until("the end of the way", FAR, |view| {
                view.position.filter(|at| *at == (x, z)).map(drop)
            });
            arrived.await?;
        }
        Ok(())
    }

    async fn resumes(&self) -> Result<()> {
        let marks = self.stays().map(Player::mark);
        let done = self.orders("resume").await?;
        ensure!(done["changed"] == true, "{done}");
        self.are_told(marks, "zone_recovered").await
    }
}
