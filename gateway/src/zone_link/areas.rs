//! The fan-out task that shows each area of the world. Pure.
//!
//! Always: one task shows an area that has sessions in it. A session that walks along the border of
//! two areas does not go to and fro between their tasks.

use std::collections::BTreeMap;

use view::area::Area;
use world::Tile;

/// Sessions that a task may have beyond twice as many as another one.
const UNEVEN_SESSIONS: usize = 64;

#[derive(Debug)]
struct Owned {
    task: usize,
    sessions: usize,
}

/// The tasks of all areas with sessions in them.
#[derive(Debug)]
pub(super) struct Areas {
    tasks: usize,
    owned: BTreeMap<Area, Owned>,
}

/// An area and the task that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) area: Area,
    pub(super) task: usize,
}

/// The task that shows a session, and the one to which the session goes.
#[derive(Debug, Default)]
pub(super) struct Showing {
    now: Option<Shown>,
    next: Option<Shown>,
    /// Whether the task of `next` knows what the session sees.
    ready: bool,
}

impl Showing {
    /// Returns the task that shows the session; `None`: nobody has looked for one yet.
    pub(super) fn task(&self) -> Option<usize> {
        self.now.map(|now| now.task)
    }

    /// Returns the task to which the session goes, while that task does not know yet what the
    /// session sees.
    pub(super) fn awaited_by(&self) -> Option<usize> {
        self.next.filter(|_| !self.ready).map(|next| next.task)
    }

    /// Returns the task to which the session can go at once.
    pub(super) fn goes_to(&self) -> Option<usize> {
        self.next.filter(|_| self.ready).map(|next| next.task)
    }

    /// Notes that a task knows what the session sees. Changes nothing if the session no longer goes
    /// there.
    pub(super) fn knows(&mut self, task: usize) {
        self.ready |= self.awaited_by() == Some(task);
    }

    /// Lets the session go on to a task. Returns false and changes nothing if it cannot go there
    /// now.
    pub(super) fn pass_on(&mut self, task: usize) -> bool {
        let goes = self.goes_to() == Some(task);
        if goes {
            self.now = self.next.take();
            self.ready = false;
        }
        goes
    }

    /// Returns the areas that the session needs: where it is shown, and where it goes.
    fn areas(&self) -> impl Iterator<Item = Area> {
        self.now.iter().chain(&self.next).map(|shown| shown.area)
    }
}

impl Areas {
    /// Returns the areas for this many tasks.
    pub(super) fn new(tasks: usize) -> Self {
        let owned = BTreeMap::new();
        Self {
            tasks: tasks.max(1),
            owned,
        }
    }

    /// Decides where a session that stands on a tile is shown, and where it goes.
    pub(super) fn settle(&mut self, showing: &mut Showing, at: Tile) {
        let Some(now) = showing.now else {
            showing.now = Some(self.join(Area::of(at)));
            return;
        };
        let area = match now.area.keeps(at) {
            true => now.area,
            false => Area::of(at),
        };
        let owned = self.owned.get(&area).map(|owned| owned.task);
        let next = owned.map(|task| Shown { area, task });
        let next = next.unwrap_or_else(|| self.join(area));
        if next.task == now.task {
            showing.now = Some(next);
            showing.next = None;
            showing.ready = false;
        } else if showing.next != Some(next) {
            showing.next = Some(next);
            showing.ready = false;
        }
    }

    /// Returns the area with its task. An area without sessions goes to the task with the fewest.
    fn join(&mut self, area: Area) -> Shown {
        if let Some(owned) = self.owned.get_mut(&area) {
            owned.sessions += 1;
            let task = owned.task;
            return Shown { area, task };
        }
        let sessions = self.sessions();
        let least = (0..self.tasks).min_by_key(|task| sessions[*task]);
        let task = least.unwrap_or(0);
        self.owned.insert(area, Owned { task, sessions: 1 });
        Shown { area, task }
    }

    /// Returns the number of sessions of each task.
    fn sessions(&self) -> Vec<usize> {
        let mut sessions = vec![0; self.tasks];
        for owned in self.owned.values() {
            sessions[owned.task] += owned.sessions;
        }
        sessions
    }

    /// Gives the largest area that helps from the task with the most sessions to the one with the
    /// fewest, if that has less than half as many. Its sessions follow one by one.
    fn even_out(&mut self) {
        let sessions = self.sessions();
        let most = (0..self.tasks).max_by_key(|task| sessions[*task]);
        let least = (0..self.tasks).min_by_key(|task| sessions[*task]);
        let (Some(most), Some(least)) = (most, least) else {
            return;
        };
        if sessions[most] <= 2 * sessions[least] + UNEVEN_SESSIONS {
            return;
        }
        let helps = (sessions[most] - sessions[least]) / 2;
        let areas = self.owned.values_mut();
        let fits = areas.filter(|owned| owned.task == most && owned.sessions <= helps);
        if let Some(owned) = fits.max_by_key(|owned| owned.sessions) {
            owned.task = least;
        }
    }

    /// Counts the sessions of each area anew, forgets areas that nobody needs any more, and evens
    /// out the tasks.
    pub(super) fn recount<'a>(&mut self, all: impl Iterator<Item = &'a Showing>) {
        for owned in self.owned.values_mut() {
            owned.sessions = 0;
        }
        for area in all.flat_map(Showing::areas) {
            if let Some(owned) = self.owned.get_mut(&area) {
                owned.sessions += 1;
            }
        }
        self.owned.retain(|_, owned| owned.sessions > 0);
        self.even_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(x: i32) -> Tile {
        Tile { x, z: 0 }
    }

    fn showing(areas: &mut Areas, x: i32) -> Showing {
        let mut showing = Showing::default();
        areas.settle(&mut showing, tile(x));
        showing
    }

    #[test]
    fn areas_are_shared_among_tasks_by_their_sessions() {
        let mut areas = Areas::new(2);
        let crowd: Vec<Showing> = (0..5).map(|_| showing(&mut areas, 0)).collect();
        assert!(crowd.iter().all(|one| one.task() == Some(0)));
        let others = [160, 300, 400].map(|x| showing(&mut areas, x).task());
        assert_eq!(others, [Some(1); 3]);
        areas.recount(crowd.iter().take(1));
        assert_eq!(showing(&mut areas, 160).task(), Some(1));
        assert_eq!(showing(&mut areas, 160).task(), Some(1));
        assert_eq!(showing(&mut areas, 300).task(), Some(0));
    }

    #[test]
    fn a_session_goes_on_only_well_beyond_the_border_and_to_a_task_that_knows_the_place() {
        let mut areas = Areas::new(2);
        let _there = showing(&mut areas, 0);
        let mut walker = showing(&mut areas, 160);
        assert_eq!(walker.task(), Some(1));
        areas.settle(&mut walker, tile(63 - 23));
        assert_eq!(walker.awaited_by(), None, "just beyond the border");
        areas.settle(&mut walker, tile(63 - 24));
        assert_eq!(walker.awaited_by(), Some(0));
        assert!(!walker.pass_on(0), "the task does not know the place yet");
        walker.knows(1);
        assert_eq!(walker.goes_to(), None);
        walker.knows(0);
        assert!(!walker.pass_on(1) && walker.pass_on(0));
        assert_eq!((walker.task(), walker.goes_to()), (Some(0), None));
        areas.settle(&mut walker, tile(63 + 24));
        assert_eq!(walker.awaited_by(), None, "just beyond the border again");
    }

    #[test]
    fn a_session_that_turns_round_stays() {
        let mut areas = Areas::new(2);
        let _there = showing(&mut areas, 0);
        let mut walker = showing(&mut areas, 160);
        areas.settle(&mut walker, tile(0));
        walker.knows(0);
        areas.settle(&mut walker, tile(160));
        assert_eq!(walker.goes_to(), None);
        assert!(!walker.pass_on(0));
        areas.settle(&mut walker, tile(0));
        assert_eq!(
            walker.awaited_by(),
            Some(0),
            "it has to know the place anew"
        );
    }

    #[test]
    fn an_area_goes_from_a_task_with_many_sessions_to_one_with_few() {
        let mut areas = Areas::new(2);
        let mut all: Vec<Showing> = (0..250).map(|_| showing(&mut areas, 0)).collect();
        let others = [160, 300, 400].map(|x| (0..100).map(move |_| x));
        let mut tiles = vec![0; 250];
        for x in others.into_iter().flatten() {
            all.push(showing(&mut areas, x));
            tiles.push(x);
        }
        // Everybody leaves the first area, which only one task had.
        let rest = || all.iter().skip(250);
        areas.recount(rest());
        assert!(rest().all(|one| one.task() == Some(1)));
        let mut going = 0;
        for (one, x) in all.iter_mut().zip(tiles).skip(250) {
            areas.settle(one, tile(x));
            going += usize::from(one.awaited_by() == Some(0));
        }
        assert_eq!(going, 100, "one area of three");
    }
}
