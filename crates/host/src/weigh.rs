//! What rows in memory weigh. What many rows share (types, tenants, names of a definition) is not counted; nothing is walked that grows.

use std::sync::Arc;

use engine::{DefinitionKey, InstanceKey, JobKey, TimerKey, UserTaskKey, WaitKey};
use store::{MessageGroup, Named, row};

/// About as many bytes as a row or its key takes in memory beyond itself: nothing, unless it says otherwise. It is asked whenever a row
/// comes, changes or goes, so it is quick.
pub(crate) trait Weigh {
    fn beyond(&self) -> usize {
        0
    }
}

impl Weigh for u64 {}
impl Weigh for bool {}
impl Weigh for DefinitionKey {}
impl Weigh for InstanceKey {}
impl Weigh for JobKey {}
impl Weigh for TimerKey {}
impl Weigh for UserTaskKey {}
impl Weigh for WaitKey {}

/// A name in a tenant.
impl Weigh for (Arc<str>, Arc<str>) {
    fn beyond(&self) -> usize {
        self.0.len() + self.1.len()
    }
}

/// A lock or a unique key: only its last part is its own.
impl Weigh for (Arc<str>, Arc<str>, Arc<str>) {
    fn beyond(&self) -> usize {
        self.2.len()
    }
}

impl Weigh for MessageGroup {
    fn beyond(&self) -> usize {
        self.correlation_key.len()
    }
}

impl<T: Weigh> Weigh for Option<T> {
    fn beyond(&self) -> usize {
        self.as_ref().map_or(0, Weigh::beyond)
    }
}

impl<T: Weigh> Weigh for Vec<T> {
    fn beyond(&self) -> usize {
        self.iter().map(|one| size_of::<T>() + one.beyond()).sum()
    }
}

impl<T: Weigh> Weigh for Named<T> {
    fn beyond(&self) -> usize {
        self.latest.beyond()
    }
}

fn text(text: Option<&Arc<str>>) -> usize {
    text.map_or(0, |text| text.len())
}

fn texts(texts: &[Arc<str>]) -> usize {
    texts.iter().map(|text| size_of::<Arc<str>>() + text.len()).sum()
}

impl Weigh for row::Job {
    fn beyond(&self) -> usize {
        let execution = self.execution.as_ref().map_or(0, |execution| {
            let unique = execution.unique.as_ref().map(|unique| &unique.key);
            size_of::<row::Execution>() + execution.input.len() + text(execution.result.as_ref()) + text(unique)
        });
        let said = self.worker.len() + self.error_code.len() + self.error_message.len() + text(self.denied.as_ref());
        execution + said + text(self.headers.as_ref()) + text(self.group.as_ref()) + text(self.progress.as_ref())
    }
}

impl Weigh for row::Timer {
    fn beyond(&self) -> usize {
        self.text.len()
    }
}

impl Weigh for row::Subscription {
    fn beyond(&self) -> usize {
        self.correlation_key.len()
    }
}

impl Weigh for row::UserTask {
    fn beyond(&self) -> usize {
        let transition = self.transition.as_ref().map_or(0, |transition| {
            let after = &transition.after;
            let candidates = texts(&after.candidate_groups) + texts(&after.candidate_users);
            size_of::<row::Transition>() + transition.action.len() + text(after.assignee.as_ref()) + candidates
        });
        let candidates = texts(&self.candidate_groups) + texts(&self.candidate_users);
        transition + candidates + text(self.assignee.as_ref()) + text(self.external_form.as_ref())
    }
}

impl Weigh for row::Schedule {
    fn beyond(&self) -> usize {
        let input: usize = self.execution.input.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.reference.len() + input
    }
}

impl Weigh for row::Idempotent {
    fn beyond(&self) -> usize {
        self.answer.len()
    }
}

impl Weigh for row::Batch {
    fn beyond(&self) -> usize {
        self.asked.filter.bytes() + text(self.error.as_ref())
    }
}

impl Weigh for row::DefinitionHead {
    fn beyond(&self) -> usize {
        self.checksum.len()
    }
}

impl Weigh for row::DecisionRequirements {
    fn beyond(&self) -> usize {
        let decisions =
            self.decisions.iter().map(|decision| size_of::<row::Decision>() + decision.id.len() + decision.name.len());
        self.name.len() + self.resource_name.len() + self.checksum.len() + decisions.sum::<usize>()
    }
}

impl Weigh for row::LatestDecision {}

impl Weigh for row::Form {
    fn beyond(&self) -> usize {
        self.resource_name.len() + self.checksum.len()
    }
}
