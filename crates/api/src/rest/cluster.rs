//! The cluster and who is asking: topology, status, license, the caller's own name.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty, optional};
use super::operation::{Input, Operation, Output};
use crate::caller::Caller;
use crate::error::{Failure, Reason};

const PARTITION_STATES: &[&str] = &["active", "joining", "learner", "leaving", "recovering", "unknown"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v2/topology",
        id: "getTopology",
        summary: "The servers of the cluster and the partitions they own",
        input: Input::None,
        query: &[],
        output: Output::Object(&TOPOLOGY),
        failures: &[],
        run: |call| Box::pin(topology(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/topology",
        id: "getTopologyV1",
        summary: "The same as `/v2/topology`, where older clients look for it",
        input: Input::None,
        query: &[],
        output: Output::Object(&TOPOLOGY),
        failures: &[],
        run: |call| Box::pin(topology(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/status",
        id: "getStatus",
        summary: "Whether the cluster can do work: 204 if it can",
        input: Input::None,
        query: &[],
        output: Output::NoContent,
        failures: &[],
        run: |call| Box::pin(status(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/license",
        id: "getLicense",
        summary: "The license, in the form clients of Camunda 8 know: none is needed here",
        input: Input::None,
        query: &[],
        output: Output::Object(&LICENSE),
        failures: &[],
        run: |_| Box::pin(async { Ok(answer::ok(LICENSE.to_vec(&()))) }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/authentication/me",
        id: "getAuthentication",
        summary: "Who the caller is: anonymous while there is no authentication",
        input: Input::None,
        query: &[],
        output: Output::Object(&CALLER),
        failures: &[],
        run: |call| Box::pin(async move { Ok(answer::ok(CALLER.to_vec(&call.caller))) }),
    },
];

/// What the topology shows.
pub(super) struct Cluster {
    brokers: Vec<Broker>,
    id: String,
    partitions: usize,
    version: String,
}

pub(super) struct Broker {
    id: usize,
    name: String,
    host: String,
    port: u16,
    partitions: Vec<Partition>,
    version: String,
}

pub(super) struct Partition {
    id: u16,
    role: &'static str,
    health: &'static str,
    state: &'static str,
}

static TOPOLOGY: Layout<Cluster> = Layout {
    name: "TopologyResponse",
    columns: &[
        column("brokers", Kind::NestedList(&BROKER), |cluster| {
            Cell::Nested(Box::new(|out| BROKER.write_list(out, &cluster.brokers)))
        }),
        optional("clusterId", Kind::Text, |cluster| Cell::Text(&cluster.id)),
        column("clusterSize", Kind::Int32, |cluster| Cell::Number(cluster.brokers.len() as i64)),
        column("partitionsCount", Kind::Int32, |cluster| Cell::Number(cluster.partitions as i64)),
        column("replicationFactor", Kind::Int32, |_| Cell::Number(1)),
        column("gatewayVersion", Kind::Text, |cluster| Cell::Text(&cluster.version)),
        column("lastCompletedChangeId", Kind::Text, |_| Cell::Text("-1")),
    ],
};

static BROKER: Layout<Broker> = Layout {
    name: "BrokerInfo",
    columns: &[
        column("nodeId", Kind::Int32, |broker| Cell::Number(broker.id as i64)),
        column("host", Kind::Text, |broker| Cell::Text(&broker.host)),
        column("port", Kind::Int32, |broker| Cell::Number(broker.port.into())),
        column("partitions", Kind::NestedList(&PARTITION), |broker| {
            Cell::Nested(Box::new(|out| PARTITION.write_list(out, &broker.partitions)))
        }),
        column("version", Kind::Text, |broker| Cell::Text(&broker.version)),
        column("brokerId", Kind::Text, |broker| Cell::Text(&broker.name)),
    ],
};

static PARTITION: Layout<Partition> = Layout {
    name: "Partition",
    columns: &[
        column("partitionId", Kind::Int32, |partition| Cell::Number(partition.id.into())),
        column("role", Kind::Word(&["leader", "follower", "inactive"]), |partition| Cell::Text(partition.role)),
        column("health", Kind::Word(&["healthy", "unhealthy", "dead"]), |partition| Cell::Text(partition.health)),
        column("state", Kind::Word(PARTITION_STATES), |partition| Cell::Text(partition.state)),
    ],
};

static LICENSE: Layout<()> = Layout {
    name: "LicenseResponse",
    columns: &[
        column("validLicense", Kind::Boolean, |()| Cell::Boolean(false)),
        column("licenseType", Kind::Text, |()| Cell::Text("unknown")),
        column("isCommercial", Kind::Boolean, |()| Cell::Boolean(false)),
        empty("expiresAt", Kind::Time),
    ],
};

static CALLER: Layout<Caller> = Layout {
    name: "CamundaUserResult",
    columns: &[
        column("username", Kind::Text, |caller| Cell::Text(&caller.name)),
        empty("displayName", Kind::Text),
        empty("email", Kind::Text),
        column("authorizedComponents", Kind::Texts, |_| Cell::Json(r#"["*"]"#)),
        column("tenants", Kind::NestedList(&TENANT), |caller| {
            Cell::Nested(Box::new(|out| TENANT.write_list(out, std::slice::from_ref(&caller.home()))))
        }),
        column("groups", Kind::Texts, |_| Cell::Json("[]")),
        column("roles", Kind::Texts, |_| Cell::Json("[]")),
        empty("salesPlanType", Kind::Text),
        column("c8Links", Kind::Object, |_| Cell::Json("{}")),
        column("canLogout", Kind::Boolean, |_| Cell::Boolean(false)),
    ],
};

static TENANT: Layout<Arc<str>> = Layout {
    name: "TenantResult",
    columns: &[
        column("name", Kind::Text, |_| Cell::Text("Default")),
        column("tenantId", Kind::Text, |tenant| Cell::Text(tenant)),
        empty("description", Kind::Text),
    ],
};

async fn topology(call: Call) -> Result<Response, Failure> {
    let seen = call.host().topology().await.map_err(|error| Failure::of_command("TOPOLOGY", error))?;
    Ok(answer::ok(TOPOLOGY.to_vec(&cluster(&call, &seen))))
}

async fn status(call: Call) -> Result<Response, Failure> {
    if let Some(error) = call.host().unwritten() {
        return Err(Failure::new(Reason::Unavailable, error.to_string()));
    }
    let seen = call.host().topology().await.map_err(|error| Failure::of_command("STATUS", error))?;
    if seen.partitions.iter().any(|partition| partition.owner.is_some()) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Err(Failure::new(Reason::Unavailable, "No partition has an owner"))
}

fn cluster(call: &Call, seen: &host::Topology) -> Cluster {
    let config = call.config();
    let mut nodes: Vec<&str> = seen.partitions.iter().filter_map(|partition| partition.owner.as_deref()).collect();
    nodes.push(&seen.node);
    nodes.sort_unstable();
    nodes.dedup();
    let broker = |(id, node): (usize, &&str)| Broker {
        id,
        name: (*node).to_owned(),
        host: match seen.address(node) {
            Some(address) => address.host.clone(),
            None if **node == *seen.node => config.advertised_host.clone(),
            None => (*node).to_owned(),
        },
        port: seen.address(node).map_or(config.advertised_port, |address| address.port),
        partitions: seen.partitions.iter().map(|partition| partition_of(node, partition)).collect(),
        version: config.version.clone(),
    };
    Cluster {
        brokers: nodes.iter().enumerate().map(broker).collect(),
        id: config.cluster_id.clone(),
        partitions: seen.partitions.len(),
        version: config.version.clone(),
    }
}

fn partition_of(node: &str, status: &store::PartitionStatus) -> Partition {
    let (role, health, state) = match status.owner.as_deref() {
        Some(owner) if owner == node => ("leader", "healthy", "active"),
        Some(_) => ("follower", "healthy", "active"),
        None => ("inactive", "unhealthy", "unknown"),
    };
    Partition { id: status.partition.0, role, health, state }
}
