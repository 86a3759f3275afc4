//! Laws of passwords: one of an account, one account of a name, and changes that end logins.

use bytes::Bytes;
use proto::rpc::identity::v1 as wire;
use proto::rpc::persistence::v1::SignInRequest;
use tonic::{Code, Status};

use crate::stage::{Kind, Stage, refused};

/// Time by which all tokens have ended: the year 2100.
const UNTIL_MS: u64 = 4_102_444_800_000;

fn key(key: u8) -> Bytes {
    vec![key; 32].into()
}

async fn guest(stage: &Stage, number: u8, create: bool) -> Option<String> {
    let ask = SignInRequest {
        device_key_hash: key(number),
        create,
    };
    let reply = stage.accounts().sign_in(ask).await.unwrap().into_inner();
    reply.account.map(|account| account.id)
}

fn making(account: &str, name: &str, hash: &str) -> wire::MakePasswordRequest {
    wire::MakePasswordRequest {
        account_id: account.to_owned(),
        name: name.to_owned(),
        hash: hash.to_owned(),
        recovery_code_hashes: vec![1; 64].into(),
        login_id: "first".to_owned(),
    }
}

async fn make(stage: &Stage, ask: wire::MakePasswordRequest) -> Result<(), Status> {
    stage.identity().make_password(ask).await.map(|_| ())
}

async fn note(stage: &Stage, account: &str, login: &str) -> Result<(), Status> {
    let ask = wire::NoteLoginRequest {
        account_id: account.to_owned(),
        login_id: login.to_owned(),
        until_ms: UNTIL_MS,
    };
    stage.identity().note_login(ask).await.map(|_| ())
}

fn changing(account: &str, before: &str, hash: &str) -> wire::ChangePasswordRequest {
    wire::ChangePasswordRequest {
        account_id: account.to_owned(),
        before: before.to_owned(),
        hash: hash.to_owned(),
        recovery_code_hashes: vec![2; 32].into(),
        login_id: "here".to_owned(),
        until_ms: UNTIL_MS,
    }
}

async fn change(stage: &Stage, ask: wire::ChangePasswordRequest) -> Result<Vec<String>, Status> {
    let reply = stage.identity().change_password(ask).await?;
    Ok(reply.into_inner().login_ids)
}

async fn of_name(stage: &Stage, name: &str) -> Option<wire::Password> {
    let ask = wire::GetPasswordRequest {
        name: name.to_owned(),
        ..wire::GetPasswordRequest::default()
    };
    let reply = stage.identity().get_password(ask).await.unwrap();
    reply.into_inner().password
}

async fn revoked(stage: &Stage, account: &str) -> Vec<String> {
    let ask = wire::CheckRequest {
        account_id: account.to_owned(),
    };
    let reply = stage.identity().check(ask).await.unwrap().into_inner();
    let mut logins: Vec<String> = reply.sanctions.into_iter().map(|s| s.subject).collect();
    logins.sort_unstable();
    logins
}

pub(crate) async fn a_guest_gets_a_password_and_stays_the_same_account(kind: Kind) {
    let stage = Stage::new(kind).await;
    let ann = guest(&stage, 1, true).await.unwrap();
    let bob = guest(&stage, 2, true).await.unwrap();
    assert_eq!(of_name(&stage, "ann").await, None);
    make(&stage, making(&ann, "ann", "hash")).await.unwrap();
    // The same call again, another one, and somebody else who wants the name.
    make(&stage, making(&ann, "ann", "hash")).await.unwrap();
    let other = make(&stage, making(&ann, "anna", "other")).await;
    refused(other, Code::FailedPrecondition);
    refused(
        make(&stage, making(&bob, "ann", "other")).await,
        Code::AlreadyExists,
    );
    refused(
        make(&stage, making("nobody", "zoe", "hash")).await,
        Code::NotFound,
    );

    let known = of_name(&stage, "ann").await.unwrap();
    assert_eq!((&*known.account_id, &*known.hash), (&*ann, "hash"));
    assert_eq!(known.recovery_code_hashes, vec![1; 64]);
    let by_account = wire::GetPasswordRequest {
        account_id: ann.clone(),
        ..wire::GetPasswordRequest::default()
    };
    let by_account = stage.identity().get_password(by_account).await.unwrap();
    assert_eq!(by_account.into_inner().password, Some(known));
    // The device goes on, and nobody makes another account of its key.
    assert_eq!(guest(&stage, 1, true).await, Some(ann));
}

pub(crate) async fn a_changed_password_ends_all_other_logins(kind: Kind) {
    let stage = Stage::new(kind).await;
    let ann = guest(&stage, 1, true).await.unwrap();
    refused(
        change(&stage, changing(&ann, "hash", "new")).await,
        Code::NotFound,
    );
    refused(note(&stage, &ann, "there").await, Code::NotFound);
    make(&stage, making(&ann, "ann", "hash")).await.unwrap();
    note(&stage, &ann, "there").await.unwrap();
    note(&stage, &ann, "here").await.unwrap();
    let ended = change(&stage, changing(&ann, "hash", "new")).await.unwrap();
    assert_eq!(ended, ["first", "there"]);
    assert_eq!(revoked(&stage, &ann).await, ["first", "there"]);
    // The same call again changes nothing; one that comes too late is refused.
    let again = change(&stage, changing(&ann, "hash", "new")).await.unwrap();
    assert_eq!(again, [""; 0]);
    let late = change(&stage, changing(&ann, "hash", "third")).await;
    refused(late, Code::Aborted);
    let known = of_name(&stage, "ann").await.unwrap();
    assert_eq!(
        (&*known.hash, known.recovery_code_hashes.len()),
        ("new", 32)
    );
    // A lost device signs in no more.
    assert_eq!(guest(&stage, 1, false).await, None);
}

/// Whoever logged out cannot renew that login: the store knows only of those that nobody ended.
pub(crate) async fn a_login_that_ended_is_no_login_of_the_password(kind: Kind) {
    let stage = Stage::new(kind).await;
    let ann = guest(&stage, 1, true).await.unwrap();
    make(&stage, making(&ann, "ann", "hash")).await.unwrap();
    note(&stage, &ann, "there").await.unwrap();
    note(&stage, &ann, "here").await.unwrap();
    let known = of_name(&stage, "ann").await.unwrap();
    assert_eq!(known.login_ids, ["first", "there", "here"]);
    let ask = wire::RevokeRequest {
        account_id: ann.clone(),
        ids: vec!["there".to_owned(), "a provider's token".to_owned()],
        until_ms: UNTIL_MS,
    };
    stage.identity().revoke(ask).await.unwrap();
    let known = of_name(&stage, "ann").await.unwrap();
    assert_eq!(known.login_ids, ["first", "here"]);
    // An account without a password ends its logins as well.
    let bob = guest(&stage, 2, true).await.unwrap();
    let ask = wire::RevokeRequest {
        account_id: bob.clone(),
        ids: vec!["his".to_owned()],
        until_ms: UNTIL_MS,
    };
    stage.identity().revoke(ask).await.unwrap();
    assert_eq!(revoked(&stage, &bob).await, ["his"]);
}

pub(crate) async fn of_two_changes_at_once_one_wins(kind: Kind) {
    let stage = Stage::new(kind).await;
    let ann = guest(&stage, 1, true).await.unwrap();
    make(&stage, making(&ann, "ann", "hash")).await.unwrap();
    let (one, two) = tokio::join!(
        change(&stage, changing(&ann, "hash", "one")),
        change(&stage, changing(&ann, "hash", "two")),
    );
    let won = [("one", &one), ("two", &two)];
    let won: Vec<&str> = won
        .iter()
        .filter(|won| won.1.is_ok())
        .map(|won| won.0)
        .collect();
    assert_eq!(won, [of_name(&stage, "ann").await.unwrap().hash]);
}

pub(crate) async fn one_login_too_many_ends_the_oldest(kind: Kind) {
    let stage = Stage::new(kind).await;
    let ann = guest(&stage, 1, true).await.unwrap();
    make(&stage, making(&ann, "ann", "hash")).await.unwrap();
    for login in 1..16 {
        note(&stage, &ann, &format!("login {login}")).await.unwrap();
        note(&stage, &ann, &format!("login {login}")).await.unwrap();
    }
    assert_eq!(revoked(&stage, &ann).await, [""; 0]);
    note(&stage, &ann, "one more").await.unwrap();
    assert_eq!(revoked(&stage, &ann).await, ["first"]);
    refused(note(&stage, &ann, "a,b").await, Code::InvalidArgument);
}
