//! The time at which a tick goes out, and the cost of a crowd.

use std::num::NonZeroU16;

use opentelemetry::metrics::MeterProvider;
use proto::client::{Format, update::WorldUpdate};
use tokio::time::sleep;

use super::*;
use crate::{
    mailbox::{Mailbox, Next},
    screen::Screen,
    zone_link::{AttachSession, Look},
};

const WEST: Region = Region { x: 0, z: 0 };
const EAST: Region = Region { x: 1, z: 0 };

fn stand() -> (Arc<Table>, Arc<Directory>, Measures) {
    let directory = Directory::new();
    directory.set(DirectoryView::of([(WEST, 1), (EAST, 2)]));
    let meter = opentelemetry::metrics::noop::NoopMeterProvider::new().meter("test");
    let measures = Measures::new(&meter);
    let table = Table::new(
        Arc::clone(&directory),
        measures.clone(),
        TaskGroup::default(),
    );
    (table, directory, measures)
}

fn session(table: &Table, n: usize, format: Format, at: world::Tile) -> Mailbox {
    let mailbox = Mailbox::new();
    let session = AttachSession {
        session_id: format!("s{n}"),
        character_id: format!("c{n}"),
        session_epoch: 1,
        attach: 1,
        last_input: 0,
        region: WEST,
        screen: Screen::all(format),
        mailbox: mailbox.clone(),
        events: mpsc::channel(1).0,
    };
    table.stand(session, at);
    mailbox
}

fn taken(mailbox: &Mailbox) -> Option<Update> {
    match mailbox.try_next() {
        Some(Next::Update(update)) => Some(update),
        None => None,
        Some(other) => panic!("{other:?}"),
    }
}

fn told(mailbox: &Mailbox) -> Option<WorldUpdate> {
    let update = taken(mailbox)?;
    Some(serde_json::from_slice(&update.body.concat()).unwrap())
}

fn thing(n: usize, x: i32, z: i32) -> wire::Entity {
    wire::Entity {
        id: format!("0190a1b2-c3d4-7e5f-8a9b-{n:012}"),
        kind: "player".to_owned(),
        x,
        z,
        ownership_sequence: 1,
        fields: br#"{"name":"Somebody","combatLevel":3,"health":10,"maxHealth":10,"run":false}"#
            .as_slice()
            .into(),
        typed_fields: Vec::new(),
    }
}

fn frame(run: u64, tick: u64, chunks: Vec<wire::ChunkFrame>) -> FromLink {
    FromLink::Frame {
        run,
        number: 1,
        frame: wire::Frame {
            run_id: run,
            tick,
            chunks,
            sessions: Vec::new(),
            extra: false,
        },
        received: Instant::now(),
    }
}

/// Returns full records of the chunks in a request.
fn answer(ask: wire::Subscribe, things: &[wire::Entity]) -> Vec<wire::ChunkFrame> {
    let mut chunks: HashMap<(i32, i32), wire::ChunkFrame> = HashMap::new();
    for chunk in ask.add {
        let full = wire::ChunkFrame {
            chunk: Some(chunk),
            full: true,
            ..Default::default()
        };
        chunks.insert((chunk.x, chunk.z), full);
    }
    for thing in things {
        if let Some(chunk) = chunks.get_mut(&(thing.x.div_euclid(8), thing.z.div_euclid(8))) {
            chunk.enter.push(thing.clone());
        }
    }
    chunks.into_values().collect()
}

/// Returns frames in which everybody steps to and fro.
fn moved(things: &[wire::Entity], tick: u64) -> Vec<wire::ChunkFrame> {
    let mut chunks: HashMap<(i32, i32), wire::ChunkFrame> = HashMap::new();
    for thing in things {
        let (x, z) = (thing.x.div_euclid(8), thing.z.div_euclid(8));
        let frame = chunks.entry((x, z)).or_default();
        frame.chunk = Some(common::Chunk { x, z });
        frame.update.push(wire::EntityDelta {
            id: thing.id.clone(),
            x: Some(thing.x + i32::from(tick.is_multiple_of(2))),
            ..Default::default()
        });
    }
    chunks.into_values().collect()
}

/// A tick from one zone of two waits a moment for the other and no longer. Later records go out at
/// once.
#[tokio::test(start_paused = true)]
async fn a_tick_waits_for_all_zones_but_not_for_long() {
    let (table, directory, measures) = stand();
    let stop = CancellationToken::new();
    let mailbox = session(&table, 1, Format::Json, world::Tile { x: 60, z: 30 });
    let meter = opentelemetry::metrics::noop::NoopMeterProvider::new().meter("test");
    let tasks = TaskGroup::new(&meter, stop.clone());
    let frames = FanOut::start(table, directory, measures, Arc::default(), &tasks);
    let mut asks = Vec::new();
    for (run, at) in [(1, 60), (2, 70)] {
        let (subscribe, mut asked) = mpsc::channel(8);
        let up = FromLink::Up {
            run,
            number: 1,
            subscribe,
        };
        frames.send(up).await.unwrap();
        asks.push((
            answer(asked.recv().await.unwrap(), &[thing(run as usize, at, 30)]),
            asked,
        ));
    }
    let (east, _east) = asks.pop().unwrap();
    let (west, _west) = asks.pop().unwrap();
    frames.send(frame(1, 99, west)).await.unwrap();
    sleep(FRAME_WAIT * 2).await;
    assert!(taken(&mailbox).is_none(), "nothing is whole yet");
    frames.send(frame(2, 99, east)).await.unwrap();
    sleep(Duration::from_millis(1)).await;
    let late: WorldUpdate = told(&mailbox).expect("what was late is told at once");
    assert_eq!(late.tick, 99);
    assert_eq!(late.chunks.iter().filter(|chunk| chunk.full).count(), 49);
    let step = moved(&[thing(1, 60, 30)], 100);
    frames.send(frame(1, 100, step)).await.unwrap();
    sleep(FRAME_WAIT - Duration::from_millis(1)).await;
    assert!(taken(&mailbox).is_none());
    sleep(Duration::from_millis(2)).await;
    let first = told(&mailbox).expect("told without the other zone");
    assert_eq!((first.tick, first.chunks.len()), (100, 1));
    frames.send(frame(2, 100, Vec::new())).await.unwrap();
    for run in [1, 2] {
        assert!(taken(&mailbox).is_none());
        frames.send(frame(run, 101, Vec::new())).await.unwrap();
        sleep(Duration::from_millis(1)).await;
    }
    assert!(taken(&mailbox).is_none(), "nothing changed");
    for tick in 102..=105 {
        for run in [1, 2] {
            frames.send(frame(run, tick, Vec::new())).await.unwrap();
            sleep(Duration::from_millis(1)).await;
        }
    }
    let life = taken(&mailbox).expect("a sign of life");
    assert_eq!(&life.body.concat()[..], b"{\"tick\":105,\"chunks\":[]}");
    stop.cancel();
}

/// Frames between two ticks bring messages of sessions, too. A client that sees the nearest players
/// keeps their names over them.
#[tokio::test]
async fn a_frame_without_news_makes_no_client_forget_names() {
    let (table, directory, measures) = stand();
    let nearest = Screen {
        format: Format::Compact,
        players_max: NonZeroU16::new(255),
    };
    let screens = [nearest, Screen::all(Format::Compact)];
    let sessions = [1, 2].map(|n| {
        let at = world::Tile { x: 20, z: 20 };
        let mailbox = session(&table, n, Format::Compact, at);
        let screen = screens[n - 1];
        let resumed = table.resume(&format!("s{n}"), mailbox.clone(), screen, false);
        resumed.expect("a session");
        mailbox
    });
    let things: Vec<wire::Entity> = (1..100).map(|n| thing(n, 20, 20)).collect();
    let mut fan_out = FanOut::new(table, directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (subscribe, mut asked) = mpsc::channel(8);
        fan_out.hear(FromLink::Up {
            run,
            number: 1,
            subscribe,
        });
        let mine = if run == 1 { things.as_slice() } else { &[] };
        fan_out.hear(frame(run, 1, answer(asked.recv().await.unwrap(), mine)));
        asks.push(asked);
    }
    let size = |mailbox: &Mailbox| taken(mailbox).map(|update| update.body.concat().len());
    let first: Vec<usize> = sessions.iter().filter_map(size).collect();
    assert!(first.iter().all(|bytes| *bytes > 3_000), "{first:?}");
    let mut extra = frame(1, 1, Vec::new());
    if let FromLink::Frame { frame, .. } = &mut extra {
        frame.extra = true;
    }
    fan_out.hear(extra);
    for run in [1, 2] {
        let chunks = moved(&things[..1], 2);
        let chunks = if run == 1 { chunks } else { Vec::new() };
        fan_out.hear(frame(run, 2, chunks));
    }
    let second: Vec<usize> = sessions.iter().filter_map(size).collect();
    assert_eq!(second.len(), 2);
    assert!(second.iter().all(|bytes| *bytes < 100), "{second:?}");
}

/// The gateway writes a chunk's change once for each of the two formats, however many look on.
/// `TILESTEAD_CROWD=<n>` makes it a crowd of that size, and with `--nocapture` reports the time
/// that each tick took.
#[tokio::test]
async fn a_crowd_is_written_once_per_format() {
    let (table, directory, measures) = stand();
    let size = std::env::var("TILESTEAD_CROWD");
    let size: usize = size.map_or(400, |size| size.parse().expect("a number"));
    let tile = |n: usize| {
        let n = i32::try_from(n * 7).unwrap();
        world::Tile {
            x: n % 56,
            z: n / 56 % 56,
        }
    };
    let formats = [Format::Json, Format::MessagePack];
    let sessions: Vec<Mailbox> = (0..size)
        .map(|n| session(&table, n, formats[n % 2], tile(n)))
        .collect();
    let things: Vec<wire::Entity> = (0..size).map(|n| thing(n, tile(n).x, tile(n).z)).collect();
    let mut fan_out = FanOut::new(table, directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (subscribe, mut asked) = mpsc::channel(8);
        fan_out.hear(FromLink::Up {
            run,
            number: 1,
            subscribe,
        });
        let mine = if run == 1 { things.as_slice() } else { &[] };
        fan_out.hear(frame(run, 1, answer(asked.recv().await.unwrap(), mine)));
        asks.push(asked);
    }
    for mailbox in &sessions {
        taken(mailbox).expect("the first update");
    }
    for tick in 2..20 {
        fan_out.hear(frame(2, tick, Vec::new()));
        fan_out.window = None;
        let chunks = moved(&things, tick);
        let mut flushed = Flushed::default();
        let begin = Instant::now();
        fan_out.replica.apply(1, tick, chunks);
        fan_out.reconcile();
        let changes = fan_out.replica.flush();
        fan_out.show_all(&changes, Part::Tick, begin, &mut flushed);
        flushed.took = begin.elapsed();
        println!("{flushed:?}");
        assert_eq!(flushed.updates, size as u64);
        // Two formats; a change and a snapshot of a chunk at most.
        let once: u64 = things.len() as u64 * 2 * (100 + 200);
        assert!(
            flushed.encoded < once,
            "{} bytes written anew",
            flushed.encoded
        );
        assert!(flushed.update_bytes > 10 * flushed.encoded, "{flushed:?}");
        sessions.iter().for_each(|mailbox| drop(taken(mailbox)));
    }
}

/// A session that looks on stands where the character does, however far it goes. It sees all that a
/// player there would see, and loses sight of all that it saw before.
#[tokio::test]
#[allow(clippy::too_many_lines, reason = "one story, told in order")]
async fn who_looks_on_follows_a_character() {
    let (table, directory, measures) = stand();
    let mailbox = Mailbox::new();
    let walker = thing(1, 20, 20);
    table.look(
        "s1",
        Look {
            screen: Screen::all(Format::Json),
            mailbox: mailbox.clone(),
            follows: Some(walker.id.as_str().into()),
            position: world::Tile { x: 28, z: 20 },
        },
    );
    let mut fan_out = FanOut::new(Arc::clone(&table), directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (subscribe, mut asked) = mpsc::channel(8);
        fan_out.hear(FromLink::Up {
            run,
            number: 1,
            subscribe,
        });
        let mine = [walker.clone()];
        let mine = if run == 1 { mine.as_slice() } else { &[] };
        fan_out.hear(frame(run, 1, answer(asked.recv().await.unwrap(), mine)));
        asks.push(asked);
    }
    let first = told(&mailbox).expect("what is there");
    let seen = |update: &WorldUpdate| -> Vec<(i32, i32)> {
        let whole = update.chunks.iter().filter(|chunk| chunk.full);
        whole.map(|chunk| (chunk.x, chunk.z)).collect()
    };
    assert!(table.sees("s1"));
    assert!(seen(&first).contains(&(-1, 2)) && !seen(&first).contains(&(6, 2)));
    // Two chunks on to the east.
    let step = wire::ChunkFrame {
        chunk: Some(common::Chunk { x: 2, z: 2 }),
        leave: vec![wire::Leave {
            id: walker.id.clone(),
            ownership_sequence: 1,
            moved: true,
            ..Default::default()
        }],
        ..Default::default()
    };
    let there = wire::Entity {
        x: 36,
        ..walker.clone()
    };
    let arrives = wire::ChunkFrame {
        chunk: Some(common::Chunk { x: 4, z: 2 }),
        enter: vec![there],
        ..Default::default()
    };
    for run in [1, 2] {
        let chunks = if run == 1 {
            vec![step.clone(), arrives.clone()]
        } else {
            Vec::new()
        };
        fan_out.hear(frame(run, 2, chunks));
    }
    let second = told(&mailbox).expect("the step");
    assert!(second.gone.contains(&[-1, 2]), "{second:?}");
    table.look_away("s1");
    for run in [1, 2] {
        fan_out.hear(frame(run, 3, Vec::new()));
    }
    assert!(told(&mailbox).is_none() && !table.sees("s1"));
}
