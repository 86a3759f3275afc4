//! The version of the content that another process plays, and this process's version for others.
//!
//! Always: content from a peer passes the same checks as any other, and has the requested hash.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use arc_swap::ArcSwap;
use proto::rpc::content::v1::{
    Manifest, ManifestsRequest, content_client::ContentClient, content_server::Content as Service,
};
use service_runtime::rpc::{Role, Trust};
use tonic::{Request, Response, Status};

use crate::{
    Delivered, Files,
    agree::Run,
    deliver::playable,
    folder::{BYTES_MAX, TOTAL_BYTES_MAX},
    plan::Source,
};

/// Most bytes of one message: a manifest and its path.
const MESSAGE_BYTES_MAX: usize = BYTES_MAX as usize + 64 * 1024;
/// Time limit for all manifests of one process.
const WHOLE: Duration = Duration::from_secs(20);
const COUNT_MAX: usize = 1_000;

/// Version of the content that this process plays now. Clones share it.
#[derive(Debug, Clone)]
pub struct Shelf(Arc<ArcSwap<Delivered>>);

impl Shelf {
    /// Returns a shelf that holds `delivered`.
    pub fn new(delivered: Delivered) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(delivered)))
    }

    /// Returns the version on the shelf; another may take its place at any time.
    pub fn get(&self) -> Arc<Delivered> {
        self.0.load_full()
    }

    /// Replaces the version by another one.
    pub fn put(&self, delivered: Delivered) {
        self.0.store(Arc::new(delivered));
    }
}

/// Service that gives this process's version to other processes.
#[derive(Debug)]
pub struct ContentService(pub Shelf);

#[tonic::async_trait]
impl Service for ContentService {
    type ManifestsStream = tokio_stream::Iter<std::vec::IntoIter<Result<Manifest, Status>>>;

    async fn manifests(
        &self,
        request: Request<ManifestsRequest>,
    ) -> Result<Response<Self::ManifestsStream>, Status> {
        let (asked, ours) = (request.into_inner().content_hash, self.0.get());
        if asked != ours.content.hash() {
            return Err(Status::not_found("another version is played here"));
        }
        let files = ours.files.iter().map(|(path, text)| {
            Ok(Manifest {
                path: path.clone(),
                text: text.clone().into(),
            })
        });
        let files: Vec<_> = files.collect();
        Ok(Response::new(tokio_stream::iter(files)))
    }
}

/// Fetches the content from the first of `runs` that answers; they all play the same.
///
/// # Errors
/// No run gave the content.
pub async fn from_runs(trust: &Trust, runs: &[Run]) -> anyhow::Result<Delivered> {
    let mut last = anyhow::anyhow!("there is nobody to ask");
    for run in runs {
        let asked = tokio::time::timeout(WHOLE, from_peer(trust, &run.address, &run.content)).await;
        match asked.context("it took too long").flatten() {
            Ok(delivered) => return Ok(delivered),
            Err(error) => last = error.context(format!("run {} at {}", run.id, run.address)),
        }
    }
    Err(last)
}

async fn from_peer(trust: &Trust, address: &str, hash: &str) -> anyhow::Result<Delivered> {
    let channel = trust.channel(Role::Zone, address)?;
    let mut client = ContentClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let request = ManifestsRequest {
        content_hash: hash.to_owned(),
    };
    let mut stream = client.manifests(request).await?.into_inner();
    let (mut files, mut bytes) = (Files::new(), 0);
    while let Some(manifest) = stream.message().await? {
        bytes += manifest.text.len() as u64;
        anyhow::ensure!(
            bytes <= TOTAL_BYTES_MAX && files.len() < COUNT_MAX,
            "its manifests are too many or too long"
        );
        let text = String::from_utf8(manifest.text.into()).context("a manifest is not UTF-8")?;
        files.insert(manifest.path, text);
    }
    // A large world takes seconds to read, so the work runs where no other task waits.
    let read = tokio::task::spawn_blocking(move || playable(files, Source::Zone, false));
    let delivered = read.await?.map_err(anyhow::Error::msg)?;
    anyhow::ensure!(
        delivered.content.hash() == hash,
        "what came is another version"
    );
    Ok(delivered)
}
