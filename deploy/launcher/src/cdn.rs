//! The content server of a local world: the assets of its folder, and the built-in manifests if the
//! folder has none.
//!
//! Always: it serves on this machine only, and nothing but the world's assets. It reads a manifest
//! at each request, so that an edit shows at once.

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    Json, Router,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{banner, plan::Assets};

/// Cache header of answers that a client may keep for five minutes.
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300, must-revalidate");
/// A file has at most this many bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Time that an open request may take when the launcher stops.
const DRAIN: Duration = Duration::from_secs(1);

/// The server, with its port bound.
pub(crate) struct Cdn {
    pub(crate) address: SocketAddr,
    listener: TcpListener,
    assets: PathBuf,
}

impl Cdn {
    /// Binds its port. If another process has it, says so and binds another one.
    pub(crate) async fn bind(assets: &Assets) -> anyhow::Result<Self> {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let bound = TcpListener::bind(at(assets.port)).await;
        let taken = |kind| matches!(kind, ErrorKind::AddrInUse | ErrorKind::PermissionDenied);
        let (listener, other) = match bound {
            Err(error) if taken(error.kind()) => (TcpListener::bind(at(0)).await, true),
            bound => (bound, false),
        };
        let listener = listener.context("listen for requests for assets")?;
        let address = listener.local_addr().context("the bound address")?;
        if other {
            let port = assets.port;
            banner::show(&format!(
                "Port {port} is taken: assets and manifests are served on {address}.\n"
            ));
        }
        Ok(Self {
            address,
            listener,
            assets: assets.world.join("assets"),
        })
    }

    /// Serves until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let serving = axum::serve(self.listener, router(self.assets))
            .with_graceful_shutdown(stop.clone().cancelled_owned())
            .into_future();
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(DRAIN).await;
        };
        tokio::select! {
            served = serving => served.context("serve assets"),
            () = late => Ok(()),
        }
    }
}

fn router(assets: PathBuf) -> Router {
    let mut router = Router::new()
        .route("/health", get(|| async { Json(json!({"status": "ok"})) }))
        .route("/manifests/{*path}", get(manifest));
    for family in ["models", "audio", "world"] {
        let folder = Arc::new(assets.join(family));
        router = router.route(
            &format!("/{family}/{{*path}}"),
            get(move |path, headers| asset(folder, path, headers)),
        );
    }
    router
        .layer(middleware::from_fn(for_local_pages))
        .with_state(Arc::new(assets.join("manifests")))
}

/// Lets pages of this machine, which are on other ports, read the answer.
async fn for_local_pages(request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if let Some(origin) = origin.filter(local) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

fn local(origin: &HeaderValue) -> bool {
    let text = origin.to_str().unwrap_or_default();
    let host = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .map(|rest| rest.rsplit_once(':').map_or(rest, |(host, _)| host));
    matches!(host, Some("localhost" | "127.0.0.1" | "[::1]"))
}

async fn manifest(
    State(folder): State<Arc<PathBuf>>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path(path)) = path else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // If the folder has no manifests, the world plays the built-in ones.
    let text = if folder.join("npcs.json").is_file() {
        read(Arc::clone(&folder), path).await
    } else {
        content_loader::built_in(&path).map(|text| text.as_bytes().to_vec())
    };
    match text {
        Some(text) => answer(text, "application/json", FIVE_MINUTES, &headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn asset(
    folder: Arc<PathBuf>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let Ok(Path(path)) = path else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = kind(&path);
    match read(folder, path).await {
        Some(bytes) => answer(bytes, kind, HeaderValue::from_static("no-cache"), &headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Returns the bytes of a file inside the folder.
async fn read(folder: Arc<PathBuf>, path: String) -> Option<Vec<u8>> {
    let read = tokio::task::spawn_blocking(move || {
        let file = content_loader::inside(&folder, &path)?;
        let bytes = std::fs::metadata(&file).ok()?.len();
        (bytes <= BYTES_MAX).then(|| std::fs::read(file).ok())?
    });
    read.await.ok().flatten()
}

fn answer(bytes: Vec<u8>, kind: &'static str, cache: HeaderValue, headers: &HeaderMap) -> Response {
    let hash = Sha256::digest(&bytes);
    let hex: String = hash[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let tag = format!("\"{hex}\"");
    let asked = headers.get_all(header::IF_NONE_MATCH).iter();
    let known = asked
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .any(|asked| asked.trim().trim_start_matches("W/") == tag || asked.trim() == "*");
    let tag = HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"\""));
    let common: [(HeaderName, HeaderValue); 2] =
        [(header::ETAG, tag), (header::CACHE_CONTROL, cache)];
    if known {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(kind))];
    (common, kind, bytes).into_response()
}

/// Returns the type of a file, by the end of its name.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, end)| end) {
        "json" => "application/json",
        "glb" | "vrm" => "model/gltf-binary",
        "gltf" => "model/gltf+json",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ktx2" => "image/ktx2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_machine_are_local() {
        let is_local = |origin| local(&HeaderValue::from_static(origin));
        for origin in [
            "http://localhost:5555",
            "http://127.0.0.1:3333",
            "https://localhost",
            "http://[::1]:80",
        ] {
            assert!(is_local(origin), "{origin}");
        }
        for origin in [
            "http://localhost.example:80",
            "http://example",
            "null",
            "ftp://localhost",
        ] {
            assert!(!is_local(origin), "{origin}");
        }
    }
}
