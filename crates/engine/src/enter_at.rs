//! Entering an element anywhere: inside the scopes it belongs to, of which those that do not live yet come into being.
//!
//! A scope made this way begins without its start event and without its input mappings; what waits on it and inside it waits.

use std::collections::BTreeMap;

use model::{Catch, ElementIx, Kind, Process};

use crate::step::Run;
use crate::{Document, ElementKey, Event, Phase, Rejected, element};

/// Where to enter, and with what.
pub(crate) struct Entry<'a> {
    pub(crate) element: ElementIx,
    /// An element instance around it: what lies between the two is made anew.
    pub(crate) ancestor: Option<ElementKey>,
    /// For the element and the scopes around it, whether they are new or not.
    pub(crate) variables: &'a [(ElementIx, Document)],
}

/// The instances of scopes, by what is around them and what they are instances of: of many entries none looks through all that lives.
pub(crate) struct Scopes(BTreeMap<(ElementKey, ElementIx), Vec<ElementKey>>);

impl Scopes {
    pub(crate) fn of(run: &Run<'_>) -> Self {
        let mut scopes = BTreeMap::<_, Vec<_>>::new();
        for (key, alive) in &run.instance.elements {
            if is_scope(&run.process.element(alive.element).kind) {
                scopes.entry((alive.scope, alive.element)).or_default().push(*key);
            }
        }
        Self(scopes)
    }

    fn inside(&self, scope: ElementKey, place: ElementIx) -> &[ElementKey] {
        self.0.get(&(scope, place)).map(Vec::as_slice).unwrap_or_default()
    }
}

fn is_scope(kind: &Kind) -> bool {
    matches!(kind, Kind::SubProcess(_) | Kind::Transaction(_) | Kind::EventSubProcess(_) | Kind::AdHoc(_) | Kind::AdHocRun)
}

/// Enters the element; it is activated in its turn. Gives the scopes it lies in, the outermost first.
pub(crate) fn enter_at(run: &mut Run<'_>, living: &mut Scopes, entry: &Entry<'_>) -> Result<Vec<ElementKey>, Rejected> {
    let root = run.instance.key.root();
    let mut scopes = vec![root];
    check_open(run, root, entry.element)?;
    put_variables(run, root, Process::ROOT, entry);
    for place in around(run.process, entry.element).into_iter().rev() {
        let scope = *scopes.last().expect("the process itself is the first");
        if let Some(found) = reached(run, living, (scope, place), entry)? {
            check_open(run, found, entry.element)?;
            scopes.push(found);
            put_variables(run, found, place, entry);
        } else {
            scopes.push(make(run, living, (scope, place), entry)?);
            continue;
        }
        // The work of a repeated activity is done inside its body.
        if run.process.element(place).repeat.is_some() {
            let body = scopes[scopes.len() - 1];
            let inner = reached(run, living, (body, place), entry)?.ok_or_else(|| repeated(run, place))?;
            check_open(run, inner, entry.element)?;
            scopes.push(inner);
            put_variables(run, inner, place, entry);
        }
    }
    let scope = *scopes.last().expect("the process itself is the first");
    check_not_interrupted(run, living, scope, entry.element)?;
    let key = ElementKey(run.keys.take());
    if is_scope(&run.process.element(entry.element).kind) {
        living.0.entry((scope, entry.element)).or_default().push(key);
    }
    run.come_in(key, entry.element, scope);
    put_variables(run, key, entry.element, entry);
    run.activate_later(key);
    Ok(scopes)
}

/// Whether an element can be entered where no flow leads.
pub(crate) fn check_can_be_entered(process: &Process, ix: ElementIx) -> Result<(), Rejected> {
    let element = process.element(ix);
    let what = match element.kind {
        Kind::StartEvent(_) => "a start event",
        Kind::BoundaryEvent(_) | Kind::CompensationBoundary(_) => "a boundary event",
        Kind::Process(_) => "the process itself",
        Kind::AdHocRun => "a run of an ad-hoc sub-process",
        Kind::EventPart(_) => "a part of an event",
        Kind::CatchEvent(_) | Kind::ReceiveTask(_) if is_behind_event_gateway(process, ix) => "behind an event-based gateway",
        Kind::SubProcess(_)
        | Kind::Transaction(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
        | Kind::EndEvent(_)
        | Kind::ThrowEvent(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::EventGateway
        | Kind::SendTask(_)
        | Kind::CallActivity(_)
        | Kind::PassTask(_)
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::ScriptTask(_)
        | Kind::Transformation(_)
        | Kind::Wait
        | Kind::DecisionTask(_)
        | Kind::LinkThrow(_)
        | Kind::LinkCatch(_)
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_)
        | Kind::ComplexGateway(_) => return Ok(()),
    };
    Err(Rejected::Invalid(format!("'{}' cannot be entered by itself: it is {what}", element.id).into()))
}

fn is_behind_event_gateway(process: &Process, ix: ElementIx) -> bool {
    let mut sources = process.element(ix).incoming.iter().map(|flow| process.flow(*flow).source);
    sources.any(|source| matches!(process.element(source).kind, Kind::EventGateway))
}

/// The scopes around an element but for the process itself, the innermost first.
pub(crate) fn around(process: &Process, element: ElementIx) -> Vec<ElementIx> {
    let outward = std::iter::successors(Some(process.element(element).scope), |ix| Some(process.element(*ix).scope));
    outward.take_while(|ix| *ix != Process::ROOT).collect()
}

/// An element instance and those around it.
pub(crate) fn outward<'r>(run: &'r Run<'_>, key: ElementKey) -> impl Iterator<Item = ElementKey> + 'r {
    std::iter::successors(Some(key), |key| {
        let scope = run.instance.elements.get(key)?.scope;
        (scope != *key).then_some(scope)
    })
}

/// The instance of a scope to go into; none if a new one is wanted.
fn reached(
    run: &Run<'_>,
    living: &Scopes,
    (scope, place): (ElementKey, ElementIx),
    entry: &Entry<'_>,
) -> Result<Option<ElementKey>, Rejected> {
    if let (Kind::AdHocRun, None) = (&run.process.element(place).kind, entry.ancestor) {
        // What a run gives is its own: what is begun in an ad-hoc sub-process has one for itself.
        return Ok(None);
    }
    match (entry.ancestor, living.inside(scope, place)) {
        (Some(ancestor), _) => Ok(outward(run, ancestor).find(|key| {
            let alive = &run.instance.elements[key];
            *key != scope && (alive.scope, alive.element) == (scope, place)
        })),
        (None, []) => Ok(None),
        (None, [one]) => Ok(Some(*one)),
        (None, _) => Err(invalid(format!(
            "'{}' cannot be entered without saying where: '{}' has more than one active instance; name an ancestor element instance",
            run.process.element(entry.element).id,
            run.process.element(place).id
        ))),
    }
}

/// A new instance of a scope, with nothing inside it.
fn make(
    run: &mut Run<'_>,
    living: &mut Scopes,
    (scope, place): (ElementKey, ElementIx),
    entry: &Entry<'_>,
) -> Result<ElementKey, Rejected> {
    let process = run.process;
    let element = process.element(place);
    if element.repeat.is_some() {
        return Err(repeated(run, place));
    }
    check_not_interrupted(run, living, scope, place)?;
    let key = ElementKey(run.keys.take());
    living.0.entry((scope, place)).or_default().push(key);
    run.emit(Event::Entered { key, element: place, scope });
    put_variables(run, key, place, entry);
    let opened = match &element.kind {
        Kind::AdHoc(ad_hoc) => element::ad_hoc::open(run, key, ad_hoc),
        Kind::AdHocRun => {
            element::ad_hoc::open_run(run, key);
            Ok(())
        }
        _ => run.activated(key),
    };
    opened.map_err(|trouble| invalid(format!("'{}' cannot wait for its events: {}", element.id, trouble.message)))?;
    Ok(key)
}

/// Things can happen inside it: it has been activated, and neither leaves nor has begun to end.
fn check_open(run: &Run<'_>, scope: ElementKey, entered: ElementIx) -> Result<(), Rejected> {
    let alive = &run.instance.elements[&scope];
    if alive.phase == Phase::Active && !run.is_ending(scope) && !element::transaction::is_cancelled(alive) {
        return Ok(());
    }
    let (id, around) = (&run.process.element(entered).id, &run.process.element(alive.element).id);
    Err(invalid(format!("'{id}' cannot be entered: element instance {scope} of '{around}' around it is not active")))
}

/// An event sub-process that interrupts is all that is left of its scope.
fn check_not_interrupted(run: &Run<'_>, living: &Scopes, scope: ElementKey, entered: ElementIx) -> Result<(), Rejected> {
    let mut interrupting = interrupting(run.process, run.instance.elements[&scope].element);
    let Some(interrupting) = interrupting.find(|place| !living.inside(scope, *place).is_empty()) else { return Ok(()) };
    let (id, by) = (&run.process.element(entered).id, &run.process.element(interrupting).id);
    Err(invalid(format!("'{id}' cannot be entered: the event sub-process '{by}' has interrupted what is around it")))
}

pub(crate) fn is_interrupted(run: &Run<'_>, scope: ElementKey) -> bool {
    let mut places = interrupting(run.process, run.instance.elements[&scope].element);
    places.any(|place| run.instance.children(scope).any(|key| run.instance.elements[&key].element == place))
}

/// The event sub-processes of a scope that interrupt it.
fn interrupting(process: &Process, scope: ElementIx) -> impl Iterator<Item = ElementIx> + '_ {
    let starts = process.scope(scope).map(|scope| &*scope.event_starts).unwrap_or_default();
    let interrupts =
        |start: &&ElementIx| matches!(process.element(**start).kind, Kind::StartEvent(Some(Catch { interrupting: true, .. })));
    starts.iter().filter(interrupts).map(|start| process.element(*start).scope)
}

fn put_variables(run: &mut Run<'_>, key: ElementKey, place: ElementIx, entry: &Entry<'_>) {
    for (_, variables) in entry.variables.iter().filter(|(scope, _)| *scope == place) {
        for (name, value) in variables {
            run.set_local(key, name, value);
        }
    }
}

fn repeated(run: &Run<'_>, place: ElementIx) -> Rejected {
    let id = &run.process.element(place).id;
    invalid(format!("no new instance of '{id}' can be made around an element: it is a multi-instance activity"))
}

fn invalid(reason: String) -> Rejected {
    Rejected::Invalid(reason.into())
}
