//! How an activity is repeated: multi-instance with `zeebe:loopCharacteristics`, or a standard loop.

use feel::Expression;
use model::{LoopTest, MultiInstance, MultiOrder, MultiOutput, Repeat, StandardLoop};
use roxmltree::Node;

use super::extension;
use super::site::Site;
use super::vocabulary::{bpmn_name, content};
use crate::diagnostic::quoted;
use crate::expression;

const MULTI: &str = "multiInstanceLoopCharacteristics";
/// When what is repeated, or runs side by side, is over before its time.
pub(super) const COMPLETION: &str = "completionCondition";
const STANDARD: &str = "standardLoopCharacteristics";

/// Whether a child of an activity says how the activity is repeated.
pub(super) fn is_marker(name: &str) -> bool {
    matches!(name, MULTI | STANDARD)
}

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> Option<Repeat> {
    let activity = site.node;
    let mut markers = activity.children().filter(|child| bpmn_name(*child).is_some_and(is_marker));
    let marker = markers.next()?;
    if let Some(second) = markers.next() {
        site.complain_at(second, "an activity is repeated in one way only");
    }
    match bpmn_name(marker) {
        Some(MULTI) => multi_instance(site, marker).map(Repeat::Each),
        _ => standard_loop(site, marker).map(Repeat::Loop),
    }
}

fn multi_instance(site: &mut Site<'_, '_, '_>, marker: Node<'_, '_>) -> Option<MultiInstance> {
    check_children(site, marker, COMPLETION);
    if let Some(behavior) = marker.attribute("behavior").filter(|behavior| *behavior != "All") {
        let reason = format!("the behavior {} is not supported: throw events from inside the activity", quoted(behavior));
        site.complain_at(marker, reason);
    }
    let sequential = site.flag(marker, "isSequential", false)?;
    let order = if sequential { MultiOrder::Sequential } else { MultiOrder::Parallel };
    let until = condition(site, marker, COMPLETION, "the completion condition");
    let found = extension::all(marker, "loopCharacteristics");
    let &[characteristics] = found.as_slice() else {
        site.complain_at(marker, "multi-instance needs exactly one zeebe:loopCharacteristics");
        return None;
    };
    let attribute = |name: &str| characteristics.attribute(name).filter(|value| !value.is_empty());
    let collection = match attribute("inputCollection") {
        Some(value) => expression::required("the inputCollection", value),
        None => Err("zeebe:loopCharacteristics needs an inputCollection".to_owned()),
    };
    let collection = site.note(characteristics, collection);
    let output = output(site, characteristics);
    let item = attribute("inputElement").map(|name| expression::variable("the inputElement", name));
    let item = site.note(characteristics, item.transpose());
    Some(MultiInstance { order, collection: collection?, item: item?, output: output?, until: until? })
}

/// The list that is collected, if an extension says both what goes into it and where it goes.
pub(super) fn output(site: &mut Site<'_, '_, '_>, extension: Node<'_, '_>) -> Option<Option<MultiOutput>> {
    let attribute = |name: &str| extension.attribute(name).filter(|value| !value.is_empty());
    let output = match (attribute("outputCollection"), attribute("outputElement")) {
        (None, None) => Ok(None),
        (Some(collection), Some(element)) => expression::required("the outputElement", element).and_then(|element| {
            let collection = expression::variable("the outputCollection", collection)?;
            Ok(Some(MultiOutput { collection, element }))
        }),
        (Some(_), None) => Err("an outputCollection needs an outputElement: what each instance adds".to_owned()),
        (None, Some(_)) => Err("an outputElement needs an outputCollection: the variable for the list".to_owned()),
    };
    site.note(extension, output)
}

fn standard_loop(site: &mut Site<'_, '_, '_>, marker: Node<'_, '_>) -> Option<StandardLoop> {
    check_children(site, marker, "loopCondition");
    let test = if site.flag(marker, "testBefore", false)? { LoopTest::Before } else { LoopTest::After };
    let max = marker.attribute("loopMaximum").map(|value| {
        let number = value.trim().parse::<u32>();
        number.map_err(|_| format!("the loopMaximum is {}, but must be a whole number from 0", quoted(value)))
    });
    let max = site.note(marker, max.transpose());
    let condition = condition(site, marker, "loopCondition", "the loop condition");
    Some(StandardLoop { test, condition: condition?, max: max? })
}

/// The expression inside a child of that name: nothing, if it is refused.
#[expect(clippy::option_option, reason = "refused and absent are different")]
pub(super) fn condition(site: &mut Site<'_, '_, '_>, marker: Node<'_, '_>, name: &str, what: &str) -> Option<Option<Expression>> {
    let Some(node) = marker.children().find(|child| bpmn_name(*child) == Some(name)) else {
        return Some(None);
    };
    let condition = expression::required(what, content(node).trim());
    site.note(node, condition).map(Some)
}

/// What else BPMN can say about repeating would be ignored, so it is refused.
fn check_children(site: &mut Site<'_, '_, '_>, marker: Node<'_, '_>, expected: &str) {
    let mut seen = false;
    for child in marker.children().filter(Node::is_element) {
        let reason = match bpmn_name(child) {
            Some("documentation" | "extensionElements") => continue,
            Some(name) if name == expected && !seen => {
                seen = true;
                continue;
            }
            Some(name) if name == expected => format!("there is more than one {expected}"),
            Some("loopCardinality") => "a loopCardinality is not supported: use an inputCollection".to_owned(),
            _ => format!("{} is not supported here", quoted(child.tag_name().name())),
        };
        site.complain_at(child, reason);
    }
}
