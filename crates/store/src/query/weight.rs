//! How many bytes rows take, about, and how many of them a page has room for.

use super::view::{
    AuditView, BatchItemView, BatchView, DeadLetterView, DecisionView, DefinitionView, ElementView, EvaluatedDecisionView,
    ExecutionView, IncidentView, InstanceView, JobView, MessageCorrelationView, RequirementsView, SubscriptionView, TimerView,
    UserTaskView, VariableView,
};

/// The bytes a page has left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    bytes_left: usize,
    is_full: bool,
}

impl Room {
    /// For a page of so many bytes; without a number, of any.
    pub(crate) fn of(bytes_max: Option<usize>) -> Self {
        Self { bytes_left: bytes_max.unwrap_or(usize::MAX), is_full: false }
    }

    /// Puts a row on the page, unless it does not fit: then the page ends before it. The first always fits.
    pub(crate) fn put<V: Weight>(&mut self, page: &mut Vec<V>, view: V) {
        let bytes = view.bytes();
        self.is_full |= self.bytes_left < bytes && !page.is_empty();
        if !self.is_full {
            self.bytes_left = self.bytes_left.saturating_sub(bytes);
            page.push(view);
        }
    }

    /// Whether a row has been left out.
    pub(crate) fn is_full(self) -> bool {
        self.is_full
    }
}

/// Never less than the texts of a row.
pub(crate) trait Weight: Sized {
    fn texts(&self) -> usize;

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.texts()
    }
}

impl Weight for DefinitionView {
    fn texts(&self) -> usize {
        let maybe = maybe(&self.name) + maybe(&self.version_tag);
        self.process_id.len() + self.resource_name.len() + self.tenant.len() + maybe
    }
}

impl Weight for BatchView {
    fn texts(&self) -> usize {
        self.tenant.len() + self.kind.len() + self.actor.len() + maybe(&self.error)
    }
}

impl Weight for BatchItemView {
    fn texts(&self) -> usize {
        self.tenant.len() + self.kind.len() + maybe(&self.error)
    }
}

impl Weight for InstanceView {
    fn texts(&self) -> usize {
        let tags: usize = self.tags.iter().map(|tag| size_of::<String>() + tag.len()).sum();
        let maybe = maybe(&self.name) + maybe(&self.version_tag) + maybe(&self.business_id);
        self.process_id.len() + self.tenant.len() + tags + maybe
    }
}

impl Weight for ElementView {
    fn texts(&self) -> usize {
        self.process_id.len() + self.tenant.len() + self.element_id.len() + self.kind.len() + maybe(&self.element_name)
    }
}

impl Weight for VariableView {
    fn texts(&self) -> usize {
        self.tenant.len() + self.name.len() + self.value.len()
    }
}

impl Weight for JobView {
    fn texts(&self) -> usize {
        let said = self.worker.len() + self.error_code.len() + self.error_message.len() + maybe(&self.denied);
        self.job_type.len() + self.process_id.len() + self.tenant.len() + self.element_id.len() + self.headers.len() + said
    }
}

impl Weight for IncidentView {
    fn texts(&self) -> usize {
        self.process_id.len() + self.tenant.len() + self.element_id.len() + self.message.len()
    }
}

impl Weight for RequirementsView {
    fn texts(&self) -> usize {
        self.id.len() + self.name.len() + self.resource_name.len() + self.tenant.len()
    }
}

impl Weight for DecisionView {
    fn texts(&self) -> usize {
        let of_requirements = self.requirements_id.len() + self.requirements_name.len();
        self.id.len() + self.name.len() + self.tenant.len() + of_requirements + maybe(&self.version_tag)
    }
}

impl Weight for EvaluatedDecisionView {
    fn texts(&self) -> usize {
        let inputs = self.inputs.iter().map(|input| size_of_val(input) + input.id.len() + input.name.len() + input.value.len());
        let outputs = self.rules.iter().flat_map(|rule| &rule.outputs);
        let outputs = outputs.map(|output| size_of_val(output) + output.id.len() + output.name.len() + output.value.len());
        let rules = self.rules.iter().map(|rule| size_of_val(rule) + rule.id.len());
        let details: usize = inputs.chain(outputs).chain(rules).sum();
        let said = self.output.len() + maybe(&self.business_id);
        self.decision_id.len() + self.name.len() + self.kind.len() + self.tenant.len() + said + details
    }
}

impl Weight for TimerView {
    fn texts(&self) -> usize {
        self.process_id.len() + self.tenant.len() + self.element_id.len() + self.text.len()
    }
}

impl Weight for SubscriptionView {
    fn texts(&self) -> usize {
        let message = self.name.len() + self.correlation_key.len();
        self.process_id.len() + self.tenant.len() + self.element_id.len() + message
    }
}

impl Weight for MessageCorrelationView {
    fn texts(&self) -> usize {
        let message = self.message_name.len() + self.correlation_key.len();
        self.process_id.len() + self.tenant.len() + self.element_id.len() + message
    }
}

impl Weight for ExecutionView {
    fn texts(&self) -> usize {
        let maybe = maybe(&self.result) + maybe(&self.unique_key) + maybe(&self.group) + maybe(&self.progress);
        let error = self.error_code.len() + self.error_message.len();
        self.action.len() + self.tenant.len() + self.input.len() + self.worker.len() + error + maybe
    }
}

impl Weight for AuditView {
    fn texts(&self) -> usize {
        let said = [&self.actor, &self.process_id, &self.job_type, &self.worker, &self.decision_id, &self.requirements_id];
        let said: usize = said.into_iter().chain([&self.description]).map(maybe).sum();
        self.entity_key.len() + self.tenant.len() + said
    }
}

impl Weight for DeadLetterView {
    fn texts(&self) -> usize {
        let maybe = maybe(&self.input) + maybe(&self.group) + maybe(&self.progress);
        let error = self.error_code.len() + self.error_message.len();
        self.action.len() + self.tenant.len() + self.worker.len() + error + maybe
    }
}

impl Weight for UserTaskView {
    fn texts(&self) -> usize {
        let lists = [&self.candidate_groups, &self.candidate_users, &self.tags].into_iter().flatten();
        let lists: usize = lists.map(|name| size_of::<String>() + name.len()).sum();
        let of_process = self.process_id.len() + self.tenant.len() + maybe(&self.process_name);
        let of_element = self.element_id.len() + self.headers.len() + maybe(&self.element_name);
        let own = maybe(&self.assignee) + maybe(&self.external_form) + maybe(&self.business_id);
        of_process + of_element + own + lists
    }
}

fn maybe(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}
