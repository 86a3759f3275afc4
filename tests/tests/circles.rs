//! Files of different folders of a crate do not import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use tests::cluster::process::workspace;

/// Path of a module inside its crate.
type Module = Vec<String>;

/// Crates with folders.
const CRATES: [&str; 7] = [
    "world",
    "proto",
    "gateway",
    "zone-server",
    "zone-server/handover",
    "persistence-svc",
    "deploy/launcher",
];

/// Paths that a file names, from the root of its crate.
struct Named {
    own: Module,
    paths: Vec<Module>,
}

impl Named {
    /// Notes a path, if it begins inside the crate.
    fn note(&mut self, path: &[String]) {
        let mut base = match path.first().map(String::as_str) {
            Some("crate") => Module::new(),
            Some("super" | "self") => self.own.clone(),
            _ => return,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(base.pop()),
                name => base.push(name.to_owned()),
            }
        }
        self.paths.push(base);
    }

    fn note_tree(&mut self, mut begin: Module, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                begin.push(path.ident.to_string());
                self.note_tree(begin, &path.tree);
            }
            syn::UseTree::Group(group) => {
                let parts = group.items.iter();
                parts.for_each(|part| self.note_tree(begin.clone(), part));
            }
            syn::UseTree::Name(name) => {
                begin.push(name.ident.to_string());
                self.note(&begin);
            }
            syn::UseTree::Rename(name) => {
                begin.push(name.ident.to_string());
                self.note(&begin);
            }
            syn::UseTree::Glob(_) => self.note(&begin),
        }
    }
}

impl<'ast> Visit<'ast> for Named {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(Module::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Module = path.segments.iter().map(|s| s.ident.to_string()).collect();
        self.note(&parts);
        visit::visit_path(self, path);
    }

    /// Passes over `pub(super)`, which imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Tests may import whatever they like.
        let tests = item.attrs.iter().any(|a| a.path().is_ident("cfg"));
        if !tests {
            visit::visit_item_mod(self, item);
        }
    }
}

/// A file of sources.
struct File {
    /// Folder in which it lies.
    folder: String,
    source: String,
}

/// Finds the files of a crate, each by its module. Leaves out the tests.
fn modules(root: &Path, folder: &Path, found: &mut BTreeMap<Module, File>) {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            modules(root, &path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let inside = path.strip_prefix(root).expect("a file inside");
            let mut module: Module = inside
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into_owned())
                .collect();
            let last = module.last().map(String::as_str);
            if matches!(last, Some("mod" | "lib" | "main")) {
                module.pop();
            }
            let file = File {
                folder: folder.display().to_string(),
                source: std::fs::read_to_string(&path).expect("a source"),
            };
            found.insert(module, file);
        }
    }
}

/// Returns the modules that each module imports.
fn imports(files: &BTreeMap<Module, File>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let of = |(own, file): (_, &File)| {
        let file = syn::parse_file(&file.source).expect("Rust");
        let mut named = Named {
            own: Module::clone(own),
            paths: Vec::new(),
        };
        named.visit_file(&file);
        // The longest part of a path that is a module says which file has the thing.
        let module = |path: &Module| {
            let parts = (1..=path.len()).rev();
            let mut known = parts.filter_map(|n| files.get_key_value(&path[..n]));
            known.next().map(|(module, _)| module)
        };
        let found = named.paths.iter().filter_map(module);
        (own, found.filter(|other| *other != own).collect())
    };
    files.iter().map(of).collect()
}

/// Returns all modules that `from` reaches by imports.
fn reached<'a>(
    graph: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
    from: &'a Module,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let next = graph.get(module).into_iter().flatten().copied();
        open.extend(next.filter(|next| reached.insert(*next)));
    }
    reached
}

/// Returns the circles through several folders, as lists of modules.
fn circles(files: &BTreeMap<Module, File>) -> BTreeSet<String> {
    let graph = imports(files);
    let reach: BTreeMap<&Module, BTreeSet<&Module>> =
        files.keys().map(|m| (m, reached(&graph, m))).collect();
    let mut found = BTreeSet::new();
    for (module, reaches) in &reach {
        let circle: Vec<&Module> = reaches
            .iter()
            .filter(|other| reach[**other].contains(*module))
            .copied()
            .collect();
        let folders: BTreeSet<&str> = circle.iter().map(|m| &*files[*m].folder).collect();
        if folders.len() > 1 {
            let names: Vec<String> = circle.iter().map(|m| m.join("::")).collect();
            found.insert(names.join(", "));
        }
    }
    found
}

#[test]
fn files_of_different_folders_import_each_other_in_no_circle() {
    let mut found = Vec::new();
    for name in CRATES {
        let root = workspace().join(name).join("src");
        let mut files = BTreeMap::new();
        modules(&root, &root, &mut files);
        assert!(files.len() > 1, "{name} has no files");
        let circles = circles(&files).into_iter();
        found.extend(circles.map(|circle| format!("{name}: {circle}")));
    }
    assert!(
        found.is_empty(),
        "these files import each other:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_circle_through_two_folders_is_found() {
    let sources = [
        ("", "", "mod a; mod b; mod c;"),
        ("a", "a", "mod one; use crate::b::Two;"),
        ("a::one", "a", "pub(super) struct One;"),
        (
            "b",
            "b",
            "mod two; pub struct Two; fn two() { crate::a::build() }",
        ),
        ("c", "c", "mod three; use three::Three; use crate::a::A;"),
        ("c::three", "c", "use super::C;"),
    ];
    let module = |path: &str| {
        let parts = path.split("::").filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect::<Module>()
    };
    let files = sources.map(|(path, folder, source)| {
        let file = File {
            folder: folder.to_owned(),
            source: source.to_owned(),
        };
        (module(path), file)
    });
    let found: Vec<String> = circles(&files.into()).into_iter().collect();
    assert_eq!(found, ["a, b"]);
}
