//! What each entity shows, column by column, and how rows become views again.

mod audit;
mod batch;
mod decision;
mod execution;
mod row;
mod user_task;
mod wait;

use std::borrow::Cow;

use engine::{DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, VariableKey};

use self::row::Row;
use super::column::INSTANCE_STATE;
use super::column::Table::{self, Definition, DefinitionElement, Instance, Own};
use crate::query::{
    Counted, Counting, Cursor, DefinitionView, ElementView, Entity, IncidentView, InstanceView, Items, JobView, Page, Query,
    QueryPage, Room, ScalarKind, Sort, TOTAL_MAX, VariableView,
};
use crate::row::{InstanceState, JobKind, JobState};
use crate::{Error, words};
use ScalarKind::{Bool, Int, Text};

/// A row a store has read: cells by number, from 0.
pub trait Cells {
    fn int(&self, column: usize) -> Result<Option<i64>, Error>;
    fn bool(&self, column: usize) -> Result<Option<bool>, Error>;
    fn text(&self, column: usize) -> Result<Option<String>, Error>;
    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Error>;
}

/// A page as it is read, row by row.
pub struct Collected {
    order: Vec<Sort>,
    backwards: bool,
    with_details: bool,
    items: Items,
    room: Room,
    first: Option<Cursor>,
    last: Option<Cursor>,
}

impl Collected {
    pub fn of(query: &Query) -> Self {
        let backwards = matches!(query.page, Page::Before { .. });
        let room = Room::of(query.bytes_max);
        let items = Items::none(query.entity);
        Self { order: query.order(), backwards, with_details: query.with_details, items, room, first: None, last: None }
    }

    /// Whether no further row is wanted. One that is pushed all the same is left out.
    pub fn is_full(&self) -> bool {
        self.room.is_full()
    }

    pub fn push(&mut self, cells: &impl Cells) -> Result<(), Error> {
        let (mut row, room) = (Row { cells, column: 0 }, &mut self.room);
        match &mut self.items {
            Items::Definitions(items) => room.put(items, definition(&mut row)?),
            Items::Instances(items) => room.put(items, instance(&mut row)?),
            Items::Elements(items) => room.put(items, element(&mut row)?),
            Items::Variables(items) => room.put(items, variable(&mut row)?),
            Items::Jobs(items) => room.put(items, job(&mut row)?),
            Items::Incidents(items) => room.put(items, incident(&mut row)?),
            Items::Requirements(items) => room.put(items, decision::requirements(&mut row)?),
            Items::Decisions(items) => room.put(items, decision::decision(&mut row)?),
            Items::EvaluatedDecisions(items) => room.put(items, decision::evaluated(&mut row, self.with_details)?),
            Items::Timers(items) => room.put(items, wait::timer(&mut row)?),
            Items::MessageSubscriptions(items) | Items::Waits(items) => room.put(items, wait::subscription(&mut row)?),
            Items::MessageCorrelations(items) => room.put(items, wait::correlation(&mut row)?),
            Items::UserTasks(items) => room.put(items, user_task::user_task(&mut row)?),
            Items::Executions(items) => room.put(items, execution::execution(&mut row)?),
            Items::Batches(items) => room.put(items, batch::batch(&mut row)?),
            Items::BatchItems(items) => room.put(items, batch::item(&mut row)?),
            Items::Operations(items) | Items::Audit(items) => room.put(items, audit::audit(&mut row)?),
            Items::DeadLetters(items) => room.put(items, execution::dead_letter(&mut row)?),
        }
        if room.is_full() {
            return Ok(());
        }
        let cursor = Cursor(self.order.iter().map(|sort| row.scalar(sort.field.kind())).collect::<Result<_, _>>()?);
        if self.first.is_none() {
            self.first = Some(cursor.clone());
        }
        self.last = Some(cursor);
        Ok(())
    }

    /// `total`: what was counted, if anything was.
    pub fn finish(mut self, total: Option<i64>) -> QueryPage {
        if self.backwards {
            self.items.reverse();
            std::mem::swap(&mut self.first, &mut self.last);
        }
        let total = total.map_or(self.items.len() as u64, |total| u64::try_from(total).unwrap_or(0));
        QueryPage {
            items: self.items,
            is_cut: self.room.is_full(),
            total: total.min(TOTAL_MAX),
            total_is_more: TOTAL_MAX < total,
            start: self.first,
            end: self.last,
        }
    }
}

/// A row of a [`super::count`].
pub fn counted(counting: &Counting, cells: &impl Cells) -> Result<Counted, Error> {
    let mut row = Row { cells, column: 0 };
    let values = counting.by.iter().map(|field| row.scalar(field.kind())).collect::<Result<_, _>>()?;
    Ok(Counted { values, rows: row.key()?, distinct: row.key()?, latest: row.int_maybe()? })
}

pub(super) struct Shown {
    pub(super) table: Table,
    /// `@` stands for the table's alias.
    pub(super) sql: Cow<'static, str>,
    pub(super) kind: ScalarKind,
}

/// What is selected, in the order in which the functions below read it.
pub(super) fn columns(query: &Query) -> Vec<Shown> {
    let shown = |&(table, sql, kind): &(Table, &'static str, ScalarKind)| Shown { table, sql: Cow::Borrowed(sql), kind };
    let mut columns: Vec<Shown> = match query.entity {
        Entity::Definitions => DEFINITION.iter().map(shown).collect(),
        Entity::Instances => INSTANCE.iter().map(shown).collect(),
        Entity::Elements => ELEMENT.iter().map(shown).collect(),
        Entity::Variables => VARIABLE.iter().map(shown).collect(),
        Entity::Jobs => JOB.iter().map(shown).collect(),
        Entity::Incidents => INCIDENT.iter().map(shown).collect(),
        Entity::Requirements => decision::REQUIREMENTS.iter().map(shown).collect(),
        Entity::Decisions => decision::DECISION.iter().map(shown).collect(),
        Entity::EvaluatedDecisions => decision::EVALUATED_DECISION.iter().map(shown).collect(),
        Entity::Timers => wait::TIMER.iter().map(shown).collect(),
        Entity::MessageSubscriptions | Entity::Waits => wait::SUBSCRIPTION.iter().map(shown).collect(),
        Entity::MessageCorrelations => wait::CORRELATION.iter().map(shown).collect(),
        Entity::UserTasks => user_task::USER_TASK.iter().map(shown).collect(),
        Entity::Executions => execution::EXECUTION.iter().map(shown).collect(),
        Entity::Batches => batch::BATCH.iter().map(shown).collect(),
        Entity::BatchItems => batch::ITEM.iter().map(shown).collect(),
        Entity::Operations | Entity::Audit => audit::AUDIT.iter().map(shown).collect(),
        Entity::DeadLetters => execution::DEAD_LETTER.iter().map(shown).collect(),
    };
    if query.entity == Entity::Variables {
        let (value, is_cut) = match query.value_chars_max {
            // PostgreSQL counts characters in 32 bits.
            Some(max) => {
                let max = max.min(i32::MAX as usize);
                (format!("substr(@.value, 1, {max})"), format!("(length(@.value) > {max})"))
            }
            None => ("@.value".to_owned(), "FALSE".to_owned()),
        };
        columns.push(Shown { table: Own, sql: Cow::Owned(value), kind: Text });
        columns.push(Shown { table: Own, sql: Cow::Owned(is_cut), kind: Bool });
    }
    if query.entity == Entity::EvaluatedDecisions && query.with_details {
        // Bytes, selected as they are like a text.
        columns.push(Shown { table: Own, sql: Cow::Borrowed("@.details"), kind: Text });
    }
    columns
}

type Columns = &'static [(Table, &'static str, ScalarKind)];

const DEFINITION: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.process_id", Text),
    (Own, "@.name", Text),
    (Own, "@.version", Int),
    (Own, "@.version_tag", Text),
    (Own, "@.resource_name", Text),
    (Own, "@.resource", Int),
    (Own, "@.tenant", Text),
    (Own, "@.deleted", Bool),
    (Own, "(@.start_form IS NOT NULL)", Bool),
];

fn definition(row: &mut Row<'_, impl Cells>) -> Result<DefinitionView, Error> {
    Ok(DefinitionView {
        key: DefinitionKey(row.key()?),
        process_id: row.text()?,
        name: row.text_maybe()?,
        version: row.number()?,
        version_tag: row.text_maybe()?,
        resource_name: row.text()?,
        resource: row.key()?,
        tenant: row.text()?,
        deleted: row.bool()?,
        has_start_form: row.bool()?,
    })
}

const INSTANCE: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Definition, "@.name", Text),
    (Definition, "@.version", Int),
    (Definition, "@.version_tag", Text),
    (Definition, "@.tenant", Text),
    (Own, INSTANCE_STATE, Text),
    (Own, "@.started", Int),
    (Own, "@.ended", Int),
    (Own, "(@.stuck IS NOT NULL)", Bool),
    (Own, "@.parent_instance", Int),
    (Own, "@.parent_element", Int),
    (Own, "@.root", Int),
    (Own, "@.tags", Text),
    (Own, "@.business_id", Text),
    (Own, "@.suspended", Int),
];

fn instance(row: &mut Row<'_, impl Cells>) -> Result<InstanceView, Error> {
    Ok(InstanceView {
        key: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        name: row.text_maybe()?,
        version: row.number()?,
        version_tag: row.text_maybe()?,
        tenant: row.text()?,
        state: InstanceState::from_word(&row.text()?)?,
        started: row.int()?,
        ended: row.int_maybe()?,
        has_incident: row.bool()?,
        parent_instance: row.key_maybe()?.map(InstanceKey),
        parent_element: row.key_maybe()?.map(ElementKey),
        root: InstanceKey(row.key()?),
        tags: words::tags_from_text(&row.text()?),
        business_id: row.text_maybe()?,
        suspended: row.int_maybe()?,
    })
}

const ELEMENT: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Definition, "@.tenant", Text),
    (DefinitionElement, "@.id", Text),
    (DefinitionElement, "@.name", Text),
    (DefinitionElement, "@.kind", Text),
    (Own, "@.progress", Text),
    (Own, "@.scope", Int),
    (Own, "@.state", Text),
    (Own, "@.started", Int),
    (Own, "@.ended", Int),
    (Own, "(@.stuck IS NOT NULL)", Bool),
    (Own, "@.incident", Int),
];

fn element(row: &mut Row<'_, impl Cells>) -> Result<ElementView, Error> {
    let kind = |kind: String, progress: Option<String>| progress.map_or(kind, |_| words::BODY.to_owned());
    Ok(ElementView {
        key: ElementKey(row.key()?),
        instance: InstanceKey(row.key()?),
        root: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        tenant: row.text()?,
        element_id: row.text()?,
        element_name: row.text_maybe()?,
        kind: kind(row.text()?, row.text_maybe()?),
        scope: ElementKey(row.key()?),
        state: InstanceState::from_word(&row.text()?)?,
        started: row.int()?,
        ended: row.int_maybe()?,
        has_incident: row.bool()?,
        incident: row.key_maybe()?.map(IncidentKey),
    })
}

/// The value and whether it was cut come last: they depend on the query.
const VARIABLE: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Own, "@.scope", Int),
    (Definition, "@.tenant", Text),
    (Own, "@.name", Text),
];

fn variable(row: &mut Row<'_, impl Cells>) -> Result<VariableView, Error> {
    Ok(VariableView {
        key: VariableKey(row.key()?),
        instance: InstanceKey(row.key()?),
        root: InstanceKey(row.key()?),
        scope: ElementKey(row.key()?),
        tenant: row.text()?,
        name: row.text()?,
        value: row.text()?,
        is_truncated: row.bool()?,
    })
}

const JOB: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.job_type", Text),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Own, "@.tenant", Text),
    (DefinitionElement, "@.id", Text),
    (Own, "@.element_instance", Int),
    (Own, "@.headers", Text),
    (DefinitionElement, "@.headers", Text),
    (Own, "@.state", Text),
    (Own, "@.retries", Int),
    (Own, "@.worker", Text),
    (Own, "@.deadline", Int),
    (Own, "@.error_code", Text),
    (Own, "@.error_message", Text),
    (Own, "@.failed_with_retries_left", Bool),
    (Own, "@.kind", Text),
    (Own, "@.denied", Text),
    (Own, "@.created", Int),
    (Own, "@.updated", Int),
    (Own, "@.ended", Int),
];

fn job(row: &mut Row<'_, impl Cells>) -> Result<JobView, Error> {
    Ok(JobView {
        key: JobKey(row.key()?),
        job_type: row.text()?,
        instance: InstanceKey(row.key()?),
        root: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        tenant: row.text()?,
        element_id: row.text()?,
        element_instance: ElementKey(row.key()?),
        headers: {
            let (own, of_element) = (row.text_maybe()?, row.text()?);
            own.unwrap_or(of_element)
        },
        state: JobState::from_word(&row.text()?)?,
        retries: row.number()?,
        worker: row.text()?,
        deadline: row.int_maybe()?,
        error_code: row.text()?,
        error_message: row.text()?,
        failed_with_retries_left: row.bool()?,
        kind: JobKind::from_stored(row.text_maybe()?.as_deref())?,
        denied: row.text_maybe()?,
        created: row.int()?,
        updated: row.int()?,
        ended: row.int_maybe()?,
    })
}

const INCIDENT: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Definition, "@.tenant", Text),
    (DefinitionElement, "@.id", Text),
    (Own, "@.element_instance", Int),
    (Own, "@.job", Int),
    (Own, "@.kind", Text),
    (Own, "@.message", Text),
    (Own, "@.created", Int),
    (Own, "@.resolved", Int),
];

fn incident(row: &mut Row<'_, impl Cells>) -> Result<IncidentView, Error> {
    Ok(IncidentView {
        key: IncidentKey(row.key()?),
        instance: InstanceKey(row.key()?),
        root: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        tenant: row.text()?,
        element_id: row.text()?,
        element_instance: ElementKey(row.key()?),
        job: row.key_maybe()?.map(JobKey),
        kind: words::incident_kind_from_word(&row.text()?)?,
        message: row.text()?,
        created: row.int()?,
        resolved: row.int_maybe()?,
    })
}
