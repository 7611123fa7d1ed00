//! The members of an object by name, each read as what it must be; a problem names its path.

use std::collections::HashSet;

use super::tree::{Member, Node, Value};
use crate::diagnostic::{Findings, quoted};

pub(super) struct Fields<'n> {
    at: usize,
    /// The id of the step, for problems; empty outside.
    owner: String,
    /// Where the object stands, with a dot at the end.
    path: String,
    /// Those that nobody has asked for yet.
    left: Vec<&'n Member>,
}

impl<'n> Fields<'n> {
    /// The fields of an object; what is none is a problem.
    pub(super) fn of(node: &'n Node, path: &str, findings: &mut Findings) -> Option<Self> {
        let Value::Object(members) = &node.value else {
            let what = if path.is_empty() { "a workflow" } else { path };
            findings.add_anonymous(node.at, format!("{what} must be a JSON object"));
            return None;
        };
        let path = if path.is_empty() { String::new() } else { format!("{path}.") };
        let mut left: Vec<&Member> = Vec::with_capacity(members.len());
        let mut names = HashSet::new();
        for member in members {
            match names.insert(&member.name) {
                true => left.push(member),
                false => findings.add_anonymous(member.at, format!("{path}{} is there twice", member.name)),
            }
        }
        Some(Self { at: node.at, owner: String::new(), path, left })
    }

    /// Whose fields they are, for the problems from now on.
    pub(super) fn owned_by(&mut self, owner: &str) {
        owner.clone_into(&mut self.owner);
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Takes a field that is there and not null.
    pub(super) fn take(&mut self, name: &str) -> Option<&'n Node> {
        let position = self.left.iter().position(|member| member.name == name)?;
        let node = &self.left.swap_remove(position).value;
        (!node.is_null()).then_some(node)
    }

    pub(super) fn text(&mut self, name: &str, chars_max: usize, findings: &mut Findings) -> Option<String> {
        let node = self.take(name)?;
        let Value::Text(text) = &node.value else {
            self.mistyped(node.at, name, "a text", findings);
            return None;
        };
        if chars_max < text.chars().count() {
            self.problem(
                node.at,
                format!("{}{name} is too long: at most {chars_max} characters are allowed", self.path),
                findings,
            );
            return None;
        }
        Some(text.clone())
    }

    pub(super) fn required_text(&mut self, name: &str, chars_max: usize, findings: &mut Findings) -> Option<String> {
        let is_there = self.left.iter().any(|member| member.name == name && !member.value.is_null());
        if !is_there {
            self.missing(name, findings);
            return None;
        }
        let text = self.text(name, chars_max, findings)?;
        if text.trim().is_empty() {
            self.problem(self.at, format!("{}{name} must not be empty", self.path), findings);
            return None;
        }
        Some(text)
    }

    pub(super) fn flag(&mut self, name: &str, findings: &mut Findings) -> Option<bool> {
        let node = self.take(name)?;
        match &node.value {
            Value::Bool(flag) => Some(*flag),
            _ => {
                self.mistyped(node.at, name, "true or false", findings);
                None
            }
        }
    }

    /// A whole number from 0 to the highest.
    pub(super) fn count(&mut self, name: &str, max: i32, findings: &mut Findings) -> Option<i32> {
        let node = self.take(name)?;
        let count = match &node.value {
            Value::Number(number) => number.parse().ok().filter(|count| (0..=max).contains(count)),
            _ => None,
        };
        if count.is_none() {
            self.mistyped(node.at, name, &format!("a whole number from 0 to {max}"), findings);
        }
        count
    }

    /// Empty where it is absent or no list, which is a problem.
    pub(super) fn list(&mut self, name: &str, findings: &mut Findings) -> &'n [Node] {
        match self.take(name).map(|node| (node.at, &node.value)) {
            Some((_, Value::List(items))) => items,
            Some((at, _)) => {
                self.mistyped(at, name, "a list", findings);
                &[]
            }
            None => {
                self.missing(name, findings);
                &[]
            }
        }
    }

    pub(super) fn object(&mut self, name: &str, findings: &mut Findings) -> Option<&'n [Member]> {
        let node = self.take(name)?;
        match &node.value {
            Value::Object(members) => Some(members),
            _ => {
                self.mistyped(node.at, name, "an object", findings);
                None
            }
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.left.iter().any(|member| member.name == name && !member.value.is_null())
    }

    /// Known fields that mean nothing here are refused unless they say nothing.
    pub(super) fn refuse_useless(&mut self, names: &[&str], why: &str, findings: &mut Findings) {
        for name in names {
            if let Some(node) = self.take(name).filter(|node| !node.is_empty()) {
                self.problem(node.at, format!("{}{name} has no meaning {why}", self.path), findings);
            }
        }
    }

    pub(super) fn refuse_others(&mut self, findings: &mut Findings) {
        for member in std::mem::take(&mut self.left) {
            self.problem(
                member.at,
                format!("there is no field {} here", quoted(&format!("{}{}", self.path, member.name))),
                findings,
            );
        }
    }

    pub(super) fn missing(&self, name: &str, findings: &mut Findings) {
        self.problem(self.at, format!("{}{name} is missing", self.path), findings);
    }

    pub(super) fn mistyped(&self, at: usize, name: &str, wanted: &str, findings: &mut Findings) {
        self.problem(at, format!("{}{name} must be {wanted}", self.path), findings);
    }

    pub(super) fn problem(&self, at: usize, reason: impl AsRef<str>, findings: &mut Findings) {
        match self.owner.as_str() {
            "" => findings.add_anonymous(at, reason),
            owner => findings.add(at, owner, reason),
        }
    }
}
