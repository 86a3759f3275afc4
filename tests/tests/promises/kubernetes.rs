//! The chart and the kustomize files say the same, Kubernetes takes what they say, no pod has more rights than it needs,
//! and the times of an end fit together.

#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;
use test_servers::Postgres;
use tests::cluster::process::workspace;

/// Oldest and newest version of Kubernetes for which the objects are checked.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];
/// Groups of kinds that Kubernetes itself does not know, so that no schema of its own judges them.
const FOREIGN: [&str; 4] = [
    "cert-manager.io/v1",
    "gateway.networking.k8s.io/v1",
    "keda.sh/v1alpha1",
    "monitoring.coreos.com/v1",
];
/// Each rendering: its name, the kustomize files, and what the chart is told to make the same objects.
/// The overlay of development has stores beside the game, which the chart has not.
const RENDERINGS: [(&str, Option<&[&str]>); 7] = [
    ("base", Some(&[])),
    ("overlays/dev", None),
    (
        "overlays/production",
        Some(&["-f", "examples/production.yaml"]),
    ),
    (
        "overlays/production-keda",
        Some(&[
            "-f",
            "examples/production.yaml",
            "--set",
            "autoscaling=keda",
        ]),
    ),
    (
        "overlays/production-hpa",
        Some(&["-f", "examples/production.yaml", "--set", "autoscaling=hpa"]),
    ),
    ("gateway-api", Some(&["--set", "gatewayApi.enabled=true"])),
    ("backup", Some(&["--set", "backup.enabled=true"])),
];

/// Objects by kind and name.
type Objects = BTreeMap<String, Value>;

fn program(name: &str) -> PathBuf {
    let path = std::env::var_os(name).map(PathBuf::from);
    path.unwrap_or_else(|| panic!("{name} names no program; tests/run brings it"))
}

fn k8s() -> PathBuf {
    workspace().join("k8s")
}

/// Runs a command to its end and returns its output and whether it succeeded.
fn run(command: &mut Command) -> (bool, String, String) {
    let told = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (told.status.success(), text(told.stdout), text(told.stderr))
}

fn expect(command: &mut Command) -> String {
    let (well, said, wrong) = run(command);
    assert!(well, "{command:?}: {said}{wrong}");
    said
}

/// Returns what the chart makes with the arguments.
fn helm(arguments: &[&str]) -> (bool, String, String) {
    let mut helm = Command::new(program("HELM"));
    helm.args(["template", "tilestead", ".", "--namespace", "tilestead"]);
    run(helm.args(arguments).current_dir(k8s().join("chart")))
}

fn chart(arguments: &[&str]) -> String {
    let (well, said, wrong) = helm(arguments);
    assert!(well, "helm template {arguments:?}: {wrong}");
    said
}

/// Returns what kustomize makes of an overlay; a name without a folder means the base with that component.
fn kustomize(name: &str) -> String {
    let mut folder = k8s().join(name);
    let scratch = Scratch::new(&format!("kustomize-{}", name.replace('/', "-")));
    if !folder.is_dir() {
        expect(Command::new("cp").arg("-r").arg(k8s()).arg(&scratch.0));
        folder = scratch.0.join("k8s/overlays/one-component");
        fs::create_dir_all(&folder).unwrap();
        let text = format!("resources: [../../base]\ncomponents: [../../components/{name}]\n");
        fs::write(folder.join("kustomization.yaml"), text).unwrap();
    }
    expect(
        Command::new(program("KUBECTL"))
            .arg("kustomize")
            .arg(folder),
    )
}

/// A folder that goes away with its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        // Tests run at the same time, in one process or in several.
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let own = format!("ts-k8s-{}-{number}-{name}", std::process::id());
        let path = std::env::temp_dir().join(own);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads a YAML stream: the package that knows Kubernetes' schemas brings a reader along.
fn objects(yaml: &str) -> Objects {
    let scratch = Scratch::new(&format!("yaml-{:p}", yaml.as_ptr()));
    let file = scratch.0.join("objects.yaml");
    fs::write(&file, yaml).unwrap();
    let python = program("KUBERNETES_VALIDATE").with_file_name("python");
    let script = "import json, sys, yaml\n\
                  print(json.dumps([o for o in yaml.safe_load_all(open(sys.argv[1])) if o]))";
    let json = expect(Command::new(python).args(["-c", script]).arg(&file));
    let all: Vec<Value> = serde_json::from_str(&json).unwrap();
    let many = all.len();
    let named: Objects = all
        .into_iter()
        .map(|object| {
            (
                format!(
                    "{} {}",
                    text(&object["kind"]),
                    text(&object["metadata"]["name"])
                ),
                object,
            )
        })
        .collect();
    assert_eq!(named.len(), many, "two objects of one kind have one name");
    named
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

/// All renderings with their names: kustomize's, and the chart's beside them.
fn all() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, arguments) in RENDERINGS {
        all.push((name.to_owned(), kustomize(name)));
        if let Some(arguments) = arguments {
            all.push((format!("chart for {name}"), chart(arguments)));
        }
    }
    all
}

/// Takes the hashes off the names of ConfigMaps and of their mentions, and the namespace, which kustomize sets.
fn plain(objects: Objects) -> Objects {
    let hashed: Vec<String> = objects
        .values()
        .filter(|object| object["kind"] == "ConfigMap")
        .map(|object| text(&object["metadata"]["name"]).to_owned())
        .collect();
    let rename = |name: &str| match name.rsplit_once('-') {
        Some((plain, hash)) if hash.len() == 10 && hashed.iter().any(|one| one == name) => {
            plain.to_owned()
        }
        Some(_) | None => name.to_owned(),
    };
    objects
        .into_values()
        .map(|mut object| {
            let metadata = object["metadata"].as_object_mut().unwrap();
            if let Some(namespace) = metadata.remove("namespace") {
                assert_eq!(namespace, "tilestead");
            }
            walk(&mut object, &mut |key, value| {
                if let (true, Some(name)) = (key == "name", value.as_str()) {
                    *value = rename(name).into();
                }
                // Helm's own words, and the mark by which it restarts pods in place of a hash.
                if let (true, Some(notes)) = (key == "annotations", value.as_object_mut()) {
                    notes.retain(|note, _| {
                        !note.starts_with("helm.sh/") && note != "tilestead/settings"
                    });
                }
            });
            let metadata = object["metadata"].as_object_mut().unwrap();
            if metadata
                .get("annotations")
                .is_some_and(|notes| notes.as_object().is_some_and(serde_json::Map::is_empty))
            {
                metadata.remove("annotations");
            }
            (
                format!(
                    "{} {}",
                    text(&object["kind"]),
                    text(&object["metadata"]["name"])
                ),
                object,
            )
        })
        .collect()
}

/// Shows every value to `see`, with its key.
fn walk(value: &mut Value, see: &mut impl FnMut(&str, &mut Value)) {
    if let Some(fields) = value.as_object_mut() {
        for (key, value) in fields {
            see(key, value);
            walk(value, see);
        }
    } else if let Some(items) = value.as_array_mut() {
        for item in items {
            walk(item, see);
        }
    }
}

/// Returns the pods that an object makes.
fn pod(object: &Value) -> Option<&Value> {
    match text(&object["kind"]) {
        "Deployment" | "Job" => Some(&object["spec"]["template"]),
        "CronJob" => Some(&object["spec"]["jobTemplate"]["spec"]["template"]),
        _ => {
            assert!(
                object["spec"]["template"].is_null(),
                "{object} makes pods that no test looks at"
            );
            None
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_kustomize_files_are_those_of_the_chart() {
    let made = Scratch::new("render");
    expect(Command::new(k8s().join("render")).arg(&made.0));
    let made_files = files(&made.0);
    assert!(made_files.len() > 10, "{made_files:?}");
    for path in &made_files {
        let name = path.strip_prefix(&made.0).unwrap();
        let there = fs::read_to_string(k8s().join(name)).unwrap_or_default();
        assert!(
            there == fs::read_to_string(path).unwrap(),
            "{}: run k8s/render",
            name.display()
        );
    }
    // A file that says so, and that `render` makes no more.
    for path in files(&k8s()) {
        let name = path.strip_prefix(k8s()).unwrap();
        let says = path.extension() == Some(OsStr::new("yaml"))
            && fs::read_to_string(&path)
                .unwrap()
                .starts_with("# Made by k8s/render");
        assert_eq!(
            says,
            made_files.contains(&made.0.join(name)),
            "{}",
            name.display()
        );
    }
}

#[test]
fn kustomize_and_the_chart_make_the_same_objects() {
    for (name, arguments) in RENDERINGS {
        let Some(arguments) = arguments else { continue };
        let by_kustomize = plain(objects(&kustomize(name)));
        let by_chart = plain(objects(&chart(arguments)));
        let names = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&by_kustomize), names(&by_chart), "{name}");
        for (object, value) in &by_kustomize {
            assert_eq!(
                value, &by_chart[object],
                "{name}: {object}: kustomize, and then the chart"
            );
        }
    }
}

#[test]
fn kubernetes_takes_each_object_and_knows_each_field() {
    for (name, yaml) in all() {
        let scratch = Scratch::new(&format!("valid-{}", name.replace(['/', ' '], "-")));
        let file = scratch.0.join("objects.yaml");
        fs::write(&file, &yaml).unwrap();
        let own = objects(&yaml);
        let own = own
            .values()
            .filter(|object| !FOREIGN.contains(&text(&object["apiVersion"])));
        let own = own.count();
        for version in KUBERNETES {
            let mut validate = Command::new(program("KUBERNETES_VALIDATE"));
            let said = expect(validate.args(["--strict", "-k", version]).arg(&file));
            // A kind without a schema is only a warning to it.
            let passed = said
                .lines()
                .filter(|line| line.starts_with("INFO "))
                .count();
            assert_eq!(passed, own, "{name} for Kubernetes {version}: {said}");
        }
    }
}

/// Calls `look` for each container of each pod, with the name of its place and its pod.
fn containers(look: impl Fn(&str, &Value, &Value)) {
    let mut seen = 0;
    for (rendering, yaml) in all() {
        for (name, object) in objects(&yaml) {
            let Some(pod) = pod(&object) else { continue };
            for list in ["initContainers", "containers"] {
                for container in pod["spec"][list].as_array().into_iter().flatten() {
                    let place = format!("{rendering}: {name}: {}", text(&container["name"]));
                    look(&place, &pod["spec"], container);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 30, "only {seen} containers");
}

#[test]
fn no_pod_has_more_rights_than_it_needs() {
    containers(|place, pod, container| {
        let (shared, own) = (&pod["securityContext"], &container["securityContext"]);
        assert_eq!(shared["runAsNonRoot"], true, "{place} may run as root");
        assert!(
            shared["runAsUser"].as_u64() > Some(0),
            "{place} runs as root"
        );
        assert_eq!(
            shared["seccompProfile"]["type"], "RuntimeDefault",
            "{place} may call anything"
        );
        assert_eq!(
            own["readOnlyRootFilesystem"], true,
            "{place} may write to its image"
        );
        assert_eq!(
            own["allowPrivilegeEscalation"], false,
            "{place} may gain rights"
        );
        assert_eq!(
            own["capabilities"],
            serde_json::json!({"drop": ["ALL"]}),
            "{place}"
        );
        assert!(
            own["privileged"].is_null() && own["runAsUser"].is_null(),
            "{place}: {own}"
        );
        assert_eq!(
            pod["automountServiceAccountToken"], false,
            "{place} has a token of the cluster"
        );
        for host in ["hostNetwork", "hostPID", "hostIPC"] {
            assert!(pod[host].is_null(), "{place}: {host}");
        }
        for volume in pod["volumes"].as_array().into_iter().flatten() {
            assert!(
                volume["hostPath"].is_null(),
                "{place} has a folder of its node"
            );
        }
    });
}

#[test]
fn each_container_has_bounds_and_an_exact_image() {
    containers(|place, _, container| {
        let resources = &container["resources"];
        for amount in [
            &resources["requests"]["cpu"],
            &resources["requests"]["memory"],
            &resources["limits"]["memory"],
        ] {
            assert!(amount.is_string(), "{place}: {resources}");
        }
        // The tag stands behind the last slash; a port of a registry does not.
        let image = text(&container["image"]).rsplit('/').next().unwrap();
        let tag = image.split_once(':').map(|(_, tag)| tag);
        assert!(tag.is_some_and(|tag| tag != "latest"), "{place}: {image}");
        for setting in container["env"].as_array().into_iter().flatten() {
            let name = text(&setting["name"]);
            let secret = ["URL", "PASSWORD", "SECRET", "CODE", "KEYS"]
                .iter()
                .any(|end| name.ends_with(end));
            assert!(
                !secret || place.contains("postgres"),
                "{place} has {name} in its environment"
            );
        }
    });
}

#[test]
fn each_server_answers_three_probes() {
    for (rendering, yaml) in all() {
        for (name, object) in objects(&yaml) {
            if object["kind"] != "Deployment" {
                continue;
            }
            for container in object["spec"]["template"]["spec"]["containers"]
                .as_array()
                .unwrap()
            {
                for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
                    let asks = &container[probe];
                    assert!(
                        asks["httpGet"].is_object() || asks["exec"].is_object(),
                        "{rendering}: {name}: {probe}"
                    );
                }
                // Whoever is not ready waits for somebody else, and an end would not help.
                let live = &container["livenessProbe"]["httpGet"]["path"];
                assert!(
                    live.is_null() || live == "/livez",
                    "{rendering}: {name}: {live}"
                );
            }
        }
    }
}

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

#[test]
fn the_times_of_an_end_fit_together() {
    let mut renderings = all();
    for other in [
        "gateway.drainSeconds=40",
        "zoneServer.drainSeconds=300",
        "persistenceSvc.preStopSeconds=60",
    ] {
        renderings.push((other.to_owned(), chart(&["--set", other])));
    }
    for (rendering, yaml) in renderings {
        let objects = plain(objects(&yaml));
        for service in ["gateway", "zone-server", "persistence-svc"] {
            let pod = &objects[&format!("Deployment {service}")]["spec"]["template"]["spec"];
            let pre_stop =
                seconds(&pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]);
            let settings = &objects[&format!("ConfigMap {service}")]["data"];
            let drain = seconds(&settings["DRAIN_SECONDS"]);
            let needed = pre_stop + drain + after_drain(service) + LAST_WORDS;
            let given = seconds(&pod["terminationGracePeriodSeconds"]);
            assert!(
                needed <= given,
                "{rendering}: {service} has {given} s and may need {needed} s"
            );
            // A program that hangs must not keep a node for minutes.
            assert!(
                given < needed + 30.0,
                "{rendering}: {service} has {given} s and needs {needed} s"
            );
            assert_eq!(
                drain > 0.0,
                service != "persistence-svc",
                "{rendering}: {service} drains {drain} s"
            );
            let probe = &pod["containers"][0]["readinessProbe"];
            // A balancer that only looks at readiness learns of the end before new connections are refused.
            let notices = seconds(&probe["periodSeconds"]) * seconds(&probe["failureThreshold"]);
            assert!(
                service == "zone-server" || pre_stop >= notices,
                "{rendering}: {service}"
            );
        }
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

#[test]
fn each_server_has_a_budget_a_class_a_spread_and_policies() {
    for (rendering, yaml) in all() {
        let objects = plain(objects(&yaml));
        let deny = &objects["NetworkPolicy default-deny"]["spec"];
        assert_eq!(
            deny,
            &serde_json::json!({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
            "{rendering}"
        );
        for service in ["gateway", "zone-server", "persistence-svc"] {
            let deployment = &objects[&format!("Deployment {service}")]["spec"];
            let of = &deployment["template"]["metadata"]["labels"]["app.kubernetes.io/name"];
            assert_eq!(of, service);
            let budget = &objects[&format!("PodDisruptionBudget {service}")]["spec"];
            assert_eq!(&budget["selector"], &deployment["selector"], "{rendering}");
            let policy = &objects[&format!("NetworkPolicy {service}")]["spec"];
            assert_eq!(
                &policy["podSelector"], &deployment["selector"],
                "{rendering}"
            );
            let pod = &deployment["template"]["spec"];
            let class = format!("PriorityClass {}", text(&pod["priorityClassName"]));
            assert!(objects.contains_key(&class), "{rendering}: {class}");
            let keys = pod["topologySpreadConstraints"].as_array().unwrap().iter();
            let keys: Vec<&str> = keys.map(|one| text(&one["topologyKey"])).collect();
            assert_eq!(
                keys,
                ["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
                "{rendering}"
            );
        }
    }
}

#[test]
fn routes_have_no_annotations_of_any_implementation() {
    for (rendering, yaml) in all() {
        for (name, object) in plain(objects(&yaml)) {
            if ["Ingress", "Gateway", "HTTPRoute"].contains(&text(&object["kind"])) {
                assert!(
                    object["metadata"]["annotations"].is_null(),
                    "{rendering}: {name}"
                );
            }
        }
    }
}

#[test]
fn the_chart_refuses_values_that_cannot_be_meant() {
    for (wrong, names) in [
        ("gateway.replicas=0", "at '/gateway/replicas'"),
        ("gateway.drain=3", "at '/gateway'"),
        ("image.tag=latest", "at '/image/tag'"),
        ("backup.image=postgres", "at '/backup/image'"),
        ("autoscaling=yes", "at '/autoscaling'"),
        (
            "settings.JWT_SECRET=known",
            "invalid propertyName 'JWT_SECRET'",
        ),
        (
            "zoneServer.settings.DRAIN_SECONDS=4",
            "at '/zoneServer/settings'",
        ),
        (
            "gateway.settings.CONNECTIONS_MAX=20000",
            "at '/gateway/settings/CONNECTIONS_MAX'",
        ),
        (
            "zoneServer.resources.limits.memory=null",
            "at '/zoneServer/resources/limits'",
        ),
        ("gateway.maxUnavailable=0%", "at '/gateway/maxUnavailable'"),
        (
            "networkPolicies.database.peers[0].pods=all",
            "at '/networkPolicies/database/peers/0'",
        ),
    ] {
        let (well, _, why) = helm(&["--set", wrong]);
        assert!(!well, "{wrong} is taken");
        assert!(why.contains(names), "{wrong}: {why}");
    }
}

#[test]
fn a_changed_setting_restarts_its_service_alone() {
    let before = objects(&chart(&[]));
    let after = objects(&chart(&[
        "--set-string",
        "zoneServer.settings.SAVE_INTERVAL=30",
    ]));
    let changed: Vec<&String> = before
        .keys()
        .filter(|name| before[*name] != after[*name])
        .collect();
    assert_eq!(changed, ["ConfigMap zone-server", "Deployment zone-server"]);
}

#[test]
fn the_chart_has_the_version_of_the_programs() {
    let chart = fs::read_to_string(k8s().join("chart/Chart.yaml")).unwrap();
    for key in ["version", "appVersion"] {
        let line = format!("{key}: {}", env!("CARGO_PKG_VERSION"));
        assert!(
            chart.lines().any(|there| there == line),
            "Chart.yaml has no line {line:?}"
        );
    }
    let production =
        fs::read_to_string(k8s().join("overlays/production/kustomization.yaml")).unwrap();
    let line = format!("    newTag: {}", env!("CARGO_PKG_VERSION"));
    assert!(
        production.lines().any(|there| there == line),
        "the overlay has no line {line:?}"
    );
}

#[test]
fn the_backup_job_keeps_checked_backups_and_removes_the_oldest() {
    let cron = &objects(&chart(&["--set", "backup.enabled=true"]))["CronJob persistence-backup"];
    let container = &pod(cron).unwrap()["spec"]["containers"][0];
    let command: Vec<&str> = container["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(text)
        .collect();
    let postgres = Postgres::start();
    let scratch = Scratch::new("backups");
    let service = scratch.0.join("pg_service.conf");
    let port = postgres.port();
    fs::write(
        &service,
        format!("[backup]\nhost=127.0.0.1\nport={port}\nuser=postgres\n"),
    )
    .unwrap();
    let backups = scratch.0.join("backups");
    // What an earlier night left: a whole backup each, and one that was interrupted.
    for before in [
        "2026-01-01T03-17-00Z",
        "2026-01-02T03-17-00Z",
        "2026-01-03T03-17-00Z.part",
    ] {
        fs::create_dir_all(backups.join(before)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let mut job = Command::new(command[0]);
    job.args(&command[1..])
        .env("PATH", format!("{}:{path}", postgres.programs().display()))
        .env("BACKUPS", &backups)
        .env("KEEP", "2")
        .env("PGSERVICEFILE", &service);
    let said = expect(&mut job);
    let mut kept: Vec<String> = fs::read_dir(&backups)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept.len(), 2, "{kept:?}: {said}");
    assert_eq!(kept[0], "2026-01-02T03-17-00Z", "{said}");
    assert!(
        backups.join(&kept[1]).join("backup_manifest").is_file(),
        "{said}"
    );
    assert!(said.contains("removed 2026-01-01T03-17-00Z"), "{said}");
    // Without a server nothing is made, and nothing that was kept goes away.
    fs::write(
        &service,
        "[backup]\nhost=127.0.0.1\nport=1\nuser=postgres\n",
    )
    .unwrap();
    let (well, _, _) = run(&mut job);
    assert!(!well);
    assert_eq!(fs::read_dir(&backups).unwrap().count(), 2);
}
