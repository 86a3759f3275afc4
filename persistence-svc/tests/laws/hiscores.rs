//! Laws of hiscores: ranks follow play, and every page is a part of one list.

use proto::rpc::identity::v1 as identity;
use proto::rpc::persistence::v1 as core;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::queries::v1 as wire;
use tonic::{Code, Status};
use world::Skill;

use crate::stage::{Kind, Player, Stage, at, logout, refused, region, stay, until};

/// Starts a fresh store that refreshes its hiscores all the time.
async fn stage(kind: Kind) -> Stage {
    Stage::with(kind, &[("HISCORES_REFRESH_MS", "20")]).await
}

async fn ranking(
    stage: &Stage,
    skill: &str,
    offset: u32,
    limit: u32,
) -> Result<wire::RankingReply, Status> {
    let ask = wire::RankingRequest {
        skill: skill.to_owned(),
        page: Some(wire::Page { offset, limit }),
    };
    Ok(stage.queries().ranking(ask).await?.into_inner())
}

async fn names(stage: &Stage, skill: &str) -> Vec<String> {
    let all = ranking(stage, skill, 0, 100).await.unwrap();
    assert_eq!(all.rows.len() as u64, all.total);
    all.rows.into_iter().map(|row| row.name).collect()
}

/// Waits until these are all who are ranked, best first.
async fn shows(stage: &Stage, skill: &str, expected: &[&str]) {
    until(&format!("{skill} shows {expected:?}"), async || {
        (names(stage, skill).await == expected).then_some(())
    })
    .await;
}

/// Has the next refresh look at characters that were changed behind the service's back.
fn look_at(stage: &Stage, whom: &str) {
    let due = format!("INSERT INTO hiscore_due (character_id) SELECT id FROM characters {whom}");
    stage.sql(&due, &due);
}

/// Makes a character that has been in the world and left it, with this much experience in a skill.
async fn veteran(stage: &Stage, name: &str, skill: &str, level: i32, xp: i64) -> Player {
    let account = stage.account().await;
    let id = stage.create(&account, name).await.unwrap().id;
    let set = format!(
        r#"UPDATE characters SET placed = (1 = 1), "{skill}Level" = {level}, "{skill}Xp" = {xp}
           WHERE id = '{id}'"#
    );
    stage.sql(&set, &set);
    look_at(stage, &format!("WHERE id = '{id}'"));
    let name = name.to_owned();
    Player { account, id, name }
}

pub(crate) async fn the_best_come_first_and_the_earlier_before_the_later(kind: Kind) {
    let stage = stage(kind).await;
    veteran(&stage, "Middling", "cooking", 40, 5_000).await;
    veteran(&stage, "Best", "cooking", 80, 90_000).await;
    veteran(&stage, "Level with Best", "cooking", 80, 80_000).await;
    let newcomer = stage.account().await;
    let newcomer = stage.create(&newcomer, "Never came").await.unwrap().id;
    look_at(&stage, &format!("WHERE id = '{newcomer}'"));
    let best = ["Best", "Level with Best", "Middling"];
    shows(&stage, "cooking", &best).await;
    let all = ranking(&stage, "cooking", 0, 100).await.unwrap();
    assert_eq!(
        (all.rows[0].level, all.rows[0].xp_tenths, all.total),
        (80, 90_000, 3)
    );
    let second = ranking(&stage, "cooking", 1, 1).await.unwrap();
    assert_eq!((second.rows[0].name.as_str(), second.total), (best[1], 3));
    let sum = ranking(&stage, "", 0, 1).await.unwrap();
    // All others at 1, but for constitution at 10.
    let others = u32::try_from(Skill::ALL.len() - 2).unwrap();
    assert_eq!(
        (sum.rows[0].level, sum.rows[0].xp_tenths),
        (80 + others + 10, 90_000 + 11_540)
    );
    // Of equal characters, the oldest comes first.
    assert_eq!(
        names(&stage, "mining").await,
        ["Middling", "Best", "Level with Best"]
    );
    for (skill, limit) in [("juggling", 1), ("cooking", 0), ("cooking", 101)] {
        let wrong = ranking(&stage, skill, 0, limit).await;
        refused(wrong, Code::InvalidArgument);
    }
    let beyond = ranking(&stage, "cooking", 4_000_000_000, 25).await.unwrap();
    assert!(beyond.rows.is_empty() && beyond.total == 3);
}

/// Returns the record with so much experience in mining.
fn mined(record: &core::CharacterRecord, level: u32, xp_tenths: u64) -> core::CharacterRecord {
    let mut record = at(record, 5, 5);
    for skill in &mut record.skills {
        if skill.name == "mining" {
            (skill.level, skill.xp_tenths) = (level, xp_tenths);
        }
    }
    record
}

pub(crate) async fn ranks_follow_what_is_played(kind: Kind) {
    let stage = stage(kind).await;
    // SQLite has one process; with PostgreSQL two replicas refresh the same lists.
    let beside = match kind {
        Kind::Sqlite => None,
        Kind::Postgres | Kind::Pooled => Some(stage.another().await),
    };
    let zone = stage.zone(region(0, 0)).await;
    let (one, two) = (stage.player().await, stage.player().await);
    let (one_record, two_record) = (
        stage.load(zone.run, &one.id).await.unwrap(),
        stage.load(zone.run, &two.id).await.unwrap(),
    );
    let commit = async |sequence, rows| {
        let reply = stage.commit(zone.run, sequence, rows).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    };
    let (ones, twos) = (mined(&one_record, 5, 400), mined(&two_record, 9, 1_000));
    commit(1, vec![stay(ones), stay(twos.clone())]).await;
    shows(&stage, "mining", &[&two.name, &one.name]).await;
    // Experience within a level counts, and so does the very last of a session.
    commit(2, vec![stay(mined(&one_record, 9, 1_001))]).await;
    shows(&stage, "mining", &[&one.name, &two.name]).await;
    commit(3, vec![logout(mined(&twos, 10, 1_200), "left")]).await;
    shows(&stage, "mining", &[&two.name, &one.name]).await;
    shows(&stage, "", &[&two.name, &one.name]).await;
    if let Some(replica) = beside {
        replica.end().await;
    }
}

pub(crate) async fn who_is_renamed_or_deleted_leaves_no_old_entry(kind: Kind) {
    let stage = stage(kind).await;
    let best = veteran(&stage, "Best", "cooking", 80, 90_000).await;
    let next = veteran(&stage, "Next", "cooking", 70, 80_000).await;
    veteran(&stage, "Last", "cooking", 60, 70_000).await;
    shows(&stage, "cooking", &["Best", "Next", "Last"]).await;
    let rename = wire::ChangeCharacterRequest {
        look: None,
        account_id: next.account,
        character_id: next.id,
        name: Some("Renamed".to_owned()),
        agent: None,
    };
    stage.changes().change_character(rename).await.unwrap();
    shows(&stage, "cooking", &["Best", "Renamed", "Last"]).await;
    let delete = core::DeleteCharacterRequest {
        account_id: best.account,
        character_id: best.id,
    };
    stage.accounts().delete_character(delete).await.unwrap();
    for skill in ["cooking", "fishing", ""] {
        shows(&stage, skill, &["Renamed", "Last"]).await;
    }
}

pub(crate) async fn who_is_banned_stays_in_the_hiscores(kind: Kind) {
    let stage = stage(kind).await;
    let best = veteran(&stage, "Best", "cooking", 80, 90_000).await;
    veteran(&stage, "Next", "cooking", 70, 80_000).await;
    shows(&stage, "cooking", &["Best", "Next"]).await;
    let ban = identity::ModerateRequest {
        action: identity::AuditAction::Ban.into(),
        account_id: best.account,
        reason: "bots".to_owned(),
        by: "operator".to_owned(),
        ..identity::ModerateRequest::default()
    };
    stage.identity().moderate(ban).await.unwrap();
    look_at(&stage, "");
    veteran(&stage, "Third", "cooking", 60, 70_000).await;
    shows(&stage, "cooking", &["Best", "Next", "Third"]).await;
}

const CROWD: usize = 1_200;

/// Makes many characters that are equal, over several marks of the list.
async fn crowd(stage: &Stage) -> Vec<String> {
    let zone = stage.zone(region(0, 0)).await;
    stage.crowd(&zone, CROWD).await;
    let number = "CAST(substr(id, 2) AS integer)";
    let mixed = format!(
        r#"UPDATE characters SET placed = (1 = 1), "miningXp" = ({number} * 7919) % 13,
             "createdAt" = ({number} * 31) % 7"#
    );
    stage.sql(&mixed, &mixed);
    look_at(stage, "");
    let order = r#"SELECT name FROM characters
                   ORDER BY "miningLevel" DESC, "miningXp" DESC, "createdAt", id"#;
    stage.ask(order).await
}

/// Waits until all are ranked; the names of all pages of so many rows.
async fn pages(stage: &Stage, rows: u32) -> Vec<String> {
    until("all are ranked", async || {
        let page = ranking(stage, "mining", 0, 1).await.unwrap();
        (page.total == CROWD as u64).then_some(())
    })
    .await;
    let mut found: Vec<String> = Vec::new();
    loop {
        let offset = u32::try_from(found.len()).unwrap();
        let page = ranking(stage, "mining", offset, rows).await.unwrap();
        if page.rows.is_empty() {
            return found;
        }
        found.extend(page.rows.into_iter().map(|row| row.name));
    }
}

pub(crate) async fn every_page_of_a_long_list_goes_on_where_the_one_before_ended(kind: Kind) {
    let stage = stage(kind).await;
    let expected = crowd(&stage).await;
    for rows in [25, 33, 100] {
        assert!(pages(&stage, rows).await == expected, "pages of {rows}");
    }
}

pub(crate) async fn the_hiscores_of_a_world_from_before_are_filled(kind: Kind) {
    let stage = stage(kind).await;
    let expected = crowd(&stage).await;
    pages(&stage, 100).await;
    // As the migration leaves them where characters are there already.
    let before = "DELETE FROM hiscores; DELETE FROM hiscore_marks;
                  UPDATE hiscore_lists SET complete = (1 = 0), entries = 0;";
    stage.sql(before, before);
    assert!(pages(&stage, 100).await == expected);
}
