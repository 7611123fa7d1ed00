//! FEEL, the expression language of BPMN processes and DMN decisions, on its own: no I/O, no clock, no global state.
//!
//! An expression is parsed and compiled once and evaluated many times:
//!
//! ```
//! use feel::{Now, Value, parse};
//!
//! let expression = parse("amount > 100 and customer.level = \"gold\"").unwrap();
//! assert_eq!(expression.variables().iter().map(|name| &**name).collect::<Vec<_>>(), ["amount", "customer"]);
//! let values = [Value::from_json("250").ok(), Value::from_json(r#"{"level": "gold"}"#).ok()];
//! assert_eq!(expression.evaluate(&values, &Now::utc(0)), Ok(Value::Bool(true)));
//! ```
//!
//! Reading order: [`Value`] (`value`, `number`, `temporal`, `json`), then `syntax` (text to tree), `compile` (tree to
//! slots), `eval` (running it), `builtin` (the functions).
//!
//! What holds everywhere:
//! - Hostile input gets an error: nesting, steps, sizes and depths are bounded, see [`limits`].
//! - Failures are `null` and a [`Warning`], as FEEL has it; an [`Error`] means there is no value at all.
//! - Where Camunda and the standard's test suite differ, the [`Dialect`] decides.

mod attribute;
mod budget;
mod builtin;
mod compile;
mod dialect;
mod error;
mod eval;
mod excerpt;
mod expression;
mod from_ai;
pub mod json;
pub mod limits;
mod now;
mod number;
mod syntax;
pub mod temporal;
mod types;
mod value;
mod workflow;

pub use attribute::{Attribute, parse_attribute};
pub use budget::Budget;
pub use builtin::{Signature, functions};
pub use dialect::Dialect;
pub use error::{Error, Limit, ParseError, Position, Warning, WarningKind};
pub use expression::{Expression, format, parse, parse_in, parse_unary_tests, parse_unary_tests_in, parse_with};
pub use from_ai::FromAi;
pub use json::JsonError;
pub use now::Now;
pub use number::{Number, Rounding};
pub use syntax::Names;
pub use types::Type;
pub use value::{Context, Endpoint, Function, List, Parameter, Range, Value};
pub use workflow::parse_workflow;
