use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A queue as the table has it, and the window over it.
struct World {
    ready: BTreeSet<(Place, Group)>,
    running: Vec<(Place, Group)>,
    limited: Limited,
    page_max: usize,
    lane_max: usize,
    next_key: u64,
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
    /// One that waits is cancelled.
    Cancel(usize),
    Limit {
        limit: u32,
        by_group: bool,
    },
    Pause(bool),
    /// All memory is lost.
    Crash,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (0..3i32, 0..4u8).prop_map(|(priority, group)| Act::Submit { priority, group }),
        8 => Just(Act::Start),
        3 => (0..50usize).prop_map(Act::End),
        2 => (0..50usize).prop_map(Act::Return),
        1 => (0..50usize).prop_map(Act::Cancel),
        1 => (0..4u32, any::<bool>()).prop_map(|(limit, by_group)| Act::Limit { limit, by_group }),
        1 => any::<bool>().prop_map(Act::Pause),
        1 => Just(Act::Crash),
    ];
    proptest::collection::vec(act, 0..300)
}

fn group(number: u8) -> Group {
    (number != 0).then(|| format!("{{\"g\":{number}}}").into())
}

impl World {
    fn new(rules: Rules, page_max: usize, lane_max: usize) -> Self {
        let (ready, running) = Default::default();
        let limited = Limited::new(rules, page_max, lane_max);
        Self { ready, running, limited, page_max, lane_max, next_key: 1 }
    }

    fn lane(&self, group: &Group) -> Group {
        if self.limited.rules().by_group { group.clone() } else { None }
    }

    fn count(&self, lane: &Group) -> u32 {
        self.running.iter().filter(|(_, group)| self.lane(group) == *lane).count() as u32
    }

    /// Answers what the window asks until it asks no more.
    fn answer(&mut self) {
        for _ in 0..1_000 {
            let Some(ask) = self.limited.ask() else { return };
            match ask {
                Ask::Running => {
                    let mut counts: BTreeMap<Group, u32> = BTreeMap::new();
                    for (_, group) in &self.running {
                        *counts.entry(group.clone()).or_default() += 1;
                    }
                    self.limited.counted(counts);
                }
                Ask::All(refill) => {
                    let jobs = self.ready.iter().filter(|(place, _)| refill.after < *place).take(refill.limit);
                    let jobs = jobs.cloned().collect();
                    self.limited.found(refill, jobs);
                }
                Ask::Of(lane, refill) => {
                    let of = self.ready.iter().filter(|(place, group)| refill.after < *place && *group == lane);
                    let jobs = of.take(refill.limit).map(|(place, _)| *place).collect();
                    self.limited.found_of(&lane, refill, jobs);
                }
            }
        }
        panic!("it never has enough");
    }

    /// The first of all that wait whose group has a slot.
    fn expected(&self) -> Option<(Place, Group)> {
        let rules = self.limited.rules();
        let may_go = |group: &Group| rules.limit.is_none_or(|limit| self.count(&self.lane(group)) < limit);
        self.ready.iter().find(|(_, group)| !rules.paused && may_go(group)).cloned()
    }

    fn reset(&mut self, rules: Rules) {
        self.limited = Limited::new(rules, self.page_max, self.lane_max);
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Submit { priority, group: number } => {
                let (place, group) = (Place::new(priority, self.next_key), group(number));
                self.next_key += 1;
                self.ready.insert((place, group.clone()));
                self.limited.insert(place, &group);
            }
            Act::Start => {
                self.answer();
                let next = self.limited.next();
                assert_eq!(next.as_ref().map(|(place, _)| *place), self.expected().map(|(place, _)| place));
                if let Some((place, _)) = next {
                    let job = self.ready.iter().find(|(one, _)| *one == place).cloned().expect("it is there");
                    self.ready.remove(&job);
                    self.limited.remove(place, &job.1);
                    self.limited.started(&job.1);
                    self.running.push(job);
                }
            }
            Act::End(n) if !self.running.is_empty() => {
                let (_, group) = self.running.remove(n % self.running.len());
                self.limited.stopped(&group);
            }
            Act::Return(n) if !self.running.is_empty() => {
                let job = self.running.remove(n % self.running.len());
                self.limited.stopped(&job.1);
                self.limited.insert(job.0, &job.1);
                self.ready.insert(job);
            }
            Act::Cancel(n) if !self.ready.is_empty() => {
                let job = self.ready.iter().nth(n % self.ready.len()).cloned().expect("there are so many");
                self.ready.remove(&job);
                self.limited.remove(job.0, &job.1);
            }
            Act::End(_) | Act::Return(_) | Act::Cancel(_) => {}
            Act::Limit { limit, by_group } => {
                let rules = Rules { limit: Some(limit).filter(|limit| *limit != 0), by_group, ..self.limited.rules() };
                self.reset(rules);
            }
            Act::Pause(paused) => self.reset(Rules { paused, ..self.limited.rules() }),
            Act::Crash => self.reset(self.limited.rules()),
        }
    }
}

proptest! {
    /// Against a table that holds everything, over any interleaving of starts, ends, time-outs, cancellations, changes of the policy
    /// and crashes: the first that may go goes, and what counts as running is what runs.
    #[test]
    fn the_first_that_may_go_goes_and_no_slot_is_lost(acts in acts(), page_max in 1..6usize, lane_max in 1..4usize) {
        let mut world = World::new(Rules { limit: Some(2), by_group: true, paused: false }, page_max, lane_max);
        for act in acts {
            let before: BTreeMap<Group, u32> = world.running.iter().map(|(_, of)| (world.lane(of), world.count(&world.lane(of)))).collect();
            world.act(act);
            for (_, of) in &world.running {
                let lane = world.lane(of);
                let count = world.count(&lane);
                if let Some(counted) = world.limited.running(of) {
                    prop_assert_eq!(counted, count);
                }
                // Past the limit only as far as a lower limit found it.
                let grew = before.get(&lane).copied().unwrap_or(0) < count;
                prop_assert!(!grew || world.limited.rules().limit.is_none_or(|limit| count <= limit) || world.limited.running(of).is_none());
            }
        }
        // Every job leaves in the end.
        let rules = Rules { limit: Some(1), by_group: true, paused: false };
        world.reset(rules);
        for _ in 0..10_000 {
            if world.ready.is_empty() && world.running.is_empty() {
                break;
            }
            world.act(Act::Start);
            world.act(Act::End(0));
        }
        world.answer();
        prop_assert!(world.ready.is_empty());
        prop_assert_eq!(world.limited.running(&None), Some(0));
        prop_assert!(world.limited.is_idle(), "groups without work take no memory");
    }
}

#[test]
fn a_full_group_holds_up_nobody_else() {
    let mut world = World::new(Rules { limit: Some(1), by_group: true, paused: false }, 2, 1);
    for number in [1, 1, 1, 1, 1, 1, 2] {
        world.act(Act::Submit { priority: 0, group: number });
    }
    world.act(Act::Start);
    world.act(Act::Start);
    let started: Vec<u64> = world.running.iter().map(|(place, _)| place.key()).collect();
    assert_eq!(started, [1, 7]);
    world.act(Act::Start);
    assert_eq!(world.running.len(), 2);
}
