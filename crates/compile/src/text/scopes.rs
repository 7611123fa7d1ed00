//! What lies inside what: a sub-process contains whatever can be reached from its first element.

use std::collections::HashMap;

use model::Kind;

use super::element::WrittenElement;
use crate::diagnostic::{Findings, quoted};
use crate::draft::{DraftElement, DraftFlow};

/// The elements with their scopes known, each behind the scope it lies in.
pub(super) fn arrange(written: Vec<WrittenElement>, flows: &[DraftFlow], findings: &mut Findings) -> Vec<DraftElement> {
    let scopes = scopes(&written, flows, findings);
    let order = outermost_first(&scopes, &written, findings);
    let mut place = vec![0; written.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new;
    }
    let mut elements: Vec<Option<DraftElement>> = written.into_iter().map(|written| Some(written.element)).collect();
    let mut arranged = Vec::with_capacity(elements.len());
    for old in order {
        let mut element = elements[old].take().expect("every element has one place");
        // A scope inside itself has been complained about; it must only not confuse what follows.
        element.scope = if place[scopes[old]] < place[old] { place[scopes[old]] } else { 0 };
        arranged.push(element);
    }
    arranged
}

/// The scope of each element, by index: as named, otherwise as reached, otherwise the process.
fn scopes(written: &[WrittenElement], flows: &[DraftFlow], findings: &mut Findings) -> Vec<usize> {
    let ids = written.iter().enumerate().map(|(index, written)| (&*written.element.id, index));
    let ids: HashMap<&str, usize> = ids.collect();
    let next = neighbours(written, flows, &ids);
    let mut find = |asking: &DraftElement, what: &str, id: &str| {
        let found = ids.get(id).copied();
        if found.is_none() {
            findings.add(asking.at, &asking.id, format!("the {what} {} does not exist", quoted(id)));
        }
        found
    };
    let named = |written: &WrittenElement| find(&written.element, "scope", written.scope.as_deref()?);
    let mut scopes: Vec<Option<usize>> = written.iter().map(named).collect();
    let firsts = written.iter().map(|owner| find(&owner.element, "first element", owner.first.as_deref()?));
    let firsts: Vec<Option<usize>> = firsts.collect();
    for (owner, first) in firsts.into_iter().enumerate() {
        let mut open = Vec::from_iter(first);
        while let Some(index) = open.pop() {
            match scopes[index] {
                None => {
                    scopes[index] = Some(owner);
                    open.extend(&next[index]);
                }
                Some(other) if other != owner && written[index].scope.is_none() => {
                    let owners = [other, owner].map(|owner| quoted(&written[owner].element.id));
                    let reason = format!("it can be reached from inside {} and from inside {}", owners[0], owners[1]);
                    findings.add(written[index].element.at, &written[index].element.id, reason);
                }
                Some(_) => {}
            }
        }
    }
    scopes.into_iter().map(|scope| scope.unwrap_or(0)).collect()
}

/// For each element the targets of its flows, the boundary events on it, and the handler of a compensation boundary event.
fn neighbours(written: &[WrittenElement], flows: &[DraftFlow], ids: &HashMap<&str, usize>) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); written.len()];
    for flow in flows {
        if let (Some(source), Some(target)) = (ids.get(&*flow.source), ids.get(&*flow.target)) {
            next[*source].push(*target);
        }
    }
    for (index, WrittenElement { element, .. }) in written.iter().enumerate() {
        if let Some(activity) = element.attached_to.as_deref().and_then(|id| ids.get(id)) {
            next[*activity].push(index);
        }
        if let (Some(Kind::CompensationBoundary(_)), Some(handler)) = (element.kind(), &element.compensation) {
            next[index].extend(ids.get(&**handler));
        }
    }
    next
}

/// The indices in the order written, except that a scope comes before what it contains.
fn outermost_first(scopes: &[usize], written: &[WrittenElement], findings: &mut Findings) -> Vec<usize> {
    let mut placed = vec![false; scopes.len()];
    let mut order = Vec::with_capacity(scopes.len());
    let mut on_the_way = vec![false; scopes.len()];
    for index in 0..scopes.len() {
        let mut way = Vec::new();
        let mut outer = index;
        while !placed[outer] && !on_the_way[outer] {
            on_the_way[outer] = true;
            way.push(outer);
            outer = scopes[outer];
        }
        if 0 < outer && !placed[outer] {
            let element = &written[outer].element;
            findings.add(element.at, &element.id, "the sub-process contains itself");
        }
        for index in way.into_iter().rev() {
            placed[index] = true;
            order.push(index);
        }
    }
    order
}
