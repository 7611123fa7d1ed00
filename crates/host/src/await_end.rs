//! Waiting for an instance's end by reading the store: for instances that ended before anybody waited, and for servers that do not
//! own the partition.

use std::sync::Arc;
use std::time::Duration;

use engine::InstanceKey;
use store::log::{Answer, Created};
use store::query::{Entity, Field, Filter, Items, Op, Page, Query, Scalar, Tenants};
use store::row::InstanceState;

use crate::handle::{Awaited, Error, Host};

/// As many variables of one scope as an answer carries.
const VARIABLES_MAX: u32 = 10_000;

/// How long to wait before looking for the second time whether an instance is gone; then twice as long each time.
const FIRST_LOOK: Duration = Duration::from_millis(10);

pub(crate) async fn from_store(host: &Host, created: Created, fetch: &[Arc<str>], timeout: Duration) -> Result<Awaited, Error> {
    let waiting = async {
        let mut wakeups = host.store().wakeups();
        loop {
            if let Some(completed) = ended(host, &created).await? {
                let variables = variables(host, &created, fetch).await?;
                return Ok(Awaited { created: created.clone(), completed, variables });
            }
            tokio::select! {
                biased;
                _ = wakeups.changed() => {}
                () = tokio::time::sleep(host.limits().poll_every) => {}
            }
        }
    };
    tokio::time::timeout(timeout, waiting).await.unwrap_or(Err(Error::Timeout))
}

/// What a caller waits for whose instance goes in turns.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Going {
    /// Its end.
    Ended,
    /// That nothing of it is left.
    Deleted,
}

/// Waits until an instance that goes in turns has gone so far. A time-out changes nothing about that.
pub(crate) async fn gone(host: &Host, instance: InstanceKey, going: Going, timeout: Duration) -> Result<Answer, Error> {
    let filter = is(Field::InstanceKey, instance.0);
    let query = Query { filter, uncounted: true, ..Query::of(Entity::Instances, Tenants::Everything) };
    let waiting = async {
        let mut patience = FIRST_LOOK;
        while let Items::Instances(found) = host.store().search(&query).await?.items
            && found.first().is_some_and(|found| going == Going::Deleted || found.ended.is_none())
        {
            tokio::time::sleep(patience).await;
            patience = (2 * patience).min(host.limits().poll_every);
        }
        Ok(Answer::Done)
    };
    tokio::time::timeout(timeout, waiting).await.unwrap_or(Err(Error::Timeout))
}

async fn ended(host: &Host, created: &Created) -> Result<Option<bool>, Error> {
    let query = query(Entity::Instances, created, is(Field::InstanceKey, created.instance.0), 1);
    let Items::Instances(found) = host.store().search(&query).await?.items else { return Ok(None) };
    Ok(found.first().and_then(|instance| match instance.state {
        InstanceState::Active | InstanceState::Suspended => None,
        InstanceState::Completed => Some(true),
        InstanceState::Terminated => Some(false),
    }))
}

async fn variables(host: &Host, created: &Created, fetch: &[Arc<str>]) -> Result<engine::Document, Error> {
    let mut of = vec![is(Field::InstanceKey, created.instance.0), is(Field::ScopeKey, created.instance.0)];
    if !fetch.is_empty() {
        let names = fetch.iter().map(|name| Scalar::Text(name.to_string())).collect();
        of.push(Filter::Is(Field::Name, Op::In(names)));
    }
    let query = query(Entity::Variables, created, Filter::All(of), VARIABLES_MAX);
    let Items::Variables(found) = host.store().search(&query).await?.items else { return Ok(Vec::new()) };
    Ok(found.into_iter().map(|variable| (variable.name.into(), variable.value.into())).collect())
}

fn is(field: Field, key: u64) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Int(key as i64)))
}

fn query(entity: Entity, created: &Created, filter: Filter, limit: u32) -> Query {
    let page = Page::From { from: 0, limit };
    Query { filter, page, ..Query::of(entity, Tenants::These(vec![created.tenant.clone()])) }
}
