//! Gateways: a link with every run of the directory, and sessions that attach to whoever plays
//! their character. Simple clients of the frames: the real gateway's view is not simulated.

use std::collections::{BTreeMap, BTreeSet};

use proto::rpc::{
    common::v1::Chunk,
    persistence::v1::{DirectoryUpdate, RunState},
    zone::v1::{Frame, FromZone, Subscribe, from_zone::Message, to_zone},
};
use rand::RngExt;
use zone_server::simulation::{Heard, LinkEnd};

use super::{Event, Sim, faults::Peer, session::Session};

/// A gateway process.
pub(crate) struct Gateway {
    number: usize,
    pub(crate) version: u64,
    /// Address by run.
    pub(crate) runs: BTreeMap<u64, String>,
    /// Run by region.
    pub(crate) owners: BTreeMap<(i32, i32), u64>,
    /// Regions that nobody may play.
    paused: BTreeSet<(i32, i32)>,
    pub(crate) sessions: BTreeMap<String, Session>,
}

impl Gateway {
    pub(crate) fn new(number: usize) -> Gateway {
        Gateway {
            number,
            version: 0,
            runs: BTreeMap::new(),
            owners: BTreeMap::new(),
            paused: BTreeSet::new(),
            sessions: BTreeMap::new(),
        }
    }

    /// Returns whether a region is paused, and nobody's.
    pub(crate) fn rests(&self, region: (i32, i32)) -> bool {
        let owner = self.owners.get(&region).copied().unwrap_or(0);
        owner == 0 && self.paused.contains(&region)
    }

    pub(crate) fn id(&self) -> String {
        format!("g{}", self.number)
    }
}

/// A link between a gateway and a run.
pub(crate) struct Link {
    pub(crate) number: u64,
    pub(crate) zone: usize,
    pub(crate) life: u64,
    /// Nothing before the run has it.
    pub(crate) end: Option<LinkEnd>,
    /// The gateway knows that it stands.
    pub(crate) up: bool,
    /// Nothing goes through it any more, and nobody has noticed.
    pub(crate) cut: bool,
    /// The last moment at which something comes out, at either end: order is kept.
    to_zone: u64,
    to_gateway: u64,
}

/// Message that a gateway gets over a link.
#[derive(Debug)]
pub(crate) enum ToGateway {
    Control(Box<FromZone>),
    Frame(Box<Frame>),
    Ended,
}

impl Sim {
    /// Takes a new directory.
    pub(crate) fn gateway_directory(&mut self, number: usize, update: DirectoryUpdate) {
        let gateway = &mut self.gateways[number];
        if update.unchanged || update.version <= gateway.version {
            return;
        }
        gateway.version = update.version;
        gateway.runs = update
            .runs
            .iter()
            .filter(|run| run.state() != RunState::Fenced)
            .map(|run| (run.run_id, run.address.clone()))
            .collect();
        gateway.owners = update
            .regions
            .iter()
            .filter(|row| row.run_id != 0)
            .filter_map(|row| row.region.map(|at| ((at.x, at.z), row.run_id)))
            .collect();
        let paused = update.regions.iter().filter(|row| row.paused);
        gateway.paused = paused
            .filter_map(|row| row.region.map(|at| (at.x, at.z)))
            .collect();
        let runs: Vec<u64> = gateway.runs.keys().copied().collect();
        let gone: Vec<u64> = self
            .links
            .keys()
            .filter(|(of, run)| *of == number && !runs.contains(run))
            .map(|(_, run)| *run)
            .collect();
        for run in gone {
            self.link_lost(number, run);
        }
        for run in runs {
            if !self.links.contains_key(&(number, run)) {
                let wait = self.dice.random_range(1..20);
                self.after(
                    wait,
                    Event::Dial {
                        gateway: number,
                        run,
                    },
                );
            }
        }
        self.seek_again(number);
    }

    /// Lets a gateway call a run with which it has no link.
    pub(crate) fn dial(&mut self, gateway: usize, run: u64) {
        let Some(address) = self.gateways[gateway].runs.get(&run) else {
            return;
        };
        if self.links.contains_key(&(gateway, run)) {
            return;
        }
        let zone = super::zone::at(address);
        let here = self.zones[zone].run.as_ref().map(|here| here.id());
        let parted = self.are_parted(zone, Peer::Gateway(gateway));
        let refused = self.zones[zone].down || here != Some(run) || parted || self.loses();
        if refused {
            let wait = self.dice.random_range(100..1_000);
            return self.after(wait, Event::Dial { gateway, run });
        }
        self.link_numbers += 1;
        let number = self.link_numbers;
        let link = Link {
            number,
            zone,
            life: self.zones[zone].life,
            end: None,
            up: false,
            cut: false,
            to_zone: 0,
            to_gateway: 0,
        };
        self.links.insert((gateway, run), link);
        let wait = self.delay();
        let linked = Event::Linked {
            gateway,
            run,
            zone,
            number,
        };
        self.after(wait, linked);
    }

    /// Connects a link with its run.
    pub(crate) fn linked(&mut self, gateway: usize, run: u64, zone: usize, number: u64) {
        let Some(link) = self.links.get_mut(&(gateway, run)) else {
            return;
        };
        if link.number != number || link.cut {
            return;
        }
        let life = link.life;
        let process = &mut self.zones[zone];
        let Some(live) = process.run.as_mut().filter(|_| process.life == life) else {
            self.links.remove(&(gateway, run));
            let wait = self.dice.random_range(100..1_000);
            return self.after(wait, Event::Dial { gateway, run });
        };
        link.end = Some(live.link(&self.gateways[gateway].id(), number));
        link.up = true;
        let all = (-4..4).flat_map(|x| (-4..4).map(move |z| Chunk { x, z }));
        let subscribe = Subscribe {
            add: all.collect(),
            ..Subscribe::default()
        };
        let heard = Heard::Subscribe {
            gateway_id: self.gateways[gateway].id(),
            link: number,
            subscribe,
        };
        live.hear(heard, self.now);
        self.coverage.count("link: stands");
        self.after_run(zone);
        self.seek_again(gateway);
    }

    /// Sends a message of a run to a gateway.
    pub(crate) fn link_says(&mut self, gateway: usize, run: u64, message: ToGateway) {
        let delay = self.delay();
        let Some(link) = self.links.get_mut(&(gateway, run)).filter(|link| !link.cut) else {
            return;
        };
        let at = link.to_gateway.max(self.now + delay);
        link.to_gateway = at;
        let number = link.number;
        let event = Event::ToGateway {
            gateway,
            run,
            number,
            message: Box::new(message),
        };
        self.at(at, event);
    }

    /// Sends a message of a gateway to a run; false: there is no link.
    pub(crate) fn link_tells(&mut self, gateway: usize, run: u64, said: to_zone::Message) -> bool {
        let delay = self.delay();
        let gateway_id = self.gateways[gateway].id();
        let Some(link) = self.links.get_mut(&(gateway, run)).filter(|link| link.up) else {
            return false;
        };
        if link.cut {
            // It is written into a connection that leads nowhere.
            return true;
        }
        let at = link.to_zone.max(self.now + delay);
        link.to_zone = at;
        let heard = Heard::Gateway {
            gateway_id,
            link: link.number,
            message: Box::new(said),
        };
        let event = Event::Hears {
            zone: link.zone,
            life: link.life,
            heard: Box::new(heard),
        };
        self.at(at, event);
        true
    }

    pub(crate) fn gateway_hears(&mut self, gateway: usize, run: u64, number: u64, said: ToGateway) {
        if self
            .links
            .get(&(gateway, run))
            .is_none_or(|link| link.number != number)
        {
            return;
        }
        match said {
            ToGateway::Ended => self.link_lost(gateway, run),
            ToGateway::Control(message) => {
                if let Some(message) = message.message {
                    self.run_says(gateway, run, message);
                }
            }
            ToGateway::Frame(frame) => self.framed(gateway, run, *frame),
        }
    }

    fn run_says(&mut self, gateway: usize, run: u64, message: Message) {
        match message {
            Message::Attached(attached) => self.attached(gateway, run, attached),
            Message::AttachRefused(refused) => self.attach_refused(gateway, run, &refused),
            Message::Moved(moved) => self.moved(gateway, &moved),
            Message::Left(left) => self.left(gateway, &left),
            Message::RegionMoved(moved) => {
                if let Some(at) = moved.region {
                    self.coverage.count("gateway: region moved");
                    let owners = &mut self.gateways[gateway].owners;
                    owners.insert((at.x, at.z), moved.to_run_id);
                }
            }
            Message::InputLost(lost) => self.input_lost(gateway, &lost),
            Message::Welcome(_) => {}
        }
    }

    /// Lets the gateway notice that a link is over.
    pub(crate) fn link_lost(&mut self, gateway: usize, run: u64) {
        let Some(link) = self.links.remove(&(gateway, run)) else {
            return;
        };
        self.coverage.count("link: ended");
        let gateway_id = self.gateways[gateway].id();
        let ended = Heard::LinkEnded {
            gateway_id,
            link: link.number,
        };
        let wait = self.dice.random_range(1..1_500);
        let event = Event::Hears {
            zone: link.zone,
            life: link.life,
            heard: Box::new(ended),
        };
        self.after(wait, event);
        let wait = self.dice.random_range(50..1_000);
        self.after(wait, Event::Dial { gateway, run });
        self.sessions_lost(gateway, run, link.number);
    }

    /// Ends all links of a run: its gateways notice by their streams.
    pub(crate) fn end_links(&mut self, run: u64) {
        for gateway in 0..self.gateways.len() {
            let wait = self.dice.random_range(1..300);
            let Some(link) = self.links.get_mut(&(gateway, run)) else {
                continue;
            };
            link.end = None;
            let at = link.to_gateway.max(self.now + wait);
            link.to_gateway = at;
            let number = link.number;
            let event = Event::ToGateway {
                gateway,
                run,
                number,
                message: Box::new(ToGateway::Ended),
            };
            self.at(at, event);
        }
    }

    /// Cuts a link: it loses every later message, and both ends notice some time.
    pub(crate) fn cut_link(&mut self, gateway: usize, run: u64) {
        let wait = self.dice.random_range(1..3_000);
        let Some(link) = self.links.get_mut(&(gateway, run)) else {
            return;
        };
        link.cut = true;
        let number = link.number;
        self.coverage.count("fault: link cut");
        self.tell(|| format!("link of gateway {gateway} and run {run} is cut"));
        let event = Event::ToGateway {
            gateway,
            run,
            number,
            message: Box::new(ToGateway::Ended),
        };
        self.after(wait, event);
    }
}
