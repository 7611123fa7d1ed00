use proptest::prelude::*;

use super::*;

fn compacted(text: &str) -> Result<String, Malformed> {
    let mut reader = Reader::new(text);
    let compact = reader.compact()?.into_owned();
    if reader.is_at_end() { Ok(compact) } else { Err(reader.malformed("more than one value")) }
}

#[test]
fn what_is_no_json_is_refused() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "+1",
        "nul",
        "truee",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\n\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "1 2",
        "\u{feff}1",
    ] {
        assert!(compacted(text).is_err(), "{text:?}");
    }
}

#[test]
fn white_space_and_needless_escapes_go_and_nothing_else() {
    for (text, compact) in [
        (" { \"a b\" : [ 1 , \" x \" , { } , [ ] ] } ", r#"{"a b":[1," x ",{},[]]}"#),
        ("12345678901234567890123.50e+07", "12345678901234567890123.50e+07"),
        (r#"{"\u00e9":"\ud83d\ude00\/\"\n\u0000"}"#, r#"{"é":"😀/\"\n\u0000"}"#),
    ] {
        assert_eq!(compacted(text).unwrap(), compact);
    }
    assert!(matches!(Reader::new("[1,2]").compact(), Ok(Cow::Borrowed(_))));
}

#[test]
fn nesting_has_an_end() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(compacted(&nested(DEPTH_MAX)).is_ok());
    assert!(compacted(&nested(DEPTH_MAX + 1)).is_err());
    assert!(compacted(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn texts_are_what_they_stand_for() {
    for text in [r#""plain""#, r#""\"\\\/\b\f\n\r\t""#, r#""\u00e9\ud83d\ude00!""#, r#""""#] {
        let expected: String = serde_json::from_str(text).unwrap();
        assert_eq!(Reader::new(text).text().unwrap(), expected);
    }
    assert!(Reader::new(r#""\u0000""#).text().is_err());
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".*".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::hash_map(".*", inner, 0..5).prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_compact_value_means_the_same(value in json()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let compact = compacted(&pretty).unwrap();
        prop_assert_eq!(&compact, &serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn whatever_comes_is_taken_or_refused_as_serde_does(text in r#"[\[\]{}",:0-9.eE+\-a-z\\ \n]{0,24}"#) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        // They refuse numbers beyond what a double holds; we keep the text of a number.
        if theirs.as_ref().err().is_none_or(|error| !error.to_string().contains("number out of range")) {
            prop_assert_eq!(compacted(&text).is_ok(), theirs.is_ok());
        }
    }

    #[test]
    fn nothing_makes_it_panic(text in ".*") {
        let _ = compacted(&text);
        let _ = Reader::new(&text).text();
    }
}
