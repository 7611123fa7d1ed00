//! Activities that are done more than once each time they are reached: the instance of such an element is a body, and what is done lives
//! inside it as instances of the same element.

use std::sync::Arc;

use feel::Expression;

#[derive(Debug, Clone)]
pub enum Repeat {
    /// Once for each item of a collection.
    Each(MultiInstance),
    /// As long as a condition holds.
    Loop(StandardLoop),
}

#[derive(Debug, Clone)]
pub struct MultiInstance {
    pub order: MultiOrder,
    /// Gives the list; looked at once.
    pub collection: Expression,
    /// The variable that takes the item, local to each inner instance.
    pub item: Option<Arc<str>>,
    pub output: Option<MultiOutput>,
    /// True after an inner instance completed: the others are dropped.
    pub until: Option<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MultiOrder {
    Parallel,
    Sequential,
}

/// What is collected of the inner instances.
#[derive(Debug, Clone)]
pub struct MultiOutput {
    /// The variable that takes the list, in the order of the items.
    pub collection: Arc<str>,
    /// What an inner instance adds when it completes.
    pub element: Expression,
}

/// Without a condition and without a bound the activity is done once.
#[derive(Debug, Clone)]
pub struct StandardLoop {
    pub test: LoopTest,
    /// True: once more.
    pub condition: Option<Expression>,
    /// At most so often.
    pub max: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopTest {
    /// Also before the first time.
    Before,
    After,
}
