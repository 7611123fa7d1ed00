//! Whose trace a request belongs to, as the W3C's trace context has it.

use std::sync::Arc;

/// What others said of their trace is kept up to so many bytes: as much as the recommendation asks for.
const STATE_BYTES_MAX: usize = 512;
/// `00-`, the trace, `-`, the span, `-`, the flags.
const PARENT_BYTES: usize = 55;

/// The span that something was asked from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// A `traceparent` in its first version, in lower case.
    pub parent: Arc<str>,
    /// A `tracestate`: what those who trace have to tell each other.
    pub state: Option<Arc<str>>,
}

impl Trace {
    /// What does not follow the recommendation is as if it were not there.
    pub fn parse(parent: &str, state: Option<&str>) -> Option<Self> {
        let (head, rest) = parent.trim().split_at_checked(PARENT_BYTES)?;
        let mut parts = head.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_whole = is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2);
        // Later versions may say more behind a dash; the first says no more.
        let is_known = !version.eq_ignore_ascii_case("ff") && (rest.is_empty() || version != "00" && rest.starts_with('-'));
        let is_set = |text: &str| text.bytes().any(|byte| byte != b'0');
        if !is_whole || !is_known || !is_set(trace) || !is_set(span) {
            return None;
        }
        let is_plain = |text: &&str| {
            !text.is_empty() && text.len() <= STATE_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        };
        let parent = format!("00-{trace}-{span}-{flags}").to_ascii_lowercase().into();
        Some(Self { parent, state: state.map(str::trim).filter(is_plain).map(Into::into) })
    }

    pub fn trace_id(&self) -> &str {
        &self.parent[3..35]
    }

    pub fn span_id(&self) -> &str {
        &self.parent[36..52]
    }

    /// Whether its owner records it.
    pub fn is_sampled(&self) -> bool {
        u8::from_str_radix(&self.parent[53..55], 16).is_ok_and(|flags| flags & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_is_taken_apart() {
        let trace = Trace::parse(PARENT, Some("a=1, b=\"2\"")).unwrap();
        assert_eq!((&*trace.parent, trace.state.as_deref()), (PARENT, Some("a=1, b=\"2\"")));
        assert_eq!((trace.trace_id(), trace.span_id()), ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"));
        assert!(trace.is_sampled());
        assert!(!Trace::parse(&PARENT.replace("-01", "-00"), None).unwrap().is_sampled());
    }

    #[test]
    fn one_of_a_later_version_is_taken_as_far_as_it_is_known() {
        let later = format!("cc{}-more", &PARENT[2..]);
        assert_eq!(&*Trace::parse(&later, None).unwrap().parent, PARENT);
        assert_eq!(&*Trace::parse(&PARENT.to_uppercase(), None).unwrap().parent, PARENT);
    }

    #[test]
    fn what_is_not_one_is_none() {
        let zero = "0".repeat(32);
        let faulty = [
            String::new(),
            "00".to_owned(),
            "00-4bf9-00f0-01".to_owned(),
            format!("{PARENT}-more"),
            format!("ff{}", &PARENT[2..]),
            format!("00-{zero}-00f067aa0ba902b7-01"),
            format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", &zero[..16]),
            PARENT.replace('f', "é"),
            PARENT.replace('f', "g"),
        ];
        for faulty in faulty {
            assert_eq!(Trace::parse(&faulty, None), None, "{faulty}");
        }
        for state in ["", "ä=1", &"x".repeat(513)] {
            assert_eq!(Trace::parse(PARENT, Some(state)).unwrap().state, None, "{state}");
        }
    }
}
