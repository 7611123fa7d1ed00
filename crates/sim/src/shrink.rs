//! A failing plan made as small as it still fails, and what of its history matters.

use std::sync::Arc;

use host::Metrics;

use crate::plan::Plan;
use crate::story::{Recording, play};
use crate::world::Report;

/// Plays spent on making one plan smaller.
const PLAYS_MAX: usize = 400;

/// Lines of a shortened history.
const LINES_MAX: usize = 80;

/// Turns faults off and takes people away as long as the same invariant breaks.
pub fn shrink(plan: &Plan, metrics: &Arc<Metrics>) -> Plan {
    let broken = |plan: &Plan| play(plan, Recording::Off, metrics).violation.map(|violation| violation.invariant);
    let (mut best, invariant) = (plan.clone(), broken(plan));
    let mut plays = 0;
    'smaller: loop {
        for candidate in smaller(&best) {
            plays += 1;
            if PLAYS_MAX < plays {
                return best;
            }
            if broken(&candidate) == invariant {
                best = candidate;
                continue 'smaller;
            }
        }
        return best;
    }
}

fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut candidates: Vec<Plan> = Vec::new();
    let fewer = |count: usize, least: usize| {
        [least, count / 2, count.saturating_sub(1)].into_iter().filter(move |n| least <= *n && *n < count)
    };
    candidates.extend(fewer(plan.acts, 1).map(|acts| Plan { acts, ..plan.clone() }));
    candidates.extend(fewer(plan.clients, 1).map(|clients| Plan { clients, ..plan.clone() }));
    candidates.extend(fewer(plan.workers, 0).map(|workers| Plan { workers, ..plan.clone() }));
    candidates.extend(plan.faults.iter().map(|fault| Plan { faults: plan.faults.without(fault), ..plan.clone() }));
    candidates.extend(fewer(plan.followers, 0).map(|followers| Plan { followers, ..plan.clone() }));
    candidates.extend(fewer(plan.engines, 1).map(|engines| Plan { engines, ..plan.clone() }));
    candidates.extend(fewer(plan.processes, 1).map(|processes| Plan { processes, ..plan.clone() }));
    candidates.extend(fewer(plan.job_types, 1).map(|job_types| Plan { job_types, ..plan.clone() }));
    candidates.extend(fewer(plan.waits, 0).map(|waits| Plan { waits, ..plan.clone() }));
    candidates.extend(fewer(plan.operators, 0).map(|operators| Plan { operators, ..plan.clone() }));
    candidates.extend(fewer(plan.queues, 0).map(|queues| Plan { queues, ..plan.clone() }));
    candidates
}

/// The lines that name what the violation names, and the last ones before it.
pub fn relevant(report: &Report) -> Vec<&str> {
    let Some(violation) = &report.violation else { return Vec::new() };
    let words = violation.what.split(|c: char| !c.is_ascii_alphanumeric());
    let names: Vec<&str> = words.filter(|word| 2 <= word.len() && word.contains(|c: char| c.is_ascii_digit())).collect();
    let end = report.history.iter().position(|line| line.contains("is broken")).map_or(report.history.len(), |at| at + 1);
    let tail = end.saturating_sub(LINES_MAX / 4);
    let lines = report.history[..end].iter().enumerate();
    let named = |line: &str| line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| names.contains(&word));
    let mut kept: Vec<&str> = lines.filter(|(at, line)| tail <= *at || named(line)).map(|(_, line)| line.as_str()).collect();
    kept.split_off(kept.len().saturating_sub(LINES_MAX))
}
