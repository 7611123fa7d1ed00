//! A statement with its parameters, ready to be sent.

use std::borrow::Cow;

use tokio_postgres::types::{ToSql, Type};

type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// One statement and what fills its `$1`, `$2`, …, in order. Types are said here, so that a statement need not be prepared first
/// where a pooler forbids it.
pub(crate) struct Call<'a> {
    pub(crate) sql: &'static str,
    values: Vec<Value<'a>>,
    types: Vec<Type>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(sql: &'static str) -> Self {
        Self { sql, values: Vec::new(), types: Vec::new() }
    }

    /// With the parameters of another behind its own, but for the first, which they have in common.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.values.extend(other.values.into_iter().skip(1));
        self.types.extend(other.types.into_iter().skip(1));
        self
    }

    /// The statement that has all these parameters.
    pub(crate) fn with_text(self, sql: &'static str) -> Self {
        Self { sql, ..self }
    }

    pub(crate) fn types(&self) -> &[Type] {
        &self.types
    }

    pub(crate) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }

    pub(crate) fn typed_values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values().into_iter().zip(self.types.iter().cloned()).collect()
    }

    pub(crate) fn int(self, value: i64) -> Self {
        self.push(value, Type::INT8)
    }

    /// Keys and positions: the database has no unsigned numbers, and ours stay below 2^63.
    pub(crate) fn key(self, value: u64) -> Self {
        self.int(value as i64)
    }

    pub(crate) fn limit(self, value: usize) -> Self {
        self.int(i64::try_from(value).unwrap_or(i64::MAX))
    }

    pub(crate) fn text(self, value: &'a str) -> Self {
        self.push(storable(value), Type::TEXT)
    }

    // ---- columns of a batch: one array each, for UNNEST ----

    pub(crate) fn ints(self, values: impl Iterator<Item = i64>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::INT8_ARRAY)
    }

    pub(crate) fn ints_opt(self, values: impl Iterator<Item = Option<i64>>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::INT8_ARRAY)
    }

    pub(crate) fn keys(self, values: impl Iterator<Item = u64>) -> Self {
        self.ints(values.map(|key| key as i64))
    }

    pub(crate) fn keys_opt(self, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.ints_opt(values.map(|key| key.map(|key| key as i64)))
    }

    /// Numbers that fit 32 bits: versions, retries, places in a definition.
    pub(crate) fn smalls(self, values: impl Iterator<Item = i32>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::INT4_ARRAY)
    }

    pub(crate) fn smalls_opt(self, values: impl Iterator<Item = Option<i32>>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::INT4_ARRAY)
    }

    /// Stored codes of our enums.
    pub(crate) fn codes(self, values: impl Iterator<Item = i16>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::INT2_ARRAY)
    }

    pub(crate) fn flags(self, values: impl Iterator<Item = bool>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::BOOL_ARRAY)
    }

    pub(crate) fn texts(self, values: impl Iterator<Item = &'a str>) -> Self {
        self.push(values.map(storable).collect::<Vec<_>>(), Type::TEXT_ARRAY)
    }

    pub(crate) fn texts_opt(self, values: impl Iterator<Item = Option<&'a str>>) -> Self {
        self.push(values.map(|text| text.map(storable)).collect::<Vec<_>>(), Type::TEXT_ARRAY)
    }

    pub(crate) fn blobs(self, values: impl Iterator<Item = &'a [u8]>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::BYTEA_ARRAY)
    }

    pub(crate) fn blobs_opt(self, values: impl Iterator<Item = Option<&'a [u8]>>) -> Self {
        self.push(values.collect::<Vec<_>>(), Type::BYTEA_ARRAY)
    }

    fn push(mut self, value: impl ToSql + Sync + Send + 'a, kind: Type) -> Self {
        self.values.push(Box::new(value));
        self.types.push(kind);
        self
    }
}

/// PostgreSQL cannot hold U+0000 in a text. One such character in a variable's name must not stop a partition, so it is stored as
/// the character that stands for unreadable ones.
fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{FFFD}")),
        false => Cow::Borrowed(text),
    }
}
