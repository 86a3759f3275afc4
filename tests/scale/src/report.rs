//! The figures of all measurements as tables. Pure.

use crate::{
    measure::Measured,
    paper::{self, Talk},
};

/// Budget of a tick, in microseconds.
const TICK_US: f64 = 600_000.0;
/// Ticks in a second.
const TICKS: f64 = 1.0 / 0.6;

/// A row: its name, and the value of a measurement.
type Row = (&'static str, fn(&Measured) -> String);

/// Rows of each table, with its title.
const TABLES: [(&str, &[Row]); 5] = [
    ("one gateway", GATEWAY),
    ("all gateways and links", LINKS),
    ("the busiest zone server's news", ZONE),
    ("placement", PLACEMENT),
    ("the directory", DIRECTORY),
];

const GATEWAY: &[Row] = &[
    ("players at the gateway", |m| count(m.gateway.players)),
    ("things in the replica", |m| count(m.gateway.entities)),
    ("chunks in the replica", |m| count(m.gateway.chunks)),
    ("memory of the first measured gateway", |m| {
        bytes(float(m.gateway.memory))
    }),
    ("first frames", |m| bytes(m.gateway.first_bytes)),
    ("the first four ticks, processor", |m| {
        millis(m.gateway.first_us)
    }),
    ("frames a tick", |m| bytes(m.gateway.tick.frame_bytes)),
    ("frames a second", |m| {
        bytes(m.gateway.tick.frame_bytes * TICKS)
    }),
    ("records of chunks a tick", |m| {
        round(m.gateway.tick.frame_chunks)
    }),
    ("decode, a tick", |m| millis(m.gateway.tick.decode_us)),
    ("apply and flush, a tick", |m| {
        millis(m.gateway.tick.apply_us)
    }),
    ("reconcile, a tick", |m| millis(m.gateway.tick.reconcile_us)),
    ("updates, cap 255, a tick", |m| {
        millis(m.gateway.tick.capped.us)
    }),
    ("updates, no cap, a tick", |m| {
        millis(m.gateway.tick.whole.us)
    }),
    ("processor with the cap, a tick", |m| {
        millis(m.gateway.tick.capped_us())
    }),
    ("  the longest of the ticks", |m| {
        millis(m.gateway.tick_max_us)
    }),
    ("  of the budget of a tick", |m| {
        percent(m.gateway.tick.capped_us() / TICK_US)
    }),
    ("to clients a second, cap 255", |m| {
        bytes(m.gateway.tick.capped.bytes * TICKS)
    }),
    ("  each client", |m| {
        bytes(m.gateway.tick.capped.bytes * TICKS / players(m))
    }),
    ("  chunks owed, each client", |m| {
        tenth(m.gateway.tick.capped.owed / players(m))
    }),
    ("to clients a second, no cap", |m| {
        bytes(m.gateway.tick.whole.bytes * TICKS)
    }),
    ("  each client", |m| {
        bytes(m.gateway.tick.whole.bytes * TICKS / players(m))
    }),
    ("  chunks owed, each client", |m| {
        tenth(m.gateway.tick.whole.owed / players(m))
    }),
];

const LINKS: &[Row] = &[
    ("pairs of streams", |m| {
        count(m.size.zones * m.size.gateways)
    }),
    ("frames a second", |m| round(links(m) * TICKS)),
    ("runs of which a gateway asks for chunks", |m| {
        count(m.gateway.asked)
    }),
    ("subscribed chunks, all gateways", |m| count(m.subscribed)),
    ("most chunks of one link (bound: 100,000)", |m| {
        count(m.link_chunks_max)
    }),
    ("gateways that watch a player's chunk", |m| {
        tenth(m.watched_by)
    }),
    ("gateways that listen to its region", |m| tenth(m.listeners)),
    ("frames, all gateways, a second", |m| {
        bytes(m.gateway.tick.frame_bytes * TICKS * crate::gateway::number(m.size.gateways))
    }),
];

const ZONE: &[Row] = &[
    ("players", |m| count(m.zone.players)),
    ("gateways that subscribe", |m| count(m.zone.gateways)),
    ("encode changed chunks once, a tick", |m| {
        millis(m.zone.encode_us)
    }),
    ("write all frames, a tick", |m| millis(m.zone.frames_us)),
    ("records of chunks a tick", |m| round(m.zone.chunks)),
    ("bytes a second", |m| bytes(m.zone.bytes * TICKS)),
];

const PLACEMENT: &[Row] = &[
    ("first plan, all regions", |m| {
        millis(m.placement.first_plan_us)
    }),
    ("  the whole round", |m| millis(m.placement.first_round_us)),
    ("read the view (5 times a second)", |m| {
        millis(m.placement.read_us)
    }),
    ("plan that changes nothing", |m| {
        millis(m.placement.idle_plan_us)
    }),
    ("longest plan that evens out", |m| {
        millis(m.placement.even_plan_us)
    }),
    ("busiest run over the mean, before", |m| {
        permille(m.placement.uneven_permille)
    }),
    ("  after", |m| permille(m.placement.even_permille)),
    ("  regions moved for it", |m| count(m.placement.even_moves)),
    ("  simulated time", |m| {
        format!("{:.0} s", m.placement.even_s)
    }),
    ("plan after a kill", |m| millis(m.placement.kill_plan_us)),
    ("  the whole round", |m| millis(m.placement.kill_round_us)),
    ("  regions that got another owner", |m| {
        count(m.placement.kill_moves)
    }),
    ("a renewal", |m| millis(m.placement.renew_us)),
];

const DIRECTORY: &[Row] = &[
    ("a push", |m| {
        bytes(crate::gateway::number(m.placement.directory.bytes))
    }),
    ("read it from the store", |m| {
        millis(m.placement.directory.read_us)
    }),
    ("encode it for a watcher", |m| {
        millis(m.placement.directory.encode_us)
    }),
    ("decode it", |m| millis(m.placement.directory.decode_us)),
    ("watchers", |m| round(watchers(m))),
    ("one change, to all watchers", |m| bytes(push(m))),
    ("  processor to encode it for all", |m| {
        millis(m.placement.directory.encode_us * watchers(m))
    }),
    ("pushes at the start, bytes to all", |m| {
        pushed(m, m.placement.directory.start_pushes)
    }),
    ("pushes while loads even out", |m| {
        pushed(m, m.placement.directory.even_pushes)
    }),
    ("pushes after a kill", |m| {
        pushed(m, m.placement.directory.kill_pushes)
    }),
];

/// Returns all measured tables, one column a measurement.
pub fn tables(measured: &[Measured]) -> String {
    let mut text = String::new();
    for (title, rows) in TABLES {
        text.push_str(&head(title, measured));
        for (name, value) in rows {
            let values: Vec<String> = measured.iter().map(value).collect();
            text.push_str(&format!("| {name} | {} |\n", values.join(" | ")));
        }
        text.push('\n');
    }
    text
}

/// Returns the table of what follows from constants and was not measured.
pub fn on_paper(measured: &[Measured], services: usize, talk: Talk) -> String {
    let mut text = head("on paper, a second", measured);
    let rows = [
        "statements at the store, whoever plays",
        "batches",
        "entries of presence renewed",
        "entries of friends asked for",
        "deliveries: who came and went",
        "deliveries: local chat",
        "deliveries: global chat",
    ];
    let columns: Vec<[f64; 7]> = measured.iter().map(|m| column(m, services, talk)).collect();
    for (n, name) in rows.iter().enumerate() {
        let values: Vec<String> = columns.iter().map(|column| round(column[n])).collect();
        text.push_str(&format!("| {name} | {} |\n", values.join(" | ")));
    }
    text
}

fn column(m: &Measured, services: usize, talk: Talk) -> [f64; 7] {
    let number = crate::gateway::number;
    let zones = number(m.size.zones);
    let bus = paper::bus(
        number(m.size.players),
        number(m.size.gateways),
        m.listeners,
        talk,
    );
    [
        paper::statements(zones, number(services)),
        paper::batches(zones),
        bus.renewed,
        bus.polled,
        bus.news,
        bus.local,
        bus.global,
    ]
}

fn head(title: &str, measured: &[Measured]) -> String {
    let column = |m: &Measured| {
        let steering = format!("{:?}", m.steering).to_lowercase();
        format!(
            "{}, {}/{}, {steering}",
            count(m.size.players),
            m.size.zones,
            m.size.gateways
        )
    };
    let columns: Vec<String> = measured.iter().map(column).collect();
    format!(
        "| {title} | {} |\n|---|{}\n",
        columns.join(" | "),
        "---|".repeat(columns.len())
    )
}

fn players(m: &Measured) -> f64 {
    crate::gateway::number(m.gateway.players.max(1))
}

fn links(m: &Measured) -> f64 {
    crate::gateway::number(m.size.zones * m.size.gateways)
}

fn watchers(m: &Measured) -> f64 {
    crate::gateway::number(m.size.zones + m.size.gateways)
}

fn push(m: &Measured) -> f64 {
    crate::gateway::number(m.placement.directory.bytes) * watchers(m)
}

fn pushed(m: &Measured, pushes: u64) -> String {
    format!("{pushes}, {}", bytes(push(m) * float(pushes)))
}

#[allow(clippy::cast_precision_loss, reason = "counts stay below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}

fn count(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures are positive and small"
)]
fn round(value: f64) -> String {
    count(value.round() as usize)
}

fn tenth(value: f64) -> String {
    format!("{value:.1}")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn permille(value: u32) -> String {
    format!("{:.2}", f64::from(value) / 1_000.0)
}

fn millis(us: f64) -> String {
    match us {
        us if us >= 99_950.0 => format!("{} ms", round(us / 1_000.0)),
        us if us >= 9_950.0 => format!("{:.1} ms", us / 1_000.0),
        us => format!("{:.2} ms", us / 1_000.0),
    }
}

fn bytes(bytes: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    let unit = units.iter().find(|(least, _)| bytes >= *least);
    match unit {
        Some((unit, name)) if bytes / unit >= 99.5 => format!("{:.0} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes / unit),
        None => format!("{bytes:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_easy_to_read() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(100), "100");
        assert_eq!(round(999.6), "1,000");
        assert_eq!(millis(1_234.0), "1.23 ms");
        assert_eq!(millis(123_456.0), "123 ms");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(1_500_000.0), "1.5 MB");
        assert_eq!(bytes(250_000.0), "250 KB");
        assert_eq!(permille(1_285), "1.28");
    }
}
