//! Tasks for people: each is done once, and none outlives its instance. Invariants 3, 5 and 15.

use std::collections::BTreeMap;

use engine::{InstanceKey, UserTaskKey};
use store::row::UserTask;
use store::{Commit, Loaded, MigratedRow, MigratedTable};

use super::{Check, ensure};

#[derive(Default)]
pub(crate) struct People {
    tasks: BTreeMap<UserTaskKey, UserTask>,
}

impl People {
    pub(super) fn landed(&mut self, commit: &Commit) -> Check {
        for row in &commit.changes.user_tasks_new {
            let known = self.tasks.insert(row.key, row.clone());
            ensure(3, known.is_none(), || format!("task {} is there twice", row.key))?;
        }
        for row in &commit.changes.user_tasks_changed {
            let before = self.tasks.insert(row.key, row.clone());
            let was_open = before.as_ref().is_some_and(|before| !before.is_over());
            ensure(5, was_open, || format!("task {} was {before:?} and becomes {row:?}", row.key))?;
        }
        Ok(())
    }

    pub(super) fn migrated(&mut self, row: &MigratedRow) {
        if let (MigratedTable::UserTasks, Some(task)) = (row.table, self.tasks.get_mut(&UserTaskKey(row.key))) {
            (task.definition, task.element) = (row.definition, row.element);
        }
    }

    /// What the store shows of what a commit named: none that is over.
    pub(super) fn compare(&self, loaded: &Loaded) -> Check {
        loaded.user_tasks.iter().try_for_each(|row| {
            let known = self.tasks.get(&row.key);
            ensure(3, known == Some(row), || format!("the store has {row:?}, the last commit had {known:?}"))
        })
    }

    /// Nobody is asked for what an ended instance wanted.
    pub(super) fn left_by(&self, instance: InstanceKey) -> Check {
        let left = self.tasks.values().find(|task| task.instance == instance && !task.is_over());
        ensure(15, left.is_none(), || format!("instance {instance} has ended and leaves task {left:?}"))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = UserTaskKey> {
        self.tasks.keys().copied()
    }

    /// Those that wait for somebody.
    pub(crate) fn open(&self) -> impl Iterator<Item = UserTaskKey> {
        self.tasks.values().filter(|task| task.is_open()).map(|task| task.key)
    }
}
