//! Accounts, characters and sessions.

use proto::rpc::common::v1::Tile;
use proto::rpc::persistence::v1 as wire;
use tonic::Code;
use world::Skill;

use crate::stage::{Kind, Player, Stage, refused, region, until};

pub(crate) async fn a_device_key_is_one_account(kind: Kind) {
    let stage = Stage::new(kind).await;
    let ask = |create| wire::SignInRequest {
        device_key_hash: vec![7; 32].into(),
        create,
    };
    let mut accounts = stage.accounts();
    let none = accounts.sign_in(ask(false)).await.unwrap().into_inner();
    assert!(none.account.is_none() && !none.created);
    let made = accounts.sign_in(ask(true)).await.unwrap().into_inner();
    assert!(made.created);
    let again = accounts.sign_in(ask(true)).await.unwrap().into_inner();
    assert!(!again.created);
    assert_eq!(made.account, again.account);
    let account = again.account.unwrap();
    assert!(account.anonymous && account.created_at_ms > 1_700_000_000_000);
    let ask = wire::GetAccountRequest {
        account_id: account.id.clone(),
    };
    let found = accounts.get_account(ask).await.unwrap().into_inner();
    assert_eq!(found.account, Some(account));
}

pub(crate) async fn names_are_unique_without_regard_to_case(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (one, two) = (stage.account().await, stage.account().await);
    let made = stage.create(&one, " Ünal the 1st ").await.unwrap();
    assert_eq!(made.name, "Ünal the 1st");
    refused(
        stage.create(&two, "üNAL THE 1ST").await,
        Code::AlreadyExists,
    );
    refused(
        stage.create(&one, "Ünal the 1st").await,
        Code::AlreadyExists,
    );
    let ask = wire::FindCharacterRequest {
        name: "ÜNAL the 1ST".to_owned(),
    };
    let found = stage.accounts().find_character(ask).await.unwrap();
    assert_eq!(found.into_inner(), made);
    let ask = wire::FindCharacterRequest {
        name: "nobody".to_owned(),
    };
    refused(stage.accounts().find_character(ask).await, Code::NotFound);
}

pub(crate) async fn names_that_look_alike_are_one_name(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (one, two) = (stage.account().await, stage.account().await);
    let cop = stage.create(&one, "Cop").await.unwrap();
    let bob = stage.create(&one, "Bob").await.unwrap();
    // The first of these is Cyrillic.
    for name in ["Сор", "B0b", "Ｂｏｂ"] {
        refused(stage.create(&two, name).await, Code::AlreadyExists);
    }
    for (name, found) in [("Сор", &cop), ("b0b", &bob), (" Ｂｏｂ ", &bob)] {
        let name = name.to_owned();
        let ask = wire::FindCharacterRequest { name };
        let reply = stage.accounts().find_character(ask).await.unwrap();
        assert_eq!(&reply.into_inner(), found);
    }
}

pub(crate) async fn names_from_before_are_compared_too(kind: Kind) {
    let mut stage = Stage::new(kind).await;
    let account = stage.account().await;
    for (id, name) in [("1", "Bill"), ("2", "BiII"), ("3", "Sue  Lee")] {
        let row = format!(
            r#"INSERT INTO characters
                 (id, "accountId", name, "nameKey", "createdAt", "regionX", "regionZ")
               VALUES ('{id}', '{account}', '{name}', lower('{name}'), 1, 0, 0)"#
        );
        stage.sql(&row, &row);
    }
    stage.restart().await;
    let waiting = r#"SELECT count(*) FROM characters WHERE "nameSkeleton" IS NULL"#;
    let all = async || (stage.ask(waiting).await == ["0"]).then_some(());
    until("all names have skeletons", all).await;
    let kept = stage
        .ask(r#"SELECT "nameSkeleton" FROM characters ORDER BY id"#)
        .await;
    assert_eq!(kept, ["bill", "=2", "sue lee"]);
    refused(stage.create(&account, "Bi1l").await, Code::AlreadyExists);
    refused(stage.create(&account, "Sue Lee").await, Code::AlreadyExists);
}

pub(crate) async fn an_account_has_at_most_five_characters(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    let creations = (0..8).map(|n| {
        let (stage, account) = (&stage, &account);
        async move { stage.create(account, &format!("Many {n}")).await }
    });
    let made = futures::future::join_all(creations).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 5);
    for refusal in made.into_iter().filter(Result::is_err) {
        refused(refusal, Code::ResourceExhausted);
    }
    let ask = wire::ListCharactersRequest {
        account_id: account,
    };
    let listed = stage.accounts().list_characters(ask).await.unwrap();
    assert_eq!(listed.into_inner().characters.len(), 5);
    refused(stage.create("nobody", "Someone").await, Code::NotFound);
}

pub(crate) async fn an_account_makes_at_most_twenty_characters_a_day(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    let names: Vec<String> = ('a'..='t').map(|c| format!("Made {c}")).collect();
    for name in &names {
        let made = stage.create(&account, name).await.unwrap();
        let ask = wire::DeleteCharacterRequest {
            account_id: account.clone(),
            character_id: made.id,
        };
        stage.accounts().delete_character(ask).await.unwrap();
    }
    let refusal = stage.create(&account, "One More").await.unwrap_err();
    assert_eq!(refusal.code(), Code::ResourceExhausted);
    assert!(refusal.message().contains("20 characters today"));
    let other = stage.account().await;
    stage.create(&other, "Somebody Else").await.unwrap();
    let tomorrow = r#"UPDATE users SET "madeDay" = "madeDay" - 1"#;
    stage.sql(tomorrow, tomorrow);
    stage.create(&account, "One More").await.unwrap();
}

pub(crate) async fn a_secret_is_made_once(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (one, two) = tokio::join!(stage.secret("tokens"), stage.secret("tokens"));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one, two);
    assert_eq!(one.value.len(), 32);
    assert_ne!(one, stage.secret("others").await.unwrap());
}

pub(crate) async fn a_character_in_the_world_cannot_be_deleted(kind: Kind) {
    let stage = Stage::new(kind).await;
    let player = stage.player().await;
    let delete = |account: &str, id: &str| {
        let ask = wire::DeleteCharacterRequest {
            account_id: account.to_owned(),
            character_id: id.to_owned(),
        };
        let mut accounts = stage.accounts();
        async move { accounts.delete_character(ask).await }
    };
    let here = delete(&player.account, &player.id).await;
    refused(here, Code::FailedPrecondition);
    let other = stage.account().await;
    refused(delete(&other, &player.id).await, Code::NotFound);
    let spare = stage.create(&player.account, "Spare").await.unwrap();
    delete(&player.account, &spare.id).await.unwrap();
    refused(delete(&player.account, &spare.id).await, Code::NotFound);
    stage.create(&player.account, "Spare").await.unwrap();
}

pub(crate) async fn a_new_character_has_the_defaults(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    let ask = wire::CreateCharacterRequest {
        account_id: account.clone(),
        name: "Newcomer".to_owned(),
        spawn: Some(Tile { x: -1, z: 130 }),
    };
    let made = stage.accounts().create_character(ask).await.unwrap();
    let made = made.into_inner();
    assert_eq!(made.region, Some(region(-1, 2)));
    assert!(!made.online && made.last_login_ms == 0 && made.combat_level == 3);
    let zone = stage.zone(region(-1, 2)).await;
    let player = Player {
        account,
        id: made.id,
        name: made.name,
    };
    let opened = stage.open(&player, "one").await;
    assert_eq!(opened.region, Some(region(-1, 2)));
    assert!(!opened.was_online && opened.session_epoch == 1);
    let record = stage.load(zone.run, &player.id).await.unwrap();
    assert_eq!((record.x, record.y, record.z), (0, 10.0, 0));
    assert_eq!((record.health, record.coins), (100, 0));
    assert!(!record.placed && record.state.is_empty() && record.session_id == "one");
    assert_eq!(record.skills.len(), Skill::ALL.len());
    for skill in record.skills {
        let expected = match skill.name.as_str() {
            "constitution" => (10, 11_540),
            _ => (1, 0),
        };
        assert_eq!((skill.level, skill.xp_tenths), expected, "{}", skill.name);
    }
}

pub(crate) async fn opening_again_takes_over(kind: Kind) {
    let stage = Stage::new(kind).await;
    let player = stage.player().await;
    let again = stage.open(&player, "second").await;
    assert!(again.was_online);
    assert_eq!((again.session_epoch, again.ownership_sequence), (2, 1));
    assert!(again.character.unwrap().last_login_ms > 1_700_000_000_000);
    let rows = stage
        .ask(
            r#"SELECT "sessionId" || ' ' || coalesce(reason, 'open') FROM "playerSessions"
               ORDER BY "sessionEpoch""#,
        )
        .await;
    assert_eq!(rows, ["second open"], "the row of the stay goes on");
    // At once: each gets an epoch of its own, and one row stays open.
    let (one, two) = tokio::join!(stage.open(&player, "a"), stage.open(&player, "b"));
    let mut epochs = [one.session_epoch, two.session_epoch];
    epochs.sort_unstable();
    assert_eq!(epochs, [3, 4]);
    let open = stage
        .ask(r#"SELECT count(*) FROM "playerSessions" WHERE logout IS NULL"#)
        .await;
    assert_eq!(open, ["1"]);
}

pub(crate) async fn what_is_malformed_is_refused(kind: Kind) {
    let stage = Stage::new(kind).await;
    let account = stage.account().await;
    let mut accounts = stage.accounts();
    let ask = wire::SignInRequest {
        device_key_hash: vec![7; 31].into(),
        create: true,
    };
    refused(accounts.sign_in(ask).await, Code::InvalidArgument);
    for name in [
        "",
        "   ",
        "twenty-one characters",
        "a\0b",
        "semi;colon",
        "Admin",
    ] {
        refused(stage.create(&account, name).await, Code::InvalidArgument);
    }
    let ask = wire::CreateCharacterRequest {
        account_id: account,
        name: "Nowhere".to_owned(),
        spawn: None,
    };
    let nowhere = accounts.create_character(ask).await;
    refused(nowhere, Code::InvalidArgument);
    let ask = wire::RenewRequest {
        run_id: u64::MAX,
        ..wire::RenewRequest::default()
    };
    refused(stage.runs().renew(ask).await, Code::InvalidArgument);
}
