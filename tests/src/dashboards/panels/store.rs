//! The panels of the store, and of the economy that it keeps.

use super::{Panel, panel};

pub(super) const STORE: [Panel; 12] = [
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
    panel(
        "Database connections",
        "short",
        &[
            (
                "sum by (state) (persistence_pool_connections{instance=~\"$instance\"})",
                "{{state}}",
            ),
            (
                "sum(persistence_pool_connections_max{instance=~\"$instance\"})",
                "at most",
            ),
        ],
    ),
    panel(
        "Callers that wait for a database connection",
        "short",
        &[(
            "persistence_pool_waiting{instance=~\"$instance\"}",
            "{{instance}}",
        )],
    ),
    panel(
        "Accounts removed a minute",
        "short",
        &[(
            "sum by (reason) (increase(persistence_accounts_removed_total[1m]))",
            "{{reason}}",
        )],
    ),
];

pub(super) const ECONOMY: [Panel; 8] = [
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
    panel(
        "Coins made a minute by cause",
        "short",
        &[(
            "sum by (cause) (increase(zone_coins_made_total[1m]))",
            "{{cause}}",
        )],
    ),
    panel(
        "Coins destroyed a minute by cause",
        "short",
        &[
            (
                "sum by (cause) (increase(zone_coins_destroyed_total[1m]))",
                "{{cause}}",
            ),
            (
                "sum(increase(persistence_coins_written_off_total[1m]))",
                "deleted",
            ),
        ],
    ),
    panel(
        "Items made a minute by cause",
        "short",
        &[(
            "sum by (cause) (increase(zone_items_made_total[1m]))",
            "{{cause}}",
        )],
    ),
    panel(
        "Items destroyed a minute by cause",
        "short",
        &[
            (
                "sum by (cause) (increase(zone_items_destroyed_total[1m]))",
                "{{cause}}",
            ),
            (
                "sum(increase(persistence_items_written_off_total[1m]))",
                "deleted",
            ),
        ],
    ),
    panel(
        "Coins made less coins destroyed a minute",
        "short",
        &[(
            "sum(increase(zone_coins_made_total[1m])) - sum(increase(zone_coins_destroyed_total[1m])) - sum(increase(persistence_coins_written_off_total[1m]))",
            "coins",
        )],
    ),
];
