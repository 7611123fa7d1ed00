//! What is run: the process, and the variables of an instance.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where a worker finds the moment an instance was begun.
const BEGUN: &str = "\"begun\":";

#[derive(Debug)]
pub(super) struct Subject {
    /// Process id and job type: of this run only, so that nothing an earlier run left is taken for its own.
    pub(super) name: String,
    pub(super) tasks: u32,
    filling: String,
}

impl Subject {
    pub(super) fn new(variables_bytes: usize, tasks: u32) -> Self {
        let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let mut subject = Self { name: format!("caudal-bench-{millis}"), tasks, filling: String::new() };
        let empty = subject.variables(1_000_000).len();
        subject.filling = "x".repeat(variables_bytes.saturating_sub(empty));
        subject
    }

    /// One variable, an object, of the size asked for. `begun` is in microseconds of the run.
    pub(super) fn variables(&self, begun: u64) -> String {
        format!("{{\"order\":{{{BEGUN}{begun},\"text\":\"{}\"}}}}", self.filling)
    }

    pub(super) fn bpmn(&self) -> String {
        let mut elements = String::new();
        let mut before = "start".to_owned();
        for number in 1..=self.tasks {
            let task = format!("task-{number}");
            let _never_fails = write!(
                elements,
                r#"<bpmn:serviceTask id="{task}"><bpmn:extensionElements><zeebe:taskDefinition type="{}"/></bpmn:extensionElements></bpmn:serviceTask>
<bpmn:sequenceFlow id="to-{task}" sourceRef="{before}" targetRef="{task}"/>
"#,
                self.name
            );
            before = task;
        }
        format!(
            r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<bpmn:process id="{}" isExecutable="true">
<bpmn:startEvent id="start"/>
{elements}<bpmn:endEvent id="end"/>
<bpmn:sequenceFlow id="to-end" sourceRef="{before}" targetRef="end"/>
</bpmn:process>
</bpmn:definitions>
"#,
            self.name
        )
    }

    /// The number of a task, from 1, by its id.
    pub(super) fn task_number(element_id: &str) -> u32 {
        element_id.strip_prefix("task-").and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// When the instance with these variables was begun.
    pub(super) fn begun(variables: &str) -> Option<u64> {
        let (_, rest) = variables.split_once(BEGUN)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn variables_have_their_size_and_tell_when() {
        let variables = Subject::new(512, 1).variables(1_234_567);
        assert_eq!(variables.len(), 512);
        assert_eq!(Subject::begun(&variables), Some(1_234_567));
        assert_eq!(Subject::begun(r#"{"order":{"text":"","begun":9}}"#), Some(9));
        assert_eq!(Subject::begun("{}"), None);
    }

    #[test]
    fn every_task_is_in_the_process() {
        let bpmn = Subject::new(0, 3).bpmn();
        assert_eq!(bpmn.matches("<bpmn:serviceTask").count(), 3);
        assert_eq!(Subject::task_number("task-3"), 3);
    }
}
