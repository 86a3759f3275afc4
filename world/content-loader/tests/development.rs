//! Development plays the folder's manifests, else those of a content server, else the built-in
//! ones.

use content_loader::{Config, Source, deliver};
use service_runtime::config::Environment::{Development, Test};
use world::Content;

use crate::stage::{LAND, World, cdn, nobody};

async fn source(config: &Config) -> Source {
    deliver(config).await.unwrap().source
}

#[tokio::test]
async fn nothing_is_fetched_when_there_are_manifests() {
    let (world, cdn) = (World::with(LAND), cdn());
    assert_eq!(
        source(&world.config(Development, Some(&cdn.url()))).await,
        Source::Folder
    );
    assert_eq!(cdn.asked(), []);
}

#[tokio::test]
async fn where_there_are_none_they_are_fetched_and_not_written() {
    let (world, cdn) = (World::new(), cdn());
    assert_eq!(
        source(&world.config(Development, Some(&cdn.url()))).await,
        Source::Cdn
    );
    assert!(cdn.asked().len() > 25);
    assert!(!world.path().exists());
}

#[tokio::test]
async fn a_folder_that_lacks_something_required_is_filled_by_a_server() {
    let (world, cdn) = (World::with(&LAND[1..]), cdn());
    assert_eq!(
        source(&world.config(Development, Some(&cdn.url()))).await,
        Source::Cdn
    );
    assert_eq!(world.read("npcs.json"), None);
    let error = deliver(&world.config(Development, Some(&nobody())))
        .await
        .unwrap_err();
    assert_eq!(service_runtime::run::exit_code(&error), 65);
    assert!(error.to_string().contains("npcs.json"), "{error}");
}

#[tokio::test]
async fn the_production_server_helps_when_the_own_one_is_away() {
    let (world, production) = (World::new(), cdn());
    let mut config = world.config(Development, Some(&nobody()));
    config.production_cdn_url = Some(production.url());
    assert_eq!(source(&config).await, Source::ProductionCdn);
    let local = cdn();
    local.put("npcs.json", "<html>");
    config.cdn_url = Some(local.url());
    assert_eq!(
        source(&config).await,
        Source::ProductionCdn,
        "a broken one is no better"
    );
    assert_eq!(
        source(&world.config(Development, Some(&nobody()))).await,
        Source::BuiltIn
    );
}

#[tokio::test]
async fn a_build_server_takes_all_from_the_content_server() {
    let (world, cdn) = (World::with(LAND), cdn());
    let mut config = world.config(Development, Some(&cdn.url()));
    config.all_from_cdn = true;
    assert_eq!(source(&config).await, Source::Cdn);
}

#[tokio::test]
async fn who_skips_manifests_plays_what_is_built_in_and_asks_nobody() {
    let (world, cdn) = (World::with(&[("npcs.json", "broken")]), cdn());
    let mut config = world.config(Test, Some(&cdn.url()));
    config.skip = true;
    let delivered = deliver(&config).await.unwrap();
    assert_eq!(delivered.source, Source::BuiltIn);
    assert_eq!(delivered.content.hash(), Content::embedded().hash());
    assert_eq!(delivered.files.len(), Content::embedded_files().len());
    assert_eq!(cdn.asked(), []);
}

#[tokio::test]
async fn all_that_is_built_in_can_come_from_a_content_server() {
    for (path, _) in Content::embedded_files() {
        assert!(
            world::content::manifest(path).is_some(),
            "{path} is never asked for"
        );
    }
}
