//! Zone processes: each lives one run after the other. A process may be killed, paused and go on
//! as a zombie, or be stopped in order and started anew.

use std::collections::VecDeque;

use persistence_svc::simulation::{Answer, Ask as StoreAsk};
use proto::rpc::persistence::v1::{
    OnlineCharactersRequest, RegisterRequest, ReleaseRequest, RenewRequest, SuspectRequest,
};
use rand::RngExt;
use zone_server::simulation::{Ended, FromLink, Heard, SimRun};

use super::{
    Event, Sim, TICK_MS, Watcher,
    bus::{Call, Callee, Reply, Result_, Why},
    gateway::ToGateway,
    land,
};

/// A zone process.
pub(crate) struct Zone {
    number: usize,
    /// Grows with every run that it tries to live.
    pub(crate) life: u64,
    pub(crate) run: Option<SimRun>,
    /// Nothing happens in it.
    pub(crate) paused: bool,
    /// Events that wait for it to go on.
    pub(crate) waiting: VecDeque<Event>,
    /// It is no process now.
    pub(crate) down: bool,
}

impl Zone {
    pub(crate) fn new(number: usize) -> Zone {
        Zone {
            number,
            life: 0,
            run: None,
            paused: false,
            waiting: VecDeque::new(),
            down: false,
        }
    }

    /// Returns whether it still lives this life.
    pub(crate) fn lives(&self, life: u64) -> bool {
        self.life == life && !self.down
    }

    fn address(&self) -> String {
        format!("zone:{}", self.number)
    }
}

/// Returns the zone at an address.
pub(crate) fn at(address: &str) -> usize {
    address
        .rsplit(':')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}

impl Sim {
    /// Plays the ticks that are due by a zone's clock.
    pub(crate) fn edge(&mut self, zone: usize) {
        self.after(TICK_MS, Event::Edge(zone));
        if self.zones[zone].paused {
            return;
        }
        self.play_due(zone);
    }

    fn play_due(&mut self, zone: usize) {
        let now = self.now;
        let Some(run) = self.zones[zone].run.as_mut() else {
            return;
        };
        let played = run.tick(now);
        self.coverage.add("ticks", played as u64);
        let inputs = crate::watching::take_played();
        self.law_of_inputs(inputs);
        self.after_run(zone);
        self.laws_of_runs();
    }

    /// Registers a run of a zone.
    pub(crate) fn register(&mut self, zone: usize) {
        let process = &mut self.zones[zone];
        process.down = false;
        process.life += 1;
        let life = process.life;
        let request = RegisterRequest {
            address: process.address(),
            build: "simulated".to_owned(),
            content_hash: self.stage.ground.content.hash().to_owned(),
            regions: land::regions(&self.stage.ground.content),
            ..RegisterRequest::default()
        };
        let ask = Callee::store(StoreAsk::Register(request));
        let call = Call {
            by: Some((zone, life)),
            why: Why::Register { asked_ms: self.now },
        };
        self.call(call, ask, 2_000);
    }

    pub(crate) fn registered(&mut self, zone: usize, life: u64, asked_ms: u64, result: Result_) {
        if !self.zones[zone].lives(life) || self.zones[zone].run.is_some() {
            return;
        }
        let Ok(Reply::Store(Answer::Register(reply))) = result.map(|reply| *reply) else {
            // The store fences a run whose registration got no answer in time.
            self.coverage.count("register: again");
            let wait = self.dice.random_range(50..1_000);
            return self.after(wait, Event::Register(zone));
        };
        let run = SimRun::new(&self.stage.ground, &reply, asked_ms.midpoint(self.now));
        self.tell(|| format!("zone {zone} lives run {}", reply.run_id));
        self.zones[zone].run = Some(run);
        self.coverage.count("run: begins");
        self.after(1, Event::Follows(Watcher::Zone(zone, life)));
        let wait = self.dice.random_range(1..1_000);
        self.after(wait, Event::Renew(zone, life));
        let wait = self.dice.random_range(1..5_000);
        self.after(wait, Event::Reconcile(zone, life));
    }

    pub(crate) fn renew(&mut self, zone: usize, life: u64) {
        let Some(run_id) = self.run_of(zone, life) else {
            return;
        };
        let request = RenewRequest {
            run_id,
            ..RenewRequest::default()
        };
        let call = Call {
            by: Some((zone, life)),
            why: Why::Renew { asked_ms: self.now },
        };
        let ask = Callee::store(StoreAsk::Renew(request));
        self.call(call, ask, 2_000);
        self.after(1_000, Event::Renew(zone, life));
    }

    pub(crate) fn reconcile(&mut self, zone: usize, life: u64) {
        let Some(run_id) = self.run_of(zone, life) else {
            return;
        };
        let request = OnlineCharactersRequest { run_id };
        let ask = Callee::store(StoreAsk::OnlineCharacters(request));
        let (by, why) = (Some((zone, life)), Why::Online);
        self.call(Call { by, why }, ask, 2_000);
        self.after(5_000, Event::Reconcile(zone, life));
    }

    fn run_of(&self, zone: usize, life: u64) -> Option<u64> {
        let process = &self.zones[zone];
        let run = process.run.as_ref().filter(|_| process.lives(life))?;
        Some(run.id())
    }

    /// Lets a run hear something, unless it is over.
    pub(crate) fn hears(&mut self, zone: usize, life: u64, heard: Heard) {
        let now = self.now;
        let process = &mut self.zones[zone];
        if !process.lives(life) {
            return;
        }
        let Some(run) = process.run.as_mut() else {
            return;
        };
        run.hear(heard, now);
        self.after_run(zone);
    }

    /// Handles the results of a run: its calls, its messages to gateways, and its end.
    pub(crate) fn after_run(&mut self, zone: usize) {
        let life = self.zones[zone].life;
        let Some(run) = self.zones[zone].run.as_mut() else {
            return;
        };
        let (run_id, asks, ended) = (run.id(), run.asks(), run.ended().cloned());
        for ask in asks {
            self.asks((zone, life), run_id, ask);
        }
        self.drain_links(run_id);
        if let Some(ended) = ended {
            self.run_ended(zone, run_id, &ended);
        }
    }

    fn drain_links(&mut self, run_id: u64) {
        for gateway in 0..self.gateways.len() {
            let mut messages = Vec::new();
            let Some(link) = self.links.get_mut(&(gateway, run_id)) else {
                continue;
            };
            while let Some(message) = link.end.as_mut().and_then(|end| end.take()) {
                messages.push(match message {
                    FromLink::Control(message) => ToGateway::Control(Box::new(message)),
                    FromLink::Frame(frame) => ToGateway::Frame(Box::new(frame)),
                });
            }
            for message in messages {
                self.link_says(gateway, run_id, message);
            }
        }
    }

    fn run_ended(&mut self, zone: usize, run_id: u64, ended: &Ended) {
        self.tell(|| format!("zone {zone}: run {run_id} ended: {ended:?}"));
        let how = match ended {
            Ended::Stopped => "stopped",
            Ended::Fenced => "fenced",
            Ended::Astray => "astray",
            Ended::Refused => "refused",
            Ended::Panicked(_) => "panicked",
        };
        self.coverage.count_of("run ended", how);
        if matches!(ended, Ended::Refused | Ended::Panicked(_)) {
            self.breaks(format!("run {run_id} ended: {ended:?}"));
        }
        self.zones[zone].run = None;
        let life = self.zones[zone].life;
        self.zones[zone].life += 1;
        self.end_links(run_id);
        if matches!(ended, Ended::Stopped | Ended::Astray) {
            let ask = Callee::store(StoreAsk::Release(ReleaseRequest { run_id }));
            let (by, why) = (Some((zone, life)), Why::Release);
            self.call(Call { by, why }, ask, 2_000);
        }
        if *ended == Ended::Stopped {
            // The process is gone, and another is started in its place.
            let wait = self.dice.random_range(500..10_000);
            self.after(wait, Event::Register(zone));
        } else {
            self.after(500, Event::Register(zone));
        }
    }

    /// Kills the process; another one starts after a while.
    pub(crate) fn kill(&mut self, zone: usize) {
        let process = &mut self.zones[zone];
        let run_id = process.run.take().map(|run| run.id());
        process.life += 1;
        process.down = true;
        process.paused = false;
        process.waiting.clear();
        self.tell(|| format!("zone {zone} is killed (run {run_id:?})"));
        self.coverage.count("fault: zone killed");
        if let Some(run_id) = run_id {
            self.end_links(run_id);
            self.laws.killed.insert(run_id, self.now);
            self.witnesses(zone, run_id);
        }
        let wait = self.dice.random_range(200..15_000);
        self.after(wait, Event::Register(zone));
    }

    /// Lets every process that had a link with a run notice that its process is gone.
    fn witnesses(&mut self, zone: usize, run: u64) {
        let gateways = self
            .gateways
            .iter()
            .map(|gateway| format!("gateway:{}", gateway.id()));
        let peers = self.zones.iter().filter_map(|peer| peer.run.as_ref());
        let peers = peers.map(|peer| format!("run:{}", peer.id()));
        let witnesses: Vec<String> = gateways.chain(peers).collect();
        for witness in witnesses {
            let wait = self.dice.random_range(20..2_000);
            let suspects = Event::Suspects { witness, zone, run };
            self.after(wait, suspects);
        }
    }

    /// Lets a witness report a run: its stream was reset, and the run's address refuses a new
    /// connection.
    pub(crate) fn suspects(&mut self, witness: String, zone: usize, run: u64) {
        if !self.zones[zone].down {
            return;
        }
        self.coverage.count("suspect: said");
        let request = SuspectRequest {
            run_id: run,
            witness,
        };
        let ask = Callee::store(StoreAsk::Suspect(request));
        let (by, why) = (None, Why::Suspect);
        self.call(Call { by, why }, ask, 2_000);
    }

    /// Pauses the process, which goes on later as if nothing had been.
    pub(crate) fn pause(&mut self, zone: usize, ms: u64) {
        self.tell(|| format!("zone {zone} is paused for {ms} ms"));
        self.coverage.count("fault: zone paused");
        self.zones[zone].paused = true;
        self.after(ms, Event::Thaw(zone));
    }

    pub(crate) fn thaw(&mut self, zone: usize) {
        if !std::mem::take(&mut self.zones[zone].paused) {
            return;
        }
        self.tell(|| format!("zone {zone} goes on"));
        let run = self.zones[zone].run.as_ref().map(SimRun::id);
        if run.is_some_and(|run| !self.contents.runs.contains_key(&run)) {
            self.coverage.count("zombie: goes on");
        }
        let ticks_first = self.chance(5_000);
        if ticks_first {
            self.play_due(zone);
        }
        let waiting = std::mem::take(&mut self.zones[zone].waiting);
        for event in waiting {
            // A pause ends at one moment: all that waited happens at it.
            self.after(0, event);
        }
    }

    /// Stops the process in order.
    pub(crate) fn stop(&mut self, zone: usize) {
        self.tell(|| format!("zone {zone} is stopped"));
        self.coverage.count("fault: zone stopped");
        let life = self.zones[zone].life;
        self.hears(zone, life, Heard::Stop);
    }
}
