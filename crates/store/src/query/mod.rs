//! What a search asks and what it gives: typed fields, filters, sorting and paging by key.

mod entity;
mod field;
mod view;
mod weight;

use std::sync::Arc;

use crate::row::Candidates;

pub use field::{Entity, Field, ScalarKind};
pub use view::{
    AuditView, BatchItemView, BatchView, DeadLetterView, DecisionView, DefinitionView, ElementView, EvaluatedDecisionView,
    ExecutionView, IncidentView, InstanceView, JobView, MessageCorrelationView, RequirementsView, SubscriptionView, TimerView,
    UserTaskView, VariableView,
};
pub(crate) use weight::{Room, Weight};

/// Past this many matches a page no longer says how many there are, only that there are more.
pub const TOTAL_MAX: u64 = 10_000;

/// A value of more characters than this counts as truncated.
pub const VALUE_CHARS_SHOWN: usize = 8_191;

/// The longest pattern and the longest list of values or of filters side by side that every store takes. Whoever asks keeps to it.
pub const LIKE_CHARS_MAX: usize = 10_000;
pub const LIST_MAX: usize = 900;

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub entity: Entity,
    pub tenants: Tenants,
    pub filter: Filter,
    /// The entity's own key is always the last criterion, ascending unless it is named here.
    pub sort: Vec<Sort>,
    pub page: Page,
    /// Definitions and decisions only: of those that match, the highest version of each id and tenant.
    pub latest_version: bool,
    /// Variables only: read at most this many characters of a value.
    pub value_chars_max: Option<usize>,
    /// Evaluated decisions only: read their inputs and the rules that matched, too.
    pub with_details: bool,
    /// Variables only: also those the engine keeps for itself. Never for what a caller asks.
    pub with_kept: bool,
    /// End the page before the row with which it would take more memory than this, about. The first row is always on it.
    pub bytes_max: Option<usize>,
    /// Do not count what there is: the total is what is on the page.
    pub uncounted: bool,
}

/// Whose rows are meant. There is no default: whoever means all of them says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tenants {
    These(Vec<Arc<str>>),
    /// For what the server asks for itself, and never for a caller.
    Everything,
}

impl Tenants {
    pub fn has(&self, tenant: &str) -> bool {
        match self {
            Self::These(tenants) => tenants.iter().any(|one| **one == *tenant),
            Self::Everything => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Is(Field, Op),
    /// Instances only: has this tag.
    HasTag(Arc<str>),
    /// Instances: some row of that entity belongs to the instance and matches. User tasks: some variable of the task itself matches.
    Related(Entity, Box<Filter>),
    /// Of what belongs to an instance: that one matches.
    OfInstance(Box<Filter>),
    /// User tasks only: one of those who may do it matches; of what must not be, none does.
    Candidate(Candidates, Op),
    Not(Box<Filter>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    Eq(Scalar),
    /// True also where there is no value.
    Neq(Scalar),
    In(Vec<Scalar>),
    /// True also where there is no value.
    NotIn(Vec<Scalar>),
    Exists(bool),
    Lt(Scalar),
    Lte(Scalar),
    Gt(Scalar),
    Gte(Scalar),
    /// `*` any characters, `?` one, `\` takes the next character literally.
    Like(String),
}

/// Keys, numbers and times are `Int`. `None` values are absent, not a scalar. Whoever asks uses the kind the field has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    pub field: Field,
    pub order: Order,
}

/// Absent values come first ascending, last descending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Ascending,
    Descending,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Page {
    From {
        from: u64,
        limit: u32,
    },
    After {
        cursor: Cursor,
        limit: u32,
    },
    /// The `limit` rows before the cursor, still in the order asked for.
    Before {
        cursor: Cursor,
        limit: u32,
    },
}

/// Where a row stands: its values of [`Query::order`], so those of the sort fields, then its key unless that is one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub Vec<Option<Scalar>>);

#[derive(Debug, Clone, PartialEq)]
pub struct QueryPage {
    pub items: Items,
    /// Whether it ended early, by [`Query::bytes_max`]: the next row comes after `end`, or backwards before `start`.
    pub is_cut: bool,
    /// Exact up to [`TOTAL_MAX`].
    pub total: u64,
    pub total_is_more: bool,
    /// Of the first and the last item.
    pub start: Option<Cursor>,
    pub end: Option<Cursor>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    Definitions(Vec<DefinitionView>),
    Instances(Vec<InstanceView>),
    Elements(Vec<ElementView>),
    Variables(Vec<VariableView>),
    Jobs(Vec<JobView>),
    Incidents(Vec<IncidentView>),
    Requirements(Vec<RequirementsView>),
    Decisions(Vec<DecisionView>),
    EvaluatedDecisions(Vec<EvaluatedDecisionView>),
    Timers(Vec<TimerView>),
    MessageSubscriptions(Vec<SubscriptionView>),
    Waits(Vec<SubscriptionView>),
    MessageCorrelations(Vec<MessageCorrelationView>),
    UserTasks(Vec<UserTaskView>),
    Executions(Vec<ExecutionView>),
    Batches(Vec<BatchView>),
    BatchItems(Vec<BatchItemView>),
    Operations(Vec<AuditView>),
    Audit(Vec<AuditView>),
    DeadLetters(Vec<DeadLetterView>),
}

/// How many rows there are, by what they have in some fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Counting {
    pub entity: Entity,
    pub tenants: Tenants,
    pub filter: Filter,
    pub by: Vec<Field>,
    /// Also how many different values of this field there are.
    pub distinct: Option<Field>,
    /// Also the greatest value of this field, which is a number.
    pub latest: Option<Field>,
    /// How many groups at most, the first in the order of their values.
    pub limit: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// What the rows have in the fields they are counted by.
    pub values: Vec<Option<Scalar>>,
    pub rows: u64,
    /// As many as rows where nothing was asked.
    pub distinct: u64,
    /// Nothing where nothing was asked, or no row has it.
    pub latest: Option<i64>,
}

impl Items {
    /// None, of an entity.
    pub fn none(entity: Entity) -> Self {
        match entity {
            Entity::Definitions => Self::Definitions(Vec::new()),
            Entity::Instances => Self::Instances(Vec::new()),
            Entity::Elements => Self::Elements(Vec::new()),
            Entity::Variables => Self::Variables(Vec::new()),
            Entity::Jobs => Self::Jobs(Vec::new()),
            Entity::Incidents => Self::Incidents(Vec::new()),
            Entity::Requirements => Self::Requirements(Vec::new()),
            Entity::Decisions => Self::Decisions(Vec::new()),
            Entity::EvaluatedDecisions => Self::EvaluatedDecisions(Vec::new()),
            Entity::Timers => Self::Timers(Vec::new()),
            Entity::MessageSubscriptions => Self::MessageSubscriptions(Vec::new()),
            Entity::Waits => Self::Waits(Vec::new()),
            Entity::MessageCorrelations => Self::MessageCorrelations(Vec::new()),
            Entity::UserTasks => Self::UserTasks(Vec::new()),
            Entity::Executions => Self::Executions(Vec::new()),
            Entity::Batches => Self::Batches(Vec::new()),
            Entity::BatchItems => Self::BatchItems(Vec::new()),
            Entity::Operations => Self::Operations(Vec::new()),
            Entity::Audit => Self::Audit(Vec::new()),
            Entity::DeadLetters => Self::DeadLetters(Vec::new()),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Definitions(views) => views.len(),
            Self::Instances(views) => views.len(),
            Self::Elements(views) => views.len(),
            Self::Variables(views) => views.len(),
            Self::Jobs(views) => views.len(),
            Self::Incidents(views) => views.len(),
            Self::Requirements(views) => views.len(),
            Self::Decisions(views) => views.len(),
            Self::EvaluatedDecisions(views) => views.len(),
            Self::Timers(views) => views.len(),
            Self::MessageSubscriptions(views) | Self::Waits(views) => views.len(),
            Self::MessageCorrelations(views) => views.len(),
            Self::UserTasks(views) => views.len(),
            Self::Executions(views) => views.len(),
            Self::Batches(views) => views.len(),
            Self::BatchItems(views) => views.len(),
            Self::Operations(views) | Self::Audit(views) => views.len(),
            Self::DeadLetters(views) => views.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn reverse(&mut self) {
        match self {
            Self::Definitions(views) => views.reverse(),
            Self::Instances(views) => views.reverse(),
            Self::Elements(views) => views.reverse(),
            Self::Variables(views) => views.reverse(),
            Self::Jobs(views) => views.reverse(),
            Self::Incidents(views) => views.reverse(),
            Self::Requirements(views) => views.reverse(),
            Self::Decisions(views) => views.reverse(),
            Self::EvaluatedDecisions(views) => views.reverse(),
            Self::Timers(views) => views.reverse(),
            Self::MessageSubscriptions(views) | Self::Waits(views) => views.reverse(),
            Self::MessageCorrelations(views) => views.reverse(),
            Self::UserTasks(views) => views.reverse(),
            Self::Executions(views) => views.reverse(),
            Self::Batches(views) => views.reverse(),
            Self::BatchItems(views) => views.reverse(),
            Self::Operations(views) | Self::Audit(views) => views.reverse(),
            Self::DeadLetters(views) => views.reverse(),
        }
    }
}

impl Query {
    /// Everything of an entity that belongs to these tenants, by key.
    pub fn of(entity: Entity, tenants: Tenants) -> Self {
        Self {
            entity,
            tenants,
            filter: Filter::All(Vec::new()),
            sort: Vec::new(),
            page: Page::From { from: 0, limit: 100 },
            latest_version: false,
            value_chars_max: None,
            with_details: false,
            with_kept: false,
            bytes_max: None,
            uncounted: false,
        }
    }

    /// What rows are ordered by: as asked, then the key.
    pub fn order(&self) -> Vec<Sort> {
        let mut order = self.sort.clone();
        let key = self.entity.key();
        // Nothing can follow the key: it decides.
        match order.iter().position(|sort| sort.field == key) {
            Some(position) => order.truncate(position + 1),
            None => order.push(Sort { field: key, order: Order::Ascending }),
        }
        order
    }

    /// Whether a cursor fits this order. Callers may send any: ask before paging by it.
    pub fn accepts(&self, cursor: &Cursor) -> bool {
        let order = self.order();
        let fits = |(sort, value): (&Sort, &Option<Scalar>)| match value {
            Some(value) => value.kind() == sort.field.kind(),
            None => true,
        };
        order.len() == cursor.0.len() && order.iter().zip(&cursor.0).all(fits)
    }
}

impl Scalar {
    pub fn kind(&self) -> ScalarKind {
        match self {
            Self::Bool(_) => ScalarKind::Bool,
            Self::Int(_) => ScalarKind::Int,
            Self::Text(_) => ScalarKind::Text,
        }
    }
}
