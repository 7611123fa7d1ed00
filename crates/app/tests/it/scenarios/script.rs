//! The notation of scenarios: a workflow or several, then what is done and what is seen, line by line.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::Server;
use super::{Reply, Surface};

/// How long something that happens by itself may take.
const PATIENCE: Duration = Duration::from_secs(20);
const WORKER: &str = "worker-1";

pub(crate) struct Script {
    name: String,
    workflows: Vec<Value>,
    lines: Vec<String>,
}

impl Script {
    pub(crate) fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let without_comments: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let text = without_comments.join("\n");
        let mut parts = text.split("\n---\n").collect::<Vec<_>>();
        let lines = parts.pop().unwrap().lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let workflow = |part: &&str| serde_json::from_str(part).unwrap_or_else(|error| panic!("{name}: {error}"));
        let workflows = parts.iter().map(workflow).collect();
        Self { name, workflows, lines }
    }

    pub(crate) fn run(&self, surface: &dyn Surface, server: &Server) {
        for workflow in &self.workflows {
            let (status, reply) = surface.upload(workflow);
            assert_eq!(status, 201, "{}: {reply}", self.name);
        }
        let mut run = Run { surface, server, instance: Value::Null, job: Value::Null };
        for line in &self.lines {
            if let Err(why) = run.line(line) {
                panic!("{}: {line}: {why}", self.name);
            }
        }
    }
}

#[cfg(feature = "kafka")]
impl Script {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Of all that workers do in it.
    pub(crate) fn job_types(&self) -> std::collections::BTreeSet<String> {
        let uploaded = self.lines.iter().filter_map(|line| serde_json::from_str(line.strip_prefix("upload ")?).ok());
        let workflows: Vec<Value> = self.workflows.iter().cloned().chain(uploaded).collect();
        let steps = workflows.iter().filter_map(|workflow| workflow["steps"].as_array()).flatten();
        steps.filter_map(|step| step["jobType"].as_str().map(str::to_owned)).collect()
    }
}

struct Run<'a> {
    surface: &'a dyn Surface,
    server: &'a Server,
    instance: Value,
    /// The one leased last.
    job: Value,
}

impl Run<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (line, expected) = match line.rsplit_once(" -> ") {
            Some((line, status)) => (line, Some(status.parse::<u16>().map_err(|error| error.to_string())?)),
            None => (line, None),
        };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "start" => self.start(rest, expected),
            "job" => self.lease(rest, WORKER),
            "job-of" => {
                let (worker, job_type) = rest.split_once(' ').ok_or("job-of WORKER TYPE")?;
                self.lease(job_type, worker)
            }
            "no-job" => {
                let (_, reply) = self.surface.poll(WORKER, &[rest]);
                equal(&reply["jobs"], &json!([]))
            }
            "complete" | "complete-of" => self.complete(word, rest, expected),
            "fail" => self.fail(rest, expected),
            "user" | "signal" => self.tell(word, rest, expected),
            "cancel" => status(self.surface.cancel(&self.id()), expected.unwrap_or(200)),
            "retry" => status(self.surface.retry(&self.id()), expected.unwrap_or(200)),
            "advance" => {
                self.server.advance(rest);
                Ok(())
            }
            "restart" => {
                self.server.restart();
                Ok(())
            }
            "status" => self.status(rest),
            "variables" => equal(&self.shown()["variables"], &parsed(rest)?),
            "failure" => {
                let failure = self.shown()["failureReason"].as_str().unwrap_or_default().to_owned();
                if failure.contains(rest) { Ok(()) } else { Err(format!("it is '{failure}'")) }
            }
            "business-key" => equal(&self.shown()["businessKey"], &json!(rest)),
            "history" => self.history(rest),
            "listed" => self.listed(rest),
            "next" => self.next(rest),
            "upload" => status(self.surface.upload(&parsed(rest)?), expected.unwrap_or(201)),
            _ => Err("there is no such line".to_owned()),
        }
    }

    fn id(&self) -> String {
        self.instance["id"].as_str().unwrap_or("0").to_owned()
    }

    fn shown(&self) -> Value {
        self.surface.instance(&self.id()).1
    }

    fn start(&mut self, rest: &str, expected: Option<u16>) -> Result<(), String> {
        let mut body = parsed(rest.split_once(' ').map_or("{}", |(_, variables)| variables))?;
        let key = body.as_object_mut().and_then(|variables| variables.remove("$businessKey"));
        let version = body.as_object_mut().and_then(|variables| variables.remove("$version"));
        let id = rest.split(' ').next().unwrap_or_default();
        let mut start = json!({"definitionId": id, "variables": body});
        start["businessKey"] = key.unwrap_or_default();
        start["definitionVersion"] = version.unwrap_or_default();
        let (told, instance) = self.surface.start(&start);
        if told != expected.unwrap_or(201) {
            return Err(format!("{told}: {instance}"));
        }
        if told == 201 {
            self.instance = instance;
        }
        Ok(())
    }

    /// Waits for a job: one that has become ready by itself may take a moment.
    fn lease(&mut self, job_type: &str, worker: &str) -> Result<(), String> {
        let job_types: Vec<&str> = job_type.split(',').collect();
        let until = Instant::now() + PATIENCE;
        loop {
            let (_, reply) = self.surface.poll(worker, &job_types);
            if let Some(job) = reply["jobs"].get(0) {
                self.job = job.clone();
                return Ok(());
            }
            if until < Instant::now() {
                return Err("there is no such job".to_owned());
            }
            std::thread::yield_now();
        }
    }

    fn complete(&mut self, word: &str, rest: &str, expected: Option<u16>) -> Result<(), String> {
        let (worker, rest) = match word {
            "complete-of" => rest.split_once(' ').unwrap_or((rest, "")),
            _ => (WORKER, rest),
        };
        let variables = if rest.is_empty() { json!({}) } else { parsed(rest)? };
        let job = self.job["id"].as_str().unwrap_or_default();
        status(self.surface.complete(job, worker, &variables), expected.unwrap_or(204))
    }

    fn fail(&mut self, rest: &str, expected: Option<u16>) -> Result<(), String> {
        let (how, message) = rest.split_once(' ').ok_or("fail retryable|final MESSAGE")?;
        let job = self.job["id"].as_str().unwrap_or_default();
        status(self.surface.fail(job, WORKER, how == "retryable", message), expected.unwrap_or(204))
    }

    fn tell(&mut self, word: &str, rest: &str, expected: Option<u16>) -> Result<(), String> {
        let (step, rest) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let (buffer, rest) = rest.strip_prefix("early ").map_or((false, rest), |rest| (true, rest));
        let variables = parsed(rest)?;
        let told = match word {
            "user" => self.surface.user_task(&self.id(), step, &variables, buffer),
            _ => self.surface.signal(&self.id(), step, &variables, buffer),
        };
        status(told, expected.unwrap_or(204))
    }

    /// `status WAITING at a, b`: what comes by itself may take a moment.
    fn status(&self, rest: &str) -> Result<(), String> {
        let (wanted, steps) = rest.split_once(" at ").unwrap_or((rest, ""));
        let mut steps: Vec<&str> = steps.split(',').map(str::trim).filter(|step| !step.is_empty()).collect();
        steps.sort_unstable();
        let until = Instant::now() + PATIENCE;
        loop {
            let shown = self.shown();
            let mut current: Vec<&str> =
                shown["currentStepIds"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            current.sort_unstable();
            if shown["status"] == wanted && current == steps {
                return Ok(());
            }
            if until < Instant::now() {
                return Err(format!("it is {shown}"));
            }
            std::thread::yield_now();
        }
    }

    fn history(&self, rest: &str) -> Result<(), String> {
        let (_, reply) = self.surface.history(&self.id());
        let items = reply["items"].as_array().cloned().unwrap_or_default();
        let shown: Vec<String> = items
            .iter()
            .map(|item| {
                let text = |name: &str| item[name].as_str().unwrap_or_default();
                format!("{} {} {}", text("stepId"), item["attemptNumber"], text("status"))
            })
            .collect();
        let shown = shown.join(", ");
        if shown == rest { Ok(()) } else { Err(format!("it is: {shown}")) }
    }

    /// `listed status=WAITING 1`: how many instances match.
    fn listed(&self, rest: &str) -> Result<(), String> {
        let (filters, total) = rest.rsplit_once(' ').ok_or("listed FILTERS TOTAL")?;
        let filters: Vec<(&str, &str)> = filters.split('&').filter_map(|filter| filter.split_once('=')).collect();
        equal(&self.surface.list(&filters).1["total"], &parsed(total)?)
    }

    /// Goes on with the instance of this workflow that the current one was followed by.
    fn next(&mut self, definition: &str) -> Result<(), String> {
        let (_, reply) = self.surface.list(&[("definitionId", definition)]);
        let next = reply["items"].get(0).cloned().ok_or_else(|| format!("there is none: {reply}"))?;
        equal(&next["previousInstanceId"], &self.instance["id"])?;
        self.instance = next;
        Ok(())
    }
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("'{text}': {error}"))
}

fn equal(seen: &Value, wanted: &Value) -> Result<(), String> {
    if seen == wanted { Ok(()) } else { Err(format!("it is {seen}, not {wanted}")) }
}

fn status((seen, reply): Reply, wanted: u16) -> Result<(), String> {
    if seen == wanted { Ok(()) } else { Err(format!("it is {seen}, not {wanted}: {reply}")) }
}
