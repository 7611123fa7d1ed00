//! Who called an instance, and whom it has called.

use axum::response::Response;
use engine::{ElementKey, InstanceKey};
use store::query::{Entity, Field, Filter, InstanceView, Items, LIST_MAX, Op, Page, Query, Scalar};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::{answer, search};

/// How many called instances are looked at.
const CALLED_MAX: usize = 10_000;

/// An instance of the chain of calls.
pub(super) static ENTRY: Layout<InstanceView> = Layout {
    name: "ProcessInstanceCallHierarchyEntry",
    columns: &[
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        // A process without a name goes by its id.
        column("processDefinitionName", Kind::Text, |view| Cell::Text(view.name.as_deref().unwrap_or(&view.process_id))),
    ],
};

/// From the one that began it all down to the one in the path; nothing of one that nobody called.
pub(super) async fn chain(call: Call) -> Result<Response, Failure> {
    let Items::Instances(mut chain) = search::found(&call, Entity::Instances, super::NOUN).await?.items else {
        return Ok(answer::ok(b"[]".to_vec()));
    };
    while let Some(parent) = chain.last().and_then(|view| view.parent_instance) {
        let above = instances(&call, one_of(Field::InstanceKey, &[parent.0])).await?;
        if above.is_empty() || call.host().limits().call_depth_max as usize <= chain.len() {
            break;
        }
        chain.extend(above);
    }
    if chain.len() == 1 {
        chain.clear();
    }
    chain.reverse();
    let mut out = Vec::new();
    ENTRY.write_list(&mut out, &chain);
    Ok(answer::ok(out))
}

/// These instances and all that they have called, and those again.
pub(in crate::rest) async fn with_called(call: &Call, begun: Vec<InstanceKey>) -> Result<Vec<InstanceKey>, Failure> {
    let mut all = begun;
    let mut asked = 0;
    while asked < all.len() {
        let next: Vec<u64> = all[asked..].iter().take(LIST_MAX).map(|key| key.0).collect();
        asked += next.len();
        all.extend(instances(call, one_of(Field::ParentInstanceKey, &next)).await?.iter().map(|view| view.key));
        if CALLED_MAX < all.len() {
            return Err(Failure::invalid(format!("There are more than {CALLED_MAX} called instances: search each on its own")));
        }
    }
    Ok(all)
}

/// The instances that these element instances of one instance have called.
pub(in crate::rest) async fn called_by(
    call: &Call,
    caller: InstanceKey,
    elements: &[ElementKey],
) -> Result<Vec<InstanceKey>, Failure> {
    let by_caller = one_of(Field::ParentInstanceKey, &[caller.0]);
    let mut called = Vec::new();
    for elements in elements.chunks(LIST_MAX) {
        let keys: Vec<u64> = elements.iter().map(|key| key.0).collect();
        let filter = Filter::All(vec![by_caller.clone(), one_of(Field::ParentElementKey, &keys)]);
        called.extend(instances(call, filter).await?.iter().map(|view| view.key));
    }
    Ok(called)
}

async fn instances(call: &Call, filter: Filter) -> Result<Vec<InstanceView>, Failure> {
    let page = Page::From { from: 0, limit: CALLED_MAX as u32 + 1 };
    let query = Query { filter, page, ..Query::of(Entity::Instances, call.caller.tenants()) };
    match call.host().store().search(&query).await?.items {
        Items::Instances(views) => Ok(views),
        _ => Ok(Vec::new()),
    }
}

/// True of rows with any of these keys.
pub(in crate::rest) fn one_of(field: Field, keys: &[u64]) -> Filter {
    let some = |keys: &[u64]| Filter::Is(field, Op::In(keys.iter().map(|key| Scalar::Int(*key as i64)).collect()));
    Filter::Any(keys.chunks(LIST_MAX).map(some).collect())
}
