//! Joins of processes nobody drew. Block-structured ones must enter each element as often as a plain recursion over the blocks says, in
//! whatever order jobs are done and however often a step has to stop. In any other, a join at rest has a token to wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use engine::{
    Budget, Command, DefinitionKey, Document, ElementKey, Event, Instance, InstanceKey, JobKey, Keys, Means, State, WaitKind,
    step,
};
use model::{ElementIx, FlowIx, Kind, Process};
use proptest::prelude::*;

/// A block has one way in and one way out.
#[derive(Debug, Clone)]
enum Block {
    Task,
    Sequence(Vec<Block>),
    /// One branch, by the first of the chosen ways.
    Exclusive(Vec<Block>),
    Parallel(Vec<Block>),
    /// The branches of the chosen ways; none of them goes straight on.
    Inclusive(Vec<Block>),
    /// All branches, joined inclusively; those of the chosen ways end before the join. One always comes.
    LeadingAway(Vec<Block>),
    /// All branches over one complex gateway that starts with the first token and swallows the others.
    Discriminator(Vec<Block>),
    /// So many rounds, the first time it is come to; one round whenever it is come to again. Discriminators inside are parallel instead:
    /// the next round would come before they are reset.
    Loop(Box<Block>, u8),
    Sub(Box<Block>),
    /// A link to the block behind it.
    Link(Box<Block>),
}

fn block() -> impl Strategy<Value = Block> {
    Just(Block::Task).prop_recursive(4, 24, 3, |inner| {
        let several = || proptest::collection::vec(inner.clone(), 1..4);
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            several().prop_map(Block::Sequence),
            several().prop_map(Block::Exclusive),
            several().prop_map(Block::Parallel),
            several().prop_map(Block::Inclusive),
            several().prop_map(Block::Inclusive),
            several().prop_map(Block::LeadingAway),
            several().prop_map(Block::Discriminator),
            (inner.clone(), 1..4u8).prop_map(|(inside, rounds)| Block::Loop(Box::new(without_discriminators(inside)), rounds)),
            boxed().prop_map(Block::Sub),
            boxed().prop_map(Block::Link),
        ]
    })
}

fn without_discriminators(block: Block) -> Block {
    let all = |blocks: Vec<Block>| blocks.into_iter().map(without_discriminators).collect();
    let boxed = |block: Box<Block>| Box::new(without_discriminators(*block));
    match block {
        Block::Task => Block::Task,
        Block::Sequence(blocks) => Block::Sequence(all(blocks)),
        Block::Exclusive(blocks) => Block::Exclusive(all(blocks)),
        Block::Parallel(blocks) | Block::Discriminator(blocks) => Block::Parallel(all(blocks)),
        Block::Inclusive(blocks) => Block::Inclusive(all(blocks)),
        Block::LeadingAway(blocks) => Block::LeadingAway(all(blocks)),
        Block::Loop(inside, rounds) => Block::Loop(boxed(inside), rounds),
        Block::Sub(inside) => Block::Sub(boxed(inside)),
        Block::Link(inside) => Block::Link(boxed(inside)),
    }
}

/// Writes blocks in the text notation.
#[derive(Default)]
struct Writer {
    text: String,
    next: u32,
    /// The sub-process written now.
    scopes: Vec<String>,
}

impl Writer {
    fn id(&mut self) -> String {
        self.next += 1;
        format!("n{}", self.next)
    }

    fn line(&mut self, id: &str, what: &str) {
        let scope = self.scopes.last().map(|scope| format!(" in {scope}")).unwrap_or_default();
        writeln!(self.text, "{id}{scope}: {what}").unwrap();
    }

    /// Writes a block that goes on to `to`; gives the id it is entered by.
    fn block(&mut self, block: &Block, to: &str) -> String {
        let id = self.id();
        match block {
            Block::Task => self.line(&id, &format!("task t -> {to}")),
            Block::Sequence(blocks) => {
                let first = blocks.iter().rev().fold(to.to_owned(), |next, block| self.block(block, &next));
                self.line(&id, &format!("exclusive -> {first}"));
            }
            Block::Exclusive(blocks) => self.branches(&id, blocks, "exclusive", "exclusive", to),
            Block::Parallel(blocks) => self.branches(&id, blocks, "parallel", "parallel", to),
            Block::Inclusive(blocks) => self.branches(&id, blocks, "inclusive", "inclusive", to),
            Block::Discriminator(blocks) => self.branches(&id, blocks, "parallel", "complex = activationCount >= 1", to),
            Block::LeadingAway(blocks) => {
                let (join, always) = (self.id(), self.id());
                self.line(&join, &format!("inclusive -> {to}"));
                self.line(&always, &format!("task t -> {join}"));
                let mut ways = vec![always];
                for (n, block) in blocks.iter().enumerate() {
                    let (choice, away) = (self.id(), self.id());
                    self.line(&away, "end");
                    self.line(&choice, &format!("exclusive -> {away} if list contains(ways, {n}), default {join}"));
                    ways.push(self.block(block, &choice));
                }
                self.line(&id, &format!("parallel -> {}", ways.join(", ")));
            }
            Block::Loop(inside, rounds) => {
                let (count, again) = (self.id(), self.id());
                self.line(&again, &format!("exclusive -> {id} if rounds_{id} < {rounds}, default {to}"));
                self.line(&count, &format!("task t -> {again}"));
                writeln!(self.text, "    out rounds_{id} = if rounds_{id} = null then 1 else rounds_{id} + 1").unwrap();
                let first = self.block(inside, &count);
                self.line(&id, &format!("exclusive -> {first}"));
            }
            Block::Sub(inside) => {
                let (start, end) = (self.id(), self.id());
                self.line(&id, &format!("subprocess {start} -> {to}"));
                self.scopes.push(id.clone());
                self.line(&end, "end");
                let first = self.block(inside, &end);
                self.line(&start, &format!("start -> {first}"));
                self.scopes.pop();
            }
            Block::Link(inside) => {
                let (catch, first) = (self.id(), self.block(inside, to));
                self.line(&catch, &format!("link-catch {id} -> {first}"));
                self.line(&id, &format!("link-throw {id}"));
            }
        }
        id
    }

    fn branches(&mut self, id: &str, blocks: &[Block], split: &str, join: &str, to: &str) {
        let joined = self.id();
        self.line(&joined, &format!("{join} -> {to}"));
        let ways: Vec<_> = blocks.iter().map(|block| self.block(block, &joined)).collect();
        if split == "parallel" {
            return self.line(id, &format!("{split} -> {}", ways.join(", ")));
        }
        let ways = ways.iter().enumerate().map(|(n, way)| format!("{way} if list contains(ways, {n}), "));
        self.line(id, &format!("{split} -> {}default {joined}", ways.collect::<String>()));
    }
}

/// What ought to happen: how often each element is entered. Ids are given in the order of the writer.
struct Oracle<'a> {
    ways: &'a [usize],
    next: u32,
    entered: BTreeMap<String, u32>,
    rounds: BTreeMap<String, u8>,
}

impl Oracle<'_> {
    fn id(&mut self) -> String {
        self.next += 1;
        format!("n{}", self.next)
    }

    fn count(&mut self, id: &str, times: u32) {
        *self.entered.entry(id.to_owned()).or_insert(0) += times;
    }

    /// One passage through a block whose first id is the next, or none at all.
    fn pass(&mut self, block: &Block, times: u32) {
        let id = self.id();
        self.count(&id, times);
        match block {
            Block::Task => {}
            Block::Sequence(blocks) => blocks.iter().rev().for_each(|block| self.pass(block, times)),
            Block::Exclusive(blocks) => {
                let chosen = (0..blocks.len()).find(|n| self.ways.contains(n));
                self.branches(blocks, times, |_, n| Some(n) == chosen);
            }
            Block::Inclusive(blocks) => self.branches(blocks, times, |this, n| this.ways.contains(&n)),
            Block::Parallel(blocks) | Block::Discriminator(blocks) => self.branches(blocks, times, |_, _| true),
            Block::LeadingAway(blocks) => {
                for _ in 0..2 {
                    let id = self.id();
                    self.count(&id, times);
                }
                for (n, block) in blocks.iter().enumerate() {
                    let (choice, away) = (self.id(), self.id());
                    self.count(&choice, times);
                    self.count(&away, if self.ways.contains(&n) { times } else { 0 });
                    self.pass(block, times);
                }
            }
            Block::Loop(inside, rounds) => {
                let (count, again) = (self.id(), self.id());
                let before = self.rounds.get(&id).copied().unwrap_or(0);
                let passages = if times == 0 { 0 } else { rounds.saturating_sub(before).max(1) };
                self.rounds.insert(id.clone(), before + passages);
                self.count(&id, u32::from(passages).saturating_sub(times));
                self.count(&count, passages.into());
                self.count(&again, passages.into());
                let first = self.next;
                for round in 0..passages.max(1) {
                    self.next = first;
                    self.pass(inside, u32::from(round < passages));
                }
            }
            Block::Sub(inside) => {
                for _ in 0..2 {
                    let id = self.id();
                    self.count(&id, times);
                }
                self.pass(inside, times);
            }
            Block::Link(inside) => {
                let catch = self.id();
                self.count(&catch, times);
                self.pass(inside, times);
            }
        }
    }

    fn branches(&mut self, blocks: &[Block], times: u32, taken: impl Fn(&Self, usize) -> bool) {
        let join = self.id();
        self.count(&join, times);
        for (n, block) in blocks.iter().enumerate() {
            let times = if taken(self, n) { times } else { 0 };
            self.pass(block, times);
        }
    }
}

struct Run<'a> {
    process: &'a Process,
    instance: Instance,
    keys: Keys,
    entered: BTreeMap<String, u32>,
    /// How many elements a step may enter before it stops.
    share: u32,
}

impl<'a> Run<'a> {
    fn start(process: &'a Process, share: u32, variables: Document) -> Self {
        let instance = Instance::new(InstanceKey(1), DefinitionKey(1));
        let mut run = Self { process, instance, keys: Keys::starting_at(2), entered: BTreeMap::new(), share };
        run.ask(&Command::Start { at: None, parent: None, variables });
        run
    }

    /// Does a command and all turns it takes.
    fn ask(&mut self, command: &Command) {
        let mut next = Some(command.clone());
        while let Some(command) = next {
            let budget = &mut Budget::new(self.share, 1 << 24);
            let means =
                Means { globals: &model::Globals::default(), process: self.process, now: 0, keys: &mut self.keys, budget };
            let before = self.instance.clone();
            let events = step(means, &mut self.instance, &command).expect("what is there can be asked for");
            let mut undone = self.instance.clone();
            undone.undo();
            assert_eq!(undone, before, "{command:?} cannot be undone");
            self.instance.accept();
            for event in &events {
                if let Event::Entered { element, .. } = event {
                    *self.entered.entry(self.process.element(*element).id.to_string()).or_insert(0) += 1;
                }
            }
            let waits = self.instance.root().map(|root| root.waits.clone()).unwrap_or_default();
            let turn = waits.into_iter().find(|wait| matches!(wait.kind, WaitKind::Turn(_)));
            next = turn.map(|wait| Command::Turn { wait: wait.key });
        }
    }

    fn jobs(&self) -> Vec<(JobKey, ElementKey)> {
        let elements = self.instance.elements.iter();
        elements.flat_map(|(key, element)| element.waits.iter().filter_map(|wait| Some((wait.job()?, *key)))).collect()
    }

    /// Does the n-th of the jobs there are.
    fn work(&mut self, n: usize, variables: Document) {
        let jobs = self.jobs();
        if let Some((job, element)) = jobs.get(n % jobs.len().max(1)).copied() {
            self.ask(&Command::CompleteJob { job, element, variables });
        }
    }
}

fn compiled(text: &str) -> Process {
    compile::text(text).unwrap_or_else(|diagnostics| {
        let problems: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", problems.join("\n"))
    })
}

/// An inclusive join that waits although no token can still come along a flow that has none: a search forwards from each token, flow by
/// flow, says so. A token at another join that can as well come along a flow that has one is not waited for.
fn waits_for_nothing(run: &Run<'_>) -> Option<String> {
    let process = run.process;
    for (scope, element) in &run.instance.elements {
        let gateways: BTreeSet<ElementIx> = element.tokens().map(|(gateway, ..)| gateway).collect();
        for gateway in gateways.iter().copied().filter(|ix| matches!(process.element(*ix).kind, Kind::InclusiveGateway(_))) {
            let incoming = process.element(gateway).incoming.iter();
            let (filled, empty): (Vec<_>, Vec<_>) = incoming.partition(|flow| 0 < element.tokens_at(gateway, **flow));
            let comes = |place: ElementIx, flows: &[&FlowIx]| {
                let reached = forwards(process, place, gateway);
                place != gateway && flows.iter().any(|flow| reached.contains(flow))
            };
            let mut alive = run.instance.children(*scope).map(|child| run.instance.elements[&child].element);
            let moving = alive.any(|place| comes(place, &empty));
            let waiting = gateways.iter().any(|place| comes(*place, &empty) && !comes(*place, &filled));
            if !moving && !waiting {
                return Some(process.element(gateway).id.to_string());
            }
        }
    }
    None
}

/// The flows a token at this place can take, without passing through the gateway.
fn forwards(process: &Process, place: ElementIx, gateway: ElementIx) -> BTreeSet<FlowIx> {
    let (mut flows, mut seen, mut open) = (BTreeSet::new(), BTreeSet::from([gateway]), vec![place]);
    while let Some(ix) = open.pop() {
        if !seen.insert(ix) {
            continue;
        }
        let element = process.element(ix);
        flows.extend(&element.outgoing);
        open.extend(element.outgoing.iter().map(|flow| process.flow(*flow).target));
        open.extend(&element.boundaries);
    }
    flows
}

/// Tasks that lead to tasks, choices and joins at random; choices and joins lead to tasks or an end.
fn tangle(tasks: &[(u8, u8)], choices: &[(u8, u8)], joins: &[u8]) -> String {
    let mut text = String::from("start: start -> f\nend: end\n");
    let to_task = |n: u8| match n as usize % (tasks.len() + 1) {
        n if n < tasks.len() => format!("t{n}"),
        _ => "end".to_owned(),
    };
    let to_any = |n: u8| match n as usize % (tasks.len() + choices.len() + 3 * joins.len() + 1) {
        n if n < tasks.len() => format!("t{n}"),
        n if n < tasks.len() + choices.len() => format!("x{}", n - tasks.len()),
        n if n < tasks.len() + choices.len() + 3 * joins.len() => format!("j{}", (n - tasks.len() - choices.len()) / 3),
        _ => "end".to_owned(),
    };
    let all: Vec<_> = (0..tasks.len()).map(|n| format!("t{n}")).collect();
    writeln!(text, "f: parallel -> {}", all.join(", ")).unwrap();
    for (n, (to, caught)) in tasks.iter().enumerate() {
        writeln!(text, "t{n}: task t -> {}", to_any(*to)).unwrap();
        if caught % 3 == 0 {
            writeln!(text, "b{n}: error on t{n} -> {}", to_any(*caught)).unwrap();
        }
    }
    for (n, (one, other)) in choices.iter().enumerate() {
        writeln!(text, "x{n}: exclusive -> {} if n > 1, default {}", to_task(*one), to_task(*other)).unwrap();
    }
    for (n, to) in joins.iter().enumerate() {
        writeln!(text, "j{n}: inclusive -> {}", to_task(*to)).unwrap();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// No token is lost and none is doubled.
    #[test]
    fn blocks_are_passed_as_often_as_they_ought_to(
        block in block(),
        ways in proptest::sample::subsequence(vec![0_usize, 1, 2], 0..=3),
        order in proptest::collection::vec(any::<usize>(), 1..20),
        share in prop_oneof![Just(1_000_u32), 1..6_u32],
    ) {
        let mut writer = Writer::default();
        let first = writer.block(&block, "end");
        let text = format!("start: start -> {first}\n{}end: end\n", writer.text);
        let process = compiled(&text);
        let mut oracle = Oracle { ways: &ways, next: 0, entered: BTreeMap::new(), rounds: BTreeMap::new() };
        oracle.pass(&block, 1);
        oracle.entered.retain(|_, times| 0 < *times);

        let chosen = format!("{ways:?}");
        let mut run = Run::start(&process, share, vec![("ways".into(), chosen.into())]);
        for n in order.iter().cycle().take(5_000) {
            if run.jobs().is_empty() {
                break;
            }
            run.work(*n, Document::new());
        }
        prop_assert_eq!(run.instance.state, State::Completed, "{}", text);
        for id in ["start", "end", "process"] {
            run.entered.remove(id);
        }
        prop_assert_eq!(run.entered, oracle.entered, "{}", text);
    }

    /// Whatever was drawn, a join that waits has something to wait for.
    #[test]
    fn no_join_waits_for_nothing(
        tasks in proptest::collection::vec(any::<(u8, u8)>(), 1..6),
        choices in proptest::collection::vec(any::<(u8, u8)>(), 0..3),
        joins in proptest::collection::vec(any::<u8>(), 1..4),
        path in proptest::collection::vec(any::<(usize, bool, bool)>(), 0..30),
        share in prop_oneof![Just(1_000_u32), 1..6_u32],
    ) {
        let text = tangle(&tasks, &choices, &joins);
        let process = compiled(&text);
        let mut run = Run::start(&process, share, Document::new());
        for (n, high, error) in path {
            prop_assert_eq!(waits_for_nothing(&run), None, "{}", text);
            let jobs = run.jobs();
            let Some((job, element)) = jobs.get(n % jobs.len().max(1)).copied() else { break };
            let caught = !process.element(run.instance.elements[&element].element).boundaries.is_empty();
            if error && caught {
                let (code, message) = ("E".into(), "".into());
                run.ask(&Command::ThrowError(engine::ThrownError { job, element, code, message, variables: Document::new() }));
            } else {
                let variables = vec![("n".into(), if high { "2" } else { "1" }.into())];
                run.work(n, variables);
            }
        }
        prop_assert_eq!(waits_for_nothing(&run), None, "{}", text);
    }
}

/// A join that waits costs nothing when a token moves that could not have come to it. (Looking at one takes a key.)
#[test]
fn a_waiting_join_is_left_alone_by_what_cannot_come() {
    let keys_taken = |waiting: bool| {
        let mut text = String::from("start: start -> f\nend: end\nj: inclusive -> end\na: task t -> j\nb: task t -> j\n");
        let ways: Vec<_> = (0..100).map(|n| format!("t{n}")).collect();
        writeln!(text, "f: parallel -> a, b, {}", ways.join(", ")).unwrap();
        ways.iter().for_each(|way| writeln!(text, "{way}: task t -> end").unwrap());
        let process = compiled(&text);
        let mut run = Run::start(&process, 1_000, Document::new());
        if waiting {
            run.work(0, Document::new());
            assert_eq!(run.instance.tokens().count(), 1);
        }
        let before = run.keys.next_key();
        (0..100).for_each(|_| run.work(usize::from(!waiting) + 1, Document::new()));
        run.keys.next_key() - before
    };
    assert_eq!(keys_taken(true), keys_taken(false));
}
