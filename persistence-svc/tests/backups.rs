//! Copies of a database: `backup verify` names each fault of one, and `backup DIR` makes one of
//! SQLite that can be played.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use test_servers::Postgres;
use world::CharacterState;

use crate::stage::value::Scene;
use crate::stage::{Kind, Stage, command, region, serve, stay, temporary_folder};

/// A fault that somebody made in a copy.
struct Damage {
    /// Makes it in SQLite and in PostgreSQL; empty: there is no such fault.
    made: [&'static str; 2],
    /// Undoes it.
    undone: [&'static str; 2],
    /// Words of the check.
    said: [&'static str; 2],
}

fn damages() -> Vec<Damage> {
    vec![
        Damage {
            made: [
                "UPDATE characters SET state = x'02ff'",
                r"UPDATE characters SET state = '\x02ff'",
            ],
            undone: [
                "UPDATE characters SET state = x'', placed = 0",
                r"UPDATE characters SET state = '', placed = false",
            ],
            said: ["not a document of a character"; 2],
        },
        Damage {
            made: [
                "UPDATE characters SET state = x'cd7fff'",
                r"UPDATE characters SET state = '\xcd7fff'",
            ],
            undone: [
                "UPDATE characters SET state = x''",
                "UPDATE characters SET state = ''",
            ],
            said: ["a document of version 32767"; 2],
        },
        Damage {
            made: [
                "INSERT INTO region_states VALUES (7, 7, 1, x'c1')",
                r"INSERT INTO region_states VALUES (7, 7, 1, '\xc1')",
            ],
            undone: ["DELETE FROM region_states"; 2],
            said: ["fault: region 7,7: not a region"; 2],
        },
        Damage {
            made: [
                "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'runs'",
                "SELECT setval(pg_get_serial_sequence('runs', 'id'), 1)",
            ],
            undone: [
                "UPDATE sqlite_sequence SET seq = 2 WHERE name = 'runs'",
                "SELECT setval(pg_get_serial_sequence('runs', 'id'), 2)",
            ],
            said: ["is at 1, though 2 is in use"; 2],
        },
        Damage {
            made: ["UPDATE operations SET last = -1"; 2],
            undone: ["UPDATE operations SET last = 0"; 2],
            said: ["the number of the store's own operations is at -1, though 0 is in use"; 2],
        },
        Damage {
            made: [
                r#"PRAGMA foreign_keys = OFF;
                   INSERT INTO inventory ("playerId", "itemId", "slotIndex")
                     VALUES ('nobody', 'arrow', 1)"#,
                r#"ALTER TABLE inventory DISABLE TRIGGER ALL;
                   INSERT INTO inventory ("playerId", "itemId", "slotIndex")
                     VALUES ('nobody', 'arrow', 1);
                   ALTER TABLE inventory ENABLE TRIGGER ALL"#,
            ],
            undone: [r#"DELETE FROM inventory WHERE "playerId" = 'nobody'"#; 2],
            said: [
                "fault: a row of inventory names a row of characters that is not there",
                "fault: rule inventory.inventory_playerId_fkey: 1 rows are against it",
            ],
        },
        Damage {
            made: [
                "",
                "UPDATE pg_index SET indisvalid = false
                   WHERE indexrelid = 'characters_account'::regclass",
            ],
            undone: [
                "",
                "UPDATE pg_index SET indisvalid = true
                   WHERE indexrelid = 'characters_account'::regclass",
            ],
            said: ["fault: index characters_account is invalid"; 2],
        },
        Damage {
            // PostgreSQL does not know that the index lacks the row.
            made: [
                "",
                "UPDATE pg_index SET indisready = false WHERE indexrelid = 'items_pkey'::regclass;
                 INSERT INTO items (id, name, type) VALUES ('unseen', 'Unseen', 'item');
                 UPDATE pg_index SET indisready = true WHERE indexrelid = 'items_pkey'::regclass",
            ],
            undone: ["", "DELETE FROM items; REINDEX TABLE items"],
            said: ["fault: index items_pkey: "; 2],
        },
        Damage {
            made: ["DELETE FROM ledger WHERE item_id = 'arrow'"; 2],
            undone: [""; 2],
            said: ["has 5 of arrow, the ledger says 0"; 2],
        },
    ]
}

/// Makes each fault in a copy that has no other, and looks for its name.
async fn each_fault_is_named(kind: Kind) {
    let at = usize::from(!matches!(kind, Kind::Sqlite));
    let scene = Scene::new(kind).await;
    scene.stage.zone(region(1, 0)).await;
    let mut row = stay(scene.bare.clone());
    let record = row.record.as_mut().unwrap();
    record.placed = true;
    record.state = CharacterState::default().to_document().into();
    let rows = wire::CommitRows {
        characters: vec![row],
        ..wire::CommitRows::default()
    };
    let reply = scene.stage.batch(scene.zone.run, 2, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let verify = async || scene.stage.command(&["backup", "verify"]).await;
    let (code, said) = verify().await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("this copy can be played"), "{said}");
    assert!(said.contains("2 runs live by this copy"), "{said}");
    for damage in damages() {
        if damage.made[at].is_empty() {
            continue;
        }
        scene.stage.sql(damage.made[0], damage.made[1]);
        let (code, said) = verify().await;
        let expected = damage.said[at];
        assert_eq!(code, 1, "{expected}: {said}");
        assert!(said.contains(expected), "{expected}: {said}");
        scene.stage.sql(damage.undone[0], damage.undone[1]);
        if !damage.undone[at].is_empty() {
            let (code, said) = verify().await;
            assert_eq!(code, 0, "{expected} was undone: {said}");
        }
    }
}

#[tokio::test]
async fn each_fault_of_a_copy_is_named_in_postgres() {
    each_fault_is_named(Kind::Postgres).await;
}

#[tokio::test]
async fn each_fault_of_a_copy_is_named_through_a_pooler() {
    each_fault_is_named(Kind::Pooled).await;
}

#[tokio::test]
async fn each_fault_of_a_copy_is_named_in_sqlite() {
    each_fault_is_named(Kind::Sqlite).await;
}

/// The program reads the page from the disk, as after a restore.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_a_disk_damaged_is_found() {
    let mut server = tokio::task::block_in_place(Postgres::start);
    let url = tokio::task::block_in_place(|| server.create_database("torn"));
    let stage = Stage::with(Kind::Postgres, &[("DATABASE_URL", &url)]).await;
    stage.zone(region(0, 0)).await;
    stage.player().await;
    let settings = stage.settings().clone();
    stage.end().await;
    let (code, said) = command(&settings, &["backup", "verify"]).await;
    assert_eq!(code, 0, "{said}");
    tokio::task::block_in_place(|| {
        server.sql(
            "torn",
            "CHECKPOINT; DO $$ BEGIN EXECUTE format(
               'COPY (SELECT 1) TO PROGRAM %L',
               'cat >/dev/null; dd if=/dev/urandom bs=8192 count=1 conv=notrunc status=none of='
                 || current_setting('data_directory') || '/' || pg_relation_filepath('users'));
             END $$",
        );
        server.kill9();
        server.restart();
    });
    let (code, said) = command(&settings, &["backup", "verify"]).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("fault: table users: "), "{said}");
}

#[tokio::test]
async fn a_world_of_sqlite_is_copied_while_it_is_played_and_played_from_the_copy() {
    let scene = Scene::new(Kind::Sqlite).await;
    let folder = temporary_folder();
    let words = ["backup", &folder.display().to_string()];
    let (code, said) = scene.stage.command(&words).await;
    assert_eq!(code, 0, "{said}");
    // Play goes on, and the copy does not have it.
    let reply = scene.stage.batch(scene.zone.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let (code, said) = scene.stage.command(&words).await;
    assert_eq!(code, 64, "a copy overwrites nothing: {said}");
    let mut settings: BTreeMap<_, _> = scene.stage.settings().clone();
    settings.insert("DATA_DIR", folder.display().to_string());
    let (code, said) = command(&settings, &["promoted"]).await;
    assert_eq!(code, 0, "{said}");
    // The scene's characters have no documents.
    let clean = rusqlite::Connection::open(folder.join("world.sqlite")).unwrap();
    clean
        .execute("UPDATE characters SET placed = 0", [])
        .unwrap();
    drop(clean);
    let (code, said) = command(&settings, &["backup", "verify"]).await;
    assert_eq!(code, 0, "{said}");
    let (code, said) = command(&settings, &["check"]).await;
    assert!(code == 0 && said.contains("arrow 5"), "{said}");
    let replica = serve(&settings).await;
    crate::stage::watch(replica.channel.clone()).await;
    replica.end().await;

    let page: u64 = scene
        .stage
        .ask("SELECT rootpage FROM sqlite_schema WHERE name = 'characters_account'")
        .await[0]
        .parse()
        .unwrap();
    let copy = folder.join("world.sqlite");
    let mut file = OpenOptions::new().write(true).open(&copy).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4_096)).unwrap();
    file.write_all(&[0xa5; 4_096]).unwrap();
    drop(file);
    let (code, said) = command(&settings, &["backup", "verify"]).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("fault: "), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn postgres_is_backed_up_by_its_own_programs() {
    let stage = Stage::new(Kind::Postgres).await;
    let (code, said) = stage.command(&["backup", "there"]).await;
    assert!(code == 64 && said.contains("pg_basebackup"), "{said}");
}
