//! REST, as the contract has it.

use serde_json::{Value, json};

use super::server::Server;
use super::{Reply, Surface};

pub(crate) struct Rest {
    base: String,
    agent: ureq::Agent,
}

impl Rest {
    pub(crate) fn new(server: &Server) -> Self {
        // No connection is kept: the server may be another one since the last call.
        let agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
        Self { base: format!("http://{}/v1", server.rest), agent }
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        let url = format!("{}{path}", self.base);
        reply(self.agent.post(&url).header("content-type", "application/json").send(body.to_string()))
    }

    fn get(&self, path: &str) -> Reply {
        reply(self.agent.get(&format!("{}{path}", self.base)).call())
    }
}

fn reply(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Reply {
    let mut answer = answer.unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
}

fn buffered(path: String, buffer: bool) -> String {
    if buffer { format!("{path}?buffer=true") } else { path }
}

impl Surface for Rest {
    fn upload(&self, document: &Value) -> Reply {
        self.post("/definitions", document)
    }

    fn start(&self, body: &Value) -> Reply {
        self.post("/instances", body)
    }

    fn instance(&self, id: &str) -> Reply {
        self.get(&format!("/instances/{id}"))
    }

    fn history(&self, id: &str) -> Reply {
        self.get(&format!("/instances/{id}/history"))
    }

    fn list(&self, filters: &[(&str, &str)]) -> Reply {
        let query: Vec<String> = filters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.get(&format!("/instances?{}", query.join("&")))
    }

    fn poll(&self, worker: &str, job_types: &[&str]) -> Reply {
        self.post("/jobs/poll", &json!({"workerId": worker, "jobTypes": job_types}))
    }

    fn complete(&self, job: &str, worker: &str, variables: &Value) -> Reply {
        self.post(&format!("/jobs/{job}/complete"), &json!({"workerId": worker, "variables": variables}))
    }

    fn fail(&self, job: &str, worker: &str, retryable: bool, message: &str) -> Reply {
        let body = json!({"workerId": worker, "retryable": retryable, "errorMessage": message});
        self.post(&format!("/jobs/{job}/fail"), &body)
    }

    fn user_task(&self, instance: &str, step: &str, body: &Value, buffer: bool) -> Reply {
        let body = json!({"completedBy": "anna", "result": body});
        self.post(&buffered(format!("/instances/{instance}/user-tasks/{step}/complete"), buffer), &body)
    }

    fn signal(&self, instance: &str, step: &str, variables: &Value, buffer: bool) -> Reply {
        self.post(&buffered(format!("/instances/{instance}/signals/{step}"), buffer), variables)
    }

    fn cancel(&self, instance: &str) -> Reply {
        self.post(&format!("/instances/{instance}/cancel"), &json!({}))
    }

    fn retry(&self, instance: &str) -> Reply {
        self.post(&format!("/instances/{instance}/retry"), &json!({}))
    }
}
