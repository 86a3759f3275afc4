//! Documents: every later version reads the documents of this one; this build refuses a document
//! that it cannot read whole.

use super::*;
use crate::content::EquipSlot;
use crate::features::combat::Style;
use crate::features::potions::{Boost, Poison};
use crate::features::quests::QuestState;
use crate::geometry::tile::Region;
use crate::item::bank::Deposit;

fn columns() -> Columns {
    let deposit = Deposit {
        quantity: 3,
        tab: 8,
        place: 70_000,
    };
    let agility = SkillXp {
        level: 3,
        xp_tenths: 1740,
    };
    Columns {
        id: CharacterId::from("c1"),
        name: "Ann".to_owned(),
        tile: Tile::new(-5, 70),
        y: 4,
        health: 9,
        skills: BTreeMap::from([(Skill::Agility, agility)]),
        coins: 12,
        combat_level: 3,
        placed: true,
        inventory: BTreeMap::from([(27, Stack::new("logs", 1))]),
        equipment: Worn::from([(EquipSlot::Ring, Stack::new("ring", 1))]),
        bank: BTreeMap::from([("logs".into(), deposit)]),
        stakes: BTreeMap::from([(55, Stack::new("coins", 2))]),
    }
}

fn state() -> CharacterState {
    CharacterState {
        energy: 9_000,
        running: true,
        bank_placeholders: true,
        home_ready_at: Tick(9),
        quests: Quests::from([("errand".into(), QuestState::default())]),
        combat_settings: CombatSettings {
            style: Style::Rapid,
            retaliates: false,
            spell: Some("spark".into()),
        },
        prayer: PrayerState {
            points: 7,
            active: ["socks".into()].into(),
        },
        played_ticks: 1_499,
        potions: PotionState {
            boosts: BTreeMap::from([(
                Skill::Attack,
                Boost {
                    levels: 5,
                    ticks: 70,
                },
            )]),
            poison: Some(Poison {
                strikes: 9,
                ticks: 12,
            }),
            safe_ticks: 0,
        },
    }
}

/// Returns [`state`] as version 2 knew it: each younger field has its default.
fn state_of_v2() -> CharacterState {
    CharacterState {
        potions: PotionState::default(),
        ..state()
    }
}

/// Returns a character with something in every field.
pub(crate) fn ann() -> PlayerRecord {
    PlayerRecord::new(columns(), state())
}

/// [`ann`] as version 2 knew her.
pub(crate) fn ann_of_v2() -> PlayerRecord {
    PlayerRecord::new(columns(), state_of_v2())
}

/// The document of [`ann_of_v2`] in a handover, as version 1 wrote it.
const V1: &str = "\
    de0014a26964a26331a46e616d65a3416e6ea474696c6582a178fba17a46a17904a66865616c746809a6736b\
    696c6c7381a76167696c69747982a56c6576656c03a978705f74656e746873cd06cca5636f696e730ca6656e\
    65726779cd2328a772756e6e696e67c3ac636f6d6261745f6c6576656c03a6706c61636564c3a9696e76656e\
    746f7279811b82a46974656da46c6f6773a87175616e7469747901a965717569706d656e7481a472696e6782\
    a46974656da472696e67a87175616e7469747901a462616e6b82a56974656d7381a46c6f677383a87175616e\
    7469747903a374616208a5706c616365ce00011170ac706c616365686f6c64657273c3ad686f6d655f726561\
    64795f617409a671756573747381a6657272616e6485a57374616765c0a57265616479c2a6636f756e747380\
    a9636f6d706c6574656400a5676976656ec2a47761797383a57374796c65a57261706964aa726574616c6961\
    746573c2a57370656c6ca5737061726ba670726179657282a6706f696e747307a661637469766591a5736f63\
    6b73a67374616b6573813782a46974656da5636f696e73a87175616e7469747902ac706c617965645f746963\
    6b73cd05db";

/// As version 2 writes it for the store.
const V2_STORED: &str = "\
    0288a6656e65726779cd2328a772756e6e696e67c3b162616e6b5f706c616365686f6c64657273c3ad686f6d\
    655f72656164795f617409a671756573747381a6657272616e6485a57374616765c0a57265616479c2a6636f\
    756e747380a9636f6d706c6574656400a5676976656ec2a47761797383a57374796c65a57261706964aa7265\
    74616c6961746573c2a57370656c6ca5737061726ba670726179657282a6706f696e747307a6616374697665\
    91a5736f636b73ac706c617965645f7469636b73cd05db";

/// As version 3 writes it for the store.
const V3_STORED: &str = "\
    0389a6656e65726779cd2328a772756e6e696e67c3b162616e6b5f706c616365686f6c64657273c3ad686f6d\
    655f72656164795f617409a671756573747381a6657272616e6485a57374616765c0a57265616479c2a6636f\
    756e747380a9636f6d706c6574656400a5676976656ec2a47761797383a57374796c65a57261706964aa7265\
    74616c6961746573c2a57370656c6ca5737061726ba670726179657282a6706f696e747307a6616374697665\
    91a5736f636b73ac706c617965645f7469636b73cd05dba7706f74696f6e7383a6626f6f73747381a6617474\
    61636b82a66c6576656c7305a57469636b7346a6706f69736f6e82a7737472696b657309a57469636b730caa\
    736166655f7469636b7300";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stored_state(hex: &str) -> CharacterState {
    CharacterState::from_document(&bytes(hex)).unwrap()
}

#[test]
fn a_document_is_read_as_it_was_written() {
    let document = ann().to_document();
    assert_eq!(PlayerRecord::from_document(&document), Ok(ann()));
    assert_eq!(ann().state(), state());
    let document = state().to_document();
    assert_eq!(PlayerRecord::from_store(columns(), &document), Ok(ann()));
}

/// When a field is added, these documents stay as they are, and the build reads them with its
/// default.
#[test]
fn documents_of_every_released_version_are_read() {
    assert_eq!(PlayerRecord::from_document(&bytes(V1)), Ok(ann_of_v2()));
    assert_eq!(stored_state(V2_STORED), state_of_v2());
    assert_eq!(stored_state(V3_STORED), state());
}

/// If this fails, raise `VERSION` and pin the new document, which the failure shows.
#[test]
fn a_change_of_what_is_written_raises_the_version() {
    let written = hex(&state().to_document());
    assert_eq!((VERSION, written), (3, hex(&bytes(V3_STORED))));
}

/// So a region's image of those who never drink is the same as before there were potions.
#[test]
fn boosts_and_poison_are_written_only_of_those_who_have_them() {
    let written = state_of_v2().to_document();
    assert_eq!(written[1..], bytes(V2_STORED)[1..]);
    let name = b"potions";
    let holds = |document: &[u8]| document.windows(name.len()).any(|at| at == name);
    assert!(holds(&ann().to_document()) && holds(&state().to_document()));
    assert!(!holds(&ann_of_v2().to_document()));
}

#[test]
fn a_document_of_an_unknown_version_is_refused() {
    for version in [0, 1, VERSION + 1, 300, u32::MAX] {
        let mut document = rmp_serde::to_vec(&version).unwrap();
        document.extend(&ann().to_document()[1..]);
        let refused = Err(BadDocument::Version(version));
        assert_eq!(PlayerRecord::from_document(&document), refused);
    }
}

#[test]
fn a_damaged_document_is_refused_and_nothing_panics() {
    let whole = bytes(V2_STORED);
    for end in 0..whole.len() {
        assert!(
            CharacterState::from_document(&whole[..end]).is_err(),
            "{end}"
        );
    }
    for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << bit;
        let _ = CharacterState::from_document(&damaged);
        let _ = PlayerRecord::from_document(&damaged);
    }
    let longer = [&whole[..], &[0]].concat();
    assert!(CharacterState::from_document(&longer).is_err());
}

/// A build that saved the character without such a field would lose it.
#[test]
fn a_field_that_this_build_does_not_know_is_refused() {
    let mut newer = bytes(V2_STORED);
    assert_eq!(newer[1], 0x88, "a map of eight fields");
    newer[1] += 1;
    newer.extend(b"\xa5boost\x01");
    assert!(CharacterState::from_document(&newer).is_err());

    let mut newer = bytes(V2_STORED);
    let prayer = b"\xa6prayer\x82";
    let found = newer.windows(prayer.len()).position(|at| at == prayer);
    let fields = found.unwrap() + prayer.len();
    newer[fields - 1] += 1;
    newer.splice(fields..fields, *b"\xa5boost\x01");
    assert!(CharacterState::from_document(&newer).is_err());
}

#[test]
fn only_a_character_that_was_never_played_has_no_document() {
    let played = PlayerRecord::from_store(columns(), &[]);
    assert_eq!(played, Err(BadDocument::Missing));
    let never_played = Columns {
        placed: false,
        ..columns()
    };
    let fresh = PlayerRecord::from_store(never_played, &[]).unwrap();
    assert_eq!(fresh.state(), CharacterState::default());
}

#[test]
fn motion_survives_its_bytes() {
    let hot = PlayerHot {
        path: vec![Tile::new(1, 2)],
        pickup: Some(Pickup {
            number: 7,
            target: "item:1-2".into(),
            region: Region { x: 0, z: 1 },
        }),
        homeward: Homeward {
            done_at: Some(Tick(8)),
            ..Homeward::default()
        },
        ..PlayerHot::default()
    };
    assert_eq!(PlayerHot::from_bytes(&hot.to_bytes()), Ok(hot));
    assert_eq!(
        PlayerHot::from_bytes(&[0x80]),
        Ok(PlayerHot::default()),
        "all is optional"
    );
}
