//! A backup of a running server, brought back and checked.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod server;

use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use server::{Server, caudal, example};

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
fn a_store_with_means_of_its_own_says_so() {
    let server = Server::start("memory:");
    let refused = server.caudal(&["backup", "/tmp/never-written"]);
    assert!(refused.code == Some(1) && refused.err.contains("pg_basebackup"), "{}", refused.err);
}
