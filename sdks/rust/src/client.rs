use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Method, RequestBuilder, multipart};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::backoff::retry;
use crate::http::{Http, Options, read, send};
use crate::registry::nothing;
use crate::{Error, Raw, telemetry};

const EXECUTIONS_PER_REQUEST_MAX: usize = 1_000;
const LOOK_FIRST: Duration = Duration::from_millis(10);
const LOOK_LONGEST: Duration = Duration::from_millis(500);

/// Where an instance or an execution is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// Something happens, or waits for a worker.
    Active,
    /// An instance waits for people or signals, an execution for a worker.
    Waiting,
    /// A worker has the execution.
    Running,
    /// It is done.
    Completed,
    /// It cannot go on by itself.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

impl Status {
    /// Whether nothing happens any more unless somebody asks for it.
    pub fn is_over(self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Cancelled)
    }
}

/// Some of what was found, and how many there are in all.
#[derive(Debug, Clone, Deserialize)]
pub struct Page<T> {
    /// Those of this page.
    pub items: Vec<T>,
    /// How many match.
    pub total: u64,
}

/// A version of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Deployed {
    /// Its id.
    pub id: String,
    /// Its version, from 1.
    pub version: i32,
}

/// Something to be deployed.
#[derive(Debug, Clone)]
pub enum Resource {
    /// A JSON workflow.
    Workflow(Raw),
    /// A file: a JSON workflow, BPMN, DMN or a form.
    File(PathBuf),
}

impl Resource {
    /// A JSON workflow, from anything that is written as one.
    pub fn workflow(document: &impl Serialize) -> Result<Resource, Error> {
        Ok(Resource::Workflow(serde_json::value::to_raw_value(document)?))
    }

    /// A file.
    pub fn file(path: impl AsRef<Path>) -> Resource {
        Resource::File(path.as_ref().to_owned())
    }
}

/// What to start.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The workflow or process.
    pub definition_id: String,
    /// The latest if left out.
    pub version: Option<i32>,
    /// An object.
    pub variables: Option<Raw>,
    /// The caller's own name for it.
    pub business_key: Option<String>,
    /// One that was used before makes this the same start again. Without one it has a key of its own.
    pub idempotency_key: Option<String>,
}

impl Start {
    /// The latest version of a definition.
    pub fn of(definition_id: impl Into<String>) -> Start {
        Start { definition_id: definition_id.into(), ..Start::default() }
    }

    /// With these variables.
    pub fn variables(self, variables: &impl Serialize) -> Result<Start, Error> {
        Ok(Start { variables: Some(serde_json::value::to_raw_value(variables)?), ..self })
    }

    /// With this business key.
    #[must_use]
    pub fn business_key(self, key: impl Into<String>) -> Start {
        Start { business_key: Some(key.into()), ..self }
    }

    /// With this idempotency key.
    #[must_use]
    pub fn idempotency_key(self, key: impl Into<String>) -> Start {
        Start { idempotency_key: Some(key.into()), ..self }
    }
}

/// An instance that was started.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Started {
    /// Its id.
    #[serde(rename = "processInstanceKey")]
    pub id: String,
    /// Its definition.
    #[serde(rename = "processDefinitionId")]
    pub definition_id: String,
    /// The version of that.
    #[serde(rename = "processDefinitionVersion")]
    pub definition_version: i32,
}

/// One run of a workflow or process.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// Its id.
    pub id: String,
    /// Its definition.
    pub definition_id: String,
    /// The version of that.
    pub definition_version: i32,
    /// Where it is in its life.
    pub status: Status,
    /// The steps it is at.
    pub current_step_ids: Vec<String>,
    /// An object.
    pub variables: Raw,
    /// After ISO 8601.
    pub started_at: String,
    /// After ISO 8601.
    pub completed_at: Option<String>,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// The caller's own name for it.
    pub business_key: Option<String>,
    /// The one that went before it, of a chain.
    pub previous_instance_id: Option<String>,
}

impl Instance {
    /// The variables as a type.
    pub fn variables<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(serde_json::from_str(self.variables.get())?)
    }
}

/// One attempt at a step.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepExecution {
    /// Its id.
    pub id: String,
    /// The step.
    pub step_id: String,
    /// The step's type.
    pub step_type: String,
    /// From 1.
    pub attempt_number: i32,
    /// `RUNNING`, `COMPLETED`, `FAILED` or `SKIPPED`.
    pub status: String,
    /// Why it failed.
    pub failure_reason: Option<String>,
}

/// Which instances are looked for. What is left out does not matter.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Of this definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition_id: Option<String>,
    /// With this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// With this business key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub business_key: Option<String>,
    /// From 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// 20 if left out, 200 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
}

/// A message to whoever waits for it now or while it lives.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// Its name in the model.
    pub name: String,
    /// Whom it is for.
    pub correlation_key: String,
    /// An object.
    pub variables: Option<Raw>,
    /// An hour if left out.
    pub time_to_live: Option<Duration>,
    /// Keeps it from being published twice while the first lives.
    pub id: Option<String>,
    /// One that was used before makes this the same publication again. Without one it has a key of its own.
    pub idempotency_key: Option<String>,
}

impl Message {
    /// A message of this name, for those that wait with this correlation key.
    pub fn of(name: impl Into<String>, correlation_key: impl Into<String>) -> Message {
        Message { name: name.into(), correlation_key: correlation_key.into(), ..Message::default() }
    }

    /// With these variables.
    pub fn variables(self, variables: &impl Serialize) -> Result<Message, Error> {
        Ok(Message { variables: Some(serde_json::value::to_raw_value(variables)?), ..self })
    }
}

/// An execution to be submitted.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submit {
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Raw>,
    /// 0 to 100, the higher first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// How often it may be tried; 3 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<i32>,
    /// Not before this time, after ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_at: Option<String>,
    /// No other execution of the action waits or runs with the same key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_key: Option<String>,
}

impl Submit {
    /// With this input.
    pub fn input(input: &impl Serialize) -> Result<Submit, Error> {
        Ok(Submit { input: Some(serde_json::value::to_raw_value(input)?), ..Submit::default() })
    }
}

/// A job that belongs to no process.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// Its id.
    pub id: String,
    /// Its job type.
    pub action: String,
    /// Where it is in its life.
    pub state: Status,
    /// An object.
    pub input: Raw,
    /// What its worker completed it with.
    pub result: Option<Raw>,
    /// What its worker said when it failed.
    pub error: Option<String>,
    /// How often it was tried.
    pub attempts: i32,
    /// How often it may still be tried.
    pub retries: i32,
}

/// Deploys, starts, tells, asks: everything but working on jobs. Clones share connections.
///
/// Requests are repeated while the server is away or busy. What changes something has an idempotency key, so repeating is safe. The usual one is that of the
/// server at `http://127.0.0.1:8080`.
#[derive(Debug, Clone, Default)]
pub struct Client {
    http: Http,
}

impl Client {
    /// Of the server at an address; an empty one is `http://127.0.0.1:8080`.
    pub fn new(address: &str) -> Result<Client, Error> {
        Client::with(address, Options::default())
    }

    /// With a token, another patience, or an HTTP client of your own.
    pub fn with(address: &str, options: Options) -> Result<Client, Error> {
        Ok(Client { http: Http::new(address, options)? })
    }

    /// Deploys JSON workflows, BPMN, DMN and form files.
    pub async fn deploy(&self, resources: impl IntoIterator<Item = Resource>) -> Result<Vec<Deployed>, Error> {
        let (mut deployed, mut files) = (Vec::new(), Vec::new());
        for resource in resources {
            match resource {
                Resource::Workflow(document) => deployed.push(self.command("/v1/definitions", &document, None).await?),
                Resource::File(path) if path.extension().is_some_and(|end| end == "json") => {
                    let document: Raw = serde_json::from_slice(&tokio::fs::read(&path).await?)?;
                    deployed.push(self.command("/v1/definitions", &document, None).await?);
                }
                Resource::File(path) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    files.push((name, tokio::fs::read(&path).await?));
                }
            }
        }
        if !files.is_empty() {
            deployed.extend(self.deploy_files(&files).await?);
        }
        Ok(deployed)
    }

    /// The latest versions of JSON workflows; all of them by an empty word.
    pub async fn definitions(&self, keyword: &str, page: u32, page_size: u32) -> Result<Page<Deployed>, Error> {
        let mut query = json!({ "page": page, "pageSize": page_size });
        if !keyword.is_empty() {
            query["keyword"] = keyword.into();
        }
        self.get("/v1/definitions", &query).await
    }

    /// A JSON workflow as it was uploaded; the latest version if none is given.
    pub async fn definition(&self, id: &str, version: Option<i32>) -> Result<Raw, Error> {
        let version = version.map(|version| format!("/versions/{version}")).unwrap_or_default();
        self.get(&format!("/v1/definitions/{}{version}", part(id)), &()).await
    }

    /// Starts an instance.
    pub async fn start(&self, start: Start) -> Result<Started, Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            process_definition_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            process_definition_version: Option<i32>,
            variables: Raw,
            #[serde(skip_serializing_if = "Option::is_none")]
            business_id: Option<&'a str>,
        }
        let body = Body {
            process_definition_id: &start.definition_id,
            process_definition_version: start.version,
            variables: start.variables.unwrap_or_else(nothing),
            business_id: start.business_key.as_deref(),
        };
        self.command("/v2/process-instances", &body, start.idempotency_key.as_deref()).await
    }

    /// The instance when it is over: completed, failed or cancelled.
    pub async fn wait(&self, instance_id: &str, within: Duration) -> Result<Instance, Error> {
        until(within, || self.instance(instance_id), |instance| instance.status.is_over()).await
    }

    /// Starts an instance and waits until it is over.
    pub async fn start_and_wait(&self, start: Start, within: Duration) -> Result<Instance, Error> {
        let started = self.start(start).await?;
        self.wait(&started.id, within).await
    }

    /// An instance as it is now.
    pub async fn instance(&self, id: &str) -> Result<Instance, Error> {
        self.get(&format!("/v1/instances/{}", part(id)), &()).await
    }

    /// Instances that match, the newest first.
    pub async fn instances(&self, filter: &Filter) -> Result<Page<Instance>, Error> {
        self.get("/v1/instances", filter).await
    }

    /// Every attempt at every step, in the order in which they began.
    pub async fn history(&self, instance_id: &str) -> Result<Vec<StepExecution>, Error> {
        let page: Page<StepExecution> = self.get(&format!("/v1/instances/{}/history", part(instance_id)), &()).await?;
        Ok(page.items)
    }

    /// Cancels an instance.
    pub async fn cancel(&self, instance_id: &str) -> Result<Instance, Error> {
        self.command(&format!("/v1/instances/{}/cancel", part(instance_id)), &nothing(), None).await
    }

    /// Lets a failed instance try its failed steps again.
    pub async fn retry(&self, instance_id: &str) -> Result<Instance, Error> {
        self.command(&format!("/v1/instances/{}/retry", part(instance_id)), &nothing(), None).await
    }

    /// A person has done a task. With `buffer` it is kept if the step is not reached yet.
    pub async fn complete_user_task(
        &self,
        instance_id: &str,
        step_id: &str,
        completed_by: &str,
        result: &impl Serialize,
        buffer: bool,
    ) -> Result<(), Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a, T> {
            completed_by: &'a str,
            result: &'a T,
        }
        let path = format!("/v1/instances/{}/user-tasks/{}/complete{}", part(instance_id), part(step_id), buffered(buffer));
        self.tell(&path, &Body { completed_by, result }, None).await
    }

    /// Lets a WAIT step go on. With `buffer` it is kept if the step is not reached yet.
    pub async fn signal(&self, instance_id: &str, step_id: &str, variables: &impl Serialize, buffer: bool) -> Result<(), Error> {
        let path = format!("/v1/instances/{}/signals/{}{}", part(instance_id), part(step_id), buffered(buffer));
        self.tell(&path, variables, None).await
    }

    /// Publishes a message.
    pub async fn publish(&self, message: &Message) -> Result<(), Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            name: &'a str,
            correlation_key: &'a str,
            variables: Raw,
            time_to_live: u128,
            #[serde(skip_serializing_if = "Option::is_none")]
            message_id: Option<&'a str>,
        }
        let body = Body {
            name: &message.name,
            correlation_key: &message.correlation_key,
            variables: message.variables.clone().unwrap_or_else(nothing),
            time_to_live: message.time_to_live.unwrap_or(Duration::from_secs(3_600)).as_millis(),
            message_id: message.id.as_deref(),
        };
        self.tell("/v2/messages/publication", &body, message.idempotency_key.as_deref()).await
    }

    /// Broadcasts a BPMN signal to all that wait for it.
    pub async fn broadcast_signal(&self, signal_name: &str, variables: &impl Serialize) -> Result<(), Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a, T> {
            signal_name: &'a str,
            variables: &'a T,
        }
        self.tell("/v2/signals/broadcast", &Body { signal_name, variables }, None).await
    }

    /// Submits executions; their ids in the same order. Each thousand is taken as a whole or not at all.
    pub async fn submit(&self, action: &str, executions: &[Submit], idempotency_key: Option<&str>) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct One {
            id: String,
        }
        #[derive(Deserialize)]
        struct Submitted {
            executions: Vec<One>,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            executions: &'a [Submit],
        }
        let path = format!("/v1/actions/{}/executions/bulk", part(action));
        let mut ids = Vec::with_capacity(executions.len());
        for (number, executions) in executions.chunks(EXECUTIONS_PER_REQUEST_MAX).enumerate() {
            let key = idempotency_key.map(|key| format!("{key}-{number}"));
            let answer: Submitted = self.command(&path, &Body { executions }, key.as_deref()).await?;
            ids.extend(answer.executions.into_iter().map(|one| one.id));
        }
        Ok(ids)
    }

    /// An execution as it is now.
    pub async fn execution(&self, id: &str) -> Result<Execution, Error> {
        self.get(&format!("/v1/executions/{}", part(id)), &()).await
    }

    /// The execution when it is over.
    pub async fn wait_execution(&self, id: &str, within: Duration) -> Result<Execution, Error> {
        until(within, || self.execution(id), |execution| execution.state.is_over()).await
    }

    /// Cancels an execution that waits, runs or has failed.
    pub async fn cancel_execution(&self, id: &str) -> Result<(), Error> {
        self.tell(&format!("/v1/executions/{}/cancel", part(id)), &nothing(), None).await
    }

    async fn deploy_files(&self, files: &[(String, Vec<u8>)]) -> Result<Vec<Deployed>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Process {
            process_definition_id: String,
            process_definition_version: i32,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct One {
            process_definition: Option<Process>,
        }
        #[derive(Deserialize)]
        struct Answer {
            deployments: Vec<One>,
        }
        let form = || {
            files.iter().fold(multipart::Form::new(), |form, (name, content)| {
                form.part("resources", multipart::Part::bytes(content.clone()).file_name(name.clone()))
            })
        };
        let request = || self.http.request(Method::POST, "/v2/deployments").multipart(form());
        let answer: Answer = self.repeat(request, None, read).await?;
        let found = answer.deployments.into_iter().filter_map(|one| one.process_definition);
        Ok(found.map(|one| Deployed { id: one.process_definition_id, version: one.process_definition_version }).collect())
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &impl Serialize) -> Result<T, Error> {
        retry(self.http.patience, || read(self.http.request(Method::GET, path).query(query))).await
    }

    async fn command<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize, key: Option<&str>) -> Result<T, Error> {
        self.repeat(|| self.http.post(path, body), key, read).await
    }

    /// A command that has nothing to tell.
    async fn tell(&self, path: &str, body: &impl Serialize, key: Option<&str>) -> Result<(), Error> {
        self.repeat(|| self.http.post(path, body), key, send).await.map(drop)
    }

    /// Every try has the same key: the server may have done the first although nobody heard its answer.
    async fn repeat<T, Answer: Future<Output = Result<T, Error>>>(
        &self,
        request: impl Fn() -> RequestBuilder,
        key: Option<&str>,
        ask: impl Fn(RequestBuilder) -> Answer,
    ) -> Result<T, Error> {
        let key = key.map_or_else(|| format!("{:032x}", fastrand::u128(..)), str::to_owned);
        let trace = telemetry::current();
        retry(self.http.patience, || {
            let request = request().header("Idempotency-Key", &key);
            ask(trace.iter().fold(request, |request, (name, value)| request.header(*name, value)))
        })
        .await
    }
}

/// Text as one part of a path.
fn part(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn buffered(buffer: bool) -> &'static str {
    if buffer { "?buffer=true" } else { "" }
}

async fn until<T, Look>(within: Duration, look: impl Fn() -> Look, is_over: impl Fn(&T) -> bool) -> Result<T, Error>
where
    Look: Future<Output = Result<T, Error>>,
{
    let (deadline, mut pause) = (Instant::now() + within, LOOK_FIRST);
    loop {
        let seen = look().await?;
        if is_over(&seen) {
            return Ok(seen);
        }
        if deadline < Instant::now() + pause {
            return Err(Error::TimedOut(within));
        }
        sleep(pause).await;
        pause = LOOK_LONGEST.min(pause.mul_f64(1.5));
    }
}
