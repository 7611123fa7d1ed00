//! Any bytes as a JSON workflow: refused with diagnostics or compiled, never a panic, and what compiled can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(process) = compile::json(bytes) {
        assert!(process.workflow.is_some());
        let _ = compile::print(&process);
    }
});
