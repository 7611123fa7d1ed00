//! A policy in the words in which it was put.

use std::sync::Arc;

use queue::adapt::Adaptive;
use queue::policy::{Concurrency, Method, Overdue, Policy, Rate, Scope};
use queue::retry::{BACKOFF_MAX, Delays, Retry};
use store::Millis;

use super::super::time;
use crate::json;

/// An object under way.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_first: true }
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        json::write_text(self.out, name);
        self.out.push(b':');
        self.out
    }

    fn text(&mut self, name: &str, value: &str) {
        json::write_text(self.name(name), value);
    }

    /// A number or a boolean.
    fn plain(&mut self, name: &str, value: impl std::fmt::Display) {
        self.name(name).extend_from_slice(value.to_string().as_bytes());
    }

    fn plain_maybe(&mut self, name: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.plain(name, value);
        }
    }

    fn span(&mut self, name: &str, value: Option<Millis>) {
        if let Some(value) = value {
            self.text(name, &time::span(value));
        }
    }

    fn texts(&mut self, name: &str, values: impl Iterator<Item = Arc<str>>) {
        let out = self.name(name);
        out.push(b'[');
        for (place, value) in values.enumerate() {
            if 0 < place {
                out.push(b',');
            }
            json::write_text(out, &value);
        }
        out.push(b']');
    }

    fn within(&mut self, name: &str, write: impl FnOnce(&mut Object<'_>)) {
        let mut object = Object::begin(self.name(name));
        write(&mut object);
        object.end();
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

pub(super) fn write(out: &mut Vec<u8>, policy: &Policy) {
    let mut object = Object::begin(out);
    match &policy.scope {
        Scope::Global => object.text("scope", "GLOBAL"),
        Scope::Tenant(tenant) => {
            object.text("scope", "TENANT");
            object.text("tenantId", tenant);
        }
        Scope::Action(action) => {
            object.text("scope", "ACTION");
            object.text("action", action);
        }
    }
    object.plain("priority", policy.priority);
    if let Some(concurrency) = &policy.concurrency {
        object.within("concurrency", |object| write_concurrency(object, concurrency));
    }
    if let Some(Rate { pace, parameters }) = &policy.rate {
        object.within("rate", |object| {
            object.plain("limit", pace.limit);
            object.span("window", Some(pace.window));
            object.texts("parameters", parameters.iter().cloned());
        });
    }
    object.span("delay", policy.delay);
    if let Some(quota) = policy.quota {
        object.within("quota", |object| {
            object.plain_maybe("running", quota.running);
            object.plain_maybe("waiting", quota.waiting);
            object.plain_maybe("total", quota.total);
        });
    }
    if let Some(most) = policy.queue_max {
        object.within("queue", |object| {
            object.plain("maxLength", most);
            object.span("maxWait", policy.wait.map(|wait| wait.most));
            if let Some(wait) = policy.wait {
                object.text("onMaxWait", if wait.then == Overdue::Fail { "FAIL" } else { "CANCEL" });
            }
            object.plain_maybe("fair", policy.fair.then_some(true));
            object.span("ageing", policy.ageing);
        });
    }
    if let Some(retry) = &policy.retry {
        object.within("retry", |object| write_retry(object, retry));
    }
    object.plain("paused", policy.paused);
    object.end();
}

fn write_concurrency(object: &mut Object<'_>, concurrency: &Concurrency) {
    object.plain("limit", concurrency.limit);
    object.texts("parameters", concurrency.parameters.iter().cloned());
    object.text(
        "method",
        match concurrency.method {
            Method::Enqueue => "ENQUEUE",
            Method::Cancel => "CANCEL",
        },
    );
    if let Some(Adaptive { limit_min, latency }) = concurrency.adaptive {
        object.within("adaptive", |object| {
            object.plain("minLimit", limit_min);
            object.span("latency", latency);
        });
    }
}

fn write_retry(object: &mut Object<'_>, retry: &Retry) {
    match &retry.delays {
        Delays::Listed(delays) => object.texts("delays", delays.iter().map(|delay| time::span(*delay).into())),
        Delays::Growing { first, factor, most } => {
            object.span("delay", Some(*first));
            object.plain("factor", factor);
            object.span("maxDelay", Some(*most).filter(|most| *most != BACKOFF_MAX));
        }
    }
    object.plain("jitterPercent", retry.jitter_percent);
    object.text("place", if retry.holds { "KEEP" } else { "FRONT" });
}
