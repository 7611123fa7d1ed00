//! Commands that talk to a running server, over its REST API like any other client.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{Deploy, Instances, Jobs, Remote, Task, Tasks};
use crate::table::{print, table};
use crate::{trust, variables};

/// How long a call may take besides what the server is asked to wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024 * 1024;

pub(crate) fn deploy(deploy: &Deploy) -> Result<(), String> {
    let mut form = ureq::unversioned::multipart::Form::new();
    for path in &deploy.files {
        let content = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let part = ureq::unversioned::multipart::Part::owned_reader(std::io::Cursor::new(content)).file_name(&name);
        let part = part.mime_str("application/octet-stream").map_err(|error| error.to_string())?;
        form = form.part("resources", part);
    }
    let sent = agent(&deploy.remote, PATIENCE)?.post(url(&deploy.remote, "/v2/deployments")).send(form);
    let answer = read(&deploy.remote, sent)?;
    if deploy.remote.json {
        return show(&answer);
    }
    print(&table(&["KIND", "ID", "VERSION", "KEY", "FILE"], &deployed(&answer)));
    Ok(())
}

/// Processes, decisions and forms; what a decision came in is said by its requirements.
fn deployed(answer: &Value) -> Vec<Vec<String>> {
    let all = answer["deployments"].as_array().map_or(&[][..], Vec::as_slice);
    let file_of = |decision: &Value| {
        let mut files = all.iter().map(|one| &one["decisionRequirements"]);
        files
            .find(|file| file["decisionRequirementsKey"] == decision["decisionRequirementsKey"])
            .map(|file| text(&file["resourceName"]))
    };
    let mut rows = Vec::new();
    for one in all {
        let (process, decision, form) = (&one["processDefinition"], &one["decisionDefinition"], &one["form"]);
        if process.is_object() {
            let [id, version, key] = ["processDefinitionId", "processDefinitionVersion", "processDefinitionKey"];
            rows.push(vec![
                "process".into(),
                text(&process[id]),
                text(&process[version]),
                text(&process[key]),
                text(&process["resourceName"]),
            ]);
        }
        if decision.is_object() {
            let [id, version, key] = ["decisionDefinitionId", "version", "decisionDefinitionKey"];
            let file = file_of(decision).unwrap_or_default();
            rows.push(vec!["decision".into(), text(&decision[id]), text(&decision[version]), text(&decision[key]), file]);
        }
        if form.is_object() {
            let values = ["formId", "version", "formKey", "resourceName"].map(|name| text(&form[name]));
            rows.push(std::iter::once("form".to_owned()).chain(values).collect());
        }
    }
    rows
}

pub(crate) fn status(remote: &Remote) -> Result<(), String> {
    let answer = get(remote, "/v2/topology")?;
    if remote.json {
        return show(&answer);
    }
    let mut rows = Vec::new();
    for broker in answer["brokers"].as_array().into_iter().flatten() {
        for partition in broker["partitions"].as_array().into_iter().flatten() {
            let address = format!("{}:{}", text(&broker["host"]), text(&broker["port"]));
            rows.push(vec![text(&partition["partitionId"]), text(&partition["role"]), text(&partition["health"]), address]);
        }
    }
    print(&table(&["PARTITION", "ROLE", "HEALTH", "SERVER"], &rows));
    Ok(())
}

pub(crate) fn instances(instances: &Instances) -> Result<(), String> {
    let mut filter = json!({});
    if let Some(process) = &instances.process {
        filter["processDefinitionId"] = json!(process);
    }
    if let Some(state) = &instances.state {
        filter["state"] = json!(state.to_uppercase());
    }
    let body = json!({
        "filter": filter,
        "sort": [{ "field": "processInstanceKey", "order": "DESC" }],
        "page": { "limit": instances.limit },
    });
    let columns = [
        ("KEY", "processInstanceKey"),
        ("PROCESS", "processDefinitionId"),
        ("VERSION", "processDefinitionVersion"),
        ("STATE", "state"),
        ("INCIDENT", "hasIncident"),
        ("STARTED", "startDate"),
        ("ENDED", "endDate"),
    ];
    list(&instances.remote, "/v2/process-instances/search", &body, &columns)
}

pub(crate) fn jobs(jobs: &Jobs) -> Result<(), String> {
    let mut filter = json!({});
    if let Some(job_type) = &jobs.job_type {
        filter["type"] = json!(job_type);
    }
    if let Some(state) = &jobs.state {
        filter["state"] = json!(state.to_uppercase());
    }
    let body = json!({
        "filter": filter,
        "sort": [{ "field": "jobKey", "order": "DESC" }],
        "page": { "limit": jobs.limit },
    });
    let columns = [
        ("KEY", "jobKey"),
        ("TYPE", "type"),
        ("STATE", "state"),
        ("RETRIES", "retries"),
        ("WORKER", "worker"),
        ("ELEMENT", "elementId"),
        ("INSTANCE", "processInstanceKey"),
    ];
    list(&jobs.remote, "/v2/jobs/search", &body, &columns)
}

pub(crate) fn tasks(tasks: &Tasks) -> Result<(), String> {
    let mut filter = json!({ "state": tasks.state.to_uppercase() });
    if let Some(assignee) = &tasks.assignee {
        filter["assignee"] = json!(assignee);
    }
    if let Some(group) = &tasks.group {
        filter["candidateGroup"] = json!(group);
    }
    let body = json!({ "filter": filter, "page": { "limit": tasks.limit } });
    let columns = [
        ("KEY", "userTaskKey"),
        ("NAME", "name"),
        ("ASSIGNEE", "assignee"),
        ("GROUPS", "candidateGroups"),
        ("PRIORITY", "priority"),
        ("DUE", "dueDate"),
        ("INSTANCE", "processInstanceKey"),
    ];
    list(&tasks.remote, "/v2/user-tasks/search", &body, &columns)
}

pub(crate) fn task(task: &Task) -> Result<(), String> {
    let (remote, path, body) = match task {
        Task::Claim(claim) => {
            let body = json!({ "assignee": claim.assignee, "allowOverride": false });
            (&claim.remote, format!("/v2/user-tasks/{}/assignment", claim.key), body)
        }
        Task::Complete(complete) => {
            let body = json!({ "variables": variables::given("--variables", &complete.variables)? });
            (&complete.remote, format!("/v2/user-tasks/{}/completion", complete.key), body)
        }
    };
    let answer = post(remote, &path, &body, PATIENCE)?;
    show_done(remote, &answer)
}

pub(crate) fn list(remote: &Remote, path: &str, body: &Value, columns: &[(&str, &str)]) -> Result<(), String> {
    let answer = post(remote, path, body, PATIENCE)?;
    show_items(remote, &answer, columns)
}

pub(crate) fn show_items(remote: &Remote, answer: &Value, columns: &[(&str, &str)]) -> Result<(), String> {
    if remote.json {
        return show(answer);
    }
    let items = answer["items"].as_array().cloned().unwrap_or_default();
    let rows: Vec<Vec<String>> =
        items.iter().map(|item| columns.iter().map(|(_, field)| text(&item[*field])).collect()).collect();
    let headers: Vec<&str> = columns.iter().map(|(header, _)| *header).collect();
    print(&table(&headers, &rows));
    Ok(())
}

pub(crate) fn agent(remote: &Remote, timeout: Duration) -> Result<ureq::Agent, Failed> {
    let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).http_status_as_error(false);
    let tls = trust::tls(remote).map_err(|reason| Failed::Unable { reason })?;
    Ok(match tls {
        None => config.build().into(),
        Some(tls) => config.tls_config(tls).build().into(),
    })
}

pub(crate) fn url(remote: &Remote, path: &str) -> String {
    format!("{}{path}", remote.url.trim_end_matches('/'))
}

pub(crate) fn post(remote: &Remote, path: &str, body: &Value, timeout: Duration) -> Result<Value, Failed> {
    let sent = agent(remote, timeout)?.post(url(remote, path)).send_json(body);
    read(remote, sent)
}

pub(crate) fn get(remote: &Remote, path: &str) -> Result<Value, Failed> {
    let sent = agent(remote, PATIENCE)?.get(url(remote, path)).call();
    read(remote, sent)
}

/// Why a call did not do what it was for.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It was not even tried: something given here cannot be used.
    Unable { reason: String },
    /// Nobody answered, or not to the end: whether it was done is not known.
    Unreachable { reason: String },
    /// The server's own words.
    Refused { status: u16, reason: String },
}

impl Failed {
    /// Whether the same call may do better in a while.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unable { .. } => false,
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 429 | 503 | 504),
        }
    }
}

impl From<Failed> for String {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Unable { reason } | Failed::Unreachable { reason } | Failed::Refused { reason, .. } => reason,
        }
    }
}

type Sent = Result<ureq::http::Response<ureq::Body>, ureq::Error>;

/// The answer as JSON.
pub(crate) fn read(remote: &Remote, sent: Sent) -> Result<Value, Failed> {
    let unreachable = |reason: String| Failed::Unreachable { reason };
    let mut response = sent.map_err(|error| {
        let error = error.to_string();
        unreachable(format!("cannot reach {}: {error}. {}", remote.url, advice(&error)))
    })?;
    let status = response.status();
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
    let body = body.map_err(|error| unreachable(format!("the answer broke off: {error}")))?;
    let answer: Value = if body.is_empty() { Value::Null } else { serde_json::from_str(&body).unwrap_or(Value::String(body)) };
    if status.is_success() {
        return Ok(answer);
    }
    let reason = match answer["detail"].as_str().or_else(|| answer["message"].as_str()) {
        Some(detail) => format!("{} {}: {detail}", status.as_u16(), text(&answer["title"])),
        // Not as Caudal says it: another program, a proxy, or the port of metrics.
        None => format!("{} answers {status}: {answer}. Is this the REST address of a server?", remote.url),
    };
    Err(Failed::Refused { status: status.as_u16(), reason })
}

/// What may help against an error of a connection.
fn advice(error: &str) -> &'static str {
    let known = [
        ("UnknownIssuer", "Name the authority of the server's certificate with --ca FILE"),
        ("CertificateRequired", "The server wants to see a certificate: --client-cert FILE --client-key FILE"),
        ("invalid HTTP version", "If the server speaks TLS, ask by https://; if this is its port of gRPC, ask that of REST"),
        ("invalid format", "An address is written as http://127.0.0.1:8080"),
        ("InvalidContentType", "If the server speaks no TLS, ask by http://"),
    ];
    known.iter().find(|(sign, _)| error.contains(sign)).map_or("Is the server running (`caudal serve`)?", |(_, advice)| advice)
}

/// Does the same for every key. One that is refused does not keep the others from being done, and makes the command fail at the end.
pub(crate) fn each(remote: &Remote, keys: &[u64], done: &str, act: impl Fn(u64) -> Result<Value, Failed>) -> Result<(), String> {
    let mut told = Vec::new();
    let mut failures = 0;
    for &key in keys {
        let refused = act(key).err().map(String::from);
        failures += usize::from(refused.is_some());
        match &refused {
            _ if remote.json => told.push(json!({ "key": key.to_string(), "done": refused.is_none(), "reason": refused })),
            None => print(&format!("{key} {done}\n")),
            Some(reason) => eprintln!("caudal: {key}: {reason}"),
        }
    }
    if remote.json {
        show(&Value::Array(told))?;
    }
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} of {} not {done}", keys.len())),
    }
}

/// Nothing to tell, but who asks for JSON gets some.
pub(crate) fn show_done(remote: &Remote, answer: &Value) -> Result<(), String> {
    if remote.json { show(answer) } else { Ok(()) }
}

pub(crate) fn show(answer: &Value) -> Result<(), String> {
    let text = serde_json::to_string_pretty(answer).map_err(|error| error.to_string())?;
    print(&format!("{text}\n"));
    Ok(())
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
