//! Laws of identity: subjects of the identity provider, claims, revocations, bans and mutes.

use bytes::Bytes;
use proto::rpc::identity::v1 as wire;
use proto::rpc::identity::v1::{AuditAction, SanctionKind};
use proto::rpc::persistence::v1::{SignInReply, SignInRequest};
use tonic::{Code, Status, Streaming};

use crate::stage::{Kind, Player, Stage, refused};

async fn sign_in(stage: &Stage, subject: &str, key: Option<u8>) -> Result<SignInReply, Status> {
    let ask = wire::SignInSubjectRequest {
        subject: subject.to_owned(),
        device_key_hash: key.map_or_else(Bytes::new, hash),
    };
    Ok(stage.identity().sign_in_subject(ask).await?.into_inner())
}

fn hash(key: u8) -> Bytes {
    vec![key; 32].into()
}

/// Returns the account of a device key. Makes it if there is none and `create` is set.
async fn anonymous(stage: &Stage, key: u8, create: bool) -> Option<String> {
    let ask = SignInRequest {
        device_key_hash: hash(key),
        create,
    };
    let reply = stage.accounts().sign_in(ask).await.unwrap().into_inner();
    reply.account.map(|account| account.id)
}

fn id(reply: &SignInReply) -> String {
    reply.account.as_ref().unwrap().id.clone()
}

async fn moderate(
    stage: &Stage,
    action: AuditAction,
    account: &str,
    until: u64,
) -> Result<(), Status> {
    let ask = wire::ModerateRequest {
        action: action.into(),
        by: "account:test".to_owned(),
        account_id: account.to_owned(),
        character_id: match action {
            AuditAction::Teleport => "someone".to_owned(),
            _ => String::new(),
        },
        reason: "a reason".to_owned(),
        until_ms: until,
        x: 3,
        z: -4,
        roles: Vec::new(),
    };
    stage.identity().moderate(ask).await.map(|_| ())
}

async fn sanctions_of(stage: &Stage, account: &str) -> Vec<(SanctionKind, String)> {
    let ask = wire::CheckRequest {
        account_id: account.to_owned(),
    };
    let reply = stage.identity().check(ask).await.unwrap().into_inner();
    let sanctions = reply.sanctions.into_iter();
    sanctions
        .map(|sanction| (sanction.kind(), sanction.subject))
        .collect()
}

async fn watch(stage: &Stage, since: u64, incarnation: u64) -> Streaming<wire::SanctionsUpdate> {
    let ask = wire::WatchGatesRequest {
        client: "test".to_owned(),
        since,
        incarnation,
    };
    // Its feed may not have looked at the store yet.
    crate::stage::until("the sanctions are pushed", async || {
        stage.identity().watch(ask.clone()).await.ok()
    })
    .await
    .into_inner()
}

/// Returns the first push that brings a sanction.
async fn told(updates: &mut Streaming<wire::SanctionsUpdate>) -> wire::SanctionsUpdate {
    loop {
        let update = updates.message().await.unwrap().unwrap();
        if !update.sanctions.is_empty() {
            return update;
        }
    }
}

pub(crate) async fn a_subject_is_one_account(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (one, two) = tokio::join!(
        sign_in(&stage, "did:1", None),
        sign_in(&stage, "did:1", None)
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(id(&one), id(&two));
    assert_eq!(u8::from(one.created) + u8::from(two.created), 1);
    assert!(!one.account.unwrap().anonymous);
    let other = sign_in(&stage, "did:2", None).await.unwrap();
    assert_ne!(id(&two), id(&other));
    let long = "x".repeat(257);
    for subject in ["", long.as_str()] {
        refused(sign_in(&stage, subject, None).await, Code::InvalidArgument);
    }
}

pub(crate) async fn an_anonymous_account_is_claimed_once(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = anonymous(&stage, 7, true).await.unwrap();
    let character = stage.create(&account, "Claimed").await.unwrap();
    let claimed = sign_in(&stage, "did:1", Some(7)).await.unwrap();
    assert_eq!(id(&claimed), account, "it is the same account");
    assert!(!claimed.created && !claimed.account.as_ref().unwrap().anonymous);
    assert_eq!(claimed.characters[0].id, character.id);
    // Again: nothing more happens. By somebody else: not at all.
    assert_eq!(
        id(&sign_in(&stage, "did:1", Some(7)).await.unwrap()),
        account
    );
    refused(sign_in(&stage, "did:2", Some(7)).await, Code::AlreadyExists);
    // The key alone opens it no more, and does not make another one.
    assert_eq!(anonymous(&stage, 7, false).await, None);
    assert_eq!(anonymous(&stage, 7, true).await, None);
    // A key that nobody has keeps nobody out.
    assert!(sign_in(&stage, "did:3", Some(9)).await.unwrap().created);
}

pub(crate) async fn characters_move_to_an_account_that_is_there_when_they_fit(kind: Kind) {
    let stage = Stage::new(kind).await;
    let own = id(&sign_in(&stage, "did:1", None).await.unwrap());
    for n in 0..3 {
        stage.create(&own, &format!("Own {n}")).await.unwrap();
    }
    let guest = anonymous(&stage, 1, true).await.unwrap();
    for n in 0..3 {
        stage.create(&guest, &format!("Guest {n}")).await.unwrap();
    }
    refused(
        sign_in(&stage, "did:1", Some(1)).await,
        Code::ResourceExhausted,
    );
    let few = anonymous(&stage, 2, true).await.unwrap();
    let moved = stage.create(&few, "Moved").await.unwrap();
    let found = sign_in(&stage, "did:1", Some(2)).await.unwrap();
    assert_eq!((id(&found), found.characters.len()), (own.clone(), 4));
    assert!(found.characters.iter().any(|c| c.id == moved.id));
    // The account of that device is empty now, and a subject may claim it again.
    assert_eq!(anonymous(&stage, 2, false).await, Some(few));
    let again = sign_in(&stage, "did:1", Some(2)).await.unwrap();
    assert_eq!(again.characters.len(), 4);
    // The claim moves no character that does not fit.
    let guests = stage.ask(
        r#"SELECT count(*) FROM characters WHERE name LIKE 'Guest%'
        AND "accountId" IN (SELECT id FROM users WHERE anonymous)"#,
    );
    assert_eq!(guests.await, ["3"]);
}

pub(crate) async fn nobody_is_moved_out_of_the_world(kind: Kind) {
    let stage = Stage::new(kind).await;
    sign_in(&stage, "did:1", None).await.unwrap();
    let guest = anonymous(&stage, 1, true).await.unwrap();
    let made = stage.create(&guest, "Playing").await.unwrap();
    let player = Player {
        account: guest,
        id: made.id,
        name: made.name,
    };
    stage.open(&player, "first").await;
    refused(
        sign_in(&stage, "did:1", Some(1)).await,
        Code::FailedPrecondition,
    );
    // A subject without an account gets this very one, whatever it plays.
    let claimed = sign_in(&stage, "did:2", Some(1)).await.unwrap();
    assert_eq!(id(&claimed), player.account);
}

pub(crate) async fn a_claim_does_not_wash_off_a_ban_or_a_mute(kind: Kind) {
    let stage = Stage::new(kind).await;
    let banned = anonymous(&stage, 1, true).await.unwrap();
    moderate(&stage, AuditAction::Ban, &banned, 0)
        .await
        .unwrap();
    refused(
        sign_in(&stage, "did:1", Some(1)).await,
        Code::PermissionDenied,
    );
    moderate(&stage, AuditAction::Unban, &banned, 0)
        .await
        .unwrap();
    sign_in(&stage, "did:1", Some(1)).await.unwrap();
    let own = id(&sign_in(&stage, "did:2", None).await.unwrap());
    let muted = anonymous(&stage, 2, true).await.unwrap();
    stage.create(&muted, "Muted").await.unwrap();
    moderate(&stage, AuditAction::Mute, &muted, 0)
        .await
        .unwrap();
    sign_in(&stage, "did:2", Some(2)).await.unwrap();
    assert_eq!(
        sanctions_of(&stage, &own).await,
        [(SanctionKind::Mute, String::new())]
    );
}

pub(crate) async fn what_operators_decide_holds_until_its_end_and_is_written_down(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    refused(
        moderate(&stage, AuditAction::Ban, "nobody", 0).await,
        Code::NotFound,
    );
    moderate(&stage, AuditAction::Ban, &account, u64::MAX >> 1)
        .await
        .unwrap();
    moderate(&stage, AuditAction::Mute, &account, 1)
        .await
        .unwrap();
    // The mute ended long ago.
    assert_eq!(
        sanctions_of(&stage, &account).await,
        [(SanctionKind::Ban, String::new())]
    );
    let page = |before| wire::PageRequest { before, most: 10 };
    let all = stage.identity().sanctions(page(0)).await.unwrap();
    let all = all.into_inner().sanctions;
    assert_eq!(
        (all.len(), all[0].account_id.as_str()),
        (1, account.as_str())
    );
    assert_eq!(
        (all[0].reason.as_str(), all[0].by.as_str()),
        ("a reason", "account:test")
    );
    moderate(&stage, AuditAction::Unban, &account, 0)
        .await
        .unwrap();
    assert!(sanctions_of(&stage, &account).await.is_empty());
    moderate(&stage, AuditAction::Freeze, "", 0).await.unwrap();
    moderate(&stage, AuditAction::Unfreeze, "", 0)
        .await
        .unwrap();
    let audit_log = stage.identity().audit_log(page(0)).await.unwrap();
    let audit_log = audit_log.into_inner().audit_log;
    let names: Vec<&str> = audit_log
        .iter()
        .map(|action| action.action.as_str())
        .collect();
    assert_eq!(names, ["unfreeze", "freeze", "unban", "mute", "ban"]);
    assert!(
        audit_log
            .iter()
            .all(|action| action.at_ms > 1_700_000_000_000)
    );
    let older = stage
        .identity()
        .audit_log(page(audit_log[1].id))
        .await
        .unwrap();
    assert_eq!(older.into_inner().audit_log.len(), 3);
    let none = wire::PageRequest { before: 0, most: 0 };
    refused(
        stage.identity().audit_log(none).await,
        Code::InvalidArgument,
    );
    refused(
        moderate(&stage, AuditAction::Unspecified, &account, 0).await,
        Code::InvalidArgument,
    );
}

pub(crate) async fn sanctions_are_pushed_to_everybody_at_once(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    moderate(&stage, AuditAction::Ban, &account, 0)
        .await
        .unwrap();
    let mut updates = watch(&stage, 0, 0).await;
    let first = told(&mut updates).await;
    assert!(first.whole && !first.more && first.incarnation == 1);
    assert_eq!(first.sanctions[0].kind(), SanctionKind::Ban);
    let revoke = wire::RevokeRequest {
        account_id: account.clone(),
        ids: vec!["token".to_owned(), "login".to_owned()],
        until_ms: u64::MAX >> 1,
    };
    stage.identity().revoke(revoke).await.unwrap();
    let mut subjects = Vec::new();
    let mut last = first.version;
    while subjects.len() < 2 {
        let update = told(&mut updates).await;
        assert!(!update.whole && update.version > last);
        last = update.version;
        subjects.extend(
            update
                .sanctions
                .into_iter()
                .map(|sanction| sanction.subject),
        );
    }
    assert_eq!(subjects, ["token", "login"]);
    // A gateway that was away hears just the sanctions that it missed, also of those that have
    // ended meanwhile.
    moderate(&stage, AuditAction::Unban, &account, 0)
        .await
        .unwrap();
    moderate(&stage, AuditAction::Kick, &account, 0)
        .await
        .unwrap();
    moderate(&stage, AuditAction::Teleport, &account, 0)
        .await
        .unwrap();
    let mut again = watch(&stage, last, 1).await;
    let mut missed = Vec::new();
    while missed.len() < 3 {
        let update = told(&mut again).await;
        assert!(!update.whole);
        missed.extend(update.sanctions);
    }
    let kinds: Vec<SanctionKind> = missed.iter().map(|sanction| sanction.kind()).collect();
    assert_eq!(
        kinds,
        [
            SanctionKind::Ban,
            SanctionKind::Kick,
            SanctionKind::Teleport
        ]
    );
    assert!(missed[0].until_ms > 0 && missed[0].until_ms <= missed[0].at_ms + 1);
    assert_eq!((missed[2].x, missed[2].z), (3, -4));
    assert_eq!(missed[2].subject, "someone");
    let life = again.message().await.unwrap().unwrap();
    assert!(life.sanctions.is_empty() && life.version >= missed[2].version);
}

pub(crate) async fn a_watcher_of_another_life_hears_everything_anew(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    moderate(&stage, AuditAction::Mute, &account, 0)
        .await
        .unwrap();
    let mut updates = watch(&stage, 1_000_000, 7).await;
    let update = told(&mut updates).await;
    assert!(update.whole);
    assert_eq!(update.sanctions[0].kind(), SanctionKind::Mute);
}

pub(crate) async fn roles_are_given_and_taken_and_written_down(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (account, other) = (stage.account().await, stage.account().await);
    let give = async |account: &str, roles: &[&str]| {
        let ask = wire::ModerateRequest {
            action: AuditAction::Roles.into(),
            by: "account:test".to_owned(),
            account_id: account.to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            ..wire::ModerateRequest::default()
        };
        stage.identity().moderate(ask).await.map(|_| ())
    };
    let roles = async |account: &str| {
        let account_id = account.to_owned();
        let ask = wire::CheckRequest { account_id };
        stage
            .identity()
            .check(ask)
            .await
            .unwrap()
            .into_inner()
            .roles
    };
    assert!(roles(&account).await.is_empty());
    give(&other, &["admin"]).await.unwrap();
    give(&account, &["moderator", "admin", "admin"])
        .await
        .unwrap();
    assert_eq!(roles(&account).await, ["admin", "moderator"]);
    assert_eq!(roles(&other).await, ["admin"]);
    // The given list replaces the roles at once.
    give(&account, &["moderator"]).await.unwrap();
    assert_eq!(roles(&account).await, ["moderator"]);
    give(&account, &[]).await.unwrap();
    assert!(roles(&account).await.is_empty());
    assert!(sanctions_of(&stage, &account).await.is_empty());
    refused(give("nobody", &["admin"]).await, Code::NotFound);
    for bad in ["", "a,b", "Admin", "a b"] {
        refused(give(&account, &[bad]).await, Code::InvalidArgument);
    }
    let page = wire::PageRequest {
        before: 0,
        most: 10,
    };
    let audit_log = stage
        .identity()
        .audit_log(page)
        .await
        .unwrap()
        .into_inner()
        .audit_log;
    let told: Vec<_> = audit_log
        .iter()
        .map(|d| (d.action.as_str(), d.detail.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("roles", "(none)"),
            ("roles", "(moderator)"),
            ("roles", "(admin, moderator)"),
            ("roles", "(admin)")
        ]
    );
}

/// Gives an account these roles, or makes it the first operator.
async fn give(
    stage: &Stage,
    action: AuditAction,
    account: &str,
    roles: &[&str],
) -> Result<(), Status> {
    let ask = wire::ModerateRequest {
        action: action.into(),
        by: format!("account:{account}"),
        account_id: account.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        ..wire::ModerateRequest::default()
    };
    stage.identity().moderate(ask).await.map(|_| ())
}

pub(crate) async fn the_code_makes_one_operator_and_the_last_one_stays(kind: Kind) {
    let stage = Stage::new(kind).await;
    let mut accounts = Vec::new();
    for _ in 0..6 {
        accounts.push(stage.account().await);
    }
    // All at once: one of them becomes it.
    let first = AuditAction::FirstOperator;
    let tries = accounts.iter().map(|one| give(&stage, first, one, &[]));
    let tries = futures::future::join_all(tries).await;
    let won: Vec<_> = (0..6).filter(|n| tries[*n].is_ok()).collect();
    assert_eq!(won.len(), 1, "{tries:?}");
    let operator = &accounts[won[0]];
    let other = accounts.iter().find(|one| *one != operator).unwrap();
    for refused_one in tries.into_iter().filter(Result::is_err) {
        refused(refused_one, Code::FailedPrecondition);
    }
    give(&stage, first, operator, &[]).await.unwrap();
    let roles = AuditAction::Roles;
    let taken = give(&stage, roles, operator, &["moderator"]).await;
    refused(taken, Code::FailedPrecondition);
    give(&stage, roles, other, &["admin"]).await.unwrap();
    // Both give it up at once: one of them stays.
    let both = [operator, other].map(|one| give(&stage, roles, one, &[]));
    let both = futures::future::join_all(both).await;
    assert_eq!(both.iter().filter(|one| one.is_ok()).count(), 1, "{both:?}");
}
