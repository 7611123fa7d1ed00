//! `caudal feel` and `caudal decide` as they are typed.

use std::process::Command;

struct Answer {
    out: String,
    err: String,
    code: Option<i32>,
}

fn caudal(words: &[&str]) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_caudal")).args(words).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Answer { out, err, code: output.status.code() }
}

fn fixture(name: &str) -> String {
    format!("{}/../../spec/dmn/{name}.dmn", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn feel_prints_the_result_as_json() {
    let answer = caudal(&["feel", "{total: amount * 1.2, ok: amount > 5}", "--context", r#"{"amount": 10}"#]);
    assert_eq!((&*answer.out, &*answer.err, answer.code), ("{\"total\":12,\"ok\":true}\n", "", Some(0)));
}

#[test]
fn feel_warns_on_standard_error() {
    let answer = caudal(&["feel", "nobody + 1"]);
    assert_eq!((&*answer.out, answer.code), ("null\n", Some(0)));
    assert!(answer.err.starts_with("warning: "), "{}", answer.err);
}

#[test]
fn feel_points_at_what_it_cannot_read() {
    let answer = caudal(&["feel", "1 + (2 *"]);
    assert_eq!((&*answer.out, answer.code), ("", Some(1)));
    assert!(answer.err.ends_with("\n  1 + (2 *\n          ^\n"), "{}", answer.err);
}

#[test]
fn feel_tests_values() {
    let answer = caudal(&["feel", "[1..5], > limit", "--unary", "3", "--unary", "7", "--context", r#"{"limit": 9}"#]);
    assert_eq!((&*answer.out, answer.code), ("true\nfalse\n", Some(0)));
}

#[test]
fn decide_shows_how_a_result_came_about() {
    let file = fixture("valid/requirements");
    let words = ["decide", &file, "fee", "--variables", r#"{"amount": 10}"#];
    let answer = caudal(&words);
    let shown = "Base = 20\nFee = {\"cost\":5,\"kind\":\"small\"}\n  base is 20\n  rule 1 matches: cost 5, kind \"small\"\n";
    let result = "{\"cost\":5,\"kind\":\"small\"}\n";
    assert_eq!((answer.out, &*answer.err, answer.code), (format!("{shown}{result}"), "", Some(0)));
    let quiet = caudal(&[&words[..], &["--quiet"]].concat());
    assert_eq!((&*quiet.out, quiet.code), (result, Some(0)));
}

#[test]
fn decide_says_what_is_wrong() {
    let refused = caudal(&["decide", &fixture("refused/empty")]);
    assert_eq!((&*refused.out, refused.code), ("", Some(1)));
    assert!(refused.err.contains("refused/empty.dmn: line 2, column 1, element 'rules': the file has no decision"));
    let unknown = caudal(&["decide", &fixture("valid/failures"), "nobody"]);
    assert!(unknown.err.contains("there is no decision 'nobody'; there is: low, mid, high"), "{}", unknown.err);
    let failed = caudal(&["decide", &fixture("valid/failures"), "mid", "--variables", r#"{"n": 1}"#]);
    assert_eq!((&*failed.out, failed.code), ("Low = null\n", Some(1)));
    assert!(failed.err.contains("decision 'low' (Low): assertion failed"), "{}", failed.err);
}

#[test]
fn decide_warns_on_standard_error() {
    let answer = caudal(&["decide", &fixture("valid/requirements"), "base"]);
    assert_eq!((&*answer.out, answer.code), ("Base = null\nnull\n", Some(0)));
    assert!(answer.err.contains("warning: ") && answer.err.contains("'amount'"), "{}", answer.err);
}
