//! Running the compiled form.

mod arithmetic;
mod call;
mod compare;
mod filter;
mod iterate;
mod machine;
mod path;
mod slots;
mod test;

pub(crate) use arithmetic::{DOUBLE_STEPS, WIDE_STEPS};
pub(crate) use compare::{Equality, order};
pub(crate) use machine::{Machine, Policy};
