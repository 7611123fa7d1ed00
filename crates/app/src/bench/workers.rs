//! Workers: each takes jobs of a type from a stream (gRPC) or a long poll (REST) and completes several at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::caller::{Caller, Endpoints, Job};
use super::run::Run;

/// A server that refuses is not asked again at once.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn spawn(tasks: &mut JoinSet<()>, run: &Arc<Run>, endpoints: &Endpoints, count: u32) -> Result<(), String> {
    for number in 0..count {
        for job_type in &run.subject.job_types {
            let caller = endpoints.connect().await?;
            let hands = Arc::new(Hands::of(&caller, endpoints.speech.jobs_per_worker()));
            tasks.spawn(work(run.clone(), caller, hands, job_type.clone(), format!("worker-{number}")));
        }
    }
    Ok(())
}

/// Until the run is over and its tasks are dropped.
async fn work(run: Arc<Run>, mut caller: Caller, hands: Arc<Hands>, job_type: String, name: String) {
    loop {
        let ended = match caller.jobs(&job_type, &name).await {
            Ok(mut jobs) => loop {
                match jobs.next().await {
                    Ok(jobs) => take_on(&run, &hands, jobs).await,
                    Err(reason) => break reason,
                }
            },
            Err(reason) => reason,
        };
        if run.is_stopping() {
            return;
        }
        run.failed(ended);
        tokio::time::sleep(PAUSE).await;
    }
}

pub(super) async fn take_on(run: &Arc<Run>, hands: &Arc<Hands>, jobs: Vec<Job>) {
    for job in jobs {
        let number = match run.subject.number(&job.variables) {
            Ok(number) => number,
            Err(reason) => {
                run.failed(reason);
                None
            }
        };
        if let Some(number) = number {
            run.activated(number);
        }
        let Ok(permit) = hands.free.clone().acquire_owned().await else { return };
        tokio::spawn(complete(run.clone(), hands.clone(), permit, job.key, number));
    }
}

async fn complete(run: Arc<Run>, hands: Arc<Hands>, _busy: OwnedSemaphorePermit, job: u64, number: Option<u64>) {
    let mut caller = hands.take();
    match caller.complete(job).await {
        Ok(()) => number.into_iter().for_each(|number| run.stepped(number)),
        Err(reason) => run.failed(reason),
    }
    hands.give_back(caller);
}

/// The connections a worker completes jobs over: as many as it may work on jobs at a time.
pub(super) struct Hands {
    free: Arc<Semaphore>,
    idle: std::sync::Mutex<Vec<Caller>>,
}

impl Hands {
    pub(super) fn of(caller: &Caller, count: usize) -> Self {
        let idle = (0..count).map(|_| caller.another()).collect();
        Self { free: Arc::new(Semaphore::new(count)), idle: std::sync::Mutex::new(idle) }
    }

    fn take(&self) -> Caller {
        let mut idle = self.idle.lock().expect("nothing panics while holding it");
        idle.pop().expect("there is one for each permit")
    }

    fn give_back(&self, caller: Caller) {
        self.idle.lock().expect("nothing panics while holding it").push(caller);
    }
}
