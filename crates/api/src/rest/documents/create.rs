//! Files that come in, part by part, each hashed on its way.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use engine::InstanceKey;
use sha2::{Digest, Sha256};
use store::Millis;
use store::documents::{Document, PART_BYTES};

use super::super::answer;
use super::super::call::Call;
use super::super::describe::Kind;
use super::super::layout::{Cell, Layout, column};
use super::super::multipart::Head;
use super::super::shape::{self, Fields, Shape, field};
use super::super::time;
use super::super::upload::Form;
use super::{Name, REFERENCE, asked};
use crate::error::{Failure, Reason};
use crate::{document, label};

/// Bytes of what is said about files.
const METADATA_BYTES_MAX: usize = 256 * 1024;
/// Characters of an id that a caller gives.
const ID_CHARS_MAX: usize = 256;

pub(in crate::rest) static METADATA: Shape = Shape {
    name: "DocumentMetadata",
    fields: &[
        field("contentType", Kind::Text, "Its media type; that of the part if left out"),
        field("fileName", Kind::Text, "Its name; that of the part if left out"),
        field("expiresAt", Kind::Time, "When it is to be gone; never if left out"),
        field("size", Kind::Int64, "Its bytes, which are counted anyway"),
        field("processDefinitionId", Kind::Text, "The process it belongs to"),
        field("processInstanceKey", Kind::Key, "The process instance it belongs to"),
        field("customProperties", Kind::Object, "Whatever else is to be known of it"),
    ],
};

static METADATA_LIST: Shape =
    Shape { name: "DocumentMetadataList", fields: &[field("metadataList", Kind::FieldsList(&METADATA), "One for each file")] };

pub(super) struct Batch {
    created: Vec<Document>,
    failed: Vec<Failed>,
}

struct Failed {
    file_name: String,
    failure: Failure,
}

pub(super) static BATCH: Layout<Batch> = Layout {
    name: "DocumentCreationBatchResponse",
    columns: &[
        column("failedDocuments", Kind::NestedList(&FAILED), |batch| {
            Cell::Nested(Box::new(|out| FAILED.write_list(out, &batch.failed)))
        }),
        column("createdDocuments", Kind::NestedList(&REFERENCE), |batch| {
            Cell::Nested(Box::new(|out| REFERENCE.write_list(out, &batch.created)))
        }),
    ],
};

static FAILED: Layout<Failed> = Layout {
    name: "DocumentCreationFailureDetail",
    columns: &[
        column("fileName", Kind::Text, |failed| Cell::Text(&failed.file_name)),
        column("status", Kind::Int32, |failed| Cell::Number(failed.failure.reason.http_status().into())),
        column("title", Kind::Text, |failed| Cell::Text(failed.failure.reason.title())),
        column("detail", Kind::Text, |failed| Cell::Text(&failed.failure.detail)),
    ],
};

/// A file that has come, and is no document yet.
struct Stored {
    upload: Name,
    size: u64,
    hash: String,
    file_name: Option<String>,
    content_type: Option<String>,
}

/// What is said of a file, where something is.
#[derive(Default)]
struct Metadata {
    content_type: Option<Arc<str>>,
    file_name: Option<Arc<str>>,
    expires: Option<Millis>,
    process_id: Option<Arc<str>>,
    instance: Option<InstanceKey>,
    properties: Option<String>,
}

pub(super) async fn one(call: Call) -> Result<Response, Failure> {
    let given = asked(&call)?.id;
    let mut form = call.form()?;
    let (mut file, mut metadata) = (None, Metadata::default());
    while let Some(head) = form.next().await? {
        match head.name.as_str() {
            "file" if file.is_none() => file = Some(store_file(&call, &mut form, head).await?),
            "metadata" => metadata = read_one(&call, &text(&mut form).await?)?,
            _ => {}
        }
    }
    let file = file.ok_or_else(|| Failure::unreadable("Required part 'file' is not present."))?;
    let document = finish(&call, file, metadata, given).await?;
    Ok(answer::created(REFERENCE.to_vec(&document)))
}

/// Each file by itself: those that cannot be kept are told beside the others.
pub(super) async fn batch(call: Call) -> Result<Response, Failure> {
    asked(&call)?;
    let mut form = call.form()?;
    let (mut files, mut said) = (Vec::new(), Vec::new());
    while let Some(head) = form.next().await? {
        match head.name.as_str() {
            "files" => {
                let file_name = head.file_name.clone().unwrap_or_default();
                files.push((file_name, store_file(&call, &mut form, head).await));
            }
            "metadataList" => said.extend(read_list(&call, &text(&mut form).await?)?),
            _ => {}
        }
    }
    if files.is_empty() {
        return Err(Failure::unreadable("Required part 'files' is not present."));
    }
    if !said.is_empty() && said.len() != files.len() {
        let reason = format!("There are {} files, but metadata for {}", files.len(), said.len());
        drop_all(&call, files).await;
        return Err(Failure::invalid(reason));
    }
    said.resize_with(files.len(), Metadata::default);
    let mut batch = Batch { created: Vec::new(), failed: Vec::new() };
    for ((file_name, file), metadata) in files.into_iter().zip(said) {
        let done = match file {
            Ok(file) => finish(&call, file, metadata, None).await,
            Err(failure) => Err(failure),
        };
        match done {
            Ok(document) => batch.created.push(document),
            Err(failure) => batch.failed.push(Failed { file_name, failure }),
        }
    }
    let all_went_well = batch.failed.is_empty();
    let mut response = answer::created(BATCH.to_vec(&batch));
    if !all_went_well {
        *response.status_mut() = StatusCode::MULTI_STATUS;
    }
    Ok(response)
}

async fn store_file(call: &Call, form: &mut Form, head: Head) -> Result<Stored, Failure> {
    let (upload, bytes_max) = (random_name()?, call.config().document_bytes_max as u64);
    let stored = read_file(call, form, &upload, bytes_max).await;
    if stored.is_err() {
        // What is left of it is purged some time.
        let _best_effort = call.host().store().documents().drop_upload(&upload).await;
    }
    let (size, hash) = stored?;
    Ok(Stored { upload: upload.into(), size, hash, file_name: head.file_name, content_type: head.content_type })
}

async fn read_file(call: &Call, form: &mut Form, upload: &str, bytes_max: u64) -> Result<(u64, String), Failure> {
    let store = call.host().store();
    let now = call.host().now().await?;
    let (mut size, mut hash, mut number) = (0u64, Sha256::new(), 0);
    let mut part = Vec::new();
    loop {
        let piece = form.piece(PART_BYTES - part.len()).await?;
        if let Some(piece) = &piece {
            size += piece.len() as u64;
            if bytes_max < size {
                return Err(Failure::new(
                    Reason::TooLarge,
                    format!("A document has at most {bytes_max} bytes (limits.document_bytes)"),
                ));
            }
            hash.update(piece);
            part.extend_from_slice(piece);
        }
        if part.len() == PART_BYTES || (piece.is_none() && !part.is_empty()) {
            store.documents().put_part(upload, number, std::mem::take(&mut part), now).await?;
            number += 1;
        }
        if piece.is_none() {
            let digest = hash.finalize();
            return Ok((size, digest.iter().map(|byte| format!("{byte:02x}")).collect()));
        }
    }
}

async fn finish(call: &Call, file: Stored, said: Metadata, given: Option<String>) -> Result<Document, Failure> {
    let store = call.host().store();
    let now = call.host().now().await?;
    let id = match given {
        Some(id) if id.is_empty() || ID_CHARS_MAX < id.chars().count() => {
            return Err(Failure::invalid(format!("A documentId has 1 to {ID_CHARS_MAX} characters")));
        }
        Some(id) => id,
        None => random_name()?,
    };
    let document = Document {
        tenant: call.caller.home(),
        file_name: said.file_name.or(file.file_name.map(Into::into)).unwrap_or_else(|| id.as_str().into()),
        content_type: said
            .content_type
            .or(file.content_type.map(Into::into))
            .unwrap_or_else(|| "application/octet-stream".into()),
        id: id.into(),
        upload: file.upload,
        size: file.size,
        hash: file.hash.into(),
        created: now,
        expires: said.expires,
        process_id: said.process_id,
        instance: said.instance,
        properties: said.properties.unwrap_or_else(|| "{}".to_owned()).into(),
    };
    if store.documents().finish(&document, now).await? {
        return Ok(document);
    }
    store.documents().drop_upload(&document.upload).await?;
    Err(Failure::new(Reason::AlreadyExists, format!("Document with id '{}' already exists", document.id)))
}

async fn drop_all(call: &Call, files: Vec<(String, Result<Stored, Failure>)>) {
    for file in files.into_iter().filter_map(|(_, file)| file.ok()) {
        let _best_effort = call.host().store().documents().drop_upload(&file.upload).await;
    }
}

/// A part that is no file.
async fn text(form: &mut Form) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    while let Some(piece) = form.piece(METADATA_BYTES_MAX).await? {
        bytes.extend_from_slice(&piece);
        if METADATA_BYTES_MAX < bytes.len() {
            return Err(Failure::new(Reason::TooLarge, format!("Metadata has at most {METADATA_BYTES_MAX} bytes")));
        }
    }
    String::from_utf8(bytes).map_err(|_| Failure::unreadable("Failed to read request: metadata is not UTF-8"))
}

fn read_one(call: &Call, text: &str) -> Result<Metadata, Failure> {
    metadata(shape::read(text, &METADATA, call.host().limits())?)
}

/// A list, or one after the other.
fn read_list(call: &Call, text: &str) -> Result<Vec<Metadata>, Failure> {
    let is_list = text.trim_start().starts_with('[');
    let text = if is_list { format!("{{\"metadataList\":{text}}}") } else { format!("{{\"metadataList\":[{text}]}}") };
    let list = shape::read(&text, &METADATA_LIST, call.host().limits())?.objects("metadataList");
    list.into_iter().map(metadata).collect()
}

fn metadata(mut fields: Fields<'_>) -> Result<Metadata, Failure> {
    let expires = fields.text("expiresAt").map(|text| time::read(&text, "expiresAt")).transpose()?;
    let properties = fields.document("customProperties");
    let process_id = fields.text("processDefinitionId").map(|id| label::process_id(&id)).transpose();
    Ok(Metadata {
        content_type: fields.shared("contentType").filter(|text| !text.is_empty()),
        file_name: fields.shared("fileName").filter(|text| !text.is_empty()),
        expires,
        process_id: process_id.map_err(Failure::invalid)?,
        instance: fields.key("processInstanceKey")?.map(InstanceKey),
        properties: (!properties.is_empty()).then(|| document::to_json(&properties)),
    })
}

/// A name that nobody can guess, written as a UUID of version 4.
pub(super) fn random_name() -> Result<String, Failure> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Failure::new(Reason::Internal, format!("no random numbers: {error}")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}
