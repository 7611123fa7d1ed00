//! Servers in this process, on stores in memory and SQLite: what callers are told, and what is left afterwards.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod announce;
mod audit;
mod batches;
mod books;
mod bounds;
mod changes;
mod decisions;
mod export;
mod faults;
mod given;
mod global_listeners;
mod handover;
mod leases;
mod policies;
mod purge;
mod quarantine;
mod queues;
mod repeated;
mod rules;
mod schedules;
mod server;
mod spine;
mod stuck;
mod suspend;
mod task_listeners;
mod traces;
mod user_tasks;
mod waits;
