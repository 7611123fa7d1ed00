//! Those who listen to all user tasks: named by callers, and by the configuration.

use std::sync::Arc;

use crate::server::{self, Server, memory};
use engine::PartitionId;
use model::GlobalListener;
use store::Store;
use store::log::{Answer, Command, NewListener, PutListener};
use store::query::{AuditView, Entity, Field, Items, Order, Query, Sort, Tenants};

fn listener(id: &str, job_type: &str) -> PutListener {
    let (id, job_type) = (id.into(), job_type.into());
    PutListener::new(NewListener { id, job_type, retries: 3, events: &["all"], after_own: false, priority: 50 }, true)
}

fn configured(id: &str, job_type: &str) -> GlobalListener {
    GlobalListener { configured: true, ..listener(id, job_type).listener }
}

async fn there(server: &Server) -> Vec<(String, String, bool)> {
    let listeners = server.host.global_listeners().await.unwrap();
    listeners.iter().map(|one| (one.id.to_string(), one.job_type.to_string(), one.configured)).collect()
}

fn expected(of: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    of.iter().map(|(id, job_type, configured)| ((*id).to_owned(), (*job_type).to_owned(), *configured)).collect()
}

/// Who did what to listeners, in the order in which it happened.
async fn trail(store: &Arc<dyn Store>) -> Vec<String> {
    let by = |field| Sort { field, order: Order::Ascending };
    let tenants = Tenants::These(vec![server::TENANT.into()]);
    let query = Query { sort: vec![by(Field::At), by(Field::AuditKey)], ..Query::of(Entity::Operations, tenants) };
    match store.search(&query).await.unwrap().items {
        Items::Operations(views) => {
            let told = |view: &AuditView| {
                format!("{} {} {}", view.actor.as_deref().unwrap_or("-"), view.operation.word(), view.entity_key)
            };
            views.iter().map(told).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_the_configuration_changes_is_in_the_audit_trail() {
    let store = memory();
    let server = Server::start(&store).await;
    server.host.configure_listeners(vec![configured("a", "first"), configured("b", "first")]).await.unwrap();
    let mut expected = vec!["configuration CREATE a", "configuration CREATE b"];
    assert_eq!(trail(&store).await, expected);
    server.host.configure_listeners(vec![configured("b", "second"), configured("c", "first")]).await.unwrap();
    expected.extend(["configuration UPDATE b", "configuration CREATE c", "configuration DELETE a"]);
    assert_eq!(trail(&store).await, expected);
    server.host.configure_listeners(vec![configured("c", "first"), configured("b", "second")]).await.unwrap();
    assert_eq!(trail(&store).await, expected, "nothing has changed");
    server.stop().await;
}

#[tokio::test]
async fn the_configuration_changes_its_own_and_leaves_the_others() {
    let store = memory();
    let server = Server::start(&store).await;
    for id in ["a", "b"] {
        assert_eq!(server.ask(Command::PutListener(listener(id, "said"))).await, Answer::Done);
    }
    server.host.configure_listeners(vec![configured("c", "first"), configured("b", "first")]).await.unwrap();
    let all = [("a", "said", false), ("b", "first", true), ("c", "first", true)];
    assert_eq!(there(&server).await, expected(&all));
    let versions = async || store.global_listeners(PartitionId(1), 100).await.unwrap().len();
    assert_eq!(versions().await, 3);
    server.stop().await;
    // The next server has the same, then others, then none.
    let server = Server::start(&store).await;
    server.host.configure_listeners(vec![configured("b", "first"), configured("c", "first")]).await.unwrap();
    assert_eq!((there(&server).await, versions().await), (expected(&all), 3), "nothing has changed");
    server.host.configure_listeners(vec![configured("c", "second")]).await.unwrap();
    assert_eq!(there(&server).await, expected(&[("a", "said", false), ("c", "second", true)]));
    // What a caller changes is his, until the next start.
    let update = PutListener { is_new: false, ..listener("c", "said") };
    assert_eq!(server.ask(Command::PutListener(update)).await, Answer::Done);
    assert_eq!(there(&server).await, expected(&[("a", "said", false), ("c", "said", false)]));
    server.host.configure_listeners(vec![configured("c", "second")]).await.unwrap();
    server.host.configure_listeners(vec![]).await.unwrap();
    assert_eq!(there(&server).await, expected(&[("a", "said", false)]));
    server.stop().await;
}
