//! A land with everything that can change owners.

use serde_json::json;

use crate::stage::Land;

/// Tiles of the beasts, one in each quarter.
pub(super) const BEASTS: [(i32, i32); 4] = [(8, 8), (-8, 8), (8, -8), (-8, -8)];

/// Returns a beast that dies soon, hits back and leaves things behind.
fn rat() -> serde_json::Value {
    json!({"id": "rat", "name": "Rat", "stats": {"level": 3, "health": 3, "strength": 30},
        "combat": {"attackable": true, "aggressive": true, "aggroRange": 4, "leashRange": 6,
            "respawnTicks": 8},
        "drops": {"always": [
            {"itemId": "logs", "minQuantity": 1, "maxQuantity": 2, "chance": 1},
            {"itemId": "candle", "minQuantity": 1, "maxQuantity": 9, "chance": 0.5}]}})
}

/// Returns Tom, who has a quest for everybody, and a word for each who pursues it.
fn tom() -> serde_json::Value {
    json!({"entryNodeId": "hello", "nodes": [
            {"id": "hello", "text": "Help me?", "responses": [
                {"text": "Yes.", "effect": "startQuest:errand"},
                {"text": "Heal me.", "effect": "heal"},
                {"text": "My things.", "effect": "openBank"},
                {"text": "Why?", "nextNodeId": "why"}]},
            {"id": "why", "text": "Why not?", "effect": "giveItem:candle:2"},
            {"id": "well", "text": "Well?", "responses": [{"text": "Not yet."}]},
            {"id": "done", "text": "Thank you!", "effect": "completeQuest:errand"}],
        "questOverrides": {"errand": {"in_progress": "well", "ready_to_complete": "done"}}})
}

/// Takes a walk and a word, gives things when it begins and when it ends.
fn errand() -> serde_json::Value {
    json!({"id": "errand", "name": "An Errand", "difficulty": "novice", "startNpc": "tom",
        "questPoints": 1,
        "onStart": {"items": [{"itemId": "tinderbox", "quantity": 1}]},
        "stages": [
            {"id": "there", "type": "travel", "description": "Look there.",
                "location": {"x": -2, "y": 0, "z": -2, "radius": 4}},
            {"id": "back", "type": "dialogue", "description": "Tell Tom.", "npcId": "tom"}],
        "rewards": {"questPoints": 1, "xp": {"cooking": 100}, "items": [
            {"itemId": "candle", "quantity": 3}, {"itemId": "cake", "quantity": 1}]}})
}

/// Returns a land with a bank, a shop, beasts and other givers and takers of things; with rings for
/// duels, or without.
pub(super) fn land(duels: bool) -> Land {
    let land = Land::default().rect("wall", (4, -6), (4, 6));
    let land = land.station("bank", (-3, -3)).banker("teller", (3, 3));
    let land = land
        .resource("tree", "thicket", (-2, 2))
        .resource("ore", "copper", (2, -2))
        .station("range", (7, 7))
        .station("furnace", (-7, 7))
        .station("altar", (7, -7))
        .tanner("ellis", (2, 6));
    let land = BEASTS
        .iter()
        .fold(land.lawless().crowded().magic(), |land, at| {
            land.beast(rat(), *at)
        });
    let land = if duels { land.rings() } else { land }.potions();
    let land = land
        .speaker("tom", (-5, -1), tom())
        .quests(json!({"errand": errand()}));
    let goods = [("logs", 4, 9), ("candle", 3, -1), ("sword", 60, 2)];
    land.shop("stall", (-3, 3), &goods)
}
