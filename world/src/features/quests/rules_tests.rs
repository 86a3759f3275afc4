//! Acts that count for the stages of quests.

use super::*;
use crate::content::Difficulty;

fn stage(id: &str, kind: StageKind, npc: &str, target: &str, count: u32) -> Stage {
    Stage {
        id: id.into(),
        kind,
        description: "".into(),
        npc: npc.into(),
        target: target.into(),
        alternatives: Vec::new(),
        count,
        place: (id == "there").then_some((Tile::new(10, 10), 2)),
    }
}

fn quest(stages: Vec<Stage>) -> Quest {
    Quest {
        id: "errand".into(),
        name: "Errand".into(),
        description: "".into(),
        difficulty: Difficulty::Novice,
        points: 1,
        replayable: false,
        welcome: false,
        recommended_level: 0,
        after: Vec::new(),
        levels: BTreeMap::new(),
        needs: Vec::new(),
        giver: "tom".into(),
        stages,
        given: Vec::new(),
        rewards: Vec::new(),
        xp_tenths: BTreeMap::new(),
    }
}

fn errand() -> Quest {
    quest(vec![
        stage("ask", StageKind::Dialogue, "tom", "", 1),
        stage("rats", StageKind::Kill, "", "rat", 2),
        stage("logs", StageKind::Gather, "", "logs", 3),
        stage("fire", StageKind::Interact, "", "fire", 1),
        stage("there", StageKind::Travel, "", "", 1),
        stage("eve", StageKind::Dialogue, "eve", "", 1),
        stage("back", StageKind::Dialogue, "tom", "", 1),
    ])
}

fn begun(quest: &Quest) -> QuestState {
    let mut state = QuestState::default();
    begin(quest, &mut state, true);
    state
}

fn stage_of(state: &QuestState) -> &str {
    state.stage.as_deref().unwrap_or("none")
}

#[test]
fn each_kind_of_stage_is_done_by_its_achievements_and_no_others() {
    let (quest, mut state) = {
        let quest = errand();
        let state = begun(&quest);
        (quest, state)
    };
    let here = Tile::new(8, 12);
    // The act, whether something changed, and the stage then.
    let story = [
        (Achievement::Killed("cat"), false, "rats"),
        (Achievement::Killed("rat"), true, "rats"),
        // Gathered before its stage: that counts; other acts do not.
        (Achievement::Gathered("logs", 2), true, "rats"),
        (Achievement::Stood(here), false, "rats"),
        (Achievement::Talked("eve"), false, "rats"),
        (Achievement::Killed("rat"), true, "logs"),
        (Achievement::Killed("rat"), false, "logs"),
        (Achievement::Gathered("stone", 9), false, "logs"),
        (Achievement::Gathered("logs", 9), true, "fire"),
        (Achievement::Made("logs", 1), false, "fire"),
        (Achievement::Lit, true, "there"),
        (Achievement::Stood(Tile::new(7, 10)), false, "there"),
        (Achievement::Stood(here), true, "eve"),
        (Achievement::Talked("tom"), false, "eve"),
        (Achievement::Talked("eve"), true, "back"),
        (Achievement::Talked("tom"), false, "back"),
    ];
    for (index, (achievement, changes, then)) in story.into_iter().enumerate() {
        assert_eq!(
            count(&quest, &mut state, achievement),
            changes,
            "{index}: {achievement:?}"
        );
        assert_eq!(stage_of(&state), then, "{index}: {achievement:?}");
    }
    assert!(state.ready);
    assert_eq!(
        state.counts.get("logs"),
        Some(&3),
        "never more than asked for"
    );
    complete(&mut state);
    assert_eq!(state.status(), QuestStatus::Completed);
    assert!(!count(&quest, &mut state, Achievement::Killed("rat")));
}

#[test]
fn what_one_has_counts_as_gathered_and_laying_it_down_takes_nothing_away() {
    let quest = quest(vec![stage("logs", StageKind::Gather, "", "logs", 3)]);
    let mut state = begun(&quest);
    let pack = |many: u8| {
        (0..many)
            .map(|slot| (slot, Stack::new("logs", 1)))
            .collect::<Pack>()
    };
    assert!(count(&quest, &mut state, Achievement::Has(&pack(2))));
    assert!(!count(&quest, &mut state, Achievement::Has(&pack(0))));
    // The same ones again are not more.
    assert!(!count(&quest, &mut state, Achievement::Has(&pack(2))));
    assert!(!state.ready);
    assert!(count(&quest, &mut state, Achievement::Has(&pack(4))));
    assert!(state.ready, "no stage leads back: it is ready at once");
}

#[test]
fn what_was_gathered_before_is_not_asked_for_again() {
    let quest = quest(vec![
        stage("rats", StageKind::Kill, "", "rat", 1),
        stage("logs", StageKind::Gather, "", "logs", 1),
        stage("board", StageKind::Interact, "", "board", 1),
        stage("back", StageKind::Dialogue, "", "", 1),
    ]);
    let mut state = begun(&quest);
    assert!(count(&quest, &mut state, Achievement::Made("board", 1)));
    assert!(count(&quest, &mut state, Achievement::Gathered("logs", 1)));
    assert_eq!(stage_of(&state), "rats");
    assert!(count(&quest, &mut state, Achievement::Killed("rat")));
    assert_eq!((stage_of(&state), state.ready), ("back", true));
}

#[test]
fn who_gives_up_begins_anew_but_is_given_nothing_again() {
    let quest = errand();
    let mut state = begun(&quest);
    count(&quest, &mut state, Achievement::Killed("rat"));
    give_up(Some(&quest), &mut state).unwrap();
    assert_eq!(give_up(Some(&quest), &mut state), Err(Refusal::QuestStage));
    assert_eq!(state.status(), QuestStatus::NotStarted);
    assert!(state.given && state.counts.is_empty());
}

/// Returns a quest of one stage of each kind that a newcomer's round needs, and of the way back.
fn round() -> Quest {
    let mut cook = stage("cook", StageKind::Interact, "", "sprat", 1);
    cook.alternatives = vec!["burnt_fish".into()];
    Quest {
        welcome: true,
        ..quest(vec![
            stage("greet", StageKind::Dialogue, "tom", "", 1),
            cook,
            stage("wield", StageKind::Wield, "", "", 1),
            stage("sell", StageKind::Sell, "", "", 2),
            stage("bank", StageKind::Deposit, "", "logs", 1),
            stage("pray", StageKind::Pray, "", "", 1),
            stage("back", StageKind::Dialogue, "tom", "", 1),
        ])
    }
}

fn wearing(slot: EquipSlot, item: &str) -> Worn {
    Worn::from([(slot, Stack::new(item, 1))])
}

fn welcomed(quest: &Quest) -> QuestState {
    let mut state = QuestState::default();
    begin(quest, &mut state, false);
    state
}

#[test]
fn what_a_newcomer_learns_is_done_by_its_achievements_and_no_others() {
    let quest = round();
    let mut state = welcomed(&quest);
    assert_eq!(stage_of(&state), "greet", "nobody has met the giver yet");
    let (hat, sword) = (
        wearing(EquipSlot::Helmet, "hat"),
        wearing(EquipSlot::Weapon, "sword"),
    );
    let story = [
        (Achievement::Talked("eve"), false, "greet"),
        (Achievement::Talked("tom"), true, "cook"),
        (Achievement::Made("bread", 1), false, "cook"),
        (Achievement::Made("burnt_fish", 1), true, "wield"),
        (Achievement::Wears(&hat), false, "wield"),
        (Achievement::Wears(&sword), true, "sell"),
        (Achievement::Sold("logs", 1), true, "sell"),
        (Achievement::Banked("sprat", 1), false, "sell"),
        (Achievement::Sold("candle", 5), true, "bank"),
        (Achievement::Banked("sprat", 1), false, "bank"),
        (Achievement::Banked("logs", 1), true, "pray"),
        (Achievement::Lit, false, "pray"),
        (Achievement::Prayed, true, "back"),
    ];
    for (index, (achievement, changes, then)) in story.into_iter().enumerate() {
        let changed = count(&quest, &mut state, achievement);
        assert_eq!(changed, changes, "{index}: {achievement:?}");
        assert_eq!(stage_of(&state), then, "{index}: {achievement:?}");
    }
    assert!(state.ready);
    assert_eq!(state.counts.get("sell"), Some(&2));
}

#[test]
fn what_a_newcomer_does_before_its_turn_counts() {
    let quest = round();
    let mut state = welcomed(&quest);
    let sword = wearing(EquipSlot::Weapon, "sword");
    for achievement in [
        Achievement::Prayed,
        Achievement::Banked("logs", 3),
        Achievement::Sold("candle", 2),
        Achievement::Wears(&sword),
        Achievement::Made("sprat", 1),
    ] {
        assert!(
            count(&quest, &mut state, achievement),
            "{achievement:?} counts"
        );
        assert_eq!(stage_of(&state), "greet", "{achievement:?}");
    }
    assert!(count(&quest, &mut state, Achievement::Talked("tom")));
    assert_eq!((stage_of(&state), state.ready), ("back", true));
}

#[test]
fn a_named_weapon_is_wielded_by_its_name_or_another_that_counts() {
    let mut asks = stage("wield", StageKind::Wield, "", "bronze_sword", 1);
    asks.alternatives = vec!["bronze_shortsword".into()];
    let quest = quest(vec![asks]);
    for (item, counts) in [
        ("bronze_sword", true),
        ("bronze_shortsword", true),
        ("bow", false),
    ] {
        let mut state = begun(&quest);
        let worn = wearing(EquipSlot::Weapon, item);
        assert_eq!(
            count(&quest, &mut state, Achievement::Wears(&worn)),
            counts,
            "{item}"
        );
    }
}

#[test]
fn who_leaves_a_quest_of_welcome_goes_on_where_it_was() {
    let quest = round();
    let mut state = welcomed(&quest);
    count(&quest, &mut state, Achievement::Talked("tom"));
    count(&quest, &mut state, Achievement::Made("sprat", 1));
    let counts = state.counts.clone();
    give_up(Some(&quest), &mut state).unwrap();
    assert_eq!(state.status(), QuestStatus::NotStarted);
    assert_eq!(state.counts, counts, "nothing is lost");
    begin(&quest, &mut state, true);
    assert_eq!(stage_of(&state), "wield");
    // The content may have lost the quest meanwhile.
    give_up(None, &mut state).unwrap();
    assert!(state.counts.is_empty());
}
