//! Limits as callers run into them.

use api::grpc::wire::{self, gateway_client::GatewayClient};

use crate::place::Place;
use crate::server::{Server, example};

#[test]
fn deployments_have_a_limit_of_their_own_over_rest_and_grpc() {
    let file = example("order.bpmn");
    let content = std::fs::read(&file).unwrap();
    assert!((1_200..60_000).contains(&content.len()), "{} bytes", content.len());
    // The settings, whether it is taken, and what is said if not.
    for (settings, refused) in [
        (["--limits-request-bytes", "1024", "--limits-deployment-bytes", "65536"], None),
        (["--limits-request-bytes", "65536", "--limits-deployment-bytes", "1100"], Some("longer than 1100 bytes")),
    ] {
        let server = Server::start_with("memory:", &settings);
        let over_rest = server.caudal(&["deploy", &file]);
        let resource = wire::Resource { name: "order.bpmn".to_owned(), content: content.clone().into() };
        let request = wire::DeployResourceRequest { resources: vec![resource], ..Default::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let over_grpc = runtime.block_on(async {
            let mut client = GatewayClient::connect(format!("http://{}", server.grpc)).await.unwrap();
            client.deploy_resource(request).await
        });
        match refused {
            None => {
                over_rest.done();
                over_grpc.unwrap();
            }
            Some(why) => {
                let said = over_grpc.unwrap_err();
                assert_eq!((over_rest.code, said.code()), (Some(1), tonic::Code::ResourceExhausted));
                for said in [&*over_rest.err, said.message()] {
                    assert!(said.contains(why) && said.contains("limits.deployment_bytes"), "{said}");
                }
            }
        }
    }
}

#[test]
fn a_search_that_takes_too_long_says_what_to_do() {
    let Some(place) = Place::all().into_iter().find(Place::is_shared) else { return };
    let server = Server::start_with(&place.url(), &["--limits-search-timeout-millis", "300"]);
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
    let search = || {
        let mut answer =
            agent.post(format!("{}/v2/jobs/search", server.url())).content_type("application/json").send("{}").unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    };
    let lock = place.lock_wholly("jobs");
    let (status, text) = search();
    let problem: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &problem["status"], &problem["title"]), (504, &504.into(), &"DEADLINE_EXCEEDED".into()), "{text}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("longer than 300 ms: narrow it by keys") && detail.contains("limits.search_timeout_millis"),
        "{text}"
    );
    lock.release_to_nobody();
    let again = (0..500).map(|_| search()).find(|(status, _)| *status == 200);
    assert!(again.is_some(), "the next ones are not concerned");
}
