//! Laws that must hold at every moment; in `calm` at the end; in `value` those of the messages to
//! players.

mod calm;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use persistence_svc::simulation::StoreContents;
use proto::rpc::zone::v1::Private;

use world::CharacterId;

use super::{Sim, TICK_MS, faults::Faults, session::Open};
use crate::watching::Played;
pub(crate) use calm::QUIET_TICKS;
use value::{Holdings, Seen};

/// Ticks within which an answer is saved and reaches the player if nothing goes wrong.
const ANSWER_TICKS: u64 = 20;

/// Memory of the laws.
#[derive(Debug, Default)]
pub(crate) struct Laws {
    /// Answers by player, session epoch and number of the input.
    answered: BTreeSet<(usize, u64, u64)>,
    /// Inputs that were played, by character, session epoch and number.
    played: BTreeSet<Played>,
    /// Holdings that the store had for each character, one after the other.
    had: BTreeMap<String, Vec<Holdings>>,
    /// Possessions that players believe to have, by session.
    seen: BTreeMap<String, Seen>,
    /// Newest version of the store's state that each player heard of.
    latest: BTreeMap<usize, usize>,
    /// Everything that ever lay on the ground, by the store.
    lay: BTreeSet<String>,
    /// When runs were killed.
    pub(crate) killed: BTreeMap<u64, u64>,
    nobody: Seen,
    /// Faults that every look at the end found so far.
    wrong: Option<BTreeMap<String, String>>,
}

impl Laws {
    /// Returns the possessions that a session shows.
    pub(crate) fn seen(&self, session: &str) -> &Seen {
        self.seen.get(session).unwrap_or(&self.nobody)
    }
}

impl Sim {
    /// Checks that no number in the store ever falls.
    pub(crate) fn laws_of_store(&mut self, contents: &StoreContents) {
        let mut broken = Vec::new();
        for (at, (run, epoch)) in &contents.regions {
            let Some((old_run, old)) = self.contents.regions.get(at) else {
                continue;
            };
            if epoch < old || (run != old_run && epoch == old) {
                broken.push(format!(
                    "the epoch of region {at:?} went from {old} to {epoch}"
                ));
            }
        }
        for at in self.contents.paused.intersection(&contents.paused) {
            let run = |of: &StoreContents| of.regions.get(at).map_or(0, |(run, _)| *run);
            if run(&self.contents) == 0 && run(contents) != 0 {
                broken.push(format!("region {at:?} is paused, and somebody's again"));
            }
        }
        for (who, now) in &contents.characters {
            let Some(old) = self.contents.characters.get(who) else {
                continue;
            };
            if now.ownership_sequence < old.ownership_sequence {
                broken.push(format!("the ownership sequence of {who} fell"));
            }
            if now.session_epoch < old.session_epoch {
                broken.push(format!("the session epoch of {who} fell"));
            }
            let owner =
                |contents: &StoreContents, at| contents.regions.get(&at).map(|(run, _)| *run);
            let (was, is) = (
                owner(&self.contents, old.region),
                owner(contents, now.region),
            );
            let same = now.ownership_sequence == old.ownership_sequence;
            let both = was.is_some_and(|run| run != 0) && is.is_some_and(|run| run != 0);
            if same && both && was != is && now.online && old.online {
                broken.push(format!(
                    "{who} changed from run {was:?} to {is:?} with the same sequence"
                ));
            }
        }
        for law in broken {
            self.breaks(law);
        }
        self.remember(contents);
        self.counts_owners(contents);
    }

    /// Counts the changes of owner of regions and lives.
    fn counts_owners(&mut self, contents: &StoreContents) {
        let mut counts = Vec::new();
        let mut owners = Vec::new();
        for (run, state) in &self.contents.runs {
            match contents.runs.get(run) {
                Some(now) if now != state => counts.push("run: drains"),
                Some(_) => {}
                None => match self.laws.killed.get(run) {
                    Some(at) if self.now < at + 2_900 => counts.push("takeover: by witnesses"),
                    _ => counts.push("run: fenced"),
                },
            }
        }
        for (at, (run, _)) in &contents.regions {
            let before = self.contents.regions.get(at).map_or(0, |(run, _)| *run);
            if before == *run {
                continue;
            }
            owners.push((*at, before, *run));
            counts.push(match (before, *run) {
                (0, _) => "region: assigned",
                (run, 0) if contents.runs.contains_key(&run) => "region: left paused",
                (_, 0) => "region: nobody's",
                _ if contents.runs.contains_key(&before) => "region: given",
                _ => "region: taken over",
            });
        }
        for (who, now) in &contents.characters {
            let before = self.contents.characters.get(who);
            let crossed = before.is_some_and(|before| {
                before.region != now.region && before.ownership_sequence != now.ownership_sequence
            });
            if crossed {
                counts.push("character: handed over");
            }
        }
        for (at, before, run) in owners {
            self.tell(|| format!("region {at:?} goes from run {before} to run {run}"));
        }
        for count in counts {
            self.coverage.count(count);
        }
    }

    /// Checks that at most one run that may write plays a character at the store's sequence.
    pub(crate) fn laws_of_runs(&mut self) {
        let mut players: BTreeMap<String, u64> = BTreeMap::new();
        let mut broken = Vec::new();
        for zone in &self.zones {
            let Some(run) = zone.run.as_ref() else {
                continue;
            };
            if !self.contents.runs.contains_key(&run.id()) {
                continue;
            }
            for played in run.played() {
                let Some(stored) = self.contents.characters.get(&played.who) else {
                    broken.push(format!(
                        "run {} plays {}, whom nobody knows",
                        run.id(),
                        played.who
                    ));
                    continue;
                };
                if played.sequence > stored.ownership_sequence {
                    broken.push(format!(
                        "run {} plays {} with sequence {}, the store has {}",
                        run.id(),
                        played.who,
                        played.sequence,
                        stored.ownership_sequence
                    ));
                }
                let current = played.stands && played.sequence == stored.ownership_sequence;
                if current && let Some(other) = players.insert(played.who.clone(), run.id()) {
                    broken.push(format!(
                        "{} is played by runs {other} and {}",
                        played.who,
                        run.id()
                    ));
                }
            }
        }
        for law in broken {
            self.breaks(law);
        }
    }

    /// Checks that nobody is handed over because of its place while it acts on something.
    pub(crate) fn law_of_pins(&mut self, zone: usize, who: &CharacterId) {
        let run = self.zones[zone].run.as_ref();
        if run.is_some_and(|run| run.pinned(who)) {
            self.breaks(format!("{who} is pinned, and handed over all the same"));
        }
    }

    /// Takes a message for a player.
    pub(crate) fn told(&mut self, (player, session): (usize, &str), epoch: u64, message: &Private) {
        self.reads_value(session, message);
        let number = std::str::from_utf8(&message.re)
            .unwrap_or("")
            .parse::<u64>();
        let answers = matches!(message.event.as_str(), "ack" | "error");
        if let Ok(number) = number
            && answers
        {
            self.coverage.count_of("answer", &message.event);
            if !self.laws.answered.insert((player, epoch, number)) {
                self.breaks(format!(
                    "input {number} of player {player} (epoch {epoch}) is answered twice"
                ));
            }
        }
    }

    /// Checks that no request of a session stays without an answer while zones follow later ones,
    /// if nothing goes wrong.
    pub(crate) fn law_of_answers(&mut self, gateway: usize, session: &str) {
        if self.settings.faults != Faults::NONE {
            // Answers may be on their way for as long as somebody is not reached.
            return;
        }
        let since = self.now.saturating_sub(ANSWER_TICKS * TICK_MS);
        let here = self.gateways[gateway].sessions.get(session);
        let late = |open: &(&u64, &Open)| open.1.overtaken_ms.is_some_and(|at| at < since);
        let late = here.and_then(|here| Some((here.player, *here.open.iter().find(late)?.0)));
        if let Some((player, number)) = late {
            self.breaks(format!("input {number} of player {player} is not answered"));
        }
    }

    /// Checks that the store's holdings equal its ledger, and everything has one owner.
    pub(crate) fn law_of_conservation(&mut self) {
        match self.store.check() {
            Ok(found) => {
                if let Some(first) = found.differences.first() {
                    self.breaks(format!("conservation: {first}"));
                }
            }
            Err(why) => self.breaks(format!("the check failed: {why}")),
        }
    }

    /// Inputs that a run has just played.
    pub(crate) fn law_of_inputs(&mut self, played: Vec<Played>) {
        for input in played {
            self.coverage.count("input: played");
            if self.laws.played.contains(&input) {
                let Played {
                    character,
                    session_epoch,
                    number,
                } = &input;
                let law = format!(
                    "input {number} of {character} (epoch {session_epoch}) is played twice"
                );
                self.breaks(law);
            }
            self.laws.played.insert(input);
        }
    }
}
