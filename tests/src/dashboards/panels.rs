//! The panels of each dashboard.

use super::{Dashboard, Panel};

/// All dashboards.
pub const DASHBOARDS: [Dashboard; 5] = [
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

const OVERVIEW: [Panel; 9] = [
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
];

const ZONE: [Panel; 9] = [
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
];

const GATEWAY: [Panel; 12] = [
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
];

const STORE: [Panel; 9] = [
    panel(
        "Commits, 99th percentile at the store",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (outcome, le) (rate(persistence_commit_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "{{outcome}}",
        )],
    ),
    panel(
        "Commits, 99th percentile at the zone servers",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (instance, le) (rate(zone_commit_seconds_bucket[1m])))",
            "{{instance}}",
        )],
    ),
    panel(
        "Rows a second by kind",
        "short",
        &[(
            "sum by (kind) (rate(zone_commit_rows_total[1m]))",
            "{{kind}}",
        )],
    ),
    panel(
        "Wait for a database connection, 99th percentile",
        "s",
        &[(
            "histogram_quantile(0.99, sum by (instance, le) (rate(persistence_pool_wait_seconds_bucket{instance=~\"$instance\"}[1m])))",
            "{{instance}}",
        )],
    ),
    panel(
        "Calls a second by method",
        "short",
        &[(
            "sum by (method) (rate(persistence_calls_total{instance=~\"$instance\"}[1m]))",
            "{{method}}",
        )],
    ),
    panel(
        "Calls that failed a second, by status",
        "short",
        &[(
            "sum by (code) (rate(persistence_calls_total{code!=\"Ok\",instance=~\"$instance\"}[1m]))",
            "{{code}}",
        )],
    ),
    panel(
        "Load of the busiest zone server over the mean",
        "short",
        &[("max(persistence_placement_load_ratio)", "busiest over mean")],
    ),
    panel(
        "Regions placed a minute",
        "short",
        &[(
            "sum(increase(persistence_placement_regions_total[1m]))",
            "regions",
        )],
    ),
    panel(
        "Months ahead",
        "short",
        &[("min(persistence_months_ahead)", "months")],
    ),
];

const ECONOMY: [Panel; 3] = [
    panel(
        "Entries of the ledger that are not acknowledged",
        "short",
        &[("sum by (instance) (zone_ledger_entries)", "{{instance}}")],
    ),
    panel(
        "Rows of value a second by kind",
        "short",
        &[(
            "sum by (kind) (rate(zone_commit_rows_total{kind!=\"position\"}[1m]))",
            "{{kind}}",
        )],
    ),
    panel(
        "Time for which the oldest batch has waited",
        "s",
        &[(
            "max by (instance) (zone_commit_wait_seconds)",
            "{{instance}}",
        )],
    ),
];
