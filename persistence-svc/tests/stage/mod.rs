//! The stage of the store's tests: a real service over a store of its own. Its clients say in few
//! words the requests of zones and gateways.

#![allow(dead_code, missing_docs, unreachable_pub)]

mod asking;
mod rows;
pub(crate) mod value;
mod zones;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use persistence_svc::{Config, Conservation, Mutants, Server};
use proto::rpc::agents::v1::agents_client::AgentsClient;
use proto::rpc::common::v1::{Region, Tile};
use proto::rpc::identity::v1::identity_client::IdentityClient;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::accounts_client::AccountsClient;
use proto::rpc::persistence::v1::directory_client::DirectoryClient;
use proto::rpc::persistence::v1::runs_client::RunsClient;
use proto::rpc::personal::v1::personal_client::PersonalClient;
use proto::rpc::queries::v1::changes_client::ChangesClient;
use proto::rpc::queries::v1::queries_client::QueriesClient;
use proto::rpc::queries::v1::replica_client::ReplicaClient;
use proto::rpc::social::v1::social_client::SocialClient;
use service_runtime::config::{Env, Reader};
use service_runtime::telemetry::{Telemetry, TelemetryConfig};
use test_servers::{PgBouncer, Postgres};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

#[allow(unused_imports, reason = "the bench asks less")]
pub(crate) use self::asking::{refused, until};
#[allow(unused_imports, reason = "the bench asks less")]
pub(crate) use self::rows::{at, logout, only, stay, transfer, walked};

/// Within this everything that should happen has happened.
pub(crate) const SOON: Duration = Duration::from_secs(15);

static COUNTER: AtomicU64 = AtomicU64::new(1);

/// Returns a number that no other test of this process gets.
pub(crate) fn unique() -> u64 {
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// The store below a test.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
    /// PostgreSQL behind PgBouncer, which gives each transaction another connection.
    Pooled,
}

enum Backing {
    Sqlite(PathBuf),
    Postgres {
        server: Arc<Postgres>,
        _pooler: Option<Arc<PgBouncer>>,
        name: String,
    },
}

/// One running service.
pub(crate) struct Replica {
    pub(crate) channel: Channel,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Replica {
    pub(crate) async fn end(self) {
        self.stop.cancel();
        timeout(SOON, self.task).await.unwrap().unwrap().unwrap();
    }
}

tokio::task_local! {
    /// Rules that the stores of this task break.
    pub(crate) static MUTANTS: Mutants;
}

/// A store with one service over it.
pub(crate) struct Stage {
    backing: Backing,
    settings: BTreeMap<&'static str, String>,
    replica: Option<Replica>,
}

pub(crate) fn config(settings: &BTreeMap<&'static str, String>) -> Config {
    let pairs = settings.iter().map(|(name, value)| (*name, value.clone()));
    let mut reader = Reader::new(Env::from_pairs(pairs));
    let mut config = Config::read(&mut reader);
    reader.finish().unwrap();
    config.mutants = MUTANTS.try_with(|mutants| *mutants).unwrap_or_default();
    config
}

pub(crate) fn telemetry() -> Telemetry {
    telemetry_to("")
}

/// Makes telemetry that goes to a collector; none if `endpoint` is empty.
pub(crate) fn telemetry_to(endpoint: &str) -> Telemetry {
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)];
    let mut reader = Reader::new(Env::from_pairs(variables));
    Telemetry::new("persistence-svc", &TelemetryConfig::read(&mut reader)).unwrap()
}

pub(crate) async fn serve(settings: &BTreeMap<&'static str, String>) -> Replica {
    serve_with(settings, telemetry()).await
}

pub(crate) async fn serve_with(
    settings: &BTreeMap<&'static str, String>,
    telemetry: Telemetry,
) -> Replica {
    let server = Server::bind(config(settings), telemetry).await.unwrap();
    let address = server.address().to_string();
    let stop = CancellationToken::new();
    let task = tokio::spawn(server.run(stop.clone()));
    let channel = channel(&address);
    Replica {
        channel,
        stop,
        task,
    }
}

/// Returns a channel to a service without TLS.
pub(crate) fn channel(address: &str) -> Channel {
    let trust = service_runtime::rpc::Trust::none();
    trust
        .channel(service_runtime::rpc::Role::Persistence, address)
        .unwrap()
}

/// Returns the settings of a service with long leases, whose placement does not wait.
fn settings() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("PERSISTENCE_LISTEN", "127.0.0.1:0".to_owned()),
        ("LEASE_MS", "60000".to_owned()),
        ("PLACEMENT_SETTLE_MS", "0".to_owned()),
        ("MASS_LAPSE_MS", "0".to_owned()),
        ("DATABASE_CONNECTIONS", "8".to_owned()),
    ])
}

pub(crate) fn temporary_folder() -> PathBuf {
    let name = format!("persistence-test-{}-{}", std::process::id(), unique());
    std::env::temp_dir().join(name)
}

impl Stage {
    /// Starts a service over a fresh store with long leases, whose placement does not wait.
    pub(crate) async fn new(kind: Kind) -> Stage {
        Stage::with(kind, &[]).await
    }

    /// As [`Stage::new`], with some settings set otherwise.
    pub(crate) async fn with(kind: Kind, more: &[(&'static str, &str)]) -> Stage {
        Stage::prepared(kind, more, async |_| {}).await
    }

    /// As [`Stage::with`], over a database of PostgreSQL that `prepare` filled before the service
    /// came: it gets the address without a pooler.
    pub(crate) async fn prepared(
        kind: Kind,
        more: &[(&'static str, &str)],
        prepare: impl AsyncFnOnce(String),
    ) -> Stage {
        let mut settings = settings();
        let backing = match kind {
            Kind::Sqlite => {
                let folder = temporary_folder();
                settings.insert("DATA_DIR", folder.display().to_string());
                Backing::Sqlite(folder)
            }
            Kind::Postgres | Kind::Pooled => {
                let pooled = matches!(kind, Kind::Pooled);
                let start = move || {
                    let pooler = pooled.then(PgBouncer::shared);
                    let server = pooler.as_ref().and_then(|pooler| pooler.postgres());
                    (server.unwrap_or_else(Postgres::shared), pooler)
                };
                let (server, pooler) = tokio::task::spawn_blocking(start).await.unwrap();
                let name = format!("t{}", unique());
                let mut url = server.create_database(&name);
                if let Some(pooler) = &pooler {
                    url = pooler.url_of(&name);
                    settings.insert("DATABASE_POOLER", "transaction".to_owned());
                }
                settings.insert("DATABASE_URL", url);
                prepare(server.url_of(&name)).await;
                Backing::Postgres {
                    server,
                    _pooler: pooler,
                    name,
                }
            }
        };
        settings.extend(
            more.iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        );
        Stage::begun(backing, settings).await
    }

    /// As [`Stage::new`], over a server of PostgreSQL of one's own.
    pub(crate) async fn over(server: Arc<Postgres>) -> Stage {
        let mut settings = settings();
        let name = format!("t{}", unique());
        settings.insert("DATABASE_URL", server.create_database(&name));
        let backing = Backing::Postgres {
            server,
            _pooler: None,
            name,
        };
        Stage::begun(backing, settings).await
    }

    async fn begun(backing: Backing, settings: BTreeMap<&'static str, String>) -> Stage {
        let replica = Some(serve(&settings).await);
        let stage = Stage {
            backing,
            settings,
            replica,
        };
        stage.ready().await;
        stage
    }

    /// Waits until calls are answered.
    pub(crate) async fn ready(&self) {
        until("the service is ready", async || {
            self.secret("ready").await.ok()
        })
        .await;
    }

    pub(crate) async fn secret(&self, name: &str) -> Result<wire::SecretReply, Status> {
        let ask = wire::SecretRequest {
            name: name.to_owned(),
        };
        Ok(self.accounts().secret(ask).await?.into_inner())
    }

    pub(crate) fn settings(&self) -> &BTreeMap<&'static str, String> {
        &self.settings
    }

    /// Starts another service over the same store.
    pub(crate) async fn another(&self) -> Replica {
        serve(&self.settings).await
    }

    /// Ends the service and starts it again over the same store.
    pub(crate) async fn restart(&mut self) {
        if let Some(replica) = self.replica.take() {
            replica.end().await;
        }
        self.replica = Some(serve(&self.settings).await);
        self.ready().await;
    }

    fn channel(&self) -> Channel {
        self.replica.as_ref().unwrap().channel.clone()
    }

    pub(crate) fn accounts(&self) -> AccountsClient<Channel> {
        AccountsClient::new(self.channel())
    }

    pub(crate) fn agents(&self) -> AgentsClient<Channel> {
        AgentsClient::new(self.channel())
    }

    pub(crate) fn queries(&self) -> QueriesClient<Channel> {
        QueriesClient::new(self.channel())
    }

    pub(crate) fn replica(&self) -> ReplicaClient<Channel> {
        ReplicaClient::new(self.channel())
    }

    pub(crate) fn changes(&self) -> ChangesClient<Channel> {
        ChangesClient::new(self.channel())
    }

    pub(crate) fn social(&self) -> SocialClient<Channel> {
        SocialClient::new(self.channel())
    }

    pub(crate) fn personal(&self) -> PersonalClient<Channel> {
        PersonalClient::new(self.channel())
    }

    pub(crate) fn identity(&self) -> IdentityClient<Channel> {
        IdentityClient::new(self.channel())
    }

    pub(crate) fn runs(&self) -> RunsClient<Channel> {
        RunsClient::new(self.channel()).max_decoding_message_size(64 * 1024 * 1024)
    }

    pub(crate) fn directories(&self) -> DirectoryClient<Channel> {
        DirectoryClient::new(self.channel())
    }

    /// Runs statements in the database behind the service's back.
    pub(crate) fn sql(&self, sqlite: &str, postgres: &str) {
        match &self.backing {
            Backing::Sqlite(folder) => database(folder).execute_batch(sqlite).unwrap(),
            Backing::Postgres { server, name, .. } => server.sql(name, postgres),
        }
    }

    /// Returns the address of the database without a pooler.
    pub(crate) fn direct_url(&self) -> String {
        match &self.backing {
            Backing::Sqlite(_) => panic!("this store is not PostgreSQL"),
            Backing::Postgres { server, name, .. } => server.url_of(name),
        }
    }

    /// Opens a session of its own with PostgreSQL.
    pub(crate) async fn postgres(&self) -> tokio_postgres::Client {
        let url = self.direct_url();
        let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
        let (client, connection) = connecting.await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Returns the first column of a query, as text.
    pub(crate) async fn ask(&self, query: &str) -> Vec<String> {
        match &self.backing {
            Backing::Sqlite(folder) => {
                let connection = database(folder);
                let mut statement = connection.prepare(query).unwrap();
                let rows = statement.query_map([], |row| {
                    let value: rusqlite::types::Value = row.get(0)?;
                    Ok(match value {
                        rusqlite::types::Value::Integer(n) => n.to_string(),
                        rusqlite::types::Value::Real(n) => n.to_string(),
                        rusqlite::types::Value::Text(text) => text,
                        _ => String::new(),
                    })
                });
                rows.unwrap().collect::<Result<_, _>>().unwrap()
            }
            Backing::Postgres { .. } => {
                let client = self.postgres().await;
                let rows = client.simple_query(query).await.unwrap();
                rows.iter()
                    .filter_map(|message| match message {
                        tokio_postgres::SimpleQueryMessage::Row(row) => {
                            Some(row.get(0).unwrap_or_default().to_owned())
                        }
                        _ => None,
                    })
                    .collect()
            }
        }
    }

    /// Returns every column of every table, as `(table, column, bytes)`; `bytes`: it holds no text.
    /// Partitions are left out: their table shows all their rows.
    pub(crate) async fn columns(&self) -> Vec<(String, String, bool)> {
        let query = match &self.backing {
            Backing::Sqlite(_) => {
                r"SELECT m.name || ' ' || c.name || ' ' || c.type FROM sqlite_master m
                  JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
            }
            Backing::Postgres { .. } => {
                "SELECT table_name || ' ' || column_name || ' ' || data_type
                 FROM information_schema.columns WHERE table_schema = 'public' AND NOT
                   (SELECT relispartition FROM pg_class WHERE oid = quote_ident(table_name)::regclass)"
            }
        };
        let rows = self.ask(query).await;
        let column = |row: &String| {
            let mut parts = row.splitn(3, ' ').map(str::to_owned);
            let mut part = || parts.next().unwrap();
            (part(), part(), part() == "bytea")
        };
        rows.iter().map(column).collect()
    }

    /// Returns an expression for the bytes of a column in lower-case hexadecimal.
    pub(crate) fn hex(&self, column: &str, bytes: bool) -> String {
        match &self.backing {
            Backing::Sqlite(_) => format!(r#"lower(hex(CAST("{column}" AS blob)))"#),
            Backing::Postgres { .. } if bytes => format!(r#"encode("{column}", 'hex')"#),
            Backing::Postgres { .. } => {
                format!(r#"encode(convert_to("{column}"::text, 'UTF8'), 'hex')"#)
            }
        }
    }

    pub(crate) async fn end(mut self) {
        if let Some(replica) = self.replica.take() {
            replica.end().await;
        }
    }

    // Requests of gateways.

    /// Makes a new account.
    pub(crate) async fn account(&self) -> String {
        let mut key = vec![0; 32];
        key[..8].copy_from_slice(&unique().to_le_bytes());
        let ask = wire::SignInRequest {
            device_key_hash: key.into(),
            create: true,
        };
        let reply = self.accounts().sign_in(ask).await.unwrap().into_inner();
        assert!(reply.created);
        reply.account.unwrap().id
    }

    pub(crate) async fn create(
        &self,
        account: &str,
        name: &str,
    ) -> Result<wire::CharacterSummary, Status> {
        let ask = wire::CreateCharacterRequest {
            account_id: account.to_owned(),
            name: name.to_owned(),
            spawn: Some(Tile { x: 10, z: 10 }),
            look: String::new(),
        };
        Ok(self.accounts().create_character(ask).await?.into_inner())
    }

    pub(crate) async fn open(&self, player: &Player, session: &str) -> wire::OpenSessionReply {
        self.try_open(player, session).await.unwrap()
    }

    pub(crate) async fn try_open(
        &self,
        player: &Player,
        session: &str,
    ) -> Result<wire::OpenSessionReply, Status> {
        let ask = wire::OpenSessionRequest {
            account_id: player.account.clone(),
            character_id: player.id.clone(),
            session_id: session.to_owned(),
            gateway_id: "gateway".to_owned(),
        };
        Ok(self.accounts().open_session(ask).await?.into_inner())
    }

    /// Makes a new character of a new account, in the world at region (0, 0).
    pub(crate) async fn player(&self) -> Player {
        let account = self.account().await;
        let name = format!("Player {}", unique());
        let id = self.create(&account, &name).await.unwrap().id;
        let player = Player { account, id, name };
        let opened = self.open(&player, "first").await;
        assert_eq!(opened.session_epoch, 1);
        player
    }

    /// Makes many characters of a new account, in the world at the zone's region.
    pub(crate) async fn crowd(&self, zone: &Zone, size: usize) -> Vec<wire::CharacterRecord> {
        let account = self.account().await;
        let columns = r#"(id, "accountId", name, "nameKey", "createdAt", "regionX", "regionZ",
                          online, "sessionEpoch")"#;
        let (x, z) = (zone.place.x, zone.place.z);
        // Two crowds stand in two regions.
        let of = match (x, z) {
            (0, 0) => String::new(),
            _ => format!("{x}.{z}-"),
        };
        let values = format!("'c{of}' || n, '{account}', 'C{of}' || n, 'c{of}' || n, 1, {x}, {z}");
        self.sql(
            &format!(
                "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {size})
                 INSERT INTO characters {columns} SELECT {values}, 1, 1 FROM n"
            ),
            &format!(
                "INSERT INTO characters {columns}
                 SELECT {values}, true, 1 FROM generate_series(1, {size}) n"
            ),
        );
        self.load_region(zone).await.unwrap().characters
    }

    // Requests of operators.

    pub(crate) async fn check(&self) -> Conservation {
        let found = persistence_svc::check(&config(&self.settings), &telemetry(), false).await;
        found.unwrap()
    }

    /// As [`Stage::check`], with all rows of the closed months.
    pub(crate) async fn check_full(&self) -> Conservation {
        let found = persistence_svc::check(&config(&self.settings), &telemetry(), true).await;
        found.unwrap()
    }

    /// Keeps the months as the service does, at a time. Returns those that it closed.
    pub(crate) async fn keep_months(&self, now_ms: i64) -> anyhow::Result<Vec<String>> {
        persistence_svc::keep_months(&config(&self.settings), &telemetry(), now_ms).await
    }

    /// Runs a command beside the service: its exit code and all that it said.
    pub(crate) async fn command(&self, words: &[&str]) -> (i32, String) {
        command(&self.settings, words).await
    }
}

/// Runs a command of an operator with these settings: its exit code and all that it said.
pub(crate) async fn command(
    settings: &BTreeMap<&'static str, String>,
    words: &[&str],
) -> (i32, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_persistence-svc"));
    command.args(words).env_clear().envs(settings);
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.unwrap().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let code = output.status.code().unwrap_or(-1);
    (code, String::from_utf8(said).unwrap())
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(replica) = &self.replica {
            replica.stop.cancel();
        }
        if let Backing::Sqlite(folder) = &self.backing {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn database(folder: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(folder.join("world.sqlite")).unwrap();
    connection.busy_timeout(SOON).unwrap();
    connection
}

/// Watches the directory; waits until it is known.
pub(crate) async fn watch(channel: Channel) -> Streaming<wire::DirectoryUpdate> {
    until("the directory is known", async || {
        let ask = wire::WatchRequest {
            client: "test".to_owned(),
        };
        let mut client = DirectoryClient::new(channel.clone());
        Some(client.watch(ask).await.ok()?.into_inner())
    })
    .await
}

/// Somebody who plays.
pub(crate) struct Player {
    pub(crate) account: String,
    pub(crate) id: String,
    pub(crate) name: String,
}

/// A run with one region.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone {
    pub(crate) run: u64,
    pub(crate) place: Region,
    pub(crate) epoch: u64,
}

pub(crate) fn region(x: i32, z: i32) -> Region {
    Region { x, z }
}
