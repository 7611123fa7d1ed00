//! Any bytes as a JSON workflow: refused with diagnostics or compiled, never a panic, and what compiled can be shown; drawn as BPMN it
//! compiles again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(process) = compile::json(bytes) {
        assert!(process.workflow.is_some());
        let _ = compile::print(&process);
        if let Ok(xml) = compile::drawn(&process) {
            let again = compile::bpmn(xml.as_bytes()).expect("what was drawn is right");
            assert_eq!(again.processes[0].elements.len(), process.elements.len());
        }
    }
});
