//! Workflow → BPMN 2.0 XML with a drawing, so that `bpmn(drawn(process))` is the process again and people can look at it.
//!
//! Reading order: this file (the XML), `layers` (columns and who is above whom), `place` (rows, then points), `route` (lines).

mod layers;
mod names;
mod place;
mod route;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use model::{Element, ElementIx, FlowIx, Kind, Names as Candidates, Process, Retries, Text, Trigger};

use crate::bpmn::CAUDAL;
use crate::expression::literal;
use layers::{Edge, Graph};
use names::Names;
use place::{Bounds, EVENT, Size};

/// Writes a workflow as BPMN.
///
/// # Errors
/// Why it cannot be: it is none, or a text in it has characters that XML has no way to write.
pub fn drawn(process: &Process) -> Result<String, String> {
    let Some(workflow) = &process.workflow else { return Err("only a JSON workflow is drawn".to_owned()) };
    let ids = process.elements.iter().map(|element| &element.id).chain(process.flows.iter().map(|flow| &flow.id));
    let mut names = Names::keeping(ids);
    let mut elements: Vec<String> = process.elements.iter().map(|element| names.of(&element.id)).collect();
    // A step may have the id of the workflow itself; in XML there is one of each.
    if process.elements.iter().skip(1).any(|element| element.id == process.id) {
        elements[0] = names.fresh(&process.id);
    }
    let flows: Vec<String> = process.flows.iter().map(|flow| names.of(&flow.id)).collect();
    let hosts = process.elements.iter().enumerate();
    let hosts = hosts.flat_map(|(host, element)| element.boundaries.iter().map(move |event| (event.0 as usize, host))).collect();
    let mut writer = Writer { process, elements, flows, hosts, names, out: String::new() };
    writer.head();
    let name = process.name.as_deref().unwrap_or_default();
    let own = writer.own_id(0, &process.id);
    writer.line(1, &format!("<process id=\"{}\"{own}{} isExecutable=\"true\">", writer.elements[0], attribute("name", name)));
    if let Some(description) = &workflow.description {
        writer.line(2, &format!("<documentation>{}</documentation>", escaped(description)));
    }
    let next = workflow.next.as_deref().map_or(String::new(), |next| attribute("next", next));
    writer.line(2, &format!("<extensionElements><caudal:workflow{next}/></extensionElements>"));
    for index in 1..process.elements.len() {
        writer.element(index)?;
    }
    for index in 0..process.flows.len() {
        writer.flow(index)?;
    }
    writer.line(1, "</process>");
    writer.diagram();
    writer.out.push_str("</definitions>\n");
    match writer.out.chars().find(|c| !is_xml(*c)) {
        Some(c) => Err(format!("a text of the workflow has the character U+{:04X}, which XML cannot write", u32::from(c))),
        None => Ok(writer.out),
    }
}

struct Writer<'a> {
    process: &'a Process,
    /// What elements and flows are called in XML.
    elements: Vec<String>,
    flows: Vec<String>,
    /// What boundary events sit on.
    hosts: HashMap<usize, usize>,
    names: Names,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _never_fails = writeln!(self.out, "{:1$}{text}", "", depth * 2);
    }

    fn head(&mut self) {
        self.line(0, r#"<?xml version="1.0" encoding="UTF-8"?>"#);
        self.line(0, r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL""#);
        for (prefix, namespace) in [
            ("bpmndi", "http://www.omg.org/spec/BPMN/20100524/DI"),
            ("dc", "http://www.omg.org/spec/DD/20100524/DC"),
            ("di", "http://www.omg.org/spec/DD/20100524/DI"),
            ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
            ("zeebe", crate::bpmn::ZEEBE),
            ("caudal", CAUDAL),
        ] {
            self.line(2, &format!("xmlns:{prefix}=\"{namespace}\""));
        }
        let id = self.names.fresh("definitions");
        self.line(2, &format!("id=\"{id}\" targetNamespace=\"{CAUDAL}\">"));
    }

    /// The id itself, where XML has another.
    fn own_id(&self, element: usize, id: &str) -> String {
        if self.elements[element] == id { String::new() } else { attribute("caudal:id", id) }
    }

    fn element(&mut self, index: usize) -> Result<(), String> {
        let element = &self.process.elements[index];
        let (tag, attributes, content) = self.written(index, element)?;
        let own = self.own_id(index, &element.id);
        let name = element.name.as_deref().map_or(String::new(), |name| attribute("name", name));
        let head = format!("<{tag} id=\"{}\"{own}{name}{attributes}", self.elements[index]);
        match content.is_empty() {
            true => self.line(2, &format!("{head}/>")),
            false => self.line(2, &format!("{head}>{content}</{tag}>")),
        }
        Ok(())
    }

    /// Its tag, what else stands in it, and what it contains.
    fn written(&self, index: usize, element: &Element) -> Result<(&'static str, String, String), String> {
        let bare = |tag| Ok((tag, String::new(), String::new()));
        let extended =
            |tag, extension: String| Ok((tag, String::new(), format!("<extensionElements>{extension}</extensionElements>")));
        match &element.kind {
            Kind::StartEvent(None) => bare("startEvent"),
            Kind::EndEvent(model::EndEvent::None) => bare("endEvent"),
            Kind::ExclusiveGateway { .. } => bare("exclusiveGateway"),
            Kind::ParallelGateway => bare("parallelGateway"),
            Kind::InclusiveGateway(_) => bare("inclusiveGateway"),
            Kind::Wait => extended("receiveTask", "<caudal:wait/>".to_owned()),
            Kind::Transformation(entries) => extended("scriptTask", entries.iter().map(set).collect()),
            Kind::JobTask(task) => {
                let retries = if let Retries::Fixed(retries) = task.retries { retries } else { 1 };
                let definition = attribute("type", &text(&task.job_type));
                let headers = headers(&task.headers);
                extended("serviceTask", format!("<zeebe:taskDefinition{definition} retries=\"{retries}\"/>{headers}"))
            }
            Kind::UserTask(task) => extended("userTask", format!("<zeebe:userTask/>{}", candidates(&task.candidate_groups))),
            Kind::CallActivity(call) => {
                extended("callActivity", format!("<zeebe:calledElement{}/>", attribute("processId", &text(&call.process))))
            }
            Kind::BoundaryEvent(catch) => self.boundary(index, catch),
            _ => Err(format!("a workflow has no element like '{}'", element.id)),
        }
    }

    fn boundary(&self, index: usize, catch: &model::Catch) -> Result<(&'static str, String, String), String> {
        let Trigger::Timer(timer) = &catch.trigger else { return Err("a workflow has no event but timers".to_owned()) };
        let host = self.hosts.get(&index).copied().unwrap_or(0);
        let interrupting = if catch.interrupting { "" } else { " cancelActivity=\"false\"" };
        let attributes = format!(" attachedToRef=\"{}\"{interrupting}", self.elements[host]);
        let duration = escaped(&text(&timer.text));
        let duration = format!("<timeDuration xsi:type=\"tFormalExpression\">{duration}</timeDuration>");
        Ok(("boundaryEvent", attributes, format!("<timerEventDefinition>{duration}</timerEventDefinition>")))
    }

    fn flow(&mut self, index: usize) -> Result<(), String> {
        let flow = &self.process.flows[index];
        let own = if self.flows[index] == *flow.id { String::new() } else { attribute("caudal:id", &flow.id) };
        let [source, target] = [flow.source, flow.target].map(|end| &self.elements[end.0 as usize]);
        let head = format!("<sequenceFlow id=\"{}\"{own} sourceRef=\"{source}\" targetRef=\"{target}\"", self.flows[index]);
        match &flow.condition {
            None => self.line(2, &format!("{head}/>")),
            Some(condition) => {
                let source = escaped(condition.source());
                let expression = format!("<conditionExpression xsi:type=\"tFormalExpression\" language=\"{CAUDAL}\">{source}");
                self.line(2, &format!("{head}>{expression}</conditionExpression></sequenceFlow>"));
            }
        }
        Ok(())
    }

    fn diagram(&mut self) {
        let (diagram, plane) = (self.names.fresh("diagram"), self.names.fresh("plane"));
        self.line(1, &format!("<bpmndi:BPMNDiagram id=\"{diagram}\">"));
        self.line(2, &format!("<bpmndi:BPMNPlane id=\"{plane}\" bpmnElement=\"{}\">", self.elements[0]));
        let (shapes, lines) = laid_out(self.process);
        for (element, bounds) in shapes {
            let name = self.elements[element].clone();
            let shape = self.names.fresh(&format!("{name}_shape"));
            let marker = match self.process.elements[element].kind {
                Kind::ExclusiveGateway { .. } => " isMarkerVisible=\"true\"",
                _ => "",
            };
            let Bounds { x, y, width, height } = bounds;
            let bounds = format!("<dc:Bounds x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>");
            let head = format!("<bpmndi:BPMNShape id=\"{shape}\" bpmnElement=\"{name}\"{marker}>");
            self.line(3, &format!("{head}{bounds}</bpmndi:BPMNShape>"));
        }
        for (FlowIx(flow), points) in lines {
            let name = self.flows[flow as usize].clone();
            let edge = self.names.fresh(&format!("{name}_edge"));
            let points: String = points.iter().map(|(x, y)| format!("<di:waypoint x=\"{x}\" y=\"{y}\"/>")).collect();
            self.line(3, &format!("<bpmndi:BPMNEdge id=\"{edge}\" bpmnElement=\"{name}\">{points}</bpmndi:BPMNEdge>"));
        }
        self.line(2, "</bpmndi:BPMNPlane>");
        self.line(1, "</bpmndi:BPMNDiagram>");
    }
}

type Shapes = Vec<(usize, Bounds)>;
type Lines = Vec<(FlowIx, Vec<route::Point>)>;

/// Where elements and flows lie.
fn laid_out(process: &Process) -> (Shapes, Lines) {
    // Boundary events are drawn on what they sit on; all else is a node.
    let drawn = |element: &Element| !matches!(element.kind, Kind::BoundaryEvent(_) | Kind::Process(_));
    let nodes: Vec<usize> = (0..process.elements.len()).filter(|index| drawn(&process.elements[*index])).collect();
    let node_of: HashMap<usize, usize> = nodes.iter().enumerate().map(|(node, element)| (*element, node)).collect();
    let mut graph = Graph { nodes: nodes.len(), edges: Vec::new() };
    let (mut flows, mut events, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for (node, index) in nodes.iter().enumerate() {
        let element = &process.elements[*index];
        sizes.push(size(element));
        let leaving = |from: &Element, boundary: Option<(usize, ElementIx)>| {
            let edge = move |flow: &FlowIx| (*flow, boundary, process.flow(*flow).target.0 as usize);
            from.outgoing.iter().map(edge).collect::<Vec<_>>()
        };
        let boundaries = element.boundaries.iter().enumerate();
        let own = leaving(element, None);
        let caught = boundaries.flat_map(|(number, event)| leaving(process.element(*event), Some((number, *event))));
        for (flow, boundary, to) in own.into_iter().chain(caught) {
            graph.edges.push(Edge { from: node, to: node_of[&to], boundary: boundary.map(|(number, _)| number) });
            flows.push(flow);
            events.push(boundary.map(|(_, event)| event.0 as usize));
        }
    }
    let drawing = route::draw(&graph, &layers::layers(&graph), &sizes);
    let mut shapes: Shapes = nodes.into_iter().zip(drawing.nodes).collect();
    shapes.extend(events.into_iter().zip(drawing.boundaries).filter_map(|(event, bounds)| event.zip(bounds)));
    shapes.sort_unstable_by_key(|(element, _)| *element);
    (shapes, flows.into_iter().zip(drawing.lines).collect())
}

fn size(element: &Element) -> Size {
    let boundaries = element.boundaries.len() as i32;
    let (width, height) = match element.kind {
        Kind::StartEvent(_) | Kind::EndEvent(_) => (EVENT, EVENT),
        Kind::ExclusiveGateway { .. } | Kind::ParallelGateway | Kind::InclusiveGateway(_) => (50, 50),
        // Room for all that sit on it.
        _ => (100.max(boundaries * (EVENT + 10) + 10), 80),
    };
    Size { width, height, boundaries }
}

fn set((name, value): &(Arc<str>, Text)) -> String {
    let value = match value {
        Text::Fixed(json) => attribute("value", json),
        Text::Computed(expression) => attribute("expression", expression.source()),
    };
    format!("<caudal:set{}{value}/>", attribute("name", name))
}

fn headers(headers: &[(Arc<str>, Arc<str>)]) -> String {
    if headers.is_empty() {
        return String::new();
    }
    let header =
        |(key, value): &(Arc<str>, Arc<str>)| format!("<zeebe:header{}{}/>", attribute("key", key), attribute("value", value));
    format!("<zeebe:taskHeaders>{}</zeebe:taskHeaders>", headers.iter().map(header).collect::<String>())
}

fn candidates(groups: &Candidates) -> String {
    let Candidates::Fixed(groups) = groups else { return String::new() };
    if groups.is_empty() {
        return String::new();
    }
    // A plain list is split at commas and trimmed.
    let is_plain = |group: &Arc<str>| !group.contains([',', '=']) && group.trim() == &**group;
    let list = match groups.iter().all(is_plain) {
        true => groups.join(","),
        false => format!("=[{}]", groups.iter().map(|group| literal(group)).collect::<Vec<_>>().join(", ")),
    };
    format!("<zeebe:assignmentDefinition{}/>", attribute("candidateGroups", &list))
}

/// What begins like an expression and is none becomes one that gives it.
fn text(text: &Text) -> String {
    match text {
        Text::Fixed(plain) if plain.starts_with('=') => format!("={}", literal(plain)),
        Text::Fixed(plain) => plain.to_string(),
        Text::Computed(expression) => format!("={}", expression.source()),
    }
}

fn attribute(name: &str, value: &str) -> String {
    format!(" {name}=\"{}\"", escaped(value))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Readers take these for blanks.
            '\n' | '\r' | '\t' => drop(write!(escaped, "&#{};", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests;
