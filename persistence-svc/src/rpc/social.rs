//! `Social`: friends and ignored players.

use std::sync::Arc;

use proto::rpc::social::v1 as wire;
use proto::rpc::social::v1::change_request::Change as Asked;
use proto::rpc::social::v1::social_server::Social;
use tonic::{Request, Response, Status, async_trait};

use super::model::{Checked, count, text};
use super::{Desk, malformed};
use crate::store::social::{Change, Lists, Outcome, Who};
use crate::store::unsigned;

/// The service.
pub(crate) struct SocialService(pub(crate) Arc<Desk>);

#[async_trait]
impl Social for SocialService {
    async fn list(
        &self,
        request: Request<wire::ListRequest>,
    ) -> Result<Response<wire::Lists>, Status> {
        let ask = request.into_inner();
        let work = async {
            let who = who(ask.account_id, ask.character_id)?;
            lists(self.0.arrivals.lists.ask(who).await?)
        };
        self.0.answer("SocialList", work).await
    }

    async fn change(
        &self,
        request: Request<wire::ChangeRequest>,
    ) -> Result<Response<wire::ChangeReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let who = who(ask.account_id, ask.character_id)?;
            let change = change(ask.change)?;
            let changed = self.0.store.change_lists(who, change).await?;
            Ok(wire::ChangeReply {
                outcome: outcome(changed.outcome).into(),
                lists: Some(lists(changed.lists)?),
                other: changed.other.unwrap_or_default(),
            })
        };
        self.0.answer("SocialChange", work).await
    }
}

fn who(account_id: String, character_id: String) -> Checked<Who> {
    Ok(Who {
        account_id: text("account_id", account_id)?,
        character_id: text("character_id", character_id)?,
    })
}

fn change(asked: Option<Asked>) -> Checked<Change> {
    Ok(match asked {
        Some(Asked::Request(name)) => Change::Request(text("request", name)?),
        Some(Asked::Accept(id)) => Change::Accept(text("accept", id)?),
        Some(Asked::Decline(id)) => Change::Decline(text("decline", id)?),
        Some(Asked::Remove(id)) => Change::Remove(text("remove", id)?),
        Some(Asked::Ignore(name)) => Change::Ignore(text("ignore", name)?),
        Some(Asked::Unignore(id)) => Change::Unignore(text("unignore", id)?),
        None => return Err(malformed("change is missing")),
    })
}

fn outcome(outcome: Outcome) -> wire::Outcome {
    match outcome {
        Outcome::Done => wire::Outcome::Done,
        Outcome::NoSuchPlayer => wire::Outcome::NoSuchPlayer,
        Outcome::NotThere => wire::Outcome::NotThere,
        Outcome::Yourself => wire::Outcome::Yourself,
        Outcome::AlreadyFriends => wire::Outcome::AlreadyFriends,
        Outcome::AlreadyRequested => wire::Outcome::AlreadyRequested,
        Outcome::AlreadyIgnored => wire::Outcome::AlreadyIgnored,
        Outcome::FriendLimit => wire::Outcome::FriendLimit,
        Outcome::IgnoreLimit => wire::Outcome::IgnoreLimit,
    }
}

fn lists(lists: Lists) -> Checked<wire::Lists> {
    let friends = lists.friends.into_iter().map(|friend| {
        Ok(wire::Friend {
            character_id: friend.character_id,
            name: friend.name,
            combat_level: count(friend.combat_level)?,
            last_login_ms: unsigned(friend.last_login_ms)?,
        })
    });
    let requests = lists.requests.into_iter().map(|request| {
        Ok(wire::FriendRequest {
            id: request.id,
            from_id: request.from_id,
            from_name: request.from_name,
            to_id: request.to_id,
            to_name: request.to_name,
            at_ms: unsigned(request.at_ms)?,
        })
    });
    let ignored = lists.ignored.into_iter().map(|ignored| {
        Ok(wire::Ignored {
            character_id: ignored.character_id,
            name: ignored.name,
            account_id: ignored.account_id,
            added_ms: unsigned(ignored.added_ms)?,
        })
    });
    Ok(wire::Lists {
        friends: friends.collect::<Checked<_>>()?,
        requests: requests.collect::<Checked<_>>()?,
        ignored: ignored.collect::<Checked<_>>()?,
    })
}
