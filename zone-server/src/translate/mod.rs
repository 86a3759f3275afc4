//! Between what the processes say and what the world means: exhaustive matches, so that the
//! compiler names whatever a new event lacks. One file per feature.

pub(crate) mod action;
pub(crate) mod activity;
pub(crate) mod agent;
mod arrivals;
pub(crate) mod bank;
pub(crate) mod combat;
mod death;
pub(crate) mod dialogue;
pub(crate) mod duel;
pub(crate) mod equipment;
mod examine;
mod home_teleport;
pub(crate) mod inventory;
pub(crate) mod look;
pub(crate) mod movement;
pub(crate) mod operator;
pub(crate) mod prayer;
pub(crate) mod quest;
pub(crate) mod record;
pub(crate) mod refusal;
mod request;
pub(crate) mod shop;
pub(crate) mod skill;
pub(crate) mod sync;
pub(crate) mod trade;
pub(crate) mod value;
pub(crate) mod visit;
mod vitals;

use bytes::Bytes;
use proto::{
    client::{
        ClientMessage, ErrorCode, ServerEvent, admin::OPERATOR_TELEPORT, coins::CoinsUpdate,
        duel::DuelError, error::Error, session::Ack, trade::TradeError,
    },
    rpc::zone::v1::{Encounter, Input, Notification, Private},
};
use world::{
    CharacterId, Content, DuelStage, EntityId, Event, Intent, PlayerRecord, Refusal,
    content::EquipSlot, item::SLOTS,
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

/// Reads what a player asks. Never panics, whatever the bytes.
#[allow(clippy::too_many_lines, reason = "one arm a packet")]
pub(crate) fn request(input: &Input) -> Result<Request, Refused> {
    if input.event == OPERATOR_TELEPORT {
        return operator::teleport(&input.data).map(Request::Intent);
    }
    let intent = match message(input)? {
        ClientMessage::WorldLeave(_) => return Ok(Request::Leave),
        ClientMessage::Move(asked) => movement::intent(&asked),
        ClientMessage::Action(asked) => action::intent(&asked)?,
        ClientMessage::Drop(asked) => inventory::drop(&asked),
        ClientMessage::MoveSlot(asked) => inventory::move_slot(&asked),
        ClientMessage::Use(asked) => inventory::used(&asked)?,
        ClientMessage::Equip(asked) => equipment::equip(&asked),
        ClientMessage::Unequip(asked) => equipment::remove(asked.slot),
        ClientMessage::OpenBank(asked) => bank::open(&asked),
        ClientMessage::CloseBank(_) => Intent::Bank(world::bank::Intent::Close),
        ClientMessage::BankDeposit(asked) => bank::deposit(&asked),
        ClientMessage::BankDepositAll(asked) => bank::deposit_all(&asked),
        ClientMessage::BankDepositEquipment(asked) => bank::deposit_worn(&asked),
        ClientMessage::BankWithdraw(asked) => bank::withdraw(&asked),
        ClientMessage::BankMove(asked) => bank::moved(&asked),
        ClientMessage::BankTab(asked) => bank::tab(&asked),
        ClientMessage::BankPlaceholder(asked) => bank::placeholder(&asked),
        ClientMessage::BankCoins(asked) => bank::coins(&asked),
        ClientMessage::Respond(asked) => dialogue::respond(asked),
        ClientMessage::ContinueDialogue(_) => Intent::Dialogue(world::dialogue::Intent::Continue),
        ClientMessage::CloseDialogue(_) => Intent::Dialogue(world::dialogue::Intent::End),
        ClientMessage::QuestList(_) => quest::list(),
        ClientMessage::QuestDetail(asked) => {
            quest::about(&asked, |quest| world::quests::Intent::Show { quest })
        }
        ClientMessage::AcceptQuest(asked) => {
            quest::about(&asked, |quest| world::quests::Intent::Accept { quest })
        }
        ClientMessage::AbandonQuest(asked) => {
            quest::about(&asked, |quest| world::quests::Intent::Abandon { quest })
        }
        ClientMessage::CompleteQuest(asked) => {
            quest::about(&asked, |quest| world::quests::Intent::Complete { quest })
        }
        ClientMessage::WithdrawCoins(asked) => inventory::withdraw(&asked),
        ClientMessage::DepositCoins(asked) => inventory::deposit(&asked),
        ClientMessage::CombatStyle(asked) => combat::style(&asked)?,
        ClientMessage::CombatRetaliate(asked) => {
            Intent::Combat(world::combat::Intent::Retaliate(asked.on))
        }
        ClientMessage::CombatAutocast(asked) => combat::autocast(&asked),
        ClientMessage::PrayerToggle(asked) => prayer::toggle(&asked),
        ClientMessage::ShopOpen(asked) => shop::open(&asked),
        ClientMessage::ShopClose(_) => Intent::Shop(world::shop::Intent::Close),
        ClientMessage::ShopBuy(asked) => shop::buy(&asked),
        ClientMessage::ShopSell(asked) => shop::sell(&asked),
        ClientMessage::TradeRequest(asked) => trade::ask(&asked),
        ClientMessage::TradeRequestRespond(asked) => trade::answer(&asked),
        ClientMessage::TradeAddItem(asked) => trade::offer(&asked)?,
        ClientMessage::TradeRemoveItem(asked) => trade::withdraw(&asked)?,
        ClientMessage::TradeSetItemQuantity(asked) => trade::change(&asked)?,
        ClientMessage::TradeAccept(asked) => trade::accept(&asked),
        ClientMessage::TradeCancelAccept(asked) => trade::doubt(&asked),
        ClientMessage::TradeCancel(asked) => trade::cancel(&asked),
        ClientMessage::DuelChallenge(asked) => duel::challenge(&asked),
        ClientMessage::DuelChallengeRespond(asked) => duel::answer(&asked),
        ClientMessage::DuelToggleRule(asked) => duel::rule(&asked)?,
        ClientMessage::DuelToggleEquipment(asked) => duel::bare(&asked)?,
        ClientMessage::DuelAcceptRules(asked) => duel::agree(&asked, DuelStage::Rules),
        ClientMessage::DuelAddStake(asked) => duel::stake(&asked)?,
        ClientMessage::DuelRemoveStake(asked) => duel::unstake(&asked)?,
        ClientMessage::DuelAcceptStakes(asked) => duel::agree(&asked, DuelStage::Stakes),
        ClientMessage::DuelAcceptFinal(asked) => duel::agree(&asked, DuelStage::Confirming),
        ClientMessage::DuelCancel(asked) => duel::cancel(&asked),
        ClientMessage::DuelForfeit(asked) => duel::forfeit(&asked),
        ClientMessage::Authenticate(_)
        | ClientMessage::Resume(_)
        | ClientMessage::Ping(_)
        | ClientMessage::AdminElevate(_)
        | ClientMessage::AdminCommand(_)
        | ClientMessage::WorldWatch(_)
        | ClientMessage::CharacterList(_)
        | ClientMessage::CharacterCreate(_)
        | ClientMessage::CharacterDelete(_)
        | ClientMessage::WorldEnter(_)
        | ClientMessage::Chat(_)
        | ClientMessage::FriendsList(_)
        | ClientMessage::RequestFriend(_)
        | ClientMessage::AcceptFriend(_)
        | ClientMessage::DeclineFriend(_)
        | ClientMessage::RemoveFriend(_)
        | ClientMessage::Ignore(_)
        | ClientMessage::Unignore(_) => {
            return Err(Refused {
                code: ErrorCode::Unsupported,
                words: "this is not for a zone to answer".to_owned(),
            });
        }
    };
    Ok(Request::Intent(intent))
}

fn message(input: &Input) -> Result<ClientMessage, Refused> {
    let mut data = serde_json::Deserializer::from_slice(&input.data);
    match ClientMessage::from_data(&input.event, &mut data) {
        Some(Ok(message)) => Ok(message),
        Some(Err(words)) => Err(Refused {
            code: ErrorCode::InvalidData,
            words,
        }),
        None => Err(Refused {
            code: ErrorCode::UnknownEvent,
            words: "there is no such event".to_owned(),
        }),
    }
}

/// The word to a player on an event. `value`: it tells of value, and waits until that is saved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// The input of this number was followed.
    Done { number: u64, value: bool },
    /// The input of this number was refused.
    Refused {
        number: u64,
        why: Refused,
        value: bool,
    },
    /// A message of its own.
    Message { message: Private, value: bool },
    /// The input of this number was followed, and is answered by this message.
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

impl Told {
    /// Returns a message that goes out at once.
    pub(crate) fn now<T: ServerEvent>(message: &T) -> Told {
        Told::Message {
            message: private(message, Bytes::new()),
            value: false,
        }
    }

    /// Returns a message that tells of value.
    pub(crate) fn of_value<T: ServerEvent>(message: &T) -> Told {
        Told::Message {
            message: private(message, Bytes::new()),
            value: true,
        }
    }
}

/// Returns what a player is told of an event; `None`: nothing. `record`: the player's own, for
/// messages that show its state. A player who has left the world is told nothing of value.
pub(crate) fn told(
    event: &Event,
    record: Option<&PlayerRecord>,
    content: &Content,
) -> Option<Told> {
    match event {
        Event::Request(event) => Some(request::told(event)),
        Event::Arrivals(event) => Some(arrivals::told(event)),
        Event::Movement(event) => movement::told(event, record),
        Event::Vitals(event) => vitals::told(event, record),
        Event::HomeTeleport(event) => Some(home_teleport::told(event)),
        Event::Examine(event) => Some(examine::told(event)),
        Event::Pack(event) => Some(inventory::told(event, record?)),
        Event::Equipment(event) => Some(equipment::told(event, record?)),
        Event::Bank(event) => Some(bank::told(event, record?)),
        Event::Visit(event) => visit::told(event, record?, content),
        Event::Dialogue(event) => record.map(|_| dialogue::told(event)),
        Event::Quests(event) => quest::told(event, record?, content),
        Event::Shop(event) => record.map(|_| shop::told(event)),
        Event::Skilling(event) => record.map(|_| activity::told(event)),
        Event::Training(event) => record.map(|_| skill::told(event)),
        Event::Combat(event) => combat::told(event, record, content),
        Event::Prayer(event) => prayer::told(event, record),
        Event::Death(event) => death::told(event, record),
        Event::Trade(event) => Some(trade::told(event)),
        Event::Duel(event) => Some(duel::told(event)),
    }
}

/// Returns the encounter that an event is about, if any. `account` names the account of a player who
/// asks.
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
        | Event::Death(_) => None,
    }
}

/// Shows a player everything of its own: a `player:sync`; of one whose region is on its way to
/// another run, what it has of value.
pub(crate) fn resync(
    record: Option<&PlayerRecord>,
    has: &Holdings,
    (tick, content): (u64, &Content),
) -> Vec<Private> {
    if let Some(record) = record {
        return vec![private(
            &sync::sync(record, has, (tick, content)),
            Bytes::new(),
        )];
    }
    let slots: Vec<u8> = (0..SLOTS).collect();
    let pack = inventory::update(&has.inventory, &slots);
    let pouch = CoinsUpdate { coins: has.coins };
    let skills = has.skills.iter();
    let skills = skills.map(|(skill, now)| {
        let gain = skill::gain(*skill, 0, *now, false);
        private(&gain, Bytes::new())
    });
    let worn = equipment::update(&has.equipment, &EquipSlot::ALL);
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

/// Returns a message that the gateway shows if it has to.
fn for_gateway<T: ServerEvent>(data: &T) -> Notification {
    Notification {
        event: T::NAME.to_owned(),
        data: proto::encode::json(data).into(),
    }
}

/// The answer to a request that was followed; nothing when it wants none.
pub(crate) fn ack(id: &Bytes) -> Option<Private> {
    (!id.is_empty()).then(|| private(&Ack {}, id.clone()))
}

/// Returns the answer to a refused request.
pub(crate) fn error(input: &Input, why: Refused) -> Private {
    if trade::is_about_trade(&input.event) || action::asks_to_trade(input) {
        return trade::error(&input.data, input.id.clone(), why);
    }
    if duel::is_about_duel(&input.event) {
        return duel::error(&input.data, input.id.clone(), why);
    }
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
    fn each_event_has_its_meaning() {
        let walk = request(&input(
            "player:move",
            r#"{"target":{"x":-3,"z":9},"run":true}"#,
        ));
        let to = Tile { x: -3, z: 9 };
        let run = Some(true);
        assert_eq!(
            walk,
            Ok(Request::Intent(Intent::Movement(
                world::movement::Intent::Walk { to, run }
            )))
        );
        let stop = request(&input("player:move", r#"{"stop":true}"#));
        assert_eq!(
            stop,
            Ok(Request::Intent(Intent::Movement(
                world::movement::Intent::Stop
            )))
        );
        let run = request(&input("player:move", r#"{"run":false}"#));
        assert_eq!(
            run,
            Ok(Request::Intent(Intent::Movement(
                world::movement::Intent::Run(false)
            )))
        );
        assert_eq!(request(&input("world:leave", "{}")), Ok(Request::Leave));
        let look = request(&input(
            "player:action",
            r#"{"action":"examine","target":"npc:1"}"#,
        ));
        let target = "npc:1".into();
        assert_eq!(
            look,
            Ok(Request::Intent(Intent::Examine(
                world::examine::Intent::Examine { target }
            )))
        );
        let follow = request(&input(
            "player:action",
            r#"{"action":"follow","target":"bob"}"#,
        ));
        let target = "bob".into();
        assert_eq!(
            follow,
            Ok(Request::Intent(Intent::Movement(
                world::movement::Intent::Follow { target }
            )))
        );
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
            ErrorCode::Unsupported
        );
        assert_eq!(
            code("player:action", r#"{"action":"attack"}"#),
            ErrorCode::InvalidData
        );
        assert_eq!(
            code("player:action", r#"{"action":"yodel","target":"npc:1"}"#),
            ErrorCode::Unsupported
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
