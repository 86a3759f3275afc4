//! Setting out for work, working, and the end of work.

use std::sync::Arc;

use super::make::Request;
use super::make::recipe::Spot;
use super::rules::{self, Reach};
use super::{Event, Intent, Job, Work, gather, told};
use crate::content::ResourceKind;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::look::{Field, Kind};
use crate::entity::player::Player;
use crate::features::movement;
use crate::features::training::skill::Skill;
use crate::geometry::tile::{Bounds, Region, Tile};
use crate::item::Value;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::rng::{self, Dice};
use crate::tick::{Outcome, PhaseClock, turn_away};
use crate::world::World;

/// Steps from which one works at a shoal.
const SHOAL_TILES: i32 = 4;
/// Steps from which one works at a fire or a station.
const STATION_TILES: i32 = 1;
/// Steps from which one works with people.
const PEOPLE_TILES: i32 = 2;

/// Something at which one can work.
pub(crate) struct Workplace<'a> {
    pub(crate) region: Region,
    pub(crate) covers: Bounds,
    pub(crate) spot: Spot<'a>,
    pub(crate) resource: Option<&'a Arc<ResourceKind>>,
    /// Whether it gives nothing for now.
    pub(crate) empty: bool,
}

impl Workplace<'_> {
    fn reach(&self) -> Reach {
        match (self.resource, self.spot) {
            (Some(kind), _) if kind.skill == Some(Skill::Fishing) => Reach::Within(SHOAL_TILES),
            (Some(_), _) => Reach::Beside,
            (None, Spot::Service(_)) => Reach::Within(PEOPLE_TILES),
            (None, _) => Reach::Within(STATION_TILES),
        }
    }

    fn reached_from(&self, tile: Tile) -> bool {
        self.reach().reaches(self.covers, tile)
    }
}

impl World {
    /// Follows a request to work.
    pub(crate) fn answer_skilling(
        &mut self,
        asked: Asked<'_>,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        match intent {
            Intent::UseWith { slot, other } => self.use_with(asked, slot, other, searches_end, out),
            Intent::UseOn { slot, target } => self.use_on(asked, slot, target, searches_end, out),
            Intent::Gather { target } => self.gather(asked, target, searches_end, out),
            Intent::Make {
                trade,
                what,
                target,
                quantity,
            } => {
                let request = Request {
                    trade,
                    what,
                    target,
                    quantity,
                };
                self.make(asked, request, searches_end, out)
            }
        }
    }

    /// Returns `target` as a workplace, if it belongs to a region that is played here.
    pub(crate) fn workplace(&self, target: &EntityId) -> Option<Workplace<'_>> {
        let plain = |region, tile, spot| Workplace {
            region,
            covers: rules::only(tile),
            spot,
            resource: None,
            empty: false,
        };
        if let Some(fire) = self.fires.get(target) {
            return Some(plain(fire.region, fire.tile, Spot::Fire));
        }
        if let Some(npc) = self.npcs.get(target) {
            let spot = Spot::Service(&npc.placement.service);
            return Some(plain(npc.region, npc.state.tile, spot));
        }
        let fixture = self.content.fixture(target)?;
        let region = Region::from(fixture.tile);
        if !self.regions.contains_key(&region) {
            return None;
        }
        let station = fixture.kind == Kind::Station;
        let tile = self.resources.tile(fixture);
        let kind = self.content.resources().get(&fixture.of);
        Some(Workplace {
            region,
            covers: if tile == fixture.tile {
                fixture.covers
            } else {
                rules::only(tile)
            },
            spot: if station {
                Spot::Station(&fixture.sort, &fixture.rune_type)
            } else {
                Spot::Other
            },
            resource: kind.filter(|_| !station),
            empty: self.resources.is_empty(target),
        })
    }

    /// Returns the answer for a workplace that is not here.
    pub(crate) fn no_workplace(
        &self,
        who: &CharacterId,
        target: EntityId,
    ) -> Result<Answer, Refusal> {
        let from = self.players.get(who).ok_or(Refusal::NotFound)?.tile();
        if self.may_be_elsewhere(from) {
            return Ok(Answer::Elsewhere { target });
        }
        Err(Refusal::NotFound)
    }

    /// Sets out to work, or begins where one stands.
    pub(crate) fn set_out(
        &mut self,
        who: &CharacterId,
        work: Work,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let from = player.tile();
        let mut path = Default::default();
        let mut near = true;
        if let Some(target) = &work.target {
            let Some(place) = self.workplace(target) else {
                return self.no_workplace(who, target.clone());
            };
            let (reach, covers) = (place.reach(), place.covers);
            let (east, north) = rules::past(covers, from);
            if east.max(north).unsigned_abs() > rules::SET_OUT_TILES {
                return Err(Refusal::TooFar);
            }
            near = reach.reaches(covers, from);
            let terrain = self.content.terrain();
            let mut found = Err(Refusal::Unreachable);
            let places = reach.places(terrain, covers, from).into_iter();
            for to in places.take(rules::ROUTES_MAX).take_while(|_| !near) {
                found = movement::way_onto(player, &mut self.router, terrain, searches_end, to);
                if !matches!(found, Err(Refusal::Unreachable)) {
                    break;
                }
            }
            if !near {
                path = found?;
            }
        }
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        turn_away(player, out);
        player.gait.path = path;
        player.skilling.work = Some(work);
        if near {
            self.begin(who, out);
        }
        Ok(Answer::Done { value: false })
    }

    /// Begins the work of a player that has come to it.
    fn begin(&mut self, who: &CharacterId, out: &mut Outcome) {
        let mut dice = self.work_dice(who);
        let Some(work) = self.players.get(who).and_then(|p| p.skilling.work.clone()) else {
            return;
        };
        let ticks = match &work.job {
            Job::Gather => self.gather_ticks(who, &work, &mut dice),
            Job::Make(craft) => self.make_ticks(craft),
        };
        let due_at = self.now.after(ticks);
        if let Some(player) = self.players.get_mut(who) {
            player.gait.path.clear();
            if let Some(work) = &mut player.skilling.work {
                (work.begun, work.due_at) = (true, due_at);
            }
            out.touched.insert(who.entity());
            out.emit(Event::Begun(
                who.clone(),
                told::begun(&work.job, work.target),
            ));
        }
    }

    /// Returns the dice of somebody's work in this tick.
    pub(crate) fn work_dice(&self, who: &CharacterId) -> Dice {
        let key = rng::key(&format!("{who}/work"));
        self.mint.dice(key, self.now)
    }

    /// Begins the work of players that have come to it, and does the work that is due.
    pub(crate) fn play_work(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let working = |player: &&Player| player.skilling.work.is_some() && !player.gait.held;
        let working = self.players.values().filter(working);
        let mut working: Vec<(u32, CharacterId)> = working
            .map(|player| (player.pid, player.record.id.clone()))
            .collect();
        working.sort_unstable();
        for (_, who) in working {
            if let Some(player) = self.players.get(&who) {
                phases.region(player.region);
            }
            if let Err(why) = self.work(&who, value, out)
                && let Some(player) = self.players.get_mut(&who)
            {
                player.gait.path.clear();
                put_down(player, Some(why), out);
            }
        }
    }

    /// Plays one tick of a player's work.
    fn work(&mut self, who: &CharacterId, value: Value, out: &mut Outcome) -> Result<(), Refusal> {
        let player = self.players.get(who).ok_or(Refusal::NotFound)?;
        let Some(work) = player.skilling.work.clone() else {
            return Ok(());
        };
        let (from, stands) = (player.tile(), player.gait.path.is_empty());
        let near = match &work.target {
            None => stands,
            Some(target) => {
                let here = work.region.is_none_or(|r| self.regions.contains_key(&r));
                let place = self.workplace(target);
                let place = place.ok_or(if here {
                    Refusal::Depleted
                } else {
                    Refusal::Interrupted
                })?;
                if place.empty {
                    return Err(Refusal::Depleted);
                }
                place.reached_from(from)
            }
        };
        match (near, work.begun) {
            (true, false) => self.begin(who, out),
            (false, false) if stands => return Err(Refusal::Unreachable),
            // The target swam or walked away.
            (false, true) if work.target.is_some() => return Err(Refusal::Depleted),
            (false, _) => return Ok(()),
            (true, true) => {}
        }
        let begun = self.players.get(who).and_then(|p| p.skilling.work.as_ref());
        let due = begun.is_some_and(|work| work.due_at <= self.now);
        // While the store cannot save, or exchanges are stopped, work rests.
        if !due || value.open().is_err() {
            return Ok(());
        }
        match &work.job {
            Job::Gather => self.gather_once(who, &work, out),
            Job::Make(craft) => self.make_once(who, &work, craft, out),
        }
    }

    /// Returns the public field of the work that the player `id` does now, if any.
    pub(crate) fn doing_field(&self, id: &EntityId) -> Option<(&'static str, Field)> {
        let work = self.players.get(&id.character())?.work()?;
        if !work.begun {
            return None;
        }
        let doing = match &work.job {
            Job::Gather => {
                let fixture = self.content.fixture(work.target.as_ref()?)?;
                let kind = self.content.resources().get(&fixture.of)?;
                gather::rules::verb(kind.skill)
            }
            Job::Make(craft) => craft.trade.name(),
        };
        Some(("doing", doing.into()))
    }

    /// Returns the ticks until the first try of somebody who begins to gather.
    fn gather_ticks(&self, who: &CharacterId, work: &Work, dice: &mut Dice) -> u64 {
        let place = work.target.as_ref().and_then(|id| self.workplace(id));
        let kind = place.and_then(|place| place.resource);
        let (Some(kind), Some(player)) = (kind, self.players.get(who)) else {
            return 1;
        };
        let gear = gather::rules::gear(&player.record, &self.content, kind).unwrap_or_default();
        gather::rules::cycle_ticks(kind, gear, dice)
    }
}

/// Ends the work of `player`. `why`: `None`, all is done.
pub(crate) fn put_down(player: &mut Player, why: Option<Refusal>, out: &mut Outcome) {
    if let Some(work) = player.skilling.work.take() {
        let who = player.record.id.clone();
        if work.begun {
            out.touched.insert(who.entity());
        }
        out.emit(Event::Stopped(who, told::stopped(why)));
    }
}
