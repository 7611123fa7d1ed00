//! Keys: 64 bits, the partition in the high ones and a counter in the low 51, as Camunda 8 lays them out.

/// How far the partition is shifted; what is below counts.
const PARTITION_SHIFT: u32 = 51;

/// One ordered log with one owner at a time. Numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u16);

impl PartitionId {
    /// The partition a key was made in, whether or not it exists.
    pub fn of(key: u64) -> u64 {
        key >> PARTITION_SHIFT
    }

    /// The first key this partition hands out.
    pub fn first_key(self) -> u64 {
        (u64::from(self.0) << PARTITION_SHIFT) + 1
    }
}

/// Hands out the keys of one partition, each once. What it has handed out is kept with the commit that used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    next: u64,
}

impl Keys {
    pub fn starting_at(next: u64) -> Self {
        Self { next }
    }

    /// The key the next call will give: what a commit stores.
    pub fn next_key(&self) -> u64 {
        self.next
    }

    pub fn take(&mut self) -> u64 {
        let key = self.next;
        self.next += 1;
        key
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

keys! {
    /// A process instance; also the key of its outermost element instance.
    InstanceKey,
    /// An element instance.
    ElementKey,
    /// What an element instance is open for.
    WaitKey,
    /// A job: work for a worker; the key of the wait for it.
    JobKey,
    /// One planned firing of a timer.
    TimerKey,
    /// A task for a person; the key of the wait for it.
    UserTaskKey,
    /// One version of a form.
    FormKey,
    /// A variable in its scope.
    VariableKey,
    /// An incident.
    IncidentKey,
    /// A completed activity that can be undone.
    CompensationKey,
    /// One version of a process definition.
    DefinitionKey,
    /// One version of a DMN file.
    RequirementsKey,
    /// One version of a decision.
    DecisionKey,
    /// One evaluation of a decision, with all it requires.
    EvaluationKey,
}

impl InstanceKey {
    /// The element instance of the process itself.
    pub fn root(self) -> ElementKey {
        ElementKey(self.0)
    }
}

impl WaitKey {
    /// The job of a wait for a worker.
    pub fn job(self) -> JobKey {
        JobKey(self.0)
    }

    /// The task of a wait for a person.
    pub fn user_task(self) -> UserTaskKey {
        UserTaskKey(self.0)
    }
}

impl JobKey {
    /// The wait for this job.
    pub fn wait(self) -> WaitKey {
        WaitKey(self.0)
    }
}

impl UserTaskKey {
    /// The wait for this task.
    pub fn wait(self) -> WaitKey {
        WaitKey(self.0)
    }
}
