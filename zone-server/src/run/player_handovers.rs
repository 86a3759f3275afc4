//! Players between this run and others, or between this run and the store.

use std::collections::BTreeMap;

use proto::rpc::zone::v1::Attach;
use world::{Arrival, CharacterId, Region};

use super::{source::Gone, target::Announced};
use crate::regained::Sight;

/// Ticks for which the run remembers who left: no answer of the store is under way for so long.
const LEFT_TICKS: u64 = 100;

/// A session that waits for its character to come from the store.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) attach: Option<(String, Attach)>,
}

/// How a character left the world here.
#[derive(Debug, Clone, Copy)]
enum Left {
    LoggedOut {
        session_epoch: u64,
    },
    /// Its region was paused: it is nobody's since this ownership sequence.
    Rests {
        sequence: u64,
    },
}

/// Players on their way to this run, and from this run to others.
#[derive(Default)]
pub(super) struct PlayerHandovers {
    /// Characters that the run has requested from the store.
    pub(super) calls: BTreeMap<CharacterId, Call>,
    /// Players who come in, each with the tick in which the last owner played it.
    pub(super) arrivals: Vec<(u64, Arrival)>,
    /// Players that peers announced.
    pub(super) announced: BTreeMap<CharacterId, Announced>,
    /// Players that other runs own now, and of whom these runs may still have to hear.
    pub(super) departed: BTreeMap<CharacterId, Gone>,
    /// Characters that left, each with the tick in which it did.
    left: BTreeMap<CharacterId, (Left, u64)>,
    /// Places that gateways offered, each with the tick in which it came.
    pub(super) offers: BTreeMap<CharacterId, (Sight, u64)>,
    promises: u32,
}

impl PlayerHandovers {
    /// Returns the number of the next promise of a peer, repetitions included.
    pub(super) fn next_promise(&mut self) -> u32 {
        self.promises = self.promises.wrapping_add(1);
        self.promises
    }

    /// Takes the players who come in at tick `now`, in order. Nobody is played twice in one tick,
    /// however early its last owner was.
    pub(super) fn ripe(&mut self, now: u64) -> Vec<Arrival> {
        let ripe = self.arrivals.extract_if(.., |(played, _)| *played < now);
        let mut ripe: Vec<Arrival> = ripe.map(|(_, arrival)| arrival).collect();
        ripe.sort_by(|a, b| a.record.id.cmp(&b.record.id));
        ripe
    }

    /// Returns whether a peer has announced anybody into a region.
    pub(super) fn announced_into(&self, region: Region) -> bool {
        let mut announced = self.announced.values();
        announced.any(|announced| announced.region() == region)
    }

    /// Returns whether every run that took a player has heard all about it.
    pub(super) fn told(&self) -> bool {
        self.departed.values().all(Gone::told)
    }

    /// Notes that a character logged out at tick `now`.
    pub(super) fn logged_out(&mut self, who: &CharacterId, session_epoch: u64, now: u64) {
        let left = Left::LoggedOut { session_epoch };
        self.left.insert(who.clone(), (left, now));
    }

    /// Notes that a character is nobody's since ownership sequence `sequence`, at tick `now`.
    pub(super) fn rests(&mut self, who: &CharacterId, sequence: u64, now: u64) {
        let left = Left::Rests { sequence };
        self.left.insert(who.clone(), (left, now));
    }

    /// Returns whether the store read a row before its character logged out here: then the
    /// character is not in the world.
    pub(super) fn read_before_leaving(&self, who: &CharacterId, session_epoch: u64) -> bool {
        match self.left.get(who) {
            Some((
                Left::LoggedOut {
                    session_epoch: last,
                },
                _,
            )) => session_epoch <= *last,
            Some((Left::Rests { .. }, _)) | None => false,
        }
    }

    /// Returns the ownership sequence with which a character went on to another run, or to nobody.
    pub(super) fn gone(&self, who: &CharacterId) -> Option<u64> {
        let rests = match self.left.get(who) {
            Some((Left::Rests { sequence }, _)) => Some(*sequence),
            Some((Left::LoggedOut { .. }, _)) | None => None,
        };
        self.departed.get(who).map(Gone::sequence).max(rests)
    }

    /// Returns whether a character was here with ownership sequence `h`, and went on.
    pub(super) fn went_on(&self, who: &CharacterId, h: u64) -> bool {
        self.gone(who).is_some_and(|gone| gone > h)
    }

    /// Forgets who left, and the offers, so long before tick `now` that no answer about them is under
    /// way.
    pub(super) fn forget_left(&mut self, now: u64) {
        self.left
            .retain(|_, (_, at)| now.saturating_sub(*at) <= LEFT_TICKS);
        self.offers
            .retain(|_, (_, at)| now.saturating_sub(*at) <= LEFT_TICKS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_went_to_nobody_has_gone_on_until_every_answer_about_it_has_come() {
        let (ann, mut handovers) = (CharacterId::from("ann"), PlayerHandovers::default());
        handovers.rests(&ann, 4, 10);
        assert_eq!(handovers.gone(&ann), Some(4));
        assert!(handovers.went_on(&ann, 3), "an older row or offer");
        assert!(!handovers.went_on(&ann, 4), "the row after a resume");
        assert!(
            !handovers.read_before_leaving(&ann, 1),
            "it is in the world"
        );
        handovers.forget_left(10 + LEFT_TICKS);
        assert!(handovers.went_on(&ann, 3));
        handovers.forget_left(11 + LEFT_TICKS);
        assert!(!handovers.went_on(&ann, 3));
    }
}
