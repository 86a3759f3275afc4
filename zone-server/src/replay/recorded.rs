//! The world of a run, with a record of each change before it happens.
//!
//! Always: nobody changes the world but through here; a run that keeps no record pays nothing.

use std::ops::Deref;

use world::{
    CharacterId, GroundItem, Inbox, Outcome, PersistentObjects, PhaseClock, PlayerHot,
    PlayerRecord, Region, Tick, Tile, Unreadable, World,
};

use super::{
    change::{Blob, Change, digest},
    order::Order,
    recorder::{Kept, Ordered, Recorder},
};

/// A world and the record of its inputs.
pub(crate) struct Recorded {
    world: World,
    recorder: Option<Recorder>,
    /// A record that somebody waits for, from its first picture on.
    ordered: Option<(Order, Option<Ordered>)>,
    /// Whether the record notes the regions' hash after each tick.
    checks: bool,
}

impl Deref for Recorded {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Recorded {
    /// Returns a world without regions; without a recorder it keeps no record.
    pub(crate) fn new(world: World, recorder: Option<Recorder>, checks: bool) -> Self {
        Self {
            world,
            recorder,
            ordered: None,
            checks,
        }
    }

    /// Returns whether anybody remembers changes just now.
    fn remembers(&self) -> bool {
        let ordered = matches!(self.ordered, Some((_, Some(_))));
        self.recorder.is_some() || ordered
    }

    fn note(&mut self, change: impl FnOnce() -> Change) {
        if self.remembers() {
            self.remember(&change());
        }
    }

    fn remember(&mut self, change: &Change) {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(change);
        }
        if let Some((_, Some(ordered))) = &mut self.ordered {
            ordered.note(change);
        }
    }

    /// Begins a record after the next tick. Refuses while somebody waits for another one.
    pub(crate) fn order(&mut self, order: Order) {
        match &self.ordered {
            // The asker may be gone.
            Some((waits, _)) if !waits.is_given_up() => order.refuse(),
            _ => self.ordered = Some((order, None)),
        }
    }

    /// After a tick: begins the record that somebody ordered, or returns it when it is done.
    pub(crate) fn ordered(&mut self) -> Option<(Order, Kept)> {
        let now = self.world.now();
        let (order, ordered) = self.ordered.take()?;
        match ordered {
            Some(ordered) if ordered.over(now.0) => return Some((order, ordered.into_kept())),
            Some(ordered) => self.ordered = Some((order, Some(ordered))),
            None => {
                let begun = Ordered::begin(now.0, pictures(&self.world), order.ticks);
                self.ordered = Some((order, Some(begun)));
            }
        }
        None
    }

    /// Records and calls [`World::region_in`].
    pub(crate) fn region_in(
        &mut self,
        region: Region,
        now: Tick,
        state: Option<&[u8]>,
    ) -> Result<(), Unreadable> {
        self.note(|| Change::RegionIn {
            region,
            now,
            state: state.map(|bytes| Blob(bytes.to_vec())),
        });
        self.world.region_in(region, now, state)
    }

    /// Records and calls [`World::region_saved_in`].
    pub(crate) fn region_saved_in(
        &mut self,
        region: Region,
        now: Tick,
        played: Tick,
        saved: &[u8],
    ) -> Result<Vec<String>, Unreadable> {
        self.note(|| Change::RegionSavedIn {
            region,
            now,
            played,
            saved: Blob(saved.to_vec()),
        });
        self.world.region_saved_in(region, now, played, saved)
    }

    /// Records and calls [`World::ground_in`].
    pub(crate) fn ground_in(
        &mut self,
        region: Region,
        played: Tick,
        items: Vec<GroundItem>,
    ) -> bool {
        self.note(|| Change::GroundIn {
            region,
            played,
            items: items.clone(),
        });
        self.world.ground_in(region, played, items)
    }

    /// Records and calls [`World::persistent_objects_in`].
    pub(crate) fn persistent_objects_in(
        &mut self,
        region: Region,
        played: Tick,
        all: Vec<PersistentObjects>,
    ) -> bool {
        self.note(|| Change::PersistentObjectsIn {
            region,
            played,
            all: all.clone(),
        });
        self.world.persistent_objects_in(region, played, all)
    }

    /// Records and calls [`World::call_off`].
    pub(crate) fn call_off(&mut self, who: &CharacterId) -> bool {
        self.note(|| Change::CallOff { who: who.clone() });
        self.world.call_off(who)
    }

    /// Records and calls [`World::region_out`].
    pub(crate) fn region_out(&mut self, region: Region) -> Option<Vec<u8>> {
        self.note(|| Change::RegionOut { region });
        self.world.region_out(region)
    }

    /// Records and calls [`World::leave`].
    pub(crate) fn leave(&mut self, who: &CharacterId) -> Option<(PlayerRecord, PlayerHot)> {
        self.note(|| Change::Leave { who: who.clone() });
        self.world.leave(who)
    }

    /// Records and calls [`World::hold`].
    pub(crate) fn hold(&mut self, who: &CharacterId, held: bool) -> bool {
        self.note(|| Change::Hold {
            who: who.clone(),
            held,
        });
        self.world.hold(who, held)
    }

    /// Records and calls [`World::set_region`].
    pub(crate) fn set_region(&mut self, who: &CharacterId, region: Region) -> bool {
        self.note(|| Change::SetRegion {
            who: who.clone(),
            region,
        });
        self.world.set_region(who, region)
    }

    /// Records and calls [`World::regain`].
    pub(crate) fn regain(&mut self, who: &CharacterId, tile: Tile, steps_max: u32) -> bool {
        self.note(|| Change::Regain {
            who: who.clone(),
            tile,
            steps_max,
        });
        self.world.regain(who, tile, steps_max)
    }

    /// Records and calls [`World::tick`].
    pub(crate) fn tick(
        &mut self,
        now: Tick,
        mut inbox: Inbox,
        phases: &mut dyn PhaseClock,
    ) -> Outcome {
        if self.remembers() {
            let change = Change::Tick { now, inbox };
            self.remember(&change);
            // This function has just put the inbox into the change.
            inbox = match change {
                Change::Tick { inbox, .. } => inbox,
                _ => Inbox::default(),
            };
        }
        let outcome = self.world.tick(now, inbox, phases);
        if self.checks {
            let digest = digest(&self.world);
            self.note(|| Change::Check { digest });
        }
        outcome
    }

    /// Takes a picture of all regions after a tick, when it is time for one.
    pub(crate) fn picture(&mut self) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let now = self.world.now();
        if !recorder.due(now.0) {
            return;
        }
        recorder.picture(now.0, pictures(&self.world));
    }

    /// Returns the record, and keeps nothing from now on. `None`: there is none.
    pub(crate) fn take(&mut self) -> Option<Kept> {
        self.recorder.take().map(Recorder::into_kept)
    }
}

/// Returns all regions of a world, as changes that bring them in.
fn pictures(world: &World) -> impl Iterator<Item = Change> {
    let now = world.now();
    world.regions().map(move |region| Change::RegionIn {
        region,
        now,
        state: world.region_bytes(region).map(Blob),
    })
}
