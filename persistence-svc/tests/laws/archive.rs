//! Laws of months: what is closed keeps its sums, what is exported is whole, and what is dropped
//! leaves everything else right.
//!
//! The first month of a new store ends in the future. So the rows of these laws that are later than
//! all play stand in the months after it, and "now" is as late as the law says.

use std::path::PathBuf;

use futures::SinkExt;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::queries::v1 as queries;

use crate::stage::value::Scene;
use crate::stage::{Kind, Stage, region, temporary_folder, until};

pub(crate) const HOUR_MS: i64 = 3_600_000;

/// A month of the ledger.
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) ends: i64,
}

impl Span {
    /// Returns the time at which it is due to be closed.
    pub(crate) fn due(&self) -> i64 {
        self.ends + 6 * HOUR_MS
    }
}

/// Returns the months of the ledger, once the service has made them.
pub(crate) async fn spans(stage: &Stage) -> Vec<Span> {
    let query = "SELECT month || ' ' || ends FROM archive_months WHERE kind = 'ledger'
                 ORDER BY begins";
    let rows = until("there are months", async || {
        let rows = stage.ask(query).await;
        (rows.len() > 3).then_some(rows)
    })
    .await;
    let span = |row: &String| {
        let (name, ends) = row.split_once(' ').unwrap();
        Span {
            name: name.to_owned(),
            ends: ends.parse().unwrap(),
        }
    };
    rows.iter().map(span).collect()
}

/// Gives a character coins behind the service's back, at a time, with their row of the ledger. It
/// has a number that the store itself does not reach.
fn coins(stage: &Stage, id: &str, number: i64, delta: i64, at: i64) {
    let number = 1_000 + number;
    let both = format!(
        r#"INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
             VALUES (0, {number}, 1, '{id}', 'coins', 'starter', {delta}, {at});
           UPDATE characters SET coins = coins + {delta} WHERE id = '{id}';"#
    );
    stage.sql(&both, &both);
}

async fn nothing_differs(stage: &Stage) {
    assert_eq!(stage.check().await.differences, Vec::<String>::new());
    assert_eq!(stage.check_full().await.differences, Vec::<String>::new());
}

/// Returns the check of the release before, which reads the whole ledger.
async fn differences_for_older_programs(stage: &Stage) -> Vec<String> {
    stage
        .ask(
            r#"SELECT holder || ' ' || item FROM (
                 SELECT holder, item, sum(amount) AS held, 0 AS ledger FROM (
                   SELECT "playerId" AS holder, "itemId" AS item, quantity AS amount FROM inventory
                   UNION ALL SELECT "playerId", "itemId", quantity FROM bank WHERE quantity <> 0
                   UNION ALL SELECT id, 'coins', coins FROM characters WHERE coins <> 0
                   UNION ALL SELECT '', item_id, quantity FROM ground_items) h GROUP BY 1, 2
                 UNION ALL SELECT coalesce(character_id, ''), item_id, 0, sum(delta)
                   FROM ledger GROUP BY 1, 2) both_sides
               GROUP BY holder, item HAVING sum(held) <> sum(ledger) ORDER BY 1"#,
        )
        .await
}

pub(crate) async fn a_closing_keeps_the_sums(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let dropped = stage.batch(scene.zone.run, 2, scene.drop_two()).await;
    assert_eq!(dropped.outcome(), Outcome::Done);
    let months = spans(stage).await;
    coins(stage, id, 1, 10, months[0].ends);
    coins(stage, id, 2, -35, months[1].ends - 1);
    coins(stage, id, 3, 4, months[1].ends);
    nothing_differs(stage).await;
    let totals = stage.check().await.totals;
    assert!(
        stage
            .keep_months(months[0].due() - 1)
            .await
            .unwrap()
            .is_empty()
    );
    for (month, coins) in [(0, "25"), (1, "")] {
        let closed = stage.keep_months(months[month].due()).await.unwrap();
        let name = &months[month].name;
        let names = ["audit", "ledger", "sessions"].map(|kind| format!("{kind} {name}"));
        assert_eq!(closed, names);
        let balance = "SELECT amount FROM ledger_balances WHERE item_id = 'coins'";
        assert_eq!(stage.ask(balance).await.concat(), coins);
        nothing_differs(stage).await;
        assert_eq!(stage.check().await.totals, totals);
    }
    // A closed month is closed once.
    assert!(stage.keep_months(months[1].due()).await.unwrap().is_empty());
    let ground = "SELECT amount FROM ledger_balances WHERE character_id = ''";
    assert_eq!(stage.ask(ground).await, ["2"]);
    let rows = "SELECT row_count FROM archive_months WHERE kind = 'ledger' AND closed_at > 0
                ORDER BY begins";
    assert_eq!(stage.ask(rows).await, ["5", "2"]);
}

pub(crate) async fn a_difference_is_found_on_both_sides_of_a_closing(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    coins(stage, id, 1, 10, months[0].ends);
    let held = ["+ 1", "- 1"]
        .map(|more| format!("UPDATE characters SET coins = coins {more} WHERE id = '{id}'"));
    let young = ["+ 1", "- 1"]
        .map(|more| format!("UPDATE ledger SET delta = delta {more} WHERE run_id = 0"));
    let old = ["+ 1", "- 1"].map(|more| {
        format!("UPDATE ledger SET delta = delta {more} WHERE run_id > 0 AND item_id = 'coins'")
    });
    let change = |words: &str| stage.sql(words, words);
    let says =
        |held, ledger| format!("character {id} has {held} of coins, the ledger says {ledger}");
    change(&held[0]);
    assert_eq!(stage.check().await.differences, [says(36, 35)]);
    change(&held[1]);
    // One has more and another less, so that the item's total is right.
    let other = stage.player().await.id;
    coins(stage, &other, 5, 10, 7);
    nothing_differs(stage).await;
    let give = |from: &str, to: &str| {
        format!(
            "UPDATE characters SET coins = coins + CASE id WHEN '{from}' THEN -1 ELSE 1 END
             WHERE id IN ('{from}', '{to}')"
        )
    };
    change(&give(id, &other));
    let mut both = [
        says(34, 35),
        format!("character {other} has 11 of coins, the ledger says 10"),
    ];
    both.sort();
    assert_eq!(stage.check().await.differences, both);
    change(&give(&other, id));
    let gone = "DELETE FROM ledger WHERE run_id = 0 AND sequence = 1005";
    change(gone);
    change(&format!(
        "UPDATE characters SET coins = 0 WHERE id = '{other}'"
    ));
    nothing_differs(stage).await;
    change(&old[0]);
    assert_eq!(stage.check().await.differences, [says(35, 36)]);
    change(&old[1]);
    stage.keep_months(months[0].due()).await.unwrap();
    nothing_differs(stage).await;
    change(&held[0]);
    assert_eq!(stage.check().await.differences, [says(36, 35)]);
    change(&held[1]);
    change(&young[0]);
    assert_eq!(stage.check().await.differences, [says(35, 36)]);
    change(&young[1]);
    // The check trusts a closed month; the full check does not.
    change(&old[0]);
    assert!(stage.check().await.differences.is_empty());
    let closed =
        format!("the closed months give character {id} 26 of coins, their balance says 25");
    assert_eq!(
        stage.check_full().await.differences,
        std::slice::from_ref(&closed)
    );
    let (code, said) = stage.command(&["check", "--full"]).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(&closed), "{said}");
    assert_eq!(stage.command(&["check"]).await.0, 0);
    change(&old[1]);
    nothing_differs(stage).await;
    // Two rows that cancel each other out go.
    let pair = |number| {
        format!(
            r#"INSERT INTO ledger (run_id, sequence, "row", character_id, item_id, cause, delta, at)
                 VALUES (0, {number}, 1, '{id}', 'coins', 'starter', 5, 7),
                        (0, {number}, 2, '{id}', 'coins', 'starter', -5, 7)"#
        )
    };
    change(&pair(9));
    let name = &months[0].name;
    let more = format!("month {name} of the ledger has 5 rows, it closed with 3");
    assert_eq!(stage.check_full().await.differences, [more]);
}

pub(crate) async fn only_the_oldest_closed_and_exported_month_is_dropped(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    let (one, two) = (months[0].name.as_str(), months[1].name.as_str());
    coins(stage, id, 1, 10, months[0].ends);
    let folder = temporary_folder();
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.csv");
    let file = file.to_str().unwrap();
    let refused = async |words: &[&str], why: &str| {
        let (code, said) = stage.command(words).await;
        assert_eq!(code, 1, "{words:?}: {said}");
        assert!(said.contains(why), "{words:?}: {said}");
    };
    for table in ["ledger", "sessions", "audit"] {
        let not_closed = "is not closed yet";
        refused(&["archive", "drop", table, one, "--unexported"], not_closed).await;
        refused(&["archive", "export", table, one, file], not_closed).await;
        refused(&["archive", "drop", table, "2020-01"], "no such month").await;
    }
    stage.keep_months(months[1].due()).await.unwrap();
    for table in ["ledger", "sessions", "audit"] {
        refused(&["archive", "drop", table, one], "was not exported").await;
        let older = format!("{one} is older");
        refused(&["archive", "drop", table, two, "--unexported"], &older).await;
    }
    let (code, said) = stage
        .command(&["archive", "export", "ledger", one, file])
        .await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("3 rows, SHA-256 "), "{said}");
    refused(
        &["archive", "export", "ledger", one, file],
        "exists already",
    )
    .await;
    coins(stage, id, 2, 1, 7);
    refused(&["archive", "drop", "ledger", one], "export it again").await;
    let gone = "DELETE FROM ledger WHERE run_id = 0 AND sequence = 1002";
    stage.sql(gone, gone);
    let (code, said) = stage.command(&["archive", "drop", "ledger", one]).await;
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("3 rows dropped; 3 sums stand for them"),
        "{said}"
    );
    refused(&["archive", "drop", "ledger", one], "dropped already").await;
    refused(
        &["archive", "export", "ledger", one, "another.csv"],
        "dropped already",
    )
    .await;
    let (_, said) = stage.command(&["archive"]).await;
    assert!(
        said.contains(&format!(
            "ledger {one} and before: dropped, 3 rows exported"
        )),
        "{said}"
    );
    assert!(said.contains(&format!("ledger {two}: 1 rows")), "{said}");
    assert_eq!(stage.command(&["archive", "drop", "runs", one]).await.0, 64);
    std::fs::remove_dir_all(folder).unwrap();
}

pub(crate) async fn a_dropped_month_of_the_ledger_leaves_its_sums(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    coins(stage, id, 1, 10, months[0].ends);
    coins(stage, id, 2, -3, months[0].ends + 1);
    coins(stage, id, 3, 100, months[1].ends);
    stage.keep_months(months[1].due()).await.unwrap();
    let totals = stage.check().await.totals;
    let sum = "SELECT delta FROM ledger WHERE cause = 'carried' AND item_id = 'coins'";
    for (month, carried) in [(0, "25"), (1, "32")] {
        let name = months[month].name.as_str();
        let drop = ["archive", "drop", "ledger", name, "--unexported"];
        let (code, said) = stage.command(&drop).await;
        assert_eq!(code, 0, "{said}");
        assert_eq!(stage.ask(sum).await, [carried]);
        nothing_differs(stage).await;
        assert_eq!(stage.check().await.totals, totals);
        assert!(differences_for_older_programs(stage).await.is_empty());
    }
    assert_eq!(stage.ask("SELECT count(*) FROM ledger").await, ["4"]);
    // Play goes on, and the list tells of the sums as the oldest rows.
    let mut rows = scene.drop_two();
    rows.characters[0].record.as_mut().unwrap().coins = 132;
    let dropped = stage.batch(scene.zone.run, 2, rows).await;
    assert_eq!(dropped.outcome(), Outcome::Done);
    let ask = queries::LedgerRequest {
        character_id: id.clone(),
        item_id: "coins".to_owned(),
        page: Some(queries::Page {
            offset: 0,
            limit: 10,
        }),
    };
    let list = stage.queries().ledger(ask).await.unwrap().into_inner();
    let rows: Vec<_> = list
        .rows
        .iter()
        .map(|e| (e.cause.as_str(), e.delta))
        .collect();
    assert_eq!(rows, [("starter", 100), ("carried", 32)]);
}

/// As a process leaves it that was killed: the months are noted as dropped, one holder's rows are
/// sums already, and all else is still there.
pub(crate) async fn a_drop_that_stopped_halfway_goes_on() {
    let scene = Scene::new(Kind::Sqlite).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let months = spans(stage).await;
    let name = months[0].name.as_str();
    let other = stage.player().await.id;
    coins(stage, &other, 1, 10, 7);
    let act = r#"INSERT INTO audit_log (at, "by", action, detail) VALUES (1, '', 'kick', '')"#;
    stage.sql(act, act);
    stage.keep_months(months[0].due()).await.unwrap();
    let halfway = format!(
        "UPDATE archive_months SET dropped_at = 1 WHERE kind <> 'sessions' AND month = '{name}';
         UPDATE ledger SET cause = 'carried' WHERE character_id = '{id}'"
    );
    stage.sql(&halfway, &halfway);
    let totals = stage.check().await.totals;
    for (table, went) in [
        ("ledger", "1 rows dropped; 4 sums stand for them"),
        ("audit", "1 rows dropped"),
    ] {
        let drop = ["archive", "drop", table, name, "--unexported"];
        let (code, said) = stage.command(&drop).await;
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(went), "{said}");
        let (code, said) = stage.command(&drop).await;
        assert!(code == 1 && said.contains("dropped already"), "{said}");
    }
    let causes = "SELECT cause FROM ledger";
    assert_eq!(stage.ask(causes).await, ["carried"; 4]);
    assert_eq!(stage.ask("SELECT count(*) FROM audit_log").await, ["0"]);
    nothing_differs(stage).await;
    assert_eq!(stage.check().await.totals, totals);
}

pub(crate) async fn dropped_sessions_still_count(kind: Kind) {
    let stage = Stage::new(kind).await;
    stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let months = spans(&stage).await;
    let id = &player.id;
    let many = |series: &str| {
        format!(
            r#"{series} INSERT INTO "playerSessions"
                 ("playerId", "sessionEpoch", "sessionId", "gatewayId", login, logout, reason)
               SELECT '{id}', -n, 's', 'g', n * 1000, n * 1000 + 500, 'left' FROM n"#
        )
    };
    let series = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50)";
    stage.sql(&many(series), &many(series));
    let later = format!(
        r#"INSERT INTO "playerSessions"
             ("playerId", "sessionEpoch", "sessionId", "gatewayId", login, logout, reason)
           VALUES ('{id}', -100, 's', 'g', {0}, {0} + 700, 'left')"#,
        months[0].ends
    );
    stage.sql(&later, &later);
    let profile = async || {
        let ask = queries::ProfileRequest {
            character_id: id.clone(),
        };
        let told = stage.queries().profile(ask).await.unwrap().into_inner();
        // The open session grows; the two others are 25.7 s.
        (
            told.logins,
            told.played_ms >= 25_700 && told.played_ms < 600_000,
        )
    };
    assert_eq!(profile().await, (52, true));
    stage.keep_months(months[0].due()).await.unwrap();
    let name = months[0].name.as_str();
    let (code, said) = stage
        .command(&["archive", "drop", "sessions", name, "--unexported"])
        .await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("50 rows dropped; 1 stay"), "{said}");
    assert_eq!(profile().await, (52, true));
    let rows = r#"SELECT "sessionEpoch" FROM "playerSessions" ORDER BY login"#;
    assert_eq!(stage.ask(rows).await, ["1", "-100"]);
    let earlier = r#"SELECT "earlierLogins" || ' ' || "earlierPlayedMs" FROM characters"#;
    assert_eq!(stage.ask(earlier).await, ["50 25000"]);
    // The open session goes on, and its row with it.
    assert_eq!(stage.open(&player, "again").await.session_epoch, 2);
    assert_eq!(stage.ask(rows).await, ["2", "-100"]);
    nothing_differs(&stage).await;
}

/// Reads CSV as PostgreSQL writes it.
fn read_csv(text: &str) -> Vec<Vec<Option<String>>> {
    let (mut rows, mut row, mut value) = (Vec::new(), Vec::new(), None::<String>);
    let mut quoted = false;
    let mut all = text.chars().peekable();
    while let Some(c) = all.next() {
        match c {
            '"' if quoted && all.peek() == Some(&'"') => {
                all.next();
                value.as_mut().unwrap().push('"');
            }
            '"' => {
                quoted = !quoted;
                value.get_or_insert_default();
            }
            ',' if !quoted => row.push(value.take()),
            '\n' if !quoted => {
                row.push(value.take());
                rows.push(std::mem::take(&mut row));
            }
            c => value.get_or_insert_default().push(c),
        }
    }
    assert!(row.is_empty() && value.is_none() && !quoted);
    rows
}

/// Tables with their columns.
const TABLES: [(&str, &str, &str); 3] = [
    (
        "ledger",
        "ledger",
        "run_id,sequence,row,character_id,item_id,cause,delta,at",
    ),
    (
        "sessions",
        "playerSessions",
        "id,playerId,sessionEpoch,sessionId,gatewayId,login,logout,reason",
    ),
    (
        "audit",
        "audit_log",
        "id,at,by,action,accountId,characterId,detail",
    ),
];

pub(crate) async fn an_export_has_every_row(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, id) = (&scene.stage, &scene.player.id);
    let dropped = stage.batch(scene.zone.run, 2, scene.drop_two()).await;
    assert_eq!(dropped.outcome(), Outcome::Done);
    let months = spans(stage).await;
    let fill = format!(
        r#"INSERT INTO audit_log (at, "by", action, detail) VALUES
             (1, '', 'a,b', 'say "no"'), (2, 'back\slash', '\.', 'two
lines'), ({0} - 1, 'x', 'y', ' '), ({0}, 'of', 'the next', 'month');
           INSERT INTO "playerSessions"
             ("playerId", "sessionEpoch", "sessionId", "gatewayId", login, logout, reason)
             VALUES ('{id}', -1, '', 'g"', 5, 6, NULL), ('{id}', -2, ',', 'g', 6, 7, '');"#,
        months[0].ends
    );
    stage.sql(&fill, &fill);
    // More than the store hands over at once.
    let many = |series: &str| {
        format!(
            r#"{series} INSERT INTO ledger
                 (run_id, sequence, "row", character_id, item_id, cause, delta, at)
               SELECT 0, n, 1, NULL, 'dust', 'starter', CASE WHEN n % 2 = 0 THEN 1 ELSE -1 END, n
               FROM n"#
        )
    };
    let series = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 12000)";
    stage.sql(&many(series), &many(series));
    stage.keep_months(months[0].due()).await.unwrap();
    let folder = temporary_folder();
    std::fs::create_dir_all(&folder).unwrap();
    for (word, table, columns) in TABLES {
        let file: PathBuf = folder.join(format!("{word}.csv"));
        let name = months[0].name.as_str();
        let export = ["archive", "export", word, name, file.to_str().unwrap()];
        let (code, said) = stage.command(&export).await;
        assert_eq!(code, 0, "{said}");
        let text = std::fs::read_to_string(&file).unwrap();
        let mut rows = read_csv(&text);
        let header: Vec<String> = rows.remove(0).into_iter().flatten().collect();
        assert_eq!(header.join(","), columns);
        let as_text: Vec<String> = rows
            .iter()
            .map(|row| {
                let values = row.iter().map(|v| v.as_deref().unwrap_or("<null>"));
                values.collect::<Vec<_>>().join("|")
            })
            .collect();
        let at = if word == "sessions" { "login" } else { "at" };
        let values: Vec<String> = columns
            .split(',')
            .map(|column| format!(r#"coalesce(CAST("{column}" AS text), '<null>')"#))
            .collect();
        let there = format!(
            r#"SELECT {} FROM "{table}" WHERE {at} < {} ORDER BY {at}, 1"#,
            values.join(" || '|' || "),
            months[0].ends
        );
        let (mut have, mut want) = (as_text, stage.ask(&there).await);
        assert!(
            said.contains(&format!("{} rows, SHA-256", want.len())),
            "{said}"
        );
        have.sort();
        want.sort();
        assert_eq!(have, want, "{word}");
        if !matches!(kind, Kind::Sqlite) {
            // PostgreSQL itself reads it.
            let copied = format!(
                r#"CREATE TEMP TABLE back (LIKE "{table}");
                   COPY back FROM STDIN (FORMAT csv, HEADER);"#
            );
            let client = stage.postgres().await;
            let (make, copy) = copied.split_once(';').unwrap();
            client.batch_execute(make).await.unwrap();
            let sink = client
                .copy_in(copy.trim().trim_end_matches(';'))
                .await
                .unwrap();
            let mut sink = std::pin::pin!(sink);
            sink.send(bytes::Bytes::from(text)).await.unwrap();
            assert_eq!(sink.finish().await.unwrap(), want.len() as u64);
            let differ = format!(
                r#"SELECT count(*) FROM (
                     (SELECT * FROM back EXCEPT SELECT * FROM "{table}" WHERE {at} < {0})
                     UNION ALL
                     (SELECT * FROM "{table}" WHERE {at} < {0} EXCEPT SELECT * FROM back)) d"#,
                months[0].ends
            );
            let row = client.query_one(&differ, &[]).await.unwrap();
            assert_eq!(row.get::<_, i64>(0), 0, "{word}");
        }
        let drop = ["archive", "drop", word, name];
        let (code, said) = stage.command(&drop).await;
        assert_eq!(code, 0, "{said}");
    }
    nothing_differs(stage).await;
    let left = "SELECT action FROM audit_log";
    assert_eq!(stage.ask(left).await, ["the next"]);
    std::fs::remove_dir_all(folder).unwrap();
}
