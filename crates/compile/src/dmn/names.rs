//! Which names with spaces a model has: only who knows them can read `Full Name` as one name.

use std::collections::HashSet;

use feel::Names;
use roxmltree::Node;

use super::file::dmn_name;

/// Names that are not single words. Each is looked for at every place of every expression.
pub(super) const SPACED_NAMES_MAX: usize = 1_000;

/// Collects the names of a file. False when there are too many.
pub(super) fn collect(root: Node<'_, '_>, seen: &mut HashSet<String>, names: &mut Names) -> bool {
    let named = root.descendants().filter_map(|node| match dmn_name(node)? {
        "variable"
        | "formalParameter"
        | "parameter"
        | "column"
        | "output"
        | "inputData"
        | "itemComponent"
        | "import"
        | "businessKnowledgeModel"
        | "decisionService"
        | "parameters" => node.attribute("name"),
        "for" | "some" | "every" => node.attribute("iteratorVariable"),
        _ => None,
    });
    for name in named {
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_plain || !seen.insert(name.to_owned()) {
            continue;
        }
        if SPACED_NAMES_MAX < seen.len() {
            return false;
        }
        names.add(name);
    }
    true
}

/// A name with single spaces between its words.
pub(super) fn normalized(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}
