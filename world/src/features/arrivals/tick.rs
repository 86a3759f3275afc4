//! The tick's work for arrivals.

use super::{Arrival, Event, aliases, starter};
use crate::entity::ids::CharacterId;
use crate::entity::player::record::{ENERGY_FULL, PlayerHot, PlayerRecord};
use crate::entity::player::{PID_END, Player};
use crate::features::combat::Dying;
use crate::features::combat::timing::MEND_TICKS;
use crate::features::home_teleport::{self, Homeward};
use crate::features::movement;
use crate::features::movement::Gait;
use crate::features::skilling::Work;
use crate::features::skilling::tick::put_down;
use crate::features::training::skill::Skill;
use crate::item::Value;
use crate::item::ledger::Cause;
use crate::refusal::Refusal;
use crate::rng;
use crate::tick::{Outcome, failed};
use crate::time::Tick;
use crate::world::World;

/// Ticks for which beasts leave a player alone who just logged in, until the player does something.
const SHY_TICKS: u64 = 50;

impl World {
    pub(crate) fn arrivals(&mut self, mut arrivals: Vec<Arrival>, value: Value, out: &mut Outcome) {
        arrivals.sort_by(|a, b| a.record.id.cmp(&b.record.id));
        for arrival in arrivals {
            let who = arrival.record.id.clone();
            let placed = arrival.record.placed;
            let refusal = if self.players.contains_key(&who) {
                Some(Refusal::Busy)
            } else if !self.regions.contains_key(&arrival.region) {
                Some(Refusal::NotFound)
            } else if !placed && value == Value::Unavailable {
                Some(Refusal::StorageUnavailable)
            } else {
                None
            };
            if let Some(refusal) = refusal {
                out.emit(Event::TurnedAway { who, refusal });
                continue;
            }
            self.arrive(arrival, out);
            self.resolve_aliases(&who, value, out);
            if !placed {
                out.changes.altered.insert(who.clone());
                let legs = starter::pack(&self.content, &who);
                // A character that holds too much already begins without the starter things.
                let _ = self.transfer(Some(Cause::Starter), &legs, out);
                self.welcome(&who, out);
            }
        }
        out.touched.append(&mut self.index.take_touched());
    }

    /// Replaces the things that `who` has under an alias by the same things under their ids.
    fn resolve_aliases(&mut self, who: &CharacterId, value: Value, out: &mut Outcome) {
        let player = self.players.get(who).filter(|_| value.open().is_ok());
        let legs = player.map_or_else(Vec::new, |p| aliases::resolved(&self.content, p.record()));
        if !legs.is_empty() {
            // All rules take an alias like its id. So things that do not fit keep the alias.
            let _ = self.transfer(Some(Cause::Note), &legs, out);
        }
    }

    fn arrive(&mut self, arrival: Arrival, out: &mut Outcome) {
        let who = arrival.record.id.clone();
        let mut player = self.arrived(arrival);
        let tile = player.record.tile;
        player.stand(self.content.terrain(), tile);
        out.emit(Event::Joined { who: who.clone() });
        self.drop_far(&mut player, out);
        let came = player.homeward.leaving.is_some();
        let brought = player.homeward.arrived(tile);
        player.record.home_ready_at = player.homeward.ready_at;
        let home = came.then(|| home_teleport::tick::progress(&player));
        let dead = !player.lives();
        self.settle_player(player);
        // If this process does not play the player's duel, the player hears of its end in this
        // tick.
        self.leave_ring(&who, out);
        if brought {
            let whose = who.clone();
            out.emit(movement::Event::Teleported { who: whose, tile });
        }
        out.events.extend(home);
        if brought && dead {
            self.revive(&who, None, out);
        }
    }

    /// Returns the player of an arrival, ready to play.
    fn arrived(&self, arrival: Arrival) -> Player {
        let Arrival {
            mut record,
            hot,
            region,
            look,
        } = arrival;
        // A player that another process hands over brings more than the saved record.
        let logs_in = hot == PlayerHot::default();
        self.ready(&mut record);
        let key = rng::key(record.id.as_str());
        let pid = self.mint.dice(key, self.now).below(PID_END);
        let mut player = Player {
            region,
            region_since: self.now,
            pid,
            gait: Gait::brought(hot.path, hot.trail, record.energy),
            pickup: hot.pickup,
            follow: hot.follow,
            homeward: Homeward {
                // A player from the store brings only the saved time.
                ready_at: hot.homeward.ready_at.max(record.home_ready_at),
                ..hot.homeward
            },
            agent: hot.agent,
            visit: hot.visit,
            open: hot.open,
            skilling: hot.skilling,
            fight: hot.fight,
            dealings: hot.dealings,
            unreachable: None,
            look,
            record,
        };
        if player.record.health == 0 {
            // The player was dead when it left, or when the world stopped.
            let until = self.now.after(1);
            player.fight.dying.get_or_insert(Dying { until });
        }
        let clash = &mut player.fight.clash;
        if clash.mends_at == Tick::default() {
            clash.mends_at = self.now.after(MEND_TICKS);
        }
        player.fight.heard_at = player.fight.heard_at.max(self.now);
        if logs_in {
            player.fight.shy_until = self.now.after(SHY_TICKS);
        }
        player
    }

    /// Places a character that was never played, and keeps all values within their bounds.
    fn ready(&self, record: &mut PlayerRecord) {
        if !record.placed {
            record.tile = self.content.home_of(&record.id);
            record.placed = true;
            record.energy = ENERGY_FULL;
            record.prayer.points = record.level(Skill::Prayer);
        }
        record.energy = record.energy.min(ENERGY_FULL);
        record.settle_skills();
        record.health = record.health.min(record.max_health());
        record.prayer.settle(record.level(Skill::Prayer));
    }

    /// Ends every pending action of the player in regions that this run does not play.
    fn drop_far(&self, player: &mut Player, out: &mut Outcome) {
        let here = |region| self.regions.contains_key(&region);
        let nothing = player.visit.take_if(|v| !here(v.region)).is_some();
        player.fight.aim.take_if(|aim| !here(aim.region));
        if player.pickup.take_if(|p| !here(p.region)).is_some() || nothing {
            out.events.push(failed(player, Refusal::Interrupted));
        }
        let away = |work: &Work| work.region.is_some_and(|region| !here(region));
        if player.skilling.work.as_ref().is_some_and(away) {
            put_down(player, Some(Refusal::Interrupted), out);
        }
    }
}
