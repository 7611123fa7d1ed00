//! Compiled processes and decisions as plain data: elements and flows are indices, expressions are parsed, references are resolved.
//!
//! Read [`Process`] first, then [`Kind`]; [`decision`] is the same for decisions. A compiled process is immutable and may be shared between threads.
//!
//! What holds for every `Process` that `compile` produces:
//! - element 0 is the process itself, the outermost scope; every other element's `scope` has a smaller index;
//! - every index stored anywhere points into `elements` or `flows`;
//! - `outgoing` lists flows in the order in which they are taken (the reverse of the document, as Camunda 8 does it).
//!
//! Deliberately absent: parsing (that is `compile`), state of running instances (that is `engine`), any I/O.

pub mod decision;
mod event;
mod global;
mod join;
mod listener;
mod repeat;
mod user_task;

use std::sync::Arc;

use feel::Expression;

pub use decision::Requirements;
pub use event::{
    Catch, CodeCatch, Compensate, Compensated, Condition, EndEvent, EventPart, Message, Needed, Publish, Several, Throw,
    TimerKind, TimerTrigger, Trigger, VariableChange,
};
pub use global::{GlobalListener, Globals, in_order};
pub use join::{ElementSet, Join, Joins, Way};
pub use listener::{Listener, ListenerEvent};
pub use repeat::{LoopTest, MultiInstance, MultiOrder, MultiOutput, Repeat, StandardLoop};
pub use user_task::{
    ComputedHeader, Form, HeaderKind, Names, PRIORITY_DEFAULT, PRIORITY_MAX, Priority, UserTask, without_zero_seconds,
};

/// Variables whose names begin so are the engine's own: stored like any, shown to nobody, and set by nobody else.
pub const KEPT: &str = "caudal:";

/// One executable process of a deployed resource.
#[derive(Debug, Clone)]
pub struct Process {
    pub id: Arc<str>,
    pub name: Option<Arc<str>>,
    pub version_tag: Option<Arc<str>>,
    /// Element 0 is the process itself.
    pub elements: Vec<Element>,
    pub flows: Vec<Flow>,
    pub joins: Joins,
    /// What only a JSON workflow has. The results of its steps are merged into the variables, object by object.
    pub workflow: Option<Workflow>,
    /// What a person is shown who starts it.
    pub start_form: Option<StartForm>,
}

/// A form that was deployed, by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartForm {
    pub id: Arc<str>,
    pub binding: Binding,
}

/// What a JSON workflow has beyond a process.
#[derive(Debug, Clone, Default)]
pub struct Workflow {
    pub description: Option<Arc<str>>,
    /// The process that goes on with the variables when an instance has completed.
    pub next: Option<Arc<str>>,
}

/// Index into [`Process::elements`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementIx(pub u32);

/// Index into [`Process::flows`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowIx(pub u32);

/// A flow node, or the process itself.
#[derive(Debug, Clone)]
pub struct Element {
    pub id: Arc<str>,
    pub name: Option<Arc<str>>,
    pub kind: Kind,
    /// The enclosing process or sub-process; the process itself names itself.
    pub scope: ElementIx,
    pub incoming: Vec<FlowIx>,
    /// In the order in which they are taken.
    pub outgoing: Vec<FlowIx>,
    /// All input mappings as one context expression, `{a: x, b: a + 1}`; its entries become variables local to the element.
    pub inputs: Option<Expression>,
    /// All output mappings as one context expression; its entries become variables of the enclosing scope.
    pub outputs: Option<Expression>,
    /// Boundary events attached to this activity, in document order.
    pub boundaries: Vec<ElementIx>,
    /// How often this activity is done each time it is reached, if it is not once.
    pub repeat: Option<Repeat>,
    /// Jobs done while it starts or ends; most elements have none.
    pub listeners: Option<Box<[Listener]>>,
}

/// What an element is. Each variant has one file of behaviour in `engine::element`.
#[derive(Debug, Clone)]
pub enum Kind {
    /// The process itself.
    Process(Scope),
    /// An embedded sub-process.
    SubProcess(Scope),
    /// An embedded sub-process that can be cancelled: what completed in it is undone then.
    Transaction(Scope),
    /// A sub-process that an event starts while its enclosing scope is alive.
    EventSubProcess(Scope),
    /// An ad-hoc sub-process: what lies inside is started by name, any number of times.
    AdHoc(AdHoc),
    /// One run inside an ad-hoc sub-process: what lies inside that lies in this.
    AdHocRun,
    /// A start event: without a trigger it is where its scope begins, with one it waits for it.
    StartEvent(Option<Catch>),
    EndEvent(EndEvent),
    /// An intermediate throw event; without anything to throw it passes straight through.
    ThrowEvent(Option<Throw>),
    /// An intermediate catch event.
    CatchEvent(Trigger),
    /// A task that waits for a message.
    ReceiveTask(Message),
    /// Waits for the first of the events behind it.
    EventGateway,
    /// Publishes a message itself; one done by a worker is a job task.
    SendTask(Publish),
    /// Runs another process.
    CallActivity(Call),
    /// An undefined or manual task: passes straight through.
    PassTask(PassTask),
    /// A task done by a worker: service, send, script, business rule, user.
    JobTask(JobTask),
    /// A task for a person, which the engine keeps itself.
    UserTask(Box<UserTask>),
    /// A script the engine evaluates itself.
    ScriptTask(Script),
    /// Sets variables of the process: each is JSON text or computed from those before the step.
    Transformation(Vec<(Arc<str>, Text)>),
    /// Waits until it is told to go on, by the id of the element.
    Wait,
    /// A business rule task that calls a decision.
    DecisionTask(DecisionTask),
    /// A link throw event: goes on at the catch event of the same name in its scope.
    LinkThrow(LinkThrow),
    /// A link catch event: where link throw events of its name lead.
    LinkCatch(Arc<str>),
    ExclusiveGateway {
        default: Option<FlowIx>,
    },
    ParallelGateway,
    InclusiveGateway(InclusiveGateway),
    ComplexGateway(ComplexGateway),
    /// Sits on an activity and catches something while that is alive.
    BoundaryEvent(Catch),
    /// Says what undoes the activity it is attached to, once that has completed.
    CompensationBoundary(Compensated),
    /// One of several definitions of an event: nothing enters it, it is waited for.
    EventPart(EventPart),
}

/// A process or sub-process: what lies inside starts at its start event.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The none start event; of an event sub-process its one start event. Absent where a process can only be entered some other way.
    pub start: Option<ElementIx>,
    /// Start events of a process that something else triggers.
    pub triggered: Vec<ElementIx>,
    /// The start events of the event sub-processes directly inside.
    pub event_starts: Vec<ElementIx>,
}

/// An ad-hoc sub-process.
#[derive(Debug, Clone)]
pub struct AdHoc {
    /// Its event sub-processes, which run beside its runs. It has no start event.
    pub scope: Scope,
    /// The element of its runs.
    pub run: ElementIx,
    /// What can be started in it: activities that no flow leads to.
    pub entries: Vec<ElementIx>,
    /// Those as a JSON list of objects, for the variable that shows them.
    pub described: Arc<str>,
    /// Ids of what is started with it.
    pub active: Option<Expression>,
    /// Looked at after each run; true ends it. Without it, it ends when a run has ended and none is left.
    pub until: Option<Expression>,
    /// Whether runs that are left are dropped when the condition is true, or waited for.
    pub drop_rest: bool,
    pub output: Option<MultiOutput>,
    /// Whose worker says what is started and when it ends; then there is neither a list nor a condition.
    pub directed: Option<Box<JobTask>>,
}

#[derive(Debug, Clone)]
pub struct LinkThrow {
    pub name: Arc<str>,
    /// Where it leads.
    pub catch: ElementIx,
}

#[derive(Debug, Clone, Default)]
pub struct InclusiveGateway {
    pub default: Option<FlowIx>,
    /// What it waits for; nothing with fewer than two incoming flows.
    pub join: Option<Join>,
}

#[derive(Debug, Clone, Default)]
pub struct ComplexGateway {
    pub default: Option<FlowIx>,
    /// When it starts, over the tokens that came (`activationCount`); without a condition at the first.
    pub activation: Option<Expression>,
    /// What it waits for before it may start again.
    pub join: Join,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassTask {
    Undefined,
    Manual,
}

#[derive(Debug, Clone)]
pub struct JobTask {
    pub flavour: JobTaskFlavour,
    /// The job type: the queue the job goes to.
    pub job_type: Text,
    /// How often a worker may try; a number or an expression.
    pub retries: Retries,
    /// Static headers handed to the worker, in document order, empty ones dropped.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
    /// Those that depend on the instance; with any, a job has headers of its own.
    pub headers_computed: Vec<ComputedHeader>,
    /// Of a task for a person: the form that was deployed, by its id; the worker gets its key.
    pub form: Option<Box<(Text, Binding)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobTaskFlavour {
    Service,
    Send,
    Script,
    BusinessRule,
    /// A message throw event that a worker does.
    Throw,
    /// A message end event that a worker does.
    End,
    User,
    /// An ad-hoc sub-process that a worker directs.
    AdHoc,
}

#[derive(Debug, Clone)]
pub struct Script {
    pub expression: Expression,
    /// The variable that takes the result.
    pub result: Arc<str>,
}

#[derive(Debug, Clone)]
pub struct DecisionTask {
    /// The id of the decision.
    pub decision: Text,
    pub binding: Binding,
    /// The variable that takes the result.
    pub result: Arc<str>,
}

/// Which version of something deployed is meant by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// The latest at the moment of the call.
    Latest,
    /// The one deployed together with the process.
    Deployment,
    /// The latest that carries this tag.
    VersionTag(Arc<str>),
}

#[derive(Debug, Clone)]
pub enum Retries {
    Fixed(i32),
    Computed(Expression),
}

/// A call activity.
#[derive(Debug, Clone)]
pub struct Call {
    /// The id of the process.
    pub process: Text,
    pub binding: Binding,
    /// Whether the called instance gets all variables the activity sees, or its local ones alone.
    pub all_in: bool,
    /// Whether all variables of the called instance come back, or those the output mappings name alone.
    pub all_out: bool,
}

/// A value that is either written out or computed (`=` in the attribute).
#[derive(Debug, Clone)]
pub enum Text {
    Fixed(Arc<str>),
    Computed(Expression),
}

/// A sequence flow.
#[derive(Debug, Clone)]
pub struct Flow {
    pub id: Arc<str>,
    pub source: ElementIx,
    pub target: ElementIx,
    pub condition: Option<Expression>,
}

impl Process {
    /// The process itself, as the outermost scope.
    pub const ROOT: ElementIx = ElementIx(0);

    pub fn element(&self, ix: ElementIx) -> &Element {
        &self.elements[ix.0 as usize]
    }

    pub fn flow(&self, ix: FlowIx) -> &Flow {
        &self.flows[ix.0 as usize]
    }

    /// The none start event instances begin at, if the process has one.
    pub fn start(&self) -> Option<ElementIx> {
        self.scope(Self::ROOT)?.start
    }

    /// What the element is as a scope, if it is one.
    pub fn scope(&self, ix: ElementIx) -> Option<&Scope> {
        match &self.element(ix).kind {
            Kind::Process(scope) | Kind::SubProcess(scope) | Kind::Transaction(scope) | Kind::EventSubProcess(scope) => {
                Some(scope)
            }
            Kind::AdHoc(ad_hoc) => Some(&ad_hoc.scope),
            _ => None,
        }
    }

    /// What an event catches, if it is one that waits for something.
    pub fn catch(&self, ix: ElementIx) -> Option<&Trigger> {
        match &self.element(ix).kind {
            Kind::StartEvent(Some(catch)) | Kind::BoundaryEvent(catch) => Some(&catch.trigger),
            Kind::CatchEvent(trigger) => Some(trigger),
            Kind::EventPart(part) => Some(&part.trigger),
            _ => None,
        }
    }

    /// The event that something waits for: of one of several definitions the event that has them.
    pub fn event(&self, ix: ElementIx) -> ElementIx {
        match &self.element(ix).kind {
            Kind::EventPart(part) => part.event,
            _ => ix,
        }
    }

    /// The element with this id, if there is one.
    pub fn find(&self, id: &str) -> Option<ElementIx> {
        // A step of a workflow may have the workflow's own id, and is meant then.
        let inside = self.elements.iter().skip(1).position(|element| &*element.id == id).map(|position| position + 1);
        let itself = self.elements.first().filter(|element| &*element.id == id).map(|_| 0);
        inside.or(itself).map(|position| ElementIx(position as u32))
    }
}
