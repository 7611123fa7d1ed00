//! The objects of answers as tables: each property with what it holds and where it comes from. Every property is always written,
//! null where there is nothing, so that strict clients accept them; the same tables describe them in `/openapi.json`.

use std::sync::Arc;

use store::Millis;

use super::describe::{Described, Kind, Property};
use super::time;
use crate::json;

pub(super) struct Layout<T: 'static> {
    pub(super) name: &'static str,
    pub(super) columns: &'static [Column<T>],
}

pub(super) struct Column<T> {
    name: &'static str,
    kind: Kind,
    nullable: bool,
    cell: fn(&T) -> Cell<'_>,
}

/// A value to write.
pub(super) enum Cell<'v> {
    Null,
    Text(&'v str),
    Key(u64),
    Number(i64),
    Boolean(bool),
    Time(Millis),
    Texts(&'v [Arc<str>]),
    Strings(&'v [String]),
    /// JSON text, written as it is.
    Json(&'v str),
    /// Whatever it writes.
    Nested(Write<'v>),
}

type Write<'v> = Box<dyn Fn(&mut Vec<u8>) + 'v>;

pub(super) const fn column<T>(name: &'static str, kind: Kind, cell: fn(&T) -> Cell<'_>) -> Column<T> {
    Column { name, kind, nullable: false, cell }
}

/// A column that may be null.
pub(super) const fn optional<T>(name: &'static str, kind: Kind, cell: fn(&T) -> Cell<'_>) -> Column<T> {
    Column { name, kind, nullable: true, cell }
}

/// What clients of a later line expect to find and we have nothing to say about.
pub(super) const fn empty<T>(name: &'static str, kind: Kind) -> Column<T> {
    optional(name, kind, |_| Cell::Null)
}

impl<'v> Cell<'v> {
    pub(super) fn maybe<V>(value: Option<V>, cell: impl FnOnce(V) -> Cell<'v>) -> Self {
        value.map_or(Self::Null, cell)
    }

    pub(super) fn maybe_text(text: Option<&'v str>) -> Self {
        Self::maybe(text, Self::Text)
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Text(text) => json::write_text(out, text),
            Self::Key(key) => display(out, format_args!("\"{key}\"")),
            Self::Number(number) => display(out, format_args!("{number}")),
            Self::Boolean(boolean) => display(out, format_args!("{boolean}")),
            Self::Time(millis) => display(out, format_args!("\"{}\"", time::written(*millis))),
            Self::Texts(texts) => list(out, texts, |out, text| json::write_text(out, text)),
            Self::Strings(texts) => list(out, texts, |out, text| json::write_text(out, text)),
            Self::Json(text) => out.extend_from_slice(text.as_bytes()),
            Self::Nested(write) => write(out),
        }
    }
}

impl<T> Layout<T> {
    pub(super) fn write(&self, out: &mut Vec<u8>, value: &T) {
        out.push(b'{');
        for (index, column) in self.columns.iter().enumerate() {
            if 0 < index {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(column.name.as_bytes());
            out.extend_from_slice(b"\":");
            (column.cell)(value).write(out);
        }
        out.push(b'}');
    }

    pub(super) fn write_list(&self, out: &mut Vec<u8>, values: &[T]) {
        list(out, values, |out, value| self.write(out, value));
    }

    pub(super) fn to_vec(&self, value: &T) -> Vec<u8> {
        let mut out = Vec::with_capacity(512);
        self.write(&mut out, value);
        out
    }
}

fn list<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if 0 < index {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

fn display(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    use std::io::Write;
    out.write_fmt(text).expect("memory can always be written to");
}

impl<T> Described for Layout<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn properties(&self) -> Vec<Property> {
        let property = |column: &Column<T>| Property {
            name: column.name,
            kind: column.kind,
            about: "",
            required: true,
            nullable: column.nullable,
        };
        self.columns.iter().map(property).collect()
    }
}
