//! What must hold for processes nobody drew: random block-structured processes with events, taken along random paths.

mod blocks;
mod change;
mod run;
mod suspend;

use std::collections::BTreeSet;

use blocks::{block, compiled, process, reversed, text};
use engine::{Command, Event, Rejected, State};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use run::Run;

/// The paths come to all that is generated, else they would show nothing.
#[test]
fn everything_is_reached() {
    let mut runner = TestRunner::deterministic();
    let cases = (block(), 0..4u8, proptest::collection::vec(any::<usize>(), 0..40));
    let mut reached = BTreeSet::new();
    for _ in 0..1_000 {
        let (block, choice, path) = cases.new_tree(&mut runner).unwrap().current();
        let text = text(&block);
        let (process, other) = (compiled(&text), reversed(&text));
        let mut run = Run::start(&process, choice);
        for n in &path {
            if run.instance.state == State::Active {
                run.act(*n);
            }
        }
        reached.extend(run.reached());
        if run.instance.state == State::Active {
            run.migrate(&other);
            reached.insert("migrated");
        }
        if run.instance.state == State::Active && path.first().is_some_and(|n| run.modify(*n)) {
            reached.insert("modified");
        }
    }
    let wanted = [
        "boundary beside",
        "boundary interrupts",
        "cancel",
        "catch all",
        "catch any",
        "directed",
        "event sub-process beside",
        "event sub-process interrupts",
        "event sub-process undoes",
        "gateway",
        "heard at its end",
        "heard sub-process",
        "heard task",
        "migrated",
        "modified",
        "person",
        "repeated",
        "transaction",
    ];
    let missing: Vec<_> = wanted.iter().filter(|wanted| !reached.contains(**wanted)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

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

    /// Cancelling at any point leaves nothing behind, once those who listen to that were heard.
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
        run.hear_to_the_end();
        prop_assert_eq!(run.ask(&Command::Cancel), Err(Rejected::NotRunning));
    }

    /// In turns, however small, it comes to the same as at once.
    #[test]
    fn cancelling_in_turns_is_cancelling(
        block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20), elements in 1..4u32, suspended: bool,
    ) {
        let process = process(&block);
        let play = |elements: u32| {
            let mut run = Run::start(&process, choice);
            for n in &path {
                if run.instance.state == State::Active {
                    run.act(*n);
                }
            }
            if run.instance.state == State::Active {
                if suspended {
                    run.ask(&Command::Suspend).expect("what runs can be suspended");
                }
                // It may be on its way already.
                if run.cancel_in_turns(elements).is_err() && suspended {
                    run.ask(&Command::Resume).expect("it is as it was");
                }
            }
            run.check();
            let left: Vec<_> = run.instance.elements.keys().copied().collect();
            run.hear_to_the_end();
            (left, run.instance.state)
        };
        prop_assert_eq!(play(elements), play(10_000));
    }

    /// Migrating back and forth to processes with the same elements changes nothing but their places and names.
    #[test]
    fn migrating_changes_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..40)) {
        let text = text(&block);
        let (process, other) = (compiled(&text), reversed(&text));
        let (mut stays, mut moves) = (Run::start(&process, choice), Run::start(&process, choice));
        let mut now = 0;
        for n in path.into_iter().chain(std::iter::repeat_n(0, 20_000)) {
            if stays.instance.state != State::Active {
                break;
            }
            if n.is_multiple_of(3) && n != 0 {
                moves.migrate([&other, &process][now % 2]);
                now += 1;
            }
            stays.act(n);
            moves.act(n);
            if n != 0 {
                moves.check();
            }
        }
        moves.check();
        prop_assert_eq!(moves.instance.state, stays.instance.state);
        prop_assert_eq!(moves.instance.result.document(), stays.instance.result.document());
        prop_assert_eq!(moves.told([&process, &other]), stays.told([&process, &other]));
    }

    /// Whatever operators change, history and rows are state, and cancelling leaves nothing behind.
    #[test]
    fn modifying_leaves_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..30)) {
        let text = text(&block);
        let (process, other) = (compiled(&text), reversed(&text));
        let mut run = Run::start(&process, choice);
        let mut now = 0;
        for n in path {
            if run.instance.state != State::Active {
                break;
            }
            match n % 5 {
                0 | 1 => drop(run.modify(n / 5)),
                2 => {
                    run.migrate([&other, &process][now % 2]);
                    now += 1;
                }
                _ => run.act(n),
            }
            run.decide_all(n);
            run.restart();
            // What is ended may leave a token that waits alone.
            if run.instance.state != State::Active || run.instance.tokens().next().is_none() {
                run.check();
            }
        }
        if run.instance.state == State::Active {
            // It may be on its way already.
            let cancelled = run.ask(&Command::Cancel);
            prop_assert!(matches!(cancelled, Ok(()) | Err(Rejected::NotRunning)), "{:?}", cancelled);
        }
        run.hear_to_the_end();
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

    /// Suspending and resuming at any moment changes nothing, and nothing happens in between.
    #[test]
    fn suspending_changes_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20)) {
        let process = process(&block);
        let play = |suspends: bool| {
            let mut run = Run::start(&process, choice);
            for n in &path {
                if run.instance.state == State::Active {
                    if suspends && n.is_multiple_of(2) {
                        run.suspend_for_a_while();
                    }
                    run.act(*n);
                }
            }
            run.check();
            let is_news = |event: &Event| !matches!(event, Event::Suspended | Event::Resumed);
            (run.history.into_iter().filter(is_news).collect::<Vec<_>>(), run.instance, run.keys)
        };
        prop_assert_eq!(play(false), play(true));
    }

    /// Cancelling what is suspended leaves nothing behind.
    #[test]
    fn cancelling_what_is_suspended_leaves_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20)) {
        let process = process(&block);
        let mut run = Run::start(&process, choice);
        for n in path {
            if run.instance.state == State::Active {
                run.act(n);
            }
        }
        if run.instance.state == State::Active {
            run.ask(&Command::Suspend).expect("what runs can be suspended");
            let cancelled = run.ask(&Command::Cancel);
            prop_assert!(cancelled.is_ok(), "{:?}", cancelled);
        }
        run.check();
        run.hear_to_the_end();
    }

    /// A signal that comes while an instance is suspended does what it would have done, afterwards.
    #[test]
    fn a_signal_is_kept(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20)) {
        let process = process(&block);
        let play = |suspends: bool| {
            let mut run = Run::start(&process, choice);
            for n in &path {
                if run.instance.state == State::Active {
                    run.act(*n);
                }
                if run.instance.state == State::Active {
                    run.signal(suspends);
                    run.check();
                }
            }
            (run.instance.state, run.instance.result.document(), run.told([&process, &process]))
        };
        prop_assert_eq!(play(false), play(true));
    }

    /// Another server after any step changes nothing.
    #[test]
    fn a_restart_changes_nothing(block in block(), choice in 0..4u8, path in proptest::collection::vec(any::<usize>(), 0..20)) {
        let process = process(&block);
        let play = |restarts: bool| {
            let mut run = Run::start(&process, choice);
            for n in &path {
                if run.instance.state == State::Active {
                    if restarts {
                        run.restart();
                    }
                    run.act(*n);
                }
            }
            (run.history, run.keys)
        };
        prop_assert_eq!(play(false), play(true));
    }
}
