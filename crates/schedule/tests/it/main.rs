//! When things are due: texts, clocks, and a slow reference to compare with.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod clocks;
mod firing;
mod properties;
mod reference;
mod texts;
