//! Tests of inputs that a gateway sent to a former owner of a player, who comes back there before
//! that run could send them on.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use handover::{
    player::{Departed, Target},
    region::Taking,
};
use proto::rpc::zone::v1::{
    CompleteRegionRequest, CompleteRequest, ForwardRequest, FromZone, HandoverId, Input,
    LocateRequest, MovedSlot, PrepareRegionRequest, PrepareRequest, SessionRef,
};
use service_runtime::{
    config::{Env, Reader},
    telemetry::{Telemetry, TelemetryConfig},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use world::{CharacterId, CharacterState, Columns, Content, PlayerRecord, Region};

use super::{
    Run, RunContext,
    source::{Gone, Word, handover_id},
};
use crate::{
    beat::Beat,
    commit::batch::Sending,
    config::Config,
    deliver::{
        encoded::EncodedFrame,
        links::{CONTROL_MAX, FRAMES_MAX, LinkHalf},
        published::Fields,
    },
    effects::{Effects, NobodyCommits},
    metrics::Metrics,
    ownership::lease::Pulse,
    translate::record,
};

const THERE: Region = Region { x: 1, z: 0 };
const EPOCH: u64 = 3;
/// Ownership sequence with which she went.
const WENT: u64 = 5;

/// An outside that hears everything and answers nothing.
struct Silent;

impl Effects for Silent {
    fn load_region(&mut self, _: Region, _: u64) {}
    fn load_character(&mut self, _: CharacterId) {}
    fn quarantine(&mut self, _: CharacterId) {}
    fn prepare(&mut self, _: &str, _: CharacterId, _: u32, _: PrepareRequest) {}
    fn complete(&mut self, _: &str, _: CharacterId, _: u64, _: CompleteRequest) {}
    fn forward(&mut self, _: &str, _: CharacterId, _: ForwardRequest) {}
    fn prepare_region(&mut self, _: &str, _: u64, _: PrepareRegionRequest) {}
    fn complete_region(&mut self, _: &str, _: CompleteRegionRequest) {}
    fn locate(&mut self, _: &str, _: CharacterId, _: u32, _: LocateRequest) {}
    fn drain(&mut self) {}
    fn owner(&mut self, _: CharacterId, _: u64, _: bool) {}
    fn commit(&mut self, _: Sending) -> Result<(), NobodyCommits> {
        Ok(())
    }
    fn beside(&mut self, _: Box<dyn FnOnce() + Send>) {}
}

fn ann() -> CharacterId {
    CharacterId::from("ann")
}

/// The gateway's end of its link.
struct Gateway {
    _control: mpsc::Receiver<Result<FromZone, Status>>,
    _frames: mpsc::Receiver<Result<EncodedFrame, Status>>,
}

/// Links the gateway "g".
fn link(run: &mut Run) -> Gateway {
    let (control, _control) = mpsc::channel(CONTROL_MAX);
    let (frames, _frames) = mpsc::channel(FRAMES_MAX);
    run.links.control(half(control));
    run.links.frames(half(frames));
    Gateway { _control, _frames }
}

fn half<S>(sender: S) -> LinkHalf<S> {
    LinkHalf {
        gateway_id: "g".to_owned(),
        link: 1,
        fields: Fields::Typed,
        sender,
        cut: CancellationToken::new(),
    }
}

/// Returns a run that ann has left, together with her region, for another one, and the other end of
/// its link with her gateway.
fn run_that_she_left() -> (Run, Gateway) {
    let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
    let context = RunContext {
        effects: Box::new(Silent),
        metrics: Metrics::new(&telemetry.meter()),
        tracer: telemetry.tracer(),
        tracing: false,
        pulse: Arc::new(Pulse::default()),
    };
    let config = Arc::new(Config::read(&mut Reader::new(Env::default())));
    let beat = Beat::new(Instant::now(), 1_000_000, config.tick_ms);
    let mut run = Run::new((7, 1), beat, config, Content::embedded(), context);
    let to = Target {
        run_id: 8,
        region: THERE,
        epoch: EPOCH - 1,
        address: "127.0.0.1:1".to_owned(),
    };
    let gone = Gone::new(Departed::new(run.now), WENT, to, Word::Region(THERE));
    run.handovers.departed.insert(ann(), gone);
    let gateway = link(&mut run);
    (run, gateway)
}

fn session() -> SessionRef {
    SessionRef {
        session_id: "session-ann".to_owned(),
        session_epoch: 1,
        gateway_id: "g".to_owned(),
        attach: 1,
    }
}

fn input(number: u64) -> Input {
    Input {
        session_id: session().session_id,
        character_id: "ann".to_owned(),
        session_epoch: 1,
        number,
        ..Input::default()
    }
}

/// Sends three inputs. The first is on its way to the other run when the others come.
fn three_inputs_come(run: &mut Run) {
    run.input("g", input(3));
    run.forwards(&ann());
    run.input("g", input(4));
    run.input("g", input(5));
}

/// Asserts that the run plays all three, in order, although the other run sends the first back.
fn assert_played_once(run: &mut Run) {
    let request = ForwardRequest {
        h: Some(back()),
        inputs: vec![input(3)],
        gateway_id: "g".to_owned(),
    };
    assert!(run.forward(request).taken);
    let slot = run.roster.get_mut(&ann()).unwrap();
    let played = slot.inputs.ready();
    let numbers: Vec<u64> = played.iter().map(|input| input.number).collect();
    assert_eq!(numbers, [3, 4, 5]);
    assert!(!run.handovers.departed.contains_key(&ann()));
}

/// Returns the handover by which she comes back.
fn back() -> HandoverId {
    handover_id(&ann(), WENT + 1)
}

#[test]
fn inputs_for_a_player_who_left_are_played_when_the_region_brings_her_back() {
    let (mut run, _gateway) = run_that_she_left();
    three_inputs_come(&mut run);
    let taking = Taking::new(EPOCH, 8, run.now);
    run.moves.taking.insert(THERE, taking);
    let slot = MovedSlot {
        h: Some(back()),
        session: Some(session()),
        last_input: 2,
        ..MovedSlot::default()
    };
    let reply = run.complete_region(CompleteRegionRequest {
        region: Some(record::rpc_region(THERE)),
        epoch: EPOCH,
        slots: vec![slot],
        ..CompleteRegionRequest::default()
    });
    assert!(reply.known);
    assert_played_once(&mut run);
}

#[test]
fn inputs_for_a_player_who_left_are_played_when_a_handover_brings_her_back() {
    let (mut run, _gateway) = run_that_she_left();
    three_inputs_come(&mut run);
    run.regions.held.insert(THERE, EPOCH);
    let bounds = THERE.bounds();
    let columns = Columns {
        id: "ann".into(),
        name: "ann".to_owned(),
        tile: bounds.middle(),
        y: 0,
        health: 10,
        skills: BTreeMap::new(),
        coins: 0,
        inventory: BTreeMap::new(),
        equipment: BTreeMap::new(),
        bank: BTreeMap::new(),
        stakes: BTreeMap::new(),
        combat_level: 3,
        placed: true,
    };
    let record = PlayerRecord::new(columns, CharacterState::default());
    let reply = run.prepare(PrepareRequest {
        h: Some(back()),
        from_run_id: 8,
        to_run_id: 7,
        region: Some(record::rpc_region(THERE)),
        epoch: EPOCH,
        content_hash: run.world.content().hash().to_owned(),
        state: record.to_document().into(),
        session: Some(session()),
        ..PrepareRequest::default()
    });
    assert!(reply.accepted, "{}", reply.code);
    let reply = run.complete(CompleteRequest {
        h: Some(back()),
        session: Some(session()),
        last_input: 2,
        ..CompleteRequest::default()
    });
    assert!(reply.known);
    assert_played_once(&mut run);
}
