//! Friends and ignored players: what a client asks is passed on to whoever keeps its lists.

use proto::{
    client::{ClientMessage, ErrorCode, RequestId},
    rpc::social::v1::change_request::Change,
};

use super::{Session, state};
use crate::{
    clock,
    social::hub::friends::{Asked, Wish},
};

impl Session {
    /// Asks for the lists, or for a change of them. At most 30 of these in a minute, of an account.
    pub(super) fn befriend(&mut self, re: Option<RequestId>, message: ClientMessage) {
        let event = message.name();
        let Some(wish) = wish(message) else {
            self.refuse(re, event, ErrorCode::UnknownEvent);
            return;
        };
        let budget = self.account.as_ref().and_then(|of| of.budget.as_ref());
        if let Some(Err(wait)) = budget.map(|budget| budget.lists(clock::instant())) {
            let words = state::words(ErrorCode::RateLimited);
            let event = Some(event.to_owned());
            self.refuse_with(re, event, ErrorCode::RateLimited, words, Some(wait));
            return;
        }
        let asked = Asked {
            re: re.clone(),
            event,
            wish,
        };
        if let Err(code) = self.app.hub.ask(&self.handle.session_id, asked) {
            self.refuse(re, event, code);
        }
    }

    /// The client has forgotten everything: it is told its lists again.
    pub(super) fn tell_friends(&self) {
        let asked = Asked {
            re: None,
            event: "friends:list",
            wish: Wish::List,
        };
        // Whoever has asked so much that there is no room is told them anyway.
        let _ = self.app.hub.ask(&self.handle.session_id, asked);
    }
}

fn wish(message: ClientMessage) -> Option<Wish> {
    Some(match message {
        ClientMessage::FriendsList(_) => Wish::List,
        ClientMessage::RequestFriend(ask) => Wish::Change(Change::Request(ask.name)),
        ClientMessage::AcceptFriend(ask) => Wish::Change(Change::Accept(ask.request_id)),
        ClientMessage::DeclineFriend(ask) => Wish::Change(Change::Decline(ask.request_id)),
        ClientMessage::RemoveFriend(ask) => Wish::Change(Change::Remove(ask.friend_id)),
        ClientMessage::Ignore(ask) => Wish::Change(Change::Ignore(ask.name)),
        ClientMessage::Unignore(ask) => Wish::Change(Change::Unignore(ask.ignored_id)),
        _ => return None,
    })
}
