//! Faults of a cluster: the act, its duration, and the way back.
//!
//! Always: the same seed gives the same faults in the same order, with the same lengths. Each fault
//! ends before the next begins, so that later findings have one cause.

use std::{fmt, time::Duration};

use anyhow::{Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep};

use super::{
    proxy::{Mode, Proxy},
    wedge,
};
use crate::cluster::{Cluster, Kind, Member, Plan};

/// Somebody must commit within this time.
const COMMIT_WITHIN: Duration = Duration::from_secs(10);
/// A tick that stands still gives its players up after 3 s.
const WEDGED_MOVE_WITHIN: Duration = Duration::from_secs(6);
/// A process that stands still ends itself after 10 s, and takes 2 s for its end.
const WEDGED_ENDS_WITHIN: Duration = Duration::from_secs(20);
/// Time for exchanges that only a synchronous standby keeps.
const EXCHANGE: Duration = Duration::from_secs(3);
/// `persistence-svc promoted` takes no longer.
const PROMOTED_WITHIN: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// kill -9; started again afterwards.
    Kill(Member),
    /// SIGTERM, and a wait for its end; started again afterwards.
    Stop(Member),
    /// SIGSTOP, later SIGCONT: a zombie, when it lasts.
    Freeze(Member),
    /// The tick of a zone server stands still, while all else of the process goes on. The process
    /// ends itself; started again afterwards.
    WedgeTick(usize),
    /// No task of a process runs any more, while the process keeps its connections. It ends itself;
    /// started again afterwards.
    WedgeTasks(Member),
    /// PostgreSQL is killed; started again afterwards.
    KillDatabase,
    /// PostgreSQL is killed, and its synchronous standby takes over; an operator says so.
    Promote,
    /// PostgreSQL's processes are stopped: nothing is refused and nothing answered.
    FreezeDatabase,
    /// One of PostgreSQL's sessions is killed, which makes it restart all.
    KillSession,
    /// PostgreSQL refuses every commit, as on a full disk.
    FullDatabase,
    /// PostgreSQL's connections hang.
    HangDatabase,
    /// PostgreSQL answers late.
    SlowDatabase,
    /// A COMMIT is applied and its answer never comes.
    LoseCommit,
    /// All connections to PostgreSQL are reset.
    CutDatabase,
    /// A process hears nothing of the store, which hears nothing of it.
    CutOff(Member),
    /// The zone server hears everything and its answers reach nobody: one direction is dead.
    HalfOpen(usize),
    /// Nobody's word reaches the zone server, and its word nobody, but for the store.
    Isolate(usize),
    /// The zone server's connections are reset.
    CutZone(usize),
    /// Redis loses everything.
    WipeRedis,
    /// Redis hangs.
    HangRedis,
}

impl Fault {
    /// Returns all that can be done to a cluster of this plan.
    pub fn all(plan: &Plan) -> Vec<Fault> {
        let of = |kind, count| (0..count).map(move |number| (kind, number));
        let zones = || of(Kind::Zone, plan.zones);
        let gateways = || of(Kind::Gateway, plan.gateways);
        let stores = || of(Kind::Persistence, plan.persistence);
        let every = || zones().chain(gateways()).chain(stores());
        let mut all: Vec<Fault> = every().map(Fault::Kill).collect();
        all.extend(every().map(Fault::Freeze));
        all.extend(every().map(Fault::Stop));
        all.extend(zones().chain(gateways()).map(Fault::CutOff));
        all.extend((0..plan.zones).map(Fault::HalfOpen));
        all.extend((0..plan.zones).map(Fault::Isolate));
        all.extend((0..plan.zones).map(Fault::CutZone));
        all.extend((0..plan.zones).map(Fault::WedgeTick));
        all.extend(every().map(Fault::WedgeTasks));
        all.extend([
            Fault::KillDatabase,
            Fault::Promote,
            Fault::FreezeDatabase,
            Fault::KillSession,
            Fault::FullDatabase,
            Fault::HangDatabase,
            Fault::SlowDatabase,
            Fault::LoseCommit,
            Fault::CutDatabase,
            Fault::WipeRedis,
            Fault::HangRedis,
        ]);
        all
    }

    /// Returns whether it may cost sockets: those of a gateway that dies or leaves, or that is
    /// silent for longer than its clients wait.
    pub fn costs_sockets(&self) -> bool {
        matches!(
            self,
            Fault::Kill((Kind::Gateway, _))
                | Fault::Stop((Kind::Gateway, _))
                | Fault::Freeze((Kind::Gateway, _))
                | Fault::WedgeTasks((Kind::Gateway, _))
        )
    }

    /// Returns the time after its begin within which everybody moves again, where there is a
    /// promise.
    pub fn all_move_within(&self) -> Option<Duration> {
        matches!(self, Fault::WedgeTick(_)).then_some(WEDGED_MOVE_WITHIN)
    }

    /// Returns whether only stores have the fault, so that everybody in the world plays on all the
    /// time.
    pub fn leaves_all_playing(&self) -> bool {
        match self {
            Fault::Kill((kind, _))
            | Fault::Stop((kind, _))
            | Fault::Freeze((kind, _))
            | Fault::WedgeTasks((kind, _)) => *kind == Kind::Persistence,
            Fault::CutOff(_)
            | Fault::HalfOpen(_)
            | Fault::Isolate(_)
            | Fault::CutZone(_)
            | Fault::WedgeTick(_) => false,
            Fault::Promote => false,
            Fault::KillDatabase
            | Fault::FreezeDatabase
            | Fault::KillSession
            | Fault::FullDatabase
            | Fault::HangDatabase
            | Fault::SlowDatabase
            | Fault::LoseCommit
            | Fault::CutDatabase
            | Fault::WipeRedis
            | Fault::HangRedis => true,
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// The cluster is not breakable, or a process is not there.
    pub async fn begin(self, cluster: &mut Cluster) -> Result<()> {
        match self {
            Fault::Kill(member) => cluster.kill(member)?,
            Fault::Stop(member) => {
                cluster.stop(member).await?;
            }
            Fault::Freeze(member) => cluster.process(member)?.signal("STOP"),
            Fault::WedgeTick(zone) => {
                let process = cluster.process((Kind::Zone, zone))?.id();
                wedge::threads(process, "tick")?;
            }
            Fault::WedgeTasks(member) => {
                wedge::threads(cluster.process(member)?.id(), "tokio-rt-worker")?;
            }
            Fault::KillDatabase => cluster.postgres()?.kill9(),
            Fault::Promote => promote(cluster).await?,
            Fault::FreezeDatabase => cluster.postgres()?.signal_all("STOP"),
            Fault::KillSession => {
                let killed = cluster.postgres()?.kill9_a_session();
                ensure!(killed, "PostgreSQL has no session that could be killed");
            }
            Fault::FullDatabase => sql(cluster, FULL)?,
            Fault::HangDatabase => databases(cluster, Mode::Hang)?,
            Fault::SlowDatabase => {
                let late = Mode::Delay {
                    ms: 150,
                    jitter_ms: 150,
                };
                databases(cluster, late)?;
            }
            Fault::LoseCommit => {
                for proxy in cluster.wires()?.to_database() {
                    proxy.lose_next_commit();
                }
            }
            Fault::CutDatabase => {
                for proxy in cluster.wires()?.to_database() {
                    proxy.cut();
                }
            }
            Fault::CutOff(member) => {
                for proxy in cluster.wires()?.from(member) {
                    proxy.set(Mode::Hang);
                }
            }
            Fault::HalfOpen(zone) => door(cluster, zone, Mode::HangAnswers)?,
            Fault::Isolate(zone) => door(cluster, zone, Mode::Hang)?,
            Fault::CutZone(zone) => {
                if let Some(proxy) = cluster.wires()?.to_zone(zone) {
                    proxy.cut();
                }
            }
            Fault::WipeRedis => {
                cluster.redis().kill9();
                cluster.redis().restart();
            }
            Fault::HangRedis => cluster.redis().signal("STOP"),
        }
        Ok(())
    }

    /// Undoes it.
    ///
    /// # Errors
    /// A process does not start again, or there was nothing that the fault could have broken.
    pub async fn end(self, cluster: &mut Cluster) -> Result<()> {
        match self {
            Fault::Kill(member) | Fault::Stop(member) => cluster.launch(member)?,
            Fault::Freeze(member) => cluster.process(member)?.signal("CONT"),
            Fault::WedgeTick(zone) => again_after_its_end(cluster, (Kind::Zone, zone)).await?,
            Fault::WedgeTasks(member) => again_after_its_end(cluster, member).await?,
            Fault::KillDatabase => {
                let postgres = cluster.postgres()?;
                tokio::task::block_in_place(|| postgres.restart());
            }
            Fault::FreezeDatabase => cluster.postgres()?.signal_all("CONT"),
            Fault::FullDatabase => sql(cluster, NOT_FULL)?,
            Fault::HangRedis => cluster.redis().signal("CONT"),
            Fault::HangDatabase
            | Fault::SlowDatabase
            | Fault::CutOff(_)
            | Fault::HalfOpen(_)
            | Fault::Isolate(_) => cluster.wires()?.heal(),
            Fault::LoseCommit => commit_lost(cluster).await?,
            Fault::Promote
            | Fault::KillSession
            | Fault::CutDatabase
            | Fault::CutZone(_)
            | Fault::WipeRedis => {}
        }
        Ok(())
    }
}

/// Kills PostgreSQL while players exchange things, lets its synchronous standby take over, and does
/// what the runbook asks of an operator.
async fn promote(cluster: &mut Cluster) -> Result<()> {
    let postgres = cluster.postgres()?;
    let standby = tokio::task::block_in_place(|| postgres.standby());
    let standby = standby.map_err(anyhow::Error::msg)?;
    sleep(EXCHANGE).await;
    cluster.fail_over(standby)?;
    let finished = cluster.command(&["promoted"], PROMOTED_WITHIN).await?;
    ensure!(finished.code == Some(0), "promoted: {}", finished.stderr);
    Ok(())
}

/// Waits until a process that stands still has ended itself, and starts it again.
async fn again_after_its_end(cluster: &mut Cluster, member: Member) -> Result<()> {
    let code = cluster.process(member)?.wait(WEDGED_ENDS_WITHIN).await?;
    ensure!(
        code == Some(70),
        "a process that stood still ended with {code:?}"
    );
    cluster.launch(member)
}

/// Waits until the answer to a COMMIT was lost; no further one is lost then.
async fn commit_lost(cluster: &Cluster) -> Result<()> {
    let waited = Instant::now();
    loop {
        let proxies: Vec<&Proxy> = cluster.wires()?.to_database().collect();
        if proxies.iter().any(|proxy| proxy.commits_lost() > 0) {
            proxies.iter().for_each(|proxy| proxy.keep_commits());
            return Ok(());
        }
        ensure!(
            waited.elapsed() < COMMIT_WITHIN,
            "no COMMIT came whose answer could be lost"
        );
        sleep(POLL).await;
    }
}

/// PostgreSQL's answer when its disk is full, given to every commit of a zone.
const FULL: &str = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON commits
    FOR EACH ROW EXECUTE FUNCTION full_disk();";
const NOT_FULL: &str = "DROP TRIGGER full_disk ON commits; DROP FUNCTION full_disk();";

fn sql(cluster: &mut Cluster, statements: &str) -> Result<()> {
    let database = cluster.database().to_owned();
    let postgres = cluster.postgres()?;
    tokio::task::block_in_place(|| postgres.sql(&database, statements));
    Ok(())
}

fn databases(cluster: &Cluster, mode: Mode) -> Result<()> {
    for proxy in cluster.wires()?.to_database() {
        proxy.set(mode);
    }
    Ok(())
}

fn door(cluster: &Cluster, zone: usize, mode: Mode) -> Result<()> {
    if let Some(proxy) = cluster.wires()?.to_zone(zone) {
        proxy.set(mode);
    }
    Ok(())
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |member: &Member| format!("{}-{}", member.0.binary(), member.1);
        match self {
            Fault::Kill(member) => write!(f, "kill -9 {}", of(member)),
            Fault::Stop(member) => write!(f, "SIGTERM {}", of(member)),
            Fault::Freeze(member) => write!(f, "SIGSTOP {}", of(member)),
            Fault::KillDatabase => f.write_str("kill -9 PostgreSQL"),
            Fault::Promote => f.write_str("kill -9 PostgreSQL, whose standby takes over"),
            Fault::FreezeDatabase => f.write_str("SIGSTOP PostgreSQL"),
            Fault::KillSession => f.write_str("kill -9 a session of PostgreSQL"),
            Fault::FullDatabase => f.write_str("PostgreSQL refuses commits as on a full disk"),
            Fault::HangDatabase => f.write_str("connections to PostgreSQL hang"),
            Fault::SlowDatabase => f.write_str("PostgreSQL answers 150 to 300 ms late"),
            Fault::LoseCommit => f.write_str("the answer to a COMMIT is lost"),
            Fault::CutDatabase => f.write_str("connections to PostgreSQL are reset"),
            Fault::CutOff(member) => write!(f, "{} is cut off from the store", of(member)),
            Fault::HalfOpen(zone) => write!(f, "zone-server-{zone} hears and is not heard"),
            Fault::Isolate(zone) => write!(f, "zone-server-{zone} is isolated but from the store"),
            Fault::CutZone(zone) => write!(f, "connections to zone-server-{zone} are reset"),
            Fault::WedgeTick(zone) => write!(f, "the tick of zone-server-{zone} stands still"),
            Fault::WedgeTasks(member) => write!(f, "no task of {} runs any more", of(member)),
            Fault::WipeRedis => f.write_str("Redis is wiped"),
            Fault::HangRedis => f.write_str("Redis hangs"),
        }
    }
}

/// A pause after which a lease of 3 s that is renewed every second stands for at least a second.
pub const BLINK: Duration = Duration::from_millis(1_000);
/// PostgreSQL may be away for a minute, in milliseconds.
pub const AWAY_MS: u64 = 60_000;

/// One entry of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Calm before it.
    pub after: Duration,
    /// The fault.
    pub fault: Fault,
    /// Time until it is undone.
    pub lasts: Duration,
}

impl Step {
    /// Returns whether a zone server is only silent for so short a time that it keeps all its
    /// regions.
    pub fn changes_no_owner(&self) -> bool {
        matches!(self.fault, Fault::Freeze((Kind::Zone, _))) && self.lasts <= BLINK
    }
}

/// Faults without end, by a seed: every kind comes once before any comes again.
#[derive(Debug)]
pub struct Schedule {
    dice: ChaCha8Rng,
    all: Vec<Fault>,
    bag: Vec<Fault>,
}

impl Schedule {
    /// Returns the schedule of `seed`, for clusters of this plan.
    pub fn new(seed: u64, plan: &Plan) -> Schedule {
        Schedule {
            dice: ChaCha8Rng::seed_from_u64(seed),
            all: Fault::all(plan),
            bag: Vec::new(),
        }
    }

    /// Keeps only the faults whose names have this in them, to study one of them.
    ///
    /// # Errors
    /// There are none.
    pub fn only(mut self, words: &str) -> Result<Schedule> {
        let all = self.all.iter().map(Fault::to_string).collect::<Vec<_>>();
        self.all.retain(|fault| fault.to_string().contains(words));
        ensure!(
            !self.all.is_empty(),
            "{words:?} is in the name of no fault; they are {}",
            all.join(", ")
        );
        Ok(self)
    }

    /// Returns the next step.
    pub fn step(&mut self) -> Step {
        if self.bag.is_empty() {
            self.bag.clone_from(&self.all);
        }
        let at = self.dice.random_range(0..self.bag.len());
        let fault = self.bag.swap_remove(at);
        let lasts_ms = match fault {
            // From a pause that nobody may take for a death to one that everybody must.
            Fault::Freeze(_) => self.dice.random_range(500..9_000),
            Fault::KillDatabase if self.dice.random_range(0..3) == 0 => AWAY_MS,
            Fault::KillDatabase | Fault::FullDatabase => self.dice.random_range(500..8_000),
            Fault::FreezeDatabase | Fault::HangDatabase | Fault::HangRedis => {
                self.dice.random_range(1_000..10_000)
            }
            Fault::Kill(_) | Fault::Stop(_) => self.dice.random_range(200..6_000),
            Fault::CutOff(_) | Fault::HalfOpen(_) | Fault::Isolate(_) => {
                self.dice.random_range(1_000..9_000)
            }
            Fault::SlowDatabase => self.dice.random_range(3_000..8_000),
            Fault::KillSession
            | Fault::LoseCommit
            | Fault::CutDatabase
            | Fault::CutZone(_)
            | Fault::WedgeTick(_)
            | Fault::WedgeTasks(_)
            | Fault::Promote
            | Fault::WipeRedis => self.dice.random_range(500..1_500),
        };
        Step {
            after: Duration::from_millis(self.dice.random_range(300..2_500)),
            fault,
            lasts: Duration::from_millis(lasts_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_faults_come_alone() {
        let plan = Plan::new("unused").of(2, 3, 2);
        let redis = Schedule::new(7, &plan).only("Redis");
        let mut redis = redis.expect("faults of Redis");
        let mine = [Fault::WipeRedis, Fault::HangRedis];
        assert!((0..9).all(|_| mine.contains(&redis.step().fault)));
        let none = Schedule::new(7, &plan).only("earthquake");
        assert!(
            none.expect_err("no fault")
                .to_string()
                .contains("Redis hangs")
        );
    }

    #[test]
    fn a_seed_gives_its_faults_again_and_every_kind_comes() {
        let plan = Plan::new("unused").of(2, 3, 2);
        let count = Fault::all(&plan).len();
        let take = |seed| {
            let mut schedule = Schedule::new(seed, &plan);
            (0..count).map(|_| schedule.step()).collect::<Vec<_>>()
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
        let steps = take(7);
        for fault in Fault::all(&plan) {
            assert!(steps.iter().any(|step| step.fault == fault), "{fault}");
        }
    }
}
