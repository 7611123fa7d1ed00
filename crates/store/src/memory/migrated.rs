//! Rows of instances that have migrated.

use engine::{ElementKey, IncidentKey, InstanceKey, JobKey, TimerKey, UserTaskKey, VariableKey, WaitKey};

use super::database::Tables;
use crate::{MigratedRow, MigratedTable};

impl Tables {
    pub(super) fn migrate(&mut self, migrated: MigratedRow) {
        let MigratedRow { table, key, definition, element, process_id, headers } = migrated;
        let place = match table {
            MigratedTable::Instances => self.instances.get_mut(&InstanceKey(key)).map(|row| (&mut row.definition, None)),
            MigratedTable::Variables => self.variables.get_mut(&VariableKey(key)).map(|row| (&mut row.definition, None)),
            MigratedTable::Elements => {
                self.elements.get_mut(&ElementKey(key)).map(|row| (&mut row.definition, Some(&mut row.element)))
            }
            MigratedTable::Timers => self.timers.get_mut(&TimerKey(key)).map(|row| (&mut row.definition, Some(&mut row.element))),
            MigratedTable::UserTasks => {
                self.user_tasks.get_mut(&UserTaskKey(key)).map(|row| (&mut row.definition, Some(&mut row.element)))
            }
            MigratedTable::Incidents => {
                self.incidents.get_mut(&IncidentKey(key)).map(|row| (&mut row.definition, Some(&mut row.element)))
            }
            MigratedTable::Subscriptions => self.subscriptions.get_mut(&WaitKey(key)).map(|row| {
                row.process_id = process_id;
                (&mut row.definition, Some(&mut row.element))
            }),
            MigratedTable::Jobs => self.jobs.get_mut(&JobKey(key)).and_then(|row| {
                row.headers = headers.or(row.headers.take());
                row.origin.as_mut().map(|origin| (&mut origin.definition, Some(&mut origin.element)))
            }),
        };
        if let Some((its_definition, its_element)) = place {
            *its_definition = definition;
            if let Some(its_element) = its_element {
                *its_element = element;
            }
        }
    }
}
