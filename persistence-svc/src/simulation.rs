//! The whole service as one value, for a simulation of many processes. It has the real calls, the
//! real judge and the real planner over a real SQLite in memory. The simulation turns its clock.
//!
//! Always: everything happens on the caller's thread before a call returns; time and new ids are
//! those of the simulation, so that the same calls give the same answers.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::Full;
use prost::Message;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::accounts_server::Accounts;
use proto::rpc::persistence::v1::directory_server::Directory;
use proto::rpc::persistence::v1::runs_server::Runs;
use rusqlite::{Connection, Row};
use service_runtime::rpc::Gate;
use service_runtime::tasks::TaskGroup;
use service_runtime::telemetry::{Telemetry, TelemetryConfig};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tonic::codec::Codec;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::feed::Feed;
use crate::metrics::Metrics;
use crate::mutants::Mutants;
use crate::placement::plan::{MoveBackoff, PlanPolicy, View, plan};
use crate::placement::planner::{self, Settings};
use crate::rpc::accounts::AccountsService;
use crate::rpc::directory::DirectoryService;
use crate::rpc::runs::RunsService;
use crate::rpc::{Desk, model};
use crate::store::agents::Bounds;
use crate::store::environment::Environment;
use crate::store::model::Region;
use crate::store::sqlite::Sqlite;
use crate::store::{Conservation, Directories, Operators, Store as _};

/// The lease of a run, in milliseconds.
pub const LEASE_MS: u64 = 3_000;
/// Delay of the first placement after the newest registration, in milliseconds.
const SETTLE_MS: u64 = 500;
/// Time by which a lease must be overdue when many lapse together, in milliseconds.
const MASS_LAPSE_MS: u64 = 10_000;
const HOLDER: &str = "simulation";
/// Longest time that the machine may take for one answer, in its own time.
const ANSWER_LIMIT: Duration = Duration::from_secs(600);

/// The surroundings of the store in a simulation.
#[derive(Debug)]
struct Turned {
    now_ms: AtomicI64,
    ids: AtomicU64,
    mutants: Mutants,
}

impl Turned {
    fn turn(&self, now_ms: u64) {
        let now_ms = i64::try_from(now_ms).unwrap_or(i64::MAX);
        self.now_ms.store(now_ms, Ordering::Relaxed);
    }
}

impl Environment for Turned {
    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    fn new_id(&self) -> String {
        let last = self.ids.fetch_add(1, Ordering::Relaxed);
        format!("id-{:06}", last + 1)
    }

    fn mutants(&self) -> Mutants {
        self.mutants
    }
}

/// Requests to the service, as they come over the wire.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "each is the call of its name")]
pub enum Ask {
    SignIn(wire::SignInRequest),
    CreateCharacter(wire::CreateCharacterRequest),
    OpenSession(wire::OpenSessionRequest),
    Register(wire::RegisterRequest),
    Renew(wire::RenewRequest),
    Release(wire::ReleaseRequest),
    Drain(wire::DrainRequest),
    Ended(wire::EndedRequest),
    LoadRegion(wire::LoadRegionRequest),
    LoadCharacter(wire::LoadCharacterRequest),
    OnlineCharacters(wire::OnlineCharactersRequest),
    CharacterOwner(wire::CharacterOwnerRequest),
    Commit(Arc<Vec<wire::CommitPart>>),
    Suspect(wire::SuspectRequest),
}

/// Answers of the service.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "each answers the call of its name")]
pub enum Answer {
    SignIn(wire::SignInReply),
    CreateCharacter(wire::CharacterSummary),
    OpenSession(wire::OpenSessionReply),
    Register(wire::RegisterReply),
    Renew(wire::RenewReply),
    Release,
    Drain,
    Ended,
    LoadRegion(Box<wire::LoadRegionReply>),
    LoadCharacter(Box<wire::CharacterRecord>),
    OnlineCharacters(wire::OnlineCharactersReply),
    CharacterOwner(wire::CharacterOwnership),
    Commit(wire::CommitReply),
    Suspect,
}

/// The service and its database.
pub struct Store {
    runtime: Runtime,
    environment: Arc<Turned>,
    sqlite: Arc<Sqlite>,
    runs: RunsService,
    accounts: AccountsService,
    directory: DirectoryService,
    metrics: Metrics,
    /// Start of the time in which the store has answered every time.
    steady: Cell<Option<u64>>,
    move_backoff: RefCell<MoveBackoff>,
}

/// Returns the instruments of all simulations of a process.
pub fn telemetry() -> anyhow::Result<Telemetry> {
    Telemetry::new("persistence-svc", &TelemetryConfig::default())
}

impl Store {
    /// Builds an empty world at a moment.
    ///
    /// # Errors
    /// There is no runtime, or SQLite does not work.
    pub fn new(now_ms: u64, telemetry: &Telemetry, mutants: Mutants) -> anyhow::Result<Store> {
        let environment = Arc::new(Turned {
            now_ms: AtomicI64::default(),
            ids: AtomicU64::default(),
            mutants,
        });
        environment.turn(now_ms);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .context("a runtime")?;
        let sqlite = Arc::new(in_memory(&runtime, Arc::clone(&environment) as _)?);
        runtime.block_on(sqlite.migrate())?;
        let metrics = Metrics::new(&telemetry.meter());
        let within = runtime.enter();
        let desk = Arc::new(Desk::new(
            Arc::clone(&sqlite) as Arc<dyn crate::store::Store>,
            &TaskGroup::default(),
            metrics.clone(),
            telemetry.tracer(),
            Duration::from_millis(LEASE_MS),
            Bounds {
                account: i64::MAX,
                world: i64::MAX,
            },
        ));
        drop(within);
        desk.open();
        Ok(Store {
            runs: RunsService(Arc::clone(&desk)),
            accounts: AccountsService(Arc::clone(&desk)),
            directory: DirectoryService {
                desk,
                feed: Arc::new(Feed::new(Gate::default())),
                metrics: metrics.clone(),
                stop: CancellationToken::new(),
            },
            metrics,
            runtime,
            environment,
            sqlite,
            steady: Cell::new(None),
            move_backoff: RefCell::default(),
        })
    }

    /// Answers one call.
    ///
    /// # Errors
    /// The error that the call's caller would get.
    pub fn call(&self, now_ms: u64, ask: Ask) -> Result<Answer, Status> {
        self.environment.turn(now_ms);
        self.runtime.block_on(self.answer(ask))
    }

    async fn answer(&self, ask: Ask) -> Result<Answer, Status> {
        Ok(match ask {
            Ask::SignIn(ask) => {
                Answer::SignIn(self.accounts.sign_in(Request::new(ask)).await?.into_inner())
            }
            Ask::CreateCharacter(ask) => {
                let made = self.accounts.create_character(Request::new(ask)).await?;
                Answer::CreateCharacter(made.into_inner())
            }
            Ask::OpenSession(ask) => {
                let opened = self.accounts.open_session(Request::new(ask)).await?;
                Answer::OpenSession(opened.into_inner())
            }
            Ask::Suspect(ask) => {
                self.directory.suspect(Request::new(ask)).await?;
                Answer::Suspect
            }
            ask => self.answer_run(ask).await?,
        })
    }

    async fn answer_run(&self, ask: Ask) -> Result<Answer, Status> {
        let runs = &self.runs;
        Ok(match ask {
            Ask::Register(ask) => {
                Answer::Register(runs.register(Request::new(ask)).await?.into_inner())
            }
            Ask::Renew(ask) => Answer::Renew(runs.renew(Request::new(ask)).await?.into_inner()),
            Ask::Release(ask) => {
                runs.release(Request::new(ask)).await?;
                Answer::Release
            }
            Ask::Drain(ask) => {
                runs.drain(Request::new(ask)).await?;
                Answer::Drain
            }
            Ask::Ended(ask) => {
                runs.ended(Request::new(ask)).await?;
                Answer::Ended
            }
            Ask::LoadRegion(ask) => {
                let loaded = runs.load_region(Request::new(ask)).await?;
                Answer::LoadRegion(Box::new(loaded.into_inner()))
            }
            Ask::LoadCharacter(ask) => {
                let loaded = runs.load_character(Request::new(ask)).await?;
                Answer::LoadCharacter(Box::new(loaded.into_inner()))
            }
            Ask::OnlineCharacters(ask) => {
                let online = runs.online_characters(Request::new(ask)).await?;
                Answer::OnlineCharacters(online.into_inner())
            }
            Ask::CharacterOwner(ask) => {
                let owner = runs.character_owner(Request::new(ask)).await?;
                Answer::CharacterOwner(owner.into_inner())
            }
            Ask::Commit(parts) => {
                let committed = runs.commit(Request::new(stream(&parts))).await?;
                Answer::Commit(committed.into_inner())
            }
            _ => return Err(Status::internal("not a call about runs")),
        })
    }

    /// Pauses a region as an operator does, or resumes it.
    ///
    /// # Errors
    /// The store is broken, or has no such region.
    pub fn pause(&self, now_ms: u64, (x, z): (i32, i32), paused: bool) -> anyhow::Result<()> {
        self.environment.turn(now_ms);
        let region = Region { x, z };
        let changed = match paused {
            true => self.runtime.block_on(self.sqlite.pause_region(region)),
            false => self.runtime.block_on(self.sqlite.resume_region(region)),
        };
        changed.map(drop).context("an operator's pause")
    }

    /// Runs one round of the planner, due every 200 ms while the store answers.
    ///
    /// # Errors
    /// The store is broken.
    pub fn plan(&self, now_ms: u64) -> anyhow::Result<()> {
        self.environment.turn(now_ms);
        let settings = Settings {
            lease: Duration::from_millis(LEASE_MS),
            settle: Duration::from_millis(SETTLE_MS),
            mass_lapse: Duration::from_millis(MASS_LAPSE_MS),
            balance: true,
            towns: true,
        };
        let quiet = match self.steady.get() {
            Some(since) => now_ms.saturating_sub(since) < LEASE_MS,
            None => true,
        };
        let store = self.sqlite.as_ref();
        let mut move_backoff = self.move_backoff.borrow_mut();
        let round = planner::round(
            store,
            HOLDER,
            settings,
            quiet,
            &self.metrics,
            &mut move_backoff,
        );
        self.runtime.block_on(round).context("a planner's round")?;
        self.steady.set(self.steady.get().or(Some(now_ms)));
        Ok(())
    }

    /// Returns one moment of the store as the planner reads it.
    ///
    /// # Errors
    /// The store is broken.
    pub fn planner_view(&self, now_ms: u64) -> anyhow::Result<PlannerView> {
        self.environment.turn(now_ms);
        Ok(PlannerView(self.runtime.block_on(self.sqlite.view())?))
    }

    /// Notes that the store did not answer the planner for a while.
    pub fn was_away(&self) {
        self.steady.set(None);
    }

    /// Returns the version of the directory.
    ///
    /// # Errors
    /// The store is broken.
    pub fn version(&self, now_ms: u64) -> anyhow::Result<u64> {
        self.environment.turn(now_ms);
        let version = self.runtime.block_on(self.sqlite.version())?;
        Ok(u64::try_from(version)?)
    }

    /// Returns the directory as the service pushes it.
    ///
    /// # Errors
    /// The store is broken.
    pub fn directory(&self, now_ms: u64) -> anyhow::Result<wire::DirectoryUpdate> {
        self.environment.turn(now_ms);
        let directory = self.runtime.block_on(self.sqlite.directory())?;
        model::directory(directory).map_err(|why| anyhow::anyhow!("the directory: {why}"))
    }

    /// Returns the findings of the operator's check.
    ///
    /// # Errors
    /// The store is broken.
    pub fn check(&self) -> anyhow::Result<Conservation> {
        Ok(self.runtime.block_on(self.sqlite.check(true))?)
    }

    /// Returns the contents of the store now, for laws.
    ///
    /// # Errors
    /// The store is broken.
    pub fn contents(&self) -> anyhow::Result<StoreContents> {
        let read = self
            .sqlite
            .read(|transaction| Ok(StoreContents::read(transaction)?));
        Ok(self.runtime.block_on(read)?)
    }
}

/// One moment of the store, as the planner reads it.
pub struct PlannerView(View);

/// Number of changes in a plan, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannedChanges {
    /// Runs to fence.
    pub fenced: usize,
    /// Regions of nobody that get an owner.
    pub moves: usize,
    /// Requests to living runs that they give a region away.
    pub requests: usize,
}

impl PlannerView {
    /// Plans and changes nothing. Returns the number of changes that are due.
    pub fn plan(&self) -> PlannedChanges {
        let policy = PlanPolicy {
            settle_ms: SETTLE_MS.cast_signed(),
            mass_lapse_ms: MASS_LAPSE_MS.cast_signed(),
            quiet: false,
            balance: true,
        };
        let change = plan(&self.0, policy);
        PlannedChanges {
            fenced: change.fence.len(),
            moves: change.moves.len(),
            requests: change.move_requests.len(),
        }
    }
}

/// Opens a store in memory. It works whenever the runtime does, on the same thread.
fn in_memory(runtime: &Runtime, environment: Arc<dyn Environment>) -> anyhow::Result<Sqlite> {
    let mut connection = Connection::open_in_memory().context("open it in memory")?;
    connection
        .pragma_update(None, "foreign_keys", "ON")
        .context("set foreign_keys")?;
    connection.set_prepared_statement_cache_capacity(128);
    let (sqlite, mut inbox, done) = Sqlite::over(ANSWER_LIMIT, environment);
    runtime.spawn(async move {
        while let Some(job) = inbox.recv().await {
            job(&mut connection);
        }
        drop(done);
    });
    Ok(sqlite)
}

/// Encodes a batch as it comes over the wire.
fn stream(parts: &[wire::CommitPart]) -> Streaming<wire::CommitPart> {
    let mut bytes = BytesMut::new();
    for part in parts {
        let message = part.encode_to_vec();
        bytes.put_u8(0);
        bytes.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
        bytes.put_slice(&message);
    }
    let decoder = ProstCodec::<wire::CommitReply, wire::CommitPart>::default().decoder();
    Streaming::new_request(decoder, Full::new(Bytes::from(bytes)), None, None)
}

/// A character as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "columns")]
pub struct Character {
    pub region: (i32, i32),
    pub ownership_sequence: u64,
    pub session_epoch: u64,
    pub online: bool,
    pub coins: u64,
    /// Item and quantity by slot.
    pub pack: BTreeMap<u8, (String, u64)>,
}

/// Ground item as the store has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "columns")]
pub struct Lying {
    pub tile: (i32, i32),
    pub item: String,
    pub quantity: u64,
    pub owner: String,
    pub public_tick: u64,
}

/// Contents of the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreContents {
    /// Runs that are not fenced.
    pub runs: BTreeMap<u64, String>,
    /// Run (0: nobody) and epoch of each region.
    pub regions: BTreeMap<(i32, i32), (u64, u64)>,
    /// Regions that an operator paused.
    pub paused: BTreeSet<(i32, i32)>,
    /// Rows by id.
    pub characters: BTreeMap<String, Character>,
    /// Rows by id.
    pub ground: BTreeMap<String, Lying>,
}

impl StoreContents {
    fn read(connection: &Connection) -> rusqlite::Result<StoreContents> {
        let mut contents = StoreContents::default();
        let mut runs = connection
            .prepare_cached("SELECT id, state FROM runs WHERE state <> 'fenced' ORDER BY id")?;
        let mut rows = runs.query([])?;
        while let Some(row) = rows.next()? {
            contents.runs.insert(number(row, 0)?, row.get(1)?);
        }
        let mut regions = connection
            .prepare_cached("SELECT region_x, region_z, run_id, epoch, paused FROM regions")?;
        let mut rows = regions.query([])?;
        while let Some(row) = rows.next()? {
            let at = (row.get(0)?, row.get(1)?);
            contents
                .regions
                .insert(at, (number(row, 2)?, number(row, 3)?));
            if row.get(4)? {
                contents.paused.insert(at);
            }
        }
        let mut characters = connection.prepare_cached(
            r#"SELECT id, "regionX", "regionZ", "ownershipSequence", "sessionEpoch", online, coins
               FROM characters"#,
        )?;
        let mut rows = characters.query([])?;
        while let Some(row) = rows.next()? {
            let character = Character {
                region: (row.get(1)?, row.get(2)?),
                ownership_sequence: number(row, 3)?,
                session_epoch: number(row, 4)?,
                online: row.get(5)?,
                coins: number(row, 6)?,
                pack: BTreeMap::new(),
            };
            contents.characters.insert(row.get(0)?, character);
        }
        let mut packs = connection.prepare_cached(
            r#"SELECT "playerId", "slotIndex", "itemId", quantity FROM inventory"#,
        )?;
        let mut rows = packs.query([])?;
        while let Some(row) = rows.next()? {
            let who: String = row.get(0)?;
            if let Some(character) = contents.characters.get_mut(&who) {
                character
                    .pack
                    .insert(row.get(1)?, (row.get(2)?, number(row, 3)?));
            }
        }
        contents.read_ground(connection)?;
        Ok(contents)
    }

    fn read_ground(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut ground = connection.prepare_cached(
            "SELECT id, x, z, item_id, quantity, owner_id, public_tick FROM ground_items",
        )?;
        let mut rows = ground.query([])?;
        while let Some(row) = rows.next()? {
            let lying = Lying {
                tile: (row.get(1)?, row.get(2)?),
                item: row.get(3)?,
                quantity: number(row, 4)?,
                owner: row.get(5)?,
                public_tick: number(row, 6)?,
            };
            self.ground.insert(row.get(0)?, lying);
        }
        Ok(())
    }
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
