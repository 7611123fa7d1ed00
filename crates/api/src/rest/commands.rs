//! What became of a command that was answered before it was done.

use axum::http::Method;
use axum::response::Response;
use engine::Document;
use host::CommandOutcome;
use store::log::Answer;

use super::call::Call;
use super::decision_evaluation::EVALUATED;
use super::deployments::DEPLOYED;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::messages::{CORRELATED, PUBLISHED};
use super::operation::{Input, Operation, Output};
use super::process_instances::{CREATED, Outcome};
use super::resources::DELETED;
use super::shape::existing;
use super::{answer, batch_operations, conditionals, executions};
use crate::error::{Failure, Reason};

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::GET,
    path: "/v1/commands/{commandPosition}",
    id: "getCommand",
    summary: "What became of a command sent with `Prefer: respond-async`",
    input: Input::None,
    query: &[],
    output: Output::Object(&LAYOUT),
    failures: &[404],
    run: |call| Box::pin(get(call)),
}];

static LAYOUT: Layout<CommandOutcome> = Layout {
    name: "CommandResult",
    columns: &[
        column("commandPosition", Kind::Key, |outcome| Cell::Key(outcome.position)),
        column("command", Kind::Text, |outcome| Cell::Text(&outcome.kind)),
        column("creationTime", Kind::Time, |outcome| Cell::Time(outcome.at)),
        column("state", Kind::Word(&["PENDING", "DONE", "REJECTED"]), |outcome| Cell::Text(state(outcome))),
        optional("rejectionType", Kind::Text, |outcome| match &outcome.answer {
            Some(Answer::Rejected(rejection)) => Cell::Text(Reason::from(rejection.code).title()),
            _ => Cell::Null,
        }),
        optional("rejectionReason", Kind::Text, |outcome| match &outcome.answer {
            Some(Answer::Rejected(rejection)) => Cell::Text(&rejection.reason),
            _ => Cell::Null,
        }),
        // What the command itself would have answered with.
        optional("result", Kind::Object, |outcome| result(outcome.answer.as_ref())),
    ],
};

async fn get(call: Call) -> Result<Response, Failure> {
    let position = existing(call.key()?);
    let outcome = call.host().command(position).await.map_err(|error| Failure::of_command("GET", error))?;
    let outcome = outcome.ok_or_else(|| Failure::not_found(format!("Command with position '{position}' not found")))?;
    Ok(answer::ok(LAYOUT.to_vec(&outcome)))
}

fn state(outcome: &CommandOutcome) -> &'static str {
    match &outcome.answer {
        None => "PENDING",
        Some(Answer::Rejected(_)) => "REJECTED",
        Some(_) => "DONE",
    }
}

fn result(answer: Option<&Answer>) -> Cell<'_> {
    match answer {
        Some(Answer::Deployed(deployed)) => Cell::Nested(Box::new(|out| DEPLOYED.write(out, deployed))),
        Some(Answer::ResourceDeleted { key }) => Cell::Nested(Box::new(|out| DELETED.write(out, key))),
        Some(Answer::Created(created)) => {
            let outcome = Outcome { created: created.clone(), variables: Document::new() };
            Cell::Nested(Box::new(move |out| CREATED.write(out, &outcome)))
        }
        Some(Answer::Evaluated(evaluated)) => Cell::Nested(Box::new(|out| EVALUATED.write(out, evaluated))),
        Some(answer @ Answer::Published { .. }) => Cell::Nested(Box::new(|out| PUBLISHED.write(out, answer))),
        Some(answer @ Answer::Correlated { .. }) => Cell::Nested(Box::new(|out| CORRELATED.write(out, answer))),
        Some(answer @ Answer::Started { .. }) => Cell::Nested(Box::new(|out| conditionals::EVALUATED.write(out, answer))),
        Some(Answer::Submitted(submitted)) => {
            Cell::Nested(Box::new(|out| executions::SUBMITTED.write(out, &submitted.executions)))
        }
        Some(answer @ Answer::BatchStarted { .. }) => Cell::Nested(Box::new(|out| batch_operations::CREATED.write(out, answer))),
        Some(
            Answer::Done
            | Answer::VariablesSet { .. }
            | Answer::Activated(_)
            | Answer::Listening(_)
            | Answer::Going { .. }
            | Answer::CompletedExecutions(_)
            | Answer::Reported(_)
            | Answer::Rejected(_),
        )
        | None => Cell::Null,
    }
}
