//! Messages to players about trades, shops, graves and duels.

use proto::client::{ErrorCode, Refusal, exchange};
use world::duel::told as duel;
use world::shop::told as shop;
use world::told::Stack;
use world::trade::told as trade;
use world::{DuelEnd, Tile, TradeEnd, death};

use super::Server;

#[allow(clippy::too_many_lines, reason = "one event after the other")]
pub(super) fn trade_events(server: &mut Server) {
    let trade_id = || world::EntityId::from("trade:1-2");
    let offer = |accepted| trade::TradeOffer {
        items: vec![trade::TradeItem {
            inventory_slot: 27,
            item_id: "coal".into(),
            quantity: 3,
            trade_slot: 0,
        }],
        accepted,
    };
    let nothing = || trade::TradeOffer::default();
    server.event(shop::ShopState {
        open: true,
        store_id: "stall".into(),
        name: "The Stall".into(),
        buys: true,
        pays_percent: 50,
        items: vec![
            shop::ShopItem {
                item_id: "coal".into(),
                price: 31,
                stock: Some(4),
                category: "ores".into(),
            },
            shop::ShopItem {
                item_id: "rope".into(),
                price: 16,
                stock: None,
                category: "".into(),
            },
        ],
    });
    server.event(shop::ShopState::default());
    server.event(death::told::GraveUpdate {
        grave_id: "grave:1-2".into(),
        position: Some(Tile { x: -70, z: 300 }),
        items: vec![Stack {
            item_id: "coal".into(),
            quantity: 3,
        }],
        expires_in_ms: 900_000,
    });
    server.event(trade::TradeIncoming {
        trade_id: trade_id(),
        from_player_id: "c1".into(),
        from_player_name: "Ann".into(),
        from_player_level: 3,
    });
    server.event(trade::TradeStarted {
        trade_id: trade_id(),
        partner_id: "c1".into(),
        partner_name: "Ann".into(),
        partner_level: 3,
        partner_free_slots: 27,
    });
    server.event(trade::TradeUpdated {
        trade_id: trade_id(),
        my_offer: offer(true),
        their_offer: nothing(),
        partner_free_slots: 27,
    });
    server.event(trade::TradeConfirmScreen {
        trade_id: trade_id(),
        my_offer: offer(false),
        their_offer: nothing(),
        values: trade::TradeValues {
            mine: 90,
            theirs: 0,
            difference: -90,
        },
    });
    server.event(trade::TradeCompleted {
        trade_id: trade_id(),
        received_items: vec![Stack {
            item_id: "coal".into(),
            quantity: 3,
        }],
    });
    server.event(trade::TradeCancelled {
        trade_id: trade_id(),
        reason: TradeEnd::TooFar,
        message: "you are too far apart".to_owned(),
    });
    server.event(exchange::TradeError {
        code: ErrorCode::Refused(Refusal::InvalidQuantity),
        message: "1 up to what lies there".to_owned(),
        trade_id: Some(trade_id().to_string()),
    });
}

#[allow(clippy::too_many_lines, reason = "a list")]
pub(super) fn duel_events(server: &mut Server) {
    let duel_id = || world::EntityId::from("duel:1-2");
    let rules = || [("noFood".to_owned(), true), ("noMagic".to_owned(), false)].into();
    let bare = || [("ammo".to_owned(), false), ("head".to_owned(), true)].into();
    let stakes = || {
        vec![duel::DuelStake {
            inventory_slot: 27,
            item_id: "coal".into(),
            quantity: 3,
            value: 90,
        }]
    };
    server.event(duel::DuelChallengeSent {
        challenge_id: "challenge:1-2".into(),
        target_player_id: "c2".into(),
        target_player_name: "Bob".into(),
    });
    server.event(duel::DuelChallengeIncoming {
        challenge_id: "challenge:1-2".into(),
        from_player_id: "c1".into(),
        from_player_name: "Ann".into(),
        from_player_level: 3,
    });
    for declined_by in [None, Some("c2".into())] {
        server.event(duel::DuelChallengeDeclined {
            challenge_id: "challenge:1-2".into(),
            declined_by,
        });
    }
    server.event(duel::DuelSessionStarted {
        duel_id: duel_id(),
        challenge_id: "challenge:1-2".into(),
        opponent_id: "c2".into(),
        opponent_name: "Bob".into(),
        is_challenger: true,
    });
    server.event(duel::DuelRulesUpdated {
        duel_id: duel_id(),
        rules: rules(),
        challenger_accepted: false,
        target_accepted: false,
        modified_by: "c2".into(),
    });
    server.event(duel::DuelEquipmentUpdated {
        duel_id: duel_id(),
        equipment_restrictions: bare(),
        challenger_accepted: false,
        target_accepted: false,
        modified_by: "c2".into(),
    });
    server.event(duel::DuelStakesUpdated {
        duel_id: duel_id(),
        challenger_stakes: stakes(),
        target_stakes: Vec::new(),
        challenger_accepted: false,
        target_accepted: false,
        modified_by: "c1".into(),
    });
    for moved in [false, true] {
        server.event(duel::DuelAcceptanceUpdated {
            duel_id: duel_id(),
            challenger_accepted: !moved,
            target_accepted: false,
            state: if moved { "STAKES" } else { "RULES" }.to_owned(),
            moved_to_stakes: moved,
            moved_to_confirm: false,
        });
    }
    server.event(duel::DuelStateChanged {
        duel_id: duel_id(),
        state: "COUNTDOWN".to_owned(),
        rules: rules(),
        equipment_restrictions: bare(),
        challenger_stakes: stakes(),
        target_stakes: Vec::new(),
        challenger_accepted: false,
        target_accepted: false,
        arena_id: Some(6),
        challenger_id: "c1".into(),
        target_id: "c2".into(),
    });
    server.event(duel::DuelCountdownStart {
        duel_id: duel_id(),
        arena_id: 6,
        challenger_id: "c1".into(),
        target_id: "c2".into(),
    });
    server.event(duel::DuelCountdownTick {
        duel_id: duel_id(),
        count: 3,
        challenger_id: "c1".into(),
        target_id: "c2".into(),
    });
    server.event(duel::DuelFightStart {
        duel_id: duel_id(),
        arena_id: 6,
        opponent_id: "c2".into(),
        bounds: duel::DuelBounds {
            min: Tile { x: -60, z: 80 },
            max: Tile { x: -47, z: 93 },
        },
    });
    server.event(duel::DuelOpponentDisconnected {
        duel_id: duel_id(),
        timeout_ms: 30_000,
    });
    server.event(duel::DuelOpponentReconnected { duel_id: duel_id() });
    server.event(duel::DuelCompleted {
        duel_id: duel_id(),
        won: false,
        opponent_name: "Bob".into(),
        items_received: Vec::new(),
        items_lost: vec![Stack {
            item_id: "coal".into(),
            quantity: 3,
        }],
        total_value_won: 0,
        total_value_lost: 90,
        forfeit: true,
    });
    server.event(duel::DuelCancelled {
        duel_id: duel_id(),
        reason: DuelEnd::Cancelled,
        message: "the duel was called off".to_owned(),
        cancelled_by: Some("c2".into()),
    });
    server.event(exchange::DuelError {
        code: ErrorCode::Refused(Refusal::NoForfeit),
        message: "nobody may give up in this duel".to_owned(),
        duel_id: Some(duel_id().to_string()),
    });
}
