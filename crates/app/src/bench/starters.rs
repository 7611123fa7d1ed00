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
    while let Some(number) = run.next().await {
        if let Err(reason) = start_one(&run, &mut caller, number).await {
            run.not_created(number, reason);
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Creates an instance, and publishes what it waits for or will. Gives its key.
pub(super) async fn start_one(run: &Run, caller: &mut Caller, number: u64) -> Result<u64, String> {
    let begun = run.begun(number).unwrap_or_default();
    let instance = caller.create(&run.subject.process_id, run.subject.variables(number)).await?;
    run.created(number, begun);
    for message in &run.subject.messages {
        match caller.publish(message, run.subject.key(number)).await {
            Ok(()) => run.stepped(number),
            Err(reason) => run.failed(reason),
        }
    }
    Ok(instance)
}
