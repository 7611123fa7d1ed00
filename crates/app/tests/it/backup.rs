//! A backup of a running server, brought back and checked.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;

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
