//! How long what has ended is kept, as it is written in settings.

use std::time::Duration;

use host::{Kept, KeptOf, Retention};

use crate::settings::Settings;

pub(crate) fn retention(settings: &Settings) -> Result<Retention, String> {
    let time = |key: &str| kept(settings.text(key)).ok_or_else(|| refused(key, settings.text(key)));
    let rules = settings.texts("retention.instances_of");
    let rule = |rule: &String| kept_of(rule).ok_or_else(|| refused_rule(rule));
    Ok(Retention {
        instances: time("retention.instances")?,
        instances_of: rules.iter().map(rule).collect::<Result<_, _>>()?,
        log: time("retention.log")?,
        executions: time("retention.executions")?,
        evaluations: time("retention.evaluations")?,
        audit: time("retention.audit")?,
    })
}

pub(crate) fn refused(key: &str, text: &str) -> String {
    format!(
        "{key} is '{text}': use a number with d, h, m or s behind it for days, hours, minutes or seconds, such as 30d, or forever"
    )
}

fn refused_rule(rule: &str) -> String {
    format!("retention.instances_of has '{rule}': use PROCESS=7d, TENANT/*=forever or TENANT/PROCESS=90d")
}

pub(crate) fn kept(text: &str) -> Option<Kept> {
    if text == "forever" {
        return Some(Kept::Forever);
    }
    let seconds = match text.chars().last()? {
        'd' => 24 * 60 * 60,
        'h' => 60 * 60,
        'm' => 60,
        's' => 1,
        _ => return None,
    };
    // Digits alone: a sign is none.
    let number = text[..text.len() - 1].parse::<u32>().ok().filter(|_| !text.starts_with('+'))?;
    Some(Kept::For(Duration::from_secs(u64::from(number) * seconds)))
}

/// The id of a process has no `=`, and neither it nor a tenant has a `/`.
fn kept_of(rule: &str) -> Option<KeptOf> {
    let (of, time) = rule.split_once('=')?;
    let (tenant, process) = match of.split_once('/') {
        Some((tenant, process)) => (Some(tenant), process),
        None => (None, of),
    };
    let is_named = |name: &str| !name.is_empty() && name != "*" && !name.contains('/');
    let process_id = (process != "*" || tenant.is_none()).then_some(process);
    if tenant.is_some_and(|name| !is_named(name)) || process_id.is_some_and(|name| !is_named(name)) {
        return None;
    }
    Some(KeptOf { process_id: process_id.map(Into::into), tenant: tenant.map(Into::into), kept: kept(time)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_forever() {
        let seconds = |seconds| Some(Kept::For(Duration::from_secs(seconds)));
        for (text, time) in [
            ("30d", seconds(2_592_000)),
            ("12h", seconds(43_200)),
            ("5m", seconds(300)),
            ("0s", seconds(0)),
            ("forever", Some(Kept::Forever)),
            ("30", None),
            ("d", None),
            ("-1d", None),
            ("+1d", None),
            ("1.5d", None),
            ("", None),
            ("1µ", None),
        ] {
            assert_eq!(kept(text), time, "{text}");
        }
    }

    #[test]
    fn rules_name_a_process_a_tenant_or_both() {
        let names =
            |rule| kept_of(rule).map(|of| (of.process_id.as_deref().map(String::from), of.tenant.as_deref().map(String::from)));
        let some = |text: &str| Some(text.to_owned());
        for (rule, expected) in [
            ("p=7d", Some((some("p"), None))),
            ("t/*=forever", Some((None, some("t")))),
            ("t/p=90d", Some((some("p"), some("t")))),
            ("p", None),
            ("*=7d", None),
            ("/p=7d", None),
            ("*/p=7d", None),
            ("t/=7d", None),
            ("p=often", None),
        ] {
            assert_eq!(names(rule), expected, "{rule}");
        }
    }
}
