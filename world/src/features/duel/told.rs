//! Messages about a duel to its two players. Names are those of the reference: the player that
//! challenged is `challenger`, the other is `target`.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Duel, DuelEnd, DuelPart, DuelRule, DuelStage, Event, Fighter, rules};
use crate::content::{Content, EquipSlot};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::geometry::tile::{Bounds, Tile};
use crate::server_events;
use crate::time::TICK_MS;
use crate::told::Stack;

/// `duelChallengeSent`: one's challenge is out, for 30 s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelChallengeSent {
    /// The challenge.
    pub challenge_id: EntityId,
    /// Challenged player.
    pub target_player_id: CharacterId,
    /// As others see it.
    pub target_player_name: String,
}

/// `duelChallengeIncoming`: somebody challenges one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelChallengeIncoming {
    /// The challenge.
    pub challenge_id: EntityId,
    /// Character that challenges.
    pub from_player_id: CharacterId,
    /// As others see it.
    pub from_player_name: String,
    /// Combat level.
    pub from_player_level: u32,
}

/// `duelChallengeDeclined`: a challenge came to nothing. Both get this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelChallengeDeclined {
    /// The challenge.
    pub challenge_id: EntityId,
    /// Player that declined; absent: time ran out, the challenger called it off, or the two parted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_by: Option<CharacterId>,
}

/// `duelSessionStarted`: both want to, and talk about the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelSessionStarted {
    /// The duel.
    pub duel_id: EntityId,
    /// The challenge that led to it.
    pub challenge_id: EntityId,
    /// With whom.
    pub opponent_id: CharacterId,
    /// As others see it.
    pub opponent_name: String,
    /// It was one's own challenge.
    pub is_challenger: bool,
}

/// `duelRulesUpdated`: a rule holds, or not any more; nobody agrees any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelRulesUpdated {
    /// The duel.
    pub duel_id: EntityId,
    /// All of them, by name: whether it holds.
    pub rules: BTreeMap<String, bool>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// Player that did it.
    pub modified_by: CharacterId,
}

/// `duelEquipmentUpdated`: nothing is to be worn somewhere, or something may be again; nobody
/// agrees any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelEquipmentUpdated {
    /// The duel.
    pub duel_id: EntityId,
    /// All places: whether nothing may be worn there.
    pub equipment_restrictions: BTreeMap<String, bool>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// Player that did it.
    pub modified_by: CharacterId,
}

/// Something at stake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelStake {
    /// The slot of its owner's pack in which it lay, 0 to 27.
    pub inventory_slot: u8,
    /// Id of the item.
    pub item_id: Arc<str>,
    /// At least 1.
    pub quantity: u32,
    /// Worth of the whole stack, in coins.
    pub value: u64,
}

/// `duelStakesUpdated`: something else is staked; nobody agrees any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelStakesUpdated {
    /// The duel.
    pub duel_id: EntityId,
    /// Stakes of the challenger, in the order of `stakeIndex`.
    pub challenger_stakes: Vec<DuelStake>,
    /// Stakes of the other player.
    pub target_stakes: Vec<DuelStake>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// Player that did it.
    pub modified_by: CharacterId,
}

/// `duelAcceptanceUpdated`: somebody agrees; all did if it says that the duel has moved on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelAcceptanceUpdated {
    /// The duel.
    pub duel_id: EntityId,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// RULES, STAKES, CONFIRMING, COUNTDOWN, FIGHTING, FINISHED
    pub state: String,
    /// It is about the stakes now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved_to_stakes: bool,
    /// It is the last look now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved_to_confirm: bool,
}

/// `duelStateChanged`: the duel as it is now, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelStateChanged {
    /// The duel.
    pub duel_id: EntityId,
    /// RULES, STAKES, CONFIRMING, COUNTDOWN, FIGHTING, FINISHED
    pub state: String,
    /// All of them, by name: whether it holds.
    pub rules: BTreeMap<String, bool>,
    /// All places: whether nothing may be worn there.
    pub equipment_restrictions: BTreeMap<String, bool>,
    /// Stakes of the challenger. From CONFIRMING on they lie in no pack.
    pub challenger_stakes: Vec<DuelStake>,
    /// Stakes of the other player.
    pub target_stakes: Vec<DuelStake>,
    /// The challenger agrees.
    pub challenger_accepted: bool,
    /// The other agrees.
    pub target_accepted: bool,
    /// The number of the ring, from COUNTDOWN on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena_id: Option<u8>,
    /// Player that challenged.
    pub challenger_id: CharacterId,
    /// Challenged player.
    pub target_id: CharacterId,
}

/// `duelCountdownStart`: both stand in the ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCountdownStart {
    /// The duel.
    pub duel_id: EntityId,
    /// The number of the ring.
    pub arena_id: u8,
    /// Player that challenged.
    pub challenger_id: CharacterId,
    /// Challenged player.
    pub target_id: CharacterId,
}

/// `duelCountdownTick`: 3, 2, 1, 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCountdownTick {
    /// The duel.
    pub duel_id: EntityId,
    /// 3 to 0; at 0 they fight.
    pub count: u8,
    /// Player that challenged.
    pub challenger_id: CharacterId,
    /// Challenged player.
    pub target_id: CharacterId,
}

/// The edges of a ring; both corners belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DuelBounds {
    /// South-west.
    pub min: Tile,
    /// North-east.
    pub max: Tile,
}

/// `duelFightStart`: they may fight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelFightStart {
    /// The duel.
    pub duel_id: EntityId,
    /// The number of the ring.
    pub arena_id: u8,
    /// With whom.
    pub opponent_id: CharacterId,
    /// Nobody gets out of them before it is over.
    pub bounds: DuelBounds,
}

/// `duelCompleted`: the duel is decided, the stakes have changed owners, and that is saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCompleted {
    /// The duel.
    pub duel_id: EntityId,
    /// One has won it oneself.
    pub won: bool,
    /// The other, as others see it.
    pub opponent_name: String,
    /// Items that the player got.
    pub items_received: Vec<Stack>,
    /// Items that the player gave.
    pub items_lost: Vec<Stack>,
    /// Worth of the items that the player got, in coins.
    pub total_value_won: u64,
    /// Worth of the items that the player gave, in coins.
    pub total_value_lost: u64,
    /// The loser gave up, or was gone for too long.
    pub forfeit: bool,
}

/// `duelCancelled`: the duel came to nothing, and both keep their stakes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelCancelled {
    /// The duel.
    pub duel_id: EntityId,
    /// Reason of the end.
    pub reason: DuelEnd,
    /// For people.
    pub message: String,
    /// Player that called it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<CharacterId>,
}

/// `duelOpponentDisconnected`: nobody plays the other just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelOpponentDisconnected {
    /// The duel.
    pub duel_id: EntityId,
    /// If it is not back by then, the duel is off, or won if they fight.
    pub timeout_ms: u64,
}

/// `duelOpponentReconnected`: the other is back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DuelOpponentReconnected {
    /// The duel.
    pub duel_id: EntityId,
}

server_events! {
    DuelChallengeSent => "duelChallengeSent",
    DuelChallengeIncoming => "duelChallengeIncoming",
    DuelChallengeDeclined => "duelChallengeDeclined",
    DuelSessionStarted => "duelSessionStarted",
    DuelRulesUpdated => "duelRulesUpdated",
    DuelEquipmentUpdated => "duelEquipmentUpdated",
    DuelStakesUpdated => "duelStakesUpdated",
    DuelAcceptanceUpdated => "duelAcceptanceUpdated",
    DuelStateChanged => "duelStateChanged",
    DuelCountdownStart => "duelCountdownStart",
    DuelCountdownTick => "duelCountdownTick",
    DuelFightStart => "duelFightStart",
    DuelCompleted => "duelCompleted",
    DuelCancelled => "duelCancelled",
    DuelOpponentDisconnected => "duelOpponentDisconnected",
    DuelOpponentReconnected => "duelOpponentReconnected",
}

/// Returns the challenge `id` by `from`.
pub(crate) fn incoming(id: &EntityId, from: &Player) -> DuelChallengeIncoming {
    DuelChallengeIncoming {
        challenge_id: id.clone(),
        from_player_id: from.record.id.clone(),
        from_player_name: from.record.name.clone(),
        from_player_level: from.record.combat_level,
    }
}

/// Returns the beginning of a duel for `who`. `name`: display name of the opponent.
pub(crate) fn started(duel: &Duel, who: &CharacterId, name: &str) -> DuelSessionStarted {
    DuelSessionStarted {
        duel_id: duel.id.clone(),
        challenge_id: duel.challenge.clone(),
        opponent_id: duel.other(who).clone(),
        opponent_name: name.to_owned(),
        is_challenger: duel.sides[0].who == *who,
    }
}

/// Returns the event that shows `who` the changed part of a duel. `by`: the player that made the
/// change.
pub(crate) fn shown(
    part: DuelPart,
    by: &CharacterId,
    who: CharacterId,
    duel: &Duel,
    content: &Content,
) -> Event {
    let (duel_id, modified_by) = (duel.id.clone(), by.clone());
    let [challenger_accepted, target_accepted] = duel.sides.each_ref().map(|side| side.agreed);
    match part {
        DuelPart::Rules => {
            let updated = DuelRulesUpdated {
                duel_id,
                rules: in_force(duel),
                challenger_accepted,
                target_accepted,
                modified_by,
            };
            Event::Rules(who, updated)
        }
        DuelPart::Equipment => {
            let updated = DuelEquipmentUpdated {
                duel_id,
                equipment_restrictions: restrictions(duel),
                challenger_accepted,
                target_accepted,
                modified_by,
            };
            Event::Equipment(who, updated)
        }
        DuelPart::Stakes => {
            let [challenger_stakes, target_stakes] = stakes(duel, content);
            let updated = DuelStakesUpdated {
                duel_id,
                challenger_stakes,
                target_stakes,
                challenger_accepted,
                target_accepted,
                modified_by,
            };
            Event::Stakes(who, updated)
        }
        DuelPart::Agreed => {
            let nobody = !challenger_accepted && !target_accepted;
            let updated = DuelAcceptanceUpdated {
                duel_id,
                challenger_accepted,
                target_accepted,
                state: duel.stage.name().to_owned(),
                moved_to_stakes: nobody && duel.stage == DuelStage::Stakes,
                moved_to_confirm: nobody && duel.stage == DuelStage::Confirming,
            };
            Event::Agreed(who, updated)
        }
    }
}

/// Returns the event that shows `who` a whole duel.
pub(crate) fn whole(who: CharacterId, duel: &Duel, content: &Content) -> Event {
    let [challenger_accepted, target_accepted] = duel.sides.each_ref().map(|side| side.agreed);
    let [challenger_stakes, target_stakes] = stakes(duel, content);
    let [challenger_id, target_id] = duel.fighters();
    let changed = DuelStateChanged {
        duel_id: duel.id.clone(),
        state: duel.stage.name().to_owned(),
        rules: in_force(duel),
        equipment_restrictions: restrictions(duel),
        challenger_stakes,
        target_stakes,
        challenger_accepted,
        target_accepted,
        arena_id: duel.ring,
        challenger_id,
        target_id,
    };
    Event::Stage(who, Box::new(changed))
}

fn in_force(duel: &Duel) -> BTreeMap<String, bool> {
    let all = DuelRule::ALL.iter();
    all.map(|rule| (rule.name().to_owned(), duel.rules.contains(rule)))
        .collect()
}

fn restrictions(duel: &Duel) -> BTreeMap<String, bool> {
    let all = EquipSlot::ALL.iter();
    all.map(|place| (name_of(*place).to_owned(), duel.bare.contains(place)))
        .collect()
}

/// Returns the name that duels have for an equipment slot.
fn name_of(place: EquipSlot) -> &'static str {
    match place {
        EquipSlot::Helmet => "head",
        EquipSlot::Arrows => "ammo",
        place => place.name(),
    }
}

fn stakes(duel: &Duel, content: &Content) -> [Vec<DuelStake>; 2] {
    let of = |side: &Fighter| {
        let staked = side.stakes.iter().map(|staked| DuelStake {
            inventory_slot: staked.slot,
            item_id: Arc::clone(&staked.stack.item),
            quantity: staked.stack.quantity,
            value: rules::worth(content, &staked.stack),
        });
        staked.collect()
    };
    duel.sides.each_ref().map(of)
}

/// Returns a ring as its first and last tiles.
pub(crate) fn edges(bounds: Bounds) -> DuelBounds {
    DuelBounds {
        min: Tile::new(bounds.min_x, bounds.min_z),
        max: Tile::new(bounds.max_x - 1, bounds.max_z - 1),
    }
}

/// Returns the event that tells `who` that its opponent is away, or back. `ticks`: the time within
/// which the opponent must come back; `None`: it is back.
pub(crate) fn away(who: CharacterId, id: &EntityId, ticks: Option<u64>) -> Event {
    let duel_id = id.clone();
    match ticks {
        Some(ticks) => {
            let timeout_ms = ticks.saturating_mul(TICK_MS);
            let away = DuelOpponentDisconnected {
                duel_id,
                timeout_ms,
            };
            Event::OpponentAway(who, away)
        }
        None => Event::OpponentBack(who, DuelOpponentReconnected { duel_id }),
    }
}

/// Returns the end of the duel `id` without a winner. `by`: the player that called it off.
pub(crate) fn cancelled(id: &EntityId, why: DuelEnd, by: Option<&CharacterId>) -> DuelCancelled {
    DuelCancelled {
        duel_id: id.clone(),
        reason: why,
        message: why.sentence().to_owned(),
        cancelled_by: by.cloned(),
    }
}
