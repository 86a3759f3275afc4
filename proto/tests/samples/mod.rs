//! What clients may say, well formed: every event at least once. The wire's tests hold the bytes of
//! these, and the gateway's say them with every kind of token.

use proto::client::{
    ClientMessage, action, admin, bank, chat, coins, combat, dialogue, duel, equipment, friends,
    inventory, movement, prayer, quest, session, shop, trade, watch,
};

/// Valid messages of every event, in the order of the table; some in several shapes.
#[allow(clippy::too_many_lines, reason = "a list")]
pub(crate) fn client_messages() -> Vec<ClientMessage> {
    let target = Some(movement::Target { x: -70, z: 300 });
    vec![
        ClientMessage::Authenticate(session::Authenticate {
            token: None,
            device_key: Some("k3y".to_owned()),
        }),
        ClientMessage::Resume(session::Resume {
            resume_token: "t0ken".to_owned(),
            last_seq: 70_000,
        }),
        ClientMessage::Ping(session::Ping { t: 12.5 }),
        ClientMessage::CharacterList(session::Nothing {}),
        ClientMessage::CharacterCreate(session::CharacterCreate {
            name: "Ann Ähre".to_owned(),
        }),
        ClientMessage::CharacterDelete(session::CharacterRef {
            character_id: "c1".to_owned(),
        }),
        ClientMessage::AdminElevate(admin::AdminElevate {
            code: "c0de".to_owned(),
        }),
        ClientMessage::AdminCommand(admin::AdminCommand {
            command: admin::AdminVerb::Teleport,
            args: admin::AdminArgs {
                name: Some("Bob".to_owned()),
                x: Some(-70),
                z: Some(300),
                ..admin::AdminArgs::default()
            },
        }),
        ClientMessage::WorldEnter(session::CharacterRef {
            character_id: "c1".to_owned(),
        }),
        ClientMessage::WorldLeave(session::Nothing {}),
        ClientMessage::WorldWatch(watch::WorldWatch {
            character_id: Some("c1".to_owned()),
            area: None,
        }),
        ClientMessage::Move(movement::PlayerMove {
            target,
            run: Some(true),
            stop: false,
        }),
        ClientMessage::Action(action::PlayerAction {
            action: "examine".to_owned(),
            target: Some("npc:1".to_owned()),
            option: None,
            quantity: None,
        }),
        ClientMessage::Action(action::PlayerAction {
            action: "smelt".to_owned(),
            target: Some("sta:town:furnace".to_owned()),
            option: Some("bronze_bar".to_owned()),
            quantity: Some(10_000),
        }),
        ClientMessage::Drop(inventory::InventoryDrop {
            slot: 27,
            quantity: Some(2_147_483_647),
        }),
        ClientMessage::MoveSlot(inventory::InventoryMove { from: 0, to: 9 }),
        ClientMessage::Use(inventory::InventoryUse {
            slot: 5,
            target: None,
            skill: None,
        }),
        ClientMessage::Use(inventory::InventoryUse {
            slot: 5,
            target: None,
            skill: Some("mining".to_owned()),
        }),
        ClientMessage::Use(inventory::InventoryUse {
            slot: 5,
            target: Some(inventory::UseTarget::Slot(27)),
            skill: None,
        }),
        ClientMessage::Use(inventory::InventoryUse {
            slot: 5,
            target: Some(inventory::UseTarget::Entity("fire:1-1".to_owned())),
            skill: None,
        }),
        ClientMessage::Equip(equipment::InventoryEquip { slot: 3 }),
        ClientMessage::Unequip(equipment::EquipmentRemove {
            slot: equipment::Place::Shield,
        }),
        ClientMessage::OpenBank(bank::BankOpen {
            target: "sta:bank:4,0".to_owned(),
        }),
        ClientMessage::CloseBank(session::Nothing {}),
        ClientMessage::BankDeposit(bank::BankDeposit {
            slot: 2,
            quantity: 10,
            tab: 8,
        }),
        ClientMessage::BankDepositAll(bank::BankDepositAll { tab: 1 }),
        ClientMessage::BankDepositEquipment(bank::BankDepositAll { tab: 0 }),
        ClientMessage::BankWithdraw(bank::BankWithdraw {
            item_id: "coal".to_owned(),
            quantity: 2_147_483_647,
            noted: true,
        }),
        ClientMessage::BankMove(bank::BankMove {
            item_id: "coal".to_owned(),
            with: None,
            before: Some("logs".to_owned()),
        }),
        ClientMessage::BankTab(bank::BankTab {
            item_id: "coal".to_owned(),
            tab: 5,
        }),
        ClientMessage::BankPlaceholder(bank::BankPlaceholder {
            keep: Some(true),
            ..bank::BankPlaceholder::default()
        }),
        ClientMessage::BankCoins(bank::BankCoins {
            amount: 25,
            withdraw: true,
        }),
        ClientMessage::WithdrawCoins(coins::CoinsWithdraw { amount: 25 }),
        ClientMessage::DepositCoins(coins::CoinsDeposit { amount: None }),
        ClientMessage::Respond(dialogue::DialogueRespond { index: 2 }),
        ClientMessage::ContinueDialogue(session::Nothing {}),
        ClientMessage::CloseDialogue(session::Nothing {}),
        ClientMessage::QuestList(session::Nothing {}),
        ClientMessage::QuestDetail(quest()),
        ClientMessage::AcceptQuest(quest()),
        ClientMessage::AbandonQuest(quest()),
        ClientMessage::CompleteQuest(quest()),
        ClientMessage::CombatStyle(combat::CombatStyle {
            style: "rapid".to_owned(),
        }),
        ClientMessage::CombatRetaliate(combat::CombatRetaliate { on: false }),
        ClientMessage::CombatAutocast(combat::CombatAutocast { spell: None }),
        ClientMessage::PrayerToggle(prayer::PrayerToggle {
            prayer: "thick_socks".to_owned(),
        }),
        ClientMessage::ShopOpen(shop::ShopOpen {
            target: "npc:1".to_owned(),
        }),
        ClientMessage::ShopClose(session::Nothing {}),
        ClientMessage::ShopBuy(shop::ShopBuy {
            item_id: "coal".to_owned(),
            quantity: 5,
        }),
        ClientMessage::ShopSell(shop::ShopSell {
            slot: 3,
            quantity: 2_147_483_647,
        }),
        ClientMessage::TradeRequest(trade::TradeRequest {
            target_player_id: "c2".to_owned(),
        }),
        ClientMessage::TradeRequestRespond(trade::TradeRequestRespond {
            trade_id: "trade:1-2".to_owned(),
            accept: true,
        }),
        ClientMessage::TradeAddItem(trade::TradeAddItem {
            trade_id: "trade:1-2".to_owned(),
            inventory_slot: 27,
            quantity: Some(70_000),
        }),
        ClientMessage::TradeRemoveItem(trade::TradeRemoveItem {
            trade_id: "trade:1-2".to_owned(),
            trade_slot: 3,
        }),
        ClientMessage::TradeSetItemQuantity(trade::TradeSetItemQuantity {
            trade_id: "trade:1-2".to_owned(),
            trade_slot: 0,
            quantity: -1,
        }),
        ClientMessage::TradeAccept(trade::TradeAccept {
            trade_id: "trade:1-2".to_owned(),
            screen: Some(trade::TradeScreen::Confirm),
        }),
        ClientMessage::TradeCancelAccept(trade::TradeRef {
            trade_id: "trade:1-2".to_owned(),
        }),
        ClientMessage::TradeCancel(trade::TradeRef {
            trade_id: "trade:1-2".to_owned(),
        }),
        ClientMessage::DuelChallenge(duel::DuelChallenge {
            target_player_id: "c2".to_owned(),
        }),
        ClientMessage::DuelChallengeRespond(duel::DuelChallengeRespond {
            challenge_id: "challenge:1-2".to_owned(),
            accept: true,
        }),
        ClientMessage::DuelToggleRule(duel::DuelToggleRule {
            duel_id: "duel:1-2".to_owned(),
            rule: "noFood".to_owned(),
        }),
        ClientMessage::DuelToggleEquipment(duel::DuelToggleEquipment {
            duel_id: "duel:1-2".to_owned(),
            slot: "head".to_owned(),
        }),
        ClientMessage::DuelAcceptRules(duel::DuelRef {
            duel_id: "duel:1-2".to_owned(),
        }),
        ClientMessage::DuelAddStake(duel::DuelAddStake {
            duel_id: "duel:1-2".to_owned(),
            inventory_slot: 27,
            quantity: 70_000,
        }),
        ClientMessage::DuelRemoveStake(duel::DuelRemoveStake {
            duel_id: "duel:1-2".to_owned(),
            stake_index: -1,
        }),
        ClientMessage::DuelAcceptStakes(duel::DuelRef {
            duel_id: "duel:1-2".to_owned(),
        }),
        ClientMessage::DuelAcceptFinal(duel::DuelRef {
            duel_id: "duel:1-2".to_owned(),
        }),
        ClientMessage::DuelCancel(duel::DuelRef {
            duel_id: "duel:1-2".to_owned(),
        }),
        ClientMessage::DuelForfeit(duel::DuelRef {
            duel_id: "duel:1-2".to_owned(),
        }),
        ClientMessage::Chat(chat::PlayerChat {
            message: "hello \"you\"".to_owned(),
            channel: chat::Channel::Private,
            to: Some("Bob".to_owned()),
        }),
        ClientMessage::FriendsList(session::Nothing {}),
        ClientMessage::RequestFriend(friends::PlayerName {
            name: "Bob".to_owned(),
        }),
        ClientMessage::AcceptFriend(request()),
        ClientMessage::DeclineFriend(request()),
        ClientMessage::RemoveFriend(friends::FriendRef {
            friend_id: "c2".to_owned(),
        }),
        ClientMessage::Ignore(friends::PlayerName {
            name: "Bob".to_owned(),
        }),
        ClientMessage::Unignore(friends::IgnoredRef {
            ignored_id: "c2".to_owned(),
        }),
    ]
}

fn quest() -> quest::QuestRef {
    quest::QuestRef {
        quest_id: "lost_ring".to_owned(),
    }
}

fn request() -> friends::RequestRef {
    friends::RequestRef {
        request_id: "r1".to_owned(),
    }
}
