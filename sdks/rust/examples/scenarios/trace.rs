//! Traces go from who starts something to who does it.

use std::sync::{Arc, Mutex};

use caudal_client::{Failure, JobContext, Registry, Submit};
use opentelemetry::context::FutureExt as _;
use opentelemetry::trace::{TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, global};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::{Map, Value, json};

use crate::world::{Scenario, Server, WITHIN, ended, start_work, work};

pub(crate) fn all() -> Vec<Scenario> {
    vec![Scenario::new("trace", trace())]
}

async fn trace() {
    let exporter = InMemorySpanExporter::default();
    global::set_tracer_provider(SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let registry = Registry::new().handle("work", move |_: JobContext, _: Map<String, Value>| {
        let noted = noted.clone();
        async move {
            tokio::task::yield_now().await;
            noted.lock().unwrap().push(Context::current().span().span_context().span_id());
            Ok::<_, Failure>(())
        }
    });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    let order = Context::new().with_span(global::tracer("scenarios").start("order"));
    let above = order.span().span_context().clone();
    let (instance, executions) = async {
        let instance = start_work(&client, &json!({})).await;
        (instance, client.submit("work", &[Submit::default()], None).await.unwrap())
    }
    .with_context(order)
    .await;
    ended(&client, &instance).await;
    client.wait_execution(&executions[0], WITHIN).await.unwrap();
    working.stop().await;
    let spans = exporter.get_finished_spans().unwrap();
    let below: Vec<_> = spans.iter().filter(|span| span.parent_span_id == above.span_id()).collect();
    for span in &below {
        assert_eq!((span.name.as_ref(), span.span_context.trace_id()), ("process work", above.trace_id()));
        assert!(seen.lock().unwrap().contains(&span.span_context.span_id()));
    }
    assert_eq!(below.len(), 2);
}
