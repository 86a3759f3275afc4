//! The length of an emote, its end, and the emotes that a leader performs.
//!
//! Always: the seed, the leader and the round alone decide the leader's emote; it differs from that
//! of the round before.

use super::{Dancer, Emote, Performed};
use crate::content::NpcPlacement;
use crate::entity::player::Player;
use crate::features::movement::Pace;
use crate::geometry::tile::Tile;
use crate::mint::Mint;
use crate::refusal::Refusal;
use crate::time::Tick;

/// Ticks of a round of a dance.
const ROUND_TICKS: u64 = 8;
/// Ticks for which an emote lasts.
const EMOTE_TICKS: u64 = 4;
/// Tiles from the leader within which players dance.
const NEAR_TILES: u32 = 6;
/// A dancer cheers after so many rounds in step, and again after as many more.
const CHEER_ROUNDS: u32 = 5;
/// Makes these dice other ones than those by which the leader strolls.
const DANCE_DICE: u64 = 0x64_61_6e_63_65;

impl Performed {
    /// Begins an emote.
    pub(crate) fn begin(emote: Emote, tile: Tile, now: Tick) -> Performed {
        let ticks = match emote {
            Emote::Dance => 2 * EMOTE_TICKS,
            Emote::Wave
            | Emote::Bow
            | Emote::Cheer
            | Emote::Clap
            | Emote::Laugh
            | Emote::Cry
            | Emote::Think
            | Emote::Shrug
            | Emote::Point
            | Emote::Salute
            | Emote::Jump => EMOTE_TICKS,
        };
        Performed {
            emote,
            tile,
            until: now.after(ticks),
        }
    }

    /// Returns whether `player` still performs it: the player stands there, and neither works nor
    /// fights.
    pub(crate) fn lasts(&self, player: &Player, now: Tick) -> bool {
        let stands = player.gait.pace == Pace::Stood && player.tile() == self.tile;
        let fights = player.fight.aim.is_some() || player.fight.clash.in_combat(now);
        now < self.until && player.free() && stands && player.work().is_none() && !fights
    }
}

impl Dancer {
    /// Returns a player that begins to follow `leader`.
    pub(crate) fn begin(leader: &NpcPlacement) -> Dancer {
        Dancer {
            leader: leader.id.clone(),
            spot: leader.tile,
            in_step: false,
            streak: 0,
        }
    }

    /// Returns whether `player` still dances.
    pub(crate) fn stays(&self, player: &Player) -> bool {
        player.free() && near(self.spot, player.tile())
    }

    /// Ends a round. Returns whether the dancer was in step.
    pub(crate) fn end_round(&mut self) -> bool {
        let in_step = std::mem::take(&mut self.in_step);
        self.streak = if in_step { self.streak + 1 } else { 0 };
        in_step
    }

    /// Returns whether the dancer cheers because of its streak.
    pub(crate) fn cheers(&self) -> bool {
        self.streak > 0 && self.streak.is_multiple_of(CHEER_ROUNDS)
    }
}

/// Checks whether a player may perform an emote at `now`.
///
/// # Errors
/// `InCombat`.
pub(crate) fn may_perform(player: &Player, now: Tick) -> Result<(), Refusal> {
    if player.fight.clash.in_combat(now) {
        return Err(Refusal::InCombat);
    }
    Ok(())
}

/// Returns the round of all dances at `now`.
pub(crate) const fn round(now: Tick) -> u64 {
    now.0 / ROUND_TICKS
}

/// Returns whether a player on `tile` dances with the leader on `spot`.
pub(crate) fn near(spot: Tile, tile: Tile) -> bool {
    spot.steps_to(tile) <= NEAR_TILES
}

/// Returns the emote that the leader with these dice performs in a round. Even and odd rounds have
/// each a half of all emotes, so that no emote follows itself.
pub(crate) fn led(mint: &Mint, leader: u64, round: u64) -> Emote {
    let half = || {
        Emote::ALL
            .iter()
            .skip(usize::from(!round.is_multiple_of(2)))
            .step_by(2)
    };
    let sides = u32::try_from(half().count()).unwrap_or_default();
    let throw = mint.dice(leader ^ DANCE_DICE, Tick(round)).below(sides);
    half().nth(throw as usize).copied().unwrap_or(Emote::Dance)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_leader_performs_every_emote_and_none_twice_in_a_row() {
        let emotes: Vec<Emote> = (0..200)
            .map(|round| led(&Mint::new(1, 0), 7, round))
            .collect();
        assert!(emotes.windows(2).all(|two| two[0] != two[1]), "{emotes:?}");
        let all: BTreeSet<Emote> = emotes.into_iter().collect();
        assert_eq!(all.len(), Emote::ALL.len());
    }

    #[test]
    fn the_seed_and_the_leader_decide_the_emotes() {
        let emotes = |seed, leader| {
            (0..20)
                .map(|r| led(&Mint::new(seed, 0), leader, r))
                .collect::<Vec<_>>()
        };
        assert_eq!(emotes(1, 7), emotes(1, 7));
        assert_ne!(emotes(1, 7), emotes(2, 7));
        assert_ne!(emotes(1, 7), emotes(1, 8));
    }
}
