//! Looking on: the rights of a spectator's token on the WebSocket.
//!
//! Always: a spectator acts on nothing and hears nothing private, not even of the characters of its
//! own account. It sees these characters wherever they are. Beyond them it sees only areas in which
//! players cannot attack each other, so that it is no lookout for anybody.

use std::time::Duration;

use proto::client::{
    ClientMessage, ErrorCode, Message, Refusal, RequestId,
    watch::{WorldWatch, WorldWatching},
};
use world::{Region, Tile};

use super::{Flow, Session};
use crate::{auth::accounts, auth::tokens::Scope, zone_link::Look};

const EVENT: &str = "world:watch";
/// Pause between two searches for a character that is in the world but not in sight.
const LOOK: Duration = Duration::from_secs(2);
/// Pause between two searches for a character that is not in the world.
const LOOK_RARELY: Duration = Duration::from_secs(10);

/// Character that a spectator follows.
pub(super) struct Followed {
    character_id: String,
    /// State of which the client knows.
    online: bool,
    at: Tile,
}

/// Refusal: a code, and words for it.
struct No(ErrorCode, &'static str);

impl No {
    fn of(code: ErrorCode) -> Self {
        Self(code, code.sentence())
    }
}

/// Present or last place of a character.
struct Found {
    at: Tile,
    online: bool,
}

impl Session {
    /// Returns whether the session came by a spectator's token.
    pub(super) fn looks_on(&self) -> bool {
        let account = self.account.as_ref();
        account.is_some_and(|account| account.scope == Scope::Spectator)
    }

    /// Returns whether the session's token is good for a message of this kind.
    pub(super) fn may_say(&self, message: &Message) -> bool {
        let watches = matches!(message, Message::Gateway(ClientMessage::WorldWatch(_)));
        if self.account.is_none() {
            return true;
        }
        if !self.looks_on() {
            return !watches;
        }
        watches
            || matches!(
                message,
                Message::Gateway(
                    ClientMessage::Ping(_)
                        | ClientMessage::CharacterList(_)
                        | ClientMessage::Authenticate(_)
                        | ClientMessage::Resume(_)
                )
            )
    }

    /// Makes the session look at the place or character that the client names.
    pub(super) async fn watch(&mut self, re: Option<RequestId>, data: WorldWatch) {
        let looked = match (data.character_id, data.area) {
            (Some(character_id), _) => self.follow(character_id).await,
            (None, area) => self.look_at(&area.unwrap_or_default()),
        };
        match looked {
            Ok(watching) => self.show(re, watching),
            Err(No(code, why)) => {
                self.refuse_with(re, Some(EVENT.to_owned()), code, why, None);
            }
        }
    }

    async fn follow(&mut self, character_id: String) -> Result<WorldWatching, No> {
        let own = self.app.auth.accounts.characters(&self.account_id()).await;
        let own = own.map_err(|status| No::of(accounts::refusal(&status)))?;
        if own.iter().all(|character| character.id != character_id) {
            return Err(No::of(ErrorCode::NotYourCharacter));
        }
        let found = self.whereabouts(&character_id).await.map_err(No::of)?;
        let nowhere = "the character was never in the world";
        let found = found.ok_or(No(ErrorCode::Refused(Refusal::NotFound), nowhere))?;
        self.followed = Some(Followed {
            character_id: character_id.clone(),
            online: found.online,
            at: found.at,
        });
        Ok(WorldWatching {
            online: Some(found.online),
            character_id: Some(character_id),
            area: None,
            x: found.at.x,
            z: found.at.z,
        })
    }

    fn look_at(&mut self, id: &str) -> Result<WorldWatching, No> {
        let content = self.app.content();
        let area = content.areas().iter().find(|area| area.id == id);
        let area = area.ok_or(No(
            ErrorCode::Refused(Refusal::NotFound),
            "there is no such area",
        ))?;
        if area.pvp {
            let why = "areas in which players may attack each other are not shown";
            return Err(No(ErrorCode::WrongScope, why));
        }
        self.followed = None;
        let bounds = area.bounds;
        Ok(WorldWatching {
            character_id: None,
            online: None,
            area: Some(area.id.clone()),
            x: i32::midpoint(bounds.min_x, bounds.max_x),
            z: i32::midpoint(bounds.min_z, bounds.max_z),
        })
    }

    /// Tells the client its new view, and shows that.
    fn show(&mut self, re: Option<RequestId>, watching: WorldWatching) {
        let Some(screen) = self.socket.as_ref().map(|socket| socket.screen) else {
            return;
        };
        let look = Look {
            screen,
            mailbox: self.mailbox.clone(),
            follows: watching.character_id.as_deref().map(Into::into),
            position: Tile {
                x: watching.x,
                z: watching.z,
            },
        };
        self.answer(re, &watching);
        self.app.zones.look(&self.handle.session_id, look);
        self.look_later();
    }

    /// Checks on the followed character: seeks it if it went out of sight.
    pub(super) async fn look_again(&mut self) -> Flow {
        let Some(Followed {
            character_id,
            online,
            at,
        }) = &self.followed
        else {
            return Flow::On;
        };
        let (character_id, online, at) = (character_id.clone(), *online, *at);
        let in_sight = self.app.zones.sees(&self.handle.session_id);
        if in_sight && online {
            self.look_later();
            return Flow::On;
        }
        // If the search fails now, the session asks again.
        let Ok(Some(found)) = self.whereabouts(&character_id).await else {
            self.look_later();
            return Flow::On;
        };
        if let Some(followed) = &mut self.followed {
            followed.online = found.online;
            followed.at = found.at;
        }
        if found.online != online || (!in_sight && found.at != at) {
            let watching = WorldWatching {
                character_id: Some(character_id),
                online: Some(found.online),
                area: None,
                x: found.at.x,
                z: found.at.z,
            };
            self.show(None, watching);
        }
        self.look_later();
        Flow::On
    }

    fn look_later(&mut self) {
        match &self.followed {
            Some(followed) if followed.online => self.timers.wake_in(LOOK),
            Some(_) => self.timers.wake_in(LOOK_RARELY),
            None => self.timers.rest(),
        }
    }

    /// Returns a character's place from the best source: a session of this gateway, the zone that
    /// plays it, or the store. `None`: it was never anywhere.
    async fn whereabouts(&self, character_id: &str) -> Result<Option<Found>, ErrorCode> {
        if let Some(at) = self.app.zones.stands(character_id) {
            return Ok(Some(Found { at, online: true }));
        }
        let profile = self.app.queries.profile(character_id).await;
        let profile = profile.map_err(|status| accounts::refusal(&status))?;
        let record = profile.record.unwrap_or_default();
        let region = record.region.unwrap_or_default();
        let region = Region {
            x: region.x,
            z: region.z,
        };
        if profile.online {
            let view = self.app.zones.directory();
            let now = self
                .app
                .live_queries
                .whereabouts(&view, region, character_id);
            if let Some(now) = now.await {
                let at = Tile { x: now.x, z: now.z };
                return Ok(Some(Found { at, online: true }));
            }
        }
        let at = Tile {
            x: record.x,
            z: record.z,
        };
        Ok(record.placed.then_some(Found {
            at,
            online: profile.online,
        }))
    }
}
