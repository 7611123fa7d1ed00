//! Options of user tasks, and of jobs that stand for one.

use model::{ComputedHeader, Form, HeaderKind, Kind, Names, Priority, UserTask};

use super::element::value;
use super::event::write_value;
use super::words;
use crate::diagnostic::quoted;
use crate::draft::{Content, DraftElement};
use crate::expression;

pub(super) const OPTIONS: [&str; 8] = ["assignee", "groups", "users", "due", "follow-up", "priority", "form", "external-form"];

pub(super) fn read(draft: &mut DraftElement, option: &str, rest: &str) -> Result<(), String> {
    let text = || value(&format!("the {option}"), rest)?.ok_or_else(|| format!("write '{option} TEXT' or '{option} = FEEL'"));
    let task = match &mut draft.content {
        Content::Read(Kind::UserTask(task)) => task,
        Content::Read(Kind::JobTask(task)) if option == "form" => {
            task.form = Some(Box::new((text()?, model::Binding::Latest)));
            return Ok(());
        }
        _ => return Err(format!("only a user task has the option {}", quoted(option))),
    };
    match option {
        "assignee" => task.assignee = Some(text()?),
        "groups" => task.candidate_groups = names(rest)?,
        "users" => task.candidate_users = names(rest)?,
        "due" => task.due = Some(text()?),
        "follow-up" => task.follow_up = Some(text()?),
        "priority" => task.priority = priority(rest)?,
        "form" => task.form = Some(Form::Deployed { id: text()?, binding: model::Binding::Latest }),
        _ => task.form = Some(Form::External(text()?)),
    }
    Ok(())
}

fn names(rest: &str) -> Result<Names, String> {
    if let Some(source) = rest.strip_prefix('=') {
        return expression::parse("the names", source).map(Names::Computed);
    }
    let names = words::whole(rest).ok_or("write names separated by commas")?;
    Ok(Names::Fixed(names.split(',').map(|name| name.trim().into()).collect()))
}

fn priority(rest: &str) -> Result<Priority, String> {
    match rest.strip_prefix('=') {
        Some(source) => expression::parse("the priority", source).map(Priority::Computed),
        None => rest.parse().map(Priority::Fixed).map_err(|_| format!("{} is no number", quoted(rest))),
    }
}

/// `KEY text = FEEL`, `KEY names = FEEL`, `KEY moment = FEEL`.
pub(super) fn computed_header(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let Content::Read(Kind::JobTask(task)) = &mut draft.content else {
        return Err("only a task has headers".to_owned());
    };
    let usage = "write 'computed-header KEY text = FEEL', with names or moment instead of text";
    let (key, rest) = words::first(rest).ok_or(usage)?;
    let (kind, source) = words::first(rest).ok_or(usage)?;
    let kind = match &*kind {
        "text" => HeaderKind::Text,
        "names" => HeaderKind::Names,
        "moment" => HeaderKind::Moment,
        _ => return Err(usage.to_owned()),
    };
    let value = expression::parse("the header", source.strip_prefix('=').ok_or(usage)?)?;
    task.headers_computed.push(ComputedHeader { key: key.into(), kind, value });
    Ok(())
}

pub(super) fn computed_header_option(header: &ComputedHeader) -> String {
    let kind = match header.kind {
        HeaderKind::Text => "text",
        HeaderKind::Names => "names",
        HeaderKind::Moment => "moment",
    };
    format!("computed-header {} {kind} = {}", words::write(&header.key), header.value.source())
}

/// The options that say what is not usual.
pub(super) fn options(task: &UserTask) -> Vec<String> {
    let mut options = Vec::new();
    let texts = [("assignee", &task.assignee), ("due", &task.due), ("follow-up", &task.follow_up)];
    options.extend(texts.into_iter().filter_map(|(word, text)| Some(format!("{word} {}", write_value(text.as_ref()?)))));
    for (word, names) in [("groups", &task.candidate_groups), ("users", &task.candidate_users)] {
        match names {
            Names::Fixed(names) if names.is_empty() => {}
            Names::Fixed(names) => options.push(format!("{word} {}", words::write_whole(&names.join(", ")))),
            Names::Computed(expression) => options.push(format!("{word} = {}", expression.source())),
        }
    }
    match &task.priority {
        Priority::Fixed(model::PRIORITY_DEFAULT) => {}
        Priority::Fixed(number) => options.push(format!("priority {number}")),
        Priority::Computed(expression) => options.push(format!("priority = {}", expression.source())),
    }
    match &task.form {
        None => {}
        Some(Form::External(reference)) => options.push(format!("external-form {}", write_value(reference))),
        Some(Form::Deployed { id, binding }) => {
            options.push(format!("form {}", write_value(id)));
            options.extend(super::print::binding_option(binding));
        }
    }
    let headers = task.headers.iter();
    options.extend(headers.map(|(key, value)| format!("header {} = {}", words::write(key), words::write_whole(value))));
    options
}
