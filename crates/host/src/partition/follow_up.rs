//! What a command's events ask of others is done within the command: the verdict of a decision, an instance that is called or has
//! ended, a message, a signal, an error that nothing inside catches. What follows from that follows too.

use std::sync::Arc;

use engine::{ElementKey, Event, InstanceKey, MessageThrown, On, Outcome, Thrown, ThrownOut, WaitEnd, WaitKey, Waited};
use model::ListenerEvent;
use store::log::Caller;

use super::Partition;
use super::needs::Missing;
use super::tick::Tick;
use super::unit::{Stop, Unit};

/// What an event of one instance asks for.
pub(super) enum FollowUp {
    Decide {
        element: ElementKey,
        decision: Arc<str>,
    },
    Form {
        element: ElementKey,
        form: Arc<str>,
    },
    Call {
        element: ElementKey,
        process: Arc<str>,
    },
    Publish(Box<MessageThrown>),
    Signal {
        key: u64,
        name: Arc<str>,
        variables: engine::Document,
    },
    ThrownOut(Box<ThrownOut>),
    /// Somebody waits for a message: one may be kept.
    WaitsForMessage(WaitKey),
    /// A call activity was left or dropped.
    CancelChild(InstanceKey),
    Ended(Outcome),
    /// A user task was created, and others listen to its assignment.
    AssignNew(ElementKey, WaitKey),
}

impl Unit {
    /// The next thing that an event asks for, from this place on.
    fn follow_up_from(&self, place: &mut (usize, usize)) -> Option<(InstanceKey, FollowUp)> {
        while let Some((key, events)) = self.steps.get(place.0) {
            while let Some(event) = events.get(place.1) {
                place.1 += 1;
                if let Some(follow_up) = asked_by(event) {
                    return Some((*key, follow_up));
                }
            }
            *place = (place.0 + 1, 0);
        }
        None
    }
}

fn asked_by(event: &Event) -> Option<FollowUp> {
    Some(match event {
        Event::DecisionCalled { element, decision } => FollowUp::Decide { element: *element, decision: decision.clone() },
        Event::FormSought { element, form } => FollowUp::Form { element: *element, form: form.clone() },
        Event::Called { element, process } => FollowUp::Call { element: *element, process: process.clone() },
        Event::MessageThrown(thrown) => FollowUp::Publish(Box::new(thrown.clone())),
        Event::SignalThrown { key, name, variables, .. } => {
            FollowUp::Signal { key: *key, name: name.clone(), variables: variables.clone() }
        }
        Event::ThrownOut(thrown) => FollowUp::ThrownOut(Box::new(thrown.clone())),
        Event::WaitOpened(opened) => match opened.on {
            On::Message { .. } => FollowUp::WaitsForMessage(opened.key),
            On::Job { .. } | On::Turn(_) | On::Timer { .. } | On::Signal { .. } | On::Condition | On::Child { .. } => {
                return None;
            }
            On::UserTask(_) => return None,
        },
        Event::WaitClosed { on: Waited::Child { instance }, end: WaitEnd::Cancelled, .. } => FollowUp::CancelChild(*instance),
        Event::Ended { outcome } => FollowUp::Ended(*outcome),
        Event::Listened { element, task, event: ListenerEvent::Creating } => FollowUp::AssignNew(*element, *task),
        Event::Started { .. }
        | Event::Entered { .. }
        | Event::Activated { .. }
        | Event::Leaving { .. }
        | Event::Left { .. }
        | Event::Dropped { .. }
        | Event::Progressed { .. }
        | Event::CompensationKept { .. }
        | Event::CompensationsHandedOn { .. }
        | Event::CompensationTaken { .. }
        | Event::TokenArrived(_)
        | Event::TokensTaken { .. }
        | Event::TokenDropped(_)
        | Event::VariableCreated { .. }
        | Event::VariableUpdated { .. }
        | Event::WaitClosed { .. }
        | Event::Listened { .. }
        | Event::IncidentRaised { .. }
        | Event::IncidentResolved { .. }
        | Event::Suspended
        | Event::Resumed
        | Event::Migrated(_) => return None,
    })
}

impl Partition {
    /// Does all that the command's events ask for.
    pub(super) fn follow_up(&mut self, tick: &mut Tick) -> Result<(), Stop> {
        let mut place = (0, 0);
        let (mut decisions, mut chained) = (0, 0);
        // Called instances end each by itself, so all that is missing for them is asked for at once.
        let mut missing = Missing::default();
        while let Some((instance, follow_up)) = tick.unit.follow_up_from(&mut place) {
            if !missing.is_nothing() && !matches!(follow_up, FollowUp::CancelChild(_)) {
                break;
            }
            match follow_up {
                // The first of a command is evaluated whatever was spent before, so each turn gets on.
                FollowUp::Decide { element, .. } if 0 < decisions && tick.unit.is_spent() => {
                    let _asked = self.step(tick, instance, &engine::Command::AskLater { element })?;
                }
                FollowUp::Decide { element, decision } => {
                    decisions += 1;
                    self.answer_decision(tick, instance, element, &decision, decisions)?;
                }
                FollowUp::Form { element, form } => self.answer_form(tick, instance, element, &form)?,
                FollowUp::Call { element, process } if element == instance.root() => {
                    chained += 1;
                    self.answer_chain(tick, instance, &process, chained)?;
                }
                FollowUp::Call { element, process } => self.answer_call(tick, instance, element, &process)?,
                FollowUp::Publish(thrown) => self.publish_thrown(tick, instance, &thrown)?,
                FollowUp::Signal { key, name, variables } => {
                    if let Some(tenant) = self.hot.get(instance).map(|hot| hot.definition.row.tenant.clone()) {
                        self.send_signal(tick, key, &tenant, &name, &variables);
                    }
                }
                FollowUp::ThrownOut(thrown) => self.throw_out(tick, instance, &thrown)?,
                FollowUp::WaitsForMessage(wait) => self.offer_kept(tick, wait)?,
                FollowUp::CancelChild(child) => missing.after(self.cancel_child(tick, child))?,
                FollowUp::Ended(outcome) => self.ended(tick, instance, outcome)?,
                FollowUp::AssignNew(element, task) => self.assign_new(tick, instance, element, task.user_task())?,
            }
        }
        missing.told()
    }

    fn cancel_child(&mut self, tick: &mut Tick, child: InstanceKey) -> Result<(), Stop> {
        if self.runs(tick, &Caller::engine(), child)? {
            let _cancelled = self.step(tick, child, &engine::Command::Cancel)?;
        }
        Ok(())
    }

    /// Who called the instance hears of its end, once; what it kept others from is free.
    fn ended(&mut self, tick: &mut Tick, instance: InstanceKey, outcome: Outcome) -> Result<(), Stop> {
        self.unlock(tick, instance)?;
        let Some(hot) = self.hot.get(instance) else { return Ok(()) };
        let (Some(parent), Outcome::Completed) = (hot.instance.parent, outcome) else { return Ok(()) };
        let variables = hot.instance.result.document();
        if self.runs(tick, &Caller::engine(), parent.instance)? {
            let command = engine::Command::ChildCompleted { element: parent.element, child: instance, variables };
            // Refused where the activity was dropped in this very command.
            let _told = self.step(tick, parent.instance, &command)?;
        }
        Ok(())
    }

    /// The nearest of those that called the instance and catch it does; if none does, the instance is told.
    fn throw_out(&mut self, tick: &mut Tick, instance: InstanceKey, thrown: &ThrownOut) -> Result<(), Stop> {
        let mut above = self.hot.get(instance).and_then(|hot| hot.instance.parent);
        while let Some(parent) = above {
            if !self.runs(tick, &Caller::engine(), parent.instance)? {
                break;
            }
            let hot = self.hot.get(parent.instance).expect("it runs");
            if engine::catches(&hot.definition.process, &hot.instance, parent.element, thrown.what, &thrown.code) {
                let command = engine::Command::ChildThrew {
                    element: parent.element,
                    what: thrown.what,
                    code: thrown.code.clone(),
                    variables: thrown.variables.clone(),
                };
                let _caught = self.step(tick, parent.instance, &command)?;
                let hot = self.hot.get(parent.instance).expect("it was just stepped");
                let goes_on = thrown.what == Thrown::Escalation && hot.instance.elements.contains_key(&parent.element);
                return match goes_on {
                    true => self.go_on_after(tick, instance, thrown),
                    false => Ok(()),
                };
            }
            above = hot.instance.parent;
        }
        self.go_on_after(tick, instance, thrown)
    }

    fn go_on_after(&mut self, tick: &mut Tick, instance: InstanceKey, thrown: &ThrownOut) -> Result<(), Stop> {
        // Refused where something else of this command has ended the element.
        let _told = self.step(tick, instance, &engine::Command::Uncaught(thrown.clone()))?;
        Ok(())
    }
}
