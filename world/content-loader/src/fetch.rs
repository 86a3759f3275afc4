//! Fetch of all manifests from a content server.
//!
//! Always: time, bytes and files at once are bounded. If a server does not answer for the first
//! file, the fetch asks it for no other.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::StreamExt;
use tokio::time::timeout_at;

use crate::{client::Client, config::Times, folder::TOTAL_BYTES_MAX, plan::Outcome};

/// Files to ask for at the same time.
const AT_ONCE: usize = 8;
/// Required file to ask for first: a server that cannot give it counts as away.
const FIRST: &str = "npcs.json";
/// Time between two lines in the log about the progress.
const SAY_EVERY: Duration = Duration::from_secs(1);

/// Fetches the manifests. Returns the outcome of each by path, or why the server counts as away.
pub(crate) async fn fetch(
    base: &str,
    tags: &BTreeMap<String, String>,
    times: Times,
) -> Result<BTreeMap<String, Outcome>, String> {
    let client = Client::new(base, times.attempt).map_err(|error| format!("{error:#}"))?;
    let end = tokio::time::Instant::now() + times.whole;
    let (asked, paths) = (
        Instant::now(),
        world::content::MANIFESTS.iter().map(|m| m.path),
    );
    let paths: Vec<&'static str> = paths.filter(|path| *path != FIRST).collect();
    let count = paths.len() + 1;
    tracing::info!(from = base, files = count, "fetching manifests");
    let mut all = BTreeMap::new();
    let first = one(&client, FIRST, tags, end).await;
    if let Outcome::Failed(why) = first {
        return Err(why);
    }
    all.insert(FIRST.to_owned(), first);
    let asking = paths.iter().map(|path| named(&client, path, tags, end));
    let asking = futures::stream::iter(asking.collect::<Vec<_>>());
    let mut answers = asking.buffer_unordered(AT_ONCE);
    let (mut said, mut bytes) = (Instant::now(), 0);
    while let Some((path, outcome)) = answers.next().await {
        bytes += size(&outcome);
        if bytes > TOTAL_BYTES_MAX {
            return Err(format!("they have more than {TOTAL_BYTES_MAX} bytes"));
        }
        all.insert(path.to_owned(), outcome);
        if said.elapsed() > SAY_EVERY {
            tracing::info!(done = all.len(), of = count, "fetching manifests");
            said = Instant::now();
        }
    }
    let number = |of: fn(&Outcome) -> bool| all.values().filter(|o| of(o)).count();
    tracing::info!(
        from = base,
        new = number(|o| matches!(o, Outcome::Fresh { .. })),
        unchanged = number(|o| matches!(o, Outcome::Unchanged)),
        absent = number(|o| matches!(o, Outcome::Absent)),
        broken = number(|o| matches!(o, Outcome::Broken(_))),
        failed = number(|o| matches!(o, Outcome::Failed(_))),
        ms = u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX),
        "manifests fetched"
    );
    Ok(all)
}

fn size(outcome: &Outcome) -> u64 {
    match outcome {
        Outcome::Fresh { text, .. } => text.len() as u64,
        _ => 0,
    }
}

async fn named(
    client: &Client,
    path: &'static str,
    tags: &BTreeMap<String, String>,
    end: tokio::time::Instant,
) -> (&'static str, Outcome) {
    (path, one(client, path, tags, end).await)
}

async fn one(
    client: &Client,
    path: &str,
    tags: &BTreeMap<String, String>,
    end: tokio::time::Instant,
) -> Outcome {
    let tag = tags.get(path).map(String::as_str);
    let Ok(outcome) = timeout_at(end, client.get(path, tag)).await else {
        return Outcome::Failed("there was no time left for it".to_owned());
    };
    match outcome {
        Outcome::Fresh { text, etag } => match world::content::parse(path, &text) {
            Ok(_) => Outcome::Fresh { text, etag },
            Err(error) => Outcome::Broken(error.to_string()),
        },
        other => other,
    }
}
