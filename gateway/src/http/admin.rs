//! `/admin/*`: lists and records for operators and admins, and the roles that they give.
//!
//! Always: no answer shows a secret or a token; the record names who gave or took a role.

use std::{borrow::Cow, sync::Arc};

use axum::{Json, extract::State};
use proto::rpc::{
    identity::v1::{AuditAction, ModerateRequest, SanctionKind},
    queries::v1::{
        self as queries, LedgerEntry, LedgerRequest, LoginsRequest, ProfileReply, UsersRequest,
    },
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use tonic::Code as Grpc;
use world::Region;

use super::{
    ask::{Body, Id, Query},
    moderation::{self, Sanction},
    player::whereabouts,
    problem::{Code, Problem},
    route::{ADMINS, Answer, Call, Route, VIEWERS},
    shapes::{
        self, Account, BankItem, Character, Kills, Limit, Login, PackSlot, PageNumber, Pagination,
        Record, Skills, WornItem, paging,
    },
    values::{Short, Success, Time, success},
};
use crate::{app::App, auth::roles::Role};

/// A text to search for.
type Search = Short<64>;

pub(super) fn routes() -> Vec<Route> {
    let account = "0199c3a0-0000-7000-8000-000000000000";
    let character = "0199c3a0-0000-7000-8000-000000000001";
    vec![
        VIEWERS.get(
            "/admin/stats",
            "Counts of accounts, characters and sessions",
            stats,
        ),
        VIEWERS.get("/admin/users", "Accounts, newest first", users),
        VIEWERS
            .get("/admin/users/{id}", "An account and its characters", user)
            .path("The account.", account),
        ADMINS
            .put(
                "/admin/users/{id}/roles",
                "Gives an account just these roles",
                give_roles,
            )
            .about(
                "They hold at once, and those that are not named end at once. The last account \
                 with the role `admin` keeps it.",
            )
            .problems(&[Code::LastOperator])
            .path("The account.", account),
        VIEWERS
            .get("/admin/players", "The character that has a name", named)
            .problems(&[Code::NotFound]),
        VIEWERS
            .get(
                "/admin/players/{id}",
                "All that is known of a character",
                player,
            )
            .path("The character.", character),
        VIEWERS.get("/admin/sessions", "Logins, newest first", sessions),
        VIEWERS.get(
            "/admin/audit",
            "How items and coins came and went, newest first",
            audit,
        ),
    ]
}

/// Totals of the world: accounts, characters, zones and players.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Stats {
    total_users: u64,
    total_characters: u64,
    /// Characters in the world.
    active_sessions: u64,
    quarantined: u64,
    banned_users: u64,
    frozen: bool,
    zones: usize,
    /// Players of this gateway.
    players_here: usize,
    /// Seconds since this gateway began.
    uptime: u64,
}

async fn stats(State(app): State<Arc<App>>) -> Answer<Stats> {
    let totals = app.queries.totals().await?;
    let view = app.zones.directory();
    Ok(Json(Stats {
        total_users: totals.users,
        total_characters: totals.characters,
        active_sessions: totals.online,
        quarantined: totals.quarantined,
        banned_users: totals.banned,
        frozen: totals.frozen,
        zones: view.runs().count(),
        players_here: app.sessions.registry.players(),
        uptime: app.started.elapsed().as_secs(),
    }))
}

/// Filter of accounts.
#[derive(Debug, Deserialize, JsonSchema)]
struct UsersOf {
    /// A part of the name, or the whole id.
    search: Option<Search>,
    /// A role that they have.
    role: Option<Search>,
    /// Page of the list, from 1.
    page: Option<PageNumber>,
    /// Rows of a page.
    limit: Option<Limit>,
}

/// An account, and how many characters it has.
#[derive(Debug, Serialize, JsonSchema)]
struct User {
    #[serde(flatten)]
    account: Account,
    characters: u32,
}

/// Accounts, a page of them.
#[derive(Debug, Serialize, JsonSchema)]
struct Users {
    users: Vec<User>,
    pagination: Pagination,
}

async fn users(State(app): State<Arc<App>>, Query(asked): Query<UsersOf>) -> Answer<Users> {
    let (page, number) = paging(asked.page, asked.limit);
    let ask = UsersRequest {
        search: asked.search.unwrap_or_default().0,
        role: asked.role.unwrap_or_default().0,
        page: Some(page),
    };
    let reply = app.queries.users(ask).await?;
    let users = reply.rows.iter().filter_map(|row| {
        Some(User {
            account: row.account.as_ref()?.into(),
            characters: row.characters,
        })
    });
    Ok(Json(Users {
        users: users.collect(),
        pagination: Pagination::of(number, page, reply.total),
    }))
}

/// An account, its characters, and the bans and mutes in force.
#[derive(Debug, Serialize, JsonSchema)]
struct WholeUser {
    user: Account,
    characters: Vec<Character>,
    sanctions: Vec<Sanction>,
}

async fn user(State(app): State<Arc<App>>, Id(id): Id) -> Answer<WholeUser> {
    let found = app.auth.accounts.account(&id).await?;
    let Some(user) = &found.account else {
        return Err(Problem::of(Code::NotFound, "There is no such account."));
    };
    let sanctions = app.auth.identity.sanctions_of(&id).await?;
    let told = [SanctionKind::Ban, SanctionKind::Mute];
    let sanctions = sanctions
        .into_iter()
        .filter(|sanction| told.contains(&sanction.kind()));
    Ok(Json(WholeUser {
        user: user.into(),
        characters: found.characters.iter().map(Character::from).collect(),
        sanctions: sanctions.filter_map(Sanction::read).collect(),
    }))
}

/// A role by its name.
#[derive(Debug, Clone, Copy)]
struct RoleName(Role);

impl<'de> Deserialize<'de> for RoleName {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let name = String::deserialize(value)?;
        let known = || Role::NAMES.join(" and ");
        let role = Role::parse(&name).map(Self);
        role.ok_or_else(|| D::Error::custom(format!("there are {}", known())))
    }
}

impl JsonSchema for RoleName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RoleName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Role::NAMES})
    }
}

/// All the roles that an account is to have.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GiveRoles {
    roles: Vec<RoleName>,
}

/// The roles that an account has.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Given {
    #[schemars(example = Role::NAMES)]
    pub(super) roles: Vec<String>,
}

/// Gives an account just these roles.
async fn give_roles(
    Call { app, caller }: Call,
    Id(id): Id,
    Body(asked): Body<GiveRoles>,
) -> Answer<Success<Given>> {
    let roles = asked.roles.iter().map(|role| role.0.name().to_owned());
    let request = ModerateRequest {
        action: AuditAction::Roles.into(),
        by: caller.by(),
        account_id: id.clone(),
        roles: roles.collect(),
        ..ModerateRequest::default()
    };
    let done = app.auth.identity.moderate(request).await;
    done.map_err(|status| match status.code() {
        Grpc::NotFound => Problem::of(Code::NotFound, "There is no such account."),
        Grpc::FailedPrecondition => {
            let why = "This account is the last operator; give the role to another one first.";
            Problem::of(Code::LastOperator, why)
        }
        _ => status.into(),
    })?;
    let roles = app.auth.identity.roles_of(&id).await?;
    Ok(success(Given { roles }))
}

/// The name of a character.
#[derive(Debug, Deserialize, JsonSchema)]
struct Named {
    /// In any case.
    name: Search,
}

/// A character, found by its name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Found {
    id: String,
    #[schemars(example = &"Ann")]
    name: String,
    account_id: String,
}

/// Finds a character by its name.
async fn named(State(app): State<Arc<App>>, Query(asked): Query<Named>) -> Answer<Found> {
    let found = moderation::by_name(&app, &asked.name.0).await?;
    Ok(Json(Found {
        id: found.id,
        name: found.name,
        account_id: found.account_id,
    }))
}

/// Puts a character that is in the world where it stands now; the store knows where it stood last.
async fn place(app: &App, profile: &mut ProfileReply) {
    let Some(record) = profile.record.as_mut().filter(|_| profile.online) else {
        return;
    };
    let at = record.region.unwrap_or_default();
    let region = Region { x: at.x, z: at.z };
    if let Some(live) = whereabouts(app, region, &record.id).await {
        (record.x, record.y, record.z) = (live.x, live.y, live.z);
    }
}

/// All that is known of a character.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WholePlayer {
    player: Record,
    account: Option<Account>,
    skills: Skills,
    inventory: Vec<PackSlot>,
    equipment: Vec<WornItem>,
    bank: Vec<BankItem>,
    npc_kills: Vec<Kills>,
    logins: u64,
    played_seconds: u64,
    sessions: Vec<AccountLogin>,
}

async fn player(State(app): State<Arc<App>>, Id(id): Id) -> Answer<WholePlayer> {
    let mut profile = app.queries.profile(&id).await?;
    place(&app, &mut profile).await;
    let account_id = profile
        .record
        .as_ref()
        .map(|record| record.account_id.clone());
    let account_id = account_id.unwrap_or_default();
    let account = app.auth.accounts.account(&account_id).await?.account;
    let ask = LoginsRequest {
        character_id: id,
        open: false,
        page: Some(queries::Page {
            offset: 0,
            limit: shapes::LIMIT_MAX,
        }),
    };
    let logins = app.queries.logins(ask).await?;
    Ok(Json(WholePlayer {
        player: Record::from(&profile),
        account: account.as_ref().map(Account::from),
        skills: Skills::from(&profile),
        inventory: shapes::inventory(&profile),
        equipment: shapes::equipment(&profile),
        bank: shapes::bank(&profile),
        npc_kills: shapes::kills(&profile),
        logins: profile.logins,
        played_seconds: profile.played_ms / 1000,
        sessions: logins.rows.iter().map(AccountLogin::from).collect(),
    }))
}

/// Filter of logins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionsOf {
    /// Of one character.
    player_id: Option<Search>,
    /// Only those that go on.
    open: Option<bool>,
    /// Page of the list, from 1.
    page: Option<PageNumber>,
    /// Rows of a page.
    limit: Option<Limit>,
}

/// A login as operators see it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AccountLogin {
    #[serde(flatten)]
    login: Login,
    #[schemars(example = &"Ann")]
    name: String,
    account_id: String,
    /// The gateway's run; empty: an agent that nobody plays.
    gateway: String,
}

impl From<&queries::Login> for AccountLogin {
    fn from(login: &queries::Login) -> Self {
        Self {
            login: login.into(),
            name: login.name.clone(),
            account_id: login.account_id.clone(),
            gateway: login.gateway_id.clone(),
        }
    }
}

/// Logins, a page of them.
#[derive(Debug, Serialize, JsonSchema)]
struct Sessions {
    sessions: Vec<AccountLogin>,
    pagination: Pagination,
}

async fn sessions(
    State(app): State<Arc<App>>,
    Query(asked): Query<SessionsOf>,
) -> Answer<Sessions> {
    let (page, number) = paging(asked.page, asked.limit);
    let ask = LoginsRequest {
        character_id: asked.player_id.unwrap_or_default().0,
        open: asked.open.unwrap_or(false),
        page: Some(page),
    };
    let reply = app.queries.logins(ask).await?;
    Ok(Json(Sessions {
        sessions: reply.rows.iter().map(AccountLogin::from).collect(),
        pagination: Pagination::of(number, page, reply.total),
    }))
}

/// Filter of the ledger.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AuditOf {
    /// Of one character.
    player_id: Option<Search>,
    /// Of one item.
    item_id: Option<Search>,
    /// Page of the list, from 1.
    page: Option<PageNumber>,
    /// Rows of a page.
    limit: Option<Limit>,
}

/// A row of the ledger: so much of an item came or went.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AuditEntry {
    #[schemars(example = &"7-12-1")]
    id: String,
    /// Null: the ground.
    player_id: Option<String>,
    #[schemars(example = &"coins")]
    item_id: String,
    #[schemars(example = &"starter")]
    cause: String,
    #[schemars(example = 25)]
    delta: i64,
    at: Option<Time>,
}

impl From<&LedgerEntry> for AuditEntry {
    fn from(entry: &LedgerEntry) -> Self {
        let holder = (!entry.character_id.is_empty()).then(|| entry.character_id.clone());
        Self {
            id: format!("{}-{}-{}", entry.run_id, entry.sequence, entry.row),
            player_id: holder,
            item_id: entry.item_id.clone(),
            cause: entry.cause.clone(),
            delta: entry.delta,
            at: Time::unless_never(entry.at_ms),
        }
    }
}

/// Rows of the ledger, a page of them.
#[derive(Debug, Serialize, JsonSchema)]
struct Audit {
    entries: Vec<AuditEntry>,
    pagination: Pagination,
}

/// Lists how items and coins came and went.
async fn audit(State(app): State<Arc<App>>, Query(asked): Query<AuditOf>) -> Answer<Audit> {
    let (page, number) = paging(asked.page, asked.limit);
    let ask = LedgerRequest {
        character_id: asked.player_id.unwrap_or_default().0,
        item_id: asked.item_id.unwrap_or_default().0,
        page: Some(page),
    };
    let reply = app.queries.ledger(ask).await?;
    Ok(Json(Audit {
        entries: reply.rows.iter().map(AuditEntry::from).collect(),
        pagination: Pagination::of(number, page, reply.total),
    }))
}
