//! Steps: what each type needs, and what it becomes.

use std::collections::HashSet;
use std::sync::Arc;

use model::{
    Binding, Call, Catch, EndEvent, InclusiveGateway, JobTask, JobTaskFlavour, Kind, Names, Retries, Text, TimerKind,
    TimerTrigger, Trigger, UserTask,
};

use super::fields::Fields;
use super::tree::{Member, Node, Value};
use super::{DESCRIPTION_CHARS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX};
use crate::diagnostic::{Findings, quoted};
use crate::draft::Condition;
use crate::{expression, timer};

/// What workers' headers call it, too.
const BACKOFF: &str = "retryBackoff";

/// A step may be tried once more than it has retries, in a number of 32 bits.
const RETRIES_MAX: i32 = i32::MAX - 1;
/// A queue's name goes into indexes of the stores, whose entries are bounded.
const JOB_TYPE_BYTES_MAX: usize = 1_000;

const TYPES: [&str; 9] =
    ["SERVICE_TASK", "USER_TASK", "DECISION", "TRANSFORMATION", "WAIT", "PARALLEL_GATEWAY", "JOIN_GATEWAY", "CALL", "END"];

/// The fields that belong to some types only.
const FIELDS: [&str; 11] = [
    "nextStep",
    "parallelNextSteps",
    "joinStep",
    "conditionalNextSteps",
    "transformations",
    "jobType",
    "delegateClass",
    "retryCount",
    "retryBackoff",
    "boundaryEvents",
    "processId",
];

/// A step as read. What could not be read has a problem; then it does not matter what it is taken for.
pub(super) struct Step {
    pub(super) at: usize,
    pub(super) id: Arc<str>,
    pub(super) name: Option<Arc<str>>,
    pub(super) kind: Kind,
    pub(super) ways: Vec<Way>,
    pub(super) boundaries: Vec<Boundary>,
    /// Where its branches meet again, of a parallel gateway.
    pub(super) join: Option<Way>,
}

/// Where it goes on.
pub(super) struct Way {
    pub(super) at: usize,
    /// The name of the field, for problems.
    pub(super) field: &'static str,
    pub(super) to: Arc<str>,
    pub(super) condition: Condition,
}

pub(super) struct Boundary {
    pub(super) at: usize,
    pub(super) catch: Catch,
    pub(super) to: Arc<str>,
}

/// The steps that have an id; one of two with the same id is left out.
pub(super) fn read(nodes: &[Node], findings: &mut Findings) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(nodes.len());
    let mut ids = HashSet::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some(step) = one(node, index, findings) else { continue };
        match ids.insert(step.id.clone()) {
            true => steps.push(step),
            false => findings.add(step.at, &step.id, "another step has this id already"),
        }
    }
    steps
}

fn one(node: &Node, index: usize, findings: &mut Findings) -> Option<Step> {
    let mut fields = Fields::of(node, &format!("steps[{index}]"), findings)?;
    let id = fields.required_text("id", ID_CHARS_MAX, findings);
    if let Some(id) = &id {
        fields.owned_by(id);
        if id.contains('#') || id.chars().any(char::is_control) {
            fields.problem(node.at, "the id of a step has no control characters and no '#'", findings);
        }
    }
    let name = fields.required_text("name", NAME_CHARS_MAX, findings).map(Into::into);
    fields.text("description", DESCRIPTION_CHARS_MAX, findings);
    let word = fields.required_text("type", NAME_CHARS_MAX, findings);
    let mut step = Step {
        at: node.at,
        id: id.as_deref().unwrap_or_default().into(),
        name,
        kind: Kind::EndEvent(EndEvent::None),
        ways: Vec::new(),
        boundaries: Vec::new(),
        join: None,
    };
    match word.as_deref().and_then(|word| TYPES.iter().find(|known| **known == word)) {
        Some(word) => {
            by_type(&mut step, word, &mut fields, findings);
            fields.refuse_useless(&FIELDS, &format!("in a step of type {word}"), findings);
            fields.refuse_others(findings);
        }
        None => {
            if let Some(word) = word {
                let known = TYPES.join(", ");
                fields.problem(node.at, format!("there is no step type {}: use one of {known}", quoted(&word)), findings);
            }
        }
    }
    id.map(|_| step)
}

fn by_type(step: &mut Step, word: &str, fields: &mut Fields<'_>, findings: &mut Findings) {
    match word {
        "SERVICE_TASK" => {
            step.kind = service_task(fields, findings);
            next(step, fields, false, findings);
            boundaries(step, fields, findings);
        }
        "USER_TASK" => {
            let label = fields.text("jobType", NAME_CHARS_MAX, findings).filter(|label| !label.is_empty());
            let candidate_groups = Names::Fixed(label.map(Into::into).into_iter().collect());
            step.kind = Kind::UserTask(Box::new(UserTask { candidate_groups, ..UserTask::default() }));
            next(step, fields, false, findings);
            boundaries(step, fields, findings);
        }
        "DECISION" => {
            step.kind = Kind::ExclusiveGateway { default: None };
            decision(step, fields, findings);
        }
        "TRANSFORMATION" => {
            step.kind = Kind::Transformation(transformations(fields, findings));
            next(step, fields, true, findings);
        }
        "WAIT" => {
            step.kind = Kind::Wait;
            next(step, fields, true, findings);
            boundaries(step, fields, findings);
        }
        "PARALLEL_GATEWAY" => {
            step.kind = Kind::ParallelGateway;
            branches(step, fields, findings);
        }
        "JOIN_GATEWAY" => {
            step.kind = Kind::InclusiveGateway(InclusiveGateway::default());
            next(step, fields, true, findings);
        }
        "CALL" => {
            step.kind = call(fields, findings);
            next(step, fields, false, findings);
            boundaries(step, fields, findings);
        }
        _ => step.kind = Kind::EndEvent(EndEvent::None),
    }
}

fn service_task(fields: &mut Fields<'_>, findings: &mut Findings) -> Kind {
    let job_type = fields.required_text("jobType", NAME_CHARS_MAX, findings).unwrap_or_default();
    if JOB_TYPE_BYTES_MAX < job_type.len() {
        fields.problem(fields.at(), format!("jobType is too long: at most {JOB_TYPE_BYTES_MAX} bytes are allowed"), findings);
    }
    fields.text("delegateClass", NAME_CHARS_MAX, findings);
    let retries = fields.count("retryCount", RETRIES_MAX, findings).unwrap_or(0);
    let backoff = fields.text(BACKOFF, NAME_CHARS_MAX, findings);
    if let Some(backoff) = backoff.as_ref().filter(|backoff| !is_backoff(backoff)) {
        let example = "PT5S, PT1S,PT5S or exponential PT1S PT5M";
        fields.problem(fields.at(), format!("retryBackoff is {}, but must be such as {example}", quoted(backoff)), findings);
    }
    Kind::JobTask(JobTask {
        flavour: JobTaskFlavour::Service,
        job_type: Text::Fixed(job_type.into()),
        retries: Retries::Fixed(retries + 1),
        headers: backoff.map(|backoff| (BACKOFF.into(), backoff.into())).into_iter().collect(),
        headers_computed: Vec::new(),
        form: None,
    })
}

/// One duration, several, or two bounds.
fn is_backoff(text: &str) -> bool {
    let (durations, count): (Vec<&str>, _) = match text.trim().strip_prefix("exponential ") {
        Some(bounds) => (bounds.split_whitespace().collect(), Some(2)),
        None => (text.split(',').collect(), None),
    };
    count.is_none_or(|count| durations.len() == count)
        && durations.iter().all(|one| schedule::Span::parse(one.trim()).is_ok_and(|span| span.is_positive()))
}

fn call(fields: &mut Fields<'_>, findings: &mut Findings) -> Kind {
    let process = fields.required_text("processId", ID_CHARS_MAX, findings).unwrap_or_default();
    Kind::CallActivity(Call { process: Text::Fixed(process.into()), binding: Binding::Latest, all_in: true, all_out: true })
}

fn next(step: &mut Step, fields: &mut Fields<'_>, required: bool, findings: &mut Findings) {
    let at = fields.at();
    let next = match required {
        true => fields.required_text("nextStep", ID_CHARS_MAX, findings),
        false => fields.text("nextStep", ID_CHARS_MAX, findings).filter(|next| !next.is_empty()),
    };
    step.ways.extend(next.map(|to| Way { at, field: "nextStep", to: to.into(), condition: Condition::None }));
}

fn decision(step: &mut Step, fields: &mut Fields<'_>, findings: &mut Findings) {
    if !fields.has("conditionalNextSteps") {
        return fields.missing("conditionalNextSteps", findings);
    }
    let branches = fields.object("conditionalNextSteps", findings);
    if branches.is_some_and(<[Member]>::is_empty) {
        fields.problem(fields.at(), "conditionalNextSteps must not be empty", findings);
    }
    let mut conditions = HashSet::new();
    for Member { at, name, value } in branches.unwrap_or_default() {
        let Value::Text(to) = &value.value else {
            fields.mistyped(value.at, &format!("conditionalNextSteps[{}]", quoted(name)), "the id of a step", findings);
            continue;
        };
        if !conditions.insert(name) {
            fields.problem(*at, format!("the condition {} is there twice", quoted(name)), findings);
        }
        let condition = feel::parse_workflow(name)
            .map_err(|error| fields.problem(*at, format!("the condition {} cannot be read: {error}", quoted(name)), findings));
        let condition = condition.map_or(Condition::Refused, Condition::Read);
        step.ways.push(Way { at: *at, field: "conditionalNextSteps", to: to.as_str().into(), condition });
    }
}

fn transformations(fields: &mut Fields<'_>, findings: &mut Findings) -> Vec<(Arc<str>, Text)> {
    if !fields.has("transformations") {
        fields.missing("transformations", findings);
        return Vec::new();
    }
    let entries = fields.object("transformations", findings);
    if entries.is_some_and(<[Member]>::is_empty) {
        fields.problem(fields.at(), "transformations must not be empty", findings);
    }
    let mut read: Vec<(Arc<str>, Text)> = Vec::new();
    let mut names = HashSet::new();
    for Member { at, name, value } in entries.unwrap_or_default() {
        if name.is_empty() || NAME_CHARS_MAX < name.chars().count() {
            fields.problem(*at, format!("the name of a variable has 1 to {NAME_CHARS_MAX} characters"), findings);
        }
        if let Err(reason) = expression::variable("the name", name) {
            fields.problem(*at, format!("transformations: {reason}"), findings);
        }
        if !names.insert(name) {
            fields.problem(*at, format!("transformations.{name} is there twice"), findings);
        }
        match source(value) {
            Ok(source) => read.push((name.as_str().into(), source)),
            Err(reason) => fields.problem(value.at, format!("transformations.{name}: {reason}"), findings),
        }
    }
    read
}

/// A text `${…}` is an expression, anything else stands for itself.
fn source(value: &Node) -> Result<Text, String> {
    let Value::Text(text) = &value.value else { return Ok(Text::Fixed(value.to_json().into())) };
    let Some(inside) = text.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
        return Ok(Text::Fixed(value.to_json().into()));
    };
    // `${a} + ${b}` has the braces of its first and last variable.
    let parsed = feel::parse_workflow(inside).or_else(|error| feel::parse_workflow(text.trim()).map_err(|_| error));
    parsed.map(Text::Computed).map_err(|error| format!("the expression {} cannot be read: {error}", quoted(inside)))
}

fn branches(step: &mut Step, fields: &mut Fields<'_>, findings: &mut Findings) {
    let given = fields.has("parallelNextSteps");
    let nodes = fields.list("parallelNextSteps", findings);
    let mut named = HashSet::new();
    for node in nodes {
        match &node.value {
            Value::Text(to) => {
                if !named.insert(to) {
                    fields.problem(node.at, format!("parallelNextSteps names {} twice", quoted(to)), findings);
                }
                let to = to.as_str().into();
                step.ways.push(Way { at: node.at, field: "parallelNextSteps", to, condition: Condition::None });
            }
            _ => fields.mistyped(node.at, "parallelNextSteps", "a list of step ids", findings),
        }
    }
    if given && nodes.len() < 2 {
        fields.problem(fields.at(), "parallelNextSteps needs at least two steps", findings);
    }
    let at = fields.at();
    let join = fields.required_text("joinStep", ID_CHARS_MAX, findings);
    step.join = join.map(|to| Way { at, field: "joinStep", to: to.into(), condition: Condition::None });
}

fn boundaries(step: &mut Step, fields: &mut Fields<'_>, findings: &mut Findings) {
    if !fields.has("boundaryEvents") {
        return;
    }
    for (index, node) in fields.list("boundaryEvents", findings).iter().enumerate() {
        let path = format!("boundaryEvents[{index}]");
        let Some(mut event) = Fields::of(node, &path, findings) else { continue };
        event.owned_by(&step.id);
        match event.required_text("type", NAME_CHARS_MAX, findings).as_deref() {
            Some("TIMER") | None => {}
            Some(other) => event.problem(node.at, format!("{path}.type {} is none: only TIMER is", quoted(other)), findings),
        }
        let duration = event.required_text("duration", NAME_CHARS_MAX, findings);
        if let Some(Err(reason)) = duration.as_deref().map(|duration| timer::check(TimerKind::Duration, duration)) {
            event.problem(node.at, format!("{path}.duration: {reason}"), findings);
        }
        let interrupting = event.flag("interrupting", findings).unwrap_or(false);
        let to = event.required_text("targetStepId", ID_CHARS_MAX, findings);
        event.refuse_others(findings);
        let text = Text::Fixed(duration.unwrap_or_default().into());
        let trigger = Trigger::Timer(TimerTrigger { kind: TimerKind::Duration, text });
        let to = to.unwrap_or_default().into();
        step.boundaries.push(Boundary { at: node.at, catch: Catch { trigger, interrupting }, to });
    }
}
