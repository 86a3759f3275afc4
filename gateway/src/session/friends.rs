//! Friends and ignored players: passes a client's requests on to the keeper of its lists.

use proto::{
    client::{ErrorCode, RequestId},
    rpc::social::v1::change_request::Change,
};

use super::Session;
use crate::{
    clock,
    social::keeper::{Asked, FriendsRequest},
};

impl Session {
    /// Asks for a change of the lists.
    pub(super) fn change_lists(
        &mut self,
        re: Option<RequestId>,
        event: &'static str,
        change: Change,
    ) {
        self.befriend(re, event, FriendsRequest::Change(change));
    }

    /// Asks for the lists, or for a change of them. An account has at most 30 of these in a minute.
    pub(super) fn befriend(
        &mut self,
        re: Option<RequestId>,
        event: &'static str,
        request: FriendsRequest,
    ) {
        let budget = self.account.as_ref().and_then(|of| of.budget.as_ref());
        if let Some(Err(wait)) = budget.map(|budget| budget.lists(clock::instant())) {
            let words = ErrorCode::RateLimited.sentence();
            let event = Some(event.to_owned());
            self.refuse_with(re, event, ErrorCode::RateLimited, words, Some(wait));
            return;
        }
        let asked = Asked {
            re: re.clone(),
            event,
            request,
        };
        if let Err(code) = self.app.sessions.hub.ask(&self.handle.session_id, asked) {
            self.refuse(re, event, code);
        }
    }

    /// Sends the client its lists again, because it has forgotten everything.
    pub(super) fn tell_friends(&self) {
        let asked = Asked {
            re: None,
            event: "friends:list",
            request: FriendsRequest::List,
        };
        // If so many requests wait that there is no room, their answers tell the client its lists
        // anyway.
        let _ = self.app.sessions.hub.ask(&self.handle.session_id, asked);
    }
}
