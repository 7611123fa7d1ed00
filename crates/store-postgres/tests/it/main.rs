//! Against a real server: `CAUDAL_TEST_POSTGRES` leads to it, as a superuser. `cargo xtask test` starts one.

#![allow(clippy::unwrap_used, reason = "all of it is tests, also what they share")]

mod conformance;
mod contents;
mod database;
mod ends;
mod inbox;
mod outage;
mod ownership;
mod plans;
mod pooler;
mod previous;
mod schema;
mod stall;
mod tick;
mod tls;
mod user_tasks;
mod wakeups;
