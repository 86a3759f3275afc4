//! Parts that several answers have in common: characters, accounts, pages of lists.

use std::{borrow::Cow, collections::BTreeMap};

use proto::{
    client::look::Look,
    rpc::{
        common::v1 as common,
        persistence::v1::{self as stored, CharacterSummary},
        queries::v1::{self as queries, ProfileReply},
    },
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use service_runtime::telemetry::sampled;
use tonic::{Code as Grpc, Status};
use world::{Bounds, Skill};

use super::{
    problem::{Code, Problem},
    values::{Time, Within},
};

/// Rows of a page where the request names no number.
const LIMIT_DEFAULT: u32 = 20;
/// The most rows of a page.
pub(crate) const LIMIT_MAX: u32 = 100;
/// The highest number of a page.
pub(crate) const PAGES_MAX: u32 = 1_000_000;

/// Page of a list, from 1.
pub(crate) type PageNumber = Within<1, PAGES_MAX>;
/// Rows of a page.
pub(crate) type Limit = Within<1, LIMIT_MAX>;

/// Returns experience in points, with one decimal.
#[allow(clippy::cast_precision_loss)] // At most 200 million points.
pub(crate) fn points(tenths: u64) -> f64 {
    tenths as f64 / 10.0
}

/// An upright rectangle of tiles; the maxima are exclusive.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Bounds")]
pub(crate) struct Rectangle {
    min_x: i32,
    max_x: i32,
    min_z: i32,
    max_z: i32,
}

impl From<Bounds> for Rectangle {
    fn from(bounds: Bounds) -> Self {
        Self {
            min_x: bounds.min_x,
            max_x: bounds.max_x,
            min_z: bounds.min_z,
            max_z: bounds.max_z,
        }
    }
}

/// A region, counted in regions.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct RegionAt {
    x: i32,
    z: i32,
}

impl From<common::Region> for RegionAt {
    fn from(region: common::Region) -> Self {
        Self {
            x: region.x,
            z: region.z,
        }
    }
}

/// A place in tiles: x is east, y is up, z is north.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Position {
    x: i32,
    y: f64,
    z: i32,
}

impl Position {
    pub(crate) fn of(x: i32, y: f32, z: i32) -> Self {
        Self { x, y: y.into(), z }
    }
}

/// A character as lists show it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Character {
    id: String,
    #[schemars(example = &"Ann")]
    name: String,
    combat_level: u32,
    look: Chosen,
    online: bool,
    last_login_at: Option<Time>,
    region: RegionAt,
}

/// The look that a player chose for a character; null: none, and its name decides.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Chosen(Option<Look>);

impl From<String> for Chosen {
    fn from(stored: String) -> Self {
        // The store keeps looks, and an empty text for none.
        Self(Look::try_from(stored).ok())
    }
}

impl From<&CharacterSummary> for Character {
    fn from(character: &CharacterSummary) -> Self {
        Self {
            id: character.id.clone(),
            name: character.name.clone(),
            combat_level: character.combat_level,
            look: character.look.clone().into(),
            online: character.online,
            last_login_at: Time::unless_never(character.last_login_ms),
            region: character.region.unwrap_or_default().into(),
        }
    }
}

/// One character.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneCharacter {
    pub(crate) character: Character,
}

/// An account as its owner sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Account {
    id: String,
    #[schemars(example = &"Wanderer-5f3a0c1d")]
    name: String,
    anonymous: bool,
    #[schemars(example = [""; 0])]
    roles: Vec<String>,
    created_at: Option<Time>,
}

impl From<&stored::Account> for Account {
    fn from(account: &stored::Account) -> Self {
        Self {
            id: account.id.clone(),
            name: account.name.clone(),
            anonymous: account.anonymous,
            roles: account.roles.clone(),
            created_at: Time::unless_never(account.created_at_ms),
        }
    }
}

/// Level and experience of a skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillProgress {
    level: u32,
    xp: f64,
}

/// Level and experience of each skill, by its name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(example = json!({"attack": {"level": 1, "xp": 0.0}}))]
pub(crate) struct Skills(BTreeMap<String, SkillProgress>);

impl From<&ProfileReply> for Skills {
    fn from(profile: &ProfileReply) -> Self {
        let skills = profile.record.iter().flat_map(|record| &record.skills);
        let skills = skills.map(|skill| {
            let progress = SkillProgress {
                level: skill.level,
                xp: points(skill.xp_tenths),
            };
            (skill.name.clone(), progress)
        });
        Self(skills.collect())
    }
}

/// The skills of a character.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OfSkills {
    pub(crate) skills: Skills,
}

/// The whole record of a character, with `…Level` and `…Xp` of every skill.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    id: String,
    account_id: String,
    #[schemars(example = &"Ann")]
    name: String,
    combat_level: u32,
    look: Chosen,
    health: u32,
    coins: u64,
    #[schemars(with = "f64")]
    position_x: i32,
    position_y: f64,
    #[schemars(with = "f64")]
    position_z: i32,
    online: bool,
    is_agent: bool,
    quarantined: bool,
    created_at: Option<Time>,
    last_login_at: Option<Time>,
    #[serde(flatten)]
    skills: SkillColumns,
}

/// Columns of all skills: `attackLevel`, `attackXp`, and so on.
#[derive(Debug, Serialize)]
struct SkillColumns(BTreeMap<String, Column>);

/// A level or experience.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Column {
    Level(u32),
    Xp(f64),
}

impl JsonSchema for SkillColumns {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SkillColumns".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let columns = Skill::ALL.iter().flat_map(|skill| {
            let (level, xp) = (
                json!({"type": "integer", "minimum": 0}),
                json!({"type": "number"}),
            );
            let name = skill.name();
            [(format!("{name}Level"), level), (format!("{name}Xp"), xp)]
        });
        let columns: Map<String, Value> = columns.collect();
        json_schema!({"type": "object", "properties": columns})
    }
}

impl From<&ProfileReply> for Record {
    fn from(profile: &ProfileReply) -> Self {
        let record = profile.record.clone().unwrap_or_default();
        let columns = record.skills.iter().flat_map(|skill| {
            let xp = Column::Xp(points(skill.xp_tenths));
            [
                (format!("{}Level", skill.name), Column::Level(skill.level)),
                (format!("{}Xp", skill.name), xp),
            ]
        });
        Self {
            skills: SkillColumns(columns.collect()),
            id: record.id,
            account_id: record.account_id,
            name: record.name,
            combat_level: record.combat_level,
            look: record.look.into(),
            health: record.health,
            coins: record.coins,
            position_x: record.x,
            position_y: record.y.into(),
            position_z: record.z,
            online: profile.online,
            is_agent: profile.agent,
            quarantined: profile.quarantined,
            created_at: Time::unless_never(profile.created_at_ms),
            last_login_at: Time::unless_never(profile.last_login_ms),
        }
    }
}

/// A stack in a numbered slot of the pack.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PackSlot {
    slot: u32,
    #[schemars(example = &"bronze_hatchet")]
    item_id: String,
    #[schemars(example = 1)]
    quantity: u32,
}

/// Returns each slot of the pack that holds something.
pub(crate) fn inventory(profile: &ProfileReply) -> Vec<PackSlot> {
    let slots = profile.record.iter().flat_map(|record| &record.inventory);
    let slots = slots.map(|slot| PackSlot {
        slot: slot.slot,
        item_id: slot.item_id.clone(),
        quantity: slot.quantity,
    });
    slots.collect()
}

/// Returns what a character has at stake in a duel, by place.
pub(crate) fn stakes(profile: &ProfileReply) -> Vec<PackSlot> {
    let stakes = profile.record.iter().flat_map(|record| &record.stakes);
    let stakes = stakes.map(|slot| PackSlot {
        slot: slot.slot,
        item_id: slot.item_id.clone(),
        quantity: slot.quantity,
    });
    stakes.collect()
}

/// A stack that is worn.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WornItem {
    #[schemars(example = &"weapon")]
    slot: String,
    #[schemars(example = &"bronze_sword")]
    item_id: String,
    #[schemars(example = 1)]
    quantity: u32,
}

/// Returns all that a character wears.
pub(crate) fn equipment(profile: &ProfileReply) -> Vec<WornItem> {
    let worn = profile.record.iter().flat_map(|record| &record.equipment);
    let worn = worn.map(|worn| WornItem {
        slot: worn.slot.clone(),
        item_id: worn.item_id.clone(),
        quantity: worn.quantity,
    });
    worn.collect()
}

/// All of one item in a bank.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BankItem {
    #[schemars(example = &"logs")]
    item_id: String,
    /// 0: its place is kept.
    #[schemars(example = 40)]
    quantity: u32,
    tab: u32,
    place: u32,
}

/// Returns the bank, by tab and place.
pub(crate) fn bank(profile: &ProfileReply) -> Vec<BankItem> {
    let all = profile.record.iter().flat_map(|record| &record.bank);
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|item| (item.tab, item.place));
    let items = all.into_iter().map(|item| BankItem {
        item_id: item.item_id.clone(),
        quantity: item.quantity,
        tab: item.tab,
        place: item.place,
    });
    items.collect()
}

/// Number of NPCs of a kind that a character has killed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kills {
    #[schemars(example = &"duck")]
    npc_id: String,
    #[schemars(example = 7)]
    count: u32,
}

/// Returns the kills of a character, by kind.
pub(crate) fn kills(profile: &ProfileReply) -> Vec<Kills> {
    let kills = profile.kills.iter().map(|kills| Kills {
        npc_id: kills.npc_id.clone(),
        count: kills.count,
    });
    kills.collect()
}

/// A login, as its owner sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Login {
    character_id: String,
    login_at: Option<Time>,
    /// Null: it goes on.
    logout_at: Option<Time>,
    #[schemars(example = &"logout")]
    reason: Option<String>,
}

impl From<&queries::Login> for Login {
    fn from(login: &queries::Login) -> Self {
        Self {
            character_id: login.character_id.clone(),
            login_at: Time::unless_never(login.login_ms),
            logout_at: login.logout_ms.and_then(Time::unless_never),
            reason: (!login.reason.is_empty()).then(|| login.reason.clone()),
        }
    }
}

/// Returns the page for the store's request, and its number.
pub(crate) fn paging(page: Option<PageNumber>, limit: Option<Limit>) -> (queries::Page, u32) {
    let page = page.map_or(1, PageNumber::get);
    let limit = limit.map_or(LIMIT_DEFAULT, Limit::get);
    let offset = (page - 1) * limit;
    (queries::Page { offset, limit }, page)
}

/// Place of a page in its list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({"page": 1, "limit": 20, "total": 1, "totalPages": 1}))]
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

/// Converts a refusal of the store for a client.
impl From<Status> for Problem {
    fn from(status: Status) -> Self {
        refused(&status)
    }
}

/// Returns the client's problem document for a refusal by the store.
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
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Asked {
        page: Option<PageNumber>,
        limit: Option<Limit>,
    }

    #[test]
    fn pages_are_counted_from_one_and_bounded() {
        let ask = |query: &str| {
            let asked = serde_urlencoded::from_str::<Asked>(query);
            asked.map(|asked| paging(asked.page, asked.limit))
        };
        let (first, number) = ask("").unwrap();
        assert_eq!((first.offset, first.limit, number), (0, 20, 1));
        let (last, _) = ask("page=1000000&limit=100").unwrap();
        assert_eq!(last.offset, 99_999_900);
        for beyond in ["page=0", "page=1000001", "limit=0", "limit=101"] {
            let why = ask(beyond).unwrap_err().to_string();
            assert!(why.starts_with("must be 1 to "), "{beyond}: {why}");
        }
        let asked = queries::Page {
            offset: 20,
            limit: 20,
        };
        assert_eq!(Pagination::of(2, asked, 41).total_pages, 3);
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
