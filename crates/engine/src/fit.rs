//! What may become what in a migration: which element and flow is mapped to which, and whether what lives at the one can live at the other.

use std::collections::{BTreeMap, BTreeSet};

use model::{ElementIx, FlowIx, Kind, Process, Repeat, Trigger};

use crate::{ElementInstance, Migration, Rejected, element};

/// Which element and flow becomes which.
pub(crate) struct Map {
    pub(crate) elements: BTreeMap<ElementIx, ElementIx>,
    pub(crate) flows: BTreeMap<FlowIx, FlowIx>,
}

impl Map {
    pub(crate) fn new(source: &Process, migration: &Migration<'_>) -> Result<Self, Rejected> {
        let target = migration.process;
        let mut map = Self { elements: BTreeMap::from([(Process::ROOT, Process::ROOT)]), flows: BTreeMap::new() };
        let mut seen = BTreeSet::new();
        for (from, to) in migration.mappings {
            if !seen.insert(from) {
                return Err(invalid(format!("the source '{from}' is mapped more than once")));
            }
            let missing = || invalid(format!("there is no target element '{to}'"));
            if let Some(element) = source.find(from) {
                map.elements.insert(element, target.find(to).ok_or_else(missing)?);
            } else if let Some(flow) = find_flow(source, from) {
                map.flows.insert(flow, find_flow(target, to).ok_or_else(missing)?);
            } else {
                return Err(invalid(format!("there is no source element '{from}'")));
            }
        }
        // The runs of an ad-hoc sub-process go with it.
        let runs: Vec<_> =
            map.elements.iter().filter_map(|(from, to)| Some((run_of(source, *from)?, run_of(target, *to)?))).collect();
        map.elements.extend(runs);
        let parts: Vec<_> = map.elements.iter().flat_map(|(from, to)| parts_of((source, *from), (target, *to))).collect();
        map.elements.extend(parts);
        Ok(map)
    }
}

fn find_flow(process: &Process, id: &str) -> Option<FlowIx> {
    process.flows.iter().position(|flow| &*flow.id == id).map(|place| FlowIx(place as u32))
}

/// The definitions of an event go with it where the other has the same, in the same order.
fn parts_of((source, from): (&Process, ElementIx), (target, to): (&Process, ElementIx)) -> Vec<(ElementIx, ElementIx)> {
    let (Some(Trigger::Several(was)), Some(Trigger::Several(is))) = (source.catch(from), target.catch(to)) else {
        return Vec::new();
    };
    let type_of = |process: &Process, part| process.catch(part).map(std::mem::discriminant);
    let parts = was.parts.iter().copied().zip(is.parts.iter().copied());
    let is_same = was.parts.len() == is.parts.len() && parts.clone().all(|(was, is)| type_of(source, was) == type_of(target, is));
    if was.needed == is.needed && is_same { parts.collect() } else { Vec::new() }
}

fn run_of(process: &Process, ix: ElementIx) -> Option<ElementIx> {
    match &process.element(ix).kind {
        Kind::AdHoc(ad_hoc) => Some(ad_hoc.run),
        _ => None,
    }
}

/// What an element becomes: one of the same kind, in what the scope around it becomes.
pub(crate) fn check_mapped(source: &Process, target: &Process, map: &Map, from: ElementIx) -> Result<ElementIx, Rejected> {
    let was = source.element(from);
    let Some(to) = map.elements.get(&from).copied() else {
        return Err(unfit(format!("there is no mapping for the active element '{}'", was.id)));
    };
    let is = target.element(to);
    if !is_alike(&was.kind, &is.kind) {
        return Err(unfit(format!("the active element '{}' is mapped to '{}', which is of another type", was.id, is.id)));
    }
    if !repeats_alike(was.repeat.as_ref(), is.repeat.as_ref()) {
        return Err(unfit(format!("the active element '{}' is mapped to '{}', which repeats in another way", was.id, is.id)));
    }
    if map.elements.get(&was.scope) != Some(&is.scope) {
        let around = &target.element(is.scope).id;
        return Err(unfit(format!(
            "the active element '{}' is mapped to '{}' in '{around}', which is another scope",
            was.id, is.id
        )));
    }
    Ok(to)
}

/// A transaction that was cancelled is left by its cancel event.
pub(crate) fn check_cancelled(target: &Process, alive: &ElementInstance, to: ElementIx) -> Result<(), Rejected> {
    let is_left = || element::transaction::cancel_event(target, to).is_some();
    if !element::transaction::is_cancelled(alive) || is_left() {
        return Ok(());
    }
    Err(unfit(format!(
        "a transaction that was cancelled is mapped to '{}', which has no cancel boundary event",
        target.element(to).id
    )))
}

/// What lives at one can live at the other.
fn is_alike(was: &Kind, is: &Kind) -> bool {
    use std::mem::discriminant;
    discriminant(was) == discriminant(is)
        && match (was, is) {
            (Kind::JobTask(was), Kind::JobTask(is)) => was.flavour == is.flavour,
            (Kind::CatchEvent(was), Kind::CatchEvent(is)) => discriminant(was) == discriminant(is),
            (Kind::EndEvent(was), Kind::EndEvent(is)) => discriminant(was) == discriminant(is),
            (Kind::ThrowEvent(Some(was)), Kind::ThrowEvent(Some(is))) => discriminant(was) == discriminant(is),
            (Kind::ThrowEvent(was), Kind::ThrowEvent(is)) => was.is_some() == is.is_some(),
            _ => true,
        }
}

fn repeats_alike(was: Option<&Repeat>, is: Option<&Repeat>) -> bool {
    match (was, is) {
        (None, None) | (Some(Repeat::Loop(_)), Some(Repeat::Loop(_))) => true,
        (Some(Repeat::Each(was)), Some(Repeat::Each(is))) => was.order == is.order,
        (None | Some(Repeat::Each(_) | Repeat::Loop(_)), _) => false,
    }
}

/// An event of an active element becomes one of the same type at what the element becomes.
pub(crate) fn check_event(
    source: &Process,
    target: &Process,
    event: ElementIx,
    becomes: ElementIx,
    (element, there): (ElementIx, &[ElementIx]),
) -> Result<(), Rejected> {
    let (was, is) = (source.element(event), target.element(becomes));
    let type_of = |process: &Process, ix| process.catch(ix).map(std::mem::discriminant);
    let is_same = std::mem::discriminant(&was.kind) == std::mem::discriminant(&is.kind);
    if !is_same || type_of(source, event) != type_of(target, becomes) {
        return Err(unfit(format!("the event '{}' is mapped to '{}', which is of another type", was.id, is.id)));
    }
    if !there.contains(&becomes) {
        let id = &source.element(element).id;
        return Err(unfit(format!(
            "the event '{}' is mapped to '{}', which belongs to another element than what '{id}' becomes",
            was.id, is.id
        )));
    }
    Ok(())
}

fn invalid(reason: String) -> Rejected {
    Rejected::Invalid(reason.into())
}

pub(crate) fn unfit(reason: String) -> Rejected {
    Rejected::Unfit(reason.into())
}
