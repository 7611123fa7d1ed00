//! A server that speaks TLS, with a certificate of an authority that the world does not know.

use std::time::Duration;

use caudal_client::{Client, Error, Grpc, Options, Rest, Runner, Status};
use serde_json::json;
use tokio::sync::oneshot;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use crate::world::{Scenario, by, ended, is_json, start_work, transport};

pub(crate) fn all() -> Vec<Scenario> {
    vec![Scenario::new("tls", tls())]
}

async fn tls() {
    let given = |name: &str| std::env::var(name).unwrap();
    let (rest, authority) = (given("CAUDAL_TLS_REST"), std::fs::read(given("CAUDAL_TLS_CA")).unwrap());
    let http = reqwest::Client::builder().add_root_certificate(reqwest::Certificate::from_pem(&authority).unwrap()).build();
    let options = Options { http: Some(http.unwrap()), token: Some("t".to_owned()), ..Options::default() };
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let running = if transport() == "rest" {
        tokio::spawn(Runner::new(by("tls"), Rest::with(&rest, options.clone()).unwrap()).run(stopped))
    } else {
        let place = given("CAUDAL_TLS_GRPC").replace("grpcs://", "https://");
        let trust = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&authority));
        let channel = Endpoint::from_shared(place).unwrap().tls_config(trust).unwrap().connect_lazy();
        let grpc = Grpc::over(channel).token("t").unwrap().header("X-Api-Key", "k").unwrap();
        tokio::spawn(Runner::new(by("tls"), grpc).run(stopped))
    };
    let client = Client::with(&rest, options).unwrap();
    let instance = ended(&client, &start_work(&client, &json!({})).await).await;
    drop(stop);
    running.await.unwrap().unwrap();
    assert_eq!(instance.status, Status::Completed);
    is_json(&instance.variables, json!({"by": "tls"}));
    let stranger = Client::with(&rest, Options { patience: Duration::ZERO, ..Options::default() }).unwrap();
    assert!(matches!(stranger.definitions("", 0, 1).await, Err(Error::Unavailable { .. })));
}
