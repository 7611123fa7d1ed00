//! Multi-instance: the activity is done once for each item of a list, side by side or one after the other.
//!
//! The list is looked at once. What is started later must find its item again, also after a restart: items are then kept with the body in
//! parts, as variables nobody sees (ADR 18). So are the outputs, one by one, so that the work for an item does not grow with their number.

use std::sync::Arc;

use feel::{Budget, Value};
use model::{MultiInstance, MultiOrder, MultiOutput};

use crate::expression::{Trouble, wrong_kind};
use crate::repeat::{self, LOOP_COUNTER};
use crate::step::Run;
use crate::variables::KEPT;
use crate::{ElementKey, Event, IncidentKind, Progress};

/// So many are started in one go, and so many items are kept in one part.
const PART: u32 = 128;
/// Up to so many items the inner instances see what was collected so far, as in Camunda 8; it is written anew with each output.
const OUTPUTS_SEEN_MAX: u32 = 128;

pub(crate) fn enter(run: &mut Run<'_>, body: ElementKey, multi: &MultiInstance) -> Result<(), Trouble> {
    let items = items(run, body, multi)?;
    let total = u32::try_from(items.len()).map_err(|_| trouble("the collection has too many items".to_owned()))?;
    run.activated(body)?;
    run.emit(Event::Progressed { key: body, progress: Progress { total, ..Progress::default() } });
    if let Some(output) = &multi.output
        && total <= OUTPUTS_SEEN_MAX
    {
        show_outputs(run, body, output, total);
    }
    if total == 0 {
        run.finish_later(body);
        return Ok(());
    }
    let now = at_once(multi).min(total);
    if now < total {
        keep(run, body, &items, multi);
    }
    start(run, body, multi, items[..now as usize].iter().map(String::as_str));
    Ok(())
}

/// The items as JSON texts.
fn items(run: &Run<'_>, body: ElementKey, multi: &MultiInstance) -> Result<Vec<String>, Trouble> {
    let value = run.evaluate(body, &multi.collection, IncidentKind::ExtractValue)?;
    let list = value.as_list().ok_or_else(|| wrong_kind(&multi.collection, "the collection", "a list", &value))?;
    let mut budget = Budget::default();
    let texts = list.iter().map(|item| item.to_json_within(&mut budget));
    let texts: Result<Vec<_>, _> = texts.collect();
    run.budget.evaluated(&budget);
    texts.map_err(|e| trouble(format!("an item of '{}' cannot be written: {e}", multi.collection.excerpt())))
}

fn at_once(multi: &MultiInstance) -> u32 {
    match multi.order {
        MultiOrder::Parallel => PART,
        MultiOrder::Sequential => 1,
    }
}

/// Remembers the items, and how much was entered before: each of many starts its count of elements there.
fn keep(run: &mut Run<'_>, body: ElementKey, items: &[String], multi: &MultiInstance) {
    run.set_local(body, &entered_name(), &run.budget.entered().to_string().into());
    if multi.item.is_none() {
        return;
    }
    for (number, part) in items.chunks(PART as usize).enumerate() {
        run.set_local(body, &part_name(number as u32), &format!("[{}]", part.join(",")).into());
    }
}

/// Starts those that come next, from what is kept.
pub(crate) fn go_on(run: &mut Run<'_>, body: ElementKey, multi: &MultiInstance) {
    let progress = run.progress(body);
    let kept = |name: Arc<str>| run.instance.elements[&body].variables.get(&name).map(|variable| variable.value.clone());
    if let Some(entered) = kept(entered_name()).and_then(|value| value.parse().ok()) {
        run.budget.go_back_to(entered);
    }
    let count = at_once(multi).min(progress.total - progress.started);
    let part = kept(part_name(progress.started / PART)).unwrap_or_else(|| "[]".into());
    let items = split(&part).skip((progress.started % PART) as usize).chain(std::iter::repeat("null"));
    start(run, body, multi, items.take(count as usize));
}

/// Side by side, the rest follows when those started here have had their turn.
fn start<'t>(run: &mut Run<'_>, body: ElementKey, multi: &MultiInstance, items: impl Iterator<Item = &'t str>) {
    let before = run.progress(body);
    let mut started = before.started;
    let unset = multi.output.as_ref().and_then(|output| plain_variable(output)).filter(|name| {
        // What has a value of its own is not emptied.
        Some(*name) != multi.item.as_ref() && &***name != LOOP_COUNTER
    });
    for item in items {
        started += 1;
        let item = multi.item.as_ref().map(|name| (name.clone(), item.into()));
        let locals: Vec<_> = item.into_iter().chain(unset.map(|name| (name.clone(), "null".into()))).collect();
        repeat::start_inner(run, body, started, &locals);
    }
    run.emit(Event::Progressed { key: body, progress: Progress { started, ..before } });
    if run.has_more_to_start(body) && multi.order == MultiOrder::Parallel {
        run.go_on_later(body);
    }
}

/// An output element that is a variable and nothing else is local to each inner instance, so that they do not share it.
pub(crate) fn plain_variable(output: &MultiOutput) -> Option<&Arc<str>> {
    let name = output.element.variables().first()?;
    (output.element.source().trim() == &**name).then_some(name)
}

/// Takes the output of an inner instance. True if the others are not wanted any more.
pub(crate) fn finish_inner(
    run: &mut Run<'_>,
    body: ElementKey,
    inner: ElementKey,
    multi: &MultiInstance,
) -> Result<bool, Trouble> {
    let progress = run.progress(body);
    if let Some(output) = &multi.output {
        let number = number(run, inner, progress)?;
        let value = run.evaluate(inner, &output.element, IncidentKind::ExtractValue)?;
        run.set_local(body, &output_name(number), &value.to_json().into());
        if progress.total <= OUTPUTS_SEEN_MAX {
            show_outputs(run, body, output, progress.total);
        }
    }
    let Some(until) = &multi.until else { return Ok(false) };
    let completed = progress.completed + 1;
    let instances = match multi.order {
        MultiOrder::Parallel => progress.total,
        // As in Camunda 8, those that there have been.
        MultiOrder::Sequential => progress.started,
    };
    let given = [
        ("numberOfInstances", instances),
        ("numberOfActiveInstances", instances.saturating_sub(completed).saturating_sub(progress.terminated)),
        ("numberOfCompletedInstances", completed),
        ("numberOfTerminatedInstances", progress.terminated),
    ];
    let given = given.map(|(name, number)| (name, Value::Number(number.into())));
    match run.evaluate_given(inner, until, IncidentKind::ExtractValue, &given)? {
        Value::Bool(is_over) => Ok(is_over),
        other => Err(wrong_kind(until, "the completion condition", "true or false", &other)),
    }
}

/// Which of the items an inner instance is for. Its counter is a variable, which others may have changed.
fn number(run: &Run<'_>, inner: ElementKey, progress: Progress) -> Result<u32, Trouble> {
    let counter = run.instance.elements[&inner].variables.get(LOOP_COUNTER);
    let number = counter.and_then(|counter| counter.value.parse().ok()).filter(|number| (1..=progress.started).contains(number));
    number.ok_or_else(|| {
        let now = counter.map_or("missing", |counter| &*counter.value);
        trouble(format!("the variable '{LOOP_COUNTER}' must be from 1 to {}, but it is {now}", progress.started))
    })
}

/// The whole list goes to the enclosing scope.
pub(crate) fn hand_out(run: &mut Run<'_>, body: ElementKey, multi: &MultiInstance) {
    let Some(output) = &multi.output else { return };
    let list = show_outputs(run, body, output, run.progress(body).total);
    let scope = run.instance.elements[&body].scope;
    run.propagate(scope, &vec![(output.collection.clone(), list)]);
}

/// Writes what was collected into the body's variable: null where there is nothing.
fn show_outputs(run: &mut Run<'_>, body: ElementKey, output: &MultiOutput, total: u32) -> Arc<str> {
    let variables = &run.instance.elements[&body].variables;
    let mut list = String::from("[");
    for number in 1..=total {
        if 1 < number {
            list.push(',');
        }
        list.push_str(variables.get(&output_name(number)).map_or("null", |variable| &variable.value));
    }
    list.push(']');
    let list = Arc::from(list);
    run.set_local(body, &output.collection, &list);
    list
}

fn entered_name() -> Arc<str> {
    format!("{KEPT}entered").into()
}

fn part_name(number: u32) -> Arc<str> {
    format!("{KEPT}items:{number}").into()
}

fn output_name(number: u32) -> Arc<str> {
    format!("{KEPT}output:{number}").into()
}

fn trouble(message: String) -> Trouble {
    Trouble { kind: IncidentKind::ExtractValue, message }
}

/// The texts of the items of a JSON list without insignificant white space.
pub(crate) fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or_default();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = item_end(rest);
        let (item, more) = rest.split_at(end);
        rest = more.strip_prefix(',').unwrap_or_default();
        Some(item)
    })
}

/// Where the first of several items ends: at a comma outside brackets and strings.
fn item_end(items: &str) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in items.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return at,
            _ => {}
        }
    }
    items.len()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn items_are_told_apart_by_commas_outside_of_them() {
        let list = r#"[1,"a,\"]b\\",[2,[3,4]],{"k,":"}"},null,"ü"]"#;
        let items: Vec<_> = split(list).collect();
        assert_eq!(items, ["1", r#""a,\"]b\\""#, "[2,[3,4]]", r#"{"k,":"}"}"#, "null", r#""ü""#]);
        assert_eq!(split("[]").count(), 0);
        assert_eq!(split("no list").count(), 0);
    }
}
