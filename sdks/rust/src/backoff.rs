use std::time::Duration;

use tokio::time::Instant;

use crate::Error;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// Waits that double up to a bound, each a random part of it, so that many clients do not come back at once.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// How long to wait after one more failure; never less than the server asked for.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Duration {
        let bound = LONGEST.min(FIRST * 2_u32.pow(self.failures.min(10)));
        self.failures += 1;
        bound.mul_f64(0.5 + fastrand::f64() / 2.0).max(asked.unwrap_or_default())
    }
}

/// Calls until there is an answer, or until another wait would end too late.
pub(crate) async fn retry<T, Answer>(patience: Duration, call: impl Fn() -> Answer) -> Result<T, Error>
where
    Answer: Future<Output = Result<T, Error>>,
{
    let mut backoff = Backoff::default();
    let deadline = Instant::now() + patience;
    loop {
        match call().await {
            Err(error) if error.is_unavailable() => {
                let wait = backoff.next(error.retry_after());
                if deadline < Instant::now() + wait {
                    return Err(error);
                }
                tokio::time::sleep(wait).await;
            }
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_keep_to_what_the_server_asks() {
        let mut backoff = Backoff::default();
        for bound in [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].map(Duration::from_millis) {
            let wait = backoff.next(None);
            assert!(bound / 2 <= wait && wait <= bound, "{wait:?} of {bound:?}");
        }
        assert_eq!(backoff.next(Some(Duration::from_secs(60))), Duration::from_secs(60));
    }
}
