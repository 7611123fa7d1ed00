//! What a new instance is like when the command that created it is done, for callers who want to see it: nothing has to be read for that.

use std::sync::Arc;

use engine::{InstanceKey, State};
use store::Millis;
use store::log::Answer;

use super::{Input, Partition, Reply};

/// An instance that runs, without an incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    pub started: Millis,
    /// Ids and kinds of the elements it is at, the oldest first.
    pub elements: Vec<(Arc<str>, Arc<str>)>,
    /// Variables of the process and their JSON.
    pub variables: Vec<(Arc<str>, Arc<str>)>,
}

impl Partition {
    /// Notes for whoever wants to see it what the instance is like now.
    pub(super) fn note_begun(&self, input: &mut Input, answer: &Answer) {
        if let Input::Request { reply: Reply::Begun { begun, .. }, .. } = input
            && let Answer::Created(created) = answer
        {
            *begun = self.begun(created.instance).map(Box::new);
        }
    }

    fn begun(&self, key: InstanceKey) -> Option<Begun> {
        let hot = self.hot.get(key)?;
        let instance = &hot.instance;
        if instance.state != State::Active || !instance.incidents.is_empty() {
            return None;
        }
        let mut begun = Begun { started: hot.row.started, elements: Vec::new(), variables: Vec::new() };
        for (key, one) in &instance.elements {
            if one.scope == *key {
                begun.variables = one.variables.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect();
            } else {
                let element = hot.definition.row.elements.get(one.element.0 as usize)?;
                begun.elements.push((element.id.clone(), element.kind.clone()));
            }
        }
        Some(begun)
    }
}
