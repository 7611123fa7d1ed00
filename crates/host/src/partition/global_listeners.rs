//! Those who listen to all user tasks: changed by commands, every change a version of all of them. What has begun to be listened to goes on with
//! the version it began with; what begins later has the latest.

use std::sync::Arc;

use model::{GlobalListener, Globals};
use store::Error;
use store::log::{Answer, Caller, Code, PutListener};
use store::row::{GlobalListeners, Operation};

use super::Partition;
use super::tick::Tick;
use super::unit::Stop;

/// How many versions are known: as many changes may come while one thing is listened to.
const VERSIONS_MAX: usize = 1_000;

/// How many there may be.
const LISTENERS_MAX: usize = 1_000;

impl Partition {
    pub(super) fn put_listener(&mut self, tick: &mut Tick, caller: &Caller, put: &PutListener) -> Result<Answer, Stop> {
        let id = &put.listener.id;
        let mut listeners = self.globals.now().to_vec();
        let there = listeners.iter().position(|listener| listener.id == *id);
        match (there, put.is_new) {
            (Some(there), false) => listeners[there] = put.listener.clone(),
            (None, true) if listeners.len() < LISTENERS_MAX => listeners.push(put.listener.clone()),
            (None, true) => {
                let reason = format!("Expected to create a global listener, but there are {LISTENERS_MAX} already");
                return Err(Stop::refused(Code::Exhausted, reason));
            }
            (Some(_), true) => {
                let reason = format!("Expected to create a global listener with id '{id}', but there is one already");
                return Err(Stop::refused(Code::AlreadyExists, reason));
            }
            (None, false) => return Err(no_listener("update", id)),
        }
        self.change_listeners(tick, caller, listeners);
        Ok(Answer::Done)
    }

    pub(super) fn delete_listener(&mut self, tick: &mut Tick, caller: &Caller, id: &Arc<str>) -> Result<Answer, Stop> {
        let mut listeners = self.globals.now().to_vec();
        let before = listeners.len();
        listeners.retain(|listener| listener.id != *id);
        if listeners.len() == before {
            return Err(no_listener("delete", id));
        }
        self.change_listeners(tick, caller, listeners);
        Ok(Answer::Done)
    }

    /// Those of callers stay, unless they have the id of one of these.
    pub(super) fn configure_listeners(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        given: &[GlobalListener],
    ) -> Result<Answer, Stop> {
        let is_given = |id: &Arc<str>| given.iter().any(|listener| listener.id == *id);
        let of_callers = self.globals.now().iter().filter(|listener| !listener.configured && !is_given(&listener.id));
        let mut listeners: Vec<GlobalListener> = of_callers.chain(given).cloned().collect();
        if LISTENERS_MAX < listeners.len() {
            let reason = format!("Expected at most {LISTENERS_MAX} global listeners, but with those configured there are more");
            return Err(Stop::refused(Code::Exhausted, reason));
        }
        model::in_order(&mut listeners);
        if listeners != self.globals.now() {
            self.change_listeners(tick, caller, listeners);
        }
        Ok(Answer::Done)
    }

    /// Of those that the configuration put in place, changed or took away.
    pub(super) fn audit_configured(&mut self, tick: &mut Tick, caller: &Caller) {
        let Some(after) = tick.unit.changes.listeners_new.last().map(|row| row.listeners.clone()) else { return };
        let before = self.globals.now().to_vec();
        let of = |listeners: &[GlobalListener], id: &Arc<str>| listeners.iter().find(|listener| listener.id == *id).cloned();
        for listener in &after {
            match of(&before, &listener.id) {
                None => self.audit_listener(tick, caller, &listener.id, Operation::Create),
                Some(there) if there != *listener => self.audit_listener(tick, caller, &listener.id, Operation::Update),
                Some(_) => {}
            }
        }
        for listener in before.iter().filter(|listener| of(&after, &listener.id).is_none()) {
            self.audit_listener(tick, caller, &listener.id, Operation::Delete);
        }
    }

    fn change_listeners(&self, tick: &mut Tick, caller: &Caller, listeners: Vec<GlobalListener>) {
        let (version, changed_by) = (self.globals.latest() + 1, caller.name.clone());
        tick.unit.changes.listeners_new.push(GlobalListeners { version, listeners, changed: tick.now, changed_by });
    }

    /// They listen from now on.
    pub(super) fn accept_listeners(&mut self, versions: &[GlobalListeners]) {
        versions.iter().for_each(|row| self.globals.put(row.version, row.listeners.clone()));
    }

    /// Reads those there are. Only when everything is committed.
    pub(super) async fn load_listeners(&mut self) -> Result<(), Error> {
        let versions = self.store.global_listeners(self.fence.partition, VERSIONS_MAX).await?;
        self.globals = Globals::default();
        self.accept_listeners(&versions);
        Ok(())
    }
}

fn no_listener(what: &str, id: &str) -> Stop {
    Stop::not_found(format!("Expected to {what} the global listener with id '{id}', but there is none"))
}
