//! `/api/character` and `/api/characters`: the caller's characters, one by one.
//!
//! Always: levels are for everybody, as the hiscores are; all else is its owner's alone. No route
//! here changes a character in the world, because its zone writes it.

use std::sync::Arc;

use axum::extract::State;
use proto::{
    client::look::Look,
    rpc::queries::v1::{ChangeCharacterRequest, ProfileReply},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::Region;

use super::{
    ask::{Body, Id},
    player,
    problem::{Code, Problem},
    route::{ANYBODY, Answer, Call, Created, OWNERS, READERS, Route},
    shapes::{Character, OfSkills, OneCharacter, Position, Record, Skills},
    values::{CharacterName, Message, Success, success},
};
use crate::{
    app::App,
    auth::{
        caller::Caller,
        roles::{self, Role},
        tokens::Scope,
    },
};

/// Codes with which the gateway refuses to make a character.
pub(super) const NOT_MADE: &[Code] = &[
    Code::InvalidName,
    Code::NotFound,
    Code::NameTaken,
    Code::TooManyCharacters,
];
/// Codes with which the gateway refuses to change a character.
pub(super) const NOT_CHANGED: &[Code] = &[
    Code::InvalidName,
    Code::NotFound,
    Code::NotYourCharacter,
    Code::NameTaken,
    Code::CharacterOnline,
    Code::Quarantined,
];
/// The character of examples.
const ID: &str = "0199c3a0-0000-7000-8000-000000000001";

pub(super) fn routes() -> Vec<Route> {
    let one = |route: Route| route.path("The character.", ID);
    [
        READERS
            .get("/api/character", "The caller's characters", list)
            .or("/api/characters"),
        OWNERS
            .post("/api/character", "Makes a character", create)
            .problems(NOT_MADE)
            .or("/api/characters"),
        one(READERS.get("/api/character/{id}", "One of the caller's characters", get))
            .problems(&[Code::NotYourCharacter])
            .or("/api/characters/{id}"),
        one(OWNERS.patch(
            "/api/character/{id}",
            "Changes a character that is not in the world",
            patch,
        ))
        .problems(NOT_CHANGED)
        .or("/api/characters/{id}"),
        one(OWNERS.delete(
            "/api/character/{id}",
            "Removes a character that is not in the world",
            delete,
        ))
        .problems(&[
            Code::NotYourCharacter,
            Code::CharacterOnline,
            Code::Quarantined,
        ])
        .or("/api/characters/{id}"),
        one(ANYBODY.get(
            "/api/character/{id}/skills",
            "Levels and experience of any character",
            skills,
        ))
        .or("/api/characters/{id}/skills"),
        one(ANYBODY.get(
            "/api/character/{id}/position",
            "Where one of the caller's characters is",
            position,
        ))
        .about("Where it stood last while it is not in the world; null: it never was.")
        .problems(&[Code::NotYourCharacter])
        .or("/api/characters/{id}/position"),
    ]
    .concat()
}

/// Reads a character of any account.
async fn any(app: &App, id: &str) -> Result<ProfileReply, Problem> {
    Ok(app.queries.profile(id).await?)
}

/// Reads a character of the caller's; operators may read all.
pub(super) async fn own(app: &App, caller: &Caller, id: &str) -> Result<ProfileReply, Problem> {
    let found = any(app, id).await?;
    let of = found.record.as_ref().map(|record| &record.account_id);
    let theirs = of == Some(&caller.account_id) && caller.may_name(id);
    if theirs || operates(app, caller).await? {
        return Ok(found);
    }
    Err(Problem::of(
        Code::NotYourCharacter,
        Code::NotYourCharacter.meaning(),
    ))
}

/// Returns whether the caller is an operator.
async fn operates(app: &App, caller: &Caller) -> Result<bool, Problem> {
    if caller.scope != Scope::Player {
        return Ok(false);
    }
    let role = roles::of(&app.auth.identity, &caller.account_id).await;
    Ok(role.map_err(|_| Problem::store_away())? == Some(Role::Admin))
}

/// All characters of the caller's.
#[derive(Debug, Serialize, JsonSchema)]
struct Characters {
    characters: Vec<Character>,
}

async fn list(Call { app, caller }: Call) -> Answer<Success<Characters>> {
    let found = app.auth.accounts.characters(&caller.account_id).await?;
    let own = found.iter().filter(|one| caller.may_name(&one.id));
    let characters = own.map(Character::from).collect();
    Ok(success(Characters { characters }))
}

/// Changes to a character.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(example = serde_json::json!({"name": "Anna"}), extend("minProperties" = 1))]
#[schemars(rename = "ChangeCharacter")]
pub(super) struct Change {
    pub(super) name: Option<CharacterName>,
    pub(super) is_agent: Option<bool>,
    pub(super) look: Option<Look>,
}

impl Change {
    /// Returns what makes a new character.
    pub(super) fn new_character(self) -> Result<NewCharacter, Problem> {
        if self.is_agent.is_some() {
            let why = "is for a character that is there: name it by characterId";
            return Err(Problem::invalid("/isAgent", why));
        }
        let missing = || Problem::invalid("/name", "a new character needs a name");
        Ok(NewCharacter {
            name: self.name.ok_or_else(missing)?,
            look: self.look,
        })
    }
}

/// A new character.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewCharacter {
    pub(super) name: CharacterName,
    /// How it looks; without one, its name decides.
    pub(super) look: Option<Look>,
}

async fn create(
    Call { app, caller }: Call,
    Body(new): Body<NewCharacter>,
) -> Result<Created<Success<OneCharacter>>, Problem> {
    player::create(&app, &caller, new).await
}

/// The whole record of a character, and its skills once more by name.
#[derive(Debug, Serialize, JsonSchema)]
struct WholeCharacter {
    character: Record,
    skills: Skills,
}

async fn get(Call { app, caller }: Call, Id(id): Id) -> Answer<Success<WholeCharacter>> {
    let profile = own(&app, &caller, &id).await?;
    Ok(success(WholeCharacter {
        character: Record::from(&profile),
        skills: Skills::from(&profile),
    }))
}

async fn patch(
    Call { app, caller }: Call,
    Id(id): Id,
    Body(asked): Body<Change>,
) -> Answer<Success<OneCharacter>> {
    change(&app, &caller, &id, asked).await
}

/// Changes a character of the caller's that is not in the world.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    id: &str,
    asked: Change,
) -> Answer<Success<OneCharacter>> {
    if asked.name.is_none() && asked.is_agent.is_none() && asked.look.is_none() {
        return Err(Problem::invalid(
            "",
            "say what is to change: name, look or isAgent",
        ));
    }
    if let Some(name) = &asked.name {
        name.checked()?;
    }
    own(app, caller, id).await?;
    let ask = ChangeCharacterRequest {
        account_id: caller.account_id.clone(),
        character_id: id.to_owned(),
        name: asked.name.map(CharacterName::into_text),
        agent: asked.is_agent,
        look: asked.look.map(String::from),
    };
    let changed = app.queries.change_character(ask).await?;
    let character = Character::from(&changed);
    Ok(success(OneCharacter { character }))
}

async fn delete(Call { app, caller }: Call, Id(id): Id) -> Answer<Success<Message>> {
    own(&app, &caller, &id).await?;
    let deleted = app.auth.accounts.delete_character(&caller.account_id, &id);
    deleted.await?;
    Ok(success(Message {
        message: "The character is gone.".to_owned(),
    }))
}

async fn skills(State(app): State<Arc<App>>, Id(id): Id) -> Answer<Success<OfSkills>> {
    let profile = any(&app, &id).await?;
    let skills = Skills::from(&profile);
    Ok(success(OfSkills { skills }))
}

/// Place of a character.
#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    online: bool,
    position: Option<Position>,
}

/// Returns where the character stands now, or stood last; null: nowhere yet.
async fn position(Call { app, caller }: Call, Id(id): Id) -> Answer<Success<Place>> {
    let profile = own(&app, &caller, &id).await?;
    let record = profile.record.unwrap_or_default();
    let stored = record
        .placed
        .then(|| Position::of(record.x, record.y, record.z));
    let region = record.region.unwrap_or_default();
    let region = Region {
        x: region.x,
        z: region.z,
    };
    let live = match profile.online {
        true => player::whereabouts(&app, region, &id).await,
        false => None,
    };
    let live = live.map(|at| Position::of(at.x, at.y, at.z));
    Ok(success(Place {
        online: profile.online,
        position: live.or(stored),
    }))
}
