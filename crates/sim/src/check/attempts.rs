//! What was sent and what was told: invariants 1, 5 and 7.
//!
//! Every attempt to do something leaves a mark of its own, a variable named for it, so that each can be found in history: none if it was
//! refused, one if it was done, never two.

use std::fmt;

use engine::{Event, IncidentKey, InstanceKey, JobKey, State as InstanceState, TimerKey, UserTaskKey};
use rustc_hash::{FxHashMap, FxHashSet};

use super::state::State;
use super::{Check, Violation, ensure};

/// One thing somebody wants done once, however often it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AttemptId(pub(crate) usize);

impl fmt::Display for AttemptId {
    /// Also the name of the variable that proves it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Create,
    SetVariables(InstanceKey),
    Complete(JobKey),
    /// A listener of a task was heard.
    Hear(JobKey),
    Fail(JobKey),
    Throw(JobKey),
    Cancel(InstanceKey),
    Resolve(IncidentKey),
    Update(JobKey),
    Deploy,
    /// To whoever waits for it, in as many instances as there are.
    Publish,
    Correlate,
    Broadcast,
    Timer(TimerKey),
    Suspend(InstanceKey),
    Resume(InstanceKey),
    Modify(InstanceKey),
    Migrate(InstanceKey),
    /// Somebody has a task from now on.
    Take(UserTaskKey),
    /// Somebody has done a task.
    Do(UserTaskKey),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Done,
    Created(InstanceKey),
    Rejected,
}

#[derive(Debug)]
struct Attempt {
    what: What,
    /// The instance in which its mark was found.
    done: Option<InstanceKey>,
    told: Option<Told>,
}

#[derive(Default)]
pub(crate) struct Attempts {
    all: Vec<Attempt>,
    completed: FxHashMap<JobKey, AttemptId>,
    resolved: FxHashSet<IncidentKey>,
    /// Tasks that somebody has done.
    done: FxHashSet<UserTaskKey>,
    /// How often who asked was told that an instance was suspended and resumed.
    stood: FxHashMap<InstanceKey, [u32; 2]>,
    cancelled: FxHashSet<InstanceKey>,
    extended: FxHashSet<JobKey>,
    /// The outermost of those that called an instance.
    roots: FxHashMap<InstanceKey, InstanceKey>,
}

impl Attempts {
    pub(crate) fn new_attempt(&mut self, what: What) -> AttemptId {
        if let What::Update(job) = what {
            self.extended.insert(job);
        }
        self.all.push(Attempt { what, done: None, told: None });
        AttemptId(self.all.len() - 1)
    }

    /// Whether anybody asked for a longer lease.
    pub(super) fn may_extend(&self, job: JobKey) -> bool {
        self.extended.contains(&job)
    }

    /// An event that became durable; gives what was attempted if it bears a mark.
    pub(super) fn saw(&mut self, event: &Event, instance: InstanceKey) -> Result<Option<What>, Violation> {
        let id = match event {
            Event::Started { parent: Some(parent), .. } => {
                let root = self.root(parent.instance);
                self.roots.insert(instance, root);
                None
            }
            Event::VariableCreated { name, .. } => mark(name),
            Event::IncidentRaised { message, .. } => message.split_once('(').and_then(|(_, rest)| mark(rest.split(')').next()?)),
            _ => None,
        };
        let Some(id) = id else { return Ok(None) };
        let Some(attempt) = self.all.get_mut(id.0) else { return Ok(None) };
        let what = attempt.what;
        // Variables go to called instances and come back from them; messages and signals go to many.
        let root = |key: InstanceKey| self.roots.get(&key).copied().unwrap_or(key);
        let spreads = match what {
            What::Publish | What::Correlate | What::Broadcast => true,
            What::Create
            | What::SetVariables(_)
            | What::Complete(_)
            | What::Fail(_)
            | What::Throw(_)
            | What::Cancel(_)
            | What::Resolve(_)
            | What::Update(_)
            | What::Deploy
            | What::Timer(_)
            | What::Hear(_)
            | What::Suspend(_)
            | What::Resume(_)
            | What::Modify(_)
            | What::Migrate(_)
            | What::Take(_)
            | What::Do(_) => attempt.done.is_some_and(|first| first != instance && root(first) == root(instance)),
        };
        if spreads && attempt.done.is_some() {
            return Ok(None);
        }
        let again = attempt.done.is_some();
        ensure(5, !again, || format!("{id} {what:?} happened twice, in {:?} and {instance}", attempt.done))?;
        let refused = attempt.told == Some(Told::Rejected);
        ensure(1, !refused, || format!("{id} {what:?} was refused and happened later"))?;
        attempt.done = Some(instance);
        if let What::Do(task) = what {
            let again = !self.done.insert(task);
            ensure(5, !again, || format!("task {task} was done twice, last by {id}"))?;
        }
        if let What::Complete(job) = what {
            let other = self.completed.insert(job, id);
            ensure(7, other.is_none(), || format!("job {job} was completed by {id} and {other:?}"))?;
        }
        Ok(Some(what))
    }

    pub(super) fn told(&mut self, id: AttemptId, told: Told, state: &State) -> Check {
        let attempt = &mut self.all[id.0];
        let (what, before) = (attempt.what, attempt.told.replace(told));
        ensure(5, before.is_none_or(|before| before == told), || format!("{id} {what:?} was told {before:?}, then {told:?}"))?;
        let done = attempt.done;
        if told == Told::Rejected {
            return ensure(1, done.is_none(), || format!("{id} {what:?} was told to be refused, but happened"));
        }
        if before.is_some() {
            return Ok(());
        }
        match what {
            What::Create => {
                ensure(1, done.map(Told::Created) == Some(told), || format!("{id} was told {told:?}; it made {done:?}"))
            }
            What::SetVariables(_) | What::Complete(_) | What::Fail(_) | What::Throw(_) | What::Modify(_) | What::Do(_) => {
                ensure(1, done.is_some(), || format!("{id} {what:?} was told to be done, but is not durable"))
            }
            What::Cancel(instance) => {
                let ended = state.ended(instance);
                ensure(1, ended == Some(InstanceState::Terminated), || {
                    format!("{id} {what:?} was told to be done; it is {ended:?}")
                })?;
                ensure(5, self.cancelled.insert(instance), || format!("instance {instance} was cancelled twice"))
            }
            What::Resolve(incident) => {
                ensure(5, self.resolved.insert(incident), || format!("incident {incident} was resolved twice"))
            }
            What::Correlate => ensure(1, done.is_some(), || format!("{id} was told to be correlated, but nobody got it")),
            What::Suspend(instance) | What::Resume(instance) => {
                let place = usize::from(matches!(what, What::Resume(_)));
                let told = self.stood.entry(instance).or_default();
                told[place] += 1;
                let (told, was) = (told[place], state.stood(instance)[place]);
                ensure(1, told <= was, || format!("{id} {what:?} was told to be done, {told} times in all; it was {was} times"))
            }
            What::Update(_)
            | What::Deploy
            | What::Publish
            | What::Broadcast
            | What::Timer(_)
            | What::Hear(_)
            | What::Migrate(_)
            | What::Take(_) => Ok(()),
        }
    }

    fn root(&self, key: InstanceKey) -> InstanceKey {
        self.roots.get(&key).copied().unwrap_or(key)
    }
}

fn mark(name: &str) -> Option<AttemptId> {
    name.strip_prefix('a')?.parse().ok().map(AttemptId)
}
