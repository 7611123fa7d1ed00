//! User tasks that are jobs: without `zeebe:userTask`, a worker gets a job of a fixed type whose headers say who should do it, until when and
//! with which form. Headers that must be computed for each instance are refused, as are forms by id.

use std::sync::Arc;

use model::{JobTask, JobTaskFlavour, Kind, Retries, Text};
use roxmltree::Node;

use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::diagnostic::quoted;
use crate::draft::DraftElement;
use crate::expression;

const JOB_TYPE: &str = "io.camunda.zeebe:userTask";
const RETRIES: i32 = 1;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if extension::only(site, "userTask").is_some() {
        return site.unsupported("user task");
    }
    let mut headers = extension::headers(site);
    let mut read = |extension: &str, attribute: &str, read: fn(&str) -> Result<String, String>| {
        let node = extension::only(site, extension)?;
        let value = node.attribute(attribute).filter(|value| !value.trim().is_empty())?;
        let value = fixed(attribute, value).and_then(read);
        let value = site.note(node, value)?;
        headers.push((format!("io.camunda.zeebe:{attribute}").into(), value.into()));
        Some(())
    };
    let as_written: fn(&str) -> Result<String, String> = |value| Ok(value.to_owned());
    read("assignmentDefinition", "assignee", as_written);
    read("assignmentDefinition", "candidateGroups", list);
    read("assignmentDefinition", "candidateUsers", list);
    read("taskSchedule", "dueDate", moment);
    read("taskSchedule", "followUpDate", moment);
    read("formDefinition", "formKey", as_written);
    if let Some(form) = extension::only(site, "formDefinition") {
        check_form(site, form);
    }
    let job_type = Text::Fixed(Arc::from(JOB_TYPE));
    let task = JobTask { flavour: JobTaskFlavour::User, job_type, retries: Retries::Fixed(RETRIES), headers };
    site.element(Some(Kind::JobTask(task)))
}

fn fixed<'a>(attribute: &str, value: &'a str) -> Result<&'a str, String> {
    match expression::source(value) {
        Some(_) => Err(format!("a user task done by a worker cannot compute its {attribute} yet: write it out")),
        None => Ok(value),
    }
}

/// `a,b` becomes `["a","b"]`.
fn list(value: &str) -> Result<String, String> {
    let names: Vec<&str> = value.split(',').map(str::trim).collect();
    if names.iter().any(|name| name.is_empty()) {
        return Err(format!("{} must be names separated by commas, none of them empty", quoted(value)));
    }
    let names: Vec<feel::Value> = names.into_iter().map(feel::Value::from).collect();
    Ok(feel::Value::List(names.into()).to_json())
}

/// A date with a time and an offset or zone; seconds that are zero are not told.
fn moment(value: &str) -> Result<String, String> {
    let known = feel::parse(&format!("date and time({})", expression::literal(value)));
    let known = known.ok().and_then(|parsed| parsed.evaluate(&[], &feel::Now::utc(0)).ok());
    let offset = value.split_once('T').is_some_and(|(_, time)| time.contains(['Z', '+', '-']));
    match known {
        Some(feel::Value::DateTime(_)) if offset => Ok(without_zero_seconds(value)),
        _ => Err(format!("{} must be a date with time and offset, such as 2023-03-02T15:35+02:00", quoted(value))),
    }
}

fn without_zero_seconds(moment: &str) -> String {
    let Some((date, time)) = moment.split_once('T') else {
        return moment.to_owned();
    };
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone);
    let clock = if clock.len() == 8 { clock.strip_suffix(":00").unwrap_or(clock) } else { clock };
    format!("{date}T{clock}{zone}")
}

fn check_form(site: &mut Site<'_, '_, '_>, form: Node<'_, '_>) {
    let given = |name: &str| form.attribute(name).is_some_and(|value| !value.trim().is_empty());
    let reason = match (given("formKey"), given("formId")) {
        (true, false) => return,
        (false, true) => "forms by id are not supported yet",
        (true, true) | (false, false) => "the form of a user task done by a worker needs a formKey or a formId, one of the two",
    };
    site.complain_at(form, reason);
}
