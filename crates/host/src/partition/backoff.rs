//! What the model says about how long a failed job waits: a header of its task.

use engine::JobKey;
use feel::Value;
use queue::backoff::Backoff;
use schedule::Span;
use store::Millis;

use super::Partition;

/// `PT5S`, `PT1S,PT5S,PT1M`, or `exponential PT1S PT5M`.
const HEADER: &str = "retryBackoff";

impl Partition {
    /// Nothing where the model says nothing, or nothing that can be read. Only of a job whose instance is in memory.
    pub(super) fn backoff_of(&self, key: JobKey, failures: u32) -> Option<Millis> {
        let backoff = self.jobs.get(&key).and_then(|job| {
            let origin = job.origin?;
            let of_element =
                || Some(self.hot.get(origin.instance)?.definition.row.elements.get(origin.element.0 as usize)?.headers.clone());
            let headers = job.headers.clone().or_else(of_element)?;
            match feel::json::decode_members(&headers, &[HEADER]).ok()?.pop()? {
                Some(Value::String(text)) => parsed(&text),
                _ => None,
            }
        });
        backoff.map(|backoff| backoff.delay(failures, key.0))
    }
}

fn parsed(text: &str) -> Option<Backoff> {
    let millis = |text: &str| Span::parse(text.trim()).ok()?.after(0).ok();
    if let Some(bounds) = text.trim().strip_prefix("exponential ") {
        let (first, most) = bounds.trim().split_once(' ')?;
        return Some(Backoff::Exponential { first: millis(first)?, most: millis(most)? });
    }
    text.split(',').map(millis).collect::<Option<_>>().map(Backoff::Listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_header_may_say() {
        assert_eq!(parsed("PT5S"), Some(Backoff::Listed(vec![5_000])));
        assert_eq!(parsed("PT1S, PT5S,PT1M"), Some(Backoff::Listed(vec![1_000, 5_000, 60_000])));
        assert_eq!(parsed("exponential PT1S PT5M"), Some(Backoff::Exponential { first: 1_000, most: 300_000 }));
        for text in ["", "soon", "PT1S,", "exponential PT1S", "exponential"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
