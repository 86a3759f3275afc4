//! The document of a character: kept as it came, with what else its batch writes.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use tonic::Code;

use crate::stage::value::{Cause, Scene, ledger, owns};
use crate::stage::{Kind, refused, region, stay};

/// The longest document that the store takes, in bytes.
const LONGEST: usize = 64 * 1024;

async fn commit(scene: &Scene, sequence: u64, state: &[u8]) -> wire::CommitReply {
    let row = stay(wire::CharacterRecord {
        state: state.to_vec().into(),
        placed: true,
        ..scene.bare.clone()
    });
    let rows = wire::CommitRows {
        characters: vec![row],
        ..wire::CommitRows::default()
    };
    scene.stage.batch(scene.zone.run, sequence, rows).await
}

async fn done(scene: &Scene, sequence: u64, state: &[u8]) {
    let reply = commit(scene, sequence, state).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
}

async fn kept(scene: &Scene) -> Vec<u8> {
    scene.load().await.state.to_vec()
}

pub(crate) async fn a_document_is_kept_byte_for_byte(kind: Kind) {
    let mut scene = Scene::new(kind).await;
    assert!(kept(&scene).await.is_empty(), "it was never placed");
    let every_byte: Vec<u8> = (0..=255).collect();
    done(&scene, 2, &every_byte).await;
    assert_eq!(kept(&scene).await, every_byte);
    scene.stage.restart().await;
    assert_eq!(kept(&scene).await, every_byte);
    // A row without a document leaves the one that there is.
    done(&scene, 3, &[]).await;
    assert_eq!(kept(&scene).await, every_byte);
    let longest = vec![7; LONGEST];
    done(&scene, 4, &longest).await;
    assert_eq!(kept(&scene).await, longest);
}

pub(crate) async fn a_document_and_the_items_that_came_with_it_are_one_batch(kind: Kind) {
    let scene = Scene::new(kind).await;
    let pack = scene.load().await.inventory;
    let batch = |delta: i64| {
        let mut row = owns(&scene.bare, 65, &pack);
        row.record.as_mut().unwrap().state = vec![2, 1].into();
        wire::CommitRows {
            characters: vec![row],
            ledger: vec![ledger(&scene.player.id, "coins", Cause::QUEST, delta)],
            ..wire::CommitRows::default()
        }
    };
    // A ledger that is not what changed refuses both.
    let reply = scene.stage.batch(scene.zone.run, 2, batch(41)).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert!(kept(&scene).await.is_empty());
    let reply = scene.stage.batch(scene.zone.run, 2, batch(40)).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert_eq!(kept(&scene).await, [2, 1]);
    scene.conserved().await;
    let takes = wire::CommitRows {
        characters: vec![owns(&scene.bare, 60, &pack)],
        ledger: vec![ledger(&scene.player.id, "coins", Cause::QUEST, -5)],
        ..wire::CommitRows::default()
    };
    let reply = scene.stage.batch(scene.zone.run, 3, takes).await;
    assert_eq!(reply.outcome(), Outcome::Refused, "a quest takes nothing");
}

pub(crate) async fn a_document_that_is_too_long_is_refused(kind: Kind) {
    let scene = Scene::new(kind).await;
    let reply = commit(&scene, 2, &vec![7; LONGEST + 1]).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert_eq!(reply.character_ids, std::slice::from_ref(&scene.player.id));
    assert!(kept(&scene).await.is_empty());
}

pub(crate) async fn a_character_that_its_run_cannot_read_is_quarantined(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone, ann) = (&scene.stage, &scene.zone, &scene.player);
    done(&scene, 2, &[7]).await;
    let quarantine = |run_id| {
        let ask = wire::QuarantineRequest {
            run_id,
            character_id: ann.id.clone(),
        };
        let mut runs = stage.runs();
        async move { runs.quarantine(ask).await.unwrap() }
    };
    // Somebody of another run's region cannot be taken out of the world by this one.
    quarantine(stage.zone(region(9, 0)).await.run).await;
    assert!(stage.owner_of(&ann.id).await.online);
    for _ in 0..2 {
        quarantine(zone.run).await;
    }
    assert!(!stage.owner_of(&ann.id).await.online);
    assert_eq!(stage.renew(zone.run).await, wire::RunState::Live);
    refused(stage.load(zone.run, &ann.id).await, Code::NotFound);
    let again = stage.try_open(ann, "second").await;
    refused(again, Code::FailedPrecondition);
    // An operator lets it in again, as it was.
    let release = ["quarantine", "release", &ann.id];
    assert_eq!(stage.command(&release).await.0, 0);
    stage.try_open(ann, "second").await.unwrap();
    assert_eq!(kept(&scene).await, [7]);
    scene.conserved().await;
}
