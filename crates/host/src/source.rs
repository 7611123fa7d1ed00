//! Which files hold processes, by their names.

use compile::Diagnostic;
use model::Process;

/// Whether a file of this name holds processes.
pub(crate) fn holds_processes(name: &str) -> bool {
    name.ends_with(".bpmn") || name.ends_with(".xml") || is_workflow(name) || is_notation(name)
}

/// The processes of such a file.
pub(crate) fn processes(name: &str, content: &[u8]) -> Result<Vec<Process>, Vec<Diagnostic>> {
    if is_workflow(name) {
        return compile::json(content).map(|process| vec![process]);
    }
    match is_notation(name) {
        true => compile::text(&String::from_utf8_lossy(content)).map(|process| vec![process]),
        false => compile::bpmn(content).map(|compiled| compiled.processes),
    }
}

/// A JSON workflow.
fn is_workflow(name: &str) -> bool {
    name.ends_with(".json")
}

/// The text notation of traces, which is for tests alone.
fn is_notation(name: &str) -> bool {
    cfg!(feature = "notation") && name.ends_with(".notation")
}
