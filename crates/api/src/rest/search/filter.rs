//! What must be true of a row to be found.

use store::query::{Entity, Field, Filter, Op, Scalar};

use super::fixed;
use super::table::{By, Condition, Filterable, Operators, Table, Value};
use crate::error::Failure;
use crate::json::{Kind, Reader};
use crate::label;
use crate::rest::path::{self, Path};
use crate::rest::time;

/// Values of one `$in` or `$notIn`.
const VALUES_MAX: usize = 10_000;
/// Conditions of one filter, those under `$or` included.
const CONDITIONS_MAX: usize = 1_000;

pub(super) struct Filtered {
    pub(super) filter: Filter,
    pub(super) latest_version: bool,
}

pub(super) fn read(reader: &mut Reader<'_>, path: &Path<'_>, table: &Table) -> Result<Filtered, Failure> {
    let mut conditions = Conditions::default();
    conditions.read(reader, path, table)?;
    let latest_version = conditions.latest_version;
    Ok(Filtered { filter: conditions.into_filter(), latest_version })
}

/// What one object of conditions asks, gathered property by property.
#[derive(Default)]
struct Conditions {
    own: Vec<Filter>,
    /// What is asked of one row of another entity.
    of_element: Vec<Filter>,
    of_incident: Vec<Filter>,
    of_job: Vec<Filter>,
    of_batch: Vec<Filter>,
    latest_version: bool,
    count: usize,
    /// One of several under `$or`; within these there is no further one.
    is_alternative: bool,
}

impl Conditions {
    fn read(&mut self, reader: &mut Reader<'_>, path: &Path<'_>, table: &Table) -> Result<(), Failure> {
        if reader.peek()? != Kind::Object {
            return Err(path.mistyped("an object"));
        }
        reader.object(|name, reader| {
            let path = path.to(&name);
            let Some(filterable) = table.filters.iter().find(|filterable| filterable.name == name) else {
                return Err(path.unknown());
            };
            self.count += 1;
            if CONDITIONS_MAX < self.count {
                return Err(Failure::invalid(format!("A filter has at most {CONDITIONS_MAX} conditions")));
            }
            if reader.peek()? == Kind::Null {
                return Ok(reader.null()?);
            }
            self.add(reader, &path, table, filterable)
        })
    }

    fn add(&mut self, reader: &mut Reader<'_>, path: &Path<'_>, table: &Table, filterable: &Filterable) -> Result<(), Failure> {
        match filterable.by {
            By::Field(field) => {
                let operations = operations(reader, path, filterable.condition())?;
                self.own.extend(operations.into_iter().map(|op| Filter::Is(field, op)));
            }
            By::Related(entity, field) => {
                let operations = operations(reader, path, filterable.condition())?;
                let group = self.group(entity);
                group.extend(operations.into_iter().map(|op| Filter::Is(field, op)));
            }
            By::Fixed(constant) => {
                for op in operations(reader, path, filterable.condition())? {
                    self.own.push(fixed::filter(&op, constant));
                }
            }
            By::Tags => self.add_tags(reader, path)?,
            By::Variables => self.add_variables(reader, path)?,
            By::TagsOfInstance => self.of_instance(|own| own.add_tags(reader, path))?,
            By::VariablesOfInstance => self.of_instance(|own| own.add_variables(reader, path))?,
            By::Candidate(kind) => {
                let operations = operations(reader, path, filterable.condition())?;
                self.own.extend(operations.into_iter().map(|op| Filter::Candidate(kind, op)));
            }
            By::LatestVersion => self.latest_version = path::boolean(reader, path)?.unwrap_or_default(),
            By::Any => self.add_any(reader, path, table)?,
        }
        Ok(())
    }

    fn group(&mut self, entity: Entity) -> &mut Vec<Filter> {
        match entity {
            Entity::Elements => &mut self.of_element,
            Entity::Incidents => &mut self.of_incident,
            Entity::Jobs => &mut self.of_job,
            Entity::Definitions
            | Entity::Instances
            | Entity::Variables
            | Entity::Requirements
            | Entity::Decisions
            | Entity::EvaluatedDecisions
            | Entity::Timers
            | Entity::MessageSubscriptions
            | Entity::Waits
            | Entity::MessageCorrelations
            | Entity::UserTasks
            | Entity::Executions
            | Entity::Batches
            | Entity::Operations
            | Entity::Audit
            | Entity::DeadLetters => &mut self.own,
            Entity::BatchItems => &mut self.of_batch,
        }
    }

    /// What is read is asked of the instance.
    fn of_instance(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut own = Self { count: self.count, ..Self::default() };
        read(&mut own)?;
        self.count = own.count;
        self.own.extend(own.own.into_iter().map(|filter| Filter::OfInstance(Box::new(filter))));
        Ok(())
    }

    fn add_tags(&mut self, reader: &mut Reader<'_>, path: &Path<'_>) -> Result<(), Failure> {
        if reader.peek()? != Kind::List {
            return Err(path.mistyped("a list of texts"));
        }
        reader.list(|reader| {
            let tag = path::text(reader, path)?.ok_or_else(|| path.mistyped("a list of texts"))?;
            label::check_tag(&tag).map_err(Failure::invalid)?;
            self.count += 1;
            self.own.push(Filter::HasTag(tag.as_ref().into()));
            Ok(())
        })
    }

    fn add_variables(&mut self, reader: &mut Reader<'_>, path: &Path<'_>) -> Result<(), Failure> {
        if reader.peek()? != Kind::List {
            return Err(path.mistyped("a list of objects"));
        }
        let mut index = 0;
        reader.list(|reader| {
            let name = index.to_string();
            index += 1;
            self.count += 1;
            self.own.push(variable(reader, &path.to(&name))?);
            Ok(())
        })
    }

    fn add_any(&mut self, reader: &mut Reader<'_>, path: &Path<'_>, table: &Table) -> Result<(), Failure> {
        if reader.peek()? != Kind::List {
            return Err(path.mistyped("a list of objects"));
        }
        if self.is_alternative {
            return Err(path.unknown());
        }
        let mut any = Vec::new();
        reader.list(|reader| {
            let mut conditions = Self { count: self.count, is_alternative: true, ..Self::default() };
            let index = any.len().to_string();
            conditions.read(reader, &path.to(&index), table)?;
            self.count = conditions.count;
            any.push(conditions.into_filter());
            Ok::<_, Failure>(())
        })?;
        if !any.is_empty() {
            self.own.push(Filter::Any(any));
        }
        Ok(())
    }

    fn into_filter(self) -> Filter {
        let mut all = self.own;
        let active = Filter::Is(Field::IncidentState, Op::Eq(Scalar::Text("ACTIVE".into())));
        for (entity, mut conditions) in [
            (Entity::Elements, self.of_element),
            (Entity::Incidents, self.of_incident),
            (Entity::Jobs, self.of_job),
            (Entity::BatchItems, self.of_batch),
        ] {
            if conditions.is_empty() {
                continue;
            }
            if entity == Entity::Incidents {
                conditions.push(active.clone());
            }
            all.push(Filter::Related(entity, Box::new(Filter::All(conditions))));
        }
        Filter::All(all)
    }
}

/// One variable by name and value; `$exists: false` is true where there is none.
fn variable(reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Filter, Failure> {
    const VALUE: Condition<'_> = Condition { name: "value", value: Value::Text, operators: Operators::Like };
    if reader.peek()? != Kind::Object {
        return Err(path.mistyped("an object"));
    }
    let (mut name, mut value) = (None, None);
    reader.object(|property, reader| {
        let path = path.to(&property);
        match property.as_ref() {
            "name" => name = path::text(reader, &path)?,
            "value" => value = Some(operations(reader, &path, VALUE)?),
            _ => return Err(path.unknown()),
        }
        Ok(())
    })?;
    let name = name.ok_or_else(|| Failure::invalid("Variable name must not be null."))?;
    let operations = value.filter(|operations| !operations.is_empty());
    let operations = operations.ok_or_else(|| Failure::invalid(format!("The value of variable '{name}' must not be null.")))?;
    let named = Filter::Is(Field::Name, Op::Eq(Scalar::Text(name.into_owned())));
    if operations.contains(&Op::Exists(false)) {
        return Ok(Filter::Not(Box::new(Filter::Related(Entity::Variables, Box::new(named)))));
    }
    let conditions = operations.into_iter().map(|op| Filter::Is(Field::Value, op));
    Ok(Filter::Related(Entity::Variables, Box::new(Filter::All(std::iter::once(named).chain(conditions).collect()))))
}

/// A value to be equal to, or an object of operators. Operators without a value ask nothing.
pub(super) fn operations(reader: &mut Reader<'_>, path: &Path<'_>, condition: Condition<'_>) -> Result<Vec<Op>, Failure> {
    if condition.operators == Operators::None || reader.peek()? != Kind::Object {
        let value = scalar(reader, path, condition)?;
        return Ok(value.map(Op::Eq).into_iter().collect());
    }
    let mut operations = Vec::new();
    reader.object(|name, reader| {
        let path = path.to(&name);
        if !condition.operators.names().contains(&name.as_ref()) {
            return Err(path.unknown());
        }
        if reader.peek()? == Kind::Null {
            return Ok(reader.null()?);
        }
        operations.extend(operation(&name, reader, &path, condition)?);
        Ok(())
    })?;
    Ok(operations)
}

fn operation(name: &str, reader: &mut Reader<'_>, path: &Path<'_>, condition: Condition<'_>) -> Result<Option<Op>, Failure> {
    let comparison: fn(Scalar) -> Op = match name {
        "$eq" => Op::Eq,
        "$neq" => Op::Neq,
        "$gt" => Op::Gt,
        "$gte" => Op::Gte,
        "$lt" => Op::Lt,
        "$lte" => Op::Lte,
        "$exists" => return Ok(path::boolean(reader, path)?.map(Op::Exists)),
        "$like" => return Ok(path::text(reader, path)?.map(|pattern| Op::Like(pattern.into_owned()))),
        "$in" => return Ok(scalars(reader, path, condition)?.map(Op::In)),
        "$notIn" => return Ok(scalars(reader, path, condition)?.map(Op::NotIn)),
        _ => return Err(path.unknown()),
    };
    Ok(scalar(reader, path, condition)?.map(comparison))
}

/// An empty list is no condition.
fn scalars(reader: &mut Reader<'_>, path: &Path<'_>, condition: Condition<'_>) -> Result<Option<Vec<Scalar>>, Failure> {
    if reader.peek()? != Kind::List {
        return Err(path.mistyped("a list"));
    }
    let mut values = Vec::new();
    reader.list(|reader| {
        if values.len() == VALUES_MAX {
            return Err(Failure::invalid(format!("[{path}] has more than {VALUES_MAX} values")));
        }
        values.push(scalar(reader, path, condition)?.ok_or_else(|| path.mistyped("values"))?);
        Ok(())
    })?;
    Ok((!values.is_empty()).then_some(values))
}

fn scalar(reader: &mut Reader<'_>, path: &Path<'_>, condition: Condition<'_>) -> Result<Option<Scalar>, Failure> {
    let name = condition.name;
    match condition.value {
        Value::Text => Ok(path::text(reader, path)?.map(|text| Scalar::Text(text.into_owned()))),
        Value::Key => path::text(reader, path)?.map(|text| path::key(&text, name).map(Scalar::Int)).transpose(),
        Value::Int32 => Ok(path::int32(reader, path)?.map(Scalar::Int)),
        Value::Boolean => Ok(path::boolean(reader, path)?.map(Scalar::Bool)),
        Value::Time => path::text(reader, path)?.map(|text| time::read(&text, name).map(Scalar::Int)).transpose(),
        Value::Word(words) => word(reader, path, name, words),
    }
}

fn word(reader: &mut Reader<'_>, path: &Path<'_>, name: &str, words: &'static [&'static str]) -> Result<Option<Scalar>, Failure> {
    let Some(text) = path::text(reader, path)? else { return Ok(None) };
    let word = words.iter().find(|word| word.eq_ignore_ascii_case(&text));
    let word = word.ok_or_else(|| path::no_such_word(&text, name, words))?;
    Ok(Some(Scalar::Text((*word).to_owned())))
}
