//! Definitions: uploaded, listed, and read as they were written.

use axum::response::Response;

use super::{commanding, given, usual_page, workflows};
use crate::error::Failure;
use crate::json::{self, Reader};
use crate::rest::answer::{self, Writing};
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::shape::{Shape, field};
use crate::rest::time;
use crate::workflow::{Definition, ListDefinitions};

pub(super) static LAYOUT: Layout<Definition> = Layout {
    name: "WorkflowDefinitionResult",
    columns: &[
        column("id", Kind::Text, |definition| Cell::Text(&definition.id)),
        column("version", Kind::Int32, |definition| Cell::Number(definition.version.into())),
        column("name", Kind::Text, |definition| Cell::Text(&definition.name)),
        optional("description", Kind::Text, |definition| Cell::maybe_text(definition.description.as_deref())),
        column("uploadedAt", Kind::Time, |definition| Cell::Time(definition.uploaded)),
    ],
};

pub(super) struct Page {
    pub(super) items: Vec<Definition>,
    page: u32,
    page_size: u32,
    total: u64,
}

pub(super) static LISTED: Layout<Page> = Layout {
    name: "WorkflowDefinitionPage",
    columns: &[
        column("items", Kind::NestedList(&LAYOUT), |page| Cell::Nested(Box::new(|out| LAYOUT.write_list(out, &page.items)))),
        column("page", Kind::Int32, |page| Cell::Number(page.page.into())),
        column("pageSize", Kind::Int32, |page| Cell::Number(page.page_size.into())),
        column("total", Kind::Int64, |page| Cell::Number(page.total as i64)),
    ],
};

/// For the description only: what is answered is the document itself.
pub(super) static DOCUMENT: Shape = Shape {
    name: "WorkflowDocument",
    fields: &[
        field("id", Kind::Text, "").required(),
        field("version", Kind::Int32, "Given by the server").required(),
        field("uploadedAt", Kind::Time, "Given by the server").required(),
        field("name", Kind::Text, "").required(),
        field("description", Kind::Text, ""),
        field("steps", Kind::Any, "The steps, the first first").required(),
        field("autoStartNextWorkflow", Kind::Boolean, ""),
        field("nextWorkflowId", Kind::Text, ""),
        field("metadata", Kind::Object, "Whatever its author wants to keep with it"),
    ],
};

pub(super) async fn upload(call: Call) -> Result<Response, Failure> {
    let definition = commanding(&call)?.upload(&call.body).await?;
    Ok(answer::created(LAYOUT.to_vec(&definition)))
}

pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters()?;
    let (page, page_size) = usual_page(&parameters)?;
    let list = ListDefinitions { keyword: given(&parameters, "keyword").map(str::to_owned), page, page_size };
    let room = call.room(call.config().page_bytes_max).await?;
    let listed = workflows(&call).definitions(&list).await?;
    let mut writing = Writing::new(room);
    LISTED.write(writing.out(), &Page { items: listed.items, page, page_size, total: listed.total });
    writing.finish()
}

pub(super) async fn get(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("definitionId")?;
    document(&call, &id, None).await
}

pub(super) async fn get_version(call: Call) -> Result<Response, Failure> {
    let (id, version) = named(&call)?;
    document(&call, &id, Some(version)).await
}

pub(super) async fn drawn(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("definitionId")?;
    xml(&call, &id, None).await
}

pub(super) async fn drawn_version(call: Call) -> Result<Response, Failure> {
    let (id, version) = named(&call)?;
    xml(&call, &id, Some(version)).await
}

async fn xml(call: &Call, id: &str, version: Option<i32>) -> Result<Response, Failure> {
    call.parameters()?;
    let _room = call.room(call.config().page_bytes_max).await?;
    Ok(answer::content("text/xml", workflows(call).drawn(id, version).await?))
}

fn named(call: &Call) -> Result<(String, i32), Failure> {
    let (id, version) = (call.parameter("definitionId")?, call.parameter("version")?);
    let number = version.parse().ok().filter(|number| 0 < *number);
    let number = number.ok_or_else(|| Failure::not_found(format!("There is no version '{version}' of definition '{id}'")))?;
    Ok((id, number))
}

async fn document(call: &Call, id: &str, version: Option<i32>) -> Result<Response, Failure> {
    call.parameters()?;
    let room = call.room(call.config().page_bytes_max).await?;
    let definition = workflows(call).definition(id, version).await?;
    let mut writing = Writing::new(room);
    write_document(writing.out(), &definition)?;
    writing.finish()
}

/// The document as it was written, member by member, with what the server knows of it in front.
fn write_document(out: &mut Vec<u8>, definition: &Definition) -> Result<(), Failure> {
    let head = format!("{{\"version\":{},\"uploadedAt\":\"{}\"", definition.version, time::written(definition.uploaded));
    out.extend_from_slice(head.as_bytes());
    let text = definition.document.as_deref().unwrap_or_default();
    Reader::new(text).object(|name, reader| {
        let value = reader.compact()?;
        if name != "version" && name != "uploadedAt" {
            out.push(b',');
            json::write_text(out, &name);
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
        Ok::<_, Failure>(())
    })?;
    out.push(b'}');
    Ok(())
}
