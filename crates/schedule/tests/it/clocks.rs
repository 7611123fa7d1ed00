//! Cron and cycles against a clock on a wall that is watched, in every zone and wherever its clocks were changed in twenty years.
//!
//! A debug build looks at some of it, within seconds. `PROPTEST_CASES=20000 cargo test --release -p schedule` looks at all.

use crate::reference::cron::{crons, times};
use crate::reference::{DAY, HOUR, MINUTE, YEARS, all_changes, changes, first_shown, leafed, shown, watched, zones};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use schedule::{Cycle, Millis};
use std::ops::Range;

fn cycle(text: &str) -> Cycle {
    Cycle::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// What a cycle asks for in a span of time; its start left out, its end not.
fn asked(cycle: &Cycle, armed: Millis, span: Range<Millis>) -> Vec<Millis> {
    let next = |at: &Millis| cycle.after(armed, *at).inspect(|next| assert!(at < next, "{cycle} after {at} is {next}"));
    std::iter::successors(next(&span.start), next).take_while(|at| *at <= span.end).collect()
}

fn in_zone(zone: &TimeZone, cron: &str) -> Cycle {
    cycle(&format!("TZ={} {cron}", zone.iana_name().unwrap()))
}

/// Which changes of clocks are looked at one by one: each, or each so-manieth.
const EACH: usize = if cfg!(debug_assertions) { 23 } else { 1 };
/// Days of a calendar that are leafed through to see that nothing is on them. It repeats itself after 400 years.
const CALENDAR_DAYS: usize = if cfg!(debug_assertions) { 4_000 } else { 146_097 };

#[test]
fn every_change_of_every_clock_in_twenty_years() {
    type Asked = fn(i8, i8) -> bool;
    let crons: [(&str, Asked); 4] = [
        ("30 2 * * *", |hour, minute| (hour, minute) == (2, 30)),
        ("0 0 * * *", |hour, minute| (hour, minute) == (0, 0)),
        ("*/40 1-3 * * *", |hour, minute| (1..=3).contains(&hour) && minute % 40 == 0),
        ("* * * * *", |_, _| true),
    ];
    let (mut count, mut back) = (0, 0);
    for zone in zones() {
        let cycles = crons.map(|(text, asks)| (in_zone(&zone, text), asks));
        for change in changes(&zone).into_iter().skip(count % EACH).step_by(EACH) {
            let (cycle, asks) = &cycles[count % crons.len()];
            let span = change - 4 * HOUR..change + 4 * HOUR;
            let expected = watched(&zone, span.clone(), MINUTE, |local| asks(local.hour(), local.minute()));
            assert_eq!(asked(cycle, 0, span.clone()), expected, "{cycle} around {change}");
            // Asked when the clocks have just been changed, and may show what they have shown before.
            for begin in [change, change + 25 * MINUTE + 1, change + 100 * MINUTE] {
                let rest: Vec<Millis> = expected.iter().copied().filter(|at| begin < *at).collect();
                assert_eq!(asked(cycle, 0, begin..span.end), rest, "{cycle} from {begin} on");
            }
            count += 1;
            back += usize::from(shown(&zone, change) < shown(&zone, change - 1));
        }
    }
    // Or nothing was looked at.
    assert!(5_000 / EACH < count && 2_000 / EACH < back, "{count} changes, {back} of them back");
}

/// What `zone.rs` takes for granted.
#[test]
fn clocks_are_changed_once_in_two_days_and_put_back_by_less_than_one() {
    for zone in zones() {
        let offset = |at: Millis| shown(&TimeZone::UTC, at).duration_until(shown(&zone, at)).as_millis();
        let name = zone.iana_name().unwrap();
        let changes: Vec<Millis> =
            all_changes(&zone, 0..4_102_444_800_000).into_iter().filter(|at| offset(at - 1) != offset(*at)).collect();
        for change in &changes {
            assert!(offset(change - 1) - offset(*change) < i128::from(DAY), "{name} at {change}");
            assert!(change % 1_000 == 0 && offset(*change).abs() <= i128::from(15 * HOUR), "{name} at {change}");
        }
        assert!(changes.is_sorted_by(|one, other| one + 2 * DAY < *other), "{name}: {changes:?}");
    }
}

/// Some moment of the twenty years in some zone, half of the time near a change of its clocks.
fn moments() -> impl Strategy<Value = (TimeZone, Millis)> {
    let all = zones();
    let away = prop_oneof![-DAY..DAY, -2 * HOUR..2 * HOUR];
    let near = (prop::sample::select(all), any::<prop::sample::Index>(), YEARS, away, any::<bool>());
    near.prop_map(|(zone, index, anywhere, away, near)| {
        let changes = changes(&zone);
        let moment = if near && !changes.is_empty() { *index.get(&changes) + away } else { anywhere };
        (zone, moment - moment.rem_euclid(MINUTE))
    })
}

/// Nothing, half of the time.
fn amounts(end: i64) -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), 0..end]
}

proptest! {
    /// A day, minute by minute.
    #[test]
    fn cron_is_what_a_clock_shows((zone, moment) in moments(), cron in times()) {
        let span = moment - DAY / 2..moment + DAY / 2;
        let expected = watched(&zone, span.clone(), MINUTE, |local| cron.asks(local));
        prop_assert_eq!(asked(&in_zone(&zone, &cron.text()), 0, span), expected, "{} in {:?}", cron.text(), zone);
    }

    /// Half an hour, second by second.
    #[test]
    fn cron_is_what_a_clock_shows_by_the_second((zone, moment) in moments(), cron in crons()) {
        let span = moment..moment + HOUR / 2;
        let Ok(parsed) = Cycle::parse(&format!("TZ={} {}", zone.iana_name().unwrap(), cron.text())) else {
            return Ok(());
        };
        let expected = watched(&zone, span.clone(), 1_000, |local| cron.asks(local));
        prop_assert_eq!(asked(&parsed, 0, span), expected, "{}", parsed);
    }

    /// Two years, day by day; a cron that is refused asks for no day at all.
    #[test]
    fn cron_is_what_a_calendar_shows(cron in crons(), from in YEARS) {
        let from = from - from.rem_euclid(DAY);
        let noon = format!("0 0 12 {}", cron.text().split(' ').skip(3).collect::<Vec<_>>().join(" "));
        let dates = shown(&TimeZone::UTC, from).date().series(jiff::Span::new().days(1));
        match Cycle::parse(&noon) {
            Ok(parsed) => {
                let days = (0..2 * 365).zip(dates).filter(|(_, date)| cron.asks_day(*date));
                let expected: Vec<Millis> = days.map(|(day, _)| from + day * DAY + DAY / 2).collect();
                prop_assert_eq!(asked(&parsed, 0, from..from + 2 * 365 * DAY), expected, "{}", noon);
            }
            Err(error) => {
                prop_assert!(error.to_string().contains("never fire"), "{}", error);
                prop_assert_eq!(dates.take(CALENDAR_DAYS).find(|date| cron.asks_day(*date)), None, "{}", noon);
            }
        }
    }

    /// The first occurrences of an interval, and from any moment between them on.
    #[test]
    fn intervals_are_what_a_calendar_shows(
        (zone, start) in moments(), months in amounts(15), days in amounts(40), minutes in amounts(3_000), skip in 0.0..1.0_f64,
    ) {
        let minutes = if months + days + minutes == 0 { 1 } else { minutes };
        let local = shown(&zone, start);
        let text = format!("R/{local}[{}]/P{months}M{days}DT{minutes}M", zone.iana_name().unwrap());
        let steps = (0..12).map(|step| {
            let day = leafed(local, months * step, days * step);
            (if months + days == 0 { first_shown(&zone, local) } else { first_shown(&zone, day) }) + minutes * step * MINUTE
        });
        let mut expected: Vec<Millis> = steps.collect();
        expected.dedup();
        let (first, last) = (expected[0], *expected.last().unwrap());
        let cycle = cycle(&text);
        prop_assert_eq!(&asked(&cycle, 0, first - 1..last), &expected, "{}", text);
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "anywhere between will do")]
        let between = first + ((last - first) as f64 * skip) as Millis;
        let rest: Vec<Millis> = expected.iter().copied().filter(|at| between < *at).collect();
        prop_assert_eq!(asked(&cycle, 0, between..last), rest, "{} after {}", text, between);
    }

    /// Without a start the calendar is that of UTC, and counts from when the timer was armed.
    #[test]
    fn intervals_count_from_when_they_were_armed(armed in YEARS, months in amounts(15), days in amounts(40), millis in amounts(10_000_000)) {
        let millis = if months + days + millis == 0 { 1 } else { millis };
        let text = format!("R/P{months}M{days}DT{}.{:03}S", millis / 1_000, millis % 1_000);
        let expected: Vec<Millis> = (1..12).map(|step| {
            let day = leafed(shown(&TimeZone::UTC, armed), months * step, days * step);
            Millis::try_from(shown(&TimeZone::UTC, 0).duration_until(day).as_millis()).unwrap() + millis * step
        }).collect();
        prop_assert_eq!(asked(&cycle(&text), armed, armed..*expected.last().unwrap()), expected, "{}", text);
    }
}
