//! `tilestead profile`: the functions in which a zone, a gateway or a store spends its time.

use std::{io::Write, path::Path, str::FromStr, time::Duration};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use service_runtime::config::ConfigError;

use super::{cluster::Cluster, flame, made::Draft};

/// Time in which the process finds the names of its functions.
const NAMING: Duration = Duration::from_secs(30);
/// Largest answer, in bytes: ten times what a busy zone says in a minute.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// A process beside the gateway whose processor may be sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Process {
    /// The zone of this number.
    Zone(u64),
    /// A persistence service.
    Store,
}

impl FromStr for Process {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "store" => Ok(Self::Store),
            number => number
                .parse()
                .map(Self::Zone)
                .map_err(|_| "neither the number of a zone nor `store`"),
        }
    }
}

/// The profile that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'o> {
    /// `None`: the gateway's.
    pub(super) of: Option<Process>,
    /// Address of a store.
    pub(super) address: Option<&'o str>,
    pub(super) seconds: u32,
}

/// The route that takes a profile, its body, and the process in words.
struct Route {
    path: String,
    body: Value,
    whose: String,
}

impl Route {
    async fn of(cluster: &Cluster, asked: Asked<'_>) -> anyhow::Result<Self> {
        let seconds = asked.seconds;
        Ok(match asked.of {
            Some(Process::Store) => {
                let address = match asked.address {
                    Some(address) => address.to_owned(),
                    None => first_store(cluster).await?,
                };
                Self {
                    path: "/admin/stores/profile".to_owned(),
                    whose: format!("store {address}"),
                    body: json!({"address": address, "seconds": seconds}),
                }
            }
            Some(Process::Zone(_)) | None if asked.address.is_some() => {
                let why = "only a store is named by an address: `profile store ADDRESS`";
                return Err(ConfigError::new(why.to_owned()).into());
            }
            Some(Process::Zone(zone)) => Self {
                path: format!("/admin/zones/{zone}/profile"),
                whose: format!("zone {zone}"),
                body: json!({"seconds": seconds}),
            },
            None => Self {
                path: "/admin/gateway/profile".to_owned(),
                whose: "the gateway".to_owned(),
                body: json!({"seconds": seconds}),
            },
        })
    }
}

/// Returns the address of the first store that answers.
async fn first_store(cluster: &Cluster) -> anyhow::Result<String> {
    let answer = cluster.get("/admin/stores", &[]).await?;
    let stores = answer["stores"].as_array().into_iter().flatten();
    let live = |store: &&Value| store["state"] == json!("live");
    let address = stores
        .filter(live)
        .find_map(|store| store["address"].as_str());
    Ok(address.context("no store answers")?.to_owned())
}

/// Takes a profile. Returns what to tell.
pub(super) async fn take(
    cluster: &Cluster,
    asked: Asked<'_>,
    out: &Path,
) -> anyhow::Result<String> {
    let seconds = asked.seconds;
    let Route { path, body, whose } = Route::of(cluster, asked).await?;
    // Who closes stderr does not want to hear of it.
    let _ = writeln!(
        std::io::stderr(),
        "{whose} is sampled for {seconds} seconds"
    );
    let wait = Duration::from_secs(seconds.into()) + NAMING;
    let mut bytes = Vec::new();
    let take = |part: &[u8]| {
        if bytes.len() + part.len() > BYTES_MAX {
            bail!("the profile has more than {BYTES_MAX} bytes");
        }
        bytes.extend_from_slice(part);
        Ok(())
    };
    cluster.fetch((&path, body), wait, take).await?;
    let folded = String::from_utf8(bytes).context("the profile is no text")?;
    let stacks = flame::Stacks::read(&folded).context("the profile is not in the folded form")?;
    let mut draft = Draft::of(out)?;
    if out.extension().is_some_and(|ending| ending == "svg") {
        let title = format!("{whose}, {seconds} s");
        draft.write(stacks.draw(&title).as_bytes())?;
    } else {
        draft.write(folded.as_bytes())?;
    }
    draft.finish()?;
    let (samples, out) = (stacks.samples(), out.display());
    Ok(format!("{samples} samples of {whose} are in {out}.\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_the_number_of_a_zone_or_the_word_store() {
        assert_eq!("7".parse(), Ok(Process::Zone(7)));
        assert_eq!("store".parse(), Ok(Process::Store));
        for text in ["", "-1", "stores", "zone 7"] {
            assert!(text.parse::<Process>().is_err(), "{text}");
        }
    }
}
