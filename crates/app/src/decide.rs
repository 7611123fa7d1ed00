//! `caudal decide`: evaluates a decision of a DMN file.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use engine::decision::{Evaluation, Subject, evaluate_with};
use model::Requirements;

use crate::feel::{now, variables};
use crate::table::print;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  caudal decide fees.dmn fee --variables '{\"amount\": 10}'\n  caudal decide fees.dmn fee --variables '{\"amount\": 10}' --quiet\n\nPrints every decision that was evaluated with its inputs and the rules that matched, then the result as JSON."
)]
pub(crate) struct Decide {
    /// The DMN file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Id or name of the decision; may be left out if there is only one
    #[arg(value_name = "DECISION")]
    decision: Option<String>,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    variables: String,
    /// Print the result only
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(options: &Decide) -> Result<(), String> {
    let file = options.file.display();
    let content = std::fs::read(&options.file).map_err(|error| format!("{file}: {error}"))?;
    let model = compile::dmn(&content).map_err(|diagnostics| {
        let lines: Vec<String> = diagnostics.iter().map(|diagnostic| format!("{file}: {diagnostic}")).collect();
        lines.join("\n")
    })?;
    let decision = chosen(&model, options.decision.as_deref())?;
    let mut warnings = Vec::new();
    let variables = variables("--variables", &options.variables)?;
    let evaluation = evaluate_with(&model, decision, &variables, &now(), &mut warnings);
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    if !options.quiet {
        print(&report(&model, &evaluation));
    }
    let value = evaluation.output.map_err(|failure| failure.reason)?;
    print(&format!("{}\n", value.to_json()));
    Ok(())
}

fn chosen(model: &Requirements, name: Option<&str>) -> Result<usize, String> {
    let known = || model.decisions.iter().map(|decision| &*decision.id).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => model.find(name).ok_or_else(|| format!("there is no decision '{name}'; there is: {}", known())),
        None if model.decisions.len() == 1 => Ok(0),
        None => Err(format!("name the decision to evaluate; there is: {}", known())),
    }
}

fn report(model: &Requirements, evaluation: &Evaluation) -> String {
    let mut out = String::new();
    for evaluated in &evaluation.decisions {
        let name = match evaluated.subject {
            Subject::Decision(index) => &model.decisions[index].name,
            Subject::Knowledge(index) => &model.knowledge[index].name,
        };
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes every text");
        line(format!("{name} = {}", evaluated.output.to_json()));
        for input in &evaluated.inputs {
            line(format!("  {} is {}", input.name, input.value.to_json()));
        }
        for rule in &evaluated.rules {
            let outputs = rule.outputs.iter().map(|output| format!("{} {}", output.name, output.value.to_json()));
            line(format!("  rule {} matches: {}", rule.index, outputs.collect::<Vec<_>>().join(", ")));
        }
    }
    out
}
