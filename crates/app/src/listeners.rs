//! Those who listen to all user tasks, as the configuration names them: `ID=TYPE EVENT …`.

use std::time::Duration;

use host::Host;
use model::{GlobalListener, ListenerEvent};
use store::log::{ALL_EVENTS, NewListener, PutListener};

const RETRIES_DEFAULT: i32 = 3;
const PRIORITY_DEFAULT: i32 = 50;
/// How long until it is tried again, while nobody owns the partition or the store is away.
const AGAIN: Duration = Duration::from_secs(1);

pub(crate) fn parse(texts: &[String]) -> Result<Vec<GlobalListener>, String> {
    let listeners: Vec<GlobalListener> = texts.iter().map(|text| one(text)).collect::<Result<_, _>>()?;
    for (place, listener) in listeners.iter().enumerate() {
        if listeners[..place].iter().any(|before| before.id == listener.id) {
            return Err(format!("user_tasks.listeners names '{}' twice", listener.id));
        }
    }
    Ok(listeners)
}

fn one(text: &str) -> Result<GlobalListener, String> {
    let wrong = |why: &str| {
        format!("user_tasks.listeners has '{text}': {why}; write ID=TYPE EVENT …, such as audit=audit-log creating completing")
    };
    let (id, rest) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
    let mut words = rest.split_whitespace();
    let job_type = words.next().ok_or_else(|| wrong("it names no type of jobs"))?;
    let is_plain = |id: &str| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_~@.+-".contains(c));
    if !is_plain(id.trim()) {
        return Err(wrong("an id has letters, digits and characters of '_~@.+-'"));
    }
    let (mut retries, mut priority, mut after_own, mut events) = (RETRIES_DEFAULT, PRIORITY_DEFAULT, false, Vec::new());
    let is_event =
        |word: &str| word == ALL_EVENTS || ListenerEvent::ALL.iter().any(|event| event.is_of_task() && event.word() == word);
    for word in words {
        let number = |text: &str| text.parse::<i32>().map_err(|_| wrong(&format!("'{text}' is no number")));
        match word.split_once('=') {
            Some(("retries", text)) => retries = number(text)?,
            Some(("priority", text)) => priority = number(text)?,
            None if word == "after" => after_own = true,
            None if is_event(word) => events.push(word),
            Some(_) | None => return Err(wrong(&format!("'{word}' is nothing one can listen to"))),
        }
    }
    if events.is_empty() || retries < 1 {
        return Err(wrong(if events.is_empty() { "it listens to nothing" } else { "retries must be at least 1" }));
    }
    let new = NewListener { id: id.trim().into(), job_type: job_type.into(), retries, events: &events, after_own, priority };
    Ok(GlobalListener { configured: true, ..PutListener::new(new, true).listener })
}

/// Until it is done: whoever owns the partition is told.
pub(crate) async fn configure(host: Host, listeners: Vec<GlobalListener>) {
    while let Err(error) = host.configure_listeners(listeners.clone()).await {
        if let host::Error::Rejected(rejection) = &error {
            tracing::error!(reason = rejection.reason, "the global listeners of the configuration were refused");
            return;
        }
        tracing::debug!(%error, "the global listeners of the configuration are to be told again");
        tokio::time::sleep(AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn parsed(text: &str) -> Result<Vec<model::GlobalListener>, String> {
        parse(&[text.to_owned()])
    }

    #[test]
    fn they_are_read() {
        let listener = parsed("audit=audit-log creating completing priority=70 retries=5 after").unwrap().remove(0);
        assert_eq!((&*listener.id, &*listener.job_type), ("audit", "audit-log"));
        assert_eq!((listener.priority, listener.retries, listener.after_own, listener.configured), (70, 5, true, true));
        let words: Vec<_> = listener.events.iter().map(|event| event.word()).collect();
        assert_eq!(words, ["creating", "completing"]);
        let everything = parsed("a=t all").unwrap().remove(0);
        assert_eq!((everything.events.len(), everything.priority, everything.retries), (5, 50, 3));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, why) in [
            ("audit", "no ="),
            ("audit=", "no type"),
            ("a b=t all", "an id has"),
            ("a=t", "listens to nothing"),
            ("a=t start", "nothing one can listen to"),
            ("a=t all retries=x", "no number"),
            ("a=t all retries=0", "at least 1"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        assert!(parse(&["a=t all".to_owned(), "a=u all".to_owned()]).unwrap_err().contains("twice"));
    }
}
