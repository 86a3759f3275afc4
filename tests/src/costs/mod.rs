//! Cost of a gateway's routes for the database of a large world.
//!
//! Always: a cost is PostgreSQL's own count (planning and execution) of the statements that a
//! request causes. Statements in the background are known by their rate while nobody asks anything.
//! The batches of play do not count.

mod story;
mod world;

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::Method;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tokio_postgres::{Client, NoTls};

use crate::{
    cluster::{Cluster, Plan},
    http,
};

/// The operators' code.
const ADMIN_CODE: &str = "a-code-for-operators-0123456789";
/// Requests that cost more are explained on stderr, in milliseconds.
const EXPLAINED_MS: f64 = 1.5;
/// Time for which the meter watches the services while nobody asks anything.
const IDLE: Duration = Duration::from_secs(8);
/// Both names of a family are the same handlers.
const FAMILIES: [(&str, &str); 4] = [
    ("/api/agents", "/api/agent"),
    ("/api/characters", "/api/character"),
    ("/api/players", "/api/player"),
    ("/api/templates", "/api/template"),
];

/// Statements of the batches in which zone servers save the players in the world. They are play,
/// and do not count.
const BATCHES: &str = "^(UPDATE characters c SET \"regionX\"\
|SELECT id, \"regionX\", \"regionZ\", \"ownershipSequence\"\
|SELECT region_x, region_z, run_id, epoch FROM regions\
|SELECT sequence FROM commits|INSERT INTO commits|INSERT INTO inventory|UPDATE runs SET until)";

/// Cost of one request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// The database's time, in milliseconds.
    milliseconds: f64,
    statements: f64,
}

/// Runs of each statement and their total time in milliseconds, by the statement's number.
type Counts = BTreeMap<i64, (f64, f64)>;

/// The database's own account of its work.
pub(crate) struct Meter {
    client: Client,
    /// Runs a second while nobody asks anything.
    idle: BTreeMap<i64, f64>,
}

impl Meter {
    async fn counts(&self) -> Result<Counts> {
        let query = "SELECT queryid, calls::float8, total_plan_time + total_exec_time
            FROM pg_stat_statements
            WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND query NOT LIKE '%pg_stat_statements%' AND query !~ $1";
        let rows = self.client.query(query, &[&BATCHES]).await?;
        let read = rows.iter().map(|row| {
            let counts = (row.try_get(1)?, row.try_get(2)?);
            anyhow::Ok((row.try_get(0)?, counts))
        });
        read.collect()
    }

    /// Watches the statements that run while nobody asks anything.
    async fn watch(&mut self) -> Result<()> {
        let before = self.counts().await?;
        sleep(IDLE).await;
        for (statement, (calls, _)) in since(&before, self.counts().await?) {
            self.idle.insert(statement, calls / IDLE.as_secs_f64());
        }
        Ok(())
    }

    /// Returns the cost of each of `requests` equal requests. Only statements count that ran for at
    /// least every other one: all else is work in the background.
    pub(crate) async fn of(
        &self,
        requests: u32,
        work: impl Future<Output = Result<()>>,
    ) -> Result<Cost> {
        let (before, begun) = (self.counts().await?, Instant::now());
        work.await?;
        let (took, requests) = (begun.elapsed().as_secs_f64(), f64::from(requests));
        let mut cost = Cost::default();
        let mut parts = Vec::new();
        for (statement, (calls, milliseconds)) in since(&before, self.counts().await?) {
            let anyway = self.idle.get(&statement).copied().unwrap_or_default() * took;
            let caused = (calls - anyway).max(0.0);
            if caused * 2.0 >= requests {
                let part = milliseconds / calls * caused / requests;
                cost.statements += caused / requests;
                cost.milliseconds += part;
                parts.push((part, statement));
            }
        }
        if cost.milliseconds > EXPLAINED_MS {
            parts.sort_by(|one, other| other.0.total_cmp(&one.0));
            self.explain(&parts).await?;
        }
        Ok(cost)
    }

    /// Says which statements cost most.
    async fn explain(&self, parts: &[(f64, i64)]) -> Result<()> {
        let query = "SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 100)
            FROM pg_stat_statements WHERE queryid = $1 LIMIT 1";
        for (milliseconds, statement) in parts.iter().take(4) {
            let text: String = self
                .client
                .query_one(query, &[statement])
                .await?
                .try_get(0)?;
            eprintln!("  {milliseconds:.2} ms: {text}");
        }
        Ok(())
    }
}

/// Returns the statements that ran between two counts.
fn since(before: &Counts, after: Counts) -> impl Iterator<Item = (i64, (f64, f64))> {
    let ran = after.into_iter().map(|(statement, (calls, time))| {
        let (calls_before, time_before) = before.get(&statement).copied().unwrap_or_default();
        (statement, (calls - calls_before, time - time_before))
    });
    ran.filter(|(_, (calls, _))| *calls > 0.0)
}

/// Fills a world, asks each route, and describes what that cost as a Markdown document.
///
/// # Errors
/// A service does not come up or refuses a request, or a route has no request in the story.
pub async fn measure(characters: u32, requests: u32) -> Result<String> {
    let mut plan = Plan::new("route-costs")
        .of(1, 1, 1)
        .env("ADMIN_CODE", ADMIN_CODE)
        .env("HISCORES_REFRESH_MS", "4000")
        .env("VOICE_API_KEY", "a-key")
        .env("VOICE_API_SECRET", "a-secret-of-the-voice-server")
        .env("VOICE_URL", "wss://voice.example");
    plan.alone = true;
    plan.postgres = vec![
        "shared_preload_libraries=pg_stat_statements",
        "pg_stat_statements.track_planning=on",
        "shared_buffers=1GB",
        "wal_level=minimal",
        "max_wal_senders=0",
        "max_wal_size=1GB",
    ];
    let cluster = Cluster::start(plan).await?;
    let (client, connection) = tokio_postgres::connect(cluster.database_url(), NoTls).await?;
    let asked = async {
        let extension = "CREATE EXTENSION pg_stat_statements";
        client.batch_execute(extension).await?;
        let refreshed = world::fill(&client, characters).await?;
        let mut meter = Meter {
            client,
            idle: BTreeMap::new(),
        };
        meter.watch().await?;
        let costs = story::told(&cluster, &mut meter, requests).await?;
        let gateway = cluster.gateway(0);
        let described = http::send(&gateway, Method::GET, "/openapi.json", &[], Bytes::new());
        let routes = routes(&described.await?.json()?);
        document((characters, requests), &routes, &costs, &refreshed)
    };
    tokio::select! {
        document = asked => document,
        ended = connection => {
            ended.context("the connection to the database")?;
            anyhow::bail!("the database closed the connection")
        }
    }
}

/// Returns the routes that a client may ask without a token or with a new one: method, path, and
/// the scopes that may.
fn routes(described: &Value) -> Vec<(String, String, String)> {
    let mut routes = Vec::new();
    for (path, methods) in described["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let who = operation.pointer("/security/0/bearer");
            let who = who.and_then(Value::as_array).into_iter().flatten();
            let mut who: Vec<&str> = who.filter_map(Value::as_str).collect();
            if who.is_empty() {
                who.push("public");
            }
            // Roles are of staff.
            if !who.contains(&"admin") {
                routes.push((method.to_uppercase(), path.clone(), who.join(", ")));
            }
        }
    }
    routes
}

fn singular(path: &str) -> String {
    for (plural, one) in FAMILIES {
        if let Some(rest) = path.strip_prefix(plural)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return format!("{one}{rest}");
        }
    }
    path.to_owned()
}

fn document(
    (characters, requests): (u32, u32),
    routes: &[(String, String, String)],
    costs: &BTreeMap<String, Cost>,
    refreshed: &world::Refreshed,
) -> Result<String> {
    let mut text = format!(
        "# Cost of routes for the database\n\n\
         This table names every route that anybody can ask without a token or with a new one, with\n\
         the time that PostgreSQL spends on a request: the planning and execution of all statements\n\
         that it causes, by `pg_stat_statements`, as the mean of {requests} requests. The world has\n\
         {characters} characters and as many accounts, twice as many sessions and things in packs.\n\
         No request may cost more than 5 ms, and one for hiscores no more than 2 ms; a test of the\n\
         gateway holds the table against its router.\n\n\
         ```sh\ncargo build --release -p gateway -p zone-server -p persistence-svc -p tests\n\
         target/release/route-costs > docs/route-costs.md\n```\n\n\
         Measured on 2 cores x86-64 (virtual), 24 GiB, Debian 12, PostgreSQL 15 with\n\
         `shared_buffers=1GB`; it does not wait for the disk at a commit.\n\n\
         | method | route | who | ms | statements |\n|---|---|---|---:|---:|\n"
    );
    for (method, path, who) in routes {
        let key = format!("{method} {}", singular(path));
        let cost = costs.get(&key);
        let cost = cost.with_context(|| format!("the story does not ask {key}"))?;
        writeln!(
            text,
            "| {method} | `{path}` | {who} | {:.2} | {:.0} |",
            cost.milliseconds, cost.statements
        )?;
    }
    write!(
        text,
        "\n`/ws` is a login: the upgrade, the token, and the way into the world until it is shown.\n\
         The batches in which zone servers save whoever is in the world are play, and not counted.\n\n\
         The hiscores are refreshed in the background by one replica. A refresh after {} characters\n\
         gained experience cost the database {:.2} s; filling one list from all characters, as after\n\
         an update of an old world, cost {:.2} s.\n",
        refreshed.gained, refreshed.refresh_s, refreshed.fill_s
    )?;
    Ok(text)
}

/// Asks the database until it says yes.
pub(crate) async fn until(client: &Client, what: &str, query: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(1_800);
    while !client.query_one(query, &[]).await?.try_get::<_, bool>(0)? {
        ensure!(Instant::now() < deadline, "never: {what}");
        sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_is_a_route_and_staff_is_left_out() {
        let described = json!({"paths": {
            "/": {"get": {"security": []}},
            "/api/x/{id}": {
                "delete": {"security": [{"bearer": ["player"]}]},
                "patch": {"security": [{"bearer": ["player", "agent"]}]},
            },
            "/admin/x": {"get": {"security": [{"bearer": ["moderator", "admin"]}]}},
        }});
        let found = routes(&described);
        let found: Vec<_> = found
            .iter()
            .map(|(method, path, who)| (method.as_str(), path.as_str(), who.as_str()))
            .collect();
        let expected = [
            ("GET", "/", "public"),
            ("DELETE", "/api/x/{id}", "player"),
            ("PATCH", "/api/x/{id}", "player, agent"),
        ];
        assert_eq!(found, expected);
        assert_eq!(singular("/api/agents/{agentId}"), "/api/agent/{agentId}");
    }
}
