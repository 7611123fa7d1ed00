//! Counting in groups, and pages of them: sorted and cut here, since there are few.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use store::query::{Counted, Counting, Entity, Field, Filter, Op, Order, Scalar};

use crate::error::Failure;
use crate::rest::answer;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::Layout;
use crate::rest::shape::{Fields, Shape, field};

/// Past so many groups nobody would read them.
const GROUPS_MAX: usize = 100_000;

pub(in crate::rest) async fn count(
    call: &Call,
    entity: Entity,
    filter: Filter,
    by: Vec<Field>,
    distinct: Option<Field>,
) -> Result<Vec<Counted>, Failure> {
    let tenants = call.caller.tenants();
    counted(call, Counting { entity, tenants, filter, by, distinct, latest: None, limit: GROUPS_MAX + 1 }).await
}

pub(in crate::rest) async fn counted(call: &Call, counting: Counting) -> Result<Vec<Counted>, Failure> {
    let counting = Counting { limit: GROUPS_MAX + 1, ..counting };
    let groups = call.host().store().count(&counting).await?;
    if GROUPS_MAX < groups.len() {
        return Err(Failure::invalid(format!("There is more to count than {GROUPS_MAX} groups: narrow the filter")));
    }
    Ok(groups)
}

pub(in crate::rest) fn is(field: Field, word: &str) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Text(word.to_owned())))
}

pub(in crate::rest) fn text(group: &Counted, place: usize) -> String {
    match group.values.get(place) {
        Some(Some(Scalar::Text(text))) => text.clone(),
        _ => String::new(),
    }
}

pub(in crate::rest) fn text_maybe(group: &Counted, place: usize) -> Option<String> {
    match group.values.get(place) {
        Some(Some(Scalar::Text(text))) => Some(text.clone()),
        _ => None,
    }
}

/// A number, or a flag as 0 or 1.
pub(in crate::rest) fn integer(group: &Counted, place: usize) -> i64 {
    match group.values.get(place) {
        Some(Some(Scalar::Int(number))) => *number,
        Some(Some(Scalar::Bool(flag))) => i64::from(*flag),
        _ => 0,
    }
}

/// The part of all groups that is asked for.
pub(in crate::rest) static PAGE: Shape = Shape {
    name: "OffsetPagination",
    fields: &[
        field("from", Kind::Int32, "How many to leave out before the first; 0 if left out"),
        field("limit", Kind::Int32, "How many at most; 100 if left out"),
    ],
};

/// The same, by position or by cursor.
pub(in crate::rest) static PAGE_ANY: Shape = Shape {
    name: "AnyPagination",
    fields: &[
        field("from", Kind::Int32, "How many to leave out before the first; 0 if left out"),
        field("after", Kind::Text, "The `endCursor` of a page"),
        field("before", Kind::Text, "The `startCursor` of a page"),
        field("limit", Kind::Int32, "How many at most; 100 if left out"),
    ],
};

pub(in crate::rest) struct Part {
    pub(in crate::rest) from: usize,
    pub(in crate::rest) limit: usize,
}

impl Part {
    pub(in crate::rest) fn read(call: &Call, page: Option<Fields<'_>>) -> Result<Self, Failure> {
        let Some(mut page) = page else { return Self::after(call, None, None) };
        Self::from(call, page.int32("from"), page.int32("limit"))
    }

    /// A part as [`PAGE_ANY`] describes it.
    pub(in crate::rest) fn any(call: &Call, page: Option<Fields<'_>>) -> Result<Self, Failure> {
        let Some(mut page) = page else { return Self::after(call, None, None) };
        let (from, limit) = (page.int32("from"), page.int32("limit"));
        match (from, page.text("after"), page.text("before")) {
            (from, None, None) => Self::from(call, from, limit),
            (None, Some(after), None) => Ok(Self { from: decoded(&after)?, ..Self::from(call, None, limit)? }),
            (None, None, Some(before)) => {
                let (end, part) = (decoded(&before)?, Self::from(call, None, limit)?);
                Ok(Self { from: end.saturating_sub(part.limit), limit: part.limit.min(end) })
            }
            _ => Err(Failure::unreadable("Request property [page]: only one of [from, after, before] is allowed.")),
        }
    }

    fn from(call: &Call, from: Option<i32>, limit: Option<i32>) -> Result<Self, Failure> {
        let number = |name: &str, given: Option<i32>| match given.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(number)) => Ok(Some(number)),
            Some(Err(_)) => {
                let given = given.unwrap_or_default();
                Err(Failure::invalid(format!("The value for page.{name} is '{given}' but must be a non-negative number.")))
            }
        };
        let limit = number("limit", limit)?.unwrap_or(call.config().page_limit_default as usize);
        Ok(Self { from: number("from", from)?.unwrap_or(0), limit: limit.min(call.config().page_limit_max as usize) })
    }

    /// Goes on where another part ended.
    pub(in crate::rest) fn after(call: &Call, cursor: Option<&str>, limit: Option<i64>) -> Result<Self, Failure> {
        let from = cursor.map(decoded).transpose()?.unwrap_or(0);
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(call.config().page_limit_default as usize);
        Ok(Self { from, limit: limit.min(call.config().page_limit_max as usize) })
    }
}

/// The position that a cursor stands for.
fn decoded(cursor: &str) -> Result<usize, Failure> {
    let decoded = |text: &str| String::from_utf8(STANDARD.decode(text).ok()?).ok()?.parse().ok();
    decoded(cursor).ok_or_else(|| Failure::invalid(format!("Cannot decode pagination cursor '{cursor}'")))
}

/// What a list is sorted by: the place of the name, and which way.
pub(in crate::rest) fn sorting(sort: Vec<Fields<'_>>, names: &'static [&'static str]) -> Result<Vec<(usize, Order)>, Failure> {
    let mut sorting = Vec::new();
    for mut criterion in sort {
        let name = criterion.word("field").ok_or_else(|| Failure::invalid("Sort field must not be null."))?;
        let order = if criterion.word("order") == Some("DESC") { Order::Descending } else { Order::Ascending };
        sorting.extend(names.iter().position(|known| *known == name).map(|place| (place, order)));
    }
    Ok(sorting)
}

/// Sorts by what `key` gives for each place of a name; equals stay as they are.
pub(in crate::rest) fn sort<T>(items: &mut [T], by: &[(usize, Order)], key: impl Fn(&T, usize) -> Scalar) {
    items.sort_by(|a, b| {
        let compare = |(place, order): &(usize, Order)| match order {
            Order::Ascending => key(a, *place).cmp(&key(b, *place)),
            Order::Descending => key(b, *place).cmp(&key(a, *place)),
        };
        by.iter().map(compare).find(|ordering| ordering.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
}

pub(in crate::rest) fn page<T>(items: Vec<T>, part: &Part, layout: &Layout<T>) -> Response {
    let total = items.len();
    let shown: Vec<T> = items.into_iter().skip(part.from).take(part.limit).collect();
    let cursor = |at: usize| format!("\"{}\"", STANDARD.encode(at.to_string()));
    let (start, end) = match shown.len() {
        0 => ("null".to_owned(), "null".to_owned()),
        count => (cursor(part.from), cursor(part.from + count)),
    };
    let head = format!(
        "{{\"page\":{{\"totalItems\":{total},\"hasMoreTotalItems\":false,\"startCursor\":{start},\"endCursor\":{end}}},\"items\":"
    );
    let mut out = head.into_bytes();
    layout.write_list(&mut out, &shown);
    out.push(b'}');
    answer::ok(out)
}
