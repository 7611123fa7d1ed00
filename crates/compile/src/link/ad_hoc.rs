//! What can be started in an ad-hoc sub-process: known when all elements and flows are.

use std::sync::Arc;

use feel::{Context, List, Value};
use model::{AdHoc, ElementIx, Kind, Process};

use super::element_ix;

/// Fills in the runs and the entries of each.
pub(super) fn find(process: &mut Process) {
    for index in 0..process.elements.len() {
        if !matches!(process.elements[index].kind, Kind::AdHoc(_)) {
            continue;
        }
        let mut inside = process.elements[index + 1..].iter().zip(index + 1..);
        let run = inside.find(|(inner, _)| inner.scope == element_ix(index) && matches!(inner.kind, Kind::AdHocRun));
        let Some(run) = run.map(|(_, place)| element_ix(place)) else { continue };
        let entries = entries(process, run);
        let described = described(process, &entries);
        if let Kind::AdHoc(ad_hoc) = &mut process.elements[index].kind {
            *ad_hoc = AdHoc { run, entries, described, ..ad_hoc.clone() };
        }
    }
}

/// Activities that no flow leads to, in the order of the document.
fn entries(process: &Process, run: ElementIx) -> Vec<ElementIx> {
    let inside = process.elements.iter().enumerate().filter(|(_, element)| element.scope == run);
    let handlers = process.elements.iter().filter_map(|element| match &element.kind {
        Kind::CompensationBoundary(compensated) => Some(compensated.handler),
        _ => None,
    });
    let handlers: Vec<_> = handlers.collect();
    let entered = inside.filter(|(index, element)| {
        let other = matches!(
            element.kind,
            Kind::BoundaryEvent(_) | Kind::CompensationBoundary(_) | Kind::LinkCatch(_) | Kind::EventPart(_)
        );
        element.incoming.is_empty() && !other && !handlers.contains(&element_ix(*index))
    });
    entered.map(|(index, _)| element_ix(index)).collect()
}

fn described(process: &Process, entries: &[ElementIx]) -> Arc<str> {
    let one = |ix: &ElementIx| {
        let element = process.element(*ix);
        let mut entries: Vec<(Arc<str>, Value)> = vec![("elementId".into(), Value::String(element.id.clone()))];
        entries.extend(element.name.as_ref().map(|name| ("elementName".into(), Value::String(name.clone()))));
        Value::Context(Context::from(entries))
    };
    let entries: Vec<_> = entries.iter().map(one).collect();
    Value::List(List::from(entries)).to_json().into()
}
