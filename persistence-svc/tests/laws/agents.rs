//! Laws of agents: the right to make and order them, and their way into the world.

use proto::rpc::agents::v1 as wire;
use proto::rpc::agents::v1::order_request::Order;
use tonic::{Code, Status};

use crate::stage::{Kind, Player, Stage, at, logout, refused, region, until};

/// Makes an agent that is a character of a new account, and returns both.
async fn made(stage: &Stage, name: &str) -> (Player, wire::Agent) {
    let account = stage.account().await;
    let id = stage.create(&account, name).await.unwrap().id;
    let player = Player {
        account,
        id,
        name: name.to_owned(),
    };
    let agent = register(stage, &player, "").await.unwrap();
    (player, agent)
}

async fn register(stage: &Stage, of: &Player, id: &str) -> Result<wire::Agent, Status> {
    let ask = wire::RegisterRequest {
        agent_id: id.to_owned(),
        account_id: of.account.clone(),
        character_id: of.id.clone(),
        agent_name: "Helper".to_owned(),
    };
    Ok(stage.agents().register(ask).await?.into_inner())
}

async fn order(stage: &Stage, agent: &wire::Agent, order: Order) -> wire::Agent {
    let ask = wire::OrderRequest {
        account_id: agent.account_id.clone(),
        agent_id: agent.agent_id.clone(),
        order: Some(order),
    };
    stage.agents().order(ask).await.unwrap().into_inner()
}

async fn of_run(
    stage: &Stage,
    run_id: u64,
    reports: Vec<wire::Report>,
) -> Result<wire::OfRunReply, Status> {
    let ask = wire::OfRunRequest { run_id, reports };
    Ok(stage.agents().of_run(ask).await?.into_inner())
}

/// Returns two parts of the orders: whether they are paused, and the id of the goal.
fn state(agent: &wire::Agent) -> (bool, &str) {
    let orders = agent.orders.as_ref().unwrap();
    (orders.paused, orders.goal_id.as_str())
}

fn version(agent: &wire::Agent) -> u64 {
    agent.orders.as_ref().unwrap().version
}

pub(crate) async fn only_owners_make_order_and_remove_agents(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (player, agent) = made(&stage, "Mind").await;
    assert_eq!(agent.character_name, "Mind");
    assert!(agent.orders.as_ref().unwrap().active && state(&agent) == (false, ""));
    let named = register(&stage, &player, &agent.agent_id).await.unwrap();
    assert_eq!(version(&named), version(&agent), "a new name is no order");
    refused(
        register(&stage, &player, "second").await,
        Code::AlreadyExists,
    );
    let other = stage.player().await;
    let theft = Player {
        id: player.id.clone(),
        ..stage.player().await
    };
    refused(register(&stage, &theft, "").await, Code::NotFound);
    refused(
        register(&stage, &other, &agent.agent_id).await,
        Code::AlreadyExists,
    );
    for id in ["mapping", "a/b", "ä", &"x".repeat(65)] {
        refused(register(&stage, &other, id).await, Code::InvalidArgument);
    }
    let ask = wire::OrderRequest {
        account_id: other.account.clone(),
        agent_id: agent.agent_id.clone(),
        order: Some(Order::Stop(true)),
    };
    refused(stage.agents().order(ask).await, Code::NotFound);
    let remove = |account: &str| wire::RemoveRequest {
        account_id: account.to_owned(),
        agent_id: agent.agent_id.clone(),
    };
    refused(
        stage.agents().remove(remove(&other.account)).await,
        Code::NotFound,
    );
    let gone = stage.agents().remove(remove(&player.account)).await;
    let gone = gone.unwrap().into_inner().orders.unwrap();
    assert!(!gone.agent && gone.version > version(&agent));
    let ask = wire::GetRequest {
        agent_id: agent.agent_id.clone(),
    };
    refused(stage.agents().get(ask).await, Code::NotFound);
    let again = register(&stage, &player, &agent.agent_id).await.unwrap();
    assert!(version(&again) > gone.version, "no number is used twice");
    let ask = wire::ListRequest {
        account_id: player.account.clone(),
    };
    let all = stage.agents().list(ask).await.unwrap().into_inner();
    assert_eq!(all.agents.len(), 1);
}

pub(crate) async fn goals_are_set_stopped_and_resumed(kind: Kind) {
    let mut stage = Stage::new(kind).await;
    let (_, agent) = made(&stage, "Walker").await;
    let mut last = version(&agent);
    let steps = [
        (
            Order::SetGoal("explore".to_owned()),
            (false, "explore"),
            true,
        ),
        (Order::Resume(true), (false, "explore"), false),
        (Order::Stop(true), (true, ""), true),
        (Order::Stop(true), (true, ""), true),
        (Order::Active(false), (true, ""), true),
        (Order::Active(true), (true, ""), true),
        (Order::Resume(true), (false, ""), true),
        (Order::Stop(true), (true, ""), true),
        (Order::SetGoal("rest".to_owned()), (false, "rest"), true),
        (Order::Stop(true), (true, ""), true),
    ];
    for (asked, then, changes) in steps {
        let ordered = order(&stage, &agent, asked.clone()).await;
        assert_eq!(state(&ordered), then, "{asked:?}");
        assert_eq!(version(&ordered) > last, changes, "{asked:?}");
        last = version(&ordered);
    }
    stage.restart().await;
    let ask = wire::GetRequest {
        agent_id: agent.agent_id.clone(),
    };
    let kept = stage.agents().get(ask).await.unwrap().into_inner();
    assert_eq!((state(&kept), version(&kept)), ((true, ""), last));
}

pub(crate) async fn an_active_agent_lives_in_the_world(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let (player, agent) = made(&stage, "Sleeper").await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    assert_eq!((record.session_epoch, &*record.session_id), (1, "agent"));
    // Somebody logs in: the login takes over, and the store wakes no agent that is awake.
    let opened = stage.open(&player, "mine").await;
    assert!(opened.was_online && opened.session_epoch == 2);
    order(&stage, &agent, Order::SetGoal("explore".to_owned())).await;
    assert_eq!(stage.owner_of(&player.id).await.session_epoch, 2);
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let row = logout(at(&record, 5, 5), "left");
    stage.commit(zone.run, 1, vec![row]).await;
    let back = until("it comes back by itself", async || {
        let owner = stage.owner_of(&player.id).await;
        owner.online.then_some(owner)
    })
    .await;
    assert_eq!(back.session_epoch, 3);
    // One that is not to live there stays away.
    order(&stage, &agent, Order::Active(false)).await;
    let record = stage.load(zone.run, &player.id).await.unwrap();
    let row = logout(at(&record, 6, 6), "disconnected");
    stage.commit(zone.run, 2, vec![row]).await;
    order(&stage, &agent, Order::SetGoal("rest".to_owned())).await;
    assert!(!stage.owner_of(&player.id).await.online);
    order(&stage, &agent, Order::Active(true)).await;
    assert!(stage.owner_of(&player.id).await.online, "at once");
}

pub(crate) async fn a_run_hears_of_its_agents_and_says_how_they_do(kind: Kind) {
    let stage = Stage::new(kind).await;
    let zone = stage.zone(region(0, 0)).await;
    let elsewhere = stage.zone(region(9, 9)).await;
    let (player, agent) = made(&stage, "Doer").await;
    let set = order(&stage, &agent, Order::SetGoal("explore".to_owned())).await;
    let heard = of_run(&stage, zone.run, Vec::new()).await.unwrap();
    assert_eq!(heard.orders, [set.orders.clone().unwrap()]);
    assert!(heard.version >= version(&set));
    let none = of_run(&stage, elsewhere.run, Vec::new()).await.unwrap();
    assert_eq!((none.orders, none.version), (Vec::new(), heard.version));
    let report = |version, progress, over| wire::Report {
        character_id: player.id.clone(),
        version,
        progress,
        over,
    };
    let old = vec![report(version(&set) - 1, 9, true)];
    let same = of_run(&stage, zone.run, old).await.unwrap();
    assert_eq!(same.orders, heard.orders, "of another version: nothing");
    let some = vec![report(version(&set), 3, false)];
    let done = of_run(&stage, zone.run, some).await.unwrap();
    assert_eq!(done.orders[0].progress, 3);
    let over = vec![report(version(&set), 5, true)];
    let done = of_run(&stage, zone.run, over).await.unwrap();
    assert_eq!(
        (&*done.orders[0].goal_id, done.orders[0].version),
        ("", version(&set))
    );
    // A run gets no orders for the agent of a banned owner.
    let ban = format!(
        r#"INSERT INTO sanctions (id, kind, "accountId", at, version)
           VALUES ('ban:{0}', 'ban', '{0}', 0, 99)"#,
        player.account
    );
    stage.sql(&ban, &ban);
    let banned = of_run(&stage, zone.run, Vec::new()).await.unwrap();
    assert_eq!((banned.orders, banned.version), (Vec::new(), heard.version));
    stage.release(zone.run).await;
    refused(
        of_run(&stage, zone.run, Vec::new()).await,
        Code::PermissionDenied,
    );
}

pub(crate) async fn tokens_of_agents_are_counted_and_end(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (player, agent) = made(&stage, "Speaker").await;
    let add = |token: String, account: &str, expires_at_ms| wire::AddCredentialRequest {
        account_id: account.to_owned(),
        agent_id: agent.agent_id.clone(),
        token_id: token,
        expires_at_ms,
    };
    let good = 9_000_000_000_000;
    let other = stage.account().await;
    let theft = add("t".to_owned(), &other, good);
    let theft = stage.agents().add_credential(theft).await;
    refused(theft, Code::NotFound);
    let old = add("old".to_owned(), &player.account, 1);
    stage.agents().add_credential(old).await.unwrap();
    for n in 0..20 {
        let ask = add(format!("t{n}"), &player.account, good);
        let made = stage.agents().add_credential(ask).await.unwrap();
        assert_eq!(made.into_inner().character_id, player.id);
    }
    let ask = add("more".to_owned(), &player.account, good);
    refused(
        stage.agents().add_credential(ask.clone()).await,
        Code::ResourceExhausted,
    );
    let revoke = |account: &str| wire::RevokeCredentialRequest {
        account_id: account.to_owned(),
        token_id: "t7".to_owned(),
    };
    let theft = stage.agents().revoke_credential(revoke(&other)).await;
    refused(theft, Code::NotFound);
    for _ in 0..2 {
        let ask = revoke(&player.account);
        let ended = stage.agents().revoke_credential(ask).await.unwrap();
        assert!(ended.into_inner().credential.unwrap().revoked);
    }
    stage.agents().add_credential(ask).await.unwrap();
    let ask = wire::ListCredentialsRequest {
        account_id: player.account.clone(),
        agent_id: String::new(),
    };
    let all = stage.agents().list_credentials(ask).await.unwrap();
    let all = all.into_inner().credentials;
    assert_eq!(all.len(), 20);
    assert!(
        all.iter()
            .all(|one| one.token_id != "t7" && one.token_id != "old")
    );
    let ask = wire::RemoveRequest {
        account_id: player.account.clone(),
        agent_id: agent.agent_id.clone(),
    };
    let removed = stage.agents().remove(ask).await.unwrap().into_inner();
    assert_eq!(removed.ended.len(), 20, "all of them end with it");
}

pub(crate) async fn an_agent_that_nobody_needs_rests_until_it_is_ordered(kind: Kind) {
    let stage = Stage::new(kind).await;
    let (player, agent) = made(&stage, "Sleeper").await;
    let forgotten = "UPDATE agent_mappings SET heeded_at = 1, updated_at = 1";
    let goal = || Order::SetGoal("rest".to_owned());
    for order_again in [Order::Spoken(true), goal(), Order::Active(true)] {
        stage.sql(forgotten, forgotten);
        let rests = until("it rests", async || {
            let ask = wire::GetRequest {
                agent_id: agent.agent_id.clone(),
            };
            let now = stage.agents().get(ask).await.unwrap().into_inner();
            now.resting.then_some(now)
        })
        .await;
        assert!(!rests.orders.as_ref().unwrap().active);
        assert!(version(&rests) > version(&agent), "zones hear of it");
        let woken = order(&stage, &agent, order_again).await;
        assert!(woken.orders.as_ref().unwrap().active && !woken.resting);
        assert!(version(&woken) > version(&rests));
    }
    // Its owner stopped it: that is no rest, and no word brings it back.
    order(&stage, &agent, Order::Active(false)).await;
    let still = order(&stage, &agent, Order::Spoken(true)).await;
    assert!(!still.orders.as_ref().unwrap().active && !still.resting);
    let early = "UPDATE agent_mappings SET heeded_at = 1";
    stage.sql(early, early);
    stage.open(&player, "mine").await;
    let heeded = "SELECT count(*) FROM agent_mappings WHERE heeded_at > 1700000000000";
    assert_eq!(stage.ask(heeded).await, ["1"], "its owner came");
}

pub(crate) async fn agents_of_an_account_and_of_the_world_are_bounded(kind: Kind) {
    let bounds = [("AGENTS_PER_ACCOUNT_MAX", "1"), ("AGENTS_MAX", "2")];
    let stage = Stage::with(kind, &bounds).await;
    let (ann, _) = made(&stage, "Ann").await;
    let second = stage.create(&ann.account, "Second").await.unwrap().id;
    let second = Player { id: second, ..ann };
    let refusal = register(&stage, &second, "").await.unwrap_err();
    assert_eq!(refusal.code(), Code::ResourceExhausted);
    assert!(refusal.message().contains("the account has 1 agents"));
    let (_, bob) = made(&stage, "Bob").await;
    let cid = stage.player().await;
    let refusal = register(&stage, &cid, "").await.unwrap_err();
    assert_eq!(refusal.code(), Code::ResourceExhausted);
    assert!(refusal.message().contains("2 agents live in the world"));
    // One that leaves makes room, and has none when it wants to come back.
    order(&stage, &bob, Order::Active(false)).await;
    let agent = register(&stage, &cid, "").await.unwrap();
    register(&stage, &cid, &agent.agent_id).await.unwrap();
    let ask = wire::OrderRequest {
        account_id: bob.account_id.clone(),
        agent_id: bob.agent_id.clone(),
        order: Some(Order::Active(true)),
    };
    refused(stage.agents().order(ask).await, Code::ResourceExhausted);
}
