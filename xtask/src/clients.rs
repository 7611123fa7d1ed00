//! The real client libraries that are run against the server, and how each one's program is prepared and started.

use std::process::Command;

use crate::environment::Readiness;
use crate::places::Places;
use crate::{go, java, node, python};

pub(crate) struct Client {
    /// What `--only` calls it.
    pub(crate) name: &'static str,
    /// The package that is tested, as the summary shows it. Its version is pinned in `clients/`.
    pub(crate) package: &'static str,
    pub(crate) prepare: fn(&Places) -> Readiness,
    pub(crate) program: fn(&Places) -> Command,
}

pub(crate) const ALL: [Client; 10] = [
    Client {
        name: "pyzeebe",
        package: "pyzeebe 4.7.0",
        prepare: |places| python::prepare(places, "pyzeebe"),
        program: |places| python::script(places, "pyzeebe", "pyzeebe_client.py"),
    },
    Client {
        name: "python-sdk-9",
        package: "camunda-orchestration-sdk 9.0.1",
        prepare: |places| python::prepare(places, "sdk-9"),
        program: |places| python::script(places, "sdk-9", "orchestration_sdk.py"),
    },
    Client {
        name: "python-sdk-10",
        package: "camunda-orchestration-sdk 10.0.1",
        prepare: |places| python::prepare(places, "sdk-10"),
        program: |places| python::script(places, "sdk-10", "orchestration_sdk.py"),
    },
    Client {
        name: "node-sdk",
        package: "@camunda8/sdk 8.8.13",
        prepare: node::prepare,
        program: |places| node::script(places, "sdk.mjs"),
    },
    Client {
        name: "node-cluster-api",
        package: "orchestration-cluster-api 9.1.5",
        prepare: node::prepare,
        program: |places| node::script(places, "cluster_api.mjs"),
    },
    Client { name: "go", package: "zeebe-client-go 8.6.0", prepare: go::prepare, program: go::program },
    Client {
        name: "workflow-python",
        package: "JSON workflows, standard library",
        prepare: |places| python::prepare(places, "workflow"),
        program: |places| python::script(places, "workflow", "workflow_worker.py"),
    },
    Client {
        name: "workflow-node",
        package: "JSON workflows, standard library",
        prepare: node::prepare,
        program: |places| node::script(places, "workflow_worker.mjs"),
    },
    Client {
        name: "docs-page",
        package: "the script of /docs",
        prepare: node::prepare,
        program: |places| node::script(places, "docs_page.mjs"),
    },
    Client { name: "java", package: "camunda-client-java 8.9.0", prepare: java::prepare, program: java::program },
];
