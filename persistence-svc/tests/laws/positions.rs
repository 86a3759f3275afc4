//! Rows of positions: once, fenced, and nothing else of the character.

use proto::rpc::common::v1::Region;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;

use crate::stage::value::give;
use crate::stage::{Kind, Player, Stage, Zone, at, logout, only, region, stay, transfer, walked};

fn trained(level: u32, xp_tenths: u64) -> Option<wire::Trained> {
    Some(wire::Trained { level, xp_tenths })
}

/// A player who has stood in the world before.
struct Scene {
    stage: Stage,
    zone: Zone,
    player: Player,
    record: wire::CharacterRecord,
}

async fn scene(kind: Kind) -> Scene {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let player = stage.player().await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let record = wire::CharacterRecord {
        state: vec![2, 0x80].into(),
        placed: true,
        combat_level: 77,
        health: 60,
        ..at(&record, 1, 2)
    };
    let reply = stage.commit(zone.run, 1, vec![stay(record.clone())]).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    Scene {
        stage,
        zone,
        player,
        record,
    }
}

impl Scene {
    async fn commit(&self, sequence: u64, row: wire::PositionRow) -> wire::CommitReply {
        self.stage.batch(self.zone.run, sequence, only(row)).await
    }

    async fn done(&self, sequence: u64, row: wire::PositionRow) {
        let reply = self.commit(sequence, row).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
        assert!(reply.knows_positions);
    }

    async fn load(&self) -> wire::CharacterRecord {
        let loaded = self.stage.load(self.zone.run, &self.player.id).await;
        loaded.unwrap()
    }

    async fn place(&self) -> (i32, i32) {
        let record = self.load().await;
        (record.x, record.z)
    }
}

pub(crate) async fn the_row_of_a_position_writes_what_walking_changes_and_nothing_else(kind: Kind) {
    let scene = scene(kind).await;
    let before = scene.load().await;
    scene
        .done(2, walked(&scene.record, -999_999, 999_999))
        .await;
    let mut after = wire::CharacterRecord {
        x: -999_999,
        y: 3.5,
        z: 999_999,
        health: 41,
        ..before
    };
    assert_eq!(scene.load().await, after);
    let trained = wire::PositionRow {
        agility: Some(wire::Trained {
            level: 7,
            xp_tenths: 5_170,
        }),
        ..walked(&scene.record, -999_999, 999_999)
    };
    scene.done(3, trained).await;
    let agility = after
        .skills
        .iter_mut()
        .find(|skill| skill.name == "agility");
    let agility = agility.unwrap();
    (agility.level, agility.xp_tenths) = (7, 5_170);
    assert_eq!(scene.load().await, after);
    // Somebody who never stood in the world does not come to stand there by it.
    let fresh = scene.stage.player().await;
    let loaded = scene.stage.load(scene.zone.run, &fresh.id).await.unwrap();
    scene.done(4, walked(&loaded, 9, 9)).await;
    let loaded = scene.stage.load(scene.zone.run, &fresh.id).await.unwrap();
    assert!(!loaded.placed && loaded.state.is_empty());
}

pub(crate) async fn a_position_is_written_once_and_never_over_a_later_one(kind: Kind) {
    let scene = scene(kind).await;
    for _ in 0..2 {
        scene.done(2, walked(&scene.record, 5, 5)).await;
    }
    scene.done(3, walked(&scene.record, 9, 9)).await;
    // The batch before comes again, as from a network that held it.
    scene.done(2, walked(&scene.record, 5, 5)).await;
    assert_eq!(scene.place().await, (9, 9));
    // Of the same batch at once, each with another place, just one counts.
    let tries = (20..26).map(|x| scene.commit(4, walked(&scene.record, x, x)));
    for reply in futures::future::join_all(tries).await {
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    }
    let (x, z) = scene.place().await;
    assert!((20..26).contains(&x) && x == z, "{x},{z}");
    scene.done(4, walked(&scene.record, 99, 99)).await;
    assert_eq!(scene.place().await, (x, z));
}

pub(crate) async fn a_position_that_does_not_fit_refuses_the_whole_batch(kind: Kind) {
    let scene = scene(kind).await;
    let other = scene.stage.player().await;
    let good = scene.stage.load(scene.zone.run, &other.id).await.unwrap();
    let wrong: [fn(&mut wire::PositionRow); 11] = [
        |row| row.agility = trained(100, 1),
        |row| row.agility = trained(9, 2_000_000_001),
        |row| row.ownership_sequence += 1,
        |row| row.ownership_sequence -= 1,
        |row| row.session_epoch += 1,
        |row| row.region = Some(region(0, 1)),
        |row| row.region = None,
        |row| row.y = f32::NAN,
        |row| row.x = 1_000_001,
        |row| row.health = u32::MAX,
        |row| row.to_region = Some(region(1_000_000, 0)),
    ];
    for (number, spoil) in wrong.into_iter().enumerate() {
        let mut row = walked(&scene.record, 3, 3);
        spoil(&mut row);
        let rows = wire::CommitRows {
            characters: vec![stay(at(&good, 2, 2))],
            positions: vec![row],
            ..wire::CommitRows::default()
        };
        let reply = scene.stage.batch(scene.zone.run, 2, rows).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{number}");
        let ids = std::slice::from_ref(&scene.player.id);
        assert_eq!(reply.character_ids, ids, "{number}");
        assert_eq!(scene.place().await, (1, 2), "{number}");
        let stands = scene.stage.load(scene.zone.run, &other.id).await.unwrap();
        assert_eq!((stands.x, stands.placed), (0, false), "{number}");
    }
    let row = || walked(&scene.record, 3, 3);
    for rows in [
        wire::CommitRows {
            positions: vec![row(), row()],
            ..wire::CommitRows::default()
        },
        wire::CommitRows {
            characters: vec![stay(at(&scene.record, 4, 4))],
            ..only(row())
        },
    ] {
        let reply = scene.stage.batch(scene.zone.run, 2, rows).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "two rows");
    }
    let unknown = wire::PositionRow {
        id: "nobody".to_owned(),
        ..row()
    };
    let reply = scene.commit(2, unknown).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    scene.done(2, row()).await;
}

pub(crate) async fn a_position_of_a_former_owner_is_refused(kind: Kind) {
    let scene = scene(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    let there = stage.zone(region(9, 0)).await;
    // Somebody else's region.
    let reply = stage
        .batch(there.run, 1, only(walked(&scene.record, 4, 4)))
        .await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    // Handed over: neither the old sequence nor the new one is its any more.
    let rows = vec![transfer(at(&scene.record, 600, 5), &there)];
    let reply = stage.commit(here.run, 2, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let forged = wire::PositionRow {
        ownership_sequence: 2,
        region: Some(there.place),
        ..walked(&scene.record, 5, 5)
    };
    for row in [walked(&scene.record, 5, 5), forged] {
        let reply = scene.commit(3, row).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
    }
    let taken = stage.load(there.run, &scene.player.id).await.unwrap();
    assert_eq!((taken.x, taken.z), (600, 5));
    // Given away with its region, at the epoch after.
    let rows = wire::CommitRows {
        gives: vec![give(&there, here.run)],
        ..wire::CommitRows::default()
    };
    let reply = stage.batch(there.run, 1, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let reply = stage.batch(there.run, 2, only(walked(&taken, 6, 6))).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let given = stage.load(here.run, &scene.player.id).await.unwrap();
    assert_eq!((given.x, given.ownership_sequence), (600, 3));
    scene.done(3, walked(&given, 7, 7)).await;
    // Out of the world, and fenced.
    let left = vec![logout(at(&given, 8, 8), "left")];
    assert_eq!(
        stage.commit(here.run, 4, left).await.outcome(),
        Outcome::Done
    );
    let reply = scene.commit(5, walked(&given, 9, 9)).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    stage.release(here.run).await;
    let reply = scene.commit(5, walked(&given, 9, 9)).await;
    assert_eq!(reply.outcome(), Outcome::Fenced);
    let x = stage.ask(r#"SELECT "positionX" FROM characters"#).await;
    assert_eq!(x, ["8"]);
}

/// Makes the run own one more region.
async fn second_region(scene: &Scene, place: Region) {
    let (x, z) = (place.x, place.z);
    let insert = format!("INSERT INTO regions (region_x, region_z) VALUES ({x}, {z})");
    scene.stage.sql(&insert, &insert);
    let bump = "UPDATE directory SET version = version + 1";
    scene.stage.sql(bump, bump);
    let owned = async || (scene.stage.owner(place).await.run_id == scene.zone.run).then_some(());
    crate::stage::until("the second region is given out", owned).await;
}

pub(crate) async fn a_position_follows_into_another_region_of_its_run_only(kind: Kind) {
    let scene = scene(kind).await;
    second_region(&scene, region(1, 0)).await;
    let crosses = |to| wire::PositionRow {
        to_region: Some(to),
        ..walked(&scene.record, 70, 2)
    };
    scene.done(2, crosses(region(1, 0))).await;
    let owner = scene.stage.owner_of(&scene.player.id).await;
    assert_eq!(
        (owner.region, owner.ownership_sequence),
        (Some(region(1, 0)), 1)
    );
    // A region of somebody else: nothing is written, and the run hears whose row it is.
    let there = scene.stage.zone(region(9, 0)).await;
    let stands = wire::CharacterRecord {
        region: Some(region(1, 0)),
        ..scene.record.clone()
    };
    let row = wire::PositionRow {
        to_region: Some(there.place),
        ..walked(&stands, 600, 2)
    };
    let reply = scene.commit(3, row.clone()).await;
    assert_eq!(reply.outcome(), Outcome::TransferStale);
    let ids = std::slice::from_ref(&scene.player.id);
    assert_eq!(reply.character_ids, ids);
    assert_eq!(scene.place().await, (70, 2));
    let stays = wire::PositionRow {
        to_region: None,
        ..row
    };
    scene.done(3, stays).await;
    assert_eq!(scene.place().await, (600, 2));
    let owner = scene.stage.owner_of(&scene.player.id).await;
    assert_eq!(owner.region, Some(region(1, 0)));
}
