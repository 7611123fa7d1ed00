//! `zeebe:executionListeners` and `zeebe:taskListeners`. Which elements may have which is the same for all notations (`link::listeners`).

use model::{Listener, ListenerEvent};
use roxmltree::Node;

use super::element::job_task;
use super::extension::{self, zeebe_children};
use super::site::Site;
use crate::diagnostic::quoted;
use crate::expression;

/// In the order in which they are asked.
pub(super) fn read(site: &mut Site<'_, '_, '_>) -> Vec<Listener> {
    let mut listeners = Vec::new();
    for (list, one, of_tasks) in [("executionListeners", "executionListener", false), ("taskListeners", "taskListener", true)] {
        let Some(node) = extension::only(site, list) else { continue };
        for child in zeebe_children(node) {
            let name = child.tag_name().name();
            if name != one {
                site.complain_at(child, format!("zeebe:{list} has no {}", quoted(name)));
                continue;
            }
            let read = listener(child, one, of_tasks);
            listeners.extend(site.note(child, read));
        }
    }
    listeners
}

fn listener(node: Node<'_, '_>, what: &str, of_tasks: bool) -> Result<Listener, String> {
    let given = |name: &str| node.attribute(name).filter(|value| !value.trim().is_empty());
    let event = event(given("eventType").unwrap_or_default(), of_tasks)?;
    let job_type = given("type").ok_or_else(|| format!("zeebe:{what} needs a type: the name workers ask for"))?;
    let job_type = expression::text("the job type", job_type)?;
    if let Some(child) = node.children().find(Node::is_element) {
        return Err(format!("{} inside zeebe:{what} is not supported yet", quoted(child.tag_name().name())));
    }
    let retries = job_task::retries(node.attribute("retries").unwrap_or_default())?;
    Ok(Listener { event, job_type, retries })
}

fn event(word: &str, of_tasks: bool) -> Result<ListenerEvent, String> {
    // As they were called before Camunda 8.8.
    let today = match word {
        "create" => "creating",
        "assignment" => "assigning",
        "update" => "updating",
        "complete" => "completing",
        "cancel" => "canceling",
        word => word,
    };
    let event = ListenerEvent::named(today).filter(|event| event.is_of_task() == of_tasks);
    event.ok_or_else(|| {
        let known = ListenerEvent::ALL.into_iter().filter(|event| event.is_of_task() == of_tasks).map(ListenerEvent::word);
        let known: Vec<_> = known.collect();
        format!("the eventType {} is not supported: it is one of {}", quoted(word), known.join(", "))
    })
}
