//! Blocks that wait for or throw events, and call other processes.

use super::{Block, Kinds, Writer};
use crate::rng::Rng;

/// What events refer to. What does not interrupt waits for `m2`: first in line, it would have all that come for others of its process.
/// A correlation key that is missing is an incident until somebody sets it, with `m1` alone.
pub(super) const ROOTS: &str = r#"<error id="E" errorCode="E"/><escalation id="X" escalationCode="X"/><signal id="g0" name="g0"/><signal id="g1" name="g1"/><signal id="g2" name="g2"/><message id="go" name="go"/><message id="m0" name="m0"><extensionElements><zeebe:subscription correlationKey="=if key = null then &quot;k0&quot; else key"/></extensionElements></message><message id="m2" name="m2"><extensionElements><zeebe:subscription correlationKey="=if key = null then &quot;k0&quot; else key"/></extensionElements></message><message id="m1" name="m1"><extensionElements><zeebe:subscription correlationKey="=key"/></extensionElements></message>"#;

/// What an event waits for.
#[derive(Clone, Copy)]
pub(super) enum On {
    /// In so many seconds.
    Timer(u64),
    /// Twice, every so many seconds.
    Cycle(u64),
    Message(u64),
    /// The message that starts a process.
    Start,
    Signal(u64),
    Error,
    Escalation,
}

#[derive(Clone, Copy)]
pub(super) enum Throw {
    /// Kept for so many seconds.
    Message(&'static str, u64),
    Signal(u64),
    Escalation,
}

impl On {
    /// Something that comes from outside or by itself.
    fn draw(rng: &mut Rng) -> Self {
        match rng.below(5) {
            0 | 1 => Self::Timer(rng.between(1, 8)),
            2 | 3 => Self::Message(rng.below(2)),
            _ => Self::Signal(rng.below(2)),
        }
    }

    /// The same beside something, and whether it interrupts that.
    fn beside(rng: &mut Rng) -> (Self, bool) {
        match (Self::draw(rng), rng.chance(500)) {
            (Self::Message(_), false) => (Self::Message(2), false),
            drawn => drawn,
        }
    }

    pub(super) fn definition(self) -> String {
        let timer = |kind: &str, text: String| format!("<timerEventDefinition><{kind}>{text}</{kind}></timerEventDefinition>");
        match self {
            Self::Timer(seconds) => timer("timeDuration", format!("PT{seconds}S")),
            Self::Cycle(seconds) => timer("timeCycle", format!("R2/PT{seconds}S")),
            Self::Message(number) => format!(r#"<messageEventDefinition messageRef="m{number}"/>"#),
            Self::Start => r#"<messageEventDefinition messageRef="go"/>"#.to_owned(),
            Self::Signal(number) => format!(r#"<signalEventDefinition signalRef="g{number}"/>"#),
            Self::Error => r#"<errorEventDefinition errorRef="E"/>"#.to_owned(),
            Self::Escalation => r#"<escalationEventDefinition escalationRef="X"/>"#.to_owned(),
        }
    }
}

impl Throw {
    pub(super) fn definition(self) -> String {
        match self {
            Self::Message(name, seconds) => {
                let to = r#"correlationKey="=if key = null then &quot;k0&quot; else key""#;
                let extension = format!(r#"<zeebe:publishMessage {to} timeToLive="PT{seconds}S"/>"#);
                format!(r#"<extensionElements>{extension}</extensionElements><messageEventDefinition messageRef="{name}"/>"#)
            }
            Self::Signal(number) => On::Signal(number).definition(),
            Self::Escalation => On::Escalation.definition(),
        }
    }
}

/// What a call activity catches.
pub(super) fn caught(rng: &mut Rng) -> Option<(On, bool)> {
    match rng.below(4) {
        0 => None,
        1 => Some((On::Error, true)),
        2 => Some((On::Escalation, rng.chance(500))),
        _ => Some(On::beside(rng)),
    }
}

pub(super) fn block(rng: &mut Rng, depth: u64, kinds: Kinds) -> Block {
    match rng.below(if depth == 0 { 9 } else { 11 }) {
        0 | 1 => Block::Catch(On::draw(rng)),
        2 => match rng.below(3) {
            0 => Block::Watched(On::Cycle(rng.between(1, 4)), false),
            _ => watched(rng),
        },
        3 => Block::Race(vec![On::Timer(rng.between(1, 8)), On::Message(rng.below(2)), On::Signal(rng.below(2))]),
        4 | 5 => match kinds {
            Kinds::All => Block::Call(if rng.chance(600) { "c0" } else { "c1" }, caught(rng)),
            Kinds::Called(Some(process)) => Block::Call(process, caught(rng)),
            Kinds::Called(None) => Block::Throw(Throw::Escalation),
            Kinds::Work | Kinds::Started => Block::Catch(On::draw(rng)),
        },
        6 | 7 => match (kinds, rng.below(5)) {
            (Kinds::Started, _) => watched(rng),
            (_, 0) => Block::Throw(Throw::Signal(rng.below(3))),
            (_, 1) => Block::Throw(Throw::Escalation),
            (_, 2) => Block::Throw(Throw::Message("go", rng.below(20))),
            _ => Block::Throw(Throw::Message(if rng.chance(500) { "m0" } else { "m1" }, rng.below(20))),
        },
        8 => Block::Person(rng.chance(300)),
        _ => {
            let inside = super::block(rng, depth - 1, kinds);
            let (on, interrupting) = if rng.chance(200) { (On::Escalation, rng.chance(500)) } else { On::beside(rng) };
            Block::Disturbed(Box::new(inside), on, interrupting)
        }
    }
}

fn watched(rng: &mut Rng) -> Block {
    let (on, interrupting) = On::beside(rng);
    Block::Watched(on, interrupting)
}

impl Writer<'_> {
    /// What is behind an event that does not interrupt goes its own way; otherwise both ways come together.
    pub(super) fn watched(&mut self, element: String, on: On, interrupting: bool) -> (String, String) {
        let attributes = format!(r#" attachedToRef="{element}" cancelActivity="{interrupting}""#);
        let attributes = if matches!(on, On::Error) { format!(r#" attachedToRef="{element}""#) } else { attributes };
        let boundary = self.node("boundaryEvent", &attributes, &on.definition());
        if interrupting {
            let merge = self.node("exclusiveGateway", "", "");
            self.flow(&element, &merge, "");
            self.flow(&boundary, &merge, "");
            return (element, merge);
        }
        let (aside, end) = (self.node("task", "", ""), self.node("endEvent", "", ""));
        self.flow(&boundary, &aside, "");
        self.flow(&aside, &end, "");
        (element.clone(), element)
    }

    pub(super) fn race(&mut self, events: &[On]) -> (String, String) {
        let (gateway, merge) = (self.node("eventBasedGateway", "", ""), self.node("exclusiveGateway", "", ""));
        for on in events {
            let event = self.node("intermediateCatchEvent", "", &on.definition());
            self.flow(&gateway, &event, "");
            self.flow(&event, &merge, "");
        }
        (gateway, merge)
    }

    pub(super) fn disturbed(&mut self, inside: &Block, on: On, interrupting: bool) -> String {
        let inside = self.scope("", inside);
        let outer = std::mem::take(&mut self.text);
        let start = self.node("startEvent", &format!(r#" isInterrupting="{interrupting}""#), &on.definition());
        let (aside, end) = (self.node("task", "", ""), self.node("endEvent", "", ""));
        self.flow(&start, &aside, "");
        self.flow(&aside, &end, "");
        let handler = std::mem::replace(&mut self.text, outer);
        let outer = std::mem::take(&mut self.text);
        self.node("subProcess", r#" triggeredByEvent="true""#, &handler);
        let handler = std::mem::replace(&mut self.text, outer);
        self.node("subProcess", "", &format!("{inside}{handler}"))
    }

    pub(super) fn call(&mut self, process: &str, caught: Option<(On, bool)>) -> (String, String) {
        let (all_in, all_out) = (self.rng.chance(700), self.rng.chance(700));
        let called = format!(
            r#"<zeebe:calledElement processId="{process}" propagateAllParentVariables="{all_in}" propagateAllChildVariables="{all_out}"/>"#
        );
        let call = self.node("callActivity", "", &format!("<extensionElements>{called}</extensionElements>"));
        match caught {
            Some((on, interrupting)) => self.watched(call, on, interrupting),
            None => (call.clone(), call),
        }
    }
}
