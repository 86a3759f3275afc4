//! Blows: from the attack to the landing.
//!
//! Always: the dice decide the effect of a blow at the attack. A blow lands on the living only, and
//! takes no more health than there is. Its dealer learns by the health that it took.

use super::fighter::{self, Against, Attack};
use super::supplies::Used;
use super::timing::{self, UNHEARD_TICKS, UNMENDED_TICKS};
use super::{Aim, Blow, Event, Foe, HURT_BY_MAX, Hit, style};
use crate::entity::ids::{CharacterId, EntityId};
use crate::features::{home_teleport, skilling, visit, vitals};
use crate::geometry::tile::Tile;
use crate::item::Value;
use crate::item::ledger::Cause;
use crate::refusal::Refusal;
use crate::tick::value::Lying;
use crate::tick::value::Origin;
use crate::tick::{Outcome, failed, interrupt};
use crate::time::Tick;
use crate::world::World;

impl World {
    /// Returns the weight of the defence of somebody who is here.
    pub(crate) fn guard(&self, id: &EntityId, against: Against) -> i64 {
        if let Some(npc) = self.npcs.get(id) {
            return fighter::npc_guard(&npc.placement.kind, against);
        }
        let player = self.players.get(&id.character());
        player.map_or(0, |p| {
            fighter::player_guard(&self.content, p.record(), against)
        })
    }

    /// Uses up the supplies of an attack. An arrow that does not break lies where the target
    /// stands.
    pub(crate) fn use_up(
        &mut self,
        who: &CharacterId,
        used: Used,
        at: Tile,
        out: &mut Outcome,
    ) -> Result<(), Refusal> {
        match used {
            Used::Nothing => Ok(()),
            Used::Runes(legs) => self.transfer(Some(Cause::Spend), &legs, out),
            Used::Arrow { off, arrow, breaks } => {
                let region = self.players.get(who).ok_or(Refusal::NotFound)?.region;
                let place = Lying {
                    tile: at,
                    region,
                    owner: Some(who.clone()),
                };
                let shot = Origin {
                    cause: Cause::Shoot,
                    legs: &off,
                };
                let lies = !breaks && self.lay(arrow, &place, shot, out).is_ok();
                if lies {
                    return Ok(());
                }
                // If the arrow cannot lie there, it breaks as well.
                self.transfer(Some(Cause::Spend), &off, out)
            }
        }
    }

    /// Deals a blow of `from` to `target`: the blow is on its way.
    pub(crate) fn deal(
        &mut self,
        from: &EntityId,
        target: &EntityId,
        attack: &Attack,
        damage: u32,
        out: &mut Outcome,
    ) {
        let now = self.now;
        let places = (self.fighter_at(from), self.fighter_at(target));
        let (Some((a, _)), Some((b, _))) = places else {
            return;
        };
        let damage = self.spared(from, target, attack, damage);
        let foe = |who: &EntityId| Foe {
            who: who.clone(),
            at: now,
        };
        if let Some(clash) = self.clash_mut(from) {
            clash.attacks_at = now.after(u64::from(attack.speed_ticks));
            clash.fought_at = Some(now);
            clash.attacked = Some(foe(target));
        }
        if let Some(clash) = self.clash_mut(target) {
            clash.fought_at = Some(now);
            clash.attacked_by = Some(foe(from));
            clash.coming.push(Blow {
                from: from.clone(),
                kind: attack.kind,
                style: attack.style,
                damage,
                cast_xp_tenths: attack.cast_xp_tenths,
                lands_at: now.after(timing::delay(attack.kind, a.steps_to(b))),
            });
        }
        self.provoke(target, from, out);
    }

    fn spared(&self, from: &EntityId, target: &EntityId, by: &Attack, damage: u32) -> u32 {
        let Some(player) = self.players.get(&target.character()) else {
            return damage;
        };
        let by_player = self.players.contains_key(&from.character());
        let prayer = &player.record.prayer;
        prayer.spared(&self.content, by.kind, damage, by_player)
    }

    /// Lets `target` react to an attack by `from`, and turn to it if it may.
    fn provoke(&mut self, target: &EntityId, from: &EntityId, out: &mut Outcome) {
        if self.npcs.contains_key(target) {
            return self.provoke_npc(target, from);
        }
        let (now, who) = (self.now, target.character());
        let Some((at, region)) = self.fighter_at(from) else {
            return;
        };
        let willing = self.may_attack(target, from).is_ok();
        let Some(player) = self.players.get_mut(&who) else {
            return;
        };
        visit::tick::close(player, out);
        skilling::tick::put_down(player, Some(Refusal::Interrupted), out);
        if home_teleport::tick::call_off(player, out) {
            out.events.push(failed(player, Refusal::Interrupted));
        }
        let heard = player.agent.is_some() || now.since(player.fight.heard_at) < UNHEARD_TICKS;
        let flees = player.agent.as_ref().is_some_and(|agent| agent.flees(now));
        let turns =
            player.record.combat_settings.retaliates && player.fight.aim.is_none() && !flees;
        if !willing || !heard || !turns || !player.free() {
            return;
        }
        interrupt(player, out);
        player.gait.path.clear();
        player.fight.aim = Some(Aim {
            target: from.clone(),
            region,
            seen_at: at,
        });
        let speed = fighter::player(&self.content, player.record()).speed_ticks;
        let clash = &mut player.fight.clash;
        clash.attacks_at = clash.attacks_at.max(now.after(timing::retaliation(speed)));
    }

    fn provoke_npc(&mut self, id: &EntityId, from: &EntityId) {
        let now = self.now;
        let Some(npc) = self.npcs.get(id) else {
            return;
        };
        let combat = &npc.state.combat;
        let has = combat.target.as_ref();
        let has = has.is_some_and(|who| self.fighter_at(&who.entity()).is_some());
        if !npc.placement.kind.fight.retaliates || combat.returning || has {
            return;
        }
        if let Some(npc) = self.npcs.get_mut(id) {
            let speed = npc.placement.kind.fight.speed_ticks;
            let combat = &mut npc.state.combat;
            combat.target = Some(from.character());
            combat.near = false;
            npc.state.goal = None;
            let clash = &mut combat.clash;
            clash.attacks_at = clash.attacks_at.max(now.after(timing::retaliation(speed)));
        }
    }

    /// Lands the blows that are due. Returns each fighter without health, with the dealer of the
    /// last blow.
    pub(crate) fn land_blows(
        &mut self,
        value: Value,
        out: &mut Outcome,
    ) -> Vec<(EntityId, EntityId)> {
        if value == Value::Unavailable {
            return Vec::new();
        }
        let now = self.now;
        let due = |blows: &[Blow]| blows.iter().any(|blow| blow.lands_at <= now);
        let npcs = self.npcs.iter();
        let npcs = npcs.filter(|(_, npc)| due(&npc.state.combat.clash.coming));
        let players = self.players.iter();
        let players = players.filter(|(_, p)| due(&p.fight.clash.coming) && p.free());
        let struck: Vec<EntityId> = npcs
            .map(|(id, _)| id.clone())
            .chain(players.map(|(who, _)| who.entity()))
            .collect();
        let mut dead = Vec::new();
        for target in struck {
            for blow in self.due_blows(&target, now) {
                if self.land(&target, &blow, out) {
                    dead.push((target.clone(), blow.from));
                    break;
                }
            }
        }
        dead
    }

    /// Takes out the blows that land now, except those of a player that is being handed over.
    fn due_blows(&mut self, target: &EntityId, now: Tick) -> Vec<Blow> {
        let coming = self
            .clash_mut(target)
            .map(|clash| std::mem::take(&mut clash.coming));
        let away = |from: &EntityId| {
            let player = self.players.get(&from.character());
            player.is_some_and(|player| player.gait.held)
        };
        let lands = |blow: &Blow| blow.lands_at <= now && !away(&blow.from);
        let coming = coming.unwrap_or_default().into_iter();
        let (due, rest): (Vec<Blow>, Vec<Blow>) = coming.partition(lands);
        if let Some(clash) = self.clash_mut(target) {
            clash.coming = rest;
        }
        due
    }

    /// Lands a blow. Returns whether it was the target's last.
    fn land(&mut self, target: &EntityId, blow: &Blow, out: &mut Outcome) -> bool {
        let now = self.now;
        let Some((tile, _)) = self.fighter_at(target) else {
            return false;
        };
        let Some((health, max_health)) = self.health_mut(target) else {
            return false;
        };
        let damage = blow.damage.min(*health);
        *health -= damage;
        let health = *health;
        if let Some(clash) = self.clash_mut(target) {
            clash.fought_at = Some(now);
            clash.mends_at = clash.mends_at.max(now.after(UNMENDED_TICKS));
        }
        if let Some(clash) = self.clash_mut(&blow.from) {
            clash.fought_at = clash.fought_at.max(Some(now));
        }
        if let Some(npc) = self.npcs.get_mut(target) {
            note(&mut npc.state.combat.hurt_by, blow.from.character(), damage);
        } else {
            out.emit(vitals::Event::Changed {
                who: target.character(),
            });
        }
        out.touched.insert(target.clone());
        let hit = Hit {
            tick: now,
            attacker: blow.from.clone(),
            target: target.clone(),
            tile,
            damage,
            kind: blow.kind,
            health,
            max_health,
            killed: health == 0,
        };
        for who in [blow.from.character(), target.character()] {
            if self.players.contains_key(&who) {
                out.emit(Event::Hit(who, hit.clone()));
            }
        }
        out.hits.push(hit);
        let learner = blow.from.character();
        for (skill, tenths) in style::lessons(blow.kind, blow.style, damage, blow.cast_xp_tenths) {
            self.train(&learner, skill, tenths, out);
        }
        health == 0
    }

    /// Returns somebody's health, and its health when well.
    fn health_mut(&mut self, id: &EntityId) -> Option<(&mut u32, u32)> {
        if let Some(npc) = self.npcs.get_mut(id) {
            let most = npc.placement.kind.health;
            return Some((&mut npc.state.health, most));
        }
        let player = self.players.get_mut(&id.character())?;
        let most = player.record.max_health();
        Some((&mut player.record.health, most))
    }
}

/// Notes the damage that `who` dealt, as far as there is room.
fn note(hurt_by: &mut Vec<(CharacterId, u32)>, who: CharacterId, damage: u32) {
    if damage == 0 {
        return;
    }
    let known = hurt_by.iter_mut().find(|(by, _)| *by == who);
    if let Some((_, sum)) = known {
        *sum = sum.saturating_add(damage);
    } else if hurt_by.len() < HURT_BY_MAX {
        hurt_by.push((who, damage));
    }
}
