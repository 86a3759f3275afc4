//! What an operator gives to Kubernetes: the chart and the kustomize files say the same, Kubernetes takes what they say, no
//! pod has more rights than it needs, and the times of an end fit together.

#![allow(clippy::unwrap_used)]

mod backup;
mod ends;
mod policy;
mod same;

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use tests::cluster::process::workspace;

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

/// The servers of the game.
const SERVERS: [&str; 3] = ["gateway", "zone-server", "persistence-svc"];

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

/// What one of the two ways makes.
struct Rendering {
    name: String,
    yaml: String,
    objects: Objects,
}

impl Rendering {
    fn new(name: String, yaml: String) -> Self {
        let objects = objects(&yaml);
        Self {
            name,
            yaml,
            objects,
        }
    }
}

/// All renderings: kustomize's, and the chart's beside them. Each is made once.
static ALL: LazyLock<Vec<Rendering>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (name, arguments) in RENDERINGS {
        all.push(Rendering::new(name.to_owned(), kustomize(name)));
        if let Some(arguments) = arguments {
            all.push(Rendering::new(by_chart(name), chart(arguments)));
        }
    }
    all
});

/// The name of what the chart makes in place of some kustomize files.
fn by_chart(name: &str) -> String {
    format!("chart for {name}")
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

/// Returns an object with another value at a place, `/spec/…`. What leads there is made where it is missing.
fn with(object: &Value, place: &str, value: &Value) -> Value {
    let mut other = object.clone();
    let mut at = &mut other;
    for key in place.split('/').skip(1) {
        at = match key.parse::<usize>() {
            Ok(number) => &mut at[number],
            Err(_) => &mut at[key],
        };
    }
    *at = value.clone();
    other
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
