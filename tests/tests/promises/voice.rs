//! Voice: the room is the character's place, at any gateway.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::Player,
    cluster::{Cluster, Plan},
    journey::Atlas,
};

use crate::interface::Caller;

const TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_room_is_where_one_stands_at_every_gateway_and_changes_at_the_border() {
    let plan = Plan::new("voice")
        .of(2, 2, 1)
        .env("VOICE_API_KEY", "a-key")
        .env("VOICE_API_SECRET", "a-secret-of-the-voice-server")
        .env("VOICE_URL", "wss://voice.example");
    let cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&cluster, &plan).await.unwrap();
}

fn room(player: &Player) -> Result<String> {
    let (x, z) = player.position()?;
    Ok(format!("region:{}:{}", x.div_euclid(64), z.div_euclid(64)))
}

async fn token(caller: &Caller<'_>) -> Result<(u16, Value)> {
    let answer = caller.ask(Method::POST, "/api/voice/token", None).await?;
    Ok((answer.status.as_u16(), answer.json()?))
}

async fn story(cluster: &Cluster, plan: &Plan) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let crossing = atlas.crossings[0];
    let (here, there) = (cluster.gateway(0), cluster.gateway(1));
    let ann = Player::connect(&here, Format::Json).await?;
    let welcome = ann.sign_in(None).await?;
    let character = ann.create("Ann").await?;
    let own = |gateway| Caller {
        gateway,
        token: Some(welcome.auth_token.clone()),
    };
    let both = [own(here.as_str()), own(there.as_str())];
    for caller in &both {
        let (status, answer) = token(caller).await?;
        ensure!(
            status == 409 && answer["code"] == "not_in_world",
            "{status} {answer}"
        );
    }
    // An agent that nobody plays says nothing.
    let second = ann.create("Wren").await?;
    let body = json!({"characterId": second.id, "agentName": "Wren"});
    let made = both[0].ask(Method::POST, "/api/agents", Some(body)).await?;
    ensure!(made.status == 201, "{}", made.text());
    ensure!(token(&both[1]).await?.0 == 409, "an agent speaks");

    ann.enter(&character.id).await?;
    atlas.travel(&ann, crossing.low).await?;
    let mut rooms = Vec::new();
    for place in [crossing.low, crossing.high] {
        ann.walk(place, false, TIMEOUT).await?;
        let expected = room(&ann)?;
        for caller in &both {
            // Another gateway asks the store, which hears of a border a moment later.
            let told = tokio::time::timeout(TIMEOUT, async {
                loop {
                    let (status, answer) = token(caller).await?;
                    ensure!(matches!(status, 200 | 409), "{status} {answer}");
                    if status == 200 && answer["room"] == expected.as_str() {
                        return Ok(answer);
                    }
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            });
            let told = told
                .await
                .with_context(|| format!("never in {expected}"))??;
            ensure!(told["identity"] == character.id.as_str(), "{told}");
            ensure!(told["canPublish"] == true, "{told}");
        }
        rooms.push(expected);
    }
    ensure!(
        rooms[0] != rooms[1],
        "no border between {:?} and {:?}",
        crossing.low,
        crossing.high
    );
    ann.check()
}
