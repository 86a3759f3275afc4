//! Faults, by the seed.

use rand::RngExt;

use super::{Event, Sim};

/// Chances of the faults, in ten thousand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// A message is lost.
    pub lost: u32,
    /// A message takes long.
    pub slow: u32,
    /// A request arrives twice.
    pub repeated: u32,
    /// Milliseconds between two great faults, on average; 0 for none.
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

/// Peer that a zone may not reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Zone(usize),
    Gateway(usize),
}

impl Sim {
    /// Returns whether things go wrong at all now.
    pub(crate) fn faulty(&self) -> bool {
        self.now < self.begun + self.settings.ticks * super::TICK_MS
    }

    /// Causes one great fault, and plans the next one.
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
            60..70 => self.part(zone),
            70..82 => {
                let links: Vec<(usize, u64)> = self.links.keys().copied().collect();
                if !links.is_empty() {
                    let (gateway, run) = links[self.dice.random_range(0..links.len())];
                    self.cut_link(gateway, run);
                }
            }
            82..93 => self.store_leaves(),
            93.. => self.operator_pauses(),
            _ => {}
        }
    }

    /// Parts a zone from one other zone or gateway; everybody else still reaches both.
    fn part(&mut self, zone: usize) {
        let others = (0..self.zones.len()).filter(|other| *other != zone);
        let gateways = (0..self.gateways.len()).map(Peer::Gateway);
        let peers: Vec<Peer> = others.map(Peer::Zone).chain(gateways).collect();
        let peer = peers[self.dice.random_range(0..peers.len())];
        let ms = self.dice.random_range(500..14_000);
        self.tell(|| format!("zone {zone} and {peer:?} are parted for {ms} ms"));
        self.coverage.count("fault: two parted");
        self.parted.insert((zone, peer), self.now + ms);
        if let Peer::Gateway(gateway) = peer {
            let here = |link: &super::gateway::Link| link.zone == zone;
            let linked = self
                .links
                .iter()
                .find(|((of, _), link)| *of == gateway && here(link));
            if let Some((gateway, run)) = linked.map(|(of, _)| *of) {
                self.cut_link(gateway, run);
            }
        }
    }

    /// Returns whether nothing goes between these two now.
    pub(crate) fn are_parted(&self, zone: usize, peer: Peer) -> bool {
        let until = |pair| self.parted.get(&pair).copied().unwrap_or_default();
        let back = match peer {
            Peer::Zone(other) => until((other, Peer::Zone(zone))),
            Peer::Gateway(_) => 0,
        };
        self.faulty() && self.now < until((zone, peer)).max(back)
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

    /// Pauses a region for a while. An operator who finds no store does not.
    fn operator_pauses(&mut self) {
        let regions: Vec<(i32, i32)> = self.contents.regions.keys().copied().collect();
        if self.store_away || regions.is_empty() {
            return;
        }
        let region = regions[self.dice.random_range(0..regions.len())];
        let ms = self.dice.random_range(300..12_000);
        self.tell(|| format!("the operator pauses region {region:?} for {ms} ms"));
        self.coverage.count("fault: region paused");
        self.switches(region, true);
        self.after(ms, Event::Resume(region));
    }

    /// Resumes a region, once the store is there.
    pub(crate) fn operator_resumes(&mut self, region: (i32, i32)) {
        if self.store_away {
            return self.after(200, Event::Resume(region));
        }
        if self.contents.paused.contains(&region) {
            self.tell(|| format!("the operator resumes region {region:?}"));
            self.switches(region, false);
        }
    }

    fn switches(&mut self, region: (i32, i32), paused: bool) {
        match self.store.pause(self.now, region, paused) {
            Ok(()) => self.store_changed(),
            Err(why) => self.breaks(format!("the operator's switch failed: {why:#}")),
        }
    }

    pub(crate) fn store_back(&mut self) {
        if std::mem::take(&mut self.store_away) {
            self.tell(|| "the store is there again".to_owned());
            self.store.was_away();
        }
    }

    /// Ends all faults from now on.
    pub(crate) fn calm_down(&mut self) {
        self.tell(|| "the faults end".to_owned());
        self.store_back();
        for region in self.contents.paused.clone() {
            self.operator_resumes(region);
        }
        for zone in 0..self.zones.len() {
            self.thaw(zone);
        }
    }
}
