//! The clients: starters that begin instances and workers that do their jobs, each a thread with a random mind of its own.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::history::{Act, History, Told, Work};
use super::http::{ANSWER_MAX, Connection, Reply, Request};
use super::process;
use super::random::Random;

const STARTERS: usize = 4;
const WORKERS: usize = 6;
/// How long a worker may keep a job. Jobs that died with an answer come back after it.
const LEASE_MILLIS: u64 = 1_500;
const POLL_MILLIS: u64 = 1_000;
/// Workers are behind if none of them waited for a job in this time.
const IDLE_MILLIS: u64 = 500;
/// Between two tries while nobody listens.
const PAUSE: Duration = Duration::from_millis(15);

/// All clients of a run.
#[derive(Debug)]
pub(super) struct Load {
    starters: Vec<JoinHandle<()>>,
    workers: Vec<JoinHandle<()>>,
    starting: Arc<AtomicBool>,
    working: Arc<AtomicBool>,
}

impl Load {
    /// Each call goes to one of the servers, whichever chance picks.
    /// Workers ask for jobs, unless there is somebody they hear of them from.
    pub(super) fn begin(
        servers: &[SocketAddr],
        history: &Arc<History>,
        random: &mut Random,
        heard: Option<Receiver<String>>,
    ) -> Load {
        let heard = heard.map(|heard| Arc::new(Mutex::new(heard)));
        let starting = Arc::new(AtomicBool::new(true));
        let working = Arc::new(AtomicBool::new(true));
        let idle_at = Arc::new(AtomicU64::new(0));
        let mut client = |kind: char, number: usize, go_on: &Arc<AtomicBool>| Client {
            name: format!("{kind}{number}"),
            calls: 0,
            servers: servers.to_vec(),
            connection: Connection::default(),
            history: history.clone(),
            random: random.split(),
            go_on: go_on.clone(),
            idle_at: idle_at.clone(),
        };
        let starters = (1..=STARTERS).map(|number| client('s', number, &starting)).collect::<Vec<_>>();
        let workers = (1..=WORKERS).map(|number| client('w', number, &working)).collect::<Vec<_>>();
        let start = |mut client: Client| std::thread::spawn(move || client.start_instances());
        let work = |(number, mut client): (usize, Client)| {
            let heard = heard.clone();
            std::thread::spawn(move || match heard {
                Some(heard) => client.work_on_what_is_heard(&heard),
                None => client.work(process::ALL[number % process::ALL.len()].0),
            })
        };
        Load {
            starters: starters.into_iter().map(start).collect(),
            workers: workers.into_iter().enumerate().map(work).collect(),
            starting,
            working,
        }
    }

    /// No new instances.
    pub(super) fn stop_starting(&mut self) {
        self.starting.store(false, Ordering::Relaxed);
        self.starters.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.working.store(false, Ordering::Relaxed);
        self.stop_starting();
        self.workers.drain(..).for_each(|thread| drop(thread.join()));
    }
}

struct Client {
    name: String,
    calls: usize,
    servers: Vec<SocketAddr>,
    connection: Connection,
    history: Arc<History>,
    random: Random,
    go_on: Arc<AtomicBool>,
    /// When a worker last got fewer jobs than it asked for.
    idle_at: Arc<AtomicU64>,
}

impl Client {
    fn start_instances(&mut self) {
        while self.go_on.load(Ordering::Relaxed) {
            let call = self.next_call();
            let process = process::ALL[self.random.below(process::ALL.len())].0;
            let lane = process::LANES[self.random.below(process::LANES.len())];
            let body = json!({ "processDefinitionId": process, "variables": { "token": call, "count": 0, "lane": lane } });
            let keyed = self.random.percent(70);
            let told = self.send_until_known(&call, "/v2/process-instances", &body, keyed, &Act::Start { process });
            let Told::Done(Some(instance)) = told else { continue };
            if keyed && self.random.percent(10) {
                // The first answer again.
                self.send_until_known(&call, "/v2/process-instances", &body, keyed, &Act::Start { process });
            }
            if self.random.percent(30) {
                let path = format!("/v2/process-instances/{instance}");
                self.send(&call, &Request::get(&path), &Act::Look { instance });
            }
            // No more than the workers can do: a backlog would only make every run end late.
            let behind = IDLE_MILLIS < self.history.now().saturating_sub(self.idle_at.load(Ordering::Relaxed));
            let pause = if behind { self.random.millis(200, 400) } else { self.random.millis(1, 40) };
            std::thread::sleep(pause);
        }
    }

    fn work(&mut self, job_type: &str) {
        while self.go_on.load(Ordering::Relaxed) {
            let wanted = 1 + self.random.below(8);
            let poll = json!({
                "type": job_type, "worker": self.name, "timeout": LEASE_MILLIS, "requestTimeout": POLL_MILLIS,
                "maxJobsToActivate": wanted,
            });
            let call = self.next_call();
            let (told, answer) = self.send(&call, &Request::post("/v2/jobs/activation", &poll.to_string()), &Act::Poll);
            if !matches!(told, Told::Done(_)) {
                std::thread::sleep(PAUSE);
                continue;
            }
            let jobs = answer["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
            if jobs.len() < wanted {
                self.idle_at.fetch_max(self.history.now(), Ordering::Relaxed);
            }
            let received = self.history.now();
            jobs.iter().for_each(|job| self.do_job(job, received));
        }
    }

    /// Whoever hears of a job may do it: it is announced to all, and again if nobody does it in time.
    fn work_on_what_is_heard(&mut self, heard: &Mutex<Receiver<String>>) {
        // Who hears nothing although there is work is behind, not idle: the broker is away.
        let mut has_worked = false;
        while self.go_on.load(Ordering::Relaxed) {
            let line = heard.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PAUSE);
            let Ok(line) = line else {
                if std::mem::take(&mut has_worked) {
                    self.idle_at.fetch_max(self.history.now(), Ordering::Relaxed);
                }
                std::thread::sleep(PAUSE);
                continue;
            };
            has_worked = true;
            let keys: Vec<u64> = line.split(' ').filter_map(|key| key.parse().ok()).collect();
            let &[job, instance] = keys.as_slice() else { continue };
            let Some(element) = self.element_of(job) else { continue };
            self.finish_job(Work { job, instance, element });
        }
    }

    /// Which element a job belongs to. What was announced can be found.
    fn element_of(&mut self, job: u64) -> Option<String> {
        let search = json!({ "filter": { "jobKey": job.to_string() } }).to_string();
        while self.go_on.load(Ordering::Relaxed) {
            let call = self.next_call();
            let (told, answer) = self.send(&call, &Request::post("/v2/jobs/search", &search), &Act::Poll);
            match (told, answer["items"][0]["elementId"].as_str()) {
                (Told::Done(_), Some(element)) => return Some(element.to_owned()),
                _ => std::thread::sleep(PAUSE),
            }
        }
        None
    }

    fn do_job(&mut self, job: &Value, received: u64) {
        let key = |name: &str| job[name].as_str().and_then(|key| key.parse().ok()).unwrap_or(0);
        let element = job["elementId"].as_str().unwrap_or_default().to_owned();
        let work = Work { job: key("jobKey"), instance: key("processInstanceKey"), element };
        let call = self.next_call();
        self.history.note(received, &call, given(&self.history, &work, job), Told::Done(None));
        self.finish_job(work);
    }

    /// Mostly completes it, sometimes fails it first, now and then forgets it.
    fn finish_job(&mut self, work: Work) {
        let call = self.next_call();
        let keyed = self.random.percent(50);
        match self.random.below(100) {
            0..82 => {
                let path = format!("/v2/jobs/{}/completion", work.job);
                let body = json!({ "variables": { "done": call } });
                self.send_until_known(&call, &path, &body, keyed, &Act::Complete(work));
            }
            82..96 => {
                let path = format!("/v2/jobs/{}/failure", work.job);
                let body = json!({ "retries": 3, "errorMessage": "not now", "retryBackOff": self.random.below(3) * 100 });
                self.send_until_known(&call, &path, &body, keyed, &Act::Fail(work));
            }
            _ => {}
        }
    }

    /// With an idempotency key a request is sent again until its outcome is known; without one it is sent once.
    fn send_until_known(&mut self, call: &str, path: &str, body: &Value, keyed: bool, act: &Act) -> Told {
        let body = body.to_string();
        let request = Request { idempotency_key: keyed.then_some(call), ..Request::post(path, &body) };
        loop {
            let told = self.send(call, &request, act).0;
            let in_doubt = matches!(told, Told::Unknown(_) | Told::Unsent);
            if in_doubt {
                std::thread::sleep(PAUSE);
            }
            if !in_doubt || !keyed || !self.go_on.load(Ordering::Relaxed) {
                return told;
            }
        }
    }

    fn send(&mut self, call: &str, request: &Request<'_>, act: &Act) -> (Told, Value) {
        let server = self.servers[self.random.below(self.servers.len())];
        let at = self.history.now();
        let reply = self.connection.send(server, request);
        let (told, answer) = understand(reply);
        let told = match (&act, told) {
            (Act::Start { .. }, Told::Done(_)) => {
                let key = answer["processInstanceKey"].as_str().and_then(|key| key.parse().ok());
                key.map_or_else(|| Told::Wrong("a start without an instance".to_owned()), |key| Told::Done(Some(key)))
            }
            (_, told) => told,
        };
        self.history.note(at, call, act.clone(), told.clone());
        (told, answer)
    }

    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("{}-{}", self.name, self.calls)
    }
}

fn given(history: &History, work: &Work, job: &Value) -> Act {
    let until = history.of_run(job["deadline"].as_u64().unwrap_or(0));
    Act::Given { work: work.clone(), from: until.saturating_sub(LEASE_MILLIS), until }
}

pub(super) fn understand(reply: Reply) -> (Told, Value) {
    let (status, body) = match reply {
        Reply::Unsent => return (Told::Unsent, Value::Null),
        Reply::Lost(why) => return (Told::Unknown(why), Value::Null),
        Reply::Hung => return (Told::Wrong(format!("nothing for {} s", ANSWER_MAX.as_secs())), Value::Null),
        Reply::Answer { status, body } => (status, body),
    };
    let answer = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let told = match status {
        200..300 => Told::Done(None),
        503 | 504 => Told::Unknown(format!("{status}: {}", String::from_utf8_lossy(&body))),
        400..500 => Told::Refused(status),
        _ => Told::Wrong(format!("{status}: {}", String::from_utf8_lossy(&body))),
    };
    (told, answer)
}
