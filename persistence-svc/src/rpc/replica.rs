//! `Replica`: the knowledge that this process has of itself.
//!
//! Always: nothing here asks the store, so that the answer comes while the store is slow.

use std::sync::Arc;
use std::time::Instant;

use proto::rpc::queries::v1::replica_server::Replica;
use proto::rpc::queries::v1::{Pool, SampleRequest, StatusReply, StatusRequest};
use proto::rpc::zone::v1::ProfilePart;
use service_runtime::profile;
use service_runtime::rpc::Parts;
use tonic::{Request, Response, Status, async_trait};

use super::Desk;
use crate::metrics::PoolUse;

/// Service of one process.
pub(crate) struct ReplicaService {
    pub(crate) desk: Arc<Desk>,
    /// Beginning of the process.
    pub(crate) began: Instant,
}

#[async_trait]
impl Replica for ReplicaService {
    type ProfileStream = Parts<ProfilePart>;

    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusReply>, Status> {
        let metrics = &self.desk.metrics;
        Ok(Response::new(StatusReply {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: self.began.elapsed().as_secs(),
            database: self.desk.store.system().to_owned(),
            commit_us: metrics.commit_us(),
            pool: metrics.pool().map(wire_pool),
        }))
    }

    async fn profile(
        &self,
        request: Request<SampleRequest>,
    ) -> Result<Response<Self::ProfileStream>, Status> {
        let seconds = request.into_inner().seconds;
        profile::answer(seconds, |data| ProfilePart { data }).await
    }
}

fn wire_pool(pool: PoolUse) -> Pool {
    let count = |some: usize| u32::try_from(some).unwrap_or(u32::MAX);
    Pool {
        in_use: count(pool.in_use),
        max: count(pool.max),
        waiting: count(pool.waiting),
    }
}
