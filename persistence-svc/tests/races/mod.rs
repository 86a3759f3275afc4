//! What a lock orders, shown with another session of PostgreSQL that holds it: the batch waits,
//! and then sees what happened, not what was before.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;

use crate::stage::{Kind, Player, Stage, Zone, at, region, stay, transfer, until};

struct Scene {
    stage: Stage,
    here: Zone,
    there: Zone,
    player: Player,
    record: wire::CharacterRecord,
}

async fn scene() -> Scene {
    let stage = Stage::new(Kind::Postgres).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let player = stage.player().await;
    let record = stage.load(here.run, &player.id).await.unwrap();
    Scene {
        stage,
        here,
        there,
        player,
        record,
    }
}

/// Commits `row` while another session has done `change` and not yet ended its transaction.
async fn while_changing(scene: &Scene, change: &str, row: wire::CharacterRow) -> wire::CommitReply {
    let other = scene.stage.postgres().await;
    other.batch_execute("BEGIN").await.unwrap();
    other.batch_execute(change).await.unwrap();
    let commit = scene.stage.commit(scene.here.run, 1, vec![row]);
    let end = async {
        until("the batch waits for the lock", async || {
            let waiting = "SELECT count(*) FROM pg_stat_activity
                           WHERE datname = current_database() AND wait_event_type = 'Lock'";
            (scene.stage.ask(waiting).await != ["0"]).then_some(())
        })
        .await;
        other.batch_execute("COMMIT").await.unwrap();
    };
    tokio::join!(commit, end).0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_waits_for_a_fence_under_way() {
    let scene = scene().await;
    let fence = format!(
        "UPDATE runs SET state = 'fenced' WHERE id = {}",
        scene.here.run
    );
    let row = stay(at(&scene.record, 5, 5));
    let reply = while_changing(&scene, &fence, row).await;
    assert_eq!(reply.outcome(), Outcome::Fenced);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_waits_for_a_takeover_under_way() {
    let scene = scene().await;
    let change = format!(
        "UPDATE regions SET run_id = {}, epoch = epoch + 1 WHERE region_x = 9",
        scene.here.run
    );
    let row = transfer(at(&scene.record, 600, 5), &scene.there);
    let reply = while_changing(&scene, &change, row).await;
    assert_eq!(reply.outcome(), Outcome::TransferStale);
    let owner = scene.stage.owner_of(&scene.player.id).await;
    assert_eq!(
        (owner.run_id, owner.ownership_sequence),
        (scene.here.run, 1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_waits_for_a_handover_under_way() {
    let scene = scene().await;
    let change = format!(
        r#"UPDATE characters SET "regionX" = 9, "ownershipSequence" = 2 WHERE id = '{}'"#,
        scene.player.id
    );
    let row = stay(at(&scene.record, 5, 5));
    let reply = while_changing(&scene, &change, row).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let record = scene.stage.load(scene.there.run, &scene.player.id).await;
    assert_eq!(record.unwrap().x, 0);
}
