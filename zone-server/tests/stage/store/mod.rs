//! A store that pretends: keeps rows in memory, checks as the real one does, and fails at the
//! test's word.

mod service;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{SystemTime, UNIX_EPOCH},
};

use proto::rpc::{
    agents::v1::{Orders, Report, agents_server::AgentsServer},
    common::v1 as common,
    persistence::v1::{directory_server::DirectoryServer, runs_server::RunsServer, *},
};
use tokio::{net::TcpListener, sync::watch};
use world::Region;

/// Number that only a newer store knows.
const NEWER: i32 = 1_000_000;

/// A character as the store has it.
#[derive(Debug, Clone)]
pub struct Character {
    pub record: CharacterRecord,
    pub online: bool,
    pub logout: Option<String>,
}

/// Faults that the test asks for.
#[derive(Debug, Default)]
pub struct Faults {
    /// Number of next commits that the store applies without an answer.
    pub replies_lost: u32,
    /// Number of next commits with transfers that the store refuses as stale.
    pub stale: u32,
    /// Number of next commits with gives that the store refuses as stale.
    pub stale_gives: u32,
    /// Hold on requests for characters: the store reads none while it is set.
    pub characters_held: bool,
    /// Delay of characters' rows: the store reads them at once, and sends them when this ends.
    pub characters_late: bool,
    /// Hold on requests for regions: the store loads none while it is set.
    pub regions_held: bool,
    /// Hold on commits: the store looks at none while it is set.
    pub commits_held: bool,
    /// Character for which the store refuses the next batch with a row of it.
    pub refused: Option<String>,
    /// Number of next commits that the store applies, and answers with an outcome that only a newer
    /// one knows.
    pub newer_outcomes: u32,
    /// States of runs that live are told by a number that only a newer store knows.
    pub newer_states: bool,
    /// The store is of the release before, which knows no rows of positions.
    pub no_positions: bool,
    /// The store says that it knows rows of positions, although it does not.
    pub boasts: bool,
    /// By run: the clock that it is shown at renewals is so many milliseconds ahead.
    pub clock_ahead_ms: BTreeMap<u64, u64>,
}

#[derive(Debug, Default)]
pub struct State {
    pub runs: BTreeMap<u64, String>,
    /// The hash of what a run plays, where it said so.
    pub contents: BTreeMap<u64, String>,
    /// The items of which a run told.
    pub items: BTreeMap<u64, Vec<String>>,
    pub fenced: Vec<u64>,
    pub released: Vec<u64>,
    pub owners: BTreeMap<Region, (u64, u64)>,
    pub characters: BTreeMap<String, Character>,
    pub applied: BTreeMap<u64, u64>,
    /// Every batch as it came: its run, its sequence, its rows.
    pub batches: Vec<(u64, u64, Vec<CharacterRow>)>,
    /// All rows of every batch that was applied, in order.
    pub kept: Vec<Rows>,
    /// Number of times that a copy of this store has taken its place.
    pub promotions: u64,
    pub transfers: u64,
    /// Regions that were given to another run, in order.
    pub gives: Vec<(Region, u64, u64)>,
    /// Runs that give their regions away.
    pub draining: Vec<u64>,
    /// By region: the run to which its owner should give it.
    pub wanted: BTreeMap<Region, u64>,
    /// Runs that ended by a fault, with their regions and characters.
    pub ended: Vec<EndedRequest>,
    /// Runs that a witness takes for dead, and the witness.
    pub suspects: Vec<(u64, String)>,
    /// The last tick of which a batch of the region's owner was applied.
    pub played: BTreeMap<Region, u64>,
    pub ground: BTreeMap<String, GroundItem>,
    /// Persistent objects of chunks, by place.
    pub chunks: BTreeMap<(i32, i32), ChunkRow>,
    /// State of each region as its owner saved it last.
    pub states: BTreeMap<Region, bytes::Bytes>,
    pub problems: Vec<String>,
    /// Number of batches that a store of the release before took for ones that were cut off.
    pub cut_off: u64,
    /// Number of commits that came, also of those that the store has not looked at yet.
    pub commits_come: u64,
    /// Number of renewals that the store answered.
    pub renewals: u64,
    /// Number of zones' requests for a region.
    pub regions_asked: u64,
    /// The characters that zones asked for one by one.
    pub asked: Vec<String>,
    /// Orders of agents by character, their last version, and the zones' reports.
    pub agents: BTreeMap<String, Orders>,
    pub agents_version: u64,
    pub reports: Vec<Report>,
    pub faults: Faults,
}

/// The store; clones are the same one.
#[derive(Clone)]
pub struct Store {
    pub state: Arc<Mutex<State>>,
    version: Arc<watch::Sender<u64>>,
    pub address: String,
}

pub fn key(region: Option<common::Region>) -> Region {
    let at = region.unwrap();
    Region { x: at.x, z: at.z }
}

pub fn rpc(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis() as u64
}

impl Store {
    pub async fn start() -> Store {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let store = Store {
            state: Arc::default(),
            version: Arc::new(watch::channel(1).0),
            address: listener.local_addr().unwrap().to_string(),
        };
        let acceptor = service_runtime::rpc::Acceptor::default();
        let router = acceptor
            .server()
            .add_service(RunsServer::new(store.clone()))
            .add_service(AgentsServer::new(store.clone()))
            .add_service(DirectoryServer::new(store.clone()));
        let never = tokio_util::sync::CancellationToken::new();
        tokio::spawn(acceptor.serve(router, listener, never));
        store
    }

    /// Changes what the store holds, and tells everybody.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let out = change(&mut self.state.lock().unwrap());
        self.version.send_modify(|version| *version += 1);
        out
    }

    pub fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.lock().unwrap())
    }

    /// Returns the run that listens at an address.
    pub fn run_at(&self, address: &str) -> Option<u64> {
        self.read(|state| {
            let live = state
                .runs
                .iter()
                .filter(|(run, _)| !state.fenced.contains(run));
            live.filter(|(_, a)| *a == address)
                .map(|(run, _)| *run)
                .next_back()
        })
    }

    /// Gives a region to a run, at the next epoch.
    pub fn assign(&self, region: Region, run: u64) {
        self.change(|state| {
            let owner = state.owners.entry(region).or_default();
            *owner = (run, owner.1 + 1);
        });
    }

    /// Puts a character into the world, as a login does.
    pub fn log_in(&self, id: &str, at: world::Tile) {
        self.change(|state| {
            let record = CharacterRecord {
                id: id.to_owned(),
                account_id: format!("account-{id}"),
                name: id.to_owned(),
                region: Some(rpc(Region::from(at))),
                ownership_sequence: 1,
                session_epoch: 1,
                session_id: format!("session-{id}"),
                x: at.x,
                z: at.z,
                combat_level: 3,
                health: 10,
                placed: true,
                state: world::CharacterState::default().to_document().into(),
                ..CharacterRecord::default()
            };
            let character = Character {
                record,
                online: true,
                logout: None,
            };
            state.characters.insert(id.to_owned(), character);
        });
    }

    /// Gives a character the highest level in every skill, and that much health.
    pub fn master(&self, id: &str) {
        self.change(|state| {
            let record = &mut state.characters.get_mut(id).unwrap().record;
            let skills = world::Skill::ALL.iter().map(|skill| Skill {
                name: skill.name().to_owned(),
                level: 99,
                xp_tenths: 130_344_310,
            });
            record.skills = skills.collect();
            record.health = 99;
        });
    }

    fn directory_update(&self, version: u64) -> DirectoryUpdate {
        self.read(|state| DirectoryUpdate {
            version,
            incarnation: state.incarnation(),
            runs: state
                .runs
                .iter()
                .map(|(run, address)| Run {
                    run_id: *run,
                    address: address.clone(),
                    state: state.told_state(*run),
                    content_hash: state.contents.get(run).cloned().unwrap_or_default(),
                    ..Run::default()
                })
                .collect(),
            regions: state
                .owners
                .iter()
                .map(|(region, (run_id, epoch))| RegionOwner {
                    region: Some(rpc(*region)),
                    run_id: *run_id,
                    epoch: *epoch,
                    wanted_run_id: state.wanted.get(region).copied().unwrap_or(0),
                    paused: false,
                })
                .collect(),
            unchanged: false,
            frozen: false,
        })
    }
}

/// All rows of one batch.
#[derive(Debug, Default, Clone)]
pub struct Rows {
    /// Tick of the batch.
    pub tick: u64,
    pub characters: Vec<CharacterRow>,
    pub positions: Vec<PositionRow>,
    pub ground: Vec<GroundItem>,
    pub gone: Vec<GroundGone>,
    pub ledger: Vec<LedgerRow>,
    pub gives: Vec<RegionGive>,
    pub chunks: Vec<ChunkRow>,
    pub states: Vec<RegionState>,
}

impl Rows {
    fn add(&mut self, more: CommitRows) {
        self.characters.extend(more.characters);
        self.positions.extend(more.positions);
        self.ground.extend(more.ground);
        self.gone.extend(more.gone);
        self.ledger.extend(more.ledger);
        self.gives.extend(more.gives);
        self.chunks.extend(more.chunks);
        self.states.extend(more.states);
    }

    fn len(&self) -> usize {
        let things = self.ground.len() + self.gone.len() + self.ledger.len();
        let regions = self.gives.len() + self.chunks.len() + self.states.len();
        self.characters.len() + self.positions.len() + things + regions
    }
}

/// Returns what a row of a position says of the owner of the character.
fn claim(row: &PositionRow) -> CharacterRecord {
    CharacterRecord {
        id: row.id.clone(),
        region: row.region,
        ownership_sequence: row.ownership_sequence,
        ..CharacterRecord::default()
    }
}

impl State {
    fn incarnation(&self) -> u64 {
        1 + self.promotions
    }

    /// Returns whether it says that it knows rows of positions.
    fn says_positions(&self) -> bool {
        !self.faults.no_positions || self.faults.boasts
    }

    fn state_of(&self, run: u64) -> RunState {
        if self.fenced.contains(&run) {
            RunState::Fenced
        } else if self.draining.contains(&run) {
            RunState::Draining
        } else {
            RunState::Live
        }
    }

    /// Returns the state of a run as zones are told it.
    fn told_state(&self, run: u64) -> i32 {
        match self.state_of(run) {
            RunState::Live if self.faults.newer_states => NEWER,
            state => state.into(),
        }
    }

    fn give_is_stale(&self, run: u64, give: &RegionGive) -> bool {
        let owner = self.owners.get(&key(give.region));
        owner != Some(&(run, give.epoch))
            || self.state_of(give.to_run_id) != RunState::Live
            || !self.runs.contains_key(&give.to_run_id)
    }

    fn give(&mut self, run: u64, give: &RegionGive) {
        let region = key(give.region);
        self.owners.insert(region, (give.to_run_id, give.epoch + 1));
        self.gives.push((region, run, give.to_run_id));
        self.wanted.remove(&region);
        for character in self.characters.values_mut() {
            if character.online && key(character.record.region) == region {
                character.record.ownership_sequence += 1;
            }
        }
    }

    fn owned_by(&self, region: Region) -> u64 {
        self.owners.get(&region).map_or(0, |(run, _)| *run)
    }

    fn ownership(&self, character: &Character) -> CharacterOwnership {
        let region = key(character.record.region);
        CharacterOwnership {
            character_id: character.record.id.clone(),
            region: character.record.region,
            ownership_sequence: character.record.ownership_sequence,
            session_epoch: character.record.session_epoch,
            online: character.online,
            run_id: self.owned_by(region),
            region_epoch: self.owners.get(&region).map_or(0, |(_, epoch)| *epoch),
        }
    }

    fn check(&self, run: u64, record: &CharacterRecord) -> Result<(), String> {
        let held = self.characters.get(&record.id).ok_or("no such character")?;
        let wrong = |what: &str| Err(format!("{}: {what}", record.id));
        if !held.online {
            return wrong("offline");
        }
        if held.record.region != record.region {
            return wrong("another region");
        }
        if held.record.ownership_sequence != record.ownership_sequence {
            return wrong("another sequence");
        }
        if self.owned_by(key(record.region)) != run {
            return wrong("not the run's region");
        }
        Ok(())
    }

    /// Writes a row of a position, and nothing else of the character.
    fn stands(&mut self, row: &PositionRow) {
        let held = self.characters.get_mut(&row.id).unwrap();
        let record = &mut held.record;
        (record.x, record.y, record.z) = (row.x, row.y, row.z);
        record.health = row.health;
        record.region = row.to_region.or(record.region);
        if let Some(grown) = &row.agility {
            record.skills.retain(|skill| skill.name != "agility");
            record.skills.push(Skill {
                name: "agility".to_owned(),
                level: grown.level,
                xp_tenths: grown.xp_tenths,
            });
        }
    }

    fn stale(&self, run: u64, row: &CharacterRow) -> bool {
        row.transfer.as_ref().is_some_and(|transfer| {
            let (owner, epoch) = self.owners[&key(transfer.region)];
            match transfer.epoch {
                0 => owner != run,
                expected => epoch != expected,
            }
        })
    }

    fn apply(&mut self, row: CharacterRow) {
        let mut record = row.record.unwrap();
        if let Some(transfer) = row.transfer {
            if transfer.epoch != 0 {
                self.transfers += 1;
            }
            record.region = transfer.region;
            record.ownership_sequence = transfer.ownership_sequence;
        }
        let held = self.characters.get_mut(&record.id).unwrap();
        if let Some(logout) = row.logout {
            held.online = false;
            held.logout = Some(logout.reason);
        }
        // A row has of value only what changed.
        if !row.holdings {
            record.inventory.clone_from(&held.record.inventory);
            record.coins = held.record.coins;
        }
        if !row.worn {
            record.equipment.clone_from(&held.record.equipment);
        }
        if !row.staked {
            record.stakes.clone_from(&held.record.stakes);
        }
        for item in held.record.bank.drain(..) {
            if !record.bank.iter().any(|i| i.item_id == item.item_id) {
                record.bank.push(item);
            }
        }
        record.bank.retain(|item| !item.gone);
        if record.state.is_empty() {
            record.state.clone_from(&held.record.state);
        }
        for skill in held.record.skills.drain(..) {
            if !record.skills.iter().any(|s| s.name == skill.name) {
                record.skills.push(skill);
            }
        }
        held.record = record;
    }

    fn apply_all(
        &mut self,
        header: &CommitHeader,
        rows: Vec<CharacterRow>,
        ground: Vec<GroundItem>,
        gone: Vec<GroundGone>,
        gives: &[RegionGive],
    ) {
        let run = header.run_id;
        rows.into_iter().for_each(|row| self.apply(row));
        for thing in ground {
            self.ground.insert(thing.id.clone(), thing);
        }
        for gone in gone {
            self.ground.remove(&gone.id);
        }
        for (region, _) in self.owners.iter().filter(|(_, owner)| owner.0 == run) {
            self.played.insert(*region, header.tick);
        }
        for give in gives {
            self.give(run, give);
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm a concern")]
    fn commit(&mut self, header: &CommitHeader, all: Rows) -> CommitReply {
        let reply =
            |outcome: commit_reply::Outcome, ids: Vec<String>, detail: String| CommitReply {
                outcome: outcome.into(),
                character_ids: ids,
                detail,
                ..CommitReply::default()
            };
        let whole = Rows {
            tick: header.tick,
            ..all.clone()
        };
        let rows = all.characters;
        let run = header.run_id;
        self.batches.push((run, header.sequence, rows.clone()));
        if self.fenced.contains(&run) {
            return reply(commit_reply::Outcome::Fenced, Vec::new(), String::new());
        }
        let last = self.applied.get(&run).copied().unwrap_or(0);
        if header.sequence <= last {
            return reply(commit_reply::Outcome::Done, Vec::new(), String::new());
        }
        let claims = rows.iter().filter_map(|row| row.record.clone());
        let claims: Vec<_> = claims.chain(all.positions.iter().map(claim)).collect();
        for record in &claims {
            if let Err(why) = self.check(run, record) {
                self.problems.push(why.clone());
                return reply(commit_reply::Outcome::Refused, vec![record.id.clone()], why);
            }
        }
        let named = |row: &CharacterRow| row.record.as_ref().map(|record| record.id.clone());
        let there: Vec<String> = rows.iter().filter_map(named).collect();
        if let Some(who) = self.faults.refused.take_if(|who| there.contains(who)) {
            let why = "it does not fit".to_owned();
            return reply(commit_reply::Outcome::Refused, vec![who], why);
        }
        let mut stale: Vec<String> = rows
            .iter()
            .filter(|row| self.stale(run, row))
            .map(|row| row.record.as_ref().unwrap().id.clone())
            .collect();
        if self.faults.stale > 0 && rows.iter().any(|row| row.transfer.is_some()) {
            self.faults.stale -= 1;
            let going = rows.iter().filter(|row| row.transfer.is_some());
            stale = going
                .map(|row| row.record.as_ref().unwrap().id.clone())
                .collect();
        }
        let parts = |row: &&PositionRow| {
            let to = row.to_region.map(|region| self.owned_by(key(Some(region))));
            to.is_some_and(|owner| owner != run)
        };
        stale.extend(all.positions.iter().filter(parts).map(|row| row.id.clone()));
        let forced = self.faults.stale_gives > 0 && !all.gives.is_empty();
        self.faults.stale_gives -= u32::from(forced);
        let stale_gives = all.gives.iter();
        let stale_gives: Vec<common::Region> = stale_gives
            .filter(|give| forced || self.give_is_stale(run, give))
            .filter_map(|give| give.region)
            .collect();
        if !stale.is_empty() || !stale_gives.is_empty() {
            let stale = reply(commit_reply::Outcome::TransferStale, stale, String::new());
            return CommitReply {
                regions: stale_gives,
                ..stale
            };
        }
        let owned = |row: &RegionState| {
            let owner = self.owners.get(&key(row.region));
            owner == Some(&(run, row.epoch))
        };
        if !all.states.iter().all(owned) {
            let why = "a state of another's region".to_owned();
            self.problems.push(why.clone());
            return reply(commit_reply::Outcome::Refused, Vec::new(), why);
        }
        for row in all.states {
            self.states.insert(key(row.region), row.state);
        }
        for row in all.chunks {
            let at = row.chunk.unwrap_or_default();
            self.chunks.insert((at.x, at.z), row);
        }
        all.positions.iter().for_each(|row| self.stands(row));
        self.apply_all(header, rows, all.ground, all.gone, &all.gives);
        self.kept.push(whole);
        self.applied.insert(run, header.sequence);
        reply(commit_reply::Outcome::Done, Vec::new(), String::new())
    }
}
