//! What commands need that is not in memory, and getting it: all reads of a tick are here.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{
    DefinitionKey, ElementKey, EvaluationKey, IncidentKey, InstanceKey, JobKey, RequirementsKey, TimerKey, UserTaskKey, WaitKey,
};
use rustc_hash::FxHashMap;
use store::change::Change;
use store::log::{Command, CreateAt, DecisionRef, Evaluate, ProcessRef, Publish, Report, Request, Said, StartAdHoc, Submit};
use store::query::InstanceView;
use store::row::{self, LockName, UniqueHolder, UniqueName};
use store::{Error, LoadedGroup, LoadedInstance, MessageGroup, Wanted};

use super::Partition;
use super::batches::Found;
use super::conditions::Conditional;
use super::deploy::{Deletion, Name, Sought, SoughtProcess};
use super::executions::Holder;
use super::messages::Group;
use super::signals::Telling;
use super::starts::Starts;
use super::tick::Tick;
use super::unit::Stop;
use crate::hot::HotInstance;
use crate::sinks::QueueId;
use crate::table::Table;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Needs {
    pub(super) wanted: Wanted,
    pub(super) definitions: BTreeSet<DefinitionKey>,
    pub(super) requirements: BTreeSet<RequirementsKey>,
    /// Names of processes, DMN files and decisions.
    pub(super) processes: BTreeSet<Name>,
    pub(super) files: BTreeSet<Name>,
    pub(super) decisions: BTreeSet<Name>,
    pub(super) forms: BTreeSet<Name>,
    /// What can only be asked of tables that are not behind.
    pub(super) at_rest: Vec<AtRest>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum AtRest {
    Version(Name, i32),
    Sought(Sought),
    Deletion(u64),
    Evaluation(EvaluationKey),
    Process(SoughtProcess),
    /// What waits to start instances of a definition.
    Starts(DefinitionKey),
    /// Who is told next of a signal.
    Signal(u64),
    /// Start conditions.
    Conditions(Conditional),
    /// What is first in this queue.
    Queue(QueueId),
    /// How many there are in this queue.
    Census(QueueId),
    /// What an operation over many does next.
    Batch(u64),
    /// An instance that may have finished.
    Instance(InstanceKey),
    /// How many this tenant has.
    TenantCensus(Arc<str>),
    /// What is submitted again and again.
    Schedules,
}

/// What was asked for at rest, for the tick that is opened next.
#[derive(Default)]
pub(super) struct Rested {
    pub(super) deletions: FxHashMap<u64, Option<Arc<Deletion>>>,
    /// Whether there is such an evaluation.
    pub(super) evaluations: FxHashMap<EvaluationKey, bool>,
    pub(super) starts: FxHashMap<DefinitionKey, Arc<Starts>>,
    pub(super) signals: FxHashMap<u64, Option<Arc<Telling>>>,
    pub(super) conditions: FxHashMap<Conditional, Arc<Vec<row::Subscription>>>,
    pub(super) batches: FxHashMap<u64, Option<Arc<Found>>>,
    /// With about how many rows it has.
    pub(super) instances: FxHashMap<InstanceKey, Option<(InstanceView, usize)>>,
}

impl Needs {
    pub(super) fn instance(key: InstanceKey) -> Self {
        Self { wanted: Wanted { instances: vec![key], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn jobs(keys: Vec<JobKey>) -> Self {
        Self { wanted: Wanted { jobs: keys, ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn timer(key: TimerKey) -> Self {
        Self { wanted: Wanted { timers: vec![key], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn subscription(key: WaitKey) -> Self {
        Self { wanted: Wanted { subscriptions: vec![key], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn user_tasks(keys: Vec<UserTaskKey>) -> Self {
        Self { wanted: Wanted { user_tasks: keys, ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn group(group: MessageGroup) -> Self {
        Self { wanted: Wanted { groups: vec![group], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn starts(name: (Arc<str>, Arc<str>)) -> Self {
        Self { wanted: Wanted { starts: vec![name], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn lock(name: LockName) -> Self {
        Self { wanted: Wanted { locks: vec![name], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn lock_of(instance: InstanceKey) -> Self {
        Self { wanted: Wanted { locks_of: vec![instance], ..Wanted::default() }, ..Self::default() }
    }

    pub(super) fn definition(key: DefinitionKey) -> Self {
        Self { definitions: BTreeSet::from([key]), ..Self::default() }
    }

    pub(super) fn requirements(key: RequirementsKey) -> Self {
        Self { requirements: BTreeSet::from([key]), ..Self::default() }
    }

    pub(super) fn process(name: Name) -> Self {
        Self { processes: BTreeSet::from([name]), ..Self::default() }
    }

    pub(super) fn file(name: Name) -> Self {
        Self { files: BTreeSet::from([name]), ..Self::default() }
    }

    pub(super) fn decision(name: Name) -> Self {
        Self { decisions: BTreeSet::from([name]), ..Self::default() }
    }

    pub(super) fn form(name: Name) -> Self {
        Self { forms: BTreeSet::from([name]), ..Self::default() }
    }

    pub(super) fn at_rest(what: AtRest) -> Self {
        Self { at_rest: vec![what], ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn add(&mut self, more: Self) {
        self.wanted.instances.extend(more.wanted.instances);
        self.wanted.jobs.extend(more.wanted.jobs);
        self.wanted.instances_of_jobs.extend(more.wanted.instances_of_jobs);
        self.wanted.elements.extend(more.wanted.elements);
        self.wanted.incidents.extend(more.wanted.incidents);
        self.wanted.idempotent.extend(more.wanted.idempotent);
        self.wanted.timers.extend(more.wanted.timers);
        self.wanted.subscriptions.extend(more.wanted.subscriptions);
        self.wanted.user_tasks.extend(more.wanted.user_tasks);
        self.wanted.messages.extend(more.wanted.messages);
        self.wanted.groups.extend(more.wanted.groups);
        self.wanted.starts.extend(more.wanted.starts);
        self.wanted.locks.extend(more.wanted.locks);
        self.wanted.locks_of.extend(more.wanted.locks_of);
        self.wanted.unique.extend(more.wanted.unique);
        self.definitions.extend(more.definitions);
        self.requirements.extend(more.requirements);
        self.processes.extend(more.processes);
        self.files.extend(more.files);
        self.decisions.extend(more.decisions);
        self.forms.extend(more.forms);
        self.at_rest.extend(more.at_rest);
    }
}

/// What things that do not depend on each other miss, to be asked for at once.
#[derive(Default)]
pub(super) struct Missing(Option<Needs>);

impl Missing {
    /// What is missing stops nothing yet; a refusal does.
    pub(super) fn after(&mut self, done: Result<(), Stop>) -> Result<(), Stop> {
        match done {
            Err(Stop::Needs(more)) => {
                self.0.get_or_insert_default().add(*more);
                Ok(())
            }
            Ok(()) | Err(Stop::Refused(_)) => done,
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn told(self) -> Result<(), Stop> {
        self.0.map_or(Ok(()), |needs| Err(needs.into()))
    }
}

/// What a command can be seen to need before it is tried, so that a whole batch is loaded at once.
impl Partition {
    pub(super) fn foresee(&self, request: &Request, needs: &mut Needs) {
        self.foresee_first_answer(request, needs);
        match &request.command {
            Command::Create(create) | Command::CreateAt(CreateAt { create, .. }) => match &create.process {
                ProcessRef::Key(key) => drop(needs.definitions.insert(*key)),
                ProcessRef::Id { id, .. } => self.foresee_process((id.clone(), create.tenant.clone()), needs),
            },
            Command::Evaluate(evaluate) => self.foresee_decision(evaluate, needs),
            Command::Cancel { instance }
            | Command::RetryInstance { instance }
            | Command::Suspend { instance }
            | Command::Resume { instance } => self.foresee_instance(*instance, needs),
            Command::Turn { instance, .. } => self.foresee_instance(*instance, needs),
            Command::CompleteJob { job, .. } => self.foresee_job(*job, true, needs),
            Command::TellStep(tell) => self.foresee_instance(tell.instance, needs),
            Command::FailAttempt(fail) => self.foresee_job(fail.job, true, needs),
            Command::RetryJob { job, .. } => self.foresee_job(*job, true, needs),
            Command::Report { reports } => self.foresee_reports(reports, needs),
            Command::ThrowError(throw) => self.foresee_job(throw.job, true, needs),
            Command::FailJob(fail) => {
                let steps = fail.retries < 1 || !fail.variables.is_empty();
                self.foresee_job(fail.job, steps, needs);
            }
            Command::UpdateJob(update) => self.foresee_job(update.job, false, needs),
            Command::JobDue { job } | Command::CancelExecution { job } | Command::RetryExecution { job, .. } => {
                self.foresee_job(*job, false, needs);
            }
            Command::Submit(submit) => self.foresee_unique(submit, needs),
            Command::Announced(announced) => {
                announced.refused.iter().for_each(|refused| self.foresee_job(refused.job, refused.for_good, needs));
            }
            Command::CompleteExecutions { jobs } => jobs.iter().for_each(|(job, _)| self.foresee_job(*job, false, needs)),
            Command::Release { jobs } => jobs.iter().for_each(|released| self.foresee_job(released.job, false, needs)),
            Command::SetVariables { scope, .. } | Command::StartAdHoc(StartAdHoc { element: scope, .. }) => {
                self.foresee_scope(*scope, needs);
            }
            Command::EvaluateConditions(evaluate) => needs.definitions.extend(evaluate.definition),
            Command::AssignUserTask(assign) => self.foresee_user_task(assign.task, needs),
            Command::UnassignUserTask { task, .. } | Command::CompleteUserTask { task, .. } => {
                self.foresee_user_task(*task, needs);
            }
            Command::UpdateUserTask(update) => self.foresee_user_task(update.task, needs),
            Command::ResolveIncident { incident } => needs.wanted.incidents.push(*incident),
            Command::Publish(publish) | Command::Correlate(publish) => self.foresee_message(publish, needs),
            Command::TimerDue { instance: Some(instance), .. } => self.foresee_instance(*instance, needs),
            Command::TimerDue { wait, instance: None } => self.foresee_timer(TimerKey(wait.0), needs),
            Command::FireTimer { timer } | Command::RescheduleTimer { timer, .. } => self.foresee_timer(*timer, needs),
            Command::Change { instance, change } => self.foresee_change(*instance, change, needs),
            Command::Batch(batch) => self.foresee_batch(batch, needs),
            Command::Deploy(_)
            | Command::DeleteResource { .. }
            | Command::DeleteEvaluation { .. }
            | Command::Broadcast { .. }
            | Command::SignalDue { .. }
            | Command::MessageExpired { .. }
            | Command::PutListener(_)
            | Command::DeleteListener { .. }
            | Command::ConfigureListeners { .. }
            | Command::PutPolicy(_)
            | Command::DeletePolicy { .. }
            | Command::DeleteInstance { .. }
            | Command::PutSchedule(_)
            | Command::DeleteSchedule { .. }
            | Command::ScheduleDue { .. }
            | Command::Activate(_) => {}
        }
    }

    fn foresee_scope(&self, scope: ElementKey, needs: &mut Needs) {
        if !self.hot.contains(InstanceKey(scope.0)) {
            // The process itself is no row among the elements.
            needs.wanted.instances.push(InstanceKey(scope.0));
            needs.wanted.elements.push(scope);
        }
    }

    fn foresee_timer(&self, timer: TimerKey, needs: &mut Needs) {
        if !self.timers.knows(&timer) {
            needs.wanted.timers.push(timer);
        }
    }

    /// Only what is said of one job alone steps an instance.
    fn foresee_reports(&self, reports: &[Report], needs: &mut Needs) {
        let steps =
            |said: &Said| matches!(said, Said::Completed { .. } | Said::Failed(_) | Said::Thrown(_)) && reports.len() == 1;
        reports.iter().for_each(|report| self.foresee_job(report.job, steps(&report.said), needs));
    }

    fn foresee_change(&self, instance: InstanceKey, change: &Change, needs: &mut Needs) {
        self.foresee_instance(instance, needs);
        match change {
            Change::Modify(_) => {}
            Change::Migrate(migrate) => drop(needs.definitions.insert(migrate.definition)),
        }
    }

    fn foresee_first_answer(&self, request: &Request, needs: &mut Needs) {
        let Some(idempotency) = &request.idempotency else { return };
        let key = (idempotency.tenant.clone(), idempotency.key.clone());
        if !self.idempotent.knows(&key) {
            needs.wanted.idempotent.push(key);
        }
    }

    fn foresee_message(&self, publish: &Publish, needs: &mut Needs) {
        let Publish { tenant, name, correlation_key, .. } = publish;
        let group = MessageGroup { tenant: tenant.clone(), name: name.clone(), correlation_key: correlation_key.clone() };
        if !self.groups.knows(&group) {
            needs.wanted.groups.push(group);
        }
        let starts = (tenant.clone(), name.clone());
        if !self.starts.knows(&starts) {
            needs.wanted.starts.push(starts);
        }
    }

    fn foresee_unique(&self, submit: &Submit, needs: &mut Needs) {
        for unique in submit.executions.iter().filter_map(|one| one.unique.as_ref()) {
            let name = (submit.tenant.clone(), submit.action.clone(), unique.key.clone());
            if !self.unique.knows(&name) {
                needs.wanted.unique.push(name);
            }
        }
    }

    fn foresee_decision(&self, evaluate: &Evaluate, needs: &mut Needs) {
        if let DecisionRef::Id(id) = &evaluate.decision {
            let name = (id.clone(), evaluate.tenant.clone());
            if !self.catalogue.decisions.knows(&name) {
                needs.decisions.insert(name);
            }
        }
    }

    fn foresee_process(&self, name: Name, needs: &mut Needs) {
        match self.catalogue.processes.get(&name).and_then(|named| named.latest.as_ref()) {
            Some(latest) => drop(needs.definitions.insert(latest.key)),
            None if self.catalogue.processes.knows(&name) => {}
            None => drop(needs.processes.insert(name)),
        }
    }

    fn foresee_instance(&self, key: InstanceKey, needs: &mut Needs) {
        if !self.hot.contains(key) {
            needs.wanted.instances.push(key);
        }
    }

    fn foresee_job(&self, key: JobKey, with_instance: bool, needs: &mut Needs) {
        if !self.jobs.knows(&key) {
            needs.wanted.jobs.push(key);
            if with_instance {
                needs.wanted.instances_of_jobs.push(key);
            }
        } else if let (true, Some(origin)) = (with_instance, self.jobs.get(&key).and_then(|job| job.origin)) {
            self.foresee_instance(origin.instance, needs);
        }
    }
}

/// Loading.
impl Partition {
    /// Everything that is found by key: what is not committed is in memory, so the tables are not behind for it.
    pub(super) async fn load(&mut self, tick: &mut Tick, needs: Needs) -> Result<(), Error> {
        let Needs { wanted, definitions, requirements, processes, files, decisions, forms, at_rest: _ } = needs;
        self.load_rows(tick, wanted).await?;
        let partition = self.fence.partition;
        for name in processes {
            let named = self.store.process_named(partition, &name.0, &name.1).await?;
            let latest = named.latest.as_ref().map(|latest| latest.key);
            self.catalogue.processes.load(name, Some(named));
            if let Some(latest) = latest {
                self.load_definition(tick, latest).await?;
            }
        }
        for key in definitions {
            self.load_definition(tick, key).await?;
        }
        for name in files {
            let named = self.store.requirements_named(partition, &name.0, &name.1).await?;
            self.catalogue.files.load(name, Some(named));
        }
        for name in decisions {
            let named = self.store.decision_named(partition, &name.0, &name.1).await?;
            self.catalogue.decisions.load(name, Some(named));
        }
        for name in forms {
            let forms = self.store.forms_named(partition, &name.0, &name.1).await?;
            self.catalogue.forms.load(name, Some(forms));
        }
        for key in requirements {
            if self.catalogue.fresh_decisions.contains_key(&key) {
                continue;
            }
            match self.definitions.decisions(key).await {
                Ok(Some(compiled)) => drop(tick.known.decisions.insert(key, compiled)),
                Ok(None) => drop(tick.known.absent.insert(key.0)),
                Err(Error::Corrupt { what }) => self.quarantine(tick, key.0, &what),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What can only be asked of tables that are not behind.
    pub(crate) async fn load_at_rest(&mut self, needs: &Needs) -> Result<(), Error> {
        for what in &needs.at_rest {
            match what {
                AtRest::Version(name, version) => {
                    let row = self.store.definition_version(self.fence.partition, &name.0, &name.1, *version).await?;
                    self.catalogue.remember_version(name.clone(), *version, row.map(|row| row.key));
                }
                AtRest::Sought(sought) => {
                    let place = self.seek(sought).await?;
                    self.catalogue.remember_found(sought.clone(), place);
                }
                AtRest::Deletion(key) => {
                    let deletion = self.look_up_deletion(*key).await?;
                    self.rested.deletions.insert(*key, deletion.map(Arc::new));
                }
                // Filled with the other windows, before the next tick is opened.
                AtRest::Queue(id) => {
                    self.rule(std::slice::from_ref(id));
                    self.dispatch.expect(id.clone());
                }
                AtRest::Census(id) => self.load_census(id).await?,
                AtRest::TenantCensus(tenant) => self.load_tenant_census(tenant).await?,
                AtRest::Schedules => self.load_schedules().await?,
                AtRest::Process(sought) => {
                    let found = self.seek_process(sought).await?;
                    self.catalogue.remember_process(sought.clone(), found);
                }
                AtRest::Starts(key) => {
                    let starts = self.store.starts_of(*key).await?;
                    self.rested.starts.insert(*key, Arc::new(starts));
                }
                AtRest::Signal(key) => {
                    let telling = self.look_up_signal(*key).await?;
                    self.rested.signals.insert(*key, telling);
                }
                AtRest::Conditions(asked) => {
                    let starts = self.look_up_conditions(asked).await?;
                    self.rested.conditions.insert(asked.clone(), Arc::new(starts));
                }
                AtRest::Batch(key) => {
                    let found = self.look_up_batch(*key).await?;
                    self.rested.batches.insert(*key, found);
                }
                AtRest::Instance(key) => {
                    let found = self.look_up_instance(*key).await?;
                    self.rested.instances.insert(*key, found);
                }
                AtRest::Evaluation(key) => {
                    let found = self.has_evaluation(*key).await?;
                    self.rested.evaluations.insert(*key, found);
                }
            }
        }
        Ok(())
    }

    async fn load_definition(&mut self, tick: &mut Tick, key: DefinitionKey) -> Result<(), Error> {
        if tick.known.compiled.contains_key(&key) || self.catalogue.fresh.contains_key(&key) {
            return Ok(());
        }
        match self.definitions.get(key).await {
            Ok(Some(compiled)) => {
                if !self.catalogue.definitions.knows(&key) {
                    // The compiled one does not know whether it was deleted since: it may be older than this ownership.
                    let row = self.store.definition(key).await?;
                    self.catalogue.definitions.load(key, Some(row.is_none_or(|row| row.deleted)));
                }
                tick.known.compiled.insert(key, compiled);
            }
            Ok(None) => drop(tick.known.absent.insert(key.0)),
            Err(Error::Corrupt { what }) => self.quarantine(tick, key.0, &what),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn load_rows(&mut self, tick: &mut Tick, mut wanted: Wanted) -> Result<(), Error> {
        wanted.instances.retain(|key| !self.hot.contains(*key) && !tick.known.absent.contains(&key.0));
        wanted.jobs.retain(|key| !self.jobs.knows(key));
        wanted.elements.retain(|key| !tick.known.elements.contains_key(key));
        wanted.incidents.retain(|key| !tick.known.incidents.contains_key(key));
        wanted.idempotent.retain(|key| !self.idempotent.knows(key));
        wanted.timers.retain(|key| !self.timers.knows(key));
        wanted.subscriptions.retain(|key| !self.subscriptions.knows(key));
        wanted.user_tasks.retain(|key| !self.user_tasks.knows(key));
        wanted.groups.retain(|name| !self.groups.knows(name));
        wanted.starts.retain(|name| !self.starts.knows(name));
        wanted.locks.retain(|name| !self.locks.knows(name));
        wanted.unique.retain(|name| !self.unique.knows(name));
        sort(&mut wanted);
        if wanted.is_empty() {
            return Ok(());
        }
        let loaded = self.store.load(self.fence.partition, &wanted, tick.now).await?;
        for broken in loaded.broken {
            self.quarantine(tick, broken.key, &broken.what);
        }
        self.take_waits(tick, &wanted, loaded.timers, loaded.subscriptions);
        self.take_user_tasks(tick, &wanted, loaded.user_tasks);
        self.take_groups(loaded.groups);
        take_locks(&mut self.locks, tick, &wanted, loaded.locks);
        for UniqueHolder { name, job, until } in loaded.unique {
            self.unique.load(name, Some(Holder { job, until }));
        }
        for name in &wanted.unique {
            self.unique.load(name.clone(), None);
        }
        let mut idempotent = loaded.idempotent;
        for key in wanted.idempotent {
            let found = idempotent.iter().position(|row| (&row.tenant, &row.key) == (&key.0, &key.1));
            let row = found.map(|place| idempotent.swap_remove(place));
            self.idempotent.load(key, row);
        }
        for job in loaded.jobs {
            self.jobs.load(job.key, Some(job));
        }
        for key in wanted.jobs.iter().filter(|key| !tick.known.unusable.contains_key(&key.0)) {
            self.jobs.load(*key, None);
        }
        known_places(&mut tick.known.elements, wanted.elements, loaded.elements);
        known_places(&mut tick.known.incidents, wanted.incidents, loaded.incidents);
        for instance in loaded.instances {
            self.take_in(tick, instance).await?;
        }
        let absent = wanted.instances.iter().filter(|key| !self.hot.contains(**key));
        let absent: Vec<_> = absent.map(|key| key.0).filter(|key| !tick.known.unusable.contains_key(key)).collect();
        tick.known.absent.extend(absent);
        Ok(())
    }

    fn take_waits(&mut self, tick: &Tick, wanted: &Wanted, timers: Vec<row::Timer>, subscriptions: Vec<row::Subscription>) {
        for timer in timers {
            self.timers.load(timer.key, Some(timer));
        }
        let usable = |key: u64| !tick.known.unusable.contains_key(&key);
        for key in wanted.timers.iter().filter(|key| usable(key.0)) {
            self.timers.load(*key, None);
        }
        let mut starts: FxHashMap<_, Vec<_>> = wanted.starts.iter().map(|name| (name.clone(), Vec::new())).collect();
        for row in subscriptions {
            if let (None, Some(known)) = (row.origin, starts.get_mut(&(row.tenant.clone(), row.name.clone()))) {
                known.push(row.clone());
            }
            self.subscriptions.load(row.key, Some(row));
        }
        for key in wanted.subscriptions.iter().filter(|key| usable(key.0)) {
            self.subscriptions.load(*key, None);
        }
        for (name, known) in starts {
            self.starts.load(name, Some(known));
        }
    }

    fn take_groups(&mut self, groups: Vec<LoadedGroup>) {
        for LoadedGroup { group, subscriptions, messages } in groups {
            let waiting = subscriptions.iter().map(|row| row.key).collect();
            for row in subscriptions {
                self.subscriptions.load(row.key, Some(row));
            }
            let messages = messages.into_iter().map(Arc::new).collect();
            let read = Group { subscriptions: waiting, messages };
            self.groups_large.note(&group, read.bytes());
            self.groups.load(group, Some(read));
        }
    }

    /// What is in memory is newer than its rows.
    async fn take_in(&mut self, tick: &mut Tick, loaded: LoadedInstance) -> Result<(), Error> {
        let key = loaded.instance.key;
        if self.hot.contains(key) {
            return Ok(());
        }
        // Keys we have not given yet: somebody else has owned the partition since, and these rows are not ours to go on from.
        if self.keys.next_key() <= newest_key(&loaded) {
            return Err(Error::unavailable("another server has written to the partition"));
        }
        let definition = match self.catalogue.fresh.get(&loaded.instance.definition) {
            Some(fresh) => Ok(Some(fresh.clone())),
            None => self.definitions.get(loaded.instance.definition).await,
        };
        for timer in &loaded.timers {
            self.timers.load(timer.key, Some(timer.clone()));
        }
        for row in &loaded.subscriptions {
            self.subscriptions.load(row.key, Some(row.clone()));
        }
        match definition {
            Ok(Some(definition)) => match HotInstance::from_rows(loaded, definition) {
                Ok(hot) => self.hot.insert(hot),
                Err(what) => self.quarantine(tick, key.0, &what),
            },
            Ok(None) => self.quarantine(tick, key.0, "it has no definition"),
            Err(Error::Corrupt { what }) => self.quarantine(tick, key.0, &what),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What cannot be run as it is stored stops alone: its commands are refused, its jobs are not handed out.
    pub(super) fn quarantine(&self, tick: &mut Tick, key: u64, what: &str) {
        tracing::error!(key, what, "something stored cannot be run; its commands are refused until it can");
        self.metrics.unreadable.inc();
        tick.known.unusable.insert(key, what.to_owned());
    }
}

fn sort(wanted: &mut Wanted) {
    fn once<K: Ord>(keys: &mut Vec<K>) {
        keys.sort_unstable();
        keys.dedup();
    }
    once::<InstanceKey>(&mut wanted.instances);
    once::<JobKey>(&mut wanted.jobs);
    once::<JobKey>(&mut wanted.instances_of_jobs);
    once::<ElementKey>(&mut wanted.elements);
    once::<IncidentKey>(&mut wanted.incidents);
    once::<(Arc<str>, Arc<str>)>(&mut wanted.idempotent);
    once::<TimerKey>(&mut wanted.timers);
    once::<WaitKey>(&mut wanted.subscriptions);
    once::<UserTaskKey>(&mut wanted.user_tasks);
    once::<MessageGroup>(&mut wanted.groups);
    once::<(Arc<str>, Arc<str>)>(&mut wanted.starts);
    once::<LockName>(&mut wanted.locks);
    once::<InstanceKey>(&mut wanted.locks_of);
    once::<UniqueName>(&mut wanted.unique);
}

fn take_locks(table: &mut Table<LockName, Option<InstanceKey>>, tick: &mut Tick, wanted: &Wanted, locks: Vec<row::MessageLock>) {
    tick.known.locks_of.extend(wanted.locks_of.iter().map(|instance| (*instance, None)));
    for lock in locks {
        if wanted.locks_of.contains(&lock.instance) {
            tick.known.locks_of.insert(lock.instance, Some(lock.name()));
        }
        table.load(lock.name(), Some(Some(lock.instance)));
    }
    for name in &wanted.locks {
        table.load(name.clone(), None);
    }
}

fn known_places<K: Copy + Eq + std::hash::Hash>(
    known: &mut FxHashMap<K, Option<InstanceKey>>,
    asked: Vec<K>,
    found: Vec<(K, InstanceKey)>,
) {
    known.extend(asked.into_iter().map(|key| (key, None)));
    known.extend(found.into_iter().map(|(key, instance)| (key, Some(instance))));
}

/// The last key given to anything of an instance.
fn newest_key(loaded: &LoadedInstance) -> u64 {
    let elements = loaded.elements.iter().map(|element| element.key.0);
    let variables = loaded.variables.iter().map(|variable| variable.key.0);
    let waits = loaded.waits.iter().map(|(_, wait)| wait.key.0);
    let incidents = loaded.incidents.iter().map(|incident| incident.key.0);
    let timers = loaded.timers.iter().map(|timer| timer.key.0);
    let subscriptions = loaded.subscriptions.iter().map(|row| row.key.0);
    let waits = waits.chain(timers).chain(subscriptions);
    elements.chain(variables).chain(waits).chain(incidents).fold(loaded.instance.key.0, u64::max)
}
