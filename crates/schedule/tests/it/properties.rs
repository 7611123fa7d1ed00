//! What holds for timers nobody wrote.

use proptest::prelude::*;
use schedule::{Cycle, Due, Kind, Millis, Missed, Occurrence, Repetitions, Timer, limits};

const KINDS: [Kind; 3] = [Kind::Date, Kind::Duration, Kind::Cycle];

/// Pieces of the grammar, a blank apart; `_` is a blank.
const WORDS: &str = "R R3 R0 R-1 / // P PT T 1Y 2M 3W 4D 5H 6M 7S 0.5S , . - + 2024-01-31 0001-01-01 9999-12-30 T00:00:00 T23:59:59.999 \
    Z z +02:00 -18:00 +00:00:01 [Europe/Madrid] @Asia/Tokyo [UTC] [ ] P1M P1D PT1S PT0S P9999Y 99999999999999999999 * ? L W # LW L-3 15W \
    FRI#2 5L MON JAN 0 1 7 31 59 60 _ _ _ _ _ *_ */5_ 0_ 1-5_ 2/3_ MON-FRI FRI-MON @daily @yearly TZ=Europe/Madrid_ CRON_TZ=UTC_ ½ é";

fn soup() -> impl Strategy<Value = String> {
    let words: Vec<String> = WORDS.split_ascii_whitespace().map(|word| word.replace('_', " ")).collect();
    prop::collection::vec(prop::sample::select(words), 0..12).prop_map(|words| words.concat())
}

/// A text that is mostly understood, and its kind.
fn sense() -> impl Strategy<Value = (Kind, String)> {
    let number = prop_oneof![0..4_u32, 0..3_000_u32];
    let span =
        (prop::option::of(number.clone()), prop::option::of(number.clone()), prop::option::of(number.clone()), number, "-?")
            .prop_map(|(years, months, days, millis, sign)| {
                let part = |amount: Option<u32>, unit: char| amount.map(|amount| format!("{amount}{unit}")).unwrap_or_default();
                let (years, months, days) = (part(years, 'Y'), part(months, 'M'), part(days, 'D'));
                format!("{sign}P{years}{months}{days}T{}.{:03}S", millis / 1_000, millis % 1_000)
            });
    let zone =
        prop::sample::select(vec!["Z", "+01:30", "-18:00", "[Europe/Madrid]", "Z[America/New_York]", "[Australia/Lord_Howe]"]);
    let date = (1..=9_999, 1..=12, 1..=28, 0..24, 0..60, 0..60, 0..1_000, zone).prop_map(
        |(year, month, day, hour, minute, second, milli, zone)| {
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}{zone}")
        },
    );
    let interval = ("R(|-1|[0-9]{1,3})", prop::option::of(date.clone()), span.clone()).prop_map(|(repetitions, start, every)| {
        format!("{repetitions}/{}{every}", start.map(|start| start + "/").unwrap_or_default())
    });
    let zone = "(|TZ=Europe/Madrid |CRON_TZ=America/New_York )";
    let cron = format!(
        "{zone}(\\*|[0-5]?[0-9]|\\*/7) [0-5]?[0-9](,[1-5][0-9])? (\\*|[1-9]-1[0-9]) (\\*|\\?|L|L-3|LW|1?[1-9]W?) (\\*|JAN|1-6/2) (\\*|MON-FRI|6L|2#1)"
    );
    let macros = format!("{zone}@(yearly|monthly|weekly|daily|hourly)");
    prop_oneof![
        1 => date.prop_map(|text| (Kind::Date, text)),
        1 => span.prop_map(|text| (Kind::Duration, text)),
        2 => prop_oneof![interval, proptest::string::string_regex(&cron).unwrap(), proptest::string::string_regex(&macros).unwrap()]
            .prop_map(|text| (Kind::Cycle, text)),
    ]
}

fn missed() -> impl Strategy<Value = Missed> {
    let late = prop_oneof![Just(0), 0..100_000_000_i64, any::<Millis>()];
    prop_oneof![Just(Missed::FireOnce), Just(Missed::FireAll), late.prop_map(|late_max| Missed::Skip { late_max })]
}

/// Any text, as any kind: an error with words, or a timer that prints as a text that means the same and that can be asked anything.
fn try_everything(text: &str, now: Millis) {
    for kind in KINDS {
        let timer = match Timer::parse(kind, text) {
            Ok(timer) => timer,
            Err(error) => {
                assert!(error.to_string().contains("is no"), "{error}");
                continue;
            }
        };
        assert_eq!(Timer::parse(kind, &timer.to_string()).as_ref(), Ok(&timer), "{text} is {timer}");
        let Ok(first) = timer.first(now) else { continue };
        for missed in [Missed::FireOnce, Missed::FireAll, Missed::Skip { late_max: 1 }] {
            let mut pending = Some(first);
            for wake in [now, now.saturating_add(1), first.at, first.at.saturating_add(10_000_000_000), Millis::MIN, Millis::MAX]
            {
                let Some(occurrence) = pending else { break };
                pending = timer.due(occurrence, wake, missed).next;
            }
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_a_timer_or_an_error(text in any::<String>(), now in any::<Millis>()) {
        try_everything(&text, now);
    }

    #[test]
    fn pieces_of_timers_are_timers_or_errors(text in soup(), now in prop_oneof![0..limits::AT_MAX, any::<Millis>()]) {
        try_everything(&text, now);
    }

    #[test]
    fn timers_print_as_what_they_are((kind, text) in sense(), now in 0..4_000_000_000_000_i64) {
        let understood = Timer::parse(kind, &text);
        // Or nothing would be looked at.
        if let Err(error) = &understood {
            let words = error.to_string();
            let expected = ["longer than nothing", "outside the years", "never fire"];
            prop_assert!(expected.iter().any(|expected| words.contains(expected)), "{}", words);
        }
        try_everything(&text, now);
    }

    /// A timer is woken at odd times: what it fires is in order, numbered, never early, and as often as it says.
    #[test]
    fn timers_fire_as_they_should(
        (kind, text) in sense(), missed in missed(), armed in 0..4_000_000_000_000_i64,
        sleeps in prop::collection::vec(prop_oneof![0..5_i64, 0..100_000_i64, 0..100_000_000_000_i64], 1..40),
    ) {
        let Ok(timer) = Timer::parse(kind, &text) else { return Ok(()) };
        let Ok(first) = timer.first(armed) else { return Ok(()) };
        prop_assert_eq!((first.armed, first.number), (armed, 1));
        let (mut now, mut pending, mut fired) = (armed, Some(first), Vec::new());
        for sleep in sleeps {
            now += sleep;
            let Some(occurrence) = pending else { break };
            let due = timer.due(occurrence, now, missed);
            check(&timer, occurrence, now, missed, due)?;
            fired.extend(due.fire);
            pending = due.next;
        }
        for (number, occurrence) in (1..).zip(&fired) {
            prop_assert_eq!(occurrence.number, number);
        }
        prop_assert!(fired.is_sorted_by(|one, other| one.at < other.at), "{:?}", fired);
        let most = match &timer {
            Timer::Cycle(cycle) => match cycle.repetitions() {
                Repetitions::Times(times) => u64::from(times.get()),
                Repetitions::Forever => u64::MAX,
            },
            Timer::Date(_) | Timer::Duration(_) => 1,
        };
        let count = u64::try_from(fired.len()).unwrap();
        prop_assert!(count <= most, "{} times, {} at most", count, most);
        // It is over when it has fired that often, or when time is.
        if pending.is_none() && count < most {
            let Timer::Cycle(cycle) = &timer else { panic!("{timer} did not fire") };
            prop_assert_eq!(cycle.after(armed, now), None);
        }
    }
}

/// One wake-up.
fn check(timer: &Timer, pending: Occurrence, now: Millis, missed: Missed, due: Due) -> Result<(), TestCaseError> {
    let Some(fire) = due.fire else {
        // Nothing fires before its time, or because all that was missed is too old.
        let waits = now < pending.at && due.next == Some(pending);
        let skipped = matches!(missed, Missed::Skip { late_max } if pending.at < now.saturating_sub(late_max));
        let skipped = skipped && due.next.is_none_or(|next| now < next.at && next.number == pending.number);
        prop_assert!(waits || skipped, "{}: {:?} at {} is {:?}", timer, pending, now, due);
        return Ok(());
    };
    prop_assert!(fire.at <= now, "never early");
    prop_assert_eq!(fire.number, pending.number);
    let Timer::Cycle(cycle) = timer else {
        prop_assert_eq!(due, Due { fire: Some(pending), next: None });
        return Ok(());
    };
    let following = |at: Millis| {
        let next = Cycle::after(cycle, pending.armed, at);
        next.filter(|_| cycle.repetitions() != times(fire.number)).map(|at| Occurrence { number: fire.number + 1, at, ..fire })
    };
    match missed {
        Missed::FireAll => prop_assert_eq!(due, Due { fire: Some(pending), next: following(fire.at) }),
        Missed::FireOnce => prop_assert_eq!(due, Due { fire: Some(pending), next: following(now) }),
        Missed::Skip { late_max } => {
            let is_oldest_in_time =
                fire == pending || Cycle::after(cycle, pending.armed, now.saturating_sub(late_max.max(0)) - 1) == Some(fire.at);
            prop_assert!(now.saturating_sub(late_max.max(0)) <= fire.at && is_oldest_in_time, "{:?} at {}", due, now);
            prop_assert_eq!(due.next, following(now));
        }
    }
    Ok(())
}

fn times(number: u64) -> Repetitions {
    Repetitions::Times(u32::try_from(number).unwrap().try_into().unwrap())
}
