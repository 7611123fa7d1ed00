//! JSON workflows as BPMN, for people who want to look at them.

/// A workflow as BPMN XML with a drawing.
///
/// # Errors
/// Why it cannot be written as XML.
pub fn drawn(document: &[u8]) -> Result<String, String> {
    let process = compile::json(document).map_err(|diagnostics| diagnostics[0].to_string())?;
    compile::drawn(&process)
}
