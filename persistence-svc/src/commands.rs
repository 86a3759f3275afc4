//! Commands of an operator on the command line. Every command works beside a running service.
//!
//! Always: a command answers on stdout, one thing a line; a fault that it finds ends with exit code
//! 1, a fault that a person must correct with 64.

mod archive;

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};
use futures::future::BoxFuture;
use proto::rpc::OPERATOR_ROLE;
use service_runtime::config::ConfigError;
use service_runtime::telemetry::Telemetry;

use crate::backup;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::server::{beside, migrate};
use crate::store::identity::{Act, AuditAction};
use crate::store::model::{Region, RegionReport};
use crate::store::{Conservation, Store};

/// A command with its word and its description.
struct Known {
    word: &'static str,
    /// Operands that may follow the word.
    operands: &'static str,
    about: &'static str,
}

const KNOWN: [Known; 11] = [
    Known {
        word: "migrate",
        operands: "[--plan]",
        about: "Brings the tables up to date and ends, with a line for each step. `--plan` only \
shows the steps that are missing, with the locks that they take, the sizes of the tables, and the \
programs that may run beside the result.",
    },
    Known {
        word: "check",
        operands: "[--full]",
        about: "Compares all items and coins that are held with the ledger, and looks for owners \
that cannot be. Prints how much there is of each item; ends with 1 and a line for each difference \
where something is not in order. Of the closed months it reads the balances; with --full also \
all rows, and compares the two. The service may be running.",
    },
    Known {
        word: "archive",
        operands: "[export TABLE MONTH FILE | drop TABLE MONTH [--unexported]]",
        about: "Lists the months of ledger, sessions and audit log; `export` writes a closed month \
as CSV into a new file; `drop` removes the oldest month after its export. Months are written as 2026-11.",
    },
    Known {
        word: "freeze",
        operands: "on|off",
        about: "Refuses (on) or allows (off) everything that moves items or coins. The game goes \
on either way.",
    },
    Known {
        word: "regions",
        operands: "",
        about: "Lists all regions: who plays them, what they cost, which of their runs ended by a \
fault, and which are paused.",
    },
    Known {
        word: "pause-region",
        operands: "X,Z",
        about: "Lets nobody play a region until `resume-region`. The run that plays it saves all that \
is in it and lets it go; its players keep their sockets and read why.",
    },
    Known {
        word: "resume-region",
        operands: "X,Z",
        about: "Lets a region be played again that an operator paused, or that was paused because \
its runs ended by faults.",
    },
    Known {
        word: "quarantine",
        operands: "[release ID]",
        about: "Lists the characters that are kept out of the world because what was to be saved \
of them did not fit; `release ID` lets one in again.",
    },
    Known {
        word: "roles",
        operands: "ACCOUNT ROLE,…|none",
        about: "Gives an account just these roles (admin, moderator, viewer), for when no operator can. The last operator keeps the role.",
    },
    Known {
        word: "promoted",
        operands: "",
        about: "To be said once after a standby was promoted or a backup was restored, which may \
lack the last of what was saved: every zone server drops what it holds and begins anew from this \
database.",
    },
    Known {
        word: "backup",
        operands: "verify|DIR",
        about: "Reads the whole database (verify) and says whether it can be played, with a line for \
each part and each fault; ends with 1 where there is one. Or copies the world of SQLite into DIR, \
while the service runs.",
    },
];

/// A command of the command line, taken out of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command's word, as `migrate`.
    pub word: &'static str,
    /// Description of the command.
    pub about: String,
    operands: Vec<String>,
}

impl Command {
    /// Takes a command and its operands out of the arguments (the program's name first). Returns
    /// `None` if there is none.
    pub fn take(arguments: &mut Vec<String>) -> Option<Command> {
        let word = arguments.get(1)?;
        let known = KNOWN.iter().find(|known| known.word == word)?;
        arguments.remove(1);
        let mut operands = Vec::new();
        let operand = |next: &String| !next.starts_with("--") || known.operands.contains(&**next);
        while arguments.get(1).is_some_and(operand) {
            operands.push(arguments.remove(1));
        }
        Some(Command {
            word: known.word,
            about: format!("{} {}: {}", known.word, known.operands, known.about),
            operands,
        })
    }

    /// Carries out the command.
    ///
    /// # Errors
    /// A [`ConfigError`] if the command is malformed or there is no world. Another error if the
    /// store fails, or a check finds a fault.
    pub fn run(
        self,
        config: Config,
        telemetry: Telemetry,
    ) -> BoxFuture<'static, anyhow::Result<()>> {
        // Boxed: compiled here, once, and not in the program again.
        Box::pin(self.obey(config, telemetry))
    }

    async fn obey(self, config: Config, telemetry: Telemetry) -> anyhow::Result<()> {
        let operands: Vec<&str> = self.operands.iter().map(String::as_str).collect();
        let task = Task::read(self.word, &operands).ok_or_else(|| {
            ConfigError::new(format!("what is asked is not understood: {}", self.about))
        })?;
        let task = match task {
            Task::Migrate => return migrate(config, telemetry).await,
            Task::Backup(backup) => return backup.run(&config, &telemetry).await,
            task => task,
        };
        let store = beside(&config.store, &Metrics::new(&telemetry.meter()))?;
        let done = perform(store.as_ref(), task).await;
        store.close().await;
        done
    }
}

/// Compares all holdings with the ledger, at one moment. The service may be running. `full`: also
/// compares all rows of the closed months with their balances.
///
/// # Errors
/// If there is no such world, or the store cannot read it.
pub async fn check(
    config: &Config,
    telemetry: &Telemetry,
    full: bool,
) -> anyhow::Result<Conservation> {
    let store = beside(&config.store, &Metrics::new(&telemetry.meter()))?;
    let found = store.check(full).await;
    Arc::clone(&store).close().await;
    found.context("check the world")
}

/// Makes and closes the months of ledger, sessions and audit log as the service does by itself, at
/// a time in milliseconds since 1970. Returns the months that it closed, as `ledger 2026-11`.
///
/// # Errors
/// If there is no such world, or the store cannot do it now.
pub async fn keep_months(
    config: &Config,
    telemetry: &Telemetry,
    now_ms: i64,
) -> anyhow::Result<Vec<String>> {
    let store = beside(&config.store, &Metrics::new(&telemetry.meter()))?;
    let kept = store.keep_months(Some(now_ms)).await;
    Arc::clone(&store).close().await;
    Ok(kept.context("keep the months")?.closed)
}

/// A command after parsing.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Migrate,
    /// Whether it reads the closed months, too.
    Check(bool),
    Archive(archive::Task),
    /// What `Migrate` would do.
    ShowMigration,
    Freeze(bool),
    Regions,
    PauseRegion(Region),
    ResumeRegion(Region),
    Quarantined,
    Release(String),
    /// An account, and its roles from now on.
    Roles(String, Vec<String>),
    Promoted,
    Backup(backup::Task),
}

impl Task {
    fn read(word: &str, operands: &[&str]) -> Option<Task> {
        Some(match (word, operands) {
            ("migrate", []) => Task::Migrate,
            ("check", []) => Task::Check(false),
            ("check", ["--full"]) => Task::Check(true),
            ("archive", operands) => Task::Archive(archive::Task::read(operands)?),
            ("migrate", ["--plan"]) => Task::ShowMigration,
            ("freeze", ["on"]) => Task::Freeze(true),
            ("freeze", ["off"]) => Task::Freeze(false),
            ("regions", []) => Task::Regions,
            ("pause-region", [place]) => Task::PauseRegion(place_of(place)?),
            ("resume-region", [place]) => Task::ResumeRegion(place_of(place)?),
            ("quarantine", []) => Task::Quarantined,
            ("quarantine", ["release", id]) => Task::Release((*id).to_owned()),
            ("roles", [account, roles]) => Task::Roles((*account).to_owned(), roles_of(roles)?),
            ("promoted", []) => Task::Promoted,
            ("backup", operands) => Task::Backup(backup::Task::read(operands)?),
            _ => return None,
        })
    }
}

/// Reads a region from `X,Z`.
fn place_of(text: &str) -> Option<Region> {
    let (x, z) = text.split_once(',')?;
    Some(Region {
        x: x.trim().parse().ok()?,
        z: z.trim().parse().ok()?,
    })
}

/// Reads roles from `admin,moderator,viewer` or `none`.
fn roles_of(text: &str) -> Option<Vec<String>> {
    const KNOWN: [&str; 3] = [OPERATOR_ROLE, "moderator", "viewer"];
    if text == "none" {
        return Some(Vec::new());
    }
    let role = |name: &str| KNOWN.contains(&name).then(|| name.to_owned());
    let mut roles = text.split(',').map(role).collect::<Option<Vec<_>>>()?;
    roles.sort_unstable();
    roles.dedup();
    Some(roles)
}

async fn perform(store: &dyn Store, task: Task) -> anyhow::Result<()> {
    match task {
        Task::Migrate | Task::Backup(_) => Ok(()),
        Task::Check(full) => report(&store.check(full).await.context("check the world")?),
        Task::Archive(task) => say(&archive::perform(store, task).await?),
        Task::ShowMigration => say(&store.show_migration().await.context("look at the tables")?),
        Task::Freeze(frozen) => {
            let changed = store.freeze(frozen).await.context("switch")?;
            let now = if frozen { "frozen" } else { "allowed" };
            let before = if changed { "" } else { " (as before)" };
            say(&[format!("exchanges of value are {now}{before}")])
        }
        Task::Regions => {
            let regions = store.regions().await.context("read the regions")?;
            say(&regions.iter().map(line).collect::<Vec<_>>())
        }
        Task::PauseRegion(region) => pause(store, region).await,
        Task::ResumeRegion(region) => resume(store, region).await,
        Task::Quarantined => {
            let found = store.quarantined().await.context("read the characters")?;
            let lines = found.iter().map(|(id, name)| format!("{id} {name}"));
            say(&lines.collect::<Vec<_>>())
        }
        Task::Release(id) => {
            if !store.release_character(&id).await.context("release")? {
                bail!("no character {id} is quarantined");
            }
            say(&[format!("character {id} may play again")])
        }
        Task::Roles(account_id, roles) => {
            let said = format!("account {account_id} has the roles: {}", roles.join(", "));
            let act = Act {
                action: AuditAction::Roles,
                by: "command".to_owned(),
                account_id,
                character_id: String::new(),
                reason: String::new(),
                until_ms: None,
                x: 0,
                z: 0,
                roles,
            };
            store.moderate(act).await.context("give the roles")?;
            say(&[said])
        }
        Task::Promoted => {
            let life = store.promoted().await.context("raise the incarnation")?;
            say(&[format!("incarnation {life}: every zone server begins anew")])
        }
    }
}

async fn pause(store: &dyn Store, region: Region) -> anyhow::Result<()> {
    let (x, z) = (region.x, region.z);
    if !store.pause_region(region).await.context("pause")? {
        bail!("region {x},{z} is paused already");
    }
    say(&[format!("region {x},{z} is played by nobody from now on")])
}

async fn resume(store: &dyn Store, region: Region) -> anyhow::Result<()> {
    let (x, z) = (region.x, region.z);
    if !store.resume_region(region).await.context("resume")? {
        bail!("region {x},{z} is not paused");
    }
    say(&[format!("region {x},{z} may be played again")])
}

fn report(found: &Conservation) -> anyhow::Result<()> {
    let totals = found.totals.iter();
    let totals = totals.map(|total| format!("{} {}", total.item, total.held));
    say(&totals.collect::<Vec<_>>())?;
    say(&found.differences)?;
    match found.differences.len() {
        0 => Ok(()),
        1 => bail!("1 difference"),
        many => bail!("{many} differences"),
    }
}

fn line(region: &RegionReport) -> String {
    let owner = match region.run {
        0 => "nobody".to_owned(),
        run => format!("run {run} at {}", region.address),
    };
    let mut line = format!(
        "{},{} epoch {}: {owner}, {} us, {} players",
        region.region.x, region.region.z, region.epoch, region.cost_us, region.players
    );
    if region.wanted != 0 {
        line.push_str(&format!(", goes to run {}", region.wanted));
    }
    if region.faults != 0 {
        line.push_str(&format!(", {} faults", region.faults));
    }
    if region.paused {
        line.push_str(", PAUSED");
    }
    line
}

fn say(lines: &[String]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{line}").context("write the answer")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a command line: the task, if its first word is a command; `None` in it, if its
    /// operands do not fit. `rest` stays of the arguments.
    fn takes(text: &str, task: Option<Option<Task>>, rest: &str) {
        let mut arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let command = Command::take(&mut arguments);
        let taken = command.map(|command| {
            let operands: Vec<&str> = command.operands.iter().map(String::as_str).collect();
            Task::read(command.word, &operands)
        });
        assert_eq!(
            (taken, arguments.join(" ")),
            (task, rest.to_owned()),
            "{text}"
        );
    }

    #[test]
    fn commands_are_taken_with_their_operands() {
        let there = Region { x: -1, z: 4 };
        let roles = vec!["admin".to_owned(), "moderator".to_owned()];
        let copy = backup::Task::Copy("there".into());
        for (text, task) in [
            ("svc check", Task::Check(false)),
            ("svc check --full", Task::Check(true)),
            ("svc migrate", Task::Migrate),
            ("svc migrate --plan", Task::ShowMigration),
            ("svc freeze on", Task::Freeze(true)),
            ("svc pause-region -1,4", Task::PauseRegion(there)),
            ("svc resume-region -1,4", Task::ResumeRegion(there)),
            ("svc quarantine", Task::Quarantined),
            ("svc quarantine release c7", Task::Release("c7".to_owned())),
            (
                "svc roles a7 moderator,admin",
                Task::Roles("a7".to_owned(), roles),
            ),
            (
                "svc roles a7 none",
                Task::Roles("a7".to_owned(), Vec::new()),
            ),
            ("svc promoted", Task::Promoted),
            ("svc backup verify", Task::Backup(backup::Task::Verify)),
            ("svc backup there", Task::Backup(copy)),
        ] {
            takes(text, Some(Some(task)), "svc");
        }
    }

    #[test]
    fn operands_that_do_not_fit_make_no_task() {
        for text in [
            "svc archive drop ledger",
            "svc check more",
            "svc pause-region",
            "svc resume-region here",
            "svc roles a7",
            "svc roles a7 god",
            "svc promoted twice",
            "svc backup",
        ] {
            takes(text, Some(None), "svc");
        }
    }

    #[test]
    fn options_of_the_service_stay_among_the_arguments() {
        takes("svc", None, "svc");
        takes("svc --print-config", None, "svc --print-config");
        takes("svc freeze --help", Some(None), "svc --help");
        for (text, task, rest) in [
            (
                "svc check --print-config",
                Task::Check(false),
                "svc --print-config",
            ),
            ("svc check --plan", Task::Check(false), "svc --plan"),
            ("svc migrate --help", Task::Migrate, "svc --help"),
        ] {
            takes(text, Some(Some(task)), rest);
        }
    }
}
