//! From the syntax tree to the compiled form: names become slots, functions become their built-ins.
//!
//! A compiled expression knows three kinds of slot: values given by the caller (one per free variable), locals on the
//! machine's stack (iterations, context entries, parameters, the item of a filter), and values a function captured
//! when it was made.

mod call;
pub(crate) mod node;
mod resolve;
mod scope;

pub(crate) use resolve::{Compiled, compile_expression, compile_tests};
