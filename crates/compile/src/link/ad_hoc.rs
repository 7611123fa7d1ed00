//! What can be started in an ad-hoc sub-process: known when all elements and flows are.

use std::sync::Arc;

use feel::{Context, FromAi, List, Value};
use model::{AdHoc, Element, ElementIx, Kind, Process};

use super::element_ix;
use crate::draft::About;

/// Fills in the runs and the entries of each; gives what is wrong with these.
pub(super) fn find(process: &mut Process, abouts: &[About]) -> Vec<(ElementIx, String)> {
    let mut wrong = Vec::new();
    for index in 0..process.elements.len() {
        if !matches!(process.elements[index].kind, Kind::AdHoc(_)) {
            continue;
        }
        let mut inside = process.elements[index + 1..].iter().zip(index + 1..);
        let run = inside.find(|(inner, _)| inner.scope == element_ix(index) && matches!(inner.kind, Kind::AdHocRun));
        let Some(run) = run.map(|(_, place)| element_ix(place)) else { continue };
        let entries = entries(process, run);
        let described = entries.iter().map(|ix| {
            let described = described(process.element(*ix), &abouts[ix.0 as usize]);
            described.unwrap_or_else(|reason| {
                wrong.push((*ix, reason));
                Value::Null
            })
        });
        let described = Value::List(List::from(described.collect::<Vec<_>>())).to_json().into();
        if let Kind::AdHoc(ad_hoc) = &mut process.elements[index].kind {
            *ad_hoc = AdHoc { run, entries, described, ..ad_hoc.clone() };
        }
    }
    wrong
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

/// What those who choose are told about one of them, without what nobody has said.
fn described(element: &Element, about: &About) -> Result<Value, String> {
    let text = |text: &Arc<str>| Value::String(text.clone());
    let mut facts: Vec<(Arc<str>, Value)> = vec![("elementId".into(), text(&element.id))];
    facts.extend(element.name.as_ref().map(|name| ("elementName".into(), text(name))));
    facts.extend(about.documentation.as_ref().map(|documentation| ("documentation".into(), text(documentation))));
    if !about.properties.is_empty() {
        let value = |value: &Option<Arc<str>>| value.as_ref().map_or(Value::Null, text);
        let properties: Vec<_> = about.properties.iter().map(|(name, given)| (name.clone(), value(given))).collect();
        facts.push(("properties".into(), Value::Context(Context::from(properties))));
    }
    let parameters = element.inputs.as_ref().map(feel::Expression::from_ai).transpose()?.unwrap_or_default();
    if !parameters.is_empty() {
        let parameters: Vec<_> = parameters.iter().map(parameter).collect();
        facts.push(("parameters".into(), Value::List(List::from(parameters))));
    }
    Ok(Value::Context(Context::from(facts)))
}

fn parameter(parameter: &FromAi) -> Value {
    let mut facts: Vec<(Arc<str>, Value)> = vec![("name".into(), Value::String(parameter.name.clone()))];
    facts.extend(parameter.facts.iter().map(|(name, value)| ((*name).into(), value.clone())));
    Value::Context(Context::from(facts))
}
