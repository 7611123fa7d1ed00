//! What is written comes back, and what was never written does not do harm.

use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, Event, InstanceKey, Outcome, VariableKey};
use proptest::prelude::*;

use super::some::{answer, document, evaluated_decision, event, request, texts, transition, turn};
use super::*;
use crate::log::*;

fn nothing_kept(_: VariableKey) -> Option<Arc<str>> {
    None
}

proptest! {
    #[test]
    fn events_come_back(events in prop::collection::vec(event(), 0..12)) {
        prop_assert_eq!(decode_events(&encode_events(&events), nothing_kept).unwrap(), events);
    }

    #[test]
    fn requests_come_back(request in request()) {
        prop_assert_eq!(decode_request(&encode_request(&request)).unwrap(), request);
    }

    #[test]
    fn answers_come_back(answer in answer()) {
        prop_assert_eq!(decode_answer(&encode_answer(&answer)).unwrap(), answer);
    }

    #[test]
    fn details_come_back(decision in evaluated_decision()) {
        let details = decode_details(&encode_details(&decision)).unwrap();
        prop_assert_eq!((details.inputs, details.rules), (decision.inputs, decision.rules));
    }

    #[test]
    fn transitions_come_back(transition in transition()) {
        prop_assert_eq!(decode_transition(&encode_transition(&transition)).unwrap(), transition);
    }

    #[test]
    fn listeners_come_back(listeners in prop::collection::vec(super::some::global_listener(), 0..3)) {
        prop_assert_eq!(decode_listeners(&encode_listeners(&listeners)).unwrap(), listeners);
    }

    #[test]
    fn turns_flows_and_documents_come_back(turn in turn(), flows in texts(), document in document()) {
        prop_assert_eq!(decode_turn(&encode_turn(&turn)).unwrap(), turn);
        prop_assert_eq!(decode_flows(&encode_flows(&flows)).unwrap(), flows);
        prop_assert_eq!(decode_document(&encode_document(&document)).unwrap(), document);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0..=VERSION) {
        if let (true, Some(first)) = (0 < version, bytes.first_mut()) {
            *first = version;
        }
        read_all(&bytes);
    }

    /// A damaged byte gives an error or another value, never a panic; a missing end always gives an error.
    #[test]
    fn damage_does_not_panic(written in written(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (mut bytes, read) = written;
        prop_assume!(!bytes.is_empty());
        prop_assert!(read(&bytes));
        let at = at.index(bytes.len());
        prop_assert!(at == 0 || !read(&bytes[..at]));
        bytes[at] = byte;
        read_all(&bytes);
    }
}

/// Bytes of some kind with what tells whether they can be read as that.
type Written = (Vec<u8>, fn(&[u8]) -> bool);

fn written() -> impl Strategy<Value = Written> {
    prop_oneof![
        request().prop_map(|one| (encode_request(&one), (|bytes| decode_request(bytes).is_ok()) as fn(&[u8]) -> bool)),
        answer().prop_map(|one| (encode_answer(&one), (|bytes| decode_answer(bytes).is_ok()) as fn(&[u8]) -> bool)),
        document().prop_map(|one| (encode_document(&one), (|bytes| decode_document(bytes).is_ok()) as fn(&[u8]) -> bool)),
        turn().prop_map(|one| (encode_turn(&one), (|bytes| decode_turn(bytes).is_ok()) as fn(&[u8]) -> bool)),
        evaluated_decision().prop_map(|one| (encode_details(&one), (|bytes| decode_details(bytes).is_ok()) as fn(&[u8]) -> bool)),
        prop::collection::vec(event(), 0..12).prop_map(|events| {
            (encode_events(&events), (|bytes| decode_events(bytes, nothing_kept).is_ok()) as fn(&[u8]) -> bool)
        }),
    ]
}

fn read_all(bytes: &[u8]) {
    let _ = decode_events(bytes, nothing_kept);
    let _ = decode_tokens(bytes);
    let _ = decode_request(bytes);
    let _ = decode_answer(bytes);
    let _ = decode_details(bytes);
    let _ = decode_turn(bytes);
    let _ = decode_flows(bytes);
    let _ = decode_listeners(bytes);
    let _ = decode_document(bytes);
    let _ = decode_policy(bytes);
    let _ = decode_starts(bytes);
}

#[test]
fn nothing_is_nothing() {
    assert!(encode_events(&[]).is_empty());
    assert!(decode_events(&[], nothing_kept).unwrap().is_empty());
    assert!(decode_tokens(&[]).unwrap().is_empty());
    assert!(decode_request(&[]).is_err());
    assert!(decode_turn(&[]).is_err());
    assert!(decode_flows(&[]).is_err(), "no flows are written as such");
}

#[test]
fn a_later_version_is_refused() {
    let mut bytes = encode_answer(&Answer::Done);
    bytes[0] = VERSION + 1;
    assert!(matches!(decode_answer(&bytes), Err(Error::Corrupt { .. })));
}

#[test]
fn a_list_longer_than_the_bytes_is_refused_at_once() {
    let mut bytes = vec![VERSION];
    bytes.extend([0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert!(decode_events(&bytes, nothing_kept).is_err());
}

/// The bytes of this version, so that nobody changes them by accident.
#[test]
fn version_two_is_fixed() {
    let events = [
        Event::Started { instance: InstanceKey(300), definition: DefinitionKey(2), parent: None },
        Event::VariableCreated { key: VariableKey(5), scope: ElementKey(300), name: "a".into(), value: "-1".into() },
        Event::Ended { outcome: Outcome::Terminated },
    ];
    let bytes = [2, 3, 4, 0, 0xac, 2, 2, 9, 9, 5, 0xac, 2, 1, b'a', 2, b'-', b'1', 2, 15, 1];
    assert_eq!(encode_events(&events), bytes);
}

/// What a later server adds to the end of a record is passed over, in the middle of others too.
#[test]
fn fields_nobody_knows_are_passed_over() {
    let answer = Answer::Rejected(Rejection { code: Code::NotFound, reason: "no".into() });
    // Tag, then the rejection with its length: code, text.
    assert_eq!(encode_answer(&answer), [2, 6, 6, 4, 1, 2, b'n', b'o']);
    let longer = [2, 10, 6, 6, 1, 2, b'n', b'o', 7, 7, 8, 8];
    assert_eq!(decode_answer(&longer).unwrap(), answer);
    let left = Event::Left { key: ElementKey(3) };
    assert_eq!(encode_events(&[left.clone(), left.clone()]), [2, 2, 2, 4, 3, 2, 4, 3]);
    let longer = [2, 2, 5, 4, 3, 9, 9, 9, 2, 4, 3];
    assert_eq!(decode_events(&longer, nothing_kept).unwrap(), [left.clone(), left]);
    // After the outermost record there is nothing.
    assert!(decode_answer(&[2, 6, 6, 4, 1, 2, b'n', b'o', 0]).is_err());
}

/// A record of more than 127 bytes has a length of more than one.
#[test]
fn long_records_come_back() {
    for bytes in [0, 1, 100, 126, 127, 128, 129, 16_383, 16_384, 100_000] {
        let rejected = Answer::Rejected(Rejection { code: Code::Expired, reason: "x".repeat(bytes) });
        assert_eq!(decode_answer(&encode_answer(&rejected)).unwrap(), rejected, "{bytes}");
    }
}

#[test]
fn large_values_are_in_their_rows_alone() {
    let large: Arc<str> = format!("\"{}\"", "x".repeat(EVENT_VALUE_MAX)).into();
    let small: Arc<str> = "x".repeat(EVENT_VALUE_MAX).into();
    let created = |key, value: &Arc<str>| Event::VariableCreated {
        key: VariableKey(key),
        scope: ElementKey(9),
        name: "a".into(),
        value: value.clone(),
    };
    let updated = |key, value: &Arc<str>| Event::VariableUpdated {
        key: VariableKey(key),
        scope: ElementKey(9),
        name: "a".into(),
        value: value.clone(),
    };
    let events = [created(1, &large), updated(2, &large), created(3, &small), updated(4, &small)];
    let bytes = encode_events(&events);
    assert!(bytes.len() < 2 * EVENT_VALUE_MAX + 100, "the small ones only");
    let kept = |key: VariableKey| (key.0 < 3).then(|| large.clone());
    assert_eq!(decode_events(&bytes, kept).unwrap(), events);
    assert!(matches!(decode_events(&bytes, nothing_kept), Err(Error::Corrupt { .. })), "the row is gone");
}
