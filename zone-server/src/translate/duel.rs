//! Duels: their requests, and the notifications to both sides.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proto::{
    client::{
        ErrorCode,
        duel::{
            DuelAcceptanceUpdated, DuelBounds, DuelCancelled, DuelChallengeDeclined,
            DuelChallengeIncoming, DuelChallengeSent, DuelCompleted, DuelCorner,
            DuelCountdownStart, DuelCountdownTick, DuelEquipmentUpdated, DuelError, DuelFightStart,
            DuelItem, DuelOpponentDisconnected, DuelOpponentReconnected, DuelRulesUpdated,
            DuelSessionStarted, DuelStake, DuelStakesUpdated, DuelStateChanged,
        },
    },
    rpc::zone::v1::{Encounter, Private},
};
use serde::Deserialize;
use world::{
    Bounds, CharacterId, DuelEnd, DuelNotification, DuelPart, DuelResult, DuelRule, DuelShown,
    DuelStage, Stack, Staked, content::EquipSlot, duel::Event,
};

use super::{Refused, Told, for_gateway, private};

/// A tick, in milliseconds.
const TICK_MS: u64 = 600;

/// Returns whether its failures are told as `duelError`.
pub(crate) fn is_about_duel(event: &str) -> bool {
    event.starts_with("duel:")
}

/// Returns the name that duels have for an equipment slot.
fn name_of(place: EquipSlot) -> &'static str {
    match place {
        EquipSlot::Helmet => "head",
        EquipSlot::Arrows => "ammo",
        place => place.name(),
    }
}

/// Returns the answer to a refused request.
pub(crate) fn error(data: &[u8], re: Bytes, why: Refused) -> Private {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        duel_id: String,
    }
    let named = serde_json::from_slice::<Named>(data).ok();
    let code = match why.code {
        ErrorCode::SelfTrade => ErrorCode::InvalidTarget,
        code => code.of_exchange(),
    };
    let error = DuelError {
        code,
        message: why.words,
        duel_id: named.map(|named| named.duel_id),
    };
    private(&error, re)
}

/// Returns the message for a player, and whether it waits until its subject is saved. All
/// messages of a duel itself wait, so that they come in order.
fn notification(told: &DuelNotification) -> (Private, bool) {
    match told {
        DuelNotification::Challenged { .. }
        | DuelNotification::Incoming { .. }
        | DuelNotification::Declined { .. } => (of_challenge(told), false),
        DuelNotification::Started { .. }
        | DuelNotification::Shown { .. }
        | DuelNotification::Entered { .. }
        | DuelNotification::Counted { .. }
        | DuelNotification::Fight { .. }
        | DuelNotification::OpponentAway { .. }
        | DuelNotification::OpponentBack { .. }
        | DuelNotification::Completed { .. }
        | DuelNotification::Ended { .. } => (of_duel(told), true),
    }
}

/// The encounter that a notification is about, if the gateway must know how far that is. `account`
/// names that of somebody who asks.
pub(crate) fn encounter(
    event: &Event,
    account: impl FnOnce(&CharacterId) -> String,
) -> Option<Encounter> {
    let Event::Told { told, .. } = event;
    let (id, asking_account, over, if_lost) = match told {
        DuelNotification::Incoming {
            challenge, from, ..
        } => (challenge, account(from), false, None),
        DuelNotification::Declined { challenge, .. } => (challenge, String::new(), true, None),
        DuelNotification::Started { duel, .. } => {
            let lost = DuelCancelled {
                duel_id: duel.to_string(),
                reason: "server".to_owned(),
                message: "this part of the world was lost; stakes come back".to_owned(),
                cancelled_by: None,
            };
            (duel, String::new(), false, Some(for_gateway(&lost)))
        }
        DuelNotification::Completed { duel, .. } | DuelNotification::Ended { duel, .. } => {
            (duel, String::new(), true, None)
        }
        DuelNotification::Challenged { .. }
        | DuelNotification::Shown { .. }
        | DuelNotification::Entered { .. }
        | DuelNotification::Counted { .. }
        | DuelNotification::Fight { .. }
        | DuelNotification::OpponentAway { .. }
        | DuelNotification::OpponentBack { .. } => return None,
    };
    Some(Encounter {
        id: id.to_string(),
        over,
        if_lost,
        asking_account,
    })
}

fn of_challenge(told: &DuelNotification) -> Private {
    let now = Bytes::new;
    match told {
        DuelNotification::Challenged {
            challenge,
            whom,
            name,
        } => {
            let sent = DuelChallengeSent {
                challenge_id: challenge.to_string(),
                target_player_id: whom.to_string(),
                target_player_name: name.clone(),
            };
            private(&sent, now())
        }
        DuelNotification::Incoming {
            challenge,
            from,
            name,
            level,
        } => {
            let incoming = DuelChallengeIncoming {
                challenge_id: challenge.to_string(),
                from_player_id: from.to_string(),
                from_player_name: name.clone(),
                from_player_level: *level,
            };
            private(&incoming, now())
        }
        DuelNotification::Declined { challenge, by } => {
            let declined = DuelChallengeDeclined {
                challenge_id: challenge.to_string(),
                declined_by: by.as_ref().map(ToString::to_string),
            };
            private(&declined, now())
        }
        // These are no challenges.
        DuelNotification::Started { .. }
        | DuelNotification::Shown { .. }
        | DuelNotification::Entered { .. }
        | DuelNotification::Counted { .. }
        | DuelNotification::Fight { .. }
        | DuelNotification::OpponentAway { .. }
        | DuelNotification::OpponentBack { .. }
        | DuelNotification::Completed { .. }
        | DuelNotification::Ended { .. } => Private::default(),
    }
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn of_duel(told: &DuelNotification) -> Private {
    let now = Bytes::new;
    match told {
        DuelNotification::Challenged { .. }
        | DuelNotification::Incoming { .. }
        | DuelNotification::Declined { .. } => Private::default(),
        DuelNotification::Started {
            duel,
            challenge,
            opponent,
            name,
            challenger,
        } => {
            let started = DuelSessionStarted {
                duel_id: duel.to_string(),
                challenge_id: challenge.to_string(),
                opponent_id: opponent.to_string(),
                opponent_name: name.clone(),
                is_challenger: *challenger,
            };
            private(&started, now())
        }
        DuelNotification::Shown { part, by, shown } => shows(*part, by.as_ref(), shown),
        DuelNotification::Entered {
            duel,
            ring,
            fighters,
        } => {
            let [challenger_id, target_id] = fighters.each_ref().map(ToString::to_string);
            let start = DuelCountdownStart {
                duel_id: duel.to_string(),
                arena_id: *ring,
                challenger_id,
                target_id,
            };
            private(&start, now())
        }
        DuelNotification::Counted {
            duel,
            count,
            fighters,
        } => {
            let [challenger_id, target_id] = fighters.each_ref().map(ToString::to_string);
            let tick = DuelCountdownTick {
                duel_id: duel.to_string(),
                count: *count,
                challenger_id,
                target_id,
            };
            private(&tick, now())
        }
        DuelNotification::Fight {
            duel,
            ring,
            bounds,
            opponent,
        } => {
            let fight = DuelFightStart {
                duel_id: duel.to_string(),
                arena_id: *ring,
                opponent_id: opponent.to_string(),
                bounds: edges(*bounds),
            };
            private(&fight, now())
        }
        DuelNotification::OpponentAway { duel, ticks } => {
            let away = DuelOpponentDisconnected {
                duel_id: duel.to_string(),
                timeout_ms: ticks.saturating_mul(TICK_MS),
            };
            private(&away, now())
        }
        DuelNotification::OpponentBack { duel } => {
            let duel_id = duel.to_string();
            private(&DuelOpponentReconnected { duel_id }, now())
        }
        DuelNotification::Completed { duel, result } => completed(duel.to_string(), result),
        DuelNotification::Ended { duel, why, by } => {
            let (reason, message) = reason(*why);
            let cancelled = DuelCancelled {
                duel_id: duel.to_string(),
                reason: reason.to_owned(),
                message: message.to_owned(),
                cancelled_by: by.as_ref().map(ToString::to_string),
            };
            private(&cancelled, now())
        }
    }
}

/// Returns the message that shows the changed part of a duel.
#[allow(clippy::too_many_lines, reason = "a table")]
fn shows(part: DuelPart, by: Option<&CharacterId>, shown: &DuelShown) -> Private {
    let duel_id = shown.duel.to_string();
    let modified_by = by.map_or_else(String::new, ToString::to_string);
    let [challenger_accepted, target_accepted] = shown.agreed;
    let [challenger_stakes, target_stakes] = shown.stakes.each_ref().map(|of| stakes(of));
    let now = Bytes::new();
    match part {
        DuelPart::Rules => {
            let updated = DuelRulesUpdated {
                duel_id,
                rules: rules(&shown.rules),
                challenger_accepted,
                target_accepted,
                modified_by,
            };
            private(&updated, now)
        }
        DuelPart::Equipment => {
            let updated = DuelEquipmentUpdated {
                duel_id,
                equipment_restrictions: restrictions(&shown.bare),
                challenger_accepted,
                target_accepted,
                modified_by,
            };
            private(&updated, now)
        }
        DuelPart::Stakes => {
            let updated = DuelStakesUpdated {
                duel_id,
                challenger_stakes,
                target_stakes,
                challenger_accepted,
                target_accepted,
                modified_by,
            };
            private(&updated, now)
        }
        DuelPart::Agreed => {
            let nobody = !challenger_accepted && !target_accepted;
            let updated = DuelAcceptanceUpdated {
                duel_id,
                challenger_accepted,
                target_accepted,
                state: shown.stage.name().to_owned(),
                moved_to_stakes: nobody && shown.stage == DuelStage::Stakes,
                moved_to_confirm: nobody && shown.stage == DuelStage::Confirming,
            };
            private(&updated, now)
        }
        DuelPart::Stage => {
            let [challenger_id, target_id] = shown.fighters.each_ref().map(ToString::to_string);
            let changed = DuelStateChanged {
                duel_id,
                state: shown.stage.name().to_owned(),
                rules: rules(&shown.rules),
                equipment_restrictions: restrictions(&shown.bare),
                challenger_stakes,
                target_stakes,
                challenger_accepted,
                target_accepted,
                arena_id: shown.ring,
                challenger_id,
                target_id,
            };
            private(&changed, now)
        }
    }
}

fn rules(hold: &BTreeSet<DuelRule>) -> BTreeMap<String, bool> {
    let all = DuelRule::ALL.iter();
    all.map(|rule| (rule.name().to_owned(), hold.contains(rule)))
        .collect()
}

fn restrictions(bare: &BTreeSet<EquipSlot>) -> BTreeMap<String, bool> {
    let all = EquipSlot::ALL.iter();
    all.map(|place| (name_of(*place).to_owned(), bare.contains(place)))
        .collect()
}

fn stakes(of: &[Staked]) -> Vec<DuelStake> {
    let stakes = of.iter().map(|staked| DuelStake {
        inventory_slot: staked.slot,
        item_id: staked.stack.item.to_string(),
        quantity: staked.stack.quantity,
        value: staked.worth,
    });
    stakes.collect()
}

/// Returns a ring as its first and last tiles.
fn edges(bounds: Bounds) -> DuelBounds {
    let corner = |x, z| DuelCorner { x, z };
    DuelBounds {
        min: corner(bounds.min_x, bounds.min_z),
        max: corner(bounds.max_x - 1, bounds.max_z - 1),
    }
}

fn completed(duel_id: String, result: &DuelResult) -> Private {
    let items = |stacks: &[Stack]| {
        let items = stacks.iter().map(|stack| DuelItem {
            item_id: stack.item.to_string(),
            quantity: stack.quantity,
        });
        items.collect()
    };
    let [total_value_won, total_value_lost] = result.worth;
    let completed = DuelCompleted {
        duel_id,
        won: result.won,
        opponent_name: result.opponent.clone(),
        items_received: items(&result.received),
        items_lost: items(&result.lost),
        total_value_won,
        total_value_lost,
        forfeit: result.forfeit,
    };
    private(&completed, Bytes::new())
}

/// Returns why a duel came to nothing, for programs and for people.
fn reason(why: DuelEnd) -> (&'static str, &'static str) {
    match why {
        DuelEnd::Cancelled => ("cancelled", "the duel was called off"),
        DuelEnd::Timeout => ("timeout", "the duel took too long"),
        DuelEnd::Disconnected => ("disconnected", "the other is not there any more"),
        DuelEnd::PlayerDied => ("player_died", "one of you has died"),
        DuelEnd::TooFar => (
            "too_far",
            "you are too far apart; within 15 tiles one agrees on a duel",
        ),
        DuelEnd::InvalidItems => ("invalid_items", "what was staked is not there any more"),
        DuelEnd::Draw => (
            "draw",
            "both of you fell at once; everybody keeps the own stakes",
        ),
        DuelEnd::Server => ("server", "this part of the world has moved; ask again"),
    }
}

/// Returns what a player is told of a duel.
pub(crate) fn told(event: &Event) -> Told {
    match event {
        Event::Told { told, .. } => {
            let (message, value) = notification(told);
            Told::Message { message, value }
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::client::ErrorCode;

    use super::*;

    #[test]
    fn failures_name_their_duel_in_capitals() {
        let why = Refused {
            code: ErrorCode::TooFar,
            words: String::new(),
        };
        let told = error(br#"{"duelId":"duel:1-2"}"#, Bytes::new(), why);
        let data = String::from_utf8(told.data.to_vec()).unwrap();
        let expected = r#"{"code":"TOO_FAR","message":"","duelId":"duel:1-2"}"#;
        assert_eq!((&*told.event, &*data), ("duelError", expected));
    }
}
