//! The documents: each link of them leads somewhere, in the repository and on the site that mdBook makes of
//! them, and what they repeat from the code is what the code says.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tests::cluster::{
    launcher::DataFolder,
    process::{finish, workspace},
};

const SOON: Duration = Duration::from_secs(20);

/// Returns all documents of the repository, by their paths in it.
pub(crate) fn documents() -> BTreeMap<PathBuf, String> {
    fn look(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            // Folders of builds, and tools that a test run installs.
            let foreign = name.starts_with('.') || matches!(&*name, "target" | "out" | "data");
            if path.is_dir() && !foreign {
                look(&path, found);
            } else if name.ends_with(".md") {
                let inside = path.strip_prefix(workspace()).expect("below the folder");
                let text = std::fs::read_to_string(&path).expect("a document");
                found.insert(inside.to_owned(), text);
            }
        }
    }
    let mut found = BTreeMap::new();
    look(&workspace(), &mut found);
    assert!(found.len() > 40, "only {} documents", found.len());
    found
}

/// Returns a document without its fenced blocks and inline code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fenced || fence {
            continue;
        }
        for (at, part) in line.split('`').enumerate() {
            prose.push_str(if at % 2 == 0 { part } else { "code" });
        }
        prose.push('\n');
    }
    prose
}

/// Returns the targets of a document's links and pictures.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let after = prose.split("](").skip(1);
    let targets = after.filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// Returns the names by which links reach the headings of a document.
fn headings(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let Some(title) = line.strip_prefix('#').filter(|_| !fenced) else {
            continue;
        };
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter_map(|c| match c {
            c if c.is_whitespace() => Some('-'),
            c => (c.is_alphanumeric() || c == '-' || c == '_').then_some(c),
        });
        found.insert(kept.collect());
    }
    found
}

/// Returns a path without `.`, and with `..` only where it leads out of the folder that it begins in.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir
                if plain.parent().is_some() && !plain.ends_with("..") =>
            {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

fn elsewhere(target: &str) -> bool {
    ["http://", "https://", "mailto:", "data:"]
        .iter()
        .any(|scheme| target.starts_with(scheme))
}

/// Returns the links of these documents that lead nowhere.
fn lost(documents: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut lost = Vec::new();
    for (path, text) in documents {
        for target in links(text).iter().filter(|target| !elsewhere(target)) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = path.parent().unwrap_or(Path::new(""));
            let file = if file.is_empty() {
                path.clone()
            } else {
                plain(&folder.join(file))
            };
            let inside = !file.starts_with("..");
            let there = documents.contains_key(&file) || workspace().join(&file).exists();
            let known = documents.get(&file).map(|text| headings(text));
            let named = heading.is_empty() || known.is_some_and(|known| known.contains(heading));
            if !inside || !there || !named {
                lost.push(format!("{}: {target}", path.display()));
            }
        }
    }
    lost
}

#[test]
fn a_link_to_nothing_is_found() {
    let text = "# A title: one\n[a](#a-title-one) [b](b.md#there) [c](../c.md) [f](../../f.md) `[d](d.md)`\n```\n[e](e.md)\n```\n";
    let documents = [("docs/a.md", text), ("docs/b.md", "# Here\n")];
    let documents = documents.map(|(path, text)| (PathBuf::from(path), text.to_owned()));
    let lost = lost(&documents.into());
    assert_eq!(
        lost,
        [
            "docs/a.md: b.md#there",
            "docs/a.md: ../c.md",
            "docs/a.md: ../../f.md"
        ]
    );
}

#[test]
fn each_link_of_a_document_leads_to_a_file_and_a_heading() {
    let lost = lost(&documents());
    assert!(lost.is_empty(), "links to nothing:\n{}", lost.join("\n"));
}

#[test]
fn each_page_of_the_documentation_is_in_its_summary() {
    let documents = documents();
    let summary = &documents[Path::new("docs/SUMMARY.md")];
    let listed: BTreeSet<PathBuf> = links(summary)
        .iter()
        .map(|target| plain(&Path::new("docs").join(target)))
        .collect();
    let pages = documents.keys().filter(|path| path.starts_with("docs"));
    let missing = pages.filter(|path| !path.ends_with("SUMMARY.md") && !listed.contains(*path));
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
    for page in [
        "ARCHITECTURE",
        "BENCHMARKS",
        "CHANGELOG",
        "CONTRIBUTING",
        "SECURITY",
        "tests/FAULTS",
    ] {
        let page = format!("{page}.md");
        assert!(listed.contains(Path::new(&page)), "{page} is no page");
    }
}

/// Returns all values of an attribute in a page.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!(" {name}=\"");
    let after = page.split(&*begin).skip(1);
    after.filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns all pages of a built site, by their paths in it.
fn built(folder: &Path, root: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            built(&path, root, found);
        } else if path.extension().is_some_and(|end| end == "html") {
            let text = std::fs::read_to_string(&path).expect("a page");
            found.insert(path.strip_prefix(root).expect("inside").to_owned(), text);
        }
    }
}

/// Builds the documentation into a folder.
fn build(folder: &Path) {
    let mdbook =
        std::env::var_os("MDBOOK").expect("MDBOOK names no program; tests/run installs it");
    let told = Command::new(mdbook)
        .args(["build", "docs", "--dest-dir"])
        .arg(folder)
        .current_dir(workspace())
        .output()
        .expect("mdBook");
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "mdbook build docs: {said}");
    assert!(!said.contains("WARN"), "mdbook build docs: {said}");
}

#[test]
fn the_site_is_built_and_each_of_its_links_leads_somewhere() {
    let folder = DataFolder::new("site").unwrap();
    build(folder.path());
    let mut pages = BTreeMap::new();
    built(folder.path(), folder.path(), &mut pages);
    assert!(pages.len() > 40, "only {} pages", pages.len());
    // Its links count from the root of a server, which nobody knows here.
    pages.remove(Path::new("404.html"));
    let mut lost = Vec::new();
    for (path, page) in &pages {
        let targets = [attributes(page, "href"), attributes(page, "src")].concat();
        for target in targets.iter().filter(|target| !elsewhere(target)) {
            let (file, id) = target.split_once('#').unwrap_or((target, ""));
            let beside = path.parent().unwrap_or(Path::new(""));
            let file = match file {
                "" => path.clone(),
                file => plain(&beside.join(file)),
            };
            let ids = pages.get(&file).map(|page| attributes(page, "id"));
            let named = id.is_empty() || ids.is_some_and(|ids| ids.contains(&id));
            let on_disk = folder.path().join(&file);
            if !on_disk.is_file() && !on_disk.join("index.html").is_file() || !named {
                lost.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(lost.is_empty(), "links to nothing:\n{}", lost.join("\n"));
    let text = &pages[Path::new("ARCHITECTURE.html")];
    assert!(
        text.contains("href=\"walks.html\""),
        "no link to a page beside it"
    );
}

/// Returns the settings of a service, as it prints them.
pub(crate) async fn settings(service: &str) -> BTreeSet<String> {
    let printed = finish(service, &["--print-config"], &[], SOON).await;
    let printed = printed.expect("a program of ours");
    assert_eq!(printed.code, Some(0), "{service}: {}", printed.stderr);
    let names = printed
        .stdout
        .lines()
        .filter_map(|line| line.split(' ').next());
    let upper = |name: &&str| {
        name.len() > 1
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    names.filter(upper).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_page_of_settings_has_the_settings_of_the_services() {
    let page = &documents()[Path::new("docs/settings.md")];
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let firsts = rows.filter_map(|row| row.split_once(" |"));
    let listed: BTreeSet<String> = firsts
        .flat_map(|(names, _)| {
            names
                .split("`")
                .step_by(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|name| !name.is_empty())
        .collect();
    let mut known = BTreeSet::new();
    for service in ["gateway", "zone-server", "persistence-svc"] {
        known.extend(settings(service).await);
    }
    assert_eq!(
        listed, known,
        "left: docs/settings.md, right: --print-config"
    );
}

#[test]
fn the_page_for_players_has_the_keys_that_the_game_shows() {
    let documents = documents();
    let page = &documents[Path::new("docs/play.md")];
    let help = std::fs::read_to_string(workspace().join("gateway/page/help.js")).unwrap();
    let rows = help.lines().filter_map(|line| {
        let row = line.trim().strip_prefix("[\"")?.strip_suffix("\"],")?;
        row.split_once("\", \"")
    });
    let rows: Vec<_> = rows
        .map(|(keys, words)| format!("| {keys} | {words} |"))
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    let missing: Vec<_> = rows
        .iter()
        .filter(|row| !page.lines().any(|line| line == **row))
        .collect();
    assert!(missing.is_empty(), "not in docs/play.md: {missing:#?}");
}

#[test]
fn the_page_of_runbooks_has_each_alert_with_its_runbook() {
    let documents = documents();
    let page = &documents[Path::new("docs/runbooks/README.md")];
    let rules = workspace().join("deploy/observability/rules/tilestead.yaml");
    let rules = std::fs::read_to_string(rules).unwrap();
    let after = |name: &str| -> Vec<String> {
        let lines = rules
            .lines()
            .filter_map(|line| line.trim().strip_prefix(name));
        lines.map(|value| value.trim().to_owned()).collect()
    };
    let (alerts, runbooks) = (after("- alert:"), after("runbook_url: docs/runbooks/"));
    let rows: Vec<_> = page
        .lines()
        .filter(|line| line.starts_with("| [`"))
        .collect();
    assert_eq!(rows.len(), alerts.len());
    for ((row, alert), runbook) in rows.iter().zip(alerts).zip(runbooks) {
        let begin = format!("| [`{alert}`]({runbook}) |");
        assert!(row.starts_with(&begin), "{row} does not begin with {begin}");
    }
}
