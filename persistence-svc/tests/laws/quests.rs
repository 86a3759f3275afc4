//! Quests: how far one is is kept, with what it gave, and what is not named stays.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;

use crate::stage::Kind;
use crate::stage::value::{Cause, Scene, ledger, owns};

fn state(quest: &str, stage: Option<&str>, counts: &[(&str, u32)]) -> wire::QuestState {
    let counts = counts.iter().map(|(stage, count)| wire::QuestCount {
        stage: (*stage).to_owned(),
        count: *count,
    });
    wire::QuestState {
        quest_id: quest.to_owned(),
        stage: stage.map(str::to_owned),
        counts: counts.collect(),
        ..wire::QuestState::default()
    }
}

async fn commit(scene: &Scene, sequence: u64, quests: &[wire::QuestState]) -> wire::CommitReply {
    let row = wire::CharacterRow {
        record: Some(wire::CharacterRecord {
            quests: quests.to_vec(),
            placed: true,
            ..scene.bare.clone()
        }),
        ..wire::CharacterRow::default()
    };
    let rows = wire::CommitRows {
        characters: vec![row],
        ..wire::CommitRows::default()
    };
    scene.stage.batch(scene.zone.run, sequence, rows).await
}

async fn done(scene: &Scene, sequence: u64, quests: &[wire::QuestState]) {
    let reply = commit(scene, sequence, quests).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
}

async fn kept(scene: &Scene) -> Vec<wire::QuestState> {
    let mut quests = scene.load().await.quests;
    quests.sort_by(|a, b| a.quest_id.cmp(&b.quest_id));
    quests
}

pub(crate) async fn how_far_one_is_with_quests_is_kept(kind: Kind) {
    let mut scene = Scene::new(kind).await;
    assert!(kept(&scene).await.is_empty());
    let errand = state("errand", Some("logs"), &[("logs", 2), ("fire", 1)]);
    let mut errand = wire::QuestState {
        given: true,
        ..errand
    };
    errand.counts.sort_by(|a, b| a.stage.cmp(&b.stage));
    let other = state("other", Some("s"), &[]);
    done(&scene, 2, &[errand.clone(), other.clone()]).await;
    assert_eq!(kept(&scene).await, [errand.clone(), other.clone()]);
    // A row names only those of which something changed.
    let ready = wire::QuestState {
        ready: true,
        ..other
    };
    done(&scene, 3, std::slice::from_ref(&ready)).await;
    done(&scene, 4, &[]).await;
    assert_eq!(kept(&scene).await, [errand.clone(), ready.clone()]);
    let over = wire::QuestState {
        completed: 1,
        ..state("errand", None, &[])
    };
    done(&scene, 5, std::slice::from_ref(&over)).await;
    scene.stage.restart().await;
    assert_eq!(kept(&scene).await, [over, ready]);
    let status = r#"SELECT status FROM quest_progress ORDER BY "questId""#;
    assert_eq!(
        scene.stage.ask(status).await,
        ["completed", "ready_to_complete"]
    );
}

pub(crate) async fn what_a_quest_gives_is_in_the_batch_that_ends_it(kind: Kind) {
    let scene = Scene::new(kind).await;
    let over = wire::QuestState {
        completed: 1,
        ..state("errand", None, &[])
    };
    let pack = scene.load().await.inventory;
    let batch = |delta: i64| {
        let mut row = owns(&scene.bare, 65, &pack);
        row.record.as_mut().unwrap().quests = vec![over.clone()];
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
    assert_eq!(kept(&scene).await, std::slice::from_ref(&over));
    scene.conserved().await;
    let takes = wire::CommitRows {
        characters: vec![owns(&scene.bare, 60, &pack)],
        ledger: vec![ledger(&scene.player.id, "coins", Cause::QUEST, -5)],
        ..wire::CommitRows::default()
    };
    let reply = scene.stage.batch(scene.zone.run, 3, takes).await;
    assert_eq!(reply.outcome(), Outcome::Refused, "a quest takes nothing");
}

pub(crate) async fn malformed_quests_are_refused(kind: Kind) {
    let scene = Scene::new(kind).await;
    let long = "q".repeat(65);
    for wrong in [
        vec![state("", None, &[])],
        vec![state(&long, None, &[])],
        vec![state("a", None, &[]), state("a", None, &[])],
        vec![state("a", None, &[("", 1)])],
        vec![state("a", None, &[("s", 1 << 31)])],
    ] {
        let reply = commit(&scene, 2, &wrong).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{wrong:?}");
    }
}
