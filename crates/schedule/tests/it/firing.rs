//! When timers fire, case by case.

use schedule::Kind::{self, Cycle, Date, Duration};
use schedule::{Due, Millis, Missed, Occurrence, Timer, limits};

fn at(text: &str) -> Millis {
    match Timer::parse(Date, text) {
        Ok(Timer::Date(date)) => date.at(),
        Ok(Timer::Duration(_) | Timer::Cycle(_)) | Err(_) => panic!("{text} is a date"),
    }
}

fn timer(kind: Kind, text: &str) -> Timer {
    Timer::parse(kind, text).unwrap_or_else(|error| panic!("{error}"))
}

/// The first `count` occurrences, each fired in time.
fn planned(text: &str, armed: &str, count: usize) -> Vec<Millis> {
    let timer = timer(Cycle, text);
    let mut pending = Some(timer.first(at(armed)).unwrap());
    let mut planned = Vec::new();
    while let Some(occurrence) = pending.filter(|_| planned.len() < count) {
        planned.push(occurrence.at);
        assert_eq!(usize::try_from(occurrence.number), Ok(planned.len()));
        let due = timer.due(occurrence, occurrence.at.max(at(armed)), Missed::FireOnce);
        assert_eq!(due.fire, Some(occurrence));
        pending = due.next;
    }
    planned
}

/// `expected` has all there are if the cycle ends, else the first ones.
#[track_caller]
fn fires(text: &str, armed: &str, expected: &[&str]) {
    let expected: Vec<Millis> = expected.iter().map(|text| at(text)).collect();
    assert_eq!(planned(text, armed, expected.len()), expected, "{text} from {armed}");
}

#[track_caller]
fn over_after(text: &str, armed: &str, count: usize) {
    assert_eq!(planned(text, armed, count + 1).len(), count, "{text} from {armed}");
}

#[test]
fn dates_and_durations_fire_once() {
    let armed = at("2024-01-31T12:00:00Z");
    let table = [
        (Duration, "PT1S", "2024-01-31T12:00:01Z"),
        (Duration, "P1M", "2024-02-29T12:00:00Z"),
        (Duration, "P1Y1M", "2025-02-28T12:00:00Z"),
        (Duration, "P1MT12H", "2024-03-01T00:00:00Z"),
        (Duration, "P1M1D", "2024-03-01T12:00:00Z"),
        (Duration, "P2W", "2024-02-14T12:00:00Z"),
        (Duration, "PT0S", "2024-01-31T12:00:00Z"),
        (Duration, "-PT1S", "2024-01-31T12:00:00Z"),
        (Duration, "-P9999Y", "2024-01-31T12:00:00Z"),
        (Date, "2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        (Date, "2030-01-01T00:00:00+02:00", "2029-12-31T22:00:00Z"),
    ];
    for (kind, text, expected) in table {
        let timer = timer(kind, text);
        let first = timer.first(armed).unwrap();
        assert_eq!(first, Occurrence { armed, number: 1, at: at(expected) }, "{text}");
        // However late, whatever becomes of missed ones: it fires, and that is all.
        for missed in [Missed::FireOnce, Missed::FireAll, Missed::Skip { late_max: 0 }] {
            assert_eq!(timer.due(first, first.at, missed), Due { fire: Some(first), next: None });
            assert_eq!(timer.due(first, first.at + 1_000_000_000, missed), Due { fire: Some(first), next: None });
            assert_eq!(timer.due(first, first.at - 1, missed), Due { fire: None, next: Some(first) });
        }
    }
}

#[test]
fn what_would_be_past_the_last_year_is_an_error_or_the_end() {
    let armed = at("2024-01-31T12:00:00Z");
    for text in ["P9000Y", "PT78840000H", "P3652059D"] {
        let error = timer(Duration, text).first(armed).unwrap_err();
        assert!(error.to_string().ends_with("from now is outside the years 1 to 9999"), "{error}");
    }
    let error = timer(Cycle, "R/P9000Y").first(armed).unwrap_err();
    assert_eq!(error.to_string(), "R/P9000Y does not fire before the year 9999 is over");
    fires("R/P3000Y", "2024-01-31T12:00:00Z", &["5024-01-31T12:00:00Z", "8024-01-31T12:00:00Z"]);
    over_after("R/P3000Y", "2024-01-31T12:00:00Z", 2);
    over_after("R/PT720000H", "9900-01-01T00:00:00Z", 1);
    over_after("@yearly", "9997-06-01T00:00:00Z", 2);
    over_after("TZ=Asia/Tokyo 0 0 1 1 *", "9997-06-01T00:00:00Z", 2);
    // Times that no clock shows.
    for armed in [Millis::MIN, limits::AT_MIN - 1, limits::AT_MAX, limits::AT_MAX + 1, Millis::MAX] {
        assert!(timer(Duration, "P1D").first(armed).is_err());
        for cycle in ["R/P1D", "R/P1M", "R/2024-01-31T12:00:00+01:00[Europe/Madrid]/P1D", "@daily"] {
            let _ = timer(Cycle, cycle).first(armed);
            let pending = Occurrence { armed, number: u64::MAX, at: armed };
            for missed in [
                Missed::FireOnce,
                Missed::FireAll,
                Missed::Skip { late_max: Millis::MIN },
                Missed::Skip { late_max: Millis::MAX },
            ] {
                assert!(timer(Cycle, cycle).due(pending, Millis::MAX, missed).next.is_none_or(|next| next.at <= limits::AT_MAX));
                let _ = timer(Cycle, cycle).due(pending, Millis::MIN, missed);
            }
        }
    }
}

#[test]
fn intervals_repeat_as_often_as_they_say() {
    let armed = "2024-01-01T00:00:00Z";
    fires("R3/PT10S", armed, &["2024-01-01T00:00:10Z", "2024-01-01T00:00:20Z", "2024-01-01T00:00:30Z"]);
    over_after("R3/PT10S", armed, 3);
    over_after("R1/PT10S", armed, 1);
    over_after("R0/PT10S", armed, 1);
    assert_eq!(planned("R/PT10S", armed, 1_000).len(), 1_000);
    // A start is the first of them.
    fires("R2/2024-05-01T00:00:00Z/P1D", armed, &["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z"]);
    over_after("R2/2024-05-01T00:00:00Z/P1D", armed, 2);
    over_after("R1/2024-05-01T00:00:00Z/P1D", armed, 1);
}

#[test]
fn a_start_that_has_passed_fires_at_once_and_then_in_step_with_the_start() {
    let armed = "2023-07-26T08:10:00Z";
    let quarters = ["2023-07-26T08:10:00Z", "2023-07-26T08:15:00Z", "2023-07-26T08:30:00Z", "2023-07-26T08:45:00Z"];
    fires("R/2023-07-01T00:00:00+02:00/PT15M", armed, &quarters);
    fires("R3/2022-04-27T17:20:00Z/P1D", armed, &["2023-07-26T08:10:00Z", "2023-07-26T17:20:00Z", "2023-07-27T17:20:00Z"]);
    over_after("R3/2022-04-27T17:20:00Z/P1D", armed, 3);
    // Exactly now is not past.
    fires("R/2023-07-26T08:10:00Z/PT15M", armed, &["2023-07-26T08:10:00Z", "2023-07-26T08:25:00Z"]);
    fires("R/1776-07-04T00:00:00Z/PT1S", armed, &["2023-07-26T08:10:00Z", "2023-07-26T08:10:01Z"]);
}

#[test]
fn months_do_not_wear_off() {
    let ends = ["2024-02-29T12:00:00Z", "2024-03-31T12:00:00Z", "2024-04-30T12:00:00Z", "2024-05-31T12:00:00Z"];
    fires("R/P1M", "2024-01-31T12:00:00Z", &ends);
    fires(
        "R/2024-02-29T12:00:00Z/P1Y",
        "2024-01-31T12:00:00Z",
        &["2024-02-29T12:00:00Z", "2025-02-28T12:00:00Z", "2026-02-28T12:00:00Z", "2027-02-28T12:00:00Z", "2028-02-29T12:00:00Z"],
    );
    // The calendar is that of the start: the evening of the 31st in New York.
    let new_york = ["2024-01-31T23:00:00-05:00", "2024-02-29T23:00:00-05:00", "2024-03-31T23:00:00-05:00"];
    fires("R/2024-01-31T23:00:00-05:00/P1M", "2024-01-01T00:00:00Z", &new_york);
    fires("R/P1MT1H", "2024-01-31T12:00:00Z", &["2024-02-29T13:00:00Z", "2024-03-31T14:00:00Z", "2024-04-30T15:00:00Z"]);
}

#[test]
fn days_of_a_zone_follow_its_clocks() {
    let armed = "2024-01-01T00:00:00Z";
    let tens = ["2024-03-30T10:00:00+01:00", "2024-03-31T10:00:00+02:00", "2024-04-01T10:00:00+02:00"];
    fires("R/2024-03-30T10:00:00[Europe/Madrid]/P1D", armed, &tens);
    // An offset has no daylight saving.
    fires("R/2024-03-30T10:00:00+01:00/P1D", armed, &["2024-03-30T09:00:00Z", "2024-03-31T09:00:00Z", "2024-04-01T09:00:00Z"]);
    // Hours are hours.
    fires(
        "R/2024-03-31T01:00:00[Europe/Madrid]/PT1H",
        armed,
        &["2024-03-31T00:00:00Z", "2024-03-31T01:00:00Z", "2024-03-31T02:00:00Z"],
    );
    let skipped = ["2024-03-30T02:30:00+01:00", "2024-03-31T03:00:00+02:00", "2024-04-01T02:30:00+02:00"];
    fires("R/2024-03-30T02:30:00[Europe/Madrid]/P1D", armed, &skipped);
    let twice = ["2024-10-26T02:30:00+02:00", "2024-10-27T02:30:00+02:00", "2024-10-28T02:30:00+01:00"];
    fires("R/2024-10-26T02:30:00[Europe/Madrid]/P1D", armed, &twice);
    // Samoa had no 30 December 2011: two midnights are one.
    let samoa = ["2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"];
    fires("R/2011-12-29T00:00:00[Pacific/Apia]/P1D", "2011-01-01T00:00:00Z", &samoa);
}

#[test]
fn cron_shows_seconds_to_months() {
    let armed = "2024-01-01T00:00:00Z"; // a Monday
    fires("*/20 * * * * *", armed, &["2024-01-01T00:00:20Z", "2024-01-01T00:00:40Z", "2024-01-01T00:01:00Z"]);
    fires("* * * * *", armed, &["2024-01-01T00:01:00Z", "2024-01-01T00:02:00Z"]);
    fires("* * * * * *", "2024-01-01T00:00:00.001Z", &["2024-01-01T00:00:01Z", "2024-01-01T00:00:02Z"]);
    fires(
        "5 10,40 6/9 * * *",
        armed,
        &["2024-01-01T06:10:05Z", "2024-01-01T06:40:05Z", "2024-01-01T15:10:05Z", "2024-01-01T15:40:05Z", "2024-01-02T06:10:05Z"],
    );
    fires("59 59 23 31 12 *", armed, &["2024-12-31T23:59:59Z", "2025-12-31T23:59:59Z"]);
    fires("0 0 12 31 * *", armed, &["2024-01-31T12:00:00Z", "2024-03-31T12:00:00Z", "2024-05-31T12:00:00Z"]);
    fires("0 0 0 29 FEB *", armed, &["2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"]);
    fires("0 0 0 1 1-12/5 *", armed, &["2024-06-01T00:00:00Z", "2024-11-01T00:00:00Z", "2025-01-01T00:00:00Z"]);
    fires("@yearly", armed, &["2025-01-01T00:00:00Z"]);
    fires("@monthly", armed, &["2024-02-01T00:00:00Z"]);
    fires("@weekly", armed, &["2024-01-07T00:00:00Z", "2024-01-14T00:00:00Z"]);
    fires("@daily", armed, &["2024-01-02T00:00:00Z"]);
    fires("@hourly", armed, &["2024-01-01T01:00:00Z"]);
    assert_eq!(planned("@midnight", armed, 9), planned("@daily", armed, 9));
    assert_eq!(planned("@annually", armed, 9), planned("@yearly", armed, 9));
}

#[test]
fn cron_shows_days() {
    let armed = "2024-01-01T12:00:00Z"; // a Monday
    let noon = |text: &str, days: &[&str]| {
        let days: Vec<String> = days.iter().map(|day| format!("2024-{day}T12:00:00Z")).collect();
        fires(text, armed, &days.iter().map(String::as_str).collect::<Vec<_>>());
    };
    noon("0 12 * * MON-FRI", &["01-02", "01-03", "01-04", "01-05", "01-08"]);
    noon("0 12 ? * SAT,7", &["01-06", "01-07", "01-13"]);
    noon("0 12 * * 0", &["01-07", "01-14"]);
    noon("0 12 * * SUN-TUE", &["01-02", "01-07", "01-08", "01-09"]);
    noon("0 12 * * 6-1/2", &["01-06", "01-08", "01-13"]);
    noon("0 12 * * */2", &["01-03", "01-05", "01-07", "01-08"]);
    noon("0 12 * * 0/2", &["01-02", "01-04", "01-06", "01-07"]);
    noon("0 12 L * *", &["01-31", "02-29", "03-31", "04-30"]);
    noon("0 12 L-3 * ?", &["01-28", "02-26", "03-28", "04-27"]);
    noon("0 12 LW * *", &["01-31", "02-29", "03-29", "04-30", "05-31", "06-28"]);
    // 15 June is a Saturday, 15 September a Sunday.
    noon("0 12 15W 6,9,10 *", &["06-14", "09-16", "10-15"]);
    // 1 June is a Saturday, 1 September a Sunday, 30 June and 31 March are Sundays: never out of the month.
    noon("0 12 1W 6,9 *", &["06-03", "09-02"]);
    noon("0 12 30W 6 *", &["06-28"]);
    noon("0 12 31W 2-4 *", &["03-29"]);
    // 29 February 2025 would be a Saturday, but the 28th is not its nearest working day.
    fires("0 12 29W 2 *", armed, &["2024-02-29T12:00:00Z", "2028-02-29T12:00:00Z"]);
    noon("0 12 * * FRI#2", &["01-12", "02-09"]);
    noon("0 12 * * 1#5", &["01-29", "04-29", "07-29"]);
    noon("0 12 * * 5L", &["01-26", "02-23"]);
    noon("0 12 * * SUNL,0#1", &["01-07", "01-28", "02-04", "02-25"]);
    noon("0 12 5,L,15W * *", &["01-05", "01-15", "01-31", "02-05"]);
    // Both fields: the 13ths that are Fridays.
    noon("0 12 13 * FRI", &["09-13", "12-13"]);
    fires("0 12 29 2 MON", armed, &["2044-02-29T12:00:00Z", "2072-02-29T12:00:00Z"]);
}

#[test]
fn cron_goes_with_the_clocks() {
    // Forward at 02:00 on 31 March, back at 03:00 on 27 October.
    let before = "2024-03-30T12:00:00Z";
    fires("TZ=Europe/Madrid 0 9 * * *", before, &["2024-03-31T09:00:00+02:00", "2024-04-01T09:00:00+02:00"]);
    fires("TZ=Europe/Madrid 30 2 * * *", before, &["2024-03-31T03:00:00+02:00", "2024-04-01T02:30:00+02:00"]);
    fires("TZ=Europe/Madrid 30 2,3 * * *", before, &["2024-03-31T03:00:00+02:00", "2024-03-31T03:30:00+02:00"]);
    let skipped = ["2024-03-31T01:30:00+01:00", "2024-03-31T03:00:00+02:00", "2024-03-31T03:30:00+02:00"];
    fires("TZ=Europe/Madrid */30 * * * *", "2024-03-31T00:15:00Z", &skipped);
    let before = "2024-10-26T12:00:00Z";
    fires("TZ=Europe/Madrid 30 2 * * *", before, &["2024-10-27T02:30:00+02:00", "2024-10-28T02:30:00+01:00"]);
    let twice = ["2024-10-27T02:30:00+02:00", "2024-10-27T03:00:00+01:00", "2024-10-27T03:30:00+01:00"];
    fires("TZ=Europe/Madrid */30 * * * *", "2024-10-27T00:15:00Z", &twice);
    // Armed while the clocks show the hour for the second time.
    fires("TZ=Europe/Madrid */30 * * * *", "2024-10-27T02:15:00+01:00", &twice[1..]);
    fires(
        "TZ=Europe/Madrid * * * * * *",
        "2024-10-27T02:00:00+01:00",
        &["2024-10-27T03:00:00+01:00", "2024-10-27T03:00:01+01:00"],
    );
    fires("TZ=Europe/Madrid 0 3 * * *", "2024-10-27T02:59:59.999+01:00", &["2024-10-27T03:00:00+01:00"]);
    // The last change before a zone's rules go on for ever.
    let juarez = ["2022-11-30T05:30:00Z", "2022-11-30T07:00:00Z", "2022-11-30T07:30:00Z"];
    fires("TZ=America/Ciudad_Juarez */30 * * * *", "2022-11-30T05:00:00Z", &juarez);
    fires("TZ=America/Ciudad_Juarez */30 * * * *", "2022-11-30T06:00:00Z", &juarez[1..]);
    fires("TZ=America/Ciudad_Juarez */30 * * * *", "2022-11-30T06:59:59.999Z", &juarez[1..]);
    // A zone whose lasting rule puts the clocks back on a day they were not.
    let nuuk =
        ["2023-10-28T22:30:00-02:00", "2023-10-28T23:00:00-02:00", "2023-10-28T23:30:00-02:00", "2023-10-29T00:00:00-02:00"];
    fires("TZ=America/Nuuk */30 * * * *", "2023-10-29T00:00:00Z", &nuuk);
    // Two hours at Troll, put back at 03:00.
    let troll = ["2024-10-27T02:30:00+02:00", "2024-10-27T03:00:00+00:00", "2024-10-27T03:30:00+00:00"];
    fires("TZ=Antarctica/Troll */30 * * * *", "2024-10-27T00:00:00Z", &troll);
    fires("TZ=Antarctica/Troll */30 * * * *", "2024-10-27T02:15:00Z", &troll[1..]);
    // Half an hour on Lord Howe, midnight in Beirut, a whole day in Samoa.
    fires(
        "TZ=Australia/Lord_Howe 15 2 * * *",
        "2024-10-05T00:00:00Z",
        &["2024-10-06T02:30:00+11:00", "2024-10-07T02:15:00+11:00"],
    );
    fires("TZ=Asia/Beirut @daily", "2024-03-30T12:00:00Z", &["2024-03-31T01:00:00+03:00", "2024-04-01T00:00:00+03:00"]);
    fires("TZ=Pacific/Apia 0 12 * * *", "2011-12-29T12:00:00-10:00", &["2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"]);
}

#[test]
fn missed_occurrences() {
    let armed = at("2024-01-01T00:00:00Z");
    let second = |seconds: i64| armed + seconds * 1_000;
    let occurrence = |number: u64, seconds: i64| Some(Occurrence { armed, number, at: second(seconds) });
    let wake = |text: &str, pending: Option<Occurrence>, seconds: i64, missed: Missed| {
        let due = timer(Cycle, text).due(pending.unwrap(), second(seconds), missed);
        (due.fire, due.next)
    };
    let first = occurrence(1, 10);
    assert_eq!(timer(Cycle, "R/PT10S").first(armed).ok(), first);
    // Four have been missed: 10, 20, 30 and 40.
    assert_eq!(wake("R/PT10S", first, 45, Missed::default()), (first, occurrence(2, 50)));
    assert_eq!(wake("R/PT10S", first, 50, Missed::FireOnce), (first, occurrence(2, 60)));
    assert_eq!(wake("R/PT10S", first, 45, Missed::FireAll), (first, occurrence(2, 20)));
    assert_eq!(wake("R/PT10S", occurrence(2, 20), 45, Missed::FireAll), (occurrence(2, 20), occurrence(3, 30)));
    assert_eq!(wake("R/PT10S", first, 45, Missed::Skip { late_max: 1_000 }), (None, occurrence(1, 50)));
    assert_eq!(wake("R/PT10S", first, 45, Missed::Skip { late_max: 5_000 }), (occurrence(1, 40), occurrence(2, 50)));
    assert_eq!(wake("R/PT10S", first, 45, Missed::Skip { late_max: 4_999 }), (None, occurrence(1, 50)));
    assert_eq!(wake("R/PT10S", first, 45, Missed::Skip { late_max: 20_000 }), (occurrence(1, 30), occurrence(2, 50)));
    assert_eq!(wake("R/PT10S", first, 45, Missed::Skip { late_max: 60_000 }), (first, occurrence(2, 50)));
    assert_eq!(wake("R/PT10S", first, 10, Missed::Skip { late_max: 0 }), (first, occurrence(2, 20)));
    assert_eq!(wake("R/PT10S", first, 10, Missed::Skip { late_max: -5 }), (first, occurrence(2, 20)));
    // Three times is three times, however many were missed.
    assert_eq!(wake("R3/PT10S", occurrence(2, 20), 1_000, Missed::FireOnce), (occurrence(2, 20), occurrence(3, 1_010)));
    assert_eq!(wake("R3/PT10S", occurrence(3, 30), 1_000, Missed::FireOnce), (occurrence(3, 30), None));
    assert_eq!(wake("R3/PT10S", occurrence(3, 30), 1_000, Missed::Skip { late_max: 0 }), (occurrence(3, 1_000), None));
    assert_eq!(wake("R1/PT10S", first, 1_000, Missed::FireAll), (first, None));
    // Not yet.
    for missed in [Missed::FireOnce, Missed::FireAll, Missed::Skip { late_max: 0 }] {
        assert_eq!(wake("R3/PT10S", first, 9, missed), (None, first));
    }
    // Cron alike.
    assert_eq!(wake("*/10 * * * * *", first, 45, Missed::FireOnce), (first, occurrence(2, 50)));
    assert_eq!(wake("*/10 * * * * *", first, 45, Missed::FireAll), (first, occurrence(2, 20)));
    assert_eq!(wake("*/10 * * * * *", first, 45, Missed::Skip { late_max: 1_000 }), (None, occurrence(1, 50)));
}
