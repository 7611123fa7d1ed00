//! BPMN 2.0 XML → processes.

mod association;
mod definitions;
mod element;
mod event;
mod extension;
mod flow;
mod listener;
mod repeat;
mod scope;
mod several;
mod site;
mod vocabulary;
mod workflow;

use model::Process;

use crate::diagnostic::{Diagnostic, Findings};
use crate::xml;

pub(crate) use definitions::ID_CHARS_MAX;
pub(crate) use vocabulary::{ZEEBE, is_id};
pub(crate) use workflow::CAUDAL;

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
    let text = xml::decode(content)?;
    let document = xml::parse(text)?;
    let mut findings = Findings::default();
    let processes = definitions::read(&document, &mut findings);
    if !findings.is_empty() {
        return Err(findings.diagnostics(text));
    }
    Ok(Compiled { processes })
}

#[cfg(test)]
mod tests;
