//! Hears of jobs as one member of a group, and prints their keys and their instances' keys, a line each: what a worker begins with.
//! `listen BROKERS TYPE…`
#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

use std::time::Duration;

use kafka::{Listener, Options, make_topic};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut words = std::env::args().skip(1);
    let brokers = words.next().expect("the first word says where Kafka is");
    let options = Options { brokers, topic_prefix: "workflow.jobs.".to_owned(), sasl: None };
    let mut listeners = tokio::task::JoinSet::new();
    for job_type in words {
        if let Err(error) = make_topic(&options, &job_type, 3).await {
            eprintln!("{job_type}: {error}");
        }
        listeners.spawn(listen(options.clone(), job_type));
    }
    while listeners.join_next().await.is_some() {}
}

/// The broker may go and come back.
async fn listen(options: Options, job_type: String) {
    loop {
        match Listener::join(&options, &job_type, "listeners").await {
            Ok(listener) => {
                let ended = loop {
                    match listener.next().await {
                        Ok(events) => events.iter().for_each(|event| println!("{} {}", event.job_id, event.instance_id)),
                        Err(error) => break error,
                    }
                };
                eprintln!("{job_type}: {ended}");
            }
            Err(error) => eprintln!("{job_type}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
