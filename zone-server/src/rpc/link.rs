//! The link of a gateway: a control and a frame stream.
//!
//! Always: the first message names the gateway, the link and the run; a stream that says nothing
//! for [`HELLO_DEADLINE`] ends; the zone never drops a gateway's message in silence: it cuts a
//! link that it cannot hear.

use std::time::Duration;

use proto::rpc::zone::v1::{FromZone, Hello, Subscribe, ToZone, to_zone::Message as ToZoneMessage};
use service_runtime::rpc::{Caller, Role};
use service_runtime::telemetry::sampled;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use super::{Current, Living};
use crate::{
    deliver::{
        encoded::EncodedFrame,
        links::{CONTROL_MAX, ControlSender, FRAMES_MAX, FrameSender, LinkHalf},
        published::Fields,
    },
    mailbox::{Message, NotHeard},
};

#[allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::too_many_lines
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/tilestead.zone.v1.Link.rs"));
}
pub(crate) use generated::link_server::{Link, LinkServer};

const HELLO_DEADLINE: Duration = Duration::from_secs(5);

/// Answers gateways.
#[derive(Debug)]
pub(crate) struct LinkService(pub(crate) Current);

#[tonic::async_trait]
impl Link for LinkService {
    type ControlStream = ReceiverStream<Result<FromZone, Status>>;
    type FramesStream = ReceiverStream<Result<EncodedFrame, Status>>;

    async fn control(
        &self,
        request: Request<Streaming<ToZone>>,
    ) -> Result<Response<Self::ControlStream>, Status> {
        let living = self.0.get()?;
        let (sender, receiver) = mpsc::channel(CONTROL_MAX);
        let caller = Caller::of(&request);
        let tasks = living.tasks.clone();
        tasks.spawn("control stream", async move {
            read_control(&living, caller, request.into_inner(), sender).await;
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn frames(
        &self,
        request: Request<Streaming<Subscribe>>,
    ) -> Result<Response<Self::FramesStream>, Status> {
        let living = self.0.get()?;
        let (sender, receiver) = mpsc::channel(FRAMES_MAX);
        let caller = Caller::of(&request);
        let tasks = living.tasks.clone();
        tasks.spawn("frame stream", async move {
            read_frames(&living, caller, request.into_inner(), sender).await;
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

/// Returns the first message of a stream.
async fn first<T>(inbound: &mut Streaming<T>) -> Result<T, Status> {
    match tokio::time::timeout(HELLO_DEADLINE, inbound.message()).await {
        Ok(Ok(Some(first))) => Ok(first),
        Ok(Ok(None)) => Err(Status::invalid_argument(
            "the stream ended before its hello",
        )),
        Ok(Err(status)) => Err(status),
        Err(_) => Err(Status::deadline_exceeded("no hello in time")),
    }
}

fn check(hello: Option<Hello>, caller: Option<&Caller>, living: &Living) -> Result<Hello, Status> {
    let hello = hello.ok_or_else(|| Status::invalid_argument("the first message is hello"))?;
    if hello.run_id != living.run_id {
        let why = format!("this is run {}, not {}", living.run_id, hello.run_id);
        return Err(Status::failed_precondition(why));
    }
    if hello.gateway_id.is_empty() {
        return Err(Status::invalid_argument("the gateway has no id"));
    }
    Caller::check(caller, Role::Gateway, &hello.gateway_id)?;
    Ok(hello)
}

fn half<S>(hello: &Hello, sender: S) -> LinkHalf<S> {
    LinkHalf {
        gateway_id: hello.gateway_id.clone(),
        link: hello.link,
        fields: if hello.typed_fields {
            Fields::Typed
        } else {
            Fields::Json
        },
        sender,
        cut: CancellationToken::new(),
    }
}

async fn read_control(
    living: &Living,
    caller: Option<Caller>,
    mut inbound: Streaming<ToZone>,
    sender: ControlSender,
) {
    let hello = first(&mut inbound).await.and_then(|first| {
        let hello = match first.message {
            Some(ToZoneMessage::Hello(hello)) => Some(hello),
            Some(
                ToZoneMessage::Attach(_)
                | ToZoneMessage::Input(_)
                | ToZoneMessage::Detach(_)
                | ToZoneMessage::Recall(_),
            )
            | None => None,
        };
        check(hello, caller.as_ref(), living)
    });
    let hello = match hello {
        Ok(hello) => hello,
        Err(status) => {
            // A gateway that is gone already does not read the reason.
            let _ = sender.try_send(Err(status));
            return;
        }
    };
    let half = half(&hello, sender);
    let cut = half.cut.clone();
    let mut heard = living.mailbox.say(Message::Control(half)).await;
    while heard.is_ok() {
        let next = cut.run_until_cancelled(inbound.message()).await;
        let Some(Ok(Some(ToZone { message }))) = next else {
            break;
        };
        let Some(message) = message else {
            // A newer gateway sends it. The other messages of the link count all the same.
            if let Some(left_out) = sampled("an unknown message of a gateway", "control") {
                let gateway = &hello.gateway_id;
                tracing::warn!(
                    gateway,
                    left_out,
                    "this version does not know a gateway's message"
                );
            }
            continue;
        };
        let message = Message::Gateway {
            gateway_id: hello.gateway_id.clone(),
            link: hello.link,
            message: Box::new(message),
        };
        heard = living.mailbox.say(message).await;
    }
    ended(living, hello, heard).await;
}

async fn read_frames(
    living: &Living,
    caller: Option<Caller>,
    mut inbound: Streaming<Subscribe>,
    sender: FrameSender,
) {
    let first = first(&mut inbound).await;
    let opened = first.and_then(|mut first| {
        let hello = check(first.hello.take(), caller.as_ref(), living)?;
        Ok((hello, first))
    });
    let (hello, mut subscribe) = match opened {
        Ok(opened) => opened,
        Err(status) => {
            // A gateway that is gone already does not read the reason.
            let _ = sender.try_send(Err(status));
            return;
        }
    };
    let half = half(&hello, sender);
    let cut = half.cut.clone();
    let mut heard = living.mailbox.say(Message::Frames(half)).await;
    while heard.is_ok() {
        let message = Message::Subscribe {
            gateway_id: hello.gateway_id.clone(),
            link: hello.link,
            subscribe,
        };
        heard = living.mailbox.say(message).await;
        match cut.run_until_cancelled(inbound.message()).await {
            Some(Ok(Some(next))) => subscribe = next,
            _ => break,
        }
    }
    ended(living, hello, heard).await;
}

/// Ends both halves of a link together; a run that is over needs no message.
async fn ended(living: &Living, hello: Hello, heard: Result<(), NotHeard>) {
    if heard == Err(NotHeard::Full) {
        tracing::error!(
            gateway = hello.gateway_id,
            "the zone is overloaded; link cut"
        );
    }
    let over = Message::LinkEnded {
        gateway_id: hello.gateway_id,
        link: hello.link,
    };
    if living.mailbox.say(over).await == Err(NotHeard::Full) {
        tracing::error!("the end of a link was not heard");
    }
}
