//! A search as two statements: its page and its total.

use std::borrow::Cow;

use super::candidates;
use super::column::{From, Presence, Table, column, selected, table_name};
use super::filter::{condition, is_open_only, of_tenants, sought};
use super::found::{self, Found};
use super::lead::{conjuncts, is_walked, lead, present, probe, rest};
use super::live;
use super::near::{self, Disorder, by_key};
use super::order::{after, order_by, reversed};
use super::starts;
use super::view::columns;
use super::{Dialect, Sql, Writing};
use crate::query::{
    Counting, Cursor, Entity, Field, Filter, Op, Order, Page, Query, Scalar, ScalarKind, Sort, TOTAL_MAX, Tenants,
};

/// A search ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Rows as [`super::Collected`] takes them.
    pub page: Sql,
    /// One row with one number.
    pub total: Sql,
    /// SQLite: another way to the same page.
    pub few: Option<Few>,
    /// Whether it asks for one row by its key or for those of one instance: there is one way to find them, whatever the values are.
    pub is_keyed: bool,
    /// PostgreSQL: other ways to the same page, too.
    pub found: Option<Found>,
}

/// What is quicker where few rows match a part of the filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Few {
    /// One row with one number: if it is more than [`super::FEW_MAX`] they are not few.
    pub probe: Sql,
    pub page: Sql,
}

pub fn search(query: &Query, dialect: Dialect) -> Search {
    let is_keyed = is_keyed(query);
    let probe = match dialect {
        // What is found by a key is not looked for by anything else.
        Dialect::Sqlite if is_keyed => None,
        Dialect::Sqlite => probe(query, dialect),
        // It knows how many rows have which values.
        Dialect::Postgres => None,
    };
    let Some(probe) = probe else {
        let way = if dialect == Dialect::Sqlite && is_walked(query) { Begin::Walk } else { Begin::Anywhere };
        let page = page(query, dialect, way);
        let found = if dialect == Dialect::Postgres && !is_keyed { found::found(query) } else { None };
        return Search { page, total: total(query, dialect, Begin::Anywhere), few: None, is_keyed, found };
    };
    let few = Few { probe, page: page(query, dialect, Begin::Lead) };
    let (page, total) = (page(query, dialect, Begin::Walk), total(query, dialect, Begin::Lead));
    Search { page, total, few: Some(few), is_keyed, found: None }
}

/// What the audit trail shows is put together of several.
fn is_a_table(entity: Entity) -> bool {
    !matches!(entity, Entity::Audit | Entity::Operations)
}

fn is_keyed(query: &Query) -> bool {
    let is_key = |field: Field| field == query.entity.key() || field == Field::InstanceKey;
    is_a_table(query.entity)
        && conjuncts(&query.filter).into_iter().any(|part| matches!(part, Filter::Is(field, Op::Eq(_)) if is_key(*field)))
}

/// With which table a statement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin<'a> {
    /// Where the planner thinks best.
    Anywhere,
    /// With the entity's own, in order.
    Walk,
    Lead,
    /// With rows that have these keys.
    Keys(&'a [i64]),
    /// With rows whose keys say that they may be on the page.
    Near(Disorder),
}

pub(super) fn begin(writing: &mut Writing, query: &Query, begin: Begin<'_>) -> From {
    let mut from = From::new(query.entity, 0);
    match begin {
        Begin::Anywhere if writing.dialect == Dialect::Postgres => from.rows = of_instance(writing, &from, query),
        Begin::Anywhere => {}
        Begin::Walk if writing.dialect == Dialect::Postgres => from.fenced = true,
        Begin::Walk => from.walk = Some(walk(query)),
        Begin::Lead => from.lead = lead(writing, query),
        Begin::Keys(keys) => from.rows = Some(found::with_keys(&from, keys)),
        Begin::Near(disorder) => {
            from.rows = Some(near::rows(writing, query, disorder));
            from.fenced = writing.dialect == Dialect::Postgres;
            // SQLite: nothing that is joined comes before them.
            from.walk = Some("");
        }
    }
    from.present = present(query);
    from
}

/// PostgreSQL: the rows of one instance, found before they are sorted. Where it has no statistics yet it takes an instance to have many, and would go
/// through the rows of all instances in the order asked for (ADR 11).
fn of_instance(writing: &mut Writing, from: &From, query: &Query) -> Option<String> {
    let place = column(query.entity, Field::InstanceKey, writing.dialect);
    if !is_a_table(query.entity) || (place.table, place.sql) != (Table::Own, "@.instance") {
        return None;
    }
    let key = conjuncts(&query.filter).into_iter().find_map(|part| match part {
        Filter::Is(Field::InstanceKey, Op::Eq(key)) => Some(key.clone()),
        _ => None,
    })?;
    let (table, own, key) = (table_name(query.entity), from.alias(Table::Own), writing.param(key));
    Some(format!("(SELECT * FROM {table} WHERE instance = {key} OFFSET 0) AS {own}"))
}

/// The index that has the rows in the order asked for.
fn walk(query: &Query) -> &'static str {
    let first = query.order()[0].field;
    match first {
        // Those that run are together there, in the order of their keys.
        _ if first == query.entity.key() && asks_for_running(query) => " INDEXED BY instances_by_end",
        _ if first == query.entity.key() => " NOT INDEXED",
        // Where keys say too little, all are sorted.
        Field::Started if query.entity == Entity::Instances => " NOT INDEXED",
        Field::Ended if query.entity == Entity::Instances => " INDEXED BY instances_by_end",
        _ => "",
    }
}

pub(super) fn page(query: &Query, dialect: Dialect, way: Begin<'_>) -> Sql {
    let mut writing = Writing { dialect, params: Vec::new() };
    let halves = match dialect {
        Dialect::Sqlite if !matches!(way, Begin::Near(_)) => halves(query),
        Dialect::Sqlite | Dialect::Postgres => None,
    };
    let text = match halves {
        Some((with, without)) => {
            let (with, without) = (page_text(&mut writing, &with, way), page_text(&mut writing, &without, way));
            format!("SELECT * FROM ({with}) UNION ALL SELECT * FROM ({without}) LIMIT {}", limit(&query.page))
        }
        None => page_text(&mut writing, query, way),
    };
    Sql { text, params: writing.params }
}

/// Where rows without the value they are sorted by come last, what comes after a cursor is two pieces of an index: the rest of those with a
/// value, then those without. (Asked for at once, SQLite would read all of both and sort them.)
fn halves(query: &Query) -> Option<(Query, Query)> {
    let (cursor, order) = match &query.page {
        Page::From { .. } => return None,
        Page::After { cursor, .. } => (cursor, query.order()),
        Page::Before { cursor, .. } => (cursor, reversed(&query.order())),
    };
    let first = order[0];
    let is_split = first.order == Order::Descending
        && cursor.0.first().is_some_and(Option::is_some)
        && column(query.entity, first.field, Dialect::Sqlite).presence == Presence::Maybe
        && !present(query).contains(&first.field);
    let with = |exists| Filter::All(vec![query.filter.clone(), Filter::Is(first.field, Op::Exists(exists))]);
    is_split.then(|| {
        let page = Page::From { from: 0, limit: limit(&query.page) };
        let without = Query { filter: with(false), sort: order, page, ..query.clone() };
        (Query { filter: with(true), ..query.clone() }, without)
    })
}

fn limit(page: &Page) -> u32 {
    match page {
        Page::From { limit, .. } | Page::After { limit, .. } | Page::Before { limit, .. } => *limit,
    }
}

fn page_text(writing: &mut Writing, query: &Query, way: Begin<'_>) -> String {
    let dialect = writing.dialect;
    let (mut from, cut) = match candidates::asked(query, writing.dialect) {
        Some(asked) => whole(writing, query, |writing| candidates::page(writing, query, asked)),
        None => {
            let mut from = begin(writing, query, way);
            let matches = left_to_match(writing, &mut from, query, way);
            from.show();
            from.open_only = is_open_only(query);
            let is_in_order = !matches!(way, Begin::Keys(_));
            let ordered = by_what_differs(query);
            from.by_end = dialect == Dialect::Postgres && is_in_order && begins_with_running(&ordered);
            let cut = cut(writing, &mut from, matches, &ordered, &ordered.page);
            match dialect {
                Dialect::Sqlite => (from, cut),
                // What is only shown it would look up for all that it sorts.
                Dialect::Postgres => whole(writing, query, |_| format!("(SELECT o0.* FROM {} {cut}) AS o0", from.sql(dialect))),
            }
        }
    };
    let (selection, texts) = selection(&mut from, query, dialect);
    let rows = format!("FROM {} {cut}", from.sql(dialect));
    match (dialect, query.bytes_max) {
        (Dialect::Postgres, Some(bytes_max)) => until_full(&selection, &rows, &texts, bytes_max),
        // SQLite gives rows one by one: whoever reads them stops.
        (Dialect::Postgres, None) | (Dialect::Sqlite, _) => format!("SELECT {} {rows}", selection.join(", ")),
    }
}

/// The same order of the same rows: those that run have no end, and are not to be sorted by it.
fn by_what_differs(query: &Query) -> Cow<'_, Query> {
    let is_by_end = asks_for_running(query) && query.sort.first().is_some_and(|sort| sort.field == Field::Ended);
    let page = match &query.page {
        Page::From { .. } => Some(query.page.clone()),
        Page::After { cursor, limit } => behind_end(cursor).map(|cursor| Page::After { cursor, limit: *limit }),
        Page::Before { cursor, limit } => behind_end(cursor).map(|cursor| Page::Before { cursor, limit: *limit }),
    };
    match page.filter(|_| is_by_end) {
        Some(page) => Cow::Owned(Query { sort: query.sort[1..].to_vec(), page, ..query.clone() }),
        None => Cow::Borrowed(query),
    }
}

/// What a cursor says after the end that its row does not have.
fn behind_end(cursor: &Cursor) -> Option<Cursor> {
    match cursor.0.as_slice() {
        [None, rest @ ..] => Some(Cursor(rest.to_vec())),
        _ => None,
    }
}

/// Whether the first of those that run are asked for. (After a cursor they are found by their keys.)
fn begins_with_running(query: &Query) -> bool {
    query.sort.is_empty() && matches!(query.page, Page::From { .. }) && asks_for_running(query)
}

pub(super) fn asks_for_running(query: &Query) -> bool {
    query.entity == Entity::Instances && asks_for_state(query, "ACTIVE")
}

/// Whether nothing but instances in that state is asked for.
pub(super) fn asks_for_state(query: &Query, state: &str) -> bool {
    conjuncts(&query.filter).iter().any(|part| is_in(part, state))
}

pub(super) fn is_in(part: &Filter, state: &str) -> bool {
    matches!(part, Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text(word))) if word == state)
}

/// Rows that are the page, to be shown in its order.
fn whole(writing: &mut Writing, query: &Query, rows: impl FnOnce(&mut Writing) -> String) -> (From, String) {
    let mut from = From::showing(query.entity, rows(writing));
    let order = order_of(query, &query.page);
    let cut = format!("ORDER BY {}", order_by(writing, &mut from, &order));
    (from, cut)
}

/// Which of the rows are the page, and their order.
pub(super) fn cut(writing: &mut Writing, from: &mut From, mut matches: Vec<String>, query: &Query, page: &Page) -> String {
    let order = order_of(query, &query.page);
    let limit = match page {
        Page::From { from, limit } => format!("LIMIT {limit} OFFSET {}", (*from).min(i64::MAX as u64)),
        Page::After { cursor, limit } | Page::Before { cursor, limit } => {
            matches.push(after(writing, from, &order, cursor));
            format!("LIMIT {limit}")
        }
    };
    let first = order[0].field;
    if from.open_only && matches!(first, Field::Created | Field::Priority) && writing.dialect == Dialect::Postgres {
        // The index has those that are over at one end, and begins behind them.
        matches.push(format!("{} IS NOT NULL", sought(writing, from, first)));
    }
    if from.entity == Entity::Instances && first == Field::Ended && from.present.contains(&first) {
        // Those that run are at one end of the index, and not asked for.
        matches.push(format!("{}.ended IS NOT NULL", from.alias(Table::Own)));
    }
    let matches = if matches.is_empty() { "TRUE".to_owned() } else { matches.join(" AND ") };
    format!("WHERE {matches} ORDER BY {} {limit}", order_by(writing, from, &order))
}

/// What comes before a cursor comes after it from the other end.
fn order_of(query: &Query, page: &Page) -> Vec<Sort> {
    match page {
        Page::From { .. } | Page::After { .. } => query.order(),
        Page::Before { .. } => reversed(&query.order()),
    }
}

/// What is read of a row, its sort values last; and what of it is text.
fn selection(from: &mut From, query: &Query, dialect: Dialect) -> (Vec<String>, Vec<String>) {
    let mut selection: Vec<String> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for shown in columns(query) {
        let text = selected(from.expression(shown.table, &shown.sql), shown.kind, dialect);
        if shown.kind == ScalarKind::Text {
            texts.push(text.clone());
        }
        selection.push(text);
    }
    for sort in &query.order() {
        let place = column(query.entity, sort.field, dialect);
        selection.push(selected(from.text(place), place.kind, dialect));
    }
    (selection, texts)
}

/// The rows of a page up to the one that fills it, and one more that tells that there is one; no others are sent. How long a text is,
/// is known without reading it. A window without an order of its own takes the rows as they come.
fn until_full(selection: &[String], rows: &str, texts: &[String], bytes_max: usize) -> String {
    let names: Vec<String> = (0..selection.len()).map(|number| format!("c{number}")).collect();
    let named: Vec<String> = selection.iter().zip(&names).map(|(text, name)| format!("{text} AS {name}")).collect();
    let length = |text: &String| format!("coalesce(octet_length({text}), 0)");
    let lengths: Vec<String> = texts.iter().map(length).collect();
    format!(
        "SELECT {} FROM (SELECT *, sum(bytes) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS before FROM \
         (SELECT {}, {} AS bytes {rows}) AS page) AS summed WHERE before IS NULL OR before <= {bytes_max}",
        names.join(", "),
        named.join(", "),
        lengths.join(" + "),
    )
}

/// Counting stops one past the bound: that there are more is all anybody is told.
pub(super) fn total(query: &Query, dialect: Dialect, way: Begin<'_>) -> Sql {
    let mut writing = Writing { dialect, params: Vec::new() };
    let text = match (live::total(&mut writing, query), candidates::asked(query, dialect)) {
        (Some(text), _) => text,
        (None, Some(asked)) => of_count(&candidates::matched(&mut writing, query, asked, TOTAL_MAX + 1)),
        (None, None) => {
            let from = begin(&mut writing, query, way);
            counted(&mut writing, query, from, way)
        }
    };
    Sql { text, params: writing.params }
}

/// How many of these rows match.
pub(super) fn counted(writing: &mut Writing, query: &Query, mut from: From, way: Begin<'_>) -> String {
    let matches = left_to_match(writing, &mut from, query, way);
    // PostgreSQL takes those that match for scattered, and would read what comes before them. (Of those that run it would sort all.)
    let is_in_order = starts::is_between_keys(query) && !asks_for_running(query);
    let order = if writing.dialect == Dialect::Postgres && is_in_order { by_key(Order::Ascending) } else { String::new() };
    of_matching(&from.sql(writing.dialect), &matches, &order)
}

pub(super) fn of_matching(rows: &str, matches: &[String], order: &str) -> String {
    of_count(&format!("SELECT 1 FROM {rows} WHERE {} {order} LIMIT {}", matches.join(" AND "), TOTAL_MAX + 1))
}

fn of_count(matched: &str) -> String {
    format!("SELECT count(*) FROM ({matched}) AS matched")
}

/// Rows with the values of [`Counting::by`], the number of rows and that of different values.
pub fn count(counting: &Counting, dialect: Dialect) -> Sql {
    let mut writing = Writing { dialect, params: Vec::new() };
    let mut from = From::new(counting.entity, 0);
    let query = Query { filter: counting.filter.clone(), ..Query::of(counting.entity, counting.tenants.clone()) };
    let matches = matching(&mut writing, &mut from, &query);
    let mut selection = Vec::new();
    let mut order = Vec::new();
    for (number, field) in counting.by.iter().enumerate() {
        let place = column(counting.entity, *field, dialect);
        selection.push(selected(from.text(place), place.kind, dialect));
        order.push(match dialect {
            Dialect::Sqlite => format!("{}", number + 1),
            Dialect::Postgres => format!("{} NULLS FIRST", number + 1),
        });
    }
    let groups: Vec<String> = (1..=counting.by.len()).map(|number| number.to_string()).collect();
    selection.push(selected("count(*)".to_owned(), ScalarKind::Int, dialect));
    selection.push(match counting.distinct {
        Some(field) => {
            let text = from.text(column(counting.entity, field, dialect));
            selected(format!("count(DISTINCT {text})"), ScalarKind::Int, dialect)
        }
        None => selected("count(*)".to_owned(), ScalarKind::Int, dialect),
    });
    let latest = counting.latest.map(|field| format!("max({})", from.text(column(counting.entity, field, dialect))));
    selection.push(selected(latest.unwrap_or_else(|| "NULL".to_owned()), ScalarKind::Int, dialect));
    let text = format!(
        "SELECT {} FROM {} WHERE {} GROUP BY {} ORDER BY {} LIMIT {}",
        selection.join(", "),
        from.sql(dialect),
        matches.join(" AND "),
        groups.join(", "),
        order.join(", "),
        counting.limit
    );
    Sql { text, params: writing.params }
}

/// What rows are to fulfil that are found this way.
fn left_to_match(writing: &mut Writing, from: &mut From, query: &Query, way: Begin<'_>) -> Vec<String> {
    match way {
        Begin::Lead => matching(writing, from, &rest(query)),
        Begin::Anywhere | Begin::Walk | Begin::Keys(_) | Begin::Near(_) => matching(writing, from, query),
    }
}

/// What every row of the search fulfils, wherever the page begins.
pub(super) fn matching(writing: &mut Writing, from: &mut From, query: &Query) -> Vec<String> {
    let mut matches = asked(writing, from, query);
    if query.latest_version {
        let mut newer = From::new(query.entity, from.depth + 1);
        let asked = asked(writing, &mut newer, query);
        let (this, other) = (from.alias(Table::Own), newer.alias(Table::Own));
        let id = if query.entity == Entity::Decisions { "id" } else { "process_id" };
        matches.push(format!(
            "NOT EXISTS (SELECT 1 FROM {} WHERE {other}.partition = {this}.partition AND {other}.{id} = {this}.{id} \
             AND {other}.tenant = {this}.tenant AND {other}.version > {this}.version AND {})",
            newer.sql(writing.dialect),
            asked.join(" AND ")
        ));
    }
    matches
}

fn asked(writing: &mut Writing, from: &mut From, query: &Query) -> Vec<String> {
    let mut matches = vec![condition(writing, from, &query.filter)];
    if query.entity == Entity::Jobs {
        // Work that belongs to no process is not shown among that of processes.
        matches.push(format!("{}.instance IS NOT NULL", from.alias(Table::Own)));
    }
    if query.entity == Entity::Executions {
        matches.push(format!("{}.instance IS NULL", from.alias(Table::Own)));
    }
    if query.entity == Entity::DeadLetters {
        matches.push(format!("{}.availability = 'STUCK'", from.alias(Table::Own)));
    }
    if query.entity == Entity::MessageSubscriptions {
        matches.push(format!("{}.kind = 'MESSAGE'", from.alias(Table::Own)));
    }
    if query.entity == Entity::Waits {
        matches.push(format!("{}.state = 'CREATED'", from.alias(Table::Own)));
    }
    if query.entity == Entity::Variables && !query.with_kept {
        // What the engine keeps for itself is shown to nobody.
        matches.push(format!("substr({}.name, 1, {}) <> '{}'", from.alias(Table::Own), engine::KEPT.len(), engine::KEPT));
    }
    match &query.tenants {
        Tenants::These(tenants) => matches.push(of_tenants(writing, from, tenants)),
        Tenants::Everything => {}
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_one_instance_is_found_before_it_is_sorted() {
        let filter = Filter::Is(Field::InstanceKey, Op::Eq(crate::query::Scalar::Int(5)));
        let of = |entity| search(&Query { filter: filter.clone(), ..Query::of(entity, Tenants::Everything) }, Dialect::Postgres);
        for (entity, table) in [(Entity::UserTasks, "user_tasks"), (Entity::Variables, "variables"), (Entity::Jobs, "jobs")] {
            let found = of(entity);
            let rows = format!("(SELECT * FROM {table} WHERE instance = $1::bigint OFFSET 0) AS o0");
            assert!(found.is_keyed && found.page.text.contains(&rows) && found.total.text.contains(&rows), "{found:?}");
        }
        let trail = of(Entity::Audit);
        assert!(!trail.is_keyed && !trail.page.text.contains("WHERE instance = $1::bigint OFFSET 0"), "{trail:?}");
    }

    /// SQLite's rows are read one by one; PostgreSQL sends all it has, so the statement itself must have no more.
    #[test]
    fn a_bounded_page_is_bounded_where_all_of_it_is_sent() {
        let bounded = Query { bytes_max: Some(1_000), ..Query::of(Entity::Variables, Tenants::Everything) };
        let text = |query, dialect| search(query, dialect).page.text;
        assert!(text(&bounded, Dialect::Postgres).contains("octet_length(o0.value)"), "{}", text(&bounded, Dialect::Postgres));
        assert!(text(&bounded, Dialect::Postgres).ends_with("before <= 1000"));
        let plain = Query::of(Entity::Variables, Tenants::Everything);
        assert_eq!(text(&bounded, Dialect::Sqlite), text(&plain, Dialect::Sqlite));
        assert!(!text(&plain, Dialect::Postgres).contains("octet_length"));
    }

    /// Where many have a value, PostgreSQL is kept from joining all of them to show fifty, and from counting more than anybody is told.
    #[test]
    fn what_many_have_is_asked_of_one_row_after_the_other() {
        let text = |field, text: &str| Filter::Is(field, Op::Eq(Scalar::Text(text.to_owned())));
        let value = Filter::All(vec![text(Field::Name, "region"), text(Field::Value, "\"north\"")]);
        let related = Filter::Related(Entity::Variables, Box::new(value));
        let state = text(Field::InstanceState, "COMPLETED");
        for (filter, is_all) in [(related.clone(), true), (Filter::All(vec![state, related]), false)] {
            let query = Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) };
            let search = search(&query, Dialect::Postgres);
            assert!(!search.page.text.contains(") OFFSET 0)"), "{}", search.page.text);
            let found = search.found.expect("they may be many");
            let many = found.many.expect("they are gone through in order");
            assert!(many.text.contains(") OFFSET 0)"), "{}", many.text);
            assert!(found.rows.text.contains(&format!("LIMIT {}", TOTAL_MAX + 1)), "{}", found.rows.text);
            assert_eq!(found.is_all, is_all);
        }
        assert_eq!(search(&Query::of(Entity::Instances, Tenants::Everything), Dialect::Postgres).found, None);
    }
}
