//! The engine from outside: traces, decisions, and what must hold for processes nobody drew.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod changes;
mod decision_attacks;
mod decision_properties;
mod decisions;
mod joins;
mod linear;
mod multi_instance;
mod properties;
mod restored;
mod traces;
