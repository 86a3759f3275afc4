//! Requests for emotes, their end, and the rounds of dances in a tick.

use std::sync::Arc;

use super::told::DanceRound;
use super::{Dancer, Emote, Event, Intent, Performed, rules};
use crate::content::NpcPlacement;
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::look::Field;
use crate::geometry::tile::Tile;
use crate::refusal::Refusal;
use crate::request::Answer;
use crate::tick::{Outcome, turn_away};
use crate::world::World;

impl World {
    /// Plays a request about emotes.
    pub(crate) fn answer_emotes(
        &mut self,
        who: &CharacterId,
        intent: Intent,
        out: &mut Outcome,
    ) -> Result<Answer, Refusal> {
        let Intent::Perform { emote } = intent;
        let player = self.players.get_mut(who).ok_or(Refusal::NotFound)?;
        rules::may_perform(player, self.now)?;
        player.gait.path.clear();
        turn_away(player, out);
        let tile = player.tile();
        self.perform(who, emote, tile, out);
        self.dance(who, emote, tile);
        Ok(Answer::Done { value: false })
    }

    fn perform(&mut self, who: &CharacterId, emote: Emote, tile: Tile, out: &mut Outcome) {
        let performed = Performed::begin(emote, tile, self.now);
        self.emotes.performed.insert(who.clone(), performed);
        out.touched.insert(who.entity());
    }

    /// Counts an emote for the dance at `tile`, if there is one.
    fn dance(&mut self, who: &CharacterId, emote: Emote, tile: Tile) {
        let leaders = self.content.dance_leaders().iter();
        let mut leaders = leaders.filter(|leader| self.npcs.contains_key(&leader.id));
        let Some(leader) = leaders.find(|leader| rules::near(leader.tile, tile)) else {
            return;
        };
        let dancers = &mut self.emotes.dancers;
        dancers.retain(|dancer, of| dancer != who || of.leader == leader.id);
        let dancer = dancers.entry(who.clone());
        let dancer = dancer.or_insert_with(|| Dancer::begin(leader));
        dancer.in_step |= emote == rules::led(&self.mint, leader.key, self.emotes.round);
    }

    /// Begins the next round of all dances when it is due.
    pub(crate) fn turn_dances(&mut self, out: &mut Outcome) {
        let round = rules::round(self.now);
        let ended = std::mem::replace(&mut self.emotes.round, round);
        if ended == round {
            return;
        }
        let content = Arc::clone(&self.content);
        for leader in content.dance_leaders() {
            if self.npcs.contains_key(&leader.id) {
                out.touched.insert(leader.id.clone());
                self.tell_round(leader, rules::led(&self.mint, leader.key, ended), out);
            }
        }
        self.cheer(out);
    }

    /// Lets dancers cheer who have been in step for long.
    fn cheer(&mut self, out: &mut Outcome) {
        let dancers = self.emotes.dancers.iter();
        let cheering = dancers.filter(|(_, dancer)| dancer.cheers());
        let cheering = cheering.filter_map(|(who, _)| self.players.get(who));
        let cheering: Vec<_> = cheering
            .map(|player| (player.record.id.clone(), player.tile()))
            .collect();
        for (who, tile) in cheering {
            self.perform(&who, Emote::Cheer, tile, out);
        }
    }

    /// Ends a round in which `leader` performed `emote`.
    fn tell_round(&mut self, leader: &NpcPlacement, emote: Emote, out: &mut Outcome) {
        let all = self.emotes.dancers.iter_mut();
        let dancing: Vec<_> = all.filter(|(_, of)| of.leader == leader.id).collect();
        let dancers = u32::try_from(dancing.len()).unwrap_or(u32::MAX);
        for (who, dancer) in dancing {
            let in_step = dancer.end_round();
            let round = DanceRound {
                leader: leader.id.clone(),
                emote,
                in_step,
                streak: dancer.streak,
                dancers,
            };
            out.emit(Event::Round(who.clone(), round));
        }
    }

    /// Ends emotes that do not go on, and the dance of players that have left it.
    pub(crate) fn end_emotes(&mut self, out: &mut Outcome) {
        let (players, now) = (&self.players, self.now);
        self.emotes.performed.retain(|who, performed| {
            let player = players.get(who);
            let lasts = player.is_some_and(|player| performed.lasts(player, now));
            if !lasts {
                out.touched.insert(who.entity());
            }
            lasts
        });
        let npcs = &self.npcs;
        self.emotes.dancers.retain(|who, dancer| {
            let player = players.get(who);
            let stays = player.is_some_and(|player| dancer.stays(player));
            stays && npcs.contains_key(&dancer.leader)
        });
    }

    /// Returns the public field of the emote that `id` performs, if any.
    pub(crate) fn emote_field(&self, id: &EntityId) -> Option<(&'static str, Field)> {
        let mut leaders = self.content.dance_leaders().iter();
        let led = leaders.find(|leader| leader.id == *id);
        let led = led.map(|leader| rules::led(&self.mint, leader.key, self.emotes.round));
        let own = || self.emotes.performed.get(&id.character());
        let emote = led.or_else(|| own().map(|performed| performed.emote))?;
        Some(("emote", emote.name().into()))
    }
}
