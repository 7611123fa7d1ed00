//! What the next occurrence of a timer costs. `cargo bench -p schedule`

use schedule::{Cycle, Kind, Timer};

fn main() {
    divan::main();
}

/// 2026-03-27T12:34:56.789Z, two days before the clocks of Europe go forward.
const NOW: i64 = 1_774_614_896_789;

const CYCLES: [&str; 9] = [
    "0 * * * * *",
    "0 0 9-17 * * MON-FRI",
    "TZ=Europe/Madrid 0 0 9-17 * * MON-FRI",
    "TZ=Europe/Madrid 0 30 2 29 3 *",
    "0 0 0 LW * ?",
    "0 0 0 29 2 MON",
    "R/PT10S",
    "R/2024-01-31T10:00:00Z/P1M",
    "R/2024-01-31T10:00:00+01:00[Europe/Madrid]/P1D",
];

#[divan::bench(args = CYCLES)]
fn next(bencher: divan::Bencher<'_, '_>, text: &str) {
    let cycle = Cycle::parse(text).expect("the benchmark's cycle parses");
    bencher.bench_local(|| cycle.after(0, divan::black_box(NOW)));
}

#[divan::bench(args = CYCLES)]
fn parse(text: &str) -> Option<Timer> {
    Timer::parse(Kind::Cycle, divan::black_box(text)).ok()
}

/// The dearest text there is: four centuries of months are looked through before it is refused.
#[divan::bench]
fn parse_what_never_fires() -> Option<Timer> {
    Timer::parse(Kind::Cycle, divan::black_box("0 0 0 30,31 2 *")).ok()
}
