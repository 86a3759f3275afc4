//! Laws of personal data: a deletion leaves nothing that leads to a person, and guests expire.

use proto::rpc::identity::v1 as identity;
use proto::rpc::identity::v1::AuditAction;
use proto::rpc::persistence::v1 as core;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::personal::v1 as wire;
use proto::rpc::personal::v1::Deletion;
use proto::rpc::social::v1 as social;
use proto::rpc::social::v1::change_request::Change;
use tonic::Code;

use crate::stage::value::{Cause, Scene, ground, ledger, owns, slot};
use crate::stage::{Kind, Player, Stage, logout, refused, region, until};

const SUBJECT: &str = "did:privy:somebody";
const DAY_MS: i64 = 86_400_000;

async fn delete(stage: &Stage, account: &str) -> Deletion {
    let ask = wire::DeleteAccountRequest {
        account_id: account.to_owned(),
        login_ids: vec!["login-1".to_owned()],
        until_ms: 4_000_000_000_000,
    };
    let reply = stage.personal().delete_account(ask).await.unwrap();
    reply.into_inner().outcome()
}

/// Returns the places where the bytes of a text stand, as `table.column`, over all tables.
async fn found(stage: &Stage, needle: &[u8]) -> Vec<String> {
    let hex: String = needle.iter().map(|byte| format!("{byte:02x}")).collect();
    let columns = stage.columns().await;
    assert!(columns.len() > 150, "the walk sees all tables");
    let parts = columns.iter().map(|(table, column, bytes)| {
        let text = stage.hex(column, *bytes);
        format!(
            r#"SELECT '{table}.{column}' WHERE EXISTS
                 (SELECT 1 FROM "{table}" WHERE {text} LIKE '%{hex}%')"#
        )
    });
    let query = parts.collect::<Vec<_>>().join(" UNION ALL ");
    let mut places = stage.ask(&query).await;
    places.sort();
    places
}

/// Returns everything in the store, except the rows that the service itself changes all the time.
async fn all(stage: &Stage) -> Vec<String> {
    const ALIVE: [&str; 4] = ["runs", "planner", "hiscore_refresh", "sqlite_sequence"];
    let mut rows = Vec::new();
    let columns = stage.columns().await;
    let mut tables: Vec<&str> = columns.iter().map(|(table, ..)| table.as_str()).collect();
    tables.sort_unstable();
    tables.dedup();
    for table in tables.into_iter().filter(|table| !ALIVE.contains(table)) {
        let of = columns.iter().filter(|(of, ..)| of == table);
        let values = of.map(|(_, column, bytes)| {
            let text = stage.hex(column, *bytes);
            format!("coalesce({text}, 'null')")
        });
        let values = values.collect::<Vec<_>>().join(" || ',' || ");
        let query = format!(r#"SELECT '{table} ' || {values} FROM "{table}" ORDER BY 1"#);
        rows.extend(stage.ask(&query).await);
    }
    rows
}

async fn moderate(stage: &Stage, action: AuditAction, by: &str, whom: (&str, &str)) {
    let ask = identity::ModerateRequest {
        action: action.into(),
        by: format!("account:{by}"),
        account_id: whom.0.to_owned(),
        character_id: whom.1.to_owned(),
        reason: "a private reason".to_owned(),
        ..identity::ModerateRequest::default()
    };
    stage.identity().moderate(ask).await.unwrap();
}

async fn give(stage: &Stage, account: &str, role: &str) {
    let ask = identity::ModerateRequest {
        action: AuditAction::Roles.into(),
        by: "account:test".to_owned(),
        account_id: account.to_owned(),
        roles: vec![role.to_owned()],
        ..identity::ModerateRequest::default()
    };
    stage.identity().moderate(ask).await.unwrap();
}

async fn change(stage: &Stage, who: &Player, change: Change) {
    let ask = social::ChangeRequest {
        account_id: who.account.clone(),
        character_id: who.id.clone(),
        change: Some(change),
    };
    let reply = stage.social().change(ask).await.unwrap().into_inner();
    assert_eq!(reply.outcome(), social::Outcome::Done);
}

async fn lists(stage: &Stage, who: &Player) -> social::Lists {
    let ask = social::ListRequest {
        account_id: who.account.clone(),
        character_id: who.id.clone(),
    };
    stage.social().list(ask).await.unwrap().into_inner()
}

/// Lets the player die and leave the world: a grave holds its hatchet and two arrows.
async fn dies_and_leaves(scene: &Scene) {
    let (stage, zone, who) = (&scene.stage, &scene.zone, &scene.player.id);
    let buried = |id: &str, item: &str, quantity| core::GroundItem {
        owner_id: who.clone(),
        grave_id: "grave:1-1".to_owned(),
        ..ground(id, zone, item, quantity)
    };
    let dropped = core::GroundItem {
        owner_id: who.clone(),
        ..ground("item:1-4", zone, "arrow", 1)
    };
    let moved = |holder: &str, item, cause, delta| ledger(holder, item, cause, delta);
    let rows = core::CommitRows {
        characters: vec![owns(&scene.bare, 25, &[slot(1, "arrow", 2)])],
        ground: vec![
            buried("item:1-2", "bronze_hatchet", 1),
            buried("item:1-3", "arrow", 2),
            dropped,
        ],
        ledger: vec![
            moved(who, "bronze_hatchet", Cause::DEATH, -1),
            moved("", "bronze_hatchet", Cause::DEATH, 1),
            moved(who, "arrow", Cause::DEATH, -2),
            moved("", "arrow", Cause::DEATH, 2),
            moved(who, "arrow", Cause::DROP, -1),
            moved("", "arrow", Cause::DROP, 1),
        ],
        ..core::CommitRows::default()
    };
    let reply = stage.batch(zone.run, 2, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let left = vec![logout(scene.load().await, "left")];
    let reply = stage.commit(zone.run, 3, left).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
}

/// Gives the account everything that an account can have, and a token of an agent that Bob has
/// claimed since. Returns the id of its second character.
async fn lives(scene: &Scene, bob: &Player, cat: &Player) -> String {
    let (stage, ann) = (&scene.stage, &scene.player);
    let spare = stage.create(&ann.account, "Ann Spare").await.unwrap().id;
    let account = &ann.account;
    let facts = format!(
        r#"UPDATE users SET "privyUserId" = '{SUBJECT}', "farcasterFid" = 'fid-4711',
             avatar = 'https://pictures.example/ann.png', wallet = '0xann'
             WHERE id = '{account}';
           INSERT INTO passwords ("accountId", name, hash, codes, logins)
             VALUES ('{account}', 'ann.at.the.door', '$argon2id$ann', '', 'a-login');
           INSERT INTO agent_mappings (agent_id, account_id, character_id, agent_name, created_at,
             updated_at, version, active) VALUES ('agent-ann', '{account}', '{spare}',
             'Helper of Ann', 1, 1, 0, 1 = 0);
           INSERT INTO agent_credentials (token_id, agent_id, account_id, character_id,
             created_at, expires_at) VALUES ('token-ann', 'agent-ann', '{account}', '{spare}',
             1, 4000000000000);
           INSERT INTO agent_mappings (agent_id, account_id, character_id, agent_name, created_at,
             updated_at, version, active) VALUES ('agent-bob', '{0}', '{1}', 'Helper of Bob', 1, 1, 0,
             1 = 0);
           INSERT INTO agent_credentials (token_id, agent_id, account_id, character_id,
             created_at, expires_at) VALUES ('token-before-bob', 'agent-bob', '{account}', '{1}',
             1, 2);"#,
        bob.account, bob.id
    );
    let sqlite = facts.replace("1 = 0", "0");
    stage.sql(&sqlite, &facts);
    change(stage, ann, Change::Request(bob.name.clone())).await;
    change(stage, bob, Change::Request(ann.name.clone())).await;
    change(stage, cat, Change::Request(ann.name.clone())).await;
    change(stage, ann, Change::Ignore(cat.name.clone())).await;
    change(stage, cat, Change::Ignore("Ann Spare".to_owned())).await;
    let named = (ann.account.as_str(), ann.id.as_str());
    moderate(stage, AuditAction::Mute, "op", named).await;
    moderate(stage, AuditAction::Teleport, "op", named).await;
    moderate(stage, AuditAction::Ban, "op", named).await;
    moderate(stage, AuditAction::Unban, "op", named).await;
    moderate(stage, AuditAction::Mute, account, (&bob.account, "")).await;
    spare
}

#[allow(clippy::too_many_lines, reason = "a story")]
pub(crate) async fn who_is_deleted_leaves_nothing_that_leads_to_a_person(kind: Kind) {
    let stage = Stage::with(kind, &[("HISCORES_REFRESH_MS", "20")]).await;
    let scene = Scene::on(stage).await;
    let (stage, ann) = (&scene.stage, &scene.player);
    let (bob, cat) = (stage.player().await, stage.player().await);
    let spare = lives(&scene, &bob, &cat).await;
    dies_and_leaves(&scene).await;
    let hash = r#"SELECT id FROM users WHERE id = '"#;
    assert_eq!(stage.ask(&format!("{hash}{}'", ann.account)).await.len(), 1);
    let account_name = stage
        .ask(&format!(
            "SELECT name FROM users WHERE id = '{}'",
            ann.account
        ))
        .await;
    let key = stage
        .ask(&format!(
            "SELECT {} FROM users WHERE id = '{}'",
            stage.hex("deviceKeyHash", true),
            ann.account
        ))
        .await;
    let key: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&key[0][2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let before = found(stage, ann.account.as_bytes()).await;
    for place in [
        "agent_credentials.account_id",
        "agent_mappings.account_id",
        "audit_log.accountId",
        "audit_log.by",
        "characters.accountId",
        "ignore_lists.accountId",
        "sanctions.accountId",
        "sanctions.by",
        "users.id",
    ] {
        assert!(
            before.iter().any(|found| found == place),
            "{place} {before:?}"
        );
    }
    let records = stage.ask("SELECT count(*) FROM audit_log").await;
    let totals = scene.conserved().await;

    assert_eq!(delete(stage, &ann.account).await, Deletion::Done);

    let needles: [(&str, &[u8]); 12] = [
        ("name of a character", ann.name.as_bytes()),
        ("name of another one", b"Ann Spare"),
        ("name of the account", account_name[0].as_bytes()),
        ("hash of the key", &key),
        ("subject", SUBJECT.as_bytes()),
        ("id elsewhere", b"fid-4711"),
        ("avatar", b"pictures.example"),
        ("wallet", b"0xann"),
        ("name of the password", b"ann.at.the.door"),
        ("hash of the password", b"$argon2id$ann"),
        ("agent", b"agent-ann"),
        ("words about the person", b"a private reason"),
    ];
    for (what, needle) in needles {
        until(&format!("{what} is gone"), async || {
            let mut places = found(stage, needle).await;
            // The reason of a sanction on somebody else stays.
            if needle == b"a private reason" {
                let of = format!(
                    "SELECT count(*) FROM sanctions WHERE \"accountId\" <> '{}'",
                    bob.account
                );
                assert_eq!(stage.ask(&of).await, ["2"], "the revocations alone");
                places.retain(|place| place != "sanctions.reason" && place != "audit_log.detail");
            }
            places.is_empty().then_some(())
        })
        .await;
    }
    // These are all the exceptions: the revocation, until it ends, and bare ids in the ledger.
    let left = found(stage, ann.account.as_bytes()).await;
    assert_eq!(
        left,
        ["sanctions.accountId", "sanctions.id", "sanctions.subject"]
    );
    for id in [&ann.id, &spare] {
        until("the hiscores have heard", async || {
            let mut places = found(stage, id.as_bytes()).await;
            places
                .retain(|place| !place.starts_with("ledger") || !place.ends_with(".character_id"));
            places.is_empty().then_some(())
        })
        .await;
    }
    let details = stage
        .ask(r#"SELECT DISTINCT detail FROM audit_log WHERE "accountId" = ''"#)
        .await;
    assert_eq!(details, [""], "words about the person");
    assert_eq!(stage.ask("SELECT count(*) FROM audit_log").await, records);
    let acts = r#"SELECT action FROM audit_log WHERE "by" = 'account:op' ORDER BY 1"#;
    assert_eq!(stage.ask(acts).await, ["ban", "mute", "teleport", "unban"]);

    // What it had is written off; what lies on the ground lies on, for nobody.
    let after = scene.conserved().await;
    for (was, is) in totals.iter().zip(&after) {
        let lies = match is.item.as_str() {
            "arrow" => 3,
            "bronze_hatchet" => 1,
            _ => 0,
        };
        assert_eq!((&was.item, is.held), (&is.item, lies));
    }
    let lies = stage.load_region(&scene.zone).await.unwrap().ground;
    assert!(lies.len() == 3 && lies.iter().all(|item| item.owner_id == "deleted"));
    let (his, hers) = (lists(stage, &bob).await, lists(stage, &cat).await);
    assert!(his.friends.is_empty() && hers.requests.is_empty() && hers.ignored.is_empty());

    // It is over for good, and whoever comes again is somebody new.
    assert_eq!(delete(stage, &ann.account).await, Deletion::NotThere);
    let ask = core::SignInRequest {
        device_key_hash: key.into(),
        create: true,
    };
    let anew = stage.accounts().sign_in(ask).await.unwrap().into_inner();
    assert!(anew.created && anew.characters.is_empty());
    assert_ne!(anew.account.unwrap().id, ann.account);
    stage.create(&bob.account, &ann.name).await.unwrap();
}

pub(crate) async fn a_refused_deletion_changes_nothing(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, ann) = (&scene.stage, &scene.player);
    let check = async |why: Deletion| {
        let before = all(stage).await;
        assert_eq!(delete(stage, &ann.account).await, why);
        assert_eq!(all(stage).await, before, "{why:?}");
    };
    check(Deletion::InWorld).await;
    let left = vec![logout(scene.load().await, "left")];
    let reply = stage.commit(scene.zone.run, 2, left).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
    let hold = |to: &str| {
        let set = format!("UPDATE characters SET quarantined = (1 = {to})");
        stage.sql(&set, &set);
    };
    hold("1");
    check(Deletion::Quarantined).await;
    hold("0");
    let whom = (ann.account.as_str(), "");
    moderate(stage, AuditAction::Ban, "op", whom).await;
    check(Deletion::Banned).await;
    moderate(stage, AuditAction::Unban, "op", whom).await;
    give(stage, &ann.account, "admin").await;
    check(Deletion::LastOperator).await;
    let other = stage.account().await;
    give(stage, &other, "admin").await;
    scene.conserved().await;
    assert_eq!(delete(stage, &ann.account).await, Deletion::Done);
    scene.conserved().await;
    assert_eq!(delete(stage, &other).await, Deletion::LastOperator);
    assert_eq!(delete(stage, "nobody").await, Deletion::NotThere);
}

pub(crate) async fn of_two_deletions_at_once_one_wins(kind: Kind) {
    let stage = Stage::new(kind).await;
    for _ in 0..5 {
        let account = stage.account().await;
        stage.create(&account, "Twice").await.unwrap();
        let (one, two) = tokio::join!(delete(&stage, &account), delete(&stage, &account));
        let mut both = [one, two];
        both.sort();
        assert_eq!(both, [Deletion::Done, Deletion::NotThere]);
    }
}

pub(crate) async fn of_two_operators_who_go_at_once_one_stays(kind: Kind) {
    let stage = Stage::new(kind).await;
    for _ in 0..5 {
        let (one, two) = (stage.account().await, stage.account().await);
        give(&stage, &one, "admin").await;
        give(&stage, &two, "admin").await;
        let gone = tokio::join!(delete(&stage, &one), delete(&stage, &two));
        let mut both = [gone.0, gone.1];
        both.sort();
        assert_eq!(both, [Deletion::Done, Deletion::LastOperator]);
        let none = "UPDATE users SET roles = ''";
        stage.sql(none, none);
    }
}

pub(crate) async fn an_export_has_all_and_its_ledger_comes_in_pages(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, ann) = (&scene.stage, &scene.player);
    let (bob, cat) = (stage.player().await, stage.player().await);
    let spare = lives(&scene, &bob, &cat).await;
    dies_and_leaves(&scene).await;
    let ask = |account: &str| wire::ExportRequest {
        account_id: account.to_owned(),
    };
    let all = stage.personal().export(ask(&ann.account)).await.unwrap();
    let all = all.into_inner();
    assert!(all.device_key && all.name.starts_with("Wanderer-"));
    assert_eq!(all.provider_id.as_deref(), Some(SUBJECT));
    assert_eq!(all.wallet.as_deref(), Some("0xann"));
    assert_eq!(all.password_name.as_deref(), Some("ann.at.the.door"));
    assert_eq!(all.character_ids, [ann.id.clone(), spare]);
    assert!(all.seen_ms > 1_700_000_000_000 && all.made == 2);
    assert_eq!(all.deaths.len(), 1);
    assert!(all.deaths[0].items.contains("bronze_hatchet"));
    assert_eq!(all.records.len(), 4, "{:?}", all.records);
    let kinds: Vec<_> = all.sanctions.iter().map(|one| one.kind()).collect();
    assert!(kinds.contains(&identity::SanctionKind::Mute), "{kinds:?}");
    refused(stage.personal().export(ask("nobody")).await, Code::NotFound);

    let part = async |account: &str, before: Option<wire::LedgerPlace>, most| {
        let ask = wire::OwnLedgerRequest {
            account_id: account.to_owned(),
            character_id: ann.id.clone(),
            before,
            most,
        };
        Ok::<_, tonic::Status>(stage.personal().ledger(ask).await?.into_inner().rows)
    };
    let whole = part(&ann.account, None, 1_000).await.unwrap();
    assert_eq!(
        whole.len(),
        6,
        "three at the start, two of the death, one drop"
    );
    let (mut read, mut before) = (Vec::new(), None);
    loop {
        let rows = part(&ann.account, before, 4).await.unwrap();
        before = rows.last().map(|row| wire::LedgerPlace {
            at_ms: row.at_ms,
            run_id: row.run_id,
            sequence: row.sequence,
            row: row.row,
        });
        let full = rows.len() == 4;
        read.extend(rows);
        if !full {
            break;
        }
    }
    assert_eq!(read, whole);
    refused(part(&bob.account, None, 4).await, Code::NotFound);
    refused(part(&ann.account, None, 1_001).await, Code::InvalidArgument);
}

/// Sets when everything about an account was.
fn was(stage: &Stage, account: &str, days_ago: i64, placed: bool) {
    let days = days_ago * DAY_MS;
    let set = |now: &str| {
        format!(
            r#"UPDATE users SET "createdAt" = {now} - {days}, "seenAt" = {now} - {days},
                 "lookAt" = 0 WHERE id = '{account}';
               UPDATE characters SET "createdAt" = {now} - {days}, "lastLogin" = {now} - {days},
                 placed = (1 = {}) WHERE "accountId" = '{account}';"#,
            i32::from(placed)
        )
    };
    stage.sql(
        &set("CAST(strftime('%s', 'now') AS integer) * 1000"),
        &set("tilestead_now_ms()"),
    );
}

fn set(stage: &Stage, statement: &str) {
    stage.sql(statement, statement);
}

async fn remain(stage: &Stage) -> Vec<String> {
    stage.ask("SELECT id FROM users ORDER BY id").await
}

#[allow(clippy::too_many_lines, reason = "a list of accounts")]
pub(crate) async fn guests_expire_and_nobody_else(kind: Kind) {
    let mut stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let mut stay = Vec::new();
    let mut go = Vec::new();
    // No two of these look alike.
    let mut letters = "abcdefghjkmnpqrs".chars();
    let mut guest = async |days, played: Option<bool>| {
        let account = stage.account().await;
        if played.is_some() {
            let letter = letters.next().unwrap();
            stage
                .create(&account, &format!("Guest {letter}"))
                .await
                .unwrap();
        }
        was(&stage, &account, days, played == Some(true));
        account
    };
    go.push(guest(2, None).await);
    go.push(guest(2, Some(false)).await);
    go.push(guest(91, Some(true)).await);
    stay.push(guest(0, None).await);
    stay.push(guest(0, Some(false)).await);
    stay.push(guest(89, Some(true)).await);
    // Each of these has a reason to stay.
    let reasons = [
        "UPDATE users SET roles = 'moderator' WHERE id = 'ID'",
        r#"UPDATE users SET anonymous = (1 = 0), "privyUserId" = 'subject' WHERE id = 'ID'"#,
        r#"UPDATE users SET "seenAt" = "seenAt" + 32832000000 WHERE id = 'ID'"#,
        r#"UPDATE characters SET quarantined = (1 = 1) WHERE "accountId" = 'ID'"#,
        r#"UPDATE characters SET online = (1 = 1) WHERE "accountId" = 'ID'"#,
        r#"INSERT INTO sanctions (id, kind, "accountId", at, version)
           VALUES ('ban:ID', 'ban', 'ID', 1, 4711)"#,
        r#"INSERT INTO "playerSessions" ("playerId", "sessionEpoch", "sessionId", "gatewayId",
             login, logout) SELECT id, 1, 's', 'g', "lastLogin", "lastLogin" + 32832000000
           FROM characters WHERE "accountId" = 'ID'"#,
        r#"INSERT INTO agent_mappings (agent_id, account_id, character_id, agent_name,
             created_at, updated_at, version) SELECT 'a', 'ID', id, 'A', 1, 1, 0
           FROM characters WHERE "accountId" = 'ID'"#,
    ];
    for reason in reasons {
        let account = guest(400, Some(true)).await;
        set(&stage, &reason.replace("ID", &account));
        stay.push(account);
    }
    // One that goes holds something, and the books must agree.
    let held = format!(
        r#"INSERT INTO inventory ("playerId", "itemId", "slotIndex")
           SELECT id, 'arrow', 0 FROM characters WHERE "accountId" = '{0}';
           INSERT INTO ledger SELECT 1, 4711, 1, id, 'arrow', 'gift', 1, 1
           FROM characters WHERE "accountId" = '{0}';"#,
        go[2]
    );
    set(&stage, &held);
    assert_eq!(stage.check().await.differences, Vec::<String>::new());
    assert!(zone.run > 0);

    stage.restart().await;
    stay.sort();
    until("the guests are gone, and nobody else is", async || {
        (remain(&stage).await == stay).then_some(())
    })
    .await;
    assert_eq!(stage.check().await.differences, Vec::<String>::new());
    // A token that somebody still had ends as well.
    for gone in go {
        let query = format!("SELECT kind FROM sanctions WHERE subject = '{gone}'");
        assert_eq!(stage.ask(&query).await, ["revoked"]);
    }
    let looked = r#"SELECT count(*) FROM users WHERE anonymous AND "lookAt" = 0"#;
    until("the store looks at each only now and then", async || {
        (stage.ask(looked).await == ["0"]).then_some(())
    })
    .await;
}

pub(crate) async fn without_a_time_no_guest_who_played_expires(kind: Kind) {
    let mut stage = Stage::with(kind, &[("GUEST_DAYS", "0")]).await;
    let (unplayed, played) = (stage.account().await, stage.account().await);
    stage.create(&played, "Guest").await.unwrap();
    was(&stage, &unplayed, 2, false);
    was(&stage, &played, 4_000, true);
    stage.restart().await;
    until("the account that nobody played is gone", async || {
        (remain(&stage).await == [played.clone()]).then_some(())
    })
    .await;
}
