//! Writes Grafana's dashboards to `deploy/observability/dashboards`.

use std::fs;

use anyhow::{Context, Result};
use clap::Parser;
use tests::{cluster::process::workspace, dashboards::DASHBOARDS};

/// Writes Grafana's dashboards to deploy/observability/dashboards.
#[derive(Parser)]
#[command(name = "dashboards", version)]
struct Arguments {}

fn main() -> Result<()> {
    Arguments::parse();
    let folder = workspace().join("deploy/observability/dashboards");
    fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    for dashboard in DASHBOARDS {
        let path = folder.join(format!("{}.json", dashboard.name));
        let text = format!("{:#}\n", dashboard.json());
        fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}
