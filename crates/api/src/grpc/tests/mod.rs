//! The edge as clients see it: a server in this process over the memory store, and the client made from the same file.

mod calls;
mod decisions;
mod leaving;
mod listeners;
mod manners;
mod messages;
mod workflows;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use host::{Definitions, Host, Limits, Metrics, Parts, Role};
use store::Store;
use store::memory::Memory;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};

use super::wire::gateway_client::GatewayClient;
use super::{Config, wire};
use crate::budget::{Budget, Budgets};
use crate::listen::{self, Edge, Speaks};

/// Longer than any test: what is freed before is freed because somebody left.
const LONG_LEASE: i64 = 60 * 60 * 1000;

struct Server {
    host: Host,
    address: SocketAddr,
    budgets: Budgets,
    draining: watch::Sender<bool>,
    serving: JoinHandle<()>,
    _stop: watch::Sender<bool>,
}

impl Server {
    async fn start() -> Self {
        Self::start_with(Config::default()).await
    }

    async fn start_with(config: Config) -> Self {
        Self::start_within(config, Budgets::default()).await
    }

    async fn start_within(config: Config, budgets: Budgets) -> Self {
        let (stop, stopping) = watch::channel(false);
        let (host, driver) = host::prepare(parts(), "here".into(), Role::Engine);
        tokio::spawn(driver.run(stopping));
        while !host.owns() {
            tokio::task::yield_now().await;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (draining, drain) = watch::channel(false);
        let router = super::router(host.clone(), &config, budgets.clone(), drain.clone());
        let edge = Edge { name: "gRPC", listeners: vec![listener], router, speaks: Speaks::Http2, tls: None };
        let serving = tokio::spawn(async move { listen::serve(edge, &config.listen, drain).await });
        Self { host, address, budgets, draining, serving, _stop: stop }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::try_from(format!("http://{}", self.address)).unwrap()
    }

    async fn client(&self) -> GatewayClient<Channel> {
        GatewayClient::new(self.endpoint().connect().await.unwrap())
    }
}

fn parts() -> Parts {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let store: Arc<dyn Store> = Arc::new(Memory::new(Arc::new(now)));
    let limits = Arc::new(Limits::default());
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    Parts { store, limits, metrics, definitions, announcing: None, exporting: None }
}

/// A process `work` with one task of type `work`.
fn one_task() -> wire::DeployResourceRequest {
    let model = r#"<?xml version="1.0" encoding="UTF-8"?>
        <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
          <process id="work" isExecutable="true">
            <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="task"/>
            <serviceTask id="task"><extensionElements><zeebe:taskDefinition type="work"/>
              <zeebe:taskHeaders><zeebe:header key="colour" value="red"/></zeebe:taskHeaders></extensionElements></serviceTask>
            <sequenceFlow id="b" sourceRef="task" targetRef="end"/><endEvent id="end"/>
          </process>
        </definitions>"#;
    let resource = wire::Resource { name: "work.bpmn".to_owned(), content: model.as_bytes().to_vec().into() };
    wire::DeployResourceRequest { resources: vec![resource], tenant_id: String::new() }
}

fn create(variables: &str) -> wire::CreateProcessInstanceRequest {
    wire::CreateProcessInstanceRequest {
        bpmn_process_id: "work".to_owned(),
        version: -1,
        variables: variables.to_owned(),
        ..Default::default()
    }
}

/// Asks for up to `max` jobs and waits for the first.
fn poll(max: i32) -> wire::ActivateJobsRequest {
    wire::ActivateJobsRequest {
        r#type: "work".to_owned(),
        worker: "tester".to_owned(),
        timeout: LONG_LEASE,
        max_jobs_to_activate: max,
        request_timeout: 30_000,
        ..Default::default()
    }
}

fn subscription() -> wire::StreamActivatedJobsRequest {
    wire::StreamActivatedJobsRequest {
        r#type: "work".to_owned(),
        worker: "listener".to_owned(),
        timeout: LONG_LEASE,
        ..Default::default()
    }
}

/// All jobs of one poll.
async fn polled(client: &mut GatewayClient<Channel>, request: wire::ActivateJobsRequest) -> Vec<wire::ActivatedJob> {
    let mut answer = client.activate_jobs(request).await.unwrap().into_inner();
    let mut jobs = Vec::new();
    while let Some(message) = answer.message().await.unwrap() {
        jobs.extend(message.jobs);
    }
    jobs
}
