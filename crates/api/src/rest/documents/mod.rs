//! Documents: files that processes speak of. Create, get, link, delete; a process has only their references.

mod content;
mod create;

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use store::Millis;
use store::documents::{Document, Link};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::shape::{Shape, field};
use crate::error::Failure;

/// The one store there is; references name it.
const STORE: &str = "caudal";
/// How long a link leads to its document unless the request says how long, and how long it may, in milliseconds.
const LINK_MILLIS_DEFAULT: i64 = 3_600_000;
const LINK_MILLIS_MAX: i64 = 7 * 24 * 3_600_000;

const OF_STORE: super::shape::Field = field("storeId", Kind::Word(&[STORE]), "The store; there is one");
const OF_HASH: super::shape::Field = field("contentHash", Kind::Text, "The hash of its content, as its reference has it");

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/documents",
        id: "createDocument",
        summary: "Put a file into the store of documents",
        input: Input::Upload(&create::METADATA),
        query: &[OF_STORE, field("documentId", Kind::Text, "The id it is to have; one is made if left out")],
        output: Output::Created(&REFERENCE),
        failures: &[409],
        run: |call| Box::pin(create::one(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/documents/batch",
        id: "createDocuments",
        summary: "Put files into the store of documents; each by itself",
        input: Input::Upload(&create::METADATA),
        query: &[OF_STORE],
        output: Output::CreatedInPart(&create::BATCH),
        failures: &[],
        run: |call| Box::pin(create::batch(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/documents/{documentId}",
        id: "getDocument",
        summary: "The content of a document",
        input: Input::None,
        query: &[OF_STORE, OF_HASH],
        output: Output::File,
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::DELETE,
        path: "/v2/documents/{documentId}",
        id: "deleteDocument",
        summary: "Delete a document",
        input: Input::None,
        query: &[OF_STORE],
        output: Output::NoContent,
        failures: &[404],
        run: |call| Box::pin(delete(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/documents/{documentId}/links",
        id: "createDocumentLink",
        summary: "A link that leads to a document for a while, whoever follows it",
        input: Input::Optional(&LINKING),
        query: &[OF_STORE, OF_HASH],
        output: Output::Created(&LINK),
        failures: &[404],
        run: |call| Box::pin(link(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/document-links/{token}",
        id: "followDocumentLink",
        summary: "The document that a link leads to",
        input: Input::None,
        query: &[],
        output: Output::File,
        failures: &[404],
        run: |call| Box::pin(follow(call)),
    },
];

static LINKING: Shape = Shape {
    name: "DocumentLinkRequest",
    fields: &[field("timeToLive", Kind::Int64, "How long it is to last, in milliseconds; an hour if left out")],
};

static REFERENCE: Layout<Document> = Layout {
    name: "DocumentReference",
    columns: &[
        column("camunda.document.type", Kind::Word(&["camunda"]), |_| Cell::Text("camunda")),
        column("storeId", Kind::Text, |_| Cell::Text(STORE)),
        column("documentId", Kind::Text, |document| Cell::Text(&document.id)),
        optional("contentHash", Kind::Text, |document| Cell::Text(&document.hash)),
        column("metadata", Kind::Nested(&METADATA), |document| Cell::Nested(Box::new(|out| METADATA.write(out, document)))),
    ],
};

static METADATA: Layout<Document> = Layout {
    name: "DocumentMetadataResponse",
    columns: &[
        column("contentType", Kind::Text, |document| Cell::Text(&document.content_type)),
        column("fileName", Kind::Text, |document| Cell::Text(&document.file_name)),
        optional("expiresAt", Kind::Time, |document| Cell::maybe(document.expires, Cell::Time)),
        column("size", Kind::Int64, |document| Cell::Number(document.size as i64)),
        optional("processDefinitionId", Kind::Text, |document| Cell::maybe_text(document.process_id.as_deref())),
        optional("processInstanceKey", Kind::Key, |document| Cell::maybe(document.instance, |key| Cell::Key(key.0))),
        column("customProperties", Kind::Object, |document| Cell::Json(&document.properties)),
    ],
};

struct Linked {
    url: String,
    expires: Millis,
}

static LINK: Layout<Linked> = Layout {
    name: "DocumentLink",
    columns: &[
        column("url", Kind::Text, |linked| Cell::Text(&linked.url)),
        column("expiresAt", Kind::Time, |linked| Cell::Time(linked.expires)),
    ],
};

/// What stands after the question mark.
#[derive(Default)]
struct Asked {
    id: Option<String>,
    hash: Option<String>,
}

fn asked(call: &Call) -> Result<Asked, Failure> {
    let mut asked = Asked::default();
    for (name, value) in call.parameters()? {
        match name.as_str() {
            "storeId" if value != STORE => {
                return Err(Failure::invalid(format!("Document store with id '{value}' does not exist")));
            }
            "documentId" => asked.id = Some(value),
            "contentHash" => asked.hash = Some(value),
            _ => {}
        }
    }
    Ok(asked)
}

fn missing(id: &str) -> Failure {
    Failure::not_found(format!("Document with id '{id}' not found"))
}

/// The document in the path, whose content the caller must know.
async fn found(call: &Call) -> Result<Document, Failure> {
    let (id, asked) = (call.parameter("documentId")?, asked(call)?);
    let store = call.host().store();
    let document =
        store.documents().get(&call.caller.home(), &id, call.host().now().await?).await?.ok_or_else(|| missing(&id))?;
    match asked.hash.filter(|hash| !hash.trim().is_empty()) {
        None => Err(Failure::invalid(format!("No document hash provided for document {id}"))),
        Some(hash) if *hash != *document.hash => {
            Err(Failure::invalid(format!("The hash of document {id} is not the provided hash {hash}")))
        }
        Some(_) => Ok(document),
    }
}

async fn get(call: Call) -> Result<Response, Failure> {
    let document = found(&call).await?;
    content::answered(&call, document)
}

async fn delete(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("documentId")?;
    asked(&call)?;
    let store = call.host().store();
    match store.documents().delete(&call.caller.home(), &id, call.host().now().await?).await? {
        true => Ok(answer::no_content()),
        false => Err(missing(&id)),
    }
}

async fn link(call: Call) -> Result<Response, Failure> {
    let document = found(&call).await?;
    let lasts = call.optional(&LINKING)?.number("timeToLive").unwrap_or(LINK_MILLIS_DEFAULT);
    if !(1..=LINK_MILLIS_MAX).contains(&lasts) {
        return Err(Failure::invalid(format!("timeToLive must be from 1 to {LINK_MILLIS_MAX} milliseconds, but is {lasts}")));
    }
    let store = call.host().store();
    let (token, expires) = (create::random_name()?, call.host().now().await? + lasts);
    let url = format!("{}/v1/document-links/{token}", call.address());
    store.documents().put_link(&Link { token: token.into(), tenant: document.tenant, id: document.id, expires }).await?;
    Ok(answer::created(LINK.to_vec(&Linked { url, expires })))
}

/// Whoever knows the link may have the document.
async fn follow(call: Call) -> Result<Response, Failure> {
    let token = call.parameter("token")?;
    let gone = || Failure::not_found("The link leads nowhere, or not any more");
    let store = call.host().store();
    let now = call.host().now().await?;
    let Link { tenant, id, .. } = store.documents().link(&token, now).await?.ok_or_else(gone)?;
    let document = store.documents().get(&tenant, &id, now).await?.ok_or_else(gone)?;
    content::answered(&call, document)
}

/// The ids of documents and of uploads.
type Name = Arc<str>;
