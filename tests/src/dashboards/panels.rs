//! The panels of each dashboard.

mod processes;
mod store;

use super::{Dashboard, Panel};
use processes::PROCESSES;
use store::{ECONOMY, STORE};

/// All dashboards.
pub const DASHBOARDS: [Dashboard; 6] = [
    Dashboard {
        name: "overview",
        title: "overview",
        job: "",
        panels: &OVERVIEW,
    },
    Dashboard {
        name: "zone",
        title: "a zone server",
        job: "zone-server",
        panels: &ZONE,
    },
    Dashboard {
        name: "gateway",
        title: "a gateway",
        job: "gateway",
        panels: &GATEWAY,
    },
    Dashboard {
        name: "store",
        title: "the store",
        job: "persistence-svc",
        panels: &STORE,
    },
    Dashboard {
        name: "economy",
        title: "economy",
        job: "",
        panels: &ECONOMY,
    },
    Dashboard {
        name: "processes",
        title: "processes",
        job: "",
        panels: &PROCESSES,
    },
];

const fn panel(
    title: &'static str,
    unit: &'static str,
    queries: &'static [(&'static str, &'static str)],
) -> Panel {
    Panel {
        title,
        unit,
        queries,
    }
}

const OVERVIEW: [Panel; 12] = [
    panel(
        "Processes that answer",
        "short",
        &[(
            "sum by (job) (up{job=~\"gateway|zone-server|persistence-svc\"})",
            "{{job}}",
        )],
    ),
    panel(
        "Players in the world",
        "short",
        &[("sum(zone_players)", "players")],
    ),
    panel(
        "Moves answered within 1.2 s",
        "percentunit",
        &[
            ("1 - tilestead:moves:bad_ratio5m", "5 minutes"),
            ("1 - tilestead:moves:bad_ratio1h", "an hour"),
        ],
    ),
    panel(
        "Sessions kept",
        "percentunit",
        &[
            ("1 - tilestead:sessions:bad_ratio5m", "5 minutes"),
            ("1 - tilestead:sessions:bad_ratio1h", "an hour"),
        ],
    ),
    panel(
        "Commits within 1 s",
        "percentunit",
        &[
            ("1 - tilestead:commits:bad_ratio5m", "5 minutes"),
            ("1 - tilestead:commits:bad_ratio1h", "an hour"),
        ],
    ),
    panel(
        "Work of a tick, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (instance, le) (rate(zone_tick_seconds_bucket[1m])))",
            "{{instance}}",
        )],
    ),
    panel(
        "Ticks skipped a second",
        "short",
        &[(
            "sum by (instance) (rate(zone_ticks_lost_total[1m]))",
            "{{instance}}",
        )],
    ),
    panel(
        "Runs taken over",
        "short",
        &[(
            "sum by (reason) (increase(persistence_placement_takeovers_total[1m]))",
            "{{reason}}",
        )],
    ),
    panel(
        "Whether items and coins may change owners",
        "short",
        &[(
            "max by (instance) (zone_value_state)",
            "{{instance}}: 0 yes, 1 frozen, 2 no store",
        )],
    ),
    panel(
        "Clients by kind",
        "short",
        &[("sum by (kind) (gateway_clients)", "{{kind}}")],
    ),
    panel(
        "Characters in and out of zone servers a minute",
        "short",
        &[
            (
                "sum by (from) (increase(zone_entries_total[1m]))",
                "in, from {{from}}",
            ),
            (
                "sum by (reason) (increase(zone_departures_total[1m]))",
                "out: {{reason}}",
            ),
        ],
    ),
    panel(
        "Builds",
        "short",
        &[(
            "count by (service, version, revision) (tilestead_build_info)",
            "{{service}} {{version}} {{revision}}",
        )],
    ),
];

const ZONE: [Panel; 15] = [
    panel(
        "Players",
        "short",
        &[("zone_players{instance=~\"$instance\"}", "{{instance}}")],
    ),
    panel(
        "Regions",
        "short",
        &[("zone_regions{instance=~\"$instance\"}", "{{instance}}")],
    ),
    panel(
        "Work of a tick",
        "s",
        &[
            (
                "histogram_quantile(0.5, sum by (le) (rate(zone_tick_seconds_bucket{instance=~\"$instance\"}[1m])))",
                "median",
            ),
            (
                "histogram_quantile(0.99, sum by (le) (rate(zone_tick_seconds_bucket{instance=~\"$instance\"}[1m])))",
                "99th percentile",
            ),
        ],
    ),
    panel(
        "Work of a tick by phase",
        "s",
        &[(
            "sum by (phase) (rate(zone_tick_phase_seconds_sum{instance=~\"$instance\"}[1m])) / sum by (phase) (rate(zone_tick_phase_seconds_count{instance=~\"$instance\"}[1m]))",
            "{{phase}}",
        )],
    ),
    panel(
        "Delay of ticks, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (instance, le) (rate(zone_tick_late_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "{{instance}}",
        )],
    ),
    panel(
        "Inputs a second by outcome",
        "short",
        &[(
            "sum by (outcome) (rate(zone_inputs_total{instance=~\"$instance\"}[1m]))",
            "{{outcome}}",
        )],
    ),
    panel(
        "Handovers a second by outcome",
        "short",
        &[(
            "sum by (outcome) (rate(zone_handovers_total{instance=~\"$instance\"}[1m]))",
            "{{outcome}}",
        )],
    ),
    panel(
        "Bytes to gateways a second",
        "Bps",
        &[(
            "rate(zone_frame_bytes_total{instance=~\"$instance\"}[1m])",
            "{{instance}}",
        )],
    ),
    panel(
        "Messages that wait for the store",
        "short",
        &[(
            "zone_held_messages{instance=~\"$instance\"}",
            "{{instance}}",
        )],
    ),
    panel(
        "Mean work of a tick by run",
        "s",
        &[("zone_load_seconds{instance=~\"$instance\"}", "{{instance}}")],
    ),
    panel(
        "Share of the busiest regions in a tick",
        "s",
        &[(
            "zone_region_load_seconds{instance=~\"$instance\"}",
            "{{region}}",
        )],
    ),
    panel(
        "Players in the busiest regions",
        "short",
        &[("zone_region_players{instance=~\"$instance\"}", "{{region}}")],
    ),
    panel(
        "Time for which the oldest message has waited for the store",
        "s",
        &[(
            "zone_held_age_seconds{instance=~\"$instance\"}",
            "{{instance}}",
        )],
    ),
    panel(
        "Time for which the tick loop has stood still",
        "s",
        &[(
            "zone_tick_age_seconds{instance=~\"$instance\"}",
            "{{instance}}",
        )],
    ),
    panel(
        "Characters in and out a minute",
        "short",
        &[
            (
                "sum by (from) (increase(zone_entries_total{instance=~\"$instance\"}[1m]))",
                "in, from {{from}}",
            ),
            (
                "sum by (reason) (increase(zone_departures_total{instance=~\"$instance\"}[1m]))",
                "out: {{reason}}",
            ),
        ],
    ),
];

const GATEWAY: [Panel; 18] = [
    panel(
        "Open sockets",
        "short",
        &[(
            "gateway_connections{instance=~\"$instance\"}",
            "{{instance}}",
        )],
    ),
    panel(
        "Sessions by state",
        "short",
        &[(
            "sum by (state) (gateway_sessions{instance=~\"$instance\"})",
            "{{state}}",
        )],
    ),
    panel(
        "From a move to its answer",
        "s",
        &[
            (
                "histogram_quantile(0.5, sum by (le) (rate(gateway_answer_seconds_bucket{of=\"move\",instance=~\"$instance\"}[1m])))",
                "median",
            ),
            (
                "histogram_quantile(0.99, sum by (le) (rate(gateway_answer_seconds_bucket{of=\"move\",instance=~\"$instance\"}[1m])))",
                "99th percentile",
            ),
        ],
    ),
    panel(
        "Work of showing a tick, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (task, le) (rate(gateway_flush_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "task {{task}}",
        )],
    ),
    panel(
        "From a frame to the socket, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (instance, le) (rate(gateway_update_share_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "{{instance}}",
        )],
    ),
    panel(
        "Bytes to clients a second",
        "Bps",
        &[(
            "rate(gateway_bytes_out_total{instance=~\"$instance\"}[1m])",
            "{{instance}}",
        )],
    ),
    panel(
        "Messages from clients a second by verdict",
        "short",
        &[(
            "sum by (verdict) (rate(gateway_messages_total{instance=~\"$instance\"}[1m]))",
            "{{verdict}}",
        )],
    ),
    panel(
        "Sockets closed a minute by code",
        "short",
        &[(
            "sum by (code) (increase(gateway_closes_total{instance=~\"$instance\"}[1m]))",
            "{{code}}",
        )],
    ),
    panel(
        "Resumes a minute by outcome",
        "short",
        &[(
            "sum by (outcome) (increase(gateway_resumes_total{instance=~\"$instance\"}[1m]))",
            "{{outcome}}",
        )],
    ),
    panel(
        "HTTP requests a second by status",
        "short",
        &[(
            "sum by (status) (rate(gateway_http_requests_total{instance=~\"$instance\"}[1m]))",
            "{{status}}",
        )],
    ),
    panel(
        "Logins a minute by outcome",
        "short",
        &[(
            "sum by (outcome) (increase(gateway_auth_attempts_total{instance=~\"$instance\"}[1m]))",
            "{{outcome}}",
        )],
    ),
    panel(
        "Wait for a turn, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (at, le) (rate(gateway_turn_wait_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "{{at}}",
        )],
    ),
    panel(
        "Clients by kind and subprotocol",
        "short",
        &[(
            "sum by (kind, subprotocol) (gateway_clients{instance=~\"$instance\"})",
            "{{kind}} {{subprotocol}}",
        )],
    ),
    panel(
        "HTTP requests by route, 99th percentile of the slowest eight",
        "s",
        &[(
            "topk(8, histogram_quantile(0.99, sum by (method, route, le) (rate(gateway_http_request_seconds_bucket{instance=~\"$instance\"}[5m]))))",
            "{{method}} {{route}}",
        )],
    ),
    panel(
        "Wait of messages from other gateways, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (instance, le) (rate(gateway_bus_wait_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "{{instance}}",
        )],
    ),
    panel(
        "Messages between gateways lost a minute",
        "short",
        &[(
            "sum by (instance) (increase(gateway_bus_dropped_total{instance=~\"$instance\"}[1m]))",
            "{{instance}}",
        )],
    ),
    panel(
        "Chat messages a minute by channel and outcome",
        "short",
        &[(
            "sum by (channel, outcome) (increase(gateway_chat_total{instance=~\"$instance\"}[1m]))",
            "{{channel}} {{outcome}}",
        )],
    ),
    panel(
        "Bytes from clients a second",
        "Bps",
        &[(
            "rate(gateway_bytes_in_total{instance=~\"$instance\"}[1m])",
            "{{instance}}",
        )],
    ),
];
