//! Deleting finished instances, with those they called. A large one goes as an operation over many with one item, in pieces, so that
//! others do not wait for it.

use engine::InstanceKey;
use store::Error;
use store::batch::Work;
use store::log::{Answer, Caller, Code};
use store::query::{Entity, Field, Filter, InstanceView, Items, Op, Query, Scalar, Tenants};

use super::Partition;
use super::batches::DELETED_AT_ONCE;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    pub(super) fn delete_instance(&mut self, tick: &mut Tick, caller: &Caller, instance: InstanceKey) -> Result<Answer, Stop> {
        let Some(found) = self.rested.instances.get(&instance) else {
            return Err(Needs::at_rest(AtRest::Instance(instance)).into());
        };
        let Some((view, rows)) = found.as_ref().filter(|(view, _)| caller.tenants.has(&view.tenant)) else {
            return Err(super::change::gone(instance, "delete"));
        };
        if view.ended.is_none() {
            let state = view.state.word();
            let reason = format!(
                "Expected to delete process instance with key '{instance}', but it is in state '{state}': only finished ones can be \
                 deleted"
            );
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        if DELETED_AT_ONCE <= *rows && view.root == instance {
            self.start_batch(tick, caller, &Work::Delete, &is(instance));
            return Ok(Answer::Going { instance });
        }
        tick.unit.changes.instances_deleted.push(instance);
        Ok(Answer::Done)
    }

    /// With about how many rows it has.
    pub(super) async fn look_up_instance(&self, key: InstanceKey) -> Result<Option<(InstanceView, usize)>, Error> {
        let query = Query { filter: is(key), ..Query::of(Entity::Instances, Tenants::Everything) };
        let Items::Instances(views) = self.store.search(&query).await?.items else { return Ok(None) };
        let Some(view) = views.into_iter().next() else { return Ok(None) };
        let weights = self.store.weights(self.fence.partition, &[key], DELETED_AT_ONCE).await?;
        Ok(Some((view, weights.into_iter().sum())))
    }
}

fn is(instance: InstanceKey) -> Filter {
    Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(instance.0 as i64)))
}
