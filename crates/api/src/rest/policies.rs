//! Policies: how many jobs of an action run at once, how many wait, and whether it is paused.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use queue::policy::{self, Concurrency, Policy, QUEUE_LENGTH_DEFAULT, Scope};
use store::log::{Answer, Command, PutPolicy};
use store::row::PolicyVersion;

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::shape::{Fields, Shape, field};
use super::{answer, path};
use crate::error::Failure;
use crate::json;

const SCOPES: &[&str] = &["GLOBAL", "TENANT", "ACTION"];
const METHODS: &[&str] = &["ENQUEUE", "CANCEL"];

/// Bytes of the name of a policy.
const REFERENCE_BYTES_MAX: usize = 256;
/// Names of variables that tell groups apart.
const PARAMETERS_MAX: usize = 10;

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
        method: Method::PUT,
        path: "/v1/policies/{policyRef}",
        id: "putPolicy",
        summary: "Make or change a policy; it holds at once",
        input: Input::Required(&POLICY),
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

static POLICY: Shape = Shape {
    name: "PolicyRequest",
    fields: &[
        field("scope", Kind::Word(SCOPES), "Which actions it is for: all, those of a tenant, or one").required(),
        field("action", Kind::Text, "Which action"),
        field("tenantId", Kind::Text, "Which tenant"),
        field("priority", Kind::Int32, "Of two of the same scope the higher one applies"),
        field("concurrency", Kind::Fields(&CONCURRENCY), "How many jobs run at once"),
        field("queue", Kind::Fields(&QUEUE), "How many jobs wait"),
        field("paused", Kind::Boolean, "Whether no job is handed out"),
    ],
};

static CONCURRENCY: Shape = Shape {
    name: "PolicyConcurrency",
    fields: &[
        field("limit", Kind::Int32, "At most so many, 1 or more").required(),
        field("parameters", Kind::Texts, "Names of variables: so many for each of their values"),
        field("method", Kind::Word(METHODS), "What becomes of one that finds no slot: it waits, or it is refused"),
    ],
};

static QUEUE: Shape = Shape {
    name: "PolicyQueue",
    fields: &[field("maxLength", Kind::Int64, "At most so many wait, 1 or more; 10,000 if left out")],
};

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
    let policy = policy(&mut call.required(&POLICY)?)?;
    call.submit("PUT", Command::PutPolicy(PutPolicy { reference, policy }), done).await
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

fn policy(fields: &mut Fields<'_>) -> Result<Policy, Failure> {
    let (action, tenant) = (fields.shared("action"), fields.shared("tenantId"));
    let scope = match (fields.word("scope"), action, tenant) {
        (Some("GLOBAL"), None, None) => Scope::Global,
        (Some("TENANT"), None, Some(tenant)) => Scope::Tenant(tenant),
        (Some("ACTION"), Some(action), None) => Scope::Action(action),
        (None, _, _) => return Err(Failure::invalid("No scope provided.")),
        (Some(_), _, _) => {
            let reason = "A policy of scope ACTION names an action, one of scope TENANT a tenantId, one of scope GLOBAL neither";
            return Err(Failure::invalid(reason));
        }
    };
    Ok(Policy {
        scope,
        priority: fields.int32("priority").unwrap_or(0),
        concurrency: fields.object("concurrency").map(concurrency).transpose()?,
        queue_max: fields.object("queue").map(queue_max).transpose()?,
        paused: fields.boolean("paused").unwrap_or(false),
    })
}

fn concurrency(mut fields: Fields<'_>) -> Result<Concurrency, Failure> {
    let limit = fields.int32("limit").ok_or_else(|| Failure::invalid("No concurrency.limit provided."))?;
    let limit = u32::try_from(limit).ok().filter(|limit| 0 < *limit);
    let limit = limit
        .ok_or_else(|| Failure::invalid("The value for concurrency.limit must be greater than 0: pause what is not to run."))?;
    let parameters = fields.texts("parameters");
    if PARAMETERS_MAX < parameters.len() || parameters.iter().any(|name| name.is_empty()) {
        return Err(Failure::invalid(format!("concurrency.parameters are at most {PARAMETERS_MAX} names of variables")));
    }
    let method = match fields.word("method") {
        Some("CANCEL") => policy::Method::Cancel,
        Some(_) | None => policy::Method::Enqueue,
    };
    Ok(Concurrency { limit, parameters, method })
}

fn queue_max(mut fields: Fields<'_>) -> Result<u64, Failure> {
    let most = fields.number("maxLength").map(u64::try_from);
    match most {
        None => Ok(QUEUE_LENGTH_DEFAULT),
        Some(Ok(most)) if 0 < most => Ok(most),
        Some(_) => Err(Failure::invalid("The value for queue.maxLength must be greater than 0.")),
    }
}

static LAYOUT: Layout<PolicyVersion> = Layout {
    name: "PolicyResult",
    columns: &[
        column("ref", Kind::Text, |version| Cell::Text(&version.reference)),
        column("version", Kind::Int32, |version| Cell::Number(version.version.into())),
        // What a PUT would say; null where it was deleted.
        optional("policy", Kind::Object, |version| {
            Cell::maybe(version.policy.as_ref(), |policy| Cell::Nested(Box::new(|out| write(out, policy))))
        }),
        column("changedAt", Kind::Time, |version| Cell::Time(version.changed)),
        column("changedBy", Kind::Text, |version| Cell::Text(&version.changed_by)),
    ],
};

/// In the words in which it was put.
fn write(out: &mut Vec<u8>, policy: &Policy) {
    out.push(b'{');
    let (scope, of) = match &policy.scope {
        Scope::Global => ("GLOBAL", None),
        Scope::Tenant(tenant) => ("TENANT", Some(("tenantId", tenant))),
        Scope::Action(action) => ("ACTION", Some(("action", action))),
    };
    out.extend_from_slice(format!("\"scope\":\"{scope}\"").as_bytes());
    if let Some((name, value)) = of {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        json::write_text(out, value);
    }
    out.extend_from_slice(format!(",\"priority\":{}", policy.priority).as_bytes());
    if let Some(Concurrency { limit, parameters, method }) = &policy.concurrency {
        out.extend_from_slice(format!(",\"concurrency\":{{\"limit\":{limit},\"parameters\":[").as_bytes());
        for (place, name) in parameters.iter().enumerate() {
            if 0 < place {
                out.push(b',');
            }
            json::write_text(out, name);
        }
        let method = match method {
            policy::Method::Enqueue => "ENQUEUE",
            policy::Method::Cancel => "CANCEL",
        };
        out.extend_from_slice(format!("],\"method\":\"{method}\"}}").as_bytes());
    }
    if let Some(most) = policy.queue_max {
        out.extend_from_slice(format!(",\"queue\":{{\"maxLength\":{most}}}").as_bytes());
    }
    out.extend_from_slice(format!(",\"paused\":{}}}", policy.paused).as_bytes());
}
