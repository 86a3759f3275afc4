//! The hiscores in SQLite.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use tonic::async_trait;

use super::{Sqlite, Transaction, read};
use crate::store::Hiscores;
use crate::store::error::Result;
use crate::store::hiscores::{
    CHUNK, COUNT, Changes, DUE_MAX, EMPTY, Entry, Key, LENGTH, LISTS, List, MARK, NOTE_LIST,
    NOTE_REFRESH, OVERLAP_MS, PLAYED_SINCE, REFRESHED, REMARK, ROWS, Ranked, Refreshed, SIZES,
    STANDING, Sizes, Standing, TAKE_DUE, TRIM, UNMARK, WORST, changes, fill, list_of, reached,
};
use crate::store::queries::{Page, Part};

type Read<T> = rusqlite::Result<T>;

#[async_trait]
impl Hiscores for Sqlite {
    async fn ranking(&self, skill: Option<usize>, page: Page) -> Result<Part<Ranked>> {
        let skill = list_of(skill);
        self.read(move |transaction| ranking(transaction, skill, page))
            .await
    }

    async fn refresh_hiscores(&self, period_ms: i64, sizes: Sizes) -> Result<Refreshed> {
        self.write(move |transaction| refresh(transaction, period_ms, sizes))
            .await
    }
}

fn ranking(transaction: &Transaction<'_>, skill: i32, page: Page) -> Result<Part<Ranked>> {
    let mut statement = transaction.prepare_cached(LENGTH)?;
    let length: i64 = statement.query_row([skill], |row| row.get(0))?;
    let mut part = Part {
        rows: Vec::new(),
        total: length.min(SIZES.shown),
    };
    let Some((number, offset, limit)) = reached(page, SIZES) else {
        return Ok(part);
    };
    let mut statement = transaction.prepare_cached(MARK)?;
    let mark = statement
        .query_row([skill, number], read::<Key>)
        .optional()?;
    let Some(mark) = mark else {
        return Ok(part);
    };
    let values = params![
        skill,
        mark.place,
        mark.created,
        mark.character,
        limit,
        offset
    ];
    let mut statement = transaction.prepare_cached(ROWS)?;
    let rows = statement.query_map(values, |row| Ok(Ranked::new(row.get(0)?, row.get(1)?)))?;
    part.rows = rows.collect::<Read<_>>()?;
    Ok(part)
}

fn refresh(transaction: &Transaction<'_>, period_ms: i64, sizes: Sizes) -> Result<Refreshed> {
    let now = transaction.now_ms();
    let last: i64 = transaction.query_row(REFRESHED, [], |row| row.get(0))?;
    let lists = lists(transaction)?;
    let short = lists.iter().find(|list| list.is_short(sizes));
    if short.is_none() && now < last + period_ms {
        return Ok(Refreshed::NotDue);
    }
    transaction.execute(NOTE_REFRESH, [now])?;
    let mut touched = compare(transaction, &lists, last - OVERLAP_MS)?;
    if let Some(list) = short {
        transaction.execute(EMPTY, [list.skill])?;
        transaction.execute(&fill(list.skill, ""), [sizes.kept])?;
        touched.insert(list.skill);
    }
    let mut more = false;
    for list in &lists {
        let filled = short.is_some_and(|short| short.skill == list.skill);
        if touched.contains(&list.skill) {
            mark(transaction, list, filled, sizes)?;
        }
        more |= !filled && list.is_short(sizes);
    }
    Ok(if more {
        Refreshed::More
    } else {
        Refreshed::Done
    })
}

fn lists(transaction: &Transaction<'_>) -> Result<Vec<List>> {
    let mut statement = transaction.prepare_cached(LISTS)?;
    let lists = statement.query_map([], |row| {
        Ok(List {
            skill: row.get(0)?,
            complete: row.get(1)?,
            entries: row.get(2)?,
            worst: None,
        })
    })?;
    let mut lists: Vec<List> = lists.collect::<Read<_>>()?;
    let mut statement = transaction.prepare_cached(WORST)?;
    for list in &mut lists {
        list.worst = statement.query_row([list.skill], read).optional()?;
    }
    Ok(lists)
}

/// Moves the entries of all characters that played since then. Returns the lists that it touched.
fn compare(transaction: &Transaction<'_>, lists: &[List], since: i64) -> Result<BTreeSet<i32>> {
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for (query, value) in [(TAKE_DUE, DUE_MAX), (PLAYED_SINCE, since)] {
        let mut statement = transaction.prepare_cached(query)?;
        let found = statement.query_map([value], |row| row.get(0))?;
        ids.extend(found.collect::<Read<Vec<String>>>()?);
    }
    let standings = format!(
        "SELECT {} FROM characters c WHERE c.id = ?1 AND c.placed",
        *STANDING
    );
    let mut standings = transaction.prepare_cached(&standings)?;
    let mut entries = transaction.prepare_cached(
        "SELECT place, created, character_id, skill, name FROM hiscores WHERE character_id = ?1",
    )?;
    let ids: Vec<String> = ids.into_iter().collect();
    let mut touched = BTreeSet::new();
    for some in ids.chunks(CHUNK) {
        let (mut played, mut had) = (Vec::new(), Vec::new());
        for id in some {
            played.extend(standings.query_row([id], read::<Standing>).optional()?);
            let of = entries.query_map([id], read::<Entry>)?;
            had.extend(of.collect::<Read<Vec<Entry>>>()?);
        }
        let found = changes(lists, &played, had);
        touched.extend(found.skills());
        write(transaction, &found)?;
    }
    Ok(touched)
}

fn write(transaction: &Transaction<'_>, changes: &Changes) -> Result<()> {
    let remove = "DELETE FROM hiscores WHERE character_id = ?1 AND skill = ?2";
    let mut remove = transaction.prepare_cached(remove)?;
    for (id, skill) in &changes.gone {
        remove.execute(params![id, skill])?;
    }
    let mut put = transaction.prepare_cached(
        "INSERT INTO hiscores (character_id, skill, place, created, name)
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (character_id, skill) DO UPDATE
           SET place = excluded.place, created = excluded.created, name = excluded.name",
    )?;
    for Entry { skill, key, name } in &changes.put {
        put.execute(params![key.character, skill, key.place, key.created, name])?;
    }
    Ok(())
}

/// Cuts a list to its size, marks it anew and notes its length.
fn mark(transaction: &Transaction<'_>, list: &List, filled: bool, sizes: Sizes) -> Result<()> {
    let mut statement = transaction.prepare_cached(COUNT)?;
    let counted: i64 = statement.query_row([list.skill], |row| row.get(0))?;
    let surplus = counted - sizes.kept;
    if surplus > 0 {
        transaction.execute(TRIM, params![list.skill, surplus])?;
    }
    transaction.prepare_cached(UNMARK)?.execute([list.skill])?;
    transaction.prepare_cached(&REMARK)?.execute([list.skill])?;
    let complete = list.is_complete(counted, filled, sizes);
    let values = params![complete, counted.min(sizes.kept), list.skill];
    transaction.prepare_cached(NOTE_LIST)?.execute(values)?;
    Ok(())
}
