//! Decisions, knowledge models, services and input data, and which of them need which.

use std::collections::HashSet;
use std::sync::Arc;

use feel::Names;
use model::Requirements;
use model::decision::{Boxed, Decision, InputData, Knowledge, Lambda, Requirement, Service, Target, Type, Typing};
use roxmltree::Node;

use super::file::{child, children, dmn_name};
use super::names::{self, SPACED_NAMES_MAX};
use super::reader::{Reader, Rules, own_variable};
use super::{order, types};
use crate::bpmn::{ID_CHARS_MAX, ZEEBE, is_id};
use crate::diagnostic::quoted;

/// The lists while they are filled; places are given first, so that references may point ahead.
#[derive(Default)]
struct Lists {
    decisions: Vec<Decision>,
    knowledge: Vec<Knowledge>,
    services: Vec<Service>,
    inputs: Vec<InputData>,
}

impl<'a> Reader<'a, '_> {
    /// Reads all files into one model.
    pub(super) fn requirements(mut self) -> Requirements {
        let root = self.file().root;
        let id = self.required(root, "id");
        let name = self.required(root, "name");
        let namespace = Arc::from(self.file().namespace);
        self.check_ids();
        let spaced = self.place();
        let mut item_definitions = Vec::new();
        self.each_file(&spaced, |reader| reader.types(&mut item_definitions));
        self.each_file(&spaced, |reader| reader.check_types(&item_definitions));
        types::write_out(&mut item_definitions);
        self.plain = item_definitions.iter().map(|item| item.plain.clone()).collect();
        let mut lists = Lists::default();
        self.each_file(&spaced, |reader| reader.elements(&mut lists));
        if children(root, "decision").next().is_none() {
            self.mind(root, "the file has no decision");
        }
        let requirements = Requirements {
            id,
            name,
            namespace,
            typing: if self.rules == Rules::Deployed { Typing::Loose } else { Typing::Strict },
            decisions: Arc::from(lists.decisions),
            knowledge: Arc::from(lists.knowledge),
            services: Arc::from(lists.services),
            inputs: Arc::from(lists.inputs),
            types: Arc::from(item_definitions),
        };
        for (id, reason) in order::check(&requirements) {
            let found = root.children().find(|node| node.attribute("id") == Some(&*id)).unwrap_or(root);
            self.complain(found, reason);
        }
        requirements
    }

    /// Does something with every file, its names and types known; the first file is current again in the end.
    fn each_file(&mut self, spaced: &Names, mut work: impl FnMut(&mut Self)) {
        for current in 0..self.files.len() {
            self.current = current;
            self.names = spaced.clone();
            let file = &self.files[current];
            for (name, index) in &file.types {
                if let Some(plain) = self.plain.get(*index) {
                    self.names.add_type(name, plain.clone());
                }
            }
            for (import, namespace) in &file.imports {
                let other = self.files.iter().find(|other| other.namespace == *namespace);
                for (name, index) in other.iter().flat_map(|other| &other.types) {
                    if let Some(plain) = self.plain.get(*index) {
                        self.names.add_type(&format!("{import}.{name}"), plain.clone());
                    }
                }
            }
            work(self);
        }
        self.current = 0;
    }

    /// Gives everything that can be referred to its place, and learns the names.
    fn place(&mut self) -> Names {
        let (mut spaced, mut seen) = (Names::default(), HashSet::new());
        let mut next_type = 0;
        let [mut inputs, mut decisions, mut knowledge, mut services] = [0; 4];
        for current in 0..self.files.len() {
            self.current = current;
            self.place_types(&mut next_type);
            let root = self.file().root;
            if !names::collect(root, &mut seen, &mut spaced) {
                self.complain(root, too_many_names());
            }
            for node in root.children() {
                let (count, target): (&mut usize, fn(usize) -> Target) = match dmn_name(node) {
                    Some("inputData") => (&mut inputs, Target::Input),
                    Some("decision") => (&mut decisions, Target::Decision),
                    Some("businessKnowledgeModel") => (&mut knowledge, Target::Knowledge),
                    Some("decisionService") => (&mut services, Target::Service),
                    _ => continue,
                };
                if let Some(id) = node.attribute("id") {
                    self.files[current].targets.insert(id, target(*count));
                }
                *count += 1;
            }
        }
        self.current = 0;
        self.names_count = seen.len();
        spaced
    }

    fn elements(&mut self, lists: &mut Lists) {
        for node in self.file().root.children() {
            match dmn_name(node) {
                Some("inputData") => {
                    let (id, name) = self.id_and_name(node);
                    let variable = own_variable(self, node, &name);
                    lists.inputs.push(InputData { id, name, variable });
                }
                Some("decision") => {
                    let decision = self.knowing(node, Self::decision);
                    lists.decisions.push(decision);
                }
                Some("businessKnowledgeModel") => {
                    let knowledge = self.knowing(node, Self::knowledge);
                    lists.knowledge.push(knowledge);
                }
                Some("decisionService") => {
                    let service = self.service(node);
                    lists.services.push(service);
                }
                _ => {}
            }
        }
    }

    /// Reads an element with the names known that only it knows.
    fn knowing<T>(&mut self, node: Node<'a, 'a>, read: fn(&mut Self, Node<'a, 'a>) -> T) -> T {
        let local = names::local(node);
        if local.is_empty() {
            return read(self, node);
        }
        let outside = (self.names.clone(), self.names_count);
        self.names_count += local.len();
        if !names::add(local.into_iter(), &mut HashSet::new(), &mut self.names) {
            self.complain(node, too_many_names());
        }
        let element = read(self, node);
        (self.names, self.names_count) = outside;
        element
    }

    fn decision(&mut self, node: Node<'a, 'a>) -> Decision {
        let (id, name) = self.id_and_name(node);
        // Without a variable a result goes by the decision's id.
        let variable = own_variable(self, node, &id);
        let logic = self.inner(node);
        if logic.is_none() {
            self.mind(node, "the decision has no logic: give it a decision table or another expression");
        }
        let tags = child(node, "extensionElements").into_iter().flat_map(|extensions| extensions.children());
        let tag = tags.into_iter().find(|tag| tag.has_tag_name((ZEEBE, "versionTag")));
        let version_tag = tag.and_then(|tag| tag.attribute("value")).map(Arc::from);
        Decision { id, name, version_tag, variable, logic, requires: self.requires(node) }
    }

    fn knowledge(&mut self, node: Node<'a, 'a>) -> Knowledge {
        let (id, name) = self.id_and_name(node);
        let variable = own_variable(self, node, &name);
        let lambda = match child(node, "encapsulatedLogic") {
            Some(logic) => {
                let result =
                    self.declared(logic).or_else(|| variable.declared.clone().filter(|declared| self.is_result(declared)));
                self.lambda(logic, result)
            }
            None => Err("the knowledge model has no logic".to_owned()),
        };
        let lambda = lambda.unwrap_or_else(|reason| {
            let logic = self.unreadable(node, reason);
            let body = Some(Boxed { logic, declared: None });
            Lambda { parameters: Vec::new(), body, result: None }
        });
        Knowledge { id, name, variable, lambda: Arc::new(lambda), requires: self.requires(node) }
    }

    /// Older versions of DMN give a knowledge model's variable the type of the result, newer ones that of the function.
    fn is_result(&self, declared: &Type) -> bool {
        match declared {
            Type::Feel(feel::Type::Function(_)) => false,
            Type::Feel(_) => true,
            Type::Item(index) => !matches!(self.plain.get(*index), Some(feel::Type::Function(_))),
        }
    }

    fn service(&mut self, node: Node<'a, 'a>) -> Service {
        let (id, name) = self.id_and_name(node);
        let variable = own_variable(self, node, &name);
        let mut list =
            |name: &'static str| -> Vec<Target> { children(node, name).filter_map(|reference| self.target(reference)).collect() };
        let decision = |target: &Target| match target {
            Target::Decision(index) => Some(*index),
            Target::Input(_) | Target::Knowledge(_) | Target::Service(_) => None,
        };
        let input = |target: &Target| match target {
            Target::Input(index) => Some(*index),
            Target::Decision(_) | Target::Knowledge(_) | Target::Service(_) => None,
        };
        Service {
            id,
            name,
            variable,
            input_data: list("inputData").iter().filter_map(input).collect(),
            input_decisions: list("inputDecision").iter().filter_map(decision).collect(),
            outputs: list("outputDecision").iter().filter_map(decision).collect(),
        }
    }

    fn requires(&mut self, node: Node<'a, 'a>) -> Vec<Requirement> {
        let mut requires = Vec::new();
        for arrow in node.children() {
            let names: &[&'static str] = match dmn_name(arrow) {
                Some("informationRequirement") => &["requiredInput", "requiredDecision"],
                Some("knowledgeRequirement") => &["requiredKnowledge"],
                _ => continue,
            };
            for reference in names.iter().filter_map(|name| child(arrow, name)) {
                let Some(target) = self.target(reference) else {
                    continue;
                };
                let import = self.import_of(reference);
                requires.push(Requirement { import, target });
            }
        }
        requires
    }

    /// What a reference points at.
    fn target(&mut self, node: Node<'a, 'a>) -> Option<Target> {
        let Some(href) = node.attribute("href") else {
            self.complain(node, format!("{} needs an href", quoted(node.tag_name().name())));
            return None;
        };
        let (namespace, id) = href.rsplit_once('#').unwrap_or(("", href));
        let own = namespace.is_empty() || namespace == self.file().namespace;
        let file = if own { Some(self.file()) } else { self.files.iter().find(|file| file.namespace == namespace) };
        let found = file.and_then(|file| file.targets.get(id)).copied();
        if found.is_none() {
            let reason = match own {
                true => format!("there is no {} in the file", quoted(id)),
                false => format!("{} is in another file: a deployed file must hold everything it needs", quoted(href)),
            };
            self.mind(node, reason);
        }
        found
    }

    /// The name of the import a reference goes to.
    fn import_of(&self, node: Node<'a, 'a>) -> Option<Arc<str>> {
        let (namespace, _) = node.attribute("href")?.rsplit_once('#')?;
        if namespace.is_empty() || namespace == self.file().namespace {
            return None;
        }
        let (name, _) = self.file().imports.iter().find(|(_, imported)| *imported == namespace)?;
        Some(Arc::from(names::normalized(name)))
    }

    fn id_and_name(&mut self, node: Node<'a, 'a>) -> (Arc<str>, Arc<str>) {
        let name = self.required(node, "name");
        let id = match node.attribute("id") {
            None if self.rules == Rules::Standard => Arc::clone(&name),
            _ => self.required(node, "id"),
        };
        (id, name)
    }

    /// An attribute a deployment insists on.
    fn required(&mut self, node: Node<'a, 'a>, name: &str) -> Arc<str> {
        let value = node.attribute(name).unwrap_or_default().trim();
        if value.is_empty() {
            self.mind(node, format!("{} needs the attribute '{name}'", quoted(node.tag_name().name())));
        }
        Arc::from(value)
    }

    /// Ids are unique in the whole file.
    fn check_ids(&mut self) {
        let mut seen = HashSet::new();
        for node in self.file().root.descendants().filter(|node| dmn_name(*node).is_some()) {
            let Some(id) = node.attribute("id") else {
                continue;
            };
            if !is_id(id) {
                self.mind(node, format!("{} cannot be an id", quoted(id)));
            } else if ID_CHARS_MAX < id.chars().count() {
                self.mind(node, format!("the id is too long: at most {ID_CHARS_MAX} characters are allowed"));
            } else if !seen.insert(id) {
                self.mind(node, "the id is used more than once");
            }
        }
    }
}

fn too_many_names() -> String {
    format!("there are too many names with spaces: at most {SPACED_NAMES_MAX} are allowed")
}
