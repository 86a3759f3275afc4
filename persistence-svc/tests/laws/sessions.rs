//! The rows of logins: one for each stay in the world, and not for ever.

use proto::rpc::queries::v1 as wire;

use crate::stage::{Kind, Player, Stage, logout, region};

const ROWS: &str = r#"SELECT count(*) FROM "playerSessions""#;

async fn profile(stage: &Stage, id: &str) -> wire::ProfileReply {
    let ask = wire::ProfileRequest {
        character_id: id.to_owned(),
    };
    stage.queries().profile(ask).await.unwrap().into_inner()
}

pub(crate) async fn reconnecting_adds_no_session(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    for number in 2..=60 {
        let opened = stage.open(&player, &format!("session {number}")).await;
        assert_eq!(opened.session_epoch, number);
    }
    assert_eq!(stage.ask(ROWS).await, ["1"]);
    assert_eq!(profile(&stage, &player.id).await.logins, 1);
    // The row is the last session's: its logout closes it, and the next login begins another.
    let record = stage.load(zone.run, &player.id).await.unwrap();
    stage
        .commit(zone.run, 1, vec![logout(record, "left")])
        .await;
    let closed = r#"SELECT "sessionId" || ' ' || reason FROM "playerSessions""#;
    assert_eq!(stage.ask(closed).await, ["session 60 left"]);
    stage.open(&player, "again").await;
    assert_eq!(stage.ask(ROWS).await, ["2"]);
    assert_eq!(profile(&stage, &player.id).await.logins, 2);
}

pub(crate) async fn old_sessions_are_added_up_and_removed(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    let name = "Comes and goes".to_owned();
    let id = stage.create(&account, &name).await.unwrap().id;
    // 250 stays of 500 ms, long ago.
    let insert = |series: &str| {
        format!(
            r#"{series} INSERT INTO "playerSessions"
                 ("playerId", "sessionEpoch", "sessionId", "gatewayId", login, logout, reason)
               SELECT '{id}', -n, 's', 'g', n * 1000, n * 1000 + 500, 'left' FROM n"#
        )
    };
    let series = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 250)";
    stage.sql(&insert(series), &insert(series));
    let before = profile(&stage, &id).await;
    assert_eq!((before.logins, before.played_ms), (250, 125_000));
    let player = Player { account, id, name };
    stage.open(&player, "now").await;
    assert_eq!(stage.ask(ROWS).await, ["100"]);
    let newest = r#"SELECT count(*) FROM "playerSessions" WHERE login > 151 * 1000"#;
    assert_eq!(stage.ask(newest).await, ["100"], "the oldest are gone");
    let after = profile(&stage, &player.id).await;
    assert_eq!(after.logins, 251);
    assert!(after.played_ms >= 125_000, "{}", after.played_ms);
}
