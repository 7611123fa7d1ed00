//! What calls do and answer.

use tonic::{Code, Status};

use super::*;

#[tokio::test]
async fn an_instance_waits_for_its_worker_and_gives_its_result() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let deployed = client.deploy_resource(one_task()).await.unwrap().into_inner();
    let Some(wire::deployment::Metadata::Process(process)) = &deployed.deployments[0].metadata else { panic!() };
    assert_eq!((process.bpmn_process_id.as_str(), process.version), ("work", 1));
    let mut caller = server.client().await;
    let request = wire::CreateProcessInstanceWithResultRequest {
        request: Some(create(r#"{"n": 1}"#)),
        request_timeout: 30_000,
        fetch_variables: vec!["done".to_owned()],
    };
    let result = tokio::spawn(async move { caller.create_process_instance_with_result(request).await });

    let jobs = polled(&mut client, poll(5)).await;
    let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
    assert_eq!((job.element_id.as_str(), job.worker.as_str(), job.retries), ("task", "tester", 3));
    assert_eq!((job.variables.as_str(), job.custom_headers.as_str()), (r#"{"n":1}"#, r#"{"colour":"red"}"#));
    assert_eq!(job.listener_event_type(), wire::activated_job::ListenerEventType::Unspecified);
    let complete = wire::CompleteJobRequest { job_key: job.key, variables: r#"{"done": true}"#.to_owned(), ..Default::default() };
    client.complete_job(complete.clone()).await.unwrap();

    let result = result.await.unwrap().unwrap().into_inner();
    assert_eq!((result.process_instance_key, result.variables.as_str()), (job.process_instance_key, r#"{"done":true}"#));
    let again = client.complete_job(complete).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
    assert!(again.message().starts_with("Command 'COMPLETE' rejected with code 'NOT_FOUND': "), "{again}");
}

#[tokio::test]
async fn a_stream_gets_the_jobs_that_come() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.deploy_resource(one_task()).await.unwrap();
    let mut stream = client.stream_activated_jobs(subscription()).await.unwrap().into_inner();
    for n in 0..100 {
        let created = client.create_process_instance(create("")).await.unwrap().into_inner();
        let job = stream.message().await.unwrap().unwrap();
        assert_eq!((job.process_instance_key, job.worker.as_str()), (created.process_instance_key, "listener"), "{n}");
        client.complete_job(wire::CompleteJobRequest { job_key: job.key, ..Default::default() }).await.unwrap();
    }
}

#[tokio::test]
async fn large_answers_come_in_several_messages() {
    let server = Server::start_with(Config { message_bytes_max: 100_000, ..Config::default() }).await;
    let mut client = server.client().await;
    client.deploy_resource(one_task()).await.unwrap();
    let variables = format!(r#"{{"text": "{}"}}"#, "x".repeat(40_000));
    for _ in 0..5 {
        client.create_process_instance(create(&variables)).await.unwrap();
    }
    let mut answer = client.activate_jobs(poll(10)).await.unwrap().into_inner();
    let mut sizes = Vec::new();
    while let Some(message) = answer.message().await.unwrap() {
        sizes.push(message.jobs.len());
    }
    assert_eq!(sizes, [2, 2, 1]);
}

#[tokio::test]
async fn polls_are_checked() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let now = || wire::ActivateJobsRequest { request_timeout: -1, ..poll(1) };
    let refused = [
        wire::ActivateJobsRequest { r#type: " ".to_owned(), ..now() },
        wire::ActivateJobsRequest { timeout: 0, ..now() },
        wire::ActivateJobsRequest { tenant_ids: vec!["blue".to_owned()], ..now() },
    ];
    for request in refused {
        let status = client.activate_jobs(request.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{request:?}");
    }
    let empty = [
        now(),
        wire::ActivateJobsRequest { request_timeout: 1, ..now() },
        wire::ActivateJobsRequest { max_jobs_to_activate: 0, r#type: String::new(), timeout: 0, ..now() },
        wire::ActivateJobsRequest { max_jobs_to_activate: -1, ..now() },
        wire::ActivateJobsRequest { tenant_ids: vec!["<default>".to_owned()], ..now() },
    ];
    for request in empty {
        assert_eq!(polled(&mut client, request).await, []);
    }
    for request in [
        wire::StreamActivatedJobsRequest { r#type: String::new(), ..subscription() },
        wire::StreamActivatedJobsRequest { timeout: -5, ..subscription() },
    ] {
        assert_eq!(client.stream_activated_jobs(request).await.unwrap_err().code(), Code::InvalidArgument);
    }
}

#[tokio::test]
async fn creating_is_checked() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.deploy_resource(one_task()).await.unwrap();
    let at = |id: &str| wire::ProcessInstanceCreationStartInstruction { element_id: id.to_owned() };
    let until = |id: &str| {
        let terminate = wire::TerminateProcessInstanceInstruction { after_element_id: id.to_owned() };
        let instruction = wire::process_instance_creation_runtime_instruction::Instruction::Terminate(terminate);
        wire::ProcessInstanceCreationRuntimeInstruction { instruction: Some(instruction) }
    };
    let cases = [
        (create("{oops"), Code::InvalidArgument),
        (create("[1]"), Code::InvalidArgument),
        (create("null"), Code::Ok),
        (wire::CreateProcessInstanceRequest { tags: vec!["1 bad".to_owned()], ..create("") }, Code::InvalidArgument),
        (wire::CreateProcessInstanceRequest { tenant_id: "blue".to_owned(), ..create("") }, Code::InvalidArgument),
        (wire::CreateProcessInstanceRequest { version: 0, ..create("") }, Code::NotFound),
        (wire::CreateProcessInstanceRequest::default(), Code::NotFound),
        (wire::CreateProcessInstanceRequest { start_instructions: vec![at("end")], ..create("") }, Code::Ok),
        (wire::CreateProcessInstanceRequest { start_instructions: vec![at("nowhere")], ..create("") }, Code::InvalidArgument),
        (wire::CreateProcessInstanceRequest { runtime_instructions: vec![until("task")], ..create("") }, Code::Ok),
        (
            wire::CreateProcessInstanceRequest { runtime_instructions: vec![until("nowhere")], ..create("") },
            Code::InvalidArgument,
        ),
        (
            wire::CreateProcessInstanceRequest { runtime_instructions: vec![Default::default()], ..create("") },
            Code::InvalidArgument,
        ),
    ];
    for (request, code) in cases {
        let got = client.create_process_instance(request.clone()).await.map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(got, code, "{request:?}");
    }
}

#[tokio::test]
async fn a_call_sent_twice_with_one_key_is_done_once() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.deploy_resource(one_task()).await.unwrap();
    let keyed = |variables: &str| {
        let mut request = tonic::Request::new(create(variables));
        request.metadata_mut().insert("idempotency-key", "order-7".parse().unwrap());
        request
    };
    let first = client.create_process_instance(keyed("{}")).await.unwrap().into_inner();
    let second = client.create_process_instance(keyed("{}")).await.unwrap().into_inner();
    assert_eq!(first.process_instance_key, second.process_instance_key);
    assert!(client.create_process_instance(keyed(r#"{"other": 1}"#)).await.is_err());
    assert_eq!(polled(&mut client, poll(5)).await.len(), 1);
}

#[tokio::test]
async fn a_definition_is_deleted_once() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let deployed = client.deploy_resource(one_task()).await.unwrap().into_inner();
    let Some(wire::deployment::Metadata::Process(process)) = &deployed.deployments[0].metadata else { panic!() };
    let running = client.create_process_instance(create("")).await.unwrap().into_inner();
    let key = process.process_definition_key;
    let delete = wire::DeleteResourceRequest { resource_key: key, ..Default::default() };
    assert_eq!(client.delete_resource(delete).await.unwrap_err().code(), Code::FailedPrecondition);
    let cancel = wire::CancelProcessInstanceRequest { process_instance_key: running.process_instance_key, ..Default::default() };
    client.cancel_process_instance(cancel).await.unwrap();
    assert_eq!(client.delete_resource(delete).await.unwrap().into_inner().resource_key, key.to_string());
    assert_eq!(client.delete_resource(delete).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(client.create_process_instance(create("")).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn an_instance_is_modified_and_migrated() {
    use wire::migrate_process_instance_request::{MappingInstruction, MigrationPlan};
    use wire::modify_process_instance_request::{ActivateInstruction, MoveInstruction, TerminateInstruction};
    let server = Server::start().await;
    let mut client = server.client().await;
    let deployed = client.deploy_resource(one_task()).await.unwrap().into_inner();
    let Some(wire::deployment::Metadata::Process(process)) = &deployed.deployments[0].metadata else { panic!() };
    let instance = client.create_process_instance(create("")).await.unwrap().into_inner().process_instance_key;
    let empty = || wire::ModifyProcessInstanceRequest { process_instance_key: instance, ..Default::default() };
    let moved = |source: &str, target: &str| MoveInstruction {
        source_element_id: source.to_owned(),
        target_element_id: target.to_owned(),
        ..Default::default()
    };
    let nowhere = ActivateInstruction { element_id: "nowhere".to_owned(), ..Default::default() };
    let cases = [
        (wire::ModifyProcessInstanceRequest { move_instructions: vec![moved("task", "task")], ..empty() }, Code::Ok),
        (wire::ModifyProcessInstanceRequest { move_instructions: vec![moved("task", "")], ..empty() }, Code::InvalidArgument),
        (wire::ModifyProcessInstanceRequest { activate_instructions: vec![nowhere], ..empty() }, Code::InvalidArgument),
        (
            wire::ModifyProcessInstanceRequest { terminate_instructions: vec![TerminateInstruction::default()], ..empty() },
            Code::InvalidArgument,
        ),
    ];
    for (request, code) in cases {
        let answer = client.modify_process_instance(request.clone()).await;
        assert_eq!(answer.map_or_else(|status| status.code(), |_| Code::Ok), code, "{request:?}");
    }
    let plan = |source: &str| wire::MigrateProcessInstanceRequest {
        process_instance_key: instance,
        migration_plan: Some(MigrationPlan {
            target_process_definition_key: process.process_definition_key,
            mapping_instructions: vec![MappingInstruction {
                source_element_id: source.to_owned(),
                target_element_id: "task".to_owned(),
            }],
        }),
        ..Default::default()
    };
    client.migrate_process_instance(plan("task")).await.unwrap();
    assert_eq!(client.migrate_process_instance(plan("start")).await.unwrap_err().code(), Code::FailedPrecondition);
    let all = TerminateInstruction { element_id: "task".to_owned(), ..Default::default() };
    let over = wire::ModifyProcessInstanceRequest { terminate_instructions: vec![all], ..empty() };
    client.modify_process_instance(over).await.unwrap();
    assert_eq!(client.modify_process_instance(empty()).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn what_is_not_there_yet_says_so() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let status: Status =
        client.assign_process_instance_business_id(wire::AssignProcessInstanceBusinessIdRequest::default()).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unimplemented, "AssignProcessInstanceBusinessId is not served yet"));
}

#[tokio::test]
async fn a_worker_directs_an_ad_hoc_sub_process() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let room = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
        <process id="work" isExecutable="true"><startEvent id="start"/><sequenceFlow id="f" sourceRef="start" targetRef="room"/>
        <adHocSubProcess id="room"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements>
          <serviceTask id="a"><extensionElements><zeebe:taskDefinition type="inner"/></extensionElements></serviceTask>
        </adHocSubProcess></process></definitions>"#;
    let resource = wire::Resource { name: "room.bpmn".to_owned(), content: room.into() };
    client.deploy_resource(wire::DeployResourceRequest { resources: vec![resource], ..Default::default() }).await.unwrap();
    client.create_process_instance(create("{}")).await.unwrap();
    let job = polled(&mut client, poll(1)).await.remove(0);
    assert_eq!(job.kind(), wire::activated_job::JobKind::AdHocSubProcess);
    let element = wire::JobResultActivateElement { element_id: "a".to_owned(), variables: r#"{"x": 1}"#.to_owned() };
    let mut result = wire::JobResult {
        r#type: Some("adHocSubProcess".to_owned()),
        activate_elements: vec![element],
        is_completion_condition_fulfilled: Some(true),
        ..Default::default()
    };
    let complete = |job_key, result| wire::CompleteJobRequest { job_key, result: Some(result), ..Default::default() };
    let refused = client.complete_job(complete(job.key, result.clone())).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    result.is_completion_condition_fulfilled = None;
    client.complete_job(complete(job.key, result)).await.unwrap();
    let inner = polled(&mut client, wire::ActivateJobsRequest { r#type: "inner".to_owned(), ..poll(1) }).await.remove(0);
    assert_eq!((inner.kind(), inner.variables.contains(r#""x":1"#)), (wire::activated_job::JobKind::BpmnElement, true));
}
