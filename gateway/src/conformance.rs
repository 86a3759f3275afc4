//! The WebSocket as RFC 6455 has it: Autobahn's cases against an echo behind the same socket.
//!
//! Always: every case passes, except those in [`LEFT_OUT`], which names the reason.

use std::{
    convert::Infallible,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use axum::body::Body;
use fastwebsockets::upgrade;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use proto::client::{CloseCode, Format};
use service_runtime::telemetry::{Telemetry, TelemetryConfig};
use tokio::{
    net::{TcpListener, TcpStream},
    task::spawn_blocking,
};

use crate::{
    http::upgrade::halves,
    mailbox::Mailbox,
    metrics::Metrics,
    screen::Screen,
    socket::{Bounds, Inbound, Reports, Socket},
    spans::Spans,
};

/// The greatest message of the cases, and the greatest number of parts of one.
const BOUNDS: Bounds = Bounds {
    bytes: 16 * 1024 * 1024,
    parts: 300_000,
    // Cases measure how fast frames are answered.
    frames_per_second: 1_000_000_000,
};
/// Cases that do not run: they test compression, which the gateway does not support.
const LEFT_OUT: [&str; 2] = ["12.*", "13.*"];
/// Longest time for all cases, in seconds.
const LIMIT_S: &str = "60";

/// Sends each message back.
async fn echo(mut socket: Socket, mailbox: Mailbox) {
    loop {
        let (code, why) = match socket.inbound.recv().await.map(|inbound| *inbound) {
            Some(Inbound::Message { text, bytes }) => {
                mailbox.echo(text, bytes);
                continue;
            }
            Some(Inbound::Ping(payload)) if mailbox.pong(payload.clone()) => continue,
            Some(Inbound::Ping(_)) => (CloseCode::Policy, "too many pings"),
            Some(Inbound::Closed(_)) => (CloseCode::Normal, "goodbye"),
            Some(Inbound::Broken(code, why)) => (code, why),
            Some(Inbound::Ended) | None => return,
        };
        mailbox.close(code, why);
        let _ = (&mut socket.writer).await;
        return socket.part();
    }
}

async fn serve(stream: TcpStream, reports: Reports) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        let reports = reports.clone();
        async move {
            let Ok((response, upgraded)) = upgrade::upgrade(&mut request) else {
                return Ok::<_, Infallible>(Response::new(Body::empty()));
            };
            tokio::spawn(async move {
                let (read, write) = halves(upgraded).await.expect("no upgrade");
                let mailbox = Mailbox::new();
                let socket = Socket::bounded(
                    read,
                    write,
                    Screen::all(Format::Json),
                    mailbox.clone(),
                    reports,
                    Duration::from_secs(10),
                    BOUNDS,
                );
                echo(socket, mailbox).await;
            });
            Ok(response.map(Body::new))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A case may end its connection as it likes.
    let _ = connection.await;
}

/// Returns the path of kosoku: from the variable that `tests/run` sets, else found on the `PATH`.
fn kosoku() -> PathBuf {
    std::env::var_os("KOSOKU").map_or_else(|| "kosoku".into(), PathBuf::from)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cases_of_autobahn_pass() {
    let telemetry = Telemetry::new("echo", &TelemetryConfig::default()).unwrap();
    let reports = Reports {
        metrics: Metrics::new(&telemetry.meter()),
        spans: Spans::new(&telemetry),
        tasks: service_runtime::tasks::TaskGroup::default(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            tokio::spawn(serve(stream, reports.clone()));
        }
    });
    let out = std::env::temp_dir().join(format!("kosoku-{}", uuid::Uuid::new_v4()));
    let mut command = Command::new("timeout");
    command.arg(LIMIT_S).arg(kosoku());
    command.args(["--mode", "fuzzingclient", "--parallelism", "8"]);
    for case in LEFT_OUT {
        command.args(["--exclude", case]);
    }
    command
        .arg("--outdir")
        .arg(&out)
        .arg(format!("ws://{address}"));
    command.stdin(Stdio::null());
    let ended = spawn_blocking(move || command.output());
    let ended = ended.await.unwrap().expect("no `timeout` to run it with");
    let _ = std::fs::remove_dir_all(&out);
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (said(&ended.stdout), said(&ended.stderr));
    let missing = "kosoku is missing: `pip install kosoku==0.1.0`, or name it in KOSOKU";
    assert_ne!(ended.status.code(), Some(127), "{missing}");
    assert_ne!(ended.status.code(), Some(124), "the cases took too long");
    assert!(ended.status.success(), "{stdout}\n{stderr}");
    let passed = stdout
        .lines()
        .find_map(|line| line.strip_suffix(" cases passed"));
    let passed: usize = passed.expect("no count").parse().unwrap();
    assert!(passed >= 300, "only {passed} cases were run");
}
