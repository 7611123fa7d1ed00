//! Policies: how many jobs of an action run at once, how fast they start, how many wait and how long, and whether it is paused.

mod read;
mod write;

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use store::log::{Answer, Command, PutPolicy};
use store::row::PolicyVersion;

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::{answer, path};
use crate::error::Failure;

/// Bytes of the name of a policy.
const REFERENCE_BYTES_MAX: usize = 256;

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v1/policies",
        id: "listPolicies",
        summary: "All policies",
        input: Input::None,
        query: &[],
        output: Output::Items(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(list(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/policies/{policyRef}",
        id: "getPolicy",
        summary: "A policy",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/policies/{policyRef}/versions",
        id: "listPolicyVersions",
        summary: "Every version of a policy there ever was, with who made it and when",
        input: Input::None,
        query: &[],
        output: Output::Items(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(versions(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/policies/{policyRef}/history",
        id: "getPolicyHistory",
        summary: "How a policy has changed: every version of it, with who made it and when",
        input: Input::None,
        query: &[],
        output: Output::Items(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(versions(call)),
    },
    Operation {
        method: Method::PUT,
        path: "/v1/policies/{policyRef}",
        id: "putPolicy",
        summary: "Make or change a policy; it holds at once",
        input: Input::Required(&read::POLICY),
        query: &[],
        output: Output::NoContent,
        failures: &[504],
        run: |call| Box::pin(put(call)),
    },
    Operation {
        method: Method::DELETE,
        path: "/v1/policies/{policyRef}",
        id: "deletePolicy",
        summary: "Delete a policy; its versions stay",
        input: Input::None,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(delete(call)),
    },
];

async fn list(call: Call) -> Result<Response, Failure> {
    let all = call.host().policies().await.map_err(|error| Failure::of_command("GET", error))?;
    Ok(answered(all.into_iter().filter(|version| version.policy.is_some()).collect()))
}

async fn get(call: Call) -> Result<Response, Failure> {
    let newest = found(&call).await?.pop().filter(|version| version.policy.is_some());
    let newest = newest.ok_or_else(|| none(&call))?;
    Ok(answer::ok(LAYOUT.to_vec(&newest)))
}

async fn versions(call: Call) -> Result<Response, Failure> {
    let all = found(&call).await?;
    if all.is_empty() { Err(none(&call)) } else { Ok(answered(all)) }
}

async fn found(call: &Call) -> Result<Vec<PolicyVersion>, Failure> {
    let reference = reference(call)?;
    call.host().policy_versions(&reference).await.map_err(|error| Failure::of_command("GET", error))
}

fn none(call: &Call) -> Failure {
    Failure::not_found(format!("Policy '{}' not found", call.segment()))
}

fn answered(versions: Vec<PolicyVersion>) -> Response {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"items\":");
    LAYOUT.write_list(&mut out, &versions);
    out.push(b'}');
    answer::ok(out)
}

async fn put(call: Call) -> Result<Response, Failure> {
    let reference = reference(&call)?;
    let policy = read::policy(&mut call.required(&read::POLICY)?)?;
    call.submit("PUT", Command::PutPolicy(PutPolicy { reference, policy: Box::new(policy) }), done).await
}

async fn delete(call: Call) -> Result<Response, Failure> {
    let reference = reference(&call)?;
    call.submit("DELETE", Command::DeletePolicy { reference }, done).await
}

fn done(answer: &Answer) -> Option<Response> {
    matches!(answer, Answer::Done).then(answer::no_content)
}

/// What a policy is called. A colon is for those the server makes itself.
fn reference(call: &Call) -> Result<Arc<str>, Failure> {
    let name = path::unescaped(call.segment()).filter(|name| {
        !name.trim().is_empty()
            && name.len() <= REFERENCE_BYTES_MAX
            && !name.contains([':', '/'])
            && !name.contains(char::is_control)
    });
    name.map(Into::into).ok_or_else(|| {
        Failure::invalid(format!(
            "The name of a policy has 1 to {REFERENCE_BYTES_MAX} bytes, without ':', '/' and control characters"
        ))
    })
}

static LAYOUT: Layout<PolicyVersion> = Layout {
    name: "PolicyResult",
    columns: &[
        column("ref", Kind::Text, |version| Cell::Text(&version.reference)),
        column("version", Kind::Int32, |version| Cell::Number(version.version.into())),
        // What a PUT would say; null where it was deleted.
        optional("policy", Kind::Object, |version| {
            Cell::maybe(version.policy.as_ref(), |policy| Cell::Nested(Box::new(|out| write::write(out, policy))))
        }),
        column("changedAt", Kind::Time, |version| Cell::Time(version.changed)),
        column("changedBy", Kind::Text, |version| Cell::Text(&version.changed_by)),
    ],
};
