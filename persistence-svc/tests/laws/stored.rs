//! Laws of worn items and of banks: zones write them as they change, the store judges and counts
//! them, and they go with their holder.

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_reply::Outcome;

use crate::stage::Kind;
use crate::stage::value::{Cause, Scene, ledger, owns, slot};

fn worn(place: &str, item: &str, quantity: u32) -> wire::Worn {
    wire::Worn {
        slot: place.to_owned(),
        item_id: item.to_owned(),
        quantity,
    }
}

fn lies(item: &str, quantity: u32, tab: u32, place: u32) -> wire::BankItem {
    wire::BankItem {
        item_id: item.to_owned(),
        quantity,
        tab,
        place,
        gone: false,
    }
}

fn gone(item: &str) -> wire::BankItem {
    wire::BankItem {
        gone: true,
        ..lies(item, 0, 0, 0)
    }
}

/// Returns a row that writes worn items, and nothing else of value.
fn dressed(scene: &Scene, equipment: &[wire::Worn]) -> wire::CharacterRow {
    wire::CharacterRow {
        record: Some(wire::CharacterRecord {
            equipment: equipment.to_vec(),
            placed: true,
            ..scene.bare.clone()
        }),
        worn: true,
        ..wire::CharacterRow::default()
    }
}

fn rows(row: wire::CharacterRow) -> wire::CommitRows {
    wire::CommitRows {
        characters: vec![row],
        ..wire::CommitRows::default()
    }
}

/// Returns a row that writes this pack, and these items as the bank.
fn banks(scene: &Scene, pack: &[wire::Slot], bank: &[wire::BankItem]) -> wire::CharacterRow {
    let mut row = owns(&scene.bare, 25, pack);
    row.record.as_mut().unwrap().bank = bank.to_vec();
    row
}

async fn commit(scene: &Scene, sequence: u64, rows: wire::CommitRows) -> wire::CommitReply {
    scene.stage.batch(scene.zone.run, sequence, rows).await
}

async fn done(scene: &Scene, sequence: u64, rows: wire::CommitRows) {
    let reply = commit(scene, sequence, rows).await;
    assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
}

pub(crate) async fn what_is_worn_comes_from_the_pack_and_goes_back(kind: Kind) {
    let scene = Scene::new(kind).await;
    let mut put_on = owns(&scene.bare, 25, &[slot(1, "arrow", 2)]);
    let hatchet = worn("weapon", "bronze_hatchet", 1);
    let record = put_on.record.as_mut().unwrap();
    record.equipment = vec![hatchet.clone(), worn("arrows", "arrow", 3)];
    put_on.worn = true;
    done(&scene, 2, rows(put_on)).await;
    let mut loaded = scene.load().await;
    loaded.equipment.sort_by(|a, b| a.slot.cmp(&b.slot));
    assert_eq!(
        loaded.equipment,
        [worn("arrows", "arrow", 3), hatchet.clone()]
    );
    assert_eq!(loaded.inventory, [slot(1, "arrow", 2)]);
    scene.conserved().await;
    // A row that does not write it leaves it.
    done(
        &scene,
        3,
        rows(owns(&scene.bare, 25, &[slot(7, "arrow", 2)])),
    )
    .await;
    assert_eq!(scene.load().await.equipment.len(), 2);
    let mut off = dressed(&scene, std::slice::from_ref(&hatchet));
    off.holdings = true;
    let record = off.record.as_mut().unwrap();
    (record.coins, record.inventory) = (25, vec![slot(7, "arrow", 5)]);
    done(&scene, 4, rows(off)).await;
    assert_eq!(scene.load().await.equipment, [hatchet]);
    scene.conserved().await;
}

pub(crate) async fn nothing_is_worn_twice_or_made_by_wearing_it(kind: Kind) {
    let scene = Scene::new(kind).await;
    let hatchet = worn("weapon", "bronze_hatchet", 1);
    let made = dressed(&scene, std::slice::from_ref(&hatchet));
    let reply = commit(&scene, 2, rows(made)).await;
    assert_eq!(reply.outcome(), Outcome::Refused, "still in the pack");
    assert_eq!(reply.character_ids, std::slice::from_ref(&scene.player.id));
    for wrong in [
        vec![hatchet.clone(), hatchet],
        vec![worn("tail", "bronze_hatchet", 1)],
        vec![worn("ring", "bronze_hatchet", 0)],
        vec![worn("ring", "bronze_hatchet", 1 << 31)],
    ] {
        let reply = commit(&scene, 2, rows(dressed(&scene, &wrong))).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{wrong:?}");
    }
    assert_eq!(scene.load().await.equipment, []);
    scene.conserved().await;
}

pub(crate) async fn a_bank_keeps_what_a_row_does_not_name(kind: Kind) {
    let scene = Scene::new(kind).await;
    let items = [lies("arrow", 4, 0, 0), lies("bronze_hatchet", 1, 8, 70_000)];
    done(
        &scene,
        2,
        rows(banks(&scene, &[slot(1, "arrow", 1)], &items)),
    )
    .await;
    // Only its order changes; the other item is not named.
    let mut row = banks(&scene, &[], &[lies("arrow", 4, 3, 9)]);
    row.holdings = false;
    done(&scene, 3, rows(row)).await;
    let mut loaded = scene.load().await;
    loaded.bank.sort_by(|a, b| a.item_id.cmp(&b.item_id));
    assert_eq!(loaded.bank, [lies("arrow", 4, 3, 9), items[1].clone()]);
    // The pack takes the last of two items: the bank keeps the place of one, and not of the other.
    let pack = [slot(0, "bronze_hatchet", 1), slot(1, "arrow", 5)];
    let out = [lies("arrow", 0, 3, 9), gone("bronze_hatchet")];
    done(&scene, 4, rows(banks(&scene, &pack, &out))).await;
    assert_eq!(scene.load().await.bank, [lies("arrow", 0, 3, 9)]);
    scene.conserved().await;
}

pub(crate) async fn kills_are_added_up(kind: Kind) {
    let scene = Scene::new(kind).await;
    let killed = |npc: &str, count| wire::Kills {
        npc_id: npc.to_owned(),
        count,
    };
    let row = |kills: &[wire::Kills]| wire::CharacterRow {
        record: Some(wire::CharacterRecord {
            placed: true,
            ..scene.bare.clone()
        }),
        kills: kills.to_vec(),
        ..wire::CharacterRow::default()
    };
    done(&scene, 2, rows(row(&[killed("rat", 2), killed("hen", 1)]))).await;
    // A batch that comes again counts once.
    done(&scene, 2, rows(row(&[killed("rat", 2), killed("hen", 1)]))).await;
    done(&scene, 3, rows(row(&[killed("rat", 3)]))).await;
    let ask = proto::rpc::queries::v1::ProfileRequest {
        character_id: scene.bare.id.clone(),
    };
    let told = scene.stage.queries().profile(ask).await.unwrap();
    let mut kills: Vec<(String, u64)> = told
        .into_inner()
        .kills
        .into_iter()
        .map(|kill| (kill.npc_id, u64::from(kill.count)))
        .collect();
    kills.sort();
    assert_eq!(kills, [("hen".to_owned(), 1), ("rat".to_owned(), 5)]);
    let none = rows(row(&[killed("rat", 0)]));
    let reply = commit(&scene, 4, none).await;
    assert_eq!(reply.outcome(), Outcome::Refused, "no kill is no row");
}

pub(crate) async fn nothing_comes_out_of_a_bank_that_is_not_in_it(kind: Kind) {
    let scene = Scene::new(kind).await;
    let pack = [slot(0, "bronze_hatchet", 1), slot(1, "arrow", 5)];
    let four = [slot(0, "bronze_hatchet", 1), slot(1, "arrow", 4)];
    for (pack, bank) in [
        (&pack[..], vec![lies("arrow", 1, 0, 0)]),
        (&four[..], vec![lies("arrow", 2, 0, 0)]),
        (&four[..], vec![lies("arrow", 1, 9, 0)]),
        (&four[..], vec![lies("arrow", 1, 0, 1 << 31)]),
        (
            &four[..],
            vec![lies("arrow", 1, 0, 0), lies("arrow", 1, 0, 1)],
        ),
        (&four[..], vec![lies("arrow", 1, 0, 0), gone("arrow")]),
    ] {
        let reply = commit(&scene, 2, rows(banks(&scene, pack, &bank))).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{bank:?}");
    }
    assert_eq!(scene.load().await.bank, []);
    scene.conserved().await;
}

pub(crate) async fn a_note_is_as_many_things_as_it_stands_for(kind: Kind) {
    let scene = Scene::new(kind).await;
    let pack = [slot(0, "bronze_hatchet_noted", 1), slot(1, "arrow", 5)];
    let note = |item: &str, delta| ledger(&scene.player.id, item, Cause::NOTE, delta);
    let with = |ledger: Vec<wire::LedgerRow>| wire::CommitRows {
        ledger,
        ..rows(owns(&scene.bare, 25, &pack))
    };
    let reply = commit(&scene, 2, with(vec![note("bronze_hatchet_noted", 1)])).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    let both = vec![note("bronze_hatchet", -1), note("bronze_hatchet_noted", 1)];
    done(&scene, 2, with(both)).await;
    scene.conserved().await;
    // A second one is not written as if it were another thing.
    let two = [slot(0, "bronze_hatchet_noted", 2), slot(1, "arrow", 5)];
    let more = wire::CommitRows {
        ledger: vec![note("bronze_hatchet_noted", 1)],
        ..rows(owns(&scene.bare, 25, &two))
    };
    let reply = commit(&scene, 3, more).await;
    assert_eq!(reply.outcome(), Outcome::Refused);
    assert_eq!(reply.character_ids, std::slice::from_ref(&scene.player.id));
}

pub(crate) async fn what_is_used_up_is_gone_and_never_made(kind: Kind) {
    let scene = Scene::new(kind).await;
    let used = |quantity, cause, delta| wire::CommitRows {
        ledger: vec![ledger(&scene.player.id, "arrow", cause, delta)],
        ..rows(owns(
            &scene.bare,
            25,
            &[slot(0, "bronze_hatchet", 1), slot(1, "arrow", quantity)],
        ))
    };
    for cause in [Cause::EAT, Cause::BURY, Cause::RUB] {
        let reply = commit(&scene, 2, used(6, cause, 1)).await;
        assert_eq!(reply.outcome(), Outcome::Refused, "{cause:?}");
    }
    done(&scene, 2, used(4, Cause::EAT, -1)).await;
    done(&scene, 3, used(3, Cause::BURY, -1)).await;
    scene.conserved().await;
}

pub(crate) async fn what_is_gathered_and_made_comes_of_work(kind: Kind) {
    let scene = Scene::new(kind).await;
    let id = scene.player.id.as_str();
    let holds = |slots: &[wire::Slot], ledger| wire::CommitRows {
        ledger,
        ..rows(owns(&scene.bare, 25, slots))
    };
    let refused = async |rows| {
        let reply = commit(&scene, 2, rows).await;
        assert_eq!(reply.outcome(), Outcome::Refused);
    };
    let (hatchet, arrows) = (slot(0, "bronze_hatchet", 1), slot(1, "arrow", 5));
    let both = [hatchet.clone(), arrows.clone()];
    let logs = [hatchet.clone(), arrows.clone(), slot(2, "logs", 1)];
    let row = |item: &str, cause, delta| ledger(id, item, cause, delta);
    // Making takes materials, unlike gathering; ashes fall to the ground only.
    for cause in [Cause::MAKE, Cause::ASHES, Cause::BURN] {
        refused(holds(&logs, vec![row("logs", cause, 1)])).await;
    }
    // More bait than fish.
    let fished = [hatchet.clone(), slot(1, "arrow", 3), slot(2, "logs", 1)];
    let bait = |delta| {
        vec![
            row("logs", Cause::GATHER, 1),
            row("arrow", Cause::GATHER, delta),
        ]
    };
    refused(holds(&fished, bait(-2))).await;
    done(&scene, 2, holds(&logs, vec![row("logs", Cause::GATHER, 1)])).await;
    let bow = [hatchet.clone(), arrows.clone(), slot(2, "bow", 1)];
    let made = vec![row("logs", Cause::MAKE, -1), row("bow", Cause::MAKE, 1)];
    done(&scene, 3, holds(&bow, made)).await;
    done(&scene, 4, holds(&both, vec![row("bow", Cause::BURN, -1)])).await;
    scene.conserved().await;
}

pub(crate) async fn who_is_deleted_takes_stakes_and_bank_along(kind: Kind) {
    let scene = Scene::new(kind).await;
    let mut row = banks(&scene, &[], &[lies("arrow", 5, 0, 0)]);
    row.record.as_mut().unwrap().stakes = vec![slot(0, "bronze_hatchet", 1)];
    row.staked = true;
    row.logout = Some(wire::Logout {
        reason: "left".to_owned(),
    });
    done(&scene, 2, rows(row)).await;
    let ask = wire::DeleteCharacterRequest {
        account_id: scene.player.account.clone(),
        character_id: scene.player.id.clone(),
    };
    scene.stage.accounts().delete_character(ask).await.unwrap();
    for total in scene.conserved().await {
        assert_eq!((total.held, total.ledger), (0, 0), "{}", total.item);
    }
}
