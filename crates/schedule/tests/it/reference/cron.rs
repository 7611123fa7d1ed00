//! Cron expressions nobody wrote, as text and as the question whether they ask for a moment.

use jiff::civil::{Date, DateTime, Weekday};
use proptest::prelude::*;

/// `*`, `5`, `5-9`, each with or without a step.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    range: Option<(i8, Option<i8>)>,
    step: Option<i8>,
}

#[derive(Debug, Clone)]
pub(crate) enum Day {
    Item(Item),
    BeforeLast(i8),
    Workday(i8),
    LastWorkday,
}

#[derive(Debug, Clone)]
pub(crate) enum Week {
    Item(Item),
    Nth(i8, i8),
    Last(i8),
}

#[derive(Debug, Clone)]
pub(crate) struct Cron {
    pub(crate) seconds: Vec<Item>,
    pub(crate) minutes: Vec<Item>,
    pub(crate) hours: Vec<Item>,
    pub(crate) days: Vec<Day>,
    pub(crate) months: Vec<Item>,
    pub(crate) weekdays: Vec<Week>,
}

impl Cron {
    pub(crate) fn text(&self) -> String {
        let numbers = |items: &[Item], names: &[&str]| list(items, |item| item.text(names));
        let day = |day: &Day| match day {
            Day::Item(item) => item.text(&[]),
            Day::BeforeLast(0) => "L".to_owned(),
            Day::BeforeLast(days) => format!("L-{days}"),
            Day::Workday(day) => format!("{day}W"),
            Day::LastWorkday => "LW".to_owned(),
        };
        let week = |week: &Week| match week {
            Week::Item(item) => item.text(&WEEKDAYS),
            Week::Nth(weekday, nth) => format!("{}#{nth}", name(*weekday, &WEEKDAYS)),
            Week::Last(weekday) => format!("{}L", name(*weekday, &WEEKDAYS)),
        };
        let [seconds, minutes, hours] = [&self.seconds, &self.minutes, &self.hours].map(|items| numbers(items, &[]));
        let (days, weekdays) = (list(&self.days, day), list(&self.weekdays, week));
        format!("{seconds} {minutes} {hours} {days} {} {weekdays}", numbers(&self.months, &MONTHS))
    }

    pub(crate) fn asks(&self, moment: DateTime) -> bool {
        let (date, time) = (moment.date(), moment.time());
        let any = |items: &[Item], number: i8, max: i8| items.iter().any(|item| item.asks(number, 0, max));
        any(&self.seconds, time.second(), 59)
            && any(&self.minutes, time.minute(), 59)
            && any(&self.hours, time.hour(), 23)
            && self.asks_day(date)
    }

    pub(crate) fn asks_day(&self, date: Date) -> bool {
        self.months.iter().any(|item| item.asks(date.month(), 1, 12))
            && self.weekdays.iter().any(|week| week.asks(date))
            && self.days.iter().any(|day| day.asks(date))
    }
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(",")
}

const MONTHS: [&str; 12] = ["JAN", "Feb", "mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["MON", "TUE", "wed", "THU", "FRI", "Sat", "SUN"];

/// Odd numbers get their name if they have one.
fn name(number: i8, names: &[&str]) -> String {
    let name = usize::try_from(number - 1).ok().and_then(|at| names.get(at)).filter(|_| number % 2 == 1);
    name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

impl Item {
    fn text(&self, names: &[&str]) -> String {
        let range = match self.range {
            None => "*".to_owned(),
            Some((from, None)) => name(from, names),
            Some((from, Some(to))) => format!("{}-{}", name(from, names), name(to, names)),
        };
        self.step.map_or(range.clone(), |step| format!("{range}/{step}"))
    }

    /// Counts from the first to the last.
    fn asks(&self, number: i8, min: i8, max: i8) -> bool {
        let (from, to) = match self.range {
            None => (min, max),
            Some((from, None)) => (from, if self.step.is_some() { max } else { from }),
            Some((from, Some(to))) => (from, to),
        };
        (from..=to).step_by(usize::try_from(self.step.unwrap_or(1)).unwrap()).any(|counted| counted == number)
    }

    /// Counts on the seven weekdays, round and round.
    fn asks_weekday(&self, weekday: i8) -> bool {
        match self.range {
            Some((from, Some(to))) if to < from => {
                let days = to + 7 - from;
                (0..=days)
                    .step_by(usize::try_from(self.step.unwrap_or(1)).unwrap())
                    .any(|day| (from + day - 1) % 7 + 1 == weekday)
            }
            Some(_) | None => self.asks(weekday, 1, 7) || weekday == 7 && self.asks(0, 1, 7),
        }
    }
}

fn is_workday(date: &Date) -> bool {
    !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday)
}

fn days_of_month(date: Date) -> impl Iterator<Item = Date> {
    date.first_of_month().series(jiff::Span::new().days(1)).take_while(move |other| other.month() == date.month())
}

impl Day {
    fn asks(&self, date: Date) -> bool {
        match self {
            Day::Item(item) => item.asks(date.day(), 1, 31),
            Day::BeforeLast(days) => date.day() + days == date.days_in_month(),
            Day::Workday(day) if date.days_in_month() < *day => false,
            Day::Workday(day) => {
                let nearest = days_of_month(date).filter(is_workday).min_by_key(|other| (other.day() - day).abs());
                nearest == Some(date)
            }
            Day::LastWorkday => days_of_month(date).filter(is_workday).last() == Some(date),
        }
    }
}

impl Week {
    fn asks(&self, date: Date) -> bool {
        let weekday = date.weekday().to_monday_one_offset();
        match self {
            Week::Item(item) => item.asks_weekday(weekday),
            Week::Nth(other, nth) => weekday % 7 == other % 7 && (date.day() - 1) / 7 + 1 == *nth,
            Week::Last(other) => weekday % 7 == other % 7 && date.days_in_month() < date.day() + 7,
        }
    }
}

/// Items of a field whose numbers go from `min` to `max`.
fn item(min: i8, max: i8) -> impl Strategy<Value = Item> {
    let range = prop_oneof![
        3 => Just(None),
        4 => (min..=max).prop_map(|from| Some((from, None))),
        3 => (min..=max, min..=max).prop_map(|(a, b)| Some((a.min(b), Some(a.max(b))))),
    ];
    (range, prop::option::weighted(0.3, 1..=max.min(20))).prop_map(|(range, step)| Item { range, step })
}

fn items(min: i8, max: i8) -> impl Strategy<Value = Vec<Item>> {
    prop::collection::vec(item(min, max), 1..3)
}

fn any() -> Vec<Item> {
    vec![Item { range: None, step: None }]
}

fn days() -> impl Strategy<Value = Vec<Day>> {
    let day = prop_oneof![
        4 => item(1, 31).prop_map(Day::Item),
        1 => (0..=30_i8).prop_map(Day::BeforeLast),
        1 => (1..=31_i8).prop_map(Day::Workday),
        1 => Just(Day::LastWorkday),
    ];
    prop_oneof![Just(vec![Day::Item(Item { range: None, step: None })]), prop::collection::vec(day, 1..3)]
}

fn weekdays() -> impl Strategy<Value = Vec<Week>> {
    let round = (0..=7_i8, 0..=7_i8, prop::option::weighted(0.3, 1..=7_i8));
    let week = prop_oneof![
        2 => item(0, 7).prop_map(|item| Week::Item(Item { step: item.step.map(|step| step.min(7)), ..item })),
        2 => round.prop_map(|(from, to, step)| Week::Item(Item { range: Some((from, Some(to))), step })),
        1 => (0..=7_i8, 1..=5_i8).prop_map(|(weekday, nth)| Week::Nth(weekday, nth)),
        1 => (0..=7_i8).prop_map(Week::Last),
    ];
    prop_oneof![Just(vec![Week::Item(Item { range: None, step: None })]), prop::collection::vec(week, 1..3)]
}

fn months() -> impl Strategy<Value = Vec<Item>> {
    prop_oneof![2 => Just(any()), 1 => items(1, 12).prop_map(|items| items.into_iter().map(|item| Item { step: item.step.map(|step| step.min(12)), ..item }).collect())]
}

/// Anything, days and seconds and all.
pub(crate) fn crons() -> impl Strategy<Value = Cron> {
    (items(0, 59), items(0, 59), items(0, 23), days(), months(), weekdays())
        .prop_map(|(seconds, minutes, hours, days, months, weekdays)| Cron { seconds, minutes, hours, days, months, weekdays })
}

/// Some minutes of each day.
pub(crate) fn times() -> impl Strategy<Value = Cron> {
    (items(0, 59), items(0, 23)).prop_map(|(minutes, hours)| {
        let seconds = vec![Item { range: Some((0, None)), step: None }];
        let days = vec![Day::Item(Item { range: None, step: None })];
        let weekdays = vec![Week::Item(Item { range: None, step: None })];
        Cron { seconds, minutes, hours, days, months: any(), weekdays }
    })
}
