//! Batches: once, whole, fenced.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use tonic::Code;

use crate::stage::{Kind, Stage, at, logout, refused, region, stay, transfer};

/// Returns the character's place in the store.
async fn place(stage: &Stage, run: u64, id: &str) -> (i32, i32) {
    let record = stage.load(run, id).await.unwrap();
    (record.x, record.z)
}

pub(crate) async fn a_batch_is_applied_once(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let reply = stage
        .commit(zone.run, 1, vec![stay(at(&record, 20, -3))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert_eq!(place(&stage, zone.run, &player.id).await, (20, -3));
    // A repeated sequence is acknowledged and changes nothing, whatever it holds.
    let reply = stage
        .commit(zone.run, 1, vec![stay(at(&record, 50, 50))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert_eq!(place(&stage, zone.run, &player.id).await, (20, -3));
    let reply = stage
        .commit(zone.run, 2, vec![stay(at(&record, 21, 5))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert_eq!(place(&stage, zone.run, &player.id).await, (21, 5));
    let reply = stage.commit(zone.run, 3, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
}

pub(crate) async fn the_same_batch_at_once_is_applied_once(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let player = stage.player().await;
    let record = stage.load(here.run, &player.id).await.unwrap();
    let tries = (0..6).map(|_| {
        let rows = vec![transfer(record.clone(), &there)];
        stage.commit(here.run, 1, rows)
    });
    for reply in futures::future::join_all(tries).await {
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    }
    assert_eq!(stage.owner_of(&player.id).await.ownership_sequence, 2);
}

pub(crate) async fn a_gap_in_the_sequence_is_refused(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let reply = stage
        .commit(zone.run, 2, vec![stay(at(&record, 1, 1))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert_eq!(place(&stage, zone.run, &player.id).await, (0, 0));
    let reply = stage.commit(zone.run, 0, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let reply = stage
        .commit(zone.run, 1, vec![stay(at(&record, 1, 1))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done);
}

pub(crate) async fn a_wrong_row_refuses_the_whole_batch(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let (good, bad) = (stage.player().await, stage.player().await);
    let good_record = stage.load(zone.run, &good.id).await.unwrap();
    let bad_record = stage.load(zone.run, &bad.id).await.unwrap();
    let wrong: [fn(&mut wire::CharacterRecord); 11] = [
        |record| record.ownership_sequence += 1,
        |record| record.ownership_sequence -= 1,
        |record| record.session_epoch += 1,
        |record| record.region = Some(region(0, 1)),
        |record| record.region = None,
        |record| record.coins = 3_000_000_000,
        |record| record.skills[0].name = "juggling".to_owned(),
        |record| record.skills[0].level = 100,
        |record| record.skills[0].level = 0,
        |record| record.skills[0].xp_tenths = 2_000_000_001,
        |record| record.y = f32::NAN,
    ];
    for (number, spoil) in wrong.into_iter().enumerate() {
        let mut record = at(&bad_record, 3, 3);
        spoil(&mut record);
        let rows = vec![stay(at(&good_record, 2, 2)), stay(record)];
        let reply = stage.commit(zone.run, 1, rows).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{number}");
        assert_eq!(
            reply.character_ids,
            std::slice::from_ref(&bad.id),
            "{number}"
        );
        assert!(!reply.detail.is_empty());
        assert_eq!(place(&stage, zone.run, &good.id).await, (0, 0), "{number}");
        assert_eq!(place(&stage, zone.run, &bad.id).await, (0, 0), "{number}");
    }
    let unknown = wire::CharacterRecord {
        id: "nobody".to_owned(),
        ..bad_record.clone()
    };
    let reply = stage.commit(zone.run, 1, vec![stay(unknown)]).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let twice = vec![stay(at(&bad_record, 1, 1)), stay(at(&bad_record, 2, 2))];
    let reply = stage.commit(zone.run, 1, twice).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let both = vec![stay(at(&good_record, 2, 2)), stay(at(&bad_record, 3, 3))];
    let reply = stage.commit(zone.run, 1, both).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
}

pub(crate) async fn a_row_of_somebody_elses_region_is_refused(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let player = stage.player().await;
    let record = stage.load(here.run, &player.id).await.unwrap();
    refused(
        stage.load(there.run, &player.id).await,
        Code::PermissionDenied,
    );
    let reply = stage
        .commit(there.run, 1, vec![stay(at(&record, 4, 4))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert_eq!(reply.character_ids, std::slice::from_ref(&player.id));
    let reply = stage
        .commit(there.run, 1, vec![logout(record, "left")])
        .await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert!(stage.owner_of(&player.id).await.online);
}

pub(crate) async fn a_row_of_who_is_not_in_the_world_is_refused(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let reply = stage
        .commit(zone.run, 1, vec![logout(record.clone(), "left")])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done);
    refused(stage.load(zone.run, &player.id).await, Code::NotFound);
    let reply = stage
        .commit(zone.run, 2, vec![stay(at(&record, 7, 7))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Refused);
}

pub(crate) async fn everything_of_a_record_is_kept(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let mut record = stage.load(zone.run, &player.id).await.unwrap();
    record.x = -999_999;
    record.y = 12.5;
    record.z = 999_999;
    record.combat_level = 77;
    record.health = 3;
    record.state = vec![2, 0x80].into();
    record.placed = true;
    for (number, skill) in (0_u32..).zip(&mut record.skills) {
        skill.level = 20 + number;
        skill.xp_tenths = 2_000_000_000 - u64::from(number);
    }
    let reply = stage.commit(zone.run, 1, vec![stay(record.clone())]).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert_eq!(stage.load(zone.run, &player.id).await.unwrap(), record);
    // Skills that a row does not name stay; names and sessions are not a zone's to write.
    let mut partial = record.clone();
    partial.skills.truncate(1);
    partial.skills[0].level = 99;
    partial.name = "Impostor".to_owned();
    partial.account_id = "stolen".to_owned();
    partial.session_id = "other".to_owned();
    let reply = stage.commit(zone.run, 2, vec![stay(partial)]).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    record.skills[0].level = 99;
    assert_eq!(stage.load(zone.run, &player.id).await.unwrap(), record);
}

pub(crate) async fn a_transfer_gives_the_character_away(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let player = stage.player().await;
    let record = stage.load(here.run, &player.id).await.unwrap();
    let rows = vec![transfer(at(&record, 600, 2), &there)];
    let reply = stage.commit(here.run, 1, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let owner = stage.owner_of(&player.id).await;
    assert_eq!((owner.run_id, owner.region), (there.run, Some(there.place)));
    assert_eq!(
        (owner.ownership_sequence, owner.region_epoch),
        (2, there.epoch)
    );
    assert!(owner.online);
    // It is no longer the giver's, under the old sequence or the new one.
    let mut forged = at(&record, 1, 1);
    forged.ownership_sequence = 2;
    forged.region = Some(there.place);
    for row in [stay(at(&record, 1, 1)), stay(forged)] {
        let reply = stage.commit(here.run, 2, vec![row]).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
    }
    refused(
        stage.load(here.run, &player.id).await,
        Code::PermissionDenied,
    );
    let taken = stage.load(there.run, &player.id).await.unwrap();
    assert_eq!((taken.x, taken.ownership_sequence), (600, 2));
    let reply = stage
        .commit(there.run, 1, vec![transfer(taken, &here)])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert_eq!(stage.owner_of(&player.id).await.ownership_sequence, 3);
}

pub(crate) async fn a_transfer_within_the_run_keeps_the_sequence(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    // Its second region comes through a second registration of the same world by nobody else.
    stage.sql(
        "INSERT INTO regions (region_x, region_z) VALUES (1, 0)",
        "INSERT INTO regions (region_x, region_z) VALUES (1, 0)",
    );
    let owned = async || (stage.owner(region(1, 0)).await.run_id == zone.run).then_some(());
    stage.sql(
        "UPDATE directory SET version = version + 1",
        "UPDATE directory SET version = version + 1",
    );
    crate::stage::until("the second region is given out", owned).await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let mut row = stay(at(&record, 70, 2));
    row.transfer = Some(wire::Transfer {
        region: Some(region(1, 0)),
        epoch: 0,
        ownership_sequence: 1,
    });
    let reply = stage.commit(zone.run, 1, vec![row.clone()]).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let owner = stage.owner_of(&player.id).await;
    assert_eq!(
        (owner.region, owner.ownership_sequence),
        (Some(region(1, 0)), 1)
    );
    // A sequence that grows although the owner stays does not fit.
    if let (Some(record), Some(transfer)) = (&mut row.record, &mut row.transfer) {
        record.region = Some(region(1, 0));
        transfer.region = Some(region(0, 0));
        transfer.ownership_sequence = 2;
    }
    let reply = stage.commit(zone.run, 2, vec![row]).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
}

pub(crate) async fn a_stale_transfer_changes_nothing(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let (goes, stays) = (stage.player().await, stage.player().await);
    let goes_record = stage.load(here.run, &goes.id).await.unwrap();
    let stays_record = stage.load(here.run, &stays.id).await.unwrap();
    let mut old = there;
    old.epoch += 1;
    let mut unknown = there;
    unknown.place = region(500, 500);
    for target in [old, unknown] {
        let rows = vec![
            transfer(at(&goes_record, 600, 2), &target),
            stay(at(&stays_record, 5, 5)),
        ];
        let reply = stage.commit(here.run, 1, rows).await;
        assert_eq!(reply.outcome(), Outcome::TransferStale, "{}", reply.detail);
        assert_eq!(reply.character_ids, std::slice::from_ref(&goes.id));
        assert_eq!(place(&stage, here.run, &goes.id).await, (0, 0));
        assert_eq!(place(&stage, here.run, &stays.id).await, (0, 0));
    }
    // The same again without the transfer, under the same sequence.
    let rows = vec![stay(at(&goes_record, 63, 2)), stay(at(&stays_record, 5, 5))];
    let reply = stage.commit(here.run, 1, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert_eq!(place(&stage, here.run, &goes.id).await, (63, 2));
    // The target's owner ends: its region is nobody's, at another epoch.
    stage.release(there.run).await;
    let rows = vec![transfer(at(&goes_record, 600, 2), &there)];
    let reply = stage.commit(here.run, 2, rows).await;
    assert_eq!(reply.outcome(), Outcome::TransferStale);
}

pub(crate) async fn a_logout_closes_the_session(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let rows = vec![logout(at(&record, 33, 34), "disconnected")];
    let reply = stage.commit(zone.run, 1, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert!(!stage.owner_of(&player.id).await.online);
    let rows = stage
        .ask(
            r#"SELECT reason FROM "playerSessions" WHERE logout >= login AND login > 0
               AND "gatewayId" = 'gateway'"#,
        )
        .await;
    assert_eq!(rows, ["disconnected"]);
    let again = stage.open(&player, "second").await;
    assert!(!again.was_online);
    assert_eq!(again.session_epoch, 2);
    assert_eq!(place(&stage, zone.run, &player.id).await, (33, 34));
}

pub(crate) async fn the_logout_of_a_replaced_session_saves_and_stays(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    // The zone takes the first session out while a second one has been opened.
    stage.open(&player, "second").await;
    let rows = vec![logout(at(&record, 12, 13), "left")];
    let reply = stage.commit(zone.run, 1, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let record = stage.load(zone.run, &player.id).await.unwrap();
    assert_eq!((record.x, record.z, record.session_epoch), (12, 13, 2));
    let rows = stage
        .ask(
            r#"SELECT "sessionId" || ' ' || coalesce(reason, 'open') FROM "playerSessions"
               ORDER BY "sessionEpoch""#,
        )
        .await;
    assert_eq!(rows, ["second open"]);
}

pub(crate) async fn a_batch_that_is_cut_off_changes_nothing(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let rows = vec![stay(at(&record, 8, 8))];
    let cut = stage.send(zone.run, 1, 2, rows.clone()).await;
    refused(cut, Code::DataLoss);
    assert_eq!(place(&stage, zone.run, &player.id).await, (0, 0));
    let more = stage.send(zone.run, 1, 0, rows.clone()).await.unwrap();
    assert_eq!(more.outcome(), Outcome::Refused);
    let empty = tokio_stream::iter(Vec::new());
    refused(stage.runs().commit(empty).await, Code::InvalidArgument);
    let reply = stage.commit(zone.run, 1, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done);
}

const CROWD: usize = 3_000;

pub(crate) async fn many_rows_are_one_batch(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let loaded = stage.crowd(&zone, CROWD).await;
    assert_eq!(loaded.len(), CROWD);
    let rows = (0_i32..)
        .zip(&loaded)
        .map(|(n, record)| stay(at(record, n, n + 1)));
    let reply = stage.commit(zone.run, 1, rows.collect()).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let loaded = stage.load_region(&zone).await.unwrap().characters;
    for (n, record) in (0_i32..).zip(&loaded) {
        assert_eq!((record.x, record.z, record.placed), (n, n + 1, true));
    }
}

pub(crate) async fn a_batch_of_too_many_rows_is_refused(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let row = stay(wire::CharacterRecord {
        id: "c".to_owned(),
        region: Some(region(0, 0)),
        ..wire::CharacterRecord::default()
    });
    let reply = stage.commit(zone.run, 1, vec![row; 60_001]).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
}
