//! Packs, coins, ground items and the ledger.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use tonic::Code;

use crate::stage::value::{Cause, Scene, because, ground, ledger, owns, slot};
use crate::stage::{Kind, Stage, at, logout, refused, region, stay, until};

pub(crate) async fn value_is_kept_and_loaded(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    let record = scene.load().await;
    assert_eq!(record.coins, 25);
    let pack = [slot(0, "bronze_hatchet", 1), slot(1, "arrow", 5)];
    assert_eq!(record.inventory, pack);
    let loaded = stage.load_region(zone).await.unwrap();
    assert_eq!(loaded.characters, std::slice::from_ref(&record));
    // A row that does not write holdings leaves the store's own, whatever it holds.
    let row = stay(at(&owns(&record, 3, &[]).record.unwrap(), 9, 9));
    let reply = stage.commit(zone.run, 2, vec![row]).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let now = scene.load().await;
    assert_eq!((now.x, now.coins), (9, 25));
    assert_eq!(now.inventory, pack);
    // Slots that went, came and changed.
    let moved = [slot(1, "bronze_hatchet", 1), slot(27, "arrow", 5)];
    let rows = wire::CommitRows {
        characters: vec![owns(&now, 25, &moved)],
        ..wire::CommitRows::default()
    };
    let reply = stage.batch(zone.run, 3, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert_eq!(scene.load().await.inventory, moved);
    scene.conserved().await;
}

pub(crate) async fn what_lasts_of_chunks_is_kept_by_region(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    let (x, z) = (zone.place.x * 8, zone.place.z * 8);
    let chunk = |x, z, data: &str| wire::ChunkRow {
        chunk: Some(proto::rpc::common::v1::Chunk { x, z }),
        data: data.to_owned(),
    };
    let rows = |chunks: &[wire::ChunkRow]| wire::CommitRows {
        chunks: chunks.to_vec(),
        ..wire::CommitRows::default()
    };
    let (first, last) = (chunk(x, z, r#"{"a":1}"#), chunk(x + 7, z + 7, "{}"));
    for wrong in [
        vec![chunk(x - 1, z, "{}")],
        vec![chunk(x, z + 8, "{}")],
        vec![first.clone(), first.clone()],
        vec![chunk(x, z, "[]")],
        vec![chunk(x, z, "{")],
    ] {
        let reply = stage.batch(zone.run, 2, rows(&wrong)).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{wrong:?}");
    }
    let reply = stage
        .batch(zone.run, 2, rows(&[first.clone(), last.clone()]))
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let loaded = stage.load_region(zone).await.unwrap();
    assert_eq!(loaded.chunks, [first, last.clone()]);
    let changed = chunk(x, z, r#"{"b":[2]}"#);
    let reply = stage
        .batch(zone.run, 3, rows(std::slice::from_ref(&changed)))
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let loaded = stage.load_region(zone).await.unwrap();
    assert_eq!(loaded.chunks, [changed, last]);
}

pub(crate) async fn what_one_drops_another_picks_up(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    let reply = stage.batch(zone.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let loaded = stage.load_region(zone).await.unwrap();
    assert_eq!(loaded.ground, [ground("item:1-1", zone, "arrow", 2)]);
    scene.conserved().await;
    // One of the two goes to somebody else: the item lies on with the rest.
    let other = stage.player().await;
    let taker = stage.load(zone.run, &other.id).await.unwrap();
    let rows = wire::CommitRows {
        characters: vec![owns(&taker, 0, &[slot(5, "arrow", 1)])],
        ground: vec![ground("item:1-1", zone, "arrow", 1)],
        ledger: vec![
            ledger("", "arrow", Cause::PICKUP, -1),
            ledger(&other.id, "arrow", Cause::PICKUP, 1),
        ],
        ..wire::CommitRows::default()
    };
    let reply = stage.batch(zone.run, 3, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    scene.conserved().await;
    // The rest expires.
    let rows = wire::CommitRows {
        gone: vec![wire::GroundGone {
            id: "item:1-1".to_owned(),
            region: Some(zone.place),
        }],
        ledger: vec![ledger("", "arrow", Cause::EXPIRE, -1)],
        ..wire::CommitRows::default()
    };
    let reply = stage.batch(zone.run, 4, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert!(stage.load_region(zone).await.unwrap().ground.is_empty());
    let taker = stage.load(zone.run, &other.id).await.unwrap();
    assert_eq!(taker.inventory, [slot(5, "arrow", 1)]);
    let totals = scene.conserved().await;
    let arrows = totals.iter().find(|total| total.item == "arrow").unwrap();
    assert_eq!((arrows.held, arrows.ledger), (4, 4));
}

type Spoil = fn(&mut wire::CommitRows);

/// Ways to spoil the batch in which two arrows are dropped, and whether its character is named.
const SPOILS: [(&str, bool, Spoil); 23] = [
    ("a side is missing", true, |rows| drop(rows.ledger.pop())),
    ("nothing is said", true, |rows| rows.ledger.clear()),
    ("the other side is missing", true, |rows| {
        drop(rows.ledger.remove(0))
    }),
    ("another amount", true, |rows| {
        rows.ledger[0].delta = -3;
        rows.ledger[1].delta = 3;
    }),
    ("one side is more", true, |rows| rows.ledger[1].delta = 3),
    ("the wrong way round", true, |rows| {
        rows.ledger[0].delta = 2;
        rows.ledger[1].delta = -2;
    }),
    ("another item", true, |rows| {
        for row in &mut rows.ledger {
            "coins".clone_into(&mut row.item_id);
        }
    }),
    ("more is said than happens", true, |rows| {
        let who = rows.ledger[0].character_id.clone();
        rows.ledger.push(ledger(&who, "coins", Cause::STARTER, 1));
    }),
    ("a copy stays in the pack", true, |rows| {
        record(rows).inventory[1].quantity = 5;
    }),
    ("coins from nowhere", true, |rows| record(rows).coins = 26),
    ("coins that fit no column", true, |rows| {
        record(rows).coins = 1 << 31
    }),
    ("more than nothing is made by drops", true, |rows| {
        for row in &mut rows.ledger {
            because(row, Cause::PICKUP);
        }
        because(&mut rows.ledger[0], Cause::DROP);
    }),
    ("a starter pack that takes", true, |rows| {
        because(&mut rows.ledger[0], Cause::STARTER);
    }),
    ("a gift that takes", true, |rows| {
        because(&mut rows.ledger[0], Cause::GIFT);
    }),
    ("what expires grows", false, |rows| {
        because(&mut rows.ledger[1], Cause::EXPIRE);
    }),
    ("only the store deletes", true, |rows| {
        because(&mut rows.ledger[0], Cause::DELETED);
    }),
    ("a slot beyond the pack", true, |rows| {
        record(rows).inventory[1].slot = 28
    }),
    ("a slot twice", true, |rows| {
        record(rows).inventory[1].slot = 0
    }),
    ("nothing in a slot", true, |rows| {
        record(rows).inventory[1].quantity = 0
    }),
    ("the ground of somebody else", false, |rows| {
        rows.ground[0].region = Some(region(9, 0));
    }),
    ("nothing on the ground", false, |rows| {
        rows.ground[0].quantity = 0
    }),
    ("on the ground twice", false, |rows| {
        let again = rows.ground[0].clone();
        rows.ground.push(again);
    }),
    ("gone without ever having been", false, |rows| {
        rows.gone.push(wire::GroundGone {
            id: "item:1-9".to_owned(),
            region: Some(region(0, 0)),
        });
    }),
];

fn record(rows: &mut wire::CommitRows) -> &mut wire::CharacterRecord {
    rows.characters[0].record.as_mut().unwrap()
}

pub(crate) async fn what_the_ledger_does_not_say_is_refused(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    stage.zone(region(9, 0)).await;
    let before = scene.load().await;
    for (what, named, spoil) in SPOILS {
        let mut rows = scene.drop_two();
        spoil(&mut rows);
        let reply = stage.batch(zone.run, 2, rows).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{what}");
        let named_now = reply.character_ids == [scene.player.id.clone()];
        assert_eq!(
            named_now, named,
            "{what}: {} {:?}",
            reply.detail, reply.character_ids
        );
        assert!(!reply.detail.is_empty(), "{what}");
    }
    assert_eq!(scene.load().await, before);
    assert!(stage.load_region(zone).await.unwrap().ground.is_empty());
    // No row of the ledger may name a character without a row in the batch.
    let mut rows = scene.drop_two();
    rows.ledger.push(ledger("nobody", "arrow", Cause::DROP, 1));
    rows.ledger.push(ledger("", "arrow", Cause::DROP, -1));
    let reply = stage.batch(zone.run, 2, rows).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    scene.conserved().await;
    // And as it is, it fits.
    let reply = stage.batch(zone.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    // It stays where it belongs, and is gone only once.
    let mut strayed = ground("item:1-1", zone, "arrow", 2);
    strayed.region = Some(region(9, 0));
    let gone = wire::GroundGone {
        id: "item:1-1".to_owned(),
        region: Some(zone.place),
    };
    for rows in [
        wire::CommitRows {
            ground: vec![strayed],
            ..wire::CommitRows::default()
        },
        wire::CommitRows {
            ground: vec![ground("item:1-1", zone, "arrow", 2)],
            gone: vec![gone],
            ..wire::CommitRows::default()
        },
    ] {
        let reply = stage.batch(zone.run, 3, rows).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
    }
    scene.conserved().await;
}

pub(crate) async fn value_is_moved_once(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    // At once over many connections, and again when the answer was lost.
    let tries = (0..6).map(|_| stage.batch(zone.run, 2, scene.drop_two()));
    for reply in futures::future::join_all(tries).await {
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    }
    let reply = stage.batch(zone.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert_eq!(scene.load().await.inventory[1], slot(1, "arrow", 3));
    assert_eq!(stage.load_region(zone).await.unwrap().ground.len(), 1);
    let rows = stage.ask("SELECT count(*) FROM ledger WHERE sequence = 2");
    assert_eq!(rows.await, ["2"]);
    scene.conserved().await;
}

pub(crate) async fn who_is_deleted_is_written_off(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    let record = scene.load().await;
    let reply = stage
        .commit(zone.run, 2, vec![logout(record, "left")])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let ask = wire::DeleteCharacterRequest {
        account_id: scene.player.account.clone(),
        character_id: scene.player.id.clone(),
    };
    stage.accounts().delete_character(ask).await.unwrap();
    let rows = r#"SELECT item_id || ' ' || delta FROM ledger WHERE cause = 'deleted' ORDER BY 1"#;
    let rows = stage.ask(rows).await;
    assert_eq!(rows, ["arrow -5", "bronze_hatchet -1", "coins -25"]);
    let totals = scene.conserved().await;
    assert!(totals.iter().all(|total| total.held == 0));
}

pub(crate) async fn what_was_changed_behind_the_ledger_is_found(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    stage.batch(zone.run, 2, scene.drop_two()).await;
    scene.conserved().await;
    for (change, back, expected) in [
        (
            r#"UPDATE inventory SET quantity = quantity + 7 WHERE "itemId" = 'arrow'"#,
            r#"UPDATE inventory SET quantity = quantity - 7 WHERE "itemId" = 'arrow'"#,
            format!(
                "character {} has 10 of arrow, the ledger says 3",
                scene.player.id
            ),
        ),
        (
            "UPDATE ground_items SET quantity = 1",
            "UPDATE ground_items SET quantity = 2",
            "the ground has 1 of arrow, the ledger says 2".to_owned(),
        ),
        (
            "UPDATE characters SET coins = 24",
            "UPDATE characters SET coins = 25",
            format!(
                "character {} has 24 of coins, the ledger says 25",
                scene.player.id
            ),
        ),
        (
            r#"UPDATE ledger SET delta = delta + 1 WHERE item_id = 'bronze_hatchet'"#,
            r#"UPDATE ledger SET delta = delta - 1 WHERE item_id = 'bronze_hatchet'"#,
            format!(
                "character {} has 1 of bronze_hatchet, the ledger says 2",
                scene.player.id
            ),
        ),
        (
            r#"UPDATE characters SET "regionX" = 400"#,
            r#"UPDATE characters SET "regionX" = 0"#,
            format!(
                "is in the world in a region that does not exist: character {}",
                scene.player.id
            ),
        ),
    ] {
        stage.sql(change, change);
        let found = stage.check().await;
        assert_eq!(found.differences, [expected]);
        stage.sql(back, back);
        scene.conserved().await;
    }
}

pub(crate) async fn whose_rows_are_refused_is_quarantined(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    let bystander = stage.player().await;
    // Somebody of another run's region cannot be taken out of the world by this one.
    let ask = wire::EndedRequest {
        run_id: stage.zone(region(9, 0)).await.run,
        reason: wire::ended_request::Reason::Refused.into(),
        character_ids: vec![bystander.id.clone()],
        ..wire::EndedRequest::default()
    };
    stage.runs().ended(ask).await.unwrap();
    assert!(stage.owner_of(&bystander.id).await.online);
    let ended = wire::EndedRequest {
        run_id: zone.run,
        reason: wire::ended_request::Reason::Refused.into(),
        character_ids: vec![scene.player.id.clone()],
        ..wire::EndedRequest::default()
    };
    for _ in 0..2 {
        stage.runs().ended(ended.clone()).await.unwrap();
    }
    assert_eq!(stage.renew(zone.run).await, wire::RunState::Fenced);
    let heir = stage.heir(zone).await;
    let loaded = stage.load_region(&heir).await.unwrap().characters;
    let ids: Vec<&str> = loaded.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, [bystander.id.as_str()]);
    refused(stage.load(heir.run, &scene.player.id).await, Code::NotFound);
    let again = stage.try_open(&scene.player, "second").await;
    refused(again, Code::FailedPrecondition);
    let ask = wire::DeleteCharacterRequest {
        account_id: scene.player.account.clone(),
        character_id: scene.player.id.clone(),
    };
    let deleted = stage.accounts().delete_character(ask).await;
    refused(deleted, Code::FailedPrecondition);
    scene.conserved().await;
    // An operator lets it in again, with all that it had.
    let listed = stage.command(&["quarantine"]).await;
    assert!(listed.1.starts_with(&scene.player.id), "{}", listed.1);
    let release = ["quarantine", "release", &scene.player.id];
    assert_eq!(stage.command(&release).await.0, 0);
    stage.try_open(&scene.player, "second").await.unwrap();
    until("it is loaded", async || {
        stage.load(heir.run, &scene.player.id).await.ok()
    })
    .await;
    assert_eq!(stage.command(&["check"]).await.0, 0);
}

pub(crate) async fn operators_switch_and_look(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    for (word, frozen) in [("on", true), ("on", true), ("off", false)] {
        let (code, said) = stage.command(&["freeze", word]).await;
        assert_eq!(code, 0, "{said}");
        until("the directory says so", async || {
            (stage.directory().await.frozen == frozen).then_some(())
        })
        .await;
    }
    let (code, said) = stage.command(&["regions"]).await;
    assert_eq!(code, 0);
    assert!(
        said.contains(&format!("0,0 epoch {}: run {}", zone.epoch, zone.run)),
        "{said}"
    );
    assert_eq!(stage.command(&["resume-region", "0,0"]).await.0, 1);
    assert_eq!(stage.command(&["pause-region", "0,0"]).await.0, 0);
    assert_eq!(stage.command(&["pause-region", "0,0"]).await.0, 1);
    assert_eq!(stage.command(&["pause-region", "70,70"]).await.0, 1);
    assert!(stage.command(&["regions"]).await.1.contains("PAUSED"));
    assert_eq!(stage.command(&["resume-region", "0,0"]).await.0, 0);
    assert_eq!(stage.command(&["freeze", "perhaps"]).await.0, 64);
    let coins = "UPDATE characters SET coins = 7";
    stage.player().await;
    stage.sql(coins, coins);
    let (code, said) = stage.command(&["check"]).await;
    assert_eq!(code, 1);
    assert!(said.contains("has 7 of coins, the ledger says 0"), "{said}");
}
