//! Waiting for what becomes of something that was to happen to a user task, by reading the store: the jobs of those who listen tell it,
//! also to servers that do not own the partition, and after the owner has changed. Who stops waiting changes nothing.

use std::time::Duration;

use model::ListenerEvent;
use store::log::{Answer, Code, Listening, Rejection};
use store::query::{Entity, Field, Filter, Items, JobView, Op, Page, Query, Scalar, Tenants};
use store::row::{JobKind, JobState};

use crate::handle::{Error, Host};

/// How long to wait before looking for the second time; then twice as long each time.
const FIRST_LOOK: Duration = Duration::from_millis(10);

pub(crate) async fn outcome(host: &Host, listening: Listening, timeout: Duration) -> Result<Answer, Error> {
    let waiting = async {
        let mut wakeups = host.store().wakeups();
        let mut patience = FIRST_LOOK;
        loop {
            if let Some(outcome) = seen(host, &listening).await? {
                return outcome;
            }
            tokio::select! {
                biased;
                _ = wakeups.changed() => {}
                () = tokio::time::sleep(patience) => patience = (2 * patience).min(host.limits().poll_every),
            }
        }
    };
    tokio::time::timeout(timeout, waiting).await.unwrap_or(Err(Error::Timeout))
}

/// The first jobs, by key, that were made since: as many as there are listeners, unless one of them refused.
async fn seen(host: &Host, listening: &Listening) -> Result<Option<Result<Answer, Error>>, Error> {
    let Listening { task, element_instance, tenant, event, since, listeners, then } = listening;
    let is = |field, value| Filter::Is(field, Op::Eq(value));
    let filter = Filter::All(vec![
        is(Field::ElementKey, Scalar::Int(element_instance.0 as i64)),
        is(Field::ListenerEvent, Scalar::Text(JobKind::Listener(*event).event_word().to_owned())),
        Filter::Is(Field::JobKey, Op::Gt(Scalar::Int(*since as i64))),
    ]);
    let query = Query {
        filter,
        page: Page::From { from: 0, limit: *listeners },
        ..Query::of(Entity::Jobs, Tenants::These(vec![tenant.clone()]))
    };
    let Items::Jobs(jobs) = host.store().search(&query).await?.items else { return Ok(None) };
    let rejected = |code, reason| Ok(Some(Err(Error::Rejected(Rejection { code, reason }))));
    if let Some(reason) = jobs.iter().find_map(|job| job.denied.as_ref()) {
        let what = noun(*event);
        let reason = format!("{what} of the User Task with key '{task}' was denied by Task Listener. Reason to deny: '{reason}'");
        return rejected(Code::InvalidState, reason);
    }
    if jobs.iter().any(|job| job.state == JobState::Cancelled) {
        return rejected(Code::NotFound, format!("the user task with key '{task}' was canceled meanwhile"));
    }
    let all_heard = jobs.iter().filter(|job| is_done(job)).count() == *listeners as usize;
    Ok(all_heard.then(|| Ok(then.map_or(Answer::Done, |key| Answer::VariablesSet { key }))))
}

fn is_done(job: &JobView) -> bool {
    job.state == JobState::Completed
}

fn noun(event: ListenerEvent) -> &'static str {
    match event {
        ListenerEvent::Assigning => "Assignment",
        ListenerEvent::Completing => "Completion",
        ListenerEvent::Creating => "Creation",
        ListenerEvent::Canceling => "Cancelation",
        ListenerEvent::Updating | ListenerEvent::Start | ListenerEvent::End => "Update",
    }
}
