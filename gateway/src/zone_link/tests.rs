//! Sessions against fake zones and a fake directory, over real streams.

mod elsewhere;
mod fake_directory;
mod fakes;
mod former;
mod recall;
mod resting;
mod unwanted;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use opentelemetry::metrics::MeterProvider;
use proto::{
    client::{Format, RequestId, ZoneRequest, update::WorldUpdate},
    rpc::zone::v1::{self as wire, to_zone::Message},
};
use service_runtime::rpc::{Names, Replicas, Role, Trust};
use service_runtime::tasks::TaskGroup;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;
use world::{Region, Tile};

use self::{
    fake_directory::Directory,
    fakes::{Zone, person},
};
use super::{AttachError, AttachSession, Attached, InputError, SessionEvent, Zones, ZonesConfig};
use crate::{
    mailbox::{Mailbox, Next, Reliable},
    screen::Screen,
};

const TIMEOUT: Duration = Duration::from_secs(10);
const HOME: Region = Region { x: 0, z: 0 };

struct Player {
    mailbox: Mailbox,
    events: mpsc::Receiver<Box<SessionEvent>>,
}

impl Player {
    async fn next(&self) -> Next {
        timeout(TIMEOUT, self.mailbox.next())
            .await
            .expect("nothing came")
    }

    /// Returns the next word that the session is out of the world.
    async fn event(&mut self) -> SessionEvent {
        let event = timeout(TIMEOUT, self.events.recv()).await;
        *event.expect("in time").expect("the session is there")
    }

    /// Returns the next reliable message; reads and drops updates on the way.
    async fn reliable(&self) -> Reliable {
        let reliable = async {
            loop {
                match self.mailbox.next().await {
                    Next::Reliable(message) => return message,
                    Next::Update(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        timeout(TIMEOUT, reliable).await.expect("nothing came")
    }

    async fn hears(&self, event: &str) -> serde_json::Value {
        let message = self.reliable().await;
        assert_eq!(message.event, event);
        serde_json::from_slice(&message.data).expect("JSON")
    }

    /// Reads updates until one shows this thing.
    async fn sees(&self, id: &str) -> (i32, i32) {
        loop {
            let Next::Update(update) = self.next().await else {
                continue;
            };
            let update: WorldUpdate =
                serde_json::from_slice(&update.body.concat()).expect("an update");
            let mut things = update.chunks.into_iter().flat_map(|chunk| chunk.enter);
            if let Some(thing) = things.find(|thing| thing.id == id) {
                return (thing.x, thing.z);
            }
        }
    }
}

struct Stand {
    zones: Zones,
    directory: Directory,
    stop: CancellationToken,
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Stand {
    async fn new(runs: &[&Zone]) -> Self {
        let directory = Directory::start().await;
        let named = Names::of([&directory.address]);
        let store = Replicas::new(&Trust::none(), Role::Persistence, &named);
        directory.push(runs, runs[0]);
        let stop = CancellationToken::new();
        let config = ZonesConfig {
            gateway_id: "g".to_owned(),
            store: store.expect("an address"),
            trust: Trust::none(),
        };
        let meter = opentelemetry_meter();
        let zones = Zones::start(
            config,
            vec![Arc::default(); 2],
            &meter,
            TaskGroup::new(&meter, stop.clone()),
        );
        let mut links = zones.table.links_changed();
        while !runs.iter().all(|zone| zones.table.is_linked(zone.run)) {
            timeout(TIMEOUT, links.changed())
                .await
                .expect("no link")
                .expect("alive");
        }
        Self {
            zones,
            directory,
            stop,
        }
    }

    async fn enter(&self) -> (Result<Attached, AttachError>, Player) {
        let (session, player) = session(1);
        (self.zones.attach(session).await, player)
    }

    /// Takes over a session that another gateway held until now.
    async fn take_over(&self) -> (Result<Attached, AttachError>, Player) {
        let (session, player) = session(0);
        (self.zones.take_over(session).await, player)
    }

    /// Makes one zone give the session to another one, and waits until the gateway knows.
    async fn moves(&self, from: &Zone, to: &Zone, sequence: u64) {
        from.moves_to(to, sequence);
        self.is_told_of(to).await;
        to.plays(sequence);
    }

    /// Waits until the gateway sends the session's inputs to a zone.
    async fn is_told_of(&self, zone: &Zone) {
        let told = async {
            while !self.zones.table.is_at("s", zone.run) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, told).await.expect("never heard");
    }

    /// Waits until the gateway has heard all that a zone has to say now.
    async fn hears_more_of(&self, zone: &Zone) {
        let until = zone.sent() + 3;
        let heard = async {
            while self.zones.table.frames_heard(zone.run) < until {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(TIMEOUT, heard).await.expect("never heard");
    }

    fn asks(&self, player: &Player, id: &str) -> Result<(), InputError> {
        let id = RequestId::Text(id.to_owned());
        let oldest = player.mailbox.expect(id.clone(), "player:move");
        assert!(oldest.is_none(), "there is room");
        let request = ZoneRequest {
            event: "player:move",
            data: Bytes::from_static(b"{}"),
            format: Format::Json,
        };
        self.zones.input("s", request, Some(&id), String::new())
    }
}

/// Returns a zone, and a session that plays there by its first attach.
async fn playing() -> (Zone, Stand, Player) {
    let zone = Zone::start(1, 5).await;
    let stand = Stand::new(&[&zone]).await;
    let (attached, player) = stand.enter().await;
    attached.expect("attached");
    (zone, stand, player)
}

/// Returns two zones, and a session that plays at the first one, which has received its attach.
async fn playing_beside() -> (Zone, Zone, Stand, Player) {
    let (has, other) = (Zone::start(1, 5).await, Zone::start(2, 6).await);
    let stand = Stand::new(&[&has, &other]).await;
    let (attached, player) = stand.enter().await;
    attached.expect("attached");
    attach(&has).await;
    (has, other, stand, player)
}

fn session(attach: u64) -> (AttachSession, Player) {
    let mailbox = Mailbox::new();
    let (told, events) = mpsc::channel(4);
    let session = AttachSession {
        session_id: "s".to_owned(),
        character_id: "ann".to_owned(),
        session_epoch: 3,
        attach,
        last_input: 0,
        region: HOME,
        screen: Screen::all(Format::Json),
        mailbox: mailbox.clone(),
        events: told,
    };
    (session, Player { mailbox, events })
}

fn opentelemetry_meter() -> opentelemetry::metrics::Meter {
    opentelemetry::metrics::noop::NoopMeterProvider::new().meter("test")
}

/// Returns the number of the next input and the id that it carries.
async fn input(zone: &Zone) -> (u64, String) {
    match zone.hears().await {
        Message::Input(input) => (input.number, String::from_utf8(input.id.to_vec()).unwrap()),
        other => panic!("{other:?}"),
    }
}

async fn attach(zone: &Zone) -> u64 {
    loop {
        match zone.hears().await {
            Message::Attach(attach) => return attach.attach,
            // Its frames may still name a paused session for a moment; the gateway then tells it
            // again.
            Message::Detach(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_attaches_sees_and_is_heard() {
    let zone = Zone::start(1, 5).await;
    let stand = Stand::new(&[&zone]).await;
    let (attached, player) = stand.enter().await;
    let attached = attached.expect("attached");
    assert_eq!((attached.run_id, attached.region), (1, HOME));
    assert_eq!(attach(&zone).await, 1);
    zone.place(person("ann", 10, 10, 5));
    assert_eq!(player.sees("ann").await, (10, 10));
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    assert_eq!(stand.asks(&player, "b"), Ok(()));
    assert_eq!(input(&zone).await, (1, "\"a\"".to_owned()));
    assert_eq!(input(&zone).await, (2, "\"b\"".to_owned()));
    zone.answers("a", 5);
    let ack = player.reliable().await;
    assert_eq!(ack.re, Some(RequestId::Text("a".to_owned())));
    assert!(stand.zones.last_tick() > 0);
    assert_eq!(
        stand.zones.position("s").map(|(tile, _)| tile),
        Some(Tile { x: 10, z: 10 })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn when_a_zone_dies_its_sessions_go_on_at_the_next_owner() {
    let (dies, heir) = (Zone::start(1, 5).await, Zone::start(2, 5).await);
    let stand = Stand::new(&[&dies, &heir]).await;
    let (attached, player) = stand.enter().await;
    attached.expect("attached");
    assert_eq!(attach(&dies).await, 1);
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    assert_eq!(input(&dies).await.0, 1);
    heir.refuse();
    dies.die();
    let error = player.hears("error").await;
    assert_eq!(error["code"], "outcome_unknown");
    assert_eq!(player.hears("notice").await["code"], "zone_recovering");
    for n in 0..super::route::HELD_MAX {
        assert_eq!(stand.asks(&player, &format!("held {n}")), Ok(()));
    }
    assert_eq!(
        stand.asks(&player, "late"),
        Err(InputError::ZoneUnavailable)
    );
    heir.accept();
    stand.directory.push(&[&heir], &heir);
    assert!(attach(&heir).await > 1);
    let mut number = 1;
    loop {
        match heir.hears().await {
            Message::Attach(_) => {}
            Message::Input(input) => {
                number += 1;
                let id = format!("\"held {}\"", number - 2);
                assert_eq!((input.number, &input.id[..]), (number, id.as_bytes()));
                if number == 33 {
                    break;
                }
            }
            other => panic!("{other:?}"),
        }
    }
    // The gateway never passed the held requests to the run that died.
    loop {
        let message = player.reliable().await;
        match &*message.event {
            "player:sync" => break,
            "error" => panic!("{:?}", message.data),
            _ => {}
        }
    }
    assert_eq!(player.hears("notice").await["code"], "zone_recovered");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encounter_whose_run_is_lost_ends_as_the_run_had_said() {
    let (dies, heir) = (Zone::start(1, 5).await, Zone::start(2, 5).await);
    let stand = Stand::new(&[&dies, &heir]).await;
    let (attached, player) = stand.enter().await;
    attached.expect("attached");
    attach(&dies).await;
    let encounter = |id: &str, over| wire::Encounter {
        id: id.to_owned(),
        over,
        if_lost: (!over).then(|| wire::Notification {
            event: "lost".to_owned(),
            data: format!("{{\"id\":{id:?}}}").into(),
        }),
        ..Default::default()
    };
    for (event, id, over) in [
        ("begins", "over", false),
        ("ends", "over", true),
        ("begins", "open", false),
        ("goes_on", "open", false),
    ] {
        dies.tells_of(event, encounter(id, over));
        player.hears(event).await;
    }
    dies.die();
    stand.directory.push(&[&heir], &heir);
    while player.reliable().await.event != "player:sync" {}
    assert_eq!(player.hears("lost").await["id"], "open");
    heir.says("later", 5);
    loop {
        let event = player.reliable().await.event;
        assert_ne!(event, "lost", "each encounter ends once");
        if event == "later" {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_a_run_calls_lost_is_answered_once() {
    let (zone, stand, player) = playing().await;
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    for _ in 0..2 {
        zone.loses("a");
    }
    assert_eq!(player.hears("error").await["code"], "outcome_unknown");
    zone.answers("a", 5);
    zone.says("last", 5);
    player.hears("last").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_session_is_detached_and_attached_anew_when_it_resumes() {
    let (zone, stand, player) = playing().await;
    assert_eq!(attach(&zone).await, 1);
    stand.zones.pause("s");
    match zone.hears().await {
        Message::Detach(detach) => assert_eq!((detach.attach, detach.session_epoch), (1, 3)),
        other => panic!("{other:?}"),
    }
    assert_eq!(stand.asks(&player, "a"), Err(InputError::NotInWorld));
    let mailbox = player.mailbox.clone();
    assert!(
        stand
            .zones
            .resume("s", mailbox, Screen::all(Format::Json), false)
    );
    assert_eq!(attach(&zone).await, 2);
    let error = player.hears("error").await;
    assert_eq!(
        error["code"], "outcome_unknown",
        "the refused one was never answered here"
    );
    player.hears("player:sync").await;
    assert!(!stand.zones.resume(
        "nobody",
        player.mailbox.clone(),
        Screen::all(Format::Json),
        false
    ));
}

/// The answer to an attach comes by another way than frames, which may be slower.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_newer_than_the_answer_to_an_attach_is_shown_after_it() {
    let (zone, stand, player) = playing().await;
    assert_eq!(attach(&zone).await, 1);
    stand.zones.pause("s");
    zone.hears().await;
    zone.waits();
    let mailbox = player.mailbox.clone();
    assert!(
        stand
            .zones
            .resume("s", mailbox, Screen::all(Format::Json), false)
    );
    assert_eq!(attach(&zone).await, 2);
    zone.says("inventory:update", 5);
    let told = async {
        while !zone.has_told() {
            tokio::task::yield_now().await;
        }
        let tick = stand.zones.last_tick();
        while stand.zones.last_tick() < tick + 2 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, told).await.expect("frames come");
    zone.answers_attach(2);
    player.hears("player:sync").await;
    player.hears("inventory:update").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_that_does_not_play_the_character_any_more_says_so() {
    let (zone, stand, player) = playing().await;
    assert_eq!(attach(&zone).await, 1);
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    assert_eq!(input(&zone).await.0, 1);
    zone.turns_out(0);
    assert_eq!(player.hears("error").await["code"], "outcome_unknown");
    assert_eq!(attach(&zone).await, 2);
    player.hears("player:sync").await;
    assert_eq!(stand.asks(&player, "b"), Ok(()));
    assert_eq!(input(&zone).await, (2, "\"b\"".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_which_its_zone_speaks_no_more_is_attached_anew() {
    let (zone, stand, player) = playing().await;
    assert_eq!(attach(&zone).await, 1);
    stand.asks(&player, "a").expect("sent");
    assert_eq!(input(&zone).await, (1, "\"a\"".to_owned()));
    zone.forgets();
    assert_eq!(attach(&zone).await, 2);
    assert_eq!(player.hears("error").await["code"], "outcome_unknown");
    player.hears("player:sync").await;
    // The zone names the session again: the gateway has nothing to ask.
    stand.asks(&player, "b").expect("sent");
    assert_eq!(input(&zone).await, (2, "\"b\"".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_new_owner_of_a_region_is_asked_before_the_directory_says_so() {
    let (from, to, stand, player) = playing_beside().await;
    from.place(person("ann", 10, 10, 5));
    player.sees("ann").await;
    to.place(person("bob", 11, 10, 6));
    from.gives(&to, 9);
    assert_eq!(player.sees("bob").await, (11, 10));
    // Old news change nothing.
    to.gives(&from, 9);
    to.releases(person("eve", 12, 10, 6));
    assert_eq!(player.sees("eve").await, (12, 10));
    let owner = stand.zones.directory().owner_of(HOME);
    assert_eq!(owner.map(|owner| (owner.run_id, owner.epoch)), Some((2, 9)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_batch_released_is_shown_between_ticks() {
    let (zone, stand, player) = playing().await;
    zone.place(person("ann", 10, 10, 5));
    player.sees("ann").await;
    zone.releases(person("item:1-1", 11, 10, 1));
    assert_eq!(player.sees("item:1-1").await, (11, 10));
    drop(stand);
}

/// The new owner has the region from the moment of the push; the gateway's delay after that is its
/// share.
#[tokio::test(flavor = "multi_thread")]
async fn who_lost_a_zone_plays_on_at_once_when_the_directory_names_the_next() {
    let (dies, heir, stand, player) = playing_beside().await;
    heir.load();
    dies.die();
    assert_eq!(player.hears("notice").await["code"], "zone_recovering");
    // As long as a lease lasts: long enough for every pause to have grown.
    tokio::time::sleep(Duration::from_secs(3)).await;
    heir.accept();
    let pushed = std::time::Instant::now();
    stand.directory.push(&[&heir], &heir);
    player.hears("player:sync").await;
    let share = pushed.elapsed();
    println!("the gateway's share of a recovery: {share:?}");
    assert!(share < Duration::from_millis(100), "{share:?}");
    assert_eq!(player.hears("notice").await["code"], "zone_recovered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fenced_run_is_not_heard_any_more() {
    let (fenced, heir, stand, player) = playing_beside().await;
    stand.directory.push(&[&heir], &heir);
    attach(&heir).await;
    fenced.says("of the dead", 7);
    player.hears("player:sync").await;
    heir.says("of the living", 6);
    assert_eq!(player.hears("of the living").await, serde_json::json!({}));
}

#[test]
fn a_run_whose_process_is_gone_is_reported_once_and_a_silent_one_never() {
    let here = tokio::runtime::Runtime::new().expect("a runtime");
    let [first, second] = [(); 2].map(|()| tokio::runtime::Runtime::new().expect("a runtime"));
    let dies = first.block_on(Zone::start(1, 5));
    let ends = second.block_on(Zone::start(2, 5));
    here.block_on(async {
        let stand = Stand::new(&[&dies, &ends]).await;
        let mut suspected = stand.directory.suspected.subscribe();
        // Streams that end in order are no proof, nor is one that refuses new ones.
        ends.die();
        // Its sockets end with it, and nobody listens at its address.
        first.shutdown_background();
        let told = timeout(TIMEOUT, suspected.changed()).await;
        told.expect("nothing was reported").expect("open");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let told = stand.directory.suspected.borrow().clone();
        assert_eq!(told, [(1, "gateway:g".to_owned())]);
    });
    second.shutdown_background();
}
