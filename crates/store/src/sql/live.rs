//! Element instances that are alive, in the order of their keys (ADR 98).
//!
//! No index has them all: whatever had them would change with each that ends. Mostly they are close together, where the newest are. Where so many
//! rows as are gone through do not give a page, they are found by the instances that run.

use super::column::{From, Table};
use super::filter::condition;
use super::lead::{FEW_MAX, LEAD_DEPTH, conjuncts, probed};
use super::near::{Asked, Keys, Steps, Wanted, by_key};
use super::select::{Begin, begin, counted, matching, of_matching};
use super::{Dialect, Writing};
use crate::query::{Entity, Field, Filter, Op, Order, Query, Scalar, TOTAL_MAX};

/// So many rows are gone through in search of a page.
const WALKED_MAX: u64 = 10_000;

const IS_ALIVE: &str = "state = 'ACTIVE'";

pub(super) fn is_asked(query: &Query) -> bool {
    let order = query.order();
    let is_in_order = matches!(order[0].field, Field::ElementKey | Field::Started);
    query.entity == Entity::Elements && is_in_order && conjuncts(&query.filter).into_iter().any(is_alive)
}

/// How many there are, where counting them as any others would read what has been there.
pub(super) fn total(writing: &mut Writing, query: &Query) -> Option<String> {
    if query.entity != Entity::Elements || !conjuncts(&query.filter).into_iter().any(is_alive) {
        return None;
    }
    match writing.dialect {
        Dialect::Sqlite => at_element(writing, query),
        Dialect::Postgres => of_all_that_run(writing, query),
    }
}

/// SQLite: at an element, or of a process. Very many may have been there: where they are not few in all, those that are alive are gone through. Their
/// index says at which element they are, so that no row is read.
fn at_element(writing: &mut Writing, query: &Query) -> Option<String> {
    let probed = probed(writing, query)?;
    let few = {
        let from = begin(writing, query, Begin::Lead);
        counted(writing, query, from, Begin::Lead)
    };
    let mut from = From::new(Entity::Elements, 0);
    from.walk = Some(" INDEXED BY elements_live");
    let (mut matches, mut others) = (Vec::new(), Vec::new());
    for part in conjuncts(&query.filter) {
        match listed(writing, &from, part) {
            Some(text) => matches.push(text),
            None => others.push(part.clone()),
        }
    }
    matches.extend(matching(writing, &mut from, &Query { filter: Filter::All(others), ..query.clone() }));
    let many = of_matching(&from.sql(Dialect::Sqlite), &matches, "");
    Some(format!("SELECT CASE WHEN ({probed}) <= {FEW_MAX} THEN ({few}) ELSE ({many}) END"))
}

/// What a definition says is looked up once, and not for each.
fn listed(writing: &mut Writing, of: &From, part: &Filter) -> Option<String> {
    let (table, names, columns, keys) = match part {
        Filter::Is(Field::ElementId, Op::Eq(_) | Op::In(_)) => {
            (Table::DefinitionElement, "definition_elements", "(@.definition, @.element)", "@.definition, @.element")
        }
        Filter::Is(Field::ProcessId, Op::Eq(_) | Op::In(_)) => (Table::Definition, "definitions", "@.definition", "@.key"),
        _ => return None,
    };
    let mut from = From::new(Entity::Elements, LEAD_DEPTH);
    let matches = condition(writing, &mut from, part);
    let (own, other) = (of.alias(Table::Own), from.alias(table));
    let (columns, keys) = (columns.replace('@', &own), keys.replace('@', &other));
    Some(format!("{columns} IN (SELECT {keys} FROM {names} AS {other} WHERE {matches})"))
}

/// PostgreSQL: they are counted by the instances that run, as the table would be read through where few are alive. Every instance that runs waits
/// somewhere, so where more run than are counted, so many are alive.
fn of_all_that_run(writing: &mut Writing, query: &Query) -> Option<String> {
    if conjuncts(&query.filter).len() != 1 {
        return None;
    }
    let runs = Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text("ACTIVE".to_owned())));
    let running = Query { filter: runs, ..Query::of(Entity::Instances, query.tenants.clone()) };
    let running = counted(writing, &running, From::new(Entity::Instances, 0), Begin::Anywhere);
    let mut from = From::new(Entity::Elements, 0);
    let keys = Keys { low: "0".to_owned(), high: i64::MAX.to_string() };
    from.rows = Some(format!("({}) AS o0", of_running(&keys, &keys.high, None, Dialect::Postgres)));
    let alive = counted(writing, query, from, Begin::Anywhere);
    Some(format!("SELECT CASE WHEN ({running}) <= {TOTAL_MAX} THEN ({alive}) ELSE {} END", TOTAL_MAX + 1))
}

fn is_alive(part: &Filter) -> bool {
    matches!(part, Filter::Is(Field::ElementState, Op::Eq(Scalar::Text(word))) if word == "ACTIVE")
}

pub(super) fn steps(writing: &mut Writing, asked: &Asked<'_>) -> Steps {
    let mut steps = Steps::default();
    let by_start = asked.order[0].field == Field::Started;
    let keys = if by_start { steps.within(asked.table, &asked.span(), 0) } else { asked.behind_key() };
    alive(writing, &mut steps, asked, &keys, asked.onward(), "TRUE");
    steps.found.push(asked.table.with_keys("SELECT key FROM alive", writing.dialect));
    if by_start {
        steps.behind(asked, "alive", 0, IS_ALIVE, writing.dialect);
    }
    steps
}

/// As many as are wanted, if anything of this kind is.
pub(super) fn alive(writing: &mut Writing, steps: &mut Steps, asked: &Asked<'_>, keys: &Keys, onward: Order, when: &str) {
    let (dialect, wanted) = (writing.dialect, asked.wanted);
    let (time, order, is_alive) = ("o0.started", &*by_key(onward), &*format!("o0.{IS_ALIVE}"));
    let rows = format!("{} {}", asked.table.between(keys, dialect), order.replace("o0.", ""));
    let walked = Wanted { time, also: is_alive, when, order };
    steps.name("close", &asked.first(writing, &format!("{rows} LIMIT {WALKED_MAX}"), walked));
    // Where there are no more rows than were gone through, no others are alive.
    let more = format!("EXISTS ({rows} LIMIT 1 OFFSET {WALKED_MAX})");
    steps.name(
        "short",
        &format!("SELECT CASE WHEN {when} AND (SELECT count(*) FROM close) < {wanted} THEN {more} ELSE FALSE END AS is_so"),
    );

    let is_short = "(SELECT is_so FROM short)";
    let last = match onward {
        // An element instance has a greater key than its instance: no later instance has one of those that come first.
        Order::Ascending => {
            let rows = of_running(keys, &keys.high, Some(WALKED_MAX), dialect);
            let any = Wanted { time, also: is_alive, when: is_short, order: "" };
            steps.name("few", &asked.first(writing, &rows, any));
            format!("(SELECT CASE WHEN count(*) = {wanted} THEN max(key) ELSE {} END FROM few)", keys.high)
        }
        Order::Descending => keys.high.clone(),
    };
    let rows = of_running(keys, &last, None, dialect);
    steps.name("distant", &asked.first(writing, &rows, Wanted { time, also: is_alive, when: is_short, order }));
    steps.name("alive", &format!("SELECT * FROM close WHERE NOT {is_short} UNION ALL SELECT * FROM distant"));
}

/// Found by the instances that run, the first of them up to a key.
fn of_running(Keys { low, high }: &Keys, last: &str, limit: Option<u64>, dialect: Dialect) -> String {
    // As its index has them.
    let by_key = if dialect == Dialect::Postgres { "ended NULLS FIRST, (key + 0)" } else { "key" };
    let first = limit.map_or(String::new(), |limit| format!(" ORDER BY {by_key} LIMIT {limit}"));
    match dialect {
        Dialect::Sqlite => format!(
            "SELECT e.* FROM (SELECT partition, key FROM instances INDEXED BY instances_by_end WHERE ended IS NULL AND key <= {last}{first}) AS i \
             CROSS JOIN elements AS e INDEXED BY elements_live ON e.partition = i.partition AND e.instance = i.key \
             WHERE e.{IS_ALIVE} AND {low} < e.key AND e.key <= {high}"
        ),
        Dialect::Postgres => format!(
            "SELECT e.* FROM (SELECT key FROM instances WHERE ended IS NULL AND (key + 0) <= {last}{first} OFFSET 0) AS i \
             CROSS JOIN LATERAL (SELECT * FROM elements WHERE instance = i.key AND NOT past AND {IS_ALIVE} AND {low} < key \
             AND key <= {high} OFFSET 0) AS e"
        ),
    }
}
