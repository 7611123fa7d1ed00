//! What happens to user tasks while others listen: it is kept with the task, those who listen are asked one after the other by the engine,
//! may correct it or refuse it, and it counts once all were heard. Nobody waits in here: who asked for it looks for the outcome
//! (`await_listeners.rs`).

use std::sync::Arc;

use engine::{Document, ElementKey, InstanceKey, JobKey, UserTaskKey, WaitKind};
use model::{Element, Globals, ListenerEvent};
use schedule::Date;
use store::log::{Answer, Caller, Code, Corrections, JobResult, Listening, TaskResult};
use store::row::{Attributes, JobOrigin, Transition, UserTask, UserTaskState};

use super::Partition;
use super::jobs::no_such_job;
use super::tick::Tick;
use super::unit::Stop;
use super::user_tasks::no_such_task;
use crate::json;

/// What is to happen to a task; what the caller does not name has the usual name.
pub(super) fn transition(event: ListenerEvent, action: &Arc<str>, usual: &str, after: Attributes) -> Transition {
    let action = if action.is_empty() { usual.into() } else { action.clone() };
    Transition { event, action, after }
}

/// A new task as it begins: with an assignee it is created first and then assigned, where others listen to one of the two.
pub(super) fn begun(row: UserTask, element: &Element, globals: &Globals) -> UserTask {
    let after = row.attributes();
    let event = if listens(globals, element, ListenerEvent::Creating) {
        ListenerEvent::Creating
    } else if after.assignee.is_some() && listens(globals, element, ListenerEvent::Assigning) {
        ListenerEvent::Assigning
    } else {
        return row;
    };
    let transition = Some(Box::new(Transition { event, action: "".into(), after }));
    UserTask { state: state_during(event), assignee: None, transition, ..row }
}

fn listens(globals: &Globals, element: &Element, event: ListenerEvent) -> bool {
    0 < globals.count(globals.latest(), element, event)
}

fn state_during(event: ListenerEvent) -> UserTaskState {
    match event {
        ListenerEvent::Creating => UserTaskState::Creating,
        ListenerEvent::Assigning => UserTaskState::Assigning,
        ListenerEvent::Updating => UserTaskState::Updating,
        ListenerEvent::Completing => UserTaskState::Completing,
        ListenerEvent::Canceling => UserTaskState::Canceling,
        // What happens to elements leaves their task alone.
        ListenerEvent::Start | ListenerEvent::End => UserTaskState::Created,
    }
}

impl Partition {
    /// It happens at once, unless somebody listens.
    pub(super) fn transit(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: UserTaskKey,
        transition: Transition,
    ) -> Result<Answer, Stop> {
        if let Some(instance) = self.user_tasks.get(&key).map(|task| task.instance)
            && self.runs(tick, caller, instance)?
            && self.is_suspended(instance)
        {
            return Err(super::suspend::suspended(instance));
        }
        if self.listeners_of(tick, key, transition.event)? == 0 {
            self.user_tasks.change(&key, tick.number, |task| task.set_attributes(transition.after));
            return Ok(Answer::Done);
        }
        self.begin_transition(tick, caller, key, transition, (&Document::new(), false))
    }

    /// How many listen to what happens to a task that is known. One whose process cannot be read any more has none.
    pub(super) fn listeners_of(&self, tick: &Tick, key: UserTaskKey, event: ListenerEvent) -> Result<u32, Stop> {
        let Some(task) = self.user_tasks.get(&key) else { return Ok(0) };
        let globals = &self.globals;
        let count = |process: &model::Process| globals.count(globals.latest(), process.element(task.element), event) as u32;
        if let Some(hot) = self.hot.get(task.instance) {
            return Ok(count(&hot.definition.process));
        }
        match self.compiled(tick, task.definition) {
            Ok(compiled) => Ok(compiled.map_or(0, |compiled| count(&compiled.process))),
            Err(Stop::Refused(_)) => Ok(0),
            Err(needs) => Err(needs),
        }
    }

    /// Asks those who listen.
    pub(super) fn begin_transition(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: UserTaskKey,
        transition: Transition,
        (variables, local): (&Document, bool),
    ) -> Result<Answer, Stop> {
        let event = transition.event;
        let listeners = self.listeners_of(tick, key, event)?;
        let missing = || no_such_task(key, event.word());
        let task = self.user_tasks.get(&key).ok_or_else(missing)?;
        let (instance, element_instance, tenant) = (task.instance, task.element_instance, task.tenant.clone());
        if !self.runs(tick, caller, instance)? {
            return Err(missing());
        }
        let since = self.keys.take();
        self.user_tasks.change(&key, tick.number, |task| {
            (task.state, task.transition) = (state_during(event), Some(Box::new(transition)));
        });
        let command = engine::Command::Listen { element: element_instance, event, variables: variables.clone(), local };
        self.step(tick, instance, &command)?.map_err(|_| missing())?;
        Ok(Answer::Listening(Listening { task: key, element_instance, tenant, event, since, listeners, then: None }))
    }

    /// The user task of an element that has those who listen to this.
    pub(super) fn task_with_listeners(
        &self,
        instance: InstanceKey,
        element: ElementKey,
        event: ListenerEvent,
    ) -> Option<UserTaskKey> {
        let hot = self.hot.get(instance)?;
        let alive = hot.instance.elements.get(&element)?;
        listens(&self.globals, hot.definition.process.element(alive.element), event)
            .then(|| self.task_of(instance, element))
            .flatten()
    }

    fn task_of(&self, instance: InstanceKey, element: ElementKey) -> Option<UserTaskKey> {
        let waits = &self.hot.get(instance)?.instance.elements.get(&element)?.waits;
        waits.iter().find(|wait| wait.kind == WaitKind::UserTask).map(|wait| wait.key.user_task())
    }

    /// Setting variables of a user task is an update of it.
    pub(super) fn set_variables_of_task(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: UserTaskKey,
        given: (&Document, bool),
    ) -> Result<Answer, Stop> {
        let after = self.open_user_task(tick, caller, key, "update")?.attributes();
        let then = self.keys.take();
        let transition = transition(ListenerEvent::Updating, &"".into(), "", after);
        match self.begin_transition(tick, caller, key, transition, given)? {
            Answer::Listening(listening) => Ok(Answer::Listening(Listening { then: Some(then), ..listening })),
            other => Ok(other),
        }
    }

    /// All were heard: what was to happen to the task has happened, but for its end, which the engine tells.
    pub(super) fn end_transition(&mut self, tick: &Tick, instance: InstanceKey, key: UserTaskKey) {
        let Some(task) = self.user_tasks.get(&key) else { return };
        let Some(hot) = self.hot.get(instance) else { return };
        let goes_on = task.transition.as_ref().is_some_and(|transition| {
            let assigns = transition.event == ListenerEvent::Creating && transition.after.assignee.is_some();
            assigns && listens(&self.globals, hot.definition.process.element(task.element), ListenerEvent::Assigning)
        });
        self.user_tasks.change(&key, tick.number, |task| {
            let Some(done) = task.transition.take() else { return };
            let before = task.assignee.take();
            task.set_attributes(done.after.clone());
            match goes_on {
                true => {
                    task.assignee = before;
                    task.state = UserTaskState::Assigning;
                    task.transition = Some(Box::new(Transition { event: ListenerEvent::Assigning, ..*done }));
                }
                false => task.state = UserTaskState::Created,
            }
        });
    }

    /// A task that was created is assigned now, if that is what it waits for.
    pub(super) fn assign_new(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        element: ElementKey,
        key: UserTaskKey,
    ) -> Result<(), Stop> {
        let assigns = |task: &UserTask| task.transition.as_ref().is_some_and(|now| now.event == ListenerEvent::Assigning);
        if self.user_tasks.get(&key).is_some_and(assigns) {
            let (event, variables) = (ListenerEvent::Assigning, Document::new());
            let command = engine::Command::Listen { element, event, variables, local: false };
            // Refused where something else of this command has ended the task.
            let _asked = self.step(tick, instance, &command)?;
        }
        Ok(())
    }

    /// A listener has spoken.
    pub(super) fn complete_task_listener(
        &mut self,
        tick: &mut Tick,
        (job, event, origin): (JobKey, ListenerEvent, JobOrigin),
        variables: &Document,
        result: Option<&JobResult>,
    ) -> Result<Answer, Stop> {
        let (instance, element) = (origin.instance, origin.element_instance);
        let job_type = self.jobs.get(&job).map(|job| job.job_type.clone()).unwrap_or_default();
        let refused = |what: String| {
            let reason = format!("{what} (job key '{job}', type '{job_type}', processInstanceKey '{instance}')");
            Stop::refused(Code::InvalidArgument, reason)
        };
        let nothing = TaskResult::default();
        let TaskResult { denied, corrections } = match result {
            Some(JobResult::UserTask(result)) => result,
            Some(JobResult::AdHoc(_)) | None => &nothing,
        };
        if !variables.is_empty() {
            return Err(refused("The job of a task listener cannot be completed with variables".to_owned()));
        }
        let can_deny = matches!(event, ListenerEvent::Assigning | ListenerEvent::Updating | ListenerEvent::Completing);
        if denied.is_some() && !can_deny {
            return Err(refused(format!("What is {} cannot be denied; only assigning, completing, updating can", event.word())));
        }
        if denied.is_some() && *corrections != Corrections::default() {
            return Err(refused("A listener either corrects or denies, not both: what it corrects would be lost".to_owned()));
        }
        let Some(task) = self.task_of(instance, element) else { return Err(no_such_job(job, "complete job")) };
        if !self.user_tasks.knows(&task) {
            return Err(super::needs::Needs::user_tasks(vec![task]).into());
        }
        if corrections.assignee.is_some() && event == ListenerEvent::Creating && self.is_assigned_by_model(task, instance) {
            return Err(refused("The assignee cannot be corrected while the task is created: the process names one".to_owned()));
        }
        let command = match denied {
            Some(reason) => {
                self.change_job(tick, job, |job| job.denied = Some(reason.clone()));
                self.user_tasks.change(&task, tick.number, |task| {
                    (task.state, task.transition) = (UserTaskState::Created, None);
                });
                engine::Command::Deny { job, element }
            }
            None => {
                self.user_tasks.change(&task, tick.number, |task| {
                    if let Some(transition) = &mut task.transition {
                        correct(&mut transition.after, corrections);
                    }
                });
                engine::Command::CompleteJob { job, element, variables: Document::new() }
            }
        };
        self.step(tick, instance, &command)?.map_err(|_| no_such_job(job, "complete job"))?;
        Ok(Answer::Done)
    }

    fn is_assigned_by_model(&self, task: UserTaskKey, instance: InstanceKey) -> bool {
        let (Some(task), Some(hot)) = (self.user_tasks.get(&task), self.hot.get(instance)) else { return false };
        let names_one = match &hot.definition.process.element(task.element).kind {
            model::Kind::UserTask(model) => model.assignee.is_some(),
            _ => false,
        };
        names_one && task.transition.as_ref().is_some_and(|transition| transition.after.assignee.is_some())
    }

    /// What a worker is told besides variables. `unknown` takes the tasks that are not in memory.
    pub(super) fn headers_for_listener(
        &mut self,
        tick: &Tick,
        origin: &JobOrigin,
        event: ListenerEvent,
        unknown: &mut Vec<UserTaskKey>,
    ) -> Result<Arc<str>, Stop> {
        let nothing = || Ok("{}".into());
        if !event.is_of_task() {
            return nothing();
        }
        // One that came and went within a step is for nobody.
        let Some(key) = self.task_of(origin.instance, origin.element_instance) else { return nothing() };
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(super::execute::unusable(what));
        }
        if !self.user_tasks.knows(&key) {
            unknown.push(key);
            return nothing();
        }
        if event == ListenerEvent::Canceling {
            self.user_tasks.change(&key, tick.number, |task| {
                if task.state != UserTaskState::Canceling {
                    let transition = Transition { event, action: "".into(), after: task.attributes() };
                    (task.state, task.transition) = (UserTaskState::Canceling, Some(Box::new(transition)));
                }
            });
        }
        let Some(task) = self.user_tasks.get(&key) else { return nothing() };
        let hot = self.hot.get(origin.instance).expect("it was just stepped");
        let has_variables = engine::has_given(&hot.instance, origin.element_instance);
        let own = &hot.definition.row.elements[origin.element.0 as usize].headers;
        Ok(headers(task, own, event == ListenerEvent::Updating && has_variables).into())
    }
}

fn correct(after: &mut Attributes, corrections: &Corrections) {
    if let Some(assignee) = &corrections.assignee {
        after.assignee.clone_from(assignee);
    }
    if let Some(groups) = &corrections.candidate_groups {
        after.candidate_groups.clone_from(groups);
    }
    if let Some(users) = &corrections.candidate_users {
        after.candidate_users.clone_from(users);
    }
    after.due = corrections.due.unwrap_or(after.due);
    after.follow_up = corrections.follow_up.unwrap_or(after.follow_up);
    after.priority = corrections.priority.unwrap_or(after.priority);
}

/// The task's own headers, and what the task will be like, in the words workers know.
fn headers(task: &UserTask, own: &str, has_variables: bool) -> String {
    let Some(transition) = &task.transition else { return own.to_owned() };
    let after = &transition.after;
    let mut pairs: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    let mut say = |name: &str, value: Option<String>| {
        pairs.extend(value.map(|value| (format!("io.camunda.zeebe:{name}").into(), value.into())));
    };
    let names = |names: &[Arc<str>]| (!names.is_empty()).then(|| json::list_of_texts(names));
    say("userTaskKey", Some(task.key.to_string()));
    say("changedAttributes", names(&changed(task, transition, has_variables)));
    say("assignee", after.assignee.as_ref().map(ToString::to_string));
    say("candidateGroups", names(&after.candidate_groups));
    say("candidateUsers", names(&after.candidate_users));
    say("dueDate", after.due.map(Date::text));
    say("followUpDate", after.follow_up.map(Date::text));
    say("formKey", task.form.map(|form| form.to_string()));
    say("priority", (0 < after.priority).then(|| after.priority.to_string()));
    say("action", (!transition.action.is_empty()).then(|| transition.action.to_string()));
    let told = json::object_of_texts(&pairs);
    match own {
        "{}" => told,
        own => format!("{},{}", own.trim_end_matches('}'), told.trim_start_matches('{')),
    }
}

/// What is different from what it was before. Who has a new task is told by its assignment.
fn changed(task: &UserTask, transition: &Transition, has_variables: bool) -> Vec<Arc<str>> {
    let after = &transition.after;
    let is_new = transition.event == ListenerEvent::Creating;
    let all = [
        ("assignee", task.assignee != after.assignee && !is_new),
        ("candidateGroups", task.candidate_groups != after.candidate_groups),
        ("candidateUsers", task.candidate_users != after.candidate_users),
        ("dueDate", task.due != after.due),
        ("followUpDate", task.follow_up != after.follow_up),
        ("priority", task.priority != after.priority),
        ("variables", has_variables),
    ];
    all.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name.into()).collect()
}
