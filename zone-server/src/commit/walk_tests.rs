//! Tests of the rows of players who only walk.

use super::{super::batch::*, *};
use crate::mutants::Mutants;
use proto::rpc::persistence::v1::CommitRows;

const PACE: Pace = Pace {
    walked_ticks: 25,
    altered_ticks: 5,
    save_ticks: 100,
    rows_max: 9,
};
const HOME: Region = Region { x: 0, z: 0 };
const NEXT: Region = Region { x: 1, z: 0 };

fn ann() -> CharacterId {
    CharacterId::from("ann")
}

/// A run with ann, since tick 0.
fn batch() -> Batch {
    let mut batch = Batch::new(PACE, Mutants::default());
    batch.enter(&ann(), HOME, 7, 0);
    batch
}

/// Cuts a batch of tick `now`, in which ann stands on the tile `now` and each tick has cost run
/// energy. Returns its rows once the store has answered.
fn cut(batch: &mut Batch, now: u64) -> Option<CommitRows> {
    let record = |who: &CharacterId, wanted: Wanted<'_>| {
        let at = CharacterRecord {
            id: who.to_string(),
            session_epoch: 3,
            x: i32::try_from(now).ok()?,
            health: 9,
            combat_level: 44,
            skills: vec![proto::rpc::persistence::v1::Skill {
                name: "agility".to_owned(),
                level: 3,
                xp_tenths: now,
            }],
            ..CharacterRecord::default()
        };
        Some(match wanted {
            Wanted::Place => at,
            Wanted::Whole(_) => CharacterRecord {
                state: now.to_le_bytes().to_vec().into(),
                ..at
            },
        })
    };
    let sending = batch.cut(now, record)?;
    assert_eq!(sending.combat_levels.len(), sending.rows.positions.len());
    batch.answered(sending.sequence, Answer::Done);
    Some((*sending.rows).clone())
}

/// Returns the ticks of ann's rows until tick `last`: of places, and of rows with everything.
fn rows(batch: &mut Batch, last: u64, mut each: impl FnMut(&mut Batch, u64)) -> [Vec<u64>; 2] {
    let mut out = [Vec::new(), Vec::new()];
    for now in 1..=last {
        each(batch, now);
        let rows = cut(batch, now).unwrap_or_default();
        out[0].extend(rows.positions.iter().map(|_| now));
        out[1].extend(rows.characters.iter().map(|_| now));
    }
    out
}

#[test]
fn a_walker_has_one_row_in_15_seconds_and_its_document_goes_each_interval() {
    let walks = |batch: &mut Batch, now| batch.walked(&ann(), now);
    let rows = rows(&mut batch(), 250, walks);
    assert_eq!(
        rows,
        [vec![25, 50, 75, 125, 150, 175, 225, 250], vec![100, 200]]
    );
}

#[test]
fn one_walk_is_one_row_however_short() {
    let mut batch = batch();
    let walks = |batch: &mut Batch, now| {
        if now == 30 || now == 33 {
            batch.walked(&ann(), now);
        }
    };
    assert_eq!(rows(&mut batch, 99, walks), [vec![54], vec![]]);
}

#[test]
fn a_place_says_just_what_walking_changed() {
    let mut batch = batch();
    batch.walked(&ann(), 1);
    let sent = cut(&mut batch, 25).unwrap();
    let row = PositionRow {
        id: "ann".to_owned(),
        region: Some(rpc_region(HOME)),
        ownership_sequence: 7,
        session_epoch: 3,
        x: 25,
        health: 9,
        ..PositionRow::default()
    };
    assert_eq!(sent.positions, [row]);
    assert!(sent.characters.is_empty());
}

#[test]
fn agility_goes_at_once_with_the_place_and_without_a_document() {
    let mut batch = batch();
    batch.walked(&ann(), 9);
    batch.trained(&ann(), [Skill::Agility].into());
    assert_eq!(batch.value_sequence(), Some(1));
    let [row] = &cut(&mut batch, 10).unwrap().positions[..] else {
        panic!("one row");
    };
    let grown = Trained {
        level: 3,
        xp_tenths: 10,
    };
    assert_eq!((row.agility, row.x), (Some(grown), 10));
    assert_eq!(batch.value_sequence(), None, "it is acknowledged");
    batch.walked(&ann(), 11);
    assert_eq!(cut(&mut batch, 34), None);
    let sent = cut(&mut batch, 35).unwrap();
    assert_eq!(sent.positions[0].agility, None, "it was said");
    // While its batch is under way, whoever is told of it waits.
    batch.trained(&ann(), [Skill::Agility].into());
    let at = |who: &CharacterId, _: Wanted<'_>| {
        Some(CharacterRecord {
            id: who.to_string(),
            ..CharacterRecord::default()
        })
    };
    let sent = batch.cut(36, at).unwrap();
    assert_eq!(batch.value_sequence(), Some(sent.sequence));
}

#[test]
fn what_else_happens_on_the_way_goes_at_once_with_everything() {
    let mut batch = batch();
    let walks = |batch: &mut Batch, now| {
        batch.walked(&ann(), now);
        match now {
            10 => batch.trained(&ann(), [Skill::Mining, Skill::Agility].into()),
            12 => batch.valued(&ann()),
            40 => batch.altered(&ann(), now),
            _ => {}
        }
    };
    // The place is in these rows, too, so the next one is due 15 s after them.
    assert_eq!(
        rows(&mut batch, 95, walks),
        [vec![37, 70, 95], vec![10, 12, 45]]
    );
}

#[test]
fn who_walks_when_the_row_with_everything_is_nearly_due_has_only_that() {
    let mut batch = batch();
    let walks = |batch: &mut Batch, now| {
        if now == 60 {
            batch.walked(&ann(), now);
        }
    };
    assert_eq!(rows(&mut batch, 184, walks), [vec![], vec![84, 184]]);
}

#[test]
fn a_walk_into_another_region_of_the_run_is_known_after_five_ticks() {
    let mut batch = batch();
    batch.walked(&ann(), 3);
    batch.region(&ann(), NEXT, 3);
    assert_eq!(cut(&mut batch, 7), None);
    let sent = cut(&mut batch, 8).unwrap();
    let [row] = &sent.positions[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(row.region, Some(rpc_region(HOME)));
    assert_eq!(row.to_region, Some(rpc_region(NEXT)));
    batch.walked(&ann(), 9);
    let [row] = &cut(&mut batch, 33).unwrap().positions[..] else {
        panic!("one row");
    };
    assert_eq!((row.region, row.to_region), (Some(rpc_region(NEXT)), None));
}

#[test]
fn a_walk_into_a_region_that_is_not_the_runs_any_more_is_no_part_of_the_batch() {
    let mut batch = batch();
    batch.walked(&ann(), 3);
    batch.region(&ann(), NEXT, 3);
    let at = |who: &CharacterId, _: Wanted<'_>| {
        Some(CharacterRecord {
            id: who.to_string(),
            ..CharacterRecord::default()
        })
    };
    let sent = batch.cut(8, at).unwrap();
    let settled = batch.answered(sent.sequence, Answer::Stale(vec![ann()], vec![]));
    assert_eq!((settled.stale, settled.broken), (vec![ann()], false));
    assert_eq!(settled.not_mine, [NEXT].into());
    let again = settled.again.unwrap();
    assert_eq!(again.sequence, sent.sequence);
    let [row] = &again.rows.positions[..] else {
        panic!("{again:?}");
    };
    assert_eq!((row.region, row.to_region), (Some(rpc_region(HOME)), None));
}
