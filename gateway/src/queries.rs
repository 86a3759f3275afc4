//! What lists, dashboards and operators read of the store, and what is changed there at rest.
//!
//! Always: every call has a deadline; a replica that is away is answered for by the next one. All
//! of these calls may be made twice.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use chassis::rpc;
use proto::rpc::{
    persistence::v1::{CharacterSummary, DrainRequest, runs_client::RunsClient},
    queries::v1::{
        ChangeCharacterRequest, LedgerReply, LedgerRequest, LoginsReply, LoginsRequest,
        ProfileReply, ProfileRequest, QuarantinedReply, QuarantinedRequest, RankingReply,
        RankingRequest, RegionsReply, RegionsRequest, ReleaseCharacterRequest, ResumeRegionRequest,
        TotalsReply, TotalsRequest, UsersReply, UsersRequest, changes_client::ChangesClient,
        queries_client::QueriesClient,
    },
};
use tonic::{Code, Status, transport::Channel};

/// The longest answer: a page of accounts, a profile, all regions.
const REPLY_BYTES_MAX: usize = 16 * 1024 * 1024;

struct Replica {
    queries: QueriesClient<Channel>,
    changes: ChangesClient<Channel>,
    runs: RunsClient<Channel>,
}

/// Asks the persistence services.
pub(crate) struct Queries {
    replicas: Vec<Replica>,
    current: AtomicUsize,
}

/// Calls `$service.$method` at one replica after the other until one answers.
macro_rules! call {
    ($self:ident, $service:ident.$method:ident, $request:expr) => {{
        let request = $request;
        let mut last = Status::unavailable("no persistence service is configured");
        let first = $self.current.load(Ordering::Relaxed);
        for step in 0..$self.replicas.len() {
            let index = (first + step) % $self.replicas.len();
            let mut client = $self.replicas[index].$service.clone();
            match rpc::bounded(client.$method(request.clone())).await {
                Err(status) if away(&status) => last = status,
                answer => {
                    $self.current.store(index, Ordering::Relaxed);
                    return answer;
                }
            }
        }
        Err(last)
    }};
}

impl Queries {
    /// Connects when first used.
    pub(crate) fn new(addresses: &[String]) -> anyhow::Result<Self> {
        let replica = |address: &String| {
            let channel = rpc::channel(address)?;
            Ok(Replica {
                queries: QueriesClient::new(channel.clone())
                    .max_decoding_message_size(REPLY_BYTES_MAX),
                changes: ChangesClient::new(channel.clone()),
                runs: RunsClient::new(channel),
            })
        };
        let replicas = addresses.iter().map(replica);
        Ok(Self {
            replicas: replicas
                .collect::<anyhow::Result<_>>()
                .context("PERSISTENCE_ADDRESSES")?,
            current: AtomicUsize::new(0),
        })
    }

    /// All that is known of a character.
    pub(crate) async fn profile(&self, character_id: &str) -> Result<ProfileReply, Status> {
        let character_id = character_id.to_owned();
        call!(self, queries.profile, ProfileRequest { character_id })
    }

    /// The best at something.
    pub(crate) async fn ranking(&self, ask: RankingRequest) -> Result<RankingReply, Status> {
        call!(self, queries.ranking, ask)
    }

    /// Logins, newest first.
    pub(crate) async fn logins(&self, ask: LoginsRequest) -> Result<LoginsReply, Status> {
        call!(self, queries.logins, ask)
    }

    /// Accounts, newest first.
    pub(crate) async fn users(&self, ask: UsersRequest) -> Result<UsersReply, Status> {
        call!(self, queries.users, ask)
    }

    /// How much there is of everything.
    pub(crate) async fn totals(&self) -> Result<TotalsReply, Status> {
        call!(self, queries.totals, TotalsRequest {})
    }

    /// The ledger, newest first.
    pub(crate) async fn ledger(&self, ask: LedgerRequest) -> Result<LedgerReply, Status> {
        call!(self, queries.ledger, ask)
    }

    /// Who plays which region.
    pub(crate) async fn regions(&self) -> Result<RegionsReply, Status> {
        call!(self, queries.regions, RegionsRequest {})
    }

    /// Who is kept out of the world.
    pub(crate) async fn quarantined(&self) -> Result<QuarantinedReply, Status> {
        call!(self, queries.quarantined, QuarantinedRequest {})
    }

    /// Changes a character that is not in the world.
    pub(crate) async fn change_character(
        &self,
        ask: ChangeCharacterRequest,
    ) -> Result<CharacterSummary, Status> {
        call!(self, changes.change_character, ask)
    }

    /// Lets a quarantined character in again; whether it was quarantined.
    pub(crate) async fn release_character(&self, id: &str) -> Result<bool, Status> {
        let character_id = id.to_owned();
        let ask = ReleaseCharacterRequest { character_id };
        let asked = async { call!(self, changes.release_character, ask) };
        asked.await.map(|reply| reply.changed)
    }

    /// Lets a paused region be played again; whether it was paused.
    pub(crate) async fn resume_region(&self, ask: ResumeRegionRequest) -> Result<bool, Status> {
        let asked = async { call!(self, changes.resume_region, ask) };
        asked.await.map(|reply| reply.changed)
    }

    /// Has a run give its regions away.
    pub(crate) async fn drain(&self, run_id: u64) -> Result<(), Status> {
        let asked = async { call!(self, runs.drain, DrainRequest { run_id }) };
        asked.await.map(|_| ())
    }
}

/// The replica did not answer; another one may.
fn away(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::DeadlineExceeded | Code::Unknown | Code::Cancelled
    )
}
