//! Jobs of listeners over gRPC.

use tonic::Code;
use wire::activated_job::{JobKind, ListenerEventType};

use super::*;

fn listened() -> wire::DeployResourceRequest {
    let model = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
          <process id="work" isExecutable="true">
            <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="ask"/>
            <userTask id="ask"><extensionElements><zeebe:userTask/><zeebe:assignmentDefinition candidateGroups="hr"/>
              <zeebe:executionListeners><zeebe:executionListener eventType="start" type="work"/></zeebe:executionListeners>
              <zeebe:taskListeners><zeebe:taskListener eventType="creating" type="work"/><zeebe:taskListener eventType="assigning" type="work"/></zeebe:taskListeners>
            </extensionElements></userTask>
          </process>
        </definitions>"#;
    let resource = wire::Resource { name: "work.bpmn".to_owned(), content: model.as_bytes().to_vec().into() };
    wire::DeployResourceRequest { resources: vec![resource], tenant_id: String::new() }
}

async fn only_job(client: &mut GatewayClient<Channel>) -> wire::ActivatedJob {
    let mut jobs = polled(client, poll(5)).await;
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

fn complete(job: &wire::ActivatedJob, result: wire::JobResult) -> wire::CompleteJobRequest {
    wire::CompleteJobRequest { job_key: job.key, result: Some(result), ..Default::default() }
}

#[tokio::test]
async fn a_listener_is_told_what_it_listens_to_and_may_correct_it() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.deploy_resource(listened()).await.unwrap();
    client.create_process_instance(create("")).await.unwrap();

    let start = only_job(&mut client).await;
    assert_eq!((start.kind(), start.listener_event_type()), (JobKind::ExecutionListener, ListenerEventType::Start));
    assert_eq!((start.user_task.as_ref(), start.custom_headers.as_str()), (None, "{}"));
    client.complete_job(wire::CompleteJobRequest { job_key: start.key, ..Default::default() }).await.unwrap();

    let creating = only_job(&mut client).await;
    assert_eq!((creating.kind(), creating.listener_event_type()), (JobKind::TaskListener, ListenerEventType::Creating));
    let task = creating.user_task.clone().unwrap();
    assert_eq!((task.candidate_groups.as_slice(), task.priority), (&["hr".to_owned()][..], Some(50)));
    assert!(task.user_task_key.is_some() && task.assignee.is_none());
    let denied = wire::JobResult { denied: Some(true), ..Default::default() };
    assert_eq!(client.complete_job(complete(&creating, denied)).await.unwrap_err().code(), Code::InvalidArgument);
    let bad = wire::JobResultCorrections { due_date: Some("soon".to_owned()), ..Default::default() };
    let bad = wire::JobResult { corrections: Some(bad), ..Default::default() };
    assert_eq!(client.complete_job(complete(&creating, bad)).await.unwrap_err().code(), Code::InvalidArgument);
    let corrections = wire::JobResultCorrections {
        assignee: Some("ann".to_owned()),
        candidate_groups: Some(wire::StringList { values: vec![] }),
        due_date: Some("2030-01-01T00:00:00Z".to_owned()),
        ..Default::default()
    };
    let result = wire::JobResult { corrections: Some(corrections), r#type: Some("userTask".to_owned()), ..Default::default() };
    client.complete_job(complete(&creating, result)).await.unwrap();

    let assigning = only_job(&mut client).await;
    let task = assigning.user_task.clone().unwrap();
    assert_eq!((task.assignee.as_deref(), task.due_date.as_deref()), (Some("ann"), Some("2030-01-01T00:00:00Z")));
    assert_eq!((task.candidate_groups.len(), task.changed_attributes), (0, vec!["assignee".to_owned()]));
    let thrown = wire::ThrowErrorRequest { job_key: assigning.key, error_code: "E".to_owned(), ..Default::default() };
    assert_eq!(client.throw_error(thrown).await.unwrap_err().code(), Code::FailedPrecondition);
}
