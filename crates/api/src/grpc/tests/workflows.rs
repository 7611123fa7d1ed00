//! JSON workflows over gRPC: what only this surface has. The rest is in `spec/scenarios`, run over both.

use super::Server;
use crate::grpc::workflow_wire as wire;
use wire::workflow_engine_client::WorkflowEngineClient;

fn step(id: &str, kind: wire::StepType, next: &str) -> wire::WorkflowStep {
    wire::WorkflowStep {
        id: id.to_owned(),
        name: id.to_owned(),
        r#type: kind.into(),
        next_step: next.to_owned(),
        ..Default::default()
    }
}

fn definition() -> wire::WorkflowDefinition {
    let task = wire::WorkflowStep { job_type: "work".to_owned(), ..step("work", wire::StepType::ServiceTask, "which") };
    let conditions = [("true", "end"), ("1 > 2", "end"), ("false", "work")];
    let conditional_next_steps = conditions.map(|(name, to)| (name.to_owned(), to.to_owned())).into();
    let decision = wire::WorkflowStep { conditional_next_steps, ..step("which", wire::StepType::Decision, "") };
    wire::WorkflowDefinition {
        id: "w".to_owned(),
        name: "W".to_owned(),
        description: "About".to_owned(),
        steps: vec![task, decision, step("end", wire::StepType::End, "")],
        ..Default::default()
    }
}

#[tokio::test]
async fn a_definition_comes_back_as_it_was_sent() {
    let server = Server::start().await;
    let mut client = WorkflowEngineClient::new(server.endpoint().connect().await.unwrap());
    let request = wire::UploadDefinitionRequest { definition: Some(definition()) };
    let uploaded = client.upload_definition(request).await.unwrap().into_inner();
    assert_eq!((uploaded.id.as_str(), uploaded.version), ("w", 1));
    let request = wire::GetDefinitionRequest { id: "w".to_owned(), version: 0 };
    let got = client.get_definition(request).await.unwrap().into_inner().definition.unwrap();
    assert_eq!(got, wire::WorkflowDefinition { version: 1, ..definition() });
    let listed = client.list_definitions(wire::ListDefinitionsRequest::default()).await.unwrap().into_inner();
    assert_eq!((listed.total, &listed.definitions[0]), (1, &got));
}

#[tokio::test]
async fn jobs_are_pushed_as_they_come() {
    let server = Server::start().await;
    let mut client = WorkflowEngineClient::new(server.endpoint().connect().await.unwrap());
    client.upload_definition(wire::UploadDefinitionRequest { definition: Some(definition()) }).await.unwrap();
    let job_types = vec!["other".to_owned(), "work".to_owned()];
    let request = wire::StreamJobsRequest { worker_id: "w".to_owned(), job_types, lease_seconds: 0 };
    let mut jobs = client.stream_jobs(request).await.unwrap().into_inner();
    for _ in 0..3 {
        let start = wire::StartInstanceRequest { definition_id: "w".to_owned(), ..Default::default() };
        let started = client.start_instance(start).await.unwrap().into_inner().instance.unwrap();
        let job = jobs.message().await.unwrap().unwrap();
        assert_eq!((job.instance_id.as_str(), job.step_id.as_str()), (started.id.as_str(), "work"));
        let (job_id, worker_id) = (job.id, "w".to_owned());
        client.complete_job(wire::CompleteJobRequest { job_id, worker_id, variables_to_set: None, lease: 0 }).await.unwrap();
        let ended = client.get_instance(wire::GetInstanceRequest { id: started.id }).await.unwrap().into_inner();
        assert_eq!(ended.instance.unwrap().status(), wire::InstanceStatus::Completed);
    }
}

#[tokio::test]
async fn a_stream_without_a_worker_or_a_type_is_refused() {
    let server = Server::start().await;
    let mut client = WorkflowEngineClient::new(server.endpoint().connect().await.unwrap());
    let refused = client.stream_jobs(wire::StreamJobsRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
}

#[tokio::test]
async fn a_worker_keeps_gives_back_and_loses_a_job() {
    let server = Server::start().await;
    let mut client = WorkflowEngineClient::new(server.endpoint().connect().await.unwrap());
    client.upload_definition(wire::UploadDefinitionRequest { definition: Some(definition()) }).await.unwrap();
    let start = wire::StartInstanceRequest { definition_id: "w".to_owned(), ..Default::default() };
    client.start_instance(start).await.unwrap();
    let poll = |worker: &str| wire::PollJobsRequest {
        worker_id: worker.to_owned(),
        job_types: vec!["work".to_owned()],
        ..Default::default()
    };
    let first = client.poll_jobs(poll("w")).await.unwrap().into_inner().jobs.remove(0);
    let beat = |worker: &str, lease: u32, percent| wire::HeartbeatRequest {
        job_id: first.id.clone(),
        worker_id: worker.to_owned(),
        lease,
        lease_seconds: 600,
        percent,
        ..Default::default()
    };
    let held = client.heartbeat(beat("w", first.lease, Some(50))).await.unwrap().into_inner();
    assert_eq!(held.status, "HELD");
    assert!(held.lock_expires_at.map(|time| time.seconds) > first.lock_expires_at.map(|time| time.seconds));
    let release = wire::ReleaseJobRequest { job_id: first.id.clone(), worker_id: "w".to_owned(), lease: 1, delay_millis: 0 };
    for delay_millis in [-1, 366 * 24 * 3_600_000 + 1] {
        let odd = wire::ReleaseJobRequest { delay_millis, ..release.clone() };
        assert_eq!(client.release_job(odd).await.unwrap_err().code(), tonic::Code::InvalidArgument);
        let (retry_after_millis, job_id) = (Some(delay_millis), first.id.clone());
        let odd = wire::FailJobRequest { job_id, worker_id: "w".to_owned(), retry_after_millis, ..Default::default() };
        assert_eq!(client.fail_job(odd).await.unwrap_err().code(), tonic::Code::InvalidArgument);
    }
    client.release_job(release.clone()).await.unwrap();
    let second = client.poll_jobs(poll("v")).await.unwrap().into_inner().jobs.remove(0);
    assert_eq!((second.id.as_str(), second.lease, second.progress.is_some()), (first.id.as_str(), 2, true));
    assert_eq!(client.heartbeat(beat("w", 1, None)).await.unwrap().into_inner().status, "LOST");
    assert_eq!(client.release_job(release).await.unwrap_err().code(), tonic::Code::FailedPrecondition);
    let late = wire::CompleteJobRequest { job_id: first.id.clone(), worker_id: "w".to_owned(), variables_to_set: None, lease: 1 };
    assert_eq!(client.complete_job(late).await.unwrap_err().code(), tonic::Code::FailedPrecondition);
    let unknown = wire::HeartbeatRequest { job_id: "none".to_owned(), ..beat("w", 1, None) };
    let all = wire::HeartbeatsRequest { jobs: vec![beat("w", 1, None), unknown, beat("v", 2, Some(60))] };
    let standings = client.heartbeats(all).await.unwrap().into_inner().jobs;
    let words: Vec<_> = standings.iter().map(|one| (one.status.as_str(), one.lock_expires_at.is_some())).collect();
    assert_eq!(words, [("LOST", false), ("UNKNOWN", false), ("HELD", true)]);
    let none = client.heartbeats(wire::HeartbeatsRequest::default()).await.unwrap_err();
    assert_eq!(none.code(), tonic::Code::InvalidArgument);
    let error = |worker: &str, lease, code: &str| wire::ThrowErrorRequest {
        job_id: first.id.clone(),
        worker_id: worker.to_owned(),
        lease,
        error_code: code.to_owned(),
        ..Default::default()
    };
    for (refused, code) in [
        (error("w", 1, "E"), tonic::Code::FailedPrecondition),
        (error("v", 2, ""), tonic::Code::InvalidArgument),
        (error("", 2, "E"), tonic::Code::InvalidArgument),
    ] {
        assert_eq!(client.throw_error(refused).await.unwrap_err().code(), code);
    }
    client.throw_error(error("v", 2, "E")).await.unwrap();
}
