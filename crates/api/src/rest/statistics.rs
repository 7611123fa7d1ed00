//! Statistics: rows counted by what they belong to.

mod definitions;
mod elements;
pub(super) mod groups;
mod incidents;
mod jobs;

use super::operation::Operation;

pub(super) fn operations() -> impl Iterator<Item = &'static Operation> {
    [elements::OPERATIONS, definitions::OPERATIONS, incidents::OPERATIONS, jobs::OPERATIONS].into_iter().flatten()
}
