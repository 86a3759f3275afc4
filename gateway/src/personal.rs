//! Personal data in the store: its export, and the removal of an account.
//!
//! Always: every call has a deadline; where a replica is away, the next one answers.

use proto::rpc::{
    personal::v1::{
        DeleteAccountRequest, Deletion, ExportReply, ExportRequest, OwnLedgerRequest,
        personal_client::PersonalClient,
    },
    queries::v1::LedgerEntry,
    social::v1::{ListRequest, Lists, social_client::SocialClient},
};
use service_runtime::rpc::{Answered, Replicas, Route};
use tonic::Status;

/// The longest answer: a page of the ledger, or an export.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Calls the persistence services.
pub(crate) struct Personal {
    replicas: Replicas,
}

fn at(channel: Route) -> PersonalClient<Route> {
    PersonalClient::new(channel).max_decoding_message_size(REPLY_BYTES_MAX)
}

impl Personal {
    /// Asks these.
    pub(crate) fn new(replicas: Replicas) -> Self {
        Self { replicas }
    }

    /// Removes an account. If a retry finds none, a replica without an answer has removed it.
    pub(crate) async fn delete(&self, ask: DeleteAccountRequest) -> Result<Deletion, Status> {
        let call = async |channel, ask| at(channel).delete_account(ask).await;
        let Answered { answer, again } = self.replicas.call_once(ask, call).await;
        Ok(match answer?.outcome() {
            Deletion::NotThere if again => Deletion::Done,
            outcome => outcome,
        })
    }

    /// Returns the personal data of an account that no other call gives.
    pub(crate) async fn export(&self, account_id: &str) -> Result<ExportReply, Status> {
        let account_id = account_id.to_owned();
        let call = async |channel, ask| at(channel).export(ask).await;
        self.replicas.call(ExportRequest { account_id }, call).await
    }

    /// Returns rows of the ledger of an account's character, newest first.
    pub(crate) async fn ledger(&self, ask: OwnLedgerRequest) -> Result<Vec<LedgerEntry>, Status> {
        let call = async |channel, ask| at(channel).ledger(ask).await;
        self.replicas.call(ask, call).await.map(|reply| reply.rows)
    }

    /// Returns the friends, requests and ignored players of an account's character.
    pub(crate) async fn lists(&self, ask: ListRequest) -> Result<Lists, Status> {
        let call = async |channel, ask| SocialClient::new(channel).list(ask).await;
        self.replicas.call(ask, call).await
    }
}
