//! A worker that goes away loses no job: what it did not take is there for others at once.

use super::*;

const INSTANCES: usize = 6;

/// Bytes of one job: more than a client with the smallest windows lets in unread.
const LARGE: usize = 100_000;

#[tokio::test]
async fn a_stream_that_is_not_read_keeps_nothing() {
    let (server, mut stalled, mut other) = a_stalled_client_and_another().await;
    let stream = stalled.stream_activated_jobs(subscription()).await.unwrap();
    create_instances(&mut other).await;
    while server.host.metrics().jobs_activated.get() < INSTANCES as u64 {
        tokio::task::yield_now().await;
    }
    drop(stream);
    all_are_there(&mut other).await;
}

#[tokio::test]
async fn a_poll_that_is_not_read_keeps_nothing() {
    let (_server, mut stalled, mut other) = a_stalled_client_and_another().await;
    create_instances(&mut other).await;
    let answer = stalled.activate_jobs(poll(INSTANCES as i32)).await.unwrap();
    drop(answer);
    all_are_there(&mut other).await;
}

#[tokio::test]
async fn a_connection_that_breaks_keeps_nothing() {
    let (_server, mut stalled, mut other) = a_stalled_client_and_another().await;
    create_instances(&mut other).await;
    let answer = stalled.activate_jobs(poll(INSTANCES as i32)).await.unwrap();
    drop((answer, stalled));
    all_are_there(&mut other).await;
}

#[tokio::test]
async fn a_job_that_was_read_stays_leased() {
    let (_server, _, mut client) = a_stalled_client_and_another().await;
    let mut stream = client.stream_activated_jobs(subscription()).await.unwrap().into_inner();
    client.create_process_instance(create("")).await.unwrap();
    let job = stream.message().await.unwrap().unwrap();
    drop(stream);
    let polled_now = polled(&mut client, wire::ActivateJobsRequest { request_timeout: 300, ..poll(1) }).await;
    assert_eq!(polled_now, []);
    client.complete_job(wire::CompleteJobRequest { job_key: job.key, ..Default::default() }).await.unwrap();
}

#[tokio::test]
async fn a_poll_that_left_gets_nothing() {
    let (_server, mut gone, mut other) = a_stalled_client_and_another().await;
    let parked = tokio::spawn(async move { gone.activate_jobs(poll(1)).await });
    tokio::task::yield_now().await;
    parked.abort();
    let _ = parked.await;
    create_instances(&mut other).await;
    all_are_there(&mut other).await;
}

/// The first lets in as little as HTTP/2 can be told to.
async fn a_stalled_client_and_another() -> (Server, GatewayClient<Channel>, GatewayClient<Channel>) {
    let server = Server::start().await;
    let endpoint = server.endpoint().initial_stream_window_size(65_535).initial_connection_window_size(65_535);
    let stalled = GatewayClient::new(endpoint.connect().await.unwrap());
    let mut other = server.client().await;
    other.deploy_resource(one_task()).await.unwrap();
    (server, stalled, other)
}

async fn create_instances(client: &mut GatewayClient<Channel>) {
    let variables = format!(r#"{{"text": "{}"}}"#, "x".repeat(LARGE));
    for _ in 0..INSTANCES {
        client.create_process_instance(create(&variables)).await.unwrap();
    }
}

/// Each wait ends as soon as there is a job; none is there before the leases end unless it was given back.
async fn all_are_there(client: &mut GatewayClient<Channel>) {
    let mut found = std::collections::BTreeSet::new();
    while found.len() < INSTANCES {
        let jobs = polled(client, poll(INSTANCES as i32)).await;
        assert!(!jobs.is_empty(), "{} of {INSTANCES} jobs came back", found.len());
        found.extend(jobs.iter().map(|job| job.key));
    }
}

#[tokio::test]
async fn jobs_there_is_no_room_for_are_given_back() {
    let answers = Budget::of_answers(LARGE);
    let server = Server::start_within(Config::default(), Budgets { answers: answers.clone(), ..Budgets::default() }).await;
    let mut client = server.client().await;
    client.deploy_resource(one_task()).await.unwrap();
    client.create_process_instance(create(&format!(r#"{{"text": "{}"}}"#, "x".repeat(LARGE)))).await.unwrap();
    let mut stream = client.stream_activated_jobs(subscription()).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap_err().code(), tonic::Code::ResourceExhausted);
    assert_eq!(client.activate_jobs(poll(1)).await.unwrap_err().code(), tonic::Code::ResourceExhausted);
    let small = wire::ActivateJobsRequest { fetch_variable: vec!["none".to_owned()], ..poll(1) };
    assert_eq!(polled(&mut client, small).await.len(), 1);
    while 0 < answers.in_use() {
        tokio::task::yield_now().await;
    }
}
