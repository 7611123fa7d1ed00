//! Filters as conditions.
//!
//! A condition may come out as NULL where a value is absent. That is as good as false under AND and OR, and `NOT` asks for
//! `IS TRUE` first, so a filter and its opposite always divide all rows between them.

use engine::PartitionId;

use super::column::{Column, From, Presence, Table, column};
use super::lead::conjuncts;
use super::select::is_in;
use super::{Dialect, Writing};
use crate::pattern;
use crate::query::{Entity, Field, Filter, Op, Query, Scalar, ScalarKind};
use crate::row::{Candidates, JobState, UserTaskState};

/// As the stores' migrations say.
const VALUE_CHARS_INDEXED: usize = 32;

pub(super) fn condition(writing: &mut Writing, from: &mut From, filter: &Filter) -> String {
    match filter {
        Filter::All(parts) => {
            let before = from.open_only;
            from.open_only |= parts.iter().any(is_open_task);
            let all = match of_elements(writing, from, parts).or_else(|| between_keys(writing, from, parts)) {
                Some((these, others)) => [these]
                    .into_iter()
                    .chain(others.iter().map(|part| condition(writing, from, part)))
                    .collect::<Vec<_>>()
                    .join(" AND "),
                None => joined(writing, from, parts, " AND ", "TRUE"),
            };
            from.open_only = before;
            all
        }
        Filter::Any(parts) => joined(writing, from, parts, " OR ", "FALSE"),
        Filter::Not(part) => format!("NOT (({}) IS TRUE)", condition(writing, from, part)),
        Filter::Is(field, op) => is(writing, from, *field, op),
        Filter::HasTag(tag) => {
            let own = from.alias(Table::Own);
            let tag = writing.param(Scalar::Text(tag.to_string()));
            // The index begins with the partition: only where it is said before the instance is known does it find all that have the tag.
            let partitions = match writing.dialect {
                Dialect::Sqlite => "",
                Dialect::Postgres => " AND t.partition = ANY (ARRAY(SELECT partition FROM partitions))",
            };
            let exists = exists(writing.dialect);
            format!(
                "{exists} (SELECT 1 FROM instance_tags AS t WHERE t.partition = {own}.partition{partitions} AND t.tag = {tag} \
                 AND t.instance = {own}.key)"
            )
        }
        Filter::Related(entity, part) => related(writing, from, *entity, part),
        Filter::OfInstance(part) => of_instance(writing, from, part),
        Filter::Candidate(kind, op) => candidate(writing, from, *kind, op),
    }
}

/// Rows of these tenants only.
pub(super) fn of_tenants(writing: &mut Writing, from: &mut From, tenants: &[std::sync::Arc<str>]) -> String {
    let tenants = tenants.iter().map(|tenant| Scalar::Text(tenant.to_string())).collect();
    is(writing, from, Field::Tenant, &Op::In(tenants))
}

/// PostgreSQL: element instances by the id of their element, where the definitions that have it are known, as their index has them; and what else is
/// asked for. (Ids are not in the rows: the planner does not know how many rows a joined one finds.)
fn of_elements<'a>(writing: &mut Writing, from: &From, parts: &'a [Filter]) -> Option<(String, Vec<&'a Filter>)> {
    if writing.dialect != Dialect::Postgres || from.entity != Entity::Elements {
        return None;
    }
    let find = |which: fn(&Filter) -> bool| parts.iter().position(which);
    let by_id = find(|part| matches!(part, Filter::Is(Field::ElementId, Op::Eq(_))))?;
    let by_definition = find(|part| matches!(part, Filter::Is(Field::DefinitionKey, Op::In(keys)) if !keys.is_empty()))?;
    let (Filter::Is(_, Op::Eq(id)), Filter::Is(_, Op::In(definitions))) = (&parts[by_id], &parts[by_definition]) else {
        return None;
    };
    let (own, id) = (from.alias(Table::Own), writing.param(id.clone()));
    let each = definitions.iter().map(|key| {
        let key = writing.param(key.clone());
        // A step may have the id of its workflow.
        let elements = format!("ARRAY(SELECT element FROM definition_elements WHERE definition = {key} AND id = {id})");
        format!("{own}.definition = {key} AND {own}.element = ANY ({elements})")
    });
    let elements = format!("({})", each.collect::<Vec<_>>().join(" OR "));
    let others = parts.iter().enumerate().filter(|(number, _)| ![by_id, by_definition].contains(number)).map(|(_, part)| part);
    Some((elements, others.collect()))
}

/// PostgreSQL: instances between two keys, as its indexes have them, and what else is asked for.
fn between_keys<'a>(writing: &mut Writing, from: &From, parts: &'a [Filter]) -> Option<(String, Vec<&'a Filter>)> {
    if writing.dialect != Dialect::Postgres || from.entity != Entity::Instances {
        return None;
    }
    let find = |which: fn(&Filter) -> bool| parts.iter().position(which);
    let first = find(|part| matches!(part, Filter::Is(Field::InstanceKey, Op::Gt(Scalar::Int(0..)))))?;
    let last = find(|part| matches!(part, Filter::Is(Field::InstanceKey, Op::Lte(Scalar::Int(0..)))))?;
    let (Filter::Is(_, Op::Gt(low)), Filter::Is(_, Op::Lte(high))) = (&parts[first], &parts[last]) else { return None };
    let partition = key(low).map(PartitionId::of).filter(|partition| Some(*partition) == key(high).map(PartitionId::of))?;
    let (own, low, high) = (from.alias(Table::Own), writing.param(low.clone()), writing.param(high.clone()));
    let between = if parts.iter().any(|part| is_in(part, "ACTIVE")) {
        format!("({own}.key + 0) > {low} AND ({own}.key + 0) <= {high}")
    } else {
        format!("{own}.partition = {partition} AND {own}.key > {low} AND {own}.key <= {high}")
    };
    let others = parts.iter().enumerate().filter(|(number, _)| ![first, last].contains(number)).map(|(_, part)| part);
    Some((between, others.collect()))
}

fn joined(writing: &mut Writing, from: &mut From, parts: &[Filter], by: &str, empty: &str) -> String {
    if parts.is_empty() {
        return empty.to_owned();
    }
    let parts: Vec<String> = parts.iter().map(|part| condition(writing, from, part)).collect();
    format!("({})", parts.join(by))
}

fn related(writing: &mut Writing, outer: &From, entity: Entity, part: &Filter) -> String {
    let mut inner = From::new(entity, outer.depth + 1);
    let matches = condition(writing, &mut inner, part);
    let (own, other) = (inner.alias(Table::Own), outer.alias(Table::Own));
    let belongs = match outer.entity {
        // The instance first: by it, variables of instances themselves are found.
        Entity::UserTasks => format!("{own}.instance = {other}.instance AND {own}.scope = {other}.element_instance"),
        _ => format!("{own}.instance = {other}.key"),
    };
    let rows = inner.sql(writing.dialect);
    // With an offset PostgreSQL asks it of one row after the other, instead of joining all that match.
    let fence = if outer.fenced { " OFFSET 0" } else { "" };
    let exists = exists(writing.dialect);
    format!("{exists} (SELECT 1 FROM {rows} WHERE {own}.partition = {other}.partition AND {belongs} AND {matches}{fence})")
}

/// Asked of one row after the other. SQLite makes a join of it otherwise, and reads all that could match once, for a filter to pass most rows
/// by; a page of fifty then costs as much as all tags there are.
fn exists(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "+EXISTS",
        Dialect::Postgres => "EXISTS",
    }
}

/// The instance a row belongs to.
fn of_instance(writing: &mut Writing, outer: &From, part: &Filter) -> String {
    let mut inner = From::new(Entity::Instances, outer.depth + 1);
    let matches = condition(writing, &mut inner, part);
    let (own, other) = (inner.alias(Table::Own), outer.alias(Table::Own));
    let rows = inner.sql(writing.dialect);
    format!(
        "EXISTS (SELECT 1 FROM {rows} WHERE {own}.partition = {other}.partition AND {own}.key = {other}.instance AND {matches})"
    )
}

/// Whether nothing but open tasks is asked for.
pub(super) fn is_open_only(query: &Query) -> bool {
    query.entity == Entity::UserTasks && conjuncts(&query.filter).into_iter().any(is_open_task)
}

pub(super) fn is_open_task(filter: &Filter) -> bool {
    matches!(filter, Filter::Is(Field::UserTaskState, Op::Eq(Scalar::Text(word))) if *word == UserTaskState::Created.word())
}

/// Candidates are rows of their own, found by their name. Those of open tasks are told apart there: of a group that has done much, few are.
fn candidate(writing: &mut Writing, from: &From, kind: Candidates, op: &Op) -> String {
    let (column, open) = names(from.open_only, writing.dialect);
    let mut name = |sign: &str, value: &Scalar| format!("{column} {sign} {}", writing.param(value.clone()));
    let (found, matches) = match op {
        Op::Exists(exists) => (*exists, format!("{column} IS NOT NULL")),
        Op::Eq(value) => (true, name("=", value)),
        Op::Neq(value) => (false, name("=", value)),
        Op::Lt(value) => (true, name("<", value)),
        Op::Lte(value) => (true, name("<=", value)),
        Op::Gt(value) => (true, name(">", value)),
        Op::Gte(value) => (true, name(">=", value)),
        Op::In(values) => (true, format!("{column} IN {}", listed(writing, values))),
        Op::NotIn(values) => (false, format!("{column} IN {}", listed(writing, values))),
        Op::Like(like) => (true, like_text(writing, column, like)),
    };
    let own = from.alias(Table::Own);
    let (kind, not) = (kind.word(), if found { "" } else { "NOT " });
    let which = format!("c.kind = '{kind}'{open} AND {matches}");
    match writing.dialect {
        // It does not begin with what EXISTS asks for, but it does with what IN lists.
        Dialect::Sqlite => format!("{own}.key {not}IN (SELECT c.task FROM user_task_candidates AS c WHERE {which})"),
        Dialect::Postgres => format!(
            "{not}EXISTS (SELECT 1 FROM user_task_candidates AS c WHERE c.partition = {own}.partition AND c.task = {own}.key \
             AND {which})"
        ),
    }
}

/// The name of a candidate as indexes have it, and what else they ask for.
pub(super) fn names(open_only: bool, dialect: Dialect) -> (&'static str, &'static str) {
    match (open_only, dialect) {
        (false, _) => ("c.name", ""),
        (true, Dialect::Sqlite) => ("c.name", " AND c.open = TRUE"),
        (true, Dialect::Postgres) => ("(CASE WHEN c.open THEN c.name END)", ""),
    }
}

/// Nothing is in an empty list.
fn listed(writing: &mut Writing, values: &[Scalar]) -> String {
    let values: Vec<String> = values.iter().map(|value| writing.param(value.clone())).collect();
    if values.is_empty() { "(NULL)".to_owned() } else { format!("({})", values.join(", ")) }
}

fn is(writing: &mut Writing, from: &mut From, field: Field, op: &Op) -> String {
    let place = column(from.entity, field, writing.dialect);
    let text = from.text(place);
    match op {
        Op::Eq(value) => equal(writing, from, field, value),
        Op::Neq(value) => format!("{text} IS DISTINCT FROM {}", value_text(writing, field, value)),
        Op::In(values) => in_list(writing, from, field, values),
        Op::NotIn(values) => not_in_list(writing, place, &text, field, values),
        Op::Exists(true) => format!("{text} IS NOT NULL"),
        Op::Exists(false) => format!("{text} IS NULL"),
        Op::Lt(value) => format!("{text} < {}", value_text(writing, field, value)),
        Op::Lte(value) => format!("{text} <= {}", value_text(writing, field, value)),
        Op::Gt(value) => format!("{text} > {}", value_text(writing, field, value)),
        Op::Gte(value) => format!("{text} >= {}", value_text(writing, field, value)),
        Op::Like(like) => like_text(writing, &text, like),
    }
}

fn like_text(writing: &mut Writing, text: &str, like: &str) -> String {
    match writing.dialect {
        Dialect::Sqlite => format!("{text} GLOB {}", writing.param(Scalar::Text(pattern::to_glob(like)))),
        // A number is compared as it is written; where there is text the cast does nothing.
        Dialect::Postgres => {
            format!("CAST({text} AS TEXT) LIKE {} ESCAPE '\\'", writing.param(Scalar::Text(pattern::to_like(like))))
        }
    }
}

/// A column to be found or sorted by.
pub(super) fn sought(writing: &Writing, from: &mut From, field: Field) -> String {
    match (field, from.open_only, writing.dialect) {
        // True of the same rows, since only open tasks are asked for, and written as the indexes have it.
        (Field::Assignee, true, Dialect::Postgres) => {
            let own = from.alias(Table::Own);
            format!("(CASE WHEN {own}.state = 'CREATED' THEN {own}.assignee END)")
        }
        (Field::Created, true, Dialect::Postgres) => {
            let own = from.alias(Table::Own);
            format!("(CASE WHEN {own}.state = 'CREATED' THEN {own}.created END)")
        }
        (Field::Priority, true, Dialect::Postgres) => {
            let own = from.alias(Table::Own);
            format!("(CASE WHEN {own}.state = 'CREATED' THEN {own}.priority END)")
        }
        // Not as the index has it.
        (Field::Name, _, Dialect::Postgres) if from.fenced => format!("({}.name || '')", from.alias(Table::Own)),
        // As the index has it, which queues are not to be served by.
        (Field::JobType, _, Dialect::Postgres) if from.entity == Entity::Jobs => {
            format!("({}.job_type || '')", from.alias(Table::Own))
        }
        _ => from.text(column(from.entity, field, writing.dialect)),
    }
}

fn equal(writing: &mut Writing, from: &mut From, field: Field, value: &Scalar) -> String {
    let text = sought(writing, from, field);
    match (field, value) {
        // Those that run have no end, and are found by that in the order of their keys; or by their definition.
        (Field::InstanceState, Scalar::Text(word))
            if word == "ACTIVE" && from.entity == Entity::Instances && !from.begins_with_definition =>
        {
            format!("({text} = 'ACTIVE' AND {}.ended IS NULL)", from.alias(Table::Own))
        }
        // Most jobs have completed: the index has all others.
        (Field::JobState, Scalar::Text(word)) if from.entity == Entity::Jobs && *word != JobState::Completed.word() => {
            let own = from.alias(Table::Own);
            format!("({own}.state = {} AND {own}.state <> 'COMPLETED')", value_text(writing, field, value))
        }
        // Written as the partial index of active incidents has it.
        (Field::IncidentState, Scalar::Text(word)) if word == "ACTIVE" => {
            format!("{}.resolved IS NULL", from.alias(Table::Own))
        }
        // Said of the columns themselves, so that an index of either serves.
        (Field::InstanceState, Scalar::Text(word)) => {
            let own = from.alias(Table::Own);
            match &**word {
                "SUSPENDED" => format!("{own}.suspended IS NOT NULL"),
                "ACTIVE" => format!("({own}.state = 'ACTIVE' AND {own}.suspended IS NULL)"),
                _ => format!("{own}.state = {}", value_text(writing, field, value)),
            }
        }
        // Written as the indexes of open subscriptions have it.
        (Field::SubscriptionState, Scalar::Text(word)) if word == "CREATED" => {
            let own = from.alias(Table::Own);
            format!("({own}.state = 'CREATED' AND {own}.updated <= {own}.created)")
        }
        // True of the same rows as the plain comparison. Variables of instances themselves, which are most, are found by their
        // instance, those of elements by an index that holds no others.
        (Field::ScopeKey, Scalar::Int(key)) if from.entity == Entity::Variables => {
            let (own, partition) = (from.alias(Table::Own), PartitionId::of(*key as u64));
            let key = writing.param(value.clone());
            format!(
                "({own}.partition = {partition} AND (({own}.instance = {key} AND {own}.scope = {key}) \
                 OR ({own}.scope = {key} AND {own}.scope <> {own}.instance)))"
            )
        }
        // True of the same rows as the plain comparison. Values may be long: the index has their beginnings, which of a short one is all.
        (Field::Value, Scalar::Text(text)) if is_short(text) => beginning(writing, from, std::slice::from_ref(value)),
        (Field::Value, Scalar::Text(_)) => {
            let begins = beginning(writing, from, std::slice::from_ref(value));
            format!("({begins} AND {text} = {})", value_text(writing, field, value))
        }
        // True of the same row as the plain comparison, and found by its key.
        (Field::EvaluatedId, Scalar::Text(id)) => match evaluated_key(id) {
            Some((evaluation, key)) => {
                let (own, partition) = (from.alias(Table::Own), PartitionId::of(evaluation));
                let (evaluation, key) = (writing.param(Scalar::Int(evaluation as i64)), writing.param(Scalar::Int(key as i64)));
                format!("({own}.partition = {partition} AND {own}.key = {key} AND {own}.evaluation = {evaluation})")
            }
            None => "FALSE".to_owned(),
        },
        (_, Scalar::Bool(true)) => text,
        (_, Scalar::Bool(false)) => format!("NOT {text}"),
        (_, Scalar::Int(_) | Scalar::Text(_)) => {
            let same = format!("{text} = {}", value_text(writing, field, value));
            with_partitions(from, field, std::slice::from_ref(value), same)
        }
    }
}

/// Whether no longer value begins like it: what the index has of it is shorter than what it has of those.
fn is_short(value: &str) -> bool {
    value.chars().count() < VALUE_CHARS_INDEXED
}

/// Begins like one of these values, as the index of variables has it.
fn beginning(writing: &mut Writing, from: &From, values: &[Scalar]) -> String {
    let begins = |value: &Scalar| match value {
        Scalar::Text(text) => Scalar::Text(text.chars().take(VALUE_CHARS_INDEXED).collect()),
        Scalar::Bool(_) | Scalar::Int(_) => value.clone(),
    };
    let own = from.alias(Table::Own);
    let list: Vec<String> = values.iter().map(|value| writing.param(begins(value))).collect();
    format!("substr({own}.value, 1, {VALUE_CHARS_INDEXED}) IN ({})", list.join(", "))
}

/// The evaluation's key and the row's own, read from `12-1`; nothing where the text is not just as a row writes it.
fn evaluated_key(id: &str) -> Option<(u64, u64)> {
    let (evaluation, place) = id.split_once('-')?;
    let (evaluation, place): (u64, u32) = (evaluation.parse().ok()?, place.parse().ok()?);
    let key = evaluation.checked_add(u64::from(place))?.checked_sub(1).filter(|key| *key <= i64::MAX as u64)?;
    (format!("{evaluation}-{place}") == id).then_some((evaluation, key))
}

fn in_list(writing: &mut Writing, from: &mut From, field: Field, values: &[Scalar]) -> String {
    if values.is_empty() {
        return "FALSE".to_owned();
    }
    let text = sought(writing, from, field);
    let list = format!("{text} IN ({})", list_text(writing, field, values));
    if field == Field::Value {
        let begins = beginning(writing, from, values);
        return format!("({begins} AND {list})");
    }
    with_partitions(from, field, values, list)
}

fn not_in_list(writing: &mut Writing, place: Column, text: &str, field: Field, values: &[Scalar]) -> String {
    if values.is_empty() {
        return "TRUE".to_owned();
    }
    let list = list_text(writing, field, values);
    match place.presence {
        Presence::Always => format!("{text} NOT IN ({list})"),
        Presence::Maybe => format!("({text} NOT IN ({list}) OR {text} IS NULL)"),
    }
}

fn list_text(writing: &mut Writing, field: Field, values: &[Scalar]) -> String {
    let values: Vec<String> = values.iter().map(|value| value_text(writing, field, value)).collect();
    values.join(", ")
}

/// A key names its partition, and indexes begin with the partition: saying it lets them serve.
fn with_partitions(from: &From, field: Field, values: &[Scalar], condition: String) -> String {
    if !lives_with_its_row(from.entity, field) {
        return condition;
    }
    let mut partitions: Vec<u64> = values.iter().filter_map(key).map(PartitionId::of).collect();
    partitions.sort_unstable();
    partitions.dedup();
    let own = from.alias(Table::Own);
    match partitions.as_slice() {
        // Only so does SQLite see that rows of one instance come out of the index in the order of their keys.
        [partition] => format!("({own}.partition = {partition} AND {condition})"),
        several => {
            let several: Vec<String> = several.iter().map(u64::to_string).collect();
            format!("({own}.partition IN ({}) AND {condition})", several.join(", "))
        }
    }
}

fn key(value: &Scalar) -> Option<u64> {
    match value {
        Scalar::Int(key) => Some(*key as u64),
        Scalar::Bool(_) | Scalar::Text(_) => None,
    }
}

/// Whether the key in this field belongs to the same partition as the row. Definitions and parents may be elsewhere.
fn lives_with_its_row(entity: Entity, field: Field) -> bool {
    match field {
        Field::DefinitionKey => entity == Entity::Definitions,
        Field::RequirementsKey => matches!(entity, Entity::Requirements | Entity::Decisions),
        Field::DecisionKey => entity == Entity::Decisions,
        Field::InstanceKey
        | Field::ElementKey
        | Field::ScopeKey
        | Field::VariableKey
        | Field::JobKey
        | Field::IncidentKey
        | Field::EvaluatedKey
        | Field::EvaluationKey
        | Field::TimerKey
        | Field::SubscriptionKey
        | Field::CorrelatedKey
        | Field::UserTaskKey
        | Field::MessageKey => true,
        _ => false,
    }
}

/// A value as a parameter, except that words of states are written out: a partial index serves only what the text of the
/// statement says.
fn value_text(writing: &mut Writing, field: Field, value: &Scalar) -> String {
    match value {
        Scalar::Text(word) if is_state(field) && is_plain_word(word) => format!("'{word}'"),
        Scalar::Text(_) | Scalar::Int(_) => writing.param(value.clone()),
        Scalar::Bool(flag) => if *flag { "TRUE" } else { "FALSE" }.to_owned(),
    }
}

fn is_state(field: Field) -> bool {
    let of_work = matches!(field, Field::InstanceState | Field::ElementState | Field::JobState | Field::IncidentState);
    let of_waits = matches!(field, Field::TimerState | Field::SubscriptionState | Field::UserTaskState);
    (of_work || of_waits || field == Field::DefinitionState) && field.kind() == ScalarKind::Text
}

fn is_plain_word(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}
