//! The inputs of one player that the run has not played yet.
//!
//! Always: inputs are played in the order of their numbers, none twice; a missing number holds the
//! later ones back for at most [`GAP_TICKS`] ticks; at most [`INPUTS_HELD_MAX`] wait. An input is
//! queued, known to be here already, or given back for an answer.

use std::collections::{BTreeMap, VecDeque};

use proto::rpc::zone::v1::Input;

/// Inputs of one player that may wait for a tick; also how many are played in one.
pub(crate) const INPUTS_HELD_MAX: usize = 40;
/// Ticks for which a queue waits for a missing number.
pub(crate) const GAP_TICKS: u64 = 2;
/// Ranges of numbers of each kind that a queue remembers.
const RANGES_MAX: usize = 16;

/// The outcome of an input that came in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Taken {
    /// It waits for the next tick.
    Queued,
    /// It was here before, and is dropped.
    Duplicate,
    /// The inbox has given up its number: the run may have played later inputs, so it does not play
    /// this one.
    Late(Box<Input>),
    /// Too much waits already: it will not be played.
    Full(Box<Input>),
}

/// The queue of one player.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// Last number that was played or given up.
    played: u64,
    /// Number up to which the queue waits for no input.
    floor: u64,
    /// Inputs that go before all others, in this order and whatever their numbers. They were here
    /// before, and the run has to play them again.
    front: VecDeque<Input>,
    waiting: BTreeMap<u64, Input>,
    gap_ticks: u64,
    /// Numbers that the queue gave up.
    gaps: Ranges,
    /// Numbers that found no room; the run does not answer their repetition again.
    refused: Ranges,
}

/// The newest ranges of numbers of some kind.
#[derive(Debug, Default)]
struct Ranges(VecDeque<(u64, u64)>);

impl Ranges {
    fn add(&mut self, first: u64, last: u64) {
        if let Some((_, end)) = self.0.back_mut().filter(|(_, end)| *end + 1 == first) {
            *end = last;
            return;
        }
        if self.0.len() >= RANGES_MAX {
            self.0.pop_front();
        }
        self.0.push_back((first, last));
    }

    fn contains(&self, number: u64) -> bool {
        let mut all = self.0.iter();
        all.any(|(first, last)| (*first..=*last).contains(&number))
    }
}

impl Inputs {
    /// Returns a queue whose first input will be `last` + 1.
    pub(crate) fn after(last: u64) -> Self {
        Self {
            played: last,
            floor: last,
            ..Self::default()
        }
    }

    /// Returns the last number that was played or given up.
    pub(crate) fn played(&self) -> u64 {
        self.played
    }

    /// Returns the last number that was played or given up, or that waits: no later one was ever
    /// here.
    pub(crate) fn last(&self) -> u64 {
        let waits = self.waiting.keys().next_back().copied().unwrap_or(0);
        waits.max(self.played).max(self.floor)
    }

    /// Returns whether an input with this request id waits.
    pub(crate) fn waits(&self, id: &[u8]) -> bool {
        let mut all = self.front.iter().chain(self.waiting.values());
        all.any(|input| input.id == id)
    }

    /// Returns the number of inputs that wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.front.len()
    }

    /// Puts back an input that was neither played nor refused. It goes before all others but those
    /// that were put back earlier.
    pub(crate) fn put_back(&mut self, input: Input) {
        self.front.push_back(input);
    }

    /// Returns whether an input was put back.
    pub(crate) fn has_front(&self) -> bool {
        !self.front.is_empty()
    }

    /// Takes out the first input that was put back; the run will not play it here.
    pub(crate) fn take_front(&mut self) -> Option<Input> {
        self.front.pop_front()
    }

    /// Takes in an input, and returns its outcome.
    pub(crate) fn take(&mut self, input: Input) -> Taken {
        let number = input.number;
        if self.waiting.contains_key(&number) || self.refused.contains(number) {
            return Taken::Duplicate;
        }
        if number <= self.played {
            return match self.gaps.contains(number) {
                true => Taken::Late(Box::new(input)),
                false => Taken::Duplicate,
            };
        }
        if self.len() >= INPUTS_HELD_MAX {
            self.floor = self.floor.max(number);
            self.refused.add(number, number);
            return Taken::Full(Box::new(input));
        }
        self.waiting.insert(number, input);
        Taken::Queued
    }

    /// Stops waiting for numbers up to `last`, because their sender says that they are gone.
    pub(crate) fn skip_to(&mut self, last: u64) {
        self.floor = self.floor.max(last);
    }

    /// Takes the word of the character's last owner that it has played, or given up, all numbers up
    /// to `last`. The run plays none of them, whether it waits here or is still to come. A gateway that
    /// lacks the answer of one recalls it.
    pub(crate) fn played_before(&mut self, last: u64) {
        if last > self.played {
            self.played = last;
            self.waiting.retain(|number, _| *number > last);
        }
    }

    /// Returns the inputs to play in the tick that begins now.
    pub(crate) fn ready(&mut self) -> Vec<Input> {
        let mut out: Vec<Input> = std::mem::take(&mut self.front).into();
        loop {
            let next = self.played.saturating_add(1);
            if let Some(input) = self.waiting.remove(&next) {
                self.played = next;
                self.gap_ticks = 0;
                out.push(input);
                continue;
            }
            let first = self.waiting.keys().next().copied();
            if next <= self.floor {
                self.give_up_to(first.map_or(self.floor, |f| self.floor.min(f - 1)));
                continue;
            }
            let Some(first) = first else {
                self.gap_ticks = 0;
                break;
            };
            self.gap_ticks += 1;
            if self.gap_ticks <= GAP_TICKS {
                break;
            }
            self.give_up_to(first - 1);
        }
        out
    }

    /// Gives up all numbers up to `last`.
    fn give_up_to(&mut self, last: u64) {
        self.gaps.add(self.played.saturating_add(1), last);
        self.played = last;
    }

    /// Takes out all that waits, in order; the run will play none of it here.
    pub(crate) fn drain(&mut self) -> Vec<Input> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        let front = std::mem::take(&mut self.front);
        front.into_iter().chain(waiting).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(number: u64) -> Input {
        Input {
            number,
            ..Input::default()
        }
    }

    fn numbers(inputs: &[Input]) -> Vec<u64> {
        inputs.iter().map(|i| i.number).collect()
    }

    #[test]
    fn inputs_are_played_in_number_order() {
        let mut queue = Inputs::after(4);
        for n in [7, 5, 6] {
            assert_eq!(queue.take(input(n)), Taken::Queued);
        }
        assert_eq!(numbers(&queue.ready()), [5, 6, 7]);
        assert_eq!(queue.played(), 7);
    }

    #[test]
    fn an_input_is_never_played_twice() {
        let mut queue = Inputs::after(0);
        assert_eq!(queue.take(input(1)), Taken::Queued);
        assert_eq!(queue.take(input(1)), Taken::Duplicate);
        assert_eq!(numbers(&queue.ready()), [1]);
        assert_eq!(queue.take(input(1)), Taken::Duplicate);
        assert!(queue.ready().is_empty());
    }

    #[test]
    fn a_gap_is_waited_for_two_ticks() {
        let mut queue = Inputs::after(0);
        queue.take(input(2));
        assert!(queue.ready().is_empty());
        assert!(queue.ready().is_empty());
        assert_eq!(numbers(&queue.ready()), [2]);
        let late = Taken::Late(Box::new(input(1)));
        assert_eq!(queue.take(input(1)), late, "nobody has answered it");
        assert_eq!(queue.take(input(2)), Taken::Duplicate);
    }

    #[test]
    fn a_gap_that_closes_in_time_loses_nothing() {
        let mut queue = Inputs::after(0);
        queue.take(input(2));
        assert!(queue.ready().is_empty());
        queue.take(input(1));
        assert_eq!(numbers(&queue.ready()), [1, 2]);
    }

    #[test]
    fn a_refused_number_is_not_waited_for() {
        let mut queue = Inputs::after(0);
        for n in 1..=INPUTS_HELD_MAX as u64 {
            assert_eq!(queue.take(input(n)), Taken::Queued);
        }
        let over = INPUTS_HELD_MAX as u64 + 1;
        assert_eq!(queue.take(input(over)), Taken::Full(Box::new(input(over))));
        assert_eq!(queue.take(input(over)), Taken::Duplicate, "answered once");
        assert_eq!(queue.ready().len(), INPUTS_HELD_MAX);
        queue.take(input(over + 1));
        assert_eq!(numbers(&queue.ready()), [over + 1]);
    }

    #[test]
    fn all_that_was_put_back_is_played_again_in_order_before_what_came_since() {
        let mut queue = Inputs::after(0);
        for n in 1..=5 {
            queue.take(input(n));
        }
        for waits in queue.ready() {
            queue.put_back(waits);
        }
        queue.take(input(6));
        assert_eq!(queue.len(), 6);
        assert_eq!(queue.take_front(), Some(input(1)));
        assert_eq!(numbers(&queue.ready()), [2, 3, 4, 5, 6]);
    }

    #[test]
    fn what_was_put_back_takes_up_room() {
        let mut queue = Inputs::after(0);
        let most = INPUTS_HELD_MAX as u64;
        for n in 1..=most {
            queue.take(input(n));
        }
        for waits in queue.ready() {
            queue.put_back(waits);
        }
        let over = input(most + 1);
        assert_eq!(queue.take(over.clone()), Taken::Full(Box::new(over)));
        assert_eq!(queue.drain().len(), INPUTS_HELD_MAX);
    }

    #[test]
    fn numbers_that_the_last_owner_played_are_not_played_here() {
        let mut queue = Inputs::after(0);
        queue.take(input(4));
        queue.take(input(7));
        queue.played_before(6);
        assert_eq!(queue.take(input(5)), Taken::Duplicate);
        queue.played_before(2);
        assert_eq!(queue.take(input(6)), Taken::Duplicate, "an older word");
        assert_eq!(numbers(&queue.ready()), [7]);
    }

    #[test]
    fn numbers_that_the_gateway_gave_up_are_not_waited_for() {
        let mut queue = Inputs::after(0);
        queue.take(input(1));
        queue.skip_to(5);
        queue.take(input(6));
        assert_eq!(numbers(&queue.ready()), [1, 6]);
    }
}
