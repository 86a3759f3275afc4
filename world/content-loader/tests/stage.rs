//! Parts that the tests share: a small land, and a world's folder that they remove at their end.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use content_loader::{Config, Files, Times};
use service_runtime::config::Environment;
use test_servers::Cdn;

/// The manifests of a small land.
pub(crate) const LAND: &[(&str, &str)] = &[
    ("npcs.json", "[]"),
    ("stores.json", "[]"),
    ("items.json", "[]"),
    ("biomes.json", r#"[{"id": "plain", "name": "Plain"}]"#),
    ("music.json", "[]"),
    ("gathering/mining.json", r#"{"rocks": []}"#),
    (
        "world-areas.json",
        r#"{"starterTowns": {"town": {"id": "town", "name": "Town", "biomeType": "plain",
            "bounds": {"minX": 0, "maxX": 64, "minZ": 0, "maxZ": 64}}}}"#,
    ),
];

/// Manifests that nobody can do without.
pub(crate) const REQUIRED: [&str; 5] = [
    "npcs.json",
    "stores.json",
    "items.json",
    "biomes.json",
    "world-areas.json",
];

/// Returns a content server with the small land.
pub(crate) fn cdn() -> Cdn {
    Cdn::start(LAND.iter().copied())
}

/// Returns the text of the small land's manifest at `path`.
pub(crate) fn text(path: &str) -> &'static str {
    LAND.iter().find(|(p, _)| *p == path).unwrap().1
}

/// Returns the small land as files.
pub(crate) fn land() -> Files {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    LAND.iter().map(owned).collect()
}

/// Returns the fixtures of these generations, a later one's before an earlier one's.
pub(crate) fn generations(names: &[&str]) -> Files {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut files = Files::new();
    for name in names {
        add(&fixtures.join(name), "", &mut files);
    }
    files
}

fn add(folder: &Path, prefix: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            add(&entry.path(), &format!("{prefix}{name}/"), files);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            files.insert(format!("{prefix}{name}"), text);
        }
    }
}

/// A world's folder that goes when the test ends.
pub(crate) struct World(PathBuf);

impl World {
    pub(crate) fn new() -> Self {
        let name = format!("content-loader-{}-{}", std::process::id(), unique());
        Self(std::env::temp_dir().join(name))
    }

    /// Makes a folder with these manifests in it.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.0.join("assets/manifests").join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.file(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Returns the text of a manifest; none when it is not there.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.file(path)).ok()
    }

    /// Returns the settings for this folder and content server.
    pub(crate) fn config(&self, environment: Environment, cdn: Option<&str>) -> Config {
        Config {
            environment,
            world: self.0.clone(),
            cdn_url: cdn.map(str::to_owned),
            production_cdn_url: None,
            skip: false,
            all_from_cdn: false,
            follow: true,
            times: Times {
                attempt: Duration::from_millis(300),
                whole: Duration::from_secs(10),
            },
        }
    }

    pub(crate) fn production(&self, cdn: &str) -> Config {
        self.config(Environment::Production, Some(cdn))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn unique() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Returns an address at which nobody is.
pub(crate) fn nobody() -> String {
    let bound = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", bound.local_addr().unwrap())
}
