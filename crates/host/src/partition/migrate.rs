//! Migration: an instance goes on as one of another definition. What the engine renames, its rows and those of its waits follow.

use std::sync::Arc;

use engine::{
    Budget, DefinitionKey, Event, InstanceKey, Means, Migrated, Migration, Rejected, TimerKey, UserTaskKey, Wait, WaitKind,
};
use model::{ElementIx, Process};
use store::change::Migrate;
use store::log::{Answer, Code};
use store::row::JobState;
use store::{MigratedRow, MigratedTable};

use super::Partition;
use super::execute::unusable;
use super::messages::is_started_by_messages;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;
use crate::definitions::Compiled;
use crate::hot::Lock;

/// What an instance was before it migrated, in case it has not.
pub(super) struct Before {
    pub(super) instance: InstanceKey,
    pub(super) definition: Arc<Compiled>,
    pub(super) lock: Lock,
}

impl Partition {
    pub(super) fn migrate(&mut self, tick: &mut Tick, instance: InstanceKey, migrate: &Migrate) -> Result<Answer, Stop> {
        let target = self.migration_target(tick, instance, migrate.definition)?;
        let before = self.hot.get(instance).expect("it runs").definition.clone();
        // Another of its process may be started by the message then: it is none of them any more.
        let stays = before.row.process_id == target.row.process_id && is_started_by_messages(&target.process);
        if !stays {
            self.unlock(tick, instance)?;
        }
        let events = self.migrated_events(tick, instance, &target, migrate)?;
        let hot = self.hot.get_mut(instance, tick.number).expect("it runs");
        let lock = if stays { hot.lock.clone() } else { std::mem::replace(&mut hot.lock, Lock::None) };
        hot.definition = target.clone();
        hot.row.definition = target.row.key;
        tick.unit.migrated.push(Before { instance, definition: before.clone(), lock });
        self.follow_events(tick, instance, &events)?;
        for event in &events {
            if let Event::Migrated(migrated) = event {
                self.follow_migrated(tick, instance, migrated, &before)?;
            }
        }
        tick.unit.steps.push((instance, events));
        Ok(Answer::Done)
    }

    fn migration_target(&self, tick: &Tick, instance: InstanceKey, key: DefinitionKey) -> Result<Arc<Compiled>, Stop> {
        let tenant = &self.hot.get(instance).expect("it runs").definition.row.tenant;
        let compiled = self.compiled(tick, key)?;
        let deleted = self.catalogue.definitions.get(&key).copied().unwrap_or(false);
        compiled.filter(|compiled| compiled.row.tenant == *tenant && !deleted).ok_or_else(|| {
            Stop::not_found(format!(
                "Expected to migrate process instance to process definition, but no process definition found with key '{key}'"
            ))
        })
    }

    fn migrated_events(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        target: &Compiled,
        migrate: &Migrate,
    ) -> Result<Vec<Event>, Stop> {
        let hot = self.hot.get_mut(instance, tick.number).expect("it runs");
        tick.unit.stepped.push(instance);
        let definition = hot.definition.clone();
        let mut budget = Budget::new(self.limits.command_elements_max, self.limits.command_bytes_max);
        let means = Means {
            process: &definition.process,
            globals: &self.globals,
            now: tick.now,
            keys: &mut self.keys,
            budget: &mut budget,
        };
        let migration = Migration { definition: migrate.definition, process: &target.process, mappings: &migrate.mappings };
        let refused =
            |code, reason: &str| Stop::refused(code, format!("Expected to migrate process instance '{instance}', but {reason}"));
        engine::migrate(means, &mut hot.instance, &migration).map_err(|rejected| match rejected {
            Rejected::Invalid(reason) => refused(Code::InvalidArgument, &reason),
            Rejected::Unfit(reason) => refused(Code::InvalidState, &reason),
            Rejected::Suspended => super::suspend::suspended(instance),
            _ => super::change::gone(instance, "migrate"),
        })
    }

    /// The rows of an instance that has migrated, as it is now; and those of its waits in memory.
    fn follow_migrated(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        migrated: &Migrated,
        before: &Compiled,
    ) -> Result<(), Stop> {
        let hot = self.hot.get(instance).expect("it was just stepped");
        let now = hot.definition.clone();
        let (definition, process_id) = (migrated.definition, now.row.process_id.clone());
        let row = |table, key: u64, element: ElementIx| MigratedRow {
            table,
            key,
            definition,
            element,
            process_id: process_id.clone(),
            headers: None,
        };
        let mut rows = vec![row(MigratedTable::Instances, instance.0, Process::ROOT)];
        let mut waits = Vec::new();
        for (key, element) in &migrated.elements {
            if *key != instance.root() {
                rows.push(row(MigratedTable::Elements, key.0, *element));
            }
            // What begins to wait may have come at once, and have ended it.
            let Some(alive) = hot.instance.elements.get(key) else { continue };
            let variables = alive.variables.iter().chain(alive.variables.kept());
            rows.extend(variables.map(|variable| row(MigratedTable::Variables, variable.key.0, *element)));
            rows.extend(alive.incident.map(|incident| row(MigratedTable::Incidents, incident.0, *element)));
            waits.extend(alive.waits.iter().map(|wait| (wait.clone(), wait.catch.unwrap_or(*element))));
        }
        for (wait, element) in waits {
            let Some(table) = table_of(&wait) else { continue };
            let mut moved = row(table, wait.key.0, element);
            self.follow_wait(tick, &wait, &mut moved, (before, &now))?;
            rows.push(moved);
        }
        tick.unit.changes.migrated.extend(rows);
        Ok(())
    }

    /// The row of a wait in memory.
    fn follow_wait(
        &mut self,
        tick: &Tick,
        wait: &Wait,
        moved: &mut MigratedRow,
        was_is: (&Compiled, &Compiled),
    ) -> Result<(), Stop> {
        let (definition, element) = (moved.definition, moved.element);
        match wait.kind {
            WaitKind::Job => {
                let key = wait.key.job();
                if let Some(what) = tick.known.unusable.get(&key.0) {
                    return Err(unusable(what));
                }
                let Some(job) = self.jobs.get(&key) else { return missing(self.jobs.knows(&key), Needs::jobs(vec![key])) };
                // A worker gets the headers that its job began with.
                let headers_of =
                    |compiled: &Compiled, ix: ElementIx| compiled.row.elements.get(ix.0 as usize).map(|one| one.headers.clone());
                let was = job.origin.and_then(|origin| headers_of(was_is.0, origin.element));
                moved.headers = was.filter(|was| job.headers.is_none() && headers_of(was_is.1, element).as_ref() != Some(was));
                let headers = moved.headers.clone();
                self.change_job(tick, key, |job| {
                    if let Some(origin) = &mut job.origin {
                        (origin.definition, origin.element) = (definition, element);
                    }
                    job.state = JobState::Migrated;
                    job.headers = headers.or(job.headers.take());
                });
            }
            WaitKind::Timer => {
                let key = TimerKey(wait.key.0);
                if !self.timers.knows(&key) {
                    return Err(Needs::timer(key).into());
                }
                self.timers.change(&key, tick.number, |row| (row.definition, row.element) = (definition, element));
            }
            WaitKind::UserTask => {
                let key = UserTaskKey(wait.key.0);
                if !self.user_tasks.knows(&key) {
                    return Err(Needs::user_tasks(vec![key]).into());
                }
                self.user_tasks.change(&key, tick.number, |row| (row.definition, row.element) = (definition, element));
            }
            WaitKind::Message | WaitKind::Signal | WaitKind::Condition | WaitKind::Child { .. } => {
                if !self.subscriptions.knows(&wait.key) {
                    return Err(Needs::subscription(wait.key).into());
                }
                let process_id = moved.process_id.clone();
                // When it was changed last stays: later than its beginning means that something has come to it.
                self.subscriptions.change(&wait.key, tick.number, |row| {
                    (row.definition, row.element, row.process_id) = (definition, element, process_id);
                });
            }
            WaitKind::Turn(_) => {}
        }
        Ok(())
    }
}

fn missing(is_known: bool, needs: Needs) -> Result<(), Stop> {
    if is_known { Ok(()) } else { Err(needs.into()) }
}

/// Where its row is. A turn belongs to no element.
fn table_of(wait: &Wait) -> Option<MigratedTable> {
    match wait.kind {
        WaitKind::Job => Some(MigratedTable::Jobs),
        WaitKind::Timer => Some(MigratedTable::Timers),
        WaitKind::UserTask => Some(MigratedTable::UserTasks),
        WaitKind::Message | WaitKind::Signal | WaitKind::Condition | WaitKind::Child { .. } => Some(MigratedTable::Subscriptions),
        WaitKind::Turn(_) => None,
    }
}
