//! Everybody gets on after the faults have stopped: the player is played again, or rests in a paused region.

use crate::{
    Cosmos, MOMENTS, Step,
    store::{NOBODY, RunId},
    zone::{Stage, Zone},
};

/// Rounds after which everything is settled when faults have stopped.
const SETTLED_WITHIN: usize = 12;

impl Cosmos {
    /// Faults stop and everybody gets on: whether the player is played then, and nothing is
    /// between two owners any more. Paused regions are first nobody's, and then resumed.
    pub(super) fn settles(&self) -> bool {
        let mut cosmos = self.clone();
        cosmos.left.losses = u8::MAX;
        cosmos.left.suspicions = 0;
        if cosmos.store.paused != [false; 2] {
            if !cosmos.comes_to(Cosmos::rests) {
                return false;
            }
            cosmos.store.paused = [false; 2];
        }
        if cosmos.net.is_empty() && cosmos.settled() {
            return true;
        }
        cosmos.comes_to(Cosmos::settled)
    }

    /// Lets rounds pass until it is so. Returns whether it was in time.
    fn comes_to(&mut self, so: impl Fn(&Cosmos) -> bool) -> bool {
        (0..SETTLED_WITHIN).any(|_| {
            self.round();
            so(self)
        })
    }

    /// Returns whether every paused region is nobody's, and everything else is settled.
    fn rests(&self) -> bool {
        let paused = (0..2).filter(|region| self.store.paused[*region]);
        let mut left = paused.map(|region| {
            let held = self.live().any(|zone| zone.held[region] > 0);
            self.store.owners[region].0 == NOBODY && !held
        });
        let played = match self.store.owner() {
            NOBODY => self.live().all(|zone| zone.calm() && zone.slot.is_none()),
            _ => self.settled(),
        };
        left.all(|left| left) && played
    }

    /// Lets everything that waits happen, and everybody play a tick.
    fn round(&mut self) {
        let mut takeovers = Vec::new();
        self.takeovers(&mut takeovers);
        if let Some(step) = takeovers.into_iter().next() {
            self.take(step);
        }
        for region in 0..2 {
            let mut assignments = Vec::new();
            self.assignments(&mut assignments);
            let own =
                |step: &Step| matches!(step, Step::Assign { region: of, .. } if *of == region);
            if let Some(step) = assignments.into_iter().find(own) {
                self.take(step);
            }
        }
        for run in 1..=self.zones.len() as RunId {
            if self.zone(run).up {
                self.take(Step::Learn(run));
            }
            if self.zone(run).up && self.zone(run).knows_nobody() {
                self.take(Step::LookAround(run));
            }
        }
        for now in MOMENTS {
            for run in 1..=self.zones.len() as RunId {
                // Or a late edge would end what another has just asked.
                self.quiet();
                if self.zone(run).up {
                    self.take(Step::Edge { run, now });
                }
            }
        }
        self.quiet();
        for run in 1..=self.zones.len() as RunId {
            if self.zone(run).up {
                self.zone(run).deadlines();
            }
        }
    }

    fn quiet(&mut self) {
        for _ in 0..100 {
            if let Some((to, word)) = self.net.first().cloned() {
                let again = false;
                self.take(Step::Deliver { to, word, again });
                continue;
            }
            let flying = self.live().find(|zone| zone.flight.is_some());
            let Some(run) = flying.map(|zone| zone.id) else {
                return;
            };
            self.take(Step::Commit { run, lost: false });
        }
    }

    fn settled(&self) -> bool {
        let (region, sequence) = self.store.player;
        let epoch = self.store.owners[region as usize].1;
        let plays = |zone: &&Zone| {
            zone.slot.as_ref().is_some_and(|slot| {
                let here = zone.held[region as usize] == epoch && slot.stage == Stage::Playing;
                here && (slot.region, slot.sequence) == (region, sequence)
            })
        };
        let playing: Vec<RunId> = self.live().filter(plays).map(|zone| zone.id).collect();
        playing == [self.store.owner()]
            && self.live().all(Zone::calm)
            && self.live().filter(|zone| zone.slot.is_some()).count() == 1
    }
}
