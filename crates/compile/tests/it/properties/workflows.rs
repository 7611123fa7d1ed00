//! Random JSON workflows: blocks within blocks, drawn as BPMN and read back.

use std::collections::HashMap;

use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(crate) enum Block {
    Step(Step, Vec<Timer>),
    Sequence(Vec<Block>),
    Parallel(Vec<Block>),
    /// Branches that meet again.
    Decision(Vec<Block>),
    /// Done again while a condition holds.
    Again(Box<Block>),
    /// A branch that ends here.
    Stop,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Service,
    User,
    Wait,
    Transformation,
    Call,
}

/// A timer on a step: whether it interrupts, and whether something is done before it goes on where the step does.
pub(crate) type Timer = (bool, bool);

/// Blocks in which everything meets again.
pub(crate) fn structured() -> impl Strategy<Value = Block> {
    blocks(false)
}

/// Also such as end in the middle or lead back.
pub(crate) fn any_blocks() -> impl Strategy<Value = Block> {
    blocks(true)
}

fn blocks(free: bool) -> impl Strategy<Value = Block> {
    let step = prop::sample::select(&[Step::Service, Step::User, Step::Wait, Step::Transformation, Step::Call][..]);
    let leaf = (step, prop::collection::vec(any::<Timer>(), 0..3)).prop_map(|(step, timers)| Block::Step(step, timers));
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let branches = || prop::collection::vec(inner.clone(), 2..4);
        let again = inner.clone().prop_map(move |block| if free { Block::Again(Box::new(block)) } else { block });
        let stopping = branches().prop_map(move |mut branches| {
            if free {
                branches.push(Block::Stop);
            }
            Block::Decision(branches)
        });
        prop_oneof![branches().prop_map(Block::Sequence), branches().prop_map(Block::Parallel), stopping, again]
    })
}

/// The workflow as JSON.
pub(crate) fn written(block: &Block) -> String {
    let mut steps = Steps::default();
    let end = steps.add("END", String::new());
    let first = steps.block(block, &end);
    // Where it begins stands first.
    let place = steps.ids.iter().position(|id| *id == first).unwrap();
    let begin = steps.texts.remove(place);
    steps.texts.insert(0, begin);
    format!(r#"{{"id": "9:w", "name": "W <1>", "description": "a\nb & c", "steps": [{}]}}"#, steps.texts.join(",\n"))
}

#[derive(Default)]
struct Steps {
    ids: Vec<String>,
    texts: Vec<String>,
    loops: usize,
}

impl Steps {
    fn add(&mut self, kind: &str, fields: String) -> String {
        // Ids that XML takes, and ids it does not.
        let number = self.ids.len();
        let id = if number.is_multiple_of(3) { format!("{number} ({kind})") } else { format!("step{number}") };
        self.texts.push(format!(r#"{{"id": "{id}", "name": "The \"{id}\"", "type": "{kind}"{fields}}}"#));
        self.ids.push(id.clone());
        id
    }

    /// Writes what leads to `next`; the id of its first step.
    fn block(&mut self, block: &Block, next: &str) -> String {
        match block {
            Block::Step(step, timers) => self.step(*step, timers, next),
            Block::Sequence(blocks) => blocks.iter().rev().fold(next.to_owned(), |next, block| self.block(block, &next)),
            Block::Stop => self.add("END", String::new()),
            Block::Parallel(branches) => {
                let join = self.add("JOIN_GATEWAY", format!(r#", "nextStep": "{next}""#));
                let branches: Vec<String> = branches.iter().map(|branch| format!("\"{}\"", self.block(branch, &join))).collect();
                self.add("PARALLEL_GATEWAY", format!(r#", "parallelNextSteps": [{}], "joinStep": "{join}""#, branches.join(", ")))
            }
            Block::Decision(branches) => {
                let ways: Vec<String> = branches.iter().map(|branch| self.block(branch, next)).collect();
                self.decision(&ways)
            }
            Block::Again(block) => {
                // What is repeated begins with something that waits.
                self.loops += 1;
                let decision = format!("again{}", self.loops);
                let body = self.block(block, &decision);
                let first = self.add("WAIT", format!(r#", "nextStep": "{body}""#));
                let ways = format!(r#""n < 3 && x != 'y'": "{first}", "true": "{next}""#);
                self.texts.push(format!(
                    r#"{{"id": "{decision}", "name": "Again?", "type": "DECISION", "conditionalNextSteps": {{{ways}}}}}"#
                ));
                self.ids.push(decision);
                first
            }
        }
    }

    fn decision(&mut self, ways: &[String]) -> String {
        let ways = ways.iter().enumerate().map(|(number, way)| format!(r#""n <= {number} || \"a\" in list": "{way}""#));
        self.add("DECISION", format!(r#", "conditionalNextSteps": {{{}}}"#, ways.collect::<Vec<_>>().join(", ")))
    }

    fn step(&mut self, step: Step, timers: &[Timer], next: &str) -> String {
        let mut fields = format!(r#", "nextStep": "{next}""#);
        let kind = match step {
            Step::Service => {
                fields.push_str(r#", "jobType": "pay \"now\" & <then>", "retryCount": 2, "retryBackoff": "PT1S,PT5S""#);
                "SERVICE_TASK"
            }
            Step::User => {
                fields.push_str(r#", "jobType": "clerks""#);
                "USER_TASK"
            }
            Step::Wait => "WAIT",
            Step::Call => {
                fields.push_str(r#", "processId": "other""#);
                "CALL"
            }
            Step::Transformation => {
                fields.push_str(r#", "transformations": {"a": {"b": [1, "x < 'y'\n"]}, "c": "${a.b + 1}"}"#);
                return self.add("TRANSFORMATION", fields);
            }
        };
        let events: Vec<String> = timers
            .iter()
            .map(|(interrupting, detour)| {
                let to = if *detour { self.step(Step::Service, &[], next) } else { next.to_owned() };
                format!(r#"{{"type": "TIMER", "duration": "PT1H", "interrupting": {interrupting}, "targetStepId": "{to}"}}"#)
            })
            .collect();
        fields.push_str(&format!(r#", "boundaryEvents": [{}]"#, events.join(", ")));
        self.add(kind, fields)
    }
}

/// A drawing as it stands in the file.
pub(crate) struct Picture {
    /// By the name of the element: left, top, right, bottom.
    pub(crate) shapes: HashMap<String, [i32; 4]>,
    pub(crate) lines: Vec<Line>,
}

pub(crate) struct Line {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) points: Vec<(i32, i32)>,
}

pub(crate) fn picture(xml: &str) -> Picture {
    let document = roxmltree::Document::parse(xml).unwrap();
    let number = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<i32>().unwrap();
    let with = |name: &'static str| document.descendants().filter(move |node| node.tag_name().name() == name);
    let mut flows = HashMap::new();
    for flow in with("sequenceFlow") {
        let ends = ["sourceRef", "targetRef"].map(|end| flow.attribute(end).unwrap().to_owned());
        flows.insert(flow.attribute("id").unwrap(), ends);
    }
    let shape = |node: roxmltree::Node<'_, '_>| {
        let bounds = node.children().find(|child| child.tag_name().name() == "Bounds").unwrap();
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(bounds, name));
        (node.attribute("bpmnElement").unwrap().to_owned(), [x, y, x + width, y + height])
    };
    let line = |node: roxmltree::Node<'_, '_>| {
        let points = node.children().filter(|child| child.tag_name().name() == "waypoint");
        let [from, to] = flows[node.attribute("bpmnElement").unwrap()].clone();
        Line { from, to, points: points.map(|point| (number(point, "x"), number(point, "y"))).collect() }
    };
    Picture { shapes: with("BPMNShape").map(shape).collect(), lines: with("BPMNEdge").map(line).collect() }
}

impl Picture {
    /// What is wrong with it whatever it shows: something lies upon something else, or a line begins or ends in the air.
    pub(crate) fn fault(&self) -> Option<String> {
        let shapes: Vec<(&String, &[i32; 4])> = self.shapes.iter().collect();
        for (index, (name, one)) in shapes.iter().enumerate() {
            for (other_name, other) in &shapes[index + 1..] {
                // Events sit on the edges of tasks.
                let sits = |event: &[i32; 4], host: &[i32; 4]| (event[1] + event[3]) / 2 == host[3];
                if overlap(one, other) && !sits(one, other) && !sits(other, one) {
                    return Some(format!("{name} lies upon {other_name}"));
                }
            }
        }
        for line in &self.lines {
            let on_edge = |(x, y): (i32, i32), [left, top, right, bottom]: [i32; 4]| {
                (left..=right).contains(&x) && (top..=bottom).contains(&y) && (x == left || x == right || y == top || y == bottom)
            };
            let (first, last) = (*line.points.first()?, *line.points.last()?);
            if !on_edge(first, self.shapes[&line.from]) || !on_edge(last, self.shapes[&line.to]) {
                return Some(format!("the line from {} to {} is loose", line.from, line.to));
            }
            for pair in line.points.windows(2) {
                let [(x, y), (u, v)] = [pair[0], pair[1]];
                if x != u && y != v {
                    return Some(format!("the line from {} to {} is slanted", line.from, line.to));
                }
                let thin = [x.min(u), y.min(v), x.max(u), y.max(v)];
                if let Some((name, _)) = shapes.iter().find(|(_, shape)| runs_through(&thin, shape)) {
                    return Some(format!("the line from {} to {} runs through {name}", line.from, line.to));
                }
            }
        }
        None
    }

    /// Two lines that cross.
    pub(crate) fn crossing(&self) -> Option<String> {
        for (index, one) in self.lines.iter().enumerate() {
            for other in &self.lines[index + 1..] {
                let crossed = one.points.windows(2).any(|a| other.points.windows(2).any(|b| cross(a, b) || cross(b, a)));
                if crossed {
                    return Some(format!("{} → {} crosses {} → {}", one.from, one.to, other.from, other.to));
                }
            }
        }
        None
    }
}

fn overlap(one: &[i32; 4], other: &[i32; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

fn runs_through(thin: &[i32; 4], shape: &[i32; 4]) -> bool {
    thin[0] < shape[2] && shape[0] < thin[2] && thin[1] < shape[3] && shape[1] < thin[3]
}

/// Whether a level piece and an upright one meet inside both.
fn cross(level: &[(i32, i32)], upright: &[(i32, i32)]) -> bool {
    let [(x, y), (u, v)] = [level[0], level[1]];
    let [(s, t), (p, q)] = [upright[0], upright[1]];
    y == v && s == p && x.min(u) < s && s < x.max(u) && t.min(q) < y && y < t.max(q)
}
