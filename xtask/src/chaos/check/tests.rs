//! Every kind of wrong is noticed; a run without one is not blamed.

use super::*;

const INSTANCE: u64 = 100;
const FIRST: u64 = 101;
const SECOND: u64 = 102;

fn record(call: &str, act: Act, told: Told) -> Record {
    Record { at: 0, took: 1, call: call.to_owned(), act, told }
}

fn start(call: &str, told: Told) -> Record {
    record(call, Act::Start { process: process::LINE }, told)
}

fn work(job: u64) -> Work {
    Work { job, instance: INSTANCE, element: if job == FIRST { "first" } else { "second" }.to_owned() }
}

fn complete(call: &str, job: u64, told: Told) -> Record {
    record(call, Act::Complete(work(job)), told)
}

fn unknown() -> Told {
    Told::Unknown("the connection broke".to_owned())
}

fn instance() -> Instance {
    let text = |text: &str| format!("\"{text}\"");
    let job = |key, element: &str| Job { key, element: element.to_owned(), state: "COMPLETED".to_owned(), has_failed: false };
    Instance {
        process: process::LINE.to_owned(),
        state: "COMPLETED".to_owned(),
        incidents: 0,
        elements: ["begin", "first", "second", "end"].map(|id| (id.to_owned(), "COMPLETED".to_owned())).to_vec(),
        jobs: vec![job(FIRST, "first"), job(SECOND, "second")],
        variables: vec![
            ("token".to_owned(), text("s1")),
            ("count".to_owned(), "2".to_owned()),
            ("lane".to_owned(), text("odd")),
            ("done_first".to_owned(), text("w1")),
            ("done_second".to_owned(), text("w2")),
        ],
    }
}

/// One instance, acknowledged, whose first job was completed in doubt and whose second was acknowledged.
fn good() -> (Vec<Record>, Found) {
    let history = vec![
        start("s1", unknown()),
        start("s1", Told::Done(Some(INSTANCE))),
        start("s2", unknown()),
        record("s1", Act::Look { instance: INSTANCE }, Told::Done(None)),
        complete("w1", FIRST, unknown()),
        complete("w2", SECOND, Told::Done(None)),
        complete("w3", SECOND, Told::Refused(404)),
    ];
    let log = Log { first: 1, last: 9, rows: 9, position: 9, waiting: 0, damage: None };
    (history, Found { instances: BTreeMap::from([(INSTANCE, instance())]), log })
}

/// The first violation after something was changed in a good run.
fn blamed(change: impl FnOnce(&mut Vec<Record>, &mut Found)) -> String {
    let (mut history, mut found) = good();
    change(&mut history, &mut found);
    check(&history, &found).into_iter().next().unwrap_or_default()
}

fn the_instance(found: &mut Found) -> &mut Instance {
    found.instances.get_mut(&INSTANCE).expect("it is there")
}

fn set(found: &mut Found, name: &str, value: &str) {
    let variables = &mut the_instance(found).variables;
    variables.iter_mut().find(|(other, _)| other == name).expect("it is there").1 = value.to_owned();
}

#[track_caller]
fn assert_says(violation: &str, part: &str) {
    assert!(violation.contains(part), "'{violation}' does not say '{part}'");
}

#[test]
fn a_good_run_is_not_blamed() {
    let (history, found) = good();
    assert_eq!(check(&history, &found), Vec::<String>::new());
}

#[test]
fn a_start_in_doubt_may_be_there_as_a_whole() {
    let there = blamed(|history, found| {
        history.retain(|record| !matches!(record.told, Told::Done(Some(_))));
        set(found, "token", "\"s2\"");
        history.retain(|record| record.call != "s1" || record.told == unknown());
    });
    assert_eq!(there, "");
}

#[test]
fn a_lost_instance() {
    assert_says(&blamed(|_, found| found.instances.clear()), "is lost");
}

#[test]
fn a_doubled_start() {
    let doubled = blamed(|_, found| drop(found.instances.insert(200, Instance { jobs: Vec::new(), ..instance() })));
    assert_says(&doubled, "several times");
}

#[test]
fn a_key_that_gets_another_answer() {
    let doubled = blamed(|history, _| history.push(start("s1", Told::Done(Some(7)))));
    assert_says(&doubled, "several instances");
}

#[test]
fn an_effect_of_what_was_refused_or_never_sent() {
    let refused = blamed(|history, _| {
        history.retain(|record| record.call != "s1");
        history.push(start("s1", Told::Refused(400)));
    });
    assert_says(&refused, "was refused");
    assert_says(&blamed(|history, _| history.retain(|record| record.call != "s1")), "which nobody sent");
}

#[test]
fn an_instance_that_is_half_there() {
    assert_says(&blamed(|_, found| the_instance(found).variables.clear()), "has no token");
    assert_says(&blamed(|_, found| drop(the_instance(found).variables.pop())), "variables");
    assert_says(&blamed(|_, found| drop(the_instance(found).elements.pop())), "passed");
    assert_says(&blamed(|_, found| the_instance(found).elements[3].1 = "ACTIVE".to_owned()), "passed");
    assert_says(&blamed(|_, found| drop(the_instance(found).jobs.pop())), "jobs");
}

#[test]
fn an_instance_that_never_ended_or_is_stuck() {
    assert_says(&blamed(|_, found| the_instance(found).state = "ACTIVE".to_owned()), "not completed");
    assert_says(&blamed(|_, found| the_instance(found).incidents = 1), "incidents");
}

#[test]
fn an_element_passed_twice() {
    let twice = blamed(|_, found| the_instance(found).elements.push(("second".to_owned(), "COMPLETED".to_owned())));
    assert_says(&twice, "passed");
}

#[test]
fn an_effect_that_is_doubled_or_missing() {
    assert_says(&blamed(|_, found| set(found, "count", "3")), "counted");
    assert_says(&blamed(|_, found| set(found, "count", "1")), "counted");
}

#[test]
fn a_second_completion_accepted_as_fresh() {
    let second = blamed(|history, _| history.push(complete("w3", SECOND, Told::Done(None))));
    assert_says(&second, "several completions");
}

#[test]
fn the_effect_of_an_attempt_that_was_not_accepted() {
    assert_says(&blamed(|_, found| set(found, "done_second", "\"w3\"")), "shows the effect of 'w3'");
    assert_says(&blamed(|_, found| set(found, "done_first", "\"w9\"")), "shows the effect of 'w9'");
}

#[test]
fn an_acknowledged_failure_that_left_nothing() {
    let lost = blamed(|history, _| history.push(record("w4", Act::Fail(work(FIRST)), Told::Done(None))));
    assert_says(&lost, "nothing is left of it");
}

#[test]
fn a_job_handed_out_under_another_name() {
    let mixed = blamed(|history, _| {
        let other = Work { instance: 5, ..work(FIRST) };
        history.push(record("w5", Act::Complete(other), Told::Refused(404)));
    });
    assert_says(&mixed, "another instance's");
}

#[test]
fn a_job_given_to_two_at_once() {
    let given = |call: &str, from, until| {
        let act = Act::Given { work: work(FIRST), from, until };
        Record { at: from + 10, ..record(call, act, Told::Done(None)) }
    };
    let failed = |at| Record { at, ..record("w1", Act::Fail(work(FIRST)), unknown()) };
    let twice = blamed(|history, _| history.extend([given("w1", 1_000, 2_500), given("w3", 2_000, 3_500)]));
    assert_says(&twice, "500 ms too early to w3");
    assert_eq!(blamed(|history, _| history.extend([given("w1", 1_000, 2_500), given("w3", 2_490, 4_000)])), "");
    let returned = [given("w1", 1_000, 2_500), failed(1_500), given("w3", 2_000, 3_500)];
    assert_eq!(blamed(|history, _| history.extend(returned)), "");
}

#[test]
fn a_read_that_does_not_see_what_was_acknowledged() {
    let unseen = blamed(|history, _| history.push(record("s1", Act::Look { instance: INSTANCE }, Told::Refused(404))));
    assert_says(&unseen, "reading it gave 404");
}

#[test]
fn a_start_or_a_poll_that_is_refused() {
    assert_says(&blamed(|history, _| history.push(start("s3", Told::Refused(404)))), "was refused with 404");
    assert_says(&blamed(|history, _| history.push(record("w9", Act::Poll, Told::Refused(400)))), "was refused with 400");
}

#[test]
fn an_answer_nobody_may_get() {
    let fault = blamed(|history, _| history.push(record("p", Act::Poll, Told::Wrong("500".to_owned()))));
    assert_says(&fault, "was told: 500");
}

#[test]
fn a_log_with_a_gap_or_a_skipped_command() {
    assert_says(&blamed(|_, found| found.log.rows = 8), "gap");
    assert_says(&blamed(|_, found| found.log.first = 2), "gap");
    assert_says(&blamed(|_, found| found.log.position = 10), "its partition says 10");
    assert_says(&blamed(|_, found| found.log.waiting = 1), "skipped");
    assert_says(&blamed(|_, found| found.log.damage = Some("page 3".to_owned())), "damaged");
}
