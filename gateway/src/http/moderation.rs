//! `/admin/moderation`: bans and mutes, and the record of operators' actions.
//!
//! Always: the record names the account that acted, by its id, never by a token. Moderators cannot act on each other or on admins.

use std::{borrow::Cow, sync::Arc};

use axum::{Json, extract::State};
use proto::{
    client::admin::AdminVerb,
    rpc::{
        identity::v1::{
            AuditAction, AuditEntry, ModerateRequest, PageRequest, Sanction as SanctionRow,
            SanctionKind as RowKind,
        },
        persistence::v1::CharacterSummary,
    },
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Value, json};
use tonic::Code as Grpc;

use super::{
    ask::{Body, Query, there},
    problem::{Code, Problem},
    route::{Answer, Call, MODERATORS, Route, VIEWERS},
    shapes,
    values::{Line, Time, Within, Yes},
};
use crate::{app::App, auth::roles, clock, session};

const MINUTE_MS: u64 = 60_000;
/// Rows of a page where the request names no number.
const LIMIT_DEFAULT: u32 = 50;
/// The longest id of an account, in bytes.
const ID_BYTES_MAX: usize = 128;

/// Reason for an action, or text of an announcement.
type Reason = Line<200>;
/// Length of a ban or a mute: ten years at most.
type Minutes = Within<1, 5_256_000>;

pub(super) fn routes() -> Vec<Route> {
    vec![
        VIEWERS.get("/admin/moderation", "Bans and mutes in force", list),
        MODERATORS
            .post("/admin/moderation", "Kicks, bans, mutes, or announces", act)
            .problems(&[Code::NotFound]),
        VIEWERS.get("/admin/moderation/log", "What operators did", log),
    ]
}

/// Number of a row, where an earlier page ended.
#[derive(Debug, Clone, Copy, Default)]
struct Before(u64);

impl<'de> Deserialize<'de> for Before {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        let before = u64::deserialize(value)?;
        if i64::try_from(before).is_err() {
            return Err(D::Error::custom("a number from an earlier page"));
        }
        Ok(Self(before))
    }
}

impl JsonSchema for Before {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Before".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": i64::MAX})
    }
}

/// Part of a list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Part {
    /// Those before this one.
    #[serde(default)]
    before: Option<Before>,
    /// Rows of a page.
    #[serde(default)]
    limit: Option<shapes::Limit>,
}

/// An action, and about whom.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Moderate {
    action: AdminVerb,
    #[serde(default, deserialize_with = "there")]
    account_id: Option<String>,
    /// A character's name, instead.
    #[serde(default, deserialize_with = "there")]
    name: Option<String>,
    #[serde(default, deserialize_with = "there")]
    reason: Option<Reason>,
    #[serde(default, deserialize_with = "there")]
    minutes: Option<Minutes>,
}

/// Each action has its own fields, which a derived schema cannot say.
impl JsonSchema for Moderate {
    fn schema_name() -> Cow<'static, str> {
        "Moderate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let id = json!({"type": "string", "pattern": format!("^[!-~]{{1,{ID_BYTES_MAX}}}$")});
        let name = json!({"type": "string", "minLength": 1, "maxLength": 64});
        let reason = generator.subschema_for::<Reason>();
        let minutes = generator.subschema_for::<Minutes>();
        let fields = |words: &[&str], whom: (&str, &Value), minutes: Option<&Schema>| {
            let mut fields = json!({"action": {"type": "string", "enum": words}, "reason": reason});
            fields[whom.0] = whom.1.clone();
            if let Some(minutes) = minutes {
                fields["minutes"] = json!(minutes);
            }
            json!({
                "type": "object",
                "properties": fields,
                "required": ["action", whom.0],
                "additionalProperties": false,
            })
        };
        let mut all = Vec::new();
        for whom in [("accountId", &id), ("name", &name)] {
            all.push(fields(&["kick", "unban", "unmute"], whom, None));
            all.push(fields(&["ban", "mute"], whom, Some(&minutes)));
        }
        let mut words = generator.subschema_for::<Reason>();
        words.insert("pattern".to_owned(), "^[!-~][ -~]*$".into());
        all.push(json!({
            "type": "object",
            "properties": {"action": {"type": "string", "enum": ["announce"]}, "reason": words},
            "required": ["action", "reason"],
            "additionalProperties": false,
        }));
        json_schema!({
            "oneOf": all,
            "examples": [{"action": "mute", "name": "Ann", "minutes": 60}],
        })
    }
}

/// A ban keeps an account out, a mute keeps it silent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SanctionKind {
    Ban,
    Mute,
}

/// A ban or a mute.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sanction {
    kind: SanctionKind,
    account_id: String,
    #[schemars(example = &"shouting")]
    reason: String,
    /// Null: for ever.
    until: Option<Time>,
    #[schemars(example = &"account:7")]
    by: String,
    at: Time,
}

impl Sanction {
    /// Reads a row. Returns `None` for a kind that is neither ban nor mute, such as one of a newer
    /// version.
    pub(super) fn read(sanction: SanctionRow) -> Option<Self> {
        let kind = match sanction.kind() {
            RowKind::Mute => SanctionKind::Mute,
            RowKind::Ban => SanctionKind::Ban,
            RowKind::Unspecified | RowKind::Revoked | RowKind::Kick | RowKind::Teleport => {
                tracing::warn!(id = sanction.id, kind = sanction.kind, "no ban and no mute");
                return None;
            }
        };
        Some(Self {
            kind,
            account_id: sanction.account_id,
            reason: sanction.reason,
            until: Time::unless_never(sanction.until_ms),
            by: sanction.by,
            at: Time::of(sanction.at_ms),
        })
    }
}

/// Bans and mutes in force.
#[derive(Debug, Serialize, JsonSchema)]
struct Sanctions {
    sanctions: Vec<Sanction>,
    /// Beginning of the next page; null: there is none.
    before: Option<u64>,
}

/// Lists bans and mutes in force, newest first.
async fn list(State(app): State<Arc<App>>, Query(part): Query<Part>) -> Answer<Sanctions> {
    let page = page(&part);
    let sanctions = app.auth.identity.sanctions(page).await?;
    Ok(Json(Sanctions {
        before: next(&sanctions, page.most, |sanction| sanction.version),
        sanctions: sanctions.into_iter().filter_map(Sanction::read).collect(),
    }))
}

/// Something that an operator, an admin or a moderator did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogEntry {
    id: u64,
    at: Time,
    #[schemars(example = &"account:7")]
    by: String,
    #[schemars(example = &"mute")]
    action: String,
    account_id: String,
    character_id: String,
    #[schemars(example = &"shouting")]
    detail: String,
}

impl From<AuditEntry> for LogEntry {
    fn from(done: AuditEntry) -> Self {
        Self {
            id: done.id,
            at: Time::of(done.at_ms),
            by: done.by,
            action: done.action,
            account_id: done.account_id,
            character_id: done.character_id,
            detail: done.detail,
        }
    }
}

/// The record of operators' actions.
#[derive(Debug, Serialize, JsonSchema)]
struct Log {
    log: Vec<LogEntry>,
    /// Beginning of the next page; null: there is none.
    before: Option<u64>,
}

/// Lists all that operators did, newest first.
async fn log(State(app): State<Arc<App>>, Query(part): Query<Part>) -> Answer<Log> {
    let page = page(&part);
    let audit_log = app.auth.identity.audit_log(page).await?;
    Ok(Json(Log {
        before: next(&audit_log, page.most, |action| action.id),
        log: audit_log.into_iter().map(LogEntry::from).collect(),
    }))
}

/// It is done.
#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    success: Yes,
}

/// Kicks, bans, unbans, mutes, unmutes or announces.
async fn act(Call { app, caller }: Call, Body(asked): Body<Moderate>) -> Answer<Done> {
    let action = checked(&asked)?;
    let (account_id, character_id) = whom(&app, &asked).await?;
    let outranks = roles::outranks(&app.auth.identity, caller.role, &account_id).await;
    if !outranks.map_err(|_| Problem::store_away())? {
        let why = "Moderators may not do this to each other, nor to admins.";
        return Err(Problem::of(Code::RoleRequired, why));
    }
    let until = asked
        .minutes
        .map(|minutes| clock::unix_ms() + u64::from(minutes.get()) * MINUTE_MS);
    let reason = asked.reason.clone().unwrap_or_default().0;
    let request = ModerateRequest {
        action: action.into(),
        by: caller.by(),
        account_id,
        character_id,
        reason: reason.clone(),
        until_ms: until.unwrap_or(0),
        ..ModerateRequest::default()
    };
    let done = app.auth.identity.moderate(request).await;
    done.map_err(|status| match status.code() {
        Grpc::NotFound => Problem::of(Code::NotFound, "There is no such account."),
        _ => status.into(),
    })?;
    if action == AuditAction::Announce {
        let told = app
            .sessions
            .hub
            .announce(session::announcement(reason))
            .await;
        told.map_err(|_| Problem::of(Code::NotReady, "The bus is away; it was told nobody."))?;
    }
    Ok(Json(Done { success: Yes }))
}

fn page(part: &Part) -> PageRequest {
    PageRequest {
        before: part.before.unwrap_or_default().0,
        most: part.limit.map_or(LIMIT_DEFAULT, shapes::Limit::get),
    }
}

/// Returns where the next page begins, if there may be one.
fn next<T>(rows: &[T], most: u32, number: impl Fn(&T) -> u64) -> Option<u64> {
    let full = u32::try_from(rows.len()).is_ok_and(|read| read == most);
    rows.last().filter(|_| full).map(number)
}

/// Checks the fields of a request, and returns the action that it asks for.
fn checked(asked: &Moderate) -> Result<AuditAction, Problem> {
    let action = match asked.action {
        AdminVerb::Kick => AuditAction::Kick,
        AdminVerb::Ban => AuditAction::Ban,
        AdminVerb::Unban => AuditAction::Unban,
        AdminVerb::Mute => AuditAction::Mute,
        AdminVerb::Unmute => AuditAction::Unmute,
        AdminVerb::Announce => AuditAction::Announce,
        AdminVerb::Teleport | AdminVerb::Freeze | AdminVerb::Unfreeze => {
            let why = "kick, ban, unban, mute, unmute or announce";
            return Err(Problem::invalid("/action", why));
        }
    };
    let reason = asked.reason.as_ref().map_or("", |reason| &reason.0);
    if action == AuditAction::Announce && reason.trim().is_empty() {
        return Err(Problem::invalid("/reason", "what is announced"));
    }
    let whom = usize::from(asked.account_id.is_some()) + usize::from(asked.name.is_some());
    if whom != usize::from(action != AuditAction::Announce) {
        let why = "one of accountId and name; neither for announce";
        return Err(Problem::invalid("/accountId", why));
    }
    if asked.minutes.is_some() && !matches!(action, AuditAction::Ban | AuditAction::Mute) {
        return Err(Problem::invalid("/minutes", "only for ban and mute"));
    }
    Ok(action)
}

/// Returns the ids of the account and of the named character; each is empty where the request
/// does not name one.
async fn whom(app: &App, asked: &Moderate) -> Result<(String, String), Problem> {
    if let Some(id) = &asked.account_id {
        if id.is_empty() || id.len() > ID_BYTES_MAX || id.contains('\0') {
            return Err(Problem::invalid(
                "/accountId",
                format!("1 to {ID_BYTES_MAX} bytes"),
            ));
        }
        return Ok((id.clone(), String::new()));
    }
    let Some(name) = &asked.name else {
        return Ok(Default::default());
    };
    let found = by_name(app, name).await?;
    Ok((found.account_id, found.id))
}

/// Returns the character of this name.
pub(super) async fn by_name(app: &App, name: &str) -> Result<CharacterSummary, Problem> {
    let found = app.auth.accounts.find_character(name).await;
    found.map_err(|status| match status.code() {
        Grpc::NotFound | Grpc::InvalidArgument => {
            Problem::of(Code::NotFound, "No character has this name.")
        }
        _ => status.into(),
    })
}
