//! The hiscores in PostgreSQL.
//!
//! Always: a refresh has a connection of its own, so that no call waits for it; it locks nothing
//! that play locks.

use std::collections::BTreeSet;

use tonic::async_trait;

use super::directory::moment;
use super::session::{Client, GenericClient, Transaction};
use super::{Postgres, Values, all};
use crate::store::Hiscores;
use crate::store::error::Result;
use crate::store::hiscores::{
    CHUNK, COUNT, Changes, DUE_MAX, EMPTY, Entry, Key, LENGTH, LISTS, List, MARK, NOTE_LIST,
    NOTE_REFRESH, OVERLAP_MS, PLAYED_SINCE, REFRESHED, REMARK, ROWS, Ranked, Refreshed, SIZES,
    STANDING, Sizes, Standing, TAKE_DUE, TRIM, UNMARK, WORST, changes, fill, list_of, reached,
};
use crate::store::queries::{Page, Part};
use crate::store::row::FromRow;

/// Only one replica refreshes at a time; the number is ours alone.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(7453010372)";
/// The longest statement fills a list from all characters.
const LIMIT: &str = "SET LOCAL statement_timeout = '100s'; SET LOCAL enable_seqscan = on";
const PUT: &str = "INSERT INTO hiscores (character_id, skill, place, created, name)
 SELECT * FROM UNNEST($1::text[], $2::integer[], $3::bigint[], $4::bigint[], $5::text[])
 ON CONFLICT (character_id, skill) DO UPDATE
   SET place = excluded.place, created = excluded.created, name = excluded.name";
const REMOVE: &str = "DELETE FROM hiscores h
 USING UNNEST($1::text[], $2::integer[]) AS u (id, skill)
 WHERE h.character_id = u.id AND h.skill = u.skill";

#[async_trait]
impl Hiscores for Postgres {
    async fn ranking(&self, skill: Option<usize>, page: Page) -> Result<Part<Ranked>> {
        let mut reader = self.reader().await?;
        let moment = moment(&mut reader).await?;
        let skill = list_of(skill);
        let statement = moment.prepare_cached(LENGTH).await?;
        let length: i32 = moment.query_one(&statement, &[&skill]).await?.try_get(0)?;
        let total = i64::from(length).min(SIZES.shown);
        let mut rows = Vec::new();
        if let Some((number, offset, limit)) = reached(page, SIZES) {
            let statement = moment.prepare_cached(MARK).await?;
            if let Some(mark) = moment.query_opt(&statement, &[&skill, &number]).await? {
                let mark = Key::from_row(&mark)?;
                let values: Values<'_> = &[
                    &skill,
                    &mark.place,
                    &mark.created,
                    &mark.character,
                    &limit,
                    &offset,
                ];
                let statement = moment.prepare_cached(ROWS).await?;
                for row in moment.query(&statement, values).await? {
                    rows.push(Ranked::new(row.try_get(0)?, row.try_get(1)?));
                }
            }
        }
        moment.commit().await?;
        Ok(Part { rows, total })
    }

    async fn refresh_hiscores(&self, period_ms: i64, sizes: Sizes) -> Result<Refreshed> {
        refresh(&mut self.own_client().await?, period_ms, sizes).await
    }
}

async fn refresh(client: &mut Client, period_ms: i64, sizes: Sizes) -> Result<Refreshed> {
    let moment = client.moment(false).await?;
    moment.batch_execute(LIMIT).await?;
    if !moment.query_one(LOCK, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(Refreshed::NotDue);
    }
    let now = moment.query_one("SELECT tilestead_now_ms()", &[]).await?;
    let now: i64 = now.try_get(0)?;
    let last: i64 = moment.query_one(REFRESHED, &[]).await?.try_get(0)?;
    let lists = lists(&moment).await?;
    let short = lists.iter().find(|list| list.is_short(sizes));
    if short.is_none() && now < last + period_ms {
        return Ok(Refreshed::NotDue);
    }
    // This write comes first: a replica that saw the old time fails here, and not at the end.
    moment.execute(NOTE_REFRESH, &[&now]).await?;
    let mut touched = compare(&moment, &lists, last - OVERLAP_MS).await?;
    if let Some(list) = short {
        moment.execute(EMPTY, &[&list.skill]).await?;
        let fill = fill(list.skill, r#" COLLATE "C""#);
        moment.execute(&fill, &[&sizes.kept]).await?;
        touched.insert(list.skill);
    }
    let mut more = false;
    for list in &lists {
        let filled = short.is_some_and(|short| short.skill == list.skill);
        if touched.contains(&list.skill) {
            mark(&moment, list, filled, sizes).await?;
        }
        more |= !filled && list.is_short(sizes);
    }
    moment.commit().await?;
    Ok(if more {
        Refreshed::More
    } else {
        Refreshed::Done
    })
}

async fn lists(moment: &Transaction<'_>) -> Result<Vec<List>> {
    let mut lists = Vec::new();
    for row in moment.query(LISTS, &[]).await? {
        let skill: i32 = row.try_get(0)?;
        let worst = moment.query_opt(WORST, &[&skill]).await?;
        lists.push(List {
            skill,
            complete: row.try_get(1)?,
            entries: row.try_get::<_, i32>(2)?.into(),
            worst: worst.as_ref().map(Key::from_row).transpose()?,
        });
    }
    Ok(lists)
}

/// Moves the entries of all characters that played since then. Returns the lists that it touched.
async fn compare(moment: &Transaction<'_>, lists: &[List], since: i64) -> Result<BTreeSet<i32>> {
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for row in moment.query(TAKE_DUE, &[&DUE_MAX]).await? {
        ids.insert(row.try_get(0)?);
    }
    for row in moment.query(PLAYED_SINCE, &[&since]).await? {
        ids.insert(row.try_get(0)?);
    }
    let standings = format!(
        "SELECT {} FROM characters c WHERE c.id = ANY($1) AND c.placed",
        *STANDING
    );
    let standings = moment.prepare_cached(&standings).await?;
    let entries = "SELECT place, created, character_id, skill, name FROM hiscores
                   WHERE character_id = ANY($1)";
    let entries = moment.prepare_cached(entries).await?;
    let ids: Vec<String> = ids.into_iter().collect();
    let mut touched = BTreeSet::new();
    for some in ids.chunks(CHUNK) {
        let played = moment.query(&standings, &[&some]).await?;
        let played: Vec<Standing> = all(&played)?;
        let had = moment.query(&entries, &[&some]).await?;
        let had: Vec<Entry> = all(&had)?;
        let found = changes(lists, &played, had);
        touched.extend(found.skills());
        write(moment, &found).await?;
    }
    Ok(touched)
}

async fn write(moment: &Transaction<'_>, changes: &Changes) -> Result<()> {
    if !changes.gone.is_empty() {
        let gone = changes.gone.iter().map(|(id, skill)| (id.as_str(), *skill));
        let (ids, skills): (Vec<&str>, Vec<i32>) = gone.unzip();
        moment.execute(REMOVE, &[&ids, &skills]).await?;
    }
    if changes.put.is_empty() {
        return Ok(());
    }
    let put = || changes.put.iter();
    let ids: Vec<&str> = put().map(|entry| entry.key.character.as_str()).collect();
    let skills: Vec<i32> = put().map(|entry| entry.skill).collect();
    let places: Vec<i64> = put().map(|entry| entry.key.place).collect();
    let created: Vec<i64> = put().map(|entry| entry.key.created).collect();
    let names: Vec<&str> = put().map(|entry| entry.name.as_str()).collect();
    let values: Values<'_> = &[&ids, &skills, &places, &created, &names];
    moment.execute(PUT, values).await?;
    Ok(())
}

/// Cuts a list to its size, marks it anew and notes its length.
async fn mark(moment: &Transaction<'_>, list: &List, filled: bool, sizes: Sizes) -> Result<()> {
    let counted = moment.query_one(COUNT, &[&list.skill]).await?;
    let counted: i64 = counted.try_get(0)?;
    let surplus = counted - sizes.kept;
    if surplus > 0 {
        moment.execute(TRIM, &[&list.skill, &surplus]).await?;
    }
    moment.execute(UNMARK, &[&list.skill]).await?;
    moment.execute(REMARK.as_str(), &[&list.skill]).await?;
    let complete = list.is_complete(counted, filled, sizes);
    let entries = i32::try_from(counted.min(sizes.kept)).unwrap_or(i32::MAX);
    let values: Values<'_> = &[&complete, &entries, &list.skill];
    moment.execute(NOTE_LIST, values).await?;
    Ok(())
}
