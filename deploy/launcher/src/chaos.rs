//! `--chaos`: zone servers as processes of their own, which operators kill, freeze and cut off from
//! the console, and how the world recovers.
//!
//! Always: no process outlives the launcher, however that ends. A process has one fault at a time.
//! A frozen process goes on, and a wire that holds lets go, at the end of the fault and at the stop.

mod board;
mod child;
mod desk;
mod folder;
mod keeper;
mod relay;

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use gateway::chaos::{Fault, FaultKind, FaultOrder, SECONDS};
use nix::sys::signal::Signal;
use opentelemetry::metrics::Meter;
use proto::rpc::persistence::v1::DirectoryUpdate;
use service_runtime::{
    authority::{Authority, CERTIFICATE_DAYS},
    config::Env,
    rpc::{Identity, Role, Trust},
    tasks::TaskGroup,
};
use tokio::{
    net::UnixListener,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use self::{
    board::{Board, Refused},
    folder::Folder,
    keeper::{Keeper, Nursery},
    relay::{Relay, Wire},
};
use crate::{directory, plan};

pub(crate) use child::run as run_child;

/// One zone server, as the supervisor reaches it.
struct Zone {
    keeper: Keeper,
    /// From the process to the store.
    to_store: Wire,
    /// From gateways and other zones to the process.
    to_zone: Wire,
}

/// State that the supervisor's tasks share.
struct Shared {
    board: Arc<Mutex<Board>>,
    zones: Vec<Zone>,
    tasks: TaskGroup,
}

/// The zone servers of a world that may be broken, before they run.
pub(crate) struct Supervisor {
    folder: Folder,
    listener: UnixListener,
    names: Vec<(String, SocketAddr)>,
    zones: Vec<Zone>,
    relays: Vec<Relay>,
    board: Arc<Mutex<Board>>,
    trust: Trust,
    persistence: SocketAddr,
}

/// Addresses that zone servers need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    /// The persistence service.
    pub(crate) persistence: SocketAddr,
    /// The launcher's content server.
    pub(crate) assets: Option<SocketAddr>,
}

impl Supervisor {
    /// Binds the wires of a zone server for each environment, and the socket for gateways. `trust` is
    /// the launcher's own.
    pub(crate) async fn bind(
        envs: &[Env],
        around: Around,
        authority: &Authority,
        trust: Trust,
    ) -> anyhow::Result<Self> {
        let folder = Folder::new()?;
        let listener = UnixListener::bind(folder.socket())?;
        let (mut names, mut zones, mut relays) = (Vec::new(), Vec::new(), Vec::new());
        let mut drafts = Vec::new();
        for (n, env) in (1..).zip(envs) {
            let name = format!("zone-server {n}");
            let store = Relay::bind(Some(around.persistence)).await?;
            let zone = Relay::bind(None).await?;
            let mut env = plan::joined(env, store.address, around.assets);
            env.set("ZONE_ADVERTISE", zone.address.to_string());
            let own = format!("zone-server-{n}");
            let (role, known) = (Role::Zone, own.clone());
            let pem = authority.issue(&Identity { role, name: known }, CERTIFICATE_DAYS)?;
            folder.keep(&own, &pem, &mut env)?;
            names.push((name, zone.address));
            drafts.push((env, store.wire(), zone.wire()));
            relays.extend([store, zone]);
        }
        let board = Arc::new(Mutex::new(Board::new(&names)));
        let nursery = Nursery::new();
        for (index, (env, to_store, to_zone)) in drafts.into_iter().enumerate() {
            let (board, wire) = (Arc::clone(&board), to_zone.clone());
            zones.push(Zone {
                keeper: Keeper::new(index, env, wire, board, nursery.clone()),
                to_store,
                to_zone,
            });
        }
        Ok(Self {
            folder,
            listener,
            names,
            zones,
            relays,
            board,
            trust,
            persistence: around.persistence,
        })
    }

    /// Returns the socket for gateways.
    pub(crate) fn socket(&self) -> &Path {
        self.folder.socket()
    }

    /// Returns the zone servers' names and their addresses in the directory.
    pub(crate) fn addresses(&self) -> Vec<(String, SocketAddr)> {
        self.names.clone()
    }

    /// Runs all zone servers until `stop`, then lets each end in order.
    pub(crate) async fn run(self, meter: Meter, stop: CancellationToken) -> anyhow::Result<()> {
        // The wires must carry what the zone servers still save after the stop.
        let behind = CancellationToken::new();
        let wires = TaskGroup::new(&meter, behind.clone());
        for relay in self.relays {
            wires.spawn("relay", relay.run());
        }
        let shared = Arc::new(Shared {
            board: self.board,
            zones: self.zones,
            tasks: TaskGroup::new(&meter, stop.clone()),
        });
        let keepers = TaskGroup::new(&meter, stop.clone());
        for zone in &shared.zones {
            keepers.finish("zone server", zone.keeper.clone().keep(stop.clone()));
        }
        let (learner, trust) = (Arc::clone(&shared), self.trust);
        let look = async move {
            let learn = |update: &DirectoryUpdate| learner.board().learn(Instant::now(), update);
            if let Err(error) = directory::follow(&trust, self.persistence, learn).await {
                tracing::error!(error = format!("{error:#}"), "nobody watches the recovery");
            }
        };
        shared.tasks.spawn("recovery", look);
        let served = desk::serve(self.listener, Arc::clone(&shared), stop.clone()).await;
        stop.cancelled().await;
        shared.let_go();
        keepers.ended().await;
        shared.tasks.ended().await;
        behind.cancel();
        wires.ended().await;
        drop(self.folder);
        served
    }
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        board::lock(&self.board)
    }

    /// Breaks a process. The caller sees how the world recovers by looking at the board.
    fn order(self: &Arc<Self>, order: &FaultOrder) -> Result<Fault, Refused> {
        let (least, most) = SECONDS;
        if !(least..=most).contains(&order.seconds) {
            return Err(Refused::Busy(format!("Seconds are {least} to {most}.")));
        }
        let (now, time) = (Instant::now(), Duration::from_secs(order.seconds.into()));
        let (index, fault) = self.board().begin(now, order)?;
        let zone = &self.zones[index];
        match order.fault {
            FaultKind::Kill => zone.keeper.kill(time),
            FaultKind::Freeze => zone.keeper.signal(Signal::SIGSTOP),
            FaultKind::CutOff => zone.hold(true),
        }
        if order.fault != FaultKind::Kill {
            let (shared, id) = (Arc::clone(self), fault.id);
            self.tasks.spawn("fault", async move {
                sleep(time).await;
                shared.zones[index].mend();
                shared.board().mended(Instant::now(), id);
            });
        }
        tracing::warn!(
            process = order.process,
            fault = order.fault.words(),
            seconds = order.seconds,
            "a process is broken for trial"
        );
        Ok(fault)
    }

    /// Ends all faults.
    fn let_go(&self) {
        self.zones.iter().for_each(Zone::mend);
    }
}

impl Zone {
    fn hold(&self, held: bool) {
        self.to_store.hold(held);
        self.to_zone.hold(held);
    }

    fn mend(&self) {
        self.hold(false);
        self.keeper.signal(Signal::SIGCONT);
    }
}
