//! What is run: the process with all its files, what its instances need to go on, and their variables.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::model::Model;
use super::options::BenchRun;

/// Where a worker finds whose job it has.
const KEY: &str = "\"key\":\"";

#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) process_id: String,
    /// What is deployed: names and contents.
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) job_types: Vec<String>,
    /// Names of the messages published for every instance, with its key.
    pub(super) messages: Vec<String>,
    /// Jobs completed and messages published until an instance is done with.
    pub(super) steps: u32,
    /// What sets the keys of this run apart from those of earlier ones.
    run: String,
    /// More variables, as members of a JSON object with a comma in front.
    more: String,
    filling: String,
}

/// What an instance carries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// Of all its variables, as JSON.
    pub(super) bytes: usize,
    /// How many variables; those beside `order` have equal parts of it.
    pub(super) count: u32,
}

impl Size {
    pub(super) fn of(options: &BenchRun) -> Self {
        Self { bytes: options.variables_bytes, count: options.variables_count }
    }
}

impl Subject {
    /// Where nobody said: to be found out.
    pub(super) const STEPS_UNKNOWN: u32 = u32::MAX;

    /// Start → so many service tasks → end.
    pub(super) fn line(size: Size, tasks: u32) -> Self {
        let run = run();
        // Process id and job type are of this run only, so that nothing an earlier run left is taken for its own.
        let name = format!("caudal-bench-{run}");
        let files = vec![(format!("{name}.bpmn"), bpmn(&name, tasks).into_bytes())];
        let subject = Self {
            process_id: name.clone(),
            files,
            job_types: vec![name],
            messages: Vec::new(),
            steps: tasks,
            run,
            more: String::new(),
            filling: String::new(),
        };
        subject.filled(size)
    }

    /// A JSON workflow of two tasks, one after the other.
    pub(super) fn workflow(size: Size) -> Self {
        let mut subject = Self::line(size, 2);
        let (name, task) = (
            &subject.process_id,
            |id: &str, next: &str| json!({ "id": id, "name": id, "type": "SERVICE_TASK", "jobType": subject.process_id, "nextStep": next }),
        );
        let end = json!({ "id": "end", "name": "end", "type": "END" });
        let document = json!({ "id": name, "name": name, "steps": [task("first", "second"), task("second", "end"), end] });
        subject.files = vec![(format!("{name}.json"), document.to_string().into_bytes())];
        subject
    }

    /// A model of somebody's own.
    pub(super) fn of(model: Model, size: Size, steps: Option<u32>) -> Self {
        let Model { process_id, files, job_types, messages, more } = model;
        let steps = steps.unwrap_or(Self::STEPS_UNKNOWN);
        let subject = Self { process_id, files, job_types, messages, steps, run: run(), more, filling: String::new() };
        subject.filled(size)
    }

    fn filled(mut self, Size { bytes, count }: Size) -> Self {
        for number in 2..=count {
            let member = format!(",\"more-{number}\":\"\"");
            let text = "x".repeat((bytes / count as usize).saturating_sub(member.len()));
            self.more += &member.replace(":\"\"", &format!(":\"{text}\""));
        }
        let empty = self.variables(1_000_000).len();
        self.filling = "x".repeat(bytes.saturating_sub(empty));
        self
    }

    /// An object, with the others as large as was asked for, and those the caller wants.
    pub(super) fn variables(&self, number: u64) -> String {
        format!("{{\"order\":{{{KEY}{}\",\"text\":\"{}\"}}{}}}", self.key(number), self.filling, self.more)
    }

    /// What the messages of an instance are published with.
    pub(super) fn key(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    /// The number of the instance with these variables; none if it belongs to an earlier run.
    ///
    /// # Errors
    /// If they do not say.
    pub(super) fn number(&self, variables: &str) -> Result<Option<u64>, String> {
        let key = variables.split_once(KEY).and_then(|(_, rest)| rest.split_once('"'));
        let (run, number) = key.and_then(|(key, _)| key.split_once('-')).ok_or("a job has lost the variable 'order'")?;
        Ok(number.parse().ok().filter(|_| run == self.run))
    }
}

fn run() -> String {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis()).to_string()
}

fn bpmn(name: &str, tasks: u32) -> String {
    let mut elements = String::new();
    let mut before = "start".to_owned();
    for number in 1..=tasks {
        let task = format!("task-{number}");
        let _never_fails = write!(
            elements,
            r#"<bpmn:serviceTask id="{task}"><bpmn:extensionElements><zeebe:taskDefinition type="{name}"/></bpmn:extensionElements></bpmn:serviceTask>
<bpmn:sequenceFlow id="to-{task}" sourceRef="{before}" targetRef="{task}"/>
"#,
        );
        before = task;
    }
    format!(
        r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<bpmn:process id="{name}" isExecutable="true">
<bpmn:startEvent id="start"/>
{elements}<bpmn:endEvent id="end"/>
<bpmn:sequenceFlow id="to-end" sourceRef="{before}" targetRef="end"/>
</bpmn:process>
</bpmn:definitions>
"#,
    )
}

#[cfg(test)]
mod tests {
    use super::{Size, Subject};

    #[test]
    fn variables_have_their_size_and_tell_whose_they_are() {
        let subject = Subject::line(Size { bytes: 512, count: 1 }, 1);
        let variables = subject.variables(1_234_567);
        assert_eq!(variables.len(), 512);
        let several = Subject::line(Size { bytes: 512, count: 4 }, 1).variables(1_234_567);
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&several).unwrap();
        assert_eq!((several.len(), members.len()), (512, 4));
        assert_eq!(subject.number(&variables), Ok(Some(1_234_567)));
        assert_eq!(subject.number(r#"{"order":{"text":"","key":"0-9"}}"#), Ok(None));
        assert!(subject.number("{}").is_err());
    }

    #[test]
    fn every_task_is_in_the_process() {
        let subject = Subject::line(Size { bytes: 0, count: 1 }, 3);
        let bpmn = String::from_utf8_lossy(&subject.files[0].1);
        assert_eq!(bpmn.matches("<bpmn:serviceTask").count(), 3);
    }
}
