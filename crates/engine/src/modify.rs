//! Modification: an operator enters elements, ends element instances and moves from one to the other. All of it happens, or nothing.
//!
//! Elements are entered before others are ended, so that a scope something is moved within stays. A scope that is left empty ends with
//! what was ended in it, and so does the instance.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ElementIx, Process};

use crate::enter_at::{Entry, Scopes, around, check_can_be_entered, enter_at, outward};
use crate::step::Run;
use crate::{Document, ElementKey, Event, Phase, Progress, Rejected};

/// So many element instances are entered, ended or renamed by one command: it is one step, which others wait for.
pub const CHANGED_MAX: usize = 10_000;

/// What is to change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Modification {
    pub activate: Vec<Activation>,
    pub terminate: Vec<Which>,
    pub moves: Vec<Move>,
}

/// An element to enter, by its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Activation {
    pub element: Arc<str>,
    /// An element instance around it: what lies between the two is made anew.
    pub ancestor: Option<ElementKey>,
    pub variables: Vec<ScopedVariables>,
}

/// Variables for the entered element or a scope around it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopedVariables {
    /// An element id; empty for the process itself.
    pub scope: Arc<str>,
    pub variables: Document,
}

/// One element instance, or all of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum Which {
    Key(ElementKey),
    Id(Arc<str>),
}

/// For each element instance that is meant, another element is entered and it is ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub source: Which,
    pub target: Arc<str>,
    pub ancestor: Ancestor,
    pub variables: Vec<ScopedVariables>,
}

/// In which scopes the target of a move is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ancestor {
    /// In those there are, if each is there once.
    Any,
    Key(ElementKey),
    /// In those around the source, as far as they are around the target too.
    OfSource,
    /// In the one directly around the source.
    ParentOfSource,
}

/// An activation with its names found.
struct Found {
    element: ElementIx,
    ancestor: Option<ElementKey>,
    variables: Vec<(ElementIx, Document)>,
}

impl Run<'_> {
    pub(crate) fn modify(&mut self, modification: &Modification) -> Result<(), Rejected> {
        let (activate, terminate) = self.found(modification)?;
        self.check_kept(&activate, &terminate)?;
        let (mut needed, mut living) = (BTreeSet::new(), Scopes::of(self));
        for Found { element, ancestor, variables } in &activate {
            let entry = Entry { element: *element, ancestor: *ancestor, variables };
            needed.extend(enter_at(self, &mut living, &entry)?);
        }
        for key in terminate {
            // It may have gone with what was around it.
            if self.instance.elements.contains_key(&key) {
                self.end_with_scopes(key, &needed)?;
            }
        }
        Ok(())
    }

    /// Everything that is named, found in the process and in the instance.
    fn found(&self, modification: &Modification) -> Result<(Vec<Found>, Vec<ElementKey>), Rejected> {
        let Modification { activate, terminate, moves } = modification;
        let names = activate.iter().map(|activation| &activation.element).chain(moves.iter().map(|moved| &moved.target));
        self.check_targets(names)?;
        let mut found = Vec::new();
        for Activation { element, ancestor, variables } in activate {
            found.push(self.activation(element, *ancestor, variables)?);
        }
        let mut living = BTreeMap::<_, Vec<_>>::new();
        for (key, alive) in self.instance.elements.iter().filter(|(key, _)| !self.instance.is_inner(**key)) {
            living.entry(alive.element).or_default().push(*key);
        }
        let mut ended = Vec::new();
        for which in terminate {
            ended.extend(self.meant(which, &living)?);
        }
        for Move { source, target, ancestor, variables } in moves {
            for key in self.meant(source, &living)? {
                found.push(self.activation(target, self.ancestor_of_move(key, target, *ancestor), variables)?);
                ended.push(key);
            }
        }
        if CHANGED_MAX < found.len() + ended.len() {
            let reason =
                format!("more than {CHANGED_MAX} element instances would be activated and ended: do it in several steps");
            return Err(self.refused(reason));
        }
        for activation in &found {
            self.check_ancestor(activation)?;
        }
        Ok((found, ended))
    }

    fn check_targets<'n>(&self, names: impl Iterator<Item = &'n Arc<str>>) -> Result<(), Rejected> {
        let mut unknown = Vec::new();
        for name in names {
            match self.process.find(name) {
                Some(element) => check_can_be_entered(self.process, element)?,
                None => unknown.push(format!("'{name}'")),
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        Err(self.refused(format!("there is no element {} to activate", unknown.join(", "))))
    }

    fn activation(&self, id: &Arc<str>, ancestor: Option<ElementKey>, variables: &[ScopedVariables]) -> Result<Found, Rejected> {
        let element = self.process.find(id).expect("targets were checked");
        let scopes = around(self.process, element);
        let mut placed = Vec::with_capacity(variables.len());
        for ScopedVariables { scope, variables } in variables {
            let place = match &**scope {
                "" => Process::ROOT,
                scope => {
                    self.process.find(scope).ok_or_else(|| self.refused(format!("there is no scope '{scope}' for variables")))?
                }
            };
            if place != Process::ROOT && place != element && !scopes.contains(&place) {
                return Err(self.refused(format!("the scope '{scope}' of variables is not around '{id}': set them separately")));
            }
            placed.push((place, variables.clone()));
        }
        Ok(Found { element, ancestor, variables: placed })
    }

    /// The element instances that are meant. Of several, one inside the other, the outermost: the others end with it.
    fn meant(&self, which: &Which, living: &BTreeMap<ElementIx, Vec<ElementKey>>) -> Result<Vec<ElementKey>, Rejected> {
        match which {
            Which::Key(key) if self.instance.elements.contains_key(key) => Ok(vec![*key]),
            Which::Key(key) => Err(self.refused(format!("there is no element instance {key} to end"))),
            Which::Id(id) => {
                let place = self.process.find(id);
                Ok(place.and_then(|place| living.get(&place)).cloned().unwrap_or_default())
            }
        }
    }

    fn ancestor_of_move(&self, source: ElementKey, target: &str, ancestor: Ancestor) -> Option<ElementKey> {
        match ancestor {
            Ancestor::Any => None,
            Ancestor::Key(key) => Some(key),
            Ancestor::ParentOfSource => Some(self.instance.elements[&source].scope),
            Ancestor::OfSource => {
                let target = self.process.find(target)?;
                let scopes = around(self.process, target);
                outward(self, self.instance.elements[&source].scope).find(|key| {
                    let place = self.instance.elements[key].element;
                    place == Process::ROOT || scopes.contains(&place)
                })
            }
        }
    }

    fn check_ancestor(&self, activation: &Found) -> Result<(), Rejected> {
        let Some(ancestor) = activation.ancestor else { return Ok(()) };
        let alive = self.instance.elements.get(&ancestor).filter(|alive| alive.phase == Phase::Active);
        let Some(alive) = alive else {
            return Err(self.refused(format!("there is no active element instance {ancestor} to activate an element in")));
        };
        let scopes = around(self.process, activation.element);
        if alive.element == Process::ROOT || scopes.contains(&alive.element) {
            return Ok(());
        }
        let (around, id) = (&self.process.element(alive.element).id, &self.process.element(activation.element).id);
        Err(self.refused(format!("element instance {ancestor} of '{around}' is not an ancestor of '{id}'")))
    }

    /// Nothing is entered in a scope that is ended: in one that is named, or in whichever there is.
    fn check_kept(&self, activate: &[Found], terminate: &[ElementKey]) -> Result<(), Rejected> {
        let keys: BTreeSet<_> = terminate.iter().copied().collect();
        let places: BTreeMap<_, _> = terminate.iter().map(|key| (self.instance.elements[key].element, *key)).collect();
        for Found { element, ancestor, .. } in activate {
            let ended = match ancestor {
                Some(ancestor) => outward(self, *ancestor).find(|key| keys.contains(key)),
                None => {
                    let scopes = around(self.process, *element).into_iter().chain([Process::ROOT]);
                    scopes.into_iter().find_map(|place| places.get(&place).copied())
                }
            };
            if let Some(key) = ended {
                let id = &self.process.element(*element).id;
                return Err(
                    self.refused(format!("'{id}' would be activated inside element instance {key}, which is to be ended"))
                );
            }
        }
        Ok(())
    }

    /// Ends an element instance, and the scopes that this leaves empty.
    fn end_with_scopes(&mut self, key: ElementKey, needed: &BTreeSet<ElementKey>) -> Result<(), Rejected> {
        let root = self.instance.key.root();
        let mut ending = key;
        loop {
            if ending == root {
                return self.end_all();
            }
            let (scope, is_inner) = (self.instance.elements[&ending].scope, self.instance.is_inner(ending));
            if self.goes(ending) {
                return Ok(());
            }
            // Where others listen to its end it goes later, and what that leaves empty with it.
            self.drop_element(ending);
            if needed.contains(&scope) || self.has_more_inside(scope) {
                if is_inner {
                    let before = self.progress(scope);
                    let progress = Progress { terminated: before.terminated.saturating_add(1), ..before };
                    self.emit(Event::Progressed { key: scope, progress });
                }
                return Ok(());
            }
            ending = scope;
        }
    }

    /// Whether something lives or waits in a scope, or is about to be entered, besides what goes.
    fn has_more_inside(&self, scope: ElementKey) -> bool {
        self.instance.elements[&scope].tokens().next().is_some()
            || self.is_awaited_in(scope)
            || self.instance.children(scope).any(|child| !self.goes(child))
    }

    fn end_all(&mut self) -> Result<(), Rejected> {
        if self.instance.parent.is_some() {
            let reason = "this would end the instance, which was called by another: modify that one".to_owned();
            return Err(self.refused(reason));
        }
        self.terminate();
        Ok(())
    }

    fn refused(&self, reason: String) -> Rejected {
        Rejected::Invalid(reason.into())
    }
}
