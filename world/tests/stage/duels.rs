//! Duels on the stage: four rings around a lobby, the requests, and the messages.

use serde_json::{Value, json};
use world::content::EquipSlot;
use world::duel::told::DuelStake;
use world::told::Stack;
use world::{CharacterId, DuelRule, DuelStage, EntityId, Event, duel, time::TICK_MS};

use super::Stage;

/// Returns the manifests of the rings. The lobby is 19 tiles wide, the rings are 11; in each two
/// begin six tiles apart.
pub(super) fn manifests() -> Vec<(&'static str, Value)> {
    let at = |x: i32, z: i32| json!({"x": x, "y": 0, "z": z});
    let places = [(20, 20), (-20, 20), (20, -20), (-20, -20)];
    let arenas = places.iter().zip(1..).map(|((x, z), id)| {
        json!({"arenaId": id, "center": at(*x, *z), "size": 11,
            "spawnPoints": [at(*x, z - 3), at(*x, z + 3)]})
    });
    let arenas: Vec<Value> = arenas.collect();
    let lobby = json!({"center": at(0, 0), "size": {"width": 19, "depth": 19},
        "spawnPoint": at(0, 1)});
    vec![(
        "duel-arenas.json",
        json!({"arenas": arenas, "lobby": lobby}),
    )]
}

impl Stage {
    /// Returns a request of a player about its duel, or about the last challenge.
    pub(super) fn dueling(&self, words: &[&str]) -> Option<duel::Intent> {
        let who = CharacterId::from(words[0]);
        let none = || EntityId::from("duel:none");
        let duel = self.world.duel_of(&who).unwrap_or_else(none);
        let challenge = self.challenge.clone().unwrap_or_else(none);
        let small = |i: usize| -> u8 { words[i].parse().expect("a small number") };
        Some(match words[1..] {
            ["challenges", target] => duel::Intent::Challenge {
                target: self.thing(target),
            },
            ["dares"] => duel::Intent::Answer {
                challenge,
                accept: true,
            },
            ["shuns", "challenge"] => duel::Intent::Answer {
                challenge,
                accept: false,
            },
            ["rules", rule] => duel::Intent::Rule {
                duel,
                rule: DuelRule::named(rule).expect("a rule"),
            },
            ["bares", place] => duel::Intent::Bare {
                duel,
                place: EquipSlot::named(place).expect("a place"),
            },
            ["stakes", many, "of", _] => duel::Intent::Stake {
                duel,
                slot: small(4),
                quantity: many.parse().expect("a number"),
            },
            ["unstakes", _] => duel::Intent::Unstake {
                duel,
                place: small(2),
            },
            ["agrees", what] => duel::Intent::Agree {
                duel,
                seen: match what {
                    "rules" => DuelStage::Rules,
                    "stakes" => DuelStage::Stakes,
                    _ => DuelStage::Confirming,
                },
            },
            ["calls", "challenge", "off"] => duel::Intent::Cancel { duel: challenge },
            ["calls", "off"] => duel::Intent::Cancel { duel },
            ["forfeits"] => duel::Intent::Forfeit { duel },
            _ => return None,
        })
    }

    pub(super) fn hear_of_duel(&mut self, event: &Event) {
        if let Event::Duel(duel::Event::Challenged(_, told)) = event {
            self.challenge = Some(told.challenge_id.clone());
        }
    }
}

/// Returns the player that sees the same view of its duel as the one before it did.
pub(super) fn echo<'e>(before: Option<&Event>, event: &'e Event) -> Option<&'e CharacterId> {
    use duel::Event as Duel;
    let (Event::Duel(before), Event::Duel(event)) = (before?, event) else {
        return None;
    };
    let same = match (before, event) {
        (Duel::Rules(_, one), Duel::Rules(_, other)) => one == other,
        (Duel::Equipment(_, one), Duel::Equipment(_, other)) => one == other,
        (Duel::Stakes(_, one), Duel::Stakes(_, other)) => one == other,
        (Duel::Agreed(_, one), Duel::Agreed(_, other)) => one == other,
        (Duel::Stage(_, one), Duel::Stage(_, other)) => one == other,
        _ => false,
    };
    (same && before.who() != event.who()).then(|| event.who())
}

/// Returns the words for a message.
pub(super) fn told(event: &duel::Event) -> String {
    let agreed = |of: [bool; 2]| of.map(|yes| if yes { "!" } else { "-" }).concat();
    match event {
        duel::Event::Challenged(who, told) => format!("{who} challenges {}", told.target_player_id),
        duel::Event::Incoming(who, told) => {
            format!("{who} hears {} challenge", told.from_player_id)
        }
        duel::Event::Declined(who, told) => match &told.declined_by {
            Some(by) => format!("{who} unchallenged by {by}"),
            None => format!("{who} unchallenged"),
        },
        duel::Event::Started(who, told) => format!("{who} duels {}", told.opponent_id),
        duel::Event::Rules(who, told) => {
            let all = DuelRule::ALL.iter().map(|rule| rule.name());
            let rules: Vec<&str> = all.filter(|rule| told.rules[*rule]).collect();
            let agreed = agreed([told.challenger_accepted, told.target_accepted]);
            let (by, rules) = (&told.modified_by, rules.join(" "));
            format!("{who} rules by {by} [{rules}] {agreed}")
        }
        duel::Event::Equipment(who, told) => {
            let all = told.equipment_restrictions.iter();
            let bare: Vec<&str> = all
                .filter(|(_, bare)| **bare)
                .map(|(at, _)| &**at)
                .collect();
            let agreed = agreed([told.challenger_accepted, told.target_accepted]);
            let (by, bare) = (&told.modified_by, bare.join(" "));
            format!("{who} bare by {by} [{bare}] {agreed}")
        }
        duel::Event::Stakes(who, told) => {
            let [mine, theirs] = [&told.challenger_stakes, &told.target_stakes].map(|s| staked(s));
            let agreed = agreed([told.challenger_accepted, told.target_accepted]);
            format!(
                "{who} stakes by {} {mine} {theirs} {agreed}",
                told.modified_by
            )
        }
        duel::Event::Agreed(who, told) => {
            let agreed = agreed([told.challenger_accepted, told.target_accepted]);
            format!("{who} agreed {agreed}")
        }
        duel::Event::Stage(who, told) => format!("{who} at {}", told.state),
        duel::Event::Entered(who, told) => format!("{who} enters {}", told.arena_id),
        duel::Event::Counted(who, told) => format!("{who} counts {}", told.count),
        duel::Event::Fight(who, told) => format!("{who} fights {}", told.opponent_id),
        duel::Event::OpponentAway(who, told) => {
            format!("{who} waits {}", told.timeout_ms / TICK_MS)
        }
        duel::Event::OpponentBack(who, _) => format!("{who} waits no more"),
        duel::Event::Completed(who, told) => {
            let won = if told.won { "won" } else { "lost" };
            let forfeit = if told.forfeit { " by forfeit" } else { "" };
            let [got, gave] = [&told.items_received, &told.items_lost].map(|s| listed(s));
            let worth = [told.total_value_won, told.total_value_lost];
            format!("{who} {won}{forfeit}: {got} for {gave} worth {worth:?}")
        }
        duel::Event::Cancelled(who, told) => match &told.cancelled_by {
            Some(by) => format!("{who} duel off {:?} by {by}", told.reason),
            None => format!("{who} duel off {:?}", told.reason),
        },
    }
}

fn staked(stakes: &[DuelStake]) -> String {
    let stakes = stakes.iter();
    let stakes = stakes.map(|s| format!("{} {} of {}", s.item_id, s.quantity, s.inventory_slot));
    format!("[{}]", stakes.collect::<Vec<_>>().join(", "))
}

fn listed(stacks: &[Stack]) -> String {
    let stacks = stacks.iter();
    let stacks = stacks.map(|stack| format!("{} {}", stack.item_id, stack.quantity));
    format!("[{}]", stacks.collect::<Vec<_>>().join(", "))
}
