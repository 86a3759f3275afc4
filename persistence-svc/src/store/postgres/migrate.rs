//! Brings the tables up to date, a step at a time, one replica at a time.
//!
//! Always: a step that is done is noted in the database, in the transaction of the step where it
//! has one. So a process that ends midway is followed by one that goes on there. No migration waits
//! long for a lock, because whoever wants the table meanwhile waits behind it. The layout counts
//! only when all its steps are done; older programs serve until then, and beside it if it allows
//! them.

mod alone;
mod begin;
mod lease;
pub(super) mod show;
mod state;

use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use self::begin::{Fault, LIMITS, LOCK};
use self::lease::Lease;
use self::state::{Plan, Planned, PlannedStep, State};
use super::Postgres;
use super::session::{Client, GenericClient, Transaction};
use crate::store::error::{Result, StoreError};
use crate::store::migrations::steps::Way;
use crate::store::migrations::{Layout, Migration, Told};
use crate::store::new_id;

/// Limits of one batch.
const BATCH_LIMITS: &str = "SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '1s'";
/// Longest time for one transaction.
const TRANSACTION_LIMIT: Duration = Duration::from_secs(120);
/// Time after which a migration that never gets a lock gives up.
const LOCKED_LIMIT: Duration = Duration::from_secs(600);
/// Pause before another try for a lock, or to see how far another replica is.
const PAUSE: Duration = Duration::from_millis(500);
/// Longest pause between two batches. It is as long as the batch took, for play and for standbys.
const BREATH_MAX: Duration = Duration::from_secs(1);
/// Time between two lines about the same step.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Returns the layout of the tables; there may be none yet.
pub(super) async fn layout(client: &impl GenericClient) -> Result<Layout> {
    Ok(State::look(client).await?.layout)
}

/// Tries a transaction again while somebody has a lock. The value is `None` if another process was
/// faster. (A macro, because a closure that is given the connection could not be sent.)
macro_rules! patiently {
    ($told:expr, $name:expr, $work:expr) => {{
        let mut patience = Patience::new($told, $name);
        loop {
            match within($work).await {
                Ok(done) => break Some(done),
                Err(Fault::Overtaken) => break None,
                Err(Fault::Store(error)) => return Err(error),
                Err(Fault::Locked(why)) => patience.wait(why).await?,
            }
        }
    }};
}

/// State of a migration after a look at the database.
enum Pass {
    Done,
    /// Another process works on it.
    Waits,
}

/// Brings the tables to the layouts of `list`, and waits while another process does so.
///
/// # Errors
/// The store does not answer, a statement fails, or a newer version made the tables and does not
/// allow this one.
pub(super) async fn migrate(store: &Postgres, list: &[Migration], told: Told<'_>) -> Result<()> {
    let holder = new_id();
    let run = Run {
        store,
        told,
        holder: &holder,
    };
    let mut quiet_since = Instant::now();
    loop {
        if let Pass::Done = run.pass(list).await? {
            return Ok(());
        }
        if quiet_since.elapsed() > TELL_EVERY {
            told("another process brings the tables up to date");
            quiet_since = Instant::now();
        }
        sleep(PAUSE).await;
    }
}

/// One step that is to be done.
#[derive(Clone, Copy)]
struct Work<'a> {
    layout: &'a Planned<'a>,
    step: &'a PlannedStep<'a>,
    /// Whether the layout is complete after it.
    last: bool,
}

impl Work<'_> {
    fn name(self) -> String {
        let Work { layout, step, .. } = self;
        let (version, all) = (layout.version, layout.steps.len());
        let (number, way) = (step.number, step.step.way);
        format!("layout {version}, step {number} of {all} ({way})")
    }
}

/// One process at work on the tables.
#[derive(Clone, Copy)]
struct Run<'a> {
    store: &'a Postgres,
    told: Told<'a>,
    /// Name of this process in the lease.
    holder: &'a str,
}

impl Run<'_> {
    async fn pass(&self, list: &[Migration]) -> Result<Pass> {
        let mut client = self.store.own_client().await?;
        let state = patiently!(self.told, "the layouts", State::prepare(&mut client));
        let Some(state) = state else {
            return Ok(Pass::Waits);
        };
        let plan = state.plan(list)?;
        if plan.is_empty() {
            return Ok(Pass::Done);
        }
        if plan.is_one_transaction() {
            let done = patiently!(self.told, "the tables", self.all_at_once(&mut client, list));
            return Ok(done.unwrap_or(Pass::Waits));
        }
        let lease = Lease {
            holder: self.holder,
        };
        if !lease.take(&client).await? {
            return Ok(Pass::Waits);
        }
        // Only the holder's view counts: the one before may have done a step a moment ago.
        let plan = State::read(&client).await?.plan(list)?;
        let done = tokio::select! {
            done = self.carry_out(&mut client, plan) => done,
            lost = lease.keep(self.store) => Err(lost),
        };
        // If the database is away, the lease ends by itself.
        let _ = timeout(lease::ANSWER_LIMIT, lease.give_up(&client)).await;
        done
    }

    /// Carries all missing layouts out in one transaction.
    async fn all_at_once(
        &self,
        client: &mut Client,
        list: &[Migration],
    ) -> std::result::Result<Pass, Fault> {
        let begun = Instant::now();
        let transaction = client.transaction().await?;
        transaction.batch_execute(LIMITS).await?;
        transaction.batch_execute(LOCK).await?;
        let plan = State::read(&transaction).await?.plan(list)?;
        if !plan.is_one_transaction() {
            return Err(Fault::Overtaken);
        }
        for layout in &plan.layouts {
            for step in &layout.steps {
                transaction.batch_execute(step.step.text).await?;
                state::note_step(&transaction, layout, step).await?;
            }
            state::note_layout(&transaction, layout).await?;
        }
        transaction.commit().await?;
        for layout in &plan.layouts {
            let took = begun.elapsed().as_secs_f64();
            (self.told)(&format!("layout {}: done in {took:.1} s", layout.version));
        }
        Ok(Pass::Done)
    }

    /// Carries out what is missing, a step at a time.
    async fn carry_out(&self, client: &mut Client, plan: Plan<'_>) -> Result<Pass> {
        for layout in &plan.layouts {
            for (step, last) in layout.missing() {
                let work = Work { layout, step, last };
                let name = work.name();
                let begun = Instant::now();
                let mut rows = String::new();
                let text = match step.step.way {
                    Way::Transaction => step.step.text,
                    Way::Alone => {
                        self.alone(&name, step.step.text).await?;
                        ""
                    }
                    Way::Batches => {
                        let Some(changed) = self.batches(client, &name, step.step.text).await?
                        else {
                            return Ok(Pass::Waits);
                        };
                        rows = format!(", {changed} rows");
                        ""
                    }
                };
                let noted = patiently!(self.told, &name, self.transaction(client, work, text));
                if noted.is_none() {
                    return Ok(Pass::Waits);
                }
                let took = begun.elapsed().as_secs_f64();
                let what = step.step.summary();
                (self.told)(&format!("{name}: done in {took:.1} s{rows}: {what}"));
            }
        }
        Ok(Pass::Done)
    }

    /// Carries statements out in one transaction, which notes that the step is done, and with the
    /// last step that the layout is complete.
    async fn transaction(
        &self,
        client: &mut Client,
        work: Work<'_>,
        text: &str,
    ) -> std::result::Result<(), Fault> {
        let Work { layout, step, last } = work;
        let transaction = self.begin(client, layout).await?;
        if !text.is_empty() {
            transaction.batch_execute(text).await?;
        }
        state::note_step(&transaction, layout, step).await?;
        if last {
            state::note_layout(&transaction, layout).await?;
        }
        self.commit(transaction).await
    }

    /// Repeats a statement, each time in a transaction, until it changes nothing. Returns how many
    /// rows it changed; none: another process has the lease.
    async fn batches(&self, client: &mut Client, name: &str, text: &str) -> Result<Option<u64>> {
        let (mut rows, mut quiet_since) = (0, Instant::now());
        loop {
            let begun = Instant::now();
            match patiently!(self.told, name, self.batch(client, text)) {
                None => return Ok(None),
                Some(0) => return Ok(Some(rows)),
                Some(changed) => rows += changed,
            }
            if quiet_since.elapsed() > TELL_EVERY {
                (self.told)(&format!("{name}: {rows} rows so far"));
                quiet_since = Instant::now();
            }
            sleep(begun.elapsed().min(BREATH_MAX)).await;
        }
    }

    async fn batch(&self, client: &mut Client, text: &str) -> std::result::Result<u64, Fault> {
        let transaction = client.transaction().await?;
        transaction.batch_execute(BATCH_LIMITS).await?;
        let changed = transaction.execute(text, &[]).await?;
        self.commit(transaction).await?;
        Ok(changed)
    }

    /// Begins a transaction for a layout that nobody has completed.
    async fn begin<'c>(
        &self,
        client: &'c mut Client,
        layout: &Planned<'_>,
    ) -> std::result::Result<Transaction<'c>, Fault> {
        let transaction = client.transaction().await?;
        transaction.batch_execute(LIMITS).await?;
        transaction.batch_execute(LOCK).await?;
        if state::is_complete(&transaction, layout.version).await? {
            // A program that knows no lease did so.
            return Err(Fault::Overtaken);
        }
        Ok(transaction)
    }

    /// Commits a transaction if this process still has the lease.
    async fn commit(&self, transaction: Transaction<'_>) -> std::result::Result<(), Fault> {
        let lease = Lease {
            holder: self.holder,
        };
        // The row is locked for this moment only, so that the lease is renewed meanwhile.
        if !lease.is_held(&transaction).await? {
            return Err(Fault::Overtaken);
        }
        Ok(transaction.commit().await?)
    }
}

/// Waits for locks of others, up to a limit.
struct Patience<'a> {
    told: Told<'a>,
    name: &'a str,
    begun: Instant,
    told_at: Option<Instant>,
}

impl<'a> Patience<'a> {
    fn new(told: Told<'a>, name: &'a str) -> Patience<'a> {
        Patience {
            told,
            name,
            begun: Instant::now(),
            told_at: None,
        }
    }

    /// Waits before another try.
    async fn wait(&mut self, why: String) -> Result<()> {
        if self.begun.elapsed() > LOCKED_LIMIT {
            return Err(StoreError::Away(why));
        }
        if self.told_at.is_none_or(|at| at.elapsed() > TELL_EVERY) {
            (self.told)(&format!("{}: waits for a lock: {why}", self.name));
            self.told_at = Some(Instant::now());
        }
        sleep(PAUSE).await;
        Ok(())
    }
}

/// Ends a transaction that takes too long.
async fn within<T>(
    work: impl Future<Output = std::result::Result<T, Fault>>,
) -> std::result::Result<T, Fault> {
    let late = || Fault::Store(StoreError::Away("the migration took too long".to_owned()));
    timeout(TRANSACTION_LIMIT, work).await.map_err(|_| late())?
}
