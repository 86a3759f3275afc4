//! The links with gateways: a control and a frame stream each.
//!
//! Always: a newer link of a gateway replaces the older one; a gateway that does not read its
//! messages loses its link, and nobody waits for it; each queue is bounded.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proto::rpc::zone::v1::{FromZone, SessionFrame, from_zone::Message as FromZoneMessage};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::Status;
use world::Chunk;

use super::{
    encoded::EncodedFrame,
    published::{Fields, News, Published},
};

/// Frames that may wait for a gateway before the run cuts its link.
pub(crate) const FRAMES_MAX: usize = 16;
/// Control messages that may wait for a gateway before the run cuts its link.
pub(crate) const CONTROL_MAX: usize = 8192;
/// Chunks that one gateway may see here.
const CHUNKS_MAX: usize = 100_000;

/// The sending end of a control stream.
pub(crate) type ControlSender = mpsc::Sender<Result<FromZone, Status>>;
/// The sending end of a frame stream.
pub(crate) type FrameSender = mpsc::Sender<Result<EncodedFrame, Status>>;

/// One half of a link that came in, with the gateway and number of the link.
#[derive(Debug)]
pub(crate) struct LinkHalf<S> {
    pub(crate) gateway_id: String,
    pub(crate) link: u64,
    /// How the gateway reads fields; only the half for frames uses it.
    pub(crate) fields: Fields,
    pub(crate) sender: S,
    /// Cancelled when the link is over, so that its reader ends.
    pub(crate) cut: CancellationToken,
}

#[derive(Debug, Default)]
struct Link {
    number: u64,
    control: Option<ControlSender>,
    frames: Option<FrameSender>,
    /// Number of frames that went over the link.
    frames_sent: u64,
    fields: Fields,
    chunks: BTreeSet<Chunk>,
    /// Chunks of which the next frame holds a full record, and whether the gateway has nothing of
    /// them. It has something when a second task of the gateway asks for a chunk.
    fresh: BTreeMap<Chunk, bool>,
    readers: Vec<DropGuard>,
}

impl Link {
    /// Returns the changes of the chunks that the gateway has, encoded for it.
    fn seen<'a>(
        &'a self,
        changes: &'a BTreeMap<Chunk, News>,
    ) -> impl Iterator<Item = Bytes> + use<'a> {
        let has = |chunk: &Chunk| {
            self.chunks.contains(chunk) && self.fresh.get(chunk).is_none_or(|unseen| !unseen)
        };
        let seen = changes.iter().filter(move |(chunk, _)| has(chunk));
        seen.map(|(_, news)| news.encoded(self.fields))
    }
}

/// The cost of a tick's delivery.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
}

impl Sent {
    /// Counts and sends `frame`. Returns false when nobody takes it.
    fn send(&mut self, frames: &FrameSender, frame: EncodedFrame) -> bool {
        self.frames += 1;
        self.bytes += frame.chunks.iter().map(|c| c.len() as u64).sum::<u64>();
        frames.try_send(Ok(frame)).is_ok()
    }
}

/// All links of a run, by gateway.
#[derive(Debug, Default)]
pub(crate) struct Links {
    links: BTreeMap<String, Link>,
    /// Gateways whose links ended since the last call of [`Links::take_lost`].
    lost: Vec<String>,
}

impl Links {
    /// Takes in a control stream. Returns false if there is a newer link, or this half is there
    /// already.
    pub(crate) fn control(&mut self, half: LinkHalf<ControlSender>) -> bool {
        let Some(link) = self.join(&half.gateway_id, half.link) else {
            return false;
        };
        if link.control.is_some() {
            return false;
        }
        link.control = Some(half.sender);
        link.readers.push(half.cut.drop_guard());
        true
    }

    /// Takes in a frame stream. Returns false if there is a newer link, or this half is there
    /// already.
    pub(crate) fn frames(&mut self, half: LinkHalf<FrameSender>) -> bool {
        let Some(link) = self.join(&half.gateway_id, half.link) else {
            return false;
        };
        if link.frames.is_some() {
            return false;
        }
        link.frames = Some(half.sender);
        link.fields = half.fields;
        link.readers.push(half.cut.drop_guard());
        true
    }

    /// Ends a link of which one half has ended.
    pub(crate) fn ended(&mut self, gateway_id: &str, number: u64) {
        if self.current(gateway_id, number) {
            self.cut(gateway_id);
        }
    }

    /// Returns whether this is the link that the gateway has now.
    pub(crate) fn current(&self, gateway_id: &str, number: u64) -> bool {
        self.links
            .get(gateway_id)
            .is_some_and(|link| link.number == number)
    }

    /// Returns whether a gateway has both halves here.
    pub(crate) fn linked(&self, gateway_id: &str) -> bool {
        let whole = |link: &Link| link.control.is_some() && link.frames.is_some();
        self.links.get(gateway_id).is_some_and(whole)
    }

    /// Returns whether the gateway has a control stream, which carries messages that cannot wait
    /// for a tick.
    pub(crate) fn hears(&self, gateway_id: &str) -> bool {
        let link = self.links.get(gateway_id);
        link.is_some_and(|link| link.control.is_some())
    }

    /// Returns the number of frames that went over a gateway's link.
    pub(crate) fn frames_sent(&self, gateway_id: &str) -> u64 {
        let link = self.links.get(gateway_id);
        link.map_or(0, |link| link.frames_sent)
    }

    /// Returns the number of linked gateways.
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    /// Returns the gateways that lost their links since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lost)
    }

    /// Changes the set of chunks that a gateway sees.
    pub(crate) fn subscribe(
        &mut self,
        gateway_id: &str,
        number: u64,
        add: impl IntoIterator<Item = Chunk>,
        remove: impl IntoIterator<Item = Chunk>,
    ) {
        if !self.current(gateway_id, number) {
            return;
        }
        let Some(link) = self.links.get_mut(gateway_id) else {
            return;
        };
        for chunk in remove {
            link.chunks.remove(&chunk);
            link.fresh.remove(&chunk);
        }
        for chunk in add {
            let new = link.chunks.insert(chunk);
            link.fresh
                .entry(chunk)
                .and_modify(|unseen| *unseen |= new)
                .or_insert(new);
        }
        if link.chunks.len() > CHUNKS_MAX {
            tracing::warn!(
                gateway = gateway_id,
                "gateway subscribes to too much; link cut"
            );
            self.cut(gateway_id);
        }
    }

    /// Sends a gateway a message that cannot wait for a tick. Returns false when it has no link.
    pub(crate) fn tell(&mut self, gateway_id: &str, message: FromZoneMessage) -> bool {
        let link = self.links.get(gateway_id);
        let Some(control) = link.and_then(|link| link.control.as_ref()) else {
            return false;
        };
        let message = FromZone {
            message: Some(message),
        };
        if control.try_send(Ok(message)).is_ok() {
            return true;
        }
        tracing::warn!(gateway = gateway_id, "gateway does not read; link cut");
        self.cut(gateway_id);
        false
    }

    /// Sends all gateways a message that cannot wait for a tick.
    pub(crate) fn tell_all(&mut self, message: &FromZoneMessage) {
        let gateways: Vec<String> = self.links.keys().cloned().collect();
        for gateway_id in gateways {
            self.tell(&gateway_id, message.clone());
        }
    }

    /// Sends each gateway its frame of a tick.
    pub(crate) fn publish(
        &mut self,
        run_id: u64,
        tick: u64,
        changes: &BTreeMap<Chunk, News>,
        published: &mut Published,
        mut sessions: BTreeMap<String, Vec<SessionFrame>>,
    ) -> Sent {
        let mut sent = Sent::default();
        let mut deaf = Vec::new();
        for (gateway_id, link) in &mut self.links {
            let Some(frames) = &link.frames else {
                continue;
            };
            let mut chunks: Vec<Bytes> = Vec::new();
            for chunk in link.fresh.keys() {
                chunks.push(published.full(*chunk).encoded(link.fields));
            }
            chunks.extend(link.seen(changes));
            link.fresh.clear();
            let frame = EncodedFrame {
                run_id,
                tick,
                chunks,
                sessions: sessions.remove(gateway_id).unwrap_or_default(),
                extra: false,
            };
            link.frames_sent += 1;
            if !sent.send(frames, frame) {
                deaf.push(gateway_id.clone());
            }
        }
        self.cut_deaf(deaf);
        sent
    }

    /// Sends changes that cannot wait for the next tick's frame to the gateways that they concern.
    pub(crate) fn extra(
        &mut self,
        run_id: u64,
        tick: u64,
        changes: &BTreeMap<Chunk, News>,
        mut sessions: BTreeMap<String, Vec<SessionFrame>>,
    ) -> Sent {
        let mut sent = Sent::default();
        let mut deaf = Vec::new();
        for (gateway_id, link) in &mut self.links {
            let Some(frames) = &link.frames else {
                continue;
            };
            // A chunk that the link has not shown at all yet comes whole with the next tick.
            let frame = EncodedFrame {
                run_id,
                tick,
                chunks: link.seen(changes).collect(),
                sessions: sessions.remove(gateway_id).unwrap_or_default(),
                extra: true,
            };
            if frame.chunks.is_empty() && frame.sessions.is_empty() {
                continue;
            }
            link.frames_sent += 1;
            if !sent.send(frames, frame) {
                deaf.push(gateway_id.clone());
            }
        }
        self.cut_deaf(deaf);
        sent
    }

    fn cut_deaf(&mut self, deaf: Vec<String>) {
        for gateway_id in deaf {
            tracing::warn!(gateway = gateway_id, "gateway is frames behind; link cut");
            self.cut(&gateway_id);
        }
    }

    fn join(&mut self, gateway_id: &str, number: u64) -> Option<&mut Link> {
        let known = self.links.get(gateway_id).map(|link| link.number);
        match known {
            Some(known) if known > number => return None,
            Some(known) if known < number => self.cut(gateway_id),
            _ => {}
        }
        let link = self.links.entry(gateway_id.to_owned()).or_default();
        link.number = number;
        Some(link)
    }

    fn cut(&mut self, gateway_id: &str) {
        if self.links.remove(gateway_id).is_some() {
            self.lost.push(gateway_id.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half<S>(link: u64, sender: S) -> LinkHalf<S> {
        LinkHalf {
            gateway_id: "g".to_owned(),
            link,
            fields: Fields::Typed,
            sender,
            cut: CancellationToken::new(),
        }
    }

    #[test]
    fn a_gateway_that_does_not_read_loses_its_link() {
        let (control, _control) = mpsc::channel(1);
        let (frames, mut reader) = mpsc::channel(FRAMES_MAX);
        let mut links = Links::default();
        assert!(links.control(half(1, control)) && links.frames(half(1, frames)));
        assert!(links.linked("g"));
        let mut published = Published::default();
        for tick in 0..=FRAMES_MAX as u64 {
            assert!(links.linked("g"), "at {tick}");
            links.publish(1, tick, &BTreeMap::new(), &mut published, BTreeMap::new());
        }
        assert!(!links.linked("g"));
        assert_eq!(links.take_lost(), ["g"]);
        for tick in 0..FRAMES_MAX as u64 {
            assert_eq!(reader.try_recv().unwrap().unwrap().tick, tick);
        }
        assert!(reader.try_recv().is_err());
    }

    #[test]
    fn a_newer_link_replaces_the_older_and_ends_its_readers() {
        let mut links = Links::default();
        let (old, _old) = mpsc::channel(1);
        let older = half(1, old);
        let cut = older.cut.clone();
        assert!(links.control(older));
        let (new, _new) = mpsc::channel(1);
        assert!(links.control(half(2, new)));
        assert!(cut.is_cancelled());
        let (late, _late) = mpsc::channel(1);
        assert!(!links.frames(half(1, late)));
        links.ended("g", 1);
        assert!(links.current("g", 2));
    }

    #[test]
    fn a_new_subscription_gets_the_full_record_once_and_changes_after() {
        let (frames, mut reader) = mpsc::channel(FRAMES_MAX);
        let mut links = Links::default();
        assert!(links.frames(half(1, frames)));
        let mut published = Published::default();
        let chunk = Chunk { x: 0, z: 0 };
        published.moment(chunk, &BTreeMap::new());
        let changes = published.flush();
        let change = changes[&chunk].encoded(Fields::Typed);
        links.subscribe("g", 1, [chunk], []);
        for tick in 0..2 {
            links.publish(1, tick, &changes, &mut published, BTreeMap::new());
        }
        let first = reader.try_recv().unwrap().unwrap();
        assert_eq!(first.chunks, [published.full(chunk).encoded(Fields::Typed)]);
        let second = reader.try_recv().unwrap().unwrap();
        assert_eq!(second.chunks, [change]);
        links.subscribe("g", 1, [], [chunk]);
        links.publish(1, 2, &changes, &mut published, BTreeMap::new());
        assert!(reader.try_recv().unwrap().unwrap().chunks.is_empty());
    }

    #[test]
    fn a_chunk_asked_for_again_comes_whole_and_with_its_changes() {
        let (frames, mut reader) = mpsc::channel(FRAMES_MAX);
        let mut links = Links::default();
        assert!(links.frames(half(1, frames)));
        let mut published = Published::default();
        let chunk = Chunk { x: 0, z: 0 };
        published.moment(chunk, &BTreeMap::new());
        let changes = published.flush();
        let change = changes[&chunk].encoded(Fields::Typed);
        links.subscribe("g", 1, [chunk], []);
        links.publish(1, 0, &changes, &mut published, BTreeMap::new());
        links.subscribe("g", 1, [chunk], []);
        links.extra(1, 0, &changes, BTreeMap::new());
        links.publish(1, 1, &changes, &mut published, BTreeMap::new());
        let full = published.full(chunk).encoded(Fields::Typed);
        let mut heard = Vec::new();
        while let Ok(frame) = reader.try_recv() {
            heard.push(frame.unwrap().chunks);
        }
        // The second is the news between two ticks.
        let again = vec![full.clone(), change.clone()];
        assert_eq!(heard, [vec![full], vec![change], again]);
    }
}
