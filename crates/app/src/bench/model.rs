//! A model of somebody's own: its files, the process that is started, and the types of the jobs its instances have.

use std::collections::BTreeSet;
use std::path::PathBuf;

use model::{Kind, Listener, Process, Text};
use serde_json::Value;

use super::options::BenchProcess;

#[derive(Debug)]
pub(super) struct Model {
    pub(super) process_id: String,
    /// Names and contents.
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) job_types: Vec<String>,
    pub(super) messages: Vec<String>,
    /// Variables as members of a JSON object with a comma in front.
    pub(super) more: String,
}

impl Model {
    /// Nothing if the bench is to use its own.
    pub(super) fn of(options: &BenchProcess) -> Result<Option<Self>, String> {
        if options.model.is_empty() {
            return Ok(None);
        }
        let files = options.model.iter().map(read).collect::<Result<Vec<_>, String>>()?;
        let mut processes = Vec::new();
        for (name, content) in &files {
            processes.extend(compiled(name, content)?);
        }
        let process_id = match &options.process_id {
            Some(id) => id.clone(),
            None => processes.first().ok_or("there is no process in --model")?.id.to_string(),
        };
        let mut job_types: BTreeSet<String> = options.job_type.iter().cloned().collect();
        for process in &processes {
            job_types.extend(job_types_of(process, !options.job_type.is_empty())?);
        }
        let more = variables(&options.variables)?;
        Ok(Some(Self { process_id, files, job_types: job_types.into_iter().collect(), messages: options.publish.clone(), more }))
    }
}

fn read(path: &PathBuf) -> Result<(String, Vec<u8>), String> {
    let content = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok((path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(), content))
}

/// The processes of a file. Decisions and forms have none.
fn compiled(name: &str, content: &[u8]) -> Result<Vec<Process>, String> {
    let processes = match name.rsplit_once('.') {
        Some((_, "bpmn")) => compile::bpmn(content).map(|compiled| compiled.processes),
        Some((_, "json")) => compile::json(content).map(|process| vec![process]),
        _ => return Ok(Vec::new()),
    };
    processes.map_err(|diagnostics| diagnostics.iter().map(|one| format!("{name}: {one}\n")).collect())
}

/// The types of the jobs an instance of it may have. One that is computed must have been named by the caller.
fn job_types_of(process: &Process, named: bool) -> Result<Vec<String>, String> {
    let mut types = Vec::new();
    for element in &process.elements {
        if matches!(element.kind, Kind::UserTask(_)) {
            return Err(format!("'{}' is for a person: the bench completes jobs alone", element.id));
        }
        let own = if let Kind::JobTask(task) = &element.kind { Some(&task.job_type) } else { None };
        let directing = if let Kind::AdHoc(ad_hoc) = &element.kind { ad_hoc.directed.as_ref() } else { None };
        let listeners = element.listeners.iter().flat_map(|all| all.iter().map(|Listener { job_type, .. }| job_type));
        for job_type in own.into_iter().chain(directing.map(|task| &task.job_type)).chain(listeners) {
            match job_type {
                Text::Fixed(job_type) => types.push(job_type.to_string()),
                Text::Computed(_) if named => {}
                Text::Computed(_) => {
                    return Err(format!("the job type of '{}' is computed: name it with --job-type", element.id));
                }
            }
        }
    }
    Ok(types)
}

fn variables(text: &str) -> Result<String, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) if members.contains_key("order") => Err("--variables: 'order' is the bench's own".to_owned()),
        Ok(Value::Object(members)) => {
            Ok(members.iter().map(|(name, value)| format!(",{}:{value}", Value::from(name.as_str()))).collect())
        }
        Ok(_) => Err("--variables: a JSON object is wanted".to_owned()),
        Err(error) => Err(format!("--variables: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{compiled, job_types_of, variables};

    fn types(body: &str, named: bool) -> Result<Vec<String>, String> {
        let text = format!("start: start -> a\n{body}\nend: end");
        job_types_of(&compile::text(&text).expect("the process is right"), named)
    }

    #[test]
    fn job_types_are_found() {
        assert_eq!(types("a: task pay -> b\nb: task ship -> end", false), Ok(vec!["pay".into(), "ship".into()]));
    }

    #[test]
    fn the_models_of_the_bench_are_understood() {
        let types = |name: &str, content: &str| {
            let processes = compiled(name, content.as_bytes()).expect("the model is right");
            processes.iter().flat_map(|process| job_types_of(process, false).expect("no type is computed")).count()
        };
        assert_eq!(types("call.bpmn", include_str!("../../../../spec/bpmn/bench/call.bpmn")), 1);
        assert_eq!(types("message.bpmn", include_str!("../../../../spec/bpmn/bench/message.bpmn")), 1);
        assert_eq!(types("multi-instance.bpmn", include_str!("../../../../spec/bpmn/bench/multi-instance.bpmn")), 1);
        assert_eq!(types("typical.bpmn", include_str!("../../../../spec/bpmn/bench/typical.bpmn")), 10);
    }

    #[test]
    fn a_decision_has_no_process() {
        assert!(compiled("shipping.dmn", b"").is_ok_and(|processes| processes.is_empty()));
        assert!(compiled("order.bpmn", b"<a/>").is_err_and(|reason| reason.starts_with("order.bpmn: ")));
    }

    #[test]
    fn variables_are_members() {
        assert_eq!(variables(r#"{"a": [1], "b": "x"}"#).as_deref(), Ok(r#","a":[1],"b":"x""#));
        assert_eq!(variables("{}").as_deref(), Ok(""));
        assert!(variables("[]").is_err() && variables(r#"{"order": 1}"#).is_err());
    }
}
