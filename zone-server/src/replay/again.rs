//! Plays a record again.
//!
//! Always: the world gets the same inputs as the recorded one, in the same order; a panic is an
//! answer, not an end of the process.

use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use world::{CharacterId, Content, Phase, PhaseClock, Region, World};

use super::{
    change::{Change, digest},
    file::Record,
    step::Steps,
};

/// The way in which a record ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The whole record was played; `tick` is the last.
    Through { tick: u64 },
    /// A tick panicked, maybe while the world handled somebody's input.
    Panicked {
        tick: u64,
        handled: Option<CharacterId>,
    },
    /// The regions after this tick differ from the recorded ones.
    Differs { tick: u64 },
    /// The record cannot be read further, or its output goes nowhere; a sentence.
    Broken(String),
}

/// Remembers the player whose input the world is handling.
struct Listening<'a> {
    clock: &'a mut dyn PhaseClock,
    steps: Option<&'a mut Steps>,
    handled: &'a mut Option<CharacterId>,
}

impl PhaseClock for Listening<'_> {
    fn phase(&mut self, phase: Phase) {
        *self.handled = None;
        self.clock.phase(phase);
        if let Some(steps) = &mut self.steps {
            steps.phase(phase);
        }
    }

    fn input(&mut self, who: &CharacterId) {
        *self.handled = Some(who.clone());
        self.clock.input(who);
        if let Some(steps) = &mut self.steps {
            steps.input(who);
        }
    }

    fn region(&mut self, region: Region) {
        self.clock.region(region);
    }
}

/// Plays `record` with its content, and prints the hash of the regions after each tick. `step`: also
/// what each phase of it took, and what it changed.
pub(crate) fn play(
    record: Record,
    content: Arc<Content>,
    clock: &mut dyn PhaseClock,
    step: bool,
    out: &mut dyn Write,
) -> Ended {
    let mut steps = step.then(Steps::default);
    let header = &record.header;
    let mut world = World::new(content, header.rules, header.seed, header.run_id);
    let mut handled = None;
    for change in record {
        let change = match change {
            Ok(change) => change,
            Err(why) => return Ended::Broken(why),
        };
        if let Change::Check { digest: was } = &change
            && *was != digest(&world)
        {
            return Ended::Differs {
                tick: world.now().0,
            };
        }
        let (tick, inputs) = match &change {
            Change::Tick { now, inbox } => (Some(now.0), inbox.inputs.len()),
            _ => (None, 0),
        };
        if let (Some(steps), Change::Tick { inbox, .. }) = (&mut steps, &change) {
            steps.before(&world, inbox);
        }
        let mut clock = Listening {
            clock: &mut *clock,
            steps: steps.as_mut(),
            handled: &mut handled,
        };
        let played = catch_unwind(AssertUnwindSafe(|| change.again(&mut world, &mut clock)));
        if played.is_err() {
            let tick = tick.unwrap_or(world.now().0);
            return Ended::Panicked { tick, handled };
        }
        if let Some(tick) = tick {
            let (regions, players) = (world.regions().count(), world.players().count());
            let digest = digest(&world);
            let line =
                format!("tick {tick} {digest} regions {regions} players {players} inputs {inputs}");
            let told = steps.as_ref().map_or_else(String::new, |s| s.after(&world));
            if write!(out, "{line}\n{told}").is_err() {
                return Ended::Broken("nobody reads the output".to_owned());
            }
        }
    }
    Ended::Through {
        tick: world.now().0,
    }
}
