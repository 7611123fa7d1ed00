//! Runs `spec/dmn/valid/*.decisions` on the model beside each: commands, and what came of them. `UPDATE_DECISIONS=1` rewrites
//! what came of them.
//!
//! Commands: `> DECISION {…}` evaluates a decision, by id or name, as deployed; `standard> DECISION {…}` as the standard has
//! it; `service> SERVICE {…}` evaluates a decision service.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use engine::decision::{Evaluation, Subject, evaluate, evaluate_service};
use feel::{Context, Now, Value};
use model::Requirements;

#[test]
fn decisions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/dmn/valid");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "decisions"));
    files.sort();
    assert!(!files.is_empty());
    let mut failures = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let played = play(&source, &file.with_extension("dmn"));
        if played == source {
            continue;
        }
        if std::env::var_os("UPDATE_DECISIONS").is_some() {
            fs::write(&file, played).unwrap();
        } else {
            failures.push(format!("{}\n--- written ---\n{source}\n--- happened ---\n{played}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The same text with what comes of the commands now.
fn play(source: &str, model: &Path) -> String {
    let content = fs::read(model).unwrap();
    let deployed = compile::dmn(&content).unwrap_or_else(|found| panic!("{}: {found:#?}", model.display()));
    let standard = compile::dmn_standard(&content, &[]).unwrap_or_else(|found| panic!("{}: {found:#?}", model.display()));
    let sentence = source.lines().next().unwrap();
    assert!(sentence.starts_with("# "), "{}: the first line says in a sentence what it shows", model.display());
    let mut played = format!("{sentence}\n");
    for line in source.lines() {
        let Some((kind, command)) = line.split_once("> ").filter(|(kind, _)| ["", "standard", "service"].contains(kind)) else {
            continue;
        };
        let (name, json) = command.split_at(command.find('{').unwrap());
        let variables = Value::from_json(json).unwrap().as_context().unwrap().clone();
        let requirements = if kind == "standard" { &standard } else { &deployed };
        let evaluation = run(requirements, kind, name.trim(), &variables);
        write!(played, "\n{line}\n{}", render(requirements, &evaluation)).unwrap();
    }
    played
}

fn run(model: &Requirements, kind: &str, name: &str, variables: &Context) -> Evaluation {
    let now = Now::utc(0);
    if kind == "service" {
        let service = model.services.iter().position(|service| &*service.name == name).unwrap();
        return evaluate_service(model, service, variables, &now);
    }
    let decision = model.find(name).unwrap_or_else(|| panic!("there is no decision '{name}'"));
    evaluate(model, decision, variables, &now)
}

fn render(model: &Requirements, evaluation: &Evaluation) -> String {
    let mut out = String::new();
    for evaluated in &evaluation.decisions {
        let id = match evaluated.subject {
            Subject::Decision(index) => &model.decisions[index].id,
            Subject::Knowledge(index) => &model.knowledge[index].id,
        };
        writeln!(out, "  {id} = {}", evaluated.output.to_json()).unwrap();
        for input in &evaluated.inputs {
            writeln!(out, "    {} {} is {}", input.id, input.name, input.value.to_json()).unwrap();
        }
        for rule in &evaluated.rules {
            let outputs: Vec<String> = rule.outputs.iter().map(|o| format!("{} {}", o.name, o.value.to_json())).collect();
            writeln!(out, "    rule {} {}: {}", rule.index, rule.id, outputs.join(", ")).unwrap();
        }
    }
    match &evaluation.output {
        Ok(value) => writeln!(out, "{}", value.to_json()).unwrap(),
        Err(failure) => writeln!(out, "fails in {}: {}", model.decisions[failure.decision].id, failure.reason).unwrap(),
    }
    out
}
