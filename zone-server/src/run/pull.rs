//! Brings a player to the thing over the border that its input names: finds the thing and hands the
//! player over. The thing's owner plays the input again.
//!
//! Always: the input is answered once. The zone that plays it answers, or this one, when nobody has
//! the thing or the player cannot be brought there within [`PULL_TICKS`].

use std::{collections::BTreeSet, time::Instant};

use handover::{
    player::{self, Pulled, Source},
    region::SETTLE_TICKS,
};
use proto::{
    client::{ErrorCode, Refusal},
    rpc::zone::v1::{Input, LocateReply, LocateRequest, PrepareRequest},
};
use world::{CharacterId, EntityId, Region, Tile};

use super::Run;
use crate::{
    roster::{PlayerSlot, Pull, Stage},
    translate::{self, Refused, record},
};

/// Ticks for which the run tries to bring a player over the border.
const PULL_TICKS: u64 = 10;
/// Distance over the border within which the thing may be; less than a region is wide.
const REACH_TILES: i32 = 32;

impl Run {
    /// Begins to bring a player to a thing that is not here, and asks the neighbours.
    pub(super) fn elsewhere(&mut self, who: &CharacterId, request: Input, target: &EntityId) {
        let now = self.now;
        if let Some(slot) = self.roster.get_mut(who) {
            slot.inputs.put_back(request);
            slot.departure.pull = Some(Pull::new(target.clone(), now));
        }
    }

    /// Looks after each player that waits for its way to a thing, at an edge.
    pub(super) fn pull_edges(&mut self) {
        let waiting = self
            .roster
            .iter()
            .filter(|(_, slot)| slot.departure.pull.is_some());
        let waiting: Vec<CharacterId> = waiting.map(|(who, _)| who.clone()).collect();
        for who in waiting {
            self.pull_edge(&who);
        }
    }

    fn pull_edge(&mut self, who: &CharacterId) {
        let now = self.now;
        let Some(slot) = self.roster.get_mut(who) else {
            return;
        };
        let committing = |source: &Source| source.committing().is_some();
        if slot.stage != Stage::Playing || slot.departure.source.as_ref().is_some_and(committing) {
            return;
        }
        let Some(pull) = &mut slot.departure.pull else {
            return;
        };
        if !slot.inputs.has_front() {
            // A newer login asks for none of this.
            slot.departure.pull = None;
            return self.stays(who);
        }
        if now > pull.since + PULL_TICKS {
            return self.pull_fails(
                who,
                ErrorCode::Refused(Refusal::Busy),
                "it cannot be reached just now",
            );
        }
        let offered = pull.found.is_some() && slot.departure.source.is_some();
        if offered || !pull.waiting.is_empty() {
            return;
        }
        if now < slot.owner_since + SETTLE_TICKS {
            return;
        }
        self.locate(who);
    }

    /// Asks the owners of all regions in reach.
    fn locate(&mut self, who: &CharacterId) {
        let Some(tile) = self.world.player(who).map(world::Player::tile) else {
            return;
        };
        let owners = around(tile).into_iter();
        let owners = owners.filter_map(|region| self.regions.directory.owner(region));
        let runs: BTreeSet<u64> = owners.map(|owner| owner.run_id).collect();
        let peers = runs.into_iter().filter(|run| *run != self.id);
        let peers =
            peers.filter_map(|run| Some((run, self.regions.directory.address(run)?.to_owned())));
        let peers: Vec<(u64, String)> = peers.collect();
        let Some(pull) = self
            .roster
            .get_mut(who)
            .and_then(|slot| slot.departure.pull.as_mut())
        else {
            return;
        };
        pull.attempt += 1;
        pull.silent = false;
        pull.waiting = peers.iter().map(|(run, _)| *run).collect();
        let (attempt, target) = (pull.attempt, pull.target.to_string());
        if peers.is_empty() {
            return self.pull_fails(
                who,
                ErrorCode::Refused(Refusal::NotFound),
                "there is no such thing here",
            );
        }
        for (to_run_id, address) in peers {
            let request = LocateRequest {
                to_run_id,
                entity_id: target.clone(),
                ..LocateRequest::default()
            };
            self.context
                .effects
                .locate(&address, who.clone(), attempt, request);
        }
    }

    /// Handles a peer's answer about the place of a thing, or about a promise.
    pub(super) fn located(
        &mut self,
        who: &CharacterId,
        attempt: u32,
        run_id: u64,
        reply: Option<LocateReply>,
    ) {
        if let Some(under_way) = reply.as_ref().and_then(|reply| reply.under_way) {
            return self.promise_kept(who, attempt, under_way);
        }
        let Some(slot) = self.roster.get_mut(who) else {
            return;
        };
        let free = slot.stage == Stage::Playing && slot.departure.source.is_none();
        let Some(pull) = slot
            .departure
            .pull
            .as_mut()
            .filter(|pull| pull.attempt == attempt)
        else {
            return;
        };
        if !pull.waiting.remove(&run_id) {
            return;
        }
        pull.silent |= reply.is_none();
        let found = reply.and_then(|reply| record::region(reply.region));
        let player = self.world.player(who);
        let pinned = player.is_some_and(|player| player.pinned(self.world.now()));
        if let Some(region) = found.filter(|_| free && !pinned) {
            pull.waiting.clear();
            pull.found = Some(region);
            slot.goes_to(region);
            slot.departure.crossing_since = Some(Instant::now());
            self.world.hold(who, true);
        } else if pull.waiting.is_empty() && !pull.silent && found.is_none() {
            self.pull_fails(
                who,
                ErrorCode::Refused(Refusal::NotFound),
                "there is no such thing here",
            );
        }
    }

    /// Looks for the thing again at the next tick, because its run refused the handover.
    pub(super) fn pull_refused(&mut self, who: &CharacterId) {
        let Some(pull) = self
            .roster
            .get_mut(who)
            .and_then(|slot| slot.departure.pull.as_mut())
        else {
            return;
        };
        pull.found = None;
        self.stays(who);
    }

    fn pull_fails(&mut self, who: &CharacterId, code: ErrorCode, words: &str) {
        self.stays(who);
        let Some(slot) = self.roster.get_mut(who) else {
            return;
        };
        slot.departure.pull = None;
        if let Some(input) = slot.inputs.take_front() {
            let why = Refused {
                code,
                words: words.to_owned(),
            };
            self.context.metrics.input("refused");
            slot.tell(translate::error(&input, why));
        }
    }

    /// Answers a peer that looks for a thing that one of its players wants, or asks whether a
    /// promise still stands.
    pub(super) fn locate_here(&self, request: LocateRequest) -> LocateReply {
        match request.h {
            Some(h) => LocateReply {
                under_way: Some(self.still_goes(h, request.from_run_id)),
                ..LocateReply::default()
            },
            None => self.located_here(&request.entity_id),
        }
    }

    fn located_here(&self, entity_id: &str) -> LocateReply {
        let seen = self.world.look(&EntityId::from(entity_id));
        let here = seen.and_then(|seen| {
            let epoch = *self.regions.held.get(&seen.region)?;
            Some((seen.region, epoch))
        });
        here.map_or_else(LocateReply::default, |(region, epoch)| LocateReply {
            region: Some(record::rpc_region(region)),
            epoch,
            under_way: None,
        })
    }

    /// Returns `Ok` if a player may come to a thing that is here; another pull may end for it.
    pub(super) fn may_pull(&mut self, request: &PrepareRequest) -> Result<(), &'static str> {
        let target = request.pull_target.as_str();
        if target.is_empty() {
            return Ok(());
        }
        let actor = request.h.as_ref().map_or("", |h| h.character_id.as_str());
        let other = CharacterId::from(target);
        let slot = self.roster.get(&other);
        let leaving = |slot: &PlayerSlot| {
            let committing = slot
                .departure
                .source
                .as_ref()
                .is_some_and(|s| s.committing().is_some());
            slot.stage != Stage::Playing || committing || self.moves.closing(slot.region)
        };
        let to_actor = |slot: &PlayerSlot| {
            let pull = slot.departure.pull.as_ref();
            pull.is_some_and(|pull| pull.target.to_string() == actor)
        };
        let pulled = Pulled {
            actor,
            target,
            here: self.located_here(target).region.is_some(),
            leaving: slot.is_some_and(leaving),
            pulls_back: slot.is_some_and(to_actor),
        };
        if player::pull(pulled)? {
            self.pull_refused(&other);
            self.pull_fails(
                &other,
                ErrorCode::Refused(Refusal::Busy),
                "they are on their way already",
            );
        }
        Ok(())
    }
}

/// Returns the regions within reach of a tile.
fn around(tile: Tile) -> BTreeSet<Region> {
    let steps = [-REACH_TILES, 0, REACH_TILES];
    let at = |dx: i32, dz: i32| Tile {
        x: tile.x.saturating_add(dx),
        z: tile.z.saturating_add(dz),
    };
    let all = steps
        .iter()
        .flat_map(|dx| steps.iter().map(move |dz| at(*dx, *dz)));
    all.map(Region::from).collect()
}
