//! Databases written by servers before this one are brought up to date, and what runs in them goes on. One that cannot be stays as it
//! was.

use std::sync::Arc;

use store::conformance::previous;
use store::{Error, Store};
use store_postgres::Postgres;

use crate::database::{Begins, Database, patient, with_database_that};

const SCHEMA_2: &str = include_str!("../../../../spec/stores/schema-2.postgres.sql");
const SCHEMA_4: &str = include_str!("../../../../spec/stores/schema-4.postgres.sql");
const SCHEMA_24: &str = include_str!("../../../../spec/stores/schema-24.postgres.sql");
/// How many requests wait in the dumps.
const WAITING: u64 = 1;

async fn restore(database: &Database, dump: &str) {
    // The dump changes settings of its session.
    database.client().await.batch_execute(dump).await.expect("the dump is restored");
}

#[test]
fn databases_of_earlier_schema_versions_go_on() {
    for dump in [SCHEMA_2, SCHEMA_4] {
        with_database_that(Begins::Empty, |database| async move {
            restore(&database, dump).await;
            let store: Arc<dyn Store> = Arc::new(database.store().await);
            previous::goes_on(store, WAITING).await;
        });
    }
}

#[test]
fn a_database_of_schema_version_24_goes_on() {
    with_database_that(Begins::Empty, |database| async move {
        restore(&database, SCHEMA_24).await;
        let store: Arc<dyn Store> = Arc::new(database.store().await);
        previous::later_goes_on(store).await;
    });
}

#[test]
fn a_database_that_cannot_be_migrated_stays_as_it_was() {
    with_database_that(Begins::Empty, |database| async move {
        restore(&database, SCHEMA_2).await;
        let client = database.client().await;
        let before = columns(&client).await;
        let damage = "UPDATE instances SET tokens = substr(tokens, 1, 5) WHERE tokens <> '' RETURNING key";
        let damaged: i64 = client.query(damage, &[]).await.unwrap()[0].get(0);
        match Postgres::connect(&database.url, patient()).await.map(drop) {
            Err(Error::Corrupt { what }) => assert!(what.contains(&damaged.to_string()), "{what}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(columns(&client).await, before);
        // Once somebody has seen to it, it is migrated.
        client.batch_execute("UPDATE instances SET tokens = ''").await.unwrap();
        drop(database.store().await);
        assert_ne!(columns(&client).await, before);
    });
}

/// All columns of all tables, and the version.
async fn columns(client: &tokio_postgres::Client) -> String {
    let columns = "
        SELECT string_agg(table_name || '.' || column_name, ' ' ORDER BY table_name, column_name)
            || (SELECT max(version) FROM schema_version)
        FROM information_schema.columns WHERE table_schema = 'public'";
    client.query_one(columns, &[]).await.expect("the catalog").get(0)
}
