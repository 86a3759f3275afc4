//! Messages of a client: counted, read, checked for the present stage, and passed on.

use std::time::Duration;

use bytes::Bytes;
use proto::client::{
    ClientMessage, CloseCode, ErrorCode, Format, Malformed, Message, Request, RequestId,
    ZoneRequest, decode, session::Pong,
};
use proto::rpc::social::v1::change_request::Change;

use super::{Flow, Session, limits::Verdict, state};
use crate::{clock, social::keeper::FriendsRequest, socket::Inbound};

/// Longest text that names a request, in bytes.
const ID_BYTES_MAX: usize = 64;
/// Length up to which the session reads a refused message for its id, in bytes.
const LOOK_BYTES_MAX: usize = 2048;

impl Session {
    pub(super) async fn inbound(&mut self, inbound: Inbound) -> Flow {
        match inbound {
            Inbound::Message { text, bytes } => self.message(text, bytes).await,
            Inbound::Ping(payload) => {
                if self.mailbox.pong(payload) {
                    return Flow::On;
                }
                self.shut(CloseCode::Policy, "too many pings").await
            }
            Inbound::Closed(code) => {
                self.shut(CloseCode::Normal, "goodbye").await;
                // A client that closes normally is done; any other may come back.
                if code == Some(1000) {
                    Flow::End
                } else {
                    Flow::Lost
                }
            }
            Inbound::Broken(code, why) => {
                self.shut(code, why).await;
                Flow::Lost
            }
            Inbound::Ended => Flow::Lost,
        }
    }

    async fn message(&mut self, text: bool, bytes: Bytes) -> Flow {
        match self.count_message() {
            Verdict::Pass => {}
            Verdict::Refuse(wait) => {
                self.too_often(text, &bytes, wait);
                return Flow::On;
            }
            Verdict::Block(wait) => {
                self.too_often(text, &bytes, wait);
                let reason = "more than 60 messages a second for 10 s";
                return self.shut(CloseCode::RateLimited, reason).await;
            }
        }
        match self.read(text, &bytes) {
            Ok(request) => self.request(request).await,
            Err(malformed) => self.malformed(malformed).await,
        }
    }

    fn count_message(&mut self) -> Verdict {
        let now = clock::instant();
        match self
            .account
            .as_ref()
            .and_then(|account| account.budget.as_ref())
        {
            Some(budget) => budget.message(now),
            None => self
                .limits
                .fresh
                .pass(now)
                .map_or_else(Verdict::Refuse, |()| Verdict::Pass),
        }
    }

    fn too_often(&self, text: bool, bytes: &Bytes, wait: Duration) {
        let read = (bytes.len() <= LOOK_BYTES_MAX).then(|| self.read(text, bytes));
        let (id, event) = match read {
            Some(Ok(request)) => (request.id, Some(request.message.name().to_owned())),
            Some(Err(malformed)) => (malformed.id, malformed.event),
            None => (None, None),
        };
        self.app.metrics.message("any", "rate_limited");
        let code = ErrorCode::RateLimited;
        self.refuse_with(id, event, code, code.sentence(), Some(wait));
    }

    fn read(&self, text: bool, bytes: &Bytes) -> Result<Request, Malformed> {
        let format = self
            .socket
            .as_ref()
            .map_or(Format::Json, |socket| socket.screen.format);
        if text != format.is_text() {
            return Err(Malformed {
                id: None,
                event: None,
                code: ErrorCode::WrongEncoding,
                why: match format {
                    Format::Json => "this connection speaks JSON in text frames".to_owned(),
                    Format::MessagePack | Format::Compact => {
                        "this connection speaks MessagePack in binary frames".to_owned()
                    }
                },
            });
        }
        let request = decode(format, bytes)?;
        match &request.id {
            Some(RequestId::Text(id)) if id.len() > ID_BYTES_MAX => Err(Malformed {
                id: None,
                event: Some(request.message.name().to_owned()),
                code: ErrorCode::Malformed,
                why: format!("id: at most {ID_BYTES_MAX} bytes"),
            }),
            _ => Ok(request),
        }
    }

    async fn malformed(&mut self, malformed: Malformed) -> Flow {
        let Malformed {
            id,
            event,
            code,
            why,
        } = malformed;
        self.app.metrics.message("any", code.wire());
        let id = id.filter(|id| !matches!(id, RequestId::Text(text) if text.len() > ID_BYTES_MAX));
        let event = event.filter(|event| event.len() <= ID_BYTES_MAX);
        self.refuse_with(id, event, code, &why, None);
        self.count_malformed(1).await
    }

    /// Counts messages that nobody could read, and closes the socket if there are too many.
    pub(super) async fn count_malformed(&mut self, messages: usize) -> Flow {
        let now = clock::instant();
        if (0..messages).all(|_| self.limits.malformed.pass(now).is_ok()) {
            return Flow::On;
        }
        self.shut(
            CloseCode::Malformed,
            "20 messages in 10 s could not be read",
        )
        .await
    }

    async fn request(&mut self, request: Request) -> Flow {
        let Request { id, message } = request;
        let event = message.name();
        let may = match self.may_say(&message) {
            true => state::welcome(self.stage, message.needs()),
            false => Err(ErrorCode::WrongScope),
        };
        if let Err(code) = may {
            self.app.metrics.message(event, code.wire());
            self.refuse(id, event, code);
            return Flow::On;
        }
        self.app.metrics.message(event, "passed");
        match message {
            Message::Zone(request) => {
                self.to_zone(id, request);
                Flow::On
            }
            Message::Gateway(message) => self.own(id, event, message).await,
        }
    }

    /// Answers a request itself.
    async fn own(
        &mut self,
        id: Option<RequestId>,
        event: &'static str,
        message: ClientMessage,
    ) -> Flow {
        match message {
            ClientMessage::Ping(ping) => self.answer(
                id,
                &Pong {
                    t: ping.t,
                    server_time: clock::now_iso(),
                    tick: self.app.zones.last_tick(),
                },
            ),
            ClientMessage::Authenticate(data) => return self.authenticate(id, data).await,
            ClientMessage::Resume(data) => return self.ask_resume(id, data).await,
            ClientMessage::AdminElevate(data) => self.elevate(id, data).await,
            ClientMessage::AdminCommand(data) => self.operate(id, data).await,
            ClientMessage::CharacterList(_) => self.list_characters(id, event).await,
            ClientMessage::CharacterCreate(data) => self.create_character(id, data).await,
            ClientMessage::CharacterDelete(data) => {
                self.delete_character(id, &data.character_id).await;
            }
            ClientMessage::WorldEnter(data) => return self.enter(id, data.character_id).await,
            ClientMessage::WorldWatch(data) => self.watch(id, data).await,
            ClientMessage::Chat(chat) => self.chat(id, chat),
            ClientMessage::FriendsList(_) => self.befriend(id, event, FriendsRequest::List),
            ClientMessage::RequestFriend(ask) => {
                self.change_lists(id, event, Change::Request(ask.name))
            }
            ClientMessage::AcceptFriend(ask) => {
                self.change_lists(id, event, Change::Accept(ask.request_id))
            }
            ClientMessage::DeclineFriend(ask) => {
                self.change_lists(id, event, Change::Decline(ask.request_id))
            }
            ClientMessage::RemoveFriend(ask) => {
                self.change_lists(id, event, Change::Remove(ask.friend_id))
            }
            ClientMessage::Ignore(ask) => self.change_lists(id, event, Change::Ignore(ask.name)),
            ClientMessage::Unignore(ask) => {
                self.change_lists(id, event, Change::Unignore(ask.ignored_id))
            }
            // The zone ends the stay.
            ClientMessage::WorldLeave(_) => self.to_zone(
                id,
                ZoneRequest {
                    event,
                    data: Bytes::from_static(b"{}"),
                    format: Format::Json,
                },
            ),
        }
        Flow::On
    }
}
