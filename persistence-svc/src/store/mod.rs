//! The durable memory of the world.
//!
//! Always: the store decides ownership, in the transaction whose write it protects; leases follow
//! only the store's own clock; transactions lock rows in one order (the run, regions by place,
//! characters by id), so that no two transactions wait for each other.
//!
//! One trait per concern, implemented over PostgreSQL and SQLite. Both pass the same tests.

pub(crate) mod agents;
pub(crate) mod archive;
pub(crate) mod columns;
pub(crate) mod conservation;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod hiscores;
pub(crate) mod identity;
pub(crate) mod incarnation;
pub(crate) mod items;
pub(crate) mod judge;
pub(crate) mod migrations;
pub(crate) mod model;
pub(crate) mod passwords;
pub(crate) mod personal;
pub(crate) mod postgres;
pub(crate) mod queries;
pub(crate) mod row;
pub(crate) mod sessions;
pub(crate) mod social;
pub(crate) mod sqlite;
pub(crate) mod stored;
pub(crate) mod value;
pub(crate) mod verify;

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tonic::async_trait;

use crate::placement::plan::{Applied, Change, View};
use crate::together::Answers;
pub use conservation::{Conservation, Total};
pub(crate) use environment::new_id;
pub use error::StoreLocked;
use error::{Result, StoreError};
use hiscores::{Ranked, Refreshed, Sizes};
use migrations::Told;
use model::{
    Batch, Character, CommitOutcome, Directory, Ended, Load, LoadedRegion, NewCharacter,
    OpenSession, Opened, Ownership, Record, Region, RegionReport, Registered, Registration,
    Renewal, Renewed, SignIn, SignedIn,
};
use queries::{Entry, LedgerOf, Login, LoginsOf, Page, Part, Profile, Totals, User, UsersLike};
use value::WrittenOff;

/// Most characters that an account may have.
pub(crate) const CHARACTERS_MAX: i64 = 5;

/// Most characters that an account may make in a day, with those that it deleted.
pub(crate) const CHARACTERS_A_DAY_MAX: i32 = 20;
/// A day, in milliseconds.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// Decides whether an account may make a character: it has so many, and made so many today.
fn may_create(has: i64, made_today: i32) -> Result<()> {
    if has >= CHARACTERS_MAX {
        Err(StoreError::Full(has))
    } else if made_today >= CHARACTERS_A_DAY_MAX {
        Err(StoreError::MadeToday(CHARACTERS_A_DAY_MAX))
    } else {
        Ok(())
    }
}

/// Accounts and their characters.
#[async_trait]
pub(crate) trait Accounts: Send + Sync {
    /// Returns the accounts of device keys, each key once. Makes those that are missing if their
    /// request asks for it.
    async fn sign_in(&self, asks: Vec<SignIn>) -> Answers<Option<SignedIn>>;
    /// Returns accounts by their ids.
    async fn accounts(&self, ids: Vec<String>) -> Answers<Option<SignedIn>>;
    /// Returns the characters of an account, oldest first.
    async fn characters(&self, account: &str) -> Result<Vec<Character>>;
    /// Makes characters, at most one of each account.
    async fn create_characters(&self, asks: Vec<NewCharacter>) -> Answers<Character>;
    /// Removes a character that is not in the world. Returns what it had.
    async fn delete_character(&self, account: &str, character: &str) -> Result<WrittenOff>;
    /// Returns a character by name, without regard to case.
    async fn find_character(&self, name: &str) -> Result<Character>;
    /// Returns a secret of 32 random bytes, which the first call makes.
    async fn secret(&self, name: &str) -> Result<Vec<u8>>;
}

/// Personal data: export, removal, and the expiry of guests.
#[async_trait]
pub(crate) trait Personal: Send + Sync {
    /// Removes an account with everything that leads to a person; see [`personal`]. Returns what its
    /// characters had. Fails with
    /// [`StoreError::InWorld`], [`StoreError::Quarantined`], [`StoreError::Banned`] or
    /// [`StoreError::LastOperator`], and then changes nothing.
    async fn delete_account(&self, ask: personal::Deletion) -> Result<WrittenOff>;
    /// Returns the personal data of an account that no other read gives, at one moment.
    async fn personal_data(&self, account: &str) -> Result<personal::Data>;
    /// Returns rows of the ledger of an account's character, newest first.
    async fn own_ledger(&self, of: personal::LedgerOf) -> Result<Vec<Entry>>;
    /// Looks at no more than `most` guests whose time has come, and removes those that expired. A
    /// guest that played expires after `guest_ms` away; `None`: never.
    async fn expire_guests(&self, guest_ms: Option<i64>, most: i64) -> Result<personal::Expired>;
}

/// Sign-in, sanctions and the audit_log of operators.
#[async_trait]
pub(crate) trait Identity: Send + Sync {
    /// Returns the account of a subject of the identity provider. If there is none, makes one. With
    /// a device key the subject claims its anonymous account in the same transaction. See
    /// [`identity::claim`].
    async fn sign_in_subject(&self, ask: identity::Subject) -> Result<SignedIn>;
    /// Revokes tokens and logins from now on.
    async fn revoke(&self, account: &str, ids: Vec<String>, until_ms: i64) -> Result<()>;
    /// Carries out an operator's decision, and records it.
    async fn moderate(&self, act: identity::Act) -> Result<()>;
    /// Returns the version of the sanctions, which grows with every change of them.
    async fn sanctions_version(&self) -> Result<i64>;
    /// Returns the sanctions after a version, in order, at most [`identity::SANCTIONS_MAX`]; after 0 only
    /// those that are not over.
    async fn sanctions_since(&self, since: i64) -> Result<Vec<identity::Sanction>>;
    /// Returns the sanctions of an account that are not over.
    async fn sanctions_of(&self, account: &str) -> Result<Vec<identity::Sanction>>;
    /// Returns the roles of an account; empty if there is no such account.
    async fn roles_of(&self, account: &str) -> Result<Vec<String>>;
    /// Returns the bans and mutes that are not over, newest first.
    async fn sanctions(&self, before: Option<i64>, most: i64) -> Result<Vec<identity::Sanction>>;
    /// Returns the audit_log of operators, newest first.
    async fn audit_log(&self, before: Option<i64>, most: i64) -> Result<Vec<identity::Done>>;
    /// Removes at most `most` sanctions that were over `older_ms` ago. Returns how many.
    async fn prune_sanctions(&self, older_ms: i64, most: i64) -> Result<u64>;
}

/// Passwords of accounts.
#[async_trait]
pub(crate) trait Passwords: Send + Sync {
    /// Gives an account a password, and with it a name. Fails with [`StoreError::NameTaken`] or
    /// [`StoreError::PasswordExists`]. A repeated call, with the same hash, changes nothing.
    async fn make_password(&self, ask: passwords::Made) -> Result<()>;
    /// Returns the password of a name or an account.
    async fn password(&self, of: passwords::Of) -> Result<Option<passwords::Password>>;
    /// Notes a login that the password began. If it is one too many, ends the oldest, whose tokens
    /// have ended by `until_ms`.
    async fn note_login(&self, account: &str, login: &str, until_ms: i64) -> Result<()>;
    /// Changes a password and takes the account's device key. Ends all other logins of it, and
    /// returns them. Fails with [`StoreError::PasswordChanged`] if another request was faster.
    async fn change_password(&self, ask: passwords::Changed) -> Result<Vec<String>>;
}

/// Sessions of characters in the world.
#[async_trait]
pub(crate) trait Sessions: Send + Sync {
    /// Brings characters into the world, each once, in one transaction. For each it raises the
    /// session epoch, and continues the open row of the session before it or writes a new one; see
    /// [`sessions`].
    async fn open_sessions(&self, asks: Vec<OpenSession>) -> Answers<Opened>;
    /// Returns online characters, each of a region that the run beside it owns.
    async fn load_characters(&self, asks: Vec<Load>) -> Answers<Record>;
    /// Returns all online characters of the regions of `run`.
    async fn online_characters(&self, run: i64) -> Result<Vec<Ownership>>;
    /// Returns the current ownership of a character.
    async fn character_owner(&self, character: &str) -> Result<Ownership>;
}

/// Runs, their leases and their end.
#[async_trait]
pub(crate) trait Runs: Send + Sync {
    /// Registers a new run. Regions that were unknown become nobody's.
    async fn register(&self, ask: Registration) -> Result<Registered>;
    /// Renews the lease of a run that is not fenced, even a lapsed one.
    async fn renew(&self, ask: Renewal) -> Result<Renewed>;
    /// Fences the run; its regions become nobody's. A second call changes nothing.
    async fn release(&self, run: i64) -> Result<()>;
    /// Marks the run as draining, so that it gets no more regions. Returns false if it drained
    /// before. Fails with [`StoreError::Fenced`] if it is fenced.
    async fn drain(&self, run: i64) -> Result<bool>;
    /// Fences a run that ended by a fault. Its regions become nobody's. The store notes those at
    /// fault, and takes the named characters of its regions out of the world into quarantine. If
    /// the run was fenced before, changes nothing and returns false: others may play its regions by
    /// now.
    async fn ended(&self, ask: Ended) -> Result<bool>;
    /// Takes a character of the regions of `run` out of the world and quarantines it. Leaves any
    /// other character alone.
    async fn quarantine(&self, run: i64, character: &str) -> Result<()>;
    /// Returns everything in a region that `run` owns at `epoch`.
    async fn load_region(&self, run: i64, region: Region, epoch: i64) -> Result<LoadedRegion>;
    /// Removes at most `most` runs that were fenced `older_ms` ago and own nothing, with all their
    /// rows except their ledger. Returns how many.
    async fn prune(&self, older_ms: i64, most: i64) -> Result<u64>;
}

/// Batches of the runs.
#[async_trait]
pub(crate) trait Commits: Send + Sync {
    /// Applies a batch in one transaction, or nothing of it. Either way it renews the lease of a
    /// run that is not fenced.
    async fn commit(&self, batch: Arc<Batch>) -> Result<CommitOutcome>;
}

/// Directory, right to plan, and plans.
#[async_trait]
pub(crate) trait Directories: Send + Sync {
    /// Returns the version of the directory, which grows with every change of it.
    async fn version(&self) -> Result<i64>;
    /// Returns the whole directory at one moment.
    async fn directory(&self) -> Result<Directory>;
    /// Takes or keeps the right to plan for `lease_ms`. It writes only when half of that is over.
    /// Returns false if another replica has the right.
    async fn lead(&self, holder: &str, lease_ms: i64) -> Result<bool>;
    /// Gives up the right to plan.
    async fn resign(&self, holder: &str) -> Result<()>;
    /// Returns the input of a plan, at one moment.
    async fn view(&self) -> Result<View>;
    /// Carries a plan out in one transaction, as far as it still fits. It fences only runs whose
    /// lease has ended or that enough witnesses saw dead a moment ago. It gives away only regions
    /// of nobody and of runs that it fenced. It writes only move requests whose owner and epoch are
    /// those of the plan.
    async fn apply(&self, change: Change) -> Result<Applied>;
    /// Notes that a witness saw a run dead, and wakes the planners. Does nothing if the run is
    /// fenced already. `by`: the witness is this run, and must not be fenced itself.
    async fn suspect(&self, run: i64, witness: &str, by: Option<i64>) -> Result<()>;
}

/// Checks and decisions of operators. All of them work beside a running service.
#[async_trait]
pub(crate) trait Operators: Send + Sync {
    /// Notes that this store replaces the one that runs and watchers knew: every run ends and
    /// registers anew. Returns the new incarnation of the world.
    async fn promoted(&self) -> Result<i64>;
    /// Compares all holdings with the ledger, and looks for impossible owners, at one moment.
    /// `full`: also reads all rows of the closed months and compares them with their balances.
    async fn check(&self, full: bool) -> Result<Conservation>;
    /// Freezes or allows exchanges of value. Returns false if that changes nothing.
    async fn freeze(&self, frozen: bool) -> Result<bool>;
    /// Returns all regions, in order.
    async fn regions(&self) -> Result<Vec<RegionReport>>;
    /// Keeps runs from playing a region until an operator resumes it; its owner gives it to nobody.
    /// Returns false if it was paused already.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]: the world has no such region.
    async fn pause_region(&self, region: Region) -> Result<bool>;
    /// Lets runs play a paused region again and forgets its faults. Returns false if it was not
    /// paused.
    async fn resume_region(&self, region: Region) -> Result<bool>;
    /// Returns the ids and names of the quarantined characters, by id.
    async fn quarantined(&self) -> Result<Vec<(String, String)>>;
    /// Lets a character into the world again. Returns false if it was not quarantined.
    async fn release_character(&self, id: &str) -> Result<bool>;
}

/// A copy of the database as a whole, for an operator who restored it. Nothing of it writes.
#[async_trait]
pub(crate) trait Copies: Send + Sync {
    /// Returns the layout of the tables.
    async fn layout(&self) -> Result<migrations::Layout>;
    /// Returns the facts about the whole.
    async fn copy(&self) -> Result<verify::Copy>;
    /// Checks a part of it, which takes minutes if it is large.
    async fn examine(
        &self,
        part: verify::Part,
        progress: verify::Progress<'_>,
    ) -> Result<verify::Findings>;
    /// Returns the documents of characters after this id, at most `most`, by id.
    async fn documents(&self, after: &str, most: i64) -> Result<Vec<verify::Document>>;
    /// Returns the states of regions after this place, at most `most`, by place.
    async fn region_documents(
        &self,
        after: Region,
        most: i64,
    ) -> Result<Vec<verify::RegionDocument>>;
}

/// Reads for lists and dashboards. Every list comes in pages of at most [`queries::PAGE_MAX`].
#[async_trait]
pub(crate) trait Queries: Send + Sync {
    /// Returns the profile of a character, at one moment.
    async fn profile(&self, id: &str) -> Result<Profile>;
    /// Returns logins, newest first.
    async fn logins(&self, of: LoginsOf) -> Result<Part<Login>>;
    /// Returns accounts, newest first.
    async fn users(&self, like: UsersLike) -> Result<Part<User>>;
    /// Returns the totals of the world.
    async fn totals(&self) -> Result<Totals>;
    /// Returns rows of the ledger, newest first.
    async fn ledger(&self, of: LedgerOf) -> Result<Part<Entry>>;
}

/// Lists of the best characters.
#[async_trait]
pub(crate) trait Hiscores: Send + Sync {
    /// Returns the best at a skill (by number), or at all of them, as the last refresh found them.
    async fn ranking(&self, skill: Option<usize>, page: Page) -> Result<Part<Ranked>>;
    /// Brings the lists up to date, unless any replica did so less than `period_ms` ago.
    async fn refresh_hiscores(&self, period_ms: i64, sizes: Sizes) -> Result<Refreshed>;
}

/// Changes of characters at rest.
#[async_trait]
pub(crate) trait Changes: Send + Sync {
    /// Changes a character of an account. Fails with [`StoreError::InWorld`] if it is in the world.
    async fn change_character(&self, change: queries::Change) -> Result<Character>;
    /// Gives at most `most` characters the skeletons of their names, which earlier versions did not
    /// keep. Returns how many. Of two names that look alike, the first one keeps the skeleton.
    async fn keep_skeletons(&self, most: i64) -> Result<u64>;
}

/// Characters that act of their own accord.
#[async_trait]
pub(crate) trait Agents: Send + Sync {
    /// Makes a character of the account an agent, or renames the agent that it is.
    async fn register_agent(
        &self,
        ask: agents::Registration,
        bounds: agents::Bounds,
    ) -> Result<agents::Agent>;
    /// Returns an agent by its id.
    async fn agent(&self, id: &str) -> Result<agents::Agent>;
    /// Returns the agents of an account, oldest first.
    async fn agents_of(&self, account: &str) -> Result<Vec<agents::Agent>>;
    /// Removes an agent; its character stays.
    async fn remove_agent(&self, account: &str, id: &str) -> Result<agents::Removed>;
    /// Changes the orders of an agent of the account. An agent that rests comes back.
    async fn order_agent(
        &self,
        account: &str,
        id: &str,
        order: agents::Order,
        bounds: agents::Bounds,
    ) -> Result<agents::Agent>;
    /// Notes that players of these accounts came into the world, which counts as a need for their
    /// agents.
    async fn heed_agents(&self, accounts: Vec<String>) -> Result<()>;
    /// Returns the agents (id and account) that live in the world and that nobody needed for
    /// `idle_ms`, longest first; and the moment `idle_ms` ago.
    async fn idle_agents(&self, idle_ms: i64, most: i64) -> Result<(Vec<(String, String)>, i64)>;
    /// Notes a token. The store fills in its character and the time.
    async fn add_credential(&self, ask: agents::Credential) -> Result<agents::Credential>;
    /// Returns the tokens of an account, or of one of its agents, that have not ended; newest
    /// first.
    async fn credentials(
        &self,
        account: &str,
        agent: Option<&str>,
    ) -> Result<Vec<agents::Credential>>;
    /// Ends a token.
    async fn revoke_credential(&self, account: &str, token: &str) -> Result<agents::Credential>;
    /// Notes the run's reports about goals. Then returns the agents whose characters are in the
    /// world in the regions of a run that lives, and the last version among them.
    async fn agents_of_run(
        &self,
        run: i64,
        reports: Vec<agents::Report>,
    ) -> Result<(Vec<agents::Orders>, i64)>;
    /// Brings absent active agents into the world: at most `most`, or only the one with the
    /// character `only`. Returns how many.
    async fn wake_agents(&self, only: Option<&str>, most: i64) -> Result<u64>;
}

/// Friends and ignored players.
#[async_trait]
pub(crate) trait Social: Send + Sync {
    /// Returns all lists of characters of accounts, at one moment.
    async fn lists(&self, asks: Vec<social::Who>) -> Answers<social::Lists>;
    /// Changes the lists, and returns them as they are afterwards; see [`social::decide`].
    async fn change_lists(
        &self,
        who: social::Who,
        change: social::Change,
    ) -> Result<social::Changed>;
}

/// Catalogue of items.
#[async_trait]
pub(crate) trait Items: Send + Sync {
    /// Writes a page of the catalogue for a run that lives. Returns how many rows changed.
    async fn mirror_items(&self, page: items::ItemPage) -> Result<u64>;
}

/// Months of the ledger, the sessions and the audit log; see [`archive`].
#[async_trait]
pub(crate) trait Archive: Send + Sync {
    /// Makes the months that are missing and closes those that are due, at a time in milliseconds;
    /// `None`: now. One replica does it at a time; the others find nothing to do.
    async fn keep_months(&self, now_ms: Option<i64>) -> Result<archive::Kept>;
    /// Returns how far ahead there are months.
    async fn months_standing(&self) -> Result<archive::Standing>;
    /// Returns all months with their rows, by table and time.
    async fn months(&self) -> Result<Vec<archive::MonthReport>>;
    /// Hands over all rows of a closed month at one moment, a few at a time. Returns that moment.
    async fn export_month(
        &self,
        table: archive::Table,
        month: &str,
        rows: mpsc::Sender<Vec<archive::Line>>,
    ) -> Result<i64>;
    /// Notes that all `rows` rows of a month at the moment `at_ms` are in a file with this SHA-256.
    async fn note_export(
        &self,
        table: archive::Table,
        month: &str,
        at_ms: i64,
        rows: i64,
        sha256: &str,
    ) -> Result<()>;
    /// Removes the rows of a month. Of sessions, the characters keep number and length, and those
    /// without an end in the export stay. Of the ledger, the sums stay; see [`archive::CARRIED`].
    async fn drop_month(
        &self,
        table: archive::Table,
        month: &str,
        unexported: bool,
    ) -> Result<archive::Dropped>;
}

/// The whole store.
#[async_trait]
pub(crate) trait Store:
    Accounts
    + Personal
    + Identity
    + Passwords
    + Sessions
    + Runs
    + Commits
    + Directories
    + Operators
    + Copies
    + Queries
    + Hiscores
    + Changes
    + Agents
    + Social
    + Items
    + Archive
{
    /// Returns `postgresql` or `sqlite`, for traces.
    fn system(&self) -> &'static str;
    /// Brings the tables up to date. A second call changes nothing. Tells of each step that is
    /// done, and of steps and locks that take long.
    async fn migrate_telling(&self, told: Told<'_>) -> Result<()>;
    /// Returns what [`Store::migrate_telling`] would do, a line each, and changes nothing.
    async fn show_migration(&self) -> Result<Vec<String>>;
    /// Brings the tables up to date, and logs each step.
    async fn migrate(&self) -> Result<()> {
        self.migrate_telling(&|line| tracing::info!("{line}")).await
    }
    /// Returns the signal that the directory may have changed, through any replica.
    fn changed(&self) -> Arc<Notify>;
    /// Listens for changes by other replicas, as long as the caller polls it.
    async fn listen(&self);
    /// Ends all use of the store and waits for that end.
    async fn close(&self);
}

/// Returns a character's name in the form for comparisons.
pub(crate) fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Returns a substitute for the skeleton of a name that looked like another before the store kept
/// skeletons. No name has such a skeleton.
pub(crate) fn no_skeleton(character: &str) -> String {
    format!("={character}")
}

/// Returns the name of an account that has none. Its first characters never tell its owner.
pub(crate) fn anonymous_name() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    format!("Wanderer-{}", &id[..8])
}

/// Returns the first name of an account that the identity provider confirms.
pub(crate) fn subject_name() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    format!("Player-{}", &id[..8])
}

/// Returns 32 random bytes.
pub(crate) fn fresh_secret() -> Vec<u8> {
    rand::random::<[u8; 32]>().to_vec()
}

/// Reads roles from the column, which separates them with commas.
pub(crate) fn roles(text: &str) -> Vec<String> {
    text.split(',')
        .filter(|role| !role.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Converts a count or id from the database, which must not be negative.
pub(crate) fn unsigned(value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| StoreError::Broken(format!("{value} is negative")))
}

#[cfg(test)]
mod tests;
