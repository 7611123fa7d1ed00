//! Names: the namespaces, what BPMN calls things, what it may contain that nobody executes.

use roxmltree::Node;

pub(super) const BPMN: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";
pub(crate) const ZEEBE: &str = "http://camunda.org/schema/zeebe/1.0";

/// Children of `definitions` that say nothing about execution, or are looked at only where they are referred to.
pub(super) const PASSIVE_ROOTS: [&str; 28] = [
    "category",
    "choreography",
    "collaboration",
    "conversation",
    "correlationProperty",
    "dataStore",
    "documentation",
    "endPoint",
    "error",
    "escalation",
    "extension",
    "extensionElements",
    "globalBusinessRuleTask",
    "globalChoreographyTask",
    "globalConversation",
    "globalManualTask",
    "globalScriptTask",
    "globalTask",
    "globalUserTask",
    "import",
    "interface",
    "itemDefinition",
    "message",
    "partnerEntity",
    "partnerRole",
    "relationship",
    "resource",
    "signal",
];

/// Children of any element that say nothing about execution.
pub(super) const PASSIVE_CHILDREN: [&str; 22] = [
    "auditing",
    "categoryValueRef",
    "dataInput",
    "dataInputAssociation",
    "dataOutput",
    "dataOutputAssociation",
    "documentation",
    "extensionElements",
    "humanPerformer",
    "incoming",
    "inputSet",
    "ioSpecification",
    "monitoring",
    "outgoing",
    "outputSet",
    "performer",
    "potentialOwner",
    "property",
    "rendering",
    "resourceRole",
    "script",
    "supports",
];

/// Children of a process or sub-process, besides those, that say nothing about execution.
pub(super) const PASSIVE_IN_SCOPE: [&str; 10] = [
    "association",
    "correlationSubscription",
    "dataObject",
    "dataObjectReference",
    "dataStoreReference",
    "group",
    "ioBinding",
    "laneSet",
    "supportedInterfaceRef",
    "textAnnotation",
];

/// The local name of a BPMN element, if it is one.
pub(super) fn bpmn_name<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    (node.tag_name().namespace() == Some(BPMN)).then(|| node.tag_name().name())
}

/// What to call an element in a sentence: "user task" for `userTask`. Only flow nodes of BPMN have words.
pub(super) fn words(local_name: &str) -> Option<&'static str> {
    Some(match local_name {
        "startEvent" => "start event",
        "endEvent" => "end event",
        "boundaryEvent" => "boundary event",
        "intermediateCatchEvent" => "intermediate catch event",
        "intermediateThrowEvent" => "intermediate throw event",
        "implicitThrowEvent" => "implicit throw event",
        "task" => "task",
        "manualTask" => "manual task",
        "serviceTask" => "service task",
        "sendTask" => "send task",
        "scriptTask" => "script task",
        "businessRuleTask" => "business rule task",
        "userTask" => "user task",
        "receiveTask" => "receive task",
        "callActivity" => "call activity",
        "subProcess" => "sub-process",
        "adHocSubProcess" => "ad-hoc sub-process",
        "transaction" => "transaction",
        "exclusiveGateway" => "exclusive gateway",
        "parallelGateway" => "parallel gateway",
        "inclusiveGateway" => "inclusive gateway",
        "eventBasedGateway" => "event-based gateway",
        "complexGateway" => "complex gateway",
        "choreographyTask" => "choreography task",
        "callChoreography" => "call choreography",
        "subChoreography" => "sub-choreography",
        _ => return None,
    })
}

/// The words with their article: "an end event".
pub(super) fn with_article(words: &str) -> String {
    let article = if words.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {words}")
}

/// What triggers an event, from the name of its definition: "message" for `messageEventDefinition`.
pub(super) fn trigger(local_name: &str) -> Option<&'static str> {
    Some(match local_name {
        "messageEventDefinition" => "message",
        "timerEventDefinition" => "timer",
        "errorEventDefinition" => "error",
        "signalEventDefinition" => "signal",
        "escalationEventDefinition" => "escalation",
        "conditionalEventDefinition" => "conditional",
        "compensateEventDefinition" => "compensation",
        "cancelEventDefinition" => "cancel",
        "linkEventDefinition" => "link",
        "terminateEventDefinition" => "terminate",
        "eventDefinitionRef" => "referenced",
        _ => return None,
    })
}

/// Whether a text can be an id in XML (an NCName).
pub(crate) fn is_id(text: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}');
    text.starts_with(begins) && text.chars().all(goes_on)
}

/// The id a reference names: some tools write a prefix before it.
pub(super) fn referred(reference: &str) -> &str {
    reference.rsplit_once(':').map_or(reference, |(_, id)| id).trim()
}

/// The boolean an attribute says, if it says one.
pub(super) fn boolean(value: &str) -> Option<bool> {
    match value.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// The text inside an element.
pub(super) fn content(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}
