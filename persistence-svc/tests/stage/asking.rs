//! Questions that are asked until they are answered, and answers that must be refusals.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tonic::{Code, Status};

use super::SOON;

/// Asks until there is an answer.
pub(crate) async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "never: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code) {
    let status = answer.unwrap_err();
    assert_eq!(status.code(), code, "{status}");
}
