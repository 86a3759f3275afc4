//! Trades between players whose regions belong to different processes, and the state after a
//! process is killed in the middle of one.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use proto::client::{Format, sync::Stack};
use serde_json::json;
use tests::{
    bot::{Message, Payload, Player},
    chaos::oracle,
    cluster::{Cluster, Kind, Plan},
    dump::Directory,
    journey::Atlas,
};
use world::Screen;

/// Time from the second agreement to the kill: a tick and a little. The kill then falls before the
/// commit, into it or after it, and every case must be right.
const INTO_THE_COMMIT: Duration = Duration::from_millis(620);
const TIMEOUT: Duration = Duration::from_secs(30);
/// Ann gives the one, Bob the other, which both have from the start.
const GIVEN: [&str; 2] = ["tinderbox", "bronze_hatchet"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_of_different_zones_trade_and_a_killed_zone_makes_nothing_of_it_twice() {
    let plan = Plan::new("trading").of(1, 2, 1);
    let mut cluster = Cluster::start(plan.clone()).await.unwrap();
    story(&mut cluster, &plan).await.unwrap();
}

/// The two players of a trade.
struct Pair {
    ann: Player,
    bob: Player,
}

#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn story(cluster: &mut Cluster, plan: &Plan) -> Result<()> {
    let atlas = Atlas::of(cluster, plan).await?;
    let crossing = atlas.crossings[0];
    let pair = Pair {
        ann: Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?,
        bob: Player::arrive(&cluster.gateway(0), Format::MessagePack, "Bob").await?,
    };
    // One past the border on each side: nobody crosses within four tiles of it.
    atlas.travel(&pair.ann, crossing.low).await?;
    atlas.travel(&pair.bob, crossing.high).await?;
    let (low, high) = beside_the_border(crossing.low, crossing.high);
    pair.ann.walk(low, false, TIMEOUT).await?;
    pair.bob.walk(high, false, TIMEOUT).await?;
    let low_run = atlas.directory.owner(crossing.low);
    ensure!(
        low_run != atlas.directory.owner(crossing.high),
        "one zone has both"
    );

    let before = pair.has(cluster).await?;
    // Killed between the screens: nothing has happened.
    let trade = pair.begin().await?;
    pair.lay_out(&trade).await?;
    let marks = [pair.ann.mark(), pair.bob.mark()];
    kill_host(cluster, &pair).await?;
    for (player, mark) in [&pair.ann, &pair.bob].into_iter().zip(marks) {
        let reason = player.heard("tradeCancelled", mark, TIMEOUT, |message| {
            let Payload::TradeCancelled(cancelled) = &message.payload else {
                return None;
            };
            (cancelled.trade_id.as_str() == trade).then(|| cancelled.reason.name())
        });
        ensure!(reason.await? == "server", "why the trade ended");
    }
    whole_again(cluster).await?;
    ensure!(pair.has(cluster).await? == before, "nothing has moved");

    // Killed right after the second agreement: all of it happened, or nothing.
    let trade = pair.begin().await?;
    pair.lay_out(&trade).await?;
    let last = json!({"tradeId": trade, "screen": Screen::Confirm});
    pair.ann.ask("tradeAccept", &last).await?;
    pair.bob.tell("tradeAccept", &last).await?;
    tokio::time::sleep(INTO_THE_COMMIT).await;
    kill_host(cluster, &pair).await?;
    whole_again(cluster).await?;
    let after = pair.has(cluster).await?;
    let [(a_one, b_one), (a_other, b_other)] = before[..] else {
        anyhow::bail!("two things are given: {before:?}");
    };
    let swapped = [(a_one - 1, b_one + 1), (a_other + 1, b_other - 1)];
    ensure!(
        after == before || after == swapped,
        "half a trade: {before:?} became {after:?}"
    );

    // Undisturbed, over the border.
    let trade = pair.begin().await?;
    let marks = [pair.ann.mark(), pair.bob.mark()];
    // The items of the last swap lie elsewhere now; any others will do.
    for player in [&pair.ann, &pair.bob] {
        let slot = first_slot(player)?;
        let offer = json!({"tradeId": trade, "inventorySlot": slot, "quantity": 1});
        answered(player.ask("tradeAddItem", &offer).await?)?;
    }
    pair.agree(&trade, Screen::Offer).await?;
    pair.agree(&trade, Screen::Confirm).await?;
    for (player, mark) in [&pair.ann, &pair.bob].into_iter().zip(marks) {
        let done = player.heard("tradeCompleted", mark, TIMEOUT, |message| {
            matches!(&message.payload, Payload::TradeCompleted(of) if of.trade_id.as_str() == trade)
                .then_some(())
        });
        done.await?;
    }
    oracle::conserved(cluster).await?;
    Ok(())
}

/// Returns the two tiles on both sides of the border between two ends of a walk over it.
fn beside_the_border(low: (i32, i32), high: (i32, i32)) -> ((i32, i32), (i32, i32)) {
    let ((ax, az), (bx, bz)) = (low, high);
    let edge = |a: i32, b: i32| b.div_euclid(64) * 64 - i32::from(a == b);
    if ax == bx {
        let edge = edge(az, bz);
        ((ax, edge - 1), (bx, edge))
    } else {
        let edge = edge(ax, bx);
        ((edge - 1, az), (edge, bz))
    }
}

fn answered(told: Payload) -> Result<()> {
    ensure!(matches!(told, Payload::Ack(_)), "{told:?}");
    Ok(())
}

fn slot_of(player: &Player, item: &str) -> Result<usize> {
    let of = |stack: &Option<Stack>| stack.as_ref().is_some_and(|stack| *stack.item_id == *item);
    let held = player.look(|view| view.possessions.slots().iter().position(of));
    held.with_context(|| format!("no {item}"))
}

fn first_slot(player: &Player) -> Result<usize> {
    let held = player.look(|view| view.possessions.slots().iter().position(Option::is_some));
    held.context("an empty pack")
}

impl Pair {
    /// Returns, of each thing that is given, Ann's quantity and Bob's.
    async fn has(&self, cluster: &Cluster) -> Result<Vec<(u64, u64)>> {
        let held = cluster.store().await?.held().await?;
        let of = |player: &Player, item: &str| -> Result<u64> {
            let own = held.get(&player.id()?);
            Ok(own
                .and_then(|own| own.items.get(item))
                .copied()
                .unwrap_or(0))
        };
        let each = GIVEN.iter();
        each.map(|item| Ok((of(&self.ann, item)?, of(&self.bob, item)?)))
            .collect()
    }

    /// Begins the trade: Ann asks, Bob says yes. The zone that takes over from a killed one may
    /// need a moment for its answer.
    async fn begin(&self) -> Result<String> {
        let mark = self.bob.mark();
        let ask = json!({"targetPlayerId": self.bob.id()?});
        let deadline = tokio::time::Instant::now() + TIMEOUT;
        loop {
            let told = self.ann.ask("tradeRequest", &ask).await?;
            if matches!(told, Payload::Ack(_)) {
                break;
            }
            ensure!(tokio::time::Instant::now() < deadline, "{told:?}");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let incoming = |message: &Message| match &message.payload {
            Payload::TradeIncoming(incoming) => Some(incoming.trade_id.to_string()),
            _ => None,
        };
        let trade = self
            .bob
            .heard("tradeIncoming", mark, TIMEOUT, incoming)
            .await?;
        let answer = json!({"tradeId": trade, "accept": true});
        let mark = self.ann.mark();
        answered(self.bob.ask("tradeRequestRespond", &answer).await?)?;
        let started = self.ann.heard("tradeStarted", mark, TIMEOUT, |message| {
            matches!(message.payload, Payload::TradeStarted(_)).then_some(())
        });
        started.await?;
        Ok(trade)
    }

    /// Lets both offer and agree to the offers.
    async fn lay_out(&self, trade: &str) -> Result<()> {
        let marks = [self.ann.mark(), self.bob.mark()];
        for (player, item) in [&self.ann, &self.bob].into_iter().zip(GIVEN) {
            let slot = slot_of(player, item)?;
            let offer = json!({"tradeId": trade, "inventorySlot": slot, "quantity": 1});
            answered(player.ask("tradeAddItem", &offer).await?)?;
        }
        self.agree(trade, Screen::Offer).await?;
        for (player, mark) in [&self.ann, &self.bob].into_iter().zip(marks) {
            let confirm = player.heard("tradeConfirmScreen", mark, TIMEOUT, |message| {
                matches!(message.payload, Payload::TradeConfirmScreen(_)).then_some(())
            });
            confirm.await?;
        }
        Ok(())
    }

    async fn agree(&self, trade: &str, screen: Screen) -> Result<()> {
        let accept = json!({"tradeId": trade, "screen": screen});
        answered(self.ann.ask("tradeAccept", &accept).await?)?;
        answered(self.bob.ask("tradeAccept", &accept).await?)
    }
}

/// Kills the zone that plays both, and starts it again.
async fn kill_host(cluster: &mut Cluster, pair: &Pair) -> Result<()> {
    let directory = Directory::fetch(cluster.operator(), &cluster.persistence(0)).await?;
    let runs: BTreeMap<&str, u64> = directory
        .runs
        .iter()
        .map(|(run, address)| (address.as_str(), *run))
        .collect();
    for zone in 0..2 {
        let address = cluster.zone(zone);
        let Some(run) = runs.get(address.as_str()) else {
            continue;
        };
        let played = cluster.store().await?.played_by(*run).await?;
        if played.contains(&pair.bob.id()?) {
            ensure!(played.contains(&pair.ann.id()?), "both trade in one zone");
            cluster.kill((Kind::Zone, zone))?;
            return cluster.launch((Kind::Zone, zone));
        }
    }
    anyhow::bail!("nobody plays Bob: {runs:?}")
}

async fn whole_again(cluster: &mut Cluster) -> Result<()> {
    cluster.ready().await?;
    oracle::whole(cluster).await?;
    oracle::conserved(cluster).await?;
    Ok(())
}
