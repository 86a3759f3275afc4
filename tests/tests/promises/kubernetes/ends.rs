//! The times of an end fit together, and an upgrade of many zones ends.

use std::fs;

use serde_json::{Value, json};
use tests::cluster::process::workspace;

use super::{ALL, Objects, SERVERS, chart, objects, plain, with};

/// Returns the only number of seconds that a constant of the source has, as `const NAME: Duration = Duration::from_…(n)`.
fn constant(file: &str, name: &str) -> f64 {
    let source = fs::read_to_string(workspace().join(file)).unwrap();
    let head = format!("const {name}: Duration = Duration::from_");
    let found: Vec<&str> = source
        .lines()
        .filter_map(|line| Some(line.split_once(&head)?.1))
        .collect();
    let [value] = found[..] else {
        panic!("{file} has {found:?} for {name}")
    };
    let (unit, number) = value.trim_end_matches(");").split_once('(').unwrap();
    let number: f64 = number.replace('_', "").parse().unwrap();
    match unit {
        "secs" => number,
        "millis" => number / 1000.0,
        other => panic!("{file}: {name} is in {other}"),
    }
}

/// Time in seconds that a service needs after `DRAIN_SECONDS` at most, by its code.
fn after_drain(service: &str) -> f64 {
    match service {
        // Goodbyes, leaving the bus, and the tasks behind.
        "gateway" => {
            let margin = constant("gateway/src/server.rs", "DRAIN_MARGIN");
            constant("gateway/src/session/draining.rs", "ANSWERS") + 3.0 * margin
        }
        "zone-server" => {
            let file = "zone-server/src/server.rs";
            constant(file, "END_WITHIN") + constant(file, "TASKS_WITHIN")
        }
        // Open streams, and the tasks behind.
        "persistence-svc" => 2.0 * constant("proto/service-runtime/src/rpc.rs", "DRAIN"),
        other => panic!("{other} is no service"),
    }
}

/// Time in seconds for the last logs and traces, and for a busy node.
const LAST_WORDS: f64 = 3.0;

fn seconds(value: &Value) -> f64 {
    value
        .as_f64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or(0.0)
}

/// Returns what does not fit together of the times of a server's end, in words.
fn unfit(service: &str, objects: &Objects) -> Vec<String> {
    let pod = &objects[&format!("Deployment {service}")]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let pre_stop = seconds(&container["lifecycle"]["preStop"]["sleep"]["seconds"]);
    let settings = &objects[&format!("ConfigMap {service}")]["data"];
    let drain = seconds(&settings["DRAIN_SECONDS"]);
    let needed = pre_stop + drain + after_drain(service) + LAST_WORDS;
    let given = seconds(&pod["terminationGracePeriodSeconds"]);
    let probe = &container["readinessProbe"];
    // A balancer that only looks at readiness learns of the end before new connections are refused.
    let notices = seconds(&probe["periodSeconds"]) * seconds(&probe["failureThreshold"]);
    let drains = service != "persistence-svc";
    let balanced = service != "zone-server";
    let rules = [
        (
            needed <= given,
            format!("it has {given} s and may need {needed} s"),
        ),
        // A program that hangs must not keep a node for minutes.
        (
            given < needed + 30.0,
            format!("it has {given} s and needs only {needed} s"),
        ),
        ((drain > 0.0) == drains, format!("it drains {drain} s")),
        (
            !balanced || pre_stop >= notices,
            format!("it ends after {pre_stop} s, and balancers know after {notices} s"),
        ),
    ];
    let broken = rules.into_iter().filter(|(kept, _)| !kept);
    broken.map(|(_, words)| words).collect()
}

#[test]
fn the_times_of_an_end_fit_together() {
    let mut renderings: Vec<(String, Objects)> = Vec::new();
    for rendering in ALL.iter() {
        renderings.push((rendering.name.clone(), plain(rendering.objects.clone())));
    }
    for other in [
        "gateway.drainSeconds=40",
        "zoneServer.drainSeconds=300",
        "persistenceSvc.preStopSeconds=60",
    ] {
        let made = plain(objects(&chart(&["--set", other])));
        renderings.push((other.to_owned(), made));
    }
    for (rendering, objects) in &renderings {
        for service in SERVERS {
            let unfit = unfit(service, objects);
            assert!(unfit.is_empty(), "{rendering}: {service}: {unfit:?}");
        }
    }
}

#[test]
fn times_that_do_not_fit_are_found() {
    let pod = "/spec/template/spec";
    let (grace, sleep) = (
        format!("{pod}/terminationGracePeriodSeconds"),
        format!("{pod}/containers/0/lifecycle/preStop/sleep/seconds"),
    );
    let good = plain(ALL[0].objects.clone());
    for (object, place, value, words) in [
        ("Deployment gateway", &*grace, json!(3), "may need"),
        ("Deployment zone-server", &*grace, json!(900), "needs only"),
        (
            "ConfigMap zone-server",
            "/data/DRAIN_SECONDS",
            json!("0"),
            "it drains 0 s",
        ),
        (
            "ConfigMap persistence-svc",
            "/data/DRAIN_SECONDS",
            json!("5"),
            "it drains 5 s",
        ),
        ("Deployment gateway", &*sleep, json!(0), "balancers know"),
    ] {
        let mut bad = good.clone();
        bad.insert(object.to_owned(), with(&good[object], place, &value));
        let service = object.rsplit(' ').next().unwrap();
        let unfit = unfit(service, &bad).join("; ");
        assert!(unfit.contains(words), "{object} {place}: {unfit}");
    }
}

/// Returns how many of `all` a number or a share of a rolling upgrade means; Kubernetes rounds a surge up.
fn share(value: &Value, all: u64) -> u64 {
    match value.as_str().and_then(|share| share.strip_suffix('%')) {
        Some(percent) => (all * percent.parse::<u64>().unwrap()).div_ceil(100),
        None => value.as_u64().unwrap(),
    }
}

#[test]
fn a_hundred_zones_are_replaced_in_half_an_hour_and_never_half_at_once() {
    let zones = 100;
    let objects = objects(&chart(&["--set", "zoneServer.replicas=100"]));
    let deployment = &objects["Deployment zone-server"]["spec"];
    assert_eq!(deployment["replicas"], zones);
    let rolling = &deployment["strategy"]["rollingUpdate"];
    assert_eq!(rolling["maxUnavailable"], 0);
    let surge = share(&rolling["maxSurge"], zones);
    let pod = &deployment["template"]["spec"];
    let probe = &pod["containers"][0]["startupProbe"];
    let start = seconds(&probe["periodSeconds"]) * seconds(&probe["failureThreshold"]);
    let ready = seconds(&deployment["minReadySeconds"]);
    let slowest = zones.div_ceil(surge) as f64 * (start + ready);
    assert!(slowest <= 1800.0, "an upgrade may take {slowest} s");
    // Kubernetes goes on while the pods before still drain: the fastest starts let most drain at a time.
    let ends = seconds(&pod["terminationGracePeriodSeconds"]);
    let draining = surge as f64 * (ends / ready).ceil();
    assert!(
        draining < zones as f64 / 2.0,
        "{draining} zones may drain at once"
    );
    let evicted = share(
        &objects["PodDisruptionBudget zone-server"]["spec"]["maxUnavailable"],
        zones,
    );
    assert!(
        (2..=zones / 4).contains(&evicted),
        "{evicted} zones may be evicted at once"
    );
}
