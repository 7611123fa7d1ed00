//! What operators and people do to instances that run: they stand still and go on, are changed, become those of another version; tasks
//! are taken and done.

use std::sync::Arc;

use engine::{Activation, Ancestor, ElementKey, InstanceKey, Modification, Move, ScopedVariables, UserTaskKey, Which};
use host::Error;
use store::change::{Change, Migrate};
use store::log::{AssignUserTask, Command};
use store::query::{Entity, Field, Items, Query};
use store::row::InstanceState;

use crate::call::{Heard, is, marked, ours};
use crate::check::{AttemptId, What};
use crate::client::Client;
use crate::fault::Fault;
use crate::process;

/// An element instance that has been there: which, of what, and whether it still is.
type Found = (ElementKey, Arc<str>, bool);

impl Client {
    pub(crate) async fn operate(&mut self) {
        match self.rng.below(8) {
            0 | 1 => self.suspend().await,
            2 => self.go_on().await,
            3..=5 => self.modify().await,
            _ => self.migrate().await,
        }
    }

    async fn suspend(&mut self) {
        let Some(instance) = self.one_that_runs() else { return };
        let (world, keyed) = (self.world.clone(), self.rng.chance(300));
        world.insist(&mut self.rng, keyed, What::Suspend(instance), |_| Command::Suspend { instance }).await;
    }

    /// Lets one of those that stand still go on.
    async fn go_on(&mut self) {
        let still: Vec<_> = self.world.state().checker.state.suspended().collect();
        if still.is_empty() {
            return;
        }
        let instance = *self.rng.pick(&still);
        self.resume(instance).await;
    }

    /// Lets all go on; those that were called go on with who called them.
    pub(crate) async fn all_go_on(&mut self) {
        let still: Vec<_> = self.world.state().checker.state.suspended().collect();
        for instance in still {
            self.resume(instance).await;
        }
    }

    async fn resume(&mut self, instance: InstanceKey) {
        let (world, keyed) = (self.world.clone(), self.rng.chance(300));
        world.insist(&mut self.rng, keyed, What::Resume(instance), |_| Command::Resume { instance }).await;
    }

    /// Enters something that was there before, instead of something or beside it.
    async fn modify(&mut self) {
        let Some(instance) = self.one_that_runs() else { return };
        let world = self.world.clone();
        let found = self.elements(instance).await;
        let alive: Vec<_> = found.iter().filter(|(_, _, alive)| *alive).collect();
        if alive.is_empty() {
            return;
        }
        let (_, target, _) = self.rng.pick(&found).clone();
        let (source, id, _) = (*self.rng.pick(&alive)).clone();
        let (moves, ends, by_id) = (self.rng.chance(500), self.rng.chance(500), self.rng.chance(300));
        // What is moved by its id may be gone: then nothing happens, and proves nothing.
        let source = if by_id && !moves { Which::Id(id) } else { Which::Key(source) };
        world.state().checker.state.modifies(instance);
        let command = |attempt: AttemptId| {
            let variables = vec![ScopedVariables { scope: "".into(), variables: marked(attempt) }];
            let mut modification = Modification::default();
            if moves {
                let (source, target) = (source.clone(), target.clone());
                modification.moves.push(Move { source, target, ancestor: Ancestor::OfSource, variables });
            } else {
                modification.activate.push(Activation { element: target.clone(), ancestor: None, variables });
                modification.terminate.extend(ends.then(|| source.clone()));
            }
            Command::Change { instance, change: Change::Modify(modification) }
        };
        let keyed = self.rng.chance(300);
        world.insist(&mut self.rng, keyed, What::Modify(instance), command).await;
    }

    /// To another version, element by element: those of every other revision have the same.
    async fn migrate(&mut self) {
        let Some(instance) = self.one_that_runs() else { return };
        let world = self.world.clone();
        let Some(Items::Instances(found)) =
            self.found(Query { filter: is(Field::InstanceKey, instance.0), ..of(Entity::Instances) }).await
        else {
            return;
        };
        let Some(view) = found.into_iter().next() else { return };
        let Some(Items::Definitions(versions)) = self.found(of(Entity::Definitions)).await else { return };
        let others = versions.into_iter().filter(|other| other.process_id == view.process_id && other.key != view.definition);
        let others: Vec<_> = others.filter(|other| !other.deleted).map(|other| (other.key, other.name)).collect();
        if others.is_empty() {
            return;
        }
        let (definition, name) = self.rng.pick(&others).clone();
        let revision = name.and_then(|name| name.parse().ok()).unwrap_or_default();
        let text = self.text_of(&view.process_id, revision);
        let ids: Vec<Arc<str>> = text.map(|text| process::ids(&text)).unwrap_or_default();
        let mappings = ids.into_iter().map(|id| (id.clone(), id)).collect();
        let migrate = Migrate { definition, mappings };
        let command = |_| Command::Change { instance, change: Change::Migrate(migrate.clone()) };
        let keyed = self.rng.chance(300);
        world.insist(&mut self.rng, keyed, What::Migrate(instance), command).await;
    }

    /// Somebody takes a task, or does it, perhaps one that is over.
    pub(crate) async fn person(&mut self) {
        let tasks: Vec<_> = self.world.state().checker.people.all().collect();
        if tasks.is_empty() {
            return;
        }
        let task = *self.rng.pick(&tasks);
        if self.rng.chance(700) {
            return self.complete_task(task).await;
        }
        let assign = AssignUserTask { task, assignee: "ann".into(), overrides: self.rng.chance(500), action: "".into() };
        let (world, keyed) = (self.world.clone(), self.rng.chance(300));
        world.insist(&mut self.rng, keyed, What::Take(task), |_| Command::AssignUserTask(assign.clone())).await;
    }

    /// All that wait for somebody are done.
    pub(crate) async fn people_work(&mut self) {
        let tasks: Vec<_> = self.world.state().checker.people.open().collect();
        for task in tasks {
            self.complete_task(task).await;
        }
    }

    async fn complete_task(&mut self, task: UserTaskKey) {
        let (world, keyed) = (self.world.clone(), self.rng.chance(300));
        let command = |id| Command::CompleteUserTask { task, variables: marked(id), action: "".into() };
        world.insist(&mut self.rng, keyed, What::Do(task), command).await;
    }

    fn one_that_runs(&mut self) -> Option<InstanceKey> {
        let active: Vec<_> = self.world.state().checker.state.active().collect();
        (!active.is_empty()).then(|| *self.rng.pick(&active))
    }

    async fn elements(&mut self, instance: InstanceKey) -> Vec<Found> {
        let query = Query { filter: is(Field::InstanceKey, instance.0), ..of(Entity::Elements) };
        let Some(Items::Elements(found)) = self.found(query).await else { return Vec::new() };
        let is_alive = |state| matches!(state, InstanceState::Active | InstanceState::Suspended);
        found.into_iter().map(|view| (view.key, view.element_id.into(), is_alive(view.state))).collect()
    }

    async fn found(&mut self, query: Query) -> Option<Items> {
        let server = self.world.server(&mut self.rng).await;
        let searching = async { server.host.store().search(&query).await.map_err(Error::from) };
        match self.world.hear(&server, Fault::GivesUp, searching).await {
            Heard::Done(page) => Some(page.items),
            Heard::Rejected | Heard::Nothing => None,
        }
    }
}

fn of(entity: Entity) -> Query {
    Query::of(entity, ours())
}
