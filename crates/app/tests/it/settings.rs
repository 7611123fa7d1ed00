//! Settings as an operator gives them.

use std::process::Command;

use crate::server::caudal;

#[test]
fn the_settings_in_use_are_shown_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("caudal.toml");
    std::fs::write(&file, "node = \"left\"\n[limits]\npage = 7\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(["config", "--check", "--store", "postgres://me:secret@db.example/x", "--test-clock", "--warm-up=false"]);
    let command = command.env("CAUDAL_LIMITS_BATCH", "12").env("CAUDAL_CONFIG", &file);
    let command = command.env("CAUDAL_OTLP_ENDPOINT", "https://me:secret@collector.example:4318");
    let shown = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let row = |key: &str| shown.lines().find(|line| line.split_whitespace().next() == Some(key)).unwrap_or_default();
    let cells = |key: &str| row(key).split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells("store"), ["postgres://db.example/x", "--store"]);
    assert_eq!(cells("otlp_endpoint"), ["https://collector.example:4318", "CAUDAL_OTLP_ENDPOINT"]);
    assert_eq!(cells("limits.batch"), ["12", "CAUDAL_LIMITS_BATCH"]);
    assert_eq!(cells("limits.page"), ["7", file.to_str().unwrap()]);
    assert_eq!(cells("test_clock"), ["true", "--test-clock"]);
    assert_eq!(cells("warm_up"), ["false", "--warm-up"]);
    assert_eq!(cells("rest"), ["127.0.0.1:8080", "default"]);
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn a_misspelled_variable_is_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    let command = command.args(["config", "--check"]).env("CAUDAL_LIMIT_PAGE", "7").env("CAUDAL_LIMITS_PAGE", "7");
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(
        said.contains("CAUDAL_LIMIT_PAGE is set, but no setting has that name") && !said.contains("CAUDAL_LIMITS_PAGE"),
        "{said}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_the_range() {
    for words in [["config", "--check", "--limits-connections", "0"], ["serve", "--store=memory:", "--limits-connections", "0"]] {
        let refused = caudal(&words);
        assert_eq!((&*refused.out, refused.code), ("", Some(1)));
        assert_eq!(refused.err, "caudal: limits.connections is '0' (--limits-connections): use 1 to 1000000\n");
    }
    let help = Command::new(env!("CARGO_BIN_EXE_caudal"))
        .args(["serve", "--help"])
        .env("CAUDAL_OTLP_ENDPOINT", "http://x:secret@y")
        .output();
    assert!(!String::from_utf8(help.unwrap().stdout).unwrap().contains("secret"));
    let never = caudal(&["config", "--check", "--hosts", "https://caudal.example"]);
    assert!(
        never.code == Some(1) && never.err.contains("hosts is 'https://caudal.example': use the name alone"),
        "{}",
        never.err
    );
    let loud = caudal(&["serve", "--store", "memory:", "--log-level", "loud"]);
    assert!(loud.code == Some(1) && loud.err.contains("log_level is 'loud': use error, warn"), "{}", loud.err);
}

#[test]
#[cfg(feature = "kafka")]
fn the_dispatch_mode_is_known_by_its_other_name_too() {
    let config = |mode: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
        let output = command.args(["config", "--check"]).args(words).env("WE_DISPATCH_MODE", mode).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let row = |shown: &str| {
        let row = shown.lines().find(|line| line.starts_with("dispatch ")).unwrap_or_default();
        row.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let (shown, refused) = config("KAFKA_OUTBOX", &["--kafka-brokers", "kafka:9092"]);
    assert_eq!(row(&shown), ["kafka_outbox", "WE_DISPATCH_MODE"], "{refused}");
    // What is said on the command line counts more.
    let (shown, refused) = config("kafka_outbox", &["--dispatch", "polling"]);
    assert_eq!(row(&shown), ["polling", "--dispatch"], "{refused}");
    let (_, refused) = config("kafka_outbox", &[]);
    assert!(refused.contains("dispatch is kafka_outbox, but kafka.brokers is empty"), "{refused}");
    let (_, refused) = config("carrier-pigeon", &[]);
    assert!(refused.contains("dispatch is 'carrier-pigeon' (WE_DISPATCH_MODE): use polling or kafka_outbox"), "{refused}");
}
