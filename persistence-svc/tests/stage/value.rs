//! Words for packs, ground items and the ledger, and a player who has something.

use persistence_svc::Total;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::Balance;
use proto::rpc::persistence::v1::commit_reply::Outcome;

use super::{Kind, Player, Stage, Zone, region};

pub(crate) fn slot(slot: u32, item: &str, quantity: u32) -> wire::Slot {
    wire::Slot {
        slot,
        item_id: item.to_owned(),
        quantity,
    }
}

pub(crate) fn ledger(who: &str, item: &str, cause: Cause, delta: i64) -> wire::LedgerRow {
    wire::LedgerRow {
        character_id: who.to_owned(),
        item_id: item.to_owned(),
        delta,
        cause: cause.0.to_owned(),
        balance: cause.1.into(),
    }
}

/// Gives a row of the ledger another cause.
pub(crate) fn because(row: &mut wire::LedgerRow, cause: Cause) {
    cause.0.clone_into(&mut row.cause);
    row.balance = cause.1.into();
}

/// A ledger cause: its name and its balance class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause(pub(crate) &'static str, pub(crate) Balance);

impl Cause {
    pub(crate) const STARTER: Self = Self("starter", Balance::Makes);
    pub(crate) const QUEST: Self = Self("quest", Balance::Makes);
    pub(crate) const GIFT: Self = Self("gift", Balance::Grants);
    pub(crate) const ASHES: Self = Self("ashes", Balance::Leaves);
    pub(crate) const DROP: Self = Self("drop", Balance::Moves);
    pub(crate) const PICKUP: Self = Self("pickup", Balance::Moves);
    pub(crate) const DEATH: Self = Self("death", Balance::Moves);
    pub(crate) const TRADE: Self = Self("trade", Balance::Exchanges);
    pub(crate) const DUEL: Self = Self("duel", Balance::Exchanges);
    pub(crate) const EXPIRE: Self = Self("expire", Balance::Destroys);
    pub(crate) const EAT: Self = Self("eat", Balance::Consumes);
    pub(crate) const BURY: Self = Self("bury", Balance::Consumes);
    pub(crate) const RUB: Self = Self("rub", Balance::Consumes);
    pub(crate) const BURN: Self = Self("burn", Balance::Consumes);
    pub(crate) const DELETED: Self = Self("deleted", Balance::Consumes);
    pub(crate) const NOTE: Self = Self("note", Balance::Changes);
    pub(crate) const GATHER: Self = Self("gather", Balance::Gathers);
    pub(crate) const MAKE: Self = Self("make", Balance::Works);
    pub(crate) const SHOP_BUY: Self = Self("shop_buy", Balance::Buys);
    pub(crate) const SHOP_SELL: Self = Self("shop_sell", Balance::Sells);
}

pub(crate) fn ground(id: &str, zone: &Zone, item: &str, quantity: u32) -> wire::GroundItem {
    wire::GroundItem {
        id: id.to_owned(),
        region: Some(zone.place),
        x: 3,
        z: -70,
        item_id: item.to_owned(),
        quantity,
        owner_id: "somebody".to_owned(),
        public_tick: 100,
        grave_id: String::new(),
        expires_tick: 300,
    }
}

/// Gives the zone's region to a run.
pub(crate) fn give(zone: &Zone, to: u64) -> wire::RegionGive {
    wire::RegionGive {
        region: Some(zone.place),
        epoch: zone.epoch,
        to_run_id: to,
    }
}

/// Returns a row that writes all that the character has.
pub(crate) fn owns(
    record: &wire::CharacterRecord,
    coins: u64,
    pack: &[wire::Slot],
) -> wire::CharacterRow {
    wire::CharacterRow {
        record: Some(wire::CharacterRecord {
            coins,
            inventory: pack.to_vec(),
            placed: true,
            ..record.clone()
        }),
        holdings: true,
        ..wire::CharacterRow::default()
    }
}

/// A zone with a player who has 25 coins, a hatchet and 5 arrows by its batch 1.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) zone: Zone,
    pub(crate) player: Player,
    /// Its record before it had anything.
    pub(crate) bare: wire::CharacterRecord,
}

impl Scene {
    pub(crate) async fn new(kind: Kind) -> Scene {
        Scene::on(Stage::new(kind).await).await
    }

    pub(crate) async fn on(stage: Stage) -> Scene {
        let zone = stage.zone(region(0, 0)).await;
        let player = stage.player().await;
        let bare = stage.load(zone.run, &player.id).await.unwrap();
        let pack = [slot(0, "bronze_hatchet", 1), slot(1, "arrow", 5)];
        let starter = |item, delta| ledger(&player.id, item, Cause::STARTER, delta);
        let rows = wire::CommitRows {
            characters: vec![owns(&bare, 25, &pack)],
            ledger: vec![
                starter("coins", 25),
                starter("bronze_hatchet", 1),
                starter("arrow", 5),
            ],
            ..wire::CommitRows::default()
        };
        let reply = stage.batch(zone.run, 1, rows).await;
        assert_eq!(reply.outcome(), Outcome::Done, "{}", reply.detail);
        Scene {
            stage,
            zone,
            player,
            bare,
        }
    }

    /// Returns the character as the store has it.
    pub(crate) async fn load(&self) -> wire::CharacterRecord {
        let loaded = self.stage.load(self.zone.run, &self.player.id).await;
        loaded.unwrap()
    }

    /// Returns the rows that drop two of its arrows.
    pub(crate) fn drop_two(&self) -> wire::CommitRows {
        let pack = [slot(0, "bronze_hatchet", 1), slot(1, "arrow", 3)];
        wire::CommitRows {
            characters: vec![owns(&self.bare, 25, &pack)],
            ground: vec![ground("item:1-1", &self.zone, "arrow", 2)],
            ledger: vec![
                ledger(&self.player.id, "arrow", Cause::DROP, -2),
                ledger("", "arrow", Cause::DROP, 2),
            ],
            ..wire::CommitRows::default()
        }
    }

    /// Checks that everything is as the ledger says. Returns the total of each item.
    pub(crate) async fn conserved(&self) -> Vec<Total> {
        let found = self.stage.check().await;
        assert_eq!(found.differences, Vec::<String>::new());
        found.totals
    }
}
