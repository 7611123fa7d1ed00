//! Evaluating decisions: variables in, a value out, and a report of how it came about.
//!
//! Reading order: [`evaluate`] and [`Evaluation`], then `graph` (what is required comes first), `logic` (boxed expressions),
//! `table` and `hit_policy`, `function` (knowledge models and services as functions), `conform` (declared types).
//!
//! What holds:
//! - the same model, variables and time give the same evaluation;
//! - everything one evaluation does, functions and required decisions included, draws from one [`feel::Budget`], which its
//!   caller may share with other evaluations;
//! - a failure names the decision it happened in; what was evaluated until then is reported.

mod conform;
mod function;
mod graph;
mod hit_policy;
mod iterate;
mod logic;
mod report;
mod scope;
mod table;

use std::sync::Arc;

use feel::{Budget, Context, Limit, Now, Value, Warning};
use model::Requirements;

use report::{Report, Warnings};

/// Beyond this, calls of functions and decisions needed once more are evaluated, but no longer reported.
pub const REPORTED_MAX: usize = 1_000;

/// What came of a decision.
#[derive(Debug, Clone)]
pub struct Evaluation {
    pub output: Result<Value, Failure>,
    /// Every decision and knowledge model in the order they were evaluated, the decision itself last; one that is needed
    /// twice is listed twice. In case of failure the last is the one that failed.
    pub decisions: Vec<Evaluated>,
}

/// Why there is no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Index into [`Requirements::decisions`]: the one that failed, maybe not the one asked for.
    pub decision: usize,
    /// For a person; names the decision.
    pub reason: String,
    /// Which limit was reached, if it was that and nothing wrong with the decision or the variables.
    pub limit: Option<Limit>,
}

/// One decision or knowledge model, evaluated once.
#[derive(Debug, Clone)]
pub struct Evaluated {
    pub subject: Subject,
    pub output: Value,
    /// Of a decision table.
    pub inputs: Vec<Input>,
    /// Of a decision table: the rules that matched, in their order.
    pub rules: Vec<Matched>,
}

/// What was evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Index into [`Requirements::decisions`].
    Decision(usize),
    /// Index into [`Requirements::knowledge`].
    Knowledge(usize),
}

#[derive(Debug, Clone)]
pub struct Input {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub struct Matched {
    pub id: Arc<str>,
    /// From 1.
    pub index: usize,
    pub outputs: Vec<Output>,
}

#[derive(Debug, Clone)]
pub struct Output {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub value: Value,
}

/// What an evaluation works with.
pub(crate) struct Run<'r> {
    model: &'r Requirements,
    now: &'r Now,
    budget: &'r mut Budget,
    report: &'r Report,
}

/// Evaluates a decision, given by its index in [`Requirements::decisions`].
///
/// # Panics
/// If there is no such decision.
pub fn evaluate(model: &Requirements, decision: usize, variables: &Context, now: &Now) -> Evaluation {
    evaluate_within(model, decision, variables, now, &mut Budget::default())
}

/// Evaluates a decision on what is left of a budget, as part of something larger.
///
/// # Panics
/// If there is no such decision.
pub fn evaluate_within(model: &Requirements, decision: usize, variables: &Context, now: &Now, budget: &mut Budget) -> Evaluation {
    run(model, now, Warnings::Unwanted, budget, |run| run.outermost(decision, variables)).0
}

/// Evaluates a decision and tells what its expressions tolerated on the way.
///
/// # Panics
/// If there is no such decision.
pub fn evaluate_with(
    model: &Requirements,
    decision: usize,
    variables: &Context,
    now: &Now,
    warnings: &mut Vec<Warning>,
) -> Evaluation {
    let (evaluation, found) = run(model, now, Warnings::Wanted, &mut Budget::default(), |run| run.outermost(decision, variables));
    warnings.extend(found);
    evaluation
}

/// Evaluates a decision service, given by its index in [`Requirements::services`], with its inputs as variables.
///
/// # Panics
/// If there is no such service.
pub fn evaluate_service(model: &Requirements, service: usize, variables: &Context, now: &Now) -> Evaluation {
    run(model, now, Warnings::Unwanted, &mut Budget::default(), |run| run.outermost_service(service, variables)).0
}

fn run(
    model: &Requirements,
    now: &Now,
    warnings: Warnings,
    budget: &mut Budget,
    decide: impl FnOnce(&mut Run<'_>) -> Result<Value, Failure>,
) -> (Evaluation, Vec<Warning>) {
    let report = Report::new(warnings);
    let output = budget.level(|budget| decide(&mut Run { model, now, budget, report: &report }));
    let (decisions, warnings) = report.take();
    (Evaluation { output, decisions }, warnings)
}
