//! A gateway, or several, with a store and a zone behind it.

use std::{net::SocketAddr, time::Duration};

use gateway::{Config, Server};
use service_runtime::{
    config::{Env, Reader},
    telemetry::{Telemetry, TelemetryConfig},
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{client::Client, store::Store, zone::Zone};

pub(crate) struct Stage {
    pub(crate) zone: Zone,
    pub(crate) store: Store,
    bus: String,
    gateways: Vec<Gateway>,
}

struct Gateway {
    address: SocketAddr,
    telemetry: Telemetry,
    /// Whether every connection begins with a header of the PROXY protocol.
    proxied: bool,
    stop: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Stage {
    /// Opens a stage with one gateway of these settings.
    pub(crate) async fn open(settings: &[(&str, &str)]) -> Self {
        let zone = Zone::start().await;
        let store = Store::start(&zone.address).await;
        let mut stage = Self {
            zone,
            store,
            bus: uuid::Uuid::new_v4().to_string(),
            gateways: Vec::new(),
        };
        stage.add_gateway(settings).await;
        stage
    }

    pub(crate) async fn add_gateway(&mut self, settings: &[(&str, &str)]) {
        let mut env = Env::from_pairs([
            ("PORT", "0"),
            ("NODE_ENV", "test"),
            ("SKIP_MANIFESTS", "true"),
            ("PERSISTENCE_ADDRESSES", self.store.address.as_str()),
            ("LOCAL_BUS", self.bus.as_str()),
            ("DRAIN_SECONDS", "0"),
        ]);
        for (name, value) in settings {
            env.set(*name, *value);
        }
        let mut reader = Reader::new(env);
        let config = Config::read(&mut reader);
        reader.finish().unwrap();
        let telemetry = Telemetry::new("gateway", &TelemetryConfig::default()).unwrap();
        let server = Server::bind(config, telemetry.clone()).await.unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        let running = tokio::spawn(server.run(stop.clone()));
        self.gateways.push(Gateway {
            address,
            telemetry,
            proxied: settings.contains(&("PROXY_PROTOCOL", "on")),
            stop,
            running,
        });
        let index = self.gateways.len() - 1;
        self.ready(index).await;
    }

    async fn ready(&self, index: usize) {
        let asked = async {
            while !self.is_ready(index).await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(Duration::from_secs(20), asked)
            .await
            .expect("never ready");
    }

    /// Returns whether a gateway says that it can take players.
    pub(crate) async fn is_ready(&self, index: usize) -> bool {
        let local = match self.gateways[index].proxied {
            true => "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
            false => "",
        };
        let request = "GET /readyz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
        self.ask(index, &format!("{local}{request}"))
            .await
            .starts_with("HTTP/1.1 200")
    }

    pub(crate) fn address(&self, index: usize) -> SocketAddr {
        self.gateways[index].address
    }

    /// Returns the whole answer to a GET, as text.
    pub(crate) async fn get(&self, index: usize, path: &str) -> String {
        let head = format!("GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
        let answer = self.ask(index, &head).await;
        crate::conforms::check("GET", path, &answer).await;
        answer
    }

    /// Returns the whole answer to a request, as text.
    pub(crate) async fn ask(&self, index: usize, request: &str) -> String {
        crate::client::ask(self.address(index), request).await
    }

    /// Returns value of a counter or gauge, all its labels together.
    pub(crate) fn metric(&self, name: &str, label: &str) -> f64 {
        self.metric_at(0, name, label)
    }

    /// Returns the same of one gateway.
    pub(crate) fn metric_at(&self, index: usize, name: &str, label: &str) -> f64 {
        let text = self.gateways[index].telemetry.render_metrics();
        let lines = text
            .lines()
            .filter(|line| line.starts_with(name) && line.contains(label));
        lines
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }

    /// Connects a client that has said nothing yet.
    pub(crate) async fn connect(&self) -> Client {
        Client::connect(self.address(0), "").await
    }

    /// Returns a client that is in the world with a new character of this name, at gateway `index`.
    pub(crate) async fn player_at(&self, index: usize, name: &str) -> Client {
        let mut client = Client::connect(self.address(index), "").await;
        client.log_in().await;
        client.enter(name).await;
        client
    }

    pub(crate) async fn player(&self, name: &str) -> Client {
        self.player_at(0, name).await
    }

    /// Asks a gateway to stop; gives when.
    pub(crate) fn begin_stop(&self, index: usize) -> std::time::Instant {
        self.gateways[index].stop.cancel();
        std::time::Instant::now()
    }

    /// Stops a gateway; it must end in order.
    pub(crate) async fn stop(&mut self, index: usize) {
        let gateway = self.gateways.remove(index);
        gateway.stop.cancel();
        let ended = timeout(Duration::from_secs(10), gateway.running).await;
        ended.expect("did not end").unwrap().unwrap();
    }
}
