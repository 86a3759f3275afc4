//! The store of the model: it judges batches as the real one does, and fences whom it takes for
//! dead.

/// Runs are numbered from 1; 0 is nobody.
pub(super) type RunId = u8;
pub(super) type At = u8;
/// The owner of a region that no run has.
pub(super) const NOBODY: RunId = 0;

/// Content of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Flight {
    pub(super) number: u64,
    /// Region and sequence of the player in the writer's opinion.
    pub(super) row: Option<(At, u64)>,
    /// To a region, at the epoch at which its owner has it; 0: it is the writer's own.
    pub(super) transfer: Option<(At, u64)>,
    /// Regions, with the epochs at which the writer owns them, and who gets them.
    pub(super) gives: Vec<(At, u64, RunId)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Outcome {
    Done,
    Fenced,
    Refused,
    Stale { transfer: bool, gives: Vec<At> },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Store {
    /// By region: its owner, and the owner's epoch.
    pub(super) owners: [(RunId, u64); 2],
    /// Regions that nobody may play until the operator resumes them.
    pub(super) paused: [bool; 2],
    /// Region and sequence of the player.
    pub(super) player: (At, u64),
    pub(super) fenced: Vec<RunId>,
    applied: Vec<u64>,
    /// By sequence: to whom the store gave the player.
    pub(super) granted: Vec<RunId>,
}

impl Store {
    pub(super) fn new(runs: usize, owners: [(RunId, u64); 2]) -> Store {
        Store {
            owners,
            paused: [false; 2],
            player: (0, 1),
            fenced: Vec::new(),
            applied: vec![0; runs + 1],
            granted: vec![0, owners[0].0],
        }
    }

    pub(super) fn alive(&self, run: RunId) -> bool {
        !self.fenced.contains(&run)
    }

    pub(super) fn owner(&self) -> RunId {
        self.owners[self.player.0 as usize].0
    }

    fn goes_on(&mut self) {
        self.player.1 += 1;
        self.granted.push(self.owner());
    }

    pub(super) fn commit(&mut self, run: RunId, batch: &Flight) -> Outcome {
        if !self.alive(run) {
            return Outcome::Fenced;
        }
        if batch.number <= self.applied[run as usize] {
            return Outcome::Done;
        }
        if let Some((region, sequence)) = batch.row {
            let mine = self.owners[region as usize].0 == run;
            if !mine || self.player != (region, sequence) {
                return Outcome::Refused;
            }
        }
        let stale = |(region, epoch): &(At, u64)| match epoch {
            0 => self.owners[*region as usize].0 != run,
            epoch => {
                let (run, of) = self.owners[*region as usize];
                of != *epoch || run == NOBODY
            }
        };
        let transfer = batch.transfer.as_ref().is_some_and(stale);
        let gives = batch.gives.iter().filter(|(region, epoch, to)| {
            self.owners[*region as usize] != (run, *epoch) || !self.takes(*to, *region)
        });
        let gives: Vec<At> = gives.map(|(region, ..)| *region).collect();
        if transfer || !gives.is_empty() {
            return Outcome::Stale { transfer, gives };
        }
        self.applied[run as usize] = batch.number;
        if let Some((region, epoch)) = batch.transfer {
            self.player.0 = region;
            if epoch > 0 {
                self.goes_on();
            }
        }
        for (region, epoch, to) in &batch.gives {
            self.change_owner(*region, *to, *epoch);
        }
        Outcome::Done
    }

    fn change_owner(&mut self, region: At, to: RunId, epoch: u64) {
        self.owners[region as usize] = (to, epoch + 1);
        if self.player.0 == region {
            self.goes_on();
        }
    }

    /// Returns whether a run, or nobody, may get a region.
    fn takes(&self, to: RunId, region: At) -> bool {
        match to {
            NOBODY => self.paused[region as usize],
            run => self.alive(run),
        }
    }

    /// Returns whether a region waits for an owner.
    pub(super) fn lacks_owner(&self, region: At) -> bool {
        let (run, _) = self.owners[region as usize];
        run == NOBODY && !self.paused[region as usize]
    }

    /// Gives a region of nobody to a run.
    pub(super) fn assign(&mut self, region: At, to: RunId) {
        let (_, epoch) = self.owners[region as usize];
        self.change_owner(region, to, epoch);
    }

    /// Fences a run and gives its regions and player to another. Its paused regions become nobody's.
    pub(super) fn take_over(&mut self, dead: RunId, by: RunId) {
        self.fenced.push(dead);
        self.fenced.sort_unstable();
        for region in 0..2 {
            let (run, epoch) = self.owners[region as usize];
            if run == dead {
                let paused = self.paused[region as usize];
                self.change_owner(region, if paused { NOBODY } else { by }, epoch);
            }
        }
    }
}
