//! Walks and words of a bot. Pure: seeded dice, and the caller passes the time in.
//!
//! Only a bot that stands begins a walk, so the first new position after it is the walk's own
//! effect. The time between the intended moment and that position is therefore a true latency.

use std::{str::FromStr, sync::Arc, time::Duration};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::Instant;

use super::ground::{Ground, SQUARE_TILES, far};
use crate::terrain::{Crossing, Tile};

/// Behaviour of bots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Everybody walks to random places.
    Wander,
    /// Everybody gathers where new characters stand.
    Town,
    /// Everybody walks to and fro over borders of regions.
    Border,
    /// Everybody talks, and walks a little.
    Chat,
    /// Everybody takes one step a second, in a square around where new characters stand.
    Steps,
    /// Everybody takes one step a second, in one of several such squares far from each other.
    Spread,
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "wander" => Self::Wander,
            "town" => Self::Town,
            "border" => Self::Border,
            "chat" => Self::Chat,
            "steps" => Self::Steps,
            "spread" => Self::Spread,
            _ => {
                let names = "wander, town, border, chat, steps, spread";
                return Err(format!("{text}: one of {names}"));
            }
        })
    }
}

/// Steps that a bot asks for at once on a long way.
const STRIDE: u16 = 20;
/// Time without news after which the bot gives a walk up and counts it as lost.
pub const LOST_AFTER: Duration = Duration::from_secs(10);
/// Standing for so long on the way means that the way has ended.
const STALLED_AFTER: Duration = Duration::from_secs(4);
/// Distance from the middle up to which a town's crowd goes, in tiles.
const TOWN_TILES: i32 = 10;
/// Distance that a wanderer goes at once, in tiles.
const WANDER_TILES: i32 = 14;

/// Time from one step to the next in that square.
const STEP_EVERY: Duration = Duration::from_millis(STEP_EVERY_MS);
const STEP_EVERY_MS: u64 = 1_000;
/// The eight ways in which a step leads.
const HEADINGS: [Tile; 8] = [
    (0, 1),
    (1, 1),
    (1, 0),
    (1, -1),
    (0, -1),
    (-1, -1),
    (-1, 0),
    (-1, 1),
];

/// Next step of a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Walks or runs.
    Walk {
        /// Destination.
        to: Tile,
        /// Runs.
        run: bool,
    },
    /// Talks.
    Say {
        /// Text of the message.
        message: String,
        /// To everybody, else to the players near it.
        global: bool,
    },
}

/// News in a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Nothing new.
    Same,
    /// A step on the way.
    Step,
    /// The first new position after the intended moment of a walk, and the time since then.
    First(Duration),
}

enum State {
    Rest {
        until: Instant,
    },
    Walk {
        intended: Instant,
        to: Tile,
        at: Tile,
        moved: bool,
        since: Instant,
    },
}

/// One bot's plan.
pub struct Plan {
    scenario: Scenario,
    ground: Arc<Ground>,
    crossing: usize,
    dice: ChaCha8Rng,
    state: State,
    speak: Option<Instant>,
    /// Way in which it steps, in the square.
    heading: usize,
    /// Tile to which it goes before it takes steps.
    post: Option<Tile>,
}

impl Plan {
    /// Returns the plan of bot number `index` of a run with this seed.
    pub fn new(
        scenario: Scenario,
        ground: Arc<Ground>,
        seed: u64,
        index: usize,
        now: Instant,
    ) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(seed ^ (index as u64).rotate_left(32));
        let first = now + Duration::from_millis(dice.random_range(0..2_000));
        Self {
            scenario,
            ground,
            crossing: index,
            state: State::Rest { until: first },
            speak: (scenario == Scenario::Chat).then_some(first),
            heading: dice.random_range(0..HEADINGS.len()),
            post: None,
            dice,
        }
    }

    /// Returns when [`Plan::act`] wants to be called next.
    pub fn due(&self) -> Instant {
        let walk = match &self.state {
            State::Rest { until } => *until,
            State::Walk { moved, since, .. } => {
                *since + if *moved { STALLED_AFTER } else { LOST_AFTER }
            }
        };
        self.speak.map_or(walk, |speak| speak.min(walk))
    }

    /// Returns the next step at `at`. The second value says that a walk was lost: nothing new came
    /// for [`LOST_AFTER`].
    pub fn act(&mut self, now: Instant, at: Tile) -> (Option<Step>, bool) {
        if let Some(speak) = self.speak.filter(|speak| *speak <= now) {
            return (Some(self.say(speak)), false);
        }
        match &self.state {
            State::Rest { until } if *until <= now => {
                let intended = *until;
                let step = self.choose(at);
                match &step {
                    Some(Step::Walk { to, .. }) => {
                        self.state = State::Walk {
                            intended,
                            to: *to,
                            at,
                            moved: false,
                            since: intended,
                        };
                    }
                    _ => self.rest(now),
                }
                (step, false)
            }
            State::Walk { moved, since, .. } => {
                let limit = if *moved { STALLED_AFTER } else { LOST_AFTER };
                let (over, lost) = (now >= *since + limit, !*moved);
                if over {
                    self.rest(now);
                }
                (None, over && lost)
            }
            State::Rest { .. } => (None, false),
        }
    }

    /// Notes that the own character was seen at `at`.
    pub fn seen(&mut self, now: Instant, at: Tile) -> Seen {
        let State::Walk {
            intended,
            to,
            at: last,
            moved,
            since,
        } = &mut self.state
        else {
            return Seen::Same;
        };
        if at == *last {
            return Seen::Same;
        }
        if matches!(self.scenario, Scenario::Steps | Scenario::Spread) {
            self.ground.tread(at);
        }
        *last = at;
        *since = now;
        let seen = if *moved {
            Seen::Step
        } else {
            Seen::First(now.saturating_duration_since(*intended))
        };
        *moved = true;
        if at == *to {
            self.rest(now);
        }
        seen
    }

    /// Returns whether it is not on its way.
    pub const fn is_at_rest(&self) -> bool {
        matches!(self.state, State::Rest { .. })
    }

    /// Puts the next walk off for something else, which does not make it late.
    pub fn postpone(&mut self, now: Instant) {
        if let State::Rest { until } = &mut self.state {
            *until = now.max(*until);
        }
    }

    /// Returns a tile a few steps away.
    pub fn stroll(&mut self, at: Tile) -> Option<Tile> {
        let ground = Arc::clone(&self.ground);
        self.near(&ground, at, at, 3)
    }

    /// Notes that the walk was refused, or the connection lost: no sample is due from it.
    pub fn refused(&mut self, now: Instant) {
        self.rest(now);
    }

    fn rest(&mut self, now: Instant) {
        let pause = match self.scenario {
            Scenario::Border => 200..1_400,
            Scenario::Town => 500..4_000,
            Scenario::Wander => 300..3_000,
            Scenario::Chat => 4_000..12_000,
            Scenario::Steps | Scenario::Spread => return self.rest_from_step(now),
        };
        let pause = Duration::from_millis(self.dice.random_range(pause));
        self.state = State::Rest { until: now + pause };
    }

    /// Rests until a second after the last step was due, however late that step was.
    fn rest_from_step(&mut self, now: Instant) {
        let last = match &self.state {
            State::Walk { intended, .. } => *intended,
            State::Rest { until } => *until,
        };
        // After a lost step, or on the way into the square, the pace begins anew, at any moment of
        // the next second: the answer that is there now came with a tick, and who kept its moment
        // would wait for a whole tick at every step.
        let until = if now > last + STEP_EVERY * 3 {
            let phase = self.dice.random_range(0..STEP_EVERY_MS);
            now + Duration::from_millis(phase)
        } else {
            last + STEP_EVERY
        };
        self.state = State::Rest { until };
    }

    fn say(&mut self, due: Instant) -> Step {
        const LINES: [&str; 8] = [
            "Good morning!",
            "Which way to the harbour?",
            "Selling nothing, buying less.",
            "The road north is quiet today.",
            "Who is up for a walk to the woods?",
            "Mind the goat.",
            "Nice hat.",
            "Back in a moment.",
        ];
        let pause = Duration::from_millis(self.dice.random_range(2_500..8_000));
        self.speak = Some(due + pause);
        let line = LINES[self.dice.random_range(0..LINES.len())];
        Step::Say {
            message: format!("{line} ({})", self.dice.random_range(0..1_000_000)),
            global: self.dice.random_range(0..40) == 0,
        }
    }

    fn choose(&mut self, at: Tile) -> Option<Step> {
        let ground = Arc::clone(&self.ground);
        let walk = |to| Some(Step::Walk { to, run: false });
        let run = |to| Some(Step::Walk { to, run: true });
        match self.scenario {
            Scenario::Border => {
                let (crossing, ways) = ground.crossing(self.crossing)?;
                if at == crossing.low {
                    walk(crossing.high)
                } else if on_line(crossing, at) || ways.far(at).is_none() {
                    walk(crossing.low)
                } else {
                    ways.toward(at, STRIDE).and_then(run)
                }
            }
            Scenario::Town => {
                let spawn = ground.terrain.spawn();
                if far(at, spawn) > TOWN_TILES * 2 {
                    return ground.home.toward(at, STRIDE).and_then(run);
                }
                self.near(&ground, at, spawn, TOWN_TILES).and_then(walk)
            }
            Scenario::Wander => self.near(&ground, at, at, WANDER_TILES).and_then(walk),
            Scenario::Chat => self.near(&ground, at, at, 5).and_then(walk),
            Scenario::Steps | Scenario::Spread => self.step(&ground, at),
        }
    }

    /// Returns a step in the heading, or in another one if that leads nowhere. A bot goes to a tile
    /// of its own in the square first, so that the crowd is spread over all of it.
    fn step(&mut self, ground: &Ground, at: Tile) -> Option<Step> {
        let apart = self.scenario == Scenario::Spread;
        let (middle, ways) = ground.square(apart, self.crossing);
        if far(at, middle) > SQUARE_TILES {
            let to = ways.toward(at, STRIDE)?;
            return Some(Step::Walk { to, run: true });
        }
        if self.post.is_none() {
            self.post = self.near(ground, at, middle, SQUARE_TILES);
            let to = self.post?;
            return Some(Step::Walk { to, run: false });
        }
        let here = ground.home.far(at)?;
        if self.dice.random_range(0..16) == 0 {
            self.heading = self.dice.random_range(0..HEADINGS.len());
        }
        let first = self.heading;
        let turns = (0..HEADINGS.len()).map(|turn| (first + turn * 3) % HEADINGS.len());
        for heading in turns {
            let (x, z) = HEADINGS[heading];
            let to = (at.0 + x, at.1 + z);
            let there = ground.home.far(to);
            let beside = there.is_some_and(|there| there.abs_diff(here) <= 1);
            if beside && ground.is_trodden(to) && far(to, middle) <= SQUARE_TILES {
                self.heading = heading;
                return Some(Step::Walk { to, run: false });
            }
        }
        None
    }

    /// Returns a random tile near `middle` to which the way is not much longer than the air line.
    fn near(&mut self, ground: &Ground, at: Tile, middle: Tile, radius: i32) -> Option<Tile> {
        let here = ground.home.far(at);
        (0..40).find_map(|_| {
            let x = middle.0 + self.dice.random_range(-radius..=radius);
            let z = middle.1 + self.dice.random_range(-radius..=radius);
            let there = ground.home.far((x, z))?;
            let detour = here.map_or(0, |here| i32::from(here.abs_diff(there)));
            ((x, z) != at && detour <= 3 * radius).then_some((x, z))
        })
    }
}

fn on_line(crossing: Crossing, at: Tile) -> bool {
    (crossing.low.0..=crossing.high.0).contains(&at.0)
        && (crossing.low.1..=crossing.high.1).contains(&at.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        load::ground::spread,
        terrain::{Bounds, Terrain},
    };

    fn ground(crossings: &[Crossing]) -> Arc<Ground> {
        let bounds = Bounds {
            min_x: -128,
            max_x: 128,
            min_z: -128,
            max_z: 128,
        };
        let mut terrain = Terrain::empty(bounds, (30, 30));
        for z in -128..128 {
            for x in -128..128 {
                terrain.set((x, z), true);
            }
        }
        Arc::new(Ground::new(terrain, crossings.to_vec()))
    }

    /// Ground on which somebody has gone over each tile of a square.
    fn trodden() -> Arc<Ground> {
        let ground = ground(&[]);
        for z in 0..60 {
            (0..60).for_each(|x| ground.tread((x, z)));
        }
        ground
    }

    const CROSSING: Crossing = Crossing {
        low: (56, 10),
        high: (72, 10),
    };

    fn walked(step: Option<Step>) -> Tile {
        match step {
            Some(Step::Walk { to, .. }) => to,
            other => panic!("no walk: {other:?}"),
        }
    }

    #[test]
    fn border_bots_travel_to_their_crossing_and_go_to_and_fro() {
        let now = Instant::now();
        let mut plan = Plan::new(Scenario::Border, ground(&[CROSSING]), 1, 7, now);
        let (mut at, mut now, mut crossings) = ((30, 30), now, 0);
        for _ in 0..30 {
            now = plan.due().max(now);
            let before = at;
            at = walked(plan.act(now, at).0);
            now += Duration::from_secs(3);
            assert!(matches!(plan.seen(now, at), Seen::First(_)));
            if (before.0 < 64) != (at.0 < 64) {
                crossings += 1;
            }
        }
        assert!(crossings > 20, "{crossings}");
    }

    #[test]
    fn who_takes_steps_takes_one_a_second_and_stays_in_the_square() {
        let ground = trodden();
        let start = Instant::now();
        for index in 0..20 {
            let mut plan = Plan::new(Scenario::Steps, Arc::clone(&ground), 1, index, start);
            let now = plan.due();
            let mut at = walked(plan.act(now, (30, 30)).0);
            plan.seen(now, at);
            let mut due = plan.due();
            for _ in 0..200 {
                let to = walked(plan.act(due, at).0);
                assert_eq!(far(at, to), 1);
                assert!(far(to, (30, 30)) <= SQUARE_TILES, "{to:?}");
                at = to;
                let took = Duration::from_millis(700);
                assert_eq!(plan.seen(due + took, at), Seen::First(took));
                assert_eq!(plan.due(), due + STEP_EVERY);
                due = plan.due();
            }
        }
    }

    #[test]
    fn a_pace_that_begins_anew_begins_at_any_moment_of_a_second() {
        let ground = trodden();
        let start = Instant::now();
        let mut quarters = [0; 4];
        for index in 0..100 {
            let mut plan = Plan::new(Scenario::Steps, Arc::clone(&ground), 1, index, start);
            let due = plan.due();
            let at = walked(plan.act(due, (30, 30)).0);
            let tick = due + STEP_EVERY * 4;
            plan.seen(tick, at);
            let after = (plan.due() - tick).as_millis();
            quarters[usize::try_from(after).unwrap() * 4 / 1_000] += 1;
        }
        assert!(quarters.iter().all(|many| *many >= 10), "{quarters:?}");
    }

    #[test]
    fn latency_counts_from_the_intended_moment_to_the_first_new_position() {
        let now = Instant::now();
        let mut plan = Plan::new(Scenario::Wander, ground(&[]), 1, 0, now);
        let intended = plan.due();
        let late = intended + Duration::from_millis(250);
        let to = walked(plan.act(late, (0, 0)).0);
        assert_eq!(plan.seen(late, (0, 0)), Seen::Same);
        let step = (to.0.signum(), to.1.signum());
        let seen = plan.seen(intended + Duration::from_millis(700), step);
        assert_eq!(seen, Seen::First(Duration::from_millis(700)));
        if step != to {
            assert_eq!(plan.seen(intended + Duration::from_secs(3), to), Seen::Step);
        }
        assert!(plan.due() > intended);
    }

    #[test]
    fn a_walk_without_effect_is_lost_once() {
        let now = Instant::now();
        let mut plan = Plan::new(Scenario::Wander, ground(&[]), 1, 0, now);
        let due = plan.due();
        plan.act(due, (0, 0));
        assert_eq!(plan.due(), due + LOST_AFTER);
        assert_eq!(plan.act(due + LOST_AFTER, (0, 0)), (None, true));
        assert_eq!(plan.act(due + LOST_AFTER, (0, 0)), (None, false));
    }

    #[test]
    fn the_same_seed_makes_the_same_plan() {
        let now = Instant::now();
        let walks = |seed| {
            let mut plan = Plan::new(Scenario::Wander, ground(&[]), seed, 3, now);
            let due = plan.due();
            (due, walked(plan.act(due, (0, 0)).0))
        };
        assert_eq!(walks(5), walks(5));
        assert_ne!(walks(5), walks(6));
    }

    #[test]
    fn talkers_talk_within_the_limit_of_five_in_five_seconds() {
        let now = Instant::now();
        let mut plan = Plan::new(Scenario::Chat, ground(&[]), 1, 0, now);
        let mut said = Vec::new();
        while said.len() < 100 {
            let due = plan.due();
            if let (Some(Step::Say { message, .. }), _) = plan.act(due, (0, 0)) {
                assert!(message.len() <= 200);
                said.push(due);
            }
        }
        for five in said.windows(6) {
            assert!(five[5] - five[0] > Duration::from_secs(5));
        }
    }

    #[test]
    fn spread_crossings_keep_their_distance() {
        let crossings: Vec<Crossing> = (0..64)
            .map(|z| Crossing {
                low: (56, z),
                high: (72, z),
            })
            .collect();
        let few = spread(crossings, 5, 10);
        assert_eq!(
            few.iter().map(|g| g.low.1).collect::<Vec<_>>(),
            [0, 10, 20, 30, 40]
        );
    }
}
