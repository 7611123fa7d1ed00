//! Tasks for people: what the engine keeps for each of them, and what a worker is told who keeps them elsewhere.

use std::sync::Arc;

use feel::Expression;

use crate::{Binding, Text};

/// The priority of a task whose model says nothing.
pub const PRIORITY_DEFAULT: i32 = 50;
pub const PRIORITY_MAX: i32 = 100;

/// A task for a person that the engine keeps itself.
#[derive(Debug, Clone, Default)]
pub struct UserTask {
    pub assignee: Option<Text>,
    pub candidate_groups: Names,
    pub candidate_users: Names,
    /// Dates with a time and an offset or zone.
    pub due: Option<Text>,
    pub follow_up: Option<Text>,
    pub priority: Priority,
    pub form: Option<Form>,
    /// Static headers, in document order, empty ones dropped.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
}

/// Names of people or of groups.
#[derive(Debug, Clone)]
pub enum Names {
    Fixed(Vec<Arc<str>>),
    Computed(Expression),
}

impl Default for Names {
    fn default() -> Self {
        Self::Fixed(Vec::new())
    }
}

#[derive(Debug, Clone)]
pub enum Priority {
    Fixed(i32),
    Computed(Expression),
}

impl Default for Priority {
    fn default() -> Self {
        Self::Fixed(PRIORITY_DEFAULT)
    }
}

/// What a person is shown.
#[derive(Debug, Clone)]
pub enum Form {
    /// A form that was deployed, by its id.
    Deployed { id: Text, binding: Binding },
    /// One that another program knows.
    External(Text),
}

/// A header of a job whose value is computed when the job is made.
#[derive(Debug, Clone)]
pub struct ComputedHeader {
    pub key: Arc<str>,
    pub kind: HeaderKind,
    pub value: Expression,
}

/// How the value of a header is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderKind {
    /// A string as it is.
    Text,
    /// A list of strings, as JSON.
    Names,
    /// A date with a time and an offset.
    Moment,
}

/// A date with a time as headers have it: seconds that are zero are not told.
pub fn without_zero_seconds(moment: &str) -> String {
    let Some((date, time)) = moment.split_once('T') else {
        return moment.to_owned();
    };
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone);
    let clock = if clock.len() == 8 { clock.strip_suffix(":00").unwrap_or(clock) } else { clock };
    format!("{date}T{clock}{zone}")
}
