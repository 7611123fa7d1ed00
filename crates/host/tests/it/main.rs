//! Servers in this process, on stores in memory and SQLite: what callers are told, and what is left afterwards.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod announce;
mod asked_for;
mod audit;
mod batches;
mod blamed;
mod books;
mod bounds;
mod changes;
mod decisions;
mod export;
mod faults;
mod given;
mod global_listeners;
mod handover;
mod large_creations;
mod leases;
mod many_variables;
mod panics;
mod policies;
mod purge;
mod quarantine;
mod queues;
mod repeated;
mod room;
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
