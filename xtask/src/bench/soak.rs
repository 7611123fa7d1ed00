//! Memory over a long run at half the maximal rate.

use std::time::{Duration, Instant};

use super::machine::Moment;
use super::{Bench, measure, usage};
use crate::server::{Data, Server, Store};

const SAMPLE_EVERY: Duration = Duration::from_secs(5);

/// A moment of the run in minutes, and the memory then in MB.
type Sample = (f64, f64);

pub(super) fn run(bench: &Bench, store: Store, minutes: u64) -> Result<(), String> {
    let data = Data::fresh(&bench.places, &bench.cluster, store, "bench-soak")?;
    let mut server = Server::on(&bench.binary, &data)?;
    let rate = (measure::on(bench, &server, store, &["--seconds", "5"])?.rate() / 2.0).round().max(1.0);
    let before = Moment::now(bench, &[server.pid()]);
    let (rate, seconds) = (rate.to_string(), (minutes * 60).to_string());
    let mut running = measure::start_on(bench, &server, store, &["--rate", &rate, "--seconds", &seconds])?;
    let begun = Instant::now();
    let mut samples = Vec::new();
    while let Ok(None) = running.child.try_wait() {
        server.check()?;
        samples.extend(usage::rss_mb(server.pid()).map(|memory| (begun.elapsed().as_secs_f64() / 60.0, memory)));
        std::thread::sleep(SAMPLE_EVERY);
    }
    let measured = measure::finish(running)?;
    let others = before.others_since(bench, &[server.pid()]);
    println!(
        "{}: {minutes} minutes at {rate}/s wanted, {:.0}/s got, {} of CPU per instance, create → activated {} ms, others {others}\n",
        store.name(),
        measured.rate(),
        measured.cpu_text(),
        measured.times("activationMs")
    );
    show(&samples, minutes);
    Ok(())
}

fn show(samples: &[Sample], minutes: u64) {
    println!("| minute | memory |\n|---|---|");
    for minute in 0..=minutes {
        let nearest = samples.iter().min_by(|a, b| (a.0 - minute as f64).abs().total_cmp(&(b.0 - minute as f64).abs()));
        if let Some((_, memory)) = nearest {
            println!("| {minute} | {memory:.1} MB |");
        }
    }
    let (early, late): (Vec<Sample>, Vec<Sample>) = samples.iter().partition(|(minute, _)| *minute < minutes as f64 / 5.0);
    println!(
        "\nafter the first fifth: {:+.2} MB per minute ({} samples before, {} after)\n",
        slope(&late),
        early.len(),
        late.len()
    );
}

/// Of the straight line nearest to the samples.
fn slope(samples: &[Sample]) -> f64 {
    let count = samples.len() as f64;
    let (x, y) = samples.iter().fold((0.0, 0.0), |(x, y), sample| (x + sample.0 / count, y + sample.1 / count));
    let (together, alone) = samples.iter().fold((0.0, 0.0), |(together, alone), sample| {
        (together + (sample.0 - x) * (sample.1 - y), alone + (sample.0 - x) * (sample.0 - x))
    });
    together / alone
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn a_line_has_its_slope() {
        let rising = slope(&[(0.0, 10.0), (1.0, 12.0), (2.0, 14.0)]);
        assert!((rising - 2.0).abs() < 1e-9, "{rising}");
    }
}
