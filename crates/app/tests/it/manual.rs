//! What is made from the description of the command line.

use crate::server::caudal;

#[test]
fn shells_complete_commands_and_settings() {
    for shell in ["bash", "zsh", "fish"] {
        let script = caudal(&["completions", shell]).done();
        assert!(script.contains("incident") && script.contains("limits-page"), "{shell}");
    }
    assert_eq!(caudal(&["completions", "abacus"]).code, Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    caudal(&["man", pages.to_str().unwrap()]).done();
    for (page, word) in
        [("caudal.1", "incidents"), ("caudal-serve.1", "Rows of one page of a search"), ("caudal-incident-resolve.1", "KEY")]
    {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(word), "{page}");
    }
}
