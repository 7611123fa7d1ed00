//! Instances: what they are made of becomes a status, the steps they are at, and why they failed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{Document, InstanceKey};
use host::Begun;
use store::Millis;
use store::log::{Command, Create, Created, ProcessRef};
use store::query::{ElementView, Entity, Field, Filter, IncidentView, InstanceView, Items, Op, Order, Page, Query, Scalar, Sort};
use store::row::InstanceState;

use super::{Listed, Workflows, failed, instance_key, is, is_step, no_instance, reason};
use crate::error::{Failure, Reason};
use crate::label;

/// Rows of one kind that a page of instances may be made of.
const ROWS_MAX: u32 = 100_000;
/// What a step that waits for somebody to tell it is among the kinds of elements.
const WAITING_KINDS: [&str; 2] = ["USER_TASK", "RECEIVE_TASK"];
/// A tag names the instance that went before.
const PREVIOUS: &str = "previous:";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Active,
    Waiting,
    Completed,
    Failed,
    Cancelled,
}

#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) key: InstanceKey,
    pub(crate) definition_id: String,
    pub(crate) version: i32,
    pub(crate) status: Status,
    pub(crate) current_steps: Vec<String>,
    /// Names and JSON texts.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) started: Millis,
    pub(crate) completed: Option<Millis>,
    pub(crate) failure: Option<String>,
    pub(crate) business_key: Option<String>,
    /// The instance that went before, of a chain.
    pub(crate) previous: Option<String>,
}

pub(crate) struct Start {
    pub(crate) definition_id: Arc<str>,
    pub(crate) version: Option<i32>,
    pub(crate) variables: Document,
    pub(crate) business_key: Option<Arc<str>>,
}

#[derive(Default)]
pub(crate) struct ListInstances {
    pub(crate) definition_id: Option<String>,
    pub(crate) status: Option<Status>,
    pub(crate) business_key: Option<String>,
    pub(crate) page: u32,
    pub(crate) page_size: u32,
}

impl Status {
    pub(crate) const ALL: [(Self, &'static str); 5] = [
        (Self::Active, "ACTIVE"),
        (Self::Waiting, "WAITING"),
        (Self::Completed, "COMPLETED"),
        (Self::Failed, "FAILED"),
        (Self::Cancelled, "CANCELLED"),
    ];

    pub(crate) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, word)| word)
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(status, _)| *status)
    }

    /// The same in the words of a search.
    fn filter(self) -> Filter {
        let runs = |incident: bool| vec![is(Field::InstanceState, "ACTIVE"), is(Field::HasIncident, incident)];
        let kinds = || WAITING_KINDS.iter().map(|kind| Scalar::Text((*kind).to_owned())).collect();
        let alive = |kind: Op| {
            let filter = vec![is(Field::ElementState, "ACTIVE"), Filter::Is(Field::ElementKind, kind)];
            Filter::Related(Entity::Elements, Box::new(Filter::All(filter)))
        };
        let waits = || Filter::All(vec![alive(Op::In(kinds())), Filter::Not(Box::new(alive(Op::NotIn(kinds()))))]);
        match self {
            Self::Active => Filter::All([runs(false), vec![Filter::Not(Box::new(waits()))]].concat()),
            Self::Waiting => Filter::All([runs(false), vec![waits()]].concat()),
            Self::Completed => is(Field::InstanceState, "COMPLETED"),
            Self::Failed => Filter::All(runs(true)),
            Self::Cancelled => is(Field::InstanceState, "TERMINATED"),
        }
    }
}

impl Workflows {
    pub(crate) async fn start(&self, start: Start) -> Result<Instance, Failure> {
        let Start { definition_id, version, variables, business_key } = start;
        let business_id = label::business_id(business_key)
            .map_err(|_| Failure::invalid(format!("businessKey has at most {} characters", label::BUSINESS_ID_CHARS_MAX)))?;
        let process = ProcessRef::Id { id: definition_id.clone(), version };
        let create = Create { process, tenant: self.caller.home(), variables, tags: Vec::new(), business_id };
        let missing = |failure: Failure| match failure.reason {
            Reason::NotFound => {
                let version = version.map(|version| format!("version {version} of ")).unwrap_or_default();
                Failure::not_found(format!("There is no {version}definition '{definition_id}'"))
            }
            _ => failure,
        };
        let request = self.request(Command::Create(create));
        match self.host.create_and_see(request).await.map_err(|error| missing(failed(error)))? {
            (created, Some(begun)) => Ok(begun_instance(created, *begun)),
            (created, None) => self.instance_of(created.instance).await?.ok_or_else(|| no_instance("")),
        }
    }

    pub(crate) async fn instance(&self, id: &str) -> Result<Instance, Failure> {
        self.instance_of(instance_key(id)?).await?.ok_or_else(|| no_instance(id))
    }

    pub(super) async fn instance_of(&self, key: InstanceKey) -> Result<Option<Instance>, Failure> {
        let found = self.first(Entity::Instances, vec![is(Field::InstanceKey, key.0)]).await?;
        let Items::Instances(views) = found else { return Ok(None) };
        Ok(self.shown_instances(views).await?.pop())
    }

    /// The newest first.
    pub(crate) async fn instances(&self, list: &ListInstances) -> Result<Listed<Instance>, Failure> {
        let mut filter = Vec::new();
        filter.extend(list.definition_id.as_deref().map(|id| is(Field::ProcessId, id)));
        filter.extend(list.business_key.as_deref().map(|key| is(Field::BusinessId, key)));
        filter.extend(list.status.map(Status::filter));
        let page = Page::From { from: u64::from(list.page) * u64::from(list.page_size), limit: list.page_size };
        let query = Query {
            sort: vec![Sort { field: Field::InstanceKey, order: Order::Descending }],
            ..self.query(Entity::Instances, filter, page)
        };
        let found = self.search(query).await?;
        let Items::Instances(views) = found.items else { return Ok(Listed { items: Vec::new(), total: 0 }) };
        Ok(Listed { items: self.shown_instances(views).await?, total: found.total })
    }

    /// What belongs to them is read for all of them at once.
    async fn shown_instances(&self, views: Vec<InstanceView>) -> Result<Vec<Instance>, Failure> {
        if views.is_empty() {
            return Ok(Vec::new());
        }
        let (all, running) = (keys(&views, |_| true), keys(&views, |view| view.state == InstanceState::Active));
        let mut variables: BTreeMap<InstanceKey, Vec<(String, String)>> = BTreeMap::new();
        let of_all =
            Filter::All(vec![Filter::Is(Field::InstanceKey, Op::In(all.clone())), Filter::Is(Field::ScopeKey, Op::In(all))]);
        if let Items::Variables(found) = self.rows(Entity::Variables, of_all).await? {
            for one in found {
                variables.entry(one.instance).or_default().push((one.name, one.value));
            }
        }
        let mut alive: BTreeMap<InstanceKey, Vec<ElementView>> = BTreeMap::new();
        let mut incidents: BTreeMap<InstanceKey, IncidentView> = BTreeMap::new();
        if !running.is_empty() {
            let of_running =
                |state: Field| Filter::All(vec![is(state, "ACTIVE"), Filter::Is(Field::InstanceKey, Op::In(running.clone()))]);
            if let Items::Elements(found) = self.rows(Entity::Elements, of_running(Field::ElementState)).await? {
                found.into_iter().for_each(|one| alive.entry(one.instance).or_default().push(one));
            }
            if views.iter().any(|view| view.has_incident)
                && let Items::Incidents(found) = self.rows(Entity::Incidents, of_running(Field::IncidentState)).await?
            {
                // The first tells why.
                found.into_iter().rev().for_each(|one| drop(incidents.insert(one.instance, one)));
            }
        }
        let shown = views.into_iter().map(|view| {
            let key = view.key;
            let of = (variables.remove(&key), alive.remove(&key), incidents.remove(&key));
            instance(view, of.0.unwrap_or_default(), &of.1.unwrap_or_default(), of.2)
        });
        Ok(shown.collect())
    }

    async fn rows(&self, entity: Entity, filter: Filter) -> Result<Items, Failure> {
        Ok(self.search(self.query(entity, vec![filter], Page::From { from: 0, limit: ROWS_MAX })).await?.items)
    }

    pub(crate) async fn cancel(&self, id: &str) -> Result<Instance, Failure> {
        let key = instance_key(id)?;
        match self.submit(Command::Cancel { instance: key }).await {
            Ok(_) => self.instance(id).await,
            Err(failure) if failure.reason == Reason::NotFound => {
                let instance = self.instance(id).await?;
                Err(Failure::new(Reason::InvalidState, format!("Instance '{id}' is {} already", instance.status.word())))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Goes on from the steps that failed.
    pub(crate) async fn retry(&self, id: &str) -> Result<Instance, Failure> {
        let key = instance_key(id)?;
        match self.submit(Command::RetryInstance { instance: key }).await {
            Ok(_) => self.instance(id).await,
            Err(failure) if failure.reason == Reason::NotFound => {
                let instance = self.instance(id).await?;
                Err(Failure::new(Reason::InvalidState, format!("Instance '{id}' is {}", instance.status.word())))
            }
            Err(failure) => Err(failure),
        }
    }
}

fn keys(views: &[InstanceView], of: fn(&InstanceView) -> bool) -> Vec<Scalar> {
    views.iter().filter(|view| of(view)).map(|view| Scalar::Int(view.key.0 as i64)).collect()
}

fn begun_instance(created: Created, begun: Begun) -> Instance {
    let at = begun.elements.iter().map(|(id, kind)| (&**id, &**kind));
    let (status, current_steps) = (if waits(at.clone()) { Status::Waiting } else { Status::Active }, current_steps(at));
    Instance {
        key: created.instance,
        definition_id: created.process_id.to_string(),
        version: created.version,
        status,
        current_steps,
        variables: begun.variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        started: begun.started,
        completed: None,
        failure: None,
        business_key: created.business_id.map(|key| key.to_string()),
        previous: None,
    }
}

/// Each step once, of the elements that are alive.
fn current_steps<'a>(alive: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    alive.map(|(id, _)| id).filter(|id| is_step(id) && seen.insert(id)).map(str::to_owned).collect()
}

/// Whether all that is alive waits for somebody to tell it.
fn waits<'a>(mut alive: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> bool {
    alive.clone().next().is_some() && alive.all(|(_, kind)| WAITING_KINDS.contains(&kind))
}

fn instance(
    view: InstanceView,
    variables: Vec<(String, String)>,
    alive: &[ElementView],
    incident: Option<IncidentView>,
) -> Instance {
    let at = alive.iter().map(|element| (element.element_id.as_str(), element.kind.as_str()));
    let (waits, current) = (waits(at.clone()), current_steps(at));
    let status = match view.state {
        InstanceState::Completed => Status::Completed,
        InstanceState::Terminated => Status::Cancelled,
        InstanceState::Active if view.has_incident => Status::Failed,
        InstanceState::Active if waits => Status::Waiting,
        InstanceState::Active => Status::Active,
        // Those who know only workflows see that nothing moves.
        InstanceState::Suspended => Status::Waiting,
    };
    let failure = incident.filter(|_| status == Status::Failed);
    let previous = view.tags.iter().find_map(|tag| tag.strip_prefix(PREVIOUS)).map(str::to_owned);
    Instance {
        key: view.key,
        definition_id: view.process_id,
        version: view.version,
        status,
        current_steps: current,
        variables,
        started: view.started,
        completed: view.ended,
        failure: failure.map(|incident| reason(incident.kind, &incident.element_id, &incident.message)),
        business_key: view.business_id,
        previous,
    }
}
