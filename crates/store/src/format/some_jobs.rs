//! Some of everything workers say, for properties.

use proptest::prelude::*;
use queue::claim::Claim;

use super::some::{document, job_key, new_execution, number, text};
use crate::log::{Became, Code, Failed, PutSchedule, Rejection, Report, Reported, Said, SubmittedExecution, Thrown, Unannounced};
use crate::row::AnnouncementKey;

pub(super) fn report() -> impl Strategy<Value = Report> {
    let claim = (prop::option::of(text()), any::<Option<u32>>()).prop_map(|(worker, lease)| Claim { worker, lease });
    let failed = (any::<bool>(), text(), any::<Option<i64>>(), document());
    let said = prop_oneof![
        document().prop_map(|variables| Said::Completed { variables }),
        failed.prop_map(|(retryable, message, backoff, variables)| Said::Failed(Failed {
            retryable,
            message,
            backoff,
            variables
        })),
        (any::<Option<i64>>(), prop::option::of(text())).prop_map(|(lease, progress)| Said::Alive { lease, progress }),
        Just(Said::Returned),
        any::<i64>().prop_map(|delay| Said::Snoozed { delay }),
        (text(), text(), document()).prop_map(|(code, message, variables)| Said::Thrown(Thrown { code, message, variables })),
    ];
    (job_key(), claim, said).prop_map(|(job, claim, said)| Report { job, claim, said })
}

pub(super) fn reported() -> impl Strategy<Value = Reported> {
    let became = prop_oneof![
        any::<Option<i64>>().prop_map(|until| Became::Taken { until }),
        Just(Became::Lost),
        Just(Became::Gone),
        Just(Became::Alone),
        any::<String>().prop_map(|reason| Became::Refused(Rejection { code: Code::InvalidState, reason })),
    ];
    (job_key(), became).prop_map(|(job, became)| Reported { job, became })
}

pub(super) fn put_schedule() -> impl Strategy<Value = PutSchedule> {
    let names = (text(), text(), text(), text(), prop::option::of(text()));
    (names, new_execution(), any::<bool>()).prop_map(|((tenant, reference, action, cron, time_zone), execution, paused)| {
        PutSchedule { tenant, reference, action, cron, time_zone, execution, paused }
    })
}

pub(super) fn unannounced() -> impl Strategy<Value = Unannounced> {
    (number(), job_key(), text(), any::<bool>()).prop_map(|(announcement, job, reason, for_good)| Unannounced {
        announcement: AnnouncementKey(announcement),
        job,
        reason,
        for_good,
    })
}

pub(super) fn code() -> impl Strategy<Value = Code> {
    prop::sample::select(vec![
        Code::InvalidArgument,
        Code::NotFound,
        Code::AlreadyExists,
        Code::InvalidState,
        Code::Exhausted,
        Code::Expired,
    ])
}

pub(super) fn submitted() -> impl Strategy<Value = SubmittedExecution> {
    (job_key(), any::<bool>(), prop::option::of(text())).prop_map(|(job, is_new, group)| SubmittedExecution {
        job,
        is_new,
        group,
    })
}
