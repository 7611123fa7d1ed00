//! How those who talk to a broker bear with it while it does not answer: they come again, less and less often, and say so once a minute.

use std::time::Duration;

use tokio::time::Instant;

pub(crate) const AGAIN_AFTER: Duration = Duration::from_millis(100);
pub(crate) const AGAIN_AFTER_MAX: Duration = Duration::from_secs(5);
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Patience {
    pause: Duration,
    complain_at: Option<Instant>,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { pause: AGAIN_AFTER, complain_at: None }
    }

    /// It can be asked again at once.
    pub(crate) fn is_answered(&mut self) {
        self.pause = AGAIN_AFTER;
    }

    /// It has taken something: if it is away again, that is news.
    pub(crate) fn is_served(&mut self) {
        self.complain_at = None;
    }

    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(AGAIN_AFTER_MAX);
    }

    /// Whether it is time to say that it is away.
    pub(crate) fn complains(&mut self) -> bool {
        let now = Instant::now();
        let complains = self.complain_at.is_none_or(|at| at <= now);
        if complains {
            self.complain_at = Some(now + COMPLAIN_EVERY);
        }
        complains
    }
}
