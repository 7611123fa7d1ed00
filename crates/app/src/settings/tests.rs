use super::*;
use crate::config::DEFAULT_FILE;

fn read(name: &str, text: &str) -> Result<Settings, String> {
    let file = std::env::temp_dir().join(format!("caudal-settings-{name}-{}.toml", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let settings = Settings::read(Given { file: Some(file.clone()), ..Given::default() });
    std::fs::remove_file(&file).unwrap();
    settings
}

/// The commented file, with every key uncommented, says every setting once with its default.
#[test]
fn the_default_file_states_the_defaults() {
    let is_key = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase()) && line.contains(" = ");
    let keys = DEFAULT_FILE.lines().filter_map(|line| line.strip_prefix('#')).filter(is_key).count();
    assert_eq!(keys, SETTINGS.len());
    let uncommented: String = DEFAULT_FILE
        .lines()
        .map(|line| match line.strip_prefix('#').filter(is_key) {
            Some(key) => format!("{key}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let settings = read("defaults", &uncommented).unwrap();
    for setting in SETTINGS {
        let Value { text, source } = &settings.values[setting.key];
        assert_eq!((&**text, source == "default"), (&*setting.default(), false), "{}", setting.key);
    }
}

/// `docs/settings.md` has this table; on a change it is printed here.
#[test]
fn the_page_lists_every_setting() {
    let mut table = String::from("| key | flag and variable | default | allowed | what it is |\n|---|---|---|---|---|\n");
    for setting in SETTINGS {
        let default = match &*setting.default() {
            "" => "–".to_owned(),
            default => format!("`{default}`"),
        };
        let (flag, variable, allowed) = (setting.flag(), setting.variable(), setting.allowed());
        table
            .push_str(&format!("| `{}` | `--{flag}`, `{variable}` | {default} | {allowed} | {} |\n", setting.key, setting.about));
    }
    let page = std::fs::read_to_string(format!("{}/../../docs/settings.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(page.contains(&table), "docs/settings.md is to have:\n{table}");
}

#[test]
fn a_faulty_line_is_told_without_its_secret() {
    for (text, why) in [
        ("data = \"x\"\nstore = \"postgres://me:secret@db/x\n", ", line 2: "),
        ("store = postgres://me:secret@db/x\n", ", line 1: "),
        ("[limits]\npage = \"postgres://me:secret@db/x\"\n", "limits.page is of the wrong type: use 1 to 100000"),
        ("colour = \"postgres://me:secret@db/x\"\n", "there is no setting 'colour'"),
        ("store = \"postgres://me:secret@db/x\"\nstore = \"\"\n", ", line 2: "),
    ] {
        let error = read("secret", text).unwrap_err();
        assert!(error.contains(why) && !error.contains("secret@"), "{error}");
    }
}

#[test]
fn the_command_line_goes_before_the_file() {
    let file = std::env::temp_dir().join(format!("caudal-settings-order-{}.toml", std::process::id()));
    std::fs::write(&file, "node = \"a\"\nrest = \"127.0.0.1:1\"\n").unwrap();
    let settings = Settings::read(Given { file: Some(file.clone()), ..Given::of(&[("node", "b")]) }).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!((settings.text("node"), settings.text("rest")), ("b", "127.0.0.1:1"));
}

#[test]
fn passwords_are_not_shown() {
    assert_eq!(without_password("postgres://me:se:cr@et@db.example/x?password=z"), "postgres://db.example/x");
    assert_eq!(without_password("postgres://db.example/x"), "postgres://db.example/x");
    assert_eq!(without_password("sqlite:x"), "sqlite:x");
    let settings = Settings::read(Given::of(&[("store", "postgres://me:secret@db/x")])).unwrap();
    assert!(settings.rows().contains(&vec!["store".to_owned(), "postgres://db/x".to_owned(), "here".to_owned()]));
}
