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
    /// The inside and a task, then undone as a whole.
    UndoneWhole(Box<Block>),
    /// A task and one for a person that the worker of another starts.
    Directed,
    /// Throws this.
    Throw(&'static str),
    /// A task whose start and end are listened to.
    Heard,
    /// A task for a person, listened to from its creation to its end, and for how many; it can take too long.
    Person(&'static str),
    /// The inside of a sub-process whose start and end are listened to.
    HeardSub(Box<Block>),
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
        Just(Block::Heard),
        prop::sample::select(vec!["", "\n    each = [1, 2]", "\n    in-turn = [1, 2]"]).prop_map(Block::Person),
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
            inner.clone().prop_map(|inside| Block::HeardSub(Box::new(inside))),
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
    fn event_sub(&mut self, scope: &str, start: &str, listeners: &str) {
        let (sub, come, work, end) = (self.id(), self.id(), self.id(), self.id());
        writeln!(self.text, "{sub} in {scope}: event-subprocess {come}{listeners}\n{end}: end").unwrap();
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
            Block::Heard | Block::Person(_) | Block::HeardSub(_) => self.heard(block, &id, to),
            Block::Directed => {
                self.line(&id, "ad-hoc by t\n    listen start a\n    listen end b", to);
                let (one, other) = (self.id(), self.id());
                writeln!(self.text, "{one} in {id}: task t -> {other}\n{other} in {id}: user\n    listen canceling c").unwrap();
                self.event_sub(&id, "start-beside signal s", "\n    listen end b");
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

    fn heard(&mut self, block: &Block, id: &str, to: &str) {
        match block {
            Block::Heard => {
                let listeners = "    listen start a\n    listen start b\n    listen end = if fixed = null then 1 else \"c\"";
                self.line(id, &format!("task t\n    in x = 1\n    out y = x\n{listeners}"), to);
            }
            Block::Person(repeats) => {
                let (merge, late) = (self.id(), self.id());
                let listeners = "    listen creating a\n    listen completing b\n    listen canceling c\n    listen end d";
                self.line(&merge, "exclusive", to);
                self.line(id, &format!("user{repeats}\n{listeners}"), &merge);
                self.line(&late, &format!("on {id} after PT1H"), &merge);
            }
            Block::HeardSub(inside) => {
                let start = self.inside(inside);
                self.line(id, &format!("subprocess {start}\n    listen start a\n    listen end b"), to);
            }
            other => unreachable!("nobody listens to {other:?}"),
        }
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
                let listeners = if *word == "start" { "\n    listen start a\n    listen end b" } else { "" };
                self.event_sub(id, &format!("{word} {trigger}"), listeners);
            }
            Block::Transaction(inside, choice) => {
                let (start, choose, no, end, event) = (self.id(), self.id(), self.id(), self.id(), self.id());
                let first = self.block(inside, &choose);
                self.line(&start, "start", &first);
                writeln!(self.text, "{choose}: exclusive -> {no} if choice = {choice}, default {end}").unwrap();
                writeln!(self.text, "{no}: cancel\n{end}: end").unwrap();
                let listeners = if choice.is_multiple_of(2) { "" } else { "\n    listen start a\n    listen end b" };
                self.line(id, &format!("transaction {start}{listeners}"), &merge);
                self.line(&event, &format!("on {id} cancel"), &merge);
            }
            Block::UndoneWhole(inside) => {
                let (start, work, undo) = (self.inside(inside), self.id(), self.id());
                self.line(id, &format!("subprocess {start}"), &work);
                self.line(&work, "task t", &undo);
                self.line(&undo, "compensate", &merge);
                self.event_sub(id, "start compensation", "\n    listen start a");
            }
            other => unreachable!("{other:?} has no events"),
        }
    }
}

pub(crate) fn process(block: &Block) -> Process {
    compiled(&text(block))
}

pub(crate) fn text(block: &Block) -> String {
    let mut writer = Writer::default();
    let first = writer.block(block, "end");
    format!("# A generated process.\nstart: start -> {first}\n{}end: end\n", writer.text)
}

/// Generated ids under their other names: `n1` is `m1`, and the other way round.
pub(crate) fn renamed(text: &str) -> String {
    let is_id =
        |word: &str| word.len() > 1 && word.starts_with(['n', 'm']) && word[1..].bytes().all(|byte| byte.is_ascii_digit());
    let other = |word: &str| format!("{}{}", if word.starts_with('n') { 'm' } else { 'n' }, &word[1..]);
    let mut renamed = String::new();
    for part in text.split_inclusive(|one: char| !one.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|one: char| !one.is_ascii_alphanumeric());
        match is_id(word) {
            true => renamed.push_str(&format!("{}{}", other(word), &part[word.len()..])),
            false => renamed.push_str(part),
        }
    }
    renamed
}

/// The same process written from the end to the beginning: its elements and flows have other places and other names.
pub(crate) fn reversed(text: &str) -> Process {
    let mut elements: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        match elements.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(&format!("{line}\n")),
            _ => elements.push(format!("{line}\n")),
        }
    }
    elements.reverse();
    compiled(&renamed(&format!("# A generated process.\n{}", elements.concat())))
}

pub(crate) fn compiled(text: &str) -> Process {
    compile::text(text).unwrap_or_else(|diagnostics| {
        let problems: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", problems.join("\n"))
    })
}
