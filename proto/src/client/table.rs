//! Every event that a client may send, once: its wire name, its data, who answers it, what it
//! needs, and behind `=>` what answers it (else `ack` does). Server events name themselves by
//! [`ServerEvent`], each where its type is. The protocol reference is made of both: `asyncapi`.

use schemars::{Schema, SchemaGenerator};
use serde::Serialize;

use super::{
    action, admin, bank, chat, coins, combat, dialogue, duel, equipment, friends, inventory,
    movement, prayer, quest, session, shop, trade, watch,
};

/// An event that the server sends.
pub trait ServerEvent: Serialize {
    /// Its wire name.
    const NAME: &'static str;
}

/// An event of the server's as the protocol reference describes it.
pub(super) struct Described {
    pub(super) name: &'static str,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Names the events of one file. Whoever adds a file adds its `EVENTS` in `asyncapi`.
macro_rules! server_events {
    ($($data:ty => $name:literal,)*) => {
        $(impl $crate::client::table::ServerEvent for $data {
            const NAME: &'static str = $name;
        })*

        /// The events of this file.
        pub(super) const EVENTS: &[$crate::client::table::Described] =
            &[$($crate::client::table::Described {
                name: $name,
                schema: schemars::SchemaGenerator::subschema_for::<$data>,
            },)*];
    };
}
pub(crate) use server_events;

/// Who answers an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The gateway itself.
    Gateway,
    /// The zone that plays the character.
    Zone,
}

/// What a connection must have done before an event is welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// It must not be authenticated yet.
    NoAccount,
    /// It is authenticated.
    Account,
    /// It is authenticated and not in the world.
    Lobby,
    /// It plays a character.
    World,
}

/// An event of a client's as the protocol reference describes it.
pub(super) struct Asked {
    pub(super) name: &'static str,
    pub(super) route: Route,
    pub(super) needs: Needs,
    /// The events that answer it; `error` may as well.
    pub(super) answers: &'static [&'static str],
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

fn no_check<T>(_: &T) -> Result<(), String> {
    Ok(())
}

macro_rules! client_events {
    ($($variant:ident($data:ty) = $name:literal, $route:ident, $needs:ident, $check:expr
        $(=> $answer:literal)?;)*) => {
        /// A message from a client, decoded and checked as far as it can be without knowing the
        /// world.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ClientMessage {
            $(#[doc = concat!("`", $name, "`")] $variant($data),)*
        }

        /// The table for the protocol reference.
        pub(super) const ASKED: &[Asked] = &[$(Asked {
            name: $name,
            route: Route::$route,
            needs: Needs::$needs,
            answers: &[$($answer)?],
            schema: SchemaGenerator::root_schema_for::<$data>,
        },)*];

        impl ClientMessage {
            /// The wire names of all events, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// The event's wire name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// Who answers it.
            pub const fn route(&self) -> Route {
                match self { $(Self::$variant(_) => Route::$route,)* }
            }

            /// What must come before it.
            pub const fn needs(&self) -> Needs {
                match self { $(Self::$variant(_) => Needs::$needs,)* }
            }

            /// Reads the data of the event `name`: `None` when there is no such event, else what
            /// is wrong with the data in words.
            pub fn from_data<'de, D>(name: &str, data: D) -> Option<Result<Self, String>>
            where
                D: serde::Deserializer<'de>,
            {
                Some(match name {
                    $($name => <$data as serde::Deserialize>::deserialize(data)
                        .map_err(|e| e.to_string())
                        .and_then(|d| {
                            let check: fn(&$data) -> Result<(), String> = $check;
                            check(&d).map(|()| Self::$variant(d))
                        }),)*
                    _ => return None,
                })
            }

            /// The data as JSON text, as it travels to a zone.
            pub fn data_json(&self) -> Vec<u8> {
                $crate::encode::json(self)
            }
        }

        /// Serializes as its data alone.
        impl Serialize for ClientMessage {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Self::$variant(d) => d.serialize(serializer),)* }
            }
        }
    };
}

client_events! {
    Authenticate(session::Authenticate) = "authenticate", Gateway, NoAccount, no_check
        => "session:welcome";
    Resume(session::Resume) = "session:resume", Gateway, NoAccount, no_check => "session:resumed";
    Ping(session::Ping) = "ping", Gateway, Nothing, no_check => "pong";
    CharacterList(session::Nothing) = "character:list", Gateway, Account, no_check
        => "character:list";
    CharacterCreate(session::CharacterCreate) = "character:create", Gateway, Account, no_check
        => "character:created";
    CharacterDelete(session::CharacterRef) = "character:delete", Gateway, Account, no_check
        => "character:list";
    AdminElevate(admin::AdminElevate) = "admin:elevate", Gateway, Account, no_check;
    AdminCommand(admin::AdminCommand)
        = "admin:command", Gateway, Account, admin::AdminCommand::check;
    WorldEnter(session::CharacterRef) = "world:enter", Gateway, Lobby, no_check => "world:entered";
    WorldLeave(session::Nothing) = "world:leave", Zone, World, no_check => "world:left";
    WorldWatch(watch::WorldWatch)
        = "world:watch", Gateway, Lobby, watch::WorldWatch::check
        => "world:watching";
    Move(movement::PlayerMove) = "player:move", Zone, World, movement::PlayerMove::check;
    Action(action::PlayerAction) = "player:action", Zone, World, action::PlayerAction::check;
    Drop(inventory::InventoryDrop) = "inventory:drop", Zone, World, inventory::InventoryDrop::check;
    MoveSlot(inventory::InventoryMove)
        = "inventory:move", Zone, World, inventory::InventoryMove::check;
    Use(inventory::InventoryUse) = "inventory:use", Zone, World, inventory::InventoryUse::check;
    Equip(equipment::InventoryEquip)
        = "inventory:equip", Zone, World, equipment::InventoryEquip::check;
    Unequip(equipment::EquipmentRemove) = "equipment:remove", Zone, World, no_check;
    OpenBank(bank::BankOpen) = "bank:open", Zone, World, bank::BankOpen::check;
    CloseBank(session::Nothing) = "bank:close", Zone, World, no_check;
    BankDeposit(bank::BankDeposit) = "bank:deposit", Zone, World, bank::BankDeposit::check;
    BankDepositAll(bank::BankDepositAll)
        = "bank:depositAll", Zone, World, bank::BankDepositAll::check;
    BankDepositEquipment(bank::BankDepositAll)
        = "bank:depositEquipment", Zone, World, bank::BankDepositAll::check;
    BankWithdraw(bank::BankWithdraw) = "bank:withdraw", Zone, World, bank::BankWithdraw::check;
    BankMove(bank::BankMove) = "bank:move", Zone, World, bank::BankMove::check;
    BankTab(bank::BankTab) = "bank:tab", Zone, World, bank::BankTab::check;
    BankPlaceholder(bank::BankPlaceholder)
        = "bank:placeholder", Zone, World, bank::BankPlaceholder::check;
    BankCoins(bank::BankCoins) = "bank:coins", Zone, World, bank::BankCoins::check;
    WithdrawCoins(coins::CoinsWithdraw)
        = "coins:withdraw", Zone, World, coins::CoinsWithdraw::check;
    DepositCoins(coins::CoinsDeposit) = "coins:deposit", Zone, World, coins::CoinsDeposit::check;
    Respond(dialogue::DialogueRespond) = "dialogue:respond", Zone, World, no_check;
    ContinueDialogue(session::Nothing) = "dialogue:continue", Zone, World, no_check;
    CloseDialogue(session::Nothing) = "dialogue:close", Zone, World, no_check;
    QuestList(session::Nothing) = "quest:list", Zone, World, no_check;
    QuestDetail(quest::QuestRef) = "quest:detail", Zone, World, quest::QuestRef::check;
    AcceptQuest(quest::QuestRef) = "quest:accept", Zone, World, quest::QuestRef::check;
    AbandonQuest(quest::QuestRef) = "quest:abandon", Zone, World, quest::QuestRef::check;
    CompleteQuest(quest::QuestRef) = "quest:complete", Zone, World, quest::QuestRef::check;
    CombatStyle(combat::CombatStyle)
        = "combat:style", Zone, World, combat::CombatStyle::check;
    CombatRetaliate(combat::CombatRetaliate) = "combat:retaliate", Zone, World, no_check;
    CombatAutocast(combat::CombatAutocast)
        = "combat:autocast", Zone, World, combat::CombatAutocast::check;
    PrayerToggle(prayer::PrayerToggle)
        = "prayer:toggle", Zone, World, prayer::PrayerToggle::check;
    ShopOpen(shop::ShopOpen) = "shop:open", Zone, World, shop::ShopOpen::check;
    ShopClose(session::Nothing) = "shop:close", Zone, World, no_check;
    ShopBuy(shop::ShopBuy) = "shop:buy", Zone, World, shop::ShopBuy::check;
    ShopSell(shop::ShopSell) = "shop:sell", Zone, World, shop::ShopSell::check;
    TradeRequest(trade::TradeRequest)
        = "tradeRequest", Zone, World, trade::TradeRequest::check;
    TradeRequestRespond(trade::TradeRequestRespond)
        = "tradeRequestRespond", Zone, World, trade::TradeRequestRespond::check;
    TradeAddItem(trade::TradeAddItem) = "tradeAddItem", Zone, World, trade::TradeAddItem::check;
    TradeRemoveItem(trade::TradeRemoveItem)
        = "tradeRemoveItem", Zone, World, trade::TradeRemoveItem::check;
    TradeSetItemQuantity(trade::TradeSetItemQuantity)
        = "tradeSetItemQuantity", Zone, World, trade::TradeSetItemQuantity::check;
    TradeAccept(trade::TradeAccept) = "tradeAccept", Zone, World, trade::TradeAccept::check;
    TradeCancelAccept(trade::TradeRef) = "tradeCancelAccept", Zone, World, trade::TradeRef::check;
    TradeCancel(trade::TradeRef) = "tradeCancel", Zone, World, trade::TradeRef::check;
    DuelChallenge(duel::DuelChallenge)
        = "duel:challenge", Zone, World, duel::DuelChallenge::check;
    DuelChallengeRespond(duel::DuelChallengeRespond)
        = "duel:challenge:respond", Zone, World, duel::DuelChallengeRespond::check;
    DuelToggleRule(duel::DuelToggleRule)
        = "duel:toggle:rule", Zone, World, duel::DuelToggleRule::check;
    DuelToggleEquipment(duel::DuelToggleEquipment)
        = "duel:toggle:equipment", Zone, World, duel::DuelToggleEquipment::check;
    DuelAcceptRules(duel::DuelRef) = "duel:accept:rules", Zone, World, duel::DuelRef::check;
    DuelAddStake(duel::DuelAddStake) = "duel:add:stake", Zone, World, duel::DuelAddStake::check;
    DuelRemoveStake(duel::DuelRemoveStake)
        = "duel:remove:stake", Zone, World, duel::DuelRemoveStake::check;
    DuelAcceptStakes(duel::DuelRef) = "duel:accept:stakes", Zone, World, duel::DuelRef::check;
    DuelAcceptFinal(duel::DuelRef) = "duel:accept:final", Zone, World, duel::DuelRef::check;
    DuelCancel(duel::DuelRef) = "duel:cancel", Zone, World, duel::DuelRef::check;
    DuelForfeit(duel::DuelRef) = "duel:forfeit", Zone, World, duel::DuelRef::check;
    Chat(chat::PlayerChat) = "player:chat", Gateway, World, chat::PlayerChat::check;
    FriendsList(session::Nothing) = "friends:list", Gateway, World, no_check
        => "friends:list";
    RequestFriend(friends::PlayerName)
        = "friends:request", Gateway, World, friends::PlayerName::check
        => "friends:update";
    AcceptFriend(friends::RequestRef)
        = "friends:accept", Gateway, World, friends::RequestRef::check
        => "friends:update";
    DeclineFriend(friends::RequestRef)
        = "friends:decline", Gateway, World, friends::RequestRef::check
        => "friends:update";
    RemoveFriend(friends::FriendRef)
        = "friends:remove", Gateway, World, friends::FriendRef::check
        => "friends:update";
    Ignore(friends::PlayerName) = "ignore:add", Gateway, World, friends::PlayerName::check
        => "friends:update";
    Unignore(friends::IgnoredRef) = "ignore:remove", Gateway, World, friends::IgnoredRef::check
        => "friends:update";
}
