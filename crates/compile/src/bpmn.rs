//! BPMN 2.0 XML → processes.

mod association;
mod definitions;
mod element;
mod event;
mod extension;
mod flow;
mod repeat;
mod scope;
mod site;
mod vocabulary;

use model::Process;
use roxmltree::{Document, Node};

use crate::diagnostic::{Diagnostic, Findings};
use crate::xml;

pub(crate) use definitions::ID_CHARS_MAX;
pub(crate) use vocabulary::{ZEEBE, is_id};
use vocabulary::{boolean, bpmn_name};

/// What a BPMN file contains.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The executable processes in document order, at least one.
    pub processes: Vec<Process>,
}

/// Compiles a BPMN file: UTF-8, with or without a byte order mark. Processes that are not executable are skipped.
///
/// # Errors
/// Everything that is wrong with the file, in document order.
pub fn bpmn(content: &[u8]) -> Result<Compiled, Vec<Diagnostic>> {
    compiled(content, COMPENSATION_IS_STORED)
}

/// Whether stores keep what can be undone. Until they do, a restart would forget it, so it is not taken.
const COMPENSATION_IS_STORED: bool = false;

fn compiled(content: &[u8], compensation_is_stored: bool) -> Result<Compiled, Vec<Diagnostic>> {
    let text = xml::decode(content)?;
    let document = xml::parse(text)?;
    let mut findings = Findings::default();
    let processes = definitions::read(&document, &mut findings);
    if !compensation_is_stored {
        refuse_compensation(&document, &mut findings);
    }
    if !findings.is_empty() {
        return Err(findings.diagnostics(text));
    }
    Ok(Compiled { processes })
}

fn refuse_compensation(document: &Document<'_>, findings: &mut Findings) {
    let is_executed = |node: &Node<'_, '_>| node.attribute("isExecutable").and_then(boolean) == Some(true);
    for node in document.root_element().children().filter(is_executed).flat_map(|process| process.descendants()) {
        let is_handler = node.attribute("isForCompensation").and_then(boolean) == Some(true);
        let event = (bpmn_name(node) == Some("compensateEventDefinition")).then(|| node.parent()).flatten();
        let Some(element) = event.or(is_handler.then_some(node)) else { continue };
        let id = element.attribute("id").unwrap_or_default();
        findings.add(element.range().start, id, "compensation is not supported yet");
    }
}

#[cfg(test)]
mod tests;
