//! What a step costs grows with what happens in it, not with all that lives or waits in the instance: eight times as many branches take about
//! eight times as long. What looks at all of them for each takes sixty-four times as long.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use engine::{
    Budget, Command, DefinitionKey, Document, ElementKey, Event, Instance, InstanceKey, JobKey, Keys, Means, On, STRAIGHT_MAX,
    State, WaitKey, WaitKind, step,
};
use model::Process;

const BRANCHES: usize = 1_000;
const TIMES_MORE: usize = 8;
/// Between eight and sixty-four, as far from both as it goes: larger processes fit less into the caches, and busy machines have less of them.
const FACTOR_MAX: u32 = 24;

struct Run<'a> {
    process: &'a Process,
    instance: Instance,
    keys: Keys,
    /// Elements that one command may enter.
    elements: u32,
    events: Vec<Event>,
}

impl<'a> Run<'a> {
    fn of(process: &'a Process) -> Self {
        Self::in_turns(process, u32::MAX)
    }

    fn in_turns(process: &'a Process, elements: u32) -> Self {
        let (instance, keys) = (Instance::new(InstanceKey(1), DefinitionKey(1)), Keys::starting_at(2));
        let mut run = Self { process, instance, keys, elements, events: Vec::new() };
        run.step(&Command::Start { at: None, parent: None, variables: Document::new() });
        let mut turns = 0;
        while let Some(wait) = run.turn() {
            run.step(&Command::Turn { wait });
            turns += 1;
            assert!(turns < 10_000, "it goes on forever");
        }
        run
    }

    fn turn(&self) -> Option<WaitKey> {
        let mut waits = self.instance.root()?.waits.iter();
        waits.find(|wait| matches!(wait.kind, WaitKind::Turn(_))).map(|wait| wait.key)
    }

    fn step(&mut self, command: &Command) {
        let budget = &mut Budget::new(self.elements, usize::MAX);
        let globals = &model::Globals::default();
        let means = Means { process: self.process, globals, now: 0, keys: &mut self.keys, budget };
        self.events.extend(step(means, &mut self.instance, command).expect("it is accepted"));
        self.instance.accept();
    }

    fn jobs(&self) -> Vec<(JobKey, ElementKey)> {
        let alive = self.instance.elements.iter();
        alive.flat_map(|(key, element)| element.waits.iter().filter_map(|wait| Some((wait.job()?, *key)))).collect()
    }

    /// All jobs, in the order given.
    fn work_off(&mut self, jobs: impl Iterator<Item = (JobKey, ElementKey)>) {
        for (job, element) in jobs {
            self.step(&Command::CompleteJob { job, element, variables: Document::new() });
        }
    }
}

/// Branches side by side, each as `branch` says by its number, all of them to `join`.
fn wide(count: usize, join: &str, branch: impl Fn(usize) -> String) -> Process {
    let mut text = String::from("s: start -> fork\nfork: parallel -> ");
    let firsts: Vec<_> = (0..count).map(|n| format!("a{n}")).collect();
    writeln!(text, "{}\njoin: {join} -> end\nend: end", firsts.join(", ")).expect("a string takes everything");
    for n in 0..count {
        writeln!(text, "{}", branch(n)).expect("a string takes everything");
    }
    compile::text(&text).expect("it is a process")
}

/// A run takes at most so many times as long with eight times as many branches. The fastest of some counts.
fn check_linear(process: impl Fn(usize) -> Process, run: impl Fn(&Process) -> Instance) {
    let fastest = |count: usize| {
        let process = process(count);
        let took = |_| {
            let begun = worked();
            let ended = run(&process);
            let took = worked() - begun;
            assert_eq!(ended.state, State::Completed);
            took
        };
        (0..4).map(took).min().unwrap_or(Duration::MAX)
    };
    let (few, many) = (fastest(BRANCHES), fastest(TIMES_MORE * BRANCHES));
    assert!(many < few * FACTOR_MAX, "{BRANCHES} branches take {few:?}, eight times as many {many:?}");
}

/// How long this thread has been at work, where that is known: others use the machine too, and a long run waits for them more often.
#[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
fn worked() -> Duration {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let worked = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = worked.and_then(|worked| worked.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed(), Duration::from_nanos)
}

/// Before, each task that left went over all that waited.
#[test]
fn tokens_that_wait_at_a_parallel_join_cost_the_others_nothing() {
    check_linear(|count| wide(count, "parallel", |n| format!("a{n}: pass -> join")), |process| Run::of(process).instance);
}

/// Before, each token that came went over all flows, and all that lived.
#[test]
fn jobs_before_an_inclusive_join_are_done_one_by_one() {
    check_linear(
        |count| wide(count, "inclusive", |n| format!("a{n}: task t -> join")),
        |process| {
            let mut run = Run::of(process);
            let jobs = run.jobs();
            run.work_off(jobs.into_iter().rev());
            run.instance
        },
    );
}

/// Before, each join went over all that lived beside it, and whoever left over all joins.
#[test]
fn small_joins_beside_each_other_look_at_their_own() {
    let branch = |n| {
        format!(
            "a{n}: inclusive -> b{n} if true, c{n} if true\nb{n}: task t -> j{n}\nc{n}: task t -> j{n}\nj{n}: inclusive -> join"
        )
    };
    check_linear(
        |count| wide(count / 3, "parallel", branch),
        |process| {
            let mut run = Run::of(process);
            let (first, second): (Vec<_>, Vec<_>) = run.jobs().into_iter().partition(|(_, key)| key.0 % 2 == 0);
            run.work_off(first.into_iter().chain(second));
            run.instance
        },
    );
}

/// Before, each turn wrote down once more all that was left for the others.
#[test]
fn what_is_left_for_turns_is_written_once() {
    let written = |count| {
        let process = wide(count, "parallel", |n| format!("a{n}: pass -> join"));
        let run = Run::in_turns(&process, 50);
        assert_eq!(run.instance.state, State::Completed);
        let entered = run.events.iter().filter(|event| matches!(event, Event::Entered { .. })).count();
        assert_eq!(entered, count + 5, "each is entered once");
        let bytes = run.events.iter().map(|event| match event {
            Event::WaitOpened(opened) => match &opened.on {
                On::Turn(turn) => 8 * turn.work.len(),
                _ => 0,
            },
            Event::VariableCreated { value, .. } | Event::VariableUpdated { value, .. } => value.len(),
            _ => 0,
        });
        bytes.sum::<usize>()
    };
    let (few, many) = (written(1_000), written(4_000));
    assert!(many < 5 * few, "{few} bytes for a thousand, {many} for four thousand");
}

/// However many turns it takes, what was entered in all of them counts.
#[test]
fn a_loop_that_becomes_more_and_more_is_found() {
    let process =
        compile::text("s: start -> x\nx: exclusive -> f if true, default e\ne: end\nf: parallel -> x, y\ny: exclusive -> x")
            .unwrap();
    let run = Run::in_turns(&process, 100);
    let count = |wanted: fn(&&Event) -> bool| run.events.iter().filter(wanted).count();
    let incidents = count(|event| matches!(event, Event::IncidentRaised { .. }));
    assert_eq!(run.instance.elements.len(), incidents + 1, "all of it is held by incidents");
    assert!(count(|event| matches!(event, Event::Entered { .. })) < 4 * STRAIGHT_MAX as usize);
}
