//! The steps of players, their run energy, and border crossings.

use super::{Intent, rules};
use crate::entity::ids::CharacterId;
use crate::entity::player::Player;
use crate::features::combat::mind;
use crate::features::movement::{border, energy};
use crate::features::vitals;
use crate::geometry::tile::Chunk;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::{Outcome, PhaseClock, turn_away};
use crate::world::World;

impl World {
    /// Follows a request to move.
    pub(crate) fn answer_movement(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        searches_end: u64,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        match intent {
            Intent::Walk { to, run } => {
                let (router, terrain) = (&mut self.router, self.content.terrain());
                player.gait.path = rules::way_anew(player, router, terrain, searches_end, to)?;
                turn_away(player, out);
                if let Some(run) = run {
                    choose_pace(player, run, out);
                }
            }
            Intent::Run(run) => choose_pace(player, run, out),
            Intent::Stop => {
                player.gait.path.clear();
                turn_away(player, out);
            }
            Intent::Follow { target } => return self.go_after(who, target, out),
            Intent::Teleport { to } => self.teleport(who, to, out)?,
        }
        Ok(Answer::Done { value: false })
    }

    /// Moves the players. Nobody stands in a player's way, so that the order does not matter here.
    pub(crate) fn move_players(&mut self, phases: &mut dyn PhaseClock, out: &mut Outcome) {
        let terrain = self.content.terrain();
        let now = self.now;
        for (who, player) in &mut self.players {
            phases.region(player.region);
            let settled = mind::settled(player.fight.tolerance.as_ref(), player.tile(), now);
            if settled.is_some() {
                player.fight.tolerance = settled;
            }
            if !player.lives() {
                continue;
            }
            let before = Chunk::from(player.tile());
            if rules::advance(player, terrain, &self.rules) {
                let id = who.entity();
                self.index.shift(before, Chunk::from(player.tile()), &id);
                out.touched.insert(id);
                out.changes.walked.insert(who.clone());
            }
        }
    }

    pub(crate) fn restore_energy(&mut self, out: &mut Outcome) {
        for (who, player) in &mut self.players {
            let ran = player.record.running;
            if energy::tick(player, &self.content) {
                out.emit(vitals::Event::Changed { who: who.clone() });
            }
            if ran != player.record.running {
                out.touched.insert(who.entity());
            }
        }
    }

    pub(crate) fn find_crossings(&mut self, out: &mut Outcome) {
        let crossings = self.players.values();
        let crossings = crossings.filter_map(|player| border::crossing(player, self.now));
        out.crossings.extend(crossings);
    }
}

/// Makes a player run or walk. Tells the client if that is new, or if it does not get its will: it may
/// have shown its choice already. A client that names the same choice with every move hears nothing.
fn choose_pace(player: &mut Player, run: bool, out: &mut Outcome) {
    let changed = energy::choose(player, run);
    let who = &player.record.id;
    if changed {
        out.touched.insert(who.entity());
    }
    if changed || player.record.running != run {
        out.emit(vitals::Event::Changed { who: who.clone() });
    }
}
