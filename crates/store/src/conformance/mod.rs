//! What every store must pass: one suite, run against memory, SQLite and PostgreSQL.
//!
//! A store's test calls [`all`] inside a tokio runtime with a function that gives an empty database. Nothing here sleeps: leases
//! are either long or over at once. [`row`](rows) and [`data`] make rows for other tests, too. Searches here see all tenants, except
//! where tenants are what they are about.

#![allow(clippy::unwrap_used, reason = "a test suite, although other crates run it")]

mod aged;
mod batches;
pub mod broken;
pub mod chain;
pub mod data;
mod decisions;
mod definitions;
mod documents;
mod executions;
mod export;
mod inbox;
mod incidents_and_jobs;
mod listeners;
mod load;
mod messages;
mod owner;
mod ownership;
pub mod previous;
mod queues;
mod retention;
pub mod rows;
mod search;
mod search_near;
mod search_reference;
mod stuck;
mod suspended;
mod ticks;
mod upkeep;
mod user_tasks;
mod waits;
mod windows;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use engine::PartitionId;

use crate::{Changes, Store};

/// One thing every store does. It panics where the store does not.
pub struct Test {
    pub name: &'static str,
    pub run: fn(Arc<dyn Store>) -> Run,
}

pub type Run = Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! tests {
    ($($module:ident::$test:ident),+ $(,)?) => {
        /// All tests, each for a database of its own.
        pub const TESTS: &[Test] = &[$(
            Test {
                name: concat!(stringify!($module), "::", stringify!($test)),
                run: |store| Box::pin($module::$test(store)),
            },
        )+];
    };
}

tests! {
    ownership::the_first_to_ask_owns,
    ownership::a_lease_keeps_others_out,
    ownership::the_same_owner_comes_back_at_once,
    ownership::a_lapsed_lease_is_free,
    ownership::released_is_free,
    ownership::a_lease_from_a_later_clock_is_free,
    ownership::a_deposed_owner_writes_nothing,
    ownership::partitions_are_apart,
    inbox::positions_count_up,
    inbox::requests_come_in_order,
    inbox::a_read_is_bounded_by_bytes,
    inbox::answered_requests_leave,
    inbox::an_inbox_has_a_bound,
    inbox::requests_expire_by_the_databases_clock,
    inbox::appenders_leave_no_gap,
    inbox::a_reader_misses_nothing,
    inbox::appends_and_commits_leave_no_gap,
    chain::a_commit_is_written_once,
    chain::a_commit_that_skips_one_writes_nothing,
    chain::commits_in_flight_are_written_in_order,
    chain::what_follows_a_failed_commit_is_refused,
    ticks::a_commit_moves_the_partition,
    ticks::a_commit_may_leave_the_log_alone,
    ticks::every_kind_of_row_is_written,
    ticks::every_kind_of_row_changes,
    ticks::rows_migrate,
    ticks::a_large_commit_is_one_commit,
    ticks::odd_values_come_back,
    load::by_any_key_of_it,
    load::what_has_ended_is_absent,
    load::jobs_alone,
    load::tokens_come_and_go,
    load::turns_come_and_go,
    load::compensations_come_move_and_go,
    load::first_answers_until_they_expire,
    load::many_at_once,
    waits::timers_come_and_go,
    waits::subscriptions_come_and_go,
    waits::starts_of_a_definition,
    waits::signals_come_and_go,
    waits::who_waits_for_a_signal,
    waits::start_conditions,
    user_tasks::they_come_and_go,
    user_tasks::candidates_follow_their_task,
    user_tasks::forms_by_name_and_key,
    executions::they_come_and_go,
    executions::they_are_handed_out_with_jobs,
    executions::unique_keys_lead_to_the_newest,
    documents::they_come_and_go,
    documents::links_lead_to_them_for_a_while,
    documents::what_is_over_is_purged,
    listeners::every_version_is_kept,
    executions::leases_and_progress_are_kept,
    executions::dead_letters_are_of_both_kinds,
    queues::schedules_come_and_go,
    queues::what_has_happened_is_kept,
    queues::those_that_wait_have_ages,
    queues::jobs_by_group,
    queues::jobs_are_counted_by_group,
    queues::queues_have_sizes_and_places,
    queues::every_version_of_a_policy_is_kept,
    queues::jobs_by_age,
    queues::starts_are_kept_until_they_make_no_difference,
    queues::a_wait_has_its_end,
    queues::announcements_wait_in_order,
    messages::a_group_is_loaded_as_a_whole,
    messages::a_group_has_a_bound,
    messages::messages_are_taken_and_go,
    messages::start_events_by_name,
    messages::locks_go_from_one_to_the_next,
    messages::odd_values_come_back,
    windows::ready_jobs_by_key,
    windows::ready_jobs_by_priority,
    windows::due_by_time_whatever_it_is,
    windows::a_job_moves_between_windows,
    incidents_and_jobs::all_words_come_back,
    stuck::what_encloses_it_shows_an_incident,
    stuck::the_last_one_takes_it_away,
    suspended::it_runs_and_is_told_apart,
    suspended::a_job_is_held,
    batches::they_come_and_go_on,
    batches::finished_instances_leave_no_trace,
    definitions::a_name_leads_to_the_highest_not_deleted,
    definitions::flows_come_back,
    definitions::versions_by_number,
    definitions::running_ones,
    definitions::resources,
    decisions::a_name_leads_to_the_highest_not_deleted,
    decisions::requirements_by_key,
    decisions::evaluations_come_back,
    upkeep::first_answers_are_purged_in_small_batches,
    upkeep::answers_are_purged_in_small_batches,
    upkeep::ended_waits_are_purged_in_small_batches,
    upkeep::the_log_is_purged_from_its_beginning,
    upkeep::executions_and_evaluations_of_no_process_are_purged,
    aged::the_audit_trail_is_purged_in_small_batches,
    aged::items_of_operations_go_before_their_operations,
    export::the_log_is_read_after_a_position,
    export::a_place_never_moves_back,
    retention::finished_instances_come_by_their_end,
    retention::an_instance_goes_with_all_that_belongs_to_it,
    retention::a_step_ends_where_its_rows_do,
    retention::what_was_called_goes_with_who_called_it,
    retention::a_weight_is_that_of_all_it_called,
    retention::what_runs_stays,
    retention::a_deposed_owner_removes_nothing,
    search::absent_values_come_first,
    search::patterns_tell_case,
    search::a_filter_and_its_opposite_divide_all_rows,
    search::lists_may_be_empty,
    search::the_latest_of_what_matches,
    search::instances_by_what_belongs_to_them,
    search::tenants_do_not_see_each_other,
    search::totals_are_bounded,
    search::values_are_cut,
    search::pages_end_before_they_hold_too_much,
    search::a_commit_is_seen_at_once,
    search_reference::every_field_and_operator,
    search_reference::counts_by_every_field,
    search_reference::every_order_and_page,
    search_reference::what_runs_by_its_end,
    search_reference::mixed_orders,
    search_reference::pages_that_end_early,
    search_reference::related_tags_and_tenants,
    search_reference::user_tasks_by_what_belongs_to_them,
    search_near::instances_by_start,
    search_near::instances_by_start_among_many,
    search_near::element_instances_by_start,
    search_near::element_instances_and_jobs_by_end,
    search_near::those_alive_among_many,
}

/// Puts rows into a partition nobody owns, for tests of other crates.
pub async fn fill(store: &Arc<dyn Store>, partition: PartitionId, rows: Changes) {
    owner::Owner::of_partition(store, partition).await.commit(rows).await;
}

/// Run everything, each test on what `make` gives for its name.
pub async fn all<Made: Future<Output = Arc<dyn Store>>>(make: impl Fn(&'static str) -> Made) {
    for test in TESTS {
        let store = make(test.name).await;
        (test.run)(store).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn memory() {
        all(|_| async { Arc::new(Memory::new(Arc::new(|| 1_000_000))) as Arc<dyn Store> }).await;
    }
}
