//! Removing what is old, now.

use std::time::Duration;

use axum::http::Method;
use axum::response::Response;

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::operation::{Input, Operation, Output};
use super::shape::{Shape, field};
use crate::error::Failure;

/// How long one request goes on; who wants all of it gone asks again.
const AT_MOST: Duration = Duration::from_secs(5);

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::POST,
    path: "/v1/purge",
    id: "purge",
    summary: "Remove what is kept no longer, for five seconds at most; or count it",
    input: Input::Optional(&PURGE),
    query: &[],
    output: Output::Object(&PURGED),
    failures: &[503],
    run: |call| Box::pin(purge(call)),
}];

static PURGE: Shape = Shape {
    name: "PurgeRequest",
    fields: &[field("dryRun", Kind::Boolean, "Remove nothing, and count what would go; false if left out")],
};

/// What went, or would go.
struct Purged {
    is_done: bool,
    rows: Vec<(&'static str, u64)>,
}

static PURGED: Layout<Purged> = Layout {
    name: "PurgeResult",
    columns: &[
        column("isDone", Kind::Boolean, |purged| Cell::Boolean(purged.is_done)),
        column("items", Kind::NestedList(&ROWS), |purged| Cell::Nested(Box::new(|out| ROWS.write_list(out, &purged.rows)))),
    ],
};

static ROWS: Layout<(&'static str, u64)> = Layout {
    name: "PurgedRows",
    columns: &[
        column("what", Kind::Text, |(what, _)| Cell::Text(what)),
        column("rows", Kind::Int64, |(_, rows)| Cell::Number(*rows as i64)),
    ],
};

async fn purge(call: Call) -> Result<Response, Failure> {
    let is_dry = call.optional(&PURGE)?.boolean("dryRun").unwrap_or(false);
    let host = call.host();
    let told = |error| Failure::of_command("DELETE", error);
    let (rows, is_done) = match is_dry {
        true => (host.count_purgeable().await.map_err(told)?, false),
        false => host.purge(AT_MOST).await.map_err(told)?,
    };
    Ok(answer::ok(PURGED.to_vec(&Purged { is_done, rows: rows.into_iter().collect() })))
}
