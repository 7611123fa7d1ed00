//! Deleting finished instances, with those they called.

use engine::InstanceKey;
use store::Error;
use store::log::{Answer, Caller, Code};
use store::query::{Entity, Field, Filter, InstanceView, Items, Op, Query, Scalar, Tenants};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    pub(super) fn delete_instance(&mut self, tick: &mut Tick, caller: &Caller, instance: InstanceKey) -> Result<Answer, Stop> {
        let Some(view) = self.rested.instances.get(&instance) else {
            return Err(Needs::at_rest(AtRest::Instance(instance)).into());
        };
        let Some(view) = view.as_ref().filter(|view| caller.tenants.has(&view.tenant)) else {
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
        tick.unit.changes.instances_deleted.push(instance);
        Ok(Answer::Done)
    }

    pub(super) async fn look_up_instance(&self, key: InstanceKey) -> Result<Option<InstanceView>, Error> {
        let filter = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key.0 as i64)));
        let query = Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) };
        match self.store.search(&query).await?.items {
            Items::Instances(views) => Ok(views.into_iter().next()),
            _ => Ok(None),
        }
    }
}
