//! Which names with spaces a model has: only who knows them can read `Full Name` as one name.

use std::collections::HashSet;

use feel::Names;
use roxmltree::Node;

use super::file::dmn_name;

/// Names that are not single words. Each is looked for at every place of every expression.
pub(super) const SPACED_NAMES_MAX: usize = 1_000;

/// Collects the names a whole file knows: of variables, and of members, which may turn up behind any dot. False when there
/// are too many.
pub(super) fn collect(root: Node<'_, '_>, seen: &mut HashSet<String>, names: &mut Names) -> bool {
    let named = root.descendants().filter_map(|node| match dmn_name(node)? {
        "variable"
        | "column"
        | "output"
        | "inputData"
        | "itemComponent"
        | "import"
        | "businessKnowledgeModel"
        | "decisionService" => node.attribute("name"),
        _ => None,
    });
    add(named, seen, names)
}

/// The names only one decision or knowledge model knows, of parameters and items.
pub(super) fn local<'n>(element: Node<'n, 'n>) -> Vec<&'n str> {
    let named = element.descendants().filter_map(|node| match dmn_name(node)? {
        "formalParameter" => node.attribute("name"),
        "for" | "some" | "every" => node.attribute("iteratorVariable"),
        _ => None,
    });
    named.filter(|name| !is_plain(name)).collect()
}

/// Adds names to those known. False when there are too many.
pub(super) fn add<'n>(named: impl Iterator<Item = &'n str>, seen: &mut HashSet<String>, names: &mut Names) -> bool {
    for name in named {
        if is_plain(name) || !seen.insert(name.to_owned()) {
            continue;
        }
        if SPACED_NAMES_MAX < seen.len() {
            return false;
        }
        names.add(name);
    }
    true
}

/// Whether a name is a single word for certain.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A name with single spaces between its words.
pub(super) fn normalized(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}
