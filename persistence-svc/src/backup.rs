//! `persistence-svc backup verify` and `persistence-svc backup DIR`: says whether a copy of the
//! database can be played, and makes one of SQLite.
//!
//! Always: `verify` changes nothing, and may run beside a service. It looks at everything, names
//! each fault in a sentence, and fails if there is one. It reads the documents of characters and
//! regions with the readers of zone servers; the store itself does not look into them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use service_runtime::config::ConfigError;
use service_runtime::telemetry::Telemetry;
use world::{CharacterState, check_saved_region};

use crate::config::{Config, StoreConfig};
use crate::metrics::Metrics;
use crate::server::{COMMAND_LIMIT, beside};
use crate::store::Store;
use crate::store::error::Result as StoreResult;
use crate::store::migrations::{self, Layout, MIGRATIONS};
use crate::store::model::Region;
use crate::store::sqlite::{FILE, Sqlite};
use crate::store::verify::{Findings, Part};

/// Documents that are read at a time.
const PAGE: i64 = 1_000;
/// Time between two lines about a part that takes long.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// A command about backups, after parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Checks the configured database.
    Verify,
    /// Copies the configured database of SQLite into a folder.
    Copy(PathBuf),
}

impl Task {
    /// Reads the command's operands.
    pub(crate) fn read(operands: &[&str]) -> Option<Task> {
        match operands {
            ["verify"] => Some(Task::Verify),
            [folder] if !folder.is_empty() => Some(Task::Copy(PathBuf::from(folder))),
            _ => None,
        }
    }

    /// Carries the command out.
    ///
    /// # Errors
    /// The store fails, or the copy has a fault.
    pub(crate) async fn run(self, config: &Config, telemetry: &Telemetry) -> anyhow::Result<()> {
        match self {
            Task::Verify => {
                let store = beside(&config.store, &Metrics::new(&telemetry.meter()))?;
                let verified = verify(store.as_ref()).await;
                store.close().await;
                verified
            }
            Task::Copy(folder) => match &config.store {
                StoreConfig::Sqlite { folder: world } => copy(world, &folder).await,
                StoreConfig::Postgres(_) | StoreConfig::Container { .. } => Err(ConfigError::new(
                    "PostgreSQL is backed up by its own programs, pg_basebackup and the archive \
                         of its log: see docs/runbooks/backup.md",
                )
                .into()),
            },
        }
    }
}

/// Copies the world of one folder into another one, which a service could play then.
async fn copy(world: &Path, folder: &Path) -> anyhow::Result<()> {
    let began = Instant::now();
    let target = folder.join(FILE);
    if target.exists() {
        let why = format!("there is a world in {} already", folder.display());
        return Err(ConfigError::new(why).into());
    }
    fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    // A copy that was not finished never has the name of a world.
    let part = folder.join(format!("{FILE}.part"));
    if part.exists() {
        fs::remove_file(&part).with_context(|| format!("remove {}", part.display()))?;
    }
    let store = Sqlite::beside(world, COMMAND_LIMIT)?;
    let copied = store.copy_to(&part).await;
    crate::store::Store::close(&store).await;
    copied.context("copy the world")?;
    let file = File::open(&part).with_context(|| format!("open {}", part.display()))?;
    file.sync_all().context("write the copy to the disk")?;
    fs::rename(&part, &target).context("name the copy")?;
    let named = File::open(folder).and_then(|folder| folder.sync_all());
    named.context("write the copy's name to the disk")?;
    let bytes = fs::metadata(&target).map_or(0, |data| data.len());
    say(&format!(
        "{}: {bytes} bytes in {}",
        target.display(),
        seconds(began)
    ))
}

/// Checks a copy, and says whether it can be played.
async fn verify(store: &dyn Store) -> anyhow::Result<()> {
    let report = Report::default();
    let copy = store.copy().await.context("read the copy")?;
    let layout = store.layout().await.context("read the layout")?;
    let mut faults = report.say("layout", Instant::now(), &known(layout))?;
    for part in Part::ALL {
        let began = Instant::now();
        let progress = |done, all| report.progress(part.name(), done, all);
        let mut broken = Findings::default();
        let found = broken.take(part.name(), store.examine(part, &progress).await);
        let found = found.context("check the copy")?.unwrap_or(broken);
        faults += report.say(part.name(), began, &found)?;
    }
    let began = Instant::now();
    let found = characters(store, &report).await.context("read documents")?;
    faults += report.say("documents of characters", began, &found)?;
    let began = Instant::now();
    let found = regions(store).await.context("read states of regions")?;
    faults += report.say("states of regions", began, &found)?;
    let began = Instant::now();
    let found = holdings(store).await.context("compare with the ledger")?;
    faults += report.say("holdings, ledger and owners", began, &found)?;
    for note in &copy.notes {
        say(&format!("note: {note}"))?;
    }
    if copy.living != 0 {
        say(&format!(
            "note: {} runs live by this copy. If it was restored, run `persistence-svc promoted` \
             before any service reaches it",
            copy.living
        ))?;
    }
    match faults {
        0 => say(&format!(
            "this copy can be played; incarnation {}",
            copy.incarnation
        )),
        1 => bail!("1 fault"),
        many => bail!("{many} faults"),
    }
}

/// Checks that this program may use tables of this layout.
fn known(layout: Layout) -> Findings {
    let mut found = Findings {
        looked: layout.applied.into(),
        ..Findings::default()
    };
    match migrations::missing(MIGRATIONS, layout).map(Iterator::count) {
        Ok(0) => {}
        Ok(missing) => found.unchecked.push(format!(
            "{missing} migrations are missing, which a service makes when it starts"
        )),
        Err(error) => found.fault(error.to_string()),
    }
    found
}

/// Reads the document of every character as a zone server does.
async fn characters(store: &dyn Store, report: &Report) -> StoreResult<Findings> {
    let mut found = Findings::default();
    let mut after = String::new();
    loop {
        let page = store.documents(&after, PAGE).await;
        let page = found.take(&format!("documents after {after:?}"), page)?;
        let page = page.unwrap_or_default();
        for document in &page {
            found.looked += 1;
            // One that never stood in the world has none yet.
            let fresh = document.state.is_empty() && !document.placed;
            if !fresh && let Err(why) = CharacterState::from_document(&document.state) {
                found.fault(format!("character {}: {why}", document.id));
            }
        }
        report.progress("documents of characters", found.looked, found.looked);
        let Some(last) = page.last() else {
            return Ok(found);
        };
        after.clone_from(&last.id);
    }
}

/// Reads the state of every region as a zone server does.
async fn regions(store: &dyn Store) -> StoreResult<Findings> {
    let mut found = Findings::default();
    let mut after = Region {
        x: i32::MIN,
        z: i32::MIN,
    };
    loop {
        let page = store.region_documents(after, PAGE).await;
        let page = found.take("states of regions", page)?.unwrap_or_default();
        for document in &page {
            found.looked += 1;
            let (x, z) = (document.region.x, document.region.z);
            let read = check_saved_region(world::Region { x, z }, &document.state);
            if let Err(why) = read {
                found.fault(format!("region {x},{z}: {why}"));
            }
        }
        let Some(last) = page.last() else {
            return Ok(found);
        };
        after = last.region;
    }
}

/// Compares all holdings with the ledger, and looks for owners that cannot be.
async fn holdings(store: &dyn Store) -> StoreResult<Findings> {
    let mut found = Findings::default();
    let checked = store.check(true).await;
    if let Some(checked) = found.take("the ledger", checked)? {
        found.looked = checked.totals.len() as u64;
        checked
            .differences
            .into_iter()
            .for_each(|difference| found.fault(difference));
    }
    Ok(found)
}

/// The lines of a check.
#[derive(Default)]
struct Report {
    /// When a part last said how far it is.
    told: Mutex<Option<Instant>>,
}

impl Report {
    /// Says how far a part is, now and then.
    fn progress(&self, name: &str, done: u64, all: u64) {
        let mut told = self
            .told
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if told.get_or_insert_with(Instant::now).elapsed() < PROGRESS_EVERY {
            return;
        }
        *told = Some(Instant::now());
        // Whoever stopped reading misses it.
        let _ = match done == all {
            true => say(&format!("{name}: {done} so far")),
            false => say(&format!("{name}: {done} of {all} so far")),
        };
    }

    /// Says the findings of a part. Returns the number of faults.
    fn say(&self, name: &str, began: Instant, found: &Findings) -> anyhow::Result<u64> {
        let faults = found.faults.len() as u64 + found.more;
        let well = match faults {
            0 => "well".to_owned(),
            1 => "1 FAULT".to_owned(),
            many => format!("{many} FAULTS"),
        };
        say(&format!(
            "{name}: {} looked at in {}: {well}",
            found.looked,
            seconds(began)
        ))?;
        for fault in &found.faults {
            say(&format!("  fault: {fault}"))?;
        }
        if found.more != 0 {
            say(&format!("  and {} more", found.more))?;
        }
        for reason in &found.unchecked {
            say(&format!("  note: {reason}"))?;
        }
        Ok(faults)
    }
}

fn seconds(since: Instant) -> String {
    format!("{:.2} s", since.elapsed().as_secs_f64())
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout().lock(), "{line}").context("write the answer")
}
