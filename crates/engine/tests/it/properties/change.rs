//! What operators do to a run: they migrate and modify it.

use std::collections::BTreeMap;

use engine::{
    Activation, Ancestor, Budget, Command, DefinitionKey, Event, Means, Migration, Modification, Move, Rejected, Which, migrate,
};
use model::Process;

use super::blocks::renamed;
use super::run::Run;

impl<'a> Run<'a> {
    /// Goes on as an instance of a process with the same elements under other names.
    pub(crate) fn migrate(&mut self, target: &'a Process) {
        let before = self.instance.clone();
        let ids = self.process.elements.iter().map(|element| &element.id).chain(self.process.flows.iter().map(|flow| &flow.id));
        let mappings: Vec<_> = ids.map(|id| (id.clone(), renamed(id).into())).collect();
        let definition = DefinitionKey(self.instance.definition.0 + 1);
        let migration = Migration { definition, process: target, mappings: &mappings };
        let means = Means {
            globals: &model::Globals::default(),
            process: self.process,
            now: 0,
            keys: &mut self.keys,
            budget: &mut Budget::new(20, 1 << 24),
        };
        let migrated = migrate(means, &mut self.instance, &migration);
        match self.take(&before, migrated, &migration) {
            Ok(()) => self.process = target,
            Err(rejected) => panic!("it has all it needs: {rejected:?}"),
        }
    }

    /// Ends, enters or moves something. False if that is refused.
    pub(crate) fn modify(&mut self, n: usize) -> bool {
        let living: Vec<_> = self.instance.elements.keys().copied().collect();
        let (key, other) = (living[n % living.len()], living[n / 7 % living.len()]);
        let id = |n: usize| self.process.elements[n % self.process.elements.len()].id.clone();
        let ancestor = n.is_multiple_of(3).then_some(other);
        let activation = Activation { element: id(n / 3), ancestor, variables: Vec::new() };
        let ancestors = [Ancestor::Any, Ancestor::OfSource, Ancestor::ParentOfSource, Ancestor::Key(other)];
        let source = if n.is_multiple_of(2) { Which::Key(key) } else { Which::Id(id(n / 11)) };
        let moved = Move { source, target: id(n / 5), ancestor: ancestors[n % 4], variables: Vec::new() };
        let nothing = Modification::default;
        let modification = match n % 5 {
            0 => Modification { terminate: vec![Which::Key(key)], ..nothing() },
            1 => Modification { activate: vec![activation], ..nothing() },
            2 => Modification { activate: vec![activation], terminate: vec![Which::Key(key)], ..nothing() },
            _ => Modification { moves: vec![moved], ..nothing() },
        };
        match self.ask(&Command::Modify(modification)) {
            Ok(()) => true,
            Err(Rejected::Invalid(_)) => false,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Which elements were left and dropped, by the names they have in the first process.
    pub(crate) fn told(&self, processes: [&Process; 2]) -> Vec<String> {
        let mut ids = BTreeMap::new();
        let mut now = 0;
        let mut told = Vec::new();
        for event in &self.history {
            match event {
                Event::Entered { key, element, .. } => {
                    let id = &processes[now % 2].element(*element).id;
                    ids.insert(*key, if now.is_multiple_of(2) { id.to_string() } else { renamed(id) });
                }
                Event::Left { key } => told.push(format!("{} left", ids[key])),
                Event::Dropped { key } => told.push(format!("{} dropped", ids[key])),
                Event::Migrated(_) => now += 1,
                _ => {}
            }
        }
        told
    }
}
