//! Accounts, characters and sessions.

use futures::future::join_all;
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
    let made = join_all(creations).await;
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
        look: "21340".to_owned(),
    };
    let made = stage.accounts().create_character(ask).await.unwrap();
    let made = made.into_inner();
    assert_eq!(made.look, "21340");
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

pub(crate) async fn those_who_come_together_are_answered_each_for_itself(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    // 40 keys, each shown twice at once.
    let signing_in = (0..80_u8).map(|n| {
        let ask = wire::SignInRequest {
            device_key_hash: vec![n % 40; 32].into(),
            create: true,
        };
        let mut accounts = stage.accounts();
        async move { accounts.sign_in(ask).await.unwrap().into_inner() }
    });
    let signed_in = join_all(signing_in).await;
    assert_eq!(signed_in.iter().filter(|reply| reply.created).count(), 40);
    for (first, second) in signed_in.iter().zip(&signed_in[40..]) {
        assert_eq!(first.account, second.account);
    }
    let accounts: Vec<String> = signed_in[..40]
        .iter()
        .map(|reply| reply.account.as_ref().unwrap().id.clone())
        .collect();
    // Every fourth wants the same name; one of the accounts does not exist.
    let wants = |n: usize| match n % 4 {
        0 => "Everybodys".to_owned(),
        _ => format!("Together {n}"),
    };
    let mut asking: Vec<(String, String)> = accounts
        .iter()
        .enumerate()
        .map(|(n, account)| (account.clone(), wants(n)))
        .collect();
    asking.push(("nobody".to_owned(), "Nobodys".to_owned()));
    let creating = asking
        .iter()
        .map(|(account, name)| stage.create(account, name));
    let mut created = join_all(creating).await;
    refused(created.pop().unwrap(), Code::NotFound);
    let (taken, made): (Vec<_>, Vec<_>) = created.into_iter().partition(Result::is_err);
    assert_eq!((taken.len(), made.len()), (9, 31));
    for refusal in taken {
        refused(refusal, Code::AlreadyExists);
    }
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    let owners = r#"SELECT count(*) FROM users WHERE made = 1"#;
    assert_eq!(
        stage.ask(owners).await,
        ["31"],
        "a taken name counts for nobody"
    );
    let listing = accounts.iter().map(|account| {
        let ask = wire::GetAccountRequest {
            account_id: account.clone(),
        };
        let mut accounts = stage.accounts();
        async move { accounts.get_account(ask).await.unwrap().into_inner() }
    });
    let mut players: Vec<Player> = join_all(listing)
        .await
        .into_iter()
        .filter_map(|reply| {
            let account = reply.account.unwrap().id;
            let mine = reply.characters.into_iter().next()?;
            let (id, name) = (mine.id, mine.name);
            Some(Player { account, id, name })
        })
        .collect();
    assert_eq!(players.len(), made.len());
    // The first names a character of another account.
    players[0].account = players[1].account.clone();
    let opening = players.iter().map(|player| stage.try_open(player, "one"));
    let mut opened = join_all(opening).await.into_iter();
    refused(opened.next().unwrap(), Code::NotFound);
    for opened in opened {
        let opened = opened.unwrap();
        assert!(!opened.was_online && opened.session_epoch == 1);
    }
    // The first is not in the world; the last is asked for by a run that does not own its region.
    let other = stage.zone(region(5, 5)).await;
    let last = players.len() - 1;
    let loading = players.iter().enumerate().map(|(n, player)| {
        let run = if n == last { other.run } else { zone.run };
        stage.load(run, &player.id)
    });
    let mut loaded = join_all(loading).await;
    refused(loaded.pop().unwrap(), Code::PermissionDenied);
    refused(loaded.remove(0), Code::NotFound);
    for (loaded, player) in loaded.into_iter().zip(&players[1..]) {
        assert_eq!(loaded.unwrap().id, player.id);
    }
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
        look: String::new(),
    };
    let nowhere = accounts.create_character(ask).await;
    refused(nowhere, Code::InvalidArgument);
    let ask = wire::RenewRequest {
        run_id: u64::MAX,
        ..wire::RenewRequest::default()
    };
    refused(stage.runs().renew(ask).await, Code::InvalidArgument);
}
