//! A tick as it goes on: all that becomes true with its commit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, RequirementsKey, TimerKey, UserTaskKey, WaitKey};
use rustc_hash::{FxHashMap, FxHashSet};
use store::log::Answer;
use store::row::{LockName, UniqueName};
use store::{AnswerRow, LogRow, MessageGroup, Millis};

use super::raised::Raised;
use super::unit::Unit;
use super::{Input, Reply};
use crate::definitions::{Compiled, CompiledDecisions};
use crate::recorder::Recorder;
use crate::sinks::Handed;
use crate::traced;

pub(crate) struct Tick {
    pub(super) number: u64,
    pub(super) now: Millis,
    pub(super) begun: Instant,
    /// Once it is closed: the key counter its commit starts from, and the one it leaves.
    pub(super) first_key: u64,
    pub(super) next_key: u64,
    pub(super) recorder: Recorder,
    pub(super) log: Vec<LogRow>,
    pub(super) answers: Vec<AnswerRow>,
    /// What it took, in order, to be answered after the commit or put back.
    pub(super) done: Vec<Did>,
    pub(super) ended: Vec<Ended>,
    /// Executions that have ended.
    pub(super) finished: Vec<JobKey>,
    pub(super) handed: Vec<Handed>,
    pub(super) raised: Raised,
    pub(super) deployed: Vec<Arc<Compiled>>,
    pub(super) decisions_deployed: Vec<Arc<CompiledDecisions>>,
    pub(super) changed: ChangedKeys,
    /// How many commands it has, and about as many bytes as it will write.
    pub(super) commands: usize,
    pub(super) bytes: usize,
    /// How many of them were due by themselves.
    pub(super) due: usize,
    pub(super) known: Known,
    /// The command under way.
    pub(super) unit: Unit,
    /// The trace of the instance that the last one was about, where requests are traced.
    pub(super) follows: Option<Arc<str>>,
}

/// An input that was taken.
pub(super) enum Did {
    /// `follows` is the trace of the instance it was about, where requests are traced.
    Request {
        input: Input,
        answer: Answer,
        follows: Option<Arc<str>>,
    },
    Other(Input),
}

/// What is not as the tables have it until the tick is committed.
#[derive(Default)]
pub(super) struct ChangedKeys {
    pub(super) instances: FxHashSet<InstanceKey>,
    pub(super) jobs: Vec<JobKey>,
    pub(super) timers: Vec<TimerKey>,
    pub(super) subscriptions: Vec<WaitKey>,
    pub(super) user_tasks: Vec<UserTaskKey>,
    pub(super) groups: Vec<MessageGroup>,
    pub(super) starts: Vec<(Arc<str>, Arc<str>)>,
    pub(super) locks: Vec<LockName>,
    pub(super) unique: Vec<UniqueName>,
    pub(super) schedules: Vec<u64>,
    pub(super) idempotent: Vec<(Arc<str>, Arc<str>)>,
    pub(super) batches: Vec<u64>,
    pub(super) names: super::deploy::ChangedNames,
}

/// What was looked up for the commands of a tick and is not kept beyond it.
#[derive(Default)]
pub(super) struct Known {
    pub(super) compiled: FxHashMap<DefinitionKey, Arc<Compiled>>,
    pub(super) decisions: FxHashMap<RequirementsKey, Arc<CompiledDecisions>>,
    /// Where element instances and incidents belong; `None` for those that are not alive.
    pub(super) elements: FxHashMap<ElementKey, Option<InstanceKey>>,
    pub(super) incidents: FxHashMap<IncidentKey, Option<InstanceKey>>,
    /// The locks of instances that a message may have started.
    pub(super) locks_of: FxHashMap<InstanceKey, Option<LockName>>,
    /// Instances and definitions that are not there.
    pub(super) absent: FxHashSet<u64>,
    /// Instances, jobs, definitions and files that cannot be run as they are stored, and why.
    pub(super) unusable: FxHashMap<u64, String>,
}

pub(super) struct Ended {
    pub(super) instance: InstanceKey,
    pub(super) completed: bool,
    pub(super) result: engine::Variables,
}

impl Tick {
    pub(super) fn new(number: u64, now: Millis) -> Self {
        Self {
            number,
            now,
            begun: Instant::now(),
            first_key: 0,
            next_key: 0,
            recorder: Recorder::default(),
            log: Vec::new(),
            answers: Vec::new(),
            done: Vec::new(),
            ended: Vec::new(),
            finished: Vec::new(),
            handed: Vec::new(),
            raised: Raised::default(),
            deployed: Vec::new(),
            decisions_deployed: Vec::new(),
            changed: ChangedKeys::default(),
            commands: 0,
            bytes: 0,
            due: 0,
            known: Known::default(),
            unit: Unit::default(),
            follows: None,
        }
    }

    pub(crate) fn commands(&self) -> usize {
        self.commands
    }

    /// Tells the traces of its requests that it has landed, so long after it was sent.
    pub(crate) fn trace(&self, commit: Duration) {
        if !traced::is_on() {
            return;
        }
        for did in &self.done {
            if let Did::Request { input: Input::Request { traced: Some(request), .. }, follows, .. } = did {
                traced::landed(request.clone(), (self.begun.elapsed(), commit), self.commands, follows.as_deref());
            }
        }
    }

    /// Where the first of its commands came from.
    pub(crate) fn source(&self) -> Option<Source> {
        self.done.first().and_then(|did| match did {
            Did::Request { input, .. } | Did::Other(input) => input.source(),
        })
    }

    /// Whether its commit would change nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.log.is_empty() && self.answers.is_empty() && self.recorder.is_empty() && self.changed.jobs.is_empty()
    }
}

/// Where a command comes from, which tells where it is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Kept in memory, in order.
    Caller,
    /// Read again.
    Inbox,
    /// Read again.
    Due,
}

impl Input {
    pub(crate) fn source(&self) -> Option<Source> {
        match self {
            Self::Request { .. } | Self::Release { .. } => Some(Source::Caller),
            Self::Received(_) => Some(Source::Inbox),
            Self::Due(_) | Self::Item { .. } => Some(Source::Due),
            Self::Wait(_) | Self::Room(_) | Self::Look => None,
        }
    }

    /// Whether it is a command, as opposed to news of a worker.
    pub(crate) fn is_command(&self) -> bool {
        self.source().is_some()
    }

    /// Whether somebody asked for it, as opposed to what is due by itself.
    pub(crate) fn is_callers(&self) -> bool {
        matches!(self.source(), Some(Source::Caller | Source::Inbox))
    }

    /// Whether it lies in the inbox.
    pub(crate) fn is_received(&self) -> bool {
        matches!(self, Self::Received(_))
    }

    /// Whether it is kept while the store is away; the others are read again.
    pub(crate) fn is_kept(&self) -> bool {
        match self {
            Self::Request { .. } | Self::Release { .. } | Self::Wait(_) | Self::Room(_) | Self::Look => true,
            Self::Received(_) | Self::Due(_) | Self::Item { .. } => false,
        }
    }

    pub(super) fn into_reply(self) -> Option<Reply> {
        match self {
            Self::Request { reply, .. } => Some(reply),
            Self::Release { .. } | Self::Received(_) | Self::Due(_) | Self::Item { .. } => None,
            Self::Wait(_) | Self::Room(_) | Self::Look => None,
        }
    }
}
