//! An ad-hoc sub-process that a worker directs: it waits for a job when it begins and whenever a run has ended, and the worker says what is
//! started next and when it is over. There is never more than one job of it.

use std::sync::Arc;

use model::{AdHoc, Kind};

use crate::element::{ad_hoc, job_task};
use crate::expression::Trouble;
use crate::step::Run;
use crate::variables::KEPT;
use crate::{Directed, ElementInstance, ElementKey, Event, On, Rejected, WaitEnd};

/// The job of its worker, if it has one.
pub(crate) fn job(run: &Run<'_>, key: ElementKey, ad_hoc: &AdHoc) -> Result<Option<On>, Trouble> {
    ad_hoc.directed.as_ref().map(|task| job_task::job_on(run, key, task)).transpose()
}

/// The worker has decided: all of it is done, or nothing.
pub(crate) fn direct(run: &mut Run<'_>, directed: &Directed) -> Result<(), Rejected> {
    let Directed { job, element: key, variables, activities, is_over, drop_rest } = directed;
    run.check_job(*job, *key)?;
    let process = run.process;
    let (Kind::AdHoc(ad_hoc), None) = (&process.element(run.instance.elements[key].element).kind, run.listener_of(*key)) else {
        // Other work, or a listener's: it decides nothing.
        run.complete_job(*job, *key, variables);
        return Ok(());
    };
    if *is_over && !activities.is_empty() {
        return Err(Rejected::OverAndMore);
    }
    let mut found = Vec::with_capacity(activities.len());
    for (id, variables) in activities {
        found.push((ad_hoc::entry(run, ad_hoc, id).ok_or(Rejected::NoSuchElement)?, variables));
    }
    run.complete_job(*job, *key, variables);
    if *drop_rest && (*is_over || !found.is_empty()) {
        run.drop_inside(*key, None);
    }
    for (element, variables) in found {
        ad_hoc::start(run, *key, ad_hoc, element, variables);
    }
    if *is_over {
        run.set_local(*key, &over(), &"true".into());
        run.end_if_empty(*key);
    }
    Ok(())
}

/// A run has ended: its worker is asked anew, unless it has said that there is nothing more. Trouble keeps the run there.
pub(crate) fn finish_run(run: &mut Run<'_>, (key, inner): (ElementKey, ElementKey), ad_hoc: &AdHoc) -> Result<(), Trouble> {
    if is_over(&run.instance.elements[&key]) {
        run.leave_run(inner);
        run.end_if_empty(key);
        return Ok(());
    }
    let job = job(run, key, ad_hoc)?;
    run.leave_run(inner);
    give_up_job(run, key);
    if let Some(job) = job {
        run.open(key, None, job);
    }
    Ok(())
}

/// A job that was made before the run ended knows too little.
fn give_up_job(run: &mut Run<'_>, key: ElementKey) {
    let alive = &run.instance.elements[&key];
    let Some(job) = alive.waits.iter().find_map(|wait| wait.job()) else { return };
    let incident = alive.incident.filter(|incident| run.instance.incidents[incident].job == Some(job));
    run.close(key, job.wait(), WaitEnd::Cancelled);
    if let Some(incident) = incident {
        run.emit(Event::IncidentResolved { key: incident, element: key });
    }
}

/// Whether its worker has said so.
pub(crate) fn is_over(ad_hoc: &ElementInstance) -> bool {
    ad_hoc.variables.get(&over()).is_some()
}

/// Kept once the worker has said that it is over.
fn over() -> Arc<str> {
    format!("{KEPT}over").into()
}
