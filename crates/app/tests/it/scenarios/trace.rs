//! The trace that something is started from comes to the workers of all its jobs: over every edge, also in what it calls, and from a server
//! that was started since.

use std::process::Command;

use api::grpc::wire::gateway_client::GatewayClient;
use api::grpc::workflow_wire::workflow_engine_client::WorkflowEngineClient;
use api::grpc::{wire, workflow_wire};
use serde_json::{Value, json};
use tonic::transport::{Channel, Endpoint};

use super::server::{Server, StoreKind};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const STATE: &str = "vendor=\"a\"";

/// `outer` has a task and calls `inner`, which has one; `told` is started by a message that is mapped.
const MODEL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <message id="m" name="tell"/>
  <process id="outer" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="first"/>
    <serviceTask id="first"><extensionElements><zeebe:taskDefinition type="first"/>
      <zeebe:taskHeaders><zeebe:header key="colour" value="red"/></zeebe:taskHeaders></extensionElements></serviceTask>
    <sequenceFlow id="b" sourceRef="first" targetRef="call"/>
    <callActivity id="call"><extensionElements><zeebe:calledElement processId="inner"/></extensionElements></callActivity>
    <sequenceFlow id="c" sourceRef="call" targetRef="e"/><endEvent id="e"/>
  </process>
  <process id="inner" isExecutable="true">
    <startEvent id="is"/><sequenceFlow id="ia" sourceRef="is" targetRef="second"/>
    <serviceTask id="second"><extensionElements><zeebe:taskDefinition type="second"/></extensionElements></serviceTask>
    <sequenceFlow id="ib" sourceRef="second" targetRef="ie"/><endEvent id="ie"/>
  </process>
  <process id="told" isExecutable="true">
    <startEvent id="ts"><extensionElements><zeebe:ioMapping><zeebe:output source="=a" target="b"/></zeebe:ioMapping></extensionElements>
      <messageEventDefinition id="tm" messageRef="m"/></startEvent>
    <sequenceFlow id="ta" sourceRef="ts" targetRef="third"/>
    <serviceTask id="third"><extensionElements><zeebe:taskDefinition type="third"/></extensionElements></serviceTask>
    <sequenceFlow id="tb" sourceRef="third" targetRef="te"/><endEvent id="te"/>
  </process>
</definitions>"#;

struct World {
    server: Server,
    agent: ureq::Agent,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn on(store: StoreKind) -> Self {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let world = Self { server: Server::start(store), agent, runtime };
        world.deploy();
        world
    }

    fn deploy(&self) {
        let file = std::env::temp_dir().join(format!("traced-{}-{}.bpmn", std::process::id(), self.server.rest.port()));
        std::fs::write(&file, MODEL).unwrap();
        let mut deploy = Command::new(env!("CARGO_BIN_EXE_caudal"));
        let status = deploy.arg("deploy").arg(&file).args(["--url", &format!("http://{}", self.server.rest)]).output();
        std::fs::remove_file(&file).unwrap();
        assert!(status.unwrap().status.success());
    }

    fn post(&self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Value {
        let post = self.agent.post(&format!("http://{}{path}", self.server.rest)).header("content-type", "application/json");
        let post = headers.iter().fold(post, |post, (name, value)| post.header(*name, *value));
        let mut answer = post.send(body.to_string()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        assert!(answer.status().is_success(), "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The only job of a type, as Camunda's clients have it.
    fn activate(&self, job_type: &str) -> Value {
        let body =
            json!({"type": job_type, "worker": "w", "timeout": 3_600_000, "maxJobsToActivate": 9, "requestTimeout": 60_000});
        let jobs = self.post("/v2/jobs/activation", &body, &[]);
        let [job] = jobs["jobs"].as_array().unwrap().as_slice() else { panic!("{jobs}") };
        job.clone()
    }

    /// The only job of a type, as ours have it.
    fn poll(&self, job_type: &str) -> Value {
        let body = json!({"workerId": "w", "jobTypes": [job_type], "maxJobs": 9, "waitSeconds": 30});
        let jobs = self.post("/v1/jobs/poll", &body, &[]);
        let [job] = jobs["jobs"].as_array().unwrap().as_slice() else { panic!("{jobs}") };
        job.clone()
    }

    fn complete(&self, job: &Value) {
        self.post(&format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap()), &json!({}), &[]);
    }

    fn grpc<T>(&self, call: impl AsyncFnOnce(Channel) -> T) -> T {
        let endpoint = Endpoint::try_from(format!("http://{}", self.server.grpc)).unwrap();
        self.runtime.block_on(async { call(endpoint.connect().await.unwrap()).await })
    }
}

fn traced<T>(message: T) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("traceparent", PARENT.parse().unwrap());
    request.metadata_mut().insert("tracestate", STATE.parse().unwrap());
    request
}

fn is_followed(store: StoreKind) {
    let world = World::on(store);
    let (headers, ours) = ([("traceparent", PARENT), ("tracestate", STATE)], json!({"traceparent": PARENT, "tracestate": STATE}));
    let started = json!({"processDefinitionId": "outer"});

    world.post("/v2/process-instances", &started, &headers);
    world.server.restart();
    let first = world.activate("first");
    assert_eq!(first["customHeaders"], json!({"colour": "red", "traceparent": PARENT, "tracestate": STATE}));
    assert_eq!(first["variables"], json!({}), "it is no variable that anybody sees");
    world.complete(&first);
    let second = world.activate("second");
    assert_eq!(second["customHeaders"], ours, "in what it calls");
    world.complete(&second);

    world.post("/v2/process-instances", &started, &[]);
    let first = world.activate("first");
    assert_eq!(first["customHeaders"], json!({"colour": "red"}), "nobody traces");
    world.complete(&first);
    assert_eq!(world.poll("second")["traceContext"], Value::Null);

    let message = json!({"name": "tell", "correlationKey": "", "variables": {"a": 1}});
    world.post("/v2/messages/publication", &message, &headers);
    let third = world.activate("third");
    assert_eq!((&third["customHeaders"], &third["variables"]), (&ours, &json!({"b": 1})), "by a message");

    world.post("/v1/actions/mail/executions", &json!({"input": {"to": "ada"}}), &headers);
    world.server.restart();
    let mail = world.poll("mail");
    assert_eq!((&mail["traceContext"], &mail["variables"]), (&ours, &json!({"to": "ada"})), "without a process");
    world.post("/v1/actions/mail/executions", &json!({}), &[]);
    assert_eq!(world.activate("mail")["customHeaders"], json!({}));
    over_grpc(&world);
}

fn over_grpc(world: &World) {
    let ours =
        std::collections::BTreeMap::from([("traceparent", PARENT), ("tracestate", STATE)].map(|(a, b)| (a.into(), b.into())));
    let step = json!({"id": "only", "name": "Only", "type": "SERVICE_TASK", "jobType": "only", "nextStep": "end"});
    let end = json!({"id": "end", "name": "End", "type": "END"});
    world.post("/v1/definitions", &json!({"id": "flow", "name": "Flow", "steps": [step, end]}), &[]);
    let polled = world.grpc(async |channel| {
        let mut client = WorkflowEngineClient::new(channel);
        let start = workflow_wire::StartInstanceRequest { definition_id: "flow".to_owned(), ..Default::default() };
        client.start_instance(traced(start)).await.unwrap();
        let (worker_id, job_types) = ("w".to_owned(), vec!["only".to_owned()]);
        let poll = workflow_wire::PollJobsRequest { worker_id, job_types, wait_seconds: 30, ..Default::default() };
        client.poll_jobs(poll).await.unwrap().into_inner().jobs
    });
    assert_eq!(polled.iter().map(|job| &job.trace_context).collect::<Vec<_>>(), [&ours]);

    let headers = world.grpc(async |channel| {
        let mut client = GatewayClient::new(channel);
        let create =
            wire::CreateProcessInstanceRequest { bpmn_process_id: "inner".to_owned(), version: -1, ..Default::default() };
        client.create_process_instance(traced(create)).await.unwrap();
        let (r#type, worker) = ("second".to_owned(), "w".to_owned());
        let (timeout, max_jobs_to_activate, request_timeout) = (3_600_000, 9, 60_000);
        let poll =
            wire::ActivateJobsRequest { r#type, worker, timeout, max_jobs_to_activate, request_timeout, ..Default::default() };
        let mut answer = client.activate_jobs(poll).await.unwrap().into_inner();
        answer.message().await.unwrap().unwrap().jobs.into_iter().map(|job| job.custom_headers).collect::<Vec<_>>()
    });
    let headers: Vec<Value> = headers.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(headers, [json!(ours)]);
}

/// A second try is the same request, from whichever span it comes.
#[test]
fn a_second_try_from_another_span_gets_the_first_answer() {
    let world = World::on(StoreKind::Memory);
    let body = json!({"processDefinitionId": "outer"});
    let answers = [PARENT.to_owned(), PARENT.replace("00f067", "11f067")]
        .map(|parent| world.post("/v2/process-instances", &body, &[("idempotency-key", "once"), ("traceparent", &parent)]));
    assert_eq!(answers[0], answers[1]);
    assert_eq!(world.activate("first")["customHeaders"]["traceparent"], PARENT, "the first one's");
}

#[test]
fn is_followed_in_memory() {
    is_followed(StoreKind::Memory);
}

#[test]
fn is_followed_on_sqlite() {
    is_followed(StoreKind::Sqlite);
}

#[test]
fn is_followed_on_postgres() {
    if crate::given::postgres().is_some() {
        is_followed(StoreKind::Postgres);
    }
}
