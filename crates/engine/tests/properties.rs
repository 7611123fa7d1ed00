//! What must hold for processes nobody drew: random block-structured processes, taken along random paths.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;

use engine::{
    Activation, Ancestor, Budget, Command, DefinitionKey, ElementInstance, ElementKey, Event, FailedJob, IncidentKey,
    IncidentKind, Instance, InstanceKey, JobKey, Keys, Means, Migration, Modification, Move, Rejected, State, ThrownError,
    Undecided, WaitKey, WaitKind, Which, migrate, step,
};
use model::{Kind, Process};
use proptest::prelude::*;

/// A block has one way in and one way out.
#[derive(Debug, Clone)]
enum Block {
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
}

/// Ways to repeat: `N` is how often.
const REPEATS: [&str; 5] = [
    "each item = for i in 1..N return i\n    collect results = item",
    "in-turn item = for i in 1..N return {i: i}\n    collect results = item.i",
    "each = for i in 1..N return i\n    until numberOfCompletedInstances = 2",
    "in-turn item = assert(fixed, fixed != null)",
    "loop-while loopCounter < N",
];

fn block() -> impl Strategy<Value = Block> {
    let leaf = prop_oneof![
        Just(Block::Pass),
        Just(Block::Task),
        Just(Block::Task),
        Just(Block::Fragile),
        Just(Block::Decision),
        Just(Block::Undoable),
        Just(Block::Undo)
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
        ]
    })
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

    fn line(&mut self, id: &str, what: &str, to: &str) {
        writeln!(self.text, "{id}: {what} -> {to}").unwrap();
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
            Block::Each(inside, how, items) => {
                let (start, end) = (self.id(), self.id());
                writeln!(self.text, "{end}: end").unwrap();
                let first = self.block(inside, &end);
                self.line(&start, "start", &first);
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
                let (start, end) = (self.id(), self.id());
                writeln!(self.text, "{end}: end").unwrap();
                let first = self.block(inside, &end);
                self.line(&start, "start", &first);
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
}

fn process(block: &Block) -> Process {
    compiled(&text(block))
}

fn text(block: &Block) -> String {
    let mut writer = Writer::default();
    let first = writer.block(block, "end");
    format!("# A generated process.\nstart: start -> {first}\n{}end: end\n", writer.text)
}

/// The same process written from the end to the beginning: its elements and flows have other places.
fn reversed(text: &str) -> Process {
    let mut elements: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        match elements.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(&format!("{line}\n")),
            _ => elements.push(format!("{line}\n")),
        }
    }
    elements.reverse();
    compiled(&format!("# A generated process.\n{}", elements.concat()))
}

fn compiled(text: &str) -> Process {
    compile::text(text).unwrap_or_else(|diagnostics| {
        let problems: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", problems.join("\n"))
    })
}

/// One run: the instance, all that happened, the keys.
struct Run<'a> {
    process: &'a Process,
    instance: Instance,
    history: Vec<Event>,
    keys: Keys,
}

impl<'a> Run<'a> {
    fn start(process: &'a Process, choice: u8) -> Self {
        let instance = Instance::new(InstanceKey(1), DefinitionKey(1));
        let mut run = Self { process, instance, history: Vec::new(), keys: Keys::starting_at(2) };
        let variables = vec![("choice".into(), choice.to_string().into())];
        run.ask(&Command::Start { at: None, parent: None, variables }).expect("a new instance starts");
        run
    }

    fn ask(&mut self, command: &Command) -> Result<(), Rejected> {
        self.step(command)?;
        while let Some(wait) = self.turn() {
            self.step(&Command::Turn { wait })?;
        }
        Ok(())
    }

    /// What the host does next by itself: a step that takes long goes on.
    fn turn(&self) -> Option<WaitKey> {
        let waits = &self.instance.root()?.waits;
        waits.iter().find(|wait| matches!(wait.kind, WaitKind::Turn(_))).map(|wait| wait.key)
    }

    fn step(&mut self, command: &Command) -> Result<(), Rejected> {
        let before = self.instance.clone();
        let means = Means { process: self.process, now: 0, keys: &mut self.keys, budget: &mut Budget::new(20, 1 << 24) };
        let events = match step(means, &mut self.instance, command) {
            Ok(events) => events,
            Err(rejected) => {
                assert_eq!(self.instance, before, "{command:?} was rejected and changed something");
                return Err(rejected);
            }
        };
        let mut undone = self.instance.clone();
        undone.undo();
        assert_eq!(undone, before, "{command:?} cannot be undone");
        self.instance.accept();
        self.history.extend(events);
        Ok(())
    }

    fn jobs(&self) -> Vec<(JobKey, ElementKey)> {
        let free = self.instance.elements.iter().filter(|(_, element)| element.incident.is_none());
        free.flat_map(|(key, element)| element.waits.iter().filter_map(|wait| Some((wait.job()?, *key)))).collect()
    }

    /// Elements that wait for a verdict.
    fn decisions(&self) -> Vec<ElementKey> {
        let asks = |element: &ElementInstance| {
            element.progress.is_none() && matches!(self.process.element(element.element).kind, Kind::DecisionTask(_))
        };
        let elements = self.instance.elements.iter();
        elements.filter(|(_, element)| asks(element) && element.incident.is_none()).map(|(key, _)| *key).collect()
    }

    /// Gives verdicts until nobody asks, as the host does within a tick; one in `n` fails.
    fn decide_all(&mut self, n: usize) {
        while let Some(element) = self.decisions().first().copied() {
            let failed = Undecided { kind: IncidentKind::DecisionEvaluation, reason: "two rules match".into() };
            let verdict = if n % 3 == 2 { Err(failed) } else { Ok("1".into()) };
            let decide = Command::Decide { element, verdict };
            self.ask(&decide).expect("the element asked");
            let again = if self.instance.state == State::Active { Rejected::NoSuchDecision } else { Rejected::NotRunning };
            assert_eq!(self.ask(&decide), Err(again), "decided twice");
        }
    }

    fn incidents(&self) -> Vec<IncidentKey> {
        self.instance.incidents.keys().copied().collect()
    }

    /// The n-th thing that can be done now. Fixing the cause comes with the first incident resolved.
    fn act(&mut self, n: usize) {
        self.decide_all(n);
        if self.instance.state != State::Active {
            return;
        }
        let (jobs, incidents) = (self.jobs(), self.incidents());
        match n % (jobs.len() + incidents.len()).max(1) {
            n if n < jobs.len() => {
                let (job, element) = jobs[n];
                let command = if n % 5 == 4 {
                    Command::ThrowError(ThrownError { job, element, code: "E".into(), message: "".into(), variables: vec![] })
                } else if n % 7 == 6 {
                    Command::FailJob(FailedJob { job, element, variables: vec![], stuck: Some("broken".into()) })
                } else {
                    Command::CompleteJob { job, element, variables: vec![("done".into(), "true".into())] }
                };
                self.ask(&command).expect("an open job can be worked on");
                if matches!(command, Command::CompleteJob { .. }) {
                    assert_eq!(self.ask(&command), self.again(), "a job completed twice");
                }
            }
            n if n < jobs.len() + incidents.len() => {
                let fix = Command::SetVariables {
                    scope: InstanceKey(1).root(),
                    variables: vec![("fixed".into(), "[1,2]".into())],
                    local: true,
                };
                self.ask(&fix).expect("the process is there");
                self.ask(&Command::ResolveIncident { incident: incidents[n - jobs.len()] }).expect("the incident is there");
            }
            _ => {}
        }
    }

    /// Goes on as an instance of a process with the same elements.
    fn migrate(&mut self, target: &'a Process) {
        let before = self.instance.clone();
        let ids = self.process.elements.iter().map(|element| &element.id).chain(self.process.flows.iter().map(|flow| &flow.id));
        let mappings: Vec<_> = ids.map(|id| (id.clone(), id.clone())).collect();
        let definition = DefinitionKey(self.instance.definition.0 + 1);
        let migration = Migration { definition, process: target, mappings: &mappings };
        let means = Means { process: self.process, now: 0, keys: &mut self.keys, budget: &mut Budget::new(20, 1 << 24) };
        let events = migrate(means, &mut self.instance, &migration).expect("it has all it needs");
        let mut undone = self.instance.clone();
        undone.undo();
        assert_eq!(undone, before, "a migration cannot be undone");
        self.instance.accept();
        self.history.extend(events);
        self.process = target;
    }

    /// Ends, enters or moves something; what cannot be is refused.
    fn modify(&mut self, n: usize) {
        let living: Vec<_> = self.instance.elements.keys().copied().collect();
        let (key, other) = (living[n % living.len()], living[n / 7 % living.len()]);
        let id = |n: usize| self.process.elements[n % self.process.elements.len()].id.clone();
        let ancestor = n.is_multiple_of(3).then_some(other);
        let activation = Activation { element: id(n / 3), ancestor, variables: Vec::new() };
        let ancestors = [Ancestor::Any, Ancestor::OfSource, Ancestor::ParentOfSource, Ancestor::Key(other)];
        let source = if n.is_multiple_of(2) { Which::Key(key) } else { Which::Id(id(n / 11)) };
        let moved = Move { source, target: id(n / 5), ancestor: ancestors[n % 4], variables: Vec::new() };
        let nothing = Modification::default;
        let modification = match n % 5 {
            0 => Modification { terminate: vec![Which::Key(key)], ..nothing() },
            1 => Modification { activate: vec![activation], ..nothing() },
            2 => Modification { activate: vec![activation], terminate: vec![Which::Key(key)], ..nothing() },
            _ => Modification { moves: vec![moved], ..nothing() },
        };
        match self.ask(&Command::Modify(modification)) {
            Ok(()) | Err(Rejected::Invalid(_)) => {}
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Which elements were entered, left and dropped, by their ids.
    fn told(&self, processes: &[&Process]) -> Vec<String> {
        let mut ids = std::collections::BTreeMap::new();
        let mut now = 0;
        let mut told = Vec::new();
        for event in &self.history {
            match event {
                Event::Entered { key, element, .. } => drop(ids.insert(*key, processes[now % 2].element(*element).id.clone())),
                Event::Left { key } => told.push(format!("{} left", ids[key])),
                Event::Dropped { key } => told.push(format!("{} dropped", ids[key])),
                Event::Migrated(_) => now += 1,
                _ => {}
            }
        }
        told
    }

    /// What a second completion is told.
    fn again(&self) -> Result<(), Rejected> {
        Err(if self.instance.state == State::Active { Rejected::NoSuchJob } else { Rejected::NotRunning })
    }

    fn check(&self) {
        let mut replayed = Instance::new(InstanceKey(1), DefinitionKey(1));
        self.history.iter().for_each(|event| replayed.apply(event));
        assert_eq!(replayed, self.instance, "history is not state");
        if self.instance.state == State::Active {
            assert!(
                !self.jobs().is_empty() || !self.incidents().is_empty() || !self.decisions().is_empty(),
                "an active instance waits for nothing: {:?}",
                self.instance
            );
        } else {
            self.check_nothing_left();
        }
    }

    fn check_nothing_left(&self) {
        assert!(self.instance.elements.is_empty() && self.instance.incidents.is_empty());
        let opened = self.history.iter().filter(|event| matches!(event, Event::WaitOpened(_))).count();
        let closed = self.history.iter().filter(|event| matches!(event, Event::WaitClosed { .. })).count();
        assert_eq!(opened, closed, "a wait outlives its instance");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is done, history is state, an active instance waits for something, and in the end nothing is left.
    #[test]
    fn every_path_ends_clean(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..40)) {
        let process = process(&block);
        let mut run = Run::start(&process, choice);
        run.check();
        for n in path {
            if run.instance.state != State::Active {
                break;
            }
            run.act(n);
            run.check();
        }
        // From wherever that led, doing the first thing again and again ends it.
        for _ in 0..20_000 {
            if run.instance.state != State::Active {
                break;
            }
            run.act(0);
        }
        prop_assert_eq!(run.instance.state, State::Completed);
        run.check();
    }

    /// Cancelling at any point leaves nothing behind.
    #[test]
    fn cancelling_leaves_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20)) {
        let process = process(&block);
        let mut run = Run::start(&process, choice);
        for n in path {
            if run.instance.state == State::Active {
                run.act(n);
            }
        }
        if run.instance.state == State::Active {
            run.ask(&Command::Cancel).expect("an active instance can be cancelled");
        }
        run.check();
        run.check_nothing_left();
        prop_assert_eq!(run.ask(&Command::Cancel), Err(Rejected::NotRunning));
    }

    /// Migrating back and forth to processes with the same elements changes nothing but their places.
    #[test]
    fn migrating_changes_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..40)) {
        let text = text(&block);
        let (process, other) = (compiled(&text), reversed(&text));
        let (mut stays, mut moves) = (Run::start(&process, choice), Run::start(&process, choice));
        let mut now = 0;
        for n in path.into_iter().chain(std::iter::repeat_n(0, 2_000)) {
            if stays.instance.state != State::Active {
                break;
            }
            if n.is_multiple_of(3) && n != 0 {
                now += 1;
                moves.migrate([&process, &other][now % 2]);
            }
            stays.act(n);
            moves.act(n);
            moves.check();
        }
        prop_assert_eq!(moves.instance.state, stays.instance.state);
        prop_assert_eq!(moves.instance.result.document(), stays.instance.result.document());
        prop_assert_eq!(moves.told(&[&process, &other]), stays.told(&[&process, &other]));
    }

    /// Whatever an operator changes, history is state, and cancelling leaves nothing behind.
    #[test]
    fn modifying_leaves_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..30)) {
        let process = process(&block);
        let mut run = Run::start(&process, choice);
        for n in path {
            if run.instance.state == State::Active {
                if n.is_multiple_of(2) { run.modify(n / 2) } else { run.act(n) }
                run.decide_all(n);
                // What is ended may leave a token that waits alone.
                if run.instance.state != State::Active || run.instance.tokens().next().is_none() {
                    run.check();
                }
            }
        }
        if run.instance.state == State::Active {
            run.ask(&Command::Cancel).expect("an active instance can be cancelled");
        }
        run.check_nothing_left();
    }

    /// The same commands with the same keys give the same events.
    #[test]
    fn the_same_again_is_the_same(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20)) {
        let process = process(&block);
        let play = || {
            let mut run = Run::start(&process, choice);
            for n in &path {
                if run.instance.state == State::Active {
                    run.act(*n);
                }
            }
            (run.history, run.keys)
        };
        prop_assert_eq!(play(), play());
    }
}
