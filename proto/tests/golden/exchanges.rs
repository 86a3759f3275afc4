//! What players hear of trades, shops, graves and duels.

use proto::client::{ErrorCode, duel, grave, shop, sync, trade};

use super::Server;

#[allow(clippy::too_many_lines, reason = "one event after the other")]
pub(super) fn trade_events(server: &mut Server) {
    let trade_id = || "trade:1-2".to_owned();
    let offer = |accepted| trade::TradeOffer {
        items: vec![trade::TradeItem {
            inventory_slot: 27,
            item_id: "coal".to_owned(),
            quantity: 3,
            trade_slot: 0,
        }],
        accepted,
    };
    let nothing = || trade::TradeOffer::default();
    server.event(shop::ShopState {
        open: true,
        store_id: "stall".to_owned(),
        name: "The Stall".to_owned(),
        buys: true,
        pays_percent: 50,
        items: vec![
            shop::ShopItem {
                item_id: "coal".to_owned(),
                price: 31,
                stock: Some(4),
                category: "ores".to_owned(),
            },
            shop::ShopItem {
                item_id: "rope".to_owned(),
                price: 16,
                stock: None,
                category: String::new(),
            },
        ],
    });
    server.event(shop::ShopState::default());
    server.event(grave::GraveUpdate {
        grave_id: "grave:1-2".to_owned(),
        position: Some(grave::GraveTile { x: -70, z: 300 }),
        items: vec![sync::Stack {
            item_id: "coal".to_owned(),
            quantity: 3,
        }],
        expires_in_ms: 900_000,
    });
    server.event(trade::TradeIncoming {
        trade_id: trade_id(),
        from_player_id: "c1".to_owned(),
        from_player_name: "Ann".to_owned(),
        from_player_level: 3,
    });
    server.event(trade::TradeStarted {
        trade_id: trade_id(),
        partner_id: "c1".to_owned(),
        partner_name: "Ann".to_owned(),
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
        received_items: vec![trade::TradeReceived {
            item_id: "coal".to_owned(),
            quantity: 3,
        }],
    });
    server.event(trade::TradeCancelled {
        trade_id: trade_id(),
        reason: "too_far".to_owned(),
        message: "you are too far apart".to_owned(),
    });
    server.event(trade::TradeError {
        code: ErrorCode::InvalidQuantity,
        message: "1 up to what lies there".to_owned(),
        trade_id: Some(trade_id()),
    });
}

#[allow(clippy::too_many_lines, reason = "a list")]
pub(super) fn duel_events(server: &mut Server) {
    let duel_id = || "duel:1-2".to_owned();
    let rules = || [("noFood".to_owned(), true), ("noMagic".to_owned(), false)].into();
    let bare = || [("ammo".to_owned(), false), ("head".to_owned(), true)].into();
    let stakes = || {
        vec![duel::DuelStake {
            inventory_slot: 27,
            item_id: "coal".to_owned(),
            quantity: 3,
            value: 90,
        }]
    };
    server.event(duel::DuelChallengeSent {
        challenge_id: "challenge:1-2".to_owned(),
        target_player_id: "c2".to_owned(),
        target_player_name: "Bob".to_owned(),
    });
    server.event(duel::DuelChallengeIncoming {
        challenge_id: "challenge:1-2".to_owned(),
        from_player_id: "c1".to_owned(),
        from_player_name: "Ann".to_owned(),
        from_player_level: 3,
    });
    for declined_by in [None, Some("c2".to_owned())] {
        server.event(duel::DuelChallengeDeclined {
            challenge_id: "challenge:1-2".to_owned(),
            declined_by,
        });
    }
    server.event(duel::DuelSessionStarted {
        duel_id: duel_id(),
        challenge_id: "challenge:1-2".to_owned(),
        opponent_id: "c2".to_owned(),
        opponent_name: "Bob".to_owned(),
        is_challenger: true,
    });
    server.event(duel::DuelRulesUpdated {
        duel_id: duel_id(),
        rules: rules(),
        challenger_accepted: false,
        target_accepted: false,
        modified_by: "c2".to_owned(),
    });
    server.event(duel::DuelEquipmentUpdated {
        duel_id: duel_id(),
        equipment_restrictions: bare(),
        challenger_accepted: false,
        target_accepted: false,
        modified_by: "c2".to_owned(),
    });
    server.event(duel::DuelStakesUpdated {
        duel_id: duel_id(),
        challenger_stakes: stakes(),
        target_stakes: Vec::new(),
        challenger_accepted: false,
        target_accepted: false,
        modified_by: "c1".to_owned(),
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
        challenger_id: "c1".to_owned(),
        target_id: "c2".to_owned(),
    });
    server.event(duel::DuelCountdownStart {
        duel_id: duel_id(),
        arena_id: 6,
        challenger_id: "c1".to_owned(),
        target_id: "c2".to_owned(),
    });
    server.event(duel::DuelCountdownTick {
        duel_id: duel_id(),
        count: 3,
        challenger_id: "c1".to_owned(),
        target_id: "c2".to_owned(),
    });
    server.event(duel::DuelFightStart {
        duel_id: duel_id(),
        arena_id: 6,
        opponent_id: "c2".to_owned(),
        bounds: duel::DuelBounds {
            min: duel::DuelCorner { x: -60, z: 80 },
            max: duel::DuelCorner { x: -47, z: 93 },
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
        opponent_name: "Bob".to_owned(),
        items_received: Vec::new(),
        items_lost: vec![duel::DuelItem {
            item_id: "coal".to_owned(),
            quantity: 3,
        }],
        total_value_won: 0,
        total_value_lost: 90,
        forfeit: true,
    });
    server.event(duel::DuelCancelled {
        duel_id: duel_id(),
        reason: "cancelled".to_owned(),
        message: "the duel was called off".to_owned(),
        cancelled_by: Some("c2".to_owned()),
    });
    server.event(duel::DuelError {
        code: ErrorCode::CannotForfeit,
        message: "nobody may give up in this duel".to_owned(),
        duel_id: Some(duel_id()),
    });
}
