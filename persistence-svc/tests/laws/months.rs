//! Laws of partitions: a month closes beside play, no row lacks a place, and tables of the release
//! before become partitions under its programs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use super::archive::spans;
use crate::stage::value::{Cause, Scene, ledger, owns, slot};
use crate::stage::{Kind, Stage, region, until};

async fn nothing_differs(stage: &Stage) {
    assert_eq!(stage.check().await.differences, Vec::<String>::new());
    assert_eq!(stage.check_full().await.differences, Vec::<String>::new());
}

/// Turns the clock of the store to a time.
fn turn_clock(stage: &Stage, now_ms: i64) {
    let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let shift = now_ms - i64::try_from(real.as_millis()).unwrap();
    let clock = format!(
        "CREATE OR REPLACE FUNCTION tilestead_now_ms() RETURNS bigint LANGUAGE sql VOLATILE
         AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + {shift} $$"
    );
    stage.sql("", &clock);
}

/// Batches run at full speed over the end of a month, by the store's clock, and while the month is
/// closed. None is refused, and each row counts once.
pub(crate) async fn a_month_closes_while_batches_go_on(kind: Kind) {
    // The store's clock jumps, by less than a lease.
    let stage = Stage::new(kind).await;
    let months = spans(&stage).await;
    let ends = months[0].ends;
    turn_clock(&stage, ends - 30_000);
    let zone = stage.zone(region(0, 0)).await;
    let crowd = stage.crowd(&zone, 20).await;
    let ended = AtomicBool::new(false);
    let play = async {
        let mut round = 0;
        while !ended.load(Ordering::Relaxed) {
            round += 1;
            let arrows = u32::try_from(round).unwrap();
            let rows = wire::CommitRows {
                characters: crowd
                    .iter()
                    .map(|one| owns(one, 0, &[slot(3, "arrow", arrows)]))
                    .collect(),
                ledger: crowd
                    .iter()
                    .map(|one| ledger(&one.id, "arrow", Cause::STARTER, 1))
                    .collect(),
                ..wire::CommitRows::default()
            };
            let reply = stage.batch(zone.run, round, rows).await;
            assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
        }
        round
    };
    let late = format!("SELECT count(*) FROM ledger WHERE at > {}", ends + 300);
    let close = async {
        until("the old month has rows", async || {
            (stage.ask("SELECT count(*) FROM ledger").await != ["0"]).then_some(())
        })
        .await;
        turn_clock(&stage, ends - 500);
        until("the next month has rows", async || {
            (stage.ask(&late).await != ["0"]).then_some(())
        })
        .await;
        let closed = stage.keep_months(months[0].due()).await.unwrap();
        let then = stage.ask(&late).await;
        until("play goes on", async || {
            (stage.ask(&late).await != then).then_some(())
        })
        .await;
        ended.store(true, Ordering::Relaxed);
        closed
    };
    let (rounds, closed) = tokio::join!(play, close);
    assert_eq!(closed.len(), 3, "{closed:?}");
    let rows = stage.ask("SELECT count(*) FROM ledger").await;
    assert_eq!(rows, [(rounds * 20).to_string()]);
    let old = "SELECT row_count > 0 FROM archive_months WHERE kind = 'ledger' AND closed_at > 0";
    assert_eq!(stage.ask(old).await, ["t"]);
    nothing_differs(&stage).await;
    let rest = "SELECT count(*) FROM ledger_rest";
    assert_eq!(stage.ask(rest).await, ["0"]);
}

pub(crate) async fn a_closing_waits_for_who_still_writes(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    // Otherwise the round would make a month first, and that waits for who writes, too.
    stage.keep_months(months[0].due() - 1).await.unwrap();
    let other = stage.postgres().await;
    let write = format!(
        r#"BEGIN;
           UPDATE characters SET coins = coins + 7 WHERE id = '{id}';
           INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
             VALUES (0, 1, 1, '{id}', 'coins', 'starter', 7, 5)"#
    );
    other.batch_execute(&write).await.unwrap();
    // Who writes for too long is left alone: the month closes later.
    assert!(stage.keep_months(months[0].due()).await.is_err());
    let closed = "SELECT count(*) FROM archive_months WHERE kind = 'ledger' AND closed_at > 0";
    assert_eq!(stage.ask(closed).await, ["0"]);
    let end = async {
        until("the closing waits", async || {
            let waits = "SELECT count(*) FROM pg_stat_activity
                         WHERE datname = current_database() AND wait_event_type = 'Lock'";
            (stage.ask(waits).await != ["0"]).then_some(())
        })
        .await;
        other.batch_execute("COMMIT").await.unwrap();
    };
    let (kept, ()) = tokio::join!(stage.keep_months(months[0].due()), end);
    assert!(
        kept.unwrap()
            .contains(&format!("ledger {}", months[0].name))
    );
    let balance = "SELECT amount FROM ledger_balances WHERE item_id = 'coins'";
    assert_eq!(stage.ask(balance).await, ["32"]);
    nothing_differs(stage).await;
}

pub(crate) async fn a_drop_waits_for_who_still_writes(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    stage.keep_months(months[0].due()).await.unwrap();
    let other = stage.postgres().await;
    let write = format!(
        r#"BEGIN;
           INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
             VALUES (0, 1, 1, '{id}', 'coins', 'starter', 7, 5)"#
    );
    other.batch_execute(&write).await.unwrap();
    let end = async {
        until("the drop waits", async || {
            let waits = "SELECT count(*) FROM pg_stat_activity
                         WHERE datname = current_database() AND wait_event_type = 'Lock'";
            (stage.ask(waits).await != ["0"]).then_some(())
        })
        .await;
        other.batch_execute("COMMIT").await.unwrap();
    };
    let name = months[0].name.as_str();
    let drop = ["archive", "drop", "ledger", name, "--unexported"];
    let ((code, said), ()) = tokio::join!(stage.command(&drop), end);
    assert_eq!(code, 0, "{said}");
    let sum = "SELECT delta FROM ledger WHERE cause = 'carried' AND item_id = 'coins'";
    assert_eq!(stage.ask(sum).await, ["32"]);
}

pub(crate) async fn rows_without_a_month_wait_for_it(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    let late = months.last().unwrap().ends + 5;
    let fill = format!(
        r#"INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
             VALUES (0, 1, 1, '{id}', 'coins', 'starter', 7, {late});
           UPDATE characters SET coins = coins + 7 WHERE id = '{id}';
           INSERT INTO "playerSessions" ("playerId", "sessionEpoch", "sessionId", "gatewayId", login,
             logout) VALUES ('{id}', -1, 's', 'g', {late}, {late});
           INSERT INTO audit_log (at, "by", action) VALUES ({late}, 'a', 'b')"#
    );
    stage.sql("", &fill);
    let waiting = "3 rows wait for their month";
    let said = stage.command(&["archive"]).await.1;
    assert!(said.contains(waiting), "{said}");
    nothing_differs(stage).await;
    stage.keep_months(late).await.unwrap();
    let said = stage.command(&["archive"]).await.1;
    assert!(!said.contains("wait for their month"), "{said}");
    nothing_differs(stage).await;
    for (table, column) in [
        ("ledger", "at"),
        ("playerSessions", "login"),
        ("audit_log", "at"),
    ] {
        let place =
            format!(r#"SELECT tableoid::regclass::text FROM "{table}" WHERE {column} = {late}"#);
        let place = stage.ask(&place).await.concat();
        assert!(!place.contains("rest"), "{place}");
    }
}

/// The tables of the release before.
const LAYOUT_2: [&str; 3] = [
    include_str!("../../migrations/postgres/0001_world.sql"),
    include_str!("../../migrations/postgres/0002_operators.sql"),
    "CREATE TABLE tilestead_migrations (version integer PRIMARY KEY,
       at timestamptz NOT NULL DEFAULT now(), oldest integer NOT NULL DEFAULT 1);
     INSERT INTO tilestead_migrations (version) VALUES (1), (2);",
];
const ROWS: &str = r#"
    INSERT INTO users (id, name, "createdAt") VALUES ('u', 'U', 1);
    INSERT INTO characters (id, "accountId", name, "nameKey", "createdAt", "regionX", "regionZ", coins)
      SELECT 'c' || n, 'u', 'C' || n, 'c' || n, 1, 0, 0, 200 FROM generate_series(1, 10) n;
    INSERT INTO ledger SELECT 1, n, 1, 'c' || (n % 10 + 1), 'coins', 'starter', 1,
        (extract(epoch FROM now()) * 1000)::bigint - n * 86400000::bigint FROM generate_series(1, 2000) n;
    INSERT INTO "playerSessions"
      ("playerId", "sessionEpoch", "sessionId", "gatewayId", login, logout, reason)
      SELECT 'c' || (n % 10 + 1), n, 's' || n, 'g', n * 1000,
        CASE WHEN n <= 998 THEN n * 1000 + 5 END, CASE WHEN n % 2 = 0 THEN 'left' END
      FROM generate_series(1, 1000) n;
    INSERT INTO audit_log (at, "by", action) SELECT n, 'b', 'kick' FROM generate_series(1, 50) n;
    DELETE FROM audit_log WHERE id > 40;"#;

/// Statements of the release before, as its programs have them.
mod before {
    pub(super) const CONTINUE: &str = r#"UPDATE "playerSessions"
 SET "sessionEpoch" = $1, "sessionId" = $2, "gatewayId" = $3
 WHERE "playerId" = $4 AND logout IS NULL"#;
    pub(super) const BEGIN: &str = r#"INSERT INTO "playerSessions"
   ("playerId", "sessionEpoch", "sessionId", "gatewayId", login)
 VALUES ($1, $2, $3, $4, $5)"#;
    pub(super) const FORGET: &str = r#"DELETE FROM "playerSessions" WHERE id IN
   (SELECT id FROM "playerSessions" WHERE "playerId" = $1 AND logout IS NOT NULL
    ORDER BY login DESC, id DESC LIMIT 1000 OFFSET $2)
 RETURNING login, logout"#;
    pub(super) const CLOSE: &str = r#"UPDATE "playerSessions" s SET logout = tilestead_now_ms(), reason = u.reason
               FROM UNNEST($1::text[], $2::bigint[], $3::text[]) AS u (id, epoch, reason)
               WHERE s."playerId" = u.id AND s."sessionEpoch" = u.epoch AND s.logout IS NULL"#;
    pub(super) const LEDGER: &str = r#"INSERT INTO ledger
                 (run_id, sequence, "row", character_id, item_id, cause, delta, at)
               SELECT $1, $2, u.n::integer, u.who, u.item, u.cause, u.delta, tilestead_now_ms()
               FROM UNNEST($3::text[], $4::text[], $5::text[], $6::bigint[])
                 WITH ORDINALITY AS u (who, item, cause, delta, n)"#;
    pub(super) const AUDIT: &str = r#"INSERT INTO audit_log (at, "by", action, "accountId", "characterId", detail)
                        VALUES ($1, $2, $3, $4, $5, $6)"#;
    pub(super) const AUDIT_LIST: &str = r#"SELECT id, at, "by", action, "accountId", "characterId", detail
 FROM audit_log WHERE id < $1 ORDER BY id DESC LIMIT $2"#;
    pub(super) const LEDGER_LIST: &str = r#"SELECT run_id, sequence, "row", coalesce(character_id, ''),
 item_id, cause, delta, at FROM ledger WHERE character_id = $1 AND $2 = ''
 ORDER BY at DESC, run_id DESC, sequence DESC, "row" DESC LIMIT $3 OFFSET $4"#;
    pub(super) const PLAYED_SINCE: &str = r#"SELECT "playerId" FROM "playerSessions"
 WHERE logout IS NULL
 UNION SELECT "playerId" FROM "playerSessions" WHERE logout IS NOT NULL AND logout >= $1"#;
    pub(super) const WRITTEN: &str = "SELECT coalesce(character_id, '') AS holder, item_id AS item,
   CAST(sum(delta) AS bigint) AS amount FROM ledger GROUP BY 1, 2";
    pub(super) const ALL: [&str; 10] = [
        CONTINUE,
        BEGIN,
        FORGET,
        CLOSE,
        LEDGER,
        AUDIT,
        AUDIT_LIST,
        LEDGER_LIST,
        PLAYED_SINCE,
        WRITTEN,
    ];
}

async fn dump(client: &Client) -> Vec<String> {
    let mut all = Vec::new();
    for table in ["ledger", r#""playerSessions""#, "audit_log"] {
        let query = format!("SELECT t::text FROM {table} t ORDER BY 1");
        let rows = client.query(&query, &[]).await.unwrap();
        all.extend(rows.iter().map(|row| row.get::<_, String>(0)));
    }
    all
}

/// Plays a login, a logout and an exchange by the statements of the release before.
async fn play(client: &Client, statements: &[Statement], epoch: i64, sequence: i64) {
    let [go_on, begin, forget, close, ledger, audit, ..] = statements else {
        panic!("too few statements");
    };
    let now = client.query_one("SELECT tilestead_now_ms()", &[]).await;
    let now: i64 = now.unwrap().get(0);
    let went_on = client.execute(go_on, &[&epoch, &"s", &"g", &"c2"]).await;
    assert_eq!(went_on.unwrap(), 0, "it has no open session");
    let login = client
        .execute(begin, &[&"c2", &epoch, &"s", &"g", &now])
        .await;
    assert_eq!(login.unwrap(), 1);
    let went_on = client
        .execute(go_on, &[&(epoch + 1), &"t", &"g", &"c2"])
        .await;
    assert_eq!(went_on.unwrap(), 1);
    let forgotten = client.query(forget, &[&"c2", &99_i64]).await.unwrap();
    assert!(forgotten.len() <= 1, "{}", forgotten.len());
    let (ids, epochs, reasons) = (vec!["c2"], vec![epoch + 1], vec!["left"]);
    let left = client.execute(close, &[&ids, &epochs, &reasons]).await;
    assert_eq!(left.unwrap(), 1);
    let (who, what) = (vec!["c2", "c3"], vec!["coins", "coins"]);
    let values = (vec!["trade", "trade"], vec![-1_i64, 1]);
    let all: [&(dyn ToSql + Sync); 6] = [&2_i64, &sequence, &who, &what, &values.0, &values.1];
    assert_eq!(client.execute(ledger, &all).await.unwrap(), 2);
    let coins = "UPDATE characters SET coins = coins + CASE id WHEN 'c2' THEN -1 ELSE 1 END
                 WHERE id IN ('c2', 'c3')";
    client.batch_execute(coins).await.unwrap();
    let noted = client
        .execute(audit, &[&now, &"o", &"kick", &"u", &"c2", &""])
        .await;
    assert_eq!(noted.unwrap(), 1);
}

pub(crate) async fn the_tables_of_the_release_before_keep_every_row(kind: Kind) {
    let mut old = None;
    let stage = Stage::prepared(kind, &[], async |url| {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        for text in LAYOUT_2 {
            client.batch_execute(text).await.unwrap();
        }
        client.batch_execute(ROWS).await.unwrap();
        let mut statements = Vec::new();
        for text in before::ALL {
            statements.push(client.prepare(text).await.unwrap());
        }
        play(&client, &statements, 5_000, 1).await;
        let rows = dump(&client).await;
        old = Some((client, statements, rows));
    })
    .await;
    let (client, statements, rows) = old.unwrap();
    assert_eq!(dump(&client).await, rows);
    nothing_differs(&stage).await;
    // The older process goes on with the statements that it has, and with new ones.
    play(&client, &statements, 6_000, 2).await;
    let mut anew = Vec::new();
    for text in before::ALL {
        anew.push(client.prepare(text).await.unwrap());
    }
    play(&client, &anew, 7_000, 3).await;
    assert_eq!(dump(&client).await.len(), rows.len() + 2 * 4 - 2);
    nothing_differs(&stage).await;
    // Ids go on after the last that was given.
    let audit = client
        .query(&statements[6], &[&i64::MAX, &3_i64])
        .await
        .unwrap();
    let ids: Vec<i64> = audit.iter().map(|row| row.get(0)).collect();
    assert_eq!(ids, [53, 52, 51]);
    let last = stage.ask(r#"SELECT max(id) FROM "playerSessions""#).await;
    assert_eq!(last, ["1003"]);
    let list = client
        .query(&statements[7], &[&"c3", &"", &10_i64, &0_i64])
        .await
        .unwrap();
    let causes: Vec<String> = list.iter().map(|row| row.get(5)).collect();
    assert_eq!(causes[..4], ["trade", "trade", "trade", "starter"]);
    let played = client.query(&statements[8], &[&0_i64]).await.unwrap();
    assert_eq!(played.len(), 10);
    // An older check still sees the whole ledger after a month was dropped.
    let months = spans(&stage).await;
    stage.keep_months(months[0].due()).await.unwrap();
    let name = months[0].name.as_str();
    let sums = async |statement: &Statement| {
        let rows = client.query(statement, &[]).await.unwrap();
        let sum = |row: &tokio_postgres::Row| {
            let (holder, item): (String, String) = (row.get(0), row.get(1));
            format!("{holder} {item} {}", row.get::<_, i64>(2))
        };
        let mut sums: Vec<String> = rows.iter().map(sum).collect();
        sums.sort();
        sums
    };
    let before = sums(&statements[9]).await;
    for table in ["ledger", "sessions", "audit"] {
        let drop = ["archive", "drop", table, name, "--unexported"];
        let (code, said) = stage.command(&drop).await;
        assert_eq!(code, 0, "{said}");
    }
    assert_eq!(sums(&statements[9]).await, before);
    let went = client
        .execute("DELETE FROM characters WHERE id = 'c9'", &[])
        .await;
    assert_eq!(went.unwrap(), 1, "its sessions go with it");
}
