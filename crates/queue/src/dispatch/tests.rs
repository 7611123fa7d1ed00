use std::sync::LazyLock;

use super::*;
use crate::{Counted, Millis};

static POOL: LazyLock<Arc<str>> = LazyLock::new(|| "pool".into());

fn dispatch() -> Dispatch<&'static str> {
    Dispatch::new(10, |_| &POOL)
}

fn seat(priority: i32, key: u64) -> Seat {
    Seat { priority, created: key as i64, key }
}

fn waiting(dispatch: &mut Dispatch<&'static str>, waiter: u64, queues: &[&'static str]) {
    dispatch.wait(WaiterId(waiter), queues.to_vec());
}

/// Hands out until nothing fits: who got what.
fn serve(dispatch: &mut Dispatch<&'static str>, room: &mut [usize], line: Line) -> Vec<(u64, u64)> {
    let mut served = Vec::new();
    loop {
        let found = dispatch.next(|waiter| Room::Jobs(room[waiter.0 as usize]));
        let Some(found) = found else {
            let dry = dispatch.take_dry();
            if dry.is_empty() {
                return served;
            }
            for id in dry {
                match dispatch.ask(&id) {
                    Some(Ask::All(asked)) => dispatch.refilled(&id, asked, Vec::new()),
                    Some(Ask::Taken) => dispatch.counted(&id, Counted::default()),
                    Some(Ask::Pool) => dispatch.counted_pool(&id, 0),
                    Some(Ask::Of(group, asked)) => dispatch.refilled_of(&id, &group, asked, Vec::new()),
                    None => {}
                }
            }
            continue;
        };
        room[found.waiter.0 as usize] -= 1;
        dispatch.took(&found, line);
        served.push((found.waiter.0, found.job.key()));
    }
}

#[test]
fn first_come_first_served_on_both_sides() {
    let mut dispatch = dispatch();
    waiting(&mut dispatch, 0, &["a"]);
    waiting(&mut dispatch, 1, &["a"]);
    serve(&mut dispatch, &mut [9, 9], Line::Stay);
    for key in [3, 1, 2] {
        dispatch.ready(&"a", seat(0, key), &None);
    }
    dispatch.ready(&"a", seat(5, 4), &None);
    assert_eq!(serve(&mut dispatch, &mut [2, 9], Line::Stay), [(0, 4), (0, 1), (1, 2), (1, 3)]);
    assert!(!dispatch.has_work());
}

#[test]
fn streams_take_turns_and_never_get_more_than_they_have_room_for() {
    let mut dispatch = dispatch();
    waiting(&mut dispatch, 0, &["a"]);
    waiting(&mut dispatch, 1, &["a"]);
    serve(&mut dispatch, &mut [9, 9], Line::Rotate);
    (1..=5).for_each(|key| dispatch.ready(&"a", seat(0, key), &None));
    assert_eq!(serve(&mut dispatch, &mut [1, 2], Line::Rotate), [(0, 1), (1, 2), (1, 3)]);
    assert!(!dispatch.has_work(), "nobody has room");
    dispatch.has_room(WaiterId(0));
    assert_eq!(serve(&mut dispatch, &mut [1, 0], Line::Rotate), [(0, 4)]);
}

#[test]
fn who_waits_again_comes_first_and_stands_in_line_once() {
    let mut dispatch = dispatch();
    (0..3).for_each(|waiter| waiting(&mut dispatch, waiter, &["a"]));
    serve(&mut dispatch, &mut [9; 3], Line::Stay);
    (1..=2).for_each(|key| dispatch.ready(&"a", seat(0, key), &None));
    assert_eq!(serve(&mut dispatch, &mut [1; 3], Line::Stay), [(0, 1), (1, 2)]);
    [1, 0].iter().for_each(|waiter| dispatch.leave(WaiterId(*waiter)));
    [1, 0].iter().for_each(|waiter| dispatch.wait_again(WaiterId(*waiter), vec!["a"]));
    (3..=8).for_each(|key| dispatch.ready(&"a", seat(0, key), &None));
    let served = serve(&mut dispatch, &mut [9; 3], Line::Rotate);
    assert_eq!(served, [(0, 3), (1, 4), (2, 5), (0, 6), (1, 7), (2, 8)]);
}

#[test]
fn who_has_gone_leaves_the_line() {
    let mut dispatch = dispatch();
    waiting(&mut dispatch, 0, &["a", "b"]);
    waiting(&mut dispatch, 1, &["b"]);
    dispatch.leave(WaiterId(0));
    serve(&mut dispatch, &mut [9, 9], Line::Stay);
    dispatch.ready(&"a", seat(0, 1), &None);
    dispatch.ready(&"b", seat(0, 2), &None);
    assert_eq!(serve(&mut dispatch, &mut [9, 9], Line::Stay), [(1, 2)]);
}

#[test]
fn no_more_than_the_limit_and_the_next_when_one_is_done() {
    let mut dispatch = dispatch();
    dispatch.rule(&"a", Some(Rules { limit: Some(2), ..Rules::default() }));
    waiting(&mut dispatch, 0, &["a"]);
    serve(&mut dispatch, &mut [0], Line::Stay);
    (1..=4).for_each(|key| dispatch.ready(&"a", seat(0, key), &None));
    let mut room = [9];
    let mut taken = |dispatch: &mut Dispatch<&'static str>| -> Vec<u64> {
        let mut taken = Vec::new();
        loop {
            let found = dispatch.next(|_| Room::Jobs(room[0]));
            match found {
                Some(found) => {
                    room[0] -= 1;
                    dispatch.took(&found, Line::Stay);
                    dispatch.started(&"a", &None);
                    taken.push(found.job.key());
                }
                None if dispatch.is_dry() => {
                    dispatch.take_dry();
                    match dispatch.ask(&"a") {
                        Some(Ask::Taken) => dispatch.counted(&"a", Counted::default()),
                        Some(Ask::All(asked)) => {
                            let jobs = (1..=4).map(|key| (Place::new(0, key), None)).filter(|(place, _)| asked.after < *place);
                            dispatch.refilled(&"a", asked, jobs.collect());
                        }
                        other => panic!("{other:?}"),
                    }
                }
                None => return taken,
            }
        }
    };
    assert_eq!(taken(&mut dispatch), [1, 2]);
    dispatch.stopped(&"a", &None);
    assert_eq!(taken(&mut dispatch), [3]);
    // A higher limit admits at once, a lower one lets what runs finish.
    assert!(!dispatch.has_work());
    dispatch.stopped(&"a", &None);
    assert_eq!(taken(&mut dispatch), [4]);
}

/// Hands out until nothing fits, counting: which jobs.
fn run(dispatch: &mut Dispatch<&'static str>, now: Millis) -> Vec<u64> {
    let mut taken = Vec::new();
    dispatch.advance(now);
    loop {
        if let Some(found) = dispatch.next(|_| Room::Jobs(9)) {
            dispatch.took(&found, Line::Stay);
            dispatch.started(&found.queue, &found.group);
            dispatch.runs(&found.queue);
            dispatch.paced(&found.queue, &found.group, now);
            taken.push(found.job.key());
            continue;
        }
        let dry = dispatch.take_dry();
        if dry.is_empty() {
            return taken;
        }
        for id in dry {
            while let Some(ask) = dispatch.ask(&id) {
                match ask {
                    Ask::Taken => dispatch.counted(&id, Counted::default()),
                    Ask::Pool => dispatch.counted_pool(&id, 0),
                    Ask::All(asked) => dispatch.refilled(&id, asked, Vec::new()),
                    Ask::Of(group, asked) => dispatch.refilled_of(&id, &group, asked, Vec::new()),
                }
            }
        }
    }
}

#[test]
fn queues_that_share_a_limit_take_turns() {
    let mut dispatch = dispatch();
    dispatch.share([(POOL.clone(), 2)].into());
    waiting(&mut dispatch, 0, &["a", "b"]);
    assert_eq!(run(&mut dispatch, 0), []);
    for key in 1..=4 {
        dispatch.ready(&"a", seat(0, key), &None);
        dispatch.ready(&"b", seat(0, key + 10), &None);
    }
    assert_eq!(run(&mut dispatch, 0), [1, 11]);
    dispatch.rests(&"a");
    assert_eq!(run(&mut dispatch, 0), [2]);
    dispatch.rests(&"b");
    assert_eq!(run(&mut dispatch, 0), [12]);
    // One of another queue, which nobody here asks for, takes its slot too.
    dispatch.rests(&"a");
    dispatch.runs(&"c");
    assert_eq!(run(&mut dispatch, 0), []);
    dispatch.share([(POOL.clone(), 3)].into());
    assert_eq!(run(&mut dispatch, 0), [3]);
    dispatch.share(BTreeMap::new());
    assert_eq!(run(&mut dispatch, 0), [4, 13, 14]);
}

#[test]
fn time_lets_jobs_go_to_whoever_waits() {
    let mut dispatch = dispatch();
    assert_eq!(dispatch.opens_at(), None);
    dispatch.rule(&"a", Some(Rules { delay: Some(10), ..Rules::default() }));
    waiting(&mut dispatch, 0, &["a"]);
    assert_eq!(run(&mut dispatch, 0), []);
    (1..=2).for_each(|key| dispatch.ready(&"a", seat(0, key), &None));
    assert_eq!(run(&mut dispatch, 5), [1]);
    assert_eq!((dispatch.opens_at(), dispatch.has_work()), (Some(15), false));
    let stored = dispatch.take_paced();
    assert_eq!(stored.len(), 1);
    assert_eq!((stored[0].0, stored[0].1.until), ("a", 15));
    assert_eq!(dispatch.take_paced(), [], "it is stored once");
    assert_eq!(run(&mut dispatch, 14), []);
    assert_eq!(run(&mut dispatch, 15), [2]);
    assert_eq!(dispatch.opens_at(), None, "nobody is left to go");
}
