//! Visits to banks, shops and other hosts: setting out, opening and leaving. The keeper waits
//! meanwhile.

use std::collections::BTreeMap;

use super::rules::{self, Host};
use super::{Event, Interface, Open, Visit};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::Player;
use crate::features::{movement, npc_mind};
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::request::{Answer, Asked};
use crate::tick::{Outcome, failed, turn_away};
use crate::world::World;

impl World {
    /// Closes `what`, if it is open.
    pub(crate) fn shut(
        &mut self,
        who: &CharacterId,
        what: &Interface,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        if !player.has_open(what) {
            return Err(Refusal::NotOpen);
        }
        close(player, out);
        Ok(())
    }

    /// Returns `target` as a host, if it belongs to a region that is played here.
    pub(crate) fn host(&self, target: &EntityId) -> Option<Host<'_>> {
        let played = |region| self.regions.contains_key(&region);
        rules::host(&self.content, &self.npcs, played, target)
    }

    /// Opens `what` with `target`, or sets out for it.
    pub(crate) fn visit(
        &mut self,
        Asked { who, number }: Asked<'_>,
        target: EntityId,
        what: Interface,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let from = self.players.get(who).ok_or(Refusal::NotFound)?.tile();
        let Some(host) = self.host(&target) else {
            if self.may_be_elsewhere(from) {
                return Ok(Answer::Elsewhere { target });
            }
            return Err(Refusal::NotFound);
        };
        host.may_visit(from, &what)?;
        let (near, tile, region) = (host.in_reach(from), host.tile, host.region);
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        let path = if near {
            Default::default()
        } else {
            let (router, terrain) = (&mut self.router, self.content.terrain());
            movement::way(player, router, terrain, searches_end, tile)?
        };
        turn_away(player, out);
        player.gait.path = path;
        if let Some(npc) = self.npcs.get_mut(&target) {
            npc_mind::attend(npc, None, self.now);
        }
        player.visit = Some(Visit {
            number,
            target,
            region,
            what,
        });
        if near {
            self.arrive_at(who, out);
        }
        Ok(Answer::Done { value: false })
    }

    /// Opens the interface for which a player has come.
    fn arrive_at(&mut self, who: &CharacterId, out: &mut Outcome) {
        let now = self.now;
        let Some(player) = self.players.get_mut(who) else {
            return;
        };
        let Some(visit) = player.visit.take() else {
            return;
        };
        player.gait.path.clear();
        let what = visit.what.clone();
        if what != Interface::Altar {
            close(player, out);
            player.open = Some(Open {
                what: visit.what,
                with: visit.target,
                region: visit.region,
                since: now,
            });
        }
        self.come_for(who, what, out);
    }

    /// Opens the interface of players that have arrived; closes that of players that have gone
    /// away.
    pub(crate) fn play_visits(&mut self, out: &mut Outcome) {
        let about = |player: &&Player| player.visit.is_some() || player.open.is_some();
        let about = self.players.values().filter(about);
        let about = about.filter(|player| !player.gait.held);
        let about: Vec<CharacterId> = about.map(|p| p.record.id.clone()).collect();
        for who in about {
            self.play_visit(&who, out);
        }
        self.attend();
    }

    /// Lets people wait for their customers, or go to meet the first of them if none is there.
    fn attend(&mut self) {
        let mut wanted: BTreeMap<EntityId, Option<Tile>> = BTreeMap::new();
        for player in self.players.values() {
            for (id, comes) in rules::wanted(player, self.now) {
                let stands = self.npcs.get(id).map(|npc| npc.state.tile);
                let comes = stands.filter(|_| comes);
                let comes = comes.and_then(|at| rules::meets(&player.gait.path, at));
                let first = wanted.entry(id.clone()).or_insert(comes);
                if comes.is_none() {
                    *first = None;
                }
            }
        }
        for (id, comes) in wanted {
            if let Some(npc) = self.npcs.get_mut(&id) {
                npc_mind::attend(npc, comes, self.now);
            }
        }
    }

    fn play_visit(&mut self, who: &CharacterId, out: &mut Outcome) {
        let Some(player) = self.players.get(who) else {
            return;
        };
        let from = player.tile();
        let gone = player.open.as_ref().is_some_and(|open| {
            let host = self.host(&open.with);
            !rules::stays(open, host, from, self.now)
        });
        let visit = player.visit.as_ref().map(|visit| {
            let host = self.host(&visit.target);
            let refusal = match host {
                None => Some(Refusal::Interrupted),
                Some(_) if player.gait.path.is_empty() => Some(Refusal::Unreachable),
                Some(_) => None,
            };
            (host.is_some_and(|host| host.in_reach(from)), refusal)
        });
        if let Some(player) = self.players.get_mut(who).filter(|_| gone) {
            close(player, out);
        }
        match visit {
            Some((true, _)) => self.arrive_at(who, out),
            Some((false, Some(refusal))) => {
                if let Some(player) = self.players.get_mut(who) {
                    player.visit = None;
                    player.gait.path.clear();
                    out.events.push(failed(player, refusal));
                }
            }
            Some((false, None)) | None => {}
        }
    }
}

/// Closes the interface that `player` has open.
pub(crate) fn close(player: &mut Player, out: &mut Outcome) {
    if let Some(open) = player.open.take() {
        let (who, what) = (player.record.id.clone(), open.what);
        out.emit(Event::Closed { who, what });
    }
}
