//! What is taken of a queue's limits: who runs, and when jobs were started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::adapt::{Height, Ran};
use crate::{Group, Millis, Pace, Rules, Starts};

/// Whose starts are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bucket {
    /// All jobs of a queue.
    All,
    Of(Group),
}

impl Bucket {
    /// What it is stored under. Groups are JSON objects.
    pub fn name(&self) -> Arc<str> {
        match self {
            Self::All => "".into(),
            Self::Of(None) => "-".into(),
            Self::Of(Some(group)) => group.clone(),
        }
    }

    pub fn named(name: &Arc<str>) -> Self {
        match &**name {
            "" => Self::All,
            "-" => Self::Of(None),
            _ => Self::Of(Some(name.clone())),
        }
    }
}

/// What the table says is taken.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    pub running: Vec<(Group, u32)>,
    pub starts: Vec<(Bucket, Starts)>,
}

/// Starts to be stored, with when they may be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paced {
    pub bucket: Bucket,
    pub starts: Starts,
    pub until: Millis,
}

/// Whether a job may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    Open,
    /// Not before this time.
    At(Millis),
    /// Not until something else happens.
    Shut,
}

#[derive(Debug)]
pub(crate) struct Slots {
    running: BTreeMap<Group, u32>,
    running_all: u32,
    starts: BTreeMap<Bucket, Starts>,
    /// Buckets that are not as the table has them.
    changed: BTreeSet<Bucket>,
    height: Option<Height>,
}

impl Slots {
    pub(crate) fn of(rules: &Rules, counted: Counted) -> Self {
        let mut running: BTreeMap<Group, u32> = BTreeMap::new();
        for (group, count) in counted.running.into_iter().filter(|(_, count)| 0 < *count) {
            *running.entry(rules.lane_of(&group)).or_default() += count;
        }
        let running_all = running.values().sum();
        let starts = counted.starts.into_iter().collect();
        Self { running, running_all, starts, changed: BTreeSet::new(), height: rules.adaptive.map(Height::lowest) }
    }

    /// Whether nothing runs, and nothing is to be stored.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.changed.is_empty()
    }

    pub(crate) fn running(&self, lane: &Group) -> u32 {
        self.running.get(lane).copied().unwrap_or(0)
    }

    /// The limit as it stands.
    pub(crate) fn limit(&self, rules: &Rules) -> Option<u32> {
        let limit = rules.limit?;
        Some(self.height.map_or(limit, |height| height.limit().min(limit)))
    }

    /// Whether any job of the queue may go.
    pub(crate) fn gate(&self, rules: &Rules, now: Millis) -> Gate {
        let limit = self.limit(rules).filter(|_| !rules.by_group);
        let most = limit.into_iter().chain(rules.running_max).min();
        if rules.paused || most.is_some_and(|most| most <= self.running_all) {
            return Gate::Shut;
        }
        let rate = rules.rate.filter(|_| !rules.rate_by_group);
        let delay = rules.delay.map(|window| Pace { limit: 1, window });
        rate.into_iter().chain(delay).map(|pace| self.pace(&Bucket::All, pace, now)).fold(Gate::Open, later)
    }

    /// Whether a job of the lane may go, if any may.
    pub(crate) fn gate_of(&self, rules: &Rules, lane: &Group, now: Millis) -> Gate {
        let is_full = rules.by_group && self.limit(rules).is_some_and(|limit| limit <= self.running(lane));
        if is_full || rules.groups_paused.contains(lane) {
            return Gate::Shut;
        }
        match rules.rate {
            Some(pace) if rules.rate_by_group => self.pace(&Bucket::Of(lane.clone()), pace, now),
            Some(_) | None => Gate::Open,
        }
    }

    fn pace(&self, bucket: &Bucket, pace: Pace, now: Millis) -> Gate {
        let opens = self.starts.get(bucket).and_then(|starts| starts.opens(pace, now));
        opens.map_or(Gate::Open, Gate::At)
    }

    pub(crate) fn started(&mut self, lane: &Group) {
        *self.running.entry(lane.clone()).or_default() += 1;
        self.running_all += 1;
    }

    pub(crate) fn stopped(&mut self, lane: &Group) {
        match self.running.get_mut(lane) {
            Some(count) if 1 < *count => *count -= 1,
            Some(_) => drop(self.running.remove(lane)),
            None => return,
        }
        self.running_all -= 1;
    }

    /// A start takes its tokens.
    pub(crate) fn paced(&mut self, rules: &Rules, lane: &Group, now: Millis) {
        for bucket in [Bucket::All, Bucket::Of(lane.clone())] {
            let window = window(rules, &bucket);
            if window == 0 {
                continue;
            }
            let starts = self.starts.entry(bucket.clone()).or_default();
            starts.forget(window, now);
            starts.add(now);
            self.changed.insert(bucket);
        }
    }

    /// How a run came out. True if the limit is another one now.
    pub(crate) fn ended(&mut self, rules: &Rules, ran: Ran) -> bool {
        let (Some(height), Some(adaptive), Some(most)) = (&mut self.height, rules.adaptive, rules.limit) else { return false };
        let before = height.limit();
        height.ended(adaptive, most, ran);
        height.limit() != before
    }

    /// What is to be stored since this was last asked.
    pub(crate) fn take_changed(&mut self, rules: &Rules) -> Vec<Paced> {
        let changed = std::mem::take(&mut self.changed);
        let paced = |bucket: Bucket| {
            let starts = self.starts.get(&bucket)?.clone();
            Some(Paced { until: starts.over(window(rules, &bucket)), bucket, starts })
        };
        changed.into_iter().filter_map(paced).collect()
    }

    /// Forgets starts that make no difference any more.
    pub(crate) fn forget(&mut self, rules: &Rules, now: Millis) {
        let changed = &self.changed;
        self.starts.retain(|bucket, starts| changed.contains(bucket) || now < starts.over(window(rules, bucket)));
    }
}

/// How far back the starts of a bucket matter.
fn window(rules: &Rules, bucket: &Bucket) -> Millis {
    let rate = rules.rate.map_or(0, |pace| pace.window);
    match bucket {
        Bucket::All => rules.delay.unwrap_or(0).max(if rules.rate_by_group { 0 } else { rate }),
        Bucket::Of(_) if rules.rate_by_group => rate,
        Bucket::Of(_) => 0,
    }
}

fn later(one: Gate, other: Gate) -> Gate {
    match (one, other) {
        (Gate::Shut, _) | (_, Gate::Shut) => Gate::Shut,
        (Gate::At(one), Gate::At(other)) => Gate::At(one.max(other)),
        (Gate::At(at), Gate::Open) | (Gate::Open, Gate::At(at)) => Gate::At(at),
        (Gate::Open, Gate::Open) => Gate::Open,
    }
}
