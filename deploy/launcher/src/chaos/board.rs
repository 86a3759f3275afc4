//! The supervisor's knowledge: the processes, the owner of each region, and the recovery from each
//! fault. Pure: it takes the time from its caller.
//!
//! Always: a region counts as owned while a run of the directory has it whose process is whole. A
//! fault ends the ownership of its process at the moment when it begins.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use gateway::chaos::{Condition, Fault, FaultKind, FaultOrder, Sight, Supervised, Taken};
use proto::rpc::persistence::v1::{DirectoryUpdate, RunState};
use tokio::time::Instant;

/// Reason why a fault is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is no such process.
    Unknown,
    /// It cannot be done now.
    Busy(String),
}

/// Faults that the board remembers.
const FAULTS_MAX: usize = 20;
/// Run id of nobody.
const NOBODY: u64 = 0;

/// Place of a region.
type Place = (i32, i32);

/// Locks a board.
pub(super) fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The supervisor's knowledge.
pub(super) struct Board {
    processes: Vec<Process>,
    /// Address of each run that lives by the directory.
    runs: BTreeMap<u64, String>,
    owners: BTreeMap<Place, u64>,
    /// Newest first.
    faults: VecDeque<Ongoing>,
    last_id: u64,
}

struct Process {
    name: String,
    address: String,
    condition: Condition,
}

/// A fault from its beginning on.
struct Ongoing {
    process: usize,
    /// The run that the process played; 0: none.
    run: u64,
    began: Instant,
    /// Regions that have no living owner yet.
    waiting: BTreeSet<Place>,
    told: Fault,
}

impl Ongoing {
    fn age_ms(&self, now: Instant) -> u64 {
        let age = now.saturating_duration_since(self.began);
        u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns whether the process plays again.
    fn is_over(&self) -> bool {
        self.told.lasted_ms.is_some() && self.told.replaced_by.is_some()
    }
}

impl Board {
    /// Begins with processes by name and address, none of which runs yet.
    pub(super) fn new(processes: &[(String, SocketAddr)]) -> Self {
        let process = |(name, address): &(String, SocketAddr)| Process {
            name: name.clone(),
            address: address.to_string(),
            condition: Condition::Down,
        };
        Self {
            processes: processes.iter().map(process).collect(),
            runs: BTreeMap::new(),
            owners: BTreeMap::new(),
            faults: VecDeque::new(),
            last_id: 0,
        }
    }

    /// Notes that a process runs.
    pub(super) fn up(&mut self, process: usize) {
        self.processes[process].condition = Condition::Up;
    }

    /// Notes that a process ended.
    pub(super) fn down(&mut self, process: usize) {
        self.processes[process].condition = Condition::Down;
    }

    /// Begins a fault. Returns the number of its process, and the fault.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        order: &FaultOrder,
    ) -> Result<(usize, Fault), Refused> {
        let named = |process: &Process| process.name == order.process;
        let index = self.processes.iter().position(named);
        let index = index.ok_or(Refused::Unknown)?;
        let broken = self
            .faults
            .iter()
            .any(|f| f.process == index && !f.is_over());
        if broken || self.processes[index].condition != Condition::Up {
            let why = format!("{} is not whole; wait until it is.", order.process);
            return Err(Refused::Busy(why));
        }
        self.processes[index].condition = match order.fault {
            FaultKind::Kill => Condition::Down,
            FaultKind::Freeze => Condition::Frozen,
            FaultKind::CutOff => Condition::CutOff,
        };
        let run = self.played_by(index);
        let of_run = |(_, owner): &(&Place, &u64)| run != NOBODY && **owner == run;
        let waiting: BTreeSet<Place> = self
            .owners
            .iter()
            .filter(of_run)
            .map(|(at, _)| *at)
            .collect();
        self.last_id += 1;
        let told = Fault {
            id: self.last_id,
            process: order.process.clone(),
            fault: order.fault,
            seconds: order.seconds,
            age_ms: 0,
            zone: shown(run),
            regions: waiting.len(),
            unowned: waiting.len(),
            unowned_ms: waiting.is_empty().then_some(0),
            taken: Vec::new(),
            replaced_by: None,
            lasted_ms: None,
        };
        self.faults.truncate(FAULTS_MAX - 1);
        self.faults.push_front(Ongoing {
            process: index,
            run,
            began: now,
            waiting,
            told: told.clone(),
        });
        Ok((index, told))
    }

    /// Notes the end of a fault whose process lived on. The process may have ended by itself meanwhile.
    pub(super) fn mended(&mut self, now: Instant, id: u64) {
        let Some(fault) = self.faults.iter_mut().find(|fault| fault.told.id == id) else {
            return;
        };
        fault.told.lasted_ms = Some(fault.age_ms(now));
        let condition = &mut self.processes[fault.process].condition;
        if *condition != Condition::Down {
            *condition = Condition::Up;
        }
    }

    /// Takes in a version of the directory, or its sign of life.
    pub(super) fn learn(&mut self, now: Instant, update: &DirectoryUpdate) {
        if !update.unchanged {
            let living = update
                .runs
                .iter()
                .filter(|run| run.state() != RunState::Fenced);
            self.runs = living
                .map(|run| (run.run_id, run.address.clone()))
                .collect();
            let owners = update.regions.iter().filter_map(|owner| {
                let at = owner.region.as_ref()?;
                Some(((at.x, at.z), owner.run_id))
            });
            self.owners = owners.collect();
        }
        let mut faults = std::mem::take(&mut self.faults);
        let mut later = BTreeSet::new();
        for fault in &mut faults {
            // What a process plays now is a matter of its last fault.
            if later.insert(fault.process) {
                self.follow(now, fault);
            }
            self.settle(now, fault);
        }
        self.faults = faults;
    }

    /// Notes the run that the broken process plays after the fault.
    fn follow(&self, now: Instant, fault: &mut Ongoing) {
        let run = self.played_by(fault.process);
        match fault.told.fault {
            FaultKind::Kill if run > fault.run => {
                let age = fault.age_ms(now);
                fault.told.lasted_ms.get_or_insert(age);
                fault.told.replaced_by = shown(run);
            }
            FaultKind::Freeze | FaultKind::CutOff if fault.told.lasted_ms.is_some() => {
                fault.told.replaced_by = shown(run);
            }
            FaultKind::Kill | FaultKind::Freeze | FaultKind::CutOff => {}
        }
    }

    /// Notes the regions that have a living owner again.
    fn settle(&self, now: Instant, fault: &mut Ongoing) {
        let mut taken: BTreeMap<u64, usize> = BTreeMap::new();
        fault.waiting.retain(|at| {
            let run = self.owners.get(at).copied().unwrap_or(NOBODY);
            let owned = self.is_whole(run) && (run != fault.run || fault.told.lasted_ms.is_some());
            if owned {
                *taken.entry(run).or_default() += 1;
            }
            !owned
        });
        for (run, regions) in taken {
            // The run that kept its regions plays them from the end of the fault on.
            let kept = fault.told.lasted_ms.filter(|_| run == fault.run);
            fault.told.taken.push(Taken {
                after_ms: kept.unwrap_or_else(|| fault.age_ms(now)),
                zone: run.to_string(),
                regions,
            });
        }
        fault.told.unowned = fault.waiting.len();
        if fault.waiting.is_empty() && fault.told.unowned_ms.is_none() {
            fault.told.unowned_ms = fault.told.taken.iter().map(|taken| taken.after_ms).max();
        }
    }

    /// Returns whether a run lives, and no fault keeps it from playing.
    fn is_whole(&self, run: u64) -> bool {
        let Some(address) = self.runs.get(&run) else {
            return false;
        };
        let whole = |process: &Process| process.condition == Condition::Up;
        let process = self.processes.iter().find(|one| one.address == *address);
        process.is_none_or(whole)
    }

    /// Returns the newest run of a process; 0: none.
    fn played_by(&self, process: usize) -> u64 {
        let address = &self.processes[process].address;
        let own = self.runs.iter().filter(|(_, at)| *at == address);
        own.map(|(run, _)| *run).max().unwrap_or(NOBODY)
    }

    /// Returns all that operators may know.
    pub(super) fn sight(&self, now: Instant) -> Sight {
        let process = |(index, process): (usize, &Process)| Supervised {
            name: process.name.clone(),
            address: process.address.clone(),
            zone: shown(self.played_by(index)),
            condition: process.condition,
        };
        let fault = |fault: &Ongoing| Fault {
            age_ms: fault.age_ms(now),
            ..fault.told.clone()
        };
        Sight {
            processes: self.processes.iter().enumerate().map(process).collect(),
            faults: self.faults.iter().map(fault).collect(),
        }
    }
}

fn shown(run: u64) -> Option<String> {
    (run != NOBODY).then(|| run.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proto::rpc::{
        common::v1::Region,
        persistence::v1::{RegionOwner, Run},
    };

    use super::*;

    /// Two processes, of which the first plays run 1 and the second run 2.
    struct Stage {
        board: Board,
        begun: Instant,
    }

    fn name(process: u16) -> (String, SocketAddr) {
        let address = SocketAddr::from(([127, 0, 0, 1], 5700 + process));
        (format!("zone-server {process}"), address)
    }

    impl Stage {
        fn new() -> Self {
            let mut board = Board::new(&[name(1), name(2)]);
            board.up(0);
            board.up(1);
            let mut stage = Self {
                board,
                begun: Instant::now(),
            };
            stage.directory(0, &[(1, 1), (2, 2)], &[1, 1, 2]);
            stage
        }

        fn at(&self, ms: u64) -> Instant {
            self.begun + Duration::from_millis(ms)
        }

        /// Tells of runs by id and process, and of the owner of each region.
        fn directory(&mut self, ms: u64, runs: &[(u64, u16)], owners: &[u64]) {
            let run = |(run_id, process): &(u64, u16)| Run {
                run_id: *run_id,
                address: name(*process).1.to_string(),
                ..Run::default()
            };
            let owner = |(x, run_id): (i32, &u64)| RegionOwner {
                region: Some(Region { x, z: 0 }),
                run_id: *run_id,
                ..RegionOwner::default()
            };
            let update = DirectoryUpdate {
                runs: runs.iter().map(run).collect(),
                regions: (0..).zip(owners).map(owner).collect(),
                ..DirectoryUpdate::default()
            };
            self.board.learn(self.at(ms), &update);
        }

        fn breaks(&mut self, ms: u64, fault: FaultKind) -> Result<(usize, Fault), Refused> {
            let order = FaultOrder {
                process: name(1).0,
                fault,
                seconds: 3,
            };
            self.board.begin(self.at(ms), &order)
        }

        fn fault(&self, ms: u64) -> Fault {
            self.board.sight(self.at(ms)).faults[0].clone()
        }
    }

    fn taken(fault: &Fault) -> Vec<(u64, &str, usize)> {
        let row = |taken: &'_ Taken| (taken.after_ms, taken.regions);
        let zones = fault.taken.iter().map(|taken| taken.zone.as_str());
        let rows = fault.taken.iter().map(row).zip(zones);
        rows.map(|((after, regions), zone)| (after, zone, regions))
            .collect()
    }

    #[test]
    fn regions_of_a_killed_zone_are_counted_until_the_last_has_another_owner() {
        let mut stage = Stage::new();
        let (index, fault) = stage.breaks(100, FaultKind::Kill).unwrap();
        assert_eq!(
            (index, fault.regions, fault.zone.as_deref()),
            (0, 2, Some("1"))
        );
        // The directory still names the dead.
        stage.directory(200, &[(1, 1), (2, 2)], &[1, 1, 2]);
        stage.board.down(0);
        assert_eq!(stage.fault(300).unowned, 2);
        stage.directory(900, &[(2, 2)], &[2, 0, 2]);
        let fault = stage.fault(950);
        assert_eq!(
            (fault.unowned, fault.unowned_ms, fault.age_ms),
            (1, None, 850)
        );
        stage.directory(1000, &[(2, 2)], &[2, 2, 2]);
        stage.board.up(0);
        stage.directory(3200, &[(2, 2), (3, 1)], &[2, 2, 2]);
        let fault = stage.fault(4000);
        assert_eq!((fault.unowned, fault.unowned_ms), (0, Some(900)));
        assert_eq!(taken(&fault), [(800, "2", 1), (900, "2", 1)]);
        assert_eq!(
            (fault.replaced_by.as_deref(), fault.lasted_ms),
            (Some("3"), Some(3100))
        );
    }

    #[test]
    fn a_zone_that_stood_still_for_a_moment_keeps_its_regions() {
        let mut stage = Stage::new();
        let (_, fault) = stage.breaks(0, FaultKind::Freeze).unwrap();
        stage.board.mended(stage.at(1000), fault.id);
        stage.directory(1400, &[(1, 1), (2, 2)], &[1, 1, 2]);
        let fault = stage.fault(2000);
        assert_eq!(taken(&fault), [(1000, "1", 2)]);
        assert_eq!(
            (fault.unowned_ms, fault.replaced_by.as_deref()),
            (Some(1000), Some("1"))
        );
        assert_eq!(
            stage.board.sight(stage.at(0)).processes[0].condition,
            Condition::Up
        );
    }

    #[test]
    fn what_a_frozen_zone_is_given_has_no_living_owner() {
        let mut stage = Stage::new();
        stage.breaks(0, FaultKind::CutOff).unwrap();
        let order = FaultOrder {
            process: name(2).0,
            fault: FaultKind::Freeze,
            seconds: 3,
        };
        stage.board.begin(stage.at(10), &order).unwrap();
        stage.directory(900, &[(2, 2)], &[2, 2, 2]);
        let sight = stage.board.sight(stage.at(1000));
        let unowned: Vec<usize> = sight.faults.iter().map(|fault| fault.unowned).collect();
        assert_eq!(unowned, [1, 2]);
    }

    #[test]
    fn a_process_has_one_fault_at_a_time_and_must_be_known() {
        let mut stage = Stage::new();
        stage.breaks(0, FaultKind::Freeze).unwrap();
        assert!(matches!(
            stage.breaks(10, FaultKind::Kill),
            Err(Refused::Busy(_))
        ));
        let nobody = FaultOrder {
            process: "gateway 1".to_owned(),
            fault: FaultKind::Kill,
            seconds: 3,
        };
        let refused = stage.board.begin(stage.begun, &nobody);
        assert_eq!(refused.err(), Some(Refused::Unknown));
    }
}
