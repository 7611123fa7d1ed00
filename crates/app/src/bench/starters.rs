//! Starters: each creates one instance at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::caller::{Caller, Endpoints};
use super::run::Run;

/// A server that refuses is not asked again at once.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn spawn(tasks: &mut JoinSet<()>, run: &Arc<Run>, endpoints: &Endpoints, count: u32) -> Result<(), String> {
    let first = endpoints.connect().await?;
    for _ in 0..count {
        tasks.spawn(start(run.clone(), first.another()));
    }
    Ok(())
}

async fn start(run: Arc<Run>, mut caller: Caller) {
    while let Some(begun) = run.next().await {
        match caller.create(&run.subject.name, run.subject.variables(begun)).await {
            Ok(()) => run.created(begun),
            Err(reason) => {
                run.not_created(reason);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
