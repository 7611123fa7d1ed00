//! Long lists: what is done for an item does not grow with their number, no step takes long, and a restart in between loses nothing.

use engine::{
    Budget, Command, DefinitionKey, ElementInstance, Event, Instance, InstanceKey, Keys, Means, Progress, State, WaitKey,
    WaitKind, step,
};
use model::Process;

/// What the host gives a command.
const ELEMENTS: u32 = 1_000;
/// Events a step may give, all in all: those of its elements, and of a part of a list that was begun.
const EVENTS_MAX: usize = 8 * ELEMENTS as usize;

struct Run<'a> {
    process: &'a Process,
    instance: Instance,
    keys: Keys,
    events: usize,
    /// Bytes of the events of single steps, without the first and the last, which look at the whole list.
    bytes: Vec<usize>,
}

impl<'a> Run<'a> {
    fn start(process: &'a Process, items: u32) -> Self {
        let instance = Instance::new(InstanceKey(1), DefinitionKey(1));
        let mut run = Self { process, instance, keys: Keys::starting_at(2), events: 0, bytes: Vec::new() };
        run.ask(&Command::Start { at: None, parent: None, variables: vec![("n".into(), items.to_string().into())] });
        run
    }

    fn ask(&mut self, command: &Command) -> usize {
        let budget = &mut Budget::new(ELEMENTS, 1 << 24);
        let means = Means { globals: &model::Globals::default(), process: self.process, now: 0, keys: &mut self.keys, budget };
        let events = step(means, &mut self.instance, command).unwrap();
        self.instance.accept();
        self.events += events.len();
        self.bytes.push(events.iter().map(value_bytes).sum());
        events.len()
    }

    fn turn(&self) -> Option<WaitKey> {
        let waits = &self.instance.root()?.waits;
        waits.iter().find(|wait| matches!(wait.kind, WaitKind::Turn(_))).map(|wait| wait.key)
    }

    fn body(&self) -> &ElementInstance {
        self.instance.elements.values().find(|element| element.progress.is_some()).unwrap()
    }

    /// As after a restart: from rows alone.
    fn restart(&mut self) {
        let old = &self.instance;
        let mut new = Instance::restored(old.key, old.definition, old.root().unwrap().phase);
        new.state = old.state;
        for (key, element) in old.elements.iter().filter(|(key, _)| **key != old.key.root()) {
            let mut row = ElementInstance::new(element.element, element.scope, element.phase);
            row.progress = element.progress;
            new.restore_element(*key, row).unwrap();
        }
        for (key, element) in &old.elements {
            for variable in element.variables.iter().chain(element.variables.kept()) {
                new.restore_variable(*key, variable.clone()).unwrap();
            }
            element.waits.iter().for_each(|wait| new.restore_wait(*key, wait.clone()).unwrap());
        }
        assert_eq!(new, *old);
        self.instance = new;
    }
}

fn value_bytes(event: &Event) -> usize {
    match event {
        Event::VariableCreated { value, .. } | Event::VariableUpdated { value, .. } => value.len(),
        _ => 0,
    }
}

fn process(how: &str) -> Process {
    let text = format!("# Many.\nstart: start -> s\ns: {how}\nend: end\n");
    compile::text(&text).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"))
}

/// A condition comes true at the end of a turn, when others of the list are about to leave in the next.
#[test]
fn what_interrupts_at_the_end_of_a_turn_ends_what_was_left_for_the_next() {
    for last in (ELEMENTS - 200..ELEMENTS + 200).step_by(20) {
        let how = format!(
            "script last = i -> end\n    each i = for i in 1..n return i\nfull: event-subprocess fs\nfs: start when last = {last} -> done\ndone: end"
        );
        let process = process(&how);
        let mut run = Run::start(&process, 4 * ELEMENTS);
        while let Some(wait) = run.turn() {
            run.ask(&Command::Turn { wait });
        }
        assert_eq!(run.instance.state, State::Completed, "{last}");
        let last_seen = run.instance.result.get("last").map(|variable| variable.value.parse::<u32>());
        assert!(last_seen.is_some_and(|seen| seen.is_ok_and(|seen| last <= seen && seen < 4 * ELEMENTS)), "{last}");
    }
}

#[test]
fn a_long_list_is_started_in_turns_and_goes_on_after_a_restart() {
    let items = 100_000;
    let process = process("task work -> end\n    each item = for i in 1..n return i\n    collect results = item * 2");
    let mut run = Run::start(&process, items);
    let mut turns = 0;
    while let Some(wait) = run.turn() {
        if turns % 25 == 0 {
            run.restart();
        }
        let before = run.body().progress.unwrap().started;
        let events = run.ask(&Command::Turn { wait });
        assert!(events <= EVENTS_MAX, "a turn gave {events} events");
        let after = run.body().progress.unwrap().started;
        assert!(after - before <= 2 * ELEMENTS, "a turn started {} at once", after - before);
        turns += 1;
    }
    assert!(50 < turns, "only {turns} turns");
    assert_eq!(run.body().progress, Some(Progress { total: items, started: items, completed: 0, terminated: 0 }));
    assert_eq!(run.instance.elements.len() as u32, items + 2);
    let jobs: Vec<_> =
        run.instance.elements.iter().flat_map(|(key, element)| Some((*key, element.waits.first()?.job()?))).collect();
    assert_eq!(jobs.len() as u32, items);
    run.bytes.clear();
    for (element, job) in jobs.into_iter().rev() {
        run.ask(&Command::CompleteJob { job, element, variables: vec![] });
    }
    assert_eq!(run.instance.state, State::Completed);
    let last = run.bytes.pop().unwrap();
    assert!(run.bytes.iter().all(|bytes| *bytes < 20), "an output is written as what it is");
    assert!((items as usize) < last, "in the end all of them are");
    let results = run.instance.result.get("results").unwrap();
    let doubled: Vec<_> = (1..=items).map(|item| (item * 2).to_string()).collect();
    assert_eq!(*results.value, *format!("[{}]", doubled.join(",")));
}

/// Whoever else asks meanwhile waits for one turn of it, not for all.
#[test]
fn a_long_list_is_cancelled_in_turns_and_goes_on_after_a_restart() {
    let items = 10_000;
    let process = process("task work -> end\n    each item = for i in 1..n return i");
    let mut run = run_out(&process, items);
    let asked = run.ask(&Command::Cancel);
    assert!(run.instance.goes() && asked < 10, "{asked} events at once");
    let mut turns = 0;
    while let Some(wait) = run.turn() {
        run.restart();
        let events = run.ask(&Command::Turn { wait });
        assert!(events <= EVENTS_MAX, "a turn gave {events} events");
        turns += 1;
    }
    assert_eq!((run.instance.state, turns), (State::Terminated, items.div_ceil(ELEMENTS) as usize + 1));
    assert!(run.instance.elements.is_empty());
}

/// Twice as many items are twice as many events and bytes, one after the other as well as side by side.
#[test]
fn work_grows_with_the_list_and_no_faster() {
    for order in ["each", "in-turn"] {
        let process = process(&format!(
            "script r = item -> end\n    {order} item = for i in 1..n return 1000000 + i\n    collect results = r\n    \
             until numberOfCompletedInstances > n"
        ));
        let work = |items: u32| {
            let mut run = Run::start(&process, items);
            while let Some(wait) = run.turn() {
                run.ask(&Command::Turn { wait });
            }
            assert_eq!(run.instance.state, State::Completed);
            (run.events, run.bytes.iter().sum::<usize>())
        };
        let ((few_events, few_bytes), (many_events, many_bytes)) = (work(2_000), work(4_000));
        assert!(many_events * 10 < few_events * 21, "{order}: {few_events} events, then {many_events}");
        assert!(many_bytes * 10 < few_bytes * 21, "{order}: {few_bytes} bytes, then {many_bytes}");
    }
}

/// What is kept for the engine itself is shown to nobody.
#[test]
fn workers_do_not_see_what_is_kept() {
    let process = process("task work -> end\n    in-turn item = for i in 1..n return i\n    collect results = item");
    let run = Run::start(&process, 200);
    let (inner, _) = run.instance.elements.iter().find(|(key, _)| run.instance.is_inner(**key)).unwrap();
    let seen: Vec<_> = engine::visible(&run.instance, *inner, &[]).into_iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(seen, ["loopCounter", "item", "n"]);
    assert!(run.body().variables.kept().count() == 3, "two parts and a count are kept");
}

/// A row that lost the progress of a body is found out, rather than taken for an empty list.
#[test]
fn a_body_without_progress_is_not_taken() {
    let process = process("task work -> end\n    each = [1, 2]");
    let run = Run::start(&process, 2);
    assert_eq!(run.instance.check_restored(&process), Ok(()));
    let mut broken = run.instance.clone();
    broken.elements.values_mut().for_each(|element| element.progress = None);
    assert!(broken.check_restored(&process).unwrap_err().contains("how far it has come"));
}

/// Of a process in the text notation, until it waits or is stuck.
fn run_out<'a>(process: &'a Process, items: u32) -> Run<'a> {
    let mut run = Run::start(process, items);
    let mut turns = 0;
    while let Some(wait) = run.turn() {
        if turns % 7 == 0 {
            run.restart();
        }
        run.ask(&Command::Turn { wait });
        turns += 1;
    }
    run
}

fn read(text: &str) -> Process {
    compile::text(text).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"))
}

/// Each item counts for itself, however deep lists lie in lists and however many run side by side.
#[test]
fn long_lists_inside_lists_are_no_endless_loop() {
    for (outer, inner) in [("each", "each"), ("each", "in-turn"), ("in-turn", "each"), ("in-turn", "in-turn")] {
        let process = read(&format!(
            "# Lists in lists.\nstart: start -> all\nall: subprocess s -> end\n    {outer} item = for i in 1..n return i\n\
             s: start -> part\npart: pass -> e\n    {inner} piece = for i in 1..90 return i\ne: end\nend: end\n"
        ));
        let run = run_out(&process, 300);
        assert_eq!((run.instance.state, run.instance.incidents.len()), (State::Completed, 0), "{outer} {inner}");
        assert!(300 * 90 < run.events);
    }
}

/// Inside an item as well as around the whole list.
#[test]
fn endless_loops_with_lists_are_found() {
    let inside = read(
        "# An item that goes round.\nstart: start -> all\nall: subprocess s -> end\n    each item = for i in 1..n return i\n\
         s: start -> x\nx: exclusive -> y if item = 3, default e\ny: exclusive -> x if true, default e\ne: end\nend: end\n",
    );
    let run = run_out(&inside, 300);
    assert_eq!((run.instance.state, run.instance.incidents.len()), (State::Active, 1));
    assert!(run.events < 10 * engine::STRAIGHT_MAX as usize, "{} events until it was found", run.events);
    let around = read(
        "# A list that is worked through again and again.\nstart: start -> again\nagain: subprocess s -> end\n    loop n > 0\n\
         s: start -> all\nall: pass -> e\n    each item = for i in 1..n return i\ne: end\nend: end\n",
    );
    let run = run_out(&around, 2);
    assert_eq!((run.instance.state, run.instance.incidents.len()), (State::Active, 1));
    assert!(run.events < 40 * engine::STRAIGHT_MAX as usize, "{} events until it was found", run.events);
}
