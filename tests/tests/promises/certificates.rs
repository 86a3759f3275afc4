//! No process takes a call from one that may not make it: every method, on real servers, is asked by
//! callers without a certificate, with a foreign or an expired one, and in every role.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use proto::rpc::{
    METHODS,
    persistence::v1::{SuspectRequest, WatchRequest, directory_client::DirectoryClient},
    zone::v1::{Hello, ToZone, link_client::LinkClient, to_zone::Message},
};
use rustls::{
    ClientConfig, SupportedProtocolVersion,
    crypto::ring,
    pki_types::ServerName,
    version::{TLS12, TLS13},
};
use service_runtime::{
    any_name::AnyName,
    authority::Authority,
    rpc::{Pem, Role, Trust, access},
};
use tests::{
    cluster::{Cluster, Kind, Plan},
    dump::Directory,
    http,
};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout},
};
use tokio_rustls::TlsConnector;
use tonic::{
    Code, Status,
    body::Body,
    transport::{Channel, Endpoint},
};
use tower::{Service, ServiceExt};

const SOON: Duration = Duration::from_secs(10);

#[test]
fn every_method_has_roles_and_every_entry_is_a_method() {
    let mut methods = METHODS.to_vec();
    methods.sort_unstable();
    let entries: Vec<&str> = access::METHODS.iter().map(|(method, _)| *method).collect();
    assert_eq!(entries, methods);
}

/// Answer of a server to the opening of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// The connection does not open.
    Closed,
    /// Code and message; OK with the head of a stream.
    Said(Code, String),
}

impl Answer {
    /// Returns whether the call came through to a service, whatever that said of it.
    fn heard(&self) -> bool {
        match self {
            Self::Closed => false,
            Self::Said(Code::Unauthenticated | Code::Unimplemented, _) => false,
            Self::Said(_, text) => !text.contains("may not call /"),
        }
    }
}

/// Opens a call with an empty message.
async fn call(channel: &mut Channel, method: &str) -> Answer {
    let request = Request::post(method).header("content-type", "application/grpc");
    let message = Body::new(Full::new(Bytes::from_static(&[0; 5])));
    let request = request.body(message).expect("a request");
    let opened = async { channel.ready().await?.call(request).await };
    match timeout(SOON, opened).await.expect("an answer in time") {
        Err(_) => Answer::Closed,
        Ok(answer) => match Status::from_header_map(answer.headers()) {
            Some(status) => Answer::Said(status.code(), status.message().to_owned()),
            None => Answer::Said(Code::Ok, String::new()),
        },
    }
}

/// Returns a channel that shows no certificate, by this version of TLS.
fn without_certificate(address: &str, version: &'static SupportedProtocolVersion) -> Channel {
    let provider = Arc::new(ring::default_provider());
    let credulous = AnyName {
        roots: None,
        provider: Arc::clone(&provider),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .expect("a version")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(credulous))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    let connector = tower::service_fn(move |to: Uri| {
        let connector = TlsConnector::from(Arc::clone(&config));
        async move {
            let stream = TcpStream::connect(to.authority().expect("host:port").as_str()).await?;
            let name = ServerName::try_from("anybody").map_err(std::io::Error::other)?;
            connector.connect(name, stream).await.map(TokioIo::new)
        }
    });
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    endpoint.connect_with_connector_lazy(connector)
}

fn pem(authority: &Authority, role: Role, days: i64) -> Pem {
    let identity = format!("{role}/stranger").parse().expect("an identity");
    authority.issue(&identity, days).expect("a certificate")
}

/// Servers of a cluster: their roles and addresses.
fn servers(cluster: &Cluster) -> [(Role, String); 2] {
    [
        (Role::Persistence, cluster.persistence(0)),
        (Role::Zone, cluster.zone(0)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_method_is_closed_to_all_but_its_roles() {
    let cluster = Cluster::start(Plan::new("certificates").of(1, 1, 1)).await;
    let cluster = cluster.expect("a cluster");
    let mut served: BTreeMap<&str, usize> = BTreeMap::new();
    for (of, address) in servers(&cluster) {
        for role in Role::ALL {
            let trust = cluster.trust(role, "stranger").expect("a certificate");
            let mut channel = trust.channel(of, &address).expect("a channel");
            for (method, roles) in access::METHODS {
                let answer = call(&mut channel, method).await;
                if roles.contains(&role) {
                    let unknown = matches!(answer, Answer::Said(Code::Unimplemented, _));
                    assert!(answer.heard() || unknown, "{role} {method}: {answer:?}");
                    *served.entry(method).or_default() += usize::from(answer.heard());
                } else {
                    let said = format!("{role}/stranger may not call {method}");
                    assert_eq!(answer, Answer::Said(Code::PermissionDenied, said));
                }
            }
        }
        no_stranger(cluster.authority(), of, &address).await;
    }
    for (method, roles) in access::METHODS {
        // One kind of server has it, and hears each of its roles.
        assert_eq!(served.get(method), Some(&roles.len()), "{method}");
    }
    for (kind, number) in [(Kind::Persistence, 0), (Kind::Zone, 0)] {
        let probes = cluster.probes((kind, number)).expect("probes");
        let counted = http::get(&probes, "/metrics")
            .await
            .expect("metrics")
            .text();
        for reason in ["role", "certificate", "handshake"] {
            let line = counted.lines().find(|line| {
                line.starts_with("rpc_refused_total")
                    && line.contains(&format!("reason=\"{reason}\""))
            });
            assert!(line.is_some(), "{kind:?} {reason}: {counted}");
        }
        // The port of metrics and probes has nothing else.
        for path in ["/", "/status", "/debug", METHODS[0]] {
            let answer = http::get(&probes, path).await.expect("an answer");
            assert_eq!(answer.status, 404, "{kind:?} {path}");
        }
    }
}

/// Asks every method of a server as callers that it cannot know.
async fn no_stranger(ours: &Authority, of: Role, address: &str) {
    let theirs = Authority::new().expect("an authority");
    let mut nobody = without_certificate(address, &TLS13);
    let mut old = without_certificate(address, &TLS12);
    let plain = Trust::none().channel(of, address).expect("a channel");
    for (method, roles) in access::METHODS {
        let answer = call(&mut nobody, method).await;
        assert!(
            matches!(answer, Answer::Said(Code::Unauthenticated, _)),
            "no certificate, {method}: {answer:?}"
        );
        let foreign = Pem {
            authorities: ours.certificate().to_owned(),
            ..pem(&theirs, roles[0], 2)
        };
        let expired = pem(ours, roles[0], -2);
        let [mut foreign, mut expired] = [foreign, expired].map(|pem| {
            let trust = Trust::of(&pem).expect("trust");
            trust.channel(of, address).expect("a channel")
        });
        for (what, channel) in [
            ("unknown authority", &mut foreign),
            ("expired", &mut expired),
            ("plaintext", &mut plain.clone()),
            ("TLS 1.2", &mut old),
        ] {
            let answer = call(channel, method).await;
            assert_eq!(answer, Answer::Closed, "{what}, {method}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_takes_the_name_of_another_process() {
    let cluster = Cluster::start(Plan::new("names").of(1, 1, 1)).await;
    let cluster = cluster.expect("a cluster");
    let gateway = cluster.trust(Role::Gateway, "gateway-9").expect("trust");
    let zone = cluster.trust(Role::Zone, "zone-9").expect("trust");
    let store = cluster.persistence(0);
    let directory = |trust: &Trust| {
        let channel = trust.channel(Role::Persistence, &store);
        DirectoryClient::new(channel.expect("a channel"))
    };
    // On a busy machine, the zone server may just have lost its run and not have the next one yet.
    let begun = Instant::now();
    let run_id = loop {
        let known = Directory::fetch(cluster.operator(), &store).await;
        let known = known.expect("a directory");
        if let Some(run_id) = known.runs.keys().next() {
            break *run_id;
        }
        assert!(begun.elapsed() < SOON, "there is no run");
        sleep(Duration::from_millis(50)).await;
    };

    for (name, good) in [("gateway-9", true), ("gateway-0", false)] {
        let client = name.to_owned();
        let watched = directory(&gateway).watch(WatchRequest { client }).await;
        assert_eq!(watched.err().map(|no| no.code()), denied(good), "{name}");
        let channel = gateway.channel(Role::Zone, &cluster.zone(0));
        let hello = Hello {
            gateway_id: name.to_owned(),
            link: 1,
            run_id,
            typed_fields: false,
        };
        let hello = ToZone {
            message: Some(Message::Hello(hello)),
        };
        let (held, hellos) = tokio::sync::mpsc::channel(1);
        held.send(hello).await.expect("room");
        let hellos = tokio_stream::wrappers::ReceiverStream::new(hellos);
        let mut link = LinkClient::new(channel.expect("a channel"));
        let mut said = link.control(hellos).await.expect("a stream").into_inner();
        // A link with one stream of its pair says nothing. A refusal may take its time.
        let within = Duration::from_secs(if good { 1 } else { 30 });
        match timeout(within, said.message()).await {
            Ok(answer) => assert_eq!(answer.err().map(|no| no.code()), denied(good), "{name}"),
            Err(_) => assert!(good, "{name} was not refused"),
        }
    }
    for (trust, witness) in [
        (&gateway, "gateway:gateway-0"),
        (&gateway, "run:77"),
        (&zone, "gateway:zone-9"),
    ] {
        let witness = witness.to_owned();
        let said = SuspectRequest { run_id, witness };
        let refused = directory(trust).suspect(said.clone()).await;
        let code = refused.err().map(|no| no.code());
        assert_eq!(code, Some(Code::PermissionDenied), "{said:?}");
    }
}

fn denied(good: bool) -> Option<Code> {
    (!good).then_some(Code::PermissionDenied)
}
