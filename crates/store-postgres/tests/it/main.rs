//! Against a real server: `CAUDAL_TEST_POSTGRES` leads to it, as a superuser. `cargo xtask test` starts one.

mod conformance;
mod database;
mod log;
mod outage;
mod ownership;
mod schema;
mod stall;
mod tick;
mod wakeups;
