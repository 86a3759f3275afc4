//! A processor profile of this process: the functions in which it spends its time.
//!
//! Always: one profile at a time. While none is taken, nothing is sampled.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use axum::body::Bytes;
use pprof::{Frames, ProfilerGuardBuilder, Report};
use tokio::{sync::Semaphore, task::spawn_blocking, time::sleep};
use tonic::{Response, Status};

use crate::rpc::{Parts, in_parts};

/// Samples of a second of processor time. The number is odd, so that they never keep step with the
/// tick.
const SAMPLES_PER_SECOND: i32 = 99;
/// Longest profile, in seconds.
pub const SECONDS_MAX: u32 = 60;
/// Libraries that hold locks which a sample would need as well: samples within them are left out.
const LEFT_OUT: [&str; 4] = ["libc", "libgcc", "pthread", "vdso"];

/// Beginnings of the names of the sampler itself, which is innermost in every stack.
const SAMPLER: [&str; 5] = [
    "pprof::",
    "<pprof::",
    "backtrace::",
    "<backtrace::",
    "__restore_rt",
];

static ONE: Semaphore = Semaphore::const_new(1);

/// The reason why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum NoProfile {
    /// Somebody else takes one.
    #[error("another profile is being taken")]
    Busy,
    /// The system refused the timer or the signal.
    #[error("the processor cannot be sampled: {0}")]
    Failed(#[from] pprof::Error),
    /// The names of the functions could not be found.
    #[error("the names of the functions could not be found: {0}")]
    Nameless(#[from] tokio::task::JoinError),
}

/// Samples this process for so many seconds. Returns its stacks in the folded form that flame graphs
/// are made of: a line each, `thread;outermost;…;innermost samples`. Whoever drops the future ends the
/// profile.
///
/// # Errors
/// [`NoProfile`].
pub async fn take(seconds: u32) -> Result<String, NoProfile> {
    let _one = ONE.try_acquire().map_err(|_| NoProfile::Busy)?;
    let sampling = ProfilerGuardBuilder::default()
        .frequency(SAMPLES_PER_SECOND)
        .blocklist(&LEFT_OUT)
        .build()?;
    sleep(Duration::from_secs(seconds.into())).await;
    // It looks every function up in the program's file.
    let named = spawn_blocking(move || sampling.report().build()).await??;
    Ok(folded(&named))
}

/// Answers a call of another process for a profile: the stacks of [`take`], in parts. `part` makes the
/// message of each.
///
/// # Errors
/// INVALID_ARGUMENT: the seconds are not 1 to [`SECONDS_MAX`]. RESOURCE_EXHAUSTED: another profile is
/// being taken. INTERNAL: there is none.
pub async fn answer<T: Send + 'static>(
    seconds: u32,
    part: impl Fn(Bytes) -> T,
) -> Result<Response<Parts<T>>, Status> {
    if !(1..=SECONDS_MAX).contains(&seconds) {
        let why = format!("seconds must be 1 to {SECONDS_MAX}");
        return Err(Status::invalid_argument(why));
    }
    let text = take(seconds).await.map_err(|none| match none {
        NoProfile::Busy => Status::resource_exhausted(none.to_string()),
        NoProfile::Failed(_) | NoProfile::Nameless(_) => Status::internal(none.to_string()),
    })?;
    Ok(in_parts(text.as_bytes(), part))
}

fn folded(report: &Report) -> String {
    let mut stacks: BTreeMap<String, isize> = BTreeMap::new();
    for (frames, samples) in &report.data {
        *stacks.entry(stack(frames)).or_default() += samples;
    }
    stacks
        .into_iter()
        .fold(String::new(), |mut text, (stack, samples)| {
            // A string takes everything.
            let _ = writeln!(text, "{stack} {samples}");
            text
        })
}

/// Names of a stack, from the thread inwards. A semicolon would end a name.
fn stack(frames: &Frames) -> String {
    let mut names = vec![frames.thread_name.replace(';', ",")];
    let calls = frames
        .frames
        .iter()
        .rev()
        .flat_map(|frame| frame.iter().rev());
    names.extend(calls.map(|call| call.name().replace(';', ",")));
    let own = |name: &String| SAMPLER.iter().any(|begins| name.starts_with(begins));
    while names.pop_if(|name| own(name)).is_some() {}
    names.join(";")
}

#[cfg(test)]
mod tests {
    use std::{
        hint::black_box,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        thread,
    };

    use super::*;

    #[inline(never)]
    fn goes_round(ended: &AtomicBool) -> u64 {
        let mut sum = 0_u64;
        while !ended.load(Ordering::Relaxed) {
            sum = black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        sum
    }

    #[tokio::test]
    async fn a_profile_names_what_the_processor_does_and_only_one_is_taken_at_a_time() {
        let ended = Arc::new(AtomicBool::new(false));
        let busy = thread::spawn({
            let ended = Arc::clone(&ended);
            move || goes_round(&ended)
        });
        let (first, second) = tokio::join!(take(1), take(1));
        ended.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        assert!(matches!(second, Err(NoProfile::Busy)), "{second:?}");
        let text = first.unwrap();
        let line = text.lines().find(|line| line.contains("tests::goes_round"));
        let (stack, samples) = line
            .and_then(|line| line.rsplit_once(' '))
            .unwrap_or_default();
        assert!(!stack.contains("backtrace::backtrace"), "{text}");
        assert!(samples.parse::<u32>().is_ok_and(|n| n > 0), "{text}");
    }
}
