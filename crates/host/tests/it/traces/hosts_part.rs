//! What the host does by itself: it calls processes, decides, seeks forms and asks those outside. The engine's traces have commands for
//! that; here it happens with the command before, in a world prepared so that it comes out as written.

use engine::InstanceKey;

/// A command with everything that comes of it.
pub(super) struct Block<'a> {
    pub(super) line: &'a str,
    /// What the engine's trace tells the engine afterwards, and the host does by itself.
    parts: Vec<&'a str>,
    pub(super) happens: String,
}

/// What the host answers the engine with.
const ANSWERS: [&str; 7] = ["call", "no-process", "decide", "no-decision", "give-form", "no-form", "uncaught"];
/// What called instances do, which the host tells the one that called them.
const OF_CHILDREN: [&str; 3] = ["child", "child-error", "child-escalation"];

/// The commands of a trace as they are given here.
pub(super) fn blocks(commands: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for text in commands.split("\n\n") {
        let (line, happens) = text.split_once('\n').unwrap_or((text, ""));
        let line = line.strip_prefix("> ").expect("a command begins with '> '");
        let word = line.split_whitespace().next().unwrap_or_default();
        let is_refused = happens.starts_with("rejected");
        let is_hosts = ANSWERS.contains(&word) || OF_CHILDREN.contains(&word);
        // What the engine refuses the host the host never asks; a second start is a second instance here.
        if is_refused && (is_hosts || happens.contains("AlreadyStarted")) {
            continue;
        }
        match blocks.last_mut().filter(|_| ANSWERS.contains(&word)) {
            Some(before) => before.goes_on(line, happens),
            None => {
                blocks.push(Block { line, parts: Vec::new(), happens: happens.lines().map(|line| format!("{line}\n")).collect() })
            }
        }
    }
    blocks
}

impl<'a> Block<'a> {
    /// What one element does in a row is one line.
    fn goes_on(&mut self, part: &'a str, happens: &str) {
        self.parts.push(part);
        for line in happens.lines() {
            let (who, what) = line.split_once(' ').unwrap_or((line, ""));
            let last = self.happens.lines().last().unwrap_or_default();
            match last.split(' ').next() == Some(who) {
                true => self.happens.insert_str(self.happens.len() - 1, &format!(", {}", what.trim_start())),
                false => self.happens.push_str(&format!("{line}\n")),
            }
        }
    }

    /// The files that must be there so that the host's part comes out as written. `head` is the process.
    pub(super) fn world(&self, head: &str, commands: &str) -> Vec<(String, String)> {
        let sought = |what: &str| {
            let named = self.happens.split(what).skip(1);
            named.map(|rest| rest.split([',', '\n']).next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let tag = head.split("binding tag ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let mut files = Vec::new();
        for part in &self.parts {
            let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
            match word {
                "call" => files.extend(sought("calls process ").iter().map(|id| (format!("{id}.bpmn"), child(id, commands)))),
                "decide" => {
                    files.extend(sought("calls decision ").iter().map(|id| ("rules.dmn".to_owned(), rules(id, tag, rest))))
                }
                "give-form" => {
                    let form = |id: &String| (format!("{id}.form"), format!(r#"{{"id": "{id}", "versionTag": "{tag}"}}"#));
                    files.extend(sought("seeks form ").iter().map(form));
                }
                _ => {}
            }
        }
        files.dedup();
        files
    }
}

const BPMN: &str = r#"xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t""#;

/// A process that waits for a job and ends; before that it escalates, if the trace has it escalate.
fn child(id: &str, commands: &str) -> String {
    let task = |id: &str| {
        format!(
            r#"<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="{id}"/></extensionElements></serviceTask>"#
        )
    };
    let flow = |from: &str, to: &str| format!(r#"<sequenceFlow id="{from}-{to}" sourceRef="{from}" targetRef="{to}"/>"#);
    let code = commands.split("> child-escalation ").nth(1).and_then(|rest| rest.lines().next()?.split(' ').nth(1));
    let (escalation, inside) = match code {
        None => (String::new(), task("work") + &flow("start", "work") + &flow("work", "end")),
        Some(code) => {
            let tell =
                r#"<intermediateThrowEvent id="tell"><escalationEventDefinition escalationRef="e"/></intermediateThrowEvent>"#;
            let flows = [flow("start", "first"), flow("first", "tell"), flow("tell", "work"), flow("work", "end")].concat();
            let escalation = format!(r#"<escalation id="e" escalationCode="{code}"/>"#);
            (escalation, task("first") + tell + &task("work") + &flows)
        }
    };
    format!(
        r#"<definitions {BPMN}>{escalation}<process id="{id}" isExecutable="true"><startEvent id="start"/>{inside}<endEvent id="end"/></process></definitions>"#
    )
}

/// The id of a process that calls the one of the trace.
pub(super) const CALLER: &str = "caller";

pub(super) fn caller() -> String {
    format!(
        r#"<definitions {BPMN}><process id="{CALLER}" isExecutable="true"><startEvent id="start"/><callActivity id="call">
        <extensionElements><zeebe:calledElement processId="process"/></extensionElements></callActivity>
        <sequenceFlow id="f" sourceRef="start" targetRef="call"/></process></definitions>"#
    )
}

/// A decision with this output, or one that fails.
fn rules(id: &str, tag: &str, part: &str) -> String {
    let output = part.split_once(r#"{"output": "#).and_then(|(_, output)| output.strip_suffix('}'));
    let decides = match output {
        Some(output) => format!("<literalExpression><text>{output}</text></literalExpression>"),
        None => {
            let rule = |n: u32| {
                format!(
                    r#"<rule id="r{n}"><inputEntry id="i{n}"><text>-</text></inputEntry><outputEntry id="o{n}"><text>{n}</text></outputEntry></rule>"#
                )
            };
            let input =
                r#"<input id="i"><inputExpression id="ie"><text>1</text></inputExpression></input><output id="o" name="o"/>"#;
            format!(r#"<decisionTable id="t" hitPolicy="UNIQUE">{input}{}{}</decisionTable>"#, rule(1), rule(2))
        }
    };
    let tag = match tag {
        "" => String::new(),
        tag => format!(r#"<extensionElements><zeebe:versionTag value="{tag}"/></extensionElements>"#),
    };
    format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
        id="d" name="D" namespace="t"><decision id="{id}" name="{id}">{tag}{decides}</decision></definitions>"#
    )
}

/// Numbers of what the host makes are whatever comes next.
pub(super) fn without_number(part: &str) -> &str {
    let (words, last) = part.rsplit_once(' ').unwrap_or((part, ""));
    let is_numbered = words.ends_with("waits for instance") || words == "form";
    if is_numbered && last.parse::<u64>().is_ok() { words } else { part }
}

/// Which instance an element called.
pub(super) fn called(element: &engine::ElementInstance) -> Option<InstanceKey> {
    element.waits.iter().find_map(|wait| match wait.kind {
        engine::WaitKind::Child { instance } => Some(instance),
        _ => None,
    })
}
