//! The bodies of commands as tables: which properties there are and what each may hold. One reader serves them all, and the same
//! tables describe them in `/openapi.json`.

use std::borrow::Cow;
use std::sync::Arc;

use engine::Document;
use host::Limits;
use store::query::{Filter, Op};

use super::describe::{Described, Kind, Property};
use super::path::{self, Path};
use super::search::{self, Condition};
use crate::document::{self, DocumentError};
use crate::error::Failure;
use crate::json::{self, Reader};

pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
    pub(super) required: bool,
}

pub(super) const fn field(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, about, required: false }
}

impl Field {
    /// For the description only: whether it is there is checked by the operation, which has the words for it.
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl Described for Shape {
    fn name(&self) -> &'static str {
        self.name
    }

    fn properties(&self) -> Vec<Property> {
        let property = |field: &Field| Property {
            name: field.name,
            kind: field.kind,
            about: field.about,
            required: field.required,
            nullable: !field.required,
        };
        self.fields.iter().map(property).collect()
    }
}

/// What a body held, property by property. Null is as good as absent; of two with one name the last wins.
pub(super) struct Fields<'a> {
    shape: &'static Shape,
    slots: Vec<Slot<'a>>,
}

enum Slot<'a> {
    Absent,
    Text(Cow<'a, str>),
    Number(i64),
    Boolean(bool),
    Word(&'static str),
    Texts(Vec<Arc<str>>),
    Document(Document),
    Object(Fields<'a>),
    Objects(Vec<Fields<'a>>),
    Filter(Filter),
    Operations(Vec<Op>),
    OperationsList(Vec<Vec<Op>>),
}

/// Reads one object; what follows it is left alone.
pub(super) fn read<'a>(text: &'a str, shape: &'static Shape, limits: &Limits) -> Result<Fields<'a>, Failure> {
    object(&mut Reader::new(text), &Path::TOP, shape, limits)
}

fn object<'a>(reader: &mut Reader<'a>, path: &Path<'_>, shape: &'static Shape, limits: &Limits) -> Result<Fields<'a>, Failure> {
    if reader.peek()? != json::Kind::Object {
        return Err(path.mistyped("an object"));
    }
    let mut slots = Vec::with_capacity(shape.fields.len());
    slots.resize_with(shape.fields.len(), || Slot::Absent);
    reader.object(|name, reader| {
        let path = path.to(&name);
        let Some(index) = shape.fields.iter().position(|field| field.name == name) else {
            return Err(path.unknown());
        };
        slots[index] = slot(reader, &path, &shape.fields[index], limits)?;
        Ok(())
    })?;
    Ok(Fields { shape, slots })
}

fn slot<'a>(reader: &mut Reader<'a>, path: &Path<'_>, field: &Field, limits: &Limits) -> Result<Slot<'a>, Failure> {
    if reader.peek()? == json::Kind::Null {
        reader.null()?;
        return Ok(Slot::Absent);
    }
    let condition = |value, operators| Condition { name: field.name, value, operators };
    let slot = match field.kind {
        Kind::Text | Kind::Key | Kind::Time => path::text(reader, path)?.map(Slot::Text),
        Kind::Int32 => path::int32(reader, path)?.map(Slot::Number),
        Kind::Int64 => path::int64(reader, path)?.map(Slot::Number),
        Kind::Boolean => path::boolean(reader, path)?.map(Slot::Boolean),
        Kind::Word(words) => path::word(reader, path, words)?.map(Slot::Word),
        Kind::Texts => Some(Slot::Texts(texts(reader, path)?)),
        Kind::Object => Some(Slot::Document(document(reader, path, limits)?)),
        Kind::Fields(shape) => Some(Slot::Object(object(reader, path, shape, limits)?)),
        Kind::FieldsList(shape) => Some(Slot::Objects(objects(reader, path, shape, limits)?)),
        Kind::Filter(table) => Some(Slot::Filter(search::read_filter(reader, path, table)?)),
        Kind::Condition(value, operators) => {
            Some(Slot::Operations(search::read_condition(reader, path, condition(value, operators))?))
        }
        Kind::ConditionList(value, operators) => {
            Some(Slot::OperationsList(conditions(reader, path, condition(value, operators))?))
        }
        Kind::Any | Kind::Nested(_) | Kind::NestedList(_) => None,
    };
    Ok(slot.unwrap_or(Slot::Absent))
}

fn texts(reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Vec<Arc<str>>, Failure> {
    if reader.peek()? != json::Kind::List {
        return Err(path.mistyped("a list of texts"));
    }
    let mut texts = Vec::new();
    reader.list(|reader| {
        let text = path::text(reader, path)?.ok_or_else(|| path.mistyped("a list of texts"))?;
        texts.push(text.as_ref().into());
        Ok::<_, Failure>(())
    })?;
    Ok(texts)
}

fn conditions(reader: &mut Reader<'_>, path: &Path<'_>, condition: Condition<'_>) -> Result<Vec<Vec<Op>>, Failure> {
    if reader.peek()? != json::Kind::List {
        return Err(path.mistyped("a list"));
    }
    let mut conditions = Vec::new();
    reader.list(|reader| {
        conditions.push(search::read_condition(reader, path, condition)?);
        Ok::<_, Failure>(())
    })?;
    Ok(conditions)
}

fn document(reader: &mut Reader<'_>, path: &Path<'_>, limits: &Limits) -> Result<Document, Failure> {
    document::read(reader, limits).map_err(|error| match error {
        DocumentError::NotAnObject => path.mistyped("an object"),
        error => error.into(),
    })
}

fn objects<'a>(
    reader: &mut Reader<'a>,
    path: &Path<'_>,
    shape: &'static Shape,
    limits: &Limits,
) -> Result<Vec<Fields<'a>>, Failure> {
    if reader.peek()? != json::Kind::List {
        return Err(path.mistyped("a list of objects"));
    }
    let mut objects = Vec::new();
    reader.list(|reader| {
        let index = objects.len().to_string();
        objects.push(object(reader, &path.to(&index), shape, limits)?);
        Ok::<_, Failure>(())
    })?;
    Ok(objects)
}

impl<'a> Fields<'a> {
    /// No property given at all.
    pub(super) fn empty(shape: &'static Shape) -> Self {
        Self { shape, slots: Vec::new() }
    }

    pub(super) fn text(&mut self, name: &str) -> Option<Cow<'a, str>> {
        match self.take(name) {
            Slot::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn shared(&mut self, name: &str) -> Option<Arc<str>> {
        self.text(name).map(|text| text.as_ref().into())
    }

    /// A key given as text.
    pub(super) fn key(&mut self, name: &str) -> Result<Option<u64>, Failure> {
        self.text(name).map(|text| path::key(&text, name)).transpose().map(|key| key.map(existing))
    }

    pub(super) fn number(&mut self, name: &str) -> Option<i64> {
        match self.take(name) {
            Slot::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A number whose kind is `Int32`.
    pub(super) fn int32(&mut self, name: &str) -> Option<i32> {
        self.number(name).and_then(|number| i32::try_from(number).ok())
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.take(name) {
            Slot::Boolean(boolean) => Some(boolean),
            _ => None,
        }
    }

    pub(super) fn word(&mut self, name: &str) -> Option<&'static str> {
        match self.take(name) {
            Slot::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Vec<Arc<str>> {
        self.texts_maybe(name).unwrap_or_default()
    }

    /// For those to whom an empty list says something.
    pub(super) fn texts_maybe(&mut self, name: &str) -> Option<Vec<Arc<str>>> {
        match self.take(name) {
            Slot::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    pub(super) fn document(&mut self, name: &str) -> Document {
        match self.take(name) {
            Slot::Document(document) => document,
            _ => Document::new(),
        }
    }

    pub(super) fn object(&mut self, name: &str) -> Option<Fields<'a>> {
        match self.take(name) {
            Slot::Object(fields) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn objects(&mut self, name: &str) -> Vec<Fields<'a>> {
        match self.take(name) {
            Slot::Objects(objects) => objects,
            _ => Vec::new(),
        }
    }

    pub(super) fn filter(&mut self, name: &str) -> Option<Filter> {
        match self.take(name) {
            Slot::Filter(filter) => Some(filter),
            _ => None,
        }
    }

    /// What is asked of a value; nothing where nothing is.
    pub(super) fn operations(&mut self, name: &str) -> Vec<Op> {
        match self.take(name) {
            Slot::Operations(operations) => operations,
            _ => Vec::new(),
        }
    }

    pub(super) fn operations_list(&mut self, name: &str) -> Vec<Vec<Op>> {
        match self.take(name) {
            Slot::OperationsList(list) => list,
            _ => Vec::new(),
        }
    }

    fn take(&mut self, name: &str) -> Slot<'a> {
        let index = self.shape.fields.iter().position(|field| field.name == name);
        debug_assert!(index.is_some(), "{} has no property {name}", self.shape.name);
        let slot = index.and_then(|index| self.slots.get_mut(index));
        slot.map_or(Slot::Absent, |slot| std::mem::replace(slot, Slot::Absent))
    }
}

/// No negative key was ever given out, nor was 0.
pub(super) fn existing(key: i64) -> u64 {
    u64::try_from(key).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reason;

    static INNER: Shape = Shape { name: "Inner", fields: &[field("retries", Kind::Int32, "")] };
    static OUTER: Shape = Shape {
        name: "Outer",
        fields: &[
            field("id", Kind::Text, ""),
            field("key", Kind::Key, ""),
            field("long", Kind::Int64, ""),
            field("local", Kind::Boolean, ""),
            field("filter", Kind::Word(&["PROVIDED", "ASSIGNED"]), ""),
            field("tags", Kind::Texts, ""),
            field("variables", Kind::Object, ""),
            field("changeset", Kind::Fields(&INNER), ""),
            field("steps", Kind::FieldsList(&INNER), ""),
        ],
    };

    fn read_outer(text: &str) -> Result<Fields<'_>, Failure> {
        read(text, &OUTER, &Limits::default())
    }

    #[test]
    fn every_kind_is_read() {
        let body = r#"{"id":"a\n","key":"12","long":-5.0,"local":true,"filter":"assigned","tags":["x"],
            "variables":{"v":[1, 2]},"changeset":{"retries":3},"steps":[{"retries":1},{}]}"#;
        let mut fields = read_outer(body).unwrap();
        assert_eq!(fields.text("id").as_deref(), Some("a\n"));
        assert_eq!(fields.key("key").unwrap(), Some(12));
        assert_eq!(fields.number("long"), Some(-5));
        assert_eq!(fields.boolean("local"), Some(true));
        assert_eq!(fields.word("filter"), Some("ASSIGNED"));
        assert_eq!(fields.texts("tags"), ["x".into()]);
        assert_eq!(fields.document("variables"), [("v".into(), "[1,2]".into())]);
        assert_eq!(fields.object("changeset").unwrap().int32("retries"), Some(3));
        assert_eq!(fields.objects("steps").len(), 2);
    }

    #[test]
    fn null_is_absent_and_the_last_wins() {
        let mut fields = read_outer(r#"{"id":null,"long":1,"long":2,"variables":null} {"#).unwrap();
        assert_eq!(fields.text("id"), None);
        assert_eq!(fields.number("long"), Some(2));
        assert_eq!(fields.document("variables"), []);
    }

    #[test]
    fn errors_name_the_property() {
        for (body, property) in [
            (r#"{"colour":1}"#, "[colour]"),
            (r#"{"id":5}"#, "[id]"),
            (r#"{"long":1.5}"#, "[long]"),
            (r#"{"long":99999999999999999999}"#, "[long]"),
            (r#"{"local":"true"}"#, "[local]"),
            (r#"{"tags":"x"}"#, "[tags]"),
            (r#"{"tags":[null]}"#, "[tags]"),
            (r#"{"variables":[1]}"#, "[variables]"),
            (r#"{"changeset":{"retries":3000000000}}"#, "[changeset.retries]"),
            (r#"{"steps":[{},{"colour":1}]}"#, "[steps.1.colour]"),
            (r#"{"filter":"SOME"}"#, "'filter'"),
            ("[]", "[]"),
        ] {
            let failure = read_outer(body).err().unwrap();
            assert_eq!(failure.reason, Reason::Unreadable, "{body}");
            assert!(failure.detail.contains(property), "{body}: {}", failure.detail);
        }
    }

    #[test]
    fn a_key_is_a_whole_number_in_a_text() {
        let long = format!(r#"{{"key":"{}1"}}"#, "0".repeat(20));
        for body in [long.as_str(), r#"{"key":"abc"}"#, r#"{"key":""}"#, r#"{"key":"99999999999999999999"}"#, r#"{"key":"+5"}"#] {
            assert_eq!(read_outer(body).unwrap().key("key").unwrap_err().reason, Reason::InvalidArgument, "{body}");
        }
        assert_eq!(read_outer(r#"{"key":"-5"}"#).unwrap().key("key").unwrap(), Some(0));
    }
}
