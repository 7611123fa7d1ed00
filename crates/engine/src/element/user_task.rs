//! A task for a person: it waits until somebody completes it. Who may, and what happens to it meanwhile, is the host's. One with a form that
//! was deployed asks the host for it first and waits in its entry, so that resolving an incident asks again.
//!
//! Also the headers of jobs that stand for such a task.

use std::sync::Arc;

use feel::{Expression, Value};
use model::{ComputedHeader, Form, HeaderKind, JobTask, Kind, Names, PRIORITY_MAX, Priority, Text, UserTask};

use crate::expression::{Trouble, wrong_kind};
use crate::step::Run;
use crate::{ElementKey, Event, FormKey, IncidentKind, On, Phase, Rejected, Undecided};

/// Names go into indexes of the stores, whose entries are bounded.
const NAME_BYTES_MAX: usize = 1_000;
/// How many groups, and how many users, one task may have.
const NAMES_MAX: usize = 1_000;

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, task: &UserTask) -> Result<(), Trouble> {
    match &task.form {
        Some(Form::Deployed { id, .. }) => {
            let form = run.text(key, id, "the form id")?;
            run.emit(Event::FormSought { element: key, form });
            Ok(())
        }
        Some(Form::External(_)) | None => open(run, key, task, None),
    }
}

/// What the host has found.
pub(crate) fn give_form(run: &mut Run<'_>, key: ElementKey, verdict: &Result<FormKey, Undecided>) -> Result<(), Rejected> {
    let element = run.instance.elements.get(&key).ok_or(Rejected::NoSuchForm)?;
    let seeks = element.phase == Phase::Entering && element.incident.is_none();
    let opened = match (&run.element_of(key).kind, verdict) {
        (Kind::UserTask(_) | Kind::JobTask(_), Err(Undecided { kind, reason })) if seeks => {
            Err(Trouble { kind: *kind, message: reason.to_string() })
        }
        (Kind::UserTask(task), Ok(form)) if seeks => open(run, key, task, Some(*form)),
        (Kind::JobTask(task), Ok(form)) if seeks && task.form.is_some() => super::job_task::open(run, key, task, Some(*form)),
        _ => return Err(Rejected::NoSuchForm),
    };
    if let Err(trouble) = opened {
        run.raise(key, None, trouble);
    }
    Ok(())
}

fn open(run: &mut Run<'_>, key: ElementKey, task: &UserTask, form: Option<FormKey>) -> Result<(), Trouble> {
    if run.process.workflow.is_some() && super::wait::take_early(run, key) {
        return Ok(());
    }
    let assignee = task.assignee.as_ref().map(|assignee| name(&run.text(key, assignee, "the assignee")?)).transpose()?;
    let external_form = match &task.form {
        Some(Form::External(reference)) => Some(run.text(key, reference, "the reference to a form")?),
        Some(Form::Deployed { .. }) | None => None,
    };
    let opened = crate::UserTask {
        assignee: assignee.filter(|assignee| !assignee.is_empty()),
        candidate_groups: names(run, key, &task.candidate_groups, "the candidate groups")?,
        candidate_users: names(run, key, &task.candidate_users, "the candidate users")?,
        due: date(run, key, task.due.as_ref(), "the due date")?,
        follow_up: date(run, key, task.follow_up.as_ref(), "the follow-up date")?,
        priority: priority(run, key, &task.priority)?,
        form,
        external_form,
    };
    run.activated(key)?;
    let is_assigned = opened.assignee.is_some();
    run.open(key, None, On::UserTask(Box::new(opened)));
    run.listen_to_new_task(key, is_assigned);
    Ok(())
}

fn name(name: &Arc<str>) -> Result<Arc<str>, Trouble> {
    match name.len() <= NAME_BYTES_MAX {
        true => Ok(name.clone()),
        false => Err(unfit(format!("a name has {} bytes; at most {NAME_BYTES_MAX} are allowed", name.len()))),
    }
}

fn unfit(message: String) -> Trouble {
    Trouble { kind: IncidentKind::ExtractValue, message }
}

fn names(run: &Run<'_>, key: ElementKey, given: &Names, what: &str) -> Result<Vec<Arc<str>>, Trouble> {
    let given = match given {
        Names::Fixed(given) => given.clone(),
        Names::Computed(expression) => strings(run, key, expression, what)?,
    };
    if NAMES_MAX < given.len() {
        return Err(unfit(format!("{what} are {}; at most {NAMES_MAX} are allowed", given.len())));
    }
    given.iter().map(name).collect()
}

fn strings(run: &Run<'_>, key: ElementKey, expression: &Expression, what: &str) -> Result<Vec<Arc<str>>, Trouble> {
    let value = run.evaluate(key, expression, IncidentKind::ExtractValue)?;
    let strings = match &value {
        Value::List(items) => items.items().iter().map(string).collect(),
        _ => None,
    };
    strings.ok_or_else(|| wrong_kind(expression, what, "a list of strings", &value))
}

fn string(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Null and an empty text are no date.
fn date(run: &Run<'_>, key: ElementKey, date: Option<&Text>, what: &str) -> Result<Option<i64>, Trouble> {
    let text = match date {
        None => None,
        Some(Text::Fixed(text)) => Some(text.clone()),
        Some(Text::Computed(expression)) => moment(run, key, expression, what)?,
    };
    let Some(text) = text else { return Ok(None) };
    schedule::Date::parse(&text).map(|date| Some(date.at())).map_err(|error| unfit(format!("{what} cannot be used: {error}")))
}

fn moment(run: &Run<'_>, key: ElementKey, expression: &Expression, what: &str) -> Result<Option<Arc<str>>, Trouble> {
    let value = run.evaluate(key, expression, IncidentKind::ExtractValue)?;
    match &value {
        Value::Null => Ok(None),
        Value::String(text) => Ok((!text.is_empty()).then(|| text.clone())),
        Value::DateTime(_) => Ok(Some(value.to_json().trim_matches('"').into())),
        _ => Err(wrong_kind(expression, what, "a date and time", &value)),
    }
}

fn priority(run: &Run<'_>, key: ElementKey, priority: &Priority) -> Result<i32, Trouble> {
    let expression = match priority {
        Priority::Fixed(priority) => return Ok(*priority),
        Priority::Computed(expression) => expression,
    };
    let value = run.evaluate(key, expression, IncidentKind::ExtractValue)?;
    let number = match &value {
        Value::Number(number) => number.to_i64().and_then(|number| i32::try_from(number).ok()),
        _ => None,
    };
    let wanted = format!("a whole number from 0 to {PRIORITY_MAX}");
    let number = number.filter(|number| (0..=PRIORITY_MAX).contains(number));
    number.ok_or_else(|| wrong_kind(expression, "the priority", &wanted, &value))
}

/// The headers of a job whose task has some that are computed, or a form: all of them, as a JSON object.
pub(crate) fn headers(run: &Run<'_>, key: ElementKey, task: &JobTask, form: Option<FormKey>) -> Result<Arc<str>, Trouble> {
    let mut members: Vec<String> = task.headers.iter().map(|(name, value)| member(name, value)).collect();
    for header in &task.headers_computed {
        if let Some(value) = header_value(run, key, header)? {
            members.push(member(&header.key, &value));
        }
    }
    members.extend(form.map(|form| member("io.camunda.zeebe:formKey", &form.to_string())));
    Ok(format!("{{{}}}", members.join(",")).into())
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{}", Value::string(name).to_json(), Value::string(value).to_json())
}

fn header_value(run: &Run<'_>, key: ElementKey, header: &ComputedHeader) -> Result<Option<Arc<str>>, Trouble> {
    let ComputedHeader { key: name, kind, value: expression } = header;
    let what = format!("the header '{name}'");
    match kind {
        HeaderKind::Text => {
            let value = run.evaluate(key, expression, IncidentKind::ExtractValue)?;
            string(&value).map(Some).ok_or_else(|| wrong_kind(expression, &what, "a string", &value))
        }
        HeaderKind::Names => {
            let names = strings(run, key, expression, &what)?.into_iter().map(Value::String).collect();
            Ok(Some(Value::list(names).to_json().into()))
        }
        HeaderKind::Moment => {
            let Some(text) = moment(run, key, expression, &what)? else { return Ok(None) };
            schedule::Date::parse(&text).map_err(|error| unfit(format!("{what} cannot be used: {error}")))?;
            Ok(Some(model::without_zero_seconds(&text).into()))
        }
    }
}
