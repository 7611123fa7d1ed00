//! Element instances and jobs in the order of their end (ADR 98).
//!
//! Most end soon after they began: these are found by their keys (`near`). Those that took longer, and they alone, have their end in `late`, which
//! has an index. Those that have no end come before all others, in the order of their keys (`live`). Of each as many are found as are wanted.

use super::lead::conjuncts;
use super::near::{Asked, Keys, Span, Steps, Wanted, by_key};
use super::order::direction;
use super::{Dialect, Writing, live};
use crate::query::{Entity, Field, Filter, Op, Order, Query, Scalar};
use crate::row::JobState;

/// As the stores' migrations say: what took no longer than so many milliseconds has nothing in `late`.
const QUICK_MAX: i64 = 250;

const IS_QUICK: &str = "ended IS NOT NULL AND late IS NULL";

pub(super) fn is_by_end(query: &Query) -> bool {
    let order = query.order();
    matches!(query.entity, Entity::Elements | Entity::Jobs) && order[0].field == Field::Ended && order.len() == 2
}

pub(super) fn steps(writing: &mut Writing, asked: &Asked<'_>) -> Steps {
    let mut steps = Steps::default();
    let Parts { has_ended, is_alive } = parts(asked);
    match (has_ended, is_alive, asked.onward()) {
        (true, true, Order::Ascending) => {
            alive(writing, &mut steps, asked, "TRUE");
            let is_short = format!("(SELECT count(*) FROM alive) < {}", asked.wanted);
            ended(writing, &mut steps, asked, &is_short);
        }
        (true, true, Order::Descending) => {
            ended(writing, &mut steps, asked, "TRUE");
            let is_short = format!("(SELECT count(*) FROM late_ones) + (SELECT count(*) FROM nearest) < {}", asked.wanted);
            alive(writing, &mut steps, asked, &is_short);
        }
        (true, false, _) => ended(writing, &mut steps, asked, "TRUE"),
        (false, true, _) => alive(writing, &mut steps, asked, "TRUE"),
        (false, false, _) => alive(writing, &mut steps, asked, "FALSE"),
    }
    steps
}

/// Of which rows the page can be.
struct Parts {
    has_ended: bool,
    is_alive: bool,
}

/// Of those that come first there may be none behind the cursor, and the filter may say which there are.
fn parts(asked: &Asked<'_>) -> Parts {
    let parts = conjuncts(&asked.query.filter);
    let is_in = |words: &[&str]| state(asked).is_some_and(|state| words.contains(&state));
    let has = |end: bool| parts.iter().any(|part| matches!(part, Filter::Is(Field::Ended, Op::Exists(is)) if *is == end));
    let Span { since, until } = asked.range();
    let is_over = is_in(&["COMPLETED", "TERMINATED", "CANCELED"]) || has(true) || since.or(until).is_some();
    let is_alive = is_in(&["ACTIVE"]) || is_in(&OPEN.map(JobState::word)) || has(false);
    let cursor_has_ended = asked.cursor.map(|_| asked.time_of_cursor().is_some());
    Parts {
        has_ended: !is_alive && (asked.onward() == Order::Ascending || cursor_has_ended != Some(false)),
        is_alive: !is_over && (asked.onward() == Order::Descending || cursor_has_ended != Some(true)),
    }
}

/// The state that is asked for.
fn state<'a>(asked: &Asked<'a>) -> Option<&'a str> {
    conjuncts(&asked.query.filter).into_iter().find_map(|part| match part {
        Filter::Is(Field::ElementState | Field::JobState, Op::Eq(Scalar::Text(word))) => Some(&**word),
        _ => None,
    })
}

/// Those that took long, as their index has them, and those that did not, of which keys say nearly when they ended.
fn ended(writing: &mut Writing, steps: &mut Steps, asked: &Asked<'_>, when: &str) {
    let (table, dialect, onward, span) = (asked.table, writing.dialect, asked.onward(), asked.span());
    let rows = late(asked, dialect, &span);
    let order = format!("ORDER BY o0.late {}, o0.key {}", direction(onward), direction(asked.order[1].order));
    steps.name("late_ones", &asked.first(writing, &rows, Wanted { time: "o0.late", also: "TRUE", when, order: &order }));
    let worst = if onward == Order::Ascending { "max(time)" } else { "min(time)" };
    steps.name("late_worst", &format!("SELECT {worst} AS time FROM late_ones HAVING count(*) = {}", asked.wanted));

    let mut keys = steps.within(asked.table, &span, QUICK_MAX);
    let mut rows = table.between(&keys, dialect);
    // What comes behind as many that took long as are wanted is not on the page.
    keys = match onward {
        Order::Ascending => {
            let far = steps.until(asked.table, "late_far", "(SELECT time FROM late_worst)");
            let high = format!("(SELECT CASE WHEN count(*) = 0 THEN {} ELSE {far} END FROM late_worst)", i64::MAX);
            Keys { high, ..table.all() }
        }
        Order::Descending => {
            let low = steps.since(asked.table, "late_far", &format!("(SELECT time FROM late_worst) - {QUICK_MAX}"));
            Keys { low, ..table.all() }
        }
    };
    rows.push_str(&format!(" AND {} < key AND key <= {}", keys.low, keys.high));
    let also = "o0.ended IS NOT NULL AND o0.late IS NULL";
    steps.name("nearest", &asked.first(writing, &rows, Wanted { time: "o0.ended", also, when, order: &by_key(onward) }));
    steps.found.push(table.with_keys("SELECT key FROM late_ones UNION ALL SELECT key FROM nearest", dialect));
    steps.behind(asked, "nearest", QUICK_MAX, IS_QUICK, dialect);
}

fn late(asked: &Asked<'_>, dialect: Dialect, span: &Span) -> String {
    let table = asked.table.name;
    let index = match dialect {
        Dialect::Sqlite => format!(" INDEXED BY {table}_late"),
        Dialect::Postgres => String::new(),
    };
    let since = span.since.map_or(String::new(), |since| format!(" AND {since} <= late"));
    let until = span.until.map_or(String::new(), |until| format!(" AND late <= {until}"));
    format!("SELECT * FROM {table}{index} WHERE late IS NOT NULL{since}{until}")
}

/// Those that have no end, in the order of their keys.
fn alive(writing: &mut Writing, steps: &mut Steps, asked: &Asked<'_>, when: &str) {
    let onward = asked.order[1].order;
    // Behind a cursor that has an end come all of them.
    let keys = if asked.time_of_cursor().is_none() { asked.behind_key() } else { asked.table.all() };
    match asked.query.entity {
        Entity::Jobs => jobs(writing, steps, asked, &keys, when),
        _ => live::alive(writing, steps, asked, &keys, onward, when),
    }
    steps.found.push(format!("{} AND ended IS NULL", asked.table.with_keys("SELECT key FROM alive", writing.dialect)));
}

/// States that jobs without an end are in, each of which their index has in the order of keys.
const OPEN: [JobState; 6] = [
    JobState::Created,
    JobState::Failed,
    JobState::RetriesUpdated,
    JobState::TimedOut,
    JobState::ErrorThrown,
    JobState::Migrated,
];

fn jobs(writing: &mut Writing, steps: &mut Steps, asked: &Asked<'_>, keys: &Keys, when: &str) {
    let (dialect, order) = (writing.dialect, asked.order[1].order);
    let index = match dialect {
        Dialect::Sqlite => " INDEXED BY jobs_by_state",
        Dialect::Postgres => "",
    };
    let Keys { low, high } = keys;
    let is_asked = |word: &str| state(asked) == Some(word);
    let words = OPEN.map(JobState::word);
    let words = words.iter().filter(|word| is_asked(word) || !words.iter().any(|word| is_asked(word)));
    let each = words.map(|word| {
        let rows = format!(
            "SELECT * FROM jobs{index} WHERE partition = {} AND state = '{}' AND state <> 'COMPLETED' AND instance IS NOT NULL \
             AND {low} < key AND key <= {high}",
            asked.table.partition, word
        );
        let wanted = Wanted { time: "o0.created", also: "TRUE", when, order: &by_key(order) };
        format!("SELECT * FROM ({}) AS of_state", asked.first(writing, &rows, wanted))
    });
    let each: Vec<String> = each.collect();
    let first = format!(
        "SELECT * FROM ({}) AS each_state ORDER BY key {} LIMIT {}",
        each.join(" UNION ALL "),
        direction(order),
        asked.wanted
    );
    steps.name("alive", &first);
}
