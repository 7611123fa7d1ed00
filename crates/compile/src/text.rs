//! The text notation of traces: the smallest way to write a process.
//!
//! ```text
//! # A comment.
//! start:  start -> order
//! order:  subprocess s -> ok
//! s:      start -> fork
//! fork:   parallel -> pack, label
//! pack:   task pack -> join
//!     retries 5
//!     in  item = order.item
//!     out packed = result.at
//! label:  task label -> join
//! join:   parallel -> e
//! e:      end
//! late:   error too-late on order -> call
//! call:   script note = "late: " + string(order.id) -> again
//! again:  exclusive -> ok if order.kind = "gift", bad if order.id > 100, default ok as never
//! ok:     end
//! bad:    error E42
//! ```
//!
//! A line is `id: kind arguments -> flow, flow`. Ids of flows are `source_target` (then `source_target_2`), unless a flow
//! says `as id`. Flows are taken in the order written. `start`, `end` and so on may be ids.
//!
//! | kind | is |
//! |---|---|
//! | `process` | the process itself; without this line its id is `process` |
//! | `start`, `end`, `terminate` | none start event, none end event, terminate end event |
//! | `error CODE`, `error = FEEL` | error end event |
//! | `error CODE on ID`, `error on ID` | error boundary event of one code, of all codes |
//! | `pass`, `manual` | undefined task, manual task |
//! | `throw` | intermediate throw event without a trigger |
//! | `start TRIGGER`, `start-beside TRIGGER` | start event of a process or event sub-process, interrupting or not |
//! | `catch TRIGGER` | intermediate catch event |
//! | `on ID TRIGGER`, `beside ID TRIGGER` | boundary event, interrupting or not |
//! | `throw THROWN`, `end THROWN` | intermediate throw event, end event |
//! | `receive NAME by FEEL`, `publish NAME to FEEL` | receive task; send task that publishes a message itself |
//! | `events` | event-based gateway |
//! | `call PROCESS`, `call = FEEL` | call activity; options `binding`, `only mapped-in`, `only mapped-out` |
//! | `task TYPE`, `task = FEEL` | service task with its job type; likewise `send-task`, `script-task`, `rule-task`, `user-task`,
//! | | `throw-task`, `end-task` |
//! | `script VARIABLE = FEEL` | script task |
//! | `set VARIABLE = FEEL`, `wait` | steps that only JSON workflows have: a transformation, and one that waits to be told |
//! | `exclusive`, `parallel`, `inclusive` | gateways |
//! | `complex`, `complex = FEEL` | complex gateway, with its activation condition |
//! | `link-throw NAME`, `link-catch NAME` | link events; a catch event inside a sub-process, and what follows it, says so with `in SCOPE` |
//! | `compensate`, `compensate ID` | intermediate throw event that undoes what completed beside it, or that one activity |
//! | `compensate-end`, `compensate-end ID` | the same as an end event |
//! | `compensate by HANDLER on ID` | compensation boundary event; `HANDLER` is an activity without flows |
//! | `subprocess FIRST` | embedded sub-process; inside is whatever can be reached from `FIRST`, with its boundary events |
//! | `event-subprocess FIRST`, `transaction FIRST` | event sub-process, transaction, likewise |
//! | `cancel` | cancel end event |
//! | `ad-hoc`, `ad-hoc = FEEL` | ad-hoc sub-process, with the ids of what is started at once; inside is what says `in ID`; options `until FEEL`,
//! | | `keep-rest`, `collect VARIABLE = FEEL` |
//! | `ad-hoc by TYPE` | ad-hoc sub-process that the worker of a job directs |
//!
//! TRIGGER is `any` or `all` with each trigger on a line `of TRIGGER` below (an event with several definitions), or `at DATE`, `after DURATION`, `every CYCLE` (or `= FEEL` for each), `message NAME by FEEL`, `signal NAME`, `when FEEL`
//! (`when-created`, `when-updated`), `error CODE`, `escalation CODE`, `cancel` (of a transaction), `compensation` (which starts an
//! event sub-process that undoes the completed sub-process around it). THROWN is `escalation CODE`, `signal NAME`, `message NAME to FEEL`,
//! or `several` with lines `of THROWN` below, of which the last may also be `compensate`, `compensate ID`, and of an end event `terminate`,
//! `cancel`, `error CODE`.
//!
//! `id in SCOPE: …` says outright which sub-process an element belongs to (the id of the process for none).
//! A flow is `TARGET`, `TARGET if FEEL` or `default TARGET`, each with `as ID` behind the target if wanted.
//!
//! Indented lines belong to the line above: `-> flow` (the condition runs to the end of the line, commas and all),
//! `in TARGET = FEEL`, `out TARGET = FEEL`, `inputs FEEL` and `outputs FEEL` (the whole context at once), `retries 5` or
//! `retries = FEEL`, `header KEY = VALUE`, `name TEXT`, `version-tag TEXT` (of the process), and `| text`, which goes on
//! with the line above after a line break.
//!
//! An activity is repeated by `each ITEM = FEEL` (multi-instance, parallel) or `in-turn ITEM = FEEL` (sequential), without `ITEM` where
//! nobody reads it, and below it `collect RESULTS = FEEL` (output collection and element) and `until FEEL` (completion condition); or
//! by `loop FEEL` (standard loop, tested after each time) or `loop-while FEEL` (also before the first), with `at-most 5` below it.
//!
//! `listen EVENT TYPE` or `listen EVENT = FEEL` adds a listener, and `listen-retries 5` below it says how often that may be tried. EVENT
//! is `start`, `end`, or of a user task `creating`, `assigning`, `updating`, `completing`, `canceling`.
//!
//! A word with odd characters stands between double quotes, as in FEEL.

mod ad_hoc;
mod compensation;
mod element;
mod event;
mod flow;
mod listener;
mod print;
mod repeat;
mod scopes;
mod several;
mod statement;
mod user_task;
mod words;

use model::Process;

use crate::diagnostic::{Diagnostic, Findings};
use crate::draft::{Draft, FlowOrder};
use crate::link;
use crate::xml::RESOURCE_BYTES_MAX;

pub use print::print;

/// Compiles one process in text notation.
///
/// # Errors
/// Everything that is wrong with it, in the order of the lines.
pub fn text(source: &str) -> Result<Process, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    if RESOURCE_BYTES_MAX < source.len() {
        findings.add_anonymous(0, format!("the text is too long: at most {RESOURCE_BYTES_MAX} bytes are allowed"));
        return Err(findings.diagnostics(source));
    }
    let statements = statement::split(source, &mut findings);
    let written = element::read(&statements, &mut findings);
    let draft = Draft {
        version_tag: written.version_tag,
        elements: scopes::arrange(written.elements, &written.flows, &mut findings),
        flows: written.flows,
        order: FlowOrder::AsWritten,
        start_form: None,
    };
    let process = link::link(draft, &mut findings);
    match process {
        Some(process) if findings.is_empty() => Ok(process),
        _ => Err(findings.diagnostics(source)),
    }
}
