//! What a simulation may see of a run.

use world::{CharacterId, Region};

use super::{Run, edge::Requests};
use crate::{
    roster::Stage,
    simulation::{self, Played},
    translate::Told,
};

/// Notes that the world has followed or refused an input.
pub(super) fn answers(told: &Told, who: &CharacterId, requests: &Requests) {
    let (Told::Done { number, .. } | Told::Refused { number, .. }) = told else {
        return;
    };
    if let Some(request) = requests.get(&(who.clone(), *number)) {
        simulation::plays(who, request.session_epoch, *number);
    }
}

impl Run {
    /// Whom it plays or brings in.
    pub(crate) fn played(&self) -> Vec<Played> {
        let played = self.roster.iter().map(|(who, seat)| Played {
            who: who.to_string(),
            region: seat.region,
            sequence: seat.sequence,
            stands: seat.stage == Stage::Playing && self.world.player(who).is_some(),
            attached: seat.session.is_some(),
        });
        played.collect()
    }

    /// The regions that it plays, with their epochs.
    pub(crate) fn regions_held(&self) -> Vec<(Region, u64)> {
        let held = self.held.iter();
        held.map(|(region, epoch)| (*region, *epoch)).collect()
    }
}
