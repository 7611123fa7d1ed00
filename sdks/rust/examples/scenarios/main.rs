//! The scenarios of `sdks/scenarios` with this crate and a real server: prints `ok NAME` or `FAIL NAME: why`.
#![allow(clippy::unwrap_used, missing_docs, reason = "a scenario that cannot go on has failed")]

mod everyday;
mod faults;
mod secured;
mod trace;
mod worker;
mod world;

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::Semaphore;

const AT_ONCE: usize = 4;

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, address, other] = words.as_slice() {
        match first.as_str() {
            "worker" => worker::run(address, other).await,
            "bench" => worker::bench(address, other.parse().unwrap()).await,
            what => panic!("{what} is neither `worker` nor `bench`"),
        }
        // At once: a handler that blocks a thread would keep the process alive.
        std::process::exit(0);
    }
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let all = everyday::all().into_iter().chain(faults::all()).chain(trace::all()).chain(secured::all());
    let playing = all.filter(|one| one.suits()).map(|one| {
        let slots = slots.clone();
        tokio::spawn(async move {
            let _slot = slots.acquire_owned().await;
            match tokio::spawn(one.play).await {
                Ok(()) => println!("ok {}", one.name),
                Err(error) => println!("FAIL {}: {error}", one.name),
            }
        })
    });
    for one in playing.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    ExitCode::SUCCESS
}
