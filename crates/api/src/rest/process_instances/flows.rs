//! The flows an instance has gone along.

use std::collections::BTreeMap;

use axum::response::Response;
use engine::DefinitionKey;
use store::query::{ElementView, Entity, Field, Filter, Items, Op, Page, Query, Scalar};

use crate::error::Failure;
use crate::rest::answer;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};

/// How many element instances are looked at.
const ELEMENTS_MAX: u32 = 100_000;

pub(super) struct Taken {
    id: String,
    flow: String,
    of: ElementView,
}

pub(super) static LISTED: Layout<Vec<Taken>> = Layout {
    name: "ProcessInstanceSequenceFlowsQueryResult",
    columns: &[column("items", Kind::NestedList(&ITEM), |taken| Cell::Nested(Box::new(|out| ITEM.write_list(out, taken))))],
};

static ITEM: Layout<Taken> = Layout {
    name: "ProcessInstanceSequenceFlowResult",
    columns: &[
        column("sequenceFlowId", Kind::Text, |taken| Cell::Text(&taken.id)),
        column("processInstanceKey", Kind::Key, |taken| Cell::Key(taken.of.instance.0)),
        column("rootProcessInstanceKey", Kind::Key, |taken| Cell::Key(taken.of.root.0)),
        column("processDefinitionKey", Kind::Key, |taken| Cell::Key(taken.of.definition.0)),
        column("processDefinitionId", Kind::Text, |taken| Cell::Text(&taken.of.process_id)),
        column("elementId", Kind::Text, |taken| Cell::Text(&taken.flow)),
        column("tenantId", Kind::Text, |taken| Cell::Text(&taken.of.tenant)),
    ],
};

/// Each once, by id; nothing of an instance that is not there.
pub(super) async fn taken(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    let filter = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key)));
    let page = Page::From { from: 0, limit: ELEMENTS_MAX };
    let query = Query { filter, page, ..Query::of(Entity::Elements, call.caller.tenants()) };
    let Items::Elements(found) = call.host().store().search(&query).await?.items else {
        return Ok(answer::ok(LISTED.to_vec(&Vec::new())));
    };
    // One that was migrated has gone through several definitions.
    let mut by_definition: BTreeMap<DefinitionKey, Vec<ElementView>> = BTreeMap::new();
    found.into_iter().for_each(|view| by_definition.entry(view.definition).or_default().push(view));
    let mut taken: BTreeMap<String, Taken> = BTreeMap::new();
    for (definition, views) in by_definition {
        for flow in call.host().flows_taken(definition, &views).await.map_err(|error| Failure::of_command("request", error))? {
            let id = format!("{}_{flow}", views[0].instance.0);
            taken.insert(flow.to_string(), Taken { id, flow: flow.to_string(), of: views[0].clone() });
        }
    }
    Ok(answer::ok(LISTED.to_vec(&taken.into_values().collect())))
}
