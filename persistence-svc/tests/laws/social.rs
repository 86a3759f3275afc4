//! Friends and ignored players: the right to change lists, and the part of them that each player
//! sees.

use proto::rpc::social::v1::change_request::Change;
use proto::rpc::social::v1::{ChangeReply, ChangeRequest, ListRequest, Lists, Outcome};
use tonic::{Code, Status};

use crate::stage::{Kind, Player, Stage, refused};

async fn ask(stage: &Stage, who: &Player, change: Change) -> Result<ChangeReply, Status> {
    let ask = ChangeRequest {
        account_id: who.account.clone(),
        character_id: who.id.clone(),
        change: Some(change),
    };
    Ok(stage.social().change(ask).await?.into_inner())
}

/// Does it; it must go so.
async fn does(stage: &Stage, who: &Player, change: Change, then: Outcome) -> ChangeReply {
    let reply = ask(stage, who, change.clone()).await.unwrap();
    assert_eq!(reply.outcome(), then, "{change:?}");
    reply
}

async fn lists(stage: &Stage, who: &Player) -> Lists {
    let ask = ListRequest {
        account_id: who.account.clone(),
        character_id: who.id.clone(),
    };
    stage.social().list(ask).await.unwrap().into_inner()
}

fn to(other: &Player) -> Change {
    // Names are found whatever their case.
    Change::Request(other.name.to_uppercase())
}

fn friends(lists: &Lists) -> Vec<&str> {
    let friends = lists.friends.iter();
    friends.map(|friend| friend.character_id.as_str()).collect()
}

/// Returns the id of the only visible request.
fn request(lists: &Lists) -> String {
    assert_eq!(lists.requests.len(), 1, "{lists:?}");
    lists.requests[0].id.clone()
}

async fn befriended(stage: &Stage, one: &Player, other: &Player) {
    does(stage, one, to(other), Outcome::Done).await;
    does(stage, other, to(one), Outcome::Done).await;
}

pub(crate) async fn friendship_is_asked_for_accepted_and_ended(kind: Kind) {
    let mut stage = Stage::new(kind).await;
    let (ann, bob, cat) = (
        stage.player().await,
        stage.player().await,
        stage.player().await,
    );
    let asked = does(&stage, &ann, to(&bob), Outcome::Done).await;
    assert_eq!(asked.other, bob.id);
    let shown = lists(&stage, &bob).await;
    assert_eq!(
        Some(&shown.requests),
        asked.lists.map(|l| l.requests).as_ref()
    );
    let first = &shown.requests[0];
    assert_eq!(
        (&first.from_id, &first.from_name, &first.to_name),
        (&ann.id, &ann.name, &bob.name)
    );
    does(&stage, &ann, to(&bob), Outcome::AlreadyRequested).await;
    does(&stage, &ann, to(&ann), Outcome::Yourself).await;
    let nobody = Change::Request("Nobody at all".to_owned());
    does(&stage, &ann, nobody, Outcome::NoSuchPlayer).await;
    // Neither who asked nor a third one can say yes to it.
    let id = request(&shown);
    for other in [&ann, &cat] {
        does(&stage, other, Change::Accept(id.clone()), Outcome::NotThere).await;
    }
    let accepted = does(&stage, &bob, Change::Accept(id.clone()), Outcome::Done).await;
    assert_eq!(accepted.other, ann.id);
    does(&stage, &bob, Change::Accept(id), Outcome::NotThere).await;
    does(&stage, &bob, to(&ann), Outcome::AlreadyFriends).await;
    stage.restart().await;
    for (who, friend) in [(&ann, &bob), (&bob, &ann)] {
        let shown = lists(&stage, who).await;
        assert_eq!(friends(&shown), [&friend.id]);
        assert!(shown.requests.is_empty());
        assert_eq!(
            (&shown.friends[0].name, shown.friends[0].combat_level),
            (&friend.name, 3)
        );
        assert!(shown.friends[0].last_login_ms > 1_700_000_000_000);
    }
    let parted = does(&stage, &ann, Change::Remove(bob.id.clone()), Outcome::Done).await;
    assert_eq!(parted.other, bob.id);
    assert!(friends(&lists(&stage, &bob).await).is_empty());
    does(
        &stage,
        &bob,
        Change::Remove(ann.id.clone()),
        Outcome::NotThere,
    )
    .await;
    // Nobody changes the lists of somebody else's character.
    let theft = Player {
        account: cat.account.clone(),
        id: ann.id.clone(),
        name: String::new(),
    };
    refused(ask(&stage, &theft, to(&bob)).await, Code::NotFound);
    let nothing = ChangeRequest {
        account_id: ann.account.clone(),
        character_id: ann.id.clone(),
        change: None,
    };
    refused(stage.social().change(nothing).await, Code::InvalidArgument);
}

pub(crate) async fn two_who_ask_each_other_are_friends(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (ann, bob) = (stage.player().await, stage.player().await);
    befriended(&stage, &ann, &bob).await;
    assert_eq!(friends(&lists(&stage, &ann).await), [&bob.id]);
    assert!(lists(&stage, &ann).await.requests.is_empty());
    // Two characters of one account are one player.
    let spare = Player {
        id: stage.create(&ann.account, "Spare").await.unwrap().id,
        name: "Spare".to_owned(),
        account: ann.account.clone(),
    };
    does(&stage, &ann, to(&spare), Outcome::Yourself).await;
    assert!(
        friends(&lists(&stage, &spare).await).is_empty(),
        "each has its own friends"
    );
}

pub(crate) async fn requests_are_declined_taken_back_and_void_after_a_week(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (ann, bob) = (stage.player().await, stage.player().await);
    for who in [&bob, &ann] {
        does(&stage, &ann, to(&bob), Outcome::Done).await;
        let id = request(&lists(&stage, &bob).await);
        does(&stage, who, Change::Decline(id), Outcome::Done).await;
        assert!(lists(&stage, &ann).await.requests.is_empty());
    }
    does(&stage, &ann, to(&bob), Outcome::Done).await;
    let id = request(&lists(&stage, &bob).await);
    let week = 7 * 24 * 60 * 60 * 1000;
    let age = |by: i64| format!(r#"UPDATE friend_requests SET "createdAt" = "createdAt" - {by}"#);
    stage.sql(&age(week - 60_000), &age(week - 60_000));
    assert_eq!(request(&lists(&stage, &bob).await), id);
    stage.sql(&age(60_000), &age(60_000));
    assert!(lists(&stage, &bob).await.requests.is_empty());
    does(&stage, &bob, Change::Accept(id), Outcome::NotThere).await;
    does(&stage, &ann, to(&bob), Outcome::Done).await;
    request(&lists(&stage, &bob).await);
}

pub(crate) async fn who_is_ignored_asks_in_vain_and_cannot_tell(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (ann, bob) = (stage.player().await, stage.player().await);
    let ignored = does(
        &stage,
        &bob,
        Change::Ignore(ann.name.clone()),
        Outcome::Done,
    )
    .await;
    assert_eq!(ignored.other, "", "nobody is told of it");
    let entry = &ignored.lists.unwrap().ignored[0];
    assert_eq!(
        (&entry.character_id, &entry.account_id),
        (&ann.id, &ann.account)
    );
    does(
        &stage,
        &bob,
        Change::Ignore(ann.name.clone()),
        Outcome::AlreadyIgnored,
    )
    .await;
    does(
        &stage,
        &bob,
        Change::Ignore(bob.name.clone()),
        Outcome::Yourself,
    )
    .await;
    // It goes as ever for who is ignored, with any character.
    let spare = Player {
        id: stage.create(&ann.account, "Sly").await.unwrap().id,
        name: "Sly".to_owned(),
        account: ann.account.clone(),
    };
    for who in [&ann, &spare] {
        does(&stage, who, to(&bob), Outcome::Done).await;
        does(&stage, who, to(&bob), Outcome::AlreadyRequested).await;
        request(&lists(&stage, who).await);
    }
    assert!(lists(&stage, &bob).await.requests.is_empty());
    // The list is the account's, not the character's.
    let other = Player {
        id: stage.create(&bob.account, "Bobby").await.unwrap().id,
        name: "Bobby".to_owned(),
        account: bob.account.clone(),
    };
    assert_eq!(lists(&stage, &other).await.ignored.len(), 1);
    does(
        &stage,
        &other,
        Change::Unignore(ann.id.clone()),
        Outcome::Done,
    )
    .await;
    does(
        &stage,
        &other,
        Change::Unignore(ann.id.clone()),
        Outcome::NotThere,
    )
    .await;
    assert_eq!(lists(&stage, &bob).await.requests.len(), 2);
}

pub(crate) async fn lists_have_limits_and_forget_who_is_deleted(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (ann, bob) = (stage.player().await, stage.player().await);
    let account = stage.account().await;
    let columns = r#"(id, "accountId", name, "nameKey", "createdAt", "regionX", "regionZ")"#;
    let values = format!("'f' || n, '{account}', 'F' || n, 'f' || n, 1, 0, 0");
    let friends_of = format!(
        r#"INSERT INTO friendships ("playerId", "friendId", "createdAt")
           SELECT '{0}', id, 1 FROM characters WHERE id LIKE 'f%' AND name LIKE 'F%';
           INSERT INTO ignore_lists ("accountId", "ignoredPlayerId", "createdAt")
           SELECT '{1}', id, 1 FROM characters WHERE id LIKE 'f%' AND name LIKE 'F%';"#,
        ann.id, ann.account
    );
    stage.sql(
        &format!(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 99)
             INSERT INTO characters {columns} SELECT {values} FROM n; {friends_of}"
        ),
        &format!(
            "INSERT INTO characters {columns} SELECT {values} FROM generate_series(1, 99) n;
             {friends_of}"
        ),
    );
    assert_eq!(lists(&stage, &ann).await.friends.len(), 99);
    does(&stage, &ann, to(&bob), Outcome::FriendLimit).await;
    does(&stage, &bob, to(&ann), Outcome::FriendLimit).await;
    does(
        &stage,
        &ann,
        Change::Ignore(bob.name.clone()),
        Outcome::IgnoreLimit,
    )
    .await;
    let gone = "DELETE FROM characters WHERE id = 'f7'";
    stage.sql(gone, gone);
    let shown = lists(&stage, &ann).await;
    assert_eq!((shown.friends.len(), shown.ignored.len()), (98, 98));
    does(&stage, &ann, to(&bob), Outcome::Done).await;
}

pub(crate) async fn two_changes_at_once_make_no_one_sided_friendship(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (ann, bob) = (stage.player().await, stage.player().await);
    for round in 0..8 {
        let (one, other) = tokio::join!(ask(&stage, &ann, to(&bob)), ask(&stage, &bob, to(&ann)));
        for reply in [one.unwrap(), other.unwrap()] {
            assert_eq!(reply.outcome(), Outcome::Done, "round {round}");
        }
        let (anns, bobs) = (lists(&stage, &ann).await, lists(&stage, &bob).await);
        assert_eq!(friends(&anns), [&bob.id], "round {round}");
        assert_eq!(friends(&bobs), [&ann.id], "round {round}");
        assert!(anns.requests.is_empty() && bobs.requests.is_empty());
        let part = |of: &Player| Change::Remove(of.id.clone());
        let (one, other) =
            tokio::join!(ask(&stage, &ann, part(&bob)), ask(&stage, &bob, part(&ann)));
        let outcomes = [one.unwrap().outcome(), other.unwrap().outcome()];
        assert!(outcomes.contains(&Outcome::Done), "{outcomes:?}");
        assert!(lists(&stage, &ann).await.friends.is_empty());
        assert!(lists(&stage, &bob).await.friends.is_empty());
    }
}
