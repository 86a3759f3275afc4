//! Every instrument of the gateway's own part. No label names a player.

use service_runtime::instruments::counter;
use std::{sync::Arc, time::Duration};

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Gauge, Histogram, Meter, UpDownCounter},
};

/// The instruments; cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Instruments>);

struct Instruments {
    connections: UpDownCounter<i64>,
    sessions: UpDownCounter<i64>,
    clients: UpDownCounter<i64>,
    messages: Counter<u64>,
    frames_out: Counter<u64>,
    bytes_out: Counter<u64>,
    bytes_in: Counter<u64>,
    resumes: Counter<u64>,
    draining: Counter<u64>,
    closes: Counter<u64>,
    auth_attempts: Counter<u64>,
    mailbox_full: Counter<u64>,
    waits: WaitInstruments,
    bus: BusInstruments,
    requests: Counter<u64>,
    limited: Counter<u64>,
    limited_alone: Counter<u64>,
    agent_runtime: Counter<u64>,
    proxy_refused: Counter<u64>,
}

/// Histograms of times for which clients wait.
struct WaitInstruments {
    update_share: Histogram<f64>,
    answers: Histogram<f64>,
    turns: Histogram<f64>,
    requests: Histogram<f64>,
}

impl WaitInstruments {
    fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, what: &'static str, bounds: &[f64]| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(what)
                .with_boundaries(bounds.to_vec())
                .build()
        };
        Self {
            update_share: seconds(
                "gateway_update_share_seconds",
                "From a tick's frame at the gateway to its bytes at the socket",
                &[
                    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
                ],
            ),
            answers: seconds(
                "gateway_answer_seconds",
                "From a request to its answer at the socket, for moves and for all others",
                &[
                    0.05, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 1.2, 1.8, 2.5, 5.0, 10.0,
                ],
            ),
            turns: seconds(
                "gateway_turn_wait_seconds",
                "From asking for a turn to having it, by what it is for",
                &[0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0],
            ),
            requests: seconds(
                "gateway_http_request_seconds",
                "From an HTTP request's head to its answer's head, by method and route",
                &[0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0],
            ),
        }
    }
}

/// Instruments of chat and presence between gateways.
struct BusInstruments {
    chat: Counter<u64>,
    dropped: Counter<u64>,
    wait: Histogram<f64>,
    nodes: Gauge<u64>,
    chat_left: Gauge<u64>,
}

impl BusInstruments {
    fn new(meter: &Meter) -> Self {
        Self {
            chat: counter(
                meter,
                "gateway_chat_total",
                "Chat messages by channel and outcome",
            ),
            dropped: counter(
                meter,
                "gateway_bus_dropped_total",
                "Messages from other gateways, or news for them, lost for want of room",
            ),
            wait: meter
                .f64_histogram("gateway_bus_wait_seconds")
                .with_unit("s")
                .with_description("From a message's arrival from the bus to its handling")
                .with_boundaries(vec![0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0])
                .build(),
            nodes: meter
                .u64_gauge("gateway_bus_nodes")
                .with_description("Nodes of the Redis Cluster by whether they answer")
                .build(),
            chat_left: meter
                .u64_gauge("gateway_global_chat_left")
                .with_description("Messages of global chat that would pass at the last one")
                .build(),
        }
    }
}

impl Metrics {
    pub(crate) fn new(meter: &Meter) -> Self {
        let counter = |name, what| counter(meter, name, what);
        let level = |name: &'static str, what: &'static str| {
            meter
                .i64_up_down_counter(name)
                .with_description(what)
                .build()
        };
        Self(Arc::new(Instruments {
            connections: level("gateway_connections", "Sockets that are open"),
            sessions: level("gateway_sessions", "Sessions by state"),
            clients: level(
                "gateway_clients",
                "Clients with an open socket by kind and subprotocol",
            ),
            messages: counter(
                "gateway_messages_total",
                "Messages from clients by event and verdict",
            ),
            frames_out: counter(
                "gateway_frames_out_total",
                "Messages written to clients by kind",
            ),
            bytes_out: counter("gateway_bytes_out_total", "Bytes written to clients"),
            bytes_in: counter("gateway_bytes_in_total", "Bytes of messages from clients"),
            resumes: counter("gateway_resumes_total", "Resumes by outcome"),
            draining: counter(
                "gateway_draining_sessions_total",
                "Sessions that were sent elsewhere because this gateway goes",
            ),
            closes: counter("gateway_closes_total", "Sockets closed by code"),
            auth_attempts: counter("gateway_auth_attempts_total", "Logins by outcome"),
            mailbox_full: counter("gateway_mailbox_full_total", "Sessions closed as too slow"),
            waits: WaitInstruments::new(meter),
            bus: BusInstruments::new(meter),
            requests: counter(
                "gateway_http_requests_total",
                "HTTP requests by route and status",
            ),
            limited: counter(
                "gateway_limited_total",
                "What was over a limit, by limit, and whether that was while blocked",
            ),
            limited_alone: counter(
                "gateway_limited_alone_total",
                "Decided without the other gateways because Redis gave no answer in time, by limit",
            ),
            agent_runtime: counter(
                "gateway_agent_runtime_total",
                "Words to the agents' runtime by what became of them",
            ),
            proxy_refused: counter(
                "gateway_proxy_refused_total",
                "Connections whose PROXY header named no client, by reason",
            ),
        }))
    }

    /// Notes a wait for a turn at the store or the world.
    pub(crate) fn turn(&self, at: &'static str, waited: Duration) {
        let labels = [KeyValue::new("at", at)];
        self.0.waits.turns.record(waited.as_secs_f64(), &labels);
    }

    /// Returns instruments that nobody reads.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::new(&opentelemetry::global::meter("none"))
    }

    pub(crate) fn connection(&self, change: i64) {
        self.0.connections.add(change, &[]);
    }

    /// Adds `change` to the sessions in `state`: lobby, world or lingering.
    pub(crate) fn session(&self, state: &'static str, change: i64) {
        self.0
            .sessions
            .add(change, &[KeyValue::new("state", state)]);
    }

    /// Adds `change` to the clients of a kind: unauthenticated, page, program, agent or spectator.
    pub(crate) fn client(&self, kind: &'static str, subprotocol: &'static str, change: i64) {
        let labels = [
            KeyValue::new("kind", kind),
            KeyValue::new("subprotocol", subprotocol),
        ];
        self.0.clients.add(change, &labels);
    }

    pub(crate) fn message(&self, event: &'static str, verdict: &'static str) {
        let labels = [
            KeyValue::new("event", event),
            KeyValue::new("verdict", verdict),
        ];
        self.0.messages.add(1, &labels);
    }

    pub(crate) fn frames_out(&self, kind: &'static str, count: usize) {
        if count > 0 {
            let labels = [KeyValue::new("kind", kind)];
            self.0.frames_out.add(count as u64, &labels);
        }
    }

    pub(crate) fn bytes_out(&self, bytes: usize) {
        self.0.bytes_out.add(bytes as u64, &[]);
    }

    pub(crate) fn bytes_in(&self, bytes: usize) {
        self.0.bytes_in.add(bytes as u64, &[]);
    }

    pub(crate) fn draining(&self, sessions: u64) {
        self.0.draining.add(sessions, &[]);
    }

    /// Counts a resume: `same` gateway with replay, `same_resync`, `elsewhere` until now, or
    /// `invalid`.
    pub(crate) fn resume(&self, outcome: &'static str) {
        self.0.resumes.add(1, &[KeyValue::new("outcome", outcome)]);
    }

    pub(crate) fn close(&self, code: u16) {
        self.0
            .closes
            .add(1, &[KeyValue::new("code", i64::from(code))]);
    }

    pub(crate) fn auth_attempt(&self, outcome: &'static str) {
        self.0
            .auth_attempts
            .add(1, &[KeyValue::new("outcome", outcome)]);
    }

    pub(crate) fn mailbox_full(&self) {
        self.0.mailbox_full.add(1, &[]);
    }

    /// Records the time of an answer. A move is answered by the tick that plays it, so its answer
    /// comes with the first update that shows it.
    pub(crate) fn answered(&self, event: &'static str, took: Duration) {
        let of = match event {
            "player:move" => "move",
            _ => "other",
        };
        let labels = [KeyValue::new("of", of)];
        self.0.waits.answers.record(took.as_secs_f64(), &labels);
    }

    pub(crate) fn update_share(&self, share: Duration) {
        self.0.waits.update_share.record(share.as_secs_f64(), &[]);
    }

    pub(crate) fn chat(&self, channel: &'static str, outcome: &'static str) {
        let labels = [
            KeyValue::new("channel", channel),
            KeyValue::new("outcome", outcome),
        ];
        self.0.bus.chat.add(1, &labels);
    }

    pub(crate) fn bus_dropped(&self) {
        self.0.bus.dropped.add(1, &[]);
    }

    pub(crate) fn bus_wait(&self, wait: Duration) {
        self.0.bus.wait.record(wait.as_secs_f64(), &[]);
    }

    /// Notes how many nodes of the cluster answer, and how many do not.
    pub(crate) fn bus_nodes(&self, there: usize, away: usize) {
        for (state, count) in [("answers", there), ("away", away)] {
            let labels = [KeyValue::new("state", state)];
            self.0.bus.nodes.record(count as u64, &labels);
        }
    }

    /// Notes how many messages of global chat would pass now.
    pub(crate) fn global_chat_left(&self, left: usize) {
        self.0.bus.chat_left.record(left as u64, &[]);
    }

    pub(crate) fn limited(&self, limit: &'static str, blocked: bool) {
        let labels = [
            KeyValue::new("limit", limit),
            KeyValue::new("blocked", blocked),
        ];
        self.0.limited.add(1, &labels);
    }

    /// Counts a word to the agents' runtime: told, failed or dropped.
    pub(crate) fn agent_runtime(&self, became: &'static str) {
        self.0
            .agent_runtime
            .add(1, &[KeyValue::new("outcome", became)]);
    }

    pub(crate) fn proxy_refused(&self, reason: &'static str) {
        let labels = [KeyValue::new("reason", reason)];
        self.0.proxy_refused.add(1, &labels);
    }

    pub(crate) fn limited_alone(&self, limit: &'static str) {
        self.0
            .limited_alone
            .add(1, &[KeyValue::new("limit", limit)]);
    }

    /// Records an answered HTTP request. `method` and `route` are of our own lists: no client can
    /// make a series.
    pub(crate) fn request(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let route = KeyValue::new("route", route.to_owned());
        let status = KeyValue::new("status", i64::from(status));
        self.0.requests.add(1, &[route.clone(), status]);
        let labels = [KeyValue::new("method", method), route];
        self.0.waits.requests.record(took.as_secs_f64(), &labels);
    }
}
