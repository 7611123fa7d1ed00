use engine::PartitionId;
use store::query::{Entity, Field, Filter, Op, Order, Page, Sort, Tenants};
use store::sql::Search;

use super::*;
use crate::schema::migrate;
use crate::schema::tests::plan;

fn text(field: Field, text: &str) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Text(text.to_owned())))
}

fn since(field: Field) -> Filter {
    Filter::Is(field, Op::Gte(Scalar::Int(1)))
}

fn variable() -> Filter {
    Filter::All(vec![text(Field::Name, "order"), text(Field::Value, "\"A-17\"")])
}

fn element() -> Filter {
    Filter::All(vec![text(Field::ElementId, "pay")])
}

/// What runs of a process that may have a million that have ended.
fn running_of(process: &str) -> Filter {
    Filter::All(vec![text(Field::ProcessId, process), text(Field::InstanceState, "ACTIVE")])
}

/// As callers ask: of their tenant, a first page and one after a cursor.
fn queries(entity: Entity, filter: Filter, sort: &[Sort]) -> [Query; 2] {
    let tenants = Tenants::These(vec!["<default>".into()]);
    let first = Query { filter, sort: sort.to_vec(), page: Page::From { from: 0, limit: 50 }, ..Query::of(entity, tenants) };
    let key = PartitionId(1).first_key() as i64;
    let cursor = store::query::Cursor(first.order().iter().map(|_| Some(Scalar::Int(key))).collect());
    let next = Query { page: Page::After { cursor, limit: 50 }, ..first.clone() };
    [first, next]
}

fn searches(entity: Entity, filter: Filter, sort: &[Sort]) -> [Search; 2] {
    queries(entity, filter, sort).map(|query| statements(&query, Dialect::Sqlite))
}

fn sorts() -> [Vec<Sort>; 5] {
    let by = |field, order| vec![Sort { field, order }];
    let (up, down) = (Order::Ascending, Order::Descending);
    [vec![], by(Field::Started, up), by(Field::Started, down), by(Field::Ended, up), by(Field::Ended, down)]
}

/// Where few match, they are found by the index made for it, in whatever order they are shown; and how many there are is asked of it alone.
#[test]
fn few_rows_are_found_by_their_index() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let related = |entity, filter| Filter::Related(entity, Box::new(filter));
    let hash = Filter::Is(Field::MessageHash, Op::Eq(Scalar::Int(7)));
    let expected = [
        (Entity::Variables, variable(), "variables_by_value (name=? AND <expr>=?"),
        (Entity::Instances, related(Entity::Variables, variable()), "variables_by_value (name=? AND <expr>=?"),
        (Entity::Elements, element(), "elements_by_element (definition=? AND element=?"),
        (Entity::Instances, related(Entity::Elements, element()), "elements_by_element (definition=? AND element=?"),
        (Entity::Instances, Filter::HasTag("t".into()), "instance_tags USING PRIMARY KEY (partition=? AND tag=?"),
        (Entity::Instances, related(Entity::Incidents, hash), "incidents_by_message (message_hash=?"),
        (Entity::Instances, text(Field::ProcessId, "p"), "instances_by_definition (definition=?"),
        (Entity::Variables, text(Field::Name, "order"), "variables_by_value (name=?"),
        (Entity::Instances, running_of("p"), "instances_running (definition=?"),
    ];
    for (entity, filter, index) in expected {
        let sorts = if entity == Entity::Instances { sorts().to_vec() } else { vec![vec![]] };
        for sort in &sorts {
            for search in searches(entity, filter.clone(), sort) {
                let few = search.few.expect("they may be few");
                for sql in [&few.probe.text, &few.page.text, &search.total.text] {
                    let plan = plan(&connection, sql);
                    let index = index.rsplit_once(" USING ").map_or(index, |(_, index)| index);
                    assert!(plan.iter().any(|step| step.contains(index)), "{index}: {sql}\n{plan:#?}");
                    assert!(!plan.iter().any(|step| step.starts_with("SCAN o0")), "{sql}\n{plan:#?}");
                }
            }
        }
    }
}

/// All of a short value is in the index: ten thousand are counted without a look at the variables themselves.
#[test]
fn short_values_are_found_in_the_index_alone() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let long = "x".repeat(40);
    for (value, covered) in [("\"A-17\"", true), (long.as_str(), false)] {
        let variable = Filter::All(vec![text(Field::Name, "order"), text(Field::Value, value)]);
        let related = Filter::Related(Entity::Variables, Box::new(variable));
        for search in searches(Entity::Instances, related, &[]) {
            let few = search.few.expect("they may be few");
            for sql in [&few.probe.text, &search.total.text] {
                let plan = plan(&connection, sql);
                let is_covered = plan.iter().any(|step| step.contains("USING COVERING INDEX variables_by_value"));
                assert_eq!(is_covered, covered, "{sql}\n{plan:#?}");
            }
        }
    }
}

/// Those that run are found in the order of their keys, however many have ended.
#[test]
fn what_runs_is_found_by_having_no_end() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let filters = [text(Field::InstanceState, "ACTIVE"), running_of("p")];
    for search in filters.into_iter().flat_map(|filter| searches(Entity::Instances, filter, &[])) {
        let plan = plan(&connection, &search.page.text);
        assert!(plan[0].starts_with("SEARCH o0 USING INDEX instances_by_end (ended=?"), "{}\n{plan:#?}", search.page.text);
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{}\n{plan:#?}", search.page.text);
    }
}

/// Where many match, they come in the order asked for, and nothing is sorted: the first fifty are soon together.
#[test]
fn many_rows_are_gone_through_in_order() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let related = |entity, filter| Filter::Related(entity, Box::new(filter));
    let filters = [
        related(Entity::Variables, variable()),
        related(Entity::Elements, element()),
        Filter::HasTag("t".into()),
        text(Field::ProcessId, "p"),
        since(Field::Ended),
        since(Field::Started),
        text(Field::InstanceState, "COMPLETED"),
    ];
    for filter in filters {
        let [by_key, _, _, first_end, last_end] = sorts();
        for (sort, index) in [(by_key, "PRIMARY KEY"), (first_end, "_by_end"), (last_end, "_by_end")] {
            for search in searches(Entity::Instances, filter.clone(), &sort) {
                let plan = plan(&connection, &search.page.text);
                let own = plan.iter().filter(|step| step.contains(" o0"));
                let mut in_order = own.map(|step| step == "SCAN o0" || step.contains(index));
                let in_order = in_order.next() == Some(true) && in_order.all(|one| one);
                assert!(in_order, "{sort:?} {}\n{plan:#?}", search.page.text);
                let sorted = plan.iter().any(|step| step.contains("TEMP B-TREE") && !step.contains("LAST TERM"));
                assert!(!sorted, "{sort:?} {}\n{plan:#?}", search.page.text);
                // It would be made of all rows there are. (Of definitions there are few.)
                let filtered = plan.iter().any(|step| step.contains("BLOOM FILTER") && !step.contains(" ON d0 "));
                assert!(!filtered, "{sort:?} {}\n{plan:#?}", search.page.text);
            }
        }
    }
}

/// By their end those that have one are found behind all that run.
#[test]
fn what_runs_is_not_gone_through_for_what_has_ended() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    for sort in &sorts()[3..] {
        let [first, _] = searches(Entity::Instances, text(Field::InstanceState, "COMPLETED"), sort);
        let plan = plan(&connection, &first.page.text);
        assert_eq!(plan[0], "SEARCH o0 USING INDEX instances_by_end (ended>?)", "{}", first.page.text);
    }
}

const DISORDER: Disorder = Disorder { partition: 1, back: 40 };

/// No index has when they began: they are gone through in the order of their keys, by the index of those asked for, and little is sorted.
#[test]
fn instances_by_start_are_found_by_their_keys() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let related = |entity, filter| Filter::Related(entity, Box::new(filter));
    let state = |word| text(Field::InstanceState, word);
    let expected = [
        (Filter::All(Vec::new()), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (state("COMPLETED"), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (text(Field::ProcessId, "p"), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (related(Entity::Variables, variable()), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (state("ACTIVE"), "INDEX instances_by_end (ended=? AND rowid>? AND rowid<?)"),
        (running_of("p"), "INDEX instances_by_end (ended=? AND rowid>? AND rowid<?)"),
        (state("TERMINATED"), "INDEX instances_terminated (key>? AND key<?)"),
        (state("SUSPENDED"), "INDEX instances_suspended (key>? AND key<?)"),
    ];
    for (filter, index) in expected {
        for sort in &sorts()[1..3] {
            for query in queries(Entity::Instances, filter.clone(), sort) {
                assert!(sql::is_near(&query));
                let page = sql::page_near(&query, Dialect::Sqlite, DISORDER);
                let plan = plan(&connection, &page.text);
                assert!(plan.contains(&format!("SEARCH instances USING {index}")), "{index}: {}\n{plan:#?}", page.text);
                assert!(!plan.iter().any(|step| step.starts_with("SCAN instances")), "{}\n{plan:#?}", page.text);
                let nearest = plan.iter().skip_while(|step| *step != "MATERIALIZE nearest");
                let mut nearest = nearest.take_while(|step| *step != "SCAN nearest");
                assert!(!nearest.any(|step| step.contains("TEMP B-TREE")), "{}\n{plan:#?}", page.text);
            }
        }
    }
    // Few have these, and are found by them.
    for field in [Field::BusinessId, Field::ParentInstanceKey] {
        let few = Filter::All(vec![Filter::Is(field, Op::Eq(Scalar::Int(5))), since(Field::Started)]);
        for query in queries(Entity::Instances, few, &sorts()[1]) {
            assert!(!sql::is_near(&query) && !sql::asks_when_begun(&query));
        }
    }
}

/// What began in a span of time lies between two keys, whatever else is asked for; so it is counted there.
#[test]
fn a_span_of_starts_is_a_span_of_keys() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let both = |filter| Filter::All(vec![filter, since(Field::Started)]);
    let by_key = "SEARCH o0 USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
    let expected = [
        (since(Field::Started), by_key, by_key),
        (both(text(Field::InstanceState, "COMPLETED")), by_key, by_key),
        (
            both(text(Field::InstanceState, "ACTIVE")),
            "SEARCH o0 USING INDEX instances_by_end (ended=? AND rowid>? AND rowid<?)",
            "SEARCH o0 USING INDEX instances_by_end (ended=? AND rowid>? AND rowid<?)",
        ),
        (
            both(text(Field::ProcessId, "p")),
            by_key,
            "SEARCH o1000 USING COVERING INDEX instances_by_definition (definition=? AND rowid>? AND rowid<?)",
        ),
    ];
    for (filter, page, total) in expected {
        for query in queries(Entity::Instances, filter, &[]) {
            assert!(sql::asks_when_begun(&query));
            let key = PartitionId(1).first_key() as i64;
            let search = statements(&sql::between_keys(&query, key, key + 1_000), Dialect::Sqlite);
            for (sql, way) in [(&search.page.text, page), (&search.total.text, total)] {
                let plan = plan(&connection, sql);
                assert!(plan.iter().any(|step| step == way), "{way}: {sql}\n{plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN o0")), "{sql}\n{plan:#?}");
            }
        }
    }
    // In another order they begin with its index, or with those keys where these are few.
    let [first, _] = queries(Entity::Instances, since(Field::Started), &sorts()[3]);
    let few = statements(&sql::between_keys(&first, 5, 7), Dialect::Sqlite).few.expect("they may be few");
    let plan = plan(&connection, &few.probe.text);
    assert!(plan.iter().any(|step| step.contains("o1000 USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")), "{plan:#?}");
}

/// Jobs that have not completed are found by their state, in the order of their keys, however many have.
#[test]
fn jobs_are_found_by_their_state() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    for state in ["CREATED", "FAILED", "CANCELED"] {
        for search in searches(Entity::Jobs, text(Field::JobState, state), &[]) {
            let plan = plan(&connection, &search.page.text);
            assert!(plan[0].starts_with("SEARCH o0 USING INDEX jobs_by_state (state=?"), "{}\n{plan:#?}", search.page.text);
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{}\n{plan:#?}", search.page.text);
        }
    }
}

/// Of those that have been at an element, few are alive: these are counted by the index that has them alone, and no row of theirs is read.
#[test]
fn those_alive_at_an_element_are_counted_in_their_index() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    for part in [Field::ElementId, Field::ProcessId] {
        let filter = Filter::All(vec![text(part, "pay"), text(Field::ElementState, "ACTIVE")]);
        let [first, _] = searches(Entity::Elements, filter, &[]);
        let plan = plan(&connection, &first.total.text);
        let counted = ["SCAN o0 USING COVERING INDEX elements_live", "SEARCH o1000 USING COVERING INDEX elements_by_element"];
        for way in counted {
            assert!(plan.iter().any(|step| step.starts_with(way)), "{}\n{plan:#?}", first.total.text);
        }
    }
}

/// What belongs to one instance is found by it, whatever else is asked for: of one element or name there may be a million.
#[test]
fn what_belongs_to_one_instance_is_not_looked_for_elsewhere() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let of = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(PartitionId(1).first_key() as i64)));
    for (entity, part) in
        [(Entity::Elements, element()), (Entity::Variables, text(Field::Name, "x")), (Entity::Jobs, text(Field::JobType, "pay"))]
    {
        for search in searches(entity, Filter::All(vec![part, of.clone()]), &[]) {
            assert_eq!(search.few, None);
            for sql in [&search.page.text, &search.total.text] {
                let plan = plan(&connection, sql);
                assert!(plan.iter().any(|step| step.contains("_by_instance (partition=? AND instance=?")), "{sql}\n{plan:#?}");
            }
        }
    }
}

/// What a related row has found is not looked for again.
#[test]
fn the_lead_is_not_asked_for_twice() {
    let related = |entity, filter| Filter::Related(entity, Box::new(filter));
    let also = Filter::All(vec![text(Field::Name, "order"), text(Field::Value, "1"), since(Field::ScopeKey)]);
    let expected = [
        (related(Entity::Variables, variable()), 0),
        (related(Entity::Elements, element()), 0),
        (Filter::HasTag("t".into()), 0),
        (Filter::All(vec![Filter::HasTag("t".into()), Filter::HasTag("u".into())]), 1),
        (related(Entity::Variables, also), 1),
    ];
    for (filter, again) in expected {
        let [first, _] = searches(Entity::Instances, filter, &[]);
        assert_eq!(first.total.text.matches("EXISTS").count(), again, "{}", first.total.text);
        assert_eq!(first.few.unwrap().page.text.matches("EXISTS").count(), again);
        assert!(first.page.text.contains("EXISTS"));
    }
}
