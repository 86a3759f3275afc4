//! A gateway that pretends: links with zones, plays characters, and writes down all that they show.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use proto::rpc::{
    common::v1 as common,
    zone::v1::{from_zone, link_client::LinkClient, to_zone, *},
};
use service_runtime::rpc::{Role, Trust};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use world::{Chunk, Region, Tile};

/// Returns a channel to a zone server without TLS.
pub fn channel(address: &str) -> Channel {
    Trust::none().channel(Role::Zone, address).unwrap()
}

/// One session's word at one tick of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    pub tick: u64,
    pub run: u64,
    pub sequence: u64,
    pub position: Option<common::Tile>,
    pub messages: Vec<Private>,
}

#[derive(Debug, Default)]
pub struct Seen {
    /// By character.
    pub words: BTreeMap<String, Vec<Word>>,
    pub attached: BTreeMap<String, (u64, Attached)>,
    pub refused: Vec<(u64, AttachRefused)>,
    pub moved: Vec<(u64, Moved)>,
    pub left: Vec<(u64, Left)>,
    pub regions_moved: Vec<(u64, RegionMoved)>,
    pub lost: Vec<(u64, InputLost)>,
    /// By run and tick: the characters that it shows in it.
    pub standing: BTreeMap<u64, BTreeMap<u64, BTreeSet<String>>>,
    /// By run: the regions of which it has ever shown a whole chunk, because it plays them.
    pub regions: BTreeMap<u64, BTreeSet<Region>>,
    /// The tick in which a character left a run, transferred.
    pub transferred: Vec<(u64, u64, String)>,
    pub closed: Vec<u64>,
    /// All that was ever shown.
    pub entered: BTreeSet<String>,
    /// Whether it was ever shown fields of a thing as JSON texts, and as typed fields.
    pub fields: (bool, bool),
    /// By run: the items that are shown to lie on the ground.
    pub items: BTreeMap<u64, BTreeSet<String>>,
    /// Items and events of messages that the run showed between two ticks.
    pub extras: Vec<(BTreeSet<String>, Vec<String>)>,
}

/// The gateway; clones are the same one.
#[derive(Clone)]
pub struct Gateway {
    id: String,
    /// Whether it reads typed fields; a gateway of release 0.2.0 does not.
    typed_fields: bool,
    pub seen: Arc<Mutex<Seen>>,
    links: Arc<Mutex<BTreeMap<u64, mpsc::Sender<ToZone>>>>,
}

impl Gateway {
    pub fn new(id: &str) -> Gateway {
        Gateway {
            id: id.to_owned(),
            typed_fields: true,
            seen: Arc::default(),
            links: Arc::default(),
        }
    }

    /// Returns a gateway of release 0.2.0.
    pub fn of_release_0_2_0(id: &str) -> Gateway {
        Gateway {
            typed_fields: false,
            ..Gateway::new(id)
        }
    }

    pub fn read<T>(&self, read: impl FnOnce(&Seen) -> T) -> T {
        read(&self.seen.lock().unwrap())
    }

    /// Links with a run; shows all chunks of these regions.
    pub async fn link(&self, run: u64, address: &str, link: u64, regions: &[Region]) {
        let hello = Hello {
            gateway_id: self.id.clone(),
            link,
            run_id: run,
            typed_fields: self.typed_fields,
        };
        let begun = std::time::Instant::now();
        let (control, inbound) = loop {
            let (control, outbound) = mpsc::channel(1024);
            let first = to_zone::Message::Hello(hello.clone());
            control.send(wrap(first)).await.unwrap();
            let mut client = LinkClient::new(channel(address));
            match client.control(ReceiverStream::new(outbound)).await {
                Ok(inbound) => break (control, inbound),
                // The run is registered a moment before a gateway can link with it.
                Err(status) => assert!(begun.elapsed() < super::TIMEOUT, "{status}"),
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        self.links.lock().unwrap().insert(run, control);
        let gateway = self.clone();
        tokio::spawn(async move { gateway.read_control(run, inbound.into_inner()).await });
        let (subscribe, outbound) = mpsc::channel(16);
        let chunks = regions.iter().flat_map(|region| {
            let (x, z) = (region.x * 8, region.z * 8);
            (x..x + 8).flat_map(move |x| (z..z + 8).map(move |z| common::Chunk { x, z }))
        });
        let first = Subscribe {
            hello: Some(hello),
            add: chunks.collect(),
            remove: Vec::new(),
        };
        subscribe.send(first).await.unwrap();
        let mut client = LinkClient::new(channel(address)).max_decoding_message_size(64 << 20);
        let inbound = client.frames(ReceiverStream::new(outbound)).await.unwrap();
        let gateway = self.clone();
        tokio::spawn(async move {
            // Held so that the stream stays open.
            let _subscribe = subscribe;
            gateway.read_frames(run, inbound.into_inner()).await;
        });
    }

    async fn read_control(&self, run: u64, mut inbound: tonic::Streaming<FromZone>) {
        while let Ok(Some(FromZone { message })) = inbound.message().await {
            let mut seen = self.seen.lock().unwrap();
            match message.unwrap() {
                from_zone::Message::Welcome(_) => {}
                from_zone::Message::Attached(attached) => {
                    let who = attached.character_id.clone();
                    seen.attached.insert(who, (run, attached));
                }
                from_zone::Message::AttachRefused(refused) => seen.refused.push((run, refused)),
                from_zone::Message::Moved(moved) => seen.moved.push((run, moved)),
                from_zone::Message::Left(left) => seen.left.push((run, left)),
                from_zone::Message::RegionMoved(moved) => seen.regions_moved.push((run, moved)),
                from_zone::Message::InputLost(lost) => seen.lost.push((run, lost)),
            }
        }
        self.seen.lock().unwrap().closed.push(run);
    }

    async fn read_frames(&self, run: u64, mut inbound: tonic::Streaming<Frame>) {
        let mut chunks: BTreeMap<Chunk, BTreeSet<String>> = BTreeMap::new();
        while let Ok(Some(frame)) = inbound.message().await {
            let mut seen = self.seen.lock().unwrap();
            if frame.extra {
                let entered = frame.chunks.iter().flat_map(|chunk| &chunk.enter);
                let entered = entered.map(|entity| entity.id.clone());
                let sessions = frame.sessions.iter();
                let messages = sessions.flat_map(|session| &session.messages);
                let events = messages.map(|message| message.event.clone());
                seen.extras.push((entered.collect(), events.collect()));
            }
            for chunk in frame.chunks {
                let at = chunk.chunk.unwrap();
                let there = chunks.entry(Chunk { x: at.x, z: at.z }).or_default();
                if chunk.full {
                    let (x, z) = (at.x.div_euclid(8), at.z.div_euclid(8));
                    seen.regions.entry(run).or_default().insert(Region { x, z });
                    there.clear();
                }
                for leave in chunk.leave {
                    assert!(there.remove(&leave.id), "{} was not there", leave.id);
                    if leave.transferred {
                        seen.transferred.push((run, frame.tick, leave.id));
                    }
                }
                for enter in chunk.enter {
                    seen.entered.insert(enter.id.clone());
                    seen.fields.0 |= !enter.fields.is_empty();
                    seen.fields.1 |= !enter.typed_fields.is_empty();
                    assert!(there.insert(enter.id.clone()), "{} is there", enter.id);
                }
                for update in chunk.update {
                    assert!(there.contains(&update.id), "{} is not there", update.id);
                }
            }
            let items = chunks.values().flatten();
            let items = items.filter(|id| id.starts_with("item:")).cloned();
            seen.items.insert(run, items.collect());
            let players = chunks.values().flatten().filter(|id| !id.contains(':'));
            let players = players.cloned().collect();
            seen.standing
                .entry(run)
                .or_default()
                .insert(frame.tick, players);
            for session in frame.sessions {
                let word = Word {
                    tick: frame.tick,
                    run,
                    sequence: session.ownership_sequence,
                    position: session.position,
                    messages: session.messages,
                };
                seen.words
                    .entry(session.character_id)
                    .or_default()
                    .push(word);
            }
        }
    }

    /// Ends the link with a run.
    pub fn unlink(&self, run: u64) {
        self.links.lock().unwrap().remove(&run);
    }

    /// Says something to a run.
    pub async fn say(&self, run: u64, message: to_zone::Message) {
        let link = self.links.lock().unwrap()[&run].clone();
        link.send(wrap(message)).await.unwrap();
    }

    /// Says something to a run that only a newer zone knows.
    pub async fn say_what_is_newer(&self, run: u64) {
        let link = self.links.lock().unwrap()[&run].clone();
        link.send(ToZone { message: None }).await.unwrap();
    }

    pub async fn attach(&self, run: u64, who: &str, session_epoch: u64, attach: u64) {
        self.offer(run, who, (session_epoch, attach), None).await;
    }

    /// Attaches a session that was shown its character at a place.
    pub async fn offer(
        &self,
        run: u64,
        who: &str,
        (session_epoch, attach): (u64, u64),
        shown: Option<Shown>,
    ) {
        let attach = Attach {
            session_id: format!("session-{who}"),
            character_id: who.to_owned(),
            session_epoch,
            attach,
            last_input: 0,
            resume: false,
            shown,
        };
        self.say(run, to_zone::Message::Attach(attach)).await;
    }

    /// Attaches the session of the first login, as one that comes from another gateway.
    pub async fn resume(&self, run: u64, who: &str) {
        let attach = Attach {
            session_id: format!("session-{who}"),
            character_id: who.to_owned(),
            session_epoch: 1,
            resume: true,
            ..Attach::default()
        };
        self.say(run, to_zone::Message::Attach(attach)).await;
    }

    /// Reports that the socket of the first login is gone.
    pub async fn detach(&self, run: u64, who: &str, attach: u64) {
        let detach = Detach {
            session_id: format!("session-{who}"),
            character_id: who.to_owned(),
            session_epoch: 1,
            attach,
        };
        self.say(run, to_zone::Message::Detach(detach)).await;
    }

    pub async fn input(&self, run: u64, who: &str, number: u64, event: &str, data: String) {
        let input = input(who, number, event, data);
        self.say(run, to_zone::Message::Input(input)).await;
    }

    pub async fn walk(&self, run: u64, who: &str, number: u64, to: Tile) {
        let input = walk(who, number, to);
        self.say(run, to_zone::Message::Input(input)).await;
    }

    /// Returns the messages to a character, in order.
    pub fn messages(&self, who: &str) -> Vec<Private> {
        self.read(|seen| {
            let words = seen.words.get(who).into_iter().flatten();
            words.flat_map(|word| word.messages.clone()).collect()
        })
    }

    /// Attaches a session of somebody, as often as it takes: the region may be on its way from the
    /// store still.
    pub async fn enter(&self, run: u64, who: &str) {
        let mut attach = 0;
        while !self.read(|seen| seen.attached.contains_key(who)) {
            attach += 1;
            let refusals = self.read(|seen| seen.refused.len());
            self.attach(run, who, 1, attach).await;
            super::until("attached or refused", || {
                let answered =
                    |seen: &Seen| seen.attached.contains_key(who) || seen.refused.len() > refusals;
                self.read(answered)
            })
            .await;
        }
    }

    /// Returns a character's last position.
    pub fn position(&self, who: &str) -> Option<common::Tile> {
        self.read(|seen| {
            seen.words
                .get(who)?
                .iter()
                .rev()
                .find_map(|word| word.position)
        })
    }
}

fn wrap(message: to_zone::Message) -> ToZone {
    ToZone {
        message: Some(message),
    }
}

fn input(who: &str, number: u64, event: &str, data: String) -> Input {
    Input {
        session_id: format!("session-{who}"),
        character_id: who.to_owned(),
        session_epoch: 1,
        number,
        event: event.to_owned(),
        data: data.into(),
        id: Bytes::from(number.to_string()),
        traceparent: String::new(),
        attach: 0,
        ..Input::default()
    }
}

/// Returns the input of a walk.
pub fn walk(who: &str, number: u64, to: Tile) -> Input {
    let data = format!(r#"{{"target":{{"x":{},"z":{}}}}}"#, to.x, to.z);
    input(who, number, "player:move", data)
}
