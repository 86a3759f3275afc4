//! Pauses a region, so that no zone plays it, and resumes it.

use std::{fmt, str::FromStr, time::Duration};

use anyhow::bail;
use reqwest::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{cluster::Cluster, sight::Sight};

/// Time within which a zone lets a paused region go.
const PAUSES: Duration = Duration::from_secs(60);
/// Time between two looks at the region.
const LOOK: Duration = Duration::from_millis(500);

/// Place of a region, in regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    x: i32,
    z: i32,
}

impl FromStr for Place {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |part: &str| part.trim().parse().map_err(|_| "a region is X,Z");
        let (x, z) = text.split_once(',').ok_or("a region is X,Z")?;
        Ok(Self {
            x: read(x)?,
            z: read(z)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{},{}", self.x, self.z)
    }
}

/// Asks a route to pause or resume a region. Returns whether that changed anything.
async fn ask(cluster: &Cluster, path: &str, at: Place) -> anyhow::Result<bool> {
    let body = json!({"x": at.x, "z": at.z});
    let done = cluster.act(Method::POST, path, Some(body)).await?;
    Ok(done["changed"] == true)
}

/// Pauses a region, and waits until no zone has it.
pub(super) async fn pause(cluster: &Cluster, at: Place) -> anyhow::Result<String> {
    let changed = ask(cluster, "/admin/regions/pause", at).await?;
    let deadline = Instant::now() + PAUSES;
    loop {
        let sight = Sight::of(cluster).await?;
        let found = sight
            .regions
            .iter()
            .find(|one| (one.x, one.z) == (at.x, at.z));
        let Some(zone) = found.and_then(|region| region.zone.clone()) else {
            break;
        };
        if Instant::now() > deadline {
            bail!(
                "zone {zone} still has region {at} after {} s",
                PAUSES.as_secs()
            );
        }
        sleep(LOOK).await;
    }
    let before = if changed { "" } else { " (as before)" };
    Ok(format!(
        "Region {at} is paused{before}: no zone plays it.\n"
    ))
}

/// Lets a paused region be played again.
pub(super) async fn resume(cluster: &Cluster, at: Place) -> anyhow::Result<String> {
    Ok(match ask(cluster, "/admin/regions/resume", at).await? {
        true => format!("Region {at} may be played again.\n"),
        false => format!("Region {at} was not paused.\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_two_numbers() {
        for (text, place) in [
            ("3,4", Some(Place { x: 3, z: 4 })),
            ("-1, -20", Some(Place { x: -1, z: -20 })),
            ("3", None),
            ("3,four", None),
            ("3,4,5", None),
        ] {
            assert_eq!(text.parse().ok(), place, "{text}");
        }
        assert_eq!(Place { x: -1, z: 4 }.to_string(), "-1,4");
    }
}
