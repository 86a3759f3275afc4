//! Friends and ignored players as the store keeps them.
//!
//! Always: every call has a deadline. The next replica answers for one that is away. A change that
//! a silent replica may have made counts as done if the store has it.

use proto::rpc::social::v1::{
    ChangeReply, ChangeRequest, ListRequest, Lists, Outcome, change_request::Change,
    social_client::SocialClient,
};
use service_runtime::rpc::{Answered, Replicas};
use tonic::Status;

use super::presence::Present;

/// Client of the persistence services.
pub(crate) struct Book {
    replicas: Replicas,
}

impl Book {
    /// Asks these.
    pub(crate) fn new(replicas: Replicas) -> Self {
        Self { replicas }
    }

    /// Returns all lists of a character.
    pub(crate) async fn lists(&self, of: &Present) -> Result<Lists, Status> {
        let ask = ListRequest {
            account_id: of.account_id.clone(),
            character_id: of.character_id.clone(),
        };
        let call = async |channel, ask| SocialClient::new(channel).list(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Changes the lists.
    pub(crate) async fn change(
        &self,
        of: &Present,
        change: &Change,
    ) -> Result<ChangeReply, Status> {
        let ask = ChangeRequest {
            account_id: of.account_id.clone(),
            character_id: of.character_id.clone(),
            change: Some(change.clone()),
        };
        let call = async |channel, ask| SocialClient::new(channel).change(ask).await;
        let Answered { answer, again } = self.replicas.call_once(ask, call).await;
        answer.map(|reply| settle(reply, change, again))
    }
}

/// Returns the reply with the outcome `Done` if an earlier call may have made the change and it is
/// so.
fn settle(mut reply: ChangeReply, change: &Change, uncertain: bool) -> ChangeReply {
    if uncertain && is_so(reply.outcome(), change) {
        reply.outcome = Outcome::Done.into();
    }
    reply
}

/// Returns whether the store has the requested change, by this request or another.
fn is_so(outcome: Outcome, change: &Change) -> bool {
    match change {
        Change::Request(_) => {
            matches!(outcome, Outcome::AlreadyRequested | Outcome::AlreadyFriends)
        }
        Change::Ignore(_) => outcome == Outcome::AlreadyIgnored,
        Change::Accept(_) | Change::Decline(_) | Change::Remove(_) | Change::Unignore(_) => {
            outcome == Outcome::NotThere
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_have_happened_before_counts_as_done() {
        let request = Change::Request("Bob".to_owned());
        let reply = |outcome: Outcome| ChangeReply {
            outcome: outcome.into(),
            ..ChangeReply::default()
        };
        let so = |outcome, change: &Change, uncertain| {
            settle(reply(outcome), change, uncertain).outcome()
        };
        let asked = Outcome::AlreadyRequested;
        assert_eq!(so(asked, &request, false), asked);
        assert_eq!(so(asked, &request, true), Outcome::Done);
        let limit = Outcome::FriendLimit;
        assert_eq!(so(limit, &request, true), limit);
        let remove = Change::Remove("c".to_owned());
        assert_eq!(so(Outcome::NotThere, &remove, true), Outcome::Done);
        assert_eq!(so(Outcome::NotThere, &request, true), Outcome::NotThere);
    }
}
