//! A call activity runs another process. Which one is meant, and running it, is the host's: the activity asks, waits in its entry for
//! the answer, and then for the end of the called instance.

use model::{Call, Kind, Process};

use crate::element::error;
use crate::expression::Trouble;
use crate::step::Run;
use crate::{
    Document, ElementKey, Event, Instance, InstanceKey, On, Phase, Rejected, Thrown, Undecided, WaitEnd, WaitKey, WaitKind,
    variables,
};

use std::sync::Arc;

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, call: &Call) -> Result<(), Trouble> {
    let process = run.text(key, &call.process, "the process id")?;
    run.emit(Event::Called { element: key, process });
    Ok(())
}

/// The variables a called instance begins with.
pub fn variables_for_child(process: &Process, instance: &Instance, element: ElementKey) -> Document {
    let Some(alive) = instance.elements.get(&element) else { return Document::new() };
    match &process.element(alive.element).kind {
        Kind::CallActivity(call) if call.all_in => variables::visible(instance, element, &[]),
        _ => alive.variables.document(),
    }
}

impl Run<'_> {
    pub(crate) fn call(&mut self, key: ElementKey, verdict: &Result<InstanceKey, Undecided>) -> Result<(), Rejected> {
        let alive = self.instance.elements.get(&key).ok_or(Rejected::NoSuchWait)?;
        if let (Kind::Process(_), Phase::Leaving, None) = (&self.element_of(key).kind, alive.phase, alive.incident) {
            return self.chained(key, verdict);
        }
        let asks = alive.phase == Phase::Entering && alive.incident.is_none();
        if !asks || !matches!(self.element_of(key).kind, Kind::CallActivity(_)) {
            return Err(Rejected::NoSuchWait);
        }
        match verdict {
            Ok(instance) => match self.activated(key) {
                Ok(()) => self.open(key, None, On::Child { instance: *instance }),
                Err(trouble) => self.raise(key, None, trouble),
            },
            Err(Undecided { kind, reason }) => self.raise(key, None, Trouble { kind: *kind, message: reason.to_string() }),
        }
        Ok(())
    }

    /// A workflow has come to its end and asked for the one that goes on after it: it ends when that can.
    fn chained(&mut self, root: ElementKey, verdict: &Result<InstanceKey, Undecided>) -> Result<(), Rejected> {
        match verdict {
            Ok(_) => self.leave(root, &[]),
            Err(Undecided { kind, reason }) => self.raise(root, None, Trouble { kind: *kind, message: reason.to_string() }),
        }
        Ok(())
    }

    pub(crate) fn child_completed(&mut self, key: ElementKey, child: InstanceKey, variables: &Document) -> Result<(), Rejected> {
        let wait = self.child_wait(key, Some(child)).ok_or(Rejected::NoSuchWait)?;
        self.close(key, wait, WaitEnd::Completed);
        let process = self.process;
        let element = process.element(self.instance.elements[&key].element);
        match &element.kind {
            Kind::CallActivity(call) if call.all_out || element.outputs.is_some() => self.finish_with(key, variables),
            _ => self.finish_later(key),
        }
        Ok(())
    }

    pub(crate) fn child_threw(
        &mut self,
        key: ElementKey,
        what: Thrown,
        code: &Arc<str>,
        variables: &Document,
    ) -> Result<(), Rejected> {
        self.child_wait(key, None).ok_or(Rejected::NoSuchWait)?;
        let catcher = error::catcher(self.process, self.instance, key, what, code).ok_or(Rejected::NoSuchWait)?;
        error::catch(self, catcher, variables);
        Ok(())
    }

    fn child_wait(&self, key: ElementKey, child: Option<InstanceKey>) -> Option<WaitKey> {
        let waits = &self.instance.elements.get(&key)?.waits;
        let is_it =
            |kind: &WaitKind| matches!(kind, WaitKind::Child { instance } if child.is_none_or(|child| child == *instance));
        waits.iter().find(|wait| is_it(&wait.kind)).map(|wait| wait.key)
    }
}
