//! Tasks for people: what the engine opens and closes becomes rows; who has one, and what else changes about it, is decided here and
//! touches no instance. Completing one does.

use std::sync::Arc;

use engine::{Document, Event, InstanceKey, On, Triggered, UserTaskKey, WaitEnd, Waited};
use model::ListenerEvent;
use store::Wanted;
use store::log::{Answer, AssignUserTask, Caller, Code, UpdateUserTask};
use store::row::{Attributes, UserTask, UserTaskState};

use super::Partition;
use super::execute::unusable;
use super::needs::Needs;
use super::task_listeners::{begun, transition};
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    pub(super) fn assign_user_task(&mut self, tick: &mut Tick, caller: &Caller, assign: &AssignUserTask) -> Result<Answer, Stop> {
        let what = if assign.overrides { "assign" } else { "claim" };
        let task = self.open_user_task(tick, caller, assign.task, what)?;
        let is_taken = task.assignee.as_ref().is_some_and(|assignee| *assignee != assign.assignee);
        if is_taken && !assign.overrides {
            let key = assign.task;
            let reason = format!("Expected to claim user task with key '{key}', but it has already been assigned");
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        let after = Attributes { assignee: Some(assign.assignee.clone()), ..task.attributes() };
        self.transit(tick, caller, assign.task, transition(ListenerEvent::Assigning, &assign.action, what, after))
    }

    pub(super) fn unassign_user_task(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: UserTaskKey,
        action: &Arc<str>,
    ) -> Result<Answer, Stop> {
        // In the words clients know: it is assigned to nobody.
        let task = self.open_user_task(tick, caller, key, "assign")?;
        let after = Attributes { assignee: None, ..task.attributes() };
        self.transit(tick, caller, key, transition(ListenerEvent::Assigning, action, "unassign", after))
    }

    pub(super) fn update_user_task(&mut self, tick: &mut Tick, caller: &Caller, update: &UpdateUserTask) -> Result<Answer, Stop> {
        let mut after = self.open_user_task(tick, caller, update.task, "update")?.attributes();
        if let Some(groups) = &update.candidate_groups {
            after.candidate_groups.clone_from(groups);
        }
        if let Some(users) = &update.candidate_users {
            after.candidate_users.clone_from(users);
        }
        after.due = update.due.unwrap_or(after.due);
        after.follow_up = update.follow_up.unwrap_or(after.follow_up);
        after.priority = update.priority.unwrap_or(after.priority);
        self.transit(tick, caller, update.task, transition(ListenerEvent::Updating, &update.action, "update", after))
    }

    pub(super) fn complete_user_task(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: UserTaskKey,
        (variables, action): (&Document, &Arc<str>),
    ) -> Result<Answer, Stop> {
        let task = self.open_user_task(tick, caller, key, "complete")?;
        let (instance, element, after) = (task.instance, task.element_instance, task.attributes());
        if 0 < self.listeners_of(tick, key, ListenerEvent::Completing)? {
            let transition = transition(ListenerEvent::Completing, action, "complete", after);
            return self.begin_transition(tick, caller, key, transition, (variables, false));
        }
        if !self.runs(tick, caller, instance)? {
            return Err(no_such_task(key, "complete"));
        }
        let triggered = Triggered { element, wait: key.wait(), variables: variables.clone(), next: None };
        let stepped = self.step(tick, instance, &engine::Command::Trigger(triggered))?;
        stepped.map_err(|_| no_such_task(key, "complete"))?;
        Ok(Answer::Done)
    }

    /// Nothing else is happening to the task.
    pub(super) fn open_user_task(&self, tick: &Tick, caller: &Caller, key: UserTaskKey, what: &str) -> Result<&UserTask, Stop> {
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(unusable(what));
        }
        if !self.user_tasks.knows(&key) {
            return Err(Needs::user_tasks(vec![key]).into());
        }
        let task = self.user_tasks.get(&key).filter(|task| !task.is_over() && caller.tenants.has(&task.tenant));
        let task = task.ok_or_else(|| no_such_task(key, what))?;
        match task.is_open() {
            true => Ok(task),
            false => {
                let state = task.state.word();
                let reason = format!("Expected to {what} user task with key '{key}', but it is in state '{state}'");
                Err(Stop::refused(Code::InvalidState, reason))
            }
        }
    }

    /// Follows the engine's waits for people: new tasks are open, closed ones are over.
    pub(super) fn follow_user_tasks(&mut self, tick: &mut Tick, instance: InstanceKey, events: &[Event]) -> Result<(), Stop> {
        let mut unknown = Vec::new();
        for event in events {
            match event {
                Event::WaitOpened(opened) => {
                    if let On::UserTask(task) = &opened.on {
                        self.new_user_task(tick, instance, (opened, task), events);
                    }
                }
                Event::WaitClosed { key, on: Waited::UserTask, .. } | Event::Listened { task: key, .. } => {
                    let key = key.user_task();
                    if let Some(what) = tick.known.unusable.get(&key.0) {
                        return Err(unusable(what));
                    }
                    match (self.user_tasks.knows(&key), event) {
                        (false, _) => unknown.push(key),
                        (true, Event::WaitClosed { end, .. }) => self.close_user_task(tick, key, *end),
                        (true, _) => self.end_transition(tick, instance, key),
                    }
                }
                _ => {}
            }
        }
        match unknown.is_empty() {
            true => Ok(()),
            false => Err(Needs::user_tasks(unknown).into()),
        }
    }

    fn new_user_task(
        &mut self,
        tick: &Tick,
        instance: InstanceKey,
        (opened, task): (&engine::Opened, &engine::UserTask),
        events: &[Event],
    ) {
        let Some(origin) = self.origin_in(instance, opened.element, events) else { return };
        let hot = self.hot.get(instance).expect("it was just stepped");
        let row = UserTask {
            key: opened.key.user_task(),
            instance,
            definition: origin.definition,
            element: origin.element,
            element_instance: origin.element_instance,
            tenant: hot.definition.row.tenant.clone(),
            state: UserTaskState::Created,
            assignee: task.assignee.clone(),
            candidate_groups: task.candidate_groups.clone(),
            candidate_users: task.candidate_users.clone(),
            due: task.due,
            follow_up: task.follow_up,
            priority: task.priority,
            form: task.form,
            external_form: task.external_form.clone(),
            created: tick.now,
            ended: None,
            transition: None,
        };
        let row = begun(row, hot.definition.process.element(origin.element), &self.globals);
        self.user_tasks.put(row.key, row, tick.number);
    }

    fn close_user_task(&mut self, tick: &Tick, key: UserTaskKey, end: WaitEnd) {
        let now = tick.now;
        let state = match end {
            WaitEnd::Completed => UserTaskState::Completed,
            WaitEnd::Cancelled | WaitEnd::ErrorThrown => UserTaskState::Cancelled,
        };
        self.user_tasks.change(&key, tick.number, |task| {
            (task.state, task.ended, task.transition) = (state, Some(now), None);
        });
    }
}

/// Loading.
impl Partition {
    pub(super) fn foresee_user_task(&self, key: UserTaskKey, needs: &mut Needs) {
        match self.user_tasks.get(&key).map(|task| task.instance) {
            Some(instance) if !self.hot.contains(instance) => needs.wanted.instances.push(instance),
            None if !self.user_tasks.knows(&key) => needs.wanted.user_tasks.push(key),
            Some(_) | None => {}
        }
    }

    pub(super) fn take_user_tasks(&mut self, tick: &Tick, wanted: &Wanted, tasks: Vec<UserTask>) {
        for task in tasks {
            self.user_tasks.load(task.key, Some(task));
        }
        for key in wanted.user_tasks.iter().filter(|key| !tick.known.unusable.contains_key(&key.0)) {
            self.user_tasks.load(*key, None);
        }
    }
}

pub(super) fn no_such_task(key: UserTaskKey, what: &str) -> Stop {
    Stop::not_found(format!("Expected to {what} user task with key '{key}', but no such user task was found"))
}
