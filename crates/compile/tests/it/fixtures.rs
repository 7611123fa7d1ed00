//! `spec/bpmn` and `spec/dmn`: each file beside what becomes of it, the process in text notation or the diagnostics. (What
//! decisions come to is tested where they are evaluated.)
//! `UPDATE_EXPECTED=1` writes what is expected anew.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn valid_files_compile_to_the_process_beside_them() {
    check("bpmn/valid", |content| {
        let compiled = compile::bpmn(content).unwrap_or_else(|diagnostics| panic!("refused: {diagnostics:#?}"));
        compiled.processes.iter().map(compile::print).collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn refused_files_give_the_diagnostics_beside_them() {
    check("bpmn/refused", |content| {
        let diagnostics = compile::bpmn(content).expect_err("the file ought to be refused");
        diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
    });
}

#[test]
fn refused_decisions_give_the_diagnostics_beside_them() {
    check("dmn/refused", |content| {
        let diagnostics = compile::dmn(content).expect_err("the file ought to be refused");
        diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
    });
}

#[test]
fn what_is_printed_of_a_valid_file_reads_back_the_same() {
    for file in files("bpmn/valid") {
        for process in compile::bpmn(&fs::read(&file).unwrap()).unwrap().processes {
            let printed = compile::print(&process);
            let again =
                compile::text(&printed).unwrap_or_else(|diagnostics| panic!("{}: {diagnostics:#?}\n{printed}", file.display()));
            assert_eq!(compile::print(&again), printed, "{}", file.display());
        }
    }
}

fn check(folder: &str, outcome: impl Fn(&[u8]) -> String) {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut wrong = Vec::new();
    let files = files(folder);
    assert!(!files.is_empty());
    for file in files {
        let outcome = outcome(&fs::read(&file).unwrap());
        let beside = file.with_extension("expected");
        if update {
            fs::write(&beside, &outcome).unwrap();
        } else if fs::read_to_string(&beside).unwrap_or_default() != outcome {
            wrong.push(format!("{}:\n{outcome}", beside.display()));
        }
    }
    assert!(wrong.is_empty(), "not as expected (UPDATE_EXPECTED=1 accepts):\n{}", wrong.join("\n"));
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "bpmn" || ending == "dmn")).collect();
    files.sort();
    files
}
