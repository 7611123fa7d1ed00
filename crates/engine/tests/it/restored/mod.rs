//! An instance put together again from rows.

use engine::{ElementInstance, Instance};

/// The instance put together again from what a store holds of it.
pub(crate) fn restored(instance: &Instance) -> Instance {
    let Some(root) = instance.root() else { return instance.clone() };
    let mut again = Instance::restored(instance.key, instance.definition, root.phase);
    again.parent = instance.parent;
    again.state = instance.state;
    for (key, element) in &instance.elements {
        if *key != instance.key.root() {
            let mut row = ElementInstance::new(element.element, element.scope, element.phase);
            row.progress = element.progress;
            again.restore_element(*key, row).unwrap();
        }
    }
    for (key, element) in &instance.elements {
        let kept = element.variables.kept().cloned();
        element.variables.iter().cloned().chain(kept).for_each(|variable| again.restore_variable(*key, variable).unwrap());
        element.waits.iter().for_each(|wait| again.restore_wait(*key, wait.clone()).unwrap());
        element.compensations().for_each(|kept| again.restore_compensation(*key, kept).unwrap());
    }
    instance.tokens().for_each(|(token, count)| again.restore_tokens(token, count).unwrap());
    for (key, incident) in &instance.incidents {
        again.restore_incident(*key, incident.clone()).unwrap();
    }
    again
}
