//! Gives whole regions away, because the planner wants it or because the process stops. `pausing`
//! gives them to nobody.
//!
//! Always: a region is out of the world only while its give is in a batch. Until the store has
//! acknowledged that batch the region is this run's, and afterwards it is not. No tick of it is
//! played twice.

use std::collections::BTreeSet;

use handover::{
    decide::NOBODY,
    player::{Departed, DepartedEvent, DepartedStep, Target},
    region::{self, Giving, GivingEvent, GivingStep, Settled},
};
use proto::rpc::zone::v1::{
    CompleteRegionRequest, Detach, Moved, MovedSlot, PrepareRegionReply, PrepareRegionRequest,
    RegionMoved, from_zone,
};
use world::{CharacterId, EntityId, Player, Region, Tick};

use super::{
    Run,
    source::{Gone, Word, handover_id},
};
use crate::{
    ownership::give::{self, DRAIN_GIVES_MAX, GIVES_MAX, Hosts},
    roster::{PlayerSlot, Stage},
    spans::Ongoing,
    translate::record,
};

/// A region that is to go to another run, or to nobody.
pub(super) struct Move {
    state: Giving,
    pub(super) to: Target,
    epoch: u64,
    out: Option<Out>,
    span: Ongoing,
}

/// A region that is out of the world until the store has answered.
struct Out {
    state: Vec<u8>,
    /// Last tick in which the run played it.
    tick: u64,
    /// Entities that belong to it; their looks stay as they were.
    ids: BTreeSet<EntityId>,
}

/// A region that another run owns now, as long as that run may need to hear of it.
pub(super) struct Given {
    pub(super) state: Departed,
    to: Target,
    request: CompleteRegionRequest,
}

impl Move {
    /// Returns the move of a region that goes to nobody from tick `now` on.
    pub(super) fn to_nobody(region: Region, epoch: u64, now: u64, span: Ongoing) -> Self {
        Self {
            state: Giving::to_nobody(now),
            to: Target {
                run_id: NOBODY,
                region,
                epoch,
                address: String::new(),
            },
            epoch,
            out: None,
            span,
        }
    }

    /// Returns whether nobody may come into the region or begin to leave it.
    pub(super) fn closing(&self) -> bool {
        self.state.closing()
    }

    /// Returns whether only the store knows the owner of the region.
    pub(super) fn committing(&self) -> bool {
        self.state.committing()
    }
}

impl Given {
    /// Notes that a player who went with the region lost its socket before the taker heard of the
    /// region.
    pub(super) fn detached(&mut self, detach: &Detach) {
        if self.state.open() {
            return;
        }
        let sessions = self.request.slots.iter_mut();
        for session in sessions.filter_map(|slot| slot.session.as_mut()) {
            let same = session.session_id == detach.session_id
                && session.session_epoch == detach.session_epoch
                && session.attach <= detach.attach;
            if same {
                session.gateway_id.clear();
            }
        }
    }
}

impl Run {
    /// Lets regions that are ready go after a tick, and offers further ones.
    pub(super) fn giving_edges(&mut self) {
        let going: Vec<Region> = self.moves.giving.keys().copied().collect();
        for region in going {
            let blocked = region::blocked(self.now, self.settled(region));
            let Some(going) = self.moves.giving.get_mut(&region) else {
                continue;
            };
            let directory = &self.regions.directory;
            let alive = match going.to.run_id {
                NOBODY => directory.paused().contains(&region),
                run => directory
                    .runs()
                    .get(&run)
                    .is_some_and(|peer| !peer.draining),
            };
            let event = GivingEvent::Edge {
                now: self.now,
                blocked,
                alive,
            };
            match going.state.on(event) {
                GivingStep::Take => self.take_out(region),
                GivingStep::GiveUp => self.give_up(region, "given_up"),
                GivingStep::Stay | GivingStep::Back | GivingStep::Complete => {}
            }
        }
        self.begin_moves();
    }

    /// Returns the facts that may keep a region here for the moment.
    fn settled(&self, region: Region) -> Settled {
        let here = self.roster.values().filter(|slot| slot.region == region);
        let between = |slot: &PlayerSlot| {
            let joining = matches!(slot.stage, Stage::Joining { .. });
            let source = slot.departure.source.as_ref();
            joining || source.is_some_and(|source| source.committing().is_some())
        };
        let announced = self.handovers.announced_into(region);
        Settled {
            flying: self.batch.flying(),
            held_since: self.regions.held_since.get(&region).copied().unwrap_or(0),
            passing: announced || here.into_iter().any(between),
            came: self.regions.came.get(&region).copied().unwrap_or(0),
        }
    }

    /// Offers regions up to the number that may be on their way at the same time.
    fn begin_moves(&mut self) {
        self.moves.forgive(self.now);
        self.begin_pauses();
        let draining = self.ending.drain.is_some();
        let most = if draining { DRAIN_GIVES_MAX } else { GIVES_MAX };
        let room = most.saturating_sub(self.moves.giving.len());
        if room == 0 || self.ending.stopping.is_some() {
            return;
        }
        let moves = if draining {
            self.drained_moves(room)
        } else {
            self.wanted_moves(room)
        };
        for (region, run_id) in moves {
            self.offer_region(region, run_id);
        }
    }

    /// Returns the planner's moves that the run can begin now.
    fn wanted_moves(&self, room: usize) -> Vec<(Region, u64)> {
        let wanted = self.regions.directory.wanted().iter();
        let can = |(region, run): &(&Region, &u64)| {
            let owner = self.regions.directory.owner(**region);
            let mine = owner.is_some_and(|o| self.regions.plays_at(**region, o.epoch));
            let peer = self.regions.directory.runs().get(*run);
            let takes = **run != self.id && peer.is_some_and(|peer| !peer.draining);
            let asked = self.moves.giving.contains_key(*region);
            mine && takes && !asked && !self.moves.is_turned_down(**region, **run)
        };
        let moves = wanted.filter(can).take(room);
        moves.map(|(region, run)| (*region, *run)).collect()
    }

    /// Returns the moves of a drain: all regions go to the runs that can take them.
    fn drained_moves(&self, room: usize) -> Vec<(Region, u64)> {
        let refused = self.moves.refusals();
        let mine = self.regions.held.keys().copied();
        let mine = mine.filter(|region| !self.moves.giving.contains_key(region));
        give::plan(mine, &mut self.hosts(), &refused, room)
    }

    /// Returns the runs that could take regions, with the regions that each has and was promised.
    pub(super) fn hosts(&self) -> Hosts {
        let hash = self.world.content().hash();
        let others = self.regions.directory.runs().iter().filter(|(run, peer)| {
            let same = peer.content_hash.is_empty() || peer.content_hash == hash;
            **run != self.id && !peer.draining && same
        });
        let mut hosts: Hosts = others.map(|(run, _)| (*run, BTreeSet::new())).collect();
        for (region, owner) in self.regions.directory.owners() {
            if let Some(host) = hosts.get_mut(&owner.run_id) {
                host.insert(*region);
            }
        }
        let going = self
            .moves
            .giving
            .iter()
            .map(|(region, going)| (region, &going.to));
        let gone = self
            .moves
            .given
            .iter()
            .map(|(region, given)| (region, &given.to));
        for (region, to) in going.chain(gone) {
            if let Some(host) = hosts.get_mut(&to.run_id) {
                host.insert(*region);
            }
        }
        hosts
    }

    fn offer_region(&mut self, region: Region, run_id: u64) {
        let (Some(address), Some(epoch)) = (
            self.regions.directory.address(run_id).map(str::to_owned),
            self.regions.held.get(&region).copied(),
        ) else {
            return;
        };
        let attempt = self.moves.next_attempt();
        let players = self.roster.values().filter(|slot| slot.region == region);
        let request = PrepareRegionRequest {
            region: Some(record::rpc_region(region)),
            epoch,
            from_run_id: self.id,
            to_run_id: run_id,
            content_hash: self.world.content().hash().to_owned(),
            players: u32::try_from(players.count()).unwrap_or(u32::MAX),
        };
        let going = Move {
            state: Giving::new(attempt),
            to: Target {
                run_id,
                region,
                epoch,
                address: address.clone(),
            },
            epoch,
            out: None,
            span: Ongoing::begin(
                self.context.tracing.then_some(&self.context.tracer),
                "zone.region_move",
                self.id,
                region,
            ),
        };
        going.span.goes_to(run_id);
        let _within = going.span.enter();
        self.moves.giving.insert(region, going);
        self.context
            .effects
            .prepare_region(&address, attempt, request);
    }

    /// Handles the taker's answer.
    pub(super) fn region_prepared(
        &mut self,
        region: Region,
        attempt: u64,
        reply: Option<PrepareRegionReply>,
    ) {
        let Some(going) = self.moves.giving.get_mut(&region) else {
            return;
        };
        let event = GivingEvent::Answer {
            attempt,
            accepted: reply.as_ref().is_some_and(|reply| reply.accepted),
            now: self.now,
        };
        if going.state.on(event) == GivingStep::GiveUp {
            let code = reply.map_or("silent".to_owned(), |reply| reply.code);
            tracing::info!(
                run = self.id,
                ?region,
                to = going.to.run_id,
                code,
                "not taken"
            );
            self.give_up(region, "refused");
        }
    }

    /// Calls off a move that did not begin: the run plays the region on, and asks another run
    /// later.
    fn give_up(&mut self, region: Region, why: &'static str) {
        if let Some(mut going) = self.moves.giving.remove(&region) {
            going.span.end(why);
            self.moves.turn_down(region, going.to.run_id, self.now);
            self.context.metrics.region_move(why);
        }
    }

    /// Takes the region out of the world as it is after this tick, and gives it with the next
    /// batch.
    fn take_out(&mut self, region: Region) {
        let here = self.roster.iter_mut();
        let here = here.filter(|(_, s)| s.region == region && s.stage == Stage::Playing);
        let mut players = Vec::new();
        for (who, slot) in here {
            if slot.goes_nowhere() {
                slot.departure.crossing_since = None;
                slot.departure.place = None;
                self.world.hold(who, false);
            }
            if let Some(player) = self.world.player(who).map(Player::record) {
                players.push((who.clone(), record::row(player, &slot.owner())));
            }
        }
        let whose = |id: &&EntityId| self.world.look(id).is_some_and(|l| l.region == region);
        let ids: BTreeSet<EntityId> = self.world.entities().filter(whose).cloned().collect();
        self.save_region(region);
        let Some(going) = self.moves.giving.get_mut(&region) else {
            return;
        };
        let names: Vec<CharacterId> = players.iter().map(|(who, _)| who.clone()).collect();
        let (epoch, to) = (going.epoch, going.to.run_id);
        if !self.batch.give(region, epoch, to, players) {
            tracing::warn!(run = self.id, ?region, "a region is not ready to go");
            return self.give_up(region, "not_ready");
        }
        for who in names {
            if let Some(slot) = self.roster.get_mut(&who) {
                slot.stage = Stage::Moving;
            }
        }
        // The batch that gives the region belongs to the move's trace as well.
        if let Some(span) = going.span.sampled() {
            self.traces.note(span, false);
        }
        let state = self.world.region_out(region).unwrap_or_default();
        self.regions.held.remove(&region);
        self.saves.left(region);
        self.shown.out.extend(ids.iter().cloned());
        going.out = Some(Out {
            state,
            tick: self.now,
            ids,
        });
    }

    /// Plays a region on, because the store says that the taker cannot have it.
    pub(super) fn region_stays(&mut self, region: Region) {
        let Some(mut going) = self.moves.giving.remove(&region) else {
            return;
        };
        going.span.end("stale");
        let (GivingStep::Back, Some(out)) = (going.state.on(GivingEvent::Stale), going.out) else {
            return;
        };
        tracing::info!(
            run = self.id,
            ?region,
            to = going.to.run_id,
            "a region stays"
        );
        self.context.metrics.region_move("stale");
        self.moves.turn_down(region, going.to.run_id, self.now);
        for id in &out.ids {
            self.shown.out.remove(id);
        }
        let now = Tick(self.now);
        if let Err(why) = self.world.region_in(region, now, Some(&out.state)) {
            // The bytes are the run's own: the run loads the store's state instead.
            tracing::error!(run = self.id, ?region, %why, "a region cannot come back");
            return self.drop_region(region);
        }
        self.regions.held.insert(region, going.epoch);
        self.saves.entered(region, self.now);
        for slot in self.roster.values_mut() {
            if slot.region == region && slot.stage == Stage::Moving {
                slot.stage = Stage::Playing;
            }
        }
        self.reconcile();
    }

    /// Notes that the store has the region at the taker, with everybody in it.
    pub(super) fn region_given(&mut self, region: Region) {
        let Some(mut going) = self.moves.giving.remove(&region) else {
            return;
        };
        let (GivingStep::Complete, Some(out)) = (going.state.on(GivingEvent::Given), going.out)
        else {
            return;
        };
        let (epoch, to, mut span) = (going.epoch + 1, going.to, going.span);
        self.regions.given(region, epoch);
        for id in out.ids {
            self.shown.out.remove(&id);
            self.shown.transferred.insert(id.clone());
            self.shown.unshown.insert(id);
        }
        let moved = RegionMoved {
            region: Some(record::rpc_region(region)),
            epoch,
            to_run_id: to.run_id,
        };
        self.links.tell_all(&from_zone::Message::RegionMoved(moved));
        if to.run_id == NOBODY {
            span.end("paused");
            return self.players_rest(region, epoch);
        }
        let slots = self.slots_go(region, &to);
        tracing::info!(
            run = self.id,
            ?region,
            epoch,
            to = to.run_id,
            players = slots.len(),
            "a region is another run's"
        );
        let request = CompleteRegionRequest {
            region: Some(record::rpc_region(region)),
            epoch,
            from_run_id: self.id,
            tick: out.tick,
            state: out.state.into(),
            slots,
        };
        {
            let _within = span.enter();
            self.context
                .effects
                .complete_region(&to.address, request.clone());
        }
        span.end("given");
        self.context.metrics.region_move("given");
        let state = Departed::new(self.now);
        self.moves
            .given
            .insert(region, Given { state, to, request });
    }

    /// Takes out everybody who went with a region.
    pub(super) fn gone_with(&mut self, region: Region) -> Vec<(CharacterId, PlayerSlot)> {
        let going = |slot: &PlayerSlot| slot.region == region && slot.stage == Stage::Moving;
        let names = self.roster.iter().filter(|(_, slot)| going(slot));
        let names: Vec<CharacterId> = names.map(|(who, _)| who.clone()).collect();
        let gone = names.iter().filter_map(|who| self.roster.remove_entry(who));
        gone.collect()
    }

    /// Tells the gateway of a player who went with its region to `to_run_id`.
    pub(super) fn tell_moved(&mut self, who: &CharacterId, slot: &PlayerSlot, to_run_id: u64) {
        let Some(session) = &slot.session else {
            return;
        };
        let moved = Moved {
            session_id: session.session_id.clone(),
            character_id: who.to_string(),
            ownership_sequence: slot.sequence + 1,
            to_run_id,
            region: Some(record::rpc_region(slot.region)),
            after_frames: self.links.frames_sent(&session.gateway_id),
        };
        self.links
            .tell(&session.gateway_id, from_zone::Message::Moved(moved));
    }

    /// Takes out everybody who went with a region, and tells their gateways.
    fn slots_go(&mut self, region: Region, to: &Target) -> Vec<MovedSlot> {
        let gone = self.gone_with(region);
        self.context.metrics.departed("region_move", gone.len());
        let mut slots = Vec::new();
        for (who, mut slot) in gone {
            self.tell_moved(&who, &slot, to.run_id);
            let h = slot.sequence + 1;
            let linger = slot.linger_until.filter(|_| slot.session.is_none());
            slots.push(MovedSlot {
                h: Some(handover_id(&who, h)),
                account_id: slot.account_id.clone(),
                session: Some(slot.session_ref()),
                last_input: slot.inputs.played(),
                inputs: slot.inputs.drain(),
                held: slot.take_outbox(),
                linger_ticks: linger.map_or(0, |until| until.saturating_sub(self.now).max(1)),
            });
            let state = Departed::new(self.now);
            let gone = Gone::new(state, h, to.clone(), Word::Region(region));
            self.handovers.departed.insert(who, gone);
        }
        slots
    }

    /// Handles the taker's answer to the word that the region is its own.
    pub(super) fn region_completed(&mut self, region: Region, epoch: u64, known: Option<bool>) {
        let given = self.moves.given.get_mut(&region);
        let Some(given) = given.filter(|given| given.request.epoch == epoch) else {
            return;
        };
        if given.state.on(DepartedEvent::Answer(known)) != DepartedStep::Forward {
            return;
        }
        // Nobody needs the state any more.
        given.request.state = bytes::Bytes::new();
        let went = self
            .handovers
            .departed
            .iter()
            .filter(|(_, gone)| gone.went_with(region));
        let went: Vec<CharacterId> = went.map(|(who, _)| who.clone()).collect();
        for who in went {
            self.forwards(&who);
        }
    }

    /// Repeats the word to takers that have not answered, and forgets old matters, at an edge.
    pub(super) fn given_edges(&mut self) {
        let (now, directory) = (self.now, &self.regions.directory);
        let effects = &mut self.context.effects;
        let mut lost = Vec::new();
        self.moves.given.retain(|_, given| {
            let alive = directory.alive(given.to.run_id);
            let heard = given.state.open();
            match given.state.on(DepartedEvent::Edge { now, alive }) {
                DepartedStep::Forget => {
                    if !heard {
                        lost.append(&mut given.request.slots);
                    }
                    return false;
                }
                DepartedStep::Complete => {
                    effects.complete_region(&given.to.address, given.request.clone());
                }
                DepartedStep::Wait | DepartedStep::Forward => {}
            }
            true
        });
        for moved in lost {
            let session = moved.session.unwrap_or_default();
            self.inputs_lost(&session.gateway_id, &moved.inputs);
        }
    }
}
