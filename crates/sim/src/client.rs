//! Clients: they deploy, publish, broadcast, create, cancel, set variables and resolve incidents, and try again when they hear nothing.

use std::sync::Arc;
use std::time::Duration;

use engine::{IncidentKey, InstanceKey, JobKey};
use host::Error;
use store::log::{Command, Create, Deploy, DeployResource, ProcessRef, Request, UpdateJob};
use store::query::{Entity, Field, Filter, Items, Op, Query, Scalar};
use store::row::InstanceState;

use crate::call::{Heard, TENANT, caller, is, key, marked, ours};
use crate::check::{AttemptId, Told, Violation, What};
use crate::fault::Fault;
use crate::process;
use crate::rng::Rng;
use crate::world::World;

pub(crate) struct Client {
    pub(crate) world: Arc<World>,
    pub(crate) rng: Rng,
    instances: Vec<InstanceKey>,
}

impl Client {
    pub(crate) fn new(world: Arc<World>, number: usize) -> Self {
        let rng = Rng::new(world.plan.seed, 100 + number as u64);
        Self { world, rng, instances: Vec::new() }
    }

    pub(crate) async fn run(mut self) {
        for process in 0..self.world.plan.processes as u64 {
            self.deploy(process, 0).await;
        }
        for _ in 0..self.world.plan.acts {
            let pause = self.rng.between(0, 2_000);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let kinds = if self.world.plan.waits == 0 { 20 } else { 33 };
            if 0 < self.world.plan.operators && self.rng.chance(300) {
                self.operate().await;
                continue;
            }
            match self.rng.below(kinds) {
                0..=8 => self.create().await,
                9 => self.create_and_await().await,
                10 | 11 => self.create_durably().await,
                12 | 13 => self.cancel().await,
                14 | 15 => self.set_variables().await,
                16 | 17 => self.resolve().await,
                18 => {
                    let (process, revision) = (self.rng.below(self.world.plan.processes as u64), self.rng.below(3));
                    self.deploy(process, revision).await;
                }
                19 => self.delete().await,
                20..=24 => self.publish().await,
                25 => self.correlate().await,
                26 | 27 => self.broadcast().await,
                28..=30 => self.person().await,
                _ => self.move_timer().await,
            }
        }
    }

    pub(crate) async fn deploy(&mut self, process: u64, revision: u64) {
        let world = self.world.clone();
        let id = format!("p{process}");
        let file = |name: String, content: String| DeployResource { name: name.into(), content: content.into_bytes().into() };
        let files = self.files(process, revision).into_iter();
        let mut resources: Vec<_> = files.map(|(id, content)| file(format!("{id}.bpmn"), content)).collect();
        resources.push(file(format!("{id}.dmn"), process::dmn(&id, revision)));
        let deploy = Command::Deploy(Deploy { tenant: TENANT.into(), resources });
        let keyed = self.rng.chance(300);
        if world.insist(&mut self.rng, keyed, What::Deploy, |_| deploy.clone()).await.is_some() {
            let filter = Filter::Is(Field::ProcessId, Op::Eq(Scalar::Text(id)));
            let query = Query { filter, ..Query::of(Entity::Definitions, ours()) };
            let some = |items: &Items| matches!(items, Items::Definitions(found) if !found.is_empty());
            world.sees(&mut self.rng, "a definition", query, some).await;
        }
    }

    /// What is deployed together, by process id. The elements are those of every other revision.
    fn files(&self, process: u64, revision: u64) -> Vec<(String, String)> {
        let plan = &self.world.plan;
        let mut drawn = Rng::new(plan.seed, 1_000 + process * 10 + revision % 2);
        let (id, waits) = (format!("p{process}"), 0 < plan.waits);
        let main = process::bpmn(&id, revision, (plan.job_types, waits), &mut drawn);
        let mut files = vec![(id, main)];
        if waits && process == 0 {
            let helpers = process::helpers(revision, plan.job_types, &mut drawn).into_iter();
            files.extend(helpers.map(|(id, content)| (id.to_owned(), content)));
        }
        files
    }

    /// The file of one process.
    pub(crate) fn text_of(&self, id: &str, revision: u64) -> Option<String> {
        let process = id.strip_prefix('p').and_then(|number| number.parse().ok()).unwrap_or(0);
        self.files(process, revision).into_iter().find(|(other, _)| other == id).map(|(_, text)| text)
    }

    fn create_command(&mut self, id: AttemptId) -> Command {
        let process = format!("p{}", self.rng.below(self.world.plan.processes as u64));
        let mut variables = marked(id);
        variables.push(("choice".into(), self.rng.below(3).to_string().into()));
        if self.rng.chance(900) {
            variables.push(("key".into(), format!("\"k{}\"", self.rng.below(2)).into()));
        }
        let process = ProcessRef::Id { id: process.into(), version: None };
        Command::Create(Create { process, tenant: TENANT.into(), variables, tags: vec![], business_id: None })
    }

    async fn create(&mut self) {
        let world = self.world.clone();
        let id = world.attempt(What::Create);
        let command = self.create_command(id);
        let keyed = self.rng.chance(600);
        let request = Request { caller: caller(), command, idempotency: keyed.then(|| key(id)) };
        for _ in 0..6 {
            let server = world.server(&mut self.rng).await;
            world.note(|| format!("{id} Create goes to {}{}", server.link.name, if keyed { " with a key" } else { "" }));
            let heard = if keyed && world.strikes(Fault::SentTwice) {
                let other = world.server(&mut self.rng).await;
                let (one, two) = tokio::join!(world.submit(&server, request.clone()), world.submit(&other, request.clone()));
                world.tell(id, &two);
                one
            } else {
                world.submit(&server, request.clone()).await
            };
            world.tell(id, &heard);
            match heard {
                Heard::Done(answer) => return self.created(id, &answer).await,
                Heard::Nothing if keyed => {
                    let pause = self.rng.between(1, 2_000);
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                Heard::Rejected | Heard::Nothing => return,
            }
        }
    }

    async fn created(&mut self, id: AttemptId, answer: &store::log::Answer) {
        let store::log::Answer::Created(created) = answer else {
            return self.world.fail(Violation { invariant: 5, what: format!("{id} was answered {answer:?}") });
        };
        let world = self.world.clone();
        self.instances.push(created.instance);
        let query = Query { filter: is(Field::InstanceKey, created.instance.0), ..Query::of(Entity::Instances, ours()) };
        let some = |items: &Items| matches!(items, Items::Instances(found) if found.len() == 1);
        world.sees(&mut self.rng, "an instance", query, some).await;
        world.sees_mark(&mut self.rng, id, created.instance.0).await;
    }

    async fn create_and_await(&mut self) {
        let world = self.world.clone();
        let id = world.attempt(What::Create);
        let request = Request { caller: caller(), command: self.create_command(id), idempotency: None };
        let server = world.server(&mut self.rng).await;
        let patience = Duration::from_millis(self.rng.between(1_000, 40_000));
        world.note(|| format!("{id} Create goes to {} and waits", server.link.name));
        let awaiting = server.host.create_and_await(request, vec![], patience);
        let Heard::Done(awaited) = world.hear(&server, Fault::GivesUp, awaiting).await else { return };
        world.told(id, Told::Created(awaited.created.instance));
        let ended = world.state().checker.state.ended(awaited.created.instance);
        let expected = if awaited.completed { engine::State::Completed } else { engine::State::Terminated };
        let has_mark = awaited.variables.iter().any(|(name, _)| **name == *id.to_string());
        if ended != Some(expected) || !has_mark {
            let what = format!("{id} was told of the end {awaited:?}; it is {ended:?}");
            world.fail(Violation { invariant: 9, what });
        }
    }

    /// Only puts it into the log; asks later what became of it.
    async fn create_durably(&mut self) {
        let world = self.world.clone();
        let id = world.attempt(What::Create);
        let request = Request { caller: caller(), command: self.create_command(id), idempotency: None };
        let server = world.server(&mut self.rng).await;
        world.note(|| format!("{id} Create is put into the log by {}", server.link.name));
        let Heard::Done(position) = world.hear(&server, Fault::GivesUp, server.host.submit_durably(request)).await else {
            return;
        };
        for _ in 0..30 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let server = world.server(&mut self.rng).await;
            let Heard::Done(found) = world.hear(&server, Fault::GivesUp, server.host.command(position)).await else { continue };
            let Some(outcome) = found else {
                return world.fail(Violation { invariant: 1, what: format!("{id} is not at position {position} of the log") });
            };
            if outcome.answer.is_some() {
                let heard = match outcome.answer {
                    Some(store::log::Answer::Rejected(_)) => Heard::Rejected,
                    Some(answer) => Heard::Done(answer),
                    None => Heard::Nothing,
                };
                world.tell(id, &heard);
                if let Heard::Done(answer) = heard {
                    self.created(id, &answer).await;
                }
                return;
            }
        }
    }

    async fn cancel(&mut self) {
        if self.instances.is_empty() {
            return;
        }
        let mut instance = *self.rng.pick(&self.instances);
        let world = self.world.clone();
        let active: Vec<_> = world.state().checker.state.active().collect();
        if self.rng.chance(300) && !active.is_empty() {
            // One that somebody else, or something, has started.
            instance = *self.rng.pick(&active);
        }
        self.cancel_one(instance).await;
    }

    pub(crate) async fn cancel_one(&mut self, instance: InstanceKey) {
        let (world, keyed) = (self.world.clone(), self.rng.chance(300));
        if world.insist(&mut self.rng, keyed, What::Cancel(instance), |_| Command::Cancel { instance }).await.is_some() {
            let query = Query { filter: is(Field::InstanceKey, instance.0), ..Query::of(Entity::Instances, ours()) };
            let gone = |items: &Items| matches!(items, Items::Instances(found) if found[0].state == InstanceState::Terminated);
            world.sees(&mut self.rng, "the end of an instance", query, gone).await;
        }
    }

    async fn set_variables(&mut self) {
        if self.instances.is_empty() {
            return;
        }
        let instance = *self.rng.pick(&self.instances);
        let world = self.world.clone();
        let command = |id| Command::SetVariables { scope: instance.root(), variables: marked(id), local: true };
        let keyed = self.rng.chance(300);
        world.insist(&mut self.rng, keyed, What::SetVariables(instance), command).await;
    }

    async fn delete(&mut self) {
        let world = self.world.clone();
        let server = world.server(&mut self.rng).await;
        let query = Query::of(Entity::Definitions, ours());
        let searching = async { server.host.store().search(&query).await.map_err(Error::from) };
        let Heard::Done(page) = world.hear(&server, Fault::GivesUp, searching).await else { return };
        let Items::Definitions(found) = page.items else { return };
        if let Some(definition) = found.first() {
            let key = definition.key.0;
            world.insist(&mut self.rng, false, What::Deploy, |_| Command::DeleteResource { key }).await;
        }
    }

    async fn resolve(&mut self) {
        let world = self.world.clone();
        if let Some(incident) = incidents(&world, &mut self.rng).await.into_iter().next() {
            repair(&world, &mut self.rng, incident).await;
        }
    }
}

/// What a person must look at.
pub(crate) struct Stuck {
    pub(crate) incident: IncidentKey,
    pub(crate) instance: InstanceKey,
    pub(crate) job: Option<JobKey>,
}

pub(crate) async fn incidents(world: &Arc<World>, rng: &mut Rng) -> Vec<Stuck> {
    let server = world.server(rng).await;
    let filter = Filter::Is(Field::IncidentState, Op::Eq(Scalar::Text("ACTIVE".to_owned())));
    let query = Query { filter, ..Query::of(Entity::Incidents, ours()) };
    let searching = async { server.host.store().search(&query).await.map_err(Error::from) };
    let Heard::Done(page) = world.hear(&server, Fault::GivesUp, searching).await else { return Vec::new() };
    let Items::Incidents(found) = page.items else { return Vec::new() };
    found.into_iter().map(|found| Stuck { incident: found.key, instance: found.instance, job: found.job }).collect()
}

/// Takes the cause away, then the incident.
pub(crate) async fn repair(world: &Arc<World>, rng: &mut Rng, stuck: Stuck) {
    let Stuck { incident, instance, job } = stuck;
    let fixed = |id| {
        let mut variables = marked(id);
        variables.push(("fixed".into(), "1".into()));
        variables.push(("key".into(), "\"k0\"".into()));
        Command::SetVariables { scope: instance.root(), variables, local: true }
    };
    world.insist(rng, false, What::SetVariables(instance), fixed).await;
    if let Some(job) = job {
        let update = UpdateJob { job, retries: Some(2), timeout: None };
        world.insist(rng, false, What::Update(job), |_| Command::UpdateJob(update.clone())).await;
    }
    world.insist(rng, false, What::Resolve(incident), |_| Command::ResolveIncident { incident }).await;
}
