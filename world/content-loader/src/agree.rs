//! Agreement on the version of the content that the world plays, if processes differ. Pure.
//!
//! Always: the oldest run that is not leaving decides. So all who see the same runs decide alike,
//! and a process that starts late never changes the version.

/// One life of a zone server, as the directory shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Number that grows from run to run.
    pub id: u64,
    /// Address as host:port.
    pub address: String,
    /// Hash of the content that it plays; empty if it did not say.
    pub content: String,
    /// Whether it gives its regions away.
    pub leaving: bool,
}

/// Returns the runs to ask for the version that the world plays, the oldest first; none if that is
/// `mine`. A run counts only those that are older than itself (`me`).
pub fn other_version(runs: &[Run], me: Option<u64>, mine: &str) -> Vec<Run> {
    let mut counting: Vec<&Run> = runs
        .iter()
        .filter(|run| !run.leaving && !run.content.is_empty())
        .filter(|run| me.is_none_or(|me| run.id < me))
        .collect();
    counting.sort_by_key(|run| run.id);
    let Some(oldest) = counting.first().filter(|run| run.content != mine) else {
        return Vec::new();
    };
    let content = oldest.content.clone();
    let same = counting.into_iter().filter(|run| run.content == content);
    same.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: u64, content: &str, leaving: bool) -> Run {
        Run {
            id,
            address: format!("zone-{id}:5700"),
            content: content.to_owned(),
            leaving,
        }
    }

    fn asked(runs: &[Run], me: Option<u64>, mine: &str) -> Vec<u64> {
        let found = other_version(runs, me, mine);
        found.iter().map(|run| run.id).collect()
    }

    #[test]
    fn the_oldest_run_that_stays_decides() {
        let runs = [
            run(7, "b", false),
            run(3, "a", true),
            run(5, "b", false),
            run(6, "c", false),
        ];
        assert_eq!(asked(&runs, None, "a"), [5, 7]);
        assert_eq!(asked(&runs, None, "b"), [0_u64; 0]);
        assert_eq!(asked(&[], None, "a"), [0_u64; 0]);
    }

    #[test]
    fn a_run_follows_only_older_ones() {
        let runs = [run(5, "a", false), run(6, "b", false)];
        assert_eq!(asked(&runs, Some(6), "b"), [5]);
        assert_eq!(asked(&runs, Some(5), "a"), [0_u64; 0]);
        assert_eq!(asked(&[run(4, "", false)], Some(6), "b"), [0_u64; 0]);
    }
}
