//! Processes nobody drew: random blocks with one way in and one way out, written as BPMN.

use std::fmt::Write as _;

use crate::rng::Rng;

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
}

/// A process file. The revision makes its content another.
pub(crate) fn bpmn(id: &str, revision: u64, job_types: usize, rng: &mut Rng) -> String {
    let block = Block::Sequence(vec![Block::Task, block(rng, 3)]);
    let mut writer = Writer { process: id, text: String::new(), next: 0, job_types, rng };
    let inside = writer.scope(&block);
    let namespaces = r#"xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0""#;
    format!(
        r#"<definitions {namespaces}><error id="E" errorCode="E"/><process id="{id}" name="{revision}" isExecutable="true">{inside}</process></definitions>"#
    )
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

fn block(rng: &mut Rng, depth: u64) -> Block {
    let several = |rng: &mut Rng| {
        let count = rng.between(1, 2);
        (0..count).map(|_| block(rng, depth - 1)).collect::<Vec<_>>()
    };
    match rng.below(if depth == 0 { 6 } else { 11 }) {
        0 | 1 => Block::Task,
        2 => Block::Fragile,
        3 => Block::Pass,
        4 => Block::Script,
        5 => Block::Decision { fragile: rng.chance(300), binding: if rng.chance(500) { "latest" } else { "deployment" } },
        6 | 7 => Block::Sequence(several(rng)),
        8 => Block::Choice(several(rng)),
        9 => Block::Fork(several(rng)),
        _ => Block::Sub(Box::new(block(rng, depth - 1)), rng.chance(700)),
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

    /// A block between a start and an end, apart from what is written already.
    fn scope(&mut self, block: &Block) -> String {
        let outer = std::mem::take(&mut self.text);
        let start = self.node("startEvent", "", "");
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
        let inside = self.scope(inside);
        let sub = self.node("subProcess", "", &inside);
        if !caught {
            return (sub.clone(), sub);
        }
        let merge = self.node("exclusiveGateway", "", "");
        let attached = format!(r#" attachedToRef="{sub}""#);
        let boundary = self.node("boundaryEvent", &attached, r#"<errorEventDefinition errorRef="E"/>"#);
        self.flow(&sub, &merge, "");
        self.flow(&boundary, &merge, "");
        (sub, merge)
    }
}
