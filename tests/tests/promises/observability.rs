//! Whatever wakes somebody at night is there to be measured, and is written down: alerts, runbooks,
//! dashboards.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use proto::client::Format;
use serde_json::json;
use tests::{
    bot::{Payload, Player},
    cluster::{Cluster, Kind, Plan, process::workspace},
    dashboards::DASHBOARDS,
    http,
};
use tokio::time::{Instant, sleep};

const ALERTS_MAX: usize = 20;
/// First words of all names of measures.
const FAMILIES: [&str; 9] = [
    "gateway_",
    "zone_",
    "persistence_",
    "rpc_",
    "tasks_",
    "loop_",
    "process_",
    "tokio_",
    "tilestead_",
];
/// Time until everything has happened that is measured.
const SOON: Duration = Duration::from_secs(90);

fn file(path: &str) -> PathBuf {
    workspace().join("deploy/observability").join(path)
}

fn read(path: PathBuf) -> Result<String> {
    fs::read_to_string(&path).with_context(|| format!("{}", path.display()))
}

/// Returns the values of a key in lines such as `      - alert: NAME`.
fn values<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let lines = text
        .lines()
        .map(|line| line.trim_start().trim_start_matches("- "));
    let values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    values.map(|value| value.trim_matches('\'')).collect()
}

#[test]
fn each_alert_has_a_runbook_a_series_that_fires_it_and_one_that_does_not() {
    let rules = read(file("rules/tilestead.yaml")).unwrap();
    let alerts = values(&rules, "alert");
    assert!(
        !alerts.is_empty() && alerts.len() <= ALERTS_MAX,
        "{alerts:?}"
    );
    let runbooks = values(&rules, "runbook_url");
    assert_eq!(runbooks.len(), alerts.len());
    for runbook in runbooks {
        let text = read(workspace().join(runbook)).unwrap();
        for part in [
            "## What it means",
            "## What players notice",
            "## What to do",
        ] {
            assert!(text.contains(part), "{runbook} has no part {part:?}");
        }
    }
    let stories = read(file("rules/tilestead.test.yaml")).unwrap();
    let stories = values(&stories, "name");
    for alert in alerts {
        for end in ["fires", "is silent"] {
            let story = format!("{alert} {end}");
            assert!(stories.contains(&&*story), "there is no story {story:?}");
        }
    }
}

#[test]
fn the_rules_do_what_their_stories_tell() {
    let promtool = std::env::var_os("PROMTOOL").map(PathBuf::from);
    let promtool = promtool.expect("PROMTOOL names no program; tests/run unpacks it");
    for (what, path) in [("check", "tilestead.yaml"), ("test", "tilestead.test.yaml")] {
        let told = Command::new(&promtool)
            .args([what, "rules", path])
            .current_dir(file("rules"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&told.stdout);
        let wrong = String::from_utf8_lossy(&told.stderr);
        assert!(
            told.status.success(),
            "promtool {what} rules: {said}{wrong}"
        );
    }
}

/// The rules on Kubernetes are the same text, two columns further in.
#[test]
fn kubernetes_has_the_same_rules() {
    let rules = read(file("rules/tilestead.yaml")).unwrap();
    let rules = rules.lines().skip_while(|line| *line != "groups:");
    let rules: Vec<String> = rules.map(|line| format!("  {line}")).collect();
    let component = workspace().join("k8s/components/observability/rules.yaml");
    let component = read(component).unwrap();
    let component = component.lines().skip_while(|line| *line != "  groups:");
    assert_eq!(component.collect::<Vec<_>>(), rules);
}

#[test]
fn the_dashboards_are_those_of_the_code() {
    for dashboard in DASHBOARDS {
        let path = file(&format!("dashboards/{}.json", dashboard.name));
        let made = format!("{:#}\n", dashboard.json());
        let why = "run `cargo run -p tests --bin dashboards`";
        assert_eq!(read(path).unwrap(), made, "{}: {why}", dashboard.name);
    }
}

/// Returns the measures that a query names, without the endings of histograms.
fn named(query: &str) -> BTreeSet<String> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let measures = words.filter(|word| FAMILIES.iter().any(|family| word.starts_with(family)));
    measures.map(base).collect()
}

fn base(name: &str) -> String {
    let ends = ["_bucket", "_count", "_sum"];
    let end = ends.iter().find_map(|end| name.strip_suffix(end));
    end.unwrap_or(name).to_owned()
}

/// Returns all measures that rules and dashboards name.
fn wanted() -> Result<BTreeSet<String>> {
    let rules = read(file("rules/tilestead.yaml"))?;
    let queries = rules.lines().filter(|line| {
        let line = line.trim_start();
        !line.starts_with('#') && !line.starts_with("description") && !line.starts_with("record")
    });
    let mut wanted: BTreeSet<String> = queries.flat_map(named).collect();
    for panel in DASHBOARDS.iter().flat_map(|dashboard| dashboard.panels) {
        wanted.extend(panel.queries.iter().flat_map(|(query, _)| named(query)));
    }
    // KEDA asks for some, too.
    let keda = read(workspace().join("k8s/components/keda/keda.yaml"))?;
    let asked = values(&keda, "query").into_iter().flat_map(named);
    let asked: BTreeSet<String> = asked.collect();
    ensure!(asked.len() == 2, "KEDA asks for {asked:?}");
    wanted.extend(asked);
    Ok(wanted)
}

async fn scraped(cluster: &Cluster) -> Result<BTreeSet<String>> {
    let mut there = BTreeSet::new();
    for member in [
        (Kind::Gateway, 0),
        (Kind::Zone, 0),
        (Kind::Zone, 1),
        (Kind::Persistence, 0),
    ] {
        let answer = http::get(&cluster.probes(member)?, "/metrics").await?;
        let text = answer.text();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        there.extend(
            lines
                .filter_map(|line| line.split(['{', ' ']).next())
                .map(base),
        );
    }
    Ok(there)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_measure_that_a_rule_or_a_dashboard_names_is_there() {
    let cluster = Cluster::start(Plan::new("observability").of(1, 2, 1))
        .await
        .unwrap();
    measured(&cluster).await.unwrap();
}

async fn measured(cluster: &Cluster) -> Result<()> {
    let wanted = wanted()?;
    ensure!(wanted.len() > 30, "rules and dashboards name {wanted:?}");
    let ann = Player::arrive(&cluster.gateway(0), Format::Json, "Ann").await?;
    let answer = ann.ask("player:move", &json!({ "stop": true })).await?;
    ensure!(matches!(answer, Payload::Ack(_)), "{answer:?}");
    let deadline = Instant::now() + SOON;
    loop {
        let there = scraped(cluster).await?;
        let missing: Vec<&String> = wanted.difference(&there).collect();
        if missing.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "nobody measures {missing:?}");
        sleep(Duration::from_millis(500)).await;
    }
}
