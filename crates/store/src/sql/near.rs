//! Rows in the order of a time that their keys nearly have: when instances and element instances began (ADRs 97 and 100), and when element
//! instances and jobs ended that were quick (ADR 98).
//!
//! A store keeps how far behind an earlier row one with a greater key may have begun (`started_back`): not at all, unless the clock was set
//! back. So it is known between which keys lies what began in a span of time, and only what is there is read and sorted. No index has their
//! starts.

use super::column::From;
use super::lead::{conjuncts, without};
use super::order::{after, direction, reversed};
use super::select::{Begin, matching, page};
use super::starts::{self, Walk, Way};
use super::{Dialect, Sql, Writing, ends, live};
use crate::query::{Cursor, Entity, Field, Filter, Op, Order, Page, Query, Scalar, Sort};

/// Where the clock was set back further than so many milliseconds, too much may lie in between.
const BACK_MAX: i64 = 10_000;

/// The one partition there is, and how far back its rows may have begun, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disorder {
    pub partition: i64,
    pub back: i64,
}

/// Whether keys say which rows may be on the page.
pub fn is_near(query: &Query) -> bool {
    // Few are stuck, and have an index.
    let is_stuck = |part: &&Filter| matches!(part, Filter::Is(Field::HasIncident, Op::Eq(Scalar::Bool(true))));
    let is_sorted = is_by_start(query) || ends::is_by_end(query) || live::is_asked(query);
    is_sorted && !conjuncts(&query.filter).iter().any(is_stuck)
}

fn is_by_start(query: &Query) -> bool {
    let is_known = query.entity == Entity::Elements || starts::are_gone_through(query);
    is_known && query.order()[0].field == Field::Started
}

/// One row with the two numbers of a [`Disorder`]; none where keys say too little.
pub fn disorder() -> Sql {
    let text = format!(
        "SELECT min(partition), max(started_back) FROM partitions HAVING count(*) = 1 AND max(started_back) <= {BACK_MAX}"
    );
    Sql { text, params: Vec::new() }
}

/// Another page of such a search.
pub fn page_near(query: &Query, dialect: Dialect, disorder: Disorder) -> Sql {
    page(query, dialect, Begin::Near(disorder))
}

/// Those that may be on the page, found before anything else is done with them.
pub(super) fn rows(writing: &mut Writing, query: &Query, disorder: Disorder) -> String {
    let asked = Asked::of(query, disorder);
    let steps = if ends::is_by_end(query) {
        ends::steps(writing, &asked)
    } else if live::is_asked(query) {
        live::steps(writing, &asked)
    } else {
        by_start(writing, &asked)
    };
    let fence = match writing.dialect {
        Dialect::Sqlite => "",
        Dialect::Postgres => " OFFSET 0",
    };
    let (named, found) = (steps.named.join(", "), steps.found.join(" UNION ALL "));
    format!("(WITH RECURSIVE {named} SELECT * FROM ({found}) AS found{fence}) AS o0")
}

/// As many as are wanted in the order of keys, and of what lies behind them what began no later than one of them.
fn by_start(writing: &mut Writing, asked: &Asked<'_>) -> Steps {
    let mut steps = Steps::default();
    let span = asked.span();
    let keys = steps.within(asked.table, &span, 0);
    let rows = asked.table.between(&keys, writing.dialect);
    let order = asked.table.way.order(asked.onward(), writing.dialect);
    let wanted = Wanted { time: "o0.started", also: "TRUE", when: "TRUE", order: &order };
    steps.name("nearest", &asked.first(writing, &rows, wanted));
    steps.found.push(asked.table.with_keys("SELECT key FROM nearest", writing.dialect));
    steps.behind(asked, "nearest", 0, "TRUE", writing.dialect);
    steps
}

/// A search, and what is known of its page and its rows before any is read.
pub(super) struct Asked<'a> {
    pub(super) query: &'a Query,
    pub(super) order: Vec<Sort>,
    pub(super) cursor: Option<&'a Cursor>,
    /// How many rows are before the end of the page at most.
    pub(super) wanted: u64,
    pub(super) table: Table,
}

/// Those behind the first, up to the last.
pub(super) struct Keys {
    pub(super) low: String,
    pub(super) high: String,
}

/// From when to when, both included.
pub(super) struct Span {
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
}

/// From when to when a filter asks for a time.
fn range(filter: &Filter, field: Field) -> Span {
    let mut range = Span { since: None, until: None };
    let (mut since, mut until) = (
        |time: i64| range.since = range.since.max(Some(time)),
        |time: i64| {
            range.until = Some(range.until.map_or(time, |until| until.min(time)));
        },
    );
    for part in conjuncts(filter) {
        match part {
            Filter::Is(asked, Op::Gt(Scalar::Int(time)) | Op::Gte(Scalar::Int(time))) if *asked == field => since(*time),
            Filter::Is(asked, Op::Lt(Scalar::Int(time)) | Op::Lte(Scalar::Int(time))) if *asked == field => until(*time),
            Filter::Is(asked, Op::Eq(Scalar::Int(time))) if *asked == field => {
                since(*time);
                until(*time);
            }
            _ => {}
        }
    }
    range
}

/// One row with two numbers: rows that began when the filter asks for have keys behind the first, up to the second.
pub(super) fn keys_begun(filter: &Filter, table: Table) -> Sql {
    let mut steps = Steps::default();
    let keys = steps.within(table, &range(filter, Field::Started), 0);
    let named = if steps.named.is_empty() { String::new() } else { format!("WITH RECURSIVE {} ", steps.named.join(", ")) };
    Sql { text: format!("{named}SELECT {}, {}", keys.low, keys.high), params: Vec::new() }
}

impl<'a> Asked<'a> {
    pub(super) fn of(query: &'a Query, Disorder { partition, back }: Disorder) -> Self {
        let (order, cursor, wanted) = match &query.page {
            Page::From { from, limit } => (query.order(), None, from.saturating_add(u64::from(*limit))),
            Page::After { cursor, limit } => (query.order(), Some(cursor), u64::from(*limit)),
            Page::Before { cursor, limit } => (reversed(&query.order()), Some(cursor), u64::from(*limit)),
        };
        let (name, began) = match query.entity {
            Entity::Jobs => ("jobs", "created"),
            Entity::Instances => ("instances", "started"),
            _ => ("elements", "started"),
        };
        let table = Table { name, began, way: Way::of(query), partition, back };
        Self { query, order, cursor, wanted: wanted.min(i64::MAX as u64), table }
    }

    pub(super) fn onward(&self) -> Order {
        self.order[0].order
    }

    /// What the cursor says first: nothing where its row has no such time.
    pub(super) fn time_of_cursor(&self) -> Option<i64> {
        match self.cursor?.0.first() {
            Some(Some(Scalar::Int(time))) => Some(*time),
            _ => None,
        }
    }

    /// Behind the key that the cursor says last, in the order that follows.
    pub(super) fn behind_key(&self) -> Keys {
        let key = self.cursor.and_then(|cursor| match (cursor.0.last(), self.order.last()) {
            (Some(Some(Scalar::Int(key))), Some(sort)) => Some((*key, sort.order)),
            _ => None,
        });
        match key {
            Some((key, Order::Ascending)) => Keys { low: key.to_string(), ..self.table.all() },
            Some((key, Order::Descending)) => Keys { high: format!("{key} - 1"), ..self.table.all() },
            None => self.table.all(),
        }
    }

    /// From when to when the filter asks for the time that rows are sorted by.
    pub(super) fn range(&self) -> Span {
        range(&self.query.filter, self.order[0].field)
    }

    /// Outside of which no row has that time.
    pub(super) fn span(&self) -> Span {
        let range = self.range();
        match (self.onward(), self.time_of_cursor()) {
            (Order::Ascending, Some(time)) => Span { since: Some(time), ..range },
            (Order::Descending, Some(time)) => Span { until: Some(time), ..range },
            (_, None) => range,
        }
    }

    /// Key and time of the first of those rows that match and come after the cursor.
    pub(super) fn first(&self, writing: &mut Writing, rows: &str, Wanted { time, also, when, order }: Wanted<'_>) -> String {
        let mut from = From::new(self.query.entity, 0);
        from.rows = Some(format!("({rows}) AS o0"));
        // SQLite: nothing that is joined comes before them.
        from.walk = Some("");
        from.fenced = writing.dialect == Dialect::Postgres;
        let asked = match (writing.dialect, self.table.way.part(self.query)) {
            (Dialect::Postgres, part @ Some(_)) => &without(self.query, part),
            _ => self.query,
        };
        let mut matches = matching(writing, &mut from, asked);
        if let Some(cursor) = self.cursor {
            // PostgreSQL knows how few have begun or ended so early or so late, and would look for them among all.
            let after = after(writing, &mut from, &self.order, cursor);
            matches.push(after.replace("o0.started", "(o0.started + 0)").replace("o0.ended", "(o0.ended + 0)"));
        }
        let (rows, matches, wanted) = (from.sql(writing.dialect), matches.join(" AND "), self.wanted);
        // Each asks only once whether any are wanted at all.
        let (asks, limit) = match writing.dialect {
            Dialect::Sqlite => (String::new(), format!("CASE WHEN {when} THEN {wanted} ELSE 0 END")),
            Dialect::Postgres => (format!("{when} AND "), wanted.to_string()),
        };
        format!("SELECT o0.key AS key, {time} AS time FROM {rows} WHERE {asks}{also} AND {matches} {order} LIMIT {limit}")
    }
}

/// Which rows are looked for, and in which order.
pub(super) struct Wanted<'a> {
    /// What the time is that they are sorted by.
    pub(super) time: &'a str,
    /// What they fulfil beside what the search asks for.
    pub(super) also: &'a str,
    /// Whether any are.
    pub(super) when: &'a str,
    pub(super) order: &'a str,
}

/// What is found, and what it is found by.
#[derive(Default)]
pub(super) struct Steps {
    /// Common table expressions.
    pub(super) named: Vec<String>,
    /// Whole rows, none of them twice.
    pub(super) found: Vec<String>,
}

impl Steps {
    pub(super) fn name(&mut self, name: &str, text: &str) {
        self.named.push(format!("{name} AS MATERIALIZED ({text})"));
    }

    /// Rows that have such a time, which is no more than `behind` after they began.
    pub(super) fn within(&mut self, table: Table, span: &Span, behind: i64) -> Keys {
        let mut keys = table.all();
        if let Some(since) = span.since {
            keys.low = self.since(table, "low", &format!("{since} - {behind}"));
        }
        if let Some(until) = span.until {
            keys.high = self.until(table, "high", &until.to_string());
        }
        keys
    }

    /// Rows behind the last of those that may come before one of them, if those are as many as are wanted.
    pub(super) fn behind(&mut self, asked: &Asked<'_>, name: &str, behind: i64, also: &str, dialect: Dialect) {
        let worst = match asked.onward() {
            Order::Ascending => "max(key) AS key, max(time) AS time",
            Order::Descending => "min(key) AS key, min(time) AS time",
        };
        self.name("worst", &format!("SELECT {worst} FROM {name} HAVING count(*) = {}", asked.wanted));
        let keys = match asked.onward() {
            Order::Ascending => Keys {
                low: "(SELECT key FROM worst)".to_owned(),
                high: self.until(asked.table, "far", "(SELECT time FROM worst)"),
            },
            Order::Descending => Keys {
                low: self.since(asked.table, "far", &format!("(SELECT time FROM worst) - {behind}")),
                high: "(SELECT key - 1 FROM worst)".to_owned(),
            },
        };
        self.found.push(format!("{} AND {also}", asked.table.between(&keys, dialect)));
    }

    /// Behind which key lies all that began at that time or later. Where the time is not known, that is all there is.
    pub(super) fn since(&mut self, table: Table, name: &str, time: &str) -> String {
        self.reached(table, name, &format!("{time} - {}", table.back))
    }

    /// Up to which key lies all that began at that time or earlier. Where the time is not known, that is nothing.
    pub(super) fn until(&mut self, table: Table, name: &str, time: &str) -> String {
        self.reached(table, name, &format!("{time} + {}", table.back + 1))
    }

    /// How far keys have come before that time is reached: what lies there began before it, what comes next did not. Goes by halves, since the
    /// primary key is a tree, and not through rows.
    fn reached(&mut self, table: Table, name: &str, time: &str) -> String {
        let Table { name: rows, began, partition, .. } = table;
        let (start, half) = (table.start(), 1_i64 << (KEY_BITS - 1));
        self.named.push(format!(
            "{name} (key, step) AS (SELECT {start}, {half} UNION ALL SELECT {name}.key + CASE WHEN (SELECT t.{began} FROM {rows} AS t \
             WHERE t.partition = {partition} AND {name}.key + {name}.step <= t.key ORDER BY t.key LIMIT 1) < {time} \
             THEN {name}.step ELSE 0 END, {name}.step / 2 FROM {name} WHERE 0 < {name}.step)"
        ));
        format!("(SELECT max(key) FROM {name})")
    }
}

/// A table of rows whose keys are nearly in the order in which they began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The column that says when they began.
    began: &'static str,
    pub(super) way: Way,
    pub(super) partition: i64,
    back: i64,
}

impl Table {
    /// Before any key.
    fn start(&self) -> i64 {
        self.partition << KEY_BITS
    }

    pub(super) fn all(&self) -> Keys {
        Keys { low: self.start().to_string(), high: (self.start() + ((1_i64 << KEY_BITS) - 1)).to_string() }
    }

    pub(super) fn between(&self, Keys { low, high }: &Keys, dialect: Dialect) -> String {
        let Walk { index, asks, key } = self.way.walk(dialect);
        format!(
            "SELECT * FROM {}{index} WHERE partition = {}{asks} AND {low} < {key} AND {key} <= {high}",
            self.name, self.partition
        )
    }

    pub(super) fn with_keys(&self, keys: &str, dialect: Dialect) -> String {
        let among = match dialect {
            Dialect::Sqlite => format!("IN ({keys})"),
            Dialect::Postgres => format!("= ANY (ARRAY({keys}))"),
        };
        format!("SELECT * FROM {} WHERE partition = {} AND key {among}", self.name, self.partition)
    }
}

/// Above them is a key's partition.
const KEY_BITS: u32 = 51;

/// (All of one partition: PostgreSQL's primary key has them so.)
pub(super) fn by_key(onward: Order) -> String {
    format!("ORDER BY o0.key {}", direction(onward))
}
