//! The time at which a tick goes out, and the cost of a crowd.

use std::{collections::BTreeSet, num::NonZeroU16};

use bytes::BytesMut;
use opentelemetry::metrics::MeterProvider;
use proto::{
    client::{
        Format,
        compact::{read::Decoder, write},
        update::WorldUpdate,
    },
    rpc::common::v1 as common,
};
use tokio::time::sleep;

mod rush;

use super::*;
use crate::{
    mailbox::{Mailbox, Next, Reliable, Update},
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
        1,
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

/// Returns the message that a pair of streams with a run is open, and what is asked over it.
fn up(run: u64) -> (FromLink, mpsc::Receiver<wire::Subscribe>) {
    let (subscribe, heard) = mpsc::channel(8);
    let asked = Arc::new(Asked::new(1, subscribe));
    let number = 1;
    (FromLink::Up { run, number, asked }, heard)
}

fn frame(run: u64, tick: u64, chunks: Vec<wire::ChunkFrame>) -> FromLink {
    FromLink::Frame {
        run,
        number: 1,
        tick,
        extra: false,
        chunks,
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
    let steps = vec![Arc::default()];
    let frames = FanOut::start(&table, &directory, &measures, steps, &tasks);
    let (mut asks, mut links) = (Vec::new(), Vec::new());
    for (run, at) in [(1, 60), (2, 70)] {
        let (subscribe, mut asked) = mpsc::channel(8);
        links.push(frames.up((run, 1), subscribe).await.unwrap());
        asks.push((
            answer(asked.recv().await.unwrap(), &[thing(run as usize, at, 30)]),
            asked,
        ));
    }
    let say = async |run: u64, tick: u64, chunks: Vec<wire::ChunkFrame>| {
        let asked = &links[usize::try_from(run - 1).unwrap()];
        let frame = wire::Frame {
            run_id: run,
            tick,
            chunks,
            ..Default::default()
        };
        let now = Instant::now();
        frames.frame((run, 1), asked, frame, now).await.unwrap();
    };
    let (east, _east) = asks.pop().unwrap();
    let (west, _west) = asks.pop().unwrap();
    say(1, 99, west).await;
    sleep(FRAME_WAIT * 2).await;
    assert!(taken(&mailbox).is_none(), "nothing is whole yet");
    say(2, 99, east).await;
    sleep(Duration::from_millis(1)).await;
    let late: WorldUpdate = told(&mailbox).expect("what was late is told at once");
    assert_eq!(late.tick, 99);
    assert_eq!(late.chunks.iter().filter(|chunk| chunk.full).count(), 49);
    let step = moved(&[thing(1, 60, 30)], 100);
    say(1, 100, step).await;
    sleep(FRAME_WAIT - Duration::from_millis(1)).await;
    assert!(taken(&mailbox).is_none());
    sleep(Duration::from_millis(2)).await;
    let first = told(&mailbox).expect("told without the other zone");
    assert_eq!((first.tick, first.chunks.len()), (100, 1));
    say(2, 100, Vec::new()).await;
    for run in [1, 2] {
        assert!(taken(&mailbox).is_none());
        say(run, 101, Vec::new()).await;
        sleep(Duration::from_millis(1)).await;
    }
    assert!(taken(&mailbox).is_none(), "nothing changed");
    for tick in 102..=105 {
        for run in [1, 2] {
            say(run, tick, Vec::new()).await;
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
    let mut fan_out = FanOut::new(0, table, directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (up, mut asked) = up(run);
        fan_out.hear(up);
        let mine = if run == 1 { things.as_slice() } else { &[] };
        fan_out.hear(frame(run, 1, answer(asked.recv().await.unwrap(), mine)));
        asks.push(asked);
    }
    let size = |mailbox: &Mailbox| taken(mailbox).map(|update| update.body.concat().len());
    let first: Vec<usize> = sessions.iter().filter_map(size).collect();
    assert!(first.iter().all(|bytes| *bytes > 3_000), "{first:?}");
    let mut news = frame(1, 1, Vec::new());
    if let FromLink::Frame { extra, .. } = &mut news {
        *extra = true;
    }
    fan_out.hear(news);
    for run in [1, 2] {
        let chunks = moved(&things[..1], 2);
        let chunks = if run == 1 { chunks } else { Vec::new() };
        fan_out.hear(frame(run, 2, chunks));
    }
    let second: Vec<usize> = sessions.iter().filter_map(size).collect();
    assert_eq!(second.len(), 2);
    assert!(second.iter().all(|bytes| *bytes < 100), "{second:?}");
}

/// A message of a tick waits for the tick's update. If nothing in sight changed, there is none, and
/// the message goes out all the same.
#[tokio::test]
async fn a_message_of_a_tick_without_news_goes_out_at_its_end() {
    let (table, directory, measures) = stand();
    let mailbox = session(&table, 1, Format::Compact, world::Tile { x: 20, z: 20 });
    let mut fan_out = FanOut::new(0, table, directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (up, mut asked) = up(run);
        fan_out.hear(up);
        fan_out.hear(frame(run, 1, answer(asked.recv().await.unwrap(), &[])));
        asks.push(asked);
    }
    let mut tick = 2;
    while taken(&mailbox).is_some() {
        fan_out.hear(frame(1, tick, Vec::new()));
        fan_out.hear(frame(2, tick, Vec::new()));
        tick += 1;
    }
    let mut next = std::pin::pin!(mailbox.next());
    assert!(futures::poll!(&mut next).is_pending());
    mailbox.lay(Reliable::raw("ack", "{}")).unwrap();
    fan_out.hear(frame(1, tick, Vec::new()));
    assert!(futures::poll!(&mut next).is_pending(), "not the end yet");
    fan_out.hear(frame(2, tick, Vec::new()));
    let heard = futures::poll!(&mut next);
    assert!(heard.is_ready(), "{heard:?}");
    assert!(taken(&mailbox).is_none(), "there is no update");
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
    let mut fan_out = FanOut::new(0, table, directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (up, mut asked) = up(run);
        fan_out.hear(up);
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
    let mut fan_out = FanOut::new(0, Arc::clone(&table), directory, measures, Arc::default());
    let mut asks = Vec::new();
    for run in [1, 2] {
        let (up, mut asked) = up(run);
        fan_out.hear(up);
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

/// Everything of a small world with two fan-out tasks, each played by hand.
struct TwoTasks {
    table: Arc<Table>,
    tasks: [FanOut; 2],
    asked: Arc<Asked>,
    heard: mpsc::Receiver<wire::Subscribe>,
    /// Questions that the run has not answered yet, each with the tick of its answer.
    open: Vec<(u64, wire::Subscribe)>,
}

impl TwoTasks {
    /// Returns a world with one run.
    fn new() -> Self {
        let directory = Directory::new();
        let regions = (-8..8).flat_map(|x| (-2..2).map(move |z| (Region { x, z }, 1)));
        directory.set(DirectoryView::of(regions));
        let meter = opentelemetry::metrics::noop::NoopMeterProvider::new().meter("test");
        let (measures, of) = (Measures::new(&meter), TaskGroup::default());
        let table = Table::new(Arc::clone(&directory), measures.clone(), of, 2);
        let (subscribe, heard) = mpsc::channel(64);
        let asked = Arc::new(Asked::new(2, subscribe));
        let task = |task| {
            let (table, directory) = (Arc::clone(&table), Arc::clone(&directory));
            let mut fan_out = FanOut::new(task, table, directory, measures.clone(), Arc::default());
            let (run, number, asked) = (1, 1, Arc::clone(&asked));
            fan_out.hear(FromLink::Up { run, number, asked });
            fan_out
        };
        let tasks = [task(0), task(1)];
        Self {
            table,
            tasks,
            asked,
            heard,
            open: Vec::new(),
        }
    }

    /// Plays a tick in which `things` are there. The run takes three ticks to answer.
    fn tick(&mut self, tick: u64, things: &[wire::Entity], changes: Vec<wire::ChunkFrame>) {
        let mut chunks = changes;
        while let Ok(ask) = self.heard.try_recv() {
            self.open.push((tick + 3, ask));
        }
        for (_, ask) in self.open.extract_if(.., |(due, _)| *due <= tick) {
            chunks.extend(answer(ask, things));
        }
        let shares = self.asked.share(chunks);
        for (task, share) in self.tasks.iter_mut().zip(shares) {
            task.hear(frame(1, tick, share));
        }
    }

    fn shows(&self, session_id: &str) -> [bool; 2] {
        let shows = |task: &FanOut| task.watchers.contains_key(session_id);
        [shows(&self.tasks[0]), shows(&self.tasks[1])]
    }
}

/// Returns changes of a tick in which a thing went from `from` to `to`, within one row of chunks.
fn stepped(from: &wire::Entity, to: &wire::Entity) -> Vec<wire::ChunkFrame> {
    let chunk = |thing: &wire::Entity| wire::ChunkFrame {
        chunk: Some(common::Chunk {
            x: thing.x.div_euclid(8),
            z: thing.z.div_euclid(8),
        }),
        ..Default::default()
    };
    let (mut before, mut after) = (chunk(from), chunk(to));
    if before.chunk == after.chunk {
        after.update.push(wire::EntityDelta {
            id: to.id.clone(),
            x: Some(to.x),
            ..Default::default()
        });
        return vec![after];
    }
    before.leave.push(wire::Leave {
        id: from.id.clone(),
        ownership_sequence: 1,
        moved: true,
        ..Default::default()
    });
    after.enter.push(to.clone());
    vec![before, after]
}

/// A session that walks to another area goes on to the task of that area. Its client gets an update
/// in each tick and sees itself in each. At the end it sees what is there, and nothing else.
#[tokio::test]
async fn who_walks_to_another_area_is_shown_by_the_task_of_that_area() {
    let mut two = TwoTasks::new();
    let walker = |x| wire::Entity {
        id: "c1".to_owned(),
        ..thing(1, x, 4)
    };
    let _other = session(&two.table, 2, Format::Json, world::Tile { x: 0, z: 4 });
    two.tick(1, &[], Vec::new());
    let start = world::Tile { x: 180, z: 4 };
    let mailbox = session(&two.table, 1, Format::Compact, start);
    let (mut decoder, mut shown) = (Decoder::default(), BTreeMap::new());
    let (mut x, mut tasks, mut whole) = (start.x, Vec::new(), Vec::new());
    for tick in 2..80 {
        let before = walker(x);
        x -= if tick > 12 && x > 16 { 4 } else { 0 };
        two.table.place("s1", world::Tile { x, z: 4 }, tick);
        let all = [
            walker(x),
            thing(7, 40, 4),
            thing(8, 190, 4),
            thing(9, 38, 4),
        ];
        two.tick(tick, &all, stepped(&before, &all[0]));
        tasks.push(two.shows("s1"));
        whole.push(0);
        let update = taken(&mailbox);
        assert!(
            update.is_some() || tick < 13 || x <= 16,
            "none in tick {tick}"
        );
        if let Some(update) = update {
            let mut bytes = BytesMut::new();
            write::begin(&mut bytes, tick);
            bytes.extend_from_slice(&update.body.concat());
            let (_, update) = decoder.read(&bytes).expect("an update");
            let full = update.chunks.iter().filter(|chunk| chunk.full);
            if let Some(last) = whole.last_mut() {
                *last = full.count();
            }
            show(&mut shown, update);
            assert_eq!(shown.get("c1"), Some(&(x, 4)), "in the update of {tick}");
        }
    }
    assert_eq!(tasks.first(), Some(&[false, true]));
    assert_eq!(tasks.last(), Some(&[true, false]));
    assert!(!tasks.contains(&[true, true]), "{tasks:?}");
    let first = tasks.iter().position(|shows| *shows == [true, false]);
    let first = first.map(|at| whole[at]);
    assert_eq!(first, Some(49), "the new task shows everything anew");
    // The first number of the new task's replica stands for thing 9, that of the old one for `c1`.
    let ids = ["c1", &thing(7, 0, 0).id, &thing(9, 0, 0).id].map(str::to_owned);
    let shown: BTreeSet<String> = shown.into_keys().collect();
    assert_eq!(shown, BTreeSet::from(ids));
    let chunks = two.tasks.map(|task| task.replica.size().1);
    assert!(chunks[0] > 49 && chunks[1] == 0, "{chunks:?}");
}

/// Applies an update to what a client shows: ids with their tiles.
fn show(shown: &mut BTreeMap<String, (i32, i32)>, update: WorldUpdate) {
    let is_in = |at: (i32, i32), x: i32, z: i32| at.0.div_euclid(8) == x && at.1.div_euclid(8) == z;
    for [x, z] in update.gone {
        shown.retain(|_, at| !is_in(*at, x, z));
    }
    for chunk in &update.chunks {
        if chunk.full {
            shown.retain(|_, at| !is_in(*at, chunk.x, chunk.z));
        }
    }
    for chunk in &update.chunks {
        for id in &chunk.leave {
            if shown.get(id).is_some_and(|at| is_in(*at, chunk.x, chunk.z)) {
                shown.remove(id);
            }
        }
    }
    for chunk in update.chunks {
        for entity in chunk.enter {
            shown.insert(entity.id, (entity.x, entity.z));
        }
        for change in chunk.update {
            if let Some(at) = shown.get_mut(&change.id) {
                *at = (change.x.unwrap_or(at.0), change.z.unwrap_or(at.1));
            }
        }
    }
}
