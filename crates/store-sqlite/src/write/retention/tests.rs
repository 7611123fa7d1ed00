use super::*;
use crate::schema::migrate;
use crate::schema::tests::plan;

/// What is old is found by an index that has it in order, and nothing is gone through to find what belongs to an instance.
#[test]
fn nothing_is_searched_for_what_is_old() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let aged = |what| (purge_sql(what).to_owned(), what);
    let expected = [
        (aged(Aged::Log), "log USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (aged(Aged::Executions), "jobs USING INDEX jobs_over (partition=? AND ended<?)"),
        (aged(Aged::Evaluations), "evaluated_decisions USING INDEX evaluated_decisions_alone (partition=? AND evaluated<?)"),
        (aged(Aged::Timers), "timers USING COVERING INDEX timers_by_end (partition=? AND ended<?)"),
        (aged(Aged::Subscriptions), "subscriptions USING INDEX subscriptions_by_end (partition=? AND updated<?)"),
        (
            aged(Aged::Correlations),
            "message_correlations USING COVERING INDEX message_correlations_by_time (partition=? AND at<?)",
        ),
        (aged(Aged::FirstAnswers), "idempotent USING COVERING INDEX idempotent_by_expiry (partition=? AND expires<?)"),
        (aged(Aged::Answers), "answers USING COVERING INDEX answers_by_expiry (partition=? AND expires<?)"),
        (aged(Aged::Paces), "paces USING PRIMARY KEY (partition=?)"),
        (aged(Aged::Audit), "audit USING INDEX audit_by_time (at<?)"),
        (aged(Aged::BatchItems), "b USING COVERING INDEX batch_operations_by_end (partition=? AND ended<?)"),
        (aged(Aged::BatchItems), "i USING COVERING INDEX batch_items_by_batch (batch=?)"),
        (aged(Aged::Batches), "batch_operations USING COVERING INDEX batch_operations_by_end (partition=? AND ended<?)"),
    ];
    assert!(Aged::ALL.iter().all(|what| expected.iter().any(|((_, one), _)| one == what)), "each of them");
    for ((sql, what), step) in expected {
        if what != Aged::Batches {
            check(&connection, &sql, step);
        }
        let count = format!("SELECT count(*) FROM ({})", aged_sql(what));
        check(&connection, &count, step);
    }
    for step in [
        "b USING COVERING INDEX batch_operations_by_end (partition=? AND ended<?)",
        "i USING COVERING INDEX batch_items_by_batch (batch=?)",
    ] {
        check(&connection, purge_sql(Aged::Batches), step);
    }
    check(&connection, statement::FINISHED_INSTANCES, "i USING INDEX instances_by_end (ended>? AND ended<?)");
    check(&connection, statement::CALLED_INSTANCES, "instances USING INDEX instances_called (root=?)");
    check(
        &connection,
        statement::PURGE_INSTANCE_TAGS,
        "instance_tags USING COVERING INDEX instance_tags_by_instance (instance=?)",
    );
    check(&connection, statement::PURGE_CANDIDATES, "c USING PRIMARY KEY (partition=? AND task=?)");
    for (sql, table) in PURGE_BELONGING.iter().zip(BELONGING) {
        let plan = plan(&connection, sql);
        let index = format!("{table}_by_instance (partition=? AND instance=?)");
        assert!(plan.iter().any(|step| step.ends_with(&index)), "{sql}\n{plan:#?}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{sql}\n{plan:#?}");
    }
}

fn check(connection: &Connection, sql: &str, step: &str) {
    let plan = plan(connection, sql);
    assert!(plan.iter().any(|one| *one == format!("SEARCH {step}")), "{sql}\n{plan:#?}");
    let is_sorted = plan.iter().any(|one| one.contains("TEMP B-TREE") && !one.contains("LAST TERM"));
    let is_scanned = plan.iter().any(|one| one.starts_with("SCAN") && !one.starts_with("SCAN (subquery"));
    assert!(!is_sorted && !is_scanned, "{sql}\n{plan:#?}");
}
