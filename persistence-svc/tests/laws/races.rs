//! Laws of locks. Another session of PostgreSQL holds the lock: the batch waits, and then sees the
//! state after that session, not the one before.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::queries::v1::{Page, RankingRequest};
use tokio::task::JoinSet;

use crate::stage::value::give;
use crate::stage::{Kind, Player, Stage, Zone, at, only, region, stay, transfer, until, walked};

struct Scene {
    stage: Stage,
    here: Zone,
    there: Zone,
    player: Player,
    record: wire::CharacterRecord,
}

async fn scene(kind: Kind) -> Scene {
    let stage = Stage::new(kind).await;
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
    let rows = wire::CommitRows {
        characters: vec![row],
        ..wire::CommitRows::default()
    };
    batch_while_changing(scene, change, rows).await
}

async fn batch_while_changing(
    scene: &Scene,
    change: &str,
    rows: wire::CommitRows,
) -> wire::CommitReply {
    let other = scene.stage.postgres().await;
    other.batch_execute("BEGIN").await.unwrap();
    other.batch_execute(change).await.unwrap();
    let commit = scene.stage.batch(scene.here.run, 1, rows);
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

pub(crate) async fn a_batch_waits_for_a_fence_under_way(kind: Kind) {
    let scene = scene(kind).await;
    let fence = format!(
        "UPDATE runs SET state = 'fenced' WHERE id = {}",
        scene.here.run
    );
    let row = stay(at(&scene.record, 5, 5));
    let reply = while_changing(&scene, &fence, row).await;
    assert_eq!(reply.outcome(), Outcome::Fenced);
}

pub(crate) async fn a_transfer_waits_for_a_takeover_under_way(kind: Kind) {
    let scene = scene(kind).await;
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

pub(crate) async fn a_row_waits_for_a_handover_under_way(kind: Kind) {
    let scene = scene(kind).await;
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

pub(crate) async fn a_position_waits_for_a_fence_and_a_handover_under_way(kind: Kind) {
    let (of_handover, of_fence) = (scene(kind).await, scene(kind).await);
    let change = format!(
        r#"UPDATE characters SET "regionX" = 9, "ownershipSequence" = 2 WHERE id = '{}'"#,
        of_handover.player.id
    );
    let rows = only(walked(&of_handover.record, 5, 5));
    let reply = batch_while_changing(&of_handover, &change, rows).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let there = &of_handover.there;
    let record = of_handover
        .stage
        .load(there.run, &of_handover.player.id)
        .await;
    assert_eq!(record.unwrap().x, 0);
    let fence = format!(
        "UPDATE runs SET state = 'fenced' WHERE id = {}",
        of_fence.here.run
    );
    let rows = only(walked(&of_fence.record, 5, 5));
    let reply = batch_while_changing(&of_fence, &fence, rows).await;
    assert_eq!(reply.outcome(), Outcome::Fenced);
}

fn given(scene: &Scene) -> wire::CommitRows {
    wire::CommitRows {
        gives: vec![give(&scene.here, scene.there.run)],
        ..wire::CommitRows::default()
    }
}

pub(crate) async fn a_give_waits_for_the_end_of_its_target(kind: Kind) {
    let scene = scene(kind).await;
    let fence = format!(
        "UPDATE runs SET state = 'fenced' WHERE id = {}",
        scene.there.run
    );
    let reply = batch_while_changing(&scene, &fence, given(&scene)).await;
    assert_eq!(reply.outcome(), Outcome::TransferStale);
    assert_eq!(reply.regions, [scene.here.place]);
    assert_eq!(
        scene.stage.owner(scene.here.place).await.run_id,
        scene.here.run
    );
}

pub(crate) async fn a_give_waits_for_a_takeover_under_way(kind: Kind) {
    let scene = scene(kind).await;
    let change = format!(
        "UPDATE regions SET run_id = {}, epoch = epoch + 1 WHERE region_x = 0",
        scene.there.run
    );
    let reply = batch_while_changing(&scene, &change, given(&scene)).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
}

/// At the same moment one run gives a region away and another hands a player over into it. The
/// player is where the last of the two put it. The store gives no sequence twice.
pub(crate) async fn a_transfer_meets_a_give_of_its_target(kind: Kind) {
    let scene = scene(kind).await;
    let stage = &scene.stage;
    let third = stage.zone(region(20, 0)).await;
    let row = transfer(at(&scene.record, 600, 5), &scene.there);
    let gives = wire::CommitRows {
        gives: vec![give(&scene.there, third.run)],
        ..wire::CommitRows::default()
    };
    let (crossed, given) = tokio::join!(
        stage.commit(scene.here.run, 1, vec![row]),
        stage.batch(scene.there.run, 1, gives)
    );
    assert_eq!(given.outcome(), Outcome::Done, "{}", given.detail);
    let owner = stage.owner_of(&scene.player.id).await;
    let expected = match crossed.outcome() {
        Outcome::Done => (third.run, 3),
        Outcome::TransferStale => (scene.here.run, 1),
        other => panic!("{other:?}: {}", crossed.detail),
    };
    assert_eq!((owner.run_id, owner.ownership_sequence), expected);
}

/// Two runs give each other a region at the same moment: neither waits for the other for ever.
pub(crate) async fn two_runs_give_each_other_a_region(kind: Kind) {
    let scene = scene(kind).await;
    let (one, two) = (&scene.here, &scene.there);
    let back = wire::CommitRows {
        gives: vec![give(two, one.run)],
        ..wire::CommitRows::default()
    };
    let (there, back) = tokio::join!(
        scene.stage.batch(one.run, 1, given(&scene)),
        scene.stage.batch(two.run, 1, back)
    );
    assert_eq!(there.outcome(), Outcome::Done, "{}", there.detail);
    assert_eq!(back.outcome(), Outcome::Done, "{}", back.detail);
}

/// Anybody may ask for hiscores. Batches go on, however many readers wait.
pub(crate) async fn readers_who_wait_do_not_keep_play_waiting(kind: Kind) {
    let scene = scene(kind).await;
    let other = scene.stage.postgres().await;
    other.batch_execute("BEGIN").await.unwrap();
    let lock = "LOCK TABLE hiscore_lists IN ACCESS EXCLUSIVE MODE";
    other.batch_execute(lock).await.unwrap();
    let mut readers = JoinSet::new();
    for _ in 0..40 {
        let mut queries = scene.stage.queries();
        let ask = RankingRequest {
            skill: String::new(),
            page: Some(Page {
                offset: 0,
                limit: 25,
            }),
        };
        readers.spawn(async move { queries.ranking(ask).await });
    }
    until("readers wait for the lock", async || {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        (scene.stage.ask(waiting).await != ["0"]).then_some(())
    })
    .await;
    // A few, which take less time than a reader waits.
    for sequence in 1..=3 {
        let row = stay(at(&scene.record, 3, 4));
        let reply = scene
            .stage
            .commit(scene.here.run, sequence, vec![row])
            .await;
        assert_eq!(reply.outcome(), Outcome::Done);
    }
    assert_eq!(
        readers.try_join_next().map(|_| ()),
        None,
        "all readers still wait"
    );
    other.batch_execute("COMMIT").await.unwrap();
}
