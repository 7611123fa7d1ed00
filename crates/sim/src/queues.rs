//! Work without a process, under policies: senders submit, cancel, retry and change what is allowed; hands work it off.

use std::sync::Arc;
use std::time::Duration;

use engine::{Document, JobKey};
use host::{Poll, drain, pause};
use queue::Pace;
use queue::policy::{Concurrency, Method, Overdue, Policy, Quota, Rate, Scope, Wait};
use queue::retry::{Delays, Retry};
use store::log::{ActivatedJob, Answer, Command, FailJob, IdempotencyKey, NewExecution, PutPolicy, Request, Submit, ThrowError};

use crate::call::{Heard, TENANT, caller};
use crate::fault::Fault;
use crate::rng::Rng;
use crate::world::World;

/// The one action there is.
pub(crate) const ACTION: &str = "x";
/// What the policy for it is called.
const POLICY: &str = "q";
/// What that of its tenant is called.
const QUOTA: &str = "t";
/// How often something is tried again before it is left.
const TRIES_MAX: usize = 6;

pub(crate) struct Sender {
    world: Arc<World>,
    rng: Rng,
    number: usize,
    sent: usize,
    known: Vec<JobKey>,
}

impl Sender {
    pub(crate) fn new(world: Arc<World>, number: usize) -> Self {
        let rng = Rng::new(world.plan.seed, 400 + number as u64);
        Self { world, rng, number, sent: 0, known: Vec::new() }
    }

    pub(crate) async fn run(mut self) {
        for _ in 0..2 * self.world.plan.acts {
            let while_ = self.rng.between(0, 1_500);
            tokio::time::sleep(Duration::from_millis(while_)).await;
            match self.rng.below(20) {
                0..=9 => self.submit().await,
                10..=13 => self.put_policy().await,
                14 | 15 => self.cancel().await,
                16 => self.retry().await,
                17 => self.put(pause_of(drain(&ACTION.into()))).await,
                18 => self.put(pause_of(pause(&ACTION.into()))).await,
                _ => self.resume().await,
            }
        }
    }

    /// Sends it until it is known what became of it, if it has an idempotency key; else once.
    async fn send(&mut self, command: Command, keyed: bool) -> Heard<Answer> {
        self.sent += 1;
        let key: Arc<str> = format!("q{}.{}", self.number, self.sent).into();
        let idempotency = keyed.then(|| IdempotencyKey { tenant: TENANT.into(), key, fingerprint: self.sent as u64 });
        let request = Request { caller: caller(), command, idempotency };
        for _ in 0..TRIES_MAX {
            let server = self.world.server(&mut self.rng).await;
            match self.world.submit(&server, request.clone()).await {
                Heard::Nothing if keyed => {
                    let pause = self.rng.between(1, 1_500);
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                heard => return heard,
            }
        }
        Heard::Nothing
    }

    async fn submit(&mut self) {
        let executions: Vec<NewExecution> = (0..self.rng.between(1, 4))
            .map(|_| {
                let group = vec![("g".into(), self.rng.below(3).to_string().into())];
                let (priority, retries) = (self.rng.below(2) as i32, self.rng.between(1, 3) as i32);
                NewExecution { input: Document::new(), priority, retries, run_at: None, unique: None, group }
            })
            .collect();
        let count = executions.len();
        let keyed = self.rng.chance(600);
        let submit = Submit { tenant: TENANT.into(), action: ACTION.into(), executions };
        if let Heard::Done(Answer::Submitted(submitted)) = self.send(Command::Submit(submit), keyed).await {
            let keys: Vec<JobKey> = submitted.executions.iter().map(|one| one.job).collect();
            self.world.note(|| format!("submitted {keys:?}"));
            self.world.check(|checker| checker.queues.submitted(&keys, count));
            self.known.extend(keys);
        }
    }

    async fn put_policy(&mut self) {
        let (reference, policy) = match self.rng.chance(250) {
            true => (QUOTA, quota(&mut self.rng)),
            false => (POLICY, drawn(&self.world, &mut self.rng)),
        };
        self.put(PutPolicy { reference: reference.into(), policy: Box::new(policy) }).await;
    }

    async fn put(&mut self, put: PutPolicy) {
        self.world.note(|| format!("puts {put:?}"));
        self.send(Command::PutPolicy(put), true).await;
    }

    async fn resume(&mut self) {
        let (reference, _) = pause(&ACTION.into());
        self.send(Command::DeletePolicy { reference }, true).await;
    }

    async fn cancel(&mut self) {
        if self.known.is_empty() {
            return;
        }
        let job = *self.rng.pick(&self.known);
        if let Heard::Done(_) = self.send(Command::CancelExecution { job }, false).await {
            self.world.check(|checker| checker.queues.told_over(job));
        }
    }

    async fn retry(&mut self) {
        if !self.known.is_empty() {
            let job = *self.rng.pick(&self.known);
            self.send(Command::RetryExecution { job, retries: 2 }, false).await;
        }
    }

    /// Nothing is paused, and everything may be worked off.
    pub(crate) async fn open_all(&mut self) {
        for _ in 0..TRIES_MAX {
            self.resume().await;
        }
    }
}

fn pause_of((reference, policy): (Arc<str>, Policy)) -> PutPolicy {
    PutPolicy { reference, policy: Box::new(policy) }
}

/// How a seed tells groups apart, and how fast it lets jobs start: that much stays, so that it is known what counts.
struct Kind {
    by_group: bool,
    pace: u64,
    holds: bool,
}

impl Kind {
    fn of(world: &World) -> Self {
        let mut rng = Rng::new(world.plan.seed, 6);
        Self { by_group: rng.chance(500), pace: rng.below(4), holds: rng.chance(300) }
    }
}

/// Some policy: its limits are drawn each time.
fn drawn(world: &World, rng: &mut Rng) -> Policy {
    let Kind { by_group, pace, holds } = Kind::of(world);
    let parameters = |by_group: bool| if by_group { vec!["g".into()] } else { Vec::new() };
    let concurrency = Concurrency {
        limit: rng.between(1, 3) as u32,
        parameters: parameters(by_group),
        method: Method::Enqueue,
        adaptive: None,
    };
    let rate = Pace { limit: rng.between(1, 3) as u32, window: 1_500 };
    let rate = |by_group| Some(Rate { pace: rate, parameters: parameters(by_group) });
    let delays = Delays::Listed(vec![rng.between(0, 800) as i64, 1_500]);
    Policy {
        concurrency: rng.chance(800).then_some(concurrency),
        rate: match pace {
            1 => rate(false),
            2 => rate(true),
            _ => None,
        },
        delay: (pace == 3).then_some(700),
        wait: rng.chance(200).then_some(Wait { most: 20_000, then: Overdue::Fail }),
        retry: Some(Retry { delays, jitter_percent: 20, holds }),
        ..Policy::new(Scope::Action(ACTION.into()))
    }
}

/// How many of the tenant's run at once.
fn quota(rng: &mut Rng) -> Policy {
    let running = Some(rng.between(1, 3) as u32);
    Policy { quota: Some(Quota { running, ..Quota::default() }), ..Policy::new(Scope::Tenant(TENANT.into())) }
}

/// A worker for the action: it completes, fails, throws, comes late, or dies.
pub(crate) struct Hand {
    world: Arc<World>,
    rng: Rng,
    number: usize,
    lives: usize,
}

impl Hand {
    pub(crate) fn new(world: Arc<World>, number: usize) -> Self {
        let rng = Rng::new(world.plan.seed, 300 + number as u64);
        Self { world, rng, number, lives: 0 }
    }

    pub(crate) async fn run(mut self) {
        while self.world.faults_on() {
            let wait = self.rng.chance(700).then(|| Duration::from_millis(self.rng.between(1, 6_000)));
            for job in self.poll(wait, 3).await {
                if self.world.strikes(Fault::WorkerDies) {
                    self.lives += 1;
                    break;
                }
                let late = self.world.strikes(Fault::WorkerLate);
                let time = if late { self.rng.between(5_000, 20_000) } else { self.rng.between(0, 900) };
                tokio::time::sleep(Duration::from_millis(time)).await;
                match self.rng.below(10) {
                    0 | 1 => self.fail(&job).await,
                    2 => self.throw(&job).await,
                    _ => self.complete(&job).await,
                }
            }
            let pause = self.rng.between(0, 600);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    async fn poll(&mut self, wait: Option<Duration>, max: u32) -> Vec<ActivatedJob> {
        let server = self.world.server(&mut self.rng).await;
        let worker: Arc<str> = format!("h{}.{}", self.number, self.lives).into();
        let timeout = self.rng.between(4_000, 12_000) as i64;
        let (job_type, tenants) = (ACTION.into(), vec![TENANT.into()]);
        let poll = Poll { job_type, worker: worker.clone(), timeout, max, tenants, fetch: vec![], wait };
        match self.world.hear(&server, Fault::PollDropped, server.host.activate(poll)).await {
            Heard::Done(jobs) => {
                let jobs = jobs.take();
                for job in &jobs {
                    self.world.note(|| format!("{worker} takes execution {} until {}", job.key, job.deadline));
                    self.world.check(|checker| checker.queues.took(&worker, job));
                }
                jobs
            }
            Heard::Rejected | Heard::Nothing => Vec::new(),
        }
    }

    async fn submit(&mut self, command: Command) -> Heard<Answer> {
        let server = self.world.server(&mut self.rng).await;
        self.world.submit(&server, Request { caller: caller(), command, idempotency: None }).await
    }

    async fn complete(&mut self, job: &ActivatedJob) {
        let command = Command::CompleteJob { job: job.key, variables: Document::new(), result: None };
        let heard = self.submit(command.clone()).await;
        if let Heard::Done(_) = heard {
            self.world.check(|checker| checker.queues.told_over(job.key));
            if self.world.strikes(Fault::CompletesTwice)
                && let Heard::Done(_) = self.submit(command).await
            {
                self.world.check(|checker| checker.queues.completed_again(job.key));
            }
        }
    }

    async fn fail(&mut self, job: &ActivatedJob) {
        let backoff = if self.rng.chance(700) { 0 } else { self.rng.between(100, 2_000) as i64 };
        let retries = (job.retries - 1).max(0);
        let fail = FailJob { job: job.key, retries, message: "no".into(), backoff, variables: Document::new() };
        self.submit(Command::FailJob(fail)).await;
    }

    async fn throw(&mut self, job: &ActivatedJob) {
        let (code, message) = ("E".into(), "no".into());
        self.submit(Command::ThrowError(ThrowError { job: job.key, code, message, variables: Document::new() })).await;
    }

    /// Takes what may go and completes it.
    pub(crate) async fn work_off(&mut self) {
        for job in self.poll(None, 20).await {
            self.complete(&job).await;
        }
    }
}
