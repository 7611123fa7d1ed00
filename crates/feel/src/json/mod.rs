//! JSON in and out, straight between text and [`Value`](crate::Value), so that no number passes through a double.

mod decode;
mod encode;
mod merge;
mod skip;

pub use decode::{JsonError, decode_members};
pub use merge::{RawMember, merge, raw_members};

pub(crate) use decode::{TOO_LARGE, decode};
pub(crate) use encode::{encode, whole_seconds_text, write_string};
