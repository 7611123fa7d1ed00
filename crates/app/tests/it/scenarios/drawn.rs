//! The same workflows deployed as the BPMN they are drawn as, then spoken to over REST.

use serde_json::Value;

use super::rest::Rest;
use super::server::Server;
use super::{Reply, Surface};

const BOUNDARY: &str = "caudal-scenario";

pub(crate) struct Drawn {
    rest: Rest,
    deployments: String,
}

impl Drawn {
    pub(crate) fn new(server: &Server) -> Self {
        Self { rest: Rest::new(server), deployments: format!("http://{}/v2/deployments", server.rest) }
    }
}

impl Surface for Drawn {
    fn upload(&self, document: &Value) -> Reply {
        let Ok(process) = compile::json(document.to_string().as_bytes()) else { return (400, Value::Null) };
        let xml = compile::drawn(&process).unwrap();
        let disposition = "Content-Disposition: form-data; name=\"resources\"; filename=\"drawn.bpmn\"";
        let body = format!("--{BOUNDARY}\r\n{disposition}\r\n\r\n{xml}\r\n--{BOUNDARY}--\r\n");
        let sent =
            ureq::post(&self.deployments).header("content-type", format!("multipart/form-data; boundary={BOUNDARY}")).send(body);
        assert_eq!(sent.unwrap().status(), 200);
        (201, Value::Null)
    }

    fn start(&self, body: &Value) -> Reply {
        self.rest.start(body)
    }

    fn instance(&self, id: &str) -> Reply {
        self.rest.instance(id)
    }

    fn history(&self, id: &str) -> Reply {
        self.rest.history(id)
    }

    fn list(&self, filters: &[(&str, &str)]) -> Reply {
        self.rest.list(filters)
    }

    fn poll(&self, worker: &str, job_types: &[&str]) -> Reply {
        self.rest.poll(worker, job_types)
    }

    fn complete(&self, job: &str, worker: &str, variables: &Value) -> Reply {
        self.rest.complete(job, worker, variables)
    }

    fn fail(&self, job: &str, worker: &str, retryable: bool, message: &str) -> Reply {
        self.rest.fail(job, worker, retryable, message)
    }

    fn user_task(&self, instance: &str, step: &str, body: &Value, buffer: bool) -> Reply {
        self.rest.user_task(instance, step, body, buffer)
    }

    fn signal(&self, instance: &str, step: &str, variables: &Value, buffer: bool) -> Reply {
        self.rest.signal(instance, step, variables, buffer)
    }

    fn cancel(&self, instance: &str) -> Reply {
        self.rest.cancel(instance)
    }

    fn retry(&self, instance: &str) -> Reply {
        self.rest.retry(instance)
    }
}
