//! Open files: as many as the system lets us have, divided between the edges so that none can use up those of another.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Connections;

/// Files that are no client's connection: the store's and its own connections, listeners, one connection of each edge that is just being
/// closed, what the runtime needs.
const RESERVED: u64 = 128;

/// Fewer connections than this make no server.
const CONNECTIONS_MIN: usize = 16;
/// So many are plenty where nobody asked for more: most systems allow fewer than the default.
const CONNECTIONS_PLENTY: usize = 1_000;

/// Asks the system for all the open files it grants, and lets the edges have no more connections than that.
pub(crate) fn share(connections: &mut Connections) {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let allowed = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    let Some(allowed) = allowed else { return };
    let shared = shared(connections, allowed);
    let (open_files, max, metrics_max) = (allowed, shared.max, shared.metrics_max);
    let told = "fewer connections than limits.connections: the system does not allow so many open files (`ulimit -n`)";
    if shared != *connections && CONNECTIONS_PLENTY <= max {
        tracing::debug!(open_files, connections = max, metrics_connections = metrics_max, "{told}");
    } else if shared != *connections {
        tracing::warn!(open_files, connections = max, metrics_connections = metrics_max, "{told}");
    }
    *connections = shared;
}

/// Metrics get theirs first: they are few, and are looked at when something is wrong.
fn shared(wanted: &Connections, allowed: u64) -> Connections {
    let free = usize::try_from(allowed.saturating_sub(RESERVED)).unwrap_or(usize::MAX);
    let metrics_max = wanted.metrics_max.min((free / 4).max(CONNECTIONS_MIN));
    let max = wanted.max.min((free.saturating_sub(metrics_max) / 2).max(CONNECTIONS_MIN));
    Connections { max, metrics_max, ..wanted.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::settings::Given;

    #[test]
    fn edges_share_what_the_system_allows() {
        let wanted = resolve(Given::default()).unwrap().connections;
        for (allowed, max, metrics_max) in
            [(u64::MAX, 10_000, 100), (20_228, 10_000, 100), (1_024, 398, 100), (256, 48, 32), (100, 16, 16)]
        {
            let shared = shared(&wanted, allowed);
            assert_eq!((shared.max, shared.metrics_max), (max, metrics_max), "{allowed}");
        }
    }
}
