//! The supervisor of `tilestead up --chaos`, which breaks zone servers for trial: the language that
//! it speaks, and the gateway's way to it.
//!
//! Always: in production there is none. Every question to it has a deadline, and no answer is longer
//! than [`ANSWER_BYTES_MAX`].

use std::{path::PathBuf, time::Duration};

use proto::encode;
use reqwest::{Client, Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use service_runtime::config::Reader;

/// Longest time for an answer.
const DEADLINE: Duration = Duration::from_secs(2);
/// The longest answer.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// The address in requests; the socket alone says where they go.
const URL: &str = "http://supervisor/";

/// Seconds of a fault, at least and at most.
pub const SECONDS: (u32, u32) = (1, 60);

/// A way to break a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum FaultKind {
    /// The process ends at once. After the seconds another one takes its place.
    Kill,
    /// The process stands still, with all its connections open.
    Freeze,
    /// Nothing passes between the process and the store, nor from gateways and other zones to it.
    CutOff,
}

impl FaultKind {
    /// Returns its words in the record of operators' acts.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Freeze => "freeze",
            Self::CutOff => "cut off",
        }
    }
}

/// An order to the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultOrder {
    /// Name of the process.
    pub process: String,
    /// The way to break it.
    pub fault: FaultKind,
    /// Time for which it is broken, within [`SECONDS`].
    pub seconds: u32,
}

/// State of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Condition {
    /// It runs.
    Up,
    /// It ended, and another one takes its place soon.
    Down,
    /// It stands still.
    Frozen,
    /// Nothing passes to it.
    CutOff,
}

/// A process that the supervisor may break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Supervised {
    /// Its name, which stays when another process takes its place.
    #[schemars(example = &"zone-server 2")]
    pub name: String,
    /// Its address in the directory.
    #[schemars(example = &"127.0.0.1:5702")]
    pub address: String,
    /// The zone that it plays; null: none yet.
    #[schemars(example = &"7")]
    pub zone: Option<String>,
    /// Its state.
    pub condition: Condition,
}

/// Regions that have a living owner again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    /// Milliseconds since the fault began.
    pub after_ms: u64,
    /// The zone that has them.
    #[schemars(example = &"8")]
    pub zone: String,
    /// Number of regions.
    pub regions: usize,
}

/// A fault, and how the world recovers from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Number of the fault, from 1.
    pub id: u64,
    /// The broken process.
    #[schemars(example = &"zone-server 2")]
    pub process: String,
    /// The way in which it was broken.
    pub fault: FaultKind,
    /// Time for which it is broken.
    pub seconds: u32,
    /// Milliseconds since it began.
    pub age_ms: u64,
    /// The zone that the process played; null: none.
    #[schemars(example = &"7")]
    pub zone: Option<String>,
    /// Regions of that zone when it began.
    pub regions: usize,
    /// Those of them without a living owner now.
    pub unowned: usize,
    /// Time until the last of them had a living owner again; null: some have none yet.
    pub unowned_ms: Option<u64>,
    /// When regions got a living owner again, in order.
    pub taken: Vec<Taken>,
    /// The zone that the process plays after the fault; null: none yet.
    #[schemars(example = &"9")]
    pub replaced_by: Option<String>,
    /// Milliseconds from the beginning until the process was whole again; null: it is broken.
    pub lasted_ms: Option<u64>,
}

/// All that the supervisor knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Sight {
    /// Processes that it may break.
    pub processes: Vec<Supervised>,
    /// The last faults, newest first.
    pub faults: Vec<Fault>,
}

/// Reason why the supervisor does not do as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoFault {
    /// There is no such process.
    Unknown,
    /// It cannot be done as things are; the sentence says why.
    Refused(String),
    /// The supervisor does not answer.
    Away(String),
}

/// Reads the supervisor's socket. In production it is a problem for the reader.
pub(crate) fn read(reader: &mut Reader, production: bool) -> Option<PathBuf> {
    let help = "socket of the supervisor that breaks zone servers for trial; `tilestead up --chaos` \
                sets it, and in production it is refused";
    let socket: Option<String> = reader.optional("CHAOS_SOCKET", help);
    if production && socket.is_some() {
        reader.problem("CHAOS_SOCKET is not allowed in production".to_owned());
    }
    socket.map(PathBuf::from)
}

/// The gateway's way to the supervisor.
pub(crate) struct Supervisor(Client);

impl Supervisor {
    /// Connects when first used.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub(crate) fn at(socket: PathBuf) -> anyhow::Result<Self> {
        let http = Client::builder()
            .unix_socket(socket)
            .connect_timeout(DEADLINE)
            .timeout(DEADLINE)
            .no_proxy()
            .tls_certs_only([]);
        Ok(Self(http.build()?))
    }

    /// Returns what the supervisor knows.
    pub(crate) async fn look(&self) -> Result<Sight, NoFault> {
        let answer = self.0.get(URL).send().await.map_err(away)?;
        read_answer(answer).await
    }

    /// Breaks a process.
    pub(crate) async fn order(&self, order: &FaultOrder) -> Result<Fault, NoFault> {
        let asked = self.0.post(URL).header("content-type", "application/json");
        let answer = asked.body(encode::json(order)).send().await;
        read_answer(answer.map_err(away)?).await
    }
}

fn away(error: reqwest::Error) -> NoFault {
    NoFault::Away(error.without_url().to_string())
}

async fn read_answer<T: for<'de> Deserialize<'de>>(mut answer: Response) -> Result<T, NoFault> {
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(away)? {
        if body.len() + part.len() > ANSWER_BYTES_MAX {
            return Err(NoFault::Away("the answer is too long".to_owned()));
        }
        body.extend_from_slice(&part);
    }
    let words = || String::from_utf8_lossy(&body).into_owned();
    match answer.status() {
        status if status.is_success() => serde_json::from_slice(&body)
            .map_err(|error| NoFault::Away(format!("the answer cannot be read: {error}"))),
        StatusCode::NOT_FOUND => Err(NoFault::Unknown),
        StatusCode::CONFLICT => Err(NoFault::Refused(words())),
        status => Err(NoFault::Away(format!("it answers {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    #[test]
    fn nobody_is_broken_for_trial_in_production() {
        let at = |production| {
            let mut reader = Reader::new(Env::from_pairs([("CHAOS_SOCKET", "/run/chaos")]));
            let socket = read(&mut reader, production);
            (socket, reader.finish().map_err(|error| error.to_string()))
        };
        assert_eq!(at(false), (Some(PathBuf::from("/run/chaos")), Ok(())));
        let (_, refused) = at(true);
        assert!(refused.unwrap_err().contains("CHAOS_SOCKET"));
    }

    #[tokio::test]
    async fn a_supervisor_that_is_away_is_no_panic() {
        service_runtime::run::install_crypto();
        let nowhere = Supervisor::at(PathBuf::from("/nowhere/chaos.sock")).unwrap();
        assert!(matches!(nowhere.look().await, Err(NoFault::Away(_))));
    }
}
