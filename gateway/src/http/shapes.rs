//! What several routes say in the same words: characters, accounts, pages of lists.

use chassis::telemetry::sampled;
use proto::rpc::{
    persistence::v1::{Account, CharacterSummary},
    queries::v1 as queries,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tonic::{Code as Grpc, Status};

use super::problem::{Code, Problem};
use crate::clock;

/// Rows of a page where none are asked for.
const LIMIT_DEFAULT: u32 = 20;
/// The most rows of a page.
pub(crate) const LIMIT_MAX: u32 = 100;
/// Pages that may be asked for.
pub(crate) const PAGES_MAX: u32 = 1_000_000;

/// A time in milliseconds since 1970 as clients see it; 0: never.
pub(crate) fn time(ms: u64) -> Option<String> {
    (ms != 0).then(|| clock::iso(ms))
}

/// What lists show of a character.
pub(crate) fn summary(character: &CharacterSummary) -> Value {
    let region = character.region.unwrap_or_default();
    json!({
        "id": character.id,
        "name": character.name,
        "combatLevel": character.combat_level,
        "online": character.online,
        "lastLoginAt": time(character.last_login_ms),
        "region": {"x": region.x, "z": region.z},
    })
}

/// An account as its owner sees it.
pub(crate) fn account(account: &Account) -> Value {
    json!({
        "id": account.id,
        "name": account.name,
        "anonymous": account.anonymous,
        "roles": account.roles,
        "createdAt": time(account.created_at_ms),
    })
}

/// Experience in whole points and tenths.
#[allow(clippy::cast_precision_loss)] // At most 200 million points.
pub(crate) fn points(tenths: u64) -> f64 {
    tenths as f64 / 10.0
}

/// Level and experience of each skill, by name.
pub(crate) fn skills(profile: &queries::ProfileReply) -> Value {
    let skills = profile.record.iter().flat_map(|record| &record.skills);
    let skills = skills.map(|skill| {
        let value = json!({"level": skill.level, "xp": points(skill.xp_tenths)});
        (skill.name.clone(), value)
    });
    Value::Object(skills.collect())
}

/// The whole record, with the names of the specification's table.
pub(crate) fn record(profile: &queries::ProfileReply) -> Value {
    let record = profile.record.clone().unwrap_or_default();
    let mut all = json!({
        "id": record.id,
        "accountId": record.account_id,
        "name": record.name,
        "combatLevel": record.combat_level,
        "health": record.health,
        "coins": record.coins,
        "positionX": record.x,
        "positionY": record.y,
        "positionZ": record.z,
        "online": profile.online,
        "isAgent": profile.agent,
        "quarantined": profile.quarantined,
        "createdAt": time(profile.created_at_ms),
        "lastLoginAt": time(profile.last_login_ms),
    });
    let fields = record.skills.iter().flat_map(|skill| {
        [
            (format!("{}Level", skill.name), json!(skill.level)),
            (format!("{}Xp", skill.name), json!(points(skill.xp_tenths))),
        ]
    });
    if let Value::Object(all) = &mut all {
        all.extend(fields.collect::<Map<_, _>>());
    }
    all
}

/// The pack: each slot that holds something.
pub(crate) fn inventory(profile: &queries::ProfileReply) -> Value {
    let slots = profile.record.iter().flat_map(|record| &record.inventory);
    let slots = slots
        .map(|slot| json!({"slot": slot.slot, "itemId": slot.item_id, "quantity": slot.quantity}));
    slots.collect()
}

/// What is worn.
pub(crate) fn equipment(profile: &queries::ProfileReply) -> Value {
    let worn = profile.record.iter().flat_map(|record| &record.equipment);
    let worn = worn
        .map(|worn| json!({"slot": worn.slot, "itemId": worn.item_id, "quantity": worn.quantity}));
    worn.collect()
}

/// The bank, by tab and place; 0 of something: its place is kept.
pub(crate) fn bank(profile: &queries::ProfileReply) -> Value {
    let all = profile.record.iter().flat_map(|record| &record.bank);
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|item| (item.tab, item.place));
    let items = all.into_iter().map(|item| {
        json!({
            "itemId": item.item_id,
            "quantity": item.quantity,
            "tab": item.tab,
            "place": item.place,
        })
    });
    items.collect()
}

/// What it did so far.
pub(crate) fn kills(profile: &queries::ProfileReply) -> Value {
    let kills = profile.kills.iter();
    kills
        .map(|kills| json!({"npcId": kills.npc_id, "count": kills.count}))
        .collect()
}

/// A login, as its owner sees it.
pub(crate) fn login(login: &queries::Login) -> Value {
    json!({
        "characterId": login.character_id,
        "loginAt": time(login.login_ms),
        "logoutAt": login.logout_ms.and_then(time),
        "reason": (!login.reason.is_empty()).then_some(&login.reason),
    })
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Paging {
    page: Option<u32>,
    limit: Option<u32>,
}

impl Paging {
    pub(crate) fn new(page: Option<u32>, limit: Option<u32>) -> Self {
        Self { page, limit }
    }

    /// As the store is asked for it, and the number of the page.
    pub(crate) fn read(self) -> Result<(queries::Page, u32), Problem> {
        let (page, limit) = (self.page.unwrap_or(1), self.limit.unwrap_or(LIMIT_DEFAULT));
        if !(1..=PAGES_MAX).contains(&page) {
            return Err(Problem::invalid(
                "/page",
                format!("must be 1 to {PAGES_MAX}"),
            ));
        }
        if !(1..=LIMIT_MAX).contains(&limit) {
            return Err(Problem::invalid(
                "/limit",
                format!("must be 1 to {LIMIT_MAX}"),
            ));
        }
        let offset = (page - 1) * limit;
        Ok((queries::Page { offset, limit }, page))
    }
}

/// Where a part of a list stands in it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pagination {
    page: u32,
    limit: u32,
    total: u64,
    total_pages: u64,
}

impl Pagination {
    pub(crate) fn of(page: u32, asked: queries::Page, total: u64) -> Self {
        Self {
            page,
            limit: asked.limit,
            total,
            total_pages: total.div_ceil(u64::from(asked.limit.max(1))),
        }
    }
}

/// What a client hears of the store's refusal.
pub(crate) fn refused(status: &Status) -> Problem {
    let code = match status.code() {
        Grpc::NotFound => Code::NotFound,
        Grpc::AlreadyExists => Code::NameTaken,
        Grpc::ResourceExhausted => Code::TooManyCharacters,
        Grpc::FailedPrecondition if status.message().contains("quarantined") => Code::Quarantined,
        Grpc::FailedPrecondition => Code::CharacterOnline,
        Grpc::InvalidArgument => Code::InvalidRequest,
        Grpc::Unavailable | Grpc::DeadlineExceeded | Grpc::Unknown | Grpc::Cancelled => {
            return Problem::store_away();
        }
        code => {
            if let Some(left_out) = sampled("the store refused a route", code.description()) {
                let message = status.message();
                tracing::error!(?code, message, left_out, "the store refused");
            }
            return Problem::of(Code::Internal, Code::Internal.meaning());
        }
    };
    let said = status.message();
    let detail = if said.is_empty() {
        code.meaning()
    } else {
        said
    };
    Problem::of(code, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_from_one_and_bounded() {
        let ask = |page, limit| Paging { page, limit }.read();
        let (first, number) = ask(None, None).unwrap();
        assert_eq!((first.offset, first.limit, number), (0, 20, 1));
        let (last, _) = ask(Some(PAGES_MAX), Some(LIMIT_MAX)).unwrap();
        assert_eq!(last.offset, 99_999_900);
        for (page, limit, at) in [
            (Some(0), None, "/page"),
            (Some(PAGES_MAX + 1), None, "/page"),
            (None, Some(0), "/limit"),
            (None, Some(LIMIT_MAX + 1), "/limit"),
        ] {
            assert_eq!(ask(page, limit).unwrap_err().errors[0].pointer, at);
        }
        let shown = Pagination::of(
            2,
            queries::Page {
                offset: 20,
                limit: 20,
            },
            41,
        );
        assert_eq!(shown.total_pages, 3);
    }

    #[test]
    fn each_refusal_of_the_store_has_its_code() {
        let code = |grpc, text: &str| refused(&Status::new(grpc, text)).code;
        assert_eq!(code(Grpc::NotFound, ""), "not_found");
        assert_eq!(code(Grpc::AlreadyExists, ""), "name_taken");
        assert_eq!(
            code(Grpc::FailedPrecondition, "the character is in the world"),
            "character_online"
        );
        assert_eq!(
            code(Grpc::FailedPrecondition, "the character is quarantined"),
            "quarantined"
        );
        assert_eq!(
            code(Grpc::InvalidArgument, "name: too long"),
            "invalid_request"
        );
        let away = refused(&Status::unavailable("secret address"));
        assert_eq!(
            (away.code, away.retry_after),
            ("storage_unavailable", Some(2))
        );
        assert!(!away.detail.contains("secret"));
        assert_eq!(code(Grpc::Internal, ""), "internal");
    }
}
