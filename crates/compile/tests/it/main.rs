//! What is read and what is refused, from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod attacks;
mod examples;
mod fixtures;
mod mappings;
mod notation;
mod properties;
