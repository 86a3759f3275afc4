//! Servers and channels with certificates, over real connections.

use std::{fs, path::PathBuf, time::Duration};

use axum::http::Request;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::timeout,
};
use tonic::{Code, Status, body::Body, service::Routes};
use tower::{Service, ServiceExt};

use super::*;
use crate::{
    authority::Authority,
    config::{Env, Reader},
};

/// A method that gateways may call, and zones may not.
const OF_GATEWAYS: &str = "/tilestead.zone.v1.Link/Control";

fn pem(authority: &Authority, identity: &str, days: i64) -> Pem {
    let identity = identity.parse().unwrap();
    authority.issue(&identity, days).unwrap()
}

fn trust(authority: &Authority, identity: &str) -> Trust {
    Trust::of(&pem(authority, identity, 2)).unwrap()
}

/// Starts a server without any service; returns its address.
async fn serve(trust: &Trust) -> String {
    serve_by(|meter| Acceptor::new(trust, meter)).await
}

async fn serve_by(made: impl FnOnce(&Meter) -> Acceptor) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let meter = NoopMeterProvider::new().meter("test");
    let acceptor = made(&meter);
    let router = acceptor.server().add_routes(Routes::default());
    tokio::spawn(acceptor.serve(router, listener, CancellationToken::new()));
    address
}

/// Calls a method. UNIMPLEMENTED: the guard let the call through.
async fn call(channel: &mut Channel, path: &str) -> Code {
    let request = Request::post(path).header("content-type", "application/grpc");
    let request = request.body(Body::empty()).unwrap();
    let answer = match channel.ready().await {
        Ok(ready) => timeout(DEADLINE * 2, ready.call(request)).await.unwrap(),
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => Status::from_header_map(answer.headers()).unwrap().code(),
        Err(_) => Code::Unavailable,
    }
}

async fn ask(trust: &Trust, address: &str, path: &str) -> Code {
    let mut channel = trust.channel(Role::Zone, address).unwrap();
    call(&mut channel, path).await
}

/// Opens a connection without tonic. The value: it gets GOAWAY.
async fn told_to_leave(address: &str) -> impl Future<Output = bool> {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let executor = hyper_util::rt::TokioExecutor::new();
    let opened = hyper::client::conn::http2::handshake(executor, TokioIo::new(stream));
    let (mut sender, connection) = opened.await.unwrap();
    let connection = tokio::spawn(connection);
    // The server has taken the connection when it answers.
    let request = Request::post(format!("http://{address}{OF_GATEWAYS}"));
    let request = request.header("content-type", "application/grpc");
    let answer = sender.send_request(request.body(String::new()).unwrap());
    answer.await.unwrap();
    async move {
        // Without GOAWAY it stays as long as somebody may ask.
        let ended = timeout(Duration::from_secs(3), connection).await;
        drop(sender);
        ended.is_ok()
    }
}

#[tokio::test]
async fn a_server_that_closes_its_gate_tells_its_callers_to_leave_and_refuses_calls() {
    let gate = Gate::default();
    let server = serve_by(|meter| Acceptor::new(&Trust::none(), meter).behind(gate.clone())).await;
    let mut channel = Trust::none().channel(Role::Zone, &server).unwrap();
    assert_eq!(call(&mut channel, OF_GATEWAYS).await, Code::Unimplemented);
    let open = told_to_leave(&server).await;
    gate.set(false);
    assert!(open.await, "a connection stays");
    // New connections open, and each call on them is refused.
    assert_eq!(call(&mut channel, OF_GATEWAYS).await, Code::Unavailable);
    gate.set(true);
    assert_eq!(call(&mut channel, OF_GATEWAYS).await, Code::Unimplemented);
    assert!(
        !told_to_leave(&server).await.await,
        "an open gate sends callers away"
    );
    gate.set(false);
    assert_eq!(call(&mut channel, OF_GATEWAYS).await, Code::Unavailable);
}

#[tokio::test]
async fn a_connection_of_age_is_told_to_leave() {
    let server = serve_by(|meter| Acceptor {
        age: Some(Duration::from_millis(200)),
        ..Acceptor::new(&Trust::none(), meter)
    });
    let server = server.await;
    assert!(told_to_leave(&server).await.await);
}

#[tokio::test]
async fn a_call_needs_the_role_of_its_method() {
    let authority = Authority::new().unwrap();
    let zone = serve(&trust(&authority, "zone/z")).await;
    for (identity, path, code) in [
        ("gateway/g", OF_GATEWAYS, Code::Unimplemented),
        ("gateway/*", OF_GATEWAYS, Code::Unimplemented),
        ("zone/y", OF_GATEWAYS, Code::PermissionDenied),
        ("persistence/p", OF_GATEWAYS, Code::PermissionDenied),
        ("operator/o", OF_GATEWAYS, Code::PermissionDenied),
        (
            "gateway/g",
            "/tilestead.zone.v1.Link/New",
            Code::PermissionDenied,
        ),
        (
            "gateway/g",
            "/grpc.health.v1.Health/Check",
            Code::PermissionDenied,
        ),
    ] {
        let caller = trust(&authority, identity);
        assert_eq!(ask(&caller, &zone, path).await, code, "{identity} {path}");
    }
}

#[tokio::test]
async fn strangers_and_plaintext_do_not_get_in() {
    let (ours, theirs) = (Authority::new().unwrap(), Authority::new().unwrap());
    let zone = serve(&trust(&ours, "zone/z")).await;
    let foreign = Pem {
        authorities: ours.certificate().to_owned(),
        ..pem(&theirs, "gateway/g", 2)
    };
    let expired = pem(&ours, "gateway/g", -2);
    for caller in [Trust::of(&foreign), Trust::of(&expired), Ok(Trust::none())] {
        let caller = caller.unwrap();
        let code = ask(&caller, &zone, OF_GATEWAYS).await;
        assert_eq!(code, Code::Unavailable, "{caller:?}");
    }
    // Without TLS on the other side, nobody with certificates speaks to it.
    let open = serve(&Trust::none()).await;
    let gateway = trust(&ours, "gateway/g");
    assert_eq!(ask(&gateway, &open, OF_GATEWAYS).await, Code::Unavailable);
    assert_eq!(
        ask(&Trust::none(), &open, OF_GATEWAYS).await,
        Code::Unimplemented
    );
}

#[tokio::test]
async fn a_channel_reaches_only_the_role_that_it_is_for() {
    let (ours, theirs) = (Authority::new().unwrap(), Authority::new().unwrap());
    let gateway = trust(&ours, "gateway/g");
    for (server, code) in [
        (trust(&ours, "zone/z"), Code::Unimplemented),
        (trust(&ours, "gateway/h"), Code::Unavailable),
        (trust(&ours, "persistence/p"), Code::Unavailable),
        (trust(&theirs, "zone/z"), Code::Unavailable),
        (
            Trust::of(&pem(&ours, "zone/z", -2)).unwrap(),
            Code::Unavailable,
        ),
    ] {
        let address = serve(&server).await;
        assert_eq!(
            ask(&gateway, &address, OF_GATEWAYS).await,
            code,
            "{server:?}"
        );
    }
}

/// Files of an identity in a folder of their own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, pem: &Pem) -> Self {
        let folder = format!("ts-tls-{}-{name}", std::process::id());
        let folder = Self(std::env::temp_dir().join(folder));
        fs::create_dir_all(&folder.0).unwrap();
        folder.write(pem);
        folder
    }

    fn write(&self, pem: &Pem) {
        fs::write(self.0.join("ca.pem"), &pem.authorities).unwrap();
        fs::write(self.0.join("cert.pem"), &pem.certificate).unwrap();
        fs::write(self.0.join("key.pem"), &pem.key).unwrap();
    }

    fn settings(&self) -> [(&'static str, String); 3] {
        let path = |file: &str| self.0.join(file).display().to_string();
        [
            ("INTERNAL_TLS_CA", path("ca.pem")),
            ("INTERNAL_TLS_CERT", path("cert.pem")),
            ("INTERNAL_TLS_KEY", path("key.pem")),
        ]
    }

    fn trust(&self, role: Role) -> Trust {
        let mut reader = Reader::new(Env::from_pairs(self.settings()));
        let trust = Trust::read(&mut reader, role);
        reader.finish().unwrap();
        trust
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits until a new connection of `caller` ends in `code`.
async fn until(caller: &Trust, address: &str, code: Code) {
    let reached = async {
        while ask(caller, address, OF_GATEWAYS).await != code {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let reached = timeout(RELOAD * 4, reached).await;
    assert!(reached.is_ok(), "{caller:?} was never answered {code:?}");
}

#[tokio::test]
async fn changed_files_count_for_new_connections_and_open_ones_stay() {
    let (old, new) = (Authority::new().unwrap(), Authority::new().unwrap());
    let folder = Folder::new("changed", &pem(&old, "zone/z", 2));
    let server = folder.trust(Role::Zone);
    let address = serve(&server).await;
    tokio::spawn(server.clone().follow());
    let (before, after) = (trust(&old, "gateway/g"), trust(&new, "gateway/g"));
    let mut open = before.channel(Role::Zone, &address).unwrap();
    assert_eq!(call(&mut open, OF_GATEWAYS).await, Code::Unimplemented);
    assert_eq!(ask(&after, &address, OF_GATEWAYS).await, Code::Unavailable);

    folder.write(&pem(&new, "zone/z", 2));
    until(&after, &address, Code::Unimplemented).await;
    until(&before, &address, Code::Unavailable).await;
    assert_eq!(call(&mut open, OF_GATEWAYS).await, Code::Unimplemented);

    // Files that cannot be used change nothing.
    let good = pem(&new, "zone/z", 2);
    for broken in [
        Pem {
            key: "no key".to_owned(),
            ..good.clone()
        },
        Pem {
            key: pem(&new, "zone/z", 2).key,
            ..good.clone()
        },
        pem(&old, "zone/another", 2),
        pem(&old, "gateway/z", 2),
    ] {
        folder.write(&broken);
        tokio::time::sleep(RELOAD + RELOAD / 2).await;
        assert_eq!(
            ask(&after, &address, OF_GATEWAYS).await,
            Code::Unimplemented
        );
    }
    // The next good ones count again.
    folder.write(&pem(&old, "zone/z", 2));
    until(&before, &address, Code::Unimplemented).await;
}

#[tokio::test]
async fn a_caller_appears_under_its_new_certificate() {
    let (old, new) = (Authority::new().unwrap(), Authority::new().unwrap());
    let folder = Folder::new("caller", &pem(&old, "gateway/g", 2));
    let caller = folder.trust(Role::Gateway);
    tokio::spawn(caller.clone().follow());
    let address = serve(&trust(&new, "zone/z")).await;
    // The same channel connects again, with what the files say by then.
    let mut channel = caller.channel(Role::Zone, &address).unwrap();
    assert_eq!(call(&mut channel, OF_GATEWAYS).await, Code::Unavailable);
    folder.write(&pem(&new, "gateway/g", 2));
    let reached = async {
        while call(&mut channel, OF_GATEWAYS).await != Code::Unimplemented {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(RELOAD * 4, reached).await.unwrap();
}

#[test]
fn production_needs_certificates_or_says_that_something_else_protects() {
    let authority = Authority::new().unwrap();
    let folder = Folder::new("settings", &pem(&authority, "zone/z", 2));
    let [ca, cert, key] = folder.settings();
    let all = vec![ca.clone(), cert.clone(), key];
    let with = |mut more: Vec<(&'static str, String)>, mode: &str, environment: &str| {
        more.push(("INTERNAL_TLS", mode.to_owned()));
        more.push(("NODE_ENV", environment.to_owned()));
        let mut reader = Reader::new(Env::from_pairs(more));
        let trust = Trust::read(&mut reader, Role::Zone);
        let problems = reader.finish().err().map(|error| error.to_string());
        (trust.identity().is_some(), problems)
    };
    for environment in ["development", "production"] {
        for mode in ["auto", "on"] {
            assert_eq!(with(all.clone(), mode, environment), (true, None));
        }
        assert_eq!(with(all.clone(), "off", environment), (false, None));
        assert_eq!(with(Vec::new(), "off", environment), (false, None));
        let (on, problems) = with(Vec::new(), "on", environment);
        assert!(!on && problems.unwrap().contains("INTERNAL_TLS_CA"));
        let (on, problems) = with(vec![ca.clone(), cert.clone()], "auto", environment);
        assert!(!on && problems.unwrap().contains("INTERNAL_TLS_KEY"));
        let (on, problems) = with(all.clone(), "maybe", environment);
        assert!(!on && problems.unwrap().contains("auto, on or off"));
    }
    assert_eq!(with(Vec::new(), "auto", "development"), (false, None));
    let (on, problems) = with(Vec::new(), "auto", "production");
    assert!(!on && problems.unwrap().contains("INTERNAL_TLS=off"));
    // Another role's certificate is none.
    folder.write(&pem(&authority, "gateway/z", 2));
    let (on, problems) = with(all, "auto", "development");
    assert!(!on && problems.unwrap().contains("gateway/z"));
}

/// A server that speaks HTTP/2 frame by frame.
struct Frames(tokio::net::TcpStream);

/// Types of frames, as RFC 9113 numbers them.
mod frame {
    pub(super) const DATA: u8 = 0;
    pub(super) const HEADERS: u8 = 1;
    pub(super) const RST_STREAM: u8 = 3;
    pub(super) const SETTINGS: u8 = 4;
    pub(super) const PING: u8 = 6;
    pub(super) const GOAWAY: u8 = 7;
}

impl Frames {
    /// Takes one connection.
    async fn accept(listener: TcpListener) -> Self {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).await.unwrap();
        let mut frames = Self(stream);
        frames.put(frame::SETTINGS, 0, 0, &[]).await;
        frames
    }

    async fn put(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut out = vec![length[1], length[2], length[3], kind, flags];
        out.extend(stream.to_be_bytes());
        out.extend(payload);
        self.0.write_all(&out).await.unwrap();
    }

    /// Returns the next frame that needs no answer of the connection itself: its type and stream.
    async fn next(&mut self) -> (u8, u32) {
        loop {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).await.unwrap();
            let [a, b, c, kind, flags, stream @ ..] = head;
            let length = u32::from_be_bytes([0, a, b, c]) as usize;
            let mut payload = vec![0; length];
            self.0.read_exact(&mut payload).await.unwrap();
            let acknowledges = flags & 1 == 1;
            match kind {
                frame::SETTINGS | frame::PING if acknowledges => {}
                frame::SETTINGS => self.put(kind, 1, 0, &[]).await,
                frame::PING => self.put(kind, 1, 0, &payload).await,
                _ => return (kind, u32::from_be_bytes(stream)),
            }
        }
    }

    /// Begins an answer with 200 and one byte.
    async fn answer(&mut self, stream: u32) {
        self.put(frame::HEADERS, 4, stream, &[0x88]).await;
        self.put(frame::DATA, 0, stream, &[0]).await;
    }
}

async fn frames() -> (TcpListener, Channel) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let channel = Trust::none().channel(Role::Zone, &address).unwrap();
    (listener, channel)
}

fn post() -> Request<Body> {
    Request::post(OF_GATEWAYS).body(Body::empty()).unwrap()
}

#[tokio::test]
async fn a_connection_outlives_thousands_of_calls_that_were_given_up() {
    const GIVEN_UP: usize = 10_000;
    let (listener, channel) = frames().await;
    let (came, all_came) = tokio::sync::oneshot::channel();
    let server = tokio::spawn(async move {
        let mut frames = Frames::accept(listener).await;
        let mut calls = Vec::new();
        while calls.len() < GIVEN_UP {
            let (kind, stream) = frames.next().await;
            calls.extend((kind == frame::HEADERS).then_some(stream));
        }
        came.send(()).unwrap();
        let mut given_up = 0;
        while given_up < GIVEN_UP {
            given_up += usize::from(frames.next().await.0 == frame::RST_STREAM);
        }
        // These answers come too late.
        for stream in calls {
            frames.answer(stream).await;
        }
        let last = loop {
            if let (frame::HEADERS, stream) = frames.next().await {
                break stream;
            }
        };
        frames.answer(last).await;
        frames
    });
    let call = || {
        let mut channel = channel.clone();
        async move { channel.ready().await?.call(post()).await }
    };
    tokio::select! {
        _ = futures::future::join_all((0..GIVEN_UP).map(|_| call())) => panic!("answered"),
        came = all_came => came.unwrap(),
    }
    let answer = timeout(DEADLINE * 2, call()).await.unwrap().unwrap();
    assert_eq!(answer.status(), 200);
    drop(server.await.unwrap());
}

#[tokio::test]
async fn a_connection_that_ends_under_a_call_refuses_nothing() {
    /// NO_ERROR, INTERNAL_ERROR, ENHANCE_YOUR_CALM and INADEQUATE_SECURITY.
    const ERRORS: [u8; 4] = [0x0, 0x2, 0xb, 0xc];
    for error in ERRORS {
        let (listener, mut channel) = frames().await;
        let server = tokio::spawn(async move {
            let mut frames = Frames::accept(listener).await;
            while frames.next().await.0 != frame::HEADERS {}
            let last = [0, 0, 0, 0, 0, 0, 0, error];
            frames.put(frame::GOAWAY, 0, 0, &last).await;
            // The peer closes the connection.
            let _ = frames.0.read_to_end(&mut Vec::new()).await;
        });
        let call = async {
            let ready = channel.ready().await.unwrap();
            let answer = ready.call(post()).await;
            answer
                .map(tonic::Response::new)
                .map_err(|error| Status::from_error(error.into()))
        };
        let failure = bounded(call).await.unwrap_err();
        assert_eq!(failure.code(), Code::Unavailable, "{failure}");
        server.abort();
    }
}
