//! The life of an element instance, written once for every kind: enter, activate, finish, drop; and the end of a scope.
//!
//! ```text
//! enter ──▶ Entering ──inputs──▶ (its kind's work) ──▶ Active ──▶ finish ──▶ Leaving ──outputs──▶ Left ──▶ flows taken
//!               │ trouble: an incident keeps it here         │ trouble: here                     │ none: may the scope end?
//! ```

use model::{Element, FlowIx, InclusiveGateway, Kind, ListenerEvent};

use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementInstance, ElementKey, Event, Outcome, Phase, Token, element, repeat};

impl Run<'_> {
    /// Maps inputs and does what the kind does on entry. Done again when an incident of entering is resolved.
    pub(crate) fn activate(&mut self, key: ElementKey) {
        if let Err(trouble) = self.try_activate(key) {
            self.raise(key, None, trouble);
        }
    }

    fn try_activate(&mut self, key: ElementKey) -> Result<(), Trouble> {
        let process = self.process;
        let element = process.element(self.instance.elements[&key].element);
        if let (Some(repeat), false) = (&element.repeat, self.instance.is_inner(key)) {
            return repeat::enter(self, key, repeat);
        }
        if (element.listeners.is_none() || self.heard(key, ListenerEvent::Start).is_none())
            && let Some(inputs) = &element.inputs
        {
            let scope = self.mapping_scope(key);
            for (name, value) in self.mapping(scope, inputs)? {
                self.set_local(key, &name, &value);
            }
        }
        if element.listeners.is_some() && !self.listen(key, ListenerEvent::Start)? {
            return Ok(());
        }
        match &element.kind {
            Kind::Process(scope) | Kind::SubProcess(scope) | Kind::Transaction(scope) => element::scope::enter(self, key, scope)?,
            // Resolving an incident of its entry: what triggered it is gone, so it begins at its start event once more.
            Kind::EventSubProcess(scope) => element::scope::enter(self, key, scope)?,
            Kind::StartEvent(_)
            | Kind::ThrowEvent(None)
            | Kind::LinkThrow(_)
            | Kind::LinkCatch(_)
            | Kind::PassTask(_)
            | Kind::BoundaryEvent(_)
            | Kind::CompensationBoundary(_)
            | Kind::EventPart(_) => element::pass::enter(self, key),
            Kind::ThrowEvent(Some(throw)) => element::throw_event::enter(self, key, throw)?,
            Kind::SendTask(publish) => element::throw_event::send(self, key, publish)?,
            Kind::CatchEvent(trigger) => element::catch_event::enter(self, key, trigger)?,
            Kind::ReceiveTask(message) => element::receive_task::enter(self, key, message)?,
            Kind::EventGateway => element::event_gateway::enter(self, key, element)?,
            Kind::CallActivity(call) => element::call_activity::enter(self, key, call)?,
            Kind::AdHoc(ad_hoc) => element::ad_hoc::enter(self, key, ad_hoc)?,
            Kind::AdHocRun => self.emit(Event::Activated { key }),
            Kind::EndEvent(end) => element::end_event::enter(self, key, end)?,
            Kind::JobTask(task) => element::job_task::enter(self, key, task)?,
            Kind::UserTask(task) => element::user_task::enter(self, key, task)?,
            Kind::ScriptTask(script) => element::script_task::enter(self, key, script)?,
            Kind::Transformation(entries) => element::transformation::enter(self, key, entries)?,
            Kind::Wait => element::wait::enter(self, key)?,
            Kind::DecisionTask(task) => element::decision_task::enter(self, key, task)?,
            Kind::ExclusiveGateway { default } => element::exclusive_gateway::enter(self, key, element, *default)?,
            Kind::ParallelGateway => element::parallel_gateway::enter(self, key),
            Kind::InclusiveGateway(gateway) => element::inclusive_gateway::enter(self, key, element, gateway.default)?,
            Kind::ComplexGateway(gateway) => element::complex_gateway::enter(self, key, element, gateway)?,
        }
        Ok(())
    }

    /// The element's work is done: map outputs, leave, take the outgoing flows. Done again when an incident of leaving is resolved.
    pub(crate) fn finish(&mut self, key: ElementKey) {
        if self.repeat(key).is_some() {
            return repeat::finish(self, key);
        }
        let process = self.process;
        let instance = &self.instance.elements[&key];
        let (element, scope) = (process.element(instance.element), instance.scope);
        if let Kind::Transaction(_) = element.kind
            && element::transaction::is_cancelled(instance)
        {
            return element::transaction::undo_next(self, key);
        }
        if instance.phase != Phase::Leaving {
            self.begin_leaving(key);
        }
        match self.map_outputs_once(key, element) {
            Ok(true) => {}
            Ok(false) => return,
            Err(trouble) => return self.raise(key, None, trouble),
        }
        if element::ad_hoc::is_run(self, key) {
            if let Err(trouble) = element::ad_hoc::finish_run(self, key) {
                self.raise(key, None, trouble);
            }
            return;
        }
        if self.instance.is_inner(key) {
            if let Err(trouble) = repeat::finish_inner(self, scope, key) {
                self.raise(key, None, trouble);
            }
            return;
        }
        self.close_catches(key);
        if let (true, Some(next)) = (key == scope, process.workflow.as_ref().and_then(|workflow| workflow.next.clone())) {
            return self.emit(Event::Called { element: key, process: next });
        }
        match &element.kind {
            Kind::LinkThrow(link) => element::link_event::leave(self, key, link),
            Kind::ComplexGateway(gateway) => element::complex_gateway::reset(self, key, element, gateway),
            _ => self.leave(key, &element.outgoing),
        }
    }

    /// Maps outputs, unless that is done, and asks those who listen to the end. True if nobody is left to be heard.
    fn map_outputs_once(&mut self, key: ElementKey, element: &Element) -> Result<bool, Trouble> {
        if element.listeners.is_some() && self.heard(key, ListenerEvent::End).is_some() {
            return self.listen(key, ListenerEvent::End);
        }
        if let Some(outputs) = &element.outputs {
            let document = self.mapping(key, outputs)?;
            self.propagate(self.mapping_scope(key), &document);
        }
        if let Kind::AdHoc(ad_hoc) = &element.kind {
            element::ad_hoc::hand_out(self, key, ad_hoc);
        }
        if element.listening_to(ListenerEvent::End).next().is_none() {
            return Ok(true);
        }
        self.close_catches(key);
        self.listen(key, ListenerEvent::End)
    }

    /// Its work is done: what lies inside it is not started by events any more.
    pub(crate) fn begin_leaving(&mut self, key: ElementKey) {
        self.emit(Event::Leaving { key });
        self.close_event_starts(key);
    }

    /// Where mappings read what goes in and write what comes out: inner instances of a repeated activity have variables of their own.
    fn mapping_scope(&self, key: ElementKey) -> ElementKey {
        if self.instance.is_inner(key) { key } else { self.instance.elements[&key].scope }
    }

    /// Leaves by these flows; without any, the scope may have come to its end.
    pub(crate) fn leave(&mut self, key: ElementKey, flows: &[FlowIx]) {
        let ElementInstance { scope, element, .. } = *self.instance.elements[&key];
        element::compensation::hand_on(self, key);
        self.emit(Event::Left { key });
        if key == self.instance.key.root() {
            self.emit(Event::Ended { outcome: Outcome::Completed });
            return;
        }
        for flow in flows {
            self.take(*flow, scope);
        }
        self.moved_on(element, scope, flows);
        self.end_if_empty(scope);
    }

    /// A run of an ad-hoc sub-process leaves; whether that has come to its end is its own to say.
    pub(crate) fn leave_run(&mut self, key: ElementKey) {
        element::compensation::hand_on(self, key);
        self.emit(Event::Left { key });
    }

    /// A token goes along a flow.
    pub(crate) fn take(&mut self, flow: FlowIx, scope: ElementKey) {
        let target = self.process.flow(flow).target;
        let element = self.process.element(target);
        match &element.kind {
            Kind::ParallelGateway if 1 < element.incoming.len() => {
                element::parallel_gateway::arrive(self, Token { scope, gateway: target, flow });
            }
            Kind::InclusiveGateway(InclusiveGateway { join: Some(_), .. }) | Kind::ComplexGateway(_) => {
                self.emit(Event::TokenArrived(Token { scope, gateway: target, flow }));
                self.examine_later(target, scope);
            }
            _ => {
                self.schedule(target, scope);
            }
        }
    }

    /// Completes a scope in which nothing lives, waits or is about to be entered any more.
    pub(crate) fn end_if_empty(&mut self, scope: ElementKey) {
        if self.instance.elements[&scope].is_empty() && !self.is_awaited_in(scope) {
            self.finish_later(scope);
        }
    }

    /// Ends an element instance from outside, with everything inside it, the innermost first. False if somebody listens to that: then
    /// it goes when all were heard.
    pub(crate) fn drop_element(&mut self, key: ElementKey) -> bool {
        let is_empty = self.drop_inside(key, None);
        let asks = self.asks_before_end(key);
        let ElementInstance { scope, element: place, .. } = *self.instance.elements[&key];
        self.close_for_end(key, asks);
        if !is_empty || asks {
            self.linger(key, asks);
            return false;
        }
        element::compensation::forget(self, key);
        self.emit(Event::Dropped { key });
        if scope != key {
            self.moved_on(place, scope, &[]);
        }
        true
    }

    /// Drops all that lives, waits or is about to be entered in a scope, except one element instance. False if somebody listens to that.
    pub(crate) fn drop_inside(&mut self, scope: ElementKey, except: Option<ElementKey>) -> bool {
        self.unschedule(scope);
        let children: Vec<_> = self.instance.children(scope).filter(|key| Some(*key) != except).collect();
        let mut all_gone = true;
        for child in children {
            all_gone &= self.drop_element(child);
        }
        let tokens: Vec<_> = self.instance.elements[&scope].tokens().collect();
        for (gateway, flow, count) in tokens {
            for _ in 0..count {
                self.emit(Event::TokenDropped(Token { scope, gateway, flow }));
            }
        }
        all_gone
    }
}
