//! What only all steps together can tell: references that lead somewhere, steps that are reached, an end.

use std::collections::HashMap;

use model::Kind;

use super::step::Step;
use crate::diagnostic::{Findings, quoted};

pub(super) fn check(steps: &[Step], findings: &mut Findings) {
    let by_id: HashMap<&str, usize> = steps.iter().enumerate().map(|(index, step)| (&*step.id, index)).collect();
    references(steps, &by_id, findings);
    if steps.is_empty() {
        return;
    }
    let reached = reached(steps, &by_id);
    for (step, _) in steps.iter().zip(&reached).filter(|(_, reached)| !**reached) {
        findings.add(step.at, &step.id, "no way leads from the first step to this one");
    }
    let ends = |(step, reached): (&Step, &bool)| *reached && matches!(step.kind, Kind::EndEvent(_));
    if !steps.iter().zip(&reached).any(ends) {
        findings.add_anonymous(steps[0].at, "no END is reached from the first step: at least one is needed");
    }
}

fn references(steps: &[Step], by_id: &HashMap<&str, usize>, findings: &mut Findings) {
    for step in steps {
        let ways = step.ways.iter().chain(&step.join).map(|way| (way.at, way.field, &way.to));
        let timers = step.boundaries.iter().map(|boundary| (boundary.at, "targetStepId", &boundary.to));
        for (at, field, to) in ways.chain(timers) {
            if !to.is_empty() && !by_id.contains_key(&**to) {
                findings.add(at, &step.id, format!("{field} names {}, which is no step", quoted(to)));
            }
        }
        if let Some(join) = step.join.as_ref().and_then(|way| by_id.get(&*way.to))
            && !matches!(steps[*join].kind, Kind::InclusiveGateway(_))
        {
            let reason = format!("joinStep names {}, which is no JOIN_GATEWAY", quoted(&steps[*join].id));
            findings.add(step.at, &step.id, reason);
        }
    }
}

fn reached(steps: &[Step], by_id: &HashMap<&str, usize>) -> Vec<bool> {
    let mut reached = vec![false; steps.len()];
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        if std::mem::replace(&mut reached[index], true) {
            continue;
        }
        let step = &steps[index];
        let ways = step.ways.iter().map(|way| &way.to).chain(step.boundaries.iter().map(|boundary| &boundary.to));
        open.extend(ways.filter_map(|to| by_id.get(&**to).copied()));
    }
    reached
}
