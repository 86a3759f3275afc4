//! The panels of what all processes have: what they take of their machines, and how busy they are.

use super::{Panel, panel};

pub(super) const PROCESSES: [Panel; 9] = [
    panel(
        "Processors that are busy",
        "short",
        &[(
            "sum by (job, instance) (rate(process_cpu_seconds_total{job=~\"gateway|zone-server|persistence-svc\"}[1m]))",
            "{{job}} {{instance}}",
        )],
    ),
    panel(
        "Memory",
        "bytes",
        &[(
            "process_resident_memory_bytes{job=~\"gateway|zone-server|persistence-svc\"}",
            "{{job}} {{instance}}",
        )],
    ),
    panel(
        "Open files and sockets, share of the most",
        "percentunit",
        &[(
            "process_open_fds{job=~\"gateway|zone-server|persistence-svc\"} / process_max_fds",
            "{{job}} {{instance}}",
        )],
    ),
    panel(
        "Time since the start",
        "s",
        &[(
            "time() - process_start_time_seconds{job=~\"gateway|zone-server|persistence-svc\"}",
            "{{job}} {{instance}}",
        )],
    ),
    panel(
        "Workers that are busy",
        "percentunit",
        &[(
            "rate(tokio_busy_seconds_total[1m]) / tokio_workers",
            "{{job}} {{instance}}",
        )],
    ),
    panel(
        "Tasks that have not ended",
        "short",
        &[("tokio_alive_tasks", "{{job}} {{instance}}")],
    ),
    panel(
        "Tasks that wait for a worker",
        "short",
        &[("tokio_global_queue_depth", "{{job}} {{instance}}")],
    ),
    panel(
        "Threads",
        "short",
        &[(
            "process_threads{job=~\"gateway|zone-server|persistence-svc\"}",
            "{{job}} {{instance}}",
        )],
    ),
    panel(
        "Tasks that panicked",
        "short",
        &[(
            "sum by (job, task) (increase(tasks_panicked_total[1m]))",
            "{{job}} {{task}}",
        )],
    ),
];
