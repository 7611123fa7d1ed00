//! What `caudal check` reads of a store, and what it finds there.

use serde_json::{Value, json};

use crate::place::{Place, execute};
use crate::server::{Server, caudal, example};

/// A store with rows of many kinds.
fn filled(place: &Place) -> Server {
    let server = Server::start(&place.url());
    let folder = tempfile::tempdir().unwrap();
    let form = folder.path().join("ask.form");
    std::fs::write(&form, r#"{"id": "ask", "components": []}"#).unwrap();
    let files =
        ["order.bpmn", "shipping.dmn", "loan.json", "disbursement.json", "purchase.bpmn", "reserve-item.bpmn"].map(example);
    let mut words: Vec<&str> = vec!["deploy", form.to_str().unwrap()];
    words.extend(files.iter().map(String::as_str));
    server.caudal(&words).done();
    for _ in 0..3 {
        server.caudal(&["start", "order", "--variables", r#"{"amount": 5, "odd": ["ü\n", {"deep": [null, 1.5e30]}]}"#]).done();
    }
    server.caudal(&["work", "charge-card", "--complete-with", r#"{"paid": true}"#, "--count", "1"]).done();
    server.caudal(&["start", "purchase", "--variables", r#"{"orderId": "o-1", "items": ["a", "b"]}"#]).done();
    server.caudal(&["publish", "payment", "--key", "o-2", "--ttl", "PT1H", "--variables", r#"{"by": "card"}"#]).done();
    server.caudal(&["signal", "nobody-waits"]).done();
    let policy = json!({ "scope": "ACTION", "action": "mail", "concurrency": { "limit": 2 } });
    ureq::put(format!("{}/v1/policies/few-mails", server.url())).send_json(policy).unwrap();
    server
}

fn check(place: &Place) -> (Option<i32>, Value, String) {
    let checked = caudal(&["check", "--json", "--store", &place.url()]);
    (checked.code, serde_json::from_str(&checked.out).unwrap_or_default(), checked.err)
}

fn change(place: &Place, sql: &str) {
    match place {
        Place::Folder(folder) => {
            let connection = rusqlite::Connection::open(folder.path().join("data/caudal.db")).unwrap();
            connection.execute_batch(sql).unwrap();
        }
        Place::Database { .. } => execute(&place.url(), &sql.replace("x'fa01'", "'\\xfa01'")),
    }
}

#[test]
fn a_whole_store_is_sound_and_damaged_rows_are_named() {
    Place::all().iter().for_each(finds_what_is_damaged);
}

fn finds_what_is_damaged(place: &Place) {
    let mut server = filled(place);
    // A file has one user at a time; servers of a database go on.
    if !place.is_shared() {
        server.stop();
    }
    let (code, told, err) = check(place);
    assert!(code == Some(0) && told["faults"] == json!([]), "{told} {err}");
    for table in ["audit", "definitions", "forms", "instances", "jobs", "log", "messages", "policies", "timers", "variables"] {
        assert!(0 < told["rows"][table].as_u64().unwrap(), "{table}: {told}");
    }
    assert!(err.contains("Reading "), "{err}");
    server.stop();
    let plain = caudal(&["check", "--store", &place.url()]).done();
    assert!(plain.contains("forms: 1 read\n") && plain.contains("every row of every table was read"), "{plain}");

    change(
        place,
        "UPDATE log SET events = x'fa01' WHERE instance IS NOT NULL; UPDATE resources SET content = x'fa01'
        WHERE name IN ('order.bpmn', 'shipping.dmn', 'loan.json', 'ask.form'); UPDATE policies SET policy = x'fa01';
        UPDATE timers SET state = 'GONE'; UPDATE variables SET value = '{' WHERE name = 'amount'",
    );
    if !place.is_shared() {
        change(place, "UPDATE messages SET correlation_key = CAST(x'fa01' AS TEXT)");
    }
    let (code, told, err) = check(place);
    let faults: Vec<&str> = told["faults"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let names = |start: &str, rest: &str| {
        assert!(faults.iter().any(|fault| fault.starts_with(start) && fault.contains(rest)), "{start} … {rest}: {faults:#?}");
    };
    names("table log, ", "column events: ");
    names("table definitions, key ", "file order.bpmn: ");
    names("table definitions, key ", "file loan.json: ");
    names("table requirements, key ", "file shipping.dmn: ");
    names("table forms, key ", "file ask.form: ");
    names("table policies, reference 'few-mails', version 1, column policy: ", "");
    names("table timers, key ", "column state: ");
    names("table variables, key ", "column value: the text is not JSON");
    if !place.is_shared() {
        names("table messages, key ", "column correlation_key: the text is not UTF-8");
    }
    assert!(!faults.iter().any(|fault| fault.contains("purchase.bpmn")), "{faults:#?}");
    assert!(code == Some(1) && err.contains("faults in ") && err.contains("Restore a backup"), "{err}");
    assert!(!err.contains("postgres@") && !told.to_string().contains("postgres@"), "no password is told: {err}");
}

#[test]
fn what_cannot_be_checked_is_told() {
    let gone = caudal(&["check", "--store", "memory:"]);
    assert!(gone.code == Some(1) && gone.err.contains("nothing to check"), "{}", gone.err);
    let accepted = caudal(&["check", "--store", "postgres://db.example/x", "--accept"]);
    assert!(accepted.code == Some(1) && accepted.err.contains("for embedded stores"), "{}", accepted.err);
}
