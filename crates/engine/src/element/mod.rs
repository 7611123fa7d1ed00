//! What each kind of element does on entry, and how it is left: one file per kind.

pub(crate) mod ad_hoc;
pub(crate) mod boundary_event;
pub(crate) mod call_activity;
pub(crate) mod catch_event;
pub(crate) mod compensation;
pub(crate) mod compensation_sub_process;
pub(crate) mod complex_gateway;
pub(crate) mod condition;
pub(crate) mod decision_task;
pub(crate) mod directed_ad_hoc;
pub(crate) mod end_event;
pub(crate) mod error;
pub(crate) mod escalation;
pub(crate) mod event_gateway;
pub(crate) mod event_sub_process;
pub(crate) mod exclusive_gateway;
pub(crate) mod inclusive_gateway;
pub(crate) mod job_task;
pub(crate) mod link_event;
pub(crate) mod listener;
pub(crate) mod multi_instance;
pub(crate) mod multiple_event;
pub(crate) mod parallel_gateway;
pub(crate) mod pass;
pub(crate) mod receive_task;
pub(crate) mod scope;
pub(crate) mod script_task;
pub(crate) mod standard_loop;
pub(crate) mod start_event;
pub(crate) mod throw_event;
pub(crate) mod transaction;
pub(crate) mod transformation;
pub(crate) mod user_task;
pub(crate) mod wait;

use crate::IncidentKind;
use crate::expression::Trouble;

/// The element was about to be entered by an instance that never waits.
pub(crate) fn loop_limit(entered: u32) -> Trouble {
    let message = format!(
        "the instance entered {entered} elements without waiting for anything: it looks like an endless loop; resolve to go on"
    );
    Trouble { kind: IncidentKind::LoopLimit, message }
}
