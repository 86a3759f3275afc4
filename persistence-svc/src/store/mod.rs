//! The durable memory of the world.
//!
//! Always: ownership is decided here, in the transaction whose write it protects; the store's own
//! clock is the only one that leases know; rows are locked in one order (the run, regions by
//! place, characters by id), so that no two transactions wait for each other.
//!
//! One trait per concern, implemented over PostgreSQL and SQLite. Both pass the same tests.

pub(crate) mod agents;
pub(crate) mod columns;
pub(crate) mod conservation;
pub(crate) mod error;
pub(crate) mod hiscores;
pub(crate) mod identity;
pub(crate) mod items;
pub(crate) mod judge;
pub(crate) mod model;
pub(crate) mod postgres;
pub(crate) mod queries;
pub(crate) mod sessions;
pub(crate) mod social;
pub(crate) mod sqlite;
pub(crate) mod stored;
pub(crate) mod value;

use std::sync::Arc;

use tokio::sync::Notify;
use tonic::async_trait;

use crate::placement::plan::{Applied, Change, View};
pub use conservation::{Conservation, Total};
pub use error::StoreLocked;
use error::{Result, StoreError};
use hiscores::{Ranked, Refreshed, Sizes};
use model::{
    Batch, Character, CommitOutcome, Directory, Ended, LoadedRegion, OpenSession, Opened,
    Ownership, Record, Region, RegionReport, Registered, Registration, Renewal, Renewed, SignedIn,
};
use queries::{Entry, LedgerOf, Login, LoginsOf, Page, Part, Profile, Totals, User, UsersLike};

/// How many characters an account may have.
pub(crate) const CHARACTERS_MAX: i64 = 5;

/// How many characters an account may make in a day, with those that it deleted.
pub(crate) const CHARACTERS_A_DAY_MAX: i32 = 20;
/// A day, in milliseconds.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// Who plays.
#[async_trait]
pub(crate) trait Accounts: Send + Sync {
    /// The account of a device key; made when `create` is set and there is none.
    async fn sign_in(&self, key: [u8; 32], create: bool) -> Result<Option<SignedIn>>;
    /// An account by its id.
    async fn account(&self, id: &str) -> Result<Option<SignedIn>>;
    /// Its characters, oldest first.
    async fn characters(&self, account: &str) -> Result<Vec<Character>>;
    /// A new character that belongs to `region` until a zone places it.
    async fn create_character(&self, account: &str, name: &str, at: Region) -> Result<Character>;
    /// Removes a character that is not in the world.
    async fn delete_character(&self, account: &str, character: &str) -> Result<()>;
    /// By name, without regard to case.
    async fn find_character(&self, name: &str) -> Result<Character>;
    /// A secret of 32 random bytes, made once.
    async fn secret(&self, name: &str) -> Result<Vec<u8>>;
}

/// Who may come in.
#[async_trait]
pub(crate) trait Identity: Send + Sync {
    /// The account of a subject of the identity provider, made when there is none; with a device
    /// key its anonymous account is claimed in the same transaction. See [`identity::claim`].
    async fn sign_in_subject(&self, ask: identity::Subject) -> Result<SignedIn>;
    /// Tokens and logins that are good for nothing from now on.
    async fn revoke(&self, account: &str, ids: Vec<String>, until_ms: i64) -> Result<()>;
    /// Does what an operator decided, and writes it down.
    async fn moderate(&self, act: identity::Act) -> Result<()>;
    /// Grows with every change of gates.
    async fn gates_version(&self) -> Result<i64>;
    /// Gates after a version, in order, at most [`identity::GATES_MAX`]; after 0 only those that
    /// are not over.
    async fn gates(&self, since: i64) -> Result<Vec<identity::Gate>>;
    /// Those of an account that are not over.
    async fn gates_of(&self, account: &str) -> Result<Vec<identity::Gate>>;
    /// What operators made of an account; nothing where there is none.
    async fn roles_of(&self, account: &str) -> Result<Vec<String>>;
    /// Bans and mutes that are not over, newest first.
    async fn sanctions(&self, before: Option<i64>, most: i64) -> Result<Vec<identity::Gate>>;
    /// What operators did, newest first.
    async fn deeds(&self, before: Option<i64>, most: i64) -> Result<Vec<identity::Done>>;
    /// Removes at most `most` gates that were over `older_ms` ago. Returns how many.
    async fn prune_gates(&self, older_ms: i64, most: i64) -> Result<u64>;
}

/// Who is in the world.
#[async_trait]
pub(crate) trait Sessions: Send + Sync {
    /// Brings a character into the world, in one transaction: raises its session epoch, and
    /// continues the open row of the session before it or writes a new one; see [`sessions`].
    async fn open_session(&self, ask: OpenSession) -> Result<Opened>;
    /// One online character of a region that `run` owns.
    async fn load_character(&self, run: i64, character: &str) -> Result<Record>;
    /// All online characters of the regions of `run`.
    async fn online_characters(&self, run: i64) -> Result<Vec<Ownership>>;
    /// Who owns a character now.
    async fn character_owner(&self, character: &str) -> Result<Ownership>;
}

/// Who may live and own.
#[async_trait]
pub(crate) trait Runs: Send + Sync {
    /// A new run; regions that were unknown become nobody's.
    async fn register(&self, ask: Registration) -> Result<Registered>;
    /// Renews the lease of a run that is not fenced, even a lapsed one.
    async fn renew(&self, ask: Renewal) -> Result<Renewed>;
    /// Fences the run; its regions become nobody's. Again: nothing more happens.
    async fn release(&self, run: i64) -> Result<()>;
    /// The run is given no regions any more; false when that was so before. Fails with
    /// [`StoreError::Fenced`] when it is fenced.
    async fn drain(&self, run: i64) -> Result<bool>;
    /// Fences a run that ended by a fault; its regions become nobody's, those at fault are noted,
    /// and the named characters of its regions leave the world and are quarantined. False, and
    /// nothing happens, when it was fenced before: others may play what it names by now.
    async fn ended(&self, ask: Ended) -> Result<bool>;
    /// Takes a character of the regions of `run` out of the world and quarantines it. Does nothing
    /// with anybody else.
    async fn quarantine(&self, run: i64, character: &str) -> Result<()>;
    /// Everything in a region that `run` owns at `epoch`.
    async fn load_region(&self, run: i64, region: Region, epoch: i64) -> Result<LoadedRegion>;
    /// Removes at most `most` runs that were fenced `older_ms` ago and own nothing, with all that
    /// is kept about them but their ledger. Returns how many.
    async fn prune(&self, older_ms: i64, most: i64) -> Result<u64>;
}

/// What was played.
#[async_trait]
pub(crate) trait Commits: Send + Sync {
    /// Applies a batch in one transaction, or nothing of it. It renews the lease of a run that is
    /// not fenced either way.
    async fn commit(&self, batch: Arc<Batch>) -> Result<CommitOutcome>;
}

/// Where everything is, and who decides it.
#[async_trait]
pub(crate) trait Directories: Send + Sync {
    /// Grows with every change of the directory.
    async fn version(&self) -> Result<i64>;
    /// The whole directory at one moment.
    async fn directory(&self) -> Result<Directory>;
    /// Takes or keeps the right to plan for `lease_ms`, written only when half of that is over;
    /// false when another replica has it.
    async fn lead(&self, holder: &str, lease_ms: i64) -> Result<bool>;
    /// Gives up the right to plan.
    async fn resign(&self, holder: &str) -> Result<()>;
    /// What a plan is made from, at one moment.
    async fn view(&self) -> Result<View>;
    /// Carries a plan out in one transaction, as far as it still fits: fences only runs whose
    /// lease has ended or that enough witnesses saw dead a moment ago, gives away only regions of
    /// nobody and of runs fenced here, and wishes only what concerns the owner and the epoch that
    /// the plan saw.
    async fn apply(&self, change: Change) -> Result<Applied>;
    /// Notes that a witness saw a run dead, and wakes the planners; nothing when the run is fenced
    /// already. `by`: the witness is this run, and must not be fenced itself.
    async fn suspect(&self, run: i64, witness: &str, by: Option<i64>) -> Result<()>;
}

/// What operators look at and decide. All of it works beside a running service.
#[async_trait]
pub(crate) trait Operators: Send + Sync {
    /// This store is another one than runs and watchers knew: every run ends and registers anew.
    /// Returns which life of the world it is now.
    async fn promoted(&self) -> Result<i64>;
    /// Compares all that is held with the ledger, and looks for owners that cannot be, at one
    /// moment.
    async fn check(&self) -> Result<Conservation>;
    /// Freezes or allows exchanges of value; false when that was so before.
    async fn freeze(&self, frozen: bool) -> Result<bool>;
    /// All regions, in order.
    async fn regions(&self) -> Result<Vec<RegionReport>>;
    /// Lets a paused region be played again and forgets its faults; false when it was not paused.
    async fn resume_region(&self, region: Region) -> Result<bool>;
    /// Who is quarantined: ids and names, by id.
    async fn quarantined(&self) -> Result<Vec<(String, String)>>;
    /// Lets a character into the world again; false when it was not quarantined.
    async fn release_character(&self, id: &str) -> Result<bool>;
}

/// What lists and dashboards read. Every list is cut into pages of at most [`queries::PAGE_MAX`].
#[async_trait]
pub(crate) trait Queries: Send + Sync {
    /// All that is known of a character, at one moment.
    async fn profile(&self, id: &str) -> Result<Profile>;
    /// Logins, newest first.
    async fn logins(&self, of: LoginsOf) -> Result<Part<Login>>;
    /// Accounts, newest first.
    async fn users(&self, like: UsersLike) -> Result<Part<User>>;
    /// How much there is of everything.
    async fn totals(&self) -> Result<Totals>;
    /// The ledger, newest first.
    async fn ledger(&self, of: LedgerOf) -> Result<Part<Entry>>;
}

/// Who is best.
#[async_trait]
pub(crate) trait Hiscores: Send + Sync {
    /// The best at a skill (by number), or at all of them, as the last refresh found them.
    async fn ranking(&self, skill: Option<usize>, page: Page) -> Result<Part<Ranked>>;
    /// Brings the lists up to date, unless any replica did so less than `period_ms` ago.
    async fn refresh_hiscores(&self, period_ms: i64, sizes: Sizes) -> Result<Refreshed>;
}

/// What owners change of what rests.
#[async_trait]
pub(crate) trait Changes: Send + Sync {
    /// Changes a character of an account; fails with [`StoreError::InWorld`] when it is there.
    async fn change_character(&self, change: queries::Change) -> Result<Character>;
    /// Gives at most `most` characters the skeletons of their names, which versions before did not
    /// keep. Returns how many. Of two that look alike, the first one has it.
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
    /// An agent by its id.
    async fn agent(&self, id: &str) -> Result<agents::Agent>;
    /// Those of an account, oldest first.
    async fn agents_of(&self, account: &str) -> Result<Vec<agents::Agent>>;
    /// The character is an agent no more.
    async fn remove_agent(&self, account: &str, id: &str) -> Result<agents::Removed>;
    /// Changes what an agent of the account is to do; one that rests comes back.
    async fn order_agent(
        &self,
        account: &str,
        id: &str,
        order: agents::Order,
        bounds: agents::Bounds,
    ) -> Result<agents::Agent>;
    /// Notes that somebody of the account came into the world: its agents are needed.
    async fn heed_agents(&self, account: &str) -> Result<()>;
    /// Agents that live in the world and that nobody needed for `idle_ms`, longest first: id and
    /// account; and the moment that this was.
    async fn idle_agents(&self, idle_ms: i64, most: i64) -> Result<(Vec<(String, String)>, i64)>;
    /// Notes a token; its character and the time are the store's to say.
    async fn add_credential(&self, ask: agents::Credential) -> Result<agents::Credential>;
    /// Those of an account, or of one agent of it, that have not ended; newest first.
    async fn credentials(
        &self,
        account: &str,
        agent: Option<&str>,
    ) -> Result<Vec<agents::Credential>>;
    /// Ends a token.
    async fn revoke_credential(&self, account: &str, token: &str) -> Result<agents::Credential>;
    /// The agents whose characters are in the world in the regions of a run that lives, and the
    /// last version that is among them; what the run says of goals is noted before.
    async fn agents_of_run(
        &self,
        run: i64,
        reports: Vec<agents::Report>,
    ) -> Result<(Vec<agents::Orders>, i64)>;
    /// Brings active agents into the world that are not there: all, at most so many, or only the
    /// one with that character. Returns how many.
    async fn wake_agents(&self, only: Option<&str>, most: i64) -> Result<u64>;
}

/// Friends, and who is ignored.
#[async_trait]
pub(crate) trait Social: Send + Sync {
    /// All of a character that an account has.
    async fn lists(&self, who: social::Who) -> Result<social::Lists>;
    /// Changes them, and gives them as they are then; see [`social::decide`].
    async fn change_lists(
        &self,
        who: social::Who,
        change: social::Change,
    ) -> Result<social::Changed>;
}

/// What the content says of items.
#[async_trait]
pub(crate) trait Items: Send + Sync {
    /// Writes a page of the catalogue for a run that lives; how many rows became different.
    async fn mirror_items(&self, page: items::ItemPage) -> Result<u64>;
}

/// The whole store.
#[async_trait]
pub(crate) trait Store:
    Accounts
    + Identity
    + Sessions
    + Runs
    + Commits
    + Directories
    + Operators
    + Queries
    + Hiscores
    + Changes
    + Agents
    + Social
    + Items
{
    /// `postgresql` or `sqlite`, for traces.
    fn system(&self) -> &'static str;
    /// Brings the tables up to date. May be repeated.
    async fn migrate(&self) -> Result<()>;
    /// Told when the directory may have changed, by whoever.
    fn changed(&self) -> Arc<Notify>;
    /// Listens for changes made by other replicas, as long as it is polled.
    async fn listen(&self);
    /// Ends all use of it and waits until that is done.
    async fn close(&self);
}

/// A character's name as it is compared.
pub(crate) fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Stands for the skeleton of a name that looked like another before skeletons were kept. No name
/// has such a one.
pub(crate) fn no_skeleton(character: &str) -> String {
    format!("={character}")
}

/// A fresh id.
pub(crate) fn new_id() -> String {
    #[cfg(feature = "simulation")]
    if let Some(id) = crate::simulation::new_id() {
        return id;
    }
    uuid::Uuid::now_v7().to_string()
}

/// The name of an account that has none: its first characters never say whose it is.
pub(crate) fn anonymous_name() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    format!("Wanderer-{}", &id[..8])
}

/// The name of an account that the identity provider vouches for, until it gets another.
pub(crate) fn subject_name() -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    format!("Player-{}", &id[..8])
}

/// 32 random bytes.
pub(crate) fn fresh_secret() -> Vec<u8> {
    rand::random::<[u8; 32]>().to_vec()
}

/// Roles as the column keeps them: separated by commas.
pub(crate) fn roles(text: &str) -> Vec<String> {
    text.split(',')
        .filter(|role| !role.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A count or id from the database that must not be negative.
pub(crate) fn unsigned(value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| StoreError::Broken(format!("{value} is negative")))
}

#[cfg(test)]
mod tests;
