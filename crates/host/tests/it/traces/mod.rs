//! `spec/traces` once more, through a real host: what happens there happens here, on every store, with another server after every
//! command, so that nothing but rows is left to go on from. Each has a tenant of its own in a store that others have used before.
//!
//! Where commands of a trace stand for the host's own part (`hosts_part`), the host does it. Left out are moments of timers, and the
//! traces of `ENGINE_ALONE`.

mod hosts_part;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::given;
use crate::server::layer::{Fate, Layer};
use crate::server::{Server, clocked};
use engine::trace::Trace;
use engine::{
    DefinitionKey, Document, ElementInstance, ElementKey, Event, IncidentKind, Instance, InstanceKey, Modification, On, TimerKey,
    UserTaskKey, WaitKey, WaitKind,
};
use model::{ElementIx, Kind, Process};
use store::change::{Change, Migrate};
use store::log::{
    AdHocResult, Answer, AssignUserTask, Command, Create, Deploy, DeployResource, EvaluateConditions, FailJob, JobResult,
    ProcessRef, Publish, StartAdHoc, TaskResult, TellStep, ThrowError, UpdateJob,
};
use store::row::Instance as InstanceRow;
use store::{Commit, Store, format};
use tokio::task::JoinSet;

#[tokio::test]
async fn traces_on_memory() {
    play_all(vec![Arc::new(clocked())]).await;
}

/// What is left out comes out differently here, or cannot be played at all: nothing is left out for nothing.
#[tokio::test]
async fn the_engine_alone() {
    let (store, mut files): (Arc<dyn Store>, _) = (Arc::new(clocked()), Vec::new());
    collect(&folder(), &mut files);
    for (left_out, why) in ENGINE_ALONE {
        let file = files.iter().find(|file| name(file) == left_out).unwrap_or_else(|| panic!("there is no {left_out}"));
        let (store, file) = (store.clone(), file.clone());
        let played = tokio::spawn(async move { play_file(&store, &file).await }).await;
        assert!(!matches!(played, Ok(None)), "{left_out} is left out because {why}, but comes out as written");
    }
}

#[tokio::test]
async fn traces_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    play_all(vec![Arc::new(store_sqlite::open(folder.path(), store_sqlite::Options::default()).unwrap())]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn traces_on_postgres() {
    let Some(url) = given::postgres() else { return };
    let (admin, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let schemas: Vec<String> = (0..SIDE_BY_SIDE).map(|number| format!("traces_{}_{number}", std::process::id())).collect();
    // A machine that runs tests may be busy for longer than any server should be.
    let patience = Duration::from_secs(120);
    let options = store_postgres::Options { call_timeout: patience, search_timeout: patience, ..Default::default() };
    let mut stores: Vec<Arc<dyn Store>> = Vec::new();
    for schema in &schemas {
        admin.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")).await.unwrap();
        let parameters = if url.contains('?') { '&' } else { '?' };
        let place = format!("{url}{parameters}options=-csearch_path%3D{schema}");
        stores.push(Arc::new(store_postgres::Postgres::connect(&place, options.clone()).await.unwrap()));
    }
    play_all(stores).await;
    for schema in schemas {
        admin.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
    }
}

/// How many schemas of PostgreSQL are used at once: one waits for the disk while another works.
const SIDE_BY_SIDE: usize = 4;

/// Traces of what a host never does, each with the reason.
const ENGINE_ALONE: [(&str, &str); 3] = [
    ("decision_task/dropped", "a host decides at once: nothing else happens meanwhile"),
    ("decision_task/side_by_side", "a host decides in order, and what is bound to a deployment is deployed with it"),
    ("multi_instance/decision", "a host decides in the order in which it is asked"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/traces")
}

/// The name of a trace: its folder and what it shows.
fn name(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name).unwrap().to_string_lossy();
    format!("{folder}/{}", file.file_stem().unwrap().to_string_lossy())
}

/// On each store one trace after the other.
async fn play_all(stores: Vec<Arc<dyn Store>>) {
    let mut files = Vec::new();
    collect(&folder(), &mut files);
    files.retain(|file| !ENGINE_ALONE.iter().any(|(left_out, _)| *left_out == name(file)));
    let files = Arc::new(Mutex::new(files));
    let mut playing = JoinSet::new();
    for store in stores {
        let files = files.clone();
        playing.spawn(async move {
            let mut played = Vec::new();
            while let Some(file) = { files.lock().unwrap().pop() } {
                played.push(play_file(&store, &file).await);
            }
            played
        });
    }
    let played = playing.join_all().await.concat();
    let failures: Vec<String> = played.iter().flatten().cloned().collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), played.len(), failures.join("\n\n"));
    assert!(300 < played.len(), "only {} traces were played", played.len());
}

/// What went wrong, if anything.
async fn play_file(store: &Arc<dyn Store>, file: &Path) -> Option<String> {
    let source = fs::read_to_string(file).unwrap();
    let (head, commands) = source.split_at(source.find("\n> ").unwrap() + 1);
    let blocks = hosts_part::blocks(commands);
    let written: Vec<String> = blocks.iter().map(|block| format!("> {}\n{}", block.line, block.happens)).collect();
    let written = without_moments(&written.join("\n"));
    let happened = play(store, &file.display().to_string(), head, commands).await;
    let wrong = || format!("{}\n--- written ---\n{written}\n--- happened ---\n{happened}", file.display());
    (happened != written).then(wrong)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        match entry.is_dir() {
            true => collect(&entry, files),
            false => files.push(entry),
        }
    }
}

/// Timers are due so long after whatever time it is, and keys are whatever comes next.
fn without_moments(text: &str) -> String {
    let mut plain = String::new();
    for line in text.lines() {
        let line = &without_key(line);
        let parts = line.split(", ").map(|part| match part.find(" due ") {
            Some(at) if part.contains("waits for timer") => &part[..at],
            _ => hosts_part::without_number(part),
        });
        plain.push_str(&parts.collect::<Vec<_>>().join(", "));
        plain.push('\n');
    }
    plain
}

/// A refusal may name an element instance.
fn without_key(line: &str) -> String {
    const NAMED: &str = "element instance ";
    match line.find(NAMED).filter(|_| line.starts_with("rejected")) {
        Some(at) => {
            let (before, key) = line.split_at(at + NAMED.len());
            format!("{before}{}", key.trim_start_matches(|digit: char| digit.is_ascii_digit()))
        }
        None => line.to_owned(),
    }
}

/// What commits have written, as far as traces tell it.
#[derive(Default)]
struct Written {
    /// Of the tenant of the trace.
    definitions: Vec<DefinitionKey>,
    instances: Vec<InstanceKey>,
    /// The first of the process of the trace: others may call it, or be called.
    own: Option<InstanceKey>,
    /// Events of instances, in order.
    events: Vec<(InstanceKey, Event)>,
    signals_sent: usize,
    signals_told: usize,
    /// Timers of start events, in order.
    starts: Vec<(ElementIx, TimerKey)>,
}

impl Written {
    fn add(&mut self, tenant: &str, commit: &Commit) {
        let changes = &commit.changes;
        let definitions = changes.definitions_new.iter().filter(|definition| &*definition.tenant == tenant);
        self.definitions.extend(definitions.map(|definition| definition.key));
        let instances = changes.instances_new.iter().filter(|instance| self.definitions.contains(&instance.definition));
        self.instances.extend(instances.map(|instance| instance.key));
        let of_trace = |instance: &&InstanceRow| Some(&instance.definition) == self.definitions.first();
        self.own = self.own.or_else(|| changes.instances_new.iter().find(of_trace).map(|instance| instance.key));
        let kept = |key| {
            let new = changes.variables_new.iter().find(|variable| variable.key == key).map(|variable| variable.value.clone());
            let changed = || changes.variables_changed.iter().find(|change| change.key == key).map(|change| change.value.clone());
            new.or_else(changed)
        };
        for row in &commit.log {
            let Some(instance) = row.instance.filter(|instance| self.instances.contains(instance)) else { continue };
            let events = format::decode_events(&row.events, kept).unwrap();
            self.events.extend(events.into_iter().map(|event| (instance, event)));
        }
        self.signals_sent += changes.signals_put.iter().filter(|signal| signal.after == 0).count();
        self.signals_told += changes.signals_done.len();
        let starts = changes.timers_new.iter().filter(|timer| timer.origin.is_none());
        self.starts.extend(starts.map(|timer| (timer.element, timer.key)));
    }
}

async fn play(store: &Arc<dyn Store>, tenant: &str, head: &str, commands: &str) -> String {
    let (first, then) = head.split_once(BECOMES).map_or((head, None), |(first, then)| (first, Some(then)));
    let process = compile::text(first).unwrap();
    let becomes = then.map(|then| compile::text(then).unwrap());
    let written = Arc::new(Mutex::new(Written::default()));
    let (seen, owner) = (written.clone(), tenant.to_owned());
    let watched = Layer::of(store.clone()).on_commit(move |commit| {
        seen.lock().unwrap().add(&owner, commit);
        Fate::Through
    });
    let mut run = Run {
        tenant: tenant.into(),
        process: &process,
        becomes: becomes.as_ref().zip(then),
        store: watched.shared(),
        written,
        instance: Instance::new(InstanceKey(0), DefinitionKey(0)),
        told: 0,
        trace: Trace::default(),
    };
    let server = run.server().await;
    server.deploy(&[("process.notation", first)]).await;
    server.stop().await;
    let mut happened = String::new();
    for block in hosts_part::blocks(commands) {
        for (name, content) in block.world(head, commands) {
            let server = run.server().await;
            server.deploy(&[(&name, &content)]).await;
            server.stop().await;
        }
        happened.push_str(&format!("> {}\n", block.line));
        happened.push_str(&run.command(block.line).await);
        happened.push('\n');
    }
    happened.pop();
    run.end().await;
    without_moments(&happened)
}

/// Between the process that instances begin with and the one they migrate to.
const BECOMES: &str = "--- becomes ---\n";

struct Run<'a> {
    tenant: Arc<str>,
    process: &'a Process,
    /// With its text.
    becomes: Option<(&'a Process, &'a str)>,
    store: Arc<dyn Store>,
    written: Arc<Mutex<Written>>,
    /// What the events say.
    instance: Instance,
    /// How many events have been rendered.
    told: usize,
    trace: Trace,
}

impl<'a> Run<'a> {
    async fn server(&self) -> Server {
        Server::start(&self.store).await.for_tenant(&self.tenant)
    }

    /// Whatever still runs is cancelled, so that servers have less to begin with.
    async fn end(self) {
        let server = self.server().await;
        let instances = self.written.lock().unwrap().instances.clone();
        for instance in instances {
            server.ask(Command::Cancel { instance }).await;
        }
        server.stop().await;
    }

    async fn command(&mut self, line: &str) -> String {
        let (words, json) = line.split_at(line.find('{').unwrap_or(line.len()));
        let variables = document(if json.is_empty() { "{}" } else { json });
        let words: Vec<&str> = words.split_whitespace().collect();
        let server = self.server().await;
        let mut answer = Answer::Done;
        let then = match words[..] {
            ["migrate", ref mappings @ ..] => {
                let (then, command) = self.migration(&server, mappings).await;
                answer = server.ask(command).await;
                Some(then)
            }
            ["called"] => {
                server.deploy(&[("caller.bpmn", &hosts_part::caller())]).await;
                None
            }
            _ => None,
        };
        for command in self.commands(&words, variables) {
            answer = match words[0] {
                "listen" => server.ask_durably(command).await,
                _ => server.ask(command).await,
            };
        }
        self.rest().await;
        server.stop().await;
        let events = self.new_events();
        match (&answer, events.is_empty()) {
            (Answer::Rejected(rejection), true) if ["modify", "migrate"].contains(&words[0]) => {
                let (_, why) = rejection.reason.split_once(", but ").unwrap_or(("", "NotRunning"));
                format!("{:<11} {why}\n", "rejected")
            }
            (Answer::Rejected(rejection), true) if words[0] == "start-at" => {
                let (_, why) = rejection.reason.split_once(" but ").unwrap_or_default();
                format!("{:<11} {why}\n", "rejected")
            }
            (Answer::Rejected(_), true) => self.rejected_as_written(&words),
            (Answer::Rejected(rejection), false) => panic!("'{line}' was refused and something happened: {rejection:?}"),
            _ => {
                self.process = then.unwrap_or(self.process);
                self.trace.render(self.process, &events)
            }
        }
    }

    /// To the other process, or to another version of its own where there is no other.
    async fn migration(&self, server: &Server, mappings: &[&str]) -> (&'a Process, Command) {
        let (then, text) = self.becomes.expect("a trace that migrates says to what");
        let resource = DeployResource { name: "process.notation".into(), content: text.as_bytes().into() };
        let deploy = Deploy { tenant: self.tenant.clone(), resources: vec![resource] };
        let Answer::Deployed(deployed) = server.ask(Command::Deploy(deploy)).await else { panic!("it deploys") };
        let mappings = mappings.iter().filter_map(|word| word.split_once('>'));
        let mappings = mappings.map(|(from, to)| (from.into(), to.into())).collect();
        let migrate = Migrate { definition: deployed.processes[0].definition, mappings };
        (then, Command::Change { instance: self.instance.key, change: Change::Migrate(migrate) })
    }

    /// Until no turn waits and no signal is under way.
    async fn rest(&mut self) {
        let patience = tokio::time::timeout(Duration::from_secs(60), async {
            loop {
                let quiet = {
                    let written = self.written.lock().unwrap();
                    let mut opened: Vec<WaitKey> = Vec::new();
                    for (_, event) in &written.events {
                        match event {
                            Event::WaitOpened(wait) if matches!(wait.on, On::Turn(_)) => opened.push(wait.key),
                            Event::WaitClosed { key, .. } => opened.retain(|open| open != key),
                            _ => {}
                        }
                    }
                    opened.is_empty() && written.signals_sent == written.signals_told
                };
                if quiet {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        patience.await.expect("it comes to rest");
    }

    /// The events of the one instance of the trace that have not been told.
    fn new_events(&mut self) -> Vec<Event> {
        let events: Vec<Event> = {
            let written = self.written.lock().unwrap();
            let own = written.events.iter().filter(|(instance, _)| Some(*instance) == written.own);
            own.skip(self.told).map(|(_, event)| event.clone()).collect()
        };
        self.told += events.len();
        for event in &events {
            self.instance.apply(event);
        }
        self.instance.accept();
        events
    }

    /// The reasons of the engine are not those of the host: that it was refused is what is compared.
    fn rejected_as_written(&self, words: &[&str]) -> String {
        let reason = match words.first() {
            Some(&"start") => "NoStartEvent",
            Some(&"error") if self.listens(words[1]) => "IsListener",
            Some(&("job" | "fail" | "stuck" | "error" | "deny")) => self.refused_job(words[1]),
            Some(&"listen") => "Listening",
            Some(&"begin") if self.can_begin(words[2]) => "NoSuchScope",
            Some(&("trigger" | "tell")) => "NoSuchWait",
            Some(&"direct") if words.contains(&"over") && 3 < words.len() => "OverAndMore",
            Some(&"direct") if self.job(words[1]) != engine::JobKey(u64::MAX) && self.refused_job(words[1]) != "Stuck" => {
                "NoSuchElement"
            }
            Some(&"direct") => self.refused_job(words[1]),
            Some(&"begin") => "NoSuchElement",
            Some(&"resolve") => "NoSuchIncident",
            Some(&("set" | "set-local")) => "NoSuchScope",
            _ => "NotRunning",
        };
        let reason = if self.instance.state == engine::State::Active || words == ["start"] { reason } else { "NotRunning" };
        format!("{:<11} {reason}\n", "rejected")
    }

    /// Whether an activity can be started in an ad-hoc sub-process, as long as that is active.
    fn can_begin(&self, id: &str) -> bool {
        let activity = self.process.find(id);
        self.process.elements.iter().any(|element| match &element.kind {
            Kind::AdHoc(ad_hoc) => activity.is_some_and(|activity| ad_hoc.entries.contains(&activity)),
            _ => false,
        })
    }

    /// Whether the job of an element is a listener's.
    fn listens(&self, id: &str) -> bool {
        let job = self.job(id).wait();
        self.written.lock().unwrap().events.iter().any(|(_, event)| {
            matches!(event, Event::WaitOpened(wait) if wait.key == job && matches!(wait.on, On::Job { listener: Some(_), .. }))
        })
    }

    fn refused_job(&self, id: &str) -> &'static str {
        let incident = self.instance.elements.get(&self.element(id)).and_then(|element| element.incident);
        match incident.and_then(|incident| self.instance.incidents[&incident].job) {
            Some(_) => "Stuck",
            None => "NoSuchJob",
        }
    }

    fn commands(&self, words: &[&str], variables: Document) -> Vec<Command> {
        let tenant = self.tenant.clone();
        match *words {
            ["start"] => {
                let process = ProcessRef::Id { id: self.process.id.clone(), version: None };
                vec![Command::Create(Create { process, tenant, variables, tags: vec![], business_id: None })]
            }
            ["start-at", ref ids @ ..] => {
                let process = ProcessRef::Id { id: self.process.id.clone(), version: None };
                let create = Create { process, tenant, variables, tags: vec![], business_id: None };
                let mut parts = ids.split(|id| *id == "until").map(|ids| ids.iter().map(|id| (*id).into()).collect());
                vec![Command::creating(create, parts.next().unwrap_or_default(), parts.next().unwrap_or_default())]
            }
            ["start", id] => self.start_by(id, variables),
            ["called"] => {
                let process = ProcessRef::Id { id: hosts_part::CALLER.into(), version: None };
                vec![Command::Create(Create { process, tenant, variables, tags: vec![], business_id: None })]
            }
            // One that was called goes with the one that called it.
            ["cancel"] => {
                let first = self.written.lock().unwrap().instances.first().copied();
                vec![Command::Cancel { instance: first.unwrap_or(self.instance.key) }]
            }
            ["child" | "child-escalation", id, ..] => {
                vec![Command::CompleteJob { job: self.job_of_child(id), variables, result: None }]
            }
            ["child-error", id, code] => {
                let (job, code, message) = (self.job_of_child(id), code.into(), "".into());
                vec![Command::ThrowError(ThrowError { job, code, message, variables })]
            }
            ["job", id] => vec![Command::CompleteJob { job: self.job(id), variables, result: None }],
            ["fail" | "stuck", id] => {
                let (retries, message) = (i32::from(words[0] == "fail"), "broken".into());
                vec![Command::FailJob(FailJob { job: self.job(id), retries, message, backoff: 0, variables })]
            }
            ["error", id, code] => {
                let (code, message) = (code.into(), "".into());
                vec![Command::ThrowError(ThrowError { job: self.job(id), code, message, variables })]
            }
            ["set" | "set-local", id] => {
                vec![Command::SetVariables { scope: self.element(id), variables, local: words[0] == "set-local" }]
            }
            ["begin" | "begin-only", id, activity] => {
                let (activities, drop_rest) = (vec![(activity.into(), variables)], words[0] == "begin-only");
                vec![Command::StartAdHoc(StartAdHoc { element: self.element(id), activities, drop_rest })]
            }
            ["direct", id, ref rest @ ..] => vec![self.directed(id, rest, variables)],
            ["listen", id, event] => vec![self.listen(id, event, variables)],
            ["deny", id] => {
                let denied = TaskResult { denied: Some("no".into()), ..TaskResult::default() };
                let result = Some(Box::new(JobResult::UserTask(denied)));
                vec![Command::CompleteJob { job: self.job(id), variables, result }]
            }
            ["tell", id] => {
                let (instance, step) = (self.instance.key, id.into());
                vec![Command::TellStep(TellStep { instance, step, is_task: false, by: None, variables, keeps: false })]
            }
            ["resolve", id] => self.resolve(id),
            ["migrate", ..] => vec![],
            ["modify", ref words @ ..] => {
                let modification = Modification::from_words(words.iter().copied(), &variables, |id| Ok(self.element(id)));
                vec![Command::Change { instance: self.instance.key, change: Change::Modify(modification.unwrap()) }]
            }
            ["trigger", id] | ["again", id, _] => self.trigger(id, variables),
            _ => panic!("no such command: {words:?}"),
        }
    }

    /// Ids of what is started, `over`, `only`; of the variables, those called like an activity are its own.
    fn directed(&self, id: &str, rest: &[&str], mut variables: Document) -> Command {
        let mut activities = Vec::new();
        for id in rest.iter().filter(|word| !["over", "only"].contains(word)) {
            let own = variables.iter().position(|(name, _)| &**name == *id).map(|at| variables.remove(at).1);
            activities.push((Arc::from(*id), own.map(|own| document(&own)).unwrap_or_default()));
        }
        let (is_over, drop_rest) = (rest.contains(&"over"), rest.contains(&"only"));
        let result = Some(Box::new(JobResult::AdHoc(AdHocResult { activities, is_over, drop_rest })));
        Command::CompleteJob { job: self.job(id), variables, result }
    }

    /// What people do to a user task.
    fn listen(&self, id: &str, event: &str, variables: Document) -> Command {
        let element = self.instance.elements.get(&self.element(id));
        let wait = element.and_then(|element| element.waits.iter().find(|wait| wait.kind == WaitKind::UserTask));
        let (task, action) = (UserTaskKey(wait.map_or(u64::MAX, |wait| wait.key.0)), "".into());
        match event {
            "completing" => Command::CompleteUserTask { task, variables, action },
            "assigning" => Command::AssignUserTask(AssignUserTask { task, assignee: "ann".into(), overrides: true, action }),
            _ => Command::SetVariables { scope: self.element(id), variables, local: false },
        }
    }

    fn start_by(&self, id: &str, variables: Document) -> Vec<Command> {
        let start = self.process.find(id).unwrap();
        match engine::start_trigger(self.process, start, 0).unwrap() {
            Some(On::Message { name, .. }) => vec![self.publish(name, "".into(), variables)],
            Some(On::Signal { name }) => vec![Command::Broadcast { tenant: self.tenant.clone(), name, variables }],
            Some(On::Condition) => {
                vec![Command::EvaluateConditions(EvaluateConditions { tenant: self.tenant.clone(), definition: None, variables })]
            }
            Some(On::Timer { .. }) => {
                let written = self.written.lock().unwrap();
                let timer = written.starts.iter().rev().find(|(element, _)| *element == start);
                vec![Command::FireTimer { timer: timer.expect("it was armed").1 }]
            }
            _ => vec![],
        }
    }

    /// A job without retries gets one first, as people do it.
    fn resolve(&self, id: &str) -> Vec<Command> {
        let element = self.instance.elements.get(&self.element(id));
        let incident = element.and_then(|element| element.incident);
        let Some(key) = incident else { return vec![Command::ResolveIncident { incident: engine::IncidentKey(u64::MAX) }] };
        let incident = &self.instance.incidents[&key];
        let without = [
            IncidentKind::JobNoRetries,
            IncidentKind::AdHocNoRetries,
            IncidentKind::ExecutionListenerNoRetries,
            IncidentKind::TaskListenerNoRetries,
        ];
        let retries = incident.job.filter(|_| without.contains(&incident.kind));
        let retries = retries.map(|job| Command::UpdateJob(UpdateJob { job, retries: Some(1), timeout: None }));
        retries.into_iter().chain([Command::ResolveIncident { incident: key }]).collect()
    }

    fn trigger(&self, id: &str, variables: Document) -> Vec<Command> {
        let inner = id.split_once('#').filter(|_| self.process.find(id).is_none());
        let (id, number) = inner.map_or((id, None), |(id, number)| (id, Some(number)));
        let event = self.process.find(id);
        let alive = self.instance.elements.values().filter(|element| number.is_none_or(|number| self.counts(element, number)));
        let waits = alive.flat_map(|element| element.waits.iter().map(move |wait| (element, wait)));
        let mut waits = waits.filter(|(element, wait)| Some(wait.catch.unwrap_or(element.element)) == event);
        let Some((_, wait)) = waits.find(|(_, wait)| wait.job().is_none()) else {
            return vec![Command::FireTimer { timer: TimerKey(u64::MAX) }];
        };
        let written = self.written.lock().unwrap();
        let mut opened = written.events.iter().rev().filter_map(|(_, event)| match event {
            Event::WaitOpened(opened) if opened.key == wait.key => Some(opened.on.clone()),
            _ => None,
        });
        match (&wait.kind, opened.next().unwrap()) {
            (WaitKind::Message, On::Message { name, correlation_key }) => vec![self.publish(name, correlation_key, variables)],
            (WaitKind::Signal, On::Signal { name }) => vec![Command::Broadcast { tenant: self.tenant.clone(), name, variables }],
            (WaitKind::UserTask, _) => {
                let (task, action) = (UserTaskKey(wait.key.0), "".into());
                vec![Command::CompleteUserTask { task, variables, action }]
            }
            (WaitKind::Timer, _) => vec![Command::FireTimer { timer: TimerKey(wait.key.0) }],
            other => panic!("{other:?} cannot be triggered from outside"),
        }
    }

    fn publish(&self, name: Arc<str>, correlation_key: Arc<str>, variables: Document) -> Command {
        let tenant = self.tenant.clone();
        Command::Publish(Publish { tenant, name, correlation_key, id: "".into(), time_to_live: 0, variables })
    }

    /// Whether it is the so manieth inside the body of a repeated activity.
    fn counts(&self, element: &ElementInstance, number: &str) -> bool {
        element.variables.get("loopCounter").is_some_and(|counter| &*counter.value == number)
    }

    fn element(&self, id: &str) -> ElementKey {
        if id == "process" {
            return self.instance.key.root();
        }
        let inner = id.split_once('#').filter(|_| self.process.find(id).is_none());
        let (id, number) = inner.map_or((id, None), |(id, number)| (id, Some(number)));
        let mut alive = self.instance.elements.iter();
        let found = alive.find(|(key, element)| {
            let is_meant = number.is_none_or(|number| self.instance.is_inner(**key) && self.counts(element, number));
            is_meant && &*self.process.element(element.element).id == id
        });
        found.map_or(ElementKey(u64::MAX), |(key, _)| *key)
    }

    /// The job that the instance waits for which an element called.
    fn job_of_child(&self, id: &str) -> engine::JobKey {
        let child = hosts_part::called(&self.instance.elements[&self.element(id)]);
        let written = self.written.lock().unwrap();
        let mut last = written.events.iter().rev().filter(|(instance, _)| Some(*instance) == child);
        let job = last.find_map(|(_, event)| match event {
            Event::WaitOpened(wait) if matches!(wait.on, On::Job { .. }) => Some(wait.key),
            _ => None,
        });
        job.expect("it waits for a job").job()
    }

    fn job(&self, id: &str) -> engine::JobKey {
        let element = self.instance.elements.get(&self.element(id));
        element.and_then(|element| element.waits.iter().find_map(|wait| wait.job())).unwrap_or(engine::JobKey(u64::MAX))
    }
}

fn document(json: &str) -> Document {
    let value = feel::Value::from_json(json).unwrap();
    value.as_context().unwrap().entries().iter().map(|(name, value)| (name.clone(), Arc::from(value.to_json()))).collect()
}
