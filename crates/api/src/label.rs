//! What callers may attach to an instance: tags and a business id; and what a process may be called. One rule for both edges.

use std::sync::Arc;

pub(crate) const TAGS_MAX: usize = 10;
pub(crate) const TAG_CHARS_MAX: usize = 100;
pub(crate) const BUSINESS_ID_CHARS_MAX: usize = 256;

pub(crate) fn check_tags(tags: &[Arc<str>]) -> Result<(), String> {
    if TAGS_MAX < tags.len() {
        return Err(format!("{} tags were provided, but at most {TAGS_MAX} are allowed", tags.len()));
    }
    tags.iter().try_for_each(|tag| check_tag(tag))
}

pub(crate) fn check_tag(tag: &str) -> Result<(), String> {
    if is_tag(tag) {
        return Ok(());
    }
    Err(format!(
        "The provided tag '{tag}' is not valid: a letter, then letters, digits, '_', '-', ':' or '.', {TAG_CHARS_MAX} characters at most"
    ))
}

/// An empty one is none.
pub(crate) fn business_id(given: Option<Arc<str>>) -> Result<Option<Arc<str>>, String> {
    match given.filter(|id| !id.is_empty()) {
        Some(id) if BUSINESS_ID_CHARS_MAX < id.chars().count() => {
            Err(format!("The provided businessId is longer than {BUSINESS_ID_CHARS_MAX} characters"))
        }
        id => Ok(id),
    }
}

/// The id of a process, whether there is one or not.
pub(crate) fn process_id(id: &str) -> Result<Arc<str>, String> {
    let mut characters = id.chars();
    let begins = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    let goes_on = characters.all(|next| next.is_alphanumeric() || matches!(next, '_' | '-' | '.'));
    if begins && goes_on {
        return Ok(id.into());
    }
    Err(format!(
        "The provided processDefinitionId '{id}' is no process id: a letter or '_', then letters, digits, '_', '-' or '.'"
    ))
}

fn is_tag(tag: &str) -> bool {
    tag.len() <= TAG_CHARS_MAX
        && tag.starts_with(|first: char| first.is_ascii_alphabetic())
        && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words() {
        for good in ["a", "a:b", "Order-7.x_y", &"a".repeat(TAG_CHARS_MAX)] {
            assert!(is_tag(good), "{good}");
        }
        for bad in ["", "1 bad", "ä", "a b", &"a".repeat(TAG_CHARS_MAX + 1)] {
            assert!(!is_tag(bad), "{bad}");
        }
        assert!(check_tags(&vec!["a".into(); TAGS_MAX]).is_ok());
        assert!(check_tags(&vec!["a".into(); TAGS_MAX + 1]).is_err());
    }

    #[test]
    fn an_empty_business_id_is_none() {
        assert_eq!(business_id(Some("".into())), Ok(None));
        assert_eq!(business_id(Some("b-1".into())), Ok(Some("b-1".into())));
        assert!(business_id(Some("ü".repeat(BUSINESS_ID_CHARS_MAX + 1).into())).is_err());
    }
}
