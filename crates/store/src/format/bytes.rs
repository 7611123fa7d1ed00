//! Numbers, texts and lists as bytes.

use std::sync::Arc;

use engine::{
    CompensationKey, DecisionKey, DefinitionKey, ElementKey, EvaluationKey, FormKey, IncidentKey, InstanceKey, JobKey,
    RequirementsKey, TimerKey, UserTaskKey, VariableKey, WaitKey,
};
use model::{ElementIx, FlowIx};

use crate::Error;
use crate::row::AnnouncementKey;

/// A list reserves room for at most this many items before the first is read.
const RESERVED_MAX: usize = 64;

/// Has a stored form.
pub(super) trait Stored: Sized {
    fn put(&self, to: &mut Writer);
    fn take(from: &mut Reader<'_>) -> Result<Self, Error>;
}

/// Writes and reads the named fields, in the order given. The order is the format. A field added later goes to the end and is read by
/// [`Reader::added`]; a reader that does not know it passes over it.
macro_rules! record {
    ($type:ty { $($field:ident),+ $(,)? $(; $($added:ident),+)? }) => {
        impl $crate::format::bytes::Stored for $type {
            fn put(&self, to: &mut $crate::format::bytes::Writer) {
                to.framed(|to| {
                    $(self.$field.put(to);)+
                    $($(self.$added.put(to);)+)?
                });
            }

            fn take(from: &mut $crate::format::bytes::Reader<'_>) -> Result<Self, $crate::Error> {
                from.framed(|from| {
                    Ok(Self {
                        $($field: $crate::format::bytes::Stored::take(from)?,)+
                        $($($added: from.added()?.unwrap_or_default(),)+)?
                    })
                })
            }
        }
    };
}
pub(super) use record;

pub(super) struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn starting_with(version: u8) -> Self {
        let mut out = Vec::with_capacity(256);
        out.push(version);
        Self { out }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    /// Seven bits at a time, the lowest first; the high bit says that more follow.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    /// With its length before it, so that a reader can pass over what it does not know.
    pub(super) fn framed(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.out.push(0);
        write(self);
        let length = self.out.len() - start - 1;
        if length < 0x80 {
            self.out[start] = length as u8;
            return;
        }
        let mut prefix = Self { out: Vec::new() };
        prefix.number(length as u64);
        self.out.splice(start..=start, prefix.out);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    pub(super) fn list<T: Stored>(&mut self, items: &[T]) {
        self.number(items.len() as u64);
        for item in items {
            item.put(self);
        }
    }
}

pub(super) struct Reader<'a> {
    rest: &'a [u8],
    version: u8,
}

impl<'a> Reader<'a> {
    /// Reads the version first; `known` is the newest that can be read.
    pub(super) fn over(bytes: &'a [u8], known: u8) -> Result<Self, Error> {
        let mut reader = Self { rest: bytes, version: known };
        let version = reader.byte()?;
        if !(1..=known).contains(&version) {
            return Err(Error::corrupt(format_args!("bytes of format version {version}, known are 1 to {known}")));
        }
        reader.version = version;
        Ok(reader)
    }

    /// Something with its length before it; what comes after what is read is from a later version. The first version had no lengths.
    pub(super) fn framed<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.version == 1 {
            return read(self);
        }
        let mut inner = Reader { rest: self.bytes()?, version: self.version };
        read(&mut inner)
    }

    /// A field that came later, if it is there; the first version had none of them.
    pub(super) fn added<T: Stored>(&mut self) -> Result<Option<T>, Error> {
        match self.version == 1 || self.rest.is_empty() {
            true => Ok(None),
            false => T::take(self).map(Some),
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Error::corrupt(format_args!("{left} bytes too many"))),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        let (first, rest) = self.rest.split_first().ok_or_else(too_short)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit only.
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Error::corrupt("a number of more than 64 bits"))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = self.length()?;
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(Error::corrupt)
    }

    /// A length of something that takes at least a byte each, so never more than there are bytes left.
    fn length(&mut self) -> Result<usize, Error> {
        let length = self.number()?;
        usize::try_from(length).ok().filter(|length| *length <= self.rest.len()).ok_or_else(too_short)
    }
}

fn too_short() -> Error {
    Error::corrupt("bytes end too early")
}

/// What an enum says when no variant has that number.
pub(super) fn unknown(what: &str, tag: u8) -> Error {
    Error::corrupt(format_args!("{tag} is no {what}"))
}

impl Stored for u64 {
    fn put(&self, to: &mut Writer) {
        to.number(*self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.number()
    }
}

/// Small negative numbers stay short: the sign is the lowest bit.
impl Stored for i64 {
    fn put(&self, to: &mut Writer) {
        to.number(((*self << 1) ^ (*self >> 63)) as u64);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        let folded = from.number()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }
}

impl Stored for u32 {
    fn put(&self, to: &mut Writer) {
        u64::from(*self).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Self::try_from(u64::take(from)?).map_err(Error::corrupt)
    }
}

impl Stored for i32 {
    fn put(&self, to: &mut Writer) {
        i64::from(*self).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Self::try_from(i64::take(from)?).map_err(Error::corrupt)
    }
}

impl Stored for bool {
    fn put(&self, to: &mut Writer) {
        to.byte(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            tag => Err(unknown("truth value", tag)),
        }
    }
}

impl Stored for Arc<str> {
    fn put(&self, to: &mut Writer) {
        to.bytes(self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(from.text()?.into())
    }
}

impl Stored for String {
    fn put(&self, to: &mut Writer) {
        to.bytes(self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(from.text()?.to_owned())
    }
}

impl Stored for Arc<[u8]> {
    fn put(&self, to: &mut Writer) {
        to.bytes(self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(from.bytes()?.into())
    }
}

impl<T: Stored> Stored for Box<T> {
    fn put(&self, to: &mut Writer) {
        (**self).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        T::take(from).map(Box::new)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, to: &mut Writer) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match bool::take(from)? {
            true => Ok(Some(T::take(from)?)),
            false => Ok(None),
        }
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, to: &mut Writer) {
        to.list(self);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        let length = from.length()?;
        let mut items = Vec::with_capacity(length.min(RESERVED_MAX));
        for _ in 0..length {
            items.push(T::take(from)?);
        }
        Ok(items)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, to: &mut Writer) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok((A::take(from)?, B::take(from)?))
    }
}

macro_rules! newtypes {
    ($($name:ident),+ $(,)?) => {$(
        impl Stored for $name {
            fn put(&self, to: &mut Writer) {
                self.0.put(to);
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
                Ok(Self(Stored::take(from)?))
            }
        }
    )+};
}

newtypes!(
    CompensationKey,
    DecisionKey,
    DefinitionKey,
    ElementKey,
    EvaluationKey,
    FormKey,
    IncidentKey,
    AnnouncementKey,
    InstanceKey,
    JobKey,
    RequirementsKey,
    TimerKey,
    UserTaskKey,
    VariableKey,
    WaitKey,
    ElementIx,
    FlowIx,
);
