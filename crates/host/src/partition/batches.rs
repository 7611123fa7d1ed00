//! Operations over many: what a filter finds becomes items, page by page; then each item is a command of its own.
//!
//! ```text
//! start ──▶ due: a page is found ──▶ … ──▶ due: a page of items is read ──▶ item, item, … ──▶ due: the next ──▶ … ──▶ completed
//! ```
//!
//! What is found is bounded by the operation's own key: it is about what was there when it was asked for. No more than a page is in
//! memory. What cannot be found, after a few tries, makes the operation a failed one, which says why. Items have their share beside callers as timers have, and one that is refused keeps no other from its turn. Everything is
//! in the tables: whoever owns the partition next goes on where the last one stopped.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::{EvaluationKey, IncidentKey};
use rustc_hash::FxHashMap;
use store::batch::{Asked, BatchCommand, Work, tenant_of};
use store::change::Change;
use store::log::{Answer, Caller, Code, Rejection};
use store::query::Filter;
use store::row::{Batch, BatchItem, BatchState, ItemState};
use store::{BatchItemChange, DueKind, Millis};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::{Stop, Unit};

mod find;
mod trouble;

pub(super) use find::{DELETED_AT_ONCE, Found};
use find::{ROWS_OF_ONE, instance_of};
pub(super) use trouble::Troubles;

/// Items of operations that are read and not dealt with yet.
#[derive(Debug, Default)]
pub(super) struct Pages(FxHashMap<u64, Page>);

#[derive(Debug, Default)]
struct Page {
    /// Not taken yet, in order, each with about how many rows it changes.
    waiting: VecDeque<(u64, usize)>,
    /// Not done yet.
    items: FxHashMap<u64, BatchItem>,
}

/// Items, each with its operation, and how many usual ones they are worth.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) items: Vec<(u64, u64)>,
    pub(super) work: usize,
}

/// What a command changes about pages, once it is accepted.
#[derive(Debug)]
pub(super) enum PageChange {
    Read(u64, Vec<(BatchItem, usize)>),
    Drop(u64),
    Done { batch: u64, key: u64 },
}

impl Pages {
    /// Whether some item waits for its turn.
    pub(super) fn has_waiting(&self) -> bool {
        self.0.values().any(|page| !page.waiting.is_empty())
    }

    /// Takes the next items, as much work as so many usual ones.
    pub(super) fn take(&mut self, limit: usize) -> Taken {
        let mut taken = Taken::default();
        for (batch, page) in &mut self.0 {
            while taken.work < limit
                && let Some((key, rows)) = page.waiting.pop_front()
            {
                taken.items.push((*batch, key));
                taken.work += rows.div_ceil(ROWS_OF_ONE).max(1);
            }
        }
        taken
    }

    fn get(&self, batch: u64, key: u64) -> Option<&BatchItem> {
        self.0.get(&batch)?.items.get(&key)
    }
}

impl Partition {
    pub(super) fn batch(&mut self, tick: &mut Tick, caller: &Caller, command: &BatchCommand) -> Result<Answer, Stop> {
        match command {
            BatchCommand::Start { work, filter } => Ok(self.start_batch(tick, caller, work, filter)),
            BatchCommand::Suspend { batch } => self.suspend_batch(tick, caller, *batch),
            BatchCommand::Resume { batch } => self.resume_batch(tick, caller, *batch),
            BatchCommand::Cancel { batch } => self.cancel_batch(tick, caller, *batch),
            BatchCommand::Due { batch } => self.batch_due(tick, *batch),
            BatchCommand::Item { batch, key } => self.batch_item(tick, *batch, *key),
        }
    }

    pub(super) fn start_batch(&mut self, tick: &mut Tick, caller: &Caller, work: &Work, filter: &Filter) -> Answer {
        let key = self.keys.take();
        let kind = work.word();
        let asked = Asked { work: work.clone(), filter: filter.clone(), caller: caller.clone() };
        let row = Batch {
            key,
            tenant: tenant_of(caller),
            state: BatchState::Created,
            actor: caller.name.clone(),
            started: None,
            ended: None,
            due: Some(tick.now),
            total: 0,
            completed: 0,
            failed: 0,
            after: Some(0),
            asked: Arc::new(asked),
            error: None,
        };
        self.batches.put(key, row, tick.number);
        tick.unit.woken.push((tick.now, (key, DueKind::Batch)));
        Answer::BatchStarted { key, kind: kind.into() }
    }

    fn suspend_batch(&mut self, tick: &mut Tick, caller: &Caller, key: u64) -> Result<Answer, Stop> {
        let row = self.batch_row(caller, key, "suspend")?;
        match row.state {
            BatchState::Created | BatchState::Active => {}
            BatchState::Suspended | BatchState::Canceled | BatchState::Completed | BatchState::Failed => {
                return Err(wrong_state(row, "suspend"));
            }
        }
        self.batches.change(&key, tick.number, |row| (row.state, row.due) = (BatchState::Suspended, None));
        tick.unit.pages.push(PageChange::Drop(key));
        Ok(Answer::Done)
    }

    fn resume_batch(&mut self, tick: &mut Tick, caller: &Caller, key: u64) -> Result<Answer, Stop> {
        let row = self.batch_row(caller, key, "resume")?;
        match row.state {
            BatchState::Suspended => {}
            BatchState::Created | BatchState::Active | BatchState::Canceled | BatchState::Completed | BatchState::Failed => {
                return Err(wrong_state(row, "resume"));
            }
        }
        let now = tick.now;
        self.batches.change(&key, tick.number, |row| {
            row.state = if row.started.is_some() { BatchState::Active } else { BatchState::Created };
            row.due = Some(now);
        });
        tick.unit.woken.push((now, (key, DueKind::Batch)));
        Ok(Answer::Done)
    }

    /// What was found and not dealt with is marked, page by page, when it is due.
    fn cancel_batch(&mut self, tick: &mut Tick, caller: &Caller, key: u64) -> Result<Answer, Stop> {
        let row = self.batch_row(caller, key, "cancel")?;
        match row.state {
            BatchState::Created | BatchState::Active | BatchState::Suspended => {}
            BatchState::Canceled | BatchState::Completed | BatchState::Failed => return Err(wrong_state(row, "cancel")),
        }
        let now = tick.now;
        self.batches.change(&key, tick.number, |row| {
            (row.state, row.ended, row.due, row.after) = (BatchState::Canceled, Some(now), Some(now), None);
        });
        tick.unit.pages.push(PageChange::Drop(key));
        tick.unit.woken.push((now, (key, DueKind::Batch)));
        Ok(Answer::Done)
    }

    fn batch_row(&self, caller: &Caller, key: u64, what: &str) -> Result<&Batch, Stop> {
        if !self.batches.knows(&key) && !self.rested.batches.contains_key(&key) {
            return Err(Needs::at_rest(AtRest::Batch(key)).into());
        }
        let row = self.batches.get(&key).filter(|row| caller.tenants.has(&row.tenant));
        row.ok_or_else(|| {
            Stop::not_found(format!(
                "Expected to {what} a batch operation with key '{key}', but no such batch operation was found"
            ))
        })
    }

    /// An operation goes on: it finds more, reads the next items, or is over.
    fn batch_due(&mut self, tick: &mut Tick, key: u64) -> Result<Answer, Stop> {
        let nothing = || Stop::not_found(format!("batch operation {key} has nothing to do now"));
        if self.pages.0.get(&key).is_some_and(|page| !page.items.is_empty()) {
            return Err(nothing());
        }
        let Some(found) = self.rested.batches.get(&key).cloned() else {
            return Err(Needs::at_rest(AtRest::Batch(key)).into());
        };
        let (Some(found), Some(row)) = (found, self.batches.get(&key).cloned()) else { return Err(nothing()) };
        tick.unit.rested_batches.push(key);
        match (row.state, &found.trouble) {
            (BatchState::Suspended | BatchState::Completed, _) => return Err(nothing()),
            (BatchState::Created | BatchState::Active | BatchState::Canceled | BatchState::Failed, Some(trouble)) => {
                self.batch_in_trouble(tick, &row, trouble);
            }
            (BatchState::Created | BatchState::Active, None) => match row.after {
                Some(_) => self.add_items(tick, &row, &found),
                None if found.open.is_empty() && found.has_large => self.look_again(tick, key, found.took),
                None if found.open.is_empty() => self.complete_batch(tick, key),
                None => tick.unit.pages.push(PageChange::Read(key, found.open.clone())),
            },
            (BatchState::Canceled | BatchState::Failed, None) => self.drop_items(tick, key, &found),
        }
        Ok(Answer::Done)
    }

    fn add_items(&mut self, tick: &mut Tick, row: &Batch, found: &Found) {
        let kind: Arc<str> = row.asked.work.word().into();
        for item in &found.new {
            let key = self.keys.take();
            tick.unit.changes.batch_items_new.push(BatchItem { key, batch: row.key, kind: kind.clone(), ..item.clone() });
        }
        let (now, count) = (tick.now, found.new.len() as u64);
        self.batches.change(&row.key, tick.number, |row| {
            row.state = BatchState::Active;
            row.started = row.started.or(Some(now));
            row.total += count;
            row.after = found.after;
        });
        self.look_again(tick, row.key, found.took);
    }

    /// Callers have at least as long as they had to wait, which was after the tick's own time.
    fn look_again(&mut self, tick: &mut Tick, key: u64, took: Millis) {
        let due = tick.now.saturating_add(2 * took);
        self.batches.change(&key, tick.number, |row| row.due = Some(due));
        tick.unit.woken.push((due, (key, DueKind::Batch)));
    }

    fn complete_batch(&mut self, tick: &Tick, key: u64) {
        let now = tick.now;
        self.batches.change(&key, tick.number, |row| {
            (row.state, row.ended, row.due) = (BatchState::Completed, Some(now), None);
        });
    }

    fn drop_items(&mut self, tick: &mut Tick, key: u64, found: &Found) {
        let changed = found.open.iter().map(|(item, _)| BatchItemChange {
            key: item.key,
            state: ItemState::Canceled,
            processed: Some(tick.now),
            error: None,
        });
        tick.unit.changes.batch_items_changed.extend(changed);
        match found.open.is_empty() {
            true => self.batches.change(&key, tick.number, |row| row.due = None),
            false => tick.unit.woken.push((tick.now, (key, DueKind::Batch))),
        }
    }
}

/// One item.
impl Partition {
    /// What is refused is written down, and that is all that happens then.
    pub(super) fn batch_item(&mut self, tick: &mut Tick, batch: u64, key: u64) -> Result<Answer, Stop> {
        let gone = || Stop::not_found(format!("item {key} of batch operation {batch} is not to be dealt with now"));
        let item = self.pages.get(batch, key).cloned().ok_or_else(gone)?;
        let row = self.batches.get(&batch).filter(|row| row.state == BatchState::Active).ok_or_else(gone)?;
        let asked = row.asked.clone();
        let dealt = self.deal_with(tick, &item, &asked).and_then(|_| self.with_all_that_follows(tick));
        let error = match dealt {
            Ok(()) => None,
            Err(Stop::Refused(rejection)) => {
                self.undo_unit(tick);
                Some(in_words(&rejection))
            }
            Err(needs) => return Err(needs),
        };
        self.end_item(tick, batch, key, error);
        Ok(Answer::Done)
    }

    pub(super) fn end_item(&mut self, tick: &mut Tick, batch: u64, key: u64, error: Option<Arc<str>>) {
        let is_done = error.is_none();
        let state = if is_done { ItemState::Completed } else { ItemState::Failed };
        tick.unit.changes.batch_items_changed.push(BatchItemChange { key, state, processed: Some(tick.now), error });
        tick.unit.pages.push(PageChange::Done { batch, key });
        self.batches.change(&batch, tick.number, |row| match is_done {
            true => row.completed += 1,
            false => row.failed += 1,
        });
    }

    fn deal_with(&mut self, tick: &mut Tick, item: &BatchItem, asked: &Asked) -> Result<Answer, Stop> {
        let (caller, instance) = (&asked.caller, instance_of(item));
        match &asked.work {
            Work::Cancel => self.cancel(tick, caller, instance),
            Work::ResolveIncidents => self.resolve_with_retries(tick, caller, IncidentKey(item.item)),
            Work::Change(change) => self.change(tick, caller, instance, change),
            Work::Suspend => self.suspend(tick, caller, instance),
            Work::Resume => self.resume(tick, caller, instance),
            // It was found finished, and stays so; if it is gone meanwhile, that was wanted.
            Work::Delete => {
                tick.unit.changes.instances_deleted.push(instance);
                Ok(Answer::Done)
            }
            Work::DeleteEvaluations => {
                tick.unit.changes.evaluations_deleted.push(EvaluationKey(item.item));
                Ok(Answer::Done)
            }
        }
    }

    /// A job that has no retries left gets one.
    fn resolve_with_retries(&mut self, tick: &mut Tick, caller: &Caller, incident: IncidentKey) -> Result<Answer, Stop> {
        let instance = self.instance_of_incident(tick, caller, incident)?;
        let job = self.hot.get(instance).and_then(|hot| hot.instance.incidents.get(&incident)?.job);
        if let Some(job) = job
            && self.job(tick, job)?.is_some()
        {
            self.change_job(tick, job, |job| job.retries = job.retries.max(1));
        }
        self.resolve_incident(tick, caller, incident)
    }

    pub(super) fn foresee_batch(&self, command: &BatchCommand, needs: &mut Needs) {
        let BatchCommand::Item { batch, key } = command else { return };
        let (Some(item), Some(row)) = (self.pages.get(*batch, *key), self.batches.get(batch)) else { return };
        match &row.asked.work {
            Work::ResolveIncidents => needs.wanted.incidents.push(IncidentKey(item.item)),
            Work::Cancel | Work::Change(_) | Work::Suspend | Work::Resume => {
                if let Some(instance) = item.instance.filter(|instance| !self.hot.contains(*instance)) {
                    needs.wanted.instances.push(instance);
                }
                if let Work::Change(Change::Migrate(migrate)) = &row.asked.work {
                    needs.definitions.insert(migrate.definition);
                }
            }
            Work::Delete | Work::DeleteEvaluations => {}
        }
    }

    /// What the command has changed about pages is so from now on.
    pub(super) fn accept_pages(&mut self, now: Millis, unit: &mut Unit) {
        for batch in unit.rested_batches.drain(..) {
            self.rested.batches.remove(&batch);
        }
        for change in unit.pages.drain(..) {
            match change {
                PageChange::Read(batch, items) => {
                    let waiting = items.iter().map(|(item, rows)| (item.key, *rows)).collect();
                    let items = items.into_iter().map(|(item, _)| (item.key, item)).collect();
                    self.pages.0.insert(batch, Page { waiting, items });
                }
                PageChange::Drop(batch) => drop(self.pages.0.remove(&batch)),
                PageChange::Done { batch, key } => {
                    let Some(page) = self.pages.0.get_mut(&batch) else { continue };
                    page.items.remove(&key);
                    if page.items.is_empty() {
                        self.pages.0.remove(&batch);
                        self.timeline.insert(now, (batch, DueKind::Batch));
                    }
                }
            }
        }
    }
}

/// As clients of Camunda 8 are told: the code, then why.
fn in_words(rejection: &Rejection) -> Arc<str> {
    let code = match rejection.code {
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::InvalidState => "INVALID_STATE",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::Exhausted => "RESOURCE_EXHAUSTED",
        Code::Expired => "DEADLINE_EXCEEDED",
    };
    format!("{code}: {}", rejection.reason).into()
}

/// One that is over is not found, as in Camunda 8.
fn wrong_state(row: &Batch, what: &str) -> Stop {
    let code = match row.state {
        BatchState::Created | BatchState::Active | BatchState::Suspended => Code::InvalidState,
        BatchState::Canceled | BatchState::Completed | BatchState::Failed => Code::NotFound,
    };
    let (key, state) = (row.key, row.state.word());
    Stop::refused(code, format!("Expected to {what} a batch operation with key '{key}', but it is in state '{state}'"))
}
