//! What a search asks and what it gives: typed fields, filters, sorting and paging by key.

use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, IncidentKey, IncidentKind, InstanceKey, JobKey, VariableKey};

use crate::Millis;
use crate::row::{InstanceState, JobState};

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
    /// Rows of these tenants only; `None` for all.
    pub tenants: Option<Vec<Arc<str>>>,
    pub filter: Filter,
    /// The entity's own key is always the last criterion, ascending unless it is named here.
    pub sort: Vec<Sort>,
    pub page: Page,
    /// Definitions only: of those that match, the highest version of each process id and tenant.
    pub latest_version: bool,
    /// Variables only: read at most this many characters of a value.
    pub value_chars_max: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entity {
    Definitions,
    Instances,
    /// Neither sequence flows nor the process itself.
    Elements,
    Variables,
    Jobs,
    Incidents,
}

/// What can be filtered and sorted by. Which entity has which is said by [`Entity::fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    // of the definition
    DefinitionKey,
    ProcessId,
    DefinitionName,
    Version,
    VersionTag,
    ResourceName,
    Tenant,
    /// `ACTIVE`, `DELETED`.
    DefinitionState,
    // of the instance
    InstanceKey,
    /// `ACTIVE`, `COMPLETED`, `TERMINATED`.
    InstanceState,
    Started,
    Ended,
    ParentInstanceKey,
    ParentElementKey,
    HasIncident,
    BusinessId,
    // of the element instance
    ElementKey,
    ElementId,
    ElementName,
    ElementKind,
    /// `ACTIVE`, `COMPLETED`, `TERMINATED`.
    ElementState,
    ScopeKey,
    // of the variable
    VariableKey,
    Name,
    Value,
    IsTruncated,
    // of the job
    JobKey,
    JobType,
    /// `CREATED`, `COMPLETED`, …
    JobState,
    Retries,
    Worker,
    Deadline,
    ErrorCode,
    ErrorMessage,
    FailedWithRetriesLeft,
    Created,
    Updated,
    // of the incident
    IncidentKey,
    IncidentKind,
    /// `ACTIVE`, `RESOLVED`.
    IncidentState,
    /// A hash of the message, as Java's `String.hashCode` gives it.
    MessageHash,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Is(Field, Op),
    /// Instances only: has this tag.
    HasTag(Arc<str>),
    /// Instances only: some row of that entity belongs to the instance and matches.
    Related(Entity, Box<Filter>),
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
}

#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionView {
    pub key: DefinitionKey,
    pub process_id: String,
    pub name: Option<String>,
    pub version: i32,
    pub version_tag: Option<String>,
    pub resource_name: String,
    pub resource: u64,
    pub tenant: String,
    pub deleted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct InstanceView {
    pub key: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub name: Option<String>,
    pub version: i32,
    pub version_tag: Option<String>,
    pub tenant: String,
    pub state: InstanceState,
    pub started: Millis,
    pub ended: Option<Millis>,
    pub has_incident: bool,
    pub parent_instance: Option<InstanceKey>,
    pub parent_element: Option<ElementKey>,
    pub root: InstanceKey,
    pub tags: Vec<String>,
    pub business_id: Option<String>,
}

/// As searches show it: alive is active.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementView {
    pub key: ElementKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub element_id: String,
    pub element_name: Option<String>,
    pub kind: String,
    pub scope: ElementKey,
    pub state: InstanceState,
    pub started: Millis,
    pub ended: Option<Millis>,
    pub incident: Option<IncidentKey>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VariableView {
    pub key: VariableKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub scope: ElementKey,
    pub tenant: String,
    pub name: String,
    /// Cut at [`Query::value_chars_max`].
    pub value: String,
    /// Whether it was cut.
    pub is_truncated: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    pub key: JobKey,
    pub job_type: String,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub element_id: String,
    pub element_instance: ElementKey,
    /// A JSON object.
    pub headers: String,
    pub state: JobState,
    pub retries: i32,
    pub worker: String,
    pub deadline: Option<Millis>,
    pub error_code: String,
    pub error_message: String,
    pub failed_with_retries_left: bool,
    pub created: Millis,
    pub updated: Millis,
    pub ended: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IncidentView {
    pub key: IncidentKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub element_id: String,
    pub element_instance: ElementKey,
    pub job: Option<JobKey>,
    pub kind: IncidentKind,
    pub message: String,
    pub created: Millis,
    pub resolved: Option<Millis>,
}

impl Query {
    /// Everything of an entity, by key.
    pub fn of(entity: Entity) -> Self {
        Self {
            entity,
            tenants: None,
            filter: Filter::All(Vec::new()),
            sort: Vec::new(),
            page: Page::From { from: 0, limit: 100 },
            latest_version: false,
            value_chars_max: None,
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

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarKind {
    Bool,
    Int,
    Text,
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

impl Field {
    /// What its values are.
    pub fn kind(self) -> ScalarKind {
        match self {
            Self::HasIncident | Self::IsTruncated | Self::FailedWithRetriesLeft => ScalarKind::Bool,
            Self::DefinitionKey
            | Self::Version
            | Self::InstanceKey
            | Self::Started
            | Self::Ended
            | Self::ParentInstanceKey
            | Self::ParentElementKey
            | Self::ElementKey
            | Self::ScopeKey
            | Self::VariableKey
            | Self::JobKey
            | Self::Retries
            | Self::Deadline
            | Self::Created
            | Self::Updated
            | Self::IncidentKey
            | Self::MessageHash => ScalarKind::Int,
            Self::ProcessId
            | Self::DefinitionName
            | Self::VersionTag
            | Self::ResourceName
            | Self::Tenant
            | Self::DefinitionState
            | Self::InstanceState
            | Self::BusinessId
            | Self::ElementId
            | Self::ElementName
            | Self::ElementKind
            | Self::ElementState
            | Self::Name
            | Self::Value
            | Self::JobType
            | Self::JobState
            | Self::Worker
            | Self::ErrorCode
            | Self::ErrorMessage
            | Self::IncidentKind
            | Self::IncidentState => ScalarKind::Text,
        }
    }
}

impl Entity {
    /// The entity's own key: the last criterion of every order.
    pub fn key(self) -> Field {
        match self {
            Self::Definitions => Field::DefinitionKey,
            Self::Instances => Field::InstanceKey,
            Self::Elements => Field::ElementKey,
            Self::Variables => Field::VariableKey,
            Self::Jobs => Field::JobKey,
            Self::Incidents => Field::IncidentKey,
        }
    }

    /// What this entity can be filtered and sorted by.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Definitions => DEFINITION_FIELDS,
            Self::Instances => INSTANCE_FIELDS,
            Self::Elements => ELEMENT_FIELDS,
            Self::Variables => VARIABLE_FIELDS,
            Self::Jobs => JOB_FIELDS,
            Self::Incidents => INCIDENT_FIELDS,
        }
    }
}

const DEFINITION_FIELDS: &[Field] = &[
    Field::DefinitionKey,
    Field::ProcessId,
    Field::DefinitionName,
    Field::Version,
    Field::VersionTag,
    Field::ResourceName,
    Field::Tenant,
    Field::DefinitionState,
];

const INSTANCE_FIELDS: &[Field] = &[
    Field::InstanceKey,
    Field::InstanceState,
    Field::Started,
    Field::Ended,
    Field::ParentInstanceKey,
    Field::ParentElementKey,
    Field::HasIncident,
    Field::BusinessId,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::DefinitionName,
    Field::Version,
    Field::VersionTag,
    Field::Tenant,
];

const ELEMENT_FIELDS: &[Field] = &[
    Field::ElementKey,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::ElementId,
    Field::ElementName,
    Field::ElementKind,
    Field::ElementState,
    Field::ScopeKey,
    Field::Started,
    Field::Ended,
    Field::HasIncident,
    Field::IncidentKey,
];

const VARIABLE_FIELDS: &[Field] =
    &[Field::VariableKey, Field::InstanceKey, Field::ScopeKey, Field::Tenant, Field::Name, Field::Value, Field::IsTruncated];

const JOB_FIELDS: &[Field] = &[
    Field::JobKey,
    Field::JobType,
    Field::JobState,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::ElementId,
    Field::ElementKey,
    Field::Retries,
    Field::Worker,
    Field::Deadline,
    Field::ErrorCode,
    Field::ErrorMessage,
    Field::FailedWithRetriesLeft,
    Field::Created,
    Field::Updated,
    Field::Ended,
];

const INCIDENT_FIELDS: &[Field] = &[
    Field::IncidentKey,
    Field::IncidentKind,
    Field::IncidentState,
    Field::ErrorMessage,
    Field::MessageHash,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::ElementId,
    Field::ElementKey,
    Field::JobKey,
    Field::Created,
];
