//! Conditional events: looked at when they begin to wait and when a variable they read changes, and only then. What a task gives when it is
//! done does not concern those on its boundary: it is about to leave.

use feel::Value;
use model::{Condition, Trigger, VariableChange};

use crate::step::Run;
use crate::{ElementKey, Event, IncidentKind, Triggered, WaitKey};

/// Whether the condition of an open wait is true. One that cannot be evaluated, or gives something else, is not.
pub(crate) fn holds(run: &Run<'_>, key: ElementKey, wait: WaitKey) -> bool {
    let Some(condition) = condition_of(run, key, wait) else { return false };
    matches!(run.evaluate(key, &condition.expression, IncidentKind::ExtractValue), Ok(Value::Bool(true)))
}

fn condition_of<'a>(run: &Run<'a>, key: ElementKey, wait: WaitKey) -> Option<&'a Condition> {
    let process = run.process;
    let alive = run.instance.elements.get(&key)?;
    let event = alive.wait(wait)?.catch.unwrap_or(alive.element);
    match process.catch(event)? {
        Trigger::Condition(condition) => Some(condition),
        Trigger::Timer(_) | Trigger::Message(_) | Trigger::Signal { .. } => None,
        Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation | Trigger::Several(_) => None,
    }
}

/// The conditions that a change of a variable may have made true: they read it, and see it where it changed.
pub(crate) fn concerned(run: &Run<'_>, event: &Event) -> Vec<(ElementKey, WaitKey)> {
    let (scope, name, change) = match event {
        Event::VariableCreated { scope, name, .. } => (*scope, name, VariableChange::Created),
        Event::VariableUpdated { scope, name, .. } => (*scope, name, VariableChange::Updated),
        _ => return Vec::new(),
    };
    let reads = |key: ElementKey, wait: WaitKey| {
        condition_of(run, key, wait).is_some_and(|condition| {
            (condition.on == VariableChange::Any || condition.on == change) && condition.expression.variables().contains(name)
        })
    };
    // Where nothing lives inside, only its own can see it: what comes into being does not look at all that waits elsewhere.
    let is_leaf = run.instance.elements[&scope].is_empty();
    let (first, last) = if is_leaf { (scope, scope) } else { (ElementKey(0), ElementKey(u64::MAX)) };
    let waiting = run.instance.conditions.range((first, WaitKey(0))..=(last, WaitKey(u64::MAX))).copied();
    waiting.filter(|(key, wait)| reads(*key, *wait) && is_inside(run, *key, scope)).collect()
}

fn is_inside(run: &Run<'_>, key: ElementKey, scope: ElementKey) -> bool {
    let mut inner = key;
    while inner != scope {
        match run.instance.elements.get(&inner) {
            Some(alive) if alive.scope != inner => inner = alive.scope,
            Some(_) | None => return false,
        }
    }
    true
}

/// Goes on from a condition that has become true, if it is still waited for.
pub(crate) fn examine(run: &mut Run<'_>, key: ElementKey, wait: WaitKey) {
    if run.is_met(wait) {
        let _came = run.trigger(&Triggered { element: key, wait, variables: Vec::new(), next: None });
    }
}
