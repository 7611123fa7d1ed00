//! Whether what is there fits what the clients were told. A pure function: a history and a final state in, violations out.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Act, Record, Told, Work};
use super::process;

/// What may lie between two readings of the machine's clock.
const CLOCK_MILLIS: u64 = 50;

/// Everything found at the end, when nothing runs any more.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) instances: BTreeMap<u64, Instance>,
    pub(super) log: Log,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Instance {
    pub(super) process: String,
    pub(super) state: String,
    pub(super) incidents: usize,
    /// Id and state of every element instance.
    pub(super) elements: Vec<(String, String)>,
    pub(super) jobs: Vec<Job>,
    /// Those of the process itself: name and JSON.
    pub(super) variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Job {
    pub(super) key: u64,
    pub(super) element: String,
    pub(super) state: String,
    pub(super) has_failed: bool,
}

/// The partition's log, as the store holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) rows: u64,
    /// Where it ends, as the partition's row says.
    pub(super) position: u64,
    /// Requests in the inbox that nobody has processed.
    pub(super) waiting: u64,
    /// What the store's own check of its files says, where there is one.
    pub(super) damage: Option<String>,
}

/// What is wrong, in words, at most one per kind of wrong and thing.
pub(super) fn check(history: &[Record], found: &Found) -> Vec<String> {
    let mut wrong = Vec::new();
    log(&found.log, &mut wrong);
    starts(history, found, &mut wrong);
    answers(history, &mut wrong);
    leases(history, &mut wrong);
    let attempts = Attempts::of(history);
    for (key, instance) in &found.instances {
        if instance.state == "COMPLETED" {
            whole(*key, instance, &mut wrong);
            effects(*key, instance, &attempts, &mut wrong);
        } else {
            wrong.push(format!("instance {key} of '{}' is '{}', not completed", instance.process, instance.state));
        }
    }
    wrong
}

/// Positions are gapless, and every command was processed.
fn log(log: &Log, wrong: &mut Vec<String>) {
    if log.rows != 0 && (log.first != 1 || log.last != log.rows) {
        wrong.push(format!("the log has a gap: {} rows from {} to {}", log.rows, log.first, log.last));
    }
    if log.position != log.last {
        wrong.push(format!("the log ends at {}, but its partition says {}", log.last, log.position));
    }
    if log.waiting != 0 {
        wrong.push(format!("{} requests were skipped: they lie in the inbox", log.waiting));
    }
    if let Some(damage) = &log.damage {
        wrong.push(format!("the store is damaged: {damage}"));
    }
}

/// Answers nobody may get, and reads that do not see what was acknowledged.
fn answers(history: &[Record], wrong: &mut Vec<String>) {
    for record in history {
        match (&record.act, &record.told) {
            (_, Told::Wrong(what)) => wrong.push(format!("{} at {} ms was told: {what}", record.call, record.at)),
            (Act::Start { .. } | Act::Poll, Told::Refused(status)) => {
                wrong.push(format!(
                    "{} at {} ms was refused with {status}, whatever happens to the store",
                    record.call, record.at
                ));
            }
            (Act::Look { instance }, Told::Refused(status)) => {
                wrong.push(format!("{} was acknowledged instance {instance}, and reading it gave {status}", record.call));
            }
            _ => {}
        }
    }
}

/// Every acknowledged start has its one instance; what was refused or never asked for has none.
fn starts(history: &[Record], found: &Found, wrong: &mut Vec<String>) {
    let mut there: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (key, instance) in &found.instances {
        match token(instance) {
            Some(token) => there.entry(token).or_default().push(*key),
            None => wrong.push(format!("instance {key} is half there: it has no token")),
        }
    }
    let mut calls: BTreeMap<&str, (BTreeSet<u64>, bool)> = BTreeMap::new();
    for record in history {
        let Act::Start { .. } = &record.act else { continue };
        let (acknowledged, possible) = calls.entry(&record.call).or_default();
        match &record.told {
            Told::Done(instance) => acknowledged.extend(instance),
            Told::Unknown(_) | Told::Wrong(_) => *possible = true,
            Told::Refused(_) | Told::Unsent => {}
        }
    }
    for (call, (acknowledged, possible)) in &calls {
        let there = there.remove(*call).unwrap_or_default();
        if 1 < acknowledged.len() {
            wrong.push(format!("start {call} was acknowledged with several instances: {acknowledged:?}"));
        }
        if 1 < there.len() {
            wrong.push(format!("start {call} had its effect several times: {there:?}"));
        }
        for key in acknowledged.iter().filter(|key| !there.contains(key)) {
            wrong.push(format!("instance {key}, acknowledged to start {call}, is lost"));
        }
        if acknowledged.is_empty() && !possible && !there.is_empty() {
            wrong.push(format!("start {call} was refused, and instance {} is there", there[0]));
        }
    }
    for (token, keys) in there {
        wrong.push(format!("instance {} has the token {token}, which nobody sent", keys[0]));
    }
}

/// An instance that is there ran to its end, once, and left everything it should.
fn whole(key: u64, instance: &Instance, wrong: &mut Vec<String>) {
    if 0 < instance.incidents {
        wrong.push(format!("instance {key} has {} incidents", instance.incidents));
    }
    let lane = text(instance, "lane").unwrap_or_default();
    let Some(path) = process::path(&instance.process, &lane) else {
        wrong.push(format!("instance {key} of {} is half there: its lane is '{lane}'", instance.process));
        return;
    };
    let completed: Vec<&str> =
        instance.elements.iter().filter(|(_, state)| state == "COMPLETED").map(|(id, _)| id.as_str()).collect();
    if completed.len() != instance.elements.len() || sorted(&completed) != sorted(path.passed) {
        wrong.push(format!("instance {key} passed {:?} instead of {:?}", instance.elements, path.passed));
    }
    let jobs: Vec<&str> = instance.jobs.iter().map(|job| job.element.as_str()).collect();
    if sorted(&jobs) != sorted(path.tasks) || instance.jobs.iter().any(|job| job.state != "COMPLETED") {
        wrong.push(format!("instance {key} has the jobs {:?}, not one completed for each of {:?}", instance.jobs, path.tasks));
    }
    let mut expected: Vec<String> = path.tasks.iter().map(|task| format!("done_{task}")).collect();
    expected.extend(["token", "count", "lane"].map(str::to_owned));
    expected.sort_unstable();
    let names: Vec<&str> = instance.variables.iter().map(|(name, _)| name.as_str()).collect();
    if sorted(&names) != expected {
        wrong.push(format!("instance {key} has the variables {names:?} instead of {expected:?}"));
    }
    let count = raw(instance, "count");
    if count != Some(path.tasks.len().to_string().as_str()) {
        wrong.push(format!("the effects of instance {key}'s {} jobs were counted as {count:?}", path.tasks.len()));
    }
}

/// A job is given to one worker at a time: to the next when the time is over, or after the one before gave it back.
fn leases(history: &[Record], wrong: &mut Vec<String>) {
    let mut given: BTreeMap<u64, Vec<(u64, u64, &Record)>> = BTreeMap::new();
    let mut given_back: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for record in history {
        match (&record.act, &record.told) {
            (Act::Given { work, from, until }, _) => given.entry(work.job).or_default().push((*from, *until, record)),
            (Act::Fail(work), Told::Done(_) | Told::Unknown(_) | Told::Wrong(_)) => {
                given_back.entry(work.job).or_default().push(record);
            }
            _ => {}
        }
    }
    for (job, mut given) in given {
        given.sort_by_key(|(from, _, _)| *from);
        for pair in given.windows(2) {
            let [(since, ends, holder), (from, _, next)] = pair else { continue };
            // Who had it before and comes late may give it back as well: a failure says which job, not whose.
            let returned = given_back.get(&job).is_some_and(|back| {
                back.iter()
                    .any(|back| back.call == holder.call || (*since <= back.at + back.took && back.at <= *from + CLOCK_MILLIS))
            });
            if from + CLOCK_MILLIS < *ends && !returned {
                let early = ends - from;
                wrong.push(format!("job {job} was given to {}, and {early} ms too early to {}", holder.call, next.call));
            }
        }
    }
}

/// Attempts to complete or fail a job, by job.
struct Attempts<'a>(BTreeMap<u64, Vec<(&'a Work, &'a Record)>>);

impl<'a> Attempts<'a> {
    fn of(history: &'a [Record]) -> Attempts<'a> {
        let mut attempts: BTreeMap<u64, Vec<(&Work, &Record)>> = BTreeMap::new();
        for record in history {
            if let Act::Complete(work) | Act::Fail(work) = &record.act {
                attempts.entry(work.job).or_default().push((work, record));
            }
        }
        Attempts(attempts)
    }
}

/// Each job's effect is that of one attempt, and of the one that was told so, if any was.
fn effects(key: u64, instance: &Instance, attempts: &Attempts<'_>, wrong: &mut Vec<String>) {
    for job in &instance.jobs {
        let made = attempts.0.get(&job.key).map(Vec::as_slice).unwrap_or_default();
        let what = format!("job {} ({}) of instance {key}", job.key, job.element);
        if made.iter().any(|(work, _)| work.instance != key || work.element != job.element) {
            wrong.push(format!("{what} was handed out as another instance's or element's"));
        }
        let completions = made.iter().filter(|(_, record)| matches!(record.act, Act::Complete(_)));
        let mut accepted = BTreeSet::new();
        let mut possible = BTreeSet::new();
        for (_, record) in completions {
            match &record.told {
                Told::Done(_) => drop(accepted.insert(record.call.as_str())),
                Told::Unknown(_) | Told::Wrong(_) => drop(possible.insert(record.call.as_str())),
                Told::Refused(_) | Told::Unsent => {}
            }
        }
        if 1 < accepted.len() {
            wrong.push(format!("{what}: several completions were accepted: {accepted:?}"));
        }
        let effect = text(instance, &format!("done_{}", job.element)).unwrap_or_default();
        let fits = if accepted.is_empty() { possible.contains(effect.as_str()) } else { accepted.contains(effect.as_str()) };
        if !fits {
            wrong.push(format!("{what} shows the effect of '{effect}'; accepted: {accepted:?}, in doubt: {possible:?}"));
        }
        let failed = |(_, record): &(&Work, &Record)| matches!((&record.act, &record.told), (Act::Fail(_), Told::Done(_)));
        if made.iter().any(failed) && !job.has_failed {
            wrong.push(format!("{what}: a failure was acknowledged, and nothing is left of it"));
        }
    }
}

fn token(instance: &Instance) -> Option<String> {
    text(instance, "token")
}

fn raw<'a>(instance: &'a Instance, name: &str) -> Option<&'a str> {
    instance.variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn text(instance: &Instance, name: &str) -> Option<String> {
    serde_json::from_str(raw(instance, name)?).ok()
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests;
