//! Call activities: which process is meant, and the instance that runs it.

use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, IncidentKind, InstanceKey, Parent, Undecided, WaitKind};
use model::{Binding, Kind};
use store::Error;
use store::query::{Entity, Field, Filter, Items, Op, Order, Page, Query, Scalar, Sort, Tenants};
use store::row;

use super::Partition;
use super::deploy::SoughtProcess;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::trace;
use super::unit::Stop;
use crate::definitions::Compiled;

impl Partition {
    pub(super) fn answer_call(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        element: ElementKey,
        process: &Arc<str>,
    ) -> Result<(), Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(()) };
        let (caller, depth) = (hot.definition.clone(), hot.row.depth + 1);
        let called = hot.instance.elements.get(&element).map(|alive| &caller.process.element(alive.element).kind);
        let Some(Kind::CallActivity(call)) = called else { return Ok(()) };
        let found = self.called(tick, process, (&call.binding, &caller.row))?;
        let (definition, verdict) = match self.check_call(process, &call.binding, found, depth) {
            Ok(definition) => (Some(definition), Ok(InstanceKey(self.keys.take()))),
            Err(undecided) => (None, Err(undecided)),
        };
        let child = verdict.as_ref().ok().copied();
        let answered = self.step(tick, instance, &engine::Command::Call { element, verdict })?;
        let (Ok(()), Some(definition), Some(child)) = (answered, definition, child) else { return Ok(()) };
        self.begin_child(tick, (instance, element), definition, child)
    }

    fn check_call(
        &self,
        process: &str,
        binding: &Binding,
        found: Option<Arc<Compiled>>,
        depth: u32,
    ) -> Result<Arc<Compiled>, Undecided> {
        let refused = |reason: String| Undecided { kind: IncidentKind::CalledElement, reason: reason.into() };
        let Some(found) = found else {
            let which = match binding {
                Binding::Latest => String::new(),
                Binding::Deployment => " in the deployment of the calling process".to_owned(),
                Binding::VersionTag(tag) => format!(" with version tag '{tag}'"),
            };
            return Err(refused(format!("Expected to call process '{process}', but there is none{which}")));
        };
        if found.process.start().is_none() {
            return Err(refused(format!("Expected to call process '{process}', but it has no none start event")));
        }
        if self.limits.call_depth_max < depth {
            let max = self.limits.call_depth_max;
            return Err(refused(format!("Expected to call process '{process}', but calls go at most {max} deep")));
        }
        Ok(found)
    }

    /// The called instance, unless the activity could not begin to wait for it.
    fn begin_child(
        &mut self,
        tick: &mut Tick,
        parent: (InstanceKey, ElementKey),
        definition: Arc<Compiled>,
        child: InstanceKey,
    ) -> Result<(), Stop> {
        let (instance, element) = parent;
        let hot = self.hot.get(instance).expect("it was just stepped");
        let waits = hot.instance.elements.get(&element).map(|alive| &*alive.waits).unwrap_or_default();
        if !waits.iter().any(|wait| matches!(wait.kind, WaitKind::Child { instance } if instance == child)) {
            return Ok(());
        }
        let trace = trace::of(&hot.instance).cloned();
        let variables = engine::variables_for_child(&hot.definition.process, &hot.instance, element);
        let row = row::Instance {
            parent: Some((instance, element)),
            root: hot.row.root,
            depth: hot.row.depth + 1,
            business_id: hot.row.business_id.clone(),
            ..row::Instance::begun(child, definition.row.key, tick.now)
        };
        self.begin(tick, row, definition);
        let command = engine::Command::Start { at: None, parent: Some(Parent { instance, element }), variables };
        self.step(tick, child, &command)?.expect("a new instance can start");
        self.follow_trace(tick, child, trace)
    }

    pub(super) fn called(
        &self,
        tick: &Tick,
        process: &Arc<str>,
        (binding, caller): (&Binding, &row::Definition),
    ) -> Result<Option<Arc<Compiled>>, Stop> {
        let (id, tenant) = (process.clone(), caller.tenant.clone());
        let key = match binding {
            Binding::Latest => self.latest_process(&(id, tenant))?.map(|latest| latest.key),
            Binding::Deployment => self.sought_process(SoughtProcess::Deployed { id, tenant, deployment: caller.deployment })?,
            Binding::VersionTag(tag) => self.sought_process(SoughtProcess::Tagged { id, tenant, tag: tag.clone() })?,
        };
        match key {
            Some(key) => self.compiled(tick, key),
            None => Ok(None),
        }
    }

    fn sought_process(&self, sought: SoughtProcess) -> Result<Option<DefinitionKey>, Stop> {
        match self.catalogue.found_process(&sought) {
            Some(found) => Ok(found),
            None => Err(Needs::at_rest(AtRest::Process(sought)).into()),
        }
    }

    pub(super) async fn seek_process(&self, sought: &SoughtProcess) -> Result<Option<DefinitionKey>, Error> {
        let is = |field, value| Filter::Is(field, Op::Eq(value));
        let (id, tenant, which) = match sought {
            SoughtProcess::Deployed { id, tenant, deployment } => {
                (id, tenant, is(Field::DeploymentKey, Scalar::Int(*deployment as i64)))
            }
            SoughtProcess::Tagged { id, tenant, tag } => (id, tenant, is(Field::VersionTag, Scalar::Text(tag.to_string()))),
        };
        let query = Query {
            filter: Filter::All(vec![
                is(Field::ProcessId, Scalar::Text(id.to_string())),
                is(Field::DefinitionState, Scalar::Text("ACTIVE".to_owned())),
                which,
            ]),
            sort: vec![Sort { field: Field::Version, order: Order::Descending }],
            page: Page::From { from: 0, limit: 1 },
            ..Query::of(Entity::Definitions, Tenants::These(vec![tenant.clone()]))
        };
        let Items::Definitions(views) = self.store.search(&query).await?.items else { return Ok(None) };
        Ok(views.first().map(|view| view.key))
    }
}
