//! A fake directory, which pushes what a test orders.

use std::{pin::Pin, sync::Arc};

use proto::rpc::{
    common::v1 as common,
    persistence::v1::{
        self as persistence, DirectoryUpdate, SuspectReply, SuspectRequest, WatchRequest,
        directory_server::{Directory as DirectoryService, DirectoryServer},
    },
};
use tokio::{net::TcpListener, sync::watch};
use tokio_stream::{Stream, StreamExt, wrappers::WatchStream};
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

use super::fakes::Zone;

#[derive(Clone)]
pub(super) struct Directory {
    pub(super) address: String,
    pushes: Arc<watch::Sender<DirectoryUpdate>>,
    /// Runs that the gateway suspects, each with the witness's name.
    pub(super) suspected: Arc<watch::Sender<Vec<(u64, String)>>>,
}

impl Directory {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let pushes = Arc::new(watch::Sender::new(DirectoryUpdate::default()));
        let directory = Self {
            address,
            pushes,
            suspected: Arc::default(),
        };
        let serving = tonic::transport::Server::builder()
            .add_service(DirectoryServer::new(directory.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(serving);
        directory
    }

    /// Pushes a directory in which the region at home is paused and nobody's.
    pub(super) fn pause(&self) {
        self.pushes.send_modify(|update| {
            update.version += 1;
            for row in &mut update.regions {
                row.run_id = 0;
                row.epoch = update.version;
                row.paused = true;
            }
        });
    }

    /// Pushes a directory in which these runs live and one owns the region at home.
    pub(super) fn push(&self, runs: &[&Zone], owner: &Zone) {
        let run = |zone: &&Zone| persistence::Run {
            run_id: zone.run,
            address: zone.address.clone(),
            state: persistence::RunState::Live.into(),
            ..Default::default()
        };
        self.pushes.send_modify(|update| {
            update.version += 1;
            update.incarnation = 1;
            update.runs = runs.iter().map(run).collect();
            update.regions = vec![persistence::RegionOwner {
                region: Some(common::Region { x: 0, z: 0 }),
                run_id: owner.run,
                epoch: update.version,
                ..Default::default()
            }];
        });
    }
}

#[tonic::async_trait]
impl DirectoryService for Directory {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<DirectoryUpdate, Status>> + Send>>;

    async fn watch(
        &self,
        _request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let pushes = WatchStream::new(self.pushes.subscribe()).map(Ok);
        Ok(Response::new(Box::pin(pushes)))
    }

    async fn suspect(
        &self,
        request: Request<SuspectRequest>,
    ) -> Result<Response<SuspectReply>, Status> {
        let SuspectRequest { run_id, witness } = request.into_inner();
        self.suspected
            .send_modify(|all| all.push((run_id, witness)));
        Ok(Response::new(SuspectReply {}))
    }
}
