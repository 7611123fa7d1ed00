//! User tasks. With `zeebe:userTask` the engine keeps them; without it a worker gets a job of a fixed type whose headers say who should do
//! it, until when and with which form.

use std::sync::Arc;

use model::{
    Binding, ComputedHeader, Form, HeaderKind, JobTask, JobTaskFlavour, Kind, Names, PRIORITY_MAX, Priority, Retries, Text,
    UserTask,
};
use roxmltree::Node;

use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::diagnostic::quoted;
use crate::draft::DraftElement;
use crate::expression;

const JOB_TYPE: &str = "io.camunda.zeebe:userTask";
const RETRIES: i32 = 1;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    match extension::only(site, "userTask") {
        Some(_) => {
            let task = kept(site);
            site.element(Some(Kind::UserTask(Box::new(task))))
        }
        None => {
            let task = by_job(site);
            site.element(Some(Kind::JobTask(task)))
        }
    }
}

/// What is wrong is noted; then nobody asks for the task.
fn kept(site: &mut Site<'_, '_, '_>) -> UserTask {
    let mut task = UserTask { headers: extension::headers(site), ..UserTask::default() };
    if let Some(node) = extension::only(site, "assignmentDefinition") {
        task.assignee = attribute(site, node, "assignee", |value| expression::text("the assignee", value));
        task.candidate_groups = attribute(site, node, "candidateGroups", names).unwrap_or_default();
        task.candidate_users = attribute(site, node, "candidateUsers", names).unwrap_or_default();
    }
    if let Some(node) = extension::only(site, "taskSchedule") {
        task.due = attribute(site, node, "dueDate", date);
        task.follow_up = attribute(site, node, "followUpDate", date);
    }
    if let Some(node) = extension::only(site, "priorityDefinition") {
        task.priority = attribute(site, node, "priority", priority).unwrap_or_default();
    }
    if let Some(node) = extension::only(site, "formDefinition") {
        let form = form(node);
        task.form = site.note(node, form);
    }
    task
}

/// An attribute that is there and not blank.
fn attribute<T>(
    site: &mut Site<'_, '_, '_>,
    node: Node<'_, '_>,
    name: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let value = node.attribute(name).filter(|value| !value.trim().is_empty())?;
    site.note(node, read(value))
}

fn names(value: &str) -> Result<Names, String> {
    match expression::source(value) {
        Some(source) => expression::parse("the names", source).map(Names::Computed),
        None => Ok(Names::Fixed(listed(value)?.into_iter().map(Into::into).collect())),
    }
}

fn listed(value: &str) -> Result<Vec<&str>, String> {
    let names: Vec<&str> = value.split(',').map(str::trim).collect();
    match names.iter().any(|name| name.is_empty()) {
        true => Err(format!("{} must be names separated by commas, none of them empty", quoted(value))),
        false => Ok(names),
    }
}

fn date(value: &str) -> Result<Text, String> {
    if expression::source(value).is_none() {
        moment(value)?;
    }
    expression::text("the date", value)
}

fn priority(value: &str) -> Result<Priority, String> {
    if let Some(source) = expression::source(value) {
        return expression::parse("the priority", source).map(Priority::Computed);
    }
    match value.trim().parse() {
        Ok(number) if (0..=PRIORITY_MAX).contains(&number) => Ok(Priority::Fixed(number)),
        Ok(_) | Err(_) => Err(format!("the priority {} must be a number from 0 to {PRIORITY_MAX}", quoted(value))),
    }
}

fn form(node: Node<'_, '_>) -> Result<Form, String> {
    let given = |name: &str| node.attribute(name).filter(|value| !value.trim().is_empty());
    match (given("formId"), given("externalReference")) {
        (Some(id), None) => {
            let (id, binding) = (expression::text("the form id", id)?, extension::binding(node)?);
            Ok(Form::Deployed { id, binding })
        }
        (None, Some(reference)) => expression::text("the reference to a form", reference).map(Form::External),
        (Some(_), Some(_)) | (None, None) => {
            Err("the form of a user task needs a formId or an externalReference, one of the two".to_owned())
        }
    }
}

fn by_job(site: &mut Site<'_, '_, '_>) -> JobTask {
    let mut task = JobTask {
        flavour: JobTaskFlavour::User,
        job_type: Text::Fixed(Arc::from(JOB_TYPE)),
        retries: Retries::Fixed(RETRIES),
        headers: extension::headers(site),
        headers_computed: Vec::new(),
        form: None,
    };
    let mut read = |extension: &str, attribute: &str, kind: HeaderKind| {
        let node = extension::only(site, extension)?;
        let value = node.attribute(attribute).filter(|value| !value.trim().is_empty())?;
        let key: Arc<str> = format!("io.camunda.zeebe:{attribute}").into();
        match expression::source(value) {
            Some(source) => {
                let value = site.note(node, expression::parse(&format!("the {attribute}"), source))?;
                task.headers_computed.push(ComputedHeader { key, kind, value });
            }
            None => {
                let value = site.note(node, written(kind, value))?;
                task.headers.push((key, value.into()));
            }
        }
        Some(())
    };
    read("assignmentDefinition", "assignee", HeaderKind::Text);
    read("assignmentDefinition", "candidateGroups", HeaderKind::Names);
    read("assignmentDefinition", "candidateUsers", HeaderKind::Names);
    read("taskSchedule", "dueDate", HeaderKind::Moment);
    read("taskSchedule", "followUpDate", HeaderKind::Moment);
    read("formDefinition", "formKey", HeaderKind::Text);
    if let Some(node) = extension::only(site, "formDefinition") {
        let form = form_of_job(node);
        task.form = site.note(node, form).flatten();
    }
    task
}

/// The value of a header that is not computed.
fn written(kind: HeaderKind, value: &str) -> Result<String, String> {
    match kind {
        HeaderKind::Text => Ok(value.to_owned()),
        // `a,b` becomes `["a","b"]`.
        HeaderKind::Names => {
            let names: Vec<feel::Value> = listed(value)?.into_iter().map(feel::Value::from).collect();
            Ok(feel::Value::List(names.into()).to_json())
        }
        HeaderKind::Moment => moment(value),
    }
}

/// A date with a time and an offset or zone; seconds that are zero are not told.
fn moment(value: &str) -> Result<String, String> {
    let known = feel::parse(&format!("date and time({})", expression::literal(value)));
    let known = known.ok().and_then(|parsed| parsed.evaluate(&[], &feel::Now::utc(0)).ok());
    match known {
        Some(feel::Value::DateTime(_)) if schedule::Date::parse(value).is_ok() => Ok(model::without_zero_seconds(value)),
        _ => Err(format!("{} must be a date with time and offset, such as 2023-03-02T15:35+02:00", quoted(value))),
    }
}

/// One by its key is a header like any other.
fn form_of_job(node: Node<'_, '_>) -> Result<Option<Box<(Text, Binding)>>, String> {
    let given = |name: &str| node.attribute(name).filter(|value| !value.trim().is_empty());
    match (given("formKey"), given("formId")) {
        (Some(_), None) => Ok(None),
        (None, Some(id)) => Ok(Some(Box::new((expression::text("the form id", id)?, extension::binding(node)?)))),
        (Some(_), Some(_)) | (None, None) => {
            Err("the form of a user task done by a worker needs a formKey or a formId, one of the two".to_owned())
        }
    }
}
