//! Laws that must hold a while after the faults have ended.

use std::collections::BTreeMap;

use zone_server::simulation::SimRun;

use super::super::{
    Sim, TICK_MS,
    player::Stage,
    session::{Place, RECALLED_AFTER_MS},
};

/// At the very end nobody moves for so long, and all that was under way arrives.
pub(crate) const QUIET_TICKS: u64 = 30;
/// Something may be under way at one moment, but not at so many, a tick apart.
const LOOKS: u64 = 5;

/// Faults at a look: a name for each, and its state.
type Wrongs = BTreeMap<String, String>;

impl Sim {
    /// Returns the times of the last ticks, at each of which the laws look at everything. A fault
    /// that all of them find breaks the law that everything comes right.
    pub(crate) fn looks(&self) -> impl Iterator<Item = u64> + use<> {
        let ticks = self.settings.ticks + self.settings.calm_ticks;
        let calm = self.settings.calm_ticks > 0;
        let end = self.begun + ticks * TICK_MS;
        let looks = (0..LOOKS).map(move |look| end - 1 - look * TICK_MS);
        looks.filter(move |_| calm)
    }

    /// Looks once.
    pub(crate) fn look(&mut self) {
        let mut wrong = Wrongs::new();
        self.regions_and_characters(&mut wrong);
        self.sessions_play(&mut wrong);
        let mut before = self.laws.wrong.take().unwrap_or_else(|| wrong.clone());
        before.retain(|what, _| wrong.contains_key(what));
        for (what, how) in &before {
            self.tell(|| format!("not as it should be: {what}: {how}"));
        }
        self.laws.wrong = Some(before);
    }

    /// Breaks a law if every look found the same fault.
    pub(crate) fn all_is_well(&mut self) {
        let first = self
            .laws
            .wrong
            .take()
            .and_then(|mut wrong| wrong.pop_first());
        if let Some((what, how)) = first {
            let runs = self.zones.iter().filter_map(|zone| zone.run.as_ref());
            for about in runs.map(SimRun::about).collect::<Vec<_>>() {
                self.tell(|| about);
            }
            self.breaks(format!("after the faults: {what}: {how}"));
        }
    }

    /// Checks that each owner plays its regions, and one run plays each character in the world.
    fn regions_and_characters(&self, wrong: &mut Wrongs) {
        let mut held: BTreeMap<(i32, i32), Vec<(u64, u64)>> = BTreeMap::new();
        let mut played: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for run in self.zones.iter().filter_map(|zone| zone.run.as_ref()) {
            for (region, epoch) in run.held() {
                let at = (region.x, region.z);
                held.entry(at).or_default().push((run.id(), epoch));
            }
            for one in run.played().into_iter().filter(|one| one.stands) {
                played.entry(one.who).or_default().push(run.id());
            }
        }
        for (at, owner) in &self.contents.regions {
            let by = held.get(at);
            if by != Some(&vec![*owner]) {
                let how = format!("it is {owner:?}'s, and held by {by:?}");
                wrong.insert(format!("region {at:?}"), how);
            }
        }
        for (who, character) in &self.contents.characters {
            let by = played.get(who);
            if by.map_or(0, Vec::len) != usize::from(character.online) {
                let slots = self.zones.iter().filter_map(|zone| zone.run.as_ref());
                let slots: Vec<_> = slots.flat_map(|run| run.slots(who)).collect();
                let how = format!(
                    "online {}, of region {:?} with sequence {}, played by {by:?}; {slots:?}",
                    character.online, character.region, character.ownership_sequence
                );
                wrong.insert(format!("character {who}"), how);
            }
        }
    }

    /// Checks that some run plays every session, and listened to it in the last ticks.
    fn sessions_play(&self, wrong: &mut Wrongs) {
        let time_limit = 4 * TICK_MS;
        // A gateway that must ask for the outcome of a request has it within that time.
        let late = self.now.saturating_sub(RECALLED_AFTER_MS + time_limit);
        for gateway in &self.gateways {
            for session in gateway.sessions.values() {
                let stage = &self.players[session.player].stage;
                let here = matches!(stage, Stage::In { session: id, .. } if *id == session.id);
                if !here || session.place == Place::Paused {
                    continue;
                }
                let mut open = session.open.iter();
                let unheard = open.find(|(_, open)| open.sent_ms < late);
                let silent = self.now.saturating_sub(session.answered_ms);
                let at = matches!(session.place, Place::At(_));
                if !at || silent > time_limit || unheard.is_some() {
                    let how = format!(
                        "of player {}, {:?}, heard of {silent} ms ago, unanswered {unheard:?}",
                        session.player, session.place,
                    );
                    wrong.insert(format!("session {}", session.id), how);
                }
            }
        }
    }
}
