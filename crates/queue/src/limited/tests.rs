use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Bucket, Pace, Starts};

const GROUPS: u8 = 4;

/// A queue as the table has it, and the window over it.
struct World {
    ready: BTreeMap<u64, (Seat, Group)>,
    running: Vec<(Seat, Group)>,
    /// Wait for their next try and keep their slots.
    holding: Vec<(Seat, Group)>,
    /// When jobs were started, by bucket: as they happened, and as stored.
    happened: BTreeMap<Bucket, Vec<Millis>>,
    stored: BTreeMap<Bucket, Starts>,
    limited: Limited,
    page_max: usize,
    lane_max: usize,
    next_key: u64,
    now: Millis,
    /// How many others went since a group could have gone.
    passed_over: BTreeMap<Group, usize>,
}

#[derive(Debug, Clone)]
enum Act {
    Submit {
        priority: i32,
        group: u8,
    },
    /// Hands out the first that may go.
    Start,
    /// One that runs is completed, cancelled, or fails for good.
    End(usize),
    /// One that runs is ready again: its lease ended, or it failed with retries left.
    Return(usize),
    /// One that runs failed and waits for its next try.
    BackOff(usize),
    /// One that waited for its next try may be tried.
    Retry(usize),
    /// One that waits is cancelled.
    Cancel(usize),
    /// Time passes.
    Pass(Millis),
    /// The clock is set back.
    SetBack(Millis),
    Put(Box<Rules>),
    Pause(bool),
    PauseGroup(u8),
    /// All memory is lost.
    Crash,
}

fn rules() -> impl Strategy<Value = Rules> {
    let limits = (proptest::option::of(1..4u32), any::<bool>(), proptest::option::of(1..5u32));
    let pace = (proptest::option::of(1..5u32), any::<bool>(), proptest::option::of(1..40i64));
    (limits, pace, any::<bool>(), proptest::option::of(1..50i64), any::<bool>()).prop_map(
        |(limits, pace, fair, ageing, holds)| Rules {
            limit: limits.0,
            by_group: limits.1,
            running_max: limits.2,
            rate: pace.0.map(|limit| Pace { limit, window: 100 }),
            rate_by_group: pace.1,
            delay: pace.2,
            has_groups: limits.1 || pace.1 || fair,
            fair,
            ageing,
            holds,
            ..Rules::default()
        },
    )
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0..3i32, 0..GROUPS).prop_map(|(priority, group)| Act::Submit { priority, group }),
        9 => Just(Act::Start),
        3 => (0..50usize).prop_map(Act::End),
        2 => (0..50usize).prop_map(Act::Return),
        1 => (0..50usize).prop_map(Act::BackOff),
        2 => (0..50usize).prop_map(Act::Retry),
        1 => (0..50usize).prop_map(Act::Cancel),
        4 => (0..60i64).prop_map(Act::Pass),
        1 => (0..200i64).prop_map(Act::SetBack),
        1 => rules().prop_map(|rules| Act::Put(Box::new(rules))),
        1 => any::<bool>().prop_map(Act::Pause),
        1 => (0..GROUPS).prop_map(Act::PauseGroup),
        1 => Just(Act::Crash),
    ];
    proptest::collection::vec(act, 0..300)
}

fn group(number: u8) -> Group {
    (number != 0).then(|| format!("{{\"g\":{number}}}").into())
}

impl World {
    fn new(rules: Rules, page_max: usize, lane_max: usize) -> Self {
        let (ready, running, holding, happened, stored, passed_over) = Default::default();
        let limited = Limited::new(rules, page_max, lane_max);
        Self { ready, running, holding, happened, stored, limited, page_max, lane_max, next_key: 1, now: 0, passed_over }
    }

    fn rules(&self) -> Rules {
        self.limited.rules().clone()
    }

    fn lane(&self, group: &Group) -> Group {
        if self.limited.rules().has_groups { group.clone() } else { None }
    }

    fn slots(&self) -> impl Iterator<Item = &(Seat, Group)> {
        let holding = if self.limited.rules().holds { &self.holding[..] } else { &[] };
        self.running.iter().chain(holding)
    }

    fn count(&self, lane: &Group) -> u32 {
        self.slots().filter(|(_, group)| self.lane(group) == *lane).count() as u32
    }

    fn windows(&self) -> [(Bucket, Millis); 2] {
        let rules = self.limited.rules();
        let rate = rules.rate.map_or(0, |pace| pace.window);
        let whole = rules.delay.unwrap_or(0).max(if rules.rate_by_group { 0 } else { rate });
        [(Bucket::All, whole), (Bucket::Of(None), if rules.rate_by_group { rate } else { 0 })]
    }

    fn within(&self, bucket: &Bucket, window: Millis, now: Millis) -> usize {
        self.happened.get(bucket).map_or(0, |starts| starts.iter().filter(|at| now < **at + window).count())
    }

    /// What the rules say, word by word.
    fn may_go(&self, group: &Group, now: Millis) -> bool {
        let rules = self.limited.rules();
        let lane = self.lane(group);
        let all = self.slots().count() as u32;
        let in_lane = if rules.by_group { self.count(&lane) } else { all };
        let bucket = if rules.rate_by_group { Bucket::Of(lane.clone()) } else { Bucket::All };
        !rules.paused
            && !rules.groups_paused.contains(&lane)
            && rules.limit.is_none_or(|limit| in_lane < limit)
            && rules.running_max.is_none_or(|most| all < most)
            && rules.rate.is_none_or(|pace| self.within(&bucket, pace.window, now) < pace.limit as usize)
            && rules.delay.is_none_or(|delay| self.within(&Bucket::All, delay, now) == 0)
    }

    fn ordered(&self) -> Vec<(Place, Group)> {
        let rules = self.limited.rules();
        let mut all: Vec<_> = self.ready.values().map(|(seat, group)| (rules.place(*seat), group.clone())).collect();
        all.sort();
        all
    }

    /// The first of all that wait whose group may go.
    fn expected(&self, now: Millis) -> Option<Place> {
        self.ordered().iter().find(|(_, group)| self.may_go(group, now)).map(|(place, _)| *place)
    }

    /// Answers what the window asks until it asks no more.
    fn answer(&mut self) {
        self.limited.advance(self.now);
        for _ in 0..2_000 {
            let Some(ask) = self.limited.ask() else { return };
            match ask {
                Ask::Pool => panic!("it has none"),
                Ask::Taken => {
                    let mut counts: BTreeMap<Group, u32> = BTreeMap::new();
                    for (_, group) in self.slots() {
                        *counts.entry(group.clone()).or_default() += 1;
                    }
                    let starts = self.stored.iter().map(|(bucket, starts)| (bucket.clone(), starts.clone())).collect();
                    self.limited.counted(Counted { running: counts.into_iter().collect(), starts });
                }
                Ask::All(refill) => {
                    let jobs = self.ordered().into_iter().filter(|(place, _)| refill.after < *place).take(refill.limit);
                    self.limited.found(refill, jobs.collect());
                }
                Ask::Of(lane, refill) => {
                    let of = self.ordered().into_iter().filter(|(place, group)| refill.after < *place && *group == lane);
                    self.limited.found_of(&lane, refill, of.take(refill.limit).map(|(place, _)| place).collect());
                }
            }
        }
        panic!("it never has enough");
    }

    fn reset(&mut self, rules: Rules) {
        self.limited = Limited::new(rules, self.page_max, self.lane_max);
        self.passed_over.clear();
    }

    fn start(&mut self) {
        self.answer();
        let next = self.limited.next().map(|(place, _)| place);
        match self.limited.rules().fair {
            false => assert_eq!(next, self.expected(self.now)),
            true => self.check_turn(next),
        }
        let Some(place) = next else {
            // Time alone lets nobody go before the time it names.
            let until = self.limited.opens_at().map_or(self.now + 10_000, |at| at - 1);
            assert_eq!(self.expected(until), None);
            return;
        };
        let job = self.ready.remove(&place.key()).expect("it is there");
        assert!(self.may_go(&job.1, self.now));
        self.limited.take_out(place, &job.1);
        self.limited.started(&job.1);
        self.limited.paced(&job.1, self.now);
        for (bucket, window) in self.windows() {
            let bucket = if bucket == Bucket::All { bucket } else { Bucket::Of(self.lane(&job.1)) };
            if 0 < window {
                let starts = self.happened.entry(bucket).or_default();
                starts.retain(|at| self.now < *at + window);
                starts.push(starts.last().copied().unwrap_or(self.now).max(self.now));
            }
        }
        self.running.push(job);
        let paced = self.limited.take_paced();
        self.stored.extend(paced.into_iter().map(|paced| (paced.bucket, paced.starts)));
    }

    /// The first of some group that may go, and nobody is passed over again and again.
    fn check_turn(&mut self, next: Option<Place>) {
        let ordered = self.ordered();
        let mut firsts: BTreeMap<Group, Place> = BTreeMap::new();
        for (place, group) in ordered.into_iter().filter(|(_, group)| self.may_go(group, self.now)) {
            firsts.entry(group).or_insert(place);
        }
        let chosen = firsts.iter().find(|(_, place)| Some(**place) == next).map(|(group, _)| group.clone());
        assert_eq!(chosen.is_none(), firsts.is_empty(), "the first of a group, or nobody may go");
        self.passed_over.retain(|group, _| firsts.contains_key(group) && Some(group) != chosen.as_ref());
        for group in firsts.keys().filter(|group| Some(*group) != chosen.as_ref()) {
            let times = self.passed_over.entry(group.clone()).or_default();
            *times += usize::from(next.is_some());
            assert!(*times < 2 * usize::from(GROUPS), "{group:?} does not have its turn");
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Submit { priority, group: number } => {
                let (seat, group) = (Seat { priority, created: self.now, key: self.next_key }, group(number));
                self.next_key += 1;
                self.ready.insert(seat.key, (seat, group.clone()));
                self.limited.insert(seat, &group);
            }
            Act::Start => self.start(),
            Act::End(n) if !self.running.is_empty() => {
                let (_, group) = self.running.remove(n % self.running.len());
                self.limited.stopped(&group);
            }
            Act::Return(n) if !self.running.is_empty() => {
                let (seat, group) = self.running.remove(n % self.running.len());
                self.limited.stopped(&group);
                self.limited.insert(seat, &group);
                self.ready.insert(seat.key, (seat, group));
            }
            Act::BackOff(n) if !self.running.is_empty() => {
                let job = self.running.remove(n % self.running.len());
                if !self.limited.rules().holds {
                    self.limited.stopped(&job.1);
                }
                self.holding.push(job);
            }
            Act::Retry(n) if !self.holding.is_empty() => {
                let (seat, group) = self.holding.remove(n % self.holding.len());
                if self.limited.rules().holds {
                    self.limited.stopped(&group);
                }
                self.limited.insert(seat, &group);
                self.ready.insert(seat.key, (seat, group));
            }
            Act::Cancel(n) if !self.ready.is_empty() => {
                let key = *self.ready.keys().nth(n % self.ready.len()).expect("there are so many");
                let (seat, group) = self.ready.remove(&key).expect("it is there");
                self.limited.remove(seat, &group);
            }
            Act::End(_) | Act::Return(_) | Act::BackOff(_) | Act::Retry(_) | Act::Cancel(_) => {}
            Act::Pass(time) => self.now += time,
            Act::SetBack(time) => self.now -= time,
            Act::Put(rules) => self.reset(*rules),
            Act::Pause(paused) => self.reset(Rules { paused, ..self.rules() }),
            Act::PauseGroup(number) => {
                let groups_paused = if self.rules().has_groups { vec![group(number)] } else { Vec::new() };
                self.reset(Rules { groups_paused, ..self.rules() });
            }
            Act::Crash => self.reset(self.rules()),
        }
    }
}

fn two_of_each() -> Rules {
    Rules { limit: Some(2), by_group: true, has_groups: true, ..Rules::default() }
}

proptest! {
    /// Against a table that holds everything, over any interleaving of starts, ends, failures, time-outs, cancellations, changes of the
    /// policy and crashes: the first that may go goes when it may and not before, and what counts as running is what runs.
    #[test]
    fn the_first_that_may_go_goes_and_no_slot_is_lost(
        acts in acts(),
        first in prop_oneof![Just(two_of_each()), rules()],
        page_max in 1..6usize,
        lane_max in 1..4usize,
    ) {
        let mut world = World::new(first, page_max, lane_max);
        for act in acts {
            let count = |world: &World, of: &Group| world.count(&world.lane(of));
            let before: BTreeMap<Group, u32> = (0..GROUPS).map(|number| (group(number), count(&world, &group(number)))).collect();
            let is_start = matches!(act, Act::Start);
            world.act(act);
            let rules = world.rules();
            for number in 0..GROUPS {
                let (of, count) = (group(number), count(&world, &group(number)));
                if let Some(counted) = world.limited.running(&of) {
                    prop_assert_eq!(counted, count);
                }
                // Past the limit only as far as a lower limit found it.
                let grew = is_start && before[&of] < count;
                prop_assert!(!grew || !rules.by_group || rules.limit.is_none_or(|limit| count <= limit));
            }
        }
        // Every job leaves in the end.
        for (_, job) in std::mem::take(&mut world.holding).into_iter().map(|job| (0, job)) {
            world.ready.insert(job.0.key, job);
        }
        world.now += 100_000;
        let rate = Some(Pace { limit: 1, window: 7 });
        world.reset(Rules { limit: Some(1), rate, rate_by_group: true, ..two_of_each() });
        for _ in 0..10_000 {
            if world.ready.is_empty() && world.running.is_empty() {
                break;
            }
            world.act(Act::Start);
            world.act(Act::End(0));
            world.act(Act::Pass(1));
        }
        world.act(Act::Pass(7));
        world.answer();
        prop_assert!(world.ready.is_empty());
        prop_assert_eq!(world.limited.running(&None), Some(0));
        prop_assert!(world.limited.is_idle(), "groups without work take no memory");
    }
}

#[test]
fn a_full_group_holds_up_nobody_else() {
    let mut world = World::new(Rules { limit: Some(1), ..two_of_each() }, 2, 1);
    for number in [1, 1, 1, 1, 1, 1, 2] {
        world.act(Act::Submit { priority: 0, group: number });
    }
    world.act(Act::Start);
    world.act(Act::Start);
    let started: Vec<u64> = world.running.iter().map(|(seat, _)| seat.key).collect();
    assert_eq!(started, [1, 7]);
    world.act(Act::Start);
    assert_eq!(world.running.len(), 2);
}

/// Starts as many as may start: their keys.
fn started(world: &mut World) -> Vec<u64> {
    let before = world.running.len();
    for _ in 0..100 {
        world.act(Act::Start);
    }
    world.running[before..].iter().map(|(seat, _)| seat.key).collect()
}

#[test]
fn so_many_per_window_and_the_next_when_one_is_over() {
    let rate = Some(Pace { limit: 2, window: 100 });
    let mut world = World::new(Rules { rate, ..Rules::default() }, 10, 10);
    (0..5).for_each(|_| world.act(Act::Submit { priority: 0, group: 0 }));
    assert_eq!(started(&mut world), [1, 2]);
    assert_eq!(world.limited.opens_at(), Some(100));
    world.act(Act::Crash);
    world.act(Act::Pass(99));
    assert_eq!(started(&mut world), [], "what was stored counts for the next owner");
    assert_eq!(world.limited.opens_at(), Some(100));
    world.act(Act::Pass(1));
    assert_eq!(started(&mut world), [3, 4]);
    world.act(Act::Put(Box::new(Rules { delay: Some(30), ..Rules::default() })));
    world.act(Act::Pass(29));
    assert_eq!(started(&mut world), []);
    world.act(Act::Pass(1));
    assert_eq!(started(&mut world), [5]);
}

#[test]
fn groups_take_turns_where_they_are_asked_to() {
    let mut world = World::new(Rules { fair: true, has_groups: true, ..Rules::default() }, 2, 2);
    for number in [1, 1, 1, 1, 2, 2, 3] {
        world.act(Act::Submit { priority: 0, group: number });
    }
    assert_eq!(started(&mut world), [1, 5, 7, 2, 6, 3, 4]);
}

#[test]
fn whoever_waits_long_enough_comes_before_a_higher_priority() {
    let mut world = World::new(Rules { ageing: Some(10), ..Rules::default() }, 10, 10);
    world.act(Act::Submit { priority: 0, group: 0 });
    world.act(Act::Pass(19));
    world.act(Act::Submit { priority: 2, group: 0 });
    world.act(Act::Pass(2));
    world.act(Act::Submit { priority: 2, group: 0 });
    assert_eq!(started(&mut world), [2, 1, 3], "20 are worth two priorities: more than 19, less than 21");
}

#[test]
fn a_limit_that_adapts_begins_low_and_admits_more_as_it_goes_well() {
    let adaptive = Some(crate::adapt::Adaptive { limit_min: 1, latency: None });
    let mut world = World::new(Rules { limit: Some(3), adaptive, ..Rules::default() }, 100, 10);
    (0..30).for_each(|_| world.act(Act::Submit { priority: 0, group: 0 }));
    let mut most = Vec::new();
    for _ in 0..6 {
        world.answer();
        while let Some((place, group)) = world.limited.next() {
            world.limited.take_out(place, &group);
            world.limited.started(&group);
            world.running.push(world.ready.remove(&place.key()).expect("it is there"));
        }
        most.push(world.running.len());
        while !world.running.is_empty() {
            world.act(Act::End(0));
            world.limited.ended(Ran::Well { took: 1 });
        }
    }
    assert_eq!(most, [1, 2, 2, 3, 3, 3]);
    world.limited.ended(Ran::Badly);
    assert_eq!(world.limited.limit(), Some(2));
}

#[test]
fn a_clock_that_is_set_back_opens_no_gate() {
    let mut world = World::new(Rules { rate: Some(Pace { limit: 1, window: 100 }), ..Rules::default() }, 10, 10);
    (0..5).for_each(|_| world.act(Act::Submit { priority: 0, group: 0 }));
    world.act(Act::Pass(5_000));
    assert_eq!(started(&mut world), [1]);
    world.act(Act::SetBack(4_000));
    assert_eq!(started(&mut world), []);
    world.act(Act::Crash);
    assert_eq!(started(&mut world), []);
    world.act(Act::Pass(4_100));
    assert_eq!(started(&mut world), [2]);
}
