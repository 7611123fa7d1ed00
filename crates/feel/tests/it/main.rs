//! The language from outside: tables of expressions and answers, bounds, and what holds for any input.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod expressions;
mod json;
mod limits;
mod properties;
mod tables;
