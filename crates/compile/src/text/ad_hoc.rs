//! `ad-hoc`: sub-processes in which things are started by name.

use model::{AdHoc, JobTaskFlavour, Kind, MultiOutput, Process, Scope};

use super::element::{assignment, job_task};
use super::words;
use crate::diagnostic::quoted;
use crate::draft::{Content, DraftElement};
use crate::expression;

/// Nothing, `= FEEL` for the ids of what is started with it, `by TYPE` for the job of who directs it; options say when it ends.
pub(super) fn read(rest: &str) -> Result<Kind, String> {
    let (entries, described) = (Vec::new(), "[]".into());
    let (run, active, until, output, directed) = (Process::ROOT, None, None, None, None);
    let mut ad_hoc = AdHoc { scope: Scope::default(), run, entries, described, active, until, drop_rest: true, output, directed };
    match (rest, rest.strip_prefix('='), rest.strip_prefix("by ")) {
        ("", _, _) => {}
        (_, Some(source), _) => ad_hoc.active = Some(expression::parse("the active elements", source)?),
        (_, _, Some(job_type)) => ad_hoc.directed = Some(Box::new(job_task(JobTaskFlavour::AdHoc, job_type)?)),
        (_, None, None) => return Err("write 'ad-hoc', 'ad-hoc = FEEL' or 'ad-hoc by TYPE'".to_owned()),
    }
    Ok(Kind::AdHoc(ad_hoc))
}

/// `until FEEL`, `keep-rest`, `collect VARIABLE = FEEL`
pub(super) fn option(draft: &mut DraftElement, word: &str, rest: &str) -> Result<(), String> {
    let Content::Read(Kind::AdHoc(ad_hoc)) = &mut draft.content else {
        return Err(format!("only an ad-hoc sub-process has the option {}", quoted(word)));
    };
    match word {
        "until" if ad_hoc.directed.is_some() => return Err("a worker says when it ends".to_owned()),
        "until" => ad_hoc.until = Some(expression::parse("the completion condition", rest)?),
        "keep-rest" => ad_hoc.drop_rest = false,
        _ => {
            let (collection, element) = assignment(rest)?;
            let element = expression::parse("the output element", element)?;
            ad_hoc.output = Some(MultiOutput { collection: collection.into(), element });
        }
    }
    Ok(())
}

/// As it is read again.
pub(super) fn write(ad_hoc: &AdHoc) -> String {
    match (&ad_hoc.directed, &ad_hoc.active) {
        (Some(task), _) => format!("ad-hoc by {}", super::event::write_value(&task.job_type)),
        (None, Some(active)) => format!("ad-hoc = {}", active.source()),
        (None, None) => "ad-hoc".to_owned(),
    }
}

/// The lines below it.
pub(super) fn options(ad_hoc: &AdHoc) -> Vec<String> {
    let mut lines: Vec<String> = ad_hoc.until.iter().map(|until| format!("until {}", until.source())).collect();
    if !ad_hoc.drop_rest {
        lines.push("keep-rest".to_owned());
    }
    let output = ad_hoc.output.as_ref();
    lines.extend(output.map(|output| format!("collect {} = {}", words::write(&output.collection), output.element.source())));
    lines
}
