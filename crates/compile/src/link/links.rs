//! Link events: a throw event leads to the catch event of its name in its scope.

use std::collections::HashMap;

use model::Kind;

use crate::diagnostic::{Findings, quoted};
use crate::draft::Draft;

/// Where each link throw event leads.
pub(super) fn resolve(draft: &Draft, findings: &mut Findings) -> Vec<Option<usize>> {
    let mut catches: HashMap<(usize, &str), usize> = HashMap::new();
    for (index, element) in draft.elements.iter().enumerate() {
        let Some(Kind::LinkCatch(name)) = element.kind() else {
            continue;
        };
        if catches.insert((element.scope, name), index).is_some() {
            let reason = format!("another link catch event beside it has the name {} already", quoted(name));
            findings.add(element.at, &element.id, reason);
        }
    }
    let mut targets = vec![None; draft.elements.len()];
    for (index, element) in draft.elements.iter().enumerate() {
        let Some(Kind::LinkThrow(link)) = element.kind() else {
            continue;
        };
        targets[index] = catches.get(&(element.scope, &*link.name)).copied();
        if targets[index].is_none() {
            findings.add(element.at, &element.id, format!("there is no link catch event {} beside it", quoted(&link.name)));
        }
    }
    targets
}
