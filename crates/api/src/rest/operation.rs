//! What is served, as data: the router and `/openapi.json` are both built from the operations of the resource files.

use axum::http::Method;
use axum::response::Response;
use futures_util::future::BoxFuture;

use super::call::Call;
use super::describe::Described;
use super::search::Table;
use super::shape::{Field, Shape};
use crate::error::Failure;

pub(super) type Running = BoxFuture<'static, Result<Response, Failure>>;

pub(super) struct Operation {
    pub(super) method: Method,
    /// From the root, parameters in braces. The first is the one that handlers of one parameter mean.
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) input: Input,
    /// Parameters after the question mark.
    pub(super) query: &'static [Field],
    pub(super) output: Output,
    /// Why it may fail, beyond what every operation may answer.
    pub(super) failures: &'static [u16],
    pub(super) run: fn(Call) -> Running,
}

pub(super) enum Input {
    None,
    /// A body may be left out.
    Optional(&'static Shape),
    Required(&'static Shape),
    Search(&'static Table),
    /// What to count, in the words of a search.
    Filter(&'static Table),
    /// Files and fields of a form.
    Files,
    /// The same, read as it comes; what is said of a file.
    Upload(&'static Shape),
    /// Any JSON object, which the operation reads itself; what it is, and whether it must be there.
    Json(&'static str, bool),
    /// JSON of which nothing is read.
    Ignored,
}

pub(super) enum Output {
    Object(&'static dyn Described),
    /// 201 with what is new.
    Created(&'static dyn Described),
    /// The same, or 200 with what was there before.
    CreatedOrThere(&'static dyn Described),
    /// 201 with what is new, or 207 where not all of it is.
    CreatedInPart(&'static dyn Described),
    /// No content where there is none.
    ObjectOrNothing(&'static dyn Described),
    /// A page of what a search found.
    Page(&'static dyn Described),
    List(&'static dyn Described),
    /// A list, as `items` of an object.
    Items(&'static dyn Described),
    NoContent,
    /// Text of this media type.
    Text(&'static str),
    /// A file as it is, of whatever media type.
    File,
}

impl Operation {
    /// The name of the first parameter in the path, and which segment it is.
    pub(super) fn parameter(&self) -> Option<(usize, &'static str)> {
        self.parameters().next()
    }

    pub(super) fn parameters(&self) -> impl Iterator<Item = (usize, &'static str)> {
        self.path.split('/').enumerate().filter_map(|(index, segment)| {
            let name = segment.strip_prefix('{')?.strip_suffix('}')?;
            Some((index, name))
        })
    }

    /// Whether it puts a command into the log: such operations honour `Prefer: respond-async` and `Idempotency-Key`. A poll for jobs
    /// does not: its answer is what it is for. Nor does an expression on its own, which leaves no trace, nor a clock that is moved.
    pub(super) fn is_command(&self) -> bool {
        let is_read = matches!(self.input, Input::Search(_) | Input::Filter(_))
            || self.path.contains("/statistics/")
            || self.path.ends_with("/search")
            || self.method == Method::GET;
        let moves_clock = self.path.contains("/clock");
        !is_read
            && !moves_clock
            && !matches!(self.input, Input::Upload(_))
            && !self.path.starts_with("/v2/documents")
            && !super::workflows::owns(self.path)
            && !matches!(self.path, "/v2/jobs/activation" | "/v2/expression/evaluation" | "/v1/backup" | "/v1/purge")
    }

    /// Whether a second request with the same key gets the first answer again.
    pub(super) fn takes_idempotency_key(&self) -> bool {
        let changes_workflow = super::workflows::owns(self.path) && self.method == Method::POST && self.path != "/v1/jobs/poll";
        self.is_command() || changes_workflow
    }

    /// The media type of a success.
    pub(super) fn produces(&self) -> &'static str {
        match self.output {
            Output::Text(media) => media,
            Output::Object(_)
            | Output::Created(_)
            | Output::CreatedOrThere(_)
            | Output::CreatedInPart(_)
            | Output::ObjectOrNothing(_)
            | Output::Page(_)
            | Output::List(_)
            | Output::Items(_)
            | Output::NoContent => "application/json",
            Output::File => "application/octet-stream",
        }
    }
}

/// Every operation, resource by resource.
pub(super) fn all() -> impl Iterator<Item = &'static Operation> {
    [
        super::cluster::OPERATIONS,
        super::deployments::OPERATIONS,
        super::process_definitions::OPERATIONS,
        super::decision_definitions::OPERATIONS,
        super::decision_requirements::OPERATIONS,
        super::decision_instances::OPERATIONS,
        super::expressions::OPERATIONS,
        super::process_instances::OPERATIONS,
        super::element_instances::OPERATIONS,
        super::variables::OPERATIONS,
        super::jobs::OPERATIONS,
        super::incidents::OPERATIONS,
        super::messages::OPERATIONS,
        super::signals::OPERATIONS,
        super::conditionals::OPERATIONS,
        super::timers::OPERATIONS,
        super::waits::OPERATIONS,
        super::clock::OPERATIONS,
        super::user_tasks::OPERATIONS,
        super::forms::OPERATIONS,
        super::resources::OPERATIONS,
        super::commands::OPERATIONS,
        super::workflows::OPERATIONS,
        super::backup::OPERATIONS,
        super::executions::OPERATIONS,
        super::actions::OPERATIONS,
        super::policies::OPERATIONS,
        super::batch_operations::OPERATIONS,
        super::batch_operations::START,
        super::audit::OPERATIONS,
        super::documents::OPERATIONS,
        super::global_listeners::OPERATIONS,
        super::workflows::leases::OPERATIONS,
        super::dead_letters::OPERATIONS,
        super::schedules::OPERATIONS,
        super::purge::OPERATIONS,
    ]
    .into_iter()
    .flatten()
    .chain(super::statistics::operations())
}
