//! Things between two players are nobody else's: a trade, a request of friendship, the items in a
//! pack or a bank. Every request names real ids, on real zones.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::{Message, Payload, Player},
    cluster::{Cluster, Plan},
};

const TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_third_one_takes_no_part_in_what_two_have() {
    let cluster = Cluster::start(Plan::new("intruders")).await.unwrap();
    story(&cluster).await.unwrap();
}

async fn done(player: &Player, event: &str, data: Value) -> Result<()> {
    let told = player.ask(event, &data).await?;
    let refused = matches!(told, Payload::Error(_) | Payload::TradeError(_));
    ensure!(!refused, "{event}: {told:?}");
    Ok(())
}

async fn refused(player: &Player, event: &str, data: Value) -> Result<()> {
    let told = player.ask(event, &data).await?;
    let refused = matches!(told, Payload::Error(_) | Payload::TradeError(_));
    ensure!(refused, "{event} {data}: {told:?}");
    Ok(())
}

async fn story(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let ann = Player::arrive(&gateway, Format::Json, "Ann").await?;
    let bob = Player::arrive(&gateway, Format::MessagePack, "Bob").await?;
    let eve = Player::arrive(&gateway, Format::Json, "Eve").await?;
    bob.walk(ann.position()?, true, TIMEOUT).await?;
    eve.walk(ann.position()?, true, TIMEOUT).await?;
    trade(&ann, &bob, &eve).await?;
    friendship(&ann, &bob, &eve).await?;
    // Her own items, by name: nobody else's pack or bank gives them.
    done(&ann, "friends:list", json!({})).await?;
    for (event, data) in [
        (
            "bank:withdraw",
            json!({"itemId": "bronze_hatchet", "quantity": 1, "noted": false}),
        ),
        ("inventory:drop", json!({"slot": 27})),
        ("inventory:use", json!({"slot": 27})),
        ("inventory:equip", json!({"slot": 27})),
    ] {
        refused(&eve, event, data).await?;
    }
    // Requests for the things of ann and bob tell eve nothing of their trade.
    eve.check()
}

async fn trade(ann: &Player, bob: &Player, eve: &Player) -> Result<()> {
    let mark = bob.mark();
    done(ann, "tradeRequest", json!({"targetPlayerId": bob.id()?})).await?;
    let incoming = |message: &Message| match &message.payload {
        Payload::TradeIncoming(incoming) => Some(incoming.trade_id.to_string()),
        _ => None,
    };
    let id = bob.heard("tradeIncoming", mark, TIMEOUT, incoming).await?;
    // Neither who asked nor a third one answers for whom it was asked.
    for player in [eve, ann] {
        refused(
            player,
            "tradeRequestRespond",
            json!({"tradeId": id, "accept": true}),
        )
        .await?;
    }
    done(
        bob,
        "tradeRequestRespond",
        json!({"tradeId": id, "accept": true}),
    )
    .await?;
    let offer = json!({"tradeId": id, "inventorySlot": 0, "quantity": 1});
    for (event, data) in [
        ("tradeAddItem", offer.clone()),
        ("tradeRemoveItem", json!({"tradeId": id, "tradeSlot": 0})),
        (
            "tradeSetItemQuantity",
            json!({"tradeId": id, "tradeSlot": 0, "quantity": 2}),
        ),
        ("tradeAccept", json!({"tradeId": id, "screen": "offer"})),
        ("tradeCancelAccept", json!({"tradeId": id})),
        ("tradeCancel", json!({"tradeId": id})),
    ] {
        refused(eve, event, data).await?;
    }
    // It goes on as if nobody had said anything.
    done(ann, "tradeAddItem", offer).await?;
    for screen in ["offer", "confirm"] {
        let mark = ann.mark();
        for player in [ann, bob] {
            done(
                player,
                "tradeAccept",
                json!({"tradeId": id, "screen": screen}),
            )
            .await?;
        }
        let next = |message: &Message| match &message.payload {
            Payload::TradeConfirmScreen(_) => (screen == "offer").then_some(()),
            Payload::TradeCompleted(_) => (screen == "confirm").then_some(()),
            _ => None,
        };
        ann.heard("the next of the trade", mark, TIMEOUT, next)
            .await?;
    }
    Ok(())
}

async fn friendship(ann: &Player, bob: &Player, eve: &Player) -> Result<()> {
    done(ann, "friends:request", json!({"name": "Bob"})).await?;
    let raw = friends(bob).await?;
    let id = raw["requests"][0]["id"]
        .as_str()
        .with_context(|| format!("{raw}"))?;
    let request = json!({ "requestId": id });
    for event in ["friends:accept", "friends:decline"] {
        refused(eve, event, request.clone()).await?;
    }
    refused(ann, "friends:accept", request.clone()).await?;
    refused(eve, "friends:remove", json!({"friendId": bob.id()?})).await?;
    done(bob, "friends:accept", request).await?;
    let has = friends(eve).await?;
    ensure!(has["friends"] == json!([]), "{has}");
    ensure!(friends(ann).await?["friends"][0]["id"] == bob.id()?);
    Ok(())
}

/// Returns a player's lists, as the store has them.
async fn friends(player: &Player) -> Result<Value> {
    match player.ask("friends:list", &json!({})).await? {
        Payload::FriendsList(lists) => Ok(serde_json::to_value(lists)?),
        other => anyhow::bail!("friends:list: {other:?}"),
    }
}
