//! A backup of a running server, brought back and checked.

use std::collections::BTreeSet;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::PartitionId;
use serde_json::{Value, json};
use store::Store as _;
use store::query::{Entity, Items, Page, Query, Tenants};

use crate::server::{Server, caudal, example};

#[test]
fn a_backup_of_a_running_server_is_brought_back_with_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (data, file, again) = (path("data"), path("backup.db"), path("again"));
    let mut server = Server::start(&format!("sqlite:{data}"));
    server.caudal(&["deploy", &example("order.bpmn"), &example("shipping.dmn")]).done();
    let key = server.caudal(&["start", "order", "--variables", r#"{"amount": 5}"#]).done().trim().to_owned();
    let told = server.caudal(&["backup", &file]).done();
    assert!(told.contains("Bring it back with: caudal restore"), "{told}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let later = server.caudal(&["start", "order", "--variables", r#"{"amount": 6}"#]).done().trim().to_owned();
    let twice = server.caudal(&["backup", &file]);
    assert!(twice.code == Some(1) && twice.err.contains("is there already"), "{}", twice.err);
    let in_use = caudal(&["check", "--data", &data]);
    assert!(in_use.code == Some(1) && in_use.err.contains("in use by another server"), "{}", in_use.err);
    let full = caudal(&["restore", &file, "--data", &data]);
    assert!(full.code == Some(1) && full.err.contains("in use"), "{}", full.err);
    server.kill();
    assert!(!folder.path().join("data/caudal.backup").exists());

    assert!(caudal(&["restore", &file, "--data", &again]).done().contains("caudal serve --data"));
    let over = caudal(&["restore", &file, "--data", &again]);
    assert!(over.code == Some(1) && over.err.contains("is there already"), "{}", over.err);
    let checked = caudal(&["check", "--data", &again]).done();
    assert!(checked.contains("instances: 1 read") && checked.contains("definitions: 1 read"), "{checked}");
    let restored = Server::start(&format!("sqlite:{again}"));
    restored.caudal(&["work", "charge-card", "--complete-with", "{}", "--count", "1"]).done();
    assert!(restored.caudal(&["instance", &key]).done().contains("COMPLETED"));
    assert_eq!(restored.caudal(&["instance", &later]).code, Some(1));
}

/// Starts instances one after the other until it is over; the keys of those that were acknowledged, in order.
fn start_again_and_again(rest: SocketAddr, acknowledged: &Mutex<Vec<u64>>, is_over: &AtomicBool) {
    let agent = ureq::Agent::new_with_defaults();
    while !is_over.load(Ordering::SeqCst) {
        let sent = agent.post(format!("http://{rest}/v2/process-instances")).send_json(json!({ "processDefinitionId": "order" }));
        let answer: Value = sent.unwrap().body_mut().read_json().unwrap();
        acknowledged.lock().unwrap().push(answer["processInstanceKey"].as_str().unwrap().parse().unwrap());
    }
}

fn progress(rest: SocketAddr) -> Value {
    ureq::get(format!("http://{rest}/v1/backup")).call().unwrap().body_mut().read_json().unwrap()
}

/// Every position up to the last, and the instances there are.
async fn contents(folder: &Path) -> (Vec<u64>, u64, BTreeSet<u64>) {
    let store = store_sqlite::open(folder, store_sqlite::Options::default()).unwrap();
    let last = store.partitions().await.unwrap()[0].position;
    let mut positions: Vec<u64> = Vec::new();
    loop {
        let after = positions.last().copied().unwrap_or_default();
        let rows = store.happened(PartitionId(1), after, 1_000, usize::MAX).await.unwrap();
        if rows.is_empty() {
            break;
        }
        positions.extend(rows.iter().map(|row| row.position));
    }
    let query = Query::of(Entity::Instances, Tenants::Everything);
    let found = store.search(&Query { page: Page::From { from: 0, limit: 1_000_000 }, ..query }).await.unwrap();
    let Items::Instances(instances) = found.items else { panic!("they were asked for") };
    (positions, last, instances.iter().map(|view| view.key.0).collect())
}

#[test]
fn a_backup_among_writers_is_one_moment_of_the_store() {
    const WRITERS: usize = 4;
    let folder = tempfile::tempdir().unwrap();
    let (file, again) = (folder.path().join("backup.db"), folder.path().join("again"));
    let mut server = Server::start(&format!("sqlite:{}", folder.path().join("data").display()));
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    // At the slowest rate it takes seconds.
    let large = json!({ "large": "x".repeat(1_500_000) }).to_string();
    for _ in 0..3 {
        server.caudal_given(&["start", "order", "--variables", "-"], &large).done();
    }
    let rest = server.rest;
    let is_over = AtomicBool::new(false);
    let acknowledged: [Mutex<Vec<u64>>; WRITERS] = Default::default();
    let counts = || acknowledged.each_ref().map(|keys| keys.lock().unwrap().len());
    let (before, told) = std::thread::scope(|scope| {
        for keys in &acknowledged {
            scope.spawn(|| start_again_and_again(rest, keys, &is_over));
        }
        while counts().iter().any(|&count| count < 5) {
            std::thread::yield_now();
        }
        let before = counts();
        let backup = scope.spawn(|| server.caudal(&["backup", file.to_str().unwrap(), "--rate", "1MB"]));
        // From one look at the copy to another instances are started.
        let (mut first, mut meanwhile) = (None, 0);
        while !backup.is_finished() {
            let started: usize = counts().iter().sum();
            let seen = progress(rest);
            if seen["isCopying"] == json!(true) {
                assert!(seen["copiedBytes"].as_u64() <= seen["totalBytes"].as_u64(), "{seen}");
                meanwhile = started - *first.get_or_insert(started);
            }
        }
        assert!(0 < meanwhile, "writers are at work while the store is copied");
        is_over.store(true, Ordering::SeqCst);
        (before, backup.join().unwrap())
    });
    assert!(told.err.contains("The server copies its store: ") && told.err.contains("The copy arrives: "), "{}", told.err);
    told.done();
    assert_eq!(progress(rest), json!({ "isCopying": false, "copiedBytes": null, "totalBytes": null }));
    server.kill();

    caudal(&["restore", file.to_str().unwrap(), "--data", again.to_str().unwrap()]).done();
    caudal(&["check", "--data", again.to_str().unwrap()]).done();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (positions, last, instances) = runtime.block_on(contents(&again));
    assert_eq!(positions, (1..=last).collect::<Vec<_>>(), "no position is missing");
    for (keys, before) in acknowledged.iter().zip(before) {
        let keys = keys.lock().unwrap();
        let there = keys.iter().take_while(|key| instances.contains(key)).count();
        assert!(before <= there, "{there} of the {before} that were acknowledged before are there");
        // Each was started after the one before was acknowledged: past the moment of the copy there is none.
        assert!(!keys[there..].iter().any(|key| instances.contains(key)), "{there} of {}", keys.len());
    }
    let all: usize = acknowledged.iter().map(|keys| keys.lock().unwrap().len()).sum();
    assert!(instances.len() <= all + 3 + WRITERS, "{} of {all}", instances.len());
}

#[test]
fn a_rate_is_bounded() {
    let server = Server::start("memory:");
    let slow = server.caudal(&["backup", "/tmp/never-written", "--rate", "10KB"]);
    assert!(slow.code == Some(2) && slow.err.contains("1.0 MB a second at least"), "{}", slow.err);
    for (query, status) in [("bytesPerSecond=999999", 400), ("bytesPerSecond=x", 400), ("rate=1", 400), ("bytesPerSecond=0", 409)]
    {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let answer = agent.post(format!("{}/v1/backup?{query}", server.url())).send_empty().unwrap();
        assert_eq!(answer.status().as_u16(), status, "{query}");
    }
}

#[test]
fn what_is_damaged_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut server = Server::start(&format!("sqlite:{}", data.display()));
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    let file = folder.path().join("backup.db");
    server.caudal(&["backup", file.to_str().unwrap()]).done();
    server.kill();
    let mut damaged = std::fs::File::options().write(true).open(&file).unwrap();
    damaged.seek(SeekFrom::Start(4096 * 3)).unwrap();
    damaged.write_all(&[0x5a; 4096 * 4]).unwrap();
    let refused = caudal(&["restore", file.to_str().unwrap(), "--data", folder.path().join("x").to_str().unwrap()]);
    assert!(refused.code == Some(1) && refused.err.contains("backup.db is damaged"), "{}", refused.err);
    std::fs::remove_file(data.join("caudal.db-wal")).ok();
    std::fs::copy(&file, data.join("caudal.db")).unwrap();
    let checked = caudal(&["check", "--json", "--data", data.to_str().unwrap()]);
    let told: serde_json::Value = serde_json::from_str(&checked.out).unwrap();
    assert!(checked.code == Some(1) && !told["faults"].as_array().unwrap().is_empty(), "{}", checked.out);
    assert!(checked.err.contains("Restore a backup"), "{}", checked.err);
    let nothing = caudal(&["check", "--data", "/nowhere"]);
    assert!(nothing.err.contains("/nowhere is no folder"), "{}", nothing.err);
}

#[test]
fn a_store_that_was_copied_while_it_ran_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, copied) = (folder.path().join("data"), folder.path().join("copied"));
    let (there, copy) = (data.to_str().unwrap(), copied.to_str().unwrap());
    let mut server = Server::start(&format!("sqlite:{there}"));
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    let started: Vec<String> = (0..27).map(|_| server.caudal(&["start", "order"]).done().trim().to_owned()).collect();
    std::fs::create_dir(&copied).unwrap();
    std::fs::copy(data.join("caudal.db"), copied.join("caudal.db")).unwrap();
    let refused =
        caudal(&["serve", "--data", copy, "--rest", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    assert!(refused.code == Some(1) && refused.err.contains("was in use when it was copied"), "{}", refused.err);
    assert!(refused.err.contains("caudal check --data") && refused.out.is_empty(), "{}{}", refused.err, refused.out);
    let checked = caudal(&["check", "--data", copy]);
    assert!(
        checked.code == Some(1) && checked.out.contains("was in use") && checked.err.contains("not all there"),
        "{}",
        checked.err
    );
    let accepted = caudal(&["check", "--data", copy, "--accept"]).done();
    assert!(accepted.contains("instances: ") && !accepted.contains("instances: 27 "), "{accepted}");
    drop(Server::start(&format!("sqlite:{copy}")));

    server.kill();
    server.run();
    assert!(started.iter().all(|key| server.caudal(&["instance", key]).code == Some(0)), "the original goes on after a kill");
    server.stop();
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name == "caudal.db-wal"), "one file is everything: {left:?}");
    let alone = folder.path().join("alone");
    std::fs::create_dir(&alone).unwrap();
    std::fs::copy(data.join("caudal.db"), alone.join("caudal.db")).unwrap();
    assert!(caudal(&["check", "--data", alone.to_str().unwrap()]).done().contains("instances: 27 read"));
}

#[test]
fn every_store_has_an_identity_of_its_own_and_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let id = |server: &Server| server.json(&["status"])["clusterId"].as_str().unwrap().to_owned();
    let mut server = Server::start(&store("one"));
    let first = id(&server);
    server.stop();
    server.run();
    assert_eq!(id(&server), first);
    assert_ne!(id(&Server::start(&store("other"))), first);
}

#[test]
fn a_store_with_means_of_its_own_says_so() {
    let server = Server::start("memory:");
    let refused = server.caudal(&["backup", "/tmp/never-written"]);
    assert!(refused.code == Some(1) && refused.err.contains("pg_basebackup"), "{}", refused.err);
}
