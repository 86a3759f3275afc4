//! A gateway shows the content that the zones play.

use std::{pin::Pin, time::Duration};

use content_loader::{ContentServer, ContentService, Delivered, Files, Shelf, Source};
use proto::rpc::persistence::v1::{
    DirectoryUpdate, Run, RunState, SuspectReply, SuspectRequest, WatchRequest,
    directory_server::{Directory, DirectoryServer},
};
use service_runtime::{
    config::{Env, Reader},
    telemetry::{Telemetry, TelemetryConfig},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, server::NamedService};
use world::Content;

/// A directory with one zone in it.
struct One(Run);

#[tonic::async_trait]
impl Directory for One {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<DirectoryUpdate, Status>> + Send>>;

    async fn suspect(&self, _: Request<SuspectRequest>) -> Result<Response<SuspectReply>, Status> {
        Ok(Response::new(SuspectReply {}))
    }

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let whole = DirectoryUpdate {
            version: 1,
            incarnation: 1,
            runs: vec![self.0.clone()],
            ..DirectoryUpdate::default()
        };
        let updates = tokio_stream::once(Ok(whole)).chain(tokio_stream::pending());
        Ok(Response::new(Box::pin(updates)))
    }
}

/// Returns the built-in content with other music.
fn other() -> Delivered {
    let files = Content::embedded_files().iter();
    let mut files: Files = files
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    files.insert("music.json".to_owned(), "[]  ".to_owned());
    Delivered {
        content: Content::load(&files).unwrap().content.into(),
        files: files.into(),
        source: Source::Folder,
    }
}

async fn serve<S>(service: S) -> String
where
    S: tower::Service<
            axum::http::Request<tonic::body::Body>,
            Error = std::convert::Infallible,
            Response = axum::http::Response<tonic::body::Body>,
            Future: Send,
        > + NamedService
        + Clone
        + Send
        + Sync
        + 'static,
{
    let acceptor = service_runtime::rpc::Acceptor::default();
    let router = acceptor.server().add_service(service);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(acceptor.serve(router, listener, CancellationToken::new()));
    address
}

async fn get(address: std::net::SocketAddr, path: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_that_the_zones_play_is_taken_over_from_them() {
    service_runtime::run::install_crypto();
    let played = other();
    let version = played.content.hash().to_owned();
    let content = ContentServer::new(ContentService(Shelf::new(played)));
    let zone = serve(content).await;
    let run = Run {
        run_id: 1,
        address: zone,
        state: RunState::Live.into(),
        content_hash: version.clone(),
        ..Run::default()
    };
    let store = serve(DirectoryServer::new(One(run))).await;
    let mut reader = Reader::new(Env::from_pairs([
        ("PORT", "0"),
        ("NODE_ENV", "test"),
        ("SKIP_MANIFESTS", "true"),
        ("PERSISTENCE_ADDRESSES", store.as_str()),
    ]));
    let config = gateway::Config::read(&mut reader);
    reader.finish().unwrap();
    let telemetry = Telemetry::new("gateway", &TelemetryConfig::default()).unwrap();
    let server = gateway::Server::bind(config, telemetry).await.unwrap();
    let (address, stop) = (server.address(), CancellationToken::new());
    let running = tokio::spawn(server.run(stop.clone()));

    let first = get(address, "/status").await;
    assert!(first.contains(Content::embedded().hash()), "{first}");
    let shown = format!("\"version\":\"{version}\"");
    let until = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let status = get(address, "/status").await;
        if status.contains(&shown) {
            assert!(status.contains("\"source\":\"zone\""), "{status}");
            break;
        }
        assert!(tokio::time::Instant::now() < until, "still {status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(
        get(address, "/manifests/music.json")
            .await
            .ends_with("\r\n\r\n[]  ")
    );
    assert!(get(address, "/world/terrain.json").await.contains(&version));
    stop.cancel();
    running.await.unwrap().unwrap();
}
