//! Hearers of each message, across gateways.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use proto::client::{ErrorCode, Format, Refusal, chat::Channel, chat::ChatMessage};
use serde_json::json;
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Plan},
    journey::Atlas,
};

const SOON: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn talk_reaches_whom_it_should_across_gateways() {
    let plan = Plan::new("chat").of(2, 2, 1);
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&cluster, &plan).await.unwrap();
}

async fn story(cluster: &Cluster, plan: &Plan) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let bob = Player::arrive(&cluster.gateway(1), Format::MessagePack, "Bob").await?;
    let far = Player::arrive(&cluster.gateway(1), Format::Json, "Far Away").await?;
    let spawn = ann.position()?;
    let distant = distant_tile(&atlas, spawn)?;
    atlas.travel(&far, distant).await?;

    let marks = [ann.mark(), bob.mark(), far.mark()];
    let said = ann.say(json!({ "message": "hello, near" })).await?;
    ensure!(matches!(said, Payload::Ack(_)), "{said:?}");
    let heard = hear(&bob, marks[1], "hello, near").await?;
    ensure!(
        (heard.channel, heard.from.as_str()) == (Channel::Local, "Ann"),
        "{heard:?}"
    );
    ensure!(heard.from_id == ann.id()?);
    hear(&ann, marks[0], "hello, near")
        .await
        .context("one's own voice")?;

    ann.say(json!({ "message": "hello, all", "channel": "global" }))
        .await?;
    for (player, mark) in [(&ann, marks[0]), (&bob, marks[1]), (&far, marks[2])] {
        let heard = hear(player, mark, "hello, all").await?;
        ensure!(heard.channel == Channel::Global, "{heard:?}");
    }
    // The global message came after the local one: a player who has the global one alone never gets
    // the local one.
    let log = far.log();
    let local = log
        .iter()
        .any(|m| matches!(&m.payload, Payload::Chat(c) if c.message == "hello, near"));
    ensure!(!local, "local talk was heard at {distant:?}");

    private(&ann, &bob, &far, marks).await?;
    for player in [&ann, &bob, &far] {
        player.check()?;
    }
    Ok(())
}

async fn private(ann: &Player, bob: &Player, far: &Player, marks: [usize; 3]) -> Result<()> {
    let whisper = json!({ "message": "only you", "channel": "private", "to": "bob" });
    let said = ann.say(whisper).await?;
    ensure!(matches!(said, Payload::Ack(_)), "{said:?}");
    let heard = hear(bob, marks[1], "only you").await?;
    ensure!(
        (heard.channel, heard.from.as_str()) == (Channel::Private, "Ann"),
        "{heard:?}"
    );
    let overheard = far
        .log()
        .iter()
        .any(|m| matches!(&m.payload, Payload::Chat(c) if c.message == "only you"));
    ensure!(!overheard, "a private message was overheard");

    let nobody = json!({ "message": "anybody?", "channel": "private", "to": "Nobody At All" });
    match ann.say(nobody).await? {
        Payload::Error(e)
            if e.code == ErrorCode::NotDelivered
                || e.code == ErrorCode::Refused(Refusal::NotFound) => {}
        other => anyhow::bail!("to nobody: {other:?}"),
    }
    Ok(())
}

async fn hear(player: &Player, mark: usize, what: &str) -> Result<ChatMessage> {
    player
        .heard(what, mark, SOON, |message| match &message.payload {
            Payload::Chat(chat) if chat.message == what => Some(chat.clone()),
            _ => None,
        })
        .await
}

/// Returns a tile that can be reached and is out of earshot.
fn distant_tile(atlas: &Atlas, from: (i32, i32)) -> Result<(i32, i32)> {
    let ways = atlas.terrain.ways_to(from);
    let ring = (40..70).flat_map(|d| [(d, 0), (-d, 0), (0, d), (0, -d), (d, d), (-d, d)]);
    ring.map(|(dx, dz)| (from.0 + dx, from.1 + dz))
        .filter_map(|tile| ways.far(tile).map(|far| (far, tile)))
        .min()
        .map(|(_, tile)| tile)
        .context("no tile out of earshot")
}
