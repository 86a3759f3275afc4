//! The export: one document with all that the store has of a person.
//!
//! Always: it holds the person's own data, and of others only the names that the player sees
//! anyway. No key, hash or token is in it. Each read of the store is bounded.

use std::str::FromStr;

use axum::{
    Json,
    http::header::{CACHE_CONTROL, CONTENT_DISPOSITION},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use proto::rpc::{
    agents::v1 as agents,
    identity::v1::{AuditEntry, Sanction as SanctionRow, SanctionKind},
    personal::v1::{Death as DeathRow, ExportReply, LedgerPlace, OwnLedgerRequest},
    queries::v1::{LedgerEntry, LoginsRequest, Page, ProfileReply},
    social::v1::{ListRequest, Lists as StoredLists},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use world::CharacterState;

use super::super::{
    ask::Query,
    problem::{Code, Problem},
    route::{Answer, Call, OWNERS, Route},
    shapes::{self, BankItem, Kills, Login, PackSlot, Record, WornItem},
    values::{Success, Time, success},
};
use crate::{
    app::App,
    auth::caller::Caller,
    limits::{subject::Subject, window::EXPORT},
};

/// Rows of the ledger in one read.
const LEDGER_PAGE: u32 = 1_000;
/// Rows of the ledger of one character in the export.
const LEDGER_ROWS: usize = 10_000;
/// Logins in one read, and most of them of one character.
const LOGINS_PAGE: u32 = 100;
const LOGINS_MAX: usize = 1_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        OWNERS
            .get(
                "/api/account/export",
                "All that is kept of the account",
                export,
            )
            .about(
                "A download. It has the newest 10,000 rows of the ledger of each character; \
                 `/api/account/ledger` has the others. A character in the world is as it was last \
                 saved.",
            )
            .json::<Export>()
            .problems(&[Code::NotFound]),
        OWNERS
            .get(
                "/api/account/ledger",
                "What one of the caller's characters gained and lost, newest first",
                ledger,
            )
            .problems(&[Code::NotFound]),
    ]
}

/// All that is kept of an account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Export {
    exported_at: Time,
    account: Person,
    characters: Vec<Whole>,
    agents: Vec<Agent>,
    /// Tokens of agents that are still good; the tokens themselves are kept nowhere.
    credentials: Vec<Credential>,
    sanctions: Vec<Sanction>,
    /// Acts of operators on the account, newest first.
    records: Vec<Act>,
}

/// The account itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Person {
    id: String,
    #[schemars(example = &"Wanderer-5f3a0c1d")]
    name: String,
    anonymous: bool,
    roles: Vec<String>,
    /// Whether the key of a device signs in; a hash of the key is kept.
    device_key: bool,
    /// Name by which a password logs in; hashes of the password and its recovery codes are kept.
    password_name: Option<String>,
    provider_id: Option<String>,
    farcaster_id: Option<String>,
    avatar: Option<String>,
    wallet: Option<String>,
    created_at: Option<Time>,
    /// When the device's key signed in, to a day.
    seen_at: Option<Time>,
    /// Day, counted from 1970, on which characters were made last, and how many on it.
    made_day: u64,
    made: u32,
}

/// One character with everything of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExportedCharacter")]
struct Whole {
    character: Record,
    inventory: Vec<PackSlot>,
    equipment: Vec<WornItem>,
    bank: Vec<BankItem>,
    stakes: Vec<PackSlot>,
    kills: Vec<Kills>,
    grave: Option<Grave>,
    saved: Saved,
    logins: u64,
    played_seconds: u64,
    /// The newest ones.
    sessions: Vec<Login>,
    friends: Vec<Friend>,
    requests: Vec<Request>,
    ignored: Vec<Other>,
    ledger: Ledger,
}

/// The rest of a character: quests, settings, prayers, energy.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Saved {
    /// It never stood in the world.
    Nothing,
    State(Value),
    /// A document that this gateway cannot read, in base64.
    Unread(String),
}

/// Things that lie in a grave.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Grave {
    /// Its tile: x,z.
    #[schemars(example = &"3,-7")]
    position: String,
    items: Value,
    at: Option<Time>,
}

/// Somebody whom the player knows by name.
#[derive(Debug, Serialize, JsonSchema)]
struct Other {
    name: String,
    since: Option<Time>,
}

/// A friend.
#[derive(Debug, Serialize, JsonSchema)]
struct Friend {
    name: String,
}

/// A request to be friends that waits.
#[derive(Debug, Serialize, JsonSchema)]
struct Request {
    from: String,
    to: String,
    at: Option<Time>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExportedAgent")]
struct Agent {
    id: String,
    name: String,
    character_id: String,
    created_at: Option<Time>,
    updated_at: Option<Time>,
    active: bool,
    resting: bool,
    goals_paused: bool,
    goal: Option<String>,
    progress: u32,
}

/// A token of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExportedCredential")]
struct Credential {
    agent_id: String,
    created_at: Option<Time>,
    expires_at: Option<Time>,
}

/// Kind of a sanction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ExportedSanctionKind")]
enum Kind {
    Ban,
    Mute,
    Kick,
    Teleport,
    /// A token or login that ended early.
    Revoked,
    Other,
}

/// A sanction of the account.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ExportedSanction")]
struct Sanction {
    kind: Kind,
    reason: String,
    /// Null: for ever.
    until: Option<Time>,
    at: Option<Time>,
}

/// An act of an operator.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Act {
    at: Option<Time>,
    #[schemars(example = &"mute")]
    action: String,
    character_id: String,
    detail: String,
}

/// Rows of the ledger, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ledger {
    rows: Vec<Entry>,
    /// Whether no row is older than these.
    complete: bool,
    /// Where the older rows begin: `before` of `/api/account/ledger`.
    next: Option<String>,
}

/// One gain or loss of a character.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "OwnLedgerEntry")]
struct Entry {
    at: Option<Time>,
    #[schemars(example = &"logs")]
    item_id: String,
    #[schemars(example = &"gather")]
    cause: String,
    delta: i64,
}

async fn export(Call { app, caller }: Call) -> Result<Response, Problem> {
    count(&app, &caller).await?;
    let account_id = &caller.account_id;
    let stored = app.personal.export(account_id).await?;
    let mut characters = Vec::new();
    for id in &stored.character_ids {
        match whole(&app, &caller, id, &stored.deaths).await {
            Ok(character) => characters.push(character),
            // It was deleted meanwhile.
            Err(problem) if problem.code == Code::NotFound.name() => {}
            Err(problem) => return Err(problem),
        }
    }
    let agents = app.agents.list(account_id).await?;
    let credentials = app.agents.credentials(account_id, "").await?;
    let document = Export {
        exported_at: Time::now(),
        characters,
        agents: agents.into_iter().map(Agent::from).collect(),
        credentials: credentials.into_iter().map(Credential::from).collect(),
        sanctions: stored.sanctions.iter().map(Sanction::from).collect(),
        records: stored.records.iter().map(Act::from).collect(),
        account: person(account_id, stored),
    };
    let headers = [
        (
            CONTENT_DISPOSITION,
            "attachment; filename=\"tilestead-account.json\"",
        ),
        (CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Json(document)).into_response())
}

/// Counts an export of an account.
async fn count(app: &App, caller: &Caller) -> Result<(), Problem> {
    let who = Subject::Account(caller.account_id.clone());
    let passed = app.bounds.requests.pass(EXPORT, &who).await;
    passed.map(|_| ()).map_err(|refusal| {
        let why = format!("An account may be exported {} times an hour.", EXPORT.most);
        Problem {
            retry_after: Some(u32::try_from(refusal.wait.as_secs()).unwrap_or(u32::MAX - 1) + 1),
            ..Problem::of(Code::RateLimited, why)
        }
    })
}

fn person(account_id: &str, stored: ExportReply) -> Person {
    Person {
        id: account_id.to_owned(),
        name: stored.name,
        anonymous: stored.anonymous,
        roles: stored.roles,
        device_key: stored.device_key,
        password_name: stored.password_name,
        provider_id: stored.provider_id,
        farcaster_id: stored.farcaster_id,
        avatar: stored.avatar,
        wallet: stored.wallet,
        created_at: Time::unless_never(stored.created_ms),
        seen_at: Time::unless_never(stored.seen_ms),
        made_day: stored.made_day,
        made: stored.made,
    }
}

/// Reads everything of one character.
async fn whole(
    app: &App,
    caller: &Caller,
    id: &str,
    deaths: &[DeathRow],
) -> Result<Whole, Problem> {
    let profile = app.queries.profile(id).await?;
    let lists = app.personal.lists(ListRequest {
        account_id: caller.account_id.clone(),
        character_id: id.to_owned(),
    });
    let lists = lists.await?;
    let sessions = sessions(app, id).await?;
    let ledger = rows(app, caller, id, None, LEDGER_ROWS).await?;
    let grave = deaths.iter().find(|death| death.character_id == id);
    Ok(Whole {
        inventory: shapes::inventory(&profile),
        equipment: shapes::equipment(&profile),
        bank: shapes::bank(&profile),
        stakes: shapes::stakes(&profile),
        kills: shapes::kills(&profile),
        grave: grave.map(Grave::from),
        saved: saved(&profile),
        logins: profile.logins,
        played_seconds: profile.played_ms / 1000,
        character: Record::from(&profile),
        sessions,
        friends: friends(&lists),
        requests: requests(&lists),
        ignored: ignored(&lists),
        ledger,
    })
}

fn saved(profile: &ProfileReply) -> Saved {
    let state = profile.record.as_ref().map(|record| &record.state);
    match state {
        None => Saved::Nothing,
        Some(state) if state.is_empty() => Saved::Nothing,
        Some(state) => {
            let read = CharacterState::from_document(state).ok();
            let value = read.and_then(|read| serde_json::to_value(read).ok());
            value.map_or_else(|| Saved::Unread(STANDARD.encode(state)), Saved::State)
        }
    }
}

async fn sessions(app: &App, id: &str) -> Result<Vec<Login>, Problem> {
    let mut sessions: Vec<Login> = Vec::new();
    loop {
        let offset = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
        let ask = LoginsRequest {
            character_id: id.to_owned(),
            open: false,
            page: Some(Page {
                offset,
                limit: LOGINS_PAGE,
            }),
        };
        let page = app.queries.logins(ask).await?.rows;
        sessions.extend(page.iter().map(Login::from));
        if page.len() < LOGINS_PAGE as usize || sessions.len() >= LOGINS_MAX {
            return Ok(sessions);
        }
    }
}

fn friends(lists: &StoredLists) -> Vec<Friend> {
    let friends = lists.friends.iter().map(|friend| Friend {
        name: friend.name.clone(),
    });
    friends.collect()
}

fn requests(lists: &StoredLists) -> Vec<Request> {
    let requests = lists.requests.iter().map(|request| Request {
        from: request.from_name.clone(),
        to: request.to_name.clone(),
        at: Time::unless_never(request.at_ms),
    });
    requests.collect()
}

fn ignored(lists: &StoredLists) -> Vec<Other> {
    let ignored = lists.ignored.iter().map(|ignored| Other {
        name: ignored.name.clone(),
        since: Time::unless_never(ignored.added_ms),
    });
    ignored.collect()
}

/// Place of a row in the ledger, for clients.
#[derive(Debug, Clone, Copy)]
struct Place(LedgerPlace);

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('-').map(str::parse::<u64>);
        let mut part = || parts.next().and_then(Result::ok).ok_or(());
        let place = LedgerPlace {
            at_ms: part()?,
            run_id: part()?,
            sequence: part()?,
            row: u32::try_from(part()?).map_err(drop)?,
        };
        if parts.next().is_some() {
            return Err(());
        }
        Ok(Self(place))
    }
}

impl Place {
    fn text(self) -> String {
        let Self(place) = self;
        format!(
            "{}-{}-{}-{}",
            place.at_ms, place.run_id, place.sequence, place.row
        )
    }

    fn of(entry: &LedgerEntry) -> Self {
        Self(LedgerPlace {
            at_ms: entry.at_ms,
            run_id: entry.run_id,
            sequence: entry.sequence,
            row: entry.row,
        })
    }
}

/// Reads at most `most` rows of a character's ledger before a place, page by page.
async fn rows(
    app: &App,
    caller: &Caller,
    character_id: &str,
    mut before: Option<Place>,
    most: usize,
) -> Result<Ledger, Problem> {
    let mut rows = Vec::new();
    let mut complete = false;
    while rows.len() < most && !complete {
        let ask = OwnLedgerRequest {
            account_id: caller.account_id.clone(),
            character_id: character_id.to_owned(),
            before: before.map(|Place(place)| place),
            most: LEDGER_PAGE,
        };
        let page = app.personal.ledger(ask).await?;
        complete = page.len() < LEDGER_PAGE as usize;
        before = page.last().map(Place::of).or(before);
        rows.extend(page.into_iter().map(Entry::from));
    }
    Ok(Ledger {
        rows,
        complete,
        next: before.filter(|_| !complete).map(Place::text),
    })
}

/// Character and place of a part of the ledger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Of {
    /// One of the caller's characters.
    character_id: String,
    /// `next` of the part before; without it, the newest rows.
    before: Option<String>,
}

async fn ledger(Call { app, caller }: Call, Query(of): Query<Of>) -> Answer<Success<Ledger>> {
    let before = of.before.as_deref().map(Place::from_str).transpose();
    let before = before.map_err(|()| Problem::invalid("/before", "`next` of another answer"))?;
    let most = LEDGER_PAGE as usize;
    let part = rows(&app, &caller, &of.character_id, before, most).await?;
    Ok(success(part))
}

impl From<&DeathRow> for Grave {
    fn from(death: &DeathRow) -> Self {
        Self {
            position: death.position.clone(),
            items: serde_json::from_str(&death.items).unwrap_or_default(),
            at: Time::unless_never(death.at_ms),
        }
    }
}

impl From<agents::Agent> for Agent {
    fn from(agent: agents::Agent) -> Self {
        let orders = agent.orders.unwrap_or_default();
        Self {
            id: agent.agent_id,
            name: agent.agent_name,
            character_id: agent.character_id,
            created_at: Time::unless_never(agent.created_at_ms),
            updated_at: Time::unless_never(agent.updated_at_ms),
            active: orders.active,
            resting: agent.resting,
            goals_paused: orders.paused,
            goal: Some(orders.goal_id).filter(|goal| !goal.is_empty()),
            progress: orders.progress,
        }
    }
}

impl From<agents::Credential> for Credential {
    fn from(credential: agents::Credential) -> Self {
        Self {
            agent_id: credential.agent_id,
            created_at: Time::unless_never(credential.created_at_ms),
            expires_at: Time::unless_never(credential.expires_at_ms),
        }
    }
}

impl From<&SanctionRow> for Sanction {
    fn from(row: &SanctionRow) -> Self {
        Self {
            kind: match row.kind() {
                SanctionKind::Ban => Kind::Ban,
                SanctionKind::Mute => Kind::Mute,
                SanctionKind::Kick => Kind::Kick,
                SanctionKind::Teleport => Kind::Teleport,
                SanctionKind::Revoked => Kind::Revoked,
                SanctionKind::Unspecified => Kind::Other,
            },
            reason: row.reason.clone(),
            until: Time::unless_never(row.until_ms),
            at: Time::unless_never(row.at_ms),
        }
    }
}

impl From<&AuditEntry> for Act {
    fn from(entry: &AuditEntry) -> Self {
        Self {
            at: Time::unless_never(entry.at_ms),
            action: entry.action.clone(),
            character_id: entry.character_id.clone(),
            detail: entry.detail.clone(),
        }
    }
}

impl From<LedgerEntry> for Entry {
    fn from(entry: LedgerEntry) -> Self {
        Self {
            at: Time::unless_never(entry.at_ms),
            item_id: entry.item_id,
            cause: entry.cause,
            delta: entry.delta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_ledger_is_read_as_it_was_written_and_nothing_else_is() {
        let read = |text: &str| text.parse::<Place>().map(Place::text);
        assert_eq!(read("7-3-9-1").as_deref(), Ok("7-3-9-1"));
        for wrong in ["", "7", "7-3-9", "7-3-9-1-0", "7-3-9-x", "7-3-9-4294967296"] {
            assert_eq!(read(wrong), Err(()), "{wrong}");
        }
    }
}
