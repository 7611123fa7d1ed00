//! Instances that begin at other elements than the start event, or end before the end.

use std::sync::Arc;

use engine::NotEntered;
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
        let elements = start.iter().map(|id| place(&process, id)).collect::<Result<Vec<_>, _>>()?;
        for id in end_after {
            found(&process, id)?;
        }
        let created = self.begin_created(tick, create, definition);
        let (end_after, variables) = (end_after.clone(), create.variables.clone());
        let command = engine::Command::StartAt(engine::StartAt { elements, end_after, variables });
        match self.step(tick, created.instance, &command)? {
            Ok(()) => Ok(Answer::Created(created)),
            Err(engine::Rejected::NotEntered(why)) => Err(wrong(why_not(&process, start, why))),
            Err(rejected) => Err(wrong(format!("it cannot begin there: {rejected:?}"))),
        }
    }
}

fn found(process: &Process, id: &str) -> Result<ElementIx, Stop> {
    let element = process.find(id).filter(|element| *element != Process::ROOT);
    element.ok_or_else(|| wrong(format!("no element found with id '{id}'")))
}

fn place(process: &Process, id: &Arc<str>) -> Result<ElementIx, Stop> {
    let element = found(process, id)?;
    match engine::can_be_entered(process, element) {
        Ok(()) => Ok(element),
        Err(why) => Err(wrong(why_not(process, std::slice::from_ref(id), why))),
    }
}

fn why_not(process: &Process, ids: &[Arc<str>], why: NotEntered) -> String {
    let places = format!("'{}'", ids.join("', '"));
    let named = |scope| &process.element(scope).id;
    match why {
        NotEntered::Kind => {
            format!("the element with id {places} is a start event or sits on a boundary: those come with what they belong to")
        }
        NotEntered::BehindEventGateway => format!("the element with id {places} belongs to an event-based gateway"),
        NotEntered::Repeated(scope) => {
            format!("of {places} one is inside '{}', which is repeated: nothing says in which of its instances", named(scope))
        }
        NotEntered::CannotWait(scope) => {
            format!("the events of '{}' cannot be waited for with the variables given", named(scope))
        }
        NotEntered::Ambiguous(_) | NotEntered::NoSuchScope | NotEntered::Elsewhere => format!("{places} cannot be entered"),
    }
}

fn wrong(reason: String) -> Stop {
    let reason = format!("Expected to create instance of process with start instructions but {reason}");
    Stop::refused(Code::InvalidArgument, reason)
}
