//! Whole regions that change their owner, and runs that end.

use proto::rpc::common::v1::Region;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::RunState;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::persistence::v1::ended_request::Reason;
use proto::rpc::queries::v1 as queries;
use tonic::Code;

use crate::stage::value::{Scene, give, ground};
use crate::stage::{Kind, Stage, Zone, at, refused, region, stay, transfer, until};

fn gives(of: &[wire::RegionGive]) -> wire::CommitRows {
    wire::CommitRows {
        gives: of.to_vec(),
        ..wire::CommitRows::default()
    }
}

pub(crate) async fn a_region_is_given_with_all_that_belongs_to_it(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    let there = stage.zone(region(9, 0)).await;
    // Other changes of the same batch go along.
    let mut rows = scene.drop_two();
    rows.gives.push(give(here, there.run));
    for _ in 0..2 {
        let reply = stage.batch(here.run, 2, rows.clone()).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    }
    let heir = Zone {
        run: there.run,
        epoch: here.epoch + 1,
        ..*here
    };
    let owner = until("the directory says so", async || {
        let owner = stage.owner(here.place).await;
        (owner.run_id == heir.run).then_some(owner)
    })
    .await;
    assert_eq!(owner.epoch, heir.epoch);
    let loaded = stage.load_region(&heir).await.unwrap();
    assert_eq!(loaded.ground, [ground("item:1-1", here, "arrow", 2)]);
    assert_eq!(loaded.played_tick, 2);
    let mut expected = rows.characters[0].record.clone().unwrap();
    expected.ownership_sequence = 2;
    assert_eq!(loaded.characters, [expected.clone()]);
    refused(stage.load_region(here).await, Code::PermissionDenied);
    let reply = stage
        .commit(here.run, 3, vec![stay(expected.clone())])
        .await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    // The run that gave the region lives on; the run that got it plays.
    let reply = stage.commit(here.run, 3, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    let reply = stage
        .commit(heir.run, 1, vec![stay(at(&expected, 4, 4))])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    scene.conserved().await;
}

pub(crate) async fn a_region_is_given_only_by_its_owner_and_to_who_is_live(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    let there = stage.zone(region(9, 0)).await;
    let mut old = give(here, there.run);
    old.epoch += 1;
    for wrong in [
        vec![old],
        vec![give(&there, here.run)],
        vec![give(here, here.run)],
        vec![give(here, there.run), give(here, there.run)],
    ] {
        let reply = stage.batch(here.run, 2, gives(&wrong)).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{wrong:?}");
    }
    let drain = wire::DrainRequest { run_id: there.run };
    stage.runs().drain(drain).await.unwrap();
    // Nobody takes only a paused region.
    for to in [there.run, 4_711, 0] {
        let mut rows = scene.drop_two();
        rows.gives.push(give(here, to));
        let reply = stage.batch(here.run, 2, rows).await;
        assert_eq!(reply.outcome(), Outcome::TransferStale, "{}", reply.detail);
        assert_eq!(reply.regions, [here.place]);
        assert!(reply.character_ids.is_empty());
    }
    let owner = stage.owner(here.place).await;
    assert_eq!((owner.run_id, owner.epoch), (here.run, here.epoch));
    assert_eq!(scene.load().await.ownership_sequence, 1);
    // The same without the give, under the same sequence.
    let reply = stage.batch(here.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    scene.conserved().await;
}

async fn pauses(stage: &Stage, zone: &Zone) -> bool {
    let region = Some(zone.place);
    let ask = queries::PauseRegionRequest { region };
    let reply = stage.changes().pause_region(ask).await.unwrap();
    reply.into_inner().changed
}

async fn resumes(stage: &Stage, zone: &Zone) -> bool {
    let region = Some(zone.place);
    let ask = queries::ResumeRegionRequest { region };
    let reply = stage.changes().resume_region(ask).await.unwrap();
    reply.into_inner().changed
}

/// Waits until the directory has this run (0: nobody), epoch and pause for a region.
async fn says(stage: &Stage, place: Region, run: u64, epoch: u64, paused: bool) {
    until("the directory says so", async || {
        let owner = stage.owner(place).await;
        let seen = (owner.run_id, owner.epoch, owner.paused);
        (seen == (run, epoch, paused)).then_some(())
    })
    .await;
}

pub(crate) async fn a_paused_region_goes_to_nobody_with_all_that_belongs_to_it(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    assert!(pauses(stage, here).await);
    assert!(!pauses(stage, here).await, "a repeated pause");
    // Its owner keeps it until that owner gives it away.
    says(stage, here.place, here.run, here.epoch, true).await;
    let mut old = give(here, 0);
    old.epoch += 1;
    let reply = stage.batch(here.run, 2, gives(&[old])).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let mut rows = scene.drop_two();
    rows.gives.push(give(here, 0));
    for _ in 0..2 {
        let reply = stage.batch(here.run, 2, rows.clone()).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    }
    says(stage, here.place, 0, here.epoch + 1, true).await;
    let nobodys = stage.owner_of(&scene.player.id).await;
    assert_eq!((nobodys.run_id, nobodys.ownership_sequence), (0, 2));
    refused(stage.load_region(here).await, Code::PermissionDenied);
    // The run lives on, without the region.
    let reply = stage.commit(here.run, 3, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    assert!(resumes(stage, here).await);
    let heir = Zone {
        epoch: here.epoch + 2,
        ..*here
    };
    says(stage, heir.place, heir.run, heir.epoch, false).await;
    let loaded = stage.load_region(&heir).await.unwrap();
    assert_eq!(loaded.ground, [ground("item:1-1", here, "arrow", 2)]);
    let mut expected = rows.characters[0].record.clone().unwrap();
    expected.ownership_sequence = 3;
    assert_eq!(loaded.characters, [expected]);
    scene.conserved().await;
}

pub(crate) async fn a_region_that_was_resumed_in_time_stays(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    assert!(pauses(stage, here).await && resumes(stage, here).await);
    let mut rows = scene.drop_two();
    rows.gives.push(give(here, 0));
    let reply = stage.batch(here.run, 2, rows).await;
    assert_eq!(reply.outcome(), Outcome::TransferStale, "{}", reply.detail);
    assert_eq!(reply.regions, [here.place]);
    let reply = stage.batch(here.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let owner = stage.owner(here.place).await;
    assert_eq!((owner.run_id, owner.epoch), (here.run, here.epoch));
    scene.conserved().await;
}

pub(crate) async fn no_region_is_paused_that_does_not_exist(kind: Kind) {
    let stage = Stage::new(kind).await;
    let region = Some(region(70, 70));
    let ask = queries::PauseRegionRequest { region };
    refused(stage.changes().pause_region(ask).await, Code::NotFound);
}

pub(crate) async fn a_transfer_to_a_region_that_was_given_away_is_stale(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    let (there, third) = (
        stage.zone(region(9, 0)).await,
        stage.zone(region(20, 0)).await,
    );
    let record = scene.load().await;
    let reply = stage
        .batch(there.run, 1, gives(&[give(&there, third.run)]))
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let row = transfer(at(&record, 600, 5), &there);
    let reply = stage.commit(here.run, 2, vec![row]).await;
    assert_eq!(reply.outcome(), Outcome::TransferStale);
    assert_eq!(reply.character_ids, std::slice::from_ref(&scene.player.id));
    // With the target's new epoch the transfer goes through, and the character goes on with the
    // region.
    let now = Zone {
        run: third.run,
        epoch: there.epoch + 1,
        ..there
    };
    let reply = stage
        .commit(here.run, 2, vec![transfer(at(&record, 600, 5), &now)])
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let reply = stage
        .batch(third.run, 1, gives(&[give(&now, here.run)]))
        .await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let owner = stage.owner_of(&scene.player.id).await;
    assert_eq!((owner.run_id, owner.ownership_sequence), (here.run, 3));
    scene.conserved().await;
}

pub(crate) async fn whoever_loses_a_region_its_players_get_the_next_sequence(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, here) = (&scene.stage, &scene.zone);
    stage.release(here.run).await;
    let heir = stage.heir(here).await;
    let owner = stage.owner_of(&scene.player.id).await;
    // To nobody, and from nobody.
    assert_eq!((owner.run_id, owner.ownership_sequence), (heir.run, 3));
    assert_eq!(stage.load_region(&heir).await.unwrap().played_tick, 1);
    let reply = stage.batch(here.run, 2, scene.drop_two()).await;
    assert_eq!(reply.outcome(), Outcome::Fenced);
    scene.conserved().await;
}

pub(crate) async fn a_draining_run_is_given_nothing(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let drain = wire::DrainRequest { run_id: zone.run };
    for _ in 0..2 {
        stage.runs().drain(drain).await.unwrap();
    }
    assert_eq!(stage.renew(zone.run).await, RunState::Draining);
    let reply = stage.commit(zone.run, 1, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    until("the directory says so", async || {
        let run = stage.directory().await.runs.pop()?;
        (run.state() == RunState::Draining).then_some(())
    })
    .await;
    assert_eq!(stage.owner(zone.place).await.run_id, zone.run);
    stage.release(zone.run).await;
    refused(stage.runs().drain(drain).await, Code::PermissionDenied);
}

pub(crate) async fn a_panic_is_counted_where_it_happened(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let ended = wire::EndedRequest {
        run_id: zone.run,
        reason: Reason::Panicked.into(),
        regions: vec![zone.place, region(77, 7)],
        ..wire::EndedRequest::default()
    };
    for _ in 0..2 {
        stage.runs().ended(ended.clone()).await.unwrap();
    }
    let faults = stage.ask("SELECT region_x FROM region_faults").await;
    assert_eq!(faults, ["0"]);
    assert_eq!(stage.renew(zone.run).await, RunState::Fenced);
    assert_eq!(stage.owner_at_once(zone.place).await, "0");
    let unsaid = wire::EndedRequest {
        run_id: zone.run,
        ..wire::EndedRequest::default()
    };
    refused(stage.runs().ended(unsaid).await, Code::InvalidArgument);
}

pub(crate) async fn the_load_of_regions_is_noted(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (here, there) = (
        stage.zone(region(0, 0)).await,
        stage.zone(region(9, 0)).await,
    );
    let load = |zone: &Zone, cost_us| wire::RegionLoad {
        region: Some(zone.place),
        cost_us,
        players: 2,
    };
    let noted = "SELECT cost_us || ' ' || players FROM regions ORDER BY region_x";
    for (loads, expected) in [
        (vec![load(&here, 700)], ["700 2", "0 0"]),
        // Not its own.
        (vec![load(&here, 800), load(&there, 900)], ["800 2", "0 0"]),
        (vec![], ["0 0", "0 0"]),
    ] {
        let ask = wire::RenewRequest {
            run_id: here.run,
            regions: loads,
            ..wire::RenewRequest::default()
        };
        stage.runs().renew(ask).await.unwrap();
        assert_eq!(stage.ask(noted).await, expected);
    }
    let twice = wire::RenewRequest {
        run_id: here.run,
        regions: vec![load(&here, 1), load(&here, 2)],
        ..wire::RenewRequest::default()
    };
    refused(stage.runs().renew(twice).await, Code::InvalidArgument);
}

pub(crate) async fn a_regions_state_is_saved_by_its_owner_alone_and_loaded_by_the_next(kind: Kind) {
    let stage = Stage::new(kind).await;
    let here = stage.zone(region(0, 0)).await;
    let other = stage.zone(region(9, 0)).await;
    let state = |zone: &Zone, epoch: u64, state: &'static [u8]| wire::RegionState {
        region: Some(zone.place),
        epoch,
        state: state.into(),
    };
    let rows = |states: &[wire::RegionState]| wire::CommitRows {
        states: states.to_vec(),
        ..wire::CommitRows::default()
    };
    let first = state(&here, here.epoch, b"\x00\xff first");
    for wrong in [
        vec![state(&here, here.epoch - 1, b"older")],
        vec![state(&here, here.epoch + 1, b"newer")],
        vec![state(&other, other.epoch, b"another's")],
        vec![state(&here, here.epoch, b"")],
        vec![first.clone(), first.clone()],
    ] {
        let reply = stage.batch(here.run, 1, rows(&wrong)).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{wrong:?}");
    }
    assert_eq!(stage.load_region(&here).await.unwrap().state, "");
    for (sequence, bytes) in [(1, &first.state), (2, &"second".into())] {
        let of = wire::RegionState {
            state: bytes.clone(),
            ..first.clone()
        };
        let reply = stage.batch(here.run, sequence, rows(&[of])).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
        let loaded = stage.load_region(&here).await.unwrap();
        assert_eq!(loaded.state, bytes);
    }
    // The state that comes with the give is the last one of its owner, and the next one has it.
    let mut given = rows(&[state(&here, here.epoch, b"given")]);
    given.gives.push(give(&here, other.run));
    let reply = stage.batch(here.run, 3, given).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let heir = Zone {
        run: other.run,
        epoch: here.epoch + 1,
        ..here
    };
    let late = rows(&[state(&here, here.epoch, b"late")]);
    let reply = stage.batch(here.run, 4, late).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert_eq!(stage.load_region(&heir).await.unwrap().state, "given");
}
