//! Every process goes from the release before to this one, back, and to this one again, while bots
//! play.
//!
//! Always: each roll begins with the persistence services, also the one back. So every kind of
//! process of each release meets every other kind of the other release.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use futures::future::BoxFuture;
use tokio::time::sleep;

use super::{
    exercise::{restart, shared},
    oracle,
    production::only_gateways_left,
    story::{Cast, Stage},
    timeline::Timeline,
};
use crate::{
    cluster::{Kind, Plan, process::workspace},
    load::Summary,
};

/// Time for which everybody plays between two rolls.
const PLAY: Duration = Duration::from_secs(20);
/// Pause after a gateway, in which its players go to another one.
const AFTER_GATEWAY: Duration = Duration::from_secs(5);

/// Rolls a cluster of the binaries in `before` to those of this build, back, and here again.
///
/// # Errors
/// Something that must hold does not.
pub fn there_and_back(
    cast: Cast,
    before: PathBuf,
    timeline: Timeline,
) -> BoxFuture<'static, Result<Summary>> {
    Box::pin(async move {
        let mut plan = Plan::new("upgrade").of(2, 3, 2);
        plan.alone = true;
        plan.binaries = Some(before.clone());
        let mut stage = Stage::set(plan.clone(), cast, timeline).await?;
        sleep(PLAY).await;
        for (release, folder) in [
            ("this release", None),
            ("the release before", Some(before)),
            ("this release again", None),
        ] {
            stage.cluster.launch_from(folder);
            roll(&mut stage, &plan).await.context(release)?;
            stage
                .timeline
                .note(format!("every process is of {release}"));
            sleep(PLAY).await;
            oracle::whole(&stage.cluster).await?;
            oracle::conserved(&stage.cluster).await?;
            stage.compare().await.context(release)?;
        }
        let timeline = stage.timeline.clone();
        let summary = stage.judge().await?;
        timeline.note("nothing was lost");
        only_gateways_left(&summary)?;
        Ok(summary)
    })
}

/// Replaces every process, the gateways last. No socket may end before those.
async fn roll(stage: &mut Stage, plan: &Plan) -> Result<()> {
    shared(stage, plan.zones).await;
    let ended = stage.swarm.summary().disconnects;
    let members = stage.cluster.members();
    let (gateways, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|of| of.0 == Kind::Gateway);
    for member in others {
        restart(stage, member).await?;
        shared(stage, plan.zones).await;
    }
    let summary = stage.swarm.summary();
    ensure!(
        summary.disconnects == ended,
        "sockets were closed before any gateway left:\n{summary}"
    );
    for member in gateways {
        restart(stage, member).await?;
        sleep(AFTER_GATEWAY).await;
    }
    stage.may_lose_sockets();
    Ok(())
}

/// Returns the folder with the binaries of the release before, which it builds first.
///
/// # Errors
/// `CHANGELOG.md` names no release, its commit is not in this clone, or it does not build.
pub fn binaries_before() -> Result<PathBuf> {
    let root = workspace();
    let text = fs::read_to_string(root.join("CHANGELOG.md")).context("CHANGELOG.md")?;
    let commit = last_release(&text).context(
        "CHANGELOG.md names no release as `## VERSION (COMMIT, DATE)`; name a folder of binaries \
         with --before",
    )?;
    let source = root.join("target/release-before").join(commit);
    let target = root.join("target/before");
    if !source.join("Cargo.toml").is_file() {
        // Nobody takes half of it for the whole.
        let next = source.with_extension("next");
        let _ = fs::remove_dir_all(&next);
        fs::create_dir_all(&next)?;
        let archive = next.join("source.tar");
        let named = archive.display().to_string();
        run("git", &root, &["archive", "--output", &named, commit])?;
        run("tar", &next, &["-xf", &named])?;
        fs::remove_file(archive)?;
        fs::rename(&next, &source)?;
    }
    let mut build = Command::new("cargo");
    build.env("CARGO_TARGET_DIR", &target).current_dir(&source);
    build.args(["build", "--profile", "ci", "--locked", "--bins"]);
    for package in services() {
        build.args(["-p", package]);
    }
    let built = build.status().context("start cargo")?;
    ensure!(
        built.success(),
        "the release before ({commit}) does not build"
    );
    Ok(target.join("ci"))
}

/// Checks that a folder has all binaries.
///
/// # Errors
/// One is missing.
pub fn check_binaries(folder: &Path) -> Result<PathBuf> {
    let folder = folder
        .canonicalize()
        .with_context(|| folder.display().to_string())?;
    for name in services() {
        let path = folder.join(name);
        ensure!(path.is_file(), "{} is missing", path.display());
    }
    Ok(folder)
}

fn services() -> BTreeSet<&'static str> {
    let all = [Kind::Persistence, Kind::Zone, Kind::Gateway];
    all.into_iter().map(Kind::binary).collect()
}

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Result<()> {
    let done = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .status()
        .with_context(|| format!("start {program}"))?;
    ensure!(done.success(), "{program} {} failed", arguments.join(" "));
    Ok(())
}

/// Returns the commit of the newest heading `## VERSION (COMMIT, DATE)`.
fn last_release(changelog: &str) -> Option<&str> {
    changelog.lines().find_map(|line| {
        let (_, rest) = line.strip_prefix("## ")?.split_once(" (")?;
        let (commit, _) = rest.strip_suffix(')')?.split_once(", ")?;
        let hexadecimal = commit.bytes().all(|digit| digit.is_ascii_hexdigit());
        (commit.len() >= 7 && hexadecimal).then_some(commit)
    })
}

#[cfg(test)]
mod tests {
    use super::last_release;

    #[test]
    fn the_newest_release_with_a_commit_is_found() {
        let text = "# Changelog\n\n## Unreleased\n\n- More (of it, now)\n\n\
                    ## 0.3.0 (0123abcd, 2027-01-31)\n\n## 0.2.0 (bea79d42, 2026-11-24)\n";
        assert_eq!(last_release(text), Some("0123abcd"));
        assert_eq!(last_release("## Unreleased\n## 0.1.0 (first, one)\n"), None);
    }
}
