//! Workers: they poll or stream, then complete, fail, throw, ask for more time, come late, answer twice, or die.
//!
//! Without a fault they answer well within their leases.

use std::sync::Arc;
use std::time::Duration;

use host::{Poll, Subscription};
use store::log::{ActivatedJob, Command, FailJob, Request, ThrowError, UpdateJob};
use store::row::JobKind;

use crate::call::{Heard, TENANT, caller, key, marked};
use crate::check::{AttemptId, What};
use crate::fault::Fault;
use crate::rng::Rng;
use crate::world::World;

pub(crate) struct Worker {
    world: Arc<World>,
    rng: Rng,
    number: usize,
    lives: usize,
    name: Arc<str>,
}

impl Worker {
    pub(crate) fn new(world: Arc<World>, number: usize) -> Self {
        let rng = Rng::new(world.plan.seed, 200 + number as u64);
        Self { world, rng, number, lives: 0, name: format!("w{number}").into() }
    }

    /// Works until the faults stop.
    pub(crate) async fn run(mut self) {
        while self.world.faults_on() {
            let jobs = if self.rng.chance(300) { self.stream().await } else { self.poll().await };
            for job in jobs {
                if self.world.strikes(Fault::WorkerDies) {
                    self.lives += 1;
                    self.world.note(|| format!("{} dies with its jobs", self.name));
                    self.name = format!("w{}.{}", self.number, self.lives).into();
                    break;
                }
                self.work(&job).await;
            }
            let pause = self.rng.between(0, 800);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    fn job_type(&mut self) -> Arc<str> {
        format!("t{}", self.rng.below(self.world.plan.job_types as u64)).into()
    }

    async fn poll(&mut self) -> Vec<ActivatedJob> {
        let server = self.world.server(&mut self.rng).await;
        let wait = self.rng.chance(700).then(|| Duration::from_millis(self.rng.between(1, 6_000)));
        let poll = Poll {
            job_type: self.job_type(),
            worker: self.name.clone(),
            timeout: self.rng.between(4_000, 12_000) as i64,
            max: self.rng.between(1, 3) as u32,
            tenants: vec![TENANT.into()],
            fetch: vec![],
            wait,
        };
        match self.world.hear(&server, Fault::PollDropped, server.host.activate(poll)).await {
            Heard::Done(jobs) if jobs.is_empty() || self.world.strikes(Fault::PollDropped) => Vec::new(),
            Heard::Done(jobs) => {
                let jobs = jobs.take();
                jobs.iter().for_each(|job| self.took(job));
                jobs
            }
            Heard::Rejected | Heard::Nothing => Vec::new(),
        }
    }

    /// Takes a few jobs from a stream and leaves it.
    async fn stream(&mut self) -> Vec<ActivatedJob> {
        let server = self.world.server(&mut self.rng).await;
        let subscription = Subscription {
            job_type: self.job_type(),
            worker: self.name.clone(),
            timeout: self.rng.between(10_000, 15_000) as i64,
            tenants: vec![TENANT.into()],
            fetch: vec![],
        };
        let mut jobs = Vec::new();
        let Ok(mut stream) = server.host.stream(subscription) else { return jobs };
        let until = tokio::time::Instant::now() + Duration::from_millis(self.rng.between(1, 5_000));
        for _ in 0..self.rng.between(1, 4) {
            let job = tokio::select! {
                biased;
                () = server.link.died() => break,
                job = stream.next() => job,
                () = tokio::time::sleep_until(until) => break,
            };
            let Some(job) = job else { break };
            self.took(&job);
            jobs.push(job);
        }
        jobs
    }

    fn took(&self, job: &ActivatedJob) {
        self.world.note(|| format!("{} takes job {} until {}", self.name, job.key, job.deadline));
        let now = self.world.now();
        self.world.check(|checker| checker.jobs.took(&self.name, job, now));
    }

    async fn work(&mut self, job: &ActivatedJob) {
        let late = self.world.strikes(Fault::WorkerLate);
        let time = if late { self.rng.between(5_000, 20_000) } else { self.rng.between(0, 900) };
        tokio::time::sleep(Duration::from_millis(time)).await;
        match self.rng.below(100) {
            0..=11 => self.fail(job).await,
            12..=17 => self.throw(job).await,
            18..=27 => {
                self.ask_for_time(job).await;
                self.complete(job).await;
            }
            _ => self.complete(job).await,
        }
    }

    /// At times twice: with the same key, or as if for the first time.
    async fn complete(&mut self, job: &ActivatedJob) {
        let keyed = self.rng.chance(300);
        let done = complete(&self.world, &mut self.rng, keyed, job).await;
        let Some(id) = done.filter(|_| self.world.strikes(Fault::CompletesTwice)) else { return };
        if keyed {
            let server = self.world.server(&mut self.rng).await;
            let request = Request { caller: caller(), command: completion(job, id), idempotency: Some(key(id)) };
            let heard = self.world.submit(&server, request).await;
            self.world.tell(id, &heard);
        } else {
            complete(&self.world, &mut self.rng, false, job).await;
        }
    }

    async fn fail(&mut self, job: &ActivatedJob) {
        let backoff = if self.rng.chance(500) { 0 } else { self.rng.between(100, 8_000) as i64 };
        let retries = (job.retries - 1).max(0);
        let what = What::Fail(job.key);
        let command = |id| {
            let fail = FailJob { job: job.key, retries, message: "no".into(), backoff, variables: marked(id) };
            Command::FailJob(fail)
        };
        self.world.insist(&mut self.rng, false, what, command).await;
    }

    /// The message proves the attempt where nothing catches the error.
    async fn throw(&mut self, job: &ActivatedJob) {
        let command = |id: AttemptId| {
            let message = id.to_string().into();
            Command::ThrowError(ThrowError { job: job.key, code: "E".into(), message, variables: marked(id) })
        };
        self.world.insist(&mut self.rng, false, What::Throw(job.key), command).await;
    }

    async fn ask_for_time(&mut self, job: &ActivatedJob) {
        let timeout = Some(self.rng.between(4_000, 12_000) as i64);
        let update = UpdateJob { job: job.key, retries: None, timeout };
        let what = What::Update(job.key);
        self.world.insist(&mut self.rng, false, what, |_| Command::UpdateJob(update.clone())).await;
    }
}

/// Completes a job; gives the attempt that was told to be done.
pub(crate) async fn complete(world: &Arc<World>, rng: &mut Rng, keyed: bool, job: &ActivatedJob) -> Option<AttemptId> {
    let what = if listens_to_task(job) { What::Hear(job.key) } else { What::Complete(job.key) };
    world.insist(rng, keyed, what, |id| completion(job, id)).await
}

/// Such a job gives no variables.
fn listens_to_task(job: &ActivatedJob) -> bool {
    matches!(job.kind, JobKind::Listener(event) if event.is_of_task())
}

fn completion(job: &ActivatedJob, id: AttemptId) -> Command {
    let variables = if listens_to_task(job) { vec![] } else { marked(id) };
    Command::CompleteJob { job: job.key, variables, result: None }
}
