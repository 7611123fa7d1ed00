//! What every store must pass.

use std::sync::Arc;

use store::Store;
use store::conformance::{self, TESTS};
use store_postgres::Postgres;

use crate::database::{patient, with_database};

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

/// One test after the other, so that a failure is found under the name printed last, each in a schema of its own: that is
/// quicker than a database of its own, and shows that the tables need not be in `public`.
#[test]
fn postgres_passes_the_suite() {
    with_database(|database| async move {
        for (number, test) in TESTS.iter().enumerate() {
            eprintln!("{}", test.name);
            let schema = format!("suite_{number}");
            database.client().await.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a schema");
            let store = Postgres::connect(&database.url_of_schema(&schema), patient()).await.expect("the store connects");
            (test.run)(Arc::new(store) as Arc<dyn Store>).await;
        }
    });
}
