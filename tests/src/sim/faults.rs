//! What goes wrong, by the seed.

use rand::RngExt;

use super::{Event, Sim};

/// How often what goes wrong. Chances are in ten thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// A message is lost.
    pub lost: u32,
    /// A message takes long.
    pub slow: u32,
    /// A request arrives twice.
    pub repeated: u32,
    /// Milliseconds between two great faults, about; 0: there are none.
    pub great_ms: u64,
    /// Players log in twice.
    pub second_logins: bool,
}

impl Faults {
    /// Everything works.
    pub const NONE: Faults = Faults {
        lost: 0,
        slow: 0,
        repeated: 0,
        great_ms: 0,
        second_logins: false,
    };

    /// Much goes wrong.
    pub const MANY: Faults = Faults {
        lost: 300,
        slow: 400,
        repeated: 500,
        great_ms: 6_000,
        second_logins: true,
    };

    /// Hardly anything works.
    pub const STORM: Faults = Faults {
        lost: 900,
        slow: 1_500,
        repeated: 1_000,
        great_ms: 2_500,
        second_logins: true,
    };
}

impl Sim {
    /// Whether things go wrong at all now.
    pub(crate) fn faulty(&self) -> bool {
        self.now < self.begun + self.settings.ticks * super::TICK_MS
    }

    /// One great fault, and when the next one comes.
    pub(crate) fn fault(&mut self) {
        let every = self.settings.faults.great_ms;
        if every == 0 || !self.faulty() {
            return;
        }
        let wait = self.dice.random_range(every / 4..every * 2);
        self.after(wait, Event::Fault);
        let zone = self.dice.random_range(0..self.zones.len());
        let lives = self.zones[zone].run.is_some() && !self.zones[zone].paused;
        match self.dice.random_range(0..100) {
            0..25 if lives => self.kill(zone),
            25..50 if lives => {
                let ms = self.dice.random_range(500..14_000);
                self.pause(zone, ms);
            }
            50..60 if lives => self.stop(zone),
            60..85 => {
                let links: Vec<(usize, u64)> = self.links.keys().copied().collect();
                if !links.is_empty() {
                    let (gateway, run) = links[self.dice.random_range(0..links.len())];
                    self.cut_link(gateway, run);
                }
            }
            85.. => self.store_leaves(),
            _ => {}
        }
    }

    fn store_leaves(&mut self) {
        if self.store_away {
            return;
        }
        let ms = self.dice.random_range(300..9_000);
        self.tell(|| format!("the store is away for {ms} ms"));
        self.coverage.count("fault: store away");
        self.store_away = true;
        self.after(ms, Event::StoreBack);
    }

    pub(crate) fn store_back(&mut self) {
        if std::mem::take(&mut self.store_away) {
            self.tell(|| "the store is there again".to_owned());
            self.store.was_away();
        }
    }

    /// From now on nothing goes wrong any more.
    pub(crate) fn calm_down(&mut self) {
        self.tell(|| "the faults end".to_owned());
        self.store_back();
        for zone in 0..self.zones.len() {
            self.thaw(zone);
        }
    }
}
