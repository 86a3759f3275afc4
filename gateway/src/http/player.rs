//! `/api/v1/player` and `/api/player/*`: the caller's own account, characters and what they have.
//!
//! Always: own data only; an agent's token shows its own character and no other.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::{StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
    routing::get,
};
use proto::rpc::{
    persistence::v1::{CharacterSummary, CreateCharacterRequest, SignInReply},
    queries::v1::{LoginsRequest, ProfileReply, WhereaboutsReply},
};
use serde::Deserialize;
use serde_json::{Value, json};
use world::Region;

use super::{
    ask::{Body, Query},
    character::{self, Wish},
    problem::{Code, Problem},
    router::Handler,
    shapes::{self, Pagination, Paging, refused},
};
use crate::{
    app::App,
    auth::{caller::Caller, tokens::Scope},
};

/// Who may read what is a player's own.
pub(super) const READERS: &[Scope] = &[Scope::Player, Scope::Agent, Scope::Spectator];
/// Who may change what is a player's own.
pub(super) const OWNERS: &[Scope] = &[Scope::Player];

/// The caller's account with the characters that its token is good for.
async fn own(app: &App, caller: &Caller) -> Result<SignInReply, Problem> {
    let mut found = app.accounts.account(&caller.account_id).await;
    if let Ok(reply) = &mut found {
        reply
            .characters
            .retain(|character| caller.may_name(&character.id));
        if reply.account.is_none() {
            let why = "The account of this token is not there any more.";
            return Err(Problem::of(Code::NotFound, why));
        }
    }
    found.map_err(|status| refused(&status))
}

/// Where a character in the world stands, by the zone that plays it.
pub(super) async fn whereabouts(
    app: &App,
    region: Region,
    character_id: &str,
) -> Option<WhereaboutsReply> {
    let view = app.zones.directory();
    app.facts.whereabouts(&view, region, character_id).await
}

/// `GET /api/v1/player`
pub(super) async fn whole(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let reply = own(&app, &caller).await?;
    let characters: Vec<Value> = reply.characters.iter().map(shapes::summary).collect();
    let mut answer = json!({
        "account": reply.account.as_ref().map(shapes::account),
        "characters": characters,
    });
    if let Some(playing) = reply.characters.iter().find(|character| character.online) {
        answer["session"] = session(&app, playing).await;
    }
    Ok(Json(answer).into_response())
}

async fn session(app: &App, playing: &CharacterSummary) -> Value {
    let at = playing.region.unwrap_or_default();
    let stored = Region { x: at.x, z: at.z };
    let now = whereabouts(app, stored, &playing.id).await;
    let region = now.as_ref().and_then(|now| now.region).unwrap_or(at);
    json!({
        "characterId": playing.id,
        "online": true,
        "region": {"x": region.x, "z": region.z},
        "position": now.map(|now| json!({"x": now.x, "y": now.y, "z": now.z})),
    })
}

/// What `POST /api/v1/player` asks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Put {
    character_id: Option<String>,
    name: Option<String>,
    is_agent: Option<bool>,
}

/// `POST /api/v1/player`: makes a character, or changes the one that is named.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Body(asked): Body<Put>,
) -> Result<Response, Problem> {
    let wish = Wish {
        name: asked.name,
        is_agent: asked.is_agent,
    };
    match asked.character_id {
        Some(id) => character::change(&app, &caller, &id, wish).await,
        None => create(&app, &caller, wish.named()?).await,
    }
}

/// Makes a character of the caller's.
pub(super) async fn create(app: &App, caller: &Caller, name: String) -> Result<Response, Problem> {
    let name = proto::client::names::character_name(&name)
        .map_err(|why| Problem::invalid_name(why.to_string()))?;
    let spawn = app.content().spawn();
    let request = CreateCharacterRequest {
        account_id: caller.account_id.clone(),
        name,
        spawn: Some(proto::rpc::common::v1::Tile {
            x: spawn.x,
            z: spawn.z,
        }),
    };
    let made = app.accounts.create_character(request).await;
    let made = made.map_err(|status| refused(&status))?;
    let place = format!("/api/characters/{}", made.id);
    let body = Json(json!({"success": true, "character": shapes::summary(&made)}));
    Ok((StatusCode::CREATED, [(LOCATION, place)], body).into_response())
}

/// `GET /api/player`
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let reply = own(&app, &caller).await?;
    let characters: Vec<Value> = reply.characters.iter().map(shapes::summary).collect();
    let account = reply.account.as_ref().map(shapes::account);
    let answer = json!({"success": true, "account": account, "characters": characters});
    Ok(Json(answer).into_response())
}

/// Whose data are asked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Of {
    character_id: Option<String>,
    page: Option<u32>,
    limit: Option<u32>,
}

impl Of {
    /// The character that is meant: the one that is named, the only one, or the one that plays.
    async fn whom(&self, app: &App, caller: &Caller) -> Result<ProfileReply, Problem> {
        if let Some(id) = &self.character_id {
            return character::own(app, caller, id).await;
        }
        let reply = own(app, caller).await?;
        let all = &reply.characters;
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
}

/// What a route shows of a character.
pub(super) type Part = fn(&ProfileReply) -> Value;

/// The route that shows this part of a character of the caller's.
pub(super) fn shows(part: Part) -> Handler {
    get(
        move |State(app): State<Arc<App>>,
              Extension(caller): Extension<Caller>,
              Query(of): Query<Of>| async move {
            let profile = of.whom(&app, &caller).await?;
            let mut answer = part(&profile);
            answer["success"] = true.into();
            answer["characterId"] = profile.record.map(|record| record.id).into();
            Ok::<_, Problem>(Json(answer))
        },
    )
}

/// `GET /api/player/inventory`
pub(super) fn inventory(profile: &ProfileReply) -> Value {
    let coins = profile.record.as_ref().map_or(0, |record| record.coins);
    json!({"slots": 28, "coins": coins, "inventory": shapes::inventory(profile)})
}

/// `GET /api/player/equipment`
pub(super) fn equipment(profile: &ProfileReply) -> Value {
    json!({"equipment": shapes::equipment(profile)})
}

/// `GET /api/player/bank`
pub(super) fn bank(profile: &ProfileReply) -> Value {
    json!({"bank": shapes::bank(profile)})
}

/// `GET /api/player/statistics`
pub(super) fn statistics(profile: &ProfileReply) -> Value {
    let record = profile.record.clone().unwrap_or_default();
    let levels: u32 = record.skills.iter().map(|skill| skill.level).sum();
    let tenths: u64 = record.skills.iter().map(|skill| skill.xp_tenths).sum();
    json!({
        "combatLevel": record.combat_level,
        "totalLevel": levels,
        "totalXp": shapes::points(tenths),
        "skills": shapes::skills(profile),
        "kills": shapes::kills(profile),
        "logins": profile.logins,
        "playedSeconds": profile.played_ms / 1000,
        "createdAt": shapes::time(profile.created_at_ms),
        "lastLoginAt": shapes::time(profile.last_login_ms),
    })
}

/// `GET /api/player/sessions`
pub(super) async fn sessions(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Query(of): Query<Of>,
) -> Result<Response, Problem> {
    let (page, number) = Paging::new(of.page, of.limit).read()?;
    let profile = of.whom(&app, &caller).await?;
    let character_id = profile.record.unwrap_or_default().id;
    let ask = LoginsRequest {
        character_id: character_id.clone(),
        open: false,
        page: Some(page),
    };
    let reply = app.queries.logins(ask).await;
    let reply = reply.map_err(|status| refused(&status))?;
    let sessions: Vec<Value> = reply.rows.iter().map(shapes::login).collect();
    let answer = json!({
        "success": true,
        "characterId": character_id,
        "sessions": sessions,
        "pagination": Pagination::of(number, page, reply.total),
    });
    Ok(Json(answer).into_response())
}

#[cfg(test)]
mod tests {
    use proto::client::names::character_name;

    /// The words of a list in the page's script.
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
