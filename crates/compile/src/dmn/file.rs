//! One file: its version of DMN, its elements by name and by reference.

use std::collections::HashMap;

use model::decision::Target;
use roxmltree::{Document, Node};

use crate::diagnostic::{Findings, quoted};

/// The namespaces of DMN 1.1, 1.2, 1.3, 1.4, 1.5 and 1.6.
const NAMESPACES: [&str; 6] = [
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
    "http://www.omg.org/spec/DMN/20180521/MODEL/",
    "https://www.omg.org/spec/DMN/20191111/MODEL/",
    "https://www.omg.org/spec/DMN/20211108/MODEL/",
    "https://www.omg.org/spec/DMN/20230324/MODEL/",
    "https://www.omg.org/spec/DMN/20240513/MODEL/",
];

/// A file and the places of its elements in the compiled lists.
pub(super) struct File<'a> {
    pub(super) root: Node<'a, 'a>,
    pub(super) namespace: &'a str,
    /// Name and namespace of each import.
    pub(super) imports: Vec<(&'a str, &'a str)>,
    /// By id.
    pub(super) targets: HashMap<&'a str, Target>,
    /// By name: index into the list of item definitions.
    pub(super) types: HashMap<&'a str, usize>,
}

/// The root of a DMN file.
pub(super) fn root<'a>(document: &'a Document<'a>, findings: &mut Findings) -> Option<File<'a>> {
    let root = document.root_element();
    if dmn_name(root) != Some("definitions") {
        let name = quoted(root.tag_name().name());
        let reason = format!("this is not DMN: the root is {name}, not 'definitions' of a namespace of DMN 1.1 to 1.6");
        findings.add_anonymous(root.range().start, reason);
        return None;
    }
    let imports = children(root, "import").filter_map(|node| {
        let name = node.attribute("name").unwrap_or_default();
        Some((name, node.attribute("namespace")?))
    });
    Some(File {
        root,
        namespace: root.attribute("namespace").unwrap_or_default(),
        imports: imports.collect(),
        targets: HashMap::new(),
        types: HashMap::new(),
    })
}

impl File<'_> {
    /// From DMN 1.4 on there are conditionals, filters and iterations, and tests with `=` and `!=`.
    pub(super) fn is_since_1_4(&self) -> bool {
        let version = NAMESPACES.iter().position(|namespace| Some(*namespace) == self.root.tag_name().namespace());
        version.is_some_and(|version| 3 <= version)
    }
}

/// The name of an element of DMN.
pub(super) fn dmn_name<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    let known = node.tag_name().namespace().is_some_and(|namespace| NAMESPACES.contains(&namespace));
    (node.is_element() && known).then(|| node.tag_name().name())
}

/// The children of this name.
pub(super) fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| dmn_name(*child) == Some(name))
}

/// The first child of this name.
pub(super) fn child<'a>(node: Node<'a, 'a>, name: &'static str) -> Option<Node<'a, 'a>> {
    children(node, name).next()
}

/// What is written in the first child of this name.
pub(super) fn text_of(node: Node<'_, '_>, name: &str) -> Option<String> {
    let child = node.children().find(|child| dmn_name(*child) == Some(name))?;
    Some(child.children().filter(Node::is_text).filter_map(|part| part.text()).collect())
}
