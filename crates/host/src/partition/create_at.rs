//! Instances that begin at other elements than the start event, or end before the end.

use model::{ElementIx, Process};
use store::log::{Answer, Code, CreateAt};

use super::Partition;
use super::execute::no_start;
use super::tick::Tick;
use super::unit::Stop;

/// So many places to begin at, and to end after, may be given with one instance.
const PLACES_MAX: usize = 1_000;

impl Partition {
    pub(super) fn create_at(&mut self, tick: &mut Tick, asked: &CreateAt) -> Result<Answer, Stop> {
        let CreateAt { create, start, end_after } = asked;
        let definition = self.definition(tick, create)?;
        let process = definition.process.clone();
        if PLACES_MAX < start.len().max(end_after.len()) {
            return Err(wrong(format!("more than {PLACES_MAX} were given")));
        }
        if start.is_empty() && process.start().is_none() {
            return Err(no_start(&process));
        }
        let elements = start.iter().map(|id| found(&process, id)).collect::<Result<Vec<_>, _>>()?;
        for id in end_after {
            found(&process, id)?;
        }
        let created = self.begin_created(tick, create, definition);
        let (end_after, variables) = (end_after.clone(), create.variables.clone());
        let command = engine::Command::StartAt(engine::StartAt { elements, end_after, variables });
        match self.step(tick, created.instance, &command)? {
            Ok(()) => {
                self.follow_trace(tick, created.instance, tick.unit.trace.clone())?;
                Ok(Answer::Created(created))
            }
            Err(engine::Rejected::Invalid(why)) => Err(wrong(why.to_string())),
            Err(rejected) => Err(wrong(format!("it cannot begin there: {rejected:?}"))),
        }
    }
}

fn found(process: &Process, id: &str) -> Result<ElementIx, Stop> {
    let element = process.find(id).filter(|element| *element != Process::ROOT);
    element.ok_or_else(|| wrong(format!("no element found with id '{id}'")))
}

fn wrong(reason: String) -> Stop {
    let reason = format!("Expected to create instance of process with start instructions but {reason}");
    Stop::refused(Code::InvalidArgument, reason)
}
