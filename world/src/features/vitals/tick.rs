//! Recovery in time.

use super::Event;
use crate::features::combat::timing::MEND_TICKS;
use crate::tick::Outcome;
use crate::world::World;

impl World {
    /// Heals hurt players that are in no fight.
    pub(crate) fn mend(&mut self, out: &mut Outcome) {
        let now = self.now;
        for (who, player) in &mut self.players {
            let most = player.record.max_health();
            let hurt = player.record.health < most && player.free();
            let clash = &mut player.fight.clash;
            if !hurt || clash.in_combat(now) || now < clash.mends_at {
                continue;
            }
            clash.mends_at = now.after(MEND_TICKS);
            player.record.health += 1;
            out.emit(Event::Changed { who: who.clone() });
            out.touched.insert(who.entity());
        }
        for (id, npc) in &mut self.npcs {
            let most = npc.placement.kind.health;
            let hurt = npc.state.health < most && npc.lives();
            let combat = &mut npc.state.combat;
            if !hurt || combat.clash.in_combat(now) || now < combat.clash.mends_at {
                continue;
            }
            combat.clash.mends_at = now.after(MEND_TICKS);
            npc.state.health += 1;
            if npc.state.health == most {
                combat.hurt_by.clear();
            }
            out.touched.insert(id.clone());
        }
    }
}
