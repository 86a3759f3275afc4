//! The signs of life that gateways give each other over the bus, and what follows from them.

use std::time::Duration;

use proto::topics::Beat;
use view::area::Area;

use super::Hub;
use crate::clock;

impl Hub {
    /// Returns the sign of life of this gateway. One that drains names no address.
    pub(super) fn beat(&self) -> Beat {
        Beat {
            gateway_id: self.gateway_id.clone(),
            address: self
                .address
                .clone()
                .filter(|_| !self.draining.is_cancelled()),
            players: self.state().listeners.all().count() as u64,
            flush_us: (self.sessions.flush_us)(),
            uptime_s: Some(self.began.elapsed().as_secs()),
        }
    }

    pub(super) fn hear_beat(&self, beat: Beat) {
        let now = clock::instant();
        let mut state = self.state();
        state.watch.beat(beat.gateway_id.clone(), now);
        state.gateways.hear(beat.clone(), now);
        state.steering.hear(beat, now);
    }

    /// Returns the address of another gateway that should show an area to its players; `None`: this
    /// one should.
    pub(crate) fn steer(&self, area: Area) -> Option<String> {
        let state = self.state();
        let other = state
            .steering
            .other(&self.gateway_id, area, clock::instant());
        other.map(str::to_owned)
    }

    /// Returns the last sign of life of every gateway, with its age: this one first, as it is now.
    pub(crate) fn gateways(&self) -> Vec<(Beat, Duration)> {
        let own = self.beat();
        let living = self.state().gateways.living(clock::instant());
        let others = living
            .into_iter()
            .filter(|(beat, _)| beat.gateway_id != own.gateway_id)
            .collect::<Vec<_>>();
        std::iter::once((own, Duration::ZERO))
            .chain(others)
            .collect()
    }
}
