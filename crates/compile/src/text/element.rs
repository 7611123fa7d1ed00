//! Statements → elements and flows of a draft.

use std::collections::HashSet;
use std::sync::Arc;

use model::{
    Binding, Call, Catch, CodeCatch, ComplexGateway, DecisionTask, EndEvent, Form, InclusiveGateway, JobTask, JobTaskFlavour,
    Kind, LinkThrow, PassTask, Process, Retries, Scope, Script, Text, Trigger,
};

use super::event;
use super::flow::Flows;
use super::statement::{Line, Statement};
use super::{ad_hoc, compensation, listener, repeat, several, user_task, words};
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Content, DraftElement, DraftFlow, RUN};
use crate::expression;
use crate::mapping::{Direction, Mappings};

/// All that was written, before anybody knows what lies inside what.
pub(super) struct Written {
    pub(super) version_tag: Option<Arc<str>>,
    /// The process itself first.
    pub(super) elements: Vec<WrittenElement>,
    pub(super) flows: Vec<DraftFlow>,
}

pub(super) struct WrittenElement {
    pub(super) element: DraftElement,
    /// From `id in SCOPE`.
    pub(super) scope: Option<String>,
    /// From `subprocess FIRST`.
    pub(super) first: Option<String>,
}

pub(super) fn read(statements: &[Statement], findings: &mut Findings) -> Written {
    let root = Content::Read(Kind::Process(Scope::default()));
    let root = WrittenElement { element: element(0, "process", root), scope: None, first: None };
    let mut written = Written { version_tag: None, elements: vec![root], flows: Vec::new() };
    let mut flows = Flows::default();
    let mut ids = HashSet::new();
    let mut processes = 0;
    for statement in statements {
        if !ids.insert(&statement.id) {
            findings.add(statement.at, &statement.id, "the id is used more than once");
        }
        let (arguments, targets) = split_arrow(&statement.head);
        let read = kind(arguments, statement, findings).map(|(kind, first, activity)| (Content::Read(kind), first, activity));
        let (content, first, attached_to) = read.unwrap_or((Content::Refused, None, None));
        let compensation = compensation::named(arguments);
        let mut draft = DraftElement { attached_to, compensation, ..element(statement.at, &statement.id, content) };
        if let Some(targets) = targets {
            draft.default = flows.read_all(statement, targets, findings);
        }
        let version_tag = options(&mut draft, statement, &mut flows, findings);
        let is_process = matches!(draft.kind(), Some(Kind::Process(_)));
        let element = WrittenElement { element: draft, scope: statement.scope.clone(), first };
        if !is_process {
            let run = matches!(element.element.kind(), Some(Kind::AdHoc(_))).then(|| run_of(&element.element));
            written.elements.push(element);
            written.elements.extend(run);
            continue;
        }
        processes += 1;
        if 1 < processes {
            findings.add(statement.at, &statement.id, "there is one process in a text");
        }
        (written.elements[0], written.version_tag) = (element, version_tag);
    }
    written.flows = flows.list;
    move_into_runs(&mut written.elements);
    written
}

/// The element of the runs of an ad-hoc sub-process.
fn run_of(ad_hoc: &DraftElement) -> WrittenElement {
    WrittenElement { element: ad_hoc.run(0), scope: Some(ad_hoc.id.to_string()), first: None }
}

/// What is said to lie in an ad-hoc sub-process lies in its runs, but for event sub-processes.
fn move_into_runs(elements: &mut [WrittenElement]) {
    let ad_hoc = elements.iter().filter(|written| matches!(written.element.kind(), Some(Kind::AdHoc(_))));
    let ids: HashSet<String> = ad_hoc.map(|written| written.element.id.to_string()).collect();
    let beside = |written: &WrittenElement| matches!(written.element.kind(), Some(Kind::AdHocRun | Kind::EventSubProcess(_)));
    for written in elements.iter_mut().filter(|written| !beside(written)) {
        if let Some(scope) = written.scope.as_mut().filter(|scope| ids.contains(*scope)) {
            scope.push_str(RUN);
        }
    }
}

fn element(at: usize, id: &str, content: Content) -> DraftElement {
    DraftElement { id: id.into(), content, ..DraftElement::bare(at) }
}

fn split_arrow(head: &str) -> (&str, Option<&str>) {
    match words::outside(head, "->") {
        Some(at) => (head[..at].trim(), Some(&head[at + 2..])),
        None => (head.trim(), None),
    }
}

/// Kind, first inner element, activity attached to.
type Read = (Kind, Option<String>, Option<Arc<str>>);

fn kind(arguments: &str, statement: &Statement, findings: &mut Findings) -> Option<Read> {
    let word_end = arguments.find(char::is_whitespace).unwrap_or(arguments.len());
    let (word, rest) = (&arguments[..word_end], arguments[word_end..].trim());
    let bare = |kind: Kind| match rest {
        "" => Ok((kind, None, None)),
        _ => Err(format!("{word} takes no arguments")),
    };
    let job = |flavour| job_task(flavour, rest).map(|task| (Kind::JobTask(task), None, None));
    let read = match word {
        "process" => bare(Kind::Process(Scope::default())),
        "start" | "start-beside" => event::start(rest, word == "start").map(|kind| (kind, None, None)),
        "end" => event::end(rest).map(|kind| (kind, None, None)),
        "catch" => event::trigger(rest).map(|trigger| (Kind::CatchEvent(trigger), None, None)),
        "receive" => event::message(rest).map(|message| (Kind::ReceiveTask(message), None, None)),
        "publish" => event::publish(rest).map(|publish| (Kind::SendTask(publish), None, None)),
        "on" | "beside" => boundary(rest, word == "on"),
        "call" => call(rest),
        "events" => bare(Kind::EventGateway),
        "terminate" => bare(Kind::EndEvent(EndEvent::Terminate)),
        "error" => error(rest),
        "throw" => event::throw(rest).map(|kind| (kind, None, None)),
        "pass" => bare(Kind::PassTask(PassTask::Undefined)),
        "manual" => bare(Kind::PassTask(PassTask::Manual)),
        "task" => job(JobTaskFlavour::Service),
        "send-task" => job(JobTaskFlavour::Send),
        "script-task" => job(JobTaskFlavour::Script),
        "rule-task" => job(JobTaskFlavour::BusinessRule),
        "throw-task" => job(JobTaskFlavour::Throw),
        "end-task" => job(JobTaskFlavour::End),
        "user-task" => job(JobTaskFlavour::User),
        "user" => bare(Kind::UserTask(Default::default())),
        "script" => script(rest),
        "set" => set(rest),
        "wait" => bare(Kind::Wait),
        "decide" => decide(rest),
        "exclusive" => bare(Kind::ExclusiveGateway { default: None }),
        "parallel" => bare(Kind::ParallelGateway),
        "inclusive" => bare(Kind::InclusiveGateway(InclusiveGateway::default())),
        "complex" => complex(rest),
        "link-throw" => link(rest).map(|name| (Kind::LinkThrow(LinkThrow { name, catch: Process::ROOT }), None, None)),
        "link-catch" => link(rest).map(|name| (Kind::LinkCatch(name), None, None)),
        "ad-hoc" => ad_hoc::read(rest).map(|kind| (kind, None, None)),
        "cancel" => bare(Kind::EndEvent(EndEvent::Cancel)),
        "subprocess" | "transaction" | "event-subprocess" => match words::whole(rest) {
            Some(first) if word == "subprocess" => Ok((Kind::SubProcess(Scope::default()), Some(first), None)),
            Some(first) if word == "transaction" => Ok((Kind::Transaction(Scope::default()), Some(first), None)),
            Some(first) => Ok((Kind::EventSubProcess(Scope::default()), Some(first), None)),
            None => Err(format!("write '{word} FIRST', FIRST being its start event")),
        },
        "compensate" | "compensate-end" => compensation::read(word, rest).map(|read| (read.kind, None, read.attached_to)),
        word => Err(format!("there is no kind {}", quoted(word))),
    };
    read.map_err(|reason| findings.add(statement.at, &statement.id, reason)).ok()
}

pub(super) fn job_task(flavour: JobTaskFlavour, rest: &str) -> Result<JobTask, String> {
    let job_type = value("the job type", rest)?.ok_or("a task needs a job type: 'task TYPE'")?;
    Ok(JobTask { flavour, job_type, retries: Retries::Fixed(3), headers: Vec::new(), headers_computed: Vec::new(), form: None })
}

fn script(rest: &str) -> Result<Read, String> {
    let usage = "write 'script VARIABLE = FEEL'";
    let (variable, source) = words::first(rest).ok_or(usage)?;
    let source = source.strip_prefix('=').ok_or(usage)?;
    let script = Script { expression: expression::parse("the script", source)?, result: variable.into() };
    Ok((Kind::ScriptTask(script), None, None))
}

fn set(rest: &str) -> Result<Read, String> {
    let usage = "write 'set VARIABLE = FEEL'";
    let (variable, source) = words::first(rest).ok_or(usage)?;
    let source = source.strip_prefix('=').ok_or(usage)?;
    let entry = (variable.into(), Text::Computed(expression::parse("the value", source)?));
    Ok((Kind::Transformation(vec![entry]), None, None))
}

/// `VARIABLE by ID`, `VARIABLE by = FEEL`; an option says which version.
fn decide(rest: &str) -> Result<Read, String> {
    let usage = "write 'decide VARIABLE by DECISION'";
    let (variable, decision) = words::first(rest).ok_or(usage)?;
    let decision = decision.strip_prefix("by ").ok_or(usage)?;
    let decision = value("the decision id", decision)?.ok_or(usage)?;
    let task = DecisionTask { decision, binding: Binding::Latest, result: variable.into() };
    Ok((Kind::DecisionTask(task), None, None))
}

/// `= FEEL` or nothing.
fn complex(rest: &str) -> Result<Read, String> {
    let activation = match (rest, rest.strip_prefix('=')) {
        ("", _) => None,
        (_, Some(source)) => Some(expression::parse("the activation condition", source)?),
        (_, None) => return Err("write 'complex' or 'complex = FEEL'".to_owned()),
    };
    Ok((Kind::ComplexGateway(ComplexGateway { activation, ..Default::default() }), None, None))
}

fn link(rest: &str) -> Result<Arc<str>, String> {
    words::whole(rest).map(Into::into).ok_or_else(|| "a link event needs the name of its link".to_owned())
}

/// `CODE`, `= FEEL`, `CODE on ID`, `on ID`.
fn error(rest: &str) -> Result<Read, String> {
    let usage = || "write 'error CODE', 'error CODE on ID' or 'error on ID'".to_owned();
    if let Some(source) = rest.strip_prefix('=') {
        let code = Text::Computed(expression::parse("the error code", source)?);
        return Ok((Kind::EndEvent(EndEvent::Error { code }), None, None));
    }
    let (catch, activity) = match rest.strip_prefix("on ") {
        Some(activity) => (CodeCatch::Any, activity),
        None => {
            let (code, rest) = words::first(rest).ok_or_else(usage)?;
            if rest.is_empty() {
                return Ok((Kind::EndEvent(EndEvent::Error { code: Text::Fixed(code.into()) }), None, None));
            }
            (CodeCatch::Code(code.into()), rest.strip_prefix("on ").ok_or_else(usage)?)
        }
    };
    let activity = words::whole(activity).ok_or_else(usage)?;
    let catch = Catch { trigger: Trigger::Error(catch), interrupting: true };
    Ok((Kind::BoundaryEvent(catch), None, Some(activity.into())))
}

/// `ID TRIGGER`
fn boundary(rest: &str, interrupting: bool) -> Result<Read, String> {
    let (activity, trigger) = words::first(rest).ok_or("write 'on ID TRIGGER' or 'beside ID TRIGGER'")?;
    let catch = Catch { trigger: event::trigger(trigger)?, interrupting };
    Ok((Kind::BoundaryEvent(catch), None, Some(activity.into())))
}

/// `ID` or `= FEEL`; options say which version and which variables.
fn call(rest: &str) -> Result<Read, String> {
    let process = value("the process id", rest)?.ok_or("write 'call PROCESS'")?;
    Ok((Kind::CallActivity(Call { process, binding: Binding::Latest, all_in: true, all_out: true }), None, None))
}

/// `WORD` or `= FEEL`.
pub(super) fn value(what: &str, text: &str) -> Result<Option<Text>, String> {
    match text.trim().strip_prefix('=') {
        Some(source) => expression::parse(what, source).map(|expression| Some(Text::Computed(expression))),
        None => Ok(words::whole(text).map(|word| Text::Fixed(word.into()))),
    }
}

/// Reads the indented lines. Gives the version tag, if there is one.
fn options(draft: &mut DraftElement, statement: &Statement, flows: &mut Flows, findings: &mut Findings) -> Option<Arc<str>> {
    let mut inputs = Mappings::new(Direction::Input);
    let mut outputs = Mappings::new(Direction::Output);
    let mut version_tag = None;
    for Line { at, text } in &statement.options {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, rest) = (&text[..end], text[end..].trim());
        let read = match word {
            "->" => {
                draft.default = flows.read(statement, *at, rest, findings).or(draft.default.take());
                Ok(())
            }
            "in" => assignment(rest).and_then(|(target, source)| inputs.add(source, &target)),
            "out" => assignment(rest).and_then(|(target, source)| outputs.add(source, &target)),
            "inputs" => expression::parse("the inputs", rest).map(|inputs| draft.inputs = Some(inputs)),
            "outputs" => expression::parse("the outputs", rest).map(|outputs| draft.outputs = Some(outputs)),
            "name" => words::whole(rest).map(|name| draft.name = Some(name.into())).ok_or("write 'name TEXT'".to_owned()),
            "version-tag" if matches!(draft.kind(), Some(Kind::Process(_))) => {
                words::whole(rest).map(|tag| version_tag = Some(tag.into())).ok_or("write 'version-tag TEXT'".to_owned())
            }
            "of" => several::of(draft, rest),
            "retries" => retries(draft, rest),
            "listen" | "listen-retries" => listener::option(draft, word, rest),
            "header" => header(draft, rest),
            "binding" => binding(draft, rest),
            "computed-header" => user_task::computed_header(draft, rest),
            word if user_task::OPTIONS.contains(&word) => user_task::read(draft, word, rest),
            "only" => only(draft, rest),
            "until" | "keep-rest" | "collect" if matches!(draft.kind(), Some(Kind::AdHoc(_))) => {
                ad_hoc::option(draft, word, rest)
            }
            word => match repeat::option(draft, word, rest) {
                Some(read) => read,
                None => Err(format!("there is no option {}", quoted(word))),
            },
        };
        if let Err(reason) = read {
            findings.add(*at, &statement.id, reason);
        }
    }
    if let Err(reason) = several::check(draft) {
        findings.add(statement.at, &statement.id, reason);
    }
    for (mappings, slot) in [(inputs, &mut draft.inputs), (outputs, &mut draft.outputs)] {
        match mappings.finish() {
            Ok(None) => {}
            Ok(context) => *slot = context,
            Err(reason) => findings.add(statement.at, &statement.id, reason),
        }
    }
    version_tag
}

/// `NAME = REST`
pub(super) fn assignment(text: &str) -> Result<(String, &str), String> {
    let split = words::first(text).and_then(|(name, rest)| Some((name, rest.strip_prefix('=')?)));
    split.ok_or_else(|| "write 'NAME = VALUE'".to_owned())
}

/// What a worker does for this element.
fn work(draft: &mut DraftElement) -> Option<&mut JobTask> {
    match &mut draft.content {
        Content::Read(Kind::JobTask(task)) => Some(task),
        Content::Read(Kind::AdHoc(ad_hoc)) => ad_hoc.directed.as_deref_mut(),
        Content::Read(_) | Content::Refused | Content::RefusedStart => None,
    }
}

fn retries(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let task = work(draft).ok_or("only a task has retries")?;
    task.retries = number_of_retries(rest)?;
    Ok(())
}

pub(super) fn number_of_retries(rest: &str) -> Result<Retries, String> {
    Ok(match rest.strip_prefix('=') {
        Some(source) => Retries::Computed(expression::parse("the number of retries", source)?),
        None => Retries::Fixed(rest.parse().map_err(|_| format!("{} is no number", quoted(rest)))?),
    })
}

/// `latest`, `deployment`, `tag TEXT`.
fn binding(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let binding = match &mut draft.content {
        Content::Read(Kind::DecisionTask(task)) => &mut task.binding,
        Content::Read(Kind::CallActivity(call)) => &mut call.binding,
        Content::Read(Kind::UserTask(task)) => match &mut task.form {
            Some(Form::Deployed { binding, .. }) => binding,
            Some(Form::External(_)) | None => return Err("write 'form ID' before its binding".to_owned()),
        },
        Content::Read(Kind::JobTask(task)) => match &mut task.form {
            Some(form) => &mut form.1,
            None => return Err("write 'form ID' before its binding".to_owned()),
        },
        Content::Read(_) | Content::Refused | Content::RefusedStart => {
            return Err("only what calls a decision, a process or a form has a binding".to_owned());
        }
    };
    *binding = match (rest, rest.strip_prefix("tag ").and_then(words::whole)) {
        ("latest", _) => Binding::Latest,
        ("deployment", _) => Binding::Deployment,
        (_, Some(tag)) => Binding::VersionTag(tag.into()),
        (_, None) => return Err("write 'binding latest', 'binding deployment' or 'binding tag TEXT'".to_owned()),
    };
    Ok(())
}

/// `mapped-in`: the called process gets local variables alone; `mapped-out`: mapped ones alone come back.
fn only(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let Content::Read(Kind::CallActivity(call)) = &mut draft.content else {
        return Err("only a call activity passes variables".to_owned());
    };
    match rest {
        "mapped-in" => call.all_in = false,
        "mapped-out" => call.all_out = false,
        _ => return Err("write 'only mapped-in' or 'only mapped-out'".to_owned()),
    }
    Ok(())
}

fn header(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let headers = match &mut draft.content {
        Content::Read(Kind::UserTask(task)) => &mut task.headers,
        Content::Read(_) | Content::Refused | Content::RefusedStart => &mut work(draft).ok_or("only a task has headers")?.headers,
    };
    let (key, value) = assignment(rest)?;
    let value = words::whole(value).ok_or("write 'header KEY = VALUE'")?;
    headers.push((key.into(), value.into()));
    Ok(())
}
