//! JSON workflows → processes: a step is an element, what it names next is a flow.
//!
//! | step | element |
//! |---|---|
//! | `SERVICE_TASK` | service task; one try more than it has retries |
//! | `USER_TASK` | user task; its `jobType` is a candidate group |
//! | `DECISION` | exclusive gateway without a default |
//! | `TRANSFORMATION`, `WAIT` | what only workflows have |
//! | `PARALLEL_GATEWAY` | parallel gateway |
//! | `JOIN_GATEWAY` | inclusive gateway: it waits for every branch that can still come, whichever way that takes |
//! | `CALL` | call activity |
//! | `END` | none end event |
//! | `boundaryEvents` | timer boundary events `STEP#timer1`, `STEP#timer2`, … |
//!
//! Everything lies in one scope; the start event `#start` leads to the first step. No step's id has a `#`.

mod fields;
mod reach;
mod step;
mod tree;

use std::sync::Arc;

use model::{Kind, Process, Scope, Workflow};

use crate::diagnostic::{Diagnostic, Findings};
use crate::draft::{Condition, Content, Draft, DraftElement, DraftFlow, FlowOrder};
use crate::{link, xml};
use fields::Fields;
use tree::Node;

/// Characters of the id of a workflow or of a step.
const ID_CHARS_MAX: usize = 256;
/// Characters of a name, a job type, a delegate class.
const NAME_CHARS_MAX: usize = 1_000;
const DESCRIPTION_CHARS_MAX: usize = 10_000;
const STEPS_MAX: usize = 10_000;
/// The id of the start event.
const START: &str = "#start";

/// Compiles a JSON workflow: UTF-8, with or without a byte order mark.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn json(content: &[u8]) -> Result<Process, Vec<Diagnostic>> {
    let text = xml::decode(content)?;
    let mut findings = Findings::default();
    let root = match tree::parse(text) {
        Ok(root) => root,
        Err((at, reason)) => {
            findings.add_anonymous(at, format!("this is not JSON: {reason}"));
            return Err(findings.diagnostics(text));
        }
    };
    let read = read(&root, &mut findings);
    let process = match read {
        Some((draft, workflow)) if findings.is_empty() => {
            link::link(draft, &mut findings).map(|process| Process { workflow: Some(workflow), ..process })
        }
        Some(_) | None => None,
    };
    match process {
        Some(process) if findings.is_empty() => Ok(process),
        _ => Err(findings.diagnostics(text)),
    }
}

fn read(root: &Node, findings: &mut Findings) -> Option<(Draft, Workflow)> {
    let mut fields = Fields::of(root, "", findings)?;
    let id = fields.required_text("id", ID_CHARS_MAX, findings);
    if let Some(id) = id.as_deref().filter(|id| !is_id(id)) {
        findings.add(root.at, id, "the id of a workflow has letters, digits, '_', ':' and '-' only");
    }
    let name = fields.required_text("name", NAME_CHARS_MAX, findings);
    let description = fields.text("description", DESCRIPTION_CHARS_MAX, findings);
    let next = next(&mut fields, root, findings);
    fields.object("metadata", findings);
    // As an answer shows it: what is read can be uploaded again.
    fields.take("version");
    fields.take("uploadedAt");
    let steps = fields.list("steps", findings);
    fields.refuse_others(findings);
    if STEPS_MAX < steps.len() {
        findings.add_anonymous(root.at, format!("the workflow has {} steps: at most {STEPS_MAX} are allowed", steps.len()));
        return None;
    }
    if steps.is_empty() && root_has(root, "steps") {
        findings.add_anonymous(root.at, "steps must not be empty: the first step is where the workflow begins");
    }
    let steps = step::read(steps, findings);
    reach::check(&steps, findings);
    let id: Arc<str> = id.unwrap_or_default().into();
    let draft = draft(root.at, &id, name.map(Into::into), steps);
    Some((draft, Workflow { description: description.map(Into::into), next: next.map(Into::into) }))
}

fn root_has(root: &Node, name: &str) -> bool {
    matches!(&root.value, tree::Value::Object(members) if members.iter().any(|member| member.name == name && !member.value.is_null()))
}

fn next(fields: &mut Fields<'_>, root: &Node, findings: &mut Findings) -> Option<String> {
    let chains = fields.flag("autoStartNextWorkflow", findings).unwrap_or(false);
    let next = fields.text("nextWorkflowId", ID_CHARS_MAX, findings).filter(|next| !next.is_empty());
    if chains && next.is_none() {
        findings.add_anonymous(root.at, "nextWorkflowId is needed: autoStartNextWorkflow is true");
    }
    if let Some(next) = next.as_deref().filter(|next| !is_id(next)) {
        findings.add_anonymous(root.at, format!("nextWorkflowId {} is no id of a workflow", crate::diagnostic::quoted(next)));
    }
    next.filter(|_| chains)
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-'))
}

fn draft(at: usize, id: &Arc<str>, name: Option<Arc<str>>, steps: Vec<step::Step>) -> Draft {
    let process = DraftElement { name, ..element(at, id.clone(), Kind::Process(Scope::default())) };
    let mut elements = vec![process, element(at, START.into(), Kind::StartEvent(None))];
    let mut flows = Vec::new();
    if let Some(first) = steps.first() {
        flow(&mut flows, at, START, (&first.id, Condition::None));
    }
    for step in steps {
        elements.push(DraftElement { name: step.name, ..element(step.at, step.id.clone(), step.kind) });
        for way in step.ways {
            flow(&mut flows, way.at, &step.id, (&way.to, way.condition));
        }
        for (index, boundary) in step.boundaries.into_iter().enumerate() {
            let id: Arc<str> = format!("{}#timer{}", step.id, index + 1).into();
            let event = element(boundary.at, id.clone(), Kind::BoundaryEvent(boundary.catch));
            elements.push(DraftElement { attached_to: Some(step.id.clone()), ..event });
            flow(&mut flows, boundary.at, &id, (&boundary.to, Condition::None));
        }
    }
    Draft { version_tag: None, elements, flows, order: FlowOrder::AsWritten, start_form: None }
}

fn flow(flows: &mut Vec<DraftFlow>, at: usize, source: &str, (target, condition): (&Arc<str>, Condition)) {
    let id = format!("#flow{}", flows.len() + 1).into();
    flows.push(DraftFlow { at, id, source: source.into(), target: target.clone(), condition });
}

fn element(at: usize, id: Arc<str>, kind: Kind) -> DraftElement {
    DraftElement { id, content: Content::Read(kind), ..DraftElement::bare(at) }
}

#[cfg(test)]
mod tests;
