//! What `cargo xtask test` gives to tests by variables. A test that lacks what it needs fails, unless `CAUDAL_TEST_SKIP` says that it is to be
//! left out: a run that is green has run.

const SKIP: &str = "CAUDAL_TEST_SKIP";

/// The URL of a superuser on a PostgreSQL server.
pub(crate) fn postgres() -> Option<String> {
    given("CAUDAL_TEST_POSTGRES", "postgres")
}

/// What the variable says; none if what it is for is to be left out.
pub(crate) fn given(variable: &str, what: &str) -> Option<String> {
    let skipped = std::env::var(SKIP).unwrap_or_default();
    choose(variable, what, std::env::var(variable).ok(), &skipped).unwrap_or_else(|why| panic!("{why}"))
}

fn choose(variable: &str, what: &str, value: Option<String>, skipped: &str) -> Result<Option<String>, String> {
    if skipped.split(',').any(|one| one.trim() == what) {
        return Ok(None);
    }
    let lacking = || {
        format!(
            "this test needs {variable}: `cargo xtask test` makes what it leads to; \
             set it yourself, or leave out what needs it with {SKIP}={what} (several are separated by commas)"
        )
    };
    value.map(Some).ok_or_else(lacking)
}

#[test]
fn what_is_not_there_is_left_out_by_name_alone() {
    let choose = |value: Option<&str>, skipped: &str| choose("A_URL", "a", value.map(str::to_owned), skipped);
    assert_eq!(choose(Some("there"), ""), Ok(Some("there".to_owned())));
    assert_eq!(choose(Some("there"), "b, a"), Ok(None));
    assert_eq!(choose(None, "a"), Ok(None));
    let why = choose(None, "b").unwrap_err();
    assert!(why.contains("needs A_URL") && why.contains("CAUDAL_TEST_SKIP=a"), "{why}");
}
