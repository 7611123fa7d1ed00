use store::query::{Entity, Field, Op, Scalar};

use super::*;
use crate::error::Reason;
use crate::rest::operation::{self, Input};
use crate::rest::search::{By, Filterable, Value, cursor};
use crate::rest::{incidents, process_definitions, process_instances};

fn query(table: &Table, body: &str) -> Result<Query, Failure> {
    read(body, table, Tenants::These(vec![]), &Config::default()).map(|asked| asked.query)
}

fn instances(body: &str) -> Result<Query, Failure> {
    query(&process_instances::TABLE, body)
}

fn conditions(query: Query) -> Vec<Filter> {
    match query.filter {
        Filter::All(conditions) => conditions,
        other => panic!("{other:?}"),
    }
}

fn tables() -> Vec<&'static Table> {
    let mut tables: Vec<&'static Table> = Vec::new();
    for operation in operation::all() {
        if let Input::Search(table) = operation.input
            && tables.iter().all(|known| known.name != table.name)
        {
            tables.push(table);
        }
    }
    tables
}

/// A value as a request may give it.
fn sample(value: Value) -> String {
    match value {
        Value::Text => "\"x\"".to_owned(),
        Value::Key => "\"5\"".to_owned(),
        Value::Int32 => "5".to_owned(),
        Value::Boolean => "true".to_owned(),
        Value::Time => "\"2026-01-01T00:00:00Z\"".to_owned(),
        Value::Word(words) => format!("\"{}\"", words[0].to_lowercase()),
    }
}

fn is_simple(filterable: &Filterable) -> bool {
    matches!(filterable.by, By::Field(_) | By::Related(..) | By::Fixed(_) | By::Candidate(_))
}

#[test]
fn every_search_is_there() {
    let names: Vec<&str> = tables().iter().map(|table| table.name).collect();
    let of_decisions = ["DecisionDefinition", "DecisionRequirements", "DecisionInstance"];
    let others = ["ProcessDefinition", "ProcessInstance", "Incident", "ElementInstance", "Variable", "Job"];
    let of_messages = ["MessageSubscription", "CorrelatedMessageSubscription"];
    let of_people = ["UserTask", "UserTaskVariable"];
    let ours = ["Execution", "BatchOperation", "BatchOperationItem", "AuditLog", "UserTaskAuditLog", "DeadLetter"];
    assert_eq!(names, [&others[..1], &of_decisions, &others[1..], &of_messages, &of_people, &ours[..]].concat());
}

#[test]
fn tables_ask_only_what_the_store_can_answer() {
    for table in tables() {
        for filterable in table.filters {
            match filterable.by {
                By::Field(field) => assert!(table.entity.fields().contains(&field), "{} {}", table.name, filterable.name),
                By::Related(entity, field) => assert!(entity.fields().contains(&field), "{} {}", table.name, filterable.name),
                _ => {}
            }
        }
        for sortable in table.sorts {
            let known = sortable.field.is_none_or(|field| table.entity.fields().contains(&field));
            assert!(known, "{} {}", table.name, sortable.name);
        }
    }
}

#[test]
fn every_filter_takes_a_value_and_each_of_its_operators() {
    for table in tables() {
        for filterable in table.filters.iter().filter(|filterable| is_simple(filterable)) {
            let value = sample(filterable.value);
            let mut bodies = vec![format!("{{\"filter\":{{\"{}\":{value}}}}}", filterable.name)];
            for operator in filterable.operators.names() {
                let operand = match *operator {
                    "$exists" => "false".to_owned(),
                    "$like" => "\"a*\"".to_owned(),
                    "$in" | "$notIn" => format!("[{value},{value}]"),
                    _ => value.clone(),
                };
                bodies.push(format!("{{\"filter\":{{\"{}\":{{\"{operator}\":{operand}}}}}}}", filterable.name));
            }
            for body in bodies {
                assert_eq!(conditions(query(table, &body).unwrap()).len(), 1, "{body}");
            }
        }
    }
}

#[test]
fn every_filter_refuses_what_is_not_its_own() {
    for table in tables() {
        for filterable in table.filters {
            let name = filterable.name;
            let wrong = if filterable.value == Value::Boolean { "\"true\"" } else { "true" };
            for body in
                [format!("{{\"filter\":{{\"{name}\":{wrong}}}}}"), format!("{{\"filter\":{{\"{name}\":{{\"$near\":1}}}}}}")]
            {
                let failure = query(table, &body).unwrap_err();
                assert_eq!(failure.reason, Reason::Unreadable, "{body}");
                assert!(failure.detail.contains(&format!("filter.{name}")), "{body}: {}", failure.detail);
            }
        }
    }
}

#[test]
fn every_sort_field_sorts_both_ways() {
    for table in tables() {
        for sortable in table.sorts {
            for (order, expected) in [("", Order::Ascending), (",\"order\":\"desc\"", Order::Descending)] {
                let body = format!("{{\"sort\":[{{\"field\":\"{}\"{order}}}]}}", sortable.name);
                let sort = query(table, &body).unwrap().sort;
                let wanted = sortable.field.map(|field| Sort { field, order: expected });
                assert_eq!(sort, wanted.into_iter().collect::<Vec<_>>(), "{body}");
            }
        }
    }
}

#[test]
fn nothing_asked_is_everything() {
    for body in ["", " ", "{}", r#"{"filter":null,"page":null}"#, r#"{"filter":{},"sort":[]}"#] {
        let query = instances(body).unwrap();
        assert_eq!(query.filter, Filter::All(Vec::new()), "{body}");
        assert_eq!((query.sort, query.page), (Vec::new(), Page::From { from: 0, limit: 100 }), "{body}");
    }
}

#[test]
fn an_absent_value_asks_nothing() {
    for body in [
        r#"{"filter":{"state":null}}"#,
        r#"{"filter":{"state":{}}}"#,
        r#"{"filter":{"state":{"$eq":null}}}"#,
        r#"{"filter":{"state":{"$in":[]}}}"#,
        r#"{"filter":{"$or":[]}}"#,
        r#"{"filter":{"tags":[],"variables":[]}}"#,
    ] {
        assert_eq!(conditions(instances(body).unwrap()), [], "{body}");
    }
}

#[test]
fn several_operators_must_all_hold() {
    let found = conditions(instances(r#"{"filter":{"processDefinitionVersion":{"$gte":2,"$lt":5}}}"#).unwrap());
    let is = |op| Filter::Is(Field::Version, op);
    assert_eq!(found, [is(Op::Gte(Scalar::Int(2))), is(Op::Lt(Scalar::Int(5)))]);
}

#[test]
fn what_is_asked_of_an_element_is_asked_of_one_element() {
    let body = r#"{"filter":{"elementId":"work","hasElementInstanceIncident":true,"errorMessage":"oops"}}"#;
    let found = conditions(instances(body).unwrap());
    assert_eq!(found.len(), 2);
    let Filter::Related(Entity::Elements, element) = &found[0] else { panic!("{found:?}") };
    assert!(matches!(&**element, Filter::All(both) if both.len() == 2));
    assert!(matches!(&found[1], Filter::Related(Entity::Incidents, _)));
}

#[test]
fn a_variable_is_sought_by_name_and_value() {
    let found = conditions(
        instances(r#"{"filter":{"variables":[{"name":"city","value":"\"Oslo\""},{"name":"x","value":{"$exists":false}}]}}"#)
            .unwrap(),
    );
    assert!(matches!(&found[0], Filter::Related(Entity::Variables, _)));
    assert!(matches!(&found[1], Filter::Not(_)));
    for body in [r#"{"filter":{"variables":[{"name":"city"}]}}"#, r#"{"filter":{"variables":[{"value":"1"}]}}"#] {
        assert_eq!(instances(body).unwrap_err().reason, Reason::InvalidArgument, "{body}");
    }
}

#[test]
fn alternatives_have_one_level() {
    let found = conditions(instances(r#"{"filter":{"$or":[{"state":"ACTIVE"},{"hasIncident":true}]}}"#).unwrap());
    assert!(matches!(&found[..], [Filter::Any(any)] if any.len() == 2));
    let failure = instances(r#"{"filter":{"$or":[{"$or":[]}]}}"#).unwrap_err();
    assert!(failure.detail.contains("filter.$or.0.$or"), "{}", failure.detail);
}

#[test]
fn what_cannot_be_read_is_named() {
    for (body, part) in [
        (r#"{"colour":1}"#, "[colour]"),
        (r#"{"filter":[]}"#, "[filter]"),
        (r#"{"filter":{"colour":"blue"}}"#, "[filter.colour]"),
        (r#"{"filter":{"processDefinitionId":{"$near":"x"}}}"#, "[filter.processDefinitionId.$near]"),
        (r#"{"filter":{"processInstanceKey":5}}"#, "[filter.processInstanceKey]"),
        (r#"{"filter":{"state":"ASLEEP"}}"#, "'state'"),
        (r#"{"sort":{}}"#, "[sort]"),
        (r#"{"sort":null}"#, "[sort]"),
        (r#"{"sort":[null]}"#, "[sort.0]"),
        (r#"{"sort":[{"field":"colour"}]}"#, "'field'"),
        (r#"{"sort":[{"field":"state","order":"UP"}]}"#, "'order'"),
        (r#"{"page":{}}"#, "[page]"),
        (r#"{"page":{"limit":"5"}}"#, "[page.limit]"),
        (r#"{"page":{"from":1,"after":"x"}}"#, "[page]"),
        (r#"{"page":{"after":"x","before":"x"}}"#, "[page]"),
        (r#"{"page":{"number":1}}"#, "[page.number]"),
        ("[]", "[]"),
        ("{", "byte 1"),
    ] {
        let failure = instances(body).unwrap_err();
        assert_eq!(failure.reason, Reason::Unreadable, "{body}");
        assert!(failure.detail.contains(part), "{body}: {}", failure.detail);
    }
}

#[test]
fn what_can_be_read_is_checked() {
    for body in [
        r#"{"filter":{"processInstanceKey":"abc"}}"#,
        r#"{"filter":{"startDate":{"$lt":"yesterday"}}}"#,
        r#"{"sort":[{"order":"ASC"}]}"#,
        r#"{"filter":{"tags":["1 bad"]}}"#,
        r#"{"filter":{"tags":["good",""]}}"#,
        r#"{"page":{"limit":-1}}"#,
        r#"{"page":{"from":-1}}"#,
        r#"{"page":{"after":"nonsense"}}"#,
    ] {
        assert_eq!(instances(body).unwrap_err().reason, Reason::InvalidArgument, "{body}");
    }
}

#[test]
fn filters_are_bounded() {
    let many = |count: usize| vec!["\"1\""; count].join(",");
    let body = |count| format!("{{\"filter\":{{\"processInstanceKey\":{{\"$in\":[{}]}}}}}}", many(count));
    assert!(instances(&body(10_000)).is_ok());
    assert_eq!(instances(&body(10_001)).unwrap_err().reason, Reason::InvalidArgument);
    let alternatives = vec![r#"{"state":"ACTIVE"}"#; 1_001].join(",");
    let failure = instances(&format!("{{\"filter\":{{\"$or\":[{alternatives}]}}}}")).unwrap_err();
    assert_eq!(failure.reason, Reason::InvalidArgument);
    let sorts = vec![r#"{"field":"state"}"#; 21].join(",");
    assert_eq!(instances(&format!("{{\"sort\":[{sorts}]}}")).unwrap_err().reason, Reason::InvalidArgument);
}

#[test]
fn pages_are_turned_by_position_or_by_cursor() {
    assert_eq!(instances(r#"{"page":{"from":3,"limit":1}}"#).unwrap().page, Page::From { from: 3, limit: 1 });
    assert_eq!(instances(r#"{"page":{"limit":10001}}"#).unwrap().page, Page::From { from: 0, limit: 10_000 });
    assert_eq!(instances(r#"{"page":{"limit":0}}"#).unwrap().page, Page::From { from: 0, limit: 0 });
    let sort = [Sort { field: Field::Created, order: Order::Descending }];
    let place = store::query::Cursor(vec![Some(Scalar::Int(1)), Some(Scalar::Int(2))]);
    let text = cursor::encode(&place, Entity::Incidents, &sort);
    let body = format!("{{\"page\":{{\"after\":\"{text}\"}},\"sort\":[{{\"field\":\"creationTime\",\"order\":\"DESC\"}}]}}");
    assert_eq!(query(&incidents::TABLE, &body).unwrap().page, Page::After { cursor: place, limit: 100 });
    let unsorted = format!("{{\"page\":{{\"before\":\"{text}\"}}}}");
    assert_eq!(query(&incidents::TABLE, &unsorted).unwrap_err().reason, Reason::InvalidArgument);
}

#[test]
fn latest_versions_sort_and_page_less() {
    let definitions = |body: &str| query(&process_definitions::TABLE, body);
    assert!(
        definitions(r#"{"filter":{"isLatestVersion":true},"sort":[{"field":"processDefinitionId"}]}"#).unwrap().latest_version
    );
    assert!(!definitions(r#"{"filter":{"isLatestVersion":false},"sort":[{"field":"name"}]}"#).unwrap().latest_version);
    for body in [
        r#"{"filter":{"isLatestVersion":true},"sort":[{"field":"name"}]}"#,
        r#"{"filter":{"isLatestVersion":true},"page":{"from":1}}"#,
    ] {
        assert_eq!(definitions(body).unwrap_err().reason, Reason::InvalidArgument, "{body}");
    }
}
