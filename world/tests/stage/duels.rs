//! Duels on the stage: four rings around a lobby, what is asked about them, and what is told.

use serde_json::{Value, json};
use world::content::EquipSlot;
use world::{
    CharacterId, DuelNotification, DuelPart, DuelRule, DuelStage, EntityId, Event, Stack, Staked,
    duel,
};

use super::Stage;

/// The lobby is 19 tiles wide, the rings are 11; in each two begin six tiles apart.
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
    /// What somebody asks about its duel, or about the last challenge.
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
        if let Event::Duel(duel::Event::Told {
            told: DuelNotification::Challenged { challenge, .. },
            ..
        }) = event
        {
            self.challenge = Some(challenge.clone());
        }
    }
}

/// What somebody is told; of what both see alike, the one who was challenged only that it does.
pub(super) fn told(who: &CharacterId, told: &DuelNotification) -> String {
    match told {
        DuelNotification::Challenged { whom, .. } => format!("{who} challenges {whom}"),
        DuelNotification::Incoming { from, .. } => format!("{who} hears {from} challenge"),
        DuelNotification::Declined { by, .. } => match by {
            Some(by) => format!("{who} unchallenged by {by}"),
            None => format!("{who} unchallenged"),
        },
        DuelNotification::Started { opponent, .. } => format!("{who} duels {opponent}"),
        DuelNotification::Shown { part, by, shown } => {
            if *who != shown.fighters[0] {
                return format!("{who} too");
            }
            let by = by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
            let rules: Vec<&str> = shown.rules.iter().map(|rule| rule.name()).collect();
            let bare: Vec<&str> = shown.bare.iter().map(|place| place.name()).collect();
            let [mine, theirs] = shown.stakes.each_ref().map(|stakes| staked(stakes));
            let agreed = shown.agreed.map(|yes| if yes { "!" } else { "-" }).concat();
            let stage = shown.stage.name();
            match part {
                DuelPart::Rules => format!("{who} rules{by} [{}] {agreed}", rules.join(" ")),
                DuelPart::Equipment => format!("{who} bare{by} [{}] {agreed}", bare.join(" ")),
                DuelPart::Stakes => format!("{who} stakes{by} {mine} {theirs} {agreed}"),
                DuelPart::Agreed => format!("{who} agreed{by} {agreed}"),
                DuelPart::Stage => format!("{who} at {stage}"),
            }
        }
        DuelNotification::Entered { ring, .. } => format!("{who} enters {ring}"),
        DuelNotification::Counted { count, .. } => format!("{who} counts {count}"),
        DuelNotification::Fight { opponent, .. } => format!("{who} fights {opponent}"),
        DuelNotification::OpponentAway { ticks, .. } => format!("{who} waits {ticks}"),
        DuelNotification::OpponentBack { .. } => format!("{who} waits no more"),
        DuelNotification::Completed { result, .. } => {
            let won = if result.won { "won" } else { "lost" };
            let forfeit = if result.forfeit { " by forfeit" } else { "" };
            let [got, gave] = [&result.received, &result.lost].map(|stacks| listed(stacks));
            format!(
                "{who} {won}{forfeit}: {got} for {gave} worth {:?}",
                result.worth
            )
        }
        DuelNotification::Ended { why, by, .. } => match by {
            Some(by) => format!("{who} duel off {why:?} by {by}"),
            None => format!("{who} duel off {why:?}"),
        },
    }
}

fn staked(stakes: &[Staked]) -> String {
    let stakes = stakes.iter();
    let stakes = stakes.map(|s| format!("{} {} of {}", s.stack.item, s.stack.quantity, s.slot));
    format!("[{}]", stakes.collect::<Vec<_>>().join(", "))
}

fn listed(stacks: &[Stack]) -> String {
    let stacks = stacks.iter();
    let stacks = stacks.map(|stack| format!("{} {}", stack.item, stack.quantity));
    format!("[{}]", stacks.collect::<Vec<_>>().join(", "))
}
