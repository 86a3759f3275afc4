//! `tilestead profile`: the functions in which a zone or a gateway spends its time.

use std::{io::Write, path::Path, time::Duration};

use anyhow::{Context, bail};
use serde_json::json;

use super::{cluster::Cluster, flame, made::Draft};

/// Time in which the process finds the names of its functions.
const NAMING: Duration = Duration::from_secs(30);
/// Largest answer, in bytes: ten times what a busy zone says in a minute.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Takes a profile. Returns what to tell.
pub(super) async fn take(
    cluster: &Cluster,
    zone: Option<u64>,
    seconds: u32,
    out: &Path,
) -> anyhow::Result<String> {
    let (path, whose) = match zone {
        Some(zone) => (
            format!("/admin/zones/{zone}/profile"),
            format!("zone {zone}"),
        ),
        None => (
            "/admin/gateway/profile".to_owned(),
            "the gateway".to_owned(),
        ),
    };
    let asked = (&*path, json!({ "seconds": seconds }));
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
    cluster.fetch(asked, wait, take).await?;
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
