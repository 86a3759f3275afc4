//! Stories about duels, and the known ways to duplicate things in them.

mod fight;

use crate::stage;

use insta::assert_snapshot;
use stage::{BEGIN, Land, Stage};
use world::item::{QUANTITY_MAX, SLOTS};
use world::{Holder, Inbox, PlayerHot, PlayerRecord, Region, Rules, Tick, World};

/// Twenty blows of such a one kill ten of the others.
const STRONG: &str = "trained attack=50000000,strength=50000000";

fn land() -> Land {
    Land::default().rings().magic()
}

/// Returns two in the lobby who have taken a challenge.
fn duelling(ann: &str, bob: &str) -> Stage {
    duelling_on(&land(), ann, bob)
}

fn duelling_on(land: &Land, ann: &str, bob: &str) -> Stage {
    let mut stage = Stage::new(land);
    let told = stage.play(&format!(
        "ann joins at 0 0 {ann} / bob joins at 1 0 {bob}
         ann challenges bob
         bob dares"
    ));
    assert!(told.contains("ann duels bob; bob duels ann"), "{told}");
    stage
}

const AGREE: &str = "ann agrees rules / bob agrees rules
    ann agrees stakes / bob agrees stakes
    ann agrees final / bob agrees final";

/// Returns a stage on which two fight, after their acts in `first`: its first line sets rules, its
/// second line stakes.
fn fighting(ann: &str, bob: &str, first: [&str; 2]) -> Stage {
    let mut stage = duelling(ann, bob);
    stage.play(first[0]);
    stage.play("ann agrees rules / bob agrees rules");
    stage.play(first[1]);
    let told = stage.play(
        "ann agrees stakes / bob agrees stakes
         ann agrees final / bob agrees final
         wait 5",
    );
    assert!(told.contains("ann fights bob; bob fights ann"), "{told}");
    stage
}

/// Returns the story without the places of people.
fn said(told: &str) -> String {
    let place = |part: &&str| !matches!(part.split(' ').nth(1), Some(at) if at.contains(','));
    let lines = told.lines().map(|line| {
        let (tick, parts) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let parts: Vec<&str> = parts.split("; ").filter(place).collect();
        format!("{tick} {}", parts.join("; ")).trim().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn refusals(told: &str) -> Vec<String> {
    let parts = told.lines().flat_map(|line| line.split("; "));
    let refused = parts.filter_map(|part| part.split_once("refused "));
    refused.map(|(_, why)| why.trim().to_owned()).collect()
}

fn record(stage: &Stage, who: &str) -> PlayerRecord {
    stage.world.player(&who.into()).unwrap().record().clone()
}

fn pack(stage: &Stage, who: &str, item: &str) -> u64 {
    let record = record(stage, who);
    let same = record.inventory.values().filter(|s| &*s.item == item);
    same.map(|stack| u64::from(stack.quantity)).sum()
}

fn staked(stage: &Stage, who: &str) -> Vec<(u8, String, u32)> {
    let stakes = record(stage, who).stakes;
    let stakes = stakes.iter();
    stakes
        .map(|(place, stack)| (*place, stack.item.to_string(), stack.quantity))
        .collect()
}

/// Plays until both have heard how it ended.
fn to_the_end(stage: &mut Stage) -> String {
    let mut told = String::new();
    for _ in 0..200 {
        told.push_str(&stage.play("wait 1"));
        if told.contains(" won") || told.contains("duel off") {
            return told;
        }
    }
    panic!("nobody has won:\n{told}");
}

#[test]
fn two_agree_three_times_and_the_winner_gets_what_was_staked() {
    let mut stage = Stage::new(&land());
    let told = stage.play(
        "ann joins at 0 0 with candle 9 logs 1 / bob joins at 3 2 health 3 with sword 1
         ann challenges bob
         bob dares
         ann rules noMagic
         ann agrees rules
         bob agrees rules
         ann stakes 4 of 0
         bob stakes 1 of 0
         bob agrees stakes
         ann agrees stakes
         ann agrees final
         bob agrees final
         wait 6",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined
    2 ann challenges bob; bob hears ann challenge
    3 ann duels bob; bob duels ann; ann at RULES; bob too
    4 ann rules by ann [noMagic] --; bob too
    5 ann agreed !-; bob too
    6 ann agreed --; bob too; ann at STAKES; bob too
    7 ann stakes by ann [candle 4 of 0] [] --; bob too
    8 ann stakes by bob [candle 4 of 0] [sword 1 of 0] --; bob too
    9 ann agreed -!; bob too
    10 ann 0=candle 5; bob 0=nothing; ann agreed --; bob too; ann at CONFIRMING; bob too
    11 ann agreed !-; bob too
    12 ann agreed !!; bob too; ann teleported 20,17; bob teleported 20,23; ann at COUNTDOWN; bob too; ann enters 1; bob enters 1; ann counts 3; bob counts 3
    13
    14 ann counts 2; bob counts 2
    15 ann counts 1; bob counts 1
    16
    17 ann counts 0; bob counts 0; ann at FIGHTING; bob too; ann fights bob; bob fights ann
    18
    ");
    assert_eq!(staked(&stage, "ann"), [(0, "candle".to_owned(), 4)]);
    assert_eq!(staked(&stage, "bob"), [(0, "sword".to_owned(), 1)]);
    let told = stage.play("bob forfeits");
    assert_snapshot!(said(&told), @"19 ann at FINISHED; bob too; ann teleported 0,1; ann 0=candle 9; ann 2=sword 1; ann won by forfeit: [sword 1] for [] worth [26, 0]; bob teleported 0,1; bob lost by forfeit: [] for [sword 1] worth [0, 26]");
    assert_eq!(
        (pack(&stage, "ann", "candle"), pack(&stage, "ann", "sword")),
        (9, 1)
    );
    assert!(staked(&stage, "ann").is_empty() && staked(&stage, "bob").is_empty());
}

#[test]
fn nobody_challenges_from_afar_oneself_or_somebody_busy() {
    let land = land().station("bank", (4, 0));
    let mut stage = Stage::new(&land);
    let told = stage.play(
        "ann joins at 0 0 / bob joins at 3 0 / cid joins at 11 0 / dan joins at -9 -9 / eve joins at 8 9
         ann challenges ann
         ann challenges cid
         cid challenges ann
         dan challenges eve
         ann challenges nobody
         bob opens bank at sta:field:bank
         ann challenges bob
         bob challenges ann
         bob closes bank
         ann challenges bob
         ann challenges eve
         bob shuns challenge
         ann challenges bob
         wait 16
         ann challenges bob
         ann calls challenge off
         bob dares",
    );
    assert_snapshot!(said(&told), @r"
    1 ann joined; bob joined; cid joined; dan joined; eve joined
    2 ann refused SelfDuel
    3 ann refused OtherNotInLobby
    4 cid refused NotInLobby
    5 dan refused TooFar
    6 ann refused PlayerOffline
    7 bob opened Bank
    8 ann refused PlayerBusy
    9 bob refused InterfaceOpen
    10 bob closed Bank
    11 ann challenges bob; bob hears ann challenge
    12 ann refused ChallengePending
    13 ann unchallenged by bob; bob unchallenged by bob
    14 ann refused Cooldown
    15
    16
    17
    18
    19
    20
    21
    22
    23
    24
    25
    26
    27
    28
    29
    30
    31 ann challenges bob; bob hears ann challenge
    32 ann unchallenged; bob unchallenged
    33 bob refused InvalidChallenge
    ");
}

#[test]
fn a_challenge_waits_thirty_seconds_and_for_nobody_who_goes() {
    let mut stage = Stage::new(&land());
    stage.play("ann joins at 0 0 / bob joins at 3 0 / cid joins at 2 2");
    let told = stage.play("ann challenges bob\nwait 49\nwait 1\nbob dares");
    assert_eq!(told.matches("unchallenged").count(), 2, "{told}");
    assert_eq!(refusals(&told), ["InvalidChallenge"]);
    let told = stage.play("cid challenges bob\ncid leaves\nwait 1\nbob dares");
    assert_eq!(told.matches("bob unchallenged").count(), 1, "{told}");
}

#[test]
fn any_change_clears_what_was_agreed_to() {
    let mut stage = duelling("with candle 9", "with sword 1");
    let told = stage.play(
        "ann agrees rules
         bob rules noFood
         bob agrees rules
         ann bares cape
         bob agrees rules
         ann agrees rules
         bob agrees rules
         ann agrees stakes
         bob stakes 1 of 0
         bob agrees stakes
         bob unstakes 0
         ann agrees stakes
         ann agrees stakes / ann agrees final
         bob agrees stakes
         bob agrees stakes",
    );
    assert_snapshot!(said(&told), @r"
    4 ann agreed !-; bob too
    5 ann rules by bob [noFood] --; bob too
    6 ann agreed -!; bob too
    7 ann bare by ann [cape] --; bob too
    8 ann agreed -!; bob too
    9 ann agreed --; bob too; ann at STAKES; bob too
    10 bob refused ScreenChanged
    11 ann agreed !-; bob too
    12 ann stakes by bob [] [sword 1 of 0] --; bob too
    13 ann agreed -!; bob too
    14 ann stakes by bob [] [] --; bob too
    15 ann agreed !-; bob too
    16 ann agreed !-; bob too; ann refused ScreenChanged
    17 ann agreed --; bob too; ann at CONFIRMING; bob too
    18 bob refused ScreenChanged
    ");
}

#[test]
fn rules_that_do_not_go_together_are_refused() {
    let mut stage = duelling("", "");
    let told = stage.play(
        "ann rules noForfeit
         bob rules funWeapons
         bob rules noMovement
         ann rules noForfeit
         bob rules noMovement
         ann rules noForfeit
         ann rules noRanged / ann rules noMelee / ann rules noMagic
         ann rules noMelee / ann rules noMagic",
    );
    let refused = refusals(&told);
    assert_eq!(refused, ["RulesClash"; 4], "{told}");
    assert!(told.contains("[noRanged noMagic noMovement]"), "{told}");
}

#[test]
fn only_what_one_has_and_may_give_is_staked() {
    let mut stage = duelling("with candle 9 hood 1", "");
    let told = stage.play("ann stakes 1 of 0 / ann agrees rules / bob agrees rules");
    assert_eq!(refusals(&told), ["WrongStage"]);
    let told = stage.play(
        "ann stakes 0 of 0
         ann stakes 10 of 0
         ann stakes 1 of 1
         ann stakes 1 of 2
         ann stakes 1 of 28
         ann stakes 3 of 0
         ann stakes 5 of 0
         ann unstakes 1
         ann rules noFood",
    );
    assert_eq!(
        refusals(&told),
        [
            "InvalidQuantity",
            "InvalidQuantity",
            "Untradeable",
            "EmptySlot",
            "EmptySlot",
            "NotStaked",
            "WrongStage"
        ]
    );
    // The same slot again is not more, but other.
    stage.play("ann agrees stakes / bob agrees stakes");
    assert_eq!(staked(&stage, "ann"), [(0, "candle".to_owned(), 5)]);
    assert_eq!(pack(&stage, "ann", "candle"), 4);
}

#[test]
fn neither_pack_changes_while_stakes_are_laid() {
    let land = land().station("bank", (2, 0));
    let mut stage = Stage::new(&land);
    stage.play(
        "ann joins at 0 0 pouch 9 with sword 1 cake 1 coins 5 / bob joins at 1 0
         ann drops 0
         bob challenges ann
         ann dares",
    );
    let script = "ann drops 1
         ann takes #1
         ann puts 1 into 2
         ann withdraws 5
         ann deposits all
         ann uses 1
         ann wears 1
         ann removes weapon
         ann opens bank at sta:field:bank
         ann banks all
         ann attacks bob";
    let told = stage.play(script);
    assert_eq!(told.matches("refused InterfaceOpen").count(), 11, "{told}");
    let told = stage.play("ann trades bob\nbob goes home");
    assert_eq!(refusals(&told), ["InDuel"; 2]);
    let told = stage.play("bob calls off\nann drops 1");
    assert!(told.contains("ann duel off Cancelled by bob"), "{told}");
    assert_eq!(refusals(&told), [""; 0]);
}

#[test]
fn whoever_calls_it_off_or_goes_gets_back_what_was_staked() {
    let ends = [
        ("bob calls off", "Cancelled by bob"),
        ("bob leaves\nwait 1", "Disconnected"),
        ("bob is away\nwait 12", "Disconnected"),
        ("bob is put at 60 60", "Cancelled"),
        ("bob goes to 40 0\nwait 9", "TooFar"),
    ];
    for (end, why) in ends {
        let mut stage = duelling("with candle 9", "with sword 1");
        stage.play("ann agrees rules / bob agrees rules");
        stage.play("ann stakes 4 of 0 / bob stakes 1 of 0");
        stage.play("ann agrees stakes / bob agrees stakes");
        assert_eq!(pack(&stage, "ann", "candle"), 5, "it is at stake");
        let told = stage.play(end);
        assert!(told.contains(&format!("ann duel off {why}")), "{told}");
        assert_eq!(pack(&stage, "ann", "candle"), 9, "{end}");
        assert!(staked(&stage, "ann").is_empty());
        if stage.world.player(&"bob".into()).is_some() {
            assert_eq!(pack(&stage, "bob", "sword"), 1, "{end}");
        }
    }
}

/// Such is the case if a zone dies in the middle of a fight, or a player leaves it: the duel is
/// gone, the stakes are not.
#[test]
fn who_comes_back_without_the_duel_gets_back_what_was_staked_outside_of_the_ring() {
    let mut stage = fighting(
        "with candle 9",
        "with sword 1",
        ["wait 1", "ann stakes 4 of 0 / bob stakes 1 of 0"],
    );
    let (bob, hot) = stage.world.leave(&"bob".into()).unwrap();
    assert_eq!(bob.stakes.len(), 1);
    let told = stage.play("wait 1");
    assert!(told.contains("ann duel off Disconnected"), "{told}");
    assert_eq!(pack(&stage, "ann", "candle"), 9);
    for hot in [PlayerHot::default(), hot] {
        let mut inbox = Inbox::default();
        inbox.arrivals.push(world::Arrival {
            record: bob.clone(),
            hot,
            region: Region::from(bob.tile),
            look: "".into(),
        });
        let outcome = stage.step(inbox);
        let ledger = &outcome.changes.ledger;
        assert!(ledger.is_empty(), "it was its own all along: {ledger:?}");
        stage.play("wait 8");
        assert_eq!(pack(&stage, "bob", "sword"), 1);
        assert!(staked(&stage, "bob").is_empty());
        let at = record(&stage, "bob").tile;
        assert!(at.steps_to(world::Tile::new(0, 1)) < 3, "{at:?}");
        stage.world.leave(&"bob".into()).unwrap();
    }
}

#[test]
fn what_must_not_be_worn_goes_into_the_pack_if_there_is_room() {
    let logs = "logs 1 ".repeat(27);
    let bob = format!("with shield 1 {logs}");
    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 0 0 / bob joins at 1 0 {bob}
         bob wears 0
         wait 1
         ann challenges bob
         bob dares
         ann bares shield
         ann agrees rules / bob agrees rules
         ann agrees stakes / bob agrees stakes"
    ));
    let told = stage.play("ann agrees final / bob agrees final\nwait 5");
    assert_eq!(refusals(&told), [""; 0], "{told}");
    let bob = record(&stage, "bob");
    assert!(bob.equipment.is_empty() && pack(&stage, "bob", "shield") == 1);

    let mut stage = Stage::new(&land());
    stage.play(&format!(
        "ann joins at 0 0 with candle 1 / bob joins at 1 0 with shield 1 {logs}
         bob wears 0 / ann drops 0
         bob goes to 0 0
         bob takes #1
         ann challenges bob
         bob dares
         ann bares shield
         ann agrees rules / bob agrees rules
         ann agrees stakes / bob agrees stakes"
    ));
    assert_eq!(
        record(&stage, "bob").inventory.len(),
        usize::from(SLOTS) - 1
    );
}

#[test]
fn what_a_full_pack_cannot_take_goes_to_the_bank_and_else_waits() {
    let logs = "logs 1 ".repeat(27);
    let most = QUANTITY_MAX - 2;
    let ann = format!("with {logs}candle {most}");
    let bob = format!("with sword 1 candle 5 logs_noted 3 coins {QUANTITY_MAX}");
    let staking = "bob stakes 1 of 0 / bob stakes 5 of 1 / bob stakes 3 of 2 \
         / bob stakes 2147483647 of 3";
    let mut stage = fighting(&ann, &bob, ["wait 1", staking]);
    stage.play("bob forfeits");
    // In the bank as the thing itself.
    let bank = |stage: &Stage, item: &str| {
        let record = record(stage, "ann");
        record.bank.items.get(item).map(|there| there.quantity)
    };
    let got = ["sword", "candle", "logs", "coins"].map(|item| bank(&stage, item));
    assert_eq!(got, [Some(1), Some(5), Some(3), Some(QUANTITY_MAX)]);
    assert!(staked(&stage, "ann").is_empty());
    assert!(staked(&stage, "bob").is_empty() && record(&stage, "bob").inventory.is_empty());
    // Neither stack can take as much again.
    stage.play(&format!(
        "cid joins at 2 0 with coins {QUANTITY_MAX} / bob leaves\nwait 17"
    ));
    stage.play(
        "ann challenges cid
         cid dares
         ann agrees rules / cid agrees rules
         cid stakes 2147483647 of 0
         ann agrees stakes / cid agrees stakes
         ann agrees final / cid agrees final
         wait 5
         cid forfeits
         wait 20",
    );
    assert_eq!(
        staked(&stage, "ann"),
        [(0, "coins".to_owned(), QUANTITY_MAX)]
    );
    assert_eq!(bank(&stage, "coins"), Some(QUANTITY_MAX));
    let told = stage.play("ann challenges cid");
    assert_eq!(refusals(&told), ["StakesLeft"]);
    stage.play("ann drops 0\nwait 8");
    assert_eq!(pack(&stage, "ann", "coins"), u64::from(QUANTITY_MAX));
    assert!(staked(&stage, "ann").is_empty());
}

#[test]
fn a_region_that_moves_takes_its_duel_along_and_one_taken_over_returns_the_stakes() {
    let staking = ["wait 1", "ann stakes 4 of 0 / bob stakes 1 of 0"];
    let mut stage = fighting("with candle 9", "with sword 1", staking);
    stage.play("wait 4");
    let region = Region { x: 0, z: 0 };
    let players = |stage: &Stage| ["ann", "bob"].map(|who| record(stage, who));
    let before = players(&stage);
    let bytes = stage.world.region_out(region).unwrap();
    let mut other = World::new(land().content(), Rules::default(), 1, 2);
    other
        .region_in(region, Tick(BEGIN + 100), Some(&bytes))
        .unwrap();
    other.tick(Tick(BEGIN + 101), Inbox::default(), &mut ());
    assert!(other.duels_now(&"ann".into()) && other.duels_now(&"bob".into()));
    assert_eq!(
        other.region_bytes(region).map(|b| b.is_empty()),
        Some(false)
    );

    let mut heir = World::new(land().content(), Rules::default(), 1, 3);
    heir.region_in(region, Tick(BEGIN + 100), None).unwrap();
    let arrivals = before.map(|record| world::Arrival {
        record,
        hot: PlayerHot::default(),
        region,
        look: "".into(),
    });
    let inbox = Inbox {
        arrivals: arrivals.into(),
        ..Inbox::default()
    };
    heir.tick(Tick(BEGIN + 101), inbox, &mut ());
    for n in 102..112 {
        let outcome = heir.tick(Tick(BEGIN + n), Inbox::default(), &mut ());
        let ground = |entry: &world::LedgerEntry| entry.holder == Holder::Ground;
        assert!(!outcome.changes.ledger.iter().any(ground));
    }
    for (who, item, many) in [("ann", "candle", 9), ("bob", "sword", 1)] {
        let record = heir.record(&who.into()).unwrap();
        assert!(record.stakes.is_empty(), "{who}");
        let there = record.inventory.values().filter(|s| &*s.item == item);
        assert_eq!(there.map(|s| s.quantity).sum::<u32>(), many);
        assert!(!heir.duels_now(&who.into()));
    }
}
