//! All zones play one version of the content: that of the oldest run.

use std::{fs, path::PathBuf};

use service_runtime::config::Environment;
use world::Content;
use zone_server::Config;

use crate::stage::{Zone, store::Store, until};

/// A world's folder with a small land, which is another version than the built-in one.
struct World(PathBuf);

impl World {
    fn new() -> Self {
        let name = format!("zone-content-{}", uuid::Uuid::new_v4());
        let world = Self(std::env::temp_dir().join(name));
        let manifests = world.0.join("assets/manifests");
        fs::create_dir_all(&manifests).unwrap();
        for (path, text) in [
            ("npcs.json", "[]"),
            ("stores.json", "[]"),
            (
                "items.json",
                r#"[{"id": "coins", "name": "Coins", "stackable": true}]"#,
            ),
            ("biomes.json", r#"[{"id": "plain", "name": "Plain"}]"#),
            (
                "world-areas.json",
                r#"{"starterTowns": {"town": {"id": "town", "name": "Town", "biomeType": "plain",
                    "bounds": {"minX": 0, "maxX": 64, "minZ": 0, "maxZ": 64}}}}"#,
            ),
        ] {
            fs::write(manifests.join(path), text).unwrap();
        }
        world
    }

    fn play(&self, config: &mut Config) {
        config.content.environment = Environment::Test;
        config.content.skip = false;
        config.content.world.clone_from(&self.0);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the content with which the run is registered.
fn content_of(store: &Store, run: u64) -> Option<String> {
    store.read(|state| state.contents.get(&run).cloned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_that_starts_later_plays_what_is_played() {
    let (store, world) = (Store::start().await, World::new());
    let first = Zone::start(&store.address, |config| world.play(config)).await;
    until("the first run", || content_of(&store, 1).is_some()).await;
    let played = content_of(&store, 1).unwrap();
    assert_ne!(played, Content::embedded().hash(), "the small land");

    let second = Zone::start(&store.address, |_| {}).await;
    until("the second run", || content_of(&store, 2).is_some()).await;
    let coins = |state: &crate::stage::store::State| {
        let items = state.items.get(&2);
        items.is_some_and(|ids| ids == &["coins".to_owned()])
    };
    until("the store has the catalogue", || store.read(coins)).await;
    assert_eq!(content_of(&store, 2), Some(played));

    // One that is to bring another version does.
    let third = Zone::start(&store.address, |config| config.content.follow = false).await;
    until("the third run", || content_of(&store, 3).is_some()).await;
    assert_eq!(
        content_of(&store, 3).as_deref(),
        Some(Content::embedded().hash())
    );
    for zone in [third, second, first] {
        zone.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_finds_an_older_one_with_other_content_is_followed_by_one_that_plays_that() {
    let (store, world) = (Store::start().await, World::new());
    let first = Zone::start(&store.address, |config| world.play(config)).await;
    until("the first run", || content_of(&store, 1).is_some()).await;
    // A run that leaves decides nothing; so the second zone brings its own content.
    store.change(|state| state.draining.push(1));
    let second = Zone::start(&store.address, |_| {}).await;
    until("the second run", || content_of(&store, 2).is_some()).await;
    assert_ne!(content_of(&store, 2), content_of(&store, 1));

    store.change(|state| state.draining.clear());
    until("the next run", || content_of(&store, 3).is_some()).await;
    assert_eq!(content_of(&store, 3), content_of(&store, 1));
    assert!(store.read(|state| state.released.contains(&2)), "in order");
    second.stop().await;
    first.stop().await;
}
