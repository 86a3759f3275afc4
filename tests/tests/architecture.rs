//! Dependencies between the crates, as `cargo metadata` sees them, and forms that no source may
//! have.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use syn::visit::{self, Visit};
use tests::cluster::process::workspace;

/// Crates of ours on which each crate may depend. Tests may bring up their own stores.
const MAY_KNOW: [(&str, &[&str]); 17] = [
    ("world", &[]),
    ("proto", &["world"]),
    ("service-runtime", &[]),
    ("test-servers", &[]),
    ("content-loader", &["proto", "service-runtime", "world"]),
    ("view", &["proto", "world"]),
    ("view-laws", &["view", "proto", "world"]),
    (
        "gateway",
        &[
            "proto",
            "service-runtime",
            "world",
            "content-loader",
            "view",
        ],
    ),
    ("handover", &["world"]),
    (
        "zone-server",
        &[
            "proto",
            "service-runtime",
            "world",
            "content-loader",
            "handover",
        ],
    ),
    ("persistence-svc", &["proto", "service-runtime", "world"]),
    (
        "tilestead",
        &[
            "proto",
            "service-runtime",
            "world",
            "content-loader",
            "gateway",
            "zone-server",
            "persistence-svc",
            "load-generator",
        ],
    ),
    ("load-generator", &["proto", "world"]),
    ("handover-model", &["handover", "world"]),
    ("scale", &["proto", "world", "view", "persistence-svc"]),
    (
        "simulation",
        &[
            "proto",
            "service-runtime",
            "world",
            "handover",
            "persistence-svc",
            "zone-server",
        ],
    ),
    (
        "tests",
        &[
            "proto",
            "service-runtime",
            "world",
            "content-loader",
            "tilestead",
            "load-generator",
            "test-servers",
        ],
    ),
];

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(workspace())
        .output()
        .expect("cargo metadata");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("metadata")
}

/// Returns each crate of the workspace with those of the workspace that it depends on; those that
/// only its tests need apart.
fn arrows() -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut arrows = BTreeMap::new();
    for package in packages {
        let (mut normal, mut dev) = (BTreeSet::new(), BTreeSet::new());
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["name"].as_str().expect("name");
            if names.contains(name) {
                let only_tests = dependency["kind"] == "dev";
                let set = if only_tests { &mut dev } else { &mut normal };
                set.insert(name.to_owned());
            }
        }
        arrows.insert(
            package["name"].as_str().expect("name").to_owned(),
            (normal, dev),
        );
    }
    arrows
}

fn allowed(name: &str) -> &'static [&'static str] {
    MAY_KNOW
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, may)| *may)
        .unwrap_or_else(|| panic!("{name} is not in the table: say whom it may know"))
}

#[test]
fn crates_know_only_whom_they_may() {
    for (name, (normal, dev)) in arrows() {
        let may = allowed(&name);
        for other in &normal {
            assert!(
                may.contains(&other.as_str()),
                "{name} must not depend on {other}"
            );
        }
        for other in &dev {
            let may = may.contains(&other.as_str()) || other == "test-servers" || other == &name;
            assert!(may, "{name} must not depend on {other}, not even in tests");
        }
    }
}

#[test]
fn the_game_does_no_input_or_output() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let world = packages
        .iter()
        .find(|p| p["name"] == "world")
        .expect("world");
    let forbidden = [
        "tokio",
        "tonic",
        "hyper",
        "axum",
        "redis",
        "rusqlite",
        "tokio-postgres",
    ];
    for dependency in world["dependencies"].as_array().expect("dependencies") {
        let name = dependency["name"].as_str().expect("name");
        assert!(!forbidden.contains(&name), "world depends on {name}");
    }
}

/// Returns all files of our own under `folder` that end so.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

#[test]
fn each_test_that_the_table_of_faults_names_exists() {
    let table = std::fs::read_to_string(workspace().join("tests/FAULTS.md")).expect("the table");
    let mut sources = Vec::new();
    files(&workspace(), ".rs", &mut sources);
    let sources = sources.iter().map(std::fs::read_to_string);
    let sources: String = sources.collect::<Result<_, _>>().expect("sources");
    // Between back-quotes; the names of tests are sentences.
    let quoted = table.split('`').skip(1).step_by(2);
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_test = |name: &&str| name.matches('_').count() >= 2 && name.chars().all(word);
    let names: BTreeSet<&str> = quoted.filter(is_test).collect();
    assert!(names.len() > 40, "only {} are named", names.len());
    let missing = names
        .iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")));
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

/// Collects all paths of a source, those of `use` with their whole tree.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl Paths {
    fn used(&mut self, mut begin: Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                begin.push(path.ident.to_string());
                self.used(begin, &path.tree);
            }
            syn::UseTree::Name(name) => {
                begin.push(name.ident.to_string());
                self.0.push(begin);
            }
            syn::UseTree::Rename(name) => {
                begin.push(name.ident.to_string());
                self.0.push(begin);
            }
            syn::UseTree::Glob(_) => self.0.push(begin),
            syn::UseTree::Group(group) => {
                let each = group.items.iter();
                each.for_each(|tree| self.used(begin.clone(), tree));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter();
        self.0
            .push(segments.map(|it| it.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.used(Vec::new(), &item.tree);
    }
}

/// Features by their folders, those of their parts too.
type Features = BTreeMap<String, String>;

/// Returns the folders of other features whose `rules` a source of the feature `own` names.
fn foreign_rules<'a>(source: &str, own: &str, features: &'a Features) -> Vec<&'a str> {
    let mut paths = Paths::default();
    paths.visit_file(&syn::parse_file(source).expect("a source that compiles"));
    let pairs = paths.0.iter().flat_map(|path| path.windows(2));
    let named = pairs.filter(|pair| pair[1] == "rules");
    let named = named.filter_map(|pair| features.get_key_value(&pair[0]));
    let foreign = named.filter(|(_, feature)| *feature != own);
    foreign.map(|(folder, _)| folder.as_str()).collect()
}

#[test]
fn a_path_into_the_rules_of_another_feature_is_found() {
    let known = [("trade", "trade"), ("duel", "duel"), ("gather", "skilling")];
    let features: Features = known.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    let found = |source: &str| foreign_rules(source, "trade", &features).len();
    assert_eq!(found("fn f() { duel::rules::allows() }"), 1);
    assert_eq!(found("use crate::features::duel::rules;"), 1);
    assert_eq!(
        found("use crate::features::duel::{self, rules::{A, B}};"),
        2
    );
    assert_eq!(found("fn f(of: crate::features::duel::rules::A) {}"), 1);
    assert_eq!(found("fn f() { gather::rules::gear() }"), 1);
    assert_eq!(found("use crate::rules::Rules; use super::rules;"), 0);
    assert_eq!(found("fn f() { trade::rules::may_ask() }"), 0);
    assert_eq!(found("use crate::features::duel::Conduct;"), 0);
}

#[test]
fn no_feature_names_the_rules_of_another() {
    let root = workspace().join("world/src/features");
    let mut inside = Vec::new();
    files(&root, ".rs", &mut inside);
    let mut features = Features::new();
    for path in &inside {
        let path = path.strip_prefix(&root).expect("a file inside");
        let folders = path.parent().into_iter().flat_map(Path::iter);
        let folders: Vec<_> = folders
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        let all = folders.iter().cloned();
        features.extend(all.map(|folder| (folder, folders[0].clone())));
    }
    assert!(features.len() > 20, "only {} features", features.len());
    let mut found = Vec::new();
    let mut sources = Vec::new();
    files(&workspace().join("world/src"), ".rs", &mut sources);
    for path in sources {
        let source = std::fs::read_to_string(&path).expect("a source");
        let inside = path.strip_prefix(&root).ok();
        let own = inside.and_then(|path| path.iter().next());
        let own = own.map(|own| own.to_string_lossy().into_owned());
        for other in foreign_rules(&source, own.as_deref().unwrap_or_default(), &features) {
            let path = path.strip_prefix(workspace()).unwrap_or(&path).display();
            found.push(format!("{path}: {other}::rules"));
        }
    }
    assert!(
        found.is_empty(),
        "ask the other feature's `mod.rs`, or say it in `tick/consequences.rs`:\n{}",
        found.join("\n")
    );
}

/// Folders whose sources are ours and run in production.
const PRODUCTION: [&str; 8] = [
    "world/src",
    "world/content-loader/src",
    "proto/src",
    "proto/service-runtime/src",
    "gateway/src",
    "zone-server/src",
    "persistence-svc/src",
    "deploy/launcher/src",
];

/// Returns whether an enum of that name lists requests, events, refusals, or reasons for which
/// value moves. The payloads of `.proto` messages are named like the field that they fill.
fn is_closed(name: &str) -> bool {
    let exact = [
        "Cause",
        "ErrorCode",
        "Incoming",
        "Intent",
        "Order",
        "Part",
        "Refusal",
        "Told",
        "Word",
    ];
    let ends = ["Event", "Message", "Notification", "Refusal", "Told"];
    exact.contains(&name) || ends.iter().any(|end| name.ends_with(end))
}

/// Finds arms that take every case, in matches over closed enums.
///
/// A match counts as one over a closed enum if the pattern of any arm names a path whose last
/// segment but one is such an enum ([`is_closed`]). Inside an `impl` of the enum, `Self` counts
/// too. An arm takes every case if it has no guard and its pattern is `_`, a name that begins with
/// `_`, or a tuple of these. A name that is used passes the case on, and so drops nothing. Matches
/// inside of macros are not read.
#[derive(Default)]
struct CatchAlls {
    /// The enums whose `impl` is being read, the innermost last.
    selves: Vec<String>,
    /// The function that is being read.
    function: String,
    /// Functions with such an arm.
    found: Vec<String>,
}

/// The enums that a pattern names.
struct Names<'a> {
    of_self: Option<&'a String>,
    closed: bool,
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut segments = path.segments.iter().rev().skip(1);
        if let Some(owner) = segments.next() {
            let name = owner.ident.to_string();
            let named = if name == "Self" {
                self.of_self
            } else {
                Some(&name)
            };
            self.closed |= named.is_some_and(|name| is_closed(name));
        }
        visit::visit_path(self, path);
    }
}

fn takes_all(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(name) => name.ident.to_string().starts_with('_'),
        syn::Pat::Tuple(tuple) => tuple.elems.iter().all(takes_all),
        syn::Pat::Or(or) => or.cases.iter().any(takes_all),
        syn::Pat::Paren(inner) => takes_all(&inner.pat),
        syn::Pat::Reference(inner) => takes_all(&inner.pat),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for CatchAlls {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        self.selves.push(name.unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.selves.pop();
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.function = signature.ident.to_string();
        visit::visit_signature(self, signature);
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        let mut names = Names {
            of_self: self.selves.last(),
            closed: false,
        };
        expr.arms.iter().for_each(|arm| names.visit_pat(&arm.pat));
        if names.closed {
            let takes_all = |arm: &&syn::Arm| arm.guard.is_none() && takes_all(&arm.pat);
            let count = expr.arms.iter().filter(takes_all).count();
            self.found.extend(vec![self.function.clone(); count]);
        }
        visit::visit_expr_match(self, expr);
    }
}

fn catch_alls(source: &str) -> Vec<String> {
    let mut found = CatchAlls::default();
    found.visit_file(&syn::parse_file(source).expect("a source that compiles"));
    found.found
}

#[test]
fn an_arm_that_takes_every_event_is_found() {
    let arm = |pattern: &str| {
        let source = format!(
            "impl Refusal {{ fn f(e: E) {{ match e {{ trade::Event::Told {{ .. }} => 1, {pattern} => 2 }} }}
             fn g(self) {{ match self {{ Self::Busy => 1, {pattern} => 2 }} }} }}"
        );
        catch_alls(&source).len()
    };
    assert_eq!(arm("_"), 2);
    assert_eq!(arm("_other"), 2);
    assert_eq!(arm("Event::Asked { .. } | _"), 2);
    assert_eq!(arm("(_, _other)"), 2);
    assert_eq!(arm("other"), 0);
    assert_eq!(arm("Event::Asked { .. }"), 0);
    assert_eq!(arm("_ if later()"), 0);
    assert!(catch_alls("fn f(n: u8) { match n { 0 => {} _ => {} } }").is_empty());
}

#[test]
fn no_match_drops_a_new_intent_event_message_cause_or_refusal_in_silence() {
    let mut found = Vec::new();
    for folder in PRODUCTION {
        let mut sources = Vec::new();
        files(&workspace().join(folder), ".rs", &mut sources);
        assert!(!sources.is_empty(), "{folder} has no sources");
        let tests = |path: &PathBuf| path.to_string_lossy().contains("tests");
        sources.retain(|path| !tests(&path.strip_prefix(workspace()).unwrap_or(path).to_owned()));
        for path in sources {
            let source = std::fs::read_to_string(&path).expect("a source");
            let path = path.strip_prefix(workspace()).unwrap_or(&path).display();
            let functions = catch_alls(&source).into_iter();
            found.extend(functions.map(|function| format!("{path}: {function}")));
        }
    }
    assert!(
        found.is_empty(),
        "name the variants instead of taking every case:\n{}",
        found.join("\n")
    );
}
