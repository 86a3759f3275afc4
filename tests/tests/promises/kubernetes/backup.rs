//! The job that backs the database up.

use std::{fs, process::Command};

use test_servers::Postgres;

use super::{Scratch, chart, expect, objects, pod, run, text};

#[test]
fn the_backup_job_keeps_checked_backups_and_removes_the_oldest() {
    let cron = &objects(&chart(&["--set", "backup.enabled=true"]))["CronJob persistence-backup"];
    let container = &pod(cron).unwrap()["spec"]["containers"][0];
    let command: Vec<&str> = container["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(text)
        .collect();
    let postgres = Postgres::start();
    let scratch = Scratch::new("backups");
    let service = scratch.0.join("pg_service.conf");
    let port = postgres.port();
    fs::write(
        &service,
        format!("[backup]\nhost=127.0.0.1\nport={port}\nuser=postgres\n"),
    )
    .unwrap();
    let backups = scratch.0.join("backups");
    // What an earlier night left: a whole backup each, and one that was interrupted.
    for before in [
        "2026-01-01T03-17-00Z",
        "2026-01-02T03-17-00Z",
        "2026-01-03T03-17-00Z.part",
    ] {
        fs::create_dir_all(backups.join(before)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let mut job = Command::new(command[0]);
    job.args(&command[1..])
        .env("PATH", format!("{}:{path}", postgres.programs().display()))
        .env("BACKUPS", &backups)
        .env("KEEP", "2")
        .env("PGSERVICEFILE", &service);
    let said = expect(&mut job);
    let mut kept: Vec<String> = fs::read_dir(&backups)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept.len(), 2, "{kept:?}: {said}");
    assert_eq!(kept[0], "2026-01-02T03-17-00Z", "{said}");
    assert!(
        backups.join(&kept[1]).join("backup_manifest").is_file(),
        "{said}"
    );
    assert!(said.contains("removed 2026-01-01T03-17-00Z"), "{said}");
    // Without a server nothing is made, and nothing that was kept goes away.
    fs::write(
        &service,
        "[backup]\nhost=127.0.0.1\nport=1\nuser=postgres\n",
    )
    .unwrap();
    let (well, _, _) = run(&mut job);
    assert!(!well);
    assert_eq!(fs::read_dir(&backups).unwrap().count(), 2);
}
