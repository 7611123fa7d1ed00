//! How many steps an instance takes: one is run to its end and watched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::caller::Endpoints;
use super::run::{Limits, Run};
use super::subject::Subject;
use super::{starters, workers};

/// How long the one instance may take.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);

pub(super) async fn of(subject: &Subject, endpoints: &Endpoints) -> Result<u32, String> {
    let run = Arc::new(Run::new(subject.clone(), Limits { running: 1, workers: 1, rate: None }));
    let mut tasks = JoinSet::new();
    workers::spawn(&mut tasks, &run, endpoints, 1).await?;
    let number = run.next().await.ok_or("nothing may be begun")?;
    let instance = starters::start_one(&run, &mut endpoints.connect().await?, number).await?;
    let begun = Instant::now();
    let mut state = None;
    while begun.elapsed() < PATIENCE {
        state = endpoints.state(instance).await?;
        match state.as_deref() {
            None | Some("ACTIVE") => tokio::time::sleep(PAUSE).await,
            Some("COMPLETED") => break,
            Some(other) => return Err(format!("instance {instance} is {other}: see what is wrong with the model")),
        }
    }
    if state.as_deref() != Some("COMPLETED") {
        let so_far = run.steps(number);
        return Err(format!(
            "an instance did not end within {} s, after {so_far} steps: does it wait for a message?",
            PATIENCE.as_secs()
        ));
    }
    // The last answer may still be on its way.
    tokio::time::sleep(PAUSE).await;
    match run.steps(number) {
        0 => Err("an instance has neither jobs nor messages: there is nothing to wait for".to_owned()),
        steps => Ok(steps),
    }
}
