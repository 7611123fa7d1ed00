//! Stored formats: how events, requests, answers and tokens are written into columns of bytes.
//!
//! The first byte of everything says the version, so that a later server can read what this one wrote. After it come numbers as
//! variable-length integers and texts with their length, in the order in which the types declare their fields. Nothing at all is
//! the shortest way to write "none" and is not versioned.
//!
//! Reading never panics and never allocates more than the bytes at hand justify: what does not decode is [`Error::Corrupt`].

mod answer;
mod bytes;
mod decision;
mod event;
mod request;
#[cfg(test)]
mod round_trip;

use engine::{Event, Token};

use crate::Error;
use crate::log::{Answer, Request};
use crate::row::EvaluatedDecision;
use bytes::{Reader, Stored, Writer};
pub use decision::EvaluatedDetails;

/// What this server writes. It reads all versions up to this one.
const VERSION: u8 = 1;

pub fn encode_events(events: &[Event]) -> Vec<u8> {
    encode_list(events)
}

pub fn decode_events(bytes: &[u8]) -> Result<Vec<Event>, Error> {
    decode_list(bytes)
}

pub fn encode_tokens(tokens: &[Token]) -> Vec<u8> {
    encode_list(tokens)
}

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
    let mut from = Reader::over(bytes);
    let version = from.byte()?;
    if version != VERSION {
        return Err(Error::corrupt(format_args!("bytes of format version {version}, known is {VERSION}")));
    }
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
