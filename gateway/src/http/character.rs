//! `/api/character` and `/api/characters`: the caller's characters, one by one.
//!
//! Always: levels are for everybody, as the hiscores are; all else is its owner's alone. Nothing
//! is written over the head of a zone: who is in the world is not changed here.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse, Response},
};
use proto::rpc::queries::v1::{ChangeCharacterRequest, ProfileReply};
use serde::Deserialize;
use serde_json::{Value, json};
use world::Region;

use super::{
    ask::{Body, Id},
    player,
    problem::{Code, Problem},
    shapes::{self, refused},
};
use crate::{
    app::App,
    auth::{caller::Caller, tokens::Scope},
};

/// Who may see the levels of any character.
pub(super) const ANYBODY: &[Scope] = &[
    Scope::Player,
    Scope::Agent,
    Scope::Spectator,
    Scope::Operator,
];

/// A character, whosever it is.
async fn any(app: &App, id: &str) -> Result<ProfileReply, Problem> {
    let found = app.queries.profile(id).await;
    found.map_err(|status| refused(&status))
}

/// A character of the caller's; operators may see all.
pub(super) async fn own(app: &App, caller: &Caller, id: &str) -> Result<ProfileReply, Problem> {
    let found = any(app, id).await?;
    let of = found.record.as_ref().map(|record| &record.account_id);
    let theirs = of == Some(&caller.account_id) && caller.may_name(id);
    if theirs || caller.scope == Scope::Operator {
        return Ok(found);
    }
    Err(Problem::of(
        Code::NotYourCharacter,
        Code::NotYourCharacter.meaning(),
    ))
}

/// `GET /api/character`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let found = app.accounts.characters(&caller.account_id).await;
    let found = found.map_err(|status| refused(&status))?;
    let own = found.iter().filter(|one| caller.may_name(&one.id));
    let characters: Vec<Value> = own.map(shapes::summary).collect();
    Ok(Json(json!({"success": true, "characters": characters})).into_response())
}

/// What is to be different about a character.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Wish {
    pub(super) name: Option<String>,
    pub(super) is_agent: Option<bool>,
}

impl Wish {
    /// The name of a new character.
    pub(super) fn named(self) -> Result<String, Problem> {
        if self.is_agent.is_some() {
            let why = "is for a character that is there: name it by characterId";
            return Err(Problem::invalid("/isAgent", why));
        }
        let missing = || Problem::invalid("/name", "a new character needs a name");
        self.name.ok_or_else(missing)
    }
}

/// What a new character is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct New {
    name: String,
}

/// `POST /api/character`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<New>,
) -> Result<Response, Problem> {
    player::create(&app, &caller, new.name).await
}

/// `GET /api/character/{id}`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, Problem> {
    let profile = own(&app, &caller, &id).await?;
    let answer = json!({
        "success": true,
        "character": shapes::record(&profile),
        "skills": shapes::skills(&profile),
    });
    Ok(Json(answer).into_response())
}

/// `PATCH /api/character/{id}`
pub(super) async fn patch(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
    Body(wish): Body<Wish>,
) -> Result<Response, Problem> {
    change(&app, &caller, &id, wish).await
}

/// Changes a character of the caller's that is not in the world.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    id: &str,
    wish: Wish,
) -> Result<Response, Problem> {
    if wish.name.is_none() && wish.is_agent.is_none() {
        return Err(Problem::invalid(
            "",
            "say what is to change: name or isAgent",
        ));
    }
    if let Some(name) = &wish.name {
        proto::client::names::character_name(name)
            .map_err(|why| Problem::invalid_name(why.to_string()))?;
    }
    own(app, caller, id).await?;
    let ask = ChangeCharacterRequest {
        account_id: caller.account_id.clone(),
        character_id: id.to_owned(),
        name: wish.name,
        agent: wish.is_agent,
    };
    let changed = app.queries.change_character(ask).await;
    let changed = changed.map_err(|status| refused(&status))?;
    let answer = json!({"success": true, "character": shapes::summary(&changed)});
    Ok(Json(answer).into_response())
}

/// `DELETE /api/character/{id}`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, Problem> {
    own(&app, &caller, &id).await?;
    let deleted = app.accounts.delete_character(&caller.account_id, &id).await;
    deleted.map_err(|status| refused(&status))?;
    let answer = json!({"success": true, "message": "The character is gone."});
    Ok(Json(answer).into_response())
}

/// `GET /api/characters/{id}/skills`
pub(super) async fn skills(State(app): State<Arc<App>>, Id(id): Id) -> Result<Response, Problem> {
    let profile = any(&app, &id).await?;
    let answer = json!({"success": true, "skills": shapes::skills(&profile)});
    Ok(Json(answer).into_response())
}

/// `GET /api/characters/{id}/position`: where it stands now, or stood last; null: nowhere yet.
pub(super) async fn position(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Id(id): Id,
) -> Result<Response, Problem> {
    let profile = own(&app, &caller, &id).await?;
    let record = profile.record.unwrap_or_default();
    let stored = record
        .placed
        .then(|| json!({"x": record.x, "y": record.y, "z": record.z}));
    let region = record.region.unwrap_or_default();
    let region = Region {
        x: region.x,
        z: region.z,
    };
    let live = match profile.online {
        true => player::whereabouts(&app, region, &id).await,
        false => None,
    };
    let live = live.map(|at| json!({"x": at.x, "y": at.y, "z": at.z}));
    let answer = json!({
        "success": true,
        "online": profile.online,
        "position": live.or(stored),
    });
    Ok(Json(answer).into_response())
}
