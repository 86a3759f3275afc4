//! Turns of NPCs in a tick: come back, go home, chase and attack, look out for prey, stroll.
//!
//! Always: an NPC never steps onto a tile on which somebody stands. It attacks only living players
//! of this world that are near enough to its home.

use super::{Crowd, rules};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::npc::Npc;
use crate::features::combat::mind::{self, Prey};
use crate::features::combat::{self, COMING_MAX, fighter, reach, roll};
use crate::geometry::tile::{Chunk, Tile};
use crate::item::Value;
use crate::rng::Dice;
use crate::tick::{Outcome, PhaseClock};
use crate::world::World;

/// Activity of an NPC in a tick.
enum Turn {
    /// It comes back from the dead.
    Returns,
    /// It goes home, and heeds nobody.
    Home,
    /// It chases the player, who stands on the tile.
    Hunts(CharacterId, Tile),
    /// It strolls as if nobody were near.
    Strolls,
}

impl World {
    pub(crate) fn move_npcs(
        &mut self,
        value: Value,
        phases: &mut dyn PhaseClock,
        out: &mut Outcome,
    ) {
        let now = self.now;
        let busy = |npc: &Npc| {
            let combat = &npc.state.combat;
            match combat.back_at {
                Some(at) => at <= now,
                None => {
                    combat.target.is_some()
                        || combat.returning
                        || rules::stirs(npc, now)
                        || (npc.placement.kind.fight.aggressive && !self.prey(npc).is_empty())
                }
            }
        };
        let busy = self.npcs.iter().filter(|(_, npc)| busy(npc));
        let busy: Vec<EntityId> = busy.map(|(id, _)| id.clone()).collect();
        if busy.is_empty() {
            return;
        }
        let mut crowd = Crowd::default();
        self.players
            .values()
            .for_each(|player| crowd.stand(player.tile()));
        self.npcs
            .values()
            .filter(|npc| npc.lives())
            .for_each(|npc| crowd.stand(npc.state.tile));
        for id in busy {
            if let Some(npc) = self.npcs.get(&id) {
                phases.region(npc.region);
            }
            self.play_npc(&id, value, &mut crowd, out);
        }
    }

    fn play_npc(&mut self, id: &EntityId, value: Value, crowd: &mut Crowd, out: &mut Outcome) {
        let Some(turn) = self.turn(id) else { return };
        let Some(npc) = self.npcs.get_mut(id) else {
            return;
        };
        let (lived, before) = (npc.lives(), npc.state.tile);
        let terrain = self.content.terrain();
        let mut dice = self.mint.dice(npc.placement.key, self.now);
        match turn {
            Turn::Returns => {
                let placement = &npc.placement;
                npc.state = rules::appear(placement, terrain, crowd, self.now, &mut dice);
            }
            Turn::Home => rules::go_home(npc, terrain, crowd),
            Turn::Hunts(_, at) => rules::chase(npc, &self.content, crowd, at),
            Turn::Strolls => {
                if rules::stirs(npc, self.now) {
                    rules::act(npc, terrain, crowd, self.now, &mut dice);
                }
            }
        }
        let after = npc.state.tile;
        if !lived {
            self.index.put(Chunk::from(after), id.clone());
        } else if before != after {
            self.index
                .shift(Chunk::from(before), Chunk::from(after), id);
        }
        if !lived || before != after {
            out.touched.insert(id.clone());
        }
        if let Turn::Hunts(who, at) = turn {
            self.attack_as_npc(id, &who, at, value, &mut dice, out);
        }
    }

    /// Returns the activity of an NPC now. The NPC forgets a target that it must give up.
    fn turn(&mut self, id: &EntityId) -> Option<Turn> {
        let npc = self.npcs.get(id)?;
        let (kind, state) = (&npc.placement.kind, &npc.state);
        if let Some(at) = state.combat.back_at {
            return (at <= self.now).then_some(Turn::Returns);
        }
        if state.combat.returning {
            return Some(Turn::Home);
        }
        if let Some(who) = state.combat.target.clone() {
            let place = self.players.get(&who).filter(|p| p.lives());
            let place = place.map(crate::entity::player::Player::tile);
            let far = place.is_some_and(|at| mind::gives_up(kind, state.home, at));
            let fair = self.may_attack(id, &who.entity()).is_ok();
            if let Some(at) = place.filter(|_| !far && fair) {
                return Some(Turn::Hunts(who, at));
            }
            let npc = self.npcs.get_mut(id)?;
            npc.state.combat.target = None;
            npc.state.combat.near = false;
            if far {
                npc.state.goal = None;
                npc.state.combat.returning = true;
                npc.state.combat.stuck_ticks = 0;
                npc.state.combat.clash.forget();
                return Some(Turn::Home);
            }
            return Some(Turn::Strolls);
        }
        let prey = self.prey(npc);
        if prey.is_empty() {
            return Some(Turn::Strolls);
        }
        let mut dice = self
            .mint
            .dice(npc.placement.key ^ combat::tick::DICE, self.now);
        let many = u32::try_from(prey.len()).unwrap_or(u32::MAX);
        let (who, at) = prey.into_iter().nth(dice.below(many) as usize)?;
        let npc = self.npcs.get_mut(id)?;
        npc.state.goal = None;
        npc.state.combat.target = Some(who.clone());
        npc.state.combat.near = false;
        Some(Turn::Hunts(who, at))
    }

    /// Returns the players that an NPC without a target would attack of its own accord, in order.
    fn prey(&self, npc: &Npc) -> Vec<(CharacterId, Tile)> {
        let (kind, state) = (&npc.placement.kind, &npc.state);
        let combat = &state.combat;
        if !kind.fight.aggressive || combat.target.is_some() || combat.returning {
            return Vec::new();
        }
        let sees = |who: &CharacterId| {
            let player = self.players.get(who).filter(|player| player.free())?;
            if self.now < player.fight.shy_until {
                return None;
            }
            let prey = Prey {
                tile: player.tile(),
                combat_level: player.record.combat_level,
                tolerance: player.fight.tolerance.as_ref(),
            };
            mind::attacks(kind, state.tile, state.home, &prey, self.now).then_some(prey.tile)
        };
        let near = self.entities_near(state.tile, kind.fight.aggro_tiles);
        let near = near.into_iter().map(EntityId::character);
        let near = near.filter_map(|who| sees(&who).map(|tile| (who, tile)));
        let mut prey: Vec<_> = near
            .filter(|(who, _)| self.may_attack(&npc.placement.id, &who.entity()).is_ok())
            .collect();
        prey.sort_unstable();
        prey
    }

    /// Lets an NPC that reaches its target attack when it is time.
    fn attack_as_npc(
        &mut self,
        id: &EntityId,
        who: &CharacterId,
        at: Tile,
        value: Value,
        dice: &mut Dice,
        out: &mut Outcome,
    ) {
        let now = self.now;
        let Some(npc) = self.npcs.get_mut(id) else {
            return;
        };
        let attack = fighter::npc(&self.content, &npc.placement.kind);
        let blow = attack.blow();
        let combat = &mut npc.state.combat;
        if !reach::reaches(self.content.terrain(), blow, npc.state.tile, at) {
            combat.near = false;
            return;
        }
        if !combat.near {
            // It draws breath first.
            combat.near = true;
            combat.clash.attacks_at = combat.clash.attacks_at.max(now.after(1));
        }
        let ready = now >= combat.clash.attacks_at && value != Value::Unavailable;
        let target = who.entity();
        let coming = self.clash(&target).map_or(0, |clash| clash.coming.len());
        if !ready || !self.may_be_struck(&target) || coming >= COMING_MAX {
            return;
        }
        let guard = self.guard(&target, attack.against);
        let damage = roll::damage(attack.weight, guard, attack.max_hit, dice);
        self.deal(id, &target, &attack, damage, out);
    }
}
