//! What lies inside a process or a sub-process: flow nodes, flows, and things nobody executes.

use model::{Kind, Scope, StartForm, Workflow};
use roxmltree::Node;

use super::site::{Roots, Site};
use super::vocabulary::{PASSIVE_CHILDREN, PASSIVE_IN_SCOPE, bpmn_name, words};
use super::{association, element, extension, flow, listener, repeat, workflow};
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Draft, FlowOrder};

/// The draft of a process. Nothing, if it has no id.
pub(super) fn process<'a, 'input>(
    node: Node<'a, 'input>,
    roots: &'a Roots<'a, 'input>,
    findings: &mut Findings,
) -> Option<(Draft, Option<Workflow>)> {
    let Some(id) = node.attribute("id").filter(|id| !id.is_empty()) else {
        findings.add_anonymous(node.range().start, "the process needs an id");
        return None;
    };
    let mut site = Site { node, id, words: "process", scope: 0, roots, findings };
    extension::check(&mut site);
    let tag = extension::only(&mut site, "versionTag").and_then(|tag| tag.attribute("value")).filter(|tag| !tag.is_empty());
    let mut root = site.element(Some(Kind::Process(Scope::default())));
    // Mappings on a process have no effect.
    root.inputs = None;
    root.outputs = None;
    root.listeners = listener::read(&mut site);
    let workflow = workflow::read(&site);
    // The branches of a workflow's decision are looked at as they are written.
    let order = if workflow.is_some() { FlowOrder::AsWritten } else { FlowOrder::Reversed };
    let (version_tag, flows) = (tag.map(Into::into), Vec::new());
    let mut draft = Draft { version_tag, elements: vec![root], flows, order, start_form: None };
    contents(node, 0, roots, &mut draft, findings);
    association::handlers(node, &mut draft, findings);
    workflow::finish(node, workflow.as_ref(), &mut draft, findings);
    Some((draft, workflow))
}

/// The form that a start event names; those that other programs know are theirs to show.
fn start_form(site: &mut Site<'_, '_, '_>) -> Option<StartForm> {
    let node = extension::only(site, "formDefinition")?;
    let id = node.attribute("formId").filter(|id| !id.trim().is_empty())?;
    let binding = extension::binding(node);
    Some(StartForm { id: id.into(), binding: site.note(node, binding)? })
}

/// Reads what `node` contains as the contents of the element with index `scope`. The nesting of sub-processes ends with
/// the nesting of XML.
fn contents<'a, 'input>(
    node: Node<'a, 'input>,
    scope: usize,
    roots: &'a Roots<'a, 'input>,
    draft: &mut Draft,
    findings: &mut Findings,
) {
    for child in node.children().filter(Node::is_element) {
        let at = child.range().start;
        let Some(name) = bpmn_name(child) else {
            let name = quoted(child.tag_name().name());
            findings.add_anonymous(at, format!("element {name} of another namespace must stand inside extensionElements"));
            continue;
        };
        if PASSIVE_CHILDREN.contains(&name) || PASSIVE_IN_SCOPE.contains(&name) || !is_content(name, scope) {
            continue;
        }
        if name == "sequenceFlow" {
            draft.flows.extend(flow::read(child, draft.flows.len(), findings));
            continue;
        }
        let Some(words) = words(name) else {
            findings.add_anonymous(at, format!("BPMN has no element {} here", quoted(name)));
            continue;
        };
        let Some(id) = child.attribute("id").filter(|id| !id.is_empty()) else {
            findings.add_anonymous(at, format!("the {words} needs an id"));
            continue;
        };
        if name == "startEvent" && scope == 0 {
            draft.start_form =
                start_form(&mut Site { node: child, id, words, scope, roots, findings }).or(draft.start_form.take());
        }
        let mut element = element::read(Site { node: child, id, words, scope, roots, findings });
        if let (Some(Kind::EventSubProcess(_)), Some(Kind::AdHocRun)) = (element.kind(), draft.elements[scope].kind()) {
            element.scope = draft.elements[scope].scope;
        }
        let inner = matches!(
            element.kind(),
            Some(Kind::SubProcess(_) | Kind::Transaction(_) | Kind::EventSubProcess(_) | Kind::AdHoc(_))
        );
        let run = matches!(element.kind(), Some(Kind::AdHoc(_))).then(|| element.run(draft.elements.len()));
        draft.elements.push(element);
        draft.elements.extend(run);
        if inner {
            contents(child, draft.elements.len() - 1, roots, draft, findings);
        }
    }
}

/// Markers of a sub-process are its own, not its contents.
fn is_content(name: &str, scope: usize) -> bool {
    scope == 0 || !(repeat::is_marker(name) || name == repeat::COMPLETION)
}
