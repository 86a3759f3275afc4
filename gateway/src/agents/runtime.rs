//! The agents' external runtime. The gateway tells it of changes of goals and of messages.
//!
//! Always: no request waits for the runtime. The gateway counts and drops a word that the runtime
//! does not take within two tries. A word never holds a token.

use std::time::Duration;

use proto::encode;
use serde::Serialize;
use service_runtime::tasks::TaskGroup;
use tokio::{sync::mpsc, time::timeout};

use crate::{clock, metrics::Metrics};

/// Words in the queue, at most.
const WAITING_MAX: usize = 256;
/// Time for one word, at each try.
const DEADLINE: Duration = Duration::from_secs(2);
const TRIES: u32 = 2;
const PAUSE: Duration = Duration::from_millis(200);

/// The kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The agent has a new goal.
    GoalSet,
    /// The agent stopped: it has no goal and picks none.
    GoalStopped,
    /// The agent picks goals again.
    GoalResumed,
    /// The agent's owner says something.
    Message,
}

/// A message to the runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Word {
    event: Event,
    agent_id: String,
    character_id: String,
    goal_id: Option<String>,
    goals_paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    at: String,
}

impl Word {
    /// Makes a word about the present state of an agent; `content`: the owner's line.
    pub(crate) fn new(
        event: Event,
        agent: &proto::rpc::agents::v1::Agent,
        content: Option<String>,
    ) -> Self {
        let orders = agent.orders.as_ref();
        let goal = orders.map(|orders| orders.goal_id.clone());
        Self {
            event,
            agent_id: agent.agent_id.clone(),
            character_id: agent.character_id.clone(),
            goal_id: goal.filter(|id| !id.is_empty()),
            goals_paused: orders.is_some_and(|orders| orders.paused),
            content,
            at: clock::iso(clock::unix_ms()),
        }
    }
}

/// The queue of words to the runtime.
pub(crate) struct Runtime {
    words: mpsc::Sender<Word>,
    metrics: Metrics,
}

impl Runtime {
    /// Starts the task that posts words to `url`. Call it inside a Tokio runtime.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub(crate) fn start(url: String, metrics: Metrics, tasks: &TaskGroup) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(DEADLINE)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let (words, waiting) = mpsc::channel(WAITING_MAX);
        let told = metrics.clone();
        tasks.spawn("agent runtime", work(http, url, waiting, told));
        Ok(Self { words, metrics })
    }

    /// Queues a word without waiting; counts and drops it where the queue is full.
    pub(crate) fn tell(&self, word: Word) {
        if self.words.try_send(word).is_err() {
            self.metrics.agent_runtime("dropped");
        }
    }
}

async fn work(
    http: reqwest::Client,
    url: String,
    mut waiting: mpsc::Receiver<Word>,
    metrics: Metrics,
) {
    let mut away = false;
    while let Some(word) = waiting.recv().await {
        let said = say(&http, &url, &word).await;
        metrics.agent_runtime(if said.is_ok() { "told" } else { "failed" });
        match said {
            Ok(()) => away = false,
            Err(why) if !std::mem::replace(&mut away, true) => {
                tracing::info!(why, "the agents' runtime (AGENT_API_URL) does not answer");
            }
            Err(_) => {}
        }
    }
}

/// Posts one word, twice at most.
async fn say(http: &reqwest::Client, url: &str, word: &Word) -> Result<(), String> {
    let body = encode::json(word);
    let to = format!("{url}/api/agents/{}/events", word.agent_id);
    let mut last = String::new();
    for step in 0..TRIES {
        if step > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let asked = http
            .post(&to)
            .header("content-type", "application/json")
            .body(body.clone())
            .send();
        match timeout(DEADLINE, asked).await {
            Ok(Ok(answer)) if answer.status().is_success() => return Ok(()),
            // The runtime heard the word and does not want it, so there is no second try.
            Ok(Ok(answer)) if answer.status().is_client_error() => {
                return Err(format!("it answered {}", answer.status()));
            }
            Ok(Ok(answer)) => last = format!("it answered {}", answer.status()),
            Ok(Err(error)) => last = error.without_url().to_string(),
            Err(_) => "no answer in time".clone_into(&mut last),
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::{Router, http::StatusCode, routing::post};
    use proto::rpc::agents::v1::{Agent, Orders};

    use super::*;

    fn word() -> Word {
        let agent = Agent {
            agent_id: "a-1".to_owned(),
            character_id: "c-1".to_owned(),
            orders: Some(Orders {
                goal_id: "explore".to_owned(),
                ..Orders::default()
            }),
            ..Agent::default()
        };
        Word::new(Event::GoalSet, &agent, None)
    }

    async fn runtime(answers: Vec<StatusCode>) -> (String, Arc<Mutex<Vec<String>>>) {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let (said, answers) = (Arc::clone(&heard), Arc::new(answers));
        let route = post(move |body: String| {
            let (said, answers) = (Arc::clone(&said), Arc::clone(&answers));
            async move {
                let mut said = said.lock().unwrap();
                said.push(body);
                answers
                    .get(said.len() - 1)
                    .copied()
                    .unwrap_or(StatusCode::OK)
            }
        });
        let router = Router::new().route("/api/agents/a-1/events", route);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, heard)
    }

    fn http() -> reqwest::Client {
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::new()
    }

    #[tokio::test]
    async fn the_runtime_is_told_and_told_once_more_when_it_stumbles() {
        let (url, heard) = runtime(vec![StatusCode::BAD_GATEWAY]).await;
        assert_eq!(say(&http(), &url, &word()).await, Ok(()));
        let heard = heard.lock().unwrap().clone();
        assert_eq!(heard.len(), 2);
        let told: serde_json::Value = serde_json::from_str(&heard[1]).unwrap();
        assert_eq!(told["event"], "goal_set");
        assert_eq!(told["goalId"], "explore");
        assert_eq!(
            (&told["agentId"], &told["goalsPaused"]),
            (&"a-1".into(), &false.into())
        );
        assert!(told.get("content").is_none());
    }

    #[tokio::test]
    async fn what_is_refused_or_fails_twice_is_not_said_again() {
        let (url, heard) = runtime(vec![StatusCode::NOT_FOUND]).await;
        assert!(say(&http(), &url, &word()).await.is_err());
        assert_eq!(heard.lock().unwrap().len(), 1);
        let (url, heard) = runtime(vec![StatusCode::BAD_GATEWAY; 5]).await;
        assert!(say(&http(), &url, &word()).await.is_err());
        assert_eq!(heard.lock().unwrap().len(), 2);
        let nobody = say(&http(), "http://127.0.0.1:9", &word()).await;
        assert!(!nobody.unwrap_err().contains("127.0.0.1"));
    }
}
