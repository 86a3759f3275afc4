//! Laws of exchanges: trades, shops, stakes, and graves.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;

use crate::stage::Kind;
use crate::stage::value::{Cause, Scene, ground, ledger, owns, slot};

async fn commit(scene: &Scene, sequence: u64, rows: wire::CommitRows) -> wire::CommitReply {
    scene.stage.batch(scene.zone.run, sequence, rows).await
}

async fn done(scene: &Scene, sequence: u64, rows: wire::CommitRows) {
    let reply = commit(scene, sequence, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
}

/// Both packs of a trade are in one batch, and neither side gets more than the other gives.
pub(crate) async fn a_trade_is_both_packs_or_neither(kind: Kind) {
    let scene = Scene::new(kind).await;
    let other = scene.stage.player().await;
    let theirs = scene.stage.load(scene.zone.run, &other.id).await.unwrap();
    let given = |arrows: u32| owns(&scene.bare, 25, &[slot(1, "arrow", arrows)]);
    let got = |arrows: u32| {
        let pack = [slot(0, "bronze_hatchet", 1), slot(3, "arrow", arrows)];
        owns(&theirs, 0, &pack)
    };
    let trade = |who: &str, item, delta| ledger(who, item, Cause::TRADE, delta);
    let swap = |arrows: u32| wire::CommitRows {
        characters: vec![given(3), got(arrows)],
        ledger: vec![
            trade(&scene.player.id, "arrow", -2),
            trade(&other.id, "arrow", i64::from(arrows)),
            trade(&scene.player.id, "bronze_hatchet", -1),
            trade(&other.id, "bronze_hatchet", 1),
        ],
        ..wire::CommitRows::default()
    };
    let half = wire::CommitRows {
        characters: vec![got(2)],
        ledger: vec![
            trade(&other.id, "arrow", 2),
            trade(&other.id, "bronze_hatchet", 1),
        ],
        ..wire::CommitRows::default()
    };
    for wrong in [half, swap(3)] {
        let reply = commit(&scene, 2, wrong).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
        assert_eq!(scene.load().await.inventory.len(), 2);
    }
    done(&scene, 2, swap(2)).await;
    scene.conserved().await;
    let after = scene.stage.load(scene.zone.run, &other.id).await.unwrap();
    let pack = [slot(0, "bronze_hatchet", 1), slot(3, "arrow", 2)];
    assert_eq!(after.inventory, pack);
}

/// A stake is in no pack, and comes back to the run that loads its owner. The batch that takes it
/// from the loser gives it to the winner.
pub(crate) async fn what_is_staked_is_in_no_pack_and_goes_to_who_wins(kind: Kind) {
    let scene = Scene::new(kind).await;
    let other = scene.stage.player().await;
    let theirs = scene.stage.load(scene.zone.run, &other.id).await.unwrap();
    let stakes = |of: &wire::CharacterRecord, coins, pack: &[_], stakes: &[_]| {
        let mut row = owns(of, coins, pack);
        row.record.as_mut().unwrap().stakes = stakes.to_vec();
        row.staked = true;
        row
    };
    let of = |rows: Vec<wire::CharacterRow>, ledger: Vec<wire::LedgerRow>| wire::CommitRows {
        characters: rows,
        ledger,
        ..wire::CommitRows::default()
    };
    let rest = [slot(1, "arrow", 2)];
    let escrow = [slot(0, "arrow", 3), slot(55, "bronze_hatchet", 1)];
    // In the pack as well; out of nothing; in a place that there is not.
    let twice = stakes(&scene.bare, 25, &[slot(1, "arrow", 5)], &escrow);
    let more = stakes(&scene.bare, 25, &rest, &[slot(0, "arrow", 4)]);
    for wrong in [twice, more] {
        let reply = commit(&scene, 2, of(vec![wrong], Vec::new())).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
    }
    let laid = stakes(&scene.bare, 25, &rest, &escrow);
    done(&scene, 2, of(vec![laid], Vec::new())).await;
    let loaded = scene.load().await;
    assert_eq!(
        (&*loaded.inventory, &*loaded.stakes),
        (&rest[..], &escrow[..])
    );
    scene.conserved().await;
    // A row that does not write them leaves them.
    done(
        &scene,
        3,
        of(vec![owns(&scene.bare, 25, &rest)], Vec::new()),
    )
    .await;
    assert_eq!(scene.load().await.stakes.len(), 2);
    let duel = |who: &str, item, delta| ledger(who, item, Cause::DUEL, delta);
    let lost = stakes(&scene.bare, 25, &rest, &[]);
    let won = stakes(&theirs, 0, &[], &escrow);
    let gives = [
        duel(&scene.player.id, "arrow", -3),
        duel(&scene.player.id, "bronze_hatchet", -1),
    ];
    let gets = [
        duel(&other.id, "arrow", 3),
        duel(&other.id, "bronze_hatchet", 1),
    ];
    let half = of(vec![won.clone()], gets.to_vec());
    let reply = commit(&scene, 4, half).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let both = [gives, gets].concat();
    done(&scene, 4, of(vec![lost, won], both)).await;
    assert!(scene.load().await.stakes.is_empty());
    let after = scene.stage.load(scene.zone.run, &other.id).await.unwrap();
    assert_eq!(after.stakes, escrow);
    scene.conserved().await;
    // The stake that came back to the pack is at stake no more.
    let back = [slot(0, "bronze_hatchet", 1), slot(4, "arrow", 3)];
    let row = stakes(&theirs, 0, &back, &[]);
    done(&scene, 5, of(vec![row], Vec::new())).await;
    scene.conserved().await;
}

pub(crate) async fn a_shop_takes_coins_for_things_and_things_for_coins(kind: Kind) {
    let scene = Scene::new(kind).await;
    let row = |coins, arrows| wire::CommitRows {
        characters: vec![owns(
            &scene.bare,
            coins,
            &[slot(0, "bronze_hatchet", 1), slot(1, "arrow", arrows)],
        )],
        ..wire::CommitRows::default()
    };
    let with = |coins: u64, arrows: u32, cause| {
        let delta = |now: u64, before: i64| i64::try_from(now).unwrap() - before;
        let deltas = [
            ("coins", delta(coins, 25)),
            ("arrow", delta(arrows.into(), 5)),
        ];
        let moved = deltas.into_iter().filter(|(_, delta)| *delta != 0);
        wire::CommitRows {
            ledger: moved
                .map(|(item, delta)| ledger(&scene.player.id, item, cause, delta))
                .collect(),
            ..row(coins, arrows)
        }
    };
    for wrong in [
        with(26, 6, Cause::SHOP_BUY),
        with(24, 4, Cause::SHOP_BUY),
        with(26, 6, Cause::SHOP_SELL),
        with(24, 4, Cause::SHOP_SELL),
        with(24, 6, Cause::SHOP_SELL),
        with(26, 4, Cause::SHOP_BUY),
    ] {
        let reply = commit(&scene, 2, wrong).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
    }
    done(&scene, 2, with(20, 9, Cause::SHOP_BUY)).await;
    scene.conserved().await;
}

/// The lock of one who died is there as long as something is in the grave.
pub(crate) async fn what_is_in_a_grave_is_on_the_ground_and_locked(kind: Kind) {
    let scene = Scene::new(kind).await;
    let (stage, zone, who) = (&scene.stage, &scene.zone, &scene.player.id);
    let buried = |id: &str, item: &str, quantity| wire::GroundItem {
        owner_id: who.clone(),
        grave_id: "grave:1-1".to_owned(),
        ..ground(id, zone, item, quantity)
    };
    let death = |holder: &str, item, delta| ledger(holder, item, Cause::DEATH, delta);
    let dies = wire::CommitRows {
        characters: vec![owns(&scene.bare, 25, &[])],
        ground: vec![
            buried("item:1-2", "bronze_hatchet", 1),
            buried("item:1-3", "arrow", 5),
        ],
        ledger: vec![
            death(who, "bronze_hatchet", -1),
            death("", "bronze_hatchet", 1),
            death(who, "arrow", -5),
            death("", "arrow", 5),
        ],
        ..wire::CommitRows::default()
    };
    done(&scene, 2, dies).await;
    scene.conserved().await;
    let locks = r#"SELECT "gravestoneId" || ' ' || "itemCount" || ' ' || position
        FROM "playerDeaths""#;
    assert_eq!(stage.ask(locks).await, ["grave:1-1 2 3,-70"]);
    let loaded = stage.load_region(zone).await.unwrap();
    let graves: Vec<&str> = loaded.ground.iter().map(|i| &*i.grave_id).collect();
    assert_eq!(graves, ["grave:1-1", "grave:1-1"]);
    let gone = |id: &str| wire::GroundGone {
        id: id.to_owned(),
        region: Some(zone.place),
    };
    let taken = |holder: &str, item, delta| ledger(holder, item, Cause::PICKUP, delta);
    let one = wire::CommitRows {
        characters: vec![owns(&scene.bare, 25, &[slot(0, "arrow", 5)])],
        gone: vec![gone("item:1-3")],
        ledger: vec![taken("", "arrow", -5), taken(who, "arrow", 5)],
        ..wire::CommitRows::default()
    };
    done(&scene, 3, one).await;
    assert_eq!(stage.ask(locks).await, ["grave:1-1 1 3,-70"]);
    // The rest lies about when the grave opens, whoever is there.
    let rest = wire::CommitRows {
        ground: vec![wire::GroundItem {
            grave_id: String::new(),
            ..buried("item:1-2", "bronze_hatchet", 1)
        }],
        ..wire::CommitRows::default()
    };
    done(&scene, 4, rest).await;
    assert_eq!(stage.ask(locks).await, Vec::<String>::new());
    scene.conserved().await;
}
