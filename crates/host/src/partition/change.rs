//! What operators change about a running instance.

use std::sync::Arc;

use engine::{InstanceKey, Modification, Rejected};
use store::change::Change;
use store::log::{Answer, Caller, Code};

use super::Partition;
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    pub(super) fn change(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        instance: InstanceKey,
        change: &Change,
    ) -> Result<Answer, Stop> {
        if !self.runs(tick, caller, instance)? {
            return Err(gone(instance, change.kind()));
        }
        match change {
            Change::Modify(modification) => self.modify(tick, instance, modification),
            Change::Migrate(migrate) => self.migrate(tick, instance, migrate),
        }
    }

    fn modify(&mut self, tick: &mut Tick, instance: InstanceKey, modification: &Modification) -> Result<Answer, Stop> {
        let command = engine::Command::Modify(modification.clone());
        match self.step(tick, instance, &command)? {
            Ok(()) => Ok(Answer::Done),
            Err(Rejected::Invalid(reason)) => {
                let id = self.hot.get(instance).map_or(Arc::from(""), |hot| hot.definition.row.process_id.clone());
                let reason = format!("Expected to modify instance of process '{id}', but {reason}");
                Err(Stop::refused(Code::InvalidArgument, reason))
            }
            Err(_) => Err(gone(instance, "modify")),
        }
    }
}

pub(super) fn gone(instance: InstanceKey, what: &str) -> Stop {
    Stop::not_found(format!("Expected to {what} process instance, but no process instance found with key '{instance}'"))
}
