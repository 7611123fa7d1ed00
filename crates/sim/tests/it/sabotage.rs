//! A store that breaks its contract is noticed, by the invariant it breaks: the model can fail.

use std::sync::Arc;

use host::Metrics;
use sim::{Plan, Recording, Sabotage, play, shrink};

/// Most are noticed in the first seed or two.
const SEEDS_MAX: u64 = 200;

#[test]
fn every_sabotage_is_noticed() {
    let metrics = Arc::new(Metrics::default());
    for sabotage in Sabotage::ALL {
        let plans = (0..SEEDS_MAX).map(|seed| Plan { sabotage: Some(sabotage), ..Plan::of(seed) });
        let mut violations = plans.filter_map(|plan| play(&plan, Recording::Off, &metrics).violation);
        let noticed = violations.any(|violation| violation.invariant == sabotage.breaks());
        assert!(noticed, "{sabotage:?} does not break invariant {} in {SEEDS_MAX} seeds", sabotage.breaks());
    }
}

#[test]
fn a_failing_plan_shrinks_and_says_how_to_replay_it() {
    let metrics = Arc::new(Metrics::default());
    let plan = Plan { sabotage: Some(Sabotage::TellsLaterTimes), ..Plan::of(0) };
    let small = shrink(&plan, &metrics);
    assert_eq!((small.clients, small.acts, small.workers, small.engines), (1, 1, 0, 1));
    assert_eq!(small.faults.iter().count(), 0);
    let command = small.command();
    assert!(command.starts_with("cargo xtask sim --seed 0 --only none --sabotage TellsLaterTimes "), "{command}");
    // What the seed draws by itself is not said again.
    assert!(command.contains(" --acts 1 --workers 0"), "{command}");
}

#[test]
fn what_the_command_line_names_is_what_a_plan_plays() {
    let names = [("only", "stalls,commit-late"), ("clients", "1"), ("sabotage", "LosesRows")];
    let plan = names.iter().try_fold(Plan::of(7), |plan, (name, value)| plan.changed(name, value)).expect("all are known");
    let again = plan.command();
    for (name, value) in [("--only", "commit-late,stalls"), ("--sabotage", "LosesRows")] {
        assert!(again.contains(&format!("{name} {value}")), "{again}");
    }
    assert!(Plan::of(7).changed("only", "rain").is_err());
}
