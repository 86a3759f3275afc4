//! Worlds that share a land, the state that a store would have of them, and the law that holds
//! after each tick.

use crate::stage;

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use stage::BEGIN;
use world::content::EquipSlot;
use world::item::bank::{BANK_SLOTS, BANK_TABS};
use world::item::{COINS, QUANTITY_MAX, SLOTS};
use world::rng::Dice;
use world::{
    Arrival, Cause, CharacterId, Content, DuelEnd, EntityId, Event, GroundChange, GroundItem,
    Holder, Inbox, Outcome, PlayerHot, PlayerInput, PlayerRecord, Refusal, Region, Rules, Stack,
    Tick, Tile, Value, World, arrivals, death, dialogue, duel, examine, prayer, quests, request,
    trade, visit,
};

use super::land::land;

pub(super) const WORLDS: u32 = 4;
pub(super) const PLAYERS: u32 = 24;

pub(super) type Books = BTreeMap<(Holder, Arc<str>), i64>;

/// State that a store would have.
#[derive(Default)]
pub(super) struct Store {
    pub(super) players: BTreeMap<CharacterId, (PlayerRecord, Region)>,
    pub(super) ground: BTreeMap<EntityId, GroundItem>,
}

/// Worlds that share a land.
pub(super) struct Cluster {
    pub(super) content: Arc<Content>,
    pub(super) worlds: Vec<World>,
    /// Inbox of each world for the next tick.
    pub(super) inboxes: Vec<Inbox>,
    pub(super) now: u64,
    pub(super) number: u64,
    pub(super) dice: Dice,
    /// Until when somebody asks nothing.
    pub(super) naps: BTreeMap<CharacterId, u64>,
    /// All that the ledgers said.
    pub(super) books: Books,
    pub(super) store: Store,
    /// Number of events of each kind.
    pub(super) counts: BTreeMap<&'static str, u32>,
    /// They challenge each other to duels.
    pub(super) duels: bool,
}

impl Cluster {
    /// Makes the worlds, which have the regions by quarters that meet at 0,0.
    pub(super) fn new(seed: u64, worlds: u32, duels: bool) -> Cluster {
        let content = land(duels).content();
        let all = (0..worlds).map(|run| {
            let run = u64::from(run) + 1;
            World::new(Arc::clone(&content), Rules::default(), seed, run)
        });
        let mut cluster = Cluster {
            worlds: all.collect(),
            inboxes: (0..worlds).map(|_| Inbox::default()).collect(),
            content,
            now: BEGIN,
            number: 0,
            dice: Dice::new(seed, 77, 0),
            naps: BTreeMap::new(),
            books: Books::new(),
            store: Store::default(),
            counts: BTreeMap::new(),
            duels,
        };
        for region in cluster.content.regions().to_vec() {
            let quarter = i32::from(region.x < 0) * 2 + i32::from(region.z < 0);
            let world = &mut cluster.worlds[(quarter.unsigned_abs() % worlds) as usize];
            world.region_in(region, Tick(BEGIN), None).unwrap();
        }
        for n in 0..PLAYERS {
            cluster.newcomer(n);
        }
        cluster
    }

    /// Adds a player: some are new, some come with much, and the books begin with that.
    pub(super) fn newcomer(&mut self, n: u32) {
        let tile = Tile::new(self.dice.between(-9, 9), self.dice.between(-9, 9));
        let mut record = stage::record(&format!("p{n:02}"), tile);
        if n.is_multiple_of(3) {
            record.placed = false;
        } else {
            record.coins = u64::from(QUANTITY_MAX) - u64::from(self.dice.below(40)) * 10;
            let kinds = [
                "logs",
                "candle",
                "coins",
                "tinderbox",
                "unheard_of",
                "sword",
                "maul",
                "shield",
                "arrow",
                "iron_arrow",
                "cake",
                "lamp",
                "bones",
                "logs_noted",
                "bronze_hatchet",
                "bronze_pickaxe",
                "knife",
                "raw_trout",
                "copper_ore",
                "tin_ore",
                "hide",
                "tinderbox",
                "bow",
                "staff",
                "mind_rune",
                "tonic_1",
                "tonic_2",
                "tonic_3",
                "cure_1",
                "bones",
                "bones",
            ];
            for slot in 0..self.dice.between(5, 28) {
                let item = kinds[self.dice.below(kinds.len() as u32) as usize];
                let many = if self.content.stackable(item) { 9 } else { 1 };
                let stack = Stack::new(item, many);
                record.inventory.insert(u8::try_from(slot).unwrap(), stack);
            }
        }
        match n % 4 {
            1 => {
                let quiver = Stack::new("arrow", 30);
                record
                    .equipment
                    .insert(EquipSlot::Weapon, Stack::new("bow", 1));
                record.equipment.insert(EquipSlot::Arrows, quiver);
            }
            2 => {
                record.combat_settings.spell = Some("gust".into());
                record
                    .equipment
                    .insert(EquipSlot::Weapon, Stack::new("staff", 1));
                record.inventory.insert(27, Stack::new("mind_rune", 40));
            }
            _ => {}
        }
        held(&record, &mut self.books);
        let region = if record.placed {
            Region::from(tile)
        } else {
            Region::from(self.content.spawn())
        };
        let id = record.id.clone();
        self.store.players.insert(id, (record.clone(), region));
        self.bring(record, PlayerHot::default(), region);
    }

    pub(super) fn home_of(&self, region: Region) -> usize {
        let plays = self.worlds.iter().position(|world| world.plays(region));
        plays.expect("every region is played")
    }

    pub(super) fn bring(&mut self, record: PlayerRecord, hot: PlayerHot, region: Region) {
        let at = self.home_of(region);
        self.store.players.get_mut(&record.id).unwrap().1 = region;
        self.inboxes[at].arrivals.push(Arrival {
            record,
            hot,
            region,
            look: "".into(),
        });
    }

    /// Sends players who were to come to `region` at `from` to the world `to` instead.
    pub(super) fn redirect(&mut self, region: Region, from: usize, to: usize) {
        let arrivals = &mut self.inboxes[from].arrivals;
        let coming: Vec<Arrival> = arrivals.extract_if(.., |a| a.region == region).collect();
        let inputs = &mut self.inboxes[from].inputs;
        let theirs = |input: &mut PlayerInput| coming.iter().any(|a| a.record.id == input.who);
        let inputs: Vec<PlayerInput> = inputs.extract_if(.., theirs).collect();
        self.inboxes[to].inputs.extend(inputs);
        self.inboxes[to].arrivals.extend(coming);
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Moves a whole region to another world, or lets that world take it over from the saved state.
    pub(super) fn move_a_region(&mut self, from_store: bool) {
        let regions = self.content.regions();
        let region = regions[self.dice.below(regions.len() as u32) as usize];
        let from = self.home_of(region);
        let to = (from + 1) % self.worlds.len();
        let now = Tick(self.now);
        if from == to {
            return;
        }
        let bytes = self.worlds[from].region_out(region).unwrap();
        self.redirect(region, from, to);
        if !from_store {
            self.count("region moved");
            return self.worlds[to]
                .region_in(region, now, Some(&bytes))
                .unwrap();
        }
        self.count("region taken over");
        let world = &mut self.worlds[to];
        world.region_in(region, now, None).unwrap();
        let lies = self.store.ground.values().filter(|i| i.region == region);
        assert!(world.ground_in(region, now, lies.cloned().collect()));
        let arrivals = &self.inboxes[to].arrivals;
        let coming = |who: &CharacterId| arrivals.iter().any(|a| a.record.id == *who);
        let players = self.store.players.iter();
        let players = players.filter(|(who, (_, of))| *of == region && !coming(who));
        let players: Vec<PlayerRecord> = players.map(|(_, (p, _))| p.clone()).collect();
        for record in players {
            self.bring(record, PlayerHot::default(), region);
        }
    }

    pub(super) fn ask_all(&mut self) {
        for at in 0..self.worlds.len() {
            let players = self.worlds[at].players();
            let players: Vec<(CharacterId, Tile)> =
                players.map(|p| (p.record().id.clone(), p.tile())).collect();
            for (who, tile) in players {
                if let Some(intent) = self.ask(&who, tile) {
                    self.number += 1;
                    let number = self.number;
                    let input = PlayerInput {
                        who,
                        number,
                        intent,
                    };
                    self.inboxes[at].inputs.push(input);
                }
            }
            self.inboxes[at].value = match self.dice.below(20) {
                0 => Value::Frozen,
                1 => Value::Unavailable,
                _ => Value::Open,
            };
        }
    }

    pub(super) fn play(&mut self) {
        match self.dice.below(60) {
            0..2 => self.move_a_region(false),
            2 => self.move_a_region(true),
            _ => {}
        }
        self.ask_all();
        self.now += 1;
        let mut outcomes = Vec::new();
        for (world, inbox) in self.worlds.iter_mut().zip(&mut self.inboxes) {
            let inbox = std::mem::take(inbox);
            let inputs = inbox.inputs.clone();
            outcomes.push((world.tick(Tick(self.now), inbox, &mut ()), inputs));
        }
        for (at, (outcome, _)) in outcomes.iter().enumerate() {
            self.save(at, outcome);
        }
        self.check();
        for (at, (outcome, inputs)) in outcomes.into_iter().enumerate() {
            self.follow(at, outcome, &inputs);
        }
    }

    /// Saves exactly the changes that a zone would.
    #[allow(clippy::too_many_lines, reason = "one arm for each place")]
    pub(super) fn save(&mut self, at: usize, outcome: &Outcome) {
        let changes = &outcome.changes;
        for event in &outcome.events {
            match event {
                Event::Visit(visit::Event::Opened { .. }) => self.count("opened"),
                Event::Visit(visit::Event::Closed { .. }) => self.count("closed"),
                Event::Death(death::Event::Died { .. }) => self.count("died"),
                Event::Death(death::Event::Respawned { .. }) => self.count("rose"),
                Event::Duel(event) => self.count(match event {
                    duel::Event::Challenged(..) => "challenged",
                    duel::Event::Started(..) => "duel begun",
                    duel::Event::Fight(..) => "duel fought",
                    duel::Event::Completed(_, told) if told.forfeit => "duel forfeited",
                    duel::Event::Completed(..) => "duel won",
                    duel::Event::Cancelled(_, told) => match told.reason {
                        DuelEnd::Server | DuelEnd::Disconnected => "duel parted",
                        _ => "duel off",
                    },
                    _ => "duel told",
                }),
                Event::Prayer(prayer::Event::Changed { .. }) => self.count("prayed"),
                Event::Examine(examine::Event::Examined { .. }) => self.count("examined"),
                Event::Dialogue(dialogue::Event::Said(..)) => self.count("said"),
                Event::Quests(quests::Event::Completed { .. }) => self.count("quest done"),
                Event::Trade(event) => match event {
                    trade::Event::Asked { .. } => {}
                    trade::Event::Incoming(..) => self.count("trade asked"),
                    trade::Event::Started(..) => self.count("trade begun"),
                    trade::Event::Updated(..) | trade::Event::Confirms(..) => {
                        self.count("trade shown");
                    }
                    trade::Event::Completed(..) => self.count("trade completed"),
                    trade::Event::Cancelled(..) => self.count("trade ended"),
                },
                _ => {}
            }
            if let Event::Arrivals(arrivals::Event::TurnedAway { who, refusal }) = event {
                assert_eq!(*refusal, Refusal::StorageUnavailable);
                self.count("turned away");
                let (record, region) = self.store.players[who].clone();
                self.bring(record, PlayerHot::default(), region);
            }
        }
        for entry in &changes.ledger {
            assert_ne!(entry.delta, 0);
            let key = (entry.holder.clone(), Arc::clone(&entry.item));
            *self.books.entry(key).or_default() += entry.delta;
            self.count(entry.cause.name());
        }
        for cause in [
            Cause::Drop,
            Cause::Pickup,
            Cause::Shoot,
            Cause::Trade,
            Cause::Death,
            Cause::Duel,
        ] {
            let rows = changes.ledger.iter().filter(|e| e.cause == cause);
            assert_eq!(rows.map(|e| e.delta).sum::<i64>(), 0, "{cause:?} moves");
        }
        for who in &changes.valued {
            let record = self.worlds[at].record(who).unwrap();
            let saved = &mut self.store.players.get_mut(who).unwrap().0;
            (saved.inventory, saved.coins) = (record.inventory, record.coins);
        }
        for who in &changes.worn {
            let record = self.worlds[at].record(who).unwrap();
            let saved = &mut self.store.players.get_mut(who).unwrap().0;
            saved.equipment = record.equipment;
            self.count("worn");
        }
        for who in &changes.staked {
            let record = self.worlds[at].record(who).unwrap();
            let saved = &mut self.store.players.get_mut(who).unwrap().0;
            saved.stakes = record.stakes;
            self.count("staked");
        }
        for (who, quests) in &changes.quests {
            let record = self.worlds[at].record(who).unwrap();
            let saved = &mut self.store.players.get_mut(who).unwrap().0;
            for quest in quests {
                let state = record.quests[quest].clone();
                saved.quests.insert(Arc::clone(quest), state);
            }
            self.count("quest state");
        }
        for (who, items) in &changes.banked {
            let record = self.worlds[at].record(who).unwrap();
            let saved = &mut self.store.players.get_mut(who).unwrap().0;
            for item in items {
                match record.bank.items.get(item) {
                    Some(there) => saved.bank.items.insert(Arc::clone(item), *there),
                    None => saved.bank.items.remove(item),
                };
            }
            saved.bank.placeholders = record.bank.placeholders;
            self.count("banked");
        }
        for (who, skills) in &changes.trained {
            let record = self.worlds[at].record(who).unwrap();
            let saved = &mut self.store.players.get_mut(who).unwrap().0;
            for skill in skills {
                let (before, now) = (saved.skill(*skill), record.skill(*skill));
                assert!(before.xp_tenths < now.xp_tenths, "experience never falls");
                saved.skills.insert(*skill, now);
            }
            self.count("trained");
        }
        for player in self.worlds[at].players() {
            // This law does not cover the player's tile and region.
            let record = player.record();
            let saved = self.store.players.get_mut(&record.id).unwrap();
            saved.1 = player.region();
            (saved.0.tile, saved.0.placed) = (record.tile, record.placed);
        }
        for (id, change) in &changes.ground {
            match change {
                GroundChange::Put(item) => {
                    assert_eq!(item.id, *id);
                    if self.store.ground.insert(id.clone(), item.clone()).is_some() {
                        self.count("merge");
                    }
                }
                GroundChange::Gone { region, .. } => {
                    if let Some(item) = self.store.ground.remove(id) {
                        assert_eq!(item.region, *region);
                    }
                }
            }
        }
    }

    /// Hands players over as zones would.
    pub(super) fn follow(&mut self, at: usize, outcome: Outcome, inputs: &[PlayerInput]) {
        for crossing in outcome.crossings {
            if crossing.place.is_none() && self.worlds[at].set_region(&crossing.who, crossing.to) {
                self.store.players.get_mut(&crossing.who).unwrap().1 = crossing.to;
                self.count("crossing here");
                continue;
            }
            let (mut record, hot) = self.worlds[at].leave(&crossing.who).unwrap();
            self.count("handover");
            if let Some(place) = crossing.place {
                self.count("brought home");
                record.tile = place;
            }
            self.bring(record, hot, crossing.to);
        }
        let mut brought = BTreeMap::new();
        for event in outcome.events {
            if let Event::Request(request::Event::Deferred { who, number }) = &event
                && let Some(there) = brought.get(who)
            {
                let later: &PlayerInput = inputs.iter().find(|i| i.number == *number).unwrap();
                let inbox: &mut Inbox = &mut self.inboxes[*there];
                inbox.inputs.push(later.clone());
            }
            let Event::Request(request::Event::Elsewhere {
                who,
                number,
                target,
            }) = event
            else {
                continue;
            };
            let there = self.worlds.iter().find_map(|w| w.look(&target));
            let (Some(region), true) = (
                there.map(|look| look.region),
                self.worlds[at].player(&who).is_some(),
            ) else {
                continue;
            };
            self.count("elsewhere");
            let (record, hot) = self.worlds[at].leave(&who).unwrap();
            self.bring(record, hot, region);
            let again = inputs.iter().find(|i| i.number == number).unwrap().clone();
            let there = self.home_of(region);
            self.inboxes[there].inputs.push(again);
            brought.insert(who, there);
        }
    }

    /// Checks the law.
    pub(super) fn check(&mut self) {
        let mut holdings = Books::new();
        let mut ground = BTreeMap::new();
        let (mut pinned, mut players) = (0, 0);
        for world in &self.worlds {
            for player in world.players() {
                let record = player.record();
                held(record, &mut holdings);
                players += 1;
                let saved = &self.store.players[&record.id].0;
                assert_eq!(record.inventory, saved.inventory, "{} is saved", record.id);
                assert_eq!(record.coins, saved.coins, "{} is saved", record.id);
                assert_eq!(record.equipment, saved.equipment, "{} is saved", record.id);
                assert_eq!(record.bank, saved.bank, "{} is saved", record.id);
                assert_eq!(record.stakes, saved.stakes, "{} is saved", record.id);
                assert_eq!(record.skills, saved.skills, "{} is saved", record.id);
                bounded(&self.content, record);
                let past = player.region().tiles_past(player.tile());
                pinned += u32::from(player.pinned(world.now()) && past >= 4);
            }
            for item in world.regions().flat_map(|region| world.ground(region)) {
                let item = item.clone();
                assert!((1..=QUANTITY_MAX).contains(&item.quantity), "{item:?}");
                assert!(item.region.tiles_past(item.tile) <= 56, "{item:?}");
                assert!(world.entities_in(item.tile.into()).any(|id| *id == item.id));
                *holdings
                    .entry((Holder::Ground, Arc::clone(&item.item)))
                    .or_default() += i64::from(item.quantity);
                assert_eq!(ground.insert(item.id.clone(), item), None, "it is twice");
            }
        }
        for arrival in self.inboxes.iter().flat_map(|inbox| &inbox.arrivals) {
            held(&arrival.record, &mut holdings);
            players += 1;
        }
        assert_eq!(players, PLAYERS, "nobody is lost or double");
        let lying: Vec<&EntityId> = ground.keys().collect();
        assert_eq!(lying, self.store.ground.keys().collect::<Vec<_>>());
        for (id, item) in &ground {
            let saved = &self.store.ground[id];
            assert_eq!((&item.item, item.quantity), (&saved.item, saved.quantity));
        }
        // A bank keeps the place of an item of which it has none.
        holdings.retain(|_, sum| *sum != 0);
        self.books.retain(|_, sum| *sum != 0);
        let all = holdings.keys().chain(self.books.keys());
        let pairs = all.map(|key| (key, holdings.get(key), self.books.get(key)));
        let wrong: Vec<_> = pairs.filter(|(_, has, booked)| has != booked).collect();
        assert!(
            wrong.is_empty(),
            "who has what, and what the ledger says: {wrong:?}"
        );
        *self.counts.entry("pinned").or_default() += pinned;
    }

    /// Returns the hash over the very bytes with which all regions would move.
    pub(super) fn hash(&self) -> String {
        let mut sha = Sha256::new();
        for world in &self.worlds {
            for region in world.regions() {
                sha.update(world.region_bytes(region).unwrap());
            }
        }
        format!("{:x}", sha.finalize())
    }
}

/// Adds the possessions of a player.
fn held(record: &PlayerRecord, books: &mut Books) {
    let holder = Holder::Character(record.id.clone());
    for (item, there) in &record.bank.items {
        let key = (holder.clone(), Arc::clone(item));
        *books.entry(key).or_default() += i64::from(there.quantity);
    }
    let worn = record.equipment.values().chain(record.stakes.values());
    for stack in record.inventory.values().chain(worn) {
        let key = (holder.clone(), Arc::clone(&stack.item));
        *books.entry(key).or_default() += i64::from(stack.quantity);
    }
    if record.coins > 0 {
        let coins = i64::try_from(record.coins).unwrap();
        *books.entry((holder, COINS.into())).or_default() += coins;
    }
}

fn bounded(content: &Content, record: &PlayerRecord) {
    assert!(record.coins <= u64::from(QUANTITY_MAX), "{}", record.coins);
    assert!(record.bank.items.len() <= BANK_SLOTS);
    for (item, there) in &record.bank.items {
        assert!(there.quantity <= QUANTITY_MAX && there.tab < BANK_TABS);
        let note = content.item(item).is_some_and(|kind| kind.is_note());
        assert!(!note, "{item} lies in the bank as a note");
    }
    let held = |place| record.equipment.get(&place).map(|stack| &*stack.item);
    let both = held(EquipSlot::Weapon) == Some("maul");
    assert!(!both || held(EquipSlot::Shield).is_none(), "three hands");
    for (slot, stack) in &record.equipment {
        let kind = content.item(&stack.item).unwrap();
        assert_eq!(kind.equip_slot, Some(*slot));
        assert!(stack.quantity == 1 || kind.stackable);
    }
    for (slot, stack) in &record.inventory {
        let most = if content.stackable(&stack.item) {
            QUANTITY_MAX
        } else {
            1
        };
        assert!(
            *slot < SLOTS && (1..=most).contains(&stack.quantity),
            "{slot} {stack:?}"
        );
    }
}
