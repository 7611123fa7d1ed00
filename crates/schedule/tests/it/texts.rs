//! What is understood, what it is written as afterwards, and what is refused with which words.

use schedule::Kind::{self, Cycle, Date, Duration};
use schedule::{Repetitions, Timer, limits};

/// Each text parses, prints as the second (the first if that is empty), and that prints as itself.
#[track_caller]
fn understood(kind: Kind, table: &[(&str, &str)]) {
    for (text, canonical) in table {
        let timer = Timer::parse(kind, text).unwrap_or_else(|error| panic!("{error}"));
        let printed = timer.to_string();
        assert_eq!(printed, if canonical.is_empty() { *text } else { *canonical }, "{text}");
        assert_eq!(Timer::parse(kind, &printed).as_ref(), Ok(&timer), "{text}");
        assert_eq!(timer.kind(), kind);
    }
}

#[track_caller]
fn refused(kind: Kind, table: &[(&str, &str)]) {
    for (text, words) in table {
        match Timer::parse(kind, text) {
            Ok(timer) => panic!("'{text}' was understood as {timer}"),
            Err(error) => assert!(error.to_string().contains(words), "'{text}': {error}\nshould say: {words}"),
        }
    }
}

#[test]
fn dates() {
    understood(
        Date,
        &[
            ("2020-01-01T00:00:00Z", ""),
            (" 2020-01-01T00:00:00Z\n", "2020-01-01T00:00:00Z"),
            ("2020-01-01t00:00:00z", "2020-01-01T00:00:00Z"),
            ("2020-01-01T00:00Z", "2020-01-01T00:00:00Z"),
            ("2020-01-01T00:00:00+00:00", "2020-01-01T00:00:00Z"),
            ("2020-01-01T00:00:00[UTC]", "2020-01-01T00:00:00Z"),
            ("2020-01-01T00:00:00[Etc/UTC]", "2020-01-01T00:00:00+00:00[Etc/UTC]"),
            ("2020-01-01T00:00:00+02:00", ""),
            ("2020-01-01T00:00:00+02", "2020-01-01T00:00:00+02:00"),
            ("2020-01-01T00:00:00-0330", "2020-01-01T00:00:00-03:30"),
            ("2020-01-01T00:00:00-00:00:30", ""),
            ("2020-01-01T00:00:00+18:00", ""),
            ("2020-01-01T00:00:00+01:00[Europe/Berlin]", ""),
            ("2020-01-01T00:00:00[europe/berlin]", "2020-01-01T00:00:00+01:00[Europe/Berlin]"),
            ("2020-07-01T00:00:00@Europe/Berlin", "2020-07-01T00:00:00+02:00[Europe/Berlin]"),
            // The offset says when it is, even if it is not the zone's.
            ("2022-01-01T10:00:00+02:00[Europe/Berlin]", "2022-01-01T09:00:00+01:00[Europe/Berlin]"),
            ("2022-07-29T14:25:00Z[Europe/Berlin]", "2022-07-29T16:25:00+02:00[Europe/Berlin]"),
            ("1850-01-01T00:00:00[Europe/Madrid]", "1850-01-01T00:00:00-00:14:44[Europe/Madrid]"),
            ("2020-01-01T00:00:00.25Z", ""),
            ("2020-01-01T00:00:00,25Z", "2020-01-01T00:00:00.25Z"),
            // Never early: what is finer than a millisecond is rounded up.
            ("2020-01-01T00:00:00.000000001Z", "2020-01-01T00:00:00.001Z"),
            ("2020-12-31T23:59:59.9991Z", "2021-01-01T00:00:00Z"),
            ("2024-02-29T12:00:00Z", ""),
            ("1776-07-04T00:00:00Z", ""),
            ("0001-01-01T00:00:00Z", ""),
            ("0001-01-01T00:00:00Z[America/New_York]", "0000-12-31T19:03:58-04:56:02[America/New_York]"),
            ("9999-12-30T00:00:00Z", ""),
            // Skipped by the clocks of Madrid, and shown twice.
            ("2024-03-31T02:30:00[Europe/Madrid]", "2024-03-31T03:00:00+02:00[Europe/Madrid]"),
            ("2024-10-27T02:30:00[Europe/Madrid]", "2024-10-27T02:30:00+02:00[Europe/Madrid]"),
            ("2024-10-27T02:30:00+01:00[Europe/Madrid]", ""),
        ],
    );
    refused(
        Date,
        &[
            ("", "'' is no date: a date is written like 2024-05-06T07:08:09Z"),
            ("tomorrow", "'tomorrow' is no date: a date is written like"),
            ("2020-01-01", "it has no time of day"),
            ("2020-01-01T00:00:00", "it has no zone: add Z, an offset like +01:00, or a zone like [Europe/Madrid]"),
            ("2020-01-01 00:00:00Z", "a date is written like"),
            ("20200101T000000Z", "a date is written like"),
            ("12020-01-01T00:00:00Z", "a date is written like"),
            ("2023-02-29T00:00:00Z", "there is no day 2023-02-29"),
            ("2022-04-027T17:20:00Z", "a date is written like"),
            ("2020-01-01T24:00:00Z", "there is no time 24:00:00"),
            ("2020-01-01T00:00:60Z", "there is no time 00:00:60"),
            ("2020-01-01T00:00:00.Z", "one to nine decimals"),
            ("2020-01-01T00:00:00.0123456789Z", "one to nine decimals"),
            ("2020-01-01T00:00:00+19:00", "18 hours at most"),
            ("2020-01-01T00:00:00+18:00:01", "18 hours at most"),
            ("2020-01-01T00:00:00+02:60", "an offset is written like +01:00"),
            ("2020-01-01T00:00:00Zulu", "not 'ulu'"),
            ("2020-01-01T00:00:00[Europe/Atlantis]", "there is no time zone 'Europe/Atlantis'"),
            ("2020-01-01T00:00:00Z[Etc/Unknown]", "there is no time zone"),
            ("2020-01-01T00:00:00Z[Europe/Madrid", "a zone in brackets"),
            ("2020-01-01T00:00:00@", "there is no time zone ''"),
            ("9999-12-31T00:00:00Z", "outside the years 1 to 9999"),
            ("0000-12-31T23:59:59Z", "outside the years 1 to 9999"),
            ("9999-12-31T23:59:59.9999Z", "outside the years 1 to 9999"),
            ("PT1H", "a date is written like"),
        ],
    );
}

#[test]
fn durations() {
    understood(
        Duration,
        &[
            ("PT15S", ""),
            ("PT1H30M", ""),
            ("P14D", ""),
            ("P14DT1H30M", ""),
            ("P3Y6M4DT12H30M5S", ""),
            ("P2W", "P14D"),
            ("P1Y1M1W1D", "P1Y1M8D"),
            ("P18M", "P1Y6M"),
            ("PT90S", "PT1M30S"),
            ("PT36H", ""),
            ("P1DT0S", "P1D"),
            ("PT0S", ""),
            ("P0D", "PT0S"),
            ("-PT0S", "PT0S"),
            ("-PT1S", ""),
            ("+P1D", "P1D"),
            ("-P1Y2M3DT4H5M6.7S", ""),
            ("p1dt2h", "P1DT2H"),
            ("PT0.5S", ""),
            ("PT0,05S", "PT0.05S"),
            ("PT1.0S", "PT1S"),
            ("PT0.0001S", "PT0.001S"),
            ("PT59.9999S", "PT1M"),
            ("P9999Y", ""),
            ("PT87831216H", ""),
        ],
    );
    refused(
        Duration,
        &[
            ("", "'' is no duration: it has to begin with P"),
            ("soon", "'soon' is no duration: it has to begin with P, as in PT15M"),
            ("15", "begin with P"),
            ("P", "it says no amount"),
            ("PT", "it says no amount"),
            ("P1DT", "it says no amount"),
            ("-P", "it says no amount"),
            ("P1", "in the order P…Y…M…W…DT…H…M…S"),
            ("PD", "in the order"),
            ("P1H", "in the order"),
            ("PT1D", "in the order"),
            ("P1D1Y", "in the order"),
            ("P1D1D", "in the order"),
            ("P-1D", "in the order"),
            ("PT1H-5M", "in the order"),
            ("--P1D", "begin with P"),
            ("P1DT1HT1M", "in the order"),
            ("PT0.5H", "only seconds can have decimals"),
            ("PT1.0M", "only seconds can have decimals"),
            ("P0.5Y", "only seconds can have decimals"),
            ("PT.5S", "in the order"),
            ("PT1.S", "one to nine decimals"),
            ("PT1.0123456789S", "one to nine decimals"),
            ("P10000Y", "longer than 9999 years"),
            ("P119989M", "longer than 9999 years"),
            ("P4000000D", "longer than 9999 years"),
            ("PT87831217H", "longer than 9999 years"),
            ("PT99999999999999999999S", "longer than 9999 years"),
            ("P99999999999999999999Y99999999999999999999M", "longer than 9999 years"),
            ("R3/PT1S", "begin with P"),
            ("PT1S ½", "in the order"),
        ],
    );
}

#[test]
fn intervals() {
    understood(
        Cycle,
        &[
            ("R3/PT10S", ""),
            ("R/PT1H", ""),
            ("R-1/PT1H", "R/PT1H"),
            ("R1/PT1H", ""),
            ("R0/PT1H", "R1/PT1H"),
            ("R007/PT1H", "R7/PT1H"),
            ("R4294967295/PT1H", ""),
            ("R//PT10S", "R/PT10S"),
            ("R5//P1M", "R5/P1M"),
            ("R/2024-01-01T00:00:00Z/PT1H", ""),
            ("R3/2022-04-27T17:20:00Z/P1D", ""),
            ("R/2022-05-20T08:09:40+02:00[Europe/Berlin]/PT10S", ""),
            ("R5/2024-03-01T14:44:10@Europe/Paris/P2D", "R5/2024-03-01T14:44:10+01:00[Europe/Paris]/P2D"),
            ("R/PT0.001S", ""),
        ],
    );
    refused(
        Cycle,
        &[
            ("R", "'R' is no cycle: it has no interval; write R3/PT10S, or R/PT10S for ever"),
            ("R5", "it has no interval"),
            ("R5/", "'' is no duration"),
            ("R/soon", "'R/soon' is no cycle: 'soon' is no duration: it has to begin with P"),
            ("Rx/PT1S", "after the R comes how often, a number up to 4294967295, or nothing for ever; not 'x'"),
            ("R-2/PT1S", "not '-2'"),
            ("R+2/PT1S", "not '+2'"),
            ("R4294967296/PT1S", "not '4294967296'"),
            ("R/PT0S", "its interval is PT0S; it has to be longer than nothing"),
            ("R3/-PT1S", "its interval is -PT1S"),
            ("R/PT1H/2024-01-01T00:00:00Z", "it cannot be told its end"),
            ("R/2024-01-01T00:00:00Z/2024-01-02T00:00:00Z", "is no duration"),
            ("R/2024-01-01T00:00:00/PT1H", "it has no zone"),
            ("R/PT1H/PT1H", "it cannot be told its end"),
            ("PT1H", "'PT1H' is no cycle: write R/PT1H for ever or R3/PT1H for three times"),
            ("", "'' is no cron expression: it has 0 fields"),
        ],
    );
    let repetitions = |text| match Timer::parse(Cycle, text) {
        Ok(Timer::Cycle(cycle)) => cycle.repetitions(),
        Ok(Timer::Date(_) | Timer::Duration(_)) | Err(_) => panic!("{text} is a cycle"),
    };
    let times = |times| Repetitions::Times(std::num::NonZeroU32::new(times).unwrap());
    assert_eq!(repetitions("R0/PT1H"), times(1));
    assert_eq!(repetitions("R1/PT1H"), times(1));
    assert_eq!(repetitions("R2/PT1H"), times(2));
    assert_eq!(repetitions("R/PT1H"), Repetitions::Forever);
    assert_eq!(repetitions("@daily"), Repetitions::Forever);
}

#[test]
fn cron() {
    understood(
        Cycle,
        &[
            ("0 0 9-17 * * MON-FRI", ""),
            ("  0   0 9-17\t* * mon-fri ", "0 0 9-17 * * MON-FRI"),
            ("*/5 * * * *", ""),
            ("* * * * * *", ""),
            ("0 0/30 8-10 * * *", ""),
            ("0 0 0 25 12 ?", ""),
            ("0 0 0 ? * ?", ""),
            ("0 0 0 L * *", ""),
            ("0 0 0 L-3,15W,LW,1-3 * *", ""),
            ("0 0 0 * * 5L,TUEL", ""),
            ("0 0 0 ? * FRI#2,1#1", ""),
            ("0 0 0 * JAN,jun-DEC/2 *", "0 0 0 * JAN,JUN-DEC/2 *"),
            ("0 0 0 * * FRI-MON", ""),
            ("0 0 0 * * 0,7", ""),
            ("00 00 09 * * 05", ""),
            ("@yearly", ""),
            ("@Annually", "@annually"),
            ("@monthly", ""),
            ("@weekly", ""),
            ("@daily", ""),
            ("@midnight", ""),
            ("@HOURLY", "@hourly"),
            ("TZ=Europe/Madrid 0 9 * * MON-FRI", ""),
            ("CRON_TZ=europe/madrid @daily", "TZ=Europe/Madrid @daily"),
            ("TZ=UTC 0 9 * * *", ""),
            ("0 0 0 29 2 MON", ""),
            ("0 0 0 ? 2 MON#5", ""),
            ("*/60 */60 */24 */31 */12 */7", ""),
        ],
    );
    let seconds: Vec<String> = (0..60).map(|second| second.to_string()).collect();
    assert!(Timer::parse(Cycle, &format!("{} * * * * *", seconds.join(","))).is_ok());
    refused(
        Cycle,
        &[
            ("*", "'*' is no cron expression: it has one field; it needs [second] minute hour day month weekday"),
            ("* * * *", "it has 4 fields"),
            ("* * * * * * 2024", "it has 7 fields"),
            ("60 * * * * *", "the second is 0 to 59, not '60'"),
            ("* 60 * * * *", "the minute is 0 to 59, not '60'"),
            ("* * 24 * * *", "the hour is 0 to 23, not '24'"),
            ("* * * 0 * *", "the day is 1 to 31, not '0'"),
            ("* * * 32 * *", "the day is 1 to 31, not '32'"),
            ("* * * * 0 *", "the month is 1 to 12 or JAN to DEC, not '0'"),
            ("* * * * 13 *", "the month is 1 to 12"),
            ("* * * * * 8", "the weekday is 0 to 7 or MON to SUN, not '8'"),
            ("* * * * * *SUN", "not '*SUN'"),
            ("* * * * * SUN*", "not 'SUN*'"),
            ("* * * * * MONDAY", "not 'MONDAY'"),
            ("20-10 * * * * *", "the second range '20-10' runs backwards"),
            ("* * * * DEC-FEB *", "runs backwards"),
            ("1- * * * * *", "not ''"),
            ("-1 * * * * *", "not ''"),
            ("1,,2 * * * * *", "not ''"),
            ("? * * * * *", "not '?'"),
            ("0 0 0 1,? * *", "not '?'"),
            ("*/0 * * * * *", "the second is stepped by 1 to 60, not '0'"),
            ("*/61 * * * * *", "stepped by 1 to 60"),
            ("*/x * * * * *", "not 'X'"),
            ("* * */25 * * *", "the hour is stepped by 1 to 24"),
            ("+1 * * * * *", "not '+1'"),
            ("001 * * * * *", "not '001'"),
            ("0 0 0 L-0 * *", "L- is followed by 1 to 30, not '0'"),
            ("0 0 0 L-31 * *", "L- is followed by 1 to 30"),
            ("0 0 0 32W * *", "the day is 1 to 31"),
            ("0 0 0 W * *", "the day is 1 to 31"),
            ("0 0 0 1-5W * *", "not '1-5'"),
            ("0 0 0 * * L", "L needs a weekday before it, as in FRIL"),
            ("0 0 0 * * 8L", "the weekday is 0 to 7"),
            ("0 0 0 * * FRI#6", "# is followed by 1 to 5, not '6'"),
            ("0 0 0 * * FRI#0", "# is followed by 1 to 5"),
            ("0 0 0 * * #2", "the weekday is 0 to 7"),
            ("0 0 0 * * MON-FRI#2", "not 'MON-FRI'"),
            ("0 0 0 30 2 *", "no day of any year is all it asks for, so it would never fire"),
            ("0 0 0 31 4,6,9,11 *", "never fire"),
            ("0 0 0 1-7 * MON#2", "never fire"),
            ("0 0 0 L-30 2 *", "never fire"),
            ("@reboot", "the shorthands are @yearly"),
            ("@daily 5", "it has 2 fields"),
            ("TZ=Europe/Atlantis 0 9 * * *", "there is no time zone 'Europe/Atlantis'"),
            ("TZ= 0 9 * * *", "there is no time zone ''"),
            ("TZ=Europe/Madrid", "it has 0 fields"),
            ("0 9 * * * TZ=Europe/Madrid", "the weekday is"),
            ("R 9 * * *", "it has no interval"),
        ],
    );
}

#[test]
fn long_texts_are_refused_and_quoted_in_part() {
    for kind in [Date, Duration, Cycle] {
        let error = Timer::parse(kind, &"½".repeat(limits::TEXT_BYTES_MAX)).unwrap_err().to_string();
        assert!(error.contains("more than 1024 bytes") && error.len() < 300, "{error}");
        let error = Timer::parse(kind, &"½".repeat(200)).unwrap_err().to_string();
        assert!(error.contains('…') && error.len() < 600, "{error}");
    }
}
