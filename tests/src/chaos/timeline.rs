//! Events with their times, for the reader of a run that failed.

use std::{
    fmt::{self, Display},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A list of moments; clones share it.
#[derive(Debug, Clone)]
pub struct Timeline {
    began: Instant,
    rows: Arc<Mutex<Vec<(Duration, String)>>>,
    aloud: bool,
}

impl Timeline {
    /// Begins now. `aloud`: each row is printed as it comes.
    pub fn new(aloud: bool) -> Timeline {
        Timeline {
            began: Instant::now(),
            rows: Arc::default(),
            aloud,
        }
    }

    /// Returns since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Adds a row.
    pub fn note(&self, what: impl Display) {
        let at = self.began.elapsed();
        let what = what.to_string();
        if self.aloud {
            eprintln!("{}", row(at, &what));
        }
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.push((at, what));
    }
}

fn row(at: Duration, what: &str) -> String {
    format!("{:>9.3} s  {what}", at.as_secs_f64())
}

impl Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, what) in rows.iter() {
            writeln!(f, "{}", row(*at, what))?;
        }
        Ok(())
    }
}
