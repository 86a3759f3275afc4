//! Production always asks the content server, and plays the copies when that cannot serve it.

use std::{collections::BTreeSet, fs, os::unix::fs::MetadataExt, time::Duration};

use content_loader::{Source, deliver};
use service_runtime::config::Environment;
use test_servers::{Cdn, cdn::Trouble};

use crate::stage::{LAND, REQUIRED, World, cdn, generations, land, nobody, text};

const BROKEN: &str = "<<<<<<< HEAD\n[]\n=======\n[1]\n>>>>>>> theirs\n";
const OTHER_MUSIC: &str = r#"[{"id": "song"}]"#;

/// Loads the content; returns its source and hash.
async fn start(world: &World, cdn: &str) -> (Source, String) {
    let delivered = deliver(&world.production(cdn)).await.unwrap();
    (delivered.source, delivered.content.hash().to_owned())
}

/// Returns the sentence with which it refuses to start.
async fn refusal(world: &World, cdn: &str) -> String {
    let error = deliver(&world.production(cdn)).await.unwrap_err();
    assert_eq!(service_runtime::run::exit_code(&error), 65, "{error:#}");
    let sentence = format!("{error:#}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    sentence
}

#[tokio::test]
async fn only_what_has_changed_is_fetched_and_written() {
    let (world, cdn) = (World::new(), cdn());
    let (source, first) = start(&world, &cdn.url()).await;
    assert_eq!(source, Source::Cdn);
    let asked = cdn.asked();
    assert!(asked.len() > 25, "{} files are asked for", asked.len());
    assert!(asked.iter().all(|asked| asked.tag.is_none()));
    for (path, text) in LAND {
        assert_eq!(world.read(path).as_deref(), Some(*text), "{path}");
    }

    let written = |path: &str| fs::metadata(world.file(path)).unwrap().ino();
    let before: Vec<u64> = LAND.iter().map(|(path, _)| written(path)).collect();
    cdn.put("music.json", OTHER_MUSIC);
    let (_, second) = start(&world, &cdn.url()).await;
    assert_ne!(first, second);
    for ((path, _), before) in LAND.iter().zip(before) {
        assert_eq!(written(path) == before, *path != "music.json", "{path}");
    }
    let asked = cdn.asked();
    let whole = asked.iter().filter(|asked| asked.status == 200);
    assert_eq!(
        whole.map(|asked| &asked.path).collect::<Vec<_>>(),
        ["music.json"]
    );
    let unchanged = asked.iter().filter(|asked| asked.status == 304).count();
    assert_eq!(unchanged, LAND.len() - 1);
}

#[tokio::test]
async fn a_server_that_is_away_is_replaced_by_the_copies() {
    let (world, cdn) = (World::new(), cdn());
    let (_, hash) = start(&world, &cdn.url()).await;
    cdn.breaks_after(Some(0));
    assert_eq!(
        start(&world, &cdn.url()).await,
        (Source::Cache, hash.clone())
    );
    assert_eq!(start(&world, &nobody()).await, (Source::Cache, hash));
    let sentence = refusal(&World::new(), &cdn.url()).await;
    assert!(
        sentence.contains("no copies") && sentence.contains(&cdn.url()),
        "{sentence}"
    );
}

#[tokio::test]
async fn half_an_update_is_none() {
    let (world, cdn) = (World::new(), cdn());
    let (_, hash) = start(&world, &cdn.url()).await;
    cdn.put("npcs.json", "[ ]");
    cdn.put("music.json", OTHER_MUSIC);
    // It answers for the first file, which is npcs.json, and goes away.
    cdn.breaks_after(Some(1));
    assert_eq!(
        start(&world, &cdn.url()).await,
        (Source::Cache, hash.clone())
    );
    assert_eq!(world.read("npcs.json").as_deref(), Some("[]"));
    cdn.breaks_after(None);
    let (source, whole) = start(&world, &cdn.url()).await;
    assert_eq!(source, Source::Cdn);
    assert_ne!(whole, hash);
}

#[tokio::test]
async fn what_does_not_parse_leaves_the_copy_and_all_else_is_updated() {
    let (world, cdn) = (World::new(), cdn());
    start(&world, &cdn.url()).await;
    for broken in ["gathering/mining.json", "biomes.json"] {
        cdn.put(broken, BROKEN);
    }
    cdn.put("music.json", OTHER_MUSIC);
    let (source, _) = start(&world, &cdn.url()).await;
    assert_eq!(source, Source::Cdn);
    for kept in ["gathering/mining.json", "biomes.json"] {
        assert_eq!(world.read(kept).as_deref(), Some(text(kept)));
    }
    assert_eq!(world.read("music.json").as_deref(), Some(OTHER_MUSIC));
    // The loader did not keep its tag: it asks for the whole file until it is right.
    cdn.asked();
    start(&world, &cdn.url()).await;
    let again = cdn.asked();
    let biomes = again
        .iter()
        .find(|asked| asked.path == "biomes.json")
        .unwrap();
    assert_eq!(biomes.status, 200);
}

#[tokio::test]
async fn without_copies_only_what_is_required_stops_the_server() {
    for (path, _) in LAND {
        for wrong in ["missing", "broken", "failing"] {
            let (world, cdn) = (World::new(), cdn());
            match wrong {
                "missing" => cdn.remove(path),
                "broken" => cdn.put(path, BROKEN),
                _ => cdn.trouble(path, Trouble::Status(500), 3),
            }
            if REQUIRED.contains(path) {
                let sentence = refusal(&world, &cdn.url()).await;
                let named = sentence.contains(path)
                    || (*path == "items.json" && sentence.contains("items/"))
                    // The first file decides whether the server counts as there at all.
                    || (*path == "npcs.json" && sentence.contains("500"));
                assert!(named, "{path} {wrong}: {sentence}");
                assert_eq!(world.read("biomes.json"), None, "nothing is kept of it");
            } else {
                let (source, _) = start(&world, &cdn.url()).await;
                assert_eq!(source, Source::Cdn, "{path} {wrong}");
                assert_eq!(world.read(path), None);
            }
        }
    }
}

#[tokio::test]
async fn a_required_file_that_cannot_be_played_leaves_all_copies() {
    let (world, cdn) = (World::new(), cdn());
    let (_, hash) = start(&world, &cdn.url()).await;
    cdn.put("music.json", OTHER_MUSIC);
    cdn.remove("stores.json");
    assert_eq!(start(&world, &cdn.url()).await, (Source::Cache, hash));
    assert_eq!(world.read("stores.json").as_deref(), Some("[]"));
    assert_eq!(world.read("music.json").as_deref(), Some("[]"));
}

#[tokio::test]
async fn what_the_server_no_longer_has_goes() {
    let (world, cdn) = (World::new(), cdn());
    start(&world, &cdn.url()).await;
    cdn.remove("music.json");
    let (source, hash) = start(&world, &cdn.url()).await;
    assert_eq!((source, world.read("music.json")), (Source::Cdn, None));
    let fresh = World::new();
    assert_eq!(
        start(&fresh, &cdn.url()).await.1,
        hash,
        "as if it had never been"
    );
}

#[tokio::test]
async fn passing_troubles_are_overcome() {
    let whole = start(&World::new(), &cdn().url()).await;
    for trouble in [
        Trouble::Gone,
        Trouble::Half,
        Trouble::Hangs,
        Trouble::Status(500),
        Trouble::Status(429),
    ] {
        let (world, cdn) = (World::new(), cdn());
        for path in ["npcs.json", "world-areas.json", "music.json"] {
            cdn.trouble(path, trouble.clone(), 2);
        }
        let found = start(&world, &cdn.url()).await;
        assert_eq!(found, whole, "{trouble:?}");
    }
}

#[tokio::test]
async fn permanent_failures_leave_the_copies() {
    let elsewhere = cdn();
    elsewhere.put("music.json", OTHER_MUSIC);
    for trouble in [
        Trouble::Redirect(format!("{}/manifests/music.json", elsewhere.url())),
        Trouble::Status(400),
        Trouble::Claims(10 * 1024 * 1024 * 1024),
        Trouble::Bytes(vec![b'"', 0xff, 0xfe, b'"']),
        Trouble::HalfUnsaid,
        Trouble::Half,
        Trouble::Hangs,
    ] {
        let (world, cdn) = (World::new(), cdn());
        let (_, hash) = start(&world, &cdn.url()).await;
        cdn.put("music.json", OTHER_MUSIC);
        cdn.trouble("music.json", trouble.clone(), usize::MAX);
        let (_, found) = start(&world, &cdn.url()).await;
        assert_eq!(found, hash, "{trouble:?}");
        assert_eq!(world.read("music.json").as_deref(), Some("[]"));
    }
    let asked = elsewhere.asked();
    assert!(asked.is_empty(), "a redirect was followed: {asked:?}");
}

#[tokio::test]
async fn a_server_that_lies_about_tags_cannot_make_up_a_copy() {
    let (world, cdn) = (World::new(), cdn());
    cdn.trouble("music.json", Trouble::Unchanged, usize::MAX);
    start(&world, &cdn.url()).await;
    assert_eq!(world.read("music.json"), None);
    cdn.trouble("npcs.json", Trouble::Unchanged, usize::MAX);
    let sentence = refusal(&World::new(), &cdn.url()).await;
    assert!(sentence.contains("304"), "{sentence}");
}

#[tokio::test]
async fn a_copy_that_somebody_changed_is_fetched_anew() {
    let (world, cdn) = (World::new(), cdn());
    let (_, hash) = start(&world, &cdn.url()).await;
    world.write("music.json", OTHER_MUSIC);
    world.write("npcs.json", "[ {");
    fs::remove_file(world.file("stores.json")).unwrap();
    assert_eq!(start(&world, &cdn.url()).await, (Source::Cdn, hash));
    assert_eq!(world.read("npcs.json").as_deref(), Some("[]"));
}

#[tokio::test]
async fn tags_of_another_server_mean_nothing() {
    let (world, one, other) = (World::new(), cdn(), cdn());
    start(&world, &one.url()).await;
    start(&world, &other.url()).await;
    assert!(other.asked().iter().all(|asked| asked.tag.is_none()));
    start(&world, &other.url()).await;
    assert!(other.asked().iter().any(|asked| asked.tag.is_some()));
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_stops_nobody() {
    let (world, cdn) = (World::new(), cdn());
    fs::create_dir_all(world.path()).unwrap();
    fs::write(world.path().join("assets"), "no folder").unwrap();
    assert_eq!(start(&world, &cdn.url()).await.0, Source::Cdn);
}

#[tokio::test]
async fn processes_that_share_a_folder_agree() {
    let (world, cdn) = (World::new(), cdn());
    let starts = (0..6).map(|_| {
        let config = world.production(&cdn.url());
        tokio::spawn(async move { deliver(&config).await.unwrap().content.hash().to_owned() })
    });
    let mut hashes = BTreeSet::new();
    for start in starts.collect::<Vec<_>>() {
        hashes.insert(start.await.unwrap());
    }
    assert_eq!(hashes.len(), 1);
    let drafts = fs::read_dir(world.file("")).unwrap().flatten();
    let mut drafts = drafts.map(|entry| entry.file_name().into_string().unwrap());
    assert!(!drafts.any(|name| name.ends_with(".draft")));
}

#[tokio::test]
async fn a_server_that_only_hangs_costs_no_more_than_the_time_for_it() {
    let (world, cdn) = (World::new(), cdn());
    start(&world, &cdn.url()).await;
    for path in land().keys().filter(|path| *path != "npcs.json") {
        cdn.trouble(path, Trouble::Hangs, usize::MAX);
    }
    let mut config = world.production(&cdn.url());
    config.times.attempt = Duration::from_secs(30);
    config.times.whole = Duration::from_millis(500);
    let began = std::time::Instant::now();
    let delivered = deliver(&config).await.unwrap();
    assert_eq!(delivered.source, Source::Cache);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn without_a_server_the_folder_is_played_and_else_what_is_built_in() {
    let world = World::with(LAND);
    let config = world.config(Environment::Production, None);
    assert_eq!(deliver(&config).await.unwrap().source, Source::Folder);
    world.write("npcs.json", BROKEN);
    let error = deliver(&config).await.unwrap_err();
    assert_eq!(service_runtime::run::exit_code(&error), 65);
    let config = World::new().config(Environment::Production, None);
    assert_eq!(deliver(&config).await.unwrap().source, Source::BuiltIn);
}

#[tokio::test]
async fn manifests_of_every_generation_come_unmodified() {
    for generation in [
        &["oct_2025"][..],
        &["dec_2025"],
        &["jan_2026"],
        &["jan_2026", "feb_2026"],
        &["jan_2026", "feb_2026", "jun_2026"],
    ] {
        let (files, world) = (generations(generation), World::new());
        let cdn = Cdn::start(files.clone());
        let delivered = deliver(&world.production(&cdn.url())).await.unwrap();
        assert_eq!(delivered.source, Source::Cdn);
        assert!(*delivered.files == files, "{generation:?}");
        assert!(content_loader::local(world.path()).unwrap() == files);
        cdn.breaks_after(Some(0));
        let again = start(&world, &cdn.url()).await;
        assert_eq!(again, (Source::Cache, delivered.content.hash().to_owned()));
    }
}
