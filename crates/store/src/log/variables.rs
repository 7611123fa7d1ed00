//! The variables that come with commands.

use std::sync::Arc;

use engine::{Document, KEPT};

use super::{Command, CreateAt, JobResult, Report};

impl Command {
    /// A name among its variables that only the engine may use. An evaluation on its own has no instance whose variables it could spoil.
    pub fn kept_name(&self) -> Option<&Arc<str>> {
        let (one, several): (Option<&Document>, &[(Arc<str>, Document)]) = match self {
            Self::Create(create) | Self::CreateAt(CreateAt { create, .. }) => (Some(&create.variables), &[]),
            Self::CompleteJob { variables, result, .. } => match result.as_deref() {
                Some(JobResult::AdHoc(result)) => (Some(variables), &result.activities),
                Some(JobResult::UserTask(_)) | None => (Some(variables), &[]),
            },
            Self::SetVariables { variables, .. }
            | Self::CompleteUserTask { variables, .. }
            | Self::Broadcast { variables, .. } => (Some(variables), &[]),
            Self::FailJob(fail) => (Some(&fail.variables), &[]),
            Self::ThrowError(throw) => (Some(&throw.variables), &[]),
            Self::Publish(publish) | Self::Correlate(publish) => (Some(&publish.variables), &[]),
            Self::EvaluateConditions(evaluate) => (Some(&evaluate.variables), &[]),
            Self::StartAdHoc(start) => (None, &start.activities),
            Self::TellStep(tell) => (Some(&tell.variables), &[]),
            Self::Change { change, .. } => return kept_among(change.variables()),
            Self::Report { reports } => return kept_among(reports.iter().filter_map(Report::variables)),
            Self::Deploy(_)
            | Self::DeleteResource { .. }
            | Self::Cancel { .. }
            | Self::UpdateJob(_)
            | Self::ResolveIncident { .. }
            | Self::AssignUserTask(_)
            | Self::UnassignUserTask { .. }
            | Self::UpdateUserTask(_)
            | Self::Evaluate(_)
            | Self::DeleteEvaluation { .. }
            | Self::FireTimer { .. }
            | Self::RescheduleTimer { .. }
            | Self::Activate(_)
            | Self::Release { .. }
            | Self::JobDue { .. }
            | Self::Turn { .. }
            | Self::TimerDue { .. }
            | Self::MessageExpired { .. }
            | Self::SignalDue { .. }
            | Self::FailAttempt(_)
            | Self::RetryInstance { .. }
            | Self::Suspend { .. }
            | Self::Resume { .. }
            | Self::DeleteInstance { .. }
            | Self::Batch(_)
            | Self::RetryJob { .. }
            | Self::PutSchedule(_)
            | Self::DeleteSchedule { .. }
            | Self::ScheduleDue { .. }
            | Self::Submit(_)
            | Self::Announced(_)
            | Self::CompleteExecutions { .. }
            | Self::CancelExecution { .. }
            | Self::RetryExecution { .. }
            | Self::PutListener(_)
            | Self::DeleteListener { .. }
            | Self::ConfigureListeners { .. }
            | Self::PutPolicy { .. }
            | Self::DeletePolicy { .. } => return None,
        };
        kept_among(one.into_iter().chain(several.iter().map(|(_, variables)| variables)))
    }
}

fn kept_among<'a>(documents: impl Iterator<Item = &'a Document>) -> Option<&'a Arc<str>> {
    documents.flatten().map(|(name, _)| name).find(|name| name.starts_with(KEPT))
}
