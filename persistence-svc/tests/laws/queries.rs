//! Laws of lists and dashboards, and of changes to characters at rest.

use proto::rpc::persistence::v1 as core;
use proto::rpc::queries::v1 as wire;
use tonic::Code;
use world::Skill;

use crate::stage::{Kind, Stage, logout, refused, region};

fn page(offset: u32, limit: u32) -> Option<wire::Page> {
    Some(wire::Page { offset, limit })
}

pub(crate) async fn all_that_is_known_of_a_character_is_told_at_once(kind: Kind) {
    let stage = Stage::new(kind).await;
    let player = stage.player().await;
    let fill = format!(
        r#"INSERT INTO inventory ("playerId", "slotIndex", "itemId", quantity)
             VALUES ('{0}', 3, 'bronze_axe', 1);
           INSERT INTO equipment ("playerId", "slotType", "itemId", quantity)
             VALUES ('{0}', 'weapon', 'bronze_sword', 1);
           INSERT INTO bank ("playerId", "itemId", quantity, tab, place)
             VALUES ('{0}', 'logs', 40, 2, 0);
           INSERT INTO "npcKills" ("playerId", "npcId", "killCount") VALUES ('{0}', 'duck', 7);"#,
        player.id
    );
    stage.sql(&fill, &fill);
    let ask = |id: &str| wire::ProfileRequest {
        character_id: id.to_owned(),
    };
    let told = stage.queries().profile(ask(&player.id)).await.unwrap();
    let told = told.into_inner();
    let record = told.record.unwrap();
    assert_eq!(
        (&record.id, &record.account_id),
        (&player.id, &player.account)
    );
    assert_eq!(record.skills.len(), Skill::ALL.len());
    assert_eq!(record.inventory[0].slot, 3);
    assert_eq!((record.bank[0].quantity, record.bank[0].tab), (40, 2));
    assert!(told.online && !told.quarantined && !told.agent);
    assert_eq!(
        (record.equipment[0].slot.as_str(), told.kills[0].count),
        ("weapon", 7)
    );
    assert_eq!(told.logins, 1);
    assert!(told.created_at_ms > 1_700_000_000_000 && told.last_login_ms >= told.created_at_ms);
    refused(stage.queries().profile(ask("nobody")).await, Code::NotFound);
}

pub(crate) async fn logins_are_listed_newest_first(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let (one, two) = (stage.player().await, stage.player().await);
    stage.open(&two, "again").await;
    let record = stage.load(zone.run, &one.id).await.unwrap();
    let left = stage
        .commit(zone.run, 1, vec![logout(record, "left")])
        .await;
    assert_eq!(left.outcome(), core::commit_reply::Outcome::Done);
    let ask = async |character_id: &str, open| {
        let ask = wire::LoginsRequest {
            character_id: character_id.to_owned(),
            open,
            page: page(0, 10),
        };
        stage.queries().logins(ask).await.unwrap().into_inner()
    };
    let all = ask("", false).await;
    // A session that takes over goes on in the row of the stay.
    assert_eq!((all.rows.len(), all.total), (2, 2));
    assert!(all.rows.is_sorted_by(|a, b| a.login_ms >= b.login_ms));
    let open = ask("", true).await;
    assert_eq!((open.rows.len(), open.total), (1, 1));
    assert_eq!(
        (&open.rows[0].name, &open.rows[0].account_id),
        (&two.name, &two.account)
    );
    let ones = ask(&one.id, false).await;
    assert_eq!((ones.total, ones.rows[0].reason.as_str()), (1, "left"));
    assert!(ones.rows[0].logout_ms >= Some(ones.rows[0].login_ms));
    assert_eq!(ask("nobody", false).await.total, 0);
}

pub(crate) async fn accounts_are_found_by_name_id_and_role(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (ann, bob) = (stage.account().await, stage.account().await);
    let name = format!(
        "UPDATE users SET name = 'Ann_100%', roles = 'mod,admin' WHERE id = '{ann}';
         UPDATE users SET name = 'Annx100y' WHERE id = '{bob}';"
    );
    stage.sql(&name, &name);
    stage.create(&ann, "Annie").await.unwrap();
    let ask = async |search: &str, role: &str| {
        let ask = wire::UsersRequest {
            search: search.to_owned(),
            role: role.to_owned(),
            page: page(0, 10),
        };
        let reply = stage.queries().users(ask).await.unwrap().into_inner();
        assert_eq!(reply.rows.len() as u64, reply.total);
        let ids = reply
            .rows
            .into_iter()
            .map(|row| (row.account.unwrap().id, row.characters));
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ask("", "").await.len(), 2);
    assert_eq!(ask("ann", "").await.len(), 2);
    // A wildcard of a pattern stands for itself here.
    assert_eq!(ask("N_100%", "").await, [(ann.clone(), 1)]);
    assert_eq!(ask(&bob, "").await, [(bob, 0)]);
    assert_eq!(ask("", "admin").await, [(ann, 1)]);
    assert!(ask("", "adm").await.is_empty() && ask("' OR 1=1 --", "").await.is_empty());
}

pub(crate) async fn what_there_is_is_counted(kind: Kind) {
    let stage = Stage::new(kind).await;
    let player = stage.player().await;
    stage.create(&player.account, "Spare").await.unwrap();
    let totals = async || {
        let told = stage
            .queries()
            .totals(wire::TotalsRequest {})
            .await
            .unwrap();
        told.into_inner()
    };
    let told = totals().await;
    assert_eq!((told.users, told.characters, told.online), (1, 2, 1));
    assert!(!told.frozen && told.quarantined == 0);
    stage.sql(
        "UPDATE switches SET frozen = 1",
        "UPDATE switches SET frozen = true",
    );
    assert!(totals().await.frozen);
    let held = format!(
        "UPDATE characters SET quarantined = true WHERE id = '{}'",
        player.id
    );
    stage.sql(&held, &held);
    let held = stage
        .queries()
        .quarantined(wire::QuarantinedRequest {})
        .await;
    assert_eq!(held.unwrap().into_inner().rows[0].character_id, player.id);
    let release = async || {
        let ask = wire::ReleaseCharacterRequest {
            character_id: player.id.clone(),
        };
        let released = stage.changes().release_character(ask).await.unwrap();
        released.into_inner().changed
    };
    assert!(release().await && !release().await);
}

pub(crate) async fn the_ledger_is_read_newest_first_by_holder_and_item(kind: Kind) {
    let stage = Stage::new(kind).await;
    let fill = r#"INSERT INTO ledger
          (run_id, sequence, "row", character_id, item_id, cause, delta, at) VALUES
          (1, 1, 1, 'ann', 'coins', 'starter', 25, 100), (1, 2, 1, 'ann', 'coins', 'drop', -5, 200),
          (1, 2, 2, NULL, 'coins', 'drop', 5, 200), (1, 3, 1, 'bob', 'logs', 'starter', 1, 150)"#;
    stage.sql(fill, fill);
    let ask = async |character: &str, item: &str| {
        let ask = wire::LedgerRequest {
            character_id: character.to_owned(),
            item_id: item.to_owned(),
            page: page(0, 10),
        };
        stage.queries().ledger(ask).await.unwrap().into_inner()
    };
    let all = ask("", "").await;
    let at: Vec<u64> = all.rows.iter().map(|row| row.at_ms).collect();
    assert_eq!(
        (at.as_slice(), all.total),
        ([200, 200, 150, 100].as_slice(), 4)
    );
    assert_eq!(
        (all.rows[0].row, all.rows[0].character_id.as_str()),
        (2, "")
    );
    let anns = ask("ann", "coins").await;
    let deltas: Vec<i64> = anns.rows.iter().map(|row| row.delta).collect();
    assert_eq!((deltas.as_slice(), anns.total), ([-5, 25].as_slice(), 2));
    assert_eq!(ask("", "logs").await.rows[0].cause, "starter");
}

pub(crate) async fn regions_are_told_with_their_owners(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(2, -1)).await;
    let told = stage
        .queries()
        .regions(wire::RegionsRequest {})
        .await
        .unwrap();
    let rows = told.into_inner().rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].region, rows[0].run_id),
        (Some(zone.place), zone.run)
    );
    assert!(!rows[0].address.is_empty() && !rows[0].paused);
    let ask = wire::ResumeRegionRequest {
        region: Some(zone.place),
    };
    let resumed = stage.changes().resume_region(ask).await.unwrap();
    assert!(!resumed.into_inner().changed, "it was not paused");
}

pub(crate) async fn a_character_is_changed_only_by_its_account_and_at_rest(kind: Kind) {
    let stage = Stage::new(kind).await;
    let player = stage.player().await;
    let spare = stage.create(&player.account, "Spare").await.unwrap();
    let ask = |account: &str, id: &str, name: Option<&str>, agent| wire::ChangeCharacterRequest {
        account_id: account.to_owned(),
        character_id: id.to_owned(),
        name: name.map(str::to_owned),
        agent,
        look: None,
    };
    let change = async |ask| stage.changes().change_character(ask).await;
    let mine = player.account.as_str();
    let renamed = change(ask(mine, &spare.id, Some(" Sparrow "), None)).await;
    assert_eq!(renamed.unwrap().into_inner().name, "Sparrow");
    // Its own name in other letters is not taken; the old one is free again.
    change(ask(mine, &spare.id, Some("SPARROW"), Some(true)))
        .await
        .unwrap();
    stage.create(&player.account, "Spare").await.unwrap();
    let with = |look: &str| wire::ChangeCharacterRequest {
        look: Some(look.to_owned()),
        ..ask(mine, &spare.id, None, None)
    };
    assert_eq!(
        change(with("21340")).await.unwrap().into_inner().look,
        "21340"
    );
    refused(change(with("2134")).await, Code::InvalidArgument);
    let profile = wire::ProfileRequest {
        character_id: spare.id.clone(),
    };
    let profile = stage.queries().profile(profile).await.unwrap().into_inner();
    assert!(profile.agent);
    let record = profile.record.unwrap();
    assert_eq!((&*record.name, &*record.look), ("SPARROW", "21340"));
    let other = stage.account().await;
    for (wrong, code) in [
        (ask(&other, &spare.id, Some("Mine"), None), Code::NotFound),
        (ask(mine, "nobody", Some("Mine"), None), Code::NotFound),
        (
            ask(mine, &spare.id, Some("spare"), None),
            Code::AlreadyExists,
        ),
        (
            ask(mine, &spare.id, Some("semi;colon"), None),
            Code::InvalidArgument,
        ),
        (
            ask(mine, &player.id, Some("Later"), None),
            Code::FailedPrecondition,
        ),
    ] {
        refused(change(wrong).await, code);
    }
}
