//! Where each field is found: table, expression, whether it may be absent.

use super::Dialect;
use crate::query::{Entity, Field, ScalarKind, VALUE_CHARS_SHOWN};
use Presence::{Always, Maybe};
use Table::{DefinitionElement, Own};

/// Which of the joined tables an expression reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// The entity's own.
    Own,
    Definition,
    DefinitionElement,
    Instance,
    Requirements,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) table: Table,
    /// `@` stands for the table's alias, `~` for that of the entity's own.
    pub(super) sql: &'static str,
    pub(super) kind: ScalarKind,
    pub(super) presence: Presence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Always,
    Maybe,
}

/// The tables a sub-select reads, and how deep it is nested: aliases carry the depth so that an inner one never hides an outer one.
#[derive(Debug, Clone)]
pub(super) struct From {
    pub(super) entity: Entity,
    pub(super) depth: usize,
    joined: Vec<(Table, Join)>,
    join: Join,
    /// Whether only user tasks that are open are asked for.
    pub(super) open_only: bool,
    /// PostgreSQL: whether rows are gone through in their order, and nothing begins with what they are asked for.
    pub(super) fenced: bool,
    /// PostgreSQL: whether instances come out of the index by end, as those do that run when their first page is asked for.
    pub(super) by_end: bool,
    /// Fields that every row asked for has, whatever others have.
    pub(super) present: Vec<Field>,
    /// What stands for the entity's own table.
    pub(super) rows: Option<String>,
    /// SQLite: what gives the keys of rows to begin with.
    pub(super) lead: Option<String>,
    /// SQLite: that it begins with this table, whatever the planner thinks of it, and which order it is gone through in.
    pub(super) walk: Option<&'static str>,
    /// SQLite: whether it begins with what is joined of a definition, by which rows are found.
    pub(super) begins_with_definition: bool,
}

/// How a table is joined. Every row has its definition, element and instance, so both give the same rows; but for the audit trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// Its columns decide which rows match, so the planner may begin with it.
    Deciding,
    /// Its columns are only shown: the planner is to find the rows first.
    Showing,
}

impl From {
    pub(super) fn new(entity: Entity, depth: usize) -> Self {
        Self {
            entity,
            depth,
            joined: Vec::new(),
            join: Join::Deciding,
            open_only: false,
            by_end: false,
            fenced: false,
            present: Vec::new(),
            rows: None,
            lead: None,
            walk: None,
            begins_with_definition: false,
        }
    }

    /// Rows that were found, of which columns are only shown.
    pub(super) fn showing(entity: Entity, rows: String) -> Self {
        Self { rows: Some(rows), join: Join::Showing, ..Self::new(entity, 0) }
    }

    /// From here on columns are only shown.
    pub(super) fn show(&mut self) {
        self.join = Join::Showing;
    }

    /// The column as text; its table is joined if it was not yet.
    pub(super) fn text(&mut self, column: Column) -> String {
        self.expression(column.table, column.sql)
    }

    pub(super) fn expression(&mut self, table: Table, sql: &str) -> String {
        if table != Table::Own && !self.joined.iter().any(|(joined, _)| *joined == table) {
            self.joined.push((table, self.join));
        }
        sql.replace('@', &self.alias(table)).replace('~', &self.alias(Table::Own))
    }

    pub(super) fn alias(&self, table: Table) -> String {
        let letter = match table {
            Table::Own => "o",
            Table::Definition => "d",
            Table::DefinitionElement => "e",
            Table::Instance => "i",
            Table::Requirements => "r",
        };
        format!("{letter}{}", self.depth)
    }

    /// The FROM list with what was asked for so far.
    pub(super) fn sql(&self, dialect: Dialect) -> String {
        let own = self.alias(Table::Own);
        let mut sql = match (&self.rows, &self.lead) {
            (Some(rows), _) => rows.clone(),
            (None, Some(lead)) => {
                format!("({lead}) AS lead CROSS JOIN {} AS {own} ON {own}.key = lead.key", table_name(self.entity))
            }
            (None, None) => format!("{} AS {own}{}", table_name(self.entity), self.walk.unwrap_or_default()),
        };
        for (table, join) in &self.joined {
            let other = self.alias(*table);
            let (name, on) = match table {
                Table::Own => continue,
                Table::Definition => ("definitions", format!("{other}.key = {own}.definition")),
                Table::DefinitionElement => {
                    let same = format!("{other}.definition = {own}.definition AND {other}.element = {own}.element");
                    ("definition_elements", same)
                }
                Table::Instance => ("instances", format!("{other}.key = {own}.instance")),
                Table::Requirements => ("requirements", format!("{other}.key = {own}.requirements")),
            };
            if self.begins_with_definition {
                // On SQLite a key is there once, so its partition need not be read of the row.
                sql = format!("{name} AS {other} CROSS JOIN {sql} ON {on}");
                continue;
            }
            let join = match (join, dialect) {
                (Join::Showing, _) => "LEFT JOIN",
                // Not all of it is about a definition, or about one that is still there.
                (Join::Deciding, _) if matches!(self.entity, Entity::Operations | Entity::Audit) => "LEFT JOIN",
                (Join::Deciding, Dialect::Sqlite) if self.walk.is_some() || self.lead.is_some() => "CROSS JOIN",
                (Join::Deciding, Dialect::Sqlite) if !self.is_indexed_by(*table) => "CROSS JOIN",
                (Join::Deciding, Dialect::Sqlite | Dialect::Postgres) => "JOIN",
            };
            sql.push_str(&format!(" {join} {name} AS {other} ON {other}.partition = {own}.partition AND {on}"));
        }
        sql
    }

    /// Whether rows can be found from that table. Where they cannot, SQLite would read all of them once for every row it begins
    /// with; CROSS JOIN tells it not to.
    fn is_indexed_by(&self, table: Table) -> bool {
        match table {
            Table::Own => true,
            // Instances begin with definitions by a lead, or not at all: of one there may be a million.
            Table::Definition => self.entity == Entity::Incidents,
            Table::DefinitionElement => false,
            Table::Instance | Table::Requirements => true,
        }
    }
}

pub(super) fn table_name(entity: Entity) -> &'static str {
    match entity {
        Entity::Definitions => "definitions",
        Entity::Instances => "instances",
        Entity::Elements => "elements",
        Entity::Variables => "variables",
        Entity::Jobs | Entity::Executions | Entity::DeadLetters => "jobs",
        Entity::Incidents => "incidents",
        Entity::Requirements => "requirements",
        Entity::Decisions => "decisions",
        Entity::EvaluatedDecisions => "evaluated_decisions",
        Entity::Timers => "timers",
        Entity::MessageSubscriptions | Entity::Waits => "subscriptions",
        Entity::MessageCorrelations => "message_correlations",
        Entity::UserTasks => "user_tasks",
        Entity::Batches => "batch_operations",
        Entity::BatchItems => "batch_items",
        Entity::Operations => "audit",
        Entity::Audit => super::audit::TRAIL,
    }
}

pub(super) fn postgres_type(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::Bool => "boolean",
        ScalarKind::Int => "bigint",
        ScalarKind::Text => "text",
    }
}

/// As read by a store: PostgreSQL's narrower integers are widened.
pub(super) fn selected(text: String, kind: ScalarKind, dialect: Dialect) -> String {
    match (dialect, kind) {
        (Dialect::Postgres, ScalarKind::Int) => format!("({text})::bigint"),
        (Dialect::Postgres | Dialect::Sqlite, _) => text,
    }
}

/// Where an entity keeps a field.
pub(super) fn column(entity: Entity, field: Field, dialect: Dialect) -> Column {
    let (table, sql, presence) = match entity {
        Entity::Operations | Entity::Audit => super::audit::place(field, dialect),
        _ => place_in(entity, field).unwrap_or_else(|| place(entity, field, dialect)),
    };
    Column { table, sql, kind: field.kind(), presence }
}

/// What is suspended is stored as active.
pub(super) const INSTANCE_STATE: &str = "(CASE WHEN @.suspended IS NULL THEN @.state ELSE 'SUSPENDED' END)";

/// Where an entity has a field in another way than the others.
fn place_in(entity: Entity, field: Field) -> Option<(Table, &'static str, Presence)> {
    let column = match (entity, field) {
        (_, key) if key == entity.key() => "@.key",
        (Entity::Jobs | Entity::Timers | Entity::UserTasks | Entity::Executions | Entity::DeadLetters, Field::Tenant) => {
            "@.tenant"
        }
        (Entity::Batches | Entity::BatchItems, Field::Tenant) => "@.tenant",
        (Entity::Incidents, Field::ErrorMessage) => "@.message",
        (Entity::Definitions, Field::DeploymentKey) => "@.deployment",
        (Entity::Definitions, Field::HasStartForm) => "(@.start_form IS NOT NULL)",
        (Entity::Decisions, Field::DecisionId) => "@.id",
        _ => return None,
    };
    Some((Own, column, Always))
}

/// A decision may be evaluated on its own, and a knowledge model has no version.
#[rustfmt::skip]
fn place(entity: Entity, field: Field, dialect: Dialect) -> (Table, &'static str, Presence) {
    let (of_definition, of_requirements) = (table_of_definition(entity), table_of_requirements(entity));
    let of_evaluated = if entity == Entity::EvaluatedDecisions { Maybe } else { Always };
    match field {
        Field::BatchKey | Field::BatchKind | Field::BatchState | Field::Actor | Field::BatchItemKey | Field::ItemKey
        | Field::ItemState | Field::Processed => of_batch(field),
        Field::Due | Field::ElementName if entity == Entity::UserTasks => of_user_task(field),
        Field::ExecutionKey | Field::ExecutionState | Field::Attempts | Field::UniqueKey | Field::Group => {
            of_execution(field, dialect)
        }
        Field::Assignee | Field::Priority | Field::FollowUp | Field::UserTaskKey => of_user_task(field),
        Field::DefinitionKey => (Own, "@.definition", of_evaluated),
        Field::ProcessId => (of_definition, "@.process_id", Always),
        Field::DefinitionName => (of_definition, "@.name", Maybe),
        Field::Version => (of_definition, "@.version", of_evaluated),
        Field::VersionTag => (of_definition, "@.version_tag", Maybe),
        Field::ResourceName => (of_definition, "@.resource_name", Always),
        Field::Tenant => (of_definition, "@.tenant", Always),
        Field::DefinitionState => (of_definition, definition_state(dialect), Always),
        Field::InstanceKey => (Own, "@.instance", presence_of_instance(entity).0),
        Field::InstanceState => (Own, INSTANCE_STATE, Always),
        Field::ElementState | Field::JobState | Field::TimerState | Field::UserTaskState => (Own, "@.state", Always),
        Field::SubscriptionState => (Own, subscription_state(dialect), Always),
        Field::Started => (Own, "@.started", presence_of_start(entity)),
        Field::Ended => (Own, "@.ended", Maybe),
        Field::ParentInstanceKey => (Own, "@.parent_instance", Maybe),
        Field::ParentElementKey => (Own, "@.parent_element", Maybe),
        Field::HasIncident => (Own, "(@.stuck IS NOT NULL)", Always),
        Field::BusinessId => (Own, "@.business_id", Maybe),
        Field::ElementKey => (Own, "@.element_instance", presence_of_instance(entity).1),
        Field::ElementId => (DefinitionElement, "@.id", Always),
        Field::ElementName => (DefinitionElement, "@.name", Maybe),
        Field::ElementKind => (DefinitionElement, element_kind(dialect), Always),
        Field::ScopeKey => (Own, "@.scope", Always),
        Field::Name | Field::DecisionName | Field::MessageName => (Own, "@.name", Always),
        Field::Value => (Own, "@.value", Always),
        Field::IsTruncated => (Own, IS_TRUNCATED, Always),
        Field::JobKey => (Own, "@.job", Maybe),
        Field::JobType => (Own, "@.job_type", Always),
        Field::Retries => (Own, "@.retries", Always),
        Field::Worker => (Own, "@.worker", Always),
        Field::Deadline => (Own, "@.deadline", Maybe),
        Field::ErrorCode => (Own, "@.error_code", Always),
        Field::ErrorMessage => (Own, "@.error_message", Always),
        Field::FailedWithRetriesLeft => (Own, "@.failed_with_retries_left", Always),
        Field::JobKind | Field::ListenerEvent | Field::IsDenied | Field::DeniedReason => of_listener(field),
        Field::Created => (Own, "@.created", Always),
        Field::Updated => (Own, "@.updated", Always),
        Field::IncidentKey => (Own, "@.incident", Maybe),
        Field::IncidentState => (Own, incident_state(dialect), Always),
        Field::MessageHash => (Own, "@.message_hash", Always),
        Field::RequirementsKey => (Own, "@.requirements", Always),
        Field::RequirementsId => (of_requirements, "@.id", Always),
        Field::RequirementsName => (of_requirements, "@.name", Always),
        Field::RequirementsVersion => (of_requirements, "@.version", Always),
        Field::DeploymentKey => (of_requirements, "@.deployment", Always),
        Field::DecisionKey => (Own, "@.decision", Maybe),
        Field::DecisionId => (Own, "@.decision_id", Always),
        Field::VariableKey | Field::EvaluatedKey | Field::TimerKey | Field::CorrelatedKey => (Own, "@.key", Always),
        Field::EvaluatedId => (Own, evaluated_id(dialect), Always),
        Field::EvaluationKey => (Own, "@.evaluation", Always),
        Field::DecisionKind | Field::IncidentKind | Field::TimerKind | Field::SubscriptionKind => (Own, "@.kind", Always),
        Field::RootDecisionKey => (Own, "@.root_decision", Always),
        Field::Evaluated => (Own, "@.evaluated", Always),
        Field::Due | Field::Number | Field::SubscriptionKey | Field::CorrelationKey | Field::MessageKey | Field::Correlated => (Own, of_wait(field), Always),
        Field::HasStartForm | Field::AuditKey | Field::At | Field::ActorKind | Field::Operation | Field::AuditEntity | Field::EntityKey
        | Field::Category | Field::ResourceKey | Field::FormKey | Field::Description => super::audit::place(field, dialect),
    }
}

/// Whether everything of a kind has begun.
fn presence_of_start(entity: Entity) -> Presence {
    if matches!(entity, Entity::Executions | Entity::Batches) { Maybe } else { Always }
}

/// What only operations over many and their items have; the key of either is its own.
fn of_batch(field: Field) -> (Table, &'static str, Presence) {
    match field {
        Field::BatchKey => (Own, "@.batch", Always),
        Field::BatchKind => (Own, "@.kind", Always),
        Field::Actor => (Own, "@.actor", Always),
        Field::ItemKey => (Own, "@.item", Always),
        Field::Processed => (Own, "@.processed", Maybe),
        _ => (Own, "@.state", Always),
    }
}

/// What only timers, subscriptions and correlations have.
fn of_wait(field: Field) -> &'static str {
    match field {
        Field::Due => "@.due",
        Field::Number => "@.number",
        Field::SubscriptionKey => "@.subscription",
        Field::CorrelationKey => "@.correlation_key",
        Field::MessageKey => "@.message",
        _ => "@.at",
    }
}

/// What a job listens to says what it is.
const JOB_KIND: &str = "(CASE WHEN @.kind IS NULL THEN 'BPMN_ELEMENT' WHEN @.kind = 'AD_HOC_SUB_PROCESS' THEN @.kind \
     WHEN @.kind IN ('START', 'END') THEN 'EXECUTION_LISTENER' \
     ELSE 'TASK_LISTENER' END)";

/// What tells jobs of listeners from others.
fn of_listener(field: Field) -> (Table, &'static str, Presence) {
    match field {
        Field::JobKind => (Own, JOB_KIND, Always),
        Field::IsDenied => (Own, "(CASE WHEN @.state = 'COMPLETED' THEN @.denied IS NOT NULL END)", Maybe),
        Field::DeniedReason => (Own, "(CASE WHEN @.state = 'COMPLETED' THEN coalesce(@.denied, '') END)", Maybe),
        _ => {
            (Own, "(CASE WHEN @.kind = 'AD_HOC_SUB_PROCESS' THEN 'UNSPECIFIED' ELSE coalesce(@.kind, 'UNSPECIFIED') END)", Always)
        }
    }
}

/// What only user tasks have, or have in a way of their own.
fn of_user_task(field: Field) -> (Table, &'static str, Presence) {
    match field {
        Field::Assignee => (Own, "@.assignee", Maybe),
        Field::Priority => (Own, "@.priority", Always),
        Field::Due => (Own, "@.due", Maybe),
        Field::FollowUp => (Own, "@.follow_up", Maybe),
        // A task without a name goes by its id.
        Field::ElementName => (DefinitionElement, "coalesce(@.name, @.id)", Always),
        _ => (Own, "@.key", Always),
    }
}

/// What only executions have.
fn of_execution(field: Field, dialect: Dialect) -> (Table, &'static str, Presence) {
    match field {
        Field::ExecutionState => (Own, execution_state(dialect), Always),
        Field::Attempts => (Own, "@.attempts", Always),
        Field::UniqueKey => (Own, "@.unique_key", Maybe),
        Field::Group => (Own, "@.group_key", Maybe),
        _ => (Own, "@.key", Always),
    }
}

/// Where an entity has what its definition says.
fn table_of_definition(entity: Entity) -> Table {
    match entity {
        Entity::Definitions | Entity::Requirements | Entity::Decisions | Entity::EvaluatedDecisions => Table::Own,
        Entity::MessageSubscriptions | Entity::Waits | Entity::MessageCorrelations => Table::Own,
        Entity::Instances | Entity::Elements | Entity::Variables => Table::Definition,
        Entity::Jobs | Entity::Incidents | Entity::Timers | Entity::UserTasks => Table::Definition,
        Entity::Executions | Entity::Batches | Entity::BatchItems | Entity::Operations | Entity::Audit | Entity::DeadLetters => {
            Table::Own
        }
    }
}

fn table_of_requirements(entity: Entity) -> Table {
    if entity == Entity::Requirements { Table::Own } else { Table::Requirements }
}

/// Whether rows belong to an instance, and to an element instance. A start event belongs to none, and where a message has started an
/// instance no element instance has waited.
fn presence_of_instance(entity: Entity) -> (Presence, Presence) {
    match entity {
        Entity::EvaluatedDecisions
        | Entity::Timers
        | Entity::MessageSubscriptions
        | Entity::Waits
        | Entity::Executions
        | Entity::Batches
        | Entity::BatchItems
        | Entity::DeadLetters => (Presence::Maybe, Presence::Maybe),
        Entity::Operations | Entity::Audit => (Presence::Maybe, Presence::Maybe),
        Entity::MessageCorrelations => (Presence::Always, Presence::Maybe),
        Entity::Definitions | Entity::Requirements | Entity::Decisions | Entity::Instances => {
            (Presence::Always, Presence::Always)
        }
        Entity::Elements | Entity::Variables | Entity::Jobs | Entity::Incidents | Entity::UserTasks => {
            (Presence::Always, Presence::Always)
        }
    }
}

const IS_TRUNCATED: &str = "(length(@.value) > 8191)";
const _: () = assert!(VALUE_CHARS_SHOWN == 8191);

fn definition_state(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "(CASE WHEN @.deleted THEN 'DELETED' ELSE 'ACTIVE' END)",
        Dialect::Postgres => "((CASE WHEN @.deleted THEN 'DELETED' ELSE 'ACTIVE' END) COLLATE \"C\")",
    }
}

fn execution_state(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "(CASE @.availability WHEN 'LEASED' THEN 'RUNNING' WHEN 'STUCK' THEN 'FAILED' WHEN 'DONE' THEN \
             (CASE @.state WHEN 'CANCELED' THEN 'CANCELLED' ELSE 'COMPLETED' END) ELSE 'WAITING' END)"
        }
        Dialect::Postgres => {
            "((CASE @.availability WHEN 'LEASED' THEN 'RUNNING' WHEN 'STUCK' THEN 'FAILED' WHEN 'DONE' THEN \
             (CASE @.state WHEN 'CANCELED' THEN 'CANCELLED' ELSE 'COMPLETED' END) ELSE 'WAITING' END) COLLATE \"C\")"
        }
    }
}

fn element_kind(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "(CASE WHEN ~.progress IS NULL THEN @.kind ELSE 'MULTI_INSTANCE_BODY' END)",
        Dialect::Postgres => "((CASE WHEN ~.progress IS NULL THEN @.kind ELSE 'MULTI_INSTANCE_BODY' END) COLLATE \"C\")",
    }
}

fn incident_state(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "(CASE WHEN @.resolved IS NULL THEN 'ACTIVE' ELSE 'RESOLVED' END)",
        Dialect::Postgres => "((CASE WHEN @.resolved IS NULL THEN 'ACTIVE' ELSE 'RESOLVED' END) COLLATE \"C\")",
    }
}

/// As [`crate::row::SubscriptionState::shown`] has it.
fn subscription_state(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "(CASE WHEN @.state = 'CREATED' AND @.created < @.updated THEN 'CORRELATED' ELSE @.state END)",
        Dialect::Postgres => {
            "((CASE WHEN @.state = 'CREATED' AND @.created < @.updated THEN 'CORRELATED' ELSE @.state END) COLLATE \"C\")"
        }
    }
}

fn evaluated_id(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "(@.evaluation || '-' || @.place)",
        Dialect::Postgres => "((@.evaluation || '-' || @.place) COLLATE \"C\")",
    }
}
