//! The priority of the tick's thread.
//!
//! Always: whoever plays a tick goes before the threads that serve sockets, where the system allows
//! that. On a machine whose processors are all busy it would wait for them as long as it works.

/// The nice value of the thread, from -20 to 19; others have 0. The kernel gives it about 97 of 100 parts
/// of a processor that it shares with another thread.
pub(crate) const NICE: i32 = -15;

/// Puts the calling thread before others, and says in the log whether that was allowed: to root, to a
/// process with `CAP_SYS_NICE`, and below a limit of nice values (`RLIMIT_NICE`).
pub(crate) fn raise() {
    match raise_to(NICE) {
        Ok(()) => tracing::info!(nice = NICE, "the tick goes before other threads"),
        Err(why) => tracing::info!(%why, "the tick has the priority of other threads"),
    }
}

/// Gives the calling thread a nice value.
///
/// # Errors
/// The system does not allow it, or knows no priority of a thread.
#[cfg(target_os = "linux")]
fn raise_to(nice: i32) -> std::io::Result<()> {
    // Linux takes the calling thread for the process, and only that.
    rustix::process::setpriority_process(None, nice)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn raise_to(_nice: i32) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Returns the nice value of the calling thread: field 19 of its line, which has its name in
    /// brackets before field 3.
    fn nice() -> i32 {
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, fields) = line.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(16).unwrap().parse().unwrap()
    }

    #[test]
    fn only_the_calling_thread_goes_before_others_if_the_system_allows_it() {
        let before = nice();
        let lower = before + 1;
        let of_another = std::thread::spawn(move || {
            // Everybody may be less important.
            raise_to(lower).unwrap();
            assert_eq!(nice(), lower);
            let allowed = raise_to(NICE).is_ok();
            assert_eq!(nice(), if allowed { NICE } else { lower });
        });
        of_another.join().unwrap();
        assert_eq!(nice(), before, "nobody else does");
    }
}
