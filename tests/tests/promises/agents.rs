//! An agent made over HTTP lives in the world without anybody's socket and follows its orders. Its
//! orders outlive every process.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use hyper::Method;
use proto::client::Format;
use serde_json::{Value, json};
use tests::{
    bot::{Player, View},
    cluster::{Cluster, Plan},
    http,
};
use tokio::time::{Instant, sleep};

/// No condition is waited for longer.
const TIMEOUT: Duration = Duration::from_secs(40);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_made_over_http_lives_walks_stops_and_stays_stopped_after_a_restart() {
    // A character without a connection soon leaves its zone.
    let plan = Plan::new("agents").env("LINGER_SECONDS", "2");
    let mut cluster = Cluster::start(plan).await.unwrap();
    lives(&mut cluster).await.unwrap();
}

/// A client over HTTP, with a token.
struct Caller {
    authority: String,
    token: String,
}

impl Caller {
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<(u16, Value)> {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![("authorization", bearer.as_str())];
        let body = body.map(|body| body.to_string());
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = Bytes::from(body.unwrap_or_default());
        let answer = http::send(&self.authority, method, path, &headers, body).await?;
        Ok((answer.status.as_u16(), answer.json()?))
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let (status, answer) = self.ask(Method::GET, path, None).await?;
        ensure!(status == 200, "GET {path}: {status} {answer}");
        Ok(answer)
    }

    async fn post(&self, path: &str, body: Value) -> Result<Value> {
        let (status, answer) = self.ask(Method::POST, path, Some(body)).await?;
        ensure!(status < 300, "POST {path}: {status} {answer}");
        Ok(answer)
    }

    /// Returns the place of an agent, once it is in the world.
    async fn position(&self, agent: &str) -> Result<(i64, i64)> {
        let begun = Instant::now();
        loop {
            let seen = self
                .get(&format!("/api/agents/{agent}/quick-actions"))
                .await?;
            if let Some(at) = seen["playerPosition"].as_array() {
                let number = |n: usize| at[n].as_i64().context("a tile");
                return Ok((number(0)?, number(2)?));
            }
            ensure!(begun.elapsed() < TIMEOUT, "never in the world: {seen}");
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits until it has gone so many tiles from `from`.
    async fn goes(&self, agent: &str, from: (i64, i64), far: i64) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < TIMEOUT {
            let at = self.position(agent).await?;
            if (at.0 - from.0).abs().max((at.1 - from.1).abs()) >= far {
                return Ok(());
            }
            sleep(Duration::from_millis(300)).await;
        }
        bail!("it stands still at {from:?}")
    }

    /// Checks that it stays on its tile for some ticks.
    async fn stands(&self, agent: &str) -> Result<(i64, i64)> {
        // A step that was under way at the order is over after a tick.
        sleep(Duration::from_millis(1_300)).await;
        let at = self.position(agent).await?;
        for _ in 0..5 {
            sleep(Duration::from_millis(600)).await;
            let now = self.position(agent).await?;
            ensure!(now == at, "it stood at {at:?} and stands at {now:?}");
        }
        Ok(at)
    }
}

/// Returns a new account with a character that nobody plays.
async fn account(gateway: &str, name: &str) -> Result<(Caller, String)> {
    let player = Player::connect(gateway, Format::Json).await?;
    let welcome = player.sign_in(None).await?;
    let character = player.create(name).await?;
    let caller = Caller {
        authority: player.authority(),
        token: welcome.auth_token,
    };
    Ok((caller, character.id))
}

async fn lives(cluster: &mut Cluster) -> Result<()> {
    let (mut ann, character) = account(&cluster.gateway(0), "Ann").await?;
    let (bob, _) = account(&cluster.gateway(0), "Bob").await?;
    let made = json!({"characterId": character, "agentName": "Helper"});
    let made = ann.post("/api/agents", made).await?;
    let agent = made["data"]["agent"]["id"]
        .as_str()
        .context("an id")?
        .to_owned();
    let path = |rest: &str| format!("/api/agents/{agent}/{rest}");
    let born = ann.position(&agent).await?;
    let set = ann
        .post(&path("goal"), json!({"goalId": "explore"}))
        .await?;
    ensure!(
        set["goal"]["id"] == "explore" && set["goalsPaused"] == false,
        "{set}"
    );
    ann.goes(&agent, born, 5).await?;
    agents_are_marked(&ann, &agent, &character).await?;
    let stopped = ann.post(&path("goal/stop"), json!({})).await?;
    let null = stopped["goal"] == Value::Null && stopped["goalsPaused"] == true;
    ensure!(null && stopped["availableGoals"].is_array(), "{stopped}");
    let at = ann.stands(&agent).await?;
    somebody_elses_agent_is_not_there(&bob, &agent).await?;
    a_token_of_its_own_speaks_for_it_until_it_ends(&ann, &agent).await?;
    let at = the_pause_outlives_a_session(&ann, (&agent, &character), at).await?;

    cluster.restart().await?;

    let gateway: http::Address = cluster.gateway(0).parse()?;
    ann.authority = gateway.authority();
    let goal = ann.get(&path("goal")).await?;
    ensure!(
        goal["goalsPaused"] == true && goal["goal"] == Value::Null,
        "{goal}"
    );
    let stands = ann.stands(&agent).await?;
    ensure!(stands == at, "it stood at {at:?}, and now at {stands:?}");
    let told = ann
        .post(&path("message"), json!({"content": "explore"}))
        .await?;
    ensure!(
        told["delivered"] == true && told["understood"].is_string(),
        "{told}"
    );
    ann.goes(&agent, at, 5).await?;
    let resumed = ann.post(&path("goal/resume"), json!({})).await?;
    ensure!(resumed["goalsPaused"] == false, "{resumed}");
    let did = ann.get(&path("activity")).await?;
    ensure!(
        did["recentActions"]
            .as_array()
            .is_some_and(|all| !all.is_empty()),
        "{did}"
    );
    Ok(())
}

/// Checks that `world:update` tells a spectator which characters are agents, and says nothing of
/// others.
async fn agents_are_marked(ann: &Caller, agent: &str, character: &str) -> Result<()> {
    let far = Player::arrive(&ann.authority, Format::Json, "Looker").await?;
    let own = far.id()?;
    // It goes about: a player at its former place meets it now or a little later.
    let begun = Instant::now();
    loop {
        let marks = |id: &str| {
            let of = |view: &View| view.map.entity(id).map(|e| e.fields.get("agent").cloned());
            far.look(of)
        };
        if let Some(mark) = marks(character) {
            ensure!(
                mark == Some(json!(true)),
                "the agent is not marked: {mark:?}"
            );
            ensure!(marks(&own) == Some(None), "a player is marked");
            return far.check();
        }
        ensure!(begun.elapsed() < TIMEOUT, "the agent was never in sight");
        let (x, z) = ann.position(agent).await?;
        let target = json!({"target": {"x": x, "z": z}, "run": true});
        far.ask("player:move", &target).await?;
        sleep(Duration::from_millis(600)).await;
    }
}

/// Lets the owner come as the stopped agent, and go again, without a word and with one.
async fn the_pause_outlives_a_session(
    ann: &Caller,
    (agent, character): (&str, &str),
    mut at: (i64, i64),
) -> Result<(i64, i64)> {
    for says_so in [false, true] {
        let player = Player::connect(&ann.authority, Format::Json).await?;
        player.authenticate(json!({"token": ann.token})).await?;
        player.enter(character).await?;
        let goal = ann.get(&format!("/api/agents/{agent}/goal")).await?;
        ensure!(goal["goalsPaused"] == true, "while it is played: {goal}");
        match says_so {
            true => {
                player.ask("world:leave", &json!({})).await?;
            }
            false => player.cut().await,
        }
        drop(player);
        // The session is given up, and the character is its own again.
        sleep(Duration::from_secs(4)).await;
        let goal = ann.get(&format!("/api/agents/{agent}/goal")).await?;
        let paused = goal["goalsPaused"] == true && goal["goal"].is_null();
        ensure!(paused, "after the session: {goal}");
        let now = ann.stands(agent).await?;
        ensure!(
            now == at,
            "it stood at {at:?}, and after a session at {now:?}"
        );
        at = now;
    }
    Ok(at)
}

async fn somebody_elses_agent_is_not_there(bob: &Caller, agent: &str) -> Result<()> {
    for (method, rest) in [
        (Method::GET, "goal"),
        (Method::POST, "goal/stop"),
        (Method::POST, "goal/resume"),
        (Method::GET, "quick-actions"),
        (Method::GET, "activity"),
    ] {
        let path = format!("/api/agents/{agent}/{rest}");
        let (status, answer) = bob.ask(method, &path, None).await?;
        ensure!(
            status == 404 && answer["code"] == "not_found",
            "{path}: {answer}"
        );
    }
    Ok(())
}

async fn a_token_of_its_own_speaks_for_it_until_it_ends(ann: &Caller, agent: &str) -> Result<()> {
    let made = json!({"agentId": agent});
    let made = ann.post("/api/agents/credentials", made).await?;
    let mind = Caller {
        authority: ann.authority.clone(),
        token: made["authToken"].as_str().context("a token")?.to_owned(),
    };
    let goal = format!("/api/agents/{agent}/goal");
    ensure!(mind.get(&goal).await?["goalsPaused"] == true);
    let more = mind.ask(
        Method::POST,
        "/api/agents/credentials",
        Some(json!({"agentId": agent})),
    );
    ensure!(more.await?.0 == 403, "an agent makes no tokens");
    let id = made["credentialId"].as_str().context("an id")?;
    let path = format!("/api/agents/credentials/{id}");
    let (status, answer) = ann.ask(Method::DELETE, &path, None).await?;
    ensure!(status == 200, "{answer}");
    let begun = Instant::now();
    loop {
        let (status, answer) = mind.ask(Method::GET, &goal, None).await?;
        if status == 401 {
            return Ok(());
        }
        ensure!(
            begun.elapsed() < Duration::from_secs(5),
            "still good: {status} {answer}"
        );
        sleep(Duration::from_millis(100)).await;
    }
}
