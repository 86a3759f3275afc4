//! `/api/v1/player` and `/api/player/*`: the caller's own account, its characters and their
//! belongings.
//!
//! Always: own data only; an agent's token shows its own character and no other.

use std::sync::Arc;

use axum::{Extension, Json, extract::State};
use proto::{
    client::look::Look,
    rpc::{
        persistence::v1::{self as stored, CharacterSummary, CreateCharacterRequest},
        queries::v1::{LoginsRequest, ProfileReply, WhereaboutsReply},
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::Region;

use super::{
    ask::{Body, Query},
    character::{self, Change, NewCharacter},
    problem::{Code, Problem},
    route::{Answer, Call, Created, OWNERS, READERS, Route, Saved},
    shapes::{
        self, Account, BankItem, Character, Kills, Limit, Login, OneCharacter, PackSlot,
        PageNumber, Pagination, Position, RegionAt, Skills, WornItem, paging,
    },
    values::{CharacterName, Success, Time, Yes, success},
};
use crate::{app::App, auth::caller::Caller};

/// Note at each query that may name a character.
const MEANT: &str = "Of the only character, or the one that plays, where none is named.";

pub(super) fn routes() -> Vec<Route> {
    let known = &[Code::NotFound, Code::NotYourCharacter];
    let queries = queries().concat().into_iter();
    let queries = queries.map(|route| route.problems(known));
    account().into_iter().chain(queries).collect()
}

fn account() -> [Route; 2] {
    [
        READERS
            .get(
                "/api/v1/player",
                "The caller's account and characters",
                whole,
            )
            .about("`session` is there while one of them is in the world.")
            .problems(&[Code::NotFound]),
        OWNERS
            .post("/api/v1/player", "Makes a character, or changes one", put)
            .about(
                "With `characterId`, that character is changed; it must not be in the world \
                 (409 character_online). Without, a new one is made.",
            )
            .problems(character::NOT_MADE)
            .problems(character::NOT_CHANGED),
    ]
}

fn queries() -> [[Route; 2]; 6] {
    let list_all = READERS.get("/api/player", "The caller's account and characters", list);
    let inventory = READERS.get(
        "/api/player/inventory",
        "What a character carries",
        shows::<Inventory>,
    );
    let equipment = READERS.get(
        "/api/player/equipment",
        "What a character wears",
        shows::<Equipment>,
    );
    let bank = READERS.get(
        "/api/player/bank",
        "What a character has in the bank",
        shows::<Bank>,
    );
    let statistics = READERS.get(
        "/api/player/statistics",
        "What a character has come to",
        shows::<Statistics>,
    );
    let sessions = READERS.get(
        "/api/player/sessions",
        "When a character played, newest first",
        sessions,
    );
    [
        list_all.or("/api/players"),
        inventory.about(MEANT).or("/api/players/inventory"),
        equipment.about(MEANT).or("/api/players/equipment"),
        bank.about(MEANT).or("/api/players/bank"),
        statistics.about(MEANT).or("/api/players/statistics"),
        sessions.about(MEANT).or("/api/players/sessions"),
    ]
}

/// Returns the caller's account, with the characters that its token is good for.
async fn own(
    app: &App,
    caller: &Caller,
) -> Result<(stored::Account, Vec<CharacterSummary>), Problem> {
    let mut found = app.auth.accounts.account(&caller.account_id).await?;
    let Some(account) = found.account else {
        let why = "The account of this token is not there any more.";
        return Err(Problem::of(Code::NotFound, why));
    };
    found
        .characters
        .retain(|character| caller.may_name(&character.id));
    Ok((account, found.characters))
}

/// Asks the zones where a character in the world stands, first the zone that plays `region`.
pub(super) async fn whereabouts(
    app: &App,
    region: Region,
    character_id: &str,
) -> Option<WhereaboutsReply> {
    let view = app.zones.directory();
    app.live_queries
        .whereabouts(&view, region, character_id)
        .await
}

/// Account and characters of a caller.
#[derive(Debug, Serialize, JsonSchema)]
struct Own {
    account: Account,
    characters: Vec<Character>,
}

impl Own {
    fn of(account: &stored::Account, characters: &[CharacterSummary]) -> Self {
        Self {
            account: account.into(),
            characters: characters.iter().map(Character::from).collect(),
        }
    }
}

/// Account and characters of a caller, and the character that plays now.
#[derive(Debug, Serialize, JsonSchema)]
struct Whole {
    #[serde(flatten)]
    own: Own,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Session")]
    session: Option<Session>,
}

/// A character that is in the world.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    character_id: String,
    online: Yes,
    region: RegionAt,
    position: Option<Position>,
}

async fn whole(State(app): State<Arc<App>>, Extension(caller): Extension<Caller>) -> Answer<Whole> {
    let (account, characters) = own(&app, &caller).await?;
    let playing = characters.iter().find(|character| character.online);
    let session = match playing {
        Some(playing) => Some(session(&app, playing).await),
        None => None,
    };
    let own = Own::of(&account, &characters);
    Ok(Json(Whole { own, session }))
}

async fn session(app: &App, playing: &CharacterSummary) -> Session {
    let at = playing.region.unwrap_or_default();
    let stored = Region { x: at.x, z: at.z };
    let now = whereabouts(app, stored, &playing.id).await;
    let region = now.as_ref().and_then(|now| now.region).unwrap_or(at);
    Session {
        character_id: playing.id.clone(),
        online: Yes,
        region: region.into(),
        position: now.map(|now| Position::of(now.x, now.y, now.z)),
    }
}

/// A character to make, or to change where it is named.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(
    example = serde_json::json!({"name": "Ann"}),
    extend("anyOf" = [{"required": ["name"]}, {"required": ["characterId", "isAgent"]}])
)]
struct SaveCharacter {
    character_id: Option<String>,
    name: Option<CharacterName>,
    is_agent: Option<bool>,
    look: Option<Look>,
}

/// Makes a character, or changes a named one.
async fn put(
    Call { app, caller }: Call,
    Body(asked): Body<SaveCharacter>,
) -> Result<Saved<Success<OneCharacter>>, Problem> {
    let change = Change {
        name: asked.name,
        is_agent: asked.is_agent,
        look: asked.look,
    };
    match asked.character_id {
        Some(id) => {
            let changed = character::change(&app, &caller, &id, change).await?;
            Ok(Saved::Changed(changed))
        }
        None => {
            let made = create(&app, &caller, change.new_character()?).await?;
            Ok(Saved::Created(made))
        }
    }
}

/// Makes a character of the caller's.
pub(super) async fn create(
    app: &App,
    caller: &Caller,
    new: NewCharacter,
) -> Result<Created<Success<OneCharacter>>, Problem> {
    let name = new.name.checked()?;
    let spawn = app.content().spawn();
    let request = CreateCharacterRequest {
        account_id: caller.account_id.clone(),
        name,
        spawn: Some(proto::rpc::common::v1::Tile {
            x: spawn.x,
            z: spawn.z,
        }),
        look: new.look.map(String::from).unwrap_or_default(),
    };
    let made = app.auth.accounts.create_character(request).await?;
    let place = format!("/api/characters/{}", made.id);
    let character = Character::from(&made);
    Ok(Created(place, Success::of(OneCharacter { character })))
}

async fn list(Call { app, caller }: Call) -> Answer<Success<Own>> {
    let (account, characters) = own(&app, &caller).await?;
    Ok(success(Own::of(&account, &characters)))
}

/// One of the caller's characters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Of {
    /// One of the caller's characters.
    character_id: Option<String>,
}

/// Returns the named character, the only one, or the one that plays.
async fn profile(app: &App, caller: &Caller, named: Option<&str>) -> Result<ProfileReply, Problem> {
    if let Some(id) = named {
        return character::own(app, caller, id).await;
    }
    let (_, all) = own(app, caller).await?;
    let meant = match all.as_slice() {
        [only] => Some(only),
        [] => {
            let why = "This account has no character yet.";
            return Err(Problem::of(Code::NotFound, why));
        }
        _ => all.iter().find(|character| character.online),
    };
    let Some(meant) = meant else {
        let why = "name one of your characters: there are several";
        return Err(Problem::invalid("/characterId", why));
    };
    character::own(app, caller, &meant.id).await
}

/// A part of a character, and whose it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct OfCharacter<T> {
    character_id: String,
    #[serde(flatten)]
    part: T,
}

/// Shows this part of a character of the caller's.
async fn shows<T: From<ProfileReply>>(
    Call { app, caller }: Call,
    Query(of): Query<Of>,
) -> Answer<Success<OfCharacter<T>>> {
    let profile = profile(&app, &caller, of.character_id.as_deref()).await?;
    let record = profile.record.as_ref();
    let character_id = record.map(|record| record.id.clone());
    Ok(success(OfCharacter {
        character_id: character_id.unwrap_or_default(),
        part: T::from(profile),
    }))
}

/// The pack and the purse.
#[derive(Debug, Serialize, JsonSchema)]
struct Inventory {
    /// Slots of a pack.
    #[schemars(example = PACK_SLOTS)]
    slots: usize,
    coins: u64,
    inventory: Vec<PackSlot>,
}

/// Slots of a pack.
const PACK_SLOTS: usize = 28;

impl From<ProfileReply> for Inventory {
    fn from(profile: ProfileReply) -> Self {
        Self {
            slots: PACK_SLOTS,
            coins: profile.record.as_ref().map_or(0, |record| record.coins),
            inventory: shapes::inventory(&profile),
        }
    }
}

/// All that is worn.
#[derive(Debug, Serialize, JsonSchema)]
struct Equipment {
    equipment: Vec<WornItem>,
}

impl From<ProfileReply> for Equipment {
    fn from(profile: ProfileReply) -> Self {
        Self {
            equipment: shapes::equipment(&profile),
        }
    }
}

/// All that is in the bank.
#[derive(Debug, Serialize, JsonSchema)]
struct Bank {
    bank: Vec<BankItem>,
}

impl From<ProfileReply> for Bank {
    fn from(profile: ProfileReply) -> Self {
        Self {
            bank: shapes::bank(&profile),
        }
    }
}

/// Levels, kills and times of a character.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    #[schemars(example = 3)]
    combat_level: u32,
    total_level: u32,
    total_xp: f64,
    skills: Skills,
    kills: Vec<Kills>,
    logins: u64,
    played_seconds: u64,
    created_at: Option<Time>,
    last_login_at: Option<Time>,
}

impl From<ProfileReply> for Statistics {
    fn from(profile: ProfileReply) -> Self {
        let record = profile.record.clone().unwrap_or_default();
        let tenths: u64 = record.skills.iter().map(|skill| skill.xp_tenths).sum();
        Self {
            combat_level: record.combat_level,
            total_level: record.skills.iter().map(|skill| skill.level).sum(),
            total_xp: shapes::points(tenths),
            skills: Skills::from(&profile),
            kills: shapes::kills(&profile),
            logins: profile.logins,
            played_seconds: profile.played_ms / 1000,
            created_at: Time::unless_never(profile.created_at_ms),
            last_login_at: Time::unless_never(profile.last_login_ms),
        }
    }
}

/// Logins of one of the caller's characters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionsOf {
    /// One of the caller's characters.
    character_id: Option<String>,
    /// Page of the list, from 1.
    page: Option<PageNumber>,
    /// Rows of a page.
    limit: Option<Limit>,
}

/// Logins, a page of them.
#[derive(Debug, Serialize, JsonSchema)]
struct Logins {
    sessions: Vec<Login>,
    pagination: Pagination,
}

async fn sessions(
    Call { app, caller }: Call,
    Query(of): Query<SessionsOf>,
) -> Answer<Success<OfCharacter<Logins>>> {
    let (page, number) = paging(of.page, of.limit);
    let profile = profile(&app, &caller, of.character_id.as_deref()).await?;
    let character_id = profile.record.unwrap_or_default().id;
    let ask = LoginsRequest {
        character_id: character_id.clone(),
        open: false,
        page: Some(page),
    };
    let reply = app.queries.logins(ask).await?;
    Ok(success(OfCharacter {
        character_id,
        part: Logins {
            sessions: reply.rows.iter().map(Login::from).collect(),
            pagination: Pagination::of(number, page, reply.total),
        },
    }))
}

#[cfg(test)]
mod tests {
    use proto::client::names::character_name;

    /// Returns the words of a list in the page's script.
    fn list(name: &str) -> Vec<&'static str> {
        let page = include_str!("../../page/ui.js");
        let after = page.split(&format!("const {name} = [")).nth(1).unwrap();
        let inside = after.split(']').next().unwrap();
        inside.split('"').skip(1).step_by(2).collect()
    }

    #[test]
    fn every_name_that_the_page_rolls_is_allowed() {
        let (first, last) = (list("FIRST"), list("LAST"));
        assert!(first.len() > 10 && last.len() > 10, "the lists are found");
        for first in first {
            for last in &last {
                let rolled = format!("{first} {last}");
                assert_eq!(character_name(&rolled), Ok(rolled));
            }
        }
    }
}
