//! What every store must pass.

use std::sync::Arc;

use store::Store;
use store::conformance::{self, TESTS};
use store_postgres::Postgres;

use crate::database::{Begins, Database, ELSEWHERE, patient, with_database};

#[test]
fn broken_rows_stop_what_they_belong_to() {
    with_database(|database| async move {
        let store: Arc<dyn Store> = Arc::new(database.store().await);
        let client = database.client().await;
        for statement in conformance::broken::written(&store).await {
            assert_eq!(client.execute(&statement, &[]).await.unwrap(), 1, "{statement}");
        }
        conformance::broken::loaded(&store).await;
    });
}

#[test]
fn commits_in_flight_depend_on_each_other() {
    with_database(|database| async move {
        conformance::chain::what_follows_one_that_cannot_be_written_is_refused(Arc::new(database.store().await)).await;
    });
}

/// One test after the other, so that a failure is found under the name printed last. The tables need not be in `public`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_passes_the_suite() {
    let mut used = Vec::new();
    for test in TESTS {
        eprintln!("{}", test.name);
        let database = Database::create(Begins::MigratedElsewhere).await;
        let store = Postgres::connect(&database.url_of_schema(ELSEWHERE), patient()).await.expect("the store connects");
        (test.run)(Arc::new(store) as Arc<dyn Store>).await;
        used.push(database);
    }
    // The first one waits for the disk, the others do not.
    for database in used {
        database.drop().await;
    }
}
