//! Ad-hoc sub-processes that a worker directs: what came of their jobs.

use engine::{Document, JobKey, Rejected};
use store::log::{AdHocResult, Answer, Code};
use store::row::JobOrigin;

use super::Partition;
use super::jobs::no_such_job;
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    pub(super) fn direct_ad_hoc(
        &mut self,
        tick: &mut Tick,
        (job, origin): (JobKey, JobOrigin),
        variables: &Document,
        result: &AdHocResult,
    ) -> Result<Answer, Stop> {
        let AdHocResult { activities, is_over, drop_rest } = result.clone();
        let (element, variables) = (origin.element_instance, variables.clone());
        let directed = engine::Directed { job, element, variables, activities, is_over, drop_rest };
        let ids = || result.activities.iter().map(|(id, _)| &**id).collect::<Vec<_>>().join(", ");
        match self.step(tick, origin.instance, &engine::Command::DirectAdHoc(directed))? {
            Ok(()) => Ok(Answer::Done),
            Err(Rejected::NoSuchElement) => Err(Stop::not_found(format!(
                "Expected to activate activities for ad-hoc sub-process with key '{element}', but not all of [{}] are activities of it \
                 that no flow leads to",
                ids()
            ))),
            Err(Rejected::OverAndMore) => {
                let reason = format!(
                    "Expected to activate activities [{}] for ad-hoc sub-process with key '{element}', but its completion condition is \
                     fulfilled: nothing more starts in it",
                    ids()
                );
                Err(Stop::refused(Code::InvalidArgument, reason))
            }
            Err(_) => Err(no_such_job(job, "complete job")),
        }
    }
}
