//! Well-formed messages of clients: every event at least once. The wire's tests pin the bytes of
//! these, and the gateway's tests send them with every kind of token.

/// A message of a client: its event and its data, as JSON text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) event: &'static str,
    pub(crate) data: &'static str,
}

const fn sample(event: &'static str, data: &'static str) -> Sample {
    Sample { event, data }
}

/// Valid messages of every event; some in several shapes. The gateway answers the first and the last
/// ones, zones those between.
pub(crate) const CLIENT_MESSAGES: &[Sample] = &[
    sample("authenticate", r#"{"deviceKey":"k3y"}"#),
    sample(
        "session:resume",
        r#"{"resumeToken":"t0ken","lastSeq":70000}"#,
    ),
    sample("ping", r#"{"t":12.5}"#),
    sample("character:list", "{}"),
    sample("character:create", r#"{"name":"Ann Ähre"}"#),
    sample("character:create", r#"{"name":"Bob","look":"21340"}"#),
    sample("character:delete", r#"{"characterId":"c1"}"#),
    sample("admin:elevate", r#"{"code":"c0de"}"#),
    sample(
        "admin:command",
        r#"{"command":"teleport","args":{"name":"Bob","x":-70,"z":300}}"#,
    ),
    sample("world:enter", r#"{"characterId":"c1"}"#),
    sample("world:leave", "{}"),
    sample("world:watch", r#"{"characterId":"c1"}"#),
    sample("player:move", r#"{"target":{"x":-70,"z":300},"run":true}"#),
    sample("player:action", r#"{"action":"examine","target":"npc:1"}"#),
    sample(
        "player:action",
        r#"{"action":"smelt","target":"sta:town:furnace","option":"bronze_bar","quantity":10000}"#,
    ),
    sample("inventory:drop", r#"{"slot":27,"quantity":2147483647}"#),
    sample("inventory:move", r#"{"from":0,"to":9}"#),
    sample("inventory:use", r#"{"slot":5}"#),
    sample("inventory:use", r#"{"slot":5,"skill":"mining"}"#),
    sample("inventory:use", r#"{"slot":5,"target":27}"#),
    sample("inventory:use", r#"{"slot":5,"target":"fire:1-1"}"#),
    sample("inventory:equip", r#"{"slot":3}"#),
    sample("equipment:remove", r#"{"slot":"shield"}"#),
    sample("bank:open", r#"{"target":"sta:bank:4,0"}"#),
    sample("bank:close", "{}"),
    sample("bank:deposit", r#"{"slot":2,"quantity":10,"tab":8}"#),
    sample("bank:depositAll", r#"{"tab":1}"#),
    sample("bank:depositEquipment", r#"{"tab":0}"#),
    sample(
        "bank:withdraw",
        r#"{"itemId":"coal","quantity":2147483647,"noted":true}"#,
    ),
    sample("bank:move", r#"{"itemId":"coal","before":"logs"}"#),
    sample("bank:tab", r#"{"itemId":"coal","tab":5}"#),
    sample("bank:placeholder", r#"{"keep":true}"#),
    sample("bank:coins", r#"{"amount":25,"withdraw":true}"#),
    sample("coins:withdraw", r#"{"amount":25}"#),
    sample("coins:deposit", "{}"),
    sample("dialogue:respond", r#"{"index":2}"#),
    sample("dialogue:continue", "{}"),
    sample("dialogue:close", "{}"),
    sample("quest:list", "{}"),
    sample("quest:detail", r#"{"questId":"lost_ring"}"#),
    sample("quest:accept", r#"{"questId":"lost_ring"}"#),
    sample("quest:abandon", r#"{"questId":"lost_ring"}"#),
    sample("quest:complete", r#"{"questId":"lost_ring"}"#),
    sample("combat:style", r#"{"style":"rapid"}"#),
    sample("combat:retaliate", r#"{"on":false}"#),
    sample("combat:autocast", r#"{"spell":null}"#),
    sample("prayer:toggle", r#"{"prayer":"thick_socks"}"#),
    sample("player:emote", r#"{"emote":"wave"}"#),
    sample("shop:open", r#"{"target":"npc:1"}"#),
    sample("shop:close", "{}"),
    sample("shop:buy", r#"{"itemId":"coal","quantity":5}"#),
    sample("shop:sell", r#"{"slot":3,"quantity":2147483647}"#),
    sample("tradeRequest", r#"{"targetPlayerId":"c2"}"#),
    sample(
        "tradeRequestRespond",
        r#"{"tradeId":"trade:1-2","accept":true}"#,
    ),
    sample(
        "tradeAddItem",
        r#"{"tradeId":"trade:1-2","inventorySlot":27,"quantity":70000}"#,
    ),
    sample(
        "tradeRemoveItem",
        r#"{"tradeId":"trade:1-2","tradeSlot":3}"#,
    ),
    sample(
        "tradeSetItemQuantity",
        r#"{"tradeId":"trade:1-2","tradeSlot":0,"quantity":-1}"#,
    ),
    sample(
        "tradeAccept",
        r#"{"tradeId":"trade:1-2","screen":"confirm"}"#,
    ),
    sample("tradeCancelAccept", r#"{"tradeId":"trade:1-2"}"#),
    sample("tradeCancel", r#"{"tradeId":"trade:1-2"}"#),
    sample("duel:challenge", r#"{"targetPlayerId":"c2"}"#),
    sample(
        "duel:challenge:respond",
        r#"{"challengeId":"challenge:1-2","accept":true}"#,
    ),
    sample(
        "duel:toggle:rule",
        r#"{"duelId":"duel:1-2","rule":"noFood"}"#,
    ),
    sample(
        "duel:toggle:equipment",
        r#"{"duelId":"duel:1-2","slot":"head"}"#,
    ),
    sample("duel:accept:rules", r#"{"duelId":"duel:1-2"}"#),
    sample(
        "duel:add:stake",
        r#"{"duelId":"duel:1-2","inventorySlot":27,"quantity":70000}"#,
    ),
    sample(
        "duel:remove:stake",
        r#"{"duelId":"duel:1-2","stakeIndex":-1}"#,
    ),
    sample("duel:accept:stakes", r#"{"duelId":"duel:1-2"}"#),
    sample("duel:accept:final", r#"{"duelId":"duel:1-2"}"#),
    sample("duel:cancel", r#"{"duelId":"duel:1-2"}"#),
    sample("duel:forfeit", r#"{"duelId":"duel:1-2"}"#),
    sample(
        "player:chat",
        r#"{"message":"hello \"you\"","channel":"private","to":"Bob"}"#,
    ),
    sample("friends:list", "{}"),
    sample("friends:request", r#"{"name":"Bob"}"#),
    sample("friends:accept", r#"{"requestId":"r1"}"#),
    sample("friends:decline", r#"{"requestId":"r1"}"#),
    sample("friends:remove", r#"{"friendId":"c2"}"#),
    sample("ignore:add", r#"{"name":"Bob"}"#),
    sample("ignore:remove", r#"{"ignoredId":"c2"}"#),
];
