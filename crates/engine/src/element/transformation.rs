//! Sets variables of the process and goes on at once. What is computed sees the variables as they were before the step.

use std::sync::Arc;

use model::Text;

use crate::expression::Trouble;
use crate::step::Run;
use crate::{Document, ElementKey, Event, IncidentKind};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, entries: &[(Arc<str>, Text)]) -> Result<(), Trouble> {
    let mut document = Document::with_capacity(entries.len());
    for (name, source) in entries {
        let value = match source {
            Text::Fixed(json) => json.clone(),
            Text::Computed(expression) => run.evaluate(key, expression, IncidentKind::ExtractValue)?.to_json().into(),
        };
        document.push((name.clone(), value));
    }
    run.emit(Event::Activated { key });
    for (name, value) in &document {
        run.set_local(run.instance.key.root(), name, value);
    }
    run.finish_later(key);
    Ok(())
}
