//! Settings as they are written: on the command line, in the environment, in the file, in that order; each by the same name.
//! What they mean is `config`.

mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};

pub(crate) use table::SETTINGS;

/// Variables by which operators of JSON workflows know a setting; they count where nothing else is said but in the file.
const OTHER_VARIABLES: [(&str, &str); 1] = [("dispatch", "WE_DISPATCH_MODE")];

#[derive(Debug)]
pub(crate) struct Setting {
    /// As in the file; what stands before a dot is a table there.
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) default: Default,
    pub(crate) kind: Kind,
    /// Has a password in it, which is shown to nobody.
    pub(crate) is_secret: bool,
}

#[derive(Debug)]
pub(crate) enum Default {
    Text(&'static str),
    Number(u64),
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// With the word for it on the command line.
    Text {
        value: &'static str,
    },
    Texts {
        value: &'static str,
    },
    Word(&'static [&'static str]),
    Flag,
    Number(RangeInclusive<u64>),
}

impl Setting {
    pub(crate) fn flag(&self) -> String {
        self.key.replace(['_', '.'], "-")
    }

    pub(crate) fn variable(&self) -> String {
        format!("CAUDAL_{}", self.key.replace('.', "_").to_uppercase())
    }

    pub(crate) fn default(&self) -> Cow<'static, str> {
        match self.default {
            Default::Text(text) => text.into(),
            Default::Number(number) => number.to_string().into(),
        }
    }

    /// What may be written, for people.
    pub(crate) fn allowed(&self) -> String {
        match &self.kind {
            Kind::Text { .. } => "text".to_owned(),
            Kind::Texts { .. } => "texts, separated by commas".to_owned(),
            Kind::Word(words) => words.join(" or "),
            Kind::Flag => "true or false".to_owned(),
            Kind::Number(range) => format!("{} to {}", range.start(), range.end()),
        }
    }

    fn accepts(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Text { .. } | Kind::Texts { .. } => true,
            Kind::Word(words) => words.contains(&text),
            Kind::Flag => matches!(text, "true" | "false"),
            Kind::Number(range) => text.parse().is_ok_and(|number: u64| range.contains(&number)),
        }
    }

    fn by_another_name(&self) -> Option<Value> {
        let (_, variable) = OTHER_VARIABLES.iter().find(|(key, _)| *key == self.key)?;
        let text = std::env::var(variable).ok()?.to_lowercase();
        Some(Value { text, source: (*variable).to_owned() })
    }

    fn argument(&'static self) -> Arg {
        let id = self.key;
        let arg = Arg::new(id).long(self.flag()).env(self.variable()).hide_env_values(self.is_secret).help(self.help());
        let is_limit = self.key.starts_with("limits.");
        let arg = if is_limit { arg.hide_short_help(true).help_heading("Limits") } else { arg };
        match &self.kind {
            Kind::Text { value } | Kind::Texts { value } => arg.value_name(*value),
            Kind::Word(words) => arg.value_name(words.join("|")),
            Kind::Number(_) => arg.value_name("NUMBER"),
            Kind::Flag => arg.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("true|false"),
        }
    }

    fn help(&self) -> String {
        match &*self.default() {
            "" => self.about.to_owned(),
            default => format!("{} [default: {default}]", self.about),
        }
    }
}

/// What the command line and the environment say, by key, with where it was said.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) file: Option<PathBuf>,
    values: BTreeMap<&'static str, Value>,
}

#[derive(Debug, Clone)]
struct Value {
    text: String,
    source: String,
}

#[cfg(test)]
impl Given {
    pub(crate) fn of(pairs: &[(&'static str, &str)]) -> Self {
        let value = |text: &str| Value { text: text.to_owned(), source: "here".to_owned() };
        Self { file: None, values: pairs.iter().map(|(key, text)| (*key, value(text))).collect() }
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new("config").long("config").value_name("FILE").env("CAUDAL_CONFIG").value_parser(value_parser!(PathBuf));
        let command = command.arg(file.help("Configuration file (see `caudal config`)"));
        SETTINGS.iter().fold(command, |command, setting| command.arg(setting.argument()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let value = match (matches.get_one::<String>(setting.key), matches.value_source(setting.key)) {
                (Some(text), Some(ValueSource::EnvVariable)) => Value { text: text.clone(), source: setting.variable() },
                (Some(text), _) => Value { text: text.clone(), source: format!("--{}", setting.flag()) },
                (None, _) => match setting.by_another_name() {
                    Some(value) => value,
                    None => continue,
                },
            };
            values.insert(setting.key, value);
        }
        Ok(Self { file: matches.get_one::<PathBuf>("config").cloned(), values })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A value for every key, each one that is allowed.
#[derive(Debug)]
pub(crate) struct Settings {
    values: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Reads the file and puts over it what was given besides.
    pub(crate) fn read(given: Given) -> Result<Self, String> {
        let mut values = match &given.file {
            None => BTreeMap::new(),
            Some(path) => from_file(path)?,
        };
        values.extend(given.values);
        for setting in SETTINGS {
            let Some(Value { text, source }) = values.get(setting.key) else {
                let value = Value { text: setting.default().into_owned(), source: "default".to_owned() };
                values.insert(setting.key, value);
                continue;
            };
            if !setting.accepts(text) {
                return Err(format!("{} is '{text}' ({source}): use {}", setting.key, setting.allowed()));
            }
        }
        Ok(Self { values })
    }

    /// Every setting with its value and where it was said, without secrets: what `caudal config --check` prints.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let row = |setting: &Setting| {
            let Value { text, source } = &self.values[setting.key];
            let shown = if setting.is_secret { without_password(text) } else { text.clone() };
            vec![setting.key.to_owned(), shown, source.clone()]
        };
        SETTINGS.iter().map(row).collect()
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        &self.values[key].text
    }

    pub(crate) fn texts(&self, key: &str) -> Vec<String> {
        self.text(key).split(',').map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.text(key) == "true"
    }

    pub(crate) fn number<T: TryFrom<u64>>(&self, key: &str) -> T {
        let number = self.text(key).parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
        number.expect("the range of a setting fits its type")
    }
}

/// What the file says, with its line.
fn from_file(path: &Path) -> Result<BTreeMap<&'static str, Value>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    // The error's own text would show the line, with whatever secret stands in it.
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("{shown}, line {line}: {}", without_password(error.message()))
    })?;
    let mut values = BTreeMap::new();
    for (key, value) in flat("", table) {
        let setting = SETTINGS.iter().find(|setting| setting.key == key);
        let setting = setting.ok_or_else(|| format!("{shown}: there is no setting '{key}'; see `caudal config`"))?;
        let text =
            written(setting, &value).ok_or_else(|| format!("{shown}: {key} is of the wrong type: use {}", setting.allowed()))?;
        values.insert(setting.key, Value { text, source: shown.to_string() });
    }
    Ok(values)
}

/// Tables as dots in the keys of what is in them.
fn flat(prefix: &str, table: toml::Table) -> Vec<(String, toml::Value)> {
    let inner = |(key, value): (String, toml::Value)| match value {
        toml::Value::Table(table) => flat(&format!("{prefix}{key}."), table),
        value => vec![(format!("{prefix}{key}"), value)],
    };
    table.into_iter().flat_map(inner).collect()
}

/// A value of the file as it would be written on the command line; none if it is of another type.
fn written(setting: &Setting, value: &toml::Value) -> Option<String> {
    match &setting.kind {
        Kind::Text { .. } | Kind::Word(_) => value.as_str().map(str::to_owned),
        Kind::Texts { .. } => {
            let texts: Option<Vec<&str>> = value.as_array()?.iter().map(toml::Value::as_str).collect();
            texts.map(|texts| texts.join(","))
        }
        Kind::Flag => value.as_bool().map(|flag| flag.to_string()),
        Kind::Number(_) => value.as_integer().map(|number| number.to_string()),
    }
}

/// What stands between `://` and `@`, and after a question mark, never reaches a screen or a log.
pub(crate) fn without_password(text: &str) -> String {
    let Some((before, rest)) = text.split_once("://") else { return text.to_owned() };
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split('?').next().unwrap_or(place);
    format!("{before}://{place}")
}

#[cfg(test)]
mod tests;
