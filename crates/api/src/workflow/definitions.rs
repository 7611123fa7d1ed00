//! Definitions: every upload is a version, and comes back as it was written.

use std::sync::Arc;

use store::log::{Answer, Command, Deploy, DeployResource};
use store::query::{DefinitionView, Entity, Field, Filter, Items, Op, Order, Page, Query, Sort};

use super::{Listed, Workflows, is};
use crate::error::{Failure, Reason};
use crate::json::Reader;

/// One version of a workflow.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) id: String,
    pub(crate) version: i32,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// In milliseconds since 1970.
    pub(crate) uploaded: i64,
    /// The document as it was uploaded.
    pub(crate) document: Option<String>,
}

pub(crate) struct ListDefinitions {
    pub(crate) keyword: Option<String>,
    pub(crate) page: u32,
    pub(crate) page_size: u32,
}

impl Workflows {
    pub(crate) async fn upload(&self, document: &[u8]) -> Result<Definition, Failure> {
        let id = id_of(document).unwrap_or_else(|| "workflow".to_owned());
        let resource = DeployResource { name: format!("{id}.json").into(), content: Arc::from(document) };
        let deploy = Deploy { tenant: self.caller.home(), resources: vec![resource] };
        let answer = self.submit(Command::Deploy(deploy)).await.map_err(|failure| plain(failure, &id))?;
        let Answer::Deployed(deployed) = answer else { return Err(unexpected(&answer)) };
        let keys: Vec<_> = deployed.processes.iter().map(|process| is(Field::DefinitionKey, process.definition.0)).collect();
        let filter = vec![Filter::Any(keys)];
        match self.first(Entity::Definitions, filter).await? {
            Items::Definitions(views) if !views.is_empty() => self.shown(&views[0]).await,
            _ => Err(Failure::new(Reason::Internal, "The definition was stored, but cannot be read")),
        }
    }

    /// The latest version unless one is named, with its document.
    pub(crate) async fn definition(&self, id: &str, version: Option<i32>) -> Result<Definition, Failure> {
        let missing = || match version {
            Some(version) => Failure::not_found(format!("There is no version {version} of definition '{id}'")),
            None => Failure::not_found(format!("There is no definition '{id}'")),
        };
        let mut filter = vec![is(Field::ProcessId, id), is_workflow(), not_deleted()];
        filter.extend(version.map(|version| is(Field::Version, u64::try_from(version).unwrap_or(0))));
        let query = Query {
            sort: vec![Sort { field: Field::Version, order: Order::Descending }],
            ..self.query(Entity::Definitions, filter, Page::From { from: 0, limit: 1 })
        };
        match self.search(query).await?.items {
            Items::Definitions(views) if !views.is_empty() => {
                let mut definition = self.shown(&views[0]).await?;
                definition.document = Some(self.document(views[0].resource).await?);
                Ok(definition)
            }
            _ => Err(missing()),
        }
    }

    /// A version as BPMN XML with a drawing.
    pub(crate) async fn drawn(&self, id: &str, version: Option<i32>) -> Result<String, Failure> {
        let document = self.definition(id, version).await?.document.unwrap_or_default();
        // One with thousands of steps takes a while.
        let drawn = tokio::task::spawn_blocking(move || host::drawn(document.as_bytes())).await;
        let drawn = drawn.map_err(|error| Failure::new(Reason::Internal, error.to_string()))?;
        drawn.map_err(|reason| Failure::new(Reason::InvalidState, format!("The workflow cannot be drawn: {reason}")))
    }

    /// The latest version of each, by id.
    pub(crate) async fn definitions(&self, list: &ListDefinitions) -> Result<Listed<Definition>, Failure> {
        let mut filter = vec![is_workflow(), not_deleted()];
        if let Some(keyword) = list.keyword.as_deref().filter(|keyword| !keyword.is_empty()) {
            let pattern = format!("*{}*", keyword.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?"));
            let like = |field| Filter::Is(field, Op::Like(pattern.clone()));
            filter.push(Filter::Any(vec![like(Field::ProcessId), like(Field::DefinitionName)]));
        }
        let page = Page::From { from: u64::from(list.page) * u64::from(list.page_size), limit: list.page_size };
        let query = Query {
            sort: vec![Sort { field: Field::ProcessId, order: Order::Ascending }],
            latest_version: true,
            ..self.query(Entity::Definitions, filter, page)
        };
        let found = self.search(query).await?;
        let Items::Definitions(views) = found.items else { return Ok(Listed { items: Vec::new(), total: 0 }) };
        let mut items = Vec::with_capacity(views.len());
        for view in &views {
            items.push(self.shown(view).await?);
        }
        Ok(Listed { items, total: found.total })
    }

    /// What the row of a definition leaves out is kept with the workflow itself.
    async fn shown(&self, view: &DefinitionView) -> Result<Definition, Failure> {
        let row = self.host.store().definition(view.key).await?;
        let about = row.and_then(|row| row.elements.first().map(|itself| itself.headers.clone())).unwrap_or_default();
        let about: serde_json::Value = serde_json::from_str(&about).unwrap_or_default();
        let text = |name: &str| about[name].as_str().map(str::to_owned);
        Ok(Definition {
            id: view.process_id.clone(),
            version: view.version,
            name: view.name.clone().unwrap_or_default(),
            description: text("description"),
            uploaded: text("uploadedAt").and_then(|millis| millis.parse().ok()).unwrap_or_default(),
            document: None,
        })
    }

    pub(crate) async fn document(&self, resource: u64) -> Result<String, Failure> {
        let resource = self.host.store().resource(resource).await?;
        let content = resource.map(|resource| resource.content).unwrap_or_default();
        Ok(String::from_utf8_lossy(&content).trim_start_matches('\u{feff}').to_owned())
    }
}

fn not_deleted() -> Filter {
    is(Field::DefinitionState, "ACTIVE")
}

fn is_workflow() -> Filter {
    Filter::Is(Field::ResourceName, Op::Like("*.json".to_owned()))
}

/// What the document calls itself; whether it may is the compiler's to say.
fn id_of(document: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(document).ok()?;
    let mut id = None;
    let mut reader = Reader::new(text);
    let read = reader.object(|name, reader| {
        match (&*name, reader.peek()?) {
            ("id", crate::json::Kind::Text) => id = Some(reader.text()?.into_owned()),
            _ => drop(reader.compact()?),
        }
        Ok::<_, crate::json::Malformed>(())
    });
    read.ok()?;
    id.filter(|id| id.len() <= 256 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-')))
}

/// The problems alone, without the words for files.
fn plain(failure: Failure, id: &str) -> Failure {
    let prefix = format!("{id}.json: ");
    let mut lines = failure.detail.lines();
    if lines.next() != Some("Expected to deploy new resources, but:") {
        return failure;
    }
    let problems: Vec<&str> = lines.map(|line| line.strip_prefix(&prefix).unwrap_or(line)).collect();
    Failure { reason: failure.reason, detail: problems.join("\n") }
}

pub(super) fn unexpected(answer: &Answer) -> Failure {
    tracing::error!(?answer, "an answer that does not fit the command");
    Failure::new(Reason::Internal, "The server answered with something unexpected")
}
