//! Topology: which servers there are and which partitions they own.

use std::sync::Arc;

use host::Topology;
use tonic::{Response, Status};

use super::gateway::Gateway;
use super::wire::partition::{PartitionBrokerHealth, PartitionBrokerRole};
use super::{Config, refusal, wire};

pub(super) async fn topology(gateway: &Gateway) -> Result<Response<wire::TopologyResponse>, Status> {
    let topology = gateway.host.topology().await.map_err(|error| refusal::failed("TOPOLOGY", error))?;
    Ok(Response::new(describe(&topology, &gateway.config)))
}

fn describe(topology: &Topology, config: &Config) -> wire::TopologyResponse {
    let owners = topology.partitions.iter().filter_map(|partition| partition.owner.as_ref());
    let mut nodes: Vec<&Arc<str>> = owners.chain([&topology.node]).collect();
    nodes.sort();
    nodes.dedup();
    let brokers = nodes.iter().enumerate().map(|(id, node)| broker(topology, config, id as i32, node));
    wire::TopologyResponse {
        brokers: brokers.collect(),
        cluster_size: nodes.len() as i32,
        partitions_count: topology.partitions.len() as i32,
        replication_factor: 1,
        gateway_version: config.version.clone(),
        cluster_id: config.cluster_id.clone(),
    }
}

/// A server: this one by the address clients use, another by its name.
fn broker(topology: &Topology, config: &Config, id: i32, node: &Arc<str>) -> wire::BrokerInfo {
    let owned = topology.partitions.iter().filter(|partition| partition.owner.as_ref() == Some(node));
    let partitions = owned.map(|status| wire::Partition {
        partition_id: status.partition.0.into(),
        role: PartitionBrokerRole::Leader.into(),
        health: PartitionBrokerHealth::Healthy.into(),
    });
    let address = topology.address(node);
    let host = match address {
        Some(address) => &*address.host,
        None if *node == topology.node => &*config.advertised_host,
        None => &**node,
    };
    wire::BrokerInfo {
        node_id: id,
        host: host.to_owned(),
        port: address.map_or(config.advertised_port, |address| address.port).into(),
        partitions: partitions.collect(),
        version: config.version.clone(),
        broker_id: node.as_ref().to_owned(),
        zone: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use engine::PartitionId;
    use host::Address;
    use store::PartitionStatus;

    use super::*;

    fn partition(id: u16, owner: Option<&str>) -> PartitionStatus {
        let owner = owner.map(Arc::from);
        PartitionStatus { partition: PartitionId(id), epoch: 1, position: 0, inbox_to: 0, inbox_tail: 0, owner }
    }

    #[test]
    fn every_server_has_the_partitions_it_owns() {
        let partitions = vec![partition(1, Some("b")), partition(2, Some("a")), partition(3, None)];
        let config = Config { advertised_host: "10.0.0.1".to_owned(), ..Config::default() };
        let addresses = vec![("b".into(), Address { host: "10.0.0.2".to_owned(), port: 7 })];
        let answer = describe(&Topology { node: "a".into(), partitions, addresses }, &config);
        let brokers: Vec<_> = answer.brokers.iter().map(|broker| (broker.node_id, broker.host.as_str(), broker.port)).collect();
        assert_eq!(brokers, [(0, "10.0.0.1", 26501), (1, "10.0.0.2", 7)]);
        let owned: Vec<_> = answer.brokers.iter().map(|broker| broker.partitions[0].partition_id).collect();
        assert_eq!(owned, [2, 1]);
        assert_eq!((answer.cluster_size, answer.partitions_count), (2, 3));
    }
}
