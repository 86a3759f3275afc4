//! `tilestead record`: the next ticks of a zone, as a file.
//!
//! Always: the file is there whole or not at all.

use std::{fs, io::Write, path::Path, time::Duration};

use anyhow::Context;
use serde_json::json;

use super::cluster::Cluster;

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
    let named = || out.display().to_string();
    let draft = out.with_extension(format!("{}.draft", std::process::id()));
    let path = format!("/admin/zones/{zone}/record");
    let asked = (&*path, json!({ "ticks": ticks }));
    // Who closes stderr does not want to hear of it.
    let _ = writeln!(
        std::io::stderr(),
        "zone {zone} is recorded for {ticks} ticks"
    );
    let mut file = fs::File::create(&draft).with_context(named)?;
    let mut size = 0;
    let wait = TICK * (ticks + SPARE_TICKS);
    let got = cluster
        .fetch(asked, wait, |part| {
            size += part.len();
            file.write_all(part).with_context(named)
        })
        .await;
    if got.is_err() {
        // It is a draft: whoever finds it may remove it.
        let _ = fs::remove_file(&draft);
    }
    got?;
    file.sync_all().with_context(named)?;
    fs::rename(&draft, out).with_context(named)?;
    Ok(format!(
        "{size} bytes are in {0}; `zone-server replay --step {0}` plays them again.\n",
        out.display()
    ))
}
