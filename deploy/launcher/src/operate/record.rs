//! `tilestead record`: the next ticks of a zone, as a file.

use std::{io::Write, path::Path, time::Duration};

use serde_json::json;

use super::{cluster::Cluster, made::Draft};

/// Length of a tick.
const TICK: Duration = Duration::from_millis(600);
/// Ticks that a record may take beyond its own.
const SPARE_TICKS: u32 = 30;

/// Records some ticks of a zone. Returns what to tell.
pub(super) async fn make(
    cluster: &Cluster,
    zone: u64,
    ticks: u32,
    out: &Path,
) -> anyhow::Result<String> {
    let path = format!("/admin/zones/{zone}/record");
    let asked = (&*path, json!({ "ticks": ticks }));
    // Who closes stderr does not want to hear of it.
    let _ = writeln!(
        std::io::stderr(),
        "zone {zone} is recorded for {ticks} ticks"
    );
    let mut draft = Draft::of(out)?;
    let mut size = 0;
    let wait = TICK * (ticks + SPARE_TICKS);
    let take = |part: &[u8]| {
        size += part.len();
        draft.write(part)
    };
    cluster.fetch(asked, wait, take).await?;
    draft.finish()?;
    Ok(format!(
        "{size} bytes are in {0}; `zone-server replay --step {0}` plays them again.\n",
        out.display()
    ))
}
