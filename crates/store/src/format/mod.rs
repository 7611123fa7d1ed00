//! Stored formats: how events, requests, answers and tokens are written into columns of bytes.
//!
//! The first byte of everything says the version. After it come numbers as variable-length integers and texts with their length, in
//! the order in which the types declare their fields. Since version 2 every record has its length before it: a server that does not
//! know the fields at its end passes over them, and fields that are missing have their defaults. So versions may be mixed as long as
//! fields are only added. Nothing at all is the shortest way to write "none" and is not versioned.
//!
//! Reading never panics and never allocates more than the bytes at hand justify: what does not decode is [`Error::Corrupt`].

mod answer;
mod batch;
mod bytes;
mod change;
mod decision;
mod event;
mod policy;
mod report;
mod request;
#[cfg(test)]
mod round_trip;
mod schedule;
#[cfg(test)]
mod some;
#[cfg(test)]
mod some_batch;
#[cfg(test)]
mod some_jobs;
#[cfg(test)]
mod some_policy;
#[cfg(test)]
mod version_one;

use std::sync::Arc;

use engine::{Document, Event, Token, Turn, VariableKey};
use model::GlobalListener;
use queue::policy::Policy;
use queue::stats::Stats;

use crate::Error;
use crate::batch::Asked;
use crate::log::{Answer, Request};
use crate::row::{EvaluatedDecision, Schedule, Transition};
use bytes::{Reader, Stored, Writer};
pub use decision::EvaluatedDetails;

/// What this server writes. It reads all versions up to this one.
const VERSION: u8 = 2;

/// The value of a variable that takes more bytes than this is not written into events too: it is in its row.
const EVENT_VALUE_MAX: usize = 256;

pub fn encode_events(events: &[Event]) -> Vec<u8> {
    encode_list(events)
}

/// `kept` gives the value of a variable that is in its row alone.
pub fn decode_events(bytes: &[u8], kept: impl Fn(VariableKey) -> Option<Arc<str>>) -> Result<Vec<Event>, Error> {
    let mut events: Vec<event::Recorded> = decode_list(bytes)?;
    events.drain(..).map(|recorded| recorded.whole(&kept)).collect()
}

/// Tokens as instances held them before they had rows of their own.
pub fn decode_tokens(bytes: &[u8]) -> Result<Vec<Token>, Error> {
    decode_list(bytes)
}

pub fn encode_request(request: &Request) -> Vec<u8> {
    encode(request)
}

pub fn decode_request(bytes: &[u8]) -> Result<Request, Error> {
    decode(bytes)
}

pub fn encode_answer(answer: &Answer) -> Vec<u8> {
    encode(answer)
}

pub fn decode_answer(bytes: &[u8]) -> Result<Answer, Error> {
    decode(bytes)
}

pub fn encode_turn(turn: &Turn) -> Vec<u8> {
    encode(turn)
}

pub fn decode_turn(bytes: &[u8]) -> Result<Turn, Error> {
    decode(bytes)
}

/// The variables of a message or a signal.
pub fn encode_document(document: &Document) -> Vec<u8> {
    encode_list(document)
}

pub fn decode_document(bytes: &[u8]) -> Result<Document, Error> {
    decode_list(bytes)
}

/// What is happening to a user task.
pub fn encode_transition(transition: &Transition) -> Vec<u8> {
    encode(transition)
}

pub fn decode_transition(bytes: &[u8]) -> Result<Transition, Error> {
    decode(bytes)
}

/// The ids of a process's flows, in its order.
pub fn encode_flows(flows: &[Arc<str>]) -> Vec<u8> {
    let mut to = Writer::starting_with(VERSION);
    to.list(flows);
    to.finish()
}

pub fn decode_flows(bytes: &[u8]) -> Result<Vec<Arc<str>>, Error> {
    decode(bytes)
}

/// What an operation over many is to do.
pub fn encode_asked(asked: &Asked) -> Vec<u8> {
    encode(asked)
}

pub fn decode_asked(bytes: &[u8]) -> Result<Asked, Error> {
    decode(bytes)
}

/// Those who listen to all user tasks.
pub fn encode_listeners(listeners: &[GlobalListener]) -> Vec<u8> {
    let mut to = Writer::starting_with(VERSION);
    to.list(listeners);
    to.finish()
}

pub fn decode_listeners(bytes: &[u8]) -> Result<Vec<GlobalListener>, Error> {
    decode(bytes)
}

/// Nothing where it was deleted.
pub fn encode_policy(policy: Option<&Policy>) -> Vec<u8> {
    policy.map_or(Vec::new(), encode)
}

/// When jobs of a queue were started.
pub fn encode_starts(starts: &queue::Starts) -> Vec<u8> {
    encode(starts)
}

pub fn decode_starts(bytes: &[u8]) -> Result<queue::Starts, Error> {
    decode(bytes)
}

pub fn decode_policy(bytes: &[u8]) -> Result<Option<Policy>, Error> {
    if bytes.is_empty() { Ok(None) } else { decode(bytes).map(Some) }
}

pub fn encode_schedule(schedule: &Schedule) -> Vec<u8> {
    encode(schedule)
}

pub fn decode_schedule(bytes: &[u8]) -> Result<Schedule, Error> {
    decode(bytes)
}

/// What has happened in a queue.
pub fn encode_stats(stats: &Stats) -> Vec<u8> {
    encode(stats)
}

pub fn decode_stats(bytes: &[u8]) -> Result<Stats, Error> {
    decode(bytes)
}

pub fn encode_details(decision: &EvaluatedDecision) -> Vec<u8> {
    encode(&EvaluatedDetails { inputs: decision.inputs.clone(), rules: decision.rules.clone() })
}

pub fn decode_details(bytes: &[u8]) -> Result<EvaluatedDetails, Error> {
    decode(bytes)
}

fn encode<T: Stored>(value: &T) -> Vec<u8> {
    let mut to = Writer::starting_with(VERSION);
    value.put(&mut to);
    to.finish()
}

fn decode<T: Stored>(bytes: &[u8]) -> Result<T, Error> {
    let mut from = Reader::over(bytes, VERSION)?;
    let value = T::take(&mut from)?;
    from.finish()?;
    Ok(value)
}

fn encode_list<T: Stored>(items: &[T]) -> Vec<u8> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut to = Writer::starting_with(VERSION);
    to.list(items);
    to.finish()
}

fn decode_list<T: Stored>(bytes: &[u8]) -> Result<Vec<T>, Error> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    decode(bytes)
}
