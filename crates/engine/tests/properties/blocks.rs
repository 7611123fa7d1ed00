//! Random block-structured processes in the text notation.

use std::fmt::Write as _;

use model::Process;
use proptest::prelude::*;

/// A block has one way in and one way out.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Pass,
    Task,
    /// Its input fails until `fixed` is set.
    Fragile,
    Decision,
    Sequence(Vec<Block>),
    Exclusive(Vec<Block>),
    Parallel(Vec<Block>),
    /// Those after the chosen one.
    Inclusive(Vec<Block>),
    /// The inside, and whether a boundary event catches the error `E`.
    Sub(Box<Block>, bool),
    /// The inside, once for each of so many items.
    Each(Box<Block>, &'static str, u8),
    /// A task that can be undone.
    Undoable,
    /// Undoes what completed beside it.
    Undo,
    /// Waits for this.
    Catch(&'static str),
    /// Waits for the first of two things, one of which goes through the inside.
    Gateway(&'static str, &'static str, Box<Block>),
    /// The inside, with an event on its boundary: `on` leaves it, `beside` starts a task.
    Boundary(Box<Block>, &'static str, &'static str),
    /// The inside, with an event sub-process in the same scope: `start` interrupts, `start-beside` does not.
    EventSub(Box<Block>, &'static str, &'static str),
    /// The inside; cancelled if this is the choice.
    Transaction(Box<Block>, u8),
    /// The inside, then undone as a whole.
    UndoneWhole(Box<Block>),
    /// Two tasks that the worker of another starts.
    Directed,
    /// Throws this.
    Throw(&'static str),
}

/// What is waited for. Names need not differ: waits are triggered by their keys.
const TRIGGERS: [&str; 7] = [
    "after PT1H",
    "message m by \"k\"",
    "signal s",
    "when fixed != null",
    "any\n    of after PT1H\n    of message m by \"k\"\n    of signal s",
    "all\n    of message m by \"k\"\n    of when fixed != null",
    "all\n    of signal s\n    of after PT1H",
];

/// What can sit beside something, and come again.
const BESIDE: [&str; 5] = [
    "every R3/PT1H",
    "message m by \"k\"",
    "escalation X",
    "any\n    of every R3/PT1H\n    of signal s",
    "all\n    of message m by \"k\"\n    of signal s",
];

const THROWS: [&str; 4] =
    ["throw signal s", "throw escalation X", "throw message m to \"k\"", "throw several\n    of signal s\n    of escalation X"];

/// Ways to repeat: `N` is how often.
const REPEATS: [&str; 5] = [
    "each item = for i in 1..N return i\n    collect results = item",
    "in-turn item = for i in 1..N return {i: i}\n    collect results = item.i",
    "each = for i in 1..N return i\n    until numberOfCompletedInstances = 2",
    "in-turn item = assert(fixed, fixed != null)",
    "loop-while loopCounter < N",
];

pub(crate) fn block() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![
        Just(Block::Pass),
        Just(Block::Task),
        Just(Block::Task),
        Just(Block::Fragile),
        Just(Block::Decision),
        Just(Block::Undoable),
        Just(Block::Undo),
        Just(Block::Directed),
        prop::sample::select(TRIGGERS.to_vec()).prop_map(Block::Catch),
        prop::sample::select(THROWS.to_vec()).prop_map(Block::Throw),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let several = || proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several().prop_map(Block::Sequence),
            several().prop_map(Block::Exclusive),
            several().prop_map(Block::Parallel),
            several().prop_map(Block::Inclusive),
            (inner.clone(), any::<bool>()).prop_map(|(inside, caught)| Block::Sub(Box::new(inside), caught)),
            (inner.clone(), prop::sample::select(REPEATS.to_vec()), 0..4u8).prop_map(|(inside, how, items)| Block::Each(
                Box::new(inside),
                how,
                items
            )),
            with_events(inner),
        ]
    })
}

fn with_events(inner: impl Strategy<Value = Block> + Clone + 'static) -> impl Strategy<Value = Block> {
    let inside = || inner.clone().prop_map(Box::new);
    let trigger = || prop::sample::select(TRIGGERS.to_vec());
    let beside = || prop::sample::select(BESIDE.to_vec());
    prop_oneof![
        (trigger(), trigger(), inside()).prop_map(|(one, other, inside)| Block::Gateway(one, other, inside)),
        (inside(), trigger()).prop_map(|(inside, on)| Block::Boundary(inside, "on", on)),
        (inside(), beside()).prop_map(|(inside, on)| Block::Boundary(inside, "beside", on)),
        (inside(), trigger()).prop_map(|(inside, on)| Block::EventSub(inside, "start", on)),
        (inside(), beside()).prop_map(|(inside, on)| Block::EventSub(inside, "start-beside", on)),
        (inside(), 0..4u8).prop_map(|(inside, choice)| Block::Transaction(inside, choice)),
        inside().prop_map(Block::UndoneWhole),
    ]
}

/// Writes blocks in the text notation.
#[derive(Default)]
struct Writer {
    text: String,
    next: u32,
}

impl Writer {
    fn id(&mut self) -> String {
        self.next += 1;
        format!("n{}", self.next)
    }

    /// An element and the flow out of it; what else there is to say stands below.
    fn line(&mut self, id: &str, what: &str, to: &str) {
        let (head, below) = what.split_once('\n').map_or((what, String::new()), |(head, below)| (head, format!("\n{below}")));
        writeln!(self.text, "{id}: {head} -> {to}{below}").unwrap();
    }

    /// A scope with this inside; gives the id of its start event.
    fn inside(&mut self, inside: &Block) -> String {
        let (start, end) = (self.id(), self.id());
        writeln!(self.text, "{end}: end").unwrap();
        let first = self.block(inside, &end);
        self.line(&start, "start", &first);
        start
    }

    /// An event sub-process of a scope: a task behind its start event.
    fn event_sub(&mut self, scope: &str, start: &str) {
        let (sub, come, work, end) = (self.id(), self.id(), self.id(), self.id());
        writeln!(self.text, "{sub} in {scope}: event-subprocess {come}\n{end}: end").unwrap();
        self.line(&come, start, &work);
        self.line(&work, "task t", &end);
    }

    /// Writes a block that goes on to `to`; gives the id it is entered by.
    fn block(&mut self, block: &Block, to: &str) -> String {
        let id = self.id();
        match block {
            Block::Pass => self.line(&id, "pass", to),
            Block::Task => self.line(&id, "task t", to),
            Block::Decision => self.line(&id, "decide out by rules", to),
            Block::Undo => self.line(&id, "compensate", to),
            Block::Undoable => {
                let (event, handler) = (self.id(), self.id());
                self.line(&id, "task t", to);
                writeln!(self.text, "{event}: compensate by {handler} on {id}\n{handler}: task t").unwrap();
            }
            Block::Catch(trigger) => self.line(&id, &format!("catch {trigger}"), to),
            Block::Throw(what) => self.line(&id, what, to),
            Block::Directed => {
                self.line(&id, "ad-hoc by t", to);
                let (one, other) = (self.id(), self.id());
                writeln!(self.text, "{one} in {id}: task t -> {other}\n{other} in {id}: task t").unwrap();
            }
            Block::Gateway(..) | Block::Boundary(..) | Block::EventSub(..) | Block::Transaction(..) | Block::UndoneWhole(_) => {
                self.with_events(block, &id, to);
            }
            Block::Each(inside, how, items) => {
                let start = self.inside(inside);
                self.line(&id, &format!("subprocess {start}"), to);
                // FEEL counts down from 1 to 0.
                let how =
                    if *items == 0 { how.replace("for i in 1..N return i", "[]") } else { how.replace('N', &items.to_string()) };
                writeln!(self.text, "    {}", how.replace('N', "0")).unwrap();
            }
            Block::Fragile => {
                self.line(&id, "task t", to);
                writeln!(self.text, "    in x = assert(fixed, fixed != null)").unwrap();
            }
            Block::Sequence(blocks) => {
                let first = blocks.iter().rev().fold(to.to_owned(), |next, block| self.block(block, &next));
                self.line(&id, "pass", &first);
            }
            Block::Exclusive(blocks) => {
                let join = self.id();
                self.line(&join, "exclusive", to);
                let ways: Vec<_> = blocks.iter().map(|block| self.block(block, &join)).collect();
                let conditions: Vec<_> = ways.iter().enumerate().map(|(n, way)| format!("{way} if choice = {n}")).collect();
                writeln!(self.text, "{id}: exclusive -> {}, default {join}", conditions.join(", ")).unwrap();
            }
            Block::Parallel(blocks) => {
                let join = self.id();
                self.line(&join, "parallel", to);
                let ways: Vec<_> = blocks.iter().map(|block| self.block(block, &join)).collect();
                self.line(&id, "parallel", &ways.join(", "));
            }
            Block::Inclusive(blocks) => {
                let join = self.id();
                self.line(&join, "inclusive", to);
                let ways: Vec<_> = blocks.iter().map(|block| self.block(block, &join)).collect();
                let conditions: Vec<_> = ways.iter().enumerate().map(|(n, way)| format!("{way} if choice < {n}")).collect();
                writeln!(self.text, "{id}: inclusive -> {}, default {join}", conditions.join(", ")).unwrap();
            }
            Block::Sub(inside, caught) => {
                let start = self.inside(inside);
                if !*caught {
                    self.line(&id, &format!("subprocess {start}"), to);
                    return id;
                }
                let (merge, boundary) = (self.id(), self.id());
                self.line(&merge, "exclusive", to);
                self.line(&id, &format!("subprocess {start}"), &merge);
                self.line(&boundary, &format!("error E on {id}"), &merge);
            }
        }
        id
    }

    fn with_events(&mut self, block: &Block, id: &str, to: &str) {
        let merge = self.id();
        self.line(&merge, "exclusive", to);
        match block {
            Block::Gateway(one, other, inside) => {
                let (first, second) = (self.id(), self.id());
                let way = self.block(inside, &merge);
                self.line(&first, &format!("catch {one}"), &way);
                // The same cannot be waited for twice behind one gateway.
                let other = if one == other || !other.starts_with("after") { "after PT2H" } else { other };
                self.line(&second, &format!("catch {other}"), &merge);
                self.line(id, "events", &format!("{first}, {second}"));
            }
            Block::Boundary(inside, word, trigger) => {
                let (start, event) = (self.inside(inside), self.id());
                self.line(id, &format!("subprocess {start}"), &merge);
                let way = if *word == "on" { merge } else { self.id() };
                self.line(&event, &format!("{word} {id} {trigger}"), &way);
                if *word == "beside" {
                    writeln!(self.text, "{way}: task t").unwrap();
                }
            }
            Block::EventSub(inside, word, trigger) => {
                let start = self.inside(inside);
                self.line(id, &format!("subprocess {start}"), &merge);
                self.event_sub(id, &format!("{word} {trigger}"));
            }
            Block::Transaction(inside, choice) => {
                let (start, choose, no, end, event) = (self.id(), self.id(), self.id(), self.id(), self.id());
                let first = self.block(inside, &choose);
                self.line(&start, "start", &first);
                writeln!(self.text, "{choose}: exclusive -> {no} if choice = {choice}, default {end}").unwrap();
                writeln!(self.text, "{no}: cancel\n{end}: end").unwrap();
                self.line(id, &format!("transaction {start}"), &merge);
                self.line(&event, &format!("on {id} cancel"), &merge);
            }
            Block::UndoneWhole(inside) => {
                let (start, undo) = (self.inside(inside), self.id());
                self.line(id, &format!("subprocess {start}"), &undo);
                self.line(&undo, "compensate", &merge);
                self.event_sub(id, "start compensation");
            }
            other => unreachable!("{other:?} has no events"),
        }
    }
}

pub(crate) fn process(block: &Block) -> Process {
    let mut writer = Writer::default();
    let first = writer.block(block, "end");
    let text = format!("# A generated process.\nstart: start -> {first}\n{}end: end\n", writer.text);
    compile::text(&text).unwrap_or_else(|diagnostics| {
        let problems: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", problems.join("\n"))
    })
}
