//! Numbers that only a process of a newer release knows.

use proto::rpc::identity::v1 as identity;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::RunState;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::persistence::v1::ended_request::Reason;
use tonic::Code;

use crate::stage::value::{Cause, Scene, ledger, owns};
use crate::stage::{Kind, until};

const UNKNOWN: i32 = 1_000_000;

pub(crate) async fn what_only_a_newer_process_says_is_not_misread(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone) = (&scene.stage, &scene.zone);
    let before = scene.load().await;

    // A balance class: the batch is neither applied nor refused, so that the run sends it again.
    let mut rows = wire::CommitRows {
        characters: vec![owns(&before, 26, &before.inventory)],
        ledger: vec![ledger(&scene.player.id, "coins", Cause::STARTER, 1)],
        ..wire::CommitRows::default()
    };
    let known = rows.clone();
    rows.ledger[0].balance = UNKNOWN;
    let status = stage.try_batch(zone.run, 2, rows).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    assert!(
        status.message().contains("balance class 1000000"),
        "{status}"
    );
    assert_eq!(scene.load().await, before);
    // A part of a batch.
    let strange = tokio_stream::iter([wire::CommitPart { part: None }]);
    let status = stage.runs().commit(strange).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    // The sequence is still free.
    let reply = stage.batch(zone.run, 2, known).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    assert_eq!(scene.load().await.coins, 26);

    // An operator's action.
    let ask = identity::ModerateRequest {
        action: UNKNOWN,
        by: "account:test".to_owned(),
        account_id: scene.player.account.clone(),
        ..identity::ModerateRequest::default()
    };
    let status = stage.identity().moderate(ask).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    assert!(status.message().contains("action 1000000"), "{status}");
    assert_eq!(
        stage.ask("SELECT id FROM sanctions").await,
        Vec::<String>::new()
    );

    // A reason for the end of a run: it ends, its characters stay, and its region counts a fault.
    let ask = |reason| wire::EndedRequest {
        run_id: zone.run,
        reason,
        regions: vec![zone.place],
        character_ids: vec![scene.player.id.clone()],
    };
    let missing = stage.runs().ended(ask(Reason::Unspecified.into())).await;
    assert_eq!(missing.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(stage.renew(zone.run).await, RunState::Live);
    stage.runs().ended(ask(UNKNOWN)).await.unwrap();
    assert_eq!(stage.renew(zone.run).await, RunState::Fenced);
    until("the region counts a fault", async || {
        let (_, said) = stage.command(&["regions"]).await;
        said.contains("1 faults").then_some(())
    })
    .await;
    let (_, said) = stage.command(&["quarantine"]).await;
    assert!(!said.contains(&scene.player.id), "{said}");
}
