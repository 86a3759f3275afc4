//! `/health`, `/status` and the probes.

use serde_json::json;

use super::{
    describe::{Operation, op},
    schema::{count, flag, object, one_of, text, time, with},
};

pub(super) fn operations() -> Vec<Operation> {
    let words = json!({"type": "string", "examples": ["ok"]});
    vec![
        op("get", "/health", "probes", "Whether the process serves").answers(
            200,
            object([
                ("status", one_of(&["ok"])),
                ("timestamp", time()),
                ("version", text()),
            ]),
            json!({
                "status": "ok",
                "timestamp": "2026-11-21T16:00:00.000Z",
                "version": "0.1.0",
            }),
        ),
        op("get", "/status", "probes", "How the process is")
            .about("200 while the process serves, whatever else is ill.")
            .answers(
                200,
                with(
                    [
                        ("status", one_of(&["ok"])),
                        ("uptime", count()),
                        ("version", text()),
                        ("ready", flag()),
                        ("players", count()),
                    ],
                    [
                        ("commitHash", text()),
                        ("content", super::content::version()),
                    ],
                ),
                json!({
                    "status": "ok",
                    "uptime": 3600,
                    "version": "0.1.0",
                    "ready": true,
                    "players": 42,
                }),
            ),
        op("get", "/livez", "probes", "Whether the process lives").gives(
            200,
            "text/plain",
            words.clone(),
        ),
        op(
            "get",
            "/readyz",
            "probes",
            "Whether the gateway can take players",
        )
        .gives(200, "text/plain", words.clone())
        .problems(&[503]),
        op(
            "get",
            "/metrics",
            "probes",
            "Measurements, as Prometheus reads them",
        )
        .about("In production on a port of its own, and not here.")
        .gives(200, "text/plain", words)
        .problems(&[404]),
    ]
}
