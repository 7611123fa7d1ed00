//! Processes nobody drew: random blocks with one way in and one way out, written as BPMN.

mod events;

use std::fmt::Write as _;
use std::sync::Arc;

use crate::rng::Rng;
use events::{On, Throw};

enum Block {
    Task,
    /// Its input fails until `fixed` is set.
    Fragile,
    Pass,
    Script,
    /// Calls a decision that fails until `fixed` is set, or never; of the latest version or the one deployed with it.
    Decision {
        fragile: bool,
        binding: &'static str,
    },
    Sequence(Vec<Block>),
    Choice(Vec<Block>),
    Fork(Vec<Block>),
    /// The inside, and whether a boundary event catches the error `E`.
    Sub(Box<Block>, bool),
    Catch(On),
    /// A task with an event on its boundary, and whether that interrupts it.
    Watched(On, bool),
    /// What comes first.
    Race(Vec<On>),
    /// The inside, with an event sub-process beside it.
    Disturbed(Box<Block>, On, bool),
    Throw(Throw),
    /// A task for a person, and whether a worker is asked before it is done.
    Person(bool),
    /// Calls this process; what of it is caught.
    Call(&'static str, Option<(On, bool)>),
}

/// Which blocks a process may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    /// Those that need nobody but workers.
    Work,
    /// Also events and calls.
    All,
    /// What a called process may have: it calls one more, or none.
    Called(Option<&'static str>),
    /// What something that starts by itself may have: it sets nothing in motion.
    Started,
}

/// A process file. The revision makes its content another; `waits` gives it events and calls.
pub(crate) fn bpmn(id: &str, revision: u64, (job_types, waits): (usize, bool), rng: &mut Rng) -> String {
    let kinds = if waits { Kinds::All } else { Kinds::Work };
    let block = Block::Sequence(vec![Block::Task, block(rng, 3, kinds)]);
    file(id, revision, job_types, "", &block, rng)
}

/// The processes that others call, and those that a message, a signal or a timer starts, by id. All wait for a worker at least.
pub(crate) fn helpers(revision: u64, job_types: usize, rng: &mut Rng) -> Vec<(&'static str, String)> {
    let called = |rng: &mut Rng, calls| Block::Sequence(vec![block(rng, 1, Kinds::Called(calls)), Block::Task]);
    let outer = Block::Sequence(vec![called(rng, Some("c1")), Block::Call("c1", events::caught(rng))]);
    let mut files = vec![("c0", file("c0", revision, job_types, "", &outer, rng))];
    let inner = called(rng, None);
    files.push(("c1", file("c1", revision, job_types, "", &inner, rng)));
    for (id, on) in [("by-message", On::Start), ("by-signal", On::Signal(2)), ("by-timer", On::Cycle(rng.between(2, 6)))] {
        let block = Block::Sequence(vec![block(rng, 1, Kinds::Started), Block::Task]);
        files.push((id, file(id, revision, job_types, &on.definition(), &block, rng)));
    }
    files
}

fn file(id: &str, revision: u64, job_types: usize, start: &str, block: &Block, rng: &mut Rng) -> String {
    let mut writer = Writer { process: id, text: String::new(), next: 0, job_types, rng };
    let inside = writer.scope(start, block);
    let namespaces = r#"xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0""#;
    let roots = events::ROOTS;
    format!(
        r#"<definitions {namespaces}>{roots}<process id="{id}" name="{revision}" isExecutable="true">{inside}</process></definitions>"#
    )
}

/// The ids of the elements in a file, flows left out.
pub(crate) fn ids(text: &str) -> Vec<Arc<str>> {
    let tags = text.split('<').filter(|tag| !tag.starts_with("sequenceFlow") && !tag.starts_with("process"));
    let id = |tag: &str| Some(tag.split_once(" id=\"n")?.1.split_once('"')?.0.to_owned());
    tags.filter_map(id).map(|number| format!("n{number}").into()).collect()
}

/// The decisions of a process, a file to be deployed with it.
pub(crate) fn dmn(id: &str, revision: u64) -> String {
    let decision = |name: &str, text: &str| {
        format!(
            r#"<decision id="{name}-{id}" name="{name}"><literalExpression><text>{text}</text></literalExpression></decision>"#
        )
    };
    format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rules-{id}" name="{revision}" namespace="s">{}{}</definitions>"#,
        decision("firm", "[1, 2][1]"),
        decision("fragile", "assert(fixed, fixed != null)")
    )
}

fn block(rng: &mut Rng, depth: u64, kinds: Kinds) -> Block {
    if kinds != Kinds::Work && rng.chance(550) {
        return events::block(rng, depth, kinds);
    }
    let several = |rng: &mut Rng| {
        let count = rng.between(1, 2);
        (0..count).map(|_| block(rng, depth - 1, kinds)).collect::<Vec<_>>()
    };
    match rng.below(if depth == 0 { 6 } else { 11 }) {
        0 | 1 => Block::Task,
        2 => Block::Fragile,
        3 => Block::Pass,
        4 => Block::Script,
        5 if matches!(kinds, Kinds::Called(_) | Kinds::Started) => Block::Pass,
        5 => Block::Decision { fragile: rng.chance(300), binding: if rng.chance(500) { "latest" } else { "deployment" } },
        6 | 7 => Block::Sequence(several(rng)),
        8 => Block::Choice(several(rng)),
        9 => Block::Fork(several(rng)),
        _ => Block::Sub(Box::new(block(rng, depth - 1, kinds)), rng.chance(700)),
    }
}

struct Writer<'a> {
    process: &'a str,
    text: String,
    next: u32,
    job_types: usize,
    rng: &'a mut Rng,
}

impl Writer<'_> {
    fn id(&mut self) -> String {
        self.next += 1;
        format!("n{}", self.next)
    }

    fn node(&mut self, tag: &str, attributes: &str, body: &str) -> String {
        let id = self.id();
        let _ = write!(self.text, r#"<{tag} id="{id}"{attributes}>{body}</{tag}>"#);
        id
    }

    fn flow(&mut self, from: &str, to: &str, condition: &str) {
        let id = self.id();
        let _ = write!(self.text, r#"<sequenceFlow id="{id}" sourceRef="{from}" targetRef="{to}">{condition}</sequenceFlow>"#);
    }

    /// A block between a start and an end, apart from what is written already; the start may wait for something.
    fn scope(&mut self, start: &str, block: &Block) -> String {
        let outer = std::mem::take(&mut self.text);
        let start = self.node("startEvent", "", start);
        let (first, last) = self.block(block);
        let end = self.node("endEvent", "", "");
        self.flow(&start, &first, "");
        self.flow(&last, &end, "");
        std::mem::replace(&mut self.text, outer)
    }

    fn task(&mut self, mapping: &str) -> String {
        let job_type = self.rng.below(self.job_types as u64);
        let body = format!(r#"<extensionElements><zeebe:taskDefinition type="t{job_type}"/>{mapping}</extensionElements>"#);
        self.node("serviceTask", "", &body)
    }

    /// Writes a block; gives where it is entered and where it is left.
    fn block(&mut self, block: &Block) -> (String, String) {
        let one = match block {
            Block::Task => self.task(""),
            Block::Fragile => {
                let input = r#"<zeebe:input source="=assert(fixed, fixed != null)" target="x"/>"#;
                self.task(&format!("<zeebe:ioMapping>{input}</zeebe:ioMapping>"))
            }
            Block::Pass => self.node("task", "", ""),
            Block::Script => {
                let script = r#"<zeebe:script expression="=[1, 2][1]" resultVariable="script"/>"#;
                self.node("scriptTask", "", &format!("<extensionElements>{script}</extensionElements>"))
            }
            Block::Decision { fragile, binding } => {
                let name = if *fragile { "fragile" } else { "firm" };
                let called = format!(
                    r#"<zeebe:calledDecision decisionId="{name}-{}" resultVariable="decided" bindingType="{binding}"/>"#,
                    self.process
                );
                self.node("businessRuleTask", "", &format!("<extensionElements>{called}</extensionElements>"))
            }
            Block::Sequence(blocks) => return self.sequence(blocks),
            Block::Choice(blocks) => return self.choice(blocks),
            Block::Fork(blocks) => {
                let (fork, join) = (self.node("parallelGateway", "", ""), self.node("parallelGateway", "", ""));
                self.branches(blocks, &fork, &join, |_| String::new());
                return (fork, join);
            }
            Block::Sub(inside, caught) => return self.sub(inside, *caught),
            Block::Catch(on) => self.node("intermediateCatchEvent", "", &on.definition()),
            Block::Watched(on, interrupting) => {
                let task = self.task("");
                return self.watched(task, *on, *interrupting);
            }
            Block::Race(events) => return self.race(events),
            Block::Disturbed(inside, on, interrupting) => self.disturbed(inside, *on, *interrupting),
            Block::Person(heard) => {
                let listener = r#"<zeebe:taskListener eventType="completing" type="t0"/>"#;
                let listeners =
                    if *heard { format!("<zeebe:taskListeners>{listener}</zeebe:taskListeners>") } else { String::new() };
                self.node("userTask", "", &format!("<extensionElements><zeebe:userTask/>{listeners}</extensionElements>"))
            }
            Block::Throw(throw) => self.node("intermediateThrowEvent", "", &throw.definition()),
            Block::Call(process, caught) => return self.call(process, *caught),
        };
        (one.clone(), one)
    }

    fn sequence(&mut self, blocks: &[Block]) -> (String, String) {
        let start = self.node("task", "", "");
        let mut last = start.clone();
        for block in blocks {
            let (first, end) = self.block(block);
            self.flow(&last, &first, "");
            last = end;
        }
        (start, last)
    }

    fn choice(&mut self, blocks: &[Block]) -> (String, String) {
        let default = self.id();
        let split = self.node("exclusiveGateway", &format!(r#" default="{default}""#), "");
        let join = self.node("exclusiveGateway", "", "");
        let _ = write!(self.text, r#"<sequenceFlow id="{default}" sourceRef="{split}" targetRef="{join}"/>"#);
        self.branches(blocks, &split, &join, |n| format!("<conditionExpression>=choice = {n}</conditionExpression>"));
        (split, join)
    }

    fn branches(&mut self, blocks: &[Block], split: &str, join: &str, condition: impl Fn(usize) -> String) {
        for (n, block) in blocks.iter().enumerate() {
            let (first, last) = self.block(block);
            self.flow(split, &first, &condition(n));
            self.flow(&last, join, "");
        }
    }

    fn sub(&mut self, inside: &Block, caught: bool) -> (String, String) {
        let inside = self.scope("", inside);
        let sub = self.node("subProcess", "", &inside);
        if caught { self.watched(sub, On::Error, true) } else { (sub.clone(), sub) }
    }
}
