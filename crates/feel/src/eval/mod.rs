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

pub(crate) use compare::{Equality, equality, order};
pub(crate) use machine::{Machine, Policy};
