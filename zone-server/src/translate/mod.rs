//! Between what the processes say and what the world means. `world` defines its messages itself;
//! here is what they mean for a run: answers, errors, encounters, records of the store.

pub(crate) mod agent;
mod arrivals;
pub(crate) mod duel;
pub(crate) mod look;
pub(crate) mod operator;
pub(crate) mod record;
pub(crate) mod refusal;
mod request;
pub(crate) mod sync;
pub(crate) mod trade;
pub(crate) mod value;
pub(crate) mod visit;

use bytes::Bytes;
use proto::{
    client::{
        ErrorCode, Format, ServerEvent,
        admin::OPERATOR_TELEPORT,
        data_json,
        error::Error,
        exchange::{DuelError, TradeError},
        session::{Ack, WORLD_LEAVE},
    },
    rpc::zone::v1::{Encounter, Input, Notification, Private},
};
use world::{
    CharacterId, Content, EntityId, Event, Intent, Player, PlayerRecord, Refusal, Screen,
    content::EquipSlot,
    equipment,
    item::SLOTS,
    pack::{self, told::CoinsUpdate},
    told::{Message, Recipient},
    training,
};

use crate::deliver::held::Holdings;

/// The request of an input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    /// Something that the world decides.
    Intent(Intent),
    /// To leave the world, in order.
    Leave,
}

/// Why an input is refused before the world sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: ErrorCode,
    pub(crate) words: String,
}

/// Takes in the data of an input, which a gateway passes on as they came: as JSON text from now on.
///
/// # Errors
/// The data are no MessagePack.
pub(crate) fn take_in(input: Input) -> Result<Input, Box<(Input, Refused)>> {
    if !input.message_pack {
        return Ok(input);
    }
    match data_json(Format::MessagePack, input.data.clone()) {
        Ok(data) => Ok(Input {
            data,
            message_pack: false,
            ..input
        }),
        Err(words) => {
            let code = ErrorCode::Malformed;
            Err(Box::new((input, Refused { code, words })))
        }
    }
}

/// Reads the request of a player. Never panics, whatever the bytes.
pub(crate) fn request(input: &Input) -> Result<Request, Refused> {
    if input.event == OPERATOR_TELEPORT {
        return operator::teleport(&input.data).map(Request::Intent);
    }
    if input.event == WORLD_LEAVE {
        return Ok(Request::Leave);
    }
    let shown = if input.shows_confirm {
        Screen::Confirm
    } else {
        Screen::Offer
    };
    let intent = Intent::read(&input.event, &input.data, shown);
    intent.map(Request::Intent).map_err(refusal::bad_request)
}

/// Answers a request that was not read, or that the world refuses whatever its state. Data that do
/// not fit count against the session.
pub(crate) fn bad_request(input: &Input, why: Refused) -> Private {
    let unread = matches!(
        why.code,
        ErrorCode::InvalidData | ErrorCode::Malformed | ErrorCode::UnknownEvent
    );
    if !unread {
        return error(input, why);
    }
    Private {
        malformed: true,
        ..plain_error(input, why)
    }
}

/// The word to a player on an event. `value`: it tells of value, and waits until that is saved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// The input of this number was followed.
    Done { number: u64, value: bool },
    /// The world refused the input of this number.
    Refused {
        number: u64,
        why: Refused,
        value: bool,
    },
    /// A message of its own.
    Message { message: Private, value: bool },
    /// The world followed the input of this number, and this message answers it.
    Answered { number: u64, message: Private },
    /// The input of this number is to be played again where `target` is.
    Elsewhere { number: u64, target: EntityId },
    /// The input of this number is to be played after one that goes elsewhere.
    Deferred { number: u64 },
    /// The player stands in the world now.
    Joined,
    /// The player could not come in.
    TurnedAway(Refusal),
}

impl From<Message> for Told {
    fn from(message: Message) -> Told {
        Told::Message {
            message: Private {
                event: message.event.to_owned(),
                data: message.data.into(),
                ..Private::default()
            },
            value: message.of_value,
        }
    }
}

/// Returns what an event means for the run or for its player; `None`: nothing. `record`: the
/// player's own, for messages that show its state.
pub(crate) fn told(
    event: &Event,
    record: Option<&PlayerRecord>,
    content: &Content,
) -> Option<Told> {
    match event {
        Event::Request(event) => Some(request::told(event)),
        Event::Arrivals(event) => Some(arrivals::told(event)),
        Event::Trade(world::trade::Event::Asked { number, ack, .. }) => Some(Told::Answered {
            number: *number,
            message: trade::asked(ack),
        }),
        Event::Movement(_)
        | Event::Vitals(_)
        | Event::HomeTeleport(_)
        | Event::Examine(_)
        | Event::Pack(_)
        | Event::Equipment(_)
        | Event::Bank(_)
        | Event::Visit(_)
        | Event::Dialogue(_)
        | Event::Quests(_)
        | Event::Shop(_)
        | Event::Skilling(_)
        | Event::Training(_)
        | Event::Combat(_)
        | Event::Prayer(_)
        | Event::Death(_)
        | Event::Trade(_)
        | Event::Duel(_)
        | Event::Emotes(_) => event
            .message(&Recipient { record, content })
            .map(Told::from),
    }
}

/// Returns the encounter that an event concerns, if any. `account` names the account of a player
/// who asks.
pub(crate) fn encounter(
    event: &Event,
    account: impl FnOnce(&CharacterId) -> String,
) -> Option<Encounter> {
    match event {
        Event::Trade(event) => trade::encounter(event, account),
        Event::Duel(event) => duel::encounter(event, account),
        Event::Request(_)
        | Event::Arrivals(_)
        | Event::Movement(_)
        | Event::Vitals(_)
        | Event::HomeTeleport(_)
        | Event::Examine(_)
        | Event::Pack(_)
        | Event::Equipment(_)
        | Event::Bank(_)
        | Event::Visit(_)
        | Event::Dialogue(_)
        | Event::Quests(_)
        | Event::Shop(_)
        | Event::Skilling(_)
        | Event::Training(_)
        | Event::Combat(_)
        | Event::Prayer(_)
        | Event::Death(_)
        | Event::Emotes(_) => None,
    }
}

/// Shows a player everything of its own: a `player:sync`; of one whose region is on its way to
/// another run, what it has of value.
pub(crate) fn resync(
    player: Option<&Player>,
    has: &Holdings,
    tick: u64,
    content: &Content,
) -> Vec<Private> {
    if let Some(player) = player {
        let sync = sync::sync(player.record(), player.chosen_look(), has, tick, content);
        return vec![private(&sync, Bytes::new())];
    }
    let slots: Vec<u8> = (0..SLOTS).collect();
    let pack = pack::told::update(&has.inventory, &slots);
    let pouch = CoinsUpdate { coins: has.coins };
    let skills = has.skills.iter();
    let skills = skills.map(|(skill, now)| {
        let shown = training::told::has(*skill, *now);
        private(&shown, Bytes::new())
    });
    let worn = equipment::told::update(&has.equipment, EquipSlot::ALL);
    let things = [
        private(&pack, Bytes::new()),
        private(&pouch, Bytes::new()),
        private(&worn, Bytes::new()),
    ];
    things.into_iter().chain(skills).collect()
}

/// Returns a message for one session; `re`: the request that it answers.
pub(crate) fn private<T: ServerEvent>(data: &T, re: Bytes) -> Private {
    Private {
        event: T::NAME.to_owned(),
        data: proto::encode::json(data).into(),
        re,
        only_answers: [Ack::NAME, Error::NAME, TradeError::NAME, DuelError::NAME]
            .contains(&T::NAME),
        ..Private::default()
    }
}

/// Returns a message that the gateway shows if it must.
fn for_gateway<T: ServerEvent>(data: &T) -> Notification {
    Notification {
        event: T::NAME.to_owned(),
        data: proto::encode::json(data).into(),
    }
}

/// Returns the answer to a request that was followed; nothing if it wants none.
pub(crate) fn ack(id: &Bytes) -> Option<Private> {
    (!id.is_empty()).then(|| private(&Ack {}, id.clone()))
}

/// Returns the answer to a refused request.
pub(crate) fn error(input: &Input, why: Refused) -> Private {
    if trade::is_about_trade(input) {
        return trade::error(&input.data, input.id.clone(), why);
    }
    if duel::is_about_duel(&input.event) {
        return duel::error(&input.data, input.id.clone(), why);
    }
    plain_error(input, why)
}

fn plain_error(input: &Input, why: Refused) -> Private {
    let error = Error {
        code: why.code,
        message: why.words,
        event: Some(input.event.clone()),
        retry_after_ms: None,
    };
    private(&error, input.id.clone())
}

#[cfg(test)]
mod tests {
    use world::Tile;

    use super::*;

    fn input(event: &str, data: &'static str) -> Input {
        Input {
            event: event.to_owned(),
            data: Bytes::from_static(data.as_bytes()),
            ..Input::default()
        }
    }

    fn code(event: &str, data: &'static str) -> ErrorCode {
        request(&input(event, data)).unwrap_err().code
    }

    #[test]
    fn a_request_means_an_intent_or_to_leave() {
        let to = Tile { x: -3, z: 9 };
        let data = r#"{"target":{"x":-3,"z":9},"run":true}"#;
        let run = Some(true);
        let walk = Intent::from(world::movement::Intent::Walk { to, run });
        assert_eq!(
            request(&input("player:move", data)),
            Ok(Request::Intent(walk))
        );
        assert_eq!(request(&input("world:leave", "{}")), Ok(Request::Leave));
    }

    #[test]
    fn data_in_message_pack_are_read_as_json() {
        let packed = Input {
            data: Bytes::from_static(b"\x81\xa4slot\x03"),
            message_pack: true,
            ..input("inventory:equip", "")
        };
        let taken = take_in(packed).unwrap();
        assert_eq!(
            (&*taken.data, taken.message_pack),
            (&b"{\"slot\":3}"[..], false)
        );
        let broken = Input {
            data: Bytes::from_static(b"\x81\xa4slot"),
            message_pack: true,
            ..input("inventory:equip", "")
        };
        let (input, why) = *take_in(broken).unwrap_err();
        assert_eq!(why.code, ErrorCode::Malformed);
        assert!(bad_request(&input, why).malformed);
    }

    #[test]
    fn an_agreement_is_to_the_screen_that_was_shown_when_it_came() {
        let accept = |shows_confirm| {
            let input = Input {
                shows_confirm,
                ..input("tradeAccept", r#"{"tradeId":"t"}"#)
            };
            request(&input)
        };
        let to = |seen| {
            let trade = "t".into();
            let intent = world::trade::Intent::Accept { trade, seen };
            Ok(Request::Intent(intent.into()))
        };
        assert_eq!(accept(false), to(Screen::Offer));
        assert_eq!(accept(true), to(Screen::Confirm));
    }

    /// Data that do not fit a trade are malformed; a slot that no pack has is a trade's error.
    #[test]
    fn data_that_do_not_fit_are_an_error_and_count_as_malformed() {
        let answer = |data| {
            let input = input("tradeAddItem", data);
            bad_request(&input, request(&input).unwrap_err())
        };
        let unread = answer(r#"{"tradeId":"t","inventorySlot":"x"}"#);
        assert_eq!((&*unread.event, unread.malformed), ("error", true));
        let refused = answer(r#"{"tradeId":"t","inventorySlot":28}"#);
        assert_eq!((&*refused.event, refused.malformed), ("tradeError", false));
    }

    #[test]
    fn a_trade_that_comes_to_nothing_is_told_as_one() {
        let told = |event, data| {
            let why = refusal::refused(world::Refusal::TooFar);
            error(&input(event, data), why).event
        };
        let trade = r#"{"action":"trade","target":"bob"}"#;
        assert_eq!(told("player:action", trade), "tradeError");
        let follow = r#"{"action":"follow","target":"bob"}"#;
        assert_eq!(told("player:action", follow), "error");
    }

    #[test]
    fn whatever_is_wrong_is_refused_with_its_code() {
        assert_eq!(code("player:move", "{}"), ErrorCode::InvalidData);
        assert_eq!(code("player:move", "nonsense"), ErrorCode::InvalidData);
        assert_eq!(
            code("player:move", r#"{"target":{"x":1}}"#),
            ErrorCode::InvalidData
        );
        assert_eq!(
            code("player:action", r#"{"action":"follow"}"#),
            ErrorCode::InvalidData
        );
        assert_eq!(code("player:fly", "{}"), ErrorCode::UnknownEvent);
        assert_eq!(
            code("player:chat", r#"{"message":"hi"}"#),
            ErrorCode::UnknownEvent
        );
        assert_eq!(
            code("player:action", r#"{"action":"attack"}"#),
            ErrorCode::InvalidData
        );
        assert_eq!(
            code("player:action", r#"{"action":"yodel","target":"npc:1"}"#),
            ErrorCode::Refused(Refusal::Unsupported)
        );
        assert_eq!(
            code("combat:style", r#"{"style":"sideways"}"#),
            ErrorCode::InvalidData
        );
        assert_eq!(
            code("player:action", r#"{"action":"examine"}"#),
            ErrorCode::InvalidData
        );
    }

    #[test]
    fn an_answer_carries_the_id_of_its_request() {
        assert_eq!(ack(&Bytes::new()), None);
        let ack = ack(&Bytes::from_static(b"7")).unwrap();
        assert_eq!(
            (&*ack.event, &*ack.data, &*ack.re),
            ("ack", &b"{}"[..], &b"7"[..])
        );
        let why = refusal::refused(world::Refusal::TooFar);
        let error = error(&input("player:move", "{}"), why);
        let data = String::from_utf8(error.data.to_vec()).unwrap();
        assert!(data.contains(r#""code":"too_far""#), "{data}");
        assert!(data.contains(r#""event":"player:move""#), "{data}");
    }
}
