//! Runs `spec/traces/**/*.trace`: a process in the text notation, commands, and what happened. `UPDATE_TRACES=1` rewrites what happened.
//!
//! Commands: `start {…}`, `job ELEMENT {…}`, `fail ELEMENT {…}` (retries left), `stuck ELEMENT {…}` (none left),
//! `error ELEMENT CODE {…}`, `decide ELEMENT {"output": …}` (without an output it failed), `no-decision ELEMENT`, `set ELEMENT {…}`, `set-local ELEMENT {…}`, `resolve ELEMENT`, `cancel`.
//! `start EVENT {…}` (at a triggered start event), `start-at ELEMENT… until ELEMENT… {…}` (begin there, end after those), `called {…}` (started by a call activity), `trigger EVENT {…}`, `again EVENT DUE` (a timer that
//! will fire again), `call ELEMENT`, `no-process ELEMENT`, `child ELEMENT {…}`, `child-error ELEMENT CODE {…}`,
//! `child-escalation ELEMENT CODE {…}`, `uncaught`, `give-form ELEMENT`, `no-form ELEMENT`, `begin ELEMENT ACTIVITY {…}` (in an ad-hoc sub-process), `begin-only ELEMENT ACTIVITY {…}`
//! (dropping what runs in it), `direct ELEMENT ACTIVITY… {…}` (its worker; also `over`, `only`), `listen ELEMENT EVENT {…}` (something is to happen to a user task),
//! `deny ELEMENT` (its listener refuses). A person who has done a task is a `trigger`; the job of a listener is the element's.
//! `ELEMENT` is an id; `process` is the process itself; the oldest instance of an element is meant; `id#2` is the second inside the body of
//! a repeated activity.

use crate::restored;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::trace::Trace;
use engine::{
    Budget, Command, DefinitionKey, Directed, Document, ElementInstance, ElementKey, Event, FailedJob, FormKey, IncidentKey,
    IncidentKind, Instance, InstanceKey, JobKey, Keys, Means, Migration, Modification, On, Opened, Parent, Phase, Rejected,
    StartAt, State, Thrown, ThrownError, ThrownOut, Triggered, Undecided, WaitKey, WaitKind, migrate, step,
};
use model::{Kind, ListenerEvent, Process, TimerKind};
use schedule::Occurrence;

#[test]
fn traces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/traces");
    let mut files = Vec::new();
    collect(&folder, &mut files);
    assert!(!files.is_empty(), "no traces under {}", folder.display());
    let mut failures = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let played = play(&source).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        if played == source {
            continue;
        }
        if std::env::var_os("UPDATE_TRACES").is_some() {
            fs::write(&file, played).unwrap();
        } else {
            failures.push(format!("{}\n--- written ---\n{source}\n--- happened ---\n{played}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "trace") {
            files.push(entry);
        }
    }
}

/// The same text with what happened as it happens now.
fn play(source: &str) -> Result<String, String> {
    let (head, commands) = match source.find("\n> ") {
        Some(at) => source.split_at(at + 1),
        None => return Err("no commands".to_owned()),
    };
    if !head.starts_with("# ") {
        return Err("the first line says in a sentence what the trace shows".to_owned());
    }
    let (first, then) = head.split_once(BECOMES).map_or((head, None), |(first, then)| (first, Some(then)));
    let process = compiled(first)?;
    let becomes = then.map(compiled).transpose()?;
    let mut run = Run::new(&process);
    run.becomes = becomes.as_ref();
    let mut played = head.to_owned();
    for line in commands.lines().filter_map(|line| line.strip_prefix("> ")) {
        played.push_str(&format!("> {line}\n"));
        played.push_str(&run.command(line)?);
        played.push('\n');
    }
    played.pop();
    Ok(played)
}

/// Between the process that instances begin with and the one they migrate to.
const BECOMES: &str = "--- becomes ---\n";

fn compiled(text: &str) -> Result<Process, String> {
    compile::text(text).map_err(|diagnostics| diagnostics.iter().map(|d| format!("{d}\n")).collect::<String>())
}

struct Run<'a> {
    process: &'a Process,
    becomes: Option<&'a Process>,
    instance: Instance,
    history: Vec<Event>,
    keys: Keys,
    trace: Trace,
}

impl<'a> Run<'a> {
    fn new(process: &'a Process) -> Self {
        let instance = Instance::new(InstanceKey(1), DefinitionKey(1));
        Self { process, becomes: None, instance, history: Vec::new(), keys: Keys::starting_at(2), trace: Trace::default() }
    }

    fn command(&mut self, line: &str) -> Result<String, String> {
        let before = self.instance.clone();
        let stepped = match line.strip_prefix("migrate") {
            Some(mappings) => self.migrate(mappings),
            None => self.step(&self.parse(line)?),
        };
        let mut events = match stepped {
            Err(rejected) => {
                assert_eq!(self.instance, before, "'{line}' was rejected and changed something");
                return Ok(Trace::rejected(rejected));
            }
            Ok(events) => events,
        };
        let mut undone = self.instance.clone();
        undone.undo();
        assert_eq!(undone, before, "'{line}' cannot be undone");
        self.instance.accept();
        while let Some(wait) = self.turn() {
            events.extend(self.step(&Command::Turn { wait }).map_err(|rejected| format!("a turn was refused: {rejected:?}"))?);
            self.instance.accept();
        }
        self.history.extend(events.iter().cloned());
        self.check(line);
        Ok(self.trace.render(self.process, &events))
    }

    fn step(&mut self, command: &Command) -> Result<Vec<Event>, Rejected> {
        let means = Means {
            globals: &model::Globals::default(),
            process: self.process,
            now: 0,
            keys: &mut self.keys,
            budget: &mut Budget::new(250, 1 << 24),
        };
        step(means, &mut self.instance, command)
    }

    /// To the other process, or to one like its own where there is no other.
    fn migrate(&mut self, mappings: &str) -> Result<Vec<Event>, Rejected> {
        let target = self.becomes.unwrap_or(self.process);
        let mappings = mappings.split_whitespace().filter_map(|word| word.split_once('>'));
        let mappings: Vec<_> = mappings.map(|(from, to)| (from.into(), to.into())).collect();
        let migration = Migration { definition: DefinitionKey(2), process: target, mappings: &mappings };
        let means = Means {
            globals: &model::Globals::default(),
            process: self.process,
            now: 0,
            keys: &mut self.keys,
            budget: &mut Budget::new(250, 1 << 24),
        };
        let events = migrate(means, &mut self.instance, &migration)?;
        self.process = target;
        Ok(events)
    }

    /// What the host does next by itself: a step that takes long goes on.
    fn turn(&self) -> Option<WaitKey> {
        let waits = &self.instance.root()?.waits;
        waits.iter().find(|wait| matches!(wait.kind, WaitKind::Turn(_))).map(|wait| wait.key)
    }

    /// What holds after every command of every trace.
    fn check(&self, line: &str) {
        let mut replayed = Instance::new(InstanceKey(1), DefinitionKey(1));
        for event in &self.history {
            replayed.apply(event);
        }
        assert_eq!(replayed, self.instance, "after '{line}': history is not state");
        assert_eq!(restored::restored(&self.instance), self.instance, "after '{line}': rows are not state");
        if self.instance.state != State::Active {
            assert!(self.instance.elements.is_empty(), "after '{line}': elements outlive the instance");
            assert!(self.instance.incidents.is_empty(), "after '{line}': incidents outlive the instance");
            return;
        }
        for (key, element) in &self.instance.elements {
            // A complex gateway waits for tokens, which its scope has; a step that waits is found by its place.
            let asks = matches!(
                self.process.element(element.element).kind,
                Kind::DecisionTask(_) | Kind::CallActivity(_) | Kind::ComplexGateway(_) | Kind::AdHoc(_) | Kind::Wait
            ) || self.instance.parent.is_some() && element.phase == Phase::Entering
                || matches!(self.process.element(element.element).kind, Kind::UserTask(_)) && element.phase == Phase::Entering;
            let waits = asks || !element.waits.is_empty() || element.incident.is_some();
            let holds = self.instance.children(*key).next().is_some() || element.tokens().next().is_some();
            assert!(waits || holds, "after '{line}': {} waits for nothing", self.process.element(element.element).id);
            assert!(element.phase != Phase::Active || waits || holds);
        }
    }

    fn parse(&self, line: &str) -> Result<Command, String> {
        let (words, json) = match line.find('{') {
            Some(at) => (&line[..at], &line[at..]),
            None => (line, "{}"),
        };
        let variables = document(json)?;
        let words: Vec<&str> = words.split_whitespace().collect();
        Ok(match words[..] {
            ["start"] => Command::Start { at: None, parent: None, variables },
            ["start", id] => Command::Start { at: self.process.find(id), parent: None, variables },
            ["start-at", ref ids @ ..] => self.start_at(ids, variables)?,
            ["called"] => {
                Command::Start { at: None, parent: Some(Parent { instance: InstanceKey(7), element: ElementKey(8) }), variables }
            }
            ["trigger", id] => Command::Trigger(self.triggered(id, variables, None)),
            ["again", id, due] => {
                let at = Occurrence { armed: 0, number: 2, at: due.parse().unwrap() };
                let next = On::Timer { kind: TimerKind::Cycle, text: self.timer_text(id), at };
                Command::Trigger(self.triggered(id, variables, Some(next)))
            }
            ["call", id] => Command::Call { element: self.element(id), verdict: Ok(InstanceKey(9)) },
            ["no-process", id] => {
                let missing = Undecided { kind: IncidentKind::CalledElement, reason: "there is none".into() };
                Command::Call { element: self.element(id), verdict: Err(missing) }
            }
            ["child", id] => Command::ChildCompleted { element: self.element(id), child: InstanceKey(9), variables },
            ["child-error", id, code] => self.child_threw(id, Thrown::Error, code, variables),
            ["child-escalation", id, code] => self.child_threw(id, Thrown::Escalation, code, variables),
            ["uncaught"] => Command::Uncaught(self.thrown_out()),
            ["cancel"] => Command::Cancel,
            ["job", id] => Command::CompleteJob { job: self.job(id), element: self.element(id), variables },
            ["fail", id] => Command::FailJob(FailedJob { job: self.job(id), element: self.element(id), variables, stuck: None }),
            ["stuck", id] => {
                let (job, element) = (self.job(id), self.element(id));
                Command::FailJob(FailedJob { job, element, variables, stuck: Some("broken".into()) })
            }
            ["error", id, code] => {
                let (job, element) = (self.job(id), self.element(id));
                Command::ThrowError(ThrownError { job, element, code: code.into(), message: "".into(), variables })
            }
            ["decide", id] => {
                let output = variables.iter().find(|(name, _)| &**name == "output").map(|(_, value)| value.clone());
                let failed = Undecided { kind: IncidentKind::DecisionEvaluation, reason: "two rules match".into() };
                Command::Decide { element: self.element(id), verdict: output.ok_or(failed) }
            }
            ["no-decision", id] => {
                let missing = Undecided { kind: IncidentKind::CalledDecision, reason: "there is none".into() };
                Command::Decide { element: self.element(id), verdict: Err(missing) }
            }
            ["give-form", id] => Command::GiveForm { element: self.element(id), verdict: Ok(FormKey(11)) },
            ["no-form", id] => {
                let missing = Undecided { kind: IncidentKind::FormNotFound, reason: "there is none".into() };
                Command::GiveForm { element: self.element(id), verdict: Err(missing) }
            }
            ["set", id] => Command::SetVariables { scope: self.element(id), variables, local: false },
            ["set-local", id] => Command::SetVariables { scope: self.element(id), variables, local: true },
            ["begin" | "begin-only", id, activity] => {
                let activities = vec![(activity.into(), variables)];
                Command::StartAdHoc { element: self.element(id), activities, drop_rest: words[0] == "begin-only" }
            }
            ["direct", id, ref rest @ ..] => Command::DirectAdHoc(self.directed(id, rest, variables)),
            ["listen", id, event] => Command::Listen {
                element: self.element(id),
                event: ListenerEvent::named(event).unwrap(),
                variables,
                local: false,
            },
            ["deny", id] => Command::Deny { job: self.job(id), element: self.element(id) },
            ["tell", id] => Command::Tell { element: self.element(id), variables },
            ["resolve", id] => Command::ResolveIncident { incident: self.incident(id) },
            ["modify", ref words @ ..] => {
                Command::Modify(Modification::from_words(words.iter().copied(), &variables, |id| Ok(self.element(id)))?)
            }
            _ => return Err(format!("'{line}' is no command")),
        })
    }

    fn start_at(&self, ids: &[&str], variables: Document) -> Result<Command, String> {
        let mut parts = ids.split(|id| *id == "until");
        let found = |id: &&str| self.process.find(id).ok_or_else(|| format!("no element {id}"));
        let elements = parts.next().unwrap_or_default().iter().map(found).collect::<Result<_, _>>()?;
        let end_after = parts.next().unwrap_or_default().iter().map(|id| (*id).into()).collect();
        Ok(Command::StartAt(StartAt { elements, end_after, variables }))
    }

    fn child_threw(&self, id: &str, what: Thrown, code: &str, variables: Document) -> Command {
        Command::ChildThrew { element: self.element(id), what, code: code.into(), variables }
    }

    /// What a worker decides: ids of what is started, `over`, `only` (dropping the rest). Of the variables, those called like an
    /// activity are an object with its own.
    fn directed(&self, id: &str, rest: &[&str], mut variables: Document) -> Directed {
        let (job, element) = (self.job(id), self.element(id));
        let started = rest.iter().filter(|word| !["over", "only"].contains(word));
        let mut activities = Vec::new();
        for id in started {
            let own = variables.iter().position(|(name, _)| &**name == *id).map(|at| variables.remove(at).1);
            activities.push((Arc::from(*id), own.map(|own| document(&own).unwrap()).unwrap_or_default()));
        }
        let (is_over, drop_rest) = (rest.contains(&"over"), rest.contains(&"only"));
        Directed { job, element, variables, activities, is_over, drop_rest }
    }

    /// The wait of an element, or for an event, with this id.
    fn triggered(&self, id: &str, variables: Document, next: Option<On>) -> Triggered {
        let inner = id.split_once('#').filter(|_| self.process.find(id).is_none());
        let (id, number) = inner.map_or((id, None), |(id, number)| (id, Some(number)));
        let event = self.process.find(id);
        let waits =
            self.instance.elements.iter().flat_map(|(key, element)| element.waits.iter().map(move |wait| (key, element, wait)));
        let mut waits = waits.filter(|(_, _, wait)| wait.job().is_none());
        let found = waits.find(|(_, element, wait)| {
            let is_meant = number.is_none_or(|number| counter(element).as_deref() == Some(number));
            is_meant && Some(wait.catch.unwrap_or(element.element)) == event
        });
        let (element, wait) = found.map_or((ElementKey(u64::MAX), WaitKey(u64::MAX)), |(key, _, wait)| (*key, wait.key));
        Triggered { element, wait, variables, next }
    }

    fn timer_text(&self, id: &str) -> Arc<str> {
        let event = self.process.find(id);
        let text = self.history.iter().rev().find_map(|happened| match happened {
            Event::WaitOpened(Opened { catch, on: On::Timer { text, .. }, .. }) if *catch == event => Some(text.clone()),
            _ => None,
        });
        text.unwrap()
    }

    fn thrown_out(&self) -> ThrownOut {
        let thrown = self.history.iter().rev().find_map(|event| match event {
            Event::ThrownOut(thrown) => Some(thrown.clone()),
            _ => None,
        });
        thrown.unwrap()
    }

    /// A key that exists, or one that never will.
    fn element(&self, id: &str) -> ElementKey {
        if id == "process" {
            return InstanceKey(1).root();
        }
        let inner = id.split_once('#').filter(|_| self.process.find(id).is_none());
        let (id, number) = inner.map_or((id, None), |(id, number)| (id, Some(number)));
        let mut alive = self.instance.elements.iter();
        let found = alive.find(|(key, element)| {
            let is_meant = match number {
                Some(number) => self.instance.is_inner(**key) && counter(element).as_deref() == Some(number),
                None => true,
            };
            is_meant && &*self.process.element(element.element).id == id
        });
        found.map_or(ElementKey(u64::MAX), |(key, _)| *key)
    }

    fn job(&self, id: &str) -> JobKey {
        let element = self.instance.elements.get(&self.element(id));
        element.and_then(|element| element.waits.iter().find_map(|wait| wait.job())).unwrap_or(JobKey(u64::MAX))
    }

    fn incident(&self, id: &str) -> IncidentKey {
        let element = self.instance.elements.get(&self.element(id));
        element.and_then(|element| element.incident).unwrap_or(IncidentKey(u64::MAX))
    }
}

/// Which of several an inner instance of a repeated activity is.
fn counter(element: &ElementInstance) -> Option<String> {
    element.variables.get("loopCounter").map(|counter| counter.value.to_string())
}

fn document(json: &str) -> Result<Document, String> {
    let value = feel::Value::from_json(json).map_err(|error| format!("'{json}': {error}"))?;
    let context = value.as_context().ok_or_else(|| format!("'{json}' is not an object"))?;
    Ok(context.entries().iter().map(|(name, value)| (name.clone(), Arc::from(value.to_json()))).collect())
}
