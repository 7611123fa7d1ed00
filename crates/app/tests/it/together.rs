//! Several servers on one database say the same of it, each by itself.

use std::time::{Duration, Instant};

use crate::place::Place;
use crate::server::Server;
use serde_json::Value;

/// A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(240);

fn topology(server: &Server) -> Value {
    ureq::get(format!("{}/v2/topology", server.url())).call().unwrap().body_mut().read_json().unwrap()
}

/// What the topology says of this server.
fn broker<'t>(topology: &'t Value, server: &Server) -> &'t Value {
    let brokers = topology["brokers"].as_array().unwrap();
    brokers.iter().find(|broker| broker["port"] == server.grpc.port()).unwrap_or_else(|| panic!("{topology}"))
}

fn role<'t>(topology: &'t Value, server: &Server) -> &'t Value {
    &broker(topology, server)["partitions"][0]["role"]
}

#[test]
fn each_server_names_the_cluster_and_its_leader() {
    let Some(place) = Place::all().into_iter().find(Place::is_shared) else { return };
    let mut first = Server::start(&place.url());
    let until = Instant::now() + PATIENCE;
    while role(&topology(&first), &first) != "leader" {
        assert!(Instant::now() < until, "nobody leads");
    }
    let mut second = Server::start(&place.url());
    let cluster = topology(&first)["clusterId"].clone();
    assert!(cluster.as_str().is_some_and(|id| !id.is_empty() && !id.starts_with("00000000-")), "{cluster}");
    for server in [&first, &second] {
        let seen = topology(server);
        assert_eq!(seen["clusterId"], cluster);
        assert_eq!((role(&seen, &first), &broker(&seen, &first)["host"]), (&"leader".into(), &"127.0.0.1".into()), "{seen}");
        assert_eq!((&seen["partitionsCount"], &seen["replicationFactor"]), (&1.into(), &1.into()));
    }
    let seen = topology(&second);
    assert_eq!((role(&seen, &second), &seen["clusterSize"]), (&"follower".into(), &2.into()), "{seen}");
    assert_ne!(broker(&seen, &first)["nodeId"], broker(&seen, &second)["nodeId"]);

    first.kill();
    let until = Instant::now() + PATIENCE;
    while role(&topology(&second), &second) != "leader" {
        assert!(Instant::now() < until, "{}", topology(&second));
        std::thread::park_timeout(Duration::from_millis(20));
    }
    first.run();
    let seen = topology(&first);
    assert_eq!((role(&seen, &second), role(&seen, &first)), (&"leader".into(), &"follower".into()), "{seen}");
    assert_eq!((&seen["clusterId"], &topology(&second)["clusterId"]), (&cluster, &cluster));
    second.stop();

    let alone = Server::start("memory:");
    assert_ne!(topology(&alone)["clusterId"], cluster, "another store is another cluster");
}
