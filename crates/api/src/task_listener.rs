//! What a task listener is told of its user task, and what it says of it: the same over REST and gRPC.

use std::sync::Arc;

use jiff::Timestamp;
use store::Millis;
use store::log::{ActivatedJob, Corrections, JobResult, TaskResult};
use store::row::JobKind;

use crate::json::{Kind, Malformed, Reader};

/// Headers that tell of the task begin so.
const PREFIX: &str = "io.camunda.zeebe:";
/// Names go into indexes of the stores, whose entries are bounded.
const NAME_BYTES_MAX: usize = 1_000;
const NAMES_MAX: usize = 1_000;

/// The user task that a job listens to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Properties {
    pub(crate) action: Option<String>,
    pub(crate) assignee: Option<String>,
    pub(crate) candidate_groups: Vec<String>,
    pub(crate) candidate_users: Vec<String>,
    pub(crate) changed_attributes: Vec<String>,
    pub(crate) due_date: Option<String>,
    pub(crate) follow_up_date: Option<String>,
    pub(crate) form_key: Option<u64>,
    pub(crate) priority: Option<i32>,
    pub(crate) user_task_key: Option<u64>,
}

/// Read from the headers of the job, which are what is stored of it.
pub(crate) fn properties(job: &ActivatedJob) -> Option<Properties> {
    match job.kind {
        JobKind::Listener(event) if event.is_of_task() => read(&job.headers).ok(),
        JobKind::Listener(_) | JobKind::Element | JobKind::AdHoc => None,
    }
}

fn read(headers: &str) -> Result<Properties, Malformed> {
    let mut found = Properties::default();
    Reader::new(headers).object(|name, reader| {
        let text = reader.text()?.into_owned();
        match name.strip_prefix(PREFIX).unwrap_or_default() {
            "action" => found.action = Some(text),
            "assignee" => found.assignee = Some(text),
            "candidateGroups" => found.candidate_groups = names(&text)?,
            "candidateUsers" => found.candidate_users = names(&text)?,
            "changedAttributes" => found.changed_attributes = names(&text)?,
            "dueDate" => found.due_date = Some(text),
            "followUpDate" => found.follow_up_date = Some(text),
            "formKey" => found.form_key = text.parse().ok(),
            "priority" => found.priority = text.parse().ok(),
            "userTaskKey" => found.user_task_key = text.parse().ok(),
            _ => {}
        }
        Ok::<_, Malformed>(())
    })?;
    Ok(found)
}

fn names(list: &str) -> Result<Vec<String>, Malformed> {
    let mut names = Vec::new();
    Reader::new(list).list(|reader| {
        if reader.peek()? == Kind::Text {
            names.push(reader.text()?.into_owned());
        }
        Ok::<_, Malformed>(())
    })?;
    Ok(names)
}

/// What a listener says, as it came over the wire.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) denied: bool,
    pub(crate) denied_reason: Option<Arc<str>>,
    pub(crate) assignee: Option<Arc<str>>,
    pub(crate) due_date: Option<String>,
    pub(crate) follow_up_date: Option<String>,
    pub(crate) candidate_users: Option<Vec<Arc<str>>>,
    pub(crate) candidate_groups: Option<Vec<Arc<str>>>,
    pub(crate) priority: Option<i32>,
}

/// Nothing if it says nothing.
pub(crate) fn result(said: Said) -> Result<Option<Box<JobResult>>, String> {
    check_names(&said)?;
    let corrections = Corrections {
        assignee: said.assignee.map(|assignee| (!assignee.is_empty()).then_some(assignee)),
        due: said.due_date.map(|text| date(&text, "due date")).transpose()?,
        follow_up: said.follow_up_date.map(|text| date(&text, "follow-up date")).transpose()?,
        candidate_users: said.candidate_users,
        candidate_groups: said.candidate_groups,
        priority: said.priority,
    };
    let denied = said.denied.then(|| said.denied_reason.unwrap_or_default());
    let result = TaskResult { denied, corrections };
    Ok((result != TaskResult::default()).then(|| Box::new(JobResult::UserTask(result))))
}

fn check_names(said: &Said) -> Result<(), String> {
    let lists = [&said.candidate_users, &said.candidate_groups];
    for list in lists.into_iter().flatten() {
        if NAMES_MAX < list.len() {
            return Err(format!("A list has {} names; at most {NAMES_MAX} are allowed", list.len()));
        }
    }
    let mut names = lists.into_iter().flatten().flatten().chain(said.assignee.as_ref());
    match names.find(|name| NAME_BYTES_MAX < name.len()) {
        Some(long) => Err(format!("A name has {} bytes; at most {NAME_BYTES_MAX} are allowed", long.len())),
        None => Ok(()),
    }
}

/// An empty text takes the date away.
fn date(text: &str, what: &str) -> Result<Option<Millis>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = text.parse::<Timestamp>().map(|at| Some(at.as_millisecond()));
    read.map_err(|_| format!("The provided {what} '{text}' cannot be parsed as a date according to RFC 3339, section 5.6."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_is_read_from_the_headers() {
        let headers = r#"{"mine":"x","io.camunda.zeebe:userTaskKey":"7","io.camunda.zeebe:priority":"50",
            "io.camunda.zeebe:candidateGroups":"[\"a\",\"b\\\"\"]","io.camunda.zeebe:assignee":"ann","io.camunda.zeebe:other":"y"}"#;
        let expected = Properties {
            assignee: Some("ann".to_owned()),
            candidate_groups: vec!["a".to_owned(), "b\"".to_owned()],
            priority: Some(50),
            user_task_key: Some(7),
            ..Properties::default()
        };
        assert_eq!(read(headers).unwrap(), expected);
        assert_eq!(read("{}").unwrap(), Properties::default());
    }

    #[test]
    fn what_is_empty_takes_away() {
        let said = Said { assignee: Some("".into()), due_date: Some(String::new()), ..Said::default() };
        let Some(JobResult::UserTask(result)) = result(said).unwrap().map(|result| *result) else { panic!("it says something") };
        assert_eq!((result.corrections.assignee, result.corrections.due), (Some(None), Some(None)));
        assert_eq!(result.denied, None);
        assert!(super::result(Said::default()).unwrap().is_none());
        assert!(super::result(Said { due_date: Some("soon".to_owned()), ..Said::default() }).is_err());
        assert!(super::result(Said { assignee: Some("x".repeat(1_001).into()), ..Said::default() }).is_err());
    }
}
