//! Players of one area are sent to one gateway, if they like.

use serde_json::{Value, json};
use tokio::time::{Duration, timeout};

use crate::{client::Client, stage::Stage};

const NAMES: [&str; 2] = ["one", "two"];

fn address(name: &str) -> String {
    format!("ws://{name}.test/ws")
}

async fn gateways() -> Stage {
    let [one, two] = NAMES.map(address);
    let settings = |name, address| {
        [
            ("GATEWAY_ID", name),
            ("GATEWAY_ADDRESS", address),
            // A player of this test enters again and again.
            ("DISABLE_RATE_LIMIT", "true"),
        ]
    };
    let mut stage = Stage::open(&settings(NAMES[0], one.as_str())).await;
    stage.add_gateway(&settings(NAMES[1], two.as_str())).await;
    stage
}

/// Leaves the world and enters it again. Returns the address to which the player is sent.
async fn enter_again(client: &mut Client) -> Option<String> {
    client.ask("world:leave", json!({})).await;
    let id = client.character_id.clone();
    let entered = client.enter_as(&id).await;
    entered["data"]["gateway"].as_str().map(str::to_owned)
}

/// Both gateways show the same area: one sends its players on, and the other keeps those who come.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_gateways_sends_players_to_the_other_which_keeps_them() {
    let mut stage = gateways().await;
    let mut players = [
        stage.player_at(0, "Ann").await,
        stage.player_at(1, "Bob").await,
    ];
    let sends = async {
        loop {
            for (index, player) in players.iter_mut().enumerate() {
                // A gateway hears of another one within some seconds.
                if let Some(to) = enter_again(player).await {
                    return (index, to);
                }
            }
        }
    };
    let (from, to) = timeout(Duration::from_secs(40), sends)
        .await
        .expect("nobody is sent on");
    let there = 1 - from;
    assert_eq!(to, address(NAMES[there]));
    let [first, second] = players;
    let (sent, mut kept) = if from == 0 {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(enter_again(&mut kept).await, None);
    let lost = sent.lose();
    let (client, resumed) = lost.resume(stage.address(there), lost.seq).await;
    assert_eq!(resumed["event"], "session:resumed", "{resumed}");
    assert_eq!(resumed["data"]["gateway"], Value::Null, "it is there");
    let lost = client.lose();
    let (_, resumed) = lost.resume(stage.address(from), lost.seq).await;
    assert_eq!(
        resumed["data"]["gateway"], to,
        "the first one sends it back"
    );
    // Who drains wants no players any more.
    stage.stop(there).await;
    let mut last = stage.player_at(from, "Cid").await;
    let stays = async { while enter_again(&mut last).await.is_some() {} };
    timeout(Duration::from_secs(40), stays)
        .await
        .expect("still sent there");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_addresses_nobody_is_sent_anywhere() {
    let mut stage = Stage::open(&[("GATEWAY_ID", NAMES[0])]).await;
    let settings = [
        ("GATEWAY_ID", NAMES[1]),
        ("GATEWAY_ADDRESS", "ws://two.test/ws"),
    ];
    stage.add_gateway(&settings).await;
    let mut player = stage.player_at(0, "Ann").await;
    assert_eq!(enter_again(&mut player).await, None);
}
