//! What every store must pass.

use std::sync::Arc;

use store::Store;
use store::conformance::TESTS;
use store_postgres::{Options, Path, Postgres};

use crate::database::{Database, patient, with_database};

#[test]
fn postgres_passes_the_suite() {
    with_database(|database| async move { suite(&database, patient(), |_| true).await });
}

/// Behind a transaction pooler statements are not prepared by name; searches never are.
#[test]
fn postgres_behind_a_pooler_passes_the_suite() {
    let path = Path::TransactionPooler { direct_url: None };
    let options = Options { path, ..patient() };
    with_database(|database| async move { suite(&database, options, |name| !name.starts_with("search")).await });
}

/// One test after the other, so that a failure is found under the name printed last, each in a schema of its own: that is
/// quicker than a database of its own, and shows that the tables need not be in `public`.
async fn suite(database: &Database, options: Options, is_chosen: fn(&str) -> bool) {
    for (number, test) in TESTS.iter().filter(|test| is_chosen(test.name)).enumerate() {
        eprintln!("{}", test.name);
        let schema = format!("suite_{number}");
        database.client().await.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a schema");
        let store = Postgres::connect(&database.url_of_schema(&schema), options.clone()).await.expect("the store connects");
        (test.run)(Arc::new(store) as Arc<dyn Store>).await;
    }
}
