//! What Camunda 8.9 serves under `/v2`, so that whoever asks for something that is not served here is told so.

use axum::http::Method;

use super::operation;

/// A method and a path on each line.
const ENDPOINTS: &str = include_str!("contract.txt");

pub(super) fn endpoints() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENDPOINTS.lines().filter_map(|line| line.split_once(' '))
}

/// Those that nothing here answers.
pub(super) fn unserved() -> impl Iterator<Item = (&'static str, &'static str)> {
    endpoints().filter(|(method, path)| !operation::all().any(|one| one.method.as_str() == *method && is_same(one.path, path)))
}

/// What is said to whoever asks for an endpoint that Camunda has and this server has not.
pub(super) fn explained(method: &Method, path: &str) -> Option<String> {
    let asked = unserved().find(|(unserved, pattern)| *unserved == method.as_str() && fits(pattern, path));
    asked.map(|(method, pattern)| {
        format!("No endpoint {method} {path}: Camunda 8 has {method} {pattern}, but this server does not serve it.")
    })
}

/// Whatever the parameters are called.
fn is_same(one: &str, other: &str) -> bool {
    let is_parameter = |segment: &str| segment.starts_with('{');
    one.split('/').count() == other.split('/').count()
        && one.split('/').zip(other.split('/')).all(|(one, other)| one == other || (is_parameter(one) && is_parameter(other)))
}

fn fits(pattern: &str, path: &str) -> bool {
    pattern.split('/').count() == path.split('/').count()
        && pattern
            .split('/')
            .zip(path.split('/'))
            .all(|(theirs, ours)| theirs == ours || (theirs.starts_with('{') && !ours.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_served_is_known_as_such() {
        assert!(endpoints().count() > 150, "the list is there");
        assert!(explained(&Method::POST, "/v2/groups").is_some());
        assert!(explained(&Method::PUT, "/v2/groups/some").is_some());
        for (method, path) in [(Method::GET, "/v2/topology"), (Method::GET, "/v2/nothing"), (Method::GET, "/v2/groups/")] {
            assert_eq!(explained(&method, path), None, "{method} {path}");
        }
    }

    /// `UPDATE_DOCS=1 cargo test -p api` writes it anew.
    #[test]
    fn the_page_lists_all_that_is_not_served() {
        const BEGIN: &str = "<!-- unserved: made by a test -->\n";
        const END: &str = "<!-- end of unserved -->\n";
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
        let text = std::fs::read_to_string(page).unwrap();
        let (before, rest) = text.split_once(BEGIN).expect("the list has a beginning");
        let (found, after) = rest.split_once(END).expect("the list has an end");
        let lines = unserved().map(|(method, path)| format!("- `{method} {path}`\n"));
        let expected: String = lines.collect();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(page, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
            return;
        }
        assert_eq!(found, expected, "UPDATE_DOCS=1 writes docs/compatibility.md anew");
    }
}
