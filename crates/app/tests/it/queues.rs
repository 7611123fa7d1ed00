//! Queues of a real server: what operators type, and order and limits when it is killed in the middle.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::place::Place;
use crate::server::Server;
use serde_json::{Value, json};

/// What is answered, unless nobody does.
fn ask(rest: SocketAddr, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
    let url = format!("http://{rest}{path}");
    let answer = match method {
        "GET" => agent.get(&url).call(),
        "PUT" => agent.put(&url).content_type("application/json").send(body.to_string()),
        _ => agent.post(&url).content_type("application/json").send(body.to_string()),
    };
    let mut answer = answer.ok()?;
    let text = answer.body_mut().read_to_string().ok()?;
    Some((answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default()))
}

/// Gets one job after the other and completes each, whatever becomes of the server meanwhile.
fn work(rest: SocketAddr, worker: usize, is_over: &AtomicBool) {
    let poll = json!({ "workerId": format!("w{worker}"), "jobTypes": ["work"], "leaseSeconds": 5, "waitSeconds": 1 });
    while !is_over.load(Ordering::SeqCst) {
        let Some((200, polled)) = ask(rest, "POST", "/v1/jobs/poll", &poll) else {
            std::thread::yield_now();
            continue;
        };
        for job in polled["jobs"].as_array().unwrap() {
            let path = format!("/v1/jobs/{}/complete", job["id"].as_str().unwrap());
            let body = json!({ "workerId": format!("w{worker}"), "lease": job["lease"] });
            while ask(rest, "POST", &path, &body).is_none_or(|(status, _)| 500 <= status) && !is_over.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
    }
}

fn executions(rest: SocketAddr, state: &str) -> Vec<Value> {
    let body = json!({ "filter": { "state": state }, "sort": [{ "field": "id" }], "page": { "limit": 10_000 } });
    let found = ask(rest, "POST", "/v1/executions/search", &body).map(|(_, found)| found).unwrap_or_default();
    found["items"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_server_killed_in_the_middle_keeps_order_and_limit() {
    Place::all().iter().for_each(keeps_order_and_limit);
}

fn keeps_order_and_limit(place: &Place) {
    const COUNT: usize = 400;
    const LIMIT: usize = 10;
    let mut server = Server::start(&place.url());
    let rest = server.rest;
    let policy = json!({ "scope": "ACTION", "action": "work", "concurrency": { "limit": LIMIT } });
    assert_eq!(ask(rest, "PUT", "/v1/policies/p", &policy).unwrap().0, 204);
    let bulk = json!({ "executions": vec![json!({}); COUNT] });
    assert_eq!(ask(rest, "POST", &format!("/v1/actions/{}/executions/bulk", "work"), &bulk).unwrap().0, 201);
    let is_over = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..20)
        .map(|worker| {
            let is_over = is_over.clone();
            std::thread::spawn(move || work(rest, worker, &is_over))
        })
        .collect();
    for (until, then_kill) in [(COUNT / 3, true), (2 * COUNT / 3, true), (COUNT, false)] {
        while executions(rest, "COMPLETED").len() < until {
            std::thread::yield_now();
        }
        if then_kill {
            server.kill();
            server.run();
        }
    }
    is_over.store(true, Ordering::SeqCst);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let done = executions(rest, "COMPLETED");
    assert_eq!(done.len(), COUNT);
    let time = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    // Those that a dead server had handed out in vain have started again.
    let once: Vec<_> = done.iter().filter(|one| one["attempts"] == 1).map(|one| time(one, "startedAt")).collect();
    assert!(COUNT - 2 * LIMIT <= once.len(), "{}", once.len());
    assert!(once.is_sorted(), "they started in the order of submission");
    // A slot is free from the moment in which it is given back.
    let ends = done.iter().map(|one| (time(one, "endedAt"), 0));
    let mut moments: Vec<_> = done.iter().map(|one| (time(one, "startedAt"), 1)).chain(ends).collect();
    moments.sort();
    let mut running = 0_i64;
    for (at, what) in moments {
        running += if what == 1 { 1 } else { -1 };
        assert!(running <= LIMIT as i64, "{running} ran at {at}");
    }
}

#[test]
fn operators_see_queues_schedules_and_dead_letters() {
    let server = Server::start("memory:");
    server
        .caudal(&["schedules", "put", "once", "--action", "work", "--cron", "R1/2020-01-01T00:00:00Z/PT1H", "--retries", "1"])
        .done();
    let nightly = ["--action", "report", "--cron", "0 3 * * *", "--time-zone", "Europe/Madrid", "--no-overlap"];
    server.caudal(&[&["schedules", "put", "nightly"][..], &nightly].concat()).done();
    assert!(server.caudal(&["schedules", "list"]).done().contains("Europe/Madrid"));
    assert_eq!(server.json(&["schedules", "show", "nightly"])["execution"]["uniqueKey"], "schedule:nightly");
    server.caudal(&["schedules", "delete", "nightly"]).done();
    assert_ne!(server.caudal(&["schedules", "delete", "nightly"]).code, Some(0));
    let poll = json!({ "workerId": "w", "jobTypes": ["work"], "waitSeconds": 20 });
    let jobs = ask(server.rest, "POST", "/v1/jobs/poll", &poll).unwrap().1;
    let id = jobs["jobs"][0]["id"].as_str().unwrap().to_owned();
    let watched = server.caudal(&["queues", "--watch", "--times", "2", "--every", "1"]).done();
    assert!(watched.contains("RUNNING LATELY") && watched.contains('█'), "{watched}");
    let fail = json!({ "workerId": "w", "lease": 1, "retryable": true, "errorMessage": "broken" });
    assert_eq!(ask(server.rest, "POST", &format!("/v1/jobs/{id}/fail"), &fail).unwrap().0, 204);
    assert!(server.caudal(&["dead-letters", "list", "--action", "work"]).done().contains("broken"));
    assert_eq!(server.json(&["dead-letters", "show", &id])["kind"], "EXECUTION");
    assert_ne!(server.caudal(&["dead-letters", "retry"]).code, Some(0), "all of them only if asked for");
    assert!(server.caudal(&["dead-letters", "retry", "--error", "brok*"]).done().contains('1'));
    assert_eq!(server.json(&["dead-letters", "list"])["items"].as_array().unwrap().len(), 0);
}
