//! Some policy, for properties; and policies as they were first written.

use proptest::prelude::*;
use queue::adapt::Adaptive;
use queue::policy::{Concurrency, Method, Overdue, Policy, Quota, Rate, Scope, Wait};
use queue::retry::{Delays, Retry};
use queue::{Pace, Starts};

use super::bytes::record;
use super::some::{text, texts};
use super::{decode_policy, decode_starts, encode, encode_policy, encode_starts};

pub(super) fn policy() -> impl Strategy<Value = Policy> {
    let scope = prop_oneof![Just(Scope::Global), text().prop_map(Scope::Tenant), text().prop_map(Scope::Action)];
    let pace = (any::<u32>(), any::<i64>()).prop_map(|(limit, window)| Pace { limit, window });
    let rate = (pace, texts()).prop_map(|(pace, parameters)| Rate { pace, parameters });
    let quota = any::<(Option<u32>, Option<u64>, Option<u64>)>();
    let quota = quota.prop_map(|(running, waiting, total)| Quota { running, waiting, total });
    let then = prop::sample::select(vec![Overdue::Fail, Overdue::Cancel]);
    let wait = (any::<i64>(), then).prop_map(|(most, then)| Wait { most, then });
    let first = (scope, any::<i32>(), prop::option::of(concurrency()), any::<Option<u64>>(), any::<bool>());
    let limits = (prop::option::of(rate), any::<Option<i64>>(), prop::option::of(quota), prop::option::of(wait));
    let rest = (any::<bool>(), any::<Option<i64>>(), prop::option::of(retry()), any::<bool>());
    (first, limits, rest).prop_map(
        |((scope, priority, concurrency, queue_max, paused), (rate, delay, quota, wait), (fair, ageing, retry, drains))| Policy {
            scope,
            priority,
            concurrency,
            queue_max,
            paused,
            rate,
            delay,
            quota,
            wait,
            fair,
            ageing,
            retry,
            drains,
        },
    )
}

fn concurrency() -> impl Strategy<Value = Concurrency> {
    let method = prop::sample::select(vec![Method::Enqueue, Method::Cancel]);
    let adaptive = any::<(u32, Option<i64>)>().prop_map(|(limit_min, latency)| Adaptive { limit_min, latency });
    (any::<u32>(), texts(), method, prop::option::of(adaptive)).prop_map(|(limit, parameters, method, adaptive)| Concurrency {
        limit,
        parameters,
        method,
        adaptive,
    })
}

fn retry() -> impl Strategy<Value = Retry> {
    let delays = prop_oneof![
        prop::collection::vec(any::<i64>(), 0..4).prop_map(Delays::Listed),
        any::<(i64, u32, i64)>().prop_map(|(first, factor, most)| Delays::Growing { first, factor, most }),
    ];
    (delays, any::<u32>(), any::<bool>()).prop_map(|(delays, jitter_percent, holds)| Retry { delays, jitter_percent, holds })
}

proptest! {
    #[test]
    fn policies_and_starts_come_back(policy in policy(), moments in prop::collection::vec(any::<(i64, u32)>(), 0..9)) {
        prop_assert_eq!(decode_policy(&encode_policy(Some(&policy))).unwrap(), Some(policy));
        let starts = Starts::of(moments);
        prop_assert_eq!(decode_starts(&encode_starts(&starts)).unwrap(), starts);
    }
}

/// Before there was more to say.
struct First {
    scope: Scope,
    priority: i32,
    concurrency: Option<FirstConcurrency>,
    queue_max: Option<u64>,
    paused: bool,
}

struct FirstConcurrency {
    limit: u32,
    parameters: Vec<std::sync::Arc<str>>,
    method: Method,
}

record!(First { scope, priority, concurrency, queue_max, paused });
record!(FirstConcurrency { limit, parameters, method });

#[test]
fn policies_of_older_servers_say_what_they_said() {
    let parameters = vec!["customer".into()];
    let concurrency = Some(FirstConcurrency { limit: 2, parameters, method: Method::Cancel });
    let first = First { scope: Scope::Action("a".into()), priority: 3, concurrency, queue_max: Some(9), paused: true };
    let concurrency = Concurrency { limit: 2, parameters: vec!["customer".into()], method: Method::Cancel, adaptive: None };
    let (concurrency, queue_max, paused) = (Some(concurrency), Some(9), true);
    let policy = Policy { priority: 3, concurrency, queue_max, paused, ..Policy::new(Scope::Action("a".into())) };
    assert_eq!(decode_policy(&encode(&first)).unwrap(), Some(policy));
}
