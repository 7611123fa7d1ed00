//! Resources: deployed files that are no process, and the deletion of anything deployed.

use axum::http::Method;
use axum::response::Response;
use store::log::{Answer, Code, Command, Rejection};
use store::row::Resource;

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty};
use super::operation::{Input, Operation, Output};
use super::process_instances::check_reference;
use super::shape::{Shape, existing, field};
use crate::error::{self, Failure};

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v2/resources/{resourceKey}",
        id: "getResource",
        summary: "A deployed file",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { Ok(answer::ok(LAYOUT.to_vec(&resource(&call).await?))) }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/resources/{resourceKey}/content",
        id: "getResourceContent",
        summary: "The content of a deployed file",
        input: Input::None,
        query: &[],
        output: Output::Text("application/octet-stream"),
        failures: &[404],
        run: |call| {
            Box::pin(async move { Ok(answer::text("application/octet-stream", resource(&call).await?.content.to_vec())) })
        },
    },
    Operation {
        method: Method::POST,
        path: "/v2/resources/{resourceKey}/deletion",
        id: "deleteResource",
        summary: "Delete a process definition that has no running instances, or decision requirements with their decisions",
        input: Input::Optional(&DELETION),
        query: &[],
        output: Output::Object(&DELETED),
        failures: &[404, 409, 504],
        run: |call| Box::pin(delete(call)),
    },
];

static DELETION: Shape = Shape {
    name: "DeleteResourceRequest",
    fields: &[
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more"),
        field("deleteHistory", Kind::Boolean, "Not supported yet"),
    ],
};

static LAYOUT: Layout<Resource> = Layout {
    name: "ResourceResult",
    columns: &[
        column("resourceName", Kind::Text, |resource| Cell::Text(&resource.name)),
        column("version", Kind::Int32, |_| Cell::Number(1)),
        empty("versionTag", Kind::Text),
        column("resourceId", Kind::Text, |resource| Cell::Text(&resource.name)),
        column("tenantId", Kind::Text, |resource| Cell::Text(&resource.tenant)),
        column("resourceKey", Kind::Key, |resource| Cell::Key(resource.key)),
    ],
};

pub(super) static DELETED: Layout<u64> = Layout {
    name: "DeleteResourceResponse",
    columns: &[column("resourceKey", Kind::Key, |key| Cell::Key(*key)), empty("batchOperation", Kind::Object)],
};

async fn resource(call: &Call) -> Result<Resource, Failure> {
    let key = existing(call.key()?);
    let resource = call.host().store().resource(key).await?;
    resource.ok_or_else(|| {
        let reason = format!("Expected to fetch resource but no resource found with key `{key}`");
        error::rejected("FETCH", &Rejection { code: Code::NotFound, reason })
    })
}

async fn delete(call: Call) -> Result<Response, Failure> {
    let key = call.existing_key()?;
    let mut fields = call.optional(&DELETION)?;
    check_reference(fields.number("operationReference"))?;
    if fields.boolean("deleteHistory") == Some(true) {
        return Err(Failure::invalid("deleteHistory is not supported yet"));
    }
    call.submit("DELETE", Command::DeleteResource { key }, |answer| match answer {
        Answer::ResourceDeleted { key } => Some(answer::ok(DELETED.to_vec(key))),
        _ => None,
    })
    .await
}
