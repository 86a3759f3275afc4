//! The pair of streams with one run: Control and Frames over two connections, so that a burst of
//! frames cannot delay urgent messages.
//!
//! Always: both streams live and die together; the gateway takes every message at once, and none
//! waits for a client.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures::{Stream, stream::unfold};
use proto::rpc::zone::v1::{
    self as wire, Hello, Subscribe, from_zone, link_client::LinkClient, to_zone,
};
use service_runtime::rpc::{self, Backoff, Role, Trust};
use tokio::{sync::mpsc, time::sleep};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;

use super::{
    asked::Asked,
    attach,
    fan_out::{Ended, FanOutTasks},
    session::to_zone,
    table::Table,
    witness::{Silent, Witness, is_reset},
};
use crate::directory::Directory;

/// Maximum number of control messages that wait for the network.
const CONTROL_WAIT_MAX: usize = 4096;
/// Time for which inputs gather before they go to a run together. A run plays them at its next tick,
/// which is up to 600 ms away.
const GATHER: Duration = Duration::from_millis(5);
/// Maximum number of subscriptions that wait for the network.
const SUBSCRIBE_WAIT_MAX: usize = 64;
/// Maximum size of a frame, which may show a crowd.
const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest silence of a run that ticks: a run sends a frame every 600 ms.
const SILENCE: Duration = Duration::from_secs(5);

/// Time within which a character that went to another run before its own was lost gets its answers,
/// or never. Its inputs went along, and wait for two ticks at most.
const ANSWERED_WITHIN: Duration = Duration::from_secs(3);

/// Keeps the streams with one run, again and again, until `stop`.
pub(super) struct Pair {
    pub(super) run: u64,
    pub(super) address: String,
    pub(super) trust: Trust,
    pub(super) gateway_id: String,
    pub(super) table: Arc<Table>,
    pub(super) directory: Arc<Directory>,
    pub(super) frames: FanOutTasks,
    pub(super) witness: Arc<Witness>,
    pub(super) stop: CancellationToken,
}

struct Streams {
    control: Streaming<wire::FromZone>,
    frames: Streaming<wire::Frame>,
    to_zone: mpsc::Sender<wire::ToZone>,
    subscribe: mpsc::Sender<Subscribe>,
}

/// Returns a number greater than every one used before, by earlier lives of this gateway too.
fn next_number(last: u64) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(0).max(last + 1)
}

/// Returns the messages for a run. A lone input waits for others, because each write to the network
/// costs as much as dozens of inputs.
fn gathered(messages: mpsc::Receiver<wire::ToZone>) -> impl Stream<Item = wire::ToZone> {
    unfold(messages, async |mut messages| {
        if let Ok(message) = messages.try_recv() {
            return Some((message, messages));
        }
        let message = messages.recv().await?;
        if matches!(message.message, Some(to_zone::Message::Input(_))) {
            sleep(GATHER).await;
        }
        Some((message, messages))
    })
}

impl Pair {
    pub(super) async fn keep(self) {
        let mut backoff = Backoff::new();
        let mut number = 0;
        let mut was_well = true;
        loop {
            number = next_number(number);
            let lived = Instant::now();
            let Err(error) = self.once(number).await;
            if self.stop.is_cancelled() {
                return;
            }
            if lived.elapsed() > SILENCE {
                backoff.reset();
                was_well = true;
            }
            if was_well {
                let (run, address) = (self.run, &self.address);
                tracing::warn!(
                    run,
                    address,
                    error = format!("{error:#}"),
                    "no link with a zone"
                );
                was_well = false;
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = backoff.wait() => {}
            }
        }
    }

    /// Opens one pair of streams and keeps it to its end.
    async fn once(&self, number: u64) -> anyhow::Result<Infallible> {
        let opening = tokio::time::timeout(rpc::DEADLINE, self.open(number));
        let streams = tokio::select! {
            () = self.stop.cancelled() => anyhow::bail!("stopped"),
            opened = opening => opened??,
        };
        tracing::info!(run = self.run, address = %self.address, "linked with a zone");
        self.table.link_up(self.run, number, streams.to_zone);
        let link = (self.run, number);
        let asked = self.frames.up(link, streams.subscribe).await;
        let frames = streams.frames;
        let watching = async {
            match asked {
                Ok(asked) => self.watch(number, &asked, frames).await,
                // Only a gateway that ends has no fan-out any more.
                Err(Ended) => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            () = self.stop.cancelled() => Ok(()),
            ended = self.hear(streams.control) => ended,
            ended = watching => ended,
        };
        for lost in self.table.link_down(self.run, number) {
            attach::recover(&self.table, &self.directory, lost);
        }
        let (table, run) = (Arc::clone(&self.table), self.run);
        self.table
            .tasks
            .spawn("answers of a lost link", async move {
                tokio::time::sleep(ANSWERED_WITHIN).await;
                table.never_answered(run, number);
            });
        if ended.as_ref().is_err_and(is_reset) {
            let (witness, run) = (Arc::clone(&self.witness), self.run);
            let address = self.address.clone();
            self.table
                .tasks
                .spawn("witness", async move { witness.look(run, &address).await });
        }
        self.frames.down(link).await;
        ended?;
        anyhow::bail!("the zone ended the link")
    }

    async fn open(&self, number: u64) -> anyhow::Result<Streams> {
        let hello = Hello {
            gateway_id: self.gateway_id.clone(),
            link: number,
            run_id: self.run,
            typed_fields: true,
        };
        let (to_zone, control_out) = mpsc::channel(CONTROL_WAIT_MAX);
        let (subscribe, frames_out) = mpsc::channel(SUBSCRIBE_WAIT_MAX);
        to_zone.try_send(self::to_zone(to_zone::Message::Hello(hello.clone())))?;
        subscribe.try_send(Subscribe {
            hello: Some(hello),
            ..Default::default()
        })?;
        let channel = || self.trust.channel(Role::Zone, &self.address);
        let mut control = LinkClient::new(channel()?);
        let mut frames = LinkClient::new(channel()?).max_decoding_message_size(FRAME_BYTES_MAX);
        let (control, frames) = tokio::try_join!(
            control.control(gathered(control_out)),
            frames.frames(ReceiverStream::new(frames_out)),
        )?;
        let (mut control, frames) = (control.into_inner(), frames.into_inner());
        let first = control.message().await?.and_then(|first| first.message);
        match first {
            Some(from_zone::Message::Welcome(welcome)) if welcome.run_id == self.run => {}
            Some(from_zone::Message::Welcome(welcome)) => {
                anyhow::bail!("run {} answers at that address", welcome.run_id)
            }
            Some(
                from_zone::Message::Attached(_)
                | from_zone::Message::AttachRefused(_)
                | from_zone::Message::Moved(_)
                | from_zone::Message::Left(_)
                | from_zone::Message::RegionMoved(_)
                | from_zone::Message::InputLost(_),
            )
            | None => anyhow::bail!("the zone did not begin with a welcome"),
        }
        Ok(Streams {
            control,
            frames,
            to_zone,
            subscribe,
        })
    }

    async fn hear(&self, mut control: Streaming<wire::FromZone>) -> anyhow::Result<()> {
        while let Some(message) = control.message().await? {
            if let Some(lost) = self.table.hear(self.run, message) {
                attach::recover(&self.table, &self.directory, lost);
            }
        }
        Ok(())
    }

    async fn watch(
        &self,
        number: u64,
        asked: &Asked,
        mut frames: Streaming<wire::Frame>,
    ) -> anyhow::Result<()> {
        loop {
            let frame = tokio::time::timeout(SILENCE, frames.message()).await;
            let Ok(frame) = frame else {
                return Err(Silent(SILENCE).into());
            };
            let Some(mut frame) = frame? else {
                return Ok(());
            };
            if frame.run_id != self.run {
                anyhow::bail!("run {} sends frames from that address", frame.run_id);
            }
            let received = Instant::now();
            let private = std::mem::take(&mut frame.sessions);
            let (tick, extra) = (frame.tick, frame.extra);
            for lost in self.table.framed(self.run, tick, extra, private) {
                attach::recover(&self.table, &self.directory, lost);
            }
            let link = (self.run, number);
            let shared = self.frames.frame(link, asked, frame, received).await;
            if shared.is_err() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::StreamExt;

    use super::*;

    fn input(number: u64) -> wire::ToZone {
        to_zone(to_zone::Message::Input(wire::Input {
            number,
            ..wire::Input::default()
        }))
    }

    fn detach() -> wire::ToZone {
        to_zone(to_zone::Message::Detach(wire::Detach::default()))
    }

    #[tokio::test(start_paused = true)]
    async fn inputs_gather_and_all_goes_out_in_order() {
        let (sender, messages) = mpsc::channel(8);
        let mut out = pin!(gathered(messages));
        let began = tokio::time::Instant::now();
        sender.try_send(detach()).unwrap();
        assert_eq!(out.next().await, Some(detach()));
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing else waits");
        let mut next = pin!(out.next());
        assert!(futures::poll!(&mut next).is_pending());
        sender.try_send(input(1)).unwrap();
        assert!(futures::poll!(&mut next).is_pending(), "a lone input waits");
        for message in [input(2), detach(), input(3)] {
            sender.try_send(message).unwrap();
        }
        assert_eq!(next.await, Some(input(1)));
        let took = began.elapsed();
        assert!(took >= GATHER, "{took:?}");
        for message in [input(2), detach(), input(3)] {
            assert_eq!(out.next().await, Some(message));
        }
        assert_eq!(began.elapsed(), took, "those behind it wait no more");
        drop(sender);
        assert_eq!(out.next().await, None);
    }
}
