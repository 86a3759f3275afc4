//! The chart and the kustomize files make the same, and Kubernetes takes it.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    ALL, Objects, RENDERINGS, Rendering, Scratch, by_chart, chart, expect, helm, k8s, objects,
    plain, program, text,
};

/// Oldest and newest version of Kubernetes for which the objects are checked.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];
/// Groups of kinds that Kubernetes itself does not know, so that no schema of its own judges them.
const FOREIGN: [&str; 4] = [
    "cert-manager.io/v1",
    "gateway.networking.k8s.io/v1",
    "keda.sh/v1alpha1",
    "monitoring.coreos.com/v1",
];
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
    let made = |name: &str| {
        let found = ALL.iter().find(|rendering| rendering.name == name);
        found.map(|rendering| plain(rendering.objects.clone()))
    };
    for (name, _) in RENDERINGS {
        let by_kustomize = made(name).unwrap();
        let Some(by_chart) = made(&by_chart(name)) else {
            continue;
        };
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
    for Rendering {
        name,
        yaml,
        objects,
    } in ALL.iter()
    {
        let scratch = Scratch::new(&format!("valid-{}", name.replace(['/', ' '], "-")));
        let file = scratch.0.join("objects.yaml");
        fs::write(&file, yaml).unwrap();
        let own = objects
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
