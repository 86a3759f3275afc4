//! Reads of the store for lists, dashboards and operators, and changes of characters that are not
//! in the world.
//!
//! Always: every call has a deadline; a replica that is away is answered for by the next one. All
//! of these calls may be made twice.

use proto::rpc::{
    persistence::v1::{CharacterSummary, DrainRequest, runs_client::RunsClient},
    queries::v1::{
        ChangeCharacterRequest, LedgerReply, LedgerRequest, LoginsReply, LoginsRequest,
        PauseRegionRequest, ProfileReply, ProfileRequest, QuarantinedReply, QuarantinedRequest,
        RankingReply, RankingRequest, RegionsReply, RegionsRequest, ReleaseCharacterRequest,
        ResumeRegionRequest, TotalsReply, TotalsRequest, UsersReply, UsersRequest,
        changes_client::ChangesClient, queries_client::QueriesClient,
    },
};
use service_runtime::rpc::{Replicas, Route};
use tonic::Status;

/// The longest answer: a page of accounts, a profile, all regions.
const REPLY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Asks the persistence services.
pub(crate) struct Queries {
    replicas: Replicas,
}

fn queries(channel: Route) -> QueriesClient<Route> {
    QueriesClient::new(channel).max_decoding_message_size(REPLY_BYTES_MAX)
}

fn changes(channel: Route) -> ChangesClient<Route> {
    ChangesClient::new(channel)
}

impl Queries {
    /// Asks these.
    pub(crate) fn new(replicas: Replicas) -> Self {
        Self { replicas }
    }

    /// Returns all that the store knows of a character.
    pub(crate) async fn profile(&self, character_id: &str) -> Result<ProfileReply, Status> {
        let character_id = character_id.to_owned();
        let call = async |channel, ask| queries(channel).profile(ask).await;
        self.replicas
            .call(ProfileRequest { character_id }, call)
            .await
    }

    /// Returns the best characters of a list.
    pub(crate) async fn ranking(&self, ask: RankingRequest) -> Result<RankingReply, Status> {
        let call = async |channel, ask| queries(channel).ranking(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Returns logins, newest first.
    pub(crate) async fn logins(&self, ask: LoginsRequest) -> Result<LoginsReply, Status> {
        let call = async |channel, ask| queries(channel).logins(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Returns accounts, newest first.
    pub(crate) async fn users(&self, ask: UsersRequest) -> Result<UsersReply, Status> {
        let call = async |channel, ask| queries(channel).users(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Returns the numbers of accounts and characters, and whether exchanges are frozen.
    pub(crate) async fn totals(&self) -> Result<TotalsReply, Status> {
        let call = async |channel, ask| queries(channel).totals(ask).await;
        self.replicas.call(TotalsRequest {}, call).await
    }

    /// Returns rows of the ledger, newest first.
    pub(crate) async fn ledger(&self, ask: LedgerRequest) -> Result<LedgerReply, Status> {
        let call = async |channel, ask| queries(channel).ledger(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Returns the runs that play each region.
    pub(crate) async fn regions(&self) -> Result<RegionsReply, Status> {
        let call = async |channel, ask| queries(channel).regions(ask).await;
        self.replicas.call(RegionsRequest {}, call).await
    }

    /// Returns the characters that are quarantined.
    pub(crate) async fn quarantined(&self) -> Result<QuarantinedReply, Status> {
        let call = async |channel, ask| queries(channel).quarantined(ask).await;
        self.replicas.call(QuarantinedRequest {}, call).await
    }

    /// Changes a character that is not in the world.
    pub(crate) async fn change_character(
        &self,
        ask: ChangeCharacterRequest,
    ) -> Result<CharacterSummary, Status> {
        let call = async |channel, ask| changes(channel).change_character(ask).await;
        self.replicas.call(ask, call).await
    }

    /// Lets a quarantined character in again; whether it was quarantined.
    pub(crate) async fn release_character(&self, id: &str) -> Result<bool, Status> {
        let character_id = id.to_owned();
        let ask = ReleaseCharacterRequest { character_id };
        let call = async |channel, ask| changes(channel).release_character(ask).await;
        self.replicas
            .call(ask, call)
            .await
            .map(|reply| reply.changed)
    }

    /// Keeps a region from being played; whether it was not paused before.
    pub(crate) async fn pause_region(&self, ask: PauseRegionRequest) -> Result<bool, Status> {
        let call = async |channel, ask| changes(channel).pause_region(ask).await;
        self.replicas
            .call(ask, call)
            .await
            .map(|reply| reply.changed)
    }

    /// Lets a paused region be played again; whether it was paused.
    pub(crate) async fn resume_region(&self, ask: ResumeRegionRequest) -> Result<bool, Status> {
        let call = async |channel, ask| changes(channel).resume_region(ask).await;
        self.replicas
            .call(ask, call)
            .await
            .map(|reply| reply.changed)
    }

    /// Has a run give its regions away.
    pub(crate) async fn drain(&self, run_id: u64) -> Result<(), Status> {
        let call = async |channel, ask| RunsClient::new(channel).drain(ask).await;
        self.replicas
            .call(DrainRequest { run_id }, call)
            .await
            .map(|_| ())
    }
}
