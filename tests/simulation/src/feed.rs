//! The store's own work: the planner's rounds, and the directory that is pushed to whoever follows.

use std::collections::BTreeSet;

use proto::rpc::persistence::v1::DirectoryUpdate;
use rand::RngExt;
use zone_server::simulation::Heard;

use super::{CHECK_TICKS, Event, Sim, TICK_MS, Watcher};

impl Sim {
    /// Plays the planner's round, and now and then the check.
    pub(crate) fn plan(&mut self) {
        self.after(200, Event::Plan);
        if self.store_away {
            return;
        }
        if let Err(why) = self.store.plan(self.now) {
            return self.breaks(format!("the planner failed: {why}"));
        }
        if self.store.version(self.now).ok() != Some(self.directory.version) {
            self.store_changed();
        }
        let tick = (self.now - self.begun) / TICK_MS;
        if tick >= self.checked + CHECK_TICKS {
            self.checked = tick;
            self.law_of_conservation();
        }
    }

    /// Notices every change of the store's state and pushes it.
    pub(crate) fn store_changed(&mut self) {
        let contents = match self.store.contents() {
            Ok(contents) => contents,
            Err(why) => return self.breaks(format!("the store cannot be read: {why}")),
        };
        if contents == self.contents {
            return;
        }
        self.laws_of_store(&contents);
        self.contents = contents;
        self.feed();
    }

    /// Pushes the directory if it is another.
    fn feed(&mut self) {
        let version = match self.store.version(self.now) {
            Ok(version) => version,
            Err(why) => return self.breaks(format!("the directory has no version: {why}")),
        };
        if version == self.directory.version {
            return;
        }
        match self.store.directory(self.now) {
            Ok(update) => self.directory = update,
            Err(why) => return self.breaks(format!("the directory cannot be read: {why}")),
        }
        let watchers: Vec<Watcher> = self.pushed.keys().copied().collect();
        for to in watchers {
            if self.loses() {
                // Its stream ended; it will follow anew.
                self.coverage.count("directory: stream ended");
                self.pushed.remove(&to);
                let wait = self.dice.random_range(500..4_000);
                self.after(wait, Event::Follows(to));
            } else {
                let update = self.directory.clone();
                self.push(to, update);
            }
        }
    }

    /// Pushes an update; the updates of one watcher arrive in order.
    fn push(&mut self, to: Watcher, update: DirectoryUpdate) {
        let delay = self.delay();
        let last = self.pushed.get(&to).copied().unwrap_or_default();
        let at = last.max(self.now + delay);
        self.pushed.insert(to, at);
        let update = Box::new(update);
        self.at(at, Event::Pushed { to, update });
    }

    /// Sends a sign of life to everybody who follows.
    pub(crate) fn sign(&mut self) {
        self.after(1_000, Event::Sign);
        if self.store_away {
            return;
        }
        let watchers: BTreeSet<Watcher> = self.pushed.keys().copied().collect();
        for to in watchers {
            let update = DirectoryUpdate {
                version: self.directory.version,
                incarnation: self.directory.incarnation,
                unchanged: true,
                ..DirectoryUpdate::default()
            };
            self.push(to, update);
        }
    }

    /// Lets a process follow the directory, from now or again.
    pub(crate) fn follows(&mut self, watcher: Watcher) {
        if let Watcher::Zone(zone, life) = watcher
            && !self.zones[zone].lives(life)
        {
            return;
        }
        if self.store_away {
            let wait = self.dice.random_range(200..1_000);
            return self.after(wait, Event::Follows(watcher));
        }
        self.pushed.entry(watcher).or_default();
        let update = self.directory.clone();
        if update.version > 0 {
            self.push(watcher, update);
        }
    }

    /// Lets a process hear of the directory.
    pub(crate) fn pushed(&mut self, to: Watcher, update: DirectoryUpdate) {
        match to {
            Watcher::Zone(zone, life) => self.hears(zone, life, Heard::Directory(update)),
            Watcher::Gateway(gateway) => self.gateway_directory(gateway, update),
        }
    }
}
