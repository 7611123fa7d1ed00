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
use crate::budget::Held;
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
        run: |call| Box::pin(async move { Ok(answer::ok(LAYOUT.to_vec(&resource(&call).await?.0))) }),
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
            Box::pin(async move {
                let (resource, room) = resource(&call).await?;
                Ok(file("application/octet-stream", resource, room))
            })
        },
    },
    Operation {
        method: Method::POST,
        path: "/v2/resources/{resourceKey}/deletion",
        id: "deleteResource",
        summary: "Delete a process definition that has no running instances, decision requirements with their decisions, or a form",
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
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more; it means nothing to the server"),
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

/// A deployed file, with room for it.
async fn resource(call: &Call) -> Result<(Resource, Held), Failure> {
    let key = existing(call.key()?);
    read(call, key).await?.ok_or_else(|| {
        let reason = format!("Expected to fetch resource but no resource found with key `{key}`");
        error::rejected("FETCH", &Rejection { code: Code::NotFound, reason })
    })
}

/// The file with this key, if there is one, with room for it.
pub(super) async fn read(call: &Call, key: u64) -> Result<Option<(Resource, Held)>, Failure> {
    let room = call.room(call.config().deployment_bytes_max).await?;
    let resource = call.host().store().resource(key).await?.filter(|resource| call.caller.sees(&resource.tenant));
    Ok(resource.map(|resource| (resource, room)))
}

/// Answers with the content of a file, which is passed on as it is.
pub(super) fn file(media: &'static str, resource: Resource, mut room: Held) -> Response {
    room.give_back(room.bytes().saturating_sub(resource.content.len()));
    answer::content(media, room.keep(resource.content))
}

/// Answers with the file something came in.
pub(super) async fn xml(call: &Call, resource: Option<u64>) -> Result<Response, Failure> {
    let read = match resource {
        Some(key) => read(call, key).await?,
        None => None,
    };
    let (resource, room) = read.ok_or_else(|| Failure::not_found(format!("There is no file for {}", call.uri.path())))?;
    Ok(file("text/xml", resource, room))
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
