//! What is bound to the deployment must be in it: nothing that comes later could take its place.

use model::{Binding, Call, DecisionTask, Kind, Text};

use super::{Draft, Holds};

/// Called processes and decisions, and forms, that are named but not there.
pub(super) fn missing(drafts: &[Draft], problems: &mut Vec<String>) {
    for Draft { file, holds } in drafts {
        let Holds::Processes(processes) = holds else { continue };
        for element in processes.iter().flat_map(|process| &process.elements) {
            if let Some((what, id)) = bound(&element.kind)
                && !drafts.iter().any(|draft| has(&draft.holds, what, id))
            {
                let (name, element) = (&file.name, &element.id);
                problems.push(format!(
                    "{name}: element '{element}': its {} '{id}' is bound to the deployment, but is not in it",
                    what.word()
                ));
            }
        }
    }
}

#[derive(Clone, Copy)]
enum What {
    Process,
    Decision,
    Form,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Decision => "decision",
            Self::Form => "form",
        }
    }
}

fn bound(kind: &Kind) -> Option<(What, &str)> {
    match kind {
        Kind::CallActivity(Call { process: Text::Fixed(id), binding: Binding::Deployment, .. }) => Some((What::Process, id)),
        Kind::DecisionTask(DecisionTask { decision: Text::Fixed(id), binding: Binding::Deployment, .. }) => {
            Some((What::Decision, id))
        }
        Kind::UserTask(task) => match &task.form {
            Some(model::Form::Deployed { id: Text::Fixed(id), binding: Binding::Deployment }) => Some((What::Form, id)),
            _ => None,
        },
        _ => None,
    }
}

fn has(holds: &Holds, what: What, id: &str) -> bool {
    match (what, holds) {
        (What::Process, Holds::Processes(processes)) => processes.iter().any(|process| &*process.id == id),
        (What::Decision, Holds::Decisions(requirements)) => requirements.decisions.iter().any(|decision| &*decision.id == id),
        (What::Form, Holds::Form(form)) => &*form.id == id,
        (What::Process | What::Decision | What::Form, Holds::Processes(_) | Holds::Decisions(_) | Holds::Form(_)) => false,
    }
}
