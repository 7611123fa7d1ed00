//! Who needs whom: no circle, and no chain so long that evaluating it would go too deep.

use std::collections::HashMap;
use std::sync::Arc;

use model::Requirements;
use model::decision::{Requirement, Target};

/// How many decisions may need each other in a row.
const CHAIN_MAX: usize = 200;

/// The ids of elements that need themselves or too long a chain, and why that is wrong.
pub(super) fn check(model: &Requirements) -> Vec<(Arc<str>, String)> {
    let mut walk = Walk { model, depths: HashMap::new(), wrong: Vec::new() };
    for index in 0..model.decisions.len() {
        walk.visit(Target::Decision(index));
    }
    for index in 0..model.knowledge.len() {
        walk.visit(Target::Knowledge(index));
    }
    for index in 0..model.services.len() {
        walk.visit(Target::Service(index));
    }
    walk.wrong
}

struct Walk<'a> {
    model: &'a Requirements,
    /// How long the longest chain below is; nothing while it is being found out.
    depths: HashMap<Target, Option<usize>>,
    wrong: Vec<(Arc<str>, String)>,
}

impl Walk<'_> {
    /// Depth first, with a stack of its own: chains may be as long as the file.
    fn visit(&mut self, start: Target) {
        let mut stack = vec![(start, false)];
        while let Some((target, done)) = stack.pop() {
            let needs = self.needs(target);
            if done {
                let depth = 1 + needs.iter().filter_map(|need| self.depths.get(need).copied().flatten()).max().unwrap_or(0);
                self.depths.insert(target, Some(depth));
                if depth == CHAIN_MAX + 1 {
                    let reason = format!("at most {CHAIN_MAX} decisions may need each other in a row");
                    self.wrong.push((self.id(target), reason));
                }
                continue;
            }
            if self.depths.contains_key(&target) {
                continue;
            }
            self.depths.insert(target, None);
            stack.push((target, true));
            for need in needs {
                match self.depths.get(&need) {
                    Some(Some(_)) => {}
                    Some(None) => self.wrong.push((self.id(target), format!("'{}' needs itself", self.id(need)))),
                    None => stack.push((need, false)),
                }
            }
        }
    }

    fn needs(&self, target: Target) -> Vec<Target> {
        let targets = |requires: &[Requirement]| requires.iter().map(|requirement| requirement.target).collect();
        match target {
            Target::Input(_) => Vec::new(),
            Target::Decision(index) => targets(&self.model.decisions[index].requires),
            Target::Knowledge(index) => targets(&self.model.knowledge[index].requires),
            Target::Service(index) => self.model.services[index].outputs.iter().map(|index| Target::Decision(*index)).collect(),
        }
    }

    fn id(&self, target: Target) -> Arc<str> {
        Arc::clone(match target {
            Target::Input(index) => &self.model.inputs[index].id,
            Target::Decision(index) => &self.model.decisions[index].id,
            Target::Knowledge(index) => &self.model.knowledge[index].id,
            Target::Service(index) => &self.model.services[index].id,
        })
    }
}
