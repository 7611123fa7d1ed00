//! How clients and workers speak to servers: through a connection that ends with the server, with a patience that ends too.

use std::sync::Arc;
use std::time::Duration;

use host::Error;
use store::log::{Answer, Caller, Command, IdempotencyKey, Request};
use store::query::{Entity, Field, Filter, Items, Op, Query, Scalar, Tenants};

use crate::check::{AttemptId, Told, Violation};
use crate::fault::Fault;
use crate::rng::Rng;
use crate::server::Server;
use crate::world::World;

pub(crate) const TENANT: &str = "<default>";

/// What clients may see.
pub(crate) fn ours() -> Tenants {
    Tenants::These(vec![TENANT.into()])
}

pub(crate) fn caller() -> Caller {
    Caller { name: "sim".into(), tenants: ours(), trace: None }
}

/// How often something is tried again before it is left.
const TRIES_MAX: u64 = 8;

/// What came back.
pub(crate) enum Heard<T> {
    Done(T),
    Rejected,
    /// Nobody knows whether it happened.
    Nothing,
}

impl World {
    /// Some server that is up, sooner or later.
    pub(crate) async fn server(&self, rng: &mut Rng) -> Server {
        loop {
            let up: Vec<Server> = self.state().servers.iter().flatten().cloned().collect();
            if !up.is_empty() {
                return rng.pick(&up).clone();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits for an answer, unless the server dies or the caller loses patience.
    pub(crate) async fn hear<T>(&self, server: &Server, fault: Fault, call: impl Future<Output = Result<T, Error>>) -> Heard<T> {
        let patience = if self.strikes(fault) { self.between(0, 2_000) } else { 120_000 };
        let heard = tokio::select! {
            biased;
            () = server.link.died() => return Heard::Nothing,
            heard = call => heard,
            () = tokio::time::sleep(Duration::from_millis(patience)) => return Heard::Nothing,
        };
        match heard {
            Ok(done) => Heard::Done(done),
            // The store failed with it again and again: this says nothing of what was sent before under the same key.
            Err(Error::Rejected(rejection)) if rejection.reason.starts_with("the store does not take") => {
                self.note(|| format!("blamed: {}", rejection.reason));
                Heard::Nothing
            }
            Err(Error::Rejected(rejection)) => {
                self.note(|| format!("rejected: {}", rejection.reason));
                Heard::Rejected
            }
            Err(Error::Internal { reason }) => {
                self.fail(Violation { invariant: 11, what: format!("a fault of ours: {reason}") });
                Heard::Nothing
            }
            Err(error @ (Error::Exhausted { .. } | Error::Unavailable { .. } | Error::Timeout)) => {
                self.note(|| format!("no answer: {error}"));
                Heard::Nothing
            }
        }
    }

    pub(crate) async fn submit(&self, server: &Server, request: Request) -> Heard<Answer> {
        self.hear(server, Fault::GivesUp, server.host.submit(request)).await
    }

    /// Sends a command until it is known what became of it; each time as an attempt of its own unless it has an idempotency key. Gives the
    /// attempt that was told to be done.
    pub(crate) async fn insist(
        &self,
        rng: &mut Rng,
        keyed: bool,
        what: crate::check::What,
        command: impl Fn(AttemptId) -> Command,
    ) -> Option<AttemptId> {
        let mut id = self.attempt(what);
        for _ in 0..TRIES_MAX {
            let server = self.server(rng).await;
            self.note(|| format!("{id} {what:?} goes to {}", server.link.name));
            let request = Request { caller: caller(), command: command(id), idempotency: keyed.then(|| key(id)) };
            let heard = if keyed && self.strikes(Fault::SentTwice) {
                let other = self.server(rng).await;
                let (one, two) = tokio::join!(self.submit(&server, request.clone()), self.submit(&other, request));
                self.tell(id, &two);
                one
            } else {
                self.submit(&server, request).await
            };
            self.tell(id, &heard);
            match heard {
                Heard::Done(_) => return Some(id),
                Heard::Rejected => return None,
                Heard::Nothing => tokio::time::sleep(Duration::from_millis(rng.between(1, 1_500))).await,
            }
            if !keyed {
                id = self.attempt(what);
            }
        }
        None
    }

    /// Tells the model what a caller heard.
    pub(crate) fn tell(&self, id: AttemptId, heard: &Heard<Answer>) {
        match heard {
            Heard::Done(Answer::Created(created)) => self.told(id, Told::Created(created.instance)),
            Heard::Done(_) => self.told(id, Told::Done),
            Heard::Rejected => self.told(id, Told::Rejected),
            Heard::Nothing => {}
        }
    }

    /// Invariant 9: whoever was told something sees it, whichever server is asked.
    pub(crate) async fn sees(&self, rng: &mut Rng, what: &str, query: Query, shows: impl Fn(&Items) -> bool) {
        for _ in 0..TRIES_MAX {
            let server = self.server(rng).await;
            let searching = async { server.host.store().search(&query).await.map_err(Error::from) };
            if let Heard::Done(page) = self.hear(&server, Fault::GivesUp, searching).await {
                if !shows(&page.items) {
                    let what = format!("{} does not show {what}: {:?}", server.link.name, page.items);
                    self.fail(Violation { invariant: 9, what });
                }
                return;
            }
            tokio::time::sleep(Duration::from_millis(rng.between(1, 500))).await;
        }
    }

    /// The variable that proves an attempt is there to read.
    pub(crate) async fn sees_mark(&self, rng: &mut Rng, id: AttemptId, instance: u64) {
        let filter =
            Filter::All(vec![is(Field::InstanceKey, instance), Filter::Is(Field::Name, Op::Eq(Scalar::Text(id.to_string())))]);
        let query = Query { filter, ..Query::of(Entity::Variables, ours()) };
        self.sees(rng, &format!("variable {id}"), query, |items| matches!(items, Items::Variables(found) if found.len() == 1))
            .await;
    }
}

pub(crate) fn is(field: Field, key: u64) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Int(key as i64)))
}

pub(crate) fn key(id: AttemptId) -> IdempotencyKey {
    IdempotencyKey { tenant: TENANT.into(), key: id.to_string().into(), fingerprint: id.0 as u64 }
}

/// Variables that prove an attempt.
pub(crate) fn marked(id: AttemptId) -> engine::Document {
    vec![(id.to_string().into(), Arc::from("1"))]
}
