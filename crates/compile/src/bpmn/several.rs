//! Events with several definitions (multiple, parallel multiple).

use model::{EndEvent, JobTaskFlavour, Needed, Several, Throw, Trigger};

use super::event::{self, Read, Thrown};
use super::site::{Definition, Site};
use super::vocabulary::{boolean, with_article};

/// What an event that catches has for several definitions: the trigger that stands for all, and each of them. `one` reads one of them
/// as the position of the event demands.
pub(super) fn caught<'a, 'input>(
    site: &mut Site<'a, 'input, '_>,
    definitions: &[Definition<'a, 'input>],
    one: fn(&mut Site<'a, 'input, '_>, &str, roxmltree::Node<'_, '_>) -> Read,
) -> Option<(Trigger, Vec<Trigger>)> {
    let needed = match site.attribute("parallelMultiple").and_then(boolean) {
        Some(true) => Needed::All,
        Some(false) | None => Needed::Any,
    };
    let mut parts = Vec::with_capacity(definitions.len());
    for (trigger, definition) in definitions {
        match one(site, trigger, *definition) {
            Read::Caught(Trigger::Error(_) | Trigger::Escalation(_)) if needed == Needed::All => {
                let reason =
                    format!("{} comes at once or never: it cannot be one of several that must all come", with_article(trigger));
                site.complain_at(*definition, reason);
            }
            Read::Caught(Trigger::Cancel | Trigger::Compensation) | Read::Unsupported => {
                site.complain_at(*definition, format!("{} cannot be one of several triggers here", with_article(trigger)));
            }
            Read::Caught(read) => parts.push(read),
            Read::Refused => {}
        }
    }
    let trigger = Trigger::Several(Several { parts: Vec::new(), needed });
    (parts.len() == definitions.len()).then_some((trigger, parts))
}

/// What an event that throws has for several definitions: signals and messages first, then at most one thing that changes its own fate.
pub(super) fn thrown(
    site: &mut Site<'_, '_, '_>,
    definitions: &[Definition<'_, '_>],
    flavour: JobTaskFlavour,
) -> Option<EndEvent> {
    let mut several = Vec::with_capacity(definitions.len());
    let mut last = None;
    for (trigger, definition) in definitions {
        let read = match (*trigger, flavour) {
            ("terminate", JobTaskFlavour::End) => Some(EndEvent::Terminate),
            ("cancel", JobTaskFlavour::End) => Some(EndEvent::Cancel),
            ("error", JobTaskFlavour::End) => event::error(site, *definition).map(|code| EndEvent::Error { code }),
            _ => match event::thrown(site, trigger, *definition, flavour) {
                Thrown::Throw(throw) => Some(EndEvent::Throw(throw)),
                Thrown::Job(_) => {
                    site.complain_at(*definition, "a worker does one message alone: publish it here with zeebe:publishMessage");
                    None
                }
                Thrown::Refused => None,
                Thrown::Unsupported => {
                    site.complain_at(*definition, format!("{} cannot be one of several here", with_article(trigger)));
                    None
                }
            },
        };
        match read? {
            EndEvent::Throw(throw @ (Throw::Signal { .. } | Throw::Message(_))) => several.push(throw),
            one if last.is_none() => last = Some(one),
            _ => {
                let reason = "only one of its definitions can be an error, an escalation, a compensation, a termination or a cancellation: it is \
                              the last thing it does";
                site.complain_at(*definition, reason);
                return None;
            }
        }
    }
    Some(match last {
        Some(EndEvent::Throw(throw)) => {
            several.push(throw);
            EndEvent::Throw(Throw::Several(several))
        }
        Some(end) => EndEvent::After { thrown: several, end: Box::new(end) },
        None => EndEvent::Throw(Throw::Several(several)),
    })
}
