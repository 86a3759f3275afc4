//! The hiscores: one list for each skill and one for all of them together, ready for readers.
//!
//! Always: a list holds exactly the best of all ranked characters, as many as it has entries; a
//! reader sees one refresh as a whole, so names, ranks and the length belong to one moment.
//!
//! Play does not write lists. A refresh in the background compares the characters that played since
//! the last refresh with the entries, and moves those that differ. Its cost grows with the
//! characters that play, not with all that exist. Readers start a page at the nearest mark, so the
//! last page costs as much as the first.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::model::SKILLS;
use super::queries::Page;
use super::row::{FromRow, Read, Row};

/// The list of all skills together.
pub(crate) const TOTAL: i32 = -1;
/// Entries between two marks.
pub(crate) const STRIDE: i64 = 250;
/// Most characters that one statement compares.
pub(crate) const CHUNK: usize = 500;
/// Renamed and deleted characters of one refresh; more wait for the next.
pub(crate) const DUE_MAX: i64 = 10_000;
/// Time before the last refresh within which the end of a session still counts as new: no
/// transaction takes that long to become visible.
pub(crate) const OVERLAP_MS: i64 = 60_000;

/// Lengths of the lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Entries that readers see.
    pub(crate) shown: i64,
    /// Entries that the store keeps. The surplus fills the places of deleted characters.
    pub(crate) kept: i64,
}

/// 4,000 pages of 25.
pub(crate) const SIZES: Sizes = Sizes {
    shown: 100_000,
    kept: 110_000,
};

/// One row of a ranking.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub(crate) name: String,
    pub(crate) level: i64,
    pub(crate) xp_tenths: i64,
}

impl Ranked {
    /// Builds an entry from a row of [`ROWS`].
    pub(crate) fn new(name: String, place: i64) -> Ranked {
        let (level, xp_tenths) = points(place);
        Ranked {
            name,
            level,
            xp_tenths,
        }
    }
}

/// Outcome of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refreshed {
    /// The last refresh is not long ago, or another replica is refreshing.
    NotDue,
    Done,
    /// The next refresh must fill another list from all characters.
    More,
}

/// Place of an entry in its list: the smallest comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// Level and experience as one number; see [`place`].
    pub(crate) place: i64,
    pub(crate) created: i64,
    pub(crate) character: String,
}

/// Reads the columns `place, created, character_id`, from the first on.
impl FromRow for Key {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Key {
            place: row.column(0)?,
            created: row.column(1)?,
            character: row.column(2)?,
        })
    }
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) skill: i32,
    pub(crate) key: Key,
    pub(crate) name: String,
}

/// Reads the columns of its key, `skill` and `name`.
impl FromRow for Entry {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(Entry {
            key: Key::from_row(row)?,
            skill: row.column(3)?,
            name: row.column(4)?,
        })
    }
}

/// A list as it was before the refresh.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) skill: i32,
    /// Whether every ranked character is in it.
    pub(crate) complete: bool,
    pub(crate) entries: i64,
    /// Last entry of the list.
    pub(crate) worst: Option<Key>,
}

impl List {
    /// Returns whether an entry with this key belongs to the best that the list holds.
    fn takes(&self, key: &Key) -> bool {
        self.complete || self.worst.as_ref().is_some_and(|worst| key <= worst)
    }

    /// Returns whether every ranked character is in it after a refresh that found so many entries.
    /// `filled`: they are the best of all characters.
    pub(crate) fn is_complete(&self, counted: i64, filled: bool, sizes: Sizes) -> bool {
        if filled {
            counted < sizes.kept
        } else {
            self.complete && counted <= sizes.kept
        }
    }

    /// Returns whether it has become too short for its readers, so that a refresh must look at all
    /// characters.
    pub(crate) fn is_short(&self, sizes: Sizes) -> bool {
        !self.complete && self.entries < sizes.shown
    }
}

/// A ranked character as play left it.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) character: String,
    pub(crate) name: String,
    pub(crate) created: i64,
    /// Level and experience in tenths, in the order of [`SKILLS`].
    pub(crate) skills: [(i32, i64); SKILLS.len()],
}

/// Reads a row of [`STANDING`].
impl FromRow for Standing {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        let mut skills = [(0, 0); SKILLS.len()];
        for (number, skill) in skills.iter_mut().enumerate() {
            *skill = (row.column(3 + 2 * number)?, row.column(4 + 2 * number)?);
        }
        Ok(Standing {
            character: row.column(0)?,
            name: row.column(1)?,
            created: row.column(2)?,
            skills,
        })
    }
}

impl Standing {
    /// Returns its key in a list; `None`: there is no such skill.
    fn key(&self, skill: i32) -> Option<Key> {
        let (level, xp) = match usize::try_from(skill) {
            Ok(number) => {
                let (level, xp) = self.skills.get(number)?;
                (i64::from(*level), *xp)
            }
            Err(_) => {
                let each = self.skills.iter();
                each.fold((0, 0), |(level, xp), one| {
                    (level + i64::from(one.0), xp + one.1)
                })
            }
        };
        Some(Key {
            place: place(level, xp),
            created: self.created,
            character: self.character.clone(),
        })
    }
}

/// Rows that a refresh writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Characters and the lists that they leave.
    pub(crate) gone: Vec<(String, i32)>,
    /// New entries, and old ones that differ.
    pub(crate) put: Vec<Entry>,
}

impl Changes {
    /// Returns the lists that it touches.
    pub(crate) fn skills(&self) -> impl Iterator<Item = i32> + '_ {
        let gone = self.gone.iter().map(|(_, skill)| *skill);
        gone.chain(self.put.iter().map(|entry| entry.skill))
    }
}

/// Compares characters with the entries that lists have of them. A character without a standing
/// was deleted, or never came into the world.
pub(crate) fn changes(lists: &[List], standings: &[Standing], entries: Vec<Entry>) -> Changes {
    let mut had: BTreeMap<(String, i32), Entry> = BTreeMap::new();
    for entry in entries {
        had.insert((entry.key.character.clone(), entry.skill), entry);
    }
    let mut changes = Changes::default();
    for standing in standings {
        for list in lists {
            let Some(key) = standing.key(list.skill).filter(|key| list.takes(key)) else {
                continue;
            };
            let old = had.remove(&(standing.character.clone(), list.skill));
            let new = Entry {
                skill: list.skill,
                key,
                name: standing.name.clone(),
            };
            if old.as_ref() != Some(&new) {
                changes.put.push(new);
            }
        }
    }
    changes.gone = had.into_keys().collect();
    changes
}

/// Returns level and experience as one number, the best first.
fn place(level: i64, xp_tenths: i64) -> i64 {
    -((level << XP_BITS) + xp_tenths)
}

/// Returns level and experience of a [`place`].
fn points(place: i64) -> (i64, i64) {
    (-place >> XP_BITS, -place & ((1 << XP_BITS) - 1))
}

/// Bits of a place that hold experience: all skills together have less than 2^36 tenths.
const XP_BITS: u32 = 40;

/// Returns the mark before a page, the offset of the page from it, and the number of its entries.
/// `None`: the page is beyond the shown entries.
pub(crate) fn reached(page: Page, sizes: Sizes) -> Option<(i32, i64, i64)> {
    let limit = page.limit.min(sizes.shown - page.offset);
    let mark = i32::try_from(page.offset / STRIDE).ok()?;
    (limit > 0).then_some((mark, page.offset % STRIDE, limit))
}

/// Returns the number of a list.
pub(crate) fn list_of(skill: Option<usize>) -> i32 {
    skill
        .and_then(|number| i32::try_from(number).ok())
        .unwrap_or(TOTAL)
}

/// The entries of a list: $1 skill.
pub(crate) const LENGTH: &str = "SELECT entries FROM hiscore_lists WHERE skill = $1";
/// A mark: $1 skill, $2 its number.
pub(crate) const MARK: &str =
    "SELECT place, created, character_id FROM hiscore_marks WHERE skill = $1 AND number = $2";
/// Entries from a key on: $1 skill, $2 to $4 the key, $5 limit, $6 offset.
pub(crate) const ROWS: &str = "SELECT name, place FROM hiscores
 WHERE skill = $1 AND (place, created, character_id) >= ($2, $3, $4)
 ORDER BY place, created, character_id LIMIT $5 OFFSET $6";

/// All lists.
pub(crate) const LISTS: &str = "SELECT skill, complete, entries FROM hiscore_lists ORDER BY skill";
/// The last entry of a list: $1 skill.
pub(crate) const WORST: &str = "SELECT place, created, character_id FROM hiscores
 WHERE skill = $1 ORDER BY place DESC, created DESC, character_id DESC LIMIT 1";
/// Start of the last refresh.
pub(crate) const REFRESHED: &str = "SELECT at FROM hiscore_refresh";
/// Notes the start of this refresh: $1 the time.
pub(crate) const NOTE_REFRESH: &str = "UPDATE hiscore_refresh SET at = $1";
/// Takes renamed and deleted characters: $1 at most.
pub(crate) const TAKE_DUE: &str = "DELETE FROM hiscore_due WHERE number IN
   (SELECT number FROM hiscore_due ORDER BY number LIMIT $1) RETURNING character_id";
/// Characters that played since a time: $1 the time.
pub(crate) const PLAYED_SINCE: &str = r#"SELECT "playerId" FROM "playerSessions"
 WHERE logout IS NULL
 UNION SELECT "playerId" FROM "playerSessions" WHERE logout IS NOT NULL AND logout >= $1"#;
/// Entries of a list: $1 skill.
pub(crate) const COUNT: &str = "SELECT count(*) FROM hiscores WHERE skill = $1";
/// Removes the last entries of a list: $1 skill, $2 how many.
pub(crate) const TRIM: &str = "DELETE FROM hiscores WHERE skill = $1 AND character_id IN
   (SELECT character_id FROM hiscores WHERE skill = $1
    ORDER BY place DESC, created DESC, character_id DESC LIMIT $2)";
/// Notes how long a list is: $1 whether it is complete, $2 its entries, $3 skill.
pub(crate) const NOTE_LIST: &str =
    "UPDATE hiscore_lists SET complete = $1, entries = $2 WHERE skill = $3";
/// Removes the marks of a list: $1 skill.
pub(crate) const UNMARK: &str = "DELETE FROM hiscore_marks WHERE skill = $1";
/// Empties a list: $1 skill.
pub(crate) const EMPTY: &str = "DELETE FROM hiscores WHERE skill = $1";

/// Marks a list: $1 skill.
pub(crate) static REMARK: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO hiscore_marks (skill, number, place, created, character_id)
         SELECT skill, (n - 1) / {STRIDE}, place, created, character_id FROM
           (SELECT skill, place, created, character_id,
              row_number() OVER (ORDER BY place, created, character_id) AS n
            FROM hiscores WHERE skill = $1) AS ranked
         WHERE (n - 1) % {STRIDE} = 0"
    )
});

/// Fills an empty list from all characters: $1 at most. `bytewise` makes ids compare as [`Key`]s
/// do.
pub(crate) fn fill(skill: i32, bytewise: &str) -> String {
    let (level, xp) = match usize::try_from(skill).ok().and_then(|n| SKILLS.get(n)) {
        Some(skill) => (format!(r#""{skill}Level""#), format!(r#""{skill}Xp""#)),
        None => (sum("Level"), sum("Xp")),
    };
    format!(
        r#"INSERT INTO hiscores (character_id, skill, place, created, name)
           SELECT id, {skill}, -(CAST({level} AS bigint) * {} + {xp}), "createdAt", name
           FROM characters WHERE placed ORDER BY 3, 4, id{bytewise} LIMIT $1"#,
        1_i64 << XP_BITS
    )
}

fn sum(of: &str) -> String {
    let columns = SKILLS.iter().map(|skill| format!(r#""{skill}{of}""#));
    columns.collect::<Vec<_>>().join(" + ")
}

/// A standing's columns, as `c`: id, name, creation time, level and experience of each skill.
pub(crate) static STANDING: LazyLock<String> = LazyLock::new(|| {
    let skills = SKILLS.iter();
    let skills = skills.map(|skill| format!(r#", c."{skill}Level", c."{skill}Xp""#));
    format!(
        r#"c.id, c.name, c."createdAt"{}"#,
        skills.collect::<String>()
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    fn key(place: i64, character: &str) -> Key {
        Key {
            place,
            created: 7,
            character: character.to_owned(),
        }
    }

    fn standing(character: &str, mining: (i32, i64)) -> Standing {
        let mut skills = [(1, 0); SKILLS.len()];
        skills[8] = mining;
        Standing {
            character: character.to_owned(),
            name: character.to_uppercase(),
            created: 7,
            skills,
        }
    }

    fn entry(character: &str, mining: (i64, i64)) -> Entry {
        Entry {
            skill: 8,
            key: key(place(mining.0, mining.1), character),
            name: character.to_uppercase(),
        }
    }

    fn mining(complete: bool, worst: Option<Key>) -> [List; 1] {
        [List {
            skill: 8,
            complete,
            entries: 1,
            worst,
        }]
    }

    #[test]
    fn a_place_is_the_best_first_and_says_level_and_experience() {
        let most = (17 * 99, 17 * 2_000_000_000);
        assert_eq!(points(place(most.0, most.1)), most);
        assert_eq!(points(place(1, 0)), (1, 0));
        assert!(place(2, 0) < place(1, 99) && place(1, 99) < place(1, 98));
    }

    #[test]
    fn all_skills_together_are_summed() {
        let ann = standing("ann", (20, 44_705));
        assert_eq!(ann.key(TOTAL), Some(key(place(16 + 20, 44_705), "ann")));
        assert_eq!(ann.key(17), None);
    }

    #[test]
    fn only_what_differs_is_written() {
        let list = mining(true, Some(key(place(1, 0), "bob")));
        let all = [standing("ann", (20, 5)), standing("bob", (1, 0))];
        let had = vec![
            entry("ann", (19, 5)),
            entry("bob", (1, 0)),
            entry("cid", (3, 0)),
        ];
        let found = changes(&list, &all, had);
        assert_eq!(found.put, [entry("ann", (20, 5))]);
        assert_eq!(found.gone, [("cid".to_owned(), 8)]);
        assert_eq!(found.skills().collect::<Vec<_>>(), [8, 8]);
    }

    /// A character outside the list may be better than one that is worse than the last entry.
    #[test]
    fn a_list_that_is_not_complete_takes_nobody_who_is_worse_than_its_last() {
        let list = mining(false, Some(key(place(5, 0), "bob")));
        let all = [
            standing("ann", (5, 1)),
            standing("bob", (4, 0)),
            standing("cid", (4, 9)),
        ];
        let found = changes(&list, &all, vec![entry("bob", (5, 0))]);
        assert_eq!(found.put, [entry("ann", (5, 1))]);
        assert_eq!(found.gone, [("bob".to_owned(), 8)]);
        let empty = changes(&mining(false, None), &all, Vec::new());
        assert_eq!(empty, Changes::default());
    }

    #[test]
    fn a_page_ends_with_what_is_shown() {
        let page = |offset, limit| Page { offset, limit };
        assert_eq!(reached(page(0, 25), SIZES), Some((0, 0, 25)));
        assert_eq!(reached(page(275, 25), SIZES), Some((1, 25, 25)));
        assert_eq!(reached(page(99_990, 25), SIZES), Some((399, 240, 10)));
        assert_eq!(reached(page(100_000, 25), SIZES), None);
    }
}
