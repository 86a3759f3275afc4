//! The command `archive`: lists, exports and drops months of the ledger, the sessions and the audit
//! log.
//!
//! Always: an export has its name only when all of it is on the disk. The store drops a month only
//! after it noted the export, unless the operator wants no export.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::store::Store;
use crate::store::archive::{Line, MonthReport, Standing, Table};

/// Pieces of rows that wait for the disk.
const WAITING: usize = 4;

/// A command after parsing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    List,
    Export(Table, String, PathBuf),
    /// Whether the month need not have been exported.
    Drop(Table, String, bool),
}

impl Task {
    pub(super) fn read(operands: &[&str]) -> Option<Task> {
        Some(match operands {
            [] => Task::List,
            ["export", table, month, file] => {
                Task::Export(Table::of(table)?, (*month).to_owned(), PathBuf::from(file))
            }
            ["drop", table, month] => Task::Drop(Table::of(table)?, (*month).to_owned(), false),
            ["drop", table, month, "--unexported"] => {
                Task::Drop(Table::of(table)?, (*month).to_owned(), true)
            }
            _ => return None,
        })
    }
}

/// Carries a command out and returns the lines of its answer.
pub(super) async fn perform(store: &dyn Store, task: Task) -> anyhow::Result<Vec<String>> {
    match task {
        Task::List => {
            let months = store.months().await.context("read the months")?;
            let standing = store.months_standing().await.context("read the months")?;
            Ok(listed(&months, standing))
        }
        Task::Export(table, month, file) => {
            let (rows, sha256) = export(store, table, &month, &file).await?;
            let kind = table.kind();
            Ok(vec![format!(
                "{kind} {month}: {rows} rows, SHA-256 {sha256}"
            )])
        }
        Task::Drop(table, month, unexported) => {
            let dropped = store.drop_month(table, &month, unexported).await;
            let dropped = dropped.context("drop the month")?;
            let kept = match (table, dropped.kept) {
                (_, 0) => String::new(),
                (Table::Ledger, sums) => format!("; {sums} sums stand for them"),
                (Table::Sessions | Table::Audit, rows) => format!("; {rows} stay"),
            };
            let (kind, rows) = (table.kind(), dropped.rows);
            Ok(vec![format!("{kind} {month}: {rows} rows dropped{kept}")])
        }
    }
}

fn listed(months: &[MonthReport], standing: Standing) -> Vec<String> {
    let mut lines: Vec<String> = months.iter().map(line).collect();
    lines.push(format!("{} months ahead", standing.ahead));
    if standing.unplaced != 0 {
        lines.push(format!("{} rows wait for their month", standing.unplaced));
    }
    lines
}

fn line(report: &MonthReport) -> String {
    let month = &report.month;
    let before = if month.begins == 0 { " and before" } else { "" };
    let mut line = format!("{} {}{before}: ", month.kind, month.month);
    if month.dropped.is_some() {
        line.push_str("dropped");
    } else {
        line.push_str(&format!("{} rows", report.rows));
        if let Some(bytes) = report.bytes {
            line.push_str(&format!(", {bytes} bytes"));
        }
        line.push_str(if month.closed.is_some() {
            ", closed"
        } else {
            ", open"
        });
    }
    if let (Some(rows), Some(sha256)) = (month.exported_rows, &month.sha256) {
        line.push_str(&format!(", {rows} rows exported, SHA-256 {sha256}"));
    }
    line
}

/// Writes a month into a new file. Returns the number of its rows and the SHA-256 of the file.
async fn export(
    store: &dyn Store,
    table: Table,
    month: &str,
    file: &Path,
) -> anyhow::Result<(i64, String)> {
    let mut sheet = Sheet::create(file)?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let (exported, written) = futures::join!(
        store.export_month(table, month, sender),
        sheet.fill(table, receiver)
    );
    // An error of the disk explains that the store could not hand over its rows.
    written.with_context(|| format!("write {}", file.display()))?;
    let at_ms = exported.context("export the month")?;
    let (rows, sha256) = sheet
        .finish(file)
        .with_context(|| format!("write {}", file.display()))?;
    let noted = store.note_export(table, month, at_ms, rows, &sha256).await;
    noted.context("note the export")?;
    Ok((rows, sha256))
}

/// A file of CSV on its way. It is removed unless it is finished.
struct Sheet {
    temporary: PathBuf,
    out: BufWriter<File>,
    digest: Sha256,
    rows: i64,
}

impl Sheet {
    fn create(file: &Path) -> anyhow::Result<Sheet> {
        if file.exists() {
            bail!("{} exists already", file.display());
        }
        let mut temporary = OsString::from(file);
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        let opened = opened.with_context(|| format!("create {}", temporary.display()))?;
        Ok(Sheet {
            temporary,
            out: BufWriter::new(opened),
            digest: Sha256::new(),
            rows: 0,
        })
    }

    /// Writes the names of the columns and all rows that come. The command does nothing else, so it
    /// may wait for the disk.
    async fn fill(
        &mut self,
        table: Table,
        mut rows: mpsc::Receiver<Vec<Line>>,
    ) -> std::io::Result<()> {
        self.write(&format!("{}\n", table.columns().join(",")))?;
        while let Some(lines) = rows.recv().await {
            for line in &lines {
                self.write(&csv(line))?;
                self.rows += 1;
            }
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> std::io::Result<()> {
        self.digest.update(text);
        self.out.write_all(text.as_bytes())
    }

    /// Brings all to the disk and gives the file its name.
    fn finish(&mut self, file: &Path) -> std::io::Result<(i64, String)> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        // A name that somebody else took in between stays theirs.
        fs::hard_link(&self.temporary, file)?;
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
        let digest = std::mem::take(&mut self.digest).finalize();
        let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((self.rows, sha256))
    }
}

impl Drop for Sheet {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Returns a row as PostgreSQL reads it with `COPY … CSV`: nothing for null, two quotes for an empty
/// text.
fn csv(line: &Line) -> String {
    let values = line.iter().map(|value| match value {
        None => String::new(),
        Some(text) if plain(text) => text.clone(),
        Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
    });
    let mut text = values.collect::<Vec<_>>().join(",");
    text.push('\n');
    text
}

fn plain(text: &str) -> bool {
    // A backslash with a point would end the data.
    !text.is_empty() && !text.contains([',', '"', '\n', '\r', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_csv_tells_nothing_from_an_empty_text() {
        let line = [
            Some("7"),
            None,
            Some(""),
            Some("a,b"),
            Some("say \"no\""),
            Some("two\nlines"),
            Some("\\."),
        ];
        let line: Line = line.iter().map(|one| one.map(str::to_owned)).collect();
        assert_eq!(
            csv(&line),
            "7,,\"\",\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",\"\\.\"\n"
        );
    }

    #[test]
    fn tasks_are_read_with_their_operands() {
        let month = "2026-11".to_owned();
        for (operands, task) in [
            (&[][..], Some(Task::List)),
            (
                &["drop", "sessions", "2026-11", "--unexported"],
                Some(Task::Drop(Table::Sessions, month.clone(), true)),
            ),
            (
                &["export", "audit", "2026-11", "a.csv"],
                Some(Task::Export(Table::Audit, month, PathBuf::from("a.csv"))),
            ),
            (&["export", "runs", "2026-11", "a.csv"], None),
            (&["drop", "ledger"], None),
        ] {
            assert_eq!(Task::read(operands), task, "{operands:?}");
        }
    }

    #[test]
    fn a_sheet_has_its_name_only_when_it_is_whole() {
        let folder = std::env::temp_dir().join(format!("sheet-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.csv");
        drop(Sheet::create(&file).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let mut sheet = Sheet::create(&file).unwrap();
        sheet.write("a,b\n").unwrap();
        assert!(!file.exists());
        let (rows, sha256) = sheet.finish(&file).unwrap();
        drop(sheet);
        assert_eq!(
            (rows, fs::read_to_string(&file).unwrap().as_str()),
            (0, "a,b\n")
        );
        assert_eq!(sha256.get(..16), Some("5be08c9684a1d25e"));
        assert!(Sheet::create(&file).is_err(), "it is there already");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
