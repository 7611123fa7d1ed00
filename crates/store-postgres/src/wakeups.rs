//! Notifications from other servers, on a connection of their own.
//!
//! Modes: *connecting* (tries, waits a little longer each time, at most a second), *listening* (bumps the counter with every
//! notification). What was sent while nobody listened is lost, so entering the second mode bumps as well.

use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_postgres::AsyncMessage;

use crate::fault::with_causes;
use crate::options::{Options, Target};

const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

pub(crate) struct Wakeups {
    counter: watch::Receiver<u64>,
    listener: Option<AbortHandle>,
    /// Without a listener nobody bumps, but those who wait must not see the channel closed.
    _unused: Option<watch::Sender<u64>>,
}

impl Wakeups {
    /// Listens on the database this leads to, if there is a way to it.
    pub(crate) fn listen(target: Option<Target>, options: &Options) -> Self {
        let (bump, counter) = watch::channel(0);
        let Some(target) = target else { return Self { counter, listener: None, _unused: Some(bump) } };
        let listener = tokio::spawn(run(target, options.connect_timeout(), bump)).abort_handle();
        Self { counter, listener: Some(listener), _unused: None }
    }

    pub(crate) fn receiver(&self) -> watch::Receiver<u64> {
        self.counter.clone()
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            listener.abort();
        }
    }
}

async fn run(target: Target, patience: Duration, bump: watch::Sender<u64>) {
    let mut pause = PAUSE_MIN;
    loop {
        let before = *bump.borrow();
        let reason = listen_once(&target, patience, &bump).await;
        if *bump.borrow() != before {
            pause = PAUSE_MIN;
        }
        tracing::debug!(reason, "not listening to other servers");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Connects and listens until the connection is lost; says why it was.
async fn listen_once(target: &Target, patience: Duration, bump: &watch::Sender<u64>) -> String {
    let (client, mut connection) = match tokio::time::timeout(patience, target.connect()).await {
        Ok(Ok(connected)) => connected,
        Ok(Err(cause)) => return with_causes(&cause),
        Err(_) => return "PostgreSQL does not answer a new connection".to_owned(),
    };
    let messages = async {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(_))) => bump.send_modify(|count| *count += 1),
                Some(Ok(_)) => {}
                Some(Err(cause)) => return with_causes(&cause),
                None => return "the connection was closed".to_owned(),
            }
        }
    };
    let subscription = async {
        match tokio::time::timeout(patience, client.batch_execute("LISTEN caudal")).await {
            Ok(Ok(())) => bump.send_modify(|count| *count += 1),
            Ok(Err(cause)) => return with_causes(&cause),
            Err(_) => return "PostgreSQL does not answer LISTEN".to_owned(),
        }
        // From here on the messages decide when it ends; the client is kept, or the connection would close.
        std::future::pending().await
    };
    tokio::select! {
        reason = messages => reason,
        reason = subscription => reason,
    }
}
